//! Which expressions of 128 bits have a value before the program runs, and which one?
//!
//! Initial values of static objects are such, `(unsigned __int128)1 << 100` for one. They are computed here apart, since all other constants have 64
//! bits.

use super::Checker;
use super::constant::{NotConstant, extend, truncate};
use crate::ctype::{IntKind, Ty};
use crate::float;
use crate::syntax::{BinaryOp, FloatKind, UnaryOp};
use crate::tree::{Constant, Expr, ExprKind};

fn is_wide(expr: &Expr) -> bool {
    matches!(expr.ty.ty, Ty::Int128 { .. })
}

/// The value of an expression of 64 bits or less whose operands have 128; `None` if it is no such expression. One of 128 bits has no value of 64.
pub(super) fn narrowed(checker: &Checker, expr: &Expr) -> Option<Result<u64, NotConstant>> {
    if is_wide(expr) {
        return Some(Err(NotConstant));
    }
    Some(match &expr.kind {
        ExprKind::Convert(inner) if is_wide(inner) => checker.evaluate_wide(inner).and_then(|value| {
            let signed = matches!(inner.ty.ty, Ty::Int128 { signed: true });
            match &expr.ty.ty {
                Ty::Int(IntKind::Bool) => Ok(u64::from(value != 0)),
                Ty::Float(FloatKind::Float) if signed => Ok(u64::from((value as i128 as f32).to_bits())),
                Ty::Float(FloatKind::Float) => Ok(u64::from((value as f32).to_bits())),
                Ty::Float(FloatKind::Double | FloatKind::LongDouble) if signed => Ok((value as i128 as f64).to_bits()),
                Ty::Float(FloatKind::Double | FloatKind::LongDouble) => Ok((value as f64).to_bits()),
                ty @ (Ty::Int(_) | Ty::Ptr(_)) => Ok(truncate(&checker.types, ty, value as u64)),
                _ => Err(NotConstant),
            }
        }),
        ExprKind::Unary(UnaryOp::Not, inner) if is_wide(inner) => {
            checker.evaluate_wide(inner).map(|value| u64::from(value == 0))
        }
        ExprKind::Binary(op, a, b) if is_wide(a) => checker.compared(*op, a, b).map(u64::from),
        _ => return None,
    })
}

impl Checker {
    fn compared(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<bool, NotConstant> {
        let (x, y) = (self.evaluate_wide(a)?, self.evaluate_wide(b)?);
        let order = match a.ty.ty {
            Ty::Int128 { signed: true } => (x as i128).cmp(&(y as i128)),
            _ => x.cmp(&y),
        };
        Ok(match op {
            BinaryOp::Eq => order.is_eq(),
            BinaryOp::Ne => order.is_ne(),
            BinaryOp::Lt => order.is_lt(),
            BinaryOp::Le => order.is_le(),
            BinaryOp::Gt => order.is_gt(),
            BinaryOp::Ge => order.is_ge(),
            _ => return Err(NotConstant),
        })
    }

    /// The value of a constant expression of 128 bits.
    pub(super) fn evaluate_wide(&self, expr: &Expr) -> Result<u128, NotConstant> {
        match &expr.kind {
            ExprKind::Const(bits) => Ok(u128::from(*bits)),
            ExprKind::Convert(inner) if is_wide(inner) => self.evaluate_wide(inner),
            ExprKind::Convert(inner) => {
                let Constant::Int(bits) = self.evaluate(inner)? else { return Err(NotConstant) };
                match &inner.ty.ty {
                    Ty::Int(kind) if kind.signed() => Ok(i128::from(extend(&self.types, &inner.ty.ty, bits)) as u128),
                    Ty::Int(_) | Ty::Ptr(_) => Ok(u128::from(bits)),
                    Ty::Float(kind) => float::to_wide(*kind, &expr.ty.ty, bits).ok_or(NotConstant),
                    _ => Err(NotConstant),
                }
            }
            ExprKind::Unary(UnaryOp::Minus, inner) => Ok(self.evaluate_wide(inner)?.wrapping_neg()),
            ExprKind::Unary(UnaryOp::Complement, inner) => Ok(!self.evaluate_wide(inner)?),
            ExprKind::Binary(op, a, b) if is_wide(a) => {
                let x = self.evaluate_wide(a)?;
                let signed = matches!(a.ty.ty, Ty::Int128 { signed: true });
                if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    let count = if is_wide(b) {
                        self.evaluate_wide(b)?
                    } else {
                        let Constant::Int(count) = self.evaluate(b)? else { return Err(NotConstant) };
                        u128::from(count)
                    };
                    let count = u32::try_from(count).ok().filter(|count| *count < 128).ok_or(NotConstant)?;
                    return Ok(match op {
                        BinaryOp::Shl => x << count,
                        _ if signed => ((x as i128) >> count) as u128,
                        _ => x >> count,
                    });
                }
                let y = self.evaluate_wide(b)?;
                let (i, j) = (x as i128, y as i128);
                Ok(match op {
                    BinaryOp::Add => x.wrapping_add(y),
                    BinaryOp::Sub => x.wrapping_sub(y),
                    BinaryOp::Mul => x.wrapping_mul(y),
                    BinaryOp::Div if signed => i.checked_div(j).ok_or(NotConstant)? as u128,
                    BinaryOp::Rem if signed => i.checked_rem(j).ok_or(NotConstant)? as u128,
                    BinaryOp::Div => x.checked_div(y).ok_or(NotConstant)?,
                    BinaryOp::Rem => x.checked_rem(y).ok_or(NotConstant)?,
                    BinaryOp::And => x & y,
                    BinaryOp::Or => x | y,
                    BinaryOp::Xor => x ^ y,
                    _ => return Err(NotConstant),
                })
            }
            ExprKind::Cond(cond, then, otherwise) => match (self.truth(cond)?, then) {
                (true, Some(then)) => self.evaluate_wide(then),
                (true, None) => Err(NotConstant),
                (false, _) => self.evaluate_wide(otherwise),
            },
            _ => Err(NotConstant),
        }
    }
}
