//! Trying options: the next one of a branching point is added to the graph, or found impossible, or becomes a graph of its own.

use super::branch::{Branch, Level, revisit};
use super::event::{Event, Flags, INIT, Kind};
use super::graph::Equivalence;
use super::models::Model;
use super::search::Search;
use super::sources::other_witness;
use super::step::{Revisited, Stepper};

/// What came of trying to apply an option.
pub(super) enum Applied<M: Model> {
    /// It is in the graph.
    Option,
    /// It was not possible; with those that were dropped on that account, so many.
    Dead(usize),
    /// It is a graph of its own.
    Level(Box<Level<M>>),
    /// There was none left.
    Exhausted,
}

impl<M: Model> Search<'_, M> {
    /// Applies the next option of the top frame to its graph.
    pub(super) fn apply(&mut self) -> Applied<M> {
        let Search { levels, context, bugs, error, statistics, pool, known_races, .. } = self;
        let Level { graph, frames } = levels.last_mut().expect("there is a frame");
        let frame = frames.last_mut().expect("there is a frame");
        let mut step = Stepper { graph, context, bugs, error, known_races };
        statistics.events += 1;
        match &mut frame.branch {
            Branch::Read { event, next, floor, wait } => {
                let co = &step.graph.location(event.loc).co;
                if *next < *floor {
                    return Applied::Exhausted;
                }
                let position = *next;
                *next -= 1;
                let source = if position < 0 { INIT } else { co[position as usize] };
                let last = position + 1 == co.len() as isize;
                let (event, wait) = (*event, *wait);
                if !step.read(Event { rf: source, ..event }, None, if wait { Some(last) } else { None }) {
                    return Applied::Dead(1);
                }
                frame.added = 1;
                Applied::Option
            }
            Branch::Source { event, sources, floor, stamp, explained, .. } => {
                let Some(source) = sources.pop() else { return Applied::Exhausted };
                let (event, stamp) = (Event { rf: source, ..*event }, *stamp);
                if !*explained && !step.explains(&event, *floor) {
                    let level = other_witness(step.context, step.graph, &event, stamp, frame.weight, pool);
                    if let Some(level) = level {
                        return Applied::Level(Box::new(level));
                    }
                    let asked = sources.len() + 1;
                    sources.retain(|&mut other| !step.graph.is_refused_with(other, source));
                    return Applied::Dead(asked - sources.len());
                }
                if !step.read(event, stamp, None) {
                    debug_assert!(false, "a witness that explains a read is consistent");
                    return Applied::Dead(1);
                }
                frame.added = 1;
                Applied::Option
            }
            Branch::Write { event, next, low, candidates } => {
                if *next >= *low {
                    let position = *next as usize;
                    *next -= 1;
                    let half = event.flags.contains(Flags::LOCKED);
                    if !half && step.graph.consumed(event.loc, position as isize - 1) {
                        return Applied::Dead(1);
                    }
                    if step.write(*event, position).is_none() {
                        return Applied::Dead(1);
                    }
                    frame.added = 1;
                    return Applied::Option;
                }
                let Some((read, stamp)) = candidates.first().copied() else { return Applied::Exhausted };
                candidates.remove(0);
                let event = *event;
                let level = revisit(step.graph, &event, read, stamp, frame.weight, pool);
                Applied::Level(Box::new(level))
            }
            Branch::Choose { event, count, next } => {
                if *next >= *count {
                    return Applied::Exhausted;
                }
                let pick = *next;
                *next += 1;
                step.choose(Event { value: u64::from(pick), ..*event });
                frame.added = 1;
                Applied::Option
            }
            Branch::Depart { event, answers, next } => {
                let Some(&value) = answers.get(*next) else { return Applied::Exhausted };
                // Whoever makes another choice than the first is not what others would find again.
                let flags = event.flags.with_if(*next > 0, Flags::MARKED);
                *next += 1;
                let event = Event { value, flags, ..*event };
                if event.kind == Kind::Take {
                    step.take(event);
                } else {
                    step.depart(event);
                }
                frame.added = 1;
                Applied::Option
            }
            Branch::Join { event, next } => {
                let late = match *next {
                    0 => false,
                    1 => true,
                    _ => return Applied::Exhausted,
                };
                *next += 1;
                let event = *event;
                if late {
                    step.join_late(event)
                } else {
                    step.join(event)
                }
                frame.added = 1;
                Applied::Option
            }
            Branch::Single { event, done } => {
                if std::mem::replace(done, true) {
                    return Applied::Exhausted;
                }
                step.single(*event);
                frame.added = 1;
                Applied::Option
            }
            Branch::Revisit { write, read, stamp, remove, next, low } => {
                if *next < *low {
                    return Applied::Exhausted;
                }
                let position = *next as usize;
                *next -= 1;
                let half = write.flags.contains(Flags::LOCKED);
                if !half && step.graph.consumed(write.loc, position as isize - 1) {
                    return Applied::Dead(1);
                }
                let (write, read, stamp, remove) = (*write, *read, *stamp, *remove);
                match step.revisit(write, read, stamp, remove, position) {
                    Revisited::Whole { added } => {
                        frame.added = added;
                        Applied::Option
                    }
                    Revisited::Nothing => {
                        step.graph.undo(frame.mark);
                        Applied::Dead(1)
                    }
                    Revisited::Half { read } => {
                        let other = read.filter(|_| step.graph.equivalence == Equivalence::ReadsFrom);
                        let level = other.and_then(|read| {
                            other_witness(step.context, step.graph, &read, Some(stamp), frame.weight, pool)
                        });
                        step.graph.pop();
                        step.graph.undo(frame.mark);
                        level.map_or(Applied::Dead(1), |level| Applied::Level(Box::new(level)))
                    }
                }
            }
        }
    }
}
