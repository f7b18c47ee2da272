//! The general checker: for any object with a sequential model.
//!
//! Deciding linearizability is NP-complete for most objects when values repeat, so this is a search with a budget. The
//! monitors are used where they apply; this checker serves everything else, and as their oracle.
//!
//! - [`model`]: the trait a sequential model implements.
//! - [`engine`]: the search.
//! - [`objects`]: models of the objects known by name.
//! - [`shrink`]: from a history that fails to a small set of operations that fails.

pub mod engine;
pub mod mask;
pub mod model;
pub mod objects;
pub mod shrink;

pub use engine::{Budget, Certain, Entry, Found, Statistics, Window, search, search_from};
pub use model::Model;
