//! Expressions: constants are folded, literals get their types, places become addresses.
//!
//! A literal without a type takes it from what it meets: the other operand, the target of an assignment, the element
//! of an array; where nothing decides it is an `i32`. So an expression is lowered in two steps: [`Shape`] says
//! what type it has by itself, and lowering passes the type that is expected downwards.
//! What is made of untyped literals and parameters alone is folded at once, on numbers without a width.

use super::Report;
use super::ast::{Ast, Infix, Kind, Name, Place, PlaceKind, Prefix};
use super::lower_body::{Binding, Body};
use super::names::did_you_mean;
use crate::expr::{BinOp, CastOp, Expr, UnOp};
use crate::float::is_float;
use crate::partial::Field;
use crate::program::{GlobalId, Layout, LocalId};
use crate::source::{Diagnostic, Span};
use crate::types::Type;

/// Whether an expression is made of untyped numbers alone.
pub(super) enum Konst {
    /// It is not.
    No,
    /// It is, and this is its value.
    Value(i128),
    /// It is, but has no value.
    Bad(Span, String),
}

/// Numbers of a constant expression stay within this.
const LIMIT: i128 = 1 << 64;

/// Evaluates a constant expression.
pub(super) fn constant(ast: &Ast<'_>, param: &impl Fn(&str) -> Option<i128>) -> Konst {
    let value = match &ast.kind {
        Kind::Int(value, None) => Some(*value),
        Kind::Name(name) => return param(&name.text).map_or(Konst::No, Konst::Value),
        Kind::Unary(op, a) => match (op, constant(a, param)) {
            (Prefix::Neg, Konst::Value(a)) => Some(-a),
            (Prefix::Complement, Konst::Value(a)) => Some(!a),
            (Prefix::Not, Konst::Value(_)) => return Konst::No,
            (_, other) => return other,
        },
        Kind::Binary(infix, a, b) if !infix.logical => {
            let (a, b) = match (constant(a, param), constant(b, param)) {
                (Konst::Value(a), Konst::Value(b)) => (a, b),
                (bad @ Konst::Bad(..), _) | (_, bad @ Konst::Bad(..)) => return bad,
                _ => return Konst::No,
            };
            let (a, b) = if infix.swapped { (b, a) } else { (a, b) };
            fold(infix.op, a, b)
        }
        _ => return Konst::No,
    };
    match value {
        Some(value) if value.abs() <= LIMIT => Konst::Value(value),
        Some(_) => Konst::Bad(ast.span, "this constant does not fit in 64 bits".to_owned()),
        None => Konst::Bad(ast.span, "this constant has no value".to_owned()),
    }
}

fn fold(op: BinOp, a: i128, b: i128) -> Option<i128> {
    let shift = || u32::try_from(b).ok().filter(|&b| b < 64);
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::SDiv | BinOp::UDiv => a.checked_div(b),
        BinOp::SRem | BinOp::URem => a.checked_rem(b),
        BinOp::And => Some(a & b),
        BinOp::Or => Some(a | b),
        BinOp::Xor => Some(a ^ b),
        BinOp::Shl => a.checked_mul(1i128 << shift()?),
        BinOp::LShr | BinOp::AShr => Some(a >> shift()?),
        BinOp::Eq => Some(i128::from(a == b)),
        BinOp::Ne => Some(i128::from(a != b)),
        BinOp::ULt | BinOp::SLt => Some(i128::from(a < b)),
        BinOp::ULe | BinOp::SLe => Some(i128::from(a <= b)),
        BinOp::Float(_) | BinOp::Splice(_) => None,
    }
}

/// `value` as a bit pattern of type `ty`, if it fits there, read with or without a sign.
pub(super) fn literal(value: i128, ty: Type, span: Span, report: &mut Report) -> Option<u64> {
    let (least, greatest) = (-(1i128 << (ty.bits() - 1)), i128::from(ty.mask()));
    if (least..=greatest).contains(&value) {
        return Some(ty.truncate(value as u64));
    }
    let message = format!("{value} does not fit in `{ty}`");
    report.add(Diagnostic::new(span, message).label(format!("expected {least} to {greatest}")));
    None
}

/// What is known of the type of an expression before it is lowered.
#[derive(Clone, Copy)]
enum Shape {
    Typed(Type),
    Open,
}

impl Shape {
    fn ty(self) -> Option<Type> {
        match self {
            Shape::Typed(ty) => Some(ty),
            Shape::Open => None,
        }
    }
}

/// What a name in a place refers to.
pub(super) enum Base {
    Local(LocalId, Layout),
    Global(GlobalId, Layout),
    Pointer(Expr),
    Func(Expr),
}

impl Body<'_, '_> {
    fn param(&self, name: &str) -> Option<i128> {
        match self.lookup(name) {
            Some(_) => None,
            None => self.items.params.get(name).copied(),
        }
    }

    fn konst(&self, ast: &Ast<'_>) -> Konst {
        constant(ast, &|name| self.param(name))
    }

    fn shape(&self, ast: &Ast<'_>) -> Shape {
        match &ast.kind {
            Kind::Int(_, ty) => ty.map_or(Shape::Open, Shape::Typed),
            Kind::Bool(_) | Kind::Unary(Prefix::Not, _) => Shape::Typed(Type::I1),
            Kind::Null | Kind::AddressOf(_) => Shape::Typed(Type::Ptr),
            Kind::Name(name) => match self.lookup(&name.text) {
                Some(Binding::Reg(reg)) => Shape::Typed(self.function.reg_type(reg)),
                _ => Shape::Open,
            },
            Kind::Unary(_, a) => self.shape(a),
            Kind::Cast(_, to, _) => Shape::Typed(*to),
            Kind::Float(_, a) => self.shape(a),
            Kind::Floats(op, ..) if op.is_comparison() => Shape::Typed(Type::I1),
            Kind::Floats(_, a, _) | Kind::Splice(_, a, _) => self.shape(a),
            Kind::Select(_, a, b) => match self.shape(a) {
                Shape::Open => self.shape(b),
                typed => typed,
            },
            Kind::Binary(infix, a, b) => {
                if infix.logical || infix.op.is_comparison() {
                    return Shape::Typed(Type::I1);
                }
                match (infix.op, self.shape(a).ty(), self.shape(b).ty()) {
                    (BinOp::Sub, Some(Type::Ptr), Some(Type::Ptr)) => Shape::Typed(Type::I64),
                    (BinOp::Add, _, Some(Type::Ptr)) => Shape::Typed(Type::Ptr),
                    (_, Some(ty), _) | (_, None, Some(ty)) => Shape::Typed(ty),
                    (_, None, None) => Shape::Open,
                }
            }
        }
    }

    /// The type an expression has by itself, if it has one.
    pub(super) fn own_type(&self, ast: &Ast<'_>) -> Option<Type> {
        self.shape(ast).ty()
    }

    /// Lowers an expression that must have type `ty`.
    pub(super) fn expr_as(&mut self, ast: &Ast<'_>, ty: Type) -> Option<Expr> {
        let (expr, found) = self.expr(ast, Some(ty))?;
        if found == ty {
            return Some(expr);
        }
        let mut diagnostic = Diagnostic::new(ast.span, format!("expected a value of type `{ty}`, found `{found}`"))
            .label(format!("this is `{found}`"));
        diagnostic = match (found, ty) {
            (Type::Ptr, Type::I64) | (Type::I64, Type::Ptr) => diagnostic.help(format!("write `zext({ty}, ...)`")),
            (Type::Ptr, _) | (_, Type::Ptr) => diagnostic,
            (_, Type::I1) => diagnostic.help("compare it with something: `... != 0`"),
            (Type::I1, _) => diagnostic.help(format!("write `zext({ty}, ...)`")),
            _ if found.bits() < ty.bits() => {
                diagnostic.help(format!("write `sext({ty}, ...)`, or `zext({ty}, ...)` if it has no sign"))
            }
            _ => diagnostic.help(format!("write `trunc({ty}, ...)`")),
        };
        self.report.add(diagnostic);
        None
    }

    /// Lowers an expression; `expected` is the type an untyped literal takes.
    pub(super) fn expr(&mut self, ast: &Ast<'_>, expected: Option<Type>) -> Option<(Expr, Type)> {
        match self.konst(ast) {
            Konst::Value(value) => {
                let comparison = matches!(&ast.kind, Kind::Binary(infix, ..) if infix.op.is_comparison());
                let ty = if comparison { Type::I1 } else { expected.unwrap_or(Type::I32) };
                if ty == Type::Ptr && value != 0 {
                    let help = format!("write `{value}ptr` if you mean the address {value}");
                    self.report.add(Diagnostic::new(ast.span, "expected a pointer, found a number").help(help));
                    return None;
                }
                let value = literal(value, ty, ast.span, self.report)?;
                return Some((Expr::Const(ty, value), ty));
            }
            Konst::Bad(span, message) => {
                self.report.add(Diagnostic::new(span, message));
                return None;
            }
            Konst::No => {}
        }
        match &ast.kind {
            Kind::Int(value, ty) => {
                let ty = ty.or(expected).unwrap_or(Type::I32);
                Some((Expr::Const(ty, literal(*value, ty, ast.span, self.report)?), ty))
            }
            Kind::Bool(value) => Some((Expr::bool(*value), Type::I1)),
            Kind::Null => Some((Expr::null(), Type::Ptr)),
            Kind::Name(name) => self.named_value(name),
            Kind::AddressOf(place) => {
                let (address, _) = self.address(place, None)?;
                Some((address, Type::Ptr))
            }
            Kind::Unary(Prefix::Not, a) => Some((self.expr_as(a, Type::I1)?.negated(), Type::I1)),
            Kind::Unary(op, a) => {
                let (a, ty) = self.expr(a, expected)?;
                Some((Expr::unary(op.op(), a), ty))
            }
            Kind::Binary(infix, a, b) => self.binary(infix, a, b, expected),
            Kind::Cast(op, to, a) => self.cast(*op, *to, a, ast.span),
            Kind::Float(op, a) => {
                let (a, ty) = self.float(a, expected)?;
                Some((Expr::unary(UnOp::Float(*op), a), ty))
            }
            Kind::Floats(op, a, b) => {
                let (a, ty) = self.float(a, self.own_type(b).or(expected).filter(|_| !op.is_comparison()))?;
                let b = self.expr_as(b, ty)?;
                let result = if op.is_comparison() { Type::I1 } else { ty };
                Some((Expr::binary(BinOp::Float(*op), a, b), result))
            }
            Kind::Splice(op, a, b) => {
                let (a, ty) = self.expr(a, expected)?;
                let (b, other) = self.expr(b, None)?;
                let from = Field { shift: op.from, width: op.to.width };
                if ty == Type::Ptr || other == Type::Ptr || !op.to.fits(ty.bits()) || !from.fits(other.bits()) {
                    let message = format!("an `{ty}` and an `{other}` do not have these bits");
                    let help = "write `splice(a, b, to, width, from)`: so many bits of `a` are replaced by bits of `b`";
                    self.report.add(Diagnostic::new(ast.span, message).help(help));
                    return None;
                }
                Some((Expr::binary(BinOp::Splice(*op), a, b), ty))
            }
            Kind::Select(cond, a, b) => {
                let ty = self.own_type(a).or(self.own_type(b)).or(expected).unwrap_or(Type::I32);
                let cond = self.expr_as(cond, Type::I1)?;
                let (a, b) = (self.expr_as(a, ty)?, self.expr_as(b, ty)?);
                Some((Expr::Select(Box::new(cond), Box::new(a), Box::new(b)), ty))
            }
        }
    }

    /// Lowers an operand that is a floating-point number.
    fn float(&mut self, ast: &Ast<'_>, expected: Option<Type>) -> Option<(Expr, Type)> {
        let (expr, ty) = self.expr(ast, expected)?;
        if is_float(ty) {
            return Some((expr, ty));
        }
        let message = format!("expected a floating-point number, which is an `i32` or an `i64`, found `{ty}`");
        self.report.add(Diagnostic::new(ast.span, message));
        None
    }

    fn cast(&mut self, op: CastOp, to: Type, a: &Ast<'_>, span: Span) -> Option<(Expr, Type)> {
        let (a, from) = self.expr(a, None)?;
        if op.allows(from, to) {
            return Some((Expr::cast(op, to, a), to));
        }
        let message = format!("`{}` does not lead from `{from}` to `{to}`", op.name());
        let help = match op {
            _ if from == to && !matches!(op, CastOp::Float(_)) => "it has that type already: leave the cast out",
            CastOp::Trunc => "`trunc` leads to a narrower type; `zext` and `sext` to a wider one",
            CastOp::ZExt => "`zext` leads to a wider type, or between `i64` and `ptr`; `trunc` to a narrower one",
            CastOp::SExt => "`sext` leads to a wider type; `trunc` to a narrower one",
            CastOp::Pack => "`pack` leads from `ptr` to `i32`",
            CastOp::Unpack => "`unpack` leads from `i32` to `ptr`",
            CastOp::Float(_) => "integers are `i64` there, floating-point numbers `i32` or `i64`",
        };
        self.report.add(Diagnostic::new(span, message).help(help));
        None
    }

    fn binary(&mut self, infix: &Infix, a: &Ast<'_>, b: &Ast<'_>, expected: Option<Type>) -> Option<(Expr, Type)> {
        let (sa, sb) = (self.own_type(a), self.own_type(b));
        let pointer = sa == Some(Type::Ptr) || sb == Some(Type::Ptr);
        let (ta, tb, result) = match infix.op {
            _ if infix.logical => (Type::I1, Type::I1, Type::I1),
            BinOp::Sub if sa == Some(Type::Ptr) && sb == Some(Type::Ptr) => (Type::Ptr, Type::Ptr, Type::I64),
            BinOp::Add | BinOp::Sub if sa == Some(Type::Ptr) => (Type::Ptr, Type::I64, Type::Ptr),
            BinOp::Add if sb == Some(Type::Ptr) => (Type::I64, Type::Ptr, Type::Ptr),
            op if op.is_comparison() => {
                let ty = if pointer { Type::Ptr } else { sa.or(sb).unwrap_or(Type::I32) };
                (ty, ty, Type::I1)
            }
            _ if pointer => {
                let message = format!("`{}` has no meaning for pointers", infix.text);
                let help = "turn the pointer into a number first: `zext(i64, p)`";
                self.report.add(Diagnostic::new(super::parser::join(a.span, b.span), message).help(help));
                return None;
            }
            _ => {
                let ty = sa.or(sb).or(expected).unwrap_or(Type::I32);
                (ty, ty, ty)
            }
        };
        let a = self.expr_as(a, ta);
        let b = self.expr_as(b, tb);
        let (a, b) = if infix.swapped { (b?, a?) } else { (a?, b?) };
        Some((Expr::binary(infix.op, a, b), result))
    }

    fn named_value(&mut self, name: &Name<'_>) -> Option<(Expr, Type)> {
        match self.lookup(&name.text) {
            Some(Binding::Reg(reg)) => return Some((Expr::Reg(reg), self.function.reg_type(reg))),
            Some(Binding::Broken) => return None,
            Some(Binding::Local(_)) => {
                self.names_memory(name);
                return None;
            }
            None => {}
        }
        if self.items.globals.contains_key(&*name.text) {
            self.names_memory(name);
        } else if self.items.functions.contains_key(&*name.text) {
            let help = format!("write `&{}` for its address, or call it in a statement of its own", name.text);
            let message = format!("`{}` is a function, not a value", name.text);
            self.report.add(Diagnostic::new(name.span, message).help(help));
        } else {
            self.unknown(name, "register");
        }
        None
    }

    fn names_memory(&mut self, name: &Name<'_>) {
        let message = format!("`{}` is an object in memory, not a value", name.text);
        let help = format!("read it with `let r = load {};`, or write `&{}` for its address", name.text, name.text);
        self.report.add(Diagnostic::new(name.span, message).help(help));
    }

    /// Reports a name nobody declared.
    pub(super) fn unknown(&mut self, name: &Name<'_>, what: &str) {
        let mut diagnostic = Diagnostic::new(name.span, format!("there is no {what} `{}`", name.text));
        let visible: Vec<&str> = self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str)).collect();
        if let Some(guess) = did_you_mean(&name.text, visible.into_iter().chain(self.items.names())) {
            diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
        } else if what == "register" {
            diagnostic = diagnostic.help(format!("declare it with `let {} = ...;`", name.text));
        }
        self.report.add(diagnostic);
    }

    /// What the name at the start of a place refers to.
    pub(super) fn base(&mut self, name: &Name<'_>, global: bool) -> Option<Base> {
        if !global {
            match self.lookup(&name.text) {
                Some(Binding::Broken) => return None,
                Some(Binding::Reg(reg)) if self.function.reg_type(reg) == Type::Ptr => {
                    return Some(Base::Pointer(Expr::Reg(reg)));
                }
                Some(Binding::Reg(_)) => {
                    let message = format!("`{}` is a register, which has no address", name.text);
                    let help = "registers are used in expressions directly; memory is declared with `global` or `var`";
                    self.report.add(Diagnostic::new(name.span, message).help(help));
                    return None;
                }
                Some(Binding::Local(local)) => {
                    return Some(Base::Local(local, self.function.locals[local.index()].layout));
                }
                None => {}
            }
        }
        if let Some(&id) = self.items.globals.get(&*name.text) {
            return Some(Base::Global(id, self.items.layouts[id.index()]));
        }
        if let Some(&id) = self.items.functions.get(&*name.text) {
            return Some(Base::Func(Expr::Func(id)));
        }
        self.unknown(name, "object");
        None
    }

    /// The address of a place, and the type of what is there if its declaration says so.
    /// `access` is the type of the access, if it is written; it is the stride of `p[i]` for a pointer `p`.
    pub(super) fn address(&mut self, place: &Place<'_>, access: Option<Type>) -> Option<(Expr, Option<Type>)> {
        let (name, global, index) = match &place.kind {
            PlaceKind::Deref(address) => return Some((self.expr_as(address, Type::Ptr)?, None)),
            PlaceKind::Name { name, global } => (name, *global, None),
            PlaceKind::Index { name, global, index } => (name, *global, Some(index)),
        };
        let base = self.base(name, global)?;
        let (address, layout) = match base {
            Base::Local(id, layout) => (Expr::Local(id), layout),
            Base::Global(id, layout) => (Expr::Global(id), layout),
            Base::Func(address) if index.is_none() => return Some((address, None)),
            Base::Func(_) => {
                self.report.add(Diagnostic::new(place.span, format!("`{}` is a function, not an array", name.text)));
                return None;
            }
            Base::Pointer(address) => {
                let Some(index) = index else {
                    let message = format!("`{}` is a pointer in a register, not a place", name.text);
                    let help = format!("write `*{}` for what it points to", name.text);
                    self.report.add(Diagnostic::new(place.span, message).help(help));
                    return None;
                };
                let Some(ty) = access else {
                    let message = "the size of an element is not known here";
                    let help = format!("say the type: `load i32 {}[...]`", name.text);
                    self.report.add(Diagnostic::new(place.span, message).help(help));
                    return None;
                };
                return Some((self.element(address, index, ty, None)?, None));
            }
        };
        match (layout, index) {
            (Layout::Array(ty, length), Some(index)) => {
                Some((self.element(address, index, ty, Some(length))?, Some(ty)))
            }
            (Layout::Looper(_, length), Some(index)) => {
                Some((self.element(address, index, Type::I32, Some(length))?, Some(Type::I32)))
            }
            (_, Some(_)) => {
                let message = format!("`{}` is no array", name.text);
                let help = format!("for a part of it write `*(&{} + offset)`", name.text);
                self.report.add(Diagnostic::new(place.span, message).help(help));
                None
            }
            (Layout::Scalar(ty), None) => Some((address, Some(ty))),
            (_, None) => Some((address, None)),
        }
    }

    /// The address of element `index` of an array.
    fn element(&mut self, base: Expr, index: &Ast<'_>, ty: Type, length: Option<u32>) -> Option<Expr> {
        let size = i64::from(ty.size());
        if let Konst::Value(value) = self.konst(index) {
            if let Some(length) = length
                && !(0..i128::from(length)).contains(&value)
            {
                let message = format!("element {value} of an array of {length}");
                let label =
                    if length == 0 { "it has no elements".to_owned() } else { format!("expected 0 to {}", length - 1) };
                self.report.add(Diagnostic::new(index.span, message).label(label));
                return None;
            }
            let value = literal(value, Type::I64, index.span, self.report)? as i64;
            let offset = value.wrapping_mul(size);
            return Some(match offset {
                0 => base,
                _ => Expr::binary(BinOp::Add, base, Expr::int(Type::I64, offset)),
            });
        }
        let (value, found) = self.expr(index, None)?;
        let wide = match found {
            Type::I64 => value,
            Type::I8 | Type::I16 | Type::I32 => Expr::cast(CastOp::SExt, Type::I64, value),
            Type::I1 | Type::Ptr => {
                let message = format!("an index must be a number, not `{found}`");
                self.report.add(Diagnostic::new(index.span, message));
                return None;
            }
        };
        let offset = if size == 1 { wide } else { Expr::binary(BinOp::Mul, wide, Expr::int(Type::I64, size)) };
        Some(Expr::binary(BinOp::Add, base, offset))
    }
}
