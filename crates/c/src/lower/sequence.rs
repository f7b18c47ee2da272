//! Which expressions change an object twice, or change it and read it, in no order?
//!
//! Operands are evaluated in any order, or in turns, unless C says which comes first; where that concerns a change of a scalar and another change or a
//! read of it, the behaviour is undefined (C11 6.5p2): `i = i++`, `a[i] = i++`, `f(i++, i)`. Objects are told apart by name: a variable, or a member of one.
//! For each expression three sets are computed from those of its operands, from the leaves up: what it reads, what it changes before its
//! value is known, and what it may change later. Operands without an order must not meet; an assignment must not meet what its operands may still
//! change. A call, a comma, and what stands left of `&&`, `||` and `?` have changed everything before they go on.
//!
//! Operands that call functions are noted as well: which is called first is open, and makes a difference if one of the functions does something (see `acts`).
//!
//! What is evaluated under a condition only is looked at by itself and not as a part of what is around it, so that whatever is found happens when the
//! expression is evaluated; a few conflicts are not found for that reason. Calls are in some order: what they do inside has no part in this. Reads of volatile
//! objects are no changes here, though C has them as such.
//!
//! Cost: linear in the size of a body; sets hold only what the expression changes somewhere.

use crate::token::Pos;
use crate::tree::{Body, Expr, ExprKind, FnId, Init, Stmt, VarId};
use crate::walk::{each, each_top};
use rustc_hash::FxHashMap;

/// A scalar that has a name: a variable, or what is so many bytes (and bits) into it.
type Key = (VarId, u64, u32);

/// An expression of a body, by its place in memory.
pub(super) type Place = *const Expr;

/// What an expression does to the objects of interest.
#[derive(Clone, Debug, Default)]
struct Effects {
    reads: Vec<Key>,
    /// Changed before the value is known.
    done: Vec<Key>,
    /// Changed at some time.
    pending: Vec<Key>,
    /// The functions that are called by name.
    calls: Vec<FnId>,
}

/// What a body leaves open.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// The expressions in which an object has no order, and which object that is.
    pub(super) conflicts: FxHashMap<Place, VarId>,
    /// Where functions are called in any order: these, and those.
    pub(super) calls: Vec<(Pos, Vec<FnId>, Vec<FnId>)>,
}

impl Effects {
    fn changes(&self) -> impl Iterator<Item = &Key> {
        self.done.iter().chain(&self.pending)
    }

    /// An object that both concern, in no order.
    fn meets(&self, other: &Effects) -> Option<Key> {
        let concerns =
            |one: &Effects, key: &Key| one.reads.contains(key) || one.changes().any(|changed| changed == key);
        let mine = self.changes().find(|key| concerns(other, key));
        mine.or_else(|| other.changes().find(|key| concerns(self, key))).copied()
    }

    fn add(&mut self, other: Effects) {
        for (mine, theirs) in
            [(&mut self.reads, other.reads), (&mut self.done, other.done), (&mut self.pending, other.pending)]
        {
            for key in theirs {
                if !mine.contains(&key) {
                    mine.push(key);
                }
            }
        }
        for id in other.calls {
            if !self.calls.contains(&id) {
                self.calls.push(id);
            }
        }
    }

    /// Everything has happened.
    fn settle(&mut self) {
        self.done.append(&mut self.pending);
    }
}

/// What the expressions of a body leave open.
pub(super) fn open(body: &Body) -> Open {
    let mut found = Finder::default();
    each_top(&body.stmts, &mut |expr| found.full(expr));
    found.open
}

#[derive(Debug, Default)]
struct Finder {
    /// What the full expression changes somewhere.
    changed: Vec<Key>,
    open: Open,
}

/// The name of an object, if it has one.
fn key(object: &Expr) -> Option<Key> {
    match &object.kind {
        ExprKind::Var(id) => Some((*id, 0, 0)),
        ExprKind::Member(base, at, bits) => {
            let (id, offset, _) = key(base)?;
            Some((id, offset + at, bits.map_or(0, |bits| bits.shift + 1)))
        }
        _ => None,
    }
}

impl Finder {
    fn full(&mut self, expr: &Expr) {
        let (mut changed, mut calls) = (Vec::new(), 0);
        each(expr, &mut |part| {
            calls += u32::from(matches!(part.kind, ExprKind::Call(..)));
            let target = match &part.kind {
                ExprKind::Assign(target, _) | ExprKind::OpAssign { target, .. } | ExprKind::IncDec { target, .. } => {
                    target
                }
                _ => return,
            };
            if target.ty.ty.is_scalar()
                && let Some(key) = key(target)
                && !changed.contains(&key)
            {
                changed.push(key);
            }
        });
        if changed.is_empty() && calls < 2 {
            return;
        }
        let outer = std::mem::replace(&mut self.changed, changed);
        self.effects(expr);
        self.changed = outer;
    }

    fn statements(&mut self, stmts: &[Stmt]) {
        each_top(stmts, &mut |expr| self.full(expr));
    }

    fn conflict(&mut self, expr: &Expr, key: Option<Key>) {
        if let Some((id, ..)) = key {
            self.open.conflicts.entry(std::ptr::from_ref(expr)).or_insert(id);
        }
    }

    /// Operands in no order.
    fn unordered<'e>(&mut self, expr: &Expr, operands: impl IntoIterator<Item = &'e Expr>) -> Effects {
        let mut all = Effects::default();
        for operand in operands {
            let next = self.effects(operand);
            let met = all.meets(&next);
            self.conflict(expr, met);
            if !all.calls.is_empty() && !next.calls.is_empty() {
                self.open.calls.push((expr.pos, all.calls.clone(), next.calls.clone()));
            }
            all.add(next);
        }
        all
    }

    /// What is evaluated first, completely, and what may be evaluated then.
    fn first(&mut self, first: &Expr, then: &[&Expr]) -> Effects {
        let mut effects = self.effects(first);
        effects.settle();
        for side in then {
            self.effects(side);
        }
        effects
    }

    /// Changing an object in the end.
    fn change(&mut self, expr: &Expr, target: &Expr, mut effects: Effects) -> Effects {
        let key = key(target).filter(|key| self.changed.contains(key));
        if let Some(key) = key {
            self.conflict(expr, effects.pending.contains(&key).then_some(key));
            effects.pending.push(key);
        }
        effects
    }

    fn effects(&mut self, expr: &Expr) -> Effects {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Func(_) | ExprKind::Str(_) => Effects::default(),
            ExprKind::Load(object) => {
                let mut effects = self.effects(object);
                effects.reads.extend(key(object).filter(|key| self.changed.contains(key)));
                effects
            }
            ExprKind::Deref(a)
            | ExprKind::Member(a, ..)
            | ExprKind::AddrOf(a)
            | ExprKind::Convert(a)
            | ExprKind::Unary(_, a) => self.effects(a),
            // The parts of an initialiser are evaluated one after the other.
            ExprKind::Literal(_, init) => {
                let parts: Vec<&Expr> = match &**init {
                    Init::Value(value) => vec![value],
                    Init::Parts(parts) => parts.iter().map(|part| &part.value).collect(),
                };
                let mut all = Effects::default();
                for part in parts {
                    let mut next = self.effects(part);
                    next.settle();
                    all.add(next);
                }
                all
            }
            ExprKind::Binary(_, a, b) | ExprKind::PtrDiff(a, b, _) => self.unordered(expr, [&**a, b]),
            ExprKind::PtrAdd { ptr, index, .. } => self.unordered(expr, [&**ptr, index]),
            ExprKind::And(a, b) | ExprKind::Or(a, b) => self.first(a, &[b]),
            ExprKind::Cond(cond, a, b) => {
                let sides: Vec<&Expr> = a.iter().map(|a| &**a).chain([&**b]).collect();
                self.first(cond, &sides)
            }
            ExprKind::Comma(a, b) => {
                let mut effects = self.effects(a);
                effects.settle();
                let second = self.effects(b);
                effects.add(second);
                effects
            }
            ExprKind::Assign(target, value) => {
                let effects = self.unordered(expr, [&**target, value]);
                self.change(expr, target, effects)
            }
            ExprKind::OpAssign { target, value, .. } => {
                let mut left = self.effects(target);
                left.reads.extend(key(target).filter(|key| self.changed.contains(key)));
                let right = self.effects(value);
                let met = left.meets(&right);
                self.conflict(expr, met);
                left.add(right);
                self.change(expr, target, left)
            }
            ExprKind::IncDec { target, .. } => {
                let mut effects = self.effects(target);
                effects.reads.extend(key(target).filter(|key| self.changed.contains(key)));
                self.change(expr, target, effects)
            }
            ExprKind::Call(callee, args) => {
                let mut effects = self.unordered(expr, std::iter::once(&**callee).chain(args));
                effects.settle();
                if let ExprKind::AddrOf(target) = &callee.kind
                    && let ExprKind::Func(id) = target.kind
                    && !effects.calls.contains(&id)
                {
                    effects.calls.push(id);
                }
                effects
            }
            ExprKind::Builtin(_, args) => {
                let mut effects = self.unordered(expr, args);
                effects.settle();
                effects
            }
            ExprKind::StmtExpr(stmts, value) => {
                self.statements(stmts);
                value.iter().for_each(|value| self.full(value));
                Effects::default()
            }
        }
    }
}
