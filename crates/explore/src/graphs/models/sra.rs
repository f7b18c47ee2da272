//! Strong release-acquire (Lahav, Giannarakis, Vafeiadis 2016): release-acquire in which the orders of writes of all locations agree with each other and with the past of
//! events. So these are one acyclic relation, as under sequential consistency, but a read does not come before what overwrites its source.
//! Full fences are in one order.

use super::causal::{self, Relations};
use super::global::Global;
use crate::graphs::event::{Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sra;

impl Global for Sra {
    #[cfg(debug_assertions)]
    const MODEL: raddle_trace::Model = raddle_trace::Model::Sra;
    const FORWARDS: bool = false;
    const NAMED: bool = true;
    const READS_FIRST: bool = false;

    fn fence(order: Ordering) -> Option<Kind> {
        (order == Ordering::SeqCst).then_some(Kind::Fence)
    }

    fn refuses(graph: &Graph<Self>, slot: Slot) -> bool {
        causal::is_in_question(graph, slot, causal::is_full_fence) && !has_order(graph)
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        let relations = Relations::causal(graph);
        relations.is_coherent() && relations.hb.or(&relations.mo).closure().is_irreflexive() && has_order(graph)
    }
}

/// Whether full fences can be put in one order.
fn has_order(graph: &Graph<Sra>) -> bool {
    let relations = Relations::causal(graph);
    let order = relations.hb.or(&relations.mo).closure();
    relations.fences(&causal::full_fences(graph), &order).is_acyclic()
}
