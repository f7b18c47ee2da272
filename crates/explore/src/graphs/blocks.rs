//! Atomic blocks: giving up a graph as soon as no execution can come of it.
//!
//! The search adds the events of an atomic block one by one, and each takes its own place among the writes or its own source. Most combinations
//! interleave the block with others: the graph is *torn*, and no execution. It must not be dropped just for that. A revisit may
//! delete what tears it, and the graph that is left may be met in no other way. But what cannot be deleted any more tears it for ever.
//!
//! A revisit deletes events that were added after the revisited read and are [maximally added](super::revisit), and nothing else. So these are never
//! deleted:
//! * what was added before every read that can be revisited. Nothing can be that a kept event depends on, by program order and reads-from: it would go with the read;
//! * what did not make the canonical choice among the events that are older than it: a write before an older one in coherence, a read whose source
//!   such a write follows, any but the first alternative. Whatever else is deleted, older events are still there when it is looked at;
//! * what comes before one of these in the global relation. Along program order and reads-from because what is kept is closed under both. Along
//!   coherence and from-read because the earlier event is not the last in the sight of the later one, which is kept.
//!
//! If these events alone have no order that leaves every block whole, neither has any graph that follows, and the option is dropped. Blocks that only write
//! are never torn for long then: what is left is a beginning of an execution.
//!
//! Cost: quadratic in the events, for each new event that cannot be deleted any more; nothing in programs without atomic blocks.

use super::event::{Flags, Kind, Slot};
use super::graph::{Equivalence, Graph};
use super::linearise;
use super::models::Model;
use raddle_trace::BitSet;

/// Whether every graph that follows from this one is torn. The event added last is the only one that may have made a difference.
pub(super) fn is_torn_for_ever<M: Model>(graph: &Graph<M>) -> bool {
    kept_for_ever(graph).is_some_and(|kept| linearise::is_torn_within(graph, &kept))
}

/// What cannot be deleted any more, if the event added last is part of it.
pub(super) fn kept_for_ever<M: Model>(graph: &Graph<M>) -> Option<BitSet> {
    if graph.equivalence != Equivalence::Coherence {
        return None;
    }
    let &newest = graph.order.last()?;
    let mut older = BitSet::new();
    let mut canonical = BitSet::new();
    for &slot in &graph.order {
        if graph.chose_the_canonical(slot, &older) {
            canonical.insert(slot as usize);
        }
        older.insert(slot as usize);
    }
    // Reads on which something that is kept depends are not revisited, so more is kept.
    let (mut kept, mut depended) = (BitSet::new(), BitSet::new());
    loop {
        let before = kept.clone();
        let mut settled = true;
        for &slot in &graph.order {
            let chose = canonical.contains(slot as usize);
            settled &= !(chose && graph.event(slot).kind == Kind::Read && !depended.contains(slot as usize));
            if (settled || !chose) && !kept.contains(slot as usize) {
                kept.insert(slot as usize);
                kept.union_row(M::before(graph, slot));
            }
        }
        if kept == before {
            break;
        }
        kept.iter().for_each(|slot| depended.union_row(graph.prefix.row(slot)));
    }
    kept.contains(newest as usize).then_some(kept)
}

impl<M: Model> Graph<M> {
    /// Whether the event made the canonical choice with respect to the events older than it.
    fn chose_the_canonical(&self, slot: Slot, older: &BitSet) -> bool {
        let event = self.event(slot);
        let overtakes = |write: Slot| {
            let later = self.location(event.loc).co.iter().rev().take_while(|&&other| other != write);
            later.into_iter().any(|&other| older.contains(other as usize))
        };
        let chose = match event.kind {
            Kind::Write => !overtakes(slot),
            Kind::Read => !overtakes(event.rf),
            Kind::Choose => event.value == 0,
            _ => true,
        };
        chose && !event.flags.contains(Flags::MARKED)
    }
}
