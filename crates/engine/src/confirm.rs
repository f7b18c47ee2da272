//! No counterexample without a replay.
//!
//! An engine proposes a schedule and says what it expects at its end. The machine runs it from the start; only if the
//! same property is broken there does a [`Finding`] come into being.

use crate::face::{Fault, Question};
use raddle_machine::replay;
use raddle_trace::{Execution, Place, Property, Schedule, ThreadName, Violation, Waiting};

/// A violation and the run that shows it, replayed. Only [`confirm()`] makes one.
#[derive(Clone, Debug)]
pub struct Finding {
    violation: Violation,
    execution: Execution,
    waiting: Vec<Waiting>,
}

impl Finding {
    /// What is violated.
    pub fn violation(&self) -> &Violation {
        &self.violation
    }

    /// The run that shows it.
    pub fn execution(&self) -> &Execution {
        &self.execution
    }

    /// The same, for another question about the same program.
    ///
    /// # Errors
    /// If the run does not show it there.
    pub fn confirmed_for(&self, question: &Question<'_>) -> Result<Finding, Fault> {
        let Violation { property, place, schedule, .. } = &self.violation;
        shown(question, schedule.clone(), *property, place)
    }

    /// Both, and who waits for what at the end of a deadlock.
    pub fn into_parts(self) -> (Violation, Execution, Vec<Waiting>) {
        (self.violation, self.execution, self.waiting)
    }
}

/// Replays the schedule and returns the finding, or an internal error if the machine disagrees. Several threads may have
/// failed by the end; the failure at instruction `pc` is preferred.
pub fn confirm(question: &Question<'_>, schedule: Schedule, property: Property, pc: u32) -> Result<Finding, Fault> {
    shown(question, schedule.named(question.code.numbering()), property, &question.code.place(pc))
}

/// Replays the schedule, and returns what it shows if that is this property's violation, at this place if there are several.
pub(crate) fn shown(
    question: &Question<'_>,
    mut schedule: Schedule<ThreadName>,
    property: Property,
    place: &Place,
) -> Result<Finding, Fault> {
    let Question { code, options } = question;
    let races = options.properties.contains(Property::Race);
    let run = replay(code, options.model, &schedule, races)?;
    schedule.steps.truncate(run.taken);
    let fits = || run.failures.iter().rev().filter(|found| found.property == Some(property));
    match fits().find(|found| found.place == *place).or_else(|| fits().next()) {
        Some(found) => Ok(Finding {
            violation: Violation { property, message: found.message.clone(), place: found.place.clone(), schedule },
            execution: run.execution,
            waiting: if property == Property::Deadlock { run.waiting } else { Vec::new() },
        }),
        None => {
            let instead: Vec<&str> = run.failures.iter().map(|found| found.message.as_str()).collect();
            Err(Fault::NotReplayed(format!("expected {property} at the end of `{schedule}`, found {instead:?}")))
        }
    }
}
