//! What C and POSIX leave undefined, one small program each, and beside it what looks alike and is allowed.

use raddle::{Control, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str =
    "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>
#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// What is said about a C file with this text behind the usual headers.
fn check(text: &str) -> Outcome {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_undefined_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    let loaded = load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&loaded.program, &Settings::new(Model::Sc), &Control::new())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Programs that are one body of `main` each: in each of them this is found, and said so.
fn found(before: &str, property: Property, words: &str, bodies: &[&str]) {
    for body in bodies {
        let text = format!("{before}\nint main(void) {{ {body}\nreturn 0; }}\n");
        let outcome = check(&text);
        let Some(finding) = outcome.findings.first() else {
            panic!("{:?}: {}\n{text}", outcome.verdict, outcome.scope)
        };
        let violation = finding.violation();
        assert_eq!(violation.property, property, "{}\n{text}", violation.message);
        assert!(violation.message.contains(words), "{}\n{text}", violation.message);
    }
}

/// Programs in which nothing is wrong.
fn allowed(before: &str, bodies: &[&str]) {
    for body in bodies {
        let text = format!("{before}\nint main(void) {{ {body}\nreturn 0; }}\n");
        let outcome = check(&text);
        let finding = outcome.findings.first().map(|finding| finding.violation().message.clone());
        assert_eq!(outcome.verdict, Verdict::Holds, "{finding:?} {}\n{text}", outcome.scope);
    }
}

#[test]
fn a_pointer_reaches_its_own_object_only() {
    let objects = "int first = 5; int count[4]; char text[16]; volatile long far = 1L << 30, back = -23;
        int use(void) { return first + count[0] + text[0]; }";
    let nothing = "no pointer to anything";
    found(
        objects,
        Property::Memory,
        nothing,
        &[
            "int *t = NULL; use(); return t[1L << 30];",
            "int *t = NULL; use(); return t[far];",
            "use(); return *(int *)0x100000000;",
            "use(); int *p = count; p += far; p += far; return *p;",
            "use(); int *p = count; p -= far; p -= far; p -= far; p -= far; return *p;",
            "use(); int *p = count - far; return *p;",
            "use(); char *p = text + (1L << 33); return *p;",
        ],
    );
    found(objects, Property::Memory, "offset -92 of count", &["use(); return count[back];"]);
    found(objects, Property::Memory, "offset -23 of text", &["use(); return text[back];"]);
    allowed(
        objects,
        &[
            "char *p = text - 1; return p[1];",
            "assert((count + 4)[-4] == 0);",
            "uintptr_t p = (uintptr_t)&first | 1; assert(*(int *)(p & ~3ul) == 5);",
            "assert((void *)-1 != NULL); assert((int *)0x100000000 != count);",
        ],
    );
}

#[test]
fn a_variable_without_a_value_is_not_read() {
    found(
        "",
        Property::Memory,
        "read of x@main, which was never written",
        &[
            "int x; if (x == 7) assert(0);",
            "int x; assert(x == 0);",
            "for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; assert(x); }",
        ],
    );
    allowed("", &["int x; for (int i = 0; i < 2; i++) { if (i == 0) x = 1; assert(x); }"]);
}
