//! Queues in linear time, once the events are in order.
//!
//! A pair `(early, late)` of values is *critical* if `early` was certainly in before `late` was called in, and `late` was out
//! before the removal of `early` was even called: the outer interval of `late` lies inside the inner interval of `early`. A
//! history is linearizable iff there is no critical pair and every empty removal meets a gap ([`super::segments`]).
//!
//! The sweep: go through the events; on the return of an insert remember the value whose removal is called last; on the call of
//! an insert compare that with the return of the value's own removal.
//!
//! The linearization: normalise `pr' = min(pr, or)`, `oc' = max(oc, pc)`; repeatedly take a value whose insert may go first
//! (`pc <= min pr'`) and whose removal may go first (`oc' <= min or`) among the remaining ones. Both properties, once
//! gained, stay. Barriers of empty removals cut the values into blocks that are ordered one after another.
//!
//! After Grahn 2026 (the theorem) and Gibbons, Bruno, Phillips 2002 (linear time); the sweep, the empty removals and the linearization are
//! ours. Overlapping values stay in: unlike on a stack, an insert next to its removal needs an empty queue. Cost: n log n to
//! sort, then linear.

use super::matching::{Empty, Val};
use super::queue_tree;
use super::segments::{Barrier, barriers, populated};
use crate::history::{OpId, Ts};

/// Which of the three procedures finds critical pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QueueAlgorithm {
    /// One sweep over the events.
    #[default]
    Sweep,
    /// The interval tree.
    Tree,
    /// The definition: every pair of values.
    AllPairs,
}

/// A critical pair `(early, late)` by position; of all of them one that shows first, where the procedure allows to choose.
pub fn critical_pair(vals: &[Val], algorithm: QueueAlgorithm) -> Option<(u32, u32)> {
    match algorithm {
        QueueAlgorithm::Sweep => sweep(vals),
        QueueAlgorithm::Tree => queue_tree::critical_pair(vals),
        QueueAlgorithm::AllPairs => all_pairs(vals),
    }
}

fn sorted_by(count: usize, key: impl Fn(usize) -> Ts) -> Vec<u32> {
    let mut packed: Vec<u64> = (0..count).map(|at| u64::from(key(at).0) << 32 | at as u64).collect();
    if !packed.is_sorted() {
        packed.sort_unstable();
    }
    packed.into_iter().map(|entry| entry as u32).collect()
}

fn sweep(vals: &[Val]) -> Option<(u32, u32)> {
    let calls = sorted_by(vals.len(), |at| vals[at].pc);
    let mut returns = sorted_by(vals.len(), |at| vals[at].pr).into_iter().peekable();
    let mut longest: Option<u32> = None;
    let mut found: Option<(u32, u32)> = None;
    for late in calls {
        let val = &vals[late as usize];
        while let Some(early) = returns.next_if(|&early| vals[early as usize].pr < val.pc) {
            if longest.is_none_or(|best| vals[early as usize].oc > vals[best as usize].oc) {
                longest = Some(early);
            }
        }
        if let Some(early) = longest
            && vals[early as usize].oc > val.or
            && found.is_none_or(|(_, other)| val.or < vals[other as usize].or)
        {
            found = Some((early, late));
        }
    }
    found
}

fn all_pairs(vals: &[Val]) -> Option<(u32, u32)> {
    for (early, b) in vals.iter().enumerate() {
        for (late, a) in vals.iter().enumerate() {
            if b.pr < a.pc && a.or < b.oc {
                return Some((early as u32, late as u32));
            }
        }
    }
    None
}

/// Why values and empty removals cannot be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFailure {
    /// The critical pair `(early, late)`, by position.
    Critical(u32, u32),
    /// Something is stored throughout this empty removal.
    Empty(Empty),
}

/// A linearization of all values and empty removals; virtual removals are left out.
///
/// `None` inside the `Ok` means that the decision was positive and no order was found, which cannot be.
pub fn linearize(
    vals: &[Val],
    empties: &[Empty],
    algorithm: QueueAlgorithm,
) -> Result<Option<Vec<OpId>>, QueueFailure> {
    if let Some((early, late)) = critical_pair(vals, algorithm) {
        return Err(QueueFailure::Critical(early, late));
    }
    let barriers = barriers(&populated(vals.iter()), empties).map_err(QueueFailure::Empty)?;
    if barriers.is_empty() {
        let mut order = Vec::with_capacity(2 * vals.len());
        return Ok(fifo(vals).map(|line| {
            merge(vals, &line, Ts(0), &mut order);
            order
        }));
    }
    let block_of = |val: &Val| {
        if val.overlaps() {
            let point = val.pc.max(val.oc);
            barriers.partition_point(|barrier| barrier.at < point)
        } else {
            barriers.partition_point(|barrier| barrier.gap_from.is_none_or(|gap| gap < val.pr))
        }
    };
    let mut blocks: Vec<(u32, u32)> = (0u32..).zip(vals).map(|(at, val)| (block_of(val) as u32, at)).collect();
    blocks.sort_unstable();
    let mut order = Vec::with_capacity(2 * vals.len() + empties.len());
    let mut now = Ts(0);
    let mut rest = &blocks[..];
    for index in 0..=barriers.len() {
        let end = rest.partition_point(|(block, _)| *block as usize <= index);
        let (block, later) = rest.split_at(end);
        rest = later;
        let members: Vec<Val> = block.iter().map(|(_, at)| vals[*at as usize]).collect();
        match fifo(&members) {
            Some(line) => now = merge(&members, &line, now, &mut order),
            None => return Ok(None),
        }
        if let Some(Barrier { op, at, .. }) = barriers.get(index) {
            now = now.max(*at);
            order.push(*op);
        }
    }
    Ok(Some(order))
}

/// An order in which the values of a block go in and come out.
fn fifo(vals: &[Val]) -> Option<Vec<u32>> {
    let insert_by = |val: &Val| val.pr.min(val.or);
    let remove_from = |val: &Val| val.oc.max(val.pc);
    let by_insert_end = sorted_by(vals.len(), |at| insert_by(&vals[at]));
    let by_remove_end = sorted_by(vals.len(), |at| vals[at].or);
    let mut inserts = sorted_by(vals.len(), |at| vals[at].pc).into_iter().peekable();
    let mut removes = sorted_by(vals.len(), |at| remove_from(&vals[at])).into_iter().peekable();
    let mut flags = vec![0u8; vals.len()];
    let mut placed = vec![false; vals.len()];
    let (mut first_insert, mut first_remove) = (0, 0);
    let mut ready = Vec::new();
    let mut line = Vec::with_capacity(vals.len());
    while line.len() < vals.len() {
        while placed[by_insert_end[first_insert] as usize] {
            first_insert += 1;
        }
        while placed[by_remove_end[first_remove] as usize] {
            first_remove += 1;
        }
        let least_insert = insert_by(&vals[by_insert_end[first_insert] as usize]);
        let least_remove = vals[by_remove_end[first_remove] as usize].or;
        while let Some(at) = inserts.next_if(|&at| vals[at as usize].pc <= least_insert) {
            flags[at as usize] |= 1;
            if flags[at as usize] == 3 {
                ready.push(at);
            }
        }
        while let Some(at) = removes.next_if(|&at| remove_from(&vals[at as usize]) <= least_remove) {
            flags[at as usize] |= 2;
            if flags[at as usize] == 3 {
                ready.push(at);
            }
        }
        let at = ready.pop()?;
        placed[at as usize] = true;
        line.push(at);
    }
    Some(line)
}

/// Places inserts and removals of a block in time, inserts first where both may go; the time reached.
fn merge(vals: &[Val], line: &[u32], start: Ts, order: &mut Vec<OpId>) -> Ts {
    let (mut insert_at, mut remove_at) = (start, start);
    let mut inserts = Vec::with_capacity(line.len());
    let mut removes = Vec::with_capacity(line.len());
    for &at in line {
        let val = &vals[at as usize];
        insert_at = insert_at.max(val.pc);
        remove_at = remove_at.max(insert_at).max(val.oc);
        inserts.push((insert_at, val.insert));
        removes.push((remove_at, val.remove));
    }
    let mut inserts = inserts.into_iter().peekable();
    let mut now = start;
    for (at, op) in removes {
        while let Some((when, insert)) = inserts.next_if(|(when, _)| *when <= at) {
            now = now.max(when);
            order.push(insert);
        }
        if let Some(op) = op {
            now = now.max(at);
            order.push(op);
        }
    }
    now
}
