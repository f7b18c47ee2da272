//! The part of a state that is always known: where threads are, what objects they have made, which locks they hold.
//!
//! It is what the machine's `Thread` has beside numbers. Threads are named by who started them and as how many-th, as everywhere, so what different orders of starting threads lead to is
//! one state.

use raddle_machine::Addr;
use raddle_machine::code::{Pc, Slot};
use raddle_program::FuncId;
use raddle_trace::ThreadId;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) function: FuncId,
    pub(super) return_to: Pc,
    pub(super) dst: Slot,
    pub(super) first_object: u32,
}

/// An object that a thread has made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Object {
    pub(super) size: u32,
    /// No other thread can reach it.
    pub(super) private: bool,
    pub(super) live: bool,
    pub(super) heap: bool,
    pub(super) scoped: bool,
    /// The cells that were written, if it held nothing at first.
    pub(super) written: Option<BTreeSet<u32>>,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// The operation at its instruction, which others may notice.
    Ready,
    /// On with what nobody notices; the machine does that in one go with what came before.
    Silent,
    /// Nothing: it has ended, and perhaps the program with it.
    Finished { exit: bool },
    /// Nothing: an assumption was false, or it got to where nobody looks any further.
    Stopped,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) status: Status,
    pub(super) pc: Pc,
    /// How far an operation made of several steps has come.
    pub(super) stage: u32,
    /// What it remembers meanwhile: how often it held the mutex that it waits without, whom it is to wake, at which barrier it is.
    pub(super) scratch: u64,
    pub(super) frames: Vec<Frame>,
    /// Locks it holds: how often, negative for writing.
    pub(super) held: Vec<(u64, i32)>,
    pub(super) objects: Vec<Object>,
    pub(super) children: u32,
    /// How deep in atomic blocks.
    pub(super) atomic: u32,
    pub(super) joined: bool,
}

impl Thread {
    pub(super) fn frame(&self) -> &Frame {
        self.frames.last().expect("a running thread has a frame")
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.status, Status::Finished { .. } | Status::Stopped)
    }

    /// The address of an object it has made.
    pub(super) fn object_address(&self, at: u32) -> u64 {
        Addr::object(self.id, at).0
    }
}

/// Where all threads are, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    pub(super) threads: Vec<Rc<Thread>>,
    /// Who is in an atomic block.
    pub(super) atomic: Option<ThreadId>,
}

impl Control {
    pub(super) fn position(&self, id: ThreadId) -> Option<usize> {
        self.threads.binary_search_by_key(&id, |thread| thread.id).ok()
    }

    pub(super) fn thread(&self, id: ThreadId) -> Option<&Thread> {
        self.position(id).map(|at| &*self.threads[at])
    }

    pub(super) fn thread_mut(&mut self, id: ThreadId) -> &mut Thread {
        let at = self.position(id).expect("it is there");
        Rc::make_mut(&mut self.threads[at])
    }

    /// Whether somebody has ended the program.
    pub(super) fn is_over(&self) -> bool {
        self.threads.iter().any(|thread| thread.status == Status::Finished { exit: true })
    }

    /// Who may move as far as that does not depend on memory. Whoever ends the program may always do so later, so others go on, as they do in the machine; an end is part of the action before it.
    pub(super) fn movers(&self) -> impl Iterator<Item = &Thread> {
        let may = |thread: &&Thread| !thread.is_done() && self.atomic.is_none_or(|owner| owner == thread.id);
        self.threads.iter().map(|thread| &**thread).filter(may)
    }

    /// The object at this address, if a thread has made one.
    pub(super) fn object(&self, addr: u64) -> Option<&Object> {
        match Addr(addr).owner() {
            raddle_machine::address::Owner::Thread(id, number) => self.thread(id)?.objects.get(number as usize),
            _ => None,
        }
    }
}
