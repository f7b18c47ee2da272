//! Corners of C, one small program each. Those of one thread say by assertions what C makes of them; the compiler's own program has to agree, and then Raddle.
//! Those of several threads say what is found, or that nothing is.

use raddle::{Control, LoadOptions, Model, Outcome, Property, Settings, Verdict, load, verify};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const HEAD: &str = "#include <assert.h>\n#include <errno.h>\n#include <limits.h>\n#include <pthread.h>\n#include <semaphore.h>
#include <stdarg.h>\n#include <stdatomic.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>
#include <stdlib.h>\n#include <string.h>\n#include <threads.h>\n#include <time.h>\n";

fn file(text: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("c_corners_{}.c", NEXT.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the folder for such files is there");
    path
}

fn check(text: &str) -> Outcome {
    let loaded = load(&file(text), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&loaded.program, &Settings::new(Model::Sc), &Control::new())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What stands before the bodies of [`ALONE`].
const DECLARATIONS: &str = r#"
static int calls; static int bump(void) { return ++calls; } static int zero(void) { calls++; return 0; }
static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; } static int mul(int a, int b) { return a * b; }
static int sum(int n, ...) { va_list ap; int s = 0; va_start(ap, n); while (n--) s += va_arg(ap, int); va_end(ap); return s; }
static long wide(int n, ...) { va_list ap, bp; va_start(ap, n); va_copy(bp, ap); long s = 0; for (int i = 0; i < n; i++) s += va_arg(ap, long);
    for (int i = 0; i < n; i++) s += 10 * va_arg(bp, long); va_end(ap); va_end(bp); return s; }
static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); } static int odd(int n); static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); } static int counter(void) { static int n = 5; return n++; }
static int other(void) { static int n = 50; { static int n = 7; n++; if (n > 8) return n; } return n++; }
struct point { int x, y; }; struct nest { struct point p; int a[3]; char *name; }; struct flex { int n; int a[]; };
struct bits { int s : 3; unsigned u : 3; unsigned : 0; unsigned v : 9; signed w : 1; _Bool f : 1; }; union mix { unsigned u; unsigned char b[4]; float f; };
struct anon { int k; union { int i; struct { short lo, hi; }; }; }; enum small { RED, GREEN = 5, BLUE, LAST = -1 };
static struct point make(int x, int y) { struct point p = {x, y}; return p; } static struct point swap(struct point p) { int t = p.x; p.x = p.y; p.y = t; return p; }
static int apply(int (*f)(int, int), int a, int b) { return f(a, b); } static int (*choose(int n))(int, int) { return n ? add : sub; }
static int total(int n, int a[n]) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static unsigned collatz(unsigned n) { unsigned k = 0; again: if (n == 1) return k; n = n % 2 ? 3 * n + 1 : n / 2; k++; goto again; }
static void copy(int *restrict to, const int *restrict from, int n) { while (n-- > 0) *to++ = *from++; }
static int table[3][4] = {[1] = {[2] = 5, 6}, [2][0] = 7}; static const char *const names[] = {"zero", "one", "two"};
static _Thread_local int own = 3; static int late; static int *where = &table[1][2]; typedef int row[4];
"#;

/// Bodies of functions that return nothing.
const ALONE: &[&str] = &[
    // Conversions and promotions.
    "unsigned u = 1; int m = -1; assert(m > u); assert(!(m < (long)u) == 0); assert(-1 < (unsigned short)1);",
    "unsigned char c = 255; c++; assert(c == 0); c--; assert(c == 255); assert(c + 1 == 256); assert((unsigned char)(c + 1) == 0);",
    "signed char c = 127; c++; assert(c == -128); short s = 40000; assert(s == -25536); assert((char)200 < 0);",
    "unsigned char a = 0x80; assert(a << 1 == 256); assert(~a == -129); assert((unsigned char)~a == 0x7f); assert(-a == -128);",
    "assert(sizeof('a') == 4 && sizeof(char) == 1 && sizeof(1 ? (char)1 : (short)2) == 4 && sizeof(1L + 1) == 8 && sizeof(1.0f) == 4);",
    "unsigned short a = 65535; assert((unsigned)(a * 2) == 131070); unsigned long l = 1u << 31; assert(l == 2147483648ul);",
    "int m = -7; assert(m / 2 == -3 && m % 2 == -1 && m / -2 == 3 && 7 % -2 == 1 && -7 >> 1 == -4);",
    "assert(2147483647 + 1u == 2147483648u); assert(0xffffffff == 4294967295u); assert(sizeof(2147483648) == 8 && sizeof(0x80000000) == 4);",
    "assert((int)(unsigned char)-1 == 255 && (int)(signed char)255 == -1 && (unsigned)-1 == UINT_MAX && (_Bool)256 == 1 && (_Bool)0.5 == 1);",
    "long l = -1; unsigned u = 5; assert(l < u); unsigned long ul = 5; assert(l > ul); char c = -1; assert(c == 0xffffffff);",
    "int i = 5; float f = i / 2; assert(f == 2.0f); double d = i / 2.0; assert(d == 2.5); i = 3.99; assert(i == 3); i = -3.99; assert(i == -3);",
    "_Bool b = 2; assert(b == 1); b += 5; assert(b == 1); b--; assert(b == 0); b--; assert(b == 1); assert(!b == 0 && ~b == -2);",
    // Evaluation.
    "calls = 0; assert((zero() && bump()) == 0 && calls == 1); assert((bump() || bump()) && calls == 2); int r = (bump(), bump()); assert(r == calls && r == 4);",
    "int a = 1, b = 2; int c = (a = b, b = 5, a + b); assert(c == 7); for (a = 0, b = 9; a < b; a++, b--) ; assert(a == 5 && b == 4);",
    "int x = 3; x = x * x + (x ? 1 : bump()); assert(x == 10); x -= -x; assert(x == 20); x <<= 2; x |= 3; x ^= 1; assert(x == 82); x >>= 1; assert(x == 41); x %= 9; assert(x == 5);",
    "int a[4] = {0}; int i = 0; a[i++] += 5; assert(i == 1 && a[0] == 5 && a[1] == 0); int *p = a; *p++ += 1; assert(a[0] == 6 && p == a + 1); *++p = 9; assert(a[2] == 9); assert((*p)-- == 9 && a[2] == 8);",
    "calls = 0; int a[3] = {1, 2, 3}; a[bump()] *= 10; assert(calls == 1 && a[1] == 20); a[bump() - 1]++; assert(a[1] == 21 && calls == 2);",
    "calls = 0; int x = 1 ? 2 : bump(); assert(calls == 0 && x == 2); x = zero() ? bump() : bump() + 10; assert(calls == 2 && x == 12); assert((x ?: 5) == 12 && (0 ?: 5) == 5);",
    "int x = 0; assert(sizeof(x++) == 4 && x == 0); int n = 3; assert(sizeof(int[4]) == 16 && sizeof n++ == 4 && n == 3);",
    "int a = 1, b = 2, c = 3; assert((a < b < c) == 1 && (c > b > a) == 0 && (a == b == 0) == 1 && (1 & 3 == 3) == 1 && (a | b && c) == 1 && !a == 0);",
    "unsigned char c = 250; c += 10; assert(c == 4); c = 200; c *= 2; assert(c == 144); short s = 32767; s += 1; assert(s == -32768); c = 1; c <<= 9; assert(c == 0); c = 255; c /= -1; assert(c == 1);",
    "int x = 7; int y = x++ + 3; assert(x == 8 && y == 10); y = -x--; assert(y == -8 && x == 7); y = - -x; assert(y == 7); y = x+++2; assert(y == 9 && x == 8);",
    "volatile int v = 3; v = v + v; assert(v == 6); const volatile int *p = &v; assert(*p == 6); int *q = (int *)p; *q = 1; assert(v == 1);",
    // Control.
    "int n = 0; switch (3) { case 1: n += 1; case 3: n += 10; case 4: n += 100; break; case 5: n += 1000; default: n += 10000; } assert(n == 110);",
    "int n = 0; switch (9) { default: n++; case 1: n += 2; break; case 2: n = 50; } assert(n == 3); switch (-1) { case 0 ... 5: n = 0; break; case -3 ... -1: n = 77; } assert(n == 77);",
    "int n = 0, k = 7; switch (k % 4) { case 0: do { n++; case 3: n++; case 2: n++; case 1: n++; } while ((k -= 4) > 0); } assert(n == 7);",
    "unsigned char c = 255; int n = 0; switch (c + 1) { case 0: n = 1; break; case 256: n = 2; } assert(n == 2); switch ((unsigned char)(c + 1)) { case 0: n = 3; break; case 256: n = 4; } assert(n == 3);",
    "int n = 0; goto in; { int k; in: k = 5; n = k; } assert(n == 5); for (int i = 0; i < 3; i++) { for (;;) { if (i == 1) goto next; n++; break; } next:; } assert(n == 7);",
    "int n = 0; for (int i = 0; i < 10; i++) { if (i % 2) continue; if (i == 6) break; n += i; } assert(n == 6); do { n++; if (n == 8) continue; } while (n < 10); assert(n == 10); while (n --> 3) ; assert(n == 2);",
    "assert(collatz(6) == 8 && collatz(1) == 0 && collatz(27) == 111); assert(fact(10) == 3628800 && even(10) && !odd(10));",
    "int i = 10; { int i = 3; { extern int puts(const char *); int i = 4; assert(i == 4); } assert(i == 3); } assert(i == 10); for (int i = 0; i < 1; i++) assert(i == 0); assert(i == 10);",
    "void *t[] = {&&a, &&b, &&c}; int n = 0, i = 0; goto *t[i]; a: n += 1; i = 2; goto *t[i]; b: n += 10; goto end; c: n += 100; i = 1; goto *t[i]; end: assert(n == 111);",
    "int n = 3; int r = ({ int s = 0; while (n) s += n--; s; }); assert(r == 6 && n == 0); assert(__builtin_expect(r == 6, 1)); if (0) dead: n = 9; if (n == 0) goto dead; assert(n == 9);",
    // Pointers, arrays, structs.
    "int a[5] = {1, 2, 3}; assert(a[4] == 0 && 2[a] == 3 && *(a + 1) == 2 && &a[4] - &a[1] == 3 && sizeof a / sizeof *a == 5); int (*p)[5] = &a; assert((*p)[2] == 3 && (char *)(p + 1) - (char *)p == 20);",
    "assert(table[1][2] == 5 && table[1][3] == 6 && table[2][0] == 7 && table[0][0] == 0 && *where == 5); row *r = table; assert(r[1][3] == 6 && *(*(table + 2) + 0) == 7 && sizeof table == 48);",
    "int a[] = {[3] = 4, 5, [0] = 1, 2}; assert(sizeof a == 20 && a[0] == 1 && a[1] == 2 && a[2] == 0 && a[3] == 4 && a[4] == 5); int b[] = {1, [0] = 2}; assert(b[0] == 2 && sizeof b == 4);",
    "struct nest n = {.a = {[1] = 7}, .p.y = 2, .name = \"x\"}; assert(n.p.x == 0 && n.p.y == 2 && n.a[1] == 7 && n.a[2] == 0 && *n.name == 'x'); struct nest m = {1, 2, 3, 4, 5, 0}; assert(m.p.y == 2 && m.a[2] == 5 && !m.name);",
    "struct point p = make(1, 2), q = p; q.x = 9; assert(p.x == 1); p = swap(p); assert(p.x == 2 && p.y == 1 && swap(make(3, 4)).x == 4); struct point *r = &(struct point){5, 6}; r->x++; assert(r->x == 6 && (struct point){.y = 3}.y == 3);",
    "struct bits b = {0}; b.s = 5; assert(b.s == -3); b.u = 9; assert(b.u == 1); b.v = 511; b.v++; assert(b.v == 0); b.w = 1; assert(b.w == -1); b.f = 4; assert(b.f == 1); assert((b.s = 7) == -1 && (b.u += 7) == 0 && b.u-- == 0 && b.u == 7); assert(b.u - 8 < 0);",
    "union mix m = {.u = 0x01020304}; assert(m.b[0] == 4 && m.b[3] == 1); m.b[1] = 0xff; assert(m.u == 0x0102ff04); m.f = 1.0f; assert(m.u == 0x3f800000);",
    "struct anon a = {.k = 1, .lo = 2, .hi = 3}; assert(a.i == 0x30002); a.i = -1; assert(a.hi == -1 && a.lo == -1); assert(offsetof(struct anon, hi) == 6 && sizeof a == 8);",
    "assert(GREEN == 5 && BLUE == 6 && LAST < 0 && sizeof(enum small) == 4); enum small e = BLUE; e++; assert(e == 7); enum { BIG = 1LL << 40 }; assert(sizeof(BIG) == 8 && BIG > INT_MAX); enum unsigned_one { U } u = U; assert(u - 1 > 0);",
    "struct flex *f = malloc(sizeof *f + 3 * sizeof(int)); f->n = 3; for (int i = 0; i < 3; i++) f->a[i] = i * i; assert(f->a[2] == 4 && sizeof *f == 4); free(f);",
    "int (*ops[])(int, int) = {add, sub, [3] = mul}; assert(!ops[2] && ops[3](4, 5) == 20 && (*ops[1])(4, 5) == -1 && (**ops[0])(1, 1) == 2 && apply(&mul, 3, 3) == 9 && choose(0)(1, 2) == -1 && choose(1) == add);",
    "int n = 4; int a[n]; for (int i = 0; i < n; i++) a[i] = i; n = 9; assert(sizeof a == 16 && total(4, a) == 6);",
    "int s = 0; for (int i = 1; i < 4; i++) { int a[i]; for (int j = 0; j < i; j++) a[j] = j + 1; s += total(i, a); } assert(s == 10);",
    "char s[] = \"ab\\0cd\", t[2] = \"xy\", *u = \"con\" \"cat\"; assert(sizeof s == 6 && strlen(s) == 2 && s[3] == 'c' && t[1] == 'y' && strcmp(u, \"concat\") == 0 && \"abc\"[1] == 'b' && '\\x41' == 'A' && '\\101' == 65 && L'a' == 97);",
    "int a[3] = {1, 2, 3}, b[3]; copy(b, a, 3); assert(b[2] == 3 && memcmp(a, b, sizeof a) == 0); b[1] = 1; assert(memcmp(a, b, sizeof a) > 0); memmove(a + 1, a, 8); assert(a[0] == 1 && a[1] == 1 && a[2] == 2);",
    "int x = 1; int *p = &x, **pp = &p, ***ppp = &pp; ***ppp = 5; assert(x == 5); void *v = p; assert(*(int *)v == 5 && v == p && (char *)v + 4 == (char *)(p + 1)); uintptr_t n = (uintptr_t)p; assert(*(int *)n == 5 && n % 4 == 0); assert(!!p && !!!p == 0 && p != NULL);",
    "const char *s = names[2]; assert(s[0] == 't' && sizeof names / sizeof *names == 3); char c = *s++; assert(c == 't' && *s == 'w' && s[-1] == 't'); assert(strchr(names[0], 'r') - names[0] == 2);",
    "struct { int a : 4; int b; } x = {.a = 7}, *p = &x; p->a++; assert(p->a == -8); p->b = p->a; assert(x.b == -8); struct point a[2][2] = {{{1, 2}, {3, 4}}, {{5}}}; assert(a[0][1].y == 4 && a[1][0].x == 5 && a[1][0].y == 0 && a[1][1].x == 0);",
    "assert(_Alignof(long) == 8 && _Alignof(struct nest) == 8 && sizeof(struct { char c; long l; char d; }) == 24 && sizeof(struct { char c, d; short s; int i; }) == 8 && offsetof(struct nest, name) == 24 && sizeof(union mix) == 4 && sizeof(struct bits) == 8);",
    // Functions and storage.
    "int a = counter(), b = counter(); assert(b == a + 1); int c = other(), d = other(); assert(c >= 9 || c >= 50); (void)d;",
    "assert(sum(0) == 0 && sum(3, 1, 2, 3) == 6 && sum(2, (char)-1, (short)5) == 4 && wide(2, 3L, 1L << 40) == 11 * (3 + (1L << 40)));",
    "assert(_Generic(1, int: 1, long: 2, default: 3) == 1 && _Generic('a', char: 1, int: 2) == 2 && _Generic(1L, int: 1, default: 3) == 3 && _Generic(\"s\", char *: 4, default: 5) == 4 && _Generic((char)1, char: 6, int: 7) == 6);",
    "_Static_assert(sizeof(int) == 4, \"size\"); own += 2; assert(own >= 5); assert(late == 0 || late == 1); late = 1; struct { _Static_assert(1, \"in a struct\"); int x; } s = {3}; assert(s.x == 3);",
    "typedef int T; { T T = 3; assert(T == 3 && sizeof T == 4); } T x = 2; assert((T)2.9 == x); typedef int F(int, int); F *f = add; assert(f(1, 2) == 3); __typeof__(x) y = 7; __auto_type z = 3L; assert(y == 7 && sizeof z == 8);",
    "int *p = &(int){4}; *p += 1; assert(*p == 5); int k = 0; for (int i = 0; i < 3; i++) { int *q = (int[]){i, i + 1}; k += q[0] * q[1]; } assert(k == 8); assert(total(3, (int[3]){1, 2, 3}) == 6);",
    "char buffer[8]; assert(snprintf(buffer, sizeof buffer, \"%d-%s\", 12, \"abc\") == 6 && strcmp(buffer, \"12-abc\") == 0); assert(atoi(\" -42x\") == -42 && strtol(\"ff\", 0, 16) == 255 && abs(-3) == 3);",
    "jump: calls = 0; if (!bump() || zero() || (bump() && !zero())) calls += 100; assert(calls == 104); unsigned x = 0; x--; assert(x == UINT_MAX && x + 1 == 0); if (0) goto jump; long y = x; assert(y == 4294967295); y = (int)x; assert(y == -1);",
    "struct list { int v; struct list *next; } c = {3, 0}, b = {2, &c}, a = {1, &b}; int s = 0; for (struct list *p = &a; p; p = p->next) s = s * 10 + p->v; assert(s == 123); struct list **pp = &a.next; *pp = (*pp)->next; assert(a.next == &c && a.next->v == 3);",
    "unsigned long long h = 14695981039346656037ull; for (const char *p = \"raddle\"; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211ull; assert(h != 0); unsigned r = 0x80000001u; assert((r << 1 | r >> 31) == 3 && (int)r < 0 && (int)r >> 31 == -1 && r >> 31 == 1); assert(__builtin_popcount(r) == 2 && __builtin_ctz(8) == 3);",
];

/// Programs of several threads, and what is found in them.
const TOGETHER: &[(Option<Property>, &str)] = &[
    (None, "struct box { pthread_mutex_t m; int n; } *b; void *f(void *a) { pthread_mutex_lock(&b->m); b->n++; pthread_mutex_unlock(&b->m); return a; }
        int main(void) { pthread_t s, t; b = malloc(sizeof *b); pthread_mutex_init(&b->m, 0); b->n = 0; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0);
        pthread_join(s, 0); pthread_join(t, 0); assert(b->n == 2); pthread_mutex_destroy(&b->m); free(b); }"),
    (Some(Property::Assert), "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n; void *f(void *a) { if (pthread_mutex_trylock(&m) == 0) { n++; pthread_mutex_unlock(&m); } return a; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_join(s, 0); pthread_join(t, 0); assert(n == 2); }"),
    (None, "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n; void *f(void *a) { int e = pthread_mutex_trylock(&m); if (e == 0) { n++; pthread_mutex_unlock(&m); } else assert(e == EBUSY); return a; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_join(s, 0); pthread_join(t, 0); assert(n >= 1); }"),
    (Some(Property::Race), "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int n; void *f(void *a) { pthread_rwlock_rdlock(&l); n++; pthread_rwlock_unlock(&l); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); }"),
    (None, "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; int n; void *f(void *a) { pthread_rwlock_wrlock(&l); n++; pthread_rwlock_unlock(&l); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); int k = n; assert(k == 0 || k == 1); assert(k == n); pthread_rwlock_unlock(&l); pthread_join(t, 0); }"),
    (None, "pthread_once_t o = PTHREAD_ONCE_INIT; int n; void init(void) { n++; } void *f(void *a) { pthread_once(&o, init); assert(n == 1); return a; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_join(s, 0); pthread_join(t, 0); assert(n == 1); }"),
    (Some(Property::Deadlock), "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
        void *f(void *a) { ready = 1; pthread_cond_signal(&c); return a; }
        int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_mutex_unlock(&m); pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(t, 0); }"),
    (None, "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
        void *f(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(t, 0); }"),
    (Some(Property::Deadlock), "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
        void *f(void *a) { pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); pthread_join(s, 0); pthread_join(t, 0); }"),
    (None, "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
        void *f(void *a) { pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); ready = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); pthread_join(s, 0); pthread_join(t, 0); }"),
    (None, "sem_t full, empty; int item; void *f(void *a) { for (int i = 1; i < 3; i++) { sem_wait(&empty); item = i; sem_post(&full); } return a; }
        int main(void) { pthread_t t; sem_init(&full, 0, 0); sem_init(&empty, 0, 1); pthread_create(&t, 0, f, 0); for (int i = 1; i < 3; i++) { sem_wait(&full); assert(item == i); sem_post(&empty); } pthread_join(t, 0); }"),
    (Some(Property::Race), "sem_t s; int item; void *f(void *a) { sem_wait(&s); item++; sem_post(&s); return a; }
        int main(void) { pthread_t t; sem_init(&s, 0, 2); pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); }"),
    (None, "pthread_barrier_t b; int x, y; void *f(void *a) { x = 1; pthread_barrier_wait(&b); assert(y == 1); return a; }
        int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); y = 1; int r = pthread_barrier_wait(&b); assert(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD); assert(x == 1); pthread_join(t, 0); }"),
    (Some(Property::Deadlock), "pthread_barrier_t b; void *f(void *a) { pthread_barrier_wait(&b); return a; }
        int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 3); pthread_create(&t, 0, f, 0); pthread_barrier_wait(&b); pthread_join(t, 0); }"),
    (Some(Property::Assert), "int n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void *f(void *a) { pthread_mutex_lock(&m); n = 1; pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_detach(t); pthread_mutex_lock(&m); assert(n == 1); pthread_mutex_unlock(&m); }"),
    (None, "mtx_t m; int n; int f(void *a) { mtx_lock(&m); n += *(int *)a; int now = n; mtx_unlock(&m); return now > 0; }
        int main(void) { thrd_t s, t; int one = 1, two = 2, r; mtx_init(&m, mtx_plain); assert(thrd_create(&s, f, &one) == thrd_success); thrd_create(&t, f, &two); thrd_join(s, &r); thrd_join(t, 0); assert(n == 3 && r == 1); mtx_destroy(&m); }"),
    (Some(Property::Assert), "mtx_t m; int n; int f(void *a) { struct timespec ts = {1, 0}; if (mtx_timedlock(&m, &ts) == thrd_success) { n++; mtx_unlock(&m); } return 0; }
        int main(void) { thrd_t s; mtx_init(&m, mtx_timed); thrd_create(&s, f, 0); mtx_lock(&m); n++; mtx_unlock(&m); thrd_join(s, 0); assert(n == 2); }"),
    (None, "mtx_t m; cnd_t c; int n; int f(void *a) { mtx_lock(&m); n = 1; cnd_signal(&c); mtx_unlock(&m); return 0; }
        int main(void) { thrd_t s; mtx_init(&m, mtx_plain); cnd_init(&c); thrd_create(&s, f, 0); mtx_lock(&m); while (!n) { struct timespec ts = {1, 0}; int r = cnd_timedwait(&c, &m, &ts); if (r == thrd_timedout) break; assert(r == thrd_success); } mtx_unlock(&m); thrd_join(s, 0); }"),
    (None, "_Thread_local int mine = 1; atomic_int sum; void *f(void *a) { mine += (int)(intptr_t)a; sum += mine; return 0; }
        int main(void) { pthread_t s, t; pthread_create(&s, 0, f, (void *)10); pthread_create(&t, 0, f, (void *)20); pthread_join(s, 0); pthread_join(t, 0); assert(sum == 32 && mine == 1); }"),
    (Some(Property::Assert), "atomic_int x; void *f(void *a) { x = x + 1; return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == 2); }"),
    (None, "atomic_int x; void *f(void *a) { x += 1; x++; return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == 4); }"),
    (Some(Property::Assert), "atomic_int x, y; void *f(void *a) { if (x && y) assert(0); return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 1; y = 1; x = 0; y = 0; pthread_join(t, 0); }"),
    (None, "atomic_int x, y; void *f(void *a) { if (y && !x) assert(0); return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 1; y = 1; pthread_join(t, 0); }"),
    (None, "atomic_uchar x; void *f(void *a) { for (int i = 0; i < 2; i++) x += 128; return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(x == 0); }"),
    (None, "atomic_int x = 5; void *f(void *a) { int e = 5; if (!atomic_compare_exchange_strong(&x, &e, 7)) assert(e == 9); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int e = 5; if (!atomic_compare_exchange_strong(&x, &e, 9)) assert(e == 7); pthread_join(t, 0); assert(x == 7 || x == 9); }"),
    (None, "atomic_flag l = ATOMIC_FLAG_INIT; int n; void *f(void *a) { while (atomic_flag_test_and_set(&l)) ; n++; atomic_flag_clear(&l); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); assert(n == 2); }"),
    (Some(Property::Race), "int data; atomic_int flag; void *f(void *a) { data = 1; atomic_store_explicit(&flag, 1, memory_order_relaxed); return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (atomic_load_explicit(&flag, memory_order_acquire)) data++; pthread_join(t, 0); }"),
    (None, "struct node { int v; struct node *next; }; _Atomic(struct node *) top; void push(int v) { struct node *n = malloc(sizeof *n); n->v = v; n->next = atomic_load(&top); while (!atomic_compare_exchange_weak(&top, &n->next, n)) ; }
        void *f(void *a) { push(1); return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); push(2); pthread_join(t, 0); int s = 0; for (struct node *n = top; n; n = n->next) s += n->v; assert(s == 3); }"),
    (Some(Property::Memory), "int *p; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void *f(void *a) { pthread_mutex_lock(&m); free(p); pthread_mutex_unlock(&m); return a; }
        int main(void) { p = malloc(4); *p = 1; pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); int v = *p; pthread_mutex_unlock(&m); pthread_join(t, 0); return v - 1; }"),
    (Some(Property::Lock), "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void *f(void *a) { pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_mutex_unlock(&m); }"),
    (None, "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); return a; }
        int main(void) { pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&m, &at); pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); }"),
    (Some(Property::Deadlock), "pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER; void *f(void *p) { pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); pthread_join(t, 0); }"),
    (Some(Property::Memory), "int *leak; void *f(void *a) { int local = 5; leak = &local; return a; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return *leak - 5; }"),
    (None, "void *f(void *a) { pthread_exit((void *)7); } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); assert(pthread_join(t, &r) == 0); assert(r == (void *)7); }"),
    (None, "pthread_key_t k; void *f(void *a) { assert(pthread_getspecific(k) == 0); pthread_setspecific(k, a); assert(pthread_getspecific(k) == a); return 0; }
        int main(void) { int x; pthread_t t; pthread_key_create(&k, 0); pthread_setspecific(k, &k); pthread_create(&t, 0, f, &x); pthread_join(t, 0); assert(pthread_getspecific(k) == &k); }"),
    (None, "struct shared { atomic_int n; struct { sem_t s; int v; } in[2]; } *g; void *f(void *a) { g->in[1].v = 4; sem_post(&g->in[1].s); return a; }
        int main(void) { g = calloc(1, sizeof *g); sem_init(&g->in[1].s, 0, 0); pthread_t t; pthread_create(&t, 0, f, 0); sem_wait(&g->in[1].s); assert(g->in[1].v == 4); pthread_join(t, 0); }"),
];

#[test]
fn the_compiler_agrees_with_what_is_asserted() {
    let mut text = format!("{HEAD}{DECLARATIONS}");
    for (number, body) in ALONE.iter().enumerate() {
        writeln!(text, "static void f{number}(void) {{ {body} }}").expect("a string takes everything");
    }
    text.push_str("int main(void) { ");
    for number in 0..ALONE.len() {
        write!(text, "f{number}(); ").expect("a string takes everything");
    }
    text.push_str("return 0; }\n");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (folder.join("c_corners_native.c"), folder.join("c_corners_native"));
    std::fs::write(&source, text).expect("the folder for such files is there");
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-std=gnu11", "-O0", "-pthread", "-o"]).arg(&binary).arg(&source);
    let compiled = compiler.output().expect("cc can be run");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&binary).output().expect("the program can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn one_thread_does_what_the_compiler_makes_of_it() {
    let mut wrong = Vec::new();
    for body in ALONE {
        let text = format!("{DECLARATIONS}\nint main(void) {{ {body}\nreturn 0; }}\n");
        let loaded = load(&file(&text), &LoadOptions::default());
        let Ok(loaded) = loaded.map_err(|error| wrong.push(format!("{error}\n{body}"))) else { continue };
        let outcome = verify(&loaded.program, &Settings::new(Model::Sc), &Control::new());
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
        if outcome.verdict != Verdict::Holds {
            let finding = outcome.findings.first().map(|finding| finding.violation().message.clone());
            wrong.push(format!("{finding:?} {}\n{body}", outcome.scope));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn several_threads_do_what_is_said_of_them() {
    let mut wrong = Vec::new();
    for (expected, text) in TOGETHER {
        let outcome = check(text);
        let found = outcome.findings.first().map(|finding| finding.violation().property);
        if found != *expected || (outcome.verdict == Verdict::Holds) != expected.is_none() {
            let message = outcome.findings.first().map(|finding| finding.violation().message.clone());
            wrong.push(format!("{found:?} instead of {expected:?}, {message:?} {}\n{text}", outcome.scope));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
