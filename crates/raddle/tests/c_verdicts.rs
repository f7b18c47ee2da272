//! Small C programs whose answer is known by reasoning, one for each thing that was once answered wrongly.

use raddle::{Control, LoadOptions, Model, Outcome, Property, PropertySet, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n";

/// What `raddle check` says about a C file with this text behind the usual headers.
fn check(text: &str, settings: &Settings) -> Outcome {
    check_with(text, &LoadOptions::default(), settings)
}

fn check_with(text: &str, options: &LoadOptions, settings: &Settings) -> Outcome {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_verdicts_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    let loaded = load(&path, options).unwrap_or_else(|error| panic!("{error}\n{text}"));
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

#[test]
fn loops_whose_number_of_turns_is_known_have_no_bound() {
    let mut settings = Settings::new(Model::Sc);
    settings.loop_bound = Some(2);
    for before in [
        "for (int i = 0; i < 5; i++) n += i;",
        "int m = 5; for (int i = 0; i < m; i++) n += i;",
        "for (unsigned i = 9; i > 1; i -= 2) n++;",
        "int a[6]; for (int i = 0; i <= 5; i++) a[i] = i; for (int i = 0; i < 6 && n == 0; i++) n += a[0];",
    ] {
        let text = format!("int main(void) {{ int n = 0; {before} assert(0); return n; }}");
        settings.bound_all_loops = false;
        assert_eq!(check(&text, &settings).verdict, Verdict::Violated, "{before}");
        settings.bound_all_loops = true;
        assert_eq!(check(&text, &settings).verdict, Verdict::Unknown, "{before}");
    }
}

/// The reason why there is no verdict, or the scope of the one there is.
fn scope(text: &str, nondet: Option<std::ops::RangeInclusive<i64>>) -> (Verdict, String) {
    scope_by("auto", text, nondet)
}

fn scope_by(engine: &str, text: &str, nondet: Option<std::ops::RangeInclusive<i64>>) -> (Verdict, String) {
    let options = LoadOptions { c: raddle::c::Options { nondet, ..Default::default() }, ..Default::default() };
    let engine = raddle::ENGINES.find(engine).expect("there is one of that name");
    let outcome = check_with(text, &options, &Settings { engine, ..Settings::new(Model::Sc) });
    (outcome.verdict, outcome.scope.to_string())
}

#[test]
fn a_verdict_over_a_part_of_the_inputs_says_so() {
    let program = |assumption: &str, bug: &str| {
        format!(
            "extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_assume(int);
            int main(void) {{ int x = __VERIFIER_nondet_int(); {assumption} assert(x != {bug}); return 0; }}"
        )
    };
    let all = |text: &str| assert_eq!(scope(text, None), (Verdict::Holds, "all executions".into()), "{text}");
    let violated = |text: &str| assert_eq!(scope(text, None).0, Verdict::Violated, "{text}");
    for assumption in [
        "__VERIFIER_assume(1 <= x && x <= 11);",
        "if (x < 1 || x > 11) return 0;",
        "if (!(x >= 1 && x <= 11)) abort_run();",
        "assume_abort_if_not(x >= 1 && x <= 11);",
    ] {
        let head = "extern void reach_error(void); void abort_run(void) { exit(0); }
            void assume_abort_if_not(int c) { if (!c) { abort(); } }\n";
        all(&format!("{head}{}", program(assumption, "12")));
        all(&format!("{head}{}", program(assumption, "0")));
        violated(&format!("{head}{}", program(assumption, "11")));
        violated(&format!("{head}{}", program(assumption, "1")));
    }
    // Whatever it is, nobody looks at it closely.
    all(
        "extern int __VERIFIER_nondet_int(void); int x; int main(void) { if (__VERIFIER_nondet_int()) x = 1; return 0; }",
    );
    all("int main(void) { int r = rand() % 4; assert(r >= 0 && r < 4); return 0; }");
    violated("int main(void) { int r = rand() % 4; assert(r != 3); return 0; }");
    all(
        "extern char __VERIFIER_nondet_char(void); int main(void) { char c = __VERIFIER_nondet_char(); assert(c < 200); return 0; }",
    );
    // With its address taken it lives in memory.
    let shared = "extern int __VERIFIER_nondet_int(void); int n;
        void *worker(void *p) { assert(n + *(int *)p != 9); return 0; }
        int main(void) { pthread_t t; int x = __VERIFIER_nondet_int(); n = __VERIFIER_nondet_int();
            if (n < 0 || n > 4) return 0;
            if (x < 0 || x > 4) return 0;
            pthread_create(&t, 0, worker, &x); pthread_join(t, 0); return 0; }";
    all(shared);
    violated(&shared.replace("!= 9", "!= 8"));
}

#[test]
fn an_input_with_too_many_values_is_left_to_formulas() {
    let text = "extern int __VERIFIER_nondet_int(void);\nint x; void *worker(void *p) { assert(x != BUG); return 0; }
        int main(void) { pthread_t t; x = __VERIFIER_nondet_int(); pthread_create(&t, 0, worker, 0); return 0; }";
    let (verdict, reason) = scope_by("rf", &text.replace("BUG", "11"), None);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(reason.contains(".c:7") && reason.contains("4294967296 values"), "{reason}");
    assert_eq!(scope_by("rf", &text.replace("BUG", "3"), None).0, Verdict::Violated);
    assert_eq!(scope(&text.replace("BUG", "11"), None).0, Verdict::Violated);
    let even = text.replace("x != BUG", "2 * x != 11");
    assert_eq!(scope(&even, None).0, Verdict::Holds);
    let ranged = scope(&text.replace("BUG", "11"), Some(0..=10));
    assert_eq!(ranged, (Verdict::Holds, "all executions for inputs in 0..10".into()));
    assert_eq!(scope(&text.replace("BUG", "11"), Some(0..=11)).0, Verdict::Violated);
    // More than there are alternatives.
    let many = text.replace("BUG", "100000");
    assert_eq!(scope_by("rf", &many, Some(0..=99_999)).0, Verdict::Unknown);
    assert_eq!(scope(&many, Some(0..=99_999)), (Verdict::Holds, "all executions for inputs in 0..99999".into()));
    assert_eq!(scope(&many, Some(0..=100_000)).0, Verdict::Violated);
}

#[test]
fn a_verdict_rests_on_something() {
    let empty = [
        "extern void __VERIFIER_assume(int); int main(void) { int x = rand(); __VERIFIER_assume(x > 5 && x < 3); assert(0); return 0; }",
        "extern void __VERIFIER_assume(int); int main(void) { __VERIFIER_assume(0); assert(0); return 0; }",
    ];
    for text in empty {
        let (verdict, reason) = scope(text, None);
        assert_eq!(verdict, Verdict::Unknown, "{text}");
        assert!(reason.contains("no execution came to its end"), "{reason}");
    }
    let outside = "extern unsigned __VERIFIER_nondet_uint(void); int main(void) { assert(__VERIFIER_nondet_uint() == 7); return 0; }";
    assert_eq!(scope(outside, Some(-5..=-1)).0, Verdict::Unknown);
    let mut settings = Settings::new(Model::Sc);
    settings.loop_bound = Some(2);
    let outcome = check("int main(void) { for (;;) ; return 0; }", &settings);
    assert_eq!(outcome.verdict, Verdict::Unknown, "{}", outcome.scope);
}

#[test]
fn an_error_that_is_not_looked_for_does_not_hide_what_follows() {
    let held = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;";
    let main = |before: &str, body: &str| format!("{before} int main(void) {{ {body} return 0; }}");
    use Property::{Lock, Memory};
    for (text, off) in [
        (main("", "int *p = malloc(8); int x = p[0]; assert(0); free(p); if (x) return 1;"), Memory),
        (main("int *q;", "int *p = malloc(8); q = p; int x = q[1]; assert(x);"), Memory),
        (main("", "int x; if (x == 7) assert(0);"), Memory),
        (main("", "int x; int y = x; if (y > 5) assert(y != 6);"), Memory),
        (main("", "_Bool b; assert(b);"), Memory),
        (main("", "_Bool b; assert(!b);"), Memory),
        (main("", "int *p; assert(p);"), Memory),
        (main(held, "pthread_mutex_lock(&m); pthread_mutex_destroy(&m); assert(0);"), Lock),
        (main(held, "pthread_mutex_unlock(&m); assert(0);"), Lock),
        (main(held, "pthread_mutex_unlock(&m); pthread_mutex_lock(&m); assert(0);"), Lock),
        (main(held, "pthread_rwlock_unlock(&l); assert(0);"), Lock),
    ] {
        let mut settings = Settings::new(Model::Sc);
        let outcome = check(&text, &settings);
        assert_eq!(outcome.findings[0].violation().property, off, "{text}");
        settings.options.properties = settings.options.properties.without(off);
        let outcome = check(&text, &settings);
        assert_eq!(outcome.verdict, Verdict::Violated, "{text}: {}", outcome.scope);
        assert_eq!(outcome.findings[0].violation().property, Property::Assert, "{text}");
    }
}

#[test]
fn a_verdict_behind_an_error_that_is_not_looked_for_says_what_it_rests_on() {
    let main = |before: &str, body: &str| format!("{before} int main(void) {{ {body} return 0; }}");
    let answer = |text: &str, off: Property| {
        let mut settings = Settings::new(Model::Sc);
        settings.options.properties = settings.options.properties.without(off);
        let outcome = check(text, &settings);
        (outcome.verdict, outcome.scope.to_string())
    };
    // No value makes a difference, so there is nothing to be uncertain of.
    let (verdict, scope) = answer(&main("", "int x; int y = x; if (y > 5) y = 3; assert(1);"), Property::Memory);
    assert_eq!((verdict, scope.as_str()), (Verdict::Holds, "all executions"));
    let mutex = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;";
    let (verdict, scope) = answer(&main(mutex, "pthread_mutex_unlock(&m);"), Property::Lock);
    assert_eq!((verdict, scope.as_str()), (Verdict::Holds, "all executions"));
    // Values of memory are not all explored, and from nowhere there is no way on.
    let (verdict, scope) = answer(&main("", "int *p = malloc(8);\nint x = p[0]; assert(x != 7);"), Property::Memory);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(scope.contains(".c:6 was never written"), "{scope}");
    let (verdict, scope) = answer(&main("", "int *p = 0;\n*p = 1; assert(0);"), Property::Memory);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(
        scope.contains("1 execution ended at an error that is not looked for, at ") && scope.ends_with(".c:6"),
        "{scope}"
    );
}

#[test]
fn an_assertion_that_is_not_looked_at_ends_the_program() {
    let text = |check: &str| {
        format!(
            "extern int __VERIFIER_nondet_int(void);
            int x, y;
            void *left(void *unused) {{ x = 1; return 0; }}
            int main(void) {{
                pthread_t t;
                {check}
                pthread_create(&t, 0, left, 0);
                x = 2;
                pthread_join(t, 0);
                return 0;
            }}"
        )
    };
    let only = |text: &str, property: Property| {
        let mut settings = Settings::new(Model::Sc);
        settings.options.properties = PropertySet::none().with(property);
        let outcome = check(text, &settings);
        (outcome.verdict, outcome.scope.to_string())
    };
    for check in ["assert(y == 1);", "if (y == 0) abort();", "if (__VERIFIER_nondet_int() != 7) abort(); assert(y);"] {
        assert_eq!(only(&text(check), Property::Race), (Verdict::Holds, "all executions".to_owned()), "{check}");
    }
    for check in ["assert(y == 0);", "if (y == 1) abort();", "if (__VERIFIER_nondet_int() != 7) abort();"] {
        assert_eq!(only(&text(check), Property::Race).0, Verdict::Violated, "{check}");
    }
    assert_eq!(only(&text("assert(y == 1);"), Property::Assert).0, Verdict::Violated);
}

#[test]
fn what_comes_behind_a_race_is_not_claimed_to_be_explored() {
    let text = "int x, y;
        void *left(void *unused) { x = 1; y = 1; return 0; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, left, 0);
            x = 2;
            if (y) assert(0);
            pthread_join(t, 0);
            return 0;
        }";
    let mut settings = Settings::new(Model::Sc);
    settings.options.all = true;
    let outcome = check(text, &settings);
    assert_eq!(outcome.verdict, Verdict::Violated);
    assert!(outcome.scope.to_string().contains("--no race explores the rest"), "{}", outcome.scope);
    settings.options.properties = settings.options.properties.without(Property::Race);
    let outcome = check(text, &settings);
    assert_eq!(outcome.findings[0].violation().property, Property::Assert);
    assert_eq!(outcome.scope.to_string(), "all executions");
}

#[test]
fn a_bound_can_be_for_one_loop() {
    let text = "int work(int n) { int i = 0; while (i * i < n) i++; return i; }
        int main(void) {
            int sum = 0;
            for (int i = 0; i < 4; i++) sum++;
            for (int j = 1; j < 100; j *= 2)
                sum++;
            assert(sum == 11 && work(9) == 3);
            return 0;
        }";
    use raddle::program::analysis::{LoopPlace, NamedBound};
    let answer = |places: &[(LoopPlace, u32)]| {
        let mut settings = Settings::new(Model::Sc);
        let bound = |(place, turns): &(LoopPlace, u32)| NamedBound { place: place.clone(), turns: *turns };
        settings.named_bounds = places.iter().map(bound).collect();
        let outcome = check(text, &settings);
        (outcome.verdict, outcome.statistics.executions, outcome.statistics.bounded)
    };
    let function = |name: &str| LoopPlace::Function(name.into());
    assert_eq!(answer(&[]), (Verdict::Holds, 1, 0));
    assert_eq!(answer(&[(function("work"), 3)]), (Verdict::Holds, 1, 0));
    assert_eq!(answer(&[(function("work"), 2)]), (Verdict::Unknown, 0, 1));
    // A bound that names a loop is meant, even if it is known how often it turns.
    assert_eq!(answer(&[(function("main"), 3)]), (Verdict::Unknown, 0, 1));
    assert_eq!(answer(&[(function("main"), 3), (function("main"), 7)]), (Verdict::Holds, 1, 0));
    let mut settings = Settings::new(Model::Sc);
    settings.named_bounds = vec![NamedBound { place: function("nobody"), turns: 1 }];
    let program =
        raddle::load_text("a.c", "int main(void) { return 0; }", raddle::Language::C, &LoadOptions::default());
    let refused = verify(&program.expect("accepted").program, &settings, &Control::new());
    assert!(refused.is_err_and(|error| error.to_string().contains("no loop in a function named `nobody`")));
}

#[test]
fn a_look_that_is_never_satisfied_races_too() {
    let text = "int x; void *a(void *p) { while (LOOK) ; return 0; } void *b(void *p) { x = 1; return 0; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0); pthread_join(t, 0); return 0; }";
    let everywhere = Model::OPERATIONAL.into_iter().flat_map(|model| ["optimal", "rf"].map(|engine| (engine, model)));
    for (engine, model) in everywhere.chain(["rvf", "vc", "dc"].map(|engine| (engine, Model::Sc))) {
        let mut settings = Settings::new(model);
        settings.engine = raddle::ENGINES.find(engine).expect("an engine");
        for look in [
            "x != 1",
            "x != 2",
            "__atomic_load_n(&x, __ATOMIC_SEQ_CST) != 1",
            "__atomic_load_n(&x, __ATOMIC_SEQ_CST) != 2",
            "__atomic_load_n(&x, __ATOMIC_RELAXED) != 2",
            "!__sync_bool_compare_and_swap(&x, 2, 3)",
            "__atomic_load_n(&x, __ATOMIC_SEQ_CST) != 2 || !__sync_bool_compare_and_swap(&x, 2, 3)",
        ] {
            // Two of the engines have no updates.
            if look.contains("swap") && ["vc", "dc"].contains(&engine) {
                continue;
            }
            let outcome = check(&text.replace("LOOK", look), &settings);
            let found = outcome.findings.first().map(|finding| finding.violation().property);
            assert_eq!(found, Some(Property::Race), "{engine}, {model}, {look}");
        }
    }
}

#[test]
fn a_load_takes_what_passes_the_assumption_behind_it() {
    let common = "void __VERIFIER_assume(int); atomic_int x, y;
        void *a(void *p) { for (int i = 1; i <= 6; i++) atomic_store(&x, i); return 0; }
        void *b(void *p) { for (int i = 1; i <= 6; i++) atomic_store(&y, i); return 0; }
        int get(atomic_int *p) { return atomic_load(p); }
        void require(int wanted) { if (!wanted) __VERIFIER_assume(0); }
        void both(atomic_int *p, atomic_int *q) { WANTED; }
        void *c(void *p) { both(&x, &y); return 0; }
        void *d(void *p) { both(&y, &x); return 0; }
        int main(void) { pthread_t t[4]; pthread_create(&t[0], 0, a, 0); pthread_create(&t[1], 0, b, 0);
            pthread_create(&t[2], 0, c, 0); pthread_create(&t[3], 0, d, 0); pthread_join(t[0], 0); return 0; }";
    let shapes = [
        "int v = atomic_load(p); __VERIFIER_assume(v == 6); int w = atomic_load(q); __VERIFIER_assume(w == 0)",
        "__VERIFIER_assume(2 * atomic_load(p) == 12); if (atomic_load(q)) __VERIFIER_assume(0)",
        "__VERIFIER_assume(atomic_load(p) == 6 && atomic_load(q) == 0)",
        "require(get(p) == 6); require(get(q) == 0)",
    ];
    for shape in shapes {
        for engine in ["optimal", "rf"] {
            let mut settings = Settings::new(Model::Sc);
            settings.engine = raddle::ENGINES.find(engine).expect("an engine");
            let statistics = check(&common.replace("WANTED", shape), &settings).statistics;
            assert_eq!((statistics.executions, statistics.blocked), (0, 3), "{engine}: {shape}");
        }
    }
}

/// Three threads that write a cell each, meet, read the next one's, and meet again.
const BARRIER: &str = "pthread_barrier_t b; int cells[3]; atomic_int serial;
    void *meet(void *number) {
        long me = (long)number;
        for (int i = 1; i <= ROUNDS; i++) { cells[me] = i; FIRST; assert(cells[(me + 1) % 3] == i); SECOND; }
        return 0;
    }
    int main(void) {
        pthread_t t[3];
        pthread_barrier_init(&b, 0, SIZE);
        for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, meet, (void *)i);
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
        pthread_barrier_destroy(&b);
        return 0;
    }";

#[test]
fn arrivals_at_a_barrier_have_no_order() {
    let silent = "pthread_barrier_wait(&b)";
    let asking = "if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) atomic_store(&serial, 1)";
    let (nothing, race): (&[Property], &[Property]) = (&[], &[Property::Race]);
    let cases = [
        ("1", "3", silent, silent, nothing, 1),
        ("2", "3", silent, silent, nothing, 1),
        ("3", "3", silent, silent, nothing, 1),
        ("1", "3", asking, silent, nothing, 3),
        // Without the second meeting a thread may be ahead, and write what another one reads.
        ("1", "3", silent, "", nothing, 1),
        ("2", "3", silent, "", race, 0),
        // Two meet, and the third comes too late or too early.
        ("1", "2", silent, silent, &[Property::Race, Property::Assert], 0),
        ("1", "4", silent, silent, &[Property::Deadlock], 0),
    ];
    for (rounds, size, first, second, expected, executions) in cases {
        let text =
            BARRIER.replace("ROUNDS", rounds).replace("SIZE", size).replace("FIRST", first).replace("SECOND", second);
        let everywhere =
            Model::OPERATIONAL.into_iter().flat_map(|model| ["optimal", "rf"].map(|engine| (engine, model)));
        for (engine, model) in everywhere {
            let mut settings = Settings::new(model);
            settings.engine = raddle::ENGINES.find(engine).expect("an engine");
            let outcome = check(&text, &settings);
            let found = outcome.findings.first().map(|finding| finding.violation().property);
            let right = found.map_or(expected.is_empty(), |property| expected.contains(&property));
            assert!(right, "{engine}, {model}: {found:?} for {rounds} {size} {first} {second}");
            if expected.is_empty() {
                assert_eq!(outcome.statistics.executions, executions, "{engine}, {model}: {rounds} {first} {second}");
                assert_eq!(outcome.notes, Vec::<String>::new());
            }
        }
    }
}

/// Whoever is let go may end the barrier only when nobody else has still to leave it.
#[test]
fn a_barrier_is_not_freed_before_everybody_has_left() {
    let text = "pthread_barrier_t *b; atomic_int left;
        void *meet(void *p) { int last = pthread_barrier_wait(b); END; return 0; }
        int main(void) {
            pthread_t s, t;
            b = malloc(sizeof *b);
            pthread_barrier_init(b, 0, 2);
            pthread_create(&s, 0, meet, 0); pthread_create(&t, 0, meet, 0);
            pthread_join(s, 0); pthread_join(t, 0);
            return 0;
        }";
    let ends = [
        ("if (last) free(b)", Some(Property::Memory)),
        ("if (atomic_fetch_add(&left, 1) == 1) free(b)", None),
        ("(void)last", None),
    ];
    for (end, expected) in ends {
        for (engine, model) in
            Model::OPERATIONAL.into_iter().flat_map(|model| ["optimal", "rf"].map(|engine| (engine, model)))
        {
            let mut settings = Settings::new(model);
            settings.engine = raddle::ENGINES.find(engine).expect("an engine");
            let outcome = check(&text.replace("END", end), &settings);
            let found = outcome.findings.first().map(|finding| finding.violation().property);
            assert_eq!(found, expected, "{engine}, {model}: {end}");
        }
    }
}

/// The program as it is read.
fn loaded(name: &str, text: &str) -> raddle::Loaded {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn c_means_the_model_of_c11() {
    let plain = loaded("plain.c", "atomic_int x; int main(void) { x = 1; assert(x == 1); return 0; }");
    assert_eq!(plain.model, Model::Rc11);
    assert_eq!(raddle::model_meant(&plain, &Settings::new(Model::Rc11)), (Model::Rc11, None));
    // An engine that does not know it is asked under a model that it knows, and says so.
    let by_values =
        Settings { engine: raddle::ENGINES.find("rvf").expect("it is there"), ..Settings::new(Model::Rc11) };
    let (model, note) = raddle::model_meant(&plain, &by_values);
    assert_eq!(model, Model::Sc);
    assert!(note.is_some_and(|note| note.contains("rc11")), "it says what it does not take");
    for competition in [
        "extern void reach_error(void); int main(void) { if (0) reach_error(); return 0; }",
        "int x; int main(void) { __VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end(); return 0; }",
        "int x; void __VERIFIER_atomic_set(void) { x = 1; } int main(void) { __VERIFIER_atomic_set(); return 0; }",
    ] {
        assert_eq!(loaded("competition.c", competition).model, Model::Sc, "{competition}");
    }
    let own_words = "int main(void) { int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n == 1); return 0; }";
    assert_eq!(loaded("own_words.c", own_words).model, Model::Rc11);
}

/// Where nothing but seq_cst accesses can race, sequential consistency is asked first; what it finds is shown under the model that was asked for.
#[test]
fn what_breaks_under_sc_is_shown_under_rc11() {
    let program = |body: &str| {
        format!(
            "{body}
            int main(void) {{
                pthread_t t[2];
                for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
                for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
                return 0;
            }}"
        )
    };
    let lost = "atomic_int x; void *worker(void *u) { int r = x; x = r + 1; assert(x != 1 || r == 0); assert(r == 0 || x == 2); \
                assert(r != 1); return 0; }";
    let racy = "int x; void *worker(void *u) { x = 1; return 0; }";
    let stuck = "pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
                 void *worker(void *u) { long i = (long)u; pthread_mutex_lock(&m[i]); pthread_mutex_lock(&m[1 - i]);
                 pthread_mutex_unlock(&m[1 - i]); pthread_mutex_unlock(&m[i]); return 0; }";
    for (text, property) in [(lost, Property::Assert), (racy, Property::Race), (stuck, Property::Deadlock)] {
        for all in [false, true] {
            let mut settings = Settings::new(Model::Rc11);
            settings.options.all = all;
            let outcome = check(&program(text), &settings);
            assert_eq!(outcome.verdict, Verdict::Violated, "{text}");
            let first = outcome.findings.first().expect("something is wrong");
            assert_eq!(first.violation().property, property, "{text}");
            assert!(outcome.findings.iter().all(|found| found.execution().model == Model::Rc11), "{text}");
        }
    }
}

/// Axioms are evaluated on a whole execution; one of thousands of events must not take minutes.
#[test]
fn a_long_counterexample_is_replayed_under_rc11() {
    let text = "atomic_int a[2000], x;
        void *writer(void *u) { for (int i = 0; i < 2000; i++) atomic_store_explicit(&a[i], i, memory_order_relaxed);
            atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }
        void *reader(void *u) { int seen = atomic_load_explicit(&x, memory_order_relaxed);
            assert(!seen || atomic_load_explicit(&a[1999], memory_order_relaxed) == 1999); return 0; }
        int main(void) { pthread_t p, q; pthread_create(&p, 0, writer, 0); pthread_create(&q, 0, reader, 0);
            pthread_join(p, 0); pthread_join(q, 0); return 0; }";
    assert_eq!(check(text, &Settings::new(Model::Sc)).verdict, Verdict::Holds);
    assert_eq!(check(text, &Settings::new(Model::Rc11)).verdict, Verdict::Violated);
}

/// Ordinary accesses of different sizes to the same memory are made in pieces; a counterexample is replayed with them.
#[test]
fn memory_is_accessed_with_different_sizes() {
    let program = |worker: &str| {
        format!(
            "#include <stdint.h>
            #include <string.h>
            union both {{ uint32_t word; uint8_t bytes[4]; }} x;
            struct node {{ struct node *next; int value; }};
            struct node *list;
            pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
            void *worker(void *unused) {{ pthread_mutex_lock(&m); {worker} pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{
                list = malloc(64); list->next = 0; list->value = 7;
                pthread_t t[2];
                for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
                for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
                return 0;
            }}"
        )
    };
    let union = "x.word = 0x01020304; assert(x.bytes[0] == FIRST); x.bytes[3] = 9; assert(x.word == 0x09020304);";
    let reuse = "struct node *n = list; list = n->next; char *text = (char *)n; strcpy(text, \"hello\"); assert(text[1] == FIRST);
                 n->next = list; list = n; assert(n->next == 0);";
    for model in [Model::Sc, Model::Tso, Model::Rc11] {
        for (worker, first, verdict) in [
            (union, "4", Verdict::Holds),
            (union, "1", Verdict::Violated),
            (reuse, "'e'", Verdict::Holds),
            (reuse, "'h'", Verdict::Violated),
        ] {
            let text = program(&worker.replace("FIRST", first));
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sizes.c");
            std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
            let mut options = LoadOptions::default();
            let mut loaded = load(&path, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let settings = Settings::new(model);
            let outcome = raddle::verify_in_pieces(&mut loaded, &mut options, &settings, &Control::new());
            let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(outcome.verdict, verdict, "{text} under {model}");
            assert!(!options.pieces.is_empty() && options.flags().contains(&"--pieces".to_owned()), "{text}");
            if let Some(found) = outcome.findings.first() {
                let again = load(&path, &options).expect("it was accepted before");
                let schedule = &found.violation().schedule;
                let replayed = raddle::replay(&again.program, model, schedule, settings.options.properties);
                let shown = replayed.expect("the schedule fits").counterexample.expect("it shows it");
                assert_eq!(shown.violation.message, found.violation().message);
            }
        }
    }
}

/// Atomic accesses of different sizes to the same memory are one step each, whatever their pieces are; where that is not what the machine does, they are refused.
#[test]
fn memory_is_accessed_atomically_with_different_sizes() {
    let ticket = "typedef union { unsigned word; struct { unsigned short now, next; } half; } lock; lock l; int count;
        void *worker(void *u) {
            unsigned got = __atomic_fetch_add(&l.word, 1 << 16, __ATOMIC_ACQUIRE);
            while (__atomic_load_n(&l.half.now, __ATOMIC_ACQUIRE) != (unsigned short)(got >> SHIFT)) ;
            count++;
            __atomic_fetch_add(&l.half.now, 1, __ATOMIC_RELEASE);
            return 0; }
        int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
            for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
            assert(count == 2); assert(__atomic_load_n(&l.word, 0) == 0x20002); return 0; }";
    let swaps = "union { unsigned long both; unsigned one[2]; } x; int won;
        void *word(void *u) { unsigned long old = 0; if (__atomic_compare_exchange_n(&x.both, &old, 0x100000001, 0, 5, 5)) won = 1; else assert(old == 1); return 0; }
        void *half(void *u) { __atomic_store_n(&x.one[0], 1, 5); return 0; }
        int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, word, 0); pthread_create(&t[1], 0, half, 0);
            for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
            unsigned long both = __atomic_load_n(&x.both, 5);
            assert(both == (won ? 0x100000001 : 1)); assert(WON); return 0; }";
    // A relaxed update of the word leaves what the half before it has released.
    let sequence = "union { unsigned word; unsigned short half[2]; } x; int data;
        void *writer(void *u) { data = 1; __atomic_store_n(&x.half[0], 1, __ATOMIC_RELEASE); return 0; }
        void *reader(void *u) { unsigned old = __atomic_fetch_add(&x.word, 1 << 16, __ATOMIC_RELAXED);
            if (__atomic_load_n(&x.half[0], ORDER) == 1) assert(data == 1); return 0; }
        int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, writer, 0); pthread_create(&t[1], 0, reader, 0);
            for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }";
    for (text, verdict) in [
        (ticket.replace("SHIFT", "16"), Verdict::Holds),
        (ticket.replace("SHIFT", "0"), Verdict::Violated),
        (swaps.replace("WON", "1"), Verdict::Holds),
        (swaps.replace("WON", "won"), Verdict::Violated),
        (swaps.replace("WON", "!won"), Verdict::Violated),
        (sequence.replace("ORDER", "__ATOMIC_ACQUIRE"), Verdict::Holds),
        (sequence.replace("ORDER", "__ATOMIC_RELAXED"), Verdict::Violated),
    ] {
        let mut loaded = loaded("atomic_sizes.c", &text);
        let mut options = LoadOptions::default();
        let mut settings = Settings::new(Model::Sc);
        let outcome = raddle::verify_in_pieces(&mut loaded, &mut options, &settings, &Control::new());
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(outcome.verdict, verdict, "{text}");
        assert!(!options.pieces.is_empty() && outcome.findings.len() == usize::from(verdict == Verdict::Violated));
        // A load is no fence, a block is; an update is both.
        settings.options.model = Model::Tso;
        let again = raddle::verify_in_pieces(&mut loaded, &mut options, &settings, &Control::new());
        match again {
            Err(refused) => assert!(refused.to_string().contains("under sc, not under tso"), "{text}"),
            Ok(outcome) => assert!(loaded.sc_only.is_none() && outcome.verdict == verdict, "{text}"),
        }
        assert_eq!(loaded.sc_only.is_none(), text.contains("int data;"), "{text}");
    }
}

/// What is freed before there is a second thread is freed under every model.
#[test]
fn the_first_thread_frees_while_it_is_alone() {
    let text = "atomic_int x;
        void *worker(void *u) { x = 1; return 0; }
        int main(void) { int *p = malloc(4); atomic_int *q = malloc(4); *p = 1; *q = 2; free(p); free(q); pthread_t t; pthread_create(&t, 0, worker, 0);
            int seen = x; pthread_join(t, 0); assert(!seen); return 0; }";
    for model in Model::EVERY {
        assert_eq!(check(text, &Settings::new(model)).verdict, Verdict::Violated, "under {model}");
        let harmless = text.replace("assert(!seen)", "assert(x == 1)");
        assert_eq!(check(&harmless, &Settings::new(model)).verdict, Verdict::Holds, "under {model}");
    }
}

/// Whatever of an object is accessed, and by whom: every step calls it the same, and no other object so.
#[test]
fn an_object_has_one_name_in_a_run() {
    let text = "struct msg { unsigned kind : 3, seq : 12; int value; struct msg *next; }; struct msg *_Atomic shared; struct msg *_Atomic own;
        void *sends(void *p) { struct msg on_stack; struct msg *m = malloc(sizeof *m); m->kind = 2; m->value = 7; on_stack.value = 1; on_stack.next = m; own = &on_stack; shared = on_stack.next; return p; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, sends, 0); pthread_join(t, 0); pthread_create(&u, 0, sends, 0); pthread_join(u, 0); struct msg *m = shared; assert(m->seq == 0); return m->value; }";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one_name.c");
    std::fs::write(&path, format!("#include <stdlib.h>\n{HEAD}{text}")).expect("the folder for such files is there");
    let program = load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}")).program;
    let outcome = raddle::verify(&program, &Settings::new(Model::Sc), &Control::new()).expect("it takes this");
    let found = &outcome.findings[0];
    assert!(found.violation().message.contains("read of msg#T2."), "{}", found.violation().message);
    let locations: std::collections::BTreeSet<&str> =
        found.execution().events().filter_map(|event| event.action.location()).collect();
    let of = |name: &str| locations.iter().filter(|location| location.starts_with(name)).count();
    assert_eq!((of("heap#"), of("msg#T1."), of("msg#T2.")), (0, 2, 2), "{locations:?}");
    assert_eq!((of("on_stack@sends#T1."), of("on_stack@sends#T2.")), (3, 3), "{locations:?}");
    let pointers: Vec<&String> = found.execution().pointers.values().collect();
    assert!(pointers.iter().any(|name| name.starts_with("&on_stack@sends#T2.")), "{pointers:?}");
    assert!(pointers.iter().any(|name| name.starts_with("msg#T2.")), "{pointers:?}");
}

/// What a thread rested at before does not change what it does to memory that nobody else has.
#[test]
fn an_update_of_private_memory_behind_a_look_takes_place() {
    let text = "int shared; void *worker(void *p) { return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); pthread_join(t, 0); assert(shared == 0);
            atomic_int own = 250, other = 1; atomic_int *refs = malloc(sizeof *refs); *refs = 1; assert(shared == 0);
            int found = atomic_fetch_add(&own, 10); assert(found == 250 && own == 260); assert(shared == 0); atomic_exchange(&other, 7); assert(other == 7);
            assert(shared == 0); atomic_fetch_sub(refs, 1); assert(*refs == 0); return 0; }";
    for engine in ["optimal", "rf", "explicit", "rvf", "vc", "dc", "oc"] {
        let mut settings = Settings::new(Model::Sc);
        settings.engine = raddle::ENGINES.find(engine).expect("an engine");
        let outcome = check(text, &settings);
        assert_eq!(outcome.verdict, Verdict::Holds, "{engine}: {}", outcome.scope);
    }
}
