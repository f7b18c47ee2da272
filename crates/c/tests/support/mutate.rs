//! Damage to text: what a broken editor, a bad merge or an attacker could do to a C file.

use super::Rng;

/// Pieces that mean something to a C parser.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    "->",
    ".",
    "=",
    "==",
    "++",
    "<<",
    "?",
    ":",
    "...",
    "struct ",
    "union ",
    "enum ",
    "int ",
    "unsigned ",
    "typedef ",
    "static ",
    "extern ",
    "_Atomic ",
    "case ",
    "goto ",
    "return ",
    "sizeof ",
    "__attribute__((",
    "_Generic(",
    "0x",
    "1e9",
    "\"",
    "'",
    "/*",
    "# 1 \"x\"\n",
];

/// The text with a few random changes.
pub(crate) fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.below(6) + 1 {
        let at = rng.below(bytes.len() + 1);
        match rng.below(8) {
            0 if at < bytes.len() => {
                bytes.remove(at);
            }
            1 => {
                let piece = rng.pick(&PIECES).as_bytes();
                bytes.splice(at..at, piece.iter().copied());
            }
            2 if at < bytes.len() => bytes[at] = rng.next() as u8,
            3 => {
                let end = (at + rng.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let from = rng.below(bytes.len() + 1);
                let end = (from + rng.below(60)).min(bytes.len());
                let part: Vec<u8> = bytes[from..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => bytes.truncate(at.max(1)),
            6 => {
                // One word for another of the same file.
                let words: Vec<(usize, usize)> = words(&bytes);
                if words.len() > 1 {
                    let (from, len) = *rng.pick(&words);
                    let (to, other) = *rng.pick(&words);
                    let word: Vec<u8> = bytes[from..from + len].to_vec();
                    bytes.splice(to..to + other, word);
                }
            }
            _ => {
                let number =
                    [b"0".as_slice(), b"-1", b"4294967296", b"99999999999999999999", b"0x7fffffffffffffff", b"65"];
                bytes.splice(at..at, rng.pick(&number).iter().copied());
            }
        }
        if bytes.is_empty() {
            bytes.push(b';');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn words(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, byte) in bytes.iter().enumerate() {
        let inside = byte.is_ascii_alphanumeric() || *byte == b'_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, at - from));
                start = None;
            }
            _ => {}
        }
    }
    words
}
