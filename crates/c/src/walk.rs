//! Visiting every expression of a typed tree.

use crate::tree::{Builtin, Expr, ExprKind, Init, Order, Stmt, StmtKind};

/// Calls `visit` on every expression of the statements, outermost first.
pub(crate) fn each_in(stmts: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    each_top(stmts, &mut |expr| each(expr, visit));
}

/// Calls `visit` on every expression of the statements that is no part of another one.
pub(crate) fn each_top(stmts: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    stmts.iter().for_each(|stmt| each_top_of(stmt, visit));
}

fn each_top_of(stmt: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Cleanup(expr) => visit(expr),
        StmtKind::Block(stmts) => each_top(stmts, visit),
        StmtKind::Decl(_, init) => init.iter().for_each(|init| each_part(init, visit)),
        StmtKind::If(cond, then, otherwise) => {
            visit(cond);
            each_top_of(then, visit);
            otherwise.iter().for_each(|s| each_top_of(s, visit));
        }
        StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) => {
            visit(cond);
            each_top_of(body, visit);
        }
        StmtKind::For { init, cond, step, body } => {
            each_top(init, visit);
            cond.iter().chain(step).for_each(&mut *visit);
            each_top_of(body, visit);
        }
        StmtKind::Switch { subject, body, .. } => {
            visit(subject);
            each_top_of(body, visit);
        }
        StmtKind::GotoValue(target) => visit(target),
        StmtKind::Return(value) => value.iter().for_each(visit),
        StmtKind::Case(_) | StmtKind::Label(_) | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue => {}
    }
}

fn each_part(init: &Init, visit: &mut dyn FnMut(&Expr)) {
    match init {
        Init::Value(value) => visit(value),
        Init::Parts(parts) => parts.iter().for_each(|part| visit(&part.value)),
    }
}

/// Calls `visit` on the expression and all its parts.
pub(crate) fn each(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Func(_) | ExprKind::Str(_) => {}
        ExprKind::Deref(a)
        | ExprKind::Member(a, ..)
        | ExprKind::Load(a)
        | ExprKind::AddrOf(a)
        | ExprKind::Convert(a)
        | ExprKind::Unary(_, a) => each(a, visit),
        ExprKind::Literal(_, init) => each_part(init, &mut |expr| each(expr, visit)),
        ExprKind::Binary(_, a, b)
        | ExprKind::PtrDiff(a, b, _)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Assign(a, b) => {
            each(a, visit);
            each(b, visit);
        }
        ExprKind::PtrAdd { ptr, index, .. } => {
            each(ptr, visit);
            each(index, visit);
        }
        ExprKind::OpAssign { target, value, .. } => {
            each(target, visit);
            each(value, visit);
        }
        ExprKind::IncDec { target, .. } => each(target, visit),
        ExprKind::Cond(a, b, c) => {
            each(a, visit);
            b.iter().for_each(|b| each(b, visit));
            each(c, visit);
        }
        ExprKind::Call(callee, args) => {
            each(callee, visit);
            args.iter().for_each(|a| each(a, visit));
        }
        ExprKind::StmtExpr(stmts, value) => {
            each_in(stmts, visit);
            value.iter().for_each(|v| each(v, visit));
        }
        ExprKind::Builtin(builtin, args) => {
            args.iter().for_each(|a| each(a, visit));
            let orders: [Option<&Order>; 2] = match builtin {
                Builtin::AtomicLoad(order)
                | Builtin::AtomicStore(order)
                | Builtin::TestAndSet(order)
                | Builtin::Fence(order)
                | Builtin::AtomicRmw { order, .. } => [Some(order), None],
                Builtin::CompareExchange { success, failure, .. } => [Some(success), Some(failure)],
                _ => [None, None],
            };
            for order in orders.into_iter().flatten() {
                if let Order::Runtime(expr) = order {
                    each(expr, visit);
                }
            }
        }
    }
}
