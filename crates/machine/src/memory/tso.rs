//! Total store order: a store buffer per thread, first in first out (Owens, Sarkar, Sewell 2009).
//!
//! Fences weaker than a full one mean nothing, since stores leave in their order anyway.

use super::Store;
use super::buffers::{Buffers, Rule};
use raddle_program::Ordering;
use raddle_trace::{Step, StoreBuffer, ThreadId};

/// The rule of total store order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OldestFirst;

/// The memory of total store order.
pub type Tso = Buffers<OldestFirst>;

impl Rule for OldestFirst {
    fn separates(_: Ordering) -> bool {
        false
    }

    fn leaves(_: &StoreBuffer<Store>, at: usize) -> bool {
        at == 0
    }

    fn step(thread: ThreadId, _: &Store) -> Step {
        Step::Flush(thread)
    }
}
