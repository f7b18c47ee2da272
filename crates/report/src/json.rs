//! The answer as one JSON object on one line.
//!
//! The schema is described in the book (`docs/json.md`) and in `docs/json-schema.json`. Fields may be added; what is there
//! keeps its name and meaning as long as [`SCHEMA`] stays the same.

use crate::answer::{Answer, Counterexample};
use crate::excerpt::Problem;
use crate::human::printed;
use raddle_trace::{Execution, Model, Property, Scope, ThreadName, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// The answer of `raddle check`.
pub fn answer(answer: &Answer, version: &str) -> String {
    #[derive(Serialize)]
    struct Object<'a> {
        schema: u32,
        version: &'a str,
        file: &'a str,
        parameters: &'a BTreeMap<String, String>,
        verdict: Verdict,
        scope: &'a Scope,
        model: Model,
        engine: &'a str,
        executions: u64,
        blocked: u64,
        share_done: f64,
        seconds: f64,
        cpu_seconds: f64,
        peak_memory_bytes: Option<u64>,
        violation: Option<ViolationObject<'a>>,
        violations: Vec<ViolationObject<'a>>,
        statistics: &'a BTreeMap<String, u64>,
        advice: &'a [String],
        notes: &'a [String],
    }
    line(&Object {
        schema: SCHEMA,
        version,
        file: &answer.file,
        parameters: &answer.parameters,
        verdict: answer.verdict,
        scope: &answer.scope,
        model: answer.model,
        engine: &answer.engine,
        executions: answer.executions,
        blocked: answer.blocked,
        share_done: answer.share_done,
        seconds: answer.cost.seconds,
        cpu_seconds: answer.cost.cpu_seconds,
        peak_memory_bytes: answer.cost.peak_memory_bytes,
        violation: answer.counterexamples.first().map(ViolationObject::brief),
        violations: answer.counterexamples.iter().map(ViolationObject::full).collect(),
        statistics: &answer.statistics,
        advice: &answer.advice,
        notes: &answer.notes,
    })
}

/// The answer of `raddle replay`.
pub fn replayed(file: &str, execution: &Execution, found: Option<&Counterexample>, version: &str) -> String {
    #[derive(Serialize)]
    struct Object<'a> {
        schema: u32,
        version: &'a str,
        file: &'a str,
        model: Model,
        violation: Option<ViolationObject<'a>>,
        execution: &'a Execution,
        printed: Vec<&'a str>,
    }
    line(&Object {
        schema: SCHEMA,
        version,
        file,
        model: execution.model,
        violation: found.map(ViolationObject::brief),
        execution,
        printed: printed(execution).collect(),
    })
}

/// Something wrong with an input, or an internal error. The first problem is also given as `error`.
pub fn error(problems: &[Problem], version: &str) -> String {
    #[derive(Clone, Serialize)]
    struct Entry<'a> {
        message: &'a str,
        file: Option<&'a str>,
        line: Option<u32>,
        column: Option<u32>,
        help: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Object<'a> {
        schema: u32,
        version: &'a str,
        error: Option<Entry<'a>>,
        errors: Vec<Entry<'a>>,
    }
    fn entry(problem: &Problem) -> Entry<'_> {
        let mark = problem.marks.first();
        let known = mark.filter(|mark| mark.line > 0);
        Entry {
            message: &problem.message,
            file: mark.map(|mark| mark.file.as_str()),
            line: known.map(|mark| mark.line),
            column: known.map(|mark| mark.column),
            help: problem.help.as_deref(),
        }
    }
    let errors: Vec<Entry<'_>> = problems.iter().map(entry).collect();
    line(&Object { schema: SCHEMA, version, error: errors.first().cloned(), errors })
}

#[derive(Serialize)]
struct ViolationObject<'a> {
    property: Property,
    message: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    waiting: Vec<WaitingObject<'a>>,
    schedule: String,
    replay: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<&'a Execution>,
}

#[derive(Serialize)]
struct WaitingObject<'a> {
    thread: ThreadName,
    r#for: &'a str,
    file: &'a str,
    line: u32,
}

impl<'a> ViolationObject<'a> {
    fn brief(counterexample: &'a Counterexample) -> Self {
        let Counterexample { violation, waiting, replay, .. } = counterexample;
        let waiting = waiting.iter().map(|wait| WaitingObject {
            thread: wait.thread,
            r#for: &wait.what,
            file: &wait.place.file,
            line: wait.place.line,
        });
        ViolationObject {
            property: violation.property,
            message: &violation.message,
            file: &violation.place.file,
            line: violation.place.line,
            column: violation.place.column,
            waiting: waiting.collect(),
            schedule: violation.schedule.to_string(),
            replay,
            execution: None,
        }
    }

    fn full(counterexample: &'a Counterexample) -> Self {
        ViolationObject { execution: Some(&counterexample.execution), ..ViolationObject::brief(counterexample) }
    }
}

/// The object on a line of its own.
pub(crate) fn line(object: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string(object).expect("no map with keys that are not strings, no number out of range");
    text.push('\n');
    text
}
