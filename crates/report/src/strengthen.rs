//! What `strengthen` has to say: the weakest memory orders and fences for which a program keeps its properties.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::with_parameters;
use crate::counterexample::{self, Counterexample};
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::style::{FAINT, HEAD};
use raddle_trace::Model;
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer about a program's orderings.
#[derive(Clone, Debug)]
pub struct Strengthen {
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// Under which memory model.
    pub model: Model,
    /// How the search ended.
    pub end: End,
    /// How many places have an ordering.
    pub sites: usize,
    /// How many of them have to be more than relaxed.
    pub needed: usize,
    /// What differs from the program as it stands.
    pub changes: Vec<Change>,
    /// The same as a unified diff.
    pub diff: String,
    /// What shows that no orderings are enough.
    pub counterexample: Option<Counterexample>,
    /// How many checks were made.
    pub checks: u64,
    /// How far the check of what is reported reaches.
    pub scope: String,
    /// The limit that was reached, if one was.
    pub limit: Option<String>,
    /// What a person should know beside it.
    pub notes: Vec<String>,
}

/// How the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Orderings that are enough, and none of them can be weaker.
    Minimal,
    /// Orderings that are enough; a limit was reached before it was known whether they can be weaker.
    Enough,
    /// The program is wrong whatever its orderings.
    BrokenUnderSc,
    /// The program is right under SC, and no orderings and fences that were tried are enough.
    NotFound,
    /// A limit was reached before anything was found.
    Open,
}

/// An ordering that is another one than in the program as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Where.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// A load, a store, an update, a fence.
    pub what: String,
    /// What it is; nothing if it is a fence to be added.
    pub from: Option<String>,
    /// What it becomes; nothing if it is a fence that is not needed.
    pub to: Option<String>,
    /// Whether that is stronger.
    pub stronger: bool,
}

impl Strengthen {
    fn words(&self) -> String {
        let raised = self.changes.iter().filter(|change| change.stronger).count();
        match (self.end, self.changes.len()) {
            (End::BrokenUnderSc, _) => {
                "no ordering mends it: an execution breaks a property under sc with every ordering seq_cst".into()
            }
            (End::NotFound, _) => "no orderings and fences were found that are enough".into(),
            (End::Open, _) => "a limit was reached before any orderings were known to be enough".into(),
            (_, 0) => "the orderings are enough as they are".into(),
            (_, changes) => {
                format!("{} ({raised} stronger, {} weaker)", counted(changes as u64, "change"), changes - raised)
            }
        }
    }
}

impl Say for Strengthen {
    fn command(&self) -> &'static str {
        "strengthen"
    }

    fn conclusion(&self) -> Conclusion {
        match self.end {
            End::Minimal | End::Enough => Conclusion::Holds,
            End::BrokenUnderSc | End::NotFound => Conclusion::Violated,
            End::Open => Conclusion::Unknown,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        let given = with_parameters(&answer.file, &self.parameters);
        paper.say(format!(": {given} under {}: {}", self.model, self.words())).end();
        for change in &self.changes {
            let Change { file, line, text, what, from, to, .. } = change;
            let becomes = match (from, to) {
                (Some(from), Some(to)) => format!("{what}: {from} → {to}"),
                (None, Some(to)) => format!("{what} {to} behind it"),
                (_, None) => format!("{what} is not needed"),
            };
            paper.say(format!("  {file}:{line}: {becomes}    {text}")).end();
        }
        if !self.diff.is_empty() {
            paper.end();
            self.diff.lines().for_each(|line| {
                paper.say(line).end();
            });
            paper.end();
        }
        if let Some(counterexample) = &self.counterexample {
            paper.end();
            counterexample.text(&answer.sources, paper);
            paper.end();
        }
        let mut line = |word: &str, text: &str| {
            paper.paint(HEAD, format!("{word}:")).say(" ").say(text).end();
        };
        match self.end {
            End::Minimal if self.needed == 0 => line("minimal", "every ordering is relaxed, and no fence is needed"),
            End::Minimal => line(
                "minimal",
                "none of them can be weakened: every single weaker ordering was checked and is violated",
            ),
            End::Enough => {
                line("minimal", "not known: a limit was reached, and some orderings may be stronger than needed")
            }
            _ => {}
        }
        if matches!(self.end, End::Minimal | End::Enough) {
            line("scope", &self.scope);
        }
        self.limit.iter().for_each(|limit| line("limit", limit));
        self.notes.iter().for_each(|note| line("note", note));
        let parts = vec![counted(self.sites as u64, "ordering"), counted(self.checks, "check")];
        paper.paint(FAINT, answer.cost.after(parts)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            verdict: &'a str,
            model: Model,
            end: End,
            orderings: usize,
            needed: usize,
            changes: &'a [Change],
            diff: &'a str,
            violation: Option<counterexample::Fields<'a>>,
            checks: u64,
            scope: &'a str,
            limit: Option<&'a str>,
            notes: &'a [String],
        }
        head.line(&Fields {
            parameters: &self.parameters,
            verdict: self.conclusion().word(),
            model: self.model,
            end: self.end,
            orderings: self.sites,
            needed: self.needed,
            changes: &self.changes,
            diff: &self.diff,
            violation: self.counterexample.as_ref().map(Counterexample::full),
            checks: self.checks,
            scope: &self.scope,
            limit: self.limit.as_deref(),
            notes: &self.notes,
        })
    }
}
