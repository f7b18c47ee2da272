//! VerifySC (Agarwal et al. 2021, Toman 2021): sequential consistency where each read may read any of a set of good writes.
//!
//! This is the question an exploration of classes of values asks: what matters is which value a read gets, not which write it is from. A
//! [`Problem`] has the events and the good writes; a [`Verifier`] finds a sequence of all events, in program order, in which
//! every read reads from a good write, or says that there is none.
//!
//! Reading order: `problem`, `closure` (a filter before the search), `search`.

mod closure;
mod problem;
mod search;

pub(crate) use closure::Closure;
pub use problem::{INIT, NONE, Op, Problem};
pub use search::{Heuristics, Verifier};
