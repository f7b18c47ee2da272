//! Brute force against numbers that are known: it must be right before any engine is.

use raddle_machine::{Automaton, Code, Status, System, Thread};
use raddle_oracle::brute::{End, TooLarge, classify};
use raddle_oracle::cases::{self, Case};
use raddle_oracle::class::Class;
use raddle_oracle::compare::code;
use raddle_oracle::{Behaviours, Budget, Family, Sketch, enumerate, generate, litmus};
use raddle_trace::{Model, Property, Schedule, Step};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

fn behaviours(sketch: &Sketch, model: Model) -> Behaviours {
    enumerate(&code(sketch), model, Budget::default()).expect("small")
}

fn check(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        for model in Model::OPERATIONAL {
            let found = behaviours(&case.sketch, model);
            let counts = (found.traces(), found.blocked.traces.len());
            if counts != case.expected(model) {
                wrong.push(format!("{} under {model}: {counts:?}, not {:?}", case.name, case.expected(model)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_litmus_table_has_its_traces() {
    check(cases::litmus_table());
}

#[test]
fn the_programs_that_trap_naive_explorations_have_their_traces() {
    check(cases::traps());
}

#[test]
fn the_families_have_their_traces() {
    check(cases::families());
}

#[test]
fn larger_members_of_the_families_have_their_traces() {
    check(vec![cases::fib(4, false), cases::lost_update(4), cases::store_buffering(5), cases::readers(7)]);
}

#[test]
fn the_litmus_table_has_its_reads_from_classes() {
    let table: &[(&[&str], [usize; 3])] = &[
        (&["W x 1; R y", "W y 1; R x"], [3, 4, 4]),
        (&["W x 1; F; R y", "W y 1; F; R x"], [3, 3, 3]),
        (&["W x 1; F; R y", "W y 1; R x"], [3, 4, 4]),
        (&["W x 1; R y", "W y 1; R z", "W z 1; R x"], [7, 8, 8]),
        (&["W x 1; R y", "W y 1; R z", "W z 1; R w", "W w 1; R x"], [15, 16, 16]),
        (&["W x 1; W y 1", "R y; R x"], [3, 3, 4]),
        (&["W x 1; F; W y 1", "R y; R x"], [3, 3, 3]),
        (&["R x; W y 1", "R y; W x 1"], [3, 3, 3]),
        (&["W x 1", "R x; R x"], [3, 3, 3]),
        (&["W x 1", "W x 2", "R x; R x", "R x; R x"], [47, 47, 47]),
        (&["W x 1", "W y 1", "R x; R y", "R y; R x"], [15, 15, 15]),
        (&["W x 1", "R x; W y 1", "R y; R x"], [7, 7, 7]),
        (&["W x 1; W y 2", "W y 1; W x 2"], [1, 1, 1]),
        (&["W x 1; W y 1; R y", "W y 1; W x 1; R x"], [3, 3, 4]),
        (&["W x 1; W y 1", "W y 1; R x; R y"], [4, 4, 4]),
        (&["W x 1; R x; R y", "W y 1; R y; R x"], [3, 4, 4]),
        (&["W x 1", "W x 2", "R x"], [3, 3, 3]),
        (&["W x 1", "W x 2", "W x 3", "R x"], [4, 4, 4]),
        (&["W x 1; R x", "W x 2; R x"], [3, 3, 3]),
        (&["W x 1; R x", "W x 2; R x", "W x 3; R x"], [16, 16, 16]),
        (&["W x 1; R x", "W x 2; R x", "W x 3; R x", "W x 4; R x"], [125, 125, 125]),
        (&["W x 1; W y 1; R x; R y", "W x 2; W y 2; R x; R y"], [9, 9, 9]),
        (&["W x 1; W y 1; R x; R y", "W x 2; W y 2; R x; R y", "W x 3; W y 3; R x; R y"], [220, 256, 256]),
        (&["A x 1", "A x 1"], [2, 2, 2]),
        (&["A x 1", "A x 1", "A x 1"], [6, 6, 6]),
        (&["A x 1", "A x 1", "A x 1", "A x 1"], [24, 24, 24]),
        (&["A x 1; A x 1", "A x 1; A x 1"], [6, 6, 6]),
        (&["C x 0 1", "C x 0 2", "C x 0 3"], [3, 3, 3]),
        (&["C x 0 1", "C x 1 2", "C x 2 0"], [5, 5, 5]),
        (&["A x 1; R y", "A y 1; R x"], [3, 3, 3]),
        (&["R x", "A x 1", "W x 1", "R x"], [18, 18, 18]),
        (&["W x 1; R x; W x 2", "R x; R x"], [6, 6, 6]),
        (&["W x 1; W z 1; R y; R z", "W y 1; W z 2; R x; R z"], [7, 12, 12]),
        (&["W x 1; F; R y; W z 1; R z", "W y 1; F; R x; W z 2; R z"], [9, 9, 9]),
    ];
    for &(threads, expected) in table {
        let counts = Model::OPERATIONAL.map(|model| behaviours(&litmus(threads), model).reads_from());
        assert_eq!(counts, expected, "{threads:?}");
    }
}

/// Mazurkiewicz, reads-from, reads-value-from classes and value functions under SC.
#[test]
fn programs_that_separate_the_equivalences_do() {
    let table: &[(&str, &[&str], [usize; 4])] = &[
        ("SB", &["W x 1; R y", "W y 1; R x"], [3, 3, 3, 3]),
        ("2+2W and reads", &["W x 1; W y 2", "W y 1; W x 2", "R x; R y"], [22, 8, 8, 8]),
        ("F1", &["W x 1", "W x 2; W x 1; R x"], [4, 2, 1, 1]),
        ("F2a", &["W x 0; W x 0; W x 0; W x 0", "R x; R x; R x; R x"], [70, 70, 1, 1]),
        ("F2b", &["W x 0; W x 0; W y 0; W y 0; W z 0; W z 0", "R x; R y; R z"], [27, 27, 1, 1]),
        ("F3", &["W x 1; W y 1", "W x 1; W y 1; R x", "W x 1; W y 1; R y"], [98, 9, 1, 1]),
        ("F4a", &["W x 1; W x 1", "W x 1; R x; W x 1; R x", "W x 1; W x 1"], [420, 19, 1, 1]),
        ("F4b", &["W x 1; W y 1", "W x 1; R x; W y 1; R y", "W x 1; W y 1"], [144, 9, 1, 1]),
        ("F4c", &["W x 1; R x", "W x 1; R x", "W x 1; R x"], [36, 16, 1, 1]),
        ("F5", &["W x 1; R x; W y 1", "W x 1; W y 1; R y; W x 2"], [12, 5, 3, 2]),
        ("float_read", &["R x", "W x 0", "W x 1", "W x 2", "W x 3"], [120, 5, 4, 4]),
        ("lost update, 2", &["a=R x; W x a+1", "a=R x; W x a+1"], [4, 3, 3, 3]),
        ("lost update, 3", &["a=R x; W x a+1", "a=R x; W x a+1", "a=R x; W x a+1"], [36, 16, 16, 13]),
        ("CAS race", &["C x 0 1", "C x 0 2", "C x 0 3"], [3, 3, 3, 3]),
        ("add and CAS", &["A x 1", "C x 0 5"], [2, 2, 2, 2]),
        ("lock twice", &["lock m; unlock m; lock m; unlock m", "lock m; unlock m; lock m; unlock m"], [6, 6, 6, 1]),
    ];
    for &(name, threads, expected) in table {
        let found = behaviours(&litmus(threads), Model::Sc);
        let counts = [found.traces(), found.reads_from(), found.reads_value_from(), found.reads().len()];
        assert_eq!(counts, expected, "{name}");
    }
}

/// Every run to its end, one after the other: no state is recognised, no move is preferred.
fn runs(system: &System<'_>, steps: &mut Vec<Step>, limit: usize, found: &mut Vec<Schedule>) {
    let moves = system.moves();
    if moves.is_empty() {
        found.push(Schedule { steps: steps.clone() });
    }
    for step in moves {
        if found.len() >= limit {
            return;
        }
        let mut next = system.clone();
        next.step(step).expect("among the moves");
        steps.push(step);
        runs(&next, steps, limit, found);
        steps.pop();
    }
}

/// What has failed at the end of a run.
fn failed(code: &Code, model: Model, schedule: &Schedule) -> Vec<(Property, u32)> {
    let mut system = System::new(code, model, false, false);
    for &step in &schedule.steps {
        system.step(step).expect("a run");
    }
    let failure = |thread: &Thread| match thread.status() {
        Status::Failed(failure) => failure.property.map(|property| (property, code.span(failure.pc).line)),
        _ => None,
    };
    system.threads().filter_map(failure).collect()
}

#[test]
fn recognising_states_loses_no_class() {
    const LIMIT: usize = 2_000;
    // Without recognising states there is no end to loops as they are written.
    let families: Vec<Family> = Family::ALL.into_iter().filter(|&family| family != Family::Waits).collect();
    let mut compared = vec![0; families.len()];
    for index in 0..400 {
        let family = families[index % families.len()];
        let sketch = generate(family, 5, index as u64);
        let code = code(&sketch);
        for model in Model::OPERATIONAL {
            let mut schedules = Vec::new();
            runs(&System::new(&code, model, false, false), &mut Vec::new(), LIMIT, &mut schedules);
            if schedules.len() >= LIMIT {
                continue;
            }
            let found = match enumerate(&code, model, Budget::default()) {
                // A message that ends holding a lock is not followed.
                Err(TooLarge::Machine(_)) if family == Family::Events => continue,
                found => found.expect("small"),
            };
            compared[index % families.len()] += 1;
            let mut classes: [FxHashSet<Class>; 3] = Default::default();
            for schedule in &schedules {
                let (end, class) = classify(&code, model, schedule).expect("a whole run");
                match end {
                    End::Complete => classes[0].insert(class),
                    End::Blocked => classes[1].insert(class),
                    End::Failed => classes[2].insert(class),
                    End::Bounded | End::Moot => false,
                };
            }
            let known = [found.complete.traces, found.blocked.traces, found.failed.traces];
            assert_eq!(known, classes, "{model}\n{sketch}");
            let failures = found.failures.iter().filter(|failure| failure.property != Property::Deadlock);
            let failures: BTreeSet<_> = failures.map(|failure| (failure.property, failure.line)).collect();
            let met: BTreeSet<_> = schedules.iter().flat_map(|schedule| failed(&code, model, schedule)).collect();
            assert_eq!(failures, met, "{model}\n{sketch}");
        }
    }
    assert!(compared.iter().all(|&count| count > 20), "{compared:?}");
}
