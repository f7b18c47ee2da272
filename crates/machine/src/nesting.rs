//! Whether other threads than the first one may start threads, which decides how threads are numbered.
//!
//! A thread starts threads if its function does, or one that this calls, and so on. An indirect call or start may be of any function whose
//! address is taken somewhere; one that is made up from numbers is not foreseen, and the thread it starts has no number.

use raddle_program::{Callee, Expr, FuncId, InitValue, Op, Program, Term};
use raddle_trace::Numbering;

/// How the threads of a program are numbered.
pub(crate) fn numbering(program: &Program) -> Numbering {
    let of_others = run_by_others(program);
    let mut functions = program.functions.iter().zip(of_others).filter(|(_, others)| *others);
    let starts = |op: &Op| matches!(op, Op::Spawn { .. });
    let nested = functions
        .any(|(function, _)| function.blocks.iter().flat_map(|block| &block.insts).any(|inst| starts(&inst.op)));
    if nested { Numbering::Nested } else { Numbering::Flat }
}

/// By function: whether another thread than the first one may run it.
pub(crate) fn run_by_others(program: &Program) -> Vec<bool> {
    let taken = taken_addresses(program);
    let targets = |callee: &Callee| match callee {
        Callee::Direct(id) => vec![*id],
        Callee::Indirect(_) => taken.clone(),
    };
    let ops =
        |id: FuncId| program.functions[id.index()].blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.op);
    let functions = || (0..program.functions.len() as u32).map(FuncId);
    let started = functions().flat_map(ops).filter_map(|op| match op {
        Op::Spawn { callee, .. } => Some(targets(callee)),
        _ => None,
    });
    let mut todo: Vec<FuncId> = started.flatten().collect();
    let mut seen = vec![false; program.functions.len()];
    while let Some(function) = todo.pop() {
        if std::mem::replace(&mut seen[function.index()], true) {
            continue;
        }
        for op in ops(function) {
            if let Op::Call { callee, .. } | Op::Spawn { callee, .. } = op {
                todo.extend(targets(callee));
            }
        }
    }
    seen
}

/// The functions whose addresses are taken.
pub(crate) fn taken_addresses(program: &Program) -> Vec<FuncId> {
    let mut taken = Vec::new();
    taken.extend(program.globals.iter().flat_map(|object| &object.init).filter_map(|field| match field.value {
        InitValue::Func(id) => Some(id),
        _ => None,
    }));
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let Expr::Func(id) = part {
                taken.push(*id);
            }
        });
    };
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        block.insts.iter().for_each(|inst| inst.op.for_each_operand(&mut visit));
        if let Term::Return(Some(value)) | Term::ExitThread(Some(value)) = &block.term.kind {
            visit(value);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbering_of(text: &str) -> Numbering {
        numbering(&raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}")))
    }

    #[test]
    fn a_function_that_main_calls_may_start_threads() {
        let helper = "fn worker() { } fn helper() { spawn worker(); }";
        assert_eq!(numbering_of(&format!("{helper} fn main() {{ call helper(); spawn worker(); }}")), Numbering::Flat);
        assert_eq!(numbering_of(&format!("{helper} fn main() {{ spawn helper(); }}")), Numbering::Nested);
        let between = "fn f() { call helper(); }";
        assert_eq!(numbering_of(&format!("{helper} {between} fn main() {{ spawn f(); }}")), Numbering::Nested);
    }

    #[test]
    fn what_is_called_through_a_pointer_may_be_whatever_has_its_address_taken() {
        let text = "fn leaf() { } fn starts() { spawn leaf(); } fn calls(f: ptr) { call *f(); }";
        let main = |address: &str| format!("{text} fn main() {{ call starts(); spawn calls({address}); }}");
        assert_eq!(numbering_of(&main("&leaf")), Numbering::Flat);
        assert_eq!(numbering_of(&main("&starts")), Numbering::Nested);
        let main = |address: &str| format!("{text} fn main() {{ call starts(); let f = {address}; spawn *f(); }}");
        assert_eq!(numbering_of(&main("&leaf")), Numbering::Flat);
        assert_eq!(numbering_of(&main("&starts")), Numbering::Nested);
    }
}
