//! Thread states along an execution, shared between graphs.
//!
//! Each event of a thread has the state after it, as a node that points to the node before. Copying a graph copies one
//! pointer per thread; cutting a thread back is walking up. So no execution is ever run again from its first instruction.
//!
//! Most executions differ in little, and a thread that learns the same does the same: [`Ways`] remembers where threads came lately, so that
//! what a revisit deletes and what is taken back at the end of an execution is not computed again.

use super::event::LocId;
use super::tail::Tail;
use raddle_machine::{Automaton, Code, Reaction, Status, Thread, Visible};
use raddle_program::Ordering;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How much of the pending visible operation has become events already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// Nothing.
    Fresh,
    /// The store-store fence before a store.
    FencedStore,
    /// The store; a full fence follows.
    Stored,
    /// The read half of an update that picks one of so many alternatives.
    Picking { old: u64, count: u32 },
    /// The read half of an update; `new` is written next.
    Updating { old: u64, new: u64, pick: u32 },
    /// A read that found a value it waits to change.
    Waiting,
}

/// Whether a thread goes on, as far as its state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has ended, and nobody else with it.
    Finished,
    /// Never.
    Over,
    /// In any case, unless its access is part of a wait at a barrier.
    Free,
    /// That is for others to say.
    Depends,
    /// It waits for others to end and then ends itself. Nothing comes of that, so it is no event; see [`super::tail`].
    Tail,
}

/// The state of a thread after one of its events.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) state: Arc<Thread>,
    pub(crate) stage: Stage,
    pub(crate) rest: Rest,
    /// The location of the access it rests before, if it does.
    pub(crate) loc: LocId,
    pub(crate) parent: Option<Arc<Node>>,
    /// How it ends, if it does nothing else any more than to wait for others to end.
    pub(crate) tail: Option<Arc<Tail>>,
}

impl Node {
    pub(crate) fn new(state: Arc<Thread>, stage: Stage, loc: LocId, parent: Option<Arc<Node>>) -> Self {
        let rest = match *state.status() {
            _ if stage == Stage::Waiting => Rest::Over,
            Status::Ready(Visible::Load { wait: false, .. } | Visible::Update { wait: false, .. }) => Rest::Free,
            Status::Ready(Visible::Store { .. } | Visible::Fence { .. } | Visible::Choose { .. }) => Rest::Free,
            Status::Ready(_) => Rest::Depends,
            Status::Finished { exit: false, .. } if state.atomic_block().is_none() => Rest::Finished,
            _ => Rest::Over,
        };
        Node { state, stage, rest, loc, parent, tail: None }
    }

    /// The node of a thread that ends like this.
    pub(crate) fn with_tail(mut self, tail: Option<Arc<Tail>>) -> Self {
        if tail.is_some() {
            self.rest = Rest::Tail;
        }
        self.tail = tail;
        self
    }

    /// The ordering of the pending operation if it reads, and writes or not.
    pub(crate) fn order_of_read(&self, order: Ordering, writes: bool) -> Ordering {
        match *self.state.status() {
            Status::Ready(Visible::Update { failure, .. }) if !writes => failure,
            Status::Ready(Visible::Update { order, .. }) => order,
            _ => order,
        }
    }

    /// What the pending operation, which reads, does with a value. A fence that reads is an update.
    pub(crate) fn reaction(&self, code: &Code, value: u64) -> Reaction {
        if self.is_fence() { Reaction::Write(value) } else { self.state.reaction(code, value) }
    }

    /// Whether the pending operation, which reads, may write what it has read.
    pub(crate) fn updates(&self) -> bool {
        self.is_fence() || matches!(self.state.status(), Status::Ready(Visible::Update { .. }))
    }

    fn is_fence(&self) -> bool {
        matches!(self.state.status(), Status::Ready(Visible::Fence { .. }))
    }
}

impl Drop for Node {
    /// Chains are as long as executions; dropping them one inside the other could exhaust the stack.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(node) = next {
            match Arc::try_unwrap(node) {
                Ok(mut node) => next = node.parent.take(),
                Err(_) => break,
            }
        }
    }
}

/// What leads from one node of a thread to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The pending operation has its answer.
    Answer { value: u64, pick: u32 },
    /// More of it has become events.
    Stage(Stage),
    /// It has some answer.
    Any,
}

/// Where threads came lately, by the node before and the step from there.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    recent: FxHashMap<(usize, Step), Arc<Node>>,
    /// What was met before those.
    older: FxHashMap<(usize, Step), Arc<Node>>,
}

impl Ways {
    /// How many nodes are recent at most. They take some megabytes.
    const RECENT: usize = 1 << 12;

    /// Where the step leads, if that is remembered.
    pub(crate) fn get(&mut self, from: &Arc<Node>, step: Step) -> Option<Arc<Node>> {
        let key = Ways::key(from, step);
        if let Some(node) = self.recent.get(&key) {
            return Some(node.clone());
        }
        let node = self.older.remove(&key)?;
        self.put(from, step, &node);
        Some(node)
    }

    /// From now on the step is known to lead there.
    pub(crate) fn put(&mut self, from: &Arc<Node>, step: Step, to: &Arc<Node>) {
        if self.recent.len() >= Ways::RECENT {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(Ways::key(from, step), to.clone());
    }

    /// The node, to which some answer has led, or one like it to which another has: often nobody wants the answer.
    pub(crate) fn merged(&mut self, from: &Arc<Node>, to: Arc<Node>) -> Arc<Node> {
        if let Some(other) = self.get(from, Step::Any)
            && (other.stage, other.loc) == (to.stage, to.loc)
            && other.state.is_twin(&to.state)
        {
            return other;
        }
        self.put(from, Step::Any, &to);
        to
    }

    /// A node is known by its address, which is nobody else's as long as the node behind it, its child, is kept.
    fn key(from: &Arc<Node>, step: Step) -> (usize, Step) {
        (Arc::as_ptr(from).addr(), step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_machine::compile;
    use raddle_machine::compile::{AllShared, Options};

    #[test]
    fn ways_that_were_met_lately_are_remembered_and_old_ones_are_not() {
        let program = raddle_program::parse("empty.rdl", "fn main() { }", &[]).expect("a program");
        let code = compile(&program, &AllShared, &Options::default());
        let state = Arc::new(Thread::main(&code, false));
        let node = |parent| Arc::new(Node::new(state.clone(), Stage::Fresh, crate::world::NO_LOC, parent));
        let answer = |value| Step::Answer { value: value as u64, pick: 0 };
        let (root, mut ways) = (node(None), Ways::default());
        let nodes: Vec<_> = (0..2 * Ways::RECENT).map(|_| node(Some(root.clone()))).collect();
        for (value, node) in nodes.iter().enumerate() {
            ways.put(&root, answer(value), node);
            // What is asked for again and again is never old.
            let first = ways.get(&root, answer(0)).expect("it was met lately");
            assert!(Arc::ptr_eq(&first, &nodes[0]));
        }
        let last = ways.get(&root, answer(nodes.len() - 1)).expect("it was met last");
        assert!(Arc::ptr_eq(&last, nodes.last().expect("there are some")));
        assert!(ways.get(&root, answer(1)).is_none(), "so much is not kept");
        assert!(ways.get(&node(None), answer(0)).is_none(), "another node is another way");
        assert!(ways.recent.len() + ways.older.len() <= 2 * Ways::RECENT);
    }
}
