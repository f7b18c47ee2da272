//! How checking time grows with the history.
//!
//! ```text
//! cargo run --release -p raddle-bench -- lin                 # 10^3 to 10^6 operations
//! cargo run --release -p raddle-bench -- lin --max 7         # to 10^7
//! cargo run --release -p raddle-bench -- lin --only store    # one group of tables
//! ```
//!
//! Times are CPU seconds of one run on one core, without making the history. A verdict that is not the one the history was made for
//! is an error, except that the general checker may give up.
//!
//! Reading order: [`generate`] (which histories), [`growth`] (the monitors), [`general`] (the general checker), [`repeated`] (values that repeat), [`transactions`], [`whole`] (whole processes, beside
//! Porcupine and LiMo).

mod general;
mod generate;
mod growth;
mod repeated;
mod transactions;
mod whole;

use crate::failure::Failure;
use crate::table::markdown;
use raddle::cost::Meter;
use raddle::linear::check::{Config, check};
use raddle::linear::history::History;
use raddle::linear::verdict::{Report, Verdict};
use serde::Serialize;
use std::path::PathBuf;

/// Measure how fast histories are checked
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The longest histories of the monitors have 10^N operations
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(4..=7))]
    max: u32,

    /// Only these tables
    #[arg(long, value_name = "GROUP")]
    only: Option<Group>,

    /// Seconds after which the general checker gives up
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,

    /// With `--only whole`: keep the histories in this folder
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,

    /// With `--only whole`: the program around Porcupine, of bench/peers/porcupine
    #[arg(long, value_name = "PATH", default_value = "porcupine-lin")]
    porcupine: PathBuf,

    /// With `--only whole`: LiMo's command
    #[arg(long, value_name = "PATH", default_value = "linearize")]
    limo: PathBuf,

    /// Tiny histories: says that everything works, nothing about speed
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A group of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    /// The monitors: queue, set, multiset, stack
    Monitors,
    /// From JSON lines to the verdict
    Reading,
    /// The general checker on key-value stores
    Store,
    /// The general checker on registers
    Register,
    /// The general checker on stacks and queues
    Line,
    /// Stacks and queues whose values repeat, beside a search over orders
    Repeated,
    /// Transactions on registers and lists, from the text to the verdict
    Transactions,
    /// Whole processes on the same files, beside Porcupine and LiMo if they are installed; only if asked for
    Whole,
}

/// A table with what it shows.
#[derive(Clone, Debug, Serialize)]
struct Table {
    title: String,
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &str, head: &str) -> Table {
        Table { title: title.to_owned(), head: head.split('|').map(str::to_owned).collect(), lines: Vec::new() }
    }
}

/// Prints the tables that are asked for, each as soon as it is known.
///
/// # Errors
/// If a verdict is wrong.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let wanted = |group: Group| args.only.is_none_or(|only| only == group);
    let mut tables = Vec::new();
    let mut show = |table: Table| {
        if !args.json {
            anstream::println!("{}\n\n{}", table.title, markdown(&table.head, &table.lines, 1));
        }
        tables.push(table);
    };
    if wanted(Group::Monitors) {
        growth::monitors(args.max, args.quick, &mut show)?;
    }
    if wanted(Group::Reading) {
        show(growth::reading(args.quick)?);
    }
    let general = general::General { patience: args.patience, quick: args.quick };
    if wanted(Group::Store) {
        show(general.store()?);
    }
    if wanted(Group::Register) {
        show(general.register()?);
    }
    if wanted(Group::Line) {
        show(general.line()?);
    }
    if wanted(Group::Repeated) {
        show(general.repeated()?);
    }
    if wanted(Group::Transactions) {
        show(transactions::table(args.quick)?);
    }
    if args.only == Some(Group::Whole) {
        let (folder, porcupine, limo) = (args.write.as_deref(), args.porcupine.as_path(), args.limo.as_path());
        whole::Whole { folder, porcupine, limo, patience: args.patience, quick: args.quick }.tables(&mut show)?;
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&tables)?);
    }
    Ok(())
}

/// What a history was made to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Linearizable,
    Wrong,
}

/// Checks a history and takes the time. The verdict must be what the history was made for, or unknown.
fn timed(what: &str, history: &History, config: &Config, made: Made) -> Result<(f64, Report), Failure> {
    let meter = Meter::start();
    let report = check(history, config);
    let seconds = meter.read().cpu_seconds;
    let failure = |found: String| Failure::History { what: what.to_owned(), found };
    let report = report.map_err(|error| failure(error.to_string()))?;
    match (&report.verdict, made) {
        (Verdict::Holds(_), Made::Wrong) => Err(failure("a violation was missed".into())),
        (Verdict::Violated(_), Made::Linearizable) => Err(failure("a violation was invented".into())),
        _ => Ok((seconds, report)),
    }
}

/// Seconds with three significant digits or so.
fn seconds(seconds: f64) -> String {
    match seconds {
        0.0..0.01 => format!("{seconds:.4}"),
        0.01..1.0 => format!("{seconds:.3}"),
        _ => format!("{seconds:.2}"),
    }
}
