//! Pure values: building expressions of the program representation, with what is known computed at once.

use crate::ctype::{IntKind, Ty, Types};
use raddle_program::{BinOp, CastOp, Expr, FloatBin, FloatCast, FunctionBuilder, Type, UnOp};

/// Expressions with more parts than this are put in a register before they grow further.
const MAX_PARTS: usize = 48;

/// `a op b`, computed if both are constants. A division by zero stays, to be an error when it is executed.
pub(super) fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    if let (Expr::Const(ta, x), Expr::Const(tb, y)) = (&a, &b)
        && let Some(value) = op.apply(*ta, *x, *y)
    {
        if op.is_comparison() {
            return Expr::bool(value != 0);
        }
        if *ta != Type::Ptr && *tb != Type::Ptr {
            return Expr::Const(*ta, value);
        }
    }
    match (op, &b) {
        (BinOp::Add | BinOp::Sub, Expr::Const(ty, 0)) if *ty != Type::Ptr => a,
        _ => Expr::binary(op, a, b),
    }
}

/// Logical negation, without piling up.
pub(super) fn not(cond: Expr) -> Expr {
    match cond {
        Expr::Const(Type::I1, value) => Expr::bool(value == 0),
        Expr::Unary(UnOp::Not, inner) => *inner,
        Expr::Binary(BinOp::Eq, a, b) => Expr::Binary(BinOp::Ne, a, b),
        Expr::Binary(BinOp::Ne, a, b) => Expr::Binary(BinOp::Eq, a, b),
        other => other.negated(),
    }
}

/// A cast, computed if the operand is a constant.
pub(super) fn cast(op: CastOp, from: Type, to: Type, a: Expr) -> Expr {
    if from == to {
        return a;
    }
    match a {
        Expr::Const(_, value) if let Some(value) = op.apply(from, to, value) => Expr::Const(to, value),
        // Whatever became an address was a number of as many bits, and is that again.
        Expr::Cast(CastOp::ZExt, Type::Ptr, inner) if from == Type::Ptr && to == Type::I64 => *inner,
        // What has been filled with zeros once stays as it is when it is widened again.
        Expr::Cast(CastOp::ZExt, _, inner) if to != Type::Ptr && matches!(op, CastOp::ZExt | CastOp::SExt) => {
            Expr::Cast(CastOp::ZExt, to, inner)
        }
        other => Expr::cast(op, to, other),
    }
}

/// The number by which memory holds an address, where pointers have four bytes.
pub(super) fn pack(address: Expr) -> Expr {
    match address {
        Expr::Cast(CastOp::Unpack, _, number) => *number,
        other => cast(CastOp::Pack, Type::Ptr, Type::I32, other),
    }
}

/// The address that memory holds as this number.
pub(super) fn unpack(number: Expr) -> Expr {
    cast(CastOp::Unpack, Type::I32, Type::Ptr, number)
}

/// A value between the types of two scalars; addresses become the numbers that C programs see.
pub(super) fn reshape(types: &Types, a: Expr, from: Type, to: Type, signed: bool) -> Expr {
    match (from, to) {
        (Type::Ptr, Type::Ptr) => a,
        // A pointer that becomes a wider integer brings its highest bit along.
        (Type::Ptr, _) if types.model.narrow() => resize(pack(a), Type::I32, to, true),
        (_, Type::Ptr) if types.model.narrow() => unpack(resize(a, from, Type::I32, signed)),
        _ => resize(a, from, to, signed),
    }
}

/// A value of width `from` in width `to`, with its sign if it has one.
pub(super) fn resize(a: Expr, from: Type, to: Type, signed: bool) -> Expr {
    let (from_bits, to_bits) = (from.bits(), to.bits());
    match (from, to) {
        _ if from == to => a,
        (Type::Ptr, Type::I64) | (Type::I64, Type::Ptr) => cast(CastOp::ZExt, from, to, a),
        (Type::Ptr, _) => cast(CastOp::Trunc, Type::I64, to, cast(CastOp::ZExt, Type::Ptr, Type::I64, a)),
        (_, Type::Ptr) => cast(CastOp::ZExt, Type::I64, to, resize(a, from, Type::I64, signed)),
        _ if from_bits > to_bits => cast(CastOp::Trunc, from, to, a),
        _ if signed => cast(CastOp::SExt, from, to, a),
        _ => cast(CastOp::ZExt, from, to, a),
    }
}

/// A truth value as a number.
pub(super) fn from_bool(cond: Expr, to: Type) -> Expr {
    cast(CastOp::ZExt, Type::I1, to, cond)
}

/// Whether a value is not zero.
pub(super) fn is_true(value: Expr, ty: Type) -> Expr {
    match value {
        Expr::Const(_, bits) => Expr::bool(bits != 0),
        // A truth value made a number and asked again.
        Expr::Cast(CastOp::ZExt, _, inner) if is_truth(&inner) => *inner,
        // The addresses of objects and functions are never null.
        Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => Expr::bool(true),
        Expr::Cast(CastOp::Unpack, _, number) => Expr::binary(BinOp::Ne, *number, Expr::Const(Type::I32, 0)),
        other => Expr::binary(BinOp::Ne, other, Expr::Const(ty, 0)),
    }
}

fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Const(ty, _) => *ty == Type::I1,
        Expr::Binary(op, a, _) => op.is_comparison() || is_truth(a),
        Expr::Unary(UnOp::Not, a) => is_truth(a),
        Expr::Select(_, a, _) => is_truth(a),
        _ => false,
    }
}

/// Converts a value between C types.
pub(super) fn convert(types: &Types, value: Expr, from: &Ty, to: &Ty) -> Expr {
    let (Some(source), Some(target)) = (types.scalar(from), types.scalar(to)) else { return value };
    match (from, to) {
        (Ty::Float(_), Ty::Int(IntKind::Bool)) => return from_bool(float_is_true(value, source), target),
        (Ty::Float(_), Ty::Float(_)) => return float_cast(FloatCast::Resize, source, target, value),
        (Ty::Float(_), Ty::Int(kind)) => {
            let cast = if kind.signed() { FloatCast::ToSigned } else { FloatCast::ToUnsigned };
            return resize(float_cast(cast, source, Type::I64, value), Type::I64, target, false);
        }
        (Ty::Int(kind), Ty::Float(_)) => {
            let wide = resize(value, source, Type::I64, kind.signed());
            let cast = if kind.signed() { FloatCast::FromSigned } else { FloatCast::FromUnsigned };
            return float_cast(cast, Type::I64, target, wide);
        }
        _ => {}
    }
    if *to == Ty::Int(IntKind::Bool) && *from != Ty::Int(IntKind::Bool) {
        return from_bool(is_true(value, source), target);
    }
    let signed = matches!(from, Ty::Int(kind) if kind.signed());
    reshape(types, value, source, target, signed)
}

/// A conversion from or to a floating-point number, computed if the operand is a constant.
fn float_cast(op: FloatCast, from: Type, to: Type, value: Expr) -> Expr {
    match value {
        _ if op == FloatCast::Resize && from == to => value,
        Expr::Const(_, bits) => Expr::Const(to, op.apply(from, to, bits)),
        other => Expr::cast(CastOp::Float(op), to, other),
    }
}

/// Whether a floating-point number of this type is not zero.
pub(super) fn float_is_true(value: Expr, ty: Type) -> Expr {
    not(binary(BinOp::Float(FloatBin::Eq), value, Expr::Const(ty, 0)))
}

/// An address a constant distance further.
pub(super) fn offset(addr: Expr, by: u64) -> Expr {
    if by == 0 {
        return addr;
    }
    if let Expr::Binary(BinOp::Add, base, distance) = &addr
        && let Expr::Const(Type::I64, known) = **distance
    {
        let base = (**base).clone();
        return Expr::binary(BinOp::Add, base, Expr::Const(Type::I64, known.wrapping_add(by)));
    }
    Expr::binary(BinOp::Add, addr, Expr::Const(Type::I64, by))
}

/// The expression, or a register that holds its value if it has become large.
pub(super) fn settled(builder: &mut FunctionBuilder, expr: Expr) -> Expr {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    if parts <= MAX_PARTS {
        return expr;
    }
    let ty = builder.ty(&expr);
    let reg = builder.reg("t", ty);
    builder.push(raddle_program::Op::Assign { dst: reg, value: expr });
    Expr::Reg(reg)
}
