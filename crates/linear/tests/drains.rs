//! Drains of queues: dequeues one after another, between which others may come.

use std::collections::VecDeque;
use std::fmt::Write as _;

use raddle_linear::decide::{Decided, Error, Settings, decide};
use raddle_linear::object::ObjectKind;
use raddle_linear::verdict::Verdict;
use raddle_testkit::Random;

fn holds(kind: ObjectKind, text: &str) -> bool {
    let settings = Settings { object: Some(kind), ..Settings::default() };
    let Decided { report, .. } = decide(text.as_bytes(), &settings).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match report.verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(why) => panic!("{why}\n{text}"),
    }
}

fn event(text: &mut String, process: usize, phase: &str, f: &str, value: &str) {
    writeln!(text, "{{:process {process}, :type :{phase}, :f :{f}, :value {value}}}").expect("a text");
}

fn enqueued(values: &[i64]) -> String {
    let mut text = String::new();
    for value in values {
        event(&mut text, 0, "invoke", "enqueue", &value.to_string());
        event(&mut text, 0, "ok", "enqueue", &value.to_string());
    }
    text
}

#[test]
fn two_drains_may_take_turns() {
    let mut text = enqueued(&[1, 2, 3, 4]);
    event(&mut text, 1, "invoke", "drain", "nil");
    event(&mut text, 2, "invoke", "drain", "nil");
    event(&mut text, 1, "ok", "drain", "[1 3]");
    event(&mut text, 2, "ok", "drain", "[2 4]");
    assert!(holds(ObjectKind::Queue, &text));
}

#[test]
fn what_a_drain_takes_has_an_order_unless_it_is_a_bag() {
    let mut text = enqueued(&[1, 2]);
    event(&mut text, 1, "invoke", "drain", "nil");
    event(&mut text, 1, "ok", "drain", "[2 1]");
    assert!(!holds(ObjectKind::Queue, &text));
    assert!(holds(ObjectKind::Bag, &text));
}

#[test]
fn a_drain_takes_nothing_that_is_not_there() {
    let mut text = enqueued(&[1]);
    event(&mut text, 1, "invoke", "drain", "nil");
    event(&mut text, 1, "ok", "drain", "[1 1]");
    assert!(!holds(ObjectKind::Queue, &text));
    assert!(!holds(ObjectKind::Bag, &text));
    let mut text = enqueued(&[1]);
    event(&mut text, 1, "invoke", "drain", "nil");
    event(&mut text, 1, "ok", "drain", "[]");
    assert!(holds(ObjectKind::Queue, &text));
}

#[test]
fn a_drain_that_never_returned_is_refused() {
    let mut text = enqueued(&[1]);
    event(&mut text, 1, "invoke", "drain", "nil");
    event(&mut text, 1, "info", "drain", "nil");
    let settings = Settings { object: Some(ObjectKind::Queue), ..Settings::default() };
    let error = decide(text.as_bytes(), &settings).expect_err("no verdict");
    assert!(matches!(error, Error::Input(_)) && error.to_string().contains("how much"), "{error}");
}

/// Runs of a real queue in which drains and others take turns hold; with two answers of a drain exchanged they do not, since values differ.
#[test]
fn runs_of_a_queue_hold_and_damaged_ones_do_not() {
    let mut random = Random::new(5);
    let mut damaged = 0;
    for _ in 0..300 {
        let (mut queue, mut text, mut fresh) = (VecDeque::new(), String::new(), 0);
        // Of each process what it does: nothing, an enqueue whether it took effect, a drain with what it has.
        let mut open: Vec<Option<(Option<i64>, Vec<i64>)>> = vec![None; 3];
        let mut exchanged = false;
        let mut finish = |text: &mut String,
                          process: usize,
                          (insert, mut taken): (Option<i64>, Vec<i64>),
                          swap: bool| match insert {
            Some(value) => event(text, process, "ok", "enqueue", &value.to_string()),
            None => {
                if swap && taken.len() > 1 && !exchanged {
                    taken.swap(0, 1);
                    exchanged = true;
                }
                let all: Vec<String> = taken.iter().map(i64::to_string).collect();
                event(text, process, "ok", "drain", &format!("[{}]", all.join(" ")));
            }
        };
        let swap = random.chance(50);
        for _ in 0..24 {
            let process = random.below(3);
            match open[process].take() {
                None if random.chance(60) => {
                    fresh += 1;
                    event(&mut text, process, "invoke", "enqueue", &fresh.to_string());
                    queue.push_back(fresh);
                    open[process] = Some((Some(fresh), Vec::new()));
                }
                None => {
                    event(&mut text, process, "invoke", "drain", "nil");
                    open[process] = Some((None, Vec::new()));
                }
                Some((None, mut taken)) if random.chance(70) => {
                    taken.extend(queue.pop_front());
                    open[process] = Some((None, taken));
                }
                Some(done) => finish(&mut text, process, done, swap),
            }
        }
        for (process, left) in open.into_iter().enumerate() {
            if let Some(left) = left {
                finish(&mut text, process, left, swap);
            }
        }
        if !exchanged {
            assert!(holds(ObjectKind::Queue, &text), "{text}");
        } else {
            // Enqueues may have overlapped, so the other order may be possible, too; of a bag it always is.
            damaged += usize::from(!holds(ObjectKind::Queue, &text));
        }
        assert!(holds(ObjectKind::Bag, &text), "{text}");
    }
    assert!(damaged > 10, "{damaged}");
}
