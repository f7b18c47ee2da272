//! That long and hard questions are given up in time, and answered if there is time.

use super::{Question, Realiser};
use crate::graphs::event::{Event, Flags, INIT, Kind, NO_BLOCK, NO_LOC};
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

/// An access to be explained: its thread, its location, and for a read which of the accesses it reads from.
type Access = (u32, u32, Option<u32>);

/// Whether these accesses, added in this order, can be explained.
struct Asking<'a> {
    accesses: &'a [Access],
    time: Option<Duration>,
}

impl Task for Asking<'_> {
    /// Whether there is an order that explains them, and whether it was given up.
    type Output = (bool, bool);

    fn under<M: Model>(self) -> (bool, bool) {
        let program = raddle_program::parse("empty.rdl", "fn main() { }", &[]).expect("a program");
        let code = compile(&program, &AllShared, &Options::default());
        let state = Arc::new(Thread::main(&code, false));
        let node = || Arc::new(Node::new(state.clone(), Stage::Fresh, NO_LOC, None));
        let mut graph = Graph::<M>::new(Equivalence::ReadsFrom, node());
        let event = |graph: &Graph<M>, kind, thread: u32, loc, rf| {
            let index = graph.threads[thread as usize].events.len() as u32;
            Event {
                kind,
                flags: Flags::default(),
                order: Ordering::SeqCst,
                thread: ThreadId(thread),
                index,
                operation: index,
                block: NO_BLOCK,
                pc: 0,
                loc,
                rf,
                value: 1,
                made: 0,
                previous: INIT,
            }
        };
        let threads = self.accesses.iter().map(|access| access.0).max().unwrap_or(0);
        for child in 1..=threads {
            let start = Event { value: u64::from(child), ..event(&graph, Kind::Spawn, 0, NO_LOC, INIT) };
            let spawn = graph.add(start, node(), 0, None);
            graph.start(ThreadId(child), spawn, node());
        }
        for &(thread, loc, source) in self.accesses {
            let (kind, rf) = source.map_or((Kind::Write, INIT), |source| (Kind::Read, threads + source));
            let last = graph.location(loc).co.len();
            graph.add(event(&graph, kind, thread, loc, rf), node(), last, None);
        }
        let control = Control::new();
        let deadline = Deadline::new(Limits { time: self.time, ..Limits::default() }, &control);
        let question = Question { graph: &graph, events: graph.present(), read: None, updates: false, edges: &[] };
        let mut realiser = Realiser::default();
        let explained = realiser.realise(question, &deadline).is_some();
        (explained, realiser.interrupted)
    }
}

/// Asks with no time, and with all of it.
fn is_given_up(models: &[raddle_trace::Model], accesses: &[Access]) {
    for &model in models {
        let ask = |time| under(model, Asking { accesses, time });
        assert_eq!(ask(Some(Duration::ZERO)), (false, true), "{model}");
        assert_eq!(ask(None), (true, false), "{model}");
    }
}

#[test]
fn the_closure_of_a_long_execution_looks_at_the_clock() {
    let writes = (0..1024).map(|_| (0, 0, None));
    // Each is read by another thread, in their order.
    let reads = (0..1024).map(|write| (1, 0, Some(write)));
    let models = [raddle_trace::Model::Sc, raddle_trace::Model::Tso, raddle_trace::Model::Pso];
    is_given_up(&models, &writes.chain(reads).collect::<Vec<_>>());
}

#[test]
fn the_search_for_an_order_of_writes_looks_at_the_clock() {
    // Whoever begins with the first write of x must have its reader before the second one. Then the second write of y comes before the reader
    // of the first, and the first before the reader of the second, so that neither can be the first of the two. No rule says so beforehand.
    let (x, y, z) = (0, 1, 2);
    let accesses = [
        (1, x, None),
        (2, x, None),
        (3, y, None),
        (4, y, None),
        (4, z, None),
        (3, z, Some(4)),
        (3, x, Some(0)),
        (2, y, Some(3)),
        (5, x, Some(1)),
        (5, y, Some(2)),
    ];
    is_given_up(&[raddle_trace::Model::Sc], &accesses);
}
