//! A thread as a part of states: shared between all states that have it.

use raddle_machine::{Access, Addr, Automaton, Code, ObjectInfo, Reaction, Status, Thread};
use raddle_trace::{Property, ThreadId};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A thread that is copied when it changes.
#[derive(Clone, Debug)]
pub struct Shared {
    thread: Arc<Thread>,
    /// Its number among the parts of states, as long as it is as it was.
    number: u32,
}

const NONE: u32 = u32::MAX;

impl Shared {
    /// This thread.
    pub(crate) fn new(thread: Thread) -> Self {
        Shared { thread: Arc::new(thread), number: NONE }
    }

    pub(crate) fn number(&self) -> Option<u32> {
        (self.number != NONE).then_some(self.number)
    }

    pub(crate) fn remember(&mut self, number: u32) {
        self.number = number;
    }

    /// The thread, to change it.
    pub(crate) fn change(&mut self) -> &mut Thread {
        self.number = NONE;
        Arc::make_mut(&mut self.thread)
    }
}

impl Deref for Shared {
    type Target = Thread;

    fn deref(&self) -> &Thread {
        &self.thread
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.thread, &other.thread) || self.thread == other.thread
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.thread.hash(state);
    }
}

impl Automaton for Shared {
    fn id(&self) -> ThreadId {
        self.thread.id()
    }

    fn status(&self) -> &Status {
        self.thread.status()
    }

    fn message(&self) -> Option<Addr> {
        self.thread.message()
    }

    fn pc(&self) -> u32 {
        self.thread.pc()
    }

    fn object(&self, number: u32) -> Option<&ObjectInfo> {
        self.thread.object(number)
    }

    fn next_child(&self, code: &Code) -> Option<ThreadId> {
        self.thread.next_child(code)
    }

    fn spawned(&self, code: &Code, child: ThreadId) -> Self {
        Shared::new(self.thread.spawned(code, child))
    }

    fn finds_unwritten(&self, code: &Code, found: u64) -> Option<u64> {
        self.thread.finds_unwritten(code, found)
    }

    fn reaction(&self, code: &Code, value: u64) -> Reaction {
        self.thread.reaction(code, value)
    }

    fn picked(&self, value: u64, pick: u32) -> u64 {
        self.thread.picked(value, pick)
    }

    fn answer(&mut self, code: &Code, value: u64, pick: u32) {
        self.change().answer(code, value, pick);
    }

    fn fail(&mut self, property: impl Into<Option<Property>>, message: String) {
        self.change().fail(property, message);
    }

    fn fail_at(&mut self, property: Property, message: String, pc: u32) {
        self.change().fail_at(property, message, pc);
    }
}

/// What a thread is about to do to memory, if anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) thread: ThreadId,
    pub(crate) access: Access,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    /// It waits, and looks in vain.
    pub(crate) in_vain: bool,
}
