//! Graphs, MDPs and Streett objectives, as lists.
//!
//! An MDP is a graph in which some vertices are *random*: there the successor is drawn, every one with some probability above zero, and elsewhere it is
//! chosen. Whether something happens with probability one does not depend on the probabilities, so none are kept. A graph is an MDP without random vertices.
//!
//! A Streett objective is a list of pairs: whoever visits the requests of a pair again and again visits its grants again and again.

use fixedbitset::FixedBitSet;
use thiserror::Error;

/// A vertex, by number.
pub type Vertex = u32;

/// The most vertices a graph can have: two vertices side by side fit in a word of 62 bits, and counts of them too.
pub const MAX_VERTICES: usize = 1 << 31;

/// A graph in which every vertex has a successor; some vertices may be random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the successors of a vertex begin; one entry more than there are vertices.
    starts: Vec<usize>,
    /// Ascending for each vertex.
    successors: Vec<Vertex>,
    random: FixedBitSet,
}

/// Why this is no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoGraph {
    /// It has no vertices at all.
    #[error("there are no states")]
    Empty,
    /// More than [`MAX_VERTICES`].
    #[error("there are more than {MAX_VERTICES} states")]
    TooLarge,
    /// An edge or a mark names something that is no vertex.
    #[error("state {0} does not exist")]
    NoSuchVertex(Vertex),
    /// Every vertex needs a successor.
    #[error("state {0} has no successor")]
    DeadEnd(Vertex),
}

impl Graph {
    /// The graph with vertices `0..vertices`, these edges (in any order, as often as one likes) and these random vertices.
    ///
    /// # Errors
    /// If there is no vertex or there are too many, an edge or a mark leads nowhere, or a vertex has no successor.
    pub fn new(vertices: usize, mut edges: Vec<(Vertex, Vertex)>, random: &[Vertex]) -> Result<Self, NoGraph> {
        if vertices == 0 {
            return Err(NoGraph::Empty);
        }
        if vertices > MAX_VERTICES {
            return Err(NoGraph::TooLarge);
        }
        let named = edges.iter().flat_map(|&(from, to)| [from, to]).chain(random.iter().copied());
        if let Some(wrong) = named.into_iter().find(|&vertex| vertex as usize >= vertices) {
            return Err(NoGraph::NoSuchVertex(wrong));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0; vertices + 1];
        for &(from, _) in &edges {
            starts[from as usize + 1] += 1;
        }
        if let Some(dead) = starts[1..].iter().position(|&degree| degree == 0) {
            return Err(NoGraph::DeadEnd(dead as Vertex));
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let successors = edges.into_iter().map(|(_, to)| to).collect();
        let random = bits(vertices, random);
        Ok(Graph { starts, successors, random })
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.successors.len()
    }

    /// Where one can go from here, ascending.
    pub fn successors(&self, vertex: Vertex) -> &[Vertex] {
        &self.successors[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }

    /// All edges, ascending.
    pub fn edges(&self) -> impl Iterator<Item = (Vertex, Vertex)> {
        (0..self.vertices() as Vertex).flat_map(|from| self.successors(from).iter().map(move |&to| (from, to)))
    }

    /// Whether the successor is drawn here.
    pub fn is_random(&self, vertex: Vertex) -> bool {
        self.random.contains(vertex as usize)
    }

    /// The random vertices, ascending.
    pub fn random(&self) -> impl Iterator<Item = Vertex> {
        self.random.ones().map(|vertex| vertex as Vertex)
    }

    /// Whether some vertex is random.
    pub fn is_mdp(&self) -> bool {
        !self.random.is_clear()
    }

    /// The same graph with these random vertices in place of its own.
    ///
    /// # Errors
    /// If one of them does not exist.
    pub fn with_random(mut self, random: &[Vertex]) -> Result<Self, NoGraph> {
        match random.iter().find(|&&vertex| vertex as usize >= self.vertices()) {
            Some(&wrong) => Err(NoGraph::NoSuchVertex(wrong)),
            None => {
                self.random = bits(self.vertices(), random);
                Ok(self)
            }
        }
    }
}

/// A set of vertices below `vertices`, as bits.
pub(crate) fn bits(vertices: usize, set: &[Vertex]) -> FixedBitSet {
    let mut bits = FixedBitSet::with_capacity(vertices);
    for &vertex in set {
        bits.insert(vertex as usize);
    }
    bits
}

/// One pair of a Streett objective.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Whoever is here again and again ...
    pub requests: Vec<Vertex>,
    /// ... has to be here again and again.
    pub grants: Vec<Vertex>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_has_a_successor_or_there_is_no_graph() {
        assert_eq!(Graph::new(0, vec![], &[]), Err(NoGraph::Empty));
        assert_eq!(Graph::new(2, vec![(0, 1)], &[]), Err(NoGraph::DeadEnd(1)));
        assert_eq!(Graph::new(2, vec![(0, 1), (1, 2)], &[]), Err(NoGraph::NoSuchVertex(2)));
        assert_eq!(Graph::new(1, vec![(0, 0)], &[1]), Err(NoGraph::NoSuchVertex(1)));
        let graph = Graph::new(2, vec![(1, 0), (0, 1), (1, 0), (1, 1)], &[1]).expect("a graph");
        assert_eq!((graph.edge_count(), graph.successors(1)), (3, &[0, 1][..]));
        assert!(graph.is_random(1) && !graph.is_random(0) && graph.is_mdp());
    }
}
