//! What `robust` has to say: whether a program does under TSO what it could not do without store buffers, and which fences would keep it from that.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::with_parameters;
use crate::json::Head;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::style::{FAINT, HEAD};
use crate::wording::Wording;
use crate::{dot, run};
use raddle_trace::{EventName, Execution, Place};
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer about a program's robustness.
#[derive(Clone, Debug)]
pub struct Robust {
    /// The values given to its parameters.
    pub parameters: BTreeMap<String, String>,
    /// What can be delayed past what; nothing if the program is robust.
    pub attacks: Vec<Delay>,
    /// The run that shows the first.
    pub witness: Option<Witness>,
    /// What fences are looked for.
    pub purpose: Purpose,
    /// Sets of fences that are enough for that, each of least cost, if they were asked for.
    pub fences: Option<Vec<Vec<Spot>>>,
    /// A unified diff that puts the fences into the text, if it was asked for; empty if none are needed.
    pub patch: Option<String>,
    /// How many states were looked at.
    pub states: u64,
    /// How many sets of fences were tried.
    pub tried: u64,
    /// The limit that was reached, if one was.
    pub limit: Option<String>,
    /// What a person should know beside it.
    pub notes: Vec<String>,
}

/// What fences are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// No execution under TSO but those of SC.
    Robustness,
    /// No property is violated under TSO.
    Safety,
}

/// A place in the program, and the line there.
#[derive(Clone, Debug, Serialize)]
pub struct Spot {
    /// Where.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// What to put before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert: Option<String>,
}

impl Spot {
    /// The place, with what to put there.
    pub fn new(place: &Place, insert: Option<&str>) -> Self {
        let Place { file, line, text, .. } = place;
        Spot { file: file.to_string(), line: *line, text: text.to_string(), insert: insert.map(str::to_owned) }
    }

    fn words(&self) -> String {
        format!("{}:{} `{}`", self.file, self.line, self.text)
    }
}

/// A store that can be delayed past a load.
#[derive(Clone, Debug, Serialize)]
pub struct Delay {
    /// The store.
    pub store: Spot,
    /// The load.
    pub load: Spot,
}

/// A run that no run without store buffers is like.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The run.
    pub execution: Execution,
    /// The events that come before each other in a circle, each with why the next one comes after it.
    pub cycle: Vec<(EventName, &'static str)>,
    /// The command that shows it again.
    pub replay: String,
}

/// How many lines a patch adds.
fn lines_of(patch: &str) -> String {
    let added = patch.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).count();
    counted(added as u64, "line")
}

impl Say for Robust {
    fn command(&self) -> &'static str {
        "robust"
    }

    fn conclusion(&self) -> Conclusion {
        match (self.attacks.as_slice(), &self.limit) {
            ([_, ..], _) => Conclusion::Violated,
            ([], Some(_)) => Conclusion::Unknown,
            ([], None) => Conclusion::Holds,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let what = match self.conclusion() {
            Conclusion::Holds => "robust: every execution under tso is one of sc",
            Conclusion::Violated => "not robust: an execution under tso is none of sc",
            _ => "no such execution was found, but not everything was explored",
        };
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        paper.say(format!(": {}: {what}", with_parameters(&answer.file, &self.parameters))).end();
        if let Some(witness) = &self.witness {
            paper.end();
            run::table(&witness.execution, &[], paper);
            let wording = Wording::new(&witness.execution);
            let events = witness.cycle.iter().map(|(event, _)| wording.name(*event));
            let next = events.clone().cycle().skip(1);
            let links: Vec<String> =
                witness.cycle.iter().zip(next).map(|((_, because), next)| format!("{because} {next}")).collect();
            let first = events.clone().next().unwrap_or_default();
            paper.end().paint(HEAD, "cycle:").say(format!(" {first} {}", links.join(", which "))).end();
            paper.paint(HEAD, "replay:").say(" ").say(&witness.replay).end().end();
        }
        let mut line = |word: &str, text: &str| {
            paper.paint(HEAD, format!("{word}:")).say(" ").say(text).end();
        };
        for Delay { store, load } in &self.attacks {
            line("delay", &format!("the store {} can be late for the load {}", store.words(), load.words()));
        }
        for (at, set) in self.fences.iter().flatten().enumerate() {
            let or = if at == 0 { "" } else { "or " };
            for spot in set {
                let insert = spot.insert.as_deref().unwrap_or("a full fence");
                line("fence", &format!("{or}`{insert}` before {}", spot.words()));
            }
        }
        if self.purpose == Purpose::Safety && self.fences.iter().flatten().any(Vec::is_empty) {
            line("fence", "none is needed for the properties to hold under tso");
        }
        if let Some(patch) = &self.patch {
            let what = if self.purpose == Purpose::Safety { "the properties hold under tso" } else { "robust" };
            let text = match patch.as_str() {
                "" => "no line is to be changed".to_owned(),
                _ => format!("{} added; the edited text was checked again: {what}", lines_of(patch)),
            };
            line("patch", &text);
        }
        if let Some(limit) = &self.limit {
            line("scope", limit);
        }
        self.notes.iter().for_each(|note| line("note", note));
        let mut parts = vec![counted(self.states, "state")];
        if self.tried > 0 {
            parts.push(format!("{} of fences tried", counted(self.tried, "set")));
        }
        paper.paint(FAINT, answer.cost.after(parts)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct Fields<'a> {
            parameters: &'a BTreeMap<String, String>,
            verdict: &'static str,
            attacks: &'a [Delay],
            execution: Option<&'a Execution>,
            cycle: Vec<String>,
            replay: Option<&'a str>,
            fences_for: Purpose,
            fences: Option<&'a [Vec<Spot>]>,
            patch: Option<&'a str>,
            states: u64,
            tried: u64,
            limit: Option<&'a str>,
            notes: &'a [String],
        }
        let cycle = self.witness.iter().flat_map(|witness| {
            let wording = Wording::new(&witness.execution);
            witness.cycle.iter().map(move |(event, because)| format!("{} {because}", wording.name(*event)))
        });
        head.line(&Fields {
            parameters: &self.parameters,
            verdict: self.conclusion().word(),
            attacks: &self.attacks,
            execution: self.witness.as_ref().map(|witness| &witness.execution),
            cycle: cycle.collect(),
            replay: self.witness.as_ref().map(|witness| witness.replay.as_str()),
            fences_for: self.purpose,
            fences: self.fences.as_deref(),
            patch: self.patch.as_deref(),
            states: self.states,
            tried: self.tried,
            limit: self.limit.as_deref(),
            notes: &self.notes,
        })
    }

    fn dot(&self) -> Option<String> {
        self.witness.as_ref().map(|witness| dot::execution(&witness.execution))
    }
}
