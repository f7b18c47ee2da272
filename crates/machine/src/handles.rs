//! Whether a thread may wait for one that nobody has given to it.
//!
//! A wait for a thread that has not been started is an error. Whoever has the handle from where it was started, handed on from one to the next, comes after the start in every order, and
//! so does the first thread wherever it is the only one that starts others. A number that was made up, or comes from where anything may be written, may name a thread that starts
//! later, and then it depends on the order of threads whether there is an error. Starting a thread commutes with everything else but such a wait, so whoever explores starts first
//! has to ask.
//!
//! The greatest set of registers and named objects is looked for that only ever hold handles that were given, whatever the order of instructions: what spawn returns, the handle of the thread itself, zero (which is no
//! thread), copies of such, and parameters for which nothing else is passed. Whoever reads a handle from memory comes after the one who wrote it, who had it. An object counts if all its accesses are loads and stores
//! of whole handles by its name; what comes through other pointers or from a call does not.
//!
//! Cost: passes over the program until nothing changes, rarely more than three; at most one per register and object.

use crate::nesting;
use raddle_program::{
    BinOp, Callee, Expr, FuncId, Function, GlobalId, InitValue, LocalId, Op, Program, Reg, Term, Type,
};
use raddle_trace::Numbering;

/// Whether some wait for a thread may be for one that has not been started in another order.
pub(crate) fn guesses_handles(program: &Program, numbering: Numbering) -> bool {
    let of_others = nesting::run_by_others(program);
    let known = Known::new(program);
    let functions = program.functions.iter().zip(0..).flat_map(|(function, id)| {
        function.blocks.iter().flat_map(|block| &block.insts).map(move |inst| (FuncId(id), &inst.op))
    });
    functions.into_iter().any(|(id, op)| match op {
        Op::Join { thread, .. } => {
            let by_main = numbering == Numbering::Flat && !of_others[id.index()];
            !by_main && !known.is_given(id, thread)
        }
        _ => false,
    })
}

/// Whether nobody but the first thread waits for another one to end.
pub(crate) fn joins_by_main(program: &Program) -> bool {
    let of_others = nesting::run_by_others(program);
    let joins = |function: &Function| {
        function.blocks.iter().flat_map(|block| &block.insts).any(|inst| matches!(inst.op, Op::Join { .. }))
    };
    program.functions.iter().zip(of_others).all(|(function, of_others)| !of_others || !joins(function))
}

/// Where a handle may be kept.
#[derive(Clone, Copy, Debug)]
enum Holder {
    Register(FuncId, Reg),
    Local(FuncId, LocalId),
    Global(GlobalId),
}

/// Which of them only ever hold handles that were given.
struct Known {
    registers: Vec<Vec<bool>>,
    locals: Vec<Vec<bool>>,
    globals: Vec<bool>,
}

impl Known {
    fn new(program: &Program) -> Self {
        let mut known = Known {
            registers: program.functions.iter().map(|function| vec![true; function.regs.len()]).collect(),
            locals: program.functions.iter().map(|function| vec![true; function.locals.len()]).collect(),
            globals: vec![true; program.globals.len()],
        };
        let unseen = nesting::taken_addresses(program).into_iter().chain(program.entry);
        unseen.for_each(|id| {
            known.registers[id.index()][..program.functions[id.index()].params as usize].fill(false);
        });
        for (object, is_given) in program.globals.iter().zip(0..) {
            for field in &object.init {
                match field.value {
                    InitValue::Int(0) => {}
                    InitValue::Global(id, _) => known.globals[id.index()] = false,
                    InitValue::Int(_) | InitValue::Func(_) => known.globals[is_given] = false,
                }
            }
        }
        while known.shrink(program) {}
        known
    }

    fn holds(&mut self, holder: Holder) -> &mut bool {
        match holder {
            Holder::Register(function, reg) => &mut self.registers[function.index()][reg.index()],
            Holder::Local(function, local) => &mut self.locals[function.index()][local.index()],
            Holder::Global(id) => &mut self.globals[id.index()],
        }
    }

    fn is_given(&self, function: FuncId, handle: &Expr) -> bool {
        match handle {
            Expr::Reg(reg) => self.registers[function.index()][reg.index()],
            Expr::Const(_, value) => *value == 0,
            Expr::Select(_, then, otherwise) => self.is_given(function, then) && self.is_given(function, otherwise),
            _ => false,
        }
    }

    /// Takes out what holds something else; whether there was such a holder.
    fn shrink(&mut self, program: &Program) -> bool {
        let mut other: Vec<Holder> = Vec::new();
        for (function, id) in program.functions.iter().zip((0..).map(FuncId)) {
            for inst in function.blocks.iter().flat_map(|block| &block.insts) {
                self.others(id, &inst.op, &mut other);
            }
            for block in &function.blocks {
                if let Term::Return(Some(value)) | Term::ExitThread(Some(value)) = &block.term.kind {
                    named(id, value, &mut other);
                }
            }
        }
        let mut changed = false;
        for holder in other {
            changed |= std::mem::replace(self.holds(holder), false);
        }
        changed
    }

    /// What holds something else, or may be reached by other pointers, because of an instruction.
    fn others(&self, id: FuncId, op: &Op, other: &mut Vec<Holder>) {
        let place = match op {
            Op::Load { ty: Type::I64, addr, .. } | Op::Store { ty: Type::I64, addr, .. } => object(id, addr),
            _ => None,
        };
        let given = match (op, place) {
            (Op::Load { .. }, Some((Holder::Local(_, local), _))) => self.locals[id.index()][local.index()],
            (Op::Load { .. }, Some((Holder::Global(global), _))) => self.globals[global.index()],
            (Op::Assign { value, .. }, _) => self.is_given(id, value),
            _ => matches!(op, Op::Spawn { .. } | Op::ThreadId { .. }),
        };
        match (op, place) {
            (Op::Load { .. }, Some((_, offset))) => offset.into_iter().for_each(|expr| named(id, expr, other)),
            (Op::Store { value, .. }, Some((holder, offset))) => {
                other.extend(Some(holder).filter(|_| !self.is_given(id, value)));
                offset.into_iter().chain([value]).for_each(|expr| named(id, expr, other));
            }
            // The end of an object is no access.
            (Op::Free { .. }, _) => {}
            _ => op.for_each_operand(&mut |expr: &Expr| named(id, expr, other)),
        }
        if let Op::Call { callee: Callee::Direct(called), args, .. }
        | Op::Spawn { callee: Callee::Direct(called), args, .. } = op
        {
            let passed = args.iter().zip((0..).map(Reg));
            other.extend(
                passed.filter(|(arg, _)| !self.is_given(id, arg)).map(|(_, reg)| Holder::Register(*called, reg)),
            );
        }
        other.extend(op.dst().filter(|_| !given).map(|reg| Holder::Register(id, reg)));
    }
}

/// The named object that an address is in, and what is added to its start.
fn object(function: FuncId, addr: &Expr) -> Option<(Holder, Option<&Expr>)> {
    match addr {
        Expr::Local(local) => Some((Holder::Local(function, *local), None)),
        Expr::Global(id) => Some((Holder::Global(*id), None)),
        Expr::Binary(BinOp::Add, base, offset) => match **base {
            Expr::Local(local) => Some((Holder::Local(function, local), Some(offset))),
            Expr::Global(id) => Some((Holder::Global(id), Some(offset))),
            _ => None,
        },
        _ => None,
    }
}

/// The objects whose addresses are in an expression.
fn named(function: FuncId, expr: &Expr, found: &mut Vec<Holder>) {
    expr.walk(&mut |part| match part {
        Expr::Local(local) => found.push(Holder::Local(function, *local)),
        Expr::Global(id) => found.push(Holder::Global(*id)),
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guesses(text: &str) -> bool {
        let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        guesses_handles(&program, nesting::numbering(&program))
    }

    #[test]
    fn main_knows_whom_it_has_started() {
        assert!(!guesses("global t: i64; fn f() { } fn main() { spawn f(); join 1; let a = load t; join a; }"));
        assert!(guesses("fn f() { join 3; } fn main() { spawn f(); spawn f(); }"));
        // Whom others have started main does not know.
        assert!(guesses("fn g() { } fn f() { spawn g(); } fn main() { spawn f(); join 4; }"));
    }

    #[test]
    fn handles_are_given_in_registers() {
        let given = |body: &str| {
            guesses(&format!(
                "global x: i64; fn g() {{ }} fn f(t: i64) {{ join t; }} fn h() {{ let a = spawn g(); join a; }}
                fn main() {{ spawn h(); let t = spawn g(); {body} }}"
            ))
        };
        assert!(!given("spawn f(t);"));
        assert!(!given("let u = t; spawn f(u); spawn f(0);"));
        assert!(given("spawn f(t); spawn f(9);"));
        assert!(given("spawn f(t + 1);"));
        assert!(given("call f(t + 0);"));
        assert!(given("let p = &f; spawn f(t); spawn *p(7);"));
    }

    #[test]
    fn handles_are_given_in_memory() {
        let given = |start: &str, body: &str| {
            !guesses(&format!(
                "global x: i64{start}; global a: i64[2]; global p: ptr; fn g() {{ }} fn f() {{ let t = load x; join t; let u = load a[1]; join u; }}
                fn main() {{ let t = spawn g(); {body} spawn f(); }}"
            ))
        };
        assert!(given("", "store x, t; let u = load x; store a[1], u;"));
        assert!(given(" = 0", "store a[0], 0;"));
        assert!(!given(" = 3", ""));
        assert!(!given("", "store x, 3;"));
        assert!(!given("", "let u = rmw.add x, 1;"));
        assert!(!given("", "let p = &x; store i64 *p, 3;"));
        assert!(!given("", "store p, &x;"));
        assert!(!given("", "store i32 x, 3;"));
        let local = |body: &str| {
            !guesses(&format!(
                "fn g() {{ }} fn f() {{ var t: i64; let u = spawn g(); {body} let v = load t; join v; }} fn main() {{ spawn f(); }}"
            ))
        };
        assert!(local("store t, u;"));
        assert!(!local("store t, u + 1;"));
    }
}
