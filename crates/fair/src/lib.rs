//! Strong fairness: who can satisfy a Streett objective, on a graph by some path, in an MDP by some strategy with probability one?
//!
//! Reading order:
//!
//! 1. [`graph`]: graphs, MDPs, objectives; [`sets`]: sets of vertices in two back ends, and symbolic steps.
//! 2. [`scc`], [`lockstep`], [`mec`], [`streett`], [`solve`]: the algorithms, each with its source.
//! 3. [`argument`], [`evidence`], [`check`]: what an answer rests on, and who goes through it again.
//! 4. [`successors`], [`system`], [`mod@format`], [`product`]: from files to a graph; [`decide`] is the way through all of it.
//! 5. [`labelled`]: the same question on graphs that were made state by state, whose edges belong to somebody; [`smaller`]: a smaller answer.
//! 6. [`families`], [`protocols`]: inputs to measure on.

pub mod argument;
pub mod check;
pub mod decide;
pub mod evidence;
pub mod families;
pub mod format;
pub mod graph;
pub mod labelled;
pub mod lockstep;
pub mod mec;
pub mod product;
pub mod protocols;
pub mod scc;
pub mod sets;
pub mod smaller;
pub mod solve;
pub mod streett;
pub mod successors;
pub mod system;
mod tarjan;
