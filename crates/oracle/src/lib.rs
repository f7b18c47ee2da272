//! The oracle: brute force that every engine is held against.
//!
//! * [`sketch`] and [`litmus`]: small programs as trees, and their one-line notation.
//! * [`brute`]: all behaviours of a program on the operational machine, and the exact number of classes of each kind.

pub mod brute;
pub mod cases;
pub mod class;
pub mod litmus;
pub mod sketch;

pub use brute::{Behaviours, Budget, TooLarge, enumerate};
pub use litmus::litmus;
pub use sketch::Sketch;
