//! Barriers whose rounds have one set of members.
//!
//! As long as no more threads come to a barrier than it is for, every round consists of the same threads, one arrival of each. Then arrivals need no
//! order: one is an event of its own ([`Kind::Arrive`]) that neither reads nor writes, and leaving ([`Kind::Depart`]) is
//! possible when the round is complete, as joining is when a thread has ended. It comes after all arrivals of its round, in every run and by
//! happens-before.
//!
//! Who asks whether it was the last to arrive makes a choice when it leaves, if there is one: of those who ask, one or none was the last, and none only
//! if somebody does not ask. They leave in the order of their numbers, so what is left to choose depends on what is before. Any choice can be
//! run: nothing but leaving comes after an arrival, so each of them can be put behind the others.
//!
//! Where more threads come to a barrier than it is for, who gets into which round is a choice of its own; and where somebody initialises,
//! destroys, frees or otherwise accesses it while it is in use, the order with that counts. There the search starts over with arrivals
//! that are updates and departures that are waiting reads, like every other access.
//!
//! Cost: per arrival and departure quadratic in the number of arrivals.

use super::context::Context;
use super::event::{Event, Flags, INIT, Kind, LocId, Slot};
use super::graph::Graph;
use super::models::Model;
use super::step::{Halt, Stepper, settle};
use crate::world::Initial;
use raddle_machine::{Addr, Automaton};
use raddle_program::Ordering;
use raddle_trace::ThreadId;
use smallvec::SmallVec;

/// The value of a departure whose thread does not ask whether it was the last to arrive.
const NOT_ASKED: u64 = 0;
/// It was not.
const NOT_LAST: u64 = 1;
/// It was.
const LAST: u64 = 2;

/// Events of a round, one for each member.
type Members = SmallVec<[Slot; 4]>;

impl<M: Model> Graph<M> {
    /// The arrivals at a barrier.
    fn arrivals_at(&self, loc: LocId) -> impl Iterator<Item = (Slot, &Event)> + '_ {
        let all = self.arrivals.iter().map(|&slot| (slot, self.event(slot)));
        all.filter(move |(_, arrival)| arrival.loc == loc)
    }

    /// How many arrivals a thread made before its event of this index.
    fn rounds_before(&self, loc: LocId, thread: ThreadId, index: u32) -> usize {
        self.arrivals_at(loc).filter(|(_, arrival)| arrival.thread == thread && arrival.index < index).count()
    }

    /// The arrivals of the round that a thread was in before its event of this index.
    fn round(&self, loc: LocId, thread: ThreadId, index: u32) -> Members {
        let round = self.rounds_before(loc, thread, index);
        let ordinal = |arrival: &Event| self.rounds_before(loc, arrival.thread, arrival.index + 1);
        self.arrivals_at(loc).filter(|(_, arrival)| ordinal(arrival) == round).map(|(slot, _)| slot).collect()
    }

    /// The departure that follows an arrival, if there is one.
    fn departure(&self, arrival: Slot) -> Option<Slot> {
        let event = self.event(arrival);
        let next = self.threads[event.thread.index()].events.get(event.index as usize + 1).copied();
        next.filter(|&slot| self.event(slot).kind == Kind::Depart)
    }

    /// What a departure comes after, beside what its thread did.
    pub(super) fn before_departure(&self, event: &Event) -> Members {
        let mut before = self.round(event.loc, event.thread, event.index);
        if event.value != NOT_ASKED {
            let earlier = before.iter().filter(|&&arrival| self.event(arrival).thread < event.thread);
            let asked: Members = earlier
                .filter_map(|&arrival| self.departure(arrival))
                .filter(|&departure| self.event(departure).value != NOT_ASKED)
                .collect();
            before.extend(asked);
        }
        before
    }

    /// The arrivals that a departure happens after.
    pub(super) fn met(&self, departure: &Event) -> Members {
        self.round(departure.loc, departure.thread, departure.index)
    }

    /// What all arrivals of the others come before, if it is this arrival that is to be the last of its round.
    pub(super) fn others_before(&self, slot: Slot) -> Members {
        let arrival = self.event(slot);
        if arrival.kind != Kind::Arrive {
            return Members::new();
        }
        let mut members = self.round(arrival.loc, arrival.thread, arrival.index + 1);
        let said = |arrival: Slot| self.departure(arrival).map(|departure| self.event(departure).value);
        let sure = members.iter().copied().find(|&member| said(member) == Some(LAST));
        let last = sure.or_else(|| members.iter().copied().find(|&member| said(member) != Some(NOT_LAST)));
        if last != Some(slot) {
            return Members::new();
        }
        members.retain(|&mut member| member != slot);
        members
    }
}

/// Whether a thread that has arrived at a barrier may leave it.
pub(super) fn may_leave<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, thread: ThreadId, asks: bool) -> bool {
    let Some(tip) = graph.tip(thread) else { return false };
    let members = graph.round(tip.loc, thread, u32::MAX);
    let is_complete = count(context, graph, tip.loc) == Some(members.len() as u64);
    let goes_first = |member: Slot| {
        let other = graph.event(member).thread;
        other < thread
            && graph.departure(member).is_none()
            && graph.state(other).and_then(|state| state.meeting(context.code)).is_some_and(|meeting| meeting.asks)
    };
    is_complete && !(asks && members.into_iter().any(goes_first))
}

/// For how many threads the barrier is, as far as anybody has said.
fn count<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, loc: LocId) -> Option<u64> {
    let said = graph.location(loc).co.iter().copied().find(|&write| !graph.event(write).flags.contains(Flags::LOCKED));
    match context.value(graph, loc, said.unwrap_or(INIT)) {
        Initial::Value(word) => Some(word >> 32),
        Initial::Uninitialised => None,
    }
}

/// What a departure may say about its arrival, the first one as if it were the only one.
pub(super) fn answers<M: Model>(graph: &Graph<M>, event: &Event, asks: bool) -> SmallVec<[u64; 2]> {
    if !asks {
        return SmallVec::from_slice(&[NOT_ASKED]);
    }
    let members = graph.round(event.loc, event.thread, event.index);
    let said = |member: Slot| graph.departure(member).map(|departure| graph.event(departure).value);
    let mut others = members.into_iter().filter(|&member| graph.event(member).thread != event.thread);
    if others.clone().any(|member| said(member) == Some(LAST)) {
        SmallVec::from_slice(&[NOT_LAST])
    } else if others.any(|member| said(member) != Some(NOT_LAST)) {
        SmallVec::from_slice(&[NOT_LAST, LAST])
    } else {
        SmallVec::from_slice(&[LAST])
    }
}

impl<M: Model> Stepper<'_, '_, M> {
    /// Starts over with arrivals that are updates, because of this event.
    pub(super) fn contested_barrier(&mut self, event: &Event) {
        *self.error = Some(Halt::ContestedBarrier(self.context.code.place(event.pc)));
    }

    /// Adds an arrival at a barrier.
    pub(super) fn arrive(&mut self, event: Event) {
        let Event { thread, loc, .. } = event;
        let accesses = self.graph.location(loc);
        let source = accesses.co.last().copied().unwrap_or(INIT);
        let others: Vec<Slot> = accesses.co.iter().chain(&accesses.reads).copied().collect();
        let plain = others.iter().any(|&slot| self.graph.event(slot).order == Ordering::NonAtomic);
        let word = match self.context.value(self.graph, loc, source) {
            Initial::Value(word) => word,
            Initial::Uninitialised => 0,
        };
        let count = word >> 32;
        let mut threads: SmallVec<[ThreadId; 4]> = self.graph.arrivals_at(loc).map(|(_, other)| other.thread).collect();
        threads.push(thread);
        threads.sort_unstable();
        threads.dedup();
        if plain || threads.len() as u64 > count || !self.comes_after(&event, &others) {
            self.contested_barrier(&event);
        }
        let rounds = self.graph.rounds_before(loc, thread, event.index) as u64;
        let node = self.answered(thread, word.wrapping_add(rounds.wrapping_mul(count)), 0);
        let slot = self.add(event, node, 0, None);
        if self.freed_before(slot).is_some() {
            self.contested_barrier(&event);
        }
    }

    /// Lets a thread leave a barrier; `event.value` is what it learns.
    pub(super) fn depart(&mut self, event: Event) {
        let tip = self.tip(event.thread);
        let members = self.graph.round(event.loc, event.thread, event.index).len() as u64;
        let rounds = self.graph.rounds_before(event.loc, event.thread, event.index) as u64;
        let mut state = (*tip.state).clone();
        if event.value == LAST {
            state.arrive_last(self.context.code);
        }
        state.answer(self.context.code, members << 32 | (rounds * members), 0);
        let node = settle(self.context, self.graph, Some(tip), state, self.error);
        let slot = self.add(event, node, 0, None);
        if self.freed_before(slot).is_some() {
            self.contested_barrier(&event);
        }
    }

    /// Notes if the object whose life ends with an event holds a barrier that somebody may still be at.
    pub(super) fn check_end_of_barrier(&mut self, end: Slot, base: Addr) {
        let is_there = |slot: Slot| self.context.view.access(self.graph.event(slot).loc).addr.base() == base;
        let arrivals: Members = self.graph.arrivals.iter().copied().filter(|&arrival| is_there(arrival)).collect();
        for arrival in arrivals {
            let last = self.graph.departure(arrival).unwrap_or(arrival);
            let thread = self.graph.event(arrival).thread;
            let waits = self.graph.last(thread) == Some(arrival)
                && self.graph.state(thread).is_some_and(|state| state.meeting(self.context.code).is_some());
            if waits || self.may_precede(end, last) {
                let event = *self.graph.event(end);
                self.contested_barrier(&event);
            }
        }
    }

    /// Notes if another access to a barrier is not the end of it.
    pub(super) fn check_meeting(&mut self, event: &Event) {
        if self.graph.arrivals.is_empty() {
            return;
        }
        let arrivals: Vec<Slot> = self.graph.arrivals_at(event.loc).map(|(slot, _)| slot).collect();
        if arrivals.is_empty() {
            return;
        }
        let locked = |event: &Event| event.flags.contains(Flags::LOCKED);
        let again = event.kind == Kind::Read && event.rf != INIT && locked(self.graph.event(event.rf));
        if !locked(event) || again || !self.comes_after(event, &arrivals) {
            self.contested_barrier(event);
        }
    }

    /// Whether a new event comes after all of these in every run.
    fn comes_after(&self, event: &Event, others: &[Slot]) -> bool {
        let prefix = self.graph.prefix_of_next(event.thread);
        let mut global = Vec::new();
        M::collect_next(self.graph, event, &mut global);
        let before = |slot: Slot| prefix.contains(slot as usize) && global[slot as usize / 64] >> (slot % 64) & 1 == 1;
        others.iter().all(|&slot| before(slot))
    }

    /// What the arrivals at a barrier make of its word.
    pub(super) fn after_arrivals(&self, loc: LocId, word: u64) -> u64 {
        if self.graph.arrivals.is_empty() { word } else { word + self.graph.arrivals_at(loc).count() as u64 }
    }
}
