//! The loops of a function, for bounding them and for naming them in messages.
//!
//! A retreating edge of the depth-first search whose target dominates its source closes a *natural* loop: the blocks that
//! reach the source without passing the target, its head. Loops with one head are one loop. If the target does not dominate the
//! source the loop can be entered past its head (an irreducible loop, made by `goto` into a loop); then the blocks are
//! taken to be all that lie on a cycle with the edge, which may be more than one would call the loop, and `natural` is false.
//!
//! A turn of a loop begins where its body does ([`Turn`]), which a front end marks because the graph does not show it: the
//! test of `while (next(&p))` is no part of the body, and that of `for (;;) if (!next(&p)) break;` is, but both are the same graph.
//! A loop without a mark, made of jumps, has its head for a beginning. A machine that counts turns per activation, one counter
//! per [`LoopId`], ends every execution whose loops are natural: each way around such a loop passes the beginning.

use super::cfg::Cfg;
use super::liveness::{Liveness, RegSet};
use crate::inst::Turn;
use crate::program::{BlockId, Function, Reg};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl LoopId {
    /// As an index into [`Loops::list`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block where a turn starts.
    pub head: BlockId,
    /// The blocks of the loop in ascending order, the head included.
    pub blocks: Vec<BlockId>,
    /// The edges that start another turn.
    pub back_edges: Vec<(BlockId, BlockId)>,
    /// Whether the head is the only way in.
    pub natural: bool,
    /// The smallest loop around this one.
    pub parent: Option<LoopId>,
    /// Where the loop starts in the source.
    pub span: Span,
}

impl Loop {
    /// Whether the block is part of the loop.
    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Smaller loops before those around them.
    pub list: Vec<Loop>,
}

impl Loops {
    /// Finds the loops of a function.
    pub fn new(function: &Function, cfg: &Cfg) -> Loops {
        let mut list: Vec<Loop> = Vec::new();
        let mut by_head: FxHashMap<BlockId, usize> = FxHashMap::default();
        for &(from, head) in cfg.retreating_edges() {
            let natural = cfg.dominates(head, from);
            let blocks = if natural { natural_body(cfg, from, head) } else { on_a_cycle_with(cfg, from, head) };
            let index = *by_head.entry(head).or_insert(list.len());
            if index == list.len() {
                let (back_edges, span) = (Vec::new(), Span::default());
                list.push(Loop { head, blocks: Vec::new(), back_edges, natural: true, parent: None, span });
            }
            let known = &mut list[index];
            known.back_edges.push((from, head));
            known.natural &= natural;
            known.blocks.extend(blocks);
        }
        for l in &mut list {
            l.blocks.sort_unstable();
            l.blocks.dedup();
            l.span = span(function, l);
        }
        list.sort_by_key(|l| (l.blocks.len(), l.head));
        // The smallest loop around a block, among those seen so far, larger ones first.
        let mut owner: Vec<Option<LoopId>> = vec![None; function.blocks.len()];
        for index in (0..list.len()).rev() {
            list[index].parent = owner[list[index].head.index()];
            for block in &list[index].blocks {
                owner[block.index()] = Some(LoopId(index as u32));
            }
        }
        Loops { list }
    }

    /// The loop that this edge starts another turn of.
    pub fn back_edge(&self, from: BlockId, to: BlockId) -> Option<LoopId> {
        let at = self.list.iter().position(|l| l.head == to && l.back_edges.contains(&(from, to)))?;
        Some(LoopId(at as u32))
    }

    /// Where the turns of a loop begin.
    ///
    /// Of several marked blocks that belong to no smaller loop it is the first that every turn passes: others are left of
    /// loops that never turn, such as `while (c) { ...; break; }`.
    pub fn beginning(&self, function: &Function, cfg: &Cfg, id: LoopId) -> (BlockId, Turn) {
        let l = &self.list[id.index()];
        let passed = |block: BlockId| l.back_edges.iter().all(|&(from, _)| cfg.dominates(block, from));
        let marked = l.blocks.iter().copied().filter_map(|block| {
            let turn = function.blocks[block.index()].turn?;
            (l.natural && passed(block) && self.innermost(block) == Some(id)).then_some((block, turn))
        });
        let first = marked.reduce(|a, b| if cfg.dominates(b.0, a.0) { b } else { a });
        first.unwrap_or((l.head, Turn { span: l.span, unbounded: false }))
    }

    /// The smallest loop that contains the block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.list.iter().position(|l| l.contains(block)).map(|at| LoopId(at as u32))
    }
}

/// The registers that are live at the head of a loop and may be changed in it: what a turn can carry over to the next.
pub fn kept(function: &Function, l: &Loop, live: &Liveness) -> Vec<Reg> {
    let mut changed = RegSet::new(function.regs.len());
    let insts = l.blocks.iter().flat_map(|block| &function.blocks[block.index()].insts);
    insts.filter_map(|inst| inst.op.dst()).for_each(|dst| changed.insert(dst));
    live.live_in(l.head).iter().filter(|&reg| changed.contains(reg)).collect()
}

/// The blocks that reach `from` without passing `head`, and `head`.
fn natural_body(cfg: &Cfg, from: BlockId, head: BlockId) -> Vec<BlockId> {
    closure(cfg, from, Some(head), Cfg::predecessors)
}

/// The blocks that `head` reaches and that reach `from`.
fn on_a_cycle_with(cfg: &Cfg, from: BlockId, head: BlockId) -> Vec<BlockId> {
    let ahead = closure(cfg, head, None, Cfg::successors);
    let mut both = closure(cfg, from, None, Cfg::predecessors);
    both.retain(|block| ahead.binary_search(block).is_ok());
    both
}

/// What `next` leads to from `start`, not going on from `stop`; ascending.
fn closure<'c>(
    cfg: &'c Cfg,
    start: BlockId,
    stop: Option<BlockId>,
    next: impl Fn(&'c Cfg, BlockId) -> &'c [BlockId],
) -> Vec<BlockId> {
    let mut seen: FxHashSet<BlockId> = stop.into_iter().collect();
    let mut todo = vec![start];
    while let Some(block) = todo.pop() {
        if seen.insert(block) {
            todo.extend(next(cfg, block));
        }
    }
    let mut blocks: Vec<BlockId> = seen.into_iter().collect();
    blocks.sort_unstable();
    blocks
}

/// The earliest known place among the head and the jumps back to it.
fn span(function: &Function, l: &Loop) -> Span {
    let head = &function.blocks[l.head.index()];
    let first = head.insts.first().map_or(head.term.span, |inst| inst.span);
    let jumps = l.back_edges.iter().map(|(from, _)| function.blocks[from.index()].term.span);
    std::iter::once(first).chain(jumps).filter(|span| span.line > 0).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn loops(text: &str) -> (Function, Loops) {
        let program = parse("test.rdl", text, &[]).unwrap_or_else(|e| panic!("{e}"));
        let function = program.functions[0].clone();
        let loops = Loops::new(&function, &Cfg::new(&function));
        (function, loops)
    }

    #[test]
    fn nested_loops_know_their_parents_and_their_lines() {
        let (_, loops) = loops("fn main() {\n for i in 0..2 {\n  for j in 0..2 {\n   print \"x\";\n  }\n }\n}");
        assert_eq!(loops.list.len(), 2);
        let (inner, outer) = (&loops.list[0], &loops.list[1]);
        assert_eq!(inner.parent, Some(LoopId(1)));
        assert_eq!(outer.parent, None);
        assert_eq!((outer.span.line, inner.span.line), (2, 3));
        assert!(inner.blocks.iter().all(|&block| outer.contains(block)));
        assert_eq!(loops.innermost(inner.head), Some(LoopId(0)));
    }

    #[test]
    fn continue_makes_a_second_back_edge_of_the_same_loop() {
        let text = "global x: i32; fn main() {
            loop { let r = load x; if r == 1 { store x, 2; continue; } if r == 2 { break; } store x, 3; }
        }";
        let (_, loops) = loops(text);
        assert_eq!(loops.list.len(), 1);
        assert_eq!(loops.list[0].back_edges.len(), 2);
        let (from, to) = loops.list[0].back_edges[1];
        assert_eq!(loops.back_edge(from, to), Some(LoopId(0)));
    }

    fn beginnings(text: &str) -> Vec<(BlockId, BlockId)> {
        let (function, loops) = loops(text);
        let cfg = Cfg::new(&function);
        let ids = (0..loops.list.len() as u32).map(LoopId);
        ids.map(|id| (loops.list[id.index()].head, loops.beginning(&function, &cfg, id).0)).collect()
    }

    #[test]
    fn a_turn_begins_with_the_body() {
        let [(head, begin)] = beginnings("fn main() { let c = choose 0..2; while c == 0 { c = choose 0..2; } }")[..]
        else {
            panic!("one loop")
        };
        assert_ne!(head, begin);
        let [(head, begin)] = beginnings("fn main() { loop { let c = choose 0..2; if c == 0 { break; } } }")[..] else {
            panic!("one loop")
        };
        assert_eq!(head, begin);
        let jumps = "fn main() { again: let c = choose 0..2; if c == 0 goto again; }";
        let [(head, begin)] = beginnings(jumps)[..] else { panic!("one loop") };
        assert_eq!(head, begin);
    }

    #[test]
    fn a_loop_that_never_turns_begins_no_turn_of_the_one_around_it() {
        let text = "fn main() { let c = choose 0..2; while c == 0 { loop { c = choose 0..2; break; } print \"x\"; } }";
        let (function, found) = loops(text);
        let marks = function.blocks.iter().filter(|block| block.turn.is_some()).count();
        assert_eq!((found.list.len(), marks), (1, 2));
        let (_, begin) = beginnings(text)[0];
        assert!(
            function.blocks[begin.index()].insts.is_empty(),
            "the body of the outer loop starts with the inner one"
        );
    }

    #[test]
    fn a_loop_with_two_ways_in_is_not_natural_but_has_a_back_edge() {
        let text = "fn main() {
            let c = choose 0..2;
            if c == 0 goto a else b;
            a: print \"a\"; goto b;
            b: print \"b\"; if c == 0 goto a else end;
            end: return;
        }";
        let (_, loops) = loops(text);
        assert_eq!(loops.list.len(), 1);
        assert!(!loops.list[0].natural);
        assert_eq!(loops.list[0].blocks.len(), 2);
    }

    #[test]
    fn code_without_loops_has_none() {
        let (_, loops) = loops("fn main() { let c = choose 0..2; if c == 0 { print \"a\"; } }");
        assert!(loops.list.is_empty());
    }
}
