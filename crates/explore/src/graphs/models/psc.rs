//! The order of sequentially consistent events under RC11, and whether a new event fits in.
//!
//! ```text
//! scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
//! psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
//! psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
//! ```
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer 2017, as printed. A new last event of its thread adds nothing between older events but through itself, and only by the writes that come after its
//! source or place. So the question is whether one of these, or a fence after one of them (or, for fences, after one of their readers), is already before the new event or before a fence before it: one walk back, each
//! step of which takes a look at every sequentially consistent event. What is before what is read off the clocks and the positions in coherence:
//!
//! | from | to | iff |
//! |---|---|---|
//! | access | access | `scb` |
//! | fence `f` | access `t` | `f` is before `t`'s predecessor in its thread, or before an access of the location that is before `t` by `hb`, `mo` or `rb` |
//! | access `a` | fence `t` | `a`'s successor in its thread is before `t`, or an access of the location is that `a` is before by `hb`, `mo` or `rb` |
//! | fence | fence | `hb`, or `hb ; eco ; hb`: at some location the first access after the one comes before the last access before the other |
//!
//! RA asks for the last line only, with its own `hb`. Debug builds compare every answer with the definition.

use super::Model;
use super::causal;
use super::rc11::Rc11;
use crate::graphs::event::{Event, Kind, NO_LOC, Slot};
use crate::graphs::graph::{Accesses, Graph};
use raddle_program::Ordering;
use raddle_trace::{BitSet, ThreadId};

pub(super) fn is_sc(event: &Event) -> bool {
    event.order == Ordering::SeqCst && matches!(event.kind, Kind::Read | Kind::Write | Kind::Fence)
}

/// Whether there is no order of all sequentially consistent events any more, now that this event has been added.
pub(super) fn is_upset(graph: &Graph<Rc11>, slot: Slot) -> bool {
    let prepare = |at: Slot| (!is_fence(graph, at)).then(|| Target::new(graph, at));
    let is_before = |first: Slot, second: Slot, target: &Option<Target<'_>>| match (is_fence(graph, first), target) {
        (false, Some(target)) => target.comes_after(first),
        (true, Some(_)) => fence_before_access(graph, first, second),
        (false, None) => access_before_fence(graph, first, second),
        (true, None) => fence_before_fence(graph, first, second),
    };
    judge(graph, slot, is_sc, prepare, is_before)
}

/// The same where only fences are in one order.
pub(super) fn fences_are_upset<M: Model>(graph: &Graph<M>, slot: Slot) -> bool {
    judge(graph, slot, causal::is_full_fence, |_| (), |first, second, ()| fence_before_fence(graph, first, second))
}

fn judge<M: Model, T>(
    graph: &Graph<M>,
    slot: Slot,
    is_ordered: fn(&Event) -> bool,
    prepare: impl Fn(Slot) -> T,
    is_before: impl Fn(Slot, Slot, &T) -> bool,
) -> bool {
    if !causal::is_in_question(graph, slot, is_ordered) {
        return false;
    }
    let upset = closes_cycle(graph, slot, is_ordered, prepare, is_before);
    debug_assert!(graph.order.len() > 60 || upset != causal::has_order(graph), "the walk and the definition differ");
    upset
}

/// Whether something that a new access comes before is before it. What is before an event is asked with what was prepared for it.
fn closes_cycle<M: Model, T>(
    graph: &Graph<M>,
    slot: Slot,
    is_ordered: fn(&Event) -> bool,
    prepare: impl Fn(Slot) -> T,
    is_before: impl Fn(Slot, Slot, &T) -> bool,
) -> bool {
    let event = graph.event(slot);
    let mut left: Vec<Slot> = graph.order.iter().copied().filter(|&other| is_ordered(graph.event(other))).collect();
    let fences = || left.iter().copied().filter(|&other| is_fence(graph, other));
    let entered: Vec<Slot> = fences().filter(|&fence| M::happens_before(graph, fence, slot)).collect();
    if entered.is_empty() && !is_ordered(event) {
        return false;
    }
    let accesses = graph.location(event.loc);
    let place = position(graph, slot);
    let later = &accesses.co[(place + 1) as usize..];
    let mut after = BitSet::new();
    // What only fences before the new event come before.
    let mut behind_readers = BitSet::new();
    later.iter().filter(|&&write| is_ordered(graph.event(write))).for_each(|&write| after.insert(write as usize));
    for fence in fences() {
        let is_after = |&access: &Slot| M::happens_before(graph, access, fence);
        if later.iter().any(is_after) {
            after.insert(fence as usize);
        } else if accesses.reads.iter().any(|read| position(graph, *read) > place && is_after(read)) {
            behind_readers.insert(fence as usize);
        }
    }
    let is_goal = |other: Slot, from_fences: bool| {
        after.contains(other as usize) || (from_fences && behind_readers.contains(other as usize))
    };
    if after.is_empty() && (entered.is_empty() || behind_readers.is_empty()) {
        return false;
    }
    for (starts, from_fences) in [(entered, true), (vec![slot], false)] {
        let is_start = |other: Slot| from_fences || is_ordered(graph.event(other));
        let mut todo: Vec<Slot> = starts.into_iter().filter(|&start| is_start(start)).collect();
        if from_fences && todo.iter().any(|&start| is_goal(start, true)) {
            return true;
        }
        left.retain(|other| !todo.contains(other));
        while let Some(at) = todo.pop() {
            let (target, mut found) = (prepare(at), false);
            left.retain(|&other| {
                let before = is_before(other, at, &target);
                if before {
                    found |= is_goal(other, from_fences);
                    todo.push(other);
                }
                !before
            });
            if found {
                return true;
            }
        }
    }
    false
}

fn is_fence<M: Model>(graph: &Graph<M>, slot: Slot) -> bool {
    graph.event(slot).kind == Kind::Fence
}

/// Where an access stands in coherence: a write at its own place, a read at that of its source.
fn position<M: Model>(graph: &Graph<M>, slot: Slot) -> isize {
    let event = graph.event(slot);
    graph.co_position(event.loc, if event.kind == Kind::Write { slot } else { event.rf })
}

/// The accesses of a location.
fn all(accesses: &Accesses) -> impl Iterator<Item = Slot> + '_ {
    accesses.co.iter().chain(&accesses.reads).copied()
}

/// `hb ∪ mo ∪ rb` between accesses of one location.
fn is_before_at_location(graph: &Graph<Rc11>, first: Slot, second: Slot) -> bool {
    let overtaken = || graph.event(second).kind == Kind::Write && position(graph, first) < position(graph, second);
    first != second && (graph.happens_before(first, second) || overtaken())
}

fn fence_before_access(graph: &Graph<Rc11>, fence: Slot, access: Slot) -> bool {
    let event = graph.event(access);
    let log = &graph.threads[event.thread.index()];
    let last = log.events[..event.index as usize].last().copied().or(log.spawn);
    let in_thread = last.is_some_and(|last| last == fence || graph.happens_before(fence, last));
    in_thread
        || all(graph.location(event.loc))
            .any(|other| graph.happens_before(fence, other) && is_before_at_location(graph, other, access))
}

fn access_before_fence(graph: &Graph<Rc11>, access: Slot, fence: Slot) -> bool {
    let event = graph.event(access);
    let log = &graph.threads[event.thread.index()].events;
    let is_after = |next: Slot| next == fence || graph.happens_before(next, fence);
    let in_thread = match log.get(event.index as usize + 1) {
        Some(&next) => is_after(next),
        None => graph.order.iter().any(|&slot| joins(graph.event(slot), event.thread) && is_after(slot)),
    };
    in_thread
        || all(graph.location(event.loc))
            .any(|other| graph.happens_before(other, fence) && is_before_at_location(graph, access, other))
}

fn fence_before_fence<M: Model>(graph: &Graph<M>, first: Slot, second: Slot) -> bool {
    if first == second || M::happens_before(graph, first, second) {
        return first != second;
    }
    graph.locations.iter().any(|accesses| {
        let after = |&access: &Slot| M::happens_before(graph, first, access);
        let before = |&access: &Slot| M::happens_before(graph, access, second);
        let place = |access: Slot| position(graph, access);
        let write_after = accesses.co.iter().position(&after).map(|at| at as isize);
        let read_after = accesses.reads.iter().copied().filter(after).map(place).min();
        let Some(least) = write_after.into_iter().chain(read_after).min() else { return false };
        let write_before = accesses.co.iter().rposition(&before).map(|at| at as isize);
        let read_before = accesses.reads.iter().copied().filter(before).map(place).max();
        let most = write_before.into_iter().chain(read_before).max();
        most.is_some_and(|most| least < most) || write_after.zip(read_before).is_some_and(|(write, read)| write <= read)
    })
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
