//! Who says which delay to build in next.
//!
//! The contract (Calin 2016): if an oracle has nothing to propose, the extended program has under SC all states that the program has under TSO; otherwise it proposes words that are not built in yet. Where captures are
//! not forced, an oracle looks at words that are not built in only, and that it has nothing to propose says nothing.

use super::extended::{Extended, ExtendedPart};
use super::words::Letter;
use crate::machine::own;
use crate::search::{Graph, Order, Plan, ROOM, search};
use crate::semantics::{Breadth, Semantics};
use raddle_engine::{Deadline, StopReason};
use raddle_machine::Automaton;
use std::ops::ControlFlow;

/// What an oracle says.
#[derive(Clone, Debug)]
pub enum Advice {
    /// There is nothing to build in.
    Nothing,
    /// These delays.
    Words(Vec<Vec<Letter>>),
    /// It could not look at everything.
    Stopped(StopReason),
}

/// Who says which delay to build in next.
pub trait Oracle: Sync {
    /// Looks at a program with delays; and how many states it looked at.
    fn ask(&self, extended: Extended<'_>, workers: usize, deadline: &Deadline<'_>) -> (Advice, u64);
}

/// Attacks on the robustness of the extended program: the first that succeeds.
#[derive(Clone, Copy, Debug)]
pub struct Attacked;

/// Runs of TSO that leave the words: all shortest ones. It needs no theory, and never ends where buffers grow without end.
#[derive(Clone, Copy, Debug)]
pub struct Leaving;

/// At most so many words are proposed at once.
const MOST: usize = 256;

impl Oracle for Attacked {
    fn ask(&self, extended: Extended<'_>, workers: usize, deadline: &Deadline<'_>) -> (Advice, u64) {
        if extended.late.is_never() {
            return (Advice::Nothing, 0);
        }
        let extended = Extended { attacked: true, ..extended };
        look(&extended, workers, deadline, &mut |graph, index, sight, words| {
            if sight.success {
                let state = graph.state(&extended, index);
                let attacker = Extended::attacker(&state).expect("somebody attacks");
                words.push(extended.word(graph, index, attacker));
            }
            !words.is_empty()
        })
    }
}

impl Oracle for Leaving {
    fn ask(&self, extended: Extended<'_>, workers: usize, deadline: &Deadline<'_>) -> (Advice, u64) {
        look(&extended, workers, deadline, &mut |graph, index, sight, words| {
            for &id in &sight.outside {
                let mut word = extended.word(graph, index, id);
                word.push(Letter::Operation(own(&graph.state(&extended, index).state, id).pc()));
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            words.len() >= MOST
        })
    }
}

/// Who is told of every state, to collect words; says whether these are enough.
type Collect<'n> =
    dyn FnMut(&Graph<ExtendedPart>, crate::visited::Index, &super::extended::Sight, &mut Vec<Vec<Letter>>) -> bool + 'n;

fn look(extended: &Extended<'_>, workers: usize, deadline: &Deadline<'_>, collect: &mut Collect<'_>) -> (Advice, u64) {
    let code = extended.machine.code;
    let mut words = Vec::new();
    let (graph, ended) = search(
        extended,
        Plan { order: Order::Breadth, workers, breadth: Breadth::Enough },
        &mut |graph, index, sight: <Extended<'_> as Semantics>::Sight| {
            if let Some((why, pc)) = sight.stuck {
                return ControlFlow::Break(Some(StopReason::GaveUp { why, at: code.place(pc) }));
            }
            if collect(graph, index, &sight, &mut words) { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
        },
        &mut |graph| match graph.must_end(code, ROOM, deadline) {
            Some(reason) => ControlFlow::Break(Some(reason)),
            None => ControlFlow::Continue(()),
        },
    );
    let advice = match ended {
        _ if !words.is_empty() => Advice::Words(words),
        Some(Some(reason)) => Advice::Stopped(reason),
        Some(None) | None => Advice::Nothing,
    };
    (advice, graph.visited.len() as u64)
}
