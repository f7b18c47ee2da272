//! A violation with the run that shows it.

use crate::answer::Sources;
use crate::excerpt::Problem;
use crate::names;
use crate::numbers::counted;
use crate::paper::Paper;
use crate::run;
use crate::style::HEAD;
use crate::unordered;
use raddle_trace::{Execution, Property, ThreadName, Violation, Waiting};
use serde::Serialize;

/// A replay command longer than this is not printed; the schedule goes into a file instead.
const LONG_COMMAND: usize = 2_000;

/// A violation with the run that shows it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What is violated.
    pub violation: Violation,
    /// The run.
    pub execution: Execution,
    /// What each thread waits for at its end, if nothing can move there.
    pub waiting: Vec<Waiting>,
    /// The command that replays it.
    pub replay: String,
}

impl Counterexample {
    /// With [short names](crate::names) for the objects of the run.
    pub fn new(mut violation: Violation, mut execution: Execution, mut waiting: Vec<Waiting>, replay: String) -> Self {
        let waits = waiting.iter_mut().map(|wait| &mut wait.what);
        names::shorten(&mut execution, std::iter::once(&mut violation.message).chain(waits));
        Counterexample { violation, execution, waiting, replay }
    }

    /// What is wrong, the run, how to see it again.
    pub(crate) fn text(&self, sources: &Sources, paper: &mut Paper) {
        paper.problem(&Problem::of(self), sources).end();
        self.run(paper);
    }

    /// The run and how to see it again.
    pub(crate) fn run(&self, paper: &mut Paper) {
        run::table(&self.execution, &self.waiting, paper);
        let why = unordered::sentences(&self.execution);
        if !why.is_empty() {
            paper.end();
        }
        for sentence in why {
            paper.paint(HEAD, "note:").say(format!(" {sentence}")).end();
        }
        paper.end().paint(HEAD, "replay:").say(" ");
        if self.replay.len() <= LONG_COMMAND {
            paper.say(&self.replay);
        } else {
            let steps = counted(self.violation.schedule.steps.len() as u64, "step");
            paper.say(format!(
                "the schedule has {steps}; --save-schedule FILE keeps it, and `raddle replay` takes @FILE"
            ));
        }
        paper.end();
    }

    /// What JSON says about it, without the run.
    pub(crate) fn brief(&self) -> Fields<'_> {
        let waiting = self.waiting.iter().map(|wait| WaitingFields {
            thread: wait.thread,
            r#for: &wait.what,
            file: &wait.place.file,
            line: wait.place.line,
        });
        Fields {
            property: self.violation.property,
            message: &self.violation.message,
            file: &self.violation.place.file,
            line: self.violation.place.line,
            column: self.violation.place.column,
            waiting: waiting.collect(),
            why: unordered::sentences(&self.execution),
            schedule: self.violation.schedule.to_string(),
            replay: &self.replay,
            execution: None,
        }
    }

    /// The same with the run.
    pub(crate) fn full(&self) -> Fields<'_> {
        Fields { execution: Some(&self.execution), ..self.brief() }
    }
}

/// A violation in JSON.
#[derive(Serialize)]
pub(crate) struct Fields<'a> {
    property: Property,
    message: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    waiting: Vec<WaitingFields<'a>>,
    why: Vec<String>,
    schedule: String,
    replay: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<&'a Execution>,
}

#[derive(Serialize)]
struct WaitingFields<'a> {
    thread: ThreadName,
    r#for: &'a str,
    file: &'a str,
    line: u32,
}
