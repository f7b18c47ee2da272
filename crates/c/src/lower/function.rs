//! How is one function lowered? Its parameters, its variables and their homes, its result.

use super::jump::Jumps;
use super::scope::Scope;
use super::sequence::Place;
use super::value::offset;
use super::{Lowered, Lowerer};
use crate::check::Origin;
use crate::ctype::{Leaf, QTy, Ty};
use crate::parse::Fault;
use crate::token::Pos;
use crate::tree::{Body, ExprKind, FnId, LabelId, Storage, VarId};
use crate::walk::each_in;
use raddle_program::{
    BlockId, Expr, Function, FunctionBuilder, Layout, LocalId, Op, Ordering, Reg, Shape, Span, Term, Type, Unwritten,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Structs of up to so many scalars are passed as these.
const MAX_FLAT: usize = 16;

/// Where a variable lives.
#[derive(Clone, Debug)]
pub(super) enum Home {
    Reg(Reg),
    Local(LocalId),
    /// An object of its block, whose address is in the register.
    Made(Reg),
    /// A parameter of a library function that is known where it is called.
    Known(Expr),
}

/// How a function hands back its result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Return {
    Nothing,
    /// A scalar of this type.
    Scalar(Type),
    /// A struct that is one scalar.
    Single(Leaf),
    /// A struct, written through a pointer that is the first parameter.
    Through,
}

/// Where `return` goes.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    /// Out of the function.
    Return,
    /// To the end of a library function that is put in line; its result goes to the register.
    Inline { end: BlockId, result: Option<Reg> },
}

/// What belongs to one body: a function, or a library function put in line.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) exit: Exit,
    pub(super) ret: QTy,
    pub(super) labels: Vec<BlockId>,
    /// Where `break` and `continue` go, innermost last, and how many blocks are around there.
    pub(super) breaks: Vec<(BlockId, usize)>,
    pub(super) continues: Vec<(BlockId, usize)>,
    /// The blocks around, outermost first.
    pub(super) scopes: Vec<Scope>,
    /// The blocks of the cases and the default of the switches around.
    pub(super) switches: Vec<(Vec<BlockId>, BlockId)>,
    /// Where the arguments beyond the parameters are, if there may be such.
    pub(super) rest: Option<Expr>,
}

/// A function under construction.
pub(super) struct FnLowerer<'f, 'a> {
    pub(super) program: &'f mut Lowerer<'a>,
    pub(super) b: FunctionBuilder,
    pub(super) homes: FxHashMap<VarId, Home>,
    pub(super) frames: Vec<Frame>,
    /// How the function returns, and the pointer for it.
    pub(super) ret: Return,
    pub(super) through: Option<Expr>,
    /// Variables that must have an address.
    pub(super) in_memory: FxHashSet<VarId>,
    /// The value of the call that is being lowered is not asked for.
    pub(super) discarded: bool,
    /// Variables that something may point at for longer than they live.
    pub(super) outlived: FxHashSet<VarId>,
    /// The line that is shown for everything inside a library function.
    pub(super) pinned: Option<Span>,
    /// What is being lowered, for whatever turns out to be wrong with it.
    pub(super) here: Pos,
    /// It is the function that the program begins with.
    pub(super) main: bool,
    /// Its value is used by whoever calls it.
    pub(super) valued: bool,
    /// The whole body is an atomic block.
    pub(super) atomic: bool,
    /// Library functions being put in line, against endless nesting.
    pub(super) nesting: u32,
    /// Variables of library functions that have homes now; each time such a function is put in line they get new ones,
    /// because the value of an earlier one may still be in use.
    pub(super) inlined: Vec<VarId>,
    /// Where computed gotos meet, with the target, and which function it is for the addresses of its labels.
    pub(super) dispatch: Option<(BlockId, Reg)>,
    /// What it has to do with jumps out of functions.
    pub(super) jumps: Jumps,
    /// What local objects are made of.
    pub(super) shapes: Vec<(LocalId, Arc<Shape>)>,
    /// Registers that are variables of the program, parameters apart.
    pub(super) variables: Vec<Reg>,
    /// Expressions whose effects have no order.
    pub(super) conflicts: FxHashMap<Place, VarId>,
}

impl<'a> Lowerer<'a> {
    /// How a function with this result type returns.
    pub(super) fn returns(&self, ret: &QTy) -> Return {
        let types = &self.checker.types;
        match &ret.ty {
            Ty::Void => Return::Nothing,
            Ty::Record(_) | Ty::Int128 { .. } => match types.leaves(ret, 1).as_deref() {
                Some([leaf]) => Return::Single(*leaf),
                _ => Return::Through,
            },
            scalar => types.scalar(scalar).map_or(Return::Nothing, Return::Scalar),
        }
    }

    /// The scalars a parameter is passed as; `None` if it is passed as a pointer to a copy.
    pub(super) fn flat(&self, ty: &QTy) -> Option<Vec<Leaf>> {
        self.checker.types.leaves(ty, MAX_FLAT).filter(|leaves| leaves.len() <= MAX_FLAT && !leaves.is_empty())
    }

    pub(super) fn function(&mut self, id: FnId, main: bool, valued: bool) -> Lowered<Function> {
        let func = self.checker.func(id);
        let (name, ty, pos) = (func.name.clone(), func.ty.clone(), func.pos);
        let body = self.bodies.get(&id).cloned().ok_or_else(|| Fault::new(pos, "this function has no body"))?;
        let span = self.span(pos);
        let ret = self.returns(&ty.ret);
        let mut params: Vec<(String, Type)> = Vec::new();
        if ret == Return::Through {
            params.push(("result".to_owned(), Type::Ptr));
        }
        if !main {
            for &param in &body.params {
                let var = self.checker.var(param);
                let (name, ty) = (var.name.to_string(), var.ty.clone());
                match self.checker.types.scalar(&ty.ty) {
                    Some(scalar) => params.push((name, scalar)),
                    None => match self.flat(&ty) {
                        Some(leaves) => params.extend(leaves.iter().map(|l| (format!("{name}.{}", l.offset), l.ty))),
                        None => params.push((name, Type::Ptr)),
                    },
                }
            }
        }
        if ty.variadic && !main {
            params.push(("rest".to_owned(), Type::Ptr));
        }
        make_distinct(&mut params);
        let ret_type = match &ret {
            Return::Nothing | Return::Through => None,
            Return::Scalar(ty) => Some(*ty),
            Return::Single(leaf) => Some(leaf.ty),
        };
        let param_refs: Vec<(&str, Type)> = params.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        let unique = self.unique(&name);
        let builder = FunctionBuilder::new(unique, &param_refs, ret_type, span);
        let atomic = name.starts_with("__VERIFIER_atomic_");
        let open = super::sequence::open(&body);
        for (pos, first, second) in open.calls {
            self.note_order(pos, &first, &second);
        }
        let mut lowerer = FnLowerer {
            program: self,
            b: builder,
            homes: FxHashMap::default(),
            frames: Vec::new(),
            ret,
            through: None,
            in_memory: FxHashSet::default(),
            outlived: FxHashSet::default(),
            discarded: false,
            pinned: None,
            here: pos,
            main,
            valued,
            atomic,
            nesting: 0,
            inlined: Vec::new(),
            dispatch: None,
            jumps: Jumps::default(),
            shapes: Vec::new(),
            variables: Vec::new(),
            conflicts: open.conflicts,
        };
        lowerer.survey(&body);
        lowerer.outlived = super::scope::outlived(&mut lowerer, &body);
        lowerer.enter(&body, main)?;
        lowerer.frame(&body, Exit::Return, ty.ret.value());
        lowerer.top().rest = (ty.variadic && !main).then(|| Expr::Reg(Reg(params.len() as u32 - 1)));
        if main {
            lowerer.call_each(lowerer.program.checker.constructors.clone(), pos);
        }
        if atomic {
            lowerer.program.competition = true;
            lowerer.b.push(Op::AtomicBegin);
        }
        lowerer.open_scope(&[], &body.stmts);
        lowerer.stmts(&body.stmts)?;
        lowerer.close_scope()?;
        if main && !lowerer.b.terminated() {
            lowerer.run_handlers(pos)?;
        }
        lowerer.leave_by_falling(pos)?;
        lowerer.dispatch_labels(id, body.labels);
        lowerer.end_jumps(ret_type, pos)?;
        let FnLowerer { b, variables, shapes, program, .. } = lowerer;
        let mut function = b.finish();
        for (local, shape) in shapes {
            let place = (function.name.clone(), function.locals[local.index()].name.clone());
            program.program.shapes.locals.insert(place, shape);
        }
        super::unset::check(&mut function, &variables);
        Ok(function)
    }
}

/// Parameters of one name get numbers.
fn make_distinct(params: &mut [(String, Type)]) {
    let mut seen = FxHashSet::default();
    for (index, (name, _)) in params.iter_mut().enumerate() {
        if !seen.insert(name.clone()) {
            *name = format!("{name}.{index}");
            seen.insert(name.clone());
        }
    }
}

impl FnLowerer<'_, '_> {
    /// Notes which variables of a body need an address.
    pub(super) fn survey(&mut self, body: &Body) {
        let in_memory = &mut self.in_memory;
        each_in(&body.stmts, &mut |expr| match &expr.kind {
            ExprKind::AddrOf(object) => {
                in_memory.extend(root(object));
            }
            ExprKind::Builtin(builtin, args) => {
                use crate::tree::Builtin::*;
                let atomic = matches!(
                    builtin,
                    AtomicLoad(_)
                        | AtomicStore(_)
                        | AtomicRmw { .. }
                        | CompareExchange { .. }
                        | SyncCas { .. }
                        | TestAndSet(_)
                );
                if atomic {
                    in_memory.extend(args.first().and_then(root));
                }
            }
            _ => {}
        });
    }

    /// Gives parameters their homes.
    fn enter(&mut self, body: &Body, main: bool) -> Lowered<()> {
        let mut next = 0;
        if self.ret == Return::Through {
            self.through = Some(Expr::Reg(self.b.param(0)));
            next = 1;
        }
        if main {
            return self.main_params(body);
        }
        for &param in &body.params {
            let var = self.program.checker.var(param).clone();
            if let Some(scalar) = self.program.checker.types.scalar(&var.ty.ty) {
                let reg = self.b.param(next);
                next += 1;
                if self.in_memory.contains(&param) {
                    let local = self.local_for(param)?;
                    let order = if var.ty.quals.atomic { Ordering::SeqCst } else { Ordering::NonAtomic };
                    let (addr, value) = (Expr::Local(local), Expr::Reg(reg));
                    self.store(addr, scalar, value, order);
                } else {
                    self.homes.insert(param, Home::Reg(reg));
                }
                continue;
            }
            let local = self.local_for(param)?;
            match self.program.flat(&var.ty) {
                Some(leaves) => {
                    for leaf in leaves {
                        let value = Expr::Reg(self.b.param(next));
                        next += 1;
                        let addr = offset(Expr::Local(local), leaf.offset);
                        self.b.push(Op::Store { ty: leaf.ty, addr, value, order: Ordering::NonAtomic });
                    }
                }
                None => {
                    let source = Expr::Reg(self.b.param(next));
                    next += 1;
                    self.copy(Expr::Local(local), source, &var.ty)?;
                }
            }
        }
        Ok(())
    }

    /// `argc` and `argv` as the options say.
    fn main_params(&mut self, body: &Body) -> Lowered<()> {
        let args = self.program.options.args.clone();
        for (index, &param) in body.params.iter().enumerate() {
            let var = self.program.checker.var(param).clone();
            let Some(ty) = self.program.checker.types.scalar(&var.ty.ty) else {
                return Err(Fault::new(var.pos, "`main` takes a number and pointers"));
            };
            let value = match index {
                0 => Expr::Const(ty, ty.truncate(args.len() as u64 + 1)),
                1 if ty == Type::Ptr => self.program.argv(&args),
                _ => Expr::Const(ty, 0),
            };
            self.declare(param)?;
            match self.homes.get(&param).cloned() {
                Some(Home::Reg(dst)) => self.b.push(Op::Assign { dst, value }),
                Some(Home::Local(local)) => {
                    self.store(Expr::Local(local), ty, value, Ordering::NonAtomic);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Starts a body: its labels get blocks.
    pub(super) fn frame(&mut self, body: &Body, exit: Exit, ret: QTy) {
        let labels = (0..body.labels).map(|_| self.b.block()).collect();
        self.frames.push(Frame {
            exit,
            ret,
            labels,
            breaks: Vec::new(),
            continues: Vec::new(),
            scopes: Vec::new(),
            switches: Vec::new(),
            rest: None,
        });
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a body is being lowered")
    }

    pub(super) fn label(&mut self, label: LabelId) -> BlockId {
        self.top().labels[label.0 as usize]
    }

    /// The end of the body without a `return`. If the value of the call is used, this reads what nobody has written.
    fn leave_by_falling(&mut self, pos: Pos) -> Lowered<()> {
        self.at(pos);
        if self.b.terminated() {
            return Ok(());
        }
        let value = match (&self.ret, self.main) {
            (Return::Scalar(ty), true) => Ok(Some(Expr::Const(*ty, 0))),
            _ => self.missing_value(),
        };
        self.leave(value?);
        Ok(())
    }

    /// The value of a function that has none, which is an error here, or where it is used.
    pub(super) fn missing_value(&mut self) -> Lowered<Option<Expr>> {
        let unwritten = if self.valued { Unwritten::Error } else { Unwritten::Kept };
        let ty = match &self.ret {
            Return::Nothing => return Ok(None),
            Return::Scalar(ty) | Return::Single(Leaf { ty, .. }) => *ty,
            Return::Through => {
                let ret = self.top().ret.clone();
                let layout = self.program.layout(&ret, 0);
                let layout = layout.ok_or_else(|| self.fault("a value of an incomplete type"))?;
                let nothing = Expr::Local(self.b.local("result".to_owned(), layout));
                let to = self.through.clone().expect("a function that returns through a pointer has one");
                self.copy(to, nothing, &ret)?;
                return Ok(None);
            }
        };
        let object = self.b.local("result".to_owned(), Layout::Scalar(ty));
        let dst = self.b.reg("result", ty);
        let (addr, order) = (Expr::Local(object), Ordering::NonAtomic);
        self.b.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten });
        Ok(Some(Expr::Reg(dst)))
    }

    /// Leaves the function.
    pub(super) fn leave(&mut self, value: Option<Expr>) {
        if self.atomic {
            self.b.push(Op::AtomicEnd);
        }
        self.b.terminate(Term::Return(value));
    }

    /// Instructions from now on belong to this place.
    pub(super) fn at(&mut self, pos: Pos) {
        let span = match self.pinned {
            Some(span) => span,
            None => {
                self.here = pos;
                self.program.span(pos)
            }
        };
        self.b.at(span);
    }

    /// Something is wrong with what is being lowered.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.here, message)
    }

    /// Gives a variable its home when its declaration is met.
    pub(super) fn declare(&mut self, id: VarId) -> Lowered<()> {
        if self.homes.contains_key(&id) {
            return Ok(());
        }
        let var = self.program.checker.var(id);
        if let Storage::Static { .. } = var.storage {
            return Ok(());
        }
        match self.program.checker.types.scalar(&var.ty.ty) {
            Some(scalar) if !self.in_memory.contains(&id) => {
                let name = var.name.clone();
                let reg = self.b.reg(&name, scalar);
                self.settle(id, Home::Reg(reg));
            }
            _ => {
                self.local_for(id)?;
            }
        }
        Ok(())
    }

    pub(super) fn local_for(&mut self, id: VarId) -> Lowered<LocalId> {
        let var = self.program.checker.var(id).clone();
        let Some(layout) = self.program.layout(&var.ty, var.align) else {
            return Err(Fault::new(var.pos, format!("`{}` has an incomplete type", var.name)));
        };
        let local = self.b.local(var.name.to_string(), layout);
        self.shapes.extend(self.program.shape_of_object(&var.ty).map(|shape| (local, shape)));
        self.settle(id, Home::Local(local));
        Ok(local)
    }

    /// Gives a variable its home, until the library function it belongs to ends, if it belongs to one.
    pub(super) fn settle(&mut self, id: VarId, home: Home) {
        self.homes.insert(id, home);
        if self.nesting > 0 {
            self.inlined.push(id);
        }
    }

    /// The address of a variable that is in memory.
    pub(super) fn var_address(&mut self, id: VarId, pos: Pos) -> Lowered<Expr> {
        if let Storage::Static { .. } = self.program.checker.var(id).storage {
            return Ok(Expr::Global(self.program.global(id, pos)?));
        }
        self.declare(id)?;
        match self.homes.get(&id) {
            Some(Home::Local(local)) => Ok(Expr::Local(*local)),
            Some(Home::Made(reg)) => Ok(Expr::Reg(*reg)),
            _ => Err(Fault::new(pos, "the address of something that is not in memory")),
        }
    }

    /// Gives a variable in a register a value. `x = x` stands for a declaration, so a copy of itself goes by another register.
    pub(super) fn set(&mut self, dst: Reg, value: Expr) {
        let value = if value == Expr::Reg(dst) { self.hold("same", value) } else { value };
        self.b.push(Op::Assign { dst, value });
    }

    /// A register with a value in it.
    pub(super) fn hold(&mut self, name: &str, value: Expr) -> Expr {
        let ty = self.b.ty(&value);
        let dst = self.b.reg(name, ty);
        self.b.push(Op::Assign { dst, value });
        Expr::Reg(dst)
    }

    /// The body of a library function, checked when it is first needed.
    pub(super) fn library_body(&mut self, name: &str) -> Lowered<Option<(FnId, Rc<Body>)>> {
        let Some(id) = self.program.checker.function_named(name, Origin::Library) else { return Ok(None) };
        if let Some(body) = self.program.bodies.get(&id) {
            return Ok(Some((id, body.clone())));
        }
        let Some(body) = self.program.checker.body(id)? else { return Ok(None) };
        let body = Rc::new(body);
        self.program.bodies.insert(id, body.clone());
        Ok(Some((id, body)))
    }
}

/// The variable an object is part of, if it is found without going through a pointer.
pub(super) fn root(object: &crate::tree::Expr) -> Option<VarId> {
    match &object.kind {
        ExprKind::Var(id) | ExprKind::Literal(id, _) => Some(*id),
        ExprKind::Member(base, ..) => root(base),
        _ => None,
    }
}
