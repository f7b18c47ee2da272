//! The configurations that have been shown to lead nowhere.
//!
//! Of two configurations at the same level and in the same state one may be no better than the other: every operation it could still use
//! the other can use, and everything it need not care about any more the other need not either. If the better one leads nowhere, so does
//! the worse one. So a configuration is looked up among those of its level and state for one that is at least as good.
//!
//! The list of a level and state is searched from its end and only so far, so that a look-up stays cheap; what stands
//! further back is still found if it is equal.

use rustc_hash::{FxHashMap, FxHashSet};

use super::aside;
use super::mask::Mask;

/// How many refuted configurations a look-up compares with.
const COMPARED: usize = 128;

/// What is left to a configuration: a larger set of either kind is better.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Options<K> {
    /// Operations that may still take effect. Observers are never in it: to have one left is of no use.
    pub(super) usable: K,
    /// Operations whose return may be passed: they took effect, or had a place where they change nothing.
    pub(super) free: K,
}

impl<K: Mask> Options<K> {
    pub(super) fn none(slots: usize) -> Options<K> {
        Options { usable: K::empty(slots), free: K::empty(slots) }
    }

    /// Whether whatever can be done with `other` can be done with this.
    pub(super) fn at_least(&self, other: &Options<K>) -> bool {
        other.usable.within(&self.usable) && other.free.within(&self.free)
    }

    /// What concerns these operations.
    pub(super) fn only(&self, these: &K) -> Options<K> {
        Options { usable: self.usable.both(these), free: self.free.both(these) }
    }
}

/// The table.
pub(super) struct Refuted<K: Mask> {
    exact: FxHashSet<(u32, u32, Options<K>)>,
    by_state: FxHashMap<(u32, u32), Vec<Options<K>>>,
    slots: usize,
}

impl<K: Mask> Drop for Refuted<K> {
    fn drop(&mut self) {
        let bytes = self.bytes();
        aside::free((std::mem::take(&mut self.exact), std::mem::take(&mut self.by_state)), bytes);
    }
}

impl<K: Mask> Refuted<K> {
    pub(super) fn new(slots: usize) -> Refuted<K> {
        Refuted { exact: FxHashSet::default(), by_state: FxHashMap::default(), slots }
    }

    /// Whether a configuration is known to lead nowhere.
    pub(super) fn covers(&self, level: u32, state: u32, options: &Options<K>) -> bool {
        let Some(list) = self.by_state.get(&(level, state)) else {
            return false;
        };
        list.iter().rev().take(COMPARED).any(|known| known.at_least(options))
            || (list.len() > COMPARED && self.exact.contains(&(level, state, options.clone())))
    }

    /// Notes that a configuration leads nowhere.
    pub(super) fn add(&mut self, level: u32, state: u32, options: Options<K>) {
        let list = self.by_state.entry((level, state)).or_default();
        if list.len() < COMPARED {
            list.retain(|known| !options.at_least(known));
        }
        list.push(options.clone());
        self.exact.insert((level, state, options));
    }

    /// What it holds, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let entry = 2 * (std::mem::size_of::<K>() as u64 + K::outside(self.slots) as u64);
        self.exact.len() as u64 * (2 * entry + 24) + self.by_state.capacity() as u64 * 40
    }
}
