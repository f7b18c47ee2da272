//! What `memsys` has to say: whether all runs of a memory system satisfy a model, with a run that does not.

mod chart;
mod json;
mod text;

use crate::answer::{Answer, Conclusion, Say};
use crate::dot::{Graph, quote};
use crate::json::Head;
use crate::paper::Paper;

/// The answer about a memory system.
#[derive(Clone, Debug)]
pub struct Memsys {
    /// What the system calls itself.
    pub system: String,
    /// The model: `wra`, `ra` or `sra`.
    pub model: &'static str,
    /// Values that were given to parameters.
    pub parameters: Vec<(String, String)>,
    /// The names of its cores.
    pub cores: Vec<String>,
    /// How many locations and registers there are.
    pub locations: usize,
    /// How many registers there are.
    pub registers: usize,
    /// The names of its states, empty in the middle of a rule.
    pub states: Vec<String>,
    /// What it can do: from and to which state, and in words.
    pub transitions: Vec<(u32, u32, String)>,
    /// Facts of the saturation.
    pub facts: u64,
    /// Configurations of the observer, for two coherence edges, three and so on.
    pub configurations: Vec<u64>,
    /// What was found.
    pub found: Found,
    /// What is odd about the system, a sentence each.
    pub notes: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// All runs satisfy the model.
    Holds,
    /// This one does not.
    Violated(Violation),
    /// A limit was reached: "the time limit". No run has a cycle with so many coherence edges or fewer.
    Unknown {
        /// Which.
        limit: String,
        /// How many.
        edges: usize,
    },
}

/// A run that violates the model.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// Steps each of which is before the next, and the last before the first.
    pub cycle: Vec<Tie>,
    /// Whether no shorter run violates the model.
    pub shortest: bool,
}

/// A step of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of its transition.
    pub transition: u32,
    /// The rule that it belongs to, if there are rules.
    pub rule: Option<String>,
    /// What the machine does, in words.
    pub words: String,
    /// What it means to cores.
    pub kind: StepKind,
}

/// What a step means to cores. Writes are named w1, w2 and so on, in the order of the run.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// A core writes.
    Write {
        /// Who, by number.
        core: usize,
        /// What.
        location: String,
        /// The name of the write.
        write: String,
    },
    /// A core reads this write, or nothing that anybody wrote.
    Read {
        /// Who, by number.
        core: usize,
        /// What.
        location: String,
        /// The write.
        source: Option<String>,
    },
    /// The system moves a value.
    Move {
        /// The write that it comes from, if there is one.
        write: Option<String>,
        /// From which core to which other it gets with this step.
        between: Option<(usize, usize)>,
    },
    /// Nothing that concerns data.
    Idle,
}

/// One step is before another.
#[derive(Clone, Debug)]
pub struct Tie {
    /// The earlier one, in words.
    pub from: String,
    /// Why, as a stable name.
    pub why: &'static str,
    /// Why, in words.
    pub text: String,
}

impl Say for Memsys {
    fn command(&self) -> &'static str {
        "memsys"
    }

    fn conclusion(&self) -> Conclusion {
        match self.found {
            Found::Holds => Conclusion::Holds,
            Found::Violated(_) => Conclusion::Violated,
            Found::Unknown { .. } => Conclusion::Unknown,
        }
    }

    fn text(&self, answer: &Answer, paper: &mut Paper) {
        self.write_text(answer.cost, paper);
    }

    fn json(&self, head: Head<'_>) -> String {
        head.line(&self.fields())
    }

    /// The machine: a node for each state, the violating run in red.
    fn dot(&self) -> Option<String> {
        let mut graph = Graph::new("machine");
        let run: Vec<u32> = match &self.found {
            Found::Violated(violation) => violation.steps.iter().map(|step| step.transition).collect(),
            _ => Vec::new(),
        };
        for (number, name) in self.states.iter().enumerate() {
            let look = match (number, name.is_empty()) {
                (0, _) => ", penwidth=2",
                (_, true) => ", shape=point",
                _ => "",
            };
            graph.node(&format!("s{number}"), &name.replace(' ', "\n"), look);
        }
        for (number, (from, to, words)) in self.transitions.iter().enumerate() {
            let colour = if run.contains(&(number as u32)) { ", color=red, fontcolor=red, penwidth=2" } else { "" };
            graph.edge(&format!("s{from}"), &format!("s{to}"), &format!("label={}{colour}", quote(words)));
        }
        Some(graph.finish())
    }
}
