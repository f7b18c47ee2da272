//! The engine `rvf`: the counts of the literature, and switches that must not matter.

use raddle_engine::{Control, Deadline, Engine, Fault, Options, Outcome, PropertySet, Question, Statistics};
use raddle_explore::rvf::options::Settings;
use raddle_explore::rvf::{self, ReadsValueFrom};
use raddle_oracle::compare::Subject;
use raddle_oracle::compare::{Equivalence, code, explorer_by, first_mistake};
use raddle_oracle::values::restricted;
use raddle_oracle::{Comparison, Effort, Family, Sketch, compare, generate, litmus};
use raddle_trace::{Model, Property};

fn run(sketch: &Sketch, set: impl Fn(&mut Options, &mut Settings)) -> Result<Outcome, Fault> {
    let (mut options, mut settings) = (Options::new(Model::Sc), Settings::default());
    options.all = true;
    options.properties = PropertySet::all().without(Property::Race);
    set(&mut options, &mut settings);
    let (code, control) = (code(sketch), Control::new());
    let question = Question { code: &code, options: &options };
    ReadsValueFrom.takes(&question)?;
    rvf::explore(question, &Deadline::new(options.limits, &control), settings)
}

fn explored(threads: &[&str], set: impl Fn(&mut Settings)) -> Outcome {
    run(&litmus(threads), |_, settings| set(settings)).expect("the engine takes this program")
}

fn counts(threads: &[&str], set: impl Fn(&mut Settings)) -> Statistics {
    explored(threads, set).statistics
}

/// The engine with these settings.
fn subject(set: impl Fn(&mut Settings) + Send + Sync + 'static) -> Subject {
    restricted(explorer_by("rvf", Equivalence::ReadsValueFrom, move |question, deadline| {
        let mut settings = Settings::default();
        set(&mut settings);
        rvf::explore(*question, deadline, settings)
    }))
}

/// A program; executions by source and by value; nodes with and without signals.
type Row = (&'static str, &'static [&'static str], [u64; 4]);

const MONABSEX: &str = "W x 1; R x";
const UPDATE: &str = "a=R x; W x a+1";

const TABLE: &[Row] = &[
    ("SB", &["W x 1; R y", "W y 1; R x"], [3, 3, 6, 8]),
    ("MP", &["W x 1; W y 1", "R y; R x"], [3, 3, 6, 6]),
    ("LB", &["R x; W y 1", "R y; W x 1"], [3, 3, 6, 6]),
    ("2+2W and reads", &["W x 1; W y 2", "W y 1; W x 2", "R x; R y"], [8, 8, 12, 12]),
    ("IRIW", &["W x 1", "W y 1", "R x; R y", "R y; R x"], [15, 15, 30, 48]),
    ("F1", &["W x 1", "W x 2; W x 1; R x"], [2, 1, 2, 2]),
    ("F2a", &["W x 0; W x 0; W x 0; W x 0", "R x; R x; R x; R x"], [70, 1, 5, 5]),
    ("F2b", &["W x 0; W x 0; W y 0; W y 0; W z 0; W z 0", "R x; R y; R z"], [27, 1, 4, 4]),
    ("F3", &["W x 1; W y 1", "W x 1; W y 1; R x", "W x 1; W y 1; R y"], [9, 1, 3, 4]),
    ("F4a", &["W x 1; W x 1", "W x 1; R x; W x 1; R x", "W x 1; W x 1"], [19, 1, 3, 3]),
    ("F4b", &["W x 1; W y 1", "W x 1; R x; W y 1; R y", "W x 1; W y 1"], [9, 1, 3, 3]),
    ("F4c", &[MONABSEX, MONABSEX, MONABSEX], [16, 1, 4, 8]),
    ("F5", &["W x 1; R x; W y 1", "W x 1; W y 1; R y; W x 2"], [5, 2, 5, 5]),
    ("float_read", &["R x", "W x 0", "W x 1", "W x 2", "W x 3"], [5, 4, 5, 5]),
    ("two lost updates", &[UPDATE, UPDATE], [3, 3, 6, 6]),
    ("three lost updates", &[UPDATE, UPDATE, UPDATE], [16, 14, 27, 27]),
    ("CAS race", &["C x 0 1", "C x 0 2", "C x 0 3"], [3, 3, 13, 13]),
    ("add and CAS", &["A x 1", "C x 0 5"], [2, 2, 5, 5]),
    ("lock twice", &["lock m; unlock m; lock m; unlock m", "lock m; unlock m; lock m; unlock m"], [6, 6, 19, 19]),
    ("lock order", &["lock m; lock n; unlock n; unlock m", "lock n; lock m; unlock m; unlock n"], [3, 3, 10, 10]),
    ("never unlocked", &["lock m; W x 1", "lock m; W x 2", "R x"], [4, 4, 8, 8]),
];

#[test]
fn the_reference_programs_have_their_executions_and_nodes() {
    let mut wrong = Vec::new();
    for (name, threads, expected) in TABLE {
        let by_source = counts(threads, |settings| settings.by_source = true);
        let by_value = explored(threads, |_| ());
        let no_signals = explored(threads, |settings| settings.signals = false);
        let runs = by_value.statistics.runs();
        assert_eq!(runs, no_signals.statistics.runs(), "{name}");
        let found = [by_source.runs(), runs, by_value.counter("nodes"), no_signals.counter("nodes")];
        if found != *expected {
            wrong.push(format!("{name}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_update_is_not_executed_greedily() {
    let threads = ["W x 1; A x 1; R x", "W x 1", "R x; R x"];
    // The sequence at hand is a solution where the search would miss one, and the closure leaves the search no choice.
    let searching = |settings: &mut Settings| (settings.guidance, settings.closure) = (false, false);
    let compared = compare(&litmus(&threads), Model::Sc, &subject(searching), Effort::default());
    assert!(matches!(compared, Comparison::Agree(_)), "{compared:?}");
}

/// The first of so many random programs on which something is lost with these settings.
fn loss(programs: u64, set: impl Fn(&mut Settings) + Send + Sync + 'static) -> Option<String> {
    let effort = Effort { states: 5_000, classes: 500 };
    first_mistake(&subject(set), Model::Sc, effort, (0..programs).map(|index| generate(Family::Mixed, 5, index)))
}

/// The name of a switch, and how it is set.
type Named = (&'static str, fn(&mut Settings));

#[test]
fn no_heuristic_is_needed() {
    for (name, set) in HEURISTICS {
        assert_eq!(loss(300, set), None, "without {name}");
    }
    assert_eq!(loss(300, |settings| HEURISTICS.iter().for_each(|(_, set)| set(settings))), None, "without any");
}

/// Every heuristic, and how it is switched off.
const HEURISTICS: [Named; 4] = [
    ("closure", |settings| settings.closure = false),
    ("greedy", |settings| settings.greedy = false),
    ("guidance", |settings| settings.guidance = false),
    ("signals", |settings| settings.signals = false),
];

#[test]
fn heuristics_do_not_change_what_is_explored() {
    for index in 0..300 {
        let sketch = generate(Family::Mixed, 6, index);
        for by_source in [false, true] {
            let ends = |set: fn(&mut Settings)| {
                let outcome = run(&sketch, |_, settings| {
                    settings.by_source = by_source;
                    set(settings);
                });
                let found = outcome.expect("the engine takes this program").statistics;
                [found.executions, found.blocked, found.failed, found.bounded]
            };
            let expected = ends(|_| ());
            for (name, set) in HEURISTICS {
                assert_eq!(ends(set), expected, "without {name}\n{sketch}");
            }
        }
    }
}

#[test]
fn any_number_of_workers_explores_the_same() {
    for index in 0..300 {
        let sketch = generate(Family::Mixed, 7, index);
        let explored = |workers| {
            let outcome = run(&sketch, |options, _| options.workers = workers).expect("the engine takes this program");
            (outcome.verdict, outcome.findings.len(), outcome.statistics, outcome.counters)
        };
        let expected = explored(1);
        for workers in [2, 3] {
            assert_eq!(explored(workers), expected, "{workers} workers\n{sketch}");
        }
    }
}

#[test]
fn what_it_cannot_decide_is_refused() {
    let refusal = |threads: &[&str], set: fn(&mut Options)| match run(&litmus(threads), |options, _| set(options)) {
        Err(Fault::Refused(refusal)) => refusal.message,
        other => panic!("{other:?}"),
    };
    let tso = refusal(&["W x 1"], |options| options.model = Model::Tso);
    assert!(tso.contains("memory model") && tso.contains("--engine optimal"), "{tso}");
    let atomic = refusal(&["atomic { a=R x; W x a+1 }", "W x 1"], |_| ());
    assert!(atomic.contains("atomic blocks"), "{atomic}");
    let race = refusal(&["W.na x 1", "R.na x"], |options| options.properties = PropertySet::all());
    assert!(race.contains("does not go on after a data race"), "{race}");
    // The write may come after the end of the object; without an interest in that, what follows cannot be told.
    let late = ["p0=zalloc; WP q p0; free p0", "p0=RP q; ifnull p0 { } else { W *p0 1 }"];
    let memory = refusal(&late, |options| options.properties = [Property::Assert].into_iter().collect());
    assert!(memory.contains("end of its object"), "{memory}");
    let found = run(&litmus(&late), |_, _| ()).expect("here it is of interest").findings;
    assert_eq!(found[0].violation().property, Property::Memory);
}
