//! Joins that several threads compete for.
//!
//! Only the first join of a thread succeeds; another one is an error. As long as no two joins of one thread are unordered, a
//! join has one outcome. When the search meets two that are, it starts over in a mode in which each join branches: it is
//! *the first*, or it comes *too late*, whatever the others say. Ends at which not exactly one of them was the first are no
//! executions and dropped; to drop them earlier would lose revisits. One that comes too late stops its thread and has no
//! effect, so it can always be put last, and no order has to be kept for it.
//!
//! A join of a thread that has not been started is an error. What comes before a join by program order and reads-from is a run on its
//! own; if the start is not part of it, there is a run with that error, and it is what is reported. Other runs go on behind such a join,
//! so that nothing is missed only if the error is asked for and the first one is enough. Where handles are passed on, the start is always part of it.

use super::context::Context;
use super::event::{Event, Flags, Kind, Slot};
use super::graph::Graph;
use super::models::Model;
use super::step::{Bug, Halt, Stepper};
use raddle_engine::{Refusal, StopReason};
use raddle_machine::{Automaton, Status, Thread};
use raddle_trace::{BitSet, Property, ThreadId};
use rustc_hash::FxHashSet;

const LATE: &str = "join of a thread that cannot be joined";
const EARLY: &str = "join of a thread that was never started";

impl<M: Model> Stepper<'_, '_, M> {
    /// Joins a thread, if nobody has done so.
    pub(super) fn join(&mut self, event: Event) {
        let thread = event.thread;
        if may_come_first(self.context, self.graph, thread, ThreadId(event.value as u32)) {
            return self.join_early(event);
        }
        let finished = match self.graph.state(ThreadId(event.value as u32)).map(Thread::status) {
            Some(Status::Finished { result, .. }) => Some(*result),
            _ => None,
        };
        let contested = self.context.shared.purpose.contested_joins;
        let joined = self.graph.joins(event.value).next().filter(|_| !contested);
        if let (Some(joined), Some(_)) = (joined, finished)
            && !self.graph.prefix_of_next(thread).contains(joined as usize)
        {
            *self.error = Some(Halt::ContestedJoin);
        }
        match finished {
            Some(result) if joined.is_none() => {
                let node = self.answered(thread, result, 0);
                self.add(event, node, 0, None);
            }
            _ => {
                let node = self.failed(thread, Property::Lock, LATE);
                self.fault(event, node, joined);
            }
        }
    }

    /// Finds that the thread has not been started, in some order.
    fn join_early(&mut self, event: Event) {
        let code = self.context.code;
        if code.has_atomic_blocks() || code.has_mailboxes() {
            let message = "a thread that may not have been started is waited for, in a program with atomic blocks or mailboxes; `--engine explicit` takes this";
            *self.error = Some(Halt::Fault(Refusal::at(code, event.pc, message).into()));
        }
        let node = self.failed(event.thread, Property::Lock, EARLY);
        self.fault(event, node, None);
        let options = self.context.shared.options;
        if (options.all || !options.properties.contains(Property::Lock)) && self.error.is_none() {
            let why = "a thread that may not have been started is waited for, and what comes behind that was not looked at; `--engine explicit` looks".to_owned();
            *self.error = Some(Halt::Stop(StopReason::GaveUp { why, at: code.place(event.pc) }));
        }
    }

    /// Finds that somebody else has joined the thread.
    pub(super) fn join_late(&mut self, event: Event) {
        let node = self.failed(event.thread, Property::Lock, LATE);
        let bugs = self.bugs.len();
        let first = self.graph.joins(event.value).next();
        self.fault(Event { flags: event.flags.with(Flags::MARKED), ..event }, node, first);
        if first.is_none() {
            // It is an error only if somebody is the first after all.
            self.bugs.truncate(bugs);
        }
    }
}

/// Whether a thread has been started that the next operation of another one, which waits for it, may also come before.
pub(super) fn may_come_first<M: Model>(
    context: &Context<'_>,
    graph: &Graph<M>,
    thread: ThreadId,
    child: ThreadId,
) -> bool {
    context.code.guesses_handles()
        && graph
            .threads
            .get(child.index())
            .and_then(|log| log.spawn)
            .is_some_and(|spawn| !graph.prefix_of_next(thread).contains(spawn as usize))
}

/// Whether the bug is a join that comes before the start of the thread.
pub(super) fn is_early<M: Model>(context: &Context<'_>, graph: &Graph<M>, bug: &Bug) -> bool {
    let Some(target) = bug.target.filter(|_| context.code.guesses_handles() && bug.forced.is_none()) else {
        return false;
    };
    let event = graph.event(target);
    let tip = graph.tip(event.thread).map(|tip| tip.state.status());
    event.kind == Kind::Fault && matches!(tip, Some(Status::Failed(failure)) if failure.message == EARLY)
}

/// The joins that came too late; `None` if the end is no execution because some thread has not exactly one first join.
pub(super) fn late_joins<M: Model>(graph: &Graph<M>) -> Option<Vec<Bug>> {
    let all = graph.order.iter().map(|&slot| slot as usize).collect();
    if !has_one_winner(graph, &all) {
        return None;
    }
    let late = graph.order.iter().copied().filter(|&slot| graph.is_late_join(slot));
    late.map(|slot| {
        let event = graph.event(slot);
        let first = graph.joins(event.value).next()?;
        Some(Bug {
            property: Property::Lock,
            pc: event.pc,
            target: Some(slot),
            attempt: Some(event.thread),
            forced: Some((first, slot)),
            schedule: None,
        })
    })
    .collect()
}

/// Whether no two of the events are first joins of one thread.
pub(super) fn has_one_winner<M: Model>(graph: &Graph<M>, events: &BitSet) -> bool {
    let mut joined = FxHashSet::default();
    let joins = events.iter().map(|slot| graph.event(slot as Slot)).filter(|event| event.kind == Kind::Join);
    joins.into_iter().all(|event| joined.insert(event.value))
}

impl<M: Model> Graph<M> {
    /// The joins of a thread that were the first.
    fn joins(&self, child: u64) -> impl Iterator<Item = Slot> + '_ {
        self.joins.iter().copied().filter(move |&slot| self.event(slot).value == child)
    }

    fn is_late_join(&self, slot: Slot) -> bool {
        let event = self.event(slot);
        event.kind == Kind::Fault
            && event.flags.contains(Flags::MARKED)
            && self.tip(event.thread).is_some_and(
                |tip| matches!(tip.state.status(), Status::Failed(failure) if failure.property == Some(Property::Lock)),
            )
    }
}
