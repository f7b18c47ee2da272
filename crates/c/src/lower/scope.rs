//! When does the life of a block's variable end? Objects of blocks that somebody may still point at when the block is left.
//!
//! A local object lives in its function's activation: it is made on entry and ends on return. That is too long for a variable of an inner block
//! (C11 6.2.4p6) if a pointer to it survives the block, and it is one object where C has a new one each time the block is entered. So such a
//! variable is an object of its own, made where its declaration is met and ended on every way out of its block: at its end, by `break`, `continue`,
//! `goto`, `return`.
//!
//! Whether a pointer may survive is read off the text: the address is taken and not just followed (`a[i]`, `s.x`) or handed to a library function that does not
//! keep it. Variables of blocks that control can jump into (labels, cases of a switch around) are left in the activation, and so are
//! compound literals and what statement expressions declare: they live too long, but they are never missing. So is what `alloca` makes.
//!
//! Arrays of variable length are such objects anyway. On the same ways out the functions are called that `__attribute__((cleanup))` names, where the variable is certain to have been
//! declared.

use super::Lowered;
use super::function::{FnLowerer, Home};
use crate::check::Origin;
use crate::ctype::{IntKind, Ty};
use crate::parse::Fault;
use crate::tree::{Body, Builtin, Expr, ExprKind, Stmt, StmtKind, VarId};
use crate::walk::each_in;
use raddle_program::{self as ir, BinOp, ErrorKind, Op, Reg, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// A block whose variables are objects of their own.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Control can jump into it, so it is not known on a way out which of its objects have been made.
    jumped_into: bool,
    /// Those that will be, once they are declared.
    candidates: FxHashSet<VarId>,
    /// What there is to be done when it is left, because of what has been declared; in reverse.
    endings: Vec<Ending>,
}

/// Something that is done when a block is left.
#[derive(Clone, Debug)]
enum Ending {
    /// The object at the address in the register ends.
    Object(Reg),
    /// This is called.
    Call(Expr),
}

/// Which variables of a body may be pointed at by something that lives longer than they do.
pub(super) fn outlived(lowerer: &mut FnLowerer<'_, '_>, body: &Body) -> FxHashSet<VarId> {
    let (mut taken, mut harmless) = (FxHashMap::default(), FxHashMap::default());
    let count = |counts: &mut FxHashMap<VarId, u32>, pointer: &Expr| {
        if let ExprKind::AddrOf(object) = &peeled(pointer).kind
            && let Some(id) = super::function::root(object)
        {
            *counts.entry(id).or_default() += 1;
        }
    };
    each_in(&body.stmts, &mut |expr| match &expr.kind {
        ExprKind::AddrOf(_) => count(&mut taken, expr),
        ExprKind::Deref(pointer) => match &peeled(pointer).kind {
            ExprKind::PtrAdd { ptr, .. } => count(&mut harmless, ptr),
            _ => count(&mut harmless, pointer),
        },
        ExprKind::Call(callee, args) => {
            for (index, arg) in args.iter().enumerate() {
                if !lowerer.keeps(callee, index) {
                    count(&mut harmless, arg);
                }
            }
        }
        _ => {}
    });
    taken.into_iter().filter(|(id, times)| harmless.get(id).is_none_or(|h| h < times)).map(|(id, _)| id).collect()
}

/// Without conversions.
fn peeled(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Convert(inner) => peeled(inner),
        _ => expr,
    }
}

/// Whether control may come into these statements otherwise than at their beginning.
fn is_jumped_into(stmts: &[Stmt]) -> bool {
    let mut found = stmts.iter().any(|stmt| has_entry(stmt, true));
    each_in(stmts, &mut |expr| {
        if let ExprKind::StmtExpr(inner, _) = &expr.kind {
            found |= inner.iter().any(|stmt| has_entry(stmt, true));
        }
    });
    found
}

/// Whether there is a label here, or a case of a switch that is further out.
fn has_entry(stmt: &Stmt, cases: bool) -> bool {
    match &stmt.kind {
        StmtKind::Label(_) => true,
        StmtKind::Case(_) => cases,
        StmtKind::Block(stmts) => stmts.iter().any(|stmt| has_entry(stmt, cases)),
        StmtKind::If(_, then, otherwise) => {
            has_entry(then, cases) || otherwise.as_ref().is_some_and(|stmt| has_entry(stmt, cases))
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For { body, .. } => has_entry(body, cases),
        StmtKind::Switch { body, .. } => has_entry(body, false),
        _ => false,
    }
}

impl FnLowerer<'_, '_> {
    /// Whether the callee may keep this argument longer than the call lasts.
    fn keeps(&mut self, callee: &Expr, index: usize) -> bool {
        let ExprKind::AddrOf(function) = &peeled(callee).kind else { return true };
        let ExprKind::Func(id) = function.kind else { return true };
        let func = self.program.checker.func(id);
        let (name, defined, pointer) = (func.name.clone(), func.def.is_some(), matches!(func.ty.ret.ty, Ty::Ptr(_)));
        let known = !defined && self.program.checker.function_named(&name, Origin::Library).is_some();
        let arrives = match &*name {
            "pthread_create" => index == 3,
            "thrd_create" => index == 2,
            "pthread_setspecific" | "tss_set" => true,
            _ => false,
        };
        !known || arrives || pointer
    }

    /// The statements of a block, and the ends of its variables' lives.
    pub(super) fn block(&mut self, stmts: &[Stmt]) -> Lowered<()> {
        self.open_scope(stmts, stmts);
        self.stmts(stmts)?;
        self.close_scope()
    }

    /// The statements of an expression, which may be evaluated or not: nothing of theirs is ended with the block around.
    pub(super) fn in_expression(&mut self, stmts: &[Stmt]) -> Lowered<()> {
        self.top().scopes.push(Scope { jumped_into: true, ..Scope::default() });
        let done = self.stmts(stmts);
        self.top().scopes.pop();
        done
    }

    /// A block begins: `declared` are the statements that may declare variables of it, `all` those that may be jumped into.
    pub(super) fn open_scope(&mut self, declared: &[Stmt], all: &[Stmt]) {
        let mut scope = Scope { jumped_into: is_jumped_into(all), ..Scope::default() };
        if self.nesting == 0 && !scope.jumped_into {
            scope.candidates.extend(declared.iter().filter_map(|stmt| match &stmt.kind {
                StmtKind::Decl(id, _) if self.outlived.contains(id) => Some(*id),
                _ => None,
            }));
        }
        self.top().scopes.push(scope);
    }

    /// The end of a block that control reaches from within.
    pub(super) fn close_scope(&mut self) -> Lowered<()> {
        let depth = self.top().scopes.len() - 1;
        self.leave_scopes(depth)?;
        self.top().scopes.pop();
        Ok(())
    }

    /// Control goes out of all blocks but so many of the outermost.
    pub(super) fn leave_scopes(&mut self, depth: usize) -> Lowered<()> {
        let endings: Vec<Ending> = self.top().scopes[depth..].iter().flat_map(|scope| scope.endings.clone()).collect();
        for ending in endings.into_iter().rev() {
            match ending {
                Ending::Object(reg) => self.b.push(Op::Free { ptr: ir::Expr::Reg(reg), scoped: true }),
                Ending::Call(call) => {
                    self.at(call.pos);
                    self.effect(&call)?;
                }
            }
        }
        Ok(())
    }

    /// The block that the statement is in has something to be called when it is left.
    pub(super) fn clean_up_later(&mut self, call: &Expr) -> Lowered<()> {
        match self.top().scopes.last_mut() {
            Some(scope) if !scope.jumped_into => {
                scope.endings.push(Ending::Call(call.clone()));
                Ok(())
            }
            _ => {
                let message = "`cleanup` is not supported in a block that control can jump into, or in an expression";
                Err(Fault::new(call.pos, message))
            }
        }
    }

    /// An array of variable length, if the variable that is declared with this value is one: the size in bytes is given.
    pub(super) fn make_array(&mut self, id: VarId, value: &Expr) -> Lowered<bool> {
        let ExprKind::Builtin(Builtin::Alloca, args) = &value.kind else { return Ok(false) };
        if !self.program.checker.is_variable_array(id) {
            return Ok(false);
        }
        let size = self.value(&args[0])?;
        let size = self.converted(size, &args[0].ty.ty, &Ty::Int(IntKind::ULLong));
        let dst = self.b.reg(&self.program.checker.var(id).name.clone(), Type::Ptr);
        self.at(value.pos);
        let empty = ir::Expr::binary(BinOp::SLe, size.clone(), ir::Expr::Const(Type::I64, 0));
        self.refuse(empty, ErrorKind::Memory, "an array without elements, or with less than none");
        self.b.push(Op::Alloc { dst, size, zeroed: false, scoped: true });
        self.settle(id, Home::Reg(dst));
        if let Some(scope) = self.top().scopes.last_mut().filter(|scope| !scope.jumped_into) {
            scope.endings.push(Ending::Object(dst));
        }
        Ok(true)
    }

    /// The object of a variable whose declaration is met, if it is one of its block's own.
    pub(super) fn make_scoped(&mut self, id: VarId) -> Lowered<bool> {
        if !self.top().scopes.last().is_some_and(|scope| scope.candidates.contains(&id)) {
            return Ok(false);
        }
        let var = self.program.checker.var(id).clone();
        let Some(size) = self.program.checker.types.size(&var.ty.ty) else {
            return Err(Fault::new(var.pos, format!("`{}` has an incomplete type", var.name)));
        };
        let dst = self.b.reg(&var.name, Type::Ptr);
        self.b.push(Op::Alloc { dst, size: ir::Expr::Const(Type::I64, size), zeroed: false, scoped: true });
        self.settle(id, Home::Made(dst));
        self.top().scopes.last_mut().expect("just seen").endings.push(Ending::Object(dst));
        Ok(true)
    }
}
