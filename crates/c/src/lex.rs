//! Which tokens does a preprocessed text consist of?
//!
//! One pass over the bytes. Lines that start with `#` are line markers, which [`Lines`] collects, or pragmas,
//! which mean nothing here. Comments are skipped although a preprocessor removes them, because `.i` files are
//! taken as they are. Digraphs and trigraphs are not known. Cost: linear in the text.

use crate::float::FloatLit;
use crate::source::Lines;
use crate::token::{Encoding, IntLit, Kw, Name, P, Pos, Tok, Token};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Something that is no token.
#[derive(Debug)]
pub(crate) struct LexError {
    /// Where.
    pub(crate) pos: Pos,
    /// What is wrong.
    pub(crate) message: String,
}

/// Cuts `text` into tokens; the last one is [`Tok::Eof`].
pub(crate) fn lex(text: &str, lines: &mut Lines) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, names: FxHashSet::default() };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    lines.start_line(0);
    loop {
        lexer.skip_blank(lines)?;
        let pos = lexer.at;
        if pos >= lexer.bytes.len() {
            tokens.push(Token { kind: Tok::Eof, pos: Pos(pos as u32), len: 0 });
            return Ok(tokens);
        }
        let kind = lexer.token()?;
        tokens.push(Token { kind, pos: Pos(pos as u32), len: (lexer.at - pos) as u32 });
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    names: FxHashSet<Name>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, LexError> {
        Err(LexError { pos: Pos(at as u32), message: message.into() })
    }

    fn skip_blank(&mut self, lines: &mut Lines) -> Result<(), LexError> {
        let mut line_start = self.at == 0;
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.at += 1;
                    lines.start_line(self.at as u32);
                    line_start = true;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.peek(1) == b'\n' => self.at += 1,
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at;
                    self.at += 2;
                    while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                        if self.at >= self.bytes.len() {
                            return self.error(start, "this comment does not end");
                        }
                        if self.peek(0) == b'\n' {
                            lines.start_line(self.at as u32 + 1);
                        }
                        self.at += 1;
                    }
                    self.at += 2;
                }
                b'#' if line_start => {
                    let start = self.at;
                    self.skip_line();
                    lines.directive(start as u32, &self.bytes[start..self.at]);
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
    }

    fn token(&mut self) -> Result<Tok, LexError> {
        let first = self.peek(0);
        match first {
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'"' => self.string(Encoding::Plain),
            b'\'' => self.character(Encoding::Plain),
            _ if is_name_byte(first) || self.escaped_letter().is_some() => self.word(),
            _ => self.punct(),
        }
    }

    fn word(&mut self) -> Result<Tok, LexError> {
        let start = self.at;
        let mut spelled = Vec::new();
        loop {
            let byte = self.peek(0);
            if is_name_byte(byte) || byte.is_ascii_digit() {
                spelled.push(byte);
                self.at += 1;
            } else if let Some((letter, length)) = self.escaped_letter() {
                spelled.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                self.at += length;
            } else {
                break;
            }
        }
        let Ok(text) = std::str::from_utf8(&spelled) else {
            return self.error(start, "this name is not valid UTF-8");
        };
        let encoding = match text {
            "L" => Some(Encoding::Wide),
            "u" => Some(Encoding::Char16),
            "U" => Some(Encoding::Char32),
            "u8" => Some(Encoding::Plain),
            _ => None,
        };
        if let Some(encoding) = encoding {
            match self.peek(0) {
                b'"' => return self.string(encoding),
                b'\'' => return self.character(encoding),
                _ => {}
            }
        }
        if let Some(keyword) = Kw::from_text(text) {
            return Ok(Tok::Kw(keyword));
        }
        if let Some(name) = self.names.get(text) {
            return Ok(Tok::Ident(name.clone()));
        }
        let name: Name = Rc::from(text);
        self.names.insert(name.clone());
        Ok(Tok::Ident(name))
    }

    /// A letter of a name that the preprocessor spells by its number, `\u00e5` or `\U000000e5`, and how long that is.
    fn escaped_letter(&self) -> Option<(char, usize)> {
        let digits = match (self.peek(0), self.peek(1)) {
            (b'\\', b'u') => 4,
            (b'\\', b'U') => 8,
            _ => return None,
        };
        let number = std::str::from_utf8(self.bytes.get(self.at + 2..self.at + 2 + digits)?).ok()?;
        let letter = char::from_u32(u32::from_str_radix(number, 16).ok()?)?;
        (!letter.is_ascii()).then_some((letter, digits + 2))
    }

    fn number(&mut self) -> Result<Tok, LexError> {
        let start = self.at;
        while is_name_byte(self.peek(0)) || self.peek(0).is_ascii_digit() || self.peek(0) == b'.' {
            let exponent = matches!(self.peek(0), b'e' | b'E' | b'p' | b'P') && matches!(self.peek(1), b'+' | b'-');
            let hexadecimal = self.bytes[start..].starts_with(b"0x") || self.bytes[start..].starts_with(b"0X");
            let sign_belongs = exponent && (!hexadecimal || matches!(self.peek(0), b'p' | b'P'));
            self.at += if sign_belongs { 2 } else { 1 };
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).to_ascii_lowercase();
        let (digits, radix) = match text.as_bytes() {
            [b'0', b'x', ..] => (&text[2..], 16),
            [b'0', b'b', ..] => (&text[2..], 2),
            [b'0', ..] => (&text[..], 8),
            _ => (&text[..], 10),
        };
        if text.contains('.') || (radix != 16 && text.contains('e')) || (radix == 16 && text.contains('p')) {
            return match FloatLit::parse(&text) {
                Some(literal) => Ok(Tok::Float(literal)),
                None => self.error(start, format!("`{text}` is not a number")),
            };
        }
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        let (unsigned, longs) = match suffix {
            "" => (false, 0),
            "u" => (true, 0),
            "l" => (false, 1),
            "ul" | "lu" => (true, 1),
            "ll" => (false, 2),
            "ull" | "llu" => (true, 2),
            _ => return self.error(start, format!("`{text}` is not a number")),
        };
        match u64::from_str_radix(digits, radix) {
            Ok(value) => Ok(Tok::Int(IntLit { value, decimal: radix == 10, unsigned, longs })),
            Err(_) => self.error(start, format!("`{text}` is not a number that fits in 64 bits")),
        }
    }

    fn string(&mut self, encoding: Encoding) -> Result<Tok, LexError> {
        let start = self.at;
        self.at += 1;
        let mut units = Vec::new();
        loop {
            match self.peek(0) {
                b'"' => break,
                b'\n' | 0 if self.peek(0) == b'\n' || self.at >= self.bytes.len() => {
                    return self.error(start, "this string does not end");
                }
                _ => self.unit(encoding, &mut units)?,
            }
        }
        self.at += 1;
        Ok(Tok::Str(units.into(), encoding))
    }

    fn character(&mut self, encoding: Encoding) -> Result<Tok, LexError> {
        let start = self.at;
        self.at += 1;
        let mut units = Vec::new();
        while self.peek(0) != b'\'' {
            if self.at >= self.bytes.len() || self.peek(0) == b'\n' {
                return self.error(start, "this character constant does not end");
            }
            self.unit(encoding, &mut units)?;
        }
        self.at += 1;
        let value = match (encoding, units.as_slice()) {
            (_, []) => return self.error(start, "an empty character constant"),
            (Encoding::Plain, [one]) => i64::from(*one as u8 as i8),
            // Several characters in one constant: as the common compilers do, the last four bytes, big end first.
            (Encoding::Plain, many) => i64::from(many.iter().fold(0u32, |acc, u| acc << 8 | (u & 0xff)) as i32),
            (Encoding::Char16, units) => i64::from(units[0] as u16),
            (_, units) => i64::from(units[0]),
        };
        Ok(Tok::Char(value, encoding))
    }

    /// One character or escape of a literal; a character of several bytes is several units of a plain literal.
    fn unit(&mut self, encoding: Encoding, units: &mut Vec<u32>) -> Result<(), LexError> {
        let start = self.at;
        if self.peek(0) != b'\\' {
            if encoding == Encoding::Plain || self.peek(0) < 0x80 {
                units.push(u32::from(self.peek(0)));
                self.at += 1;
                return Ok(());
            }
            let rest = String::from_utf8_lossy(&self.bytes[start..(start + 4).min(self.bytes.len())]).into_owned();
            let c = rest.chars().next().unwrap_or('?');
            units.push(c as u32);
            self.at += c.len_utf8();
            return Ok(());
        }
        self.at += 2;
        let value = match self.bytes.get(start + 1).copied().unwrap_or(0) {
            b'n' => 10,
            b't' => 9,
            b'r' => 13,
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' | b'E' => 27,
            c @ (b'\\' | b'\'' | b'"' | b'?') => u32::from(c),
            b'\n' => return Ok(()),
            c @ b'0'..=b'7' => {
                let mut value = u32::from(c - b'0');
                for _ in 0..2 {
                    if let c @ b'0'..=b'7' = self.peek(0) {
                        value = value * 8 + u32::from(c - b'0');
                        self.at += 1;
                    }
                }
                value
            }
            b'x' => self.hex_digits(start, 8)?,
            c @ (b'u' | b'U') => {
                let code = self.hex_digits(start, if c == b'u' { 4 } else { 8 })?;
                let Some(c) = char::from_u32(code) else {
                    return self.error(start, "not a character of Unicode");
                };
                if encoding == Encoding::Plain {
                    units.extend(c.to_string().bytes().map(u32::from));
                    return Ok(());
                }
                code
            }
            _ => return self.error(start, "unknown escape in a literal"),
        };
        units.push(value);
        Ok(())
    }

    fn hex_digits(&mut self, start: usize, most: usize) -> Result<u32, LexError> {
        let mut value = 0u32;
        let mut seen = 0;
        while seen < most {
            let Some(digit) = (self.peek(0) as char).to_digit(16) else { break };
            value = value << 4 | digit;
            self.at += 1;
            seen += 1;
        }
        if seen == 0 { self.error(start, "an escape without digits") } else { Ok(value) }
    }

    fn punct(&mut self) -> Result<Tok, LexError> {
        let rest = &self.bytes[self.at..];
        let first = rest.first();
        for &(punct, text) in P::ALL {
            // Most differ in the first byte, and every token that is no word comes here.
            if text.as_bytes().first() == first && rest.starts_with(text.as_bytes()) {
                self.at += text.len();
                return Ok(Tok::Punct(punct));
            }
        }
        let shown = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next().unwrap_or('?');
        self.error(self.at, format!("{shown:?} is not part of C"))
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Tok> {
        let tokens = lex(text, &mut Lines::new("t.i", text)).expect("lexes");
        tokens.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn the_longest_operator_wins() {
        let expected = [P::ShlEq, P::Arrow, P::Inc, P::Plus, P::Ellipsis].map(Tok::Punct);
        assert_eq!(kinds("<<=->+++...")[..5], expected);
    }

    #[test]
    fn suffixes_of_integers_are_kept_apart_from_their_digits() {
        let int = |value, decimal, unsigned, longs| Tok::Int(IntLit { value, decimal, unsigned, longs });
        assert_eq!(
            kinds("0x1fUL 017 0b101 42ll 18446744073709551615u")[..5],
            [
                int(31, false, true, 1),
                int(15, false, false, 0),
                int(5, false, false, 0),
                int(42, true, false, 2),
                int(u64::MAX, true, true, 0)
            ]
        );
    }

    #[test]
    fn floating_literals_are_recognised() {
        assert!(kinds("1.0 .5 1e3 0x1p3 1.f").iter().take(5).all(|t| matches!(t, Tok::Float(_))));
    }

    #[test]
    fn escapes_have_their_values() {
        assert_eq!(kinds(r"'\n'")[0], Tok::Char(10, Encoding::Plain));
        assert_eq!(kinds(r"'\xff'")[0], Tok::Char(-1, Encoding::Plain));
        assert_eq!(kinds(r#""a\0\101""#)[0], Tok::Str(Rc::from([97, 0, 65]), Encoding::Plain));
    }

    #[test]
    fn unfinished_literals_and_stray_bytes_are_errors() {
        for text in ["\"abc", "'a", "/* no end", "@", "'", "\"\\", "1x2"] {
            assert!(lex(text, &mut Lines::new("t.i", text)).is_err(), "{text}");
        }
    }
}
