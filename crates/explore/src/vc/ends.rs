//! The ends of executions.
//!
//! Where no thread has anything left to do but to wait, the events may be those of a whole execution. If threads only wait for a
//! mutex that is held, or for other threads, they are. If a thread waits for a value, memory must end up with one it waits to
//! change; if it turned in a loop without effect, nothing that its last turn read may have been overwritten since. That is a
//! question about an annotated order with one read more at the end for each thread that waits for a value, and with some
//! edges more. Its closure, or with relaxed orders those of its extensions, answer it. The answer depends on the order of the leaves, so it is asked in each.

use super::accesses::Accesses;
use super::candidates::is_held;
use super::closure::close;
use super::extend::{Extension, Manner, New};
use super::order::Order;
use super::realise::realise;
use crate::sequence::{self, Frontier, INITIAL, Initial, LocId};
use raddle_consistency::{Interrupted, Watch};
use raddle_machine::{Automaton, Blocked, Reaction, Status};
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;

/// What the threads of an execution come to, and what has to hold then.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    pub(crate) kind: sequence::End,
    /// What must be in memory at the end: one of these writes of the location.
    lasts: Vec<(LocId, Vec<EventId>)>,
    /// What must come before what.
    orders: Vec<(EventId, EventId)>,
}

impl End {
    /// The end that this may be; `None` if some thread can go on in any case.
    pub(crate) fn of(frontier: &mut Frontier<'_>) -> Option<End> {
        let mut end = End::default();
        for thread in frontier.ids() {
            let Some(state) = frontier.state(thread) else { continue };
            let pc = state.pc();
            match *state.status() {
                Status::Finished { exit, .. } => end.kind.exited |= exit,
                Status::Failed(_) => end.kind.failed = true,
                Status::Blocked(Blocked::Assume) => end.kind.assumed = true,
                Status::Blocked(Blocked::LoopBound) => end.kind.bounded = Some(pc),
                Status::Blocked(Blocked::Spin) => {
                    end.kind.waiting = end.kind.waiting.or(Some(pc));
                    let turn = frontier.event_of_operation(thread, state.since())..frontier.events(thread).len() as u32;
                    for read in turn.map(|index| EventId::new(thread, index)) {
                        let event = frontier.event(read);
                        let writes = if event.reads() { frontier.writes(event.loc) } else { &[] };
                        let others = writes.iter().filter(|write| write.thread != thread);
                        end.orders.extend(others.map(|&write| (write, read)));
                    }
                }
                Status::Ready(_) => {
                    end.kind.assumed |= state.is_assuming(frontier.world.code);
                    end.kind.waiting = end.kind.waiting.or(Some(pc));
                    let Some(pending) = frontier.pending(thread) else { continue };
                    if pending.mutex {
                        if !is_held(frontier, pending) {
                            return None;
                        }
                    } else if pending.wait {
                        let sources = blocking(frontier, thread, pending.loc);
                        end.lasts.push((pending.loc, sources));
                    } else {
                        return None;
                    }
                }
            }
        }
        Some(end)
    }

    /// Whether it depends on the order of events whether the execution can end so.
    pub(crate) fn is_conditional(&self) -> bool {
        !self.lasts.is_empty() || !self.orders.is_empty()
    }

    /// A sequence that ends so, if there is one.
    pub(crate) fn sequence(
        &self,
        order: &Order,
        accesses: &mut Accesses,
        root: ThreadId,
        manner: Manner,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        if !self.is_conditional() {
            return Ok(Some(realise(order, root)));
        }
        let mut order = order.clone();
        if !self.orders.iter().all(|&(a, b)| order.insert(a, b)) || !close(&mut order, accesses) {
            return Ok(None);
        }
        let threads = order.threads() as u32;
        let last = |thread| Some(EventId::new(thread, order.len(thread).checked_sub(1)?));
        let lasts: SmallVec<[EventId; 2]> = (0..threads).map(ThreadId).filter_map(last).collect();
        let known = accesses.len();
        // The reads are of a thread of their own, and that is a leaf.
        let reader = ThreadId(threads.max(root.0 + 1));
        let reads = self.lasts.iter().zip(0..).map(|((loc, sources), index)| {
            let id = EventId::new(reader, index);
            accesses.read(id, *loc, sources.clone());
            New { id, loc: *loc, writes: false, behind: lasts.clone() }
        });
        let reads = reads.collect();
        let found = Extension::new(order, reads, manner).next(accesses, watch);
        accesses.truncate(known);
        Ok(found?.map(|order| {
            let mut sequence = realise(&order, root);
            sequence.retain(|event| event.thread != reader);
            sequence
        }))
    }
}

/// The writes of a location that the pending read of a thread would wait to change.
fn blocking(frontier: &mut Frontier<'_>, thread: ThreadId, loc: LocId) -> Vec<EventId> {
    let mut found = frontier.writes(loc).to_vec();
    if found.is_empty() {
        found.push(INITIAL);
    }
    found.retain(|&source| match frontier.value(loc, source) {
        Initial::Value(value) => frontier.reaction(thread, value) == Reaction::Block,
        // It would not wait but fail.
        Initial::Uninitialised => false,
    });
    found
}
