//! Stateless exploration: an engine walks over the executions of a program, one per class, and keeps none.
//!
//! [`explore`] is the one entry. What is common to all engines is here: what to look for ([`Options`]), when to stop
//! ([`Limits`], [`Control`]), what was counted ([`Statistics`]), and the rule that no violation leaves this
//! crate before the operational machine has replayed it ([`confirm`]). An engine is one module and one line in
//! [`Engine`].
//!
//! Reading order: [`options`], [`control`], [`outcome`], [`confirm`], then the engines: [`graphs`] (`optimal` and `rf`), [`rvf`], [`vc`],
//! [`dc`], and the choice between them, `auto`.

mod auto;
pub mod confirm;
pub mod control;
pub mod dc;
pub mod graphs;
mod memory;
pub mod options;
pub mod outcome;
pub mod rvf;
mod sequence;
pub mod vc;

pub use control::{Control, Progress};
pub use dc::options::DataCentric;
pub use options::{Engine, Limits, Options, PropertySet};
pub use outcome::{Error, Finding, Outcome, Statistics};
pub use rvf::options::ReadsValueFrom;
pub use vc::options::ValueCentric;

use raddle_machine::Code;

/// Explores a compiled program.
///
/// Ends when everything is explored, at the first violation (unless [`Options::all`]), or when a limit is reached or
/// [`Control::stop`] is called; the outcome says which. An error means that no verdict can be given at all.
pub fn explore(code: &Code, options: &Options, control: &Control) -> Result<Outcome, Error> {
    match options.engine {
        Engine::Auto => auto::explore(code, options, control),
        Engine::Optimal => graphs::explore_traces(code, options, control),
        Engine::ReadsFrom => graphs::explore_reads_from(code, options, control),
        Engine::ReadsValueFrom => rvf::explore(code, options, control),
        Engine::ValueCentric => vc::explore(code, options, control),
        Engine::DataCentric => dc::explore(code, options, control),
    }
}
