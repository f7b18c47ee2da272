//! A drain takes values out one after another until it returns, as Jepsen's queues do it.
//!
//! So it stands for as many dequeues, each somewhere between the call and the return of the drain, in the order of its answer; others may come in between. Of
//! a bag the order tells nothing. Of a queue each dequeue carries which drain it belongs to and how far that is, and the model takes it in that order only. Of a drain
//! that never returned nobody knows how much it took; there is no verdict on such a history.

use crate::format::InputError;
use crate::history::{Method, Op, Ts};
use crate::object::ObjectKind;
use crate::value::{Value, ValueId, Values};

/// A dequeue of a drain: which drain, and how many come before it of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// The number of the drain.
    pub drain: i64,
    /// How many dequeues of it come before.
    pub before: i64,
    /// How many there are.
    pub all: i64,
}

impl Drained {
    /// What the argument of a dequeue says, if it is one of a drain.
    pub fn of(value: &Value) -> Option<Drained> {
        match value {
            Value::List(parts) => match **parts {
                [Value::Int(drain), Value::Int(before), Value::Int(all)] => Some(Drained { drain, before, all }),
                _ => None,
            },
            _ => None,
        }
    }

    /// As the argument of a dequeue.
    pub fn value(self) -> Value {
        Value::list([Value::Int(self.drain), Value::Int(self.before), Value::Int(self.all)])
    }

    /// The one before, if there is one.
    pub fn previous(self) -> Option<Drained> {
        (self.before > 0).then(|| Drained { before: self.before - 1, ..self })
    }

    /// Whether it is the last one.
    pub fn is_last(self) -> bool {
        self.before + 1 == self.all
    }
}

/// Whether some of these operations are dequeues of a drain that have an order.
pub fn ordered(ops: &[Op]) -> bool {
    ops.iter().any(|op| op.method == Method::Remove && op.arg != ValueId::NIL)
}

/// The operations with dequeues in place of drains, and how many events they have.
pub(crate) fn expand(
    ops: Vec<Op>,
    kind: ObjectKind,
    events: u32,
    values: &mut Values,
) -> Result<(Vec<Op>, u32), InputError> {
    if !ops.iter().any(|op| op.method == Method::Drain) {
        return Ok((ops, events));
    }
    let mut all: Vec<Op> = Vec::with_capacity(ops.len());
    for (drain, op) in (0..).zip(ops) {
        if op.method != Method::Drain {
            all.push(op);
            continue;
        }
        if op.is_pending() {
            let message =
                "nobody knows how much a drain took that never returned; there is no verdict on such a history";
            return Err(InputError::at(op.call_line, "", message));
        }
        let items = match op.result.map(|result| values.get(result)) {
            Some(Value::List(items)) => items.clone(),
            _ => [].into(),
        };
        for (before, item) in (0..).zip(items.iter()) {
            let place = Drained { drain, before, all: items.len() as i64 };
            let tells = kind == ObjectKind::Queue && items.len() > 1;
            let arg = if tells { values.intern(place.value()) } else { ValueId::NIL };
            all.push(Op { method: Method::Remove, arg, result: Some(values.intern(item.clone())), ..op });
        }
    }
    // Several operations now have the call and the return of a drain; events get new numbers in the same order.
    let mut times: Vec<(Ts, bool, u32)> = Vec::with_capacity(2 * all.len());
    for (at, op) in (0u32..).zip(&all) {
        times.push((op.call, false, at));
        if !op.is_pending() {
            times.push((op.ret, true, at));
        }
    }
    times.sort_unstable();
    for (now, (_, returns, at)) in (0u32..).zip(&times) {
        let op = &mut all[*at as usize];
        *(if *returns { &mut op.ret } else { &mut op.call }) = Ts(now);
    }
    all.sort_unstable_by_key(|op| op.call);
    Ok((all, times.len() as u32))
}
