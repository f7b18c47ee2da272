//! Mutexes whose owners end, and other parts of the library whose answers C programs branch on.

use raddle::{Control, LoadOptions, Model, Property, Settings, Verdict, load, verify};
use std::path::Path;

const HEAD: &str = "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <stdlib.h>\n
    static pthread_mutex_t m; static int result = -1;
    static void make(int kind) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, kind); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
        int robust = 0; pthread_mutexattr_getrobust(&a, &robust); assert(robust == PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a); }
    static void *leaves(void *p) { pthread_mutex_lock(&m); if (p) pthread_exit(p); return p; }
    static void wait_for(void *(*f)(void *), void *p) { pthread_t t; pthread_create(&t, 0, f, p); pthread_join(t, 0); }\n";

fn found(name: &str, text: &str) -> Option<Property> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("robust_{name}.c"));
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    let loaded = load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = verify(&loaded.program, &Settings::new(Model::Sc), &Control::new());
    let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_ne!(outcome.verdict, Verdict::Unknown, "{name}: {}", outcome.scope);
    outcome.findings.first().map(|found| found.violation().property)
}

#[test]
fn the_next_owner_of_a_robust_mutex_is_told_that_the_last_one_has_ended() {
    for (how, argument) in [("returns", "0"), ("exits", "&m")] {
        let text = |then: &str| {
            format!("int main(void) {{ make(PTHREAD_MUTEX_NORMAL); wait_for(leaves, {argument}); {then} return 0; }}")
        };
        let repaired = "assert(pthread_mutex_lock(&m) == EOWNERDEAD); assert(pthread_mutex_consistent(&m) == 0); assert(pthread_mutex_unlock(&m) == 0);
            assert(pthread_mutex_consistent(&m) == EINVAL); assert(pthread_mutex_lock(&m) == 0); pthread_mutex_unlock(&m);";
        assert_eq!(found(&format!("{how}_repaired"), &text(repaired)), None);
        let lost = "assert(pthread_mutex_trylock(&m) == EOWNERDEAD); pthread_mutex_unlock(&m); assert(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
            assert(pthread_mutex_trylock(&m) == ENOTRECOVERABLE);";
        assert_eq!(found(&format!("{how}_lost"), &text(lost)), None);
        let blind = "int r = pthread_mutex_lock(&m); assert(r == 0);";
        assert_eq!(found(&format!("{how}_blind"), &text(blind)), Some(Property::Assert));
    }
}

#[test]
fn a_robust_mutex_of_another_kind_is_one_of_that_kind() {
    let main = |kind: &str, text: &str| format!("int main(void) {{ make(PTHREAD_MUTEX_{kind}); {text} return 0; }}");
    let again = "assert(pthread_mutex_lock(&m) == 0); assert(pthread_mutex_lock(&m) == 0); assert(pthread_mutex_trylock(&m) == 0);
        for (int i = 0; i < 3; i++) assert(pthread_mutex_unlock(&m) == 0); assert(pthread_mutex_unlock(&m) == EPERM); wait_for(leaves, 0); assert(pthread_mutex_lock(&m) == EOWNERDEAD);";
    assert_eq!(found("recursive", &main("RECURSIVE", again)), None);
    let checked = "assert(pthread_mutex_lock(&m) == 0); assert(pthread_mutex_lock(&m) == EDEADLK); assert(pthread_mutex_unlock(&m) == 0); assert(pthread_mutex_unlock(&m) == EPERM);";
    assert_eq!(found("checked", &main("ERRORCHECK", checked)), None);
    assert_eq!(
        found("normal", &main("NORMAL", "pthread_mutex_lock(&m); pthread_mutex_lock(&m);")),
        Some(Property::Lock)
    );
}

#[test]
fn two_threads_take_over_one_after_the_other() {
    let text = "static int owned, repairs;
        static void *works(void *p) { int r = pthread_mutex_lock(&m); assert(r == 0 || r == EOWNERDEAD); if (r) { repairs++; pthread_mutex_consistent(&m); } owned++; if (p) return 0; pthread_mutex_unlock(&m); return 0; }
        int main(void) { make(PTHREAD_MUTEX_NORMAL); pthread_t a, b; pthread_create(&a, 0, works, &m); pthread_create(&b, 0, works, 0); pthread_join(a, 0); pthread_join(b, 0);
            int r = pthread_mutex_lock(&m); assert((r == EOWNERDEAD) == (repairs == 0)); assert(owned == 2); return 0; }";
    assert_eq!(found("both", text), None);
    let wrong = text.replace("assert((r == EOWNERDEAD) == (repairs == 0))", "assert(repairs == 0)");
    assert_eq!(found("both_wrong", &wrong), Some(Property::Assert));
}

#[test]
fn numbers_of_the_largest_type_are_computed() {
    let text = "#include <math.h>\n#include <float.h>\n#include <stdarg.h>\nstruct pair { long double a; int b; }; static long double twice(long double x) { return x * 2; }
        static long double sum(int n, ...) { va_list l; va_start(l, n); long double s = 0; while (n--) s += va_arg(l, long double); va_end(l); return s; }
        int main(void) { static long double table[3] = { 1, 2.5L }; struct pair p = { 2.5L, 3 }, q = p; long double y = twice(q.a) + table[1]; assert(y == 7.5L); assert((int)y == 7); y += 1; y++;
            assert(y > 9 && y < 10); double d = y; assert(d == 9.5); assert(sizeof y == 16 && sizeof p == 32 && _Alignof(long double) == 16); assert(fabsl(-y) == y); assert(sqrtl(9) == 3);
            assert(sum(2, 1.5L, y) == 11); assert(table[2] == 0); long double *at = &table[1]; assert(at[1] == 0 && at[-1] == 1); assert(LDBL_MAX > 1e308L); long long big = 1LL << 60; assert((long long)(long double)big == big); return 0; }";
    assert_eq!(found("long_double", text), None);
    assert_eq!(found("long_double_wrong", &text.replace("y == 7.5L", "y != 7.5L")), Some(Property::Assert));
}

#[test]
fn a_program_for_verifiers_gives_up_by_abort() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void abort(void);
        static void assume(int c) { if (!c) abort(); } int main(void) { int n = __VERIFIER_nondet_int(); assume(n > 0 && n < 3); assert(n < 3); return 0; }";
    assert_eq!(found("gives_up", text), None);
    assert_eq!(found("asserts", &text.replace("assert(n < 3)", "assert(n < 2)")), Some(Property::Assert));
    assert_eq!(found("aborts", "int main(void) { abort(); }"), Some(Property::Error));
}
