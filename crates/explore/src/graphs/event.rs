//! Events of an execution graph.
//!
//! A read-modify-write is two events, a read and a write half, at consecutive positions of its thread; one that picks an
//! alternative (a signal) has a choice between them. What one visible operation becomes depends on the model: a
//! seq_cst store is a write and a fence, a release store under PSO a store-store fence and a write, a full fence under WRA an
//! update of a location that nothing else accesses.

pub(crate) use crate::world::{LocId, NO_LOC};
use raddle_machine::Commuting;
use raddle_program::Ordering;
use raddle_trace::ThreadId;

/// Where an event is stored. Slots of removed events are used again.
pub(crate) type Slot = u32;

/// The initial write of every location, as the source of a read.
pub(crate) const INIT: Slot = u32::MAX;

/// In place of a source, for an update that has none.
pub(crate) const NO_SOURCE: Slot = u32::MAX - 1;

/// No atomic block.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A read; the read half of an update; a failed compare-exchange.
    Read,
    /// A write; the write half of an update.
    Write,
    /// A full fence.
    Fence,
    /// A store-store fence.
    StoreFence,
    /// A choice; `value` is the alternative.
    Choose,
    /// The start of a thread; `value` is its number.
    Spawn,
    /// A looper takes a message, which is this thread; `value` is 1 if that never happens.
    Take,
    /// The end of waiting for a thread; `value` is its number.
    Join,
    /// The end of an object's life; `value` is its address.
    Free,
    /// Something that orders nothing: a weak fence that matters to race detection only.
    Note,
    /// An update whose result nobody uses, where such updates commute; `value` is the operand.
    Blind,
    /// An arrival at a barrier.
    Arrive,
    /// Leaving a barrier; `value` is what the thread learns about its arrival.
    Depart,
    /// An operation that is an error; it has no effect on memory.
    Fault,
}

/// A set of marks on an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    /// Part of an update (also of one that failed): drains the store buffer.
    pub(crate) const LOCKED: Flags = Flags(1);
    /// A read that found a value it waits to change.
    pub(crate) const BLOCKED: Flags = Flags(2);
    /// Never maximally added (rule M4).
    pub(crate) const MARKED: Flags = Flags(4);
    /// The read half of a lock of a mutex that waits.
    pub(crate) const LOCK: Flags = Flags(8);
    /// A read half whose write half follows.
    pub(crate) const CONSUMES: Flags = Flags(16);
    /// Of an operation on a mutex.
    pub(crate) const MUTEX: Flags = Flags(32);
    /// The kind of a blind update, in two bits.
    const COMMUTES: u16 = 64;
    /// Part of a fence that is an update.
    pub(crate) const FENCE: Flags = Flags(256);
    /// The post of a message to a queue.
    pub(crate) const QUEUE: Flags = Flags(512);

    /// The flags of a blind update.
    pub(crate) const fn blind(kind: Commuting) -> Flags {
        Flags(Flags::LOCKED.0 | (kind as u16 * Flags::COMMUTES))
    }

    /// The kind of a blind update.
    pub(crate) const fn commuting(self) -> Commuting {
        match self.0 / Flags::COMMUTES % 4 {
            0 => Commuting::Add,
            1 => Commuting::And,
            2 => Commuting::Or,
            _ => Commuting::Xor,
        }
    }

    pub(crate) const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    pub(crate) const fn with_if(self, condition: bool, other: Flags) -> Flags {
        if condition { self.with(other) } else { self }
    }
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) flags: Flags,
    pub(crate) order: Ordering,
    pub(crate) thread: ThreadId,
    /// Position in its thread.
    pub(crate) index: u32,
    /// Which visible operation of its thread it belongs to.
    pub(crate) operation: u32,
    /// The atomic block it is in: the number of the operation that began it, or [`NO_BLOCK`].
    pub(crate) block: u32,
    /// The instruction.
    pub(crate) pc: u32,
    pub(crate) loc: LocId,
    /// The source, for a read.
    pub(crate) rf: Slot,
    /// The value read, written or picked.
    pub(crate) value: u64,
    /// How many objects its thread had made before it.
    pub(crate) made: u32,
    /// The access of its kind that its thread made to its location before it, or [`INIT`]; known once it is in a graph.
    pub(crate) previous: Slot,
}
