//! Expressions: pure, typed, over registers, constants and addresses. They never touch memory.
//!
//! Arithmetic wraps. A shift by the width or more gives 0 (or copies of the sign for [`BinOp::AShr`]).
//! The one thing that can go wrong is a division by zero, which is an error of the program under test.

use crate::float::{FloatBin, FloatCast, FloatUn};
use crate::partial::{self, Field};
use crate::program::{FuncId, GlobalId, LocalId, Reg};
use crate::types::Type;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant; the value is already cut to the type's width.
    Const(Type, u64),
    /// The value of a register of the current activation.
    Reg(Reg),
    /// The address of a global object (of the current thread's copy, if it is thread-local).
    Global(GlobalId),
    /// The address of a local object of the current activation.
    Local(LocalId),
    /// The address of a function.
    Func(FuncId),
    /// A unary operator.
    Unary(UnOp, Box<Expr>),
    /// A binary operator.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// A change of type.
    Cast(CastOp, Type, Box<Expr>),
    /// `condition ? then : otherwise`; both sides are evaluated.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Operators with one operand; the result has the operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// Bitwise complement (logical not for `i1`).
    Not,
    /// Two's complement negation.
    Neg,
    /// Of floating-point numbers.
    Float(FloatUn),
}

/// Operators with two operands of one type.
///
/// Pointers: `ptr + i64`, `ptr - i64` are pointers, `ptr - ptr` is `i64`; pointers compare with pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Unsigned quotient.
    UDiv,
    /// Signed quotient, rounded towards zero; the most negative number divided by -1 wraps.
    SDiv,
    /// Unsigned remainder.
    URem,
    /// Signed remainder, with the dividend's sign.
    SRem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right, filling with zeros.
    LShr,
    /// Shift right, filling with the sign.
    AShr,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Unsigned less.
    ULt,
    /// Unsigned less or equal.
    ULe,
    /// Signed less.
    SLt,
    /// Signed less or equal.
    SLe,
    /// Of floating-point numbers.
    Float(FloatBin),
    /// The first with a field of it replaced by one of the second, which need not have the same type. The one operator on [values in part](crate::partial).
    Splice(Splice),
}

/// Which field is replaced by which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Splice {
    /// The field that is replaced.
    pub to: Field,
    /// Where the bits start that replace it.
    pub from: u8,
}

impl BinOp {
    /// Every binary operator on numbers of one type, those of floating-point numbers apart.
    pub const ALL: [BinOp; 19] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::UDiv,
        BinOp::SDiv,
        BinOp::URem,
        BinOp::SRem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::AShr,
        BinOp::Eq,
        BinOp::Ne,
        BinOp::ULt,
        BinOp::ULe,
        BinOp::SLt,
        BinOp::SLe,
    ];

    /// Whether the result is a truth value.
    pub const fn is_comparison(self) -> bool {
        match self {
            BinOp::Eq | BinOp::Ne | BinOp::ULt | BinOp::ULe | BinOp::SLt | BinOp::SLe => true,
            BinOp::Float(op) => op.is_comparison(),
            _ => false,
        }
    }

    /// The value of `a op b` on operands of type `ty`, or `None` for a division by zero.
    pub fn apply(self, ty: Type, a: u64, b: u64) -> Option<u64> {
        let signed = |value: u64| ty.signed(value);
        let bits = || u64::from(ty.bits());
        let truth = |holds: bool| Some(u64::from(holds));
        let value = match self {
            BinOp::Eq => return truth(a == b),
            BinOp::Ne => return truth(a != b),
            BinOp::ULt => return truth(a < b),
            BinOp::ULe => return truth(a <= b),
            BinOp::SLt => return truth(signed(a) < signed(b)),
            BinOp::SLe => return truth(signed(a) <= signed(b)),
            BinOp::Add => a.wrapping_add(b),
            BinOp::Sub => a.wrapping_sub(b),
            BinOp::Mul => a.wrapping_mul(b),
            BinOp::UDiv => a.checked_div(b)?,
            BinOp::SDiv => (b != 0).then(|| signed(a).wrapping_div(signed(b)) as u64)?,
            BinOp::URem => a.checked_rem(b)?,
            BinOp::SRem => (b != 0).then(|| signed(a).wrapping_rem(signed(b)) as u64)?,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            BinOp::Shl => {
                if b < bits() {
                    a << b
                } else {
                    0
                }
            }
            BinOp::LShr => {
                if b < bits() {
                    a >> b
                } else {
                    0
                }
            }
            BinOp::AShr => (signed(a) >> b.min(63)) as u64,
            BinOp::Float(op) if op.is_comparison() => return Some(op.apply(ty, a, b)),
            BinOp::Float(op) => op.apply(ty, a, b),
            BinOp::Splice(Splice { to, from }) => return Some(partial::splice(a, to, b, from, ty.mask())),
        };
        Some(ty.truncate(value))
    }
}

impl UnOp {
    /// The value of `op a` on an operand of type `ty`.
    pub fn apply(self, ty: Type, a: u64) -> u64 {
        ty.truncate(match self {
            UnOp::Not => !a,
            UnOp::Neg => a.wrapping_neg(),
            UnOp::Float(op) => op.apply(ty, a),
        })
    }
}

/// Changes of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastOp {
    /// To a wider type, filling with zeros; or between `i64` and `ptr` (same bits).
    ZExt,
    /// To a wider type, filling with the sign.
    SExt,
    /// To a narrower type, dropping the high bits.
    Trunc,
    /// From `ptr` to `i32`: the 32-bit number of an address, for programs whose pointers have four bytes in memory.
    /// The machine decides on the numbers. Null is 0, and distances inside of an object are kept.
    Pack,
    /// From `i32` to `ptr`: the address with this 32-bit number. Undoes [`CastOp::Pack`].
    Unpack,
    /// To or from a floating-point number.
    Float(FloatCast),
}

impl CastOp {
    /// Every change of type, those of floating-point numbers apart.
    pub const ALL: [CastOp; 5] = [CastOp::ZExt, CastOp::SExt, CastOp::Trunc, CastOp::Pack, CastOp::Unpack];

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            CastOp::ZExt => "zext",
            CastOp::SExt => "sext",
            CastOp::Trunc => "trunc",
            CastOp::Pack => "pack",
            CastOp::Unpack => "unpack",
            CastOp::Float(op) => op.name(),
        }
    }

    /// Whether this leads from `from` to `to`.
    pub const fn allows(self, from: Type, to: Type) -> bool {
        match self {
            CastOp::ZExt => {
                from.bits() < to.bits() || matches!((from, to), (Type::I64, Type::Ptr) | (Type::Ptr, Type::I64))
            }
            CastOp::SExt => from.bits() < to.bits(),
            CastOp::Trunc => from.bits() > to.bits(),
            CastOp::Pack => matches!((from, to), (Type::Ptr, Type::I32)),
            CastOp::Unpack => matches!((from, to), (Type::I32, Type::Ptr)),
            CastOp::Float(op) => op.allows(from, to),
        }
    }

    /// Whether the machine decides on the value.
    pub const fn numbers_addresses(self) -> bool {
        matches!(self, CastOp::Pack | CastOp::Unpack)
    }

    /// The value of a cast of `a` from type `from` to type `to`; `None` if that is for the machine to say.
    pub fn apply(self, from: Type, to: Type, a: u64) -> Option<u64> {
        match self {
            CastOp::ZExt | CastOp::Trunc => Some(to.truncate(a)),
            CastOp::SExt => Some(to.truncate(from.signed(a) as u64)),
            CastOp::Pack | CastOp::Unpack => (a == 0).then_some(0),
            CastOp::Float(op) => Some(op.apply(from, to, a)),
        }
    }
}

impl Expr {
    /// The constant `value` of type `ty`, cut to its width.
    pub fn int(ty: Type, value: i64) -> Expr {
        Expr::Const(ty, ty.truncate(value as u64))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Expr {
        Expr::Const(Type::I1, u64::from(value))
    }

    /// The null pointer.
    pub fn null() -> Expr {
        Expr::Const(Type::Ptr, 0)
    }

    /// `a op b`.
    pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// `op a`.
    pub fn unary(op: UnOp, a: Expr) -> Expr {
        Expr::Unary(op, Box::new(a))
    }

    /// A cast of `a` to `to`.
    pub fn cast(op: CastOp, to: Type, a: Expr) -> Expr {
        Expr::Cast(op, to, Box::new(a))
    }

    /// `a == b`.
    pub fn eq(a: Expr, b: Expr) -> Expr {
        Expr::binary(BinOp::Eq, a, b)
    }

    /// Logical negation of a truth value.
    pub fn negated(self) -> Expr {
        Expr::unary(UnOp::Not, self)
    }

    /// The type of this expression, given the types of registers. Assumes a validated expression.
    pub fn ty(&self, reg_type: &impl Fn(Reg) -> Type) -> Type {
        match self {
            Expr::Const(ty, _) => *ty,
            Expr::Reg(reg) => reg_type(*reg),
            Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => Type::Ptr,
            Expr::Unary(_, a) => a.ty(reg_type),
            Expr::Binary(op, a, b) => {
                if op.is_comparison() {
                    return Type::I1;
                }
                match (op, a.ty(reg_type), b.ty(reg_type)) {
                    (BinOp::Sub, Type::Ptr, Type::Ptr) => Type::I64,
                    (BinOp::Add, Type::I64, Type::Ptr) => Type::Ptr,
                    (_, ty, _) => ty,
                }
            }
            Expr::Cast(_, to, _) => *to,
            Expr::Select(_, a, _) => a.ty(reg_type),
        }
    }

    /// Replaces each register in it.
    pub fn map_registers(&mut self, map: &impl Fn(Reg) -> Reg) {
        match self {
            Expr::Reg(reg) => *reg = map(*reg),
            Expr::Const(..) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => {}
            Expr::Unary(_, a) | Expr::Cast(_, _, a) => a.map_registers(map),
            Expr::Binary(_, a, b) => {
                a.map_registers(map);
                b.map_registers(map);
            }
            Expr::Select(a, b, c) => {
                for part in [a, b, c] {
                    part.map_registers(map);
                }
            }
        }
    }

    /// Calls `visit` on this expression and all its parts, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        match self {
            Expr::Const(..) | Expr::Reg(_) | Expr::Global(_) | Expr::Local(_) | Expr::Func(_) => {}
            Expr::Unary(_, a) | Expr::Cast(_, _, a) => a.walk(visit),
            Expr::Binary(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            Expr::Select(a, b, c) => {
                a.walk(visit);
                b.walk(visit);
                c.walk(visit);
            }
        }
    }
}
