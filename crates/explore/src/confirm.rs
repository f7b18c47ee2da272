//! No counterexample without a replay.
//!
//! An engine proposes a schedule and says what it expects at its end. The machine runs it from the start; only if the
//! same property is broken there does a [`Finding`] come into being.

use crate::options::Options;
use crate::outcome::{Error, Finding};
use raddle_machine::{Code, replay};
use raddle_trace::{Property, Schedule, Violation};

/// Replays the schedule and returns the finding, or an internal error if the machine disagrees. Several threads may have
/// failed by the end; the failure at instruction `pc` is preferred.
pub fn confirm(
    code: &Code,
    options: &Options,
    schedule: Schedule,
    property: Property,
    pc: u32,
) -> Result<Finding, Error> {
    let races = options.properties.contains(Property::Race);
    let mut schedule = schedule.named(code.numbering());
    let run = replay(code, options.model, &schedule, races)?;
    schedule.steps.truncate(run.taken);
    let fits = || run.failures.iter().rev().filter(|found| found.property == Some(property));
    let place = code.place(pc);
    match fits().find(|found| found.place == place).or_else(|| fits().next()) {
        Some(found) => Ok(Finding {
            violation: Violation { property, message: found.message.clone(), place: found.place.clone(), schedule },
            execution: run.execution,
        }),
        None => {
            let instead: Vec<&str> = run.failures.iter().map(|found| found.message.as_str()).collect();
            Err(Error::NotReplayed(format!("expected {property} at the end of `{schedule}`, found {instead:?}")))
        }
    }
}
