//! The command `raddle`.
//!
//! [`args`] says what can be asked, a module per command answers it, [`output`] is where answers go, and this file turns every
//! way a run can end into one of the exit statuses: 0 holds, 1 violated, 2 bad input, usage or output, 3 unknown, 4 internal error.

mod args;
mod check;
mod compare;
mod fair;
mod lin;
mod live;
mod memsys;
mod output;
mod panics;
mod progress;
mod replay;
mod robust;
mod schedule_file;
mod show;
mod status;
mod strengthen;
mod trace;
mod values;

use args::{Arguments, Command, Options};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use output::Output;
use raddle::report::{Problem, clean};
use status::{Failure, Status};
use std::process::ExitCode;

/// Engines and front ends recurse over programs and executions, both of which may be long.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    panics::install_hook();
    let work = std::thread::Builder::new().name("raddle".into()).stack_size(STACK_BYTES).spawn(run);
    let ended = match work {
        Ok(handle) => handle.join(),
        Err(_) => std::panic::catch_unwind(run),
    };
    let status = ended.unwrap_or_else(|_| with_raw_arguments(&Failure::internal(&panics::last())));
    status.into()
}

fn run() -> Status {
    let arguments = match Arguments::try_parse_from(args::joined(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match arguments.command {
        Command::Check(Options(options)) => check::run(&options),
        Command::Compare(Options(options)) => compare::run(&options),
        Command::Replay(Options(options)) => replay::run(&options),
        Command::Show(Options(options)) => show::run(&options),
        Command::Lin(Options(options)) => lin::run(&options),
        Command::Trace(Options(options)) => trace::run(&options),
        Command::Memsys(Options(options)) => memsys::run(&options),
        Command::Fair(Options(options)) => fair::run(&options),
        Command::Robust(Options(options)) => robust::run(&options),
        Command::Strengthen(Options(options)) => strengthen::run(&options),
    }
}

/// Help and version are answers; everything else is a wrong command line.
fn usage(error: &clap::Error) -> Status {
    let coloured = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::print(&coloured, Status::Holds),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::print_error(&coloured);
            Status::Input
        }
        _ => {
            let plain = error.render().to_string();
            if wants_json() {
                let message = plain.lines().next().unwrap_or_default().trim_start_matches("error: ");
                return with_raw_arguments(&Problem::new(message).into());
            }
            // What is coloured quotes arguments as they are.
            let harmless =
                std::env::args_os().all(|argument| argument.to_str().is_some_and(|text| clean(text) == text));
            let cleaned: String = plain.lines().map(|line| clean(line) + "\n").collect();
            output::print_error(if harmless { &coloured } else { &cleaned });
            Status::Input
        }
    }
}

/// Says why there is no answer where the arguments were not understood, or nobody knows them any more.
fn with_raw_arguments(failure: &Failure) -> Status {
    let first = std::env::args_os().nth(1);
    let commands = Arguments::command();
    let command = first.and_then(|name| Some(commands.find_subcommand(name)?.get_name()));
    Output { command, json: wants_json(), ..Output::default() }.failure(failure)
}

fn wants_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
}
