//! Integers of 128 bits are those of the compiler: random expressions print the same through both, and what has no value is found.

mod support;

use raddle_c::Options;
use raddle_testkit::{Random, Scratch, setting};
use std::fmt::Write;
use std::process::Command;
use support::{compile_file, run};

const HEAD: &str = r#"
#include <stdio.h>
#include <string.h>
typedef unsigned __int128 u128;
typedef __int128 i128;
static void show(u128 x) { printf("%016llx%016llx\n", (unsigned long long)(x >> 64), (unsigned long long)x); }
static void real(double x) { unsigned long long bits; memcpy(&bits, &x, sizeof x); printf("%llx\n", bits); }
static int within(double x) { return x > -1e18 && x < 1e18; }
struct mixed { int i; u128 u; i128 s; };
static struct mixed swapped(struct mixed m) { struct mixed n = { .s = m.u, .u = m.s, .i = m.i + 1 }; return n; }
static u128 mix(u128 a, i128 b, int n) { a ^= b >> (n & 127); return a * 0x9E3779B97F4A7C15ULL; }
static u128 table[3] = { 1, ((u128)0xfedcba9876543210ULL << 64) | 0x0123456789abcdefULL, [2] = -(u128)3 };
static const i128 least = (i128)((u128)1 << 127);
static int bigger = (((u128)5 << 70) / 3 % 1000) > 500;
"#;

struct Generator {
    rng: Random,
}

impl Generator {
    fn leaf(&mut self) -> String {
        let names =
            ["a", "b", "s", "t", "i", "u", "l", "c", "table[1]", "table[i & 1]", "m.u", "m.s", "least", "bigger"];
        let literals =
            ["1", "0xffffffffffffffffULL", "-7", "((u128)1 << 100)", "3000000000u", "'x'", "((i128)-1 << 0)"];
        if self.rng.one_in(3) { self.rng.pick(&literals) } else { self.rng.pick(&names) }.to_owned()
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.one_in(6) {
            return self.leaf();
        }
        let (x, y) = (self.value(depth - 1), self.value(depth - 1));
        match self.rng.below(20) {
            0 | 1 => format!("((u128)({x}) + ({y}))"),
            2 => format!("((u128)({x}) - ({y}))"),
            3 | 4 => format!("((u128)({x}) * ({y}))"),
            5 => format!("((u128)({x}) / (({y}) | 1))"),
            6 => format!("((u128)({x}) % (({y}) | 1))"),
            7 => format!("((i128)({x}) / (((i128)({y}) >> 3) * 2 + 3))"),
            8 => format!("((i128)({x}) % (((i128)({y}) >> 70) * 2 + 3))"),
            9 => format!("((u128)({x}) << (({y}) & 127))"),
            10 => format!("((u128)({x}) >> (({y}) & 127))"),
            11 => format!("((i128)({x}) >> (({y}) & 127))"),
            12 => format!("(({x}) & ~({y}))"),
            13 => format!("(({x}) ^ ({y}))"),
            14 => format!("(({x}) < ({y}) ? ({x}) : ({y}))"),
            15 => format!("((i128)({x}) >= (i128)({y}))"),
            16 => format!("(({x}) == ({y}) || !({x}))"),
            17 => format!("mix({x}, {y}, i)"),
            18 => format!("(-(u128)({x}))"),
            _ => format!("((int)({x}) + (unsigned char)({y}))"),
        }
    }

    fn program(&mut self, index: usize, text: &mut String) {
        let _ = writeln!(
            text,
            "static void p{index}(void) {{ u128 a = table[1], b = 77; i128 s = -5, t = (i128)1 << 90; int i = 5; unsigned u = 4000000000u; long l = -1L << 40; signed char c = -3; int over = 0;"
        );
        text.push_str("    struct mixed m = { 3, a * a, s };\n    (void)u; (void)l; (void)c; (void)over;\n");
        for _ in 0..6 {
            let value = self.value(3);
            let statement = match self.rng.below(13) {
                0 => format!("a = {value}; show(a);"),
                1 => format!("s = {value}; show(s); show(s++); show(--s);"),
                2 => format!("b += {value}; show(b); b <<= 9; b |= 5; show(b);"),
                3 => format!("l = {value}; l ^= (u128)3 * b; show(l);"),
                4 => format!("m.u *= {value}; m = swapped(m); show(m.u); show(m.s); show(m.i);"),
                5 => format!(
                    "real((double)(u128)({value})); real((double)(i128)({value})); real((float)(u128)({value}));"
                ),
                6 => format!("show((i128)(within((double)(i128)({value})) ? (double)(i128)({value}) : 1e25));"),
                7 => format!("over = __builtin_mul_overflow((u128)({value}), b, &a); show(a); show(over);"),
                8 => format!("over = __builtin_mul_overflow((i128)({value}), t >> 60, &s); show(s); show(over);"),
                9 => format!("over = __builtin_add_overflow((i128)({value}), t << 36, &s); show(s); show(over);"),
                10 => format!("over = __builtin_sub_overflow((u128)({value}), b, &a); show(a); show(over);"),
                11 => format!("{{ double d = 2.5; d += (u128)({value}); real(d); b = 9; b *= 1.5; show(b); }}"),
                _ => format!("for (u128 k = (u128)({value}) >> 120; k; k >>= 1) show(k);"),
            };
            let _ = writeln!(text, "    {statement}");
        }
        text.push_str("}\n");
    }
}

#[test]
fn random_programs_print_what_the_compiler_prints() {
    let files = setting("RADDLE_C_WIDE", 6);
    let scratch = Scratch::new();
    for seed in 0..files {
        let mut generator = Generator { rng: Random::new(seed + 1) };
        let mut text = HEAD.to_owned();
        (0..12).for_each(|index| generator.program(index, &mut text));
        text.push_str("int main(void) {\n");
        (0..12).for_each(|index| {
            let _ = writeln!(text, "    p{index}();");
        });
        text.push_str("    return 0;\n}\n");
        let source = scratch.file("p.c", &text);
        let binary = scratch.join("p");
        let compiled = Command::new("cc").args(["-w", "-O0", "-fwrapv", "-o"]).arg(&binary).arg(&source).output();
        let compiled = compiled.expect("cc can be run");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let expected = Command::new(&binary).output().expect("the program can be run");
        let program = compile_file(&source, &Options::default());
        let program = program.unwrap_or_else(|error| panic!("file {seed} is rejected: {error}\n{text}"));
        let printed = run(&program).unwrap_or_else(|error| panic!("file {seed}: {error}\n{text}"));
        let expected = String::from_utf8_lossy(&expected.stdout);
        let differs = printed.lines().zip(expected.lines()).position(|(a, b)| a != b);
        assert_eq!(printed, expected, "file {seed} differs at line {differs:?}:\n{text}");
    }
}

fn outcome(body: &str, options: &Options) -> Result<String, String> {
    let scratch = Scratch::new();
    let text = format!("typedef unsigned __int128 u128; typedef __int128 i128;\n{body}\n");
    let program = compile_file(&scratch.file("p.c", &text), options)?;
    run(&program)
}

#[test]
fn what_has_no_value_is_found() {
    let main =
        |body: &str| format!("int main(void) {{ i128 x = 1, y = 0; u128 u = 1; int n = 128; {body} return 0; }}");
    let usual = Options::default();
    let strict = Options { overflow_is_error: true, ..Options::default() };
    for (body, options, message) in [
        ("x = x / y;", &usual, "division by zero"),
        ("x = u % (u128)y;", &usual, "division by zero"),
        ("x = (i128)((u128)1 << 127); x /= y - 1;", &usual, "the least number is divided by -1"),
        ("u <<= n;", &usual, "a shift by the width"),
        ("u = x >> (n - 129);", &usual, "a shift by the width"),
        ("i128 z; x = z;", &usual, "never written"),
        ("double d = 1e39; x = d;", &usual, "too large for its type"),
        ("double d = -1; u = d;", &usual, "too large for its type"),
        ("x <<= 126; x += x;", &strict, "signed arithmetic overflows"),
        ("x <<= 100; x *= x;", &strict, "signed arithmetic overflows"),
        ("x = (i128)((u128)1 << 127); x = -x;", &strict, "signed arithmetic overflows"),
        ("x = -1; x <<= 3;", &strict, "shifted out of its type"),
    ] {
        let error = outcome(&main(body), options).expect_err(body);
        assert!(error.contains(message), "{body}: {error}");
    }
    for body in [
        "x <<= 126; x -= 1; x += x;",
        "u = ~(u128)0; u += u; u *= u;",
        "x = -1; x = x * x - 5; x = -x;",
        "double d = -0.5; u = d;",
    ] {
        assert!(outcome(&main(body), &strict).is_ok(), "{body}");
    }
    let wraps = main("x <<= 126; x += x;");
    assert!(outcome(&wraps, &usual).is_ok());
}

#[test]
fn what_is_not_supported_is_refused() {
    let main = |body: &str| format!("#include <stdio.h>\nint main(void) {{ i128 x = 1; {body} return 0; }}");
    for (body, message) in [
        ("printf(\"%d\", x);", "as an argument beyond the parameters"),
        ("switch (x) { case 1: return 1; }", "a `switch` over an integer of 128 bits"),
        ("static _Atomic i128 a; a += 2;", "arithmetic on an atomic integer of 128 bits"),
        ("int n = 1 << x;", "a shift by an integer of 128 bits"),
        ("u128 u = 1; __builtin_add_overflow(x, u, &u);", "operands that fit the type of the result"),
    ] {
        let error = outcome(&main(body), &Options::default()).expect_err(body);
        assert!(error.contains(message), "{body}: {error}");
    }
}
