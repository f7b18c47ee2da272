//! The loops of a function: which jumps start another turn, and what is noted of turns.
//!
//! A loop head is the target of an edge that goes back in depth-first order. It has a slot that counts turns, and, if some of its
//! jumps back may wait ([`Term::Spin`]), slots that hold how the thread was when the turn began: how many operations and effects there
//! were, and the registers that are live there and may be changed in the loop.

use super::{Compiler, Edge};
use crate::code::{Args, Operand, Slot};
use raddle_program::analysis::{Cfg, Liveness, Loops, loops};
use raddle_program::{BlockId, Function, Term};

/// The loop heads of a function and the edges that go back to them.
pub(super) struct LoopEdges {
    /// By block.
    heads: Vec<Head>,
    back: Vec<(BlockId, BlockId)>,
    /// The first slot behind those of loops.
    pub(super) end: Slot,
}

struct Head {
    block: BlockId,
    counter: Slot,
    /// The first slot of its mark and the registers that count, if some of its jumps back may wait.
    mark: Option<(Slot, Args)>,
}

impl LoopEdges {
    /// The slot that counts the turns of the loop with this head.
    pub(super) fn counter(&self, block: BlockId) -> Option<Slot> {
        self.head(block).map(|head| head.counter)
    }

    /// Where the loop with this head notes how its turns begin.
    pub(super) fn mark(&self, block: BlockId) -> Option<(Slot, Args)> {
        self.head(block)?.mark
    }

    pub(super) fn is_back(&self, edge: Edge) -> bool {
        self.back.contains(&(edge.from, edge.to))
    }

    fn head(&self, block: BlockId) -> Option<&Head> {
        self.heads.binary_search_by_key(&block, |head| head.block).ok().map(|at| &self.heads[at])
    }
}

impl Compiler<'_> {
    /// The loops of a function, with slots behind its registers.
    pub(super) fn loops(&mut self, function: &Function) -> LoopEdges {
        let cfg = Cfg::new(function);
        let back = cfg.retreating_edges().to_vec();
        let spins = function.blocks.iter().filter_map(|block| match block.term.kind {
            Term::Spin(head) => Some(head),
            _ => None,
        });
        let spins: Vec<BlockId> = spins.collect();
        let known = (!spins.is_empty()).then(|| (Loops::new(function, &cfg), Liveness::new(function, &cfg)));
        let mut blocks: Vec<BlockId> = back.iter().map(|edge| edge.1).chain(spins.iter().copied()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let mut end = function.regs.len() as u32;
        let mut heads = Vec::new();
        for block in blocks {
            let counter = end;
            end += 1;
            let mark = known.as_ref().filter(|_| spins.contains(&block)).map(|(all, live)| {
                let turning = all.list.iter().find(|l| l.head == block);
                let kept = turning.map(|l| loops::kept(function, l, live)).unwrap_or_default();
                let args = Args { start: self.code.operands.len() as u32, len: kept.len() as u32 };
                self.code.operands.extend(kept.iter().map(|reg| Operand(reg.0)));
                let mark = end;
                end += 2 + args.len;
                (mark, args)
            });
            self.code.has_spins |= mark.is_some();
            heads.push(Head { block, counter, mark });
        }
        LoopEdges { heads, back, end }
    }
}
