//! Going through tokens.

use crate::lex::{Kind, Token};
use crate::{MAX_NESTING, Result_};
use raddle_program::{Diagnostic, Span};

#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    tokens: &'t [Token],
    at: usize,
    /// How deep what is being read nests.
    depth: usize,
}

impl<'t> Cursor<'t> {
    /// Goes through tokens, the last of which says that there are no more.
    pub(crate) fn new(tokens: &'t [Token]) -> Self {
        Cursor { tokens, at: 0, depth: 0 }
    }

    pub(crate) fn peek(&self) -> &'t Kind {
        self.ahead(0)
    }

    /// The token after so many others.
    pub(crate) fn ahead(&self, distance: usize) -> &'t Kind {
        self.tokens.get(self.at + distance).map_or(&Kind::End, |token| &token.kind)
    }

    pub(crate) fn span(&self) -> Span {
        let last = self.tokens.last().map_or(Span::default(), |token| token.span);
        self.tokens.get(self.at).map_or(last, |token| token.span)
    }

    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len());
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(found) if found == word)
    }

    pub(crate) fn at_end(&self) -> bool {
        *self.peek() == Kind::End
    }

    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Result_<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    pub(crate) fn word(&mut self, what: &str) -> Result_<(String, Span)> {
        let span = self.span();
        match self.peek() {
            Kind::Word(word) => {
                self.advance();
                Ok((word.clone(), span))
            }
            _ => Err(self.wrong(what)),
        }
    }

    /// A number, which may have a sign before it.
    pub(crate) fn number(&mut self, what: &str) -> Result_<i64> {
        let negative = self.eat("-");
        match self.peek() {
            Kind::Number(Some(value)) => {
                self.advance();
                Ok(if negative { value.wrapping_neg() } else { *value })
            }
            Kind::Number(None) => Err(self.error("this is not a number of at most 64 bits")),
            _ => Err(self.wrong(what)),
        }
    }

    /// Something else should stand here.
    pub(crate) fn wrong(&self, expected: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            Kind::Word(word) => format!("`{word}`"),
            Kind::Number(_) => "a number".to_owned(),
            Kind::Sign(sign) => format!("`{sign}`"),
            Kind::Text => "a text in quotes".to_owned(),
            Kind::End => "the end".to_owned(),
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(self.span(), message).into()
    }

    /// Reads something that may contain itself.
    pub(crate) fn enter(&mut self) -> Result_<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.error(format!("this nests more than {MAX_NESTING} levels deep")));
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The tokens between two positions, as something to go through.
    pub(crate) fn part(&self, from: usize, to: usize) -> Cursor<'t> {
        Cursor { tokens: &self.tokens[..to], at: from, depth: 0 }
    }
}
