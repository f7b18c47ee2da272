//! The order of sequentially consistent events under RC11, and whether a new event fits in.
//!
//! ```text
//! scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
//! psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
//! psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
//! ```
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer 2017, as printed. A new last event of its thread adds nothing between older events but through itself,
//! and only by the writes that come after its source or place. So where there are no full fences the question is whether a
//! sequentially consistent one of these is already before the new event: one walk back from it, each step of which takes a look
//! at every sequentially consistent access, by the clocks. With fences the relation is evaluated from its definition.

use super::causal;
use super::rc11::Rc11;
use crate::graphs::event::{Event, Kind, NO_LOC, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::{BitSet, ThreadId};

pub(super) fn is_sc(event: &Event) -> bool {
    event.order == Ordering::SeqCst && matches!(event.kind, Kind::Read | Kind::Write | Kind::Fence)
}

/// Whether there is none any more, now that this event has been added.
pub(super) fn is_upset(graph: &Graph<Rc11>, slot: Slot) -> bool {
    if !causal::is_in_question(graph, slot, is_sc) {
        return false;
    }
    if graph.order.iter().any(|&other| causal::is_full_fence(graph.event(other))) {
        return !causal::has_order(graph);
    }
    let upset = closes_cycle(graph, slot);
    debug_assert!(graph.order.len() > 60 || upset != causal::has_order(graph), "the walk and the definition differ");
    upset
}

/// Whether something that a new access comes before is before it, where there are no fences.
fn closes_cycle(graph: &Graph<Rc11>, slot: Slot) -> bool {
    let event = graph.event(slot);
    if !is_sc(event) {
        return false;
    }
    let place = if event.kind == Kind::Write { slot } else { event.rf };
    let later = &graph.location(event.loc).co[(graph.co_position(event.loc, place) + 1) as usize..];
    let mut after = BitSet::new();
    later.iter().filter(|&&write| is_sc(graph.event(write))).for_each(|&write| after.insert(write as usize));
    if after.is_empty() {
        return false;
    }
    let mut left: Vec<Slot> = graph.order.iter().copied().filter(|&other| is_sc(graph.event(other))).collect();
    let mut todo = vec![slot];
    while let Some(at) = todo.pop() {
        let target = Target::new(graph, at);
        let mut found = false;
        left.retain(|&other| {
            let before = other != at && target.comes_after(other);
            if before {
                found |= after.contains(other as usize);
                todo.push(other);
            }
            !before
        });
        if found {
            return true;
        }
    }
    false
}

/// An event, and what of its thread is needed to know what is before it by `scb`.
struct Target<'g> {
    graph: &'g Graph<Rc11>,
    slot: Slot,
    event: &'g Event,
    /// The last event before it in program order that does not access its location.
    elsewhere: Option<Slot>,
}

impl<'g> Target<'g> {
    fn new(graph: &'g Graph<Rc11>, slot: Slot) -> Self {
        let event = graph.event(slot);
        let log = &graph.threads[event.thread.index()];
        let others = log.events[..event.index as usize].iter().rev().copied();
        let elsewhere = others.into_iter().find(|&other| !is_same_location(graph.event(other), event)).or(log.spawn);
        Target { graph, slot, event, elsewhere }
    }

    /// Whether another access is before it by `scb`.
    fn comes_after(&self, other: Slot) -> bool {
        let first = self.graph.event(other);
        let same = is_same_location(first, self.event);
        if self.graph.happens_before(other, self.slot) {
            return same || self.is_after_in_program(other) || self.is_after_through_others(first);
        }
        if !same || self.event.kind != Kind::Write {
            return false;
        }
        let place = if first.kind == Kind::Write { other } else { first.rf };
        self.graph.co_position(first.loc, place) < self.graph.co_position(self.event.loc, self.slot)
    }

    /// `po|≠loc ; hb ; po|≠loc`.
    fn is_after_through_others(&self, first: &Event) -> bool {
        let Some(end) = self.elsewhere else { return false };
        let graph = self.graph;
        let log = &graph.threads[first.thread.index()].events;
        let next = log[first.index as usize + 1..].iter().find(|&&next| !is_same_location(graph.event(next), first));
        let mut joins = graph.order.iter().filter(|&&slot| joins(graph.event(slot), first.thread));
        next.is_some_and(|&next| graph.happens_before(next, end)) || joins.any(|&join| graph.happens_before(join, end))
    }

    /// Program order, with the starts and ends of threads.
    fn is_after_in_program(&self, other: Slot) -> bool {
        is_before_in_program(self.graph, other, self.slot)
    }
}

fn is_before_in_program(graph: &Graph<Rc11>, first: Slot, second: Slot) -> bool {
    let (a, b) = (graph.event(first), graph.event(second));
    if a.thread == b.thread {
        return a.index < b.index;
    }
    let log = &graph.threads[b.thread.index()];
    let through = |slot: Slot| slot == first || is_before_in_program(graph, first, slot);
    let joined = |slot: &Slot| {
        let event = graph.event(*slot);
        event.kind == Kind::Join && graph.last(ThreadId(event.value as u32)).is_some_and(through)
    };
    log.spawn.is_some_and(through) || log.events[..b.index as usize].iter().any(joined)
}

fn joins(event: &Event, thread: ThreadId) -> bool {
    event.kind == Kind::Join && event.value == u64::from(thread.0)
}

fn is_same_location(a: &Event, b: &Event) -> bool {
    a.loc != NO_LOC && a.loc == b.loc
}
