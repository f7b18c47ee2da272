//! Histories of objects with a model of one's own: from a [`Model`] to the answer that `lin` gives.

use crate::cost::Meter;
use crate::error::Error;
use raddle_linear::certificate::replay;
use raddle_linear::history::Ts;
use raddle_linear::recorder::Made;
use raddle_linear::search::shrink::{Others, shrink};
use raddle_linear::search::{Budget, Entry, Found, Model, search};
use raddle_report::lin as report;
use raddle_report::{Answer, Body, Sources};
use std::sync::Arc;

/// What one question of an explanation may cost, in configurations.
const QUESTION: u64 = 20_000;

/// An operation of a history of one's own, with the process that called it. Times are numbers of events, all different.
#[derive(Debug)]
pub struct Called<M: Model> {
    /// The process.
    pub process: u32,
    /// What was called and answered, and when.
    pub entry: Entry<M>,
}

impl<M: Model> From<Made<M::Call, M::Ret>> for Called<M> {
    fn from(made: Made<M::Call, M::Ret>) -> Called<M> {
        let Made { process, call, ret, start, end, .. } = made;
        Called { process, entry: Entry { call, ret, start, end } }
    }
}

impl<M: Model> Clone for Called<M> {
    fn clone(&self) -> Called<M> {
        Called { process: self.process, entry: self.entry.clone() }
    }
}

/// Checks a history against a model; `name` is what the answer calls it. Calls and answers are shown as `Debug` has them.
///
/// # Errors
/// If Raddle finds a bug in itself.
pub fn lin_model<M: Model>(name: &str, model: &M, history: &[Called<M>], budget: Budget) -> Result<Answer, Error> {
    let meter = Meter::start();
    let mut history = history.to_vec();
    history.sort_by_key(|called| called.entry.start);
    let entries: Vec<Entry<M>> = history.iter().map(|called| called.entry.clone()).collect();
    let (found, spent) = search(model, &entries, budget);
    let found = match found {
        Found::Linearization(order) => {
            stands(model, &entries, &order).map_err(Error::Internal)?;
            report::Found::Linearizable(order)
        }
        Found::OutOfBudget(limit) => report::Found::Unknown(limit.to_string()),
        Found::None(window) => {
            let blocked = &entries[window.blocked];
            let mut explanation = report::Explanation {
                reason: "no-order",
                text: format!("No order of the operations explains {}.", words(blocked)),
                object: None,
                operations: (0..entries.len()).collect(),
                called: Vec::new(),
                others_pending: false,
                minimal: false,
                confirmed: true,
                since: None,
                before: window.before.into_iter().map(|(words, done)| report::State { words, done }).collect(),
                earliest: earliest(model, &entries, budget.at_most(QUESTION)),
            };
            if let Some(core) = shrink(model, &entries, budget.at_most(QUESTION)) {
                explanation.since = core.from.map(|since| report::Since {
                    event: entries[since.next].end.0,
                    state: report::State { words: since.state, done: since.done },
                });
                explanation.operations = core.ops;
                explanation.called = core.called;
                explanation.others_pending = core.others == Others::Pending;
                explanation.minimal = core.minimal;
            }
            report::Found::Not(Box::new(explanation))
        }
    };
    let ends = entries.iter().filter(|entry| entry.end != Ts::INF).count();
    let body = report::Lin {
        object: "model".to_owned(),
        events: (entries.len() + ends) as u64,
        parts: 1,
        engine: "search".to_owned(),
        configurations: spent.configurations,
        states: spent.states,
        found,
        hints: Vec::new(),
        operations: Arc::new(Listed(history.iter().map(listed).collect())),
    };
    let (file, sources, cost) = (name.to_owned(), Sources::default(), meter.read());
    Ok(Answer { file, sources, cost, body: Body::Lin(body) })
}

/// Checks a linearization again: against the model and against real time.
fn stands<M: Model>(model: &M, entries: &[Entry<M>], order: &[usize]) -> Result<(), String> {
    let steps = order.iter().map(|&at| (&entries[at].call, entries[at].ret.as_ref()));
    if let Some(position) = replay(model, steps) {
        return Err(format!(
            "the linearization does not stand: operation {} is not legal at its place",
            order[position]
        ));
    }
    let mut latest = Ts(0);
    for &at in order {
        if entries[at].end < latest {
            return Err(format!(
                "the linearization does not stand: operation {at} had returned before another was called"
            ));
        }
        latest = latest.max(entries[at].start);
    }
    let returned = |at: &usize| entries[*at].end != Ts::INF;
    let (placed, all) = (order.iter().filter(|at| returned(at)).count(), (0..entries.len()).filter(returned).count());
    if placed == all { Ok(()) } else { Err("the linearization leaves out an operation that returned".into()) }
}

/// After which return the history is wrong: a longer beginning of a history that is wrong is wrong too.
fn earliest<M: Model>(model: &M, entries: &[Entry<M>], budget: Budget) -> Option<report::Earliest> {
    let mut ends: Vec<Ts> = entries.iter().map(|entry| entry.end).filter(|end| *end != Ts::INF).collect();
    ends.sort_unstable();
    let mut exact = true;
    let first = ends.partition_point(|&last| {
        let called = entries.iter().filter(|entry| entry.start <= last);
        let beginning: Vec<Entry<M>> = called
            .map(|entry| match entry.end <= last {
                true => entry.clone(),
                false => Entry { ret: None, end: Ts::INF, ..entry.clone() },
            })
            .collect();
        let found = search(model, &beginning, budget).0;
        exact &= !matches!(found, Found::OutOfBudget(_));
        !matches!(found, Found::None(_))
    });
    ends.get(first).map(|event| report::Earliest { event: event.0, line: None, exact })
}

fn words<M: Model>(entry: &Entry<M>) -> String {
    match &entry.ret {
        Some(ret) => format!("{:?} = {ret:?}", entry.call),
        None => format!("{:?} = ?", entry.call),
    }
}

fn listed<M: Model>(called: &Called<M>) -> (report::Operation, String) {
    let Entry { start, end, .. } = called.entry;
    let ret = (end != Ts::INF).then_some(end.0);
    let operation = report::Operation { process: called.process, call: start.0, ret, call_line: 0, return_line: 0 };
    (operation, words(&called.entry))
}

/// Operations and their words.
#[derive(Debug)]
struct Listed(Vec<(report::Operation, String)>);

impl report::Operations for Listed {
    fn number(&self) -> usize {
        self.0.len()
    }

    fn operation(&self, id: usize) -> report::Operation {
        self.0[id].0
    }

    fn words(&self, id: usize) -> String {
        self.0[id].1.clone()
    }

    fn data(&self, id: usize) -> report::Data {
        let (operation, words) = &self.0[id];
        report::Data {
            process: operation.process.into(),
            key: None,
            method: "call",
            value: Some(words.clone().into()),
            new: None,
            result: None,
        }
    }

    fn process(&self, process: u32) -> String {
        process.to_string()
    }
}
