//! The paths through one turn of a loop, followed symbolically.
//!
//! Along a path every register is an expression over the registers at its start and over *symbols*, one for each value read.
//! Symbols are registers beyond those of the function. A branch adds its condition, or the negation of it; what the
//! conditions say about compare-exchanges and trylocks is noted at once ("the value read was not the one expected").
//! An expression that grows beyond a limit is replaced by a fresh symbol, which is always sound: less is known.

use super::Silence;
use crate::Ordering;
use crate::analysis::loops::Loop;
use crate::expr::{BinOp, CastOp, Expr, UnOp};
use crate::inst::{Callee, Op, Term};
use crate::program::{BlockId, Function, Reg};
use crate::types::Type;
use rustc_hash::FxHashMap;

/// How many paths through a loop are followed.
const MAX_PATHS: usize = 64;
/// How large the expression of a register may grow.
const MAX_SIZE: usize = 60;

/// Where paths start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// At the head of the loop.
    Head,
    /// Right behind this instruction of the loop.
    After(BlockId, usize),
}

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Back at the head, from this block.
    Back(BlockId),
    /// Anywhere else: out of the loop, out of the function, waiting in a loop inside.
    Out,
}

/// An attempt to write that may fail: a compare-exchange, a trylock.
#[derive(Clone, Debug)]
struct Attempt {
    /// True if and only if it succeeded.
    succeeded: Expr,
    /// What the path shows.
    failed: Option<bool>,
}

/// A load, or a compare-exchange for the case that it fails.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) addr: Expr,
    pub(super) ty: Type,
    pub(super) order: Ordering,
    /// The symbol of what it finds.
    pub(super) value: Expr,
}

/// One path.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) end: End,
    /// What the branches along the path have decided, over the registers at its start.
    pub(super) conditions: Vec<Expr>,
    /// How many reads of memory there are on it.
    pub(super) reads: usize,
    /// The loads and compare-exchanges among them, in order.
    pub(super) looks: Vec<Look>,
    /// How many read-modify-writes that always write.
    updates: usize,
    values: FxHashMap<Reg, Expr>,
    attempts: Vec<Attempt>,
    /// Whether it does something that others can notice.
    effect: bool,
    atomic: i32,
}

impl Turn {
    /// What the register holds at the end.
    pub(super) fn value(&self, reg: Reg) -> Expr {
        self.values.get(&reg).cloned().unwrap_or(Expr::Reg(reg))
    }

    /// Whether attempt `index` failed, if the path shows it.
    pub(super) fn failed(&self, index: usize) -> Option<bool> {
        self.attempts.get(index)?.failed
    }

    pub(super) fn has_no_effect(&self) -> bool {
        self.updates == 0 && self.only_updates()
    }

    /// Whether it has no effect other than that of read-modify-writes.
    pub(super) fn only_updates(&self) -> bool {
        !self.effect && self.atomic == 0 && self.attempts.iter().all(|attempt| attempt.failed == Some(true))
    }
}

/// Whether the instruction itself neither writes nor waits nor branches the execution. Calls are judged by the callee.
pub(super) fn is_silent(op: &Op) -> bool {
    matches!(
        op,
        Op::Assign { .. }
            | Op::Fence { .. }
            | Op::ThreadId { .. }
            | Op::Assert { .. }
            | Op::Assume { .. }
            | Op::Print { .. }
            | Op::Load { .. }
    )
}

/// The paths of a loop.
pub(super) struct Paths<'f> {
    pub(super) function: &'f Function,
    pub(super) l: &'f Loop,
    /// Per function, what a call of it may do.
    pub(super) silent: &'f [Silence],
}

impl Paths<'_> {
    /// All paths from `start` to the end of the turn, or `None` if there are too many. The loop has no inner cycles.
    pub(super) fn from(&self, start: Start) -> Option<Vec<Turn>> {
        let mut turn = Turn {
            end: End::Out,
            conditions: Vec::new(),
            reads: 0,
            looks: Vec::new(),
            updates: 0,
            values: FxHashMap::default(),
            attempts: Vec::new(),
            effect: false,
            atomic: 0,
        };
        let mut symbols = Symbols::new(self.function);
        let (block, first) = match start {
            Start::Head => (self.l.head, 0),
            Start::After(block, inst) => {
                self.attempted(&mut turn, block, inst);
                (block, inst + 1)
            }
        };
        let mut done = Vec::new();
        let mut open = vec![(block, first, turn)];
        while let Some((block, first, mut turn)) = open.pop() {
            let insts = &self.function.blocks[block.index()].insts[first..];
            // Nobody goes on behind an error.
            let (insts, fails) = match insts.iter().position(|inst| matches!(inst.op, Op::Error { .. })) {
                Some(at) => (&insts[..at], true),
                None => (insts, false),
            };
            for inst in insts {
                self.execute(&inst.op, &mut turn, &mut symbols);
            }
            if fails {
                done.push(Turn { end: End::Out, ..turn });
            } else {
                self.branch(block, turn, &symbols, &mut open, &mut done);
            }
            if open.len() + done.len() > MAX_PATHS {
                return None;
            }
        }
        Some(done)
    }

    /// A path that starts behind a compare-exchange knows the value it read by its register.
    fn attempted(&self, turn: &mut Turn, block: BlockId, inst: usize) {
        if let Op::Cas { dst, expected, .. } = &self.function.blocks[block.index()].insts[inst].op {
            let mut lost = dst.is_none();
            expected.walk(&mut |part| lost |= matches!(part, Expr::Reg(reg) if Some(*reg) == *dst));
            let succeeded = match dst {
                Some(dst) if !lost => Expr::eq(Expr::Reg(*dst), expected.clone()),
                // Nothing on the path can show what happened.
                _ => Expr::Reg(Reg(u32::MAX)),
            };
            turn.attempts.push(Attempt { succeeded, failed: None });
        }
    }

    fn execute(&self, op: &Op, turn: &mut Turn, symbols: &mut Symbols<'_>) {
        let mut result = None;
        match op {
            Op::Assign { value, .. } => result = Some(symbols.substitute(value, &turn.values)),
            Op::Load { ty, addr, order, .. } => {
                turn.reads += 1;
                let value = symbols.fresh(*ty);
                let addr = symbols.substitute(addr, &turn.values);
                turn.looks.push(Look { addr, ty: *ty, order: *order, value: value.clone() });
                result = Some(value);
            }
            Op::Rmw { ty, .. } => {
                turn.reads += 1;
                turn.updates += 1;
                result = Some(symbols.fresh(*ty));
            }
            Op::Cas { ty, addr, expected, failure, wait, .. } => {
                turn.reads += 1;
                let value = symbols.fresh(*ty);
                let addr = symbols.substitute(addr, &turn.values);
                turn.looks.push(Look { addr, ty: *ty, order: *failure, value: value.clone() });
                let expected = symbols.substitute(expected, &turn.values);
                let failed = wait.then_some(false);
                turn.attempts.push(Attempt { succeeded: Expr::eq(value.clone(), expected), failed });
                result = Some(value);
            }
            Op::TryLock { .. } | Op::TryRwLock { .. } | Op::SemTryWait { .. } => {
                turn.reads += 1;
                let succeeded = symbols.fresh(Type::I1);
                turn.attempts.push(Attempt { succeeded: succeeded.clone(), failed: None });
                result = Some(succeeded);
            }
            Op::Call { callee: Callee::Direct(id), .. } => {
                turn.effect |= self.silent[id.index()] == Silence::None;
                turn.reads += usize::from(self.silent[id.index()] == Silence::Reads);
            }
            Op::AtomicBegin => turn.atomic += 1,
            Op::AtomicEnd => {
                turn.atomic -= 1;
                turn.effect |= turn.atomic < 0;
            }
            op => turn.effect |= !is_silent(op),
        }
        if let Some(dst) = op.dst() {
            let value = result.unwrap_or_else(|| symbols.fresh(self.function.reg_type(dst)));
            turn.values.insert(dst, value);
        }
    }

    fn branch(
        &self,
        block: BlockId,
        turn: Turn,
        symbols: &Symbols<'_>,
        open: &mut Vec<(BlockId, usize, Turn)>,
        done: &mut Vec<Turn>,
    ) {
        let mut go = |mut turn: Turn, target: Option<BlockId>, conditions: Vec<Expr>| {
            for cond in conditions {
                match constant(&cond) {
                    Some(true) => continue,
                    // Nobody goes this way.
                    Some(false) => return,
                    None => {}
                }
                symbols.learn(&cond, true, &mut turn.attempts);
                turn.conditions.push(cond);
            }
            match target {
                Some(target) if target == self.l.head => done.push(Turn { end: End::Back(block), ..turn }),
                Some(target) if self.l.contains(target) => open.push((target, 0, turn)),
                _ => done.push(Turn { end: End::Out, ..turn }),
            }
        };
        match &self.function.blocks[block.index()].term.kind {
            Term::Goto(target) => go(turn, Some(*target), Vec::new()),
            Term::If(cond, then, otherwise) => {
                let cond = symbols.substituted(cond, &turn.values);
                go(turn.clone(), Some(*then), vec![cond.clone()]);
                go(turn, Some(*otherwise), vec![cond.negated()]);
            }
            Term::Switch(value, cases, default) => {
                let ty = self.function.expr_type(value);
                let value = symbols.substituted(value, &turn.values);
                let is = |case: u64| Expr::eq(value.clone(), Expr::Const(ty, case));
                for &(case, target) in cases {
                    go(turn.clone(), Some(target), vec![is(case)]);
                }
                let none = cases.iter().map(|&(case, _)| is(case).negated()).collect();
                go(turn, Some(*default), none);
            }
            Term::Return(_) | Term::ExitThread(_) | Term::Exit | Term::Spin(_) | Term::Unreachable => {
                go(turn, None, Vec::new());
            }
        }
    }
}

/// The truth of a condition that mentions no register.
fn constant(cond: &Expr) -> Option<bool> {
    // No register has this number.
    match super::binary::value(cond, Reg(u32::MAX), Expr::bool(false))? {
        Expr::Const(_, value) => Some(value != 0),
        _ => None,
    }
}

/// Whether an expression has grown beyond what is followed.
pub(super) fn is_large(expr: &Expr) -> bool {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size > MAX_SIZE
}

/// Values read, as registers beyond those of the function.
pub(super) struct Symbols<'f> {
    pub(super) function: &'f Function,
    types: Vec<Type>,
}

impl<'f> Symbols<'f> {
    pub(super) fn new(function: &'f Function) -> Self {
        Symbols { function, types: Vec::new() }
    }

    pub(super) fn fresh(&mut self, ty: Type) -> Expr {
        self.types.push(ty);
        Expr::Reg(Reg((self.function.regs.len() + self.types.len() - 1) as u32))
    }

    fn ty(&self, expr: &Expr) -> Type {
        let regs = &self.function.regs;
        expr.ty(&|reg| match regs.get(reg.index()) {
            Some(decl) => decl.ty,
            None => self.types.get(reg.index() - regs.len()).copied().unwrap_or(Type::I1),
        })
    }

    /// The expression over the start of the path; a fresh symbol if it is too large.
    fn substitute(&mut self, expr: &Expr, values: &FxHashMap<Reg, Expr>) -> Expr {
        let result = self.substituted(expr, values);
        if is_large(&result) { self.fresh(self.function.expr_type(expr)) } else { result }
    }

    pub(super) fn substituted(&self, expr: &Expr, values: &FxHashMap<Reg, Expr>) -> Expr {
        let part = |expr: &Expr| Box::new(self.substituted(expr, values));
        match expr {
            Expr::Reg(reg) => values.get(reg).cloned().unwrap_or(Expr::Reg(*reg)),
            Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => expr.clone(),
            Expr::Unary(op, a) => Expr::Unary(*op, part(a)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, part(a), part(b)),
            Expr::Cast(op, to, a) => Expr::Cast(*op, *to, part(a)),
            Expr::Select(c, a, b) => Expr::Select(part(c), part(a), part(b)),
        }
    }

    /// What it means for the attempts that `cond` is `truth`.
    fn learn(&self, cond: &Expr, truth: bool, attempts: &mut [Attempt]) {
        match cond {
            Expr::Unary(UnOp::Not, a) => return self.learn(a, !truth, attempts),
            Expr::Binary(BinOp::And, a, b) if truth => {
                self.learn(a, truth, attempts);
                return self.learn(b, truth, attempts);
            }
            Expr::Binary(BinOp::Or, a, b) if !truth => {
                self.learn(a, truth, attempts);
                return self.learn(b, truth, attempts);
            }
            Expr::Binary(BinOp::Ne, a, b) => {
                return self.learn(&Expr::Binary(BinOp::Eq, a.clone(), b.clone()), !truth, attempts);
            }
            Expr::Binary(BinOp::Eq, a, b) => {
                for (a, b) in [(a, b), (b, a)] {
                    if let Expr::Const(_, value) = **b
                        && let Some((inner, when)) = self.flag(a, value)
                    {
                        return self.learn(inner, truth == when, attempts);
                    }
                }
            }
            _ => {}
        }
        for attempt in attempts {
            if implies_success(cond, &attempt.succeeded) {
                attempt.failed = Some(!truth);
            } else if truth && contradicts(cond, &attempt.succeeded) {
                attempt.failed = Some(true);
            }
        }
    }

    /// If `expr == value` says the same as a truth value inside of `expr`: that one, and which truth it says.
    fn flag<'e>(&self, expr: &'e Expr, value: u64) -> Option<(&'e Expr, bool)> {
        match expr {
            Expr::Cast(CastOp::ZExt, _, inner) if self.ty(inner) == Type::I1 && value <= 1 => Some((inner, value == 1)),
            Expr::Cast(CastOp::ZExt, _, inner) if value <= self.ty(inner).mask() => self.flag(inner, value),
            Expr::Select(cond, a, b) => match (&**a, &**b) {
                (Expr::Const(_, a), Expr::Const(_, b)) if a != b && (value == *a || value == *b) => {
                    Some((cond, value == *a))
                }
                _ => None,
            },
            _ if self.ty(expr) == Type::I1 => Some((expr, value == 1)),
            _ => None,
        }
    }
}

/// Whether the two conditions are one, an equation read either way.
fn implies_success(cond: &Expr, succeeded: &Expr) -> bool {
    if cond == succeeded {
        return true;
    }
    match (cond, succeeded) {
        (Expr::Binary(BinOp::Eq, a, b), Expr::Binary(BinOp::Eq, c, d)) => a == d && b == c,
        _ => false,
    }
}

/// Whether both are equations of one thing with different constants.
fn contradicts(cond: &Expr, succeeded: &Expr) -> bool {
    let (Expr::Binary(BinOp::Eq, a, b), Expr::Binary(BinOp::Eq, value, expected)) = (cond, succeeded) else {
        return false;
    };
    let Expr::Const(_, expected) = **expected else { return false };
    let other = |side: &Expr, constant: &Expr| {
        *side == **value && matches!(constant, Expr::Const(_, found) if *found != expected)
    };
    other(a, b) || other(b, a)
}
