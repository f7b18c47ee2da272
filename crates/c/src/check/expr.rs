//! What does an expression mean, and which type has it?

use super::convert::{bit_width, is_lvalue, is_object};
use super::{Checked, Checker, truncate};
use crate::ctype::{IntKind, QTy, Ty, union};
use crate::float;
use crate::parse::Fault;
use crate::syntax::{self, BinaryOp, FloatKind, Quals, UnaryOp};
use crate::token::{Encoding, Pos};
use crate::tree::{Change, Constant, Expr, ExprKind};
use raddle_program::FloatUn;

impl Checker {
    /// The meaning of an expression; objects are not read yet.
    pub(super) fn expr(&mut self, expr: &syntax::Expr) -> Checked<Expr> {
        let pos = expr.pos;
        let make = |kind, ty: QTy| Ok(Expr { kind, ty, pos });
        match &expr.kind {
            syntax::ExprKind::Ident(name) => self.identifier(name, pos),
            syntax::ExprKind::Int(literal) => {
                let kind = self.literal_kind(literal);
                let value = truncate(&self.types, &Ty::Int(kind), literal.value);
                make(ExprKind::Const(value), Ty::Int(kind).plain())
            }
            syntax::ExprKind::Char(value, encoding) => {
                let ty = match encoding {
                    Encoding::Char16 => Ty::Int(IntKind::UShort),
                    Encoding::Char32 => Ty::Int(IntKind::UInt),
                    _ => Ty::INT,
                };
                make(ExprKind::Const(truncate(&self.types, &ty, *value as u64)), ty.plain())
            }
            syntax::ExprKind::Float(literal) => make(ExprKind::Const(literal.bits), Ty::Float(literal.kind).plain()),
            syntax::ExprKind::Str(units, encoding) => {
                let kind = match encoding {
                    Encoding::Plain => IntKind::Char,
                    Encoding::Char16 => IntKind::UShort,
                    Encoding::Char32 => IntKind::UInt,
                    Encoding::Wide => IntKind::Int,
                };
                Ok(self.string_expr(units, kind, pos))
            }
            syntax::ExprKind::FuncName => {
                let name = self.function.as_ref().map_or_else(String::new, |f| f.name.to_string());
                let units: Vec<u32> = name.bytes().map(u32::from).collect();
                Ok(self.string_expr(&units, IntKind::Char, pos))
            }
            syntax::ExprKind::LabelAddress(name) => {
                let address = self.label_address(name, pos)?;
                make(ExprKind::Const(address), Ty::Ptr(std::rc::Rc::new(Ty::Void.plain())).plain())
            }
            syntax::ExprKind::Unary(op, operand) => self.unary(*op, operand, pos),
            syntax::ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.rvalue_of(a)?, self.rvalue_of(b)?);
                self.binary(*op, a, b, pos)
            }
            syntax::ExprKind::And(a, b) => {
                let (a, b) = (Box::new(self.condition(a)?), Box::new(self.condition(b)?));
                make(ExprKind::And(a, b), Ty::INT.plain())
            }
            syntax::ExprKind::Or(a, b) => {
                let (a, b) = (Box::new(self.condition(a)?), Box::new(self.condition(b)?));
                make(ExprKind::Or(a, b), Ty::INT.plain())
            }
            syntax::ExprKind::Assign(None, target, value) => {
                let target = self.target(target)?;
                let value = self.rvalue_of(value)?;
                let value = self.convert(value, &target.ty.ty)?;
                let ty = target.ty.value();
                make(ExprKind::Assign(Box::new(target), Box::new(value)), ty)
            }
            syntax::ExprKind::Assign(Some(op), target, value) => self.op_assign(*op, target, value, pos),
            syntax::ExprKind::IncDec { by, prefix, operand } => {
                let target = self.target(operand)?;
                let ty = target.ty.value();
                let by = match &ty.ty {
                    Ty::Int(_) | Ty::Int128 { .. } | Ty::Float(_) => *by,
                    Ty::Ptr(to) => *by * self.step_size(to, pos)? as i64,
                    _ => return Err(Fault::new(pos, "only numbers and pointers can be counted up and down")),
                };
                make(ExprKind::IncDec { target: Box::new(target), by, prefix: *prefix }, ty)
            }
            syntax::ExprKind::Cond(cond, then, otherwise) => self.conditional(cond, then.as_deref(), otherwise, pos),
            syntax::ExprKind::Comma(a, b) => {
                let a = self.expr(a)?;
                let a = if a.ty.quals.volatile || a.ty.quals.atomic { self.rvalue(a)? } else { a };
                let b = self.rvalue_of(b)?;
                let ty = b.ty.clone();
                make(ExprKind::Comma(Box::new(a), Box::new(b)), ty)
            }
            syntax::ExprKind::Index(a, b) => {
                let (a, b) = (self.rvalue_of(a)?, self.rvalue_of(b)?);
                let sum = self.binary(BinaryOp::Add, a, b, pos)?;
                self.deref(sum, pos)
            }
            syntax::ExprKind::Call(callee, args) => self.call(callee, args, pos),
            syntax::ExprKind::Member { base, field, arrow } => {
                let base = if *arrow {
                    let pointer = self.rvalue_of(base)?;
                    self.deref(pointer, pos)?
                } else {
                    self.expr(base)?
                };
                self.member(base, field, pos)
            }
            syntax::ExprKind::Cast(name, operand) => {
                let ty = self.type_name(name)?.value();
                if ty.ty == Ty::Void {
                    let inner = self.expr(operand)?;
                    let read = inner.ty.quals.volatile || inner.ty.quals.atomic;
                    let inner = if read { self.rvalue(inner)? } else { inner };
                    return make(ExprKind::Convert(Box::new(inner)), ty);
                }
                let value = self.rvalue_of(operand)?;
                if let (Ty::Record(id), false) = (&ty.ty, value.ty.ty == ty.ty)
                    && self.types.record(*id).is_union
                {
                    return Err(Fault::new(pos, "a cast to a union is not supported"));
                }
                let value = self.convert(value, &ty.ty)?;
                // After a cast a bit-field's value is one of the named type, and promotes like it.
                if bit_width(&value).is_some() {
                    return make(ExprKind::Convert(Box::new(value)), ty);
                }
                Ok(value)
            }
            syntax::ExprKind::CompoundLiteral(name, items) => self.compound_literal(name, items, pos),
            syntax::ExprKind::SizeofType(name) => {
                self.open_length = Some(None);
                let ty = self.type_name(name);
                let length = self.open_length.take().flatten();
                let ty = ty?;
                if let (Some(length), Ty::Array(element, None)) = (length, &ty.ty) {
                    let wide = self.types.size_type();
                    let length = self.convert(length, &wide)?;
                    let size = self.size_constant(self.sizeof(element, pos)?, pos);
                    return self.binary(BinaryOp::Mul, length, size, pos);
                }
                Ok(self.size_constant(self.sizeof(&ty, pos)?, pos))
            }
            syntax::ExprKind::SizeofExpr(operand) => {
                let operand = self.expr(operand)?;
                if let ExprKind::Member(_, _, Some(_)) = operand.kind {
                    return Err(Fault::new(pos, "a bit-field has no size in bytes"));
                }
                if let ExprKind::Deref(pointer) = &operand.kind
                    && let ExprKind::Load(object) = &pointer.kind
                    && let ExprKind::Var(id) = object.kind
                    && let Some(&bytes) = self.lengths.get(&id)
                    && matches!(operand.ty.ty, Ty::Array(_, None))
                {
                    let ty = self.types.size_type().plain();
                    let object = Expr { kind: ExprKind::Var(bytes), ty: ty.clone(), pos };
                    return make(ExprKind::Load(Box::new(object)), ty);
                }
                Ok(self.size_constant(self.sizeof(&operand.ty, pos)?, pos))
            }
            syntax::ExprKind::AlignofType(name) => {
                let ty = self.type_name(name)?;
                Ok(self.size_constant(self.types.object_align(&ty), pos))
            }
            syntax::ExprKind::AlignofExpr(operand) => {
                let operand = self.expr(operand)?;
                let declared = if let ExprKind::Var(id) = operand.kind { self.var(id).align } else { 0 };
                Ok(self.size_constant(self.types.preferred_align(&operand.ty).max(declared), pos))
            }
            syntax::ExprKind::OffsetOf(name, path) => self.offset_of(name, path, pos),
            syntax::ExprKind::Generic(selector, arms) => self.generic(selector, arms, pos),
            syntax::ExprKind::StmtExpr(items) => self.statement_expr(items, pos),
            syntax::ExprKind::TypesCompatible(a, b) => {
                let (a, b) = (self.type_name(a)?, self.type_name(b)?);
                Ok(self.int(i64::from(self.types.compatible(&a.ty, &b.ty)), pos))
            }
            syntax::ExprKind::VaArg(name, slot) => {
                let ty = self.type_name(name)?.value();
                let slot = self.rvalue_of(slot)?;
                // A floating-point number lies in its slot as it is, all others as integers of 64 bits.
                let slot = match ty.ty {
                    Ty::Float(FloatKind::Double | FloatKind::LongDouble) => {
                        self.convert(slot, &ty.clone().pointer())?
                    }
                    _ => slot,
                };
                let value = self.deref(slot, pos)?;
                let value = self.rvalue(value)?;
                self.convert(value, &ty.ty)
            }
            syntax::ExprKind::ChooseExpr(cond, then, otherwise) => {
                if self.constant_int(cond)? != 0 {
                    self.expr(then)
                } else {
                    self.expr(otherwise)
                }
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &syntax::Expr, pos: Pos) -> Checked<Expr> {
        match op {
            UnaryOp::AddrOf => {
                let object = self.expr(operand)?;
                self.address_of(object, pos)
            }
            UnaryOp::Deref => {
                let pointer = self.rvalue_of(operand)?;
                self.deref(pointer, pos)
            }
            UnaryOp::Not => {
                let value = self.condition(operand)?;
                Ok(Expr { kind: ExprKind::Unary(op, Box::new(value)), ty: Ty::INT.plain(), pos })
            }
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Complement => {
                let value = self.rvalue_of(operand)?;
                let value = if op == UnaryOp::Complement { self.promote(value)? } else { self.arithmetic(value)? };
                if op == UnaryOp::Plus {
                    return Ok(value);
                }
                let ty = value.ty.clone();
                if let ExprKind::Const(bits) = value.kind {
                    let bits = match (op, &ty.ty, self.types.scalar(&ty.ty)) {
                        (UnaryOp::Minus, Ty::Float(_), Some(scalar)) => FloatUn::Neg.apply(scalar, bits),
                        (UnaryOp::Minus, ..) => bits.wrapping_neg(),
                        _ => !bits,
                    };
                    return Ok(Expr { kind: ExprKind::Const(truncate(&self.types, &ty.ty, bits)), ty, pos });
                }
                Ok(Expr { kind: ExprKind::Unary(op, Box::new(value)), ty, pos })
            }
        }
    }

    pub(super) fn address_of(&self, object: Expr, pos: Pos) -> Checked<Expr> {
        if let ExprKind::Func(_) = object.kind {
            return self.rvalue(object);
        }
        if !is_lvalue(&object) {
            return Err(Fault::new(pos, "only objects and functions have addresses"));
        }
        if let ExprKind::Member(_, _, Some(_)) = object.kind {
            return Err(Fault::new(pos, "a bit-field has no address"));
        }
        let ty = object.ty.clone().pointer().plain();
        if let ExprKind::Deref(pointer) = object.kind {
            return Ok(Expr { kind: pointer.kind, ty, pos });
        }
        Ok(Expr { kind: ExprKind::AddrOf(Box::new(object)), ty, pos })
    }

    /// The object a pointer points at; `*&x` is `x` again.
    pub(super) fn deref(&self, pointer: Expr, pos: Pos) -> Checked<Expr> {
        let Some(to) = pointer.ty.ty.pointee().cloned() else {
            let shown = self.types.show(&pointer.ty);
            return Err(Fault::new(pos, format!("`{shown}` is not a pointer")));
        };
        if let ExprKind::AddrOf(object) = pointer.kind {
            if object.ty == *to {
                return Ok(Expr { pos, ..*object });
            }
            return Ok(Expr {
                kind: ExprKind::Deref(Box::new(Expr { kind: ExprKind::AddrOf(object), ..pointer })),
                ty: (*to).clone(),
                pos,
            });
        }
        Ok(Expr { kind: ExprKind::Deref(Box::new(pointer)), ty: (*to).clone(), pos })
    }

    /// The size of what a pointer steps over; one byte for `void` and functions, as GNU has it.
    fn step_size(&self, to: &QTy, pos: Pos) -> Checked<u64> {
        match &to.ty {
            Ty::Void | Ty::Func(_) => Ok(1),
            ty => self.types.size(ty).ok_or_else(|| {
                Fault::new(pos, format!("a pointer to the incomplete type `{}` cannot be moved", self.types.show(to)))
            }),
        }
    }

    pub(super) fn binary(&self, op: BinaryOp, a: Expr, b: Expr, pos: Pos) -> Checked<Expr> {
        let make = |kind, ty: Ty| Ok(Expr { kind, ty: ty.plain(), pos });
        let pointers = (a.ty.ty.pointee().cloned(), b.ty.ty.pointee().cloned());
        match (op, pointers) {
            (_, (None, None)) => {}
            (BinaryOp::Add, (Some(to), None)) => return self.pointer_step(a, b, self.step_size(&to, pos)?, false, pos),
            (BinaryOp::Add, (None, Some(to))) => return self.pointer_step(b, a, self.step_size(&to, pos)?, false, pos),
            (BinaryOp::Sub, (Some(to), None)) => return self.pointer_step(a, b, self.step_size(&to, pos)?, true, pos),
            (BinaryOp::Sub, (Some(to), Some(_))) => {
                let size = self.step_size(&to, pos)?;
                let ty = self.types.ptrdiff_type();
                return make(ExprKind::PtrDiff(Box::new(a), Box::new(b), size), ty);
            }
            (op, (left, _)) if is_comparison(op) => {
                // Compared as pointers, whatever they point at; a number (usually 0) becomes one.
                let ty = if left.is_some() { a.ty.ty.clone() } else { b.ty.ty.clone() };
                let (a, b) = (self.convert(a, &ty)?, self.convert(b, &ty)?);
                return make(ExprKind::Binary(op, Box::new(a), Box::new(b)), Ty::INT);
            }
            _ => return Err(Fault::new(pos, "this operator does not apply to pointers")),
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let a = self.promote(a)?;
            let b = self.shift_count(b, &a.ty.ty)?;
            let ty = a.ty.ty.clone();
            return self.folded(op, a, b, ty, pos);
        }
        let (a, b) = self.usual(a, b)?;
        if matches!(a.ty.ty, Ty::Float(_)) && float::operator(op).is_none() {
            return Err(Fault::new(pos, "this operator is for integers"));
        }
        let ty = if is_comparison(op) { Ty::INT } else { a.ty.ty.clone() };
        self.folded(op, a, b, ty, pos)
    }

    /// The operator, computed at once if both sides are constants.
    fn folded(&self, op: BinaryOp, a: Expr, b: Expr, ty: Ty, pos: Pos) -> Checked<Expr> {
        if let (ExprKind::Const(x), ExprKind::Const(y)) = (&a.kind, &b.kind)
            && let Some(value) = super::constant::binary(&self.types, op, (&a.ty.ty, *x), (&b.ty.ty, *y))
        {
            let value = truncate(&self.types, &ty, value);
            return Ok(Expr { kind: ExprKind::Const(value), ty: ty.plain(), pos });
        }
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: ty.plain(), pos })
    }

    /// A promoted integer; an index of 128 bits loses those that no object reaches.
    fn narrowed(&self, index: Expr) -> Checked<Expr> {
        match index.ty.ty {
            Ty::Int128 { .. } => self.convert(index, &Ty::Int(IntKind::LLong)),
            _ => self.promote(index),
        }
    }

    /// By how much a value of this type is shifted.
    fn shift_count(&self, count: Expr, of: &Ty) -> Checked<Expr> {
        match (&count.ty.ty, of) {
            (Ty::Int128 { .. }, Ty::Int128 { .. }) => Ok(count),
            (Ty::Int128 { .. }, _) => Err(Fault::new(count.pos, "a shift by an integer of 128 bits is not supported")),
            _ => self.promote(count),
        }
    }

    fn pointer_step(&self, ptr: Expr, index: Expr, size: u64, minus: bool, pos: Pos) -> Checked<Expr> {
        let index = self.narrowed(index)?;
        let ty = ptr.ty.clone();
        Ok(Expr { kind: ExprKind::PtrAdd { ptr: Box::new(ptr), index: Box::new(index), size, minus }, ty, pos })
    }

    /// An object that can be assigned to.
    fn target(&mut self, expr: &syntax::Expr) -> Checked<Expr> {
        let target = self.expr(expr)?;
        if !is_lvalue(&target) || matches!(target.ty.ty, Ty::Array(..) | Ty::Func(_) | Ty::Void) {
            return Err(Fault::new(expr.pos, "this cannot be assigned to"));
        }
        if target.ty.quals.constant {
            return Err(Fault::new(expr.pos, "this object is `const`"));
        }
        Ok(target)
    }

    fn op_assign(&mut self, op: BinaryOp, target: &syntax::Expr, value: &syntax::Expr, pos: Pos) -> Checked<Expr> {
        let target = self.target(target)?;
        let value = self.rvalue_of(value)?;
        let ty = target.ty.value();
        let (op, value, via) = match &ty.ty {
            Ty::Ptr(to) => {
                let minus = match op {
                    BinaryOp::Add => false,
                    BinaryOp::Sub => true,
                    _ => return Err(Fault::new(pos, "this operator does not apply to pointers")),
                };
                let size = self.step_size(to, pos)?;
                (Change::Step { size, minus }, self.narrowed(value)?, ty.clone())
            }
            _ => {
                // The promoted type of the target decides; a stand-in for its value finds it.
                let stand_in = self.arithmetic(self.rvalue(target.clone())?)?;
                let value = self.arithmetic(value)?;
                if let Some(via) = Self::common_float(&stand_in.ty.ty, &value.ty.ty) {
                    if float::operator(op).is_none() {
                        return Err(Fault::new(pos, "this operator is for integers"));
                    }
                    (Change::Op(op), self.convert(value, &via)?, via.plain())
                } else if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    let via = stand_in.ty.clone();
                    (Change::Op(op), self.shift_count(value, &via.ty)?, via)
                } else {
                    let Some(via) = self.common_integer(&stand_in.ty.ty, &value.ty.ty) else {
                        return Err(Fault::new(pos, "integers are needed here"));
                    };
                    (Change::Op(op), self.convert(value, &via)?, via.plain())
                }
            }
        };
        let (target, value) = (Box::new(target), Box::new(value));
        Ok(Expr { kind: ExprKind::OpAssign { op, target, value, via }, ty, pos })
    }

    fn conditional(
        &mut self,
        cond: &syntax::Expr,
        then: Option<&syntax::Expr>,
        otherwise: &syntax::Expr,
        pos: Pos,
    ) -> Checked<Expr> {
        let cond = self.condition(cond)?;
        let then = then.map(|e| self.rvalue_of(e)).transpose()?;
        let otherwise = self.rvalue_of(otherwise)?;
        let left = then.as_ref().unwrap_or(&cond);
        let ty = match (&left.ty.ty, &otherwise.ty.ty) {
            (a, b) if a.is_integer() && b.is_integer() => {
                let (a, b) = (self.promote(left.clone())?, self.promote(otherwise.clone())?);
                self.common_integer(&a.ty.ty, &b.ty.ty).unwrap_or(Ty::INT)
            }
            (a, b) if let Some(ty) = Self::common_float(a, b) => ty,
            (Ty::Void, _) | (_, Ty::Void) => Ty::Void,
            (Ty::Ptr(a), Ty::Ptr(b)) => {
                if self.is_null(left) {
                    otherwise.ty.ty.clone()
                } else if self.is_null(&otherwise) || a.ty != Ty::Void && b.ty != Ty::Void {
                    left.ty.ty.clone()
                } else {
                    let quals: Quals = union(a.quals, b.quals);
                    QTy { ty: Ty::Void, quals }.pointer()
                }
            }
            (Ty::Ptr(_), Ty::Int(_)) => left.ty.ty.clone(),
            (Ty::Int(_), Ty::Ptr(_)) => otherwise.ty.ty.clone(),
            (Ty::Record(a), Ty::Record(b)) if self.types.same_record(*a, *b) => left.ty.ty.clone(),
            _ => return Err(Fault::new(pos, "the two sides of `?:` have types that do not go together")),
        };
        let then = then.map(|e| self.convert(e, &ty)).transpose()?.map(Box::new);
        let otherwise = Box::new(self.convert(otherwise, &ty)?);
        // What is never evaluated may call functions that are nowhere defined.
        let value = match (self.known_int(&cond), then) {
            (Some(0), _) => *otherwise,
            (Some(_), Some(then)) => *then,
            (_, then) => {
                return Ok(Expr { kind: ExprKind::Cond(Box::new(cond), then, otherwise), ty: ty.plain(), pos });
            }
        };
        Ok(Expr { ty: ty.plain(), ..value })
    }

    /// The bits of a constant, if the expression is one.
    pub(super) fn known_int(&self, expr: &Expr) -> Option<u64> {
        match self.evaluate(expr) {
            Ok(Constant::Int(bits)) => Some(bits),
            _ => None,
        }
    }

    /// The object an argument of a builtin points at.
    pub(super) fn pointed(&self, pointer: Expr) -> Checked<Expr> {
        let pos = pointer.pos;
        let object = self.deref(pointer, pos)?;
        debug_assert!(is_object(&object));
        Ok(object)
    }
}

/// Whether an operator yields a truth value.
fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Lt | Gt | Le | Ge | Eq | Ne)
}
