//! From a program to what engines run.

use raddle_machine::compile::AllShared;
use raddle_machine::{Code, compile};
use raddle_program::{Program, analysis};

/// The program with loops that only wait turned into waits.
pub fn transform(program: &Program) -> Program {
    let mut program = program.clone();
    analysis::spin_loops(&mut program);
    program
}

/// Runs the analyses that make exploration cheaper and compiles the program.
///
/// A schedule fits the code it was found on, so verification and replay both come through here.
pub fn prepare(program: &Program, loop_bound: Option<u32>) -> Code {
    compile(&transform(program), &AllShared, &raddle_machine::compile::Options { loop_bound })
}
