//! The verdict for a program: one JSON object with a stable schema, described in the book.

use std::io::{self, Write};

use serde::Serialize;

use super::{Context, method_name, sentence};
use crate::history::{OpId, Ts};
use crate::search::shrink::Others;
use crate::stream::{StreamVerdict, Streamed};
use crate::value::{Value, ValueId};
use crate::verdict::{Reason, Verdict, line_of};

#[derive(Serialize)]
struct Answer<'a> {
    verdict: &'static str,
    scope: &'static str,
    object: String,
    operations: usize,
    pending: usize,
    events: u32,
    parts: usize,
    engine: &'static str,
    seconds: f64,
    search: Search,
    #[serde(skip_serializing_if = "Option::is_none")]
    linearization: Option<Vec<Operation<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explained<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct Search {
    configurations: u64,
    states: u64,
}

#[derive(Serialize)]
struct Operation<'a> {
    id: u32,
    process: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a Value>,
    f: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    call: u32,
    #[serde(rename = "return")]
    ret: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_line: Option<u32>,
}

#[derive(Serialize)]
struct Explained<'a> {
    reason: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a Value>,
    operations: Vec<Operation<'a>>,
    others: &'static str,
    minimal: bool,
    confirmed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    called: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_state: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    from_done: Vec<Operation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states_before: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earliest_prefix: Option<Prefix>,
}

#[derive(Serialize)]
struct Prefix {
    event: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    exact: bool,
}

fn operation<'a>(context: &Context<'a>, id: OpId) -> Operation<'a> {
    let history = context.history;
    let op = history.op(id);
    let given = |value: ValueId| (value != ValueId::NIL).then(|| history.value(value));
    Operation {
        id: id.0,
        process: history.value(op.process),
        key: given(op.place),
        f: method_name(context.kind, op.method),
        value: given(op.arg),
        new: given(op.arg2),
        result: op.result.map(|result| history.value(result)),
        call: op.call.0,
        ret: (!op.is_pending()).then_some(op.ret.0),
        call_line: (op.call_line > 0).then_some(op.call_line),
        return_line: (op.ret_line > 0).then_some(op.ret_line),
    }
}

/// Writes the verdict.
pub fn write(context: &Context<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (history, report) = (context.history, context.report);
    let mut answer = Answer {
        verdict: "unknown",
        scope: "this history",
        object: context.kind.to_string(),
        operations: history.ops.len(),
        pending: history.ops.iter().filter(|op| op.is_pending()).count(),
        events: history.events,
        parts: report.parts,
        engine: report.engine,
        seconds: context.seconds,
        search: Search { configurations: report.statistics.configurations, states: report.statistics.states },
        linearization: None,
        explanation: None,
        hints: &report.hints,
        why: None,
    };
    match &report.verdict {
        Verdict::Holds(order) => {
            answer.verdict = "holds";
            answer.linearization = Some(order.iter().map(|id| operation(context, *id)).collect());
        }
        Verdict::Unknown(why) => answer.why = Some(why),
        Verdict::Violated(found) => {
            answer.verdict = "violated";
            let states_before = match &found.reason {
                Reason::NoOrder { before, .. } => before.iter().map(|(state, _)| state.as_str()).collect(),
                _ => Vec::new(),
            };
            answer.explanation = Some(Explained {
                reason: found.reason.name(),
                text: sentence(context, &found.reason),
                object: (found.place != ValueId::NIL).then(|| history.value(found.place)),
                operations: found.ops.iter().map(|id| operation(context, *id)).collect(),
                others: match found.others {
                    Others::Absent => "absent",
                    Others::Pending => "pending",
                },
                called: found.called.iter().map(|id| operation(context, *id)).collect(),
                minimal: found.minimal,
                confirmed: found.confirmed,
                from_state: found.from.as_ref().map(|since| since.state.as_str()),
                from_done: found.from.iter().flat_map(|since| &since.done).map(|id| operation(context, *id)).collect(),
                states_before,
                earliest_prefix: found.earliest.map(|earliest| {
                    let Ts(event) = earliest.event;
                    Prefix { event, line: line_of(&history.ops, earliest.event), exact: earliest.exact }
                }),
            });
        }
    }
    let mut out = io::BufWriter::new(out);
    serde_json::to_writer(&mut out, &answer)?;
    writeln!(out)?;
    out.flush()
}

#[derive(Serialize)]
struct StreamAnswer<'a> {
    verdict: &'static str,
    scope: &'static str,
    object: String,
    operations: u64,
    events: u64,
    engine: &'static str,
    seconds: f64,
    held_at_most: usize,
    linearization: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<StreamExplained<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct StreamExplained<'a> {
    text: &'a str,
    event: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// Writes the verdict on a stream.
pub fn write_streamed(streamed: &Streamed, seconds: f64, out: &mut dyn Write) -> io::Result<()> {
    let answer = StreamAnswer {
        verdict: streamed.outcome().word(),
        scope: "this history, as far as it was read",
        object: streamed.kind.to_string(),
        operations: streamed.operations,
        events: streamed.events,
        engine: "stream",
        seconds,
        held_at_most: streamed.peak,
        linearization: None,
        explanation: match &streamed.verdict {
            StreamVerdict::Violated { line, event, message } => {
                Some(StreamExplained { text: message, event: *event, line: (*line > 0).then_some(*line) })
            }
            _ => None,
        },
        why: match &streamed.verdict {
            StreamVerdict::Unknown(why) => Some(why),
            _ => None,
        },
    };
    serde_json::to_writer(&mut *out, &answer)?;
    writeln!(out)
}
