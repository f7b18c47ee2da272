//! Sets of slots: which of the open operations have been linearized.

use std::hash::Hash;

/// A set of small numbers.
pub trait Mask: Clone + Eq + Hash + Send + 'static {
    /// The empty set with room for this many numbers.
    fn empty(slots: usize) -> Self;
    /// How many bytes of such a set are kept elsewhere.
    fn outside(slots: usize) -> usize;
    /// Whether the number is in.
    fn has(&self, slot: usize) -> bool;
    /// Puts the number in.
    fn insert(&mut self, slot: usize);
    /// Takes the number out.
    fn remove(&mut self, slot: usize);
    /// Whether every number is in the other set, too.
    fn within(&self, other: &Self) -> bool;
    /// The numbers that are in both sets.
    fn both(&self, other: &Self) -> Self;
    /// Calls `visit` for every number, from the smallest.
    fn each(&self, visit: impl FnMut(usize));
}

macro_rules! word_mask {
    ($word:ty) => {
        impl Mask for $word {
            fn empty(_slots: usize) -> Self {
                0
            }
            fn outside(_slots: usize) -> usize {
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
            fn within(&self, other: &Self) -> bool {
                self & !other == 0
            }
            fn both(&self, other: &Self) -> Self {
                self & other
            }
            fn each(&self, mut visit: impl FnMut(usize)) {
                let mut rest = *self;
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
    fn outside(slots: usize) -> usize {
        slots.div_ceil(64) * 8 + 16
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
    fn within(&self, other: &Self) -> bool {
        self.iter().zip(other).all(|(one, two)| one & !two == 0)
    }
    fn both(&self, other: &Self) -> Self {
        self.iter().zip(other).map(|(one, two)| one & two).collect()
    }
    fn each(&self, mut visit: impl FnMut(usize)) {
        for (word, bits) in self.iter().enumerate() {
            let mut rest = *bits;
            while rest != 0 {
                visit(word * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }
}
