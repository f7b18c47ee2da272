//! Names: threads, events, memory models.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread by its number, among those of a program ([`Numbering`](crate::Numbering)) or of a trace. The first one is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that runs `main`.
    pub const MAIN: ThreadId = ThreadId(0);

    /// As an index into a table of threads.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number; people who look at a program should see the [`ThreadName`](crate::ThreadName) instead.
impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { write!(f, "{}", self.0) } else { write!(f, "T{}", self.0) }
    }
}

/// An event: the `index`-th of its thread, from 0. Threads go by their numbers, or by their names
/// ([`EventName`](crate::EventName)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventId<T = ThreadId> {
    /// Its thread.
    pub thread: T,
    /// Its position in the thread.
    pub index: u32,
}

impl<T> EventId<T> {
    /// The `index`-th event of `thread`.
    pub const fn new(thread: T, index: u32) -> Self {
        EventId { thread, index }
    }
}

impl<T: fmt::Display> fmt::Display for EventId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.thread, self.index)
    }
}

/// A memory model: which answers memory may give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Sequential consistency: one memory, one access at a time. It is meant where nothing is said.
    #[default]
    Sc,
    /// Total store order: a first-in first-out store buffer per thread.
    Tso,
    /// Partial store order: a store buffer per thread and location.
    Pso,
    /// Weak release-acquire: causality only, no order of the writes of a location.
    Wra,
    /// Release-acquire: causality, and an order of the writes of each location.
    Ra,
    /// Strong release-acquire: the orders of all locations agree with each other and with causality.
    Sra,
    /// Repaired C11 (Lahav et al. 2017), with the release sequences of C++20.
    Rc11,
}

impl Model {
    /// Those in which memory is a state, and steps go on from it.
    pub const OPERATIONAL: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    /// Those that are defined by what an execution as a whole may look like.
    pub const AXIOMATIC: [Model; 4] = [Model::Wra, Model::Ra, Model::Sra, Model::Rc11];

    /// Every model, stronger ones first as far as they can be compared.
    pub const EVERY: [Model; 7] = [Model::Sc, Model::Tso, Model::Pso, Model::Sra, Model::Ra, Model::Wra, Model::Rc11];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
            Model::Wra => "wra",
            Model::Ra => "ra",
            Model::Sra => "sra",
            Model::Rc11 => "rc11",
        }
    }

    /// Whether every execution is a sequence of what the threads do, each operation with all of its effect at once.
    pub const fn is_sequential(self) -> bool {
        matches!(self, Model::Sc)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Model::EVERY.into_iter().find(|model| model.name() == name);
        found
            .ok_or_else(|| format!("no memory model is called `{name}`; there are sc, tso, pso, wra, ra, sra and rc11"))
    }
}
