//! `lin --txn`: at which isolation level does a history of transactions stand?

use super::Settings;
use crate::cost::Meter;
use crate::error::Error;
use raddle_linear::decide;
use raddle_linear::history::Ts;
use raddle_linear::txn::graph::EdgeKind;
use raddle_linear::txn::levels::excluded_from;
use raddle_linear::txn::{Anomaly, Level, Micro, Outcome, Phenomenon, Seen, Standing, Step, Transactions, Workload};
use raddle_linear::value::ValueId;
use raddle_report::transactions as report;
use raddle_report::{Answer, Body, Conclusion, Sources};
use std::io::Read;

/// Reads a history of transactions and says whether it stands at a level; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not a history of this workload, or Raddle finds a bug in itself.
pub fn lin_transactions(
    name: &str,
    input: impl Read,
    settings: &Settings,
    workload: Workload,
    level: Level,
) -> Result<Answer, Error> {
    let meter = Meter::start();
    let (history, checked) =
        decide::transactions(input, settings, workload).map_err(|error| Error::of_history(error, name))?;
    let levels: Vec<(&'static str, Conclusion)> =
        checked.levels.iter().map(|(level, standing)| (level.name(), conclusion(*standing))).collect();
    let asked = checked.levels.iter().find(|(other, _)| *other == level);
    let words = Words { history: &history, workload };
    let body = report::Transactions {
        workload: workload.name(),
        level: level.name(),
        conclusion: asked.map_or(Conclusion::Unknown, |(_, standing)| conclusion(*standing)),
        transactions: history.txns.len(),
        unknown: history.txns.iter().filter(|txn| txn.outcome == Outcome::Unknown).count(),
        events: u64::from(history.events),
        dependencies: checked.edges,
        levels,
        anomalies: checked.anomalies.iter().map(|anomaly| words.anomaly(anomaly)).collect(),
        order: checked.order,
        stopped: checked.stopped,
    };
    let (file, sources, cost) = (name.to_owned(), Sources::default(), meter.read());
    Ok(Answer { file, sources, cost, body: Body::Transactions(body) })
}

fn conclusion(standing: Standing) -> Conclusion {
    match standing {
        Standing::Holds => Conclusion::Holds,
        Standing::Violated => Conclusion::Violated,
        Standing::Open => Conclusion::Unknown,
    }
}

struct Words<'a> {
    history: &'a Transactions,
    workload: Workload,
}

impl Words<'_> {
    fn value(&self, value: ValueId) -> String {
        const SHOWN: usize = 60;
        let text = self.history.values.get(value).to_string();
        if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain("...".chars()).collect() }
    }

    fn list(&self, list: (u32, u32)) -> String {
        const SHOWN: usize = 12;
        let list = self.history.list(list);
        let words: Vec<String> = list.iter().rev().take(SHOWN).rev().map(|value| self.value(*value)).collect();
        format!("[{}{}]", if list.len() > SHOWN { "... " } else { "" }, words.join(" "))
    }

    fn transaction(&self, id: u32) -> report::Transaction {
        let write = if self.workload == Workload::ListAppend { "append" } else { "write" };
        let words = self.history.parts(id).iter().map(|micro| match *micro {
            Micro::Write(key, value) => format!("{write}({}, {})", self.value(key), self.value(value)),
            Micro::Read(key, Seen::Unknown) => format!("read({}) = ?", self.value(key)),
            Micro::Read(key, Seen::Value(value)) => format!("read({}) = {}", self.value(key), self.value(value)),
            Micro::Read(key, Seen::List(from, to)) => format!("read({}) = {}", self.value(key), self.list((from, to))),
        });
        let txn = &self.history.txns[id as usize];
        let aborted = if txn.outcome == Outcome::Aborted { " (aborted)" } else { "" };
        report::Transaction {
            id,
            process: self.value(txn.process),
            words: words.collect::<Vec<_>>().join(", ") + aborted,
            call: txn.call.0,
            r#return: (txn.ret != Ts::INF).then_some(txn.ret.0),
            call_line: txn.call_line,
            return_line: txn.ret_line,
        }
    }

    fn step(&self, step: &Step) -> report::Dependency {
        let Step { from, to, kind, key, value } = *step;
        let key = self.value(key);
        let version = if value == ValueId::NIL { "the first version".into() } else { self.value(value) };
        let text = match kind {
            EdgeKind::Ww => format!("T{to} wrote key {key} after T{from} had written {version}"),
            EdgeKind::Wr => format!("T{to} read {version} of key {key}, which T{from} wrote"),
            EdgeKind::Rw | EdgeKind::Through => format!("T{from} read {version} of key {key}, which T{to} overwrote"),
            EdgeKind::Realtime => format!("T{from} had returned before T{to} was called"),
        };
        report::Dependency { from, to, kind: kind.name(), text }
    }

    fn anomaly(&self, anomaly: &Anomaly) -> report::Anomaly {
        let (key, value) = (self.value(anomaly.key), self.value(anomaly.value));
        let txn = |at: usize| anomaly.txns.get(at).map_or(String::new(), |id| format!("T{id}"));
        let text = match anomaly.phenomenon {
            Phenomenon::Unwritten => format!("{} read {value} of key {key}, which nobody wrote.", txn(0)),
            Phenomenon::Duplicate => format!("{} read the element {value} of key {key} twice.", txn(0)),
            Phenomenon::Incompatible => {
                format!("{} and {} read lists of key {key} of which neither begins with the other.", txn(0), txn(1))
            }
            Phenomenon::Internal => {
                format!("What {} read of key {key} contradicts what it had itself read or written.", txn(0))
            }
            Phenomenon::G1a => {
                format!("{} read {value} of key {key}, and {}, which wrote it, was aborted.", txn(1), txn(0))
            }
            Phenomenon::G1b => {
                format!("{} read {value} of key {key}, which {} itself overwrote.", txn(1), txn(0))
            }
            Phenomenon::LostUpdate => {
                format!("{} and {} read the same version of key {key} and both wrote it.", txn(0), txn(1))
            }
            Phenomenon::G0 => "Writes are mixed: each of these comes before the next.".into(),
            Phenomenon::G1c => "Each of these was read or overwritten by the next.".into(),
            Phenomenon::GSingle => "One of these did not see what it depends on.".into(),
            Phenomenon::GNonadjacent => "Some of these, no two in a row, did not see what they depend on.".into(),
            Phenomenon::G2Item => "No order: each of these comes before the next.".into(),
            Phenomenon::NoOrder(_) if anomaly.cases.len() == 1 => {
                "No order of the versions is without this cycle.".into()
            }
            Phenomenon::NoOrder(_) => "Whatever the order of the versions, there is one of these cycles.".into(),
        };
        report::Anomaly {
            name: format!("{}{}", anomaly.phenomenon.name(), if anomaly.realtime { "-realtime" } else { "" }),
            excluded_from: excluded_from(anomaly).name(),
            text,
            transactions: anomaly.txns.iter().map(|&id| self.transaction(id)).collect(),
            cycle: anomaly.cycle.iter().map(|step| self.step(step)).collect(),
            cycles: anomaly.cases.iter().map(|case| case.iter().map(|step| self.step(step)).collect()).collect(),
        }
    }
}
