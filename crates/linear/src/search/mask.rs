//! Sets of slots: which of the open operations have been linearized.

use std::hash::Hash;

/// A set of small numbers.
pub trait Mask: Clone + Eq + Hash {
    /// The empty set with room for this many numbers.
    fn empty(slots: usize) -> Self;
    /// Whether the number is in.
    fn has(&self, slot: usize) -> bool;
    /// Puts the number in.
    fn insert(&mut self, slot: usize);
    /// Takes the number out.
    fn remove(&mut self, slot: usize);
    /// Calls `visit` for every number of `self` that is not in `without`, from the smallest.
    fn each_without(&self, without: &Self, visit: impl FnMut(usize));
}

macro_rules! word_mask {
    ($word:ty) => {
        impl Mask for $word {
            fn empty(_slots: usize) -> Self {
                0
            }
            fn has(&self, slot: usize) -> bool {
                self >> slot & 1 == 1
            }
            fn insert(&mut self, slot: usize) {
                *self |= 1 << slot;
            }
            fn remove(&mut self, slot: usize) {
                *self &= !(1 << slot);
            }
            fn each_without(&self, without: &Self, mut visit: impl FnMut(usize)) {
                let mut rest = self & !without;
                while rest != 0 {
                    visit(rest.trailing_zeros() as usize);
                    rest &= rest - 1;
                }
            }
        }
    };
}

word_mask!(u64);
word_mask!(u128);

impl Mask for Box<[u64]> {
    fn empty(slots: usize) -> Self {
        vec![0; slots.div_ceil(64)].into()
    }
    fn has(&self, slot: usize) -> bool {
        self[slot / 64] >> (slot % 64) & 1 == 1
    }
    fn insert(&mut self, slot: usize) {
        self[slot / 64] |= 1 << (slot % 64);
    }
    fn remove(&mut self, slot: usize) {
        self[slot / 64] &= !(1 << (slot % 64));
    }
    fn each_without(&self, without: &Self, mut visit: impl FnMut(usize)) {
        for (word, (have, not)) in self.iter().zip(without.iter()).enumerate() {
            let mut rest = have & !not;
            while rest != 0 {
                visit(word * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}
