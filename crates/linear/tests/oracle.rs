//! Every monitor and the general checker against trying all orders.
//!
//! The default run takes a few thousand random histories an object. The big sweep takes 200,000 of each:
//!
//! ```text
//! cargo test --release -p raddle-linear --test oracle -- --ignored --nocapture
//! ```
//!
//! Other numbers: `RADDLE_HISTORIES=1000000`, another seed: `RADDLE_SEED=7`.

mod common;

use common::{Shape, brute_force, brute_force_since, random_history, show};
use raddle_linear::check::{Config, Engine, check};
use raddle_linear::history::{History, Op, Ts, prefix};
use raddle_linear::monitor::queue::QueueAlgorithm;
use raddle_linear::monitor::set;
use raddle_linear::monitor::stack::StackAlgorithm;
use raddle_linear::object::ObjectKind;
use raddle_linear::search::shrink::Others;
use raddle_linear::search::{Budget, Strategy};
use raddle_linear::verdict::{Explanation, Verdict};
use raddle_testkit::{Random, setting};

/// What every way of checking says about a history must be what trying all orders says.
fn agree(history: &History, config: &Config, expected: bool, words: &str) {
    let report =
        check(history, config).unwrap_or_else(|error| panic!("{words}: {error}\n{}", show(history, &history.ops)));
    let holds = match &report.verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(why) => {
            panic!("{words}: unknown ({why})\n{}", show(history, &history.ops))
        }
    };
    assert_eq!(holds, expected, "{words} is wrong about\n{}", show(history, &history.ops));
    let Verdict::Violated(explanation) = report.verdict else {
        return;
    };
    check_claims(history, config.kind, &explanation, words);
}

/// What an explanation claims must be so: its operations cannot be ordered, none of them can be spared, and the history is wrong from the
/// earliest event on and not before. Decided by trying all orders.
fn check_claims(history: &History, kind: ObjectKind, explanation: &Explanation, words: &str) {
    let shown = || {
        let ops: Vec<Op> = explanation.ops.iter().map(|id| *history.op(*id)).collect();
        let called: Vec<Op> = explanation.called.iter().map(|id| *history.op(*id)).collect();
        format!(
            "{:?} {:?}\n{}called\n{}of\n{}",
            explanation.reason,
            explanation.others,
            show(history, &ops),
            show(history, &called),
            show(history, &history.ops)
        )
    };
    let earliest = explanation.earliest.expect("small histories have an earliest wrong prefix");
    let event = earliest.event;
    assert!(earliest.exact, "{words}: inexact prefix\n{}", shown());
    let holds = |last: Ts| brute_force(kind, &prefix(&history.ops, last), &history.values);
    assert!(!holds(event), "{words}: the prefix up to {event:?} is fine\n{}", shown());
    let before = event.0.checked_sub(1).is_none_or(|before| holds(Ts(before)));
    assert!(before, "{words}: a prefix before {event:?} is wrong\n{}", shown());

    let bound = |at: usize| explanation.ops.iter().any(|id| id.index() == at);
    let called = |at: usize| explanation.called.iter().any(|id| id.index() == at);
    // Of what came before the state that the explanation starts from, everything is taken as it was.
    let since = explanation.from.as_ref();
    let early = |at: usize, op: &Op| {
        since.is_some_and(|since| op.ret < history.op(since.next).ret || since.done.iter().any(|id| id.index() == at))
    };
    let can_be_ordered = |spared: Option<usize>| {
        let (mut first, mut then, mut before) = (Vec::new(), Vec::new(), Vec::new());
        for (at, op) in history.ops.iter().enumerate() {
            let weak = if bound(at) && spared != Some(at) { *op } else { op.pending() };
            if since.is_some() || bound(at) || called(at) || explanation.others == Others::Pending {
                first.push(if op.ret <= event { *op } else { op.pending() });
                then.push(weak);
                before.push(early(at, op));
            }
        }
        brute_force_since(kind, &first, &then, &before, &history.values)
    };
    assert!(!can_be_ordered(None), "{words}: the explanation can be ordered\n{}", shown());
    assert!(explanation.minimal, "{words}: something may be spared\n{}", shown());
    for id in &explanation.ops {
        let at = id.index();
        assert!(
            can_be_ordered(Some(at)),
            "{words}: the operation called at {:?} can be spared\n{}",
            history.op(*id).call,
            shown()
        );
    }
}

fn sweep(shape: Shape, histories: u64, salt: u64) {
    let mut random = Random::new(setting("RADDLE_SEED", 1) << 32 ^ salt);
    let (mut good, mut bad) = (0u64, 0u64);
    for _ in 0..histories {
        let history = random_history(shape, &mut random);
        let expected = brute_force(shape.kind, &history.ops, &history.values);
        *(if expected { &mut good } else { &mut bad }) += 1;
        let config = Config::new(shape.kind);
        agree(&history, &config, expected, "auto");
        for strategy in [Strategy::Depth, Strategy::Breadth] {
            let budget = Budget { strategy, ..Budget::default() };
            agree(&history, &Config { engine: Engine::Search, budget, ..config.clone() }, expected, "search");
        }
        match shape.kind {
            ObjectKind::Stack if shape.values == 0 => {
                agree(
                    &history,
                    &Config { stack: StackAlgorithm::Quadratic, engine: Engine::Monitor, ..config },
                    expected,
                    "quadratic",
                );
            }
            ObjectKind::Queue if shape.values == 0 => {
                for queue in [QueueAlgorithm::Tree, QueueAlgorithm::AllPairs] {
                    agree(
                        &history,
                        &Config { queue, engine: Engine::Monitor, ..config.clone() },
                        expected,
                        "other queue procedure",
                    );
                }
            }
            ObjectKind::Set => {
                if let Some(holds) = set::counting(&history.ops) {
                    assert_eq!(holds, expected, "counting is wrong about\n{}", show(&history, &history.ops));
                }
            }
            ObjectKind::Map => agree(&history, &Config { partition: false, ..config }, expected, "whole map"),
            _ => {}
        }
    }
    println!("{} ({} values): {good} linearizable, {bad} not", shape.kind, shape.values);
    assert!(good > histories / 20 && bad > histories / 20, "both outcomes must be frequent: {good} good, {bad} bad");
}

macro_rules! objects {
    ($($name:ident $big:ident $salt:literal: $kind:ident, $ops:literal operations, $values:literal values;)*) => {$(
        #[test]
        fn $name() {
            sweep(Shape { kind: ObjectKind::$kind, ops: $ops, values: $values }, setting("RADDLE_HISTORIES", 4_000), $salt);
        }

        #[test]
        #[ignore = "the big sweep"]
        fn $big() {
            sweep(Shape { kind: ObjectKind::$kind, ops: $ops, values: $values }, setting("RADDLE_HISTORIES", 200_000), 100 + $salt);
        }
    )*};
}

objects! {
    stacks_agree stacks_agree_200000 1: Stack, 9 operations, 0 values;
    queues_agree queues_agree_200000 2: Queue, 9 operations, 0 values;
    sets_agree sets_agree_200000 3: Set, 8 operations, 2 values;
    sets_of_one_value_agree sets_of_one_value_agree_200000 4: Set, 8 operations, 1 values;
    multisets_agree multisets_agree_200000 5: Multiset, 8 operations, 2 values;
    registers_agree registers_agree_200000 6: Register, 8 operations, 3 values;
    maps_agree maps_agree_200000 7: Map, 8 operations, 3 values;
    counters_agree counters_agree_200000 8: Counter, 8 operations, 2 values;
    logs_agree logs_agree_200000 9: Log, 7 operations, 3 values;
    locks_agree locks_agree_200000 10: Lock, 8 operations, 1 values;
    priority_queues_agree priority_queues_agree_200000 11: PriorityQueue, 8 operations, 4 values;
    deques_agree deques_agree_200000 12: Deque, 8 operations, 3 values;
    stacks_with_repeated_values_agree stacks_with_repeated_values_agree_200000 13: Stack, 8 operations, 2 values;
    queues_with_repeated_values_agree queues_with_repeated_values_agree_200000 14: Queue, 8 operations, 2 values;
    registers_with_unique_writes_agree registers_with_unique_writes_agree_200000 15: Register, 8 operations, 0 values;
    stores_of_texts_agree stores_of_texts_agree_200000 16: Map, 9 operations, 0 values;
    mutexes_agree mutexes_agree_200000 18: Mutex, 8 operations, 1 values;
    bags_agree bags_agree_200000 19: Bag, 8 operations, 3 values;
    bags_of_different_values_agree bags_of_different_values_agree_200000 20: Bag, 8 operations, 0 values;
    sets_that_are_read_agree sets_that_are_read_agree_200000 21: Set, 8 operations, 3 values;
    multisets_that_are_read_agree multisets_that_are_read_agree_200000 22: Multiset, 7 operations, 3 values;
    crowded_registers_agree crowded_registers_agree_200000 17: Register, 10 operations, 2 values;
}
