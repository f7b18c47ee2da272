//! Loads, stores and updates, on terms.
//!
//! An operation that does not wait happens wherever its thread gets to it. One that waits happens under a condition of its own, a variable (`goes`), which implies that what it
//! finds lets it go on: an execution in which it does not happen is one that ends there, as far as this thread is concerned.

use super::graph::{Action, CutKind, Location, Node, Stuck};
use super::memory::Place;
use super::state::State;
use super::unroll::{Fail, Unroller};
use raddle_machine::Addr;
use raddle_machine::code::Slot;
use raddle_program::{Ordering, Type, Unwritten};
use raddle_solve::Term;
use raddle_trace::Property;

/// What an update does with what it has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) new: Term,
    /// Whether it writes that.
    pub(super) writes: Term,
    /// Whether it does not wait for another value.
    pub(super) goes_on: Term,
    /// Whether what it does cannot be said, because of a division by zero.
    pub(super) fails: Term,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// Both at once.
    Update,
}

/// An operation on memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Where it happens, if another thread could see it.
    pub(super) node: Option<Node>,
    /// That it happens.
    pub(super) goes: Term,
    /// That the thread gets to it.
    reached: Term,
    waits: bool,
    /// Whether it can race with anything.
    ordinary: bool,
}

impl Unroller<'_> {
    /// Where an access is to; nowhere is an error.
    pub(super) fn access(
        &mut self,
        thread: usize,
        state: &mut State,
        addr: Term,
        size: u8,
        kind: Kind,
    ) -> Result<Vec<(Term, Place)>, Fail> {
        let pc = state.pc;
        let places = self.places(thread, state, addr, size, pc)?;
        let is_private = |(_, place): &(Term, Place)| matches!(place, Place::Private { .. });
        if kind != Kind::Read
            && self.keeps_stores(state)
            && places.list.iter().any(is_private)
            && !places.list.iter().all(is_private)
        {
            return self.refuse(pc, "the engine `oc` does not know whether others can see this; it does under sc");
        }
        let astray = self.graph.terms.and(state.guard, places.none);
        if !self.graph.terms.is_false(astray) {
            let mut lost = State { guard: astray, ..state.clone() };
            match kind {
                // If nothing that is on its way has failed.
                Kind::Update => self.plan_settled(thread, &mut lost),
                Kind::Read | Kind::Write => self.plan_alone(thread, &lost, Action::Run),
            }
            self.fail_if(thread, &mut lost, places.none, Property::Memory, pc);
            state.guard = self.graph.terms.and_not(state.guard, places.none);
        }
        Ok(places.list)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn load(
        &mut self,
        thread: usize,
        state: &mut State,
        dst: Slot,
        ty: Type,
        addr: Term,
        wait: u32,
        kind: Unwritten,
        ordinary: bool,
    ) -> Result<(), Fail> {
        if wait != 0 {
            return self.load_until(thread, state, dst, ty, addr, kind, ordinary, |unroller, state, found, at_end| {
                let (holds, fails) = unroller.waited_for(state, wait, found)?;
                let mut goes_on = unroller.graph.terms.or(holds, fails);
                if let Some(assumed) = unroller.code.wait(wait).assumed.as_ref().filter(|_| at_end) {
                    // An assumption would fail, which is no wait.
                    let (value, fails) = unroller.condition(state, assumed, found)?;
                    let stops = unroller.holds(value);
                    goes_on = unroller.graph.terms.any([goes_on, stops, fails]);
                }
                Ok((goes_on, fails))
            });
        }
        let list = self.access(thread, state, addr, ty.size() as u8, Kind::Read)?;
        let look = self.begin(thread, state, &list, Kind::Read, false, ordinary);
        let (found, _) = self.look(thread, state, &list, look, ty, kind)?;
        self.set(state, dst, found);
        Ok(())
    }

    /// Reads, and waits until what is found lets the thread go on. `until` says of what is found, now or when nothing moves any more, whether it does, and whether that
    /// is because it cannot be said.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn load_until(
        &mut self,
        thread: usize,
        state: &mut State,
        dst: Slot,
        ty: Type,
        addr: Term,
        kind: Unwritten,
        ordinary: bool,
        mut until: impl FnMut(&mut Self, &State, Term, bool) -> Result<(Term, Term), Fail>,
    ) -> Result<(), Fail> {
        let pc = state.pc;
        let list = self.access(thread, state, addr, ty.size() as u8, Kind::Read)?;
        let look = self.begin(thread, state, &list, Kind::Read, true, ordinary);
        if self.deadlocks {
            let stuck = self.graph.terms.var(1);
            let found = self.look_at_the_end(stuck, &list, ty, pc);
            let (goes_on, _) = until(self, state, found, true)?;
            self.may_be_stuck(thread, state, look, stuck, goes_on, ordinary)?;
        }
        let (found, broken) = self.look(thread, state, &list, look, ty, kind)?;
        let (goes_on, fails) = until(self, state, found, false)?;
        let goes_on = self.graph.terms.or(goes_on, broken);
        self.end(state, look, goes_on);
        self.fail_if(thread, state, fails, Property::Arithmetic, pc);
        self.set(state, dst, found);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn store(
        &mut self,
        thread: usize,
        state: &mut State,
        ty: Type,
        addr: Term,
        value: Term,
        order: Ordering,
    ) -> Result<(), Fail> {
        let (pc, size) = (state.pc, ty.size() as u8);
        let ordinary = order == Ordering::NonAtomic;
        let list = self.access(thread, state, addr, size, Kind::Write)?;
        self.spare_constants(thread, state, &list);
        let value = self.graph.terms.resize(value, size * 8);
        if self.keeps_stores(state) {
            self.set_out(thread, state, &list, size, value, order, ordinary);
            for (here, place) in list {
                if let Place::Private { object, offset } = place {
                    self.private_store(state, object, offset, size, value, here);
                }
            }
            state.has_acted();
            return Ok(());
        }
        let look = self.begin(thread, state, &list, Kind::Write, false, ordinary);
        for &(here, place) in &list {
            let guard = self.graph.terms.and(look.goes, here);
            if let Some(node) = look.node {
                self.ask_life(thread, state, node, guard, place, pc);
            }
        }
        let goes = self.visible(state);
        for (here, place) in list {
            self.put(state, look, goes, here, place, size, value);
        }
        state.has_acted();
        Ok(())
    }

    /// Reads, and writes in the same step what `react` says.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn update(
        &mut self,
        thread: usize,
        state: &mut State,
        dst: Slot,
        ty: Type,
        addr: Term,
        waits: bool,
        mut react: impl FnMut(&mut Self, &State, Term) -> Result<Update, Fail>,
    ) -> Result<(), Fail> {
        let (pc, size) = (state.pc, ty.size() as u8);
        let list = self.access(thread, state, addr, size, Kind::Update)?;
        self.spare_constants(thread, state, &list);
        let look = self.begin(thread, state, &list, Kind::Update, waits, false);
        if waits && self.deadlocks {
            let stuck = self.graph.terms.var(1);
            let found = self.look_at_the_end(stuck, &list, ty, pc);
            let goes_on = react(self, state, found)?.goes_on;
            self.may_be_stuck(thread, state, look, stuck, goes_on, false)?;
        }
        let (found, broken) = self.look(thread, state, &list, look, ty, Unwritten::Error)?;
        let Update { new, writes, goes_on, fails } = react(self, state, found)?;
        if waits {
            let goes_on = self.graph.terms.or(goes_on, broken);
            self.end(state, look, goes_on);
        }
        let goes = self.visible(state);
        let goes = self.graph.terms.and(goes, writes);
        let value = self.graph.terms.resize(new, size * 8);
        for (here, place) in list {
            let here = self.graph.terms.and(here, writes);
            self.put(state, look, goes, here, place, size, value);
            if matches!(place, Place::Shared { .. }) {
                self.graph.events.last_mut().expect("just made").depends = waits || !self.graph.terms.is_true(writes);
            }
        }
        self.fail_if(thread, state, fails, Property::Arithmetic, pc);
        self.set(state, dst, found);
        state.has_acted();
        Ok(())
    }

    /// Writes one of the places of an operation.
    #[allow(clippy::too_many_arguments)]
    fn put(&mut self, state: &mut State, look: Look, goes: Term, here: Term, place: Place, size: u8, value: Term) {
        let guard = self.graph.terms.and(goes, here);
        match place {
            Place::Shared { addr, .. } => {
                let node = look.node.expect("something shared is written");
                let pc = state.pc;
                self.write(node, guard, Location::Memory(addr, size), value, pc);
                let missing = self.is_missing(value);
                let event = self.graph.events.last_mut().expect("just made");
                (event.missing, event.ordinary) = (missing, look.ordinary);
            }
            Place::Private { object, offset } => self.private_store(state, object, offset, size, value, here),
            Place::Constant { .. } => {}
        }
    }

    /// Writing a constant is an error.
    fn spare_constants(&mut self, thread: usize, state: &mut State, list: &[(Term, Place)]) {
        let pc = state.pc;
        for &(here, place) in list {
            if matches!(place, Place::Constant { .. }) {
                self.fail_if(thread, state, here, Property::Memory, pc);
            }
        }
    }

    /// Begins an operation on one of these places: its node, its step, and when it happens.
    pub(super) fn begin(
        &mut self,
        thread: usize,
        state: &mut State,
        list: &[(Term, Place)],
        kind: Kind,
        waits: bool,
        ordinary: bool,
    ) -> Look {
        let is_private = |place: &Place| matches!(place, Place::Private { .. });
        let private = list.iter().filter(|(_, place)| is_private(place)).map(|(here, _)| *here);
        let private = self.graph.terms.any(private);
        let shared = list.iter().any(|(_, place)| matches!(place, Place::Shared { .. }));
        let node = match kind {
            _ if !shared => None,
            Kind::Read => Some(self.read_node(state)),
            Kind::Write | Kind::Update => Some(self.node(state)),
        };
        let visible = self.visible(state);
        let mut goes = visible;
        if waits {
            goes = self.graph.terms.var(1);
            self.graph.require(goes, visible);
        }
        if list.iter().any(|(_, place)| !is_private(place)) {
            let guard = self.graph.terms.and_not(goes, private);
            match node {
                Some(node) => self.plan(thread, guard, node, Action::Run),
                None => {
                    let shown = State { guard, ..state.clone() };
                    self.plan_alone(thread, &shown, Action::Run);
                }
            }
        }
        Look { node, goes, reached: visible, waits, ordinary }
    }

    /// What is found at one of these places, and whether that is an error: what is dead, or was never written.
    pub(super) fn look(
        &mut self,
        thread: usize,
        state: &mut State,
        list: &[(Term, Place)],
        look: Look,
        ty: Type,
        kind: Unwritten,
    ) -> Result<(Term, Term), Fail> {
        let (pc, size) = (state.pc, ty.size() as u8);
        // What is no error is taken for 0, which is noted.
        let needed = matches!(kind, Unwritten::Error | Unwritten::Field(_));
        let forgiven = needed && self.code.forgiven().unwritten;
        let kind = match kind {
            _ if forgiven => Unwritten::Zero,
            // A word has a value whole or not at all here.
            Unwritten::Field(_) => Unwritten::Error,
            kind => kind,
        };
        let mut found = self.graph.terms.constant(size * 8, 0);
        let mut broken = self.graph.terms.bool(false);
        for &(here, place) in list {
            let mut guard = self.graph.terms.and(look.goes, here);
            let (value, unwritten) = match place {
                Place::Constant { addr } => (self.constant_at(addr, size), None),
                Place::Private { object, offset } if kind == Unwritten::Kept => {
                    let (value, written) = self.private_load(state, object, offset, size);
                    let blank = self.is_blank(state, object, offset, size);
                    let either = self.graph.terms.or(written, blank);
                    if !self.graph.terms.is_true(either) {
                        let message = "the engine `oc` moves nothing of which only some bytes were written";
                        return self.refuse(pc, message);
                    }
                    (value, Some(blank))
                }
                Place::Private { object, offset } => {
                    let (value, written) = self.private_load(state, object, offset, size);
                    (value, Some(self.graph.terms.not(written)))
                }
                Place::Shared { addr, mortal } => {
                    let node = look.node.expect("something shared is read");
                    let base = Addr(addr).base().0;
                    if mortal {
                        let lives = self.read(node, guard, Location::Life(base), pc);
                        let dead = self.graph.terms.and_not(guard, lives);
                        broken = self.graph.terms.or(broken, dead);
                        guard = self.graph.terms.and(guard, lives);
                    }
                    let value = self.read(node, guard, Location::Memory(addr, size), pc);
                    let fresh = self.graph.object_is(base, |object| object.bytes.is_none());
                    let unwritten = fresh.map(|_| self.graph.terms.var(1));
                    let reached = self.graph.terms.and(look.reached, here);
                    let missing = self.keeps.then(|| self.graph.terms.var(1));
                    let event = self.graph.events.last_mut().expect("just made");
                    (event.unwritten, event.missing, event.ordinary) = (unwritten, missing, look.ordinary);
                    if look.waits {
                        event.reached = reached;
                    }
                    let unwritten = unwritten.zip(fresh).map(|(first, fresh)| self.graph.terms.and(first, fresh));
                    let both = unwritten.into_iter().chain(missing);
                    (value, both.reduce(|a, b| self.graph.terms.or(a, b)))
                }
            };
            let unwritten = unwritten.filter(|&unwritten| !self.graph.terms.is_false(unwritten));
            let value = match (unwritten, kind) {
                (Some(unwritten), Unwritten::Kept) => {
                    let nothing = self.no_value(size);
                    self.graph.terms.ite(unwritten, nothing, value)
                }
                (Some(unwritten), Unwritten::Zero) => {
                    let zero = self.graph.terms.constant(size * 8, 0);
                    if self.keeps { self.graph.terms.ite(unwritten, zero, value) } else { value }
                }
                _ => value,
            };
            found = self.graph.terms.ite(here, value, found);
            let Some(unwritten) = unwritten.filter(|_| kind == Unwritten::Error || forgiven) else { continue };
            let wrong = self.graph.terms.and(guard, unwritten);
            if forgiven {
                self.cut(wrong, pc, CutKind::Unwritten);
            } else {
                broken = self.graph.terms.or(broken, wrong);
            }
        }
        self.fail_if(thread, state, broken, Property::Memory, pc);
        Ok((self.graph.terms.resize(found, ty.bits() as u8), broken))
    }

    /// An operation that waits happens only if this holds, and the thread goes on only if it happens.
    pub(super) fn end(&mut self, state: &mut State, look: Look, goes_on: Term) {
        debug_assert!(look.waits);
        self.graph.require(look.goes, goes_on);
        state.guard = self.graph.terms.and(state.guard, look.goes);
    }

    /// What somebody who waits at one of these places finds there when nothing moves any more.
    fn look_at_the_end(&mut self, stuck: Term, list: &[(Term, Place)], ty: Type, pc: u32) -> Term {
        let size = ty.size() as u8;
        let mut found = self.graph.terms.constant(size * 8, 0);
        for &(here, place) in list {
            let Place::Shared { addr, mortal } = place else {
                // What no other thread can change is not waited for.
                let not = self.graph.terms.not(here);
                self.graph.require(stuck, not);
                continue;
            };
            let guard = self.graph.terms.and(stuck, here);
            let base = Addr(addr).base().0;
            if mortal {
                let lives = self.graph.final_look(guard, Location::Life(base), pc);
                self.graph.require(guard, lives);
            }
            let value = self.graph.final_look(guard, Location::Memory(addr, size), pc);
            if let Some(fresh) = self.graph.object_is(base, |object| object.bytes.is_none()) {
                let unwritten = self.graph.terms.var(1);
                self.graph.events.last_mut().expect("just made").unwritten = Some(unwritten);
                let unwritten = self.graph.terms.and(unwritten, fresh);
                let wrong = self.graph.terms.and(guard, unwritten);
                if self.code.forgiven().unwritten {
                    self.cut(wrong, pc, CutKind::Unwritten);
                } else {
                    let written = self.graph.terms.not(unwritten);
                    self.graph.require(guard, written);
                }
            }
            found = self.graph.terms.ite(here, value, found);
        }
        self.graph.terms.resize(found, ty.bits() as u8)
    }

    /// The thread may wait here for ever, if what it finds in the end does not let it go on.
    fn may_be_stuck(
        &mut self,
        thread: usize,
        state: &State,
        look: Look,
        stuck: Term,
        goes_on: Term,
        looks: bool,
    ) -> Result<(), Fail> {
        if state.block.is_some() {
            return self.refuse(
                state.pc,
                "the engine `oc` looks for no deadlocks beside waits inside atomic blocks; --no deadlock",
            );
        }
        let stays = [self.graph.terms.not(look.goes), self.graph.terms.not(goes_on)];
        let stays = self.graph.terms.all(stays.into_iter().chain([state.guard]));
        self.graph.require(stuck, stays);
        self.graph.stuck.push(Stuck { thread, guard: stuck, pc: state.pc, looks });
        Ok(())
    }
}
