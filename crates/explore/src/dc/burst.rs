//! Burst mutations: a read is changed together with the annotation of its whole causal past.
//!
//! A node holds a maximal trace. A read of it is given another source, all reads before it and before the source are
//! annotated with what they read in the trace, and the rest is executed anew. So each node is an execution, and there are fewer
//! nodes than annotations.
//!
//! As printed (Chalupa et al. 2018), a source that has been tried for a read is forbidden from then on. That loses executions: it was tried only
//! together with this past. Of `read x | read y; write x | write y` one class of four is not found. So what is forbidden here
//! is the whole annotation: a node covers all executions that have its annotation and none of the forbidden ones. The
//! price is that some executions are met twice; they are counted as redundant, and reported once.
//!
//! A lock at which its thread waits at the end of the trace is changed like a read of the trace. Without that, what is
//! behind a deadlock is lost.
//!
//! Refused: reads that wait for a value, other than locks, and loops that wait. They may wait for ever or not depending on the
//! order of writes that nobody reads, so the execution in which they do is not found by changing reads.

use super::basis::{Cut, NewRead, close, include};
use super::findings::Explorer;
use super::observe::{Answer, answer, answers, observe, to_the_end};
use super::options::{Rule, Settings};
use crate::rules::Follows;
use crate::sequence::{Extended, INITIAL, LocId, Mark, Shell, Stop, Walk, ends};
use raddle_engine::{Deadline, Question};
use raddle_machine::{Automaton, Blocked, Status};
use raddle_trace::{EventId, ThreadId};
use std::rc::Rc;

/// A part of an observation function, sorted.
type Annotation = Vec<(EventId, Answer)>;

/// A read that can be given another source.
#[derive(Clone, Debug)]
struct Mutation {
    read: EventId,
    /// `None` for a choice, where the alternatives are other answers.
    source: Option<EventId>,
    /// The one answer that is to be tried, if there were several.
    answer: Option<Answer>,
    /// What is before the two and is kept.
    cut: Cut,
}

/// A maximal trace.
#[derive(Debug)]
struct Node {
    /// Its events.
    trace: Vec<EventId>,
    /// The answers of its reads and choices, in this order.
    answers: Vec<(EventId, Answer)>,
    /// What is left to be changed, the next one last.
    mutations: Vec<Mutation>,
    /// Annotations that are looked at elsewhere.
    forbidden: Vec<Rc<Annotation>>,
    /// What is being looked at, to be forbidden then.
    inside: Option<Annotation>,
    share: f64,
}

/// The search, and what it has found.
pub(super) struct Search<'c> {
    explorer: Explorer<'c>,
    start: Mark,
    nodes: Vec<Node>,
}

fn contains(all: &Annotation, part: &Annotation) -> bool {
    part.iter().all(|pair| all.binary_search(pair).is_ok())
}

impl<'c> Walk<'c> for Search<'c> {
    const PATIENCE: u32 = 1;

    fn shell(&mut self) -> &mut Shell<'c> {
        &mut self.explorer.shell
    }

    fn begin(&mut self) -> Result<(), Stop> {
        self.explorer.shell.added(ThreadId::MAIN, 0);
        self.explorer.report_bugs(&[])?;
        let threads = self.explorer.shell.frontier.threads();
        self.enter(Vec::new(), &vec![0; threads], Vec::new(), 1.0)
    }

    fn has_more(&self) -> bool {
        self.nodes.iter().any(|node| !node.mutations.is_empty())
    }

    fn advance(&mut self) -> Result<bool, Stop> {
        let Some(node) = self.nodes.last_mut() else { return Ok(false) };
        if let Some(done) = node.inside.take() {
            node.forbidden.push(Rc::new(done));
        }
        let Some(mutation) = node.mutations.pop() else {
            self.nodes.pop();
            return Ok(true);
        };
        self.mutate(mutation)?;
        Ok(true)
    }
}

impl<'c> Search<'c> {
    pub(super) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let mut explorer = Explorer::new(question, deadline, settings, false);
        explorer.shell.report.statistics.redundant = Some(0);
        let start = explorer.shell.frontier.mark();
        Search { explorer, start, nodes: Vec::new() }
    }

    /// Extends a trace of annotated reads to a maximal one, reports it, and looks what can be changed.
    fn enter(
        &mut self,
        mut trace: Vec<EventId>,
        fixed: &Cut,
        forbidden: Vec<Rc<Annotation>>,
        weight: f64,
    ) -> Result<(), Stop> {
        let explorer = &mut self.explorer;
        explorer.shell.report.counters.nodes += 1;
        let extended = to_the_end(explorer, &mut trace)?;
        self.refuse_loops_that_wait()?;
        let explorer = &mut self.explorer;
        explorer.report_bugs(&trace)?;
        let frontier = &explorer.shell.frontier;
        let answers: Vec<_> = trace.iter().filter_map(|&id| Some((id, answer(frontier, id)?))).collect();
        let mut seen = answers.clone();
        seen.sort_unstable();
        let known = forbidden.iter().any(|part| contains(&seen, part));
        let mut mutations = Vec::new();
        if extended == Extended::TooLong {
            explorer.cut(&trace)?;
        } else {
            let frontier = &mut explorer.shell.frontier;
            let nobody_goes_on = ends::ends(frontier).any(|(_, mut wanted)| {
                // Who is stopped by an assumption may only not have looked again.
                wanted.orders.clear();
                wanted.holds_after(frontier, &trace)
            });
            assert!(nobody_goes_on, "a maximal trace ends where nobody can go on");
            if known {
                *explorer.shell.report.statistics.redundant.get_or_insert(0) += 1;
            } else {
                explorer.end(&trace, &[])?;
            }
            mutations = self.mutations(&trace, fixed);
        }
        mutations.reverse();
        if mutations.is_empty() {
            self.explorer.shell.report.done += weight;
        }
        let share = weight / mutations.len().max(1) as f64;
        self.nodes.push(Node { trace, answers, mutations, forbidden, inside: None, share });
        Ok(())
    }

    /// Refuses what cannot be decided in this way.
    fn refuse_loops_that_wait(&self) -> Result<(), Stop> {
        let frontier = &self.explorer.shell.frontier;
        let mut states = frontier.ids().filter_map(|thread| frontier.state(thread));
        match states.find(|state| matches!(state.status(), Status::Blocked(Blocked::Spin))) {
            Some(state) => Err(self.explorer.waits(state.pc())),
            None => Ok(()),
        }
    }

    /// What can be changed in the trace at hand: in the order of the trace, and then locks that are waited for.
    fn mutations(&self, trace: &[EventId], fixed: &Cut) -> Vec<Mutation> {
        let frontier = &self.explorer.shell.frontier;
        let mut reads: Vec<(EventId, Option<LocId>)> = Vec::new();
        for &id in trace {
            let event = frontier.event(id);
            let open = fixed.get(id.thread.index()).is_none_or(|&count| id.index >= count);
            if open && answer(frontier, id).is_some() {
                reads.push((id, event.reads().then_some(event.loc)));
            }
        }
        if self.explorer.settings.follows(Rule::PendingLocks) {
            for pending in self.explorer.threads().into_iter().filter_map(|thread| frontier.pending(thread)) {
                let next = frontier.events(pending.thread).len() as u32;
                reads.push((EventId::new(pending.thread, next), Some(pending.loc)));
            }
        }
        let mut found = Vec::new();
        for (read, loc) in reads {
            let sources: Vec<Option<EventId>> = match loc {
                None => vec![None],
                Some(loc) => [INITIAL].iter().chain(frontier.writes(loc)).map(|&write| Some(write)).collect(),
            };
            for source in sources {
                let mut cut = vec![0; frontier.threads()];
                cut[..fixed.len()].copy_from_slice(fixed);
                let thread = read.thread.index();
                cut[thread] = cut[thread].max(read.index);
                frontier.start(read.thread).into_iter().chain(source).for_each(|id| include(&mut cut, id));
                close(frontier, &mut cut);
                // The source may depend on the read.
                if cut[thread] == read.index {
                    found.push(Mutation { read, source, answer: None, cut });
                }
            }
        }
        found
    }

    /// Makes a change and explores what follows, if that is possible.
    fn mutate(&mut self, mutation: Mutation) -> Result<(), Stop> {
        let kept = self.rebuild(&mutation.cut)?;
        let Mutation { read, source, cut, .. } = &mutation;
        let node = self.nodes.last_mut().expect("it is being looked at");
        let Explorer { shell, settings, traces } = &mut self.explorer;
        let Shell { frontier, report, bugs, .. } = shell;
        report.statistics.events += 1;
        let current = node.answers.iter().find(|(id, _)| id == read).map(|&(_, answer)| answer);
        let pending = frontier.pending(read.thread);
        let (mut answers, writes) = match (source, pending) {
            (Some(source), Some(pending)) => answers(frontier, pending, *source),
            _ => {
                let count = frontier.choice(read.thread).expect("it was a choice before");
                ((0..count).map(Answer::alternative).collect(), false)
            }
        };
        answers.retain(|&answer| Some(answer) != current && mutation.answer.is_none_or(|only| answer == only));
        let share = node.share;
        let Some((&answer, others)) = answers.split_first() else {
            report.done += share;
            return Ok(());
        };
        // Each alternative is a change of its own.
        node.share /= answers.len() as f64;
        let share = node.share;
        let others = others.iter().rev().map(|&other| Mutation { answer: Some(other), ..mutation.clone() });
        node.mutations.extend(others);
        let changed = (*read, answer);
        let kept_answers = node.answers.iter().filter(|(id, _)| id.index < cut[id.thread.index()]);
        let mut annotation: Annotation = kept_answers.copied().chain([changed]).collect();
        annotation.sort_unstable();
        let single = !settings.follows(Rule::ForbidBursts);
        let known = if single { vec![changed] } else { annotation.clone() };
        let trace = if node.forbidden.iter().any(|part| contains(&known, part)) {
            None
        } else if let (Some(pending), Some(source)) = (pending, *source) {
            let new = NewRead { thread: read.thread, loc: pending.loc, source, writes };
            traces.with_read(frontier, &kept, new, &[], &mut report.counters)?
        } else {
            Some(kept.into_iter().chain([*read]).collect())
        };
        let Some(trace) = trace else {
            report.done += share;
            return Ok(());
        };
        node.inside = Some(known);
        let forbidden = node.forbidden.clone();
        let mut fixed = cut.clone();
        include(&mut fixed, *read);
        observe(frontier, read.thread, answer);
        frontier.failed(read.thread, trace.len(), bugs);
        self.enter(trace, &fixed, forbidden, share)
    }

    /// Makes the frontier that of the kept part of the innermost node's trace, and what follows without a read. Returns its
    /// trace.
    fn rebuild(&mut self, cut: &Cut) -> Result<Vec<EventId>, Stop> {
        let node = self.nodes.last().expect("it is being looked at");
        let Shell { frontier, depth, .. } = &mut self.explorer.shell;
        frontier.undo(self.start);
        // What goes wrong there has been seen before.
        frontier.extend(&mut Vec::new(), &mut Vec::new(), *depth)?;
        for &(id, answer) in node.answers.iter().filter(|(id, _)| id.index < cut[id.thread.index()]) {
            let again = observe(frontier, id.thread, answer);
            debug_assert_eq!(again, id, "a part of a trace that is closed is a trace");
            frontier.extend(&mut Vec::new(), &mut Vec::new(), *depth)?;
        }
        let there = |id: &&EventId| {
            id.thread.index() < frontier.threads() && (id.index as usize) < frontier.events(id.thread).len()
        };
        Ok(node.trace.iter().filter(there).copied().collect())
    }
}
