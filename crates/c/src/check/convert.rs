//! Which conversions does C insert? Values of objects, promotions, the usual arithmetic conversions, assignments.

use super::constant::{extend, truncate};
use super::{Checked, Checker};
use crate::ctype::{IntKind, QTy, Ty};
use crate::float;
use crate::parse::Fault;
use crate::syntax::FloatKind;
use crate::token::Pos;
use crate::tree::{Constant, Expr, ExprKind};

/// Why a number is refused.
pub(super) const OTHER_FLOAT: &str = "complex numbers, and floating-point numbers of 16 or 128 bits, are not supported";

impl Checker {
    /// Checks an expression and takes its value.
    pub(super) fn rvalue_of(&mut self, expr: &crate::syntax::Expr) -> Checked<Expr> {
        let expr = self.expr(expr)?;
        self.rvalue(expr)
    }

    /// The value of what an expression denotes: arrays and functions become pointers, objects are read.
    pub(super) fn rvalue(&self, expr: Expr) -> Checked<Expr> {
        let pos = expr.pos;
        if let Ty::Float(FloatKind::LongDouble) = expr.ty.ty {
            self.long_double.set(true);
        }
        match &expr.ty.ty {
            Ty::Array(element, _) => {
                let ty = Ty::Ptr(element.clone()).plain();
                Ok(Expr { kind: ExprKind::AddrOf(Box::new(expr)), ty, pos })
            }
            Ty::Func(_) => {
                let ty = expr.ty.clone().pointer().plain();
                if let ExprKind::Deref(ptr) = expr.kind {
                    return Ok(Expr { ty, ..*ptr });
                }
                Ok(Expr { kind: ExprKind::AddrOf(Box::new(expr)), ty, pos })
            }
            Ty::Float(FloatKind::Other) => Err(Fault::new(pos, OTHER_FLOAT)),
            _ if is_object(&expr) => {
                if let Ty::Record(_) = expr.ty.ty
                    && self.types.size(&expr.ty.ty).is_none()
                {
                    let shown = self.types.show(&expr.ty);
                    return Err(Fault::new(pos, format!("the type `{shown}` is not complete here")));
                }
                let ty = expr.ty.value();
                Ok(Expr { kind: ExprKind::Load(Box::new(expr)), ty, pos })
            }
            _ => Ok(expr),
        }
    }

    /// Converts a value to a type, as an assignment or a cast does.
    pub(super) fn convert(&self, expr: Expr, to: &Ty) -> Checked<Expr> {
        let pos = expr.pos;
        if expr.ty.ty == *to {
            return Ok(expr);
        }
        let fault = |message: String| Err(Fault::new(pos, message));
        match (&expr.ty.ty, to) {
            (_, Ty::Float(FloatKind::Other)) | (Ty::Float(FloatKind::Other), Ty::Int(_) | Ty::Float(_)) => {
                fault(OTHER_FLOAT.to_owned())
            }
            (Ty::Int(_) | Ty::Float(_), Ty::Float(_)) | (Ty::Float(_), Ty::Int(_)) => {
                let ty = to.clone().plain();
                if let ExprKind::Const(bits) = expr.kind
                    && let Some(bits) = float::convert(&self.types, &expr.ty.ty, to, bits)
                {
                    return Ok(Expr { kind: ExprKind::Const(bits), ty, pos });
                }
                Ok(Expr { kind: ExprKind::Convert(Box::new(expr)), ty, pos })
            }
            (_, Ty::Void) => Ok(Expr { kind: ExprKind::Convert(Box::new(expr)), ty: Ty::Void.plain(), pos }),
            (Ty::Int(_), Ty::Int(kind)) => {
                if let ExprKind::Const(bits) = expr.kind {
                    let wide = extend(&self.types, &expr.ty.ty, bits) as u64;
                    let bits =
                        if *kind == IntKind::Bool { u64::from(bits != 0) } else { truncate(&self.types, to, wide) };
                    return Ok(Expr { kind: ExprKind::Const(bits), ty: to.clone().plain(), pos });
                }
                Ok(Expr { kind: ExprKind::Convert(Box::new(expr)), ty: to.clone().plain(), pos })
            }
            (Ty::Int(_), Ty::Ptr(_)) => {
                if let ExprKind::Const(bits) = expr.kind {
                    let wide = extend(&self.types, &expr.ty.ty, bits) as u64;
                    return Ok(Expr { kind: ExprKind::Const(wide), ty: to.clone().plain(), pos });
                }
                Ok(Expr { kind: ExprKind::Convert(Box::new(expr)), ty: to.clone().plain(), pos })
            }
            (Ty::Ptr(_), Ty::Int(_) | Ty::Ptr(_) | Ty::Int128 { .. })
            | (Ty::Int128 { .. }, Ty::Int(_) | Ty::Ptr(_) | Ty::Float(_) | Ty::Int128 { .. })
            | (Ty::Int(_) | Ty::Float(_), Ty::Int128 { .. }) => {
                Ok(Expr { kind: ExprKind::Convert(Box::new(expr)), ty: to.clone().plain(), pos })
            }
            (Ty::Record(a), Ty::Record(b)) if self.types.same_record(*a, *b) => Ok(expr),
            (from, _) => {
                let (from, to) = (self.types.show(&from.clone().plain()), self.types.show(&to.clone().plain()));
                fault(format!("a value of type `{from}` cannot become `{to}`"))
            }
        }
    }

    /// The integer promotions.
    pub(super) fn promote(&self, expr: Expr) -> Checked<Expr> {
        if let Ty::Int128 { .. } = expr.ty.ty {
            return Ok(expr);
        }
        let Some(kind) = expr.ty.ty.int() else {
            let shown = self.types.show(&expr.ty);
            return Err(Fault::new(expr.pos, format!("an integer is needed here, not `{shown}`")));
        };
        if let Some(width) = bit_width(&expr) {
            let to = match (width, kind.signed()) {
                (..=31, _) | (32, true) => IntKind::Int,
                (32, false) => IntKind::UInt,
                _ => kind,
            };
            return self.convert(expr, &Ty::Int(to));
        }
        if kind.rank() < IntKind::Int.rank() {
            return self.convert(expr, &Ty::INT);
        }
        Ok(expr)
    }

    /// A number as arithmetic takes it: integers are promoted.
    pub(super) fn arithmetic(&self, expr: Expr) -> Checked<Expr> {
        match expr.ty.ty {
            Ty::Float(FloatKind::Other) => Err(Fault::new(expr.pos, OTHER_FLOAT)),
            Ty::Float(_) => Ok(expr),
            _ => self.promote(expr),
        }
    }

    /// The type two numbers meet in, if one of them is floating.
    pub(super) fn common_float(a: &Ty, b: &Ty) -> Option<Ty> {
        match (a, b) {
            (Ty::Float(a), Ty::Float(b)) => Some(Ty::Float(match (a, b) {
                (FloatKind::LongDouble, _) | (_, FloatKind::LongDouble) => FloatKind::LongDouble,
                _ if a == b => *a,
                _ => FloatKind::Double,
            })),
            (Ty::Float(kind), other) | (other, Ty::Float(kind)) if other.is_integer() => Some(Ty::Float(*kind)),
            _ => None,
        }
    }

    /// The usual arithmetic conversions.
    pub(super) fn usual(&self, a: Expr, b: Expr) -> Checked<(Expr, Expr)> {
        let (a, b) = (self.arithmetic(a)?, self.arithmetic(b)?);
        if let Some(to) = Self::common_float(&a.ty.ty, &b.ty.ty) {
            return Ok((self.convert(a, &to)?, self.convert(b, &to)?));
        }
        let (a, b) = (self.promote(a)?, self.promote(b)?);
        let Some(to) = self.common_integer(&a.ty.ty, &b.ty.ty) else {
            return Err(Fault::new(a.pos, "integers are needed here"));
        };
        Ok((self.convert(a, &to)?, self.convert(b, &to)?))
    }

    /// The type two promoted integers meet in, if they are such.
    pub(super) fn common_integer(&self, a: &Ty, b: &Ty) -> Option<Ty> {
        match (a, b) {
            (Ty::Int(a), Ty::Int(b)) => Some(Ty::Int(self.common(*a, *b))),
            (Ty::Int128 { signed: a }, Ty::Int128 { signed: b }) => Some(Ty::Int128 { signed: *a && *b }),
            // It holds whatever the others hold.
            (wide @ Ty::Int128 { .. }, Ty::Int(_)) | (Ty::Int(_), wide @ Ty::Int128 { .. }) => Some(wide.clone()),
            _ => None,
        }
    }

    /// The type two promoted integers meet in.
    fn common(&self, a: IntKind, b: IntKind) -> IntKind {
        if a == b {
            return a;
        }
        let model = self.types.model;
        if a.signed() == b.signed() {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (signed, unsigned) = if a.signed() { (a, b) } else { (b, a) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.size(model) > unsigned.size(model) {
            signed
        } else {
            signed.unsigned()
        }
    }

    /// A value that can be compared with zero.
    pub(super) fn condition(&mut self, expr: &crate::syntax::Expr) -> Checked<Expr> {
        let value = self.rvalue_of(expr)?;
        self.scalar(value)
    }

    pub(super) fn scalar(&self, value: Expr) -> Checked<Expr> {
        if value.ty.ty.is_scalar() {
            return Ok(value);
        }
        let shown = self.types.show(&value.ty);
        Err(Fault::new(value.pos, format!("a number or a pointer is needed here, not `{shown}`")))
    }

    /// Whether this is the null pointer constant.
    pub(super) fn is_null(&self, expr: &Expr) -> bool {
        matches!(self.evaluate(expr), Ok(Constant::Int(0)))
            && match &expr.ty.ty {
                Ty::Int(_) | Ty::Int128 { .. } => true,
                Ty::Ptr(to) => to.ty == Ty::Void,
                _ => false,
            }
    }

    pub(super) fn int(&self, value: i64, pos: Pos) -> Expr {
        Expr { kind: ExprKind::Const(truncate(&self.types, &Ty::INT, value as u64)), ty: Ty::INT.plain(), pos }
    }

    pub(super) fn size_constant(&self, value: u64, pos: Pos) -> Expr {
        let ty: QTy = self.types.size_type().plain();
        Expr { kind: ExprKind::Const(truncate(&self.types, &ty.ty, value)), ty, pos }
    }
}

/// The width of the bit-field whose value this is; assignments and commas hand it on.
pub(super) fn bit_width(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Load(object) => bit_width(object),
        ExprKind::Member(_, _, bits) => bits.map(|bits| bits.width),
        ExprKind::Comma(_, last) => bit_width(last),
        ExprKind::Assign(target, _) | ExprKind::OpAssign { target, .. } | ExprKind::IncDec { target, .. } => {
            bit_width(target)
        }
        _ => None,
    }
}

/// Whether the expression denotes an object (or part of a struct value) that has to be read to get its value.
pub(super) fn is_object(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Var(_) | ExprKind::Deref(_) | ExprKind::Str(_) | ExprKind::Member(..) | ExprKind::Literal(..)
    )
}

/// Whether the object can be assigned to and have its address taken.
pub(super) fn is_lvalue(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Member(base, ..) => is_lvalue(base),
        _ => is_object(expr),
    }
}
