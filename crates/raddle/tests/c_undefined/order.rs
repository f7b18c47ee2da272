//! Changes of an object in no order, and orders that C leaves open.

use crate::{allowed, check_with, file, found};
use raddle::{LoadOptions, Property, Verdict, load};

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
