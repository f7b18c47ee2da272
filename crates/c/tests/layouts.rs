//! Structs and unions lie in memory where the compiler puts them, and their members hold what the compiler says: random ones, through both.
//!
//! The default run is a sample; `RADDLE_C_LAYOUTS=20000 cargo test -p raddle-c --release --test layouts` is more of it (`RADDLE_C_SEED` starts elsewhere).
//! Where `cc -m32` makes programs that run, `-- --ignored` compares `--32` with it: these programs need no library.

mod support;

use raddle_testkit::Scratch;
use support::{compare, compile_file, layouts, run};

const SETTING: &str = "RADDLE_C_LAYOUTS";

fn with_library(text: &str) -> String {
    format!("{}{text}", layouts::HEAD)
}

/// What stands in place of a library.
const ALONE: &str = "#define offsetof(type, member) __builtin_offsetof(type, member)
static char text[1 << 20]; static unsigned long length;
static void put(char c) { text[length++] = c; }
static void name(const char *s) { while (*s) put(*s++); }
static void hex(unsigned long long n) { char d[16]; int i = 0; do d[i++] = \"0123456789abcdef\"[n & 15]; while (n >>= 4); while (i) put(d[--i]); }
static void out(const char *s, long long value) { name(s); put(' '); hex(value); put('\\n'); }
static void show(const char *s, const void *p, unsigned long n) {
    const unsigned char *bytes = p; name(s);
    for (unsigned long i = 0; i < n; i++) { put(' '); put(\"0123456789abcdef\"[bytes[i] >> 4]); put(\"0123456789abcdef\"[bytes[i] & 15]); }
    put('\\n');
}
void *memset(void *p, int c, unsigned n) { char *to = p; while (n--) *to++ = c; return p; }
void *memcpy(void *p, const void *q, unsigned n) { char *to = p; const char *from = q; while (n--) *to++ = *from++; return p; }
static int system_call(int number, int a, const void *b, int c) {
    int result; __asm__ volatile(\"int $0x80\" : \"=a\"(result) : \"a\"(number), \"b\"(a), \"c\"(b), \"d\"(c) : \"memory\"); return result;
}
int main(void);
void _start(void) { main(); system_call(4, 1, text, length); system_call(1, 0, 0, 0); }
";

#[test]
fn random_structs_lie_where_the_compiler_puts_them() {
    let flags = ["-w", "-std=gnu11", "-O0"];
    compare(SETTING, 200, layouts::file, with_library, (&flags, with_library), &raddle_c::Options::default());
}

#[test]
#[ignore = "needs `cc -m32`, and a system that runs what it makes"]
fn random_structs_lie_where_a_compiler_for_32_bits_puts_them() {
    let flags = [
        "-w",
        "-std=gnu11",
        "-O0",
        "-m32",
        "-march=i686",
        "-ffreestanding",
        "-nostdlib",
        "-static",
        "-fno-stack-protector",
    ];
    let theirs = |text: &str| format!("{ALONE}{text}");
    let narrow = raddle_c::Options { ilp32: true, ..raddle_c::Options::default() };
    compare(SETTING, 200, layouts::file, with_library, (&flags, theirs), &narrow);
}

/// Bit-fields of several types in one byte, in three bytes of a struct that has no more, in nine bytes, and under `#pragma pack`.
#[test]
fn bit_fields_lie_anywhere() {
    let text = "#include <stdio.h>
        struct { unsigned a : 4; unsigned char b : 4; unsigned short c : 8; } units = { 5, 3, 200 };
        struct __attribute__((packed)) three { unsigned v : 24; } x, y[2];
        struct { short a : 1; unsigned : 13; signed b : 29; _Bool c : 1; } __attribute__((packed)) five = { -1, -5, 1 };
        struct { unsigned a : 5; long long b : 62; unsigned c : 5; } __attribute__((packed)) nine = { 3, -7, 4 };
        #pragma pack(push, 8)
        struct pragma { float f; long long b : 51; int c : 29; unsigned : 4; _Bool d : 1; };
        #pragma pack(pop)
        int main(void) {
            printf(\"%d %d %d\\n\", units.a, units.b, units.c);
            x.v = 0xabcdef; y[1].v = x.v + 1; y[0] = x; struct three z = y[1]; z.v++;
            printf(\"%zu %x %x %x\\n\", sizeof x, y[0].v, y[1].v, z.v);
            printf(\"%zu %d %d %d\", sizeof five, five.a, five.b, five.c); five.b = 12345; five.b++; printf(\" %d %d %d\\n\", five.a, five.b, five.c);
            printf(\"%d %lld %d\", nine.a, (long long)nine.b, nine.c); nine.b = -2; nine.a = 31; printf(\" %d %lld %d\\n\", nine.a, (long long)nine.b, nine.c);
            printf(\"%zu %zu\\n\", sizeof(struct pragma), _Alignof(struct pragma));
            return 0;
        }";
    let scratch = Scratch::new();
    let source = scratch.file("p.c", text);
    let program = compile_file(&source, &raddle_c::Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let printed = run(&program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(printed, "5 3 200\n3 abcdef abcdf0 abcdf1\n6 -1 -5 1 -1 12346 1\n3 -7 4 31 -2 4\n16 8\n");
}
