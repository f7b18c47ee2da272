//! Memory systems as text.
//!
//! There are two forms, told apart by their first word. A `machine` (`flat`) lists states and transitions one by one. A `system` (`system`) has cores, registers, state
//! with finite domains, channels and rules, with parameters (`-D`) and loops, and is expanded to a machine. Whatever is wrong is an [`InputError`] with a place.

mod expand;
mod expression;
mod flat;
mod layout;
mod lex;
mod system;

pub use flat::write;
pub use raddle_trace::{InputError, Spot};

use crate::machine::Machine;
use lex::Tokens;

/// How large a machine may become when it is read.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// So many states.
    pub states: usize,
    /// So many steps of evaluation.
    pub steps: u64,
}

impl Default for Size {
    fn default() -> Self {
        Size { states: 2_000_000, steps: 4_000_000_000 }
    }
}

/// Reads a machine, with values for its parameters.
///
/// # Errors
/// If it is none.
pub fn read(bytes: &[u8], parameters: &[(String, i64)]) -> Result<Machine, InputError> {
    read_within(bytes, parameters, Size::default())
}

/// Reads a machine that is not too large.
///
/// # Errors
/// If it is none, or too large.
pub fn read_within(bytes: &[u8], parameters: &[(String, i64)], size: Size) -> Result<Machine, InputError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = valid.matches('\n').count() as u32 + 1;
        let column = valid.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) as u32 + 1;
        InputError::at(Spot { line, column, len: 1 }, "the memory system is not UTF-8 text")
    })?;
    let mut tokens = Tokens::new(text)?;
    let machine = match tokens.peek_text() {
        Some("machine") => {
            if let Some((name, _)) = parameters.first() {
                let message = format!("there is no parameter `{name}`: a `machine` has none");
                return Err(InputError { message, spot: None, help: Some("parameters are for a `system`".into()) });
            }
            flat::parse(&mut tokens)?
        }
        Some("system") => {
            let system = system::parse(&mut tokens, parameters)?;
            expand::expand(&system, size)?
        }
        _ => {
            return Err(InputError::at(tokens.spot(), "a memory system begins with `system NAME` or `machine NAME`")
                .help("`system` has rules, `machine` lists its transitions"));
        }
    };
    Ok(machine)
}
