//! `trace`: is there an execution of this shape?

use crate::cost::Meter;
use crate::error::Error;
use raddle_consistency::explain::{self, Conclusion, Moment, Reason, Tie};
use raddle_consistency::format::{self, Format, InputError, Trace};
use raddle_consistency::{Action, Algorithm, Closure, EventId, Interrupt, Limits, Malformed, Model, Source, Verifier};
use raddle_engine::{Control, Deadline, StopReason};
use raddle_report::trace as report;
use raddle_report::{Answer, Body, Sources};
use std::time::Duration;

/// What to verify and how far.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The memory model.
    pub model: Model,
    /// The form of the trace; by its content, if nobody says.
    pub format: Option<Format>,
    /// The search made for the model, or the one through all prefixes.
    pub algorithm: Algorithm,
    /// Look for cycles before the search.
    pub closure: bool,
    /// How many prefixes the search may look at.
    pub prefixes: Option<u64>,
    /// What the search may hold, in bytes.
    pub memory: Option<u64>,
    /// When to give up.
    pub time_limit: Option<Duration>,
    /// Look for a small clash where there is no execution.
    pub explain: bool,
}

impl Settings {
    /// Everything, without a limit on prefixes or time.
    pub fn new(model: Model) -> Self {
        Settings {
            model,
            format: None,
            algorithm: Algorithm::Model,
            closure: true,
            prefixes: None,
            memory: None,
            time_limit: None,
            explain: true,
        }
    }

    fn of_verifier<'i>(&self, interrupt: &'i dyn Interrupt) -> raddle_consistency::Settings<'i> {
        let defaults = Limits::default();
        raddle_consistency::Settings {
            closure: if self.closure { Closure::First } else { Closure::Off },
            algorithm: self.algorithm,
            limits: Limits {
                prefixes: self.prefixes.unwrap_or(defaults.prefixes),
                bytes: self.memory.unwrap_or(defaults.bytes),
                interrupt,
            },
            ..raddle_consistency::Settings::default()
        }
    }
}

/// The deadline of a run, for the verifiers.
pub(crate) struct Due<'d>(pub(crate) &'d Deadline<'d>);

impl Interrupt for Due<'_> {
    fn is_due(&self) -> bool {
        self.0.passed().is_some()
    }
}

/// Reads a trace and looks for an execution of its shape; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted trace.
pub fn trace(name: &str, input: &[u8], settings: &Settings, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let in_input = |error| Error::Trace { error, name: name.to_owned(), text: String::from_utf8_lossy(input).into() };
    let limits = raddle_engine::Limits { time: settings.time_limit, ..raddle_engine::Limits::default() };
    let deadline = Deadline::new(limits, control);
    let trace = format::read(input, settings.format).map_err(in_input)?;
    if trace.instance.is_empty() {
        let message = "the trace has no events".to_owned();
        return Err(in_input(InputError { message, spot: None, help: None }));
    }
    let body = judge(&trace, settings, &deadline).map_err(in_input)?;
    Ok(Answer { file: name.to_owned(), sources: Sources::default(), cost: meter.read(), body: Body::Trace(body) })
}

/// Looks for an execution of this shape.
pub(crate) fn judge(trace: &Trace, settings: &Settings, deadline: &Deadline<'_>) -> Result<report::Trace, InputError> {
    let due = Due(deadline);
    let how = settings.of_verifier(&due);
    let malformed = |error: raddle_consistency::Malformed| match error {
        Malformed::FenceWithoutOrder { event } => {
            let message =
                "under wra full fences are updates of one hidden location, in an order that a trace does not say";
            InputError::at(trace.spot(event), message).help("`--model ra` knows full fences")
        }
        error => InputError { message: error.to_string(), spot: None, help: None },
    };
    let mut verifier = Verifier::new();
    let answer = verifier.verify(&trace.instance, settings.model, &how).map_err(malformed)?;
    let statistics = verifier.statistics();
    let found = match answer {
        raddle_consistency::Answer::Consistent(schedule) => report::Found::Consistent(schedule),
        raddle_consistency::Answer::Unknown => {
            report::Found::Unknown(why_stopped(&how.limits, statistics.prefixes, deadline).to_owned())
        }
        raddle_consistency::Answer::Inconsistent if settings.explain => {
            let clash = explain::explain(&trace.instance, settings.model, &how).map_err(malformed)?;
            report::Found::Inconsistent(clash.map(|clash| in_words(trace, &clash)))
        }
        raddle_consistency::Answer::Inconsistent => report::Found::Inconsistent(None),
    };
    Ok(report::Trace {
        model: settings.model,
        threads: threads(trace),
        locations: trace.locations().to_vec(),
        found,
        unwritten: None,
        prefixes: statistics.prefixes,
        closed: statistics.closed,
        cyclic: statistics.cyclic,
    })
}

/// Why a search that looked at so many prefixes came to no answer.
fn why_stopped(limits: &Limits<'_>, prefixes: u64, deadline: &Deadline<'_>) -> &'static str {
    if prefixes > limits.prefixes {
        return "the limit on prefixes was reached";
    }
    match deadline.passed() {
        None => "the limit on memory was reached",
        Some(StopReason::Interrupted) => "it was interrupted",
        Some(_) => "the time limit was reached",
    }
}

/// What every thread did.
pub(crate) fn threads(trace: &Trace) -> Vec<report::Thread> {
    let mut threads: Vec<report::Thread> = Vec::new();
    for id in (0..trace.instance.threads() as u32).map(raddle_trace::ThreadId) {
        threads.push(report::Thread { name: trace.thread(id).to_owned(), events: Vec::new() });
    }
    for (id, action) in trace.instance.events() {
        threads[id.thread.index()].events.push(report::Event {
            words: trace.words(id).to_owned(),
            line: trace.spot(id).line,
            buffers: match action {
                Action::Write { loc } => Some(u64::from(loc.0)),
                _ => None,
            },
            source: match action.source() {
                Some(Source::Write(write)) => Some(write),
                _ => None,
            },
        });
    }
    threads
}

fn in_words(trace: &Trace, clash: &explain::Clash) -> report::Clash {
    let ties = |ties: &[Tie]| ties.iter().map(|tie| tie_in_words(trace, tie)).collect();
    let only_writes = |event: EventId| {
        matches!(trace.instance.get(event), Some(Action::Update { .. }))
            && matches!(clash.core.get(event), Some(Action::Write { .. }))
    };
    let conclusion = |Conclusion { tie, since }: &Conclusion| report::Deduction {
        tie: tie_in_words(trace, tie),
        since: ties(since),
    };
    report::Clash {
        events: clash.events().map(|event| (event, only_writes(event))).collect(),
        minimal: clash.minimal,
        conclusions: clash.conclusions.iter().map(conclusion).collect(),
        cycle: ties(&clash.cycle),
    }
}

/// What an event read.
fn source_of(trace: &Trace, moment: Moment) -> String {
    let source = match moment {
        Moment::Does(event) => trace.instance.get(event).and_then(Action::source),
        _ => None,
    };
    match source {
        Some(Source::Write(write)) => trace.name(write),
        _ => "the initial write".into(),
    }
}

/// Why the first moment of a tie is before the second.
fn tie_in_words(trace: &Trace, tie: &Tie) -> report::Tie {
    let moment = |moment| match moment {
        Moment::Does(event) => report::Moment::Does(event),
        Moment::Reaches(event) => report::Moment::Reaches(event),
        Moment::Ends(thread) => report::Moment::Ends(thread),
    };
    let short = |moment| match moment {
        Moment::Does(event) | Moment::Reaches(event) => trace.name(event),
        Moment::Ends(thread) => format!("the end of {}", trace.thread(thread)),
    };
    let (from, to) = (short(tie.from), short(tie.to));
    let source = |read| match trace.instance.get(read).and_then(Action::source) {
        Some(Source::Write(write)) => trace.name(write),
        _ => "the initial value".into(),
    };
    let (why, text) = match tie.why {
        Reason::Program => ("program_order", "program order".into()),
        Reason::Issue => ("issue", "it is buffered before it reaches memory".into()),
        Reason::Buffer => ("buffer", "the buffer is first in, first out".into()),
        Reason::Drain => ("drain", format!("{to} waits for an empty buffer")),
        Reason::StoreFence => ("store_fence", "a store fence stands between them".into()),
        Reason::Start => ("start", format!("{from} starts the thread")),
        Reason::End => ("end", format!("{to} waits for the end of the thread")),
        Reason::ReadsFrom => ("reads_from", format!("{to} reads from {from}")),
        Reason::OwnBefore(read) => {
            ("own_before", format!("{} reads from {to}, not from {from} of its own thread", trace.name(read)))
        }
        Reason::Earlier(read) => ("earlier", format!("{} comes after {from} but reads from {to}", trace.name(read))),
        Reason::Later(read) => ("later", format!("{from} reads from {}, which {to} overwrites", source(read))),
        Reason::Hidden => ("hidden", format!("{to} of its own thread hides what {from} reads from")),
        Reason::Read(read) => ("read_before", format!("{} reads from {from} and comes before {to}", trace.name(read))),
        Reason::InOrder(first, second) => {
            let (first, second) = (trace.name(first), trace.name(second));
            (
                "reads_in_order",
                format!("{first}, which reads from {from}, comes before {second}, which reads from {to}"),
            )
        }
        Reason::Chain => ("updates", "each of the updates between them reads what the one before wrote".into()),
        Reason::Together => ("one_block", format!("nothing comes between {to} and the updates up to {from}")),
        Reason::FirstUpdate => ("first_update", format!("{from} updates the initial value, so it is the first")),
        Reason::SameSource => {
            ("same_source", format!("both update what {} wrote, right after it", source_of(trace, tie.from)))
        }
    };
    report::Tie { from: moment(tie.from), to: moment(tie.to), why, text }
}
