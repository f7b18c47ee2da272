//! What a run was: events, where reads read from, races.

use crate::address::Addr;
use crate::automaton::Access;
use crate::memory::{Origin, Store};
use crate::race::{Race, Races};
use crate::recorder::{Reading, Recorder, Writing};
use raddle_program::{Mailbox, Ordering};
use raddle_trace::{EventId, Source, ThreadId};
use rustc_hash::FxHashMap;

/// What a step did.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Read a value.
    Read {
        /// Where.
        access: Access,
        /// What.
        value: u64,
        /// From which write.
        source: Source,
    },
    /// Wrote a value, to memory or into the buffer.
    Write {
        /// Where.
        access: Access,
        /// What.
        value: u64,
        /// Into the buffer.
        buffered: bool,
    },
    /// Read and wrote.
    Update {
        /// Where.
        access: Access,
        /// What was there.
        old: u64,
        /// What is there now.
        new: u64,
        /// From which write.
        source: Source,
    },
    /// A fence.
    Fence(Ordering),
    /// Started a thread.
    Spawn(ThreadId),
    /// Posted a message to this looper.
    Post(ThreadId, Addr),
    /// This looper took the message.
    Take(Addr),
    /// Waited for a thread's end.
    Join(ThreadId),
    /// Picked an alternative.
    Choose(u32),
    /// Ended an object's life.
    Free(Addr),
    /// Entered (true) or left an atomic block.
    Atomic(bool),
    /// A buffered write reached memory.
    Flush {
        /// Which.
        write: EventId,
        /// Where.
        access: Access,
        /// What.
        value: u64,
    },
    /// A buffered write came too late: its object was gone, and the thread has failed.
    Lost(Access),
    /// Nothing: the operation was wrong, and the thread has failed.
    Failed,
}

/// What is known of a thread.
#[derive(Clone, Debug, Default)]
struct Past {
    /// How many events it has done.
    events: u32,
    /// Its stores that are on their way: which event, of which instruction.
    kept: Vec<(EventId, u32)>,
    /// What it read: in which event, where, and from which write.
    reads: Vec<(u32, Access, Source)>,
}

/// Notes what happens.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    threads: Vec<Past>,
    /// The last write that reached memory, per address.
    writers: FxHashMap<Addr, EventId>,
    races: Option<Races>,
    /// The races that ended threads.
    raced: Vec<Race>,
    /// What the last step did.
    record: Option<Record>,
}

impl Observer {
    /// One that has seen nothing yet; it looks for data races if it is told to.
    pub fn new(races: bool) -> Self {
        Observer { races: races.then(Races::default), ..Observer::default() }
    }

    /// How many events the thread has done.
    pub fn events(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.index()).map_or(0, |past| past.events)
    }

    /// What a thread read in its events from `since` on: where, and from which write.
    pub fn reads(&self, thread: ThreadId, since: u32) -> impl Iterator<Item = (Access, Source)> + '_ {
        let reads = self.threads.get(thread.index()).into_iter().flat_map(|past| past.reads.iter().rev());
        reads.take_while(move |read| read.0 >= since).map(|&(_, access, source)| (access, source))
    }

    /// The write that stands behind what a thread finds.
    pub fn source(&self, thread: ThreadId, access: Access, origin: Origin) -> Source {
        match origin {
            Origin::Own(at) => Source::Buffer(self.threads[thread.index()].kept[at].0),
            Origin::Event(write) => write.map_or(Source::Initial, Source::Write),
            Origin::Memory => self.writers.get(&access.addr).map_or(Source::Initial, |&write| Source::Write(write)),
        }
    }

    /// The race that ended a thread.
    pub(crate) fn race(&self, thread: ThreadId) -> Option<&Race> {
        self.raced.iter().find(|race| race.this.event.thread == thread)
    }

    /// Takes what the last step did.
    pub(crate) fn take(&mut self) -> Record {
        self.record.take().unwrap_or(Record::Failed)
    }

    fn past(&mut self, thread: ThreadId) -> &mut Past {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Past::default);
        }
        &mut self.threads[thread.index()]
    }

    fn next(&mut self, thread: ThreadId) -> EventId {
        EventId::new(thread, self.past(thread).events)
    }
}

impl Recorder for Observer {
    fn begin(&mut self, thread: ThreadId, pc: u32, made: u32) {
        self.record = None;
        let event = self.next(thread);
        if let Some(races) = &mut self.races {
            races.tick(event, pc, made);
        }
    }

    fn read(&mut self, reading: &Reading) -> Option<Race> {
        let &Reading { thread, access, value, origin, writes, .. } = reading;
        let event = self.next(thread);
        let source = self.source(thread, access, origin);
        let race = self.races.as_mut().and_then(|races| races.read(event, reading, source));
        if race.is_some() {
            return race;
        }
        self.record = Some(match writes {
            Some(new) => {
                self.writers.insert(access.addr, event);
                Record::Update { access, old: value, new, source }
            }
            None => {
                self.past(thread).reads.push((event.index, access, source));
                Record::Read { access, value, source }
            }
        });
        None
    }

    fn write(&mut self, writing: &Writing) -> Option<Race> {
        let &Writing { thread, pc, store: Store { access, value }, kept, .. } = writing;
        let event = self.next(thread);
        let race = self.races.as_mut().and_then(|races| races.write(event, writing));
        if race.is_some() {
            return race;
        }
        if kept {
            self.past(thread).kept.push((event, pc));
        } else {
            self.writers.insert(access.addr, event);
        }
        self.record = Some(Record::Write { access, value, buffered: kept });
        None
    }

    fn look(&self, thread: ThreadId, pc: u32, access: Access, order: Ordering) -> Option<Race> {
        let event = EventId::new(thread, self.events(thread));
        self.races.as_ref().and_then(|races| races.look(event, pc, access, order))
    }

    fn fence(&mut self, thread: ThreadId, order: Ordering) {
        if let Some(races) = &mut self.races {
            races.fence(thread, order);
        }
        self.record = Some(Record::Fence(order));
    }

    fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        if let Some(races) = &mut self.races {
            races.spawn(parent, child);
        }
        self.record = Some(Record::Spawn(child));
    }

    fn post(&mut self, parent: ThreadId, message: ThreadId, (addr, mailbox): (Addr, Mailbox)) {
        let event = self.next(parent);
        if let Some(races) = &mut self.races {
            races.post(event, message, addr, mailbox);
        }
        self.record = Some(Record::Post(message, addr));
    }

    fn take(&mut self, message: ThreadId, mailbox: Addr) {
        if let Some(races) = &mut self.races {
            races.take(message);
        }
        self.record = Some(Record::Take(mailbox));
    }

    fn join(&mut self, parent: ThreadId, child: ThreadId) {
        if let Some(races) = &mut self.races {
            races.join(parent, child);
        }
        self.record = Some(Record::Join(child));
    }

    fn choose(&mut self, _: ThreadId, pick: u32) {
        self.record = Some(Record::Choose(pick));
    }

    fn free(&mut self, _: ThreadId, addr: Addr) {
        self.record = Some(Record::Free(addr));
    }

    fn atomic(&mut self, _: ThreadId, begin: bool) {
        self.record = Some(Record::Atomic(begin));
    }

    fn end(&mut self, thread: ThreadId) {
        self.past(thread).events += 1;
    }

    fn raced(&mut self, race: &Race) {
        self.raced.push(*race);
    }

    fn fail(&mut self, _: ThreadId) {
        self.record = Some(Record::Failed);
    }

    fn arrive(&mut self, thread: ThreadId, at: usize, store: Store, lost: bool) -> Option<u32> {
        let (write, pc) = self.past(thread).kept.remove(at);
        let Store { access, value } = store;
        self.record = Some(if lost {
            Record::Lost(access)
        } else {
            self.writers.insert(access.addr, write);
            Record::Flush { write, access, value }
        });
        Some(pc)
    }
}
