//! The watchers against trying all orders of every prefix: a violation is reported at the earliest return that shows it, or, by those that wait until it is known how
//! others end, once that is so.

mod common;

use common::{Shape, brute_force, random_history, show};
use raddle_linear::check::{Config, check};
use raddle_linear::history::{History, Method, Op, OpId, Ts};
use raddle_linear::monitor::timeline::timeline;
use raddle_linear::object::ObjectKind;
use raddle_linear::stream::{Trouble, Watching};
use raddle_linear::value::{ValueId, Values};
use raddle_linear::verdict::Verdict;

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

fn blank(method: Method) -> Op {
    let (call, ret) = (Ts(0), Ts::INF);
    let (process, place, arg, arg2) = (ValueId::NIL, ValueId::NIL, ValueId::NIL, ValueId::NIL);
    Op { process, place, method, arg, arg2, result: None, call, ret, call_line: 0, ret_line: 0 }
}

/// A stack of different values: `(pushed or popped, value, call, return)`.
fn stack(operations: &[(Method, i64, u32, u32)]) -> History {
    let mut values = Values::default();
    let mut ops: Vec<Op> = Vec::new();
    for &(method, number, call, ret) in operations {
        let value = values.intern_int(number);
        let (arg, result) = match method {
            Method::Insert => (value, Some(ValueId::NIL)),
            _ => (ValueId::NIL, Some(value)),
        };
        ops.push(Op { arg, result, call: Ts(call), ret: Ts(ret), ..blank(method) });
    }
    ops.sort_by_key(|op| op.call);
    History { events: 2 * ops.len() as u32, ops, values }
}

#[test]
fn a_pop_that_could_take_effect_may_have_to_wait_for_a_push_that_is_open() {
    use Method::{Insert, Remove};
    // 3 is pushed before 1 and both above 2, so 2 has to stay though nothing that is certainly there is above it.
    let history = stack(&[
        (Insert, 1, 0, 7),
        (Insert, 2, 1, 2),
        (Insert, 3, 3, 10),
        (Insert, 4, 4, 5),
        (Remove, 2, 6, 15),
        (Remove, 4, 8, 9),
        (Remove, 1, 11, 12),
        (Remove, 3, 13, 14),
    ]);
    assert!(brute_force(ObjectKind::Stack, &history.ops, &history.values));
    for together in [1, 32] {
        let watching = Watching { together, ..Watching::new(ObjectKind::Stack) };
        assert_eq!(watch(&watching, &history, &[Ending::Normal; 8]), Said::Holds);
    }
}

/// A stack of different values under some threads; in every other history two pops have exchanged their answers.
fn simulated(count: usize, threads: usize, random: &mut raddle_testkit::Random) -> History {
    let mut open: Vec<Option<(usize, bool)>> = vec![None; threads];
    let mut values = Values::default();
    let (mut ops, mut stored): (Vec<Op>, Vec<ValueId>) = (Vec::new(), Vec::new());
    let (mut clock, mut returned) = (0, 0);
    while returned < count {
        let thread = random.below(threads);
        match open[thread] {
            None if ops.len() < count => {
                let mut op = blank(if random.chance(55) { Method::Insert } else { Method::Remove });
                if op.method == Method::Insert {
                    op.arg = values.intern_int(ops.len() as i64);
                }
                open[thread] = Some((ops.len(), false));
                ops.push(Op { call: Ts(clock), ..op });
                clock += 1;
            }
            None => {}
            Some((at, false)) => {
                let op = &mut ops[at];
                op.result = Some(match op.method {
                    Method::Insert => {
                        stored.push(op.arg);
                        ValueId::NIL
                    }
                    _ => stored.pop().unwrap_or(ValueId::NIL),
                });
                open[thread] = Some((at, true));
            }
            Some((at, true)) => {
                ops[at].ret = Ts(clock);
                clock += 1;
                open[thread] = None;
                returned += 1;
            }
        }
    }
    let pops: Vec<usize> = (0..count).filter(|&at| ops[at].method == Method::Remove).collect();
    if random.chance(50) && pops.len() > 1 {
        let at = random.below(pops.len() - 1);
        let (one, two) = (pops[at], pops[at + 1]);
        let answer = ops[one].result;
        ops[one].result = ops[two].result;
        ops[two].result = answer;
    }
    History { ops, values, events: clock }
}

/// A run of a stack of different values, in which each operation is stretched to both sides by little or by much.
fn stretched(count: usize, random: &mut raddle_testkit::Random) -> History {
    let mut run: Vec<(Method, i64)> = Vec::new();
    let (mut stored, mut pushed) = (Vec::new(), 0);
    while pushed < count as i64 / 2 || !stored.is_empty() {
        if pushed < count as i64 / 2 && (stored.is_empty() || random.chance(60)) {
            pushed += 1;
            stored.push(pushed);
            run.push((Method::Insert, pushed));
        } else if let Some(value) = stored.pop() {
            run.push((Method::Remove, value));
        }
    }
    let mut events: Vec<(i64, usize, bool)> = Vec::new();
    for at in 0..run.len() {
        let mut stretch = || {
            let most = if random.chance(50) { 1 } else { 1 + random.below(1_000 * count) };
            1 + random.below(most) as i64
        };
        events.push((1_000 * at as i64 - stretch(), at, false));
        events.push((1_000 * at as i64 + stretch(), at, true));
    }
    events.sort_unstable();
    let mut times = vec![(0, 0); run.len()];
    for (number, &(_, at, returns)) in events.iter().enumerate() {
        *(if returns { &mut times[at].1 } else { &mut times[at].0 }) = number as u32;
    }
    let pops: Vec<usize> = (0..run.len()).filter(|&at| run[at].0 == Method::Remove).collect();
    if random.chance(30) && pops.len() > 1 {
        let at = random.below(pops.len() - 1);
        (run[pops[at]].1, run[pops[at + 1]].1) = (run[pops[at + 1]].1, run[pops[at]].1);
    }
    stack(&run.iter().zip(times).map(|(&(method, value), (call, ret))| (method, value, call, ret)).collect::<Vec<_>>())
}

/// Longer stacks than can be tried in all orders: what the monitor says, which reads to the end.
fn long_stacks(salt: u64, histories: u64) {
    let mut random = raddle_testkit::Random::new(salt);
    let (mut good, mut bad) = (0u64, 0u64);
    for _ in 0..histories {
        let (count, threads) = (8 + random.below(60), 2 + random.below(9));
        let history = match random.chance(50) {
            true => simulated(count, threads, &mut random),
            false => stretched(2 + count / 2, &mut random),
        };
        let config = Config { explain: false, ..Config::new(ObjectKind::Stack) };
        let expected = check(&history, &config).expect("a stack").verdict;
        let watching = Watching { together: 1 + random.below(40), ..Watching::new(ObjectKind::Stack) };
        let said = watch(&watching, &history, &vec![Ending::Normal; history.ops.len()]);
        match expected {
            Verdict::Holds(_) => {
                assert_eq!(said, Said::Holds, "{}", show(&history, &history.ops));
                good += 1;
            }
            Verdict::Violated(_) => {
                assert!(
                    matches!(said, Said::Wrong(_) | Said::WrongAtEnd),
                    "{said:?}\n{}",
                    show(&history, &history.ops)
                );
                bad += 1;
            }
            Verdict::Unknown(why) => panic!("{why}"),
        }
    }
    println!("long stacks: {good} linearizable, {bad} not");
    assert!(good > histories / 5 && bad > histories / 20, "{good} {bad}");
}

#[test]
fn a_long_stack_is_watched_rightly() {
    long_stacks(9, 3_000);
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
    long_stacks(17, 200_000);
    for (salt, shape) in (40..).zip(ANY) {
        sweep_with(shape, salt, 50_000, true);
    }
}
