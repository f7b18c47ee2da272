//! Checks a history from the command line: `lin FILE|- [--type T] [--format F] [--engine E] [--json] [--stream] [--html FILE] ...`.

use std::fs::File;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use raddle_linear::assemble::FailedCas;
use raddle_linear::check::Engine;
use raddle_linear::command::{Error, Options, run};
use raddle_linear::format::InputError;
use raddle_linear::monitor::queue::QueueAlgorithm;
use raddle_linear::monitor::stack::StackAlgorithm;
use raddle_linear::value::Value;

fn parse(mut words: impl Iterator<Item = String>) -> Result<(String, Options), String> {
    let mut options = Options::default();
    let mut file = None;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--type" => options.object = Some(value()?.parse().map_err(|error| format!("{error}"))?),
            "--format" => options.format = Some(value()?.parse().map_err(|error| format!("{error}"))?),
            "--engine" => {
                options.engine = match value()?.as_str() {
                    "auto" => Engine::Auto,
                    "monitor" => Engine::Monitor,
                    "search" => Engine::Search,
                    other => return Err(format!("unknown engine `{other}`")),
                }
            }
            "--algorithm" => match value()?.as_str() {
                "near-linear" => options.stack = StackAlgorithm::NearLinear,
                "quadratic" => options.stack = StackAlgorithm::Quadratic,
                "sweep" => options.queue = QueueAlgorithm::Sweep,
                "tree" => options.queue = QueueAlgorithm::Tree,
                "all-pairs" => options.queue = QueueAlgorithm::AllPairs,
                other => return Err(format!("unknown algorithm `{other}`")),
            },
            "--budget" => options.budget = value()?.parse().map_err(|error| format!("{error}"))?,
            "--time-limit" => {
                let seconds: f64 = value()?.parse().map_err(|error| format!("{error}"))?;
                options.time_limit = Some(Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?);
            }
            "--initial" => {
                let text = value()?;
                options.initial = text.parse().map_or_else(|_| Value::text(&text), Value::Int);
            }
            "--no-partition" => options.partition = false,
            "--no-explain" => options.explain = false,
            "--independent" => options.independent = true,
            "--file-order" => options.file_order = true,
            "--observe-failed-cas" => options.failed_cas = FailedCas::Observe,
            "--stream" => options.stream = true,
            "--json" => options.json = true,
            "--html" => options.html = Some(value()?.into()),
            option if option.starts_with("--") => return Err(format!("unknown option {option}")),
            name => file = Some(name.to_string()),
        }
    }
    Ok((file.ok_or("name a file, or - for the standard input")?, options))
}

fn main() -> ExitCode {
    let (file, options) = match parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let input: Box<dyn Read> = if file == "-" {
        Box::new(std::io::stdin())
    } else {
        match File::open(&file) {
            Ok(file) => Box::new(file),
            Err(error) => {
                eprintln!("error: cannot open {file}: {error}");
                return ExitCode::from(2);
            }
        }
    };
    let mut out = std::io::stdout().lock();
    match run(input, &options, &mut out) {
        Ok(outcome) => {
            let _ = out.flush();
            ExitCode::from(outcome.exit_code())
        }
        Err(error) => {
            eprintln!("error: {error}");
            if let Error::Input(InputError::Line { text, .. }) = &error
                && !text.is_empty()
            {
                eprintln!("  | {text}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}
