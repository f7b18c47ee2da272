//! Models in which the past of an event, which is settled when it is added, says what it may read and where it may write; nothing is
//! kept beside the graph. A global order is asked of sequentially consistent events and fences only, and looked at only where an event
//! takes an option that is not the last one: any other has no way out to older events.
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer 2017; that options are a suffix of coherence, and when the order of fences has to be looked at, was found by
//! comparing with the definitions.

use super::Model;
use crate::graphs::event::{Event, Flags, INIT, Kind, LocId, NO_LOC, Slot};
use crate::graphs::graph::Graph;
use crate::graphs::realise::Question;
use raddle_consistency::causal::{self, Execution, Wish};
use raddle_consistency::{Interrupt, Interrupted};
use raddle_program::Ordering;
use raddle_trace::{BitSet, Matrix, Relation, ThreadId};

/// Collects what is before a new last event of its thread.
pub(super) fn collect<M: Model>(graph: &Graph<M>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
    row.clear();
    row.resize(graph.events.len().div_ceil(64), 0);
    let log = &graph.threads[event.thread.index()];
    let last = log.events[..event.index as usize].last().copied().or(log.spawn);
    if let Some(last) = last {
        for (word, more) in row.iter_mut().zip(relation.row(last as usize)) {
            *word |= more;
        }
        row[last as usize / 64] |= 1 << (last % 64);
    }
}

/// The position of the last write in the past of a new last event of its thread, by program order and reads-from.
pub(super) fn floor<M: Model>(graph: &Graph<M>, event: &Event) -> isize {
    let Some(last) = graph.last(event.thread) else { return -1 };
    let past = |&write: &u32| write == last || graph.prefix.before(write as usize, last as usize);
    graph.location(event.loc).co.iter().rposition(past).map_or(-1, |at| at as isize)
}

/// The same for an event of the graph, were only these events there.
pub(super) fn floor_within<M: Model>(graph: &Graph<M>, read: &Event, events: &BitSet) -> isize {
    let mut past = Vec::new();
    M::past(graph, read, &mut past);
    let is_past = |slot: Slot| events.contains(slot as usize) && past[slot as usize / 64] >> (slot % 64) & 1 == 1;
    let accesses = graph.location(read.loc);
    let write = accesses.co.iter().rposition(|&write| is_past(write)).map_or(-1, |at| at as isize);
    let reads = accesses.reads.iter().filter(|&&other| is_past(other));
    reads.map(|&other| graph.co_position(read.loc, graph.event(other).rf)).fold(write, isize::max)
}

/// Per slot, its number among these; [`usize::MAX`] if it is none of them.
fn numbers<M: Model>(graph: &Graph<M>, slots: &[Slot]) -> Vec<usize> {
    let mut numbers = vec![usize::MAX; graph.events.len()];
    slots.iter().enumerate().for_each(|(at, &slot)| numbers[slot as usize] = at);
    numbers
}

/// These events of a graph as an execution; what they depend on must be among them.
fn execution<M: Model>(graph: &Graph<M>, slots: &[Slot]) -> Execution {
    let number = numbers(graph, slots);
    let source = |slot: Slot| (slot != INIT).then(|| number[slot as usize]);
    let event = |&slot: &Slot| {
        let event = graph.event(slot);
        let is_access = event.loc != NO_LOC;
        let writes = is_access && event.kind == Kind::Write;
        let is_half = writes && event.flags.contains(Flags::LOCKED);
        causal::Event {
            loc: is_access.then_some(event.loc),
            reads: (is_access && event.kind == Kind::Read).then(|| source(event.rf)),
            follows: is_half.then(|| source(graph.source_of_update(event))),
            writes,
            order: event.order,
            fence: matches!(event.kind, Kind::Fence | Kind::StoreFence | Kind::Note),
        }
    };
    let mut po = Matrix::empty(slots.len());
    let mut step = |from: Slot, to: Slot| {
        let (from, to) = (number[from as usize], number[to as usize]);
        if from != usize::MAX && to != usize::MAX {
            po.add(from, to);
        }
    };
    for log in &graph.threads {
        let mut before = log.spawn;
        for &slot in log.events.iter().filter(|&&slot| number[slot as usize] != usize::MAX) {
            before.into_iter().for_each(|before| step(before, slot));
            let event = graph.event(slot);
            if event.kind == Kind::Join
                && let Some(last) = graph.last(ThreadId(event.value as u32))
            {
                step(last, slot);
            }
            before = Some(slot);
        }
    }
    let hb = Matrix::of(slots.len(), |a, b| a != b && M::happens_before(graph, slots[a], slots[b]));
    Execution { events: slots.iter().map(event).collect(), po: po.closure(), hb }
}

/// The order of writes of a graph among these events.
fn coherence<M: Model>(graph: &Graph<M>, slots: &[Slot]) -> Matrix {
    let numbers = numbers(graph, slots);
    let mut mo = Matrix::empty(slots.len());
    for accesses in &graph.locations {
        let writes: Vec<usize> = accesses.co.iter().map(|&write| numbers[write as usize]).collect();
        for (at, &first) in writes.iter().enumerate() {
            writes[at + 1..].iter().for_each(|&second| mo.add(first, second));
        }
    }
    mo
}

/// Whether what the model asks beyond coherence and atomicity holds, from its definition.
pub(super) fn has_order<M: Model>(graph: &Graph<M>) -> bool {
    causal::has_order(M::MODEL, &execution(graph, &graph.order), coherence(graph, &graph.order))
}

/// Whether the graph is consistent, from the definition of the model.
#[cfg(debug_assertions)]
pub(super) fn is_consistent<M: Model>(graph: &Graph<M>) -> bool {
    causal::is_consistent(M::MODEL, &execution(graph, &graph.order), coherence(graph, &graph.order))
}

/// An order of all events of a question in which the writes of each location explain what was read; the new read is not in it.
///
/// Where the model asks for nothing beyond coherence, locations have nothing to do with each other, and only those in question are looked at.
pub(in crate::graphs) fn explain<M: Model>(
    question: &Question<'_, M>,
    interrupt: &dyn Interrupt,
) -> Result<Option<Vec<Slot>>, Interrupted> {
    let Question { graph, events, read, updates, edges } = *question;
    let is_there = |slot: &&Slot| events.contains(**slot as usize);
    let all = M::ONE_ORDER || !M::floors_decide(graph, events, read, updates);
    let in_question = |loc: LocId| {
        read.is_some_and(|read| read.loc == loc) || edges.iter().any(|&(write, _)| graph.event(write).loc == loc)
    };
    let slots: Vec<Slot> = if all {
        graph.order.iter().filter(is_there).copied().collect()
    } else {
        let concerned =
            |slot: &&Slot| is_there(slot) && graph.event(**slot).loc != NO_LOC && in_question(graph.event(**slot).loc);
        graph.order.iter().filter(concerned).copied().collect()
    };
    let mut execution = execution(graph, &slots);
    let numbers = numbers(graph, &slots);
    let number = |slot: Slot| numbers[slot as usize];
    if let Some(read) = read {
        add(&mut execution, graph, &slots, read, updates);
    }
    let demanded: Vec<(usize, usize)> = edges.iter().map(|&(a, b)| (number(a), number(b))).collect();
    let mut rank = vec![usize::MAX; execution.events.len()];
    for accesses in &graph.locations {
        let writes = accesses.co.iter().map(|&write| number(write)).filter(|&write| write != usize::MAX);
        writes.enumerate().for_each(|(at, write)| rank[write] = at);
    }
    let wish = Wish { demanded: &demanded, rank: &rank };
    let Some(order) = causal::order(M::MODEL, &execution, wish, interrupt)? else {
        return Ok(None);
    };
    // A new write half has no slot yet.
    let order: Vec<Slot> = order.into_iter().filter_map(|write| slots.get(write).copied()).collect();
    if M::ONE_ORDER {
        return Ok(Some(one_sequence(graph, &slots, &order)));
    }
    let untouched = graph.locations.iter().enumerate().filter(|&(loc, _)| !all && !in_question(loc as LocId));
    let mut sequence: Vec<Slot> =
        untouched.flat_map(|(_, accesses)| accesses.co.iter().filter(is_there).copied()).collect();
    sequence.extend(order);
    Ok(Some(sequence))
}

/// Adds a read that is not in the graph, and the writing that belongs to it.
fn add<M: Model>(execution: &mut Execution, graph: &Graph<M>, slots: &[Slot], read: &Event, updates: bool) {
    let source = (read.rf != INIT).then(|| slots.iter().position(|&slot| slot == read.rf).expect("sources are there"));
    let mut past = Vec::new();
    M::past(graph, read, &mut past);
    M::learn(graph, read, &mut past);
    let is_before = |slot: Slot| past[slot as usize / 64] >> (slot % 64) & 1 == 1;
    let log = &graph.threads[read.thread.index()];
    let last = log.events[..read.index as usize].last().copied().or(log.spawn);
    let size = slots.len();
    let total = size + 1 + usize::from(updates);
    let before_in_program = |at: usize| {
        last.is_some_and(|last| {
            slots[at] == last
                || slots.iter().position(|&slot| slot == last).is_some_and(|last| execution.po.has(at, last))
        })
    };
    let is_new = |b: usize| b >= size;
    let po = Matrix::of(total, |a, b| match (a < size, is_new(b)) {
        (true, false) => execution.po.has(a, b),
        (true, true) => before_in_program(a),
        (false, _) => a < b,
    });
    let hb = Matrix::of(total, |a, b| match (a < size, is_new(b)) {
        (true, false) => execution.hb.has(a, b),
        (true, true) => is_before(slots[a]),
        (false, _) => a < b,
    });
    let half = causal::Event {
        loc: Some(read.loc),
        reads: Some(source),
        follows: None,
        writes: false,
        order: read.order,
        fence: false,
    };
    execution.events.push(half);
    if updates {
        execution.events.push(causal::Event { reads: None, follows: Some(source), writes: true, ..half });
    }
    execution.po = po;
    execution.hb = hb;
}

/// All events in an order that respects what happens before and this order of writes.
fn one_sequence<M: Model>(graph: &Graph<M>, slots: &[Slot], order: &[Slot]) -> Vec<Slot> {
    let numbers = numbers(graph, slots);
    let number = |slot: Slot| numbers[slot as usize];
    let mut before = Matrix::of(slots.len(), |a, b| a != b && M::happens_before(graph, slots[a], slots[b]));
    for (at, &first) in order.iter().enumerate() {
        let same = order[at + 1..].iter().filter(|&&second| graph.event(second).loc == graph.event(first).loc);
        same.for_each(|&second| before.add(number(first), number(second)));
    }
    let before = before.closure();
    let mut sequence: Vec<usize> = (0..slots.len()).collect();
    sequence.sort_by_key(|&b| (0..slots.len()).filter(|&a| before.has(a, b)).count());
    sequence.into_iter().map(|at| slots[at]).collect()
}

/// Whether the event has taken an option that may upset the order of these events: not the last one, and there are two of them.
pub(super) fn is_in_question<M: Model>(graph: &Graph<M>, slot: Slot, is_ordered: impl Fn(&Event) -> bool) -> bool {
    !is_last(graph, slot) && graph.order.iter().filter(|&&slot| is_ordered(graph.event(slot))).nth(1).is_some()
}

/// Whether there are two of these events.
pub(super) fn has_two<M: Model>(graph: &Graph<M>, events: &BitSet, is_one: impl Fn(&Event) -> bool) -> bool {
    let there = graph.order.iter().filter(|&&slot| events.contains(slot as usize));
    there.filter(|&&slot| is_one(graph.event(slot))).nth(1).is_some()
}

/// A full fence.
pub(super) fn is_full_fence(event: &Event) -> bool {
    event.kind == Kind::Fence && event.order == Ordering::SeqCst
}

/// Whether the event took the last option it had.
fn is_last<M: Model>(graph: &Graph<M>, slot: Slot) -> bool {
    let event = graph.event(slot);
    let last = graph.location(event.loc).co.last().copied().unwrap_or(INIT);
    match event.kind {
        Kind::Read => event.rf == last,
        Kind::Write => slot == last,
        _ => true,
    }
}
