//! Whether a program is one that engines can run: every index points at something, every operand has the right type,
//! every ordering is legal for its instruction.
//!
//! What passes here, machines and analyses rely on without looking again. The checks are local to an instruction except
//! two: names are unique (so that the printed program means the same), and atomic blocks are balanced on every path, which is
//! a forward pass over the control-flow graph with one bit per block.
//!
//! Cost: linear in the size of the program.

mod expr;
mod op;

use crate::expr::Expr;
use crate::inst::{Op, Term};
use crate::program::{BlockId, Function, InitValue, Layout, MAX_OBJECT_SIZE, MAX_TOTAL_SIZE, Object, Program, Reg};
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use rustc_hash::FxHashSet;

/// How many errors are reported.
const MAX_ERRORS: usize = 20;

/// Checks everything that engines rely on.
///
/// # Errors
/// What is wrong, with the place it came from; at most 20 of them.
pub fn validate(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Errors { list: Vec::new() };
    program_wide(program, &mut errors);
    for object in &program.globals {
        check_object(program, object, &mut errors);
    }
    for function in &program.functions {
        if errors.list.len() >= MAX_ERRORS {
            break;
        }
        FunctionCheck { program, function, errors: &mut errors }.run();
    }
    errors.list.truncate(MAX_ERRORS);
    if errors.list.is_empty() { Ok(()) } else { Err(errors.list) }
}

#[derive(Debug)]
struct Errors {
    list: Vec<Diagnostic>,
}

impl Errors {
    fn add(&mut self, span: Span, message: impl Into<String>) {
        self.list.push(Diagnostic::new(span, message));
    }

    fn add_with_help(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.list.push(Diagnostic::new(span, message).help(help));
    }
}

fn program_wide(program: &Program, errors: &mut Errors) {
    match program.entry {
        None => errors.add(Span::default(), "the program has no function to start with"),
        Some(entry) => match program.functions.get(entry.index()) {
            None => errors.add(Span::default(), "the function to start with does not exist"),
            Some(function) if function.params > 0 => {
                let message = format!("`{}`, where the program starts, cannot have parameters", function.name);
                errors.add(function.span, message);
            }
            Some(_) => {}
        },
    }
    let mut names = FxHashSet::default();
    let globals = program.globals.iter().map(|object| (&object.name, object.span));
    for (name, span) in globals.chain(program.functions.iter().map(|function| (&function.name, function.span))) {
        if !names.insert(name) {
            errors.add_with_help(span, format!("the name `{name}` is given twice"), "rename one of them");
        }
    }
    let total: u64 = program.globals.iter().map(|object| u64::from(object.layout.size())).sum();
    if total > MAX_TOTAL_SIZE {
        let message = format!("the global objects take {total} bytes together, and {MAX_TOTAL_SIZE} is the limit");
        errors.add(program.globals.last().map_or(Span::default(), |object| object.span), message);
    }
}

fn check_layout(layout: Layout, name: &str, span: Span, errors: &mut Errors) {
    let size = match layout {
        Layout::Array(ty, length) => u64::from(ty.size()) * u64::from(length),
        other => u64::from(other.size()),
    };
    if size > u64::from(MAX_OBJECT_SIZE) {
        errors.add(span, format!("`{name}` takes {size} bytes, and {MAX_OBJECT_SIZE} is the limit"));
    }
    match layout {
        Layout::Bytes { align, .. } if !align.is_power_of_two() || align > 1 << 16 => {
            let message = format!("the alignment of `{name}` is {align}");
            errors.add_with_help(span, message, "an alignment is a power of two, at most 65536");
        }
        Layout::Looper(_, 0) => {
            errors.add_with_help(span, format!("`{name}` is an array of no loopers"), "there is at least one");
        }
        Layout::Barrier(0) => {
            errors.add_with_help(span, format!("the barrier `{name}` is for nobody"), "its count is at least 1");
        }
        Layout::Barrier(count) | Layout::Semaphore(count) if i32::try_from(count).is_err() => {
            errors.add(span, format!("the count of `{name}` does not fit in 31 bits"));
        }
        _ => {}
    }
}

fn check_object(program: &Program, object: &Object, errors: &mut Errors) {
    check_layout(object.layout, &object.name, object.span, errors);
    let name = &object.name;
    if matches!(object.layout, Layout::Looper(..))
        && (object.thread_local || !object.constant || !object.init.is_empty())
    {
        errors
            .add(object.span, format!("the looper `{name}` is constant, one for all threads, and has no other value"));
    }
    for field in &object.init {
        let end = u64::from(field.offset) + u64::from(field.ty.size());
        if end > u64::from(object.layout.size()) {
            let message = format!(
                "an initial value of `{name}` ends at byte {end}, but the object has {} bytes",
                object.layout.size()
            );
            errors.add(object.span, message);
        }
        match field.value {
            InitValue::Int(value) if value > field.ty.mask() => {
                errors.add(object.span, format!("an initial value of `{name}` does not fit in `{}`", field.ty));
            }
            InitValue::Global(..) | InitValue::Func(_) if !matches!(field.ty, Type::Ptr | Type::I32) => {
                let message = format!("an initial value of `{name}` is an address, but not of type `ptr` or `i32`");
                errors.add(object.span, message);
            }
            InitValue::Global(id, _) if id.index() >= program.globals.len() => {
                errors.add(object.span, format!("an initial value of `{name}` names an object that does not exist"));
            }
            InitValue::Func(id) if id.index() >= program.functions.len() => {
                errors.add(object.span, format!("an initial value of `{name}` names a function that does not exist"));
            }
            _ => {}
        }
    }
}

struct FunctionCheck<'p, 'e> {
    program: &'p Program,
    function: &'p Function,
    errors: &'e mut Errors,
}

impl FunctionCheck<'_, '_> {
    fn run(&mut self) {
        let function = self.function;
        if function.params as usize > function.regs.len() {
            self.errors.add(function.span, format!("`{}` has fewer registers than parameters", function.name));
            return;
        }
        if function.blocks.is_empty() {
            self.errors.add(function.span, format!("`{}` has no blocks", function.name));
            return;
        }
        let mut names = FxHashSet::default();
        let regs = function.regs.iter().map(|reg| (&reg.name, function.span));
        for (name, span) in regs.chain(function.locals.iter().map(|local| (&local.name, local.span))) {
            if !names.insert(name) {
                self.errors.add(span, format!("the name `{name}` is given twice in `{}`", function.name));
            }
        }
        for local in &function.locals {
            check_layout(local.layout, &local.name, local.span, self.errors);
            if let Layout::Looper(..) = local.layout {
                self.errors.add(local.span, format!("the looper `{}` is declared inside of a function", local.name));
            }
        }
        let total: u64 = function.locals.iter().map(|local| u64::from(local.layout.size())).sum();
        if total > MAX_TOTAL_SIZE {
            let message = format!("the objects of `{}` take {total} bytes together", function.name);
            self.errors.add_with_help(function.span, message, format!("{MAX_TOTAL_SIZE} is the limit"));
        }
        let before = self.errors.list.len();
        for block in &function.blocks {
            for inst in &block.insts {
                if let Err((message, help)) = self.op(&inst.op) {
                    self.errors.list.push(Diagnostic { help, ..Diagnostic::new(inst.span, message) });
                }
            }
            self.term(&block.term.kind, block.term.span);
            if self.errors.list.len() >= MAX_ERRORS {
                return;
            }
        }
        if self.errors.list.len() == before {
            self.atomic_blocks();
        }
    }

    fn term(&mut self, term: &Term, span: Span) {
        let blocks = self.function.blocks.len();
        let mut outside = false;
        term.for_each_target(|target| outside |= target.index() >= blocks);
        if outside {
            self.errors.add(span, "this leads to a block that does not exist");
        }
        let result = match term {
            Term::If(cond, ..) => self.expect(cond, Type::I1),
            Term::Switch(value, cases, _) => self.ty(value).and_then(|ty| {
                let mut seen = FxHashSet::default();
                for &(case, _) in cases {
                    if case > ty.mask() {
                        return Err(format!("the case {case} does not fit in `{ty}`"));
                    }
                    if !seen.insert(case) {
                        return Err(format!("two cases have the value {}", ty.signed(case)));
                    }
                }
                Ok(())
            }),
            Term::Return(value) => match (value, self.function.ret) {
                (Some(value), Some(ty)) => self.expect(value, ty),
                (None, None) => Ok(()),
                (None, Some(ty)) => Err(format!("`{}` must return a value of type `{ty}`", self.function.name)),
                (Some(_), None) => Err(format!("`{}` returns nothing", self.function.name)),
            },
            Term::ExitThread(Some(value)) => self.ty(value).map(drop),
            Term::Goto(_) | Term::ExitThread(None) | Term::Exit | Term::Spin(_) | Term::Unreachable => Ok(()),
        };
        if let Err(message) = result {
            self.errors.add(span, message);
        }
    }

    /// Atomic blocks begin and end alike on every path, do not nest, and do not outlive the activation.
    fn atomic_blocks(&mut self) {
        let mut inside: Vec<Option<bool>> = vec![None; self.function.blocks.len()];
        let mut todo = vec![(BlockId(0), false)];
        while let Some((id, entered)) = todo.pop() {
            let block = &self.function.blocks[id.index()];
            match inside[id.index()] {
                Some(known) if known == entered => continue,
                Some(_) => {
                    let span = block.insts.first().map_or(block.term.span, |inst| inst.span);
                    self.errors.add_with_help(
                        span,
                        "this is reached both inside and outside of an atomic block",
                        "end the atomic block on every path that comes here, or on none",
                    );
                    return;
                }
                None => inside[id.index()] = Some(entered),
            }
            let mut now = entered;
            for inst in &block.insts {
                let begins = match inst.op {
                    Op::AtomicBegin => true,
                    Op::AtomicEnd => false,
                    _ => continue,
                };
                if begins == now {
                    let message = if begins {
                        "an atomic block begins inside of another"
                    } else {
                        "this ends an atomic block, but none is open"
                    };
                    self.errors.add(inst.span, message);
                    return;
                }
                now = begins;
            }
            if now && matches!(block.term.kind, Term::Return(_) | Term::ExitThread(_)) {
                let help = "end it before the function is left";
                self.errors.add_with_help(block.term.span, "an atomic block is open here", help);
                return;
            }
            block.term.kind.for_each_target(|target| todo.push((target, now)));
        }
    }

    fn reg(&self, reg: Reg) -> Result<Type, String> {
        match self.function.regs.get(reg.index()) {
            Some(decl) => Ok(decl.ty),
            None => Err(format!("register {} does not exist", reg.0)),
        }
    }

    fn expect(&self, expr: &Expr, ty: Type) -> Result<(), String> {
        match self.ty(expr)? {
            found if found == ty => Ok(()),
            found => Err(format!("expected a value of type `{ty}`, found `{found}`")),
        }
    }
}
