//! The ends of executions.
//!
//! Where no thread has anything left to do but to wait, some sequence of the events may be a whole execution: one in which
//! memory ends up with what everybody waits to change. The sequence at hand may do, or another one: that is an instance
//! with one read at the end for each thread that waits. A thread whose turn of a loop had no effect waits as well: nothing
//! that the turn read may have been overwritten since.
//!
//! A node at which all wait is such an end beside the children that it has. A thread that waits for a value that passes an assumption is stopped by
//! that assumption at the end or waits for somebody else, whichever memory ends up with. The two are different ends: the one may be a deadlock.
//! A thread that is stopped stands before the loads that led it there, where nobody can tell: nothing that they read may have been overwritten since.

use super::event::{Event, INITIAL, Kind, LocId};
use super::frontier::Frontier;
use super::report::End;
use super::run::Pending;
use super::shell::Shell;
use super::witness::{Last, Question};
use crate::world::Initial;
use raddle_consistency::Interrupted;
use raddle_machine::{Automaton, Blocked, Reaction, Status};
use raddle_trace::{EventId, ThreadId};

/// What a sequence of all events must be like to be a whole execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// What is in memory at the end.
    pub(crate) lasts: Vec<Last>,
    /// Writes that come before reads.
    pub(crate) orders: Vec<(EventId, EventId)>,
}

impl Wanted {
    /// Whether a sequence of all events is like that.
    pub(crate) fn holds_after(&self, frontier: &Frontier<'_>, sequence: &[EventId]) -> bool {
        // A thread that waits has read near the end.
        let is_before = |write: EventId, read: EventId| {
            sequence.iter().rev().find(|&&id| id == write || id == read).is_none_or(|&last| last == read)
        };
        self.lasts.iter().all(|last| last.sources.contains(&in_memory(frontier, sequence, last.loc)))
            && self.orders.iter().all(|&(write, read)| is_before(write, read))
    }
}

/// The orders in which nothing that the thread has read from this event on has been overwritten since.
fn current(frontier: &Frontier<'_>, thread: ThreadId, since: u32) -> Vec<(EventId, EventId)> {
    let reads = (since..frontier.events(thread).len() as u32).map(|index| EventId::new(thread, index));
    let orders = reads.flat_map(|read| {
        let event = frontier.event(read);
        let writes = if event.reads() { frontier.writes(event.loc) } else { &[] };
        writes.iter().filter(move |write| write.thread != thread).map(move |&write| (write, read))
    });
    orders.collect()
}

/// From which of its events on a thread that is stopped by an assumption has done nothing but load, if that may be forgotten.
fn stopped_since(frontier: &Frontier<'_>, thread: ThreadId) -> u32 {
    let (code, events) = (frontier.world.code, frontier.events(thread));
    let is_load = |event: &&Event| event.kind == Kind::Read && code.is_load(event.pc);
    let loads = if code.forgets_loads() { events.iter().rev().take_while(is_load).count() } else { 0 };
    (events.len() - loads) as u32
}

/// The write that is in memory at the end of a sequence.
pub(crate) fn in_memory(frontier: &Frontier<'_>, sequence: &[EventId], loc: LocId) -> EventId {
    let writes = |&&id: &&EventId| frontier.event(id).writes() && frontier.event(id).loc == loc;
    sequence.iter().rev().find(writes).copied().unwrap_or(INITIAL)
}

/// The ends that a node may be, and what has to hold in each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    end: End,
    wanted: Wanted,
    open: Vec<Open>,
    /// Which of them comes next, if there is one: a bit for each that is open.
    next: Option<u64>,
}

/// A thread of which it is open whether it is stopped by an assumption.
#[derive(Clone, Debug)]
struct Open {
    /// What memory ends up with is here among what is wanted.
    at: usize,
    waits: Vec<EventId>,
    stopped: Vec<EventId>,
    /// What has to hold beside if it is.
    orders: Vec<(EventId, EventId)>,
}

impl Ends {
    /// Wants memory to end up with one of the writes that the pending read of the thread waits to change.
    fn want(&mut self, frontier: &mut Frontier<'_>, pending: Pending, sources: Vec<EventId>) {
        let Pending { thread, loc, .. } = pending;
        let assumes = |&source: &EventId| frontier.is_assuming(thread, loc, source);
        let (stopped, waits): (Vec<EventId>, Vec<EventId>) = sources.iter().copied().partition(assumes);
        if !stopped.is_empty() {
            let orders = current(frontier, thread, stopped_since(frontier, thread));
            if waits.is_empty() {
                self.end.assumed = true;
                self.wanted.orders.extend(orders);
            } else {
                self.open.push(Open { at: self.wanted.lasts.len(), waits, stopped, orders });
            }
        }
        self.wanted.lasts.push(Last { loc, sources });
    }

    /// Whether there are any.
    pub(crate) fn exist(&self) -> bool {
        self.next.is_some()
    }

    /// The end that this is whatever the order of events, if it is.
    pub(crate) fn certain(&self) -> Option<End> {
        let Wanted { lasts, orders } = &self.wanted;
        (self.exist() && lasts.is_empty() && orders.is_empty()).then_some(self.end)
    }
}

impl Iterator for Ends {
    type Item = (End, Wanted);

    fn next(&mut self) -> Option<(End, Wanted)> {
        let which = self.next?;
        let count = 1u64.checked_shl(self.open.len() as u32);
        self.next = which.checked_add(1).filter(|&next| count.is_none_or(|count| next < count));
        let (mut end, mut wanted) = (self.end, self.wanted.clone());
        for (bit, Open { at, waits, stopped, orders }) in self.open.iter().enumerate() {
            let is_stopped = which >> bit & 1 == 1;
            if is_stopped {
                end.assumed = true;
                wanted.orders.extend(orders);
            }
            wanted.lasts[*at].sources.clone_from(if is_stopped { stopped } else { waits });
        }
        Some((end, wanted))
    }
}

/// What a pending read waits for.
pub(crate) enum Awaits {
    /// It may be done.
    Nothing,
    /// A mutex that is held, whatever comes before what.
    Release,
    /// That one of these writes is overwritten.
    Change(Vec<EventId>),
}

/// The ends that this may be; none if some thread can go on in any case.
pub(crate) fn ends(frontier: &mut Frontier<'_>) -> Ends {
    ends_by(frontier, |frontier, pending| match pending.wait {
        true => Awaits::Change(blocking(frontier, pending)),
        false => Awaits::Nothing,
    })
}

/// The ends that this may be, if pending reads wait for this.
pub(crate) fn ends_by(frontier: &mut Frontier<'_>, awaits: impl Fn(&mut Frontier<'_>, Pending) -> Awaits) -> Ends {
    let mut ends = Ends::default();
    for thread in frontier.ids() {
        let Some(state) = frontier.state(thread) else { continue };
        let pc = state.pc();
        match *state.status() {
            Status::Finished { exit, .. } => ends.end.exited |= exit,
            Status::Failed(_) => ends.end.failed = true,
            Status::Blocked(Blocked::Assume) => {
                ends.end.assumed = true;
                ends.wanted.orders.extend(current(frontier, thread, stopped_since(frontier, thread)));
            }
            Status::Blocked(Blocked::LoopBound) => ends.end.bounded = Some(pc),
            Status::Blocked(Blocked::Spin) => {
                ends.end.waiting = ends.end.waiting.or(Some(pc));
                let since = frontier.event_of_operation(thread, state.since());
                ends.wanted.orders.extend(current(frontier, thread, since));
            }
            Status::Ready(_) => {
                ends.end.waiting = ends.end.waiting.or(Some(pc));
                let Some(pending) = frontier.pending(thread) else { continue };
                match awaits(frontier, pending) {
                    Awaits::Nothing => return Ends::default(),
                    Awaits::Release => {}
                    Awaits::Change(sources) => ends.want(frontier, pending, sources),
                }
            }
        }
    }
    Ends { next: Some(0), ..ends }
}

/// The writes of a location that the pending read of a thread would wait to change, if they are not overwritten for certain.
pub(crate) fn blocking(frontier: &mut Frontier<'_>, pending: Pending) -> Vec<EventId> {
    let Pending { thread, loc, .. } = pending;
    let mut found = frontier.writes(loc).to_vec();
    if found.is_empty() {
        found.push(INITIAL);
    }
    let last = |found: &[EventId], at: usize| found[at + 1..].iter().all(|later| later.thread != found[at].thread);
    let lasts: Vec<EventId> = (0..found.len()).filter(|&at| last(&found, at)).map(|at| found[at]).collect();
    let blocks = |source: &EventId| match frontier.value(loc, *source) {
        Initial::Value(value) => frontier.reaction(thread, value) == Reaction::Block,
        // It would not wait but fail.
        Initial::Uninitialised => false,
    };
    lasts.into_iter().filter(blocks).collect()
}

/// A sequence of the events after which memory is as it is wanted.
pub(crate) fn ending(
    shell: &mut Shell<'_>,
    sequence: &[EventId],
    wanted: &Wanted,
) -> Result<Option<Vec<EventId>>, Interrupted> {
    if wanted.lasts.iter().any(|last| last.sources.is_empty()) {
        return Ok(None);
    }
    if wanted.holds_after(&shell.frontier, sequence) {
        return Ok(Some(sequence.to_vec()));
    }
    shell.find(sequence, Question::Order(&wanted.orders, &wanted.lasts))
}
