//! Expressions with constants in them, worked out.
//!
//! Whoever follows a program symbolically puts values in the places of registers; what comes of it is often a constant, or a comparison behind a few
//! negations. Nothing is turned around but what is true of all values: constants are folded, negations go inwards, truth values that decide an
//! operation take its place. What may divide by zero stays where it is.

use super::liveness::may_fail;
use crate::expr::{BinOp, Expr, UnOp};
use crate::types::Type;

/// The expression from parts that are simple.
pub(super) fn simplified(expr: Expr) -> Expr {
    match expr {
        Expr::Unary(UnOp::Not, a) => complement(*a),
        Expr::Unary(op @ UnOp::Neg, a) => match *a {
            Expr::Const(ty, value) => Expr::Const(ty, op.apply(ty, value)),
            a => Expr::unary(op, a),
        },
        Expr::Binary(op, a, b) => binary(op, *a, *b),
        Expr::Cast(op, to, a) => match *a {
            Expr::Const(from, value) if from != Type::Ptr && to != Type::Ptr && !op.numbers_addresses() => {
                let folded = op.apply(from, to, from.truncate(value));
                folded.map_or_else(|| Expr::cast(op, to, *a), |value| Expr::Const(to, value))
            }
            a => Expr::cast(op, to, a),
        },
        Expr::Select(cond, a, b) => match *cond {
            Expr::Const(_, 0) if !may_fail(&a) => *b,
            Expr::Const(_, 1) if !may_fail(&b) => *a,
            cond => Expr::Select(Box::new(cond), a, b),
        },
        other => other,
    }
}

/// The complement of a simple expression; of a truth value, its negation.
pub(super) fn complement(expr: Expr) -> Expr {
    match expr {
        Expr::Const(ty, value) => Expr::Const(ty, UnOp::Not.apply(ty, value)),
        Expr::Unary(UnOp::Not, a) => *a,
        Expr::Binary(BinOp::Eq, a, b) => Expr::Binary(BinOp::Ne, a, b),
        Expr::Binary(BinOp::Ne, a, b) => Expr::Binary(BinOp::Eq, a, b),
        Expr::Binary(BinOp::ULt, a, b) => Expr::Binary(BinOp::ULe, b, a),
        Expr::Binary(BinOp::ULe, a, b) => Expr::Binary(BinOp::ULt, b, a),
        Expr::Binary(BinOp::SLt, a, b) => Expr::Binary(BinOp::SLe, b, a),
        Expr::Binary(BinOp::SLe, a, b) => Expr::Binary(BinOp::SLt, b, a),
        Expr::Binary(BinOp::And, a, b) => binary(BinOp::Or, complement(*a), complement(*b)),
        Expr::Binary(BinOp::Or, a, b) => binary(BinOp::And, complement(*a), complement(*b)),
        other => Expr::unary(UnOp::Not, other),
    }
}

/// An operator on simple operands.
pub(super) fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    match (op, &a, &b) {
        (_, &Expr::Const(ty, x), &Expr::Const(other, y)) if ty != Type::Ptr && other != Type::Ptr => {
            let to = if op.is_comparison() { Type::I1 } else { ty };
            // A constant may have more bits than its type.
            let folded = op.apply(ty, ty.truncate(x), other.truncate(y));
            folded.map_or_else(|| Expr::binary(op, a, b), |value| Expr::Const(to, value))
        }
        (BinOp::And, Expr::Const(Type::I1, 1), _) | (BinOp::Or, Expr::Const(Type::I1, 0), _) => b,
        (BinOp::And, _, Expr::Const(Type::I1, 1)) | (BinOp::Or, _, Expr::Const(Type::I1, 0)) => a,
        (BinOp::And, decides @ Expr::Const(Type::I1, 0), other)
        | (BinOp::And, other, decides @ Expr::Const(Type::I1, 0))
        | (BinOp::Or, decides @ Expr::Const(Type::I1, 1), other)
        | (BinOp::Or, other, decides @ Expr::Const(Type::I1, 1))
            if !may_fail(other) =>
        {
            decides.clone()
        }
        _ => Expr::binary(op, a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::CastOp;
    use crate::program::Reg;

    /// What an expression comes to if its only register, of eight bits, has this value.
    fn value(expr: &Expr, x: u64) -> u64 {
        let ty = |expr: &Expr| expr.ty(&|_| Type::I8);
        match expr {
            Expr::Const(_, value) => *value,
            Expr::Reg(_) => x,
            Expr::Unary(op, a) => op.apply(ty(a), value(a, x)),
            Expr::Binary(op, a, b) => op.apply(ty(a), value(a, x), value(b, x)).expect("no division"),
            Expr::Cast(op, to, a) => op.apply(ty(a), *to, value(a, x)).expect("no addresses"),
            Expr::Select(cond, a, b) => value(if value(cond, x) != 0 { a } else { b }, x),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn what_is_simpler_means_the_same() {
        let (reg, small) = (Expr::Reg(Reg(0)), |value| Expr::Const(Type::I8, value));
        let mut atoms = vec![Expr::bool(true), Expr::bool(false)];
        for op in BinOp::ALL.into_iter().filter(|op| op.is_comparison()) {
            atoms.extend([
                binary(op, reg.clone(), small(3)),
                binary(op, small(200), reg.clone()),
                binary(op, small(1), small(255)),
            ]);
        }
        let mut seen = 0;
        for a in &atoms {
            for b in &atoms {
                for op in [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Eq] {
                    let plain = Expr::binary(op, a.clone(), b.clone());
                    let simple = binary(op, a.clone(), b.clone());
                    let part = |part: &Expr| Box::new(part.clone());
                    let chosen = simplified(Expr::Select(part(a), part(a), part(b)));
                    for x in [0, 1, 2, 3, 4, 127, 128, 199, 200, 201, 255] {
                        assert_eq!(value(&plain, x), value(&simple, x), "{plain:?} {simple:?} {x}");
                        assert_eq!(1 - value(&plain, x), value(&complement(simple.clone()), x), "not {plain:?} {x}");
                        assert_eq!(value(&chosen, x), if value(a, x) != 0 { value(a, x) } else { value(b, x) });
                        seen += 1;
                    }
                }
            }
        }
        assert_eq!(seen, 20 * 20 * 4 * 11);
    }

    #[test]
    fn constants_are_as_wide_as_their_types() {
        let minus_one = || Expr::Const(Type::I8, u64::MAX);
        assert_eq!(binary(BinOp::Eq, minus_one(), Expr::int(Type::I8, -1)), Expr::bool(true));
        let wide = simplified(Expr::cast(CastOp::ZExt, Type::I16, minus_one()));
        assert_eq!(wide, Expr::Const(Type::I16, 255));
    }

    #[test]
    fn what_may_fail_stays() {
        let quotient = Expr::binary(BinOp::UDiv, Expr::int(Type::I8, 1), Expr::Reg(Reg(0)));
        let fails = Expr::eq(quotient, Expr::int(Type::I8, 1));
        for expr in [
            binary(BinOp::And, Expr::bool(false), fails.clone()),
            binary(BinOp::Or, fails.clone(), Expr::bool(true)),
            binary(BinOp::UDiv, Expr::int(Type::I8, 1), Expr::int(Type::I8, 0)),
            simplified(Expr::Select(Box::new(Expr::bool(true)), Box::new(Expr::bool(true)), Box::new(fails))),
        ] {
            assert!(may_fail(&expr), "{expr:?}");
        }
    }
}
