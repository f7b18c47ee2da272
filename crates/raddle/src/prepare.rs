//! From a program to what engines run.

use raddle_engine::PropertySet;
use raddle_machine::compile::{Forgiven, Options, Privacy};
use raddle_machine::{Code, compile};
use raddle_program::analysis::{self, Escape, LoopBounds, Unheeded};
use raddle_program::{BlockId, FuncId, GlobalId, LocalId, Program};
use raddle_trace::Property;

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
    let loop_bounds = LoopBounds { every: loop_bound, named: Vec::new() };
    prepare_with(program, loop_bounds, false, PropertySet::all())
}

/// As [`prepare()`]; the bound is for loops whose number of turns is known as well, if it is for all loops. Where a property is not looked for
/// and an error has a way on, that way is taken.
pub(crate) fn prepare_with(
    program: &Program,
    loop_bounds: LoopBounds,
    all_loops: bool,
    properties: PropertySet,
) -> Code {
    let forgiven = forgiven(properties);
    let mut program = program.clone();
    analysis::end_where_unheeded(&mut program, unheeded(properties));
    if forgiven.unwritten {
        analysis::give_any_value(&mut program);
    }
    analysis::transform(&mut program);
    if !loop_bounds.is_empty() && !all_loops {
        analysis::free_counted_loops(&mut program, &loop_bounds);
    }
    let escape = analysis::escape(&program);
    compile(&program, &Private(escape), &Options { loop_bounds, early_assumptions: true, forgiven })
}

/// The program as it is written, for questions about runs that never end: loops that only wait stay loops, and an assumption stops whoever comes to it, not before. Of what
/// [`prepare()`] does it gets the values of unknown inputs that are explored, and private memory.
pub fn prepare_as_written(program: &Program, properties: PropertySet) -> Code {
    let forgiven = forgiven(properties);
    let mut program = program.clone();
    analysis::end_where_unheeded(&mut program, unheeded(properties));
    if forgiven.unwritten {
        analysis::give_any_value(&mut program);
    }
    analysis::resolve_inputs(&mut program);
    let escape = analysis::escape(&program);
    let options = Options { loop_bounds: LoopBounds::default(), early_assumptions: false, forgiven };
    compile(&program, &Private(escape), &options)
}

/// Which errors end a program of C without a word if these properties are looked for.
fn unheeded(properties: PropertySet) -> Unheeded {
    Unheeded { assertions: !properties.contains(Property::Assert), marks: !properties.contains(Property::Error) }
}

/// Which errors do not end a thread if these properties are looked for.
fn forgiven(properties: PropertySet) -> Forgiven {
    Forgiven { unwritten: !properties.contains(Property::Memory), locks: !properties.contains(Property::Lock) }
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
