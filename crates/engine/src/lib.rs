//! What every engine shares, whatever it does inside.
//!
//! An [`Engine`] is asked a [`Question`]: a compiled program, and what to look for in it ([`Options`]). It looks at one
//! [`Deadline`] for all its limits and at the [`Control`] behind it, and comes back with an [`Outcome`] or a [`Fault`]. What it
//! finds on the way becomes a [`Finding`] by [`confirm()`] alone, that is, after the machine has replayed it; in the end each
//! is shown by a run without the steps that it does not need (`shorten`), in which threads take turns seldom (`gather`). Verdict and scope follow from what was counted and cut off, in [`Outcome::new`] and nowhere else.
//!
//! Reading order: [`face`], [`switches`], [`options`], [`limits`], [`control`], [`turn`], [`outcome`], [`mod@confirm`], [`registry`].

pub mod confirm;
pub mod control;
pub mod face;
mod gather;
pub mod limits;
mod memory;
pub mod options;
pub mod outcome;
pub mod registry;
mod shorten;
pub mod switches;
pub mod turn;

pub use confirm::{Finding, confirm};
pub use control::{Control, Progress};
pub use face::{Engine, Equivalence, Fault, Question, Refusal, without_mailboxes};
pub use limits::{Deadline, Limits, StopReason};
pub use options::{Options, PropertySet};
pub use outcome::{Outcome, Reach, Statistics};
pub use registry::Registry;
pub use switches::{Switch, Switches, Values};
pub use turn::Turn;
