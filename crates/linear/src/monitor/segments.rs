//! Populated and deserted segments: when is something certainly stored?
//!
//! The union of the inner intervals of all values is a sequence of *populated* segments; the open gaps before,
//! between and after them are *deserted*: the object may be empty there. A removal may report "empty" iff its
//! interval meets a gap, and several may use one gap.
//!
//! Why that is enough (splitting lemma): let `(s, e)` be a gap. A value whose insert returned before `e` had both its insert
//! returned and its removal called by `s`; every other value's insert returns at `e` or later. So any linearization of the
//! first group followed by any of the second respects real time, with the object empty at any instant of the gap. An
//! overlapping value can be put on either side of an instant by comparing it with `max(pc, oc)`.
//!
//! After Grahn 2026 for stacks; the rule for queues is the same. Cost: n log n to sort, then linear.

use super::matching::{Empty, Val};
use crate::history::{OpId, Ts};

/// A segment `[from, to]` in which something is certainly stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Populated {
    /// Where it begins: the return of an insert.
    pub from: Ts,
    /// Where it ends: the call of a removal.
    pub to: Ts,
}

/// The populated segments of these values, from left to right.
pub fn populated<'a>(vals: impl Iterator<Item = &'a Val>) -> Vec<Populated> {
    let mut inner: Vec<Populated> =
        vals.filter(|val| !val.overlaps()).map(|val| Populated { from: val.pr, to: val.oc }).collect();
    inner.sort_unstable_by_key(|segment| segment.from);
    let mut merged: Vec<Populated> = Vec::new();
    for next in inner {
        match merged.last_mut() {
            Some(last) if next.from < last.to => last.to = last.to.max(next.to),
            _ => merged.push(next),
        }
    }
    merged
}

/// The place of an empty removal: a barrier that every value lies wholly before or wholly after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// The removal that found nothing.
    pub op: OpId,
    /// Where its gap begins; `None` for the gap before everything.
    pub gap_from: Option<Ts>,
    /// The instant it takes effect just after; never before its gap begins or before its call.
    pub at: Ts,
}

/// A barrier for every empty removal, in order of time, or the first removal that has none.
pub fn barriers(segments: &[Populated], empties: &[Empty]) -> Result<Vec<Barrier>, Empty> {
    let mut barriers = Vec::with_capacity(empties.len());
    let mut failed: Option<Empty> = None;
    for empty in empties {
        // The first gap that ends after the call.
        let index = segments.partition_point(|segment| segment.from < empty.call);
        let gap_from = index.checked_sub(1).map(|before| segments[before].to);
        if gap_from.is_some_and(|from| from > empty.ret) {
            if failed.is_none_or(|other| empty.ret < other.ret) {
                failed = Some(*empty);
            }
            continue;
        }
        let at = gap_from.map_or(empty.call, |from| from.max(empty.call));
        barriers.push(Barrier { op: empty.op, gap_from, at });
    }
    if let Some(empty) = failed {
        return Err(empty);
    }
    barriers.sort_unstable_by_key(|barrier| (barrier.at, barrier.op));
    Ok(barriers)
}

/// The fewest values whose inner intervals together cover the whole interval of an empty removal.
pub fn cover(vals: &[Val], empty: &Empty) -> Option<Vec<Val>> {
    let mut inner: Vec<Val> =
        vals.iter().copied().filter(|val| !val.overlaps() && val.oc > empty.call && val.pr < empty.ret).collect();
    inner.sort_unstable_by_key(|val| val.pr);
    let mut chosen = Vec::new();
    let mut reached = empty.call;
    let mut next = 0;
    while reached < empty.ret {
        let mut best: Option<Val> = None;
        while next < inner.len() && inner[next].pr < reached {
            if best.is_none_or(|val| inner[next].oc > val.oc) {
                best = Some(inner[next]);
            }
            next += 1;
        }
        let val = best.filter(|val| val.oc > reached)?;
        reached = val.oc;
        chosen.push(val);
    }
    Some(chosen)
}
