//! All that a small program can do, by a search through its states.

#![allow(dead_code, reason = "each test uses a part")]

use raddle_machine::compile::{AllShared, Options};
use raddle_machine::{AnyMemory, Automaton, Blocked, ByteMemory, Code, Memory, State, Status, Thread};
use raddle_program::GlobalId;
use raddle_trace::Model;
use std::collections::{BTreeSet, HashSet};

pub(crate) fn code(text: &str) -> Code {
    let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    raddle_machine::compile(&program, &AllShared, &Options::default())
}

pub(crate) fn first_state(code: &Code, model: Model) -> State<AnyMemory> {
    State::new(AnyMemory::of(model, ByteMemory::initial(code)), Thread::main(code, false))
}

/// What was met.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Met {
    /// The first global object, where all threads have finished.
    pub(crate) results: BTreeSet<i32>,
    /// What went wrong.
    pub(crate) failures: BTreeSet<String>,
    /// Some threads can go on no more and have not finished, for no other reason.
    pub(crate) stuck: bool,
    /// How many states there are.
    pub(crate) states: usize,
}

/// Everything that can be met.
pub(crate) fn all(text: &str, model: Model) -> Met {
    let code = code(text);
    let first = first_state(&code, model);
    let (mut met, mut seen, mut todo) = (Met::default(), HashSet::from([first.clone()]), vec![first]);
    while let Some(state) = todo.pop() {
        for step in state.moves(&code) {
            let mut next = state.clone();
            next.step(&code, step, &mut ()).unwrap_or_else(|error| panic!("{step:?} is a move, but {error}"));
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
        if state.moves(&code).is_empty() {
            end(&state, &mut met);
        }
    }
    met.states = seen.len();
    met
}

fn end(state: &State<AnyMemory>, met: &mut Met) {
    let (mut finished, mut stuck) = (true, true);
    for thread in state.threads() {
        match thread.status() {
            Status::Finished { .. } => continue,
            Status::Failed(failure) => {
                met.failures.insert(failure.message.clone());
                stuck = false;
            }
            Status::Blocked(Blocked::Assume | Blocked::LoopBound) => stuck = false,
            Status::Blocked(Blocked::Spin) | Status::Ready(_) => {}
        }
        finished = false;
    }
    if finished {
        let (addr, size) = (raddle_machine::Addr::global(GlobalId(0)), 4);
        let found = state.memory().bytes().read(raddle_machine::Access { addr, size });
        met.results.insert(found.expect("the first object is an i32").0 as i32);
    } else {
        met.stuck |= stuck;
    }
}
