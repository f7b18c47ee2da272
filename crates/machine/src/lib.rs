//! The machine: threads that stop at their next visible operation, memories that answer them, and replay.
//!
//! * [`Code`] is a program compiled to a compact byte code.
//! * A [`Thread`] is a resumable [automaton](Automaton) over it: it runs its invisible work in one go, stops at its next
//!   [`Visible`] operation and continues with the answer it is given. It never touches shared memory itself, so an
//!   engine may answer from an execution graph, and the [`System`] from a memory with store buffers.
//! * A [`State`] is a running program as a plain value: threads, and a [`Memory`], of which there is one file per
//!   [model](memory). Whoever wants to know how it changes is a [`Recorder`] beside it.
//! * A [`System`] is a state with an [`Observer`](observer::Observer) that notes events, what reads read from, and races;
//!   [`replay`](replay::replay) runs a schedule on it. It is the judge of every counterexample.
//!
//! Reading order: [`address`], [`code`], [`listing`], [`live`], [`points`], [`mod@compile`], [`automaton`], [`thread`], [`bytes`], [`memory`], [`mailboxes`], [`state`], [`recorder`], [`observer`], [`race`],
//! [`system`], [`mod@replay`].

pub mod address;
pub mod automaton;
pub mod bytes;
pub mod code;
pub mod compile;
pub mod condition;
mod handles;
pub mod listing;
pub mod live;
pub mod mailboxes;
pub mod memory;
pub mod names;
mod narrow;
mod nesting;
pub mod objects;
pub mod observer;
pub mod points;
pub mod race;
pub mod recorder;
pub mod replay;
pub mod state;
pub mod system;
mod text;
pub mod thread;

pub use address::{Addr, Owner};
pub use automaton::{Access, Automaton, Blocked, Commuting, Failure, Meeting, Reaction, Status, Visible};
pub use bytes::{ByteMemory, Cell, Contents, Written};
pub use code::Code;
pub use compile::compile;
pub use live::Live;
pub use mailboxes::Mailboxes;
pub use memory::{AnyMemory, Memory, Pso, Sc, Tso};
pub use objects::{ObjectInfo, ObjectKind};
pub use recorder::Recorder;
pub use replay::{Replay, ReplayError, replay};
pub use state::{Ended, State};
pub use system::System;
pub use thread::Thread;
