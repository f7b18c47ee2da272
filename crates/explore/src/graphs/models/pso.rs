//! Partial store order: as under TSO, with one buffer per location, so that stores to different locations reach memory in
//! any order unless a store-store fence stands between them.

use super::global::Global;
use crate::graphs::event::{Event, Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{Step, ThreadId};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pso;

impl Global for Pso {
    const MODEL: raddle_trace::Model = raddle_trace::Model::Pso;
    const FORWARDS: bool = true;

    fn fence(order: Ordering) -> Option<Kind> {
        match order {
            Ordering::SeqCst => Some(Kind::Fence),
            order => order.releases().then_some(Kind::StoreFence),
        }
    }

    fn fence_before_store(graph: &Graph<Self>, thread: ThreadId, order: Ordering) -> Option<Kind> {
        // Without anything to stay behind it would be one event more for nothing.
        let buffered = || graph.threads[thread.index()].events.iter().any(|&slot| graph.event(slot).is_buffered());
        (order.releases() && buffered()).then_some(Kind::StoreFence)
    }

    fn fence_after_store(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn preserved(a: &Event, b: &Event) -> bool {
        let from_store_fence = a.kind == Kind::StoreFence;
        if b.drains() || (!a.is_buffered() && !from_store_fence) {
            return true;
        }
        match b.kind {
            Kind::StoreFence => true,
            Kind::Write => from_store_fence || a.loc == b.loc,
            _ => false,
        }
    }

    fn predecessors(graph: &Graph<Self>, thread: ThreadId, upto: usize, event: &Event, mut add: impl FnMut(Slot)) {
        let log = &graph.threads[thread.index()];
        for &slot in log.events[..upto].iter().rev() {
            let earlier = graph.event(slot);
            if Self::preserved(earlier, event) {
                add(slot);
                if earlier.drains() {
                    return;
                }
            }
        }
        if let Some(spawn) = log.spawn {
            add(spawn);
        }
    }

    fn arrival(write: &Event, addr: Addr) -> Option<Step> {
        write.is_buffered().then_some(Step::FlushAt(write.thread, addr.0))
    }
}
