//! How many reads-from classes make one class of values, as far as the first executions tell.
//!
//! At every read, how many sources are there for how many values? The product of these ratios along an execution estimates how many reads-from classes
//! have the values of this one. The estimate for the program is the geometric mean over the executions that were looked at. Who takes a mutex next is no such choice: each order of
//! acquisitions is a class of its own by values, too.

use super::branch::{Branch, Level};
use super::context::Context;
use super::graph::Graph;
use super::models::Model;
use super::snapshot::Node;
use super::sources::Sources;
use crate::world::{Initial, LocId};
use raddle_machine::{Automaton, Status, Visible};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many executions are enough.
const ENOUGH: u64 = 2_000;

/// The unit of logarithms that are added up by several workers.
const UNIT: f64 = 1e-6;

/// Executions that were looked at, and what they say.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// The logarithms of sources per value, added up along each execution.
    sum: AtomicU64,
    executions: AtomicU64,
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
