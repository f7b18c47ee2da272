//! What will still be read.
//!
//! A register that holds a value which no operation yet to return can see, and which no append turns into one that is seen, might as well hold
//! any other such value: [`LOST`]. Orders that differ only in what nobody sees so end in the same state. Where a
//! compare-and-set failed this is not so simple (it sees what is *not* there), and no value is given up.
//!
//! What is observed is sorted by key and value; everything that extends a text or list follows it directly, so the last moment at which
//! something that a value may become is seen is the greatest of a range.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::history::{Method, Op, Ts};
use crate::value::{Value, ValueId, Values};

/// A value that nobody will see.
pub(super) const LOST: ValueId = ValueId(u32::MAX);

/// When the values of registers or keys are seen last.
#[derive(Clone, Debug)]
pub(super) struct Foresight {
    /// Keys, what is seen there, and when that returns at the latest; in order.
    seen: Vec<(ValueId, Value, Ts)>,
    /// Whether values may grow.
    appends: bool,
    known: RefCell<FxHashMap<(ValueId, ValueId), Ts>>,
}

impl Foresight {
    /// What these operations see; nothing if some of them see what is not there. `whole` says that keys are kept apart by the model.
    pub(super) fn new(ops: &[Op], whole: bool, values: &Values) -> Option<Foresight> {
        let mut seen = Vec::new();
        for op in ops {
            let key = if whole { op.place } else { ValueId::NIL };
            match (op.method, op.result) {
                (Method::Cas, Some(ValueId::FALSE)) => return None,
                // Where explanations are sought, operations become pending: then it may still come after its return.
                (Method::Cas, _) => seen.push((key, values.get(op.arg).clone(), Ts::INF)),
                (Method::Read, Some(answer)) => seen.push((key, values.get(answer).clone(), op.ret)),
                _ => {}
            }
        }
        seen.sort_unstable_by(|one, two| (one.0, &one.1, one.2).cmp(&(two.0, &two.1, two.2)));
        let appends = ops.iter().any(|op| op.method == Method::Append);
        Some(Foresight { seen, appends, known: RefCell::default() })
    }

    /// The last return of an operation that may see this value at this key, or something it may grow into.
    pub(super) fn last_seen(&self, key: ValueId, number: ValueId, value: impl FnOnce() -> Value) -> Ts {
        if let Some(known) = self.known.borrow().get(&(key, number)) {
            return *known;
        }
        let value = value();
        let last = match value {
            // Appending makes a text of it.
            Value::Nil | Value::Bool(_) | Value::Int(_) if self.appends => Ts::INF,
            _ => {
                let from = self.seen.partition_point(|(place, seen, _)| (*place, seen) < (key, &value));
                let after =
                    self.seen[from..].iter().take_while(|(place, seen, _)| *place == key && self.becomes(&value, seen));
                after.map(|(_, _, last)| *last).max().unwrap_or(Ts(0))
            }
        };
        self.known.borrow_mut().insert((key, number), last);
        last
    }

    fn becomes(&self, value: &Value, seen: &Value) -> bool {
        match (value, seen) {
            (Value::Text(value), Value::Text(seen)) if self.appends => seen.starts_with(value.as_ref()),
            (Value::List(value), Value::List(seen)) if self.appends => seen.starts_with(value),
            _ => value == seen,
        }
    }
}
