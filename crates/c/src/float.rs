//! Floating point in C: literals, which operators there are, conversions of constants.
//!
//! `float` and `double` are values of 32 and 64 bits in the program representation, like integers; what is done with them says that they are numbers of
//! IEEE 754 (see [`raddle_program::float`]). Each operation is rounded to the type that C gives it, as with `FLT_EVAL_METHOD` 0. A `long double` is one of 64 bits, too,
//! which C allows and no compiler for x86 does; the verdict has a note.

use crate::ctype::{IntKind, Ty, Types};
use crate::syntax::{BinaryOp, FloatKind};
use raddle_program::{BinOp, FloatBin, FloatCast, FloatUn, Type};

/// A floating-point literal: its bits, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatLit {
    pub(crate) bits: u64,
    pub(crate) kind: FloatKind,
}

impl FloatLit {
    /// The literal with this text, in small letters; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<FloatLit> {
        let (digits, kind) = match text {
            _ if text.starts_with("0x") && !text.contains('p') => return None,
            _ if let Some(digits) = text.strip_suffix("f32") => (digits, FloatKind::Float),
            _ if let Some(digits) = text.strip_suffix("f64") => (digits, FloatKind::Double),
            _ if let Some(digits) = text.strip_suffix('f') => (digits, FloatKind::Float),
            _ if let Some(digits) = text.strip_suffix('l') => (digits, FloatKind::LongDouble),
            _ => (text, FloatKind::Double),
        };
        let bits = match (digits.strip_prefix("0x"), kind) {
            (Some(digits), FloatKind::Float) => u64::from((hexadecimal(digits)? as f32).to_bits()),
            (Some(digits), _) => hexadecimal(digits)?.to_bits(),
            (None, _) if !digits.bytes().all(|c| c.is_ascii_digit() || b".e+-".contains(&c)) => return None,
            (None, FloatKind::Float) => u64::from(digits.parse::<f32>().ok()?.to_bits()),
            (None, _) => digits.parse::<f64>().ok()?.to_bits(),
        };
        Some(FloatLit { bits, kind })
    }
}

/// `1.8p3`, a number to the base 16 times a power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once('p')?;
    let mut exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() < 10_000)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0u64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value.checked_mul(16)?.checked_add(u64::from(digit.to_digit(16)?))?;
    }
    exponent -= 4 * fraction.len() as i32;
    // In steps that stay within the range of a double.
    let mut number = value as f64;
    while exponent != 0 {
        let step = exponent.clamp(-900, 900);
        number *= 2f64.powi(step);
        exponent -= step;
    }
    Some(number)
}

/// The operator on floating-point numbers, and whether its operands change places and its result is negated; `None` for one that is for integers alone.
pub(crate) fn operator(op: BinaryOp) -> Option<(FloatBin, bool, bool)> {
    Some(match op {
        BinaryOp::Add => (FloatBin::Add, false, false),
        BinaryOp::Sub => (FloatBin::Sub, false, false),
        BinaryOp::Mul => (FloatBin::Mul, false, false),
        BinaryOp::Div => (FloatBin::Div, false, false),
        BinaryOp::Eq => (FloatBin::Eq, false, false),
        BinaryOp::Ne => (FloatBin::Eq, false, true),
        BinaryOp::Lt => (FloatBin::Lt, false, false),
        BinaryOp::Le => (FloatBin::Le, false, false),
        BinaryOp::Gt => (FloatBin::Lt, true, false),
        BinaryOp::Ge => (FloatBin::Le, true, false),
        BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => return None,
    })
}

/// The value of an operator on constants of this type, if there is one.
pub(crate) fn fold(op: BinaryOp, ty: Type, a: u64, b: u64) -> Option<u64> {
    let (op, swapped, negated) = operator(op)?;
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    let value = BinOp::Float(op).apply(ty, a, b)?;
    Some(if negated { 1 - value } else { value })
}

/// Whether a constant of this type is different from zero.
pub(crate) fn is_true(types: &Types, ty: &Ty, bits: u64) -> bool {
    match (ty, types.scalar(ty)) {
        // Zero has two signs.
        (Ty::Float(_), Some(scalar)) => FloatUn::Abs.apply(scalar, bits) != 0,
        _ => bits != 0,
    }
}

/// The least number that truncates to no number of the integer type any more, on either side: `low < x && x < high` is what has a value.
pub(crate) fn range(types: &Types, kind: IntKind) -> (f64, f64) {
    let bits = 8 * kind.size(types.model);
    if kind.signed() {
        let half = 2f64.powi(bits as i32 - 1);
        // Behind 2^53 there is no number between this one and the next integer below.
        (if bits < 64 { -half - 1.0 } else { -half - 2048.0 }, half)
    } else {
        (-1.0, 2f64.powi(bits as i32))
    }
}

/// A constant as an integer of 128 bits; `None` if it is none of its type's.
pub(crate) fn to_wide(kind: FloatKind, to: &Ty, bits: u64) -> Option<u128> {
    let value = match kind {
        FloatKind::Float => f64::from(f32::from_bits(bits as u32)),
        FloatKind::Double | FloatKind::LongDouble => f64::from_bits(bits),
        FloatKind::Other => return None,
    };
    let (low, high) = wide_range(*to == Ty::Int128 { signed: true });
    match to {
        _ if !(low <= value && value < high) => None,
        Ty::Int128 { signed: true } => Some(value as i128 as u128),
        _ => Some(value as u128),
    }
}

/// Between which numbers those lie that truncate to an integer of 128 bits: from the first on, below the second.
pub(crate) fn wide_range(signed: bool) -> (f64, f64) {
    // What lies between -1 and 0 is 0.
    if signed { (-2f64.powi(127), 2f64.powi(127)) } else { ((-1f64).next_up(), 2f64.powi(128)) }
}

/// A constant of one arithmetic type as one of another, one of them floating; `None` if it has no value there.
pub(crate) fn convert(types: &Types, from: &Ty, to: &Ty, bits: u64) -> Option<u64> {
    let (source, target) = (types.scalar(from)?, types.scalar(to)?);
    Some(match (from, to) {
        (Ty::Float(_), Ty::Int(IntKind::Bool)) => u64::from(is_true(types, from, bits)),
        (Ty::Float(_), Ty::Float(_)) if source == target => bits,
        (Ty::Float(_), Ty::Float(_)) => FloatCast::Resize.apply(source, target, bits),
        (Ty::Float(_), Ty::Int(kind)) => {
            let value = if source == Type::I32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
            let (low, high) = range(types, *kind);
            if !(low < value && value < high) {
                return None;
            }
            let cast = if kind.signed() { FloatCast::ToSigned } else { FloatCast::ToUnsigned };
            target.truncate(cast.apply(source, Type::I64, bits))
        }
        (Ty::Int(kind), Ty::Float(_)) if kind.signed() => {
            FloatCast::FromSigned.apply(Type::I64, target, source.signed(bits) as u64)
        }
        (Ty::Int(_), Ty::Float(_)) => FloatCast::FromUnsigned.apply(Type::I64, target, bits),
        _ => return None,
    })
}

/// What a function of `<math.h>` does, by its name without the letter of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Math {
    One(FloatUn),
    Two(FloatBin),
    /// Rounded by this, as a `long` or `long long`.
    Integer(FloatUn, IntKind),
}

/// The function of `<math.h>` with this name, and the type that it works on.
pub(crate) fn function(name: &str) -> Option<(Math, FloatKind)> {
    match named(name) {
        Some(math) => Some((math, FloatKind::Double)),
        None => {
            let float = name.strip_suffix('f').map(|stem| (stem, FloatKind::Float));
            let (stem, kind) = float.or_else(|| name.strip_suffix('l').map(|stem| (stem, FloatKind::LongDouble)))?;
            named(stem).map(|math| (math, kind))
        }
    }
}

fn named(name: &str) -> Option<Math> {
    use Math::{Integer, One, Two};
    Some(match name {
        "fabs" => One(FloatUn::Abs),
        "sqrt" => One(FloatUn::Sqrt),
        "cbrt" => One(FloatUn::Cbrt),
        "floor" => One(FloatUn::Floor),
        "ceil" => One(FloatUn::Ceil),
        "trunc" => One(FloatUn::Trunc),
        "round" => One(FloatUn::Round),
        "rint" | "nearbyint" => One(FloatUn::Rint),
        "exp" => One(FloatUn::Exp),
        "exp2" => One(FloatUn::Exp2),
        "log" => One(FloatUn::Log),
        "log2" => One(FloatUn::Log2),
        "log10" => One(FloatUn::Log10),
        "sin" => One(FloatUn::Sin),
        "cos" => One(FloatUn::Cos),
        "tan" => One(FloatUn::Tan),
        "atan" => One(FloatUn::Atan),
        "fmod" => Two(FloatBin::Rem),
        "pow" => Two(FloatBin::Pow),
        "atan2" => Two(FloatBin::Atan2),
        "hypot" => Two(FloatBin::Hypot),
        "fmin" => Two(FloatBin::Min),
        "fmax" => Two(FloatBin::Max),
        "copysign" => Two(FloatBin::CopySign),
        "lround" => Integer(FloatUn::Round, IntKind::Long),
        "llround" => Integer(FloatUn::Round, IntKind::LLong),
        "lrint" => Integer(FloatUn::Rint, IntKind::Long),
        "llrint" => Integer(FloatUn::Rint, IntKind::LLong),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_their_nearest_value() {
        let double = |text: &str| f64::from_bits(FloatLit::parse(text).expect(text).bits);
        for (text, value) in [
            ("1.0", 1.0),
            (".5", 0.5),
            ("1.", 1.0),
            ("1.e3", 1000.0),
            ("1e3", 1000.0),
            ("0x1.8p3", 12.0),
            ("0x1p-1074", 5e-324),
        ] {
            assert_eq!(double(text), value, "{text}");
        }
        let float = FloatLit::parse("0.1f").expect("a literal");
        assert_eq!((float.kind, float.bits), (FloatKind::Float, u64::from(0.1f32.to_bits())));
        for text in ["1.0x", "1..0", "e5", "0x1.8", "1.0ff", "inf", "nan", "0x1p99999999999"] {
            assert_eq!(FloatLit::parse(text), None, "{text}");
        }
    }
}
