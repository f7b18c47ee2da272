//! Sequential consistency: the case of total store order in which every write goes to memory at once.

use super::tso::search;
use super::{Buffers, MemoryModel, Task};
use crate::replay::Write;
use crate::search::End;
use raddle_trace::{Step, StoreBuffer, ThreadId};

pub(crate) struct SequentialConsistency;

impl MemoryModel for SequentialConsistency {
    fn buffers(&self) -> Buffers {
        Buffers::None
    }

    fn arrival(&self, thread: ThreadId, _: u64) -> Step {
        unreachable!("{thread} has no buffer")
    }

    fn leaves(&self, _: &StoreBuffer<Write>, _: usize) -> bool {
        false
    }

    fn has_clauses(&self) -> bool {
        true
    }

    fn search(&self, task: Task<'_>) -> End {
        search(task)
    }
}
