//! Files: systems in the Aldebaran format ([`aut`]) and as PRISM writes them ([`prism`]), objectives as pairs ([`pairs`]) and as automata ([`hoa`]).
//!
//! Any bytes end in a value or in an [`InputError`] with a place. Nothing is allocated by a number that only stands in a header.

pub mod aut;
pub mod hoa;
pub mod pairs;
pub mod prism;

use thiserror::Error;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct InputError {
    /// From 1; 0 if it is the file as a whole.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl InputError {
    /// A mistake at this line and column.
    pub fn at((line, column): (u32, u32), message: impl Into<String>) -> Self {
        InputError { line, column, message: message.into(), help: None }
    }

    /// The same with what would be right.
    pub fn help(self, help: impl Into<String>) -> Self {
        InputError { help: Some(help.into()), ..self }
    }
}

/// The words of a line, with their columns, from 1.
pub(crate) fn words(line: &str) -> impl Iterator<Item = (u32, &str)> {
    line.split_whitespace().scan((0, 1), move |(counted, column), word| {
        let offset = word.as_ptr() as usize - line.as_ptr() as usize;
        *column += line[*counted..offset].chars().count() as u32;
        *counted = offset;
        Some((*column, word))
    })
}

/// Lines with something on them, with their numbers, from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at as u32 + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty())
}

/// The place of a part of a line.
pub(crate) fn place(number: u32, line: &str, part: &str) -> (u32, u32) {
    let offset = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    (number, line.get(..offset).map_or(0, |before| before.chars().count()) as u32 + 1)
}

pub(crate) fn number(word: &str, at: (u32, u32)) -> Result<u64, InputError> {
    word.parse().map_err(|_| InputError::at(at, format!("`{word}` is no number")))
}
