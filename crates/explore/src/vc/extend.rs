//! All ways to put new events into a closed annotated order.
//!
//! An event of the root is only put behind what comes before it in its thread; the closure does the rest, so there is at
//! most one way. An event of a leaf is ordered with every event of another leaf that it conflicts with, in every way that
//! has a closure. With *relaxed* orders two writes are left unordered until the closure asks for their order. Results differ in the order of
//! some such pair, so they are of different classes. There may be exponentially many; they are made one at a time, and the space is
//! polynomial.

use super::accesses::Accesses;
use super::closure::{Closed, close};
use super::order::Order;
use crate::sequence::{LocId, NO_LOC};
use raddle_consistency::{Interrupted, Watch};
use raddle_trace::EventId;
use smallvec::SmallVec;

/// An event that is to be put into an order.
#[derive(Clone, Debug)]
pub(crate) struct New {
    pub(crate) id: EventId,
    /// What it accesses, or [`NO_LOC`].
    pub(crate) loc: LocId,
    pub(crate) writes: bool,
    /// Events of other threads that it comes behind: the start of its thread, the end of one it waited for, the release of
    /// a mutex, arrivals at a barrier that it leaves.
    pub(crate) behind: SmallVec<[EventId; 2]>,
}

/// An order with some of the events.
#[derive(Clone, Debug)]
struct Partial {
    order: Order,
    /// How many are in it.
    placed: usize,
    /// Pairs that may still have to be ordered because of the last of them.
    undecided: Vec<(EventId, EventId)>,
}

/// How events are put into an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Leave writes unordered until the closure asks for their order.
    pub(crate) relaxed: bool,
    /// Try each of the orders it asks for.
    pub(crate) every_answer: bool,
    /// Also compute the closure when a write is added.
    pub(crate) close_after_writes: bool,
}

/// The ways that have not been looked at.
#[derive(Debug)]
pub(crate) struct Extension {
    manner: Manner,
    events: Vec<New>,
    stack: Vec<Partial>,
}

impl Extension {
    /// Of an order by new events, in an order that program order allows. Without any it is to be closed.
    pub(crate) fn new(order: Order, events: Vec<New>, manner: Manner) -> Self {
        let start = Partial { order, placed: 0, undecided: Vec::new() };
        Extension { manner, events, stack: vec![start] }
    }

    /// Nothing: others look at the ways.
    pub(crate) fn none(manner: Manner) -> Self {
        Extension { manner, events: Vec::new(), stack: Vec::new() }
    }

    /// Whether there may be more.
    pub(crate) fn has_more(&self) -> bool {
        !self.stack.is_empty()
    }

    /// The next way. `accesses` has the new events, too.
    pub(crate) fn next(&mut self, accesses: &Accesses, watch: &mut Watch<'_>) -> Result<Option<Order>, Interrupted> {
        while let Some(mut partial) = self.stack.pop() {
            watch.step()?;
            let last = partial.placed.checked_sub(1).map(|last| &self.events[last]);
            if last.is_some() || self.events.is_empty() {
                let open = |&(a, b): &(EventId, EventId)| !partial.order.decides(a, b);
                if let Some(at) = partial.undecided.iter().position(open) {
                    let (a, b) = partial.undecided[at];
                    partial.undecided.drain(..=at);
                    let mut other = partial.clone();
                    // They are not ordered, so neither edge closes a cycle. The new event last is looked at first.
                    other.order.insert(b, a);
                    partial.order.insert(a, b);
                    self.stack.extend([other, partial]);
                    continue;
                }
                let matters =
                    last.is_none_or(|last| last.loc != NO_LOC && (self.manner.close_after_writes || !last.writes));
                match if matters { close(&mut partial.order, accesses) } else { Closed::Yes } {
                    Closed::Yes => {}
                    Closed::No => continue,
                    Closed::Undecided(question) => {
                        debug_assert!(self.manner.relaxed, "else they are ordered");
                        let answers = if self.manner.every_answer { question.answers() } else { 1 };
                        for number in (0..answers).rev() {
                            let mut other = partial.clone();
                            question.answer(number, &mut other.order);
                            self.stack.push(other);
                        }
                        continue;
                    }
                }
            }
            let Some(next) = self.events.get(partial.placed) else { return Ok(Some(partial.order)) };
            partial.order.push(next.id, &next.behind);
            partial.placed += 1;
            partial.undecided.clear();
            if next.loc != NO_LOC {
                self.pairs(&mut partial, next, accesses);
            }
            self.stack.push(partial);
        }
        Ok(None)
    }

    /// The pairs of leaf events that have to be ordered with the event that has been put into the order last.
    fn pairs(&self, partial: &mut Partial, next: &New, accesses: &Accesses) {
        if accesses.is_root(next.id) {
            return;
        }
        let Partial { order, undecided, .. } = partial;
        let is_read = |id: EventId| accesses.reads.iter().any(|read| read.id == id);
        let others = accesses.leaves(next.id, next.loc, next.writes).filter(|id| order.contains(*id));
        let wanted = others.filter(|&other| !(self.manner.relaxed && next.writes) || is_read(other));
        undecided.extend(wanted.map(|other| (other, next.id)));
    }
}
