//! The operational machine: a program, its state, and an observer beside it.
//!
//! This is the judge of every counterexample and what brute force walks over: [`System::moves`] lists what can happen next,
//! [`System::step`] does it and says what was done. How threads and memory change stands in [`state`](crate::state) and
//! [`memory`](crate::memory), what is noted about it in [`observer`](crate::observer).

use crate::address::Addr;
use crate::automaton::{Access, Automaton, Status, Visible};
use crate::bytes::ByteMemory;
use crate::code::Code;
use crate::mailboxes::Mailboxes;
use crate::memory::{AnyMemory, Memory};
use crate::observer::{Observer, Record};
use crate::race::Race;
use crate::state::State;
use crate::thread::Thread;
use raddle_trace::{EventId, Model, Step, ThreadId};

/// The machine.
#[derive(Clone, Debug)]
pub struct System<'c> {
    code: &'c Code,
    state: State<AnyMemory>,
    seen: Observer,
}

impl<'c> System<'c> {
    /// The machine before the first step. `log` keeps what threads print; `races` looks for data races.
    pub fn new(code: &'c Code, model: Model, races: bool, log: bool) -> Self {
        let memory = AnyMemory::of(model, ByteMemory::initial(code));
        System { code, state: State::new(memory, Thread::main(code, log)), seen: Observer::new(races) }
    }

    /// The threads, in the order of their numbers.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &Thread> {
        self.state.threads()
    }

    /// The thread with this number.
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        self.state.thread(id)
    }

    /// Memory as everybody sees it now, without what is buffered.
    pub fn memory(&self) -> &ByteMemory {
        self.state.memory().bytes()
    }

    /// The starts of the objects whose lives have ended.
    pub fn ended(&self) -> impl Iterator<Item = Addr> + '_ {
        self.state.ended().keys().copied()
    }

    /// What is in mailboxes.
    pub fn mailboxes(&self) -> &Mailboxes {
        self.state.mailboxes()
    }

    /// How many events the thread has done.
    pub fn events(&self, thread: ThreadId) -> u32 {
        self.seen.events(thread)
    }

    /// Whether what the thread read in its operations from `since` on is still what it would read now.
    pub fn reads_are_current(&self, thread: ThreadId, since: u32) -> bool {
        self.seen.reads(thread, since).all(|(access, source)| {
            let now = self.state.look(self.code, thread, access);
            now.is_some_and(|now| self.seen.source(thread, access, now.origin).write() == source.write())
        })
    }

    /// The value that a thread would read if it looked now; `None` if that would be wrong.
    pub fn look(&self, thread: ThreadId, access: Access) -> Option<u64> {
        self.state.look(self.code, thread, access).map(|found| found.value)
    }

    /// Whether the thread is about to make a load that leads straight into an assumption, which would fail on what is in memory now.
    pub fn is_assuming(&self, thread: ThreadId) -> bool {
        let state = self.thread(thread);
        state.is_some_and(|state| match *state.status() {
            Status::Ready(Visible::Load { access, wait: true, .. }) => {
                self.look(thread, access).is_some_and(|value| state.is_assuming(self.code, value))
            }
            _ => false,
        })
    }

    /// A name for an address.
    pub fn describe(&self, addr: Addr) -> String {
        self.state.describe(self.code, addr)
    }

    /// What a value is, if it is the address of something.
    pub fn pointee(&self, value: u64) -> Option<String> {
        self.state.pointee(self.code, value)
    }

    /// Takes what a thread printed since the last call.
    pub fn take_printed(&mut self, thread: ThreadId) -> Vec<String> {
        self.state.thread_mut(thread).map(Thread::take_printed).unwrap_or_default()
    }

    /// Everything that can happen next. Choices are listed alternative by alternative.
    pub fn moves(&self) -> Vec<Step> {
        self.state.moves(self.code)
    }

    /// Where steps name the places of writes: per location, its writes in their order. Otherwise that is the order in which they reached memory.
    pub fn orders(&self) -> Option<Vec<(Addr, Vec<EventId>)>> {
        self.state.memory().is_named().then(|| self.state.memory().orders())
    }

    /// Whether nothing more has to happen: what waits waits for what memory shows it in the end, even if it could have seen something else.
    pub fn is_over(&self) -> bool {
        self.state.is_over(self.code)
    }

    /// The looks of waiting threads that are in vain and race. They are possible steps beside [`System::moves`].
    pub fn racing_looks(&self) -> Vec<Step> {
        let ids = self.threads().map(Automaton::id);
        ids.filter(|&id| self.state.racing_look(self.code, id, &self.seen).is_some()).map(Step::Run).collect()
    }

    /// The race that ended a thread.
    pub fn race(&self, thread: ThreadId) -> Option<&Race> {
        self.seen.race(thread)
    }

    /// Does a step. Fails with an explanation, and changes nothing, if it is neither among [`System::moves`] nor among
    /// [`System::racing_looks`].
    pub fn step(&mut self, step: Step) -> Result<Record, String> {
        self.state.step(self.code, step, &mut self.seen)?;
        Ok(self.seen.take())
    }

    /// Does a step, and takes it on trust that memory allows the source or the place that it names. Whoever does so asks [`System::refuses_run`] in the
    /// end.
    pub fn follow(&mut self, step: Step) -> Result<Record, String> {
        self.state.follow(self.code, step, &mut self.seen)?;
        Ok(self.seen.take())
    }

    /// Whether memory refuses something that was done on trust.
    pub fn refuses_run(&self) -> bool {
        self.state.refuses_run()
    }
}
