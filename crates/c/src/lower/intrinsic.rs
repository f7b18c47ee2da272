//! Operations below the library: what C cannot say, and calls whose arguments need their C types.
//!
//! `__raddle_*` are the primitives that `library/` is written over, one instruction each. `memcpy` and its like are
//! here because they move scalars of the types their arguments point at, not bytes: a copied `int` is one read and
//! one write, as an assignment would be.

use super::Lowered;
use super::function::FnLowerer;
use super::jump::LANDINGS;
use super::value::{binary, from_bool, is_true, reshape, resize};
use super::wide::is_int128;
use crate::check::Origin;
use crate::ctype::{IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::BinaryOp;
use crate::token::Pos;
use crate::tree::{Builtin, Expr, ExprKind, FnId};
use raddle_program::{self as ir, BinOp, Callee, Draw, ErrorKind, Op, Ordering, Reg, Term, Type, Unwritten};

/// How many numbers can be drawn from.
const MOST_ALTERNATIVES: u64 = 1 << 16;

/// Calls that are lowered here by name.
const NATIVE: [&str; 28] = [
    "abort",
    "exit",
    "_Exit",
    "_exit",
    "quick_exit",
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "vdprintf",
    "puts",
    "putchar",
    "putc",
    "fputc",
    "fputs",
    "perror",
    "fflush",
    "memcpy",
    "memmove",
    "memset",
    "mempcpy",
    "realloc",
    "reallocarray",
    "thrd_exit",
    "pthread_exit",
    "pthread_kill",
    "dprintf",
    "raddle_post",
];

/// Whether a call of this name needs no C body.
pub(super) fn is_native(name: &str) -> bool {
    name.starts_with("__raddle_") || NATIVE.contains(&name) || LANDINGS.contains(&name)
}

impl FnLowerer<'_, '_> {
    /// A call that is lowered by name, if it is one.
    pub(super) fn native(&mut self, expr: &Expr, name: &str, args: &[Expr]) -> Lowered<Option<ir::Expr>> {
        let discarded = std::mem::take(&mut self.discarded);
        // Some names have a body in the library. That of `realloc` is for calls through pointers: it moves bytes.
        let written = self.program.checker.function_named(name, Origin::Library);
        let written = written.is_some_and(|id| self.program.checker.func(id).def.is_some());
        if !is_native(name) || (written && !name.starts_with("realloc")) {
            return Ok(None);
        }
        let zero = |f: &Self| f.scalar(&expr.ty).map_or(ir::Expr::bool(false), |ty| ir::Expr::Const(ty, 0));
        match name {
            "printf" | "fprintf" | "dprintf" | "vprintf" | "vfprintf" | "vdprintf" | "puts" | "putchar" | "putc"
            | "fputc" | "fputs" | "perror" | "fflush" => {
                let formats = matches!(name, "printf" | "fprintf" | "dprintf");
                if formats && !discarded {
                    return self.printed_length(expr, args, usize::from(name != "printf")).map(Some);
                }
                let result = self.print_call(expr, name, args)?;
                return Ok(Some(result.unwrap_or_else(|| zero(self))));
            }
            "memcpy" | "memmove" | "mempcpy" | "memset" => return self.bulk(expr, name, args).map(Some),
            "realloc" | "reallocarray" => return self.reallocate(expr, args).map(Some),
            "pthread_kill" => return self.signal_to(expr, args).map(Some),
            _ => {}
        }
        let mut values = Vec::new();
        for arg in args {
            values.push(self.value(arg)?);
        }
        self.at(expr.pos);
        match name {
            "abort" => {
                // Where a program is written in the words of competitions, an abort is a way to give up a run.
                if !self.program.checker.speaks_to_verifiers() {
                    self.b.push(Op::Error { kind: ErrorKind::Mark, message: "abort() is called".to_owned() });
                }
                self.b.terminate(Term::Exit);
            }
            "exit" => {
                self.run_handlers(expr.pos)?;
                self.b.terminate(Term::Exit);
            }
            "_Exit" | "_exit" | "quick_exit" => self.b.terminate(Term::Exit),
            "pthread_exit" | "thrd_exit" => {
                let value = values.into_iter().next().map(|v| {
                    let ty = self.b.ty(&v);
                    resize(v, ty, Type::Ptr, true)
                });
                if self.program.used.contains("__raddle_cleanup_push") {
                    self.library_call("__raddle_cleanup_all", Vec::new(), &Ty::Void.plain(), expr.pos)?;
                }
                if self.program.ends_threads() {
                    self.library_call("__raddle_thread_end", Vec::new(), &Ty::Void.plain(), expr.pos)?;
                }
                self.b.terminate(Term::ExitThread(value));
            }
            "__raddle_unwind" => self.unwind(),
            _ if LANDINGS.contains(&name) => return self.landing(expr, name, &values).map(Some),
            _ => return self.primitive(expr, name, args, values).map(Some),
        }
        // What follows is not reached; it still needs a block to be in.
        let after = self.b.block();
        self.b.switch_to(after);
        Ok(Some(zero(self)))
    }

    /// A signal to the thread itself, or the question whether another is there. Another thread's handler would run between any two of its steps.
    fn signal_to(&mut self, expr: &Expr, args: &[Expr]) -> Lowered<ir::Expr> {
        let [thread, signal] = args else { return Err(Fault::new(expr.pos, "`pthread_kill` takes two arguments")) };
        let own = |expr: &Expr| {
            let ExprKind::Call(callee, _) = &expr.kind else { return false };
            let ExprKind::AddrOf(function) = &callee.kind else { return false };
            matches!(function.kind, ExprKind::Func(id) if *self.program.checker.func(id).name == *"pthread_self")
        };
        if own(thread) {
            let signal = (self.value(signal)?, signal.ty.clone());
            return self.library_call("raise", vec![signal], &Ty::INT.plain(), expr.pos);
        }
        if !matches!(signal.kind, ExprKind::Const(0)) {
            return Err(Fault::new(expr.pos, "a signal to another thread is not supported")
                .help("a thread's handler could run between any two of its steps; `raise` and `pthread_kill(pthread_self(), ...)` are understood"));
        }
        self.value(thread)?;
        Ok(ir::Expr::Const(Type::I32, 0))
    }

    /// Calls functions without arguments.
    pub(super) fn call_each(&mut self, functions: Vec<FnId>, pos: Pos) {
        self.at(pos);
        for id in functions {
            let callee = Callee::Direct(self.program.function_id(id));
            self.b.push(Op::Call { dst: None, callee, args: Vec::new() });
        }
    }

    /// Before the program ends: calls what it has asked for.
    pub(super) fn run_handlers(&mut self, pos: Pos) -> Lowered<()> {
        if self.program.used.contains("atexit") {
            self.library_call("__raddle_run_handlers", Vec::new(), &Ty::Void.plain(), pos)?;
        }
        self.call_each(self.program.checker.destructors.iter().rev().copied().collect(), pos);
        Ok(())
    }

    fn primitive(&mut self, expr: &Expr, name: &str, args: &[Expr], values: Vec<ir::Expr>) -> Lowered<ir::Expr> {
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(ir::Expr::null());
        let nothing = ir::Expr::bool(false);
        let op = match name {
            "__raddle_uses" => {
                let used = string_of(&args[0], self).is_some_and(|name| self.program.used.contains(name.as_str()));
                return Ok(ir::Expr::Const(Type::I32, u64::from(used)));
            }
            "__raddle_spurious" => {
                if !self.program.options.spurious_wakeups {
                    self.program.note(
                        "condition variables wake up only when they are signalled; --spurious-wakeups lets them wake up by \
                         themselves, as C and POSIX do",
                    );
                }
                return Ok(ir::Expr::Const(Type::I32, u64::from(self.program.options.spurious_wakeups)));
            }
            "__raddle_choose" => {
                let (low, high) = (next(), next());
                let (ir::Expr::Const(_, low), ir::Expr::Const(_, high)) = (low, high) else {
                    return Err(Fault::new(expr.pos, "a choice needs constant bounds"));
                };
                let dst = self.b.reg("choice", Type::I32);
                self.b.push(Op::Choose { dst, low, high, draw: None });
                return Ok(ir::Expr::Reg(dst));
            }
            "__raddle_spawn" => return self.spawn(expr, next(), next(), None),
            "raddle_post" => {
                let looper = next();
                return self.spawn(expr, next(), next(), Some(looper));
            }
            "__raddle_start" => {
                let (function, argument) = (next(), next());
                if !self.program.ends_threads() {
                    return self.spawn(expr, function, argument, None);
                }
                // Destructors of thread-specific data run when the function has returned, and robust mutexes are given up.
                let start = self.program.outline("__raddle_thread_start", expr.pos)?;
                let dst = self.b.reg("thread", Type::I64);
                let (start, args) = match function {
                    ir::Expr::Func(function) => (self.program.started(function, start, expr.pos), vec![argument]),
                    function => (start, vec![function, argument]),
                };
                let callee = Callee::Direct(start);
                self.b.push(Op::Spawn { dst: Some(dst), callee, args, mailbox: None });
                return Ok(ir::Expr::Reg(dst));
            }
            // What a thread's function returned is handed over as it is: an address or a number.
            "__raddle_join" | "__raddle_join_int" => {
                let ty = if name == "__raddle_join" { Type::Ptr } else { Type::I32 };
                let dst = self.b.reg("joined", ty);
                self.b.push(Op::Join { dst: Some(dst), thread: next() });
                return Ok(ir::Expr::Reg(dst));
            }
            "__raddle_self" => {
                let dst = self.b.reg("self", Type::I64);
                self.b.push(Op::ThreadId { dst });
                return Ok(ir::Expr::Reg(dst));
            }
            "__raddle_alloc" | "__raddle_zalloc" => {
                let dst = self.b.reg("object", Type::Ptr);
                self.b.push(Op::Alloc { dst, size: next(), zeroed: name == "__raddle_zalloc", scoped: false });
                return Ok(ir::Expr::Reg(dst));
            }
            "__raddle_trylock" | "__raddle_trylock_recursive" => {
                let recursive = name.ends_with("recursive");
                return Ok(self.tried(|dst| Op::TryLock { dst, mutex: next(), recursive }));
            }
            "__raddle_tryrdlock" | "__raddle_trywrlock" => {
                let write = name == "__raddle_trywrlock";
                return Ok(self.tried(|dst| Op::TryRwLock { dst, lock: next(), write }));
            }
            "__raddle_barrier_wait" => return Ok(self.tried(|dst| Op::BarrierWait { dst, barrier: next() })),
            "__raddle_sem_trywait" => return Ok(self.tried(|dst| Op::SemTryWait { dst, sem: next() })),
            "__raddle_free" => Op::Free { ptr: next(), scoped: false },
            "__raddle_lock" => Op::Lock { mutex: next(), recursive: false },
            "__raddle_lock_recursive" => Op::Lock { mutex: next(), recursive: true },
            "__raddle_unlock" => Op::Unlock { mutex: next() },
            "__raddle_rdlock" => Op::ReadLock { lock: next() },
            "__raddle_wrlock" => Op::WriteLock { lock: next() },
            "__raddle_rwunlock" => Op::RwUnlock { lock: next() },
            "__raddle_cond_wait" | "__raddle_cond_timedwait" => {
                Op::CondWait { cond: next(), mutex: next(), timed: name == "__raddle_cond_timedwait" }
            }
            "__raddle_misuse_memory" | "__raddle_misuse_lock" => {
                let kind = if name == "__raddle_misuse_lock" { ErrorKind::Lock } else { ErrorKind::Memory };
                let message = string_of(&args[0], self).unwrap_or_default();
                Op::Error { kind, message }
            }
            "__raddle_peek8" | "__raddle_peek64" => {
                let ty = if name == "__raddle_peek8" { Type::I8 } else { Type::I64 };
                let unwritten = if ty == Type::I8 { Unwritten::Kept } else { Unwritten::Zero };
                return Ok(self.load_part(next(), ty, Ordering::NonAtomic, unwritten));
            }
            "__raddle_cond_signal" => Op::CondSignal { cond: next() },
            "__raddle_cond_broadcast" => Op::CondBroadcast { cond: next() },
            "__raddle_barrier_init" => Op::BarrierInit { barrier: next(), count: next() },
            "__raddle_sem_wait" => Op::SemWait { sem: next() },
            "__raddle_sem_post" => Op::SemPost { sem: next() },
            "__raddle_destroy32" => Op::SyncDestroy { object: next(), ty: Type::I32 },
            "__raddle_destroy64" => Op::SyncDestroy { object: next(), ty: Type::I64 },
            "__raddle_assume" => {
                let cond = is_true(next(), Type::I32);
                Op::Assume { cond }
            }
            _ => {
                let fault = Fault::new(expr.pos, format!("`{name}` is not a function Raddle knows"));
                return Err(fault);
            }
        };
        self.b.push(op);
        Ok(nothing)
    }

    fn tried(&mut self, op: impl FnOnce(Option<Reg>) -> Op) -> ir::Expr {
        let dst = self.b.reg("got", Type::I1);
        self.b.push(op(Some(dst)));
        from_bool(ir::Expr::Reg(dst), Type::I32)
    }

    /// Starts a thread, or posts a message to a looper. A function of another type than `void *(void *)` gets what it can take.
    fn spawn(
        &mut self,
        expr: &Expr,
        function: ir::Expr,
        arg: ir::Expr,
        mailbox: Option<ir::Expr>,
    ) -> Lowered<ir::Expr> {
        let mut args = vec![arg];
        let callee = match function {
            ir::Expr::Func(id) => {
                let source = self.program.sources.get(&id).map(|id| self.program.checker.func(*id).ty.clone());
                let types = &self.program.checker.types;
                if let Some(ty) = source {
                    match ty.params.as_slice() {
                        [] => args.clear(),
                        [param] => match types.scalar(&param.ty) {
                            Some(ty) => args = vec![reshape(types, args.remove(0), Type::Ptr, ty, false)],
                            None => return Err(Fault::new(expr.pos, "a thread's function cannot take a struct")),
                        },
                        _ => return Err(Fault::new(expr.pos, "a thread's function takes one argument")),
                    }
                    if let Ty::Record(_) = ty.ret.ty {
                        return Err(Fault::new(expr.pos, "a thread's function cannot return a struct"));
                    }
                }
                Callee::Direct(id)
            }
            pointer => Callee::Indirect(pointer),
        };
        if mailbox.is_some() {
            self.b.push(Op::Spawn { dst: None, callee, args, mailbox });
            return Ok(ir::Expr::bool(false));
        }
        let dst = self.b.reg("thread", Type::I64);
        self.b.push(Op::Spawn { dst: Some(dst), callee, args, mailbox });
        Ok(ir::Expr::Reg(dst))
    }

    /// Builtins that are not atomic operations.
    pub(super) fn verifier_builtin(&mut self, expr: &Expr, builtin: &Builtin, args: &[Expr]) -> Lowered<ir::Expr> {
        let nothing = ir::Expr::bool(false);
        match builtin {
            Builtin::Assert(text) => {
                let cond = self.cond(&args[0])?;
                self.at(expr.pos);
                self.b.push(Op::Assert { cond, message: format!("assertion failed: {text}") });
            }
            Builtin::Assume => {
                let cond = self.cond(&args[0])?;
                self.at(expr.pos);
                self.b.push(Op::Assume { cond });
            }
            Builtin::Error(message) => {
                self.program.competition = true;
                self.b.push(Op::Error { kind: ErrorKind::Mark, message: message.clone() });
            }
            Builtin::Trap(name) => {
                self.b.push(Op::Error { kind: ErrorKind::Mark, message: format!("{name} is reached") });
            }
            Builtin::AtomicBlock { begin } => {
                self.program.competition = true;
                self.b.push(if *begin { Op::AtomicBegin } else { Op::AtomicEnd });
            }
            Builtin::Nondet => return self.nondet(&expr.ty),
            Builtin::Random => return self.random(&args[0]),
            Builtin::Rest => {
                let rest = self.top().rest.clone();
                return rest
                    .ok_or_else(|| Fault::new(expr.pos, "this function has no arguments beyond its parameters"));
            }
            Builtin::Popcount | Builtin::Clz | Builtin::Ctz | Builtin::Bswap => {
                let value = self.value(&args[0])?;
                let ty = self.scalar(&args[0].ty)?;
                let wide = resize(value, ty, Type::I64, false);
                let name = match builtin {
                    Builtin::Popcount => "__raddle_popcount",
                    Builtin::Clz => "__raddle_clz",
                    Builtin::Ctz => "__raddle_ctz",
                    _ => "__raddle_bswap",
                };
                let unsigned = Ty::Int(IntKind::ULLong).plain();
                let width = ir::Expr::Const(Type::I32, u64::from(ty.bits()));
                let values = vec![(wide, unsigned), (width, Ty::INT.plain())];
                return self.library_call(name, values, &expr.ty, expr.pos);
            }
            Builtin::Overflow(op) if is_int128(&args[2].ty.ty) => return self.wide_overflow(*op, expr, args),
            Builtin::Overflow(op) => {
                let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
                let wide = args[0].ty.clone();
                if args.len() == 4 {
                    return self.overflow(*op, expr, args, a, b);
                }
                let exact = self.operate(*op, a, &wide, b, &wide)?;
                let exact = self.hold("exact", exact);
                let cut = self.converted(exact.clone(), &wide.ty, &args[2].ty.ty);
                self.put(&args[2], cut.clone())?;
                let back = self.converted(cut, &args[2].ty.ty, &wide.ty);
                return Ok(from_bool(ir::Expr::binary(BinOp::Ne, back, exact), Type::I8));
            }
            _ => args.iter().try_for_each(|arg| self.effect(arg))?,
        }
        Ok(nothing)
    }

    /// Arithmetic in 64 bits, and whether more of them would be needed. The operands have their own types.
    fn overflow(&mut self, op: BinaryOp, expr: &Expr, args: &[Expr], a: ir::Expr, b: ir::Expr) -> Lowered<ir::Expr> {
        let (word, int) = (Ty::Int(IntKind::ULLong).plain(), Ty::INT.plain());
        let constant = |ty, value: u64| ir::Expr::Const(ty, value);
        let mut values = Vec::new();
        let mut numbers = Vec::new();
        for (value, arg) in [(a, &args[0]), (b, &args[1])] {
            let signed = arg.ty.ty.int().is_some_and(IntKind::signed);
            let value = resize(value, self.scalar(&arg.ty)?, Type::I64, signed);
            let value = self.hold("operand", value);
            let zero = constant(Type::I64, 0);
            let below =
                if signed { ir::Expr::binary(BinOp::SLt, value.clone(), zero.clone()) } else { ir::Expr::bool(false) };
            let negated = ir::Expr::binary(BinOp::Sub, zero, value.clone());
            let size = ir::Expr::Select(Box::new(below.clone()), Box::new(negated), Box::new(value.clone()));
            let below = from_bool(below, Type::I32);
            values.push((self.hold("below", below), int.clone()));
            values.push((self.hold("size", size), word.clone()));
            numbers.push(value);
        }
        let [a, b] = <[ir::Expr; 2]>::try_from(numbers).expect("there are two operands");
        let (number, op) = match op {
            BinaryOp::Add => (0, BinOp::Add),
            BinaryOp::Sub => (1, BinOp::Sub),
            _ => (2, BinOp::Mul),
        };
        let ty = self.scalar(&args[2].ty)?;
        let signed = args[2].ty.ty.int().is_some_and(IntKind::signed);
        values.insert(0, (constant(Type::I32, number), int.clone()));
        values.push((constant(Type::I32, u64::from(signed)), int.clone()));
        values.push((constant(Type::I32, u64::from(ty.bits())), int.clone()));
        let over = self.library_call("__raddle_overflows", values, &int, expr.pos)?;
        let over = self.hold("over", over);
        let result = resize(ir::Expr::binary(op, a, b), Type::I64, ty, false);
        self.at(expr.pos);
        self.put(&args[2], result)?;
        Ok(from_bool(is_true(over, Type::I32), Type::I8))
    }

    /// A number below another, drawn with the same probability for each.
    fn random(&mut self, alternatives: &Expr) -> Lowered<ir::Expr> {
        let ir::Expr::Const(_, count @ 1..=MOST_ALTERNATIVES) = self.value(alternatives)? else {
            let message = "`raddle_random` takes a constant number of alternatives";
            let help = format!("from 1 to {MOST_ALTERNATIVES}: `raddle_random(2)` is 0 or 1");
            return Err(Fault::new(alternatives.pos, message).help(help));
        };
        let dst = self.b.reg("drawn", Type::I32);
        self.b.push(Op::Choose { dst, low: 0, high: count - 1, draw: Some(Draw::Evenly) });
        Ok(ir::Expr::Reg(dst))
    }

    /// An unknown input: any value of its type.
    pub(super) fn nondet(&mut self, ty: &QTy) -> Lowered<ir::Expr> {
        let scalar = self.scalar(ty)?;
        let dst = self.b.reg("input", scalar);
        if ty.ty == Ty::Int(IntKind::Bool) {
            self.b.push(Op::Choose { dst, low: 0, high: 1, draw: None });
        } else {
            let signed = ty.ty.int().is_some_and(IntKind::signed);
            self.b.push(Op::Input { dst, signed, values: None });
        }
        Ok(ir::Expr::Reg(dst))
    }

    /// `memcpy`, `memmove`, `memset`: scalar by scalar of the type the arguments point at.
    fn bulk(&mut self, expr: &Expr, name: &str, args: &[Expr]) -> Lowered<ir::Expr> {
        let [to, source, count] = args else {
            return Err(Fault::new(expr.pos, format!("`{name}` takes three arguments")));
        };
        let set = name == "memset";
        let target = self.value(to)?;
        let target = self.hold("to", target);
        let second = self.value(source)?;
        let second = if set { resize(second, Type::I32, Type::I8, false) } else { self.hold("from", second) };
        let size = self.value(count)?;
        let size = resize(size, self.scalar(&count.ty)?, Type::I64, false);
        self.at(expr.pos);
        let element = self.element(to, (!set).then_some(source), &size);
        if name == "memmove" {
            let width = self.program.checker.types.size(&element.ty).unwrap_or(1).max(1);
            self.move_overlapping(&target, &second, &size, &element, width)?;
        } else {
            if !set {
                self.refuse_overlap(name, &target, &second, &size);
            }
            self.copy_bytes(&target, &second, &size, &element, set)?;
        }
        Ok(if name == "mempcpy" { ir::Expr::binary(BinOp::Add, target, size) } else { target })
    }

    /// What `memcpy` copies may not lie across where it goes (C11 7.24.2.1p2). An object copied onto itself, as compilers do for
    /// assignments, is let pass.
    fn refuse_overlap(&mut self, name: &str, to: &ir::Expr, from: &ir::Expr, size: &ir::Expr) {
        let distance = |a: &ir::Expr, b: &ir::Expr| ir::Expr::binary(BinOp::Sub, a.clone(), b.clone());
        let near = |distance| ir::Expr::binary(BinOp::ULt, distance, size.clone());
        let across = ir::Expr::binary(BinOp::Or, near(distance(to, from)), near(distance(from, to)));
        let apart = ir::Expr::binary(BinOp::Ne, to.clone(), from.clone());
        let message = format!("{name} between objects that overlap");
        self.refuse(ir::Expr::binary(BinOp::And, apart, across), ErrorKind::Memory, &message);
    }

    /// Copies (or sets) so many bytes, element by element.
    fn copy_bytes(&mut self, to: &ir::Expr, from: &ir::Expr, size: &ir::Expr, element: &QTy, set: bool) -> Lowered<()> {
        let width = self.program.checker.types.size(&element.ty).unwrap_or(1).max(1);
        let constant = |n: u64| ir::Expr::Const(Type::I64, n);
        let whole = binary(BinOp::UDiv, size.clone(), constant(width));
        self.elements(to, from, constant(0), whole.clone(), element, width, set, false)?;
        // What is left when the number of bytes is no multiple of the element's size.
        let rest = binary(BinOp::URem, size.clone(), constant(width));
        if width > 1 && rest != constant(0) {
            let start = binary(BinOp::Mul, whole, constant(width));
            let byte = Ty::Int(IntKind::Char).plain();
            self.elements(to, from, start, rest, &byte, 1, set, false)?;
        }
        Ok(())
    }

    /// `realloc`: a new object, what the old one held, and the end of the old one.
    fn reallocate(&mut self, expr: &Expr, args: &[Expr]) -> Lowered<ir::Expr> {
        let (old, sizes) = args.split_first().ok_or_else(|| Fault::new(expr.pos, "`realloc` takes two arguments"))?;
        let from = self.value(old)?;
        let from = self.hold("from", from);
        let mut size = ir::Expr::Const(Type::I64, 1);
        for factor in sizes {
            let value = self.value(factor)?;
            let wide = resize(value, self.scalar(&factor.ty)?, Type::I64, false);
            size = binary(BinOp::Mul, size, wide);
        }
        let size = self.hold("size", size);
        self.at(expr.pos);
        let (pointer, wide) = (Ty::Void.plain().pointer().plain(), Ty::Int(IntKind::ULLong).plain());
        let sized = vec![(size, wide.clone())];
        let to = self.library_call("malloc", sized.clone(), &pointer, expr.pos)?;
        let to = self.hold("to", to);
        let arguments = [vec![(from.clone(), pointer.clone())], sized].concat();
        let kept = self.library_call("__raddle_kept", arguments, &wide, expr.pos)?;
        let kept = self.hold("kept", kept);
        let element = self.element(old, None, &kept);
        self.copy_bytes(&to, &from, &kept, &element, false)?;
        self.library_call("free", vec![(from, pointer)], &Ty::Void.plain(), expr.pos)?;
        Ok(to)
    }

    fn move_overlapping(
        &mut self,
        to: &ir::Expr,
        from: &ir::Expr,
        size: &ir::Expr,
        element: &QTy,
        width: u64,
    ) -> Lowered<()> {
        // Elements only if there is a whole number of them, else bytes; forwards only if the target comes first.
        let constant = |n: u64| ir::Expr::Const(Type::I64, n);
        let known = matches!(size, ir::Expr::Const(_, n) if n % width == 0);
        let (element, width) = if known { (element.clone(), width) } else { (Ty::Int(IntKind::Char).plain(), 1) };
        let count = binary(BinOp::UDiv, size.clone(), constant(width));
        let (up, down, done) = (self.b.block(), self.b.block(), self.b.block());
        self.b.terminate(Term::If(ir::Expr::binary(BinOp::ULe, to.clone(), from.clone()), up, down));
        for (block, backwards) in [(up, false), (down, true)] {
            self.b.switch_to(block);
            self.elements(to, from, constant(0), count.clone(), &element, width, false, backwards)?;
            self.b.terminate(Term::Goto(done));
        }
        self.b.switch_to(done);
        Ok(())
    }

    /// Copies or sets `count` elements from `start` bytes on.
    #[allow(clippy::too_many_arguments)]
    fn elements(
        &mut self,
        to: &ir::Expr,
        from: &ir::Expr,
        start: ir::Expr,
        count: ir::Expr,
        element: &QTy,
        width: u64,
        set: bool,
        backwards: bool,
    ) -> Lowered<()> {
        let at = |base: &ir::Expr, distance: &ir::Expr| match distance {
            ir::Expr::Const(_, n) => super::value::offset(base.clone(), *n),
            _ => ir::Expr::binary(BinOp::Add, base.clone(), distance.clone()),
        };
        let one = |f: &mut Self, distance: &ir::Expr| match set {
            true => {
                f.fill(at(to, distance), element, from)?;
                f.fill_padding(at(to, distance), element, from);
                Ok(())
            }
            false => f.copy(at(to, distance), at(from, distance), element),
        };
        match count {
            ir::Expr::Const(_, 0) => Ok(()),
            ir::Expr::Const(_, 1) => one(self, &start),
            count => self.counted(count.clone(), |f, index| {
                let index = match backwards {
                    false => index,
                    true => {
                        let last = binary(BinOp::Sub, count, ir::Expr::Const(Type::I64, 1));
                        binary(BinOp::Sub, last, index)
                    }
                };
                let scaled = binary(BinOp::Mul, index, ir::Expr::Const(Type::I64, width));
                let distance = binary(BinOp::Add, scaled, start.clone());
                one(f, &distance)
            }),
        }
    }

    /// The type of the elements a bulk operation moves: what an argument points at, if it is complete and divides a
    /// known size; else bytes.
    fn element(&self, to: &Expr, from: Option<&Expr>, size: &ir::Expr) -> QTy {
        let types = &self.program.checker.types;
        for arg in std::iter::once(to).chain(from) {
            let mut inner = arg;
            while let ExprKind::Convert(deeper) = &inner.kind {
                inner = deeper;
            }
            // An array whose address is taken is seen as its elements.
            let mut ty = match inner.ty.ty.pointee() {
                Some(to) => (**to).clone(),
                None => continue,
            };
            while let Ty::Array(element, _) = &ty.ty {
                ty = (**element).clone();
            }
            let Some(width) = types.size(&ty.ty).filter(|w| *w > 1) else { continue };
            match size {
                ir::Expr::Const(_, n) if n % width != 0 => {}
                _ => return QTy { quals: Default::default(), ..ty },
            }
        }
        Ty::Int(IntKind::Char).plain()
    }
}

/// The text of an argument that is a string literal.
pub(super) fn string_of(arg: &Expr, f: &FnLowerer) -> Option<String> {
    match &arg.kind {
        ExprKind::Convert(inner) | ExprKind::AddrOf(inner) => string_of(inner, f),
        ExprKind::Str(id) => {
            let units = &f.program.checker.strings[id.0 as usize].units;
            let bytes: Vec<u8> = units.iter().take_while(|&&u| u != 0).map(|&u| u as u8).collect();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => None,
    }
}
