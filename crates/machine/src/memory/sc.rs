//! Sequential consistency: one memory, one access at a time.

use super::{Memory, Store};
use crate::bytes::ByteMemory;
use raddle_program::Ordering;
use raddle_trace::{Step, StoreBuffer, ThreadId};

/// What has been written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sc {
    bytes: ByteMemory,
}

impl Sc {
    /// A memory with these contents.
    pub fn new(bytes: ByteMemory) -> Self {
        Sc { bytes }
    }
}

impl Memory for Sc {
    fn bytes(&self) -> &ByteMemory {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut ByteMemory {
        &mut self.bytes
    }

    fn keeps(&self) -> bool {
        false
    }

    fn keep(&mut self, _: ThreadId, _: Store, _: Ordering) {
        unreachable!("everybody sees a store at once")
    }

    fn fence(&mut self, _: ThreadId, _: Ordering) {}

    fn waiting(&self, _: ThreadId) -> Option<&StoreBuffer<Store>> {
        None
    }

    fn is_held(&self, _: ThreadId) -> bool {
        false
    }

    fn moves(&self, _: ThreadId, _: &mut Vec<Step>) {}

    fn leaving(&self, _: Step) -> Option<usize> {
        None
    }

    fn take(&mut self, _: ThreadId, _: usize) -> Store {
        unreachable!("nothing is ever on its way")
    }
}
