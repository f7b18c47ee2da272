//! Stateless exploration: an engine walks over the executions of a program, one per class, and keeps none.
//!
//! [`ENGINES`] are the engines of this crate; what all engines share is in `raddle-engine`.
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
pub mod vc;
mod workers;
mod world;

use raddle_engine::Registry;

/// The engines, in the order they are shown in.
pub const ENGINES: Registry = Registry::new(&[
    &auto::Auto,
    &graphs::Optimal,
    &graphs::ReadsFrom,
    &rvf::ReadsValueFrom,
    &vc::ValueCentric,
    &dc::DataCentric,
]);
