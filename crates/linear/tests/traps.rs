//! The traps: histories on which published descriptions or tools go wrong, each with the right answer.

use std::time::Instant;

use raddle_linear::check::{Config, Engine, check};
use raddle_linear::decide::{Decided, Settings, decide};
use raddle_linear::history::{History, Method, Op, Ts};
use raddle_linear::monitor::queue::QueueAlgorithm;
use raddle_linear::monitor::set::counting;
use raddle_linear::monitor::stack::StackAlgorithm;
use raddle_linear::object::ObjectKind;
use raddle_linear::search::Budget;
use raddle_linear::value::{ValueId, Values};
use raddle_linear::verdict::{Reason, Verdict, line_of};

const OPEN: u32 = u32::MAX;

/// An operation: insert, remove or query, of a value (0 = nothing), with a truth value for sets, and its interval.
fn op(method: Method, value: i64, truth: Option<bool>, call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    (method, value, truth, call, ret)
}

fn history(kind: ObjectKind, ops: &[(Method, i64, Option<bool>, u32, u32)]) -> History {
    let mut values = Values::default();
    let process = values.intern_int(0);
    let mut list = Vec::new();
    for (method, value, truth, call, ret) in ops {
        let number = if *value == 0 { ValueId::NIL } else { values.intern_int(*value) };
        let set = matches!(kind, ObjectKind::Set | ObjectKind::Multiset);
        let takes = set || *method == Method::Insert;
        let result = if set { truth.map(ValueId::of_bool) } else { Some(if takes { ValueId::NIL } else { number }) };
        list.push(Op {
            process,
            place: ValueId::NIL,
            method: *method,
            arg: if takes { number } else { ValueId::NIL },
            arg2: ValueId::NIL,
            result: if *ret == OPEN { None } else { result },
            call: Ts(*call),
            ret: if *ret == OPEN { Ts::INF } else { Ts(*ret) },
            call_line: 0,
            ret_line: 0,
        });
    }
    list.sort_by_key(|op| op.call);
    History { ops: list, values, events: 100 }
}

fn push(value: i64, call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    op(Method::Insert, value, None, call, ret)
}

fn pop(value: i64, call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    op(Method::Remove, value, None, call, ret)
}

fn add(call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    op(Method::Insert, 1, Some(true), call, ret)
}

fn rmv(call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    op(Method::Remove, 1, Some(true), call, ret)
}

fn ask(truth: bool, call: u32, ret: u32) -> (Method, i64, Option<bool>, u32, u32) {
    op(Method::Contains, 1, Some(truth), call, ret)
}

/// Every procedure for this kind must give this answer; the verdict of the default one.
fn expect(kind: ObjectKind, ops: &[(Method, i64, Option<bool>, u32, u32)], linearizable: bool) -> Verdict {
    let history = history(kind, ops);
    let config = Config::new(kind);
    let mut configs = vec![config.clone(), Config { engine: Engine::Search, ..config.clone() }];
    configs.push(Config { engine: Engine::Monitor, stack: StackAlgorithm::Quadratic, ..config.clone() });
    for queue in [QueueAlgorithm::Tree, QueueAlgorithm::AllPairs] {
        configs.push(Config { engine: Engine::Monitor, queue, ..config.clone() });
    }
    for config in &configs {
        let report = check(&history, config).expect("there is a verdict");
        assert_eq!(matches!(report.verdict, Verdict::Holds(_)), linearizable, "{config:?}: {:?}", report.verdict);
    }
    check(&history, &config).expect("there is a verdict").verdict
}

#[test]
fn four_values_that_only_together_are_wrong() {
    let good = [
        push(1, 0, 2),
        push(2, 1, 5),
        push(3, 3, 7),
        push(4, 4, 9),
        pop(1, 6, 11),
        pop(2, 8, 13),
        pop(3, 10, 14),
        pop(4, 12, 15),
    ];
    expect(ObjectKind::Stack, &good, true);
    let bad = [
        push(1, 0, 2),
        push(2, 1, 5),
        push(3, 3, 7),
        push(4, 4, 9),
        pop(1, 6, 11),
        pop(2, 8, 12),
        pop(3, 10, 14),
        pop(4, 13, 15),
    ];
    let Verdict::Violated(explanation) = expect(ObjectKind::Stack, &bad, false) else { panic!("a violation") };
    assert!(matches!(&explanation.reason, Reason::StackStuck { pushes } if pushes.len() == 4), "{explanation:?}");
    assert!(explanation.minimal && explanation.confirmed);
    for left_out in 1..=4 {
        let fewer: Vec<_> = bad.iter().copied().filter(|op| op.1 != left_out).collect();
        expect(ObjectKind::Stack, &fewer, true);
    }
}

#[test]
fn minimal_stack_violations_come_in_every_size() {
    for size in 2..=7i64 {
        let mut events: Vec<(bool, i64, bool)> = (1..size).map(|value| (true, value, true)).collect();
        events.push((true, 1, false));
        events.push((true, size, true));
        for value in 2..=size {
            events.extend([(true, value, false), (false, value - 1, true), (false, value - 1, false)]);
        }
        events.extend([(false, size, true), (false, size, false)]);
        let time = |inserts, value, calls| {
            events.iter().position(|event| *event == (inserts, value, calls)).expect("an event") as u32
        };
        let ops: Vec<_> = (1..=size)
            .flat_map(|value| {
                [
                    push(value, time(true, value, true), time(true, value, false)),
                    pop(value, time(false, value, true), time(false, value, false)),
                ]
            })
            .collect();
        let Verdict::Violated(explanation) = expect(ObjectKind::Stack, &ops, false) else { panic!("a violation") };
        let values = match &explanation.reason {
            Reason::StackStuck { pushes } => pushes.len(),
            Reason::InvertedPair { .. } => 2,
            _ => 0,
        };
        assert_eq!(values, size as usize, "all values are needed: {explanation:?}");
        assert!(explanation.minimal, "{explanation:?}");
        let fewer: Vec<_> = ops.iter().copied().filter(|op| op.1 != size).collect();
        expect(ObjectKind::Stack, &fewer, true);
    }
}

#[test]
fn the_queue_tree_looks_right_of_a_node_without_a_left_child() {
    let inner = [(3, 6), (4, 11), (9, 14), (12, 26), (16, 25), (18, 20), (21, 28), (24, 30)];
    let outer = [(1, 8), (2, 13), (5, 17), (7, 29), (10, 27), (15, 23), (19, 31), (22, 32)];
    let ops: Vec<_> = inner
        .iter()
        .zip(outer)
        .enumerate()
        .flat_map(|(at, ((pr, oc), (pc, or)))| [push(at as i64 + 1, pc, *pr), pop(at as i64 + 1, *oc, or)])
        .collect();
    let Verdict::Violated(explanation) = expect(ObjectKind::Queue, &ops, false) else { panic!("a violation") };
    let history = history(ObjectKind::Queue, &ops);
    let Reason::CriticalPair { early, late } = explanation.reason else { panic!("a critical pair: {explanation:?}") };
    let value = |id| history.value(history.op(id).arg).to_string();
    assert_eq!((value(early).as_str(), value(late).as_str()), ("4", "6"));
}

#[test]
fn a_removal_before_the_insert_is_not_forgotten() {
    for kind in [ObjectKind::Stack, ObjectKind::Queue] {
        let Verdict::Violated(explanation) = expect(kind, &[pop(1, 0, 1), push(1, 2, 3)], false) else {
            panic!("a violation")
        };
        assert!(matches!(explanation.reason, Reason::RemovedBeforeInserted { .. }));
        expect(kind, &[pop(1, 0, 2), push(1, 1, 3)], true);
        expect(kind, &[push(1, 0, 1), pop(1, 2, 3), pop(1, 4, 5)], false);
        expect(kind, &[pop(7, 0, 1)], false);
    }
}

#[test]
fn a_pending_pop_may_have_taken_what_stood_in_the_way() {
    expect(ObjectKind::Stack, &[push(1, 0, 1), push(2, 2, 3), pop(0, 4, OPEN), pop(1, 5, 6)], true);
    expect(ObjectKind::Stack, &[push(1, 0, 1), push(2, 2, 3), pop(1, 5, 6), pop(0, 7, OPEN)], false);
    expect(ObjectKind::Queue, &[push(1, 0, 1), push(2, 2, 3), pop(0, 4, OPEN), pop(2, 5, 6)], true);
    expect(ObjectKind::Queue, &[push(1, 0, 1), push(2, 2, 3), push(3, 4, 5), pop(0, 6, OPEN), pop(3, 7, 8)], false);
}

#[test]
fn an_empty_removal_needs_a_gap_and_a_gap_of_one_step_is_one() {
    for kind in [ObjectKind::Stack, ObjectKind::Queue] {
        expect(kind, &[push(1, 0, 1), pop(1, 3, 4), push(2, 2, 5), pop(2, 8, 9), pop(0, 6, 7)], false);
        // The gap lies between the call of one removal and the return of the next insert.
        expect(kind, &[push(1, 0, 1), pop(1, 4, 8), push(2, 2, 5), pop(2, 9, 10), pop(0, 3, 6)], true);
        // Covered only by two values together.
        expect(kind, &[push(1, 0, 1), pop(1, 6, 9), push(2, 2, 3), pop(2, 10, 11), pop(0, 4, 8)], false);
        // An insert and its removal that overlap hold nothing for certain.
        expect(kind, &[push(1, 0, 5), pop(1, 1, 4), pop(0, 2, 3)], true);
    }
}

#[test]
fn counting_early_operations_of_a_set_is_not_enough() {
    expect(ObjectKind::Set, &[rmv(0, 2), add(1, 7), add(3, 4), ask(false, 5, 6)], false);
    expect(ObjectKind::Set, &[ask(true, 0, 2), add(1, 6), add(3, 4), rmv(5, 7)], false);
}

#[test]
fn the_counting_test_does_not_apply_to_pending_operations() {
    let ops = [add(0, OPEN), rmv(2, 3), add(4, 6), rmv(5, OPEN), add(8, 10), add(9, 11)];
    expect(ObjectKind::Set, &ops, false);
    assert_eq!(counting(&history(ObjectKind::Set, &ops).ops), None);
}

#[test]
fn values_that_repeat_are_refused_by_the_monitor_and_decided_by_the_search() {
    let ops = [push(1, 0, 1), push(1, 2, 3), pop(1, 4, 5), pop(1, 6, 7), pop(0, 8, 9)];
    let history = history(ObjectKind::Queue, &ops);
    let refused = check(&history, &Config { engine: Engine::Monitor, ..Config::new(ObjectKind::Queue) });
    assert!(refused.is_err_and(|error| error.to_string().contains("inserted twice")));
    let report = check(&history, &Config::new(ObjectKind::Queue)).expect("a verdict");
    assert_eq!(report.engine, "pairing search");
    assert!(matches!(report.verdict, Verdict::Holds(_)));
}

#[test]
fn writing_the_same_value_again_is_not_an_observation() {
    // The second write of 1 is needed after the compare-and-set, although it changes nothing where it could go first.
    let text = r#"{"process":0,"type":"invoke","f":"cas","value":[1,2]}
{"process":1,"type":"invoke","f":"write","value":1}
{"process":2,"type":"invoke","f":"write","value":1}
{"process":1,"type":"ok","f":"write","value":1}
{"process":3,"type":"invoke","f":"read","value":null}
{"process":3,"type":"ok","f":"read","value":2}
{"process":0,"type":"ok","f":"cas","value":[1,2]}
{"process":2,"type":"ok","f":"write","value":1}
{"process":3,"type":"invoke","f":"read","value":null}
{"process":3,"type":"ok","f":"read","value":1}
"#;
    assert!(holds(text));
}

/// Whether the history is linearizable.
fn holds(text: &str) -> bool {
    match decide(text.as_bytes(), &Settings::default()).expect("a verdict").report.verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(why) => panic!("{why}"),
    }
}

/// Whether a register is linearizable; each operation is what it writes or reads, its call and its return.
fn register(ops: &[(Method, i64, u32, u32)]) -> bool {
    let mut events: Vec<(u32, String)> = Vec::new();
    for (process, (method, value, call, ret)) in ops.iter().enumerate() {
        let name = if *method == Method::Read { "read" } else { "write" };
        for (time, word) in [(call, "invoke"), (ret, "ok")] {
            let value = if *method == Method::Read && word == "invoke" { "null".into() } else { value.to_string() };
            let line = format!("{{\"process\":{process},\"type\":\"{word}\",\"f\":\"{name}\",\"value\":{value}}}\n");
            events.push((*time, line));
        }
    }
    events.sort();
    let text: String = events.into_iter().map(|(_, line)| line).collect();
    holds(&text)
}

#[test]
fn an_unseen_write_may_be_seen_after_all() {
    // The write of 5 can go unseen before that of 1, but then nobody wrote what is read in the end.
    let (read, write) = (Method::Read, Method::Write);
    let ops =
        [(write, 4, 1, 9), (write, 1, 2, 7), (read, 1, 3, 8), (read, 5, 4, 12), (write, 5, 5, 11), (read, 5, 6, 13)];
    assert!(register(&ops));
}

#[test]
fn a_write_of_what_is_there_already_may_hide_another() {
    // The write of 2 is overwritten by the second write of 1, which changes nothing where it could go first.
    let (read, write) = (Method::Read, Method::Write);
    let ops = [
        (write, 1, 2, 4),
        (read, 1, 5, 10),
        (write, 1, 9, 13),
        (write, 2, 11, 14),
        (read, 1, 12, 15),
        (read, 1, 16, 17),
    ];
    assert!(register(&ops));
}

#[test]
fn a_value_may_be_written_when_nobody_will_read_it_any_more() {
    let (read, write) = (Method::Read, Method::Write);
    let ops = [(write, 2, 2, 5), (read, 2, 6, 7), (read, 2, 8, 12), (write, 3, 9, 10), (write, 2, 11, 13)];
    assert!(register(&ops));
    let late = [(write, 2, 2, 5), (write, 3, 9, 10), (write, 2, 11, 13), (read, 3, 14, 15)];
    assert!(!register(&late));
}

#[test]
fn a_search_that_runs_out_says_unknown() {
    let ops: Vec<_> = (0..30)
        .flat_map(|at| [push(at % 3 + 1, at as u32, 60 + at as u32), pop(at % 3 + 1, 100 + at as u32, 200 + at as u32)])
        .collect();
    let history = history(ObjectKind::Stack, &[ops, vec![push(1, 300, 301), pop(0, 302, 303)]].concat());
    let unknown = |config: &Config| match check(&history, config).expect("an answer").verdict {
        Verdict::Unknown(why) => why,
        other => panic!("{other:?}"),
    };
    let mut config = Config::new(ObjectKind::Stack);
    config.budget = Budget { bytes: 1, ..Budget::default() };
    assert!(unknown(&config).starts_with("the memory limit was reached"), "{}", unknown(&config));
    config = Config { engine: Engine::Search, ..Config::new(ObjectKind::Stack) };
    config.budget.configurations = 10;
    assert!(unknown(&config).starts_with("the budget was used up"), "{}", unknown(&config));
    config.budget = Budget { bytes: 1, ..Budget::default() };
    assert!(unknown(&config).starts_with("the memory limit was reached"), "{}", unknown(&config));
    config.budget = Budget { deadline: Some(Instant::now()), ..Budget::default() };
    assert!(unknown(&config).starts_with("the time limit was reached"), "{}", unknown(&config));
}

#[test]
fn the_earliest_event_is_the_earliest_of_all_parts() {
    let log = "INVOKE 0 put a 1\nRETURN 0\nINVOKE 0 get b\nRETURN 0 5\nINVOKE 0 get a\nRETURN 0 7\n";
    let earliest = |text: &str| {
        let Decided { history, report, .. } = decide(text.as_bytes(), &Settings::default()).expect("a verdict");
        let Verdict::Violated(found) = report.verdict else { panic!("a violation") };
        let earliest = found.earliest.expect("an event");
        (line_of(&history.ops, earliest.event), earliest.exact, history.value(found.place).to_string())
    };
    assert_eq!(earliest(log), (Some(4), true, "b".to_owned()));
    // The same with objects that are no keys.
    let event = |object: &str, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":0,\"object\":\"{object}\",\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let pop = |object: &str, value: &str| event(object, "invoke", "pop", "null") + &event(object, "ok", "pop", value);
    let push = event("a", "invoke", "push", "1") + &event("a", "ok", "push", "1");
    let (line, _, object) = earliest(&(push + &pop("b", "5") + &pop("a", "7")));
    assert_eq!((line, object.as_str()), (Some(4), "b"));
}

#[test]
fn one_value_of_a_set_can_be_wrong_before_another_that_is_found_first() {
    // With the answers that open operations give later, 1 cannot be explained from event 5 on; but nobody can know before event 9. By then 2 is wrong.
    let ops = [
        op(Method::Contains, 1, Some(true), 0, 5),
        op(Method::Insert, 1, Some(false), 1, 9),
        op(Method::Contains, 2, Some(true), 6, 7),
    ];
    let Verdict::Violated(found) = expect(ObjectKind::Set, &ops, false) else { panic!("a violation") };
    assert_eq!(found.earliest.map(|earliest| (earliest.event, earliest.exact)), Some((Ts(7), true)), "{found:?}");
}

#[test]
fn an_add_to_a_multiset_that_fails_is_a_violation() {
    let adds = [op(Method::Insert, 1, Some(true), 0, 1), op(Method::Insert, 1, Some(false), 2, 3)];
    let history = history(ObjectKind::Multiset, &adds);
    let Verdict::Violated(found) = check(&history, &Config::new(ObjectKind::Multiset)).expect("a verdict").verdict
    else {
        panic!("a violation")
    };
    assert_eq!((found.ops.len(), history.op(found.ops[0]).call), (1, Ts(2)), "{found:?}");
}

#[test]
fn a_value_that_was_never_pushed_is_explained_by_one_pop() {
    let pop = |value: i64, call: u32| op(Method::PopBack, value, None, call, call + 1);
    let push = |value: i64, call: u32| op(Method::PushBack, value, None, call, call + 1);
    let mut values = history(ObjectKind::Deque, &[push(1, 0), push(2, 2), pop(2, 4), pop(9, 6), pop(1, 8)]);
    for op in &mut values.ops {
        if op.method == Method::PushBack {
            (op.arg, op.result) = (op.result.expect("a value"), Some(ValueId::NIL));
        }
    }
    let Verdict::Violated(found) = check(&values, &Config::new(ObjectKind::Deque)).expect("a verdict").verdict else {
        panic!("a violation")
    };
    assert_eq!((found.ops.len(), found.minimal), (1, true), "{found:?}");
    assert_eq!(values.value(values.op(found.ops[0]).result.expect("a value")).to_string(), "9");
}

/// Values that are written once need no search where the history is right, pending operations and a first value included; where one repeats or a read is wrong the
/// general checker decides.
#[test]
fn registers_written_once_are_put_in_order_without_a_search() {
    let text = |lines: &[&str]| lines.join("\n") + "\n";
    let good = [
        "INVOKE 0 put k 5",
        "INVOKE 1 put k 6",
        "INVOKE 2 get k",
        "RETURN 2 6",
        "RETURN 0",
        "INVOKE 3 get k",
        "INVOKE 2 get k",
        "RETURN 2 5",
        "INVOKE 4 put k 7",
    ];
    let mut bad = good.to_vec();
    bad.extend(["INVOKE 5 get k", "RETURN 5 6"]);
    let mut again = good.to_vec();
    again.extend(["INVOKE 5 put k 5", "RETURN 5"]);
    for (lines, engine, holds) in
        [(&good[..], "register monitor", true), (&bad[..], "search", false), (&again[..], "search", true)]
    {
        let Decided { report, .. } = decide(text(lines).as_bytes(), &Settings::default()).expect("a history");
        assert_eq!((report.engine, matches!(report.verdict, Verdict::Holds(_))), (engine, holds), "{lines:?}");
    }
}
