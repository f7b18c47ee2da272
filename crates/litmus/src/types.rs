//! Types of cells and of C expressions, as far as a litmus test needs them.

use crate::Result_;
use crate::cursor::Cursor;
use crate::lex::Kind;
use raddle_program::{CastOp, Expr, Type};

/// How a number is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// `int`, and whatever has no type. The cell has 64 bits, since it may be given an address, but constants are cut to 32.
    Int,
    /// 64 bits; addresses.
    Wide,
    /// So many bits, with or without a sign.
    Narrow(Type, bool),
    /// 0 or 1.
    Truth,
}

impl Number {
    /// The type of the cell.
    pub(crate) fn cell(self) -> Type {
        match self {
            Number::Int | Number::Wide => Type::I64,
            Number::Narrow(ty, _) => ty,
            Number::Truth => Type::I8,
        }
    }

    /// A value read from the cell as one of 64 bits.
    pub(crate) fn widened(self, value: Expr) -> Expr {
        match self {
            Number::Int | Number::Wide => value,
            Number::Narrow(_, true) => Expr::cast(CastOp::SExt, Type::I64, value),
            Number::Narrow(_, false) | Number::Truth => Expr::cast(CastOp::ZExt, Type::I64, value),
        }
    }

    /// A value of 64 bits as one for the cell.
    pub(crate) fn narrowed(self, value: Expr) -> Expr {
        match self {
            Number::Int => match value {
                Expr::Const(ty, constant) => Expr::int(ty, self.kept(constant as i64)),
                value => value,
            },
            Number::Wide => value,
            Number::Narrow(ty, _) => Expr::cast(CastOp::Trunc, ty, value),
            Number::Truth => Expr::cast(CastOp::ZExt, Type::I8, is_true(value)),
        }
    }

    /// The constant as the cell keeps it, seen with 64 bits.
    pub(crate) fn kept(self, value: i64) -> i64 {
        match self {
            Number::Int => i64::from(value as i32),
            Number::Wide => value,
            Number::Narrow(ty, true) => ty.signed(ty.truncate(value as u64)),
            Number::Narrow(ty, false) => ty.truncate(value as u64) as i64,
            Number::Truth => i64::from(value != 0),
        }
    }
}

/// Whether a value of 64 bits is not 0.
pub(crate) fn is_true(value: Expr) -> Expr {
    Expr::binary(raddle_program::BinOp::Ne, value, Expr::int(Type::I64, 0))
}

/// A type of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CType {
    Number { number: Number, atomic: bool },
    Pointer { to: Box<CType>, atomic: bool },
    Mutex,
    Void,
}

impl CType {
    /// Plain `int`.
    pub(crate) const INT: CType = CType::Number { number: Number::Int, atomic: false };

    /// How a value of the type is kept; nothing that can be read or written is kept as a mutex or as nothing.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            CType::Number { number, .. } => Some(*number),
            CType::Pointer { .. } => Some(Number::Wide),
            CType::Mutex | CType::Void => None,
        }
    }

    pub(crate) fn is_atomic(&self) -> bool {
        matches!(self, CType::Number { atomic: true, .. } | CType::Pointer { atomic: true, .. })
    }

    pub(crate) fn pointer_to(self) -> CType {
        CType::Pointer { to: Box::new(self), atomic: false }
    }

    /// With `_Atomic` before it.
    pub(crate) fn made_atomic(self) -> CType {
        match self {
            CType::Number { number, .. } => CType::Number { number, atomic: true },
            CType::Pointer { to, .. } => CType::Pointer { to, atomic: true },
            other => other,
        }
    }

    /// The type that a name stands for; `unsigned` and the like are not among them.
    pub(crate) fn named(name: &str) -> Option<CType> {
        let narrow = |ty, signed| Number::Narrow(ty, signed);
        let (base, atomic) = match name.strip_prefix("atomic_") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let number = match base {
            "int" | "int32_t" => Number::Int,
            "long" | "llong" | "int64_t" | "uint64_t" | "intptr_t" | "uintptr_t" | "size_t" | "ptrdiff_t" | "ulong"
            | "ullong" | "int_least32_t" | "int_least64_t" | "int_fast32_t" | "int_fast64_t" | "intmax_t" => {
                Number::Wide
            }
            "uint" | "uint32_t" => narrow(Type::I32, false),
            "short" | "int16_t" => narrow(Type::I16, true),
            "ushort" | "uint16_t" => narrow(Type::I16, false),
            "char" | "schar" | "int8_t" => narrow(Type::I8, true),
            "uchar" | "uint8_t" => narrow(Type::I8, false),
            "bool" | "_Bool" | "flag" => Number::Truth,
            "mutex" | "mutex_t" | "mtx_t" | "pthread_mutex_t" if !atomic => return Some(CType::Mutex),
            "void" if !atomic => return Some(CType::Void),
            _ => return None,
        };
        if matches!(base, "llong" | "ulong" | "ullong" | "uint" | "ushort" | "schar" | "uchar" | "flag") && !atomic {
            return None;
        }
        Some(CType::Number { number, atomic })
    }
}

/// Words before the name in a declaration: `volatile int`, `_Atomic(long)`, `unsigned`. `None` if what stands here is no type.
pub(crate) fn specifier(cursor: &mut Cursor<'_>) -> Result_<Option<CType>> {
    let (mut found, mut atomic): (Option<CType>, bool) = (None, false);
    let (mut signed, mut short, mut int, mut long) = (None, false, false, false);
    while let Kind::Word(word) = cursor.peek() {
        match word.as_str() {
            "volatile" | "const" | "register" | "static" | "extern" | "restrict" | "auto" => {}
            "_Atomic" => {
                atomic = true;
                if matches!(cursor.ahead(1), Kind::Sign("(")) {
                    cursor.advance();
                    cursor.advance();
                    cursor.enter()?;
                    let inner = specifier(cursor)?.ok_or_else(|| cursor.wrong("a type"))?;
                    cursor.leave();
                    found = Some(pointers(cursor, inner));
                    if !cursor.is(")") {
                        return Err(cursor.wrong("`)`"));
                    }
                }
            }
            "unsigned" => signed = Some(false),
            "signed" => signed = Some(true),
            "short" => short = true,
            "long" => long = true,
            "int" => int = true,
            "struct" | "union" | "enum" | "float" | "double" => {
                return Err(cursor.error(format!("`{word}` is not supported in litmus tests")));
            }
            name => match CType::named(name) {
                Some(ty) if found.is_none() => found = Some(ty),
                _ => break,
            },
        }
        cursor.advance();
    }
    let number = match (found.as_ref().and_then(CType::number), signed) {
        (_, Some(false)) if short => Some(Number::Narrow(Type::I16, false)),
        _ if short => Some(Number::Narrow(Type::I16, true)),
        _ if long => Some(Number::Wide),
        (Some(Number::Narrow(ty, _)), Some(signed)) => Some(Number::Narrow(ty, signed)),
        (None, Some(false)) => Some(Number::Narrow(Type::I32, false)),
        (None, _) if int || signed.is_some() => Some(Number::Int),
        _ => None,
    };
    let found = number.map(|number| CType::Number { number, atomic: false }).or(found);
    Ok(match found {
        Some(ty) if atomic => Some(ty.made_atomic()),
        None if atomic => Some(CType::INT.made_atomic()),
        found => found,
    })
}

/// The type with the stars and qualifiers that stand before a name.
pub(crate) fn pointers(cursor: &mut Cursor<'_>, mut ty: CType) -> CType {
    loop {
        if cursor.eat("*") {
            ty = ty.pointer_to();
        } else if cursor.eat_word("_Atomic") {
            ty = ty.made_atomic();
        } else if !["volatile", "const", "restrict", "__restrict"].into_iter().any(|word| cursor.eat_word(word)) {
            return ty;
        }
    }
}
