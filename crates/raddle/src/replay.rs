//! Running a saved schedule again.

use crate::Schedule;
use crate::error::Error;
use crate::prepare::{prepare_as_written, prepare_with};
use raddle_engine::PropertySet;
use raddle_machine::Code;
use raddle_program::Program;
use raddle_program::analysis::LoopBounds;
use raddle_report::{Counterexample, Replay, names};
use raddle_trace::{Model, Property, Violation};

/// Runs the schedule. Errors that are not looked for do not end a thread where there is a way on, so the properties must be those for which the
/// schedule was found.
///
/// # Errors
/// If the schedule does not fit the program.
pub fn replay(program: &Program, model: Model, schedule: &Schedule, properties: PropertySet) -> Result<Replay, Error> {
    run(&prepare_with(program, LoopBounds::default(), false, properties), model, schedule, properties)
}

/// As [`replay()`], for a schedule of the program as it is written, with loops that wait as loops: those of [`live`](crate::live()).
///
/// # Errors
/// If the schedule does not fit the program.
pub fn replay_as_written(
    program: &Program,
    model: Model,
    schedule: &Schedule,
    properties: PropertySet,
) -> Result<Replay, Error> {
    run(&prepare_as_written(program, properties), model, schedule, properties)
}

fn run(code: &Code, model: Model, schedule: &Schedule, properties: PropertySet) -> Result<Replay, Error> {
    let races = properties.contains(Property::Race);
    let run = raddle_machine::replay(code, model, schedule, races)?;
    let counterexample = match run.failures.into_iter().last() {
        None => None,
        Some(found) => {
            let Some(property) = found.property else {
                let (message, place) = (found.message, found.place);
                return Err(Error::Unsupported { message, place, pieces: Vec::new() });
            };
            let violation =
                Violation { property, message: found.message, place: found.place, schedule: schedule.clone() };
            let execution = run.execution.clone();
            Some(Counterexample::new(violation, execution, run.waiting, String::new()))
        }
    };
    let mut execution = run.execution;
    names::shorten(&mut execution, []);
    Ok(Replay { execution, counterexample })
}
