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
        .map(|entry| Event {
            op: OpId((entry as u32) >> 1),
            returns: entry & 1 == 1,
            at: Ts((entry >> 32) as u32),
        })
        .collect()
}
