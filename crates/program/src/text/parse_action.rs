//! Instructions that give a value: what may stand to the right of `=`, or alone.

use super::ast::{Action, Ast, CalleeAst, CasAst, How};
use super::lexer::Token;
use super::names::{did_you_mean, is_float_word};
use super::parser::{Parsed, Parser};
use crate::Ordering;
use crate::inst::{RmwOp, Unwritten};
use crate::partial::Field;
use crate::source::{Diagnostic, Span};

/// Words an action starts with.
const ACTIONS: [&str; 15] = [
    "load",
    "rmw",
    "cas",
    "call",
    "spawn",
    "post",
    "join",
    "thread_id",
    "trylock",
    "tryrdlock",
    "trywrlock",
    "barrier_wait",
    "sem_trywait",
    "alloc",
    "choose",
];

impl<'a> Parser<'a, '_> {
    /// Whether an instruction that gives a value starts here.
    pub(super) fn starts_action(&self) -> bool {
        matches!(self.peek(), Token::Word(word) if ACTIONS.contains(word))
    }

    pub(super) fn action(&mut self) -> Parsed<Action<'a>> {
        let start = self.span();
        if !self.starts_action() {
            let called = matches!(self.peek(), Token::Word(_) | Token::Quoted(_))
                && *self.peek_at(1) == Token::Punct("(")
                && !matches!(self.peek(), Token::Word("zext" | "sext" | "trunc" | "pack" | "unpack" | "splice"))
                && !matches!(self.peek(), Token::Word(word) if is_float_word(word));
            return if called { self.call() } else { Ok(Action::Expr(self.expr()?)) };
        }
        let Token::Word(word) = *self.peek() else { return self.expected("an instruction") };
        self.bump();
        Ok(match word {
            "load" => {
                let order = self.order()?;
                let ty = self.type_opt();
                let place = self.place()?;
                let unwritten = match self.eat_word("or") {
                    false => Unwritten::Error,
                    true if self.eat_word("nothing") => Unwritten::Kept,
                    true => {
                        self.expect_word("zero")?;
                        if self.eat_word("outside") {
                            let shift = self.bit_number()?;
                            self.expect(",")?;
                            Unwritten::Field(Field { shift, width: self.bit_number()? })
                        } else {
                            Unwritten::Zero
                        }
                    }
                };
                let until = if self.eat_word("until") { Some(self.expr()?) } else { None };
                Action::Load { order, ty, place, until, unwritten }
            }
            "rmw" => {
                let op = self.rmw_op(start)?;
                let order = self.order()?;
                let ty = self.type_opt();
                let place = self.place()?;
                self.expect(",")?;
                let operand = self.expr()?;
                let idle = if self.eat_word("until") {
                    Some((self.expr()?, true))
                } else if self.eat_word("unless") {
                    Some((self.expr()?, false))
                } else {
                    None
                };
                Action::Rmw { op, order, ty, place, operand, idle }
            }
            "cas" => {
                let success = self.order()?;
                let failure = if self.at_punct(".") { Some(self.order()?) } else { None };
                let ty = self.type_opt();
                let place = self.place()?;
                self.expect(",")?;
                let expected = self.expr()?;
                self.expect(",")?;
                let desired = self.expr()?;
                let wait = self.eat_word("wait");
                Action::Cas(Box::new(CasAst { success, failure, ty, place, expected, desired, wait }))
            }
            "call" => return self.call(),
            "spawn" => {
                let (callee, args) = self.callee()?;
                Action::Call { callee, args, how: How::Spawn }
            }
            "post" => {
                let (callee, args) = self.callee()?;
                self.expect_word("to")?;
                Action::Call { callee, args, how: How::Post(self.place()?) }
            }
            "join" => Action::Join(self.expr()?),
            "thread_id" => Action::ThreadId,
            "trylock" => {
                let recursive = self.recursive()?;
                Action::TryLock { place: self.place()?, recursive }
            }
            "tryrdlock" => Action::TryRwLock { place: self.place()?, write: false },
            "trywrlock" => Action::TryRwLock { place: self.place()?, write: true },
            "barrier_wait" => Action::BarrierWait(self.place()?),
            "sem_trywait" => Action::SemTryWait(self.place()?),
            "alloc" => {
                let zeroed = self.eat_word("zeroed");
                let scoped = self.eat_word("scoped");
                Action::Alloc { size: self.expr()?, zeroed, scoped }
            }
            _ if self.at_input() => {
                let signed = self.eat_word("signed");
                let mut values = self.eat_word("in").then(Vec::new);
                while let Some(values) = &mut values {
                    let low = self.expr()?;
                    self.expect("..=")?;
                    values.push((low, self.expr()?));
                    if !self.eat(",") {
                        break;
                    }
                }
                Action::Input { signed, values }
            }
            _ => {
                let is_name = matches!(self.peek_at(1), Token::Punct(".." | "..="));
                let mut random = (!is_name && self.eat_word("random")).then(Vec::new);
                let low = self.expr()?;
                let inclusive = self.eat("..=");
                if !inclusive {
                    self.expect("..")?;
                }
                let high = self.expr()?;
                if let Some(weights) = &mut random
                    && self.eat_word("weights")
                {
                    weights.push(self.expr()?);
                    while self.eat(",") {
                        weights.push(self.expr()?);
                    }
                }
                Action::Choose { low, high, inclusive, random }
            }
        })
    }

    /// Whether `choose` is followed by no range.
    fn at_input(&self) -> bool {
        let ends = |token: &Token<'_>| matches!(token, Token::Punct(";") | Token::Word("in"));
        ends(self.peek()) || self.at_word("signed") && ends(self.peek_at(1))
    }

    fn call(&mut self) -> Parsed<Action<'a>> {
        let (callee, args) = self.callee()?;
        Ok(Action::Call { callee, args, how: How::Call })
    }

    /// A function, or a pointer to one, and arguments.
    fn callee(&mut self) -> Parsed<(CalleeAst<'a>, Vec<Ast<'a>>)> {
        let callee = if self.eat("*") {
            let start = self.span();
            let target = if self.eat("(") {
                let inner = self.expr()?;
                self.expect(")")?;
                inner
            } else {
                let name = self.name("a register that holds the address of a function")?;
                Ast { kind: super::ast::Kind::Name(name), span: self.since(start), height: 0 }
            };
            CalleeAst::Indirect(target)
        } else {
            CalleeAst::Direct(self.name("the name of a function, or `*` and a pointer to one")?)
        };
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.at_punct(")") {
            args.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok((callee, args))
    }

    /// `.acq` and the like; relaxed if there is none.
    pub(super) fn order(&mut self) -> Parsed<Ordering> {
        if !self.eat(".") {
            return Ok(Ordering::Relaxed);
        }
        let names = Ordering::ALL.map(Ordering::name);
        let Token::Word(word) = *self.peek() else { return self.expected("an ordering") };
        let spelled = match word {
            "seq_cst" => "sc",
            "acquire" => "acq",
            "release" => "rel",
            "acq_rel" => "acqrel",
            "relaxed" => "rlx",
            word => word,
        };
        match Ordering::ALL.into_iter().find(|order| order.name() == spelled) {
            Some(order) if spelled == word => {
                self.bump();
                Ok(order)
            }
            known => {
                let message = format!("`{word}` is no memory ordering");
                let mut diagnostic =
                    Diagnostic::new(self.span(), message).label(format!("one of {}", names.join(", ")));
                if let Some(guess) = known.map(Ordering::name).or_else(|| did_you_mean(word, names)) {
                    diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
                }
                self.fail(diagnostic)
            }
        }
    }

    fn rmw_op(&mut self, start: Span) -> Parsed<RmwOp> {
        let names = RmwOp::ALL.map(RmwOp::name);
        if !self.eat(".") {
            let message = "`rmw` needs an operation";
            let help = format!("write `rmw.add x, 1`; operations are {}", names.join(", "));
            return self.fail(Diagnostic::new(start, message).help(help));
        }
        let Token::Word(word) = self.peek() else { return self.expected("an operation") };
        match RmwOp::ALL.into_iter().find(|op| op.name() == *word) {
            Some(op) => {
                self.bump();
                Ok(op)
            }
            None => {
                let message = format!("`{word}` is no read-modify-write operation");
                let mut diagnostic =
                    Diagnostic::new(self.span(), message).label(format!("one of {}", names.join(", ")));
                if let Some(guess) = did_you_mean(word, names) {
                    diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
                }
                self.fail(diagnostic)
            }
        }
    }

    /// `.rec` behind `lock` and `trylock`.
    pub(super) fn recursive(&mut self) -> Parsed<bool> {
        if !self.eat(".") {
            return Ok(false);
        }
        if self.eat_word("rec") { Ok(true) } else { self.expected("`rec`") }
    }
}
