//! Every function our headers declare is modelled, or its use is an error that names it.

mod support;

use raddle_c::Options;
use raddle_testkit::Scratch;
use std::path::Path;
use support::{compile_file, run};

/// Declared so that their use is refused by name rather than by "not declared".
const REFUSED: [&str; 2] = ["alloca", "scanf"];
/// Lowered where they are called, so there is no function to point at.
const IN_LINE: [&str; 25] = [
    "_Exit",
    "_exit",
    "abort",
    "dprintf",
    "exit",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "perror",
    "printf",
    "pthread_exit",
    "pthread_kill",
    "putc",
    "putchar",
    "puts",
    "quick_exit",
    "thrd_exit",
    "vdprintf",
    "vfprintf",
    "vprintf",
];

/// The functions our headers declare, with the header.
fn declared() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("headers");
    let mut found = Vec::new();
    for header in [
        "stdio.h",
        "stdlib.h",
        "string.h",
        "strings.h",
        "ctype.h",
        "time.h",
        "sys/time.h",
        "unistd.h",
        "sched.h",
        "semaphore.h",
        "pthread.h",
        "threads.h",
        "errno.h",
        "alloca.h",
    ] {
        let text = std::fs::read_to_string(folder.join(header)).expect("a header");
        for line in text
            .lines()
            .filter(|l| l.ends_with(");") && !l.starts_with('#') && !l.starts_with(' ') && !l.starts_with("typedef"))
        {
            let name = line.split('(').next().unwrap_or("").rsplit([' ', '*']).next().unwrap_or("");
            found.push((header.to_owned(), name.to_owned()));
        }
    }
    found
}

#[test]
fn every_declared_function_has_a_model_or_is_refused_by_name() {
    let scratch = Scratch::new();
    let functions = declared();
    assert!(functions.len() > 150, "only {}", functions.len());
    for (header, name) in functions {
        let text = format!(
            "#include <{header}>\nint main(void) {{ void (*p)(void) = (void (*)(void)){name}; return p == 0; }}\n"
        );
        let result = compile_file(&scratch.file("f.c", &text), &Options::default());
        if REFUSED.contains(&name.as_str()) {
            let error = result.expect_err(&name);
            assert!(error.contains(&format!("`{name}` is declared but not defined")), "{error}");
        } else if IN_LINE.contains(&name.as_str()) {
            assert!(result.is_err(), "{name}");
        } else {
            let program = result.unwrap_or_else(|error| panic!("{name} of {header}: {error}"));
            raddle_program::validate(&program).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        }
    }
}

#[test]
fn library_functions_compute_what_the_real_ones_do() {
    let scratch = Scratch::new();
    let text = r#"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }
static int sign(int n) { return (n > 0) - (n < 0); }
int main(void)
{
    char buffer[32] = "abc";
    printf("%zu %zu\n", strlen("hello"), strnlen("hello", 3));
    printf("%d %d %d\n", sign(strcmp("a", "b")), sign(strcmp("b", "a")), strcmp("", ""));
    printf("%d %d\n", sign(strncmp("abx", "aby", 2)), sign(memcmp("abx", "aby", 3)));
    strcat(buffer, "def");
    strncat(buffer, "ghijkl", 2);
    for (int i = 0; buffer[i]; i++) putchar(buffer[i]);
    printf("\n%d %d\n", (int)(strchr(buffer, 'd') - buffer), (int)(strrchr(buffer, 'a') - buffer));
    printf("%d %d\n", (int)(strstr(buffer, "fg") - buffer), strstr(buffer, "zz") == NULL);
    strncpy(buffer, "xy", 5);
    printf("%d %d %d\n", buffer[0], buffer[2], buffer[4]);
    char *copy = strdup("dup");
    printf("%d %d\n", copy[2], (int)((char *)memchr(copy, 'p', 3) - copy));
    free(copy);
    printf("%d %ld %ld %ld\n", atoi(" -42x"), strtol("0x1f", NULL, 0), strtol("077", NULL, 0), strtol("zz", NULL, 36));
    printf("%d %d %d\n", abs(-3), isdigit('5') != 0, toupper('q'));
    int *numbers = malloc(3 * sizeof *numbers);
    numbers[0] = 3; numbers[1] = 1; numbers[2] = 2;
    numbers = realloc(numbers, 5 * sizeof *numbers);
    numbers[3] = 9; numbers[4] = 0;
    qsort(numbers, 5, sizeof *numbers, compare);
    for (int i = 0; i < 5; i++) printf("%d ", numbers[i]);
    int key = 9;
    printf("%d\n", (int)((int *)bsearch(&key, numbers, 5, sizeof *numbers, compare) - numbers));
    free(numbers);
    int *zeros = calloc(4, sizeof *zeros);
    printf("%d\n", zeros[3]);
    errno = EINVAL;
    printf("%d\n", errno);
    memset(buffer, 'z', 3);
    memmove(buffer + 1, buffer, 4);
    printf("%d %d\n", buffer[3], buffer[4]);
    printf("%d %d %d %d\n", __builtin_popcount(0xf0f0u), __builtin_clzll(1), __builtin_ctz(8), __builtin_bswap16(0x1234));
    int sum;
    int overflows = __builtin_add_overflow(2147483647, 1, &sum);
    printf("%d %d\n", overflows, sum);
    return 0;
}
"#;
    as_the_compiler_has_it(&scratch, text);
}

/// What a program prints through Raddle is what it prints through the compiler.
fn as_the_compiler_has_it(scratch: &Scratch, text: &str) {
    let source = scratch.file("l.c", text);
    let binary = scratch.join("l");
    let status = std::process::Command::new("cc").args(["-w", "-o"]).arg(&binary).arg(&source).status().expect("cc");
    assert!(status.success());
    let expected = std::process::Command::new(&binary).output().expect("it runs").stdout;
    let program = compile_file(&source, &Options::default()).expect("a program");
    assert_eq!(run(&program).expect("it ends"), String::from_utf8_lossy(&expected));
}

#[test]
fn arrays_have_the_length_that_is_computed() {
    let text = r#"
#include <alloca.h>
#include <stdio.h>
#include <string.h>
struct pair { char c; int i; };
static int sum(int n, int a[n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static int squares(int n) {
    int a[n + 1], last = n;
    struct pair p[n];
    char rows[n][3];
    memset(p, 0, sizeof p);
    for (int i = 0; i <= last; i++) a[i] = i * i;
    for (int i = 0; i < n; i++) { p[i].i = i; rows[i][2] = i; }
    printf("%zu %zu %zu %zu\n", sizeof a, sizeof(p), sizeof a / sizeof a[0], sizeof rows);
    int (*whole)[] = &a;
    return sum(last + 1, a) + p[n - 1].i + (*whole)[1] + rows[n - 1][2];
}
int main(void)
{
    printf("%d\n", squares(3));
    printf("%d\n", squares(5));
    for (int n = 1; n < 4; n++) {
        char text[n + 1];
        memset(text, 'a', n);
        text[n] = 0;
        if (n == 2) continue;
        for (char *c = text; *c; c++) putchar(*c);
    }
    int *more = alloca(3 * sizeof *more);
    more[2] = 7;
    char *bytes = __builtin_alloca(2);
    bytes[0] = more[2];
    printf("%d\n", bytes[0]);
    return 0;
}
"#;
    as_the_compiler_has_it(&Scratch::new(), text);
}

#[test]
fn printing_tells_how_much() {
    let text = r#"
#include <stdio.h>
#include <string.h>
struct pair { char c; int i; };
int main(void)
{
    int x = -12;
    int n = printf("ab%d %5u|%x\n", x, 3u, 255);
    int m = printf("%c|%%|\n", 'c'), k = fprintf(stdout, "plain\n");
    printf("%d %d %d\n", n, m, k);
    printf("%d\n", putchar('x') == 'x');
    struct pair a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    a.c = b.c = 1;
    a.i = b.i = 2;
    printf("%d\n", memcmp(&a, &b, sizeof a));
    return 0;
}
"#;
    as_the_compiler_has_it(&Scratch::new(), text);
}

/// Dates, kinds of characters and what is left of strings, through the system's headers.
#[test]
fn everyday_functions_do_what_the_systems_do() {
    let text = r#"
        #define _GNU_SOURCE
        #include <arpa/inet.h>
        #include <ctype.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <time.h>
        static int compare(const void *a, const void *b, void *with) { return (*(const int *)a - *(const int *)b) * *(int *)with; }
        int main(void) {
            long times[] = { 0, 86399, 951782400, 951868800, 1000000000, 4102444799, -1, -2203891200, 1709164800 };
            for (int i = 0; i < 9; i++) {
                struct tm d;
                gmtime_r(&times[i], &d);
                printf("%d-%d-%d %d:%d:%d %d %d\n", d.tm_year, d.tm_mon, d.tm_mday, d.tm_hour, d.tm_min, d.tm_sec, d.tm_wday, d.tm_yday);
            }
            for (int c = 0; c < 256; c += 3)
                printf("%d%d%d%d%d%d ", !!isalpha(c), !!isdigit(c), !!isspace(c), !!ispunct(c), !!isxdigit(c), !!isprint(c));
            char text[] = "a,b;;c", *rest = text, *word;
            while ((word = strsep(&rest, ",;")))
                printf("<%c%d>", word[0], (int)strlen(word));
            const char *s = "concurrency";
            printf(" %d %d %d", (int)(strchrnul(s, 'z') - s), (int)((char *)memmem(s, 11, "ren", 3) - s), (int)((char *)memrchr(s, 'c', 11) - s));
            int numbers[] = { 3, 1, 2, 5, 4 }, sign = -1;
            qsort_r(numbers, 5, sizeof(int), compare, &sign);
            printf(" %d%d%d%d%d %x %x\n", numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], htonl(0x12345678), ntohs(0x1234));
            return 0;
        }
    "#;
    as_the_system_has_it(text);
}

#[test]
fn texts_are_read_as_the_system_reads_them() {
    let text = r#"
        #include <stdio.h>
        int main(void) {
            const char *texts[] = { "12 -7 0x1f", "  3,4", "", "   ", "x", "-", "77", "0x1g 9", "4294967295 08", "5 % 6" };
            for (int i = 0; i < 10; i++) {
                int a = -1, b = -2, n = -3;
                unsigned x = 4;
                long l = 5;
                short s = 6;
                char c = '?', word[16] = "none", head[4] = "no";
                printf("%d:", sscanf(texts[i], "%d %d %x%n", &a, &b, &x, &n));
                printf("%d ", sscanf(texts[i], "%ld ,%hd", &l, &s));
                printf("%d ", sscanf(texts[i], "%3s%c%15s", head, &c, word));
                printf("%d ", sscanf(texts[i], "%*d %i", &n));
                printf("%d ", sscanf(texts[i], "%1d%2d %% %d", &a, &b, &n));
                printf("%d %d %u %d %ld %d %c ", a, b, x, n, l, s, c);
                for (const char *at = word; *at; at++)
                    printf("%c", *at);
                for (const char *at = head; *at; at++)
                    printf("/%c", *at);
                printf("\n");
            }
            return 0;
        }
    "#;
    as_the_system_has_it(text);
}

fn as_the_system_has_it(text: &str) {
    let scratch = Scratch::new();
    let source = scratch.file("p.c", text);
    let binary = scratch.join("p");
    let compiled = std::process::Command::new("cc").arg("-w").arg("-o").arg(&binary).arg(&source).status();
    assert!(compiled.expect("cc can be run").success());
    let expected = std::process::Command::new(&binary).output().expect("the program can be run").stdout;
    let program = compile_file(&source, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run(&program).as_deref(), Ok(&*String::from_utf8_lossy(&expected)));
}
