//! Running threads: what follows without a read, and what a read leads to.

use super::event::{Event, INITIAL, Kind, LocId, NO_LOC};
use super::frontier::{Frontier, Log, Rest, at, state};
use super::report::Stop;
use crate::world::Initial;
use raddle_engine::Refusal;
use raddle_machine::{Access, Addr, Automaton, Reaction, Status, Thread, Visible};
use raddle_trace::{EventId, Property, ThreadId};

/// Something that is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Bug {
    /// Which property; `None` if the machine cannot go on.
    pub(crate) property: Option<Property>,
    pub(crate) message: String,
    pub(crate) pc: u32,
    /// How many events of the sequence lead to it.
    pub(crate) at: usize,
    /// Which of two threads is in error depends on their order, and only one order is looked at.
    pub(crate) either: bool,
}

/// The read or update that a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) thread: ThreadId,
    pub(crate) loc: LocId,
    /// Perhaps it also writes.
    pub(crate) update: bool,
    /// Some values let it wait.
    pub(crate) wait: bool,
    /// It takes a mutex that only its holder releases.
    pub(crate) mutex: bool,
}

/// How running the threads ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extended {
    /// Every thread is at an end, or before a read or a choice.
    Done,
    /// There are too many events.
    TooLong,
}

impl Frontier<'_> {
    /// Runs all threads until each is finished, blocked, or about to read or to choose. The events go to the end of
    /// `sequence`. What is wrong goes to `bugs`.
    pub(crate) fn extend(
        &mut self,
        sequence: &mut Vec<EventId>,
        bugs: &mut Vec<Bug>,
        depth: usize,
    ) -> Result<Extended, Stop> {
        // The reads that came before count, too.
        if self.order.len() > depth {
            return Ok(Extended::TooLong);
        }
        loop {
            let before = self.order.len();
            let mut thread = 0;
            // Threads that are started on the way come behind.
            while thread < self.logs.len() {
                while self.step(ThreadId(thread as u32), sequence, bugs)? {
                    if self.order.len() > depth {
                        return Ok(Extended::TooLong);
                    }
                }
                thread += 1;
            }
            if self.order.len() == before {
                return Ok(Extended::Done);
            }
        }
    }

    /// Does the next operation of a thread if it is neither a read nor a choice. Returns whether it did.
    fn step(&mut self, thread: ThreadId, sequence: &mut Vec<EventId>, bugs: &mut Vec<Bug>) -> Result<bool, Stop> {
        let Some(rest) = self.logs[thread.index()].rests.last() else { return Ok(false) };
        let Status::Ready(visible) = *rest.state.status() else { return Ok(false) };
        let pc = rest.state.pc();
        let plain = |kind| Event::new(kind, pc);
        let id = match visible {
            Visible::Load { access, .. } | Visible::Update { access, .. } => {
                if rest.loc != NO_LOC {
                    return Ok(false);
                }
                let lasting = self.world.lasting(access);
                if lasting.is_none()
                    && let Some(message) = self.wrong(thread, access)
                {
                    self.fault(thread, Property::Memory, message)
                } else if let Some(meeting) = self.meeting(thread) {
                    match self.meet(thread, access, meeting)? {
                        Some(id) => id,
                        None => return Ok(false),
                    }
                } else {
                    let loc = lasting.map_or_else(|| self.world.loc(access, pc), Ok)?;
                    self.check_meeting(thread, loc, pc)?;
                    self.logs[thread.index()].rests.last_mut().expect("it has one").loc = loc;
                    return Ok(false);
                }
            }
            Visible::Choose { .. } => return Ok(false),
            Visible::Store { access, value, order } => {
                let lasting = self.world.lasting(access);
                if lasting.is_none()
                    && let Some(message) = self.wrong(thread, access)
                {
                    self.fault(thread, Property::Memory, message)
                } else {
                    let loc = lasting.map_or_else(|| self.world.loc(access, pc), Ok)?;
                    self.check_meeting(thread, loc, pc)?;
                    let event = Event { loc, written: value, order: Some(order), ..plain(Kind::Write) };
                    self.answer(thread, event, 0)
                }
            }
            Visible::Fence { order } => self.answer(thread, Event { order: Some(order), ..plain(Kind::Note) }, 0),
            Visible::Spawn { .. } => self.spawn(thread, plain(Kind::Spawn))?,
            Visible::Take { .. } => unreachable!("programs with mailboxes are refused"),
            Visible::Join { thread: child } => match self.join(thread, child, plain(Kind::Join))? {
                Some(id) => id,
                None => return Ok(false),
            },
            Visible::Free { addr, scope } => {
                self.check_end_of_barrier(thread, addr.base(), pc)?;
                self.free(thread, addr, scope, plain(Kind::Free))
            }
            Visible::AtomicBegin | Visible::AtomicEnd => unreachable!("engines refuse atomic blocks first"),
        };
        sequence.push(id);
        let first = bugs.len();
        self.report(thread, sequence.len(), bugs);
        // Of two that end the same thing the second is in error.
        let event = self.event(id);
        let ends = matches!(visible, Visible::Join { .. } | Visible::Free { .. });
        bugs[first..].iter_mut().for_each(|bug| bug.either = ends && event.kind == Kind::Fault && event.value != 0);
        if self.event(id).kind == Kind::Spawn {
            self.report(ThreadId(self.event(id).value as u32), sequence.len(), bugs);
        }
        Ok(true)
    }

    /// What is wrong with an access, whatever the others do. An object that has ended in every order of the events has ended; the thread must
    /// not go on, or what others do beside it would be seen only in runs that have this error first.
    fn wrong(&self, thread: ThreadId, access: Access) -> Option<String> {
        let next = EventId::new(thread, self.events(thread).len() as u32);
        let ended =
            |&free: &EventId| Addr(self.event(free).value).base() == access.addr.base() && self.before(free, next);
        let message = || "access to an object after its life has ended".to_owned();
        let wrong = self.world.check(access, &|id| state(&self.logs, id));
        wrong.or_else(|| self.frees.iter().any(ended).then(message))
    }

    /// Adds an event and answers the thread with `value`.
    pub(super) fn answer(&mut self, thread: ThreadId, event: Event, value: u64) -> EventId {
        let code = self.world.code;
        let rest = self.fresh(thread);
        let made = rest.state.made();
        rest.state.answer(code, value, event.pick.unwrap_or(0));
        rest.loc = NO_LOC;
        self.push(thread, Event { made, ..event })
    }

    /// The state of a thread, copied if the one there is needs to be kept.
    pub(super) fn fresh(&mut self, thread: ThreadId) -> &mut Rest {
        let (kept, born) = (self.kept, self.order.len() + 1);
        let rests = &mut self.logs[thread.index()].rests;
        let rest = rests.last().expect("the thread has been started");
        if rest.born <= kept {
            let copy = Rest { born, state: rest.state.clone(), loc: rest.loc };
            rests.push(copy);
        }
        rests.last_mut().expect("just pushed")
    }

    /// An operation that is an error: the thread stays there.
    fn fault(&mut self, thread: ThreadId, property: Property, message: String) -> EventId {
        self.fault_after(thread, property, message, None)
    }

    /// An operation that is no error, and behind which the thread cannot be followed any further.
    fn give_up(&mut self, thread: ThreadId, why: &str) -> EventId {
        let rest = self.fresh(thread);
        rest.state.fail(None, why.to_owned());
        let event = Event::new(Kind::Fault, rest.state.pc());
        self.push(thread, event)
    }

    /// An operation that is an error because another one came before; `value` says whether it could have come later.
    fn fault_after(
        &mut self,
        thread: ThreadId,
        property: Property,
        message: String,
        other: Option<EventId>,
    ) -> EventId {
        let next = EventId::new(thread, self.events(thread).len() as u32);
        let unordered = other.is_some_and(|other| !self.before(other, next));
        let rest = self.fresh(thread);
        rest.state.fail(property, message);
        let written = other.map_or(0, |other| (u64::from(other.thread.0) << 32 | u64::from(other.index)) + 1);
        let event = Event { value: u64::from(unordered), written, ..Event::new(Kind::Fault, rest.state.pc()) };
        self.push(thread, event)
    }

    fn report(&self, thread: ThreadId, at: usize, bugs: &mut Vec<Bug>) {
        if let Some(Status::Failed(failure)) = self.state(thread).map(Thread::status) {
            bugs.push(Bug {
                property: failure.property,
                message: failure.message.clone(),
                pc: failure.pc,
                at,
                either: false,
            });
        }
    }

    fn spawn(&mut self, thread: ThreadId, event: Event) -> Result<EventId, Stop> {
        let state = self.state(thread).expect("it is running");
        let Some(child) = state.next_child(self.world.code) else {
            return Ok(self.give_up(thread, raddle_trace::threads::TOO_MANY));
        };
        let first = state.spawned(self.world.code, child);
        let born = self.order.len() + 1;
        let id = self.answer(thread, Event { value: u64::from(child.0), ..event }, u64::from(child.0));
        let (here, count) = ((thread, id.index), id.index + 1);
        let past = self.joined_past(|log| &log.past, here, &[(thread, count)]);
        let certain = self.joined_past(|log| &log.certain, here, &[(thread, count)]);
        if self.logs.len() <= child.index() {
            self.logs.resize_with(child.index() + 1, Log::default);
        }
        self.logs[child.index()] = Log {
            rests: vec![Rest { born, state: first, loc: NO_LOC }],
            past: vec![(0, past)],
            certain: vec![(0, certain)],
            ..Log::default()
        };
        Ok(id)
    }

    /// Waits for the end of a thread; `None` if it has not ended. Two threads that wait for the same one are in error,
    /// whoever is first.
    fn join(&mut self, thread: ThreadId, child: ThreadId, event: Event) -> Result<Option<EventId>, Stop> {
        let Some(log) = self.logs.get(child.index()).filter(|log| !log.rests.is_empty()) else {
            let message = format!("join of {}, which was never started", self.world.code.name(child));
            return Ok(Some(self.fault(thread, Property::Lock, message)));
        };
        if self.world.code.guesses_handles() && !self.is_started_before(child, thread) {
            let message = "this engine does not know whether the thread that this waits for has been started; use --engine optimal";
            return Err(Refusal::at(self.world.code, event.pc, message).into());
        }
        if let Some(other) = log.joined {
            let message = format!("{} is joined twice", self.world.code.name(child));
            return Ok(Some(self.fault_after(thread, Property::Lock, message, Some(other))));
        }
        // After the end of the program nobody goes on.
        let Some(&Status::Finished { result, exit: false }) = self.state(child).map(Thread::status) else {
            return Ok(None);
        };
        let count = log.events.len() as u32;
        let at = self.logs[thread.index()].events.len() as u32;
        let past = self.joined_past(|log| &log.past, (thread, at), &[(child, count)]);
        let certain = self.joined_past(|log| &log.certain, (thread, at), &[(child, count)]);
        let id = self.answer(thread, Event { value: u64::from(child.0), ..event }, result);
        self.logs[thread.index()].past.push((at, past));
        self.logs[thread.index()].certain.push((at, certain));
        self.logs[child.index()].joined = Some(id);
        Ok(Some(id))
    }

    /// Whether a thread is started before the next event of another one in every sequence in which all read as they should.
    fn is_started_before(&self, child: ThreadId, thread: ThreadId) -> bool {
        let Some(start) = self.start(child) else { return true };
        let next = self.events(thread).len() as u32;
        let past = at(&self.logs[thread.index()].certain, next);
        start.thread == thread || past.get(start.thread.index()).is_some_and(|&count| count > start.index)
    }

    fn free(&mut self, thread: ThreadId, addr: Addr, scope: bool, event: Event) -> EventId {
        let wrong = self.world.check_free(addr, scope, &|id| state(&self.logs, id));
        let other = self.frees.iter().copied().find(|&free| Addr(self.event(free).value).base() == addr.base());
        if other.is_some() {
            let message = "the object's life has ended before".into();
            return self.fault_after(thread, Property::Memory, message, other);
        }
        match wrong {
            Some(message) => self.fault(thread, Property::Memory, message),
            None => self.answer(thread, Event { value: addr.0, ..event }, 0),
        }
    }

    /// Whether a thread is about to choose, and among how many.
    pub(crate) fn choice(&self, thread: ThreadId) -> Option<u32> {
        match self.state(thread)?.status() {
            Status::Ready(Visible::Choose { count }) => Some(*count),
            _ => self.chooses_to_be_last(thread).then_some(2),
        }
    }

    /// The read or update that a thread is about to do.
    pub(crate) fn pending(&self, thread: ThreadId) -> Option<Pending> {
        let rest = self.logs[thread.index()].rests.last()?;
        let loc = rest.loc;
        if self.meeting(thread).is_some() {
            return None;
        }
        match *rest.state.status() {
            Status::Ready(Visible::Load { wait, .. }) => {
                Some(Pending { thread, loc, update: false, wait, mutex: false })
            }
            Status::Ready(Visible::Update { wait, mutex, .. }) => {
                Some(Pending { thread, loc, update: true, wait, mutex })
            }
            _ => None,
        }
    }

    /// What the pending read of a thread would do with this value.
    pub(crate) fn reaction(&self, thread: ThreadId, value: u64) -> Reaction {
        self.state(thread).expect("it has a pending read").reaction(self.world.code, value)
    }

    /// Whether the pending read of a thread would lead into an assumption that fails, if it read from this write of the location.
    pub(crate) fn is_assuming(&mut self, thread: ThreadId, loc: LocId, source: EventId) -> bool {
        let Initial::Value(value) = self.value(loc, source) else { return false };
        self.state(thread).expect("it has a pending read").is_assuming(self.world.code, value)
    }

    /// Does the pending read of a thread: it finds `value`, which one of the `sources` wrote.
    pub(crate) fn read(&mut self, thread: ThreadId, value: u64, pick: Option<u32>, sources: &[EventId]) -> EventId {
        let rest = self.logs[thread.index()].rests.last().expect("it has a pending read");
        let (loc, pc) = (rest.loc, rest.state.pc());
        let Status::Ready(visible) = *rest.state.status() else { unreachable!("it has a pending read") };
        let (success, failure, waited) = match visible {
            Visible::Load { order, wait, .. } => (order, order, wait),
            Visible::Update { order, failure, wait, .. } => (order, failure, wait),
            _ => unreachable!("it has a pending read"),
        };
        let written = match (visible, rest.state.reaction(self.world.code, value)) {
            (Visible::Load { .. }, _) | (_, Reaction::Read) => None,
            (_, Reaction::Write(new)) => Some(new),
            (_, Reaction::Pick(_)) => Some(rest.state.picked(value, pick.unwrap_or(0))),
            (_, Reaction::Block) => unreachable!("a value it waits to change is no answer"),
        };
        let (kind, order) = if written.is_some() { (Kind::Update, success) } else { (Kind::Read, failure) };
        if let &[source] = sources
            && source != INITIAL
        {
            let index = self.events(thread).len() as u32;
            let past = self.joined_past(|log| &log.certain, (thread, index), &[(source.thread, source.index + 1)]);
            self.logs[thread.index()].certain.push((index, past));
        }
        let sources = self.list(sources);
        let (written, order) = (written.unwrap_or(0), Some(order));
        let event = Event { loc, value, written, pick, sources, order, waited, ..Event::new(kind, pc) };
        self.answer(thread, event, value)
    }

    /// Does the pending read of a thread, of what was never written.
    pub(crate) fn read_uninitialised(&mut self, thread: ThreadId, sources: &[EventId]) -> EventId {
        let loc = self.pending(thread).expect("it has a pending read").loc;
        let addr = self.world.access(loc).addr;
        let name = self.world.code.describe(addr, &|id| state(&self.logs, id));
        let sources = self.list(sources);
        let rest = self.fresh(thread);
        rest.state.fail(Property::Memory, format!("read of {name}, which was never written"));
        let pc = rest.state.pc();
        self.push(thread, Event { loc, sources, ..Event::new(Kind::Read, pc) })
    }

    /// Takes an alternative of the pending choice.
    pub(crate) fn choose(&mut self, thread: ThreadId, pick: u32) -> EventId {
        if self.meeting(thread).is_some() {
            return self.leave_as(thread, pick > 0);
        }
        let pc = self.state(thread).expect("it has a choice").pc();
        let event = Event { pick: Some(pick), ..Event::new(Kind::Choose, pc) };
        self.answer(thread, event, u64::from(pick))
    }

    /// What went wrong in a thread by its last event, which is the last of a sequence of this length.
    pub(crate) fn failed(&self, thread: ThreadId, at: usize, bugs: &mut Vec<Bug>) {
        self.report(thread, at, bugs);
    }

    pub(super) fn list(&mut self, sources: &[EventId]) -> (u32, u32) {
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(sources);
        (start, self.arena.len() as u32)
    }
}
