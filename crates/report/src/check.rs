//! What `check` has to say: whether some execution of the program breaks a property.

use crate::answer::{Answer, Conclusion, Cost, Say, Sources};
use crate::counterexample::{self, Counterexample};
use crate::dot;
use crate::excerpt::Problem;
use crate::json::Head;
use crate::numbers::{counted, grouped, short, time};
use crate::paper::Paper;
use crate::sarif;
use crate::style::{FAINT, HEAD};
use crate::text::clean;
use crate::walk;
use crate::witness::{self, Task};
use raddle_trace::{Model, Scope, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer about a program.
#[derive(Clone, Debug)]
pub struct Check {
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The verdict.
    pub verdict: Verdict,
    /// How far it reaches.
    pub scope: Scope,
    /// Under which memory model.
    pub model: Model,
    /// Found by which engine.
    pub engine: String,
    /// Distinct counterexamples, in the order they were found.
    pub counterexamples: Vec<Counterexample>,
    /// Whether the search went on after the first of them.
    pub all: bool,
    /// Complete executions.
    pub executions: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// The share of the search that was done, between 0 and 1.
    pub share_done: f64,
    /// Everything else that was counted, by name; what could have been and was not has no number.
    pub statistics: BTreeMap<String, Option<u64>>,
    /// What would bring the answer further, if it does not reach as far as it could.
    pub advice: Vec<String>,
    /// What a person should know beside the verdict.
    pub notes: Vec<String>,
}

impl Say for Check {
    fn command(&self) -> &'static str {
        "check"
    }

    fn conclusion(&self) -> Conclusion {
        self.verdict.into()
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let what = match (self.verdict, self.counterexamples.as_slice()) {
            (Verdict::Holds, _) => "no execution breaks a property",
            (Verdict::Violated, [] | [_]) => "an execution breaks a property",
            (Verdict::Violated, _) => "executions break properties",
            (Verdict::Unknown, _) if matches!(self.scope, Scope::Nothing { .. }) => {
                "no violation was found, but there was nothing to look at"
            }
            (Verdict::Unknown, _) => "no violation was found, but not everything was explored",
        };
        let given = with_parameters(&answer.file, &self.parameters);
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        paper.say(format!(": {given} under {}: {what}", self.model)).end();
        let number = self.counterexamples.len();
        for (at, counterexample) in self.counterexamples.iter().enumerate() {
            paper.end();
            if number > 1 {
                paper.paint(HEAD, format!("violation {} of {number}", at + 1)).end();
            }
            counterexample.text(&answer.sources, paper);
        }
        if number > 0 {
            paper.end();
        }
        let mut line = |word: &str, text: &str| {
            paper.paint(HEAD, format!("{word}:")).say(" ").say(text).end();
        };
        line("scope", &self.reach());
        self.advice.iter().for_each(|advice| line("help", advice));
        self.notes.iter().for_each(|note| line("note", note));
        paper.paint(FAINT, self.counts(answer.cost)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        head.line(&self.fields())
    }

    /// The run of the first counterexample.
    fn dot(&self) -> Option<String> {
        self.counterexamples.first().map(|first| dot::execution(&first.execution))
    }

    /// The same, to be walked through.
    fn html(&self, answer: &Answer) -> Option<String> {
        self.counterexamples.first().map(|first| walk::of(answer, first))
    }

    fn sarif(&self) -> Option<String> {
        Some(sarif::log(&self.counterexamples))
    }

    fn witness(&self, task: &Task, sources: &Sources) -> Option<String> {
        self.counterexamples.first().and_then(|first| witness::yaml(task, first, sources))
    }

    fn lines(&self, answer: &Answer) -> Option<String> {
        let mut lines: Vec<String> = self.counterexamples.iter().flat_map(|found| Problem::of(found).lines()).collect();
        lines.push(clean(&format!("{}: {}: {}", answer.file, self.conclusion().word(), self.reach())));
        Some(lines.join("\n") + "\n")
    }
}

/// The file with the values given to its parameters.
pub(crate) fn with_parameters(file: &str, parameters: &BTreeMap<String, String>) -> String {
    parameters.iter().fold(file.to_owned(), |given, (name, value)| format!("{given} {name}={value}"))
}

impl Check {
    /// What JSON says about it.
    pub(crate) fn fields(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            verdict: Verdict,
            scope: &'a Scope,
            model: Model,
            engine: &'a str,
            executions: u64,
            blocked: u64,
            share_done: f64,
            violation: Option<counterexample::Fields<'a>>,
            violations: Vec<counterexample::Fields<'a>>,
            statistics: &'a BTreeMap<String, Option<u64>>,
            advice: &'a [String],
            notes: &'a [String],
        }
        Fields {
            parameters: &self.parameters,
            verdict: self.verdict,
            scope: &self.scope,
            model: self.model,
            engine: &self.engine,
            executions: self.executions,
            blocked: self.blocked,
            share_done: self.share_done,
            violation: self.counterexamples.first().map(Counterexample::brief),
            violations: self.counterexamples.iter().map(Counterexample::full).collect(),
            statistics: &self.statistics,
            advice: &self.advice,
            notes: &self.notes,
        }
    }

    /// How far the verdict reaches, in words.
    pub(crate) fn reach(&self) -> String {
        match (&self.scope, self.verdict) {
            (_, Verdict::Violated) if !self.all => {
                "the search ended at the first violation; --all goes on and lists the distinct ones".into()
            }
            (scope, _) => scope.to_string(),
        }
    }

    /// Executions or states, time and memory in one line.
    pub(crate) fn counts(&self, cost: Cost) -> String {
        // Where states are looked at, executions are told apart by the state they end in.
        let states = self.statistics.get("states").copied().flatten();
        let ends = if states.is_some() { "end" } else { "execution" };
        let mut parts: Vec<String> = states.map(|states| counted(states, "state")).into_iter().collect();
        // A formula has no executions to count.
        let clauses = self.statistics.get("clauses").copied().flatten();
        match clauses {
            Some(clauses) => parts.push(counted(clauses, "clause")),
            None => parts.extend([counted(self.executions, ends), format!("{} blocked", grouped(self.blocked))]),
        }
        for (names, words) in [(&["failed"][..], "failed"), (&["bounded", "cut"], "cut off")] {
            let number: u64 = names.iter().filter_map(|name| *self.statistics.get(*name)?).sum();
            if number > 0 {
                parts.push(format!("{} {words}", grouped(number)));
            }
        }
        parts.push(time(cost.seconds));
        if cost.cpu_seconds >= 0.5 {
            let rate = states.unwrap_or(self.executions + self.blocked) as f64 / cost.cpu_seconds;
            let rate = if clauses.is_some() { String::new() } else { format!(" ({}/s)", short(rate)) };
            parts.push(format!("{} CPU{rate}", time(cost.cpu_seconds)));
        }
        parts.extend(cost.peak_memory());
        format!("{} (engine {})", parts.join(", "), self.engine)
    }
}
