//! The verdict on a memory system for a person: first the answer, then why.

use super::{Found, Memsys, Violation};
use crate::answer::{Cost, Say};
use crate::numbers::{counted, time};
use crate::paper::Paper;

impl Memsys {
    pub(super) fn write_text(&self, cost: Cost, paper: &mut Paper) {
        let model = self.model.to_uppercase();
        let what = match &self.found {
            Found::Holds => format!("every run of this system is {model}"),
            Found::Violated(_) => format!("this run of the system is not {model}"),
            Found::Unknown { limit, .. } => format!("{limit} was reached"),
        };
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word()).say(format!(": {what}")).end();
        let parameters: String = self.parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let count = |number: usize, noun: &str| counted(number as u64, noun);
        let states = self.states.len();
        let sizes = [
            count(self.cores.len(), "core"),
            count(self.locations, "location"),
            count(self.registers, "register"),
            count(states, "state"),
            count(self.transitions.len(), "transition"),
        ];
        paper.say(format!("  {}{parameters}: {}", self.system, sizes.join(", "))).end();
        paper.say(format!("  scope: {}", self.scope())).end();
        for note in &self.notes {
            paper.say(format!("  note: {note}")).end();
        }
        if let Found::Violated(violation) = &self.found {
            self.explain(violation, paper);
            paper.end();
        }
        let observed = self.configurations.iter().sum::<u64>();
        let observed = if observed > 0 { format!(", {}", counted(observed, "configuration")) } else { String::new() };
        paper.say(format!("  {}{observed}, {}", counted(self.facts, "fact"), time(cost.seconds))).end();
    }

    /// How far the verdict reaches.
    pub(super) fn scope(&self) -> String {
        match &self.found {
            Found::Holds => "all runs, under all programs".into(),
            Found::Violated(Violation { shortest: true, steps, .. }) => {
                format!("{}, as few as there can be", counted(steps.len() as u64, "step"))
            }
            Found::Violated(Violation { steps, .. }) => {
                format!(
                    "{}; a limit was reached before it was known whether fewer are enough",
                    counted(steps.len() as u64, "step")
                )
            }
            Found::Unknown { edges: 0, .. } => "nothing is known of its runs".into(),
            Found::Unknown { edges, .. } => {
                format!("no run has a cycle with {} or fewer", counted(*edges as u64, "coherence edge"))
            }
        }
    }

    fn explain(&self, violation: &Violation, paper: &mut Paper) {
        paper.end();
        self.chart(&violation.steps, paper);
        paper.end().say("  Each is before the next, and the last before the first:").end().end();
        for (at, tie) in violation.cycle.iter().enumerate() {
            let last = at + 1 == violation.cycle.len();
            paper.say(format!("    {} {}", if at == 0 { "┌→" } else { "│ " }, tie.from)).end();
            paper.say(format!("    {}     ↓ {}", if last { "└──" } else { "│  " }, tie.text)).end();
        }
    }
}
