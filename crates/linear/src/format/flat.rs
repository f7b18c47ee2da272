//! Nested lists one after another in one piece of memory.
//!
//! A transaction is a list of lists that nobody compares with another one. Interning it as a value would build a tree, hash it twice and keep it; here it is some numbers
//! in a row: those of plain values, and for a list how many items follow.

use crate::value::{Value, ValueId, Values};

const LIST: u32 = 1 << 31;

/// Nested lists. A place in them is given as a [`ValueId`], because it stands where the number of a value stands else.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    items: Vec<u32>,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A plain value.
    Value(ValueId),
    /// A list of so many items, which follow.
    List(u32),
}

impl Flat {
    /// The place behind everything.
    pub fn end(&self) -> ValueId {
        ValueId(self.items.len() as u32)
    }

    /// Forgets everything from a place on.
    pub fn cut(&mut self, place: ValueId) {
        self.items.truncate(place.index());
    }

    /// Adds a plain value.
    pub fn push(&mut self, value: ValueId) {
        self.items.push(value.0);
    }

    /// Begins a list.
    pub fn open(&mut self) -> ValueId {
        let place = self.end();
        self.items.push(LIST);
        place
    }

    /// Ends a list that has so many items.
    pub fn close(&mut self, list: ValueId, count: u32) {
        self.items[list.index()] = LIST | count;
    }

    /// Adds any value.
    pub fn add(&mut self, value: Value, values: &mut Values) {
        match value {
            Value::List(items) => {
                let list = self.open();
                items.iter().for_each(|item| self.add(item.clone(), values));
                self.close(list, items.len() as u32);
            }
            plain => self.push(values.intern(plain)),
        }
    }

    /// What stands at a place; goes on to the next one.
    pub fn next(&self, place: &mut ValueId) -> Node {
        let item = self.items[place.index()];
        place.0 += 1;
        if item & LIST == 0 { Node::Value(ValueId(item)) } else { Node::List(item & !LIST) }
    }

    /// Goes on to what follows the value that begins at a place.
    pub fn pass(&self, place: &mut ValueId) {
        let mut left = 1;
        while left > 0 {
            left -= 1;
            if let Node::List(count) = self.next(place) {
                left += count;
            }
        }
    }

    /// The value that begins at a place; goes on to what follows it.
    pub fn value(&self, place: &mut ValueId, values: &Values) -> Value {
        match self.next(place) {
            Node::Value(id) => values.get(id).clone(),
            Node::List(count) => Value::list((0..count).map(|_| self.value(place, values)).collect::<Vec<_>>()),
        }
    }

    /// The number of the value that begins at a place; goes on to what follows it.
    pub fn intern(&self, place: &mut ValueId, values: &mut Values) -> ValueId {
        let begin = *place;
        match self.next(place) {
            Node::Value(id) => id,
            Node::List(_) => {
                *place = begin;
                let list = self.value(place, values);
                values.intern(list)
            }
        }
    }
}
