//! How to verify.

use crate::interrupt::{Interrupt, Never};

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
#[derive(Clone, Copy, Debug)]
pub struct Limits<'i> {
    /// Prefixes taken from the worklist.
    pub prefixes: u64,
    /// What the search may hold, roughly.
    pub bytes: u64,
    /// Whoever knows when time is over or somebody wants it to end.
    pub interrupt: &'i dyn Interrupt,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { prefixes: u64::MAX, bytes: 4 << 30, interrupt: &Never }
    }
}

/// How to verify.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'i> {
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
    pub limits: Limits<'i>,
}

impl Default for Settings<'_> {
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
