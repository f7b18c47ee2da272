//! `auto` on programs that take longer than its first turn: who answers, and that the answer is that of an engine by itself.

use raddle::engine::PropertySet;
use raddle::{Control, ENGINES, Limits, Model, Outcome, Program, Property, Settings, StopReason, Verdict, verify};

fn program(text: &str) -> Program {
    raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str, engine: &str, set: impl Fn(&mut Settings)) -> Outcome {
    let mut settings = Settings { engine: ENGINES.find(engine).expect("an engine"), ..Settings::new(Model::Sc) };
    set(&mut settings);
    verify(&program(text), &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// One class of values, 100,000 classes of sources.
const SAME: &str = "
    global x: i32[5];
    fn writer(i: i32, n: i32) { for j in 0..n { store x[i], 1; } }
    fn reader(i: i32) { store x[i], 1; let r = load x[i]; }
    fn main() { for i in 0..5 { spawn writer(i, 9); spawn reader(i); } }";

/// As many classes by values as by sources: no two writes write the same.
const DIFFERENT: &str = "
    global x: i32;
    fn writer(i: i32) { store x, i; let r = load x; }
    fn main() { for i in 0..6 { spawn writer(i + 1); } }";

/// Values repeat, and one of many executions is wrong.
const WRONG: &str = "
    global x: i32; global y: i32;
    fn writer() { for j in 0..6 { store x, 1; } store y, 1; }
    fn reader() { for j in 0..5 { let r = load x; } let s = load x; let t = load y; assert !(s == 0 && t == 1) || t == 0; }
    fn late(i: i32) { store y, i; let r = load y; assert r != 9 || i != 3; }
    fn main() { for i in 0..4 { spawn writer(); } for i in 0..2 { spawn reader(); } spawn late(9); spawn late(3); }";

#[test]
fn where_values_repeat_the_engine_by_values_answers() {
    let outcome = run(SAME, "auto", |_| {});
    assert_eq!((outcome.engine, outcome.verdict, outcome.statistics.executions), ("rvf", Verdict::Holds, 1));
    let [note] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
    assert!(
        note.starts_with("auto took rvf: in ") && note.ends_with(" reads-from classes had the same values"),
        "{note}"
    );
}

#[test]
fn where_they_do_not_there_are_as_many_executions_as_classes_whoever_answers() {
    let by_sources = run(DIFFERENT, "rf", |_| {});
    let outcome = run(DIFFERENT, "auto", |_| {});
    assert_eq!((outcome.verdict, outcome.statistics.executions), (Verdict::Holds, by_sources.statistics.executions));
}

/// Who holds the lock when is all there is to choose, and what is read says it.
#[test]
fn where_each_class_of_sources_is_one_trace_the_engine_by_traces_answers() {
    let text = "
        global m: mutex; global x: i32;
        fn worker() { lock m; let r = load x; store x, r + 1; unlock m; }
        fn main() { for i in 0..7 { spawn worker(); } }";
    for workers in [1, 2] {
        let outcome = run(text, "auto", |settings| settings.options.workers = workers);
        assert_eq!((outcome.engine, outcome.statistics.executions), ("optimal", 5040), "{workers} workers");
        let [note] = &outcome.notes[..] else { panic!("{:?}", outcome.notes) };
        assert!(note.starts_with("auto took optimal: in ") && note.ends_with(" left writes no other order"), "{note}");
    }
    // Under other models too, and not where writes may come in any order.
    let buffered = run(text, "auto", |settings| settings.options.model = Model::Tso);
    assert_eq!((buffered.engine, buffered.statistics.executions), ("optimal", 5040));
    let loose = run(DIFFERENT, "auto", |_| {});
    assert_ne!(loose.engine, "optimal");
}

#[test]
fn the_answer_is_the_same_each_time_and_with_any_number_of_workers() {
    let (first, second) = (run(WRONG, "auto", |_| {}), run(WRONG, "auto", |_| {}));
    assert_eq!(first.verdict, Verdict::Violated);
    assert_eq!((first.engine, first.statistics.runs()), (second.engine, second.statistics.runs()));
    let schedules = [&first, &second].map(|outcome| format!("{:?}", outcome.findings[0].violation().schedule));
    assert_eq!(schedules[0], schedules[1]);
    for workers in [2, 3] {
        let several = run(WRONG, "auto", |settings| settings.options.workers = workers);
        assert_eq!(several.verdict, Verdict::Violated, "{workers} workers");
        let same = run(SAME, "auto", |settings| settings.options.workers = workers);
        assert_eq!((same.engine, same.statistics.executions), ("rvf", 1), "{workers} workers");
    }
}

#[test]
fn all_violations_are_those_of_an_engine_by_itself() {
    let places = |outcome: &Outcome| {
        let mut lines: Vec<u32> = outcome.findings.iter().map(|found| found.violation().place.line).collect();
        lines.sort_unstable();
        lines
    };
    let all = |engine| run(WRONG, engine, |settings| settings.options.all = true);
    let (one, other) = (all("auto"), all("rvf"));
    assert_eq!((places(&one), one.verdict), (places(&other), Verdict::Violated));
}

#[test]
fn a_limit_is_one_for_both() {
    for executions in [1, 700, 5_000] {
        let limits = Limits { executions: Some(executions), ..Limits::default() };
        let outcome = run(DIFFERENT, "auto", |settings| settings.options.limits = limits);
        assert_eq!(outcome.stop, Some(StopReason::Executions(executions)));
        assert_eq!(outcome.statistics.runs(), executions);
    }
}

/// More orders than can be gone through, few states.
#[test]
fn where_states_repeat_whoever_remembers_them_answers() {
    let text = "
        global x: i32;
        fn adds() { for i in 0..6 { atomic { let r = load x; store x, r + 1; } } }
        fn main() { for i in 0..5 { spawn adds(); } let r = load x; assert r <= 30; }";
    let outcome =
        run(text, "auto", |settings| settings.options.properties = PropertySet::none().with(Property::Assert));
    assert_eq!((outcome.engine, outcome.verdict), ("explicit", Verdict::Holds));
    assert!(outcome.notes.iter().any(|note| note.starts_with("auto took explicit: ")), "{:?}", outcome.notes);
}
