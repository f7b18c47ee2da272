//! Instances that make no sense are refused, by name of what is wrong; those that only cannot be are inconsistent.

use raddle_consistency::instance::MAX_LOC;
use raddle_consistency::{
    Action, Answer, EventId, Instance, Loc, Malformed, Model, Settings, Source, ThreadId, verify,
};

const X: Loc = Loc(0);
const Y: Loc = Loc(1);

fn event(thread: u32, index: u32) -> EventId {
    EventId::new(ThreadId(thread), index)
}

fn read(loc: Loc, thread: u32, index: u32) -> Action {
    Action::Read { loc, from: Source::Write(event(thread, index)) }
}

#[track_caller]
fn answers(threads: &[&[Action]], expected: &Result<Answer, Malformed>) {
    for model in Model::OPERATIONAL {
        assert_eq!(verify(&Instance::of(threads), model, &Settings::default()), *expected, "{model}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (first, second) = (event(0, 0), event(0, 1));
    let refused = |threads: &[&[Action]], malformed| answers(threads, &Err(malformed));
    refused(&[&[read(X, 0, 7)]], Malformed::NoSuchSource { event: first, write: event(0, 7) });
    refused(&[&[read(X, 9, 0)]], Malformed::NoSuchSource { event: first, write: event(9, 0) });
    refused(&[&[Action::Fence, read(X, 0, 0)]], Malformed::SourceIsNoWrite { event: second, write: first });
    refused(&[&[Action::Write { loc: Y }, read(X, 0, 0)]], Malformed::OtherLocation { event: second, write: first });
    let itself = Action::Update { loc: X, from: Source::Write(first) };
    refused(&[&[itself]], Malformed::ReadsItself { event: first });
    let (child, own) = (ThreadId(3), ThreadId(0));
    refused(&[&[Action::Spawn { child }]], Malformed::NoSuchThread { event: first, child });
    refused(&[&[Action::Join { child: own }]], Malformed::OwnChild { event: first });
    let child = ThreadId(1);
    let spawn = Action::Spawn { child };
    refused(&[&[spawn, spawn], &[]], Malformed::SpawnedTwice { event: second, child });
    let loc = Loc(MAX_LOC + 1);
    refused(&[&[Action::Write { loc }]], Malformed::LocationTooLarge { event: first, loc });
}

#[test]
fn what_cannot_be_is_inconsistent() {
    let impossible = |threads: &[&[Action]]| answers(threads, &Ok(Answer::Inconsistent));
    let (zero, one) = (ThreadId(0), ThreadId(1));
    // A thread reads what it writes later, what it has overwritten, or what was there before it wrote.
    impossible(&[&[read(X, 0, 1), Action::Write { loc: X }]]);
    impossible(&[&[Action::Write { loc: X }, Action::Write { loc: X }, read(X, 0, 0)]]);
    impossible(&[&[Action::Write { loc: X }, Action::Read { loc: X, from: Source::Initial }]]);
    // Two threads start each other, or wait for each other; one waits for a child before it starts it.
    impossible(&[&[Action::Spawn { child: one }], &[Action::Spawn { child: zero }]]);
    impossible(&[&[Action::Join { child: one }], &[Action::Join { child: zero }]]);
    impossible(&[&[Action::Join { child: one }, Action::Spawn { child: one }], &[]]);
}
