//! From bytes to a verdict: reads a history and checks it.
//!
//! [`decide`] reads the whole history first; [`watch`] checks while it reads, in bounded memory. What they return says everything there is to know, for
//! whoever wants to tell people about it.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::assemble;
use crate::check::{CheckError, Config, Engine, check};
use crate::format::{self, Format, InputError, Reading};
use crate::hints::hints;
use crate::history::History;
use crate::levels::{self, Level, Observed, Standing};
use crate::meaning::Words;
use crate::monitor::queue::QueueAlgorithm;
use crate::monitor::stack::StackAlgorithm;
use crate::object::ObjectKind;
use crate::search::Budget;
use crate::stream::{self, Streamed, Watching};
use crate::txn::{self, Checked, Transactions, TxnError, Workload};
use crate::value::Value;
use crate::verdict::{Report, Verdict};

/// How to read and to check.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The kind of object; what the input declares or its methods tell, if nobody says.
    pub object: Option<ObjectKind>,
    /// The format; by the content, if nobody says.
    pub format: Option<Format>,
    /// Who checks.
    pub engine: Engine,
    /// The algorithm for stacks.
    pub stack: StackAlgorithm,
    /// The algorithm for queues.
    pub queue: QueueAlgorithm,
    /// Configurations the general checker may visit for each object.
    pub budget: u64,
    /// What the general checker may hold, in bytes.
    pub memory: u64,
    /// When to give up.
    pub time_limit: Option<Duration>,
    /// Ways to share out pending removals that may be tried.
    pub tries: u64,
    /// Check the keys of a map one by one.
    pub partition: bool,
    /// Values are `[key value]` pairs, as Jepsen's independent tests write them.
    pub independent: bool,
    /// The order of the lines is the order of the events even if they carry times.
    pub file_order: bool,
    /// What a compare-and-set that ended with `fail` and a read that returned nothing tell.
    pub words: Words,
    /// What a register, each key of a map, or a counter holds at the beginning.
    pub initial: Value,
    /// Look for a small explanation of a violation.
    pub explain: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let budget = Budget::default();
        Settings {
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
            explain: true,
        }
    }
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is bad.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The settings do not fit the input.
    #[error("{0}")]
    Unsupported(String),
    /// A result did not survive being checked again. This is a fault of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<CheckError> for Error {
    fn from(error: CheckError) -> Error {
        match error {
            CheckError::Unsupported(why) => Error::Unsupported(why),
            CheckError::Internal(what) => Error::Internal(what),
        }
    }
}

/// A history and what was found out about it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The kind of object.
    pub kind: ObjectKind,
    /// The history.
    pub history: History,
    /// The verdict.
    pub report: Report,
}

impl Settings {
    fn reading(&self, started: Instant) -> Reading {
        let Settings { format, independent, file_order, .. } = *self;
        let deadline = self.time_limit.and_then(|limit| started.checked_add(limit));
        Reading { format, independent, file_order, deadline, ..Reading::default() }
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

/// Reads a history and checks it.
pub fn decide(input: impl Read, settings: &Settings) -> Result<Decided, Error> {
    let started = Instant::now();
    let mut source = format::open(input, settings.reading(started))?;
    let (kind, history) = match assemble::read(source.as_mut(), settings.object, settings.words) {
        Err(late @ InputError::Late) => {
            let kind = settings.object.or_else(|| source.declared()).unwrap_or(ObjectKind::Register);
            return Ok(Decided { kind, history: History::default(), report: Report::unread(late.to_string()) });
        }
        read => read?,
    };
    let config = settings.config(kind, started);
    let mut report = check(&history, &config)?;
    if settings.explain && matches!(report.verdict, Verdict::Violated(_)) {
        report.hints = hints(&history, &config, settings.words.nil_reads, settings.object.is_some());
    }
    Ok(Decided { kind, history, report })
}

/// A history and how it stands to each level of consistency.
#[derive(Clone, Debug)]
pub struct Levelled {
    /// The kind of object.
    pub kind: ObjectKind,
    /// The history.
    pub history: History,
    /// Each level, the strongest first.
    pub levels: Vec<(Level, Standing)>,
}

/// Reads a history of a register or a map and finds out how it stands to each level of consistency.
pub fn levels(input: impl Read, settings: &Settings) -> Result<Levelled, Error> {
    let started = Instant::now();
    let mut source = format::open(input, Reading { whole: true, ..settings.reading(started) })?;
    let (kind, history) = match assemble::read(source.as_mut(), settings.object, settings.words) {
        Err(late @ InputError::Late) => {
            let kind = settings.object.or_else(|| source.declared()).unwrap_or(ObjectKind::Register);
            let levels = Level::ALL.map(|level| (level, Standing::Unknown(late.to_string())));
            return Ok(Levelled { kind, history: History::default(), levels: levels.to_vec() });
        }
        read => read?,
    };
    let check = if source.has_whole() { levels::levels_without_time } else { levels::levels };
    let levels = check(&history, &settings.config(kind, started))?;
    Ok(Levelled { kind, history, levels })
}

/// A log of a store, and what was read and written as a trace.
#[derive(Clone, Debug)]
pub struct Log {
    /// The history.
    pub history: History,
    /// The trace; nothing if the time limit was reached while it was read.
    pub observed: Option<Observed>,
}

/// Reads a log of reads and writes: a history, or a line for each operation that took effect, in the order of each process.
pub fn log(input: impl Read, settings: &Settings) -> Result<Log, Error> {
    let started = Instant::now();
    let mut source = format::open(input, Reading { whole: true, ..settings.reading(started) })?;
    let kind = ObjectKind::Map;
    let (_, history) = match assemble::read(source.as_mut(), Some(kind), settings.words) {
        Err(InputError::Late) => return Ok(Log { history: History::default(), observed: None }),
        read => read?,
    };
    let observed = levels::observe(&history, &settings.config(kind, started))?;
    Ok(Log { history, observed: Some(observed) })
}

/// Reads a history of transactions and checks it.
pub fn transactions(
    input: impl Read,
    settings: &Settings,
    workload: Workload,
) -> Result<(Transactions, Checked), Error> {
    let started = Instant::now();
    let mut source = format::open(input, Reading { nested: true, ..settings.reading(started) })?;
    let deadline = settings.time_limit.and_then(|limit| started.checked_add(limit));
    let history = match txn::read::read(source.as_mut(), workload) {
        Err(InputError::Late) => return Ok((Transactions::default(), Checked::open())),
        read => read?,
    };
    let checked = txn::check(&history, workload, deadline).map_err(|error| match error {
        TxnError::Unsupported(why) => Error::Unsupported(why),
        TxnError::Internal(what) => Error::Internal(what),
    })?;
    Ok((history, checked))
}

/// Checks a history while it is being read, and stops at the first violation.
pub fn watch(input: impl Read, settings: &Settings) -> Result<Streamed, Error> {
    let started = Instant::now();
    let mut source = format::open(input, Reading { streaming: true, deadline: None, ..settings.reading(started) })?;
    let general = match settings.engine {
        Engine::Auto => None,
        engine => Some(engine == Engine::Search),
    };
    stream::watch(source.as_mut(), settings.object, general, settings.words, |kind| {
        let Config { initial, budget, .. } = settings.config(kind, started);
        Watching { initial, budget, ..Watching::new(kind) }
    })
}
