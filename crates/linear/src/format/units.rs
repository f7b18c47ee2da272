//! Where the forms of an EDN input end.
//!
//! Only brackets, texts, comments and the words outside of brackets are looked at, a table of bytes telling which of them matter. What is found lies in one piece of memory, so
//! that whoever reads it need not ask for more at every byte. A form is given out as soon as its last byte is there: an input may be a pipe.

use std::io::{BufRead, BufReader, Read};

use super::{InputError, MAX_FORM};

/// Blanks of EDN.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',')
}

/// What ends a word.
pub(super) fn ends_word(byte: u8) -> bool {
    const ENDS: [bool; 256] = table(b" \t\r\n\x0c,{}[]()\";");
    ENDS[byte as usize]
}

/// What matters inside of brackets.
const MATTERS: [bool; 256] = table(b"{}[]()\";\n");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

/// The forms of an input that stand in no other.
pub(super) struct Units<R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    /// Where the next form begins, or the blanks before it.
    at: usize,
    /// The line of that place.
    line: u32,
}

/// What the bytes of a form are part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Nothing, or brackets.
    Open,
    Text,
    /// A text, behind a backslash.
    Escape,
    Comment,
    /// Behind a `#` outside of brackets.
    Hash,
    /// A tag, or another word, outside of brackets.
    Tag,
    Word,
}

impl<R: Read> Units<R> {
    pub(super) fn new(input: BufReader<R>) -> Units<R> {
        Units { input, buffer: Vec::new(), at: 0, line: 1 }
    }

    /// Something wrong with what begins here.
    pub(super) fn wrong(&self, message: impl Into<String>) -> InputError {
        let shown = &self.buffer[self.at..];
        let shown = String::from_utf8_lossy(&shown[..shown.len().min(1_000)]);
        InputError::at(self.line, shown.trim(), message)
    }

    /// Reads on; whether there was anything.
    fn fill(&mut self) -> Result<bool, InputError> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let more = self.input.fill_buf()?;
        let count = more.len();
        self.buffer.extend_from_slice(more);
        self.input.consume(count);
        Ok(count > 0)
    }

    /// Passes one byte that is no end of a line.
    pub(super) fn pass(&mut self) {
        self.at += 1;
    }

    /// The first byte of the next form; passes blanks and comments.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, InputError> {
        let mut comment = false;
        loop {
            while let Some(&byte) = self.buffer.get(self.at) {
                match byte {
                    b'\n' => {
                        self.line = self.line.saturating_add(1);
                        comment = false;
                    }
                    _ if comment || is_blank(byte) => {}
                    b';' => comment = true,
                    _ => return Ok(Some(byte)),
                }
                self.at += 1;
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// The form that begins here, and its line.
    pub(super) fn next(&mut self) -> Result<(u32, &str), InputError> {
        let (mut within, mut depth, mut lines) = (Within::Open, 0u32, 0u32);
        // How many forms it takes: those that `#_` takes away, and the one behind.
        let mut wanted = 1u32;
        // How many bytes have been looked at.
        let mut count = 0;
        while wanted > 0 {
            let rest = &self.buffer[self.at..];
            if within == Within::Open && depth > 0 {
                count += rest[count..].iter().position(|&byte| MATTERS[byte as usize]).unwrap_or(rest.len() - count);
            }
            let Some(&byte) = rest.get(count) else {
                if count > MAX_FORM {
                    return Err(self.wrong(format!("the form is longer than {} MiB", MAX_FORM >> 20)));
                }
                match (self.fill()?, within) {
                    (true, _) => continue,
                    (false, Within::Word) if wanted == 1 => break,
                    (false, Within::Text | Within::Escape) => return Err(self.wrong("the input ends inside a text")),
                    (false, _) => return Err(self.wrong("the input ends inside a form")),
                }
            };
            count += 1;
            lines += u32::from(byte == b'\n');
            let ended = ends_word(byte);
            match within {
                Within::Text if byte == b'"' => {
                    within = Within::Open;
                    wanted -= u32::from(depth == 0);
                    continue;
                }
                Within::Text if byte == b'\\' => within = Within::Escape,
                Within::Escape => within = Within::Text,
                Within::Comment if byte == b'\n' => within = Within::Open,
                Within::Hash if byte == b'_' => {
                    within = Within::Open;
                    wanted += 1;
                    continue;
                }
                Within::Hash if !ended => within = if byte == b'#' { Within::Word } else { Within::Tag },
                Within::Word if ended => {
                    // What ends a word is no part of it.
                    wanted -= 1;
                    within = Within::Open;
                    (count, lines) = (count - 1, lines - u32::from(byte == b'\n'));
                    continue;
                }
                Within::Tag | Within::Hash if ended => within = Within::Open,
                Within::Text | Within::Comment | Within::Tag | Within::Hash | Within::Word => {}
                Within::Open => {}
            }
            if within != Within::Open {
                continue;
            }
            match byte {
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' if depth == 0 => {
                    return Err(self.wrong("a closing bracket without an opening one"));
                }
                b'}' | b']' | b')' => {
                    depth -= 1;
                    wanted -= u32::from(depth == 0);
                }
                b'"' => within = Within::Text,
                b';' => within = Within::Comment,
                b'#' if depth == 0 => within = Within::Hash,
                _ if depth == 0 && !ended => within = Within::Word,
                _ => {}
            }
        }
        let line = self.line;
        let from = self.at;
        self.line = self.line.saturating_add(lines);
        self.at += count;
        match std::str::from_utf8(&self.buffer[from..self.at]) {
            Ok(text) => Ok((line, text)),
            Err(_) => {
                (self.at, self.line) = (from, line);
                Err(self.wrong("the form is not UTF-8"))
            }
        }
    }
}
