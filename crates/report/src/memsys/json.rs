//! The verdict on a memory system for a program.

use super::{Found, Memsys, Step, StepKind};
use crate::answer::Say;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Fields<'a> {
    verdict: &'static str,
    scope: String,
    model: &'static str,
    system: &'a str,
    parameters: BTreeMap<&'a str, &'a str>,
    cores: &'a [String],
    locations: usize,
    registers: usize,
    statistics: Statistics<'a>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolationFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct Statistics<'a> {
    states: usize,
    transitions: usize,
    facts: u64,
    configurations: &'a [u64],
}

#[derive(Serialize)]
struct ViolationFields<'a> {
    shortest: bool,
    steps: Vec<StepFields<'a>>,
    cycle: Vec<TieFields<'a>>,
}

#[derive(Serialize)]
struct StepFields<'a> {
    step: &'static str,
    rule: Option<&'a str>,
    text: &'a str,
    core: Option<&'a str>,
    location: Option<&'a str>,
    /// The write that is made, read or moved.
    write: Option<&'a str>,
}

#[derive(Serialize)]
struct TieFields<'a> {
    from: &'a str,
    why: &'static str,
    text: &'a str,
}

impl Memsys {
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields {
            verdict: self.conclusion().word(),
            scope: self.scope(),
            model: self.model,
            system: &self.system,
            parameters: self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            cores: &self.cores,
            locations: self.locations,
            registers: self.registers,
            statistics: Statistics {
                states: self.states.len(),
                transitions: self.transitions.len(),
                facts: self.facts,
                configurations: &self.configurations,
            },
            notes: &self.notes,
            violation: match &self.found {
                Found::Violated(violation) => Some(ViolationFields {
                    shortest: violation.shortest,
                    steps: violation.steps.iter().map(|step| self.step(step)).collect(),
                    cycle: violation
                        .cycle
                        .iter()
                        .map(|tie| TieFields { from: &tie.from, why: tie.why, text: &tie.text })
                        .collect(),
                }),
                _ => None,
            },
            why: match &self.found {
                Found::Unknown { limit, .. } => Some(format!("{limit} was reached")),
                _ => None,
            },
        }
    }

    fn step<'a>(&'a self, step: &'a Step) -> StepFields<'a> {
        let name = |core: usize| self.cores.get(core).map(String::as_str);
        let (word, core, location, write) = match &step.kind {
            StepKind::Write { core, location, write } => ("write", name(*core), Some(location), Some(write)),
            StepKind::Read { core, location, source } => ("read", name(*core), Some(location), source.as_ref()),
            StepKind::Move { write, .. } => ("move", None, None, write.as_ref()),
            StepKind::Idle => ("idle", None, None, None),
        };
        let (location, write) = (location.map(String::as_str), write.map(String::as_str));
        StepFields { step: word, rule: step.rule.as_deref(), text: &step.words, core, location, write }
    }
}
