//! Formulas over bit vectors and orders, and whether they can be satisfied.
//!
//! * [`Terms`] are bit vectors of 1 to 64 bits: hash-consed, rewritten as they are made, and with the meaning that the program's own
//!   operators have ([`Terms::binary`] is `raddle_program::BinOp::apply` for terms).
//! * [`Sat`] is CaDiCaL: clauses, assumptions, cores, models, and somebody who can stop it from outside ([`Stop`]).
//! * [`Solver`] is both: terms become circuits of literals (`blast`), models become numbers again.
//! * [`Orders`] is the theory of orders: given which write each read takes its value from, is there an order of all events? It derives what
//!   follows, explains contradictions by literals, and can be undone ([`Watcher`] hands it to CaDiCaL as a propagator).
//!
//! Nothing here knows threads or programs. Reading order: [`term`], [`mod@eval`], `replace`, `blast`, [`sat`], [`solver`], [`orders`], [`watcher`], [`clocks`].

mod blast;
pub mod clocks;
pub mod eval;
pub mod orders;
mod possible;
mod replace;
mod rewrite;
pub mod sat;
pub mod solver;
pub mod term;
pub mod watcher;

pub use clocks::Clocks;
pub use eval::eval;
pub use orders::{Event, EventId, NodeId, Orders};
pub use sat::{Answer, Lit, Sat, Stop};
pub use solver::Solver;
pub use term::{Term, Terms};
pub use watcher::Watcher;
