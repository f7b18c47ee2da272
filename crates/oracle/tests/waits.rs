//! Loops that wait, as they are written: what brute force makes of them, and engines held against it.

use raddle::ENGINES;
use raddle_engine::{Engine, Equivalence};
use raddle_explore::graphs::{Optimal, ReadsFrom};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options};
use raddle_oracle::compare::{Comparison, Effort, code, compare, explorer, prepared, subjects};
use raddle_oracle::{Behaviours, Budget, Family, Sketch, enumerate, generate, litmus};
use raddle_program::analysis::LoopBounds;
use raddle_trace::{Model, Property};

fn behaviours(sketch: &Sketch, model: Model) -> Behaviours {
    enumerate(&code(sketch), model, Budget::default()).expect("small enough")
}

/// The complete and the blocked classes under each model.
fn counts(threads: &[&str]) -> [(usize, usize); 3] {
    let sketch = litmus(threads);
    Model::OPERATIONAL.map(|model| {
        let found = behaviours(&sketch, model);
        (found.traces(), found.blocked.traces.len())
    })
}

const TTAS: &str = "loop { a=R x; again a!=0; b=C x 0 1; leave b==0 }; W x 0";

#[test]
fn a_lock_that_is_looked_at_first() {
    assert_eq!(counts(&[TTAS; 2]), [(4, 0); 3]);
    assert_eq!(counts(&[TTAS; 3]), [(36, 0); 3]);
    let rounds = |n: usize| vec![TTAS; n].join("; ");
    assert_eq!(counts(&[&rounds(2), &rounds(2)])[0], (34, 0));
}

#[test]
fn what_nobody_ends_is_blocked_once() {
    assert_eq!(counts(&["loop { a=R x; leave a==1 }", "W x 2; W x 3"]), [(0, 1); 3]);
    assert_eq!(counts(&["loop { a=R x; leave a==1; b=R y; leave b==1 }", "W x 2; W y 3"]), [(0, 1); 3]);
    assert_eq!(counts(&["loop { a=R x; leave a==1 }", "W x 1; W x 2"]), [(1, 1); 3]);
}

#[test]
fn a_first_look_before_the_loop_is_a_turn() {
    assert_eq!(counts(&["a=R x; loop { leave a==2; a=R x }", "W x 1; W x 2"]), [(1, 0); 3]);
    // Three threads that put 9 where they find something, and one that writes.
    let retry = "a=R x; loop { b=C x a 9; leave b==a; a=b }";
    assert_eq!(counts(&[retry, retry, retry, "W x 1"])[0], (42, 0));
}

/// A turn may both have changed nothing and have been a later first look; a way out that is never taken keeps no register alive.
#[test]
fn a_first_look_may_be_made_later_whatever_the_turn_left() {
    let programs = [
        ["b=R x; loop { a=R y; leave a==1; b=R x; leave b!=0 }; W x b", "W x 0"],
        ["b=R x; loop { leave a==1; b=R x; leave b!=0 }; W x b", "W x 0"],
        ["b=R x; loop { R x; leave a==1; b=R y; leave b!=0 }; W x b", "W x 1; W y 1"],
    ];
    let mut compared = 0;
    for threads in programs {
        let sketch = litmus(&threads);
        let models = Model::OPERATIONAL.into_iter().chain(Model::AXIOMATIC);
        for (model, subject) in models.flat_map(|model| subjects().into_iter().map(move |subject| (model, subject))) {
            match compare(&sketch, model, &subject, Effort::default()) {
                Comparison::Agree(_) => compared += 1,
                found => {
                    assert!(!(subject.applies)(&sketch, model), "{threads:?} by {}, {model}: {found:?}", subject.name)
                }
            }
        }
    }
    assert!(compared >= 3 * 2 * 6, "{compared}");
}

#[test]
fn two_loads_that_lead_to_the_same_are_no_loop() {
    assert_eq!(counts(&["W x 1", "b=R x; if b<1 { R x }; spin { a=R x } a!=0"])[0], (3, 0));
}

#[test]
fn a_turn_with_an_effect_counts() {
    // The count lives on.
    assert_eq!(counts(&["loop { a=R x; leave a==1; c=c+1; leave c==2 }; W y c", "W x 1"])[0], (3, 0));
    // The compare-exchange that nobody looks at succeeds once.
    assert_eq!(counts(&["loop { a=R x; leave a==1; C y 0 1 }", "W x 1"])[0], (2, 0));
}

#[test]
fn a_load_takes_what_passes_the_assumption_behind_it() {
    assert_eq!(counts(&["a=R x; assume a==2", "W x 1; W x 2; W x 3"]), [(1, 1); 3]);
    // It passes in the end, so nobody is stopped.
    assert_eq!(counts(&["a=R x; assume a==2", "W x 1; W x 2"]), [(1, 0); 3]);
    assert_eq!(counts(&["a=R x; b=a+1; if b==1 { assume a!=0 }; R y", "W x 1; W y 1"])[0], (2, 0));
    // What has been noticed is not taken back.
    assert_eq!(counts(&["a=R x; W y 1; assume a==1", "W x 1; R y"])[0], (2, 2));
    // Two readers of two counters that somebody else raises.
    let raise = |x: &str| (1..=5).map(|n| format!("W {x} {n}")).collect::<Vec<_>>().join("; ");
    let readers = ["a=R x; assume a==5; b=R y; assume b==0", "a=R y; assume a==0; b=R x; assume b==5"];
    let sketch = litmus(&[&raise("x"), &raise("y"), readers[0], readers[1]]);
    for engine in [&Optimal as &'static dyn Engine, &ReadsFrom] {
        let found = (explorer(engine).run)(&prepared(&sketch), Model::Sc, false).expect("an answer");
        assert_eq!((found.executions, found.blocked), (1, 3), "{}", engine.name());
    }
}

/// A thread that an assumption has stopped stands before all the loads that led it there, whatever they found; which of them were made, and from where they
/// read, makes no difference to anybody.
#[test]
fn loads_before_an_assumption_are_forgotten() {
    let rising = "W x 1; W x 2; W x 3";
    assert_eq!(counts(&["a=R x; b=R y; assume a==b", rising]), [(1, 1); 3]);
    assert_eq!(counts(&["a=R x; b=R x; assume a==0; assume b==2", "W x 1; W x 2"]), [(1, 1); 3]);
    assert_eq!(counts(&["a=R x; R y; assume a==3", rising, "W y 1"])[0], (2, 0));
    // What comes before a store or a fence has been noticed.
    assert_eq!(counts(&["a=R x; W z 1; b=R y; assume a==b", rising])[0], (1, 3));
    assert_eq!(counts(&["a=R x; F; b=R y; assume a==b", rising])[0], (1, 3));
    let programs = [
        vec!["a=R x; b=R y; assume a==b", rising, "W y 2; W y 1"],
        vec!["a=R x; b=R y; assume a==b", "W x 1", "W x 2", "W y 3"],
        vec!["a=R x; b=R y; assume a==b; assert a!=1", "W x 1", "b=R y; a=R x; assume a==b; W y 1"],
        // Which loads are made depends on what the first one finds, and so does where the thread is stopped.
        vec!["a=R x; if a==1 { b=R y; assume b==2 }; assume a==3", "W x 1", "W x 2", "W y 1"],
        vec!["a=R x; if a==1 { F; b=R y; assume b==2 }; assume a==3", "W x 1", "W x 2"],
        vec!["a=wait x != 0; b=R y; assume a==b", "W x 1", "W x 0", "W y 2"],
        vec!["loop { a=R x; leave a!=0 }; b=R y; assume a==b", "W x 1; W x 2", "W y 1"],
        vec!["loop { a=R x; b=R y; leave a==b }; c=R x; assume c==1", "W x 1", "W y 2"],
        vec!["a=C x 0 1; b=R x; c=R y; assume b==c", "C x 0 2", "W y 1"],
    ];
    for threads in programs {
        let sketch = litmus(&threads);
        let models = Model::OPERATIONAL.into_iter().chain(Model::AXIOMATIC);
        for (model, subject) in models.flat_map(|model| subjects().into_iter().map(move |subject| (model, subject))) {
            let found = compare(&sketch, model, &subject, Effort::default());
            let fine = matches!(found, Comparison::Agree(_)) || !(subject.applies)(&sketch, model);
            assert!(fine, "{threads:?} by {} under {model}: {found:?}", subject.name);
        }
    }
}

/// A load that waits and then leads into an assumption is made once, or not at all; engines on prepared code and brute force agree on when.
#[test]
fn a_wait_before_an_assumption_is_one_condition() {
    assert_eq!(counts(&["a=wait x != 0; assume a==3", "W x 1; W x 2; W x 3; W x 4"]), [(1, 1); 3]);
    assert_eq!(counts(&["spin { b=R y } a==0; assume b<0", "W y 0"]), [(0, 1); 3]);
    assert_eq!(counts(&["loop { a=R x; leave a!=0 }; assume a==3", "W x 1; W x 2; W x 3; W x 4"]), [(1, 1); 3]);
    // Who is last says whether the reader waits for ever, is stopped, or goes on.
    let last = ["W x 0", "W x 1", "W x 2"];
    let readers =
        ["a=wait x != 0; assume a==2", "loop { a=R x; leave a!=0 }; assume a==2", "spin { a=R x } a!=0; assume a==2"];
    for reader in readers {
        for threads in [vec![reader, last[0], last[1], last[2]], vec![reader, reader, last[0], last[1]]] {
            let sketch = litmus(&threads);
            for (model, subject) in Model::OPERATIONAL
                .into_iter()
                .flat_map(|model| subjects().into_iter().map(move |subject| (model, subject)))
            {
                let found = compare(&sketch, model, &subject, Effort::default());
                let fine = matches!(found, Comparison::Agree(_)) || !(subject.applies)(&sketch, model);
                assert!(fine, "{threads:?} by {} under {model}: {found:?}", subject.name);
            }
        }
    }
}

/// Whether the reader turns for ever or is stopped by the assumption depends on which write is the last one, which reads-from classes do not
/// say; the one must not hide the other.
#[test]
fn an_assumption_hides_no_deadlock() {
    let sketch = litmus(&["loop { a=R x; assume a!=2; leave a==3 }", "W x 1", "R x; W x 2"]);
    for engine in ENGINES.iter().filter(|engine| engine.equivalence() != Equivalence::Delegated) {
        let subject = explorer(engine);
        if !(subject.applies)(&sketch, Model::Sc) {
            continue;
        }
        let found = (subject.run)(&prepared(&sketch), Model::Sc, false).expect("an answer");
        let dead = found.failures.iter().any(|failure| failure.0 == Property::Deadlock);
        assert!(dead, "{}: {found:?}", engine.name());
    }
}

/// Executions without the turns that had no effect lead wherever executions with them lead: with every turn of up to three, memory is
/// never left in another way, and there is no other race.
#[test]
fn turns_that_are_left_out_lead_nowhere_else() {
    let budget = Budget { states: 4_000, races: true, ..Budget::default() };
    let (mut compared, mut more) = (0, 0);
    for index in 0..150 {
        let sketch = generate(Family::Waits, 3, index);
        let bounded = compile(
            &sketch.program(),
            &AllShared,
            &Options { loop_bounds: LoopBounds { every: Some(3), named: Vec::new() }, ..Options::default() },
        );
        for model in Model::OPERATIONAL {
            let whole = enumerate(&bounded, model, Budget { every_turn: true, ..budget });
            let (Ok(whole), Ok(found)) = (whole, enumerate(&code(&sketch), model, budget)) else { continue };
            let finals = found.finals();
            let lost: Vec<_> = whole.finals().into_iter().filter(|memory| !finals.contains(memory)).collect();
            assert!(lost.is_empty(), "program {index} under {model}: {lost:?} is lost\n{sketch}");
            let races = |found: &Behaviours| found.failures.iter().any(|failure| failure.property == Property::Race);
            assert!(!races(&whole) || races(&found), "program {index} under {model}: a race is lost\n{sketch}");
            compared += 1;
            more += usize::from(whole.traces() > found.traces());
        }
    }
    assert!(compared > 200 && more > 50, "{compared} programs were compared, {more} had turns to leave out");
}
