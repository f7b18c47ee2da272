//! Answers made by hand, for the tests of every form they are put into.

use raddle_report::{Answer, Body, Check, Cost, Counterexample, Sources};
use raddle_trace::execution::Entry;
use raddle_trace::{
    Action, Event, EventName, Execution, Model, Place, Property, Scope, Source, ThreadName, Verdict, Violation, Waiting,
};
use std::collections::BTreeMap;

pub(crate) const DEKKER: &str = "\
global x: i32;
global y: i32;
global inside: i32;

fn left() {
    store x, 1;
    let r = load y;
    assume(r == 0);
    let before = add inside, 1;
    assert(before == 0, \"one thread at a time\");
}

fn right() {
    store y, 1;
    let r = load x;
    assume(r == 0);
    let before = add inside, 1;
    assert(before == 0, \"one thread at a time\");
}

fn main() {
    spawn left();
    spawn right();
}
";

pub(crate) fn sources() -> Sources {
    [("dekker.rdl", DEKKER)].into_iter().collect()
}

pub(crate) fn place(line: u32) -> Place {
    let text = DEKKER.lines().nth(line as usize - 1).expect("a line of the program").trim();
    Place { file: "dekker.rdl".into(), line, column: 5, text: text.into() }
}

pub(crate) fn thread(n: u32) -> ThreadName {
    ThreadName::nth(n).expect("a thread that main starts")
}

pub(crate) fn id(n: u32, index: u32) -> EventName {
    EventName::new(thread(n), index)
}

pub(crate) fn event(thread: u32, index: u32, line: u32, action: Action) -> Entry {
    let event = Event { id: id(thread, index), action, order: None, place: place(line) };
    Entry::Event { event, buffered: false, printed: Vec::new() }
}

pub(crate) fn buffered(entry: Entry) -> Entry {
    match entry {
        Entry::Event { event, printed, .. } => Entry::Event { event, buffered: true, printed },
        other => other,
    }
}

pub(crate) fn spawn(index: u32, line: u32, child: u32, function: &str) -> Entry {
    event(0, index, line, Action::Spawn { child: thread(child), function: function.into() })
}

pub(crate) fn write(location: &str, value: i64) -> Action {
    Action::Write { what: "store".into(), location: location.into(), value }
}

pub(crate) fn read(location: &str, value: i64, from: Source<ThreadName>) -> Action {
    Action::Read { what: "load".into(), location: location.into(), value, from }
}

pub(crate) fn update(what: &str, location: &str, old: i64, new: i64, from: Source<ThreadName>) -> Action {
    Action::Update { what: what.into(), location: location.into(), old, new, from }
}

/// Both threads enter under TSO, since both reads overtake the writes before them.
pub(crate) fn dekker() -> Execution {
    let failure = Entry::Failure {
        thread: Some(thread(2)),
        message: "assertion failed: one thread at a time".into(),
        place: place(18),
        race: None,
    };
    let steps = vec![
        spawn(0, 22, 1, "left"),
        spawn(1, 23, 2, "right"),
        buffered(event(1, 0, 6, write("x", 1))),
        event(1, 1, 7, read("y", 0, Source::Initial)),
        buffered(event(2, 0, 14, write("y", 1))),
        event(2, 1, 15, read("x", 0, Source::Initial)),
        Entry::Flush { write: id(1, 0), location: "x".into(), value: 1 },
        event(1, 2, 9, update("add", "inside", 0, 1, Source::Initial)),
        Entry::Flush { write: id(2, 0), location: "y".into(), value: 1 },
        event(2, 2, 17, update("add", "inside", 1, 2, Source::Write(id(1, 2)))),
        failure,
    ];
    let coherence = [("x", vec![id(1, 0)]), ("y", vec![id(2, 0)]), ("inside", vec![id(1, 2), id(2, 2)])];
    Execution {
        model: Model::Tso,
        threads: vec!["main".into(), "left".into(), "right".into()],
        names: (0..3).map(thread).collect(),
        steps,
        coherence: coherence.into_iter().map(|(name, writes)| (name.to_owned(), writes)).collect(),
        pointers: BTreeMap::new(),
    }
}

pub(crate) fn found(
    execution: Execution,
    property: Property,
    message: &str,
    line: u32,
    schedule: &str,
) -> Counterexample {
    Counterexample {
        violation: Violation {
            property,
            message: message.into(),
            place: place(line),
            schedule: schedule.parse().expect("a schedule"),
        },
        execution,
        waiting: Vec::new(),
        replay: format!("raddle replay dekker.rdl '{schedule}' --model tso"),
    }
}

pub(crate) fn dekker_found() -> Counterexample {
    let message = "assertion failed: one thread at a time";
    found(dekker(), Property::Assert, message, 18, "0 0 1 1 2 2 1! 1 2! 2")
}

pub(crate) fn answer(body: Body) -> Answer {
    let cost = Cost { seconds: 0.012, cpu_seconds: 0.01, peak_memory_bytes: Some(5 << 20) };
    Answer { file: "dekker.rdl".into(), sources: sources(), cost, body }
}

pub(crate) fn check(verdict: Verdict, scope: Scope, counterexamples: Vec<Counterexample>) -> Check {
    Check {
        parameters: BTreeMap::new(),
        verdict,
        scope,
        model: Model::Tso,
        engine: "optimal".into(),
        counterexamples,
        all: false,
        executions: 1234,
        blocked: 2,
        share_done: 1.0,
        statistics: [("events".to_owned(), Some(30)), ("redundant".to_owned(), None)].into(),
        advice: Vec::new(),
        notes: Vec::new(),
    }
}

/// Two threads that take two mutexes in opposite order.
pub(crate) fn deadlock() -> Counterexample {
    let mut execution = dekker();
    execution.model = Model::Sc;
    let failure = Entry::Failure {
        thread: Some(thread(1)),
        message: "deadlock: T1 waits for the mutex b, T2 waits for the mutex a".into(),
        place: place(7),
        race: None,
    };
    execution.steps = vec![
        spawn(0, 22, 1, "left"),
        spawn(1, 23, 2, "right"),
        event(1, 0, 6, update("lock", "a", 0, 1, Source::Initial)),
        event(2, 0, 14, update("lock", "b", 0, 1, Source::Initial)),
        failure,
    ];
    execution.coherence.clear();
    let mut found = found(execution, Property::Deadlock, "deadlock: T1 waits, T2 waits", 7, "0 0 1 2");
    found.waiting = vec![
        Waiting { thread: thread(1), what: "the mutex b".into(), place: place(7) },
        Waiting { thread: thread(2), what: "the mutex a".into(), place: place(15) },
    ];
    found
}
