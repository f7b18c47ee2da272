//! What C and POSIX leave undefined, one small program each, and beside it what looks alike and is allowed. The table of
//! `docs/undefined.md` names these tests.

use raddle::{Control, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str =
    "#include <assert.h>\n#include <errno.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>
#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// What is said about a C file with this text behind the usual headers.
fn check(text: &str) -> Outcome {
    check_with(text, &LoadOptions::default())
}

/// A file with this text behind the usual headers.
fn file(text: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_undefined_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    path
}

fn check_with(text: &str, options: &LoadOptions) -> Outcome {
    let loaded = load(&file(text), options).unwrap_or_else(|error| panic!("{error}\n{text}"));
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
    found(objects, Property::Memory, "count[-23], which has 4 elements", &["use(); return count[back];"]);
    found(objects, Property::Memory, "text[-23], which has 16 elements", &["use(); return text[back];"]);
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
    for (engine, model) in engines.into_iter().chain(others) {
        for place in ["malloc(sizeof *shared)", "&global"] {
            for (read, wrong) in [("assert(y.b == 2);", true), ("y.b = 1; assert(y.b == 1);", false)] {
                let text = shared.replace("LOOK", read).replace("PLACE", place);
                let loaded =
                    load(&file(&text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let mut settings = Settings::new(model);
                settings.engine = raddle::ENGINES.find(engine).expect("an engine");
                let outcome = verify(&loaded.program, &settings, &Control::new())
                    .unwrap_or_else(|error| panic!("{engine}: {error}"));
                let found = outcome.findings.first().map(|finding| finding.violation().property);
                assert_eq!(found, wrong.then_some(Property::Memory), "{engine}: {}\n{text}", outcome.scope);
                assert_eq!(outcome.verdict == Verdict::Holds, !wrong, "{engine}: {}\n{text}", outcome.scope);
            }
        }
    }
}

#[test]
fn changes_of_an_object_have_an_order() {
    let objects = "int g = 1, a[4], *p = a; struct s { int x, y; unsigned u : 4, v : 4; } s; int f(int a, int b) { return a + b; }
        int next(void) { return g++; } volatile int yes = 1, v; atomic_int n;";
    found(
        objects,
        Property::Arithmetic,
        "in one expression and in no order",
        &[
            "int i = 0; i = i++ + 1;",
            "int i = 0; i = ++i % 4;",
            "int i = 0; a[i] = i++;",
            "int i = 0; a[i++] = i;",
            "int i = 0; f(i++, i);",
            "int i = 0; f(i, ++i);",
            "int i = 0; f(i = 1, i = 2);",
            "int i = 0; return i++ + i++;",
            "int i = 0; return i + i++;",
            "int i = 0; return i * (i = 2);",
            "int i = 0; i += i++;",
            "int i = 0; i += (i = 3, 1);",
            "int i = 0; i = i = 1;",
            "g = g++;",
            "return g-- < g;",
            "*p++ = *p;",
            "p = p++ + 1;",
            "s.x = s.x++;",
            "s.u = s.u++ + s.v;",
            "int i = 0; if (i++ == i) return 0;",
            "int i = 0; while (a[i++ % 4] + i < 0) ;",
            "int i = 0; for (; i < 3; i = i++) if (yes) yes = 0;",
            "int i = 0; return yes ? i + i++ : 0;",
            "int i = 0; return yes && i-- == i;",
            "int i = 0, b[2] = {i + i++};",
            "int i = 0; return ({ i + i++; });",
            "n = n++;",
            "int i = 0; (void)(i + i++);",
            "int i = 0; switch (i++ + i) { case 1: break; }",
        ],
    );
    allowed(
        objects,
        &[
            "int i = 0; i = i + 1; i++, i++; i = (i++, i); a[0] = i++; f(i++, 1); i = f(i++, 0); assert(i == 6);",
            "int i = 0; i++ && i++; i = i++ ? i : 5; (i = 1) && i++; a[i++ ? 1 : 0] = 1; if (i++ > 1 || i) i = 0; assert(i == 0);",
            "int *q = a; *q++ = *p++; q[1] = *q = 3; p = a; p = (*p++ = 1, p); assert(p == a + 1);",
            "s.x = s.y++; s.u = s.v++; s.x += s.y; g = next() + next(); g = f(next(), next()); s = (s.x++, s); a[a[0] = 1] = 2;",
            "int i = 1, j = 2; i = j = i + j; i = j++ + (i > 2); i = i > 2 ? i - 1 : i + 1; i = -i; i += i * i; i = i << i % 3; assert(i != 7 || j);",
            "int i = yes ? 0 : g + g++; i = sizeof(i++) + i; v = v + v; int b[] = {i++, i++, i}; assert(b[0] + 2 == b[2]);",
            "int i = 0; if (!yes) i = i++; int k = i + ({ int i = 0; i++; }); assert(k == 0); for (int j = 0, m = 9; j < m; j++, m--) i += j;",
        ],
    );
}

#[test]
fn evaluation_may_go_the_other_way() {
    let functions = "int order, a[4]; int *at; int one(void) { return order = order * 10 + 1; } int two(void) { order = order * 10 + 2; return 0; }
        int *place(void) { order = order * 10 + 3; return a; } int f(int x, int y, ...) { return x + y; } struct s { int x, y; } t;
        struct s get(void) { two(); return t; } struct s *to(void) { one(); return &t; } int g(struct s x, struct s y) { return x.x + y.y; }";
    let mut right = LoadOptions::default();
    right.c.evaluation_right = true;
    for (expr, from_left, from_right) in [
        ("one() + two()", 12, 21),
        ("one() < two()", 12, 21),
        ("place() + two()", 32, 23),
        ("place()[two()]", 32, 23),
        ("f(one(), two())", 12, 21),
        ("f(one(), two(), one())", 121, 121),
        ("f(one(), 0, two())", 12, 21),
        ("*place() = two()", 23, 32),
        ("*to() = get()", 21, 12),
        ("g(*to(), get())", 12, 21),
        ("abs(one()) + abs(two())", 12, 21),
        ("memcmp(place(), to(), 1)", 31, 13),
        ("(one(), two())", 12, 12),
        ("one() && !two()", 12, 12),
        ("one() ? two() : 0", 12, 12),
    ] {
        for (options, expected) in [(&LoadOptions::default(), from_left), (&right, from_right)] {
            let text = format!("{functions} int main(void) {{ (void)({expr}); assert(order == {expected}); }}");
            let outcome = check_with(&text, options);
            assert_eq!(outcome.verdict, Verdict::Holds, "{expr} is {expected}: {}", outcome.scope);
        }
    }
    // It is said where it may make a difference.
    for (expr, open) in [
        ("one() + two()", true),
        ("f(one(), sum())", true),
        ("sum() + sum()", false),
        ("f(twice(1), twice(2)) + twice(3) * one()", false),
        ("one() ? two() : one()", false),
    ] {
        let more = "int sum(void) { return order + a[0]; } int twice(int x) { int y = x; y += x; return y; }";
        let text = format!("{functions} {more} int main(void) {{ (void)({expr}); }}");
        let loaded = load(&file(&text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let said = loaded.notes.iter().any(|note| note.contains("--evaluation right"));
        assert_eq!(said, open, "{expr}: {:?}", loaded.notes);
    }
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
        ],
    );
    allowed(
        numbers,
        &[
            "int a = least, b = minus; assert(a / (b + 2) == a); assert((a + 1) / b == INT_MAX);",
            "int n = width; assert((1ul << n) == 4294967296ul); return n < 32 && 1 << n;",
            "unsigned a = least; assert(a / -1 == 0);",
            "double d = least - 0.9; int n = d; assert(n == least); unsigned u = -0.5; assert(u == 0); assert(1 / (d - d) > 1e308);",
        ],
    );
}

#[test]
fn library_functions_are_asked_for_what_they_can_do() {
    found(
        "",
        Property::Memory,
        "null is printed as a string",
        &[
            "char *s = NULL; printf(\"%s\", s);",
            "char *s = NULL; puts(s);",
            "char *s = NULL; fprintf(stderr, \"%d %s\", 1, s);",
        ],
    );
    found("", Property::Memory, "no power of two", &["free(aligned_alloc(3, 9));", "free(aligned_alloc(0, 8));"]);
    found(
        "",
        Property::Memory,
        "overlap",
        &[
            "char a[8] = \"abcdefg\"; memcpy(a + 1, a, 4);",
            "int a[4] = {1, 2, 3, 4}; memcpy(a, a + 1, sizeof(int[2]));",
        ],
    );
    allowed("", &[
        "char a[8] = \"abcdefg\"; memmove(a + 1, a, 4); assert(a[4] == 'd'); memcpy(a, a + 4, 4); memcpy(a, a, 8);",
        "char *p = aligned_alloc(64, 64); *p = 1; free(p); void *q; assert(posix_memalign(&q, 3, 8) == EINVAL);",
        "assert(calloc((size_t)-1, 2) == NULL && errno == ENOMEM); int *p = calloc(2, 4); assert(p[1] == 0); free(p);",
        "char *end; errno = 0; assert(strtol(\"99999999999999999999x\", &end, 10) == INT64_MAX && errno == ERANGE && *end == 'x');
         assert(strtol(\"-99999999999999999999\", 0, 10) == INT64_MIN); assert(strtoul(\"18446744073709551616\", 0, 10) == UINT64_MAX);
         assert(strtol(\"-9223372036854775808\", 0, 10) == INT64_MIN && strtol(\" +7f\", 0, 16) == 127 && strtoul(\"-1\", 0, 10) == UINT64_MAX);",
    ]);
    // Addresses have 47 bits, so that a mark fits above, and are aligned as asked for, also where sizes are remembered.
    allowed(
        "static int g; static void *made(void *a) { return malloc(8); }",
        &["int l, *p = malloc(4); uintptr_t marked = (uintptr_t)p | (uintptr_t)5 << 48;
           int *q = (int *)(marked & (((uintptr_t)1 << 48) - 1)); *q = 3; assert(*p == 3 && marked >> 48 == 5);
           assert(((uintptr_t)&l | (uintptr_t)&g | (uintptr_t)made | (uintptr_t)p) >> 47 == 0);
           pthread_t t; void *far; pthread_create(&t, 0, made, 0); pthread_join(t, &far); assert((uintptr_t)far >> 47 == 0); free(far); free(p);",
          "char *p = aligned_alloc(4096, 100); assert((uintptr_t)p % 4096 == 0); p[99] = 1; free(p); p = malloc(3); p[2] = 7;
           p = realloc(p, 20000); assert(p[2] == 7 && (uintptr_t)p % 16 == 0); p[19999] = 1; p = realloc(p, 5); free(p);
           void *q; assert(posix_memalign(&q, 1 << 20, 8) == 0 && (uintptr_t)q % (1 << 20) == 0); free(q);
           char *large = malloc(3000000), *other = malloc(3000000); large[2999999] = 1; other[0] = 2; assert(large[2999999] == 1); free(large); free(other);"],
    );
    found(
        "",
        Property::Memory,
        "no pointer to anything",
        &["int *p = malloc(4); *(int *)((uintptr_t)p | (uintptr_t)1 << 48) = 1;"],
    );
    found(
        "",
        Property::Memory,
        "out of bounds",
        &["char *p = malloc(20000); p[20000] = 1;", "char *p = aligned_alloc(64, 64); p[64] = 1;"],
    );
    // Padding has no value, and is moved all the same.
    let sorted = "struct s { char c; int n; }; int by(const void *a, const void *b) { return ((struct s *)a)->n - ((struct s *)b)->n; }";
    allowed(
        sorted,
        &["struct s a[3]; for (int i = 0; i < 3; i++) { a[i].c = i; a[i].n = 3 - i; }
        qsort(a, 3, sizeof *a, by); assert(a[0].n == 1 && a[0].c == 2);"],
    );
}

#[test]
fn threads_are_joined_or_detached_once() {
    let threads = "void *nothing(void *p) { return p; } pthread_t t; pthread_attr_t a;";
    found(
        threads,
        Property::Lock,
        "joined that is detached",
        &[
            "pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_join(t, 0);",
            "pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
         pthread_create(&t, &a, nothing, 0); pthread_join(t, 0);",
        ],
    );
    found(
        threads,
        Property::Lock,
        "detached already",
        &["pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_detach(t);"],
    );
    allowed(
        threads,
        &[
            "pthread_t s; pthread_create(&s, 0, nothing, 0); pthread_create(&t, 0, nothing, 0); pthread_detach(t); pthread_join(s, 0);",
            "pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
         pthread_create(&t, &a, nothing, 0); pthread_join(t, 0);",
        ],
    );
}

#[test]
fn what_is_initialised_is_initialised_once_and_by_nobody_else() {
    let objects =
        "pthread_barrier_t b; atomic_int x; pthread_t t; void *set(void *p) { atomic_init(&x, 1); return p; }";
    found(
        objects,
        Property::Lock,
        "initialised already",
        &[
            "pthread_barrier_init(&b, 0, 1); pthread_barrier_init(&b, 0, 2);",
            "pthread_barrier_t c; pthread_barrier_init(&c, 0, 1); pthread_barrier_wait(&c); pthread_barrier_init(&c, 0, 1);",
        ],
    );
    found(objects, Property::Race, "", &["pthread_create(&t, 0, set, 0); atomic_load(&x); pthread_join(t, 0);"]);
    allowed(
        objects,
        &[
            "pthread_barrier_init(&b, 0, 1); pthread_barrier_destroy(&b); pthread_barrier_init(&b, 0, 2);",
            "pthread_barrier_t *p = malloc(sizeof *p); pthread_barrier_init(p, 0, 1); pthread_barrier_wait(p);",
            "atomic_init(&x, 3); pthread_create(&t, 0, set, 0); pthread_join(t, 0); assert(atomic_load(&x) == 1);",
        ],
    );
}

#[test]
fn time_may_be_up() {
    let objects = "#include <threads.h>
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; sem_t s; pthread_rwlock_t r;
        pthread_t t; struct timespec d; int ready, result; mtx_t n; cnd_t e;
        void *lock(void *p) { return (void *)(long)pthread_mutex_timedlock(&m, &d); }
        void *read(void *p) { return (void *)(long)pthread_rwlock_timedrdlock(&r, &d); }
        void *write(void *p) { return (void *)(long)pthread_rwlock_timedwrlock(&r, &d); }
        void *signal(void *p) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }";
    allowed(objects, &[
        "pthread_mutex_lock(&m); pthread_create(&t, 0, lock, 0); void *got; pthread_join(t, &got); assert(got == (void *)ETIMEDOUT);",
        "pthread_rwlock_init(&r, 0); pthread_rwlock_wrlock(&r); pthread_create(&t, 0, read, 0); void *got; pthread_join(t, &got);
         assert(got == (void *)ETIMEDOUT);",
        "pthread_rwlock_init(&r, 0); pthread_rwlock_rdlock(&r); pthread_create(&t, 0, write, 0); void *got; pthread_join(t, &got);
         assert(got == (void *)ETIMEDOUT);",
        "sem_init(&s, 0, 0); assert(sem_timedwait(&s, &d) == -1 && errno == ETIMEDOUT); sem_post(&s); assert(sem_timedwait(&s, &d) == 0);",
        "pthread_mutex_lock(&m); assert(pthread_cond_timedwait(&c, &m, &d) == ETIMEDOUT); pthread_mutex_unlock(&m);",
        "mtx_init(&n, mtx_timed); cnd_init(&e); mtx_lock(&n); assert(cnd_timedwait(&e, &n, &d) == thrd_timedout); mtx_unlock(&n);
         assert(mtx_timedlock(&n, &d) == thrd_success);",
        "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); while (!ready && result == 0) result = pthread_cond_timedwait(&c, &m, &d);
         assert(ready || result == ETIMEDOUT); pthread_mutex_unlock(&m); pthread_join(t, 0);",
    ]);
    // Both ends are met.
    found(
        objects,
        Property::Assert,
        "result",
        &[
            "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); if (!ready) { result = pthread_cond_timedwait(&c, &m, &d); assert(result == ETIMEDOUT); }",
            "pthread_create(&t, 0, signal, 0); pthread_mutex_lock(&m); if (!ready) { result = pthread_cond_timedwait(&c, &m, &d); assert(result == 0); }",
        ],
    );
    // A wait without a deadline is still one.
    found(
        objects,
        Property::Deadlock,
        "",
        &["pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"],
    );
}

#[test]
fn an_array_inside_of_something_has_bounds() {
    let objects = "struct s { int a[2], b; } s, *p = &s; int m[2][3]; struct t { int n; char last[1]; }; volatile int two = 2, three = 3;";
    found(
        objects,
        Property::Memory,
        "outside of the array",
        &[
            "return s.a[2];",
            "int i = two; return s.a[i];",
            "p->a[two] = 1;",
            "return m[0][three];",
            "return m[0][-1 + 4];",
            "struct s q[2] = {0}; return q[0].a[two];",
            "int (*row)[3] = m; return (*row)[three];",
            "p->a[2]++;",
        ],
    );
    allowed(
        objects,
        &[
            "int i = 1; s.a[i] = 3; assert(p->a[1] == 3); assert(m[1][2] == 0);",
            "int *end = &s.a[2], n = 0; for (int *i = s.a; i != end; i++) n += *i; assert(n == 0);",
            "int *end = m[2], n = 0; for (int *i = m[0]; i < end; i++) n++; assert(n == 6);",
            "struct t *t = malloc(sizeof *t + 7); t->last[two + 3] = 1; assert(t->last[5] == 1);",
        ],
    );
}

#[test]
fn constants_are_not_written() {
    found(
        "const int table[2] = {1, 2}; const int one = 1;",
        Property::Memory,
        "which is constant",
        &[
            "char *s = \"text\"; s[0] = 'T';",
            "*(int *)&one = 2;",
            "int *p = (int *)table; p[1]++;",
            "static const int local = 1; *(int *)&local = 2;",
            "__atomic_fetch_add((int *)&one, 1, 0);",
        ],
    );
    allowed(
        "const char *name = \"a\"; char text[] = \"text\";",
        &["name = \"b\"; text[0] = 'T'; assert(name[0] == 'b');"],
    );
}

#[test]
fn layout_can_be_packed() {
    let records = "#pragma pack(push, 1)\nstruct a { char c; int n; };\n#pragma pack(pop)\nstruct b { char c; int n; };
        #pragma pack(2)\nstruct c { char c; int n; };\n#pragma pack()\nenum __attribute__((packed)) e { A, B }; enum f { C } __attribute__((packed));
        struct __attribute__((packed)) g { unsigned a : 3, b : 13, c : 8; char d; }; enum __attribute__((packed)) h { L = -1, M = 300 };";
    allowed(
        records,
        &[
            "_Static_assert(sizeof(struct a) == 5 && sizeof(struct b) == 8 && sizeof(struct c) == 6, \"\");",
            "_Static_assert(sizeof(enum e) == 1 && sizeof(enum f) == 1 && sizeof(enum h) == 2, \"\");",
            "struct a x = {1, 2}; x.n = 7; assert(x.c + x.n == 8); enum h y = M; assert(y == 300);",
            "struct g z = {0}; z.b = 8191; z.c = 255; z.a = 5; assert(z.b == 8191 && z.c == 255 && z.a == 5 && z.d == 0);",
        ],
    );
}

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

#[test]
fn a_block_takes_its_variables_with_it() {
    let before = "int *kept; struct pair { int a, b; } *pair; void keep(int *p) { kept = p; }
        void *reader(void *p) { return (void *)(long)*(int *)p; }";
    found(
        before,
        Property::Memory,
        "life has ended",
        &[
            "{ int x = 5; kept = &x; } int y = *kept;",
            "{ int x = 5; keep(&x); } *kept = 3;",
            "{ struct pair p = {1, 2}; pair = &p; } return pair->b;",
            "int a[2] = {1, 2}; for (int i = 0; i < 2; i++) { int x = a[i]; if (i == 0) keep(&x); else return *kept; }",
            "for (int i = 0; i < 3; i++) { int x = i; keep(&x); if (i == 1) break; } return *kept;",
            "int i = 0; while (i < 2) { int x = i; keep(&x); i++; continue; } return *kept;",
            "{ int x = 5; keep(&x); goto out; } out: return *kept;",
            "for (int i = 0; i < 1; i++) keep(&i); return *kept;",
            "switch (kept == 0) { case 1: { int x = 1; keep(&x); break; } } return *kept;",
        ],
    );
    found(
        before,
        Property::Memory,
        "never written",
        &["for (int i = 0; i < 2; i++) { int x; keep(&x); if (i) return *kept; *kept = 1; }"],
    );
    // The thread may run when the block, whose variable it was given, is over.
    let outcome = check(&format!(
        "{before}\nint main(void) {{ pthread_t t; {{ int id = 1; pthread_create(&t, 0, reader, &id); }} pthread_join(t, 0); return 0; }}"
    ));
    assert_eq!(outcome.verdict, Verdict::Violated);
    allowed(
        before,
        &[
            "for (int i = 0; i < 3; i++) { int x = i; keep(&x); assert(*kept == i); if (i == 1) continue; *kept = 4; }",
            "{ int x = 1; keep(&x); { int y = 2; keep(&y); } keep(&x); assert(*kept == 1); }",
            "switch (1) { int x; case 1: keep(&x); x = 3; assert(*kept == 3); }",
            "int n = 0; again: { int x = n; keep(&x); if (n++ < 2) goto again; assert(*kept == 2); }",
            "pthread_t t; { int id = 1; pthread_create(&t, 0, reader, &id); pthread_join(t, 0); }",
            "for (int i = 0; i < 2; i++) { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }",
        ],
    );
}

#[test]
fn a_thread_takes_its_own_memory_with_it() {
    let before = "_Thread_local int own = 1; int *kept; void *f(void *a) { own = 2; kept = &own; return 0; }
        void *g(void *a) { kept = &own; pthread_exit(0); }
        void *h(void *a) { return (void *)(long)(own + *kept); }";
    found(
        before,
        Property::Memory,
        "life has ended",
        &[
            "pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return *kept;",
            "pthread_t t; pthread_create(&t, 0, g, 0); pthread_join(t, 0); *kept = 1;",
        ],
    );
    allowed(
        before,
        &["kept = &own; pthread_t t; pthread_create(&t, 0, h, 0); pthread_join(t, 0); assert(own == 1 && *kept == 1);"],
    );
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

/// Who has got a pointer by a relaxed access does not know that there is an object.
#[test]
fn an_object_is_known_to_whoever_uses_it() {
    let program = |allocate: &str, publish: &str, find: &str, use_it: &str| {
        format!(
            "struct node {{ _Atomic int a; int b; pthread_mutex_t m; }}; static _Atomic(struct node *) shared;
             static void *user(void *unused) {{
               struct node *n = atomic_load_explicit(&shared, memory_order_{find});
               if (n) {{ {use_it} }}
               return 0; }}
             int main(void) {{
               pthread_t t; pthread_create(&t, 0, user, 0); struct node *n = {allocate};
               atomic_store_explicit(&shared, n, memory_order_{publish}); pthread_join(t, 0); return 0; }}"
        )
    };
    let judge = |text: &str| {
        let loaded = load(&file(text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut answers = Vec::new();
        for (model, engines) in [
            (Model::Rc11, &["optimal", "rf"][..]),
            (Model::Sc, &["optimal", "rf", "rvf", "vc", "dc"]),
            (Model::Tso, &["optimal", "rf"]),
        ] {
            for engine in engines {
                let mut settings = Settings::new(model);
                settings.engine = raddle::ENGINES.find(engine).expect("an engine");
                let outcome = match verify(&loaded.program, &settings, &Control::new()) {
                    Ok(outcome) => outcome,
                    // Two of the engines have no updates.
                    Err(_) if ["vc", "dc"].contains(engine) && (text.contains("lock") || text.contains("fetch")) => {
                        continue;
                    }
                    Err(error) => panic!("{engine}: {error}\n{text}"),
                };
                answers.push(outcome.findings.first().map(|finding| finding.violation().message.clone()));
            }
        }
        answers
    };
    let uses = [
        "atomic_store_explicit(&n->a, 1, memory_order_relaxed);",
        "atomic_load(&n->a);",
        "int b = n->b; (void)b;",
        "n->b = 1;",
        "pthread_mutex_lock(&n->m); pthread_mutex_unlock(&n->m);",
        "atomic_fetch_add(&n->a, 1);",
    ];
    for use_it in uses {
        for (publish, find) in [("relaxed", "relaxed"), ("release", "relaxed"), ("relaxed", "acquire")] {
            let text = program("calloc(1, sizeof *n)", publish, find, use_it);
            for answer in judge(&text) {
                assert!(
                    answer.as_deref().is_some_and(|message| message.contains("it was made by T0")),
                    "{answer:?}\n{text}"
                );
            }
        }
        let text = program("calloc(1, sizeof *n)", "release", "acquire", use_it);
        assert!(judge(&text).iter().all(Option::is_none), "{text}");
    }
    let written = program("malloc(sizeof *n)", "relaxed", "relaxed", uses[0]);
    assert!(judge(&written).iter().all(Option::is_some), "{written}");
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

#[test]
fn a_semaphore_has_a_greatest_value() {
    found(
        "sem_t s;",
        Property::Lock,
        "greatest value: s",
        &["sem_init(&s, 0, 0x7ffffffe); sem_post(&s); sem_post(&s);"],
    );
    allowed(
        "sem_t s;",
        &[
            "sem_init(&s, 0, 0x7ffffffe); sem_post(&s);",
            "assert(sem_init(&s, 0, 0x80000000) == -1 && errno == EINVAL);",
        ],
    );
}

/// Making a key for thread-specific data is no access that could race with the end of a thread.
#[test]
fn a_key_is_made_while_others_end() {
    allowed(
        "pthread_key_t k; int ended; void end(void *v) { ended++; } void *nothing(void *p) { return p; }
         void *something(void *p) { pthread_setspecific(k, p); return p; }",
        &[
            "pthread_t t; pthread_create(&t, 0, nothing, 0); pthread_key_create(&k, end); pthread_join(t, 0);",
            "pthread_t t; pthread_key_create(&k, end); pthread_create(&t, 0, something, &k); pthread_join(t, 0); assert(ended == 1);",
        ],
    );
}
