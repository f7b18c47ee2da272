//! Whether a program does anything at all: a proof about no executions is none.
//!
//! Some runs of the machine, each with moves picked by a fixed sequence of numbers: if one of them ends, or goes on for long, there is something that the proof is about.

use raddle_machine::{Automaton, ByteMemory, Code, Sc, State, Status, Thread};

/// How many runs, and after how many steps one is taken to go on for ever.
const RUNS: u64 = 24;
const LONG: usize = 2_000;

/// What runs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lives {
    /// One ends.
    Ends,
    /// One goes on.
    GoesOn,
    /// All that were tried end with somebody waiting, stopped by an assumption, or wrong.
    Stuck,
}

/// Tries some runs.
pub(super) fn lives(code: &Code) -> Lives {
    let mut best = Lives::Stuck;
    for seed in 0..RUNS {
        match run(code, seed) {
            Lives::Ends => return Lives::Ends,
            Lives::GoesOn => best = Lives::GoesOn,
            Lives::Stuck => {}
        }
    }
    best
}

fn run(code: &Code, seed: u64) -> Lives {
    let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut state: State<Sc> = State::new(Sc::new(ByteMemory::initial(code)), Thread::main(code, false));
    for _ in 0..LONG {
        // The machine lets a thread rest behind a turn of a loop without effect; here it turns again.
        state.threads_mut().for_each(|thread| thread.turn_again(code));
        let moves = state.moves(code);
        if moves.is_empty() {
            let ends = |exits: bool| move |thread: &Thread| matches!(*thread.status(), Status::Finished { exit, .. } if exit || !exits);
            let (exited, all) = (state.threads().any(ends(true)), state.threads().all(ends(false)));
            return if exited || all { Lives::Ends } else { Lives::Stuck };
        }
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        let step = moves[(number % moves.len() as u64) as usize];
        let failed = |thread: &Thread| matches!(thread.status(), Status::Failed(_));
        if state.step(code, step, &mut ()).is_err() || state.threads().any(failed) {
            return Lives::Stuck;
        }
    }
    Lives::GoesOn
}
