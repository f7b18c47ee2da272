//! Queues with the interval tree: a cross-check of the sweep in [`super::queue`].
//!
//! A balanced search tree over the inner intervals, keyed by where they begin, each node knowing how far its subtree
//! reaches. A value is the late half of a critical pair iff its outer interval lies inside some inner interval. All input is
//! known in advance, so the tree is a sorted array read as a balanced tree, without rotations.
//!
//! After Grahn 2026. A missing left subtree reaches nowhere, and the search then goes on to the right; giving up there instead
//! misses violations. Cost: n log n.

use super::matching::Val;
use crate::history::Ts;

struct Node {
    from: Ts,
    to: Ts,
    value: u32,
    /// How far the subtree reaches.
    high: Ts,
}

/// The tree over an array sorted by `from`: the middle of a range is its root.
struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    fn new(vals: &[Val]) -> Tree {
        let mut nodes: Vec<Node> = vals
            .iter()
            .enumerate()
            .filter(|(_, val)| !val.overlaps())
            .map(|(at, val)| Node { from: val.pr, to: val.oc, value: at as u32, high: val.oc })
            .collect();
        nodes.sort_unstable_by_key(|node| node.from);
        let mut tree = Tree { nodes };
        tree.raise(0, tree.nodes.len());
        tree
    }

    fn raise(&mut self, low: usize, high: usize) -> Option<Ts> {
        if low >= high {
            return None;
        }
        let middle = (low + high) / 2;
        let below = self.raise(low, middle).max(self.raise(middle + 1, high));
        let node = &mut self.nodes[middle];
        node.high = below.map_or(node.to, |reach| reach.max(node.to));
        Some(node.high)
    }

    /// A value whose inner interval contains `(from, to)`.
    fn containing(&self, from: Ts, to: Ts) -> Option<u32> {
        let (mut low, mut high) = (0, self.nodes.len());
        while low < high {
            let middle = (low + high) / 2;
            let node = &self.nodes[middle];
            if node.from < from {
                if to < node.to {
                    return Some(node.value);
                }
                let left = (low < middle).then(|| self.nodes[(low + middle) / 2].high);
                if left.is_some_and(|reach| to < reach) {
                    // Everything on the left begins before `from`, so whatever reaches that far is an answer.
                    high = middle;
                } else {
                    low = middle + 1;
                }
            } else {
                high = middle;
            }
        }
        None
    }
}

/// A critical pair `(early, late)` by position, if there is one.
pub fn critical_pair(vals: &[Val]) -> Option<(u32, u32)> {
    let tree = Tree::new(vals);
    vals.iter().enumerate().find_map(|(late, val)| tree.containing(val.pc, val.or).map(|early| (early, late as u32)))
}
