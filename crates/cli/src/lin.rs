//! `raddle lin`: is this history linearizable?

use crate::args::{Algorithm, FailedCasOption, Lin, LinEngine, NilReadsOption};
use crate::output::{self, Output};
use crate::status::{Failure, Status};
use raddle::linear::check::Engine;
use raddle::linear::command::{self, Error, Options, Outcome};
use raddle::linear::format::InputError;
use raddle::linear::meaning::{FailedCas, NilReads, Words};
use raddle::linear::monitor::queue::QueueAlgorithm;
use raddle::linear::monitor::stack::StackAlgorithm;
use raddle::report::excerpt::Mark;
use raddle::report::{Problem, Sources};
use std::fs::File;
use std::io::{BufReader, Read, stdin};

pub(crate) fn run(args: &Lin) -> Status {
    let name = args.file.display().to_string();
    let output = Output { command: Some("lin"), file: Some(&name), json: args.json, ..Output::default() };
    match answer(args, &name) {
        Ok((outcome, text)) => {
            let status = match outcome {
                Outcome::Holds => Status::Holds,
                Outcome::Violated => Status::Violated,
                Outcome::Unknown => Status::Unknown,
            };
            output::print(&text, status)
        }
        Err(failure) => output.failure(&failure),
    }
}

fn answer(args: &Lin, name: &str) -> Result<(Outcome, String), Failure> {
    let input: Box<dyn Read> = if name == "-" {
        Box::new(stdin().lock())
    } else {
        let file = File::open(&args.file);
        Box::new(BufReader::new(file.map_err(|error| Problem::new(format!("cannot read `{name}`: {error}")))?))
    };
    let mut text = Vec::new();
    match command::run(input, &options(args), &mut text) {
        Ok(outcome) => Ok((outcome, String::from_utf8_lossy(&text).into_owned())),
        Err(Error::Internal(what)) => Err(Failure::internal(&what)),
        Err(error) => {
            let (problem, sources) = problem(name, &error);
            let mut failure = Failure::from(problem);
            failure.sources = sources;
            Err(failure)
        }
    }
}

fn options(args: &Lin) -> Options {
    let defaults = Options::default();
    let (mut stack, mut queue) = (defaults.stack, defaults.queue);
    match args.algorithm {
        None => {}
        Some(Algorithm::NearLinear) => stack = StackAlgorithm::NearLinear,
        Some(Algorithm::Quadratic) => stack = StackAlgorithm::Quadratic,
        Some(Algorithm::Sweep) => queue = QueueAlgorithm::Sweep,
        Some(Algorithm::Tree) => queue = QueueAlgorithm::Tree,
        Some(Algorithm::AllPairs) => queue = QueueAlgorithm::AllPairs,
    }
    Options {
        object: args.object,
        format: args.format,
        engine: match args.engine {
            LinEngine::Auto => Engine::Auto,
            LinEngine::Monitor => Engine::Monitor,
            LinEngine::Search => Engine::Search,
        },
        stack,
        queue,
        budget: args.budget.unwrap_or(defaults.budget),
        memory: args.max_memory.unwrap_or(defaults.memory),
        time_limit: args.time_limit,
        tries: args.pending_budget.unwrap_or(defaults.tries),
        partition: !args.no_partition,
        independent: args.independent,
        file_order: args.file_order,
        words: Words {
            failed_cas: match args.failed_cas {
                FailedCasOption::Ignore => FailedCas::Ignore,
                FailedCasOption::Observe => FailedCas::Observe,
            },
            nil_reads: match args.nil_reads {
                NilReadsOption::Nothing => NilReads::Nothing,
                NilReadsOption::Unknown => NilReads::Unknown,
            },
        },
        initial: args.initial.clone().unwrap_or(defaults.initial),
        stream: args.stream,
        explain: !args.no_explain,
        json: args.json,
        html: args.html.clone(),
    }
}

/// The problem, with an excerpt of the line it is about.
fn problem(name: &str, error: &Error) -> (Problem, Sources) {
    let Error::Input(InputError::Line { line, message, text }) = error else {
        return (Problem::new(error.to_string()), Sources::default());
    };
    // Only the line is known, not what stands before it.
    let padding = "\n".repeat((*line as usize).saturating_sub(1));
    let mark = Mark { file: name.to_owned(), line: *line, column: 1, ..Mark::default() };
    (Problem::new(message).mark(mark), [(name, format!("{padding}{text}"))].into_iter().collect())
}
