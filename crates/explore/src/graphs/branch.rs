//! Branching points: what is added next, which options there are, and which have not been tried.

use super::context::Context;
use super::event::{Event, Flags, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::revisit::Candidates;
use super::sources::{Sources, source_branch};
use raddle_trace::ThreadId;
use smallvec::SmallVec;

/// A branching point: what is added, and what has not been tried.
#[derive(Clone, Debug)]
pub(super) enum Branch {
    /// A read; `next` is the coherence position of the source to try next, down to `floor`.
    Read { event: Event, next: isize, floor: isize, wait: bool },
    /// A read in a reads-from class: the sources to try, and the floor of the witness. It goes to `stamp` in the order of addition,
    /// or to its end. The witness may have been made for it. `repeats` is the logarithm of how many sources there are per value, as far as that is wanted.
    Source { event: Event, sources: Sources, floor: isize, stamp: Option<usize>, explained: bool, repeats: f32 },
    /// A write; `next` is the coherence position to try next, down to `low`; then the reads to revisit.
    Write { event: Event, next: isize, low: isize, candidates: Candidates },
    /// A choice.
    Choose { event: Event, count: u32, next: u32 },
    /// Leaving a barrier: what the thread may learn, and how much of it has been tried.
    Depart { event: Event, answers: SmallVec<[u64; 2]>, next: usize },
    /// A join that others compete for: as the first, then as one that comes too late.
    Join { event: Event, next: u8 },
    /// An event without alternatives.
    Single { event: Event, done: bool },
    /// A write that revisits a read: places for the write, down to `low`.
    Revisit { write: Event, read: Event, stamp: usize, remove: bool, next: isize, low: isize },
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) branch: Branch,
    /// How the rows looked before.
    pub(super) mark: usize,
    /// Events that the current option added: 0, 1 or 2.
    pub(super) added: u8,
    /// The share of the search tree that each option stands for.
    pub(super) weight: f64,
}

/// A graph and the branching points on the way to it.
#[derive(Clone, Debug)]
pub(crate) struct Level<M: Model> {
    pub(super) graph: Graph<M>,
    pub(super) frames: Vec<Frame>,
}

impl Branch {
    /// How many options there are at most.
    pub(super) fn options(&self) -> usize {
        match self {
            Branch::Single { .. } => 1,
            Branch::Join { .. } => 2,
            Branch::Depart { answers, .. } => answers.len(),
            Branch::Choose { count, .. } => *count as usize,
            other => other.untried(),
        }
    }

    /// The thread whose event was added last.
    pub(super) fn mover(&self) -> ThreadId {
        match self {
            Branch::Read { event, .. }
            | Branch::Source { event, .. }
            | Branch::Write { event, .. }
            | Branch::Choose { event, .. }
            | Branch::Join { event, .. }
            | Branch::Depart { event, .. }
            | Branch::Single { event, .. }
            | Branch::Revisit { read: event, .. } => event.thread,
        }
    }

    /// How many options have not been tried.
    pub(super) fn untried(&self) -> usize {
        match self {
            Branch::Read { next, floor, .. } => (next - floor + 1).max(0) as usize,
            Branch::Source { sources, .. } => sources.len(),
            Branch::Write { next, low, candidates, .. } => (next - low + 1).max(0) as usize + candidates.len(),
            Branch::Choose { count, next, .. } => (count - next) as usize,
            Branch::Join { next, .. } => usize::from(2 - *next),
            Branch::Depart { answers, next, .. } => answers.len() - next,
            Branch::Single { done, .. } => usize::from(!done),
            Branch::Revisit { next, low, .. } => (next - low + 1).max(0) as usize,
        }
    }

    /// Forgets the untried options.
    pub(super) fn exhaust(&mut self) {
        match self {
            Branch::Read { next, floor, .. } => *next = *floor - 1,
            Branch::Source { sources, .. } => sources.clear(),
            Branch::Write { next, low, candidates, .. } => {
                *next = *low - 1;
                candidates.clear();
            }
            Branch::Choose { count, next, .. } => *next = *count,
            Branch::Join { next, .. } => *next = 2,
            Branch::Depart { answers, next, .. } => *next = answers.len(),
            Branch::Single { done, .. } => *done = true,
            Branch::Revisit { next, low, .. } => *next = *low - 1,
        }
    }
}

pub(super) fn read_branch<M: Model>(
    context: &mut Context<'_>,
    graph: &mut Graph<M>,
    event: Event,
    wait: bool,
) -> Branch {
    if graph.equivalence == Equivalence::ReadsFrom {
        return source_branch(context, graph, event);
    }
    let floor = M::read_floor(graph, &event);
    let next = graph.location(event.loc).co.len() as isize - 1;
    Branch::Read { event, next, floor, wait }
}

/// The branch of a write; of a write half, if `source` is given.
pub(super) fn write_branch<M: Model>(
    context: &mut Context<'_>,
    graph: &mut Graph<M>,
    event: Event,
    source: Option<Slot>,
) -> Branch {
    let candidates = graph.revisit_candidates(context, &event);
    let (next, low) = places(graph, &event, source);
    Branch::Write { event, next, low, candidates }
}

/// The greatest and the least position in coherence for a write; none if the first is smaller.
pub(super) fn places<M: Model>(graph: &mut Graph<M>, event: &Event, source: Option<Slot>) -> (isize, isize) {
    let end = graph.location(event.loc).co.len() as isize;
    let floor = match graph.equivalence {
        Equivalence::Coherence => M::write_floor(graph, event),
        // The order of writes is no choice; a plain write goes to the end, and a read half was given its source and its witness so
        // that the write can follow, if it can at all.
        Equivalence::ReadsFrom if source.is_none() => end - 1,
        Equivalence::ReadsFrom if M::ONE_ORDER => M::write_floor(graph, event),
        Equivalence::ReadsFrom => -1,
    };
    match source {
        None => (end, floor + 1),
        Some(source) => {
            let position = graph.co_position(event.loc, source);
            let possible = position >= floor && !graph.consumed(event.loc, position);
            if possible { (position + 1, position + 1) } else { (-1, 0) }
        }
    }
}

/// A copy of the graph with nothing to be taken back.
pub(super) fn copy<M: Model>(graph: &Graph<M>, pool: &mut Vec<Level<M>>) -> Level<M> {
    let mut level = pool.pop().unwrap_or_else(|| Level { graph: graph.clone(), frames: Vec::new() });
    graph.restrict(graph.present(), &mut level.graph);
    level.frames.clear();
    level
}

/// The level in which `write` revisits the read.
pub(super) fn revisit<M: Model>(
    graph: &Graph<M>,
    write: &Event,
    read: Slot,
    stamp: u32,
    weight: f64,
    pool: &mut Vec<Level<M>>,
) -> Level<M> {
    let keep = graph.kept(write, stamp);
    let mut level = pool.pop().unwrap_or_else(|| Level { graph: graph.clone(), frames: Vec::new() });
    graph.restrict(&keep, &mut level.graph);
    let source = write.flags.contains(Flags::LOCKED).then(|| level.graph.update_source(write.thread));
    let (next, low) = places(&mut level.graph, write, source);
    let read = *graph.event(read);
    // A lock whose mutex is held by the new write is not left waiting in the graph (rule L3).
    let takes = write.flags.contains(Flags::LOCKED.with(Flags::MUTEX));
    let remove = takes && read.flags.contains(Flags::LOCK);
    let branch = Branch::Revisit { write: *write, read, stamp: stamp as usize, remove, next, low };
    let weight = weight / branch.options().max(1) as f64;
    let mark = level.graph.mark();
    level.frames.clear();
    level.frames.push(Frame { branch, mark, added: 0, weight });
    level
}

/// Removes what the current option of a frame added.
pub(super) fn take_back<M: Model>(graph: &mut Graph<M>, frame: &mut Frame) {
    match frame.added {
        0 => {}
        added => match frame.branch {
            Branch::Revisit { stamp, .. } if added == 2 => {
                graph.remove(graph.order[stamp], stamp);
                graph.pop();
            }
            Branch::Source { stamp: Some(stamp), .. } => graph.remove(graph.order[stamp], stamp),
            _ => graph.pop(),
        },
    }
    frame.added = 0;
    graph.undo(frame.mark);
}
