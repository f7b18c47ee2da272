//! The state of a running program, as a plain value, and what can happen next.
//!
//! A state is its threads, memory, the objects whose lives have ended, who is in an atomic block, and what is in mailboxes: what decides how a run goes on,
//! and what only tells how it came about makes no difference: states that go on in the same way can be equal and meet in a hash table. [`State::moves`] lists what can happen next, [`State::step`] does it and tells a [`Recorder`].
//! It is written to be obviously right, not to be fast: engines are held against it.
//!
//! What is the same under every model stands here, and what is not in [`memory`](crate::memory).

use crate::address::{Addr, Owner};
use crate::automaton::{Access, Automaton, Reaction, Status, Visible};
use crate::bytes::{ByteMemory, Written};
use crate::code::Code;
use crate::mailboxes::Mailboxes;
use crate::memory::{Act, Found, From, Memory, Origin, Store};
use crate::names::{Contents, Located};
use crate::race::{Race, race_message};
use crate::recorder::{Reading, Recorder, Writing};
use crate::thread::Thread;
use raddle_program::Ordering;
use raddle_trace::{EventId, Property, Step, StoreBuffer, ThreadId};
use std::collections::BTreeMap;

/// A thread that has been started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Started<T> {
    thread: T,
    /// Whether somebody has waited for its end.
    joined: bool,
}

/// The starts of the objects whose lives have ended; and by whom, as long as stores to them that this thread has made before are on their way.
pub type Ended = BTreeMap<Addr, Option<ThreadId>>;

/// The state of a running program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<M, T = Thread> {
    /// In the order of their numbers.
    threads: Vec<Started<T>>,
    memory: M,
    ended: Ended,
    /// Who is in an atomic block.
    atomic: Option<ThreadId>,
    mailboxes: Mailboxes,
}

/// What a step says beside whose it is.
#[derive(Clone, Copy, Debug)]
struct Pick {
    /// Which alternative.
    alternative: u32,
    /// Which write it reads from.
    from: From,
    /// Which place its write has.
    at: usize,
}

/// A way in which an access can be done, where steps name sources and places.
#[derive(Clone, Copy, Debug)]
struct Offer {
    step: Step,
    /// What memory would have to allow.
    act: Option<Act>,
}

/// What about a step is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Everything is.
    Nothing,
    /// Whether memory allows the source or the place that is named.
    Named,
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
        State { threads: vec![main], memory, ended: Ended::new(), atomic: None, mailboxes: Mailboxes::default() }
    }

    /// The state that is made of these parts: threads in the order of their numbers, whether somebody has waited for the end of each, memory, the
    /// objects whose lives have ended, who is in an atomic block, and what is in mailboxes.
    pub fn of_parts(
        threads: impl IntoIterator<Item = (T, bool)>,
        memory: M,
        ended: Ended,
        atomic: Option<ThreadId>,
        mailboxes: Mailboxes,
    ) -> Self {
        let threads = threads.into_iter().map(|(thread, joined)| Started { thread, joined }).collect();
        State { threads, memory, ended, atomic, mailboxes }
    }

    /// Whether somebody has waited for the end of each thread, in the order of their numbers.
    pub fn joined(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        self.threads.iter().map(|started| started.joined)
    }

    /// What is in mailboxes.
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// Who is in an atomic block.
    pub fn atomic(&self) -> Option<ThreadId> {
        self.atomic
    }

    /// Whether there is memory at this place now.
    pub fn has(&self, code: &Code, access: Access) -> bool {
        self.locate(code, access).is_ok()
    }

    /// The threads, in the order of their numbers.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = &T> {
        self.threads.iter().map(|started| &started.thread)
    }

    /// The thread with this number.
    pub fn thread(&self, id: ThreadId) -> Option<&T> {
        self.position(id).map(|at| &self.threads[at].thread)
    }

    /// The threads, to change them.
    pub fn threads_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.threads.iter_mut().map(|started| &mut started.thread)
    }

    /// The thread with this number, to change it.
    pub fn thread_mut(&mut self, id: ThreadId) -> Option<&mut T> {
        self.position(id).map(|at| &mut self.threads[at].thread)
    }

    /// Memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Memory, to change it.
    pub fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// The objects whose lives have ended.
    pub fn ended(&self) -> &Ended {
        &self.ended
    }

    /// A name for an address.
    pub fn describe(&self, code: &Code, addr: Addr) -> String {
        code.describe(addr, &|id| self.thread(id))
    }

    /// What a value is, if it is the address of something.
    pub fn pointee(&self, code: &Code, value: u64) -> Option<String> {
        code.pointee(value, &|id| self.thread(id))
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
            if let Some(steps) = self.named_steps(code, id) {
                moves.extend(steps);
                continue;
            }
            match self.alternatives(code, id) {
                Some(0) | None => {}
                Some(1) => moves.push(Step::Run(id)),
                Some(n) => moves.extend((0..n).map(|pick| Step::Choose(id, pick))),
            }
        }
        moves
    }

    /// Whether nothing more has to happen: what waits waits for what memory shows it in the end, even if it could have seen something else.
    pub fn is_over(&self, code: &Code) -> bool {
        let misses = |id: ThreadId| {
            let thread = self.own(id);
            let Status::Ready(Visible::Load { access, wait: true, .. } | Visible::Update { access, wait: true, .. }) =
                *thread.status()
            else {
                return false;
            };
            let last = self.find(code, id, access, From::Last);
            last.is_ok_and(|last| thread.reaction(code, last.value) == Reaction::Block)
        };
        let moves = self.moves(code);
        let may_miss = self.memory.is_named() && self.memory.last_is_seen();
        moves.is_empty() || (may_miss && moves.iter().all(|step| misses(step.thread())))
    }

    /// The ways in which the thread's pending access can be done, where steps name sources and places; `None` if there is nothing to name.
    fn named_steps(&self, code: &Code, id: ThreadId) -> Option<Vec<Step>> {
        let mut offers = self.offers(code, id)?;
        offers.retain(|offer| offer.act.is_none_or(|act| self.memory.refuses(id, act).is_none()));
        Some(offers.into_iter().map(|offer| offer.step).collect())
    }

    /// Like [`State::named_steps`], whatever the memory says to it.
    fn offers(&self, code: &Code, id: ThreadId) -> Option<Vec<Offer>> {
        let thread = self.own(id);
        let Status::Ready(visible) = *thread.status() else { return None };
        let (Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. }) = visible
        else {
            return None;
        };
        if !self.memory.is_named() {
            return None;
        }
        if self.locate(code, access).is_err() || !self.memory.is_possible(access) {
            return Some(vec![Offer { step: Step::Run(id), act: None }]);
        }
        let mut offers = Vec::new();
        let mut offer = |act: Act, step: Step| offers.push(Offer { step, act: Some(act) });
        if let Visible::Store { value, order, .. } = visible {
            for at in 0..self.memory.places(access) {
                offer(Act::Write { store: Store { access, value }, order, at }, Step::WriteAt(id, at as u32));
            }
            return Some(offers);
        }
        for source in self.memory.sources(access) {
            let from = source.map_or(From::Initial, From::Write);
            let Ok(found) = self.find(code, id, access, from) else {
                offer(reads(visible, source), Step::ReadFrom(id, source, None));
                continue;
            };
            match thread.reaction(code, found.value) {
                Reaction::Block => {}
                Reaction::Read => offer(reads(visible, source), Step::ReadFrom(id, source, None)),
                Reaction::Write(new) => offer(updates(visible, source, new), Step::ReadFrom(id, source, None)),
                Reaction::Pick(count) => {
                    for pick in 0..count {
                        let act = updates(visible, source, thread.picked(found.value, pick));
                        offer(act, Step::ReadFrom(id, source, Some(pick).filter(|_| count > 1)));
                    }
                }
            }
        }
        Some(offers)
    }

    /// A step in full, where steps name sources and places, if it is on offer; and what it picks. Memory is asked unless the step is taken on
    /// trust.
    fn resolved(&self, code: &Code, step: Step, offers: &[Offer], trust: Trust) -> Result<Pick, String> {
        let id = step.thread();
        let last = Pick { alternative: 0, from: From::Last, at: 0 };
        let access = match *self.own(id).status() {
            Status::Ready(
                Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. },
            ) => access,
            _ => unreachable!("it has an access to do"),
        };
        if let [Offer { act: None, .. }] = offers {
            return Ok(last);
        }
        let stores = matches!(self.own(id).status(), Status::Ready(Visible::Store { .. }));
        let source = || self.memory.sources(access).last().copied().flatten();
        let full = match step {
            Step::Run(_) if stores => Step::WriteAt(id, self.memory.places(access) as u32 - 1),
            Step::Run(_) => Step::ReadFrom(id, source(), None),
            Step::Choose(_, pick) => Step::ReadFrom(id, source(), Some(pick)),
            _ => step,
        };
        let offered = offers.iter().find(|offer| offer.step == full).and_then(|offer| offer.act);
        let asks = trust == Trust::Nothing;
        if offered.is_none_or(|act| asks && self.memory.refuses(id, act).is_some()) {
            return Err(format!("{} cannot do this: {}", code.name(id), self.why_not(code, full)));
        }
        Ok(match full {
            Step::ReadFrom(_, source, pick) => {
                Pick { alternative: pick.unwrap_or(0), from: source.map_or(From::Initial, From::Write), ..last }
            }
            Step::WriteAt(_, at) => Pick { at: at as usize, ..last },
            _ => last,
        })
    }

    /// Why an access is not possible with this source or at this place.
    fn why_not(&self, code: &Code, step: Step) -> String {
        let id = step.thread();
        let Status::Ready(visible) = *self.own(id).status() else { unreachable!("it has an access to do") };
        let broken = |act: Act| self.memory.refuses(id, act).unwrap_or_else(|| "this is no alternative here".into());
        match (visible, step) {
            (Visible::Store { access, value, order }, Step::WriteAt(_, at)) => {
                let (at, places) = (at as usize, self.memory.places(access));
                if at >= places {
                    return format!("it can be put at 0 to {} among the writes of its location", places - 1);
                }
                broken(Act::Write { store: Store { access, value }, order, at })
            }
            (Visible::Store { .. }, _) => "it writes; what is named is a place, as in `1@0`".into(),
            (Visible::Load { access, .. } | Visible::Update { access, .. }, Step::ReadFrom(_, source, pick)) => {
                if !self.memory.sources(access).contains(&source) {
                    return "the event that it is to read from writes nothing there, or not yet".into();
                }
                let found = self.find(code, id, access, source.map_or(From::Initial, From::Write));
                let value = found.map_or(0, |found| found.value);
                let thread = self.own(id);
                match thread.reaction(code, value) {
                    Reaction::Block => "it waits for another value".into(),
                    Reaction::Read => broken(reads(visible, source)),
                    Reaction::Write(new) => broken(updates(visible, source, new)),
                    Reaction::Pick(_) => broken(updates(visible, source, thread.picked(value, pick.unwrap_or(0)))),
                }
            }
            _ => "it reads; what is named is a write, as in `1<0.3`, or `1<i` for the initial one".into(),
        }
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
                let Ok(Found { value, .. }) = self.find(code, id, access, From::Last) else { return Some(1) };
                match thread.reaction(code, value) {
                    Reaction::Block => Some(0),
                    Reaction::Pick(n) => Some(n),
                    Reaction::Read | Reaction::Write(_) => Some(1),
                }
            }
            Visible::Fence { order } => once(order != Ordering::SeqCst || settled),
            Visible::Choose { count } => Some(count),
            Visible::Free { .. } => Some(1),
            Visible::Spawn { .. } | Visible::AtomicEnd | Visible::AtomicBegin => once(settled),
            Visible::Take { mailbox: looper } => {
                let mailbox = code.mailbox(looper).expect("checked when it was posted");
                once(self.mailboxes.can_take(looper, mailbox, id))
            }
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
    pub(crate) fn racing_look(&self, code: &Code, id: ThreadId, see: &impl Recorder) -> Option<(Access, Race)> {
        let thread = self.own(id);
        let (access, order) = match *thread.status() {
            Status::Ready(Visible::Load { access, order, wait: true }) => (access, order),
            Status::Ready(Visible::Update { access, failure, wait: true, .. }) => (access, failure),
            _ => return None,
        };
        let found = self.find(code, id, access, From::Last).ok()?;
        let in_vain = self.alternatives(code, id) == Some(0) && thread.reaction(code, found.value) == Reaction::Block;
        let race = see.look(id, thread.pc(), access, order).filter(|_| in_vain)?;
        Some((access, race))
    }

    /// Lets a thread that waits look in vain, if that is a race.
    fn looks_in_vain(&mut self, code: &Code, id: ThreadId, see: &mut impl Recorder) -> Option<()> {
        let (access, race) = self.racing_look(code, id, see)?;
        see.begin(id, self.own(id).pc(), self.own(id).made());
        let (property, message) = self.race(code, access, &race, see);
        see.fail(id);
        self.own_mut(id).fail(property, message);
        Some(())
    }

    /// Does a step. Fails with an explanation, and changes nothing, if it is neither one of [`State::moves`] nor a look in vain that races.
    pub fn step(&mut self, code: &Code, step: Step, see: &mut impl Recorder) -> Result<(), String> {
        self.take(code, step, see, Trust::Nothing)
    }

    /// Does a step, and takes it on trust that memory allows the source or the place that it names. Whoever does so asks [`State::refuses_run`] in the end.
    pub fn follow(&mut self, code: &Code, step: Step, see: &mut impl Recorder) -> Result<(), String> {
        self.take(code, step, see, Trust::Named)
    }

    /// Whether memory refuses something that was done on trust.
    pub fn refuses_run(&self) -> bool {
        self.memory.refuses_run()
    }

    /// Whether the first thread is alone and there is one way for it to go on.
    pub fn is_in_opening(&self, code: &Code, id: ThreadId) -> bool {
        let meets_others = |visible: &Visible| {
            matches!(
                visible,
                Visible::Spawn { .. } | Visible::Choose { .. } | Visible::Join { .. } | Visible::AtomicBegin
            )
        };
        let [Started { thread, .. }] = self.threads.as_slice() else { return false };
        let goes_on = matches!(thread.status(), Status::Ready(visible) if !meets_others(visible));
        goes_on && thread.id() == id && self.alternatives(code, id) == Some(1)
    }

    fn take(&mut self, code: &Code, step: Step, see: &mut impl Recorder, trust: Trust) -> Result<(), String> {
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
        if !self.is_in_opening(code, id) {
            self.memory.end_opening();
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
            Step::ReadFrom(..) | Step::WriteAt(..) if !self.memory.is_named() => {
                return Err(format!("{name} cannot say what it reads from or where it writes: memory knows that"));
            }
            Step::ReadFrom(..) | Step::WriteAt(..) => None,
        };
        if let Some(offers) = self.offers(code, id).filter(|offers| !offers.is_empty()) {
            return match self.resolved(code, step, &offers, trust) {
                Ok(pick) => {
                    self.run(code, id, pick, see);
                    Ok(())
                }
                Err(reason) => self.looks_in_vain(code, id, see).ok_or(reason),
            };
        }
        match self.alternatives(code, id) {
            None => return Err(format!("{name} has nothing more to do")),
            Some(0) => {
                let looks = self.looks_in_vain(code, id, see);
                return looks.ok_or_else(|| format!("{name} cannot do its next operation now"));
            }
            Some(1) if pick.is_none() => {}
            Some(n) => match pick {
                Some(pick) if pick < n && n > 1 => {}
                // Whoever knows how finds values that nobody enumerates.
                Some(pick) if code.is_input(self.own(id).pc(), pick) => {}
                _ => return Err(format!("{name} has {n} alternatives, and the step does not pick one of them")),
            },
        }
        self.run(code, id, Pick { alternative: pick.unwrap_or(0), from: From::Last, at: 0 }, see);
        Ok(())
    }

    /// Lets a store that is on its way arrive. Where its object has ended meanwhile that is an error, unless it was the thread itself that ended it, behind the store: then nobody is left to see
    /// what arrives.
    fn arrive(&mut self, code: &Code, id: ThreadId, at: usize, see: &mut impl Recorder) {
        let store = self.memory.take(id, at);
        let base = store.access.addr.base();
        let ended = self.ended.get(&base).copied();
        let lost = ended.is_some_and(|by| by != Some(id));
        let issued = see.arrive(id, at, store, lost);
        if lost {
            let name = self.describe(code, store.access.addr);
            let message = format!("a buffered write reaches {name} after its life has ended");
            let thread = self.own_mut(id);
            let pc = issued.unwrap_or(thread.pc());
            thread.fail_at(Property::Memory, message, pc);
            return;
        }
        if ended.is_none() {
            self.memory.put(store);
        } else {
            let by = self.has_on_its_way(id, base).then_some(id);
            self.ended.insert(base, by);
        }
        self.leave_message(id);
    }

    /// Whether a thread has a store to this object on its way.
    fn has_on_its_way(&self, id: ThreadId, base: Addr) -> bool {
        let mut stores = self.memory.waiting(id).into_iter().flat_map(StoreBuffer::iter);
        stores.any(|store| store.access.addr.base() == base)
    }

    /// A looper has done with a message when it has ended and nothing of it is on its way.
    fn leave_message(&mut self, id: ThreadId) {
        if let Some(looper) = self.own(id).message()
            && matches!(self.own(id).status(), Status::Finished { .. })
            && self.memory.is_settled(id)
        {
            self.mailboxes.done(looper);
        }
    }

    /// What a thread finds at a place; or what is wrong.
    fn find(&self, code: &Code, id: ThreadId, access: Access, from: From) -> Result<Found, String> {
        let located = self.locate(code, access)?;
        let fresh = located.contents.value(access);
        let found = self.memory.find(id, access, from, (fresh.unwrap_or(0), Written::all(fresh.is_some())));
        if found.written == Written::All {
            return Ok(found);
        }
        match self.own(id).finds_unwritten(code, found.written.stands_for(found.value, access.size)) {
            Some(value) => Ok(Found { value, ..found }),
            None => Err(format!("read of {}, which was never written", self.describe(code, access.addr))),
        }
    }

    /// What a thread would find at a place if it looked now; `None` if that would be wrong.
    pub fn look(&self, code: &Code, id: ThreadId, access: Access) -> Option<Found> {
        self.find(code, id, access, From::Last).ok()
    }

    fn locate<'c>(&self, code: &'c Code, access: Access) -> Result<Located<'c>, String> {
        let located = code.locate(access, &|id| self.thread(id))?;
        if self.ended.contains_key(&located.base) {
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
    fn run(&mut self, code: &Code, id: ThreadId, pick: Pick, see: &mut impl Recorder) {
        let Status::Ready(visible) = *self.own(id).status() else { unreachable!("checked by the caller") };
        see.begin(id, self.own(id).pc(), self.own(id).made());
        match self.perform(code, id, visible, pick, see) {
            Ok(answer) => {
                see.end(id);
                self.own_mut(id).answer(code, answer, pick.alternative);
                self.leave_message(id);
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
        pick: Pick,
        see: &mut impl Recorder,
    ) -> Result<u64, Wrong> {
        if let Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. } = visible
            && !self.memory.is_possible(access)
        {
            let name = self.describe(code, access.addr);
            return Err((
                None,
                format!("accesses of different sizes to {name} have no meaning under this memory model"),
            ));
        }
        match visible {
            Visible::Load { access, order, wait } => {
                let found = self.find(code, id, access, pick.from).map_err(memory_error)?;
                self.read(code, id, access, found, (order, wait.then_some(order)), None, see)?;
                self.memory.done(id, reads(visible, named(found.origin)));
                Ok(found.value)
            }
            Visible::Store { access, order, value } => {
                self.materialise(code, access)?;
                let store = Store { access, value };
                let kept = self.memory.keeps() && self.atomic != Some(id);
                let maker = self.maker(access.addr);
                let writing = Writing { thread: id, pc: self.own(id).pc(), store, order, kept, maker };
                if let Some(race) = see.write(&writing) {
                    return Err(self.race(code, access, &race, see));
                }
                if kept {
                    self.memory.keep(id, store, order);
                } else {
                    self.memory.put(store);
                }
                self.memory.done(id, Act::Write { store, order, at: pick.at });
                Ok(0)
            }
            Visible::Update { access, order, failure, wait, .. } => {
                let found = self.find(code, id, access, pick.from).map_err(memory_error)?;
                let thread = self.own(id);
                let new = match thread.reaction(code, found.value) {
                    Reaction::Block => unreachable!("not among the moves"),
                    Reaction::Read => None,
                    Reaction::Write(new) => Some(new),
                    Reaction::Pick(_) => Some(thread.picked(found.value, pick.alternative)),
                };
                let order = if new.is_some() { order } else { failure };
                self.read(code, id, access, found, (order, wait.then_some(failure)), new, see)?;
                let source = named(found.origin);
                let act = match new {
                    Some(value) => {
                        self.materialise(code, access)?;
                        self.memory.put(Store { access, value });
                        updates(visible, source, value)
                    }
                    None => reads(visible, source),
                };
                self.memory.done(id, act);
                Ok(found.value)
            }
            Visible::Fence { order } => {
                self.memory.fence(id, order);
                self.memory.done(id, Act::Fence(order));
                see.fence(id, order);
                Ok(0)
            }
            Visible::Choose { .. } => {
                self.memory.done(id, Act::Other);
                see.choose(id, pick.alternative);
                Ok(u64::from(pick.alternative))
            }
            Visible::Spawn { mailbox: Some(_), .. } | Visible::Take { .. } if self.memory.is_named() => {
                Err((None, "mailboxes have no meaning under this memory model".into()))
            }
            Visible::Take { mailbox } => {
                self.mailboxes.take(mailbox, id);
                see.take(id, mailbox);
                Ok(0)
            }
            Visible::Spawn { mailbox, .. } => {
                let Some(child) = self.own(id).next_child(code) else {
                    return Err((None, raddle_trace::threads::TOO_MANY.into()));
                };
                let thread = self.own(id).spawned(code, child);
                let at = self.threads.partition_point(|started| started.thread.id() < child);
                self.threads.insert(at, Started { thread, joined: false });
                self.memory.done(id, Act::Spawn(child));
                match mailbox {
                    Some(looper) => {
                        let kind = code.mailbox(looper).expect("checked by the thread");
                        self.mailboxes.post(looper, kind, child);
                        see.post(id, child, (looper, kind));
                    }
                    None => see.spawn(id, child),
                }
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
                self.memory.done(id, Act::Join(child));
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
                if !self.memory.may_end(id, located.base) {
                    let name = self.describe(code, addr);
                    return Err(memory_error(format!("the life of {name} ends while others may still use it")));
                }
                let by = self.has_on_its_way(id, located.base).then_some(id);
                self.ended.insert(located.base, by);
                self.memory.done(id, Act::Other);
                see.free(id, addr);
                Ok(0)
            }
            Visible::AtomicBegin | Visible::AtomicEnd if self.memory.is_named() => {
                Err((None, "atomic blocks have no meaning under this memory model".into()))
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
        let (pc, maker) = (self.own(id).pc(), self.maker(access.addr));
        let reading = Reading { thread: id, pc, access, value, origin, order, looks, writes, maker };
        see.read(&reading).map_or(Ok(()), |race| Err(self.race(code, access, &race, see)))
    }

    fn race(&self, code: &Code, access: Access, race: &Race, see: &mut impl Recorder) -> Wrong {
        see.raced(race);
        (Some(Property::Race), race_message(code, &self.describe(code, access.addr), race))
    }

    /// Who made the object that this points into, and as how many-th, if a thread did.
    fn maker(&self, addr: Addr) -> Option<(ThreadId, u32)> {
        let Owner::Thread(maker, number) = addr.owner() else { return None };
        Some((maker, self.thread(maker)?.position(number)?))
    }
}

/// The write that a step named.
fn named(origin: Origin) -> Option<EventId> {
    match origin {
        Origin::Event(write) => write,
        Origin::Memory | Origin::Own(_) => None,
    }
}

/// What it is to memory that an operation reads only.
fn reads(visible: Visible, from: Option<EventId>) -> Act {
    match visible {
        Visible::Load { access, order, .. } | Visible::Update { access, failure: order, .. } => {
            Act::Read { access, from, order }
        }
        _ => unreachable!("it reads"),
    }
}

/// What it is to memory that an update writes this.
fn updates(visible: Visible, from: Option<EventId>, value: u64) -> Act {
    match visible {
        Visible::Update { access, order, .. } => Act::Update { store: Store { access, value }, from, order },
        _ => unreachable!("it is an update"),
    }
}
