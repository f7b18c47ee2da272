//! Release-acquire (Lahav, Giannarakis, Vafeiadis 2016): every access releases and acquires, so the past of an event is its prefix by
//! program order and reads-from. Full fences are in one order.

use super::Model;
use super::causal;
use super::psc;
use crate::graphs::event::{Event, Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::{BitSet, Relation};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ra;

impl Model for Ra {
    type Rows = ();
    const MODEL: raddle_trace::Model = raddle_trace::Model::Ra;
    const FORWARDS: bool = false;
    const NAMED: bool = true;

    fn fence(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn read_floor(graph: &mut Graph<Self>, event: &Event) -> isize {
        causal::floor(graph, event)
    }

    fn write_floor(graph: &mut Graph<Self>, event: &Event) -> isize {
        causal::floor(graph, event)
    }

    fn read_floor_within(graph: &Graph<Self>, read: &Event, events: &BitSet) -> isize {
        causal::floor_within(graph, read, events)
    }

    fn collect(graph: &Graph<Self>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        causal::collect(graph, relation, event, row);
    }

    fn refuses(graph: &Graph<Self>, slot: Slot) -> bool {
        psc::fences_are_upset(graph, slot)
    }

    fn floors_decide(graph: &Graph<Self>, events: &BitSet, _: Option<&Event>, _: bool) -> bool {
        !causal::has_two(graph, events, causal::is_full_fence)
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        causal::is_consistent(graph)
    }
}
