/* Allocation. Only a program that reallocates pays for remembering sizes: sixteen bytes before each object, the size and how far the object is from what was allocated. */

int __raddle_aligns(void) {
    return __raddle_uses("aligned_alloc") || __raddle_uses("memalign") || __raddle_uses("posix_memalign");
}

void *malloc(unsigned long size) {
    if (__raddle_uses("realloc") || __raddle_uses("reallocarray")) {
        unsigned long long *base = __raddle_alloc((unsigned long long)size + 16);
        base[0] = size;
        if (__raddle_aligns())
            base[1] = 16;
        return base + 2;
    }
    return __raddle_alloc(size);
}

int *__errno_location(void);

/* Whether so many objects of this size are more than there can be. */
int __raddle_wraps(unsigned long count, unsigned long size) {
    return size != 0 && count > (unsigned long)-1 / size;
}

void *calloc(unsigned long count, unsigned long size) {
    if (__raddle_wraps(count, size)) {
        *__errno_location() = 12;
        return 0;
    }
    if (__raddle_uses("realloc") || __raddle_uses("reallocarray")) {
        unsigned long long *base = __raddle_zalloc((unsigned long long)count * size + 16);
        base[0] = (unsigned long long)count * size;
        if (__raddle_aligns())
            base[1] = 16;
        return base + 2;
    }
    return __raddle_zalloc((unsigned long long)count * size);
}

void free(void *object) {
    if (__raddle_uses("realloc") || __raddle_uses("reallocarray")) {
        if (object != 0)
            __raddle_free((char *)object - (__raddle_aligns() ? ((unsigned long long *)object)[-1] : 16));
        return;
    }
    __raddle_free(object);
}

void cfree(void *object) {
    free(object);
}

/* How many bytes of an object survive when it gets this size. */
unsigned long long __raddle_kept(void *object, unsigned long long size) {
    unsigned long long old = 0;
    if (object != 0)
        old = ((unsigned long long *)((char *)object - 16))[0];
    return old < size ? old : size;
}

void *realloc(void *object, unsigned long size) {
    char *fresh = malloc(size);
    memcpy(fresh, object, __raddle_kept(object, size));
    free(object);
    return fresh;
}

void *reallocarray(void *object, unsigned long count, unsigned long size) {
    if (__raddle_wraps(count, size)) {
        *__errno_location() = 12;
        return 0;
    }
    return realloc(object, count * size);
}

int __raddle_power_of_two(unsigned long number) {
    return number != 0 && (number & (number - 1)) == 0;
}

/* What is allocated begins at a multiple of 32 KiB, and if it is larger than half of that at one of 4 MiB. */
void *__raddle_aligned(unsigned long alignment, unsigned long size) {
    unsigned long long least = alignment > 32768 ? 16385 : 0;
    if (alignment > 4194304) {
        *__errno_location() = 12;
        return 0;
    }
    if (__raddle_uses("realloc") || __raddle_uses("reallocarray")) {
        unsigned long long before = alignment < 16 ? 16 : alignment;
        unsigned long long total = before + size;
        char *object = (char *)__raddle_alloc(total < least ? least : total) + before;
        ((unsigned long long *)object)[-2] = size;
        ((unsigned long long *)object)[-1] = before;
        return object;
    }
    return __raddle_alloc(size < least ? least : size);
}

void *aligned_alloc(unsigned long alignment, unsigned long size) {
    if (!__raddle_power_of_two(alignment))
        __raddle_misuse_memory("aligned_alloc with an alignment that is no power of two");
    return __raddle_aligned(alignment, size);
}

void *memalign(unsigned long alignment, unsigned long size) {
    if (!__raddle_power_of_two(alignment))
        __raddle_misuse_memory("memalign with an alignment that is no power of two");
    return __raddle_aligned(alignment, size);
}

int posix_memalign(void **object, unsigned long alignment, unsigned long size) {
    if (!__raddle_power_of_two(alignment) || alignment < sizeof(void *))
        return 22;
    void *fresh = __raddle_aligned(alignment, size);
    if (fresh == 0)
        return 12;
    *object = fresh;
    return 0;
}

/* Bytes. */

int memcmp(const void *a, const void *b, unsigned long size) {
    for (unsigned long i = 0; i < size; i++) {
        int x = ((const unsigned char *)a)[i], y = ((const unsigned char *)b)[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

void *memchr(const void *bytes, int wanted, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i] == (unsigned char)wanted)
            return (char *)bytes + i;
    return 0;
}

void bzero(void *bytes, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)bytes)[i] = 0;
}

/* Strings. */

unsigned long strlen(const char *s) {
    unsigned long n = 0;
    while (s[n] != 0)
        n++;
    return n;
}

unsigned long strnlen(const char *s, unsigned long most) {
    unsigned long n = 0;
    while (n < most && s[n] != 0)
        n++;
    return n;
}

int strcmp(const char *a, const char *b) {
    for (unsigned long i = 0;; i++) {
        int x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x < y ? -1 : 1;
        if (x == 0)
            return 0;
    }
}

int strncmp(const char *a, const char *b, unsigned long most) {
    for (unsigned long i = 0; i < most; i++) {
        int x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x < y ? -1 : 1;
        if (x == 0)
            return 0;
    }
    return 0;
}

char *strcpy(char *to, const char *from) {
    unsigned long i = 0;
    char c;
    do {
        c = from[i];
        to[i] = c;
        i++;
    } while (c != 0);
    return to;
}

char *stpcpy(char *to, const char *from) {
    unsigned long i = 0;
    for (;; i++) {
        char c = from[i];
        to[i] = c;
        if (c == 0)
            return to + i;
    }
}

char *strncpy(char *to, const char *from, unsigned long most) {
    int ended = 0;
    for (unsigned long i = 0; i < most; i++) {
        char c = 0;
        if (!ended)
            c = from[i];
        if (c == 0)
            ended = 1;
        to[i] = c;
    }
    return to;
}

char *strcat(char *to, const char *from) {
    unsigned long at = 0, i = 0;
    char c;
    while (to[at] != 0)
        at++;
    do {
        c = from[i];
        to[at + i] = c;
        i++;
    } while (c != 0);
    return to;
}

char *strncat(char *to, const char *from, unsigned long most) {
    unsigned long at = 0, i = 0;
    while (to[at] != 0)
        at++;
    while (i < most) {
        char c = from[i];
        if (c == 0)
            break;
        to[at + i] = c;
        i++;
    }
    to[at + i] = 0;
    return to;
}

char *strchr(const char *s, int wanted) {
    for (unsigned long i = 0;; i++) {
        char c = s[i];
        if (c == (char)wanted)
            return (char *)s + i;
        if (c == 0)
            return 0;
    }
}

char *strrchr(const char *s, int wanted) {
    char *last = 0;
    for (unsigned long i = 0;; i++) {
        char c = s[i];
        if (c == (char)wanted)
            last = (char *)s + i;
        if (c == 0)
            return last;
    }
}

char *strstr(const char *s, const char *wanted) {
    for (unsigned long i = 0;; i++) {
        unsigned long j = 0;
        while (wanted[j] != 0 && s[i + j] == wanted[j])
            j++;
        if (wanted[j] == 0)
            return (char *)s + i;
        if (s[i] == 0)
            return 0;
    }
}

char *strdup(const char *s) {
    unsigned long n = 0;
    while (s[n] != 0)
        n++;
    char *copy = malloc(n + 1);
    for (unsigned long i = 0; i <= n; i++)
        copy[i] = s[i];
    return copy;
}

/* Numbers. */

int abs(int n) {
    return n < 0 ? -n : n;
}

long labs(long n) {
    return n < 0 ? -n : n;
}

long long llabs(long long n) {
    return n < 0 ? -n : n;
}

long atol(const char *s) {
    unsigned long i = 0;
    long value = 0;
    int negative = 0;
    char c = s[0];
    while (c == ' ' || (c >= 9 && c <= 13))
        c = s[++i];
    if (c == '-' || c == '+') {
        negative = c == '-';
        c = s[++i];
    }
    while (c >= '0' && c <= '9') {
        value = value * 10 + (c - '0');
        c = s[++i];
    }
    return negative ? -value : value;
}

int atoi(const char *s) {
    return (int)atol(s);
}

long long atoll(const char *s) {
    return atol(s);
}

/* Of a character, C11 7.4p1: what is none may be anything. */
static int __raddle_character(int c) {
    if (c < -1 || c > 255)
        __raddle_misuse_memory("a character is asked for that is neither an unsigned char nor EOF");
    return c;
}

int isdigit(int c) { __raddle_character(c); return c >= '0' && c <= '9'; }
int isupper(int c) { __raddle_character(c); return c >= 'A' && c <= 'Z'; }
int islower(int c) { __raddle_character(c); return c >= 'a' && c <= 'z'; }
int isalpha(int c) { __raddle_character(c); return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int isalnum(int c) { __raddle_character(c); return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
int isxdigit(int c) { __raddle_character(c); return (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9'); }
int isspace(int c) { __raddle_character(c); return c == ' ' || (c >= 9 && c <= 13); }
int isprint(int c) { __raddle_character(c); return c >= 32 && c < 127; }
int ispunct(int c) { __raddle_character(c); return c > 32 && c < 127 && !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); }
int toupper(int c) { __raddle_character(c); return c >= 'a' && c <= 'z' ? c - 32 : c; }
int tolower(int c) { __raddle_character(c); return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* Random numbers are unknown inputs from 0 to RAND_MAX. */

int rand(void) {
    int number = __VERIFIER_nondet_int();
    __raddle_assume(number >= 0);
    return number;
}

long random(void) { return rand(); }
int rand_r(unsigned *seed) { return rand(); }
void srand(unsigned seed) {}
void srandom(unsigned seed) {}

/* The environment is empty. */

char *getenv(const char *name) { return 0; }

/* errno. */

static _Thread_local int errno_value;

int *__errno_location(void) { return &errno_value; }

/* A number in front of a string: its digits, its sign, where it ends, and whether it is more than `most` (or `least`, if it is negative). */
unsigned long __raddle_number(const char *s, char **end, int base, unsigned long most, unsigned long least, int wraps) {
    unsigned long i = 0, value = 0;
    int negative = 0, any = 0, over = 0;
    char c = s[0];
    while (c == ' ' || (c >= 9 && c <= 13))
        c = s[++i];
    if (c == '-' || c == '+') {
        negative = c == '-';
        c = s[++i];
    }
    if ((base == 0 || base == 16) && c == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X') && isxdigit((unsigned char)s[i + 2])) {
        base = 16;
        i += 2;
        c = s[i];
    }
    if (base == 0)
        base = c == '0' ? 8 : 10;
    unsigned long limit = negative ? least : most;
    for (;;) {
        int digit = 99;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if (c >= 'a' && c <= 'z')
            digit = c - 'a' + 10;
        else if (c >= 'A' && c <= 'Z')
            digit = c - 'A' + 10;
        if (digit >= base)
            break;
        if (over || value > (limit - (unsigned long)digit) / (unsigned long)base || (unsigned long)digit > limit)
            over = 1;
        else
            value = value * (unsigned long)base + (unsigned long)digit;
        any = 1;
        c = s[++i];
    }
    if (end != 0)
        *end = (char *)s + (any ? i : 0);
    if (over) {
        *__errno_location() = 34;
        if (wraps)
            return most;
        value = limit;
    }
    return negative ? -value : value;
}

long strtol(const char *s, char **end, int base) {
    unsigned long most = (unsigned long)-1 >> 1;
    return (long)__raddle_number(s, end, base, most, most + 1, 0);
}

unsigned long strtoul(const char *s, char **end, int base) {
    return __raddle_number(s, end, base, (unsigned long)-1, (unsigned long)-1, 1);
}

char *strerror(int number) { return "an error"; }
char *strerror_r(int number, char *buffer, unsigned long size) { return "an error"; }

/* Sorting by insertion: few elements, few comparisons that matter. */

void qsort(void *base, unsigned long count, unsigned long size, int (*compare)(const void *, const void *)) {
    char *bytes = base;
    for (unsigned long i = 1; i < count; i++)
        for (unsigned long j = i; j > 0 && compare(bytes + (j - 1) * size, bytes + j * size) > 0; j--)
            for (unsigned long k = 0; k < size; k++) {
                /* Padding may have no value. */
                char c = __raddle_peek8(&bytes[j * size + k]);
                bytes[j * size + k] = __raddle_peek8(&bytes[(j - 1) * size + k]);
                bytes[(j - 1) * size + k] = c;
            }
}

void *bsearch(const void *key, const void *base, unsigned long count, unsigned long size,
              int (*compare)(const void *, const void *)) {
    unsigned long low = 0, high = count;
    while (low < high) {
        unsigned long middle = low + (high - low) / 2;
        const char *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (order == 0)
            return (void *)at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
