//! The loops of a function: where their turns begin, and what is noted of them.
//!
//! A loop that has a bound has a slot that counts its turns. One with jumps back that may wait ([`Term::Spin`]) has slots that hold how the
//! thread was at its head when the turn began: how deep in atomic blocks, and the registers that are live there and may be changed in the
//! loop.

use super::{Compiler, Edge};
use crate::code::{Args, Operand, Slot};
use raddle_program::analysis::{Cfg, Liveness, Loop, LoopId, Loops, loops};
use raddle_program::{BlockId, Function, Term, Turn};

/// The edges that go back to the heads of loops, and where turns are counted and marked.
pub(super) struct LoopEdges {
    back: Vec<(BlockId, BlockId)>,
    pub(super) bounded: Vec<Bounded>,
    marks: Vec<Mark>,
    /// The first slot behind those of loops.
    pub(super) end: Slot,
}

/// A loop with a bound.
pub(super) struct Bounded {
    head: BlockId,
    /// Where its turns begin.
    pub(super) begin: BlockId,
    pub(super) turn: Turn,
    pub(super) bound: u32,
    pub(super) counter: Slot,
}

/// A loop with jumps back that may wait.
struct Mark {
    head: BlockId,
    /// Where it is noted how its turn began.
    first: Slot,
    /// The registers that count.
    kept: Args,
}

impl LoopEdges {
    /// The counter of the loop with this head, if it has a bound.
    pub(super) fn bounded_head(&self, block: BlockId) -> Option<(Slot, Turn)> {
        self.bounded.iter().find(|bounded| bounded.head == block).map(|bounded| (bounded.counter, bounded.turn))
    }

    /// Where the loop with this head notes how its turns begin, and which registers count.
    pub(super) fn mark(&self, block: BlockId) -> Option<(Slot, Args)> {
        self.marks.iter().find(|mark| mark.head == block).map(|mark| (mark.first, mark.kept))
    }

    pub(super) fn is_back(&self, edge: Edge) -> bool {
        self.back.contains(&(edge.from, edge.to))
    }
}

impl Compiler<'_> {
    /// The loops of a function, with slots behind its registers.
    pub(super) fn loops(&mut self, function: &Function) -> LoopEdges {
        let cfg = Cfg::new(function);
        let all = Loops::new(function, &cfg);
        self.code.has_loops |= !all.list.is_empty();
        let end = function.regs.len() as u32;
        let mut edges =
            LoopEdges { back: cfg.retreating_edges().to_vec(), bounded: Vec::new(), marks: Vec::new(), end };
        for (id, l) in (0..).map(LoopId).zip(&all.list) {
            let (begin, turn) = all.beginning(function, &cfg, id);
            if let Some(bound) = self.bounds.of(&self.program.sources, function, turn) {
                edges.bounded.push(Bounded { head: l.head, begin, turn, bound, counter: edges.end });
                edges.end += 1;
            }
        }
        let spins = function.blocks.iter().filter_map(|block| match block.term.kind {
            Term::Spin(head) => Some(head),
            _ => None,
        });
        let mut spins: Vec<BlockId> = spins.collect();
        spins.sort_unstable();
        spins.dedup();
        if !spins.is_empty() {
            self.code.has_spins = true;
            let live = Liveness::new(function, &cfg);
            for head in spins {
                let l = all.list.iter().find(|l| l.head == head);
                let kept = self.kept(function, l, &live);
                edges.marks.push(Mark { head, first: edges.end, kept });
                edges.end += 1 + kept.len;
            }
        }
        edges
    }

    fn kept(&mut self, function: &Function, l: Option<&Loop>, live: &Liveness) -> Args {
        let kept = l.map(|l| loops::kept(function, l, live)).unwrap_or_default();
        let args = Args { start: self.code.operands.len() as u32, len: kept.len() as u32 };
        self.code.operands.extend(kept.iter().map(|reg| Operand(reg.0)));
        args
    }
}
