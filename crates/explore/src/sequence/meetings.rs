//! Barriers whose rounds have one set of members: arrivals at them have no order.
//!
//! As long as no more threads come to a barrier than it is for, every round consists of the same threads, one arrival of each. Then an arrival
//! ([`Kind::Arrive`]) neither reads nor writes, and leaving ([`Kind::Depart`]) is possible when the round is complete, as joining is when a
//! thread has ended; what it comes after are the arrivals of its round.
//!
//! Who asks whether it was the last to arrive makes a choice when it leaves, if there is one: of those who ask, one or none was the last, and none
//! only if somebody does not ask. They leave in the order of their numbers, so that what is left to choose depends on what is before.
//! Sequences leave the order of arrivals open. Any choice can be run: nothing but leaving comes after an arrival, so in the run of the machine
//! that a sequence is ([`Frontier::schedule`]) the one that is to be the last is put behind the others.
//!
//! Where more threads come to a barrier than it is for, who gets into which round is a choice of its own; and where somebody initialises,
//! destroys, frees or otherwise accesses it and is not before all arrivals or behind all departures by program order, starts and ends of threads and other
//! meetings, the order with that counts. There the search starts over with arrivals that are updates and departures that are waiting
//! reads ([`Stop::Contested`]). The engines on graphs do the same (`graphs::meetings`).
//!
//! Cost: per arrival and departure quadratic in the number of arrivals.

use super::event::{Event, INITIAL, Kind, LocId};
use super::frontier::{Frontier, state};
use super::report::Stop;
use crate::world::Initial;
use raddle_machine::{Access, Addr, Automaton, Meeting};
use raddle_program::Ordering;
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;

/// The value of a departure whose thread does not ask whether it was the last to arrive.
const NOT_ASKED: u64 = 0;
/// It was not.
const NOT_LAST: u64 = 1;
/// It was.
const LAST: u64 = 2;

/// Arrivals of a round, one for each member.
type Members = SmallVec<[EventId; 4]>;

impl Frontier<'_> {
    /// Where a thread is in a wait at a barrier, if arrivals have no order.
    #[inline]
    pub(super) fn meeting(&self, thread: ThreadId) -> Option<Meeting> {
        if !self.meetings {
            return None;
        }
        state(&self.logs, thread)?.meeting(self.world.code)
    }

    /// The arrivals at a barrier.
    fn arrivals_at(&self, loc: LocId) -> impl Iterator<Item = EventId> + '_ {
        self.arrivals.iter().copied().filter(move |&arrival| self.event(arrival).loc == loc)
    }

    /// How many arrivals a thread made before its event of this index.
    fn rounds_before(&self, loc: LocId, thread: ThreadId, index: u32) -> usize {
        self.arrivals_at(loc).filter(|arrival| arrival.thread == thread && arrival.index < index).count()
    }

    /// The arrivals of the round of an arrival.
    fn round(&self, arrival: EventId) -> Members {
        let loc = self.event(arrival).loc;
        let ordinal = |arrival: EventId| self.rounds_before(loc, arrival.thread, arrival.index);
        let round = ordinal(arrival);
        self.arrivals_at(loc).filter(|&other| ordinal(other) == round).collect()
    }

    /// The departure that follows an arrival, if there is one.
    fn departure(&self, arrival: EventId) -> Option<EventId> {
        let next = EventId::new(arrival.thread, arrival.index + 1);
        let event = self.events(next.thread).get(next.index as usize)?;
        (event.kind == Kind::Depart).then_some(next)
    }

    /// What the member of a round has learnt about its arrival.
    fn said(&self, arrival: EventId) -> Option<u64> {
        self.departure(arrival).map(|departure| self.event(departure).value)
    }

    /// The arrivals that a departure comes after; none for other events.
    #[inline]
    pub(crate) fn met(&self, event: &Event) -> &[EventId] {
        if event.kind == Kind::Depart { self.sources(event) } else { &[] }
    }

    /// How much the arrivals at a barrier have added to what this write left there.
    pub(super) fn arrivals_since(&self, loc: LocId, write: EventId) -> u64 {
        self.arrivals_at(loc).filter(|&arrival| self.before(write, arrival)).count() as u64
    }

    /// Does the next operation of a thread that is about to arrive at a barrier or to leave it, if it is possible and no choice.
    pub(super) fn meet(&mut self, thread: ThreadId, access: Access, meeting: Meeting) -> Result<Option<EventId>, Stop> {
        let pc = state(&self.logs, thread).expect("it is running").pc();
        if !meeting.arrived {
            let loc = self.world.loc(access, pc)?;
            return self.arrive(thread, Event { loc, ..Event::new(Kind::Arrive, pc) }).map(Some);
        }
        if self.frees.iter().any(|&free| self.is_end_of(free, access.addr.base())) {
            return Err(Stop::Contested(pc));
        }
        let [said] = self.answers(thread)[..] else { return Ok(None) };
        Ok(Some(self.depart(thread, said)))
    }

    fn is_end_of(&self, free: EventId, base: Addr) -> bool {
        Addr(self.event(free).value).base() == base
    }

    fn arrive(&mut self, thread: ThreadId, event: Event) -> Result<EventId, Stop> {
        let Event { loc, pc, .. } = event;
        let next = EventId::new(thread, self.events(thread).len() as u32);
        let mut arrivals: Vec<EventId> = self.arrivals_at(loc).chain([next]).collect();
        let comes_first = |access: EventId| arrivals.iter().all(|&arrival| self.before(access, arrival));
        let accesses = self.accesses(loc);
        let writes = self.writes(loc);
        let in_order = accesses.iter().all(|&access| comes_first(access))
            && writes.windows(2).all(|pair| self.before(pair[0], pair[1]));
        let plain = accesses.iter().any(|&access| self.event(access).order == Some(Ordering::NonAtomic));
        let pending = self.logs.iter().flat_map(|log| log.rests.last()).any(|rest| rest.loc == loc);
        let base = self.world.access(loc).addr.base();
        let freed = self.frees.iter().any(|&free| self.is_end_of(free, base));
        let last = writes.last().copied().unwrap_or(INITIAL);
        let word = match self.written(loc, last) {
            Initial::Value(word) => word,
            Initial::Uninitialised => 0,
        };
        let count = word >> 32;
        arrivals.sort_unstable();
        arrivals.dedup_by_key(|arrival| arrival.thread);
        if !in_order || plain || pending || freed || arrivals.len() as u64 > count {
            return Err(Stop::Contested(pc));
        }
        let rounds = self.rounds_before(loc, thread, next.index) as u64;
        let event = Event { value: count, ..event };
        let id = self.answer(thread, event, word.wrapping_add(rounds.wrapping_mul(count)));
        self.arrivals.push(id);
        Ok(id)
    }

    /// The reads and writes of a location.
    fn accesses(&self, loc: LocId) -> Vec<EventId> {
        let of = |thread: ThreadId| {
            let events = self.events(thread).iter().zip(0..);
            let accesses = events.filter(|(event, _)| event.loc == loc && (event.reads() || event.writes()));
            accesses.map(move |(_, index)| EventId::new(thread, index))
        };
        self.ids().flat_map(of).collect()
    }

    /// What a thread that has arrived may learn about its arrival when it leaves; nothing if it cannot leave now.
    fn answers(&self, thread: ThreadId) -> SmallVec<[u64; 2]> {
        let asks = |thread: ThreadId| self.meeting(thread).is_some_and(|meeting| meeting.asks);
        let own = EventId::new(thread, self.events(thread).len() as u32 - 1);
        let members = self.round(own);
        let goes_first =
            |&arrival: &EventId| arrival.thread < thread && self.departure(arrival).is_none() && asks(arrival.thread);
        if self.event(own).value != members.len() as u64 || (asks(thread) && members.iter().any(goes_first)) {
            return SmallVec::new();
        }
        let mut others = members.iter().filter(|&&arrival| arrival != own).map(|&arrival| self.said(arrival));
        SmallVec::from_slice(match () {
            () if !asks(thread) => &[NOT_ASKED],
            () if others.clone().any(|said| said == Some(LAST)) => &[NOT_LAST],
            () if others.any(|said| said != Some(NOT_LAST)) => &[NOT_LAST, LAST],
            () => &[LAST],
        })
    }

    /// Whether a thread has a choice when it leaves a barrier.
    pub(super) fn chooses_to_be_last(&self, thread: ThreadId) -> bool {
        self.meeting(thread).is_some_and(|meeting| meeting.arrived) && self.answers(thread).len() > 1
    }

    /// Lets a thread leave a barrier as one who was the last to arrive, or not.
    pub(super) fn leave_as(&mut self, thread: ThreadId, last: bool) -> EventId {
        self.depart(thread, if last { LAST } else { NOT_LAST })
    }

    fn depart(&mut self, thread: ThreadId, said: u64) -> EventId {
        let index = self.events(thread).len() as u32;
        let own = EventId::new(thread, index - 1);
        let (loc, members) = (self.event(own).loc, self.round(own));
        let rounds = self.rounds_before(loc, thread, index) as u64;
        let count = members.len() as u64;
        let others = members.iter().filter(|&&arrival| arrival != own);
        let others: SmallVec<[_; 4]> = others.map(|arrival| (arrival.thread, arrival.index + 1)).collect();
        let past = self.joined_past(|log| &log.past, (thread, index), &others);
        let certain = self.joined_past(|log| &log.certain, (thread, index), &others);
        let sources = self.list(&members);
        let code = self.world.code;
        if said == LAST {
            self.fresh(thread).state.arrive_last(code);
        }
        let pc = state(&self.logs, thread).expect("it is running").pc();
        let event = Event { loc, value: said, sources, ..Event::new(Kind::Depart, pc) };
        let id = self.answer(thread, event, count << 32 | (rounds * count));
        let log = &mut self.logs[thread.index()];
        log.past.push((index, past));
        log.certain.push((index, certain));
        id
    }

    /// Notes if an access that is neither an arrival nor a departure may come before one.
    pub(super) fn check_meeting(&self, thread: ThreadId, loc: LocId, pc: u32) -> Result<(), Stop> {
        if self.arrivals.is_empty() {
            return Ok(());
        }
        self.come_before(thread, self.arrivals_at(loc), pc)
    }

    /// Notes if a barrier may be in use when the object at this address ends.
    pub(super) fn check_end_of_barrier(&self, thread: ThreadId, base: Addr, pc: u32) -> Result<(), Stop> {
        let there = |&arrival: &EventId| self.world.access(self.event(arrival).loc).addr.base() == base;
        self.come_before(thread, self.arrivals.iter().copied().filter(there), pc)
    }

    /// Whether whoever has arrived has also left before the next event of a thread.
    fn come_before(&self, thread: ThreadId, mut arrivals: impl Iterator<Item = EventId>, pc: u32) -> Result<(), Stop> {
        let next = EventId::new(thread, self.events(thread).len() as u32);
        let is_over = |arrival: EventId| {
            let waits = self.events(arrival.thread).len() as u32 == arrival.index + 1
                && self.meeting(arrival.thread).is_some_and(|meeting| meeting.arrived);
            !waits && self.before(self.departure(arrival).unwrap_or(arrival), next)
        };
        if arrivals.all(is_over) { Ok(()) } else { Err(Stop::Contested(pc)) }
    }

    /// The events of a sequence in the order in which the machine does them. Whoever is the last to arrive does not wait, so its departure is no step. The
    /// others leave as soon as they can: to the machine leaving is a read, which would learn also from arrivals of the next round.
    pub(super) fn steps(&self, sequence: &[EventId]) -> Vec<EventId> {
        if self.arrivals.is_empty() {
            return sequence.to_vec();
        }
        let mut steps: Vec<EventId> = Vec::with_capacity(sequence.len());
        let mut held: Vec<EventId> = Vec::new();
        for &id in sequence {
            match self.event(id).kind {
                Kind::Depart => {}
                Kind::Arrive => {
                    let last = self.last_of_round(id);
                    let list = if last == Some(id.thread) { &mut held } else { &mut steps };
                    list.push(id);
                    // The last one follows as soon as the others are there.
                    let members = self.round(id);
                    let missing = |arrival: &EventId| Some(arrival.thread) != last && !steps.contains(arrival);
                    if let Some(at) = held.iter().position(|arrival| members.contains(arrival))
                        && !members.iter().any(missing)
                    {
                        let last = held.swap_remove(at);
                        steps.push(last);
                        let others = members.into_iter().filter(|&arrival| arrival != last);
                        let leaving = others.filter_map(|arrival| self.departure(arrival));
                        steps.extend(leaving.filter(|departure| sequence.contains(departure)));
                    }
                }
                _ => steps.push(id),
            }
        }
        steps
    }

    /// Whose arrival is to be the last of a round, once that is complete: of the one who learns that it was, or of anybody who does not learn the
    /// opposite.
    fn last_of_round(&self, arrival: EventId) -> Option<ThreadId> {
        let members = self.round(arrival);
        if self.event(arrival).value != members.len() as u64 {
            return None;
        }
        let sure = members.iter().find(|&&member| self.said(member) == Some(LAST));
        let last = sure.or_else(|| members.iter().find(|&&member| self.said(member) != Some(NOT_LAST)));
        last.map(|last| last.thread)
    }
}
