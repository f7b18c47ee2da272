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
    fn damage_is_of_every_kind_and_repeats_with_its_seed() {
        let inputs = ["first line\nsecond line\n", "other"];
        let all = |seed| {
            let mut random = Random::new(seed);
            (0..20_000).map(|_| damaged(&inputs, &["PIECE"], &mut random)).collect::<Vec<_>>()
        };
        let texts = all(1);
        assert_eq!(texts, all(1));
        let some = |is: &dyn Fn(&[u8]) -> bool| assert!(texts.iter().any(|text| is(text)));
        let has = |text: &[u8], part: &str| String::from_utf8_lossy(text).contains(part);
        some(&|text| has(text, "PIECE"));
        some(&|text| has(text, "4294967296"));
        some(&|text| text.starts_with(b"second line\nfirst line"));
        some(&|text| has(text, "first other") || has(text, "line other") || has(text, "firstother"));
        some(&|text| text.len() < 4);
        some(&|text| text.len() > 30);
        some(&|text| std::str::from_utf8(text).is_err());
    }

    #[test]
    fn nothing_can_be_damaged_too() {
        let mut random = Random::new(2);
        let longest = (0..200).map(|_| damaged(&[""], &["x"], &mut random).len()).max();
        assert!(longest > Some(0));
    }
}
