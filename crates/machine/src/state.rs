//! The state of a running program, as a plain value, and what can happen next.
//!
//! A state is its threads, memory, the objects whose lives have ended, and who is in an atomic block: what decides how a run goes on,
//! and what only tells how it came about makes no difference: states that go on in the same way can be equal and meet in a hash table. [`State::moves`] lists what can happen next, [`State::step`] does it and tells a [`Recorder`].
//! It is written to be obviously right, not to be fast: engines are held against it.
//!
//! What is the same under every model stands here, and what is not in [`memory`](crate::memory).

use crate::address::Addr;
use crate::automaton::{Access, Automaton, Reaction, Status, Visible};
use crate::bytes::ByteMemory;
use crate::code::Code;
use crate::memory::{Found, Memory, Store};
use crate::names::{Contents, Located};
use crate::race::{Race, race_message};
use crate::recorder::{Reading, Recorder, Writing};
use crate::thread::Thread;
use raddle_program::Ordering;
use raddle_trace::{Property, Step, ThreadId};
use std::collections::BTreeSet;

/// A thread that has been started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Started<T> {
    thread: T,
    /// Whether somebody has waited for its end.
    joined: bool,
}

/// The state of a running program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<M, T = Thread> {
    /// In the order of their numbers.
    threads: Vec<Started<T>>,
    memory: M,
    /// The starts of the objects whose lives have ended.
    ended: BTreeSet<Addr>,
    /// Who is in an atomic block.
    atomic: Option<ThreadId>,
}

/// What is wrong with an operation; no property if it is the machine that cannot do it.
type Wrong = (Option<Property>, String);

fn memory_error(message: String) -> Wrong {
    (Some(Property::Memory), message)
}

fn lock_error(message: String) -> Wrong {
    (Some(Property::Lock), message)
}

impl<M: Memory, T: Automaton> State<M, T> {
    /// The first state of a program: one thread, before its first visible operation. `memory` is empty.
    pub fn new(memory: M, main: T) -> Self {
        let main = Started { thread: main, joined: false };
        State { threads: vec![main], memory, ended: BTreeSet::new(), atomic: None }
    }

    /// The threads, in the order of their numbers.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &T> {
        self.threads.iter().map(|started| &started.thread)
    }

    /// The thread with this number.
    pub fn thread(&self, id: ThreadId) -> Option<&T> {
        self.position(id).map(|at| &self.threads[at].thread)
    }

    /// The thread with this number, to change it.
    pub(crate) fn thread_mut(&mut self, id: ThreadId) -> Option<&mut T> {
        self.position(id).map(|at| &mut self.threads[at].thread)
    }

    /// Memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// The starts of the objects whose lives have ended.
    pub fn ended(&self) -> impl Iterator<Item = Addr> + '_ {
        self.ended.iter().copied()
    }

    /// A name for an address.
    pub fn describe(&self, code: &Code, addr: Addr) -> String {
        code.describe(addr, &|id| self.thread(id))
    }

    fn position(&self, id: ThreadId) -> Option<usize> {
        self.threads.binary_search_by_key(&id, |started| started.thread.id()).ok()
    }

    fn own(&self, id: ThreadId) -> &T {
        self.thread(id).expect("it has been started")
    }

    fn own_mut(&mut self, id: ThreadId) -> &mut T {
        self.thread_mut(id).expect("it has been started")
    }

    /// Everything that can happen next. Choices are listed alternative by alternative.
    pub fn moves(&self, code: &Code) -> Vec<Step> {
        let mut moves = Vec::new();
        for id in self.threads().map(T::id) {
            if self.atomic.is_some_and(|owner| owner != id) {
                continue;
            }
            self.memory.moves(id, &mut moves);
            match self.alternatives(code, id) {
                Some(0) | None => {}
                Some(1) => moves.push(Step::Run(id)),
                Some(n) => moves.extend((0..n).map(|pick| Step::Choose(id, pick))),
            }
        }
        moves
    }

    /// In how many ways the thread's pending operation can be done now; `None` if the thread has none.
    fn alternatives(&self, code: &Code, id: ThreadId) -> Option<u32> {
        let thread = self.own(id);
        let Status::Ready(visible) = thread.status() else { return None };
        if self.memory.is_held(id) {
            return Some(0);
        }
        let settled = self.memory.is_settled(id);
        let once = |enabled: bool| Some(u32::from(enabled));
        match *visible {
            Visible::Load { wait: false, .. } | Visible::Store { .. } => Some(1),
            Visible::Load { access, .. } | Visible::Update { access, .. } => {
                if matches!(visible, Visible::Update { .. }) && !settled {
                    return Some(0);
                }
                let Ok(Found { value, .. }) = self.find(code, id, access) else { return Some(1) };
                match thread.reaction(code, value) {
                    Reaction::Block => Some(0),
                    Reaction::Pick(n) => Some(n),
                    Reaction::Read | Reaction::Write(_) => Some(1),
                }
            }
            Visible::Fence { order } => once(order != Ordering::SeqCst || settled),
            Visible::Choose { count } => Some(count),
            Visible::Spawn { .. } | Visible::Free { .. } | Visible::AtomicEnd | Visible::AtomicBegin => once(settled),
            Visible::Join { thread: child } => match self.position(child).map(|at| &self.threads[at]) {
                Some(Started { thread, joined }) => {
                    // Nobody outlives the end of the program, so nobody sees a thread that ended it end.
                    let finished = matches!(thread.status(), Status::Finished { exit: false, .. });
                    once(settled && (*joined || (finished && self.memory.is_settled(child))))
                }
                None => Some(1),
            },
        }
    }

    /// The race that a thread makes which waits and looks in vain. Such a look is not among the moves, since it changes nothing else.
    pub(crate) fn racing_look(&self, code: &Code, id: ThreadId, see: &impl Recorder) -> Option<Wrong> {
        let thread = self.own(id);
        let (access, order) = match *thread.status() {
            Status::Ready(Visible::Load { access, order, wait: true }) => (access, order),
            Status::Ready(Visible::Update { access, failure, wait: true, .. }) => (access, failure),
            _ => return None,
        };
        let found = self.find(code, id, access).ok()?;
        let in_vain = self.alternatives(code, id) == Some(0) && thread.reaction(code, found.value) == Reaction::Block;
        let race = see.look(id, thread.pc(), access, order).filter(|_| in_vain)?;
        Some(self.race(code, access, &race))
    }

    /// Does a step. Fails with an explanation, and changes nothing, if it is neither one of [`State::moves`] nor a look in vain that races.
    pub fn step(&mut self, code: &Code, step: Step, see: &mut impl Recorder) -> Result<(), String> {
        let id = step.thread();
        let Some(name) = self.thread(id).map(|_| code.name(id)) else {
            return Err(match code.numbering().name(id) {
                Some(name) => format!("there is no thread {name}"),
                None => format!("there is no thread with the number {}", id.0),
            });
        };
        if let Some(owner) = self.atomic
            && owner != id
        {
            return Err(format!("{} is in an atomic block, so {name} cannot move", code.name(owner)));
        }
        let pick = match step {
            Step::Flush(_) | Step::FlushAt(..) => {
                let leaving = self.memory.leaving(step);
                let at = leaving.ok_or_else(|| format!("{name} has no such write to flush"))?;
                self.arrive(code, id, at, see);
                return Ok(());
            }
            Step::Run(_) => None,
            Step::Choose(_, pick) => Some(pick),
        };
        match self.alternatives(code, id) {
            None => return Err(format!("{name} has nothing more to do")),
            Some(0) => match self.racing_look(code, id, see) {
                Some((property, message)) => {
                    see.begin(id);
                    see.fail(id);
                    self.own_mut(id).fail(property, message);
                    return Ok(());
                }
                None => return Err(format!("{name} cannot do its next operation now")),
            },
            Some(1) if pick.is_none() => {}
            Some(n) => match pick {
                Some(pick) if pick < n && n > 1 => {}
                _ => return Err(format!("{name} has {n} alternatives, and the step does not pick one of them")),
            },
        }
        self.run(code, id, pick.unwrap_or(0), see);
        Ok(())
    }

    /// Lets a store that is on its way arrive.
    fn arrive(&mut self, code: &Code, id: ThreadId, at: usize, see: &mut impl Recorder) {
        let store = self.memory.take(id, at);
        let lost = self.ended.contains(&store.access.addr.base());
        let issued = see.arrive(id, at, store, lost);
        if lost {
            let name = self.describe(code, store.access.addr);
            let message = format!("a buffered write reaches {name} after its life has ended");
            let thread = self.own_mut(id);
            let pc = issued.unwrap_or(thread.pc());
            thread.fail_at(Property::Memory, message, pc);
        } else {
            self.put(store);
        }
    }

    fn put(&mut self, store: Store) {
        let written = self.memory.bytes_mut().write(store.access, store.value);
        written.expect("the object was given contents when the store was issued");
    }

    /// What a thread finds at a place; or what is wrong.
    fn find(&self, code: &Code, id: ThreadId, access: Access) -> Result<Found, String> {
        let located = self.locate(code, access)?;
        let fresh = located.contents.value(access);
        let found = self.memory.find(id, access, (fresh.unwrap_or(0), fresh.is_some()));
        if !found.written && !self.own(id).is_lenient(code) {
            return Err(format!("read of {}, which was never written", self.describe(code, access.addr)));
        }
        Ok(found)
    }

    /// What a thread would find at a place if it looked now; `None` if that would be wrong.
    pub fn look(&self, code: &Code, id: ThreadId, access: Access) -> Option<Found> {
        self.find(code, id, access).ok()
    }

    fn locate<'c>(&self, code: &'c Code, access: Access) -> Result<Located<'c>, String> {
        let located = code.locate(access, &|id| self.thread(id))?;
        if self.ended.contains(&located.base) {
            return Err(format!("access to {} after its life has ended", self.describe(code, access.addr)));
        }
        Ok(located)
    }

    /// Makes sure that the object has contents before it is written.
    fn materialise(&mut self, code: &Code, access: Access) -> Result<(), Wrong> {
        let located = self.locate(code, access).map_err(memory_error)?;
        let memory: &mut ByteMemory = self.memory.bytes_mut();
        if !memory.contains(located.base) {
            match located.contents {
                Contents::Bytes(bytes) => memory.create(located.base, located.size, Some(bytes)),
                Contents::Zeros => {
                    let zeros = vec![0; located.size as usize];
                    memory.create(located.base, located.size, Some(&zeros));
                }
                Contents::Uninitialised => memory.create(located.base, located.size, None),
            }
        }
        Ok(())
    }

    /// Does the pending operation of a thread, which is possible.
    fn run(&mut self, code: &Code, id: ThreadId, pick: u32, see: &mut impl Recorder) {
        let Status::Ready(visible) = *self.own(id).status() else { unreachable!("checked by the caller") };
        see.begin(id);
        match self.perform(code, id, visible, pick, see) {
            Ok(answer) => {
                see.end(id);
                self.own_mut(id).answer(code, answer, pick);
            }
            Err((property, message)) => {
                see.fail(id);
                self.own_mut(id).fail(property, message);
            }
        }
    }

    /// What the operation does to the state, and the answer that the thread goes on with.
    fn perform(
        &mut self,
        code: &Code,
        id: ThreadId,
        visible: Visible,
        pick: u32,
        see: &mut impl Recorder,
    ) -> Result<u64, Wrong> {
        match visible {
            Visible::Load { access, order, wait } => {
                let found = self.find(code, id, access).map_err(memory_error)?;
                self.read(code, id, access, found, (order, wait.then_some(order)), None, see)?;
                Ok(found.value)
            }
            Visible::Store { access, order, value } => {
                self.materialise(code, access)?;
                let store = Store { access, value };
                let kept = self.memory.keeps() && self.atomic != Some(id);
                let writing = Writing { thread: id, pc: self.own(id).pc(), store, order, kept };
                if let Some(race) = see.write(&writing) {
                    return Err(self.race(code, access, &race));
                }
                if kept {
                    self.memory.keep(id, store, order);
                } else {
                    self.put(store);
                }
                Ok(0)
            }
            Visible::Update { access, order, failure, wait, .. } => {
                let found = self.find(code, id, access).map_err(memory_error)?;
                let thread = self.own(id);
                let new = match thread.reaction(code, found.value) {
                    Reaction::Block => unreachable!("not among the moves"),
                    Reaction::Read => None,
                    Reaction::Write(new) => Some(new),
                    Reaction::Pick(_) => Some(thread.picked(found.value, pick)),
                };
                let order = if new.is_some() { order } else { failure };
                self.read(code, id, access, found, (order, wait.then_some(failure)), new, see)?;
                if let Some(value) = new {
                    self.materialise(code, access)?;
                    self.put(Store { access, value });
                }
                Ok(found.value)
            }
            Visible::Fence { order } => {
                self.memory.fence(id, order);
                see.fence(id, order);
                Ok(0)
            }
            Visible::Choose { .. } => {
                see.choose(id, pick);
                Ok(u64::from(pick))
            }
            Visible::Spawn { .. } => {
                let Some(child) = self.own(id).next_child(code) else {
                    return Err((None, "the program starts too many threads".into()));
                };
                let thread = self.own(id).spawned(code, child);
                let at = self.threads.partition_point(|started| started.thread.id() < child);
                self.threads.insert(at, Started { thread, joined: false });
                see.spawn(id, child);
                Ok(u64::from(child.0))
            }
            Visible::Join { thread: child } => {
                let name = code.name(child);
                let Some(at) = self.position(child) else {
                    return Err(lock_error(format!("join of {name}, which was never started")));
                };
                let Started { thread, joined } = &mut self.threads[at];
                if std::mem::replace(joined, true) {
                    return Err(lock_error(format!("{name} is joined twice")));
                }
                let Status::Finished { result, .. } = *thread.status() else { unreachable!("not among the moves") };
                see.join(id, child);
                Ok(result)
            }
            Visible::Free { addr, scope } => {
                let located = self.locate(code, Access { addr, size: 0 }).map_err(memory_error)?;
                let freeable = located.mortal && (scope || (located.heap && addr == located.base));
                if !freeable {
                    let name = self.describe(code, addr);
                    return Err(memory_error(format!("free of {name}, which is not the start of an allocated object")));
                }
                self.ended.insert(located.base);
                see.free(id, addr);
                Ok(0)
            }
            Visible::AtomicBegin | Visible::AtomicEnd => {
                let begin = visible == Visible::AtomicBegin;
                self.atomic = begin.then_some(id);
                see.atomic(id, begin);
                Ok(0)
            }
        }
    }

    /// Tells of a read, the first half of an update included.
    #[allow(clippy::too_many_arguments)]
    fn read(
        &self,
        code: &Code,
        id: ThreadId,
        access: Access,
        Found { value, origin, .. }: Found,
        (order, looks): (Ordering, Option<Ordering>),
        writes: Option<u64>,
        see: &mut impl Recorder,
    ) -> Result<(), Wrong> {
        let reading = Reading { thread: id, pc: self.own(id).pc(), access, value, origin, order, looks, writes };
        see.read(&reading).map_or(Ok(()), |race| Err(self.race(code, access, &race)))
    }

    fn race(&self, code: &Code, access: Access, race: &Race) -> Wrong {
        (Some(Property::Race), race_message(code, &self.describe(code, access.addr), &race.this, &race.other))
    }
}
