//! Raddle: is there an execution that breaks this concurrent program?
//!
//! ```
//! use raddle::{Control, Model, Settings, Verdict};
//!
//! let text = "
//!     global x: i32; global y: i32; global a: i32; global b: i32;
//!     fn left()  { store x, 1; let r = load y; store a, r; }
//!     fn right() { store y, 1; let r = load x; store b, r; }
//!     fn main() {
//!         let l = spawn left(); let r = spawn right();
//!         join l; join r;
//!         let one = load a; let other = load b;
//!         assert one + other > 0, \"somebody sees the other\";
//!     }";
//! let program = raddle::load_text("sb.rdl", text, raddle::Language::Rdl, &Default::default())?.program;
//! let holds = |model| Ok::<_, raddle::Error>(
//!     raddle::verify(&program, &Settings::new(model), &Control::new())?.verdict == Verdict::Holds);
//! assert!(holds(Model::Sc)?);
//! assert!(!holds(Model::Tso)?);
//! # Ok::<(), raddle::Error>(())
//! ```
//!
//! The way of a question: [`load()`] a program, [`prepare()`] it (analyses, byte code), [`verify()`] it or [`replay()`] a schedule
//! of it, and turn what came out into an [`answer`] that the [`report`] crate can put into words; [`trace()`], [`lin()`], [`memsys()`] and [`fair()`] do all of
//! that for traces, histories, memory systems and graphs. Everything below
//! is there under its own name, for those who want one part only.

pub mod answer;
mod commands;
pub mod compare;
pub mod cost;
mod engines;
mod error;
pub mod fairness;
mod formulas;
pub mod histories;
pub mod litmus_tests;
pub mod liveness;
pub mod load;
pub mod logs;
pub mod mailboxes;
pub mod memory_systems;
pub mod prepare;
pub mod replay;
pub mod robustness;
mod shifts;
pub mod strengthen;
pub mod traces;
pub mod verify;

pub use engines::ENGINES;
pub use error::Error;
pub use fairness::fair;
pub use histories::{Called, lin, lin_levels, lin_model, lin_stream, lin_transactions};
pub use litmus_tests::litmus;
pub use liveness::live;
pub use load::{Define, Language, LoadOptions, Loaded, load, load_text};
pub use logs::log;
pub use mailboxes::mailbox;
pub use memory_systems::memsys;
pub use prepare::prepare;
pub use replay::{replay, replay_as_written};
pub use robustness::{Wanted, robust};
pub use strengthen::strengthen;
pub use traces::trace;
pub use verify::{Settings, model_meant, verify, verify_in_pieces};

pub use raddle_engine::{Control, Engine, Finding, Limits, Outcome, Progress, PropertySet, Statistics, StopReason};
pub use raddle_program::Program;
pub use raddle_report::{Answer, Replay};
pub use raddle_trace::{Execution, Model, Property, Scope, ThreadName, Verdict, Violation};

pub use raddle_c as c;
pub use raddle_consistency as consistency;
pub use raddle_engine as engine;
pub use raddle_explore as explore;
pub use raddle_fair as fair;
pub use raddle_linear as linear;
pub use raddle_litmus as litmus;
pub use raddle_live as live;
pub use raddle_machine as machine;
pub use raddle_memsys as memsys;
pub use raddle_program as program;
pub use raddle_reach as reach;
pub use raddle_report as report;
pub use raddle_trace as trace;

/// The version of Raddle.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Which thread moves next, by name, and what a choice picks: what a counterexample is kept as.
pub type Schedule = raddle_trace::Schedule<ThreadName>;

/// The code on the pages of the book does what they say.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
    #[doc = include_str!("../../../docs/trace.md")]
    struct Trace;
}
