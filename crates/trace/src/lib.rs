//! What happened: events, executions, schedules, and the orders between events.
//!
//! This crate is the common language of the others. It knows nothing of programs, machines or engines; it only
//! says how a run is written down, so that an engine can hand one to the machine for replay and to the report
//! for a person. Reading order: [`ids`], [`threads`], [`event`], [`execution`], [`schedule`], [`verdict`], and the
//! tools [`clock`], [`relation`], [`buffer`] and [`input`].

pub mod buffer;
pub mod clock;
pub mod event;
pub mod execution;
pub mod ids;
pub mod input;
pub mod matrix;
mod ordering;
pub mod relation;
pub mod schedule;
pub mod threads;
pub mod verdict;

pub use buffer::{Buffered, StoreBuffer};
pub use clock::VectorClock;
pub use event::{Action, Event, EventName, Source};
pub use execution::Execution;
pub use ids::{EventId, Model, ThreadId};
pub use input::{InputError, Spot};
pub use matrix::Matrix;
pub use ordering::Ordering;
pub use relation::{BitSet, Relation};
pub use schedule::{Schedule, Step};
pub use threads::{Numbering, ThreadName};
pub use verdict::{Place, Property, Scope, Verdict, Violation, Waiting};
