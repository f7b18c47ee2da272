//! Sets as bits, edges as lists: for small graphs, and as the plain one of the two back ends.
//!
//! An image costs the edges that leave the set, a preimage those that enter it; everything else a pass over the words.

use super::{Backend, Stop};
use crate::graph::{Graph, Vertex};
use fixedbitset::FixedBitSet;

/// Sets as bits.
#[derive(Debug)]
pub struct Bits<'a> {
    graph: &'a Graph,
    /// Where the predecessors of a vertex begin.
    starts: Vec<usize>,
    predecessors: Vec<Vertex>,
}

impl<'a> Bits<'a> {
    /// For subsets of the vertices of this graph.
    pub fn new(graph: &'a Graph) -> Self {
        let vertices = graph.vertices();
        let mut starts = vec![0; vertices + 1];
        for (_, to) in graph.edges() {
            starts[to as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut predecessors = vec![0; graph.edge_count()];
        for (from, to) in graph.edges() {
            predecessors[next[to as usize]] = from;
            next[to as usize] += 1;
        }
        Bits { graph, starts, predecessors }
    }

    fn nothing(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.graph.vertices())
    }
}

impl Backend for Bits<'_> {
    type Set = FixedBitSet;

    fn set(&self, vertices: &[Vertex]) -> Result<FixedBitSet, Stop> {
        Ok(crate::graph::bits(self.graph.vertices(), vertices))
    }

    fn members(&self, set: &FixedBitSet) -> Vec<Vertex> {
        set.ones().map(|vertex| vertex as Vertex).collect()
    }

    fn least(&self, set: &FixedBitSet) -> Option<Vertex> {
        set.minimum().map(|vertex| vertex as Vertex)
    }

    fn size(&self, set: &FixedBitSet) -> u64 {
        set.count_ones(..) as u64
    }

    fn is_empty(&self, set: &FixedBitSet) -> bool {
        set.is_clear()
    }

    fn same(&self, one: &FixedBitSet, other: &FixedBitSet) -> bool {
        one == other
    }

    fn or(&self, one: &FixedBitSet, other: &FixedBitSet) -> Result<FixedBitSet, Stop> {
        Ok(one | other)
    }

    fn and(&self, one: &FixedBitSet, other: &FixedBitSet) -> Result<FixedBitSet, Stop> {
        Ok(one & other)
    }

    fn minus(&self, one: &FixedBitSet, other: &FixedBitSet) -> Result<FixedBitSet, Stop> {
        let mut left = one.clone();
        left.difference_with(other);
        Ok(left)
    }

    fn pre(&self, set: &FixedBitSet) -> Result<FixedBitSet, Stop> {
        let mut before = self.nothing();
        for to in set.ones() {
            for &from in &self.predecessors[self.starts[to]..self.starts[to + 1]] {
                before.insert(from as usize);
            }
        }
        Ok(before)
    }

    fn post(&self, set: &FixedBitSet) -> Result<FixedBitSet, Stop> {
        let mut after = self.nothing();
        for from in set.ones() {
            for &to in self.graph.successors(from as Vertex) {
                after.insert(to as usize);
            }
        }
        Ok(after)
    }
}
