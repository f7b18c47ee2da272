//! The engine `rvf`: at most one execution per class of values and the causal order of reads, and at least one for every
//! value that the events can have.
//!
//! Two executions are in one *reads-value-from* class if they have the same events with the same values and the same causal
//! order between reads (the closure of program order and reads-from). Threads are functions of the values they read, so one
//! execution per class visits every state of every thread. No equivalence of the other engines is coarser.
//!
//! The method is that of Agarwal, Chatterjee, Pathak, Pavlogiannis and Toman 2021 (RVF-SMC; also Toman 2021). A node of the search
//! is a set of events closed under program order, a set of *good writes* for each of its reads, and a sequence of the events
//! in which each read reads from a good write. All threads are run up to their next reads. Then a read is tried: the writes
//! it could read from are grouped by value, and each group for which there is a sequence makes a child. Before
//! the next read is tried the writes that are there now are forbidden for this one (*causal map*): it has tried them. If no
//! new write to its location shows up while a read is tried, the other reads need not be (`signals`).
//!
//! | file | question it answers |
//! |---|---|
//! | `search` | what is tried next? |
//! | `candidates` | what can a read read from, and which of that is the same? |
//! | `sequence::signals` | need other reads be tried? |
//! | `witness` | is there a sequence? Is it at hand? |
//! | [`values`](raddle_consistency::values) | the same as a problem about numbered events |
//! | `ends` | is this the end of an execution, and of which kind? |
//! | `findings` | what does a node show? |
//! | `lives` | can an access come after the end of its object? |
//! | `options` | which heuristics are used? |
//!
//! # Where we deviate
//!
//! * An update is one event, not two.
//! * Signals: what an update writes is a signal, and pending updates and locks are; see `signals`. Without that executions are
//!   lost.
//! * Waits. A read that waits for some values takes only the others. It may also stay at its wait for ever, if memory ends up
//!   with a value it waits to change; whether there is such a sequence is one more instance (`ends`). Waiting reads that
//!   are no locks of a mutex never stop the search of other reads, since the argument for signals does not hold for them.
//! * A mutex is taken from one release at a time, as published. A try-lock that fails does so from any holder.
//! * Choices are tried one by one, before reads.
//! * Barriers, which the method does not have: arrivals have no order, and who was the last is a choice of those who ask (`sequence::meetings`).
//! * What a read can see is restricted by program order and by the reads that have one source only (published: by program order).
//!   With locks that leaves few writes that are not there to be read.
//! * A sequence with the new read is first looked for by putting the read somewhere into the sequence at hand.
//! * With [`by_source`](options::Settings::by_source) each write is a group of its own, and the executions are exactly the
//!   reads-from classes.
//!
//! # What it decides, and what it refuses
//!
//! Failures of threads and deadlocks are decided exactly. A class does not fix the order of an access and the end of its
//! object's life; whether the wrong order is possible is asked for each such pair at the end of an execution. It does not
//! fix which reads synchronise either; whether some sequence of the events has a data race is asked there, too
//! (`sequence::races`). Atomic blocks and memory models other than SC are refused.
//!
//! Workers share a search by parts of nodes (`sequence::pool`); signals go from the leaves to the root, so whoever gave a part away hears of them.
//!
//! Loops that turn without effect until something changes (and are no single waiting read) end in a blocked execution for
//! each way their last turn went; only there can several executions be of one class.
//!
//! # Cost
//!
//! Per class the number of nodes is bounded by `n^k` for `n` events and `k` threads, and each may have to solve an NP-hard problem.
//! In practice most solutions are at hand and most instances without a solution are refuted by the closure. Where values do
//! not repeat there is no gain over reads-from, and the time per execution is higher.

mod candidates;
mod findings;
pub mod options;
mod search;
#[cfg(test)]
mod tests;

use crate::sequence::{self, pool, shell};
use options::Settings;
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Outcome, Question, Refusal, Switch};

/// The engine `rvf`.
#[derive(Clone, Copy, Debug)]
pub struct ReadsValueFrom;

impl Engine for ReadsValueFrom {
    fn name(&self) -> &'static str {
        "rvf"
    }

    fn summary(&self) -> &'static str {
        "at most one execution per class of values and the causal order of reads (SC)"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::ReadsValueFrom
    }

    fn switches(&self) -> &'static [Switch] {
        options::SWITCHES
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        sequence::takes("rvf", question)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        explore(*question, deadline, Settings::from(&question.options.switches))
    }
}

/// Explores with these settings.
pub fn explore(question: Question<'_>, deadline: &Deadline<'_>, settings: Settings) -> Result<Outcome, Fault> {
    shell::meeting(question, deadline, |meetings| {
        pool::explore(search::Search::new(question, deadline, settings, meetings), question, deadline, settings)
    })
}
