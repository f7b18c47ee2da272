//! Symbolic engines: many executions, and all values of unknown inputs, in one formula.
//!
//! [`oc`] unrolls a program to events under conditions and asks a solver for an execution that breaks a property (bounded model checking by
//! ordering consistency). [`cegar`] proves without a bound, by abstract states that are sharpened where they are too coarse. Formulas, circuits and orders are `raddle_solve`'s.

mod apart;
pub mod cegar;
mod clock;
pub mod oc;
mod words;
