//! What can be known about a program without running it.
//!
//! | module | answers |
//! |---|---|
//! | [`mod@cfg`] | what comes before a block, what dominates it |
//! | [`loops`] | which edges close a loop, and where the loop stands in the source |
//! | [`liveness`] | which registers may still be read |
//! | [`spin`] | which loops only wait; turns them into waits |
//! | [`unused`] | which updates need not say what they found |
//! | [`inputs`] | which values of unknown inputs have to be explored |
//! | [`mod@escape`] | which memory other threads can never reach |

pub mod cfg;
pub mod escape;
pub mod inputs;
pub mod liveness;
pub mod loops;
pub mod spin;
pub mod unused;

pub use cfg::Cfg;
pub use escape::{Escape, escape};
pub use inputs::{Inputs, Sampled, resolve_inputs};
pub use liveness::{Liveness, RegSet};
pub use loops::{Loop, LoopId, Loops};
pub use spin::{SpinKind, SpinLoop, SpinReport, spin_loops};
pub use unused::drop_unused_results;
