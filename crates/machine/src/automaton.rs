//! What can be a thread of a running program.
//!
//! It is always at rest, in one of four ways ([`Status`]): before a visible operation, finished, blocked, or failed. Whoever drives it reads
//! the operation off the status, decides on an answer (the value read, the alternative picked), and calls
//! [`answer`](Automaton::answer), which runs all invisible work up to the next rest. For operations that read and then perhaps write,
//! [`reaction`](Automaton::reaction) tells what would be done with a value without doing it; that is how engines try sources.

use crate::address::Addr;
use crate::code::Code;
use crate::objects::ObjectInfo;
use raddle_program::{FuncId, Ordering};
use raddle_trace::{Property, ThreadId};
use std::fmt;
use std::hash::Hash;

/// A piece of memory that is read or written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Where it starts.
    pub addr: Addr,
    /// How many bytes: 1, 2, 4 or 8.
    pub size: u8,
}

impl Access {
    /// Whether the two have a byte in common.
    pub const fn overlaps(self, other: Access) -> bool {
        self.addr.0 < other.addr.0 + other.size as u64 && other.addr.0 < self.addr.0 + self.size as u64
    }
}

/// A visible operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visible {
    /// Reads memory; the answer is the value.
    Load {
        /// Where.
        access: Access,
        /// With which ordering.
        order: Ordering,
        /// Only some values let the thread go on; see [`Automaton::reaction`].
        wait: bool,
    },
    /// Writes memory; the answer does not matter.
    Store {
        /// Where.
        access: Access,
        /// With which ordering.
        order: Ordering,
        /// What.
        value: u64,
    },
    /// Reads and, depending on the value, writes in the same step; the answer is the value read.
    Update {
        /// Where.
        access: Access,
        /// With which ordering, if it writes.
        order: Ordering,
        /// With which ordering, if it only reads.
        failure: Ordering,
        /// Some values may block; see [`Automaton::reaction`].
        wait: bool,
        /// Takes a mutex that only its holder releases.
        mutex: bool,
    },
    /// A fence.
    Fence {
        /// Acquire or stronger.
        order: Ordering,
    },
    /// Picks an alternative; the answer is its number.
    Choose {
        /// How many there are.
        count: u32,
    },
    /// Starts a thread, or posts a message; the answer is its [`ThreadId`]. [`Automaton::spawned`] gives its first state.
    Spawn {
        /// What it runs.
        function: FuncId,
        /// The mailbox that a message is put into.
        mailbox: Option<Addr>,
    },
    /// The looper takes the message, which is this thread, out of its mailbox; the answer does not matter.
    Take {
        /// Out of which.
        mailbox: Addr,
    },
    /// Waits for a thread to finish; the answer is its result.
    Join {
        /// Which; it may not exist.
        thread: ThreadId,
    },
    /// Ends the life of the shared object that starts here.
    Free {
        /// Its start.
        addr: Addr,
        /// A local object going out of scope rather than a call of free.
        scope: bool,
    },
    /// Enters an atomic block.
    AtomicBegin,
    /// Leaves it.
    AtomicEnd,
}

/// Why a thread can go no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocked {
    /// An assumption was false.
    Assume,
    /// A loop turned as often as it may.
    LoopBound,
    /// A turn of a loop had no effect. The reads of that turn are those of the visible operations from [`Thread::since`](crate::Thread::since) on.
    Spin,
}

/// What went wrong in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// The property that is broken; `None` if it is the verifier that cannot go on.
    pub property: Option<Property>,
    /// What, in one line.
    pub message: String,
    /// The instruction.
    pub pc: u32,
    /// It is the pending operation that is wrong, as memory found; otherwise it is what the thread did after the last one.
    pub pending: bool,
}

/// How a thread is at rest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Before this operation.
    Ready(Visible),
    /// At its end, with this result.
    Finished {
        /// What a join receives.
        result: u64,
        /// It ended the whole program.
        exit: bool,
    },
    /// For good.
    Blocked(Blocked),
    /// For good.
    Failed(Box<Failure>),
}

/// What an operation does with the value it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It waits for another value.
    Block,
    /// It takes the value and writes nothing.
    Read,
    /// It writes this.
    Write(u64),
    /// It picks one of so many alternatives, and writes what [`Automaton::picked`] says.
    Pick(u32),
}

/// Where a thread is in a wait at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Whether it has arrived, and is about to leave.
    pub arrived: bool,
    /// Whether it wants to know if it was the last to arrive.
    pub asks: bool,
}

/// Kinds of updates; two of one kind commute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commuting {
    /// Adding (or subtracting).
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Commuting {
    /// What `value` becomes.
    pub fn apply(self, value: u64, operand: u64) -> u64 {
        match self {
            Commuting::Add => value.wrapping_add(operand),
            Commuting::And => value & operand,
            Commuting::Or => value | operand,
            Commuting::Xor => value ^ operand,
        }
    }
}

/// What can be a thread of a running program: something that rests before visible operations and goes on when it is given an answer. A
/// [`Thread`](crate::Thread) runs byte code; anything else whose way depends on nothing but the answers it was given can be one too.
pub trait Automaton: Clone + fmt::Debug + Eq + Hash {
    /// Which thread it is.
    fn id(&self) -> ThreadId;

    /// How it rests.
    fn status(&self) -> &Status;

    /// The looper that runs it, if it is a message.
    fn message(&self) -> Option<Addr>;

    /// The instruction it rests at.
    fn pc(&self) -> u32;

    /// How many objects it has made.
    fn made(&self) -> u32 {
        0
    }

    /// The position of an object among those that it made, by its number.
    fn position(&self, _number: u32) -> Option<u32> {
        None
    }

    /// The object that is the `number`-th this thread made.
    fn object(&self, number: u32) -> Option<&ObjectInfo>;

    /// The thread that it starts next; `None` if there are too many.
    fn next_child(&self, code: &Code) -> Option<ThreadId>;

    /// The first state of the thread that a [`Visible::Spawn`] starts, which is its [next child](Automaton::next_child).
    fn spawned(&self, code: &Code, child: ThreadId) -> Self;

    /// What the pending operation gets where it finds what stands for a value with [bits missing](raddle_program::partial); `None` if that is an error.
    fn finds_unwritten(&self, code: &Code, found: u64) -> Option<u64>;

    /// What the pending load or update would do with this value.
    fn reaction(&self, code: &Code, value: u64) -> Reaction;

    /// What the pending update writes if it found `value` and picked this alternative.
    fn picked(&self, value: u64, pick: u32) -> u64;

    /// Answers the pending operation with `value` (and, for [`Reaction::Pick`], the alternative), and runs on.
    fn answer(&mut self, code: &Code, value: u64, pick: u32);

    /// Makes the thread fail at its pending operation, which memory has found to be wrong or cannot do (no property).
    fn fail(&mut self, property: impl Into<Option<Property>>, message: String);

    /// Makes the thread fail at an instruction it has left behind, whose effect memory has found to be wrong.
    fn fail_at(&mut self, property: Property, message: String, pc: u32);
}
