//! Stateful search: engines that remember the states a program can be in.
//!
//! Stateless engines look at one execution after the other; programs without an end have none that ends. Here a state that was met before is not
//! looked at again, so a program with loops and finitely many states is explored to its end, and what is not found is not there.
//!
//! Reading order: [`semantics`] (what is searched), [`visited`] and [`parts`] (what is remembered), [`mod@search`], [`memo`] (moves that are known), then [`machine`] (programs as such systems), [`footprint`] and `persistent` (moves that need not be followed), `overlay` (systems with something beside the machine),
//! [`sight`] (what is wrong with a state), [`explicit`] (the engine); [`robust`](mod@robust) asks whether store buffers make a difference,
//! [`lazy`] builds the differences into the program, and [`buffers`] lets buffers forget.

pub mod buffers;
mod cartesian;
mod dynamic;
pub mod explicit;
pub mod footprint;
pub mod growth;
pub mod lazy;
pub mod machine;
pub mod memo;
mod overlay;
pub mod parts;
mod persistent;
pub mod robust;
mod schedule;
pub mod search;
pub mod semantics;
pub mod sight;
mod steps;
mod thread;
pub mod visited;
mod watch;

use raddle_engine::Registry;

/// The engines of this crate, in the order they are shown in.
pub const ENGINES: Registry = Registry::new(&[&explicit::Explicit, &lazy::Lazy, &buffers::AbstractTso]);
