//! The face of an engine.

use crate::control::Control;
use crate::limits::Deadline;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::shorten::shortened;
use crate::switches::Switch;
use raddle_machine::{Code, ReplayError};
use raddle_trace::{Place, Property};
use std::fmt;
use thiserror::Error;

/// Somebody who can say whether a program has an execution that breaks a property.
///
/// An engine is a value without state of its own: all it needs is in the question. It says what it is, which programs
/// it takes, and answers. Its switches, help, place in comparisons and in the tables of the book all come from here.
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in a line, for the help and the book.
    fn summary(&self) -> &'static str;

    /// By what it tells executions apart.
    fn equivalence(&self) -> Equivalence;

    /// What `--engine-option` can set.
    fn switches(&self) -> &'static [Switch] {
        &[]
    }

    /// Whether it takes the program, as far as can be told before any work.
    ///
    /// # Errors
    /// If it does not: why, and where.
    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal>;

    /// Looks for an execution that breaks a property, among programs that it [`takes`](Engine::takes). Ends when everything has been
    /// looked at, at the first violation (unless [`Options::all`]), or when the deadline has passed; the outcome says which.
    ///
    /// # Errors
    /// If no verdict can be given at all.
    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault>;
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl dyn Engine {
    /// Asks the engine: refuses what it does not take, and runs it. The clock starts now. What is wrong is shown by runs without needless steps.
    ///
    /// # Errors
    /// If no verdict can be given.
    pub fn ask(&self, question: &Question<'_>, control: &Control) -> Result<Outcome, Fault> {
        self.takes(question)?;
        let mut outcome = self.run(question, &Deadline::new(question.options.limits, control))?;
        let findings = std::mem::take(&mut outcome.findings);
        outcome.findings = findings.into_iter().map(|finding| shortened(question, finding)).collect();
        Ok(outcome)
    }
}

/// Refuses programs with mailboxes, for engines that do not know them.
///
/// # Errors
/// If messages are posted.
pub fn without_mailboxes(name: &str, question: &Question<'_>) -> Result<(), Refusal> {
    match question.code.first_post() {
        None => Ok(()),
        Some(place) => {
            let instead = "`--engine optimal` and `--engine explicit` do";
            Err(Refusal::of(format!("the engine `{name}` does not know mailboxes; {instead}"), place))
        }
    }
}

/// What an engine is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The program, ready to run.
    pub code: &'q Code,
    /// What to look for, under which model.
    pub options: &'q Options,
}

impl Question<'_> {
    /// Whether data races are looked for and there can be any.
    pub fn looks_for_races(&self) -> bool {
        self.options.properties.contains(Property::Race) && self.code.may_race()
    }
}

impl Equivalence {
    /// Whether an engine counts executions by this, rather than states or what another engine counts.
    pub fn has_classes(self) -> bool {
        !matches!(self, Equivalence::States | Equivalence::Delegated)
    }
}

/// By what an engine tells executions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// Program order, reads-from and coherence: Mazurkiewicz traces under SC, Shasha-Snir traces under TSO and PSO.
    Traces,
    /// Program order and reads-from.
    ReadsFrom,
    /// At least by program order and reads-from, at most by coherence beside.
    Refined,
    /// Values and the causal order of reads.
    ReadsValueFrom,
    /// The same, and the order of conflicting events outside one thread.
    ValueCentric,
    /// It does not: it looks at states, each once.
    States,
    /// It depends: another engine does the work.
    Delegated,
}

/// Why an engine does not take a program.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct Refusal {
    /// What it does not take, and what would.
    pub message: String,
    /// Where; line 0 if it is the program as a whole.
    pub place: Place,
    /// What would help: these accesses, made in pieces of so many bytes.
    pub pieces: Vec<(Place, u8)>,
}

impl Refusal {
    /// A refusal that points at a place.
    pub fn of(message: impl Into<String>, place: Place) -> Self {
        Refusal { message: message.into(), place, pieces: Vec::new() }
    }

    /// A refusal that points at an instruction.
    pub fn at(code: &Code, pc: u32, message: impl Into<String>) -> Self {
        Refusal::of(message, code.place(pc))
    }

    /// A refusal of the program as a whole, which points at no line of it.
    pub fn whole(code: &Code, message: impl Into<String>) -> Self {
        Refusal::of(message, Place { line: 0, ..code.place(0) })
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, Error)]
pub enum Fault {
    /// The program does something this engine cannot handle.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A violation did not replay: a bug in Raddle, not a verdict.
    #[error("internal error: a violation found by the engine does not replay: {0}")]
    NotReplayed(String),
}

impl From<ReplayError> for Fault {
    fn from(error: ReplayError) -> Self {
        Fault::NotReplayed(error.to_string())
    }
}
