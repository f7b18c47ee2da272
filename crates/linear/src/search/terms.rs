//! What a search is given, and what it gives back.

use std::fmt;
use std::time::Instant;

use super::model::Model;
use crate::history::Ts;

/// An operation of a history.
#[derive(Debug)]
pub struct Entry<M: Model> {
    /// What was called.
    pub call: M::Call,
    /// What it answered; nobody knows when it is pending.
    pub ret: Option<M::Ret>,
    /// When it was called.
    pub start: Ts,
    /// When it returned; [`Ts::INF`] if it is pending.
    pub end: Ts,
}

impl<M: Model> Clone for Entry<M> {
    fn clone(&self) -> Entry<M> {
        Entry { call: self.call.clone(), ret: self.ret.clone(), start: self.start, end: self.end }
    }
}

/// How much work a search may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The most configurations it may visit.
    pub configurations: u64,
    /// The most bytes it may hold, roughly.
    pub bytes: u64,
    /// When it must stop.
    pub deadline: Option<Instant>,
    /// How it goes about it.
    pub strategy: Strategy,
}

/// In which order configurations are visited. The answer does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Depth first and breadth first in turns, each turn longer than the one before.
    #[default]
    Turns,
    /// Depth first: one order after another.
    Depth,
    /// Breadth first: one return after another. An object of several parts is searched depth first all the same.
    Breadth,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { configurations: 50_000_000, bytes: 4 << 30, deadline: None, strategy: Strategy::Turns }
    }
}

impl Budget {
    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// A budget of this many configurations and no other limit but the default ones.
    pub fn of(configurations: u64) -> Budget {
        Budget { configurations, ..Budget::default() }
    }

    /// The same limits, for a question that may take at most so many configurations.
    pub fn at_most(self, configurations: u64) -> Budget {
        Budget { configurations: configurations.min(self.configurations), strategy: Strategy::Turns, ..self }
    }
}

/// How much work a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Configurations visited.
    pub configurations: u64,
    /// Different states met.
    pub states: u64,
}

/// Where a search that found nothing got to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window<S> {
    /// The operation (by position) whose return could not be passed by any configuration.
    pub blocked: usize,
    /// The states the object could be in just before that, as the model describes them, with the open operations that had
    /// taken effect: a few of them.
    pub before: Vec<(String, Vec<usize>)>,
    /// The last moment at which everything is certain; not sought where the model has several parts.
    pub certain: Option<Certain<S>>,
}

/// A moment that every order may be assumed to reach in the same state with the same operations done: whatever else it may have done
/// before leaves it no more freedom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certain<S> {
    /// The operation (by position) whose return comes next.
    pub next: usize,
    /// The state.
    pub state: S,
    /// Operations that are open then and have already taken effect.
    pub done: Vec<usize>,
    /// Operations that are open then and have had a place where they change nothing; they may still take effect instead.
    pub spare: Vec<usize>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<S> {
    /// A linearization, by position.
    Linearization(Vec<usize>),
    /// There is none.
    None(Window<S>),
    /// A limit was reached.
    OutOfBudget(Limit),
}

/// What a search may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Budget::configurations`].
    Configurations,
    /// [`Budget::bytes`].
    Memory,
    /// [`Budget::deadline`].
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Limit::Configurations => "the budget was used up",
            Limit::Memory => "the memory limit was reached",
            Limit::Time => "the time limit was reached",
        })
    }
}
