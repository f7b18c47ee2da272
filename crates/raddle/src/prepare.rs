//! From a program to what engines run.

use raddle_machine::compile::AllShared;
use raddle_machine::{Code, compile};
use raddle_program::Program;

/// Runs the analyses that make exploration cheaper and compiles the program.
///
/// A schedule fits the code it was found on, so verification and replay both come through here.
pub fn prepare(program: &Program, loop_bound: Option<u32>) -> Code {
    compile(program, &AllShared, &raddle_machine::compile::Options { loop_bound })
}
