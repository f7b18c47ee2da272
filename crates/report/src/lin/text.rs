//! The verdict on a history for a person: first the answer, then why.

use super::{Explanation, Found, Lin, State};
use crate::answer::{Cost, Say};
use crate::paper::Paper;

/// How many operations are listed before the rest is counted.
const LISTED: usize = 24;
/// How many characters of a state are shown.
const STATE: usize = 120;

impl Lin {
    pub(super) fn write_text(&self, cost: Cost, paper: &mut Paper) {
        let conclusion = self.conclusion();
        paper.paint(conclusion.style(), conclusion.word()).say(": ");
        paper.say(match &self.found {
            Found::Linearizable(_) => "linearizable",
            Found::Not(_) => "not linearizable",
            Found::Unknown(why) => why,
        });
        let number = self.operations.number();
        let pending = (0..number).filter(|&id| self.operations.operation(id).ret.is_none()).count();
        let engine = if self.engine == "search" { "general checker" } else { &self.engine };
        let what = format!(
            "  {} history, {number} {} ({pending} pending), checked by the {engine} in {:.2} s",
            self.object,
            if number == 1 { "operation" } else { "operations" },
            cost.seconds
        );
        paper.end().say(what).end();
        match &self.found {
            Found::Linearizable(order) => {
                paper.say("  scope: this history; a linearization was found and checked again:").end();
                self.list(order, paper);
            }
            Found::Not(explanation) => self.explain(explanation, paper),
            Found::Unknown(_) => {}
        }
        for hint in &self.hints {
            paper.say(format!("  hint: {hint}")).end();
        }
        if self.configurations > 0 {
            let count = |number: u64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
            let (configurations, states) = (count(self.configurations, "configuration"), count(self.states, "state"));
            paper.say(format!("  searched {configurations}, {states}")).end();
        }
    }

    fn list(&self, ids: &[usize], paper: &mut Paper) {
        for &id in ids.iter().take(LISTED) {
            let operation = self.operations.operation(id);
            let end = operation.ret.map_or("never".to_owned(), |event| event.to_string());
            let lines = match (operation.call_line, operation.return_line) {
                (0, _) => String::new(),
                (call, 0) => format!(", line {call}"),
                (call, ret) if call == ret => format!(", line {call}"),
                (call, ret) => format!(", lines {call} and {ret}"),
            };
            let process = self.operations.process(operation.process);
            let place = format!("process {process}, events {}..{end}{lines}", operation.call);
            paper.say(format!("    {:<32} {place}", self.operations.words(id))).end();
        }
        if ids.len() > LISTED {
            paper.say(format!("    ... and {} more (--json lists all)", ids.len() - LISTED)).end();
        }
    }

    fn explain(&self, explanation: &Explanation, paper: &mut Paper) {
        if let Some((object, _)) = &explanation.object {
            paper.say(format!("  object: {object}")).end();
        }
        paper.say(format!("  {}", explanation.text)).end();
        for state in &explanation.before {
            paper.say(format!("  just before, the object may have been: {}", self.state(state))).end();
        }
        if let Some(since) = &explanation.since {
            let state = self.state(&since.state);
            let text = format!("  just before event {} the object may be taken to have been: {state}", since.event);
            paper.say(text).end();
        }
        let others = match explanation.others_pending {
            true => "even if every other operation may have taken effect or not, at any time after its call",
            false => "whatever else happened",
        };
        let size = match (explanation.minimal, explanation.operations.len()) {
            (_, 1) => "this operation cannot be explained",
            (true, _) => "these operations cannot be ordered, and none of them can be spared",
            (false, _) => "these operations cannot be ordered",
        };
        let sure = if explanation.confirmed { "; the general checker agrees" } else { "" };
        paper.say(format!("  {others}, {size}{sure}:")).end();
        self.list(&explanation.operations, paper);
        if !explanation.called.is_empty() {
            paper.say("  of these only the calls count; they may have taken effect at any time after, or never:").end();
            self.list(&explanation.called, paper);
        }
        if let Some(earliest) = explanation.earliest {
            let line = earliest.line.map_or(String::new(), |line| format!(" (line {line})"));
            let exact = if earliest.exact { "; before it was not" } else { ", at the latest" };
            paper.say(format!("  the history is wrong from event {}{line} on{exact}", earliest.event)).end();
        }
    }

    /// A state, with the operations that had taken effect before they returned.
    pub(super) fn state(&self, state: &State) -> String {
        let words: String = state.words.chars().take(STATE).collect();
        let done: Vec<String> = state.done.iter().map(|&id| self.operations.words(id)).collect();
        if done.is_empty() { words } else { format!("{words} (already in effect: {})", done.join(", ")) }
    }
}
