//! Measuring one program.
//!
//! What is measured is [`raddle::verify()`]: the analyses, the compilation to byte code and the exploration, without
//! reading the text. A repetition is as many verifications as take a while together; the best of the repetitions counts,
//! because whatever else the machine does can only make one slower. Rates are per CPU second. Only the gain of more
//! workers is a matter of wall time, and so means something on an idle machine only.

use crate::failure::Failure;
use crate::suite::{Case, Instance, UNKNOWN};
use raddle::cost::Meter;
use raddle::{Control, Define, Language, LoadOptions, Model, Outcome, Program, Scope, Settings};
use serde::Serialize;

/// Which value of the parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// The one to measure.
    Full,
    /// A tiny one.
    Quick,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The best of so many repetitions counts.
    repetitions: u32,
    /// Each takes at least so many CPU seconds.
    seconds: f64,
}

impl Effort {
    /// One verification.
    pub(crate) const ONCE: Effort = Effort { repetitions: 1, seconds: 0.0 };
    /// Enough for a rate that can be repeated.
    pub(crate) const STABLE: Effort = Effort { repetitions: 3, seconds: 0.3 };
}

/// What one verification takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The program with its parameter, as in `readers(15)`.
    pub(crate) program: String,
    /// The memory model.
    pub(crate) model: &'static str,
    /// Complete executions.
    pub(crate) executions: u64,
    /// Executions in which a thread failed.
    pub(crate) failed: u64,
    /// Executions in which a thread waits for ever.
    pub(crate) blocked: u64,
    /// Ends in which a waiting thread had only not looked again.
    pub(crate) moot: u64,
    /// Events of the longest execution.
    pub(crate) events: u64,
    /// Steps of the search, over all executions: options tried, and ends of lists of options reached.
    pub(crate) steps: u64,
    /// CPU seconds of one verification.
    pub(crate) cpu_seconds: f64,
    /// Executions, failed and blocked ones included, per CPU second.
    pub(crate) rate: f64,
    /// The rate of GenMC.
    pub(crate) genmc_rate: Option<f64>,
    /// The rate of Nidhugg.
    pub(crate) nidhugg_rate: Option<f64>,
    /// What more workers bring, if that was asked for.
    pub(crate) parallel: Option<Parallel>,
}

/// The same with more workers.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Parallel {
    /// How many.
    pub(crate) workers: usize,
    /// Wall time of one worker divided by theirs.
    pub(crate) speedup: f64,
    /// Their CPU time divided by that of one.
    pub(crate) work: f64,
}

/// Measures a program.
///
/// # Errors
/// If it is not explored as a whole, or the number of executions is not the known one.
pub(crate) fn row(case: &Case, size: Size, effort: Effort, workers: Option<usize>) -> Result<Row, Failure> {
    // What others reach was measured on the full size.
    let (instance, peers) = match size {
        Size::Full => (case.full, case.peers),
        Size::Quick => (case.quick, UNKNOWN),
    };
    let name = format!("{}({})", case.name, instance.value);
    let program = load(case, &name, instance.value)?;
    let (outcome, one) = measure(case, instance, &name, &program, effort, 1)?;
    let statistics = outcome.statistics;
    let parallel = match workers {
        None => None,
        Some(workers) => {
            let (_, many) = measure(case, instance, &name, &program, effort, workers)?;
            Some(Parallel { workers, speedup: one.wall / many.wall, work: many.cpu / one.cpu })
        }
    };
    Ok(Row {
        program: name,
        model: case.model.name(),
        executions: statistics.executions,
        failed: statistics.failed,
        blocked: statistics.blocked,
        moot: outcome.counter("moot"),
        events: statistics.longest,
        steps: statistics.events,
        cpu_seconds: one.cpu,
        rate: statistics.runs() as f64 / one.cpu,
        genmc_rate: peers.genmc,
        nidhugg_rate: peers.nidhugg,
        parallel,
    })
}

/// Reads a program with a value for its parameter.
///
/// # Errors
/// If the parameter does not fit the program.
pub(crate) fn load(case: &Case, name: &str, value: i64) -> Result<Program, Failure> {
    let define = Define { name: case.parameter.to_owned(), value: value.to_string() };
    let options = LoadOptions { defines: vec![define], ..LoadOptions::default() };
    let loaded = raddle::load_text(name, case.text, Language::Rdl, &options);
    loaded.map(|loaded| loaded.program).map_err(Failure::of(name))
}

fn measure(
    case: &Case,
    instance: Instance,
    name: &str,
    program: &Program,
    effort: Effort,
    workers: usize,
) -> Result<(Outcome, Times), Failure> {
    let (outcome, times) = timed(name, program, &settings(case.model, workers), effort)?;
    let found = outcome.statistics.executions;
    match instance.executions {
        Some(expected) if expected != found => Err(Failure::Count { program: name.to_owned(), found, expected }),
        _ => Ok((outcome, times)),
    }
}

/// Explores all executions of a program, again and again, and what one time takes.
///
/// # Errors
/// If that is not possible.
pub(crate) fn timed(
    name: &str,
    program: &Program,
    settings: &Settings,
    effort: Effort,
) -> Result<(Outcome, Times), Failure> {
    let mut best: Option<(Outcome, Times)> = None;
    for _ in 0..effort.repetitions {
        let meter = Meter::start();
        let mut runs = 0;
        let (outcome, times) = loop {
            let outcome = explore_with(settings, name, program)?;
            runs += 1;
            let cost = meter.read();
            // Where the system does not tell CPU time, wall time ends the repetition.
            if cost.cpu_seconds.max(cost.seconds / 20.0) >= effort.seconds {
                let runs = f64::from(runs);
                break (outcome, Times { cpu: cost.cpu_seconds / runs, wall: cost.seconds / runs });
            }
        };
        let times =
            best.map_or(times, |(_, best)| Times { cpu: best.cpu.min(times.cpu), wall: best.wall.min(times.wall) });
        best = Some((outcome, times));
    }
    Ok(best.expect("there is a repetition"))
}

/// All executions under a model, past violations.
pub(crate) fn settings(model: Model, workers: usize) -> Settings {
    let mut settings = Settings::new(model);
    settings.options.all = true;
    settings.options.workers = workers;
    settings
}

/// Explores all executions of a program, past violations.
///
/// # Errors
/// If that is not possible.
pub(crate) fn explore(case: &Case, name: &str, program: &Program, workers: usize) -> Result<Outcome, Failure> {
    explore_with(&settings(case.model, workers), name, program)
}

fn explore_with(settings: &Settings, name: &str, program: &Program) -> Result<Outcome, Failure> {
    let outcome = raddle::verify(program, settings, &Control::new()).map_err(Failure::of(name))?;
    match outcome.scope {
        Scope::AllExecutions => Ok(outcome),
        _ => Err(Failure::Partial { program: name.to_owned() }),
    }
}
