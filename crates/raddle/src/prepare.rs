//! From a program to what engines run.

use raddle_machine::compile::{Options, Privacy};
use raddle_machine::{Code, compile};
use raddle_program::analysis::{self, Escape};
use raddle_program::{BlockId, FuncId, GlobalId, LocalId, Program};

/// The program with the values of unknown inputs that are explored, with loops that only wait turned into waits, and without results that
/// nobody reads.
pub fn transform(program: &Program) -> Program {
    let mut program = program.clone();
    analysis::transform(&mut program);
    program
}

/// Runs the analyses that make exploration cheaper and compiles the program.
///
/// A schedule fits the code it was found on, so verification and replay both come through here.
pub fn prepare(program: &Program, loop_bound: Option<u32>) -> Code {
    prepare_with(program, loop_bound, false)
}

/// As [`prepare()`]; the bound is for loops whose number of turns is known as well, if it is for all loops.
pub(crate) fn prepare_with(program: &Program, loop_bound: Option<u32>, all_loops: bool) -> Code {
    let mut program = transform(program);
    if loop_bound.is_some() && !all_loops {
        analysis::free_counted_loops(&mut program);
    }
    let escape = analysis::escape(&program);
    compile(&program, &Private(escape), &Options { loop_bound, early_assumptions: true })
}

/// What does not escape is private.
struct Private(Escape);

impl Privacy for Private {
    fn local(&self, function: FuncId, local: u32) -> bool {
        !self.0.local(function, LocalId(local))
    }

    fn alloc(&self, function: FuncId, block: BlockId, inst: usize) -> bool {
        u32::try_from(inst).is_ok_and(|inst| !self.0.alloc(function, block, inst))
    }

    fn thread_local(&self, global: GlobalId) -> bool {
        !self.0.global(global)
    }
}
