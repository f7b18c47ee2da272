//! `raddle lin`: is this history linearizable?

use crate::args::{Algorithm, FailedCasOption, Lin, LinEngine, NilReadsOption};
use crate::output::Output;
use crate::status::{Failure, Status};
use raddle::histories::Settings;
use raddle::linear::check::Engine;
use raddle::linear::meaning::{FailedCas, NilReads, Words};
use raddle::linear::monitor::queue::QueueAlgorithm;
use raddle::linear::monitor::stack::StackAlgorithm;
use raddle::report::{Answer, Problem};
use std::fs::File;
use std::io::{BufReader, Read, stdin};

pub(crate) fn run(args: &Lin) -> Status {
    let name = args.file.display().to_string();
    let output = Output { html: args.html.as_deref(), ..Output::new("lin", &name, args.json) };
    output.end(answer(args, &name))
}

fn answer(args: &Lin, name: &str) -> Result<Answer, Failure> {
    if args.stream && args.html.is_some() {
        let why = "a stream is not kept, so it cannot be drawn; leave out --html or --stream";
        return Err(Problem::new(why).into());
    }
    let input: Box<dyn Read> = if name == "-" {
        Box::new(stdin().lock())
    } else {
        let file = File::open(&args.file);
        Box::new(BufReader::new(file.map_err(|error| Problem::new(format!("cannot read `{name}`: {error}")))?))
    };
    if args.levels {
        return Ok(raddle::lin_levels(name, input, &settings(args))?);
    }
    if let Some(workload) = args.txn {
        return Ok(raddle::lin_transactions(name, input, &settings(args), workload, args.level)?);
    }
    let check = if args.stream { raddle::lin_stream } else { raddle::lin };
    Ok(check(name, input, &settings(args))?)
}

fn settings(args: &Lin) -> Settings {
    let defaults = Settings::default();
    let (mut stack, mut queue) = (defaults.stack, defaults.queue);
    match args.algorithm {
        None => {}
        Some(Algorithm::NearLinear) => stack = StackAlgorithm::NearLinear,
        Some(Algorithm::Quadratic) => stack = StackAlgorithm::Quadratic,
        Some(Algorithm::Sweep) => queue = QueueAlgorithm::Sweep,
        Some(Algorithm::Tree) => queue = QueueAlgorithm::Tree,
        Some(Algorithm::AllPairs) => queue = QueueAlgorithm::AllPairs,
    }
    Settings {
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
        explain: !args.no_explain,
    }
}
