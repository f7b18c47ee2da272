//! `raddle trace`: is this trace consistent?

use crate::args::{Trace, TraceAlgorithm, Unexecuted};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::Control;
use raddle::consistency::Algorithm;
use raddle::consistency::mailbox::Mailbox;
use raddle::mailboxes;
use raddle::report::{Answer, Problem};
use raddle::traces::Settings;
use std::fs::File;
use std::io::{Read, stdin};
use std::str::FromStr;
use std::sync::Arc;

/// No trace and no memory system is larger than this.
const MAX_BYTES: u64 = 64 << 20;

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
    let settings = Settings {
        model: args.model,
        format: format(args)?,
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
    let input = read(name, "a trace")?;
    stop_when_asked(&control);
    Ok(raddle::trace(name, &input, &settings, &control)?)
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

/// The bytes of a file that is not too large for what it should be.
pub(crate) fn read(name: &str, what: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let end = MAX_BYTES + 1;
    let read = if name == "-" {
        stdin().lock().take(end).read_to_end(&mut bytes)
    } else {
        File::open(name).and_then(|file| file.take(end).read_to_end(&mut bytes))
    };
    match read {
        Err(error) => Err(Problem::new(format!("cannot read `{name}`: {error}"))),
        Ok(_) if bytes.len() as u64 > MAX_BYTES => {
            Err(Problem::new(format!("`{name}` is too large; {what} has at most {} MiB", MAX_BYTES >> 20)))
        }
        Ok(_) => Ok(bytes),
    }
}
