//! The objects this crate knows by name, and what the words of a history mean on each of them.
//!
//! An [`ObjectKind`] translates three things: the name of a method, the value on its call, and the value on
//! its return. What does not fit is an error for the line it stands on; nothing is guessed.
//!
//! The shapes: stacks, queues and priority queues carry the value on the insert's call and on the removal's
//! return (nothing = it was empty); sets and multisets carry `x` on the call and `[x, true|false]` (or just the
//! truth value, or, of an add, just `x`) on the return; registers and maps carry what was written on the call, `[old, new]` for a
//! compare-and-set, what was read on the return.

use std::fmt;
use std::str::FromStr;

use crate::history::Method;
use crate::value::{Value, ValueId, Values};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Last in, first out.
    Stack,
    /// First in, first out.
    Queue,
    /// At most one of each value.
    Set,
    /// Any number of each value.
    Multiset,
    /// What is put in comes out in any order.
    Bag,
    /// One value, read, written, compared-and-set.
    Register,
    /// One register a key, with append for texts.
    Map,
    /// A whole number.
    Counter,
    /// A sequence that only grows.
    Log,
    /// Held by one process at a time, which alone can release it.
    Lock,
    /// Held at most once at a time; anyone can release it.
    Mutex,
    /// The least value comes out.
    PriorityQueue,
    /// In and out at both ends.
    Deque,
}

/// Every kind with the name people write.
pub const KINDS: [(ObjectKind, &str); 13] = [
    (ObjectKind::Stack, "stack"),
    (ObjectKind::Queue, "queue"),
    (ObjectKind::Set, "set"),
    (ObjectKind::Multiset, "multiset"),
    (ObjectKind::Bag, "bag"),
    (ObjectKind::Register, "register"),
    (ObjectKind::Map, "map"),
    (ObjectKind::Counter, "counter"),
    (ObjectKind::Log, "log"),
    (ObjectKind::Lock, "lock"),
    (ObjectKind::Mutex, "mutex"),
    (ObjectKind::PriorityQueue, "priority-queue"),
    (ObjectKind::Deque, "deque"),
];

impl fmt::Display for ObjectKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = KINDS.iter().find(|(kind, _)| kind == self).map_or("object", |(_, name)| name);
        out.write_str(name)
    }
}

impl ObjectKind {
    /// The name of a method on this kind of object.
    pub fn method_name(self, method: Method) -> &'static str {
        match (self, method) {
            (ObjectKind::Stack, Method::Insert) => "push",
            (ObjectKind::Stack, Method::Remove) => "pop",
            (ObjectKind::Queue | ObjectKind::Bag, Method::Insert) => "enqueue",
            (ObjectKind::Queue | ObjectKind::Bag, Method::Remove) => "dequeue",
            (_, Method::Drain) => "drain",
            (ObjectKind::PriorityQueue, Method::Insert) => "insert",
            (ObjectKind::PriorityQueue, Method::Remove) => "extract-min",
            (_, Method::Insert) => "add",
            (_, Method::Remove) => "remove",
            (_, Method::Contains) => "contains",
            (_, Method::Read) => "read",
            (_, Method::Write) => "write",
            (_, Method::Cas) => "cas",
            (_, Method::Append) => "append",
            (_, Method::Add) => "add",
            (_, Method::FetchAdd) => "fetch-add",
            (_, Method::Acquire) => "acquire",
            (_, Method::TryAcquire) => "try-acquire",
            (_, Method::Release) => "release",
            (_, Method::PushFront) => "push-front",
            (_, Method::PushBack) => "push-back",
            (_, Method::PopFront) => "pop-front",
            (_, Method::PopBack) => "pop-back",
        }
    }
}

/// A name that is none of [`KINDS`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown object type `{0}`; known are stack, queue, set, multiset, bag, register, map, counter, log, lock, mutex, priority-queue, deque"
)]
pub struct UnknownKind(pub String);

impl FromStr for ObjectKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<ObjectKind, UnknownKind> {
        let lower = name.to_ascii_lowercase();
        let bare = lower.strip_prefix("atomic-").unwrap_or(&lower);
        match bare {
            "cas-register" => return Ok(ObjectKind::Register),
            "kv" => return Ok(ObjectKind::Map),
            "unordered-queue" | "pool" => return Ok(ObjectKind::Bag),
            "priorityqueue" | "pqueue" | "heap" => return Ok(ObjectKind::PriorityQueue),
            _ => {}
        }
        KINDS
            .iter()
            .find(|(_, known)| *known == bare)
            .map(|(kind, _)| *kind)
            .ok_or_else(|| UnknownKind(name.to_string()))
    }
}

/// What one call or return says, before it is put into an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The argument.
    pub arg: ValueId,
    /// The second argument.
    pub arg2: ValueId,
    /// The result, where the input already tells it on the call.
    pub result: Option<ValueId>,
}

impl ObjectKind {
    /// The method with this name on this kind of object.
    pub fn method(self, name: &str) -> Option<Method> {
        match self.method_exact(name) {
            Some(method) => Some(method),
            None if name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'_') => {
                self.method_exact(&name.to_ascii_lowercase().replace('_', "-"))
            }
            None => None,
        }
    }

    fn method_exact(self, name: &str) -> Option<Method> {
        use Method::*;
        Some(match (self, name) {
            (
                ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Bag | ObjectKind::PriorityQueue,
                "push" | "enqueue" | "enq" | "add" | "insert" | "put" | "offer",
            ) => Insert,
            (
                ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Bag | ObjectKind::PriorityQueue,
                "pop" | "dequeue" | "deq" | "remove" | "rem" | "get" | "poll",
            ) => Remove,
            (ObjectKind::PriorityQueue, "extract" | "extract-min" | "remove-min" | "delete-min" | "pop-min") => Remove,
            (ObjectKind::Queue | ObjectKind::Bag, "drain") => Drain,
            (ObjectKind::Set | ObjectKind::Multiset, "read") => Read,
            (ObjectKind::Set | ObjectKind::Multiset, "add" | "insert") => Insert,
            (ObjectKind::Set | ObjectKind::Multiset, "remove" | "rem" | "rmv" | "delete") => Remove,
            (ObjectKind::Set | ObjectKind::Multiset, "contains" | "ctn" | "member") => Contains,
            (ObjectKind::Register | ObjectKind::Map, "read" | "get" | "r") => Read,
            (ObjectKind::Register | ObjectKind::Map, "write" | "put" | "set" | "w") => Write,
            (ObjectKind::Register | ObjectKind::Map, "cas" | "compare-and-set") => Cas,
            (ObjectKind::Register | ObjectKind::Map, "append") => Append,
            (ObjectKind::Counter, "read" | "get") => Read,
            (ObjectKind::Counter, "add" | "inc" | "increment" | "dec" | "decrement") => Add,
            (ObjectKind::Counter, "fetch-add" | "get-and-add") => FetchAdd,
            (ObjectKind::Log, "append" | "add") => Append,
            (ObjectKind::Log, "read" | "get") => Read,
            (ObjectKind::Lock | ObjectKind::Mutex, "acquire" | "lock") => Acquire,
            (ObjectKind::Lock | ObjectKind::Mutex, "try-acquire" | "try-lock") => TryAcquire,
            (ObjectKind::Lock | ObjectKind::Mutex, "release" | "unlock") => Release,
            (ObjectKind::Deque, "push-front" | "add-first") => PushFront,
            (ObjectKind::Deque, "push-back" | "push" | "add-last") => PushBack,
            (ObjectKind::Deque, "pop-front" | "poll-first") => PopFront,
            (ObjectKind::Deque, "pop-back" | "pop" | "poll-last") => PopBack,
            _ => return None,
        })
    }

    /// The arguments of a call, or what was expected instead.
    pub fn arguments(
        self,
        method: Method,
        name: &str,
        value: ValueId,
        values: &mut Values,
    ) -> Result<Arguments, String> {
        use Method::*;
        let plain = |arg| Ok(Arguments { arg, arg2: ValueId::NIL, result: None });
        match method {
            Insert | Append | PushFront | PushBack if value == ValueId::NIL => {
                Err(format!("`{name}` needs a value on its call"))
            }
            Remove
                if matches!(
                    self,
                    ObjectKind::Stack | ObjectKind::Queue | ObjectKind::Bag | ObjectKind::PriorityQueue
                ) =>
            {
                let result = (value != ValueId::NIL).then_some(value);
                Ok(Arguments { arg: ValueId::NIL, arg2: ValueId::NIL, result })
            }
            Remove | Contains if value == ValueId::NIL => Err(format!("`{name}` needs a value on its call")),
            Insert | Append | PushFront | PushBack | Remove | Contains | Write => plain(value),
            Read | Drain | Acquire | TryAcquire | Release | PopFront | PopBack => plain(ValueId::NIL),
            Cas => match values.get(value) {
                Value::List(pair) if pair.len() == 2 => {
                    let pair = pair.clone();
                    let (arg, arg2) = (values.intern(pair[0].clone()), values.intern(pair[1].clone()));
                    Ok(Arguments { arg, arg2, result: None })
                }
                other => Err(format!("`{name}` needs [old, new] on its call, found {other}")),
            },
            Add | FetchAdd => {
                let sign = if name.to_ascii_lowercase().starts_with("dec") { -1 } else { 1 };
                let amount = match values.get(value) {
                    Value::Int(amount) => *amount,
                    Value::Nil if method == Add => 1,
                    other => {
                        return Err(format!("`{name}` needs a whole number on its call, found {other}"));
                    }
                };
                let amount = amount.checked_mul(sign).ok_or_else(|| format!("the number of `{name}` is too large"))?;
                plain(values.intern_int(amount))
            }
        }
    }

    /// The result of an operation that returned `value`, or what was expected instead.
    pub fn result(
        self,
        method: Method,
        name: &str,
        arg: ValueId,
        value: ValueId,
        values: &mut Values,
    ) -> Result<ValueId, String> {
        use Method::*;
        let is_truth = |value: ValueId| matches!(value, ValueId::TRUE | ValueId::FALSE);
        let truth = |values: &Values, value: ValueId| match values.get(value) {
            Value::Bool(truth) => Ok(ValueId::of_bool(*truth)),
            Value::List(pair) => match pair.as_ref() {
                [about, Value::Bool(truth)] if about == values.get(arg) => Ok(ValueId::of_bool(*truth)),
                [about, Value::Bool(_)] => {
                    Err(format!("`{name}` was called with {} and returned about {about}", values.get(arg)))
                }
                _ => Err(format!("`{name}` must return true, false or [x, true|false], found {}", values.get(value))),
            },
            other => Err(format!("`{name}` must return true, false or [x, true|false], found {other}")),
        };
        match (self, method) {
            // Jepsen's sets answer an add with the value: nobody knows whether it was new. An add to a multiset always is.
            (ObjectKind::Set, Insert) if value == arg && !is_truth(arg) => Ok(arg),
            (ObjectKind::Multiset, Insert) if value == arg && !is_truth(arg) => Ok(ValueId::TRUE),
            (ObjectKind::Set | ObjectKind::Multiset, Insert | Remove | Contains) => truth(values, value),
            (ObjectKind::Set | ObjectKind::Multiset, Read) | (_, Drain) => match values.get(value) {
                Value::List(_) => Ok(value),
                Value::Nil => Ok(values.intern(Value::list([]))),
                other => Err(format!("`{name}` must return a list, found {other}")),
            },
            (_, Remove | PopFront | PopBack) => match values.get(value) {
                Value::Text(text) if text.eq_ignore_ascii_case("empty") => Ok(ValueId::NIL),
                _ => Ok(value),
            },
            (ObjectKind::Counter, Read) => match values.get(value) {
                Value::Int(_) => Ok(value),
                other => Err(format!("`{name}` must return a whole number, found {other}")),
            },
            (ObjectKind::Log, Read) => match values.get(value) {
                Value::List(_) => Ok(value),
                Value::Nil => Ok(values.intern(Value::list([]))),
                other => Err(format!("`{name}` must return a list, found {other}")),
            },
            (ObjectKind::Log, Append) => match values.get(value) {
                Value::List(pair) => match pair.as_ref() {
                    [about, Value::Int(position)] if about == values.get(arg) => {
                        let position = *position;
                        Ok(values.intern_int(position))
                    }
                    _ => Ok(ValueId::NIL),
                },
                _ => Ok(ValueId::NIL),
            },
            (_, Read) => Ok(value),
            (_, Cas) => match values.get(value) {
                Value::Bool(truth) => Ok(ValueId::of_bool(*truth)),
                Value::List(pair) => match pair.as_ref() {
                    [Value::List(_), Value::Bool(truth)] => Ok(ValueId::of_bool(*truth)),
                    _ => Ok(ValueId::TRUE),
                },
                _ => Ok(ValueId::TRUE),
            },
            (_, FetchAdd) => match values.get(value) {
                Value::Int(_) => Ok(value),
                Value::List(pair) => match pair.as_ref() {
                    [_, Value::Int(before)] => {
                        let before = *before;
                        Ok(values.intern_int(before))
                    }
                    _ => Err(format!("`{name}` must return the number before, or [amount, before]")),
                },
                other => Err(format!("`{name}` must return the number before, or [amount, before], found {other}")),
            },
            (_, TryAcquire) => match values.get(value) {
                Value::Bool(truth) => Ok(ValueId::of_bool(*truth)),
                other => Err(format!("`{name}` must return true or false, found {other}")),
            },
            (_, Insert | Write | Append | Add | Acquire | Release | PushFront | PushBack | Contains) => {
                Ok(ValueId::NIL)
            }
        }
    }
}
