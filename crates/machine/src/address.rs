//! Addresses of the program under test.
//!
//! An address is a number of 64 bits: 12 for the owner of the object, 20 for the object, 32 for the offset, all of it moved up by a
//! constant. Owner 0 is the program (its globals), owner `t + 1` is thread `t` (what it allocated, its stack, its thread-local objects),
//! and the last owner stands for functions. An object begins in the middle of what belongs to it, so that an address a little below
//! it is one of that object, too. The name of an object is thus a function of the thread that made it and of
//! how many it had made before, never of what other threads did meanwhile; and the number of a thread is a function of who started
//! it and as how many-th. So an address means the same in every execution.
//!
//! The constant keeps the numbers away from those that programs write down: null and everything near it, up to 5 TB away, is no address of
//! anything, and nor is a number of few digits.

use raddle_program::{FuncId, GlobalId};
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
    /// The `n`-th object that the thread made.
    Thread(ThreadId, u32),
    /// A function; not memory.
    Function(FuncId),
    /// Nobody's.
    Nothing,
}

const OFFSET_BITS: u32 = 32;
const COUNT_BITS: u32 = 20;
const FUNCTIONS: u64 = 0xfff;

/// By how much the upper half of every address is moved. It takes null to numbers of objects that no thread makes.
const MOVED: u32 = 0x555;
/// Half of what belongs to an object.
const HALF: u64 = 1 << (OFFSET_BITS - 1);

/// The object a thread's condition-variable wake-ups are counted in.
pub const WAKEUPS: u32 = 0xfe000;

impl Addr {
    /// How many objects a thread can make.
    pub const MAX_OBJECTS: u32 = WAKEUPS;
    /// How many threads there can be.
    pub const MAX_THREADS: u32 = FUNCTIONS as u32 - 1;
    /// The size no object reaches.
    pub const MAX_SIZE: u64 = 1 << (OFFSET_BITS - 1);

    const fn make(owner: u64, count: u64) -> Addr {
        let upper = (owner << COUNT_BITS | count) as u32;
        Addr((upper.wrapping_add(MOVED) as u64) << OFFSET_BITS)
    }

    /// The upper half: of the object that is nearest.
    const fn upper(self) -> u64 {
        self.0.wrapping_add(HALF) >> OFFSET_BITS
    }

    /// The start of a global object.
    pub const fn global(id: GlobalId) -> Addr {
        Addr::make(0, id.0 as u64 + 1)
    }

    /// The start of the `n`-th object made by `thread`.
    pub const fn object(thread: ThreadId, n: u32) -> Addr {
        Addr::make(thread.0 as u64 + 1, n as u64)
    }

    /// The address of a function.
    pub const fn function(id: FuncId) -> Addr {
        Addr::make(FUNCTIONS, id.0 as u64)
    }

    /// Whose object this points into, if the number is of that form at all. It need not exist.
    pub const fn owner(self) -> Owner {
        let name = (self.upper() as u32).wrapping_sub(MOVED);
        let (owner, count) = (name >> COUNT_BITS, name & ((1 << COUNT_BITS) - 1));
        match (owner as u64, count) {
            (_, n) if n > WAKEUPS => Owner::Nothing,
            (0, 0) => Owner::Nothing,
            (0, n) => Owner::Global(GlobalId(n - 1)),
            (FUNCTIONS, n) => Owner::Function(FuncId(n)),
            (t, n) => Owner::Thread(ThreadId(t as u32 - 1), n),
        }
    }

    /// Distance from the start of the object; what lies before it is far away.
    pub const fn offset(self) -> u32 {
        self.0 as u32
    }

    /// The start of the object.
    pub const fn base(self) -> Addr {
        Addr(self.upper() << OFFSET_BITS)
    }

    /// What a pointer becomes by arithmetic. Objects lie side by side in the space of addresses, so a pointer that is moved
    /// out of what belongs to its object points to nothing from then on, lest it meets another object. What is reached from null is null's.
    #[must_use]
    pub const fn moved(self, by: i64) -> Addr {
        let to = Addr(self.0.wrapping_add(by as u64));
        if to.upper() == self.upper() { to } else { Addr(to.0 & (HALF - 1) | 1) }
    }

    /// `offset` bytes further.
    #[must_use]
    pub const fn plus(self, offset: u32) -> Addr {
        Addr(self.0.wrapping_add(offset as u64))
    }
}

const _: () = assert!(raddle_trace::threads::MAX_THREADS <= Addr::MAX_THREADS, "every thread can make objects");

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for (thread, number) in [(0, 0), (0, 1), (7, 0xfdfff), (4093, 3), (4093, WAKEUPS)] {
            let addr = Addr::object(ThreadId(thread), number);
            for by in [0, 1, -1, 1 << 30, -(1 << 30)] {
                let near = addr.moved(by);
                assert_eq!(near.owner(), Owner::Thread(ThreadId(thread), number), "{by}");
                assert_eq!((near.base(), near.offset() as i32), (addr, by as i32));
            }
        }
        assert_eq!(Addr::global(GlobalId(3)).plus(4).owner(), Owner::Global(GlobalId(3)));
        assert_eq!(Addr::function(FuncId(5)).owner(), Owner::Function(FuncId(5)));
    }

    #[test]
    fn null_and_what_is_near_it_is_nothing() {
        for number in [0, 1, 1 << 32, 1 << 40, 5 << 40, u64::MAX, 0u64.wrapping_sub(1 << 43)] {
            assert_eq!(Addr(number).owner(), Owner::Nothing, "{number:#x}");
        }
        for by in [1, -1, 1 << 31, -(1 << 31), 1 << 32, 0x556 << 32, i64::MIN, i64::MAX] {
            assert_eq!(Addr(0).moved(by).owner(), Owner::Nothing, "{by:#x}");
        }
    }

    #[test]
    fn who_leaves_an_object_meets_no_other() {
        let start = Addr::global(GlobalId(9));
        for step in [1 << 30, -(1 << 30), 1 << 31, 1 << 32, -(1 << 32)] {
            let mut addr = start;
            for _ in 0..9 {
                addr = addr.moved(step);
                let home = addr.base() == start;
                assert!(home || addr.owner() == Owner::Nothing, "{addr}");
            }
        }
    }
}
