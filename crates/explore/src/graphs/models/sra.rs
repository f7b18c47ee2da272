//! Strong release-acquire (Lahav, Giannarakis, Vafeiadis 2016): release-acquire in which the orders of writes of all locations agree with each other and with the past of
//! events. So these are one acyclic relation, as under sequential consistency, but a read does not come before what overwrites its source.
//! Full fences are in one order.

use super::causal;
use super::global::Global;
use crate::graphs::event::{Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::BitSet;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sra;

impl Global for Sra {
    const MODEL: raddle_trace::Model = raddle_trace::Model::Sra;
    const FORWARDS: bool = false;
    const NAMED: bool = true;
    const READS_FIRST: bool = false;

    fn fence(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn refuses(graph: &Graph<Self>, slot: Slot) -> bool {
        causal::is_in_question(graph, slot, causal::is_full_fence) && !causal::has_order(graph)
    }

    fn floors_decide(graph: &Graph<Self>, events: &BitSet, updates: bool) -> bool {
        !updates && !causal::has_two(graph, events, causal::is_full_fence)
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        causal::is_consistent(graph)
    }
}
