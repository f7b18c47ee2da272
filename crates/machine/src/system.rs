//! The operational machine: threads, store buffers, one memory.
//!
//! | model | where a store goes | a fence, an update, a spawn, a join, a free |
//! |---|---|---|
//! | SC | to memory | whenever |
//! | TSO | into the thread's buffer, first in first out | when the buffer is empty |
//! | PSO | the same, first in first out per location and across store-store fences | when the buffer is empty |
//!
//! A load takes the newest buffered bytes of its own thread, else memory. A seq_cst store is followed by a full fence,
//! that is, its thread does nothing more until its buffer is empty. Under PSO a release store, a release fence and an
//! unlock are preceded by a store-store fence: what is buffered after it waits for what was buffered before.
//! The machine is a value that can be cloned; [`System::moves`] lists what can happen next, [`System::step`] does it.
//! It is written to be obviously right, not to be fast: engines are held against it.

use crate::address::Addr;
use crate::bytes::ByteMemory;
use crate::code::Code;
use crate::names::Contents;
use crate::race::{Past, Races};
use crate::thread::{Access, Reaction, Status, Thread, Visible};
use raddle_program::Ordering;
use raddle_trace::{EventId, Model, Property, Source, Step, ThreadId, VectorClock};
use rustc_hash::{FxHashMap, FxHashSet};

/// A store on its way to memory.
#[derive(Clone, Debug)]
struct Buffered {
    write: EventId,
    access: Access,
    value: u64,
    /// How many store-store fences came before it.
    epoch: u32,
    message: VectorClock,
    /// The instruction that issued it.
    pc: u32,
}

#[derive(Clone, Debug)]
struct Slot {
    thread: Thread,
    buffer: Vec<Buffered>,
    epoch: u32,
    /// A full fence is due before the next operation.
    drain: bool,
    events: u32,
    joined: bool,
    /// What it read: in which operation, where, and from which write.
    reads: Vec<(u32, Access, Source)>,
}

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
    /// Nothing: the operation was wrong, and the thread has failed.
    Failed,
}

/// What is wrong with an operation; no property if it is the machine that cannot do it.
type Wrong = (Option<Property>, String);

/// The machine.
#[derive(Clone, Debug)]
pub struct System<'c> {
    code: &'c Code,
    model: Model,
    /// In the order of their numbers.
    threads: Vec<Slot>,
    memory: ByteMemory,
    /// The last write that reached memory, per address.
    writers: FxHashMap<Addr, EventId>,
    ended: FxHashSet<Addr>,
    races: Option<Races>,
    atomic: Option<ThreadId>,
}

impl<'c> System<'c> {
    /// The machine before the first step. `log` keeps what threads print; `races` looks for data races.
    pub fn new(code: &'c Code, model: Model, races: bool, log: bool) -> Self {
        let mut system = System {
            code,
            model,
            threads: Vec::new(),
            memory: ByteMemory::initial(code),
            writers: FxHashMap::default(),
            ended: FxHashSet::default(),
            races: races.then(Races::default),
            atomic: None,
        };
        system.add_thread(Thread::main(code, log));
        system
    }

    fn add_thread(&mut self, thread: Thread) {
        let at = self.threads.partition_point(|slot| slot.thread.id() < thread.id());
        let slot =
            Slot { thread, buffer: Vec::new(), epoch: 0, drain: false, events: 0, joined: false, reads: Vec::new() };
        self.threads.insert(at, slot);
    }

    fn position(&self, id: ThreadId) -> Option<usize> {
        self.threads.binary_search_by_key(&id, |slot| slot.thread.id()).ok()
    }

    fn slot(&self, id: ThreadId) -> &Slot {
        &self.threads[self.position(id).expect("it has been started")]
    }

    fn slot_mut(&mut self, id: ThreadId) -> &mut Slot {
        let at = self.position(id).expect("it has been started");
        &mut self.threads[at]
    }

    /// The threads, in the order of their numbers.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &Thread> {
        self.threads.iter().map(|slot| &slot.thread)
    }

    /// Takes what a thread printed since the last call.
    pub fn take_printed(&mut self, thread: ThreadId) -> Vec<String> {
        self.slot_mut(thread).thread.take_printed()
    }

    /// The thread with this name.
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        self.position(id).map(|at| &self.threads[at].thread)
    }

    /// Memory as it is now, without what is buffered.
    pub fn memory(&self) -> &ByteMemory {
        &self.memory
    }

    /// The starts of the objects whose lives have ended.
    pub fn ended(&self) -> impl Iterator<Item = Addr> + '_ {
        self.ended.iter().copied()
    }

    /// What a thread has buffered: the write, where, and what, oldest first.
    pub fn buffered(&self, thread: ThreadId) -> impl Iterator<Item = (EventId, Access, u64)> + '_ {
        self.slot(thread).buffer.iter().map(|entry| (entry.write, entry.access, entry.value))
    }

    /// How many events the thread has done.
    pub fn events(&self, thread: ThreadId) -> u32 {
        self.slot(thread).events
    }

    /// Whether what the thread read in its operations from `since` on is still what it would read now.
    pub fn reads_are_current(&self, thread: ThreadId, since: u32) -> bool {
        let reads = self.slot(thread).reads.iter().rev();
        reads
            .take_while(|read| read.0 >= since)
            .all(|&(_, access, source)| self.peek(thread, access).is_ok_and(|(_, now)| now.write() == source.write()))
    }

    /// A name for an address.
    pub fn describe(&self, addr: Addr) -> String {
        self.code.describe(addr, &|id| self.thread(id))
    }

    /// Everything that can happen next. Choices are listed alternative by alternative.
    pub fn moves(&self) -> Vec<Step> {
        let mut moves = Vec::new();
        for slot in &self.threads {
            let id = slot.thread.id();
            if self.atomic.is_some_and(|owner| owner != id) {
                continue;
            }
            self.flushes(slot, id, &mut moves);
            match self.alternatives(id) {
                Some(0) | None => {}
                Some(1) => moves.push(Step::Run(id)),
                Some(n) => moves.extend((0..n).map(|pick| Step::Choose(id, pick))),
            }
        }
        moves
    }

    fn flushes(&self, slot: &Slot, id: ThreadId, moves: &mut Vec<Step>) {
        match self.model {
            Model::Sc => {}
            Model::Tso => moves.extend(slot.buffer.first().map(|_| Step::Flush(id))),
            Model::Pso => {
                for (at, entry) in slot.buffer.iter().enumerate() {
                    if flushable(&slot.buffer, at) {
                        moves.push(Step::FlushAt(id, entry.access.addr.0));
                    }
                }
            }
        }
    }

    /// In how many ways the thread's pending operation can be done now; `None` if the thread has none.
    fn alternatives(&self, id: ThreadId) -> Option<u32> {
        let slot = self.slot(id);
        let Status::Ready(visible) = slot.thread.status() else { return None };
        let empty = slot.buffer.is_empty();
        if slot.drain && !empty {
            return Some(0);
        }
        let once = |enabled: bool| Some(u32::from(enabled));
        match *visible {
            Visible::Load { wait: false, .. } | Visible::Store { .. } => Some(1),
            Visible::Load { access, .. } | Visible::Update { access, .. } => {
                if matches!(visible, Visible::Update { .. }) && !empty {
                    return Some(0);
                }
                let Ok((value, _)) = self.peek(id, access) else { return Some(1) };
                match slot.thread.reaction(self.code, value) {
                    Reaction::Block => Some(0),
                    Reaction::Pick(n) => Some(n),
                    Reaction::Read | Reaction::Write(_) => Some(1),
                }
            }
            Visible::Fence { order } => once(order != Ordering::SeqCst || empty),
            Visible::Choose { count } => Some(count),
            Visible::Spawn { .. } | Visible::Free { .. } | Visible::AtomicEnd | Visible::AtomicBegin => once(empty),
            Visible::Join { thread } => match self.position(thread).map(|at| &self.threads[at]) {
                Some(child) => {
                    // Nobody outlives the end of the program, so nobody sees a thread that ended it end.
                    let finished = matches!(child.thread.status(), Status::Finished { exit: false, .. });
                    once(empty && (child.joined || (finished && child.buffer.is_empty())))
                }
                None => Some(1),
            },
        }
    }

    /// Does a step. Fails with an explanation, and changes nothing, if it is not one of [`System::moves`].
    pub fn step(&mut self, step: Step) -> Result<Record, String> {
        let id = step.thread();
        let name = self.code.name(id);
        if self.position(id).is_none() {
            return Err(format!("there is no thread {name}"));
        }
        if let Some(owner) = self.atomic
            && owner != id
        {
            return Err(format!("{} is in an atomic block, so {name} cannot move", self.code.name(owner)));
        }
        let pick = match step {
            Step::Flush(_) | Step::FlushAt(..) => return self.flush(id, step),
            Step::Run(_) => None,
            Step::Choose(_, pick) => Some(pick),
        };
        match self.alternatives(id) {
            None => return Err(format!("{name} has nothing more to do")),
            Some(0) => return Err(format!("{name} cannot do its next operation now")),
            Some(1) if pick.is_none() => {}
            Some(n) => match pick {
                Some(pick) if pick < n && n > 1 => {}
                _ => return Err(format!("{name} has {n} alternatives, and the step does not pick one of them")),
            },
        }
        Ok(self.run(id, pick.unwrap_or(0)))
    }

    fn flush(&mut self, id: ThreadId, step: Step) -> Result<Record, String> {
        let slot = self.slot(id);
        let at = match (self.model, step) {
            (Model::Tso, Step::Flush(_)) if !slot.buffer.is_empty() => Some(0),
            (Model::Pso, Step::FlushAt(_, addr)) => slot.buffer.iter().position(|entry| entry.access.addr.0 == addr),
            _ => None,
        };
        let at = at.filter(|&at| flushable(&slot.buffer, at) || self.model == Model::Tso);
        let Some(at) = at else { return Err(format!("{} has no such write to flush", self.code.name(id))) };
        let entry = self.slot_mut(id).buffer.remove(at);
        if self.ended.contains(&entry.access.addr.base()) {
            let name = self.describe(entry.access.addr);
            let message = format!("a buffered write reaches {name} after its life has ended");
            self.slot_mut(id).thread.fail_at(Property::Memory, message, entry.pc);
            return Ok(Record::Failed);
        }
        let Buffered { write, access, value, message, .. } = entry;
        self.write_memory(write, access, value, message);
        Ok(Record::Flush { write, access, value })
    }

    fn write_memory(&mut self, write: EventId, access: Access, value: u64, message: VectorClock) {
        self.memory.write(access, value).expect("checked when the write was issued");
        self.writers.insert(access.addr, write);
        if let Some(races) = &mut self.races {
            races.deliver(access.addr, message);
        }
    }

    /// The value a thread would read, and where from; or what is wrong.
    fn peek(&self, id: ThreadId, access: Access) -> Result<(u64, Source), String> {
        let located = self.locate(access)?;
        let fresh = || match located.contents {
            Contents::Uninitialised => (0, false),
            Contents::Zeros => (0, true),
            Contents::Bytes(bytes) => {
                let mut value = [0; 8];
                let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
                value[..size].copy_from_slice(&bytes[start..start + size]);
                (u64::from_le_bytes(value), true)
            }
        };
        let (mut value, mut written) = self.memory.read(access).unwrap_or_else(fresh);
        let mut source = self.writers.get(&access.addr).map_or(Source::Initial, |&write| Source::Write(write));
        let mut covered = 0u8;
        for entry in &self.slot(id).buffer {
            for byte in 0..u64::from(entry.access.size) {
                let at = entry.access.addr.0 + byte;
                if (access.addr.0..access.addr.0 + u64::from(access.size)).contains(&at) {
                    let shift = 8 * (at - access.addr.0);
                    value = value & !(0xff << shift) | ((entry.value >> (8 * byte)) & 0xff) << shift;
                    source = Source::Buffer(entry.write);
                    covered |= 1 << (shift / 8);
                }
            }
        }
        written |= covered.count_ones() == u32::from(access.size);
        if !written && !self.slot(id).thread.is_lenient(self.code) {
            return Err(format!("read of {}, which was never written", self.describe(access.addr)));
        }
        Ok((value, source))
    }

    fn locate(&self, access: Access) -> Result<crate::names::Located<'c>, String> {
        let located = self.code.locate(access, &|id| self.thread(id))?;
        if self.ended.contains(&located.base) {
            return Err(format!("access to {} after its life has ended", self.describe(access.addr)));
        }
        Ok(located)
    }

    /// Makes sure the object has contents before it is written.
    fn materialise(&mut self, access: Access) -> Result<(), String> {
        let located = self.locate(access)?;
        if !self.memory.contains(located.base) {
            match located.contents {
                Contents::Bytes(bytes) => self.memory.create(located.base, located.size, Some(bytes)),
                Contents::Zeros => {
                    let zeros = vec![0; located.size as usize];
                    self.memory.create(located.base, located.size, Some(&zeros));
                }
                Contents::Uninitialised => self.memory.create(located.base, located.size, None),
            }
        }
        Ok(())
    }

    fn run(&mut self, id: ThreadId, pick: u32) -> Record {
        let Status::Ready(visible) = *self.slot(id).thread.status() else {
            unreachable!("checked by the caller");
        };
        let slot = self.slot_mut(id);
        slot.drain = false;
        let event = EventId::new(id, slot.events);
        if let Some(races) = &mut self.races {
            races.tick(event);
        }
        match self.perform(id, event, visible, pick) {
            Ok((record, answer)) => {
                let code = self.code;
                let slot = self.slot_mut(id);
                slot.events += 1;
                slot.thread.answer(code, answer, pick);
                record
            }
            Err((property, message)) => {
                self.slot_mut(id).thread.fail(property, message);
                Record::Failed
            }
        }
    }

    fn perform(&mut self, id: ThreadId, event: EventId, visible: Visible, pick: u32) -> Result<(Record, u64), Wrong> {
        let memory = |message: String| (Some(Property::Memory), message);
        let lock = |message: String| (Some(Property::Lock), message);
        match visible {
            Visible::Load { access, order, wait } => {
                let (value, source) = self.peek(id, access).map_err(memory)?;
                if wait {
                    self.check_race(event, access, false, order)?;
                }
                // What the read itself synchronises with happens before it.
                self.observe(id, access, order, source);
                self.check_race(event, access, false, order)?;
                let operation = self.slot(id).thread.operations();
                self.slot_mut(id).reads.push((operation, access, source));
                Ok((Record::Read { access, value, source }, value))
            }
            Visible::Store { access, order, value } => {
                self.materialise(access).map_err(memory)?;
                self.check_race(event, access, true, order)?;
                let message = self.races.as_mut().map(|races| races.publish(id, order, None)).unwrap_or_default();
                let buffered = self.model != Model::Sc && self.atomic != Some(id);
                if buffered {
                    let separates = self.model == Model::Pso && order.releases();
                    let slot = self.slot_mut(id);
                    slot.epoch += u32::from(separates);
                    let (epoch, pc) = (slot.epoch, slot.thread.pc());
                    slot.buffer.push(Buffered { write: event, access, value, epoch, message, pc });
                    slot.drain = order == Ordering::SeqCst;
                } else {
                    self.write_memory(event, access, value, message);
                }
                Ok((Record::Write { access, value, buffered }, 0))
            }
            Visible::Update { access, order, failure, wait, .. } => {
                let (old, source) = self.peek(id, access).map_err(memory)?;
                if wait {
                    self.check_race(event, access, false, failure)?;
                }
                let thread = &self.slot(id).thread;
                let new = match thread.reaction(self.code, old) {
                    Reaction::Block => unreachable!("not among the moves"),
                    Reaction::Read => None,
                    Reaction::Write(new) => Some(new),
                    Reaction::Pick(_) => Some(thread.picked(old, pick)),
                };
                let order = if new.is_some() { order } else { failure };
                self.observe(id, access, order, source);
                self.check_race(event, access, new.is_some(), order)?;
                let Some(new) = new else {
                    let operation = self.slot(id).thread.operations();
                    self.slot_mut(id).reads.push((operation, access, source));
                    return Ok((Record::Read { access, value: old, source }, old));
                };
                self.materialise(access).map_err(memory)?;
                let message = self.races.as_mut().map(|races| {
                    let continued = races.message(access.addr);
                    races.publish(id, order, Some(continued))
                });
                self.write_memory(event, access, new, message.unwrap_or_default());
                Ok((Record::Update { access, old, new, source }, old))
            }
            Visible::Fence { order } => {
                if self.model == Model::Pso && order.releases() {
                    self.slot_mut(id).epoch += 1;
                }
                if let Some(races) = &mut self.races {
                    races.fence(id, order);
                }
                Ok((Record::Fence(order), 0))
            }
            Visible::Choose { .. } => Ok((Record::Choose(pick), u64::from(pick))),
            Visible::Spawn { .. } => {
                let Some(child) = self.slot(id).thread.next_child(self.code) else {
                    return Err((None, "the program starts too many threads".into()));
                };
                let thread = self.slot(id).thread.spawned(self.code, child);
                self.add_thread(thread);
                if let Some(races) = &mut self.races {
                    races.spawn(id, child);
                }
                Ok((Record::Spawn(child), u64::from(child.0)))
            }
            Visible::Join { thread: child } => {
                let name = self.code.name(child);
                let Some(at) = self.position(child) else {
                    return Err(lock(format!("join of {name}, which was never started")));
                };
                let slot = &mut self.threads[at];
                if std::mem::replace(&mut slot.joined, true) {
                    return Err(lock(format!("{name} is joined twice")));
                }
                let Status::Finished { result, .. } = *slot.thread.status() else {
                    unreachable!("not among the moves");
                };
                if let Some(races) = &mut self.races {
                    races.join(id, child);
                }
                Ok((Record::Join(child), result))
            }
            Visible::Free { addr, scope } => {
                let located = self.locate(Access { addr, size: 0 }).map_err(memory)?;
                let freeable = located.mortal && (scope || (located.heap && addr == located.base));
                if !freeable {
                    let name = self.describe(addr);
                    return Err(memory(format!("free of {name}, which is not the start of an allocated object")));
                }
                self.ended.insert(located.base);
                Ok((Record::Free(addr), 0))
            }
            Visible::AtomicBegin => {
                self.atomic = Some(id);
                Ok((Record::Atomic(true), 0))
            }
            Visible::AtomicEnd => {
                self.atomic = None;
                Ok((Record::Atomic(false), 0))
            }
        }
    }

    fn check_race(&mut self, event: EventId, access: Access, writes: bool, order: Ordering) -> Result<(), Wrong> {
        let pc = self.slot(event.thread).thread.pc();
        let Some(races) = &mut self.races else { return Ok(()) };
        let past = Past { event, writes, atomic: order != Ordering::NonAtomic, pc };
        let Some(other) = races.access(access, past) else { return Ok(()) };
        Err((Some(Property::Race), race_message(self.code, &self.describe(access.addr), &past, &other)))
    }

    fn observe(&mut self, id: ThreadId, access: Access, order: Ordering, source: Source) {
        let Some(races) = &mut self.races else { return };
        // What comes from the own buffer teaches nothing new.
        if let Source::Write(_) = source {
            let message = races.message(access.addr);
            races.observe(id, order, &message);
        }
    }
}

/// The report of a race in one line.
pub fn race_message(code: &Code, name: &str, one: &Past, other: &Past) -> String {
    let side = |past: &Past| {
        let atomic = if past.atomic { "atomic " } else { "" };
        let what = if past.writes { "write" } else { "read" };
        format!("{atomic}{what} by {} (line {})", code.name(past.event.thread), code.span(past.pc).line)
    };
    format!("data race on {name}: {} and {} are not ordered", side(other), side(one))
}

/// Whether nothing older in the buffer has to leave before the entry at this position.
fn flushable(buffer: &[Buffered], at: usize) -> bool {
    let entry = &buffer[at];
    buffer[..at].iter().all(|older| older.epoch == entry.epoch && !overlap(older.access, entry.access))
}

fn overlap(a: Access, b: Access) -> bool {
    a.addr.0 < b.addr.0 + u64::from(b.size) && b.addr.0 < a.addr.0 + u64::from(a.size)
}
