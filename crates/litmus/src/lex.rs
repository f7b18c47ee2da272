//! Words, numbers and signs, each with its place. Comments are `(* *)`, which nest, `/* */` and `//`.
//!
//! In the code of flavour C `(*` also begins an expression. There it opens a comment only if what follows is no operand.

use crate::Result_;
use crate::head::Flavour;
use raddle_program::{Diagnostic, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word(String),
    /// A number; `None` if it does not fit in 64 bits.
    Number(Option<i64>),
    Sign(&'static str),
    /// A text in quotes.
    Text,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Longer ones first.
const SIGNS: [&str; 55] = [
    "<<=", ">>=", "/\\", "\\/", "=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "->", "::", "<>", "(", ")", "{", "}", "[", "]", ";", ",", ":", "=", "~", "$", "%",
    "&", "*", "+", "-", "/", "<", ">", "!", "|", "^", "?", ".", "#", "@", "\\", "'",
];

/// What stands at this offset, for messages about it.
pub(crate) fn span(file: u32, text: &str, at: usize, len: u32) -> Span {
    let before = &text[..at];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) as u32 + 1;
    Span { file, line, column, len }
}

/// The tokens from `start` on; a last one says that there are no more.
pub(crate) fn tokens(file: u32, text: &str, start: usize, flavour: Flavour) -> Result_<Vec<Token>> {
    let mut lexer =
        Lexer { text, at: start, here: span(file, text, start, 1), tokens: Vec::new(), depth: 0, groups: 0 };
    while lexer.skip_blanks(flavour)? {
        lexer.token()?;
    }
    let span = lexer.here;
    lexer.tokens.push(Token { kind: Kind::End, span });
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    here: Span,
    tokens: Vec<Token>,
    /// How many braces are open, and how many groups of them were opened before: the first is the initial state.
    depth: u32,
    groups: u32,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        for c in self.text[self.at..self.at + bytes].chars() {
            if c == '\n' {
                self.here.line += 1;
                self.here.column = 1;
            } else {
                self.here.column += 1;
            }
        }
        self.at += bytes;
    }

    /// Whether something is left after blanks and comments.
    fn skip_blanks(&mut self, flavour: Flavour) -> Result_<bool> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            let in_code = flavour == Flavour::C && self.depth > 0 && self.groups > 1;
            let rest = &rest[blanks..];
            let operand = |c: char| c.is_alphanumeric() || "_(*&".contains(c);
            let skipped = if rest.starts_with("(*") && !(in_code && rest[2..].starts_with(operand)) {
                Some(nested(rest, "(*", "*)"))
            } else if let Some(comment) = rest.strip_prefix("/*") {
                Some(comment.find("*/").map(|end| end + 4))
            } else if rest.starts_with("//") {
                Some(Some(rest.find('\n').unwrap_or(rest.len())))
            } else {
                None
            };
            self.advance(blanks);
            match skipped {
                None => return Ok(!self.rest().is_empty()),
                Some(Some(bytes)) => self.advance(bytes),
                Some(None) => {
                    let place = Span { len: 2, ..self.here };
                    return Err(Diagnostic::new(place, "this comment does not end").into());
                }
            }
        }
    }

    fn token(&mut self) -> Result_<()> {
        let rest = self.rest();
        let first = rest.chars().next().expect("something is left");
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, bytes) = if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            (Kind::Word(rest[..end].to_owned()), end)
        } else if first.is_ascii_digit() {
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            (Kind::Number(number(&rest[..end])), end)
        } else if first == '"' {
            let Some(end) = rest[1..].find('"') else {
                return Err(Diagnostic::new(self.here, "this text does not end").into());
            };
            (Kind::Text, end + 2)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Kind::Sign(sign), sign.len())
        } else {
            return Err(Diagnostic::new(self.here, format!("`{first}` means nothing here")).into());
        };
        match kind {
            Kind::Sign("{") => {
                self.groups += u32::from(self.depth == 0);
                self.depth += 1;
            }
            Kind::Sign("}") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let len = rest[..bytes].chars().count() as u32;
        self.tokens.push(Token { kind, span: Span { len, ..self.here } });
        self.advance(bytes);
        Ok(())
    }
}

/// How many bytes a nested comment takes; `None` if it does not end.
pub(crate) fn nested(text: &str, open: &str, close: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with(open) {
            depth += 1;
            at += open.len();
        } else if rest.starts_with(close) {
            depth -= 1;
            at += close.len();
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// A number of C: decimal, hexadecimal, octal or binary, with or without a suffix. Those above 2^63 are taken for their bits.
fn number(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase().replace('_', "");
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        _ => (text.as_str(), 10),
    };
    let digits = digits.trim_end_matches(['u', 'l']);
    if digits.is_empty() {
        return (radix == 8).then_some(0);
    }
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}
