//! The accesses of one thread to one location, from the last one back.
//!
//! What an event knows of a thread is a beginning of that thread's events. So who asks which accesses of a location are unknown to it, or which is the
//! last one known, looks from the last access of each thread back to the first known one, and no further: what an event costs does not grow with what all have
//! known for long. Each access has the one before it with it, and each location the last of each thread that has accessed it. The writes of a
//! location in coherence order, and its reads, stand in [`Accesses`], too, for those who need them all.

use super::event::{Event, INIT, Kind, LocId, Slot};
use super::graph::{Accesses, Graph};
use super::models::Model;
use raddle_trace::{BitSet, ThreadId};

/// The last accesses of a thread to a location; [`INIT`] stands for none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) thread: ThreadId,
    pub(super) write: Slot,
    pub(super) read: Slot,
}

impl Last {
    /// Where the last access of the same kind as the event stands; `None` if the event is no access.
    fn of_kind(&mut self, kind: Kind) -> Option<&mut Slot> {
        match kind {
            Kind::Write => Some(&mut self.write),
            Kind::Read | Kind::Blind => Some(&mut self.read),
            _ => None,
        }
    }
}

impl Accesses {
    /// Makes an access the last one of its thread. Returns the one before it.
    pub(super) fn begin(&mut self, event: &Event, slot: Slot) -> Slot {
        let later = self.lasts.iter().position(|last| last.thread >= event.thread);
        let at = later.unwrap_or(self.lasts.len());
        if later.is_none_or(|at| self.lasts[at].thread != event.thread) {
            self.lasts.insert(at, Last { thread: event.thread, write: INIT, read: INIT });
        }
        self.lasts[at].of_kind(event.kind).map_or(INIT, |last| std::mem::replace(last, slot))
    }

    /// Takes back that an access is the last one of its thread.
    pub(super) fn end(&mut self, event: &Event) {
        if let Some(last) = self.lasts.iter_mut().find(|last| last.thread == event.thread)
            && let Some(last) = last.of_kind(event.kind)
        {
            *last = event.previous;
        }
    }
}

impl<M: Model> Graph<M> {
    /// An access and those of its kind before it that its thread made to its location, from the last to the first.
    pub(super) fn chain(&self, last: Slot) -> impl Iterator<Item = Slot> + '_ {
        let some = |slot: Slot| (slot != INIT).then_some(slot);
        std::iter::successors(some(last), move |&slot| some(self.event(slot).previous))
    }

    /// The last access of a chain that is among these events; [`INIT`] if there is none.
    pub(super) fn last_among(&self, mut slot: Slot, events: &BitSet) -> Slot {
        while slot != INIT && !events.contains(slot as usize) {
            slot = self.event(slot).previous;
        }
        slot
    }

    /// The writes of a location, those of each thread from the last to the first, as far as they are among the events.
    pub(super) fn chains_of_writes<'a>(
        &'a self,
        loc: LocId,
        events: &'a BitSet,
    ) -> impl Iterator<Item = impl Iterator<Item = Slot> + 'a> + 'a {
        self.location(loc).lasts.iter().map(move |last| self.chain(self.last_among(last.write, events)))
    }

    /// Whether some access of another thread meets a condition that those after it meet, too.
    pub(super) fn any_last(&self, event: &Event, holds: impl Fn(Slot) -> bool) -> bool {
        let others = self.location(event.loc).lasts.iter().filter(|last| last.thread != event.thread);
        others.flat_map(|last| [last.write, last.read]).any(|slot| slot != INIT && holds(slot))
    }
}
