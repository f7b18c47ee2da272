//! The order of sequentially consistent events under RC11, and whether a new event fits in.
//!
//! ```text
//! scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
//! psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
//! psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
//! ```
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer 2017, as printed. A new last event of its thread adds nothing between older events but through itself, and only by the writes that come after its
//! source or place. So the question is whether one of these, or a fence after one of them (or, for fences, after one of their readers), is already before the new event or before a fence before it: one walk back.
//! The events of a thread that have to be in order are in program order, so how far was reached is one number per thread, and of every other thread only the last event matters that is before another one:
//!
//! | before | come |
//! |---|---|
//! | access | what precedes it in program order; accesses of its location that are before it by `hb`, `mo` or `rb`, and the fences before these; what is followed by something elsewhere that happens before the last event elsewhere that precedes it; fences that happen before its predecessor |
//! | fence | what happens before it, an access only if its successor does or by way of its location; accesses of a location that are before one by `mo` or `rb` that happens before the fence; fences that happen before an access that is before such a one by `eco` |
//!
//! What happens before a fence brings nothing that is not before that fence, so only what is found in the other ways is gone back from. RA asks for fences only, with its own `hb`. Debug builds compare every answer with the
//! definition.

use super::Model;
use super::causal;
use super::rc11::Rc11;
use crate::graphs::event::{Event, Kind, NO_LOC, Slot};
use crate::graphs::graph::{Accesses, Graph};
use raddle_program::Ordering;
use raddle_trace::ThreadId;
use smallvec::SmallVec;

pub(super) fn is_sc(event: &Event) -> bool {
    event.order == Ordering::SeqCst && matches!(event.kind, Kind::Read | Kind::Write | Kind::Fence)
}

/// Whether there is no order of all sequentially consistent events any more, now that this event has been added.
pub(super) fn is_upset(graph: &Graph<Rc11>, slot: Slot) -> bool {
    judge(graph, slot, is_sc)
}

/// The same where only fences are in one order.
pub(super) fn fences_are_upset<M: Model>(graph: &Graph<M>, slot: Slot) -> bool {
    judge(graph, slot, causal::is_full_fence)
}

fn judge<M: Model>(graph: &Graph<M>, slot: Slot, is_ordered: fn(&Event) -> bool) -> bool {
    if !causal::is_in_question(graph, slot, is_ordered) {
        return false;
    }
    let upset = closes_cycle(graph, slot, is_ordered);
    debug_assert!(graph.order.len() > 60 || upset != causal::has_order(graph), "the walk and the definition differ");
    upset
}

/// Whether something that a new access comes before is before it.
fn closes_cycle<M: Model>(graph: &Graph<M>, slot: Slot, is_ordered: fn(&Event) -> bool) -> bool {
    let event = graph.event(slot);
    let fences: SmallVec<[Slot; 16]> = graph.order.iter().copied().filter(|&other| is_fence(graph, other)).collect();
    let entered = || fences.iter().copied().filter(|&fence| M::happens_before(graph, fence, slot));
    if !is_ordered(event) && entered().next().is_none() {
        return false;
    }
    let mut walk = Walk::new(graph, is_ordered, !fences.is_empty());
    let accesses = graph.location(event.loc);
    let place = position(graph, slot);
    let later = &accesses.co[(place + 1) as usize..];
    later.iter().filter(|&&write| is_ordered(graph.event(write))).for_each(|&write| walk.aim(write));
    // What only fences before the new event come before.
    let mut behind_readers: SmallVec<[Slot; 8]> = SmallVec::new();
    for &fence in &fences {
        let is_after = |&access: &Slot| M::happens_before(graph, access, fence);
        if later.iter().any(is_after) {
            walk.aim(fence);
        } else if accesses.reads.iter().any(|read| position(graph, *read) > place && is_after(read)) {
            behind_readers.push(fence);
        }
    }
    let goals = walk.goals.clone();
    behind_readers.into_iter().for_each(|fence| walk.aim(fence));
    entered().rev().for_each(|fence| walk.reach(fence));
    walk.arrives() || {
        walk.goals = goals;
        if is_ordered(event) {
            walk.reach(slot);
        }
        walk.arrives()
    }
}

/// One number per thread: so many of its events, or the place of one.
type PerThread = SmallVec<[u32; 16]>;

/// A walk back from events through all that is before them.
struct Walk<'g, M: Model> {
    graph: &'g Graph<M>,
    is_ordered: fn(&Event) -> bool,
    /// Whether there are fences.
    fenced: bool,
    /// Of each thread, so many events are before the starts, or are a start, as far as they are to be in order.
    reached: PerThread,
    /// The first event of each thread that must not be reached.
    goals: PerThread,
    /// What has been or is to be looked at, as bits.
    seen: SmallVec<[u64; 8]>,
    todo: SmallVec<[Slot; 16]>,
}

impl<'g, M: Model> Walk<'g, M> {
    fn new(graph: &'g Graph<M>, is_ordered: fn(&Event) -> bool, fenced: bool) -> Self {
        let threads = graph.threads.len();
        let (reached, goals) = (SmallVec::from_elem(0, threads), SmallVec::from_elem(u32::MAX, threads));
        let seen = SmallVec::from_elem(0, graph.events.len().div_ceil(64));
        Walk { graph, is_ordered, fenced, reached, goals, seen, todo: SmallVec::new() }
    }

    /// The event must not be reached.
    fn aim(&mut self, slot: Slot) {
        let event = self.graph.event(slot);
        let goal = &mut self.goals[event.thread.index()];
        *goal = event.index.min(*goal);
    }

    /// The event is before a start.
    fn mark(&mut self, slot: Slot) {
        let event = self.graph.event(slot);
        let reached = &mut self.reached[event.thread.index()];
        *reached = (*reached).max(event.index + 1);
    }

    /// The event is before a start, and what is before it has to be looked at.
    fn reach(&mut self, slot: Slot) {
        self.mark(slot);
        let (word, bit) = (&mut self.seen[slot as usize / 64], 1 << (slot % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.todo.push(slot);
        }
    }

    /// Whether a goal is reached.
    fn arrives(&mut self) -> bool {
        while !self.reached.iter().zip(&self.goals).any(|(reached, goal)| reached > goal) {
            let Some(at) = self.todo.pop() else { return false };
            if is_fence(self.graph, at) {
                self.go_back_from_fence(at);
            } else {
                self.go_back_from_access(at);
            }
        }
        true
    }

    /// The last one of the first so many events of a thread that is wanted.
    fn last(&self, thread: usize, count: usize, wanted: impl Fn(Slot, usize) -> bool) -> Option<Slot> {
        let events = self.graph.threads[thread].events[..count].iter().enumerate().rev();
        let ordered = events.filter(|&(_, &slot)| (self.is_ordered)(self.graph.event(slot)));
        ordered.map(|(at, &slot)| (slot, at)).find(|&(slot, at)| wanted(slot, at)).map(|(slot, _)| slot)
    }

    /// Reaches the fences that happen before one of these events, or are one.
    fn reach_fences(&mut self, known: &[Slot]) {
        if !self.fenced {
            return;
        }
        for thread in 0..self.graph.threads.len() {
            let count = known.iter().map(|&slot| M::known(self.graph, slot, thread)).max().unwrap_or(0);
            if let Some(fence) = self.last(thread, count, |slot, _| is_fence(self.graph, slot)) {
                self.reach(fence);
            }
        }
    }

    fn go_back_from_fence(&mut self, at: Slot) {
        let graph = self.graph;
        for thread in 0..graph.threads.len() {
            let count = M::known(graph, at, thread);
            let is_before = |slot: Slot, index: usize| {
                slot != at && (is_fence(graph, slot) || index + 1 < count || access_before_fence(graph, slot, at))
            };
            if let Some(before) = self.last(thread, count, is_before) {
                self.mark(before);
            }
        }
        let mut known: SmallVec<[Slot; 8]> = SmallVec::new();
        for accesses in &graph.locations {
            let before = |access: Slot| M::happens_before(graph, access, at);
            let write = accesses.co.iter().rposition(|&write| before(write)).map_or(-1, |at| at as isize);
            let reads = accesses.reads.iter().filter(|&&read| before(read));
            let read = reads.map(|&read| position(graph, read)).max().unwrap_or(-1);
            let most = write.max(read);
            // The write that was read last is before its reader, another access at that place is not.
            let writes = accesses.co[..most.max(read + 1) as usize].iter().copied();
            let readers = accesses.reads.iter().copied().filter(|&read| position(graph, read) < most);
            for access in writes.chain(readers) {
                keep_latest(graph, &mut known, access);
                if (self.is_ordered)(graph.event(access)) && position(graph, access) < write {
                    self.reach(access);
                }
            }
        }
        self.reach_fences(&known);
    }

    fn go_back_from_access(&mut self, at: Slot) {
        let graph = self.graph;
        let event = graph.event(at);
        let log = &graph.threads[event.thread.index()];
        let earlier = &log.events[..event.index as usize];
        self.reach_in_program(event.thread.index(), earlier.len());
        let mut known: SmallVec<[Slot; 8]> = earlier.last().copied().or(log.spawn).into_iter().collect();
        for other in all(graph.location(event.loc)).filter(|&other| is_before_at_location(graph, other, at)) {
            if (self.is_ordered)(graph.event(other)) {
                self.reach(other);
            }
            if self.fenced {
                keep_latest(graph, &mut known, other);
            }
        }
        self.reach_fences(&known);
        let mut others = earlier.iter().rev().copied();
        let elsewhere = others.find(|&other| !is_same_location(graph.event(other), event)).or(log.spawn);
        if let Some(end) = elsewhere {
            self.reach_through_others(end);
        }
    }

    /// What comes before in program order, with the starts and ends of threads, at this place of a thread.
    fn reach_in_program(&mut self, thread: usize, count: usize) {
        let graph = self.graph;
        let log = &graph.threads[thread];
        for &slot in log.events[..count].iter().rev() {
            let event = graph.event(slot);
            if (self.is_ordered)(event) {
                self.reach(slot);
                return;
            }
            if event.kind == Kind::Join {
                let joined = event.value as usize;
                self.reach_in_program(joined, graph.threads[joined].events.len());
            }
        }
        if let Some(spawn) = log.spawn.map(|spawn| graph.event(spawn)) {
            self.reach_in_program(spawn.thread.index(), spawn.index as usize);
        }
    }

    /// `po|≠loc ; hb`, up to this event.
    fn reach_through_others(&mut self, end: Slot) {
        let graph = self.graph;
        for thread in 0..graph.threads.len() {
            let count = M::known(graph, end, thread);
            let events = &graph.threads[thread].events;
            // The accesses at the end of the part that is known, as long as they are of one location, are followed by nothing elsewhere.
            let is_followed = |slot: Slot, at: usize| {
                let event = graph.event(slot);
                let mut next = events[at + 1..count].iter();
                next.any(|&next| next != end && !is_same_location(graph.event(next), event))
                    || (count == events.len()
                        && graph
                            .order
                            .iter()
                            .any(|&join| joins(graph.event(join), event.thread) && M::happens_before(graph, join, end)))
            };
            let is_wanted = |slot: Slot, at: usize| !is_fence(graph, slot) && is_followed(slot, at);
            if let Some(access) = self.last(thread, count, is_wanted) {
                self.reach(access);
            }
        }
    }
}

/// Adds an event to the last ones of their threads.
fn keep_latest<M: Model>(graph: &Graph<M>, latest: &mut SmallVec<[Slot; 8]>, slot: Slot) {
    let event = graph.event(slot);
    match latest.iter_mut().find(|other| graph.event(**other).thread == event.thread) {
        Some(other) if graph.event(*other).index < event.index => *other = slot,
        Some(_) => {}
        None => latest.push(slot),
    }
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
fn is_before_at_location<M: Model>(graph: &Graph<M>, first: Slot, second: Slot) -> bool {
    let overtaken = || graph.event(second).kind == Kind::Write && position(graph, first) < position(graph, second);
    first != second && (M::happens_before(graph, first, second) || overtaken())
}

fn access_before_fence<M: Model>(graph: &Graph<M>, access: Slot, fence: Slot) -> bool {
    let event = graph.event(access);
    let log = &graph.threads[event.thread.index()].events;
    let is_after = |next: Slot| next == fence || M::happens_before(graph, next, fence);
    let in_thread = match log.get(event.index as usize + 1) {
        Some(&next) => is_after(next),
        None => graph.order.iter().any(|&slot| joins(graph.event(slot), event.thread) && is_after(slot)),
    };
    in_thread
        || all(graph.location(event.loc))
            .any(|other| M::happens_before(graph, other, fence) && is_before_at_location(graph, access, other))
}

fn joins(event: &Event, thread: ThreadId) -> bool {
    event.kind == Kind::Join && event.value == u64::from(thread.0)
}

fn is_same_location(a: &Event, b: &Event) -> bool {
    a.loc != NO_LOC && a.loc == b.loc
}
