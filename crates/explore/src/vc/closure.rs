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
//! chain and leaves whose conflicting events are ordered there always is one write to add an edge for, and
//! the closure exists exactly if there is a sequence ([`realise`](super::realise)) (Chatterjee, Pavlogiannis and Toman 2019; Toman 2021).
//!
//! With *relaxed* orders (ours) writes of leaves are not ordered with each other to begin with; only reads of leaves are ordered with all
//! writes of leaves. If the rules hold nevertheless there is a sequence, and it is the same one: the root's events as early as
//! possible. What orders were needed for is to know which edge is missing. So where several edges could be, and which
//! one depends on the order of leaf writes, this order is asked for ([`Closed::Undecided`]), and the caller tries each answer. The argument, for a read whose last write in
//! that sequence is bad, by cases:
//! * *The read is the root's.* What comes before it in the sequence is what is before it in the order, and a good visible write is among that (rule 1). If the bad
//!   write is the root's, too, the good one is a leaf's; it comes before the bad one only if an event of the root needs it before, and then is not
//!   visible. So no bad write of a leaf may be visible before the read: that is rule 3 here. It is put before the good
//!   write of the root, or its order with one of a leaf is asked for. Where there are good writes of both, it is asked which of
//!   them the read may read from: until then the good writes of a read of the root may be of both sides (ours).
//!   Rule 2 is not needed; its edges are added where there is no choice.
//! * *The read is a leaf's, the bad write too.* By rule 3 it is before a visible good write. That is before the read in the order, or the root's and so before it in the
//!   sequence, else the read would be before it in the order.
//! * *The read is a leaf's, the bad write the root's.* The maximal good write of rule 2 is not the root's, else it would come later in the
//!   sequence. A leaf's comes before the bad one in the sequence only if it does in the order, and then is not maximal.
//!
//! The closure of `consistency` ([`values`](raddle_consistency::values)) is not enough here: it is a filter before a search and makes no use of
//! the root, so where good writes of both sides are visible to a read, none the last, it adds nothing and the order stays unclosed.
//!
//! Rules are applied to one read in this order until all hold: the third one means nothing while the second one
//! does not hold. An edge that would close a cycle is answered by "no closure"; as each edge is forced that is right
//! whatever the order was at the beginning.

use super::accesses::{Accesses, Read, is_good};
use super::order::{Order, Side};
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

/// What came of completing an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// It is closed.
    Yes,
    /// It has no closure.
    No,
    /// That depends on the order of writes of leaves.
    Undecided(Undecided),
}

/// What has to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// Which of these writes of leaves, no two of which are ordered, is the first.
    First(Writes),
    /// Which is the last.
    Last(Writes),
    /// Whether this read of the root reads from the root.
    Side(EventId),
}

impl Undecided {
    /// How many answers there are.
    pub(crate) fn answers(&self) -> usize {
        match self {
            Undecided::First(writes) | Undecided::Last(writes) => writes.len(),
            Undecided::Side(_) => 2,
        }
    }

    /// Puts an answer into the order.
    pub(crate) fn answer(&self, number: usize, order: &mut Order) {
        let (writes, first) = match self {
            Undecided::First(writes) => (writes, true),
            Undecided::Last(writes) => (writes, false),
            Undecided::Side(read) => return order.take_side(*read, [Side::Root, Side::Leaves][number]),
        };
        let chosen = writes[number];
        for &other in writes.iter().filter(|&&other| other != chosen) {
            let (a, b) = if first { (chosen, other) } else { (other, chosen) };
            let fits = order.insert(a, b);
            debug_assert!(fits, "they are not ordered");
        }
    }
}

/// Adds to the order what is missing to its closure.
pub(crate) fn close(order: &mut Order, accesses: &Accesses) -> Closed {
    loop {
        let mut changed = false;
        let mut undecided = None;
        for read in &accesses.reads {
            if !order.contains(read.id) {
                continue;
            }
            loop {
                match missing(order, accesses, read) {
                    Missing::Nothing => break,
                    Missing::Edge(a, b) if order.insert(a, b) => changed = true,
                    Missing::Edge(..) | Missing::Contradiction => return Closed::No,
                    Missing::Answer(question) => {
                        // Edges of other reads may answer it.
                        undecided = Some(question);
                        break;
                    }
                }
            }
        }
        match undecided {
            _ if changed => {}
            Some(question) => return Closed::Undecided(question),
            None => return Closed::Yes,
        }
    }
}

/// What the order lacks to be closed for a read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Missing {
    Nothing,
    /// The first event has to come before the second.
    Edge(EventId, EventId),
    /// It depends on the order of some writes.
    Answer(Undecided),
    /// There is no closure.
    Contradiction,
}

/// What the first rule that does not hold for a read asks for.
fn missing(order: &Order, accesses: &Accesses, read: &Read) -> Missing {
    let visible = Visible::of(order, accesses, read);
    let is_root = |write: &EventId| accesses.is_root(*write);
    let side = if is_root(&read.id) { order.side(read.id) } else { None };
    let good =
        |write: &EventId| is_good(read, *write) && side.is_none_or(|side| is_root(write) == (side == Side::Root));
    if !visible.before.iter().any(good) {
        let candidates: Writes = visible.beside.iter().copied().filter(good).collect();
        let is_least = |write: &EventId| !candidates.iter().any(|&other| order.before(other, *write));
        let least: Writes = candidates.iter().copied().filter(is_least).collect();
        return match least[..] {
            [] => Missing::Contradiction,
            [least] => Missing::Edge(least, read.id),
            _ => Missing::Answer(Undecided::First(least)),
        };
    }
    let maximal = |write: &EventId| visible.is_maximal(order, *write);
    if !visible.all().any(|write| good(&write) && maximal(&write)) {
        // Only those of the other side are not ordered with the read. Good writes before it are hidden by it for certain.
        let hides = |last: EventId| visible.all().all(|write| !good(&write) || order.before(write, last));
        match visible.beside.iter().find(|&last| maximal(last) && hides(*last)) {
            Some(&last) => return Missing::Edge(read.id, last),
            None if is_root(&read.id) => {}
            None => return Missing::Contradiction,
        }
    }
    // Of the events before the read none hides another one that is visible.
    let leaves: Writes = visible.before.iter().copied().filter(|write| good(write) && !is_root(write)).collect();
    if is_root(&read.id) {
        // The root's events are early enough. If all is as it should be, no bad write of a leaf is left.
        let Some(&bad) = visible.before.iter().find(|write| !good(write) && !is_root(write)) else {
            return Missing::Nothing;
        };
        let root = visible.before.iter().find(|write| good(write) && is_root(write));
        let from_leaves = visible.all().any(|write| good(&write) && !is_root(&write));
        return match (root, &leaves[..]) {
            (Some(_), _) if from_leaves => Missing::Answer(Undecided::Side(read.id)),
            (Some(&root), _) => Missing::Edge(bad, root),
            (None, leaves) => Missing::Answer(Undecided::First(Writes::from_slice(&[bad, leaves[0]]))),
        };
    }
    for &bad in visible.before.iter().filter(|write| !good(write)) {
        if visible.all().any(|write| good(&write) && order.before(bad, write)) {
            continue;
        }
        return match leaves[..] {
            [good] if is_root(&bad) => Missing::Edge(bad, good),
            [_, ..] if is_root(&bad) => Missing::Answer(Undecided::Last(leaves)),
            [good, ..] => Missing::Answer(Undecided::First(Writes::from_slice(&[bad, good]))),
            [] => {
                let roots = visible.all().filter(|write| good(write) && is_root(write));
                let last = roots.max_by_key(|write| write.index);
                last.map_or(Missing::Contradiction, |last| Missing::Edge(bad, last))
            }
        };
    }
    Missing::Nothing
}
