//! Running a saved schedule again.

use crate::Schedule;
use crate::error::Error;
use crate::prepare::prepare;
use raddle_program::Program;
use raddle_report::{Counterexample, Replay};
use raddle_trace::{Model, Violation};

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
            let execution = run.execution.clone();
            Some(Counterexample { violation, execution, waiting: run.waiting, replay: String::new() })
        }
    };
    Ok(Replay { execution: run.execution, counterexample })
}
