//! The events of every thread so far, and where each thread rests.

use super::event::{Event, INITIAL, Kind, LocId};
use crate::world::{Initial, View, World};
use raddle_engine::Options;
use raddle_machine::{Addr, Automaton, Code, Owner, Thread};
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;
use std::sync::Arc;

/// A thread's state after some of its events.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// How many events there are, of all threads, with the first one that made it differ from the state before it. Taking
    /// back to fewer events drops it.
    pub(super) born: usize,
    pub(super) state: Thread,
    /// Where the pending read goes, once that is known.
    pub(super) loc: LocId,
}

/// How many events of each thread come before something by program order, spawn and join. Threads that are missing have
/// none.
pub(super) type Past = Arc<[u32]>;

/// One thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) events: Vec<Event>,
    /// Its states, the current one last; none if it has not been started.
    pub(super) rests: Vec<Rest>,
    /// From which event on, what of other threads comes before by spawn and join.
    pub(super) past: Vec<(u32, Past)>,
    /// The same with reads that have one source only: what comes before in every sequence in which all read as they should.
    pub(super) certain: Vec<(u32, Past)>,
    /// The event that has waited for its end.
    pub(super) joined: Option<EventId>,
    /// Operations that were done before the first event.
    pub(super) before: u32,
}

/// What to go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    events: usize,
    sources: usize,
}

/// The events so far.
#[derive(Clone, Debug)]
pub(crate) struct Frontier<'c> {
    pub(crate) world: View<'c>,
    pub(super) logs: Vec<Log>,
    /// Whose events were added, in this order.
    pub(super) order: Vec<ThreadId>,
    /// States born with so many events or fewer are needed again and are not changed.
    pub(super) kept: usize,
    /// The writes of each location, in the order they were added.
    pub(super) writes: Vec<Vec<EventId>>,
    /// The ends of objects, in the order they were added.
    pub(super) frees: Vec<EventId>,
    /// The writes that reads may read from, one list behind the other.
    pub(super) arena: Vec<EventId>,
    /// Whether arrivals at barriers have no order; see [`super::meetings`].
    pub(super) meetings: bool,
    /// The arrivals at barriers then, in the order they were added.
    pub(super) arrivals: Vec<EventId>,
}

impl<'c> Frontier<'c> {
    /// Of a program before its first event; `meetings` says whether arrivals at barriers have no order.
    pub(crate) fn new(code: &'c Code, options: &Options, meetings: bool) -> Self {
        debug_assert!(options.model.is_sequential(), "engines check the model first");
        let world = Arc::new(World::new(code, options.model));
        let main = Rest { born: 0, state: (*world.main).clone(), loc: super::NO_LOC };
        let before = main.state.operations();
        let main = Log { rests: vec![main], before, ..Log::default() };
        Frontier {
            world: View::new(world),
            logs: vec![main],
            order: Vec::new(),
            kept: 0,
            writes: Vec::new(),
            frees: Vec::new(),
            arena: Vec::new(),
            meetings,
            arrivals: Vec::new(),
        }
    }

    /// One more than the largest number of a thread, started or not.
    pub(crate) fn threads(&self) -> usize {
        self.logs.len()
    }

    /// All threads, started or not.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ThreadId> + Clone + use<> {
        (0..self.logs.len() as u32).map(ThreadId)
    }

    /// The events of a thread.
    pub(crate) fn events(&self, thread: ThreadId) -> &[Event] {
        &self.logs[thread.index()].events
    }

    pub(crate) fn event(&self, id: EventId) -> &Event {
        &self.logs[id.thread.index()].events[id.index as usize]
    }

    /// The number of the first event of a turn that began with the `operation`-th operation of the thread.
    pub(crate) fn event_of_operation(&self, thread: ThreadId, operation: u32) -> u32 {
        operation.saturating_sub(self.logs[thread.index()].before)
    }

    /// The writes of a location.
    pub(crate) fn writes(&self, loc: LocId) -> &[EventId] {
        self.writes.get(loc as usize).map_or(&[], Vec::as_slice)
    }

    /// The ends of objects.
    pub(crate) fn frees(&self) -> &[EventId] {
        &self.frees
    }

    /// The writes a read may read from.
    pub(crate) fn sources(&self, event: &Event) -> &[EventId] {
        &self.arena[event.sources.0 as usize..event.sources.1 as usize]
    }

    /// The start of the object that a location is in.
    pub(super) fn base(&self, loc: LocId) -> Addr {
        self.world.access(loc).addr.base()
    }

    /// The first event that its maker did after it had made what is at this location, if a thread has made it.
    pub(super) fn first_after_making(&self, loc: LocId) -> Option<EventId> {
        let Owner::Thread(maker, number) = self.world.access(loc).addr.owner() else { return None };
        let position = self.state(maker)?.position(number)?;
        let events = self.events(maker);
        let first = events.partition_point(|event| event.made <= position);
        (first < events.len()).then(|| EventId::new(maker, first as u32))
    }

    /// The state a thread rests in; `None` if it has not been started.
    pub(crate) fn state(&self, thread: ThreadId) -> Option<&Thread> {
        state(&self.logs, thread)
    }

    /// What the pending read of a thread finds at `loc` if it reads from `source`: some reads take memory that was never written for
    /// zeros.
    pub(crate) fn found(&mut self, thread: ThreadId, loc: LocId, source: EventId) -> Initial {
        match self.value(loc, source) {
            Initial::Uninitialised => {
                let part = if source == INITIAL { self.world.part(loc) } else { self.event(source).written };
                let found = self.state(thread).and_then(|state| state.finds_unwritten(self.world.code, part));
                found.map_or(Initial::Uninitialised, Initial::Value)
            }
            found => found,
        }
    }

    /// The value a read of `loc` gets from `source`.
    pub(crate) fn value(&mut self, loc: LocId, source: EventId) -> Initial {
        match self.written(loc, source) {
            Initial::Value(word) if !self.arrivals.is_empty() => {
                Initial::Value(word.wrapping_add(self.arrivals_since(loc, source)))
            }
            value => value,
        }
    }

    /// What `source` has written to `loc`.
    #[inline]
    pub(super) fn written(&mut self, loc: LocId, source: EventId) -> Initial {
        if source == INITIAL {
            let Frontier { world, logs, .. } = self;
            world.initial(loc, &|id| state(logs, id))
        } else {
            Initial::written(self.event(source).written)
        }
    }

    /// How many events of each thread come before the `index`-th of `thread`, apart from those of `thread`.
    fn past(&self, thread: ThreadId, index: u32) -> &[u32] {
        at(&self.logs[thread.index()].past, index)
    }

    /// The events of other threads that must directly precede this one: the one that started its thread, and the last one of a
    /// thread it waited for, or the one that makes it a fault.
    #[inline]
    pub(crate) fn joints(&self, id: EventId) -> [Option<EventId>; 2] {
        let event = self.event(id);
        let start = if id.index == 0 { self.start(id.thread) } else { None };
        if event.kind == Kind::Fault && event.written > 0 {
            let other = event.written - 1;
            return [start, Some(EventId::new(ThreadId((other >> 32) as u32), other as u32))];
        }
        if event.kind != Kind::Join {
            return [start, None];
        }
        let child = ThreadId(event.value as u32);
        let last = self.logs[child.index()].events.len().checked_sub(1);
        // A thread without events still has its start before its end.
        [start, last.map(|last| EventId::new(child, last as u32)).or_else(|| self.start(child))]
    }

    /// The event that started a thread.
    pub(crate) fn start(&self, thread: ThreadId) -> Option<EventId> {
        let (_, past) = self.logs[thread.index()].past.first()?;
        // The start is the last event of some thread that is before the first one: the one that names this thread.
        past.iter().enumerate().find_map(|(parent, &count)| {
            let last = EventId::new(ThreadId(parent as u32), count.checked_sub(1)?);
            let event = self.event(last);
            (event.kind == Kind::Spawn && event.value == u64::from(thread.0)).then_some(last)
        })
    }

    /// Whether program order, spawn and join put `a` before `b`.
    pub(crate) fn before(&self, a: EventId, b: EventId) -> bool {
        if a == INITIAL {
            return true;
        }
        if a.thread == b.thread {
            return a.index < b.index;
        }
        self.past(b.thread, b.index).get(a.thread.index()).is_some_and(|&count| count > a.index)
    }

    /// The writes of `loc` that the next event of `thread` could read from, as far as that can be told without looking for a
    /// sequence: those that are not before a write that is before the event, by program order and by reads that have one
    /// source only.
    pub(crate) fn visible(&self, thread: ThreadId, loc: LocId, found: &mut Vec<EventId>) {
        found.clear();
        let next = EventId::new(thread, self.events(thread).len() as u32);
        let past = at(&self.logs[thread.index()].certain, next.index);
        let mut latest: SmallVec<[EventId; 8]> = SmallVec::new();
        for &write in self.writes(loc) {
            let count =
                if write.thread == thread { next.index } else { past.get(write.thread.index()).copied().unwrap_or(0) };
            if write.index >= count {
                found.push(write);
            } else if let Some(other) = latest.iter_mut().find(|other| other.thread == write.thread) {
                *other = write;
            } else {
                latest.push(write);
            }
        }
        let before = |a: EventId, b: EventId| {
            let past = at(&self.logs[b.thread.index()].certain, b.index);
            past.get(a.thread.index()).is_some_and(|&count| count > a.index)
        };
        let hidden = |&write: &EventId| latest.iter().any(|&other| other != write && before(write, other));
        found.extend(latest.iter().filter(|write| !hidden(write)));
        if latest.is_empty() {
            found.push(INITIAL);
        }
    }

    /// A place to come back to. States of threads that are there now are kept.
    pub(crate) fn mark(&mut self) -> Mark {
        self.kept = self.order.len();
        Mark { events: self.order.len(), sources: self.arena.len() }
    }

    /// Takes back all that was added since.
    pub(crate) fn undo(&mut self, mark: Mark) {
        while self.order.len() > mark.events {
            let thread = self.order.pop().expect("longer than that");
            let events = self.order.len();
            let log = &mut self.logs[thread.index()];
            let event = log.events.pop().expect("it was added");
            while log.rests.last().is_some_and(|rest| rest.born > events) {
                log.rests.pop();
            }
            if event.writes() {
                self.writes[event.loc as usize].pop();
            }
            match event.kind {
                Kind::Spawn => self.logs[event.value as usize] = Log::default(),
                Kind::Join => {
                    log.past.pop();
                    log.certain.pop();
                    self.logs[event.value as usize].joined = None;
                }
                Kind::Arrive => {
                    self.arrivals.pop();
                }
                Kind::Depart => {
                    log.past.pop();
                    log.certain.pop();
                }
                Kind::Free => {
                    self.frees.pop();
                }
                Kind::Read | Kind::Update => {
                    if let [source] = self.arena[event.sources.0 as usize..event.sources.1 as usize]
                        && source != INITIAL
                    {
                        log.certain.pop();
                    }
                }
                _ => {}
            }
        }
        self.arena.truncate(mark.sources);
        self.kept = mark.events;
    }

    /// Adds an event of a thread. Its state is not touched.
    pub(super) fn push(&mut self, thread: ThreadId, event: Event) -> EventId {
        // A thread that has been answered may have made more since; one that has failed has not.
        let made = if event.made == u32::MAX { self.state(thread).map_or(0, Automaton::made) } else { event.made };
        let event = Event { made, ..event };
        let log = &mut self.logs[thread.index()];
        let id = EventId::new(thread, log.events.len() as u32);
        log.events.push(event);
        self.order.push(thread);
        if event.writes() {
            if self.writes.len() <= event.loc as usize {
                self.writes.resize_with(event.loc as usize + 1, Vec::new);
            }
            self.writes[event.loc as usize].push(id);
        }
        if event.kind == Kind::Free {
            self.frees.push(id);
        }
        id
    }

    /// What comes before the events of a thread from `index` on: what came before, and all of the `others` up to so many. By
    /// `epochs` it is told what came before.
    pub(super) fn joined_past(
        &self,
        epochs: fn(&Log) -> &[(u32, Past)],
        (thread, index): (ThreadId, u32),
        others: &[(ThreadId, u32)],
    ) -> Past {
        let of = |thread: ThreadId, index: u32| at(epochs(&self.logs[thread.index()]), index);
        let mut past: Vec<u32> = of(thread, index).to_vec();
        for &(other, count) in others {
            let theirs = of(other, count.saturating_sub(1));
            past.resize(past.len().max(theirs.len()).max(other.index() + 1), 0);
            past.iter_mut().zip(theirs).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
            past[other.index()] = past[other.index()].max(count);
        }
        past.into()
    }
}

/// What comes before an event, by the epochs of its thread.
pub(super) fn at(epochs: &[(u32, Past)], index: u32) -> &[u32] {
    epochs.iter().rev().find(|(from, _)| *from <= index).map_or(&[], |(_, past)| past)
}

/// The state a thread rests in.
pub(super) fn state(logs: &[Log], thread: ThreadId) -> Option<&Thread> {
    logs.get(thread.index())?.rests.last().map(|rest| &rest.state)
}
