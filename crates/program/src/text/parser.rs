//! From tokens to the tree: items, layouts, and what statements and expressions share.
//!
//! Recursive descent with one token of lookahead (two for a name at the start of a statement). After an error the parser
//! goes on behind the next `;` or at the brace that closes the block, so that one run reports several errors.
//! Nesting is bounded by [`MAX_NESTING`] and [`MAX_HEIGHT`]; what lies deeper is reported, not followed.

use super::Report;
use super::ast::{Ast, File, Func, Global, Init, LayoutAst, Name};
use super::lexer::{Lexeme, Token};
use super::names::{self, did_you_mean};
use crate::program::Mailbox;
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use std::borrow::Cow;

/// How deep statements may be nested.
pub const MAX_NESTING: u32 = 100;
/// How deep expressions may be nested.
pub const MAX_HEIGHT: u32 = 200;

/// The error has been reported.
pub(super) struct Failed;

/// A result whose error has been reported.
pub(super) type Parsed<T> = Result<T, Failed>;

pub(super) struct Parser<'a, 'r> {
    pub(super) tokens: &'r [Lexeme<'a>],
    pub(super) at: usize,
    pub(super) report: &'r mut Report,
    /// Open blocks.
    pub(super) nesting: u32,
    /// Open expressions.
    pub(super) height: u32,
    /// The text, for the default message of an assertion.
    pub(super) text: &'a str,
}

/// Parses a file. What was understood is returned even if there are errors.
pub(super) fn parse<'a>(tokens: &[Lexeme<'a>], text: &'a str, report: &mut Report) -> File<'a> {
    let mut parser = Parser { tokens, at: 0, report, nesting: 0, height: 0, text };
    let mut file = File::default();
    while *parser.peek() != Token::End && !parser.report.full() {
        if parser.item(&mut file).is_err() {
            parser.recover_item();
        }
    }
    file
}

impl<'a> Parser<'a, '_> {
    pub(super) fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Token<'a> {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    /// From `start` to the last token read.
    pub(super) fn since(&self, start: Span) -> Span {
        join(start, self.tokens[self.at.saturating_sub(1)].1)
    }

    /// The text of the tokens `from..to`.
    pub(super) fn text_between(&self, from: usize, to: usize) -> String {
        let start = self.tokens[from].2.start;
        let end = self.tokens[to.saturating_sub(1).max(from)].2.end;
        self.text.get(start..end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn bump(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn at_punct(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(p) if *p == punct)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if *w == word)
    }

    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let found = self.at_punct(punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Reports that something else was expected here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let message = format!("expected {what}, found {}", self.peek().describe());
        self.fail(Diagnostic::new(self.span(), message).label(format!("expected {what}")))
    }

    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.report.add(diagnostic);
        Err(Failed)
    }

    pub(super) fn expect(&mut self, punct: &'static str) -> Parsed<()> {
        if self.eat(punct) {
            return Ok(());
        }
        if punct == ";" && self.at > 0 {
            let before = self.tokens[self.at - 1].1;
            let span = Span { column: before.column.saturating_add(before.len), len: 1, ..before };
            let message = format!("expected `;`, found {}", self.peek().describe());
            return self.fail(Diagnostic::new(span, message).label("a `;` is missing here"));
        }
        self.expected(&format!("`{punct}`"))
    }

    pub(super) fn expect_word(&mut self, word: &'static str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// A name that is being given or used.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name<'a>> {
        let span = self.span();
        let text = match self.peek() {
            Token::Word(word) if names::is_keyword(word) => {
                let message = format!("expected {what}, found `{word}`, a word of the language");
                let help = format!("choose another name, or write it between backticks: `` `{word}` ``");
                return self.fail(Diagnostic::new(span, message).label(format!("expected {what}")).help(help));
            }
            Token::Word(word) => Cow::Borrowed(*word),
            Token::Quoted(name) => Cow::Owned(name.clone()),
            _ => return self.expected(what),
        };
        self.bump();
        Ok(Name { text, span })
    }

    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone();
                self.bump();
                Ok(text)
            }
            _ => self.expected(what),
        }
    }

    /// A type, if one stands here.
    pub(super) fn type_opt(&mut self) -> Option<Type> {
        let Token::Word(word) = self.peek() else { return None };
        let ty = Type::ALL.into_iter().find(|ty| ty.name() == *word)?;
        self.bump();
        Some(ty)
    }

    pub(super) fn type_name(&mut self) -> Parsed<Type> {
        if let Some(ty) = self.type_opt() {
            return Ok(ty);
        }
        let mut diagnostic = Diagnostic::new(self.span(), format!("expected a type, found {}", self.peek().describe()))
            .label("expected one of i1, i8, i16, i32, i64, ptr");
        if let Token::Word(word) = self.peek() {
            let guess = match *word {
                "int" | "u32" => Some("i32"),
                "bool" => Some("i1"),
                "char" | "u8" => Some("i8"),
                "long" | "u64" | "usize" => Some("i64"),
                word => did_you_mean(word, Type::ALL.iter().map(|ty| ty.name())),
            };
            if let Some(guess) = guess {
                diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
            }
        }
        self.fail(diagnostic)
    }

    fn item(&mut self, file: &mut File<'a>) -> Parsed<()> {
        let Token::Word(word) = *self.peek() else {
            return self.expected("`fn`, `global`, `thread_local`, `looper`, `param` or `entry`");
        };
        match word {
            "param" => {
                self.bump();
                let name = self.name("the name of the parameter")?;
                self.expect("=")?;
                let value = self.expr()?;
                self.expect(";")?;
                file.params.push((name, value));
            }
            "global" | "thread_local" => {
                let thread_local = self.eat_word("thread_local");
                self.expect_word("global")?;
                let global = self.global(thread_local)?;
                file.globals.push(global);
            }
            "looper" => {
                self.bump();
                let name = self.name("the name of the looper")?;
                self.expect(":")?;
                let layout = self.loopers()?;
                self.expect(";")?;
                file.globals.push(Global { name, thread_local: false, constant: true, layout, init: Init::None });
            }
            "fn" => {
                let function = self.function()?;
                file.functions.push(function);
            }
            "entry" => {
                self.bump();
                let name = self.name("the name of a function")?;
                file.entry_exits = self.eat_word("exit");
                self.expect(";")?;
                if file.entry.is_some() {
                    return self.fail(Diagnostic::new(name.span, "there is a second `entry`").help("remove one"));
                }
                file.entry = Some(name);
            }
            _ => {
                let message = format!("expected a declaration, found `{word}`");
                let mut diagnostic = Diagnostic::new(self.span(), message)
                    .label("expected `fn`, `global`, `thread_local`, `looper`, `param` or `entry`");
                if let Some(guess) = did_you_mean(word, ["fn", "global", "thread_local", "looper", "param", "entry"]) {
                    diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
                } else if matches!(word, "let" | "var") {
                    diagnostic = diagnostic.help("objects outside functions are declared with `global`");
                }
                return self.fail(diagnostic);
            }
        }
        Ok(())
    }

    /// Skips to what may be the next item.
    fn recover_item(&mut self) {
        let mut depth = 0u32;
        loop {
            match *self.peek() {
                Token::End => return,
                Token::Word("fn" | "global" | "thread_local" | "looper") => return,
                Token::Word("param" | "entry") if depth == 0 => return,
                Token::Punct("{") => depth += 1,
                Token::Punct("}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.bump();
                        return;
                    }
                }
                Token::Punct(";") if depth == 0 => {
                    self.bump();
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn global(&mut self, thread_local: bool) -> Parsed<Global<'a>> {
        let constant = self.eat_word("const");
        let name = self.name("the name of the object")?;
        self.expect(":")?;
        let layout = self.layout()?;
        let init = if self.eat("=") {
            if self.eat("{") {
                let mut values = Vec::new();
                while !self.at_punct("}") {
                    values.push(self.expr()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect("}")?;
                Init::List(values)
            } else {
                Init::Value(self.expr()?)
            }
        } else if self.eat("{") {
            let mut fields = Vec::new();
            while !self.at_punct("}") {
                let offset = self.expr()?;
                self.expect(":")?;
                let ty = self.type_name()?;
                fields.push((offset, ty, self.expr()?));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("}")?;
            Init::Fields(fields)
        } else {
            Init::None
        };
        self.expect(";")?;
        Ok(Global { name, thread_local, constant, layout, init })
    }

    pub(super) fn layout(&mut self) -> Parsed<LayoutAst<'a>> {
        let start = self.span();
        Ok(match *self.peek() {
            Token::Word("bytes") => {
                self.bump();
                self.expect("(")?;
                let size = self.expr()?;
                let align = if self.eat(",") { Some(self.expr()?) } else { None };
                self.expect(")")?;
                LayoutAst::Bytes(size, align)
            }
            Token::Word("mutex") => self.object_or_array(LayoutAst::Mutex, Type::I32)?,
            Token::Word("rwlock") => self.object_or_array(LayoutAst::RwLock, Type::I32)?,
            Token::Word("cond") => self.object_or_array(LayoutAst::Cond, Type::I64)?,
            Token::Word("barrier") => {
                self.bump();
                LayoutAst::Barrier(self.in_parentheses()?)
            }
            Token::Word("semaphore") => {
                self.bump();
                LayoutAst::Semaphore(self.in_parentheses()?)
            }
            Token::Word(word) if Type::ALL.iter().all(|ty| ty.name() != word) => {
                let objects = ["bytes", "mutex", "rwlock", "cond", "barrier", "semaphore"];
                if let Some(guess) = did_you_mean(word, objects) {
                    let message = format!("expected a type or a kind of object, found `{word}`");
                    let help = format!("did you mean `{guess}`?");
                    return self.fail(Diagnostic::new(start, message).help(help));
                }
                LayoutAst::Scalar(self.type_name()?)
            }
            _ => {
                let ty = self.type_name()?;
                match self.array_length()? {
                    Some(length) => LayoutAst::Array(ty, length),
                    None => LayoutAst::Scalar(ty),
                }
            }
        })
    }

    /// The kind of mailbox, and how many loopers have one.
    fn loopers(&mut self) -> Parsed<LayoutAst<'a>> {
        let names = Mailbox::ALL.map(Mailbox::name);
        let Token::Word(word) = *self.peek() else { return self.expected("`queue`, `bag` or `stack`") };
        let Some(mailbox) = Mailbox::ALL.into_iter().find(|mailbox| mailbox.name() == word) else {
            let message = format!("`{word}` is no kind of mailbox");
            let label = format!("one of {}", names.join(", "));
            let mut diagnostic = Diagnostic::new(self.span(), message).label(label);
            if let Some(guess) = did_you_mean(word, names) {
                diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
            }
            return self.fail(diagnostic);
        };
        self.bump();
        Ok(LayoutAst::Looper(mailbox, self.array_length()?))
    }

    fn object_or_array(&mut self, object: LayoutAst<'a>, element: Type) -> Parsed<LayoutAst<'a>> {
        self.bump();
        Ok(match self.array_length()? {
            Some(length) => LayoutAst::Array(element, length),
            None => object,
        })
    }

    fn array_length(&mut self) -> Parsed<Option<Ast<'a>>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let length = self.expr()?;
        self.expect("]")?;
        Ok(Some(length))
    }

    fn in_parentheses(&mut self) -> Parsed<Ast<'a>> {
        self.expect("(")?;
        let value = self.expr()?;
        self.expect(")")?;
        Ok(value)
    }

    fn function(&mut self) -> Parsed<Func<'a>> {
        self.bump();
        let name = self.name("the name of the function")?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.at_punct(")") {
            let param = self.name("the name of a parameter, or `)`")?;
            self.expect(":")?;
            params.push((param, self.type_name()?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let ret = if self.eat("->") { Some(self.type_name()?) } else { None };
        let (body, end) = self.block()?;
        Ok(Func { name, params, ret, body, end })
    }
}

/// The span from the start of `a` to the end of `b`, or `a` if they are on different lines.
pub(super) fn join(a: Span, b: Span) -> Span {
    let end = b.column.saturating_add(b.len);
    if a.line == b.line && end > a.column { Span { len: end - a.column, ..a } } else { a }
}
