//! What a pending read can read from, doing it, and going on to the end of an execution.

use super::findings::Explorer;
use crate::sequence::{Extended, Frontier, INITIAL, Initial, Kind, LocId, Pending, Stop};
use raddle_machine::{Automaton, Reaction};
use raddle_trace::{EventId, ThreadId};

/// What a read is annotated with: its source, and what it picks if there are alternatives. Choices have no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Answer {
    pub(super) source: EventId,
    pub(super) pick: Option<u32>,
}

impl Answer {
    /// An alternative of a choice.
    pub(super) fn alternative(pick: u32) -> Answer {
        Answer { source: INITIAL, pick: Some(pick) }
    }
}

/// What follows if a pending read reads from this write: the answers, and whether it writes. None if it would wait.
pub(super) fn answers(frontier: &mut Frontier<'_>, pending: Pending, source: EventId) -> (Vec<Answer>, bool) {
    let Initial::Value(value) = frontier.found(pending.thread, pending.loc, source) else {
        return (vec![Answer { source, pick: None }], false);
    };
    let reacts = pending.update || pending.wait;
    let reaction = if reacts { frontier.reaction(pending.thread, value) } else { Reaction::Read };
    let writes = pending.update && matches!(reaction, Reaction::Write(_) | Reaction::Pick(_));
    let answers = match reaction {
        Reaction::Block => Vec::new(),
        Reaction::Pick(count) => (0..count).map(|pick| Answer { source, pick: Some(pick) }).collect(),
        Reaction::Read | Reaction::Write(_) => vec![Answer { source, pick: None }],
    };
    (answers, writes)
}

/// Does the pending read or choice of a thread.
pub(super) fn observe(frontier: &mut Frontier<'_>, thread: ThreadId, answer: Answer) -> EventId {
    let Some(pending) = frontier.pending(thread) else {
        return frontier.choose(thread, answer.pick.unwrap_or(0));
    };
    match frontier.found(pending.thread, pending.loc, answer.source) {
        Initial::Value(value) => frontier.read(thread, value, answer.pick, &[answer.source]),
        Initial::Uninitialised => frontier.read_uninitialised(thread, &[answer.source]),
    }
}

/// The answer that an event has got, if it is a read or a choice.
pub(super) fn answer(frontier: &Frontier<'_>, id: EventId) -> Option<Answer> {
    let event = frontier.event(id);
    match event.kind {
        Kind::Choose => event.pick.map(Answer::alternative),
        _ => super::basis::source(frontier, id).map(|source| Answer { source, pick: event.pick }),
    }
}

/// The write that is in memory at the end of a trace.
pub(super) fn in_memory(frontier: &Frontier<'_>, trace: &[EventId], loc: LocId) -> EventId {
    let writes = |&&id: &&EventId| frontier.event(id).writes() && frontier.event(id).loc == loc;
    trace.iter().rev().find(writes).copied().unwrap_or(INITIAL)
}

/// Runs all threads to their ends: every read reads what is in memory, every choice takes its first alternative. With bursts,
/// reads that wait are refused.
pub(super) fn to_the_end(explorer: &mut Explorer<'_>, trace: &mut Vec<EventId>) -> Result<Extended, Stop> {
    loop {
        let Explorer { depth, frontier, bugs, .. } = explorer;
        if frontier.extend(trace, bugs, *depth)? == Extended::TooLong || trace.len() > *depth {
            return Ok(Extended::TooLong);
        }
        let threads = explorer.threads();
        let Explorer { settings, frontier, bugs, .. } = explorer;
        let mut next = None;
        for thread in threads {
            if let Some(pending) = frontier.pending(thread) {
                if settings.burst && pending.wait && !pending.mutex {
                    let pc = frontier.state(thread).expect("it has a pending read").pc();
                    return Err(explorer.waits(pc));
                }
                let source = in_memory(frontier, trace, pending.loc);
                next = next.or(answers(frontier, pending, source).0.first().map(|&answer| (thread, answer)));
            } else if frontier.choice(thread).is_some() {
                next = next.or(Some((thread, Answer::alternative(0))));
            }
        }
        let Some((thread, answer)) = next else { return Ok(Extended::Done) };
        trace.push(observe(frontier, thread, answer));
        frontier.failed(thread, trace.len(), bugs);
    }
}
