//! Read-modify-writes that write back what they found.
//!
//! `while (exchange(&l->locked, 1)) {}` writes in every turn, but a turn that found 1 has changed nothing. If that is all it did, and it comes back,
//! it can be dropped like a turn that only read: whoever reads from its write can read the same value from the write
//! before it. Whether the value is the same is known when the update is executed, not before (a lock might hold 2), so the instruction says what
//! is to be done then ([`Idle`]): it writes as ever, unless it would leave memory as it is and the turn would come back.
//!
//! - If the update is all the loop does, it waits for another value.
//! - Otherwise it is a mere read then, and the turn ends in a spin, as any turn without effect. What the turn does behind the update must not decide whether it comes back: in
//!   `while (exchange(&l, 1)) { if (stop) return; }` the turn that leaves has written, and others may tell.
//!
//! An update on the way of a turn that is dropped may have been a release. Without it there is less order, as if the thread had been slower.

use super::binary::value;
use super::leaving_condition;
use super::paths::{End, Paths, Start, Turn};
use crate::analysis::loops::Loop;
use crate::expr::Expr;
use crate::inst::{Idle, Op, RmwOp};
use crate::program::{BlockId, Function};

/// The waiting update that a loop around this one is, given the paths behind it.
pub(super) fn waiting(op: &Op, after: &[Turn], registers: usize) -> Option<Op> {
    let Op::Rmw { dst: Some(_), idle: None, .. } = op else { return None };
    let until = leaving_condition(after, registers).filter(|until| may_idle(op, until))?;
    let mut changed = op.clone();
    if let Op::Rmw { idle, .. } = &mut changed {
        *idle = Some(Idle { until, wait: true });
    }
    Some(changed)
}

/// The one update of a loop that does other things, too.
pub(super) struct Quiet {
    block: BlockId,
    inst: usize,
    until: Expr,
    /// The blocks whose jumps back may become spins.
    sources: Vec<BlockId>,
}

impl Quiet {
    pub(super) fn find(paths: &Paths<'_>, back: &[&Turn], unchanged: &impl Fn(&Turn) -> bool) -> Option<Quiet> {
        let function = paths.function;
        let updates = paths.l.blocks.iter().flat_map(|&block| {
            let insts = function.blocks[block.index()].insts.iter().enumerate();
            insts.filter(|(_, inst)| matches!(inst.op, Op::Rmw { .. })).map(move |(index, _)| (block, index))
        });
        let [(block, inst)] = *updates.collect::<Vec<_>>() else { return None };
        let update = &function.blocks[block.index()].insts[inst].op;
        let Op::Rmw { dst: Some(_), idle: None, .. } = update else { return None };
        let after = paths.from(Start::After(block, inst))?;
        let until = leaving_condition(&after, function.regs.len()).filter(|until| may_idle(update, until))?;
        let mut sources: Vec<BlockId> = paths.l.back_edges.iter().map(|&(from, _)| from).collect();
        sources.retain(|&from| {
            let mut through = back.iter().filter(|turn| turn.end == End::Back(from)).peekable();
            through.peek().is_some() && through.all(|turn| turn.only_updates() && turn.reads > 0 && unchanged(turn))
        });
        let dropped = |turn: &Turn| match turn.end {
            End::Back(from) => turn.has_no_effect() && sources.contains(&from),
            End::Out => true,
        };
        after.iter().all(dropped).then_some(Quiet { block, inst, until, sources })
    }

    /// Changes the function; how many jumps back wait now.
    pub(super) fn apply(self, function: &mut Function, l: &Loop) -> usize {
        if let Op::Rmw { idle, .. } = &mut function.blocks[self.block.index()].insts[self.inst].op {
            *idle = Some(Idle { until: self.until, wait: false });
        }
        for &from in &self.sources {
            super::spin_back(function, from, l.head);
        }
        self.sources.len()
    }
}

/// Whether a turn could come back with memory as it was; not if it leaves whenever it finds what it writes.
fn may_idle(op: &Op, until: &Expr) -> bool {
    match op {
        Op::Rmw { dst: Some(dst), op: RmwOp::Xchg, operand: written @ Expr::Const(..), .. } => {
            value(until, *dst, written.clone()) != Some(Expr::bool(true))
        }
        _ => true,
    }
}
