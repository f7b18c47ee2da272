//! Which delays are built in: words over what a thread does while it has stores on their way.
//!
//! A word begins with a store into an empty buffer and says what the thread does then: operations, by their instructions, and arrivals of its oldest store. Words are kept as a tree, so
//! that every beginning of one is one.

use std::collections::BTreeMap;

/// What a thread does while it has stores on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Letter {
    /// The operation of this instruction.
    Operation(u32),
    /// Its oldest store arrives.
    Arrival,
}

/// A beginning of words.
pub(crate) type Node = u32;

/// The empty beginning.
pub(crate) const ROOT: Node = 0;

/// A set of words.
#[derive(Clone, Debug)]
pub struct Words {
    following: Vec<BTreeMap<Letter, Node>>,
    /// How many were added.
    count: usize,
}

impl Default for Words {
    fn default() -> Self {
        Words { following: vec![BTreeMap::new()], count: 0 }
    }
}

impl Words {
    /// How many were added.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A beginning with one letter more.
    pub(crate) fn next(&self, node: Node, letter: Letter) -> Option<Node> {
        self.following[node as usize].get(&letter).copied()
    }

    /// Adds a word; says whether it was the beginning of none.
    pub fn add(&mut self, word: &[Letter]) -> bool {
        let (mut node, mut is_new) = (ROOT, false);
        for &letter in word {
            node = match self.next(node, letter) {
                Some(next) => next,
                None => {
                    is_new = true;
                    let next = self.following.len() as Node;
                    self.following.push(BTreeMap::new());
                    self.following[node as usize].insert(letter, next);
                    next
                }
            };
        }
        self.count += usize::from(is_new);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_there_with_the_word() {
        let mut words = Words::default();
        let word = [Letter::Operation(3), Letter::Arrival, Letter::Operation(5)];
        assert!(words.is_empty() && words.add(&word));
        assert!(!words.add(&word[..2]) && !words.add(&word));
        assert!(words.add(&[Letter::Operation(3), Letter::Operation(5)]));
        assert_eq!(words.len(), 2);
        let first = words.next(ROOT, Letter::Operation(3)).expect("it begins so");
        assert!(words.next(first, Letter::Arrival).is_some() && words.next(first, Letter::Operation(4)).is_none());
    }
}
