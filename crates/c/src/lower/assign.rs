//! Assignments: plain, compound, counting up and down.

use super::Lowered;
use super::expr::name_of;
use super::function::FnLowerer;
use super::memory::Place;
use super::value::{binary, settled};
use super::whole::is_wide;
use crate::ctype::{IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::BinaryOp;
use crate::tree::{Change, Expr};
use raddle_program::{self as ir, BinOp, FloatBin, Ordering, Type, UnOp};

impl FnLowerer<'_, '_> {
    pub(super) fn assign(&mut self, expr: &Expr, target: &Expr, value: &Expr) -> Lowered<ir::Expr> {
        if is_wide(&target.ty.ty) {
            return self.record(expr);
        }
        let first = if self.goes_from_right() { Some(self.place(target)?) } else { None };
        let value = self.value(value)?;
        let place = first.map_or_else(|| self.place(target), Ok)?;
        self.at(expr.pos);
        // What is stored is what the assignment yields; a register must not change under the reader's feet.
        self.write(&place, &target.ty, value.clone())?;
        match place {
            Place::Reg(reg) => Ok(ir::Expr::Reg(reg)),
            place => self.stored(&place, &target.ty, value),
        }
    }

    /// `target op= operand`; yields the new value.
    pub(super) fn op_assign(
        &mut self,
        expr: &Expr,
        op: Change,
        target: &Expr,
        operand: ir::Expr,
        operand_ty: &QTy,
        via: &QTy,
    ) -> Lowered<ir::Expr> {
        let place = self.place(target)?;
        self.at(expr.pos);
        if let Place::Memory { addr, order: Ordering::SeqCst } = &place
            && target.ty.quals.atomic
        {
            return self.atomic_change(addr.clone(), op, target, operand, operand_ty, via);
        }
        let name = name_of(target, self);
        let old = self.read(&place, &target.ty, &name)?;
        let new = self.changed(op, old, &target.ty, operand, operand_ty, via)?;
        self.write(&place, &target.ty, new.clone())?;
        match place {
            Place::Reg(reg) => Ok(ir::Expr::Reg(reg)),
            place => self.stored(&place, &target.ty, new),
        }
    }

    /// The new value of a compound assignment, in the target's type.
    pub(super) fn changed(
        &mut self,
        op: Change,
        old: ir::Expr,
        ty: &QTy,
        operand: ir::Expr,
        operand_ty: &QTy,
        via: &QTy,
    ) -> Lowered<ir::Expr> {
        let new = match op {
            Change::Op(op) => {
                let wide = self.converted(old, &ty.ty, &via.ty);
                let new = self.operate(op, wide, via, operand, operand_ty)?;
                match (&via.ty, &ty.ty) {
                    (Ty::Float(_), Ty::Int(kind)) if *kind != IntKind::Bool => self.truncated(new, &via.ty, *kind)?,
                    _ => self.converted(new, &via.ty, &ty.ty),
                }
            }
            Change::Step { size, minus } => {
                let step = self.distance(operand, &operand_ty.ty, size);
                ir::Expr::binary(BinOp::Add, old, if minus { ir::Expr::unary(UnOp::Neg, step) } else { step })
            }
        };
        Ok(settled(&mut self.b, new))
    }

    pub(super) fn inc_dec(&mut self, expr: &Expr, target: &Expr, by: i64, prefix: bool) -> Lowered<ir::Expr> {
        let place = self.place(target)?;
        self.at(expr.pos);
        let scalar = self.scalar(&target.ty)?;
        if let Place::Memory { addr, order: Ordering::SeqCst } = &place
            && target.ty.quals.atomic
            && target.ty.ty != Ty::Int(IntKind::Bool)
            && !matches!(target.ty.ty, Ty::Float(_))
        {
            return Ok(self.atomic_step(addr.clone(), scalar, by, prefix));
        }
        if let (Place::Memory { addr, order: Ordering::SeqCst }, Ty::Float(_)) = (&place, &target.ty.ty)
            && target.ty.quals.atomic
        {
            let ty = target.ty.value();
            let one = self.converted(ir::Expr::int(Type::I32, 1), &Ty::INT, &ty.ty);
            let op = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            let new = self.atomic_change(addr.clone(), Change::Op(op), target, one.clone(), &ty, &ty)?;
            // What was there before: the step is undone in the same type only if nothing was lost, so the value found is not at hand.
            if prefix {
                return Ok(new);
            }
            return Err(Fault::new(
                expr.pos,
                "the old value of an atomic floating-point number that is counted up is not supported",
            ));
        }
        let name = name_of(target, self);
        let mut old = self.read(&place, &target.ty, &name)?;
        if !prefix && let Place::Reg(_) = place {
            old = self.hold("old", old);
        }
        let new = if let Ty::Float(_) = target.ty.ty {
            let step = ir::Expr::int(Type::I64, by);
            let step = self.converted(step, &Ty::Int(IntKind::LLong), &target.ty.ty);
            binary(BinOp::Float(FloatBin::Add), old.clone(), step)
        } else if scalar == Type::Ptr {
            ir::Expr::binary(BinOp::Add, old.clone(), ir::Expr::int(Type::I64, by))
        } else if target.ty.ty == Ty::Int(IntKind::Bool) {
            let wide = self.converted(old.clone(), &target.ty.ty, &Ty::INT);
            let sum = binary(BinOp::Add, wide, ir::Expr::int(Type::I32, by));
            self.converted(sum, &Ty::INT, &target.ty.ty)
        } else {
            let step = ir::Expr::int(scalar, by);
            // Types below `int` are widened before, and do not overflow.
            if scalar.bits() >= 32 {
                self.refuse_wrapping_of(&target.ty, BinOp::Add, Some(&old), &step)?;
            }
            binary(BinOp::Add, old.clone(), step)
        };
        self.write(&place, &target.ty, new.clone())?;
        match (prefix, place) {
            (false, _) => Ok(old),
            (true, Place::Reg(reg)) => Ok(ir::Expr::Reg(reg)),
            (true, place) => self.stored(&place, &target.ty, new),
        }
    }
}
