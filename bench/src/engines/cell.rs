//! One engine on one program under one model.
//!
//! The exploration goes past violations and is repeated until it has taken a while, so that short ones have a time, too. An
//! engine that does not take the program or the model says so, and that is a result; so is the limit. Anything else is a
//! failure.

use crate::failure::Failure;
use raddle::cost::Meter;
use raddle::{Control, Engine, Error, Model, Program, Scope, Settings};
use serde::Serialize;
use std::time::Duration;

/// An exploration is repeated until all together have taken so many CPU seconds.
const ENOUGH: f64 = 0.05;

/// What an engine makes of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub(crate) enum Cell {
    /// It explored everything.
    Done(Explored),
    /// It did not come to the end in time; so far it is this.
    Limit(Explored),
    /// It does not take this.
    Refused {
        /// Why.
        reason: String,
    },
}

/// What was explored and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Explored {
    /// Complete executions: classes.
    pub(crate) classes: u64,
    /// Blocked ones.
    pub(crate) blocked: u64,
    /// Failed ones, cut off ones, and those of a class that was met before.
    pub(crate) others: u64,
    /// Events of the longest.
    pub(crate) longest: u64,
    /// CPU seconds of one exploration.
    pub(crate) cpu_seconds: f64,
}

impl Explored {
    /// Executions of all kinds.
    pub(crate) fn runs(&self) -> u64 {
        self.classes + self.blocked + self.others
    }

    /// CPU seconds for each of them.
    pub(crate) fn cost(&self) -> f64 {
        self.cpu_seconds / self.runs().max(1) as f64
    }
}

impl Cell {
    /// What was explored as a whole.
    pub(crate) fn done(&self) -> Option<&Explored> {
        match self {
            Cell::Done(explored) => Some(explored),
            Cell::Limit(_) | Cell::Refused { .. } => None,
        }
    }
}

/// Runs an engine.
///
/// # Errors
/// If the engine contradicts itself or the machine.
pub(crate) fn measure(
    title: &str,
    program: &Program,
    engine: &'static dyn Engine,
    model: Model,
    limit: Duration,
) -> Result<Cell, Failure> {
    let mut settings = Settings::new(model);
    settings.engine = engine;
    settings.options.all = true;
    settings.options.limits.time = Some(limit);
    sample(title, program, &settings)
}

/// Runs an engine with these settings.
///
/// # Errors
/// If the engine contradicts itself or the machine.
pub(crate) fn sample(title: &str, program: &Program, settings: &Settings) -> Result<Cell, Failure> {
    let meter = Meter::start();
    let mut repetitions = 0u32;
    loop {
        let outcome = match raddle::verify(program, settings, &Control::new()) {
            Ok(outcome) => outcome,
            Err(Error::Unsupported { message, .. }) => return Ok(Cell::Refused { reason: message }),
            Err(source) => return Err(Failure::of(title)(source)),
        };
        repetitions += 1;
        let cost = meter.read();
        // Where the system does not tell CPU time, wall time has to do.
        if cost.cpu_seconds.max(cost.seconds / 20.0) < ENOUGH {
            continue;
        }
        let counted = outcome.statistics;
        let explored = Explored {
            classes: counted.executions,
            blocked: counted.blocked,
            others: counted.runs() - counted.executions - counted.blocked + counted.redundant.unwrap_or(0),
            longest: counted.longest,
            cpu_seconds: cost.cpu_seconds / f64::from(repetitions),
        };
        return Ok(match outcome.scope {
            Scope::Partial { .. } => Cell::Limit(explored),
            _ => Cell::Done(explored),
        });
    }
}
