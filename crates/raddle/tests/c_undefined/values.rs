//! What has no value, and numbers that no result has.

use crate::{allowed, check, check_with, every_engine, file, found};
use raddle::{Control, LoadOptions, Model, Property, Settings, load, verify};

#[test]
fn a_variable_without_a_value_is_not_read() {
    found(
        "",
        Property::Memory,
        "read of x@main#T0.",
        &[
            "int x; if (x == 7) assert(0);",
            "int x; assert(x == 0);",
            "for (int i = 0; i < 2; i++) { int x; if (i == 0) x = 1; assert(x); }",
        ],
    );
    allowed("", &["int x; for (int i = 0; i < 2; i++) { if (i == 0) x = 1; assert(x); }"]);
}

const STRUCTS: &str = "struct s { int a, b; }; struct in { char c; struct s s; int m[3]; }; struct one { int *p; }; struct large { int n[20]; };
    union u { long l; int i; char c[8]; }; struct bits { unsigned a : 3, b : 5; int n; };
    struct s half(void) { struct s x; x.a = 1; return x; } struct one none(void) { struct one x; return x; }
    struct in inner(void) { struct in x; x.s = half(); x.m[1] = 1; return x; }
    struct large most(void) { struct large x; for (int i = 0; i < 19; i++) x.n[i] = i; return x; }
    int second(struct s x) { return x.b; } int last(struct large x) { return x.n[19]; } int first(struct s x) { return x.a; }
    struct s same(struct s x) { return x; } struct s global; struct s (*through)(void) = half; pthread_t t;
    void *reads(void *p) { assert(((struct s *)p)->b == 0); return p; } void *looks(void *p) { assert(((struct s *)p)->a == 1); return p; }";

#[test]
fn a_copy_has_no_more_values_than_the_original() {
    found(
        STRUCTS,
        Property::Memory,
        "which was never written",
        &[
            "struct s q = half(); if (q.b == 3) assert(0);",
            "struct s x, y; x.a = 1; y = x; return y.b;",
            "struct s x, y = {1, 2}; x.a = 1; y = x; return y.b;",
            "struct s x; x.a = 1; return second(x);",
            "struct s q = same(half()); return q.b;",
            "struct s q = through(); return q.b;",
            "return half().b;",
            "struct one q = none(); return q.p == 0;",
            "struct in q = inner(); return q.s.b;",
            "struct in q = inner(); return q.m[2];",
            "struct in q = inner(); return q.c;",
            "struct in q = inner(), r = q; struct s s = r.s; return s.b;",
            "struct large q = most(); return q.n[19];",
            "return last(most());",
            "struct s *p = malloc(sizeof *p); *p = half(); return p->b;",
            "struct s *p = malloc(sizeof *p), x; p->a = 1; x = *p; return x.b;",
            "struct s *p = malloc(sizeof *p), x; p->a = 1; memcpy(&x, p, sizeof x); return x.b;",
            "struct s *p = malloc(sizeof *p), x; p->a = 1; memmove(&x, p, sizeof x); return x.b;",
            "struct s *p = malloc(sizeof *p); p->a = 1; p = realloc(p, 20); return p->b;",
            "int a[3], b[3]; a[0] = 1; memcpy(b, a, sizeof b); return b[1];",
            "global = half(); return global.b;",
            "global = half(); pthread_create(&t, 0, reads, &global); pthread_join(t, 0);",
            "struct s *p = malloc(sizeof *p); *p = half(); pthread_create(&t, 0, reads, p); pthread_join(t, 0);",
            "struct s q; for (int i = 0; i < 2; i++) { q = i ? half() : (struct s){3, 4}; if (i == 1) return q.b; }",
            "union u x, y; x.i = 1; y = x; return y.c[5];",
            "union u x, y; y = x; return y.l;",
            "struct bits x, y; x.a = 1; y = x; return y.n;",
            "struct bits x, y; y = x; return y.b;",
            "struct s q = ({ struct s x; x.a = 1; x; }); return q.b;",
            "struct s a[2], b; a[1].a = 1; b = a[1]; return b.b;",
        ],
    );
    allowed(
        STRUCTS,
        &[
            "struct s q = half(); assert(q.a == 1); q.b = 2; assert(second(q) == 2);",
            "struct s q = same(half()); assert(q.a == 1 && first(q) == 1 && first(half()) == 1);",
            "struct in q = inner(); assert(q.s.a == 1 && q.m[1] == 1); struct in r = q; assert(r.s.a == 1);",
            "struct large q = most(); assert(q.n[18] == 18); struct one p = none(); p.p = q.n; assert(*p.p == 0);",
            "struct s *p = malloc(sizeof *p), x; p->a = 1; memcpy(&x, p, sizeof x); assert(x.a == 1); *p = x; assert(p->a == 1);",
            "global = half(); global.b = 2; pthread_create(&t, 0, looks, &global); pthread_join(t, 0); assert(global.b == 2);",
            "struct s *p = malloc(sizeof *p); *p = half(); pthread_create(&t, 0, looks, p); pthread_join(t, 0); p->b = 3; assert(p->b == 3);",
            "union u x, y; x.i = 1; y = x; assert(y.i == 1); x.l = 1; y = x; assert(y.c[0] == 1 && y.c[7] == 0); x.c[0] = 2; y = x; assert(y.c[0] == 2);",
            "union { char c[8]; struct { char a; int b; } s; } x, y; memset(&x, 5, sizeof x); y = x; assert(y.c[1] == 5 && y.s.a == 5);",
            "union { struct { char t; int i; } a; struct { char t; double d; } b; } x, y; x.b.t = 1; x.b.d = 2.5; y = x; assert(y.b.d == 2.5 && y.a.t == 1);
             x.a.i = 7; y = x; assert(y.a.i == 7); union { short s[3]; struct { char c; int i; } t; } v, w; v.s[1] = 5; v.t.i = 9; w = v; assert(w.s[1] == 5 && w.t.i == 9);",
            "union { struct { char a; int b; } s; char c[8]; } x = {{1, 2}}, y; x.c[3] = 7; y = x; assert(y.c[3] == 7 && y.s.b == 2);",
            "struct bits x, y; x.a = 1; y = x; assert(y.a == 1); y.b = 2; x = y; assert(x.b == 2 && x.a == 1);",
            "struct in x, y; x.c = 'c'; y = x; assert(y.c == 'c'); y.m[0] = y.c; assert(y.m[0] == 'c');",
            "struct s x = {0}, y; y = x; assert(y.b == 0); struct in z = {.c = 1}, w = z; assert(w.m[2] == 0);",
        ],
    );
}

#[test]
fn what_is_moved_without_a_value_is_found_by_every_engine() {
    let shared = "struct s { int a, b; } *shared, global; atomic_int ready; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_t t;
        void *write(void *p) { struct s x; x.a = 1; pthread_mutex_lock(&m); *shared = x; atomic_store(&ready, 1); pthread_mutex_unlock(&m); return p; }
        int main(void) { shared = PLACE; pthread_create(&t, 0, write, 0); pthread_mutex_lock(&m); struct s y; y.a = 1; y.b = 2;
        if (atomic_load(&ready)) y = *shared; pthread_mutex_unlock(&m); assert(y.a == 1); LOOK pthread_join(t, 0); return 0; }";
    let engines = ["auto", "optimal", "rf", "rvf", "vc", "dc", "explicit", "oc"].map(|engine| (engine, Model::Sc));
    let others = [("explicit", Model::Tso), ("abstract-tso", Model::Tso), ("optimal", Model::Rc11), ("oc", Model::Pso)];
    every_engine(
        shared,
        engines.into_iter().chain(others),
        [("assert(y.b == 2);", true), ("y.b = 1; assert(y.b == 1);", false)],
    );
}

#[test]
fn numbers_have_results() {
    let numbers = "#include <limits.h>\nvolatile int least = INT_MIN, minus = -1, width = 32, zero; volatile long deep = LONG_MIN;";
    found(
        numbers,
        Property::Arithmetic,
        "the least number is divided by -1",
        &[
            "int a = least, b = minus; return a / b;",
            "int a = least, b = minus; return a % b;",
            "int a = least; a /= minus; return a;",
            "long a = deep; return a / -1 == 0;",
        ],
    );
    found(
        numbers,
        Property::Arithmetic,
        "a shift by the width",
        &[
            "int n = width; return 1 << n;",
            "int n = minus; return 1 >> n;",
            "unsigned a = 1; a <<= width; return a;",
            "int n = width; (void)(1u << n);",
        ],
    );
    found(numbers, Property::Arithmetic, "division by zero", &["return 1 / zero;", "return 1 % zero;"]);
    found(
        numbers,
        Property::Arithmetic,
        "too large for its type",
        &[
            "double d = 1e10 + zero; int n = d;",
            "float f = minus; unsigned n = (unsigned)f;",
            "double d = 0.0 / zero; long n = (long)d;",
            "double d = -2147483649.0 + zero; (void)(int)d;",
            "int i = INT_MAX; i += 1.5;",
            "unsigned char c = 200; c *= 1.5;",
            "static _Atomic int i = INT_MIN; i -= 1.5;",
            "struct { int b : 20; } s = { 5 }; s.b -= 1e10;",
        ],
    );
    allowed(
        numbers,
        &[
            "int a = least, b = minus; assert(a / (b + 2) == a); assert((a + 1) / b == INT_MAX);",
            "int i = 5; i += 0.5; assert(i == 5); i *= 1.5; assert(i == 7); _Bool b = 0; b += 1e10; assert(b);",
            "int n = width; assert((1ul << n) == 4294967296ul); return n < 32 && 1 << n;",
            "unsigned a = least; assert(a / -1 == 0);",
            "double d = least - 0.9; int n = d; assert(n == least); unsigned u = -0.5; assert(u == 0); assert(1 / (d - d) > 1e308);",
        ],
    );
}

/// A function may end without its value as long as nobody uses that (C11 6.9.1p12).
#[test]
fn a_value_that_was_not_returned_is_not_used() {
    let functions = "int f(int a) { if (a > 0) return 1; } long g(int a) { while (a) { if (a == 3) break; a--; } }
        int h(int a) { if (a) return 2; else abort(); } int i(int a) { for (;;) if (a++ == 3) return a; }
        int j(int a) { switch (a) { case 0: return 1; default: return 2; } } void *k(void *a) { f(0); }
        int l(int a) { return f(a); } int m(int a) { f(1); } struct two { int a, b; }; struct one { char c; };
        struct two n(int a) { if (a) return (struct two){1, 2}; } struct one o(int a) { if (a) return (struct one){1}; }
        int p(int a) { if (a) return 1; while (a == 0) { return; } return 2; } int by(const void *a, const void *b) { a == b; }
        int (*volatile chosen)(int) = f; struct two (*pair)(int) = n; pthread_t t; void *r;";
    found(
        functions,
        Property::Memory,
        "which was never written",
        &[
            "if (f(-1) == 5) assert(0);",
            "long x = g(1); return x != 0;",
            "return l(0);",
            "return chosen(0);",
            "if (p(0) == 0) return 1;",
            "int a[2] = {2, 1}; qsort(a, 2, sizeof *a, by);",
            "int (*p)(int) = m; int x = p(1); return 0;",
            "if (chosen(0) == 5) assert(0);",
            "struct two x = n(0); return x.a;",
            "struct two x = {1, 2}; x = pair(0); return x.b;",
            "return o(0).c;",
            "for (int i = 1; i >= 0; i--) { struct two x = pair(i); assert(x.b == 2); }",
            "pthread_create(&t, 0, k, 0); pthread_join(t, &r); return r == 0;",
        ],
    );
    allowed(
        functions,
        &[
            "f(-1); (void)f(-1); g(3), f(0); p(0); return f(1) - p(1);",
            "assert(h(1) == 2); assert(i(0) == 4); assert(j(0) == 1 && j(7) == 2);",
            "pthread_create(&t, 0, k, 0); pthread_join(t, 0); pthread_create(&t, 0, k, 0); pthread_join(t, &r);",
            "int (*p)(int) = f; p(0); f(0); chosen(0); assert(chosen(1) == 1); assert(pair(1).b == 2); pair(0); n(0); o(0); assert(o(1).c == 1);",
        ],
    );
    let text = format!("{functions} int main(void) {{ if (f(-1) == 5) assert(0); return 0; }}");
    let loaded = load(&file(&text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut settings = Settings::new(Model::Sc);
    settings.options.properties = settings.options.properties.without(Property::Memory);
    let outcome = verify(&loaded.program, &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"));
    let finding = outcome.findings.first().unwrap_or_else(|| panic!("{}", outcome.scope));
    assert_eq!(finding.violation().property, Property::Assert);
}

/// Signed arithmetic that overflows is an error if that is asked for; it wraps otherwise.
#[test]
fn signed_overflow_may_be_an_error() {
    let numbers = "#include <limits.h>\nvolatile int most = INT_MAX, least = INT_MIN, one = 1, minus = -1; volatile short small = SHRT_MAX;
        volatile long far = LONG_MAX, deep = LONG_MIN;";
    let mut options = LoadOptions::default();
    options.c.overflow_is_error = true;
    let verdict = |body: &str| {
        let text = format!("{numbers}\nint main(void) {{ {body}\nreturn 0; }}");
        let finding = check_with(&text, &options).findings.first().map(|finding| finding.violation().message.clone());
        let wraps = check(&text).findings.first().map(|finding| finding.violation().message.clone());
        assert_eq!(wraps, None, "{text}");
        finding
    };
    for body in [
        "int x = most + one;",
        "int x = least - one;",
        "int x = most; x++;",
        "int x = least; x--;",
        "int x = most; x += one;",
        "int x = -least;",
        "int x = most * (one + one);",
        "int x = least * minus;",
        "int x = minus * least;",
        "if (one && most + one) one = 2;",
        "int x = one ? most + one : 0;",
        "(void)(most + one);",
        "long x = far + one;",
        "long x = deep - 1;",
        "long x = far * 2;",
        "long x = deep * minus;",
        "long x = minus * deep;",
        "long x = -deep;",
        "long x = 3037000500 * (3037000499l + one);",
    ] {
        assert_eq!(verdict(body).as_deref(), Some("signed arithmetic overflows"), "{body}");
    }
    for body in [
        "int x = one << 31;",
        "int x = one; x <<= 31;",
        "int x = minus << 1;",
        "int x = most << one;",
        "(void)(one << 31);",
        "if (!one || one << 31) one = 2;",
        "long x = (long)one << 63;",
    ] {
        assert_eq!(verdict(body).as_deref(), Some("a signed number is shifted out of its type"), "{body}");
    }
    for body in [
        "int x = most - one; x++; assert(x == INT_MAX);",
        "unsigned x = most; x += 2; x *= 3; x = -x; assert(0u - 1 == UINT_MAX);",
        "short x = small; x++; assert(x == SHRT_MIN);",
        "int x = least + most; assert(x == -1); assert(least * one == INT_MIN && -most == least + 1);",
        "long x = deep + far; assert(x == -1); assert(deep * one == LONG_MIN && far * minus == deep + 1);",
        "long x = 3037000499 * (3037000498l + one); assert(x == 9223372030926249001); assert(far * 0 == 0 && 0 * deep == 0);",
        "int x = one << 30; assert(x >> 30 == 1); x = (int)((unsigned)one << 31); assert(x == INT_MIN); long y = (long)one << 62; assert(y > 0);",
        "if (one == 2 && most + one) one = 2; int x = one ? 1 : most + one;",
        "atomic_int x = INT_MAX; x++; atomic_fetch_add(&x, 1); int a[3] = {0}; int *p = a; p += one; assert(p - a == 1);",
    ] {
        assert_eq!(verdict(body), None, "{body}");
    }
}
