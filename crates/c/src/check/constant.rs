//! Which expressions have a value before the program runs, and which one?

use super::Checker;
use super::wide;
use crate::ctype::{IntKind, Ty, Types};
use crate::float;
use crate::syntax::{BinaryOp, UnaryOp};
use crate::tree::{Base, Constant, Expr, ExprKind, Storage};
use raddle_program::FloatUn;

/// Why an expression is no constant; the caller says so with the right words.
#[derive(Debug)]
pub(crate) struct NotConstant;

/// `bits` cut to the width of a type.
pub(crate) fn truncate(types: &Types, ty: &Ty, bits: u64) -> u64 {
    types.scalar(ty).map_or(bits, |scalar| scalar.truncate(bits))
}

/// `bits`, of an integer or pointer type, as a 64-bit number with its sign.
pub(crate) fn extend(types: &Types, ty: &Ty, bits: u64) -> i64 {
    match (ty, types.scalar(ty)) {
        (Ty::Int(kind), Some(scalar)) if kind.signed() => scalar.signed(bits),
        _ => bits as i64,
    }
}

impl Checker {
    /// The value of a constant expression.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Result<Constant, NotConstant> {
        let int = |bits: u64| Ok(Constant::Int(truncate(&self.types, &expr.ty.ty, bits)));
        if let Some(value) = wide::narrowed(self, expr) {
            return value.map(Constant::Int);
        }
        match &expr.kind {
            ExprKind::Const(bits) => Ok(Constant::Int(*bits)),
            ExprKind::AddrOf(object) => self.address(object),
            ExprKind::Load(object) => match object.kind {
                ExprKind::Var(id) => self.known_value(id).ok_or(NotConstant),
                _ => Err(NotConstant),
            },
            ExprKind::Convert(inner) => {
                let value = self.evaluate(inner)?;
                match (value, &expr.ty.ty) {
                    (Constant::Int(bits), to) if matches!(to, Ty::Float(_)) || matches!(inner.ty.ty, Ty::Float(_)) => {
                        float::convert(&self.types, &inner.ty.ty, to, bits).map(Constant::Int).ok_or(NotConstant)
                    }
                    (Constant::Int(bits), Ty::Int(IntKind::Bool)) => Ok(Constant::Int(u64::from(bits != 0))),
                    (Constant::Addr(..), Ty::Int(IntKind::Bool)) => Ok(Constant::Int(1)),
                    (Constant::Int(bits), _) => int(extend(&self.types, &inner.ty.ty, bits) as u64),
                    (address, ty) if self.types.size(ty) == Some(u64::from(self.types.model.long)) => Ok(address),
                    _ => Err(NotConstant),
                }
            }
            ExprKind::Unary(op, inner) => {
                let Constant::Int(bits) = self.evaluate(inner)? else {
                    return if *op == UnaryOp::Not { Ok(Constant::Int(0)) } else { Err(NotConstant) };
                };
                match op {
                    UnaryOp::Minus if let (Ty::Float(_), Some(ty)) = (&expr.ty.ty, self.types.scalar(&expr.ty.ty)) => {
                        int(FloatUn::Neg.apply(ty, bits))
                    }
                    UnaryOp::Minus => int(bits.wrapping_neg()),
                    UnaryOp::Complement => int(!bits),
                    UnaryOp::Not => int(u64::from(!float::is_true(&self.types, &inner.ty.ty, bits))),
                    _ => int(bits),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.evaluate(a)?, self.evaluate(b)?);
                match (left, right) {
                    (Constant::Int(x), Constant::Int(y)) => {
                        let value = binary(&self.types, *op, (&a.ty.ty, x), (&b.ty.ty, y)).ok_or(NotConstant)?;
                        int(value)
                    }
                    (x, y) if *op == BinaryOp::Eq || *op == BinaryOp::Ne => {
                        int(u64::from((x == y) == (*op == BinaryOp::Eq)))
                    }
                    _ => Err(NotConstant),
                }
            }
            ExprKind::PtrAdd { ptr, index, size, minus } => {
                let Constant::Int(index_bits) = self.evaluate(index)? else { return Err(NotConstant) };
                let step = extend(&self.types, &index.ty.ty, index_bits).wrapping_mul(*size as i64);
                let step = if *minus { step.wrapping_neg() } else { step };
                match self.evaluate(ptr)? {
                    Constant::Int(bits) => int(bits.wrapping_add(step as u64)),
                    Constant::Addr(base, offset) => Ok(Constant::Addr(base, offset.wrapping_add(step))),
                }
            }
            ExprKind::PtrDiff(a, b, size) => match (self.evaluate(a)?, self.evaluate(b)?) {
                (Constant::Addr(x, i), Constant::Addr(y, j)) if x == y => {
                    int(i.wrapping_sub(j).wrapping_div((*size).max(1) as i64) as u64)
                }
                (Constant::Int(i), Constant::Int(j)) => {
                    int((i as i64).wrapping_sub(j as i64).wrapping_div((*size).max(1) as i64) as u64)
                }
                _ => Err(NotConstant),
            },
            ExprKind::And(a, b) => {
                if !self.truth(a)? {
                    return int(0);
                }
                int(u64::from(self.truth(b)?))
            }
            ExprKind::Or(a, b) => {
                if self.truth(a)? {
                    return int(1);
                }
                int(u64::from(self.truth(b)?))
            }
            ExprKind::Cond(cond, then, otherwise) => match (self.truth(cond)?, then) {
                (true, Some(then)) => self.evaluate(then),
                (true, None) => self.evaluate(cond),
                (false, _) => self.evaluate(otherwise),
            },
            _ => Err(NotConstant),
        }
    }

    pub(super) fn truth(&self, expr: &Expr) -> Result<bool, NotConstant> {
        if let Ty::Int128 { .. } = expr.ty.ty {
            return Ok(self.evaluate_wide(expr)? != 0);
        }
        Ok(match self.evaluate(expr)? {
            Constant::Int(bits) => float::is_true(&self.types, &expr.ty.ty, bits),
            Constant::Addr(..) => true,
        })
    }

    /// The address of an object that lives as long as the program.
    fn address(&self, object: &Expr) -> Result<Constant, NotConstant> {
        match &object.kind {
            ExprKind::Var(id) => match self.var(*id).storage {
                Storage::Static { thread_local: false, .. } => Ok(Constant::Addr(Base::Var(*id), 0)),
                _ => Err(NotConstant),
            },
            ExprKind::Literal(id, _) => match self.var(*id).storage {
                Storage::Static { .. } => Ok(Constant::Addr(Base::Var(*id), 0)),
                Storage::Auto => Err(NotConstant),
            },
            ExprKind::Func(id) => Ok(Constant::Addr(Base::Func(*id), 0)),
            ExprKind::Str(id) => Ok(Constant::Addr(Base::Str(*id), 0)),
            ExprKind::Deref(ptr) => self.evaluate(ptr),
            ExprKind::Member(base, offset, None) => match self.address(base)? {
                Constant::Addr(base, at) => Ok(Constant::Addr(base, at.wrapping_add(*offset as i64))),
                Constant::Int(bits) => Ok(Constant::Int(bits.wrapping_add(*offset))),
            },
            _ => Err(NotConstant),
        }
    }
}

/// The value of an operator on constants; `None` for what has none (division by zero, a shift too far).
pub(crate) fn binary(types: &Types, op: BinaryOp, (ta, a): (&Ty, u64), (tb, b): (&Ty, u64)) -> Option<u64> {
    let signed = matches!(ta, Ty::Int(kind) if kind.signed());
    let (x, y) = (extend(types, ta, a), extend(types, tb, b));
    if let Ty::Float(_) = ta {
        return float::fold(op, types.scalar(ta)?, a, b);
    }
    let width = types.scalar(ta)?.bits();
    let less = |strict: bool| {
        let (below, same) = if signed { (x < y, x == y) } else { (a < b, a == b) };
        u64::from(below || (same && !strict))
    };
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if signed => x.checked_div(y)? as u64,
        BinaryOp::Rem if signed => x.checked_rem(y)? as u64,
        BinaryOp::Div => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::Shl | BinaryOp::Shr if !(0..i64::from(width)).contains(&y) => return None,
        BinaryOp::Shl => a << y,
        BinaryOp::Shr if signed => (x >> y) as u64,
        BinaryOp::Shr => a >> y,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Eq => u64::from(a == b),
        BinaryOp::Ne => u64::from(a != b),
        BinaryOp::Lt => less(true),
        BinaryOp::Le => less(false),
        BinaryOp::Gt => 1 - less(false),
        BinaryOp::Ge => 1 - less(true),
    })
}
