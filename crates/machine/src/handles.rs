//! Whether a thread may wait for one that nobody has given to it.
//!
//! A wait for a thread that has not been started is an error. Whoever has the handle from where it was started, through registers, comes after the start in every order, and
//! so does the first thread wherever it is the only one that starts others. Anything else, be it written down or come through memory, may be a number that was made up, or
//! was left over, and then it depends on the order of threads whether there is an error. Starting a thread commutes with everything else but such a wait, so whoever
//! explores starts first has to ask.
//!
//! The greatest set of registers is looked for that only ever hold handles that were given, whatever the order of instructions: what spawn returns, the handle of the thread itself, zero (which is no
//! thread), copies of such, and parameters for which nothing else is passed. What comes from memory or from a call is not among them.
//!
//! Cost: passes over the program until nothing changes, rarely more than three; at most one per register.

use crate::nesting;
use raddle_program::{Callee, Expr, FuncId, Op, Program, Reg};
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

/// By function and register: whether it only ever holds handles that were given.
struct Known(Vec<Vec<bool>>);

impl Known {
    fn new(program: &Program) -> Self {
        let mut known = Known(program.functions.iter().map(|function| vec![true; function.regs.len()]).collect());
        let unseen = nesting::taken_addresses(program).into_iter().chain(program.entry);
        unseen.for_each(|id| known.0[id.index()][..program.functions[id.index()].params as usize].fill(false));
        while known.shrink(program) {}
        known
    }

    fn is_given(&self, function: FuncId, handle: &Expr) -> bool {
        match handle {
            Expr::Reg(reg) => self.0[function.index()][reg.index()],
            Expr::Const(_, value) => *value == 0,
            Expr::Select(_, then, otherwise) => self.is_given(function, then) && self.is_given(function, otherwise),
            _ => false,
        }
    }

    /// Takes out what holds something else; whether there was such a register.
    fn shrink(&mut self, program: &Program) -> bool {
        let mut other: Vec<(FuncId, Reg)> = Vec::new();
        for (function, id) in program.functions.iter().zip((0..).map(FuncId)) {
            for inst in function.blocks.iter().flat_map(|block| &block.insts) {
                if let Op::Call { callee: Callee::Direct(called), args, .. }
                | Op::Spawn { callee: Callee::Direct(called), args, .. } = &inst.op
                {
                    let passed = args.iter().zip((0..).map(Reg));
                    other.extend(passed.filter(|(arg, _)| !self.is_given(id, arg)).map(|(_, reg)| (*called, reg)));
                }
                let given = match &inst.op {
                    Op::Assign { value, .. } => self.is_given(id, value),
                    Op::Spawn { .. } | Op::ThreadId { .. } => true,
                    _ => false,
                };
                other.extend(inst.op.dst().filter(|_| !given).map(|reg| (id, reg)));
            }
        }
        let mut changed = false;
        for (function, reg) in other {
            changed |= std::mem::replace(&mut self.0[function.index()][reg.index()], false);
        }
        changed
    }
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
        assert!(given("store x, t; let u = load x; spawn f(u);"));
        assert!(given("let p = &f; spawn f(t); spawn *p(7);"));
    }
}
