//! What `lin --txn` has to say: at which isolation levels a history of transactions stands, with the anomalies and their cycles.

use crate::answer::{Answer, Conclusion, Say};
use crate::html::{Picture, page};
use crate::json::Head;
use crate::numbers::{counted, grouped};
use crate::paper::Paper;
use crate::text::clean;
use serde::Serialize;

/// The answer about a history of transactions.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// The workload: `list-append` or `rw-register`.
    pub workload: &'static str,
    /// The level that was asked for.
    pub level: &'static str,
    /// How the history stands to it.
    pub conclusion: Conclusion,
    /// How many transactions there are, and of how many nobody knows the end.
    pub transactions: usize,
    /// Of how many nobody knows the end.
    pub unknown: usize,
    /// How many events there are.
    pub events: u64,
    /// How many dependencies were inferred.
    pub dependencies: usize,
    /// Every level, from the weakest, and how the history stands to it.
    pub levels: Vec<(&'static str, Conclusion)>,
    /// What was found.
    pub anomalies: Vec<Anomaly>,
    /// An order in which the transactions could have run, by number, if one was found.
    pub order: Option<Vec<u32>>,
    /// Whether the time limit was reached before everything had been tried.
    pub stopped: bool,
}

/// Something that some level excludes.
#[derive(Clone, Debug, Serialize)]
pub struct Anomaly {
    /// Its name.
    pub name: String,
    /// The weakest level that excludes it.
    pub excluded_from: &'static str,
    /// What is wrong, in a sentence.
    pub text: String,
    /// The transactions.
    pub transactions: Vec<Transaction>,
    /// The dependencies of the cycle, if it is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Dependency>,
    /// If no order of the versions is without a cycle: cycles of which each order has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<Vec<Dependency>>,
}

/// A transaction.
#[derive(Clone, Debug, Serialize)]
pub struct Transaction {
    /// Its number, in the order of the calls.
    pub id: u32,
    /// Who ran it.
    pub process: String,
    /// What it did: `append(1, 2), read(3) = [4]`.
    pub words: String,
    /// The event of its call.
    pub call: u32,
    /// The event of its return.
    pub r#return: Option<u32>,
    /// The line of its call, 0 if there is none.
    pub call_line: u32,
    /// The line of its return, 0 if there is none.
    pub return_line: u32,
}

/// One dependency of a cycle.
#[derive(Clone, Debug, Serialize)]
pub struct Dependency {
    /// The transaction it leads from.
    pub from: u32,
    /// The transaction it leads to.
    pub to: u32,
    /// `ww`, `wr`, `rw` or `realtime`.
    pub kind: &'static str,
    /// Why it is there.
    pub text: String,
}

/// How many anomalies are shown to a person.
const SHOWN: usize = 8;

pub(crate) const PICTURE: Picture<'_> = Picture {
    style: include_str!("cycles.css"),
    tools: "",
    body: "<main id=\"cycles\"></main>\n",
    script: include_str!("cycles.js"),
};

impl Transactions {
    fn headline(&self) -> String {
        match self.conclusion {
            Conclusion::Holds => self.level.to_owned(),
            Conclusion::Violated => format!("not {}", self.level),
            _ if self.stopped => "the time limit was reached".to_owned(),
            _ => {
                format!(
                    "no anomaly was found that {} excludes, and no order of the versions that shows it, with the work allowed",
                    self.level
                )
            }
        }
    }

    /// How much there is.
    fn size(&self) -> String {
        let transactions = counted(self.transactions as u64, "transaction");
        let dependencies = match self.dependencies {
            1 => "1 dependency".to_owned(),
            many => format!("{} dependencies", grouped(many as u64)),
        };
        format!("{transactions} ({} of unknown end), {dependencies}", grouped(self.unknown as u64))
    }

    fn strongest(&self) -> Option<&'static str> {
        self.levels.iter().rev().find(|(_, conclusion)| *conclusion == Conclusion::Holds).map(|(level, _)| *level)
    }

    /// The anomalies that the level excludes, before others.
    fn sorted(&self) -> Vec<&Anomaly> {
        let place = |name: &str| self.levels.iter().position(|(level, _)| *level == name);
        let mut anomalies: Vec<&Anomaly> = self.anomalies.iter().collect();
        anomalies.sort_by_key(|anomaly| place(anomaly.excluded_from));
        anomalies
    }
}

impl Say for Transactions {
    fn command(&self) -> &'static str {
        "lin"
    }

    fn conclusion(&self) -> Conclusion {
        self.conclusion
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        paper.paint(self.conclusion.style(), self.conclusion.word()).say(": ").say(self.headline()).end();
        let size = self.size();
        paper.say(format!("  {} history, {size}, checked in {:.2} s", self.workload, answer.cost.seconds)).end();
        let levels: Vec<String> =
            self.levels.iter().map(|(level, conclusion)| format!("{level} {}", conclusion.word())).collect();
        paper.say(format!("  levels: {}", levels.join(", "))).end();
        if self.conclusion == Conclusion::Holds {
            let how = match self.order {
                Some(_) => "an order of the transactions was found and replayed",
                None => "an order of all versions was found without the cycles that the level excludes",
            };
            paper.say(format!("  scope: this history; {how}")).end();
        }
        for anomaly in self.sorted().into_iter().take(SHOWN) {
            paper
                .say(format!("  {} (excluded from {} on): {}", anomaly.name, anomaly.excluded_from, anomaly.text))
                .end();
            for txn in &anomaly.transactions {
                let lines = match (txn.call_line, txn.return_line) {
                    (0, _) => String::new(),
                    (call, 0) => format!(", line {call}"),
                    (call, ret) => format!(", lines {call} and {ret}"),
                };
                paper.say(format!("    T{}: {}  (process {}{lines})", txn.id, txn.words, txn.process)).end();
            }
            let mut say = |step: &Dependency, indent: &str| {
                paper.say(format!("{indent}T{} -{}-> T{}: {}", step.from, step.kind, step.to, step.text)).end();
            };
            anomaly.cycle.iter().for_each(|step| say(step, "    "));
            for cycle in anomaly.cycles.iter().take(SHOWN) {
                cycle
                    .iter()
                    .enumerate()
                    .for_each(|(first, step)| say(step, if first == 0 { "    - " } else { "      " }));
            }
            if anomaly.cycles.len() > SHOWN {
                paper.say(format!("    ... and {} more cycles (--json lists all)", anomaly.cycles.len() - SHOWN)).end();
            }
        }
        if self.anomalies.len() > SHOWN {
            paper.say(format!("  ... and {} more (--json lists all)", self.anomalies.len() - SHOWN)).end();
        }
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct LevelFields {
            level: &'static str,
            verdict: &'static str,
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            verdict: &'static str,
            scope: &'static str,
            workload: &'static str,
            level: &'static str,
            strongest: Option<&'static str>,
            transactions: usize,
            unknown: usize,
            events: u64,
            dependencies: usize,
            levels: Vec<LevelFields>,
            anomalies: &'a [Anomaly],
            #[serde(skip_serializing_if = "Option::is_none")]
            order: Option<&'a [u32]>,
        }
        let level =
            |(level, conclusion): &(&'static str, Conclusion)| LevelFields { level, verdict: conclusion.word() };
        head.line(&Fields {
            verdict: self.conclusion.word(),
            scope: "this history",
            workload: self.workload,
            level: self.level,
            strongest: self.strongest(),
            transactions: self.transactions,
            unknown: self.unknown,
            events: self.events,
            dependencies: self.dependencies,
            levels: self.levels.iter().map(level).collect(),
            anomalies: &self.anomalies,
            order: self.order.as_deref(),
        })
    }

    fn html(&self, _: &Answer) -> Option<String> {
        #[derive(Serialize)]
        struct Drawn {
            title: String,
            text: String,
            nodes: Vec<(u32, String)>,
            edges: Vec<(u32, u32, &'static str, String)>,
        }
        let drawn: Vec<Drawn> = self
            .sorted()
            .into_iter()
            .map(|anomaly| Drawn {
                title: format!("{} (excluded from {} on)", anomaly.name, anomaly.excluded_from),
                text: clean(&anomaly.text),
                nodes: anomaly.transactions.iter().map(|txn| (txn.id, clean(&txn.words))).collect(),
                edges: anomaly
                    .cycle
                    .iter()
                    .chain(anomaly.cycles.iter().flatten())
                    .map(|step| (step.from, step.to, step.kind, clean(&step.text)))
                    .collect(),
            })
            .collect();
        let levels: Vec<String> =
            self.levels.iter().map(|(level, conclusion)| format!("{level} {}", conclusion.word())).collect();
        let text = format!("{} transactions. Levels: {}.", self.transactions, levels.join(", "));
        Some(page(&format!("{}: {}", self.workload, self.headline()), &text, PICTURE, &drawn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let mut answer = Transactions {
            workload: "list-append",
            level: "serializable",
            conclusion: Conclusion::Holds,
            transactions: 1,
            unknown: 0,
            events: 2,
            dependencies: 1,
            levels: Vec::new(),
            anomalies: Vec::new(),
            order: None,
            stopped: false,
        };
        assert_eq!(answer.size(), "1 transaction (0 of unknown end), 1 dependency");
        (answer.transactions, answer.dependencies) = (2_000, 0);
        assert_eq!(answer.size(), "2,000 transactions (0 of unknown end), 0 dependencies");
    }
}
