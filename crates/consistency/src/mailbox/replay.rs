//! What a trace means: the machine that runs messages from mailboxes, along a schedule.
//!
//! This is the judge of every answer "consistent": it knows nothing of orders and constraints, only of handlers, mailboxes and the last write of each location.

use super::trace::{Kind, Mailbox, Message, Rules, Trace};
use rustc_hash::FxHashMap;
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
#[derive(Clone, Debug)]
pub(super) struct Machine<'t> {
    trace: &'t Trace,
    rules: &'t Rules,
    /// What each handler is running: a message, and how many of its events have happened.
    running: Vec<Option<(usize, usize)>>,
    /// Messages that are there from the beginning and were not taken yet, and those that were posted, in order.
    initial: Vec<Vec<usize>>,
    posted: Vec<VecDeque<usize>>,
    /// How many writes of each location have happened, and which was the last.
    written: Vec<usize>,
    last: Vec<Option<usize>>,
    /// Locations whose writes may come in any order.
    is_unordered: Vec<bool>,
    /// What reads of unknown sources may read.
    may: FxHashMap<usize, &'t [Option<usize>]>,
}

/// How much of memory is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    /// All of it.
    All,
    /// What is not known: the rest is in the order.
    Unknown,
}

impl<'t> Machine<'t> {
    pub(super) fn new(trace: &'t Trace, rules: &'t Rules) -> Self {
        let mut initial = vec![Vec::new(); trace.handlers];
        // One that nobody posts and nobody runs is not there (yet).
        let is_there = |message: &Message| message.post.is_none() && !message.events.is_empty();
        for (number, message) in trace.messages.iter().enumerate().filter(|(_, message)| is_there(message)) {
            initial[message.handler].push(number);
        }
        let mut is_unordered = vec![false; trace.coherence.len()];
        trace.unknown.orders.iter().for_each(|&location| is_unordered[location] = true);
        Machine {
            trace,
            rules,
            running: vec![None; trace.handlers],
            initial,
            posted: vec![VecDeque::new(); trace.handlers],
            written: vec![0; trace.coherence.len()],
            last: vec![None; trace.coherence.len()],
            is_unordered,
            may: trace.unknown.reads.iter().map(|(read, sources)| (*read, sources.as_slice())).collect(),
        }
    }

    /// Does the event, if it can happen now.
    pub(super) fn step(&mut self, event: usize) -> bool {
        self.moves(event, Looks::All)
    }

    /// Does the event, if the mailboxes let it happen now, and memory where the order of writes or what is read is not known.
    pub(super) fn step_beside_the_order(&mut self, event: usize) -> bool {
        self.moves(event, Looks::Unknown)
    }

    /// The write that was the last of a location whose writes have no known order.
    pub(super) fn last_unordered(&self, location: usize) -> Option<usize> {
        self.is_unordered.get(location).filter(|unordered| **unordered).and(self.last[location])
    }

    fn moves(&mut self, event: usize, memory: Looks) -> bool {
        let trace = self.trace;
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
        let rules = self.rules;
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
    fn effect(&mut self, kind: Kind, event: usize, memory: Looks) -> bool {
        let (trace, rules) = (self.trace, self.rules);
        match kind {
            Kind::Get => true,
            Kind::Post(posted) => {
                let message = &trace.messages[posted];
                if rules.strict || !message.events.is_empty() {
                    self.posted[message.handler].push_back(posted);
                }
                true
            }
            Kind::Write { location } => {
                let is_next = self.is_unordered[location]
                    || memory == Looks::Unknown
                    || trace.coherence[location].get(self.written[location]) == Some(&event);
                if is_next {
                    self.written[location] += 1;
                    self.last[location] = Some(event);
                }
                is_next
            }
            Kind::Read { location, from } => {
                let last = self.last.get(location).copied().flatten();
                match self.may.get(&event) {
                    Some(sources) => sources.contains(&last),
                    None if memory == Looks::All || self.is_unordered.get(location) == Some(&true) => last == from,
                    None => true,
                }
            }
        }
    }
}
