//! `--32`: sizes, layout and pointers are those of a 32-bit compiler.
//!
//! What the programs here print was checked against `cc -m32`. The random programs of `semantics` are compared with what any compiler makes of
//! them when their types are spelled out; where there is `cc -m32`, it can be asked as well:
//! `cargo test -p raddle-c --test ilp32 -- --ignored`.

mod support;

use raddle_testkit::Scratch;
use support::{compile_file, differences, run};

fn narrow() -> raddle_c::Options {
    raddle_c::Options { ilp32: true, ..raddle_c::Options::default() }
}

fn prints(body: &str) -> String {
    let scratch = Scratch::new();
    let source = scratch.file("p.c", body);
    let program = compile_file(&source, &narrow()).unwrap_or_else(|error| panic!("rejected: {error}"));
    run(&program).unwrap_or_else(|error| panic!("{error}"))
}

const LAYOUT: &str = r#"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
struct wide { char c; long long l; };
struct mixed { char c; void *p; short s; };
struct aligned { char c; _Atomic long long l; };
struct floats { char c; double d; long double e; };
union both { void *p; char b[6]; long l; };
struct bits { unsigned a : 3; long long b : 40; unsigned c : 8; void *p; };
struct flexible { int n; void *items[]; };
int main(void) {
    printf("%zu %zu %zu %zu\n", sizeof(void *), sizeof(long), sizeof(size_t), sizeof(uintptr_t));
    printf("%zu %zu %zu %zu\n", sizeof(struct wide), sizeof(struct mixed), sizeof(struct aligned), sizeof(union both));
    printf("%zu %zu %zu %zu\n", sizeof(struct floats), sizeof(struct bits), sizeof(struct flexible), sizeof(int *[3]));
    printf("%zu %zu %zu\n", offsetof(struct wide, l), offsetof(struct mixed, s), offsetof(struct aligned, l));
    printf("%zu %zu %zu\n", _Alignof(long long), _Alignof(_Atomic long long), _Alignof(void *));
    printf("%lu %ld %zu\n", -1L, -1L, (size_t)-1);
    return 0;
}
"#;

#[test]
fn sizes_and_layout_are_those_of_a_32_bit_compiler() {
    let expected = "4 4 4 4\n12 12 16 8\n24 12 4 12\n4 8 8\n4 8 4\n4294967295 -1 4294967295\n";
    assert_eq!(prints(LAYOUT), expected);
}

const POINTERS: &str = r#"
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; };
static int table[4] = {1, 2, 3, 4};
static int *third = &table[2];
static uintptr_t number = (uintptr_t)&table[1];
static int twice(int x) { return 2 * x; }
static int (*operations[])(int) = {0, twice};
int main(void) {
    int x = 5;
    int *p = &x;
    uintptr_t n = (uintptr_t)p;
    *(int *)n = 7;
    printf("%d %d\n", x, p == (int *)n);
    printf("%d %d %d\n", *third, *(int *)number, operations[1](21));
    _Atomic(int *) shared = table;
    atomic_fetch_add(&shared, 2);
    printf("%d", *shared);
    shared++;
    printf(" %d", *shared);
    shared -= 2;
    int *expected = &table[1];
    printf(" %d", atomic_compare_exchange_strong(&shared, &expected, &x));
    printf(" %d", *atomic_exchange(&shared, third));
    expected = 0;
    printf(" %d %d\n", atomic_compare_exchange_strong(&shared, &expected, p), expected == third);
    void *tagged = (void *)((uintptr_t)&x | 1);
    printf("%d %d\n", *(int *)((uintptr_t)tagged & ~(uintptr_t)1), (int)((uintptr_t)tagged & 1));
    void *odd[3] = {(void *)-1, (void *)1, (void *)0x12345678};
    printf("%d %d %d %d\n", odd[0] == (void *)-1, (int)(intptr_t)odd[0], (int)(intptr_t)odd[1], odd[2] == (void *)0x12345678);
    struct node *list = 0;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){list, i};
        list = node;
    }
    while (list) {
        struct node copy;
        memcpy(&copy, list, sizeof copy);
        free(list);
        printf("%d ", copy.value);
        list = copy.next;
    }
    union { int *p; unsigned char bytes[sizeof(int *)]; } raw = {p}, again;
    for (unsigned i = 0; i < sizeof raw; i++)
        again.bytes[i] = raw.bytes[i];
    printf("%d\n", *again.p);
    unsigned back = -1u;
    int *middle = &table[2];
    printf("%d %d %d\n", middle[(int)back], *(middle + back), (int)((char *)(table + 4) - (char *)table));
    long long wide = (intptr_t)-2;
    printf("%lld\n", wide);
    return 0;
}
"#;

#[test]
fn pointers_become_numbers_and_come_back() {
    let expected = "7 1\n3 2 42\n3 4 1 7 0 1\n7 1\n1 -1 1 1\n2 1 0 7\n2 2 16\n-2\n";
    assert_eq!(prints(POINTERS), expected);
}

#[test]
fn errors_of_memory_are_found_through_stored_pointers() {
    let cases = [
        ("int a[4]; int *p; int main(void) { p = a; p += 4; return *p; }", "out of bounds"),
        ("int a[4], b[4]; int *p; int main(void) { p = a; p += 100000; return *p; }", "no pointer to anything"),
        (
            "int a[4]; unsigned long p; int main(void) { p = (unsigned long)a; return *(int *)(p + 16); }",
            "out of bounds",
        ),
        ("int *p; int main(void) { return *p; }", "null pointer"),
        (
            "void *malloc(unsigned n); void free(void *p); int *p;
             int main(void) { p = malloc(4); *p = 1; free(p); return *p; }",
            "after its life has ended",
        ),
        ("int (*f)(void); int main(void) { f = (int (*)(void))8; return f(); }", "no function"),
    ];
    for (text, message) in cases {
        let scratch = Scratch::new();
        let source = scratch.file("p.c", text);
        let program = compile_file(&source, &narrow()).unwrap_or_else(|error| panic!("rejected: {error}\n{text}"));
        let error = run(&program).expect_err(text);
        assert!(error.contains(message), "{text}\n{error}");
    }
}

/// A random program in which nothing depends on how wide `long`, `size_t` and `ptrdiff_t` are and how `long long` is aligned: they are what a
/// 32-bit compiler takes them for, in types that every compiler has.
fn spelled_out(text: &str) -> String {
    let types = "typedef long long wide __attribute__((aligned(4)));\n\
                 typedef unsigned long long unsigned_wide __attribute__((aligned(4)));\n";
    let words = [
        ("unsigned long long", "unsigned_wide"),
        ("long long", "wide"),
        ("long", "int"),
        ("%ld", "%d"),
        ("%lo", "%o"),
        ("%zu", "%u"),
        ("= (&", "= (int)(&"),
        ("sizeof", "(unsigned)sizeof"),
        ("offsetof", "(unsigned)offsetof"),
        ("_Alignof", "(unsigned)_Alignof"),
    ];
    let (headers, body) = text.split_at(text.find("stddef.h>\n").expect("the last header") + "stddef.h>\n".len());
    let body = words.iter().fold(body.to_owned(), |text, (from, to)| text.replace(from, to));
    format!("{headers}{types}{}", without_long_suffixes(&body))
}

/// `7l` becomes `7`, `7ul` becomes `7u`.
fn without_long_suffixes(text: &str) -> String {
    let mut result = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        result.push_str(if is_number { word.trim_end_matches('l') } else { &word });
        result.push(c);
        word.clear();
    }
    result
}

#[test]
fn random_programs_print_what_they_print_with_types_spelled_out() {
    differences(&[], spelled_out, &narrow());
}

#[test]
#[ignore = "needs a compiler with -m32 and its C library"]
fn random_programs_print_what_a_32_bit_compiler_says() {
    differences(&["-m32"], str::to_owned, &narrow());
}
