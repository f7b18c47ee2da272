//! Stateless exploration: an engine walks over the executions of a program, one per class, and keeps none.
//!
//! What all engines share is in `raddle-engine`; the list of all of them is in `raddle`.
//!
//! Reading order: the engines [`graphs`] (`optimal` and `rf`), [`rvf`], [`vc`], [`dc`], and the choice between them, `auto`. What a program
//! begins with is the same for all of them: `world`.

mod auto;
pub mod dc;
pub mod graphs;
mod rules;
pub mod rvf;
mod sequence;
#[cfg(test)]
mod testing;
mod turns;
pub mod vc;
mod workers;
mod world;

pub use auto::Auto;
