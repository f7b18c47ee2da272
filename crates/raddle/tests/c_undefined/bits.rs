//! Words of which some bits were never written: bit-fields beside each other, unions, structs that are moved as one number.

use crate::{allowed, every_engine, found};
use raddle::{Model, Property};

const TYPES: &str = "struct s { unsigned a : 3, c : 5; int d : 17; unsigned long long e : 40, f : 20; } g;
    struct p { int a, b; }; union u { char c; long l; struct { unsigned lo : 4, hi : 4; } n; }; struct in { int x; struct s s; };
    struct s same(struct s x) { return x; }  struct p one(struct p x) { return x; } ";

#[test]
fn a_bit_field_has_its_own_value() {
    found(
        TYPES,
        Property::Memory,
        "never written",
        &[
            "struct s x; x.a = 1; if (x.c == 3) assert(0);",
            "struct s *x = malloc(sizeof *x); x->a = 1; if (x->c == 3) assert(0);",
            "struct s x, *q = &x; q->c = 1; return q->a;",
            "struct s x; x.a = 1; return x.d;",
            "struct s x; x.f = 1; return (int)x.e;",
            "struct s x; x.e = 1; return (int)x.f;",
            "struct s x, y; x.a = 1; y = x; return y.c;",
            "struct s x, y; x.a = 1; memcpy(&y, &x, sizeof x); return y.c;",
            "struct s x; x.a = 1; return same(x).c;",
            "struct in x, y; x.s.a = 1; x.x = 2; y = x; return y.s.c;",
            "struct s x; x.a = 1; x.c += 1;",
            "struct s x; x.a = 1; x.c++;",
            "struct s x; x.a = 1; return *(unsigned char *)&x;",
            "struct s x, y; x.a = 1; x.c = 2; y.c = 1; x = y; return x.a;",
            "struct s x[2], *q = malloc(sizeof x); x[1].a = 1; memcpy(q, x, sizeof x); return q[1].c;",
            "struct s x = { .a = 1 }, y; y.a = 2; x = y; return x.c;",
        ],
    );
    allowed(
        TYPES,
        &[
            "struct s x; x.a = 1; x.c = 3; x.d = -5; x.e = 7; x.f = 9; struct s y = x; x.e = -1; assert(y.a == 1 && y.c == 3 && y.d == -5 && y.e == 7 && y.f == 9);
             assert(x.f == 9 && x.e == 0xffffffffffull);",
            "g.a = 1; assert(g.c == 0 && g.d == 0 && g.f == 0);",
            "static struct s x; x.a = 1; assert(x.c == 0);",
            "struct s x = { .c = 1 }; assert(x.a == 0 && x.f == 0 && x.c == 1);",
            "struct s *x = calloc(1, sizeof *x); x->a = 1; assert(x->c == 0);",
            "struct s x; memset(&x, 0, sizeof x); x.a = 1; assert(x.c == 0 && x.e == 0);",
            "struct s x, y; x.a = 1; y = x; y.c = 2; assert(y.a == 1 && y.c == 2);",
            "struct s *x = malloc(sizeof *x), *y = malloc(sizeof *y); x->c = 4; *y = *x; assert(y->c == 4); memcpy(x, y, sizeof *x); assert(x->c == 4);",
            "struct s x, y; x.a = 5; y = same(same(x)); assert(y.a == 5);",
            "struct s x; x.a = 1; x.c = 2; assert(*(unsigned char *)&x == 17);",
            "struct { _Bool p : 1, q : 1; } x; x.p = 5; assert(x.p); x.q = 0; assert(!x.q && x.p);",
        ],
    );
}

#[test]
fn a_union_is_copied_as_far_as_it_was_written() {
    found(
        TYPES,
        Property::Memory,
        "never written",
        &[
            "union u x; x.c = 1; return (int)x.l;",
            "union u x, y; x.c = 1; y = x; if (y.l == 1) assert(0);",
            "union u x, y, *z = malloc(sizeof x); x.c = 1; *z = x; y = *z; return (int)y.l;",
            "union u x, y; x.n.lo = 1; y = x; return y.n.hi;",
            "union u x, y; x.n.lo = 1; y = x; return y.c;",
        ],
    );
    allowed(
        TYPES,
        &[
            "union u x, y; x.c = 1; y = x; assert(y.c == 1);",
            "union u x, y; x.l = 257; y = x; assert(y.c == 1 && y.n.lo == 1 && y.n.hi == 0);",
            "union u x, y; x.n.lo = 1; y = x; y.n.hi = 2; assert(y.c == 33);",
        ],
    );
}

#[test]
fn a_struct_that_is_moved_at_once_is_moved_as_it_is() {
    let globals =
        format!("{TYPES} _Atomic struct p shared; typedef struct {{ int a; char c; }} pad; _Atomic pad padded;");
    found(
        &globals,
        Property::Memory,
        "never written",
        &[
            "struct p x, y; x.a = 1; shared = x; y = shared; return y.b;",
            "struct p x, y; x.a = 1; atomic_exchange(&shared, x); y = atomic_load(&shared); return y.b;",
            "struct p x, y; x.a = 1; __atomic_load(&x, &y, 5); return y.b;",
            "struct p x; x.a = 1; return one(x).b;",
        ],
    );
    allowed(
        &globals,
        &[
            "struct p x, y; x.a = 1; shared = x; y = shared; assert(y.a == 1);",
            "pad x, y; x.a = 1; x.c = 2; padded = x; y = padded; x = y; x.c = 3;
             assert(atomic_compare_exchange_strong(&padded, &y, x)); y = padded; assert(y.c == 3);",
        ],
    );
}

/// One thread hands a struct to another one, some of whose bit-fields it never wrote.
#[test]
fn every_engine_knows_which_bits_were_written() {
    let program = "struct s { unsigned a : 3, c : 5; } *shared, global; atomic_int ready; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_t t;
        void *write(void *p) { struct s x; x.a = 1; pthread_mutex_lock(&m); *shared = x; atomic_store(&ready, 1); pthread_mutex_unlock(&m); return p; }
        int main(void) { shared = PLACE; pthread_create(&t, 0, write, 0); pthread_mutex_lock(&m); struct s y; y.a = 1; y.c = 2;
        if (atomic_load(&ready)) y = *shared; pthread_mutex_unlock(&m); assert(y.a == 1); LOOK pthread_join(t, 0); return 0; }";
    let engines = ["auto", "optimal", "rf", "rvf", "vc", "dc", "explicit"].map(|engine| (engine, Model::Sc));
    let others = [("explicit", Model::Tso), ("abstract-tso", Model::Tso), ("optimal", Model::Rc11)];
    every_engine(
        program,
        engines.into_iter().chain(others),
        [("assert(y.c == 2);", true), ("y.c = 1; assert(y.c == 1);", false)],
    );
}
