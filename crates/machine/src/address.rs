//! Addresses of the program under test.
//!
//! An address is a number of 64 bits: 12 for the owner of the object, 20 for the object, 32 for the offset. Owner 0
//! is the program (its globals), owner `t + 1` is thread `t` (what it allocated, its stack, its thread-local objects),
//! and the last owner stands for functions. The name of an object is thus a function of the thread that made it and of
//! how many it had made before, never of what other threads did meanwhile; and the number of a thread is a function of who started
//! it and as how many-th. So an address means the same in every execution. Object 0 of owner 0 does not exist, which makes null and
//! small numbers invalid.

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

/// The object a thread's condition-variable wake-ups are counted in.
pub const WAKEUPS: u32 = (1 << COUNT_BITS) - 1;

impl Addr {
    /// How many objects a thread can make.
    pub const MAX_OBJECTS: u32 = WAKEUPS;
    /// How many threads there can be.
    pub const MAX_THREADS: u32 = FUNCTIONS as u32 - 1;
    /// The size no object reaches.
    pub const MAX_SIZE: u64 = 1 << (OFFSET_BITS - 1);

    const fn make(owner: u64, count: u64) -> Addr {
        Addr(owner << (OFFSET_BITS + COUNT_BITS) | count << OFFSET_BITS)
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
        let owner = self.0 >> (OFFSET_BITS + COUNT_BITS);
        let count = (self.0 >> OFFSET_BITS) as u32 & ((1 << COUNT_BITS) - 1);
        match (owner, count) {
            (0, 0) => Owner::Nothing,
            (0, n) => Owner::Global(GlobalId(n - 1)),
            (FUNCTIONS, n) => Owner::Function(FuncId(n)),
            (t, n) => Owner::Thread(ThreadId(t as u32 - 1), n),
        }
    }

    /// Distance from the start of the object.
    pub const fn offset(self) -> u32 {
        self.0 as u32
    }

    /// The start of the object.
    pub const fn base(self) -> Addr {
        Addr(self.0 >> OFFSET_BITS << OFFSET_BITS)
    }

    /// What a pointer becomes by arithmetic. Objects lie side by side in the space of addresses, so a pointer that is moved
    /// further than any object is long points to nothing from then on, lest it meets another object.
    #[must_use]
    pub const fn moved(self, by: i64) -> Addr {
        let far = by.unsigned_abs() >= Addr::MAX_SIZE && !matches!(self.owner(), Owner::Nothing);
        let to = self.0.wrapping_add(by as u64);
        if far { Addr(to & 0xffff_ffff | 1) } else { Addr(to) }
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
