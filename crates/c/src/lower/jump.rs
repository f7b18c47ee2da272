//! `setjmp` and `longjmp`: out of functions, in one thread.
//!
//! The program representation has no jumps between functions. A `longjmp` returns, and in a program that has one every call is followed by a look whether a jump is under way: then this function returns, too, unless it is the one that is
//! jumped to, which goes on behind its `setjmp`. The buffer holds the address of an object of the activation that filled it. So it is known which activation is meant, and to jump to one that has returned is to use
//! memory that is no longer there, which it is (C11 7.13.2.1p2).
//!
//! Variables that changed since the `setjmp` have their new values, as `volatile` ones have; in C others have any. Objects of blocks that are jumped out of live on until their function returns.

use super::Lowered;
use super::function::FnLowerer;
use crate::ctype::Ty;
use crate::token::Pos;
use crate::tree::Expr;
use raddle_program::{self as ir, BinOp, BlockId, Layout, Op, Ordering, Reg, Term, Type};

/// Functions that jump.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];

/// Functions that are jumped to.
pub(super) const LANDINGS: [&str; 4] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"];

/// What a function has to do with jumps.
#[derive(Debug, Default)]
pub(super) struct Jumps {
    /// Where control goes when a call has returned because of one.
    under_way: Option<BlockId>,
    landings: Vec<Landing>,
}

/// A place behind a `setjmp`.
#[derive(Debug)]
struct Landing {
    /// The object whose address is in the buffer.
    mark: ir::Expr,
    /// The register of the value of `setjmp`.
    value: Reg,
    /// Where the program goes on.
    there: BlockId,
}

impl FnLowerer<'_, '_> {
    /// Whether there are jumps in the program.
    fn jumps(&self) -> bool {
        JUMPS.iter().any(|&name| self.program.used.contains(name))
    }

    /// `setjmp`: fills the buffer, and is 0; or something else if control comes here by a jump.
    pub(super) fn landing(&mut self, expr: &Expr, name: &str, args: &[ir::Expr]) -> Lowered<ir::Expr> {
        let buffer = args.first().cloned().unwrap_or(ir::Expr::null());
        let buffer = self.hold("buffer", buffer);
        let mark = ir::Expr::Local(self.b.local("setjmp".to_owned(), Layout::Scalar(Type::I64)));
        let value = self.b.reg("jumped", Type::I32);
        let (thread, order) = (self.b.reg("self", Type::I64), Ordering::NonAtomic);
        self.at(expr.pos);
        self.b.push(Op::ThreadId { dst: thread });
        let owner = ir::Expr::binary(BinOp::Add, ir::Expr::Reg(thread), ir::Expr::Const(Type::I64, 1));
        self.b.push(Op::Store { ty: Type::I64, addr: mark.clone(), value: owner, order });
        self.store(buffer.clone(), Type::Ptr, mark.clone(), order);
        if name.ends_with("sigsetjmp") {
            let keep = args.get(1).cloned().unwrap_or(ir::Expr::Const(Type::I32, 0));
            let pointer = Ty::Void.plain().pointer().plain();
            let given = vec![(buffer, pointer), (keep, Ty::INT.plain())];
            self.library_call("__raddle_keep_mask", given, &Ty::Void.plain(), expr.pos)?;
        }
        let there = self.b.block();
        self.b.push(Op::Assign { dst: value, value: ir::Expr::Const(Type::I32, 0) });
        self.b.terminate(Term::Goto(there));
        self.b.switch_to(there);
        self.jumps.landings.push(Landing { mark, value, there });
        Ok(ir::Expr::Reg(value))
    }

    /// A jump is under way.
    pub(super) fn unwind(&mut self) {
        let block = self.under_way();
        self.b.terminate(Term::Goto(block));
        let after = self.b.block();
        self.b.switch_to(after);
    }

    fn under_way(&mut self) -> BlockId {
        *self.jumps.under_way.get_or_insert_with(|| self.b.block())
    }

    /// A call has returned, perhaps because of a jump.
    pub(super) fn look_for_jump(&mut self, pos: Pos) -> Lowered<()> {
        if !self.jumps() {
            return Ok(());
        }
        let jumping = self.library_call("__raddle_jumping", Vec::new(), &Ty::INT.plain(), pos)?;
        let (block, next) = (self.under_way(), self.b.block());
        let jumping = ir::Expr::binary(BinOp::Ne, jumping, ir::Expr::Const(Type::I32, 0));
        self.b.terminate(Term::If(jumping, block, next));
        self.b.switch_to(next);
        Ok(())
    }

    /// At the end of a function: where jumps go from here.
    pub(super) fn end_jumps(&mut self, ret: Option<Type>, pos: Pos) -> Lowered<()> {
        let Some(block) = self.jumps.under_way else { return Ok(()) };
        self.b.switch_to(block);
        self.at(pos);
        let pointer = Ty::Void.plain().pointer().plain();
        let landings = std::mem::take(&mut self.jumps.landings);
        if !landings.is_empty() {
            let target = self.library_call("__raddle_jump_target", Vec::new(), &pointer, pos)?;
            let target = self.hold("target", target);
            for Landing { mark, value, there } in landings {
                let (here, next) = (self.b.block(), self.b.block());
                self.b.terminate(Term::If(ir::Expr::eq(target.clone(), mark), here, next));
                self.b.switch_to(here);
                let given = self.library_call("__raddle_land", Vec::new(), &Ty::INT.plain(), pos)?;
                self.b.push(Op::Assign { dst: value, value: given });
                self.b.terminate(Term::Goto(there));
                self.b.switch_to(next);
            }
        }
        self.leave(ret.map(|ty| ir::Expr::Const(ty, 0)));
        Ok(())
    }
}
