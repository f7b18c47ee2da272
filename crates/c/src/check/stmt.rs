//! What do statements do? Labels, cases and loops are matched with what jumps to them.

use super::{Checked, Checker, FunctionState, Switch};
use crate::ctype::Ty;
use crate::parse::Fault;
use crate::syntax;
use crate::token::{Name, Pos};
use crate::tree::{LabelId, Stmt, StmtKind};

impl Checker {
    /// A block in a scope of its own.
    pub(super) fn block(&mut self, items: &[syntax::Stmt]) -> Checked<Vec<Stmt>> {
        self.scoped(|c| {
            let mut out = Vec::new();
            for item in items {
                c.stmt(item, &mut out)?;
            }
            Ok(out)
        })
    }

    fn boxed(&mut self, stmt: &syntax::Stmt) -> Checked<Box<Stmt>> {
        let pos = stmt.pos;
        let mut out = self.block(std::slice::from_ref(stmt))?;
        Ok(Box::new(match out.len() {
            1 => out.remove(0),
            _ => Stmt { kind: StmtKind::Block(out), pos },
        }))
    }

    fn state(&mut self, pos: Pos) -> Checked<&mut FunctionState> {
        self.function.as_mut().ok_or_else(|| Fault::new(pos, "a statement outside of a function"))
    }

    fn loop_body(&mut self, stmt: &syntax::Stmt) -> Checked<Box<Stmt>> {
        let state = self.state(stmt.pos)?;
        state.breaks += 1;
        state.continues += 1;
        let body = self.boxed(stmt);
        let state = self.state(stmt.pos)?;
        state.breaks -= 1;
        state.continues -= 1;
        body
    }

    pub(super) fn stmt(&mut self, stmt: &syntax::Stmt, out: &mut Vec<Stmt>) -> Checked<()> {
        let pos = stmt.pos;
        let kind = match &stmt.kind {
            syntax::StmtKind::Empty => return Ok(()),
            syntax::StmtKind::Asm(asm) => return self.asm(asm, pos, out),
            syntax::StmtKind::StaticAssert(assertion) => return self.static_assert(assertion),
            syntax::StmtKind::Decl(declaration) => return self.local_declaration(declaration, out),
            syntax::StmtKind::Expr(expr) => {
                let value = self.expr(expr)?;
                // An object read for nothing is read nevertheless if it is volatile or atomic.
                let read = value.ty.quals.volatile || value.ty.quals.atomic;
                StmtKind::Expr(if read { self.rvalue(value)? } else { value })
            }
            syntax::StmtKind::Block(items) => StmtKind::Block(self.block(items)?),
            syntax::StmtKind::If(cond, then, otherwise) => {
                let cond = self.condition(cond)?;
                let known = self.known_int(&cond).map(|bits| bits != 0);
                let dead = |stmt: &syntax::Stmt, when: bool| known == Some(when) && !can_be_jumped_to(stmt);
                let (then_dead, otherwise_dead) =
                    (dead(then, false), otherwise.as_ref().is_some_and(|stmt| dead(stmt, true)));
                let then = self.boxed(then)?;
                let otherwise = otherwise.as_ref().map(|s| self.boxed(s)).transpose()?;
                // Functions that are declared to be missed by the linker are called where no control comes.
                let then = if then_dead { Box::new(Stmt { kind: StmtKind::Block(Vec::new()), pos }) } else { then };
                StmtKind::If(cond, then, otherwise.filter(|_| !otherwise_dead))
            }
            syntax::StmtKind::While(cond, body) => {
                let cond = self.condition(cond)?;
                StmtKind::While(cond, self.loop_body(body)?)
            }
            syntax::StmtKind::DoWhile(body, cond) => {
                let body = self.loop_body(body)?;
                StmtKind::DoWhile(body, self.condition(cond)?)
            }
            syntax::StmtKind::For { init, cond, step, body } => {
                return self.scoped(|c| {
                    let mut first = Vec::new();
                    if let Some(init) = init {
                        c.stmt(init, &mut first)?;
                    }
                    let cond = cond.as_ref().map(|e| c.condition(e)).transpose()?;
                    let step = step.as_ref().map(|e| c.expr(e)).transpose()?;
                    let body = c.loop_body(body)?;
                    out.push(Stmt { kind: StmtKind::For { init: first, cond, step, body }, pos });
                    Ok(())
                });
            }
            syntax::StmtKind::Switch(subject, body) => self.switch(subject, body)?,
            syntax::StmtKind::Case(low, high, body) => {
                self.case(low, high.as_ref(), pos, out)?;
                return self.stmt(body, out);
            }
            syntax::StmtKind::Default(body) => {
                let switch = self.state(pos)?.switches.last_mut();
                match switch {
                    Some(Switch { has_default, .. }) if !*has_default => *has_default = true,
                    Some(_) => return Err(Fault::new(pos, "a second `default` in one switch")),
                    None => return Err(Fault::new(pos, "`default` outside of a switch")),
                }
                out.push(Stmt { kind: StmtKind::Case(None), pos });
                return self.stmt(body, out);
            }
            syntax::StmtKind::Goto(label) => StmtKind::Goto(self.label(label, pos, false)?),
            syntax::StmtKind::GotoValue(target) => {
                let target = self.rvalue_of(target)?;
                if !matches!(target.ty.ty, Ty::Ptr(_)) {
                    return Err(Fault::new(pos, "a computed goto goes where a pointer says"));
                }
                StmtKind::GotoValue(target)
            }
            syntax::StmtKind::Label(label, body) => {
                let label = self.label(label, pos, true)?;
                out.push(Stmt { kind: StmtKind::Label(label), pos });
                return self.stmt(body, out);
            }
            syntax::StmtKind::Continue => {
                if self.state(pos)?.continues == 0 {
                    return Err(Fault::new(pos, "`continue` outside of a loop"));
                }
                StmtKind::Continue
            }
            syntax::StmtKind::Break => {
                if self.state(pos)?.breaks == 0 {
                    return Err(Fault::new(pos, "`break` outside of a loop or switch"));
                }
                StmtKind::Break
            }
            syntax::StmtKind::Return(value) => self.return_statement(value.as_ref(), pos)?,
        };
        out.push(Stmt { kind, pos });
        Ok(())
    }

    fn return_statement(&mut self, value: Option<&syntax::Expr>, pos: Pos) -> Checked<StmtKind> {
        let ret = self.state(pos)?.ret.clone();
        let Some(value) = value else { return Ok(StmtKind::Return(None)) };
        let value = self.expr(value)?;
        if ret.ty == Ty::Void {
            if value.ty.ty != Ty::Void {
                return Err(Fault::new(pos, "a function without a result returns a value"));
            }
            return Ok(StmtKind::Return(Some(value)));
        }
        let value = self.rvalue(value)?;
        Ok(StmtKind::Return(Some(self.convert(value, &ret.ty)?)))
    }

    /// The value of `&&name`.
    pub(super) fn label_address(&mut self, name: &Name, pos: Pos) -> Checked<u64> {
        let label = self.label(name, pos, false)?;
        Ok(label.address(self.state(pos)?.id))
    }

    /// The label of this name, which is said to stand here or not.
    pub(super) fn label_of(&mut self, name: &Name, pos: Pos, defines: bool) -> Checked<LabelId> {
        self.label(name, pos, defines)
    }

    /// How many labels the function has so far.
    pub(super) fn label_count(&mut self, pos: Pos) -> Checked<usize> {
        Ok(self.state(pos)?.labels.len())
    }

    fn label(&mut self, name: &Name, pos: Pos, defines: bool) -> Checked<LabelId> {
        let labels = &mut self.state(pos)?.labels;
        let fresh = LabelId(labels.len() as u32);
        let (id, defined, _) = labels.entry(name.clone()).or_insert((fresh, false, pos));
        if defines && std::mem::replace(defined, true) {
            return Err(Fault::new(pos, format!("the label `{name}` stands twice in this function")));
        }
        Ok(*id)
    }

    fn switch(&mut self, subject: &syntax::Expr, body: &syntax::Stmt) -> Checked<StmtKind> {
        let subject = self.rvalue_of(subject)?;
        let subject = self.promote(subject)?;
        let Some(kind) = subject.ty.ty.int() else {
            return Err(Fault::new(subject.pos, "a `switch` over an integer of 128 bits is not supported"));
        };
        let state = self.state(body.pos)?;
        state.switches.push(Switch { kind, cases: Vec::new(), has_default: false });
        state.breaks += 1;
        let body = self.boxed(body)?;
        let state = self.state(body.pos)?;
        state.breaks -= 1;
        let switch = state.switches.pop().expect("pushed above");
        Ok(StmtKind::Switch { subject, cases: switch.cases, body })
    }

    fn case(&mut self, low: &syntax::Expr, high: Option<&syntax::Expr>, pos: Pos, out: &mut Vec<Stmt>) -> Checked<()> {
        let Some(kind) = self.state(pos)?.switches.last().map(|s| s.kind) else {
            return Err(Fault::new(pos, "`case` outside of a switch"));
        };
        let bound = |c: &mut Self, expr: &syntax::Expr| {
            let value = c.rvalue_of(expr)?;
            let value = c.scalar(value)?;
            let value = c.convert(value, &Ty::Int(kind))?;
            match c.evaluate(&value) {
                Ok(crate::tree::Constant::Int(bits)) => Ok(bits),
                _ => Err(Fault::new(expr.pos, "a case must be an integer constant").label("not a constant")),
            }
        };
        let from = bound(self, low)?;
        let to = high.map(|expr| bound(self, expr)).transpose()?.unwrap_or(from);
        // Compared as numbers of the subject's sign: flipping the top bit makes the order unsigned.
        let flip = if kind.signed() { 1u64 << (8 * kind.size(self.types.model) - 1) } else { 0 };
        let (order_from, order_to) = (from ^ flip, to ^ flip);
        let switch = self.state(pos)?.switches.last_mut().expect("seen above");
        let overlaps = switch.cases.iter().any(|&(a, b)| order_from <= b ^ flip && a ^ flip <= order_to);
        if overlaps && order_from <= order_to {
            return Err(Fault::new(pos, "this value has a case already"));
        }
        switch.cases.push((from, to));
        let index = switch.cases.len() as u32 - 1;
        out.push(Stmt { kind: StmtKind::Case(Some(index)), pos });
        Ok(())
    }
}

/// Whether there are labels or cases in a statement.
fn can_be_jumped_to(stmt: &syntax::Stmt) -> bool {
    use syntax::StmtKind::{Block, Case, Default, DoWhile, For, If, Label, Switch, While};
    match &stmt.kind {
        Label(..) | Case(..) | Default(_) => true,
        Block(items) => items.iter().any(can_be_jumped_to),
        If(_, then, otherwise) => {
            can_be_jumped_to(then) || otherwise.as_ref().is_some_and(|stmt| can_be_jumped_to(stmt))
        }
        While(_, body) | DoWhile(body, _) | For { body, .. } | Switch(_, body) => can_be_jumped_to(body),
        _ => false,
    }
}
