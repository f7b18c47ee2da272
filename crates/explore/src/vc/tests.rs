//! Closure and realisation, by example and against all sequences; and what is lost without each of our rules.

use super::accesses::{Accesses, Read};
use super::closure::{Closed, close};
use super::explore;
use super::extend::{Extension, Manner, New};
use super::options::{Rule, Settings};
use super::order::{Order, Side};
use super::realise::realise;
use super::search::Search;
use crate::sequence::{INITIAL, pool};
use crate::testing::{explored, parts_make_up_the_whole};
use raddle_consistency::{Interrupt, Interrupted, Watch};
use raddle_engine::{Deadline, Question, Statistics};
use raddle_testkit::Random;
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;
use std::cell::Cell;

const ROOT: ThreadId = ThreadId(0);

/// How many random orders are closed.
const RUNS: u32 = 4_000;

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
    assert_eq!(close(&mut order, &accesses), Closed::Yes);
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
    assert_eq!(close(&mut order, &accesses), Closed::No, "a bad write is between");
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
        good.retain(|&write| relaxed || event.thread != ROOT || (write.thread == ROOT) == root_side);
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
            let writes = next.2 && before.2;
            if before.1 == next.1 && (before.2 || next.2) && !(relaxed && writes) {
                assert!(order.insert(before.0, next.0));
            }
        }
        done.push(next);
    }
    (order, accesses)
}

/// What a read reads from in a sequence.
fn source(accesses: &Accesses, sequence: &[EventId], read: &Read) -> EventId {
    let until = sequence.iter().position(|&event| event == read.id).expect("all events are there");
    let source = sequence[..until].iter().rev().copied().find(|event| accesses.writes(read.loc).contains(event));
    source.unwrap_or(INITIAL)
}

/// Whether every read reads from a good write.
fn is_witness(accesses: &Accesses, sequence: &[EventId]) -> bool {
    accesses.reads.iter().all(|read| read.good.contains(&source(accesses, sequence, read)))
}

/// Whether the reads of the root read from the sides that the order says.
fn keeps_sides(order: &Order, accesses: &Accesses, sequence: &[EventId]) -> bool {
    accesses.reads.iter().all(|read| {
        let is_root = source(accesses, sequence, read).thread == ROOT;
        order.side(read.id).is_none_or(|side| is_root == (side == Side::Root))
    })
}

/// The sequences that keep the order and are witnesses.
fn witnesses(order: &Order, accesses: &Accesses) -> Vec<Vec<EventId>> {
    let (mut found, mut counts) = (Vec::new(), vec![0; order.threads()]);
    extend(order, accesses, &mut Vec::new(), &mut counts, &mut found);
    found
}

fn extend(
    order: &Order,
    accesses: &Accesses,
    done: &mut Vec<EventId>,
    counts: &mut [u32],
    found: &mut Vec<Vec<EventId>>,
) {
    let all: u32 = (0..counts.len() as u32).map(|thread| order.len(ThreadId(thread))).sum();
    if done.len() as u32 == all {
        found.extend(is_witness(accesses, done).then(|| done.clone()));
        return;
    }
    for thread in 0..counts.len() {
        let event = id(thread as u32, counts[thread]);
        if !order.contains(event) || order.row(event).iter().zip(&*counts).any(|(wanted, done)| wanted > done) {
            continue;
        }
        counts[thread] += 1;
        done.push(event);
        extend(order, accesses, done, counts, found);
        done.pop();
        counts[thread] -= 1;
    }
}

/// The closures of an order, one for each way to answer what is undecided.
fn closures(order: &Order, accesses: &Accesses) -> Vec<Order> {
    let mut order = order.clone();
    match close(&mut order, accesses) {
        Closed::Yes => vec![order],
        Closed::No => Vec::new(),
        Closed::Undecided(question) => {
            let answered = (0..question.answers()).flat_map(|number| {
                let mut order = order.clone();
                question.answer(number, &mut order);
                closures(&order, accesses)
            });
            answered.collect()
        }
    }
}

/// Whether the first order is part of the second.
fn is_within(small: &Order, large: &Order) -> bool {
    let events =
        (0..small.threads() as u32).flat_map(|thread| (0..small.len(ThreadId(thread))).map(move |i| id(thread, i)));
    events.clone().all(|a| events.clone().all(|b| !small.before(a, b) || large.before(a, b)))
}

/// The order of a sequence.
fn chain(order: &Order, sequence: &[EventId]) -> Order {
    let mut chain = order.clone();
    assert!(sequence.windows(2).all(|pair| chain.insert(pair[0], pair[1])));
    chain
}

#[test]
fn there_is_a_closure_exactly_if_there_is_a_witness() {
    let mut numbers = Random::new(7);
    let (mut possible, mut asked) = (0, 0);
    for number in 0..RUNS {
        let relaxed = number % 2 == 1;
        let (order, accesses) = random(&mut numbers, relaxed);
        let witnesses = witnesses(&order, &accesses);
        let closures = closures(&order, &accesses);
        assert!(relaxed || closures.len() <= 1, "all is decided");
        assert_eq!(closures.is_empty(), witnesses.is_empty(), "{order:?} {accesses:?}");
        possible += u32::from(!closures.is_empty());
        asked += u32::from(closures.len() > 1);
        for closed in &closures {
            let sequence = realise(closed, ROOT);
            assert!(is_witness(&accesses, &sequence), "{order:?} {accesses:?} {sequence:?}");
            assert!(keeps_sides(closed, &accesses, &sequence), "{closed:?} {accesses:?} {sequence:?}");
        }
        for witness in &witnesses {
            let chain = chain(&order, witness);
            let holds = |closed: &&Order| is_within(closed, &chain) && keeps_sides(closed, &accesses, witness);
            let of = closures.iter().filter(holds).count();
            assert_eq!(of, 1, "each witness is of one closure: {order:?} {accesses:?} {witness:?}");
        }
    }
    assert!((RUNS / 10..RUNS - RUNS / 10).contains(&possible), "{possible} of {RUNS} have a witness");
    assert!(asked >= RUNS / 400, "{asked} of {RUNS} have several closures");
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
    let manner = Manner { relaxed: false, every_answer: true, close_after_writes: true };
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
fn each_order_that_the_closure_asks_for_is_tried() {
    // The root may see 1 by either write, and then miss what was written before the other one.
    let threads =
        ["let a = load x; let b = load y; let c = load z;", "store y, 1; store x, 1;", "store z, 1; store x, 1;"];
    let (right, careless) = (counts(&threads, None, false), counts(&threads, Some(Rule::EveryAnswer), false));
    assert_eq!((right.executions, careless.executions), (8, 6), "one of the seven values is missed");
}

#[test]
fn whether_a_wait_ends_depends_on_the_order() {
    let threads = ["let a = load x;", "store x, 0; let a = load x until a == 0;", "let b = load x; store x, 1;"];
    let blocked = |without| counts(&threads, without, false).blocked;
    let careless = blocked(Some(Rule::WaitsAreNoShortcut));
    assert_eq!((blocked(None), careless), (4, 3), "with the shortcut a deadlock is missed");
}

#[test]
fn a_search_in_parts_explores_the_same() {
    let programs: [&[&str]; 6] = [
        &["store x, 1; let a = load y;", "store y, 1; let a = load x;", "let a = load x; let b = load y;"],
        &[
            "let a = load x; store x, a + 1;",
            "let a = load x; store x, a + 1;",
            "let a = load x; store y, 3; let b = load y;",
        ],
        &["lock m; store x, 1; unlock m;", "lock m; store x, 2; lock n;", "lock n; lock m; let a = load x;"],
        &["let a = choose 0..3; store x, a;", "let a = choose 0..2; let b = load x; store y, a;", "let c = load y;"],
        &["store x, 1; let a = load x until a == 2;", "store x, 2; let a = load y;", "store y, 1; store x, 1;"],
        &["store x, 1; let a = load x;", "store x, 1; let a = load x;", "store x, 2; let a = load x; let b = load x;"],
    ];
    for relaxed in [true, false] {
        let settings = Settings { relaxed, ..Settings::default() };
        for threads in programs {
            let whole = |question: Question<'_>, deadline: &Deadline<'_>| explore(question, deadline, settings);
            parts_make_up_the_whole(threads, whole, |question, deadline| {
                pool::explored_in_parts(Search::new(question, deadline, settings, true), question, deadline, settings)
            });
        }
    }
}
