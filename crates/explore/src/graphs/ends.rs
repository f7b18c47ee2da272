//! Ends of executions: what they count as, and whether threads that wait do so for ever.
//!
//! Where the order of writes is only a witness, a thread waits for ever if what it looked at last is the last write of the location. Whether that can be is a question for
//! another witness. Several unsuitable writes may take turns in being the last one: these are not different classes, since
//! a thread that waits has read nothing yet; of the graphs that differ in nothing else the one with the first such
//! writes, in canonical order, counts.
//!
//! A thread that is stopped by an assumption waits in the same way, where nobody can tell whether it has made the loads that led it there: it stands before
//! the first of them. If one of them would find something else now, the thread has only not looked again.

use super::branch::{Level, copy};
use super::context::Context;
use super::event::{INIT, Kind, LocId, Slot};
use super::graph::{Equivalence, Graph, ancestor};
use super::linearise;
use super::models::Model;
use super::realise::Question;
use super::sample::is_loose;
use super::search::Search;
use super::snapshot::{Node, Rest, Stage};
use super::sources::{Sources, by_rank, is_stuck};
use super::step::Bug;
use crate::world::Initial;
use raddle_machine::{Automaton, Blocked, Code, Reaction, Status, Visible};
use raddle_trace::{BitSet, Property, ThreadId};
use smallvec::SmallVec;
use std::sync::Arc;

impl<M: Model> Search<'_, M> {
    /// The end of an execution: counts it, and looks for a deadlock.
    pub(super) fn leaf(&mut self) {
        self.done += self.weight();
        if let Some(sample) = self.context.shared.purpose.sample.filter(|sample| sample.is_open()) {
            sample.add(&self.levels);
        }
        if self.context.code.has_mailboxes() {
            self.wrong_lives();
        }
        let graph = &self.levels.last().expect("the search is not over").graph;
        let behind: usize = graph.tip(ThreadId::MAIN).map_or(0, |tip| graph.joins_behind(tip));
        self.statistics.longest = self.statistics.longest.max((graph.order.len() + behind) as u64);
        let (mut failed, mut assumed, mut bounded, mut waiting, mut moot, mut exited, mut inside) =
            (false, false, false, None, false, false, false);
        let exact = graph.equivalence == Equivalence::Coherence;
        let stopped = match self.context.code.has_atomic_blocks() {
            true => super::blocks::behind_the_last(graph),
            false => SmallVec::new(),
        };
        for (index, log) in graph.threads.iter().enumerate() {
            let Some(tip) = log.tip.as_ref().filter(|tip| tip.rest != Rest::Finished) else { continue };
            let thread = ThreadId(index as u32);
            if stopped.contains(&thread) {
                continue;
            }
            if let Some(tail) = &tip.tail {
                let (_, waits_at) = graph.joined(tail);
                exited |= tail.exit && waits_at.is_none();
                waiting = waiting.or(waits_at);
                continue;
            }
            // A thread that is stuck inside an atomic block stops everybody; who else waits says nothing.
            inside |= tip.state.atomic_block().is_some();
            match tip.state.status() {
                Status::Finished { exit, .. } => exited |= exit,
                Status::Failed(_) => failed = true,
                Status::Blocked(Blocked::Assume) => {
                    assumed = true;
                    moot |= exact && !graph.reads_are_current(thread, graph.stopped_since(self.context.code, thread));
                }
                Status::Blocked(Blocked::LoopBound) => {
                    bounded = true;
                    self.bounded_at = Some(tip.state.pc());
                }
                Status::Blocked(Blocked::Spin) => {
                    moot |= exact && !graph.reads_are_current(thread, tip.state.since());
                    waiting = waiting.or(Some(tip.state.pc()));
                }
                Status::Ready(_) => {
                    let stopped = graph.is_assuming(self.context.code, thread);
                    assumed |= stopped;
                    if exact && tip.stage == Stage::Waiting {
                        let since = if stopped {
                            graph.stopped_since(self.context.code, thread)
                        } else {
                            tip.state.operations()
                        };
                        moot |= !graph.reads_are_current(thread, since);
                    }
                    waiting = waiting.or(Some(tip.state.pc()));
                }
            }
        }
        let witness = match waiting {
            None if !assumed => Waiting::Shown,
            _ if exact => Waiting::Shown,
            _ => waiting_for_ever(&mut self.context, graph, &mut self.pool),
        };
        moot |= matches!(witness, Waiting::Moot);
        let witnessed = match &witness {
            Waiting::ShownBy(level) => &level.graph,
            _ => graph,
        };
        // What is interleaved with an atomic block is no execution.
        let torn = self.context.code.has_atomic_blocks() && linearise::is_torn(graph);
        // Nor is what no looper does, which is the same to all that follows.
        let torn =
            torn || self.context.code.has_mailboxes() && !moot && !super::mailboxes::is_run(&mut self.context, graph);
        if (self.context.code.has_atomic_blocks() || self.context.code.has_mailboxes()) && !torn && !moot {
            self.bugs.extend(failures(graph));
        }
        if self.context.shared.purpose.contested_joins {
            match super::joins::late_joins(graph) {
                Some(late) => self.bugs.extend(late),
                None => moot = true,
            }
        }
        if self.context.races && !moot && !torn {
            let looks = graph.racing_looks().map(|bug| match &witness {
                Waiting::ShownBy(_) => {
                    let schedule = linearise::schedule(&self.context, witnessed, &bug);
                    Bug { schedule, ..bug }
                }
                _ => bug,
            });
            self.bugs.extend(looks);
        }
        if self.context.code.has_mailboxes() && !moot && !torn && self.context.looks_for_races() {
            let schedule = linearise::schedule(&self.context, graph, &Bug::end());
            let model = self.context.shared.options.model;
            let race = schedule.and_then(|schedule| super::mailboxes::race_along(self.context.code, model, &schedule));
            failed |= race.is_some();
            self.bugs.extend(race);
        }
        let repeated = !moot && !torn && self.context.shared.purpose.by_reads && self.was_met();
        let whole = !(moot || torn || repeated || failed || bounded || inside);
        if whole && self.context.shared.options.keep_schedules {
            let end = Bug::end();
            self.schedules.extend(linearise::schedule(&self.context, witnessed, &end));
        }
        let statistics = &mut self.statistics;
        #[cfg(debug_assertions)]
        {
            let graph = &self.levels.last().expect("the search is not over").graph;
            *statistics.redundant.get_or_insert(0) += u64::from(self.audit.leaf(graph));
        }
        if moot || torn {
            self.counters.moot += 1;
        } else if repeated {
            self.counters.repeated += 1;
        } else if failed {
            statistics.failed += 1;
        } else if bounded {
            statistics.bounded += 1;
        } else if exited && !assumed {
            statistics.executions += 1;
        } else if assumed || waiting.is_some() {
            statistics.blocked += 1;
            if !assumed
                && !inside
                && let Some(pc) = waiting
            {
                let mut bug =
                    Bug { property: Property::Deadlock, pc, target: None, attempt: None, forced: None, schedule: None };
                if matches!(witness, Waiting::ShownBy(_)) {
                    bug.schedule = linearise::schedule(&self.context, witnessed, &bug);
                }
                self.bugs.push(bug);
            }
        } else {
            statistics.executions += 1;
            if let Some(sample) = self.context.shared.purpose.sample.filter(|sample| sample.is_due()) {
                let graph = &self.levels.last().expect("the search is not over").graph;
                sample.answered(is_loose(&mut self.context, graph));
            }
        }
        if let Waiting::ShownBy(level) = witness {
            self.pool.push(*level);
        }
    }
}

impl<M: Model> Search<'_, M> {
    /// Whether the class of the graph at hand without coherence was met before. A thread that waits or is stopped has not read what it looked at.
    fn was_met(&self) -> bool {
        let (graph, code) = (self.graph(), self.context.code);
        let executed = linearise::executed(graph);
        let mut key: Vec<u64> = Vec::new();
        for (index, log) in graph.threads.iter().enumerate() {
            let Some(tip) = &log.tip else { continue };
            let thread = ThreadId(index as u32);
            let stopped = match tip.state.status() {
                Status::Blocked(Blocked::Assume) => true,
                Status::Ready(_) => graph.is_assuming(code, thread),
                _ => false,
            };
            let since = match tip.state.status() {
                Status::Blocked(Blocked::Spin) => tip.state.since(),
                _ if stopped => graph.stopped_since(code, thread),
                _ => u32::MAX,
            };
            let events = log.events.iter().filter(|&&slot| executed.contains(slot as usize));
            key.push(u64::from(thread.0) << 1 | u64::from(stopped));
            for event in events.map(|&slot| graph.event(slot)).take_while(|event| event.operation < since) {
                let source = match (event.kind, event.rf) {
                    (Kind::Read, INIT) => 1,
                    (Kind::Read, slot) => {
                        let write = graph.event(slot);
                        2 + (u64::from(write.thread.0) << 32 | u64::from(write.index))
                    }
                    (Kind::Choose, _) => event.value,
                    _ => 0,
                };
                key.extend([u64::from(event.operation) << 8 | event.kind as u64, source]);
            }
            key.push(u64::MAX);
        }
        !self.context.shared.met.lock().expect("nobody panics while holding it").insert(key.into())
    }
}

/// The threads that have failed. When they did, an atomic block may have stood in the way of showing it.
fn failures<M: Model>(graph: &Graph<M>) -> impl Iterator<Item = Bug> + '_ {
    graph.threads.iter().enumerate().filter_map(|(index, log)| {
        let thread = ThreadId(index as u32);
        let Status::Failed(failure) = log.tip.as_ref()?.state.status() else { return None };
        let property = failure.property.filter(|&property| property != Property::Race)?;
        let target = graph.last(thread);
        Some(Bug { property, pc: failure.pc, target, attempt: Some(thread), forced: None, schedule: None })
    })
}

impl<M: Model> Graph<M> {
    /// The threads that wait and whose looks race.
    fn racing_looks(&self) -> impl Iterator<Item = Bug> + '_ {
        self.threads.iter().enumerate().filter_map(|(index, log)| {
            let thread = ThreadId(index as u32);
            let tip = log.tip.as_ref().filter(|tip| tip.stage == Stage::Waiting)?;
            self.race_of_look(self.event(self.last(thread)?))?;
            let (property, pc, attempt) = (Property::Race, tip.state.pc(), Some(thread));
            Some(Bug { property, pc, target: None, attempt, forced: None, schedule: None })
        })
    }
}

/// What is known of an end in which threads wait.
enum Waiting<M: Model> {
    /// In the witness at hand they wait for ever.
    Shown,
    /// In this one they do.
    ShownBy(Box<Level<M>>),
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
    /// Whether it is stopped by an assumption. An end in which it is not may be a deadlock, so the two are never taken for each other.
    assumes: bool,
}

/// Looks for a witness in which every thread that waits has looked at the last writes.
fn waiting_for_ever<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, pool: &mut Vec<Level<M>>) -> Waiting<M> {
    let waiters = graph.waiters(context.code);
    if !M::ORDERED {
        let mut looks = waiters.iter().flat_map(|waiter| &waiter.events);
        let stuck = looks.all(|&look| graph.event(look).kind != Kind::Read || is_stuck(context, graph, look));
        return if stuck { Waiting::Shown } else { Waiting::Moot };
    }
    let looks = waiters.iter().flat_map(|waiter| &waiter.events).map(|&slot| graph.event(slot));
    let looks = looks.filter(|event| event.kind == Kind::Read);
    let mut last: Vec<(LocId, Slot)> = looks.map(|read| (read.loc, read.rf)).collect();
    last.sort_unstable();
    last.dedup();
    let overwritten = |&(loc, source): &(LocId, Slot)| !graph.may_be_last(loc, source, graph.present());
    if last.windows(2).any(|pair| pair[0].0 == pair[1].0) || last.iter().any(overwritten) {
        return Waiting::Moot;
    }
    if is_counted_elsewhere(context, graph, &waiters, &last) {
        return Waiting::Moot;
    }
    if last.iter().all(|&(loc, source)| graph.location(loc).co.last().copied().unwrap_or(INIT) == source) {
        return Waiting::Shown;
    }
    let Some(edges) = graph.edges_to_last(&last, graph.present()) else { return Waiting::Moot };
    let question = Question { graph, events: graph.present(), read: None, updates: false, edges: &edges };
    match context.realise(question) {
        None => Waiting::Moot,
        Some(sequence) => {
            let mut level = copy(graph, pool);
            level.graph.adopt(sequence.iter().copied());
            Waiting::ShownBy(Box::new(level))
        }
    }
}

/// Whether the threads would also wait with last writes that come earlier in canonical order: threads look one after the other, and each
/// location that none of them has looked at before has its possible last writes tried in order.
fn is_counted_elsewhere<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    waiters: &[Waiter],
    last: &[(LocId, Slot)],
) -> bool {
    let mut events = graph.present().clone();
    waiters.iter().flat_map(|waiter| &waiter.events).for_each(|&slot| events.remove(slot as usize));
    let mut choice: Vec<(LocId, Slot)> = Vec::new();
    // What is left to try for each of them, the next one last.
    let mut left: Vec<Sources> = Vec::new();
    for combination in 1u64.. {
        if combination % COMBINATIONS == 0 && context.shared.deadline.passed().is_some() {
            context.realiser.interrupted = true;
        }
        if context.realiser.interrupted {
            return false;
        }
        let looks = waiters.iter().map(|waiter| waiter.looks(context, graph, &choice));
        match looks.into_iter().find(|look| *look != Look::Waits).unwrap_or(Look::Waits) {
            Look::Asks(loc) => {
                let own = last.iter().find(|(other, _)| *other == loc).map(|&(_, source)| source);
                let mut sources = graph.possible_ends(loc, own);
                sources.reverse();
                choice.push((loc, INIT));
                left.push(sources);
            }
            Look::Goes => {}
            Look::Waits => {
                if choice.len() == last.len() && choice.iter().all(|one| last.contains(one)) {
                    return false;
                }
                if explained(context, graph, &events, &choice) {
                    return true;
                }
            }
        }
        let next = loop {
            let Some(sources) = left.last_mut() else { return false };
            if let Some(next) = sources.pop() {
                break next;
            }
            left.pop();
            choice.pop();
        };
        choice.last_mut().expect("as many as there are lists").1 = next;
    }
    unreachable!("the choice at hand ends it")
}

/// How many combinations of last writes are looked at between two looks at the clock.
const COMBINATIONS: u64 = 1024;

/// What comes of a thread that looks again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It waits again, where it waited.
    Waits,
    /// It goes on, or waits elsewhere.
    Goes,
    /// That depends on what is here.
    Asks(LocId),
}

impl Waiter {
    /// What it does if these are the last writes.
    fn looks<M: Model>(&self, context: &mut Context<'_>, graph: &Graph<M>, last: &[(LocId, Slot)]) -> Look {
        // With other values a turn may be longer than the one that was executed.
        const MAX_OPERATIONS: usize = 1000;
        let waits = |is_so: bool| if is_so { Look::Waits } else { Look::Goes };
        let mut state = (*self.node.state).clone();
        for _ in 0..MAX_OPERATIONS {
            match *state.status() {
                Status::Blocked(Blocked::Spin) => return waits(state.since() == self.since && !self.assumes),
                Status::Blocked(Blocked::Assume) => return waits(self.assumes),
                Status::Ready(Visible::Load { access, .. } | Visible::Update { access, .. })
                    if !self.assumes || context.code.is_load(state.pc()) =>
                {
                    let Ok(loc) = context.view.loc(access, state.pc()) else { return Look::Goes };
                    let Some(&(_, source)) = last.iter().find(|(other, _)| *other == loc) else {
                        return Look::Asks(loc);
                    };
                    let Initial::Value(value) = context.value(graph, loc, source) else { return Look::Goes };
                    match state.reaction(context.code, value) {
                        Reaction::Block => {
                            let assumes = state.is_assuming(context.code, value);
                            return waits(assumes == self.assumes && (assumes || state.operations() == self.since));
                        }
                        Reaction::Read => state.answer(context.code, value, 0),
                        Reaction::Write(_) | Reaction::Pick(_) => return Look::Goes,
                    }
                }
                Status::Ready(Visible::Fence { .. }) if !self.assumes => state.answer(context.code, 0, 0),
                _ => return Look::Goes,
            }
        }
        Look::Goes
    }
}

/// Whether the events have a witness in which these are the last writes of their locations.
fn explained<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, events: &BitSet, last: &[(LocId, Slot)]) -> bool {
    let Some(edges) = graph.edges_to_last(last, events) else { return false };
    context.realise(Question { graph, events, read: None, updates: false, edges: &edges }).is_some()
}

impl<M: Model> Graph<M> {
    /// The threads that wait.
    fn waiters(&self, code: &Code) -> Vec<Waiter> {
        let logs = self.threads.iter().enumerate().filter_map(|(index, log)| {
            let tip = log.tip.as_ref()?;
            let thread = ThreadId(index as u32);
            let mut assumes = self.is_assuming(code, thread);
            let since = match tip.state.status() {
                Status::Blocked(Blocked::Spin) => tip.state.since(),
                Status::Ready(_) if assumes => self.stopped_since(code, thread),
                Status::Ready(_) if tip.stage == Stage::Waiting => tip.state.operations(),
                Status::Blocked(Blocked::Assume) => {
                    assumes = true;
                    self.stopped_since(code, thread)
                }
                _ => return None,
            };
            let recent = log.events.iter().rev().copied().take_while(|&slot| self.event(slot).operation >= since);
            let events: Vec<Slot> = recent.collect();
            Some(Waiter { node: ancestor(tip, events.len()), events, since, assumes })
        });
        logs.collect()
    }

    /// Whether the thread waits, and what it has found would make an assumption fail.
    fn is_assuming(&self, code: &Code, thread: ThreadId) -> bool {
        let tip = self.threads[thread.index()].tip.as_ref().filter(|tip| tip.stage == Stage::Waiting);
        let look = self.last(thread).map(|slot| self.event(slot));
        tip.zip(look).is_some_and(|(tip, look)| tip.state.is_assuming(code, look.value))
    }

    /// The first of the operations behind which a thread that is stopped by an assumption has done nothing but load, if that may be forgotten.
    fn stopped_since(&self, code: &Code, thread: ThreadId) -> u32 {
        let log = &self.threads[thread.index()];
        let mut since = log.tip.as_ref().map_or(0, |tip| tip.state.operations());
        if code.forgets_loads() && M::ORDERED {
            let events = log.events.iter().rev().map(|&slot| self.event(slot));
            for event in events.take_while(|event| event.kind == Kind::Read && code.is_load(event.pc)) {
                // Not every operation is an event.
                if event.operation + 1 < since {
                    break;
                }
                since = event.operation;
            }
        }
        since
    }

    /// The writes that may be the last of the location, and this one, in canonical order.
    fn possible_ends(&self, loc: LocId, own: Option<Slot>) -> Sources {
        let mut sources: Sources = self.location(loc).co.iter().copied().chain([INIT]).collect();
        sources.retain(|&mut other| own == Some(other) || self.may_be_last(loc, other, self.present()));
        sources.sort_unstable_by_key(|&other| by_rank(self, other));
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

    /// Whether the reads of a thread's operations from `since` on are from the last writes there are.
    fn reads_are_current(&self, thread: ThreadId, since: u32) -> bool {
        let events = self.threads[thread.index()].events.iter().rev().map(|&slot| self.event(slot));
        events.take_while(|event| event.operation >= since).all(|event| {
            event.kind != Kind::Read || event.rf == self.location(event.loc).co.last().copied().unwrap_or(INIT)
        })
    }
}
