//! Atomic operations: `_Atomic` objects with plain operators, and the compilers' builtins.

use super::Lowered;
use super::function::FnLowerer;
use super::memory::Place;
use super::value::{binary, from_bool, is_true, reshape, resize};
use super::whole::is_wide;
use crate::check::ordering;
use crate::ctype::{IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::BinaryOp;
use crate::tree::{Builtin, Change, Expr, Order, RmwKind};
use raddle_program::{self as ir, BinOp, BlockId, Op, Ordering, Reg, RmwOp, Term, Type, UnOp, Unwritten};

/// What is said about weak compare-exchanges.
const ONLY_FOR_A_REASON: &str = "weak compare-exchanges fail only where they find another value; --weak-cas-fails lets them fail without a reason, as C does";
const ONCE_WITHOUT_A_REASON: &str =
    "a weak compare-exchange fails without a reason at most once at each place in each call of a function";

/// What a read-modify-write writes, given what it found.
fn new_value(op: RmwKind, old: ir::Expr, operand: ir::Expr) -> ir::Expr {
    match op {
        RmwKind::Add => binary(BinOp::Add, old, operand),
        RmwKind::Sub => binary(BinOp::Sub, old, operand),
        RmwKind::And => binary(BinOp::And, old, operand),
        RmwKind::Or => binary(BinOp::Or, old, operand),
        RmwKind::Xor => binary(BinOp::Xor, old, operand),
        RmwKind::Nand => FnLowerer::complement(binary(BinOp::And, old, operand)),
        RmwKind::Min { signed } | RmwKind::Max { signed } => {
            let less = if signed { BinOp::SLt } else { BinOp::ULt };
            let smaller = binary(less, old.clone(), operand.clone());
            let (a, b) = if matches!(op, RmwKind::Min { .. }) { (old, operand) } else { (operand, old) };
            ir::Expr::Select(Box::new(smaller), Box::new(a), Box::new(b))
        }
        RmwKind::Exchange => operand,
    }
}

fn rmw_op(op: RmwKind) -> RmwOp {
    match op {
        RmwKind::Add => RmwOp::Add,
        RmwKind::Sub => RmwOp::Sub,
        RmwKind::And => RmwOp::And,
        RmwKind::Or => RmwOp::Or,
        RmwKind::Xor => RmwOp::Xor,
        RmwKind::Nand => RmwOp::Nand,
        RmwKind::Min { signed: true } => RmwOp::Min,
        RmwKind::Min { signed: false } => RmwOp::UMin,
        RmwKind::Max { signed: true } => RmwOp::Max,
        RmwKind::Max { signed: false } => RmwOp::UMax,
        RmwKind::Exchange => RmwOp::Xchg,
    }
}

/// Orders that make no sense for an operation are taken as the strongest.
pub(super) fn for_load(order: Ordering) -> Ordering {
    if matches!(order, Ordering::Release | Ordering::AcqRel) { Ordering::SeqCst } else { order }
}

pub(super) fn for_store(order: Ordering) -> Ordering {
    if matches!(order, Ordering::Acquire | Ordering::AcqRel) { Ordering::SeqCst } else { order }
}

pub(super) fn for_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        other => other,
    }
}

impl FnLowerer<'_, '_> {
    /// `object += 1` and so on: the old value, or the new one.
    pub(super) fn atomic_step(&mut self, addr: ir::Expr, ty: Type, by: i64, new: bool) -> ir::Expr {
        let access = self.arithmetic_as(ty);
        let operand = ir::Expr::int(access, by);
        let old = self.rmw(RmwKind::Add, access, addr, operand.clone(), Ordering::SeqCst);
        let value = if new { binary(BinOp::Add, old, operand) } else { old };
        self.reshaped(value, access, ty)
    }

    /// The type by which an update does arithmetic on such a scalar. The representation has none on pointers in memory,
    /// but on the numbers they are.
    fn arithmetic_as(&self, scalar: Type) -> Type {
        match self.stored_as(scalar) {
            Type::Ptr => Type::I64,
            other => other,
        }
    }

    fn reshaped(&self, value: ir::Expr, from: Type, to: Type) -> ir::Expr {
        reshape(&self.program.checker.types, value, from, to, false)
    }

    /// `object op= operand` on an atomic object: one read-modify-write where there is one, else a loop around a
    /// compare-exchange. Yields the new value.
    pub(super) fn atomic_change(
        &mut self,
        addr: ir::Expr,
        op: Change,
        target: &Expr,
        operand: ir::Expr,
        operand_ty: &QTy,
        via: &QTy,
    ) -> Lowered<ir::Expr> {
        let ty = self.scalar(&target.ty)?;
        let kind = match op {
            Change::Op(BinaryOp::Add) => Some(RmwKind::Add),
            Change::Op(BinaryOp::Sub) => Some(RmwKind::Sub),
            Change::Op(BinaryOp::And) => Some(RmwKind::And),
            Change::Op(BinaryOp::Or) => Some(RmwKind::Or),
            Change::Op(BinaryOp::Xor) => Some(RmwKind::Xor),
            Change::Op(_) => None,
            Change::Step { minus: false, .. } => Some(RmwKind::Add),
            Change::Step { minus: true, .. } => Some(RmwKind::Sub),
        };
        // The representation has no updates of truth values and of floating-point numbers.
        let is_number = target.ty.ty != Ty::Int(IntKind::Bool) && !matches!(via.ty, Ty::Float(_));
        if let Some(kind) = kind
            && is_number
        {
            let (access, operand) = match op {
                Change::Step { size, .. } => {
                    let access = self.arithmetic_as(ty);
                    let distance = self.distance(operand, &operand_ty.ty, size);
                    (access, resize(distance, Type::I64, access, true))
                }
                Change::Op(_) => (ty, self.converted(operand, &via.ty, &target.ty.ty)),
            };
            let old = self.rmw(kind, access, addr, operand.clone(), Ordering::SeqCst);
            return Ok(self.reshaped(new_value(kind, old, operand), access, ty));
        }
        let operand = self.hold("operand", operand);
        let expected = self.b.reg("expected", ty);
        let found = self.b.reg("found", ty);
        let order = Ordering::SeqCst;
        self.b.push(Op::Load {
            dst: Some(expected),
            ty,
            addr: addr.clone(),
            order,
            until: None,
            unwritten: Unwritten::Error,
        });
        let (head, again, done) = (self.b.block(), self.b.block(), self.b.block());
        self.b.terminate(Term::Goto(head));
        self.b.switch_to(head);
        let new = self.changed(op, ir::Expr::Reg(expected), &target.ty, operand, operand_ty, via)?;
        let new = self.hold("new", new);
        let (expected_value, desired) = (ir::Expr::Reg(expected), new.clone());
        self.b.push(Op::Cas {
            dst: Some(found),
            ty,
            addr,
            expected: expected_value.clone(),
            desired,
            success: order,
            failure: order,
            wait: false,
        });
        let won = ir::Expr::eq(ir::Expr::Reg(found), expected_value);
        self.b.terminate(Term::If(won, done, again));
        self.b.switch_to(again);
        self.b.push(Op::Assign { dst: expected, value: ir::Expr::Reg(found) });
        self.b.terminate(Term::Goto(head));
        self.b.switch_to(done);
        Ok(new)
    }

    fn rmw(&mut self, op: RmwKind, ty: Type, addr: ir::Expr, operand: ir::Expr, order: Ordering) -> ir::Expr {
        let dst = self.b.reg("old", ty);
        let order = if order == Ordering::NonAtomic { Ordering::Relaxed } else { order };
        self.b.push(Op::Rmw { dst: Some(dst), op: rmw_op(op), ty, addr, operand, order, idle: None });
        ir::Expr::Reg(dst)
    }

    /// Does something with a memory order, in as many versions as there are orders if it is not known.
    fn with_order(&mut self, order: &Order, mut action: impl FnMut(&mut Self, Ordering) -> Lowered<()>) -> Lowered<()> {
        let expr = match order {
            Order::Known(order) => return action(self, *order),
            Order::Runtime(expr) => expr,
        };
        let value = self.value(expr)?;
        if let ir::Expr::Const(_, bits) = value {
            let known = ordering(bits).ok_or_else(|| Fault::new(expr.pos, "this is not a memory order"))?;
            return action(self, known);
        }
        let done = self.b.block();
        let strongest = self.b.block();
        let orders = [
            (0, Ordering::Relaxed),
            (1, Ordering::Acquire),
            (2, Ordering::Acquire),
            (3, Ordering::Release),
            (4, Ordering::AcqRel),
        ];
        let blocks: Vec<_> = orders.iter().map(|&(bits, _)| (bits, self.b.block())).collect();
        self.b.terminate(Term::Switch(value, blocks.clone(), strongest));
        for ((_, order), (_, block)) in orders.into_iter().zip(blocks) {
            self.b.switch_to(block);
            action(self, order)?;
            self.b.terminate(Term::Goto(done));
        }
        self.b.switch_to(strongest);
        action(self, Ordering::SeqCst)?;
        self.b.terminate(Term::Goto(done));
        self.b.switch_to(done);
        Ok(())
    }

    /// An operation of the compiler or the verifier.
    pub(super) fn builtin(&mut self, expr: &Expr, builtin: &Builtin, args: &[Expr]) -> Lowered<ir::Expr> {
        let nothing = ir::Expr::bool(false);
        let whole = args.first().is_some_and(|object| is_wide(&object.ty.ty));
        match builtin {
            Builtin::AtomicStore(order) if whole => {
                let order = Self::known_order(order, expr)?;
                self.whole_store(&args[0], &args[1], order, expr)?;
                Ok(nothing)
            }
            Builtin::CompareExchange { success, failure, weak } if whole => {
                if *weak {
                    self.program.note(ONLY_FOR_A_REASON);
                }
                self.whole_compare_exchange(expr, args, success, failure)
            }
            Builtin::SyncCas { old: false } if whole => self.whole_swap(expr, args),
            Builtin::AtomicLoad(order) => {
                let scalar = self.scalar(&expr.ty)?;
                let ty = self.stored_as(scalar);
                let addr = self.address(&args[0])?;
                let dst = self.b.reg(&super::expr::name_of(&args[0], self), ty);
                self.with_order(order, |f, order| {
                    f.at(expr.pos);
                    let (addr, order) = (addr.clone(), for_load(order));
                    f.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten: Unwritten::Error });
                    Ok(())
                })?;
                Ok(self.as_value(scalar, ir::Expr::Reg(dst)))
            }
            Builtin::AtomicStore(order) => {
                let ty = self.scalar(&args[0].ty)?;
                let value = self.value(&args[1])?;
                let addr = self.address(&args[0])?;
                self.with_order(order, |f, order| {
                    f.at(expr.pos);
                    f.store(addr.clone(), ty, value.clone(), for_store(order));
                    Ok(())
                })?;
                Ok(nothing)
            }
            Builtin::AtomicRmw { op, order, new } => {
                let ty = self.scalar(&args[0].ty)?;
                let value = self.value(&args[1])?;
                let (access, value) = match op {
                    RmwKind::Exchange => (self.stored_as(ty), self.as_stored(ty, value)),
                    _ => {
                        let access = self.arithmetic_as(ty);
                        let from = self.b.ty(&value);
                        (access, resize(value, from, access, true))
                    }
                };
                let addr = self.address(&args[0])?;
                let dst = self.b.reg("old", access);
                self.with_order(order, |f, order| {
                    f.at(expr.pos);
                    let (addr, operand) = (addr.clone(), value.clone());
                    f.b.push(Op::Rmw { dst: Some(dst), op: rmw_op(*op), ty: access, addr, operand, order, idle: None });
                    Ok(())
                })?;
                let old = ir::Expr::Reg(dst);
                let result = if *new { new_value(*op, old, value) } else { old };
                Ok(if access == Type::Ptr { result } else { self.reshaped(result, access, ty) })
            }
            Builtin::CompareExchange { success, failure, weak } => {
                self.compare_exchange(expr, args, (success, failure), *weak)
            }
            Builtin::SyncCas { old } => {
                let scalar = self.scalar(&args[0].ty)?;
                let ty = self.stored_as(scalar);
                let (expected, desired) = (self.value(&args[1])?, self.value(&args[2])?);
                let (expected, desired) = (self.as_stored(scalar, expected), self.as_stored(scalar, desired));
                let addr = self.address(&args[0])?;
                self.at(expr.pos);
                let order = Ordering::SeqCst;
                let found = self.cas(ty, addr, expected.clone(), desired, order, order);
                if *old {
                    return Ok(self.as_value(scalar, ir::Expr::Reg(found)));
                }
                let won = ir::Expr::eq(ir::Expr::Reg(found), expected);
                Ok(from_bool(won, Type::I8))
            }
            Builtin::TestAndSet(order) => {
                let ty = self.scalar(&args[0].ty)?;
                let addr = self.address(&args[0])?;
                let dst = self.b.reg("old", ty);
                self.with_order(order, |f, order| {
                    f.at(expr.pos);
                    let (addr, operand) = (addr.clone(), ir::Expr::Const(ty, 1));
                    f.b.push(Op::Rmw { dst: Some(dst), op: RmwOp::Xchg, ty, addr, operand, order, idle: None });
                    Ok(())
                })?;
                Ok(from_bool(is_true(ir::Expr::Reg(dst), ty), Type::I8))
            }
            Builtin::Fence(order) => {
                self.with_order(order, |f, order| {
                    f.at(expr.pos);
                    f.b.push(Op::Fence { order });
                    Ok(())
                })?;
                Ok(nothing)
            }
            Builtin::Alloca => {
                let size = self.value(&args[0])?;
                let size = self.converted(size, &args[0].ty.ty, &Ty::Int(IntKind::ULLong));
                self.at(expr.pos);
                let dst = self.b.reg("alloca", Type::Ptr);
                self.b.push(Op::Alloc { dst, size, zeroed: false, scoped: true });
                Ok(ir::Expr::Reg(dst))
            }
            Builtin::Float(op) => {
                let value = self.value(&args[0])?;
                Ok(ir::Expr::unary(UnOp::Float(*op), value))
            }
            Builtin::Floats(op) => {
                let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                Ok(binary(BinOp::Float(*op), a, b))
            }
            _ => self.verifier_builtin(expr, builtin, args),
        }
    }

    pub(super) fn cas(
        &mut self,
        ty: Type,
        addr: ir::Expr,
        expected: ir::Expr,
        desired: ir::Expr,
        success: Ordering,
        failure: Ordering,
    ) -> Reg {
        let dst = self.b.reg("found", ty);
        self.b.push(Op::Cas { dst: Some(dst), ty, addr, expected, desired, success, failure, wait: false });
        dst
    }

    /// C11 compare-exchange. If it is asked for, a weak one may fail without a reason, once in each call of the function: it is a choice, and
    /// the load of a failure that finds what was expected.
    fn compare_exchange(
        &mut self,
        expr: &Expr,
        args: &[Expr],
        (success, failure): (&Order, &Order),
        weak: bool,
    ) -> Lowered<ir::Expr> {
        let may_fail = weak && self.program.options.weak_cas_fails;
        if weak {
            self.program.note(if may_fail { ONCE_WITHOUT_A_REASON } else { ONLY_FOR_A_REASON });
        }
        let scalar = self.scalar(&args[0].ty)?;
        let ty = self.stored_as(scalar);
        let desired = self.value(&args[2])?;
        let desired = self.as_stored(scalar, desired);
        let addr = self.address(&args[0])?;
        let place = self.place(&args[1])?;
        let expected = self.read(&place, &args[1].ty, "expected")?;
        let expected = self.converted(expected, &args[1].ty.ty, &args[0].ty.ty);
        let expected = self.as_stored(scalar, expected);
        // The register of the expected value is about to receive what was found.
        let expected = self.hold("expected", expected);
        let dst = self.b.reg("found", ty);
        let failing = may_fail.then(|| self.may_fail());
        self.with_order(success, |f, success| {
            f.with_order(failure, |f, failure| {
                f.at(expr.pos);
                f.b.push(Op::Cas {
                    dst: Some(dst),
                    ty,
                    addr: addr.clone(),
                    expected: expected.clone(),
                    desired: desired.clone(),
                    success,
                    failure: for_failure(failure),
                    wait: false,
                });
                Ok(())
            })
        })?;
        let found = ir::Expr::Reg(dst);
        let same = ir::Expr::eq(found.clone(), expected);
        let won = match failing {
            None => same,
            Some(failing) => {
                let (won, tried) = (self.b.reg("won", Type::I1), self.b.block());
                self.b.push(Op::Assign { dst: won, value: same.clone() });
                self.b.terminate(Term::Goto(tried));
                self.b.switch_to(failing);
                self.with_order(failure, |f, failure| {
                    f.at(expr.pos);
                    let (addr, order) = (addr.clone(), for_failure(failure));
                    f.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten: Unwritten::Error });
                    Ok(())
                })?;
                // With another value it fails for a reason, which is the other way.
                self.b.push(Op::Assume { cond: same });
                self.b.push(Op::Assign { dst: won, value: ir::Expr::bool(false) });
                self.b.terminate(Term::Goto(tried));
                self.b.switch_to(tried);
                ir::Expr::Reg(won)
            }
        };
        let found = self.as_value(scalar, found);
        let value = self.converted(found, &args[0].ty.ty, &args[1].ty.ty);
        if let Place::Reg(_) = place {
            self.write(&place, &args[1].ty, value)?;
            return Ok(from_bool(won, Type::I8));
        }
        let won = self.hold("won", won);
        let (lost, done) = (self.b.block(), self.b.block());
        self.b.terminate(Term::If(won.clone(), done, lost));
        self.b.switch_to(lost);
        self.write(&place, &args[1].ty, value)?;
        self.b.terminate(Term::Goto(done));
        self.b.switch_to(done);
        Ok(from_bool(won, Type::I8))
    }

    /// Goes on, or to the block that it returns; there at most once.
    fn may_fail(&mut self) -> BlockId {
        let before = self.b.reg("failed", Type::I1);
        let (may, failing, goes_on) = (self.b.block(), self.b.block(), self.b.block());
        self.b.terminate(Term::If(ir::Expr::Reg(before), goes_on, may));
        self.b.switch_to(may);
        let choice = self.b.reg("fails", Type::I1);
        self.b.push(Op::Choose { dst: choice, low: 0, high: 1, draw: None });
        self.b.terminate(Term::If(ir::Expr::Reg(choice), failing, goes_on));
        self.b.switch_to(failing);
        self.b.push(Op::Assign { dst: before, value: ir::Expr::bool(true) });
        self.b.switch_to(goes_on);
        failing
    }
}
