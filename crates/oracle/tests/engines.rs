//! Every engine against the numbers that are known and against brute force on random programs.
//!
//! `raddle-fuzz` does the same at length.

use raddle_explore::graphs::Optimal;
use raddle_oracle::cases::{self, Case};
use raddle_oracle::compare::{Equivalence, Refusal, explorer, minimise, prepared};
use raddle_oracle::{Comparison, Effort, Family, Subject, Sweep, compare, generate, litmus, subjects};
use raddle_trace::Model;

/// How many programs of each family there are, and on how many of them most engines have to be compared at least, under each model.
const PROGRAMS: u64 = 200;
const LEAST: u64 = 120;

/// The ways in which `oc` can search, each a solver run for every program, are compared on every so many-th program only. `raddle-fuzz` compares them on all.
const SPARSE: u64 = 4;

/// Whether the engine is one that is compared on a part of the programs.
fn is_sparse(engine: &Subject) -> bool {
    engine.name.starts_with("oc ")
}

fn check(equivalence: Equivalence, cases: Vec<Case>) {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for engine in subjects().iter().filter(|engine| engine.equivalence == equivalence) {
        // The engines on sequences need minutes for the largest one.
        let small = |case: &&Case| !engine.every_end || case.expected(Model::Sc).0 <= 2_000;
        for case in cases.iter().filter(small) {
            for model in Model::OPERATIONAL.into_iter().filter(|&model| (engine.applies)(&case.sketch, model)) {
                let given = engine.code.unwrap_or(prepared)(&case.sketch);
                let answer = (engine.run)(&given, model, false);
                if answer.as_ref().is_ok_and(|found| found.unordered.updates) {
                    continue;
                }
                compared += 1;
                let counts = answer.as_ref().map(|found| (found.executions as usize, found.blocked as usize));
                if counts != Ok(case.expected(model)) {
                    let expected = case.expected(model);
                    wrong.push(format!("{}, {} under {model}: {answer:?}, not {expected:?}", engine.name, case.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Some engine takes each of them under every model.
    assert!(compared >= cases.len() * Model::OPERATIONAL.len(), "{compared} of {} were compared", cases.len());
}

#[test]
fn the_litmus_table_has_its_traces() {
    check(Equivalence::Traces, cases::litmus_table());
}

#[test]
fn the_programs_that_trap_naive_explorations_have_their_traces() {
    check(Equivalence::Traces, cases::traps());
}

#[test]
fn the_families_have_their_traces() {
    check(Equivalence::Traces, cases::families());
}

#[test]
fn the_reads_from_table_has_its_classes() {
    check(Equivalence::ReadsFrom, cases::reads_from_table());
}

/// On how many programs of the family an engine has to be compared with brute force at least. One that is not named here takes
/// all of them.
fn least(engine: &Subject, family: Family, model: Model) -> u64 {
    match engine.name.as_str() {
        _ if engine.every_end && (model != Model::Sc || family == Family::Atomic) => 0,
        // It takes no loops that may wait, of which hardly a program of this family has none.
        name if name.starts_with("oc") && family == Family::Waits => 4,
        // It takes no other model, no loops that may wait, and no barriers.
        name if name.starts_with("cegar") && model != Model::Sc => 0,
        name if name.starts_with("cegar") && matches!(family, Family::Waits | Family::Meetings) => 0,
        "rf" | "rf commuting" | "rf prepared" if family == Family::Atomic => 0,
        // It takes nothing that waits for anything but a mutex.
        "dc by bursts" if family == Family::Waits => 0,
        "dc by bursts" if family == Family::Meetings => 0,
        // It takes no updates, which are all there is to counters, and which many programs of most families have.
        "vc" if family == Family::Counters => 0,
        // Most wait loops have some, too.
        "vc" if family == Family::Waits => LEAST / 6,
        // It takes no loops that wait, which all of them have.
        "dc by bursts" if family == Family::Waits => 0,
        "vc" if family != Family::Plain => LEAST / 3,
        _ => LEAST,
    }
}

fn hold(family: Family) {
    // Those that do without store buffers know one model, and end at a violation that shows itself; `tso.rs` holds them against buffers.
    let engines = subjects().into_iter().filter(|engine| !engine.name.contains("-tso")).collect();
    let mut sweep = Sweep::new(engines, Effort { states: 5_000, classes: 500 });
    for index in 0..PROGRAMS {
        let sketch = generate(family, 2, index);
        let asked = |engine: &Subject| index.is_multiple_of(SPARSE) || !is_sparse(engine);
        if let Some(wrong) = sweep.compare_some(family, &sketch, &Model::OPERATIONAL, asked).first() {
            panic!("{}", smallest(&sketch, wrong.model, wrong.engine));
        }
    }
    for engine in sweep.engines() {
        for model in Model::OPERATIONAL {
            let tally = sweep.tally(|other, _, under| other.name == engine.name && under == model);
            println!("{} under {model}, family {family}: {tally:?}", engine.name);
            let part = if is_sparse(engine) { SPARSE } else { 1 };
            let least = least(engine, family, model);
            assert!(tally.agreed >= least / part, "{} was hardly compared under {model}: {tally:?}", engine.name);
            let least = match engine.equivalence {
                _ if family != Family::Racy || !(engine.races)(model) => 0,
                // These look for races only where accesses synchronise in both directions.
                Equivalence::States => least.min(if is_sparse(engine) { LEAST / 10 } else { LEAST / 6 }),
                _ => least,
            };
            assert!(
                tally.races >= least / part,
                "the races of {} were hardly compared under {model}: {tally:?}",
                engine.name
            );
        }
    }
}

fn smallest(sketch: &raddle_oracle::Sketch, model: Model, engine: &Subject) -> String {
    let (small, differences) = minimise(sketch, model, engine, Effort::default());
    format!("{} under {model}:\n{small}{}", engine.name, differences.join("\n"))
}

#[test]
fn mixed_programs() {
    hold(Family::Mixed);
}

#[test]
fn buffered_programs() {
    hold(Family::Buffered);
}

#[test]
fn programs_with_a_heap() {
    hold(Family::Heap);
}

#[test]
fn racy_programs() {
    hold(Family::Racy);
}

#[test]
fn programs_with_atomic_blocks() {
    hold(Family::Atomic);
}

#[test]
fn programs_without_updates() {
    hold(Family::Plain);
}

#[test]
fn programs_with_counters() {
    hold(Family::Counters);
}

#[test]
fn programs_whose_accesses_are_mostly_ordered() {
    hold(Family::Guarded);
}

/// Programs that a sweep has found an engine wrong on.
#[test]
fn what_sweeps_have_found() {
    let programs = [
        // Who uses an object after its end stops there; others go on.
        &["p0=zalloc; free p0; R *p0", "a=R x; assert a<0"][..],
        &["p0=zalloc; WP q p0; free p0; W *p0 1; W x 1", "a=R x; assert a==0; R x"],
        // Whoever joins a thread second is in error.
        &["spawn 1; join 1", "W x 1", "await 1; R x"],
        &["W x 1", "await 0; a=R x", "await 0; b=R x"],
    ];
    let engines = subjects();
    let mut compared = 0;
    for program in programs.map(litmus) {
        for engine in &engines {
            for model in Model::OPERATIONAL {
                match compare(&program, model, engine, Effort::default()) {
                    Comparison::Disagree(differences) => {
                        panic!("{} under {model}:\n{program}{}", engine.name, differences.join("\n"))
                    }
                    Comparison::Agree(_) => compared += 1,
                    Comparison::TooLarge | Comparison::Refused(_) => {}
                }
            }
        }
    }
    // The engines on graphs take all of them under every model, those on sequences most of them under SC.
    assert!(compared >= programs.len() * (6 * Model::OPERATIONAL.len() + 2), "{compared}");
}

#[test]
fn programs_with_loops_that_wait() {
    hold(Family::Waits);
}

#[test]
fn programs_with_a_common_order() {
    hold(Family::Strong);
}

#[test]
fn programs_with_barriers() {
    hold(Family::Meetings);
}

#[test]
fn a_wrong_engine_is_noticed_and_its_program_shrinks() {
    let mut wrong = explorer(&Optimal);
    let right = std::mem::replace(&mut wrong.run, Box::new(|_, _, _| Err(Refusal::Broken(String::new()))));
    // Loses an execution whenever there are more than two.
    wrong.run = Box::new(move |code, model, races| {
        let mut found = right(code, model, races)?;
        found.executions -= u64::from(found.executions > 2);
        Ok(found)
    });
    let sketch = litmus(&["W.sc x 1; a=R y; F; a=R z", "W y 1; b=R x; if b==1 { W z 1 }", "R z; R w"]);
    assert!(matches!(compare(&sketch, Model::Sc, &wrong, Effort::default()), Comparison::Disagree(_)));
    let report = smallest(&sketch, Model::Sc, &wrong);
    assert!(report.contains("complete: 4 by brute force, 3 by optimal"), "{report}");
    assert!(report.lines().count() < 10, "{report}");
}

/// Compares all engines that take the program under SC, which must be so many at least.
fn agree(threads: &[&str], least: usize) {
    agree_under(Model::Sc, threads, least);
}

fn agree_under(model: Model, threads: &[&str], least: usize) {
    let sketch = litmus(threads);
    let mut compared = 0;
    for subject in subjects().into_iter().filter(|subject| (subject.applies)(&sketch, model)) {
        match compare(&sketch, model, &subject, Effort { states: 20_000, classes: 2_000 }) {
            Comparison::Disagree(differences) => panic!("{}, {model}: {differences:?}", subject.name),
            Comparison::Agree(_) => compared += 1,
            _ => {}
        }
    }
    assert!(compared >= least, "{compared}");
}

/// What nobody looks at but behind a branch that is never taken, nobody looks at.
#[test]
fn a_result_that_only_dead_code_uses_is_unused() {
    agree(&["R y; c=A y 0; if a!=0 { W x c }; W x 0; lock m0; W x 0; unlock m0", "W x 0"], 20);
}

/// Errors of two kinds in one execution, which stand in each other's way: an access that may come too late, and two threads that wait for a third one's end.
#[test]
fn an_error_behind_another_one() {
    agree(&["await 2", "p1=RP q1; free p1; await 2", "p1=alloc; WP q1 p1; W *p1 0"], 5);
}

/// The register that a turn leaves is alive behind the loop, and not in the middle of it.
#[test]
fn a_loop_without_end_is_a_deadlock_whatever_its_turns_leave() {
    agree(&["loop { a=R x; leave a==1; b=R y }; W y b"], 5);
    agree(&["loop { a=R x; leave a==1; b=R y; leave b!=0 }; W y b", "W y a; R x; W x 2; W x 0"], 5);
}

/// A thread that makes an access after the end of its object goes no further, so what races behind that is no race.
#[test]
fn a_race_behind_an_access_that_comes_too_late() {
    let third = "p1=RP q1; W *p1 0; p0=RP q1; R *p0";
    agree(&["p1=alloc; WP q1 p1", "p1=RP q1; free p1; p0=zalloc; WP q1 p0", third], 5);
}

/// An update waits until nothing of its thread is on its way, also if it goes nowhere; what arrives at a dead object keeps it from being reached.
#[test]
fn an_update_through_null_comes_behind_what_is_on_its_way() {
    for model in [Model::Tso, Model::Pso] {
        agree_under(model, &["p0=zalloc; W *p0 0; WP q0 p0; A *p1 0", "p1=RP q0; free p1"], 3);
    }
}

/// Of two updates the one that is met last could have come first, and then its write races: what it reads otherwise orders it.
#[test]
fn an_update_that_comes_first_races() {
    for model in [Model::Sc, Model::Tso, Model::Pso].into_iter().chain(Model::AXIOMATIC) {
        agree_under(model, &["R.na n; W y 1; A.rel n 0", "a=R y; if a==1 { A.acq n 0 }"], 4);
        agree_under(model, &["R.na n; W y 1; A.rel n 1", "a=R y; if a==1 { A.acq n 1; A.acq n 1 }"], 4);
    }
}

/// Where writes have no order, a thread that might find what it waits for, and whose assumption fails then, is in no deadlock.
#[test]
fn what_is_assumed_is_no_deadlock() {
    agree_under(Model::Wra, &["W z 0; a=wait z == 0; assume c!=0", "W z 1"], 2);
}

/// A turn of a loop that races, and what the next turn reads orders it behind the write.
#[test]
fn a_turn_in_vain_races() {
    agree(&["loop { a=R.acq y; b=R.acq z; leave a==1 }", "W.na y 0; W.rel y 1"], 8);
    agree(&["loop { R.acq y }", "W.na y 0; R y; W.rel y 0"], 8);
}

/// The end of an object's life is no fence, under no model, and what its own thread has on its way there is not too late.
#[test]
fn the_end_of_an_object_is_no_fence() {
    let past = "p0=zalloc; WP q p0; F; W x 1; free p0; a=R y; assert a==1";
    let own = "p0=zalloc; WP q p0; F; W *p0 1; b=R *p0; free p0; a=R y; assert a==1; assert b==1";
    let other = "W y 1; F; b=R x; assert b==1";
    for model in [Model::Tso, Model::Pso] {
        agree_under(model, &[past, other], 12);
        agree_under(model, &[own, other], 12);
        // Two ends, and an access beside one, with something on its way that orders nothing.
        agree_under(model, &["p0=zalloc; WP q p0; F; W x 1; free p0; R y", "p1=RP q; W y 1; free p1; R x"], 8);
        agree_under(model, &["p0=zalloc; WP q p0; F; W x 1; free p0", "p1=RP q; R *p1; R x"], 8);
        agree_under(model, &["p0=zalloc; WP q p0; F; W *p0 1; free p0", "p1=RP q; R *p1; R x"], 8);
    }
}

/// What arrives at an object that another thread has ended is found by every engine, if nothing orders it before; and where its own thread finds it, it need not arrive.
#[test]
fn a_store_that_arrives_too_late_is_found() {
    for model in [Model::Tso, Model::Pso] {
        agree_under(model, &["p0=zalloc; W *p0 1; WP q p0; W x 1", "p1=RP q; a=R x; if a==1 { free p1 }"], 8);
        agree_under(model, &["p0=zalloc; W *p0 1; WP q p0; b=R *p0; assert b==1", "p1=RP q; free p1"], 8);
        agree_under(model, &["p0=zalloc; W *p0 1; WP q p0; W x 1; b=R x; assert b==1", "p1=RP q; free p1"], 8);
        agree_under(model, &["p0=zalloc; W *p0 1; WP.rel q p0; b=R *p0; assert b==1", "p1=RP.acq q; free p1"], 8);
    }
}
