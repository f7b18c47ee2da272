//! The states of the machine, to be searched.
//!
//! A state is the machine's own ([`State`]), and what follows from it is what the machine says. Beside that:
//!
//! * A turn of a loop without effect leads back to where it began. The machine lets a thread rest there, for those who count executions; a search over states need not, since
//!   it meets the state again.
//! * What no thread will read again is cleared ([`Thread::forget`](raddle_machine::Thread::forget)), unless that is switched off; so are threads that have ended and been waited for. Wake-ups at condition variables are counted from the last wait on, since nothing but the
//!   difference matters.
//! * What a thread does that no other thread can notice or prevent, now or later, is done first and alone (local events first, Calin 2016; here invisible work is done in one go
//!   by the machine, and this is about the visible operations that are local all the same): picking an alternative, starting a thread, a fence that need not
//!   wait, a look at a constant, and, with store buffers and if nobody looks for races, putting a store to a global object into the buffer.
//! * If that is asked for, a persistent set is followed.
//! * A store buffer may have a bound: a thread with so many stores on their way does not store (Calin 2016, section 6.4 of our notes on it says what is exact then).

use crate::footprint::Footprints;
use crate::memo::{Memo, recall};
use crate::parts::Numbers;
use crate::persistent::{self, Process, Reach};
use crate::semantics::{Breadth, Expanded, Part, Semantics};
use crate::sight::{Sight, everybody_turns, notice};
use crate::thread::Shared;
use raddle_machine::address::Owner;
use raddle_machine::memory::{Memory, Outgoing};
use raddle_machine::{
    Access, Addr, AnyMemory, Automaton, ByteMemory, Cell, Code, Contents, Ended, Failure, Live, Mailboxes, State,
    Status, Thread, Visible,
};
use raddle_program::Ordering;
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A state of the machine.
pub type Concrete = State<AnyMemory, Shared>;

/// The machine with a program and a memory model.
#[derive(Debug)]
pub struct Machine<'c> {
    /// The program.
    pub code: &'c Code,
    /// The memory model.
    pub model: Model,
    /// Whether races are looked for.
    pub races: bool,
    /// How many stores of a thread may be on their way.
    pub bound: Option<usize>,
    /// Instructions that nobody passes with something on its way.
    pub fences: BTreeSet<u32>,
    /// What may still be read, if the rest is to be cleared.
    pub live: Option<Live>,
    /// Whether what nobody can notice or prevent is done first and alone.
    pub local: bool,
    /// What may be accessed from each instruction on, if only persistent sets are followed.
    pub footprints: Option<Footprints>,
    /// Memory as the program finds it.
    pub memory: ByteMemory,
    /// How large the objects in it are.
    pub sizes: BTreeMap<Addr, u32>,
}

/// A part of states of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// A thread.
    Thread(Shared),
    /// A cell of a global object, in which something else stands than at first.
    Cell(Access, Cell),
    /// An object that is not there at first.
    Object(Addr, Arc<Contents>),
    /// What a thread has on its way.
    Outgoing(ThreadId, Outgoing),
    /// All else.
    Rest(Arc<Rest>),
}

/// What is left of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rest {
    joined: Vec<bool>,
    ended: Ended,
    atomic: Option<ThreadId>,
    mailboxes: Mailboxes,
}

impl Rest {
    /// Of a state with one thread, which nobody has waited for.
    pub(crate) fn of_one() -> Self {
        Rest { joined: vec![false], ..Rest::default() }
    }

    /// Who is in an atomic block.
    pub(crate) fn atomic(&self) -> Option<ThreadId> {
        self.atomic
    }
}

/// Cells are so large; the last one of an object may be smaller.
pub(crate) const CELL: u32 = 8;

/// The start of the cell that an access is to, if it is to one that is there at first.
pub(crate) fn cell_of(machine: &Machine<'_>, access: Access) -> Option<Addr> {
    let Access { addr, size } = access;
    let offset = addr.offset();
    let fits = offset % CELL + u32::from(size) <= CELL;
    let global = matches!(addr.owner(), Owner::Global(_)) && machine.memory.contains(addr.base());
    (global && fits).then(|| Addr(addr.0 - u64::from(offset % CELL)))
}

/// The cells of an object.
fn cells(base: Addr, size: u32) -> impl Iterator<Item = Access> {
    let cell = move |at: u32| Access { addr: Addr(base.0 + u64::from(at)), size: (size - at).min(CELL) as u8 };
    (0..size).step_by(CELL as usize).map(cell)
}

impl Part for Piece {
    fn number(&self) -> Option<u32> {
        match self {
            Piece::Thread(thread) => thread.number(),
            _ => None,
        }
    }

    fn remember(&mut self, number: u32) {
        if let Piece::Thread(thread) = self {
            thread.remember(number);
        }
    }
}

impl<'c> Machine<'c> {
    /// The machine with this program, everything cleared that will not be read.
    pub fn new(code: &'c Code, model: Model) -> Self {
        let live = Some(Live::new(code));
        Machine {
            code,
            model,
            races: false,
            bound: None,
            fences: BTreeSet::new(),
            live,
            local: true,
            footprints: None,
            memory: ByteMemory::initial(code),
            sizes: code.shared_globals().map(|(base, bytes)| (base, bytes.len() as u32)).collect(),
        }
    }

    /// Whether stores are on their way for a while before everybody sees them.
    pub(crate) fn keeps(&self) -> bool {
        self.model != Model::Sc
    }

    /// What can happen next, and whether a store had to wait for room in its buffer.
    pub fn moves(&self, state: &Concrete) -> (Vec<Step>, bool) {
        let mut moves = state.moves(self.code);
        if state.memory().keeps() {
            // Whoever waits for a thread that is gone has nothing on its way, as if it were still there.
            moves.retain(|step| {
                let id = step.thread();
                let waits_for = match own(state, id).status() {
                    Status::Ready(Visible::Join { thread }) if matches!(step, Step::Run(_)) => Some(*thread),
                    _ => None,
                };
                waits_for.is_none_or(|other| state.thread(other).is_some() || state.memory().is_settled(id))
            });
        }
        if !self.fences.is_empty() {
            moves.retain(|step| {
                let (runs, id) = (matches!(step, Step::Run(_) | Step::Choose(..)), step.thread());
                !runs || state.memory().is_settled(id) || !self.fences.contains(&own(state, id).pc())
            });
        }
        let Some(bound) = self.bound else { return (moves, false) };
        let all = moves.len();
        moves.retain(|step| match step {
            Step::Run(id) => {
                let waiting = state.memory().waiting(*id).map_or(0, StoreBuffer::len);
                waiting < bound || !matches!(own(state, *id).status(), Status::Ready(Visible::Store { .. }))
            }
            _ => true,
        });
        let refused = moves.len() < all;
        (moves, refused)
    }

    /// The state that a move leads to.
    pub fn after(&self, state: &Concrete, step: Step) -> Concrete {
        self.after_unless(state, step, |_| false).expect("nothing is wrong with it")
    }

    /// The state that a move leads to, unless something is wrong with the thread that has moved.
    pub(crate) fn after_unless(
        &self,
        state: &Concrete,
        step: Step,
        wrong: impl Fn(&Shared) -> bool,
    ) -> Option<Concrete> {
        let mut next = state.clone();
        next.step(self.code, step, &mut ()).expect("it is among the moves");
        if wrong(own(&next, step.thread())) {
            return None;
        }
        self.tidy(&mut next);
        Some(next)
    }

    /// Takes out what makes no difference, of the threads that have changed.
    pub(crate) fn tidy(&self, state: &mut Concrete) {
        for thread in state.threads_mut().filter(|thread| thread.number().is_none()) {
            let thread = thread.change();
            thread.turn_again(self.code);
            if let Some(live) = &self.live {
                thread.forget(self.code, live);
            }
        }
        let changed = state.threads().filter(|thread| thread.number().is_none());
        let waited: Vec<ThreadId> = changed.filter(|thread| thread.has_waited()).map(Automaton::id).collect();
        for id in waited {
            let thread = state.thread_mut(id).expect("it is there").change();
            let (access, waits) = (thread.wakeups(), thread.take_waits());
            let bytes = state.memory_mut().bytes_mut();
            let (word, _) = bytes.read(access).expect("it has been woken");
            bytes.write(access, word - u64::from(waits)).expect("it has contents");
        }
    }

    /// Counts the arrivals at the barrier that the step was an arrival at from the beginning of the round. The arrivals at barriers in loops grow without end otherwise; that changes what other threads wait for, so
    /// who remembers moves by the thread that makes them cannot do it.
    pub fn forget_rounds(&self, before: &Concrete, step: Step, after: &mut Concrete) {
        let Some((barrier, None)) = before.thread(step.thread()).and_then(|thread| thread.at_barrier(self.code)) else {
            return;
        };
        let Some((word, _)) = after.memory_mut().bytes_mut().read(barrier) else { return };
        let mut settled = word;
        let waits = |thread: &Shared| matches!(thread.at_barrier(self.code), Some((at, Some(_))) if at == barrier);
        let waiting: Vec<ThreadId> = after.threads().filter(|thread| waits(thread)).map(Automaton::id).collect();
        let ids = if waiting.is_empty() { vec![step.thread()] } else { waiting };
        for id in ids {
            settled = after.thread_mut(id).expect("it is there").change().forget_rounds(self.code, barrier, word);
        }
        after.memory_mut().bytes_mut().write(barrier, settled).expect("it has contents");
    }

    /// Whether nothing is left of a thread that was waited for. Without it, to wait for its end once more is an error all the same.
    fn is_gone(&self, state: &Concrete, thread: &Shared) -> bool {
        let finished = matches!(thread.status(), Status::Finished { exit: false, .. });
        finished && self.live.is_some() && thread.objects_made() == 0 && state.memory().is_settled(thread.id())
    }

    /// Whether nobody can notice or prevent what the thread does next.
    pub(crate) fn is_local(&self, state: &Concrete, id: ThreadId) -> bool {
        match *own(state, id).status() {
            Status::Ready(visible) => match visible {
                Visible::Choose { .. } | Visible::Fence { .. } => true,
                Visible::Spawn { mailbox, .. } => mailbox.is_none() && !self.code.guesses_handles(),
                Visible::Load { access, order, wait: false } => {
                    self.code.is_constant(access.addr) && !(self.races && order == Ordering::NonAtomic)
                }
                Visible::Store { access, .. } => {
                    let global = matches!(access.addr.owner(), Owner::Global(_));
                    state.memory().keeps() && global && !self.races && state.has(self.code, access)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The threads of a persistent set, if that is less than all.
    fn persistent(&self, state: &Concrete, moves: &[Step]) -> Option<Vec<ThreadId>> {
        let footprints = self.footprints.as_ref()?;
        if everybody_turns(self, state, moves) {
            return None;
        }
        let outgoing: BTreeMap<ThreadId, _> = state
            .memory()
            .outgoing()
            .map(|(id, outgoing)| (id, persistent::of_outgoing(self, footprints, id, outgoing)))
            .collect();
        let threads: Vec<_> = state.threads().collect();
        let runs: Vec<_> = threads.iter().map(|thread| persistent::of_thread(self, footprints, thread)).collect();
        let place = |id: ThreadId| threads.iter().position(|thread| thread.id() == id);
        let process = |(thread, runs)| {
            let thread: &Shared = thread;
            let id = thread.id();
            Process {
                runs,
                arrives: outgoing.get(&id),
                waits_for: persistent::waits_for(thread).and_then(place),
                moves: moves.iter().filter(|step| step.thread() == id).count() as u32,
            }
        };
        let processes: Vec<Process<&Reach>> = threads.iter().copied().zip(&runs).map(process).collect();
        let set = persistent::smallest(&processes, Reach::meets)?;
        let followed = threads.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        Some(followed.map(|(_, thread)| thread.id()).collect())
    }

    /// Who can be let go first and alone. A thread fails where one of its stores arrives too late, which keeps it from going on, so it is none that has such a store on its way.
    fn local(&self, state: &Concrete, moves: &[Step]) -> Option<ThreadId> {
        let runs = moves.iter().filter(|step| matches!(step, Step::Run(_) | Step::Choose(..)));
        let arrives_safely = |id: ThreadId| {
            let mut waiting = state.memory().waiting(id).into_iter().flat_map(StoreBuffer::iter);
            waiting.all(|store| cell_of(self, store.access).is_some())
        };
        runs.map(|step| step.thread())
            .find(|&id| state.atomic().is_none() && self.is_local(state, id) && arrives_safely(id))
    }
}

/// A thread that is there.
pub(crate) fn own(state: &Concrete, id: ThreadId) -> &Shared {
    state.thread(id).expect("it has been started")
}

/// More can happen next than a search can number.
fn too_many(state: &Concrete, moves: &[Step]) -> Failure {
    let picks = moves.iter().find(|step| matches!(step, Step::Choose(..)));
    let pc = own(state, picks.unwrap_or(&moves[0]).thread()).pc();
    let message = format!("there are {} ways to go on, which are too many to look at each", moves.len());
    Failure { property: None, message, pc, pending: false }
}

impl Semantics for Machine<'_> {
    type State = Concrete;
    type Part = Piece;
    type Sight = Sight;
    type Memo = Memo;

    fn initial(&self) -> Concrete {
        let memory = AnyMemory::of(self.model, self.memory.clone());
        let mut state = State::new(memory, Shared::new(Thread::main(self.code, false)));
        self.tidy(&mut state);
        state
    }

    fn split(&self, state: &Concrete, see: &mut dyn FnMut(&Piece)) {
        let mut joined = Vec::with_capacity(state.threads().len());
        for (thread, was_joined) in state.threads().zip(state.joined()) {
            if !(was_joined && self.is_gone(state, thread)) {
                joined.push(was_joined);
                see(&Piece::Thread(thread.clone()));
            }
        }
        let ended = state.ended().clone();
        see(&Piece::Rest(Arc::new(Rest {
            joined,
            ended,
            atomic: state.atomic(),
            mailboxes: state.mailboxes().clone(),
        })));
        let mut first = self.memory.objects().peekable();
        for (base, contents) in state.memory().bytes().objects() {
            match first.next_if(|(known, _)| *known == base) {
                None => see(&Piece::Object(base, contents.clone())),
                Some((_, was)) if Arc::ptr_eq(was, contents) => {}
                Some(_) => {
                    for cell in cells(base, self.sizes[&base]) {
                        let found = state.memory().bytes().cell(cell);
                        if found != self.memory.cell(cell) {
                            see(&Piece::Cell(cell, found.expect("it is a part of the object")));
                        }
                    }
                }
            }
        }
        for (thread, outgoing) in state.memory().outgoing() {
            see(&Piece::Outgoing(thread, outgoing.clone()));
        }
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &Piece>) -> Concrete {
        let mut memory = AnyMemory::of(self.model, self.memory.clone());
        let (mut threads, mut rest) = (Vec::new(), None);
        for part in parts {
            match part {
                Piece::Thread(thread) => threads.push(thread.clone()),
                Piece::Cell(access, cell) => {
                    memory.bytes_mut().set_cell(*access, *cell).expect("it is a part of a global object");
                }
                Piece::Object(base, contents) => memory.bytes_mut().set(*base, contents.clone()),
                Piece::Outgoing(thread, outgoing) => memory.set_outgoing(*thread, outgoing.clone()),
                Piece::Rest(all) => rest = Some(all),
            }
        }
        let rest = rest.expect("every state has one");
        let threads = threads.into_iter().zip(rest.joined.iter().copied());
        State::of_parts(threads, memory, rest.ended.clone(), rest.atomic, rest.mailboxes.clone())
    }

    fn expand(&self, state: &Concrete, breadth: Breadth, next: &mut dyn FnMut(u16, Concrete)) -> Expanded<Sight> {
        let (moves, full) = self.moves(state);
        let enough = breadth == Breadth::Enough && moves.len() > 1;
        let alone = if enough && self.local { self.local(state, &moves) } else { None };
        let set = if enough && alone.is_none() { self.persistent(state, &moves) } else { None };
        let is_followed = |step: &Step| {
            let runs = matches!(step, Step::Run(_) | Step::Choose(..));
            alone.is_none_or(|alone| runs && step.thread() == alone)
                && set.as_ref().is_none_or(|set| set.contains(&step.thread()))
        };
        let mut sight = notice(self, state, &moves, full);
        if moves.len() > usize::from(u16::MAX) {
            sight.failures.push(too_many(state, &moves));
            return Expanded { sight, reduced: false };
        }
        let mut left_out = false;
        for (number, &step) in moves.iter().enumerate() {
            if is_followed(&step) {
                next(number as u16, self.after(state, step));
            } else {
                left_out = true;
            }
        }
        Expanded { sight, reduced: left_out }
    }

    fn recall(
        &self,
        memo: &mut Memo,
        numbers: &mut Numbers<'_, Piece>,
        parts: &[u32],
        breadth: Breadth,
        next: &mut dyn FnMut(u16, &[u32]),
    ) -> Option<Expanded<Sight>> {
        if !memo.is_doubted() {
            return recall(self, memo, numbers, parts, breadth, next);
        }
        let (mut recalled, mut made) = (Vec::new(), Vec::new());
        let expanded = recall(self, memo, numbers, parts, breadth, &mut |by, list| {
            recalled.push((by, list.to_vec()));
            next(by, list);
        })?;
        let state = self.join(&mut parts.iter().map(|&part| numbers.get(part)));
        let all = self.expand(&state, breadth, &mut |by, next| {
            let mut list = Vec::new();
            self.split(&next, &mut |piece| list.push(numbers.number(piece)));
            made.push((by, list));
        });
        assert_eq!(recalled, made, "what was remembered is not what the machine does");
        assert_eq!((&expanded.sight, expanded.reduced), (&all.sight, all.reduced));
        Some(expanded)
    }
}
