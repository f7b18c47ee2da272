//! Atomic blocks: giving up a graph as soon as no execution can come of it.
//!
//! The search adds the events of an atomic block one by one, and each takes its own place among the writes or its own source. Most combinations
//! interleave the block with others: the graph is *torn*, and no execution. It must not be dropped just for that. A revisit may
//! delete what tears it, and the graph that is left may be met in no other way. But what cannot be deleted any more tears it for ever.
//!
//! A revisit deletes events that were added after the revisited read and are [maximally added](super::revisit), and nothing else. So these are never
//! deleted:
//! * what was added before every read that can be revisited. Nothing can be that a kept event depends on, by program order and reads-from: it would go with the read;
//! * what did not make the canonical choice among the events that are older than it and those that are never deleted: a write before such a one in
//!   coherence, a read whose source such a write follows, any but the first alternative. Whatever else is deleted, these are still there when it is looked at;
//! * the first event behind a read of these, in its thread, that others can depend on, if nothing between the two in the order of addition can be revisited.
//!   A write that revisits something older than the read needs the read, so it needs what makes it known;
//! * what comes before one of these in the global relation. Along program order and reads-from because what is kept is closed under both. Along
//!   coherence and from-read because the earlier event is not the last in the sight of the later one, which is kept.
//!
//! A read of a block cannot be revisited either if something that is kept, and was added after it, comes behind the block: a write that revisits the read would need
//! that, and come behind the block, too.
//!
//! If these events alone have no order that leaves every block whole, neither has any graph that follows, and the option is dropped. Two blocks that read the
//! same value and replace it are an example: as soon as the second has written, its read keeps the write, the write keeps the other read, and the two are torn.
//!
//! Cost: quadratic in the events, for each new event that cannot be deleted any more; nothing in programs without atomic blocks.

use super::event::{Flags, Kind, NO_BLOCK, Slot};
use super::graph::{Equivalence, Graph};
use super::linearise;
use super::models::Model;
use raddle_trace::{BitSet, ThreadId};
use smallvec::SmallVec;

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
    // Reads on which something that is kept depends are not revisited, so more is kept.
    let (mut kept, mut depended) = (BitSet::new(), BitSet::new());
    loop {
        let before = kept.clone();
        let mut settled = true;
        let (mut older, mut there) = (BitSet::new(), kept.clone());
        // Reads that are kept, of threads of which nothing has followed that others can depend on.
        let mut unknown: SmallVec<[ThreadId; 4]> = SmallVec::new();
        for &slot in &graph.order {
            let (at, event) = (slot as usize, graph.event(slot));
            let chose = graph.chose_the_canonical(slot, &there);
            older.insert(at);
            there.insert(at);
            let is_read = event.kind == Kind::Read;
            let is_open =
                || !depended.contains(at) && !kept.contains(at) && !graph.is_before_its_sources(slot, &kept, &older);
            if chose && is_read && is_open() {
                settled = false;
                unknown.clear();
            }
            let makes_known = !is_silent(event.kind) && unknown.contains(&event.thread);
            if (settled || !chose || makes_known) && !kept.contains(at) {
                kept.insert(at);
                kept.union_row(M::before(graph, slot));
            }
            if makes_known {
                unknown.retain(|thread| *thread != event.thread);
            }
            if is_read && kept.contains(at) {
                unknown.push(event.thread);
            }
        }
        if kept == before {
            break;
        }
        kept.iter().for_each(|slot| depended.union_row(graph.prefix.row(slot)));
    }
    kept.contains(newest as usize).then_some(kept)
}

/// The thread to go on with among those that are ready inside of an atomic block: one whose block does not come behind another one that is not over. What is left of
/// that one comes first, too, and may be what this one has to read.
pub(super) fn first_inside<M: Model>(graph: &Graph<M>, mut is_ready: impl FnMut(ThreadId) -> bool) -> Option<ThreadId> {
    let threads = (0..graph.threads.len() as u32).map(ThreadId);
    let block = |thread: ThreadId| graph.state(thread).and_then(|state| state.atomic_block());
    let inside: SmallVec<[(ThreadId, u32); 4]> = threads.filter_map(|thread| Some((thread, block(thread)?))).collect();
    let events = |(thread, block): (ThreadId, u32)| {
        let events = graph.threads[thread.index()].events.iter().rev().copied();
        events.take_while(move |&slot| graph.event(slot).block == block)
    };
    let is_behind = |one: (ThreadId, u32), other: (ThreadId, u32)| {
        let mut others = events(other);
        others.any(|before| events(one).any(|slot| has(M::before(graph, slot), before)))
    };
    let ready: SmallVec<[(ThreadId, u32); 4]> =
        inside.iter().copied().filter(|&(thread, _)| is_ready(thread)).collect();
    let first = ready.iter().find(|&&one| !inside.iter().any(|&other| other.0 != one.0 && is_behind(one, other)));
    first.or(ready.first()).map(|&(thread, _)| thread)
}

/// The threads that have gone on behind an atomic block which another one never leaves: it ends the program there, or is stuck. That stops everybody, so what these threads have done since has not
/// happened.
pub(super) fn behind_the_last<M: Model>(graph: &Graph<M>) -> SmallVec<[ThreadId; 4]> {
    let last = graph.threads.iter().filter_map(|log| Some((log, log.tip.as_ref()?.state.atomic_block()?)));
    let last = last.flat_map(|(log, block)| {
        log.events.iter().rev().copied().take_while(move |&slot| graph.event(slot).block == block)
    });
    let last: SmallVec<[Slot; 4]> = last.collect();
    let is_behind = |slot: Slot, thread: ThreadId| {
        let others = last.iter().filter(|&&before| graph.event(before).thread != thread);
        others.into_iter().any(|&before| has(M::before(graph, slot), before))
    };
    let threads = graph.threads.iter().zip(0..).map(|(log, index)| (log, ThreadId(index)));
    let behind =
        threads.filter(|(log, thread)| log.spawn.iter().chain(&log.events).any(|&slot| is_behind(slot, *thread)));
    behind.map(|(_, thread)| thread).collect()
}

/// Whether nobody else can depend on such an event, other than by what follows it in its thread.
fn is_silent(kind: Kind) -> bool {
    matches!(kind, Kind::Read | Kind::Choose | Kind::Fence | Kind::StoreFence | Kind::Note)
}

fn has(row: &[u64], slot: Slot) -> bool {
    row[slot as usize / 64] >> (slot % 64) & 1 == 1
}

impl<M: Model> Graph<M> {
    /// Whether a write that revisits this read would be torn from it: the write needs what is kept and younger than the read, and that comes behind the block that
    /// the read is in.
    fn is_before_its_sources(&self, read: Slot, kept: &BitSet, older: &BitSet) -> bool {
        let event = self.event(read);
        if event.block == NO_BLOCK {
            return false;
        }
        let earlier = self.threads[event.thread.index()].events[..event.index as usize].iter().rev();
        let block = earlier.copied().take_while(|&slot| self.event(slot).block == event.block);
        // What waits in a buffer may come behind what follows it in its thread.
        let is_early = |at: usize| !M::FORWARDS || self.event(at as Slot).kind == Kind::Read;
        block.into_iter().any(|slot| {
            kept.iter().any(|at| !older.contains(at) && is_early(at) && has(M::before(self, at as Slot), slot))
        })
    }

    /// Whether the event made the canonical choice with respect to these events.
    fn chose_the_canonical(&self, slot: Slot, there: &BitSet) -> bool {
        let event = self.event(slot);
        let overtakes = |write: Slot| {
            let later = self.location(event.loc).co.iter().rev().take_while(|&&other| other != write);
            later.into_iter().any(|&other| there.contains(other as usize))
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
