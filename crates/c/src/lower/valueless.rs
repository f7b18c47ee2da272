//! Which functions may come to their end without a value?
//!
//! A function with a result need not return one, as long as the caller does not use it (C11 6.9.1p12). A body whose last statement
//! can be left at its end is suspected, by its form alone, as is one with a `return` that has no value: a loop without a condition and without a `break` cannot be left, nor a choice both of whose
//! sides cannot, nor a call of a function that does not return. A suspected function is lowered in two forms: for calls that use the value, where its end is an error, and
//! for all others, where the caller gets [`NO_VALUE`](raddle_program::NO_VALUE). A call through a pointer whose value is used puts it into memory
//! and reads it there, if the program has a suspected function, which is the error that memory has for what was never written. Structs are written through a
//! pointer, and so have members without a value.

use super::Lowerer;
use crate::tree::{Expr, ExprKind, FnId, Stmt, StmtKind};

/// Functions that do not return.
const NO_WAY_BACK: [&str; 10] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "pthread_exit",
    "thrd_exit",
    "__assert_fail",
    "reach_error",
    "__builtin_unreachable",
];

impl Lowerer<'_> {
    /// Whether the function may end without the value that its type promises.
    pub(super) fn may_end_without_value(&self, id: FnId) -> bool {
        let Some(body) = self.bodies.get(&id) else { return false };
        let scalar = self.checker.types.scalar(&self.checker.func(id).ty.ret.ty).is_some();
        scalar
            && self.checker.func(id).name.as_ref() != "main"
            && (self.goes_on(&body.stmts) || body.stmts.iter().any(returns_nothing))
    }

    /// Whether a call through a pointer may have no value.
    pub(super) fn some_end_without_value(&mut self) -> bool {
        if let Some(known) = self.valueless {
            return known;
        }
        let found =
            self.bodies.keys().any(|&id| self.checker.func(id).origin.is_user() && self.may_end_without_value(id));
        self.valueless = Some(found);
        found
    }

    fn goes_on(&self, stmts: &[Stmt]) -> bool {
        stmts.last().is_none_or(|last| self.goes_on_behind(last))
    }

    /// Whether control may come to what stands behind.
    fn goes_on_behind(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::GotoValue(_) | StmtKind::Break | StmtKind::Continue => {
                false
            }
            StmtKind::Block(stmts) => self.goes_on(stmts),
            StmtKind::If(_, a, Some(b)) => self.goes_on_behind(a) || self.goes_on_behind(b),
            StmtKind::While(cond, body) => !is_true(cond) || has_break(body),
            StmtKind::For { cond, body, .. } => cond.as_ref().is_some_and(|cond| !is_true(cond)) || has_break(body),
            StmtKind::DoWhile(body, cond) => !is_true(cond) || has_break(body),
            StmtKind::Expr(expr) => !self.is_final(expr),
            _ => true,
        }
    }

    fn is_final(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Call(callee, _) => match &callee.kind {
                ExprKind::AddrOf(target) => match target.kind {
                    ExprKind::Func(id) => NO_WAY_BACK.contains(&self.checker.func(id).name.as_ref()),
                    _ => false,
                },
                _ => false,
            },
            ExprKind::Convert(inner) => self.is_final(inner),
            _ => false,
        }
    }
}

fn is_true(cond: &Expr) -> bool {
    match &cond.kind {
        ExprKind::Const(value) => *value != 0,
        ExprKind::Convert(inner) => is_true(inner),
        _ => false,
    }
}

/// Whether a `return` without a value is in the statement, which compilers let pass.
fn returns_nothing(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(value) => value.is_none(),
        StmtKind::Block(stmts) => stmts.iter().any(returns_nothing),
        StmtKind::If(_, a, b) => returns_nothing(a) || b.as_ref().is_some_and(|b| returns_nothing(b)),
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For { body, .. }
        | StmtKind::Switch { body, .. } => returns_nothing(body),
        _ => false,
    }
}

/// Whether a `break` of this loop is in its body.
fn has_break(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(stmts) => stmts.iter().any(has_break),
        StmtKind::If(_, a, b) => has_break(a) || b.as_ref().is_some_and(|b| has_break(b)),
        _ => false,
    }
}
