//! Stacks and queues in which it is open which removal took what which insert put in.
//!
//! That is so where values repeat, and where removals never returned. [`super::queue_pairs`] and [`super::stack_pairs`] look for pairs; this is what they are
//! given and what they give back.

use crate::history::{Method, Op, OpId, Ts};
use crate::monitor::matching::{Empty, Matched};
use crate::search::Limit;
use crate::value::ValueId;

/// An insert, or a removal that returned a value.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The operation.
    pub op: OpId,
    /// The value it put in or took out.
    pub value: ValueId,
    /// Its call.
    pub call: Ts,
    /// Its return, [`Ts::INF`] for an insert that never did.
    pub ret: Ts,
}

/// What is to be paired.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The inserts.
    pub inserts: Vec<Item>,
    /// The removals that returned a value.
    pub removes: Vec<Item>,
    /// The removals that found nothing.
    pub empties: Vec<Empty>,
    /// The removals nobody knows the result of, in the order of their calls.
    pub lost: Vec<(Ts, OpId)>,
}

impl Problem {
    /// The operations of one stack or queue.
    pub fn of_ops(ops: &[Op]) -> Problem {
        let mut problem = Problem::default();
        for (at, op) in ops.iter().enumerate() {
            let id = OpId(at as u32);
            let item = |value| Item { op: id, value, call: op.call, ret: op.ret };
            match (op.method, op.result) {
                (Method::Insert, _) => problem.inserts.push(item(op.arg)),
                (_, None) => problem.lost.push((op.call, id)),
                (_, Some(ValueId::NIL)) => problem.empties.push(Empty { op: id, call: op.call, ret: op.ret }),
                (_, Some(value)) => problem.removes.push(item(value)),
            }
        }
        problem.lost.sort_unstable();
        problem
    }

    /// Operations of which only the removals that never returned are open.
    pub fn of_matched(matched: &Matched) -> Problem {
        let mut problem =
            Problem { empties: matched.empties.clone(), lost: matched.open.clone(), ..Problem::default() };
        for (number, val) in matched.taken.iter().chain(&matched.left).enumerate() {
            // Values are all different here; their numbers do as well as themselves.
            let value = ValueId(number as u32);
            problem.inserts.push(Item { op: val.insert, value, call: val.pc, ret: val.pr });
            let remove = val.remove.map(|op| Item { op, value, call: val.oc, ret: val.or });
            problem.removes.extend(remove);
        }
        problem
    }
}

/// What came of pairing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paired {
    /// A linearization.
    Order(Vec<OpId>),
    /// There is none; if it is known, the removal whose return nobody gets past.
    Fails(Option<OpId>),
    /// A limit was reached.
    Limit(Limit),
}
