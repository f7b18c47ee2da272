//! States: what can happen next, what it leads to, and which states are the same.

mod support;

use raddle_machine::System;
use raddle_trace::{Model, Step, ThreadId};
use std::collections::BTreeSet;
use support::{all, code, first_state};

const STORE_BUFFERING: &str = "global r: i32; global x: i32; global y: i32;
    fn a() { store x, 1; let v = load y; rmw.add r, v; }
    fn b() { store y, 1; let v = load x; rmw.add r, v; }
    fn main() { let s = spawn a(); let t = spawn b(); join s; join t; }";

#[test]
fn memories_differ_in_what_is_late() {
    let results = |text: &str| Model::OPERATIONAL.map(|model| all(text, model).results);
    let [sc, tso, pso] = results(STORE_BUFFERING);
    assert_eq!(sc, BTreeSet::from([1, 2]));
    assert_eq!((&tso, &pso), (&BTreeSet::from([0, 1, 2]), &tso));
    let fenced = STORE_BUFFERING.replace("; let v", "; fence.sc; let v");
    assert!(results(&fenced).iter().all(|results| *results == sc));
    // A message that overtakes its data.
    let passing = "global r: i32; global data: i32; global flag: i32;
        fn a() { store data, 1; store flag, 1; }
        fn main() { let t = spawn a(); let f = load flag; let d = load data; store r, f * 10 + d; join t; }";
    let [sc, tso, pso] = results(passing);
    assert_eq!((&sc, &tso), (&BTreeSet::from([0, 1, 11]), &sc));
    assert_eq!(pso, BTreeSet::from([0, 1, 10, 11]));
    assert_eq!(all(&passing.replace("store flag", "store.rel flag"), Model::Pso).results, sc);
}

#[test]
fn a_thread_sees_its_own_stores_byte_by_byte() {
    let text =
        "global r: i32; global x: i32; fn main() { store x, 0x01020304; store i8 x, 9i8; let v = load x; store r, v; }";
    for model in Model::OPERATIONAL {
        assert_eq!(all(text, model).results, BTreeSet::from([0x0102_0309]), "{model}");
    }
}

#[test]
fn a_program_that_never_ends_has_few_states() {
    let text = "global x: i32; fn a() { while true { store x, 1; store x, 0; } } fn main() { spawn a(); while true { let v = load x; } }";
    let met = all(text, Model::Sc);
    assert!(met.states < 40 && met.results.is_empty() && !met.stuck, "{met:?}");
}

#[test]
fn states_are_what_decides_how_a_run_goes_on() {
    let code =
        code("global x: i32; fn a() { rmw.add x, 1; } fn b() { rmw.add x, 1; } fn main() { spawn a(); spawn b(); }");
    let reached = |order: [u32; 4]| {
        let mut state = first_state(&code, Model::Sc);
        for thread in order {
            state.step(&code, Step::Run(ThreadId(thread)), &mut ()).expect("it can move");
        }
        state
    };
    // Main starts both; then they come in either order.
    assert_eq!(reached([0, 0, 1, 2]), reached([0, 0, 2, 1]));
    assert_eq!(reached([0, 1, 0, 2]), reached([0, 0, 2, 1]));
    let mut less = first_state(&code, Model::Sc);
    less.step(&code, Step::Run(ThreadId(0)), &mut ()).expect("it can move");
    assert_ne!(less, first_state(&code, Model::Sc));
}

#[test]
fn a_turn_of_a_loop_is_no_other_state() {
    // The loop looks at x and comes back, and the second look is where the first was.
    let text = "global x: i32; fn main() { spawn other(); let v = load x; while v == 0 { v = load x; } } fn other() { store x, 1; }";
    let met = all(text, Model::Sc);
    assert!(met.states <= 12 && !met.stuck, "{met:?}");
}

#[test]
fn a_step_that_is_not_possible_changes_nothing() {
    let code = code(STORE_BUFFERING);
    let mut system = System::new(&code, Model::Tso, true, false);
    let moves = system.moves();
    for wrong in [Step::Run(ThreadId(7)), Step::Flush(ThreadId(0)), Step::Choose(ThreadId(0), 1)] {
        assert!(!moves.contains(&wrong));
        let reason = system.step(wrong).expect_err("it is not among the moves");
        assert!(!reason.is_empty());
        assert_eq!(system.moves(), moves);
    }
    system.step(moves[0]).expect("it is among the moves");
}

#[test]
fn errors_of_memory_are_found_where_they_happen() {
    for (body, expected) in [
        ("let p = alloc 4; store i32 *p, 1; free p; store i32 *p, 2;", "after its life has ended"),
        ("let p = alloc 4; free p; free p;", "after its life has ended"),
        ("let p = alloc 4; let v: i32 = load i32 *p;", "never written"),
        ("let p = alloc 4; store i64 *p, 1i64;", "out of bounds"),
        ("free &r;", "which was not allocated"),
        ("let p: ptr; store i32 *p, 1;", "null"),
    ] {
        let met = all(&format!("global r: i32; fn main() {{ {body} }}"), Model::Sc);
        let found = met.failures.iter().any(|message| message.contains(expected));
        assert!(found && met.results.is_empty(), "{body}: {met:?}");
    }
}

#[test]
fn atomic_blocks_are_not_interrupted() {
    let text = "global r: i32;
        fn a() { ATOMIC { let v = load r; store r, v + 1; } }
        fn main() { let s = spawn a(); let t = spawn a(); join s; join t; }";
    for model in Model::OPERATIONAL {
        assert_eq!(all(&text.replace("ATOMIC", "atomic"), model).results, BTreeSet::from([2]), "{model}");
        assert_eq!(all(&text.replace("ATOMIC", ""), model).results, BTreeSet::from([1, 2]), "{model}");
    }
}

/// No processor promises that the end of an object's life is a fence.
#[test]
fn the_end_of_an_object_waits_for_nothing_that_is_on_its_way() {
    let text = "global r: i32; global x: i32; global y: i32; global p: ptr;
        fn a() { let o = alloc zeroed 4; store p, o; fence.sc; store x, 1; free o; let v = load y; rmw.add r, v; }
        fn b() { store y, 1; fence.sc; let v = load x; rmw.add r, v; }
        fn main() { let s = spawn a(); let t = spawn b(); join s; join t; }";
    let [sc, tso, pso] = Model::OPERATIONAL.map(|model| all(text, model));
    assert_eq!((&sc.results, sc.failures.len()), (&BTreeSet::from([1, 2]), 0));
    for met in [tso, pso] {
        assert_eq!((met.results, met.failures.len()), (BTreeSet::from([0, 1, 2]), 0));
    }
    // What a thread has stored in an object is not too late when it ends the object itself, whenever it arrives.
    let own = "global r: i32; global p: ptr;
        fn main() { let o = alloc zeroed 8; store p, o; store i32 *o, 1; free o; store r, 7; }";
    for model in Model::OPERATIONAL {
        let met = all(own, model);
        assert_eq!((met.results, met.failures.len()), (BTreeSet::from([7]), 0), "{model}");
    }
}

#[test]
fn what_another_thread_has_stored_arrives_before_the_end_of_its_object_if_something_sees_to_that() {
    let text = |hands_over: &str| {
        format!(
            "global r: i32; global p: ptr; global done: i32;
             fn user() {{ let o = load p; store i32 *o, 1; {hands_over} done, 1; }}
             fn main() {{ let o = alloc zeroed 4; store p, o; spawn user(); let d = load done; if d == 1 {{ free o; store r, 1; }} }}"
        )
    };
    let fails = |hands_over: &str, model: Model| {
        let met = all(&text(hands_over), model);
        assert!(met.failures.iter().all(|message| message.contains("a buffered write reaches")), "{met:?}");
        !met.failures.is_empty()
    };
    assert_eq!(Model::OPERATIONAL.map(|model| fails("store", model)), [false, false, true]);
    assert_eq!(Model::OPERATIONAL.map(|model| fails("store.rel", model)), [false; 3]);
}
