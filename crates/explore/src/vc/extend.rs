//! All ways to put new events into a closed annotated order.
//!
//! An event of the root is only put behind what comes before it in its thread; the closure does the rest, so there is at
//! most one way. An event of a leaf is ordered with every event of another leaf that it conflicts with, in every way that
//! has a closure. With *relaxed* orders two writes are left unordered as long as neither is good for any read; when a read makes a
//! write good, that write is ordered with all others. Results differ in the order of some such pair, so they are of different classes. There may be
//! exponentially many; they are made one at a time, and the space is polynomial.

use super::accesses::{Accesses, is_good};
use super::closure::close;
use super::order::Order;
use crate::sequence::{INITIAL, LocId, NO_LOC};
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
    /// Leave writes unordered that are good for no read.
    pub(crate) relaxed: bool,
    /// Order a write with others when it becomes good.
    pub(crate) order_good_writes: bool,
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
    /// Of a closed order by new events, in an order that program order allows.
    pub(crate) fn new(order: Order, events: Vec<New>, manner: Manner) -> Self {
        let start = Partial { order, placed: 0, undecided: Vec::new() };
        Extension { manner, events, stack: vec![start] }
    }

    /// Whether there may be more.
    pub(crate) fn has_more(&self) -> bool {
        !self.stack.is_empty()
    }

    /// The next way. `accesses` has the new events, too.
    pub(crate) fn next(&mut self, accesses: &Accesses, watch: &mut Watch<'_>) -> Result<Option<Order>, Interrupted> {
        while let Some(mut partial) = self.stack.pop() {
            watch.step()?;
            if let Some(last) = partial.placed.checked_sub(1).map(|last| &self.events[last]) {
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
                let matters = last.loc != NO_LOC && (self.manner.close_after_writes || !last.writes);
                if matters && !close(&mut partial.order, accesses) {
                    continue;
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
        let Partial { order, undecided, .. } = partial;
        let is_in = |id: &EventId| order.contains(*id);
        let reads = || accesses.reads.iter().filter(|read| read.loc == next.loc && order.contains(read.id));
        let is_read = |id: EventId| reads().any(|read| read.id == id);
        let is_observed = |id: EventId| reads().any(|read| is_good(read, id));
        if !accesses.is_root(next.id) {
            let others = accesses.leaves(next.id, next.loc, next.writes).filter(is_in);
            let wanted =
                others.filter(|&other| !(self.manner.relaxed && next.writes) || is_read(other) || is_observed(other));
            undecided.extend(wanted.map(|other| (other, next.id)));
        }
        let read = accesses.reads.iter().find(|read| read.id == next.id);
        if let Some(read) = read.filter(|_| self.manner.relaxed && self.manner.order_good_writes) {
            for &write in read.good.iter().filter(|&&write| write != INITIAL && !accesses.is_root(write)) {
                undecided.extend(accesses.leaves(write, next.loc, false).filter(is_in).map(|other| (other, write)));
            }
        }
    }
}
