//! Calls: of the program's functions, through pointers, and of library functions put in line.

use super::function::{Exit, FnLowerer, Home, Return};
use super::jump::Jumps;
use super::value::{offset, settled};
use super::{Lowered, Lowerer};
use crate::check::Origin;
use crate::ctype::{FuncTy, IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::FloatKind;
use crate::token::Pos;
use crate::tree::{Body, Expr, ExprKind, FnId, StmtKind, VarId};
use crate::walk::each_in;
use raddle_program::{
    self as ir, Callee, FuncId, FunctionBuilder, GlobalId, InitField, InitValue, Layout, Object, Op, Ordering, Term,
    Type, Unwritten,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// How deep library functions may call each other.
const MAX_NESTING: u32 = 16;

impl Lowerer<'_> {
    /// The function a pointer to a C function points at; library functions get a body of their own for this.
    pub(super) fn function_address(&mut self, id: FnId, pos: Pos) -> Lowered<FuncId> {
        if self.function_ids.contains_key(&id) || self.checker.func(id).def.is_some() {
            return Ok(self.function_id(id));
        }
        let func = self.checker.func(id);
        let (name, ty) = (func.name.clone(), func.ty.clone());
        if self.checker.function_named(&name, Origin::Library).is_none() {
            return Err(Fault::new(pos, format!("a pointer to the library function `{name}` is not supported")));
        }
        self.outlined(id, &name, &ty, pos)
    }

    /// A library function as a function of the program.
    pub(super) fn outline(&mut self, name: &str, pos: Pos) -> Lowered<FuncId> {
        let Some(id) = self.checker.function_named(name, Origin::Library) else {
            return Err(Fault::new(pos, format!("`{name}` is not in the library")));
        };
        if let Some(&known) = self.function_ids.get(&id) {
            return Ok(known);
        }
        let ty = self.checker.func(id).ty.clone();
        self.outlined(id, name, &ty, pos)
    }

    /// The start of a thread that runs this function and then the destructors of its data; it has the name of the function, and a suffix.
    pub(super) fn started(&mut self, function: FuncId, start: FuncId, pos: Pos) -> FuncId {
        if let Some(&known) = self.starts.get(&function) {
            return known;
        }
        let name = self.sources.get(&function).map_or("thread".into(), |id| self.checker.func(*id).name.clone());
        let unique = self.unique(&format!("{name}{}", raddle_program::THREAD_SUFFIX));
        let span = self.span(pos);
        let mut b = FunctionBuilder::new(unique, &[("argument", Type::Ptr)], Some(Type::Ptr), span);
        let result = b.reg("result", Type::Ptr);
        let args = vec![ir::Expr::Func(function), ir::Expr::Reg(b.param(0))];
        b.push(Op::Call { dst: Some(result), callee: Callee::Direct(start), args });
        b.terminate(Term::Return(Some(ir::Expr::Reg(result))));
        self.functions.push(Some(b.finish()));
        let number = FuncId(self.functions.len() as u32 - 1);
        self.starts.insert(function, number);
        number
    }

    fn outlined(&mut self, id: FnId, name: &str, ty: &FuncTy, pos: Pos) -> Lowered<FuncId> {
        let number = self.function_id(id);
        let span = self.span(pos);
        let mut params = Vec::new();
        for (index, param) in ty.params.iter().enumerate() {
            let Some(scalar) = self.checker.types.scalar(&param.ty) else {
                return Err(Fault::new(pos, format!("a pointer to the library function `{name}` is not supported")));
            };
            params.push((format!("a{index}"), scalar));
        }
        let ret = self.returns(&ty.ret);
        let ret_type = if let Return::Scalar(ty) = ret { Some(ty) } else { None };
        let refs: Vec<(&str, Type)> = params.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        let unique = self.unique(name);
        let mut lowerer = FnLowerer {
            program: self,
            b: FunctionBuilder::new(unique, &refs, ret_type, span),
            homes: FxHashMap::default(),
            frames: Vec::new(),
            ret,
            through: None,
            in_memory: FxHashSet::default(),
            outlived: FxHashSet::default(),
            discarded: false,
            pinned: Some(span),
            here: pos,
            main: false,
            valued: false,
            atomic: false,
            nesting: 0,
            inlined: Vec::new(),
            dispatch: None,
            jumps: Jumps::default(),
            shapes: Vec::new(),
            variables: Vec::new(),
            conflicts: FxHashMap::default(),
        };
        let args = ty.params.iter().enumerate().map(|(i, p)| (ir::Expr::Reg(lowerer.b.param(i)), p.clone())).collect();
        let result = lowerer.library_call(name, args, &ty.ret.value(), pos)?;
        let value = ret_type.map(|_| result);
        lowerer.b.terminate(Term::Return(value));
        lowerer.end_jumps(ret_type, pos)?;
        let function = lowerer.b.finish();
        self.functions[number.index()] = Some(function);
        Ok(number)
    }

    /// The argument vector of `main`.
    pub(super) fn argv(&mut self, args: &[String]) -> ir::Expr {
        let mut fields = Vec::new();
        let pointer = self.checker.types.stored(Type::Ptr);
        let all = std::iter::once("program").chain(args.iter().map(String::as_str));
        for (index, arg) in all.enumerate() {
            let init = arg.bytes().enumerate().map(|(at, byte)| InitField {
                offset: at as u32,
                ty: Type::I8,
                value: InitValue::Int(u64::from(byte)),
            });
            let object = Object {
                name: String::new(),
                layout: Layout::Array(Type::I8, arg.len() as u32 + 1),
                init: init.collect(),
                thread_local: false,
                constant: false,
                span: Default::default(),
            };
            let id = self.add_object("argument", object);
            let offset = pointer.size() * index as u32;
            fields.push(InitField { offset, ty: pointer, value: InitValue::Global(id, 0) });
        }
        let object = Object {
            name: String::new(),
            layout: Layout::Array(pointer, args.len() as u32 + 2),
            init: fields,
            thread_local: false,
            constant: false,
            span: Default::default(),
        };
        ir::Expr::Global(self.add_object("arguments", object))
    }

    fn add_object(&mut self, name: &str, mut object: Object) -> GlobalId {
        object.name = self.unique(name);
        self.program.globals.push(object);
        GlobalId(self.program.globals.len() as u32 - 1)
    }
}

impl FnLowerer<'_, '_> {
    /// A call. A struct result goes to the address `into`; a scalar one is the value.
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        callee: &Expr,
        args: &[Expr],
        into: Option<ir::Expr>,
    ) -> Lowered<ir::Expr> {
        let discarded = std::mem::take(&mut self.discarded);
        let Some(func) = callee.ty.ty.pointee().and_then(|to| to.ty.func()).cloned() else {
            return Err(Fault::new(expr.pos, "this cannot be called"));
        };
        if let ExprKind::AddrOf(target) = &callee.kind
            && let ExprKind::Func(id) = target.kind
        {
            let known = self.program.checker.func(id);
            if known.def.is_none() || known.origin == Origin::Library {
                let name = known.name.clone();
                self.discarded = discarded;
                return self.external_call(expr, &name, args);
            }
            let func = known.ty.clone();
            if known.name.as_ref() == "main" && known.origin.is_user() {
                return Err(Fault::new(expr.pos, "calling `main` is not supported"));
            }
            let program = &mut *self.program;
            let number = if discarded { program.function_id(id) } else { program.valued_id(id) };
            return self.ordinary_call(expr, (Callee::Direct(number), false), &func, args, into);
        }
        let pointer = self.value(callee)?;
        let callee = match pointer {
            ir::Expr::Func(id) => Callee::Direct(id),
            pointer => Callee::Indirect(pointer),
        };
        let unsure = !discarded && self.program.some_end_without_value();
        self.ordinary_call(expr, (callee, unsure), &func, args, into)
    }

    /// Arguments in the order in which they are evaluated.
    fn in_turn<'t, T>(&self, args: &'t [T]) -> Vec<&'t T> {
        if self.goes_from_right() { args.iter().rev().collect() } else { args.iter().collect() }
    }

    fn external_call(&mut self, expr: &Expr, name: &str, args: &[Expr]) -> Lowered<ir::Expr> {
        let format = match name {
            "sprintf" | "asprintf" => args.get(1),
            "snprintf" => args.get(2),
            _ => None,
        };
        format.map_or(Ok(()), |format| self.refuse_floats(format))?;
        if let Some(result) = self.native(expr, name, args)? {
            return Ok(result);
        }
        if self.program.options.undefined_nondet && self.program.checker.function_named(name, Origin::Library).is_none()
        {
            return self.undefined(expr, args);
        }
        let types = &self.program.checker.types;
        let usual = |ty: &Ty| *ty == Ty::Void || types.scalar(ty).is_some();
        if !usual(&expr.ty.ty) || args.iter().any(|arg| types.scalar(&arg.ty.ty).is_none()) {
            let message = format!("`{name}` is declared with another type than the library's function has");
            return Err(Fault { len: name.len() as u32, ..Fault::new(expr.pos, message) });
        }
        let mut values = Vec::new();
        for arg in self.in_turn(args) {
            values.push((self.value(arg)?, arg.ty.clone()));
        }
        if self.goes_from_right() {
            values.reverse();
        }
        self.at(expr.pos);
        self.library_call(name, values, &expr.ty, expr.pos)
    }

    /// A call of a function that nobody has defined: any value of its type, and null if that is a pointer.
    fn undefined(&mut self, expr: &Expr, args: &[Expr]) -> Lowered<ir::Expr> {
        args.iter().try_for_each(|arg| self.effect(arg))?;
        self.at(expr.pos);
        match &expr.ty.ty {
            Ty::Void => Ok(ir::Expr::bool(false)),
            Ty::Ptr(_) => Ok(ir::Expr::null()),
            Ty::Int(_) => self.nondet(&expr.ty),
            _ => Err(Fault::new(expr.pos, "a function that returns this type must be defined")),
        }
    }

    /// A call of which all but the callee is known; it may be unsure whether the function has a value.
    fn ordinary_call(
        &mut self,
        expr: &Expr,
        callee: (Callee, bool),
        func: &FuncTy,
        args: &[Expr],
        into: Option<ir::Expr>,
    ) -> Lowered<ir::Expr> {
        let result = self.made_call(expr, callee, func, args, into)?;
        self.look_for_jump(expr.pos)?;
        Ok(result)
    }

    fn made_call(
        &mut self,
        expr: &Expr,
        (callee, unsure): (Callee, bool),
        func: &FuncTy,
        args: &[Expr],
        into: Option<ir::Expr>,
    ) -> Lowered<ir::Expr> {
        if args.len() < func.params.len() {
            return Err(Fault::new(expr.pos, "this call has fewer arguments than the function has parameters"));
        }
        let mut given: Vec<Vec<ir::Expr>> = vec![Vec::new(); args.len()];
        let mut beyond = Vec::new();
        let indices: Vec<usize> = (0..args.len()).collect();
        for &index in self.in_turn(&indices) {
            let arg = &args[index];
            match func.params.get(index) {
                Some(param) => self.argument(arg, param, &mut given[index])?,
                None if func.variadic => beyond.push((self.value(arg)?, arg.ty.clone())),
                // A function without a prototype ignores what it has no parameter for.
                None if matches!(callee, Callee::Direct(_)) => self.effect(arg)?,
                None => given[index].push(self.value(arg)?),
            }
        }
        if self.goes_from_right() {
            beyond.reverse();
        }
        let mut values = given.concat();
        self.at(expr.pos);
        if func.variadic {
            values.push(self.slots(beyond));
        }
        match self.program.returns(&func.ret) {
            Return::Nothing => {
                self.b.push(Op::Call { dst: None, callee, args: values });
                Ok(ir::Expr::bool(false))
            }
            Return::Scalar(ty) => {
                let dst = self.b.reg("result", ty);
                self.b.push(Op::Call { dst: Some(dst), callee, args: values });
                if !unsure {
                    return Ok(ir::Expr::Reg(dst));
                }
                // What has no value has none in memory either, and there it is found.
                let (order, addr) = (Ordering::NonAtomic, ir::Expr::Local(self.b.local("result", Layout::Scalar(ty))));
                self.b.push(Op::Store { ty, addr: addr.clone(), value: ir::Expr::Reg(dst), order });
                let dst = self.b.reg("result", ty);
                let unwritten = Unwritten::Error;
                self.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten });
                Ok(ir::Expr::Reg(dst))
            }
            Return::Single(leaf) => {
                let dst = self.b.reg("result", leaf.ty);
                self.b.push(Op::Call { dst: Some(dst), callee, args: values });
                if let Some(into) = into {
                    let (ty, addr, value) = (leaf.ty, offset(into, leaf.offset), ir::Expr::Reg(dst));
                    self.b.push(Op::Store { ty, addr, value, order: Ordering::NonAtomic });
                }
                Ok(ir::Expr::bool(false))
            }
            Return::Through => {
                let Some(into) = into else {
                    return Err(Fault::new(expr.pos, "this struct value is not supported"));
                };
                values.insert(0, into);
                self.b.push(Op::Call { dst: None, callee, args: values });
                Ok(ir::Expr::bool(false))
            }
        }
    }

    /// Puts arguments beyond the parameters into slots of 64 bits; their address.
    fn slots(&mut self, args: Vec<(ir::Expr, QTy)>) -> ir::Expr {
        if args.is_empty() {
            return ir::Expr::null();
        }
        let array = self.b.local("arguments".to_owned(), Layout::Array(Type::I64, args.len() as u32));
        let slot = Ty::Int(IntKind::ULLong);
        for (index, (value, from)) in args.into_iter().enumerate() {
            let value = match from.ty {
                Ty::Float(_) => self.converted(value, &from.ty, &Ty::Float(FloatKind::Double)),
                _ => self.converted(value, &from.ty, &slot),
            };
            let addr = offset(ir::Expr::Local(array), 8 * index as u64);
            self.b.push(Op::Store { ty: Type::I64, addr, value, order: Ordering::NonAtomic });
        }
        ir::Expr::Local(array)
    }

    fn argument(&mut self, arg: &Expr, param: &QTy, values: &mut Vec<ir::Expr>) -> Lowered<()> {
        if self.program.checker.types.scalar(&param.ty).is_some() {
            let value = self.value(arg)?;
            let value = self.converted(value, &arg.ty.ty, &param.ty);
            values.push(settled(&mut self.b, value));
            return Ok(());
        }
        let addr = self.record(arg)?;
        match self.program.flat(param) {
            Some(leaves) => {
                for leaf in leaves {
                    let from = offset(addr.clone(), leaf.offset);
                    values.push(self.load_part(from, leaf.ty, Ordering::NonAtomic, Unwritten::Kept));
                }
            }
            None => values.push(addr),
        }
        Ok(())
    }

    /// Puts a library function in line. The result has the type the program declared for it.
    pub(super) fn library_call(
        &mut self,
        name: &str,
        args: Vec<(ir::Expr, QTy)>,
        ret: &QTy,
        pos: Pos,
    ) -> Lowered<ir::Expr> {
        let fault = |message: String| Err(Fault { len: name.len() as u32, ..Fault::new(pos, message) });
        let Some((id, body)) = self.library_body(name)? else {
            return fault(format!("`{name}` is declared but not defined"));
        };
        if self.nesting >= MAX_NESTING {
            return fault(format!("the library function `{name}` calls itself"));
        }
        let func = self.program.checker.func(id).ty.clone();
        if args.len() < func.params.len() {
            return fault(format!("`{name}` is called with too few arguments"));
        }
        self.survey(&body);
        let assigned = assigned(&body);
        let outer = self.inlined.len();
        let mut args = args;
        let beyond = args.split_off(func.params.len());
        let rest = func.variadic.then(|| self.slots(beyond));
        self.nesting += 1;
        for ((value, from), (&param, to)) in args.into_iter().zip(body.params.iter().zip(&func.params)) {
            let value = self.converted(value, &from.ty, &to.ty);
            if self.in_memory.contains(&param) {
                let local = self.local_for(param)?;
                let ty = self.scalar(to)?;
                self.store(ir::Expr::Local(local), ty, value, Ordering::NonAtomic);
            } else if assigned.contains(&param) || !is_small(&value) {
                let held = self.hold(&self.program.checker.var(param).name.clone(), value);
                if let ir::Expr::Reg(reg) = held {
                    self.settle(param, Home::Reg(reg));
                }
            } else {
                self.settle(param, Home::Known(value));
            }
        }
        let pinned = self.pinned;
        self.pinned = Some(self.b.span());
        let result = self.inline(&body, &func.ret.value(), rest);
        self.nesting -= 1;
        self.pinned = pinned;
        for var in self.inlined.drain(outer..) {
            self.homes.remove(&var);
        }
        let result = result?;
        if ret.ty == Ty::Void {
            return Ok(ir::Expr::bool(false));
        }
        Ok(self.converted(result, &func.ret.ty, &ret.ty))
    }

    fn inline(&mut self, body: &Body, ret: &QTy, rest: Option<ir::Expr>) -> Lowered<ir::Expr> {
        let end = self.b.block();
        let scalar = self.program.checker.types.scalar(&ret.ty);
        // The usual shape, straight to a `return` at the end, needs no register and no jump for its result.
        if let Some((last, before)) = body.stmts.split_last()
            && let StmtKind::Return(Some(value)) = &last.kind
            && !contains_return(before)
            && scalar.is_some()
        {
            self.frame(body, Exit::Inline { end, result: None }, ret.clone());
            self.top().rest = rest;
            self.stmts(before)?;
            let value = self.value(value)?;
            self.frames.pop();
            return Ok(value);
        }
        let result = scalar.map(|ty| self.b.reg("result", ty));
        self.frame(body, Exit::Inline { end, result }, ret.clone());
        self.top().rest = rest;
        self.stmts(&body.stmts)?;
        self.frames.pop();
        self.b.terminate(Term::Goto(end));
        self.b.switch_to(end);
        Ok(result.map_or(ir::Expr::bool(false), ir::Expr::Reg))
    }
}

/// Whether an expression can be written down several times.
fn is_small(expr: &ir::Expr) -> bool {
    let mut parts = 0;
    expr.walk(&mut |_| parts += 1);
    parts <= 5
}

/// The variables a body assigns to.
fn assigned(body: &Body) -> FxHashSet<VarId> {
    let mut vars = FxHashSet::default();
    each_in(&body.stmts, &mut |expr| {
        let target = match &expr.kind {
            ExprKind::Assign(target, _) | ExprKind::OpAssign { target, .. } | ExprKind::IncDec { target, .. } => target,
            _ => return,
        };
        if let ExprKind::Var(id) = target.kind {
            vars.insert(id);
        }
    });
    vars
}

fn contains_return(stmts: &[crate::tree::Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(inner) => contains_return(inner),
        StmtKind::If(_, a, b) => {
            contains_return(std::slice::from_ref(a))
                || b.as_ref().is_some_and(|b| contains_return(std::slice::from_ref(b)))
        }
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For { body, .. }
        | StmtKind::Switch { body, .. } => contains_return(std::slice::from_ref(body)),
        _ => false,
    })
}
