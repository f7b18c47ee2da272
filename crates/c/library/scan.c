
/* Reading numbers, words and characters out of a text. */

static int __raddle_is_space(char letter) {
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

int vsscanf(const char *from, const char *format, unsigned long long *list) {
    const char *start = from;
    int done = 0;
    for (; *format != 0; format++) {
        if (__raddle_is_space(*format)) {
            while (__raddle_is_space(*from))
                from++;
            continue;
        }
        if (*format != '%' || *++format == '%') {
            while (*format == '%' && __raddle_is_space(*from))
                from++;
            if (*from != *format)
                return *from == 0 && done == 0 ? -1 : done;
            from++;
            continue;
        }
        int drop = *format == '*', width = 0, bits = 32;
        format += drop;
        for (; *format >= '0' && *format <= '9'; format++)
            width = width * 10 + (*format - '0');
        for (; *format == 'h' || *format == 'l' || *format == 'z' || *format == 'j'; format++)
            bits = *format == 'h' ? bits / 2 : 64;
        char letter = *format;
        if (letter == 'n') {
            if (!drop)
                *(int *)*list++ = (int)(from - start);
            continue;
        }
        while (letter != 'c' && __raddle_is_space(*from))
            from++;
        if (*from == 0)
            return done == 0 ? -1 : done;
        if (letter == 'c' || letter == 's') {
            char *to = drop ? 0 : (char *)*list++;
            int most = width != 0 ? width : letter == 'c' ? 1 : 0x7fffffff, count = 0;
            for (; count < most && *from != 0 && (letter == 'c' || !__raddle_is_space(*from)); count++, from++)
                if (!drop)
                    to[count] = *from;
            if (!drop && letter == 's')
                to[count] = 0;
            if (letter == 'c' && count < most)
                return done;
        } else if (letter == 'd' || letter == 'i' || letter == 'u' || letter == 'x' || letter == 'X' || letter == 'o') {
            unsigned base = letter == 'x' || letter == 'X' ? 16 : letter == 'o' ? 8 : 10;
            int left = width != 0 ? width : 0x7fffffff, digits = 0, minus = *from == '-';
            unsigned long long value = 0;
            if (minus || *from == '+')
                from++, left--;
            if (left > 1 && *from == '0' && (base == 16 || letter == 'i')) {
                base = letter == 'i' ? 8 : base;
                if (from[1] == 'x' || from[1] == 'X')
                    base = 16, from += 2, left -= 2;
            }
            for (; left > 0; left--, from++, digits++) {
                char next = *from;
                unsigned digit = next >= '0' && next <= '9' ? (unsigned)(next - '0')
                    : next >= 'a' && next <= 'f'            ? (unsigned)(next - 'a') + 10
                    : next >= 'A' && next <= 'F'            ? (unsigned)(next - 'A') + 10
                                                            : 16;
                if (digit >= base)
                    break;
                value = value * base + digit;
            }
            if (digits == 0)
                return done;
            if (minus)
                value = -value;
            if (!drop) {
                void *to = (void *)*list++;
                if (bits == 64)
                    *(unsigned long long *)to = value;
                else if (bits == 32)
                    *(unsigned *)to = (unsigned)value;
                else if (bits == 16)
                    *(unsigned short *)to = (unsigned short)value;
                else
                    *(unsigned char *)to = (unsigned char)value;
            }
        } else {
            __raddle_misuse_memory("a conversion of scanf that is not supported");
            return -1;
        }
        done += !drop;
    }
    return done;
}

int sscanf(const char *from, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsscanf(from, format, list);
}

/* What the system's headers call it. */
int __isoc99_sscanf(const char *from, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsscanf(from, format, list);
}

int __isoc23_sscanf(const char *from, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsscanf(from, format, list);
}
