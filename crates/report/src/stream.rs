//! What `lin --stream` has to say: whether a history is linearizable as far as it was read.

use crate::answer::{Answer, Conclusion, Say};
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use serde::Serialize;

/// The answer about a history of which nothing is kept.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The kind of object.
    pub object: String,
    /// How many operations were called.
    pub operations: u64,
    /// How many events were read.
    pub events: u64,
    /// The most things held at once.
    pub held: usize,
    /// What was found.
    pub found: Found,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Linearizable.
    Linearizable,
    /// Not linearizable.
    Not {
        /// The line of the input at which that was known; 0 if it was known only at the end.
        line: u32,
        /// The number of the event.
        event: u32,
        /// What is wrong.
        message: String,
    },
    /// It could not be decided; why.
    Unknown(String),
}

impl Say for Stream {
    fn command(&self) -> &'static str {
        "lin"
    }

    fn conclusion(&self) -> Conclusion {
        match self.found {
            Found::Linearizable => Conclusion::Holds,
            Found::Not { .. } => Conclusion::Violated,
            Found::Unknown(_) => Conclusion::Unknown,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word()).say(": ");
        match &self.found {
            Found::Linearizable => paper.say("linearizable").end(),
            Found::Not { line: 0, message, .. } => {
                paper.say("not linearizable").end().say(format!("  at the end: {message}")).end()
            }
            Found::Not { line, event, message } => {
                paper.say("not linearizable").end().say(format!("  at line {line} (event {event}): {message}")).end()
            }
            Found::Unknown(why) => paper.say(why).end(),
        };
        let what = format!(
            "  {} history, {} read as a stream in {:.2} s, at most {} held at once",
            self.object,
            counted(self.operations, "operation"),
            answer.cost.seconds,
            counted(self.held as u64, "thing")
        );
        paper.say(what).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct ExplanationFields<'a> {
            text: &'a str,
            event: u32,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<u32>,
        }
        #[derive(Serialize)]
        struct Fields<'a> {
            verdict: &'static str,
            scope: &'static str,
            object: &'a str,
            operations: u64,
            events: u64,
            engine: &'static str,
            held_at_most: usize,
            linearization: Option<()>,
            #[serde(skip_serializing_if = "Option::is_none")]
            explanation: Option<ExplanationFields<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a str>,
        }
        head.line(&Fields {
            verdict: self.conclusion().word(),
            scope: "this history, as far as it was read",
            object: &self.object,
            operations: self.operations,
            events: self.events,
            engine: "stream",
            held_at_most: self.held,
            linearization: None,
            explanation: match &self.found {
                Found::Not { line, event, message } => {
                    Some(ExplanationFields { text: message, event: *event, line: (*line > 0).then_some(*line) })
                }
                _ => None,
            },
            why: match &self.found {
                Found::Unknown(why) => Some(why),
                _ => None,
            },
        })
    }
}
