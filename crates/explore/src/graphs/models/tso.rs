//! Total store order: a store goes through a buffer, first in first out, and reaches memory at a moment of its own; loads
//! look into the buffer first. What drains the buffer (a fence, an update, a thread's start or end) comes after every store
//! before it.

use super::global::Global;
use crate::graphs::event::{Event, Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{Step, ThreadId};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tso;

impl Global for Tso {
    const MODEL: raddle_trace::Model = raddle_trace::Model::Tso;
    const FORWARDS: bool = true;

    fn fence(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn fence_after_store(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn preserved(a: &Event, b: &Event) -> bool {
        !a.is_buffered() || b.drains() || b.kind == Kind::Write
    }

    fn predecessors(graph: &Graph<Self>, thread: ThreadId, upto: usize, event: &Event, mut add: impl FnMut(Slot)) {
        let log = &graph.threads[thread.index()];
        let wants_writes = event.drains() || event.kind == Kind::Write;
        let mut write_seen = false;
        for &slot in log.events[..upto].iter().rev() {
            let earlier = graph.event(slot);
            if earlier.is_buffered() {
                // Writes are ordered among themselves: the last one stands for those before.
                if wants_writes && !std::mem::replace(&mut write_seen, true) {
                    add(slot);
                }
                continue;
            }
            add(slot);
            // Any event that is no plain write has all of those before it; the writes may still be missing.
            if earlier.drains() || write_seen || !wants_writes {
                return;
            }
        }
        if let Some(spawn) = log.spawn {
            add(spawn);
        }
    }

    fn arrival(write: &Event, _: Addr) -> Option<Step> {
        write.is_buffered().then_some(Step::Flush(write.thread))
    }
}
