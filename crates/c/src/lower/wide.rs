//! Integers of 128 bits: computed in two halves.
//!
//! Such a variable is memory, two numbers of 64 bits, low one first; a value is a pair of expressions. Sums carry, products are made of those of 32 bits (Knuth, The Art of Computer
//! Programming 2, 4.3.1), shifts and comparisons look at both halves. Quotients, and conversions to floating point, are C in `library/`.

use super::Lowered;
use super::expr::is_comparison;
use super::function::FnLowerer;
use super::value::{binary, convert, from_bool, not, offset, resize, settled};
use crate::ctype::{IntKind, QTy, Ty};
use crate::float;
use crate::parse::Fault;
use crate::syntax::{BinaryOp, FloatKind, UnaryOp};
use crate::tree::{Builtin, Change, Expr, ExprKind};
use raddle_program::{
    self as ir, BinOp, ErrorKind, FloatBin, FloatUn, Layout, Op, Ordering, Term, Type, UnOp, Unwritten,
};

/// A value: its low and its high half.
pub(super) type Halves = [ir::Expr; 2];

const TOO_LARGE: &str = "a floating-point number becomes an integer that is too large for its type";

/// Whether it is an integer of 128 bits.
pub(super) fn is_int128(ty: &Ty) -> bool {
    matches!(ty, Ty::Int128 { .. })
}

fn is_signed(ty: &Ty) -> bool {
    matches!(ty, Ty::Int128 { signed: true })
}

fn number(value: u64) -> ir::Expr {
    ir::Expr::Const(Type::I64, value)
}

/// Whether the first is less than the second.
fn less(a: &Halves, b: &Halves, signed: bool) -> ir::Expr {
    let order = if signed { BinOp::SLt } else { BinOp::ULt };
    let above = binary(order, a[1].clone(), b[1].clone());
    let same = binary(BinOp::Eq, a[1].clone(), b[1].clone());
    binary(BinOp::Or, above, binary(BinOp::And, same, binary(BinOp::ULt, a[0].clone(), b[0].clone())))
}

fn equal(a: &Halves, b: &Halves) -> ir::Expr {
    let same = |at: usize| binary(BinOp::Eq, a[at].clone(), b[at].clone());
    binary(BinOp::And, same(0), same(1))
}

/// Whether a value is below zero.
fn negative(a: &Halves) -> ir::Expr {
    binary(BinOp::SLt, a[1].clone(), number(0))
}

impl FnLowerer<'_, '_> {
    /// The value of an expression of 128 bits.
    pub(super) fn wide(&mut self, expr: &Expr) -> Lowered<Halves> {
        let halves = self.halves(expr)?;
        Ok(halves.map(|half| settled(&mut self.b, half)))
    }

    fn halves(&mut self, expr: &Expr) -> Lowered<Halves> {
        self.in_order(expr);
        match &expr.kind {
            ExprKind::Const(bits) => Ok([number(*bits), number(0)]),
            ExprKind::Convert(inner) => self.widened(expr, inner),
            ExprKind::Unary(op, inner) => {
                let value = self.wide(inner)?;
                self.at(expr.pos);
                Ok(match op {
                    UnaryOp::Complement => value.map(Self::complement),
                    _ => self.wide_operate(BinaryOp::Sub, [number(0), number(0)], value, &expr.ty)?,
                })
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = self.wide_operands(*op, a, b)?;
                self.at(expr.pos);
                self.wide_operate(*op, x, y, &a.ty)
            }
            ExprKind::Cond(cond, then, otherwise) => {
                let dst = ["low", "high"].map(|name| self.b.reg(name, Type::I64));
                let (yes, no, done) = (self.b.block(), self.b.block(), self.b.block());
                let mut kept = None;
                if then.is_some() {
                    self.branch(cond, yes, no)?;
                } else {
                    // `a ?: b` evaluates `a` once.
                    let held = if is_int128(&cond.ty.ty) {
                        let value = self.wide(cond)?;
                        value.map(|half| self.hold("kept", half))
                    } else {
                        let value = self.value(cond)?;
                        let value = self.hold("kept", value);
                        self.extended(value, &cond.ty)?
                    };
                    let zero = equal(&held, &[number(0), number(0)]);
                    self.b.terminate(Term::If(zero, no, yes));
                    kept = Some(held);
                }
                for (block, side) in [(yes, then.as_deref()), (no, Some(&**otherwise))] {
                    self.b.switch_to(block);
                    let value = match side {
                        Some(side) => self.wide(side)?,
                        None => kept.take().expect("there is one side without an expression"),
                    };
                    for (dst, value) in dst.into_iter().zip(value) {
                        self.b.push(Op::Assign { dst, value });
                    }
                    self.b.terminate(Term::Goto(done));
                }
                self.b.switch_to(done);
                Ok(dst.map(ir::Expr::Reg))
            }
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.wide(b)
            }
            ExprKind::Assign(target, value) if !target.ty.quals.atomic => {
                let first = if self.goes_from_right() { Some(self.address(target)?) } else { None };
                let value = self.wide(value)?;
                let to = first.map_or_else(|| self.address(target), Ok)?;
                self.at(expr.pos);
                self.put_wide(to, &value);
                Ok(value)
            }
            ExprKind::OpAssign { op: Change::Op(op), target, value, via } => {
                self.wide_op_assign(expr, *op, target, value, via)
            }
            ExprKind::IncDec { target, by, prefix } => {
                self.refuse_atomic(target)?;
                let addr = self.address(target)?;
                let addr = settled(&mut self.b, addr);
                self.at(expr.pos);
                let old = self.load_wide(&addr);
                let step = self.extended(ir::Expr::int(Type::I64, *by), &Ty::Int(IntKind::LLong).plain())?;
                let new = self.wide_operate(BinaryOp::Add, old.clone(), step, &target.ty)?;
                self.put_wide(addr, &new);
                Ok(if *prefix { new } else { old })
            }
            ExprKind::StmtExpr(stmts, Some(last)) => {
                self.in_expression(stmts)?;
                self.wide(last)
            }
            ExprKind::Builtin(Builtin::Nondet, _) => {
                let half = Ty::Int(IntKind::ULLong).plain();
                Ok([self.nondet(&half)?, self.nondet(&half)?])
            }
            _ => {
                let addr = self.record(expr)?;
                let addr = settled(&mut self.b, addr);
                self.at(expr.pos);
                Ok(self.load_wide(&addr))
            }
        }
    }

    /// Whether an expression of 128 bits is computed in halves, and has no place in memory before it is put there.
    pub(super) fn is_computed(expr: &Expr) -> bool {
        let kind = matches!(
            expr.kind,
            ExprKind::Const(_)
                | ExprKind::Convert(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cond(..)
                | ExprKind::OpAssign { .. }
                | ExprKind::IncDec { .. }
                | ExprKind::Builtin(Builtin::Nondet, _)
        );
        kind && is_int128(&expr.ty.ty)
    }

    /// An object that holds a value for as long as it is looked at.
    pub(super) fn wide_object(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        let value = self.wide(expr)?;
        let object = ir::Expr::Local(self.b.local("wide", Layout::Array(Type::I64, 2)));
        self.put_wide(object.clone(), &value);
        Ok(object)
    }

    fn load_wide(&mut self, addr: &ir::Expr) -> Halves {
        [0, 8].map(|at| self.load_part(offset(addr.clone(), at), Type::I64, Ordering::NonAtomic, Unwritten::Error))
    }

    fn put_wide(&mut self, addr: ir::Expr, value: &Halves) {
        let addr = settled(&mut self.b, addr);
        for (at, value) in [0, 8].into_iter().zip(value.clone()) {
            self.b.push(Op::Store { ty: Type::I64, addr: offset(addr.clone(), at), value, order: Ordering::NonAtomic });
        }
    }

    fn refuse_atomic(&self, target: &Expr) -> Lowered<()> {
        match target.ty.quals.atomic {
            true => Err(Fault::new(target.pos, "arithmetic on an atomic integer of 128 bits is not supported")),
            false => Ok(()),
        }
    }

    fn wide_operands(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Lowered<(Halves, Halves)> {
        if self.goes_from_right() {
            let right = self.operand(op, b)?;
            return Ok((self.wide(a)?, right));
        }
        let left = self.wide(a)?;
        Ok((left, self.operand(op, b)?))
    }

    /// A comparison of two values, as a truth value.
    pub(super) fn wide_compare(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Lowered<ir::Expr> {
        let (x, y) = self.wide_operands(op, a, b)?;
        let signed = is_signed(&a.ty.ty);
        Ok(match op {
            BinaryOp::Eq => equal(&x, &y),
            BinaryOp::Ne => not(equal(&x, &y)),
            BinaryOp::Lt => less(&x, &y, signed),
            BinaryOp::Ge => not(less(&x, &y, signed)),
            BinaryOp::Gt => less(&y, &x, signed),
            _ => not(less(&y, &x, signed)),
        })
    }

    /// Whether a value is not zero.
    pub(super) fn wide_truth(&mut self, expr: &Expr) -> Lowered<ir::Expr> {
        let [low, high] = self.wide(expr)?;
        Ok(binary(BinOp::Ne, binary(BinOp::Or, low, high), number(0)))
    }

    fn wide_op_assign(&mut self, expr: &Expr, op: BinaryOp, target: &Expr, value: &Expr, via: &QTy) -> Lowered<Halves> {
        self.refuse_atomic(target)?;
        if let Ty::Float(_) = via.ty {
            let operand = self.value(value)?;
            let addr = self.address(target)?;
            let addr = settled(&mut self.b, addr);
            self.at(expr.pos);
            let old = self.load_wide(&addr);
            let old = self.wide_to_float(old, &target.ty.ty, &via.ty, expr)?;
            let new = self.operate(op, old, via, operand, via)?;
            let new = self.wide_from_float(new, &via.ty, &target.ty.ty, expr)?;
            self.put_wide(addr, &new);
            return Ok(new);
        }
        let operand = self.operand(op, value)?;
        let addr = self.address(target)?;
        let addr = settled(&mut self.b, addr);
        self.at(expr.pos);
        let old = self.load_wide(&addr);
        let new = self.wide_operate(op, old, operand, via)?;
        self.put_wide(addr, &new);
        Ok(new)
    }

    /// The right side of an operator; that of a shift has a type of its own.
    fn operand(&mut self, op: BinaryOp, value: &Expr) -> Lowered<Halves> {
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) && !is_int128(&value.ty.ty) {
            let count = self.value(value)?;
            return self.extended(count, &value.ty);
        }
        self.wide(value)
    }

    /// The new value of an object of fewer bits that is changed by an operator on 128.
    pub(super) fn changed_by_wide(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        target: &Expr,
        value: &Expr,
        via: &QTy,
    ) -> Lowered<ir::Expr> {
        self.refuse_atomic(target)?;
        let operand = self.wide(value)?;
        let place = self.place(target)?;
        self.at(expr.pos);
        let old = self.read(&place, &target.ty, "old")?;
        let old = self.extended(old, &target.ty)?;
        let new = self.wide_operate(op, old, operand, via)?;
        let new = self.narrowed(new, &via.ty, &target.ty, expr)?;
        let new = self.hold("new", new);
        self.write(&place, &target.ty, new.clone())?;
        self.stored(&place, &target.ty, new)
    }

    /// A value of 64 bits or less in 128.
    fn extended(&mut self, value: ir::Expr, ty: &QTy) -> Lowered<Halves> {
        let signed = ty.ty.int().is_some_and(IntKind::signed);
        let scalar = self.scalar(ty)?;
        let word = Ty::Int(if signed { IntKind::LLong } else { IntKind::ULLong });
        let low = match scalar {
            Type::Ptr => convert(&self.program.checker.types, value, &ty.ty, &word),
            _ => resize(value, scalar, Type::I64, signed),
        };
        let low = if matches!(low, ir::Expr::Const(..) | ir::Expr::Reg(_)) { low } else { self.hold("low", low) };
        let high = if signed { binary(BinOp::AShr, low.clone(), number(63)) } else { number(0) };
        Ok([low, high])
    }

    fn widened(&mut self, expr: &Expr, inner: &Expr) -> Lowered<Halves> {
        match &inner.ty.ty {
            Ty::Int128 { .. } => self.wide(inner),
            Ty::Float(_) => {
                let value = self.value(inner)?;
                self.at(expr.pos);
                self.wide_from_float(value, &inner.ty.ty, &expr.ty.ty, expr)
            }
            _ => {
                let value = self.value(inner)?;
                self.extended(value, &inner.ty)
            }
        }
    }

    /// The value of an expression of 128 bits in a type of fewer, or in a floating one.
    pub(super) fn narrow(&mut self, inner: &Expr, to: &QTy, at: &Expr) -> Lowered<ir::Expr> {
        let value = self.wide(inner)?;
        self.at(at.pos);
        self.narrowed(value, &inner.ty.ty, to, at)
    }

    fn narrowed(&mut self, value: Halves, from: &Ty, to: &QTy, at: &Expr) -> Lowered<ir::Expr> {
        match &to.ty {
            Ty::Float(_) => self.wide_to_float(value, from, &to.ty, at),
            Ty::Int(IntKind::Bool) => {
                let [low, high] = value;
                Ok(from_bool(binary(BinOp::Ne, binary(BinOp::Or, low, high), number(0)), self.scalar(to)?))
            }
            _ => {
                let [low, _] = value;
                Ok(self.converted(low, &Ty::Int(IntKind::ULLong), &to.ty))
            }
        }
    }

    /// Without its sign, and whether it has one.
    fn magnitude(&mut self, value: &Halves, signed: bool) -> Lowered<(Halves, ir::Expr)> {
        if !signed {
            return Ok((value.clone(), ir::Expr::bool(false)));
        }
        let below = self.hold("below", negative(value));
        let zero = [number(0), number(0)];
        let negated = self.wide_operate(BinaryOp::Sub, zero, value.clone(), &Ty::Int128 { signed: false }.plain())?;
        let chosen = negated.into_iter().zip(value.clone());
        let sizes = chosen.map(|(n, p)| ir::Expr::Select(Box::new(below.clone()), Box::new(n), Box::new(p)));
        let sizes: Vec<ir::Expr> = sizes.collect();
        let [low, high] = <[ir::Expr; 2]>::try_from(sizes).expect("there are two halves");
        Ok(([self.hold("low", low), self.hold("high", high)], below))
    }

    fn wide_to_float(&mut self, value: Halves, from: &Ty, to: &Ty, at: &Expr) -> Lowered<ir::Expr> {
        let ([low, high], below) = self.magnitude(&value, is_signed(from))?;
        let name = match to {
            Ty::Float(FloatKind::Float) => "__raddle_wide_to_float",
            _ => "__raddle_wide_to_double",
        };
        let word = Ty::Int(IntKind::ULLong).plain();
        let args = vec![(low, word.clone()), (high, word)];
        let size = self.library_call(name, args, &to.clone().plain(), at.pos)?;
        let size = self.hold("size", size);
        let negated = ir::Expr::unary(UnOp::Float(FloatUn::Neg), size.clone());
        Ok(match below {
            ir::Expr::Const(_, 0) => size,
            below => ir::Expr::Select(Box::new(below), Box::new(negated), Box::new(size)),
        })
    }

    /// A number that is out of range has no value (C11 6.3.1.4p1).
    fn wide_from_float(&mut self, value: ir::Expr, from: &Ty, to: &Ty, at: &Expr) -> Lowered<Halves> {
        let double = Ty::Float(FloatKind::Double);
        let value = self.converted(value, from, &double);
        let value = self.hold("number", value);
        let (low, high) = float::wide_range(is_signed(to));
        let bound = |bound: f64| number(bound.to_bits());
        let fits = binary(
            BinOp::And,
            binary(BinOp::Float(FloatBin::Le), bound(low), value.clone()),
            binary(BinOp::Float(FloatBin::Lt), value.clone(), bound(high)),
        );
        self.refuse(not(fits), ErrorKind::Arithmetic, TOO_LARGE);
        let below = binary(BinOp::Float(FloatBin::Lt), value.clone(), bound(0.0));
        let below = self.hold("below", below);
        let size = self.hold("size", ir::Expr::unary(UnOp::Float(FloatUn::Abs), value));
        let result = self.in_memory(2);
        let pointer = Ty::Int(IntKind::ULLong).plain().pointer().plain();
        let args = vec![(size, double.plain()), (result.clone(), pointer)];
        self.library_call("__raddle_wide_from_double", args, &Ty::Void.plain(), at.pos)?;
        let size = self.load_wide(&result);
        let zero = [number(0), number(0)];
        let negated = self.wide_operate(BinaryOp::Sub, zero, size.clone(), &Ty::Int128 { signed: false }.plain())?;
        let [low, high] = size;
        let [not_low, not_high] = negated;
        let pick = |n, p| ir::Expr::Select(Box::new(below.clone()), Box::new(n), Box::new(p));
        Ok([pick(not_low, low), pick(not_high, high)])
    }

    /// Where a library function leaves its result.
    fn in_memory(&mut self, words: u32) -> ir::Expr {
        ir::Expr::Local(self.b.local("wide", Layout::Array(Type::I64, words)))
    }

    /// An operator on values of this type; for shifts, the second is the count.
    pub(super) fn wide_operate(&mut self, op: BinaryOp, a: Halves, b: Halves, ty: &QTy) -> Lowered<Halves> {
        debug_assert!(!is_comparison(op), "comparisons have no value of 128 bits");
        let signed = is_signed(&ty.ty);
        let mut held = |name: &str, halves: Halves| {
            halves.map(|half| match half {
                ir::Expr::Const(..) | ir::Expr::Reg(_) => half,
                half => self.hold(name, half),
            })
        };
        let (a, b) = (held("left", a), held("right", b));
        let checked = signed && self.program.options.overflow_is_error;
        let overflows = "signed arithmetic overflows";
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let result = self.sum(op, &a, &b);
                if checked {
                    let signs = [&a, &b, &result].map(negative);
                    let [x, y, z] = signs;
                    let y = if op == BinaryOp::Sub { not(y) } else { y };
                    let wrong = binary(BinOp::And, binary(BinOp::Eq, x.clone(), y), binary(BinOp::Ne, x, z));
                    self.refuse(wrong, ErrorKind::Arithmetic, overflows);
                }
                Ok(result)
            }
            BinaryOp::Mul => {
                if checked {
                    let lost = self.product_lost(&a, &b, true)?;
                    self.refuse(lost, ErrorKind::Arithmetic, overflows);
                }
                Ok(self.product(&a, &b))
            }
            BinaryOp::Div | BinaryOp::Rem => self.quotient(op, &a, &b, signed),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let op = match op {
                    BinaryOp::And => BinOp::And,
                    BinaryOp::Or => BinOp::Or,
                    _ => BinOp::Xor,
                };
                let ([a_low, a_high], [b_low, b_high]) = (a, b);
                Ok([binary(op, a_low, b_low), binary(op, a_high, b_high)])
            }
            _ => {
                let [count, beyond] = b;
                let inside = binary(BinOp::ULt, count.clone(), number(128));
                let inside = binary(BinOp::And, inside, binary(BinOp::Eq, beyond, number(0)));
                self.refuse(not(inside), ErrorKind::Arithmetic, "a shift by the width of its operand or more");
                let result = self.shifted(op, &a, &count, signed);
                if checked && op == BinaryOp::Shl {
                    let back = self.shifted(BinaryOp::Shr, &result, &count, true);
                    let wrong = binary(BinOp::Or, not(equal(&back, &a)), negative(&a));
                    self.refuse(wrong, ErrorKind::Arithmetic, "a signed number is shifted out of its type");
                }
                Ok(result)
            }
        }
    }

    fn sum(&mut self, op: BinaryOp, a: &Halves, b: &Halves) -> Halves {
        let (op, plus) = if op == BinaryOp::Add { (BinOp::Add, true) } else { (BinOp::Sub, false) };
        let low = binary(op, a[0].clone(), b[0].clone());
        let low = self.hold("low", low);
        let carried = match plus {
            true => binary(BinOp::ULt, low.clone(), a[0].clone()),
            false => binary(BinOp::ULt, a[0].clone(), b[0].clone()),
        };
        let high = binary(op, a[1].clone(), b[1].clone());
        let high = binary(op, high, from_bool(carried, Type::I64));
        [low, self.hold("high", high)]
    }

    fn product(&mut self, a: &Halves, b: &Halves) -> Halves {
        let times = |x: &ir::Expr, y: &ir::Expr| match (x, y) {
            (ir::Expr::Const(_, 0), _) | (_, ir::Expr::Const(_, 0)) => number(0),
            _ => binary(BinOp::Mul, x.clone(), y.clone()),
        };
        let plus = |x: ir::Expr, y: ir::Expr| match x {
            ir::Expr::Const(_, 0) => y,
            x => binary(BinOp::Add, x, y),
        };
        let bottom = |x: &ir::Expr| binary(BinOp::And, x.clone(), number(u64::from(u32::MAX)));
        let top = |x: &ir::Expr| binary(BinOp::LShr, x.clone(), number(32));
        let (x, y) = (&a[0], &b[0]);
        let mut held = |value: ir::Expr| if let ir::Expr::Const(..) = value { value } else { self.hold("part", value) };
        let low = held(times(x, y));
        let corner = held(times(&bottom(x), &bottom(y)));
        let (left, right) = (held(times(&top(x), &bottom(y))), held(times(&bottom(x), &top(y))));
        let middle = held(plus(plus(top(&corner), bottom(&left)), bottom(&right)));
        let carried = held(plus(plus(top(&left), top(&right)), top(&middle)));
        let high = held(plus(times(&top(x), &top(y)), carried));
        let high = plus(high, plus(times(&a[0], &b[1]), times(&a[1], &b[0])));
        [low, held(high)]
    }

    /// Whether a product does not fit its type.
    fn product_lost(&mut self, a: &Halves, b: &Halves, signed: bool) -> Lowered<ir::Expr> {
        let (word, int) = (Ty::Int(IntKind::ULLong).plain(), Ty::INT.plain());
        let mut args: Vec<_> = a.iter().chain(b).map(|half| (half.clone(), word.clone())).collect();
        args.push((ir::Expr::Const(Type::I32, u64::from(signed)), int.clone()));
        let lost = self.library_call("__raddle_wide_product_lost", args, &int, Default::default())?;
        let lost = self.hold("lost", lost);
        Ok(ir::Expr::binary(BinOp::Ne, lost, ir::Expr::Const(Type::I32, 0)))
    }

    fn quotient(&mut self, op: BinaryOp, a: &Halves, b: &Halves, signed: bool) -> Lowered<Halves> {
        if signed {
            let least = [number(0), number(1 << 63)];
            let wrong = binary(BinOp::And, equal(a, &least), equal(b, &[number(u64::MAX), number(u64::MAX)]));
            self.refuse(wrong, ErrorKind::Arithmetic, "the least number is divided by -1");
        }
        let result = self.in_memory(4);
        let (word, int) = (Ty::Int(IntKind::ULLong).plain(), Ty::INT.plain());
        let pointer = word.clone().pointer().plain();
        let mut args: Vec<_> = a.iter().chain(b).map(|half| (half.clone(), word.clone())).collect();
        args.push((ir::Expr::Const(Type::I32, u64::from(signed)), int));
        args.push((result.clone(), pointer));
        self.library_call("__raddle_wide_divide", args, &Ty::Void.plain(), Default::default())?;
        let at = if op == BinaryOp::Div { 0 } else { 16 };
        Ok(self.load_wide(&offset(result, at)))
    }

    /// By a number below 128. What goes from one half to the other is shifted in two steps, so that no step is one of 64.
    fn shifted(&mut self, op: BinaryOp, a: &Halves, count: &ir::Expr, signed: bool) -> Halves {
        let by = binary(BinOp::And, count.clone(), number(63));
        let rest = binary(BinOp::Sub, number(63), by.clone());
        let far = binary(BinOp::ULe, number(64), count.clone());
        let select = |cond: &ir::Expr, yes: ir::Expr, no: ir::Expr| match cond {
            ir::Expr::Const(_, 0) => no,
            ir::Expr::Const(..) => yes,
            cond => ir::Expr::Select(Box::new(cond.clone()), Box::new(yes), Box::new(no)),
        };
        let result = if op == BinaryOp::Shl {
            let across = binary(BinOp::LShr, binary(BinOp::LShr, a[0].clone(), number(1)), rest);
            let low = binary(BinOp::Shl, a[0].clone(), by.clone());
            let high = binary(BinOp::Or, binary(BinOp::Shl, a[1].clone(), by), across);
            [select(&far, number(0), low.clone()), select(&far, low, high)]
        } else {
            let down = if signed { BinOp::AShr } else { BinOp::LShr };
            let across = binary(BinOp::Shl, binary(BinOp::Shl, a[1].clone(), number(1)), rest);
            let high = binary(down, a[1].clone(), by.clone());
            let low = binary(BinOp::Or, binary(BinOp::LShr, a[0].clone(), by), across);
            let sign = if signed { binary(BinOp::AShr, a[1].clone(), number(63)) } else { number(0) };
            [select(&far, high.clone(), low), select(&far, sign, high)]
        };
        result.map(|half| if let ir::Expr::Const(..) = half { half } else { self.hold("shifted", half) })
    }

    /// `__builtin_add_overflow` and its like where the result has 128 bits, and the operands its type.
    pub(super) fn wide_overflow(&mut self, op: BinaryOp, expr: &Expr, args: &[Expr]) -> Lowered<ir::Expr> {
        let (a, b) = self.wide_operands(op, &args[0], &args[1])?;
        let (a, b) = (a.map(|half| self.hold("left", half)), b.map(|half| self.hold("right", half)));
        self.at(expr.pos);
        let signed = is_signed(&args[2].ty.ty);
        let result = match op {
            BinaryOp::Mul => self.product(&a, &b),
            _ => self.sum(op, &a, &b),
        };
        let over = match op {
            BinaryOp::Mul => self.product_lost(&a, &b, signed)?,
            _ if signed => {
                let (x, y, z) = (negative(&a), negative(&b), negative(&result));
                let y = if op == BinaryOp::Sub { not(y) } else { y };
                binary(BinOp::And, binary(BinOp::Eq, x.clone(), y), binary(BinOp::Ne, x, z))
            }
            BinaryOp::Add => less(&result, &a, false),
            _ => less(&a, &b, false),
        };
        let over = self.hold("over", over);
        let to = self.address(&args[2])?;
        self.put_wide(to, &result);
        Ok(from_bool(over, Type::I8))
    }
}
