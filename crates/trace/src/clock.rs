//! Vector clocks: per thread, how many of its events are known.

use crate::ids::{EventId, ThreadId};
use serde::{Deserialize, Serialize};

/// For each thread the number of its events that lie before some point. Missing entries are 0.
#[derive(Clone, Debug, Default, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VectorClock {
    counts: Vec<u32>,
}

impl VectorClock {
    /// The clock that knows nothing.
    pub const fn new() -> Self {
        VectorClock { counts: Vec::new() }
    }

    /// How many events of `thread` are known.
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets how many events of `thread` are known.
    pub fn set(&mut self, thread: ThreadId, count: u32) {
        if self.counts.len() <= thread.index() {
            self.counts.resize(thread.index() + 1, 0);
        }
        self.counts[thread.index()] = count;
    }

    /// Whether the event is known.
    pub fn contains(&self, event: EventId) -> bool {
        self.get(event.thread) > event.index
    }

    /// Learns all that `other` knows.
    pub fn join(&mut self, other: &VectorClock) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Whether everything known here is known there.
    pub fn le(&self, other: &VectorClock) -> bool {
        self.counts.iter().enumerate().all(|(t, &count)| count <= other.get(ThreadId(t as u32)))
    }
}

impl PartialEq for VectorClock {
    fn eq(&self, other: &Self) -> bool {
        self.le(other) && other.le(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(counts: &[u32]) -> VectorClock {
        VectorClock { counts: counts.to_vec() }
    }

    #[test]
    fn joining_takes_the_larger_of_each() {
        let mut a = clock(&[3, 0]);
        a.join(&clock(&[1, 2, 5]));
        assert_eq!(a, clock(&[3, 2, 5]));
        assert!(clock(&[1]).le(&a) && !clock(&[0, 3]).le(&a));
    }

    #[test]
    fn trailing_zeros_do_not_matter() {
        assert_eq!(clock(&[1, 0, 0]), clock(&[1]));
        assert!(clock(&[1]).contains(EventId::new(ThreadId(0), 0)));
        assert!(!clock(&[1]).contains(EventId::new(ThreadId(7), 0)));
    }
}
