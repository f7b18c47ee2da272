//! Lines of bounded length out of any reader.

use std::io::{BufRead, BufReader, Read};

use super::{InputError, MAX_FORM};

/// Splits an input into lines, refusing one longer than [`MAX_FORM`] before it is in memory.
pub struct Lines<R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    number: u32,
    /// How much of the input belongs to the line that was given out last.
    given: usize,
}

impl<R: Read> Lines<R> {
    /// Lines of this input, numbered from 1.
    pub fn new(input: BufReader<R>) -> Lines<R> {
        Lines { input, buffer: Vec::new(), number: 0, given: 0 }
    }

    /// The next line without its end, and its number. Text that is not UTF-8 is an error.
    pub fn next_line(&mut self) -> Result<Option<(u32, &str)>, InputError> {
        self.buffer.clear();
        self.input.consume(std::mem::take(&mut self.given));
        let number = self
            .number
            .checked_add(1)
            .ok_or_else(|| InputError::Whole("more than four thousand million lines".into()))?;
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                break;
            }
            let (taken, ended) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end, true),
                None => (chunk.len(), false),
            };
            if self.buffer.len() + taken > MAX_FORM {
                let head = String::from_utf8_lossy(&self.buffer[..self.buffer.len().min(200)]).into_owned();
                return Err(InputError::at(number, &head, format!("the line is longer than {} MiB", MAX_FORM >> 20)));
            }
            if ended && self.buffer.is_empty() {
                // The whole line is there: no need to copy it.
                self.number = number;
                self.given = taken + 1;
                return text(&self.input.buffer()[..taken], number).map(|line| Some((number, line)));
            }
            self.buffer.extend_from_slice(&chunk[..taken]);
            self.input.consume(taken + usize::from(ended));
            if ended {
                break;
            }
        }
        self.number = number;
        text(&self.buffer, number).map(|line| Some((number, line)))
    }
}

/// A line as text.
fn text(bytes: &[u8], number: u32) -> Result<&str, InputError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text };
            Ok(text.trim_end_matches('\r'))
        }
        Err(_) => Err(InputError::at(number, &String::from_utf8_lossy(bytes), "the line is not UTF-8")),
    }
}
