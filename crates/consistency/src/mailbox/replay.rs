//! What a trace means: the machine that runs messages from mailboxes, along a schedule.
//!
//! This is the judge of every answer "consistent": it knows nothing of orders and constraints, only of handlers, mailboxes and the last write of each location.

use super::trace::{Kind, Mailbox, Rules, Trace};
use std::collections::VecDeque;
use thiserror::Error;

/// Why a schedule is no run of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotARun {
    /// The event cannot happen there.
    #[error("event {0} cannot happen at its place in the schedule")]
    Impossible(usize),
    /// Not every event happens, or one happens twice.
    #[error("the schedule does not have every event once")]
    Incomplete,
}

/// Runs the schedule.
///
/// # Errors
/// If it is no run of the trace.
pub fn replay(trace: &Trace, rules: &Rules, schedule: &[usize]) -> Result<(), NotARun> {
    let mut machine = Machine::new(trace, rules);
    for &event in schedule {
        if !machine.step(event) {
            return Err(NotARun::Impossible(event));
        }
    }
    if schedule.len() == trace.events.len() { Ok(()) } else { Err(NotARun::Incomplete) }
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Machine<'t> {
    trace: ByAddress<'t>,
    /// What each handler is running: a message, and how many of its events have happened.
    running: Vec<Option<(usize, usize)>>,
    /// Messages that are there from the beginning and were not taken yet, and those that were posted, in order.
    initial: Vec<Vec<usize>>,
    posted: Vec<VecDeque<usize>>,
    /// How many writes of each location have happened.
    written: Vec<usize>,
}

/// The trace and its rules; they are the same throughout a run.
#[derive(Clone, Copy, Debug)]
struct ByAddress<'t>(&'t Trace, &'t Rules);

impl PartialEq for ByAddress<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) && std::ptr::eq(self.1, other.1)
    }
}

impl Eq for ByAddress<'_> {}

impl std::hash::Hash for ByAddress<'_> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl<'t> Machine<'t> {
    pub(super) fn new(trace: &'t Trace, rules: &'t Rules) -> Self {
        let mut initial = vec![Vec::new(); trace.handlers];
        for (number, message) in trace.messages.iter().enumerate().filter(|(_, message)| message.post.is_none()) {
            initial[message.handler].push(number);
        }
        Machine {
            trace: ByAddress(trace, rules),
            running: vec![None; trace.handlers],
            initial,
            posted: vec![VecDeque::new(); trace.handlers],
            written: vec![0; trace.coherence.len()],
        }
    }

    /// Does the event, if it can happen now.
    fn step(&mut self, event: usize) -> bool {
        self.moves(event, true)
    }

    /// Does the event, if the mailboxes let it happen now, whatever is read and written.
    pub(super) fn step_without_memory(&mut self, event: usize) -> bool {
        self.moves(event, false)
    }

    fn moves(&mut self, event: usize, memory: bool) -> bool {
        let ByAddress(trace, _) = self.trace;
        let Some(&happening) = trace.events.get(event) else { return false };
        let message = &trace.messages[happening.message];
        let handler = message.handler;
        let possible = match happening.kind {
            Kind::Get => {
                let taken = self.running[handler].is_none() && self.take(handler, happening.message);
                if taken {
                    self.running[handler] = Some((happening.message, 0));
                }
                taken
            }
            _ => self.running[handler].is_some_and(|(running, _)| running == happening.message),
        };
        let Some((_, at)) = self.running[handler].filter(|_| possible) else { return false };
        if message.events.get(at) != Some(&event) || !self.effect(happening.kind, event, memory) {
            return false;
        }
        let is_over = at + 1 == message.events.len() && !message.open;
        self.running[handler] = if is_over { None } else { Some((happening.message, at + 1)) };
        true
    }

    /// Takes a message out of the mailbox, if the mailbox hands it out now.
    fn take(&mut self, handler: usize, message: usize) -> bool {
        let ByAddress(_, rules) = self.trace;
        let (initial, posted) = (&mut self.initial[handler], &mut self.posted[handler]);
        // Messages that are there from the beginning are in any order, below or before the others.
        let from_initial = initial.iter().position(|&other| other == message);
        match (rules.mailboxes[handler], from_initial) {
            (Mailbox::Stack, Some(_)) if !posted.is_empty() => false,
            (_, Some(at)) => {
                initial.remove(at);
                true
            }
            (Mailbox::Multiset, None) => {
                let at = posted.iter().position(|&other| other == message);
                at.and_then(|at| posted.remove(at)).is_some()
            }
            (Mailbox::Queue, None) => {
                initial.is_empty() && posted.front() == Some(&message) && posted.pop_front().is_some()
            }
            (Mailbox::Stack, None) => posted.back() == Some(&message) && posted.pop_back().is_some(),
        }
    }

    /// What an event does besides being the next of its message, if it can.
    fn effect(&mut self, kind: Kind, event: usize, memory: bool) -> bool {
        let ByAddress(trace, rules) = self.trace;
        match kind {
            Kind::Get => true,
            Kind::Post(posted) => {
                let message = &trace.messages[posted];
                if rules.strict || !message.events.is_empty() {
                    self.posted[message.handler].push_back(posted);
                }
                true
            }
            Kind::Read { .. } | Kind::Write { .. } if !memory => true,
            Kind::Write { location } => {
                let next = trace.coherence[location].get(self.written[location]) == Some(&event);
                self.written[location] += usize::from(next);
                next
            }
            Kind::Read { location, from } => {
                let last = self.written.get(location).and_then(|count| count.checked_sub(1));
                last.map(|last| trace.coherence[location][last]) == from
            }
        }
    }
}
