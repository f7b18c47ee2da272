//! What happens after the load of an attack: which accesses, by which threads; and whether one of them meets the first delayed store.

use crate::machine::{Concrete, own};
use crate::thread::Shared;
use raddle_machine::{Access, Addr, Automaton, Blocked, Code, Reaction, Status, Visible};
use raddle_trace::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// A store and a load of one function, by their instructions: the first is delayed past the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attack {
    /// The store.
    pub store: u32,
    /// The load.
    pub load: u32,
}

/// How far the attack has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Monitor {
    /// Who delays, and the instruction and place of the first delayed store.
    pub(crate) attacker: Option<(ThreadId, u32, Place)>,
    /// The load behind which the attacker stops.
    pub(crate) load: Option<u32>,
    /// What has been accessed after that load, and whether it was written.
    pub(crate) accesses: BTreeMap<Place, bool>,
    /// Who has made an access after that load.
    pub(crate) helpers: BTreeSet<ThreadId>,
    /// What has been accessed in the atomic block that somebody is in: it is one event, which is there when the block is left.
    pub(crate) block: BTreeMap<Place, bool>,
}

/// A place in memory, by start and size.
pub(crate) type Place = (u64, u8);

pub(crate) fn place(access: Access) -> Place {
    (access.addr.0, access.size)
}

/// Whether what led the thread to where it is now is no event: a turn of a loop had no effect, or an assumption has failed. A run without is the same run.
pub(crate) fn is_no_event(thread: &Shared) -> bool {
    matches!(thread.status(), Status::Blocked(Blocked::Spin | Blocked::Assume))
}

fn overlap(one: Place, other: Place) -> bool {
    let access = |(addr, size)| Access { addr: Addr(addr), size };
    access(one).overlaps(access(other))
}

impl Monitor {
    pub(crate) fn attacker(&self) -> Option<ThreadId> {
        self.attacker.map(|(id, ..)| id)
    }

    /// Whether a thread waits for the end of the attacker. What that delays arrives when the attack is over, and nobody sees it end before.
    pub(crate) fn lets_wait(&self, thread: &Shared) -> bool {
        matches!(*thread.status(), Status::Ready(Visible::Join { thread }) if Some(thread) == self.attacker())
    }

    /// The attack that has succeeded.
    pub(crate) fn success(&self) -> Option<Attack> {
        let ((_, store, first), load) = (self.attacker?, self.load?);
        self.accesses.keys().any(|&place| overlap(place, first)).then_some(Attack { store, load })
    }

    /// A thread has accessed this place.
    pub(crate) fn access(&mut self, id: ThreadId, at: Place, writes: bool) {
        if self.load.is_none() {
            return;
        }
        if self.meets(at, writes) {
            self.helpers.insert(id);
        }
        if self.helpers.contains(&id) {
            *self.accesses.entry(at).or_default() |= writes;
        }
    }

    /// Whether an access comes after one that is known, by what both access.
    fn meets(&self, at: Place, writes: bool) -> bool {
        self.accesses.iter().any(|(&place, &written)| (writes || written) && overlap(place, at))
    }

    /// A thread has left its atomic block: what it accessed there is accessed at once.
    fn leave_block(&mut self, id: ThreadId) {
        let block = std::mem::take(&mut self.block);
        if block.iter().any(|(&at, &writes)| self.meets(at, writes)) {
            self.helpers.insert(id);
        }
        if self.helpers.contains(&id) {
            for (at, writes) in block {
                *self.accesses.entry(at).or_default() |= writes;
            }
        }
    }

    /// A thread that does not attack is about to do this.
    pub(crate) fn watch(&mut self, code: &Code, state: &Concrete, id: ThreadId, visible: Visible) {
        let accessed = match visible {
            Visible::Load { access, .. } => Some((access, false)),
            Visible::Store { access, .. } => Some((access, true)),
            Visible::Update { access, .. } => {
                let found = state.look(code, id, access);
                let reaction = found.map(|found| own(state, id).reaction(code, found.value));
                Some((access, matches!(reaction, Some(Reaction::Write(_) | Reaction::Pick(_)))))
            }
            _ => None,
        };
        if let Some((access, writes)) = accessed {
            if state.atomic() != Some(id) {
                self.access(id, place(access), writes);
            } else if self.load.is_some() {
                *self.block.entry(place(access)).or_default() |= writes;
            }
        }
        match visible {
            Visible::AtomicEnd => self.leave_block(id),
            Visible::Spawn { .. } => {
                let child = own(state, id).next_child(code);
                if self.helpers.contains(&id) {
                    self.helpers.extend(child);
                }
            }
            Visible::Join { thread } if self.helpers.contains(&thread) => {
                self.helpers.insert(id);
            }
            _ => {}
        }
    }
}
