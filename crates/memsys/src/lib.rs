//! Does this memory system implement release-acquire?
//!
//! A [`Machine`] models a cache protocol or a replicated store: states, registers, and transitions that read, write and copy. [`verify()`] says whether all its runs, under all
//! programs, satisfy WRA, RA or SRA (Grahn 2026), and if not gives a shortest run that does not, replayed and judged by the definitions.
//!
//! ```
//! use raddle_memsys::{Budget, Model, Verdict, format, verify};
//!
//! let machine = format::read(b"
//!     machine copies            # two caches that are copied at any time
//!     threads p q
//!     vars x
//!     regs a b
//!     init s
//!     s -> s : W p x a | R p x a | W q x b | R q x b | a := b | b := a
//! ", &[])?;
//! let outcome = verify(&machine, Model::Wra, &Budget::default())?;
//! assert!(matches!(outcome.verdict, Verdict::Violated(violation) if violation.moves.len() == 5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`machine`], [`run`] (what a run does, and replay), [`mod@judge`] (what the models mean), [`monitor`] (the same for long runs), [`wra`], [`observer`] with `live` and
//! `table`, [`mod@verify`] (all of it together), [`lint`] (what else is odd about a machine), [`format`](mod@format) (machines as text).

mod budget;
pub mod format;
pub mod judge;
pub mod lint;
mod live;
pub mod machine;
pub mod monitor;
pub mod observer;
pub mod run;
mod table;
pub mod verify;
pub mod wra;

pub use budget::{Budget, Limit};
pub use judge::judge;
pub use machine::Machine;
pub use monitor::check_run;
pub use verify::{Outcome, Statistics, Verdict, Violation, verify};

use std::fmt;
use std::str::FromStr;

/// A model of the release-acquire family, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Weak release-acquire: causal consistency.
    Wra,
    /// Release-acquire: besides, the writes of each location can be put into an order.
    Ra,
    /// Strong release-acquire: the orders of all locations fit together.
    Sra,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::Wra, Model::Ra, Model::Sra];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Wra => "wra",
            Model::Ra => "ra",
            Model::Sra => "sra",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Wra => "WRA",
            Model::Ra => "RA",
            Model::Sra => "SRA",
        })
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Model::ALL.into_iter().find(|model| model.name().eq_ignore_ascii_case(text));
        named.ok_or_else(|| format!("there is no model `{text}` of memory systems; there are wra, ra and sra"))
    }
}
