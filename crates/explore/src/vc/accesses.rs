//! The reads and writes of a set of events, and which writes are good for which read.
//!
//! With an [`Order`](super::order::Order) over the same events this is an *annotated partial order* (Toman 2021). One thread is
//! the root; the others, and the initial writes, are leaves. Every other write of its location is bad for a read, those
//! included that are added later. With strict orders the good writes of a read of the root are all writes of the root, or none of them is.
//!
//! A lock of a mutex is only here as a write: which release it follows is part of the order, and nothing can come
//! between.

use crate::sequence::{INITIAL, LocId};
use raddle_trace::{EventId, ThreadId};

/// A read, and the writes it may read from.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) id: EventId,
    pub(crate) loc: LocId,
    pub(crate) good: Vec<EventId>,
}

/// The accesses, in an order in which they can be taken back.
#[derive(Clone, Debug)]
pub(crate) struct Accesses {
    root: ThreadId,
    pub(crate) reads: Vec<Read>,
    /// Per location.
    writes: Vec<Vec<EventId>>,
    /// The locations of the writes, `None` for a read, as they were added.
    log: Vec<Option<LocId>>,
}

impl Accesses {
    pub(crate) fn new(root: ThreadId) -> Self {
        Accesses { root, reads: Vec::new(), writes: Vec::new(), log: Vec::new() }
    }

    pub(crate) fn is_root(&self, id: EventId) -> bool {
        id.thread == self.root
    }

    pub(crate) fn write(&mut self, id: EventId, loc: LocId) {
        if self.writes.len() <= loc as usize {
            self.writes.resize_with(loc as usize + 1, Vec::new);
        }
        self.writes[loc as usize].push(id);
        self.log.push(Some(loc));
    }

    pub(crate) fn read(&mut self, id: EventId, loc: LocId, good: Vec<EventId>) {
        self.reads.push(Read { id, loc, good });
        self.log.push(None);
    }

    /// How many accesses there are.
    pub(crate) fn len(&self) -> usize {
        self.log.len()
    }

    /// Takes back all but the first so many.
    pub(crate) fn truncate(&mut self, len: usize) {
        for entry in self.log.drain(len..) {
            match entry {
                Some(loc) => drop(self.writes[loc as usize].pop()),
                None => drop(self.reads.pop()),
            }
        }
    }

    /// The writes of a location, without the initial one.
    pub(crate) fn writes(&self, loc: LocId) -> &[EventId] {
        self.writes.get(loc as usize).map_or(&[], Vec::as_slice)
    }

    /// The accesses of leaves to a location, other than this one: its writes, and its reads if they are asked for.
    pub(crate) fn leaves(&self, id: EventId, loc: LocId, reads: bool) -> impl Iterator<Item = EventId> {
        let reads = self.reads.iter().filter(move |read| reads && read.loc == loc).map(|read| read.id);
        let all = self.writes(loc).iter().copied().chain(reads);
        all.filter(move |other| other.thread != self.root && *other != id)
    }
}

/// Whether a write is one of these.
pub(crate) fn is_good(read: &Read, write: EventId) -> bool {
    debug_assert!(write != read.id || write == INITIAL, "no read is a write");
    read.good.contains(&write)
}
