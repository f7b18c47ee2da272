//! The command `lin`: bytes in, a rendered verdict out.
//!
//! This is the whole of `raddle lin` but for the parsing of its options: [`run`] reads a history, checks it and writes the
//! text or the JSON; the caller maps [`Outcome::exit_code`] and errors to the exit status.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::assemble;
use crate::check::{CheckError, Config, Engine, check};
use crate::format::{self, Format, InputError, Reading};
use crate::hints::hints;
use crate::meaning::Words;
use crate::monitor::queue::QueueAlgorithm;
use crate::monitor::stack::StackAlgorithm;
use crate::object::ObjectKind;
use crate::render::{Context, html, json, text};
use crate::search::Budget;
use crate::stream;
use crate::value::Value;
use crate::verdict::{Report, Verdict};

/// The options of the command. Each field names the option the command line should expose.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--type NAME`: stack, queue, set, multiset, register, map, counter, log, lock, mutex, priority-queue, deque. Default: what the
    /// input declares or its methods tell.
    pub object: Option<ObjectKind>,
    /// `--format NAME`: json, edn, event-log, intervals, jepsen-text, kv-text. Default: by the content.
    pub format: Option<Format>,
    /// `--engine auto|monitor|search`. Default auto.
    pub engine: Engine,
    /// `--algorithm near-linear|quadratic` for stacks. Default near-linear.
    pub stack: StackAlgorithm,
    /// `--algorithm sweep|tree|all-pairs` for queues. Default sweep.
    pub queue: QueueAlgorithm,
    /// `--budget N`: configurations the general checker may visit for each object. Default 50,000,000.
    pub budget: u64,
    /// `--max-memory SIZE`: what the general checker may hold. Default 4 GiB.
    pub memory: u64,
    /// `--time-limit SECONDS`: when to give up with "unknown". Default none.
    pub time_limit: Option<Duration>,
    /// `--pending-budget N`: ways to share out pending removals that may be tried. Default 10,000.
    pub tries: u64,
    /// `--no-partition` clears it: check the keys of a map together instead of one by one. Default true.
    pub partition: bool,
    /// `--independent`: values are `[key value]` pairs, as Jepsen's independent tests write them. Default false.
    pub independent: bool,
    /// `--file-order`: the order of the lines is the order of the events even if they carry times. Default false.
    pub file_order: bool,
    /// `--failed-cas ignore|observe`, `--nil-reads nothing|unknown`: what a compare-and-set that ended with `fail` and a read that returned
    /// nothing tell. Default ignore, nothing.
    pub words: Words,
    /// `--initial VALUE`: what a register, each key of a map, or a counter holds at the beginning. Default nothing.
    pub initial: Value,
    /// `--stream`: check while reading, in bounded memory, and stop at the first violation. Default false.
    pub stream: bool,
    /// `--no-explain` clears it: look for a small explanation of a violation. Default true.
    pub explain: bool,
    /// `--json`: one JSON object instead of text. Default false.
    pub json: bool,
    /// `--html FILE`: write the history as a picture. Default none.
    pub html: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        let budget = Budget::default();
        Options {
            object: None,
            format: None,
            engine: Engine::Auto,
            stack: StackAlgorithm::NearLinear,
            queue: QueueAlgorithm::Sweep,
            budget: budget.configurations,
            memory: budget.bytes,
            time_limit: None,
            tries: 10_000,
            partition: true,
            independent: false,
            file_order: false,
            words: Words::default(),
            initial: Value::Nil,
            stream: false,
            explain: true,
            json: false,
            html: None,
        }
    }
}

/// What the command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The history is linearizable.
    Holds,
    /// It is not.
    Violated,
    /// A budget ran out.
    Unknown,
}

impl Outcome {
    /// The exit status of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Holds => 0,
            Outcome::Violated => 1,
            Outcome::Unknown => 3,
        }
    }

    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Violated => "violated",
            Outcome::Unknown => "unknown",
        }
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is bad.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The options do not fit the input.
    #[error("{0}")]
    Unsupported(String),
    /// A result did not survive being checked again. This is a fault of this program.
    #[error("internal error: {0}")]
    Internal(String),
    /// The verdict could not be written.
    #[error("cannot write {what}: {error}")]
    Output {
        /// What was being written.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
}

impl Error {
    /// The exit status of the command: 2 for bad input or usage, 4 for a fault of this program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Internal(_) => 4,
            _ => 2,
        }
    }
}

impl From<CheckError> for Error {
    fn from(error: CheckError) -> Error {
        match error {
            CheckError::Unsupported(why) => Error::Unsupported(why),
            CheckError::Internal(what) => Error::Internal(what),
        }
    }
}

fn output(what: &str) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::Output { what: what.to_string(), error }
}

impl Options {
    fn reading(&self) -> Reading {
        Reading {
            format: self.format,
            independent: self.independent,
            file_order: self.file_order,
            streaming: self.stream,
        }
    }

    fn config(&self, kind: ObjectKind, started: Instant) -> Config {
        Config {
            kind,
            engine: self.engine,
            stack: self.stack,
            queue: self.queue,
            budget: Budget {
                configurations: self.budget,
                bytes: self.memory,
                deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
                ..Budget::default()
            },
            tries: self.tries,
            partition: self.partition,
            initial: self.initial.clone(),
            explain: self.explain,
        }
    }
}

/// Reads a history, checks it, writes the verdict.
pub fn run(input: impl Read, options: &Options, out: &mut dyn Write) -> Result<Outcome, Error> {
    if options.stream {
        return run_stream(input, options, out);
    }
    let started = Instant::now();
    let mut source = format::open(input, options.reading())?;
    let (kind, history) = assemble::read(source.as_mut(), options.object, options.words)?;
    let config = options.config(kind, started);
    let mut report: Report = check(&history, &config)?;
    if options.explain && matches!(report.verdict, Verdict::Violated(_)) {
        report.hints = hints(&history, &config, options.words.nil_reads, options.object.is_some());
    }
    let context = Context { history: &history, kind, report: &report, seconds: started.elapsed().as_secs_f64() };
    if let Some(path) = &options.html {
        let name = path.display().to_string();
        std::fs::write(path, html::page(&context)).map_err(output(&name))?;
    }
    if options.json {
        json::write(&context, out).map_err(output("the verdict"))?;
    } else {
        text::write(&context, out).map_err(output("the verdict"))?;
    }
    Ok(match report.verdict {
        Verdict::Holds(_) => Outcome::Holds,
        Verdict::Violated(_) => Outcome::Violated,
        Verdict::Unknown(_) => Outcome::Unknown,
    })
}

fn run_stream(input: impl Read, options: &Options, out: &mut dyn Write) -> Result<Outcome, Error> {
    if options.html.is_some() {
        return Err(Error::Unsupported(
            "a stream is not kept, so it cannot be drawn; leave out --html or --stream".into(),
        ));
    }
    if options.engine == Engine::Search {
        return Err(Error::Unsupported("the general checker cannot stream".into()));
    }
    let started = Instant::now();
    let mut source = format::open(input, options.reading())?;
    let streamed = stream::watch(source.as_mut(), options.object, options.words, &options.initial)?;
    let seconds = started.elapsed().as_secs_f64();
    if options.json {
        json::write_streamed(&streamed, seconds, out).map_err(output("the verdict"))?;
    } else {
        text::write_streamed(&streamed, seconds, out).map_err(output("the verdict"))?;
    }
    Ok(streamed.outcome())
}
