//! `trace --mailbox`: do handlers that take messages from mailboxes have a run of this shape?

use crate::cost::Meter;
use crate::error::Error;
use crate::traces::Due;
use raddle_consistency::format::InputError;
use raddle_consistency::mailbox::format::{self, Format, Named};
use raddle_consistency::mailbox::{self, Given, Limits, Mailbox, Rules};
use raddle_engine::{Control, Deadline, StopReason};
use raddle_report::mailbox as report;
use raddle_report::{Answer, Body, Sources};
use std::time::Duration;

/// What to verify and how far.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The mailbox of everybody, and those of some handlers by name.
    pub mailbox: Mailbox,
    /// Handlers whose mailbox is another.
    pub others: Vec<(String, Mailbox)>,
    /// Whether messages that are posted and never run were in the mailbox; if not they are ignored.
    pub strict: bool,
    /// The form of the trace; by its content, if nobody says.
    pub format: Option<Format>,
    /// When to give up.
    pub time_limit: Option<Duration>,
    /// Look for a small clash where there is no run.
    pub explain: bool,
}

impl Settings {
    /// The same mailbox for everybody, without limits.
    pub fn new(mailbox: Mailbox) -> Self {
        Settings { mailbox, others: Vec::new(), strict: true, format: None, time_limit: None, explain: true }
    }
}

/// Reads an event-driven trace and looks for a run of its shape; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted trace, or Raddle finds a bug in itself.
pub fn mailbox(name: &str, input: &[u8], settings: &Settings, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let in_input = |error| Error::Trace { error, name: name.to_owned(), text: String::from_utf8_lossy(input).into() };
    let plain = |message: String| in_input(InputError { message, spot: None, help: None });
    let limits = raddle_engine::Limits { time: settings.time_limit, ..raddle_engine::Limits::default() };
    let deadline = Deadline::new(limits, control);
    let due = Due(&deadline);
    let limits = Limits { interrupt: &due, ..Limits::default() };
    let named = format::read(input, settings.format).map_err(in_input)?;
    if named.trace.messages.is_empty() {
        return Err(plain("the trace has no messages".to_owned()));
    }
    let mut mailboxes = vec![settings.mailbox; named.handlers.len()];
    for (handler, kind) in &settings.others {
        let Some(at) = named.handlers.iter().position(|name| name == handler) else {
            return Err(plain(format!("there is no handler `{handler}`, of which a mailbox is given")));
        };
        mailboxes[at] = *kind;
    }
    let rules = Rules { mailboxes, strict: settings.strict };
    let (answer, statistics) = mailbox::solve(&named.trace, &rules, &limits).map_err(|error| match error {
        mailbox::Error::Malformed(error) => plain(error.to_string()),
        mailbox::Error::NotReplayed(_) => Error::Internal(error.to_string()),
    })?;
    let found = match answer {
        mailbox::Answer::Consistent(schedule) => report::Found::Consistent(schedule),
        mailbox::Answer::Inconsistent if settings.explain => {
            report::Found::Inconsistent(mailbox::explain(&named.trace, &rules, &limits).map(|core| clash(&core)))
        }
        mailbox::Answer::Inconsistent => report::Found::Inconsistent(None),
        mailbox::Answer::Unknown => report::Found::Unknown(match deadline.passed() {
            Some(StopReason::Interrupted) => "it was interrupted".into(),
            _ => "the time limit was reached".into(),
        }),
    };
    let body = body(named, &rules, found, statistics);
    Ok(Answer { file: name.to_owned(), sources: Sources::default(), cost: meter.read(), body: Body::Mailbox(body) })
}

fn clash(core: &mailbox::Core) -> report::Clash {
    let tie = |edge: &mailbox::GivenEdge| {
        let (why, text) = match edge.why {
            Given::ReadsFrom => ("reads_from", "it is what that reads"),
            Given::Coherence => ("coherence", "the order of writes"),
            Given::FromRead => ("from_read", "that overwrites what it reads"),
            Given::Program => ("program_order", "the order within the message"),
            Given::Posted => ("posted", "it posts it"),
            Given::Mailbox => ("mailbox", "the mailbox"),
            Given::Said => ("said", "the trace says so"),
        };
        report::Tie { from: edge.from, to: edge.to, why, text }
    };
    report::Clash { ties: core.edges.iter().map(tie).collect(), minimal: core.minimal }
}

fn body(named: Named, rules: &Rules, found: report::Found, statistics: mailbox::Statistics) -> report::Mailbox {
    let kind = |mailbox: &Mailbox| match mailbox {
        Mailbox::Queue => "queue",
        Mailbox::Multiset => "multiset",
        Mailbox::Stack => "stack",
    };
    let Named { trace, handlers, messages, events } = named;
    let event = |(number, (words, line)): (usize, (String, u32))| report::Event {
        message: trace.events[number].message,
        words,
        line,
    };
    report::Mailbox {
        handlers: handlers.into_iter().zip(rules.mailboxes.iter().map(kind)).collect(),
        messages: messages.into_iter().zip(trace.messages.iter().map(|message| message.handler)).collect(),
        events: events.into_iter().enumerate().map(event).collect(),
        found,
        statistics: report::Statistics {
            pairs: statistics.pairs as u64,
            guesses: statistics.guesses as u64,
            open: statistics.open as u64,
            decisions: statistics.decisions,
            conflicts: statistics.conflicts,
        },
    }
}
