//! The calls and returns of some operations, in order of time.

use crate::history::{Op, OpId, Ts};

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The operation.
    pub op: OpId,
    /// Whether it returns here (or is called).
    pub returns: bool,
    /// When.
    pub at: Ts,
}

/// All events of these operations; pending operations never return. Linear when the operations are most of their history.
pub fn timeline(ops: &[Op]) -> Vec<Event> {
    let last = ops.iter().map(|op| if op.is_pending() { op.call } else { op.ret }).max().unwrap_or(Ts(0));
    if (last.0 as usize) < 8 * ops.len() {
        return dense(ops, last);
    }
    let mut packed: Vec<u64> = Vec::with_capacity(2 * ops.len());
    for (index, op) in ops.iter().enumerate() {
        packed.push(u64::from(op.call.0) << 32 | (index as u64) << 1);
        if !op.is_pending() {
            packed.push(u64::from(op.ret.0) << 32 | (index as u64) << 1 | 1);
        }
    }
    packed.sort_unstable();
    packed
        .into_iter()
        .map(|entry| Event { op: OpId((entry as u32) >> 1), returns: entry & 1 == 1, at: Ts((entry >> 32) as u32) })
        .collect()
}

/// One slot for each moment: no two events of a history share one.
fn dense(ops: &[Op], last: Ts) -> Vec<Event> {
    const NOBODY: u32 = u32::MAX;
    let mut slots = vec![NOBODY; last.0 as usize + 1];
    for (index, op) in ops.iter().enumerate() {
        slots[op.call.0 as usize] = (index as u32) << 1;
        if !op.is_pending() {
            slots[op.ret.0 as usize] = (index as u32) << 1 | 1;
        }
    }
    let events = slots.into_iter().enumerate().filter(|(_, slot)| *slot != NOBODY);
    events.map(|(at, slot)| Event { op: OpId(slot >> 1), returns: slot & 1 == 1, at: Ts(at as u32) }).collect()
}
