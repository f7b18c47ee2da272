//! Stacks and queues with removals that never returned.
//!
//! A pending removal may have done nothing or may have taken a value that nobody else took. Which one matters: `push a, push b, pop
//! (pending), pop -> a` is linearizable only because the pending pop may have taken `b`. Giving a value that is
//! left over a removal `[c, INF)` instead of the virtual one only enlarges an interval, so it never hurts.
//!
//! 1. Without using any pending removal: if that works, done.
//! 2. With the earliest pending call given to *every* value left over: if that does not work, nothing does.
//! 3. A value left over that must be out before some other removal returned needs a pending removal called before
//!    that. These deadlines must be met by distinct calls: earliest deadline first. That assignment is tried; for queues
//!    without empty removals it is exact.
//! 4. Otherwise search for a removal for each value that needs one ([`super::stack_pairs`], [`super::queue_pairs`]). It stops at a
//!    budget with [`Decision::Unknown`].
//!
//! Ours; Grahn 2026 treats complete histories. Cost: steps 1 to 3 as the monitor; step 4 exponential in the number of pending removals at worst.

use super::matching::{Discipline, Empty, Matched, Val};
use super::pairing::{Paired, Problem};
use super::queue::{self, QueueAlgorithm, QueueFailure};
use super::segments::cover;
use super::stack::{self, StackAlgorithm, StackFailure};
use super::{queue_pairs, stack_pairs};
use crate::history::{OpId, Ts};
use crate::search::{Budget, Limit};

/// How to decide.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Stack or queue.
    pub discipline: Discipline,
    /// For stacks.
    pub stack: StackAlgorithm,
    /// For queues.
    pub queue: QueueAlgorithm,
    /// What sharing out pending removals may cost.
    pub budget: Budget,
}

/// What cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Two values: `outer` was certainly stored around the whole life of the other, in a queue; or was pushed under it and came out before it, in a stack.
    Pair(Val, Val),
    /// Several values of a stack.
    Stuck(Vec<Val>),
    /// Something is stored throughout an empty removal: the removal and values that cover it.
    Covered(Empty, Vec<Val>),
}

/// What came of deciding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A linearization.
    Holds(Vec<OpId>),
    /// There is none. The conflict is there even if every value left over had been taken by the earliest pending
    /// removal; `None` when only the way pending removals can be shared out is at fault.
    Fails(Option<Conflict>),
    /// A limit was reached.
    Unknown(Limit),
    /// A positive decision without an order; cannot be.
    Broken,
}

enum Attempt {
    Ordered(Vec<OpId>),
    Conflict(Conflict),
    Broken,
}

fn attempt(vals: &[Val], empties: &[Empty], how: &How) -> Attempt {
    let covered = |empty: Empty| match cover(vals, &empty) {
        Some(chosen) => Attempt::Conflict(Conflict::Covered(empty, chosen)),
        None => Attempt::Broken,
    };
    match how.discipline {
        Discipline::Queue => match queue::linearize(vals, empties, how.queue) {
            Ok(Some(order)) => Attempt::Ordered(order),
            Ok(None) => Attempt::Broken,
            Err(QueueFailure::Critical(early, late)) => {
                Attempt::Conflict(Conflict::Pair(vals[early as usize], vals[late as usize]))
            }
            Err(QueueFailure::Empty(empty)) => covered(empty),
        },
        Discipline::Stack => match stack::linearize(vals, empties, how.stack) {
            Ok(order) => Attempt::Ordered(order),
            Err(StackFailure::Empty(empty)) => covered(empty),
            Err(StackFailure::Stuck(stuck)) => {
                let stuck: Vec<Val> = stuck.into_iter().map(|at| vals[at as usize]).collect();
                Attempt::Conflict(match stack::inverted_pair(&stuck) {
                    Some((lower, upper)) => Conflict::Pair(stuck[lower as usize], stuck[upper as usize]),
                    None => Conflict::Stuck(stuck),
                })
            }
        },
    }
}

/// Decides a paired history, which is as it was afterwards.
pub fn decide(matched: &mut Matched, how: &How) -> Decision {
    let left = matched.taken.len();
    // All values in one list, without a second copy of what may be most of the memory.
    matched.taken.extend_from_slice(&matched.left);
    let first = attempt(&matched.taken, &matched.empties, how);
    matched.taken.truncate(left);
    let first = match first {
        Attempt::Ordered(order) => return Decision::Holds(order),
        Attempt::Broken => return Decision::Broken,
        Attempt::Conflict(conflict) => conflict,
    };
    let Some(&(earliest, _)) = matched.open.first() else {
        return Decision::Fails(Some(first));
    };
    if matched.left.is_empty() {
        return Decision::Fails(Some(first));
    }
    let vals: Vec<Val> = matched.taken.iter().chain(&matched.left).copied().collect();
    let mut optimistic = vals.clone();
    for val in &mut optimistic[left..] {
        val.oc = earliest;
    }
    match attempt(&optimistic, &matched.empties, how) {
        Attempt::Conflict(conflict) => return Decision::Fails(Some(conflict)),
        Attempt::Broken => return Decision::Broken,
        Attempt::Ordered(_) => {}
    }
    let deadlines = deadlines(matched, how.discipline);
    if deadlines.len() > matched.open.len() || deadlines.iter().zip(&matched.open).any(|((by, _), (call, _))| call > by)
    {
        return Decision::Fails(None);
    }
    let mut shared = vals;
    for (&(_, value), &(call, op)) in deadlines.iter().zip(&matched.open) {
        let val = &mut shared[left + value as usize];
        (val.oc, val.remove) = (call, Some(op));
    }
    match attempt(&shared, &matched.empties, how) {
        Attempt::Ordered(order) => return Decision::Holds(order),
        Attempt::Broken => return Decision::Broken,
        Attempt::Conflict(_) => {}
    }
    if how.discipline == Discipline::Queue && matched.empties.is_empty() {
        return Decision::Fails(None);
    }
    let problem = Problem::of_matched(matched);
    let (paired, _) = match how.discipline {
        Discipline::Queue => queue_pairs::decide(&problem, &how.budget),
        Discipline::Stack => stack_pairs::decide(&problem, how.stack, &how.budget),
    };
    match paired {
        Paired::Order(order) => Decision::Holds(order),
        Paired::Fails(_) => Decision::Fails(None),
        Paired::Limit(limit) => Decision::Unknown(limit),
    }
}

/// The values left over that must be out by some time, `(time, position)`, in order of time.
fn deadlines(matched: &Matched, discipline: Discipline) -> Vec<(Ts, u32)> {
    let mut deadlines: Vec<(Ts, u32)> = match discipline {
        Discipline::Stack => stack::thresholds(&matched.taken, &matched.left)
            .into_iter()
            .enumerate()
            .filter_map(|(upper, lower)| Some((matched.taken[lower? as usize].or, upper as u32)))
            .collect(),
        Discipline::Queue => {
            // `taken` is in order of insert calls: the least removal return of a suffix.
            let mut least: Vec<Ts> = matched.taken.iter().map(|val| val.or).collect();
            for at in (1..least.len()).rev() {
                least[at - 1] = least[at - 1].min(least[at]);
            }
            let deadline = |val: &Val| least.get(matched.taken.partition_point(|other| other.pc < val.pr)).copied();
            matched.left.iter().enumerate().filter_map(|(at, val)| Some((deadline(val)?, at as u32))).collect()
        }
    };
    deadlines.sort_unstable();
    deadlines
}
