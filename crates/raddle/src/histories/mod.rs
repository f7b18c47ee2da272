//! `lin`: is this history linearizable?

mod levels;
mod own;
mod transactions;
mod words;

use crate::cost::Meter;
use crate::error::Error;
use raddle_linear::decide::{self, Decided};
use raddle_linear::history::{History, OpId};
use raddle_linear::object::ObjectKind;
use raddle_linear::search::shrink::Others;
use raddle_linear::stream::{StreamVerdict, Streamed};
use raddle_linear::value::{Value, ValueId};
use raddle_linear::verdict::{Explanation, Reason, Verdict, line_of};
use raddle_report::lin as report;
use raddle_report::{Answer, Body, Cost, Sources, stream};
use std::io::Read;
use std::sync::Arc;
use words::{sentence, words};

pub use levels::lin_levels;
pub use own::{Called, lin_model};
pub use raddle_linear::decide::Settings;
pub use transactions::lin_transactions;

/// Reads a history and checks it; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted history, the settings do not fit it, or Raddle finds a bug in itself.
pub fn lin(name: &str, input: impl Read, settings: &Settings) -> Result<Answer, Error> {
    let meter = Meter::start();
    let decided = decide::decide(input, settings).map_err(|error| Error::of_history(error, name))?;
    Ok(answer(name, decided, meter.read()))
}

/// Checks a history while it is being read, in bounded memory, and stops at the first violation.
///
/// # Errors
/// As for [`lin`].
pub fn lin_stream(name: &str, input: impl Read, settings: &Settings) -> Result<Answer, Error> {
    let meter = Meter::start();
    let streamed = decide::watch(input, settings).map_err(|error| Error::of_history(error, name))?;
    let Streamed { kind, operations, events, peak, verdict } = streamed;
    let found = match verdict {
        StreamVerdict::Holds => stream::Found::Linearizable,
        StreamVerdict::Violated { line, event, message } => stream::Found::Not { line, event, message },
        StreamVerdict::Unknown(why) => stream::Found::Unknown(why),
    };
    let body = Body::Stream(stream::Stream { object: kind.to_string(), operations, events, held: peak, found });
    Ok(Answer { file: name.to_owned(), sources: Sources::default(), cost: meter.read(), body })
}

/// The answer about a history that was checked.
pub fn answer(name: &str, decided: Decided, cost: Cost) -> Answer {
    let Decided { kind, history, report: found } = decided;
    let recorded = Recorded { kind, history };
    let body = report::Lin {
        object: kind.to_string(),
        events: u64::from(recorded.history.events),
        parts: found.parts,
        engine: found.engine.to_owned(),
        configurations: found.statistics.configurations,
        states: found.statistics.states,
        found: match found.verdict {
            Verdict::Holds(order) => report::Found::Linearizable(numbers(&order)),
            Verdict::Violated(explanation) => report::Found::Not(Box::new(recorded.explain(&explanation))),
            Verdict::Unknown(why) => report::Found::Unknown(why),
        },
        hints: found.hints,
        operations: Arc::new(recorded),
    };
    Answer { file: name.to_owned(), sources: Sources::default(), cost, body: Body::Lin(body) }
}

fn numbers(ids: &[OpId]) -> Vec<usize> {
    ids.iter().map(|id| id.index()).collect()
}

/// A history, for a report that asks for few of its operations.
#[derive(Debug)]
struct Recorded {
    kind: ObjectKind,
    history: History,
}

impl Recorded {
    fn id(id: usize) -> OpId {
        OpId(u32::try_from(id).expect("a history numbers its operations so"))
    }

    fn json(&self, value: ValueId) -> serde_json::Value {
        json(self.history.value(value))
    }

    fn given(&self, value: ValueId) -> Option<serde_json::Value> {
        (value != ValueId::NIL).then(|| self.json(value))
    }

    fn explain(&self, found: &Explanation) -> report::Explanation {
        let history = &self.history;
        report::Explanation {
            reason: found.reason.name(),
            text: sentence(self, &found.reason),
            object: self.given(found.place).map(|value| (history.value(found.place).to_string(), value)),
            operations: numbers(&found.ops),
            called: numbers(&found.called),
            others_pending: found.others == Others::Pending,
            minimal: found.minimal,
            confirmed: found.confirmed,
            since: found.from.as_ref().map(|since| report::Since {
                event: history.op(since.next).ret.0,
                state: report::State { words: since.state.clone(), done: numbers(&since.done) },
            }),
            before: match &found.reason {
                Reason::NoOrder { before, .. } => before
                    .iter()
                    .map(|(state, done)| report::State { words: state.clone(), done: numbers(done) })
                    .collect(),
                _ => Vec::new(),
            },
            earliest: found.earliest.map(|earliest| report::Earliest {
                event: earliest.event.0,
                line: line_of(&history.ops, earliest.event),
                exact: earliest.exact,
            }),
        }
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Nil => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Text(text) => (**text).into(),
        Value::List(items) => items.iter().map(json).collect(),
    }
}

impl report::Operations for Recorded {
    fn number(&self) -> usize {
        self.history.ops.len()
    }

    fn operation(&self, id: usize) -> report::Operation {
        let op = self.history.op(Self::id(id));
        report::Operation {
            process: op.process.0,
            call: op.call.0,
            ret: (!op.is_pending()).then_some(op.ret.0),
            call_line: op.call_line,
            return_line: op.ret_line,
        }
    }

    fn words(&self, id: usize) -> String {
        words(self, self.history.op(Self::id(id)))
    }

    fn data(&self, id: usize) -> report::Data {
        let op = self.history.op(Self::id(id));
        report::Data {
            process: self.json(op.process),
            key: self.given(op.place),
            method: self.kind.method_name(op.method),
            value: self.given(op.arg),
            new: self.given(op.arg2),
            result: op.result.map(|result| self.json(result)),
        }
    }

    fn process(&self, process: u32) -> String {
        self.history.value(ValueId(process)).to_string()
    }
}
