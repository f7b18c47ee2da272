//! The oracle: brute force that every engine is held against.
//!
//! * [`sketch`] and [`litmus`](mod@litmus): small programs as trees, and their one-line notation.
//! * [`brute`]: all behaviours of a program on the operational machine, and the exact number of [classes](class) of each kind.
//!   Turns of loops without effect are left out, by a definition of its own (`turns`).
//! * [`cases`]: programs whose numbers are known.
//! * [`generate`](mod@generate): programs nobody thought of.
//! * [`compare`](mod@compare): an engine and brute force side by side; [`shrink`](mod@shrink): the smallest program on which they differ;
//!   [`sweep`]: many of them, and who was really compared.
//!
//! The command `raddle-fuzz` puts the last three together.

pub mod brute;
pub mod cases;
pub mod class;
pub mod compare;
pub mod cyclic;
pub mod data_centric;
pub mod fair_runs;
pub mod generate;
pub mod litmus;
pub mod shrink;
pub mod sketch;
pub mod states;
pub mod sweep;
pub mod symbolic;
mod turns;
pub mod values;
pub mod variants;

pub use brute::{Behaviours, Budget, TooLarge, enumerate};
pub use compare::{Comparison, Counts, Effort, Subject, compare, subjects};
pub use generate::{Family, generate};
pub use litmus::litmus;
pub use shrink::shrink;
pub use sketch::Sketch;
pub use sweep::{Sweep, Tally};
