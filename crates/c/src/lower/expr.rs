//! Expressions: values, conditions, effects.

use super::Lowered;
use super::function::FnLowerer;
use super::value::{binary, float_is_true, from_bool, is_true, not, resize, settled};
use super::whole::is_wide;
use super::wide::is_int128;
use crate::ctype::{IntKind, QTy, Ty};
use crate::float;
use crate::syntax::{BinaryOp, FloatKind, UnaryOp};
use crate::tree::{Change, Expr, ExprKind};
use raddle_program::{self as ir, BinOp, BlockId, ErrorKind, FloatBin, FloatUn, Op, Term, Type, UnOp};

impl FnLowerer<'_, '_> {
    /// The value of a scalar expression; for an expression without a value, its effects and anything.
    pub(super) fn value(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        let value = self.raw_value(expr)?;
        Ok(settled(&mut self.b, value))
    }

    fn raw_value(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        if is_int128(&expr.ty.ty) {
            return self.record(expr);
        }
        self.in_order(expr);
        match &expr.kind {
            ExprKind::Const(bits) => {
                let scalar = self.scalar(&expr.ty)?;
                let stored = self.stored_as(scalar);
                Ok(self.as_value(scalar, ir::Expr::Const(stored, stored.truncate(*bits))))
            }
            ExprKind::Load(object) => {
                if let Ty::Record(_) = expr.ty.ty {
                    return self.record(expr);
                }
                let place = self.place(object)?;
                self.at(expr.pos);
                let name = name_of(object, self);
                self.read(&place, &object.ty, &name)
            }
            // Where an element would be that is not there: the end of the array.
            ExprKind::AddrOf(object) => match &object.kind {
                ExprKind::Deref(pointer) => self.value(pointer),
                _ => self.address(object),
            },
            ExprKind::Convert(inner) => {
                if expr.ty.ty == Ty::Void {
                    self.effect(inner)?;
                    return Ok(ir::Expr::bool(false));
                }
                if is_int128(&inner.ty.ty) {
                    return self.narrow(inner, &expr.ty, expr);
                }
                if expr.ty.ty == Ty::Int(IntKind::Bool) || is_test(inner) {
                    let cond = self.cond(inner)?;
                    return Ok(from_bool(cond, self.scalar(&expr.ty)?));
                }
                self.note_allocation(inner, &expr.ty.ty);
                let value = self.value(inner)?;
                if let (Ty::Float(_), Ty::Int(kind)) = (&inner.ty.ty, &expr.ty.ty) {
                    return self.truncated(value, &inner.ty.ty, *kind);
                }
                Ok(self.converted(value, &inner.ty.ty, &expr.ty.ty))
            }
            ExprKind::Unary(UnaryOp::Not, _) => {
                let cond = self.cond(expr)?;
                Ok(from_bool(cond, Type::I32))
            }
            ExprKind::Unary(op, inner) => {
                let value = self.value(inner)?;
                Ok(match op {
                    UnaryOp::Complement => Self::complement(value),
                    _ if matches!(inner.ty.ty, Ty::Float(_)) => ir::Expr::unary(UnOp::Float(FloatUn::Neg), value),
                    _ => {
                        self.at(expr.pos);
                        self.refuse_wrapping_of(&inner.ty, BinOp::Sub, None, &value)?;
                        ir::Expr::unary(UnOp::Neg, value)
                    }
                })
            }
            ExprKind::Binary(op, a, b) if is_int128(&a.ty.ty) => {
                let result = self.wide_compare(*op, a, b)?;
                Ok(from_bool(result, Type::I32))
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = self.both(a, b)?;
                self.at(expr.pos);
                let result = self.operate(*op, x, &a.ty, y, &b.ty)?;
                Ok(if is_comparison(*op) { from_bool(result, Type::I32) } else { result })
            }
            ExprKind::PtrAdd { ptr, index, size, minus } => {
                let (pointer, index_value) = self.both(ptr, index)?;
                let step = self.distance(index_value, &index.ty.ty, *size);
                self.at(expr.pos);
                Ok(match (step, minus) {
                    (ir::Expr::Const(_, 0), _) => pointer,
                    (ir::Expr::Const(_, by), false) => super::value::offset(pointer, by),
                    (ir::Expr::Const(_, by), true) => super::value::offset(pointer, by.wrapping_neg()),
                    (step, false) => ir::Expr::binary(BinOp::Add, pointer, step),
                    (step, true) => ir::Expr::binary(BinOp::Add, pointer, ir::Expr::unary(UnOp::Neg, step)),
                })
            }
            ExprKind::PtrDiff(a, b, size) => {
                let (x, y) = self.both(a, b)?;
                let bytes = ir::Expr::binary(BinOp::Sub, x, y);
                let elements = match size {
                    0 | 1 => bytes,
                    _ => ir::Expr::binary(BinOp::SDiv, bytes, ir::Expr::Const(Type::I64, *size)),
                };
                Ok(resize(elements, Type::I64, self.scalar(&expr.ty)?, true))
            }
            ExprKind::And(..) | ExprKind::Or(..) => {
                let cond = self.cond(expr)?;
                Ok(from_bool(cond, Type::I32))
            }
            ExprKind::Cond(cond, then, otherwise) => self.conditional(expr, cond, then.as_deref(), otherwise),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.value(b)
            }
            ExprKind::Assign(target, value) => self.assign(expr, target, value),
            ExprKind::OpAssign { op: Change::Op(op), target, value, via } if is_int128(&via.ty) => {
                self.changed_by_wide(expr, *op, target, value, via)
            }
            ExprKind::OpAssign { op, target, value, via } => {
                let operand = self.value(value)?;
                self.op_assign(expr, *op, target, operand, &value.ty, via)
            }
            ExprKind::IncDec { target, by, prefix } => self.inc_dec(expr, target, *by, *prefix),
            ExprKind::Call(callee, args) => {
                if let Ty::Record(_) = expr.ty.ty {
                    return self.record(expr);
                }
                self.call(expr, callee, args, None)
            }
            ExprKind::StmtExpr(stmts, last) => {
                self.in_expression(stmts)?;
                match last {
                    Some(last) if last.ty.ty == Ty::Void => {
                        self.effect(last)?;
                        Ok(ir::Expr::bool(false))
                    }
                    Some(last) => self.value(last),
                    None => Ok(ir::Expr::bool(false)),
                }
            }
            ExprKind::Builtin(builtin, args) => self.builtin(expr, builtin, args),
            ExprKind::Var(_)
            | ExprKind::Func(_)
            | ExprKind::Str(_)
            | ExprKind::Deref(_)
            | ExprKind::Member(..)
            | ExprKind::Literal(..) => {
                // An object whose value nobody asked for.
                self.effect(expr)?;
                Ok(ir::Expr::bool(false))
            }
        }
    }

    /// An expression is about to be evaluated: an error if it changes an object and C does not say when.
    pub(super) fn in_order(&mut self, expr: &Expr) {
        let Some(&id) = self.conflicts.get(&std::ptr::from_ref(expr)) else { return };
        let var = self.program.checker.var(id);
        let part = if var.ty.ty.is_scalar() { "" } else { "a member of " };
        let message =
            format!("{part}`{}` is changed, and changed again or read, in one expression and in no order", var.name);
        self.at(expr.pos);
        self.b.push(Op::Error { kind: ErrorKind::Arithmetic, message });
    }

    /// The values of two operands.
    fn both(&mut self, a: &Expr, b: &Expr) -> Lowered<(ir::Expr, ir::Expr)> {
        if self.goes_from_right() {
            let second = self.value(b)?;
            return Ok((self.value(a)?, second));
        }
        Ok((self.value(a)?, self.value(b)?))
    }

    /// Whether the user's operands are evaluated from the right.
    pub(super) fn goes_from_right(&self) -> bool {
        self.program.options.evaluation_right && self.nesting == 0
    }

    /// So many elements of this size in bytes, as an `i64`. Where pointers have four bytes, distances wrap at 32 bits.
    pub(super) fn distance(&self, count: ir::Expr, ty: &Ty, size: u64) -> ir::Expr {
        let (via, width) = match self.program.checker.types.model.narrow() {
            true => (IntKind::Int, Type::I32),
            false => (IntKind::LLong, Type::I64),
        };
        let count = self.converted(count, ty, &Ty::Int(via));
        let bytes = match size {
            1 => count,
            _ => binary(BinOp::Mul, count, ir::Expr::Const(width, width.truncate(size))),
        };
        resize(bytes, width, Type::I64, true)
    }

    /// An operator on values; a comparison gives a truth value.
    pub(super) fn operate(
        &mut self,
        op: BinaryOp,
        a: ir::Expr,
        left: &QTy,
        b: ir::Expr,
        right: &QTy,
    ) -> Lowered<ir::Expr> {
        let signed = left.ty.int().is_some_and(IntKind::signed);
        let ty = self.scalar(left)?;
        if let (Ty::Float(_), Some((op, swapped, negated))) = (&left.ty, float::operator(op)) {
            let (a, b) = if swapped { (b, a) } else { (a, b) };
            let result = binary(BinOp::Float(op), a, b);
            return Ok(if negated { not(result) } else { result });
        }
        let pick = |s, u| if signed { s } else { u };
        let (op, a, b) = match op {
            BinaryOp::Add => (BinOp::Add, a, b),
            BinaryOp::Sub => (BinOp::Sub, a, b),
            BinaryOp::Mul => (BinOp::Mul, a, b),
            BinaryOp::Div => (pick(BinOp::SDiv, BinOp::UDiv), a, b),
            BinaryOp::Rem => (pick(BinOp::SRem, BinOp::URem), a, b),
            BinaryOp::And => (BinOp::And, a, b),
            BinaryOp::Or => (BinOp::Or, a, b),
            BinaryOp::Xor => (BinOp::Xor, a, b),
            BinaryOp::Shl | BinaryOp::Shr => {
                // The count has a type of its own.
                let count = resize(b, self.scalar(right)?, ty, false);
                let shift = if op == BinaryOp::Shl { BinOp::Shl } else { pick(BinOp::AShr, BinOp::LShr) };
                (shift, a, count)
            }
            BinaryOp::Eq => (BinOp::Eq, a, b),
            BinaryOp::Ne => (BinOp::Ne, a, b),
            BinaryOp::Lt => (pick(BinOp::SLt, BinOp::ULt), a, b),
            BinaryOp::Le => (pick(BinOp::SLe, BinOp::ULe), a, b),
            BinaryOp::Gt => (pick(BinOp::SLt, BinOp::ULt), b, a),
            BinaryOp::Ge => (pick(BinOp::SLe, BinOp::ULe), b, a),
        };
        match op {
            BinOp::SDiv | BinOp::SRem => self.refuse_overflow(ty, &a, &b),
            BinOp::Add | BinOp::Sub | BinOp::Mul if signed && self.program.options.overflow_is_error => {
                self.refuse_wrapping(op, ty, &a, &b);
            }
            BinOp::Shl | BinOp::AShr | BinOp::LShr => {
                self.refuse_wide_shift(ty, &b);
                if op == BinOp::Shl && signed && self.program.options.overflow_is_error {
                    self.refuse_lost_bits(ty, &a, &b);
                }
            }
            _ => {}
        }
        if op == BinOp::Eq && never_null(&a, &b) {
            return Ok(ir::Expr::bool(false));
        }
        if op == BinOp::Ne && never_null(&a, &b) {
            return Ok(ir::Expr::bool(true));
        }
        Ok(binary(op, a, b))
    }

    /// A floating-point number as an integer; one that is out of its range has no value (C11 6.3.1.4p1).
    pub(super) fn truncated(&mut self, value: ir::Expr, from: &Ty, to: IntKind) -> Lowered<ir::Expr> {
        let value = self.hold("number", value);
        let wide = self.converted(value.clone(), from, &Ty::Float(FloatKind::Double));
        let (low, high) = float::range(&self.program.checker.types, to);
        let less = |a, b| binary(BinOp::Float(FloatBin::Lt), a, b);
        let bound = |bound: f64| ir::Expr::Const(Type::I64, bound.to_bits());
        let fits = ir::Expr::binary(BinOp::And, less(bound(low), wide.clone()), less(wide, bound(high)));
        self.refuse(
            not(fits),
            ErrorKind::Arithmetic,
            "a floating-point number becomes an integer that is too large for its type",
        );
        Ok(self.converted(value, from, &Ty::Int(to)))
    }

    /// The least number divided by -1 is none of its type (C11 6.5.5p6).
    fn refuse_overflow(&mut self, ty: Type, a: &ir::Expr, b: &ir::Expr) {
        let (least, minus_one) = (ir::Expr::Const(ty, 1 << (ty.bits() - 1)), ir::Expr::int(ty, -1));
        let overflow = match b {
            ir::Expr::Const(..) if *b != minus_one => return,
            ir::Expr::Const(..) => binary(BinOp::Eq, a.clone(), least),
            _ => {
                let wrong = binary(BinOp::Eq, a.clone(), least);
                ir::Expr::binary(BinOp::And, wrong, binary(BinOp::Eq, b.clone(), minus_one))
            }
        };
        self.refuse(overflow, ErrorKind::Arithmetic, "the least number is divided by -1");
    }

    /// The same if it is asked for and the type is a signed one; without a left side it is 0.
    pub(super) fn refuse_wrapping_of(
        &mut self,
        ty: &QTy,
        op: BinOp,
        a: Option<&ir::Expr>,
        b: &ir::Expr,
    ) -> Lowered<()> {
        if self.program.options.overflow_is_error && ty.ty.int().is_some_and(IntKind::signed) {
            let scalar = self.scalar(ty)?;
            let zero = ir::Expr::Const(scalar, 0);
            self.refuse_wrapping(op, scalar, a.unwrap_or(&zero), b);
        }
        Ok(())
    }

    /// A result that its signed type cannot hold (C11 6.5p5). Up to 32 bits it is computed exactly, in 64; beyond that signs tell, and for products
    /// dividing again.
    pub(super) fn refuse_wrapping(&mut self, op: BinOp, ty: Type, a: &ir::Expr, b: &ir::Expr) {
        let wide = |value: &ir::Expr| resize(value.clone(), ty, Type::I64, true);
        let result = binary(op, a.clone(), b.clone());
        let zero = ir::Expr::Const(ty, 0);
        let negative = |value: &ir::Expr| binary(BinOp::SLt, value.clone(), zero.clone());
        let wrong = if ty.bits() < 64 {
            binary(BinOp::Ne, binary(op, wide(a), wide(b)), wide(&result))
        } else if op == BinOp::Mul {
            let least = ir::Expr::Const(ty, 1 << 63);
            let extreme = binary(
                BinOp::And,
                binary(BinOp::Eq, a.clone(), ir::Expr::int(ty, -1)),
                binary(BinOp::Eq, b.clone(), least.clone()),
            );
            let none = binary(BinOp::Eq, a.clone(), zero.clone());
            // Neither 0 nor -1 below the line; these two are looked at by themselves.
            let special = binary(BinOp::Or, none.clone(), binary(BinOp::Eq, a.clone(), ir::Expr::int(ty, -1)));
            let below =
                ir::Expr::Select(Box::new(special.clone()), Box::new(ir::Expr::Const(ty, 1)), Box::new(a.clone()));
            let undone = binary(BinOp::SDiv, result, below);
            let lost = binary(BinOp::And, not(special), binary(BinOp::Ne, undone, b.clone()));
            binary(BinOp::Or, extreme, lost)
        } else {
            let (a, b, result) = (negative(a), negative(b), negative(&result));
            let b = if op == BinOp::Sub { not(b) } else { b };
            binary(BinOp::And, binary(BinOp::Eq, a.clone(), b), binary(BinOp::Ne, a, result))
        };
        self.refuse(wrong, ErrorKind::Arithmetic, "signed arithmetic overflows");
    }

    /// A shift by the width of its operand or more, or by less than nothing, means nothing (C11 6.5.7p3).
    fn refuse_wide_shift(&mut self, ty: Type, count: &ir::Expr) {
        let width = ir::Expr::Const(ty, u64::from(ty.bits()));
        let wide = binary(BinOp::ULe, width, count.clone());
        self.refuse(wide, ErrorKind::Arithmetic, "a shift by the width of its operand or more");
    }

    /// A signed number that is shifted to the left must be none below zero, and keep its value (C11 6.5.7p4).
    fn refuse_lost_bits(&mut self, ty: Type, a: &ir::Expr, count: &ir::Expr) {
        let back = binary(BinOp::AShr, binary(BinOp::Shl, a.clone(), count.clone()), count.clone());
        let lost = binary(BinOp::Ne, back, a.clone());
        let negative = binary(BinOp::SLt, a.clone(), ir::Expr::Const(ty, 0));
        self.refuse(
            binary(BinOp::Or, lost, negative),
            ErrorKind::Arithmetic,
            "a signed number is shifted out of its type",
        );
    }

    /// If the condition holds, this is an error of the program.
    pub(super) fn refuse(&mut self, wrong: ir::Expr, kind: ErrorKind, message: &str) {
        if wrong == ir::Expr::bool(false) {
            return;
        }
        let (error, next) = (self.b.block(), self.b.block());
        self.b.terminate(Term::If(wrong, error, next));
        self.b.switch_to(error);
        self.b.push(Op::Error { kind, message: message.to_owned() });
        self.b.terminate(Term::Goto(next));
        self.b.switch_to(next);
    }

    /// The truth of an expression, as an `i1`.
    pub(super) fn cond(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        self.in_order(expr);
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => Ok(not(self.cond(inner)?)),
            ExprKind::Binary(op, a, b) if is_comparison(*op) && is_int128(&a.ty.ty) => {
                let result = self.wide_compare(*op, a, b)?;
                Ok(settled(&mut self.b, result))
            }
            ExprKind::Binary(op, a, b) if is_comparison(*op) => {
                let (x, y) = self.both(a, b)?;
                self.at(expr.pos);
                let result = self.operate(*op, x, &a.ty, y, &b.ty)?;
                Ok(settled(&mut self.b, result))
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let and = matches!(expr.kind, ExprKind::And(..));
                let left = self.cond(a)?;
                if let ir::Expr::Const(_, known) = left {
                    return if (known != 0) == and { self.cond(b) } else { Ok(left) };
                }
                if self.is_pure(b) {
                    let right = self.cond(b)?;
                    let joined = ir::Expr::binary(if and { BinOp::And } else { BinOp::Or }, left, right);
                    return Ok(settled(&mut self.b, joined));
                }
                let dst = self.b.reg("both", Type::I1);
                self.b.push(Op::Assign { dst, value: left.clone() });
                let (rest, done) = (self.b.block(), self.b.block());
                let (yes, no) = if and { (rest, done) } else { (done, rest) };
                self.b.terminate(Term::If(left, yes, no));
                self.b.switch_to(rest);
                let value = self.cond(b)?;
                self.b.push(Op::Assign { dst, value });
                self.b.terminate(Term::Goto(done));
                self.b.switch_to(done);
                Ok(ir::Expr::Reg(dst))
            }
            ExprKind::Convert(inner) if expr.ty.ty.int().is_some() && inner.ty.ty.int().is_some() && is_test(inner) => {
                self.cond(inner)
            }
            _ if is_int128(&expr.ty.ty) => self.wide_truth(expr),
            _ => {
                let value = self.value(expr)?;
                let ty = self.scalar(&expr.ty)?;
                Ok(self.truth(value, &expr.ty.ty, ty))
            }
        }
    }

    /// Whether a value of a C type is not zero.
    fn truth(&self, value: ir::Expr, of: &Ty, ty: Type) -> ir::Expr {
        if let Ty::Float(_) = of { float_is_true(value, ty) } else { is_true(value, ty) }
    }

    /// Goes to one of two blocks.
    pub(super) fn branch(&mut self, expr: &Expr, yes: BlockId, no: BlockId) -> Lowered<()> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => return self.branch(inner, no, yes),
            ExprKind::And(a, b) if !self.is_pure(b) => {
                let middle = self.b.block();
                self.branch(a, middle, no)?;
                self.b.switch_to(middle);
                return self.branch(b, yes, no);
            }
            ExprKind::Or(a, b) if !self.is_pure(b) => {
                let middle = self.b.block();
                self.branch(a, yes, middle)?;
                self.b.switch_to(middle);
                return self.branch(b, yes, no);
            }
            _ => {}
        }
        let cond = self.cond(expr)?;
        self.b.terminate(match cond {
            ir::Expr::Const(_, 0) => Term::Goto(no),
            ir::Expr::Const(..) => Term::Goto(yes),
            cond => Term::If(cond, yes, no),
        });
        Ok(())
    }

    /// Whether evaluating the expression makes no instructions and cannot fail.
    pub(super) fn is_pure(&self, expr: &Expr) -> bool {
        if is_int128(&expr.ty.ty) {
            return false;
        }
        match &expr.kind {
            ExprKind::Const(_) => true,
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Var(id) => {
                    let auto = matches!(self.program.checker.var(*id).storage, crate::tree::Storage::Auto);
                    auto && !self.in_memory.contains(id) && expr.ty.ty.is_scalar()
                }
                _ => false,
            },
            // A number that does not fit is an error.
            ExprKind::Convert(inner) if matches!(inner.ty.ty, Ty::Float(_)) && expr.ty.ty.int().is_some() => false,
            ExprKind::Convert(inner) => expr.ty.ty.is_scalar() && self.is_pure(inner),
            ExprKind::Unary(UnaryOp::Minus, inner)
                if self.program.options.overflow_is_error && inner.ty.ty.int().is_some_and(IntKind::signed) =>
            {
                false
            }
            ExprKind::Unary(_, inner) => self.is_pure(inner),
            ExprKind::Binary(op, a, b) => {
                let wraps = self.program.options.overflow_is_error && a.ty.ty.int().is_some_and(IntKind::signed);
                let fails = match op {
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => wraps,
                    BinaryOp::Div | BinaryOp::Rem => true,
                    BinaryOp::Shl if wraps => true,
                    BinaryOp::Shl | BinaryOp::Shr => !matches!(b.kind, ExprKind::Const(_)),
                    _ => false,
                };
                !fails && self.is_pure(a) && self.is_pure(b)
            }
            _ => false,
        }
    }

    fn conditional(&mut self, expr: &Expr, cond: &Expr, then: Option<&Expr>, otherwise: &Expr) -> Lowered<ir::Expr> {
        let void = expr.ty.ty == Ty::Void;
        if let Some(then) = then
            && !void
            && self.is_pure(then)
            && self.is_pure(otherwise)
        {
            let test = self.cond(cond)?;
            let (a, b) = (self.value(then)?, self.value(otherwise)?);
            return Ok(match test {
                ir::Expr::Const(_, 0) => b,
                ir::Expr::Const(..) => a,
                test => ir::Expr::Select(Box::new(test), Box::new(a), Box::new(b)),
            });
        }
        let dst = if void { None } else { Some(self.b.reg("chosen", self.scalar(&expr.ty)?)) };
        let (yes, no, done) = (self.b.block(), self.b.block(), self.b.block());
        let mut kept = None;
        match then {
            Some(_) => self.branch(cond, yes, no)?,
            None => {
                // `a ?: b` evaluates `a` once.
                let value = self.value(cond)?;
                let value = self.hold("kept", value);
                let ty = self.scalar(&cond.ty)?;
                self.b.terminate(Term::If(self.truth(value.clone(), &cond.ty.ty, ty), yes, no));
                kept = Some(self.converted(value, &cond.ty.ty, &expr.ty.ty));
            }
        }
        for (block, side) in [(yes, then), (no, Some(otherwise))] {
            self.b.switch_to(block);
            match (side, dst) {
                (Some(side), None) => self.effect(side)?,
                (Some(side), Some(dst)) => {
                    let value = self.value(side)?;
                    self.b.push(Op::Assign { dst, value });
                }
                (None, Some(dst)) => {
                    if let Some(value) = kept.take() {
                        self.b.push(Op::Assign { dst, value });
                    }
                }
                (None, None) => {}
            }
            self.b.terminate(Term::Goto(done));
        }
        self.b.switch_to(done);
        Ok(dst.map_or(ir::Expr::bool(false), ir::Expr::Reg))
    }

    /// Evaluates an expression for what it does.
    pub(super) fn effect(&mut self, expr: &Expr) -> Lowered<()> {
        self.in_order(expr);
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Func(_) | ExprKind::Str(_) | ExprKind::Var(_) => Ok(()),
            ExprKind::Deref(inner) | ExprKind::Member(inner, ..) | ExprKind::AddrOf(inner) => self.effect(inner),
            ExprKind::Load(object) => {
                if object.ty.quals.volatile || object.ty.quals.atomic {
                    return self.value(expr).map(drop);
                }
                self.effect(object)
            }
            ExprKind::Convert(inner) if matches!(inner.ty.ty, Ty::Float(_)) && expr.ty.ty.is_integer() => {
                self.value(expr).map(drop)
            }
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
            | ExprKind::Unary(UnaryOp::Minus, _)
                if self.program.options.overflow_is_error
                    && (expr.ty.ty.int().is_some_and(IntKind::signed) || is_int128(&expr.ty.ty)) =>
            {
                self.value(expr).map(drop)
            }
            ExprKind::Convert(inner) | ExprKind::Unary(_, inner) => self.effect(inner),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr, ..) => {
                let value = self.value(expr)?;
                if !is_int128(&expr.ty.ty) {
                    self.hold("unused", value);
                }
                Ok(())
            }
            ExprKind::Binary(_, a, b) | ExprKind::PtrDiff(a, b, _) | ExprKind::PtrAdd { ptr: a, index: b, .. } => {
                let (first, second) = if self.goes_from_right() { (b, a) } else { (a, b) };
                self.effect(first)?;
                self.effect(second)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let (rest, done) = (self.b.block(), self.b.block());
                let and = matches!(expr.kind, ExprKind::And(..));
                let (yes, no) = if and { (rest, done) } else { (done, rest) };
                self.branch(a, yes, no)?;
                self.b.switch_to(rest);
                self.effect(b)?;
                self.b.terminate(Term::Goto(done));
                self.b.switch_to(done);
                Ok(())
            }
            ExprKind::Cond(cond, then, otherwise) => {
                let (yes, no, done) = (self.b.block(), self.b.block(), self.b.block());
                self.branch(cond, yes, no)?;
                self.b.switch_to(yes);
                if let Some(then) = then {
                    self.effect(then)?;
                }
                self.b.terminate(Term::Goto(done));
                self.b.switch_to(no);
                self.effect(otherwise)?;
                self.b.terminate(Term::Goto(done));
                self.b.switch_to(done);
                Ok(())
            }
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)
            }
            // The old value is not needed, so it need not be kept.
            ExprKind::IncDec { .. } | ExprKind::OpAssign { .. } | ExprKind::Assign(..) if is_int128(&expr.ty.ty) => {
                self.wide(expr).map(drop)
            }
            ExprKind::IncDec { target, by, .. } => self.inc_dec(expr, target, *by, true).map(drop),
            ExprKind::StmtExpr(stmts, last) => {
                self.in_expression(stmts)?;
                last.iter().try_for_each(|last| self.effect(last))
            }
            ExprKind::Call(..) | ExprKind::Builtin(..) if is_wide(&expr.ty.ty) => self.record(expr).map(drop),
            ExprKind::Call(..) => {
                self.discarded = true;
                self.value(expr).map(drop)
            }
            ExprKind::Literal(..) => self.address(expr).map(drop),
            _ => self.value(expr).map(drop),
        }
    }
}

/// A name for the register that receives the value of an object.
pub(super) fn name_of(object: &Expr, f: &FnLowerer) -> String {
    match &object.kind {
        ExprKind::Var(id) => f.program.checker.var(*id).name.to_string(),
        ExprKind::Member(base, ..) => name_of(base, f),
        _ => "t".to_owned(),
    }
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Lt | Gt | Le | Ge | Eq | Ne)
}

/// Whether the expression is a truth value in the shape of an `int`.
fn is_test(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => is_comparison(*op),
        ExprKind::Unary(UnaryOp::Not, _) | ExprKind::And(..) | ExprKind::Or(..) => true,
        _ => false,
    }
}

/// Whether one side is the address of something and the other is null.
fn never_null(a: &ir::Expr, b: &ir::Expr) -> bool {
    let object = |e: &ir::Expr| matches!(e, ir::Expr::Global(_) | ir::Expr::Local(_) | ir::Expr::Func(_));
    let null = |e: &ir::Expr| matches!(e, ir::Expr::Const(Type::Ptr, 0));
    object(a) && null(b) || null(a) && object(b)
}
