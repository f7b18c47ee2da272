//! Atomic operations on structs and on 128-bit integers: a pointer with a counter beside it, most of the time.
//!
//! What fits into a register is accessed as one number of its size. Sixteen bytes are two numbers in an atomic block, which is what the instruction for them is on machines that have it: it
//! takes part in the order of all of them, and empties the store buffer. Models that know no atomic blocks do not take such a program. Padding takes part in comparisons, as in the hardware.

use super::Lowered;
use super::atomic::{for_failure, for_load, for_store};
use super::function::FnLowerer;
use super::value::{binary, from_bool, offset, settled};
use crate::ctype::{Leaf, QTy, Ty};
use crate::parse::Fault;
use crate::token::Pos;
use crate::tree::{Builtin, Expr, Order, RmwKind};
use raddle_program::{self as ir, BinOp, Field, Op, Ordering, Splice, Term, Type, Unwritten};

/// Whether values of the type are not in registers.
pub(super) fn is_wide(ty: &Ty) -> bool {
    matches!(ty, Ty::Record(_) | Ty::Int128 { .. })
}

impl FnLowerer<'_, '_> {
    /// The numbers by which an object of this type is accessed as a whole: where they are in it, and their types.
    fn numbers(&self, ty: &QTy, at: Pos) -> Lowered<&'static [(u64, Type)]> {
        let types = &self.program.checker.types;
        match types.size(&ty.ty) {
            Some(1) => Ok(&[(0, Type::I8)]),
            Some(2) => Ok(&[(0, Type::I16)]),
            Some(4) => Ok(&[(0, Type::I32)]),
            Some(8) => Ok(&[(0, Type::I64)]),
            Some(16) => Ok(&[(0, Type::I64), (8, Type::I64)]),
            _ => {
                let message = format!("`{}` is atomic, and has not 1, 2, 4, 8 or 16 bytes", types.show(ty));
                Err(Fault::new(at, message))
            }
        }
    }

    /// What stands in these parts of memory, to be compared: what was never written counts as zero.
    fn parts(&mut self, addr: &ir::Expr, numbers: &[(u64, Type)], order: Ordering) -> Vec<ir::Expr> {
        self.found_parts(addr, numbers, order, Unwritten::Zero)
    }

    /// What stands in these parts of memory, to be moved on.
    fn moved_parts(&mut self, addr: &ir::Expr, numbers: &[(u64, Type)], order: Ordering) -> Vec<ir::Expr> {
        self.found_parts(addr, numbers, order, Unwritten::Kept)
    }

    fn found_parts(
        &mut self,
        addr: &ir::Expr,
        numbers: &[(u64, Type)],
        order: Ordering,
        unwritten: Unwritten,
    ) -> Vec<ir::Expr> {
        numbers.iter().map(|&(at, ty)| self.load_part(offset(addr.clone(), at), ty, order, unwritten)).collect()
    }

    /// The numbers with zeros where the type has padding: that takes part in comparisons, and need not have been written.
    fn padded(&mut self, ty: &QTy, numbers: &[(u64, Type)], values: Vec<ir::Expr>) -> Vec<ir::Expr> {
        let Some(leaves) = self.program.checker.types.leaves(&ty.value(), 16) else { return values };
        let is_padding = |byte: u64| {
            let covers = |leaf: &Leaf| (leaf.offset..leaf.offset + u64::from(leaf.ty.size())).contains(&byte);
            !leaves.iter().any(covers)
        };
        let zero = ir::Expr::Const(Type::I8, 0);
        let fill = |mut value: ir::Expr, at: u64, ty: Type| {
            for byte in (0..u64::from(ty.size())).filter(|byte| is_padding(at + byte)) {
                let to = Field { shift: 8 * byte as u8, width: 8 };
                value = ir::Expr::binary(BinOp::Splice(Splice { to, from: 0 }), value, zero.clone());
            }
            value
        };
        numbers.iter().zip(values).map(|(&(at, ty), value)| fill(value, at, ty)).collect()
    }

    fn put_parts(&mut self, addr: &ir::Expr, numbers: &[(u64, Type)], values: &[ir::Expr], order: Ordering) {
        for (&(at, ty), value) in numbers.iter().zip(values) {
            self.b.push(Op::Store { ty, addr: offset(addr.clone(), at), value: value.clone(), order });
        }
    }

    /// Does something with all of these numbers at once.
    fn at_once<T>(&mut self, numbers: &[(u64, Type)], action: impl FnOnce(&mut Self) -> T) -> T {
        let block = numbers.len() > 1;
        if block {
            self.b.push(Op::AtomicBegin);
        }
        let result = action(self);
        if block {
            self.b.push(Op::AtomicEnd);
        }
        result
    }

    /// The numbers of a value that is no number.
    fn numbers_of(&mut self, value: &Expr, numbers: &[(u64, Type)]) -> Lowered<Vec<ir::Expr>> {
        let from = self.record(value)?;
        let from = settled(&mut self.b, from);
        let values = self.moved_parts(&from, numbers, Ordering::NonAtomic);
        Ok(self.padded(&value.ty, numbers, values))
    }

    /// The numbers of a value that others are compared with.
    fn compared_numbers_of(&mut self, value: &Expr, numbers: &[(u64, Type)]) -> Lowered<Vec<ir::Expr>> {
        let from = self.record(value)?;
        let from = settled(&mut self.b, from);
        Ok(self.parts(&from, numbers, Ordering::NonAtomic))
    }

    /// A new object with these contents.
    fn temporary(&mut self, ty: &QTy, numbers: &[(u64, Type)], values: &[ir::Expr]) -> Lowered<ir::Expr> {
        let layout = self.program.layout(&ty.value(), 0);
        let layout = layout.ok_or_else(|| self.fault("a value of an incomplete type"))?;
        let object = ir::Expr::Local(self.b.local("whole", layout));
        self.put_parts(&object, numbers, values, Ordering::NonAtomic);
        Ok(object)
    }

    /// The order, if it is known: which one it is can only be chosen for an operation that is one step.
    pub(super) fn known_order(order: &Order, at: &Expr) -> Lowered<Ordering> {
        match order {
            Order::Known(order) => Ok(*order),
            Order::Runtime(_) => {
                Err(Fault::new(at.pos, "an atomic operation on a struct needs a memory order that is known"))
            }
        }
    }

    /// The value of an atomic object: the address of a copy.
    pub(super) fn whole_load(&mut self, object: &Expr, order: Ordering, at: &Expr) -> Lowered<ir::Expr> {
        let numbers = self.numbers(&object.ty, at.pos)?;
        let addr = self.address(object)?;
        let addr = settled(&mut self.b, addr);
        self.at(at.pos);
        let values = self.at_once(numbers, |f| f.moved_parts(&addr, numbers, for_load(order)));
        self.temporary(&object.ty, numbers, &values)
    }

    /// Gives an atomic object a value; yields the address of a copy of it.
    pub(super) fn whole_store(&mut self, object: &Expr, value: &Expr, order: Ordering, at: &Expr) -> Lowered<ir::Expr> {
        let numbers = self.numbers(&object.ty, at.pos)?;
        let values = self.numbers_of(value, numbers)?;
        let addr = self.address(object)?;
        let addr = settled(&mut self.b, addr);
        self.at(at.pos);
        self.at_once(numbers, |f| f.put_parts(&addr, numbers, &values, for_store(order)));
        self.temporary(&object.ty, numbers, &values)
    }

    /// Gives an atomic object at this address its first value, which stands there.
    pub(super) fn whole_copy(&mut self, to: &ir::Expr, from: &ir::Expr, ty: &QTy) -> Lowered<()> {
        let numbers = self.numbers(ty, self.here)?;
        let values = self.moved_parts(from, numbers, Ordering::NonAtomic);
        let values = self.padded(ty, numbers, values);
        self.put_parts(to, numbers, &values, Ordering::NonAtomic);
        Ok(())
    }

    /// An operation of the compiler whose value is no number: the address of what it found.
    pub(super) fn whole_builtin(&mut self, expr: &Expr, builtin: &Builtin, args: &[Expr]) -> Lowered<ir::Expr> {
        match builtin {
            Builtin::AtomicLoad(order) => self.whole_load(&args[0], Self::known_order(order, expr)?, expr),
            Builtin::AtomicRmw { op: RmwKind::Exchange, order, .. } => {
                let order = Self::known_order(order, expr)?;
                let numbers = self.numbers(&args[0].ty, expr.pos)?;
                let values = self.numbers_of(&args[1], numbers)?;
                let addr = self.address(&args[0])?;
                let addr = settled(&mut self.b, addr);
                self.at(expr.pos);
                let old = match (numbers, &values[..]) {
                    (&[(_, ty)], [value]) => {
                        let dst = self.b.reg("old", ty);
                        let (op, operand) = (ir::RmwOp::Xchg, value.clone());
                        self.b.push(Op::Rmw { dst: Some(dst), op, ty, addr, operand, order, idle: None });
                        vec![ir::Expr::Reg(dst)]
                    }
                    _ => self.at_once(numbers, |f| {
                        let old = f.moved_parts(&addr, numbers, for_load(order));
                        f.put_parts(&addr, numbers, &values, for_store(order));
                        old
                    }),
                };
                self.temporary(&args[0].ty, numbers, &old)
            }
            Builtin::SyncCas { .. } => {
                let numbers = self.numbers(&args[0].ty, expr.pos)?;
                let order = Ordering::SeqCst;
                let expected = self.compared_numbers_of(&args[1], numbers)?;
                let (found, _) = self.whole_cas(expr, (&args[0], &args[2]), &expected, (order, order))?;
                self.temporary(&args[0].ty, numbers, &found)
            }
            _ => Err(Fault::new(expr.pos, "this struct value is not supported")),
        }
    }

    /// C11 compare-exchange: whether the object was as expected.
    pub(super) fn whole_compare_exchange(
        &mut self,
        expr: &Expr,
        args: &[Expr],
        success: &Order,
        failure: &Order,
    ) -> Lowered<ir::Expr> {
        let orders = (Self::known_order(success, expr)?, Self::known_order(failure, expr)?);
        let numbers = self.numbers(&args[0].ty, expr.pos)?;
        let place = self.address(&args[1])?;
        let place = settled(&mut self.b, place);
        let expected = self.parts(&place, numbers, Ordering::NonAtomic);
        let (found, won) = self.whole_cas(expr, (&args[0], &args[2]), &expected, orders)?;
        let (lost, done) = (self.b.block(), self.b.block());
        self.b.terminate(Term::If(won.clone(), done, lost));
        self.b.switch_to(lost);
        self.put_parts(&place, numbers, &found, Ordering::NonAtomic);
        self.b.terminate(Term::Goto(done));
        self.b.switch_to(done);
        Ok(from_bool(won, Type::I8))
    }

    /// `__sync_bool_compare_and_swap`.
    pub(super) fn whole_swap(&mut self, expr: &Expr, args: &[Expr]) -> Lowered<ir::Expr> {
        let numbers = self.numbers(&args[0].ty, expr.pos)?;
        let expected = self.compared_numbers_of(&args[1], numbers)?;
        let order = Ordering::SeqCst;
        let (_, won) = self.whole_cas(expr, (&args[0], &args[2]), &expected, (order, order))?;
        Ok(from_bool(won, Type::I8))
    }

    /// Puts the second into the first if that is as expected: what was found, and whether it was.
    fn whole_cas(
        &mut self,
        expr: &Expr,
        (object, desired): (&Expr, &Expr),
        expected: &[ir::Expr],
        (success, failure): (Ordering, Ordering),
    ) -> Lowered<(Vec<ir::Expr>, ir::Expr)> {
        let numbers = self.numbers(&object.ty, expr.pos)?;
        let desired = self.numbers_of(desired, numbers)?;
        let addr = self.address(object)?;
        let addr = settled(&mut self.b, addr);
        self.at(expr.pos);
        if let (&[(_, ty)], [expected], [desired]) = (numbers, expected, &desired[..]) {
            let found = self.cas(ty, addr, expected.clone(), desired.clone(), success, for_failure(failure));
            let won = ir::Expr::eq(ir::Expr::Reg(found), expected.clone());
            return Ok((vec![ir::Expr::Reg(found)], self.hold("won", won)));
        }
        Ok(self.at_once(numbers, |f| {
            let found = f.parts(&addr, numbers, for_load(success));
            let same = found.iter().zip(expected).map(|(a, b)| ir::Expr::eq(a.clone(), b.clone()));
            let won = same.reduce(|a, b| binary(BinOp::And, a, b)).expect("there are numbers");
            let won = f.hold("won", won);
            let (take, done) = (f.b.block(), f.b.block());
            f.b.terminate(Term::If(won.clone(), take, done));
            f.b.switch_to(take);
            f.put_parts(&addr, numbers, &desired, for_store(success));
            f.b.terminate(Term::Goto(done));
            f.b.switch_to(done);
            (found, won)
        }))
    }
}
