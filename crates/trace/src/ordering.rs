//! Memory orderings.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A C11 memory ordering, with "not atomic" as the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ordering {
    /// An ordinary access: subject to race detection.
    NonAtomic,
    /// `memory_order_relaxed`.
    Relaxed,
    /// `memory_order_acquire` (consume is promoted to it).
    Acquire,
    /// `memory_order_release`.
    Release,
    /// `memory_order_acq_rel`.
    AcqRel,
    /// `memory_order_seq_cst`.
    SeqCst,
}

impl Ordering {
    /// Every ordering.
    pub const ALL: [Ordering; 6] = [
        Ordering::NonAtomic,
        Ordering::Relaxed,
        Ordering::Acquire,
        Ordering::Release,
        Ordering::AcqRel,
        Ordering::SeqCst,
    ];

    /// Whether a read with this ordering synchronises with the write it reads from.
    pub const fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// Whether a write with this ordering publishes what its thread did before.
    pub const fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// The suffix in the text form: `na`, `rlx`, `acq`, `rel`, `acqrel`, `sc`.
    pub const fn name(self) -> &'static str {
        match self {
            Ordering::NonAtomic => "na",
            Ordering::Relaxed => "rlx",
            Ordering::Acquire => "acq",
            Ordering::Release => "rel",
            Ordering::AcqRel => "acqrel",
            Ordering::SeqCst => "sc",
        }
    }
}

impl fmt::Display for Ordering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
