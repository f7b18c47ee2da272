//! Putting the question.

use crate::engines::ENGINES;
use crate::error::Error;
use crate::formulas::{self, Beside};
use crate::load::{LoadOptions, Loaded};
use crate::prepare::{prepare, prepare_with};
use raddle_engine::{Control, Engine, Options, Outcome, Question, StopReason};
use raddle_program::Program;
use raddle_program::analysis::{LoopBounds, LoopPlace, NamedBound, Pieces};
use raddle_trace::threads::TOO_MANY;
use raddle_trace::{Model, Place, Scope, Verdict};
use std::time::{Duration, Instant};

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

/// The memory model to verify under where none is named, if the answer to this question may rest on it: the one that is meant, or sequential consistency if
/// the engine takes the program under that one alone. What is asked instead is worth a note.
pub fn model_meant(loaded: &Loaded, settings: &Settings) -> (Model, Option<String>) {
    let code = prepare(&loaded.program, None);
    let takes = |model: Model| {
        let options = Options { model, ..settings.options.clone() };
        settings.engine.takes(&Question { code: &code, options: &options })
    };
    match takes(loaded.model) {
        Err(refusal) if takes(Model::Sc).is_ok() => {
            let note = format!("sc, because under {} this cannot be asked: {refusal}", loaded.model);
            (Model::Sc, Some(note))
        }
        _ => (loaded.model, None),
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
    let start = Instant::now();
    let limit = settings.options.limits.time;
    let options = &settings.options;
    let code = prepare_with(program, bounds.clone(), settings.bound_all_loops, options.properties);
    let question = Question { code: &code, options };
    let left = |patience: Duration| limit.map_or(patience, |limit| limit.saturating_sub(start.elapsed()));
    // A formula has all executions and all values of inputs in it, so those who try one after the other have their time first.
    let (outcome, asked) = match formulas::after(program, &code, settings, !bounds.is_empty()) {
        None => (settings.engine.ask(&question, control)?, false),
        Some((patience, why)) => {
            let patience = limit.map_or(patience, |limit| patience.within(limit / 2));
            let others = |time: Duration| {
                let mut patience = limit.map_or(time, |limit| limit.saturating_sub(start.elapsed()) / 2);
                if bounds.is_empty() && formulas::starts_threads_for_ever(program) {
                    patience /= 2;
                    let few = grow(program, settings, control, None, patience)?;
                    if few.is_some() {
                        return Ok(few);
                    }
                }
                formulas::decide(program, settings, &bounds, control, patience, why)
            };
            match formulas::beside(settings.engine, &question, control, patience, others)? {
                Beside::Decided(outcome) => return Ok(outcome),
                Beside::Enumerated(outcome, asked) => (outcome, asked),
            }
        }
    };
    match &outcome.stop {
        Some(StopReason::Inputs { values, .. })
            if outcome.verdict == Verdict::Unknown && (!asked || limit.is_some()) =>
        {
            let why = format!("an unknown input has {values} values");
            let decided = formulas::decide(program, settings, &bounds, control, left(PATIENCE), &why)?;
            Ok(decided.unwrap_or(outcome))
        }
        // One execution has all the threads that there can be.
        Some(StopReason::GaveUp { why, at })
            if why == TOO_MANY && bounds.is_empty() && outcome.verdict == Verdict::Unknown =>
        {
            let at = at.clone();
            Ok(grow(program, settings, control, Some(&at), left(PATIENCE))?.unwrap_or(outcome))
        }
        Some(StopReason::Depth { at, .. }) if bounds.is_empty() && settings.options.limits.depth.is_none() => {
            let at = at.clone();
            // A limit that was given is for all of it.
            let now = Instant::now();
            let left = || match settings.options.limits.time {
                Some(limit) => limit.saturating_sub(start.elapsed()),
                None => PATIENCE.saturating_sub(now.elapsed()),
            };
            if let Some(decided) = without_bound(program, settings, control, left() / 2)? {
                return Ok(decided);
            }
            let why = "executions do not end where they were enumerated";
            if !asked && let Some(decided) = formulas::decide(program, settings, &bounds, control, left() / 2, why)? {
                return Ok(decided);
            }
            Ok(grow(program, settings, control, Some(&at), left())?.unwrap_or(outcome))
        }
        _ => Ok(outcome),
    }
}

/// As [`verify()`], for a program that may access the same memory with different sizes: accesses that engines do not take for that are made in
/// pieces. Which these are is among the options then, and the notes say so.
///
/// # Errors
/// As [`verify()`]; atomic accesses are made in pieces under models that know atomic blocks, atomic loads and stores under SC.
pub fn verify_in_pieces(
    loaded: &mut Loaded,
    options: &mut LoadOptions,
    settings: &Settings,
    control: &Control,
) -> Result<Outcome, Error> {
    let (start, known) = (Instant::now(), options.pieces.len());
    let mut settings = settings.clone();
    let limit = settings.options.limits.time;
    loop {
        loaded.refuse(settings.options.model)?;
        settings.options.limits.time = limit.map(|limit| limit.saturating_sub(start.elapsed()));
        let error = match verify(&loaded.program, &settings, control) {
            Err(error) => error,
            Ok(mut outcome) => {
                // The limit is the one that was given, whatever was left of it.
                if let (Some(StopReason::Time(_)), Some(limit)) = (&outcome.stop, limit) {
                    let stop = StopReason::Time(limit);
                    outcome.scope = Scope::Partial { reason: stop.to_string() };
                    outcome.stop = Some(stop);
                }
                let split: Vec<String> = options.pieces[known..].iter().map(Pieces::to_string).collect();
                if !split.is_empty() {
                    let note = "memory is accessed with different sizes, so these accesses are made in pieces";
                    loaded.notes.push(format!("{note} (place=bytes): {}", split.join(", ")));
                }
                return Ok(outcome);
            }
        };
        let Error::Unsupported { pieces, .. } = &error else { return Err(error) };
        let named = |(place, size): &(Place, u8)| Pieces {
            file: place.file.to_string(),
            line: place.line,
            column: place.column,
            size: *size,
        };
        let more: Vec<Pieces> = pieces.iter().map(named).collect();
        if loaded.split(&more) == 0 {
            return Err(error);
        }
        options.pieces.extend(more);
        control.restart();
    }
}

fn ask(
    program: &Program,
    settings: &Settings,
    bounds: LoopBounds,
    options: &Options,
    control: &Control,
) -> Result<Outcome, Error> {
    let code = prepare_with(program, bounds, settings.bound_all_loops, options.properties);
    Ok(settings.engine.ask(&Question { code: &code, options }, control)?)
}

/// Engines that need no bound are asked where executions do not end. Under TSO `lazy-tso` decides where the program is right or wrong under SC already and robust, or finitely many delays matter, and
/// `abstract-tso` where what buffers forget does not; the note of the one that decides says why. Under SC, and under PSO with few stores on their way, states may repeat where executions do not.
fn without_bound(
    program: &Program,
    settings: &Settings,
    control: &Control,
    patience: Duration,
) -> Result<Option<Outcome>, Error> {
    let engines: &[&str] = match settings.options.model {
        _ if settings.engine.name() != "auto" => &[],
        Model::Tso => &["lazy-tso", "abstract-tso"],
        Model::Sc | Model::Pso => &["explicit"],
        _ => &[],
    };
    if engines.is_empty() {
        return Ok(None);
    }
    let code = prepare_with(program, LoopBounds::default(), false, settings.options.properties);
    let mut options = settings.options.clone();
    options.limits.time = Some(patience / 2);
    let question = Question { code: &code, options: &options };
    for name in engines {
        let engine = ENGINES.find(name).expect("it is among them");
        if engine.takes(&question).is_err() || control.stopped() {
            continue;
        }
        let outcome = engine.ask(&question, control)?;
        if outcome.verdict != Verdict::Unknown {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}

/// For how long a program whose executions do not end is explored with growing bounds, if nobody has set a limit.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program whose executions do not end is explored with 1, 2, 4, ... turns of its loops, until something is violated, every turn has been explored after all, or a limit is
/// reached. What is found in few turns is found soon, and what is not violated in so many turns is something to know, if it is known where the loop is.
fn grow(
    program: &Program,
    settings: &Settings,
    control: &Control,
    at: Option<&Place>,
    limit: Duration,
) -> Result<Option<Outcome>, Error> {
    let start = Instant::now();
    let mut explored = None;
    for turns in (0..20).map(|power| 1 << power) {
        let mut options = settings.options.clone();
        let Some(left) = limit.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else { break };
        options.limits.time = Some(left);
        let bounds = LoopBounds { every: Some(turns), named: Vec::new() };
        let mut outcome = ask(program, settings, bounds, &options, control)?;
        if outcome.verdict == Verdict::Violated || (outcome.stop.is_none() && outcome.statistics.bounded == 0) {
            return Ok(Some(outcome));
        }
        if outcome.stop.is_some() {
            break;
        }
        let Some(at) = at else { continue };
        let stop = StopReason::Endless { turns, at: at.clone() };
        outcome.scope = Scope::Partial { reason: stop.to_string() };
        outcome.stop = Some(stop);
        outcome.verdict = Verdict::Unknown;
        explored = Some(outcome);
    }
    Ok(explored)
}
