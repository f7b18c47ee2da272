//! How many reads-from classes make one class of values, and how many traces make one of them, as far as executions tell.
//!
//! At every read, how many sources are there for how many values? The product of these ratios along an execution estimates how many reads-from classes
//! have the values of this one. The estimate for the program is the geometric mean over the executions that were looked at. Who takes a mutex next is no such choice: each order of
//! acquisitions is a class of its own by values, too.
//!
//! Where what is read leaves writes no choice of their order, each reads-from class is one trace, and a search over traces needs less for each. So some executions
//! are asked whether two writes that follow one another could be exchanged: all of the first ones, then now and then one, for as long as the search goes on.

use super::branch::{Branch, Level};
use super::context::Context;
use super::event::Flags;
use super::graph::Graph;
use super::models::Model;
use super::realise::Question;
use super::snapshot::Node;
use super::sources::Sources;
use crate::world::{Initial, LocId};
use raddle_machine::{Automaton, Status, Visible};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many executions are enough.
const ENOUGH: u64 = 2_000;

/// Of how many executions the first ones, and then which, are asked for other orders of their writes.
const FIRST: u64 = 64;
const EVERY: u64 = 32;

/// So many must have been asked, and for one of them with another order there must be so many in all.
const ASKED: u64 = 16;
const FEW: u64 = 64;

/// The unit of logarithms that are added up by several workers.
const UNIT: f64 = 1e-6;

/// Executions that were looked at, and what they say.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// The logarithms of sources per value, added up along each execution.
    sum: AtomicU64,
    executions: AtomicU64,
    /// Executions that ended while the sample was wanted.
    met: AtomicU64,
    /// How many of them were asked for another order of their writes, and how many have one.
    asked: AtomicU64,
    loose: AtomicU64,
}

impl Sample {
    /// Reads-from classes per class of values, estimated.
    pub(crate) fn repeats(&self) -> f64 {
        let sum = self.sum.load(Ordering::Relaxed) as f64 * UNIT;
        (sum / self.executions().max(1) as f64).exp()
    }

    /// How many executions were looked at.
    pub(crate) fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    /// How many executions were asked for another order of their writes.
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether hardly any execution of enough has another order of its writes.
    pub(crate) fn is_rigid(&self) -> bool {
        let loose = self.loose.load(Ordering::Relaxed);
        self.asked() >= ASKED && loose * FEW <= self.asked()
    }

    /// Whether an execution that has ended is one of those to be asked.
    pub(super) fn is_due(&self) -> bool {
        let met = self.met.fetch_add(1, Ordering::Relaxed);
        met < FIRST || met.is_multiple_of(EVERY)
    }

    /// Notes whether there is another order of the writes of an execution.
    pub(super) fn answered(&self, loose: bool) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.loose.fetch_add(u64::from(loose), Ordering::Relaxed);
    }

    /// Whether more of them would help.
    pub(super) fn is_open(&self) -> bool {
        self.executions() < ENOUGH
    }

    /// Adds the execution that the levels have come to.
    pub(super) fn add<M: Model>(&self, levels: &[Level<M>]) {
        let branches = levels.iter().flat_map(|level| &level.frames).map(|frame| &frame.branch);
        let repeats = branches.map(|branch| match branch {
            Branch::Source { repeats, .. } => f64::from(*repeats),
            _ => 0.0,
        });
        self.sum.fetch_add((repeats.sum::<f64>() / UNIT) as u64, Ordering::Relaxed);
        self.executions.fetch_add(1, Ordering::Relaxed);
    }
}

/// The logarithm of how many sources there are per value, for a read of the thread that is in this state.
pub(super) fn repeats<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    loc: LocId,
    node: &Node,
    sources: &Sources,
) -> f32 {
    if sources.len() < 2 || matches!(node.state.status(), Status::Ready(Visible::Update { mutex: true, .. })) {
        return 0.0;
    }
    let mut values: SmallVec<[Option<u64>; 6]> = SmallVec::new();
    for &source in sources {
        let value = match context.value(graph, loc, source) {
            Initial::Value(value) => Some(value),
            Initial::Uninitialised => None,
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    (sources.len() as f32 / values.len() as f32).ln()
}

/// Whether two writes that follow one another in coherence could be exchanged, and all would be read from the same.
pub(super) fn is_loose<M: Model>(context: &mut Context<'_>, graph: &Graph<M>) -> bool {
    let (asked, refused) = (context.realiser.asked, context.realiser.refused);
    let loose = graph.locations.iter().flat_map(|accesses| accesses.co.windows(2)).any(|pair| {
        let (first, second) = (graph.event(pair[0]), graph.event(pair[1]));
        let takes = second.flags.contains(Flags::LOCKED) && graph.source_of_update(second) == pair[0];
        if first.thread == second.thread || takes || M::always_before(graph, pair[0], pair[1]) {
            return false;
        }
        let exchanged = [(pair[1], pair[0])];
        let question = Question { graph, events: graph.present(), read: None, updates: false, edges: &exchanged };
        context.realise(question).is_some()
    });
    // They are none of the search.
    (context.realiser.asked, context.realiser.refused) = (asked, refused);
    loose
}
