//! What library functions are not to be asked for.

use crate::{allowed, found};
use raddle::Property;

#[test]
fn library_functions_are_asked_for_what_they_can_do() {
    found(
        "",
        Property::Memory,
        "null is printed as a string",
        &[
            "char *s = NULL; printf(\"%s\", s);",
            "char *s = NULL; puts(s);",
            "char *s = NULL; fprintf(stderr, \"%d %s\", 1, s);",
        ],
    );
    found("", Property::Memory, "no power of two", &["free(aligned_alloc(3, 9));", "free(aligned_alloc(0, 8));"]);
    found(
        "",
        Property::Memory,
        "overlap",
        &[
            "char a[8] = \"abcdefg\"; memcpy(a + 1, a, 4);",
            "int a[4] = {1, 2, 3, 4}; memcpy(a, a + 1, sizeof(int[2]));",
        ],
    );
    allowed("", &[
        "char a[8] = \"abcdefg\"; memmove(a + 1, a, 4); assert(a[4] == 'd'); memcpy(a, a + 4, 4); memcpy(a, a, 8);",
        "char *p = aligned_alloc(64, 64); *p = 1; free(p); void *q; assert(posix_memalign(&q, 3, 8) == EINVAL);",
        "assert(calloc((size_t)-1, 2) == NULL && errno == ENOMEM); int *p = calloc(2, 4); assert(p[1] == 0); free(p);",
        "char *end; errno = 0; assert(strtol(\"99999999999999999999x\", &end, 10) == INT64_MAX && errno == ERANGE && *end == 'x');
         assert(strtol(\"-99999999999999999999\", 0, 10) == INT64_MIN); assert(strtoul(\"18446744073709551616\", 0, 10) == UINT64_MAX);
         assert(strtol(\"-9223372036854775808\", 0, 10) == INT64_MIN && strtol(\" +7f\", 0, 16) == 127 && strtoul(\"-1\", 0, 10) == UINT64_MAX);",
    ]);
    // Addresses have 47 bits, so that a mark fits above, and are aligned as asked for, also where sizes are remembered.
    allowed(
        "static int g; static void *made(void *a) { return malloc(8); }",
        &["int l, *p = malloc(4); uintptr_t marked = (uintptr_t)p | (uintptr_t)5 << 48;
           int *q = (int *)(marked & (((uintptr_t)1 << 48) - 1)); *q = 3; assert(*p == 3 && marked >> 48 == 5);
           assert(((uintptr_t)&l | (uintptr_t)&g | (uintptr_t)made | (uintptr_t)p) >> 47 == 0);
           pthread_t t; void *far; pthread_create(&t, 0, made, 0); pthread_join(t, &far); assert((uintptr_t)far >> 47 == 0); free(far); free(p);",
          "char *p = aligned_alloc(4096, 100); assert((uintptr_t)p % 4096 == 0); p[99] = 1; free(p); p = malloc(3); p[2] = 7;
           p = realloc(p, 20000); assert(p[2] == 7 && (uintptr_t)p % 16 == 0); p[19999] = 1; p = realloc(p, 5); free(p);
           void *q; assert(posix_memalign(&q, 1 << 20, 8) == 0 && (uintptr_t)q % (1 << 20) == 0); free(q);
           char *large = malloc(3000000), *other = malloc(3000000); large[2999999] = 1; other[0] = 2; assert(large[2999999] == 1); free(large); free(other);"],
    );
    found(
        "",
        Property::Memory,
        "no pointer to anything",
        &["int *p = malloc(4); *(int *)((uintptr_t)p | (uintptr_t)1 << 48) = 1;"],
    );
    found(
        "",
        Property::Memory,
        "out of bounds",
        &["char *p = malloc(20000); p[20000] = 1;", "char *p = aligned_alloc(64, 64); p[64] = 1;"],
    );
    // Padding has no value, and is moved all the same.
    let sorted = "struct s { char c; int n; }; int by(const void *a, const void *b) { return ((struct s *)a)->n - ((struct s *)b)->n; }";
    allowed(
        sorted,
        &["struct s a[3]; for (int i = 0; i < 3; i++) { a[i].c = i; a[i].n = 3 - i; }
        qsort(a, 3, sizeof *a, by); assert(a[0].n == 1 && a[0].c == 2);"],
    );
}

/// Characters are numbers from -1 to 255, and a string has an end.
#[test]
fn characters_and_strings_are_what_they_are_called() {
    let includes = "#include <ctype.h>\n#include <stdarg.h>\nvoid say(const char *format, ...) { va_list l; va_start(l, format); vprintf(format, l); va_end(l); }
        char shared[4]; void *put(void *p) { shared[0] = 'x'; return p; }";
    let none = "neither an unsigned char nor EOF";
    let bodies =
        ["volatile int c = 300; return toupper(c);", "char c = (char)0xe9; return isdigit(c);", "return !isspace(-2);"];
    found(includes, Property::Memory, none, &bodies);
    let end = ["char a[3] = {'a', 'b', 'c'}; printf(\"%s\\n\", a);", "char a[3] = {'a', 'b', 'c'}; puts(a);"];
    found(includes, Property::Memory, "out of bounds", &end);
    found(includes, Property::Memory, "out of bounds", &["char a[3] = {'a', 'b', 'c'}; fputs(a, stdout);"]);
    found(includes, Property::Memory, "out of bounds", &["char a[3] = {'a', 'b', 'c'}; printf(\"%.4s\\n\", a);"]);
    found(includes, Property::Memory, "never written", &["char a[3]; a[0] = 'x'; printf(\"%s\\n\", a);"]);
    found(
        includes,
        Property::Memory,
        "life has ended",
        &["char *a = malloc(3); strcpy(a, \"x\"); free(a); printf(\"%s\\n\", a);"],
    );
    found(
        includes,
        Property::Race,
        "",
        &["pthread_t t; pthread_create(&t, 0, put, 0); printf(\"%s\\n\", shared); pthread_join(t, 0);"],
    );
    let stands = "a string is printed to where it stands";
    found(includes, Property::Memory, stands, &["char a[32] = \"hello\"; sprintf(a, \"%s!\", a);"]);
    found(includes, Property::Memory, stands, &["char a[32] = \"hello\"; snprintf(a, 32, \"<%s>\", a + 2);"]);
    allowed(
        includes,
        &[
            "int c = EOF; assert(!isdigit(c) && toupper(c) == EOF); assert(toupper((unsigned char)0xe9) == 0xe9);",
            "char a[3] = {'a', 'b', 'c'}; printf(\"%.3s %.*s\\n\", a, 2, a);",
            "char a[3] = \"ab\", *p = a; printf(\"%s %10s\\n\", p, p + 2); puts(p);",
            "char a[32] = \"hello\", b[32]; sprintf(b, \"%s!\", a); sprintf(a, \"%s!\", b); assert(!strcmp(a, \"hello!!\"));",
            "char a[32] = \"hello\"; assert(snprintf(0, 0, \"%s!\", a) == 6);",
            "char a[32] = \"a\"; sprintf(a + 16, \"%s!\", a); assert(!strcmp(a + 16, \"a!\"));",
        ],
    );
}
