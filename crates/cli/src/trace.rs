//! `raddle trace`: is this trace, or this log of a store, consistent?

use crate::args::{Trace, TraceAlgorithm, Unexecuted};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::Control;
use raddle::consistency::Algorithm;
use raddle::consistency::mailbox::Mailbox;
use raddle::linear::decide;
use raddle::linear::value::Value;
use raddle::mailboxes;
use raddle::report::{Answer, Problem};
use raddle::traces::Settings;
use std::fs::File;
use std::io::{self, Cursor, Read, stdin};
use std::str::FromStr;
use std::sync::Arc;

/// No trace and no memory system is larger than this. A log may be: its text is not kept.
const MAX_BYTES: u64 = 64 << 20;
/// So much of an input is looked at to tell a trace from a log.
const HEAD: u64 = 64 << 10;

pub(crate) fn run(args: &Trace) -> Status {
    let file = args.file.display().to_string();
    let output = Output { full: args.full, dot: args.dot.as_deref(), ..Output::new("trace", &file, args.json) };
    output.end(answer(args, &file))
}

fn answer(args: &Trace, name: &str) -> Result<Answer, Failure> {
    let control = Arc::new(Control::new());
    if !args.mailbox.is_empty() {
        let settings = mailbox_settings(args)?;
        let input = read(name, "a trace")?;
        stop_when_asked(&control);
        return Ok(raddle::mailbox(name, &input, &settings, &control)?);
    }
    let (head, rest) = open(name).map_err(|error| cannot_read(name, &error))?;
    let is_log = match args.format.as_deref() {
        Some(format) => format == "log",
        None => raddle::logs::is_log(&head),
    };
    let input = Cursor::new(head).chain(rest);
    let settings = Settings {
        model: args.model,
        format: if is_log { None } else { format(args)? },
        algorithm: match args.algorithm {
            TraceAlgorithm::Model => Algorithm::Model,
            TraceAlgorithm::Naive => Algorithm::Naive,
        },
        closure: !args.no_closure,
        prefixes: args.max_prefixes,
        memory: args.max_memory,
        time_limit: args.time_limit,
        explain: !args.no_explain,
    };
    if !is_log {
        if args.independent || args.initial.is_some() {
            let why = "--initial and --independent are for the log of a store, and this is a trace";
            return Err(Problem::new(why).help("a trace has lines `initial x = 0`").into());
        }
        let input = all(input, name, "a trace")?;
        stop_when_asked(&control);
        return Ok(raddle::trace(name, &input, &settings, &control)?);
    }
    stop_when_asked(&control);
    let reading = decide::Settings {
        independent: args.independent,
        initial: args.initial.clone().unwrap_or(Value::Nil),
        ..decide::Settings::default()
    };
    Ok(raddle::log(name, input, &reading, &settings, &control)?)
}

/// The format by its name, of which there are more with mailboxes.
fn format<F: FromStr<Err = String>>(args: &Trace) -> Result<Option<F>, Problem> {
    args.format.as_deref().map(|name| name.parse().map_err(Problem::new)).transpose()
}

fn mailbox_settings(args: &Trace) -> Result<mailboxes::Settings, Problem> {
    let mut of_all = args.mailbox.iter().filter(|(handler, _)| handler.is_none()).map(|&(_, kind)| kind);
    let named = args.mailbox.iter().filter_map(|(handler, kind)| Some((handler.clone()?, *kind)));
    Ok(mailboxes::Settings {
        mailbox: of_all.next_back().unwrap_or(Mailbox::Queue),
        others: named.collect(),
        strict: matches!(args.unexecuted, Unexecuted::Strict),
        format: format(args)?,
        time_limit: args.time_limit,
        explain: !args.no_explain,
    })
}

/// The beginning of an input, and the rest of it.
fn open(name: &str) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut input: Box<dyn Read> = if name == "-" { Box::new(stdin()) } else { Box::new(File::open(name)?) };
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head, input))
}

fn cannot_read(name: &str, error: &io::Error) -> Problem {
    Problem::new(format!("cannot read `{name}`: {error}"))
}

/// The bytes of an input that is not too large for what it should be.
fn all(input: impl Read, name: &str, what: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    match input.take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        Err(error) => Err(cannot_read(name, &error)),
        Ok(_) if bytes.len() as u64 > MAX_BYTES => {
            Err(Problem::new(format!("`{name}` is too large; {what} has at most {} MiB", MAX_BYTES >> 20)))
        }
        Ok(_) => Ok(bytes),
    }
}

/// The bytes of a file that is not too large for what it should be.
pub(crate) fn read(name: &str, what: &str) -> Result<Vec<u8>, Problem> {
    let (head, rest) = open(name).map_err(|error| cannot_read(name, &error))?;
    all(Cursor::new(head).chain(rest), name, what)
}
