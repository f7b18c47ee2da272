//! Statements become blocks.

use super::Lowered;
use super::function::{Exit, FnLowerer, Home, Return};
use super::memory::Place;
use super::value::{binary, offset, settled};
use crate::ctype::{IntKind, Ty};
use crate::token::Pos;
use crate::tree::{Expr, FnId, Init, LabelId, Stmt, StmtKind, VarId};
use raddle_program::{self as ir, BinOp, BlockId, ErrorKind, Op, Ordering, Term, Type, Unwritten};

/// Case ranges with more values than this are tested by comparison.
const MAX_LISTED: u64 = 64;

impl FnLowerer<'_, '_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Lowered<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn goto(&mut self, block: BlockId) {
        self.b.terminate(Term::Goto(block));
    }

    fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        self.at(stmt.pos);
        match &stmt.kind {
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Block(stmts) => self.block(stmts),
            StmtKind::Decl(id, init) => self.declaration(*id, init.as_ref(), stmt.pos),
            StmtKind::Cleanup(call) => self.clean_up_later(call),
            StmtKind::If(cond, then, otherwise) => {
                let (yes, done) = (self.b.block(), self.b.block());
                let no = if otherwise.is_some() { self.b.block() } else { done };
                self.branch(cond, yes, no)?;
                self.b.switch_to(yes);
                self.stmt(then)?;
                self.goto(done);
                if let Some(otherwise) = otherwise {
                    self.b.switch_to(no);
                    self.stmt(otherwise)?;
                    self.goto(done);
                }
                self.b.switch_to(done);
                Ok(())
            }
            StmtKind::While(cond, body) => {
                let (head, turn, done) = (self.b.block(), self.b.block(), self.b.block());
                self.goto(head);
                self.b.switch_to(head);
                self.branch(cond, turn, done)?;
                self.b.switch_to(turn);
                self.begin_turn(stmt.pos);
                self.loop_body(body, done, head)?;
                self.at(stmt.pos);
                self.goto(head);
                self.b.switch_to(done);
                Ok(())
            }
            StmtKind::DoWhile(body, cond) => {
                let (turn, test, done) = (self.b.block(), self.b.block(), self.b.block());
                self.goto(turn);
                self.b.switch_to(turn);
                self.begin_turn(stmt.pos);
                self.loop_body(body, done, test)?;
                self.goto(test);
                self.b.switch_to(test);
                self.branch(cond, turn, done)?;
                self.b.switch_to(done);
                Ok(())
            }
            StmtKind::For { init, cond, step, body } => {
                self.open_scope(init, std::slice::from_ref(stmt));
                self.stmts(init)?;
                let (head, turn, next, done) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
                self.goto(head);
                self.b.switch_to(head);
                match cond {
                    Some(cond) => self.branch(cond, turn, done)?,
                    None => self.goto(turn),
                }
                self.b.switch_to(turn);
                self.begin_turn(stmt.pos);
                self.loop_body(body, done, next)?;
                self.goto(next);
                self.b.switch_to(next);
                if let Some(step) = step {
                    self.at(step.pos);
                    self.effect(step)?;
                }
                self.goto(head);
                self.b.switch_to(done);
                self.close_scope()
            }
            StmtKind::Switch { subject, cases, body } => self.switch(subject, cases, body),
            StmtKind::Case(index) => {
                let (cases, default) = self.top().switches.last().expect("checked: inside of a switch");
                let block = match index {
                    Some(index) => cases[*index as usize],
                    None => *default,
                };
                self.goto(block);
                self.b.switch_to(block);
                Ok(())
            }
            StmtKind::Label(label) => {
                let block = self.label(*label);
                self.goto(block);
                self.b.switch_to(block);
                Ok(())
            }
            StmtKind::Goto(label) => {
                let block = self.label(*label);
                // Blocks with labels in them have no objects of their own, so it goes out of all that have.
                self.leave_scopes(0)?;
                self.goto(block);
                Ok(())
            }
            StmtKind::GotoValue(target) => {
                let target = self.value(target)?;
                self.at(stmt.pos);
                self.leave_scopes(0)?;
                let (block, dst) = match self.dispatch {
                    Some(known) => known,
                    None => *self.dispatch.insert((self.b.block(), self.b.reg("target", Type::Ptr))),
                };
                self.b.push(Op::Assign { dst, value: target });
                self.goto(block);
                Ok(())
            }
            StmtKind::Break => {
                let (block, depth) = *self.top().breaks.last().expect("checked: inside of a loop or switch");
                self.leave_scopes(depth)?;
                self.goto(block);
                Ok(())
            }
            StmtKind::Continue => {
                let (block, depth) = *self.top().continues.last().expect("checked: inside of a loop");
                self.leave_scopes(depth)?;
                self.goto(block);
                Ok(())
            }
            StmtKind::Return(value) => self.return_(value.as_ref(), stmt.pos),
        }
    }

    /// The one place from which computed gotos go to labels, so that loops of them have one head.
    pub(super) fn dispatch_labels(&mut self, function: FnId, labels: u32) {
        let Some((block, target)) = self.dispatch else { return };
        self.b.switch_to(block);
        for label in (0..labels).map(LabelId) {
            let (there, next) = (self.label(label), self.b.block());
            let address = ir::Expr::Const(Type::Ptr, label.address(function));
            self.b.terminate(Term::If(ir::Expr::eq(ir::Expr::Reg(target), address), there, next));
            self.b.switch_to(next);
        }
        self.b.push(Op::Error {
            kind: ErrorKind::Memory,
            message: "a goto to what is no label of the function".to_owned(),
        });
        self.b.terminate(Term::Exit);
    }

    /// The current block is where the body of a loop starts. Loops of library functions have no bound.
    fn begin_turn(&mut self, pos: Pos) {
        self.at(pos);
        self.b.begin_turn(self.nesting > 0);
    }

    fn loop_body(&mut self, body: &Stmt, done: BlockId, next: BlockId) -> Lowered<()> {
        let depth = self.top().scopes.len();
        self.top().breaks.push((done, depth));
        self.top().continues.push((next, depth));
        self.stmt(body)?;
        self.top().breaks.pop();
        self.top().continues.pop();
        Ok(())
    }

    fn declaration(&mut self, id: VarId, init: Option<&Init>, pos: Pos) -> Lowered<()> {
        if let Some(Init::Value(value)) = init
            && self.make_array(id, value)?
        {
            return Ok(());
        }
        if !self.make_scoped(id)? {
            self.declare(id)?;
        }
        let ty = self.program.checker.var(id).ty.clone();
        if let Some(Home::Reg(dst)) = self.homes.get(&id)
            && self.nesting == 0
        {
            // From here on it has no value; see `unset`.
            let dst = *dst;
            self.variables.push(dst);
            self.b.push(Op::Assign { dst, value: ir::Expr::Reg(dst) });
        }
        match (self.homes.get(&id).cloned(), init) {
            (Some(Home::Reg(dst)), Some(Init::Value(value))) => {
                let value = self.value(value)?;
                self.at(pos);
                self.set(dst, value);
            }
            (Some(Home::Local(local)), Some(init)) => self.initialise(ir::Expr::Local(local), &ty, init)?,
            (Some(Home::Made(reg)), Some(init)) => self.initialise(ir::Expr::Reg(reg), &ty, init)?,
            _ => {}
        }
        Ok(())
    }

    fn return_(&mut self, value: Option<&Expr>, pos: Pos) -> Lowered<()> {
        let exit = self.top().exit.clone();
        let ret = self.top().ret.clone();
        if let Exit::Inline { end, result } = exit {
            if let Some(value) = value {
                let value = if ret.ty == Ty::Void {
                    self.effect(value)?;
                    None
                } else {
                    Some(self.value(value)?)
                };
                if let (Some(dst), Some(value)) = (result, value) {
                    self.b.push(Op::Assign { dst, value });
                }
            }
            self.goto(end);
            return Ok(());
        }
        let how = self.ret.clone();
        let value = match (&how, value) {
            (Return::Nothing, Some(value)) => {
                self.effect(value)?;
                None
            }
            (Return::Scalar(_), Some(value)) => Some(self.value(value)?),
            (Return::Single(leaf), Some(value)) => {
                let from = offset(self.record(value)?, leaf.offset);
                Some(self.load_part(from, leaf.ty, Ordering::NonAtomic, Unwritten::Kept))
            }
            (Return::Through, Some(value)) => {
                let from = self.record(value)?;
                let to = self.through.clone().expect("a function that returns through a pointer has one");
                self.copy(to, from, &ret)?;
                None
            }
            (_, None) => self.missing_value()?,
        };
        self.at(pos);
        self.leave_scopes(0)?;
        if self.main {
            let value = value.map(|value| self.hold("status", value));
            self.run_handlers(pos)?;
            self.leave(value);
            return Ok(());
        }
        self.leave(value);
        Ok(())
    }

    fn switch(&mut self, subject: &Expr, cases: &[(u64, u64)], body: &Stmt) -> Lowered<()> {
        let value = self.value(subject)?;
        let ty = self.scalar(&subject.ty)?;
        let signed = subject.ty.ty.int().is_some_and(IntKind::signed);
        let value = if cases.iter().any(|(a, b)| a != b) { self.hold("subject", value) } else { value };
        let value = settled(&mut self.b, value);
        let blocks: Vec<BlockId> = cases.iter().map(|_| self.b.block()).collect();
        let (default, done) = (self.b.block(), self.b.block());
        let mut listed = Vec::new();
        for (&(low, high), &block) in cases.iter().zip(&blocks) {
            let less = if signed { BinOp::SLe } else { BinOp::ULe };
            if BinOp::apply(less, ty, low, high) != Some(1) {
                continue;
            }
            let count = ty.truncate(high.wrapping_sub(low));
            if count < MAX_LISTED {
                listed.extend((0..=count).map(|i| (ty.truncate(low.wrapping_add(i)), block)));
                continue;
            }
            let above = binary(less, ir::Expr::Const(ty, low), value.clone());
            let below = binary(less, value.clone(), ir::Expr::Const(ty, high));
            let next = self.b.block();
            self.b.terminate(Term::If(binary(BinOp::And, above, below), block, next));
            self.b.switch_to(next);
        }
        let has_default = contains_default(body);
        let otherwise = if has_default { default } else { done };
        match &value {
            ir::Expr::Const(_, known) => {
                let target = listed.iter().find(|(v, _)| v == known).map_or(otherwise, |(_, block)| *block);
                self.goto(target);
            }
            _ => self.b.terminate(Term::Switch(value, listed, otherwise)),
        }
        // What stands before the first case is reached by nobody but labels.
        let before = self.b.block();
        self.b.switch_to(before);
        self.top().switches.push((blocks, default));
        let depth = self.top().scopes.len();
        self.top().breaks.push((done, depth));
        self.stmt(body)?;
        self.top().breaks.pop();
        self.top().switches.pop();
        self.goto(done);
        self.b.switch_to(done);
        Ok(())
    }

    /// Writes a scalar object that is in a register or in memory.
    pub(super) fn put(&mut self, object: &Expr, value: ir::Expr) -> Lowered<Place> {
        let place = self.place(object)?;
        self.write(&place, &object.ty, value)?;
        Ok(place)
    }
}

/// Whether the body of a switch has its default, not counting inner switches.
fn contains_default(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Case(None) => true,
        StmtKind::Block(stmts) => stmts.iter().any(contains_default),
        StmtKind::If(_, a, b) => contains_default(a) || b.as_ref().is_some_and(|b| contains_default(b)),
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For { body, .. } => contains_default(body),
        _ => false,
    }
}
