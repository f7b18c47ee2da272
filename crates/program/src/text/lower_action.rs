//! Simple statements and instructions that give a value.

use super::ast::{Action, Ast, CalleeAst, How, Name, Place, StmtKind, SyncKind};
use super::lower_body::{Binding, Body};
use super::names::did_you_mean;
use crate::Ordering;
use crate::expr::Expr;
use crate::inst::{Callee, Draw, Idle, Op};
use crate::program::{Layout, LocalId, Reg};
use crate::source::{Diagnostic, Span};
use crate::types::Type;

/// Where the value of an action goes.
#[derive(Clone, Copy)]
enum Target<'t> {
    Nowhere,
    Known(Reg),
    /// A register that this statement declares.
    New(&'t Name<'t>, Option<Type>),
}

impl Body<'_, '_> {
    /// Statements without blocks and jumps.
    pub(super) fn simple(&mut self, statement: &StmtKind<'_>) -> Option<()> {
        match statement {
            StmtKind::Let { name, ty: Some(ty), value: None } => {
                self.declare(name, *ty)?;
            }
            StmtKind::Let { name, ty: None, value: None } => {
                let message = format!("the type of `{}` is not known", name.text);
                let help = format!("write `let {}: i32;` or give it a value", name.text);
                self.report.add(Diagnostic::new(name.span, message).help(help));
                self.declare_broken(name);
            }
            StmtKind::Let { name, ty, value: Some(value) } => {
                if self.action(value, Target::New(name, *ty)).is_none() {
                    match ty {
                        Some(ty) if self.lookup(&name.text).is_none() => {
                            self.declare(name, *ty);
                        }
                        _ => self.declare_broken(name),
                    }
                }
            }
            StmtKind::Assign { name, value } => {
                let target = match self.lookup(&name.text) {
                    Some(Binding::Reg(reg)) => Target::Known(reg),
                    Some(Binding::Broken) => return None,
                    Some(Binding::Local(_)) => return self.assigns_memory(name),
                    None if self.items.globals.contains_key(&*name.text) => return self.assigns_memory(name),
                    None => {
                        self.unknown(name, "register");
                        return None;
                    }
                };
                self.action(value, target)?;
            }
            StmtKind::Do(action) => self.action(action, Target::Nowhere)?,
            StmtKind::Store { order, ty, place, value } => {
                let (addr, declared) = self.address(place, *ty)?;
                let ty = self.access_type(ty.or(declared).or(self.own_type(value)), place, "store")?;
                let value = self.expr_as(value, ty)?;
                self.push(Op::Store { ty, addr, value, order: *order });
            }
            StmtKind::Fence(order) => self.push(Op::Fence { order: *order }),
            StmtKind::Sync(kind, place) => {
                let object = self.address(place, None)?.0;
                self.push(match *kind {
                    SyncKind::Lock { recursive } => Op::Lock { mutex: object, recursive },
                    SyncKind::Unlock => Op::Unlock { mutex: object },
                    SyncKind::ReadLock => Op::ReadLock { lock: object },
                    SyncKind::WriteLock => Op::WriteLock { lock: object },
                    SyncKind::RwUnlock => Op::RwUnlock { lock: object },
                    SyncKind::Signal => Op::CondSignal { cond: object },
                    SyncKind::Broadcast => Op::CondBroadcast { cond: object },
                    SyncKind::SemWait => Op::SemWait { sem: object },
                    SyncKind::SemPost => Op::SemPost { sem: object },
                    SyncKind::Destroy(ty) => Op::SyncDestroy { object, ty },
                });
            }
            StmtKind::CondWait { cond, mutex, timed } => {
                let cond = self.address(cond, None)?.0;
                let mutex = self.address(mutex, None)?.0;
                self.push(Op::CondWait { cond, mutex, timed: *timed });
            }
            StmtKind::BarrierInit(barrier, count) => {
                let barrier = self.address(barrier, None)?.0;
                let count = self.expr_as(count, Type::I32)?;
                self.push(Op::BarrierInit { barrier, count });
            }
            StmtKind::Free { ptr, scoped } => {
                let ptr = self.expr_as(ptr, Type::Ptr)?;
                self.push(Op::Free { ptr, scoped: *scoped });
            }
            StmtKind::Assert(cond, message) => {
                let cond = self.expr_as(cond, Type::I1)?;
                self.push(Op::Assert { cond, message: message.clone() });
            }
            StmtKind::Assume(cond) => {
                let cond = self.expr_as(cond, Type::I1)?;
                self.push(Op::Assume { cond });
            }
            StmtKind::Error(kind, message) => self.push(Op::Error { kind: *kind, message: message.clone() }),
            StmtKind::Print(format, args) => {
                let mut lowered = Vec::with_capacity(args.len());
                for arg in args {
                    lowered.push(self.expr(arg, None)?.0);
                }
                self.push(Op::Print { format: format.clone(), args: lowered });
            }
            StmtKind::AtomicBegin => self.push(Op::AtomicBegin),
            StmtKind::AtomicEnd => self.push(Op::AtomicEnd),
            _ => unreachable!("statements with blocks and jumps are lowered by `statement`"),
        }
        Some(())
    }

    /// `var x: i32 = 5;`
    pub(super) fn initialise(&mut self, id: LocalId, layout: Layout, init: &Ast<'_>) -> Option<()> {
        let Layout::Scalar(ty) = layout else {
            let message = "only a single value can be initialised here";
            self.report.add(Diagnostic::new(init.span, message).help("store the parts one by one"));
            return None;
        };
        let value = self.expr_as(init, ty)?;
        self.push(Op::Store { ty, addr: Expr::Local(id), value, order: Ordering::NonAtomic });
        Some(())
    }

    fn assigns_memory(&mut self, name: &Name<'_>) -> Option<()> {
        let message = format!("`{}` is an object in memory, not a register", name.text);
        let help = format!("write `store {}, value;`", name.text);
        self.report.add(Diagnostic::new(name.span, message).help(help));
        None
    }

    fn access_type(&mut self, ty: Option<Type>, place: &Place<'_>, word: &str) -> Option<Type> {
        if ty.is_none() {
            let message = "the type of this access is not known";
            let help = format!("write it before the place: `{word} i32 ...`");
            self.report.add(Diagnostic::new(place.span, message).help(help));
        }
        ty
    }

    fn target_type(&self, target: Target<'_>) -> Option<Type> {
        match target {
            Target::Nowhere => None,
            Target::Known(reg) => Some(self.function.reg_type(reg)),
            Target::New(_, ty) => ty,
        }
    }

    /// The register that receives a value of type `ty`.
    fn receive(&mut self, target: Target<'_>, ty: Type, span: Span) -> Option<Option<Reg>> {
        if let Some(wanted) = self.target_type(target)
            && wanted != ty
        {
            let message = format!("this gives a value of type `{ty}`, but the register has type `{wanted}`");
            self.report.add(Diagnostic::new(span, message));
            return None;
        }
        match target {
            Target::Nowhere => Some(None),
            Target::Known(reg) => Some(Some(reg)),
            Target::New(name, _) => Some(Some(self.declare(name, ty)?)),
        }
    }

    /// As [`Self::receive`], for instructions that are pointless without a target.
    fn receive_some(&mut self, target: Target<'_>, ty: Type, span: Span) -> Option<Reg> {
        match self.receive(target, ty, span)? {
            Some(reg) => Some(reg),
            None => {
                let message = "the value of this instruction is not used";
                self.report.add(Diagnostic::new(span, message).help("write `let r = ...;`"));
                None
            }
        }
    }

    fn action(&mut self, action: &Action<'_>, target: Target<'_>) -> Option<()> {
        let span = self.span;
        match action {
            Action::Expr(value) => {
                let (value, ty) = match self.target_type(target) {
                    Some(ty) => (self.expr_as(value, ty)?, ty),
                    None => self.expr(value, None)?,
                };
                let dst = self.receive_some(target, ty, span)?;
                self.push(Op::Assign { dst, value });
            }
            Action::Load { order, ty, place, until, unwritten } => {
                let (addr, declared) = self.address(place, ty.or(self.target_type(target)))?;
                let ty = self.access_type(ty.or(declared).or(self.target_type(target)), place, "load")?;
                let dst = self.receive(target, ty, span)?;
                let until = match until {
                    Some(cond) => Some(self.expr_as(cond, Type::I1)?),
                    None => None,
                };
                self.push(Op::Load { dst, ty, addr, order: *order, until, unwritten: *unwritten });
            }
            Action::Rmw { op, order, ty, place, operand, idle } => {
                let hint = ty.or(self.target_type(target));
                let (addr, declared) = self.address(place, hint)?;
                let known = ty.or(declared).or(self.target_type(target)).or(self.own_type(operand));
                let ty = self.access_type(known, place, "rmw.add")?;
                let operand = self.expr_as(operand, ty)?;
                let dst = self.receive(target, ty, span)?;
                let idle = match idle {
                    Some((until, wait)) => Some(Idle { until: self.expr_as(until, Type::I1)?, wait: *wait }),
                    None => None,
                };
                self.push(Op::Rmw { dst, op: *op, ty, addr, operand, order: *order, idle });
            }
            Action::Cas(cas) => {
                let hint = cas.ty.or(self.target_type(target));
                let (addr, declared) = self.address(&cas.place, hint)?;
                let operands = self.own_type(&cas.expected).or(self.own_type(&cas.desired));
                let known = cas.ty.or(declared).or(self.target_type(target)).or(operands);
                let ty = self.access_type(known, &cas.place, "cas")?;
                let expected = self.expr_as(&cas.expected, ty)?;
                let desired = self.expr_as(&cas.desired, ty)?;
                let dst = self.receive(target, ty, span)?;
                let success = cas.success;
                let failure = cas.failure.unwrap_or(default_failure(success));
                self.push(Op::Cas { dst, ty, addr, expected, desired, success, failure, wait: cas.wait });
            }
            Action::Call { callee, args, how } => self.call(callee, args, how, target, span)?,
            Action::Join(thread) => {
                let thread = self.expr_as(thread, Type::I64)?;
                let ty = self.result_type(target, span, "join")?;
                let dst = self.receive(target, ty, span)?;
                self.push(Op::Join { dst, thread });
            }
            Action::ThreadId => {
                let dst = self.receive_some(target, Type::I64, span)?;
                self.push(Op::ThreadId { dst });
            }
            Action::TryLock { place, recursive } => {
                let mutex = self.address(place, None)?.0;
                let dst = self.receive(target, Type::I1, span)?;
                self.push(Op::TryLock { dst, mutex, recursive: *recursive });
            }
            Action::TryRwLock { place, write } => {
                let lock = self.address(place, None)?.0;
                let dst = self.receive(target, Type::I1, span)?;
                self.push(Op::TryRwLock { dst, lock, write: *write });
            }
            Action::BarrierWait(place) => {
                let barrier = self.address(place, None)?.0;
                let dst = self.receive(target, Type::I1, span)?;
                self.push(Op::BarrierWait { dst, barrier });
            }
            Action::SemTryWait(place) => {
                let sem = self.address(place, None)?.0;
                let dst = self.receive(target, Type::I1, span)?;
                self.push(Op::SemTryWait { dst, sem });
            }
            Action::Alloc { size, zeroed, scoped } => {
                let size = self.expr_as(size, Type::I64)?;
                let dst = self.receive_some(target, Type::Ptr, span)?;
                self.push(Op::Alloc { dst, size, zeroed: *zeroed, scoped: *scoped });
            }
            Action::Choose { low, high, inclusive, random } => {
                let ty = self.target_type(target).unwrap_or(Type::I32);
                let (first, last) = (low.span, high.span);
                let low = self.items.const_value(low, "the least value of a choice", self.report)?;
                let high = self.items.const_value(high, "the greatest value of a choice", self.report)?;
                let high = if *inclusive { high } else { high - 1 };
                if low < 0 {
                    let help = "choose from 0 and subtract";
                    self.report.add(Diagnostic::new(first, "a choice has no negative values").help(help));
                    return None;
                }
                if high < low {
                    let message = "this range is empty";
                    self.report.add(Diagnostic::new(super::parser::join(first, last), message));
                    return None;
                }
                let low = super::lower_expr::literal(low, ty, first, self.report)?;
                let high = super::lower_expr::literal(high, ty, last, self.report)?;
                let draw = match random.as_deref() {
                    None => None,
                    Some([]) => Some(Draw::Evenly),
                    Some(weights) => Some(self.weights(weights, high - low)?),
                };
                let dst = self.receive_some(target, ty, span)?;
                self.push(Op::Choose { dst, low, high, draw });
            }
            Action::Input { signed, values } => {
                let ty = self.target_type(target).unwrap_or(Type::I32);
                let mut pairs = Vec::new();
                for (low, high) in values.iter().flatten() {
                    let mut bound = |bound: &Ast<'_>| {
                        let value = self.items.const_value(bound, "a value of an input", self.report)?;
                        super::lower_expr::literal(value, ty, bound.span, self.report)
                    };
                    pairs.push((bound(low)?, bound(high)?));
                }
                let dst = self.receive_some(target, ty, span)?;
                self.push(Op::Input { dst, signed: *signed, values: values.is_some().then_some(pairs) });
            }
        }
        Some(())
    }

    /// The weights of so many values and one more.
    fn weights(&mut self, weights: &[Ast<'_>], more: u64) -> Option<Draw> {
        let mut numbers = Vec::new();
        for ast in weights {
            let weight = self.items.const_value(ast, "a weight", self.report)?;
            match u32::try_from(weight) {
                Ok(weight @ 1..=Draw::MOST) => numbers.push(weight),
                _ => {
                    let message = format!("a weight is a number from 1 to {}", Draw::MOST);
                    let help = "a value that is never drawn is not in the range";
                    self.report.add(Diagnostic::new(ast.span, message).help(help));
                    return None;
                }
            }
        }
        let (first, last) = (weights.first()?.span, weights.last()?.span);
        if numbers.len() as u64 != more.saturating_add(1) {
            let message = format!("there are {} weights for {} values", numbers.len(), more.saturating_add(1));
            let help = "each value has one; without `weights` all have the same";
            self.report.add(Diagnostic::new(super::parser::join(first, last), message).help(help));
            return None;
        }
        Some(Draw::Weighted(numbers))
    }

    /// The type of a result that only its register decides.
    fn result_type(&mut self, target: Target<'_>, span: Span, word: &str) -> Option<Type> {
        match target {
            Target::Nowhere => Some(Type::I64),
            _ => match self.target_type(target) {
                Some(ty) => Some(ty),
                None => {
                    let message = format!("the type of what `{word}` gives is not known");
                    self.report.add(Diagnostic::new(span, message).help("write it: `let r: i32 = ...;`"));
                    None
                }
            },
        }
    }

    fn call(
        &mut self,
        callee: &CalleeAst<'_>,
        args: &[Ast<'_>],
        how: &How<'_>,
        target: Target<'_>,
        span: Span,
    ) -> Option<()> {
        let (callee, result, args) = match callee {
            CalleeAst::Direct(name) => {
                let Some(&id) = self.items.functions.get(&*name.text) else {
                    self.unknown_function(name);
                    return None;
                };
                let (params, ret) = self.items.signatures[id.index()].clone();
                if params.len() != args.len() {
                    let message = format!("`{}` takes {}, not {}", name.text, counted(params.len()), args.len());
                    self.report.add(Diagnostic::new(span, message));
                    return None;
                }
                let mut lowered = Vec::with_capacity(args.len());
                for (arg, ty) in args.iter().zip(params) {
                    lowered.push(self.expr_as(arg, ty)?);
                }
                (Callee::Direct(id), ret, lowered)
            }
            CalleeAst::Indirect(pointer) => {
                let pointer = self.expr_as(pointer, Type::Ptr)?;
                let mut lowered = Vec::with_capacity(args.len());
                for arg in args {
                    lowered.push(self.expr(arg, None)?.0);
                }
                let ret = match how {
                    How::Call => Some(self.result_type(target, span, "call")?),
                    How::Spawn | How::Post(_) => None,
                };
                (Callee::Indirect(pointer), ret, lowered)
            }
        };
        match how {
            How::Call => {}
            How::Spawn => {
                let dst = self.receive(target, Type::I64, span)?;
                self.push(Op::Spawn { dst, callee, args, mailbox: None });
                return Some(());
            }
            How::Post(looper) => {
                if !matches!(target, Target::Nowhere) {
                    self.report.add(Diagnostic::new(span, "a message has no handle").help("leave out the `=`"));
                    return None;
                }
                let mailbox = Some(self.address(looper, Some(Type::I32))?.0);
                self.push(Op::Spawn { dst: None, callee, args, mailbox });
                return Some(());
            }
        }
        let dst = match (target, result) {
            (Target::Nowhere, _) => None,
            (_, Some(ty)) => self.receive(target, ty, span)?,
            (_, None) => {
                self.report.add(Diagnostic::new(span, "this function returns nothing").help("leave out the `=`"));
                return None;
            }
        };
        self.push(Op::Call { dst, callee, args });
        Some(())
    }

    fn unknown_function(&mut self, name: &Name<'_>) {
        let mut diagnostic = Diagnostic::new(name.span, format!("there is no function `{}`", name.text));
        let functions: Vec<&str> = self.items.functions.keys().map(String::as_str).collect();
        if let Some(guess) = did_you_mean(&name.text, functions) {
            diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
        } else if let Some(Binding::Reg(_)) = self.lookup(&name.text) {
            diagnostic = diagnostic.help(format!("to call through a pointer write `call *{}(...)`", name.text));
        }
        self.report.add(diagnostic);
    }
}

fn counted(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

/// The ordering of a failed compare-exchange, if none is written: the reading half of the other.
pub(super) fn default_failure(success: Ordering) -> Ordering {
    match success {
        Ordering::AcqRel => Ordering::Acquire,
        Ordering::Release => Ordering::Relaxed,
        other => other,
    }
}
