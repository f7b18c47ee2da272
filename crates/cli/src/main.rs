//! The command `raddle`.
//!
//! [`args`] says what can be asked, a module per command answers it, [`output`] is where answers go, and this file turns every
//! way a run can end into one of the exit statuses: 0 holds, 1 violated, 2 bad input, usage or output, 3 unknown, 4 internal error.

mod args;
mod check;
mod compare;
mod lin;
mod output;
mod panics;
mod progress;
mod replay;
mod schedule_file;
mod show;
mod trace;
mod values;

use args::{Arguments, Command};
use clap::Parser;
use clap::error::ErrorKind;
use output::Output;
use raddle::report::Problem;
use std::process::ExitCode;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// The question is answered, and all is well.
    Holds = 0,
    /// Something is violated.
    Violated = 1,
    /// The input or the command line is wrong, or the answer cannot be written.
    Input = 2,
    /// No answer within the limits.
    Unknown = 3,
    /// A bug in Raddle.
    Internal = 4,
}

/// Engines and front ends recurse over programs and executions, both of which may be long.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    panics::install_hook();
    let work = std::thread::Builder::new().name("raddle".into()).stack_size(STACK_BYTES).spawn(run);
    let ended = match work {
        Ok(handle) => handle.join(),
        Err(_) => std::panic::catch_unwind(run),
    };
    let status = ended.unwrap_or_else(|_| {
        let json = std::env::args_os().any(|argument| argument == "--json");
        output::report_bug(json, &panics::last())
    });
    ExitCode::from(status as u8)
}

fn run() -> Status {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match arguments.command {
        Command::Check(options) => check::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Replay(options) => replay::run(&options),
        Command::Show(options) => show::run(&options),
        Command::Lin(options) => lin::run(&options),
        Command::Trace(options) => trace::run(&options),
    }
}

/// Help and version are answers; everything else is a wrong command line.
fn usage(error: &clap::Error) -> Status {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.render().ansi().to_string(), Status::Holds)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::print_error(&error.render().ansi().to_string());
            Status::Input
        }
        _ if std::env::args_os().any(|argument| argument == "--json") => {
            let text = error.render().to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Output::new(true).problem(&Problem::new(message))
        }
        _ => {
            output::print_error(&error.render().ansi().to_string());
            Status::Input
        }
    }
}
