//! Putting the question.

use crate::error::Error;
use crate::prepare::prepare_with;
use raddle_engine::{Control, Engine, Options, Outcome, Question};
use raddle_explore::ENGINES;
use raddle_program::Program;
use raddle_program::analysis::{LoopBounds, LoopPlace, NamedBound};
use raddle_trace::Model;

/// What to verify and how far.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who explores.
    pub engine: &'static dyn Engine,
    /// What to explore.
    pub options: Options,
    /// How often the body of a loop is entered each time the loop is. Without a bound, loops turn as long as they do.
    pub loop_bound: Option<u32>,
    /// Bounds for single loops, which go before that for all.
    pub named_bounds: Vec<NamedBound>,
    /// The bound is also for loops whose number of turns is known when they are reached, and which end by themselves.
    pub bound_all_loops: bool,
}

impl Settings {
    /// The engine that suits the program, every property, no limit, no loop bound, one worker.
    pub fn new(model: Model) -> Self {
        let engine = ENGINES.find("auto").expect("it is among them");
        Settings {
            engine,
            options: Options::new(model),
            loop_bound: None,
            named_bounds: Vec::new(),
            bound_all_loops: false,
        }
    }
}

/// Looks for an execution that breaks a property.
///
/// # Errors
/// If the program does something no engine handles, or Raddle finds a bug in itself.
pub fn verify(program: &Program, settings: &Settings, control: &Control) -> Result<Outcome, Error> {
    let bounds = LoopBounds { every: settings.loop_bound, named: settings.named_bounds.clone() };
    if let Some(place) = bounds.misses(program) {
        return Err(Error::NoLoop(match place {
            LoopPlace::Line(file, line) => format!("no loop begins at {file}:{line}"),
            LoopPlace::Function(name) => format!("there is no loop in a function named `{name}`"),
        }));
    }
    let code = prepare_with(program, bounds, settings.bound_all_loops, settings.options.properties);
    Ok(settings.engine.ask(&Question { code: &code, options: &settings.options }, control)?)
}
