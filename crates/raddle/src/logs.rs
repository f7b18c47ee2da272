//! `trace` on the log of a store: is what processes read and wrote consistent under a memory model?
//!
//! A log is a history (`raddle lin`), or one line for each operation that took effect; see [`raddle_linear::levels::observe`]. Real time plays no part: a model asks about the order
//! of each process, and who read from whom. A read of a value that nobody wrote is a violation of every model, and told as that.

use crate::cost::Meter;
use crate::error::Error;
use crate::traces::{self, judge, threads};
use raddle_consistency::Action;
use raddle_consistency::format::{Spot, Trace};
use raddle_engine::{Control, Deadline};
use raddle_linear::decide::{self, Log};
use raddle_linear::history::{History, Method, Op, OpId};
use raddle_linear::levels::Observed;
use raddle_linear::value::ValueId;
use raddle_report::trace as report;
use raddle_report::{Answer, Body, Sources};
use raddle_trace::{EventId, ThreadId};
use std::io::Read;

/// Reads a log and looks for an execution in which everybody reads what it says; `reading` is how it is written, `name` what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted log, or values repeat.
pub fn log(
    name: &str,
    input: impl Read,
    reading: &decide::Settings,
    settings: &traces::Settings,
    control: &Control,
) -> Result<Answer, Error> {
    let meter = Meter::start();
    let limits = raddle_engine::Limits { time: settings.time_limit, ..raddle_engine::Limits::default() };
    let deadline = Deadline::new(limits, control);
    let reading = decide::Settings { time_limit: settings.time_limit, ..reading.clone() };
    let Log { history, observed } = decide::log(input, &reading).map_err(|error| Error::of_history(error, name))?;
    if observed.is_some() && history.ops.is_empty() {
        let why = "there is no operation in this log";
        return Err(Error::of_history(decide::Error::Unsupported(why.into()), name));
    }
    let body = match observed {
        None => nothing(settings, "the time limit was reached while the log was read"),
        Some(observed) => {
            let unwritten = observed.unwritten.and_then(|read| place(&observed, read));
            let trace = named(&history, observed);
            drop(history);
            match unwritten {
                Some(read) => report::Trace {
                    threads: threads(&trace),
                    locations: trace.locations().to_vec(),
                    unwritten: Some(read),
                    found: report::Found::Inconsistent(None),
                    ..nothing(settings, "")
                },
                None => judge(&trace, settings, &deadline).map_err(|error| Error::Internal(error.to_string()))?,
            }
        }
    };
    Ok(Answer { file: name.to_owned(), sources: Sources::default(), cost: meter.read(), body: Body::Trace(body) })
}

/// Whether an input that begins like this is a log and no trace.
pub fn is_log(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let packed: String = first.chars().filter(|c| !c.is_whitespace()).take(12).collect();
    let has = |names: &[&str]| names.iter().any(|name| first.contains(&format!("\"{name}\"")));
    if packed.starts_with("{\"") {
        return has(&["process", "thread", "op"]) && has(&["f", "m"]) && !has(&["threads"]);
    }
    let begins = |with: &[&str]| with.iter().any(|with| packed.starts_with(with));
    begins(&["{:", "[{:", "({:", "#jepsen", "#@object", ";", "INFO", "INVOKE"])
}

/// Nothing is known.
fn nothing(settings: &traces::Settings, why: &str) -> report::Trace {
    report::Trace {
        model: settings.model,
        threads: Vec::new(),
        locations: Vec::new(),
        found: report::Found::Unknown(why.to_owned()),
        unwritten: None,
        prefixes: 0,
        closed: false,
        cyclic: false,
    }
}

/// Where an operation stands in the trace.
fn place(observed: &Observed, id: OpId) -> Option<EventId> {
    observed.threads.iter().enumerate().find_map(|(thread, own)| {
        let index = own.iter().position(|&other| other == id)?;
        Some(EventId::new(ThreadId(thread as u32), index as u32))
    })
}

/// The trace with the names of processes and keys.
fn named(history: &History, observed: Observed) -> Trace {
    let Observed { instance, threads, keys, .. } = observed;
    let text = |value: ValueId| history.value(value).to_string();
    let words = |op: &Op| {
        let (verb, value) = match op.method {
            Method::Write => ("write", Some(op.arg)),
            _ => ("read", op.result),
        };
        let key = if op.place == ValueId::NIL { String::new() } else { format!(" {}", text(op.place)) };
        let value =
            value.map_or("?".to_owned(), |value| if value == ValueId::NIL { "nil".into() } else { text(value) });
        format!("{verb}{key} = {value}")
    };
    let line = |op: &Op| Spot { line: op.call_line, column: 1, len: 1 };
    let names = threads.iter().map(|own| own.first().map_or(String::new(), |&id| text(history.op(id).process)));
    let names = names.collect();
    let keys = keys.into_iter().map(|key| if key == ValueId::NIL { "register".into() } else { text(key) }).collect();
    let event = |((_, action), &id): ((EventId, Action), &OpId)| {
        let op = history.op(id);
        let started = if matches!(action, Action::Spawn { .. }) { "calls " } else { "" };
        (format!("{started}{}", words(op)), line(op))
    };
    let events = instance.events().zip(threads.iter().flatten()).map(event).collect();
    Trace::of(instance, names, keys, events).expect("there is a name for each")
}
