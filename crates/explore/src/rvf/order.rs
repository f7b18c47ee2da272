//! A partial order over the events of a verification instance, that grows edge by edge.
//!
//! Events of a thread are a chain, so what is before an event is a number per thread. Asking is one look-up; adding an
//! edge costs a look at each thread's events that come after it.

use super::instance::{Instance, NONE};

/// The order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    threads: usize,
    /// Per event and thread, how many events of the thread are before it; for its own thread, its position.
    before: Vec<u32>,
    row: Vec<u32>,
}

impl Order {
    /// Program order with spawn and join. `sequence` is some linear extension of it.
    pub(crate) fn start(&mut self, instance: &Instance, sequence: &[u32]) {
        self.threads = instance.threads();
        self.before.clear();
        self.before.resize(instance.len() * self.threads, 0);
        for &event in sequence {
            let thread = instance.thread(event);
            let position = event - instance.starts[thread];
            let row = event as usize * self.threads;
            if position > 0 {
                self.before.copy_within(row - self.threads..row, row);
            }
            self.before[row + thread] = position;
            let after = instance.ops[event as usize].after;
            if after != NONE {
                self.raise(instance, after, event);
            }
        }
    }

    /// Whether `a` is before `b`.
    pub(crate) fn before(&self, instance: &Instance, a: u32, b: u32) -> bool {
        let thread = instance.thread(a);
        self.count(b, thread) > a - instance.starts[thread]
    }

    /// How many events of a thread are before `event`.
    pub(crate) fn count(&self, event: u32, thread: usize) -> u32 {
        self.before[event as usize * self.threads + thread]
    }

    /// How many events of each thread are before `event`.
    pub(crate) fn row(&self, event: u32) -> &[u32] {
        &self.before[event as usize * self.threads..][..self.threads]
    }

    /// Puts `a` and what is before it before `b`. Returns whether that changed anything.
    fn raise(&mut self, instance: &Instance, a: u32, b: u32) -> bool {
        let (from, to) = (a as usize * self.threads, b as usize * self.threads);
        let mut changed = false;
        for thread in 0..self.threads {
            let count = self.before[from + thread];
            if self.before[to + thread] < count {
                self.before[to + thread] = count;
                changed = true;
            }
        }
        let thread = instance.thread(a);
        let count = a - instance.starts[thread] + 1;
        if self.before[to + thread] < count {
            self.before[to + thread] = count;
            changed = true;
        }
        changed
    }

    /// Adds an edge. Returns `false` if it would close a cycle.
    pub(crate) fn insert(&mut self, instance: &Instance, a: u32, b: u32) -> bool {
        if a == b || self.before(instance, b, a) {
            return false;
        }
        let (thread, position) = (instance.thread(b), b - instance.starts[instance.thread(b)]);
        self.row.clear();
        let from = a as usize * self.threads;
        self.row.extend_from_slice(&self.before[from..from + self.threads]);
        let own = instance.thread(a);
        self.row[own] = a - instance.starts[own] + 1;
        for other in 0..self.threads {
            let (start, end) = (instance.starts[other], instance.starts[other + 1]);
            // What is at or after `b` is a suffix of each thread.
            let first = if other == thread {
                b
            } else {
                let (mut low, mut high) = (start, end);
                while low < high {
                    let middle = (low + high) / 2;
                    if self.count(middle, thread) > position { high = middle } else { low = middle + 1 }
                }
                low
            };
            for event in first..end {
                let to = event as usize * self.threads;
                let mut changed = false;
                for (mine, &theirs) in self.before[to..to + self.threads].iter_mut().zip(&self.row) {
                    if *mine < theirs {
                        *mine = theirs;
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
        }
        true
    }
}
