//! `raddle trace`: is this trace consistent?

use crate::Status;
use crate::args::{Trace, TraceAlgorithm};
use crate::output::{self, Output};
use raddle::consistency::Algorithm;
use raddle::consistency::command::{self, Options, Verdict};
use raddle::consistency::format::InputError;
use raddle::consistency::render::text::Layout;
use raddle::report::excerpt::Mark;
use raddle::report::{Problem, Sources};
use std::fs::File;
use std::io::{Read, stdin};

/// No trace is larger than this.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &Trace) -> Status {
    let output = Output::new(args.json);
    let name = args.file.display().to_string();
    let input = match read(&name) {
        Ok(input) => input,
        Err(problem) => return output.problem(&problem),
    };
    let outcome = match command::run(&input, &options(args, &name)) {
        Ok(outcome) => outcome,
        Err(error) => {
            let (problem, sources) = problem(&name, &input, error);
            return output.problem_in(&problem, &sources);
        }
    };
    if let Some(path) = &args.dot
        && let Err(status) = output.write(path, &outcome.dot)
    {
        return status;
    }
    let status = match outcome.verdict {
        Verdict::Consistent => Status::Holds,
        Verdict::Inconsistent => Status::Violated,
        Verdict::Unknown => Status::Unknown,
    };
    output::print(&outcome.text, status)
}

fn read(name: &str) -> Result<Vec<u8>, Problem> {
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
            Err(Problem::new(format!("`{name}` is too large; a trace has at most {} MiB", MAX_BYTES >> 20)))
        }
        Ok(_) => Ok(bytes),
    }
}

fn options(args: &Trace, name: &str) -> Options {
    Options {
        model: args.model,
        format: args.format,
        algorithm: match args.algorithm {
            TraceAlgorithm::Model => Algorithm::Model,
            TraceAlgorithm::Naive => Algorithm::Naive,
        },
        closure: !args.no_closure,
        prefixes: args.max_prefixes,
        bytes: args.max_memory,
        time_limit: args.time_limit,
        explain: !args.no_explain,
        json: args.json,
        layout: Layout { width: output::layout(args.full).width, full: args.full },
        file: name.to_owned(),
        version: raddle::VERSION.to_owned(),
    }
}

/// The problem, with an excerpt of the lines it is about.
fn problem(name: &str, input: &[u8], error: InputError) -> (Problem, Sources) {
    let mut problem = Problem::new(error.message);
    problem.help = error.help;
    let Some(spot) = error.spot else { return (problem, Sources::default()) };
    let mark = Mark { file: name.to_owned(), line: spot.line, column: spot.column, len: spot.len, ..Mark::default() };
    (problem.mark(mark), [(name, String::from_utf8_lossy(input))].into_iter().collect())
}
