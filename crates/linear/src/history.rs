//! A history: operations with the order of their calls and returns.
//!
//! The events of a history are totally ordered and numbered 0, 1, 2, ...; the number of an event is its
//! time ([`Ts`]). Clock readings serve only to find that order. An operation that never returned is
//! *pending*: its return time is [`Ts::INF`] and its result is unknown.
//!
//! Processes play no part in the definition of linearizability and are kept for people only.
//!
//! Cost: 48 bytes an operation.

use crate::value::{Value, ValueId, Values};

/// The position of an event in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ts(pub u32);

impl Ts {
    /// After everything: the return of an operation that never returned.
    pub const INF: Ts = Ts(u32::MAX);
    /// After every event of the history and before [`Ts::INF`]: the call of a removal that only exists in the argument.
    pub const END: Ts = Ts(u32::MAX - 1);
}

/// The number of an operation in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

impl OpId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an operation does, after the names of the input have been sorted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Put a value in: push, enqueue, add.
    Insert,
    /// Take a value out: pop, dequeue, remove, extract the least.
    Remove,
    /// Take values out one after another; a history has its dequeues instead ([`crate::drain`]).
    Drain,
    /// Ask whether a value is there.
    Contains,
    /// Read the whole state: a register, a counter, a log.
    Read,
    /// Overwrite.
    Write,
    /// Compare and set.
    Cas,
    /// Append to a text or a log.
    Append,
    /// Add a number to a counter.
    Add,
    /// Add a number to a counter and learn what it was before.
    FetchAdd,
    /// Take a lock.
    Acquire,
    /// Try to take a lock.
    TryAcquire,
    /// Give a lock back.
    Release,
    /// Insert at the front of a deque.
    PushFront,
    /// Insert at the back of a deque.
    PushBack,
    /// Remove from the front of a deque.
    PopFront,
    /// Remove from the back of a deque.
    PopBack,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Who called it (a value of the table, for people).
    pub process: ValueId,
    /// The object or key it was called on; [`ValueId::NIL`] when the input names none.
    pub place: ValueId,
    /// What it does.
    pub method: Method,
    /// Its argument, [`ValueId::NIL`] when it has none.
    pub arg: ValueId,
    /// The second argument (the new value of a compare-and-set), else [`ValueId::NIL`].
    pub arg2: ValueId,
    /// What it answered; `None` when nobody knows. A removal that found nothing answered [`ValueId::NIL`].
    pub result: Option<ValueId>,
    /// When it was called.
    pub call: Ts,
    /// When it returned, [`Ts::INF`] if it never did.
    pub ret: Ts,
    /// The line of the input its call stands on, 0 if there is none.
    pub call_line: u32,
    /// The line of the input its return stands on, 0 if there is none.
    pub ret_line: u32,
}

impl Op {
    /// Whether nobody knows how it ended.
    pub fn is_pending(&self) -> bool {
        self.ret == Ts::INF
    }

    /// The same operation, if nobody knew how it ended.
    pub fn pending(&self) -> Op {
        Op { ret: Ts::INF, result: None, ret_line: 0, ..*self }
    }

    /// Whether this operation had returned before the other one was called.
    pub fn precedes(&self, other: &Op) -> bool {
        self.ret < other.call
    }
}

/// A history of one or several objects of one kind, with the table of its values.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The operations in the order of their calls.
    pub ops: Vec<Op>,
    /// The values they speak of.
    pub values: Values,
    /// How many events there are.
    pub events: u32,
}

impl History {
    /// The operation with this number.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// The value with this number.
    pub fn value(&self, id: ValueId) -> &Value {
        self.values.get(id)
    }

    /// The operations with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &Op)> {
        self.ops.iter().enumerate().map(|(index, op)| (OpId(index as u32), op))
    }
}

/// The numbers of all operations of a slice of that length.
pub fn all_ops(length: usize) -> Vec<OpId> {
    (0..length as u32).map(OpId).collect()
}

/// The history as an observer saw it just after event `last`: what was called later is not there, what
/// had not returned is pending with an unknown result.
pub fn prefix(ops: &[Op], last: Ts) -> Vec<Op> {
    ops.iter().filter(|op| op.call <= last).map(|op| if op.ret <= last { *op } else { op.pending() }).collect()
}
