//! The command `trace`: bytes in, a rendered verdict out.
//!
//! This is the whole of `raddle trace` but for the parsing of its options and for files: [`run`] reads a trace, verifies it, and makes the text, the JSON and
//! the graph; the caller prints them and maps [`Outcome::exit_code`] and errors to the exit status.

use crate::explain::explain;
use crate::format::{self, Format, InputError};
use crate::render::text::Layout;
use crate::render::{Context, Finding, dot, json, text};
use crate::settings::{Algorithm, Closure, Limits, Settings};
use crate::verify::{Answer, Verifier};
use raddle_trace::Model;
use std::time::{Duration, Instant};

/// The options of the command. Each field names the option of the command line.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--model NAME`. Default sc.
    pub model: Model,
    /// `--format text|json`. Default: by the content.
    pub format: Option<Format>,
    /// `--algorithm model|naive`. Default model.
    pub algorithm: Algorithm,
    /// `--no-closure` clears it: compute the closure first. Default true.
    pub closure: bool,
    /// `--max-prefixes N`: how many prefixes the search may look at. Default none.
    pub prefixes: Option<u64>,
    /// `--max-memory BYTES`: what the search may hold. Default 4 GiB.
    pub bytes: Option<u64>,
    /// `--time-limit SECONDS`: when to give up. Default none.
    pub time_limit: Option<Duration>,
    /// `--no-explain` clears it: look for a small clash. Default true.
    pub explain: bool,
    /// `--json`: one JSON object instead of text. Default false.
    pub json: bool,
    /// How text is laid out.
    pub layout: Layout,
    /// The file, as it was named.
    pub file: String,
    /// The version of Raddle.
    pub version: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            model: Model::Sc,
            format: None,
            algorithm: Algorithm::Model,
            closure: true,
            prefixes: None,
            bytes: None,
            time_limit: None,
            explain: true,
            json: false,
            layout: Layout { width: 100, full: false },
            file: String::new(),
            version: String::new(),
        }
    }
}

/// What the command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an execution.
    Consistent,
    /// There is none.
    Inconsistent,
    /// A limit was reached.
    Unknown,
}

/// What the command found, in every form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// What to print: text, or JSON if that was asked for.
    pub text: String,
    /// The graph.
    pub dot: String,
}

impl Outcome {
    /// The exit status of the command.
    pub const fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Consistent => 0,
            Verdict::Inconsistent => 1,
            Verdict::Unknown => 3,
        }
    }
}

impl Options {
    fn settings(&self, started: Instant) -> Settings {
        let defaults = Limits::default();
        Settings {
            closure: if self.closure { Closure::First } else { Closure::Off },
            algorithm: self.algorithm,
            limits: Limits {
                prefixes: self.prefixes.unwrap_or(defaults.prefixes),
                bytes: self.bytes.unwrap_or(defaults.bytes),
                deadline: self.time_limit.and_then(|limit| started.checked_add(limit)),
            },
            ..Settings::default()
        }
    }

    /// The limit that ended a search that looked at so many prefixes.
    fn limit(&self, settings: &Settings, prefixes: u64) -> &'static str {
        if prefixes > settings.limits.prefixes {
            "the limit on prefixes"
        } else if settings.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            "the time limit"
        } else {
            "the limit on memory"
        }
    }
}

/// Reads a trace, verifies it, says what was found.
pub fn run(input: &[u8], options: &Options) -> Result<Outcome, InputError> {
    let started = Instant::now();
    let trace = format::read(input, options.format)?;
    let settings = options.settings(started);
    let malformed = |error: crate::Malformed| InputError { message: error.to_string(), spot: None, help: None };
    let mut verifier = Verifier::new();
    let answer = verifier.verify(&trace.instance, options.model, &settings).map_err(malformed)?;
    let statistics = verifier.statistics();
    let (verdict, finding) = match answer {
        Answer::Consistent(schedule) => (Verdict::Consistent, Finding::Consistent(schedule)),
        Answer::Unknown => (Verdict::Unknown, Finding::Unknown(options.limit(&settings, statistics.prefixes))),
        Answer::Inconsistent => {
            let wanted = options.explain.then(|| explain(&trace.instance, options.model, &settings));
            (Verdict::Inconsistent, Finding::Inconsistent(wanted.transpose().map_err(malformed)?.flatten()))
        }
    };
    let context = Context {
        trace: &trace,
        file: &options.file,
        version: &options.version,
        model: options.model,
        finding: &finding,
        statistics,
        seconds: started.elapsed().as_secs_f64(),
    };
    let text = if options.json { json::json(&context) } else { text::text(&context, options.layout) };
    Ok(Outcome { verdict, text, dot: dot::dot(&context) })
}
