//! Putting the question.

use crate::engines::ENGINES;
use crate::error::Error;
use crate::formulas::{self, Answer, Formulas};
use crate::load::{LoadOptions, Loaded};
use crate::prepare::{prepare, prepare_with};
use crate::shifts::{self, Shift};
use raddle_engine::{Control, Engine, Options, Outcome, Question, StopReason};
use raddle_program::Program;
use raddle_program::analysis::{LoopBounds, LoopPlace, NamedBound, Pieces};
use raddle_trace::threads::TOO_MANY;
use raddle_trace::{Model, Place, Scope, Verdict};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
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
    // A limit that was given is for all of it.
    let left = || limit.map_or(3 * PATIENCE, |limit| limit.saturating_sub(start.elapsed()));
    let together = options.workers > 1;
    // A formula has all executions and all values of inputs in it, so those who try one after the other have their time first.
    let asked = AtomicBool::new(false);
    let outcome = match formulas::after(program, &code, settings, !bounds.is_empty()) {
        None => settings.engine.ask(&question, control)?,
        Some((patience, why)) => {
            let patience = limit.map_or(patience, |limit| patience.within(limit / 8));
            let formulas = Formulas::new(program, settings, &bounds, why);
            let enumerate = |control: &Control| Ok(Some(settings.engine.ask(&question, control)?));
            let mut shifts = vec![Shift::new(patience, enumerate).half()];
            if bounds.is_empty() && formulas::starts_threads_for_ever(program) {
                shifts.push(Shift::new(patience, |control| grow(program, settings, control, None, left())));
            }
            shifts.extend(formulas.iter().flat_map(|formulas| formulas.shifts(&left, &asked)));
            let ends = |who: usize, outcome: &Outcome| {
                let others_go_on = matches!(outcome.stop, Some(StopReason::Inputs { .. } | StopReason::Depth { .. }));
                who == 0 && !(others_go_on && asked.load(Relaxed))
            };
            let mut answers = decided(shifts::work(shifts, control, false, |who, answer: &Answer| match answer {
                Ok(Some(outcome)) => outcome.verdict != Verdict::Unknown || ends(who, outcome),
                Ok(None) => false,
                Err(_) => true,
            }))?;
            answers.swap_remove(0)
        }
    };
    let asked = asked.load(Relaxed);
    let formulas = |why: &str| if asked { None } else { Formulas::new(program, settings, &bounds, why) };
    let none = AtomicBool::new(false);
    let in_turns = |shifts: Vec<Shift<'_, Answer>>| {
        let decides = |_: usize, answer: &Answer| match answer {
            Ok(outcome) => outcome.as_ref().is_some_and(|outcome| outcome.verdict != Verdict::Unknown),
            Err(_) => true,
        };
        Ok::<_, Error>(decided(shifts::work(shifts, control, together, decides))?.into_iter().next())
    };
    match &outcome.stop {
        Some(StopReason::Inputs { values, .. }) if outcome.verdict == Verdict::Unknown => {
            let formulas = formulas(&format!("an unknown input has {values} values"));
            let shifts = formulas.iter().flat_map(|formulas| formulas.shifts(&left, &none)).collect();
            Ok(in_turns(shifts)?.unwrap_or(outcome))
        }
        // One execution has all the threads that there can be.
        Some(StopReason::GaveUp { why, at })
            if why == TOO_MANY && bounds.is_empty() && outcome.verdict == Verdict::Unknown =>
        {
            let at = at.clone();
            Ok(grow(program, settings, control, Some(&at), left())?.unwrap_or(outcome))
        }
        Some(StopReason::Depth { at, .. }) if bounds.is_empty() && options.limits.depth.is_none() => {
            let at = at.clone();
            if let Some(decided) = without_bound(program, settings, control, left() / 2)? {
                return Ok(decided);
            }
            let formulas = formulas("executions do not end where they were enumerated");
            let mut shifts: Vec<Shift<'_, Answer>> =
                formulas.iter().flat_map(|formulas| formulas.shifts(&left, &none)).collect();
            shifts.push(Shift::new(formulas::TURN, |control| grow(program, settings, control, Some(&at), left())));
            Ok(in_turns(shifts)?.unwrap_or(outcome))
        }
        _ => Ok(outcome),
    }
}

/// What was said, and what decides first of all; an error goes before everything.
fn decided(answers: Vec<Option<Answer>>) -> Result<Vec<Outcome>, Error> {
    let answers: Result<Vec<Option<Outcome>>, Error> = answers.into_iter().flatten().collect();
    let mut outcomes: Vec<Outcome> = answers?.into_iter().flatten().collect();
    outcomes.sort_by_key(|outcome| outcome.verdict == Verdict::Unknown);
    Ok(outcomes)
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

/// Under TSO, engines that need no bound are asked where executions do not end: `lazy-tso` decides where the program is right or wrong under SC already and robust, or finitely many delays matter, and
/// `abstract-tso` where what buffers forget does not. The note of the one that decides says why.
fn without_bound(
    program: &Program,
    settings: &Settings,
    control: &Control,
    patience: Duration,
) -> Result<Option<Outcome>, Error> {
    if settings.engine.name() != "auto" || settings.options.model != Model::Tso {
        return Ok(None);
    }
    let code = prepare_with(program, LoopBounds::default(), false, settings.options.properties);
    let mut options = settings.options.clone();
    options.limits.time = Some(patience / 2);
    let question = Question { code: &code, options: &options };
    for name in ["lazy-tso", "abstract-tso"] {
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
