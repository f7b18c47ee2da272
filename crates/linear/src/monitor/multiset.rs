//! Multisets: count.
//!
//! A history of adds and successful removes is linearizable iff for each value, at every moment, no more removes have returned than
//! adds have been called. Put every add at its call and every remove at its return: if that order is not legal, none is. A pending
//! add counts as called and is used only when needed; a pending remove is dropped.
//!
//! Membership queries, failed removes and failed adds (there are none) are not covered; such histories go to the general checker, value by value.
//!
//! After Grahn 2026. Cost: linear once the events are in order.

use rustc_hash::FxHashMap;

use super::counting::Exceeded;
use super::timeline::timeline;
use crate::history::{Method, Op, OpId};
use crate::value::ValueId;

/// Whether a history has only operations this monitor covers.
pub fn covers(ops: &[Op]) -> bool {
    ops.iter().all(|op| match op.method {
        Method::Insert | Method::Remove => op.result != Some(ValueId::FALSE),
        _ => op.result.is_none(),
    })
}

/// A linearization, or the first remove that exceeds the adds.
pub fn linearize(ops: &[Op]) -> Result<Vec<OpId>, Exceeded> {
    #[derive(Default)]
    struct Count {
        stored: u32,
        called: u32,
        pending: Vec<OpId>,
    }
    let mut counts: FxHashMap<ValueId, Count> = FxHashMap::default();
    let mut order = Vec::with_capacity(ops.len());
    for event in timeline(ops) {
        let op = &ops[event.op.index()];
        match (op.method, event.returns) {
            (Method::Insert, false) => {
                let count = counts.entry(op.arg).or_default();
                count.called += 1;
                if op.is_pending() {
                    count.pending.push(event.op);
                } else {
                    count.stored += 1;
                    order.push(event.op);
                }
            }
            (Method::Remove, true) => {
                let count = counts.entry(op.arg).or_default();
                if count.stored == 0 {
                    let Some(add) = count.pending.pop() else {
                        return Err(Exceeded { value: op.arg, op: event.op, at: event.at, adds: count.called });
                    };
                    count.stored += 1;
                    order.push(add);
                }
                count.stored -= 1;
                order.push(event.op);
            }
            _ => {}
        }
    }
    Ok(order)
}
