//! What a winner can show: a strategy, and on graphs a lasso.
//!
//! **Strategy.** It says for each vertex that is not random which successors to choose from, all of them with some probability. Inside a good component these are all that stay in
//! it: then every vertex of the component is visited again and again with probability one. Outside they are one that is closer to a good component, and a win
//! by luck is not undone. So one that draws lots needs no memory; one that does not would have to remember whose turn it is.
//!
//! **Lasso.** A path to a good component and a cycle inside it. The cycle begins as a shortest one and is led through a grant as long as it has a request
//! without one; it is as short as that leaves it, not the shortest.

use crate::graph::{Graph, Pair, Vertex, bits};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Which successors to choose from, for the vertices of a set that are not random.
pub type Strategy = Vec<(Vertex, Vec<Vertex>)>;

/// A path and a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// From the first vertex up to the cycle; empty if the first vertex is on it.
    pub stem: Vec<Vertex>,
    /// The cycle, which the last vertex closes; at least one vertex.
    pub cycle: Vec<Vertex>,
}

/// A strategy for the winning set, all of which reaches the good components without leaving it.
pub fn strategy(graph: &Graph, winning: &[Vertex], good: &[Vec<Vertex>]) -> Strategy {
    let vertices = graph.vertices();
    let inside = bits(vertices, winning);
    let component: FxHashMap<Vertex, usize> =
        good.iter().enumerate().flat_map(|(at, part)| part.iter().map(move |&vertex| (vertex, at))).collect();
    // How far a good component is: through random vertices by luck.
    let mut before: FxHashMap<Vertex, Vec<Vertex>> = FxHashMap::default();
    for &from in winning {
        for &to in graph.successors(from).iter().filter(|&&to| inside.contains(to as usize)) {
            before.entry(to).or_default().push(from);
        }
    }
    let mut distance = vec![u32::MAX; vertices];
    let mut queue: VecDeque<Vertex> = good.iter().flatten().copied().collect();
    for &vertex in &queue {
        distance[vertex as usize] = 0;
    }
    while let Some(to) = queue.pop_front() {
        for &from in before.get(&to).into_iter().flatten() {
            if distance[from as usize] == u32::MAX {
                distance[from as usize] = distance[to as usize] + 1;
                queue.push_back(from);
            }
        }
    }
    let choices = |&vertex: &Vertex| {
        let successors = graph.successors(vertex).iter().copied();
        let chosen = match component.get(&vertex) {
            Some(here) => successors.filter(|to| component.get(to) == Some(here)).collect(),
            None => successors
                .filter(|&to| inside.contains(to as usize))
                .min_by_key(|&to| distance[to as usize])
                .into_iter()
                .collect(),
        };
        (vertex, chosen)
    };
    winning.iter().filter(|&&vertex| !graph.is_random(vertex)).map(choices).collect()
}

/// A shortest path from a vertex into one of these components, both ends included, and which component it is.
pub fn path_to(graph: &Graph, from: Vertex, good: &[Vec<Vertex>]) -> Option<(Vec<Vertex>, usize)> {
    let target: Vec<Vertex> = good.iter().flatten().copied().collect();
    let path = path(graph, from, &bits(graph.vertices(), &target), None, false)?;
    let end = path.last()?;
    let component = good.iter().position(|part| part.contains(end))?;
    Some((path, component))
}

/// A lasso from a vertex into one of the good components of a graph, if one can be reached.
pub fn lasso(graph: &Graph, pairs: &[Pair], from: Vertex, good: &[Vec<Vertex>]) -> Option<Lasso> {
    let vertices = graph.vertices();
    let (mut stem, component) = path_to(graph, from, good)?;
    let inside = bits(vertices, &good[component]);
    let begin = stem.pop()?;
    let single = |vertex| bits(vertices, &[vertex]);
    let mut cycle = path(graph, begin, &single(begin), Some(&inside), true)?;
    while let Some(pair) = pairs.iter().find(|pair| is_open(pair, &cycle)) {
        // From where the cycle is about to close, by a grant.
        let grants = &bits(vertices, &pair.grants) & &inside;
        let last = *cycle.last()?;
        let there = path(graph, last, &grants, Some(&inside), false)?;
        let back = path(graph, *there.last()?, &single(begin), Some(&inside), true)?;
        cycle.extend(&there[1..]);
        cycle.extend(&back[1..]);
    }
    // It came back to where it began.
    cycle.pop();
    Some(Lasso { stem, cycle })
}

/// Whether a cycle has a request of the pair and no grant.
pub(crate) fn is_open(pair: &Pair, cycle: &[Vertex]) -> bool {
    let on: FxHashSet<Vertex> = cycle.iter().copied().collect();
    let met = |set: &[Vertex]| set.iter().any(|vertex| on.contains(vertex));
    met(&pair.requests) && !met(&pair.grants)
}

/// A shortest path from a vertex into a set, both ends included; with at least one edge, if `moves`.
fn path(
    graph: &Graph,
    from: Vertex,
    to: &FixedBitSet,
    inside: Option<&FixedBitSet>,
    moves: bool,
) -> Option<Vec<Vertex>> {
    if !moves && to.contains(from as usize) {
        return Some(vec![from]);
    }
    let mut came: FxHashMap<Vertex, Vertex> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        for &next in graph.successors(here) {
            if inside.is_some_and(|inside| !inside.contains(next as usize)) || came.contains_key(&next) {
                continue;
            }
            came.insert(next, here);
            if to.contains(next as usize) {
                let mut path = vec![next, here];
                let mut at = here;
                while at != from {
                    at = came[&at];
                    path.push(at);
                }
                path.reverse();
                return Some(path);
            }
            queue.push_back(next);
        }
    }
    None
}
