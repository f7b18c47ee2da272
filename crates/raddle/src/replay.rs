//! Running a saved schedule again.

use crate::Schedule;
use crate::error::Error;
use crate::prepare::prepare;
use crate::waiting::waiting;
use raddle_machine::Code;
use raddle_program::Program;
use raddle_report::{Counterexample, Replay};
use raddle_trace::{Execution, Model, Property, Violation};

/// Runs the schedule. A race ends its thread, so whether races are looked for must be as it was when the schedule was found.
///
/// # Errors
/// If the schedule does not fit the program.
pub fn replay(program: &Program, model: Model, schedule: &Schedule, races: bool) -> Result<Replay, Error> {
    let code = prepare(program, None);
    let run = raddle_machine::replay(&code, model, schedule, races)?;
    let counterexample = match run.failures.into_iter().last() {
        None => None,
        Some(found) => {
            let Some(property) = found.property else {
                return Err(Error::Unsupported { message: found.message, place: found.place });
            };
            let violation =
                Violation { property, message: found.message, place: found.place, schedule: schedule.clone() };
            Some(counterexample(&code, (violation, run.execution.clone()), races, String::new()))
        }
    };
    Ok(Replay { execution: run.execution, counterexample })
}

/// A violation and its run with what is needed to show them. `replay` is the command that shows them again.
pub(crate) fn counterexample(
    code: &Code,
    (violation, execution): (Violation, Execution),
    races: bool,
    replay: String,
) -> Counterexample {
    let waiting = match violation.property {
        Property::Deadlock => waiting(code, execution.model, &violation.schedule, races),
        _ => Vec::new(),
    };
    Counterexample { violation, execution, waiting, replay }
}
