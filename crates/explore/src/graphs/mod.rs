//! Searches over execution graphs: the engines `optimal` and `rf`, exactly one complete execution per class.
//!
//! For `optimal` a class is program order, reads-from and coherence: one per Mazurkiewicz trace under SC and one per
//! Shasha-Snir trace under TSO and PSO. For `rf` it is program order and reads-from alone. No execution is run
//! twice, none is abandoned, and nothing that was visited is remembered. The method is that of Kokologiannakis, Marmanis,
//! Gladstein and Vafeiadis 2022 (TruSt): execution graphs grow event by event; a read takes each consistent source, a
//! write each consistent place, and a new write is offered to older reads by backward revisits under a maximality
//! condition. What depends on the memory model is in `models`, one file each. For `rf`, places of writes are
//! a witness instead of a choice; `sources` says why that works.
//!
//! | file | question it answers |
//! |---|---|
//! | `event` | what is an event? |
//! | `graph` | what is in a graph, and how does it grow and shrink? |
//! | `chains` | which accesses does somebody not know? |
//! | `models` | which sources and places are consistent? One file per memory model |
//! | `sample` | do values repeat? |
//! | `sources` | and which sources, if the order of writes is only a witness? |
//! | `realise` | which order of writes explains what was read? |
//! | `revisit` | which reads may a new write be offered to? |
//! | `search`, `branch`, `apply` | what is tried next, what is left to try, and what comes of it? |
//! | `step`, `faults` | what follows from adding an event, and what is wrong with it? |
//! | `joins` | who joins a thread, if several want to? |
//! | `tail` | which joins are no events, because nothing follows? |
//! | `mailboxes` | which graphs of programs with mailboxes are graphs of a run? |
//! | `lives` | can an object's life end twice in them, or too early? |
//! | `blocks` | can an execution come of a graph in which atomic blocks are interleaved with others? |
//! | `meetings` | who leaves a barrier, and who was the last to arrive? |
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
mod blocks;
mod branch;
mod chains;
mod commute;
mod context;
mod ends;
mod event;
mod faults;
mod graph;
mod happens_before;
mod joins;
mod linearise;
mod lives;
mod mailboxes;
mod meetings;
mod models;
mod pool;
mod realise;
mod revisit;
mod sample;
mod search;
mod snapshot;
mod sources;
mod step;
mod tail;
#[cfg(test)]
mod tests;

use crate::world::arrivals_told_apart;
use context::{Purpose, Shared};
use graph::Equivalence;
use models::{Model, Task};
use pool::{Findings, Pool};
use raddle_engine::{Deadline, Engine, Fault, Outcome, Question, Reach, Refusal, StopReason, confirm};
use raddle_machine::{Automaton, Status};
use raddle_trace::Place;
pub(crate) use sample::Sample;
use std::sync::Arc;
use step::Halt;

/// The engine `optimal`.
#[derive(Clone, Copy, Debug)]
pub struct Optimal;

impl Engine for Optimal {
    fn name(&self) -> &'static str {
        "optimal"
    }

    fn summary(&self) -> &'static str {
        "one execution per class of program order, reads-from and coherence"
    }

    fn equivalence(&self) -> raddle_engine::Equivalence {
        raddle_engine::Equivalence::Traces
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        takes_axioms(question)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        explore(question, deadline, Purpose::new(Equivalence::Coherence, question.options))
    }
}

/// What has no meaning under models that are defined by axioms.
fn takes_axioms(question: &Question<'_>) -> Result<(), Refusal> {
    use raddle_trace::Model;
    let Question { code, options } = question;
    let model = options.model;
    let refuse = |message: String| Err(Refusal::whole(code, message));
    if let Some(place) = code.first_post() {
        takes_mailboxes(question).map_err(|message| Refusal::of(message, place))
    } else if !Model::AXIOMATIC.contains(&model) {
        Ok(())
    } else if code.has_atomic_blocks() {
        refuse(format!("atomic blocks have no meaning under the model {model}"))
    } else if options.commuting_updates {
        refuse(format!("updates are not taken to commute under the model {model}; leave `--commuting-updates` out"))
    } else if model == Model::Wra && code.has_spins() {
        refuse(format!("this wait loop is not supported under the model {model}; `--model ra` takes it"))
    } else {
        Ok(())
    }
}

/// What of programs with mailboxes is not known.
fn takes_mailboxes(question: &Question<'_>) -> Result<(), String> {
    let Question { code, options } = question;
    if options.model != raddle_trace::Model::Sc {
        return Err(format!(
            "mailboxes are known under sc only, not under {}; `--engine explicit` knows tso and pso",
            options.model
        ));
    }
    if code.has_atomic_blocks() {
        return Err("atomic blocks in a program with mailboxes are known to `--engine explicit` only".into());
    }
    if options.commuting_updates {
        return Err(
            "updates are not taken to commute in a program with mailboxes; leave `--commuting-updates` out".into()
        );
    }
    Ok(())
}

/// Whether ordinary accesses mean what they do under the model only if none of them races, and nobody looks for that.
fn assumes_no_race(question: &Question<'_>) -> bool {
    question.options.model == raddle_trace::Model::Rc11
        && question.code.has_non_atomic()
        && !question.options.properties.contains(raddle_trace::Property::Race)
}

/// The engine `rf`.
#[derive(Clone, Copy, Debug)]
pub struct ReadsFrom;

impl Engine for ReadsFrom {
    fn name(&self) -> &'static str {
        "rf"
    }

    fn summary(&self) -> &'static str {
        "one execution per class of program order and reads-from"
    }

    fn equivalence(&self) -> raddle_engine::Equivalence {
        raddle_engine::Equivalence::ReadsFrom
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        takes_axioms(question)?;
        if question.code.has_atomic_blocks() {
            let message = "the engine `rf` does not take atomic blocks; `--engine optimal` does";
            return Err(Refusal::whole(question.code, message));
        }
        Ok(())
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        let purpose = match question.code.has_mailboxes() {
            false => Purpose::new(Equivalence::ReadsFrom, question.options),
            true => Purpose { by_reads: true, ..Purpose::new(Equivalence::Coherence, question.options) },
        };
        explore(question, deadline, purpose)
    }
}

/// Explores one execution per reads-from class, and looks at the first ones for how often values repeat.
pub(crate) fn sample_reads_from(
    question: &Question<'_>,
    deadline: &Deadline<'_>,
    sample: &Sample,
) -> Result<Outcome, Fault> {
    let purpose = Purpose::new(Equivalence::ReadsFrom, question.options);
    explore(question, deadline, Purpose { sample: Some(sample), ..purpose })
}

/// Explores, and starts over with what was learnt where an assumption did not hold.
fn explore(question: &Question<'_>, deadline: &Deadline<'_>, mut purpose: Purpose<'_>) -> Result<Outcome, Fault> {
    let mut notes = Vec::new();
    loop {
        match explore_once(question, deadline, purpose) {
            Ok(mut outcome) => {
                if assumes_no_race(question) {
                    notes
                        .push("this assumes that there is no data race, which would make the program undefined".into());
                }
                outcome.notes.extend(notes);
                return Ok(outcome);
            }
            Err(Halt::Fault(fault)) => return Err(fault),
            Err(Halt::DoesNotCommute(Place { file, line, .. })) => {
                purpose.commuting = false;
                notes.push(format!("updates were not taken to commute, since their order may matter at {file}:{line}"));
            }
            Err(Halt::ContestedBarrier(at)) => {
                purpose.barriers = false;
                notes.push(arrivals_told_apart(&at));
            }
            Err(Halt::ContestedJoin) => purpose.contested_joins = true,
            Err(Halt::StuckLooper(looper)) => purpose.note_stuck(looper),
            Err(Halt::Stop(_)) => unreachable!("it is part of the outcome"),
        }
        deadline.control().restart();
    }
}

fn explore_once(question: &Question<'_>, deadline: &Deadline<'_>, purpose: Purpose<'_>) -> Result<Outcome, Halt> {
    let shared = Arc::new(Shared::new(question, deadline, purpose));
    if let Status::Failed(failure) = shared.world.main.status() {
        return opening_failure(question, &shared, failure).map_err(Halt::Fault);
    }
    let mut findings = models::under(question.options.model, Exploration(shared));
    match findings.halt.take() {
        Some(Halt::Stop(reason)) => findings.reach.stop = Some(reason),
        // What has been replayed is true, whatever else the program does.
        Some(Halt::Fault(Fault::Refused(_))) if !question.options.all && !findings.list.is_empty() => {}
        Some(halt) => return Err(halt),
        None => {}
    }
    Ok(finish(question, purpose, findings))
}

/// Exploring everything, or up to a limit.
struct Exploration<'c>(Arc<Shared<'c>>);

impl Task for Exploration<'_> {
    type Output = Findings;

    fn under<M: Model>(self) -> Findings {
        Pool::<M>::new(self.0).explore()
    }
}

/// The first thread fails before it starts another.
fn opening_failure(
    question: &Question<'_>,
    shared: &Shared<'_>,
    failure: &raddle_machine::Failure,
) -> Result<Outcome, Fault> {
    let mut findings = Findings::default();
    match failure.property {
        None => {
            let at = question.code.place(failure.pc);
            let stop = Some(StopReason::GaveUp { why: failure.message.clone(), at });
            findings.reach = Reach { stop, ..Reach::default() };
        }
        Some(property) => {
            findings.done = 1.0;
            findings.statistics.failed = 1;
            if question.options.properties.contains(property) {
                findings.list.push(confirm(question, shared.world.opening.clone(), property, failure.pc)?);
            } else {
                question.code.disregard(failure.pc);
            }
        }
    }
    Ok(finish(question, shared.purpose, findings))
}

fn finish(question: &Question<'_>, purpose: Purpose<'_>, findings: Findings) -> Outcome {
    let engine = match purpose.equivalence {
        Equivalence::Coherence if purpose.by_reads => ReadsFrom.name(),
        Equivalence::Coherence => Optimal.name(),
        Equivalence::ReadsFrom => ReadsFrom.name(),
    };
    Outcome {
        counters: findings.counters.named(),
        share_done: findings.done.min(1.0),
        schedules: findings.schedules,
        ..Outcome::new(engine, question, findings.reach, findings.list, findings.statistics)
    }
}
