//! Sequential consistency: every event is one moment of one order, and program order is part of it. Fences mean nothing.

use super::global::Global;
use crate::graphs::event::{Event, Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{Step, ThreadId};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sc;

impl Global for Sc {
    #[cfg(debug_assertions)]
    const MODEL: raddle_trace::Model = raddle_trace::Model::Sc;
    const FORWARDS: bool = false;

    fn fence(_: Ordering) -> Option<Kind> {
        None
    }

    fn fence_before_store(_: &Graph<Self>, _: ThreadId, _: Ordering) -> Option<Kind> {
        None
    }

    fn fence_after_store(_: Ordering) -> Option<Kind> {
        None
    }

    fn preserved(_: &Event, _: &Event) -> bool {
        true
    }

    fn predecessors(graph: &Graph<Self>, thread: ThreadId, upto: usize, _: &Event, mut add: impl FnMut(Slot)) {
        let log = &graph.threads[thread.index()];
        if let Some(&slot) = log.events[..upto].last().or(log.spawn.as_ref()) {
            add(slot);
        }
    }

    fn arrival(_: &Event, _: Addr) -> Option<Step> {
        None
    }
}
