//! The engine `optimal`.

use crate::control::Control;
use crate::options::Options;
use crate::outcome::{Error, Outcome};
use raddle_machine::Code;

/// Explores one execution per class.
pub fn explore(_code: &Code, _options: &Options, _control: &Control) -> Result<Outcome, Error> {
    unreachable!()
}
