//! Levels of isolation, and what each of them excludes.
//!
//! Adya 1999: read uncommitted (PL-1) excludes G0, read committed (PL-2) also G1, serializable (PL-3) all cycles. Snapshot isolation: every cycle has two `rw` next to
//! each other (Cerone and Gotsman 2018), so that lost updates and read skew are excluded and write skew is not. Strict serializability adds real time as
//! a dependency. Keys are items and there are no predicates, so repeatable read (PL-2.99) is serializable here.

use std::str::FromStr;

use super::Anomaly;

/// A level of isolation, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Writes of two transactions are not mixed.
    ReadUncommitted,
    /// And only what was committed is read.
    ReadCommitted,
    /// And each transaction reads from one snapshot, and of two that overlap not both write the same key.
    SnapshotIsolation,
    /// As if one after another.
    Serializable,
    /// As if one after another, in an order that respects real time.
    StrictSerializable,
}

impl Level {
    /// All levels, each implied by the next.
    pub const ALL: [Level; 5] = [
        Level::ReadUncommitted,
        Level::ReadCommitted,
        Level::SnapshotIsolation,
        Level::Serializable,
        Level::StrictSerializable,
    ];

    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "read-uncommitted",
            Level::ReadCommitted => "read-committed",
            Level::SnapshotIsolation => "snapshot-isolation",
            Level::Serializable => "serializable",
            Level::StrictSerializable => "strict-serializable",
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Level, String> {
        Level::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| format!("unknown level `{name}`; known are {}", Level::ALL.map(Level::name).join(", ")))
    }
}

/// How a history stands to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There are an order of versions and dependencies that show it.
    Holds,
    /// There is an anomaly.
    Violated,
    /// No anomaly was found, and no order of versions either, before a limit was reached.
    Open,
}

/// What some level excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phenomenon {
    /// A read of a value that nobody wrote.
    Unwritten,
    /// A list with an element twice.
    Duplicate,
    /// Two reads of a list of which neither begins with the other.
    Incompatible,
    /// A read that contradicts what the transaction itself read or wrote before.
    Internal,
    /// A read of a transaction that was aborted.
    G1a,
    /// A read of a version that its transaction overwrote.
    G1b,
    /// Two transactions that read the same version of a key and both write it.
    LostUpdate,
    /// A cycle of `ww`.
    G0,
    /// A cycle of `ww` and `wr`.
    G1c,
    /// A cycle with one `rw`.
    GSingle,
    /// A cycle with several `rw`, no two of them next to each other.
    GNonadjacent,
    /// Another cycle with `rw`.
    G2Item,
    /// Whatever the order of the versions, there is a cycle that this level excludes.
    NoOrder(Level),
}

impl Phenomenon {
    /// The name, as Elle has it where Elle has one.
    pub fn name(self) -> &'static str {
        match self {
            Phenomenon::Unwritten => "unwritten-read",
            Phenomenon::Duplicate => "duplicate-elements",
            Phenomenon::Incompatible => "incompatible-order",
            Phenomenon::Internal => "internal",
            Phenomenon::G1a => "G1a",
            Phenomenon::G1b => "G1b",
            Phenomenon::LostUpdate => "lost-update",
            Phenomenon::G0 => "G0",
            Phenomenon::G1c => "G1c",
            Phenomenon::GSingle => "G-single-item",
            Phenomenon::GNonadjacent => "G-nonadjacent-item",
            Phenomenon::G2Item => "G2-item",
            Phenomenon::NoOrder(_) => "no-version-order",
        }
    }

    /// The weakest level that excludes it.
    pub fn excluded_from(self) -> Level {
        match self {
            Phenomenon::Unwritten | Phenomenon::Duplicate | Phenomenon::G0 => Level::ReadUncommitted,
            Phenomenon::Incompatible | Phenomenon::G1a | Phenomenon::G1b | Phenomenon::G1c => Level::ReadCommitted,
            Phenomenon::Internal | Phenomenon::LostUpdate | Phenomenon::GSingle | Phenomenon::GNonadjacent => {
                Level::SnapshotIsolation
            }
            Phenomenon::G2Item => Level::Serializable,
            Phenomenon::NoOrder(level) => level,
        }
    }
}

/// The weakest level that excludes an anomaly.
pub fn excluded_from(anomaly: &Anomaly) -> Level {
    if anomaly.realtime { Level::StrictSerializable } else { anomaly.phenomenon.excluded_from() }
}

/// What anomalies say about a level.
pub fn standing(level: Level, anomalies: &[Anomaly]) -> Standing {
    if anomalies.iter().any(|anomaly| excluded_from(anomaly) <= level) { Standing::Violated } else { Standing::Open }
}
