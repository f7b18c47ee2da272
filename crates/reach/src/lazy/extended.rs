//! A program with delays built in, without store buffers; and attacks on it.
//!
//! Calin 2016 extends a program by the instructions of a delay: stores are captured in registers, loads look there first, and what was captured is stored in the end (section 8.2 of our notes). Here
//! nothing is written: the extended program is the machine of TSO with a rule about who may do what. With a set `W` of [words](super::words):
//!
//! * A thread that has captured nothing stores at once, unless a word begins with that store: then it captures it (*exact*), or may (*additive*).
//! * A thread that has captured something is at a beginning `v` of words. It does an operation if `v` goes on with that; or it stores the oldest thing captured, and is at `v` with an arrival,
//!   or, if no word goes on so, stores all it has captured before it does anything else.
//!
//! So every run is one of TSO, and is replayed as it is. Seen as a program, the first of these stores that leaves `v` though `v` goes on with what comes next is followed by a fence (notes, step 10), and the others are stores like
//! any. Every run of TSO is a run of that program under TSO: capture what must be captured, leave where the run leaves. So if no [attack](crate::robust::attack) on it succeeds, its
//! states without buffers are all there are under TSO. An attack that succeeds delays a store past a load; what its thread does from the last empty buffer on, as TSO sees it, is a word that is not in `W`: the delayed store
//! began no word, or `v` did not go on so.
//!
//! While an attacker delays, its buffer is what the attack delays (the first so many) and behind it what is captured. Which of the two it stores next is never a choice: it captures what words let
//! it, and lets go, into the part that is delayed, what they do not.

use super::words::{Letter, Node, ROOT, Words};
use crate::machine::{Concrete, Machine, Piece, own};
use crate::overlay::{self, Known, Overlay, Ways};
use crate::parts::Numbers;
use crate::robust::attack::is_silent;
use crate::robust::late::Late;
use crate::robust::monitor::{Monitor, is_no_event, place};
use crate::schedule::Move;
use crate::search::Graph;
use crate::semantics::{Breadth, Expanded, Part, Semantics};
use crate::sight::{self, notice};
use crate::thread::Shared;
use crate::visited::Index;
use raddle_machine::memory::{Memory, Store};
use raddle_machine::{Access, Automaton, Code, Status, Visible};
use raddle_program::Ordering;
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A program with delays built in.
#[derive(Debug)]
pub struct Extended<'c> {
    /// The program.
    pub machine: Machine<'c>,
    /// The delays.
    pub words: Words,
    /// Whether what can be captured must be.
    pub exact: bool,
    /// Whether it is attacked.
    pub attacked: bool,
    /// How many operations each thread does at most (Calin 2016: unrolling).
    pub depth: Option<u32>,
    /// What an attack can delay by the code alone.
    pub(super) late: Arc<Late>,
}

/// A state of it.
#[derive(Clone, Debug)]
pub struct Extension {
    pub(super) state: Concrete,
    own: Own,
}

impl Extension {
    /// The machine's part of it.
    pub fn state(&self) -> &Concrete {
        &self.state
    }
}

/// What a state has beside that of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Own {
    /// At which beginning of words threads are that have captured something; none if they store it all.
    at: BTreeMap<ThreadId, Option<Node>>,
    /// How many operations threads have done, if that matters.
    done: BTreeMap<ThreadId, u32>,
    /// How many stores the attack delays.
    late: usize,
    /// If captures are not forced, the beginning that the attacker has followed, unless it has left all words.
    along: Option<Node>,
    monitor: Monitor,
}

/// A part of such states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExtendedPart {
    /// Of the program.
    Piece(Piece),
    /// All else.
    Own(Arc<OwnPart>),
}

/// What a state has beside that of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnPart(Own);

impl Part for ExtendedPart {
    fn number(&self) -> Option<u32> {
        match self {
            ExtendedPart::Piece(piece) => piece.number(),
            ExtendedPart::Own(_) => None,
        }
    }

    fn remember(&mut self, number: u32) {
        if let ExtendedPart::Piece(piece) = self {
            piece.remember(number);
        }
    }
}

/// What is worth noticing about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// What is wrong with it, unless it is attacked.
    pub machine: sight::Sight,
    /// An attack has succeeded.
    pub success: bool,
    /// Who could do what no word allows.
    pub outside: Vec<ThreadId>,
    /// A thread has done as many operations as it may, here.
    pub cut: Option<u32>,
    /// Why and where the program cannot be followed any further.
    pub stuck: Option<(String, u32)>,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) step: Step,
    pub(super) how: How,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As the machine does it.
    Plain,
    /// A store arrives at once.
    Direct,
    /// A store is captured.
    Captured,
    /// A store is delayed by the attack.
    Late,
    /// The attacker makes its last load.
    Last,
}

impl<'c> Extended<'c> {
    /// The program with these delays.
    pub fn new(code: &'c Code, words: Words) -> Self {
        Extended::with(code, words, Arc::new(Late::new(code, &BTreeSet::new())))
    }

    /// The same if it is known what the code lets attacks delay.
    pub(super) fn with(code: &'c Code, words: Words, late: Arc<Late>) -> Self {
        Extended { machine: Machine::new(code, Model::Tso), words, exact: true, attacked: false, depth: None, late }
    }

    fn code(&self) -> &'c Code {
        self.machine.code
    }

    fn waiting<'s>(&self, state: &'s Concrete, id: ThreadId) -> impl Iterator<Item = &'s Store> + use<'s> {
        state.memory().waiting(id).into_iter().flat_map(StoreBuffer::iter)
    }

    /// How much of what a thread has on its way is delayed by the attack.
    fn late(extension: &Extension, id: ThreadId) -> usize {
        if extension.own.monitor.attacker() == Some(id) { extension.own.late } else { 0 }
    }

    /// What a thread is about to do, as a letter.
    fn letter(state: &Concrete, id: ThreadId) -> Option<Letter> {
        let thread = own(state, id);
        matches!(thread.status(), Status::Ready(_)).then(|| Letter::Operation(thread.pc()))
    }

    /// Whether the words let a thread that has captured something go on with its next operation.
    fn goes_on(&self, extension: &Extension, id: ThreadId) -> Option<Node> {
        let node = extension.own.at.get(&id).copied().flatten()?;
        self.words.next(node, Self::letter(&extension.state, id)?)
    }

    /// What can happen next, and whether a thread has done as many operations as it may.
    pub(super) fn choices(&self, extension: &Extension) -> (Vec<Choice>, Option<u32>) {
        let Extension { state, own: Own { at, done, monitor, along, .. } } = extension;
        let (mut choices, mut cut) = (Vec::new(), None);
        for step in state.moves(self.code()) {
            let id = step.thread();
            let mut choose = |how| choices.push(Choice { step, how });
            let delays = monitor.attacker() == Some(id);
            if delays && (monitor.load.is_some() || matches!(step, Step::Flush(_))) {
                continue;
            }
            let may_attack = self.attacked && monitor.attacker.is_none();
            let thread = own(state, id);
            if monitor.lets_wait(thread) {
                continue;
            }
            if matches!(step, Step::Flush(_)) {
                choose(How::Plain);
                let ready = matches!(thread.status(), Status::Ready(_));
                if may_attack && self.exact && ready && self.goes_on(extension, id).is_none() {
                    choose(How::Late);
                }
                continue;
            }
            let pc = thread.pc();
            if self.depth.is_some_and(|depth| done.get(&id).is_some_and(|&done| done >= depth)) {
                cut = Some(pc);
                continue;
            }
            let letter = Letter::Operation(pc);
            if at.contains_key(&id) {
                if self.goes_on(extension, id).is_some() {
                    choose(How::Plain);
                } else {
                    continue;
                }
            } else if let Status::Ready(Visible::Store { order, .. }) = *thread.status()
                && state.atomic().is_none()
            {
                let begins = self.words.next(ROOT, letter).is_some();
                let late = order != Ordering::SeqCst && self.late.begins(pc);
                match (delays, self.exact, begins) {
                    (_, true, true) => choose(How::Captured),
                    (true, ..) => choose(How::Late),
                    (false, _, _) => {
                        choose(How::Direct);
                        if begins {
                            choose(How::Captured);
                        }
                        if may_attack && late {
                            choose(How::Late);
                        }
                    }
                }
            } else {
                choose(How::Plain);
            }
            if let Status::Ready(Visible::Load { access, .. }) = *thread.status()
                && delays
                && (self.exact || along.and_then(|node| self.words.next(node, letter)).is_none())
                && self.is_from_memory(extension, id, access)
            {
                choose(How::Last);
            }
        }
        (choices, cut)
    }

    /// Whether a load of the attacker reads memory: nothing that is delayed, and not only what is captured.
    fn is_from_memory(&self, extension: &Extension, id: ThreadId, access: Access) -> bool {
        let late = Self::late(extension, id);
        let mut delayed = self.waiting(&extension.state, id).take(late);
        !delayed.any(|store| store.access.overlaps(access)) && !self.is_own(&extension.state, id, late, access)
    }

    /// Whether every byte of a load comes out of what the thread has on its way, from a position on.
    fn is_own(&self, state: &Concrete, id: ThreadId, from: usize, access: Access) -> bool {
        let byte = |at: u64| Access { addr: raddle_machine::Addr(access.addr.0 + at), size: 1 };
        let covered = |at: u64| self.waiting(state, id).skip(from).any(|store| store.access.overlaps(byte(at)));
        (0..u64::from(access.size)).all(covered)
    }

    /// The state that a choice leads to; none if what leads there is no event, for somebody who attacks.
    pub(super) fn after(&self, extension: &Extension, choice: Choice) -> Option<Extension> {
        let Extension { state, own: before } = extension;
        let mut own_part = before.clone();
        let (id, code) = (choice.step.thread(), self.code());
        let attacks = before.monitor.attacker() == Some(id);
        let thread = own(state, id);
        let (pc, letter) = (thread.pc(), Letter::Operation(thread.pc()));
        if let Step::Flush(_) = choice.step {
            let store = self.waiting(state, id).next().expect("something is on its way");
            let node = before.at.get(&id).copied().flatten();
            own_part.at.insert(id, node.and_then(|node| self.words.next(node, Letter::Arrival)));
            let mut next = Extension { state: state.clone(), own: own_part };
            if choice.how == How::Late {
                if !self.late.lets_go_on(thread) {
                    return None;
                }
                next.own.monitor.attacker = Some((id, pc, place(store.access)));
                next.own.late = 1;
                self.let_go(&mut next, id);
            } else {
                next.own.monitor.access(id, place(store.access), true);
                next.state.step(code, choice.step, &mut ()).expect("it is among the moves");
                if next.state.memory().is_settled(id) {
                    next.own.at.remove(&id);
                }
            }
            return Some(next);
        }
        let Status::Ready(visible) = *thread.status() else { unreachable!("it has a move") };
        if self.depth.is_some() {
            *own_part.done.entry(id).or_default() += 1;
        }
        match (choice.how, visible) {
            (How::Plain, Visible::Load { access, .. }) if self.is_own(state, id, 0, access) => {}
            (How::Plain, Visible::Store { .. }) if state.atomic().is_none() => {}
            (How::Plain | How::Direct, visible) if !attacks => own_part.monitor.watch(code, state, id, visible),
            (How::Late, Visible::Store { access, .. }) if !attacks => {
                own_part.monitor.attacker = Some((id, pc, place(access)));
                own_part.along = (!self.exact).then_some(ROOT);
            }
            (How::Last, Visible::Load { access, .. }) => {
                own_part.monitor.load = Some(pc);
                own_part.monitor.accesses.insert(place(access), false);
            }
            _ => {}
        }
        if attacks || choice.how == How::Late {
            own_part.along = own_part.along.and_then(|node| self.words.next(node, letter));
        }
        match choice.how {
            How::Captured => {
                own_part.at.insert(id, self.words.next(ROOT, letter));
            }
            How::Plain if before.at.contains_key(&id) => {
                own_part.at.insert(id, self.goes_on(extension, id));
            }
            _ => {}
        }
        let wrong = |thread: &Shared| self.attacked && is_no_event(thread);
        let mut next = Extension { state: self.machine.after_unless(state, choice.step, wrong)?, own: own_part };
        if (attacks && choice.how != How::Last || choice.how == How::Late)
            && !self.late.lets_go_on(own(&next.state, id))
        {
            return None;
        }
        match choice.how {
            How::Direct => while next.state.step(code, Step::Flush(id), &mut ()).is_ok() {},
            How::Late => {
                next.own.late += 1;
                self.forget_older(&mut next, id);
            }
            // Nothing more of it matters: what it delays arrives when the attack is over.
            How::Last => {
                while !next.state.memory().is_settled(id) {
                    next.state.memory_mut().take(id, 0);
                }
                next.own.at.remove(&id);
                (next.own.late, next.own.along) = (0, None);
            }
            How::Plain | How::Captured if attacks => self.let_go(&mut next, id),
            How::Plain | How::Captured => {}
        }
        Some(next)
    }

    /// The attacker stores what it has captured as far as words do not let it go on; the attack delays that.
    fn let_go(&self, extension: &mut Extension, id: ThreadId) {
        self.forget_older(extension, id);
        while extension.own.at.contains_key(&id) {
            if extension.state.memory().waiting(id).map_or(0, StoreBuffer::len) == extension.own.late {
                extension.own.at.remove(&id);
                return;
            }
            let ready = matches!(own(&extension.state, id).status(), Status::Ready(_));
            if !ready || self.goes_on(extension, id).is_some() {
                return;
            }
            let node = extension.own.at[&id];
            extension.own.at.insert(id, node.and_then(|node| self.words.next(node, Letter::Arrival)));
            extension.own.late += 1;
            self.forget_older(extension, id);
        }
    }

    /// Of what the attack delays, leaves the newest store to each place: the last one may have made an older one of no consequence.
    fn forget_older(&self, extension: &mut Extension, id: ThreadId) {
        let delayed: Vec<_> =
            self.waiting(&extension.state, id).take(extension.own.late).map(|store| place(store.access)).collect();
        let Some((newest, older)) = delayed.split_last() else { return };
        if let Some(at) = older.iter().position(|place| place == newest) {
            extension.state.memory_mut().take(id, at);
            extension.own.late -= 1;
        }
    }

    /// The moves of the machine on the way to a state.
    pub(super) fn way(&self, graph: &Graph<ExtendedPart>, index: Index) -> Vec<Move> {
        let mut way = Vec::new();
        for (from, by) in graph.way(index) {
            let extension = graph.state(self, from);
            let choice = self.choices(&extension).0[usize::from(by)];
            let thread = choice.step.thread();
            let moves = extension.state.moves(self.code());
            let nth = moves.iter().filter(|step| step.thread() == thread).position(|step| *step == choice.step);
            way.push(Move { thread, nth: nth.expect("it is one of them") });
            if choice.how == How::Direct {
                way.push(Move { thread, nth: 0 });
            }
        }
        way
    }

    /// What a thread does on the way to a state since its buffer was last empty, as TSO sees it.
    pub(super) fn word(&self, graph: &Graph<ExtendedPart>, index: Index, of: ThreadId) -> Vec<Letter> {
        let mut word = Vec::new();
        for (from, by) in graph.way(index) {
            let extension = graph.state(self, from);
            let choice = self.choices(&extension).0[usize::from(by)];
            if choice.step.thread() != of {
                continue;
            }
            let letter = Letter::Operation(own(&extension.state, of).pc());
            let buffer = extension.state.memory().waiting(of).map_or(0, StoreBuffer::len);
            match (choice.step, choice.how) {
                (Step::Flush(_), How::Late) => {}
                (Step::Flush(_), _) if buffer == 1 => word.clear(),
                (Step::Flush(_), _) => word.push(Letter::Arrival),
                (_, How::Captured | How::Late | How::Last) => word.push(letter),
                (_, How::Plain) if buffer > 0 => word.push(letter),
                (_, How::Plain | How::Direct) => {}
            }
        }
        word
    }

    /// The first choice that nobody could notice.
    fn silent(&self, extension: &Extension, choices: &[Choice]) -> Option<usize> {
        choices.iter().position(|choice| {
            let id = choice.step.thread();
            let runs = matches!(choice.step, Step::Run(_)) && !extension.own.at.contains_key(&id);
            runs && is_silent(self.code(), &extension.own.monitor, own(&extension.state, id))
        })
    }

    /// Who attacks.
    pub(super) fn attacker(extension: &Extension) -> Option<ThreadId> {
        extension.own.monitor.attacker()
    }

    /// Threads that could do what no word allows: go on beside what they have on its way, or leave a store on its way that begins none.
    fn outside(&self, extension: &Extension) -> Vec<ThreadId> {
        let state = &extension.state;
        let is_outside = |id: ThreadId| {
            if extension.own.at.contains_key(&id) {
                return self.goes_on(extension, id).is_none();
            }
            let stores = match *own(state, id).status() {
                Status::Ready(Visible::Store { order, .. }) => order != Ordering::SeqCst && state.atomic().is_none(),
                _ => false,
            };
            stores && Self::letter(state, id).is_some_and(|letter| self.words.next(ROOT, letter).is_none())
        };
        let moves = state.moves(self.code());
        let runs = moves.iter().filter(|step| matches!(step, Step::Run(_) | Step::Choose(..)));
        let mut ids: Vec<ThreadId> = runs.map(|step| step.thread()).filter(|&id| is_outside(id)).collect();
        ids.dedup();
        ids
    }
}

impl Semantics for Extended<'_> {
    type State = Extension;
    type Part = ExtendedPart;
    type Sight = Sight;
    type Memo = Known<Sight>;

    fn initial(&self) -> Extension {
        Extension { state: self.machine.initial(), own: Own::default() }
    }

    fn split(&self, extension: &Extension, see: &mut dyn FnMut(&ExtendedPart)) {
        self.machine.split(&extension.state, &mut |piece| see(&ExtendedPart::Piece(piece.clone())));
        see(&ExtendedPart::Own(Arc::new(OwnPart(extension.own.clone()))));
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &ExtendedPart>) -> Extension {
        let mut own = Own::default();
        let mut pieces = parts.filter_map(|part| match part {
            ExtendedPart::Piece(piece) => Some(piece),
            ExtendedPart::Own(all) => {
                own = all.0.clone();
                None
            }
        });
        let state = self.machine.join(&mut pieces);
        drop(pieces);
        Extension { state, own }
    }

    fn expand(&self, extension: &Extension, breadth: Breadth, next: &mut dyn FnMut(u16, Extension)) -> Expanded<Sight> {
        let mut sight = Sight { success: extension.own.monitor.success().is_some(), ..Sight::default() };
        let (choices, cut) = if sight.success { Default::default() } else { self.choices(extension) };
        sight.cut = cut;
        if self.attacked {
            sight.stuck = extension.state.threads().find_map(|thread| match thread.status() {
                Status::Failed(failure) if failure.property.is_none() => Some((failure.message.clone(), failure.pc)),
                _ => None,
            });
        } else {
            let mut steps: Vec<Step> = choices.iter().map(|choice| choice.step).collect();
            steps.dedup();
            // Who has done as many operations as it may could go on.
            sight.machine = notice(&self.machine, &extension.state, &steps, cut.is_some());
            sight.machine.full = None;
            sight.outside = self.outside(extension);
        }
        if choices.len() > usize::from(u16::MAX) {
            let pc = own(&extension.state, choices[0].step.thread()).pc();
            let why = format!("there are {} ways to go on, which are too many to look at each", choices.len());
            sight.stuck = Some((why, pc));
            return Expanded { sight, reduced: false };
        }
        let alone = self.silent(extension, &choices).filter(|_| breadth == Breadth::Enough);
        for (number, &choice) in choices.iter().enumerate() {
            if sight.stuck.is_none()
                && alone.is_none_or(|alone| alone == number)
                && let Some(after) = self.after(extension, choice)
            {
                next(number as u16, after);
            }
        }
        Expanded { sight, reduced: alone.is_some() && choices.len() > 1 }
    }

    fn recall(
        &self,
        memo: &mut Known<Sight>,
        numbers: &mut Numbers<'_, ExtendedPart>,
        parts: &[u32],
        breadth: Breadth,
        next: &mut dyn FnMut(u16, &[u32]),
    ) -> Option<Expanded<Sight>> {
        overlay::recall(self, memo, numbers, parts, breadth, next)
    }
}

impl Overlay for Extended<'_> {
    fn machine(&self) -> &Machine<'_> {
        &self.machine
    }

    fn of_machine(piece: Piece) -> ExtendedPart {
        ExtendedPart::Piece(piece)
    }

    fn piece(part: &ExtendedPart) -> Option<&Piece> {
        match part {
            ExtendedPart::Piece(piece) => Some(piece),
            ExtendedPart::Own(_) => None,
        }
    }

    fn beside(&self, part: Option<&ExtendedPart>) -> (Sight, bool) {
        let success = matches!(part, Some(ExtendedPart::Own(own)) if own.0.monitor.success().is_some());
        (Sight { success, ..Sight::default() }, !success)
    }

    fn ways(&self, extension: &Extension) -> Ways {
        let choices = self.choices(extension).0;
        Ways { count: choices.len() as u32, silent: self.silent(extension, &choices).map(|at| at as u32) }
    }

    fn notices_ends(&self) -> bool {
        !self.attacked
    }

    fn add(sight: &mut Sight, of_thread: &Sight) -> bool {
        sight.cut = of_thread.cut.or(sight.cut);
        sight.outside.extend_from_slice(&of_thread.outside);
        of_thread.stuck.is_none()
    }
}
