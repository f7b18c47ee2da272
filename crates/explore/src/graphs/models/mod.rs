//! Memory models: what the search over graphs asks of one, and one file for each.
//!
//! Shared by all models are the events with their order of addition, program order, reads-from and coherence, the
//! prefixes by program order and reads-from, and with these the whole search: branches, revisits, ends. A model says
//!
//! * which events an operation becomes ([`Model::fence`] and what follows it);
//! * which sources and places a new event may take. These are a suffix of the location's coherence list, so two *floors* say
//!   it. That what is already there is consistent may be relied on, and the last option always must be;
//! * what it keeps beside a graph to answer this without a search ([`Model::Rows`]), filled when an event is added, taken
//!   back when it is removed, and restricted to what a revisit keeps;
//! * what comes before an event in every run of a graph, and which steps of the machine a run has;
//! * from its definition, whether a graph is consistent: the audit of debug builds.
//!
//! The search relies on this: program order and reads-from have no cycle, what a model keeps of an event does not change
//! when something is added after it unless that is logged, and removing what nothing depends on keeps a graph consistent.
//!
//! | file | models |
//! |---|---|
//! | `global` | what those share that are one acyclic relation on all events |
//! | `buffers` | what those share that have store buffers |
//! | `causal` | what those share in which only the past of an event decides |
//! | `psc` | the order of sequentially consistent events under `rc11` |
//! | `wra`, `ra`, `sra`, `rc11` | weak, usual and strong release-acquire; repaired C11 |
//! | `sc`, `tso`, `pso` | sequential consistency; store buffers, one per thread or one per thread and location |
//!
//! Everything is resolved at compile time: the search is a generic function of the model, because these questions are its
//! innermost loop.

mod buffers;
pub(in crate::graphs) mod causal;
mod global;
mod psc;
mod pso;
mod ra;
mod rc11;
mod sc;
mod sra;
mod tso;
mod wra;

use super::event::{Event, INIT, Kind, Slot};
use super::graph::Graph;
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{BitSet, Relation, Step, ThreadId};
use std::fmt::Debug;

/// A memory model, as the search over graphs needs it.
pub(crate) trait Model: Copy + Debug + Send + Sync + 'static {
    /// What is kept beside the events of a graph.
    type Rows: Clone + Debug + Default + Send + Sync;

    /// Its name.
    const MODEL: raddle_trace::Model;

    /// A read may take a write of its own thread that no other thread can see yet.
    const FORWARDS: bool;

    /// Steps of its machine name the sources of reads and the places of writes.
    const NAMED: bool = false;

    /// Its definition is in terms of what happens before by C11, so that the clocks are always kept.
    const CLOCKED: bool = false;

    /// The writes of a location have an order. If they have none, its searches are over reads-from classes, without a witness.
    const ORDERED: bool = true;

    /// What happens before and the orders of writes of all locations have no cycle together.
    const ONE_ORDER: bool = false;

    /// What a fence is to memory; `None` if it is nothing.
    fn fence(order: Ordering) -> Option<Kind>;

    /// Whether a fence is an update of a location that nothing else accesses.
    fn fence_updates(_order: Ordering) -> bool {
        false
    }

    /// The fence that a store, the next operation of the thread, puts before itself.
    fn fence_before_store(_graph: &Graph<Self>, _thread: ThreadId, _order: Ordering) -> Option<Kind> {
        None
    }

    /// The fence that a store puts after itself.
    fn fence_after_store(_order: Ordering) -> Option<Kind> {
        None
    }

    /// The position in coherence of the oldest source a new last event of its thread may take; -1 is the initial write.
    fn read_floor(graph: &mut Graph<Self>, event: &Event) -> isize;

    /// The position after which a new last event of its thread may be placed.
    fn write_floor(graph: &mut Graph<Self>, event: &Event) -> isize;

    /// Whether a new last event of its thread, which has been added with a source or place above the floor that is not the last one, breaks
    /// something that floors do not see.
    fn refuses(_graph: &Graph<Self>, _slot: Slot) -> bool {
        false
    }

    /// Whether one event is certain to come before another one that ends the life of what it accesses.
    fn is_ordered(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.before(first, second)
    }

    /// The read floor of an event of the graph, were only these events there.
    fn read_floor_within(graph: &Graph<Self>, read: &Event, events: &BitSet) -> isize;

    /// In a reads-from class: whether a source at or above the floor needs no other look, whatever the order of writes at hand is. `read` is the new read, and it
    /// may be half of an update.
    fn floors_decide(_graph: &Graph<Self>, _events: &BitSet, _read: Option<&Event>, _updates: bool) -> bool {
        true
    }

    /// Whether one event happens before another, by what settles the past of events.
    fn happens_before(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        graph.prefix.before(first as usize, second as usize)
    }

    /// How many events of a thread happen before an event, or are it.
    fn known(graph: &Graph<Self>, slot: Slot, thread: usize) -> usize {
        let is_known = |&other: &Slot| other == slot || Self::happens_before(graph, other, slot);
        graph.threads[thread].events.partition_point(is_known)
    }

    /// In a reads-from class: collects what is before a new last event of its thread in every run, its source left out.
    fn past(graph: &Graph<Self>, event: &Event, row: &mut Vec<u64>) {
        Self::collect(graph, Self::base(graph), event, row);
    }

    /// Adds to the past of a read what it learns from its source.
    fn learn(graph: &Graph<Self>, read: &Event, row: &mut [u64]) {
        if read.rf != INIT {
            row.iter_mut().zip(graph.prefix.row(read.rf as usize)).for_each(|(word, more)| *word |= more);
            row[read.rf as usize / 64] |= 1 << (read.rf % 64);
        }
    }

    /// In a reads-from class: whether one write is before another of its location in every run.
    fn always_before(graph: &Graph<Self>, first: Slot, second: Slot) -> bool {
        Self::base(graph).before(first as usize, second as usize)
    }

    /// Makes room for so many slots.
    fn grow(_rows: &mut Self::Rows, _slots: usize) {}

    /// An event has been added, a write at this position of coherence; what precedes it in its thread was there before.
    fn added(_graph: &mut Graph<Self>, _slot: Slot, _position: usize) {}

    /// How much can be undone.
    fn mark(_rows: &Self::Rows) -> usize {
        0
    }

    /// Takes back what adding events since the mark has changed in the rows of others.
    fn undo(_rows: &mut Self::Rows, _mark: usize) {}

    /// Makes `target` the rows of the part of the graph that `keep` is, whose events in the order of addition are `order`.
    fn restrict(_graph: &Graph<Self>, _keep: &BitSet, _order: &[Slot], _target: &mut Self::Rows) {}

    /// What is before an event of the graph in every run of it.
    fn before(graph: &Graph<Self>, slot: Slot) -> &[u64] {
        graph.prefix.row(slot as usize)
    }

    /// Collects what is before a new last event of its thread, its source left out, in every run of the class.
    fn collect_next(graph: &Graph<Self>, event: &Event, row: &mut Vec<u64>) {
        Self::collect(graph, &graph.prefix, event, row);
    }

    /// In a reads-from class: what is before each event whatever the order of writes.
    fn base(graph: &Graph<Self>) -> &Relation {
        &graph.prefix
    }

    /// Collects what is before a new last event of its thread, its source left out, given what is before others.
    fn collect(graph: &Graph<Self>, relation: &Relation, event: &Event, row: &mut Vec<u64>);

    /// In a reads-from class: the order of writes has been exchanged for that of this sequence of all events.
    fn adopted(_graph: &mut Graph<Self>, _sequence: impl Iterator<Item = Slot>) {}

    /// The step by which a write to this address that has been issued reaches memory, if that is one of its own.
    fn arrival(_write: &Event, _addr: Addr) -> Option<Step> {
        None
    }

    /// From the definition of the model: whether the graph is consistent.
    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool;
}

/// Something that is done under a model.
pub(crate) trait Task {
    /// What comes of it.
    type Output;

    /// Does it.
    fn under<M: Model>(self) -> Self::Output;
}

/// Does something under the model of this name.
pub(crate) fn under<T: Task>(model: raddle_trace::Model, task: T) -> T::Output {
    match model {
        raddle_trace::Model::Sc => task.under::<sc::Sc>(),
        raddle_trace::Model::Tso => task.under::<tso::Tso>(),
        raddle_trace::Model::Pso => task.under::<pso::Pso>(),
        raddle_trace::Model::Ra => task.under::<ra::Ra>(),
        raddle_trace::Model::Rc11 => task.under::<rc11::Rc11>(),
        raddle_trace::Model::Sra => task.under::<sra::Sra>(),
        raddle_trace::Model::Wra => task.under::<wra::Wra>(),
    }
}
