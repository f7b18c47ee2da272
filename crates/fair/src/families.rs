//! Graphs and MDPs of any size on which the algorithms differ: for measurements and for tests of the bounds.
//!
//! In a *corridor* every cell leads through a door to a niche. The door of a cell requests what the niche of the cell before grants, and the first door
//! requests what nobody grants. So doors go one by one: without its door a niche is a component of its own, and the corridor has lost the grant of the
//! next door. The basic algorithm decomposes the corridor again for every door; a lock-step search finds the niche in two steps. With as many pairs as
//! cells, that is a square against a line.

use crate::graph::{Graph, Pair, Vertex};

/// The three vertices of a cell: its place in the corridor, its door, its niche.
fn cell(number: usize) -> [Vertex; 3] {
    [0, 1, 2].map(|part| (3 * number + part) as Vertex)
}

fn corridor_edges(cells: usize) -> Vec<(Vertex, Vertex)> {
    let mut edges = Vec::with_capacity(7 * cells);
    for number in 0..cells {
        let [place, door, niche] = cell(number);
        let [next, ..] = cell((number + 1) % cells);
        edges.extend([(place, door), (door, place), (door, niche), (niche, door), (niche, niche)]);
        edges.extend([(place, next), (next, place)]);
    }
    edges
}

/// A ring of so many cells (at least one), and a pair for each door.
pub fn corridor(cells: usize) -> (Graph, Vec<Pair>) {
    grouped_corridor(cells, cells)
}

/// The same with at most so many pairs, at least one: the doors of neighbouring cells share one.
pub fn grouped_corridor(cells: usize, pairs: usize) -> (Graph, Vec<Pair>) {
    let graph = Graph::new(3 * cells, corridor_edges(cells), &[]).expect("every vertex of a corridor has a successor");
    let group = cells.div_ceil(pairs);
    let mut all: Vec<Pair> = Vec::new();
    for number in 0..cells {
        let [_, door, _] = cell(number);
        if number % group == 0 {
            let grants = all.last().map_or(Vec::new(), |before| before.requests.iter().map(|door| door + 1).collect());
            all.push(Pair { requests: Vec::new(), grants });
        }
        all.last_mut().expect("the first cell makes a pair").requests.push(door);
    }
    (graph, all)
}

/// An MDP whose end-components are the niches and what is left of the places: each door is random and also leads to the niche of the cell before; the
/// first leads to a vertex that nothing leaves. So a door leaks when the niche before it is cut off.
pub fn leaking_corridor(cells: usize) -> Graph {
    let mut edges = corridor_edges(cells);
    let outside = 3 * cells as Vertex;
    edges.push((outside, outside));
    for number in 0..cells {
        let [_, door, _] = cell(number);
        let leak = if number == 0 { outside } else { cell(number - 1)[2] };
        edges.push((door, leak));
    }
    let doors: Vec<Vertex> = (0..cells).map(|number| cell(number)[1]).collect();
    Graph::new(3 * cells + 1, edges, &doors).expect("every vertex of a corridor has a successor")
}

/// A graph with so many edges from each vertex, drawn with this seed.
pub fn random_graph(vertices: usize, degree: usize, seed: u64) -> Graph {
    let mut draw = Draw(seed);
    let mut edges = Vec::with_capacity(vertices * degree);
    for from in 0..vertices {
        edges.extend((0..degree.max(1)).map(|_| (from as Vertex, draw.below(vertices) as Vertex)));
    }
    Graph::new(vertices, edges, &[]).expect("every vertex has a successor")
}

/// So many percent of the vertices, drawn with this seed.
pub fn random_marks(vertices: usize, percent: usize, seed: u64) -> Vec<Vertex> {
    let mut draw = Draw(seed);
    (0..vertices as Vertex).filter(|_| draw.below(100) < percent).collect()
}

/// Numbers of a seed (splitmix64, Steele, Lea and Flood 2014), the same everywhere and for ever: a measurement can be repeated.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
