//! Values some of whose bits were never written.
//!
//! A struct that has been written in part may be copied whole, and so may a word that holds several bit-fields or a union (C11 6.2.6.1). What is moved then
//! has bits without a value, and where it gets to, memory has to know which. A value stays one number of 64 bits everywhere: in registers, in events, in
//! store buffers. What has no value at all is [`NO_VALUE`]; what has one in part is a number that *stands for* it, made by [`join`] from what
//! is known and from which bits are missing, and taken apart by [`split`]. The number is a hash of both below a mark, so it is the same in every process; a table of the numbers in use says what they stand for, and a
//! number that is not in it stands for itself. Where two hashes meet the next number is taken.
//!
//! Nobody computes with such numbers: they are loaded by [`Unwritten::Kept`](crate::Unwritten::Kept), changed by [`BinOp::Splice`](crate::BinOp::Splice), stored, and handed to functions.
//!
//! Cost: one comparison for a number without the mark; a look into the table, under a lock, for one with it. The table is never cleared.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::{LazyLock, RwLock};

/// What stands for the value of memory that was never written, in registers and in events. It fits no type below 64 bits, and no program is expected to
/// compute this number: one that did, and wrote it to memory, would be told that it reads what was never written.
pub const NO_VALUE: u64 = 0xa5c3_96d2_4be8_7f19;

/// The highest sixteen bits of numbers that stand for something else.
const MARK: u64 = NO_VALUE >> 48;

/// What the numbers in use stand for: what is known, and which bits are missing.
static TABLE: LazyLock<RwLock<FxHashMap<u64, (u64, u64)>>> = LazyLock::new(RwLock::default);

/// A field of a number: so many bits from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The lowest bit.
    pub shift: u8,
    /// How many bits; at least one.
    pub width: u8,
}

impl Field {
    /// The bits of the field.
    pub const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.shift
    }

    /// Whether the field lies in numbers of so many bits.
    pub const fn fits(self, bits: u32) -> bool {
        self.width > 0 && self.shift as u32 + self.width as u32 <= bits
    }
}

/// What stands for a value of which these bits are missing, among all of its bits.
pub fn join(value: u64, missing: u64, all: u64) -> u64 {
    let missing = missing & all;
    let parts = (value & all & !missing, missing);
    match missing {
        0 => return value & all,
        _ if missing == all => return NO_VALUE,
        _ => {}
    }
    let mut hasher = FxHasher::default();
    hasher.write_u64(parts.0);
    hasher.write_u64(parts.1);
    let mut number = MARK << 48 | hasher.finish() >> 16;
    let known = |number: u64| TABLE.read().expect("nobody panics with it").get(&number).copied();
    loop {
        match known(number) {
            Some(found) if found == parts => return number,
            None if number != NO_VALUE => {
                let mut table = TABLE.write().expect("nobody panics with it");
                if *table.entry(number).or_insert(parts) == parts {
                    return number;
                }
            }
            _ => {}
        }
        number = MARK << 48 | number.wrapping_add(1) & (u64::MAX >> 16);
    }
}

/// What is known of a value, with zeros for the others, and which bits are missing.
#[inline]
pub fn split(value: u64) -> (u64, u64) {
    if value >> 48 == MARK { look_up(value) } else { (value, 0) }
}

#[cold]
fn look_up(value: u64) -> (u64, u64) {
    if value == NO_VALUE {
        return (0, u64::MAX);
    }
    TABLE.read().expect("nobody panics with it").get(&value).copied().unwrap_or((value, 0))
}

/// Whether bits of it are missing.
#[inline]
pub fn is_partial(value: u64) -> bool {
    split(value).1 != 0
}

/// The first number with a field of it replaced by one of the second, which has as many bits: what is missing there is missing then.
pub fn splice(into: u64, to: Field, from: u64, shift: u8, all: u64) -> u64 {
    let ((value, missing), (part, gone)) = (split(into), split(from));
    let moved = |bits: u64| (bits >> shift << to.shift) & to.mask();
    join(value & !to.mask() | moved(part), missing & !to.mask() | moved(gone), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_is_split_again() {
        for (value, missing, all) in [(5, 8, 0xff), (0, 1, 0xffff), (0x1234, 0xff00, 0xffff), (7, !7, u64::MAX)] {
            let number = join(value, missing, all);
            assert_eq!(split(number), (value & !missing, missing & all));
            assert_eq!(join(value, missing, all), number);
            assert!(is_partial(number));
        }
        assert_eq!(join(9, 0, 0xff), 9);
        assert_eq!(join(9, 0xff, 0xff), NO_VALUE);
        assert_eq!(split(NO_VALUE), (0, u64::MAX));
        assert_eq!(split(NO_VALUE + 1), (NO_VALUE + 1, 0), "only numbers in use stand for something");
    }

    #[test]
    fn a_field_that_is_written_has_a_value() {
        let field = Field { shift: 4, width: 4 };
        let once = splice(NO_VALUE, field, 0xab, 0, 0xff);
        assert_eq!(split(once), (0xb0, 0x0f));
        assert_eq!(splice(once, Field { shift: 0, width: 4 }, 0xcd, 4, 0xff), 0xbc);
        // And one that is written with what has none has none.
        assert_eq!(splice(0xbc, field, NO_VALUE, 0, 0xff), join(0x0c, 0xf0, 0xff));
        assert_eq!(splice(once, Field { shift: 0, width: 8 }, NO_VALUE, 0, 0xff), NO_VALUE);
    }
}
