//! Claims about escape on small programs, and that nothing an inclusion-based analysis finds is missed.

use super::inclusion::by_inclusion;
use super::*;
use crate::parse;
use crate::testing::random_program;
use raddle_testkit::Random;

/// Which of the named local objects of `main` may escape, and how many allocations.
fn escaping(text: &str) -> (Vec<String>, usize) {
    let program = parse("test.rdl", text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let found = escape(&program);
    let main = program.entry.expect("a valid program has an entry");
    let locals = &program.functions[main.index()].locals;
    let names = locals.iter().enumerate().filter(|(index, _)| found.locals[main.index()][*index]);
    (names.map(|(_, local)| local.name.clone()).collect(), found.allocs.len())
}

#[test]
fn an_object_whose_address_stays_here_is_private() {
    let text = "fn set(p: ptr) { store i32 *p, 1; }
        fn main() { var x: i32; var a: i32[4]; store x, 1; set(&x); let i = load x; store a[i], 2; }";
    assert_eq!(escaping(text), (vec![], 0));
}

#[test]
fn an_object_given_to_a_thread_escapes() {
    let text = "fn work(p: ptr) { store i32 *p, 1; }
        fn main() { var x: i32; var y: i32; spawn work(&x); store y, 1; }";
    assert_eq!(escaping(text), (vec!["x".to_owned()], 0));
}

#[test]
fn an_object_stored_in_shared_memory_escapes_and_what_it_points_to() {
    let text = "global head: ptr;
        fn main() { var far: i32; var near: ptr; var own: i32; store near, &far; let p = &near; store head, p; store own, 1; }";
    assert_eq!(escaping(text), (vec!["far".to_owned(), "near".to_owned()], 0));
}

#[test]
fn a_pointer_in_a_private_structure_stays_private() {
    let text = "fn main() {
        let list = alloc 16; let node = alloc 16;
        store ptr *list, node;
        let first: ptr = load *list;
        store i32 *first, 1;
        free node; free list;
    }";
    assert_eq!(escaping(text), (vec![], 0));
}

#[test]
fn a_pointer_that_leaves_through_a_private_structure_escapes() {
    let text = "global out: ptr;
        fn main() {
            let list = alloc 16; let node = alloc 16; let other = alloc 16;
            store ptr *list, node;
            let first: ptr = load *list;
            store out, first;
        }";
    assert_eq!(escaping(text).1, 1);
}

#[test]
fn a_pointer_hidden_in_a_number_is_followed() {
    let text = "global out: i64; fn main() { var x: i32; let n = zext(i64, &x); store out, n + 8; }";
    assert_eq!(escaping(text), (vec!["x".to_owned()], 0));
}

#[test]
fn what_a_helper_returns_is_followed() {
    let text = "global out: ptr;
        fn same(p: ptr) -> ptr { return p; }
        fn main() { var x: i32; let p = same(&x); store out, p; }";
    assert_eq!(escaping(text), (vec!["x".to_owned()], 0));
}

#[test]
fn calls_through_pointers_and_results_of_threads_escape() {
    let text = "fn callee(p: ptr) { }
        fn main() { var x: i32; let f = &callee; call *f(&x); }";
    assert_eq!(escaping(text).0, ["x"]);
    let text = "fn work() -> ptr { let p = alloc 4; return p; }
        fn main() { let t = spawn work(); let p: ptr = join t; }";
    assert_eq!(escaping(text).1, 1);
}

#[test]
fn a_thread_local_object_is_private_until_its_address_is_shared() {
    let program = parse(
        "t.rdl",
        "thread_local global a: i32; thread_local global b: i32; global p: ptr;
        fn main() { store a, 1; store p, &b; }",
        &[],
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(escape(&program).globals, [false, true, true]);
}

#[test]
fn a_synchronisation_object_is_never_private() {
    let text = "fn main() { var m: mutex; var c: cond; var x: i32; store x, 1;
        let p = alloc zeroed 4; lock m; wait c, m; unlock m; sem_post *p; }";
    assert_eq!(escaping(text), (vec!["m".to_owned(), "c".to_owned()], 1));
}

/// A program that moves pointers about.
fn random_pointers(rng: &mut Random) -> Program {
    let mut body = |objects: bool| {
        let mut out = String::new();
        for _ in 0..2 + rng.below(8) {
            let (p, q) = (rng.pick(&["p", "q", "r"]), rng.pick(&["p", "q", "r"]));
            let object = rng.pick(&["a", "b", "c", "own"]);
            out += &match rng.below(14) {
                0..3 if objects => format!("{p} = &{object};"),
                3 | 4 => format!("store ptr *{p}, {q};"),
                5 | 6 => format!("{p} = load *{q};"),
                7 => format!("{p} = helper({q}, {p});"),
                8 => format!("{p} = alloc 8;"),
                9 => format!("n = zext(i64, {p}); {q} = zext(ptr, n + 8);"),
                10 => format!("{p} = p == q ? q : r;"),
                11 if rng.one_in(3) => format!("store shared, {p};"),
                12 if rng.one_in(3) => format!("spawn work({p});"),
                _ => format!("store own, {p}; {q} = load own;"),
            };
        }
        out
    };
    let (main, helper, work) = (body(true), body(false), body(false));
    let regs = "let p: ptr; let q: ptr; let r: ptr; let n: i64;";
    let text = format!(
        "global shared: ptr; thread_local global own: ptr;
         fn main() {{ {regs} var a: ptr; var b: ptr; var c: ptr; {main} }}
         fn helper(p: ptr, q: ptr) -> ptr {{ let r: ptr; let n: i64; {helper} return q; }}
         fn work(p: ptr) {{ let q: ptr; let r: ptr; let n: i64; {work} }}"
    );
    parse("random.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn nothing_that_escapes_by_inclusion_is_called_private() {
    let mut rng = Random::new(31);
    let (mut private, mut shared, mut least_shared) = (0, 0, 0);
    for round in 0..4000 {
        let program = if round % 4 == 0 { random_program(&mut rng) } else { random_pointers(&mut rng) };
        let (found, least) = (escape(&program), by_inclusion(&program));
        let text = || crate::print(&program);
        for (found, least) in found.globals.iter().zip(&least.globals) {
            assert!(found >= least, "{}", text());
        }
        for (found, least) in found.locals.iter().flatten().zip(least.locals.iter().flatten()) {
            assert!(found >= least, "{}", text());
            if *found {
                shared += 1
            } else {
                private += 1
            }
            least_shared += usize::from(*least);
        }
        assert!(least.allocs.is_subset(&found.allocs), "{}", text());
    }
    println!("{private} private and {shared} shared local objects, {least_shared} by inclusion");
    assert!(private > 500 && shared > 500);
}
