//! Brute force against numbers that are known: it must be right before any engine is.

use raddle_machine::compile::{AllShared, Options};
use raddle_machine::{Code, compile};
use raddle_oracle::cases::{self, Case};
use raddle_oracle::{Behaviours, Budget, Sketch, enumerate, litmus};
use raddle_trace::Model;

fn code(sketch: &Sketch) -> Code {
    compile(&sketch.program(), &AllShared, &Options::default())
}

fn behaviours(sketch: &Sketch, model: Model) -> Behaviours {
    enumerate(&code(sketch), model, Budget::default()).expect("small")
}

fn check(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        for model in Model::ALL {
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
        let counts = Model::ALL.map(|model| behaviours(&litmus(threads), model).reads_from());
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
        let counts = [found.traces(), found.reads_from(), found.reads_value_from(), found.reads.len()];
        assert_eq!(counts, expected, "{name}");
    }
}
