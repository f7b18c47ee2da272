//! Who looks on while a state changes.
//!
//! A [`State`](crate::state::State) holds what decides how a run goes on and nothing else. What happened on the way (which event a read
//! read from, which accesses race, what was printed) is kept by a recorder beside it, which is told of everything that is done.
//! A search that only wants states has `()` look on; the [`System`](crate::System) has an [`Observer`](crate::observer::Observer).

use crate::address::Addr;
use crate::automaton::Access;
use crate::memory::{Origin, Store};
use crate::race::Race;
use raddle_program::{Mailbox, Ordering};
use raddle_trace::ThreadId;

/// A read that is about to happen, perhaps the first half of an update.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Who.
    pub thread: ThreadId,
    /// At which instruction.
    pub pc: u32,
    /// Where.
    pub access: Access,
    /// What it finds.
    pub value: u64,
    /// Where that comes from.
    pub origin: Origin,
    /// With which ordering.
    pub order: Ordering,
    /// If it was waiting for the value: the ordering of the looks that did not find it.
    pub looks: Option<Ordering>,
    /// What it then writes in the same step.
    pub writes: Option<u64>,
    /// Who made the object, and as how many-th, if a thread did.
    pub maker: Option<(ThreadId, u32)>,
}

/// A store that is about to happen.
#[derive(Clone, Copy, Debug)]
pub struct Writing {
    /// Who.
    pub thread: ThreadId,
    /// At which instruction.
    pub pc: u32,
    /// Where and what.
    pub store: Store,
    /// With which ordering.
    pub order: Ordering,
    /// Whether it stays on its way for a while; otherwise everybody sees it at once.
    pub kept: bool,
    /// Who made the object, and as how many-th, if a thread did.
    pub maker: Option<(ThreadId, u32)>,
}

/// Who looks on. All that is told has been found to be possible; an operation of a thread goes from [`begin`](Recorder::begin) to
/// [`end`](Recorder::end), or to [`fail`](Recorder::fail) if it is wrong.
pub trait Recorder {
    /// A thread is about to do its pending operation, at this instruction, after it has made so many objects.
    fn begin(&mut self, _thread: ThreadId, _pc: u32, _made: u32) {}

    /// It reads. The answer is an access that this one races with, if races matter.
    fn read(&mut self, _reading: &Reading) -> Option<Race> {
        None
    }

    /// It stores. The answer is an access that this one races with, if races matter.
    fn write(&mut self, _writing: &Writing) -> Option<Race> {
        None
    }

    /// It waits, and looks in vain. That changes nothing; the answer is an access that the look races with, if races matter.
    fn look(&self, _thread: ThreadId, _pc: u32, _access: Access, _order: Ordering) -> Option<Race> {
        None
    }

    /// It does a fence.
    fn fence(&mut self, _thread: ThreadId, _order: Ordering) {}

    /// It starts a thread.
    fn spawn(&mut self, _parent: ThreadId, _child: ThreadId) {}

    /// It posts a message to a looper.
    fn post(&mut self, _parent: ThreadId, _message: ThreadId, _mailbox: (Addr, Mailbox)) {}

    /// A looper takes a message out of its mailbox, and begins to run it.
    fn take(&mut self, _message: ThreadId, _mailbox: Addr) {}

    /// It has waited for the end of a thread.
    fn join(&mut self, _parent: ThreadId, _child: ThreadId) {}

    /// It picks an alternative of a choice.
    fn choose(&mut self, _thread: ThreadId, _pick: u32) {}

    /// It ends the life of an object.
    fn free(&mut self, _thread: ThreadId, _addr: Addr) {}

    /// It enters or leaves an atomic block.
    fn atomic(&mut self, _thread: ThreadId, _begin: bool) {}

    /// It has done its operation.
    fn end(&mut self, _thread: ThreadId) {}

    /// Its operation races, and has not been done.
    fn raced(&mut self, _race: &Race) {}

    /// Its operation was wrong, and has not been done.
    fn fail(&mut self, _thread: ThreadId) {}

    /// A store of a thread, by its position among those on their way, arrives; or gets lost, since its object is gone. The answer is the
    /// instruction that issued it, as far as that is known.
    fn arrive(&mut self, _thread: ThreadId, _at: usize, _store: Store, _lost: bool) -> Option<u32> {
        None
    }
}

/// Nobody looks on.
impl Recorder for () {}
