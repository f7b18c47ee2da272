//! What `replay` has to say: what a schedule does, and whether it breaks a property.

use crate::answer::{Answer, Conclusion, Say};
use crate::counterexample::{self, Counterexample};
use crate::excerpt::Problem;
use crate::json::Head;
use crate::paper::Paper;
use crate::style::HEAD;
use crate::{dot, run, walk};
use raddle_trace::execution::Entry;
use raddle_trace::{Execution, Model};
use serde::Serialize;

/// A run that was asked for.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The run.
    pub execution: Execution,
    /// What went wrong last.
    pub counterexample: Option<Counterexample>,
}

impl Say for Replay {
    fn command(&self) -> &'static str {
        "replay"
    }

    fn conclusion(&self) -> Conclusion {
        if self.counterexample.is_some() { Conclusion::Violated } else { Conclusion::Holds }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let style = self.conclusion().style();
        let waiting = match &self.counterexample {
            Some(found) => {
                paper.paint(style, "violated").say(": the schedule breaks a property").end().end();
                paper.problem(&Problem::of(found), &answer.sources);
                &found.waiting[..]
            }
            None => {
                paper.paint(style, "ends").say(": the schedule breaks no property").end();
                &[]
            }
        };
        paper.end();
        run::table(&self.execution, waiting, paper);
        let mut printed = self.printed().peekable();
        if printed.peek().is_some() {
            paper.end().paint(HEAD, "the program printed:").end();
        }
        for line in printed {
            paper.say("  ").say(line.trim_end()).end();
        }
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            model: Model,
            violation: Option<counterexample::Fields<'a>>,
            execution: &'a Execution,
            printed: Vec<&'a str>,
        }
        head.line(&Fields {
            model: self.execution.model,
            violation: self.counterexample.as_ref().map(Counterexample::brief),
            execution: &self.execution,
            printed: self.printed().collect(),
        })
    }

    fn dot(&self) -> Option<String> {
        Some(dot::execution(&self.execution))
    }

    fn html(&self, answer: &Answer) -> Option<String> {
        let text = format!("{} under {}. A schedule that was replayed.", answer.file, self.execution.model);
        Some(match &self.counterexample {
            Some(found) => walk::of(answer, found),
            None => walk::run(answer, "a run that breaks no property", &text, (&self.execution, &[]), &[]),
        })
    }
}

impl Replay {
    /// What the threads printed, in order.
    fn printed(&self) -> impl Iterator<Item = &str> {
        let lines = self.execution.steps.iter().filter_map(|step| match step {
            Entry::Event { printed, .. } => Some(printed),
            _ => None,
        });
        lines.flatten().map(String::as_str)
    }
}
