//! Ways through the code of one thread, from where it rests to where it rests next.
//!
//! An *action* is such a way: at most one operation that others can notice, at the beginning, and what the thread does alone behind it. It has a condition (its guard), new values of variables, and a
//! place where it ends, or something that is wrong there. Guards of the ways from one place exclude each other; unless the thread waits, one of them holds.

use super::control::Control;
use super::vars::Var;
use raddle_engine::Refusal;
use raddle_machine::code::Pc;
use raddle_solve::Term;
use raddle_trace::{Property, ThreadId};
use rustc_hash::FxHashMap;

/// What an action is in a schedule of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Nothing: it belongs to what came before.
    Silent,
    Run,
    /// The alternative that this variable says.
    Pick(Term),
    /// The value of an unknown input, whose values these are.
    Input(Term, u32),
}

/// An access that is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pending {
    pub(super) thread: ThreadId,
    pub(super) pc: Pc,
    pub(super) addr: u64,
    pub(super) size: u8,
    pub(super) atomic: bool,
}

/// Something that is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Failure {
        property: Property,
        pc: Pc,
    },
    /// A loop has turned as often as it may.
    Bound {
        pc: Pc,
    },
    /// The engine can follow no further.
    GaveUp {
        why: &'static str,
        pc: Pc,
    },
    /// Nobody can move, and somebody has not ended, who is here.
    Deadlock {
        pc: Pc,
    },
    /// Two accesses that can both be done next.
    Race {
        first: Pending,
        second: Pending,
    },
}

/// A way that is being followed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) guard: Term,
    /// What variables have become.
    pub(super) env: FxHashMap<Var, Term>,
    pub(super) control: Control,
    pub(super) step: Move,
    pub(super) target: Option<Target>,
    /// Whether it has led back in the code.
    pub(super) back: bool,
    /// Where it has been, with how many branches were open before.
    pub(super) seen: Vec<(u16, Pc, u32)>,
    pub(super) open: u32,
    pub(super) fuel: u32,
}

/// A way that ends.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) thread: ThreadId,
    pub(super) step: Move,
    pub(super) guard: Term,
    pub(super) updates: Vec<(Var, Term)>,
    pub(super) control: Control,
    pub(super) target: Option<Target>,
    /// Whether it leads back in the code.
    pub(super) back: bool,
}

/// Why a way is not followed.
#[derive(Debug)]
pub(super) enum Halt {
    Refused(Box<Refusal>),
    /// These variables have to be known.
    Need(Vec<Var>),
    /// The time is up.
    Stopped,
}
