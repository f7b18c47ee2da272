//! Attacks on robustness, as a system to be searched under sequential consistency.
//!
//! If a program is not robust, one thread can show it alone (Bouajjani, Derevenetc, Meyer 2013; the witness of Calin 2016, section 5.3 of our notes on it): it delays stores past a load,
//! everybody else does what they would do without buffers, and what happens after the load leads back to the first delayed store. So the question is one of reachability
//! without buffers. The attacker keeps what it delays for itself: it has a store buffer that nothing leaves. All other stores arrive at once. From the load on, a monitor
//! knows which accesses happen after it and which threads have made one; the attack succeeds when one of them meets the first delayed store.
//!
//! Who attacks, by which store and by which load is chosen on the way instead of asked one attack at a time: the runs before the attack are the same for all of them. A
//! *fence* at an instruction keeps the attacker from passing it with something delayed; so sets of fences are tried without changing the program.
//!
//! Deviations: of what is delayed only the newest store to each place is kept, as in the notes, but the first one is remembered by its place alone. Threads that are started
//! by one that has an access after the load, or wait for the end of such a thread, come after the load as well.

use super::late::Late;
pub use super::monitor::Attack;
use super::monitor::{Monitor, Place, is_no_event, place};
use crate::machine::{Concrete, Machine, Piece, own};
use crate::overlay::{self, Known, Overlay, Ways};
use crate::parts::Numbers;
use crate::semantics::{Breadth, Expanded, Part, Semantics};
use crate::thread::Shared;
use raddle_machine::memory::Memory;
use raddle_machine::{Access, Automaton, Code, Status, Visible};
use raddle_program::Ordering;
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The program with somebody who attacks.
#[derive(Debug)]
pub struct Attacks<'c> {
    /// The program.
    pub machine: Machine<'c>,
    /// Instructions that nobody passes with something delayed.
    pub fences: BTreeSet<u32>,
    /// What may be late by the code alone.
    pub(super) late: Late,
}

/// A state, and how far the attack has come.
#[derive(Clone, Debug)]
pub struct Attacked {
    pub(super) state: Concrete,
    monitor: Monitor,
}

/// A part of states under attack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttackPart {
    /// Of the program.
    Piece(Piece),
    /// How far the attack has come.
    Monitor(Arc<MonitorPart>),
}

/// How far an attack has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitorPart(Monitor);

impl Part for AttackPart {
    fn number(&self) -> Option<u32> {
        match self {
            AttackPart::Piece(piece) => piece.number(),
            AttackPart::Monitor(_) => None,
        }
    }

    fn remember(&mut self, number: u32) {
        if let AttackPart::Piece(piece) = self {
            piece.remember(number);
        }
    }
}

/// What is worth noticing about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// The attack that has succeeded.
    pub success: Option<Attack>,
    /// Why and where the program cannot be followed any further.
    pub stuck: Option<(String, u32)>,
}

/// What can happen next in a state under attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Which step.
    pub(super) step: Step,
    pub(super) how: How,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A store arrives at once.
    Plain,
    /// The attacker keeps what it stores.
    Delayed,
    /// The attacker makes its last load.
    Last,
}

impl<'c> Attacks<'c> {
    /// The program, with fences at these instructions.
    pub fn new(code: &'c Code, fences: BTreeSet<u32>) -> Self {
        let late = Late::new(code, &fences);
        Attacks { machine: Machine::new(code, Model::Tso), fences, late }
    }

    /// What can happen next.
    pub(super) fn choices(&self, attacked: &Attacked) -> Vec<Choice> {
        let Attacked { state, monitor } = attacked;
        let mut choices = Vec::new();
        for step in state.moves(self.machine.code) {
            let id = step.thread();
            if !matches!(step, Step::Run(_) | Step::Choose(..)) {
                continue;
            }
            let mut choose = |how| choices.push(Choice { step, how });
            let thread = own(state, id);
            if monitor.attacker() != Some(id) {
                if monitor.lets_wait(thread) {
                    continue;
                }
                choose(How::Plain);
                let stores = matches!(thread.status(), Status::Ready(Visible::Store { .. }));
                let begins = stores && self.late.begins(thread.pc());
                if begins && monitor.attacker.is_none() && state.atomic().is_none() {
                    choose(How::Delayed);
                }
                continue;
            }
            if monitor.load.is_some() || self.fences.contains(&thread.pc()) {
                continue;
            }
            choose(How::Delayed);
            if let Status::Ready(Visible::Load { access, .. }) = *thread.status()
                && !self.is_delayed(state, id, access)
            {
                choose(How::Last);
            }
        }
        choices
    }

    /// The first choice that nobody could notice.
    fn silent(&self, attacked: &Attacked, choices: &[Choice]) -> Option<usize> {
        let thread = |choice: &Choice| own(&attacked.state, choice.step.thread());
        choices.iter().position(|choice| is_silent(self.machine.code, &attacked.monitor, thread(choice)))
    }

    fn is_delayed(&self, state: &Concrete, id: ThreadId, access: Access) -> bool {
        let mut waiting = state.memory().waiting(id).into_iter().flat_map(StoreBuffer::iter);
        waiting.any(|store| store.access.overlaps(access))
    }

    /// The state that a choice leads to; none if it would end a turn of a loop without effect, or fail an assumption: what leads there is no event, so a run without is the same run. None either if the attacker comes to no load from there.
    pub(super) fn after(&self, attacked: &Attacked, choice: Choice) -> Option<Attacked> {
        let Attacked { state, monitor } = attacked;
        let mut monitor = monitor.clone();
        let id = choice.step.thread();
        let (thread, code) = (own(state, id), self.machine.code);
        let Status::Ready(visible) = *thread.status() else { unreachable!("it has a move") };
        let pc = thread.pc();
        match (choice.how, visible) {
            (How::Plain, visible) => monitor.watch(code, state, id, visible),
            (How::Delayed, Visible::Store { access, .. }) => {
                monitor.attacker.get_or_insert((id, pc, place(access)));
            }
            (How::Last, Visible::Load { access, .. }) => {
                monitor.load = Some(pc);
                monitor.accesses.insert(place(access), false);
            }
            _ => {}
        }
        let mut next = self.machine.after_unless(state, choice.step, is_no_event)?;
        if choice.how == How::Delayed && !self.late.lets_go_on(own(&next, id)) {
            return None;
        }
        match choice.how {
            How::Plain => while next.step(code, Step::Flush(id), &mut ()).is_ok() {},
            How::Delayed => forget_older(&mut next, id),
            // Nothing more of it matters: what it delays arrives when the attack is over.
            How::Last => {
                while !next.memory().is_settled(id) {
                    next.memory_mut().take(id, 0);
                }
            }
        }
        Some(Attacked { state: next, monitor })
    }
}

/// Whether a thread that does not attack is about to do what nobody could notice or prevent: a fence that need not wait, or to start a thread before anything comes after the load of an attack.
pub(crate) fn is_silent(code: &Code, monitor: &Monitor, thread: &Shared) -> bool {
    match *thread.status() {
        Status::Ready(Visible::Fence { order }) => order != Ordering::SeqCst,
        Status::Ready(Visible::Spawn { .. }) => {
            monitor.attacker() != Some(thread.id()) && monitor.load.is_none() && !code.guesses_handles()
        }
        _ => false,
    }
}

/// Of what a thread delays, leaves the newest store to each place.
fn forget_older(state: &mut Concrete, id: ThreadId) {
    let places: Vec<Place> =
        state.memory().waiting(id).into_iter().flat_map(StoreBuffer::iter).map(|store| place(store.access)).collect();
    let Some((newest, older)) = places.split_last() else { return };
    if let Some(at) = older.iter().position(|place| place == newest) {
        state.memory_mut().take(id, at);
    }
}

impl Semantics for Attacks<'_> {
    type State = Attacked;
    type Part = AttackPart;
    type Sight = Sight;
    type Memo = Known<Sight>;

    fn initial(&self) -> Attacked {
        Attacked { state: self.machine.initial(), monitor: Monitor::default() }
    }

    fn split(&self, attacked: &Attacked, see: &mut dyn FnMut(&AttackPart)) {
        self.machine.split(&attacked.state, &mut |piece| see(&AttackPart::Piece(piece.clone())));
        see(&AttackPart::Monitor(Arc::new(MonitorPart(attacked.monitor.clone()))));
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &AttackPart>) -> Attacked {
        let mut monitor = Monitor::default();
        let mut pieces = parts.filter_map(|part| match part {
            AttackPart::Piece(piece) => Some(piece),
            AttackPart::Monitor(all) => {
                monitor = all.0.clone();
                None
            }
        });
        let state = self.machine.join(&mut pieces);
        drop(pieces);
        Attacked { state, monitor }
    }

    fn expand(&self, attacked: &Attacked, breadth: Breadth, next: &mut dyn FnMut(u16, Attacked)) -> Expanded<Sight> {
        let success = attacked.monitor.success();
        let choices = if success.is_none() { self.choices(attacked) } else { Vec::new() };
        let mut stuck = attacked.state.threads().find_map(|thread| match thread.status() {
            Status::Failed(failure) if failure.property.is_none() => Some((failure.message.clone(), failure.pc)),
            _ => None,
        });
        if choices.len() > usize::from(u16::MAX) {
            let pc = own(&attacked.state, choices[0].step.thread()).pc();
            stuck =
                Some((format!("there are {} ways to go on, which are too many to look at each", choices.len()), pc));
        }
        let alone = self.silent(attacked, &choices).filter(|_| breadth == Breadth::Enough);
        let followed = |number: usize| alone.is_none_or(|alone| alone == number);
        for (number, &choice) in choices.iter().enumerate().filter(|(number, _)| stuck.is_none() && followed(*number)) {
            if let Some(after) = self.after(attacked, choice) {
                next(number as u16, after);
            }
        }
        Expanded { sight: Sight { success, stuck }, reduced: alone.is_some() && choices.len() > 1 }
    }

    fn recall(
        &self,
        memo: &mut Known<Sight>,
        numbers: &mut Numbers<'_, AttackPart>,
        parts: &[u32],
        breadth: Breadth,
        next: &mut dyn FnMut(u16, &[u32]),
    ) -> Option<Expanded<Sight>> {
        overlay::recall(self, memo, numbers, parts, breadth, next)
    }
}

impl Overlay for Attacks<'_> {
    fn machine(&self) -> &Machine<'_> {
        &self.machine
    }

    fn of_machine(piece: Piece) -> AttackPart {
        AttackPart::Piece(piece)
    }

    fn piece(part: &AttackPart) -> Option<&Piece> {
        match part {
            AttackPart::Piece(piece) => Some(piece),
            AttackPart::Monitor(_) => None,
        }
    }

    fn beside(&self, part: Option<&AttackPart>) -> (Sight, bool) {
        let success = match part {
            Some(AttackPart::Monitor(monitor)) => monitor.0.success(),
            _ => None,
        };
        (Sight { success, stuck: None }, success.is_none())
    }

    fn ways(&self, attacked: &Attacked) -> Ways {
        let choices = self.choices(attacked);
        Ways { count: choices.len() as u32, silent: self.silent(attacked, &choices).map(|at| at as u32) }
    }

    fn notices_ends(&self) -> bool {
        false
    }

    fn add(sight: &mut Sight, of_thread: &Sight) -> bool {
        *sight == *of_thread
    }
}
