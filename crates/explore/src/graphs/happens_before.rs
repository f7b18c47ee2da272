//! Happens-before on graphs, for race detection.
//!
//! Each event carries its clock (program order, thread start and end, synchronises-with), each write the message it
//! publishes. Both depend on program order and reads-from only, so they are filled in when the event is added and never
//! change. The rules are those of [`raddle_machine::race`], which judges every race again in replay.

use super::event::{Event, Flags, INIT, Kind, Slot};
use super::graph::Graph;
use super::models::Model;
use raddle_program::Ordering;
use raddle_trace::ThreadId;

/// The clocks of all events: per slot one number per thread, how many of its events happened before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    now: Vec<u32>,
    /// What a read of this write learns if it acquires. Of an event that is no write it is nothing in particular.
    message: Vec<u32>,
    /// Threads per row.
    stride: usize,
    /// The clock and the message of the event that is about to be added.
    next_now: Vec<u32>,
    /// Empty if it is no write.
    next_message: Vec<u32>,
}

impl Clocks {
    fn row(&self, slot: Slot) -> &[u32] {
        &self.now[slot as usize * self.stride..][..self.stride]
    }

    fn message_row(&self, slot: Slot) -> &[u32] {
        &self.message[slot as usize * self.stride..][..self.stride]
    }

    /// Makes room for so many threads.
    fn widen(&mut self, threads: usize) {
        if threads <= self.stride {
            return;
        }
        let stride = threads.next_power_of_two().max(4);
        for rows in [&mut self.now, &mut self.message] {
            let old = std::mem::take(rows);
            rows.resize(old.len().checked_div(self.stride).unwrap_or(0) * stride, 0);
            if self.stride > 0 {
                for (wide, narrow) in rows.chunks_exact_mut(stride).zip(old.chunks_exact(self.stride)) {
                    wide[..self.stride].copy_from_slice(narrow);
                }
            }
        }
        self.stride = stride;
    }

    /// Stores the clocks that were prepared last.
    pub(crate) fn store(&mut self, slot: Slot) {
        let end = (slot as usize + 1) * self.stride;
        if self.now.len() < end {
            self.now.resize(end, 0);
            self.message.resize(end, 0);
        }
        let start = end - self.stride;
        self.now[start..end].copy_from_slice(&self.next_now);
        if !self.next_message.is_empty() {
            self.message[start..end].copy_from_slice(&self.next_message);
        }
    }

    /// Makes this a copy of `other`, reusing the space.
    pub(crate) fn copy_from(&mut self, other: &Clocks) {
        self.now.clear();
        self.now.extend_from_slice(&other.now);
        self.message.clear();
        self.message.extend_from_slice(&other.message);
        self.stride = other.stride;
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

fn is_fence(event: &Event) -> bool {
    matches!(event.kind, Kind::Fence | Kind::StoreFence | Kind::Note) || event.flags.contains(Flags::FENCE)
}

impl<M: Model> Graph<M> {
    /// Computes the clocks of a new last event of its thread, for [`Graph::race`] and [`Clocks::store`].
    pub(crate) fn prepare_clocks(&mut self, event: &Event) {
        let mut clocks = std::mem::take(&mut self.clocks);
        clocks.widen(self.threads.len());
        let mut now = std::mem::take(&mut clocks.next_now);
        now.clear();
        match self.last(event.thread) {
            Some(last) => now.extend_from_slice(clocks.row(last)),
            None => now.resize(clocks.stride, 0),
        }
        if event.kind == Kind::Join
            && let Some(last) = self.last(ThreadId(event.value as u32))
        {
            join(&mut now, clocks.row(last));
        }
        if event.kind == Kind::Read && event.rf != INIT && event.order.acquires() {
            join(&mut now, clocks.message_row(event.rf));
        }
        if event.kind == Kind::Arrive
            && let Some(&made) = self.location(event.loc).co.last()
        {
            join(&mut now, clocks.message_row(made));
        }
        if !self.arrivals.is_empty() {
            self.join_meetings(event, &clocks, &mut now);
        }
        let events = &self.threads[event.thread.index()].events;
        if is_fence(event) && event.order.acquires() {
            // What was read before the last such fence is known since then.
            let since = events.iter().rev().map(|&slot| self.event(slot));
            for read in since.take_while(|event| !(is_fence(event) && event.order.acquires())) {
                if read.kind == Kind::Read && read.rf != INIT && read.order != Ordering::NonAtomic {
                    join(&mut now, clocks.message_row(read.rf));
                }
            }
        }
        now[event.thread.index()] = event.index + 1;
        let mut message = std::mem::take(&mut clocks.next_message);
        message.clear();
        if event.kind == Kind::Write {
            // By C11 a fence tells another one nothing.
            if event.order.releases() && !event.flags.contains(Flags::FENCE) {
                message.extend_from_slice(&now);
            } else {
                message.resize(clocks.stride, 0);
            }
            if !event.order.releases() && event.order != Ordering::NonAtomic {
                let fences = events.iter().rev().copied();
                let mut fences = fences.filter(|&slot| is_fence(self.event(slot)) && self.event(slot).order.releases());
                if let Some(fence) = fences.next() {
                    join(&mut message, clocks.row(fence));
                }
            }
            if event.flags.contains(Flags::LOCKED) {
                let half = events.iter().rev().map(|&slot| self.event(slot)).find(|half| half.kind == Kind::Read);
                if let Some(half) = half.filter(|half| half.rf != INIT) {
                    join(&mut message, clocks.message_row(half.rf));
                }
            }
        }
        clocks.next_now = now;
        clocks.next_message = message;
        self.clocks = clocks;
    }

    /// Whether one event happens before another.
    pub(crate) fn happens_before(&self, first: Slot, second: Slot) -> bool {
        let event = self.event(first);
        first != second && self.clocks.row(second)[event.thread.index()] > event.index
    }

    /// Per thread, how many of its events happen before an event, or are it.
    pub(crate) fn clock(&self, slot: Slot) -> &[u32] {
        self.clocks.row(slot)
    }

    /// Whether a read, which need not be in the graph, learns of an event from its source.
    pub(crate) fn tells(&self, read: &Event, slot: Slot) -> bool {
        let event = self.event(slot);
        let acquires = read.rf != INIT && read.order.acquires();
        acquires && self.clocks.message_row(read.rf)[event.thread.index()] > event.index
    }

    /// Whoever leaves a barrier knows what those knew who have arrived at it, and so does whoever ends it: to the machine these are reads and updates
    /// of one location.
    fn join_meetings(&self, event: &Event, clocks: &Clocks, now: &mut [u32]) {
        if event.kind == Kind::Depart {
            self.met(event).into_iter().for_each(|arrival| join(now, clocks.row(arrival)));
        }
        if event.kind == Kind::Read && event.order.acquires() {
            let arrivals = self.arrivals.iter().filter(|&&arrival| self.event(arrival).loc == event.loc);
            arrivals.for_each(|&arrival| join(now, clocks.row(arrival)));
        }
    }

    /// A write that races with the looks of a read that waits, which have learnt nothing from what they found.
    pub(crate) fn race_of_look(&self, read: &Event) -> Option<Slot> {
        let log = &self.threads[read.thread.index()];
        let before = log.events[..read.index as usize].last().copied().or(log.spawn);
        let known = |thread: ThreadId| before.map_or(0, |slot| self.clocks.row(slot)[thread.index()]);
        if !self.any_last(read, |slot| known(self.event(slot).thread) <= self.event(slot).index) {
            return None;
        }
        self.location(read.loc).co.iter().copied().find(|&slot| {
            let write = self.event(slot);
            write.thread != read.thread && write.order == Ordering::NonAtomic && known(write.thread) <= write.index
        })
    }

    /// Whether the access whose clocks have just been prepared happens after this event.
    pub(crate) fn next_knows(&self, thread: ThreadId, index: u32) -> bool {
        self.clocks.next_now.get(thread.index()).is_some_and(|&count| count > index)
    }

    /// An event that races with a new access whose clocks have just been prepared.
    pub(crate) fn race(&self, event: &Event) -> Option<Slot> {
        self.race_among(event, |_| true)
    }

    /// The same in what is left of the graph without this event and all that depends on it.
    pub(crate) fn race_without(&self, event: &Event, gone: Slot) -> Option<Slot> {
        if self.prefix_of_next(event.thread).contains(gone as usize) {
            return None;
        }
        self.race_among(event, |slot| slot != gone && !self.prefix.before(gone as usize, slot as usize))
    }

    fn race_among(&self, event: &Event, is_there: impl Fn(Slot) -> bool) -> Option<Slot> {
        // Mostly everything is known that others have done last, and so is what they have done before.
        if !self.any_last(event, |slot| !self.next_knows(self.event(slot).thread, self.event(slot).index)) {
            return None;
        }
        let accesses = self.location(event.loc);
        let races = |slot: &&Slot| {
            let other = self.event(**slot);
            // A read that waits has not happened yet.
            other.thread != event.thread
                && is_there(**slot)
                && !other.flags.contains(Flags::BLOCKED)
                && (other.order == Ordering::NonAtomic || event.order == Ordering::NonAtomic)
                && self.clocks.next_now[other.thread.index()] <= other.index
                && !(M::NAMED && self.is_half(**slot))
        };
        let writes = |event: &Event| matches!(event.kind, Kind::Write | Kind::Blind);
        let write = accesses.co.iter().find(races);
        let other = || {
            let all = writes(event);
            // Blind updates are among the reads, and atomic.
            let some = all || event.order == Ordering::NonAtomic;
            let mut others = accesses.reads.iter().filter(|_| some);
            others.find(|slot| (all || writes(self.event(**slot))) && races(slot))
        };
        write.or_else(other).copied()
    }

    /// Whether the event is the first half of an update that ended there, in a race that has been reported: its source may have been taken since.
    fn is_half(&self, slot: Slot) -> bool {
        let event = self.event(slot);
        event.kind == Kind::Read && event.flags.contains(Flags::CONSUMES) && self.last(event.thread) == Some(slot)
    }
}
