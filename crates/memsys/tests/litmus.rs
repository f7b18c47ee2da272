//! Runs whose verdicts are known, and the published and measured numbers of configurations (Grahn 2026).

use raddle_memsys::machine::{Event, Machine, Move, Register};
use raddle_memsys::observer::{self, Search, observe};
use raddle_memsys::run::replay;
use raddle_memsys::{Budget, Model, Verdict, check_run, format, judge, verify};

/// A machine with this one run: `W1xa R2yb`, cores, locations and registers of a letter each.
fn line(events: &str, initial_values: bool) -> Machine {
    let mut machine = Machine::new("line");
    machine.initial_values = initial_values;
    let cores = ["1", "2"].map(|name| machine.add_core(name));
    let locations = ["x", "y"].map(|name| machine.add_location(name));
    let registers: Vec<Register> = "abcd".chars().map(|name| machine.add_register(name)).collect();
    let mut state = machine.add_state("s0");
    for (number, word) in events.split_whitespace().enumerate() {
        let at = |index: usize| word.as_bytes()[index];
        let core = cores[usize::from(at(1) - b'1')];
        let location = locations[usize::from(at(2) - b'x')];
        let register = registers[usize::from(at(3) - b'a')];
        let event = match at(0) {
            b'W' => Event::Write { core, location, register },
            _ => Event::Read { core, location, register },
        };
        let next = machine.add_state(format!("s{}", number + 1));
        machine.add(state, event, next);
        state = next;
    }
    machine
}

#[test]
fn litmus_runs_are_judged_alike_by_everybody() {
    for (name, events, initial, holds) in [
        ("hidden write", "W1xa W1xb R1xa", false, [false, false, false]),
        ("mutual justification", "W1xa W2xb R1xb R2xa", false, [true, false, false]),
        ("2+2W with reads", "W1xa W1yb W2yc W2xd R1yc R2xa", false, [true, true, false]),
        ("store buffering", "W1xa W2yb R1yc R2xd", true, [true, true, true]),
        ("message passing, bad", "W1xa W1xc W1yb R2yb R2xa", false, [false, false, false]),
        ("message passing, bad with an initial value", "W1xa W1yb R2yb R2xd", true, [false, false, false]),
        ("the same without initial values", "W1xa W1yb R2yb R2xd", false, [true, true, true]),
        ("another location's value", "W1xa R2ya W2xb R1xb R1xa", false, [false, false, false]),
        ("another location's value, alone", "W1xa W1xb R1ya", false, [true, true, true]),
    ] {
        let machine = line(events, initial);
        let moves: Vec<Move> = (0..machine.transitions().len() as u32).map(Move).collect();
        let run = replay(&machine, &moves).expect("a line is a run");
        for (model, holds) in Model::ALL.into_iter().zip(holds) {
            assert_eq!(judge(&run, model).is_none(), holds, "{name} under {model}, by the definitions");
            assert_eq!(!check_run(&run).is(model), holds, "{name} under {model}, by clocks");
            let outcome = verify(&machine, model, &Budget::default()).expect("a machine");
            assert_eq!(matches!(outcome.verdict, Verdict::Holds), holds, "{name} under {model}, as a machine");
        }
    }
}

fn example(name: &str, parameters: &[(&str, i64)]) -> Machine {
    let path = format!("{}/../../examples/memsys/{name}.sys", env!("CARGO_MANIFEST_DIR"));
    let parameters: Vec<(String, i64)> = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    format::read(&std::fs::read(path).expect("the example is there"), &parameters).expect("an example is accepted")
}

/// Configurations of the plain observer for one strand, two and so on, and the length of the violation that ends the last search.
fn configurations(machine: &Machine, model: Model, strands: usize, forget: bool) -> (Vec<u64>, Option<usize>) {
    let mut counts = Vec::new();
    for strands in 1..=strands {
        let search = Search { model, strands, longest: usize::MAX, forget };
        let (found, count) = observe(machine, search, &Budget::default());
        counts.push(count);
        if let observer::Found::Violation(moves) = found {
            return (counts, Some(moves.len()));
        }
    }
    (counts, None)
}

#[test]
fn the_observer_meets_as_many_configurations_as_the_prototype() {
    let two = [("V", 2)];
    for (name, parameters, model, expected) in [
        ("msi", &[][..], Model::Ra, &[17, 60][..]),
        ("msi", &[], Model::Sra, &[17, 60]),
        ("msi", &two, Model::Ra, &[278, 1728]),
        ("msi", &two, Model::Sra, &[278, 3538]),
        ("msi", &[("N", 3)], Model::Ra, &[195, 1906, 7294]),
        ("store_buffers", &[], Model::Ra, &[331, 2509]),
        ("store_buffers", &[], Model::Sra, &[331, 4991]),
        ("store_buffers", &[("C", 2)], Model::Ra, &[7961, 197_745]),
        ("store_buffers", &[("C", 2)], Model::Sra, &[7961, 341_109]),
    ] {
        let machine = example(name, parameters);
        let found = configurations(&machine, model, expected.len(), false);
        assert_eq!(found, (expected.to_vec(), None), "{name} {parameters:?} under {model}");
        assert_eq!(configurations(&machine, model, expected.len(), true).1, None, "{name} with forgetting");
    }
}

#[test]
fn replicas_are_causal_and_no_more() {
    for (parameters, first, length) in [(&[][..], 1397, 8), (&[("N", 3), ("K", 1)], 6260, 10)] {
        let machine = example("causal_broadcast", parameters);
        let (counts, found) = configurations(&machine, Model::Ra, 2, false);
        assert_eq!((counts[0], found), (first, Some(length)), "{parameters:?}");
    }
    let fifo = example("fifo_replication", &[]);
    let (_, found) = configurations(&fifo, Model::Wra, 1, false);
    assert_eq!(found, Some(12));
}

#[test]
fn a_violation_says_whether_it_is_the_shortest() {
    let fifo = example("fifo_replication", &[]);
    let length = |model, budget: &Budget| match verify(&fifo, model, budget).expect("a machine").verdict {
        Verdict::Violated(violation) => (violation.moves.len(), violation.shortest),
        other => panic!("{other:?}"),
    };
    assert_eq!(length(Model::Wra, &Budget::default()), (12, true));
    assert_eq!(length(Model::Ra, &Budget::default()), (10, true), "two coherence edges are shorter than one here");
    let tight = Budget { configurations: 6200, ..Budget::default() };
    assert_eq!(length(Model::Ra, &tight), (12, false), "the shorter one is out of reach");
}

#[test]
fn a_limit_is_no_verdict_and_says_how_far_it_got() {
    let machine = example("store_buffers", &[]);
    let limited = |configurations| {
        let budget = Budget { configurations, ..Budget::default() };
        match verify(&machine, Model::Sra, &budget).expect("a machine").verdict {
            Verdict::Unknown { edges, .. } => edges,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(limited(10), 0);
    assert_eq!(limited(300), 1, "WRA is decided, two strands are not");
}

#[test]
fn what_is_odd_is_found() {
    use raddle_memsys::lint::{Oddity, lint};
    let machine = line("W1xa R2ya R2yb", false);
    let odd = lint(&machine);
    let written = raddle_memsys::machine::Location(0);
    assert!(odd.contains(&Oddity::OtherLocation(Move(1), written)) && odd.contains(&Oddity::Empty(Move(2))), "{odd:?}");
    assert!(odd.iter().any(|odd| matches!(odd, Oddity::Stuck(_))), "{odd:?}");
    assert_eq!(odd.len(), 3, "{odd:?}");
    assert!(lint(&example("msi", &[])).is_empty());
}
