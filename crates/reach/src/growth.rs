//! What grows, where there seem to be more states than one can look at.
//!
//! A number that is counted up in a loop, memory that is allocated there, threads that are started: each of them makes states without end. Which it is shows in the
//! parts of the states that have been met.

use crate::machine::Piece;
use raddle_machine::address::Owner;
use raddle_machine::{Access, Addr, Automaton, Code, Thread};
use raddle_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

/// From so many forms on, a part is told.
const MANY: usize = 100;

/// A thread that has made so many objects probably makes them in a loop.
const MADE: usize = 5;

/// The part of the states with the most different forms, in words. What is made goes before what points to it, and memory before the threads that compute with it, which have as many forms.
pub fn what_grows(code: &Code, parts: &[Piece]) -> Option<String> {
    let mut objects: FxHashMap<Addr, usize> = FxHashMap::default();
    // What threads have made.
    let mut made: FxHashMap<ThreadId, (usize, FxHashSet<Addr>)> = FxHashMap::default();
    let mut threads: FxHashMap<ThreadId, usize> = FxHashMap::default();
    let mut buffers: FxHashMap<ThreadId, (usize, usize)> = FxHashMap::default();
    for part in parts {
        match part {
            Piece::Object(base, _) | Piece::Cell(Access { addr: base, .. }, _) => match base.owner() {
                Owner::Thread(id, _) => {
                    let (forms, objects) = made.entry(id).or_default();
                    *forms += 1;
                    objects.insert(*base);
                }
                _ => *objects.entry(*base).or_default() += 1,
            },
            Piece::Thread(thread) => *threads.entry(thread.id()).or_default() += 1,
            Piece::Outgoing(thread, outgoing) => {
                let (forms, longest) = buffers.entry(*thread).or_default();
                *forms += 1;
                *longest = outgoing.stores().len().max(*longest);
            }
            Piece::Rest(_) => {}
        }
    }
    let name = |addr: Addr| code.describe(addr, &|_| None::<&Thread>);
    let objects =
        objects.into_iter().map(|(base, forms)| (2 * forms, base.0, format!("{} had {forms} values", name(base))));
    let many = made.into_iter().filter(|(_, (_, objects))| objects.len() >= MADE);
    let made = many.map(|(id, (forms, objects))| {
        let text = format!("{} has made {} objects", code.name(id), objects.len());
        (8 * objects.len() + 2 * forms, u64::from(id.0), text)
    });
    let threads = threads
        .into_iter()
        .map(|(id, forms)| (forms, u64::from(id.0), format!("{} was in {forms} states of its own", code.name(id))));
    let buffers = buffers.into_iter().map(|(id, (forms, longest))| {
        (forms, u64::from(id.0), format!("the store buffer of {} held up to {longest} stores", code.name(id)))
    });
    let most = objects.chain(made).chain(threads).chain(buffers).max()?;
    (most.0 >= MANY).then_some(most.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::search::{Graph, Order, Plan, search};
    use crate::semantics::Breadth;
    use raddle_machine::compile;
    use raddle_machine::compile::{AllShared, Options};
    use raddle_trace::Model;
    use std::ops::ControlFlow;

    /// What is said to grow in the first states of a program.
    fn grows(text: &str) -> Option<String> {
        let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let code = compile(&program, &AllShared, &Options::default());
        let machine = Machine::new(&code, Model::Sc);
        let plan = Plan { order: Order::Breadth, workers: 1, breadth: Breadth::Enough };
        let enough = |graph: &Graph<Piece>| match graph.visited.len() > 20_000 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let (graph, _) = search(&machine, plan, &mut |graph, _, _| enough(graph), &mut |_| ControlFlow::Continue(()));
        what_grows(&code, graph.parts.list())
    }

    #[test]
    fn what_a_loop_makes_or_counts_is_named() {
        let counts =
            "global n: i32; fn up() { loop { let x = load n; store n, x + 1; } } fn main() { spawn up(); spawn up(); }";
        assert!(grows(counts).is_some_and(|what| what.starts_with("n had ")), "{:?}", grows(counts));
        let makes = "global top: ptr; fn push() { loop { let o = alloc 8; let t: ptr = load top; store ptr *o, t; store ptr top, o; } } fn main() { spawn push(); spawn push(); }";
        assert!(grows(makes).is_some_and(|what| what.ends_with(" objects")), "{:?}", grows(makes));
        let turns = "global x: i32; fn turn() { loop { let v = load x; store x, 1 - v; } } fn main() { spawn turn(); spawn turn(); }";
        assert_eq!(grows(turns), None);
    }
}
