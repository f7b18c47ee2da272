//! Instances of the problem: can these events be put into a sequence in which every read reads from a write that is good
//! for it?
//!
//! Events have numbers, those of a thread consecutive ones, so that everything about them is an array.

/// No event.
pub(crate) const NONE: u32 = u32::MAX;

/// The initial write, as a source.
pub(crate) const INIT: u32 = u32::MAX;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// Which location it accesses, or [`NONE`].
    pub(crate) loc: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// An event of another thread that must come before, or [`NONE`].
    pub(crate) after: u32,
    /// The part of [`Instance::good`] that lists the writes that are good for it.
    pub(crate) good: (u32, u32),
}

/// Events with program order, and the writes that are good for each read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instance {
    pub(crate) ops: Vec<Op>,
    /// Where each thread starts, and where the last one ends.
    pub(crate) starts: Vec<u32>,
    /// The thread of each event.
    owners: Vec<u32>,
    /// Lists of good writes, each in increasing order; [`INIT`] comes last.
    pub(crate) good: Vec<u32>,
    /// One more than the largest number of a location.
    pub(crate) locations: usize,
    /// Further orders that a sequence must keep.
    pub(crate) edges: Vec<(u32, u32)>,
}

impl Instance {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.starts.clear();
        self.starts.push(0);
        self.owners.clear();
        self.good.clear();
        self.locations = 0;
        self.edges.clear();
    }

    /// Adds an event to the thread that is being written down.
    pub(crate) fn push(&mut self, op: Op) {
        if op.loc != NONE {
            self.locations = self.locations.max(op.loc as usize + 1);
        }
        self.owners.push(self.starts.len() as u32 - 1);
        self.ops.push(op);
    }

    /// Ends the thread that is being written down.
    pub(crate) fn end_thread(&mut self) {
        self.starts.push(self.ops.len() as u32);
    }

    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(crate) fn threads(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn thread(&self, event: u32) -> usize {
        self.owners[event as usize] as usize
    }

    /// The writes that are good for a read.
    pub(crate) fn good(&self, event: u32) -> &[u32] {
        let (from, to) = self.ops[event as usize].good;
        &self.good[from as usize..to as usize]
    }

    /// Whether a write (or [`INIT`]) is good for a read.
    pub(crate) fn is_good(&self, read: u32, write: u32) -> bool {
        self.good(read).binary_search(&write).is_ok()
    }
}
