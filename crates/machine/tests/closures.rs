//! A thread need not be byte code: here it is a Rust function of the answers it has been given.

mod support;

use raddle_machine::{
    Access, Addr, AnyMemory, Automaton, ByteMemory, Code, Failure, Memory, ObjectInfo, Reaction, State, Status, Visible,
};
use raddle_program::{FuncId, GlobalId, Ordering};
use raddle_trace::{Model, Property, ThreadId};
use std::collections::{BTreeSet, HashSet};

/// The state of a function is the list of answers it was given: it is run again from the start each time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Function {
    id: ThreadId,
    children: u32,
    answers: Vec<u64>,
    status: Status,
}

fn place(global: u32) -> Access {
    Access { addr: Addr::global(GlobalId(global)), size: 4 }
}

fn load(global: u32) -> Status {
    Status::Ready(Visible::Load { access: place(global), order: Ordering::Relaxed, wait: false })
}

fn store(global: u32, value: u64) -> Status {
    Status::Ready(Visible::Store { access: place(global), order: Ordering::Relaxed, value })
}

/// Store buffering: who is who is told by the number of the thread.
fn body(id: ThreadId, answers: &[u64]) -> Status {
    const DONE: Status = Status::Finished { result: 0, exit: false };
    match (id.0, answers) {
        (0, [] | [_]) => Status::Ready(Visible::Spawn { function: FuncId(0), mailbox: None }),
        (0, [_, _, joined @ ..]) if joined.len() < 2 => {
            Status::Ready(Visible::Join { thread: ThreadId(answers[joined.len()] as u32) })
        }
        (0, _) => DONE,
        (own, []) => store(own, 1),
        (own, [_]) => load(3 - own),
        // What it has seen goes to a place of its own.
        (own, [_, seen]) => store(2 + own, *seen),
        _ => DONE,
    }
}

impl Function {
    fn new(id: ThreadId) -> Self {
        Function { id, children: 0, answers: Vec::new(), status: body(id, &[]) }
    }
}

impl Automaton for Function {
    fn id(&self) -> ThreadId {
        self.id
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn message(&self) -> Option<Addr> {
        None
    }

    fn pc(&self) -> u32 {
        0
    }

    fn object(&self, _: u32) -> Option<&ObjectInfo> {
        None
    }

    fn next_child(&self, code: &Code) -> Option<ThreadId> {
        code.numbering().child(self.id, self.children)
    }

    fn spawned(&self, _: &Code, child: ThreadId) -> Self {
        Function::new(child)
    }

    fn finds_unwritten(&self, _: &Code, _: u64) -> Option<u64> {
        None
    }

    fn reaction(&self, _: &Code, _: u64) -> Reaction {
        Reaction::Read
    }

    fn picked(&self, value: u64, _: u32) -> u64 {
        value
    }

    fn answer(&mut self, _: &Code, value: u64, _: u32) {
        self.children += u32::from(matches!(self.status, Status::Ready(Visible::Spawn { .. })));
        self.answers.push(value);
        self.status = body(self.id, &self.answers);
    }

    fn fail(&mut self, property: impl Into<Option<Property>>, message: String) {
        self.status = Status::Failed(Box::new(Failure { property: property.into(), message, pc: 0, pending: true }));
    }

    fn fail_at(&mut self, property: Property, message: String, _: u32) {
        self.fail(property, message);
    }
}

#[test]
fn functions_run_as_threads_do() {
    // The program lends its objects and its numbers of threads.
    let program = "global unused: i32; global x: i32; global y: i32; global a: i32; global b: i32;
        fn main() { spawn other(); spawn other(); } fn other() { }";
    let code = support::code(program);
    for (model, both_late) in Model::OPERATIONAL.into_iter().zip([false, true, true]) {
        let memory = AnyMemory::of(model, ByteMemory::initial(&code));
        let first = State::new(memory, Function::new(ThreadId::MAIN));
        let (mut seen, mut todo, mut ends) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
        while let Some(state) = todo.pop() {
            let moves = state.moves(&code);
            if moves.is_empty() {
                let value = |global| state.memory().bytes().read(place(global)).expect("there").0;
                ends.insert((value(3), value(4)));
            }
            for step in moves {
                let mut next = state.clone();
                next.step(&code, step, &mut ()).expect("it is a move");
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        let mut expected = BTreeSet::from([(0, 1), (1, 0), (1, 1)]);
        if both_late {
            expected.insert((0, 0));
        }
        assert_eq!(ends, expected, "{model}");
    }
}
