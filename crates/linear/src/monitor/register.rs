//! An order for a register whose values are written once.
//!
//! All operations on one value form a cluster; let `f` be its first return and `s` its last call. A cluster `u` has to come before `v` if `f(u) < s(v)`, and if
//! the history is linearizable then not also `f(v) < s(u)` (Gibbons and Korach 1997), so that `f(u) + s(u) < f(v) + s(v)`: sorting by that sum finds an order if there is
//! one. Within a cluster the write goes first, then reads in the order of their calls.
//!
//! This proposes; whether the order stands is for the certificate to say, and if it does not the general checker decides and explains. Cost: n log n, and 20 bytes an
//! operation at most.

use crate::history::{Method, Op, OpId, Ts};
use crate::value::ValueId;

/// An order that is a linearization if there is one; nothing if there are other methods than reads and writes, values that are written twice or never, or reads
/// that returned and of which nobody knows what they saw.
pub fn propose(ops: &[Op], initial: Option<ValueId>) -> Option<Vec<OpId>> {
    let mut uses: Vec<(ValueId, OpId)> = Vec::with_capacity(ops.len());
    for (at, op) in (0u32..).zip(ops) {
        match (op.method, op.result) {
            (Method::Write, _) => uses.push((op.arg, OpId(at))),
            (Method::Read, Some(value)) => uses.push((value, OpId(at))),
            (Method::Read, None) if op.is_pending() => {}
            _ => return None,
        }
    }
    uses.sort_unstable();
    let op = |id: OpId| &ops[id.index()];
    let writes = |id: &OpId| op(*id).method == Method::Write;
    let mut clusters: Vec<(u64, u32, u32)> = Vec::new();
    let mut from = 0;
    for cluster in uses.chunk_by(|one, two| one.0 == two.0) {
        let to = from + cluster.len() as u32;
        let first = initial == Some(cluster[0].0);
        if cluster.iter().filter(|(_, id)| writes(id)).count() + usize::from(first) != 1 {
            return None;
        }
        let first_return = cluster.iter().map(|(_, id)| op(*id).ret).min().unwrap_or(Ts::INF);
        let last_call = cluster.iter().map(|(_, id)| op(*id).call).max().unwrap_or(Ts(0));
        // A write that never returned and that nobody saw is left out.
        if first_return < Ts::INF {
            let place = if first { 0 } else { 1 + u64::from(first_return.0) + u64::from(last_call.0) };
            clusters.push((place, from, to));
        }
        from = to;
    }
    clusters.sort_unstable();
    let mut order = Vec::with_capacity(uses.len());
    for (_, from, to) in clusters {
        let cluster = || uses[from as usize..to as usize].iter().map(|(_, id)| *id);
        order.extend(cluster().filter(writes));
        order.extend(cluster().filter(|id| !writes(id)));
    }
    Some(order)
}
