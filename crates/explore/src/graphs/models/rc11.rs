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
    let Some(last) = graph.last(event.thread) else { return -1 };
    let (accesses, clock) = (graph.location(event.loc), graph.clock(last));
    let past = |slot: Slot| {
        let other = graph.event(slot);
        clock[other.thread.index()] > other.index
    };
    let write = accesses.co.iter().rposition(|&write| past(write)).map_or(-1, |at| at as isize);
    // What a thread reads later is no older.
    let reads = accesses.lasts.iter().filter_map(|last| graph.chain(last.read).find(|&read| past(read)));
    reads.map(|read| graph.co_position(event.loc, graph.event(read).rf)).fold(write, isize::max)
}

impl Model for Rc11 {
    type Rows = ();
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

    fn read_floor_within(graph: &Graph<Self>, read: &Event, events: &BitSet) -> isize {
        causal::floor_within(graph, read, events)
    }

    fn collect(graph: &Graph<Self>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        causal::collect(graph, relation, event, row);
    }

    fn is_ordered(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.happens_before(first, second)
    }

    fn happens_before(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.happens_before(first, second)
    }

    fn known(graph: &Graph<Self>, slot: Slot, thread: usize) -> usize {
        graph.clock(slot)[thread] as usize
    }

    fn always_before(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.happens_before(first, second)
    }

    fn past(graph: &Graph<Self>, event: &Event, row: &mut Vec<u64>) {
        row.clear();
        row.resize(graph.events.len().div_ceil(64), 0);
        let log = &graph.threads[event.thread.index()];
        let Some(last) = log.events[..event.index as usize].last().copied().or(log.spawn) else { return };
        let past = graph.order.iter().filter(|&&slot| slot == last || graph.happens_before(slot, last));
        past.for_each(|&slot| row[slot as usize / 64] |= 1 << (slot % 64));
    }

    fn learn(graph: &Graph<Self>, read: &Event, row: &mut [u64]) {
        let told = graph.order.iter().filter(|&&slot| graph.tells(read, slot));
        told.for_each(|&slot| row[slot as usize / 64] |= 1 << (slot % 64));
    }

    fn floors_decide(graph: &Graph<Self>, events: &BitSet, read: Option<&Event>, _: bool) -> bool {
        if read.is_some_and(psc::is_sc) {
            return !graph.order.iter().any(|&slot| events.contains(slot as usize) && psc::is_sc(graph.event(slot)));
        }
        !causal::has_two(graph, events, psc::is_sc)
    }

    fn refuses(graph: &Graph<Self>, slot: Slot) -> bool {
        psc::is_upset(graph, slot)
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        causal::is_consistent(graph)
    }
}
