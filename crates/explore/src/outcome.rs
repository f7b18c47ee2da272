//! What an exploration found.

use raddle_machine::ReplayError;
use raddle_trace::{Execution, Place, Schedule, Scope, Verdict, Violation};
use thiserror::Error;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Complete executions: every thread finished. For `optimal` this is the number of classes.
    pub executions: u64,
    /// Executions in which some thread waits for something that never comes, or an assumption failed.
    pub blocked: u64,
    /// Executions in which a thread failed (only met with [`Options::all`](crate::Options::all)).
    pub failed: u64,
    /// Executions cut off at the loop bound.
    pub bounded: u64,
    /// Executions cut off at the depth limit.
    pub cut: u64,
    /// Ends in which a waiting thread had only not looked again; not executions.
    pub moot: u64,
    /// Executions of a class that was explored before. An engine that claims optimality shows 0; `optimal` remembers nothing,
    /// and counts them in debug builds only.
    pub redundant: u64,
    /// Updates tried on a source that another update had consumed; they extend no execution.
    pub probes: u64,
    /// Backward revisits.
    pub revisits: u64,
    /// Options tried: events added, and those found impossible.
    pub events: u64,
    /// Events of the longest execution.
    pub longest: u64,
    /// Sets of events that `rvf` has looked at.
    pub nodes: u64,
    /// Those of them that led nowhere: something could still be read, and all of it had been tried elsewhere.
    pub dead_ends: u64,
    /// Instances that `rvf` had to solve because no sequence at hand was a solution.
    pub searches: u64,
    /// Those of them that have none.
    pub refuted: u64,
}

impl Statistics {
    /// Everything that ended: complete, blocked, failed, bounded or cut.
    pub fn runs(&self) -> u64 {
        self.executions + self.blocked + self.failed + self.bounded + self.cut
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Statistics) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.failed += other.failed;
        self.bounded += other.bounded;
        self.cut += other.cut;
        self.moot += other.moot;
        self.redundant += other.redundant;
        self.probes += other.probes;
        self.revisits += other.revisits;
        self.events += other.events;
        self.longest = self.longest.max(other.longest);
        self.nodes += other.nodes;
        self.dead_ends += other.dead_ends;
        self.searches += other.searches;
        self.refuted += other.refuted;
    }
}

/// A violation and the run that shows it, replayed.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub violation: Violation,
    /// The run.
    pub execution: Execution,
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// How far it reaches.
    pub scope: Scope,
    /// Distinct violations, in the order they were found; at most one unless all were asked for.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub statistics: Statistics,
    /// The share of the search tree that was explored, between 0 and 1.
    pub share_done: f64,
    /// A run of every class, if they were to be kept.
    pub schedules: Vec<Schedule>,
    /// What a person should know beside the verdict.
    pub notes: Vec<String>,
}

/// Why there is no verdict.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// The program does something this engine cannot handle.
    #[error("{message}")]
    Unsupported {
        /// What.
        message: String,
        /// Where.
        place: Place,
    },
    /// A violation did not replay: a bug in Raddle, not a verdict.
    #[error("internal error: a violation found by the engine does not replay: {0}")]
    NotReplayed(String),
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        Error::NotReplayed(error.to_string())
    }
}
