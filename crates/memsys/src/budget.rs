//! How much a search may do.

use std::fmt;
use std::time::Instant;

/// How much a search may do before it gives up.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// So many configurations (or facts) may be met in one search.
    pub configurations: u64,
    /// So many bytes may be held.
    pub bytes: u64,
    /// No later than this.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    /// As much as fits into 4 GiB.
    fn default() -> Self {
        Budget { configurations: u64::MAX, bytes: 4 << 30, deadline: None }
    }
}

/// What ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of configurations.
    Configurations,
    /// What may be held.
    Memory,
    /// The time.
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Configurations => "the limit on configurations",
            Limit::Memory => "the limit on memory",
            Limit::Time => "the time limit",
        })
    }
}

impl Budget {
    /// The limit that is reached after so many steps, with so many configurations in so many bytes.
    pub(crate) fn reached(&self, steps: u64, configurations: u64, bytes: u64) -> Option<Limit> {
        if configurations > self.configurations {
            return Some(Limit::Configurations);
        }
        if bytes > self.bytes {
            return Some(Limit::Memory);
        }
        let late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        (steps.is_multiple_of(1024) && late()).then_some(Limit::Time)
    }
}
