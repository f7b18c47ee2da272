//! Inputs with damage.
//!
//! Most damage to bytes alone ends at the first wrong word. So words are changed for other words of the same kind of input, ranges and lines
//! move within an input and between inputs, and pieces that mean something to the reader turn up where they should not.

use crate::Random;
use std::ops::Range;

/// Numbers that are at the edge of something.
const NUMBERS: [&str; 8] =
    ["0", "-1", "65", "4294967296", "18446744073709551615", "99999999999999999999", "0x", "0x7fffffffffffffff"];

/// Something like one of the inputs, with one to six changes. `pieces` are words and signs that mean something to the reader.
///
/// # Panics
/// If there are no inputs, or no pieces.
pub fn damaged(inputs: &[impl AsRef<[u8]>], pieces: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = inputs[random.below(inputs.len())].as_ref().to_vec();
    for _ in 0..random.between(1, 6) {
        change(&mut bytes, inputs, pieces, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, inputs: &[impl AsRef<[u8]>], pieces: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let stretch = range(at, 40, bytes, random);
    match random.below(12) {
        0 if at < bytes.len() => drop(bytes.remove(at)),
        1 if at < bytes.len() => bytes[at] = random.number() as u8,
        2 if random.one_in(4) => bytes.truncate(at),
        3 => drop(bytes.drain(stretch)),
        4 => {
            let part = bytes[stretch].to_vec();
            insert(bytes, random.below(bytes.len() + 1), &part);
        }
        5 => {
            let other = inputs[random.below(inputs.len())].as_ref();
            let part = range(random.below(other.len() + 1), 60, other, random);
            bytes.splice(stretch, other[part].iter().copied());
        }
        6 => {
            let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let line = lines.remove(random.below(lines.len()));
            lines.insert(random.below(lines.len() + 1), line);
            *bytes = lines.join(&b'\n');
        }
        7 | 8 => {
            let tokens = tokens(bytes);
            if !tokens.is_empty() {
                // One for another, or none.
                let (to, from) = (random.pick(&tokens), random.pick(&tokens));
                let token = if random.one_in(3) { Vec::new() } else { bytes[from].to_vec() };
                bytes.splice(to, token);
            }
        }
        9 => insert(bytes, at, random.pick(&NUMBERS).as_bytes()),
        _ => insert(bytes, at, random.pick(pieces).as_bytes()),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    bytes.splice(at..at, part.iter().copied());
}

/// Fewer than `longest` bytes from here.
fn range(at: usize, longest: usize, bytes: &[u8], random: &mut Random) -> Range<usize> {
    at..(at + random.below(longest)).min(bytes.len())
}

/// Tokens, roughly: words and single signs.
fn tokens(bytes: &[u8]) -> Vec<Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut tokens: Vec<Range<usize>> = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match tokens.last_mut() {
            Some(last) if last.end == at && is_word(byte) && is_word(bytes[last.start]) => last.end = at + 1,
            _ if byte.is_ascii_whitespace() => {}
            _ => tokens.push(at..at + 1),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_signs_alone() {
        let text = b"if (x_1 == 20) {}";
        let words: Vec<_> = tokens(text).into_iter().map(|token| &text[token]).collect();
        let expected: [&[u8]; 9] = [b"if", b"(", b"x_1", b"=", b"=", b"20", b")", b"{", b"}"];
        assert_eq!(words, expected);
    }

    #[test]
    fn damage_repeats_with_its_seed() {
        let some = |seed| {
            let mut random = Random::new(seed);
            [(); 50].map(|()| damaged(&["some text", "other"], &["PIECE"], &mut random))
        };
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
    }

    #[test]
    fn damage_is_of_every_kind() {
        let (text, mut random) = ("first line\nsecond line\n", Random::new(1));
        let changed: Vec<Vec<u8>> = std::iter::repeat_with(|| {
            let mut bytes = text.as_bytes().to_vec();
            change(&mut bytes, &["OTHER"], &["PIECE"], &mut random);
            bytes
        })
        .take(3_000)
        .collect();
        let has = |part: &str| changed.iter().any(|bytes| String::from_utf8_lossy(bytes).contains(part));
        for part in ["PIECE", "OTHER", "4294967296", "second line\nfirst line\n", "first first\n", "line line"] {
            assert!(has(part), "{part:?} is nowhere");
        }
        assert!(changed.iter().any(|bytes| bytes.len() + 1 == text.len()), "a byte less");
        assert!(changed.iter().any(|bytes| bytes.len() < 8), "an early end");
        assert!(changed.iter().any(|bytes| std::str::from_utf8(bytes).is_err()), "a wrong byte");
    }

    #[test]
    fn nothing_can_be_damaged_too() {
        let mut random = Random::new(2);
        let longest = (0..200).map(|_| damaged(&[""], &["x"], &mut random).len()).max();
        assert!(longest > Some(0));
    }
}
