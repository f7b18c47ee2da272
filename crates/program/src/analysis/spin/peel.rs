//! Loops whose first look stands before them.
//!
//! `a = load x; while (a != 0) { a = load x; }` waits as `do { a = load x; } while (a != 0);` does, but `a` lives on from one turn to
//! the next. The last instructions before the loop and the last ones of a turn do the same: with the same values in all registers they
//! do the same operations and leave the same in every register that is live at the head. So a turn may end by going to the former, which become
//! part of the loop. Nothing is taken for granted about values: both are followed symbolically from where the first operation is.
//!
//! A loop that tries again with what a failed attempt has found has its look before it, too: in `old = load x; while (!cas(&x, &old, new)) {}` a
//! compare-exchange that fails is the next look. If a turn had no effect and leaves at the head what the look before the loop would leave,
//! had it found what the turn has found in the same place, the thread might as well have looked then. So the turn goes back to the look. The
//! look must not acquire more than what the turn does.
//!
//! Why nothing is lost: in the first case nothing is left out at all, the same operations are made in the same order; only where the loop begins is seen in another
//! place. In the second, an execution in which such a turn is followed by others becomes one in which the thread looked before the loop when it
//! made the attempt: between the two it did nothing that others could notice, it holds the same values afterwards, and it has synchronised
//! with no more than before. Whatever fails later fails there, too; what may fail within the turn is executed in it. The oracle has its own definition of such
//! turns, by what can be told apart and not by how the loop is written, and is held against executions with every turn.

use super::paths::{End, Paths, Start, Symbols, Turn};
use super::{Facts, has_inner_cycle, turns};
use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::{Liveness, RegSet, may_fail};
use crate::analysis::loops::{Loop, Loops};
use crate::expr::Expr;
use crate::inst::{Block, Callee, Inst, Op, Term, Terminator, Unwritten};
use crate::program::{BlockId, Function, Reg};
use crate::types::Type;
use rustc_hash::FxHashMap;

/// Lets loops begin with the look before them. Whether one was changed.
pub(super) fn begin_with_the_look(function: &mut Function, facts: &Facts) -> bool {
    let cfg = Cfg::new(function);
    if super::is_too_large(function, &cfg) {
        return false;
    }
    let loops = Loops::new(function, &cfg);
    let live = Liveness::new(function, &cfg);
    for l in loops.list.iter().filter(|l| l.natural) {
        let Some(before) = entry(function, &cfg, l).filter(|_| turns::may_wait(function, facts, &cfg, l, &live)) else {
            continue;
        };
        let seam = Seam { function, l, before, live: live.live_in(l.head) };
        if let Some((at, ends)) = seam.same_tails() {
            let look = split(function, before, at);
            for (from, at) in ends {
                function.blocks[from.index()].insts.truncate(at);
                function.blocks[from.index()].term.kind = Term::Goto(look);
            }
            return true;
        }
        if !has_inner_cycle(&cfg, l)
            && let Some((at, sources)) = seam.retries(facts)
        {
            let look = split(function, before, at);
            for from in sources {
                let head = l.head;
                let term = &mut function.blocks[from.index()].term.kind;
                term.map_targets(|target| if target == head { look } else { target });
            }
            return true;
        }
    }
    false
}

/// The one block outside the loop that leads to its head, and to nothing else.
fn entry(function: &Function, cfg: &Cfg, l: &Loop) -> Option<BlockId> {
    let mut outside = cfg.predecessors(l.head).iter().copied().filter(|&block| !l.contains(block));
    let before = outside.next().filter(|_| l.head != BlockId(0))?;
    let only = outside.next().is_none() && function.blocks[before.index()].term.kind == Term::Goto(l.head);
    only.then_some(before)
}

/// Moves the instructions from `at` on to a block of their own.
fn split(function: &mut Function, block: BlockId, at: usize) -> BlockId {
    let new = BlockId(function.blocks.len() as u32);
    let old = &mut function.blocks[block.index()];
    let insts = old.insts.split_off(at);
    let span = old.term.span;
    let term = std::mem::replace(&mut old.term, Terminator { kind: Term::Goto(new), span });
    function.blocks.push(Block { turn: None, insts, term });
    new
}

/// Where a loop is entered.
struct Seam<'f> {
    function: &'f Function,
    l: &'f Loop,
    before: BlockId,
    live: &'f RegSet,
}

impl Seam<'_> {
    fn insts(&self, block: BlockId) -> &[Inst] {
        &self.function.blocks[block.index()].insts
    }

    /// The longest tail of the block before the loop that is also one of turns, and where it begins in those.
    fn same_tails(&self) -> Option<(usize, Vec<(BlockId, usize)>)> {
        looks_from_the_end(self.insts(self.before)).rev().find_map(|at| {
            let tail = &self.insts(self.before)[at..];
            let count = tail.iter().filter(|inst| is_look(&inst.op)).count();
            let end = |&(from, _): &(BlockId, BlockId)| {
                let jumps = self.function.blocks[from.index()].term.kind == Term::Goto(self.l.head);
                let begin = looks_from_the_end(self.insts(from)).nth(count - 1).filter(|_| jumps)?;
                self.do_the_same(tail, &self.insts(from)[begin..]).then_some((from, begin))
            };
            let ends: Vec<(BlockId, usize)> = self.l.back_edges.iter().filter_map(end).collect();
            (!ends.is_empty()).then_some((at, ends))
        })
    }

    /// Whether both do the same operations and leave the same in live registers, whatever registers hold at their start.
    fn do_the_same(&self, a: &[Inst], b: &[Inst]) -> bool {
        let mut symbols = Symbols::new(self.function);
        let mut found: Vec<Expr> = Vec::new();
        let (Some((ops, a)), Some((others, b))) =
            (follow(a, &mut symbols, &mut found), follow(b, &mut symbols, &mut found))
        else {
            return false;
        };
        let value = |values: &FxHashMap<Reg, Expr>, reg: Reg| values.get(&reg).cloned().unwrap_or(Expr::Reg(reg));
        ops == others && self.live.iter().all(|reg| value(&a, reg) == value(&b, reg))
    }

    /// The load before the loop, and the blocks whose jumps back end turns that might as well begin there.
    fn retries(&self, facts: &Facts) -> Option<(usize, Vec<BlockId>)> {
        let at = looks_from_the_end(self.insts(self.before)).next()?;
        let tail = &self.insts(self.before)[at..];
        let Op::Load { dst: Some(_), ty, addr, order, until: None, unwritten: Unwritten::Error } = &tail[0].op else {
            return None;
        };
        let mut symbols = Symbols::new(self.function);
        let found = symbols.fresh(*ty);
        let (_, entered) = follow(tail, &mut symbols, &mut vec![found.clone()])?;
        // A look that nobody asks about is not the first one of the loop.
        let Expr::Reg(symbol) = found else { return None };
        let is_used = |reg: Reg| entered.get(&reg).is_some_and(|value| mentions(value, |part| part == symbol));
        if !self.live.iter().any(is_used) {
            return None;
        }
        // The address is the same whenever control comes to the load.
        let mut changes = mentions(addr, |reg| entered.contains_key(&reg));
        for inst in self.l.blocks.iter().flat_map(|&block| self.insts(block)) {
            changes |= mentions(addr, |reg| inst.op.dst() == Some(reg));
        }
        if changes {
            return None;
        }
        let paths = Paths { function: self.function, l: self.l, silent: &facts.silent };
        let turns = paths.from(Start::Head)?;
        let is_retry = |turn: &Turn| {
            let mut looks = turn
                .looks
                .iter()
                .filter(|look| look.addr == *addr && look.ty == *ty && (look.order.acquires() || !order.acquires()));
            turn.has_no_effect()
                && looks.any(|look| {
                    self.live.iter().all(|reg| {
                        let expected = entered.get(&reg).cloned().unwrap_or(Expr::Reg(reg));
                        // What the look does not decide is as it was.
                        let kept = !mentions(&expected, |part| {
                            Expr::Reg(part) != found
                                && (entered.contains_key(&part) || turn.value(part) != Expr::Reg(part))
                        });
                        kept && replaced(&expected, &found, &look.value) == turn.value(reg)
                    })
                })
        };
        let mut sources: Vec<BlockId> = self.l.back_edges.iter().map(|&(from, _)| from).collect();
        sources.retain(|&from| {
            let mut through = turns.iter().filter(|turn| turn.end == End::Back(from)).peekable();
            through.peek().is_some() && through.all(is_retry)
        });
        (!sources.is_empty()).then_some((at, sources))
    }
}

/// Whether the instruction may be the look of a loop.
fn is_look(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { until: None, .. }
            | Op::Cas { wait: false, .. }
            | Op::Rmw { idle: None, .. }
            | Op::TryLock { .. }
            | Op::TryRwLock { .. }
            | Op::SemTryWait { .. }
            | Op::Call { callee: Callee::Direct(_), .. }
    )
}

/// Where the looks of a block are, the last one first, as long as nothing else is between them and its end.
fn looks_from_the_end(insts: &[Inst]) -> impl DoubleEndedIterator<Item = usize> + '_ {
    let silent = |inst: &Inst| matches!(&inst.op, Op::Assign { value, .. } if !may_fail(value));
    let first = insts.iter().rposition(|inst| !silent(inst) && !is_look(&inst.op)).map_or(0, |at| at + 1);
    let looks: Vec<usize> = (first..insts.len()).rev().filter(|&at| is_look(&insts[at].op)).collect();
    looks.into_iter()
}

/// What instructions do, over the registers at their start, and what they leave; `found` has the symbols of what is read, and gets those that
/// are missing. `None` if something is too large to be followed.
fn follow(insts: &[Inst], symbols: &mut Symbols<'_>, found: &mut Vec<Expr>) -> Option<(Vec<Op>, FxHashMap<Reg, Expr>)> {
    let mut values = FxHashMap::default();
    let mut ops = Vec::new();
    for inst in insts {
        let mut op = inst.op.clone();
        let mut large = false;
        op.for_each_operand_mut(|operand| {
            *operand = symbols.substituted(operand, &values);
            large |= super::paths::is_large(operand);
        });
        if large {
            return None;
        }
        match op {
            Op::Assign { dst, value } => {
                values.insert(dst, value);
            }
            mut op => {
                if found.len() == ops.len() {
                    let ty = op.dst().map_or(Type::I1, |dst| symbols.function.reg_type(dst));
                    found.push(symbols.fresh(ty));
                }
                // Which register receives it, if any, makes no difference.
                if let Some(dst) = op.dst_mut() {
                    values.insert(std::mem::replace(dst, Reg(u32::MAX)), found[ops.len()].clone());
                } else if let Op::Load { dst, .. } = &mut op {
                    *dst = Some(Reg(u32::MAX));
                }
                ops.push(op);
            }
        }
    }
    Some((ops, values))
}

fn mentions(expr: &Expr, is: impl Fn(Reg) -> bool) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part, Expr::Reg(reg) if is(*reg)));
    found
}

/// The expression with one thing for another.
fn replaced(expr: &Expr, old: &Expr, new: &Expr) -> Expr {
    let part = |expr: &Expr| Box::new(replaced(expr, old, new));
    match expr {
        _ if expr == old => new.clone(),
        Expr::Const(..) | Expr::Reg(_) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => expr.clone(),
        Expr::Unary(op, a) => Expr::Unary(*op, part(a)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, part(a), part(b)),
        Expr::Cast(op, to, a) => Expr::Cast(*op, *to, part(a)),
        Expr::Select(c, a, b) => Expr::Select(part(c), part(a), part(b)),
    }
}
