//! Test-and-set: exchanges that write what is there.
//!
//! `while exchange(&lock, 1) == 1 { }` writes in every turn, but a turn that comes back has written the 1 it found. If that is all
//! it did, the turn has no effect on values: whoever reads from its write can read the same value from the write before
//! it. So the loop is a wait for the other value, if there is only one other: the lock must be an object that holds 0 and 1
//! and nothing else.
//!
//! That is decided for the whole program, and simply: a global scalar whose address is used for nothing but being accessed, as a whole
//! and with its own type, with every value that is written, and the first, a constant 0 or 1.

use super::paths::{End, Turn};
use crate::Ordering;
use crate::expr::Expr;
use crate::inst::{Op, RmwOp, Term};
use crate::program::{InitValue, Layout, Program, Reg};
use crate::types::Type;

/// Per global object: whether it only ever holds 0 or 1.
pub(super) fn binary_cells(program: &Program) -> Vec<bool> {
    let small = |value: &Expr| matches!(value, Expr::Const(_, 0 | 1));
    let mut binary: Vec<bool> = program
        .globals
        .iter()
        .map(|object| {
            let scalar = matches!(object.layout, Layout::Scalar(ty) if ty != Type::Ptr);
            scalar && object.init.iter().all(|field| field.offset == 0 && matches!(field.value, InitValue::Int(0 | 1)))
        })
        .collect();
    let mut lose = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let Expr::Global(id) = part {
                binary[id.index()] = false;
            }
        });
    };
    for object in &program.globals {
        for field in &object.init {
            if let InitValue::Global(id, _) = field.value {
                lose(&Expr::Global(id));
            }
        }
    }
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for inst in &block.insts {
            let (access, fine) = match &inst.op {
                Op::Load { ty, addr, .. } => (Some((addr, *ty)), true),
                Op::Store { ty, addr, value, .. } => (Some((addr, *ty)), small(value)),
                Op::Rmw { op, ty, addr, operand, .. } => {
                    let keeps = matches!(op, RmwOp::Xchg | RmwOp::And | RmwOp::Or | RmwOp::Xor);
                    (Some((addr, *ty)), keeps && small(operand))
                }
                Op::Cas { ty, addr, desired, .. } => (Some((addr, *ty)), small(desired)),
                _ => (None, false),
            };
            let whole = |addr: &Expr, ty: Type| match addr {
                Expr::Global(id) => program.globals[id.index()].layout == Layout::Scalar(ty),
                _ => false,
            };
            inst.op.for_each_operand(|expr| match access {
                Some((addr, ty)) if std::ptr::eq(expr, addr) && fine && whole(addr, ty) => {}
                _ => lose(expr),
            });
            if let Some(cond) = inst.op.condition() {
                lose(cond);
            }
        }
        match &block.term.kind {
            Term::If(expr, ..) | Term::Switch(expr, ..) | Term::Return(Some(expr)) | Term::ExitThread(Some(expr)) => {
                lose(expr);
            }
            _ => {}
        }
    }
    binary
}

/// The waiting compare-exchange that a loop around this exchange is, if the paths behind it show that a turn comes back exactly if
/// it found what it wrote.
pub(super) fn waiting_exchange(op: &Op, after: &[Turn], binary: &[bool]) -> Option<Op> {
    let Op::Rmw { dst: Some(dst), op: RmwOp::Xchg, ty, addr: Expr::Global(id), operand, order, .. } = op else {
        return None;
    };
    let Expr::Const(_, written @ (0 | 1)) = *operand else { return None };
    if !binary[id.index()] {
        return None;
    }
    let possible = |turn: &&Turn, found: u64| {
        turn.conditions.iter().all(|cond| value(cond, *dst, Expr::Const(*ty, found)) != Some(Expr::bool(false)))
    };
    let out = |turn: &&Turn| turn.end == End::Out;
    let stays = !after.iter().filter(out).any(|turn| possible(&turn, written));
    let leaves = !after.iter().filter(|turn| !out(turn)).any(|turn| possible(&turn, 1 - written));
    (stays && leaves).then(|| Op::Cas {
        dst: Some(*dst),
        ty: *ty,
        addr: Expr::Global(*id),
        expected: Expr::Const(*ty, 1 - written),
        desired: operand.clone(),
        success: *order,
        failure: match order {
            Ordering::AcqRel => Ordering::Acquire,
            Ordering::Release => Ordering::Relaxed,
            other => *other,
        },
        wait: true,
    })
}

/// The constant an expression is if `reg` is the constant `known`, if that decides it.
pub(super) fn value(expr: &Expr, reg: Reg, known: Expr) -> Option<Expr> {
    let part = |expr: &Expr| match value(expr, reg, known.clone())? {
        Expr::Const(ty, value) => Some((ty, value)),
        _ => None,
    };
    Some(match expr {
        Expr::Const(..) => expr.clone(),
        Expr::Reg(found) if *found == reg => known,
        Expr::Unary(op, a) => {
            let (ty, a) = part(a)?;
            Expr::Const(ty, op.apply(ty, a))
        }
        Expr::Binary(op, a, b) => {
            let ((ty, a), (_, b)) = (part(a)?, part(b)?);
            Expr::Const(if op.is_comparison() { Type::I1 } else { ty }, op.apply(ty, a, b)?)
        }
        Expr::Cast(op, to, a) => {
            let (from, a) = part(a)?;
            Expr::Const(*to, op.apply(from, *to, a)?)
        }
        Expr::Select(cond, a, b) => {
            let (_, cond) = part(cond)?;
            let (ty, chosen) = part(if cond == 1 { a } else { b })?;
            Expr::Const(ty, chosen)
        }
        Expr::Reg(_) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => return None,
    })
}
