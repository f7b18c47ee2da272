//! Store buffers that forget: more behaviours than TSO, and finitely many of them.
//!
//! A buffer is a queue of the oldest stores, exact, of at most `queue` entries, and what overflows it, of which the order is lost: per place and value how often, counted up to `count` and "many" beyond, and per place the value
//! that was stored last. A load finds the last value, which is exact. From the queue the oldest store arrives; when it is empty, any entry of the overflow does, the last of its place only as the last one
//! for that place. Taking one of many leaves many or `count` (Calin 2016, sections 9 and 10 of our notes, with corrections; the parameters are ours).
//!
//! | `queue` | `count` | |
//! |---|---|---|
//! | 0 | 0 | sets |
//! | 0 | without end | multisets |
//! | k | 0 | partial coherence |
//!
//! More of either is more precise. With `last` the store that was last for its place is not counted with the others: what is there once does not arrive twice.
//!
//! In the machine's buffer stand the queue and behind it, for every place of the overflow, its last store; so what loads find and who has to wait is for the machine to say.

use crate::machine::{Concrete, Machine, Piece, own};
use crate::overlay::{self, Known, Overlay, Ways};
use crate::parts::Numbers;
use crate::robust::monitor::{Place, place};
use crate::semantics::{Breadth, Expanded, Part, Semantics};
use crate::sight::{self, notice};
use raddle_machine::memory::{Memory, Store};
use raddle_machine::{Access, Addr, Automaton, Code, Status, Visible};
use raddle_program::Ordering;
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much buffers remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// How many stores are in order.
    pub queue: usize,
    /// How far others are counted.
    pub count: u8,
    /// Whether the last store of a place is counted apart.
    pub last: bool,
}

/// The program with such buffers.
#[derive(Debug)]
pub struct Abstract<'c> {
    /// The program.
    pub machine: Machine<'c>,
    /// How much its buffers remember.
    pub precision: Precision,
    /// Stores are not made that would be more than are counted: then there are fewer behaviours than with multisets, and not more.
    pub exact: bool,
}

/// A number of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Number {
    /// So many.
    Exactly(u8),
    /// More than are counted.
    Many,
}

/// Of a place, how often each value is in the overflow.
type Values = BTreeMap<u64, Number>;

/// What overflows the queues, by thread and place.
pub(super) type Overflow = BTreeMap<ThreadId, BTreeMap<Place, Values>>;

/// A state.
#[derive(Clone, Debug)]
pub struct Blurred {
    pub(super) state: Concrete,
    overflow: Overflow,
}

/// A part of states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BlurredPart {
    /// Of the program; buffers as far as they are in order, and last stores.
    Piece(Piece),
    /// What overflows.
    Overflow(Arc<OverflowPart>),
}

/// What overflows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OverflowPart(Overflow);

impl Part for BlurredPart {
    fn number(&self) -> Option<u32> {
        match self {
            BlurredPart::Piece(piece) => piece.number(),
            BlurredPart::Overflow(_) => None,
        }
    }

    fn remember(&mut self, number: u32) {
        if let BlurredPart::Piece(piece) = self {
            piece.remember(number);
        }
    }
}

/// What is worth noticing about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// What is wrong with it.
    pub machine: sight::Sight,
    /// Why and where the program cannot be followed any further.
    pub stuck: Option<(String, u32)>,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// What the machine does.
    Step(Step),
    /// A store of the overflow arrives, and leaves so many like it.
    Arrival { thread: ThreadId, at: Place, value: u64, left: Number },
}

impl Blurred {
    /// The machine's part of it.
    pub fn state(&self) -> &Concrete {
        &self.state
    }

    /// Where threads have stores that have overflowed.
    pub(super) fn places(&self) -> impl Iterator<Item = (ThreadId, Place)> + '_ {
        self.overflow.iter().flat_map(|(&id, places)| places.keys().map(move |&place| (id, place)))
    }

    /// Whether something is there more often than is counted.
    fn has_many(&self) -> bool {
        self.overflow
            .values()
            .flat_map(BTreeMap::values)
            .flat_map(BTreeMap::values)
            .any(|&number| number == Number::Many)
    }
}

impl Choice {
    fn step(self) -> Step {
        match self {
            Choice::Step(step) => step,
            Choice::Arrival { thread, .. } => Step::Flush(thread),
        }
    }
}

/// What a thread has on its way, as the machine has it.
fn buffer(state: &Concrete, id: ThreadId) -> Vec<Store> {
    state.memory().waiting(id).into_iter().flat_map(StoreBuffer::iter).copied().collect()
}

/// Puts this on the way of a thread instead.
fn set_buffer(state: &mut Concrete, id: ThreadId, stores: &[Store]) {
    let held = state.memory().is_held(id);
    while !state.memory().is_settled(id) {
        state.memory_mut().take(id, 0);
    }
    for (at, &store) in stores.iter().enumerate() {
        let order = if held && at + 1 == stores.len() { Ordering::SeqCst } else { Ordering::Relaxed };
        state.memory_mut().keep(id, store, order);
    }
}

impl<'c> Abstract<'c> {
    /// The program with buffers that remember so much.
    pub fn new(code: &'c Code, precision: Precision) -> Self {
        Abstract { machine: Machine::new(code, Model::Tso), precision, exact: false }
    }

    /// A number as it is counted.
    fn counted(&self, number: u8, is_last: bool) -> Number {
        if number > self.most(is_last) { Number::Many } else { Number::Exactly(number) }
    }

    fn most(&self, is_last: bool) -> u8 {
        self.precision.count.saturating_add(u8::from(self.precision.last && is_last)).min(u8::MAX - 1)
    }

    /// What can be left of so many after one was taken.
    fn one_less(&self, number: Number, is_last: bool) -> Vec<Number> {
        match number {
            Number::Exactly(number) => vec![Number::Exactly(number - 1)],
            Number::Many => vec![Number::Many, Number::Exactly(self.most(is_last))],
        }
    }

    /// The last store for each place of the overflow of a thread.
    pub(super) fn lasts(&self, blurred: &Blurred, id: ThreadId) -> Vec<Store> {
        let places = blurred.overflow.get(&id).map_or(0, BTreeMap::len);
        let mut all = buffer(&blurred.state, id);
        all.split_off(all.len() - places)
    }

    /// What can happen next.
    pub(super) fn choices(&self, blurred: &Blurred) -> Vec<Choice> {
        let mut choices = Vec::new();
        for step in self.machine.moves(&blurred.state).0 {
            let Step::Flush(thread) = step else {
                choices.push(Choice::Step(step));
                continue;
            };
            let lasts = self.lasts(blurred, thread);
            if buffer(&blurred.state, thread).len() > lasts.len() {
                choices.push(Choice::Step(step));
                continue;
            }
            for (store, (&at, values)) in lasts.iter().zip(&blurred.overflow[&thread]) {
                for (&value, &number) in values {
                    let is_last = value == store.value;
                    for left in self.one_less(number, is_last) {
                        if !is_last || left != Number::Exactly(0) || values.len() == 1 {
                            choices.push(Choice::Arrival { thread, at, value, left });
                        }
                    }
                }
            }
        }
        choices
    }

    /// The state that a choice leads to.
    pub(super) fn after(&self, blurred: &Blurred, choice: Choice) -> Blurred {
        let Blurred { state, overflow } = blurred;
        let (mut state, mut overflow) = (state.clone(), overflow.clone());
        match choice {
            Choice::Arrival { thread, at, value, left } => {
                let mut lasts = self.lasts(blurred, thread);
                let places = overflow.get_mut(&thread).expect("it has an overflow");
                let values = places.get_mut(&at).expect("it is there");
                if left == Number::Exactly(0) {
                    values.remove(&value);
                } else {
                    values.insert(value, left);
                }
                if values.is_empty() {
                    places.remove(&at);
                    lasts.retain(|store| place(store.access) != at);
                    if places.is_empty() {
                        overflow.remove(&thread);
                    }
                }
                let access = Access { addr: Addr(at.0), size: at.1 };
                lasts.insert(0, Store { access, value });
                set_buffer(&mut state, thread, &lasts);
                state = self.machine.after(&state, Step::Flush(thread));
            }
            Choice::Step(step) => {
                let id = step.thread();
                let before = buffer(&state, id).len();
                state = self.machine.after(&state, step);
                let stored = buffer(&state, id).len() > before;
                if stored && (overflow.contains_key(&id) || before >= self.precision.queue) {
                    self.overflows(&mut state, &mut overflow, id);
                }
            }
        }
        Blurred { state, overflow }
    }

    /// The newest store of a thread goes from its buffer to what has overflowed.
    fn overflows(&self, state: &mut Concrete, overflow: &mut Overflow, id: ThreadId) {
        let places = overflow.entry(id).or_default();
        let mut all = buffer(state, id);
        let newest = all.pop().expect("it has stored");
        let mut lasts = all.split_off(all.len() - places.len());
        let at = place(newest.access);
        let values = places.entry(at).or_default();
        if let Some(old) = lasts.iter().position(|store| place(store.access) == at) {
            let old = lasts.remove(old).value;
            if let Some(&Number::Exactly(number)) = values.get(&old).filter(|_| old != newest.value) {
                values.insert(old, self.counted(number, false));
            }
        }
        let number = match values.get(&newest.value) {
            None => self.counted(1, true),
            Some(Number::Exactly(number)) => self.counted(number + 1, true),
            Some(Number::Many) => Number::Many,
        };
        values.insert(newest.value, number);
        lasts.push(newest);
        lasts.sort_by_key(|store| place(store.access));
        all.extend(lasts);
        set_buffer(state, id, &all);
    }

    /// The first choice that nobody else can notice or prevent; a store into a buffer that forgets is not among them.
    fn silent(&self, blurred: &Blurred, choices: &[Choice]) -> Option<usize> {
        choices.iter().position(|choice| {
            let runs = matches!(choice, Choice::Step(Step::Run(_)));
            runs && match own(&blurred.state, choice.step().thread()).status() {
                Status::Ready(Visible::Fence { order }) => *order != Ordering::SeqCst,
                Status::Ready(Visible::Spawn { .. }) => !self.machine.code.guesses_handles(),
                _ => false,
            }
        })
    }

    /// A store that would overflow and meets a part of what another one has written: then the last value of a place says too little.
    fn crossing(&self, blurred: &Blurred) -> Option<u32> {
        blurred.state.threads().find_map(|thread| {
            let Status::Ready(Visible::Store { access, .. }) = *thread.status() else { return None };
            let meets = self
                .lasts(blurred, thread.id())
                .iter()
                .any(|last| last.access.overlaps(access) && place(last.access) != place(access));
            meets.then(|| thread.pc())
        })
    }
}

impl Semantics for Abstract<'_> {
    type State = Blurred;
    type Part = BlurredPart;
    type Sight = Sight;
    type Memo = Known<Sight>;

    fn initial(&self) -> Blurred {
        Blurred { state: self.machine.initial(), overflow: Overflow::new() }
    }

    fn split(&self, blurred: &Blurred, see: &mut dyn FnMut(&BlurredPart)) {
        self.machine.split(&blurred.state, &mut |piece| see(&BlurredPart::Piece(piece.clone())));
        if !blurred.overflow.is_empty() {
            see(&BlurredPart::Overflow(Arc::new(OverflowPart(blurred.overflow.clone()))));
        }
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &BlurredPart>) -> Blurred {
        let mut overflow = Overflow::new();
        let mut pieces = parts.filter_map(|part| match part {
            BlurredPart::Piece(piece) => Some(piece),
            BlurredPart::Overflow(all) => {
                overflow = all.0.clone();
                None
            }
        });
        let state = self.machine.join(&mut pieces);
        drop(pieces);
        Blurred { state, overflow }
    }

    fn expand(&self, blurred: &Blurred, breadth: Breadth, next: &mut dyn FnMut(u16, Blurred)) -> Expanded<Sight> {
        let choices = self.choices(blurred);
        let mut steps: Vec<Step> = choices.iter().map(|choice| choice.step()).collect();
        steps.dedup();
        let mut sight = Sight { machine: notice(&self.machine, &blurred.state, &steps, false), stuck: None };
        if let Some(pc) = self.crossing(blurred) {
            sight.stuck = Some(("stores of different sizes to the same memory are not abstracted".to_owned(), pc));
        } else if choices.len() > usize::from(u16::MAX) {
            let pc = own(&blurred.state, choices[0].step().thread()).pc();
            let why = format!("there are {} ways to go on, which are too many to look at each", choices.len());
            sight.stuck = Some((why, pc));
        }
        if sight.stuck.is_some() {
            return Expanded { sight, reduced: false };
        }
        let alone = self.silent(blurred, &choices).filter(|_| breadth == Breadth::Enough);
        for (number, &choice) in choices.iter().enumerate() {
            if alone.is_none_or(|alone| alone == number) {
                let after = self.after(blurred, choice);
                if !self.exact || !after.has_many() {
                    next(number as u16, after);
                }
            }
        }
        Expanded { sight, reduced: alone.is_some() && choices.len() > 1 }
    }

    fn recall(
        &self,
        memo: &mut Known<Sight>,
        numbers: &mut Numbers<'_, BlurredPart>,
        parts: &[u32],
        breadth: Breadth,
        next: &mut dyn FnMut(u16, &[u32]),
    ) -> Option<Expanded<Sight>> {
        overlay::recall(self, memo, numbers, parts, breadth, next)
    }
}

impl Overlay for Abstract<'_> {
    fn machine(&self) -> &Machine<'_> {
        &self.machine
    }

    fn of_machine(piece: Piece) -> BlurredPart {
        BlurredPart::Piece(piece)
    }

    fn piece(part: &BlurredPart) -> Option<&Piece> {
        match part {
            BlurredPart::Piece(piece) => Some(piece),
            BlurredPart::Overflow(_) => None,
        }
    }

    fn beside(&self, _: Option<&BlurredPart>) -> (Sight, bool) {
        (Sight::default(), true)
    }

    fn ways(&self, blurred: &Blurred) -> Ways {
        let choices = self.choices(blurred);
        Ways { count: choices.len() as u32, silent: self.silent(blurred, &choices).map(|at| at as u32) }
    }

    fn notices_ends(&self) -> bool {
        true
    }

    fn add(_: &mut Sight, of_thread: &Sight) -> bool {
        of_thread.stuck.is_none()
    }
}
