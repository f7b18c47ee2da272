//! All ways to put new events into a closed annotated order.
//!
//! An event of the root is only put behind what comes before it in its thread; the closure does the rest, so there is at
//! most one way. An event of a leaf is ordered with every event of another leaf that it conflicts with, in every way that
//! has a closure. Results differ in the order of some such pair, so they are of different classes. There may be
//! exponentially many; they are made one at a time, and the space is polynomial.

use super::accesses::Accesses;
use super::closure::close;
use super::order::Order;
use crate::sequence::{LocId, NO_LOC};
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
    /// a mutex.
    pub(crate) behind: SmallVec<[EventId; 2]>,
}

/// An order with some of the events.
#[derive(Clone, Debug)]
struct Partial {
    order: Order,
    /// How many are in it.
    placed: usize,
    /// The events that the last of them may still have to be ordered with.
    undecided: Vec<EventId>,
}

/// The ways that have not been looked at.
#[derive(Debug)]
pub(crate) struct Extension {
    /// Also compute the closure when a write is added.
    close_after_writes: bool,
    events: Vec<New>,
    stack: Vec<Partial>,
}

impl Extension {
    /// Of a closed order by new events, in an order that program order allows.
    pub(crate) fn new(order: Order, events: Vec<New>, close_after_writes: bool) -> Self {
        let start = Partial { order, placed: 0, undecided: Vec::new() };
        Extension { close_after_writes, events, stack: vec![start] }
    }

    /// Whether there may be more.
    pub(crate) fn has_more(&self) -> bool {
        !self.stack.is_empty()
    }

    /// The next way. `accesses` has the new events, too.
    pub(crate) fn next(&mut self, accesses: &Accesses) -> Option<Order> {
        while let Some(mut partial) = self.stack.pop() {
            if let Some(last) = partial.placed.checked_sub(1).map(|last| &self.events[last]) {
                let open = |other: &EventId| !partial.order.decides(*other, last.id);
                if let Some(at) = partial.undecided.iter().position(open) {
                    let other = partial.undecided[at];
                    partial.undecided.drain(..=at);
                    let mut later = partial.clone();
                    // They are not ordered, so neither edge closes a cycle. The new event last is looked at first.
                    later.order.insert(last.id, other);
                    partial.order.insert(other, last.id);
                    self.stack.extend([later, partial]);
                    continue;
                }
                let matters = last.loc != NO_LOC && (self.close_after_writes || !last.writes);
                if matters && !close(&mut partial.order, accesses) {
                    continue;
                }
            }
            let Some(next) = self.events.get(partial.placed) else { return Some(partial.order) };
            partial.order.push(next.id, &next.behind);
            partial.placed += 1;
            partial.undecided.clear();
            if next.loc != NO_LOC && !accesses.is_root(next.id) {
                let conflicts = accesses.leaf_conflicts(next.id, next.loc, next.writes);
                partial.undecided.extend(conflicts.into_iter().filter(|&other| partial.order.contains(other)));
            }
            self.stack.push(partial);
        }
        None
    }
}
