//! Conditions on what a read finds, ready to be tried on many values.
//!
//! Every look of a wait asks its condition, and so does every write that a load before an assumption could read from. So a condition is compiled
//! once into a list of steps over the value found, slots of the frame, constants and earlier steps. Unlike other code it changes no
//! slot: it is asked of threads that do not move. A single comparison, by far the most common condition, needs no list of results, and where several
//! are joined by "and" or "or" the first that decides is enough.

use crate::address::Addr;
use crate::code::{Code, GlobalCode, Slot};
use crate::thread::{Thread, binary};
use raddle_program::analysis::liveness::may_fail;
use raddle_program::{BinOp, CastOp, Expr, Function, Reg, Type, UnOp};
use smallvec::SmallVec;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The read has found it.
    Found,
    /// It stands in the frame.
    Slot(Slot),
    /// It is this.
    Constant(u64),
    /// It is the result of an earlier step.
    Step(u32),
}

/// A step of a condition.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are those of `raddle_program::Expr`")]
pub enum Step {
    Un { op: UnOp, ty: Type, a: Source },
    Bin { op: BinOp, ty: Type, a: Source, b: Source },
    Cast { op: CastOp, from: Type, to: Type, a: Source },
    Select { cond: Source, a: Source, b: Source },
    Local(u32),
    ThreadLocal(u32),
}

/// A compiled condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// In order.
    pub steps: Box<[Step]>,
    /// What it comes to.
    pub result: Source,
    /// The conditions that are joined to this one, if there are some.
    parts: Box<[Condition]>,
    /// Whether one of them that holds is enough; otherwise one that does not is.
    any: bool,
}

impl Condition {
    /// Compiles a condition of this function on the value that is read into `found`.
    pub(crate) fn new(function: &Function, globals: &[GlobalCode], found: Reg, expr: &Expr) -> Condition {
        let any = matches!(expr, Expr::Binary(BinOp::Or, ..));
        let op = if any { BinOp::Or } else { BinOp::And };
        let mut parts = Vec::new();
        // Where something may divide by zero, all of it is worked out.
        if function.expr_type(expr) == Type::I1 && !may_fail(expr) {
            joined(op, expr, &mut parts);
        }
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        let parts = parts.into_iter().map(|part| Condition::new(function, globals, found, part)).collect();
        let mut compiler = Compiler { function, globals, found, steps: Vec::new() };
        let result = compiler.source(expr);
        Condition { steps: compiler.steps.into(), result, parts, any }
    }

    /// The slots that it reads.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let sources = self.steps.iter().flat_map(|step| match *step {
            Step::Un { a, .. } | Step::Cast { a, .. } => [Some(a), None, None],
            Step::Bin { a, b, .. } => [Some(a), Some(b), None],
            Step::Select { cond, a, b } => [Some(cond), Some(a), Some(b)],
            Step::Local(_) | Step::ThreadLocal(_) => [None; 3],
        });
        sources.flatten().chain([self.result]).filter_map(|source| match source {
            Source::Slot(slot) => Some(slot),
            Source::Found | Source::Constant(_) | Source::Step(_) => None,
        })
    }

    /// What it comes to if `found` is found; `None` if it divides by zero.
    #[inline]
    pub(crate) fn eval(&self, code: &Code, thread: &Thread, found: u64) -> Option<u64> {
        if self.parts.is_empty() {
            return self.eval_whole(code, thread, found);
        }
        let decides = |part: &Condition| (part.eval(code, thread, found) != Some(0)) == self.any;
        Some(u64::from(self.parts.iter().any(decides) == self.any))
    }

    #[inline]
    fn eval_whole(&self, code: &Code, thread: &Thread, found: u64) -> Option<u64> {
        let plain = |source: Source| match source {
            Source::Found => found,
            Source::Slot(slot) => thread.slot(slot),
            Source::Constant(value) => value,
            Source::Step(_) => unreachable!("no step comes before the first one"),
        };
        match *self.steps {
            [] => Some(plain(self.result)),
            [Step::Bin { op, ty, a, b }] => binary(op, ty, plain(a), plain(b)),
            _ => self.eval_steps(code, thread, found),
        }
    }

    fn eval_steps(&self, code: &Code, thread: &Thread, found: u64) -> Option<u64> {
        let mut results: SmallVec<[u64; 8]> = SmallVec::new();
        let get = |results: &[u64], source: Source| match source {
            Source::Found => found,
            Source::Slot(slot) => thread.slot(slot),
            Source::Constant(value) => value,
            Source::Step(step) => results[step as usize],
        };
        for &step in &self.steps {
            let get = |source: Source| get(&results, source);
            let result = match step {
                Step::Un { op, ty, a } => op.apply(ty, get(a)),
                Step::Bin { op, ty, a, b } => binary(op, ty, get(a), get(b))?,
                Step::Cast { op, from, to, a } => {
                    code.cast(op, from, to, get(a)).expect("numbers are there if they are used")
                }
                Step::Select { cond, a, b } => get(if get(cond) != 0 { a } else { b }),
                Step::Local(local) => thread.local_address(local).0,
                Step::ThreadLocal(index) => thread.own_object(index).0,
            };
            results.push(result);
        }
        Some(get(&results, self.result))
    }
}

/// The parts of a condition that are joined by this operator.
fn joined<'e>(op: BinOp, expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(other, a, b) if *other == op => {
            joined(op, a, parts);
            joined(op, b, parts);
        }
        part => parts.push(part),
    }
}

struct Compiler<'p> {
    function: &'p Function,
    globals: &'p [GlobalCode],
    found: Reg,
    steps: Vec<Step>,
}

impl Compiler<'_> {
    fn source(&mut self, expr: &Expr) -> Source {
        let ty = |expr: &Expr| self.function.expr_type(expr);
        let step = match expr {
            Expr::Const(ty, value) => return Source::Constant(ty.truncate(*value)),
            Expr::Reg(reg) if *reg == self.found => return Source::Found,
            Expr::Reg(reg) => return Source::Slot(reg.0),
            Expr::Func(id) => return Source::Constant(Addr::function(*id).0),
            Expr::Global(id) => match self.globals[id.index()].tls {
                None => return Source::Constant(Addr::global(*id).0),
                Some(index) => Step::ThreadLocal(index),
            },
            Expr::Local(id) => Step::Local(id.0),
            Expr::Unary(op, a) => Step::Un { op: *op, ty: ty(a), a: self.source(a) },
            Expr::Binary(op, a, b) => Step::Bin { op: *op, ty: ty(a), a: self.source(a), b: self.source(b) },
            Expr::Cast(op, to, a) => Step::Cast { op: *op, from: ty(a), to: *to, a: self.source(a) },
            Expr::Select(cond, a, b) => Step::Select { cond: self.source(cond), a: self.source(a), b: self.source(b) },
        };
        self.steps.push(step);
        Source::Step(self.steps.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::automaton::{Automaton, Reaction, Status};
    use crate::compile::{AllShared, Options, compile};
    use crate::thread::Thread;
    use raddle_trace::Property;

    /// What a load with this condition on `r` does with each value: it reads it, waits, or fails.
    fn taken(cond: &str, values: impl IntoIterator<Item = i32>) -> String {
        let text = format!("global x: i32; fn main() {{ let k = 3; let r = load x until {cond}; }}");
        let program = raddle_program::parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        let code = compile(&program, &AllShared, &Options::default());
        let look = |value: i32| {
            let mut thread = Thread::main(&code, false);
            if thread.reaction(&code, value as u64) == Reaction::Block {
                return 'w';
            }
            thread.answer(&code, value as u64, 0);
            match thread.status() {
                Status::Failed(failure) if failure.property == Some(Property::Arithmetic) => 'f',
                Status::Finished { .. } => 'r',
                other => panic!("{other:?}"),
            }
        };
        values.into_iter().map(look).collect()
    }

    #[test]
    fn conditions_are_asked_of_what_is_found() {
        assert_eq!(taken("r == 2", 0..5), "wwrww");
        assert_eq!(taken("r == k", 0..5), "wwwrw");
        assert_eq!(taken("r == k || r == 1", 0..5), "wrwrw");
        assert_eq!(taken("r != k && (r == 1 || r > 2)", 0..5), "wrwwr");
        assert_eq!(taken("-r < -2", -1..5), "wwwwrr");
        assert_eq!(taken("(r > 2 ? k : r) == k", 0..5), "wwwrr");
    }

    /// As in every other expression, whether it is chosen or not.
    #[test]
    fn a_division_by_zero_is_an_error() {
        assert_eq!(taken("4 / r == 2", 0..4), "fwrw");
        assert_eq!(taken("(r == 0 ? 2 : 4 / r) == 2", 0..4), "fwrw");
    }
}
