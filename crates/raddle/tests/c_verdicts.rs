//! Small C programs whose answer is known by reasoning, one for each thing that was once answered wrongly.

use raddle::{Control, LoadOptions, Model, Outcome, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n";

/// What `raddle check` says about a C file with this text behind the usual headers.
fn check(text: &str, settings: &Settings) -> Outcome {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_verdicts_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    let loaded = load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&loaded.program, settings, &Control::new()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn updates_whose_results_nobody_uses_commute() {
    let threads = |object: &str, update: &str| {
        format!(
            "{object}
            void *worker(void *unused) {{ {update}; return 0; }}
            int main(void) {{
                pthread_t t[3];
                for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
                for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
                return 0;
            }}"
        )
    };
    let mut settings = Settings::new(Model::Sc);
    settings.options.commuting_updates = true;
    for update in [
        "atomic_fetch_add(&x, 1)",
        "atomic_fetch_sub_explicit(&x, 1, memory_order_relaxed)",
        "(void)atomic_fetch_or(&x, 1)",
        "__atomic_fetch_add(&x, 1, __ATOMIC_ACQ_REL)",
        "__atomic_add_fetch(&x, 1, __ATOMIC_SEQ_CST)",
        "x++",
        "--x",
        "x += 3",
        "x ^= 1",
        "int old = atomic_fetch_add(&x, 1); old = 0",
    ] {
        let outcome = check(&threads("atomic_int x;", update), &settings);
        assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 1), "{update}");
    }
    for update in ["__sync_fetch_and_add(&x, 1)", "__sync_sub_and_fetch(&x, 1)", "__atomic_xor_fetch(&x, 1, 5)"] {
        let outcome = check(&threads("int x;", update), &settings);
        assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 1), "{update}");
    }
    // Somebody looks at who was first.
    let outcome = check(&threads("atomic_int x;", "return (void *)(long)atomic_fetch_add(&x, 1)"), &settings);
    assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, 6));
}

#[test]
fn a_bound_is_how_often_the_body_of_a_loop_is_entered() {
    let loops = [
        "while (1) { n++; LOOK }",
        "for (;;) { n++; LOOK }",
        "do { n++; LOOK } while (1);",
        "again: n++; LOOK goto again;",
        "while (x == 0) { n++; LOOK }",
        "for (; x == 0;) { n++; LOOK continue; }",
        "for (int i = x; i < 100; i += x) { n++; LOOK if (x != 0) break; }",
        // The test is no part of the body.
        "while (tests++ >= 0) { n++; LOOK }",
        "while (1) { n++; LOOK for (;;) { x = x; break; } }",
    ];
    for text in loops {
        let program = |look: &str| {
            let body = text.replace("LOOK", look);
            format!("atomic_int x; int main(void) {{ int n = 0, tests = 0; {body} return 0; }}")
        };
        for bound in 1..4 {
            let mut settings = Settings::new(Model::Sc);
            settings.loop_bound = Some(bound);
            let outcome = check(&program(&format!("assert(n <= {bound});")), &settings);
            assert!(outcome.findings.is_empty(), "the body is entered more than {bound} times: {text}");
            assert_eq!(outcome.statistics.bounded, 1, "{text}");
            let outcome = check(&program(&format!("assert(n < {bound});")), &settings);
            assert_eq!(outcome.verdict, Verdict::Violated, "the body is entered less than {bound} times: {text}");
        }
    }
    let mut settings = Settings::new(Model::Sc);
    settings.loop_bound = Some(2);
    let tests = "int main(void) { int tests = 0; while (tests++ < 2) ; assert(tests != 3); return 0; }";
    assert_eq!(check(tests, &settings).verdict, Verdict::Violated, "a loop of two turns ends by its third test");
}

#[test]
fn a_bound_is_for_loops_of_the_program_only() {
    let mut settings = Settings::new(Model::Sc);
    settings.loop_bound = Some(2);
    for before in [
        "char a[16] = {0}; char *p = a;",
        "struct { int a[16]; } s, t = {{1}}; s = t;",
        "char a[16]; memset(a, 0, 16);",
        "int a[16] = {1}, b[16]; memcpy(b, a, sizeof a);",
        "int n = strlen(\"some letters\");",
        "int a[4] = {4, 3, 2, 1}; qsort(a, 4, sizeof *a, compare);",
        "int n = __builtin_popcount(255);",
    ] {
        let text = format!(
            "#include <string.h>\nint compare(const void *a, const void *b) {{ return *(int *)a - *(int *)b; }}
            int main(void) {{ {before} assert(0); return 0; }}"
        );
        assert_eq!(check(&text, &settings).verdict, Verdict::Violated, "{before}");
    }
}
