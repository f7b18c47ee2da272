//! What is said about a trace: for people (`text`), for programs (`json`), for Graphviz (`dot`).

pub mod dot;
pub mod json;
pub mod text;

use crate::explain::{Clash, Moment, Reason, Tie};
use crate::format::Trace;
use crate::instance::{Action, Source};
use crate::verify::Statistics;
use raddle_trace::{Model, Step};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is an execution, and this schedule runs it.
    Consistent(Vec<Step>),
    /// There is none; this is why, unless nobody asked.
    Inconsistent(Option<Clash>),
    /// A limit was reached; which one.
    Unknown(&'static str),
}

impl Finding {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Finding::Consistent(_) => "consistent",
            Finding::Inconsistent(_) => "inconsistent",
            Finding::Unknown(_) => "unknown",
        }
    }
}

/// Everything there is to say.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its file.
    pub file: &'a str,
    /// The version of Raddle.
    pub version: &'a str,
    /// The model.
    pub model: Model,
    /// What was found.
    pub finding: &'a Finding,
    /// What it cost.
    pub statistics: Statistics,
    /// How long it took.
    pub seconds: f64,
}

/// A moment, in words: `left.0 write x`, `left.0 write x reaches memory`.
fn moment(trace: &Trace, moment: Moment) -> String {
    match moment {
        Moment::Does(event) => format!("{}  {}", trace.name(event), trace.words(event)),
        Moment::Reaches(event) => format!("{}  {} reaches memory", trace.name(event), trace.words(event)),
        Moment::Ends(thread) => format!("{} has ended, its buffer empty", trace.thread(thread)),
    }
}

/// The name of a moment, short.
fn short(trace: &Trace, moment: Moment) -> String {
    match moment {
        Moment::Does(event) | Moment::Reaches(event) => trace.name(event),
        Moment::Ends(thread) => format!("the end of {}", trace.thread(thread)),
    }
}

/// Why the first moment of a tie is before the second.
fn reason(trace: &Trace, tie: &Tie) -> String {
    let (from, to) = (short(trace, tie.from), short(trace, tie.to));
    let source = |read| match trace.instance.get(read).and_then(Action::source) {
        Some(Source::Write(write)) => trace.name(write),
        _ => "the initial value".into(),
    };
    match tie.why {
        Reason::Program => "program order".into(),
        Reason::Issue => "it is buffered before it reaches memory".into(),
        Reason::Buffer => "the buffer is first in, first out".into(),
        Reason::Drain => format!("{to} waits for an empty buffer"),
        Reason::StoreFence => "a store fence stands between them".into(),
        Reason::Start => format!("{from} starts the thread"),
        Reason::End => format!("{to} waits for the end of the thread"),
        Reason::ReadsFrom => format!("{to} reads from {from}"),
        Reason::OwnBefore(read) => {
            format!("{} reads from {to}, not from {from} of its own thread", trace.name(read))
        }
        Reason::Earlier(read) => format!("{} comes after {from} but reads from {to}", trace.name(read)),
        Reason::Later(read) => format!("{from} reads from {}, which {to} overwrites", source(read)),
        Reason::Hidden => format!("{to} of its own thread hides what {from} reads from"),
    }
}
