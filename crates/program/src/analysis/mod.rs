//! What can be known about a program without running it.
//!
//! | module | answers |
//! |---|---|
//! | [`mod@cfg`] | what comes before a block, what dominates it |
//! | [`loops`] | which edges close a loop, and where the loop stands in the source |
//! | [`bounds`] | how often a loop may turn |
//! | [`counted`] | which loops end by themselves, so that they need no bound |
//! | [`liveness`] | which registers may still be read |
//! | [`decided`] | which branches are decided before the program runs; makes them jumps |
//! | [`idle`] | which code makes no difference; takes it out |
//! | [`looks`] | which loops look at memory so many times and do the same whatever they see; lets them look once |
//! | [`spin`] | which loops only wait; turns them into waits. Which turn for ever in silence; stops their threads |
//! | [`assumed`] | which values a load may take if an assumption is not to fail right behind it |
//! | [`inline`] | which functions are small enough to stand in the place of their calls |
//! | [`unheeded`] | what comes behind an assertion that nobody looks at; the end of the program, as C has it |
//! | [`unused`] | which updates need not say what they found |
//! | [`unwritten`] | which reads can only find what was never written |
//! | [`pieces`] | which accesses are made in pieces, because others are smaller |
//! | [`inputs`] | which values of unknown inputs have to be explored |
//! | [`promote`] | which local objects nobody else knows; keeps them in registers |
//! | `simplify` | what is left of an expression with constants in it |
//! | [`mod@escape`] | which memory other threads can never reach |

pub mod assumed;
pub mod bounds;
pub mod cfg;
pub mod counted;
pub mod decided;
pub mod escape;
pub mod idle;
pub mod inline;
pub mod inputs;
pub mod liveness;
pub mod looks;
pub mod loops;
mod mentions;
pub mod pieces;
pub mod promote;
mod simplify;
pub mod spin;
pub mod unheeded;
pub mod unused;
pub mod unwritten;

pub use bounds::{LoopBounds, LoopPlace, NamedBound};
pub use cfg::Cfg;
pub use counted::free_counted_loops;
pub use decided::decide_branches;
pub use escape::{Escape, escape};
pub use idle::drop_idle_code;
pub use inline::inline_helpers;
pub use inputs::{Inputs, Sampled, resolve_inputs};
pub use liveness::{Liveness, RegSet};
pub use looks::look_once;
pub use loops::{Loop, LoopId, Loops};
pub use pieces::{Pieces, Split, split};
pub use promote::keep_in_registers;
pub use spin::{SpinKind, SpinLoop, SpinReport, spin_loops, stop_silent_loops};
pub use unheeded::{Unheeded, end_where_unheeded};
pub use unused::drop_unused_results;
pub use unwritten::give_any_value;

use crate::program::Program;

/// What every program goes through before it is compiled: threads that would turn for ever without a sound stop, unknown inputs get the values that are explored, what makes no difference or can never be reached goes, loops that only wait become waits,
/// helpers of assumptions stand where they are called, and results that nobody reads are not asked for. The program must be valid, and stays so.
pub fn transform(program: &mut Program) {
    // Before inputs are looked at: stopping may be what bounds them.
    stop_silent_loops(program);
    resolve_inputs(program);
    decide_branches(program);
    drop_idle_code(program);
    if keep_in_registers(program) {
        drop_idle_code(program);
    }
    if look_once(program) {
        drop_idle_code(program);
    }
    stop_silent_loops(program);
    spin_loops(program);
    inline_helpers(program);
    drop_unused_results(program);
}
