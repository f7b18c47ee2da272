//! Atomic operations, and accesses that are taken for such.

use crate::{allowed, check, check_with, found};
use raddle::{LoadOptions, Property, Verdict};

#[test]
fn volatile_may_be_relaxed() {
    let text = "volatile int x; void *set(void *p) { x = 1; return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, set, 0); while (x == 0) ; pthread_join(t, 0); assert(x == 1); return 0; }";
    let plain = check(text);
    assert_eq!(plain.findings.first().map(|finding| finding.violation().property), Some(Property::Race));
    let mut options = LoadOptions::default();
    options.c.volatile_relaxed = true;
    assert_eq!(check_with(text, &options).verdict, Verdict::Holds);
}

/// Structs that are atomic, and sixteen bytes at a time, are read and written as a whole.
#[test]
fn structs_are_atomic_as_a_whole() {
    let pair = |field: &str| {
        format!(
            "struct pair {{ {field} a, b; }}; static _Atomic struct pair x;
             static void *both(void *unused) {{ struct pair p = {{1, 1}}; atomic_store(&x, p); p.a = p.b = 2; x = p; return 0; }}
             static void *look(void *unused) {{ struct pair p = x; assert(p.a == p.b); return 0; }}"
        )
    };
    let threads = "pthread_t t, u; pthread_create(&t, 0, both, 0); pthread_create(&u, 0, look, 0); pthread_join(t, 0); pthread_join(u, 0);";
    for field in ["short", "int", "long"] {
        let one = "struct pair p = {3, 4}, q = {5, 6}; atomic_init(&x, p); struct pair e = q;
            assert(!atomic_compare_exchange_strong(&x, &e, q) && e.a == 3 && e.b == 4);
            assert(atomic_compare_exchange_strong(&x, &e, q) && e.b == 4);
            e = atomic_exchange(&x, p); assert(e.a == 5 && e.b == 6); e = atomic_load(&x); assert(e.a == 3 && e.b == 4);
            _Atomic struct pair local = {7, 8}; e = local; assert(e.b == 8); assert((local = q).a == 5);
            struct pair r; __atomic_load(&x, &r, 5); assert(r.a == 3); __atomic_store(&x, &q, 5); __atomic_exchange(&x, &p, &r, 5); assert(r.b == 6);";
        allowed(&pair(field), &[threads, one]);
        let torn =
            pair(field).replace("_Atomic struct pair x", "struct { _Atomic struct pair v; } y").replace("&x", "&y.v");
        let torn = torn.replace("x = p", "y.v = p").replace("= x", "= y.v");
        allowed(&torn, &[threads]);
    }
    let wide = "union pair { struct { uint64_t a, b; } s; unsigned __int128 w; }; static union pair x __attribute__((aligned(16)));
        static void *add(void *unused) { union pair e, d; do { e.s.a = __atomic_load_n(&x.s.a, 5); e.s.b = e.s.a; d.s.a = d.s.b = e.s.a + 1; }
          while (!__sync_bool_compare_and_swap(&x.w, e.w, d.w)); return 0; }";
    let body =
        "pthread_t t; pthread_create(&t, 0, add, 0); add(0); pthread_join(t, 0); assert(x.s.a == 2 && x.s.b == 2);";
    allowed(wide, &[body]);
    found(
        &wide.replace("!__sync_bool_compare_and_swap(&x.w, e.w, d.w)", "(x.w = d.w, 0)"),
        Property::Race,
        "",
        &[body],
    );
}

/// A weak compare-exchange fails without a reason if that is asked for.
#[test]
fn a_weak_compare_exchange_may_fail() {
    let mut options = LoadOptions::default();
    options.c.weak_cas_fails = true;
    let once = "atomic_int x; int main(void) { int e = 0; if (!atomic_compare_exchange_weak(&x, &e, 1)) { assert(e != 0); } return 0; }";
    let again = "atomic_int x; int main(void) { int e = 0; while (!atomic_compare_exchange_weak(&x, &e, e + 1)) ; assert(x == 1); return 0; }";
    let strong = once.replace("weak", "strong");
    let threads = "atomic_int x; void *add(void *p) { int e = atomic_load(&x); while (!atomic_compare_exchange_weak(&x, &e, e + 1)) ; return 0; }
        int main(void) { pthread_t t, u; pthread_create(&t, 0, add, 0); pthread_create(&u, 0, add, 0);
          pthread_join(t, 0); pthread_join(u, 0); assert(x == 2); return 0; }";
    for text in [once, again, threads, &strong] {
        assert_eq!(check(text).verdict, Verdict::Holds, "{text}");
    }
    let outcome = check_with(once, &options);
    assert_eq!(outcome.findings.first().map(|finding| finding.violation().property), Some(Property::Assert));
    for text in [again, threads, &strong] {
        let outcome = check_with(text, &options);
        assert_eq!(outcome.verdict, Verdict::Holds, "{}\n{text}", outcome.scope);
    }
}
