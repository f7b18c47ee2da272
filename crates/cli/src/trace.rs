//! `raddle trace`: is this trace consistent?

use crate::args::{Trace, TraceAlgorithm};
use crate::check::stop_when_asked;
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::Control;
use raddle::consistency::Algorithm;
use raddle::report::{Answer, Problem};
use raddle::traces::Settings;
use std::fs::File;
use std::io::{Read, stdin};
use std::sync::Arc;

/// No trace and no memory system is larger than this.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &Trace) -> Status {
    let file = args.file.display().to_string();
    let output = Output { full: args.full, dot: args.dot.as_deref(), ..Output::new("trace", &file, args.json) };
    output.end(answer(args, &file))
}

fn answer(args: &Trace, name: &str) -> Result<Answer, Failure> {
    let settings = Settings {
        model: args.model,
        format: args.format,
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
    let control = Arc::new(Control::new());
    let input = read(name, "a trace")?;
    stop_when_asked(&control);
    Ok(raddle::trace(name, &input, &settings, &control)?)
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
