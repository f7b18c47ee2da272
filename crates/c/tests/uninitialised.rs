//! What C allows with memory that was never written: moving it as part of something larger, not using it.

mod support;

use raddle_testkit::Scratch;
use support::{compile_file, run};

fn outcome(text: &str) -> Result<String, String> {
    let scratch = Scratch::new();
    let source = scratch.file("p.c", text);
    let program =
        compile_file(&source, &raddle_c::Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&program)
}

const HEAD: &str = "#include <stdlib.h>\n#include <string.h>\nstruct s { unsigned a : 3, b : 5; int c, d; };\n";

#[test]
fn parts_without_a_value_may_be_moved() {
    for body in [
        "struct s x; x.a = 1; return x.a - 1;",
        "struct s *p = malloc(sizeof *p); p->b = 3; return p->b - 3;",
        "struct s x, y; x.c = 1; y = x; return y.c - 1;",
        "struct s *p = malloc(sizeof *p), *q = malloc(sizeof *q); p->c = 2; *q = *p; return q->c - 2;",
        "struct s *p = malloc(sizeof *p), x; p->d = 2; memcpy(&x, p, sizeof x); return x.d - 2;",
        "int *p = malloc(2 * sizeof *p); p[0] = 4; p = realloc(p, 4 * sizeof *p); return p[0] - 4;",
        "void *(*grow)(void *, size_t) = realloc; int *p = grow(0, 4); *p = 1; p = grow(p, 8); return p[0] - 1;",
        "int x; x = 1; return x - 1;",
        "int x, c = 1; if (c) x = 0; return c ? x : 7;",
        "int x, c = 0; return c && x;",
        "int x, c = 0; if (c && x) return 1; return c ? x : 0;",
        "int x; for (int i = 0; i < 3; i++) x = i; return x - 2;",
        "int i, n; for (i = 0, n = 0; i < 3; i++) n += i; return n - 3;",
        "int x; (void)x; return sizeof x - 4;",
        "int x; do { x = 1; } while (x < 0); return x - 1;",
        "int n = 0, x; for (int i = 0; i < 4; i++) { if (i & 1) n += x; else x = i; } return n - 2;",
        "int x = 1; x = x; return x - 1;",
        "char c; switch (1) { case 1: c = 0; break; default: return 1; } return c;",
        "int c = 1, *p; if (c) p = &c; if (c) return *p - 1; return 2;",
    ] {
        let text = format!("{HEAD}int main(void) {{ {body} }}\n");
        outcome(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn a_value_that_was_never_written_may_not_be_used() {
    for body in [
        "struct s x; x.a = 1; return x.c;",
        "int *p = malloc(sizeof *p); return *p;",
        "struct s *p = malloc(sizeof *p); p->c = 1; return p->d;",
        "int *p = malloc(2 * sizeof *p); p[0] = 4; return p[1];",
        "int x; return x;",
        "int x; if (x == 7) return 1; return 0;",
        "int x; x++; return 0;",
        "int x; x = x; return 0;",
        "int x = x; return 0;",
        "int x, c = 1; return c && x;",
        "int x, c = 0; return c ? 0 : x;",
        "int x; switch (x) { default: return 0; }",
        "int *p; return *p;",
        "_Bool b; if (b) return 1; return 0;",
        "int n = 0; for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 0; n += x; } return n;",
        "goto past; int x = 1; past: return x;",
        "int a[2]; a[0] = 1; return a[1];",
        "unsigned x; return abs(x);",
        "int e, v = 0; return __atomic_compare_exchange_n(&v, &e, 1, 0, 5, 5) * 0;",
    ] {
        let text = format!("{HEAD}int main(void) {{ {body} }}\n");
        let error = outcome(&text).expect_err(&text);
        assert!(error.contains("never written"), "{error}\n{text}");
    }
}
