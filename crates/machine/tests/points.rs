//! What instructions may access.

mod support;

use raddle_machine::points::{Place, Pointers, accesses};
use support::code;

/// The objects that the stores of a program may be to, store by store. Numbers are those of global objects; what threads have made is behind them.
fn stores(text: &str) -> Vec<Vec<usize>> {
    let code = code(text);
    let pointers = Pointers::new(&code);
    let mut all = Vec::new();
    for pc in 0..code.len() {
        accesses(&code, pc, &mut |place, writes| {
            if let (Place::Memory(addr, _), true) = (place, writes) {
                all.push(pointers.of(&code, pc, addr).ones().collect());
            }
        });
    }
    all
}

const GLOBALS: &str = "global x: i32; global y: i32; global p: ptr;";

#[test]
fn a_pointer_stays_in_its_object_and_one_that_was_read_may_be_any() {
    let body = "fn main() { store x, 1; let e = alloc 8; store i32 *(e + 4), 2; store p, &y; let q: ptr = load p; store i32 *q, 3; }";
    assert_eq!(stores(&format!("{GLOBALS} {body}")), [vec![0], vec![3], vec![2], vec![0, 1, 2, 3]]);
}

#[test]
fn what_is_handed_over_points_where_it_did() {
    let bodies = "fn put(q: ptr) { store i32 *q, 1; } fn main() { let t = spawn put(&x); put(&y); join t; }";
    assert_eq!(stores(&format!("{GLOBALS} {bodies}")), [vec![0, 1]]);
}

#[test]
fn either_of_two_is_both_and_a_number_may_be_any() {
    let body = "fn main() { let c = choose 0..2; let q: ptr = c == 0 ? &x : &y; store i32 *q, 1; let n: i64 = choose 0..2; store i32 *zext(ptr, n), 2; }";
    assert_eq!(stores(&format!("{GLOBALS} {body}")), [vec![0, 1], vec![0, 1, 2, 3]]);
}
