//! Names, literals, members, calls, and expressions about types.

use super::convert::OTHER_FLOAT;
use super::{Checked, Checker, Symbol};
use crate::ctype::{IntKind, QTy, Ty, union};
use crate::parse::Fault;
use crate::syntax::{self, BinaryOp, Designator, FloatKind};
use crate::token::{IntLit, Name, Pos};
use crate::tree::{Expr, ExprKind, Init, Storage, Var};
use std::rc::Rc;

/// A type and what `_Generic` is for it; without a type, what it is for all others.
type Arm = (Option<syntax::TypeName>, syntax::Expr);

impl Checker {
    pub(super) fn identifier(&mut self, name: &Name, pos: Pos) -> Checked<Expr> {
        let (kind, ty) = match self.lookup(name) {
            Some(Symbol::Var(id)) if self.lengths.contains_key(id) => {
                let (id, ty) = (*id, self.var(*id).ty.clone());
                let object = Expr { kind: ExprKind::Var(id), ty: ty.clone(), pos };
                let pointer = Expr { kind: ExprKind::Load(Box::new(object)), ty, pos };
                return self.deref(pointer, pos);
            }
            Some(Symbol::Var(id)) => (ExprKind::Var(*id), self.var(*id).ty.clone()),
            Some(Symbol::Func(id)) => (ExprKind::Func(*id), Ty::Func(self.func(*id).ty.clone()).plain()),
            Some(Symbol::Enumerator(value, kind)) => (ExprKind::Const(*value), Ty::Int(*kind).plain()),
            Some(Symbol::Typedef(_)) => return Err(Fault::new(pos, format!("`{name}` is a type, not a value"))),
            None => {
                return Err(Fault { len: name.len() as u32, ..Fault::new(pos, format!("`{name}` is not declared")) });
            }
        };
        Ok(Expr { kind, ty, pos })
    }

    /// The first type of the standard's list that can hold the literal.
    pub(super) fn literal_kind(&self, literal: &IntLit) -> IntKind {
        use IntKind::*;
        let candidates: &[IntKind] = match (literal.unsigned, literal.longs, literal.decimal) {
            (false, 0, true) => &[Int, Long, LLong],
            (false, 0, false) => &[Int, UInt, Long, ULong, LLong],
            (true, 0, _) => &[UInt, ULong],
            (false, 1, true) => &[Long, LLong],
            (false, 1, false) => &[Long, ULong, LLong],
            (true, 1, _) => &[ULong],
            (false, _, true) => &[LLong],
            (false, _, false) => &[LLong],
            (true, _, _) => &[],
        };
        let fits = |kind: &IntKind| {
            let bits = 8 * kind.size(self.types.model) - u32::from(kind.signed());
            literal.value <= u64::MAX >> (64 - bits)
        };
        candidates.iter().copied().find(fits).unwrap_or(ULLong)
    }

    pub(super) fn string_expr(&mut self, units: &[u32], kind: IntKind, pos: Pos) -> Expr {
        let units: Rc<[u32]> = units.iter().copied().chain([0]).collect();
        let n = units.len() as u64;
        let id = self.string(units, kind);
        Expr { kind: ExprKind::Str(id), ty: Ty::Array(Rc::new(Ty::Int(kind).plain()), Some(n)).plain(), pos }
    }

    pub(super) fn member(&self, base: Expr, field: &Name, pos: Pos) -> Checked<Expr> {
        let Ty::Record(id) = base.ty.ty else {
            let shown = self.types.show(&base.ty);
            return Err(Fault::new(pos, format!("`{shown}` has no members")));
        };
        let Some(found) = self.types.field(id, field) else {
            let shown = self.types.show(&base.ty);
            let complete = self.types.record(id).fields.is_some();
            let message = if complete { "has no member" } else { "is incomplete here and has no member" };
            return Err(Fault::new(pos, format!("`{shown}` {message} `{field}`")));
        };
        if base.ty.quals.atomic {
            return Err(Fault::new(pos, "a member of an atomic struct is not supported"));
        }
        let mut ty = found.ty;
        ty.quals = union(ty.quals, base.ty.quals);
        Ok(Expr { kind: ExprKind::Member(Box::new(base), found.offset, found.bits), ty, pos })
    }

    pub(super) fn compound_literal(
        &mut self,
        name: &syntax::TypeName,
        items: &[syntax::InitItem],
        pos: Pos,
    ) -> Checked<Expr> {
        let ty = self.type_name(name)?;
        let (init, ty) = self.braced_initializer(&ty, items, pos)?;
        if self.types.size(&ty.ty).is_none() {
            return Err(Fault::new(pos, "a literal of an incomplete type"));
        }
        if self.function.is_some() {
            let var = Var { name: "literal".into(), ty: ty.clone(), storage: Storage::Auto, align: 0, pos };
            let id = self.new_var(var);
            return Ok(Expr { kind: ExprKind::Literal(id, Box::new(init)), ty, pos });
        }
        // Outside of functions a literal lives as long as the program.
        let init = self.static_parts(init)?;
        let storage = Storage::Static { thread_local: false, defined: true, init };
        let id = self.new_var(Var { name: "literal".into(), ty: ty.clone(), storage, align: 0, pos });
        Ok(Expr { kind: ExprKind::Literal(id, Box::new(Init::Parts(Vec::new()))), ty, pos })
    }

    pub(super) fn sizeof(&self, ty: &QTy, pos: Pos) -> Checked<u64> {
        match &ty.ty {
            Ty::Void | Ty::Func(_) => Ok(1),
            _ => self.types.size(&ty.ty).ok_or_else(|| {
                Fault::new(pos, format!("the type `{}` is not complete and has no size", self.types.show(ty)))
            }),
        }
    }

    pub(super) fn offset_of(&mut self, name: &syntax::TypeName, path: &[Designator], pos: Pos) -> Checked<Expr> {
        let mut ty = self.type_name(name)?;
        let mut offset = 0u64;
        // Indices that are not constants, with the sizes they count.
        let mut added = Vec::new();
        for step in path {
            match (step, &ty.ty) {
                (Designator::Field(field, pos), Ty::Record(id)) => {
                    let Some(found) = self.types.field(*id, field) else {
                        let shown = self.types.show(&ty);
                        return Err(Fault::new(*pos, format!("`{shown}` has no member `{field}`")));
                    };
                    if found.bits.is_some() {
                        return Err(Fault::new(*pos, "a bit-field has no offset in bytes"));
                    }
                    offset += found.offset;
                    ty = found.ty;
                }
                (Designator::Index(expr), Ty::Array(element, _)) => {
                    let element = element.clone();
                    let size = self.sizeof(&element, expr.pos)?;
                    let index = self.rvalue_of(expr)?;
                    let wide = self.types.size_type();
                    let index = self.convert(index, &wide)?;
                    match self.known_int(&index) {
                        Some(index) => offset = offset.wrapping_add(index.wrapping_mul(size)),
                        None => added.push((index, size)),
                    }
                    ty = (*element).clone();
                }
                _ => return Err(Fault::new(pos, "this path does not exist in the type")),
            }
        }
        let mut sum = self.size_constant(offset, pos);
        for (index, size) in added {
            let ty = sum.ty.clone();
            let binary = |op, a, b| Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: ty.clone(), pos };
            let product = binary(BinaryOp::Mul, index, self.size_constant(size, pos));
            sum = binary(BinaryOp::Add, sum, product);
        }
        Ok(sum)
    }

    pub(super) fn generic(&mut self, selector: &syntax::Expr, arms: &[Arm], pos: Pos) -> Checked<Expr> {
        let arm = self.generic_arm(selector, arms, pos)?;
        self.expr(arm)
    }

    /// The arm of `_Generic` that stands for it.
    fn generic_arm<'a>(&mut self, selector: &syntax::Expr, arms: &'a [Arm], pos: Pos) -> Checked<&'a syntax::Expr> {
        let selector = self.rvalue_of(selector)?.ty.value();
        let mut default = None;
        for (name, arm) in arms {
            match name {
                None => default = Some(arm),
                Some(name) => {
                    let ty = self.type_name(name)?;
                    let plain = !ty.quals.constant && !ty.quals.volatile && !ty.quals.atomic;
                    if plain && self.types.compatible(&ty.ty, &selector.ty) {
                        return Ok(arm);
                    }
                }
            }
        }
        default.ok_or_else(|| {
            let shown = self.types.show(&selector);
            Fault::new(pos, format!("no arm of `_Generic` is for `{shown}`"))
        })
    }

    pub(super) fn statement_expr(&mut self, items: &[syntax::Stmt], pos: Pos) -> Checked<Expr> {
        if self.function.is_none() {
            return Err(Fault::new(pos, "a statement expression outside of a function"));
        }
        self.scoped(|c| {
            let mut out = Vec::new();
            let (last, before) = match items.split_last() {
                Some((syntax::Stmt { kind: syntax::StmtKind::Expr(last), .. }, before)) => (Some(last), before),
                _ => (None, items),
            };
            for item in before {
                c.stmt(item, &mut out)?;
            }
            let value = last.map(|e| c.expr(e)).transpose()?;
            let value = match value {
                Some(value) if value.ty.ty != Ty::Void => Some(c.rvalue(value)?),
                other => other,
            };
            let ty = value.as_ref().map_or(Ty::Void.plain(), |v| v.ty.clone());
            Ok(Expr { kind: ExprKind::StmtExpr(out, value.map(Box::new)), ty, pos })
        })
    }

    pub(super) fn call(&mut self, callee: &syntax::Expr, args: &[syntax::Expr], pos: Pos) -> Checked<Expr> {
        // The arms may be builtins, which are no functions.
        if let syntax::ExprKind::Generic(selector, arms) = &callee.kind {
            let arm = self.generic_arm(selector, arms, callee.pos)?;
            return self.call(arm, args, pos);
        }
        if let syntax::ExprKind::Ident(name) = &callee.kind
            && let Some(result) = self.builtin_call(name, args, pos)?
        {
            return Ok(result);
        }
        if let syntax::ExprKind::Ident(name) = &callee.kind
            && self.lookup(name).is_none()
            && !self.declare_implicitly(name, pos)
        {
            return Err(Fault { len: name.len() as u32, ..Fault::new(pos, format!("`{name}` is not declared")) }
                .label("called here")
                .help("include the header that declares it, or define it"));
        }
        let callee = self.rvalue_of(callee)?;
        let Some(func) = callee.ty.ty.pointee().and_then(|to| to.ty.func()).cloned() else {
            let shown = self.types.show(&callee.ty);
            return Err(Fault::new(pos, format!("`{shown}` cannot be called")));
        };
        let expected = func.params.len();
        let open = func.variadic || !func.prototype;
        if args.len() < expected && func.prototype || args.len() > expected && !open {
            let message = format!("{} arguments for a function of {expected} parameters", args.len());
            return Err(Fault::new(pos, message));
        }
        let mut values = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let value = self.rvalue_of(arg)?;
            values.push(match func.params.get(index) {
                Some(param) => self.convert(value, &param.ty)?,
                None if matches!(value.ty.ty, Ty::Int128 { .. }) => {
                    let message = "an integer of 128 bits as an argument beyond the parameters is not supported";
                    return Err(Fault::new(value.pos, message));
                }
                None if value.ty.ty.int().is_some() => self.promote(value)?,
                None if value.ty.ty == Ty::Float(FloatKind::Float) => {
                    self.convert(value, &Ty::Float(FloatKind::Double))?
                }
                None => value,
            });
        }
        let ret = func.ret.value();
        if let Ty::Float(FloatKind::Other) = ret.ty {
            return Err(Fault::new(pos, OTHER_FLOAT).label("this call returns it"));
        }
        // Calling through `&f` is calling `f`.
        Ok(Expr { kind: ExprKind::Call(Box::new(callee), values), ty: ret, pos })
    }
}
