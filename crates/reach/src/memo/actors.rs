//! Whose moves are, and what they access that others might: for searches that leave out orders of moves that commute.

use super::sketch::{Needs, Sketch, ThreadSketch};
use super::{How, Memo, Planned};
use crate::machine::Machine;
use raddle_machine::Addr;
use raddle_trace::ThreadId;

/// Who moves: a thread, or what it has on its way; where that does not keep its order, what is on its way to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Actor {
    pub(crate) thread: ThreadId,
    pub(crate) runs: bool,
    pub(crate) place: u64,
}

/// What a move accesses that others might.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Accessed {
    Nothing,
    /// A cell, which it may write.
    Cell(Addr, bool),
    Anything,
}

impl Accessed {
    /// Whether it makes a difference which of the two comes first.
    pub(crate) fn conflicts(self, other: Accessed) -> bool {
        match (self, other) {
            (Accessed::Nothing, _) | (_, Accessed::Nothing) => false,
            (Accessed::Anything, _) | (_, Accessed::Anything) => true,
            (Accessed::Cell(one, writes), Accessed::Cell(other, also)) => one == other && (writes || also),
        }
    }
}

/// Whose a move is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whose {
    pub(crate) actor: Actor,
    pub(crate) accessed: Accessed,
    /// It starts a thread, or puts a store on its way.
    pub(crate) opens: bool,
}

impl Memo {
    /// What a thread accesses next.
    fn accessed(machine: &Machine<'_>, thread: &ThreadSketch) -> Accessed {
        match (thread.needs, thread.pending) {
            (Needs::Cell(_), Some((_, true, _))) if machine.keeps() && thread.stores => Accessed::Nothing,
            (Needs::Cell(addr), Some((_, writes, _))) => Accessed::Cell(addr, writes),
            // Whoever waits for an end as the second one fails.
            (Needs::End(child), _) => Accessed::Cell(Addr(u64::MAX - u64::from(child.0)), true),
            (Needs::Whole, _) if !thread.starts => Accessed::Anything,
            _ => Accessed::Nothing,
        }
    }

    /// Whose the moves are that were planned last, of the state that is made of these parts.
    pub(crate) fn whose(&self, machine: &Machine<'_>, list: &[u32]) -> Vec<Whose> {
        let thread = |id: ThreadId| {
            let mut threads = list.iter().map(|&part| self.thread(part));
            threads.find(|thread| thread.id == id).expect("it moves")
        };
        let whose = |one: &Planned| {
            let actor = Actor { thread: one.thread, runs: one.runs, place: one.place };
            let (accessed, opens) = match one.how {
                _ if one.runs => {
                    let thread = thread(one.thread);
                    (Memo::accessed(machine, thread), thread.starts || (thread.stores && machine.keeps()))
                }
                How::Exchange { cell: Some(_), addr: Some(addr), .. } => (Accessed::Cell(addr, true), false),
                _ => (Accessed::Anything, false),
            };
            Whose { actor, accessed, opens }
        };
        self.planned.iter().map(whose).collect()
    }

    /// What everybody in the state that was followed last accesses next, be it that it has to wait.
    pub(crate) fn next(&self, machine: &Machine<'_>, list: &[u32]) -> Vec<(Actor, Accessed)> {
        let threads = list.iter().map_while(|&part| match self.known(part) {
            Sketch::Thread(thread) => Some(thread),
            _ => None,
        });
        let runs = threads
            .filter(|thread| thread.needs != Needs::NoMove)
            .map(|thread| (Actor { thread: thread.id, runs: true, place: 0 }, Memo::accessed(machine, thread)));
        let arrives = self.whose(machine, list).into_iter().filter(|whose| !whose.actor.runs);
        runs.chain(arrives.map(|whose| (whose.actor, whose.accessed))).collect()
    }
}
