//! How fast Raddle explores and how much memory it takes, and how fast it checks histories.
//!
//! ```text
//! cargo run --release -p raddle-bench                    # the table: one worker, rates, comparison with the peers
//! cargo run --release -p raddle-bench -- --workers 2     # and what a second worker brings
//! cargo run --release -p raddle-bench -- --memory        # peak memory as the number of executions grows
//! cargo run --release -p raddle-bench -- --quick         # everything, on tiny parameters: does it work?
//! cargo run --release -p raddle-bench -- engines         # all engines on all programs of bench/programs
//! cargo run --release -p raddle-bench -- choice          # `auto` beside the best of those it chooses from
//! cargo run --release -p raddle-bench -- tables          # counts of the literature beside ours
//! cargo run --release -p raddle-bench -- models          # RA and RC11 beside SC, `optimal` beside `rf`
//! cargo run --release -p raddle-bench -- growth          # time per class against the length of the execution
//! cargo run --release -p raddle-bench -- oc              # time of `oc` against the bound, by every way to search
//! cargo run --release -p raddle-bench -- lin             # linearizability: monitors and general checker
//! cargo run --release -p raddle-bench -- messages        # event-driven traces: time against the number of messages
//! cargo run --release -p raddle-bench -- stores          # logs of replicated stores under WRA, RA, SRA, to a million operations
//! cargo run --release -p raddle-bench -- tso             # reachability, fences and states under TSO, SPIN
//! cargo run --release -p raddle-bench -- live            # fair runs against formulas, SPIN
//! cargo run --release -p raddle-bench -- fair            # Streett objectives: symbolic steps, basic against improved
//! ```
//!
//! Reading order: [`suite`] (which programs), [`measure`] (how), [`memory`], [`table`] (what is printed); [`engines`], [`choice`], [`tables`],
//! [`models`], [`growth`], [`formulas`], [`lin`], [`messages`], [`stores`], [`tso`], [`live`] and [`fair`] stand by themselves.

mod choice;
mod engines;
mod failure;
mod fair;
mod formulas;
mod growth;
mod lin;
mod live;
mod measure;
mod memory;
mod messages;
mod models;
mod peers;
mod plot;
mod stores;
mod suite;
mod svg;
mod table;
mod tables;
mod tso;

use clap::Parser;
use failure::Failure;
use measure::{Effort, Row, Size, row};
use std::process::ExitCode;

/// Measure how fast Raddle explores
///
/// Runs programs of the literature in this process and prints executions per CPU second beside the rates of other tools.
/// A count that is not the known one is an error, however fast it was reached.
#[derive(Debug, Parser)]
#[command(version, about, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// Tiny parameters, one repetition: says that everything works, nothing about speed
    #[arg(long)]
    quick: bool,

    /// Measure again with this many workers, and add what they bring
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..), conflicts_with = "memory")]
    workers: Option<u16>,

    /// Show the peak memory of readers(8) to readers(18), each in a process of its own
    #[arg(long)]
    memory: bool,

    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME", conflicts_with = "memory")]
    only: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Explore readers(N) once and print what it took; `--memory` starts this
    #[arg(long, value_name = "N", hide = true)]
    child: Option<i64>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Compare engines on the programs of bench/programs
    ///
    /// Prints classes and executions per CPU second of every engine under every model, and what a class costs compared with
    /// `optimal`.
    Engines(engines::Args),

    /// Compare `auto` with the best of the engines that it chooses from
    ///
    /// Programs of bench/programs are made larger until the best engine needs 50 ms. Prints CPU times, and that of `auto` over the best one.
    Choice(choice::Args),

    /// Compare counts with those of the literature, program by program
    ///
    /// Prints each published row beside what the engines count here, and says which programs are the same as far as the counts tell. If one of these has
    /// another count, that is an error.
    Tables(tables::Args),

    /// Compare the memory models of C11 with SC on the same programs
    ///
    /// Prints executions per CPU second of `optimal` and of `rf` under SC, RA and RC11, each as a share of the rate under SC, and how many times GenMC's rate
    /// it is. A count that is not the known one is an error.
    Models(models::Args),

    /// Measure how the time per class grows with the length of the execution
    Growth(growth::Args),

    /// Measure how the time of `oc` grows with the bound, by every way to search
    Oc(formulas::Args),

    /// Run Raddle and the peers that are installed on the same C files, whole processes side by side
    Peers(peers::Args),

    /// Measure how fast histories are checked for linearizability
    ///
    /// Makes histories, checks them and prints the times as tables; under the growth of the monitors stand c and e of the fits
    /// time = c n log2 n and time = c n^e, without the smallest histories.
    Lin(lin::Args),

    /// Measure how the time to find a run of an event-driven trace grows with its messages
    ///
    /// An answer that is not the known one is an error.
    Messages(messages::Args),

    /// Measure WRA, RA and SRA on logs of a replicated store, to a million operations
    ///
    /// A verdict that is not the known one is an error.
    Stores(stores::Args),

    /// Compare reachability and fences under TSO with published figures, and states per second with SPIN
    ///
    /// A verdict that is not the known one is an error. SPIN is measured if it is installed, with a C compiler.
    Tso(tso::Args),

    /// Compare the search for fair runs with that of SPIN (`-a -f`), on programs that stand in both languages
    ///
    /// A verdict that is not the known one is an error. SPIN is measured if it is installed, with a C compiler.
    Live(live::Args),

    /// Measure symbolic steps on graphs and MDPs with Streett objectives, basic against improved
    ///
    /// Every answer is compared with that of the basic algorithm: a difference is an error, however few steps it took.
    Fair(fair::Args),
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Failure> {
    if let Some(Command::Engines(args)) = &args.command {
        engines::run(args)?;
    } else if let Some(Command::Choice(args)) = &args.command {
        choice::run(args)?;
    } else if let Some(Command::Tables(args)) = &args.command {
        tables::run(args)?;
    } else if let Some(Command::Models(args)) = &args.command {
        models::run(args)?;
    } else if let Some(Command::Growth(args)) = &args.command {
        growth::run(args)?;
    } else if let Some(Command::Oc(args)) = &args.command {
        formulas::run(args)?;
    } else if let Some(Command::Peers(args)) = &args.command {
        peers::run(args)?;
    } else if let Some(Command::Lin(args)) = &args.command {
        lin::run(args)?;
    } else if let Some(Command::Messages(args)) = &args.command {
        messages::run(args)?;
    } else if let Some(Command::Stores(args)) = &args.command {
        stores::run(args)?;
    } else if let Some(Command::Tso(args)) = &args.command {
        tso::run(args)?;
    } else if let Some(Command::Live(args)) = &args.command {
        live::run(args)?;
    } else if let Some(Command::Fair(args)) = &args.command {
        fair::run(args)?;
    } else if let Some(readers) = args.child {
        anstream::println!("{}", serde_json::to_string(&memory::child(readers)?)?);
    } else if args.memory {
        let points = memory::growth(if args.quick { 2..=4 } else { 8..=18 })?;
        print(args.json, &points, || table::memory(&points))?;
    } else {
        let rows = rows(args)?;
        print(args.json, &rows, || table::rates(&rows))?;
    }
    Ok(())
}

fn rows(args: &Args) -> Result<Vec<Row>, Failure> {
    let (size, effort) = if args.quick { (Size::Quick, Effort::ONCE) } else { (Size::Full, Effort::STABLE) };
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let cases = suite::CASES.iter().filter(|case| wanted(case.name));
    cases.map(|case| row(case, size, effort, args.workers.map(usize::from))).collect()
}

fn print<T: serde::Serialize>(json: bool, data: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
    if json {
        anstream::println!("{}", serde_json::to_string_pretty(data)?);
    } else {
        anstream::print!("{}", text());
    }
    Ok(())
}
