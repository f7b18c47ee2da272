//! Given events, program order and what every read read: is there an execution of that shape, and which?
//!
//! The question is an [`Instance`]; [`verify()`] answers it for every memory model, with a schedule that
//! runs the execution if there is one. For machines with store buffers the problem is NP-complete; for a fixed number of threads the searches here are polynomial
//! (Toman 2021), and closure decides nearly everything before them.
//!
//! ```
//! use raddle_consistency::{Action, Answer, Instance, Loc, Model, Settings, Source, verify};
//!
//! let (x, y) = (Loc(0), Loc(1));
//! let read = |loc| Action::Read { loc, from: Source::Initial };
//! let store_buffering = Instance::of(&[
//!     &[Action::Write { loc: x }, read(y)],
//!     &[Action::Write { loc: y }, read(x)],
//! ]);
//! let answer = |model| verify(&store_buffering, model, &Settings::default());
//! assert_eq!(answer(Model::Sc)?, Answer::Inconsistent);
//! assert!(matches!(answer(Model::Tso)?, Answer::Consistent(_)));
//! # Ok::<(), raddle_consistency::Malformed>(())
//! ```
//!
//! Reading order: [`instance`] (the question), [`replay`] (what it means), `shape` and `prefix` (the question made ready, and how far a search is), [`models`] (a file for each
//! memory model), [`causal`] (those of C11, which are given by axioms), [`naive`] (the baseline), `search` (what they share), [`chains`], `order` and [`closure`] (what is known beforehand),
//! [`mod@verify`] (all of it together), [`values`] (SC with sets of sources instead of one), [`realise`] (SC by orders of pairs and
//! clauses), [`interrupt`] (stopping any of them). [`mailbox`] asks the same of event-driven traces and stands by itself.

#[cfg(test)]
extern crate self as raddle_consistency;

pub mod causal;
pub mod chains;
pub mod closure;
pub mod explain;
pub mod format;
pub mod instance;
pub mod interrupt;
pub mod mailbox;
pub mod models;
pub mod naive;
mod order;
mod prefix;
pub mod realise;
pub mod replay;
mod search;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
pub mod values;
pub mod verify;

pub use explain::{Clash, explain};
pub use instance::{Action, Instance, Loc, Malformed, Source};
pub use interrupt::{Interrupt, Interrupted, Never, Watch};
pub use raddle_trace::{EventId, Model, Step, ThreadId};
pub use settings::{Algorithm, Closure, Key, Limits, Settings, WorklistOrder};
pub use verify::{Answer, Statistics, Verifier, verify};
