//! One state at a time, with whose its moves are and what they access: for searches that choose among moves as they go.
//!
//! What is new about a state gets its number at once, so there is one worker.

use crate::machine::{Machine, Piece};
use crate::memo::{Accessed, Actor, Memo, Whose, recall_one};
use crate::parts::{NewParts, Numbers, Parts};
use crate::search::Graph;
use crate::semantics::{Breadth, Expanded, Remembers, Semantics};
use crate::sight::Sight;
use crate::visited::{Index, Visited, Written};
use raddle_trace::ThreadId;

/// A state as a list of the numbers of its parts.
pub(crate) type List = Box<[u32]>;

/// A move.
#[derive(Clone, Debug)]
pub(crate) struct Going {
    pub(crate) actor: Actor,
    pub(crate) accessed: Accessed,
    /// It lets others do what they could not do at all: it starts a thread, or puts a store on its way.
    pub(crate) opens: bool,
    pub(crate) to: List,
}

/// What was seen of a state.
pub(crate) struct Looked {
    pub(crate) sight: Sight,
    /// All moves, in order.
    pub(crate) moves: Vec<Going>,
    /// What everybody accesses next, be it that it has to wait.
    pub(crate) next: Vec<(Actor, Accessed)>,
}

/// The machine with what is known of it.
pub(crate) struct Steps<'s, 'c> {
    pub(crate) machine: &'s Machine<'c>,
    memo: Memo,
    pub(crate) graph: Graph<Piece>,
}

impl<'s, 'c> Steps<'s, 'c> {
    pub(crate) fn new(machine: &'s Machine<'c>) -> Self {
        let graph = Graph { visited: Visited::new(), parts: Parts::new(), transitions: 0, depth: 0, leads_back: false };
        Steps { machine, memo: Memo::default(), graph }
    }

    /// The same again over states that have been met.
    pub(crate) fn again(machine: &'s Machine<'c>, graph: Graph<Piece>) -> Self {
        Steps { machine, memo: Memo::default(), graph }
    }

    /// Meets the first state.
    pub(crate) fn begin(&mut self) -> Index {
        let (mut new, mut first) = (NewParts::new(), Vec::new());
        let state = self.machine.initial();
        self.machine.split(&state, &mut |part| first.push(new.number(&self.graph.parts, part)));
        let settled = new.settle(&mut self.graph.parts);
        first.iter_mut().for_each(|part| *part = settled.number(*part));
        self.meet(&first, 0, 0).0
    }

    /// Meets a state; says whether it is new.
    pub(crate) fn meet(&mut self, list: &[u32], from: Index, by: u16) -> (Index, bool) {
        let mut bytes = Vec::new();
        let written = Written::new(list, &mut bytes);
        self.graph.visited.insert(written, &bytes, from, by)
    }

    pub(crate) fn list(&self, state: Index) -> Vec<u32> {
        self.graph.visited.parts(state).collect()
    }

    /// Looks at a state; `None` if its moves cannot be told apart by actors.
    pub(crate) fn look(&mut self, list: &[u32]) -> Option<Looked> {
        let (mut new, mut lists) = (NewParts::new(), Vec::new());
        let mut numbers = Numbers { known: &self.graph.parts, new: &mut new };
        let memo = &mut self.memo;
        let Expanded { sight, .. } =
            self.machine.recall(memo, &mut numbers, list, Breadth::Everything, &mut |_, to| {
                lists.push(to.to_vec());
            })?;
        let moves = self.settle(list, &mut new, lists);
        Some(Looked { sight, moves, next: self.memo.next(self.machine, list) })
    }

    /// What one thread can do in a state, and what can arrive of it.
    pub(crate) fn look_at(&mut self, list: &[u32], thread: ThreadId) -> Option<Vec<Going>> {
        let (mut new, mut lists) = (NewParts::new(), Vec::new());
        let mut numbers = Numbers { known: &self.graph.parts, new: &mut new };
        recall_one(self.machine, &mut self.memo, &mut numbers, list, thread, &mut |to| lists.push(to.to_vec()))?;
        Some(self.settle(list, &mut new, lists))
    }

    fn settle(&mut self, from: &[u32], new: &mut NewParts<Piece>, mut lists: Vec<Vec<u32>>) -> Vec<Going> {
        let settled = new.settle(&mut self.graph.parts);
        self.memo.settle(&settled);
        lists.iter_mut().flatten().for_each(|part| *part = settled.number(*part));
        let whose = self.memo.whose(self.machine, from);
        let going = |(to, Whose { actor, accessed, opens }): (Vec<u32>, Whose)| Going {
            actor,
            accessed,
            opens,
            to: to.into_boxed_slice(),
        };
        lists.into_iter().zip(whose).map(going).collect()
    }
}
