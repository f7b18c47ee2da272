/* Text made by the program itself: a format and arguments in slots of 64 bits. Numbers are those of C; a floating conversion is misuse. */

static int __raddle_number_text(char *digits, unsigned long long value, unsigned base, int upper) {
    int count = 0;
    do {
        unsigned digit = (unsigned)(value % base);
        digits[count++] = (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
        value /= base;
    } while (value != 0);
    return count;
}

int vsnprintf(char *to, unsigned long size, const char *format, unsigned long long *list) {
    unsigned long at = 0;
    for (; *format != 0; format++) {
        if (*format != '%') {
            if (at + 1 < size)
                to[at] = *format;
            at++;
            continue;
        }
        format++;
        int left = 0, zero = 0, plus = 0, space = 0, alternate = 0;
        for (;; format++) {
            if (*format == '-')
                left = 1;
            else if (*format == '0')
                zero = 1;
            else if (*format == '+')
                plus = 1;
            else if (*format == ' ')
                space = 1;
            else if (*format == '#')
                alternate = 1;
            else
                break;
        }
        int width = 0, precision = -1;
        if (*format == '*') {
            width = (int)*list++;
            if (width < 0) {
                left = 1;
                width = -width;
            }
            format++;
        } else
            while (*format >= '0' && *format <= '9')
                width = width * 10 + (*format++ - '0');
        if (*format == '.') {
            format++;
            precision = 0;
            if (*format == '*') {
                precision = (int)*list++;
                format++;
            } else
                while (*format >= '0' && *format <= '9')
                    precision = precision * 10 + (*format++ - '0');
        }
        int bits = 32;
        for (;; format++) {
            if (*format == 'l' || *format == 'z' || *format == 'j' || *format == 't')
                bits = *format == 'j' || (*format == 'l' && format[1] == 'l') ? 64 : (int)sizeof(long) * 8;
            else if (*format == 'h')
                bits = bits == 16 ? 8 : 16;
            else
                break;
            if (*format == 'l' && format[1] == 'l')
                format++;
        }
        char letter = *format;
        char digits[24];
        int count = 0, negative = 0;
        const char *text = 0;
        const char *prefix = "";
        if (letter == '%') {
            digits[0] = '%';
            count = 1;
        } else if (letter == 'c') {
            digits[0] = (char)*list++;
            count = 1;
        } else if (letter == 's') {
            text = (const char *)*list++;
            if (text == 0)
                text = "(null)";
            while ((precision < 0 || count < precision) && text[count] != 0)
                count++;
            if (size > 0 && ((unsigned long)(text - to) <= at + count || (unsigned long)(to - text) <= (unsigned long)count))
                __raddle_misuse_memory("a string is printed to where it stands");
        } else if (letter == 'd' || letter == 'i') {
            long long value = (long long)*list++;
            if (bits == 32)
                value = (int)value;
            else if (bits == 16)
                value = (short)value;
            else if (bits == 8)
                value = (signed char)value;
            negative = value < 0;
            count = __raddle_number_text(digits, negative ? 0ull - (unsigned long long)value : (unsigned long long)value, 10, 0);
            prefix = negative ? "-" : plus ? "+" : space ? " " : "";
        } else if (letter == 'u' || letter == 'x' || letter == 'X' || letter == 'o' || letter == 'p') {
            unsigned long long value = *list++;
            if (letter != 'p' && bits < 64)
                value &= (1ull << bits) - 1;
            unsigned base = letter == 'u' ? 10 : letter == 'o' ? 8 : 16;
            count = __raddle_number_text(digits, value, base, letter == 'X');
            if (letter == 'p' || (alternate && value != 0 && base == 16))
                prefix = letter == 'X' ? "0X" : "0x";
            else if (alternate && base == 8 && precision <= count && (value != 0 || precision == 0))
                prefix = "0";
        } else if (letter == 'n') {
            *(int *)*list++ = (int)at;
            continue;
        } else {
            __raddle_misuse_memory("a conversion of printf that is not supported");
            return -1;
        }
        int number = text == 0 && letter != 'c' && letter != '%';
        if (number && letter != 'p' && precision == 0 && count == 1 && digits[0] == '0')
            count = 0;
        int zeros = number && precision > count ? precision - count : 0;
        int sign = 0;
        while (prefix[sign] != 0)
            sign++;
        int fill = width - count - zeros - sign;
        if (number && zero && !left && precision < 0 && fill > 0) {
            zeros += fill;
            fill = 0;
        }
        for (int i = 0; !left && i < fill; i++, at++)
            if (at + 1 < size)
                to[at] = ' ';
        for (int i = 0; i < sign; i++, at++)
            if (at + 1 < size)
                to[at] = prefix[i];
        for (int i = 0; i < zeros; i++, at++)
            if (at + 1 < size)
                to[at] = '0';
        for (int i = 0; i < count; i++, at++)
            if (at + 1 < size)
                to[at] = text != 0 ? text[i] : digits[number ? count - 1 - i : i];
        for (int i = 0; left && i < fill; i++, at++)
            if (at + 1 < size)
                to[at] = ' ';
    }
    if (size > 0)
        to[at < size ? at : size - 1] = 0;
    return (int)at;
}

int vsprintf(char *to, const char *format, unsigned long long *list) {
    return vsnprintf(to, 0x7fffffff, format, list);
}

int snprintf(char *to, unsigned long size, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsnprintf(to, size, format, list);
}

int sprintf(char *to, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsnprintf(to, 0x7fffffff, format, list);
}

int vasprintf(char **to, const char *format, unsigned long long *list) {
    int length = vsnprintf(0, 0, format, list);
    *to = (char *)__raddle_alloc((unsigned long long)length + 1);
    return vsnprintf(*to, (unsigned long)length + 1, format, list);
}

int asprintf(char **to, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vasprintf(to, format, list);
}

/* Names with checks that compilers put in place of these. */
int __snprintf_chk(char *to, unsigned long size, int flag, unsigned long room, const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    return vsnprintf(to, size, format, list);
}
