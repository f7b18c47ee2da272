//! Searches over execution graphs: the engines `optimal` and `rf`, exactly one complete execution per class.
//!
//! For `optimal` a class is program order, reads-from and coherence: one per Mazurkiewicz trace under SC and one per
//! Shasha-Snir trace under TSO and PSO. For `rf` it is program order and reads-from alone. No execution is run
//! twice, none is abandoned, and nothing that was visited is remembered. The method is that of Kokologiannakis, Marmanis,
//! Gladstein and Vafeiadis 2022 (TruSt): execution graphs grow event by event; a read takes each consistent source, a
//! write each consistent place, and a new write is offered to older reads by backward revisits under a maximality
//! condition. The memory model is one table of preserved program order and the floor rule. For `rf`, places of writes are
//! a witness instead of a choice; `sources` says why that works.
//!
//! | file | question it answers |
//! |---|---|
//! | `event` | what is an event, and what does the model preserve? |
//! | `graph` | which sources and places are consistent? |
//! | `sources` | and which sources, if the order of writes is only a witness? |
//! | `realise` | which order of writes explains what was read? |
//! | `revisit` | which reads may a new write be offered to? |
//! | `search`, `branch`, `apply` | what is tried next, what is left to try, and what comes of it? |
//! | `step`, `faults` | what follows from adding an event, and what is wrong with it? |
//! | `joins` | who joins a thread, if several want to? |
//! | `ends` | do threads that wait do so for ever? |
//! | `snapshot` | in which state is a thread after each event? |
//! | `happens_before` | do two accesses race? |
//! | `linearise` | which run of the store-buffer machine is this graph? |
//! | `commute` | does the order of updates matter? |
//! | `audit` | in debug builds: is every graph consistent, and every class met once? |
//! | `context` | what do all graphs share? |
//! | `pool` | how do workers share the search? |
//!
//! Where we go beyond the published algorithm: locks, waits, choices, TSO and PSO, the opening of the first thread that
//! is executed once, snapshots of thread states, races, and reads-from classes. Deviations: a lock that would be revisited by the
//! taking of its mutex is removed instead and the taking marked (rule L3), so that mutexes cost no blocked executions; a wait takes an
//! unsuitable value only from a last write. Errors make their thread stuck; the others go on, or executions in which the
//! error does not happen would be lost. Atomic blocks are explored as if they were none, and ends that no run without
//! interleaving has are dropped (counted as moot): cutting them off earlier would lose revisits. Accesses of different
//! sizes to overlapping memory are refused.
//!
//! Cost: time per class polynomial in the number of events, mostly of those that are new in it; memory polynomial in the
//! length of one execution.

mod apply;
#[cfg(debug_assertions)]
mod audit;
mod branch;
mod commute;
mod context;
mod ends;
mod event;
mod faults;
mod graph;
mod happens_before;
mod joins;
mod linearise;
mod pool;
mod realise;
mod revisit;
mod search;
mod snapshot;
mod sources;
mod step;

use crate::auto::Evidence;
use crate::confirm::confirm;
use crate::control::Control;
use crate::options::Options;
use crate::outcome::{Error, Outcome, Reach};
use context::{Purpose, Shared};
use graph::Equivalence;
use pool::{Findings, Pool};
use raddle_machine::{Code, Status};
use raddle_trace::Place;
use std::sync::Arc;
use step::Halt;

/// Explores one execution per trace.
pub fn explore_traces(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    explore_by(Equivalence::Coherence, code, options, control)
}

/// Explores one execution per reads-from class.
pub fn explore_reads_from(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    if code.has_atomic_blocks() {
        let message = "the engine `rf` does not take atomic blocks; `--engine optimal` does".to_owned();
        return Err(Error::unsupported(code, message));
    }
    explore_by(Equivalence::ReadsFrom, code, options, control)
}

/// What came of an exploration that may be given up for another engine.
pub(crate) enum Sampled {
    /// It is done.
    Done(Outcome),
    /// Another engine seems better.
    Switch(Evidence),
}

/// Explores one execution per reads-from class, unless the first ones say that another engine is better.
pub(crate) fn sample_reads_from(code: &Code, options: &Options, control: &Control) -> Result<Sampled, Error> {
    let purpose = Purpose { sample: true, ..Purpose::new(Equivalence::ReadsFrom, options) };
    match explore_once(code, options, control, purpose) {
        Ok(outcome) => Ok(Sampled::Done(outcome)),
        Err(Halt::Switch(evidence)) => Ok(Sampled::Switch(evidence)),
        Err(Halt::Error(error)) => Err(error),
        Err(_) => explore_reads_from(code, options, control).map(Sampled::Done),
    }
}

fn explore_by(equivalence: Equivalence, code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    let mut purpose = Purpose::new(equivalence, options);
    let mut notes = Vec::new();
    loop {
        match explore_once(code, options, control, purpose) {
            Ok(mut outcome) => {
                outcome.notes.extend(notes);
                return Ok(outcome);
            }
            Err(Halt::Error(error)) => return Err(error),
            Err(Halt::DoesNotCommute(Place { file, line, .. })) => {
                purpose.commuting = false;
                notes.push(format!("updates were not taken to commute, since their order may matter at {file}:{line}"));
            }
            Err(Halt::ContestedJoin) => purpose.contested_joins = true,
            Err(Halt::GaveUp(..) | Halt::Switch(_)) => unreachable!("part of the outcome, and nothing is sampled"),
        }
        control.restart();
    }
}

fn explore_once(code: &Code, options: &Options, control: &Control, purpose: Purpose) -> Result<Outcome, Halt> {
    let shared = Arc::new(Shared::new(code, options, purpose));
    if let Status::Failed(failure) = shared.main.status() {
        return opening_failure(code, options, &shared, failure).map_err(Halt::Error);
    }
    let mut findings = Pool::new(shared, control).explore();
    match findings.halt.take() {
        Some(Halt::GaveUp(message, place)) => {
            findings.reach.limit = Some(given_up(&message, &place));
            Ok(finish(code, options, findings))
        }
        Some(halt) => Err(halt),
        None => Ok(finish(code, options, findings)),
    }
}

/// Why an execution was not followed to its end.
fn given_up(message: &str, place: &Place) -> String {
    format!("{}:{}: {message}", place.file, place.line)
}

/// The first thread fails before it starts another.
fn opening_failure(
    code: &Code,
    options: &Options,
    shared: &Shared<'_>,
    failure: &raddle_machine::Failure,
) -> Result<Outcome, Error> {
    let Some(property) = failure.property else {
        let limit = Some(given_up(&failure.message, &code.place(failure.pc)));
        let reach = Reach { limit, ..Reach::default() };
        return Ok(finish(code, options, Findings { reach, ..Findings::default() }));
    };
    let mut findings = Findings { done: 1.0, ..Findings::default() };
    findings.statistics.failed = 1;
    if options.properties.contains(property) {
        findings.list.push(confirm(code, options, shared.opening.clone(), property, failure.pc)?);
    }
    Ok(finish(code, options, findings))
}

fn finish(code: &Code, options: &Options, findings: Findings) -> Outcome {
    Outcome {
        statistics: findings.statistics,
        share_done: findings.done.min(1.0),
        schedules: findings.schedules,
        ..Outcome::new(code, options, findings.reach, findings.list)
    }
}
