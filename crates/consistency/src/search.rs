//! The worklist search that all verifiers share.
//!
//! A node is a saturated prefix. The search takes one from the worklist, lets the [`Strategy`] make its successors, and keeps those whose key
//! is new. A strategy says what is done without a choice, what the choices are, and what about a prefix matters.
//!
//! Nodes are kept as positions, the moves since their parent, and their key, in flat arenas; the witness is read off the parents. With a
//! last-in first-out worklist the prefix at hand is extended and taken back rather than built again.

use crate::prefix::{Move, Prefix};
use crate::settings::{Limits, WorklistOrder};
use crate::shape::{NONE, Shape};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// What distinguishes one verifier from another.
pub(crate) trait Strategy {
    /// Does what can be done without losing anything.
    fn saturate(&self, shape: &Shape, prefix: &mut Prefix);

    /// The choices there may be.
    fn choices(&self, shape: &Shape, prefix: &Prefix, choices: &mut Vec<Move>);

    /// Makes a choice, with everything it needs. If it turns out to be impossible it says so, and the caller takes back what was done.
    fn choose(&self, shape: &Shape, prefix: &mut Prefix, choice: Move) -> bool;

    /// Appends what matters about a saturated prefix. All keys of a search have the same length.
    fn key(&self, shape: &Shape, prefix: &Prefix, key: &mut Vec<u32>);
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The log of the prefix is a witness.
    Found,
    /// There is none.
    Exhausted,
    /// A limit was reached.
    Stopped,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    /// Where its moves end; they begin where those of the node before end.
    moves_end: u32,
    /// The next node whose key has the same hash.
    next: u32,
}

/// The worklist, what has been seen, and the arenas, to be used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    nodes: Vec<Node>,
    /// Positions and flush counts, a fixed number of words per node.
    states: Vec<u32>,
    keys: Vec<u32>,
    moves: Vec<Move>,
    seen: FxHashMap<u64, u32>,
    worklist: Vec<u32>,
    choices: Vec<Move>,
    #[cfg(test)]
    random: Option<raddle_testkit::Random>,
    state_len: usize,
    key_len: usize,
}

impl Search {
    fn reset(&mut self, shape: &Shape) {
        self.nodes.clear();
        self.states.clear();
        self.keys.clear();
        self.moves.clear();
        self.seen.clear();
        self.worklist.clear();
        self.state_len = shape.threads() + shape.lanes();
    }

    /// Looks for a witness. `visited` counts the prefixes that were taken from the worklist.
    pub(crate) fn run(
        &mut self,
        shape: &Shape,
        prefix: &mut Prefix,
        strategy: &impl Strategy,
        order: WorklistOrder,
        limits: &Limits<'_>,
        visited: &mut u64,
    ) -> End {
        self.reset(shape);
        prefix.reset(shape);
        strategy.saturate(shape, prefix);
        #[cfg(test)]
        if let WorklistOrder::Random(seed) = order {
            self.random = Some(raddle_testkit::Random::new(seed));
        }
        self.add(shape, prefix, strategy, NONE, 0);
        let mut first = 0;
        let mut at_hand = Some(0);
        loop {
            let Some(node) = self.take(order, &mut first) else { return End::Exhausted };
            *visited += 1;
            if self.is_over(limits, *visited) {
                return End::Stopped;
            }
            if at_hand != Some(node) {
                prefix.load(shape, self.state(node));
            }
            if prefix.is_complete() {
                self.witness(shape, prefix, node);
                return End::Found;
            }
            at_hand = self.expand(shape, prefix, strategy, node);
            if let (Some(child), WorklistOrder::LastIn) = (at_hand, order) {
                let moves = self.moves_of(child);
                for at in moves {
                    prefix.apply(shape, self.moves[at]);
                }
            } else {
                at_hand = None;
            }
        }
    }

    fn take(&mut self, order: WorklistOrder, first: &mut usize) -> Option<u32> {
        match order {
            WorklistOrder::LastIn => self.worklist.pop(),
            WorklistOrder::FirstIn => {
                let node = self.worklist.get(*first).copied();
                *first += 1;
                node
            }
            #[cfg(test)]
            WorklistOrder::Random(_) => {
                let random = self.random.as_mut().filter(|_| !self.worklist.is_empty())?;
                Some(self.worklist.swap_remove(random.below(self.worklist.len())))
            }
        }
    }

    fn is_over(&self, limits: &Limits<'_>, visited: u64) -> bool {
        let bytes = 4 * (self.states.len() + self.keys.len()) + 8 * self.moves.len() + 40 * self.nodes.len();
        visited > limits.prefixes
            || bytes as u64 > limits.bytes
            || (visited.is_multiple_of(64) && limits.interrupt.is_due())
    }

    /// Adds the successors to the worklist and leaves the prefix as it was. Tells the node that was added last.
    fn expand(&mut self, shape: &Shape, prefix: &mut Prefix, strategy: &impl Strategy, node: u32) -> Option<u32> {
        let mark = prefix.log.len();
        let mut choices = std::mem::take(&mut self.choices);
        choices.clear();
        strategy.choices(shape, prefix, &mut choices);
        let mut last = None;
        for &choice in &choices {
            if strategy.choose(shape, prefix, choice) {
                strategy.saturate(shape, prefix);
                last = self.add(shape, prefix, strategy, node, mark).or(last);
            }
            prefix.undo_to(shape, mark);
        }
        self.choices = choices;
        last
    }

    /// Keeps the prefix if its key is new.
    fn add(
        &mut self,
        shape: &Shape,
        prefix: &Prefix,
        strategy: &impl Strategy,
        parent: u32,
        mark: usize,
    ) -> Option<u32> {
        let key_at = self.keys.len();
        strategy.key(shape, prefix, &mut self.keys);
        self.key_len = self.keys.len() - key_at;
        let mut hasher = FxHasher::default();
        self.keys[key_at..].iter().for_each(|&word| hasher.write_u32(word));
        let head = self.seen.entry(hasher.finish()).or_insert(NONE);
        let mut other = *head;
        while other != NONE {
            let at = other as usize * self.key_len;
            if self.keys[at..at + self.key_len] == self.keys[key_at..] {
                self.keys.truncate(key_at);
                return None;
            }
            other = self.nodes[other as usize].next;
        }
        let node = self.nodes.len() as u32;
        let next = std::mem::replace(head, node);
        self.moves.extend_from_slice(&prefix.log[mark..]);
        self.nodes.push(Node { parent, moves_end: self.moves.len() as u32, next });
        prefix.save(&mut self.states);
        self.worklist.push(node);
        Some(node)
    }

    fn state(&self, node: u32) -> &[u32] {
        &self.states[node as usize * self.state_len..][..self.state_len]
    }

    fn moves_of(&self, node: u32) -> std::ops::Range<usize> {
        let start = if node == 0 { 0 } else { self.nodes[node as usize - 1].moves_end };
        start as usize..self.nodes[node as usize].moves_end as usize
    }

    /// Makes the log of the prefix the way from the start to this node and on to the end.
    fn witness(&self, shape: &Shape, prefix: &mut Prefix, node: u32) {
        let mut path = Vec::new();
        let mut at = node;
        while at != NONE {
            path.push(at);
            at = self.nodes[at as usize].parent;
        }
        prefix.reset(shape);
        for &node in path.iter().rev() {
            for at in self.moves_of(node) {
                prefix.apply(shape, self.moves[at]);
            }
        }
        prefix.flush_all(shape);
    }
}
