//! Ends of executions in which threads wait, where the order of writes is only a witness.
//!
//! A thread waits for ever if what it looked at last is the last write of the location. Whether that can be is a question for
//! another witness. Several unsuitable writes may take turns in being the last one: these are not different classes, since
//! a thread that waits has read nothing yet; of the graphs that differ in nothing else the one with the first such
//! writes, in canonical order, counts.

use super::branch::{Level, copy};
use super::context::{Context, Initial};
use super::event::{INIT, Kind, LocId, Slot};
use super::graph::{Graph, ancestor};
use super::realise::Question;
use super::snapshot::{Node, Stage};
use super::sources::{Sources, by_rank};
use raddle_machine::{Blocked, Reaction, Status, Visible};
use raddle_trace::BitSet;
use std::sync::Arc;

/// What is known of an end in which threads wait.
pub(super) enum Waiting {
    /// In the witness at hand they wait for ever.
    Shown,
    /// In this one they do.
    ShownBy(Box<Level>),
    /// Some had only not looked again, or the same end is counted elsewhere.
    Moot,
}

/// A thread that waits.
struct Waiter {
    /// Its state before it looked for the last time.
    node: Arc<Node>,
    /// What it has done since then: reads, perhaps fences between them.
    events: Vec<Slot>,
    /// The number of its operation then.
    since: u32,
}

/// Looks for a witness in which every thread that waits has looked at the last writes.
pub(super) fn waiting(context: &mut Context<'_>, graph: &Graph, pool: &mut Vec<Level>) -> Waiting {
    let waiters = graph.waiters();
    let looks = waiters.iter().flat_map(|waiter| &waiter.events).map(|&slot| graph.event(slot));
    let looks = looks.filter(|event| event.kind == Kind::Read);
    let mut last: Vec<(LocId, Slot)> = looks.map(|read| (read.loc, read.rf)).collect();
    last.sort_unstable();
    last.dedup();
    if last.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Waiting::Moot;
    }
    if is_counted_elsewhere(context, graph, &waiters, &last) {
        return Waiting::Moot;
    }
    if last.iter().all(|&(loc, source)| graph.location(loc).co.last().copied().unwrap_or(INIT) == source) {
        return Waiting::Shown;
    }
    let Some(edges) = graph.edges_to_last(&last, graph.present()) else { return Waiting::Moot };
    let question = Question { graph, events: graph.present(), read: None, edges: &edges };
    match context.realiser.realise(question) {
        None => Waiting::Moot,
        Some(sequence) => {
            let mut level = copy(graph, pool);
            level.graph.adopt(sequence.iter().copied());
            Waiting::ShownBy(Box::new(level))
        }
    }
}

/// Whether the threads would also wait with last writes that come earlier in canonical order.
fn is_counted_elsewhere(context: &mut Context<'_>, graph: &Graph, waiters: &[Waiter], last: &[(LocId, Slot)]) -> bool {
    let options: Vec<Sources> = last.iter().map(|&(loc, source)| graph.possible_ends(loc, source)).collect();
    let mut events = graph.present().clone();
    waiters.iter().flat_map(|waiter| &waiter.events).for_each(|&slot| events.remove(slot as usize));
    let mut at = vec![0; last.len()];
    loop {
        let choice = last.iter().zip(&options).zip(&at);
        let choice: Vec<(LocId, Slot)> = choice.map(|((&(loc, _), sources), &at)| (loc, sources[at])).collect();
        if choice == last {
            return false;
        }
        if waiters.iter().all(|waiter| waiter.waits(context, graph, &choice))
            && explained(context, graph, &events, &choice)
        {
            return true;
        }
        for digit in (0..at.len()).rev() {
            at[digit] += 1;
            if at[digit] < options[digit].len() {
                break;
            }
            at[digit] = 0;
        }
    }
}

impl Waiter {
    /// Whether it would find nothing but reasons to wait, were these the last writes.
    fn waits(&self, context: &mut Context<'_>, graph: &Graph, last: &[(LocId, Slot)]) -> bool {
        let mut state = (*self.node.state).clone();
        for _ in 0..=self.events.len() {
            match *state.status() {
                Status::Blocked(Blocked::Spin { since }) => return since == self.since,
                Status::Ready(Visible::Load { access, .. } | Visible::Update { access, .. }) => {
                    let Ok(loc) = context.loc(access, state.pc()) else { return false };
                    let Some(&(_, source)) = last.iter().find(|(other, _)| *other == loc) else { return false };
                    let Initial::Value(value) = context.value(graph, loc, source) else { return false };
                    match state.reaction(context.code, value) {
                        Reaction::Block => return state.operations() == self.since,
                        Reaction::Read => state.answer(context.code, value, 0),
                        Reaction::Write(_) | Reaction::Pick(_) => return false,
                    }
                }
                Status::Ready(Visible::Fence { .. }) => state.answer(context.code, 0, 0),
                _ => return false,
            }
        }
        false
    }
}

/// Whether the events have a witness in which these are the last writes of their locations.
fn explained(context: &mut Context<'_>, graph: &Graph, events: &BitSet, last: &[(LocId, Slot)]) -> bool {
    let Some(edges) = graph.edges_to_last(last, events) else { return false };
    context.realiser.realise(Question { graph, events, read: None, edges: &edges }).is_some()
}

impl Graph {
    /// The threads that wait.
    fn waiters(&self) -> Vec<Waiter> {
        let logs = self.threads.iter().filter_map(|log| {
            let tip = log.tip.as_ref()?;
            let since = match tip.state.status() {
                Status::Blocked(Blocked::Spin { since }) => *since,
                Status::Ready(_) if tip.stage == Stage::Waiting => tip.state.operations(),
                _ => return None,
            };
            let recent = log.events.iter().rev().copied().take_while(|&slot| self.event(slot).operation >= since);
            let events: Vec<Slot> = recent.collect();
            Some(Waiter { node: ancestor(tip, events.len()), events, since })
        });
        logs.collect()
    }

    /// The writes that may be the last of the location, in canonical order up to this one.
    fn possible_ends(&self, loc: LocId, source: Slot) -> Sources {
        let mut sources: Sources = self.location(loc).co.iter().copied().chain([INIT]).collect();
        sources.retain(|&mut other| other == source || self.may_be_last(loc, other, self.present()));
        sources.sort_unstable_by_key(|&other| by_rank(self, other));
        let end = sources.iter().position(|&other| other == source).expect("it is one of them");
        sources.truncate(end + 1);
        sources
    }

    /// The edges that make these the last writes of their locations; `None` if one cannot be.
    fn edges_to_last(&self, last: &[(LocId, Slot)], events: &BitSet) -> Option<Vec<(Slot, Slot)>> {
        let mut edges = Vec::new();
        for &(loc, source) in last {
            for &write in self.location(loc).co.iter().filter(|&&write| events.contains(write as usize)) {
                if source == INIT {
                    return None;
                }
                if write != source {
                    edges.push((write, source));
                }
            }
        }
        Some(edges)
    }
}
