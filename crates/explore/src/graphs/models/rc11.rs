//! Repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017), with the release sequences of C++20 and without load buffering. The past of an event
//! is what happens before it by the clocks. Sequentially consistent accesses and fences are in one order
//! ([`psc`]).

use super::Model;
use super::causal;
use super::psc;
use crate::graphs::event::{Event, Kind, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::{BitSet, Relation};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rc11;

/// The position of the last write in the past of a new last event of its thread, or of the last one that was read there.
fn floor(graph: &Graph<Rc11>, event: &Event) -> isize {
    let accesses = graph.location(event.loc);
    let past = |slot: Slot| graph.is_known(event.thread, slot);
    let write = accesses.co.iter().rposition(|&write| past(write)).map_or(-1, |at| at as isize);
    let reads = accesses.reads.iter().filter(|&&read| past(read));
    reads.map(|&read| graph.co_position(event.loc, graph.event(read).rf)).fold(write, isize::max)
}

impl Model for Rc11 {
    type Rows = ();
    #[cfg(debug_assertions)]
    const MODEL: raddle_trace::Model = raddle_trace::Model::Rc11;
    const FORWARDS: bool = false;
    const NAMED: bool = true;
    const CLOCKED: bool = true;

    fn fence(order: Ordering) -> Option<Kind> {
        Some(if order == Ordering::SeqCst { Kind::Fence } else { Kind::Note })
    }

    fn read_floor(graph: &mut Graph<Self>, event: &Event) -> isize {
        floor(graph, event)
    }

    fn write_floor(graph: &mut Graph<Self>, event: &Event) -> isize {
        floor(graph, event)
    }

    fn read_floor_within(_: &Graph<Self>, _: &Event, _: &BitSet) -> isize {
        unreachable!("only reads-from classes ask for it")
    }

    fn collect(graph: &Graph<Self>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        causal::collect(graph, relation, event, row);
    }

    fn is_ordered(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.happens_before(first, second)
    }

    fn refuses(graph: &Graph<Self>, slot: Slot) -> bool {
        psc::is_upset(graph, slot)
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        causal::Relations::of(graph, |a, b| graph.happens_before(a, b)).is_coherent() && psc::has_order(graph)
    }
}
