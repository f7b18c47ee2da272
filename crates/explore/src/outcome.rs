//! What an exploration found.

use crate::options::{Engine, Limits, Options};
use raddle_machine::{Code, ReplayError};
use raddle_trace::{Execution, Place, Schedule, Scope, Verdict, Violation};
use thiserror::Error;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Complete executions: every thread finished. For engines that claim it, one per class.
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
    /// How often an order of events was looked for that explains what was read, because none at hand did.
    pub questions: u64,
    /// How often there was none.
    pub unrealisable: u64,
    /// Options tried: events added, and those found impossible.
    pub events: u64,
    /// Events of the longest execution.
    pub longest: u64,
    /// Sets of events that `rvf` has looked at.
    pub nodes: u64,
    /// Those of them that led nowhere: something could still be read, and all of it had been tried elsewhere.
    pub dead_ends: u64,
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
        self.questions += other.questions;
        self.unrealisable += other.unrealisable;
        self.events += other.events;
        self.longest = self.longest.max(other.longest);
        self.nodes += other.nodes;
        self.dead_ends += other.dead_ends;
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
    /// The engine that did the work.
    pub engine: Engine,
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

/// How far an exploration came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// A loop that reached its bound.
    pub(crate) bounded_at: Option<u32>,
    /// Where an execution was cut off because it was too long.
    pub(crate) cut_at: Option<u32>,
    /// Why it was given up.
    pub(crate) limit: Option<String>,
}

impl Outcome {
    /// The outcome of an exploration that came so far; the scope and the verdict follow.
    pub(crate) fn new(code: &Code, options: &Options, reach: Reach, findings: Vec<Finding>) -> Self {
        let line = |pc: u32| {
            let place = code.place(pc);
            format!("{}:{}", place.file, place.line)
        };
        let mut notes = Vec::new();
        let mut scope = Scope::AllExecutions;
        if let Some(pc) = reach.bounded_at {
            scope = Scope::LoopBound { turns: code.loop_bound().unwrap_or(0) };
            notes.push(format!("the loop at {} reached its bound", line(pc)));
        }
        if let Some(pc) = reach.cut_at {
            let depth = options.limits.depth.unwrap_or(Limits::DEPTH);
            let reason = format!(
                "an execution went on for more than {depth} events, at {}; bound its loops or raise the depth limit",
                line(pc)
            );
            scope = Scope::Partial { reason };
        }
        if let Some(reason) = reach.limit {
            scope = Scope::Partial { reason };
        }
        let verdict = match (&findings[..], &scope) {
            ([_, ..], _) => Verdict::Violated,
            ([], Scope::Partial { .. }) => Verdict::Unknown,
            ([], _) => Verdict::Holds,
        };
        let (statistics, schedules) = (Statistics::default(), Vec::new());
        Outcome { engine: options.engine, verdict, scope, findings, statistics, share_done: 1.0, schedules, notes }
    }
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

impl Error {
    /// A refusal of the program as a whole, which points at no line of it.
    pub(crate) fn unsupported(code: &Code, message: String) -> Self {
        Error::Unsupported { message, place: Place { line: 0, ..code.place(0) } }
    }
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        Error::NotReplayed(error.to_string())
    }
}
