//! The closure of an annotated partial order: what every sequence that uses good writes has in common.
//!
//! Let a write be *visible* to a read if it is not after the read and no other write of the location is between them. An
//! order is closed if for each read
//! 1. some visible good write is before it,
//! 2. some maximal visible write is good,
//! 3. each visible bad write before it is before some visible good write.
//!
//! The closure is the weakest closed order that contains the given one. It is reached by adding what is missing: the least
//! good write before the read; the read before the last write of the other side, which is bad; the bad write before the
//! last one of the other side, which is good. Each edge holds in every sequence that uses good writes. With a root that is a
//! chain and leaves whose conflicting events are ordered there always is at most one write to add an edge for, and
//! the closure exists exactly if there is a sequence ([`realise`](super::realise)) (Chatterjee, Pavlogiannis and Toman 2019; Toman 2021).
//!
//! With *relaxed* orders writes of leaves that are good for no read may be unordered among themselves. A write that is good for
//! some read is ordered with all writes of leaves. Then there can be several bad writes to add an edge for, and they are
//! dealt with one after the other; nothing else changes.
//!
//! The closure of `consistency` ([`values`](raddle_consistency::values)) is not enough here: it is a filter before a search and makes no use of
//! the root, so where good writes of both sides are visible to a read, none the last, it adds nothing and the order stays unclosed.
//!
//! Rules are applied to one read in this order until all hold: the third one means nothing while the second one
//! does not hold. An edge that would close a cycle is answered by "no closure"; as each edge is forced that is right
//! whatever the order was at the beginning.

use super::accesses::{Accesses, Read, is_good};
use super::order::Order;
use crate::sequence::INITIAL;
use raddle_trace::EventId;
use smallvec::SmallVec;

type Writes = SmallVec<[EventId; 8]>;

/// The writes that are visible to a read.
#[derive(Debug, Default)]
struct Visible {
    /// Those before it.
    before: Writes,
    /// Those that are not ordered with it.
    beside: Writes,
}

impl Visible {
    fn of(order: &Order, accesses: &Accesses, read: &Read) -> Visible {
        let mut visible = Visible::default();
        for &write in accesses.writes(read.loc).iter().filter(|&&write| order.contains(write)) {
            if order.before(write, read.id) {
                if !visible.before.iter().any(|&other| order.before(write, other)) {
                    visible.before.retain(|other| !order.before(*other, write));
                    visible.before.push(write);
                }
            } else if !order.before(read.id, write) {
                visible.beside.push(write);
            }
        }
        if visible.before.is_empty() {
            visible.before.push(INITIAL);
        }
        visible
    }

    fn all(&self) -> impl Iterator<Item = EventId> + Clone {
        self.before.iter().chain(&self.beside).copied()
    }

    /// Whether a write is not before another one.
    fn is_maximal(&self, order: &Order, write: EventId) -> bool {
        !self.all().any(|other| order.before(write, other))
    }
}

/// Adds to the order what is missing to its closure. Returns `false` if there is none.
pub(crate) fn close(order: &mut Order, accesses: &Accesses) -> bool {
    loop {
        let mut changed = false;
        for read in &accesses.reads {
            if !order.contains(read.id) {
                continue;
            }
            loop {
                match missing(order, accesses, read) {
                    Missing::Nothing => break,
                    Missing::Edge(a, b) if order.insert(a, b) => changed = true,
                    Missing::Edge(..) | Missing::Contradiction => return false,
                }
            }
        }
        if !changed {
            return true;
        }
    }
}

/// What the order lacks to be closed for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Nothing,
    /// The first event has to come before the second.
    Edge(EventId, EventId),
    /// There is no closure.
    Contradiction,
}

/// What the first rule that does not hold for a read asks for.
fn missing(order: &Order, accesses: &Accesses, read: &Read) -> Missing {
    let visible = Visible::of(order, accesses, read);
    let good = |write: &EventId| is_good(read, *write);
    if !visible.before.iter().any(good) {
        let candidates: Writes = visible.beside.iter().copied().filter(good).collect();
        let least = candidates.iter().find(|&&write| !candidates.iter().any(|&other| order.before(other, write)));
        let Some(&least) = least else { return Missing::Contradiction };
        debug_assert!(
            candidates.iter().all(|&other| other == least || order.before(least, other)),
            "they are all on the other side"
        );
        return Missing::Edge(least, read.id);
    }
    let maximal = |write: &EventId| visible.is_maximal(order, *write);
    if !visible.all().any(|write| good(&write) && maximal(&write)) {
        // Only those of the other side are not ordered with the read. Good writes before it are hidden by it for certain.
        let hides = |last: EventId| visible.all().all(|write| !good(&write) || order.before(write, last));
        let last = visible.beside.iter().find(|&last| maximal(last) && hides(*last));
        return last.map_or(Missing::Contradiction, |&last| Missing::Edge(read.id, last));
    }
    let covered = |bad: EventId| visible.all().any(|write| good(&write) && order.before(bad, write));
    let Some(&bad) = visible.before.iter().find(|&&write| !good(&write) && !covered(write)) else {
        return Missing::Nothing;
    };
    let is_remote = |write: &EventId| accesses.is_root(*write) != accesses.is_root(bad);
    let last = visible.all().find(|write| good(write) && is_remote(write) && maximal(write));
    last.map_or(Missing::Contradiction, |last| Missing::Edge(bad, last))
}
