//! From the program to its text, in the flat face of the language.
//!
//! The printer mirrors how the parser gives types to literals: it passes down the type that will be expected where a
//! literal stands, and attaches the type where nothing would decide it. Of two literal operands one keeps its type, so that
//! the parser does not fold what was not folded.

use super::ast::{ATOM, INFIX, PREFIX, SELECT};
use super::lower_action::default_failure;
use super::names::{escape, written};
use crate::Ordering;
use crate::expr::{BinOp, CastOp, Expr, UnOp};
use crate::inst::{Callee, Draw, Op, Term, Unwritten};
use crate::partial::Field;
use crate::program::{BlockId, Function, InitField, InitValue, Layout, Object, Program, Reg};
use crate::types::Type;
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// The text of a program.
///
/// Parsing it gives the same program, up to source locations, if the program is valid and has no unreachable blocks.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    for object in &program.globals {
        global(program, object, &mut out);
    }
    if let Some(entry) = program.entry.map(|entry| &program.functions[entry.index()].name)
        && (entry != "main" || program.entry_exits)
    {
        let exits = if program.entry_exits { " exit" } else { "" };
        line(&mut out, 0, &format!("entry {}{exits};", written(entry)));
    }
    for function in &program.functions {
        if !out.is_empty() {
            out.push('\n');
        }
        Printer::new(program, function).function(&mut out);
    }
    out
}

fn line(out: &mut String, indent: usize, text: &str) {
    out.extend(std::iter::repeat_n("    ", indent));
    out.push_str(text);
    out.push('\n');
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    escape(text, '"', &mut out);
    out.push('"');
    out
}

fn layout(layout: Layout) -> String {
    match layout {
        Layout::Scalar(ty) => ty.name().to_owned(),
        Layout::Array(ty, length) => format!("{ty}[{length}]"),
        Layout::Bytes { size, align } => format!("bytes({size}, {align})"),
        Layout::Mutex => "mutex".to_owned(),
        Layout::RwLock => "rwlock".to_owned(),
        Layout::Cond => "cond".to_owned(),
        Layout::Barrier(count) => format!("barrier({count})"),
        Layout::Semaphore(count) => format!("semaphore({count})"),
        Layout::Looper(mailbox, 1) => mailbox.name().to_owned(),
        Layout::Looper(mailbox, count) => format!("{}[{count}]", mailbox.name()),
    }
}

fn global(program: &Program, object: &Object, out: &mut String) {
    if let Layout::Looper(..) = object.layout {
        let text = format!("looper {}: {};", written(&object.name), layout(object.layout));
        return line(out, 0, &text);
    }
    let prefix = if object.thread_local { "thread_local " } else { "" };
    let constant = if object.constant { "const " } else { "" };
    let mut text = format!("{prefix}global {constant}{}: {}", written(&object.name), layout(object.layout));
    let value = |field: &InitField| match field.value {
        InitValue::Int(value) => literal(field.ty, value, Some(field.ty)),
        InitValue::Global(id, 0) => format!("&{}", written(&program.globals[id.index()].name)),
        InitValue::Global(id, offset) => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("&{} {sign} {}", written(&program.globals[id.index()].name), offset.unsigned_abs())
        }
        InitValue::Func(id) => format!("&{}", written(&program.functions[id.index()].name)),
    };
    let consecutive = |ty: Type| {
        object
            .init
            .iter()
            .enumerate()
            .all(|(i, field)| field.ty == ty && field.offset as usize == i * ty.size() as usize)
    };
    match (object.layout, object.init.as_slice()) {
        (_, []) => {}
        (Layout::Scalar(ty), [field]) if field.ty == ty && field.offset == 0 => {
            let _ = write!(text, " = {}", value(field));
        }
        (Layout::Array(ty, length), fields) if consecutive(ty) && fields.len() <= length as usize => {
            let values: Vec<String> = fields.iter().map(value).collect();
            let _ = write!(text, " = {{{}}}", values.join(", "));
        }
        (_, fields) => {
            let values: Vec<String> =
                fields.iter().map(|field| format!("{}: {} {}", field.offset, field.ty, value(field))).collect();
            let _ = write!(text, " {{{}}}", values.join(", "));
        }
    }
    text.push(';');
    line(out, 0, &text);
}

/// A constant; with its type attached unless that is what is `expected`.
fn literal(ty: Type, value: u64, expected: Option<Type>) -> String {
    match ty {
        Type::I1 => if value == 0 { "false" } else { "true" }.to_owned(),
        Type::Ptr if value == 0 => "null".to_owned(),
        Type::Ptr => format!("{value:#x}ptr"),
        _ if expected == Some(ty) => ty.signed(value).to_string(),
        _ => format!("{}{ty}", ty.signed(value)),
    }
}

/// What the elements of an object are, and how many it has, if it can be indexed.
fn elements(layout: Layout) -> Option<(Type, u32)> {
    match layout {
        Layout::Array(ty, length) => Some((ty, length)),
        Layout::Looper(_, length) => Some((Type::I32, length)),
        _ => None,
    }
}

struct Printer<'p> {
    program: &'p Program,
    function: &'p Function,
    /// Names that mean something else in this function than outside.
    shadowing: FxHashSet<&'p str>,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program, function: &'p Function) -> Self {
        let regs = function.regs.iter().map(|reg| reg.name.as_str());
        let locals = function.locals.iter().map(|local| local.name.as_str());
        Printer { program, function, shadowing: regs.chain(locals).collect() }
    }

    fn function(&self, out: &mut String) {
        let function = self.function;
        let (params, regs) = function.regs.split_at(function.params as usize);
        let params: Vec<String> = params.iter().map(|reg| format!("{}: {}", written(&reg.name), reg.ty)).collect();
        let ret = function.ret.map_or(String::new(), |ty| format!(" -> {ty}"));
        line(out, 0, &format!("fn {}({}){ret} {{", written(&function.name), params.join(", ")));
        for reg in regs {
            line(out, 1, &format!("let {}: {};", written(&reg.name), reg.ty));
        }
        for local in &function.locals {
            line(out, 1, &format!("var {}: {};", written(&local.name), layout(local.layout)));
        }
        let mut targets = FxHashSet::default();
        for block in &function.blocks {
            block.term.kind.for_each_target(|target| {
                targets.insert(target);
            });
        }
        for (index, block) in function.blocks.iter().enumerate() {
            let id = BlockId(index as u32);
            if index > 0 || targets.contains(&id) {
                line(out, 0, &format!("  {}:", label(id)));
            }
            if let Some(turn) = block.turn {
                line(out, 1, if turn.unbounded { "loop unbounded;" } else { "loop;" });
            }
            for inst in &block.insts {
                line(out, 1, &format!("{};", self.op(&inst.op)));
            }
            self.term(&block.term.kind, out);
        }
        line(out, 0, "}");
    }

    fn reg(&self, reg: Reg) -> String {
        written(&self.function.regs[reg.index()].name)
    }

    /// A name known everywhere, marked if it means something else here.
    fn outer(&self, name: &str) -> String {
        if self.shadowing.contains(name) { format!("@{}", written(name)) } else { written(name) }
    }

    fn term(&self, term: &Term, out: &mut String) {
        let text = match term {
            Term::Goto(target) => format!("goto {};", label(*target)),
            Term::If(cond, then, otherwise) => {
                let cond = self.expr(cond, Some(Type::I1), 0);
                format!("if {cond} goto {} else {};", label(*then), label(*otherwise))
            }
            Term::Switch(value, cases, default) => {
                let ty = self.function.expr_type(value);
                line(out, 1, &format!("switch {} {{", self.expr(value, None, 0)));
                for (case, target) in cases {
                    line(out, 2, &format!("{}: goto {};", case_value(ty, *case), label(*target)));
                }
                line(out, 2, &format!("default: goto {};", label(*default)));
                "}".to_owned()
            }
            Term::Return(None) => "return;".to_owned(),
            Term::Return(Some(value)) => format!("return {};", self.expr(value, self.function.ret, 0)),
            Term::ExitThread(None) => "thread_exit;".to_owned(),
            Term::ExitThread(Some(value)) => format!("thread_exit {};", self.expr(value, None, 0)),
            Term::Exit => "exit;".to_owned(),
            Term::Spin(head) => format!("spin {};", label(*head)),
            Term::Unreachable => "unreachable;".to_owned(),
        };
        line(out, 1, &text);
    }

    /// An instruction, without its `;`.
    fn op(&self, op: &Op) -> String {
        let to = |dst: &Option<Reg>| dst.map_or(String::new(), |reg| format!("{} = ", self.reg(reg)));
        let at = |word: &str, place: &Expr| format!("{word} {}", self.place(place).0);
        match op {
            Op::Assign { dst, value } => {
                format!("{} = {}", self.reg(*dst), self.expr(value, Some(self.function.reg_type(*dst)), 0))
            }
            Op::Load { dst, ty, addr, order, until, unwritten } => {
                let place = self.access(addr, *ty);
                let until = until.as_ref().map_or(String::new(), |cond| format!(" until {}", self.expr(cond, None, 0)));
                let unwritten = match unwritten {
                    Unwritten::Error => "",
                    Unwritten::Zero => " or zero",
                    Unwritten::Kept => " or nothing",
                    Unwritten::Field(Field { shift, width }) => &format!(" or zero outside {shift}, {width}"),
                };
                format!("{}load{} {place}{unwritten}{until}", to(dst), suffix(*order))
            }
            Op::Store { ty, addr, value, order } => {
                format!("store{} {}, {}", suffix(*order), self.access(addr, *ty), self.expr(value, Some(*ty), 0))
            }
            Op::Rmw { dst, op, ty, addr, operand, order, idle } => {
                let operand = self.expr(operand, Some(*ty), 0);
                let idle = idle.as_ref().map_or(String::new(), |idle| {
                    let word = if idle.wait { "until" } else { "unless" };
                    format!(" {word} {}", self.expr(&idle.until, None, 0))
                });
                format!("{}rmw.{}{} {}, {operand}{idle}", to(dst), op.name(), suffix(*order), self.access(addr, *ty))
            }
            Op::Cas { dst, ty, addr, expected, desired, success, failure, wait } => {
                let orders = if *failure == default_failure(*success) {
                    suffix(*success)
                } else {
                    format!(".{success}.{failure}")
                };
                let place = self.access(addr, *ty);
                let expected = self.expr(expected, Some(*ty), 0);
                let desired = self.expr(desired, Some(*ty), 0);
                let wait = if *wait { " wait" } else { "" };
                format!("{}cas{orders} {place}, {expected}, {desired}{wait}", to(dst))
            }
            Op::Fence { order } => format!("fence.{order}"),
            Op::Call { dst, callee, args } => format!("{}call {}", to(dst), self.call(callee, args)),
            Op::Spawn { dst, callee, args, mailbox: None } => format!("{}spawn {}", to(dst), self.call(callee, args)),
            Op::Spawn { callee, args, mailbox: Some(mailbox), .. } => {
                format!("post {} to {}", self.call(callee, args), self.place(mailbox).0)
            }
            Op::Join { dst, thread } => format!("{}join {}", to(dst), self.expr(thread, Some(Type::I64), 0)),
            Op::ThreadId { dst } => format!("{} = thread_id", self.reg(*dst)),
            Op::Lock { mutex, recursive } => at(if *recursive { "lock.rec" } else { "lock" }, mutex),
            Op::TryLock { dst, mutex, recursive } => {
                to(dst) + &at(if *recursive { "trylock.rec" } else { "trylock" }, mutex)
            }
            Op::Unlock { mutex } => at("unlock", mutex),
            Op::ReadLock { lock } => at("rdlock", lock),
            Op::WriteLock { lock } => at("wrlock", lock),
            Op::TryRwLock { dst, lock, write } => to(dst) + &at(if *write { "trywrlock" } else { "tryrdlock" }, lock),
            Op::RwUnlock { lock } => at("rwunlock", lock),
            Op::CondWait { cond, mutex, timed } => {
                let timed = if *timed { " timed" } else { "" };
                format!("{}, {}{timed}", at("wait", cond), self.place(mutex).0)
            }
            Op::CondSignal { cond } => at("signal", cond),
            Op::CondBroadcast { cond } => at("broadcast", cond),
            Op::BarrierInit { barrier, count } => {
                format!("{}, {}", at("barrier_init", barrier), self.expr(count, Some(Type::I32), 0))
            }
            Op::BarrierWait { dst, barrier } => to(dst) + &at("barrier_wait", barrier),
            Op::SemWait { sem } => at("sem_wait", sem),
            Op::SemTryWait { dst, sem } => to(dst) + &at("sem_trywait", sem),
            Op::SemPost { sem } => at("sem_post", sem),
            Op::SyncDestroy { object, ty: Type::I64 } => at("destroy_wide", object),
            Op::SyncDestroy { object, .. } => at("destroy", object),
            Op::Alloc { dst, size, zeroed, scoped } => {
                let zeroed = if *zeroed { "zeroed " } else { "" };
                let scoped = if *scoped { "scoped " } else { "" };
                format!("{} = alloc {zeroed}{scoped}{}", self.reg(*dst), self.expr(size, Some(Type::I64), 0))
            }
            Op::Free { ptr, scoped } => {
                let scoped = if *scoped { "scoped " } else { "" };
                format!("free {scoped}{}", self.expr(ptr, Some(Type::Ptr), 0))
            }
            Op::Assert { cond, message } => {
                format!("assert {}, {}", self.expr(cond, Some(Type::I1), 0), quoted(message))
            }
            Op::Assume { cond } => format!("assume {}", self.expr(cond, Some(Type::I1), 0)),
            Op::Choose { dst, low, high, draw } => {
                let random = if draw.is_some() { "random " } else { "" };
                let mut text = format!("{} = choose {random}{low}..={high}", self.reg(*dst));
                if let Some(Draw::Weighted(weights)) = draw {
                    let weights: Vec<String> = weights.iter().map(u32::to_string).collect();
                    text += &format!(" weights {}", weights.join(", "));
                }
                text
            }
            Op::Input { dst, signed, values } => {
                let ty = self.function.reg_type(*dst);
                let number = |value| if *signed { ty.signed(value).to_string() } else { value.to_string() };
                let mut text = format!("{} = choose", self.reg(*dst));
                if *signed {
                    text += " signed";
                }
                for (at, &(low, high)) in values.iter().flatten().enumerate() {
                    let _ = write!(text, "{} {}..={}", if at == 0 { " in" } else { "," }, number(low), number(high));
                }
                text
            }
            Op::AtomicBegin => "atomic_begin".to_owned(),
            Op::AtomicEnd => "atomic_end".to_owned(),
            Op::Error { kind, message } => {
                let kind = kind.name().map(|name| format!("{name} ")).unwrap_or_default();
                format!("error {kind}{}", quoted(message))
            }
            Op::Print { format, args } => {
                let mut text = format!("print {}", quoted(format));
                for arg in args {
                    let _ = write!(text, ", {}", self.expr(arg, None, 0));
                }
                text
            }
        }
    }

    fn call(&self, callee: &Callee, args: &[Expr]) -> String {
        let (name, types) = match callee {
            Callee::Direct(id) => {
                let function = &self.program.functions[id.index()];
                let types = function.regs[..function.params as usize].iter().map(|reg| Some(reg.ty)).collect();
                (written(&function.name), types)
            }
            Callee::Indirect(Expr::Reg(reg)) => (format!("*{}", self.reg(*reg)), Vec::new()),
            Callee::Indirect(pointer) => (format!("*({})", self.expr(pointer, Some(Type::Ptr), 0)), Vec::new()),
        };
        let types = types.into_iter().chain(std::iter::repeat(None));
        let args: Vec<String> = args.iter().zip(types).map(|(arg, ty)| self.expr(arg, ty, 0)).collect();
        format!("{name}({})", args.join(", "))
    }

    /// A place with the type of the access before it, unless its declaration says it.
    fn access(&self, address: &Expr, ty: Type) -> String {
        match self.place(address) {
            (place, Some(declared)) if declared == ty => place,
            (place, _) => format!("{ty} {place}"),
        }
    }

    /// The place with this address, and the type its declaration gives it.
    fn place(&self, address: &Expr) -> (String, Option<Type>) {
        if let Some((name, layout)) = self.object(address) {
            match layout {
                Layout::Scalar(ty) => return (name, Some(ty)),
                Layout::Array(ty, 1..) => return (format!("{name}[0]"), Some(ty)),
                Layout::Array(_, 0) => return (format!("*&{name}"), None),
                _ => return (name, None),
            }
        }
        if let Expr::Func(id) = address {
            return (format!("*&{}", self.outer(&self.program.functions[id.index()].name)), None);
        }
        if let Expr::Binary(BinOp::Add, base, offset) = address
            && let Some((name, layout)) = self.object(base)
            && let Some((ty, length)) = elements(layout)
            && let Some(index) = self.index(offset, ty, length)
        {
            return (format!("{name}[{index}]"), Some(ty));
        }
        (format!("*{}", self.expr(address, Some(Type::Ptr), ATOM)), None)
    }

    fn object(&self, address: &Expr) -> Option<(String, Layout)> {
        match address {
            Expr::Global(id) => {
                let object = &self.program.globals[id.index()];
                Some((self.outer(&object.name), object.layout))
            }
            Expr::Local(id) => {
                let local = &self.function.locals[id.index()];
                Some((written(&local.name), local.layout))
            }
            _ => None,
        }
    }

    /// The index that the parser would turn into this offset.
    fn index(&self, offset: &Expr, ty: Type, length: u32) -> Option<String> {
        let size = u64::from(ty.size());
        let wide = match offset {
            Expr::Const(Type::I64, bytes) => {
                let index = bytes / size;
                let fits = bytes % size == 0 && index > 0 && index < u64::from(length);
                return fits.then(|| index.to_string());
            }
            Expr::Binary(BinOp::Mul, wide, stride) if size > 1 && **stride == Expr::Const(Type::I64, size) => wide,
            _ if size == 1 => offset,
            _ => return None,
        };
        match wide {
            Expr::Cast(CastOp::SExt, Type::I64, narrow)
                if !matches!(self.function.expr_type(narrow), Type::I1 | Type::Ptr | Type::I64) =>
            {
                Some(self.expr(narrow, None, 0))
            }
            wide if self.function.expr_type(wide) == Type::I64 => Some(self.expr(wide, None, 0)),
            _ => None,
        }
    }

    /// An expression, in parentheses if it binds less tightly than `least`. It stands where a value of type `expected` is
    /// expected; without that, its text says its type by itself.
    fn expr(&self, expr: &Expr, expected: Option<Type>, least: u8) -> String {
        let (text, precedence) = match expr {
            Expr::Const(ty, value) => {
                let text = literal(*ty, *value, expected);
                let precedence = if text.starts_with('-') { PREFIX } else { ATOM };
                (text, precedence)
            }
            Expr::Reg(reg) => (self.reg(*reg), ATOM),
            Expr::Global(_) | Expr::Local(_) => {
                let (name, _) = self.object(expr).expect("a global or a local is an object");
                (format!("&{name}"), PREFIX)
            }
            Expr::Func(id) => (format!("&{}", self.outer(&self.program.functions[id.index()].name)), PREFIX),
            Expr::Unary(UnOp::Float(op), a) => (format!("{}({})", op.name(), self.expr(a, None, 0)), ATOM),
            Expr::Binary(BinOp::Float(op), a, b) => {
                let (a, b) = (self.expr(a, None, 0), self.expr(b, None, 0));
                (format!("{}({a}, {b})", op.name()), ATOM)
            }
            Expr::Binary(BinOp::Splice(op), a, b) => {
                let (a, b) = (self.expr(a, None, 0), self.expr(b, None, 0));
                (format!("splice({a}, {b}, {}, {}, {})", op.to.shift, op.to.width, op.from), ATOM)
            }
            Expr::Unary(op, a) => {
                let text = match op {
                    UnOp::Neg => "-",
                    UnOp::Not if self.function.expr_type(a) == Type::I1 => "!",
                    UnOp::Not => "~",
                    UnOp::Float(op) => op.name(),
                };
                // A number directly behind the minus would become a negative literal.
                let least = if matches!(**a, Expr::Const(..)) { ATOM + 1 } else { PREFIX };
                (format!("{text}{}", self.expr(a, None, least)), PREFIX)
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Cast(op, to, a) => (format!("{}({to}, {})", op.name(), self.expr(a, None, 0)), ATOM),
            Expr::Select(cond, a, b) => {
                let cond = self.expr(cond, None, SELECT + 1);
                let ty = self.function.expr_type(a);
                let first = if expected == Some(ty) { expected } else { None };
                let a = self.expr(a, first, SELECT);
                (format!("{cond} ? {a} : {}", self.expr(b, Some(ty), SELECT)), SELECT)
            }
        };
        if precedence < least { format!("({text})") } else { text }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr) -> (String, u8) {
        let (ta, tb) = (self.function.expr_type(a), self.function.expr_type(b));
        let logical = matches!(op, BinOp::And | BinOp::Or) && ta == Type::I1;
        let infix = INFIX
            .iter()
            .find(|infix| infix.op == op && infix.logical == logical && !infix.swapped)
            .expect("every operator has its sign");
        let constant = |expr: &Expr| matches!(expr, Expr::Const(..));
        // One side says its type, the other takes it from there.
        let (ea, eb) = if constant(a) && !constant(b) { (Some(ta), None) } else { (None, Some(tb)) };
        let chains = infix.precedence != super::ast::COMPARISON;
        let a = self.expr(a, ea, infix.precedence + u8::from(!chains));
        let b = self.expr(b, eb, infix.precedence + 1);
        (format!("{a} {} {b}", infix.text), infix.precedence)
    }
}

fn label(block: BlockId) -> String {
    format!("b{}", block.0)
}

/// The suffix for an ordering; none for the default.
fn suffix(order: Ordering) -> String {
    if order == Ordering::Relaxed { String::new() } else { format!(".{order}") }
}

fn case_value(ty: Type, value: u64) -> String {
    match ty {
        Type::Ptr => value.to_string(),
        _ => literal(ty, value, Some(ty)),
    }
}
