//! Rows of words that were met, in the order in which they were met, and how each of them was reached.
//!
//! Rows stand one after the other in one list, and a hash table of their numbers finds them again: a row costs its words and about 14 bytes.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// An empty slot.
const FREE: u32 = u32::MAX;

/// The rows.
#[derive(Debug)]
pub(crate) struct Table {
    stride: usize,
    rows: Vec<u64>,
    /// The row before each, and the label of the step between them.
    reached: Vec<(u32, u32)>,
    slots: Vec<u32>,
}

impl Table {
    /// No rows, of so many words each.
    pub(crate) fn new(stride: usize) -> Self {
        Table { stride, rows: Vec::new(), reached: Vec::new(), slots: vec![FREE; 64] }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.reached.len()
    }

    /// What they take.
    pub(crate) fn bytes(&self) -> u64 {
        (self.rows.capacity() * 8 + self.reached.capacity() * 8 + self.slots.len() * 4) as u64
    }

    /// A row.
    pub(crate) fn row(&self, number: usize) -> &[u64] {
        &self.rows[number * self.stride..][..self.stride]
    }

    /// Adds a row, unless it is there already. Says whether it is new.
    pub(crate) fn insert(&mut self, row: &[u64], from: u32, label: u32) -> bool {
        let mut slot = hash(row) & (self.slots.len() - 1);
        while self.slots[slot] != FREE {
            if self.row(self.slots[slot] as usize) == row {
                return false;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = u32::try_from(self.len()).expect("memory ends before numbers do");
        self.rows.extend_from_slice(row);
        self.reached.push((from, label));
        if self.len() * 3 > self.slots.len() * 2 {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let mut slots = vec![FREE; self.slots.len() * 2];
        for number in 0..self.len() {
            let mut slot = hash(self.row(number)) & (slots.len() - 1);
            while slots[slot] != FREE {
                slot = (slot + 1) & (slots.len() - 1);
            }
            slots[slot] = number as u32;
        }
        self.slots = slots;
    }

    /// The labels of the steps from the first row to this one.
    pub(crate) fn way(&self, row: usize) -> Vec<u32> {
        let mut labels = Vec::new();
        let mut at = row as u32;
        while let Some(&(from, label)) = self.reached.get(at as usize).filter(|(from, _)| *from != u32::MAX) {
            labels.push(label);
            at = from;
        }
        labels.reverse();
        labels
    }
}

fn hash(row: &[u64]) -> usize {
    let mut hasher = FxHasher::default();
    row.hash(&mut hasher);
    // The lower bits of this hash are the weaker ones.
    (hasher.finish() >> 20) as usize
}
