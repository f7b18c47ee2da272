//! Cycles that rest on assumptions about which version is older.
//!
//! Through every assumed edge that lies on a cycle of a view, one with as few assumed edges as possible, because the fewer there are, the more is excluded
//! with it: a walk that takes known edges before assumed ones (0-1 breadth first). An edge that lies on a cycle already found is not asked again.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, KNOWN, View};

/// How many edges may be followed for the cycles of one graph, in multiples of its size.
const WALKS: u64 = 20;

/// How many edges may be followed in a graph however small it is.
const LEAST: u64 = 1_000_000;

impl Graph<'_> {
    /// Whether a view has no cycle.
    pub(super) fn is_acyclic(&self, view: View) -> bool {
        self.components(view).1.iter().all(|&size| size == 1)
    }

    /// Cycles of a view, at least one if there is any. `work` counts the edges followed.
    pub(super) fn conflicts(&self, view: View, work: &mut u64) -> Vec<Vec<usize>> {
        let (component, sizes) = self.components(view);
        let most = *work + LEAST.max(WALKS * self.edges.len() as u64);
        let mut covered: FxHashSet<usize> = FxHashSet::default();
        let mut cycles = Vec::new();
        // A cycle without assumptions excludes everything; it is looked for only if there is no other.
        for assumed in [true, false] {
            for (at, edge) in self.edges.iter().enumerate().filter(|(_, edge)| (edge.by != KNOWN) == assumed) {
                let states = if view.apart { 2 * edge.from..2 * edge.from + 2 } else { edge.from..edge.from + 1 };
                for from in states {
                    let Some(to) = view.follow(from, edge) else { continue };
                    let here = component[from as usize];
                    if here != component[to as usize] || sizes[here as usize] == 1 || covered.contains(&at) {
                        continue;
                    }
                    if let Some(mut cycle) = self.cheapest(view, to, from, &component, work) {
                        cycle.insert(0, at);
                        covered.extend(&cycle);
                        cycles.push(cycle);
                    }
                    if *work > most {
                        return cycles;
                    }
                }
            }
            if !cycles.is_empty() {
                break;
            }
        }
        cycles
    }

    /// The edges of a path within a component that has as few assumed edges as possible.
    fn cheapest(&self, view: View, from: u32, to: u32, component: &[u32], work: &mut u64) -> Option<Vec<usize>> {
        // How each node was reached: at what cost, from where, along what.
        let mut reached: FxHashMap<u32, (u32, u32, usize)> = FxHashMap::default();
        reached.insert(from, (0, from, usize::MAX));
        let mut queue = VecDeque::from([(0, from)]);
        while let Some((cost, node)) = queue.pop_front() {
            if node == to {
                let (mut path, mut node) = (Vec::new(), to);
                while node != from {
                    let (_, before, at) = reached[&node];
                    path.push(at);
                    node = before;
                }
                path.reverse();
                return Some(path);
            }
            if reached[&node].0 < cost {
                continue;
            }
            for at in self.out(view.node(node)) {
                *work += 1;
                let Some(next) = view.follow(node, &self.edges[at]) else { continue };
                if component[next as usize] != component[from as usize] {
                    continue;
                }
                let assumed = self.edges[at].by != KNOWN;
                let cost = cost + u32::from(assumed);
                if reached.get(&next).is_none_or(|(known, ..)| cost < *known) {
                    reached.insert(next, (cost, node, at));
                    if assumed { queue.push_back((cost, next)) } else { queue.push_front((cost, next)) }
                }
            }
        }
        None
    }
}
