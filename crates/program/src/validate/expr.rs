//! Types of expressions, with nothing taken on trust.

use super::FunctionCheck;
use crate::expr::{BinOp, Expr, UnOp};
use crate::float::is_float;
use crate::partial::Field;
use crate::types::Type;

impl FunctionCheck<'_, '_> {
    /// The type of an expression, or what is wrong with it.
    pub(super) fn ty(&self, expr: &Expr) -> Result<Type, String> {
        let exists = |index: usize, count: usize, what: &str| {
            if index < count { Ok(Type::Ptr) } else { Err(format!("{what} {index} does not exist")) }
        };
        match expr {
            Expr::Const(ty, value) => {
                if *value <= ty.mask() {
                    Ok(*ty)
                } else {
                    Err(format!("the constant {value} does not fit in `{ty}`"))
                }
            }
            Expr::Reg(reg) => self.reg(*reg),
            Expr::Global(id) => exists(id.index(), self.program.globals.len(), "global object"),
            Expr::Local(id) => exists(id.index(), self.function.locals.len(), "local object"),
            Expr::Func(id) => exists(id.index(), self.program.functions.len(), "function"),
            Expr::Unary(op, a) => match self.ty(a)? {
                Type::Ptr => Err("arithmetic on a pointer".to_owned()),
                ty if matches!(op, UnOp::Float(_)) && !is_float(ty) => Err(format!("{op:?} of `{ty}`")),
                ty => Ok(ty),
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.ty(a)?, self.ty(b)?);
                binary(*op, a, b).ok_or_else(|| format!("{op:?} of `{a}` and `{b}`"))
            }
            Expr::Cast(op, to, a) => {
                let from = self.ty(a)?;
                if op.allows(from, *to) {
                    Ok(*to)
                } else {
                    Err(format!("`{}` does not lead from `{from}` to `{to}`", op.name()))
                }
            }
            Expr::Select(cond, a, b) => {
                self.expect(cond, Type::I1)?;
                let ty = self.ty(a)?;
                self.expect(b, ty)?;
                Ok(ty)
            }
        }
    }
}

/// The type of `a op b`, if there is one.
fn binary(op: BinOp, a: Type, b: Type) -> Option<Type> {
    match (op, a, b) {
        (BinOp::Float(_), a, _) if !is_float(a) => None,
        (BinOp::Splice(op), a, b) if a != Type::Ptr && b != Type::Ptr => {
            let from = Field { shift: op.from, width: op.to.width };
            (op.to.fits(a.bits()) && from.fits(b.bits())).then_some(a)
        }
        (op, a, b) if op.is_comparison() => (a == b).then_some(Type::I1),
        (BinOp::Add | BinOp::Sub, Type::Ptr, Type::I64) | (BinOp::Add, Type::I64, Type::Ptr) => Some(Type::Ptr),
        (BinOp::Sub, Type::Ptr, Type::Ptr) => Some(Type::I64),
        (_, Type::Ptr, _) | (_, _, Type::Ptr) => None,
        (_, a, b) => (a == b).then_some(a),
    }
}
