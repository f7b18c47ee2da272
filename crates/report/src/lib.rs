//! What people and programs read.
//!
//! An [`Answer`] is everything there is to say about one question put to Raddle: the verdict, how far it reaches, the
//! counterexamples with the runs that show them, what was counted and what it cost. This crate turns an answer into
//! text for a person ([`human`]), one JSON object ([`json`]), or a graph ([`dot`]), and what is wrong with an input into a
//! message with an [`excerpt`] of it. A [`comparison`] is what several engines say about one program. It knows traces only: neither programs nor engines.
//!
//! Text carries ANSI colours; whoever prints it strips them where they are not wanted.
//!
//! Reading order: [`answer`], [`wording`], [`table`], [`excerpt`], [`human`], then [`json`], [`dot`] and [`comparison`].

pub mod answer;
pub mod comparison;
pub mod dot;
pub mod excerpt;
pub mod human;
pub mod json;
pub mod numbers;
mod style;
pub mod table;
mod text;
pub mod wording;

pub use answer::{Answer, Cost, Counterexample, Sources, Waiting};
pub use comparison::Comparison;
pub use excerpt::Problem;
pub use table::Layout;
