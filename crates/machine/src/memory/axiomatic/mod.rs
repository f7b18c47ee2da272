//! Memories that are defined by axioms: what an execution as a whole may look like.
//!
//! Here memory is everything that was done: the events of each thread, for each read the write it read from, for each
//! location the order of its writes. A step names the source of its read and the place of its write, and is possible if the execution with it
//! satisfies the axioms of the model. Every axiom is evaluated from its definition ([`relations`]), on all events that say something about it ([`condense`]): slow, and
//! obviously right. Nothing is shared with the engines, which have clocks and floors for the same questions.
//!
//! Every prefix of an execution, in an order that respects program order and reads-from, satisfies the axioms if the execution does. So a
//! schedule that shows an execution can be followed from the start, and its axioms can be evaluated once, at its end.
//!
//! What the first thread does as long as it is alone and has no choice comes before all else: there memory is bytes, and what they are in the end is initial to all that
//! follows. So accesses of different sizes do no harm there.
//!
//! | file in `models` | model |
//! |---|---|
//! | `wra`, `ra`, `sra` | weak, usual and strong release-acquire (Lahav, Giannarakis, Vafeiadis 2016; Lahav, Boker 2022) |
//! | `rc11` | repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017), with the release sequences of C++20 |

mod condense;
mod models;
mod relations;

use self::relations::Relations;
use super::{Found, Memory, Origin, Store};
use crate::address::Addr;
use crate::automaton::Access;
use crate::bytes::{ByteMemory, Written};
use raddle_program::{Ordering, partial};
use raddle_trace::{EventId, Model, ThreadId};
use std::collections::BTreeMap;

/// An axiom that an execution breaks, in one line.
type Broken = &'static str;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Reads from this write, or the initial one.
    Read {
        /// Where.
        access: Access,
        /// From which write.
        from: Option<EventId>,
        /// With which ordering.
        order: Ordering,
    },
    /// Writes.
    Write {
        /// Where and what.
        store: Store,
        /// With which ordering.
        order: Ordering,
        /// At which position among the writes of the location.
        at: usize,
    },
    /// Reads and writes in one step, right behind what it has read from.
    Update {
        /// Where, and what is there then.
        store: Store,
        /// From which write it reads.
        from: Option<EventId>,
        /// With which ordering.
        order: Ordering,
    },
    /// Does a fence.
    Fence(Ordering),
    /// Starts a thread.
    Spawn(ThreadId),
    /// Has waited for the end of a thread.
    Join(ThreadId),
    /// Something that memory does not see.
    Other,
}

/// What an event is to memory. An update is two of them, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Read { from: Option<usize> },
    Write { value: u64 },
    Fence,
    Other,
}

/// A location: where it starts, and how many bytes it has.
type Location = (Addr, u8);

/// Where fences are in the model in which they are updates of a location that nobody else knows.
const HIDDEN: Location = (Addr(0), 0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Done {
    id: EventId,
    kind: Kind,
    location: Option<Location>,
    order: Ordering,
    /// Whether it is the second half of an update, whose first half is the event before it.
    half: bool,
}

/// The events of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Line {
    /// How many operations it has done.
    operations: u32,
    events: Vec<usize>,
    /// What comes right before its next event in other threads: its start, and ends of threads that it has waited for.
    behind: Vec<usize>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Axiomatic {
    model: Model,
    /// What objects hold before anybody writes.
    initial: ByteMemory,
    events: Vec<Done>,
    threads: BTreeMap<ThreadId, Line>,
    /// Program order between neighbours, with starts and ends of threads.
    neighbours: Vec<(usize, usize)>,
    /// The writes of each location, in their order.
    order: BTreeMap<Location, Vec<usize>>,
    /// The first thread is alone and has had no choice.
    opening: bool,
    /// What was written then, by its first byte.
    opened: BTreeMap<Addr, Vec<EventId>>,
}

impl Axiomatic {
    /// A memory in which nothing was done yet.
    pub fn new(model: Model, initial: ByteMemory) -> Self {
        let (threads, order) = (BTreeMap::new(), BTreeMap::new());
        let opened = BTreeMap::new();
        Axiomatic { model, initial, events: Vec::new(), threads, neighbours: Vec::new(), order, opening: true, opened }
    }

    fn writes(&self, location: Location) -> &[usize] {
        self.order.get(&location).map_or(&[], Vec::as_slice)
    }

    /// The write half of an event.
    fn written_by(&self, location: Location, event: EventId) -> Option<usize> {
        self.writes(location).iter().copied().find(|&write| self.events[write].id == event)
    }

    fn push(&mut self, done: Done) -> usize {
        let number = self.events.len();
        self.events.push(done);
        let line = self.threads.entry(done.id.thread).or_default();
        let before = line.events.last().copied().into_iter().chain(std::mem::take(&mut line.behind));
        self.neighbours.extend(before.map(|other| (other, number)));
        line.events.push(number);
        number
    }

    fn place(&mut self, location: Location, write: usize, at: usize) {
        self.order.entry(location).or_default().insert(at, write);
    }

    /// Reads and writes, right behind what is read.
    fn update(&mut self, id: EventId, location: Location, from: Option<usize>, value: u64, order: Ordering) {
        let done = Done { id, kind: Kind::Read { from }, location: Some(location), order, half: false };
        self.push(done);
        let write = self.push(Done { kind: Kind::Write { value }, half: true, ..done });
        let source = from.and_then(|from| self.writes(location).iter().position(|&write| write == from));
        self.place(location, write, source.map_or(0, |at| at + 1));
    }

    /// The first axiom that is broken.
    fn broken(&self) -> Option<Broken> {
        let Some(short) = self.condensed(|_| false) else { return self.evaluated() };
        let broken = short.evaluated();
        debug_assert!(self.events.len() > 40 || broken.is_some() == self.evaluated().is_some(), "{self:?}");
        broken
    }

    fn evaluated(&self) -> Option<Broken> {
        models::first_broken(self.model)(&Relations::new(self))
    }
}

impl Memory for Axiomatic {
    fn bytes(&self) -> &ByteMemory {
        &self.initial
    }

    fn bytes_mut(&mut self) -> &mut ByteMemory {
        &mut self.initial
    }

    fn put(&mut self, Store { access, value }: Store) {
        // Later, what is written is part of what was done.
        if self.opening {
            self.initial.write(access, value).expect("the object was given contents before");
        }
    }

    fn is_named(&self) -> bool {
        !self.opening
    }

    fn end_opening(&mut self) {
        self.opening = false;
    }

    fn orders(&self) -> Vec<(Addr, Vec<EventId>)> {
        let ordered = self.order.iter().filter(|(location, _)| self.model != Model::Wra || **location == HIDDEN);
        let mut orders: BTreeMap<Addr, Vec<EventId>> =
            if self.model == Model::Wra { BTreeMap::new() } else { self.opened.clone() };
        for ((addr, _), writes) in ordered {
            orders.entry(*addr).or_default().extend(writes.iter().map(|&write| self.events[write].id));
        }
        orders.into_iter().collect()
    }

    fn last_is_seen(&self) -> bool {
        self.model != Model::Wra
    }

    fn sources(&self, access: Access) -> Vec<Option<EventId>> {
        let writes = self.writes((access.addr, access.size)).iter().map(|&write| Some(self.events[write].id));
        [None].into_iter().chain(writes).collect()
    }

    fn places(&self, access: Access) -> usize {
        // Where writes have no order there is one place.
        if self.model == Model::Wra { 1 } else { self.writes((access.addr, access.size)).len() + 1 }
    }

    fn find(&self, _: ThreadId, access: Access, from: super::From, fresh: (u64, Written)) -> Found {
        let location = (access.addr, access.size);
        let write = match from {
            super::From::Last => self.writes(location).last().copied(),
            super::From::Initial => None,
            super::From::Write(event) => self.written_by(location, event),
        };
        match write.map(|write| &self.events[write]) {
            Some(&Done { id, kind: Kind::Write { value }, .. }) => {
                let (value, missing) = partial::split(value);
                Found { value, written: Written::of(!missing, access.size), origin: Origin::Event(Some(id)) }
            }
            _ => {
                let (value, written) = self.initial.read(access).unwrap_or(fresh);
                let opened = self.opened.get(&access.addr).and_then(|writes| writes.last()).copied();
                Found { value, written, origin: Origin::Event(opened) }
            }
        }
    }

    fn done(&mut self, thread: ThreadId, act: Act) {
        let line = self.threads.entry(thread).or_default();
        let id = EventId::new(thread, line.operations);
        line.operations += 1;
        if self.opening {
            if let Act::Write { store, .. } | Act::Update { store, .. } = act {
                self.opened.entry(store.access.addr).or_default().push(id);
            }
            return;
        }
        let location = |access: Access| (access.addr, access.size);
        let plain = |kind, order| Done { id, kind, location: None, order, half: false };
        match act {
            Act::Read { access, from, order } => {
                let from = from.and_then(|event| self.written_by(location(access), event));
                self.push(Done { location: Some(location(access)), ..plain(Kind::Read { from }, order) });
            }
            Act::Write { store: Store { access, value }, order, at } => {
                let done = Done { location: Some(location(access)), ..plain(Kind::Write { value }, order) };
                let write = self.push(done);
                let at = if self.model == Model::Wra { self.writes(location(access)).len() } else { at };
                self.place(location(access), write, at);
            }
            Act::Update { store: Store { access, value }, from, order } => {
                let from = from.and_then(|event| self.written_by(location(access), event));
                self.update(id, location(access), from, value, order);
            }
            Act::Fence(order) if order == Ordering::SeqCst && self.model == Model::Wra => {
                let last = self.writes(HIDDEN).last().copied();
                self.update(id, HIDDEN, last, 0, Ordering::AcqRel);
            }
            Act::Fence(order) => {
                self.push(plain(Kind::Fence, order));
            }
            Act::Spawn(child) => {
                let spawn = self.push(plain(Kind::Other, Ordering::Relaxed));
                self.threads.entry(child).or_default().behind.push(spawn);
            }
            Act::Join(child) => {
                let last = self
                    .threads
                    .get(&child)
                    .and_then(|line| line.events.last().copied().or(line.behind.first().copied()));
                self.threads.entry(thread).or_default().behind.extend(last);
                self.push(plain(Kind::Other, Ordering::Relaxed));
            }
            Act::Other => {
                self.push(plain(Kind::Other, Ordering::Relaxed));
            }
        }
    }

    fn refuses(&self, thread: ThreadId, act: Act) -> Option<String> {
        let mut next = self.clone();
        next.done(thread, act);
        next.broken().map(str::to_owned)
    }

    fn refuses_run(&self) -> bool {
        self.broken().is_some()
    }

    fn is_possible(&self, access: Access) -> bool {
        let overlaps = |&(addr, size): &Location| size > 0 && access.overlaps(Access { addr, size });
        self.order
            .keys()
            .chain(self.events.iter().filter_map(|done| done.location.as_ref()))
            .all(|location| !overlaps(location) || *location == (access.addr, access.size))
    }

    fn may_end(&self, thread: ThreadId, base: Addr) -> bool {
        if self.opening {
            return true;
        }
        let uses = |(addr, size): Location| size > 0 && addr.base() == base;
        let mut now = self.clone();
        now.done(thread, Act::Other);
        let now = now.condensed(uses).unwrap_or(now);
        let relations = Relations::new(&now);
        let happens_before = models::happens_before(self.model, &relations);
        // What it has just done is the last event of all.
        let end = now.events.len() - 1;
        let mut accesses = (0..end).filter(|&event| now.events[event].location.is_some_and(uses));
        accesses.all(|event| happens_before.has(event, end))
    }
}
