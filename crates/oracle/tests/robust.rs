//! Robustness by attacks, held against its definition: every class of runs under TSO is one of runs under SC.
//!
//! `RADDLE_ROBUST` is how many programs of each family.

use raddle_engine::{Control, Deadline, Limits, StopReason};
use raddle_machine::Code;
use raddle_oracle::brute::{self, Behaviours, Budget};
use raddle_oracle::compare::code;
use raddle_oracle::sketch::Stmt;
use raddle_oracle::{Family, Sketch, generate, litmus};
use raddle_reach::robust::fences::{Sites, fences};
use raddle_reach::robust::{Robustness, Settings, robust};
use raddle_testkit::{numbers, setting};
use raddle_trace::Model;
use std::collections::BTreeSet;
use std::fmt::Display;

fn attacked(code: &Code, fences: &BTreeSet<u32>, workers: usize, what: &dyn Display) -> Robustness {
    let control = Control::new();
    let deadline = Deadline::new(Limits::default(), &control);
    robust(code, fences, Settings { workers, all: true }, &deadline).unwrap_or_else(|fault| panic!("{fault}\n{what}"))
}

/// Whether every class under TSO is one under SC; `None` if there are too many.
fn by_definition(code: &Code) -> Option<bool> {
    let budget = Budget { states: 15_000, ..Budget::default() };
    let tso = brute::enumerate(code, Model::Tso, budget).ok()?;
    let sc = brute::enumerate(code, Model::Sc, budget).ok()?;
    let ends =
        |found: &Behaviours| [found.complete.traces.clone(), found.blocked.traces.clone(), found.failed.traces.clone()];
    Some(ends(&tso).iter().zip(ends(&sc)).all(|(tso, sc)| tso.is_subset(&sc)))
}

/// Whether this is an atomic block that may never be left: nothing arrives any more then, and by its definition robustness is about runs in which everything has.
fn may_stay(stmt: &Stmt) -> bool {
    let Stmt::Atomic(body) = stmt else { return false };
    let block = Sketch { threads: vec![body.clone()], ..Sketch::default() };
    block.any(|stmt| matches!(stmt, Stmt::Assert(..)))
}

#[test]
fn attacks_succeed_exactly_where_tso_adds_a_class() {
    let (mut compared, mut by_code, mut blocks) = ([0; 2], 0, 0);
    for family in [Family::Buffered, Family::Mixed, Family::Plain, Family::Counters, Family::Atomic] {
        for index in numbers(setting("RADDLE_ROBUST", 150)) {
            let sketch = generate(family, 5, index);
            if sketch.any(|stmt| matches!(stmt, Stmt::Assume(_) | Stmt::Loop(_) | Stmt::Spin(..)) || may_stay(stmt)) {
                continue;
            }
            let code = code(&sketch);
            let Some(expected) = by_definition(&code) else { continue };
            let found = attacked(&code, &BTreeSet::new(), 1, &sketch);
            assert_eq!(found.witnesses.is_empty(), expected, "{sketch}");
            compared[usize::from(expected)] += 1;
            by_code += u64::from(found.states == 0);
            blocks += u64::from(sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_))));
        }
    }
    println!(
        "{compared:?} programs that are not robust and that are, {by_code} of these by their code alone; {blocks} with atomic blocks"
    );
    assert!(
        compared.iter().all(|&number| number > 40) && by_code > 20 && blocks > 20,
        "{compared:?} {by_code} {blocks}"
    );
}

#[test]
fn known_programs() {
    let cases: &[(&[&str], bool)] = &[
        (&["W x 1; a=R y", "W y 1; a=R x"], false),
        (&["W x 1; F; a=R y", "W y 1; F; a=R x"], true),
        (&["W x 1; F; a=R y", "W y 1; a=R x"], false),
        // An early read closes the cycle.
        (&["W a 1; W b 1; c=R a; d=R e", "W e 1; F; s=R b"], false),
        (&["W x 1; W y 1", "a=R y; b=R x"], true),
        (&["W x 1; a=X z 1; b=R y", "W y 1; a=X w 1; b=R x"], true),
        // Whoever gets the lock second finds what the first stored, late or not.
        (&["lock m; W x 1; unlock m; a=R y", "lock m; W y 1; unlock m; a=R x"], true),
        (&["lock m; W x 1; unlock m; a=R y", "W y 1; F; a=R x"], false),
        (&["lock m; W x 1; a=R y; unlock m", "lock m; W y 1; a=R x; unlock m"], true),
        // Nobody sees a thread end before what it has stored has arrived.
        (&["await 1; a=R x; b=R y", "W x 1; a=R y"], true),
        (&["W y 1; await 1; a=R x", "W x 1; a=R y"], true),
        // An atomic block is one event, and empties the buffer.
        (&["W x 1; atomic { a=R y }", "W y 1; a=R x"], false),
        (&["W x 1; atomic { a=R y }", "W y 1; atomic { b=R z }; a=R x"], true),
        (&["W x 1; a=R y", "atomic { W y 1; a=R x }"], false),
        (&["W x 1; a=R y", "atomic { a=R x; W y 1 }"], false),
        (&["W x 1; a=R y", "atomic { a=R x; b=R z }; W z 1", "W y 1; c=R z"], true),
    ];
    for &(threads, expected) in cases {
        let code = code(&litmus(threads));
        assert_eq!(by_definition(&code), Some(expected), "{threads:?} by definition");
        let found = attacked(&code, &BTreeSet::new(), 2, &threads.join("; "));
        assert_eq!(found.witnesses.is_empty(), expected, "{threads:?}");
    }
}

fn parsed(text: &str) -> Code {
    let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    raddle::prepare(&program, None)
}

/// The writes of places that overlap have no order in an execution, so no cycle shows that it is none of SC.
#[test]
fn accesses_that_overlap_end_the_search() {
    let code = parsed(
        "global x: i64; global y: i32;
        fn left() { store i64 x, 1; let r = load y; }
        fn right() { store y, 1; let h = load i32 *(&x + 4); }
        fn main() { spawn left(); spawn right(); }",
    );
    let found = attacked(&code, &BTreeSet::new(), 1, &"two sizes");
    assert!(found.witnesses.is_empty());
    let Some(StopReason::GaveUp { why, at }) = found.stop else { panic!("{:?}", found.stop) };
    assert!(why.contains("different sizes") && at.line == 2, "{why} at {at:?}");
}

/// Loads of turns that had no effect are no events: they do not end an attack, and lead from nobody to nobody.
#[test]
fn turns_without_effect_are_no_events() {
    let two = |left: &str, right: &str| {
        let left = format!("global x: i32; global y: i32; global z: i32; fn left() {{ let a = 0; let b = 0; {left} }}");
        parsed(&format!(
            "{left} fn right() {{ let a = 0; let b = 0; {right} }} fn main() {{ spawn left(); spawn right(); }}"
        ))
    };
    let waits = "loop { a = load y; if a == 1 { break; } }";
    let cases = [
        // The last load could only be one that sends its thread round.
        (two(&format!("store x, 1; {waits} store z, 1;"), "store y, 1; a = load x;"), true),
        (two(&format!("store x, 1; {waits} a = load z;"), "store y, 1; a = load x;"), true),
        // The store is late for the load behind the loop.
        (two(&format!("{waits} store x, 1; a = load z;"), "store y, 1; store z, 1; fence.sc; a = load x;"), false),
        // Whoever is sent round has seen nothing.
        (two("store x, 1; a = load z;", "store z, 1; loop { a = load x; if a == 1 { break; } }"), true),
        // A retry is a turn like others.
        (
            two(
                "store x, 1; loop { a = cas y, 1, 0; if a == 1 { break; } } a = load z;",
                "store z, 1; store y, 1; a = load x;",
            ),
            true,
        ),
    ];
    for (number, (code, expected)) in cases.iter().enumerate() {
        let found = attacked(code, &BTreeSet::new(), 1, &number);
        assert_eq!(found.witnesses.is_empty(), *expected, "case {number}");
    }
}

/// Whatever loops do: attacks replay, and fences are enough and needed.
#[test]
fn programs_with_loops_have_fences() {
    let control = Control::new();
    let deadline = Deadline::new(Limits { states: Some(20_000), ..Limits::default() }, &control);
    let settings = Settings { workers: 1, all: true };
    let [mut searched, mut needed] = [0; 2];
    for seed in numbers(setting("RADDLE_ROBUST", 60)) {
        let text = raddle_oracle::cyclic::mixed(seed, &mut raddle_testkit::Random::new(0x0b57 + seed));
        let code = parsed(&text);
        let ask = |fences: &BTreeSet<u32>| {
            robust(&code, fences, settings, &deadline).unwrap_or_else(|fault| panic!("{fault}\n{text}seed {seed}"))
        };
        let first = ask(&BTreeSet::new());
        if first.stop.is_some() {
            continue;
        }
        searched += 1;
        let found = fences(&Sites::everywhere(&code), &first, settings, &deadline)
            .unwrap_or_else(|fault| panic!("{fault}\n{text}seed {seed}"));
        assert!(!found.sets.is_empty(), "{text}seed {seed}");
        for set in found.sets.iter().take(2) {
            assert!(ask(set).witnesses.is_empty(), "{set:?} is not enough: {text}seed {seed}");
            needed += set.len();
        }
    }
    println!("{searched} programs, {needed} fences");
    let least = setting("RADDLE_ROBUST", 60) as usize;
    assert!(searched * 2 > least && needed > least / 8, "{searched} {needed}");
}

#[test]
fn fences_of_least_cost_are_enough_and_needed() {
    let control = Control::new();
    let deadline = Deadline::new(Limits::default(), &control);
    let settings = Settings { workers: 1, all: true };
    let mut needed = 0;
    for index in numbers(setting("RADDLE_ROBUST", 150)) {
        let sketch = generate(Family::Buffered, 6, index);
        let code = code(&sketch);
        let first = attacked(&code, &BTreeSet::new(), 1, &sketch);
        let found =
            fences(&Sites::everywhere(&code), &first, settings, &deadline).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(!found.sets.is_empty(), "{sketch}");
        for set in &found.sets {
            assert!(attacked(&code, set, 1, &sketch).witnesses.is_empty(), "{sketch} with {set:?}");
            for fence in set {
                let mut fewer = set.clone();
                fewer.remove(fence);
                assert!(!attacked(&code, &fewer, 1, &sketch).witnesses.is_empty(), "{sketch} without {fence}");
                needed += 1;
            }
        }
    }
    assert!(needed > 50, "{needed}");
}
