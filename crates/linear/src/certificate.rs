//! Checking a linearization, without trusting whoever produced it.
//!
//! A sequence of operations respects real time iff the running maximum of their calls never exceeds the return of the next one;
//! it must hold every operation that returned, no operation twice; and it must be legal when it is replayed on the
//! sequential object. A pending operation may be there, with whatever result the replay gives it.
//!
//! Stacks, queues, sets and multisets are replayed in place, in linear time. Every other object is replayed on its
//! [`Model`], following all states that are possible.

use std::collections::{HashSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::history::{Method, Op, OpId, Ts};
use crate::monitor::set::{Role, role};
use crate::object::ObjectKind;
use crate::search::model::Model;
use crate::value::ValueId;

/// What is wrong with a linearization.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refuted {
    /// An operation is in it twice.
    #[error("operation {} stands in the linearization twice", .0.0)]
    Twice(OpId),
    /// An operation that returned is missing.
    #[error("operation {} returned but is not in the linearization", .0.0)]
    Missing(OpId),
    /// An operation stands behind one that was called after it had returned.
    #[error("operation {} stands behind an operation that was called after it had returned", .0.0)]
    RealTime(OpId),
    /// The object would not have answered so.
    #[error("operation {} is not legal at its place in the linearization", .0.0)]
    Illegal(OpId),
}

/// Checks that an order of operations is complete and respects real time.
pub fn check_order(ops: &[Op], order: &[OpId]) -> Result<(), Refuted> {
    let mut seen = vec![false; ops.len()];
    let mut now = Ts(0);
    for &id in order {
        let op = ops.get(id.index()).ok_or(Refuted::Illegal(id))?;
        if std::mem::replace(&mut seen[id.index()], true) {
            return Err(Refuted::Twice(id));
        }
        now = now.max(op.call);
        if now > op.ret {
            return Err(Refuted::RealTime(id));
        }
    }
    match seen.iter().zip(ops).position(|(seen, op)| !seen && !op.is_pending()) {
        Some(missing) => Err(Refuted::Missing(OpId(missing as u32))),
        None => Ok(()),
    }
}

/// Checks a linearization of a stack, queue, set or multiset; `None` for other objects.
pub fn check_container(kind: ObjectKind, ops: &[Op], order: &[OpId]) -> Option<Result<(), Refuted>> {
    let legal: fn(&[Op], &[OpId]) -> Option<OpId> = match kind {
        ObjectKind::Stack => |ops, order| line_up(ops, order, VecDeque::pop_back),
        ObjectKind::Queue => |ops, order| line_up(ops, order, VecDeque::pop_front),
        ObjectKind::Set => set,
        ObjectKind::Multiset => multiset,
        _ => return None,
    };
    Some(check_order(ops, order).and_then(|()| legal(ops, order).map_or(Ok(()), |op| Err(Refuted::Illegal(op)))))
}

/// Checks a linearization of a register that is read and written.
pub fn check_register(ops: &[Op], order: &[OpId], initial: Option<ValueId>) -> Result<(), Refuted> {
    check_order(ops, order)?;
    let mut holds = initial;
    let wrong = order.iter().copied().find(|id| {
        let op = &ops[id.index()];
        match op.method {
            Method::Write => holds = Some(op.arg),
            Method::Read => return op.result.is_some_and(|result| holds != Some(result)),
            _ => return true,
        }
        false
    });
    wrong.map_or(Ok(()), |id| Err(Refuted::Illegal(id)))
}

/// The first illegal operation of a stack or queue.
fn line_up(ops: &[Op], order: &[OpId], take: fn(&mut VecDeque<ValueId>) -> Option<ValueId>) -> Option<OpId> {
    let mut stored = VecDeque::new();
    order.iter().copied().find(|id| {
        let op = &ops[id.index()];
        if op.method == Method::Insert {
            stored.push_back(op.arg);
            return false;
        }
        let taken = take(&mut stored).unwrap_or(ValueId::NIL);
        op.result.is_some_and(|result| result != taken)
    })
}

fn set(ops: &[Op], order: &[OpId]) -> Option<OpId> {
    let mut present: FxHashMap<ValueId, bool> = FxHashMap::default();
    order.iter().copied().find(|id| {
        let op = &ops[id.index()];
        let there = present.entry(op.arg).or_default();
        match role(op) {
            Role::Add => std::mem::replace(there, true),
            Role::Remove => !std::mem::replace(there, false),
            Role::Query(wanted) => *there != wanted,
            Role::Nothing => false,
        }
    })
}

fn multiset(ops: &[Op], order: &[OpId]) -> Option<OpId> {
    let mut stored: FxHashMap<ValueId, u64> = FxHashMap::default();
    order.iter().copied().find(|id| {
        let op = &ops[id.index()];
        let count = stored.entry(op.arg).or_default();
        match role(op) {
            Role::Add => *count += 1,
            // An add to a multiset never fails.
            Role::Query(_) if op.method == Method::Insert => return true,
            Role::Remove => match count.checked_sub(1) {
                Some(less) => *count = less,
                None => return true,
            },
            Role::Query(wanted) => return (*count > 0) != wanted,
            Role::Nothing => {}
        }
        false
    })
}

/// The first position of a sequence at which no state of the model is left.
pub fn replay<'a, M: Model>(model: &M, steps: impl Iterator<Item = (&'a M::Call, Option<&'a M::Ret>)>) -> Option<usize>
where
    M::Call: 'a,
    M::Ret: 'a,
{
    let mut states = vec![model.initial()];
    for (position, (call, ret)) in steps.enumerate() {
        let mut next = Vec::new();
        let mut known = HashSet::new();
        for state in &states {
            for successor in model.step(state, call, ret) {
                if states.len() == 1 || known.insert(successor.clone()) {
                    next.push(successor);
                }
            }
        }
        if next.is_empty() {
            return Some(position);
        }
        states = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(method: Method, arg: u32, result: Option<u32>, call: u32, ret: u32) -> Op {
        Op {
            process: ValueId::NIL,
            place: ValueId::NIL,
            method,
            arg: ValueId(arg),
            arg2: ValueId::NIL,
            result: result.map(ValueId),
            call: Ts(call),
            ret: Ts(ret),
            call_line: 0,
            ret_line: 0,
        }
    }

    #[test]
    fn a_wrong_linearization_is_refuted_for_the_right_reason() {
        let ops = [
            op(Method::Insert, 5, Some(0), 0, 1),
            op(Method::Insert, 6, Some(0), 2, 3),
            op(Method::Remove, 0, Some(6), 4, 5),
        ];
        let check = |kind, order: &[u32]| {
            let order: Vec<OpId> = order.iter().copied().map(OpId).collect();
            check_container(kind, &ops, &order).expect("a container")
        };
        assert_eq!(check(ObjectKind::Stack, &[0, 1, 2]), Ok(()));
        assert_eq!(check(ObjectKind::Queue, &[0, 1, 2]), Err(Refuted::Illegal(OpId(2))));
        assert_eq!(check(ObjectKind::Queue, &[1, 0, 2]), Err(Refuted::RealTime(OpId(0))));
        assert_eq!(check(ObjectKind::Stack, &[0, 1]), Err(Refuted::Missing(OpId(2))));
        assert_eq!(check(ObjectKind::Stack, &[0, 0, 1, 2]), Err(Refuted::Twice(OpId(0))));
    }

    #[test]
    fn a_register_holds_what_was_written_last() {
        let ops = [
            op(Method::Write, 5, Some(0), 0, 5),
            op(Method::Read, 0, Some(5), 1, 2),
            op(Method::Read, 0, Some(4), 3, 4),
            op(Method::Cas, 5, Some(2), 6, 7),
        ];
        let check = |count: usize, order: &[u32], initial: u32| {
            let order: Vec<OpId> = order.iter().copied().map(OpId).collect();
            check_register(&ops[..count], &order, Some(ValueId(initial)))
        };
        assert_eq!(check(2, &[0, 1], 4), Ok(()));
        assert_eq!(check(2, &[1, 0], 5), Ok(()));
        assert_eq!(check(2, &[1, 0], 4), Err(Refuted::Illegal(OpId(1))));
        assert_eq!(check(3, &[0, 1, 2], 4), Err(Refuted::Illegal(OpId(2))));
        assert_eq!(check(3, &[2, 0, 1], 4), Err(Refuted::RealTime(OpId(1))));
        assert_eq!(check(3, &[0, 1], 4), Err(Refuted::Missing(OpId(2))));
        assert_eq!(check(4, &[0, 1, 2, 3], 4), Err(Refuted::Illegal(OpId(2))));
    }
}
