//! The engine `vc`: the counts of the literature, what it must not get wrong, and switches that must not matter.

use raddle_engine::{Control, Deadline, Engine, Fault, Finding, Options, Outcome, PropertySet, Question, Statistics};
use raddle_explore::vc::options::{Root, Settings};
use raddle_explore::vc::{self, ValueCentric};
use raddle_machine::Code;
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_oracle::compare::{Equivalence, code, explorer_by, first_mistake};
use raddle_oracle::values::restricted;
use raddle_oracle::{Effort, Family, generate, litmus};
use raddle_program::text;
use raddle_trace::{Model, Property, Verdict};
use std::collections::BTreeSet;

fn run(code: &Code, set: impl Fn(&mut Options, &mut Settings)) -> Result<Outcome, Fault> {
    let (mut options, mut settings) = (Options::new(Model::Sc), Settings::default());
    options.all = true;
    options.properties = PropertySet::all().without(Property::Race);
    set(&mut options, &mut settings);
    let (question, control) = (Question { code, options: &options }, Control::new());
    ValueCentric.takes(&question)?;
    vc::explore(question, &Deadline::new(options.limits, &control), settings)
}

fn counts(threads: &[impl AsRef<str>], set: impl Fn(&mut Settings)) -> Statistics {
    explored(threads, set).statistics
}

fn explored(threads: &[impl AsRef<str>], set: impl Fn(&mut Settings)) -> Outcome {
    let threads: Vec<&str> = threads.iter().map(AsRef::as_ref).collect();
    run(&code(&litmus(&threads)), |_, settings| set(settings)).expect("the engine takes this program")
}

/// As published: every class, and an execution for each order of leaves.
fn all(settings: &mut Settings) {
    settings.shortcut = false;
    settings.every_order = true;
}

/// As published: no order of leaves is left open, but where nobody reads any more they are not told apart.
fn strict(settings: &mut Settings) {
    settings.shortcut = false;
    settings.relaxed = false;
}

/// What the published implementation does beyond the published algorithm.
fn shortcut(settings: &mut Settings) {
    settings.relaxed = false;
}

/// Sets switches.
type Set = fn(&mut Settings);

/// A program; executions in all orders of leaves, as published, with the shortcut, and by default.
type Row = (&'static str, &'static [&'static str], [u64; 4]);

const MONABSEX: &str = "W x 1; R x";
const UPDATE: &str = "a=R x; W x a+1";
const SETTER: &str = "W a 1; W b 2";
const CHECKER: &str =
    "a=R a; if a==0 { b=R b; if b==0 { } else { c=R a; if c==1 { R b } } } else { c=R a; if c==1 { R b } }";

const TABLE: &[Row] = &[
    ("SB", &["W x 1; R y", "W y 1; R x"], [3, 3, 3, 3]),
    ("MP", &["W x 1; W y 1", "R y; R x"], [3, 3, 3, 3]),
    ("LB", &["R x; W y 1", "R y; W x 1"], [3, 3, 3, 3]),
    ("2+2W and reads", &["W x 1; W y 2", "W y 1; W x 2", "R x; R y"], [12, 12, 10, 10]),
    ("IRIW", &["W x 1", "W y 1", "R x; R y", "R y; R x"], [15, 15, 15, 15]),
    ("F1", &["W x 1", "W x 2; W x 1; R x"], [1, 1, 1, 1]),
    ("F2a", &["W x 0; W x 0; W x 0; W x 0", "R x; R x; R x; R x"], [1, 1, 1, 1]),
    ("F2b", &["W x 0; W x 0; W y 0; W y 0; W z 0; W z 0", "R x; R y; R z"], [1, 1, 1, 1]),
    ("F3", &["W x 1; W y 1", "W x 1; W y 1; R x", "W x 1; W y 1; R y"], [7, 7, 5, 2]),
    ("F4a", &["W x 1; W x 1", "W x 1; R x; W x 1; R x", "W x 1; W x 1"], [15, 15, 6, 3]),
    ("F4b", &["W x 1; W y 1", "W x 1; R x; W y 1; R y", "W x 1; W y 1"], [9, 9, 3, 2]),
    ("F4c", &[MONABSEX, MONABSEX, MONABSEX], [8, 8, 6, 2]),
    ("F5", &["W x 1; R x; W y 1", "W x 1; W y 1; R y; W x 2"], [3, 3, 3, 2]),
    ("reorder_5(2)", &[SETTER, SETTER, CHECKER], [15, 15, 10, 10]),
    ("float_read(4)", &["R x", "W x 0", "W x 1", "W x 2", "W x 3"], [96, 96, 4, 4]),
    ("two lost updates", &[UPDATE, UPDATE], [3, 3, 3, 3]),
    ("three lost updates", &[UPDATE, UPDATE, UPDATE], [23, 17, 15, 15]),
    ("lock twice", &["lock m; unlock m; lock m; unlock m", "lock m; unlock m; lock m; unlock m"], [6, 6, 6, 6]),
    ("lock order", &["lock m; lock n; unlock n; unlock m", "lock n; lock m; unlock m; unlock n"], [3, 3, 3, 3]),
    ("never unlocked", &["lock m; W x 1", "lock m; W x 2", "R x"], [4, 4, 4, 4]),
];

#[test]
fn the_reference_programs_have_their_executions() {
    let mut wrong = Vec::new();
    for (name, threads, expected) in TABLE {
        let runs = |set: Set| counts(threads, set).runs();
        let found = [runs(all), runs(strict), runs(shortcut), runs(|_| ())];
        if found != *expected {
            wrong.push(format!("{name}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_root_decides_how_many_classes_there_are() {
    let threads = ["W x 1; W y 1", "W x 1; W y 1; R x", "W x 1; W y 1; R y"];
    let with = |root| {
        counts(&threads, move |settings| {
            all(settings);
            settings.root = root;
        })
        .executions
    };
    assert_eq!([1, 2, 3].map(|number| with(Root::Nth(number))), [7, 12, 10]);
    assert_eq!(with(Root::First), 7);
    // If no thread that accesses anything is the root, each order is a class.
    assert_eq!(with(Root::Main), with(Root::Nth(9)));
}

#[test]
fn a_read_is_tried_once_for_each_side_and_value() {
    // The first read has a candidate of the same value on each side, and is tried twice; so has the second, which is no read of
    // the root, and is tried once. Then it is tried first, and the other one has only what was written meanwhile.
    let found = explored(&["W y 1; W y 2; W x 1; R x", "W x 1; R x; W x 2"], all);
    assert_eq!((found.counter("nodes"), found.statistics.executions), (7, 3));
}

/// Threads that share nothing: no read of one can find what another one writes, so none is worth a second try.
#[test]
fn reads_that_nobody_writes_for_are_tried_once() {
    let own = |thread: usize| format!("R v{thread}; W v{thread} 1; R v{thread}");
    let locked = |thread: usize| format!("lock m{thread}; R v{thread}; W v{thread} 1; unlock m{thread}");
    for thread in [&own as &dyn Fn(usize) -> String, &locked] {
        let threads: Vec<String> = (0..12).map(thread).collect();
        let found = explored(&threads, |_| {});
        assert_eq!(found.statistics.executions, 1, "{threads:?}");
        assert!(found.counter("nodes") <= 1 + 2 * 12, "{:?}", found.counters);
        let all = explored(&threads[..5], |settings| settings.signals = false);
        assert!(all.counter("nodes") > 200, "{:?}", all.counters);
    }
}

fn times(count: usize, text: &str) -> String {
    vec![text; count].join("; ")
}

/// A thread, and `count` times another one.
fn one_and(first: String, count: usize, other: &str) -> Vec<String> {
    std::iter::once(first).chain(vec![other.to_owned(); count]).collect()
}

#[test]
fn the_published_families_have_their_executions() {
    let runs = |threads: &[String]| counts(threads, |_| ()).runs();
    for n in 1..=4 {
        let factorial: u64 = (1..=n as u64 + 1).product();
        assert_eq!(runs(&one_and(times(n, "R r"), n, "lock m; W r 1; unlock m")), factorial, "30_Fun_Point({n})");
    }
    for n in 1..=9_u64 {
        let writers: Vec<String> = (0..n).map(|value| format!("W x {value}")).collect();
        let reader = ["R x".to_owned()];
        assert_eq!(runs(&[&reader[..], &writers].concat()), n, "float_read({n}), the reader is the root");
        assert_eq!(runs(&[&writers, &reader[..]].concat()), n, "float_read({n}), a writer is the root");
    }
    for n in [1, 2, 8, 9] {
        let writer = times(4 * n, "W x 1");
        let threads = [writer.clone(), writer, "R x; R x".into()];
        assert_eq!(runs(&threads), 4 * n as u64 + 3, "redundant_co({n})");
    }
    // Published are 600, and 1,016 for five setters; orders of leaves are only told apart where the closure asks.
    assert_eq!(runs(&[MONABSEX; 5].map(str::to_owned)), 92, "45_monabsex(5)");
    let strictly = counts(&[MONABSEX; 5], shortcut);
    assert_eq!(strictly.runs(), 600, "45_monabsex(5), strict, as published");
    let setters = [vec![SETTER.to_owned(); 5], vec![CHECKER.to_owned()]].concat();
    assert_eq!(runs(&setters), 244, "reorder_5(5)");
}

const FIB: &str = "
    global x: i32 = 1;
    global y: i32 = 1;
    fn left() { for k in 0..N { let a = load x; let b = load y; store x, (a + b) % MOD; } }
    fn right() { for k in 0..N { let a = load y; let b = load x; store y, (a + b) % MOD; } }
    fn reader() { load x; load y; }
    fn main() { spawn left(); spawn right(); if READER > 0 { spawn reader(); } }
    param N = 1;
    param MOD = 1000000;
    param READER = 0;
";

#[test]
fn fib_bench_has_its_executions() {
    let executions = |n: i64, modulo: i64, reader: i64, set: Set| {
        let params = [("N", n), ("MOD", modulo), ("READER", reader)];
        let program = text::parse("fib", FIB, &params.map(|(name, value)| (name.to_owned(), value)));
        let code = compile(&program.expect("a program"), &AllShared, &CompileOptions::default());
        run(&code, |_, settings| set(settings)).expect("the engine takes it").statistics.executions
    };
    const INFINITE: i64 = 1_000_000;
    let moduli = [INFINITE, 3, 2, 1];
    for (n, reader, expected) in [
        (1, 0, [3, 3, 3, 3]),
        (2, 0, [19, 17, 14, 13]),
        (3, 0, [141, 104, 72, 51]),
        (1, 1, [11, 11, 10, 11]),
        (2, 1, [140, 114, 75, 70]),
    ] {
        assert_eq!(moduli.map(|modulo| executions(n, modulo, reader, all)), expected, "{n} turns, reader {reader}");
    }
}

/// The first of so many random programs on which the engine with these options is wrong.
fn mistake(programs: u64, set: impl Fn(&mut Settings) + Send + Sync + 'static) -> Option<String> {
    let subject = restricted(explorer_by("vc", Equivalence::ValueCentric, move |question, deadline| {
        let mut settings = Settings::default();
        set(&mut settings);
        vc::explore(*question, deadline, settings)
    }));
    let effort = Effort { states: 5_000, classes: 500 };
    first_mistake(&subject, Model::Sc, effort, (0..programs).map(|index| generate(Family::Plain, 5, index)))
}

#[test]
fn no_switch_matters_to_what_is_found() {
    let open: Set = |settings| settings.shortcut = false;
    for (number, set) in [all, strict, shortcut, open].into_iter().enumerate() {
        assert_eq!(mistake(300, set), None, "the switches {number}");
    }
}

#[test]
fn every_root_finds_the_same() {
    let mut compared = 0;
    for index in 0..300 {
        let sketch = generate(Family::Plain, 6, index);
        let found = |root| {
            let outcome = match run(&code(&sketch), |_, settings| settings.root = root) {
                Err(Fault::Refused(refusal)) => return Err(refusal.message),
                outcome => outcome.expect("what is found is replayed"),
            };
            let violations = outcome.findings.iter().map(Finding::violation);
            let lines: BTreeSet<_> = violations.map(|bug| (bug.property, bug.place.line)).collect();
            let Statistics { executions, blocked, failed, bounded, .. } = outcome.statistics;
            Ok((lines, [executions, blocked, failed, bounded].map(|count| count > 0)))
        };
        let expected = found(Root::First);
        compared += u32::from(expected.is_ok());
        for root in [Root::Main, Root::Nth(2), Root::Nth(9)] {
            assert_eq!(found(root), expected, "{root:?}\n{sketch}");
        }
    }
    assert!(compared >= 280, "{compared} of 300 programs were taken");
}

#[test]
fn what_it_cannot_decide_is_refused() {
    let refusal =
        |threads: &[&str], set: fn(&mut Options)| match run(&code(&litmus(threads)), |options, _| set(options)) {
            Err(Fault::Refused(refusal)) => refusal.message,
            other => panic!("{other:?}"),
        };
    let tso = refusal(&["W x 1"], |options| options.model = Model::Tso);
    assert!(tso.contains("memory model") && tso.contains("--engine optimal"), "{tso}");
    let atomic = refusal(&["atomic { a=R x; W x a+1 }", "W x 1"], |_| ());
    assert!(atomic.contains("atomic blocks"), "{atomic}");
    let race = refusal(&["W.na x 1", "R.na x"], |options| options.properties = PropertySet::all());
    assert!(race.contains("does not go on after a data race"), "{race}");
    let crowded = refusal(&["barrier b", "barrier b", "barrier b"], |_| ());
    assert!(crowded.contains("`arrive`"), "{crowded}");
    for (thread, name) in [
        ("A x 1", "add"),
        ("C x 0 1", "cas"),
        ("CW x 0 1", "cas"),
        ("rdlock l", "rdlock"),
        ("wrlock l", "wrlock"),
        ("semwait s", "sem wait"),
        ("lock m; condwait c m", "wait"),
        ("signal c", "signal"),
    ] {
        let update = refusal(&[thread, "R y"], |_| ());
        assert!(update.contains("read and write in one step") && update.contains(name), "{update}");
        assert!(update.contains("--engine optimal"), "{update}");
    }
    let late = refusal(&["p0=zalloc; WP q p0; free p0", "p0=RP q; ifnull p0 { } else { W *p0 1 }"], |_| ());
    assert!(late.contains("end of its object"), "{late}");
}

#[test]
fn limits_and_notes_are_told() {
    let limited = run(&code(&litmus(&["W x 1; R y", "W y 1; R x"])), |options, _| options.limits.executions = Some(2));
    let limited = limited.expect("the engine takes it");
    assert_eq!(limited.verdict, Verdict::Unknown);
    assert_eq!(limited.statistics.runs(), 2);
    let exact = run(&code(&litmus(&["W x 1; R y", "W y 1; R x"])), |options, _| options.limits.executions = Some(3));
    assert_eq!(exact.expect("the engine takes it").verdict, Verdict::Holds);
    let workers = run(&code(&litmus(&["W x 1; R y", "W y 1; R x"])), |options, _| options.workers = 2);
    let workers = workers.expect("the engine takes it");
    assert_eq!((workers.verdict, workers.statistics.runs()), (Verdict::Holds, 3));
    assert!(workers.notes.is_empty(), "{:?}", workers.notes);
}

#[test]
fn a_limit_is_heard_between_the_orders_of_one_node() {
    // All writers are done before the first read: whoever reads puts them into every order, all in one node.
    let threads: Vec<&str> = std::iter::once("R x; R x").chain(std::iter::repeat_n("W x 1", 9)).collect();
    let sketch = litmus(&threads);
    let limited = run(&code(&sketch), |options, settings| {
        (options.limits.memory, settings.relaxed) = (Some(1), false);
    });
    let limited = limited.expect("the engine takes this program");
    assert_eq!(limited.verdict, Verdict::Unknown);
    assert!(limited.counter("nodes") <= 2, "{:?}", limited.counters);
    let control = Control::new();
    control.stop();
    let mut options = Options::new(Model::Sc);
    options.properties = PropertySet::all().without(Property::Race);
    let engine: &dyn Engine = &ValueCentric;
    let code = code(&sketch);
    let stopped = engine.ask(&Question { code: &code, options: &options }, &control);
    let stopped = stopped.expect("the engine takes this program");
    assert_eq!((stopped.verdict, stopped.statistics.runs()), (Verdict::Unknown, 0));
}
