//! Whole processes on one and the same C file: `raddle-bench peers`.
//!
//! What a user waits for is a command on a file: starting it, reading the text, exploring. So each tool is run as it would be
//! by hand, on programs of `examples/c` that all of them take, under SC, and CPU time is that of the process and what it starts
//! (compilers, for the peers; the preprocessor, for us). Tools that are not installed are named and left out. Tools that make one
//! execution per trace must count the same number; a line on which they do not says so.

use crate::failure::Failure;
use crate::table::markdown;
use raddle::cost::children_seconds;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// The best of so many runs counts
    #[arg(long, value_name = "N", default_value = "3")]
    repeat: u32,

    /// The command `raddle`; by default the one beside this one
    #[arg(long, value_name = "PATH")]
    raddle: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A C file that every tool takes, and the parameter it is run with.
const PROGRAMS: [(&str, &str); 10] = [
    ("fib_bench", "N=4"),
    ("readers", "N=11"),
    ("lastzero", "N=10"),
    ("indexer", "N=13"),
    ("rmw_counter", "TURNS=3"),
    ("mutex_counter", "N=6"),
    ("ticket_lock", "N=5"),
    ("iriw", ""),
    ("sb", ""),
    ("opt_lock", "N=4"),
];

/// A tool, how it is asked, and how it tells the number of executions.
struct Tool {
    name: &'static str,
    program: PathBuf,
    arguments: fn(file: &str, define: Option<&str>) -> Vec<String>,
    count: fn(output: &str) -> Option<u64>,
}

/// What a tool made of a program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    tool: &'static str,
    executions: u64,
    cpu_seconds: f64,
}

/// A program, and what the tools made of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    program: String,
    runs: Vec<Run>,
}

/// Runs everything.
///
/// # Errors
/// If `raddle` is not there, or a tool fails on a program.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let own = args.raddle.clone().map_or_else(beside_this_one, Ok)?;
    let (tools, missing): (Vec<Tool>, Vec<Tool>) = tools(own).into_iter().partition(|tool| is_there(&tool.program));
    for tool in &missing {
        anstream::eprintln!("{}: `{}` is not installed, and left out", tool.name, tool.program.display());
    }
    if tools.first().is_none_or(|tool| tool.name != OWN) {
        return Err(Failure::Tool {
            tool: OWN.to_owned(),
            what: "it is not beside this command; `cargo build --release` builds it, --raddle names it".to_owned(),
        });
    }
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut lines = Vec::new();
    for (name, define) in PROGRAMS.into_iter().filter(|(name, _)| wanted(name)) {
        let file: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "examples", "c", &format!("{name}.c")].iter().collect();
        let define = Some(define).filter(|define| !define.is_empty());
        let runs = tools.iter().map(|tool| measure(tool, &file, define, args.repeat));
        let program = define.map_or_else(|| name.to_owned(), |define| format!("{name} {define}"));
        lines.push(Line { program, runs: runs.collect::<Result<_, _>>()? });
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
    } else {
        anstream::print!("{}", table(&tools, &lines));
    }
    Ok(())
}

const OWN: &str = "raddle";

/// The tools, ours first.
fn tools(own: PathBuf) -> Vec<Tool> {
    vec![
        Tool {
            name: OWN,
            program: own.clone(),
            arguments: |file, define| ours(file, define, "optimal"),
            count: |output| serde_json::from_str::<serde_json::Value>(output).ok()?["executions"].as_u64(),
        },
        Tool {
            name: "raddle, auto",
            program: own,
            arguments: |file, define| ours(file, define, "auto"),
            count: |output| serde_json::from_str::<serde_json::Value>(output).ok()?["executions"].as_u64(),
        },
        Tool {
            name: "genmc",
            program: "genmc".into(),
            arguments: |file, define| {
                let flags = ["--sc", "--disable-race-detection", "--"].map(str::to_owned).into_iter();
                flags.chain(define.map(|define| format!("-D{define}"))).chain([file.to_owned()]).collect()
            },
            count: |output| after(output, "Number of complete executions explored:"),
        },
        Tool {
            name: "nidhugg",
            program: "nidhuggc".into(),
            arguments: |file, define| {
                let flags = define.map(|define| format!("-D{define}")).into_iter();
                flags.chain(["--", "--sc", "--optimal", file].map(str::to_owned)).collect()
            },
            count: |output| after(output, "Trace count:"),
        },
    ]
}

fn ours(file: &str, define: Option<&str>, engine: &str) -> Vec<String> {
    let words = ["check", file, "--model", "sc", "--json", "--all", "--no", "race", "--engine", engine]
        .map(str::to_owned)
        .into_iter();
    words.chain(define.map(|define| format!("-D{define}"))).collect()
}

/// The number that follows these words.
fn after(output: &str, words: &str) -> Option<u64> {
    let (_, rest) = output.split_once(words)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The command beside this one.
pub(crate) fn beside_this_one() -> Result<PathBuf, Failure> {
    Ok(std::env::current_exe()?.with_file_name(format!("raddle{}", std::env::consts::EXE_SUFFIX)))
}

/// Whether there is such a program, by its path or on the search path.
pub(crate) fn is_there(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

fn measure(tool: &Tool, file: &Path, define: Option<&str>, repeat: u32) -> Result<Run, Failure> {
    let file = file.to_string_lossy();
    let mut best: Option<Run> = None;
    for _ in 0..repeat.max(1) {
        let before = children_seconds();
        let arguments = (tool.arguments)(&file, define);
        let output = Command::new(&tool.program).args(arguments).stdin(Stdio::null()).output()?;
        let cpu_seconds = children_seconds() - before;
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let Some(executions) = (tool.count)(&text) else {
            let what = format!("no number of executions on {file}: {}", text.lines().next().unwrap_or("no output"));
            return Err(Failure::Tool { tool: tool.name.to_owned(), what });
        };
        if best.as_ref().is_none_or(|best| cpu_seconds < best.cpu_seconds) {
            best = Some(Run { tool: tool.name, executions, cpu_seconds });
        }
    }
    Ok(best.expect("it ran"))
}

fn table(tools: &[Tool], lines: &[Line]) -> String {
    let mut head = vec!["program".to_owned()];
    for tool in tools {
        head.extend([format!("{}: executions", tool.name), "CPU s".to_owned()]);
    }
    head.extend(tools.iter().skip(2).map(|tool| format!("{} / raddle, CPU ×", tool.name)));
    let cells = lines.iter().map(|line| {
        let mut cells = vec![line.program.clone()];
        for run in &line.runs {
            cells.extend([run.executions.to_string(), format!("{:.3}", run.cpu_seconds)]);
        }
        cells.extend(line.runs.iter().skip(2).map(|peer| {
            let same = if peer.executions == line.runs[0].executions { "" } else { ", other executions" };
            format!("{:.1}{same}", peer.cpu_seconds / line.runs[0].cpu_seconds)
        }));
        cells
    });
    let mut text = markdown(&head, &cells.collect::<Vec<_>>(), 1);
    for (at, tool) in tools.iter().enumerate().skip(2) {
        let ratios = lines.iter().map(|line| (line.runs[at].cpu_seconds / line.runs[0].cpu_seconds).ln());
        let mean = (ratios.sum::<f64>() / lines.len().max(1) as f64).exp();
        text += &format!("\nGeometric mean against {}: {mean:.1} times less CPU.\n", tool.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_what_the_tools_print() {
        let genmc =
            "No errors were detected.\nNumber of complete executions explored: 720\nTotal wall-clock time: 0.03s\n";
        assert_eq!(after(genmc, "Number of complete executions explored:"), Some(720));
        assert_eq!(after("Trace count: 6 (also 2 sleepset blocked)", "Trace count:"), Some(6));
        assert_eq!(after("error: cannot open", "Trace count:"), None);
    }

    #[test]
    fn every_program_is_there() {
        for (name, _) in PROGRAMS {
            let file: PathBuf =
                [env!("CARGO_MANIFEST_DIR"), "..", "examples", "c", &format!("{name}.c")].iter().collect();
            assert!(file.is_file(), "{name}");
        }
    }
}
