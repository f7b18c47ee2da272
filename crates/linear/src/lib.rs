//! Is this history linearizable?
//!
//! A history is a record of calls and returns on a shared object. It is linearizable if every operation can be given one instant between
//! its call and its return such that the operations, in the order of these instants, are what the sequential object would have done. This
//! crate answers that for a recorded history; it says nothing about executions that were not recorded.
//!
//! The way of a history through the crate, and the order to read it in:
//!
//! 1. [`mod@format`] turns bytes into events, [`assemble`] events into operations, with the [`meaning`] that an [`object`] gives to names and values (which object
//!    it is can be a [`guess`]); [`history`] and [`value`] are what comes out. [`recorder`] makes histories of Rust objects.
//! 2. [`check`] cuts the history into objects and hands each to a [`monitor`] (stacks, queues, sets, multisets) or to the general
//!    checker in [`search`], which needs a [`search::Model`] only.
//! 3. [`certificate`] checks every linearization again. [`prefix`] and the explanations say why there is none ([`verdict`]).
//!    [`hints`] say under which other meaning of its words it would hold.
//! 4. [`stream`] does the same while the history is still being read, in bounded memory.
//! 5. [`txn`] is for transactions of several keys: at which isolation level do they stand?
//! 6. [`levels`] are what a register or a map may still have if it is not linearizable.
//! 7. [`decide`] is the way from bytes to a verdict.
//!
//! Rules: a positive verdict carries a linearization that has been checked against real time and the sequential object; a negative verdict carries
//! operations that cannot be ordered, confirmed by the general checker where that is affordable; when such a check fails, there is an
//! internal error and no verdict. Bad input is an error with a line number.

pub mod assemble;
pub mod certificate;
pub mod check;
pub mod decide;
pub mod drain;
mod explain;
pub mod format;
pub mod guess;
pub mod hints;
pub mod history;
pub mod levels;
pub mod meaning;
pub mod monitor;
pub mod object;
pub mod prefix;
pub mod recorder;
pub mod search;
pub mod stream;
pub mod txn;
pub mod value;
pub mod verdict;

pub use recorder::Recorder;
