//! The question: can these events be put into a sequence in which every read reads from a write that is good for it?
//!
//! Events have numbers, those of a thread consecutive ones, so that everything about them is an array. Engines fill a problem over
//! and over, in the memory of the one before.

use crate::chains::Chains;

/// No event.
pub const NONE: u32 = u32::MAX;

/// The initial write, as a source.
pub const INIT: u32 = u32::MAX;

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Which location it accesses, or [`NONE`].
    pub loc: u32,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes; an update does both.
    pub writes: bool,
    /// An event of another thread that must come before, or [`NONE`].
    pub after: u32,
    /// The part of [`Problem::good`] that lists the writes that are good for it.
    pub good: (u32, u32),
}

/// Events with program order, and the writes that are good for each read.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The events.
    pub ops: Vec<Op>,
    /// Where each thread starts, and where the last one ends.
    pub starts: Vec<u32>,
    /// The thread of each event.
    owners: Vec<u32>,
    /// Lists of good writes, each in increasing order; [`INIT`] comes last.
    pub good: Vec<u32>,
    /// One more than the largest number of a location.
    pub locations: usize,
    /// Further orders that a sequence must keep.
    pub edges: Vec<(u32, u32)>,
}

impl Problem {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.starts.clear();
        self.starts.push(0);
        self.owners.clear();
        self.good.clear();
        self.locations = 0;
        self.edges.clear();
    }

    /// Makes room for so many events.
    pub fn reserve(&mut self, events: usize) {
        self.ops.reserve(events);
        self.owners.reserve(events);
        self.good.reserve(events);
    }

    /// Adds an event to the thread that is being written down.
    pub fn push(&mut self, op: Op) {
        if op.loc != NONE {
            self.locations = self.locations.max(op.loc as usize + 1);
        }
        self.owners.push(self.starts.len() as u32 - 1);
        self.ops.push(op);
    }

    /// Ends the thread that is being written down.
    pub fn end_thread(&mut self) {
        self.starts.push(self.ops.len() as u32);
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.starts.len() - 1
    }

    /// The thread of an event.
    pub fn thread(&self, event: u32) -> usize {
        self.owners[event as usize] as usize
    }

    /// The writes that are good for a read.
    pub fn good(&self, event: u32) -> &[u32] {
        let (from, to) = self.ops[event as usize].good;
        &self.good[from as usize..to as usize]
    }

    /// Whether a write (or [`INIT`]) is good for a read.
    pub fn is_good(&self, read: u32, write: u32) -> bool {
        self.good(read).binary_search(&write).is_ok()
    }

    /// Makes an order program order with spawn and join, and with the further edges. `sequence` has the events in some order that
    /// keeps program order, spawn and join. Returns `false` if the edges close a cycle.
    pub fn begin(&self, order: &mut Chains, sequence: &[u32]) -> bool {
        order.reset(self.starts.windows(2).map(|ends| ends[1] - ends[0]));
        order.place_all(sequence, |event| self.ops[event as usize].after);
        self.edges.iter().all(|&(a, b)| order.insert(a, b).is_some())
    }
}
