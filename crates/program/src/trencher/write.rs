//! From a program to automata, as far as that goes: threads that main starts, 32-bit numbers, no calls.
//!
//! Every instruction is a transition, or a few. Global objects lie one behind the other from address 0 on. Updates are reads and writes between `lock` and `unlock`, waits are turns; a failed assertion is a state, and a goal of its own.

use crate::expr::{BinOp, Expr, UnOp};
use crate::inst::{Callee, Op, RmwOp, Term};
use crate::program::{Function, GlobalId, Layout, Program};
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use raddle_trace::Ordering;
use std::fmt::Write;

/// The program as automata.
///
/// # Errors
/// What they have no words for.
pub fn write(program: &Program) -> Result<String, Diagnostic> {
    let mut bases = Vec::new();
    let mut next = 0u64;
    for global in &program.globals {
        bases.push(next);
        next += match global.layout {
            Layout::Array(_, count) => u64::from(count),
            _ => 1,
        };
    }
    let mut writer =
        Writer { program, bases, text: String::new(), goals: String::new(), thread: String::new(), fresh: 0 };
    writer.threads()?;
    Ok(format!("{}{}", writer.text, writer.goals))
}

struct Writer<'p> {
    program: &'p Program,
    /// Where global objects begin.
    bases: Vec<u64>,
    text: String,
    goals: String,
    /// The thread that is being written.
    thread: String,
    fresh: usize,
}

fn refuse<T>(span: Span, what: &str) -> Result<T, Diagnostic> {
    Err(Diagnostic::new(span, format!("automata have no words for {what}")))
}

impl Writer<'_> {
    fn threads(&mut self) -> Result<(), Diagnostic> {
        let program = self.program;
        let Some(entry) = program.entry else { return refuse(Span::default(), "a program without a first thread") };
        let main = &program.functions[entry.index()];
        let (mut block, mut number, mut seen) = (0, 0, 0);
        loop {
            for inst in &main.blocks[block].insts {
                match &inst.op {
                    Op::Spawn { callee: Callee::Direct(function), args, mailbox: None, .. } => {
                        self.thread(&program.functions[function.index()], number, args.as_slice(), inst.span)?;
                        number += 1;
                    }
                    Op::Join { .. } => {}
                    _ => return refuse(inst.span, "a first thread that does more than start others"),
                }
            }
            seen += 1;
            let term = &main.blocks[block].term;
            match term.kind {
                Term::Goto(target) if seen <= main.blocks.len() => block = target.index(),
                Term::Return(_) | Term::Exit => return Ok(()),
                _ => return refuse(term.span, "a first thread that does more than start others"),
            }
        }
    }

    fn thread(&mut self, function: &Function, number: usize, args: &[Expr], span: Span) -> Result<(), Diagnostic> {
        self.thread = format!("{}.{number}", function.name.replace([':', '#'], "."));
        self.fresh = 0;
        writeln!(self.text, "thread {}\ninitial start", self.thread).expect("a string takes everything");
        let mut at = "start".to_owned();
        for (register, arg) in function.regs.iter().zip(args) {
            let value = self.value(function, arg, span)?;
            at = self.go(&at, &format!("local r.{} {value}", register.name));
        }
        self.to(&at, "b0", "noop");
        for (block, content) in function.blocks.iter().enumerate() {
            let mut at = format!("b{block}");
            for inst in &content.insts {
                at = self.op(function, at, &inst.op, inst.span)?;
            }
            let span = content.term.span;
            match &content.term.kind {
                Term::Goto(target) => self.to(&at, &format!("b{}", target.index()), "noop"),
                Term::If(cond, then, otherwise) => {
                    let cond = self.value(function, cond, span)?;
                    self.to(&at, &format!("b{}", then.index()), &format!("check {cond}"));
                    self.to(&at, &format!("b{}", otherwise.index()), &format!("check ! {cond}"));
                }
                Term::Return(_) | Term::ExitThread(_) => {}
                _ => return refuse(span, "this way to go on"),
            }
        }
        self.text.push_str("end\n");
        Ok(())
    }

    /// A transition to a new state.
    fn go(&mut self, from: &str, instr: &str) -> String {
        self.fresh += 1;
        let to = format!("s{}", self.fresh);
        self.to(from, &to, instr);
        to
    }

    fn to(&mut self, from: &str, to: &str, instr: &str) {
        writeln!(self.text, "transition {from} {to} {instr}").expect("a string takes everything");
    }

    /// Writes an operation, and says in which state it ends.
    fn op(&mut self, function: &Function, at: String, op: &Op, span: Span) -> Result<String, Diagnostic> {
        let register = |reg: crate::program::Reg| format!("r.{}", function.regs[reg.index()].name);
        let target = |reg: &Option<crate::program::Reg>| reg.map_or("ignored".to_owned(), register);
        Ok(match op {
            Op::Assign { dst, value } => {
                let value = self.value(function, value, span)?;
                self.go(&at, &format!("local {} {value}", register(*dst)))
            }
            Op::Load { dst, ty: Type::I32, addr, until, .. } => {
                let (dst, address) = (target(dst), self.address(function, addr, span)?);
                let seen = self.go(&at, &format!("read {dst} {address}"));
                match until {
                    None => seen,
                    Some(until) => {
                        let until = self.value(function, until, span)?;
                        self.to(&seen, &at, &format!("check ! {until}"));
                        self.go(&seen, &format!("check {until}"))
                    }
                }
            }
            Op::Store { ty: Type::I32, addr, value, order } => {
                let (address, value) = (self.address(function, addr, span)?, self.value(function, value, span)?);
                let stored = self.go(&at, &format!("write {value} {address}"));
                if *order == Ordering::SeqCst { self.go(&stored, "mfence") } else { stored }
            }
            Op::Rmw { dst, op, ty: Type::I32, addr, operand, idle: None, .. } => {
                let (address, operand) = (self.address(function, addr, span)?, self.value(function, operand, span)?);
                let new = match op {
                    RmwOp::Add => format!("+ found {operand}"),
                    RmwOp::Sub => format!("- found {operand}"),
                    RmwOp::And => format!("& found {operand}"),
                    RmwOp::Xchg => operand,
                    _ => return refuse(span, "this update"),
                };
                let locked = self.go(&at, "lock");
                let read = self.go(&locked, &format!("read found {address}"));
                let written = self.go(&read, &format!("write {new} {address}"));
                let done = self.go(&written, &format!("local {} found", target(dst)));
                self.go(&done, "unlock")
            }
            Op::Cas { dst, ty: Type::I32, addr, expected, desired, wait: false, .. } => {
                let address = self.address(function, addr, span)?;
                let (old, new) = (self.value(function, expected, span)?, self.value(function, desired, span)?);
                let locked = self.go(&at, "lock");
                let read = self.go(&locked, &format!("read found {address}"));
                let same = self.go(&read, &format!("check == found {old}"));
                let done = self.go(&same, &format!("write {new} {address}"));
                self.to(&read, &done, &format!("check != found {old}"));
                let told = self.go(&done, &format!("local {} found", target(dst)));
                self.go(&told, "unlock")
            }
            Op::Fence { order: Ordering::SeqCst } => self.go(&at, "mfence"),
            Op::Fence { .. } | Op::Print { .. } => self.go(&at, "noop"),
            Op::Choose { dst, low, high, .. } if *low <= *high && high - low < 256 => {
                let chosen = self.go(&at, &format!("local {} {low}", register(*dst)));
                for value in low + 1..=*high {
                    self.to(&at, &chosen, &format!("local {} {value}", register(*dst)));
                }
                chosen
            }
            Op::Assert { cond, .. } => {
                let cond = self.value(function, cond, span)?;
                let failed = self.go(&at, &format!("check ! {cond}"));
                writeln!(self.goals, "goal {}:{failed}", self.thread).expect("a string takes everything");
                self.go(&at, &format!("check {cond}"))
            }
            Op::Assume { cond } => {
                let cond = self.value(function, cond, span)?;
                self.go(&at, &format!("check {cond}"))
            }
            Op::AtomicBegin => self.go(&at, "lock"),
            Op::AtomicEnd => self.go(&at, "unlock"),
            Op::Call { .. } => return refuse(span, "calls"),
            _ => return refuse(span, "this"),
        })
    }

    /// The address of a 32-bit number, counted in such.
    fn address(&self, function: &Function, addr: &Expr, span: Span) -> Result<String, Diagnostic> {
        match addr {
            Expr::Global(global) => self.base(*global, span),
            Expr::Binary(BinOp::Add, base, offset) => {
                Ok(format!("+ {} {}", self.address(function, base, span)?, self.offset(function, offset, span)?))
            }
            _ => refuse(span, "this address"),
        }
    }

    fn base(&self, global: GlobalId, span: Span) -> Result<String, Diagnostic> {
        let object = &self.program.globals[global.index()];
        let plain = matches!(object.layout, Layout::Scalar(Type::I32) | Layout::Array(Type::I32, _));
        if !plain || !object.init.is_empty() || object.thread_local {
            return refuse(span, "objects that are not 32-bit numbers, begin with others than 0 or are of one thread");
        }
        Ok(self.bases[global.index()].to_string())
    }

    /// An offset in bytes, counted in 32-bit numbers.
    fn offset(&self, function: &Function, offset: &Expr, span: Span) -> Result<String, Diagnostic> {
        match offset {
            Expr::Const(_, bytes) if bytes % 4 == 0 => Ok((bytes / 4).to_string()),
            Expr::Binary(BinOp::Mul, index, size) => match (&**index, &**size) {
                (Expr::Cast(_, _, index), Expr::Const(_, 4)) | (Expr::Const(_, 4), Expr::Cast(_, _, index)) => {
                    self.value(function, index, span)
                }
                _ => refuse(span, "this address"),
            },
            _ => refuse(span, "this address"),
        }
    }

    /// A 32-bit number or a condition.
    fn value(&self, function: &Function, expr: &Expr, span: Span) -> Result<String, Diagnostic> {
        let ty = function.expr_type(expr);
        if !matches!(ty, Type::I32 | Type::I1) {
            return refuse(span, "numbers that do not have 32 bits");
        }
        let value = |expr: &Expr| self.value(function, expr, span);
        Ok(match expr {
            Expr::Const(Type::I32, number) => (*number as u32 as i32).to_string(),
            Expr::Const(_, number) => number.to_string(),
            Expr::Reg(reg) => format!("r.{}", function.regs[reg.index()].name),
            Expr::Unary(UnOp::Not, inner) if ty == Type::I1 => format!("! {}", value(inner)?),
            Expr::Unary(UnOp::Neg, inner) => format!("- 0 {}", value(inner)?),
            Expr::Cast(_, _, inner) if function.expr_type(inner) == Type::I1 => value(inner)?,
            Expr::Binary(op, one, other) => {
                let word = match op {
                    BinOp::Add => "+",
                    BinOp::Sub => "-",
                    BinOp::Mul => "*",
                    BinOp::SRem => "%",
                    BinOp::And if ty == Type::I1 => "&&",
                    BinOp::And => "&",
                    BinOp::Or if ty == Type::I1 => "||",
                    BinOp::Eq => "==",
                    BinOp::Ne => "!=",
                    BinOp::SLt => "<",
                    BinOp::SLe => "<=",
                    _ => return refuse(span, "this operator"),
                };
                format!("{word} {} {}", value(one)?, value(other)?)
            }
            _ => return refuse(span, "this expression"),
        })
    }
}
