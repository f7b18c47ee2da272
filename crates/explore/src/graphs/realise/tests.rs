//! That long questions are given up in time, and answered if there is time.

use super::{Question, Realiser};
use crate::graphs::event::{Event, Flags, INIT, Kind, NO_BLOCK, NO_LOC, Slot};
use crate::graphs::graph::{Equivalence, Graph};
use crate::graphs::models::under;
use crate::graphs::models::{Model, Task};
use crate::graphs::snapshot::{Node, Stage};
use raddle_engine::{Control, Deadline, Limits};
use raddle_machine::compile::{AllShared, Options};
use raddle_machine::{Thread, compile};
use raddle_program::Ordering;
use raddle_trace::ThreadId;
use std::sync::Arc;
use std::time::Duration;

/// One thread writes a location so many times, and another one reads all of it.
struct Copying {
    writes: u32,
    time: Option<Duration>,
}

impl Task for Copying {
    /// Whether there is an order that explains it, and whether it was given up.
    type Output = (bool, bool);

    fn under<M: Model>(self) -> (bool, bool) {
        let program = raddle_program::parse("copying.rdl", "fn main() { }", &[]).expect("a program");
        let code = compile(&program, &AllShared, &Options::default());
        let state = Arc::new(Thread::main(&code, false));
        let node = || Arc::new(Node::new(state.clone(), Stage::Fresh, NO_LOC, None));
        let mut graph = Graph::<M>::new(Equivalence::ReadsFrom, node());
        let event = |kind, thread, index, rf| Event {
            kind,
            flags: Flags::default(),
            order: Ordering::SeqCst,
            thread: ThreadId(thread),
            index,
            operation: index,
            block: NO_BLOCK,
            pc: 0,
            loc: 0,
            rf,
            value: 1,
            made: 0,
        };
        let spawn = graph.add(event(Kind::Spawn, 0, 0, INIT), node(), 0, None);
        graph.start(ThreadId(1), spawn, node());
        for at in 0..self.writes {
            graph.add(event(Kind::Write, 0, at + 1, INIT), node(), at as usize, None);
        }
        for at in 0..self.writes {
            // Each is read when it is the last one of those that have been read.
            graph.add(event(Kind::Read, 1, at, spawn + 1 + at as Slot), node(), 0, None);
        }
        let control = Control::new();
        let deadline = Deadline::new(Limits { time: self.time, ..Limits::default() }, &control);
        let question = Question { graph: &graph, events: graph.present(), read: None, updates: false, edges: &[] };
        let mut realiser = Realiser::default();
        let explained = realiser.realise(question, &deadline).is_some();
        (explained, realiser.interrupted)
    }
}

#[test]
fn the_closure_of_a_long_execution_looks_at_the_clock() {
    use raddle_trace::Model;
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let ask = |time| under(model, Copying { writes: 1024, time });
        assert_eq!(ask(Some(Duration::ZERO)), (false, true), "{model}");
        assert_eq!(ask(None), (true, false), "{model}");
    }
}
