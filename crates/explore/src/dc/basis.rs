//! The basis of an annotation: the events that any trace which realises it consists of.
//!
//! All reads of the set of events at hand are annotated, so nothing needs to be executed: the basis is a projection of the set
//! (Chalupa et al. 2018 find it by execution, in general). It is the causal past of what is asked about: closed under program
//! order, under the sources of reads, and, since threads are started and waited for here, under spawn and join. Writes
//! behind the last read of their thread which nobody reads are no part of it. They can follow at the end in any case, and
//! without them fewer threads are in each other's way.

use crate::sequence::{Frontier, INITIAL, LocId};
use raddle_consistency::values::{INIT, NONE, Op, Problem};
use raddle_trace::{EventId, ThreadId};

/// How many events of each thread are in a set that is closed under program order.
pub(crate) type Cut = Vec<u32>;

/// The source of a read; `None` if the event does not read.
pub(crate) fn source(frontier: &Frontier<'_>, id: EventId) -> Option<EventId> {
    let event = frontier.event(id);
    if event.reads() { frontier.sources(event).first().copied() } else { None }
}

/// Puts an event into a cut.
pub(crate) fn include(cut: &mut Cut, id: EventId) {
    if id != INITIAL {
        cut[id.thread.index()] = cut[id.thread.index()].max(id.index + 1);
    }
}

/// Closes a cut: every read has its source, every thread its start, every join the end of its thread, every departure its arrivals.
pub(crate) fn close(frontier: &Frontier<'_>, cut: &mut Cut) {
    let mut seen: Cut = vec![0; cut.len()];
    while let Some(thread) = (0..cut.len()).find(|&thread| seen[thread] < cut[thread]) {
        let id = EventId::new(ThreadId(thread as u32), seen[thread]);
        seen[thread] += 1;
        source(frontier, id)
            .into_iter()
            .chain(frontier.joints(id).into_iter().flatten())
            .chain(frontier.met(frontier.event(id)).iter().copied())
            .for_each(|before| include(cut, before));
    }
}

/// All events.
pub(crate) fn everything(frontier: &Frontier<'_>) -> Cut {
    (0..frontier.threads() as u32).map(|thread| frontier.events(ThreadId(thread)).len() as u32).collect()
}

/// All reads, and what is before them.
pub(crate) fn all_reads(frontier: &Frontier<'_>) -> Cut {
    let threads = (0..frontier.threads() as u32).map(ThreadId);
    let last = |thread| frontier.events(thread).iter().rposition(|event| event.reads());
    let mut cut = threads.map(|thread| last(thread).map_or(0, |at| at as u32 + 1)).collect();
    close(frontier, &mut cut);
    cut
}

/// A read that is to be added to the events of its thread in the cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRead {
    pub(crate) thread: ThreadId,
    pub(crate) loc: LocId,
    pub(crate) source: EventId,
    /// Also writes.
    pub(crate) writes: bool,
}

/// What is asked about the events of a cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Question<'a> {
    /// With one more read.
    pub(crate) read: Option<NewRead>,
    /// With these orders.
    pub(crate) orders: &'a [(EventId, EventId)],
    /// With these reads after everything else: a location and the write that is there.
    pub(crate) lasts: &'a [(LocId, EventId)],
}

/// The question as a problem about numbered events.
#[derive(Debug, Default)]
pub(crate) struct Basis {
    pub(crate) problem: Problem,
    /// A sequence of the numbers that keeps program order, spawn and join.
    pub(crate) sequence: Vec<u32>,
}

impl Basis {
    /// Writes down a question. The cut must be closed and contain what is asked about. `sequence` holds all of its events.
    pub(crate) fn new(frontier: &Frontier<'_>, sequence: &[EventId], cut: &Cut, question: Question<'_>) -> Basis {
        let mut basis = Basis::default();
        let mut starts = Vec::with_capacity(cut.len());
        let mut start = 0;
        for (thread, &count) in cut.iter().enumerate() {
            starts.push(start);
            start += count + u32::from(question.read.is_some_and(|read| read.thread.index() == thread));
        }
        let number = |id: EventId| if id == INITIAL { INIT } else { starts[id.thread.index()] + id.index };
        let problem = &mut basis.problem;
        problem.clear();
        problem.reserve(start as usize + question.lasts.len());
        let good = |problem: &mut Problem, source: EventId| {
            problem.good.push(number(source));
            (problem.good.len() as u32 - 1, problem.good.len() as u32)
        };
        for (thread, &count) in cut.iter().enumerate() {
            let thread = ThreadId(thread as u32);
            for (index, event) in frontier.events(thread)[..count as usize].iter().enumerate() {
                let id = EventId::new(thread, index as u32);
                let (reads, writes) = (event.reads(), event.writes());
                let good = source(frontier, id).map_or((0, 0), |source| good(problem, source));
                let loc = if reads || writes { event.loc } else { NONE };
                let [start, end] = frontier.joints(id).map(|before| before.map(number));
                let after = end.or(start).unwrap_or(NONE);
                if let (Some(start), Some(_)) = (start, end) {
                    problem.edges.push((start, number(id)));
                }
                problem.edges.extend(frontier.met(event).iter().map(|&arrival| (number(arrival), number(id))));
                problem.push(Op { loc, reads, writes, after, good });
            }
            if let Some(read) = question.read.filter(|read| read.thread == thread) {
                let good = good(problem, read.source);
                let start = if count == 0 { frontier.start(thread) } else { None };
                let after = start.map_or(NONE, number);
                problem.push(Op { loc: read.loc, reads: true, writes: read.writes, after, good });
            }
            problem.end_thread();
        }
        problem.edges.extend(question.orders.iter().map(|&(a, b)| (number(a), number(b))));
        basis.sequence.reserve(start as usize + question.lasts.len());
        let inside = sequence.iter().filter(|id| id.index < cut[id.thread.index()]);
        basis.sequence.extend(inside.map(|&id| number(id)));
        if let Some(read) = question.read {
            basis.sequence.push(number(EventId::new(read.thread, cut[read.thread.index()])));
        }
        if !question.lasts.is_empty() {
            let first = problem.len() as u32;
            for &(loc, source) in question.lasts {
                let good = good(problem, source);
                basis.sequence.push(problem.len() as u32);
                problem.push(Op { loc, reads: true, writes: false, after: NONE, good });
            }
            let ends = problem.starts.windows(2).filter(|ends| ends[0] < ends[1]).map(|ends| ends[1] - 1);
            let ends: Vec<(u32, u32)> = ends.map(|end| (end, first)).collect();
            problem.edges.extend(ends);
            problem.end_thread();
        }
        basis
    }

    /// The events behind numbers; reads at the end are none.
    pub(crate) fn events(&self, cut: &Cut, numbers: &[u32]) -> Vec<EventId> {
        let events = numbers.iter().map(|&number| {
            let thread = self.problem.thread(number);
            EventId::new(ThreadId(thread as u32), number - self.problem.starts[thread])
        });
        events.filter(|id| id.thread.index() < cut.len()).collect()
    }
}
