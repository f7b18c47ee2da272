//! The answer to one question, before it is put into words.

use raddle_trace::{Execution, Model, Place, Scope, ThreadName, Verdict, Violation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything there is to say.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The program, as the user named it.
    pub file: String,
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
    /// Everything else that was counted, by name.
    pub statistics: BTreeMap<String, u64>,
    /// What would bring the answer further, if it does not reach as far as it could.
    pub advice: Vec<String>,
    /// What a person should know beside the verdict.
    pub notes: Vec<String>,
    /// What it cost.
    pub cost: Cost,
}

/// Time and memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Time that went by.
    pub seconds: f64,
    /// Processor time of all workers.
    pub cpu_seconds: f64,
    /// The most memory the process held at once, if the system tells.
    pub peak_memory_bytes: Option<u64>,
}

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

/// A thread that waits for something that never comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadName,
    /// For what: "the mutex m", "T1 to end".
    pub what: String,
    /// Where in the source.
    pub place: Place,
}

/// The texts that places point into, by the name of their file.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: BTreeMap<Arc<str>, Arc<str>>,
}

impl Sources {
    /// The text of a file, if it is known.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file).map(|text| &**text)
    }
}

impl<N: Into<Arc<str>>, T: Into<Arc<str>>> FromIterator<(N, T)> for Sources {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(files: I) -> Self {
        Sources { files: files.into_iter().map(|(name, text)| (name.into(), text.into())).collect() }
    }
}
