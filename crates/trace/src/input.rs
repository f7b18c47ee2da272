//! What is wrong with a text that somebody wrote, and where. All readers of texts with places say it in this way.

use thiserror::Error;

/// A place in a text. Lines and columns count from 1, columns and lengths in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The length.
    pub len: u32,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct InputError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub spot: Option<Spot>,
    /// What would be right.
    pub help: Option<String>,
}

impl InputError {
    /// Something is wrong here.
    pub fn at(spot: Spot, message: impl Into<String>) -> Self {
        InputError { message: message.into(), spot: Some(spot), help: None }
    }

    /// The same, with what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
