//! Expressions of C over registers and memory. Every value has 64 bits; what reads or writes memory becomes an instruction where it stands.

use super::Body;
use crate::Result_;
use crate::lex::Kind;
use crate::types::{CType, Number, is_true, pointers, specifier};
use raddle_program::{BinOp, CastOp, Diagnostic, Expr, Op, Ordering, RmwOp, Span, Term, Type, UnOp, Unwritten};

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) expr: Expr,
    pub(super) ty: CType,
}

impl Value {
    pub(super) fn int(expr: Expr) -> Self {
        Value { expr, ty: CType::INT }
    }

    pub(super) fn number(value: i64) -> Self {
        Value::int(Expr::int(Type::I64, value))
    }

    fn truth(expr: Expr) -> Self {
        Value::int(Expr::cast(CastOp::ZExt, Type::I64, expr))
    }
}

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    Value(Value),
    Variable(String, Span),
    Memory { addr: Expr, ty: CType, span: Span },
}

/// Whether a value is not 0.
pub(super) fn truth(value: Expr) -> Expr {
    match value {
        Expr::Cast(CastOp::ZExt, Type::I64, inner) if is_comparison(&inner) => *inner,
        value => is_true(value),
    }
}

fn is_comparison(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, ..) => op.is_comparison(),
        Expr::Unary(UnOp::Not, inner) => is_comparison(inner),
        _ => false,
    }
}

/// Operators with two operands, the loosest first.
const LEVELS: [&[&str]; 8] =
    [&["|"], &["^"], &["&"], &["==", "!="], &["<", "<=", ">", ">="], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// After so many operators in a row the value so far goes to a register, so that no expression is deep.
const LONG: usize = 16;

impl Body<'_, '_> {
    /// The value of an expression, with commas.
    pub(super) fn expression(&mut self) -> Result_<Value> {
        loop {
            let thing = self.assignment()?;
            let value = self.value(thing)?;
            if !self.cursor.eat(",") {
                return Ok(value);
            }
        }
    }

    /// The value of an argument.
    pub(super) fn argument(&mut self) -> Result_<Value> {
        let thing = self.assignment()?;
        self.value(thing)
    }

    pub(super) fn assignment(&mut self) -> Result_<Thing> {
        self.cursor.enter()?;
        let place = self.cursor.span();
        let target = self.choice()?;
        let Kind::Sign(sign) = self.cursor.peek() else {
            self.cursor.leave();
            return Ok(target);
        };
        let op = match *sign {
            "=" => None,
            "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => Some(&sign[..sign.len() - 1]),
            _ => {
                self.cursor.leave();
                return Ok(target);
            }
        };
        self.cursor.advance();
        let right = self.argument()?;
        self.builder.at(place);
        let result = match op {
            None => self.write(target, right)?,
            Some(op) => self.update(target, op, right, place)?.1,
        };
        self.cursor.leave();
        Ok(Thing::Value(result))
    }

    /// Changes something by an operator; the value before and the value after.
    fn update(&mut self, target: Thing, op: &str, right: Value, place: Span) -> Result_<(Value, Value)> {
        if let Thing::Memory { addr, ty, .. } = &target
            && ty.is_atomic()
        {
            let rmw = match op {
                "+" => RmwOp::Add,
                "-" => RmwOp::Sub,
                "&" => RmwOp::And,
                "|" => RmwOp::Or,
                "^" => RmwOp::Xor,
                _ => {
                    return Err(
                        Diagnostic::new(place, format!("`{op}=` of an atomic location is not supported")).into()
                    );
                }
            };
            let old = self.rmw(rmw, addr.clone(), ty, right.clone(), Ordering::SeqCst, place)?;
            let new = self.combine(op, old.clone(), right, place)?;
            return Ok((old, new));
        }
        let found = self.value(target.clone())?;
        let old = self.kept(found);
        let new = self.combine(op, old.clone(), right, place)?;
        let new = self.write(target, new)?;
        Ok((old, new))
    }

    /// The value in a register of its own, for what changes the register that it stands in.
    fn kept(&mut self, value: Value) -> Value {
        let dst = self.builder.reg("old", Type::I64);
        self.push(Op::Assign { dst, value: value.expr });
        Value { expr: Expr::Reg(dst), ty: value.ty }
    }

    /// `a ? b : c`, `a || b`, `a && b` and what binds tighter. Where nothing has an effect, nothing branches.
    fn choice(&mut self) -> Result_<Thing> {
        let thing = self.either()?;
        if !self.cursor.eat("?") {
            return Ok(thing);
        }
        let cond = truth(self.value(thing)?.expr);
        let dst = self.builder.reg("chosen", Type::I64);
        let [then, otherwise, after] = [(); 3].map(|()| self.builder.block());
        self.builder.terminate(Term::If(cond, then, otherwise));
        self.builder.switch_to(then);
        let first = self.expression()?;
        self.push(Op::Assign { dst, value: first.expr });
        self.builder.terminate(Term::Goto(after));
        self.cursor.expect(":")?;
        self.builder.switch_to(otherwise);
        self.cursor.enter()?;
        let second = self.choice()?;
        self.cursor.leave();
        let second = self.value(second)?;
        self.push(Op::Assign { dst, value: second.expr });
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(after);
        Ok(Thing::Value(Value { expr: Expr::Reg(dst), ty: first.ty }))
    }

    fn either(&mut self) -> Result_<Thing> {
        self.shortcut("||", true, Self::both)
    }

    fn both(&mut self) -> Result_<Thing> {
        self.shortcut("&&", false, |body| body.level(0))
    }

    /// Operands up to the first that decides.
    fn shortcut(&mut self, sign: &str, decides: bool, operand: fn(&mut Self) -> Result_<Thing>) -> Result_<Thing> {
        let first = operand(self)?;
        if !self.cursor.is(sign) {
            return Ok(first);
        }
        let dst = self.builder.reg("decided", Type::I64);
        let after = self.builder.block();
        let mut part = first;
        loop {
            let value = truth(self.value(part)?.expr);
            self.push(Op::Assign { dst, value: Expr::cast(CastOp::ZExt, Type::I64, value) });
            if !self.cursor.eat(sign) {
                break;
            }
            let next = self.builder.block();
            let decided = is_true(Expr::Reg(dst));
            let term = if decides { Term::If(decided, after, next) } else { Term::If(decided, next, after) };
            self.builder.terminate(term);
            self.builder.switch_to(next);
            part = operand(self)?;
        }
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(after);
        Ok(Thing::Value(Value::int(Expr::Reg(dst))))
    }

    fn level(&mut self, level: usize) -> Result_<Thing> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut thing = self.level(level + 1)?;
        let mut length = 0;
        while let Kind::Sign(sign) = self.cursor.peek()
            && signs.contains(sign)
        {
            let place = self.cursor.span();
            self.cursor.advance();
            let left = self.value(thing)?;
            let right = self.level(level + 1)?;
            let right = self.value(right)?;
            let mut value = self.combine(sign, left, right, place)?;
            length += 1;
            if length % LONG == 0 {
                value = self.kept(value);
            }
            thing = Thing::Value(value);
        }
        Ok(thing)
    }

    /// `left op right`.
    pub(super) fn combine(&mut self, op: &str, left: Value, right: Value, place: Span) -> Result_<Value> {
        let comparison = |op, a, b| Ok(Value::truth(Expr::binary(op, a, b)));
        let plain = match op {
            "==" => return comparison(BinOp::Eq, left.expr, right.expr),
            "!=" => return comparison(BinOp::Ne, left.expr, right.expr),
            "<" => return comparison(BinOp::SLt, left.expr, right.expr),
            "<=" => return comparison(BinOp::SLe, left.expr, right.expr),
            ">" => return comparison(BinOp::SLt, right.expr, left.expr),
            ">=" => return comparison(BinOp::SLe, right.expr, left.expr),
            "|" => BinOp::Or,
            "^" => BinOp::Xor,
            "&" => BinOp::And,
            "<<" => BinOp::Shl,
            ">>" => BinOp::AShr,
            "+" => BinOp::Add,
            "-" => BinOp::Sub,
            "*" => BinOp::Mul,
            "/" => BinOp::SDiv,
            "%" => BinOp::SRem,
            _ => return Err(Diagnostic::new(place, format!("`{op}` is not supported in litmus tests")).into()),
        };
        let scaled = |number: Expr, to: &CType| {
            let size = to.number().map_or(1, |number| number.cell().size());
            Expr::binary(BinOp::Mul, number, Expr::int(Type::I64, i64::from(size)))
        };
        let (ty, a, b) = match (plain, &left.ty, &right.ty) {
            (BinOp::Add | BinOp::Sub, CType::Pointer { to, .. }, CType::Number { .. }) => {
                (left.ty.clone(), left.expr, scaled(right.expr, to))
            }
            (BinOp::Add, CType::Number { .. }, CType::Pointer { to, .. }) => {
                (right.ty.clone(), scaled(left.expr, to), right.expr)
            }
            (_, CType::Pointer { .. }, _) => (left.ty.clone(), left.expr, right.expr),
            _ => (CType::INT, left.expr, right.expr),
        };
        Ok(Value { expr: Expr::binary(plain, a, b), ty })
    }

    fn unary(&mut self) -> Result_<Thing> {
        self.cursor.enter()?;
        let thing = self.one_unary()?;
        self.cursor.leave();
        Ok(thing)
    }

    fn one_unary(&mut self) -> Result_<Thing> {
        let place = self.cursor.span();
        for (sign, op) in [("++", "+"), ("--", "-")] {
            if self.cursor.eat(sign) {
                let target = self.unary()?;
                return Ok(Thing::Value(self.update(target, op, Value::number(1), place)?.1));
            }
        }
        if self.cursor.eat("*") {
            let inner = self.unary()?;
            let inner = self.value(inner)?;
            return Ok(self.pointed(inner, place));
        }
        if self.cursor.eat("&") {
            let inner = self.unary()?;
            return match inner {
                Thing::Memory { addr, ty, .. } => {
                    let expr = Expr::cast(CastOp::ZExt, Type::I64, addr);
                    Ok(Thing::Value(Value { expr, ty: ty.pointer_to() }))
                }
                Thing::Variable(name, _) => {
                    let message = format!("the address of the register `{name}` is only taken in compare-exchanges");
                    Err(Diagnostic::new(place, message).into())
                }
                Thing::Value(_) => Err(Diagnostic::new(place, "this has no address").into()),
            };
        }
        if self.cursor.eat("!") {
            let inner = self.unary()?;
            let inner = truth(self.value(inner)?.expr);
            return Ok(Thing::Value(Value::truth(inner.negated())));
        }
        for (sign, op) in [("-", Some(UnOp::Neg)), ("~", Some(UnOp::Not)), ("+", None)] {
            if self.cursor.eat(sign) {
                let inner = self.unary()?;
                let inner = self.value(inner)?.expr;
                // A number with a sign is a constant.
                let expr = match (op, inner) {
                    (Some(UnOp::Neg), Expr::Const(ty, value)) => Expr::int(ty, (value as i64).wrapping_neg()),
                    (Some(op), inner) => Expr::unary(op, inner),
                    (None, inner) => inner,
                };
                return Ok(Thing::Value(Value::int(expr)));
            }
        }
        if self.cursor.is("(") {
            // A cast changes how a pointer is used, and nothing else that a test could see.
            let mut ahead = self.cursor.clone();
            ahead.advance();
            if let Some(ty) = specifier(&mut ahead)? {
                let ty = pointers(&mut ahead, ty);
                ahead.expect(")")?;
                self.cursor = ahead;
                let inner = self.unary()?;
                let inner = self.value(inner)?;
                let expr = match ty.number() {
                    Some(number @ (Number::Narrow(..) | Number::Truth)) => number.widened(number.narrowed(inner.expr)),
                    _ => inner.expr,
                };
                return Ok(Thing::Value(Value { expr, ty }));
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result_<Thing> {
        let mut thing = self.primary()?;
        loop {
            let place = self.cursor.span();
            if self.cursor.eat("[") {
                let base = self.value(thing)?;
                let index = self.expression()?;
                self.cursor.expect("]")?;
                let base = self.combine("+", base, index, place)?;
                thing = self.pointed(base, place);
                continue;
            }
            let step = [("++", "+"), ("--", "-")].into_iter().find(|(sign, _)| self.cursor.eat(sign));
            if let Some((_, op)) = step {
                let (old, _) = self.update(thing, op, Value::number(1), place)?;
                thing = Thing::Value(old);
                continue;
            }
            if self.cursor.is("->") || self.cursor.is(".") {
                return Err(self.cursor.error("structs are not supported in litmus tests"));
            }
            return Ok(thing);
        }
    }

    fn primary(&mut self) -> Result_<Thing> {
        let place = self.cursor.span();
        if self.cursor.eat("(") {
            // Brackets keep what they are around: `(*x) = 1`.
            let thing = self.assignment()?;
            if self.cursor.eat(",") {
                self.value(thing)?;
                let value = self.expression()?;
                self.cursor.expect(")")?;
                return Ok(Thing::Value(value));
            }
            self.cursor.expect(")")?;
            return Ok(thing);
        }
        if matches!(self.cursor.peek(), Kind::Number(_)) {
            return Ok(Thing::Value(Value::number(self.cursor.number("a number")?)));
        }
        let (name, _) = self.cursor.word("an expression")?;
        if self.cursor.is("(") {
            return self.call(&name, place).map(Thing::Value);
        }
        for (word, number) in [("NULL", 0), ("true", 1), ("false", 0)] {
            if name == word {
                return Ok(Thing::Value(Value::number(number)));
            }
        }
        if let Some((at, ty)) = self.parameters.get(&name) {
            let expr = Expr::cast(CastOp::ZExt, Type::I64, Expr::Global(self.world.global(*at)));
            return Ok(Thing::Value(Value { expr, ty: ty.clone().pointer_to() }));
        }
        if !self.variables.contains_key(&name) && self.world.known(&name).is_some() {
            let message = format!("`{name}` is no parameter of this thread");
            let help = format!("the locations that a thread uses are its parameters: P0 (int *{name})");
            return Err(Diagnostic::new(place, message).help(help).into());
        }
        Ok(Thing::Variable(name, place))
    }

    /// What a pointer points to.
    pub(super) fn pointed(&mut self, pointer: Value, span: Span) -> Thing {
        let ty = match pointer.ty {
            CType::Pointer { to, .. } if *to != CType::Void => *to,
            // The format has no types to speak of: a number that is followed is an address.
            _ => CType::INT,
        };
        Thing::Memory { addr: address(pointer.expr), ty, span }
    }

    /// The value of what an expression stands for.
    pub(super) fn value(&mut self, thing: Thing) -> Result_<Value> {
        match thing {
            Thing::Value(value) => Ok(value),
            Thing::Variable(name, span) => match self.variables.get(&name) {
                Some((reg, ty)) => Ok(Value { expr: Expr::Reg(*reg), ty: ty.clone() }),
                None => Err(Diagnostic::new(span, format!("`{name}` is not declared")).into()),
            },
            Thing::Memory { addr, ty, span } => {
                let order = if ty.is_atomic() { Ordering::SeqCst } else { Ordering::NonAtomic };
                self.load(addr, &ty, order, span)
            }
        }
    }

    /// Gives a variable or a location a value, which is the result.
    fn write(&mut self, target: Thing, value: Value) -> Result_<Value> {
        match target {
            Thing::Value(_) => Err(self.cursor.error("only registers and locations can be given a value")),
            Thing::Variable(name, _) => Ok(self.assign(&name, value)),
            Thing::Memory { addr, ty, span } => {
                let order = if ty.is_atomic() { Ordering::SeqCst } else { Ordering::NonAtomic };
                self.store(addr, &ty, value.clone(), order, span)?;
                Ok(value)
            }
        }
    }

    /// Gives a variable a value.
    pub(super) fn assign(&mut self, name: &str, value: Value) -> Value {
        self.note_address(&value.expr);
        let dst = self.variable(name, value.ty.clone());
        let ty = self.variables[name].1.clone();
        let number = ty.number().unwrap_or(Number::Int);
        self.push(Op::Assign { dst, value: number.widened(number.narrowed(value.expr)) });
        Value { expr: Expr::Reg(dst), ty }
    }

    pub(super) fn load(&mut self, addr: Expr, ty: &CType, order: Ordering, span: Span) -> Result_<Value> {
        let number = self.number(ty, span)?;
        let cell = number.cell();
        let dst = self.builder.reg("read", cell);
        self.builder.at(span);
        self.push(Op::Load { dst: Some(dst), ty: cell, addr, order, until: None, unwritten: Unwritten::Error });
        Ok(Value { expr: number.widened(Expr::Reg(dst)), ty: unqualified(ty) })
    }

    pub(super) fn store(&mut self, addr: Expr, ty: &CType, value: Value, order: Ordering, span: Span) -> Result_<()> {
        let number = self.number(ty, span)?;
        self.note_address(&value.expr);
        self.builder.at(span);
        self.push(Op::Store { ty: number.cell(), addr, value: number.narrowed(value.expr), order });
        Ok(())
    }

    pub(super) fn rmw(
        &mut self,
        op: RmwOp,
        addr: Expr,
        ty: &CType,
        operand: Value,
        order: Ordering,
        span: Span,
    ) -> Result_<Value> {
        let number = self.number(ty, span)?;
        let cell = number.cell();
        self.note_address(&operand.expr);
        let dst = self.builder.reg("old", cell);
        self.builder.at(span);
        let operand = number.narrowed(operand.expr);
        self.push(Op::Rmw { dst: Some(dst), op, ty: cell, addr, operand, order, idle: None });
        Ok(Value { expr: number.widened(Expr::Reg(dst)), ty: unqualified(ty) })
    }

    pub(super) fn number(&self, ty: &CType, span: Span) -> Result_<Number> {
        ty.number().ok_or_else(|| Diagnostic::new(span, "a mutex can only be locked and unlocked").into())
    }

    /// Addresses that become values are shown by their names.
    pub(super) fn note_address(&mut self, value: &Expr) {
        value.walk(&mut |part| self.world.addresses |= matches!(part, Expr::Global(_)));
    }
}

/// The type of a value that was read.
fn unqualified(ty: &CType) -> CType {
    match ty {
        CType::Number { number, .. } => CType::Number { number: *number, atomic: false },
        CType::Pointer { to, .. } => CType::Pointer { to: to.clone(), atomic: false },
        other => other.clone(),
    }
}

/// A number as an address.
pub(super) fn address(value: Expr) -> Expr {
    match value {
        Expr::Cast(CastOp::ZExt, Type::I64, inner) if matches!(*inner, Expr::Global(_)) => *inner,
        value => Expr::cast(CastOp::ZExt, Type::Ptr, value),
    }
}
