//! The engine `dc`: one execution per class of events and reads-from (*observation class*), by annotations.
//!
//! Data-centric dynamic partial order reduction (Chalupa, Chatterjee, Pavlogiannis, Sinha, Vaidya 2018). An *annotation* says of some reads from
//! which writes they read. The search does not enumerate schedules but annotations, read by read; each is *realised*: a trace is
//! looked for in which the reads read from just these writes. If threads communicate along a forest, that is a matter of
//! clauses of two literals. What an annotation has tried for a read is forbidden to what is tried after it (*negative
//! annotation*), so no annotation is met twice.
//!
//! | file | question it answers |
//! |---|---|
//! | `search` | which annotation comes next? |
//! | `burst` | the same, a whole causal past at a time |
//! | `basis` | which events are in a trace that realises an annotation? |
//! | [`realise`](raddle_consistency::realise) | is there such a trace? |
//! | `traces` | is a realisation at hand? |
//! | `findings` | what does an annotation show? |
//! | `options` | which variant of the method is used? |
//!
//! # Where we deviate
//!
//! * A node of the published search holds a maximal trace, and reads of it are changed. Only the first read of each thread that
//!   has no annotation can be changed to something realisable, and only to writes before which all reads are annotated. So
//!   a node here is the set of events that the annotation determines (`sequence::Frontier`), its pending reads are
//!   tried, and no trace needs to be extended. That also repairs what the published method loses at deadlocks, where a lock
//!   that its thread waits at is in no trace: it is pending. The maximal traces are the nodes without pending reads.
//! * The number of nodes is the number of annotations of all traces, also of those that are not maximal. It is reported as
//!   `nodes`, apart from executions.
//! * The basis of an annotation is a projection and not found by execution (`basis`).
//! * Architectures with cycles: see [`realise`](raddle_consistency::realise). With [`refine`](options::Settings::refine) the order of the writes of some locations is made part of the
//!   class, as published, by an explicit order instead of locks. Which writes is decided by the first trace.
//! * Reads that need not be tried are left out (`sequence::signals`).
//! * Burst mutations lose executions as printed; see `burst`.
//! * Locks are updates: a lock reads from an unlock and writes. Read-modify-writes, compare-exchanges, try-locks, condition
//!   variables, waiting reads, choices, spawn and join are handled and not part of the published method. A read that waits may do
//!   so for ever; whether it can is asked as a realisation with reads at the end.
//! * Arrivals at barriers have no order, and who was the last is a choice of those who ask (`sequence::meetings`); not with bursts.
//!
//! # What it decides, and what it refuses
//!
//! Failures of threads, deadlocks and data races (`sequence::races`) are decided exactly. Refused: memory models
//! other than SC, atomic blocks, accesses of different sizes to the same bytes, two threads that end the same thing in either order, and
//! programs in which an access may come after the end of its object, unless that is the violation to be reported.
//!
//! A class does not fix the content of memory at the end. A property of that must be written as reads by a thread that has
//! joined the others.
//!
//! Workers share a search by parts of nodes (`sequence::pool`); with bursts there is one.
//!
//! # Cost
//!
//! A realisation takes polynomial time where threads communicate along a forest, and in practice elsewhere. There can be
//! exponentially more nodes than executions: without signals independent pairs of a read and a write make `2^k` classes and `3^k` nodes.

mod basis;
mod burst;
mod findings;
mod observe;
pub mod options;
mod refine;
mod search;
#[cfg(test)]
mod tests;
mod traces;

use crate::sequence::{self, pool, shell};
use options::Settings;
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Outcome, Question, Refusal, Switch};

/// The engine `dc`.
#[derive(Clone, Copy, Debug)]
pub struct DataCentric;

impl Engine for DataCentric {
    fn name(&self) -> &'static str {
        "dc"
    }

    fn summary(&self) -> &'static str {
        "one execution per reads-from class, by annotations that are realised (SC)"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::ReadsFrom
    }

    fn switches(&self) -> &'static [Switch] {
        options::SWITCHES
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        sequence::takes("dc", question)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        explore(*question, deadline, Settings::from(&question.options.switches))
    }
}

/// Explores with these settings.
pub fn explore(question: Question<'_>, deadline: &Deadline<'_>, settings: Settings) -> Result<Outcome, Fault> {
    shell::meeting(question, deadline, |meetings| {
        if settings.burst {
            return shell::run(burst::Search::new(question, deadline, settings));
        }
        pool::explore(search::Search::new(question, deadline, settings, meetings), question, deadline, settings)
    })
}
