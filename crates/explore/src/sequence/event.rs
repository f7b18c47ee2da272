//! Events of a sequence.

pub(crate) use crate::world::{LocId, NO_LOC};
use raddle_program::Ordering;
use raddle_trace::{EventId, ThreadId};

/// The initial write of every location, as the source of a read.
pub(crate) const INITIAL: EventId = EventId { thread: ThreadId(u32::MAX), index: 0 };

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads `value`; also an update that writes nothing.
    Read,
    /// Writes `written`.
    Write,
    /// Reads `value` and writes `written` in one step.
    Update,
    /// Starts the thread with the number `value`.
    Spawn,
    /// Waits for the end of the thread with the number `value`.
    Join,
    /// Takes the alternative `pick`.
    Choose,
    /// Arrives at a barrier for `value` threads.
    Arrive,
    /// Leaves a barrier after the arrivals among [`Frontier::sources`](super::Frontier::sources); `value` is what it learns about its own.
    Depart,
    /// Ends the life of the object at the address `value`.
    Free,
    /// Means nothing under sequential consistency: a fence.
    Note,
    /// An operation that is an error, and at which its thread stays.
    Fault,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) loc: LocId,
    /// What it read; or the thread or address it is about.
    pub(crate) value: u64,
    /// What it wrote. Of a fault that is one because of another event: which that is, and one more, as numbers of thread and event.
    pub(crate) written: u64,
    /// The alternative, for a choice or an update that picks one of several.
    pub(crate) pick: Option<u32>,
    /// For a read or a departure: which part of [`Frontier::sources`](super::Frontier::sources) lists the writes it may read from, or the arrivals it comes after.
    pub(crate) sources: (u32, u32),
    /// How an access or a fence synchronises; `None` for other events and for accesses that failed.
    pub(crate) order: Option<Ordering>,
    /// It looked at memory again and again until it found this.
    pub(crate) waited: bool,
    /// The instruction.
    pub(crate) pc: u32,
    /// How many objects its thread had made before it; `u32::MAX` until it is added.
    pub(crate) made: u32,
}

impl Event {
    /// An event that has nothing but its kind.
    pub(crate) fn new(kind: Kind, pc: u32) -> Event {
        Event {
            kind,
            loc: NO_LOC,
            value: 0,
            written: 0,
            pick: None,
            sources: (0, 0),
            order: None,
            waited: false,
            pc,
            made: u32::MAX,
        }
    }

    pub(crate) fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update)
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update)
    }
}
