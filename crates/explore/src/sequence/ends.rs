//! The ends of executions.
//!
//! Where no thread has anything left to do but to wait, some sequence of the events may be a whole execution: one in which
//! memory ends up with what everybody waits to change. The sequence at hand may do, or another one: that is an instance
//! with one read at the end for each thread that waits. A thread whose turn of a loop had no effect waits as well: nothing
//! that the turn read may have been overwritten since.
//!
//! A node at which all wait is such an end beside the children that it has.

use super::event::{INITIAL, LocId};
use super::frontier::Frontier;
use super::report::End;
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
        let place = |of: EventId| sequence.iter().position(|&id| id == of);
        self.lasts.iter().all(|last| last.sources.contains(&in_memory(frontier, sequence, last.loc)))
            && self.orders.iter().all(|&(write, read)| place(write) < place(read))
    }
}

/// The write that is in memory at the end of a sequence.
pub(crate) fn in_memory(frontier: &Frontier<'_>, sequence: &[EventId], loc: LocId) -> EventId {
    let writes = |&&id: &&EventId| frontier.event(id).writes() && frontier.event(id).loc == loc;
    sequence.iter().rev().find(writes).copied().unwrap_or(INITIAL)
}

/// The end that this may be, and what has to hold then; `None` if some thread can go on in any case.
pub(crate) fn end(frontier: &mut Frontier<'_>) -> Option<(End, Wanted)> {
    let mut end = End::default();
    let mut wanted = Wanted::default();
    for thread in frontier.ids() {
        let Some(state) = frontier.state(thread) else { continue };
        let pc = state.pc();
        match *state.status() {
            Status::Finished { exit, .. } => end.exited |= exit,
            Status::Failed(_) => end.failed = true,
            Status::Blocked(Blocked::Assume) => end.assumed = true,
            Status::Blocked(Blocked::LoopBound) => end.bounded = Some(pc),
            Status::Blocked(Blocked::Spin) => {
                end.waiting = end.waiting.or(Some(pc));
                let turn = frontier.event_of_operation(thread, state.since())..frontier.events(thread).len() as u32;
                for read in turn.map(|index| EventId::new(thread, index)) {
                    let event = frontier.event(read);
                    let writes = if event.reads() { frontier.writes(event.loc) } else { &[] };
                    wanted
                        .orders
                        .extend(writes.iter().filter(|write| write.thread != thread).map(|&write| (write, read)));
                }
            }
            Status::Ready(_) => {
                end.assumed |= state.is_assuming(frontier.world.code);
                end.waiting = end.waiting.or(Some(pc));
                if let Some(pending) = frontier.pending(thread) {
                    if !pending.wait {
                        return None;
                    }
                    let sources = blocking(frontier, thread, pending.loc);
                    wanted.lasts.push(Last { loc: pending.loc, sources });
                }
            }
        }
    }
    Some((end, wanted))
}

/// The writes of a location that the pending read of a thread would wait to change, if they are not overwritten for certain.
fn blocking(frontier: &mut Frontier<'_>, thread: ThreadId, loc: LocId) -> Vec<EventId> {
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

/// A sequence of the events after which memory is as everybody waits for it to change.
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
