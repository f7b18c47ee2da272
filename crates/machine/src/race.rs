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
//! compared before it synchronises with what ends it. If nothing ends it, one of the looks that are in vain can be made a step of
//! its own, which is possible only if it races.
//!
//! Who has a pointer to an object need not know that the object has been made: the pointer may have come by a relaxed access. Then the access and the making race,
//! whatever the access is (C11 7.22.3 has the life of an object begin with its allocation). It is ordered if the thread knows of any event that its maker
//! did afterwards; so the first of those stands for it.
//!
//! This is the detector of the operational machine: one vector clock per thread, one message clock per write, the last
//! accesses per byte and thread. It looks on while a state changes, as part of the [`Observer`](crate::observer::Observer). Engines
//! compute the same relation on their graphs; replay holds them against this.

use crate::address::Addr;
use crate::automaton::Access;
use crate::code::Code;
use crate::memory::Store;
use crate::recorder::{Reading, Writing};
use raddle_program::Ordering;
use raddle_trace::{EventId, Source, ThreadId, VectorClock};
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
    /// With which ordering.
    pub order: Ordering,
    /// Its instruction.
    pub pc: u32,
}

impl Past {
    fn is_atomic(&self) -> bool {
        self.order != Ordering::NonAtomic
    }

    /// Whether it races with a later access whose thread knows of these events.
    fn races_with(&self, later: &Past, known: &VectorClock) -> bool {
        self.event.thread != later.event.thread
            && (self.writes || later.writes)
            && !(self.is_atomic() && later.is_atomic())
            && !known.contains(self.event)
    }
}

/// Two accesses that race.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// The one that was about to happen.
    pub this: Past,
    /// One before it.
    pub other: Past,
    /// The write that it reads, unless it only looks in vain.
    pub found: Option<EventId>,
    /// What it races with is that the object was made, which `other` is the first event after.
    pub made: bool,
}

/// The report of a race in one line.
pub fn race_message(code: &Code, name: &str, race: &Race) -> String {
    let (one, other) = (&race.this, &race.other);
    let side = |past: &Past| {
        let atomic = if past.is_atomic() { "atomic " } else { "" };
        let what = if past.writes { "write" } else { "read" };
        format!("{atomic}{what} by {} (line {})", code.name(past.event.thread), code.span(past.pc).line)
    };
    if race.made {
        let (maker, line) = (code.name(other.event.thread), code.span(other.pc).line);
        return format!(
            "data race on {name}: it was made by {maker} (before line {line}), and {} is not ordered with that",
            side(one)
        );
    }
    format!("data race on {name}: {} and {} are not ordered", side(other), side(one))
}

/// The detector.
#[derive(Clone, Debug, Default)]
pub struct Races {
    threads: Vec<ThreadClocks>,
    messages: FxHashMap<EventId, VectorClock>,
    past: FxHashMap<Addr, Vec<Past>>,
    /// Per event of each thread its instruction, and how many objects the thread had made before it.
    made: Vec<Vec<(u32, u32)>>,
}

impl Races {
    fn thread(&mut self, thread: ThreadId) -> &mut ThreadClocks {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadClocks::default);
        }
        &mut self.threads[thread.index()]
    }

    /// An event of a thread begins.
    pub fn tick(&mut self, event: EventId, pc: u32, made: u32) {
        if self.made.len() <= event.thread.index() {
            self.made.resize_with(event.thread.index() + 1, Vec::new);
        }
        let log = &mut self.made[event.thread.index()];
        log.truncate(event.index as usize);
        log.push((pc, made));
        self.thread(event.thread).now.set(event.thread, event.index + 1);
    }

    /// A read happens, or an update. If it waited, the looks that did not find what it waits for are compared before the message of
    /// what it found is taken; what the read itself synchronises with happens before it.
    pub fn read(&mut self, event: EventId, reading: &Reading, source: Source) -> Option<Race> {
        let &Reading { pc, access, order, looks, writes, maker, .. } = reading;
        let past = |writes, order| Past { event, writes, order, pc };
        let looked = looks.and_then(|looks| self.access(access, past(false, looks), maker));
        if looked.is_some() {
            return looked;
        }
        // What comes from the own buffer teaches nothing new.
        let found = match source {
            Source::Write(write) => self.messages.get(&write).cloned().unwrap_or_default(),
            Source::Initial | Source::Buffer(_) => VectorClock::default(),
        };
        self.observe(event.thread, order, &found);
        let race = self
            .access(access, past(writes.is_some(), order), maker)
            .map(|race| Race { found: source.write(), ..race });
        if race.is_none() && writes.is_some() {
            let mut message = self.message(event.thread, order);
            message.join(&found);
            self.messages.insert(event, message);
        }
        race
    }

    /// A thread that waits looks in vain.
    pub fn look(&self, event: EventId, pc: u32, access: Access, order: Ordering) -> Option<Race> {
        let this = Past { event, writes: false, order, pc };
        let nothing = VectorClock::default();
        let now = self.threads.get(event.thread.index()).map_or(&nothing, |clocks| &clocks.now);
        let bytes = (0..u32::from(access.size)).filter_map(|byte| self.past.get(&access.addr.plus(byte)));
        let mut others = bytes.flatten().filter(|other| other.races_with(&this, now));
        others.next().map(|&other| Race { this, other, found: None, made: false })
    }

    /// A store happens.
    pub fn write(&mut self, event: EventId, writing: &Writing) -> Option<Race> {
        let &Writing { thread, pc, store: Store { access, .. }, order, maker, .. } = writing;
        let past = Past { event, writes: true, order, pc };
        let race = self.access(access, past, maker);
        if race.is_none() {
            let message = self.message(thread, order);
            self.messages.insert(event, message);
        }
        race
    }

    /// Compares an access with all before it and remembers it.
    fn access(&mut self, access: Access, this: Past, maker: Option<(ThreadId, u32)>) -> Option<Race> {
        let now = std::mem::take(&mut self.thread(this.event.thread).now);
        let mut race = None;
        for byte in 0..u32::from(access.size) {
            let list = self.past.entry(access.addr.plus(byte)).or_default();
            race = race.or_else(|| list.iter().copied().find(|other| other.races_with(&this, &now)));
            let same = |other: &Past| {
                other.event.thread == this.event.thread
                    && other.writes == this.writes
                    && other.is_atomic() == this.is_atomic()
            };
            match list.iter_mut().find(|other| same(other)) {
                Some(other) => *other = this,
                None => list.push(this),
            }
        }
        let race = race.map(|other| Race { this, other, found: None, made: false });
        let race = race.or_else(|| self.unknown(this, &now, maker?));
        self.thread(this.event.thread).now = now;
        race
    }

    /// Whether the thread does not know that the object was made.
    fn unknown(&self, this: Past, now: &VectorClock, (maker, position): (ThreadId, u32)) -> Option<Race> {
        let log = self.made.get(maker.index()).filter(|_| maker != this.event.thread)?;
        let first = log.partition_point(|&(_, made)| made <= position);
        let event = EventId::new(maker, first as u32);
        let other = Past { event, writes: true, order: Ordering::NonAtomic, pc: log.get(first)?.0 };
        (!now.contains(event)).then_some(Race { this, other, found: None, made: true })
    }

    /// What a write with this ordering publishes.
    fn message(&mut self, thread: ThreadId, order: Ordering) -> VectorClock {
        let clocks = self.thread(thread);
        if order.releases() { clocks.now.clone() } else { clocks.fence.clone() }
    }

    /// A read takes this message.
    fn observe(&mut self, thread: ThreadId, order: Ordering, message: &VectorClock) {
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
