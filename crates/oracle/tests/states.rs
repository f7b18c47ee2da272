//! The engine `explicit` on random programs whose loops do not end, held against a plain search: states of the machine in a set, every move followed.
//!
//! What is compared is which assertions can fail, under SC and with store buffers of a given length; and, with everything switched off that makes states fewer, how many
//! states there are. `RADDLE_CYCLIC` is how many programs.

use raddle_engine::{Control, Engine, Finding, Options, Outcome, PropertySet, Question};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_oracle::compare::{Equivalence, Expected, code, compare_with, explorer, with_switches};
use raddle_oracle::cyclic::{Unsearched, mixed, plain};
use raddle_oracle::sketch::Stmt;
use raddle_oracle::{Comparison, Effort, Family, Sketch, generate};
use raddle_program::{Ordering, Program};
use raddle_reach::explicit::Explicit;
use raddle_testkit::{Random, numbers, setting};
use raddle_trace::{Model, Property};
use std::collections::BTreeSet;

/// How long store buffers are.
const BUFFER: usize = 2;

/// What follows one order of moves that commute.
const REDUCTIONS: [(usize, &[&str]); 5] = [
    (1, &["reduction=persistent"]),
    (2, &["reduction=persistent"]),
    (1, &["reduction=persistent", "local=off", "search=depth"]),
    (1, &["reduction=cartesian"]),
    (1, &["reduction=dynamic"]),
];

/// A program that is larger than this is not looked at.
const MOST: usize = 2_500;

fn parsed(text: &str) -> Program {
    raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// What is asked of each program in each way: about its assertions, and also whether somebody waits for ever.
fn ask(code: &Code, model: Model, workers: usize, properties: PropertySet, switches: &[&str]) -> Outcome {
    let engine: &dyn Engine = &Explicit;
    let mut options = Options::new(model);
    options.all = true;
    options.workers = workers;
    options.properties = properties;
    for switch in switches.iter().chain(&["buffer=2"]) {
        options.switches.set(engine, switch).expect("a switch");
    }
    engine.ask(&Question { code, options: &options }, &Control::new()).unwrap_or_else(|fault| panic!("{fault}"))
}

fn failing(outcome: &Outcome) -> BTreeSet<u32> {
    outcome.findings.iter().map(Finding::violation).map(|violation| violation.place.line).collect()
}

fn wrong(outcome: &Outcome) -> BTreeSet<(Property, u32)> {
    let violations = outcome.findings.iter().map(Finding::violation);
    violations.map(|violation| (violation.property, violation.place.line)).collect()
}

fn ends(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.statistics.executions, outcome.statistics.blocked, outcome.statistics.failed)
}

#[test]
fn what_can_be_reached_in_cyclic_programs_is_found() {
    let (mut compared, mut failed, mut states, mut kept, mut restless) = (0, 0, 0, 0, 0);
    let (mut unreduced, mut reduced) = (0, [0; REDUCTIONS.len()]);
    for seed in numbers(setting("RADDLE_CYCLIC", 80)) {
        let text = mixed(seed, &mut Random::new(0xc1c + seed));
        let source = parsed(&text);
        let as_written = compile(&source, &AllShared, &CompileOptions::default());
        let prepared = raddle::prepare(&source, None);
        for model in Model::OPERATIONAL {
            let (expected, number) = match plain(&as_written, model, BUFFER, MOST) {
                Ok(found) => found,
                Err(why) => {
                    restless += u32::from(why == Unsearched::Restless);
                    continue;
                }
            };
            let what = || format!("{text}under {model}, seed {seed}");
            let asserts = PropertySet::none().with(Property::Assert);
            let whole = ask(&as_written, model, 1, asserts, &["live=off", "local=off"]);
            assert_eq!((failing(&whole), whole.counter("states")), (expected.clone(), number as u64), "{}", what());
            let variants: [(usize, &[&str]); 5] =
                [(1, &[]), (2, &[]), (1, &["search=depth"]), (1, &["live=off"]), (1, &["local=off", "search=depth"])];
            let mut counts = Vec::new();
            for (workers, switches) in variants {
                let found = ask(&prepared, model, workers, asserts, switches);
                assert_eq!(failing(&found), expected, "{} with {switches:?}", what());
                counts.push(found.counter("states"));
            }
            assert_eq!(counts[0], counts[1], "as many states with two workers: {}", what());
            let both = asserts.with(Property::Deadlock);
            let whole = ask(&prepared, model, 1, both, &["local=off"]);
            for (at, (workers, switches)) in REDUCTIONS.into_iter().enumerate() {
                let found = ask(&prepared, model, workers, both, switches);
                assert_eq!(wrong(&found), wrong(&whole), "{} with {switches:?}", what());
                assert_eq!(ends(&found), ends(&whole), "{} with {switches:?}", what());
                reduced[at] += found.counter("states");
            }
            unreduced += whole.counter("states");
            compared += 1;
            failed += usize::from(!expected.is_empty());
            states += number as u64;
            kept += counts[0];
        }
    }
    println!(
        "{compared} comparisons, {failed} with failures; {states} states, {kept} with reductions; {restless} left out, where a loop turns without a visible step"
    );
    for (count, (workers, switches)) in reduced.into_iter().zip(REDUCTIONS) {
        println!("{unreduced} states, {count} with {switches:?} and {workers} workers");
    }
    assert_eq!(reduced[0], reduced[1], "as many states with two workers");
    assert!(reduced.iter().all(|&count| count < unreduced), "{unreduced} {reduced:?}");
    assert!(compared > 60 && failed > 10 && kept < states, "{compared} {failed} {states} {kept}");
}

/// Nobody knows where a thread rests that turns for ever without a visible step, so such programs are left out.
#[test]
fn what_turns_without_a_visible_step_is_not_compared() {
    let text = "global x: i32; fn t() { let k = 0; let a = load x; loop { k = (k + 1) % 3; if a == k { continue; } } } fn main() { spawn t(); }";
    let code = compile(&parsed(text), &AllShared, &CompileOptions::default());
    assert_eq!(plain(&code, Model::Sc, BUFFER, MOST), Err(Unsearched::Restless));
}

/// Of moves that commute one order is enough for every violation and every end.
#[test]
fn what_commutes_is_followed_in_one_order() {
    let (mut compared, mut states, mut kept) = (0, 0, [0; REDUCTIONS.len()]);
    let programs = setting("RADDLE_REDUCED", 60);
    for family in [Family::Buffered, Family::Mixed, Family::Plain, Family::Counters, Family::Heap, Family::Guarded] {
        for index in numbers(programs) {
            let sketch = generate(family, 97, index);
            if sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_))) {
                continue;
            }
            let code = code(&sketch);
            for model in Model::OPERATIONAL {
                let look = |switches: &[&str]| {
                    let engine: &dyn Engine = &Explicit;
                    let mut options = Options::new(model);
                    options.all = true;
                    options.limits.states = Some(MOST as u64);
                    options.properties = PropertySet::all().without(Property::Race);
                    for switch in switches {
                        options.switches.set(engine, switch).expect("a switch");
                    }
                    let asked = engine.ask(&Question { code: &code, options: &options }, &Control::new());
                    asked.unwrap_or_else(|fault| panic!("{fault}\n{sketch} under {model} with {switches:?}"))
                };
                let whole = look(&["local=off"]);
                if whole.stop.is_some() {
                    continue;
                }
                for (at, (_, switches)) in REDUCTIONS.into_iter().enumerate() {
                    let reduced = look(switches);
                    assert_eq!(failing(&reduced), failing(&whole), "{sketch} under {model} with {switches:?}");
                    assert_eq!(ends(&reduced), ends(&whole), "{sketch} under {model} with {switches:?}");
                    kept[at] += reduced.counter("states");
                }
                compared += 1;
                states += whole.counter("states");
            }
        }
    }
    println!("{compared} comparisons; {states} states, {kept:?} where what commutes was followed in one order");
    let fewer = kept.iter().all(|&kept| kept < states);
    assert!(compared as u64 > programs * 6 && fewer, "{compared} {states} {kept:?}");
}

/// A thread may fail where one of its stores arrives, when the memory that it is to is no more: then a store into its buffer is nothing to be done first and alone. With that there was one end less here.
#[test]
fn a_thread_may_fail_by_what_it_has_on_its_way() {
    let text = "global p: ptr; global x: i32;
        fn user() { let q: ptr = load p; store i32 *q, 2; let r: ptr = load p; store x, 1; store x, 2; }
        fn main() { let n = alloc zeroed 8; store p, n; fence.sc; spawn user(); free n; }";
    let code = raddle::prepare(&parsed(text), None);
    let both = PropertySet::none().with(Property::Memory).with(Property::Deadlock);
    let whole = ask(&code, Model::Tso, 1, both, &["local=off"]);
    assert!(ends(&whole).2 > 3, "{:?}", ends(&whole));
    for switches in [&[][..]].into_iter().chain(REDUCTIONS.map(|(_, switches)| switches)) {
        let found = ask(&code, Model::Tso, 1, both, switches);
        assert_eq!((wrong(&found), ends(&found)), (wrong(&whole), ends(&whole)), "{switches:?}");
    }
}

/// The program with every atomic access acquire and release, and every attempt to take a lock a wait for it.
fn strong(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let order = |order: Ordering| if order == Ordering::NonAtomic { order } else { Ordering::AcqRel };
    let one = |stmt: Stmt| match stmt {
        Stmt::Load(reg, at, was) => Stmt::Load(reg, at, order(was)),
        Stmt::Store(at, value, was) => Stmt::Store(at, value, order(was)),
        Stmt::Rmw(reg, op, at, value, _) => Stmt::Rmw(reg, op, at, value, Ordering::AcqRel),
        Stmt::Cas(reg, at, old, new, _) => Stmt::Cas(reg, at, old, new, Ordering::AcqRel),
        Stmt::CasWait(at, old, new, _) => Stmt::CasWait(at, old, new, Ordering::AcqRel),
        Stmt::Idle(reg, at, value, _, wait) => Stmt::Idle(reg, at, value, Ordering::AcqRel, wait),
        Stmt::Wait(reg, at, cmp, value, was) => Stmt::Wait(reg, at, cmp, value, order(was)),
        Stmt::LoadPtr(reg, at, was) => Stmt::LoadPtr(reg, at, order(was)),
        Stmt::StorePtr(at, reg, was) => Stmt::StorePtr(at, reg, order(was)),
        Stmt::TryLock(_, lock) => Stmt::Lock(lock),
        Stmt::TryRwLock(_, lock, false) => Stmt::ReadLock(lock),
        Stmt::TryRwLock(_, lock, true) => Stmt::WriteLock(lock),
        Stmt::If(test, then, otherwise) => Stmt::If(test, strong(then), strong(otherwise)),
        Stmt::IfNull(reg, then, otherwise) => Stmt::IfNull(reg, strong(then), strong(otherwise)),
        Stmt::Loop(body) => Stmt::Loop(strong(body)),
        other => other,
    };
    stmts.into_iter().map(one).collect()
}

#[test]
fn adjacent_accesses_are_all_that_race_where_synchronisation_is_strong() {
    let effort = Effort { states: 6_000, classes: 500 };
    let reduced = with_switches("explicit persistent", Equivalence::States, &Explicit, &["reduction=persistent"]);
    let subjects = [explorer(&Explicit), reduced];
    let mut compared = [0; 2];
    let programs = setting("RADDLE_RACES", 250);
    for family in [Family::Racy, Family::Guarded, Family::Heap, Family::Mixed] {
        for index in 0..programs {
            let sketch = generate(family, 41, index);
            if sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_) | Stmt::Spin(..) | Stmt::Move(..))) {
                continue;
            }
            let sketch = Sketch { threads: sketch.threads.into_iter().map(strong).collect(), ..sketch };
            for model in Model::OPERATIONAL {
                let Ok(expected) = Expected::of(&code(&sketch), model, effort) else { continue };
                let Some(racing) = &expected.racing else { continue };
                let race = racing.failures.iter().any(|failure| failure.property == Property::Race);
                for subject in &subjects {
                    match compare_with(&sketch, model, subject, &expected) {
                        Comparison::Agree(_) => {}
                        other => panic!("{sketch} under {model} by {}: {other:?}", subject.name),
                    }
                }
                compared[usize::from(race)] += 1;
            }
        }
    }
    println!("{compared:?} programs without and with a race");
    assert!(compared.iter().all(|&number| number > 60), "{compared:?}");
}
