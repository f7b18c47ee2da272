//! Structured statements: conditions, loops, switches, and the jumps out of them.

use super::ast::{Arm, Ast, Kind, Name, Stmt};
use super::lower_body::{Body, Loop};
use super::lower_expr::literal;
use crate::expr::{BinOp, Expr};
use crate::inst::{Op, Term};
use crate::program::BlockId;
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use rustc_hash::FxHashMap;

impl Body<'_, '_> {
    pub(super) fn conditional(&mut self, arms: &[(Ast<'_>, Vec<Stmt<'_>>)], otherwise: &[Stmt<'_>]) -> Option<()> {
        let end = self.block();
        for (cond, body) in arms {
            self.span = cond.span;
            let cond = self.expr_as(cond, Type::I1).unwrap_or(Expr::bool(true));
            let (then, next) = (self.block(), self.block());
            self.terminate(Term::If(cond, then, next));
            self.place(then);
            self.scoped(body);
            self.terminate(Term::Goto(end));
            self.place(next);
        }
        self.scoped(otherwise);
        self.place(end);
        Some(())
    }

    /// The body of a loop whose test has just been made.
    pub(super) fn turn(
        &mut self,
        label: Option<String>,
        inside: BlockId,
        next: BlockId,
        leave: BlockId,
        body: &[Stmt<'_>],
    ) {
        self.place(inside);
        self.begin_turn(false);
        self.in_loop(label, next, leave, body);
    }

    pub(super) fn in_loop(&mut self, label: Option<String>, next: BlockId, leave: BlockId, body: &[Stmt<'_>]) {
        self.loops.push(Loop { label, leave, next, atomic: self.atomic });
        self.scoped(body);
        self.loops.pop();
    }

    pub(super) fn count(
        &mut self,
        label: Option<String>,
        name: &Name<'_>,
        ty: Option<Type>,
        from: &Ast<'_>,
        to: &Ast<'_>,
        body: &[Stmt<'_>],
    ) -> Option<()> {
        let start = self.span;
        let ty = ty.or(self.own_type(from)).or(self.own_type(to)).unwrap_or(Type::I32);
        let bounds = (self.expr_as(from, ty), self.expr_as(to, ty));
        self.scopes.push(FxHashMap::default());
        let reg = self.declare(name, ty);
        if let (Some(from), Some(to), Some(reg)) = (bounds.0, bounds.1, reg) {
            self.push(Op::Assign { dst: reg, value: from });
            let to = match to {
                Expr::Const(..) => to,
                to => {
                    let end = self.new_reg(&format!("{}.end", name.text), ty);
                    self.push(Op::Assign { dst: end, value: to });
                    Expr::Reg(end)
                }
            };
            let (head, inside, next, leave) = (self.block(), self.block(), self.block(), self.block());
            self.place(head);
            self.terminate(Term::If(Expr::binary(BinOp::SLt, Expr::Reg(reg), to), inside, leave));
            self.turn(label, inside, next, leave, body);
            self.place(next);
            self.span = start;
            let value = Expr::binary(BinOp::Add, Expr::Reg(reg), Expr::int(ty, 1));
            self.push(Op::Assign { dst: reg, value });
            self.terminate(Term::Goto(head));
            self.place(leave);
        } else {
            self.scoped(body);
        }
        self.scopes.pop();
        Some(())
    }

    pub(super) fn switch(
        &mut self,
        value: &Ast<'_>,
        arms: &[(Vec<Ast<'_>>, Arm<'_>)],
        default: Option<&Arm<'_>>,
    ) -> Option<()> {
        let (value, ty) = self.expr(value, None)?;
        let end = self.block();
        let mut cases = Vec::new();
        let mut bodies: Vec<(BlockId, &[Stmt<'_>])> = Vec::new();
        for (values, arm) in arms {
            let target = self.arm(arm, &mut bodies);
            for value in values {
                let number = match value.kind {
                    Kind::Bool(value) => Some(i128::from(value)),
                    _ => self.items.const_value(value, "the value of a case", self.report),
                };
                if let Some(value) = number.and_then(|number| literal(number, ty, value.span, self.report)) {
                    cases.push((value, target));
                }
            }
        }
        let otherwise = default.map_or(end, |arm| self.arm(arm, &mut bodies));
        self.terminate(Term::Switch(value, cases, otherwise));
        for (block, body) in bodies {
            self.place(block);
            self.scoped(body);
            self.terminate(Term::Goto(end));
        }
        self.place(end);
        Some(())
    }

    fn arm<'b>(&mut self, arm: &'b Arm<'b>, bodies: &mut Vec<(BlockId, &'b [Stmt<'b>])>) -> BlockId {
        match arm {
            Arm::Goto(name) => self.label(name),
            Arm::Block(body) => {
                let block = self.block();
                bodies.push((block, body));
                block
            }
        }
    }

    pub(super) fn jump(&mut self, name: Option<&Name<'_>>, span: Span, leave: bool) -> Option<()> {
        let word = if leave { "break" } else { "continue" };
        let found = match name {
            Some(name) => self.loops.iter().rev().find(|l| l.label.as_deref() == Some(&*name.text)),
            None => self.loops.last(),
        };
        let Some(found) = found else {
            let diagnostic = match name {
                Some(name) => Diagnostic::new(name.span, format!("no loop around this is labelled `{}`", name.text))
                    .help(format!("put `{}:` directly before the loop", name.text)),
                None => Diagnostic::new(span, format!("`{word}` outside of a loop")),
            };
            self.report.add(diagnostic);
            return None;
        };
        let (target, atomic) = (if leave { found.leave } else { found.next }, found.atomic);
        self.end_atomic(atomic);
        self.terminate(Term::Goto(target));
        Some(())
    }

    /// Ends the atomic blocks that a jump leaves.
    pub(super) fn end_atomic(&mut self, outer: u32) {
        for _ in outer..self.atomic {
            self.push(Op::AtomicEnd);
        }
    }

    pub(super) fn leave(&mut self, value: Option<&Ast<'_>>) -> Option<()> {
        let value = match (self.function.ret, value) {
            (None, None) => None,
            (Some(ty), Some(value)) => Some(self.expr_as(value, ty)?),
            (None, Some(value)) => {
                let message = format!("`{}` returns nothing", self.function.name);
                let help = "declare what it returns: `fn f() -> i32`";
                self.report.add(Diagnostic::new(value.span, message).help(help));
                return None;
            }
            (Some(ty), None) => {
                let message = format!("`{}` returns a value of type `{ty}`", self.function.name);
                self.report.add(Diagnostic::new(self.span, message).help("write `return value;`"));
                return None;
            }
        };
        self.end_atomic(0);
        self.terminate(Term::Return(value));
        Some(())
    }
}
