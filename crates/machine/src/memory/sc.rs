//! Sequential consistency: one memory, one access at a time.

use super::Memory;
use crate::bytes::ByteMemory;

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
}
