//! `memsys`: does this memory system implement a model of the release-acquire family?

use crate::cost::Meter;
use crate::error::Error;
use crate::load::Define;
use raddle_memsys::judge::{Node, Reason, Tie};
use raddle_memsys::lint::{self, Oddity};
use raddle_memsys::machine::{Core, Event, Machine};
use raddle_memsys::run::{Kind, Run};
use raddle_memsys::{Budget, Model, Verdict, Violation, format};
use raddle_report::memsys as report;
use raddle_report::{Answer, Body, Sources};
use std::time::{Duration, Instant};

/// What to verify and how far.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model.
    pub model: Model,
    /// Values for parameters of the system.
    pub defines: Vec<Define>,
    /// How many configurations each search may meet.
    pub configurations: Option<u64>,
    /// What a search may hold, in bytes.
    pub memory: Option<u64>,
    /// When to give up.
    pub time_limit: Option<Duration>,
}

impl Settings {
    /// Without limits but those of memory.
    pub fn new(model: Model) -> Self {
        Settings { model, defines: Vec::new(), configurations: None, memory: None, time_limit: None }
    }
}

/// So many pairs of states and registers are looked at for what is odd.
const LINTED: usize = 50_000_000;
/// So many oddities of a kind are told.
const TOLD: usize = 3;

/// Reads a memory system and looks for a run that violates the model; `name` is what the answer and diagnostics call it.
///
/// # Errors
/// If it is not an accepted system, or Raddle finds a bug in itself.
pub fn memsys(name: &str, input: &[u8], settings: &Settings) -> Result<Answer, Error> {
    let meter = Meter::start();
    let defaults = Budget::default();
    let budget = Budget {
        configurations: settings.configurations.unwrap_or(defaults.configurations),
        bytes: settings.memory.unwrap_or(defaults.bytes),
        deadline: settings.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
    };
    let number = |define: &Define| Ok((define.name.clone(), define.number()?));
    let parameters = settings.defines.iter().map(number).collect::<Result<Vec<_>, Error>>()?;
    let machine = format::read(input, &parameters).map_err(|error| Error::Memsys {
        error,
        name: name.to_owned(),
        text: String::from_utf8_lossy(input).into(),
    })?;
    let (machine, _) = machine.reachable();
    let outcome =
        raddle_memsys::verify(&machine, settings.model, &budget).map_err(|error| Error::Internal(error.to_string()))?;
    let found = match outcome.verdict {
        Verdict::Holds => report::Found::Holds,
        Verdict::Violated(violation) => report::Found::Violated(in_words(&machine, &violation)),
        Verdict::Unknown { limit, edges } => report::Found::Unknown { limit: limit.to_string(), edges },
    };
    let transitions = machine.transitions().iter();
    let body = report::Memsys {
        system: machine.name.clone(),
        model: settings.model.name(),
        parameters: settings.defines.iter().map(|define| (define.name.clone(), define.value.clone())).collect(),
        cores: machine.cores().to_vec(),
        locations: machine.locations().len(),
        registers: machine.registers().len(),
        transitions: transitions.map(|one| (one.from.0, one.to.0, machine.words(one.event))).collect(),
        states: machine.states().to_vec(),
        facts: outcome.statistics.facts,
        configurations: outcome.statistics.configurations,
        found,
        notes: notes(&machine),
    };
    Ok(Answer { file: name.to_owned(), sources: Sources::default(), cost: meter.read(), body: Body::Memsys(body) })
}

/// What is odd about the machine.
fn notes(machine: &Machine) -> Vec<String> {
    if machine.states().len().saturating_mul(machine.registers().len() * (machine.locations().len() + 1)) > LINTED {
        return vec!["the system is too large to be looked through for oddities".into()];
    }
    let (mut others, mut empty, mut stuck) = (Vec::new(), Vec::new(), Vec::new());
    for oddity in lint::lint(machine) {
        let words = |number| machine.words(machine.transition(number).event);
        match oddity {
            Oddity::OtherLocation(number, location) => {
                let written = &machine.locations()[location.index()];
                others.push(format!("`{}` may return what was written to {written}", words(number)));
            }
            Oddity::Empty(number) => empty.push(format!("`{}` may find nothing that was written", words(number))),
            Oddity::Stuck(state) => {
                stuck.push(format!("nothing leads out of the state `{}`", machine.states()[state.index()]));
            }
        }
    }
    if machine.initial_values {
        empty.clear();
    }
    let mut notes = Vec::new();
    for mut list in [others, empty, stuck] {
        list.sort();
        list.dedup();
        let more = list.len().saturating_sub(TOLD);
        list.truncate(TOLD);
        notes.append(&mut list);
        if more > 0 {
            notes.push(format!("... and {more} more of this kind"));
        }
    }
    notes
}

/// The core that alone reads and writes each register, if there is one.
fn owners(machine: &Machine) -> Vec<Option<Core>> {
    let mut users: Vec<(Option<Core>, bool)> = vec![(None, false); machine.registers().len()];
    for transition in machine.transitions() {
        if let Event::Write { core, register, .. } | Event::Read { core, register, .. } = transition.event {
            let (first, several) = &mut users[register.index()];
            *several |= first.is_some_and(|first| first != core);
            *first = Some(core);
        }
    }
    users.into_iter().map(|(first, several)| first.filter(|_| !several)).collect()
}

fn in_words(machine: &Machine, violation: &Violation) -> report::Violation {
    let owners = owners(machine);
    let names = write_names(&violation.run);
    let mut accesses = violation.run.accesses.iter().enumerate();
    // What each register holds, and which core it was last at.
    let mut holds: Vec<(Option<usize>, Option<Core>)> = vec![(None, None); machine.registers().len()];
    let mut steps = Vec::new();
    for &number in &violation.moves {
        let transition = machine.transition(number);
        let location = |location: raddle_memsys::machine::Location| machine.locations()[location.index()].clone();
        let kind = match transition.event {
            Event::Write { core, location: written, register } => {
                let (access, _) = accesses.next().expect("replay has an access for each read and write");
                holds[register.index()] = (Some(access), Some(core));
                report::StepKind::Write {
                    core: core.index(),
                    location: location(written),
                    write: names[access].clone(),
                }
            }
            Event::Read { core, location: read, .. } => {
                let (_, access) = accesses.next().expect("replay has an access for each read and write");
                let source = match access.kind {
                    Kind::Read(Some(write)) => Some(names[write].clone()),
                    _ => None,
                };
                report::StepKind::Read { core: core.index(), location: location(read), source }
            }
            Event::Copy { to, from } => {
                let (write, at) = holds[from.index()];
                let owner = owners[to.index()];
                holds[to.index()] = (write, owner.or(at));
                let between = at.zip(owner).filter(|(from, to)| from != to);
                let between = between.map(|(from, to)| (from.index(), to.index()));
                report::StepKind::Move { write: write.map(|write| names[write].clone()), between }
            }
            Event::Idle => report::StepKind::Idle,
        };
        let rule = transition.rule.map(|rule| machine.rules()[rule as usize].clone());
        steps.push(report::Step { transition: number.0, rule, words: machine.words(transition.event), kind });
    }
    let cycle = violation.cycle.iter().map(|tie| tie_in_words(machine, &violation.run, &names, tie)).collect();
    report::Violation { steps, cycle, shortest: violation.shortest }
}

/// w1, w2 and so on for the writes of a run, nothing for its reads.
fn write_names(run: &Run) -> Vec<String> {
    let mut count = 0;
    let mut name = |access: &raddle_memsys::run::Access| match access.kind {
        Kind::Write => {
            count += 1;
            format!("w{count}")
        }
        Kind::Read(_) => String::new(),
    };
    run.accesses.iter().map(&mut name).collect()
}

fn tie_in_words(machine: &Machine, run: &Run, names: &[String], tie: &Tie) -> report::Tie {
    let step = |access: usize| run.accesses[access].step + 1;
    let words = |node: Node| match node {
        Node::Initial(location) => format!("the initial value of {}", machine.locations()[location.index()]),
        Node::Access(number) => {
            let access = run.accesses[number];
            let (core, location) =
                (&machine.cores()[access.core.index()], &machine.locations()[access.location.index()]);
            match access.kind {
                Kind::Write => format!("step {}  {core} writes {location} ({})", step(number), names[number]),
                Kind::Read(source) => {
                    let source = source.map_or("the initial value", |source| names[source].as_str());
                    format!("step {}  {core} reads {location} = {source}", step(number))
                }
            }
        }
    };
    let (why, text) = match &tie.why {
        Reason::Program => ("program_order", "program order".to_owned()),
        Reason::ReadsFrom => ("reads_from", "it is what the next one reads".to_owned()),
        Reason::Oldest => ("initial", "nothing is older than an initial value".to_owned()),
        Reason::Overwritten { read, way } => {
            let way: Vec<String> = way.iter().map(|&access| step(access).to_string()).collect();
            let source = match tie.to {
                Node::Access(write) => names[write].clone(),
                Node::Initial(_) => "the initial value".to_owned(),
            };
            let text = format!("step {} comes after it (steps {}) and reads {source}", step(*read), way.join(" → "));
            ("overwritten", text)
        }
    };
    report::Tie { from: words(tie.from), why, text }
}
