//! Statements: the structured ones and the simple ones. What gives a value is in [`super::parse_action`].

use super::ast::{Arm, Ast, Name, Stmt, StmtKind, SyncKind};
use super::lexer::Token;
use super::names::{self, did_you_mean};
use super::parser::{MAX_NESTING, Parsed, Parser};
use crate::Type;
use crate::inst::ErrorKind;
use crate::source::{Diagnostic, Span};

/// Cases of a switch, and what it does otherwise.
type Arms<'a> = (Vec<(Vec<Ast<'a>>, Arm<'a>)>, Option<Arm<'a>>);

impl<'a> Parser<'a, '_> {
    /// `{ ... }`, with the place of the closing brace.
    pub(super) fn block(&mut self) -> Parsed<(Vec<Stmt<'a>>, Span)> {
        if self.nesting >= MAX_NESTING {
            let message = format!("statements are nested more than {MAX_NESTING} levels deep");
            return self.fail(Diagnostic::new(self.span(), message).help("move the inner ones to a function"));
        }
        self.expect("{")?;
        self.nesting += 1;
        let body = self.statements();
        self.nesting -= 1;
        let body = body?;
        let end = self.span();
        self.expect("}")?;
        Ok((body, end))
    }

    fn body(&mut self) -> Parsed<Vec<Stmt<'a>>> {
        Ok(self.block()?.0)
    }

    fn statements(&mut self) -> Parsed<Vec<Stmt<'a>>> {
        let mut out = Vec::new();
        loop {
            match *self.peek() {
                Token::Punct("}") | Token::End | Token::Word("fn" | "global" | "thread_local") => return Ok(out),
                Token::Punct(";") => self.bump(),
                _ => {
                    let start = self.span();
                    match self.statement() {
                        Ok(kind) => out.push(Stmt { kind, span: self.since(start) }),
                        Err(failed) if self.report.full() => return Err(failed),
                        Err(_) => self.recover_statement(),
                    }
                }
            }
        }
    }

    /// Skips behind the next `;`, or to the brace that closes this block.
    fn recover_statement(&mut self) {
        let mut depth = 0u32;
        loop {
            match *self.peek() {
                Token::End | Token::Word("fn" | "global" | "thread_local") => return,
                Token::Punct("{") => depth += 1,
                Token::Punct("}") if depth == 0 => return,
                Token::Punct("}") => {
                    depth -= 1;
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

    fn statement(&mut self) -> Parsed<StmtKind<'a>> {
        if self.at_punct("{") {
            return Ok(StmtKind::Block(self.body()?));
        }
        let is_name = match self.peek() {
            Token::Word(word) => !names::is_keyword(word),
            Token::Quoted(_) => true,
            _ => return self.expected("a statement"),
        };
        if is_name {
            return self.named_statement();
        }
        let Token::Word(word) = *self.peek() else { return self.expected("a statement") };
        match word {
            "if" | "while" | "loop" | "do" | "for" | "switch" | "atomic" => {
                self.bump();
                self.compound(word)
            }
            _ => {
                let kind = self.simple(word)?;
                self.expect(";")?;
                Ok(kind)
            }
        }
    }

    /// A statement that starts with a name: a label, an assignment, a call.
    fn named_statement(&mut self) -> Parsed<StmtKind<'a>> {
        match self.peek_at(1) {
            Token::Punct(":") => {
                let name = self.name("a label")?;
                self.bump();
                Ok(StmtKind::Label(name))
            }
            Token::Punct("=") => {
                let name = self.name("a register")?;
                self.bump();
                let value = self.action()?;
                self.expect(";")?;
                Ok(StmtKind::Assign { name, value })
            }
            Token::Punct("(") => {
                let value = self.action()?;
                self.expect(";")?;
                Ok(StmtKind::Do(value))
            }
            Token::Punct("[") => {
                let message = "memory is written by an instruction, not by an assignment";
                self.fail(Diagnostic::new(self.span(), message).help("write `store a[i], value;`"))
            }
            _ => {
                let name = self.name("a statement")?;
                let message = format!("expected a statement, found the name `{}`", name.text);
                let mut diagnostic = Diagnostic::new(name.span, message).label("expected a statement");
                if let Some(guess) = did_you_mean(&name.text, names::KEYWORDS) {
                    diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
                } else {
                    diagnostic = diagnostic.help("a register is assigned with `=`, a label ends with `:`");
                }
                self.fail(diagnostic)
            }
        }
    }

    fn compound(&mut self, word: &str) -> Parsed<StmtKind<'a>> {
        match word {
            "if" => self.conditional(),
            "while" => {
                let cond = self.expr()?;
                Ok(StmtKind::While(cond, self.body()?))
            }
            "loop" if self.at_punct("{") => Ok(StmtKind::Loop(self.body()?)),
            "loop" => {
                let unbounded = matches!(self.peek(), Token::Word("unbounded"));
                if unbounded {
                    self.bump();
                }
                if !self.eat(";") {
                    return self.expected("the body of the loop, or `;`");
                }
                Ok(StmtKind::Turn { unbounded })
            }
            "do" => {
                let body = self.body()?;
                self.expect_word("while")?;
                let cond = self.expr()?;
                self.expect(";")?;
                Ok(StmtKind::DoWhile(body, cond))
            }
            "for" => {
                let name = self.name("the name of the loop's register")?;
                let ty = if self.eat(":") { Some(self.type_name()?) } else { None };
                self.expect_word("in")?;
                let from = self.expr()?;
                if self.at_punct("..=") {
                    let message = "a `for` range excludes its end";
                    return self.fail(Diagnostic::new(self.span(), message).help("write `a..b + 1`"));
                }
                self.expect("..")?;
                let to = self.expr()?;
                Ok(StmtKind::For { name, ty, from, to, body: self.body()? })
            }
            "switch" => {
                let value = self.expr()?;
                let (arms, default) = self.arms()?;
                Ok(StmtKind::Switch { value, arms, default })
            }
            _ => Ok(StmtKind::Atomic(self.body()?)),
        }
    }

    fn conditional(&mut self) -> Parsed<StmtKind<'a>> {
        let cond = self.expr()?;
        if self.eat_word("goto") {
            let then = self.name("a label")?;
            let otherwise = if self.eat_word("else") {
                self.eat_word("goto");
                Some(self.name("a label")?)
            } else {
                None
            };
            self.expect(";")?;
            return Ok(StmtKind::Branch(cond, then, otherwise));
        }
        let mut arms = vec![(cond, self.body()?)];
        while self.eat_word("else") {
            if !self.eat_word("if") {
                return Ok(StmtKind::If(arms, self.body()?));
            }
            let cond = self.expr()?;
            arms.push((cond, self.body()?));
        }
        Ok(StmtKind::If(arms, Vec::new()))
    }

    fn arms(&mut self) -> Parsed<Arms<'a>> {
        self.expect("{")?;
        let mut arms = Vec::new();
        let mut default = None;
        while !self.at_punct("}") {
            let start = self.span();
            if self.eat_word("default") {
                self.expect(":")?;
                let arm = self.arm()?;
                if default.replace(arm).is_some() {
                    self.report.add(Diagnostic::new(start, "this switch has a second `default`").help("remove one"));
                }
                continue;
            }
            let mut values = vec![self.expr()?];
            while self.eat(",") {
                values.push(self.expr()?);
            }
            self.expect(":")?;
            arms.push((values, self.arm()?));
        }
        self.expect("}")?;
        Ok((arms, default))
    }

    fn arm(&mut self) -> Parsed<Arm<'a>> {
        if self.eat_word("goto") {
            let label = self.name("a label")?;
            self.expect(";")?;
            return Ok(Arm::Goto(label));
        }
        if !self.at_punct("{") {
            return self.expected("`{` or `goto`");
        }
        Ok(Arm::Block(self.body()?))
    }

    fn label_opt(&mut self) -> Parsed<Option<Name<'a>>> {
        if self.at_punct(";") { Ok(None) } else { Ok(Some(self.name("the label of a loop, or `;`")?)) }
    }

    fn value_opt(&mut self) -> Parsed<Option<Ast<'a>>> {
        if self.at_punct(";") { Ok(None) } else { Ok(Some(self.expr()?)) }
    }

    /// A statement without a block, up to its `;`.
    fn simple(&mut self, word: &'a str) -> Parsed<StmtKind<'a>> {
        if self.starts_action() {
            return Ok(StmtKind::Do(self.action()?));
        }
        let start = self.span();
        self.bump();
        Ok(match word {
            "let" => {
                let name = self.name("the name of the register")?;
                let ty = if self.eat(":") { Some(self.type_name()?) } else { None };
                let value = if self.eat("=") { Some(self.action()?) } else { None };
                StmtKind::Let { name, ty, value }
            }
            "var" => {
                let name = self.name("the name of the object")?;
                self.expect(":")?;
                let layout = self.layout()?;
                let init = if self.eat("=") { Some(self.expr()?) } else { None };
                StmtKind::Var { name, layout, init }
            }
            "store" => {
                let order = self.order()?;
                let ty = self.type_opt();
                let place = self.place()?;
                self.expect(",")?;
                StmtKind::Store { order, ty, place, value: self.expr()? }
            }
            "fence" => StmtKind::Fence(self.order()?),
            "lock" => {
                let recursive = self.recursive()?;
                StmtKind::Sync(SyncKind::Lock { recursive }, self.place()?)
            }
            "unlock" => StmtKind::Sync(SyncKind::Unlock, self.place()?),
            "rdlock" => StmtKind::Sync(SyncKind::ReadLock, self.place()?),
            "wrlock" => StmtKind::Sync(SyncKind::WriteLock, self.place()?),
            "rwunlock" => StmtKind::Sync(SyncKind::RwUnlock, self.place()?),
            "signal" => StmtKind::Sync(SyncKind::Signal, self.place()?),
            "broadcast" => StmtKind::Sync(SyncKind::Broadcast, self.place()?),
            "sem_wait" => StmtKind::Sync(SyncKind::SemWait, self.place()?),
            "sem_post" => StmtKind::Sync(SyncKind::SemPost, self.place()?),
            "destroy" => StmtKind::Sync(SyncKind::Destroy(Type::I32), self.place()?),
            "destroy_wide" => StmtKind::Sync(SyncKind::Destroy(Type::I64), self.place()?),
            "wait" => {
                let cond = self.place()?;
                self.expect(",")?;
                let mutex = self.place()?;
                StmtKind::CondWait { cond, mutex, timed: self.eat_word("timed") }
            }
            "barrier_init" => {
                let barrier = self.place()?;
                self.expect(",")?;
                StmtKind::BarrierInit(barrier, self.expr()?)
            }
            "free" => {
                let scoped = self.eat_word("scoped");
                StmtKind::Free { ptr: self.expr()?, scoped }
            }
            "assert" => {
                let from = self.at;
                let cond = self.expr()?;
                let condition = self.text_between(from, self.at);
                let message = if self.eat(",") { self.string("a message")? } else { condition };
                StmtKind::Assert(cond, message)
            }
            "assume" => StmtKind::Assume(self.expr()?),
            "error" => {
                let named = |kind: &ErrorKind| kind.name().is_some_and(|name| self.eat_word(name));
                let kind = ErrorKind::ALL.into_iter().find(named).unwrap_or(ErrorKind::Mark);
                let message =
                    if self.at_punct(";") { "error reached".to_owned() } else { self.string("a message, or `;`")? };
                StmtKind::Error(kind, message)
            }
            "print" => {
                let format = self.string("the text to print")?;
                let mut args = Vec::new();
                while self.eat(",") {
                    args.push(self.expr()?);
                }
                StmtKind::Print(format, args)
            }
            "atomic_begin" => StmtKind::AtomicBegin,
            "atomic_end" => StmtKind::AtomicEnd,
            "break" => StmtKind::Break(self.label_opt()?),
            "continue" => StmtKind::Continue(self.label_opt()?),
            "goto" => StmtKind::Goto(self.name("a label")?),
            "spin" => StmtKind::Spin(self.name("a label")?),
            "return" => StmtKind::Return(self.value_opt()?),
            "thread_exit" => StmtKind::ThreadExit(self.value_opt()?),
            "exit" => StmtKind::Exit,
            "unreachable" => StmtKind::Unreachable,
            _ => {
                let mut diagnostic = Diagnostic::new(start, format!("expected a statement, found `{word}`"));
                if word == "else" {
                    diagnostic = diagnostic.help("`else` follows the `}` of an `if`");
                }
                return self.fail(diagnostic);
            }
        })
    }
}
