//! Where fences make a program robust, or safe: sets of least cost.
//!
//! A run that must not be passes instructions with something on its way; a fence before one of them takes it away, and no other fence does. So a set of fences must hit every such run.
//! Sets of least cost that hit all runs known so far are tried, and a run that is there all the same is one more to hit (implicit hitting sets, Karp 2010 and others; Calin 2016 leaves inference to
//! earlier work). What is found in the end is minimal by construction, and has been verified: with these fences there is no such run.
//!
//! The runs are attacks on robustness, or violations of the program's properties under TSO. Fences stand before any instruction, or at chosen [`Sites`], for instance those where a line can be put
//! into the text.
//!
//! Cost: a fence in a loop costs more, ten times for each loop around it.

use super::{Robustness, Settings, robust};
use crate::explicit::Explicit;
use crate::search::whole;
use crate::thread::Shared;
use raddle_engine::{Deadline, Fault, Question, StopReason};
use raddle_machine::memory::Memory;
use raddle_machine::{AnyMemory, Automaton, ByteMemory, Code, State, Thread};
use raddle_trace::{Model, Schedule, Step, ThreadName, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions before which a fence stands.
pub type Fences = BTreeSet<u32>;

/// Where fences can stand.
#[derive(Clone, Debug)]
pub struct Sites<'c> {
    code: &'c Code,
    /// Instructions that get a fence together, each with the first of them.
    groups: Option<BTreeMap<u32, u32>>,
}

impl<'c> Sites<'c> {
    /// Before any instruction.
    pub fn everywhere(code: &'c Code) -> Self {
        Sites { code, groups: None }
    }

    /// Before these instructions only, those of a group together.
    pub fn at(code: &'c Code, groups: impl IntoIterator<Item = Fences>) -> Self {
        let mut of = BTreeMap::new();
        for group in groups {
            of.extend(group.iter().map(|&pc| (pc, *group.first().expect("it has this one"))));
        }
        Sites { code, groups: Some(of) }
    }

    /// The site of an instruction.
    fn of(&self, pc: u32) -> Option<u32> {
        match &self.groups {
            None => Some(pc),
            Some(groups) => groups.get(&pc).copied(),
        }
    }

    /// The instructions of these sites.
    fn instructions(&self, sites: &Fences) -> Fences {
        match &self.groups {
            None => sites.clone(),
            Some(groups) => groups.iter().filter(|(_, site)| sites.contains(site)).map(|(&pc, _)| pc).collect(),
        }
    }

    fn cost(&self, site: u32) -> u64 {
        10u64.saturating_pow(self.code.loop_depth(site))
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Sets of least cost, in order; one that is empty if none is needed.
    pub sets: Vec<Fences>,
    /// How many sets were tried.
    pub tried: usize,
    /// Some run is there whatever fences are: then there are no sets.
    pub hopeless: bool,
    /// Why the search ended too early; then there are no sets.
    pub stop: Option<StopReason>,
}

/// What came of a set of fences.
#[derive(Clone, Debug)]
pub enum Tried {
    /// It is enough.
    Enough,
    /// A run is left, which passes these instructions with something on its way.
    Passed(Fences),
    /// It is not known.
    Stopped(StopReason),
}

/// At most so many sets of the same cost are listed.
const MOST: usize = 8;

/// Sets of fences of least cost that make the program robust.
///
/// # Errors
/// As [`robust()`].
pub fn fences(
    sites: &Sites<'_>,
    first: &Robustness,
    settings: Settings,
    deadline: &Deadline<'_>,
) -> Result<Found, Fault> {
    if first.witnesses.is_empty() && first.stop.is_none() {
        return Ok(Found { sets: vec![Fences::new()], tried: 0, hopeless: false, stop: None });
    }
    let paths = first.witnesses.iter().map(|witness| witness.passed.clone()).collect();
    cheapest_sets(sites, paths, first.stop.clone(), &mut |set| {
        let outcome = robust(sites.code, set, Settings { all: false, ..settings }, deadline)?;
        Ok(match (outcome.witnesses.into_iter().next(), outcome.stop) {
            (Some(witness), _) => Tried::Passed(witness.passed),
            (None, Some(stop)) => Tried::Stopped(stop),
            (None, None) => Tried::Enough,
        })
    })
}

/// Sets of fences of least cost with which the properties of the question hold.
///
/// # Errors
/// If the engine `explicit` does not take the question, or a violation does not replay.
pub fn fences_for_safety(sites: &Sites<'_>, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Found, Fault> {
    cheapest_sets(sites, Vec::new(), None, &mut |set| safe(question, set, deadline))
}

/// Whether the properties of the question hold with full fences before these instructions.
///
/// # Errors
/// If the engine `explicit` does not take the question, or a violation does not replay.
pub fn safe(question: &Question<'_>, fences: &Fences, deadline: &Deadline<'_>) -> Result<Tried, Fault> {
    raddle_engine::Engine::takes(&Explicit, question)?;
    let outcome = Explicit.run_with(question, deadline, fences)?;
    Ok(match (outcome.verdict, outcome.findings.first(), outcome.stop) {
        (Verdict::Violated, Some(finding), _) => Tried::Passed(passed(question.code, &finding.violation().schedule)),
        (Verdict::Holds, ..) => Tried::Enough,
        (_, _, Some(stop)) => Tried::Stopped(stop),
        _ => {
            let why = "no execution ends, and none goes on for ever".to_owned();
            Tried::Stopped(StopReason::GaveUp { why, at: whole(question.code) })
        }
    })
}

/// The instructions that threads pass with something on its way when this schedule is run under TSO.
fn passed(code: &Code, schedule: &Schedule<ThreadName>) -> Fences {
    let memory = AnyMemory::of(Model::Tso, ByteMemory::initial(code));
    let mut state = State::new(memory, Shared::new(Thread::main(code, false)));
    let mut passed = Fences::new();
    for step in schedule.steps.iter().filter_map(|step| step.named(|name| code.numbering().number(name))) {
        let id = step.thread();
        if matches!(step, Step::Run(_) | Step::Choose(..)) && !state.memory().is_settled(id) {
            passed.extend(state.thread(id).map(Automaton::pc));
        }
        if state.step(code, step, &mut ()).is_err() {
            break;
        }
    }
    passed
}

fn cheapest_sets(
    sites: &Sites<'_>,
    runs: Vec<Fences>,
    stop: Option<StopReason>,
    attempt: &mut dyn FnMut(&Fences) -> Result<Tried, Fault>,
) -> Result<Found, Fault> {
    let on_way = |passed: &Fences| -> Fences { passed.iter().filter_map(|&pc| sites.of(pc)).collect() };
    let mut paths: Vec<Fences> = runs.iter().map(on_way).collect();
    let mut found = Found { sets: Vec::new(), tried: 0, hopeless: false, stop };
    let mut best = None;
    let mut refuted: BTreeSet<Fences> = BTreeSet::new();
    while found.stop.is_none() && found.sets.len() < MOST {
        if paths.iter().any(Fences::is_empty) {
            found.hopeless = true;
            break;
        }
        let known: Vec<Fences> = found.sets.clone();
        let is_new = |set: &Fences| !refuted.contains(set) && known.iter().all(|known| !known.is_subset(set));
        let Some((price, set)) = cheapest(&paths, &|site| sites.cost(site), &is_new) else { break };
        if best.is_some_and(|best| price > best) {
            break;
        }
        found.tried += 1;
        match attempt(&sites.instructions(&set))? {
            Tried::Passed(passed) => {
                refuted.insert(set);
                paths.push(on_way(&passed));
            }
            Tried::Enough => {
                best = Some(price);
                found.sets.push(set);
            }
            Tried::Stopped(stop) => found.stop = Some(stop),
        }
    }
    if found.stop.is_some() || found.hopeless {
        found.sets.clear();
    }
    Ok(found)
}

/// A cheapest set that hits all paths and is new.
fn cheapest(paths: &[Fences], cost: &dyn Fn(u32) -> u64, is_new: &dyn Fn(&Fences) -> bool) -> Option<(u64, Fences)> {
    // By price, then in order, so that the answer is always the same.
    let mut todo: BTreeSet<(u64, Fences)> = BTreeSet::from([(0, Fences::new())]);
    while let Some((price, set)) = todo.pop_first() {
        match paths.iter().find(|path| path.is_disjoint(&set)) {
            None if is_new(&set) => return Some((price, set)),
            None => {}
            Some(path) => {
                for &fence in path {
                    let mut more = set.clone();
                    more.insert(fence);
                    todo.insert((price + cost(fence), more));
                }
            }
        }
    }
    None
}
