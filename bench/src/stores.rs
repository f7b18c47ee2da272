//! Logs of replicated stores: how long WRA, RA and SRA take on up to a million reads and writes.
//!
//! A simulated store: replicas see the writes of all others in one order, each with a lag of its own, and catch up before they write. Such a log is consistent under all three models. In a second one, a read
//! in the middle returns a value that its replica had seen overwritten, which no model allows. Measured is the verifier alone, on the trace, and the whole way from the lines of the log, which are made
//! beforehand and lie in memory. A wrong verdict is an error.

use crate::failure::Failure;
use crate::table::{markdown, thousands};
use fastrand::Rng;
use raddle::consistency::{Action, Answer, EventId, Instance, Loc, Model, Settings, Source, ThreadId, verify};
use raddle::cost::Meter;
use raddle::report::Conclusion;
use raddle::{Control, linear, traces};
use serde::Serialize;
use std::fmt::Write;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tiny parameters: says that everything works, nothing about speed
    #[arg(long)]
    quick: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    replicas: usize,
    operations: usize,
    model: Model,
    consistent: bool,
    verifier_seconds: f64,
    log_megabytes: f64,
    log_seconds: f64,
}

/// A read or a write: of whom, of which key, whether it writes, and the value (0 at the beginning).
type Op = (usize, usize, bool, usize);

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let sizes: &[(usize, usize)] = if args.quick {
        &[(4, 1_000)]
    } else {
        &[(4, 10_000), (4, 100_000), (4, 1_000_000), (16, 1_000_000), (64, 1_000_000)]
    };
    let mut rows = Vec::new();
    for &(replicas, operations) in sizes {
        for is_right in [true, false] {
            let ops = log(replicas, operations, is_right, &mut Rng::with_seed(15));
            for model in [Model::Wra, Model::Ra, Model::Sra] {
                rows.push(row(&ops, replicas, model, is_right)?);
            }
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let head = ["replicas", "operations", "model", "consistent", "verifier, CPU s", "log, MB", "from the log, CPU s"];
    let line = |row: &Row| {
        let consistent = if row.consistent { "yes" } else { "no" };
        let mut cells = vec![row.replicas.to_string(), thousands(row.operations as u64), row.model.to_string()];
        cells.extend([consistent.to_owned(), format!("{:.3}", row.verifier_seconds)]);
        cells.extend([format!("{:.1}", row.log_megabytes), format!("{:.3}", row.log_seconds)]);
        cells
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    anstream::print!("{}", markdown(&head.map(str::to_owned), &lines, 0));
    Ok(())
}

fn row(ops: &[Op], replicas: usize, model: Model, is_right: bool) -> Result<Row, Failure> {
    let what = || format!("log of {} operations under {model}", ops.len());
    let wrong = |found: &str| Failure::History { what: what(), found: found.to_owned() };
    let instance = instance(ops, replicas);
    let meter = Meter::start();
    let answer = verify(&instance, model, &Settings::default()).map_err(|error| wrong(&error.to_string()))?;
    let verifier_seconds = meter.read().cpu_seconds;
    if matches!(answer, Answer::Consistent(_)) != is_right {
        return Err(wrong("the verdict of the verifier is wrong"));
    }
    let text = text(ops);
    let settings = traces::Settings { explain: false, ..traces::Settings::new(model) };
    let meter = Meter::start();
    let answer = raddle::log("log", text.as_bytes(), &linear::decide::Settings::default(), &settings, &Control::new())
        .map_err(|error| Failure::Verifier { program: what(), source: Box::new(error) })?;
    let log_seconds = meter.read().cpu_seconds;
    if (answer.conclusion() == Conclusion::Holds) != is_right {
        return Err(wrong("the verdict from the log is wrong"));
    }
    let log_megabytes = text.len() as f64 / 1e6;
    Ok(Row {
        replicas,
        operations: ops.len(),
        model,
        consistent: is_right,
        verifier_seconds,
        log_megabytes,
        log_seconds,
    })
}

/// What the replicas of a store do.
fn log(replicas: usize, operations: usize, is_right: bool, random: &mut Rng) -> Vec<Op> {
    const KEYS: usize = 200;
    const LAG: usize = 40;
    // Writes in their order: key and value.
    let mut writes: Vec<(usize, usize)> = Vec::new();
    let mut seen = vec![0; replicas];
    let mut views = vec![vec![0; KEYS]; replicas];
    let mut first = vec![0; KEYS];
    let mut ops: Vec<Op> = Vec::with_capacity(operations);
    let mut is_broken = is_right;
    while ops.len() < operations {
        let (replica, key, is_write) = (random.usize(..replicas), random.usize(..KEYS), random.u8(..10) < 3);
        let ahead = if is_write { writes.len() } else { (seen[replica] + random.usize(..LAG)).min(writes.len()) };
        for &(key, value) in &writes[seen[replica]..ahead] {
            views[replica][key] = value;
        }
        seen[replica] = ahead;
        if is_write {
            writes.push((key, writes.len() + 1));
            seen[replica] += 1;
            views[replica][key] = writes.len();
            if first[key] == 0 {
                first[key] = writes.len();
            }
            ops.push((replica, key, true, writes.len()));
            continue;
        }
        let mut value = views[replica][key];
        if !is_broken && ops.len() >= operations / 2 && value != first[key] && value != 0 {
            is_broken = true;
            value = first[key];
        }
        ops.push((replica, key, false, value));
    }
    ops
}

fn instance(ops: &[Op], replicas: usize) -> Instance {
    let mut place = vec![EventId::new(ThreadId(0), 0); ops.len() + 1];
    let mut own: Vec<Vec<Op>> = vec![Vec::new(); replicas];
    for &op in ops {
        let (replica, _, is_write, value) = op;
        if is_write {
            place[value] = EventId::new(ThreadId(replica as u32), own[replica].len() as u32);
        }
        own[replica].push(op);
    }
    let mut instance = Instance::new();
    for own in &own {
        instance.begin_thread();
        for &(_, key, is_write, value) in own {
            let loc = Loc(key as u32);
            let from = if value == 0 { Source::Initial } else { Source::Write(place[value]) };
            instance.push(if is_write { Action::Write { loc } } else { Action::Read { loc, from } });
        }
    }
    instance
}

fn text(ops: &[Op]) -> String {
    let mut text = String::new();
    for &(replica, key, is_write, value) in ops {
        let name = if is_write { "write" } else { "read" };
        let value = if value == 0 { "null".to_owned() } else { value.to_string() };
        let line = writeln!(text, "{{\"process\":{replica},\"f\":\"{name}\",\"key\":\"k{key}\",\"value\":{value}}}");
        line.expect("a text takes what is written to it");
    }
    text
}
