//! Inline assembly as headers for one architecture have it. The compiler's own program has to agree with what is asserted, where it can be made, and then Raddle.

use raddle::{Control, LoadOptions, Model, Outcome, Settings, Verdict, load, verify};
use std::path::{Path, PathBuf};
use std::process::Command;

fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the folder for such files is there");
    path
}

fn check(path: &Path) -> Outcome {
    let loaded = load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    verify(&loaded.program, &Settings::new(Model::Sc), &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Holds, also by the processor if it is one of the right kind, and not if any of its assertions is turned round.
fn asserts(name: &str, text: &str) {
    let path = written(&format!("asm_{name}.c"), text);
    if cfg!(target_arch = "x86_64") {
        let program = path.with_extension("run");
        let compiled =
            Command::new("cc").args(["-w", "-O1", "-mcx16", "-pthread", "-o"]).arg(&program).arg(&path).status();
        assert!(compiled.is_ok_and(|status| status.success()), "{name} is not compiled");
        assert!(Command::new(&program).status().is_ok_and(|status| status.success()), "{name} fails");
    }
    assert_eq!(check(&path).verdict, Verdict::Holds, "{name}");
    let places: Vec<usize> = text.match_indices("assert(").map(|(at, _)| at + "assert(".len()).collect();
    for at in places.into_iter().step_by(4) {
        let wrong = format!("{}!({}", &text[..at], text[at..].replacen(");", "));", 1));
        let path = written(&format!("asm_{name}_{at}.c"), &wrong);
        assert_eq!(check(&path).verdict, Verdict::Violated, "{name} at {at}");
    }
}

/// Operations are made for types by macros; what stands in memory is called a `char` where it is a pointer, and the instruction says how wide it is.
#[test]
fn an_operand_is_as_wide_as_its_instruction() {
    asserts(
        "widths",
        r#"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#define LOAD(S, M, T, C, I) static T load_##S(const M *t) { T r; __asm__ volatile(I " %1, %0" : "=q"(r) : "m"(*(const C *)t) : "memory"); return r; }
#define STORE(S, M, T, C, I) static void store_##S(M *t, T v) { __asm__ volatile(I " %1, %0" : "=m"(*(C *)t) : "q"(v) : "memory"); }
#define SWAP(S, M, T, C, I) static T swap_##S(M *t, T v) { __asm__ volatile(I " %0, %1" : "+m"(*(C *)t), "+q"(v) : : "memory"); return v; }
#define ADD(S, M, T, C, I) static T add_##S(M *t, T d) { __asm__ volatile("lock " I " %1, %0" : "+m"(*(C *)t), "+q"(d) : : "memory", "cc"); return d; }
#define CAS(S, M, T, C, I) static bool cas_##S(M *t, T c, T s) { bool z; \
    __asm__ volatile("lock " I " %2, %0; setz %1" : "+m"(*(C *)t), "=a"(z) : "q"(s), "a"(c) : "memory", "cc"); return z; }
#define ALL(S, M, T, C, L) LOAD(S, M, T, C, "mov" L) STORE(S, M, T, C, "mov" L) SWAP(S, M, T, C, "xchg" L) ADD(S, M, T, C, "xadd" L) CAS(S, M, T, C, "cmpxchg" L)
ALL(8, uint8_t, uint8_t, uint8_t, "b") ALL(16, uint16_t, uint16_t, uint16_t, "w")
ALL(32, uint32_t, uint32_t, uint32_t, "l") ALL(64, uint64_t, uint64_t, uint64_t, "q")
LOAD(ptr, void, void *, char, "movq") STORE(ptr, void, void *, char, "movq") SWAP(ptr, void, void *, char, "xchgq") CAS(ptr, void, void *, char, "cmpxchgq")
static void increase(void *p) { struct large { long words[100]; }; __asm__ volatile("lock; incl %0" : "=m"(*(struct large *)p) : : "memory"); }
int main(void) {
    static int a, b; static void *head = &a;
    assert(load_ptr(&head) == &a);
    assert(cas_ptr(&head, &a, &b));
    assert(head == &b);
    assert(!cas_ptr(&head, &a, &b));
    assert(swap_ptr(&head, 0) == &b);
    store_ptr(&head, &a);
    assert(head == &a);
    uint8_t n8 = 250; uint16_t n16 = 65535; uint32_t n32 = 7; uint64_t n64 = 1ull << 40;
    assert(add_8(&n8, 10) == 250);
    assert(n8 == 4);
    assert(add_16(&n16, 1) == 65535);
    assert(n16 == 0);
    assert(load_32(&n32) == 7);
    assert(cas_64(&n64, 1ull << 40, 3));
    assert(n64 == 3);
    increase(&n32);
    assert(n32 == 8);
    return 0;
}
"#,
    );
}

#[test]
fn locked_updates_of_one_word_and_of_two() {
    asserts(
        "updates",
        r#"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#define ONE(K, I) static bool K(unsigned *t) { bool r; __asm__ volatile("lock " I " %0; setz %1" : "+m"(*t), "=rm"(r) : : "memory", "cc"); return r; }
ONE(increase, "incl") ONE(negate, "negl")
static void turn(unsigned *t) { __asm__ volatile("lock notl %0" : "+m"(*t) : : "memory", "cc"); }
static void both(const uint64_t t[2], uint64_t v[2]) {
    __asm__ volatile("movq %%rdx, %%rcx; movq %%rax, %%rbx; lock cmpxchg16b %2;"
        : "=a"(v[0]), "=d"(v[1]) : "m"(*(const uint64_t *)t) : "%rbx", "%rcx", "memory", "cc");
}
static unsigned settle(unsigned *t, unsigned to) { unsigned seen = 1;
    __asm__ volatile("1: lock; cmpxchgl %2, %1; jne 1b" : "+a"(seen), "+m"(*t) : "r"(to) : "memory", "cc"); return seen; }
static bool last(unsigned *t) { bool c; __asm__ volatile("\n\tlock; decl %0" "\n\t/* output condition code e*/\n" : "+m"(*t), "=@cce"(c) : : "memory"); return c; }
static unsigned long never(int size) { if (size == 4) return 1; __asm__ volatile("ud2"); return 0; }
int main(void) {
    unsigned x = -1u;
    assert(increase(&x));
    assert(negate(&x));
    x = 5;
    assert(!negate(&x));
    assert(x == -5u);
    turn(&x);
    assert(x == 4);
    /* The second time it expects what it found. */
    assert(settle(&x, 9) == 4);
    assert(x == 9);
    _Alignas(16) uint64_t pair[2] = { 3, 4 }, seen[2];
    both(pair, seen);
    assert(seen[0] == 3);
    assert(seen[1] == 4);
    x = 2;
    assert(!last(&x));
    assert(last(&x));
    assert(never(4) == 1);
    return 0;
}
"#,
    );
}

#[test]
fn instructions_that_compute() {
    asserts(
        "computing",
        r#"
#include <assert.h>
#include <stdint.h>
static int lowest(uint64_t x) { int r = -1; __asm__("bsfq %1,%q0" : "+r"(r) : "rm"(x)); return r + 1; }
static int highest(int x) { int r; __asm__("bsrl %1,%0\n\tcmovzl %2,%0" : "=&r"(r) : "rm"(x), "rm"(-1)); return r + 1; }
static int leading(uint64_t x) { __asm__("bsr %1,%0 ; xor $63,%0" : "=r"(x) : "r"(x)); return x; }
static unsigned long scanned(unsigned long w) { __asm__("rep; bsf %1,%0 # the lowest" : "=r"(w) : "rm"(w)); return w; }
static uint32_t swapped(uint32_t x) { __asm__("bswap %0" : "+r"(x)); return x; }
static uint16_t halves(uint16_t x) { __asm__("rorw $8, %w0" : "+r"(x)); return x; }
static uint32_t mixed(uint32_t a, uint32_t b) { uint32_t r; __asm__("movl %1,%0; addl %2,%0; shll $3,%0; notl %0; negl %0; decl %0" : "=&r"(r) : "r"(a), "r"(b)); return r; }
static unsigned tied(unsigned a) { unsigned r; __asm__("addl %0,%0; subl $1,%0; andl $0xff,%0; orl $0x100,%0" : "=r"(r) : "0"(a)); return r; }
static unsigned none(unsigned a) { __asm__("xorl %0,%0" : "=r"(a)); return a; }
static int larger(int a, int b) { int r = b; __asm__("cmpl %2,%1; cmovne %1,%0" : "+r"(r) : "r"(a), "r"(b)); return r; }
static long request(long otherwise) { volatile unsigned long args[6] = { 1 }; volatile long result;
    __asm__ volatile("rolq $3, %%rdi ; rolq $13, %%rdi\n\trolq $61, %%rdi ; rolq $51, %%rdi\n\txchgq %%rbx,%%rbx" : "=d"(result) : "a"(&args[0]), "0"(otherwise) : "cc", "memory");
    return result; }
int main(void) {
    assert(lowest(8) == 4);
    assert(lowest(0) == 0);
    assert(lowest(1ull << 40) == 41);
    assert(highest(9) == 4);
    assert(highest(0) == 0);
    assert(leading(1) == 63);
    assert(scanned(24) == 3);
    assert(swapped(0x01020304) == 0x04030201);
    assert(halves(0x1234) == 0x3412);
    assert(mixed(1, 2) == 24);
    assert(tied(5) == 0x109);
    assert(none(7) == 0);
    assert(larger(3, 3) == 3);
    assert(larger(4, 3) == 4);
    assert(request(42) == 42);
    return 0;
}
"#,
    );
}
