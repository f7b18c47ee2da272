//! How to verify.

use crate::interrupt::Interrupt;
use std::time::Instant;

/// Whether closure looks at an instance before the search does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closure {
    /// Never.
    Off,
    /// At once.
    First,
    /// When a search without it has visited this many prefixes in vain.
    After(u64),
}

/// Which prefix the search takes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorklistOrder {
    /// The one that was found last.
    LastIn,
    /// The one that was found first.
    FirstIn,
    /// A random one; the number is the seed.
    #[cfg(test)]
    Random(u64),
}

/// What the search for PSO remembers of a prefix besides the positions of threads; see [`crate::models::pso`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The smallest one that is right for the instance.
    Auto,
    /// How much of every buffer has reached memory. Always right.
    Flushes,
    /// Which buffers hold writes to a location that is held. Right without store-store fences.
    #[cfg(test)]
    Stuck,
    /// The fence map of Toman 2021 with its condition on the holder's thread corrected. Loses executions.
    #[cfg(test)]
    CorrectedFenceMap,
    /// The fence map as printed in Toman 2021. Loses executions.
    #[cfg(test)]
    PrintedFenceMap,
}

/// Which verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The one made for the model.
    Model,
    /// All lower sets of the program order, the baseline of Toman 2021.
    Naive,
}

/// When to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Prefixes taken from the worklist.
    pub prefixes: u64,
    /// What the search may hold, roughly.
    pub bytes: u64,
    /// A time.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { prefixes: u64::MAX, bytes: 4 << 30, deadline: None }
    }
}

impl Interrupt for Limits {
    fn is_due(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// How to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether and when to compute the closure.
    pub closure: Closure,
    /// The order of the worklist.
    pub order: WorklistOrder,
    /// The key for PSO.
    pub key: Key,
    /// The verifier.
    pub algorithm: Algorithm,
    /// Make moves that cannot hurt without a choice, more of them than Toman 2021 does. See [`crate::models::tso`] and [`crate::models::pso`].
    pub eager: bool,
    /// Under SC, with closure: try two-literal clauses when the search has looked at this many prefixes in vain.
    pub clauses: Option<u64>,
    /// When to give up.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            closure: Closure::First,
            order: WorklistOrder::LastIn,
            key: Key::Auto,
            algorithm: Algorithm::Model,
            eager: true,
            clauses: Some(1000),
            limits: Limits::default(),
        }
    }
}
