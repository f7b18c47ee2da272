//! Sets: adds, removes and membership queries, value by value.
//!
//! A history of a set is linearizable iff the projection to each value is, and a failed add (remove) is a query that
//! found the value present (absent). One projection is decided by a lazy greedy: linearize an operation only when its return
//! forces it. If the state is wrong for it, first *toggle* the state with an active operation of the other kind, the one
//! that returns earliest. A query is answered at its call if the state is right, else by the next toggle; if it returns
//! unanswered, its return forces a toggle. If there is nothing to toggle with, the history is not linearizable: at
//! every moment the greedy has changed the state no more often than any linearization.
//!
//! After Grahn 2026, corrected: the published greedy only counts how many operations were linearized early, and lets any later
//! return use up the count, even of an operation that was called after the toggle. With queries that accepts
//! wrong histories. Here the toggled operation itself is marked. Pending adds and removes stay available for toggles
//! for ever; pending queries are dropped.
//!
//! All values are handled in one pass over the events, so the linearizations of the projections come out merged.
//! Cost: n log n. [`counting`] is the simpler published test for complete histories without queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::timeline::timeline;
use crate::history::{Method, Op, OpId, Ts};
use crate::value::ValueId;

/// What an operation does to the projection of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes the value present.
    Add,
    /// Makes the value absent.
    Remove,
    /// Finds the value present or absent.
    Query(bool),
    /// A query without an answer.
    Nothing,
}

/// The role of an operation, from its method and result.
pub fn role(op: &Op) -> Role {
    match (op.method, op.result) {
        (Method::Insert, None | Some(ValueId::TRUE)) => Role::Add,
        (Method::Insert, Some(_)) => Role::Query(true),
        (Method::Remove, None | Some(ValueId::TRUE)) => Role::Remove,
        (Method::Remove, Some(_)) => Role::Query(false),
        (_, Some(ValueId::TRUE)) => Role::Query(true),
        (_, Some(_)) => Role::Query(false),
        (_, None) => Role::Nothing,
    }
}

/// Whether every operation is an add, a remove or a query that tells what it found.
pub fn covers(ops: &[Op]) -> bool {
    ops.iter().all(|op| op.method != Method::Read && (op.is_pending() || op.result.is_some()))
}

/// Where the greedy got stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The value.
    pub value: ValueId,
    /// The operation whose return cannot be explained.
    pub op: OpId,
    /// When that operation returned.
    pub at: Ts,
    /// Whether the value was present then.
    pub present: bool,
}

#[derive(Default)]
struct Projection {
    present: bool,
    adds: BinaryHeap<Reverse<(Ts, u32)>>,
    removes: BinaryHeap<Reverse<(Ts, u32)>>,
    waiting: Vec<OpId>,
}

/// A linearization, or the first return that cannot be explained.
pub fn linearize(ops: &[Op]) -> Result<Vec<OpId>, Stuck> {
    let mut numbers: FxHashMap<ValueId, u32> = FxHashMap::default();
    let mut number = |value: ValueId| {
        let next = numbers.len() as u32;
        *numbers.entry(value).or_insert(next)
    };
    let places: Vec<u32> = ops.iter().map(|op| number(op.arg)).collect();
    let mut projections: Vec<Projection> = Vec::new();
    projections.resize_with(numbers.len(), Projection::default);
    let mut done = vec![false; ops.len()];
    let mut order = Vec::with_capacity(ops.len());
    for event in timeline(ops) {
        let op = &ops[event.op.index()];
        let projection = &mut projections[places[event.op.index()] as usize];
        let key = Reverse((op.ret, event.op.0));
        match (role(op), event.returns) {
            (Role::Add, false) => projection.adds.push(key),
            (Role::Remove, false) => projection.removes.push(key),
            (Role::Query(wanted), false) if wanted == projection.present => {
                done[event.op.index()] = true;
                order.push(event.op);
            }
            (Role::Query(_), false) => projection.waiting.push(event.op),
            (Role::Nothing, _) => {}
            (_, true) if done[event.op.index()] => {}
            (role, true) => {
                let stuck = Stuck { value: op.arg, op: event.op, at: event.at, present: projection.present };
                let forced = match role {
                    Role::Query(_) => None,
                    _ => Some(role == Role::Add),
                };
                // A query needs the other state; an add needs absence, a remove presence.
                if forced.is_none_or(|adds| projection.present == adds) {
                    let toggled = toggle(projection, &mut done).ok_or(stuck)?;
                    order.push(toggled);
                    answer(projection, &mut done, &mut order);
                }
                if let Some(adds) = forced {
                    done[event.op.index()] = true;
                    projection.present = adds;
                    order.push(event.op);
                    answer(projection, &mut done, &mut order);
                }
            }
        }
    }
    Ok(order)
}

/// Changes the state with the active operation that returns earliest.
fn toggle(projection: &mut Projection, done: &mut [bool]) -> Option<OpId> {
    let heap = if projection.present { &mut projection.removes } else { &mut projection.adds };
    loop {
        let Reverse((_, op)) = heap.pop()?;
        if !done[op as usize] {
            done[op as usize] = true;
            projection.present = !projection.present;
            return Some(OpId(op));
        }
    }
}

/// Answers every query that waited for the state that has just been reached.
fn answer(projection: &mut Projection, done: &mut [bool], order: &mut Vec<OpId>) {
    for query in projection.waiting.drain(..) {
        done[query.index()] = true;
        order.push(query);
    }
}

/// The counting test: never more returned removes than called adds, nor more returned adds than called removes plus one.
///
/// `None` where it does not apply: with queries or pending operations it is wrong.
pub fn counting(ops: &[Op]) -> Option<bool> {
    if !covers(ops) {
        return None;
    }
    if ops.iter().any(|op| op.is_pending() || matches!(role(op), Role::Query(_) | Role::Nothing)) {
        return None;
    }
    #[derive(Default)]
    struct Counts {
        adds_called: i64,
        adds_returned: i64,
        removes_called: i64,
        removes_returned: i64,
    }
    let mut counts: FxHashMap<ValueId, Counts> = FxHashMap::default();
    for event in timeline(ops) {
        let op = &ops[event.op.index()];
        let count = counts.entry(op.arg).or_default();
        match (role(op), event.returns) {
            (Role::Add, false) => count.adds_called += 1,
            (Role::Add, true) => count.adds_returned += 1,
            (_, false) => count.removes_called += 1,
            (_, true) => count.removes_returned += 1,
        }
        if count.removes_returned > count.adds_called || count.adds_returned > count.removes_called + 1 {
            return Some(false);
        }
    }
    Some(true)
}
