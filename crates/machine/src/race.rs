//! Data races, by happens-before with C11 synchronisation.
//!
//! Two accesses to overlapping memory race if they are of different threads, at least one writes, at least one is not
//! atomic, and neither happens before the other. Happens-before is program order, thread start and end, and
//! synchronises-with: from a release write (or the release fence before a weaker one), along the read-modify-writes that
//! continue it, to an acquire read (or the acquire fence after a weaker one). It depends on program order and reads-from
//! only, so every run of a class decides the same.
//!
//! A wait looks at memory again and again before it finds what it waits for. Those looks are no events, but they can
//! race: what is not ordered with the moment the thread begins to wait races with some of them. So a wait is
//! compared before it synchronises with what ends it.
//!
//! This is the detector of the operational machine: one vector clock per thread, one message clock per write, the last
//! accesses per byte and thread. Engines compute the same relation on their graphs; replay holds them against this.

use crate::address::Addr;
use crate::thread::Access;
use raddle_program::Ordering;
use raddle_trace::{EventId, ThreadId, VectorClock};
use rustc_hash::FxHashMap;

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    now: VectorClock,
    /// What weaker writes publish since the last release fence.
    fence: VectorClock,
    /// What the next acquire fence learns.
    pending: VectorClock,
}

/// An access that later ones are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// Which event.
    pub event: EventId,
    /// Whether it wrote.
    pub writes: bool,
    /// Whether it was atomic.
    pub atomic: bool,
    /// Its instruction.
    pub pc: u32,
}

/// The detector.
#[derive(Clone, Debug, Default)]
pub struct Races {
    threads: Vec<ThreadClocks>,
    messages: FxHashMap<Addr, VectorClock>,
    past: FxHashMap<Addr, Vec<Past>>,
}

impl Races {
    fn thread(&mut self, thread: ThreadId) -> &mut ThreadClocks {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadClocks::default);
        }
        &mut self.threads[thread.index()]
    }

    /// An event of a thread begins.
    pub fn tick(&mut self, event: EventId) {
        self.thread(event.thread).now.set(event.thread, event.index + 1);
    }

    /// Compares an access with all before it and remembers it. Returns one that races with it.
    pub fn access(&mut self, access: Access, past: Past) -> Option<Past> {
        let now = std::mem::take(&mut self.thread(past.event.thread).now);
        let mut race = None;
        for byte in 0..u32::from(access.size) {
            let list = self.past.entry(access.addr.plus(byte)).or_default();
            race = race.or_else(|| {
                list.iter().copied().find(|other| {
                    other.event.thread != past.event.thread
                        && (other.writes || past.writes)
                        && !(other.atomic && past.atomic)
                        && !now.contains(other.event)
                })
            });
            let same = |other: &Past| {
                other.event.thread == past.event.thread && other.writes == past.writes && other.atomic == past.atomic
            };
            match list.iter_mut().find(|other| same(other)) {
                Some(other) => *other = past,
                None => list.push(past),
            }
        }
        self.thread(past.event.thread).now = now;
        race
    }

    /// What a write with this ordering publishes; `continued` is the message of the write an update read from.
    pub fn publish(&mut self, thread: ThreadId, order: Ordering, continued: Option<VectorClock>) -> VectorClock {
        let clocks = self.thread(thread);
        let mut message = if order.releases() { clocks.now.clone() } else { clocks.fence.clone() };
        if let Some(earlier) = continued {
            message.join(&earlier);
        }
        message
    }

    /// The message of the write that stands in memory at this address.
    pub fn message(&self, addr: Addr) -> VectorClock {
        self.messages.get(&addr).cloned().unwrap_or_default()
    }

    /// A write reaches memory.
    pub fn deliver(&mut self, addr: Addr, message: VectorClock) {
        self.messages.insert(addr, message);
    }

    /// A read takes this message.
    pub fn observe(&mut self, thread: ThreadId, order: Ordering, message: &VectorClock) {
        let clocks = self.thread(thread);
        if order.acquires() {
            clocks.now.join(message);
        } else if order != Ordering::NonAtomic {
            clocks.pending.join(message);
        }
    }

    /// A fence.
    pub fn fence(&mut self, thread: ThreadId, order: Ordering) {
        let clocks = self.thread(thread);
        if order.acquires() {
            let pending = std::mem::take(&mut clocks.pending);
            clocks.now.join(&pending);
        }
        if order.releases() {
            clocks.fence = clocks.now.clone();
        }
    }

    /// One thread starts another.
    pub fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        let now = self.thread(parent).now.clone();
        self.thread(child).now.join(&now);
    }

    /// One thread has waited for another's end.
    pub fn join(&mut self, parent: ThreadId, child: ThreadId) {
        let now = self.thread(child).now.clone();
        self.thread(parent).now.join(&now);
    }
}
