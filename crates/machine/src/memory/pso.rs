//! Partial store order: a store buffer per thread, first in first out for each location (SPARC International 1994).
//!
//! A release store, a release fence and an unlock put a store-store fence before what follows (an unlock is a release store): what is
//! stored after it waits for what was stored before.

use super::Store;
use super::buffers::{Buffers, Rule};
use raddle_program::Ordering;
use raddle_trace::{Step, StoreBuffer, ThreadId};

/// The rule of partial store order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OldestOfEachPlace;

/// The memory of partial store order.
pub type Pso = Buffers<OldestOfEachPlace>;

impl Rule for OldestOfEachPlace {
    fn separates(order: Ordering) -> bool {
        order.releases()
    }

    fn leaves(buffer: &StoreBuffer<Store>, at: usize) -> bool {
        buffer.is_free(at)
    }

    fn step(thread: ThreadId, store: &Store) -> Step {
        Step::FlushAt(thread, store.access.addr.0)
    }
}
