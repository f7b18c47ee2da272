//! The machine: threads that stop at their next visible operation, memories that answer them, and replay.
//!
//! * [`Code`] is a program compiled to a compact byte code.
//! * A [`Thread`] is a resumable automaton over it: it runs its invisible work in one go, stops at its next
//!   [`Visible`] operation and continues with the answer it is given. It never touches shared memory itself, so an
//!   engine may answer from an execution graph, and the [`System`] from a memory with store buffers.
//! * A [`System`] is the operational machine for SC, TSO and PSO; [`replay`](replay::replay) runs a schedule on it. It is
//!   the judge of every counterexample.
//!
//! Reading order: [`address`], [`code`], [`mod@compile`], [`thread`], [`bytes`], [`system`], [`race`], [`mod@replay`].

pub mod address;
pub mod bytes;
pub mod code;
pub mod compile;
pub mod names;
mod narrow;
mod nesting;
pub mod objects;
pub mod race;
pub mod replay;
pub mod system;
mod text;
pub mod thread;

pub use address::Addr;
pub use bytes::ByteMemory;
pub use code::Code;
pub use compile::compile;
pub use objects::{ObjectInfo, ObjectKind};
pub use replay::{Replay, ReplayError, replay};
pub use system::System;
pub use thread::{Access, Blocked, Commuting, Failure, Reaction, Status, Thread, Visible};
