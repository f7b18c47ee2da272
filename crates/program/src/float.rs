//! Floating point: numbers of IEEE 754 as bit patterns of `i32` (binary32) and `i64` (binary64).
//!
//! A value has no type of its own for this: an operator says that it takes its operands for floating-point numbers, as others say that
//! they take them for signed ones. Sum, difference, product, quotient, remainder, square root, the roundings and the conversions are exact to
//! the last bit, rounded to nearest; `pow`, `exp`, `sin` and the like are what the mathematics library of this machine makes of them. Which of its bits a result
//! that is no number has is not looked at by anybody: it is always the same.

use crate::types::Type;

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name in the text form.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }

            /// The one of this name.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|op| op.name() == name)
            }
        }
    };
}

operators! {
    /// Operators with two operands.
    FloatBin {
        /// Sum.
        Add "float_add",
        /// Difference.
        Sub "float_sub",
        /// Product.
        Mul "float_mul",
        /// Quotient.
        Div "float_div",
        /// Remainder with the sign of the dividend, as `fmod`.
        Rem "float_rem",
        /// Power.
        Pow "float_pow",
        /// The angle of a point.
        Atan2 "float_atan2",
        /// The length of a vector.
        Hypot "float_hypot",
        /// The lesser one; the other one if one is no number.
        Min "float_min",
        /// The greater one; the other one if one is no number.
        Max "float_max",
        /// The first with the sign of the second.
        CopySign "float_copysign",
        /// Equal.
        Eq "float_eq",
        /// Less.
        Lt "float_lt",
        /// Less or equal.
        Le "float_le",
    }
}

operators! {
    /// Operators with one operand.
    FloatUn {
        /// The other sign.
        Neg "float_neg",
        /// Without its sign.
        Abs "float_abs",
        /// Square root.
        Sqrt "float_sqrt",
        /// Cube root.
        Cbrt "float_cbrt",
        /// The next integer below.
        Floor "float_floor",
        /// The next integer above.
        Ceil "float_ceil",
        /// Without what is behind the point.
        Trunc "float_trunc",
        /// The nearest integer, halves away from zero.
        Round "float_round",
        /// The nearest integer, halves to the even one.
        Rint "float_rint",
        /// Power of e.
        Exp "float_exp",
        /// Power of 2.
        Exp2 "float_exp2",
        /// Logarithm.
        Log "float_log",
        /// Logarithm to the base 2.
        Log2 "float_log2",
        /// Logarithm to the base 10.
        Log10 "float_log10",
        /// Sine.
        Sin "float_sin",
        /// Cosine.
        Cos "float_cos",
        /// Tangent.
        Tan "float_tan",
        /// Inverse of the tangent.
        Atan "float_atan",
    }
}

operators! {
    /// Changes of type.
    FloatCast {
        /// From a signed `i64`.
        FromSigned "float_signed",
        /// From an unsigned `i64`.
        FromUnsigned "float_unsigned",
        /// To a signed `i64`, towards zero; the least one if it does not fit.
        ToSigned "signed_float",
        /// To an unsigned `i64`, towards zero; the nearest one if it does not fit.
        ToUnsigned "unsigned_float",
        /// From one width to the other.
        Resize "float_resize",
    }
}

/// Whether values of this type can be floating-point numbers.
pub const fn is_float(ty: Type) -> bool {
    matches!(ty, Type::I32 | Type::I64)
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The bits of a result. Machines differ in those of what is no number, so it is given the same ones everywhere.
fn from_single(value: f32) -> u64 {
    u64::from(if value.is_nan() { f32::NAN } else { value }.to_bits())
}

fn from_double(value: f64) -> u64 {
    if value.is_nan() { f64::NAN } else { value }.to_bits()
}

impl FloatBin {
    /// Whether the result is a truth value.
    pub const fn is_comparison(self) -> bool {
        matches!(self, FloatBin::Eq | FloatBin::Lt | FloatBin::Le)
    }

    /// The value of `a op b` on operands of type `ty`.
    pub fn apply(self, ty: Type, a: u64, b: u64) -> u64 {
        if ty == Type::I32 {
            let (a, b) = (single(a), single(b));
            return match self {
                FloatBin::Add => from_single(a + b),
                FloatBin::Sub => from_single(a - b),
                FloatBin::Mul => from_single(a * b),
                FloatBin::Div => from_single(a / b),
                FloatBin::Rem => from_single(a % b),
                FloatBin::Pow => from_single(a.powf(b)),
                FloatBin::Atan2 => from_single(a.atan2(b)),
                FloatBin::Hypot => from_single(a.hypot(b)),
                FloatBin::Min => from_single(a.min(b)),
                FloatBin::Max => from_single(a.max(b)),
                FloatBin::CopySign => u64::from(a.copysign(b).to_bits()),
                FloatBin::Eq => u64::from(a == b),
                FloatBin::Lt => u64::from(a < b),
                FloatBin::Le => u64::from(a <= b),
            };
        }
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        match self {
            FloatBin::Add => from_double(a + b),
            FloatBin::Sub => from_double(a - b),
            FloatBin::Mul => from_double(a * b),
            FloatBin::Div => from_double(a / b),
            FloatBin::Rem => from_double(a % b),
            FloatBin::Pow => from_double(a.powf(b)),
            FloatBin::Atan2 => from_double(a.atan2(b)),
            FloatBin::Hypot => from_double(a.hypot(b)),
            FloatBin::Min => from_double(a.min(b)),
            FloatBin::Max => from_double(a.max(b)),
            FloatBin::CopySign => a.copysign(b).to_bits(),
            FloatBin::Eq => u64::from(a == b),
            FloatBin::Lt => u64::from(a < b),
            FloatBin::Le => u64::from(a <= b),
        }
    }
}

macro_rules! apply_unary {
    ($op:expr, $a:ident, $bits:expr) => {
        match $op {
            FloatUn::Neg => return u64::from((-$a).to_bits()),
            FloatUn::Abs => return u64::from($a.abs().to_bits()),
            FloatUn::Sqrt => $bits($a.sqrt()),
            FloatUn::Cbrt => $bits($a.cbrt()),
            FloatUn::Floor => $bits($a.floor()),
            FloatUn::Ceil => $bits($a.ceil()),
            FloatUn::Trunc => $bits($a.trunc()),
            FloatUn::Round => $bits($a.round()),
            FloatUn::Rint => $bits($a.round_ties_even()),
            FloatUn::Exp => $bits($a.exp()),
            FloatUn::Exp2 => $bits($a.exp2()),
            FloatUn::Log => $bits($a.ln()),
            FloatUn::Log2 => $bits($a.log2()),
            FloatUn::Log10 => $bits($a.log10()),
            FloatUn::Sin => $bits($a.sin()),
            FloatUn::Cos => $bits($a.cos()),
            FloatUn::Tan => $bits($a.tan()),
            FloatUn::Atan => $bits($a.atan()),
        }
    };
}

impl FloatUn {
    /// The value of `op a` on an operand of type `ty`.
    pub fn apply(self, ty: Type, a: u64) -> u64 {
        if ty == Type::I32 {
            let a = single(a);
            return apply_unary!(self, a, from_single);
        }
        let a = f64::from_bits(a);
        apply_unary!(self, a, from_double)
    }
}

impl FloatCast {
    /// Whether this leads from `from` to `to`.
    pub const fn allows(self, from: Type, to: Type) -> bool {
        match self {
            FloatCast::FromSigned | FloatCast::FromUnsigned => matches!(from, Type::I64) && is_float(to),
            FloatCast::ToSigned | FloatCast::ToUnsigned => is_float(from) && matches!(to, Type::I64),
            FloatCast::Resize => matches!((from, to), (Type::I32, Type::I64) | (Type::I64, Type::I32)),
        }
    }

    /// The value of a cast of `a` from type `from` to type `to`.
    pub fn apply(self, from: Type, to: Type, a: u64) -> u64 {
        let wide = || if from == Type::I32 { f64::from(single(a)) } else { f64::from_bits(a) };
        match (self, to) {
            (FloatCast::FromSigned, Type::I32) => from_single(a as i64 as f32),
            (FloatCast::FromSigned, _) => from_double(a as i64 as f64),
            (FloatCast::FromUnsigned, Type::I32) => from_single(a as f32),
            (FloatCast::FromUnsigned, _) => from_double(a as f64),
            (FloatCast::ToSigned, _) => {
                let value = wide();
                // 2^63 is a double, the greatest signed number is none.
                let fits = value >= i64::MIN as f64 && value < -(i64::MIN as f64);
                if fits { value as i64 as u64 } else { i64::MIN as u64 }
            }
            (FloatCast::ToUnsigned, _) => wide() as u64,
            (FloatCast::Resize, Type::I32) => from_single(wide() as f32),
            (FloatCast::Resize, _) => from_double(wide()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_once() {
        let [tenth, fifth] = [0.1f64, 0.2].map(f64::to_bits);
        assert_eq!(f64::from_bits(FloatBin::Add.apply(Type::I64, tenth, fifth)), 0.1 + 0.2);
        let [a, b] = [16_777_216f32, 1.0].map(|x| u64::from(x.to_bits()));
        assert_eq!(FloatBin::Add.apply(Type::I32, a, b), a);
    }

    #[test]
    fn nothing_is_less_or_equal_to_no_number() {
        let none = FloatBin::Div.apply(Type::I64, 0, 0);
        for op in [FloatBin::Eq, FloatBin::Lt, FloatBin::Le] {
            assert_eq!(op.apply(Type::I64, none, none), 0, "{op:?}");
        }
        assert_eq!(FloatBin::Eq.apply(Type::I64, 0, FloatUn::Neg.apply(Type::I64, 0)), 1);
    }

    #[test]
    fn what_does_not_fit_becomes_some_integer() {
        let bits = |value: f64| value.to_bits();
        let signed = |value: f64| FloatCast::ToSigned.apply(Type::I64, Type::I64, bits(value)) as i64;
        assert_eq!((signed(-3.9), signed(3.9)), (-3, 3));
        assert_eq!(
            (signed(1e30), signed(f64::NAN), signed(9_223_372_036_854_775_808.0)),
            (i64::MIN, i64::MIN, i64::MIN)
        );
        assert_eq!(FloatCast::ToUnsigned.apply(Type::I64, Type::I64, bits(1.8e19)), 18_000_000_000_000_000_000);
        let third = FloatCast::Resize.apply(Type::I64, Type::I32, bits(1.0 / 3.0));
        assert_eq!(f32::from_bits(third as u32), 1.0 / 3.0);
    }
}
