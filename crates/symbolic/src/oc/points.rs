//! Which addresses may stand in memory.
//!
//! An address that was read from memory is one that somebody has written there. While threads are unrolled it is noted for every location of eight bytes which values are written to it, as far as
//! these are few and known; and what is read from it has none but these. A thread may read before it is noted what another one writes; then the program is unrolled once more with what
//! is known by then, until nothing is added. So who may write what is found out by the unrolling itself, with its conditions, objects and calls; there is no analysis beside it.
//!
//! In the same way it is found out which objects threads make, which threads wait on condition variables, and for how many threads barriers are.

use super::graph::{Location, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How many addresses may stand in one location.
const MOST_ADDRESSES: usize = 64;
/// How many other numbers, before nothing is said of a location: counters are no addresses.
const MOST_NUMBERS: usize = 8;

/// What stands in a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// One of these,
    pub(super) exact: BTreeSet<u64>,
    /// or some address in one of the objects that start here, with so many of the lowest bits zero.
    pub(super) into: BTreeSet<u64>,
    pub(super) aligned: u8,
}

/// What is known of all locations, `None` if it can be anything.
#[derive(Debug, Default)]
pub(super) struct Points {
    of: FxHashMap<Location, Option<Values>>,
    /// What has been read in this unrolling.
    read: FxHashSet<Location>,
    /// Objects that were made, by their starts, and those that were asked for and not there.
    made: BTreeMap<u64, Vec<Shape>>,
    missed: FxHashSet<u64>,
    /// For how many threads barriers are, by their addresses, and which were asked for.
    counts: BTreeMap<u64, BTreeSet<u64>>,
    asked_for_counts: FxHashSet<u64>,
    /// The threads that wait on condition variables, by bits.
    waiters: u64,
    asked_for_waiters: bool,
    /// Something was added that somebody had asked for before.
    grew: bool,
}

impl Points {
    /// What a read finds, if that is known so far.
    pub(super) fn read(&mut self, location: Location) -> Option<&Values> {
        self.read.insert(location);
        self.of.get(&location)?.as_ref()
    }

    /// One more thing that stands in a location; `None` if it can be anything.
    pub(super) fn add(&mut self, location: Location, more: Option<Values>, is_address: impl Fn(u64) -> bool) {
        let known = self.of.entry(location).or_insert_with(|| Some(Values { aligned: 64, ..Values::default() }));
        let Some(values) = known else { return };
        let before = values.clone();
        match more {
            Some(more) => {
                values.exact.extend(more.exact);
                values.into.extend(&more.into);
                values.aligned = if more.into.is_empty() { values.aligned } else { values.aligned.min(more.aligned) };
                let numbers = values.exact.iter().filter(|&&value| value != 0 && !is_address(value)).count();
                let addresses = values.exact.len() + values.into.len() - numbers;
                if numbers > MOST_NUMBERS || addresses > MOST_ADDRESSES {
                    *known = None;
                }
            }
            None => *known = None,
        }
        self.grew |= *known != Some(before) && self.read.contains(&location);
    }

    /// There is such an object.
    pub(super) fn make(&mut self, addr: u64, shape: Shape) {
        let known = self.made.entry(addr).or_default();
        // Somebody may have looked at what is there, and seen less.
        self.grew |= self.missed.contains(&addr) || !known.is_empty();
        known.push(shape);
    }

    /// Somebody has an address of an object that is not there.
    pub(super) fn miss(&mut self, base: u64) {
        self.missed.insert(base);
    }

    /// The objects that were made, by their starts.
    pub(super) fn made(&self) -> &BTreeMap<u64, Vec<Shape>> {
        &self.made
    }

    /// A barrier is for so many threads.
    pub(super) fn add_count(&mut self, barrier: u64, count: u64) {
        let new = self.counts.entry(barrier).or_default().insert(count);
        self.grew |= new && self.asked_for_counts.contains(&barrier);
    }

    /// For how many threads a barrier may be.
    pub(super) fn counts(&mut self, barrier: u64) -> Vec<u64> {
        self.asked_for_counts.insert(barrier);
        self.counts.get(&barrier).into_iter().flatten().copied().collect()
    }

    /// A thread waits on a condition variable.
    pub(super) fn waits(&mut self, thread: u32) {
        self.grew |= self.asked_for_waiters && self.waiters >> thread & 1 == 0;
        self.waiters |= 1 << thread;
    }

    /// The threads that do, by bits.
    pub(super) fn waiters(&mut self) -> u64 {
        self.asked_for_waiters = true;
        self.waiters
    }

    /// Whether all has to be unrolled once more; what is known is kept.
    pub(super) fn again(&mut self) -> bool {
        self.read.clear();
        self.missed.clear();
        self.asked_for_counts.clear();
        self.asked_for_waiters = false;
        std::mem::take(&mut self.grew)
    }
}
