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
