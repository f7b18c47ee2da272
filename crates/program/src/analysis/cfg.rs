//! The control-flow graph of a function: predecessors, reverse postorder, dominators.
//!
//! Dominators by the iterative algorithm of Cooper, Harvey and Kennedy (2001): intersect the dominators of the
//! predecessors along the tree so far, in reverse postorder, until nothing changes. Quadratic at worst, two or three passes in
//! practice. Nothing recurses, so the size of a function is limited by memory only.
//!
//! Blocks that cannot be reached from the first have no place in the order and dominate nothing.

use crate::program::{BlockId, Function};

/// Facts about the graph of one function. They hold until its terminators change.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Vec<Vec<BlockId>>,
    predecessors: Vec<Vec<BlockId>>,
    order: Vec<BlockId>,
    /// Position in `order`.
    position: Vec<Option<u32>>,
    /// The immediate dominator; the first block has itself.
    idom: Vec<Option<BlockId>>,
    /// Edges that lead to a block that is open in the depth-first search; every cycle has one.
    retreating: Vec<(BlockId, BlockId)>,
}

impl Cfg {
    /// The graph of `function`.
    pub fn new(function: &Function) -> Cfg {
        let mut successors = vec![Vec::new(); function.blocks.len()];
        for (index, block) in function.blocks.iter().enumerate() {
            block.term.kind.for_each_target(|target| {
                if !successors[index].contains(&target) {
                    successors[index].push(target);
                }
            });
        }
        Cfg::of_graph(successors)
    }

    /// The graph with these edges, from block to block, each once; it is entered at the first.
    pub(crate) fn of_graph(successors: Vec<Vec<BlockId>>) -> Cfg {
        let count = successors.len();
        let mut cfg = Cfg {
            successors,
            predecessors: vec![Vec::new(); count],
            order: Vec::with_capacity(count),
            position: vec![None; count],
            idom: vec![None; count],
            retreating: Vec::new(),
        };
        cfg.search();
        for &block in &cfg.order {
            for &target in &cfg.successors[block.index()] {
                cfg.predecessors[target.index()].push(block);
            }
        }
        cfg.dominators();
        cfg
    }

    /// Depth-first search: the order and the retreating edges.
    fn search(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        if self.successors.is_empty() {
            return;
        }
        let mut state = vec![State::New; self.successors.len()];
        let mut stack = vec![(BlockId(0), 0)];
        state[0] = State::Open;
        while let Some((block, next)) = stack.last_mut() {
            match self.successors[block.index()].get(*next).copied() {
                Some(target) => {
                    *next += 1;
                    match state[target.index()] {
                        State::New => {
                            state[target.index()] = State::Open;
                            stack.push((target, 0));
                        }
                        State::Open => self.retreating.push((*block, target)),
                        State::Done => {}
                    }
                }
                None => {
                    state[block.index()] = State::Done;
                    self.order.push(*block);
                    stack.pop();
                }
            }
        }
        self.order.reverse();
        for (position, block) in self.order.iter().enumerate() {
            self.position[block.index()] = Some(position as u32);
        }
    }

    fn dominators(&mut self) {
        let Some(&entry) = self.order.first() else { return };
        self.idom[entry.index()] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order[1..] {
                let known = self.predecessors[block.index()].iter().copied().filter(|p| self.idom[p.index()].is_some());
                let new = known.reduce(|a, b| self.meet(a, b));
                if new != self.idom[block.index()] {
                    self.idom[block.index()] = new;
                    changed = true;
                }
            }
        }
    }

    /// The nearest block that dominates both.
    fn meet(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            if self.position[a.index()] > self.position[b.index()] {
                a = self.idom[a.index()].expect("blocks above have dominators");
            } else {
                b = self.idom[b.index()].expect("blocks above have dominators");
            }
        }
        a
    }

    /// The blocks that can be reached, each before its successors except along retreating edges.
    pub fn reverse_postorder(&self) -> &[BlockId] {
        &self.order
    }

    /// Whether the block can be reached from the first.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.index()].is_some()
    }

    /// Where control may go from here; each block once.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.index()]
    }

    /// Where control may come from; reachable blocks only, each once.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block.index()]
    }

    /// The last block that every path to `block` goes through before it; `None` for the first and for unreachable ones.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block.index()].filter(|&dominator| dominator != block)
    }

    /// Whether every path from the first block to `b` goes through `a`. A block dominates itself.
    pub fn dominates(&self, a: BlockId, mut b: BlockId) -> bool {
        let Some(limit) = self.position[a.index()] else { return false };
        while let Some(position) = self.position[b.index()] {
            if position <= limit {
                return a == b;
            }
            b = self.idom[b.index()].expect("a reachable block has a dominator");
        }
        false
    }

    /// The edges that close a cycle in the depth-first search. Every cycle contains one of them.
    pub fn retreating_edges(&self) -> &[(BlockId, BlockId)] {
        &self.retreating
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_program;
    use raddle_testkit::Random;
    use rustc_hash::FxHashSet;

    /// Blocks that can be reached without going through `hole`.
    fn reachable_around(cfg: &Cfg, hole: Option<BlockId>) -> FxHashSet<BlockId> {
        let mut seen = FxHashSet::default();
        let mut todo = vec![BlockId(0)];
        while let Some(block) = todo.pop() {
            if Some(block) != hole && seen.insert(block) {
                todo.extend(cfg.successors(block));
            }
        }
        seen
    }

    #[test]
    fn a_block_dominates_what_cannot_be_reached_without_it() {
        let mut rng = Random::new(11);
        for _ in 0..500 {
            for function in &random_program(&mut rng).functions {
                let cfg = Cfg::new(function);
                let all = reachable_around(&cfg, None);
                assert_eq!(all.len(), cfg.reverse_postorder().len());
                for a in (0..function.blocks.len() as u32).map(BlockId) {
                    let around = reachable_around(&cfg, Some(a));
                    for b in (0..function.blocks.len() as u32).map(BlockId) {
                        assert_eq!(cfg.dominates(a, b), all.contains(&b) && !around.contains(&b));
                    }
                }
            }
        }
    }

    #[test]
    fn without_retreating_edges_there_is_no_cycle() {
        let mut rng = Random::new(12);
        for _ in 0..500 {
            for function in &random_program(&mut rng).functions {
                let cfg = Cfg::new(function);
                for &block in cfg.reverse_postorder() {
                    for &target in cfg.successors(block) {
                        if !cfg.retreating_edges().contains(&(block, target)) {
                            assert!(cfg.position[block.index()] < cfg.position[target.index()]);
                        }
                    }
                }
            }
        }
    }
}
