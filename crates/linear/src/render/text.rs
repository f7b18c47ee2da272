//! The verdict for a person: first the answer, then why.

use std::io::{self, Write};

use super::{Context, sentence, words};
use crate::history::{OpId, Ts};
use crate::search::shrink::{Others, Since};
use crate::stream::{StreamVerdict, Streamed};
use crate::value::ValueId;
use crate::verdict::{Explanation, Reason, Verdict, line_of};

/// How many operations are listed before the rest is counted.
const LISTED: usize = 24;

/// Writes the verdict.
pub fn write(context: &Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let history = context.history;
    let report = context.report;
    let what = format!(
        "{} history, {} operations ({} pending), checked by the {} in {:.2} s",
        context.kind,
        history.ops.len(),
        history.ops.iter().filter(|op| op.is_pending()).count(),
        if report.engine == "search" { "general checker" } else { report.engine },
        context.seconds
    );
    match &report.verdict {
        Verdict::Holds(order) => {
            writeln!(out, "holds: linearizable")?;
            writeln!(out, "  {what}")?;
            writeln!(out, "  scope: this history; a linearization was found and checked again:")?;
            list(context, order, out)?;
        }
        Verdict::Unknown(why) => {
            writeln!(out, "unknown: {why}")?;
            writeln!(out, "  {what}")?;
        }
        Verdict::Violated(explanation) => {
            writeln!(out, "violated: not linearizable")?;
            writeln!(out, "  {what}")?;
            explain(context, explanation, out)?;
            for hint in &report.hints {
                writeln!(out, "  hint: {hint}")?;
            }
        }
    }
    if report.statistics.configurations > 0 {
        let spent = report.statistics;
        writeln!(out, "  searched {} configurations, {} states", spent.configurations, spent.states)?;
    }
    Ok(())
}

fn list(context: &Context<'_>, ops: &[OpId], out: &mut dyn Write) -> io::Result<()> {
    for id in ops.iter().take(LISTED) {
        let op = context.history.op(*id);
        let end = if op.is_pending() { "never".to_string() } else { op.ret.0.to_string() };
        let mut place = format!("events {}..{end}", op.call.0);
        if op.call_line > 0 {
            place.push_str(&match op.ret_line {
                0 => format!(", line {}", op.call_line),
                line if line == op.call_line => format!(", line {line}"),
                line => format!(", lines {} and {line}", op.call_line),
            });
        }
        let process = context.history.value(op.process);
        writeln!(out, "    {:<32} process {process}, {place}", words(context, op))?;
    }
    if ops.len() > LISTED {
        writeln!(out, "    ... and {} more (--json lists all)", ops.len() - LISTED)?;
    }
    Ok(())
}

/// Operations that had taken effect before they returned.
fn taken(context: &Context<'_>, done: &[OpId]) -> String {
    let done: Vec<String> = done.iter().map(|id| words(context, context.history.op(*id))).collect();
    if done.is_empty() { String::new() } else { format!(" (already in effect: {})", done.join(", ")) }
}

fn explain(context: &Context<'_>, explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    if explanation.place != ValueId::NIL {
        writeln!(out, "  object: {}", context.history.value(explanation.place))?;
    }
    writeln!(out, "  {}", sentence(context, &explanation.reason))?;
    if let Reason::NoOrder { before, .. } = &explanation.reason {
        for (state, done) in before {
            let state: String = state.chars().take(120).collect();
            writeln!(out, "  just before, the object may have been: {state}{}", taken(context, done))?;
        }
    }
    if let Some(Since { next, state, done }) = &explanation.from {
        let state: String = state.chars().take(120).collect();
        let op = context.history.op(*next);
        writeln!(
            out,
            "  just before event {} the object may be taken to have been: {state}{}",
            op.ret.0,
            taken(context, done)
        )?;
    }
    let others = match explanation.others {
        Others::Absent => "whatever else happened",
        Others::Pending => "even if every other operation may have taken effect or not, at any time after its call",
    };
    let size = match (explanation.minimal, explanation.ops.len()) {
        (_, 1) => "this operation cannot be explained",
        (true, _) => "these operations cannot be ordered, and none of them can be spared",
        (false, _) => "these operations cannot be ordered",
    };
    let sure = if explanation.confirmed { "; the general checker agrees" } else { "" };
    writeln!(out, "  {others}, {size}{sure}:")?;
    list(context, &explanation.ops, out)?;
    if !explanation.called.is_empty() {
        writeln!(out, "  of these only the calls count; they may have taken effect at any time after, or never:")?;
        list(context, &explanation.called, out)?;
    }
    if let Some(earliest) = explanation.earliest {
        let Ts(event) = earliest.event;
        let line =
            line_of(&context.history.ops, earliest.event).map_or(String::new(), |line| format!(" (line {line})"));
        let exact = if earliest.exact { "; before it was not" } else { ", at the latest" };
        writeln!(out, "  the history is wrong from event {event}{line} on{exact}")?;
    }
    Ok(())
}

/// Writes the verdict on a stream.
pub fn write_streamed(streamed: &Streamed, seconds: f64, out: &mut dyn Write) -> io::Result<()> {
    match &streamed.verdict {
        StreamVerdict::Holds => writeln!(out, "holds: linearizable")?,
        StreamVerdict::Violated { line, event, message } => {
            writeln!(out, "violated: not linearizable")?;
            if *line > 0 {
                writeln!(out, "  at line {line} (event {event}): {message}")?;
            } else {
                writeln!(out, "  at the end: {message}")?;
            }
        }
        StreamVerdict::Unknown(why) => writeln!(out, "unknown: {why}")?,
    }
    writeln!(
        out,
        "  {} history, {} operations read as a stream in {seconds:.2} s, at most {} things held at once",
        streamed.kind, streamed.operations, streamed.peak
    )
}
