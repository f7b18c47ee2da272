//! Happens-before on graphs, for race detection.
//!
//! Each event carries its clock (program order, thread start and end, synchronises-with), each write the message it
//! publishes. Both depend on program order and reads-from only, so they are filled in when the event is added and never
//! change. The rules are those of [`raddle_machine::race`], which judges every race again in replay.

use super::event::{Event, Flags, INIT, Kind, Slot};
use super::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::ThreadId;
use smallvec::SmallVec;

/// Per thread, how many of its events happened before.
pub(crate) type Clock = SmallVec<[u32; 8]>;

/// The clocks of an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    now: Clock,
    /// What a read of this write learns if it acquires.
    message: Clock,
}

fn join(clock: &mut Clock, other: &Clock) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

fn knows(clock: &Clock, event: &Event) -> bool {
    clock.get(event.thread.index()).copied().unwrap_or(0) > event.index
}

impl Graph {
    /// The clocks a new last event of its thread has.
    pub(crate) fn stamps(&self, event: &Event) -> Stamps {
        let mut now = self.last(event.thread).map(|last| self.stamps[last as usize].now.clone()).unwrap_or_default();
        if event.kind == Kind::Join
            && let Some(last) = self.last(ThreadId(event.value as u32))
        {
            join(&mut now, &self.stamps[last as usize].now);
        }
        if event.kind == Kind::Read && event.rf != INIT && event.order.acquires() {
            join(&mut now, &self.stamps[event.rf as usize].message);
        }
        let is_fence =
            matches!(event.kind, Kind::Fence | Kind::StoreFence | Kind::Note) && event.loc == super::event::NO_LOC;
        if is_fence && event.order.acquires() {
            for &slot in &self.threads[event.thread.index()].events {
                let read = self.event(slot);
                if read.kind == Kind::Read && read.rf != INIT && read.order != Ordering::NonAtomic {
                    join(&mut now, &self.stamps[read.rf as usize].message);
                }
            }
        }
        if now.len() <= event.thread.index() {
            now.resize(event.thread.index() + 1, 0);
        }
        now[event.thread.index()] = event.index + 1;
        let message = if event.kind == Kind::Write { self.message(event, &now) } else { Clock::new() };
        Stamps { now, message }
    }

    fn message(&self, write: &Event, now: &Clock) -> Clock {
        let events = &self.threads[write.thread.index()].events;
        let mut message = if write.order.releases() {
            now.clone()
        } else {
            let fence = events.iter().rev().find(|&&slot| {
                let event = self.event(slot);
                matches!(event.kind, Kind::Fence | Kind::StoreFence | Kind::Note) && event.order.releases()
            });
            fence.map(|&slot| self.stamps[slot as usize].now.clone()).unwrap_or_default()
        };
        if write.flags.contains(Flags::LOCKED) {
            let half = events.iter().rev().map(|&slot| self.event(slot)).find(|event| event.kind == Kind::Read);
            if let Some(half) = half.filter(|half| half.rf != INIT) {
                join(&mut message, &self.stamps[half.rf as usize].message);
            }
        }
        message
    }

    /// An event that races with a new access that has these clocks.
    pub(crate) fn race(&self, event: &Event, stamps: &Stamps) -> Option<Slot> {
        let accesses = self.location(event.loc);
        let races = |slot: &&Slot| {
            let other = self.event(**slot);
            other.thread != event.thread
                && (other.order == Ordering::NonAtomic || event.order == Ordering::NonAtomic)
                && !knows(&stamps.now, other)
        };
        let write = accesses.co.iter().find(races);
        let read = || accesses.reads.iter().find(races);
        write.or_else(|| if event.kind == Kind::Write { read() } else { None }).copied()
    }
}
