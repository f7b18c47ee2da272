//! Which objects and functions does a declaration bring into being?

use super::convert::OTHER_FLOAT;
use super::types::adjust;
use super::{Checked, Checker, Func, FunctionState, Symbol};
use crate::ctype::{FuncTy, IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::{
    self, Attrs, Declaration, Declarator, Derived, FloatKind, FunctionDef, Specs, StaticAssert, TypeSpec,
};
use crate::token::{Name, Pos};
use crate::tree::{self, Body, Constant, FnId, StaticPart, Storage, Var, VarId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A declarator with its name and type settled.
struct Named<'a> {
    name: &'a Name,
    ty: QTy,
    pos: Pos,
    align: u64,
}

/// Whether a function is seen from other files. One that is merely `inline` may be defined in each of them.
fn is_linked(specs: &Specs, declarator: &Attrs) -> bool {
    let outside = specs.storage == syntax::Storage::Extern && !specs.attrs.gnu_inline && !declarator.gnu_inline;
    specs.storage != syntax::Storage::Static && (!specs.inline || outside)
}

impl Checker {
    pub(super) fn static_assert(&mut self, assertion: &StaticAssert) -> Checked<()> {
        if self.constant_int(&assertion.cond)? == 0 {
            return Err(Fault::new(assertion.pos, format!("static assertion failed: {}", assertion.message)));
        }
        Ok(())
    }

    pub(super) fn file_declaration(&mut self, declaration: &Declaration) -> Checked<()> {
        let specs = &declaration.specs;
        let base = self.base_type(declaration)?;
        for (declarator, init) in &declaration.declarators {
            let named = self.named(specs, declarator, &base)?;
            if specs.storage == syntax::Storage::Typedef {
                self.typedef(named)?;
            } else if let Some(target) = declarator.attrs.alias().or(specs.attrs.alias()) {
                self.alias(named.name, target, is_linked(specs, &declarator.attrs), named.pos)?;
            } else if let Ty::Func(func) = &named.ty.ty {
                let id =
                    self.declare_function(named.name, func.clone(), is_linked(specs, &declarator.attrs), named.pos)?;
                self.around_main(id, &[&specs.attrs, &declarator.attrs]);
            } else {
                self.file_object(specs, named, init.as_ref())?;
            }
        }
        Ok(())
    }

    /// Another name for a function or an object that the file has by now.
    fn alias(&mut self, name: &Name, target: &Name, linked: bool, pos: Pos) -> Checked<()> {
        let symbol = match self.scopes[0].symbols.get(target) {
            Some(Symbol::Func(id)) => Symbol::Func(*id),
            Some(Symbol::Var(id)) => Symbol::Var(*id),
            _ => {
                return Err(Fault::new(
                    pos,
                    format!("`{name}` is an alias of `{target}`, which is not declared before"),
                ));
            }
        };
        if linked && self.origin.is_user() {
            self.linked.insert(name.clone(), symbol.clone());
        }
        self.scopes[0].symbols.insert(name.clone(), symbol);
        Ok(())
    }

    /// The type the specifiers spell; `__auto_type` takes it from the one initialiser.
    fn base_type(&mut self, declaration: &Declaration) -> Checked<QTy> {
        if let TypeSpec::Auto = declaration.specs.base
            && let [(_, Some(syntax::Init::Expr(init)))] = declaration.declarators.as_slice()
        {
            return Ok(self.rvalue_of(init)?.ty.value());
        }
        self.specs(&declaration.specs)
    }

    fn named<'a>(&mut self, specs: &Specs, declarator: &'a Declarator, base: &QTy) -> Checked<Named<'a>> {
        let Some(name) = &declarator.name else {
            return Err(Fault::new(declarator.pos, "a declaration without a name"));
        };
        let ty = self.declarator(declarator, base.clone())?;
        let align = self.alignment(&specs.align, &specs.attrs)?.max(self.alignment(&[], &declarator.attrs)?);
        Ok(Named { name, ty, pos: declarator.pos, align })
    }

    fn typedef(&mut self, named: Named) -> Checked<()> {
        let Named { name, ty, pos, .. } = named;
        if let Some(Symbol::Var(_) | Symbol::Func(_) | Symbol::Enumerator(..)) = self.scope().symbols.get(name) {
            return Err(Fault::new(pos, format!("`{name}` is declared as something else already")));
        }
        self.scope().symbols.insert(name.clone(), Symbol::Typedef(ty));
        Ok(())
    }

    pub(super) fn declare_function(&mut self, name: &Name, ty: Rc<FuncTy>, linked: bool, pos: Pos) -> Checked<FnId> {
        if let Some(symbol) = self.scopes[0].symbols.get(name) {
            let Symbol::Func(id) = symbol else {
                return Err(Fault::new(pos, format!("`{name}` is declared as something else already")));
            };
            let id = *id;
            let func = &mut self.funcs[id.0 as usize];
            if !func.ty.prototype && ty.prototype {
                func.ty = ty;
            }
            self.scope().symbols.insert(name.clone(), Symbol::Func(id));
            return Ok(id);
        }
        let linked = linked && self.origin.is_user();
        let id = match self.linked.get(name).filter(|_| linked) {
            Some(Symbol::Func(id)) => {
                let id = *id;
                let known = self.funcs[id.0 as usize].ty.clone();
                let differs = known.params.len() != ty.params.len() || known.variadic != ty.variadic;
                let void = |ty: &FuncTy| ty.ret.ty == Ty::Void;
                if known.prototype && ty.prototype && (differs || void(&known) != void(&ty)) {
                    return Err(Fault::new(
                        pos,
                        format!("`{name}` has other parameters or another result in another file"),
                    ));
                }
                if !known.prototype && ty.prototype {
                    self.funcs[id.0 as usize].ty = ty;
                }
                id
            }
            Some(_) => return Err(Fault::new(pos, format!("`{name}` is an object in another file"))),
            None => {
                self.funcs.push(Func { name: name.clone(), ty, def: None, pos, origin: self.origin });
                let id = FnId(self.funcs.len() as u32 - 1);
                if linked {
                    self.linked.insert(name.clone(), Symbol::Func(id));
                }
                id
            }
        };
        self.scopes[0].symbols.insert(name.clone(), Symbol::Func(id));
        self.scope().symbols.insert(name.clone(), Symbol::Func(id));
        Ok(id)
    }

    /// An object at file scope, or one declared `extern` in a block.
    fn file_object(&mut self, specs: &Specs, named: Named, init: Option<&syntax::Init>) -> Checked<()> {
        let Named { name, mut ty, pos, align } = named;
        let is_extern = specs.storage == syntax::Storage::Extern && init.is_none();
        let known = match self.scopes[0].symbols.get(name) {
            Some(Symbol::Var(id)) => Some(*id),
            Some(_) => return Err(Fault::new(pos, format!("`{name}` is declared as something else already"))),
            None => None,
        };
        let id = match known {
            Some(id) => {
                // A later declaration may complete an array's type.
                let var = &mut self.vars[id.0 as usize];
                if let (Ty::Array(_, None), Ty::Array(_, Some(_))) = (&var.ty.ty, &ty.ty) {
                    var.ty = ty.clone();
                }
                if let (Ty::Array(_, Some(_)), Ty::Array(_, None)) = (&var.ty.ty, &ty.ty) {
                    ty = var.ty.clone();
                }
                var.align = var.align.max(align);
                if let Storage::Static { thread_local, .. } = &mut var.storage {
                    *thread_local |= specs.thread_local;
                }
                id
            }
            None => {
                let linked = specs.storage != syntax::Storage::Static && self.origin.is_user();
                let id = match self.linked.get(name).filter(|_| linked) {
                    Some(Symbol::Var(id)) => {
                        let id = *id;
                        let known = self.var(id).ty.clone();
                        let sizes = (self.types.size(&known.ty), self.types.size(&ty.ty));
                        if matches!(sizes, (Some(a), Some(b)) if a != b) {
                            let shown = self.types.show(&known);
                            return Err(Fault::new(pos, format!("`{name}` has the type `{shown}` in another file")));
                        }
                        if sizes.0.is_none() {
                            self.vars[id.0 as usize].ty = ty.clone();
                        } else if sizes.1.is_none() {
                            ty = known;
                        }
                        id
                    }
                    Some(_) => return Err(Fault::new(pos, format!("`{name}` is a function in another file"))),
                    None => {
                        let storage =
                            Storage::Static { thread_local: specs.thread_local, defined: false, init: Vec::new() };
                        let id = self.new_var(Var { name: name.clone(), ty: ty.clone(), storage, align, pos });
                        if linked {
                            self.linked.insert(name.clone(), Symbol::Var(id));
                        }
                        id
                    }
                };
                self.scopes[0].symbols.insert(name.clone(), Symbol::Var(id));
                id
            }
        };
        if !is_extern && *self.defined_in.entry(id).or_insert(self.origin) != self.origin {
            return Err(Fault::new(pos, format!("`{name}` is defined in another file, too")));
        }
        self.scope().symbols.insert(name.clone(), Symbol::Var(id));
        if is_extern {
            return Ok(());
        }
        self.define_static(id, ty, init)
    }

    /// Gives a static object its initial value.
    fn define_static(&mut self, id: VarId, ty: QTy, init: Option<&syntax::Init>) -> Checked<()> {
        let pos = self.var(id).pos;
        let mut values = Vec::new();
        if let Some(init) = init {
            let already = matches!(&self.var(id).storage, Storage::Static { init, .. } if !init.is_empty());
            if already {
                return Err(Fault::new(pos, format!("`{}` is initialised twice", self.var(id).name)));
            }
            let (parts, ty) = self.initializer(&ty, init)?;
            self.vars[id.0 as usize].ty = ty;
            values = self.static_parts(parts)?;
        }
        let var = &mut self.vars[id.0 as usize];
        // An array without a size has one element, if nothing else says otherwise.
        if let Ty::Array(element, None) = &var.ty.ty
            && init.is_none()
        {
            var.ty.ty = Ty::Array(element.clone(), Some(1));
        }
        if let Storage::Static { defined, init: slot, .. } = &mut var.storage {
            *defined = true;
            if !values.is_empty() {
                *slot = values;
            }
        }
        let var = self.var(id);
        if self.types.size(&var.ty.ty).is_none() {
            let shown = self.types.show(&var.ty);
            // A tentative definition may be completed later in the file.
            if !matches!(var.ty.ty, Ty::Record(_)) {
                return Err(Fault::new(pos, format!("an object of the incomplete type `{shown}`")));
            }
        }
        Ok(())
    }

    pub(super) fn static_parts(&mut self, init: tree::Init) -> Checked<Vec<StaticPart>> {
        let parts = match init {
            tree::Init::Value(value) => {
                let ty = value.ty.clone();
                vec![tree::InitPart { offset: 0, bits: None, ty, value }]
            }
            tree::Init::Parts(parts) => parts,
        };
        let mut values = Vec::new();
        for part in parts {
            // A compound literal may stand where its value is wanted.
            if let tree::ExprKind::Load(object) = &part.value.kind
                && let tree::ExprKind::Literal(id, _) = object.kind
                && let Storage::Static { init, .. } = &self.var(id).storage
                && matches!(part.ty.ty, Ty::Record(_))
            {
                let inner = init.iter().map(|p| StaticPart { offset: p.offset + part.offset, ..p.clone() });
                values.extend(inner.collect::<Vec<_>>());
                continue;
            }
            let fault = |_| {
                Fault::new(part.value.pos, "the initial value of a static object must be a constant")
                    .label("not a constant")
            };
            if let Ty::Int128 { .. } = part.ty.ty {
                let wide = self.evaluate_wide(&part.value).map_err(fault)?;
                for (at, half) in [(0, wide as u64), (8, (wide >> 64) as u64)] {
                    let (ty, value) = (Ty::Int(IntKind::ULLong).plain(), Constant::Int(half));
                    values.push(StaticPart { offset: part.offset + at, bits: None, ty, value });
                }
                continue;
            }
            let value = self.evaluate(&part.value).map_err(fault)?;
            values.push(StaticPart { offset: part.offset, bits: part.bits, ty: part.ty, value });
        }
        // Zero is what is there anyway.
        if values.len() > 1 {
            values.retain(|part| part.value != Constant::Int(0) || part.bits.is_some());
        }
        Ok(values)
    }

    pub(super) fn function_definition(&mut self, def: &Rc<FunctionDef>) -> Checked<()> {
        let base = self.specs(&def.specs)?;
        let ty = self.declarator(&def.declarator, base)?;
        let (Some(name), Some(func)) = (&def.declarator.name, ty.ty.func()) else {
            return Err(Fault::new(def.pos, "this is not a function"));
        };
        let mut func = (**func).clone();
        if !def.old_params.is_empty() {
            self.old_style_types(def, &mut func)?;
        }
        let func = Rc::new(func);
        let id = self.declare_function(name, func.clone(), is_linked(&def.specs, &def.declarator.attrs), def.pos)?;
        self.around_main(id, &[&def.specs.attrs, &def.declarator.attrs]);
        let slot = &mut self.funcs[id.0 as usize];
        if slot.def.is_some() {
            return Err(Fault::new(def.pos, format!("`{name}` is defined twice")));
        }
        slot.def = Some(def.clone());
        slot.origin = self.origin;
        slot.pos = def.pos;
        slot.ty = func;
        Ok(())
    }

    /// Notes a function that is to be called before or after `main`.
    fn around_main(&mut self, id: FnId, attrs: &[&syntax::Attrs]) {
        if attrs.iter().any(|attrs| attrs.constructor) && !self.constructors.contains(&id) {
            self.constructors.push(id);
        }
        if attrs.iter().any(|attrs| attrs.destructor) && !self.destructors.contains(&id) {
            self.destructors.push(id);
        }
    }

    fn old_style_types(&mut self, def: &FunctionDef, func: &mut FuncTy) -> Checked<()> {
        let Some(Derived::Function { params, .. }) = def.declarator.derived.first() else { return Ok(()) };
        for declaration in &def.old_params {
            let base = self.specs(&declaration.specs)?;
            for (declarator, _) in &declaration.declarators {
                let ty = adjust(self.declarator(declarator, base.clone())?);
                let index = params.iter().position(|p| p.declarator.name == declarator.name);
                match index.and_then(|i| func.params.get_mut(i)) {
                    Some(slot) => *slot = ty,
                    None => return Err(Fault::new(declarator.pos, "there is no parameter of this name")),
                }
            }
        }
        Ok(())
    }

    pub(super) fn function_body(&mut self, id: FnId, def: &FunctionDef) -> Checked<Body> {
        let func = self.func(id);
        let (name, ty) = (func.name.clone(), func.ty.clone());
        let Some(Derived::Function { params: syntax_params, .. }) = def.declarator.derived.first() else {
            return Err(Fault::new(def.pos, "a function needs its parameter list"));
        };
        let state = FunctionState {
            id,
            name,
            ret: ty.ret.value(),
            labels: FxHashMap::default(),
            switches: Vec::new(),
            breaks: 0,
            continues: 0,
        };
        self.function = Some(state);
        self.scopes.push(super::Scope::default());
        let mut params = Vec::new();
        for (param, ty) in syntax_params.iter().zip(&ty.params) {
            let pos = param.declarator.pos;
            self.complete_object(ty, pos)?;
            let name = param.declarator.name.clone().unwrap_or_else(|| "unnamed".into());
            let var = Var { name: name.clone(), ty: ty.clone(), storage: Storage::Auto, align: 0, pos };
            let var = self.new_var(var);
            self.scope().symbols.insert(name, Symbol::Var(var));
            params.push(var);
        }
        if !matches!(ty.ret.ty, Ty::Void) {
            self.complete_object(&ty.ret, def.pos)?;
        }
        let stmts = self.block(&def.body)?;
        let state = self.function.take().expect("set above");
        let mut undefined: Vec<_> = state.labels.iter().filter(|(_, (_, defined, _))| !defined).collect();
        undefined.sort_by_key(|(_, (_, _, pos))| *pos);
        if let Some((label, (_, _, pos))) = undefined.first() {
            return Err(Fault::new(*pos, format!("there is no label `{label}` in this function")));
        }
        Ok(Body { params, stmts, labels: state.labels.len() as u32 })
    }

    /// An object of this type can exist and be used.
    fn complete_object(&self, ty: &QTy, pos: Pos) -> Checked<()> {
        match &ty.ty {
            Ty::Float(FloatKind::Other) => Err(Fault::new(pos, OTHER_FLOAT)),
            _ if self.types.size(&ty.ty).is_none() => {
                Err(Fault::new(pos, format!("an object of the incomplete type `{}`", self.types.show(ty))))
            }
            _ => Ok(()),
        }
    }

    /// A declaration in a block.
    pub(super) fn local_declaration(&mut self, declaration: &Declaration, out: &mut Vec<tree::Stmt>) -> Checked<()> {
        let specs = &declaration.specs;
        let base = self.base_type(declaration)?;
        for (declarator, init) in &declaration.declarators {
            let auto = matches!(specs.storage, syntax::Storage::None) && !specs.thread_local && init.is_none();
            self.open_length = auto.then_some(None);
            let named = self.named(specs, declarator, &base);
            let length = self.open_length.take().flatten();
            let named = named?;
            if let Some(length) = length {
                self.variable_array(named, length, out)?;
            } else if specs.storage == syntax::Storage::Typedef {
                self.typedef(named)?;
            } else if let Ty::Func(func) = &named.ty.ty {
                self.declare_function(named.name, func.clone(), is_linked(specs, &declarator.attrs), named.pos)?;
            } else if specs.storage == syntax::Storage::Extern {
                self.file_object(specs, named, None)?;
            } else if specs.storage == syntax::Storage::Static || specs.thread_local {
                self.static_local(specs, named, init.as_ref())?;
            } else {
                let (name, pos) = (named.name.clone(), named.pos);
                self.auto_local(named, init.as_ref(), out)?;
                if let Some((function, at)) = declarator.attrs.cleanup().or(specs.attrs.cleanup()) {
                    let ident = |name: &Name, pos| syntax::Expr { kind: syntax::ExprKind::Ident(name.clone()), pos };
                    let variable = Box::new(ident(&name, pos));
                    let address =
                        syntax::Expr { kind: syntax::ExprKind::Unary(syntax::UnaryOp::AddrOf, variable), pos };
                    let call = |function: &Name, argument: syntax::Expr| {
                        let call = syntax::ExprKind::Call(Box::new(ident(function, *at)), vec![argument]);
                        syntax::Expr { kind: call, pos: *at }
                    };
                    // That of `pthread_cleanup_push` is called by `pthread_exit`, too.
                    let posix = &**function == "__pthread_cleanup_routine";
                    let mut function = function.clone();
                    if posix {
                        function = "__raddle_cleanup_pop".into();
                        let variable = Box::new(ident(&name, pos));
                        let kind = syntax::ExprKind::Unary(syntax::UnaryOp::AddrOf, variable);
                        let push = self.expr(&call(&"__raddle_cleanup_push".into(), syntax::Expr { kind, pos }))?;
                        out.push(tree::Stmt { kind: tree::StmtKind::Expr(push), pos: *at });
                    }
                    let call = self.expr(&call(&function, address))?;
                    out.push(tree::Stmt { kind: tree::StmtKind::Cleanup(call), pos: *at });
                }
            }
        }
        Ok(())
    }

    fn static_local(&mut self, specs: &Specs, named: Named, init: Option<&syntax::Init>) -> Checked<()> {
        let Named { name, ty, pos, align } = named;
        let function = self.function.as_ref().map_or("", |f| &f.name);
        let full: Name = format!("{function}.{name}").into();
        let storage = Storage::Static { thread_local: specs.thread_local, defined: false, init: Vec::new() };
        let id = self.new_var(Var { name: full, ty: ty.clone(), storage, align, pos });
        self.scope().symbols.insert(name.clone(), Symbol::Var(id));
        self.define_static(id, ty, init)?;
        let ty = self.var(id).ty.clone();
        self.complete_object(&ty, pos)
    }

    /// An array of variable length is a pointer to memory that is made where its declaration is met; its size is kept beside it.
    fn variable_array(&mut self, named: Named, length: tree::Expr, out: &mut Vec<tree::Stmt>) -> Checked<()> {
        let Named { name, ty, pos, .. } = named;
        let Ty::Array(element, None) = &ty.ty else { return Err(Fault::new(pos, "this is no array")) };
        let one = self.sizeof(element, pos)?;
        let wide = self.types.size_type();
        let length = self.convert(length, &wide)?;
        let size = self.binary(syntax::BinaryOp::Mul, length, self.size_constant(one, pos), pos)?;
        let auto = |name: Name, ty: QTy| Var { name, ty, storage: Storage::Auto, align: 0, pos };
        let bytes = self.new_var(auto(format!("{name}.size").into(), wide.clone().plain()));
        let pointer = ty.clone().pointer().plain();
        let id = self.new_var(auto(name.clone(), pointer.clone()));
        self.lengths.insert(id, bytes);
        self.scope().symbols.insert(name.clone(), Symbol::Var(id));
        let object = tree::Expr { kind: tree::ExprKind::Var(bytes), ty: wide.clone().plain(), pos };
        let value = tree::Expr { kind: tree::ExprKind::Load(Box::new(object)), ty: wide.plain(), pos };
        let made = tree::ExprKind::Builtin(tree::Builtin::Alloca, vec![value]);
        let made = tree::Expr { kind: made, ty: pointer, pos };
        let decl = |id, value| tree::Stmt { kind: tree::StmtKind::Decl(id, Some(tree::Init::Value(value))), pos };
        out.extend([decl(bytes, size), decl(id, made)]);
        Ok(())
    }

    fn auto_local(&mut self, named: Named, init: Option<&syntax::Init>, out: &mut Vec<tree::Stmt>) -> Checked<()> {
        let Named { name, ty, pos, align } = named;
        let var = Var { name: name.clone(), ty: ty.clone(), storage: Storage::Auto, align, pos };
        let id = self.new_var(var);
        self.scope().symbols.insert(name.clone(), Symbol::Var(id));
        let init = match init {
            Some(init) => {
                let (init, ty) = self.initializer(&ty, init)?;
                self.vars[id.0 as usize].ty = ty;
                Some(init)
            }
            None => None,
        };
        let ty = self.var(id).ty.clone();
        self.complete_object(&ty, pos)?;
        out.push(tree::Stmt { kind: tree::StmtKind::Decl(id, init), pos });
        Ok(())
    }
}
