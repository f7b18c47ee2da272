//! Thread states along an execution, shared between graphs.
//!
//! Each event of a thread has the state after it, as a node that points to the node before. Copying a graph copies one
//! pointer per thread; cutting a thread back is walking up. So no execution is ever run again from its first instruction.

use super::event::LocId;
use raddle_machine::{Automaton, Code, Reaction, Status, Thread, Visible};
use raddle_program::Ordering;
use std::sync::Arc;

/// How much of the pending visible operation has become events already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The state of a thread after one of its events.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) state: Arc<Thread>,
    pub(crate) stage: Stage,
    /// The location of the access it rests before, if it does.
    pub(crate) loc: LocId,
    pub(crate) parent: Option<Arc<Node>>,
}

impl Node {
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
