//! The opening: what the first thread does while it is alone. There is one way to do it, so it is the beginning of every
//! execution and makes initial values, not events.

use raddle_machine::{Automaton, Code, Status, System, Visible};
use raddle_trace::{Model, Schedule, Step, ThreadId};

/// How many steps the first thread may do before it starts another.
const LONGEST: usize = 10_000_000;

/// Runs the first thread on the machine until its next operation is a choice, the start or the end of a thread, an atomic block, or
/// cannot be done.
pub(super) fn run<'c>(code: &'c Code, model: Model) -> (System<'c>, Schedule) {
    let mut system = System::new(code, model, false, false);
    let mut steps = Vec::new();
    while steps.len() < LONGEST && is_alone(&system) {
        let step = match system.moves().as_slice() {
            // What is on its way to memory arrives before anything else is done.
            [flush @ (Step::Flush(_) | Step::FlushAt(..)), ..] => *flush,
            [run @ Step::Run(_)] => *run,
            _ => break,
        };
        system.step(step).expect("it is among the moves");
        steps.push(step);
    }
    while let Some(&flush) = system.moves().iter().find(|step| matches!(step, Step::Flush(_) | Step::FlushAt(..))) {
        system.step(flush).expect("it is among the moves");
        steps.push(flush);
    }
    (system, Schedule { steps })
}

/// Whether nobody but the first thread has a say in what it does next.
fn is_alone(system: &System<'_>) -> bool {
    let Status::Ready(visible) = system.thread(ThreadId::MAIN).expect("the first thread").status() else {
        return false;
    };
    !matches!(visible, Visible::Spawn { .. } | Visible::Choose { .. } | Visible::Join { .. } | Visible::AtomicBegin)
}
