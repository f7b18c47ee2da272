//! What `lin --levels` has to say: how a history stands to each level of consistency, and why it does not have the next one.

use crate::answer::{Answer, Conclusion, Say};
use crate::html::page;
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::text::clean;
use crate::transactions::PICTURE;
use serde::Serialize;

/// The answer about the levels of a history.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The kind of object.
    pub object: String,
    /// How many operations there are.
    pub operations: usize,
    /// How many events there are.
    pub events: u64,
    /// Every level, the strongest first.
    pub levels: Vec<Level>,
}

/// How a history stands to a level.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its name.
    pub name: &'static str,
    /// How the history stands to it.
    pub conclusion: Conclusion,
    /// Why not, in a sentence.
    pub why: Option<String>,
    /// The operations that this is about.
    pub operations: Vec<Operation>,
    /// Whether each of them comes before the next and the last before the first.
    pub cycle: bool,
}

/// An operation.
#[derive(Clone, Debug, Serialize)]
pub struct Operation {
    /// Its number, in the order of the calls.
    pub id: usize,
    /// Who called it.
    pub process: String,
    /// What it did.
    pub words: String,
    /// The line of its call, 0 if there is none.
    pub call_line: u32,
}

impl Levels {
    fn strongest(&self) -> Option<&'static str> {
        self.levels.iter().find(|level| level.conclusion == Conclusion::Holds).map(|level| level.name)
    }

    fn headline(&self) -> String {
        let first = self.levels.first().map_or("", |level| level.name);
        match self.strongest() {
            Some(level) if level == first => level.to_owned(),
            Some(level) if self.conclusion() == Conclusion::Unknown => format!("{level}, and perhaps {first}"),
            Some(level) => format!("not {first}; {level}"),
            None => "none of the levels was shown".to_owned(),
        }
    }
}

impl Say for Levels {
    fn command(&self) -> &'static str {
        "lin"
    }

    fn conclusion(&self) -> Conclusion {
        self.levels.first().map_or(Conclusion::Unknown, |level| level.conclusion)
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word()).say(": ").say(self.headline()).end();
        let what = format!(
            "  {} history, {}, checked in {:.2} s",
            self.object,
            counted(self.operations as u64, "operation"),
            answer.cost.seconds
        );
        paper.say(what).end().say("  scope: this history").end();
        for level in &self.levels {
            let why = level.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
            paper.say(format!("  {:<18} {}{why}", level.name, level.conclusion.word())).end();
            for operation in &level.operations {
                let line =
                    if operation.call_line > 0 { format!(", line {}", operation.call_line) } else { String::new() };
                paper.say(format!("    {:<32} process {}{line}", operation.words, operation.process)).end();
            }
        }
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct LevelFields<'a> {
            level: &'static str,
            verdict: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a str>,
            #[serde(skip_serializing_if = "<[Operation]>::is_empty")]
            operations: &'a [Operation],
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            verdict: &'static str,
            scope: &'static str,
            object: &'a str,
            operations: usize,
            events: u64,
            strongest: Option<&'static str>,
            levels: Vec<LevelFields<'a>>,
        }
        let levels = self.levels.iter().map(|level| LevelFields {
            level: level.name,
            verdict: level.conclusion.word(),
            why: level.why.as_deref(),
            operations: &level.operations,
        });
        head.line(&Fields {
            verdict: self.conclusion().word(),
            scope: "this history",
            object: &self.object,
            operations: self.operations,
            events: self.events,
            strongest: self.strongest(),
            levels: levels.collect(),
        })
    }

    fn html(&self, _: &Answer) -> Option<String> {
        #[derive(Serialize)]
        struct Drawn {
            title: String,
            text: String,
            nodes: Vec<(usize, String)>,
            edges: Vec<(usize, usize, &'static str, String)>,
        }
        let drawn: Vec<Drawn> = self
            .levels
            .iter()
            .map(|level| {
                let ids: Vec<usize> = level.operations.iter().map(|operation| operation.id).collect();
                let next = ids.iter().cycle().skip(1);
                let edges = ids.iter().zip(next).filter(|_| level.cycle);
                Drawn {
                    title: format!("{}: {}", level.name, level.conclusion.word()),
                    text: clean(level.why.as_deref().unwrap_or("")),
                    nodes: level.operations.iter().map(|operation| (operation.id, clean(&operation.words))).collect(),
                    edges: edges.map(|(from, to)| (*from, *to, "before", String::new())).collect(),
                }
            })
            .collect();
        let text = format!("{}.", counted(self.operations as u64, "operation"));
        Some(page(&format!("{}: {}", self.object, self.headline()), &text, PICTURE, &drawn))
    }
}
