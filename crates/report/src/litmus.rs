//! What `check` has to say about a litmus test: whether its claim is true, and which final states there are.

use crate::answer::{Answer, Conclusion, Say};
use crate::check::Check;
use crate::dot;
use crate::json::Head;
use crate::numbers::{counted, grouped};
use crate::paper::Paper;
use crate::style::{FAINT, HEAD};
use raddle_trace::Verdict;
use serde::Serialize;

/// The answer about a litmus test.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// The name of the test.
    pub name: String,
    /// In which language its threads are.
    pub flavour: String,
    /// What it says about its final states.
    pub claim: String,
    /// How often its file says that the condition is satisfied, if it does: that is what is decided then.
    pub expectation: Option<String>,
    /// What was looked for, and whether it was found.
    pub ending: Ending,
    /// What final states consist of.
    pub observed: Vec<String>,
    /// All final states, if they were asked for and no property is violated.
    pub states: Option<Vec<FinalState>>,
    /// Whether they are shown to a person.
    pub show_states: bool,
    /// Everything else; its counterexample is a witness if it shows that the claim is true.
    pub check: Check,
}

/// How the search for a final state that decides the claim ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// There is one, which the counterexample shows: it satisfies the condition of `exists` and `~exists`, and does not satisfy that of `forall`.
    Reached,
    /// There is none, as far as was looked.
    NotReached,
    /// A property is violated, so that final states mean nothing.
    Broken,
}

/// A final state.
#[derive(Clone, Debug, Serialize)]
pub struct FinalState {
    /// The values of what is observed.
    pub values: Vec<String>,
    /// Whether it satisfies the condition.
    pub satisfies: bool,
    /// How many executions end in it.
    pub executions: u64,
}

impl Litmus {
    /// How often the condition is satisfied, if that is known.
    fn observation(&self) -> Option<&'static str> {
        let states = self.states.as_ref().filter(|states| !states.is_empty())?;
        let [yes, no] = [true, false].map(|kind| states.iter().any(|state| state.satisfies == kind));
        Some(match (yes, no) {
            (true, true) => "Sometimes",
            (true, false) => "Always",
            _ => "Never",
        })
    }

    /// What came out, in words.
    fn words(&self) -> &'static str {
        let forall = self.claim.starts_with("forall") && self.expectation.is_none()
            || self.expectation.as_deref() == Some("Always");
        match (self.ending, self.check.verdict) {
            (Ending::Broken, _) => "an execution breaks a property, so final states mean nothing",
            (Ending::Reached, _) if forall => "an execution ends otherwise",
            (Ending::Reached, _) => "an execution ends so",
            (Ending::NotReached, Verdict::Unknown) => "not decided, since not everything was explored",
            (Ending::NotReached, _) if forall => "every execution ends so",
            (Ending::NotReached, _) => "no execution ends so",
        }
    }

    fn states(&self, paper: &mut Paper) {
        let Some(states) = self.states.as_ref().filter(|_| self.show_states) else { return };
        paper.paint(HEAD, format!("{}:", counted(states.len() as u64, "final state"))).end();
        let total: u64 = states.iter().map(|state| state.executions).sum();
        let width = grouped(total).len();
        for state in states {
            let pairs = self.observed.iter().zip(&state.values).map(|(name, value)| format!("{name}={value};"));
            let mark = if state.satisfies { "*" } else { " " };
            let line = format!("{:>width$} {mark} {}", grouped(state.executions), pairs.collect::<Vec<_>>().join(" "));
            paper.say(format!("  {}", line.trim_end())).end();
        }
        if let Some(observation) = self.observation() {
            let positive: u64 = states.iter().filter(|state| state.satisfies).map(|state| state.executions).sum();
            paper.paint(HEAD, "observation:");
            paper.say(format!(" {observation} (in {} of {} executions)", grouped(positive), grouped(total))).end();
        }
    }
}

impl Say for Litmus {
    fn command(&self) -> &'static str {
        "check"
    }

    fn conclusion(&self) -> Conclusion {
        self.check.verdict.into()
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word());
        paper.say(format!(": {} under {}: {}: {}", answer.file, self.check.model, self.claim, self.words())).end();
        if let Some(expected) = &self.expectation {
            paper.paint(HEAD, "expected:").say(format!(" {expected}, as the file says")).end();
        }
        for counterexample in &self.check.counterexamples {
            paper.end();
            if self.ending == Ending::Reached && self.check.verdict == Verdict::Holds {
                counterexample.run(paper);
            } else {
                counterexample.text(&answer.sources, paper);
            }
        }
        if !self.check.counterexamples.is_empty() {
            paper.end();
        }
        self.states(paper);
        let scope = match self.ending {
            Ending::Reached => "the search ended at the first such execution".to_owned(),
            Ending::Broken => "the search ended at the first violation".to_owned(),
            Ending::NotReached => self.check.reach(),
        };
        let mut line = |word: &str, text: &str| {
            paper.paint(HEAD, format!("{word}:")).say(" ").say(text).end();
        };
        line("scope", &scope);
        self.check.advice.iter().for_each(|advice| line("help", advice));
        self.check.notes.iter().for_each(|note| line("note", note));
        paper.paint(FAINT, self.check.counts(answer.cost)).end();
    }

    fn json(&self, head: Head<'_>) -> String {
        #[derive(Serialize)]
        struct TestFields<'a> {
            name: &'a str,
            flavour: &'a str,
            claim: &'a str,
            expected: Option<&'a str>,
            reached: Option<bool>,
            observation: Option<&'a str>,
            observed: &'a [String],
            states: Option<&'a [FinalState]>,
        }
        #[derive(Serialize)]
        struct Fields<'a, C> {
            #[serde(flatten)]
            check: C,
            litmus: TestFields<'a>,
        }
        let litmus = TestFields {
            name: &self.name,
            flavour: &self.flavour,
            claim: &self.claim,
            expected: self.expectation.as_deref(),
            reached: match (self.ending, self.check.verdict) {
                (Ending::Reached, _) => Some(true),
                (Ending::NotReached, Verdict::Unknown) | (Ending::Broken, _) => None,
                (Ending::NotReached, _) => Some(false),
            },
            observation: self.observation(),
            observed: &self.observed,
            states: self.states.as_deref(),
        };
        head.line(&Fields { check: self.check.fields(), litmus })
    }

    /// The run of the witness or counterexample.
    fn dot(&self) -> Option<String> {
        self.check.counterexamples.first().map(|first| dot::execution(&first.execution))
    }

    /// The same, to be walked through.
    fn html(&self, answer: &Answer) -> Option<String> {
        self.check.html(answer)
    }
}
