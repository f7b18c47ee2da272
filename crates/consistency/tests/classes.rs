//! The number of reads-from classes of small programs, counted by asking about every way to choose the sources. The numbers are exact:
//! they were found by enumerating all runs.

mod common;

use common::instances::{with_source, writes};
use raddle_consistency::{Action, Answer, Instance, Loc, Model, Settings, Source, Verifier};

/// `W x; R y || F; U x`.
fn program(text: &str) -> Instance {
    let mut instance = Instance::new();
    for thread in text.split("||") {
        instance.begin_thread();
        for event in thread.split(';') {
            let mut words = event.split_whitespace();
            let kind = words.next().expect("an event has a kind");
            let loc = words.next().map(|name| Loc(u32::from(name.as_bytes()[0] - b'a')));
            instance.push(match (kind, loc) {
                ("W", Some(loc)) => Action::Write { loc },
                ("R", Some(loc)) => Action::Read { loc, from: Source::Initial },
                ("U", Some(loc)) => Action::Update { loc, from: Source::Initial },
                ("F", None) => Action::Fence,
                ("SS", None) => Action::StoreFence,
                _ => panic!("`{event}` is no event"),
            });
        }
    }
    instance
}

/// How many ways to choose the sources are consistent.
fn classes(program: &Instance, model: Model) -> u64 {
    let choices: Vec<_> = program
        .events()
        .filter(|(_, action)| action.source().is_some())
        .map(|(event, action)| {
            let others = writes(program, action.loc().expect("a read has a location"));
            let sources = others.into_iter().filter(|&write| write != event).map(Source::Write);
            (event, action, std::iter::once(Source::Initial).chain(sources).collect::<Vec<_>>())
        })
        .collect();
    let total: usize = choices.iter().map(|(.., sources)| sources.len()).product();
    let (mut verifier, mut instance) = (Verifier::new(), program.clone());
    let mut is_consistent = |mut number: usize| {
        for (event, action, sources) in &choices {
            instance.set(*event, with_source(*action, sources[number % sources.len()]));
            number /= sources.len();
        }
        let answer = verifier.verify(&instance, model, &Settings::default()).expect("the instance is well formed");
        matches!(answer, Answer::Consistent(_))
    };
    (0..total).filter(|&number| is_consistent(number)).count() as u64
}

#[track_caller]
fn counts(text: &str, expected: [u64; 3]) {
    let program = program(text);
    assert_eq!(Model::OPERATIONAL.map(|model| classes(&program, model)), expected, "{text}");
}

#[test]
fn store_buffering() {
    counts("W x; R y || W y; R x", [3, 4, 4]);
    counts("W x; F; R y || W y; F; R x", [3, 3, 3]);
    counts("W x; F; R y || W y; R x", [3, 4, 4]);
    counts("W a; R b || W b; R c || W c; R a", [7, 8, 8]);
    counts("W a; R b || W b; R c || W c; R d || W d; R a", [15, 16, 16]);
    counts("U x; R y || U y; R x", [3, 3, 3]);
}

#[test]
fn message_passing_and_load_buffering() {
    counts("W x; W y || R y; R x", [3, 3, 4]);
    counts("W x; F; W y || R y; R x", [3, 3, 3]);
    counts("W x; SS; W y || R y; R x", [3, 3, 3]);
    counts("R x; W y || R y; W x", [3, 3, 3]);
    counts("W x || R x; W y || R y; R x", [7, 7, 7]);
}

#[test]
fn coherence() {
    counts("W x || R x; R x", [3, 3, 3]);
    counts("W x || W x || R x; R x || R x; R x", [47, 47, 47]);
    counts("W x || R x; R y || W y || R y; R x", [15, 15, 15]);
    counts("W x; W y || W y; W x", [1, 1, 1]);
    counts("W x; R x; W x || R x; R x", [6, 6, 6]);
}

#[test]
fn forwarding() {
    counts("W x; W y; R y || W y; W x; R x", [3, 3, 4]);
    counts("W x; W y || W y; R x; R y", [4, 4, 4]);
    counts("W x; R x; R y || W y; R y; R x", [3, 4, 4]);
    counts("W x; W z; R y; R z || W y; W z; R x; R z", [7, 12, 12]);
    counts("W x; F; R y; W z; R z || W y; F; R x; W z; R z", [9, 9, 9]);
}

#[test]
fn growing() {
    counts("W x || R x", [2, 2, 2]);
    counts("W x || W x || W x || R x", [4, 4, 4]);
    counts("W x; R x || W x; R x", [3, 3, 3]);
    counts("W x; R x || W x; R x || W x; R x", [16, 16, 16]);
    counts("W x; R x || W x; R x || W x; R x || W x; R x", [125, 125, 125]);
    counts("W x; W y; R x; R y || W x; W y; R x; R y", [9, 9, 9]);
    counts("W x; W y; R x; R y || W x; W y; R x; R y || W x; W y; R x; R y", [220, 256, 256]);
}

#[test]
fn updates() {
    counts("U x || U x", [2, 2, 2]);
    counts("U x || U x || U x", [6, 6, 6]);
    counts("U x || U x || U x || U x", [24, 24, 24]);
    counts("U x; U x || U x; U x", [6, 6, 6]);
    counts("R x || U x || W x || R x", [18, 18, 18]);
}
