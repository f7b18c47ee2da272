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

/// All events of these operations; pending operations never return. Linear when the operations are most of their history. Four bytes a moment then: events are
/// made one by one.
pub fn timeline(ops: &[Op]) -> impl Iterator<Item = Event> + use<> {
    let last = ops.iter().map(|op| if op.is_pending() { op.call } else { op.ret }).max().unwrap_or(Ts(0));
    let (slots, sorted) =
        if (last.0 as usize) < 8 * ops.len() { (dense(ops, last), Vec::new()) } else { (Vec::new(), sorted(ops)) };
    let slots = slots.into_iter().enumerate().filter(|(_, slot)| *slot != NOBODY);
    let event = |at: u32, entry: u32| Event { op: OpId(entry >> 1), returns: entry & 1 == 1, at: Ts(at) };
    let dense = slots.map(move |(at, slot)| event(at as u32, slot));
    dense.chain(sorted.into_iter().map(move |entry| event((entry >> 32) as u32, entry as u32)))
}

/// The events with their times, of operations that are few in their history.
fn sorted(ops: &[Op]) -> Vec<u64> {
    let mut packed: Vec<u64> = Vec::with_capacity(2 * ops.len());
    for (index, op) in ops.iter().enumerate() {
        packed.push(u64::from(op.call.0) << 32 | (index as u64) << 1);
        if !op.is_pending() {
            packed.push(u64::from(op.ret.0) << 32 | (index as u64) << 1 | 1);
        }
    }
    packed.sort_unstable();
    packed
}

const NOBODY: u32 = u32::MAX;

/// One slot for each moment: no two events of a history share one.
fn dense(ops: &[Op], last: Ts) -> Vec<u32> {
    let mut slots = vec![NOBODY; last.0 as usize + 1];
    for (index, op) in ops.iter().enumerate() {
        slots[op.call.0 as usize] = (index as u32) << 1;
        if !op.is_pending() {
            slots[op.ret.0 as usize] = (index as u32) << 1 | 1;
        }
    }
    slots
}
