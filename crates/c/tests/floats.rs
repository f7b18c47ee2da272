//! Floating point is that of the compiler: random expressions of `float` and `double` have the same bits through both, and print the same.
//!
//! Operations that IEEE 754 rounds correctly are compared to the last bit; so are conversions, whose results are kept in range. `sin` and the
//! like are left out: libraries differ in their last bits.

mod support;

use raddle_testkit::{Random, Scratch, setting};
use std::fmt::Write;
use std::process::Command;
use support::{compile_file, run};

const HEAD: &str = r#"
#include <stdio.h>
#include <math.h>
#include <string.h>
static void show(double x) {
    unsigned long long bits = 0;
    if (isnan(x)) { printf("nan\n"); return; }
    memcpy(&bits, &x, sizeof x);
    printf("%llx %f %.3e %g %10.2f|%-9.1f|\n", bits, x, x, x, x, x);
}
static int within(double x) { return x > -2000000000.0 && x < 2000000000.0; }
struct pair { float f; double d; int i; };
static struct pair twice(struct pair p) { p.f *= 2; p.d += p.f; p.i = p.d > 0; return p; }
static double sum(int n, const double *a) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static float half(float x) { return x / 2; }
double table[4] = { 1.5, -2, 1e300, 0x1.8p-3 };
float narrow = 1 / 3.0f;
const double third = 1.0 / 3;
"#;

struct Generator {
    rng: Random,
}

impl Generator {
    fn number(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.one_in(5) {
            let names =
                ["a", "b", "f", "g", "(double)i", "u", "l", "table[1]", "third", "narrow", "(float)i", "p.d", "p.f"];
            let literals = ["0.1", "2.5f", "1e10", "3.0", "0x1p-4", "(-0.0)", "7", "1e-310", "16777217.0f"];
            return if self.rng.one_in(3) { self.rng.pick(&literals) } else { self.rng.pick(&names) }.to_owned();
        }
        let (x, y) = (self.number(depth - 1), self.number(depth - 1));
        match self.rng.below(12) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} / (({y}) + 3.25))"),
            4 => format!("sqrt(fabs({x}))"),
            5 => format!("({x} < {y} ? {x} : floor({y}))"),
            6 => format!("(- {x})"),
            7 => format!("(float)({x})"),
            8 => format!("(within({x}) ? (int)({x}) : 5)"),
            9 => format!("half({x})"),
            10 => format!("fmod({x}, 7.5)"),
            _ => format!("({x} == {y} || !({x}) ? ceil({x}) : round({y}))"),
        }
    }

    fn program(&mut self, index: usize, text: &mut String) {
        let _ = writeln!(
            text,
            "static void p{index}(void) {{ double a = 1.25, b = -3e5; float f = 0.7f, g = 1e9f; int i = -7; unsigned u = 4000000000u; long l = 1L << 60;"
        );
        text.push_str("    struct pair p = { 1.5f, 2.5, 3 };\n");
        for _ in 0..8 {
            let value = self.number(3);
            match self.rng.below(8) {
                0 => {
                    let _ = writeln!(text, "    a = {value}; show(a);");
                }
                1 => {
                    let _ = writeln!(text, "    f = {value}; show(f);");
                }
                2 => {
                    let _ = writeln!(text, "    b += {value}; show(b); b++; show(b);");
                }
                3 => {
                    let _ = writeln!(text, "    g *= {value}; show(g--); show(g);");
                }
                4 => {
                    let _ = writeln!(
                        text,
                        "    p.f = {value}; p = twice(p); show(p.f); show(p.d); printf(\"%d\\n\", p.i);"
                    );
                }
                5 => {
                    let _ = writeln!(text, "    table[2] = {value}; show(sum(4, table));");
                }
                6 => {
                    let _ =
                        writeln!(text, "    if ({value}) printf(\"yes\\n\"); while (0.0f) {{}} i -= ({value}) > 0;");
                }
                _ => {
                    let _ = writeln!(
                        text,
                        "    {{ double n = {value}; if (within(n)) {{ i = n; l = (long)n; u = (unsigned)fabs(n); i += 0.5; }} printf(\"%d %ld %u %d\\n\", i, l, u, (int)(n != n)); }}"
                    );
                }
            }
        }
        text.push_str("}\n");
    }
}

#[test]
fn numbers_have_the_bits_that_the_compiler_gives_them() {
    let files = setting("RADDLE_C_FLOATS", 6);
    let scratch = Scratch::new();
    for file in 0..files {
        let mut text = HEAD.to_owned();
        let mut generator = Generator { rng: Random::new(1 + file) };
        (0..10).for_each(|index| generator.program(index, &mut text));
        text.push_str("int main(void) {\n");
        (0..10).for_each(|index| {
            let _ = writeln!(text, "    printf(\"program {index}\\n\"); p{index}();");
        });
        text.push_str("    return 0;\n}\n");
        let source = scratch.file("f.c", &text);
        let binary = scratch.join("f");
        let compiled = Command::new("cc")
            .args(["-w", "-std=gnu11", "-O0", "-ffp-contract=off", "-o"])
            .arg(&binary)
            .arg(&source)
            .arg("-lm")
            .output();
        let compiled = compiled.expect("cc can be run");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary).output().expect("the program can be run");
        let expected = String::from_utf8_lossy(&output.stdout);
        let program =
            compile_file(&source, &raddle_c::Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let printed = run(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let differs = printed.lines().zip(expected.lines()).position(|(a, b)| a != b);
        if let Some(line) = differs {
            panic!(
                "line {line} is {:?}, and the compiler says {:?}\n{text}",
                printed.lines().nth(line),
                expected.lines().nth(line)
            );
        }
        assert_eq!(printed.lines().count(), expected.lines().count());
    }
}
