//! A smaller good set inside a good one, to show to a person.
//!
//! Vertices are left out, half of them, then a quarter, down to single ones, then edges that somebody chooses one by one; whatever still has a good set inside is kept, as Zeller and Hildebrandt (2002) make inputs smaller. What
//! is left cannot be made smaller by leaving out one more, as long as the effort lasts; it need not be the smallest.
//!
//! Cost: a decomposition of the part for each attempt, and attempts end when they have looked at so many edges.

use crate::graph::Vertex;
use crate::labelled::{Edge, Labelled, NOBODY, Within};
use fixedbitset::FixedBitSet;

/// A good set, and the edges to stay in it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// Its vertices, ascending.
    pub vertices: Vec<Vertex>,
    /// Edges inside of it, ascending: all of those of random vertices, and some of the others, at least one of each.
    pub edges: Vec<Edge>,
}

/// How many edges are looked at.
const EFFORT: usize = 20_000_000;

/// A smaller good set inside a good set of a part of a graph.
pub fn smaller(graph: &Labelled, set: &[Vertex], within: &Within<'_>) -> Small {
    let (part, numbers) = cut_out(graph, set, within);
    let mut small = Shrinking {
        vertices: (0..set.len() as Vertex).collect(),
        dropped: FixedBitSet::with_capacity(part.edges()),
        part: &part,
        effort: EFFORT,
    };
    let mut size = set.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < small.vertices.len() {
            if !small.leave_out(at..(at + size).min(small.vertices.len())) {
                at += size;
            }
        }
        size /= 2;
    }
    let edges = small.chosen();
    for edge in edges {
        small.drop(edge);
    }
    let all = small.edges();
    let vertices = small.vertices.iter().map(|&vertex| set[vertex as usize]).collect();
    Small { vertices, edges: all.into_iter().map(|edge| numbers[edge as usize]).collect() }
}

/// The set as a graph of its own, and what its edges were.
fn cut_out(graph: &Labelled, set: &[Vertex], within: &Within<'_>) -> (Labelled, Vec<Edge>) {
    let mut part = Labelled::new(usize::from(graph.pairs()));
    let mut numbers = Vec::new();
    for &vertex in set {
        let place = |edge: Edge| set.binary_search(&graph.target(edge)).ok().map(|place| place as Vertex);
        let inside = graph.from(vertex).filter(|&edge| (within.edge)(edge) && place(edge).is_some());
        let edges: Vec<Edge> = inside.collect();
        let leads = |edge: &Edge| place(*edge).expect("it is inside");
        if graph.is_random(vertex) {
            part.push_random(edges.iter().map(leads));
        } else {
            let all = 0..graph.pairs();
            let (requests, grants) = (all.clone(), all);
            part.push(
                requests.filter(|&pair| graph.requests(vertex, pair)),
                grants.filter(|&pair| graph.grants(vertex, pair)),
                edges.iter().map(|edge| (leads(edge), graph.granted(*edge))),
            );
        }
        numbers.extend(edges);
    }
    (part, numbers)
}

struct Shrinking<'p> {
    part: &'p Labelled,
    vertices: Vec<Vertex>,
    dropped: FixedBitSet,
    effort: usize,
}

impl Shrinking<'_> {
    /// Looks for a good set among these vertices and keeps it.
    fn keep(&mut self, among: &FixedBitSet) -> bool {
        if self.effort == 0 {
            return false;
        }
        self.effort = self.effort.saturating_sub(self.part.edges() + self.part.len());
        let within = Within {
            vertex: &|vertex| among.contains(vertex as usize),
            edge: &|edge| !self.dropped.contains(edge as usize),
        };
        let found = self.part.decompose(&within, &|| false).expect("nobody stops it");
        let least = found.good.into_iter().min_by_key(Vec::len);
        least.map(|set| self.vertices = set).is_some()
    }

    fn all(&self) -> FixedBitSet {
        self.vertices.iter().map(|&vertex| vertex as usize).collect()
    }

    fn leave_out(&mut self, places: std::ops::Range<usize>) -> bool {
        let mut among = self.all();
        self.vertices[places].iter().for_each(|&vertex| among.set(vertex as usize, false));
        self.keep(&among)
    }

    fn drop(&mut self, edge: Edge) {
        self.dropped.insert(edge as usize);
        if !self.keep(&self.all()) {
            self.dropped.set(edge as usize, false);
        }
    }

    /// The edges that are left.
    fn edges(&self) -> Vec<Edge> {
        let all = self.all();
        let inside =
            |edge: &Edge| all.contains(self.part.target(*edge) as usize) && !self.dropped.contains(*edge as usize);
        self.vertices.iter().flat_map(|&vertex| self.part.from(vertex).filter(inside)).collect()
    }

    /// Those among them that somebody chooses. What grants nothing is tried first.
    fn chosen(&self) -> Vec<Edge> {
        let choosing = self.vertices.iter().filter(|&&vertex| !self.part.is_random(vertex));
        let mut edges: Vec<Edge> = choosing.flat_map(|&vertex| self.part.from(vertex)).collect();
        edges.sort_by_key(|&edge| self.part.granted(edge) != NOBODY);
        edges
    }
}
