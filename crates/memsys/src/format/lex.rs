//! Words, numbers and signs.

use super::{InputError, Spot};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Sign,
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) spot: Spot,
}

/// The longer ones first.
const SIGNS: [&str; 30] = [
    "..=", ":=", "->", "..", "&&", "||", "==", "!=", "<=", ">=", "{", "}", "[", "]", "(", ")", ",", ";", ":", ".", "=",
    "<", ">", "+", "-", "*", "%", "!", "|", "/",
];

/// The tokens that are not read yet.
#[derive(Debug)]
pub(super) struct Tokens {
    list: Vec<Token>,
    at: usize,
    /// Behind the last one.
    end: Spot,
}

impl Tokens {
    pub(super) fn new(text: &str) -> Result<Self, InputError> {
        let mut list: Vec<Token> = Vec::new();
        let mut end = Spot { line: 1, column: 1, len: 1 };
        for (number, line) in text.lines().enumerate() {
            let mut column = 1;
            let mut rest = line;
            while let Some(c) = rest.chars().next() {
                let spot = |len| Spot { line: number as u32 + 1, column, len };
                if rest.starts_with('#') || rest.starts_with("//") {
                    break;
                }
                let (kind, bytes) = if c.is_whitespace() {
                    (None, c.len_utf8())
                } else if c.is_alphanumeric() || c == '_' {
                    let word = |c: char| !(c.is_alphanumeric() || c == '_' || c == '\'');
                    let bytes = rest.find(word).unwrap_or(rest.len());
                    let digits = rest[..bytes].bytes().all(|byte| byte.is_ascii_digit());
                    (Some(if digits { Kind::Number } else { Kind::Word }), bytes)
                } else if let Some(sign) = SIGNS.iter().find(|&&sign| rest.starts_with(sign)) {
                    (Some(Kind::Sign), sign.len())
                } else {
                    return Err(InputError::at(spot(1), format!("`{c}` has no meaning here")));
                };
                let (token, after) = rest.split_at(bytes);
                let len = token.chars().count() as u32;
                if let Some(kind) = kind {
                    list.push(Token { kind, text: token.to_owned(), spot: spot(len) });
                    end = Spot { line: number as u32 + 1, column: column + len, len: 1 };
                }
                column += len;
                rest = after;
            }
        }
        Ok(Tokens { list, at: 0, end })
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.list.get(self.at)
    }

    pub(super) fn peek_text(&self) -> Option<&str> {
        self.peek().map(|token| token.text.as_str())
    }

    /// Where the next token is, or where the text ends.
    pub(super) fn spot(&self) -> Spot {
        self.peek().map_or(self.end, |token| token.spot)
    }

    /// Where the last token was that was read.
    pub(super) fn before(&self) -> Spot {
        self.at.checked_sub(1).map_or(self.end, |at| self.list[at].spot)
    }

    /// Whether the next token stands on this line.
    pub(super) fn is_on(&self, line: u32) -> bool {
        self.peek().is_some_and(|token| token.spot.line == line)
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.list.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    /// Reads this token, if it is the next.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let is_next = self.peek_text() == Some(text);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads this token, which has to be the next.
    pub(super) fn expect(&mut self, text: &str, shape: &str) -> Result<Spot, InputError> {
        let spot = self.spot();
        if self.accept(text) { Ok(spot) } else { Err(self.unexpected(&format!("`{text}`")).help(shape)) }
    }

    /// Something else was expected.
    pub(super) fn unexpected(&self, what: &str) -> InputError {
        let found = self.peek().map_or("the end of the text".to_owned(), |token| format!("`{}`", token.text));
        InputError::at(self.spot(), format!("expected {what}, found {found}"))
    }

    /// A name.
    pub(super) fn name(&mut self, what: &str, shape: &str) -> Result<Token, InputError> {
        match self.peek() {
            Some(token) if token.kind == Kind::Word => Ok(self.next().expect("it was just there")),
            _ => Err(self.unexpected(what).help(shape)),
        }
    }
}
