//! Jumps back that may wait.
//!
//! Whether a turn had an effect is seen when it is over ([`Term::Spin`]), so all that is decided here is where it is worth a look: at loops
//! that read something, at jumps back that are not always reached with an effect. Sure effects are a store, a lock and the like in
//! a block that every turn with this jump passes, and a register that counts turns and lives on.
//!
//! The test at the head of a loop can keep a register alive that the turn itself does not need: in `r = -1; while (r != 0) r = trylock();`
//! the first turn begins with another `r` than the second. If the test moved to the end of the turns leaves fewer such registers, it
//! is moved.

use super::{Facts, MAX_COPIED, Silence, SpinKind, is_too_large, rotated, spin_back};
use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::Liveness;
use crate::analysis::loops::{Loop, Loops, kept};
use crate::expr::{BinOp, Expr};
use crate::inst::{Callee, Idle, Op, Term};
use crate::program::{BlockId, Function, Reg};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Makes jumps back wait if their turn had no effect.
pub(super) fn mark(function: &mut Function, facts: &Facts, found: &mut Vec<(Span, SpinKind)>) {
    let mut seen = FxHashSet::default();
    while mark_some(function, facts, &mut seen, found) {}
}

/// Marks loops up to the first that is changed otherwise; whether there was one.
fn mark_some(
    function: &mut Function,
    facts: &Facts,
    seen: &mut FxHashSet<BlockId>,
    found: &mut Vec<(Span, SpinKind)>,
) -> bool {
    let cfg = Cfg::new(function);
    if is_too_large(function, &cfg) {
        return false;
    }
    let loops = Loops::new(function, &cfg);
    let live = Liveness::new(function, &cfg);
    for l in &loops.list {
        if !seen.insert(l.head) {
            continue;
        }
        let around = Around { function, facts, cfg: &cfg, l, kept: kept(function, l, &live) };
        let sources = around.sources();
        if sources.is_empty() {
            continue;
        }
        if let Some((turned, head)) = around.with_the_test_last() {
            *function = turned;
            seen.remove(&head);
            return true;
        }
        // Jumps only get a block of their own: what is known of the other blocks stays true.
        sources.iter().for_each(|&from| spin_back(function, from, l.head));
        found.push((l.span, SpinKind::Turn(sources.len())));
    }
    false
}

/// Whether some turn of the loop may have no effect.
pub(super) fn may_wait(function: &Function, facts: &Facts, cfg: &Cfg, l: &Loop, live: &Liveness) -> bool {
    !Around { function, facts, cfg, l, kept: kept(function, l, live) }.sources().is_empty()
}

/// A loop, and what is known of it.
struct Around<'f> {
    function: &'f Function,
    facts: &'f Facts,
    cfg: &'f Cfg,
    l: &'f Loop,
    kept: Vec<Reg>,
}

impl Around<'_> {
    /// The blocks whose jumps back may end a turn without effect.
    fn sources(&self) -> Vec<BlockId> {
        let ops = || self.l.blocks.iter().flat_map(|block| &self.function.blocks[block.index()].insts);
        if !ops().any(|inst| self.reads(&inst.op)) {
            return Vec::new();
        }
        let open = |from: &BlockId| {
            let back = &self.function.blocks[from.index()].term.kind;
            !matches!(back, Term::Spin(_))
                && !self.l.blocks.iter().any(|&block| self.cfg.dominates(block, *from) && self.has_effect(block))
        };
        self.l.back_edges.iter().map(|&(from, _)| from).filter(open).collect()
    }

    fn reads(&self, op: &Op) -> bool {
        match op {
            Op::Load { .. } | Op::Rmw { .. } | Op::Cas { .. } => true,
            Op::Call { callee: Callee::Direct(id), .. } => self.facts.silent[id.index()] != Silence::Pure,
            Op::Call { .. } => true,
            op => op.synchronises(),
        }
    }

    /// Whether every turn that passes the block has an effect.
    fn has_effect(&self, block: BlockId) -> bool {
        let insts = &self.function.blocks[block.index()].insts;
        insts.iter().any(|inst| match &inst.op {
            Op::Assign { dst, value } => counts(*dst, value) && self.kept.contains(dst) && self.is_assigned_once(*dst),
            Op::Call { callee: Callee::Direct(id), .. } => self.facts.acts[id.index()],
            op => acts(op),
        })
    }

    fn is_assigned_once(&self, reg: Reg) -> bool {
        let insts = self.l.blocks.iter().flat_map(|block| &self.function.blocks[block.index()].insts);
        insts.filter(|inst| inst.op.dst() == Some(reg)).count() == 1
    }

    /// The function with the loop's test at the end of its turns, and the new head, if fewer registers live on then.
    fn with_the_test_last(&self) -> Option<(Function, BlockId)> {
        if self.kept.is_empty() || !self.l.natural || self.function.blocks.len() > MAX_COPIED {
            return None;
        }
        let (turned, head) = rotated(self.function, self.cfg, self.l)?;
        let cfg = Cfg::new(&turned);
        let loops = Loops::new(&turned, &cfg);
        let l = loops.list.iter().find(|l| l.head == head)?;
        let fewer = kept(&turned, l, &Liveness::new(&turned, &cfg)).len() < self.kept.len();
        fewer.then_some((turned, head))
    }
}

/// Whether the assignment changes the register by a constant.
fn counts(dst: Reg, value: &Expr) -> bool {
    match value {
        Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => **a == Expr::Reg(dst) && matches!(**b, Expr::Const(_, 1..)),
        _ => false,
    }
}

/// Whether the instruction has an effect, or stops its thread, whenever it is executed.
pub(super) fn acts(op: &Op) -> bool {
    match op {
        Op::Store { .. }
        | Op::Rmw { idle: None | Some(Idle { wait: true, .. }), .. }
        | Op::Cas { wait: true, .. }
        | Op::Spawn { .. }
        | Op::Join { .. }
        | Op::Lock { .. }
        | Op::Unlock { .. }
        | Op::ReadLock { .. }
        | Op::WriteLock { .. }
        | Op::RwUnlock { .. }
        | Op::CondWait { .. }
        | Op::BarrierInit { .. }
        | Op::BarrierWait { .. }
        | Op::SemWait { .. }
        | Op::SemPost { .. }
        | Op::SyncDestroy { .. }
        | Op::Free { scoped: false, .. }
        | Op::Error { .. } => true,
        Op::Choose { low, high, .. } => low < high,
        _ => false,
    }
}
