//! Putting the question.

use crate::error::Error;
use crate::prepare::prepare;
use raddle_explore::{Control, Options, Outcome, explore};
use raddle_program::Program;
use raddle_trace::Model;

/// What to verify and how far.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What to explore.
    pub options: Options,
    /// How often the body of a loop is entered each time the loop is. Without a bound, loops turn as long as they do.
    pub loop_bound: Option<u32>,
}

impl Settings {
    /// Every property, no limit, no loop bound, one worker.
    pub fn new(model: Model) -> Self {
        Settings { options: Options::new(model), loop_bound: None }
    }
}

/// Looks for an execution that breaks a property.
///
/// # Errors
/// If the program does something no engine handles, or Raddle finds a bug in itself.
pub fn verify(program: &Program, settings: &Settings, control: &Control) -> Result<Outcome, Error> {
    let code = prepare(program, settings.loop_bound);
    Ok(explore(&code, &settings.options, control)?)
}
