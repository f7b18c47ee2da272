//! Does a memory system implement a model? Everything together.
//!
//! First WRA ([`crate::wra`]), whose violations are violations of the others; for RA and SRA then the observer ([`crate::observer`]) with two strands, three, up to one
//! for each core that writes. A violation is replayed on the machine and judged by the definitions before anybody sees it. To be called shortest it has to be
//! shorter than, or as long as, those with any other number of strands, so the search goes on for shorter ones.

use crate::Model;
use crate::budget::{Budget, Limit};
use crate::judge::{Tie, judge};
use crate::machine::{Event, Machine, Malformed, Move};
use crate::observer::{self, Search};
use crate::run::{Run, replay};
use crate::wra;
use rustc_hash::FxHashSet;
use thiserror::Error;

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// What was looked at.
    pub statistics: Statistics,
}

/// Whether all runs satisfy the model.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// They do.
    Holds,
    /// This one does not.
    Violated(Violation),
    /// Nobody knows, since a limit was reached.
    Unknown {
        /// Which.
        limit: Limit,
        /// No run has a cycle with so many coherence edges or fewer.
        edges: usize,
    },
}

/// A run that violates a model.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Its transitions.
    pub moves: Vec<Move>,
    /// Its reads and writes.
    pub run: Run,
    /// Accesses each of which is before the next, and the last before the first.
    pub cycle: Vec<Tie>,
    /// Whether no shorter run violates the model; if a limit was reached on the way, nobody knows.
    pub shortest: bool,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// States that can be reached.
    pub states: usize,
    /// Transitions between them.
    pub transitions: usize,
    /// Facts of the saturation for WRA.
    pub facts: u64,
    /// Configurations of the observer, for two strands, three and so on.
    pub configurations: Vec<u64>,
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// It is no machine.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A violation was found that is none: a bug in Raddle.
    #[error("a violation was found that does not replay: {0}")]
    NotReplayed(String),
}

/// Looks for a shortest run that violates the model.
///
/// # Errors
/// If it is no machine, or if a violation does not replay.
pub fn verify(machine: &Machine, model: Model, budget: &Budget) -> Result<Outcome, Error> {
    machine.check()?;
    let (reachable, numbers) = machine.reachable();
    let (found, facts) = wra::saturate(&reachable, budget);
    let mut statistics = Statistics {
        states: reachable.states().len(),
        transitions: reachable.transitions().len(),
        facts,
        configurations: Vec::new(),
    };
    let (mut best, mut stopped) = (None, None);
    match found {
        wra::Found::Nothing => {}
        wra::Found::Violation(moves) => best = Some(moves),
        wra::Found::Stopped(limit) => stopped = Some((limit, 0)),
    }
    let writes = reachable.transitions().iter().filter_map(|transition| match transition.event {
        Event::Write { core, .. } => Some(core),
        _ => None,
    });
    let strands = if model == Model::Wra { 1 } else { writes.collect::<FxHashSet<_>>().len() };
    for strands in 2..=strands {
        if stopped.is_some() {
            break;
        }
        let longest = best.as_ref().map_or(usize::MAX, |moves| moves.len() - 1);
        let search = Search { model, strands, longest, forget: true };
        let (found, configurations) = observer::observe(&reachable, search, budget);
        statistics.configurations.push(configurations);
        match found {
            observer::Found::Nothing => {}
            observer::Found::Violation(moves) => best = Some(moves),
            observer::Found::Stopped(limit) => stopped = Some((limit, strands - 1)),
        }
    }
    let verdict = match (best, stopped) {
        (Some(moves), stopped) => {
            let moves = moves.into_iter().map(|number| numbers[number.index()]).collect();
            Verdict::Violated(confirmed(machine, model, moves, stopped.is_none())?)
        }
        (None, Some((limit, edges))) => Verdict::Unknown { limit, edges },
        (None, None) => Verdict::Holds,
    };
    Ok(Outcome { verdict, statistics })
}

/// Runs the violation on the machine and judges it by the definitions.
fn confirmed(machine: &Machine, model: Model, moves: Vec<Move>, shortest: bool) -> Result<Violation, Error> {
    let run = replay(machine, &moves).map_err(|error| Error::NotReplayed(error.to_string()))?;
    let cycle = judge(&run, model).ok_or_else(|| Error::NotReplayed(format!("the run satisfies {model}")))?;
    Ok(Violation { moves, run, cycle, shortest })
}
