//! Values as they stand in a history, and the table that turns them into small numbers.
//!
//! Monitors compare values for equality only (priority queues also for order), so every value is
//! interned once while the history is read and is a [`ValueId`] from then on. Integers, the common
//! case, take a path of their own that neither allocates nor hashes a tree.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

/// A value of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null` or `nil`: nothing.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text; also numbers that are not whole, in the words of the input.
    Text(Arc<str>),
    /// A sequence.
    List(Arc<[Value]>),
}

impl Value {
    /// Text from anything that can be copied into it.
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Arc::from(text.as_ref()))
    }

    /// A sequence of values.
    pub fn list(items: impl Into<Vec<Value>>) -> Value {
        Value::List(Arc::from(items.into()))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A rough count of the bytes this value occupies, for memory budgets.
    pub fn weight(&self) -> usize {
        match self {
            Value::Nil | Value::Bool(_) | Value::Int(_) => 16,
            Value::Text(text) => 32 + text.len(),
            Value::List(items) => 32 + items.iter().map(Value::weight).sum::<usize>(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => out.write_str("nil"),
            Value::Bool(truth) => write!(out, "{truth}"),
            Value::Int(number) => write!(out, "{number}"),
            Value::Text(text) => write!(out, "{text}"),
            Value::List(items) => {
                out.write_str("[")?;
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.write_str(" ")?;
                    }
                    write!(out, "{item}")?;
                }
                out.write_str("]")
            }
        }
    }
}

/// The order a priority queue uses: nothing, truth values, numbers, text, sequences; within a kind the natural order.
impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        fn rank(value: &Value) -> u8 {
            match value {
                Value::Nil => 0,
                Value::Bool(_) => 1,
                Value::Int(_) => 2,
                Value::Text(_) => 3,
                Value::List(_) => 4,
            }
        }
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Nil => out.serialize_unit(),
            Value::Bool(truth) => out.serialize_bool(*truth),
            Value::Int(number) => out.serialize_i64(*number),
            Value::Text(text) => out.serialize_str(text),
            Value::List(items) => out.collect_seq(items.iter()),
        }
    }
}

/// The number of an interned [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// [`Value::Nil`], in every table.
    pub const NIL: ValueId = ValueId(0);
    /// `false`, in every table.
    pub const FALSE: ValueId = ValueId(1);
    /// `true`, in every table.
    pub const TRUE: ValueId = ValueId(2);

    /// The number of a truth value.
    pub fn of_bool(truth: bool) -> ValueId {
        if truth { ValueId::TRUE } else { ValueId::FALSE }
    }

    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The table of the values of one history.
#[derive(Clone, Debug)]
pub struct Values {
    values: Vec<Value>,
    /// The numbers of the values; made when it is asked for.
    index: OnceLock<Index>,
}

/// The numbers of values.
#[derive(Clone, Debug, Default)]
struct Index {
    /// The numbers of small integers, [`ValueId::NIL`] for those that have none.
    small: Vec<ValueId>,
    integers: FxHashMap<i64, ValueId>,
    texts: FxHashMap<Arc<str>, ValueId>,
    others: FxHashMap<Value, ValueId>,
}

/// Integers below this one are looked up in a table.
const SMALL: i64 = 1 << 16;

impl Index {
    fn of(values: &[Value]) -> Index {
        let mut index = Index::default();
        for (at, value) in (0u32..).zip(values) {
            index.insert(value, ValueId(at));
        }
        index
    }

    fn insert(&mut self, value: &Value, id: ValueId) {
        match value {
            Value::Nil | Value::Bool(_) => {}
            Value::Int(number) => _ = self.integer(*number, id),
            Value::Text(text) => _ = self.texts.insert(text.clone(), id),
            Value::List(_) => _ = self.others.insert(value.clone(), id),
        }
    }

    /// The number of an integer; this one, if it has none so far.
    fn integer(&mut self, number: i64, new: ValueId) -> ValueId {
        if !(0..SMALL).contains(&number) {
            return *self.integers.entry(number).or_insert(new);
        }
        let at = number as usize;
        if at >= self.small.len() {
            self.small.resize((at + 1).next_power_of_two(), ValueId::NIL);
        }
        let id = &mut self.small[at];
        if *id == ValueId::NIL {
            *id = new;
        }
        *id
    }
}

impl Default for Values {
    fn default() -> Values {
        Values { values: vec![Value::Nil, Value::Bool(false), Value::Bool(true)], index: OnceLock::new() }
    }
}

impl Values {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.values))
    }

    fn index_mut(&mut self) -> &mut Index {
        if self.index.get().is_none() {
            self.index = OnceLock::from(Index::of(&self.values));
        }
        self.index.get_mut().expect("it has just been made")
    }

    /// Gives back the memory that only finding the numbers of values needs, until somebody asks for one again.
    pub fn settle(&mut self) {
        self.index = OnceLock::new();
        self.values.shrink_to_fit();
    }

    /// The number of an integer.
    pub fn intern_int(&mut self, number: i64) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        let id = self.index_mut().integer(number, next);
        if id == next {
            self.values.push(Value::Int(number));
        }
        id
    }

    /// The number of a text.
    pub fn intern_text(&mut self, text: &str) -> ValueId {
        if let Some(&id) = self.index_mut().texts.get(text) {
            return id;
        }
        self.add(Value::text(text))
    }

    /// The number of any value.
    pub fn intern(&mut self, value: Value) -> ValueId {
        match value {
            Value::Int(number) => self.intern_int(number),
            other => self.find(&other).unwrap_or_else(|| self.add(other)),
        }
    }

    /// A number for a value that has none.
    fn add(&mut self, value: Value) -> ValueId {
        let next = ValueId(self.values.len() as u32);
        self.index_mut().insert(&value, next);
        self.values.push(value);
        next
    }

    /// The number of a value, if it has one.
    pub fn find(&self, value: &Value) -> Option<ValueId> {
        match value {
            Value::Nil => Some(ValueId::NIL),
            Value::Bool(truth) => Some(ValueId::of_bool(*truth)),
            Value::Int(number) if (0..SMALL).contains(number) => {
                let id = self.index().small.get(*number as usize);
                id.copied().filter(|id| *id != ValueId::NIL)
            }
            Value::Int(number) => self.index().integers.get(number).copied(),
            Value::Text(text) => self.index().texts.get(text).copied(),
            Value::List(_) => self.index().others.get(value).copied(),
        }
    }

    /// The value with this number.
    pub fn get(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: three values are always there.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_number_and_others_do_not() {
        let mut values = Values::default();
        let five = values.intern(Value::Int(5));
        let text = values.intern(Value::text("5"));
        assert_ne!(five, text);
        assert_eq!(five, values.intern_int(5));
        assert_eq!(text, values.intern(Value::text("5")));
        assert_eq!(values.intern(Value::Bool(true)), ValueId::TRUE);
        assert_eq!(values.get(five), &Value::Int(5));
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        assert!(Value::Int(9) < Value::Int(10));
        assert!(Value::text("10") < Value::text("9"));
    }
}
