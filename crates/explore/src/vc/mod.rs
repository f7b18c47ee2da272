//! The engine `vc`: at most one execution per value-centric class.
//!
//! One thread is the *root*, the others are *leaves*. Two executions are in one class if they have the same events with the same
//! values, the same causal order between reads (the closure of program order and reads-from), the same order of each
//! conflicting pair of leaf events, and if each read of the root reads from the root in both or in neither. Threads are functions
//! of the values they read, so one execution per class visits every state of every thread.
//!
//! The method is that of Chatterjee, Pavlogiannis and Toman 2019 (VC-DPOR; also Toman 2021). A node of the search is a set of events, a
//! set of *good writes* for each of its reads, and a partial order that orders conflicting leaf events: an *annotated partial
//! order* (`accesses`, `order`). Whether there is an execution of it is decided in polynomial time, by its `closure`, and the
//! execution is read off it (`realise`): that is what the root and the orders of leaf events are good for. Reads are tried with
//! each group of writes of one value; before another read is tried, what this one has tried is forbidden for it (*causal map*).
//!
//! | file | question it answers |
//! |---|---|
//! | `search` | what is tried next? |
//! | `candidates` | what can a read read from, and which of that is the same? |
//! | `extend` | in which ways can new events be put into an order? |
//! | `accesses`, `order`, `closure` | is there an execution? |
//! | `realise` | which? |
//! | `ends` | is this the end of an execution, and of which kind? |
//! | `findings` | what does a node show, and what is refused? |
//! | `options` | which thread is the root, and other switches |
//!
//! # Where we deviate
//!
//! * Causal maps count the events of each thread instead of naming its last read; that is the same, since all threads have been run
//!   to their next reads, and settles what the two bottom values of the published maps mean.
//! * The order of conflicting leaf events is compared pair by pair. By the letter of the published definition orders
//!   that only come about through root events would count, too; the algorithm does not tell them apart, and the published numbers
//!   do not.
//! * Where no thread can go on, one execution is counted, whatever orders of the last writes there are: no read tells
//!   them apart. [`every_order`](options::Settings::every_order) counts each.
//! * If a read with a value has ended an execution, it is not tried again with this value in other orders of the leaves
//!   ([`shortcut`](options::Settings::shortcut)). Several published numbers are only met with this.
//! * Relaxed orders: two writes of leaves are not ordered until the closure has a choice between edges that depends on their order; then each order is
//!   tried. Likewise a read of the root may have good writes of the root and of leaves, until the closure has to know which it reads from (`closure` has the
//!   argument why there is an execution if nothing is left to ask). Published are weaker relaxations: writes that are good for no read are not ordered, nor writes
//!   that no read can see any more. As results differ in an order, or a side, that classes tell apart, no class is met twice.
//! * Backtrack signals ([`signals`](options::Settings::signals)), published for `rvf` only: the reads behind one that has tried all that is there are tried only
//!   if a write to its location shows up below, or a lock that it may hide. The argument is the same (`sequence::signals`): take an execution in which the
//!   read comes behind a new write to its location, and the first such write. Without that write and what depends on it the read finds what was there, the orders of
//!   leaf events are those of the node, and the write is what its thread does next; so it shows up below the read. Where the shortcut has left something
//!   out, all are tried.
//! * Locks are tried before other reads, and with relaxed orders reads that can see a write of their own thread before the rest. The published order is the root first, then the
//!   leaves in any order. Orders make up to half as many executions more or fewer of one program, and none is the best for all: with this one Lamport's
//!   algorithm has 15 % fewer than with the root first, and Dekker's 14 % more.
//! * A mutex is taken from the release that ends the last critical section, which makes the order of critical sections total.
//!   A try-lock that fails does so from any holder.
//! * Reads that wait, and loops that turn without effect, which the method does not have: see `ends`. The shortcut is not taken
//!   where whether an execution ends depends on the order.
//! * Choices are tried one by one, before reads.
//! * Barriers, which the method does not have: arrivals have no order, and who was the last is a choice of those who ask (`sequence::meetings`).
//!
//! # What it decides, and what it refuses
//!
//! Failures of threads, deadlocks and data races (`sequence::races`) are decided exactly. Refused are operations
//! that read and write in one step other than locks of a mutex and arrivals at barriers (nothing keeps the halves together in a realisation), atomic
//! blocks, memory models other than SC, and objects whose life may end before an access to them.
//!
//! Workers share a search by parts of nodes (`sequence::pool`). The orders of a node are taken one after the other: what has ended an execution in one is left out in the next.
//!
//! # Cost
//!
//! Polynomial per class for a fixed number of threads. There can be many more classes than with `rvf` where leaves write
//! and read one location, since the orders of their reads and writes are told apart. Many nodes are no ends of executions, and the closure is most of
//! the work.

mod accesses;
mod candidates;
mod closure;
mod ends;
mod extend;
mod findings;
pub mod options;
mod order;
mod realise;
mod search;
#[cfg(test)]
mod tests;

use crate::sequence::{self, pool, shell};
use options::Settings;
use raddle_engine::{Deadline, Engine, Equivalence, Fault, Outcome, Question, Refusal, Switch};

/// The engine `vc`.
#[derive(Clone, Copy, Debug)]
pub struct ValueCentric;

impl Engine for ValueCentric {
    fn name(&self) -> &'static str {
        "vc"
    }

    fn summary(&self) -> &'static str {
        "at most one execution per class of values, causal order of reads, and order of all but one thread (SC)"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::ValueCentric
    }

    fn switches(&self) -> &'static [Switch] {
        options::SWITCHES
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        sequence::takes("vc", question)
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
