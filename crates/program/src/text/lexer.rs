//! Cuts the text into tokens.
//!
//! Words are letters, digits, `_` and `$`, joined by dots (`s.next`, `tmp.3`), so that names made by front ends
//! need no quoting. The words that take a suffix after a dot (`load.acq`, `rmw.add.sc`) end at the dot. Any other name is
//! written between backticks. Operators for unsigned numbers are the plain ones with a `u` at their end, which must be
//! followed by a blank or a parenthesis, so that `a<u;` still compares with a register called `u`.
//!
//! Cost: one pass, no backtracking.

use super::Report;
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use std::ops::Range;

/// A piece of text with a meaning of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word: a keyword or a name.
    Word(&'a str),
    /// A name between backticks; never a keyword.
    Quoted(String),
    /// A number, with its type if one is attached.
    Int(u64, Option<Type>),
    /// A string, with its escapes resolved.
    Text(String),
    /// An operator or a bracket.
    Punct(&'static str),
    /// The end of the file.
    End,
}

impl Token<'_> {
    /// How a diagnostic names this token.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Quoted(name) => format!("the name `{name}`"),
            Token::Int(value, None) => format!("`{value}`"),
            Token::Int(value, Some(ty)) => format!("`{value}{ty}`"),
            Token::Text(_) => "a string".to_owned(),
            Token::Punct(punct) => format!("`{punct}`"),
            Token::End => "the end of the file".to_owned(),
        }
    }
}

/// Words whose dots begin a suffix.
const SUFFIXED: [&str; 7] = ["load", "store", "rmw", "cas", "fence", "lock", "trylock"];

/// Operators and brackets; a longer one stands before its prefixes.
const PUNCTUATION: [&str; 38] = [
    "..=", "..", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "+", "-", "*", "/", "%", "&", "|", "^", "~",
    "!", "<", ">", "=", "?", ":", ";", ",", "(", ")", "[", "]", "{", "}", ".", "@", "#", "\\",
];

/// Operators that have an unsigned twin.
const UNSIGNED: [(&str, &str); 7] =
    [("<", "<u"), ("<=", "<=u"), (">", ">u"), (">=", ">=u"), ("/", "/u"), ("%", "%u"), (">>", ">>u")];

/// A token, its place, and where it starts and ends in the text.
pub(super) type Lexeme<'a> = (Token<'a>, Span, Range<usize>);

/// The tokens of `text`; the last is [`Token::End`].
pub(super) fn tokens<'a>(file: u32, text: &'a str, report: &mut Report) -> Vec<Lexeme<'a>> {
    let mut lexer = Lexer { text, at: 0, file, line: 1, column: 1, report };
    let mut out = Vec::new();
    loop {
        lexer.skip_blanks();
        let (start, from) = (lexer.place(), lexer.at);
        let token = lexer.token();
        let span = lexer.since(start);
        let range = from..lexer.at;
        match token {
            Some(Token::End) => {
                out.push((Token::End, span, range));
                return out;
            }
            None if lexer.report.full() => {
                out.push((Token::End, span, range));
                return out;
            }
            Some(token) => out.push((token, span, range)),
            None => {}
        }
    }
}

struct Lexer<'a, 'r> {
    text: &'a str,
    at: usize,
    file: u32,
    line: u32,
    column: u32,
    report: &'r mut Report,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(c)
    }

    fn bump_while(&mut self, accept: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.bump();
        }
    }

    fn place(&self) -> Span {
        Span { file: self.file, line: self.line, column: self.column, len: 1 }
    }

    fn since(&self, start: Span) -> Span {
        let len = if self.line == start.line { self.column.saturating_sub(start.column) } else { 1 };
        Span { len: len.max(1), ..start }
    }

    fn skip_blanks(&mut self) {
        loop {
            self.bump_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.bump_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let start = self.place();
                match self.rest().find("*/") {
                    Some(length) => {
                        let end = self.at + length + 2;
                        while self.at < end {
                            self.bump();
                        }
                    }
                    None => {
                        while self.bump().is_some() {}
                        let span = Span { len: 2, ..start };
                        self.report.add(Diagnostic::new(span, "this comment does not end").help("close it with `*/`"));
                    }
                }
            } else {
                return;
            }
        }
    }

    /// The next token; `None` if what is here was reported and skipped.
    fn token(&mut self) -> Option<Token<'a>> {
        let Some(c) = self.peek() else { return Some(Token::End) };
        if is_word_start(c) {
            return Some(Token::Word(self.word()));
        }
        if c.is_ascii_digit() {
            return self.number();
        }
        if c == '"' {
            return self.quoted('"', "string").map(Token::Text);
        }
        if c == '`' {
            return self.quoted('`', "name").map(Token::Quoted);
        }
        let first = self.text.as_bytes()[self.at];
        let here = |punct: &&str| punct.as_bytes()[0] == first && self.rest().starts_with(*punct);
        if let Some(punct) = PUNCTUATION.iter().copied().find(here) {
            for _ in 0..punct.len() {
                self.bump();
            }
            return Some(Token::Punct(self.unsigned_twin(punct)));
        }
        let start = self.place();
        self.bump();
        let shown = if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        self.report.add(Diagnostic::new(start, format!("`{shown}` has no meaning here")));
        None
    }

    fn unsigned_twin(&mut self, punct: &'static str) -> &'static str {
        let mut following = self.rest().chars();
        if following.next() != Some('u') || !following.next().is_some_and(|c| c.is_whitespace() || c == '(') {
            return punct;
        }
        match UNSIGNED.iter().find(|(plain, _)| *plain == punct) {
            Some((_, twin)) => {
                self.bump();
                twin
            }
            None => punct,
        }
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        self.bump_while(is_word_part);
        if !self.text[..start].ends_with('.') && !SUFFIXED.contains(&&self.text[start..self.at]) {
            let joins = |rest: &str| {
                let mut chars = rest.chars();
                chars.next() == Some('.') && chars.next().is_some_and(is_word_part)
            };
            while joins(self.rest()) {
                self.bump();
                self.bump_while(is_word_part);
            }
        }
        &self.text[start..self.at]
    }

    fn number(&mut self) -> Option<Token<'a>> {
        let start = self.place();
        let from = self.at;
        self.bump_while(is_word_part);
        let text = &self.text[from..self.at];
        let (radix, body) = match text.get(..2) {
            Some("0x" | "0X") => (16, &text[2..]),
            Some("0b" | "0B") => (2, &text[2..]),
            _ => (10, text),
        };
        let digits_end = body.find(|c: char| c != '_' && !c.is_digit(radix)).unwrap_or(body.len());
        let (digits, suffix) = body.split_at(digits_end);
        let span = self.since(start);
        let ty = Type::ALL.into_iter().find(|ty| ty.name() == suffix);
        if !suffix.is_empty() && ty.is_none() {
            let message = format!("`{suffix}` is no type for a number");
            let help = "write one of i1, i8, i16, i32, i64, ptr directly behind it, or nothing";
            self.report.add(Diagnostic::new(span, message).help(help));
            return None;
        }
        let digits: String = digits.chars().filter(|&c| c != '_').collect();
        if digits.is_empty() {
            self.report.add(Diagnostic::new(span, "a number needs at least one digit"));
            return None;
        }
        match u64::from_str_radix(&digits, radix) {
            Ok(value) => Some(Token::Int(value, ty)),
            Err(_) => {
                let help = format!("the largest number is {}", u64::MAX);
                self.report.add(Diagnostic::new(span, "this number does not fit in 64 bits").help(help));
                Some(Token::Int(0, ty))
            }
        }
    }

    /// What stands between two `quote`s, on one line.
    fn quoted(&mut self, quote: char, what: &str) -> Option<String> {
        let start = self.place();
        self.bump();
        let mut out = String::new();
        loop {
            let here = self.place();
            match self.bump() {
                Some(c) if c == quote => return Some(out),
                Some('\\') => match self.bump() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some('r') => out.push('\r'),
                    Some(c @ ('\\' | '"' | '`')) => out.push(c),
                    Some('u') => match self.unicode_escape() {
                        Some(c) => out.push(c),
                        None => {
                            let help = "write the code of a character as in `\\u{e9}`";
                            self.report.add(Diagnostic::new(here, "this escape names no character").help(help));
                        }
                    },
                    _ => {
                        let help = "known are \\n, \\t, \\r, \\\\, \\\", \\` and \\u{...}";
                        self.report.add(Diagnostic::new(here, "unknown escape").help(help));
                    }
                },
                Some(c) if c != '\n' => out.push(c),
                _ => {
                    let message = format!("this {what} does not end on its line");
                    self.report.add(Diagnostic::new(start, message).help(format!("close it with `{quote}`")));
                    return None;
                }
            }
        }
    }

    fn unicode_escape(&mut self) -> Option<char> {
        let rest = self.rest().strip_prefix('{')?;
        let digits = &rest[..rest.find('}').filter(|&length| length <= 6)?];
        let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
        for _ in 0..digits.chars().count() + 2 {
            self.bump();
        }
        Some(c)
    }
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

fn is_word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Whether `name` can be written without backticks, keywords apart.
pub(super) fn is_plain(name: &str) -> bool {
    let mut parts = name.split('.');
    let Some(first) = parts.next() else { return false };
    first.starts_with(is_word_start)
        && first.chars().all(is_word_part)
        && !(SUFFIXED.contains(&first) && first.len() != name.len())
        && parts.all(|part| !part.is_empty() && part.chars().all(is_word_part))
}
