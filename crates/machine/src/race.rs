//! Data races, by happens-before with C11 synchronisation.
//!
//! Two accesses to overlapping memory race if they are of different threads, at least one writes, at least one is not
//! atomic, and neither happens before the other. Happens-before is program order, thread start and end, and
//! synchronises-with: from a release write (or the release fence before a weaker one), along the read-modify-writes that
//! continue it, to an acquire read (or the acquire fence after a weaker one). It depends on program order and reads-from
//! only, so every run of a class decides the same.
//!
//! A message is compared with what other loopers and threads do, never with another message of its looper. It knows what its post knows. That a looper
//! has run another message before it says nothing, for it might have been the other way round, unless it must be so: where an event of the
//! other one happens before something in it, or, in a queue, before it was posted the other one had been. Then all of the other one happens before. (Android's
//! race detectors close happens-before in the same way: Maiya, Kanade, Majumdar 2014.)
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
use raddle_program::{Mailbox, Ordering};
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
    /// Who runs it: two messages of a looper are run by one thread.
    thread: Runner,
}

/// What runs one event after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Thread(ThreadId),
    Looper(Addr),
}

impl Past {
    fn is_atomic(&self) -> bool {
        self.order != Ordering::NonAtomic
    }

    /// Whether it races with a later access whose thread knows of these events.
    fn races_with(&self, later: &Past, known: &VectorClock) -> bool {
        self.thread != later.thread
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
    /// The messages that were posted, by their threads.
    posted: FxHashMap<ThreadId, Message>,
    /// Those that each looper has taken.
    taken: FxHashMap<Addr, Vec<ThreadId>>,
    /// Per event of each thread its instruction, and how many objects the thread had made before it.
    made: Vec<Vec<(u32, u32)>>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// The event that posted it.
    post: EventId,
    looper: Addr,
    mailbox: Mailbox,
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
        let runner = self.runner(event.thread);
        let past = |writes, order| Past { event, writes, order, pc, thread: runner };
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
        let this = Past { event, writes: false, order, pc, thread: self.runner(event.thread) };
        let nothing = VectorClock::default();
        let now = self.threads.get(event.thread.index()).map_or(&nothing, |clocks| &clocks.now);
        let bytes = (0..u32::from(access.size)).filter_map(|byte| self.past.get(&access.addr.plus(byte)));
        let mut others = bytes.flatten().filter(|other| other.races_with(&this, now));
        others.next().map(|&other| Race { this, other, found: None, made: false })
    }

    /// A store happens.
    pub fn write(&mut self, event: EventId, writing: &Writing) -> Option<Race> {
        let &Writing { thread, pc, store: Store { access, .. }, order, maker, .. } = writing;
        let past = Past { event, writes: true, order, pc, thread: self.runner(event.thread) };
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
        let thread = self.runner(maker);
        let log = self.made.get(maker.index()).filter(|_| thread != this.thread)?;
        let first = log.partition_point(|&(_, made)| made <= position);
        let event = EventId::new(maker, first as u32);
        let other = Past { event, writes: true, order: Ordering::NonAtomic, pc: log.get(first)?.0, thread };
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
            self.close(thread);
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
            self.close(thread);
        }
        let clocks = self.thread(thread);
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
        self.close(parent);
    }

    /// A thread posts a message.
    pub fn post(&mut self, post: EventId, message: ThreadId, looper: Addr, mailbox: Mailbox) {
        self.spawn(post.thread, message);
        self.posted.insert(message, Message { post, looper, mailbox });
    }

    /// A looper takes a message.
    pub fn take(&mut self, message: ThreadId) {
        let Some(&Message { looper, mailbox, .. }) = self.posted.get(&message) else { return };
        let known = self.thread(message).now.clone();
        let earlier: Vec<ThreadId> = self.taken.get(&looper).cloned().unwrap_or_default();
        for other in earlier.into_iter().filter(|_| mailbox == Mailbox::Queue) {
            if known.contains(self.posted[&other].post) {
                let end = self.thread(other).now.clone();
                self.thread(message).now.join(&end);
            }
        }
        self.close(message);
        self.taken.entry(looper).or_default().push(message);
    }

    /// A message that knows of an event of another one of its looper knows all of that one, which has ended.
    fn close(&mut self, message: ThreadId) {
        let Some(&Message { looper, .. }) = self.posted.get(&message) else { return };
        let others: Vec<ThreadId> = self.taken.get(&looper).cloned().unwrap_or_default();
        loop {
            let before = self.thread(message).now.clone();
            for &other in others.iter().filter(|&&other| other != message) {
                // Its first event is that it was taken.
                if before.contains(EventId::new(other, 0)) {
                    let end = self.thread(other).now.clone();
                    self.thread(message).now.join(&end);
                }
            }
            if self.thread(message).now == before {
                return;
            }
        }
    }

    fn runner(&self, thread: ThreadId) -> Runner {
        self.posted.get(&thread).map_or(Runner::Thread(thread), |message| Runner::Looper(message.looper))
    }
}
