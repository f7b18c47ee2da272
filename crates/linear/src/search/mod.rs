//! The general checker: for any object with a sequential model.
//!
//! Deciding linearizability is NP-complete for most objects when values repeat, so this is a search with a budget. The
//! monitors are used where they apply; this checker serves everything else, and as their oracle.
//!
//! - [`model`]: the trait a sequential model implements.
//! - [`engine`]: the search, `depth` first and `breadth` first, with the same `moves`. It stands on `layout` (a history as numbers), `cursor` (a place in it), `machine` (a model as numbers),
//!   `refuted` (what is known to lead nowhere) and `trail` (how far it got); `terms` are what goes in and comes out.
//! - [`objects`]: models of the objects known by name; `foresight` tells which values will still be read.
//! - [`sat`]: a solver of clauses, for searches of another kind.
//! - [`shrink`]: from a history that fails to a small set of operations that fails.
//! - [`stretch`]: a history piece by piece, for streams.

mod aside;
mod breadth;
mod cursor;
mod depth;
pub mod engine;
mod foresight;
mod layout;
mod machine;
pub mod mask;
pub mod model;
mod moves;
pub mod objects;
mod refuted;
pub mod sat;
pub mod shrink;
pub mod stretch;
mod terms;
mod trail;

pub use engine::{search, search_from};
pub use model::{Model, Nature};
pub use terms::{Budget, Certain, Entry, Found, Limit, Statistics, Strategy, Window};
