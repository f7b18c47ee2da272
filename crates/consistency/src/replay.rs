//! The operational memory, and the judge of every witness.
//!
//! [`Memory`] runs the events of an instance one by one: threads, store buffers, one last writer per location. It is written to be
//! obviously right and knows nothing of the searches. [`replay`] runs a schedule on it and looks at what every read reads;
//! no answer "consistent" leaves this crate without it.

use crate::instance::{Action, Instance, Loc, Source};
use crate::models::{self, Buffers};
use raddle_trace::{Buffered, EventId, Model, Step, StoreBuffer, ThreadId};

/// A write on its way to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Write {
    event: EventId,
    loc: Loc,
}

impl Buffered for Write {
    fn meets(&self, other: &Self) -> bool {
        self.loc == other.loc
    }
}

/// What a thread is at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    done: u32,
    buffer: StoreBuffer<Write>,
}

/// Threads, buffers and memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    model: Model,
    threads: Vec<Thread>,
    /// The last write that reached memory, per location.
    last: Vec<Source>,
}

/// Why a schedule does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// A step that is not possible there.
    #[error("step {at}, `{step}`, is not possible")]
    Impossible {
        /// Its number, from 1.
        at: usize,
        /// The step.
        step: Step,
    },
    /// A read that reads something else.
    #[error("step {at}: {event} reads {found:?}")]
    OtherSource {
        /// The number of the step, from 1.
        at: usize,
        /// The read.
        event: EventId,
        /// What it reads.
        found: Source,
    },
    /// Something is left over.
    #[error("the schedule ends before everything is done")]
    Incomplete,
}

impl Memory {
    /// Before the first event.
    pub fn new(instance: &Instance, model: Model) -> Self {
        let locations = instance.events().filter_map(|(_, action)| action.loc()).map(|loc| loc.index() + 1);
        Memory {
            model,
            threads: vec![Thread::default(); instance.threads()],
            last: vec![Source::Initial; locations.max().unwrap_or(0)],
        }
    }

    /// The thread's next event.
    pub fn next(&self, instance: &Instance, thread: ThreadId) -> Option<(EventId, Action)> {
        let event = EventId::new(thread, self.threads.get(thread.index())?.done);
        Some((event, instance.get(event)?))
    }

    /// What the thread would read now.
    pub fn peek(&self, thread: ThreadId, loc: Loc) -> Source {
        let own = self.threads[thread.index()].buffer.iter().rev().find(|entry| entry.loc == loc);
        own.map_or(self.last[loc.index()], |entry| Source::Write(entry.event))
    }

    fn is_started(&self, instance: &Instance, thread: ThreadId) -> bool {
        // Only before a thread's first event is there anything to look for.
        let is_spawn = |&(_, action): &(EventId, Action)| action == Action::Spawn { child: thread };
        let has_begun = |event: EventId| self.threads[event.thread.index()].done > event.index;
        self.threads[thread.index()].done > 0
            || instance.events().find(is_spawn).is_none_or(|(spawn, _)| has_begun(spawn))
    }

    fn is_finished(&self, instance: &Instance, thread: ThreadId) -> bool {
        let slot = &self.threads[thread.index()];
        slot.done as usize == instance.thread(thread).len()
            && slot.buffer.is_empty()
            && self.is_started(instance, thread)
    }

    /// Whether the thread can do its next event, whatever that reads.
    pub fn can_run(&self, instance: &Instance, thread: ThreadId) -> bool {
        let Some((_, action)) = self.next(instance, thread) else { return false };
        let empty = self.threads[thread.index()].buffer.is_empty();
        self.is_started(instance, thread)
            && match action {
                Action::Read { .. } | Action::Write { .. } | Action::StoreFence | Action::Note => true,
                Action::Update { .. } | Action::Fence | Action::Spawn { .. } => empty,
                Action::Join { child } => empty && self.is_finished(instance, child),
            }
    }

    /// The flushes that are possible now.
    pub fn flushes(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, Thread { buffer, .. }) in self.threads.iter().enumerate() {
            let leaving = buffer.iter().enumerate().filter(|&(at, _)| models::machine(self.model).leaves(buffer, at));
            steps.extend(leaving.map(|(_, write)| self.arrival(ThreadId(number as u32), write)));
        }
        steps
    }

    /// The step by which a write leaves.
    fn arrival(&self, thread: ThreadId, write: &Write) -> Step {
        models::machine(self.model).arrival(thread, write.loc.0.into())
    }

    /// Does the thread's next event, which must be possible. Tells what it read.
    pub fn run(&mut self, instance: &Instance, thread: ThreadId) -> Option<Source> {
        let (event, action) = self.next(instance, thread).expect("the thread has a next event");
        let read = action.source().and(action.loc()).map(|loc| self.peek(thread, loc));
        let slot = &mut self.threads[thread.index()];
        slot.done += 1;
        match action {
            Action::Write { loc } if models::machine(self.model).buffers() != Buffers::None => {
                slot.buffer.push(Write { event, loc });
            }
            Action::Write { loc } | Action::Update { loc, .. } => self.last[loc.index()] = Source::Write(event),
            Action::StoreFence => slot.buffer.fence(),
            _ => {}
        }
        read
    }

    /// Lets a buffered write reach memory. False, and nothing happened, if there is no such write.
    pub fn flush(&mut self, step: Step) -> bool {
        let Some(Thread { buffer, .. }) = self.threads.get(step.thread().index()) else { return false };
        let at = buffer.iter().position(|write| self.arrival(step.thread(), write) == step);
        let Some(at) = at.filter(|&at| models::machine(self.model).leaves(buffer, at)) else { return false };
        let Write { event, loc } = self.threads[step.thread().index()].buffer.remove(at);
        self.last[loc.index()] = Source::Write(event);
        true
    }

    /// Every event is done, and every buffer is empty.
    pub fn is_complete(&self, instance: &Instance) -> bool {
        let threads = self.threads.iter().enumerate();
        { threads }.all(|(number, thread)| {
            thread.done as usize == instance.thread(ThreadId(number as u32)).len() && thread.buffer.is_empty()
        })
    }
}

/// Runs a schedule to its end. Every read must read what the instance says, and nothing may be left over.
pub fn replay(instance: &Instance, model: Model, schedule: &[Step]) -> Result<(), Misfit> {
    let mut memory = Memory::new(instance, model);
    for (at, &step) in schedule.iter().enumerate() {
        let at = at + 1;
        let Step::Run(thread) = step else {
            if memory.flush(step) {
                continue;
            }
            return Err(Misfit::Impossible { at, step });
        };
        if !memory.can_run(instance, thread) {
            return Err(Misfit::Impossible { at, step });
        }
        let (event, action) = memory.next(instance, thread).expect("it can run");
        let found = memory.run(instance, thread);
        if found != action.source() {
            return Err(Misfit::OtherSource { at, event, found: found.unwrap_or(Source::Initial) });
        }
    }
    if memory.is_complete(instance) { Ok(()) } else { Err(Misfit::Incomplete) }
}
