//! What models with store buffers share: which writes go through a buffer, and what empties it.

use crate::graphs::event::{Event, Flags, Kind, NO_BLOCK};

impl Event {
    /// A write that goes through the store buffer.
    pub(in crate::graphs) fn is_buffered(&self) -> bool {
        self.kind == Kind::Write && !self.flags.contains(Flags::LOCKED) && self.block == NO_BLOCK
    }

    /// Everything po-before it is preserved before it, and everything po-after it after it.
    pub(in crate::graphs) fn drains(&self) -> bool {
        match self.kind {
            Kind::Fence | Kind::Spawn | Kind::Take | Kind::Join | Kind::Blind | Kind::Arrive | Kind::Depart => true,
            Kind::Read | Kind::Write | Kind::Free | Kind::Fault => {
                self.flags.contains(Flags::LOCKED) || self.block != NO_BLOCK
            }
            Kind::StoreFence | Kind::Choose | Kind::Note => false,
        }
    }
}
