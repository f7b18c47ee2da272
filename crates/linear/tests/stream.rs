//! The watchers against trying all orders of every prefix: a violation is reported at the earliest return that shows it, or, by those that wait until it is known how
//! others end, once that is so.

mod common;

use common::{Shape, brute_force, random_history, show};
use raddle_linear::history::{History, Method, Op, OpId, Ts};
use raddle_linear::monitor::timeline::timeline;
use raddle_linear::object::ObjectKind;
use raddle_linear::stream::{Trouble, Watching};
use raddle_linear::value::ValueId;

/// How an operation that returned is reported.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Normal,
    Vanishes,
    Lost,
}

/// What an observer knows just after an event.
fn seen(history: &History, endings: &[Ending], last: Ts) -> Vec<Op> {
    let known = history.ops.iter().zip(endings).filter(|(op, _)| op.call <= last);
    known
        .filter(|(op, ending)| !(**ending == Ending::Vanishes && op.ret <= last))
        .map(
            |(op, ending)| {
                if *ending == Ending::Normal && op.ret <= last { *op } else { Op { ret: Ts::INF, result: None, ..*op } }
            },
        )
        .collect()
}

#[derive(Debug, PartialEq)]
enum Said {
    Holds,
    Wrong(Ts),
    WrongAtEnd,
    Unknown,
    Unsupported,
}

fn watch(watching: &Watching, history: &History, endings: &[Ending]) -> Said {
    let mut values = history.values.clone();
    let mut watcher = watching.watcher(&mut values);
    for event in timeline(&history.ops) {
        let op = *history.op(OpId(event.op.0));
        let open = Op { ret: Ts::INF, result: None, ..op };
        let said = match (event.returns, endings[event.op.index()]) {
            (false, _) => watcher.called(&open),
            (true, Ending::Normal) => watcher.returned(&op, &mut values),
            (true, Ending::Vanishes) => watcher.vanished(&open),
            (true, Ending::Lost) => watcher.lost(&open),
        };
        match said {
            Ok(()) => {}
            Err(Trouble::Wrong(_)) => return Said::Wrong(event.at),
            Err(Trouble::Unsupported(_)) => return Said::Unsupported,
            Err(Trouble::GaveUp(_)) => return Said::Unknown,
        }
    }
    match watcher.finish(&mut values) {
        Ok(None) => Said::Holds,
        Ok(Some(_)) => Said::Unknown,
        Err(_) => Said::WrongAtEnd,
    }
}

/// Histories of an object under the watcher made for its kind.
fn sweep(shape: Shape, salt: u64, histories: u64) {
    sweep_with(shape, salt, histories, false);
}

fn sweep_with(shape: Shape, salt: u64, histories: u64, general: bool) {
    let mut random = raddle_testkit::Random::new(salt);
    let (mut good, mut bad, mut unknown, mut outside) = (0u64, 0u64, 0u64, 0u64);
    for _ in 0..histories {
        let mut history = random_history(shape, &mut random);
        // How many returns wait for each other makes no difference.
        let together = 1 + random.below(4);
        let watching = Watching { general, together, ..Watching::new(shape.kind) };
        match shape.kind {
            _ if general => {}
            ObjectKind::Register => history.ops.retain(|op| op.method != Method::Cas),
            ObjectKind::Multiset => {
                history.ops.retain(|op| op.method != Method::Contains && op.result != Some(ValueId::FALSE));
            }
            _ => {}
        }
        let endings: Vec<Ending> = history
            .ops
            .iter()
            .map(|_| match random.below(20) {
                0 => Ending::Vanishes,
                1 => Ending::Lost,
                _ => Ending::Normal,
            })
            .collect();
        if shape.kind == ObjectKind::Map {
            // A watcher is for one key.
            history.ops.iter_mut().for_each(|op| op.place = ValueId::NIL);
        }
        let holds = |last: Ts| brute_force(shape.kind, &seen(&history, &endings, last), &history.values);
        let expected = holds(Ts::END);
        let words = || show(&history, &seen(&history, &endings, Ts::END));
        let empties = history.ops.iter().any(|op| op.method == Method::Remove && op.result == Some(ValueId::NIL));
        let waits = general
            || !matches!(shape.kind, ObjectKind::Queue | ObjectKind::Set | ObjectKind::Multiset | ObjectKind::Register);
        let settles_late = waits || (shape.kind == ObjectKind::Queue && empties);
        match watch(&watching, &history, &endings) {
            Said::Holds => {
                assert!(expected, "a violation was missed in\n{}", words());
                good += 1;
            }
            Said::Wrong(at) => {
                assert!(!holds(at), "a violation was invented at {at:?} in\n{}", words());
                let before = at.0.checked_sub(1).map(Ts);
                if let Some(before) = before.filter(|_| !settles_late) {
                    assert!(holds(before), "the violation at {at:?} was reported late in\n{}", words());
                }
                bad += 1;
            }
            Said::WrongAtEnd => {
                assert!(settles_late && !expected, "a violation was invented at the end of\n{}", words());
                bad += 1;
            }
            Said::Unknown => {
                assert!(settles_late && !waits, "no reason to doubt\n{}", words());
                unknown += 1;
            }
            Said::Unsupported => outside += 1,
        }
    }
    println!("{}: {good} linearizable, {bad} not, {unknown} unknown, {outside} outside", shape.kind);
    assert!(good > histories / 5 && bad > histories / 20 && unknown < histories / 20, "{good} {bad} {unknown}");
}

#[test]
fn a_queue_is_watched_rightly() {
    sweep(Shape { kind: ObjectKind::Queue, ops: 9, values: 0 }, 1, 6_000);
}

#[test]
fn a_set_is_watched_rightly() {
    sweep(Shape { kind: ObjectKind::Set, ops: 8, values: 2 }, 2, 6_000);
    sweep(Shape { kind: ObjectKind::Set, ops: 8, values: 1 }, 3, 6_000);
}

#[test]
fn a_multiset_is_watched_rightly() {
    sweep(Shape { kind: ObjectKind::Multiset, ops: 8, values: 2 }, 4, 6_000);
}

#[test]
fn a_register_is_watched_rightly() {
    sweep(Shape { kind: ObjectKind::Register, ops: 9, values: 0 }, 5, 6_000);
}

#[test]
fn a_stack_is_watched_rightly() {
    sweep(Shape { kind: ObjectKind::Stack, ops: 10, values: 0 }, 6, 30_000);
}

/// Every kind of object, and among them compare-and-sets, appends, and values that repeat.
const ANY: [Shape; 14] = [
    Shape { kind: ObjectKind::Stack, ops: 9, values: 2 },
    Shape { kind: ObjectKind::Queue, ops: 9, values: 2 },
    Shape { kind: ObjectKind::Set, ops: 8, values: 2 },
    Shape { kind: ObjectKind::Multiset, ops: 8, values: 2 },
    Shape { kind: ObjectKind::Set, ops: 8, values: 3 },
    Shape { kind: ObjectKind::Bag, ops: 8, values: 3 },
    Shape { kind: ObjectKind::Register, ops: 9, values: 3 },
    Shape { kind: ObjectKind::Map, ops: 9, values: 3 },
    Shape { kind: ObjectKind::Map, ops: 9, values: 0 },
    Shape { kind: ObjectKind::Counter, ops: 8, values: 3 },
    Shape { kind: ObjectKind::Log, ops: 8, values: 3 },
    Shape { kind: ObjectKind::Lock, ops: 8, values: 0 },
    Shape { kind: ObjectKind::Deque, ops: 8, values: 0 },
    Shape { kind: ObjectKind::PriorityQueue, ops: 9, values: 3 },
];

#[test]
fn any_object_is_watched_rightly() {
    for (salt, shape) in (20..).zip(ANY) {
        sweep_with(shape, salt, 4_000, true);
    }
}

#[test]
#[ignore = "the big sweep"]
fn all_watchers_200000() {
    sweep(Shape { kind: ObjectKind::Queue, ops: 9, values: 0 }, 11, 200_000);
    sweep(Shape { kind: ObjectKind::Set, ops: 8, values: 2 }, 12, 200_000);
    sweep(Shape { kind: ObjectKind::Set, ops: 8, values: 1 }, 13, 200_000);
    sweep(Shape { kind: ObjectKind::Multiset, ops: 8, values: 2 }, 14, 200_000);
    sweep(Shape { kind: ObjectKind::Register, ops: 9, values: 0 }, 15, 200_000);
    sweep(Shape { kind: ObjectKind::Stack, ops: 10, values: 0 }, 16, 200_000);
    for (salt, shape) in (40..).zip(ANY) {
        sweep_with(shape, salt, 50_000, true);
    }
}
