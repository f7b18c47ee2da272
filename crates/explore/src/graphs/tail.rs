//! The end of a first thread that waits for the others.
//!
//! Mostly `main` starts threads, waits for each of them to end, and ends. Nothing visible comes behind these joins, and that they happen is no choice: they order
//! nothing that is left to be ordered. As events they would be added and taken back again with every execution, and may be half of it. So they are none:
//! the thread rests before the first of them for good, and whether it comes through is seen when everybody else has come to the end.
//!
//! That is so if nobody but the first thread joins, it has not joined before, it joins threads that it has started, each of them once, what they return makes no difference to what it does,
//! and then it ends. A join behind which something follows is an event as ever.

use super::context::Context;
use super::graph::Graph;
use super::models::Model;
use super::snapshot::Node;
use raddle_machine::{Automaton, Status, Thread, Visible};
use raddle_trace::ThreadId;
use std::sync::Arc;

/// What is left to do for a thread that only waits for others and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// For whom it waits, one after the other, and at which instruction.
    pub(super) joins: Vec<(ThreadId, u32)>,
    /// Whether the program ends with it.
    pub(super) exit: bool,
}

/// The tail that begins where a thread rests now, if one does. It came there from `parent`; that step is no event of the graph yet.
pub(super) fn of<M: Model>(
    context: &Context<'_>,
    graph: &Graph<M>,
    parent: Option<&Node>,
    state: &Thread,
) -> Option<Arc<Tail>> {
    if !context.tails || state.id() != ThreadId::MAIN || !is_before_join(state) {
        return None;
    }
    if !graph.joins.is_empty() || parent.is_some_and(|parent| is_before_join(&parent.state)) {
        return None;
    }
    let mut thread = state.clone();
    let mut joins: Vec<(ThreadId, u32)> = Vec::new();
    loop {
        match *thread.status() {
            Status::Ready(Visible::Join { thread: child }) => {
                let known = joins.iter().any(|&(other, _)| other == child);
                if known || child == ThreadId::MAIN || graph.state(child).is_none() {
                    return None;
                }
                joins.push((child, thread.pc()));
                let mut other = thread.clone();
                for (thread, result) in [(&mut thread, 0), (&mut other, u64::MAX)] {
                    thread.answer(context.code, result, 0);
                    if matches!(thread.status(), Status::Ready(_)) {
                        thread.forget_registers(context.code, context.shared.live());
                    }
                }
                let same = match thread.status() {
                    Status::Ready(_) => thread.is_twin(&other),
                    status => status == other.status(),
                };
                if !same {
                    return None;
                }
            }
            Status::Finished { exit, .. } => return Some(Arc::new(Tail { joins, exit })),
            _ => return None,
        }
    }
}

fn is_before_join(state: &Thread) -> bool {
    matches!(state.status(), Status::Ready(Visible::Join { .. }))
}

impl<M: Model> Graph<M> {
    /// How many of the joins of a tail happen, and the instruction of the first that does not, if there is one.
    pub(super) fn joined(&self, tail: &Tail) -> (usize, Option<u32>) {
        let ends = |child: ThreadId| {
            matches!(self.state(child).map(Thread::status), Some(Status::Finished { exit: false, .. }))
        };
        let count = tail.joins.iter().take_while(|&&(child, _)| ends(child)).count();
        (count, tail.joins.get(count).map(|&(_, pc)| pc))
    }

    /// How many joins happen that are no events.
    pub(super) fn joins_behind(&self, tip: &Node) -> usize {
        tip.tail.as_ref().map_or(0, |tail| self.joined(tail).0)
    }
}
