//! Closure and realisation, by example and against all sequences; and what is lost without each of our rules.

use super::accesses::{Accesses, is_good};
use super::closure::close;
use super::explore;
use super::extend::{Extension, Manner, New};
use super::options::{Rule, Settings};
use super::order::Order;
use super::realise::realise;
use crate::sequence::INITIAL;
use crate::testing::explored;
use raddle_consistency::{Interrupt, Interrupted, Watch};
use raddle_engine::Statistics;
use raddle_testkit::Random;
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;
use std::cell::Cell;

const ROOT: ThreadId = ThreadId(0);

fn id(thread: u32, index: u32) -> EventId {
    EventId::new(ThreadId(thread), index)
}

/// The example of Toman 2021: root `r_x w_z W_y r_z`, leaf `w_y w_x W_z r_y`, where capitals are bad.
fn example() -> (Order, Accesses) {
    let (x, y, z) = (0, 1, 2);
    let mut order = Order::default();
    for thread in 0..2 {
        (0..4).for_each(|index| order.push(id(thread, index), &[]));
    }
    let mut accesses = Accesses::new(ROOT);
    for (write, loc) in [(id(0, 1), z), (id(0, 2), y), (id(1, 0), y), (id(1, 1), x), (id(1, 2), z)] {
        accesses.write(write, loc);
    }
    for (read, loc, good) in [(id(0, 0), x, id(1, 1)), (id(1, 3), y, id(1, 0)), (id(0, 3), z, id(0, 1))] {
        accesses.read(read, loc, vec![good]);
    }
    (order, accesses)
}

#[test]
fn the_published_example_has_its_closure_and_sequence() {
    let (mut order, accesses) = example();
    let mut expected = order.clone();
    assert!(close(&mut order, &accesses));
    // One edge for each rule.
    for (a, b) in [(id(1, 1), id(0, 0)), (id(1, 3), id(0, 2)), (id(1, 2), id(0, 1))] {
        assert!(expected.insert(a, b));
    }
    for thread in 0..2 {
        for event in (0..4).map(|index| id(thread, index)) {
            assert_eq!(order.row(event), expected.row(event), "{event:?}");
        }
    }
    assert!(!order.decides(id(0, 1), id(1, 3)), "a leaf event that is ready has to wait for the root");
    let sequence = [(1, 0), (1, 1), (0, 0), (1, 2), (0, 1), (1, 3), (0, 2), (0, 3)];
    assert_eq!(realise(&order, ROOT), sequence.map(|(thread, index)| id(thread, index)));
}

#[test]
fn what_is_added_later_is_bad_for_earlier_reads() {
    let (mut order, mut accesses) = example();
    // The leaf writes y between its good write and its read.
    order.push(id(1, 4), &[]);
    order.push(id(0, 4), &[id(1, 4)]);
    accesses.write(id(1, 4), 0);
    accesses.read(id(0, 4), 0, vec![id(1, 1)]);
    assert!(!close(&mut order, &accesses), "a bad write is between");
}

/// A random annotated order over a root and two leaves, with relaxed orders of leaf writes or not.
fn random(random: &mut Random, relaxed: bool) -> (Order, Accesses) {
    let mut order = Order::default();
    let mut accesses = Accesses::new(ROOT);
    let mut events = Vec::new();
    for thread in 0..3 {
        for index in 0..1 + random.below_u32(3) {
            order.push(id(thread, index), &[]);
            events.push((id(thread, index), random.below_u32(2), random.below(2) == 0));
        }
    }
    for &(event, loc, _) in events.iter().filter(|(.., writes)| *writes) {
        accesses.write(event, loc);
    }
    for &(event, loc, _) in events.iter().filter(|(.., writes)| !writes) {
        let root_side = event.thread == ROOT && random.below(2) == 0;
        let mut good: Vec<_> = accesses.writes(loc).iter().copied().chain([INITIAL]).collect();
        good.retain(|&write| event.thread != ROOT || (write.thread == ROOT) == root_side);
        good.retain(|_| random.below(3) > 0);
        accesses.read(event, loc, good);
    }
    let mut leaves: Vec<_> = events.iter().filter(|(event, ..)| event.thread != ROOT).collect();
    // An interleaving of the leaves says in which order they conflict.
    leaves.sort_by_key(|(event, ..)| (event.index * 2 + random.below_u32(4), event.thread.0));
    let mut left: [Vec<_>; 2] = [1, 2].map(|t| leaves.iter().filter(|(event, ..)| event.thread.0 == t).collect());
    left.iter_mut().for_each(|list| list.sort_by_key(|(event, ..)| std::cmp::Reverse(event.index)));
    let mut done: Vec<&(EventId, u32, bool)> = Vec::new();
    while left.iter().any(|list| !list.is_empty()) {
        let Some(next) = left[random.below(2)].pop() else { continue };
        for before in &done {
            let observed = |event: EventId| accesses.reads.iter().any(|read| is_good(read, event));
            let blind = next.2 && before.2 && !observed(next.0) && !observed(before.0);
            if before.1 == next.1 && (before.2 || next.2) && !(relaxed && blind) {
                assert!(order.insert(before.0, next.0));
            }
        }
        done.push(next);
    }
    (order, accesses)
}

/// Whether every read reads from a good write.
fn is_witness(accesses: &Accesses, sequence: &[EventId]) -> bool {
    accesses.reads.iter().all(|read| {
        let until = sequence.iter().position(|&event| event == read.id).expect("all events are there");
        let source = sequence[..until].iter().rev().copied().find(|event| accesses.writes(read.loc).contains(event));
        read.good.contains(&source.unwrap_or(INITIAL))
    })
}

/// Whether some sequence that keeps the order is a witness.
fn has_witness(order: &Order, accesses: &Accesses, done: &mut Vec<EventId>, counts: &mut [u32]) -> bool {
    let all: u32 = (0..counts.len() as u32).map(|thread| order.len(ThreadId(thread))).sum();
    if done.len() as u32 == all {
        return is_witness(accesses, done);
    }
    for thread in 0..counts.len() {
        let event = id(thread as u32, counts[thread]);
        if !order.contains(event) || order.row(event).iter().zip(&*counts).any(|(wanted, done)| wanted > done) {
            continue;
        }
        counts[thread] += 1;
        done.push(event);
        let found = has_witness(order, accesses, done, counts);
        done.pop();
        counts[thread] -= 1;
        if found {
            return true;
        }
    }
    false
}

#[test]
fn there_is_a_closure_exactly_if_there_is_a_witness() {
    let mut numbers = Random::new(7);
    let mut possible = 0;
    for number in 0..4_000 {
        let (order, accesses) = random(&mut numbers, number % 2 == 1);
        let expected = has_witness(&order, &accesses, &mut Vec::new(), &mut vec![0; order.threads()]);
        let mut closed = order.clone();
        assert_eq!(close(&mut closed, &accesses), expected, "{order:?} {accesses:?}");
        if expected {
            possible += 1;
            let sequence = realise(&closed, ROOT);
            assert!(is_witness(&accesses, &sequence), "{order:?} {accesses:?} {sequence:?}");
        }
    }
    assert!((400..3_600).contains(&possible), "{possible} of 4000 have a witness");
}

/// Due when it has been asked so often.
struct After(Cell<u32>);

impl Interrupt for After {
    fn is_due(&self) -> bool {
        self.0.set(self.0.get().saturating_sub(1));
        self.0.get() == 0
    }
}

#[test]
fn a_search_for_orders_can_be_interrupted() {
    // Twelve leaves write; in whatever order they do, the root cannot read what nobody wrote.
    let mut accesses = Accesses::new(ROOT);
    let write = |index: u32| id(1 + index, 0);
    (0..12).for_each(|index| accesses.write(write(index), 0));
    accesses.read(id(0, 0), 0, Vec::new());
    let new = |id, writes| New { id, loc: 0, writes, behind: SmallVec::new() };
    let events: Vec<New> = (0..12).map(|index| new(write(index), true)).chain([new(id(0, 0), false)]).collect();
    let manner = Manner { relaxed: false, order_good_writes: true, close_after_writes: true };
    let mut extension = Extension::new(Order::default(), events, manner);
    let after = After(Cell::new(100));
    assert_eq!(extension.next(&accesses, &mut Watch::new(&after, 10)).unwrap_err(), Interrupted);
    assert_eq!(after.0.get(), 0, "it has been asked until it was due, and no more");
}

/// What is counted without a rule, and without all orders of writes or with them.
fn counts(threads: &[&str], without: Option<Rule>, every_order: bool) -> Statistics {
    let settings = Settings { without, every_order, shortcut: !every_order, ..Settings::default() };
    explored(threads, |question, deadline| explore(question, deadline, settings)).statistics
}

#[test]
fn a_new_write_is_bad_for_the_reads_that_are_there() {
    // The first thread is the root, so both others are leaves.
    let threads = ["", "let a = load x;", "let a = load y; store x, 0;"];
    let (right, careless) = (counts(&threads, None, true), counts(&threads, Some(Rule::CloseAfterWrites), true));
    assert!(right.executions < careless.executions, "a class is met twice without the closure after writes");
}

#[test]
fn a_write_that_becomes_good_is_ordered_with_the_others() {
    let threads = ["let a = load y;", "store x, 0; let a = load x;", "store x, 1;"];
    assert_eq!(counts(&threads, None, false).executions, 2);
    let published = counts(&threads, Some(Rule::OrderGoodWrites), false);
    assert_eq!(published.executions, 1, "one of the values is missed");
}

#[test]
fn whether_a_wait_ends_depends_on_the_order() {
    let threads = ["let a = load x;", "store x, 0; let a = load x until a == 0;", "store x, 1;"];
    let blocked = |without| counts(&threads, without, false).blocked;
    let careless = blocked(Some(Rule::WaitsAreNoShortcut));
    assert_eq!((blocked(None), careless), (2, 1), "with the shortcut a deadlock is missed");
}
