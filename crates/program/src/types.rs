//! Types of values.
//!
//! Values are bit vectors without a sign; operators carry the sign where it matters. A pointer is a 64-bit
//! value with a type of its own, so that the validator can tell addresses from numbers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A truth value; the type of comparisons and conditions. Occupies one byte in memory.
    I1,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// An address, of an object or of a function. 64 bits.
    Ptr,
}

impl Type {
    /// Every type, narrowest first.
    pub const ALL: [Type; 6] = [Type::I1, Type::I8, Type::I16, Type::I32, Type::I64, Type::Ptr];

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Type::I1 => 1,
            Type::I8 => 8,
            Type::I16 => 16,
            Type::I32 => 32,
            Type::I64 | Type::Ptr => 64,
        }
    }

    /// Size in memory, in bytes. Also the natural alignment.
    pub const fn size(self) -> u32 {
        match self {
            Type::I1 | Type::I8 => 1,
            Type::I16 => 2,
            Type::I32 => 4,
            Type::I64 | Type::Ptr => 8,
        }
    }

    /// All bits that a value of this type can have set.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// `value` cut to this type's width.
    pub const fn truncate(self, value: u64) -> u64 {
        value & self.mask()
    }

    /// As [`truncate`](Type::truncate), of what is moved on: what has [no value](crate::partial), or not everywhere, stays as it is.
    #[inline]
    pub fn fit(self, value: u64) -> u64 {
        if crate::partial::is_partial(value) { value } else { self.truncate(value) }
    }

    /// `value`, of this type, read as a two's complement number.
    pub const fn signed(self, value: u64) -> i64 {
        let shift = 64 - self.bits();
        ((value << shift) as i64) >> shift
    }

    /// The integer type of the given width, if there is one.
    pub const fn int(bits: u32) -> Option<Type> {
        match bits {
            1 => Some(Type::I1),
            8 => Some(Type::I8),
            16 => Some(Type::I16),
            32 => Some(Type::I32),
            64 => Some(Type::I64),
            _ => None,
        }
    }

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Type::I1 => "i1",
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::Ptr => "ptr",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
