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
    ] {
        let text = format!("{HEAD}int main(void) {{ {body} }}\n");
        let error = outcome(&text).expect_err(&text);
        assert!(error.contains("never written"), "{error}\n{text}");
    }
}
