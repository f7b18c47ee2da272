//! Addresses of the program under test.
//!
//! An address is a number of 47 bits, as on the machines that programs are written for, so that they may keep a mark in the rest: 13 for the owner of the object, 34 for
//! the object and the offset. Owner 0 is nobody, so null and what is near it, up to 8 GB away, is no address of anything; owner `t + 1` is thread `t` (what it allocated, its stack, its thread-local objects),
//! the next one stands for functions, and the upper half of all is the program's (its globals). How far objects are apart depends on their size (as with low-fat pointers, Duck and Yap 2016):
//!
//! ```text
//!            objects of up to   so far apart   per owner
//!  class 0        16 KiB           32 KiB       262,142    numbered as they are made
//!  class 1         2 MiB            4 MiB         1,023    numbered in their class, as the rest
//!  class 2        32 MiB           64 MiB            31
//!  class 3       256 MiB          512 MiB             3
//!  globals        64 MiB          128 MiB       524,287
//!  functions                        8 KiB     2,097,151
//! ```
//!
//! An object begins in the middle of what belongs to it, so that an address a little below it is one of that object, too. The name of an object is thus a function of the thread that made it and of
//! what it had made before, never of what other threads did meanwhile; and the number of a thread is a function of who started
//! it and as how many-th. So an address means the same in every execution.
//!
//! Numbers above are no addresses, but for those of the objects of programs whose pointers have four bytes (`narrow`), which never see them.

use raddle_program::{FuncId, GlobalId, MAX_OBJECT_SIZE};
use raddle_trace::ThreadId;
use std::fmt;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Addr(pub u64);

/// Whose object it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A global object of the program.
    Global(GlobalId),
    /// The object of the thread that has this number.
    Thread(ThreadId, u32),
    /// A function; not memory.
    Function(FuncId),
    /// Nobody's.
    Nothing,
}

const BITS: u32 = 47;
/// What an owner has is two to this power bytes.
const OWNED: u32 = 34;
const FUNCTIONS: u64 = 0xfff;
const FUNCTION_SLOT: u32 = 13;
/// Where the program's own objects begin.
const GLOBALS: u64 = 1 << (BITS - 1);
const GLOBAL_SLOT: u32 = 27;

/// Objects of similar size.
#[derive(Clone, Copy)]
struct Class {
    /// Where they begin in what an owner has.
    start: u64,
    /// They are two to this power bytes apart.
    slot: u32,
}

/// Their space is twice what follows, but for the last one. The first place of each stays empty, for an object has room before it.
const CLASSES: [Class; 4] = [
    Class { start: 0, slot: 15 },
    Class { start: 1 << 33, slot: 22 },
    Class { start: 3 << 32, slot: 26 },
    Class { start: 7 << 31, slot: 29 },
];

/// Where the class stands in the number of an object.
const CLASS_SHIFT: u32 = 20;

/// Set in the numbers of objects of programs whose pointers have four bytes, and in nobody else's.
pub(crate) const NARROW: u32 = 1 << 31;
/// Where these have their addresses: so many bits for the number, 32 for the offset.
const NARROW_SPACE: u64 = 1 << 62;
const NARROW_BITS: u32 = 20;
const NARROW_SLOT: u32 = 32;

/// The object a thread's condition-variable wake-ups are counted in.
pub const WAKEUPS: u32 = (1 << 18) - 2;

/// How many objects of each class a thread has.
pub(crate) type Counts = [u32; CLASSES.len()];

/// Whether a new object of a thread that takes so many bytes has its position among all of them as its number.
pub(crate) const fn is_small(position: u32, size: u32) -> bool {
    size <= 1 << (CLASSES[0].slot - 1) && position < WAKEUPS
}

/// Whether a number is the position of an object.
pub(crate) const fn is_position(number: u32) -> bool {
    number >> CLASS_SHIFT == 0
}

/// The number for a new object of a thread that takes so many bytes and is not small; `None` if there is no room for it.
pub(crate) fn next_number(size: u32, counts: &mut Counts) -> Option<u32> {
    let (class, used) = (1..).zip(&mut counts[1..]).find(|(class, used)| {
        let slot = CLASSES[*class].slot;
        size <= 1 << (slot - 1) && u64::from(**used) + 2 <= (end(*class) - CLASSES[*class].start) >> slot
    })?;
    *used += 1;
    Some((class as u32) << CLASS_SHIFT | (*used - 1))
}

/// Where the space of a class ends in what an owner has.
const fn end(class: usize) -> u64 {
    if class + 1 < CLASSES.len() { CLASSES[class + 1].start } else { 1 << OWNED }
}

impl Addr {
    /// How many threads there can be.
    pub const MAX_THREADS: u32 = FUNCTIONS as u32 - 1;
    /// How many global objects there can be.
    pub const MAX_GLOBALS: usize = (GLOBALS >> GLOBAL_SLOT) as usize - 1;
    /// The size no object of a thread goes beyond.
    pub const MAX_SIZE: u64 = 1 << (CLASSES[CLASSES.len() - 1].slot - 1);

    /// The start of a global object.
    pub const fn global(id: GlobalId) -> Addr {
        Addr(GLOBALS + ((id.0 as u64 + 1) << GLOBAL_SLOT))
    }

    /// The start of the object of `thread` with this number.
    pub const fn object(thread: ThreadId, number: u32) -> Addr {
        if number & NARROW != 0 {
            let name = (thread.0 as u64) << NARROW_BITS | (number & !NARROW) as u64;
            return Addr(NARROW_SPACE + ((name + 1) << NARROW_SLOT));
        }
        let Class { start, slot } = CLASSES[(number >> CLASS_SHIFT) as usize];
        let index = (number & ((1 << CLASS_SHIFT) - 1)) as u64 + 1;
        Addr(((thread.0 as u64 + 1) << OWNED) + start + (index << slot))
    }

    /// The address of a function.
    pub const fn function(id: FuncId) -> Addr {
        Addr((FUNCTIONS << OWNED) + ((id.0 as u64 + 1) << FUNCTION_SLOT))
    }

    /// The place in `CLASSES` of what an owner has here.
    const fn class(self) -> usize {
        let within = self.0 & ((1 << OWNED) - 1);
        let mut class = 0;
        while class + 1 < CLASSES.len() && within >= CLASSES[class + 1].start {
            class += 1;
        }
        class
    }

    /// What is around here; `None` if nothing can be.
    const fn class_here(self) -> Option<Class> {
        if self.0 >= GLOBALS {
            return match self.0 >> (BITS - 1) {
                1 => Some(Class { start: GLOBALS, slot: GLOBAL_SLOT }),
                _ if self.0 >> 60 == NARROW_SPACE >> 60 => Some(Class { start: NARROW_SPACE, slot: NARROW_SLOT }),
                _ => None,
            };
        }
        let owner = self.0 >> OWNED;
        match owner {
            0 => None,
            FUNCTIONS => Some(Class { start: FUNCTIONS << OWNED, slot: FUNCTION_SLOT }),
            _ => {
                let Class { start, slot } = CLASSES[self.class()];
                Some(Class { start: (owner << OWNED) + start, slot })
            }
        }
    }

    /// Whose object this points into, if the number is of that form at all. It need not exist.
    pub const fn owner(self) -> Owner {
        let Some(class) = self.class_here() else { return Owner::Nothing };
        let Some(index) = class.nearest(self).checked_sub(1) else { return Owner::Nothing };
        match (class.start, self.0 >> OWNED) {
            (GLOBALS, _) => Owner::Global(GlobalId(index as u32)),
            (NARROW_SPACE, _) => {
                let number = index as u32 & ((1 << NARROW_BITS) - 1) | NARROW;
                Owner::Thread(ThreadId((index >> NARROW_BITS) as u32), number)
            }
            (_, FUNCTIONS) => Owner::Function(FuncId(index as u32)),
            (_, owner) => {
                let number = (self.class() as u32) << CLASS_SHIFT | index as u32;
                Owner::Thread(ThreadId(owner as u32 - 1), number)
            }
        }
    }

    /// Distance from the start of the object; what lies before it is far away.
    pub const fn offset(self) -> u32 {
        self.0.wrapping_sub(self.base().0) as u32
    }

    /// The start of the object; null if there is none.
    pub const fn base(self) -> Addr {
        match self.class_here() {
            Some(class) if class.nearest(self) > 0 => Addr(class.start + (class.nearest(self) << class.slot)),
            _ => Addr(0),
        }
    }

    /// The first address that belongs to the object here, and how many do; `None` if there is none.
    pub const fn surroundings(self) -> Option<(u64, u64)> {
        match self.class_here() {
            Some(class) if class.nearest(self) > 0 => {
                let start = class.start + (class.nearest(self) << class.slot);
                Some((start - (1 << (class.slot - 1)), 1 << class.slot))
            }
            _ => None,
        }
    }

    /// What a pointer becomes by arithmetic. Objects lie side by side in the space of addresses, so a pointer that is moved
    /// out of what belongs to its object points to nothing from then on, lest it meets another object. What is reached from null is null's.
    #[must_use]
    pub const fn moved(self, by: i64) -> Addr {
        let to = Addr(self.0.wrapping_add(by as u64));
        if to.base().0 == self.base().0 { to } else { Addr(to.0 & 0x3fff_ffff | 1) }
    }

    /// `offset` bytes further.
    #[must_use]
    pub const fn plus(self, offset: u32) -> Addr {
        Addr(self.0.wrapping_add(offset as u64))
    }
}

impl Class {
    /// Which place is nearest to an address.
    const fn nearest(self, addr: Addr) -> u64 {
        (addr.0 - self.start + (1 << (self.slot - 1))) >> self.slot
    }
}

const _: () = assert!(raddle_trace::threads::MAX_THREADS <= Addr::MAX_THREADS, "every thread can make objects");
const _: () = assert!(MAX_OBJECT_SIZE <= 1 << (GLOBAL_SLOT - 1), "every global object has room");

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of so many objects of a size, made one after the other.
    fn numbers(sizes: &[u32]) -> Vec<Option<u32>> {
        let mut counts = Counts::default();
        let number = |(position, &size): (u32, &u32)| match is_small(position, size) {
            true => Some(position),
            false => next_number(size, &mut counts),
        };
        (0..).zip(sizes).map(number).collect()
    }

    #[test]
    fn names_come_back() {
        let sizes = [0, 8, 1 << 14, (1 << 14) + 1, 1 << 21, (1 << 21) + 1, 1 << 25, 1 << 28, 4, 1 << 28];
        let numbers = numbers(&sizes);
        for (number, size) in numbers.into_iter().zip(sizes).chain([(Some(WAKEUPS), 8)]) {
            let number = number.expect("there is room");
            for thread in [0, 7, Addr::MAX_THREADS - 1] {
                let addr = Addr::object(ThreadId(thread), number);
                assert_eq!(addr.0 >> BITS, 0);
                let (first, count) = addr.surroundings().expect("it is one");
                for near in [first, first + count - 1] {
                    assert_eq!(Addr(near).base(), addr);
                }
                for near in [first - 1, first + count] {
                    assert_ne!(Addr(near).base(), addr);
                }
                for by in [0, 1, -1, i64::from(size) - 1, i64::from(size) / 2, -1000] {
                    let near = addr.moved(by);
                    assert_eq!(near.owner(), Owner::Thread(ThreadId(thread), number), "{addr} {by}");
                    assert_eq!((near.base(), near.offset() as i32), (addr, by as i32));
                }
            }
        }
        let last = GlobalId(Addr::MAX_GLOBALS as u32 - 1);
        for id in [GlobalId(0), GlobalId(3), last] {
            assert_eq!(Addr::global(id).plus(4).owner(), Owner::Global(id));
            assert_eq!(Addr::global(id).plus(4).0 >> BITS, 0);
        }
        assert_eq!(Addr::function(FuncId(5)).owner(), Owner::Function(FuncId(5)));
    }

    #[test]
    fn the_space_of_a_thread_ends_somewhere() {
        assert_eq!(numbers(&[1 << 28; 5]).iter().flatten().count(), 3);
        assert_eq!(numbers(&[(1 << 28) + 1]), [None]);
        // What finds no room among its like takes that of larger ones.
        assert_eq!(numbers(&[1 << 25; 50]).iter().flatten().count(), 31 + 3);
        assert!(is_small(WAKEUPS - 1, 8) && !is_small(WAKEUPS, 8), "the last small one is for something else");
    }

    #[test]
    fn null_and_what_is_near_it_is_nothing() {
        for number in [0, 1, 1 << 32, 1 << 33, 5 << 50, u64::MAX, 0u64.wrapping_sub(1 << 43)] {
            assert_eq!(Addr(number).owner(), Owner::Nothing, "{number:#x}");
            assert_eq!(Addr(number).base(), Addr(0), "{number:#x}");
        }
        for by in [1, -1, 1 << 31, -(1 << 31), 1 << 32, 0x556 << 32, 1 << 46, i64::MIN, i64::MAX] {
            assert_eq!(Addr(0).moved(by).owner(), Owner::Nothing, "{by:#x}");
        }
    }

    #[test]
    fn a_mark_in_the_upper_bits_makes_it_nothing_until_it_is_taken_off() {
        for addr in [Addr::global(GlobalId(2)), Addr::object(ThreadId(3), 5), Addr::function(FuncId(1))] {
            for mark in [1u64 << 47, 5 << 48, 1 << 63, 0xffff << 48] {
                let marked = Addr(addr.0 | mark);
                assert_eq!(marked.owner(), Owner::Nothing, "{marked}");
                assert_eq!(marked.0 & ((1 << 47) - 1), addr.0);
            }
        }
    }

    #[test]
    fn who_leaves_an_object_meets_no_other() {
        for start in [Addr::global(GlobalId(9)), Addr::object(ThreadId(2), 9), Addr::object(ThreadId(2), 1 << 20)] {
            for step in [1 << 14, -(1 << 14), 1 << 20, 1 << 26, -(1 << 26), 1 << 31, 1 << 34, -(1 << 34)] {
                let mut addr = start;
                for _ in 0..9 {
                    addr = addr.moved(step);
                    let home = addr.base() == start;
                    assert!(home || addr.owner() == Owner::Nothing, "{addr}");
                }
            }
        }
    }
}
