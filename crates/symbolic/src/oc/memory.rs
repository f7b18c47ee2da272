//! Addresses, objects and accesses.
//!
//! An access to an address that is known is one event. Where the address is not known but the objects are that it can point into, there is an event for every
//! place in them that the access can be to, under the condition that the address is this one; nowhere else is an error. So locations are always
//! known, and the theory of orders need not know of addresses. Objects that no other thread can reach are bytes of the thread's own
//! state, as in the machine.

use super::graph::{Action, CutKind, Location, Node, Shape as Made};
use super::state::{Byte, Object, State};
use super::unroll::{Fail, Unroller};
use crate::words;
use raddle_machine::address::{Owner, WAKEUPS};
use raddle_machine::code::Pc;
use raddle_machine::{Addr, Code};
use raddle_program::FuncId;
use raddle_solve::Term;
use raddle_trace::{Model, Property};
use std::rc::Rc;

/// How many places an access may be to.
const MOST_PLACES: usize = 512;
/// How many sizes an object may have of which it is not known which one it has.
const MOST_SIZES: usize = 64;
/// Up to here there is nothing.
const NOTHING: u64 = 1 << 34;
/// How large an object of a thread may be: those above have numbers of another kind.
pub(crate) const MOST_BYTES: u32 = 1 << 14;

/// Where an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Shared { addr: u64, mortal: bool },
    Constant { addr: u64 },
    Private { object: usize, offset: u32 },
}

/// The places that an access can be to, each under its condition; these exclude each other.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) list: Vec<(Term, Place)>,
    /// That it is to none of them.
    pub(super) none: Term,
}

/// A function with a local object, or a thread-local one, that is too large.
pub(crate) fn too_large(code: &Code) -> Option<Pc> {
    let locals = |id: u32| code.function(FuncId(id)).locals.iter().any(|local| local.size.max(local.room) > MOST_BYTES);
    let function = (0..code.functions() as u32).find(|&id| locals(id));
    let is_large = |&global: &u32| code.globals()[global as usize].bytes.len() > MOST_BYTES as usize;
    let own = code.thread_locals().iter().any(is_large).then_some(code.entry().0);
    function.or(own).map(|id| code.function(FuncId(id)).entry)
}

impl Unroller<'_> {
    pub(super) fn make_thread_locals(&mut self, thread: usize, state: &mut State) {
        for &global in self.code.thread_locals() {
            let global = &self.code.globals()[global as usize];
            let size = global.bytes.len() as u32;
            self.make_object(thread, state, size, Some(&global.bytes), global.private, false, false);
        }
    }

    /// Makes an object; its address.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn make_object(
        &mut self,
        thread: usize,
        state: &mut State,
        size: u32,
        contents: Option<&[u8]>,
        private: bool,
        heap: bool,
        scoped: bool,
    ) -> u64 {
        let id = self.graph.threads[thread].id;
        let addr = Addr::object(id, state.objects.len() as u32).0;
        let terms = &mut self.graph.terms;
        state.objects.push(if private {
            let byte = |at: usize| -> Byte {
                let value = contents.map_or(0, |bytes| bytes[at]);
                (terms.constant(8, u64::from(value)), terms.bool(contents.is_some()))
            };
            let bytes = Rc::new((0..size as usize).map(byte).collect());
            Object::Private { bytes, size: None, live: true, heap, scoped }
        } else {
            let bytes = contents.map(<[u8]>::to_vec);
            let made = Made { size, bytes, heap };
            if !self.graph.make_object(addr, made.clone(), state.guard) {
                self.points.make(addr, made);
            }
            Object::Shared
        });
        addr
    }

    /// Makes an object whose size is not known; its address. Its size may be any of a few multiples of what it certainly is a multiple of, more of them where loops may turn more often, and the thread is cut
    /// where it is none of these.
    pub(super) fn make_sized(
        &mut self,
        thread: usize,
        state: &mut State,
        size: Term,
        zeroed: bool,
        (private, heap, scoped): (bool, bool, bool),
    ) -> Result<u64, Fail> {
        let pc = state.pc;
        let sizes = match self.graph.terms.choices(size, MOST_SIZES) {
            Some(sizes) => sizes,
            None => {
                let step = 1 << self.graph.terms.trailing_zeros(size).min(12);
                (0..=MOST_SIZES as u64)
                    .map(|times| times * step)
                    .take_while(|&size| size <= u64::from(MOST_BYTES))
                    .take(self.sizes())
                    .collect()
            }
        };
        let Some(&largest) = sizes.iter().max().filter(|&&largest| largest <= u64::from(MOST_BYTES)) else {
            return self.refuse(pc, "the engine `oc` takes no allocation of a size that is large");
        };
        let contents = |size: u64| zeroed.then(|| vec![0; size as usize]);
        let (id, guard) = (self.graph.threads[thread].id, state.guard);
        let addr = Addr::object(id, state.objects.len() as u32).0;
        let mut among = self.graph.terms.bool(false);
        for &known in &sizes {
            let value = self.graph.terms.constant(64, known);
            let is = self.graph.terms.eq(size, value);
            among = self.graph.terms.or(among, is);
            let made = self.graph.terms.and(guard, is);
            if !private && !self.graph.terms.is_false(made) {
                let shape = Made { size: known as u32, bytes: contents(known), heap };
                if !self.graph.make_object(addr, shape.clone(), made) {
                    self.points.make(addr, shape);
                }
            }
        }
        let cut = self.graph.terms.and_not(guard, among);
        self.cut(cut, pc, CutKind::Unrolling);
        state.guard = self.graph.terms.and(guard, among);
        if private {
            self.make_object(thread, state, largest as u32, contents(largest).as_deref(), true, heap, scoped);
            if let Some(Object::Private { size: known, .. }) = state.objects.last_mut() {
                *known = Some(size);
            }
        } else {
            state.objects.push(Object::Shared);
        }
        Ok(addr)
    }

    /// What a pointer becomes by arithmetic, as [`Addr::moved`] says.
    pub(super) fn moved(&mut self, pointer: Term, by: Term, pc: Pc) -> Result<Term, Fail> {
        let terms = &mut self.graph.terms;
        if let Some(by) = terms.as_const(by)
            && let Some(choices) = terms.choices(pointer, MOST_PLACES)
        {
            let mut moved = terms.constant(64, 0);
            for choice in choices {
                let from = terms.constant(64, choice);
                let (here, to) = (terms.eq(pointer, from), terms.constant(64, Addr(choice).moved(by as i64).0));
                moved = terms.ite(here, to, moved);
            }
            return Ok(moved);
        }
        let Some(bases) = self.bases_of(pointer) else {
            return self.refuse(pc, "the engine `oc` does not know which object this address is computed from");
        };
        // What is near null belongs to nothing; other numbers of nothing may come out as others of nothing.
        let rooms = bases.iter().filter_map(|&base| Addr(base).surroundings()).chain([(0, NOTHING)]);
        let rooms: Vec<(u64, u64)> = rooms.collect();
        let terms = &mut self.graph.terms;
        let moved = words::moved(terms, pointer, by, &rooms);
        let aligned = self.aligned(pointer).min(self.graph.terms.trailing_zeros(by));
        self.bases.insert(moved, (bases, aligned));
        Ok(moved)
    }

    /// The objects that an address can point into, by their starts, if that is known. It can also point to nothing.
    pub(super) fn bases_of(&self, pointer: Term) -> Option<Vec<u64>> {
        if let Some((bases, _)) = self.bases.get(&pointer) {
            return Some(bases.clone());
        }
        let mut all = Vec::new();
        let mut todo = vec![pointer];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            match (self.graph.terms.choices(term, MOST_PLACES), self.bases.get(&term)) {
                (Some(values), _) => all.extend(values.into_iter().map(|value| Addr(value).base().0)),
                (None, Some((bases, _))) => all.extend(bases),
                (None, None) => match self.graph.terms.branches(term) {
                    Some((a, b)) => todo.extend([a, b]),
                    None => return None,
                },
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }

    /// How many of the lowest bits of an address are zero wherever it points into an object.
    pub(super) fn aligned(&self, pointer: Term) -> u8 {
        let terms = &self.graph.terms;
        let mut least = 64;
        let mut todo = vec![pointer];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            match (self.bases.get(&term), terms.branches(term)) {
                (Some((_, aligned)), _) => least = least.min(*aligned),
                (None, Some((a, b))) => todo.extend([a, b]),
                (None, None) => {
                    let values = terms.choices(term, MOST_PLACES);
                    let zeros = values.and_then(|values| values.iter().map(|value| value.trailing_zeros() as u8).min());
                    least = least.min(zeros.unwrap_or_else(|| terms.trailing_zeros(term)));
                }
            }
        }
        least
    }

    /// What is at a place, if anything, for an access of so many bytes, and under which condition.
    fn place(&mut self, thread: usize, state: &State, addr: u64, size: u8) -> Option<(Term, Place)> {
        let id = self.graph.threads[thread].id;
        let at = Addr(addr);
        let fits = |total: usize| at.offset() as usize + usize::from(size) <= total;
        let yes = self.graph.terms.bool(true);
        match at.owner() {
            Owner::Global(global) => {
                let global = self.code.globals().get(global.index()).filter(|global| global.tls.is_none())?;
                let place =
                    if global.constant { Place::Constant { addr } } else { Place::Shared { addr, mortal: false } };
                fits(global.bytes.len()).then_some((yes, place))
            }
            Owner::Thread(_, WAKEUPS) => fits(8).then_some((yes, Place::Shared { addr, mortal: false })),
            Owner::Thread(owner, number) => {
                if owner == id
                    && let Some(Object::Private { bytes, size: known, live, .. }) = state.objects.get(number as usize)
                {
                    let place = Place::Private { object: number as usize, offset: at.offset() };
                    let there = known.map_or(yes, |known| {
                        let end = self.graph.terms.constant(64, u64::from(at.offset()) + u64::from(size));
                        let ends = self.graph.terms.ult(known, end);
                        self.graph.terms.not(ends)
                    });
                    return (*live && fits(bytes.len())).then_some((there, place));
                }
                let there = self.graph.object_is(at.base().0, |object| fits(object.size as usize));
                if there.is_none() {
                    self.points.miss(at.base().0);
                }
                there.map(|there| (there, Place::Shared { addr, mortal: true }))
            }
            Owner::Function(_) | Owner::Nothing => None,
        }
    }

    fn object_size(&mut self, thread: usize, state: &State, base: u64) -> u32 {
        let id = self.graph.threads[thread].id;
        let made = self.graph.objects.get(&base).into_iter().flatten().map(|object| object.shape.size).max();
        if made.is_none() {
            self.points.miss(base);
        }
        match Addr(base).owner() {
            Owner::Global(global) => {
                self.code.globals().get(global.index()).map_or(0, |global| global.bytes.len() as u32)
            }
            Owner::Thread(owner, number) if owner == id => match state.objects.get(number as usize) {
                Some(Object::Private { bytes, .. }) => bytes.len() as u32,
                _ => made.unwrap_or(0),
            },
            Owner::Thread(..) => made.unwrap_or(0),
            Owner::Function(_) | Owner::Nothing => 0,
        }
    }

    /// Where an access of so many bytes can be to.
    pub(super) fn places(
        &mut self,
        thread: usize,
        state: &State,
        addr: Term,
        size: u8,
        pc: Pc,
    ) -> Result<Places, Fail> {
        let candidates = match self.graph.terms.choices(addr, MOST_PLACES) {
            Some(choices) => choices,
            None => {
                let Some(bases) = self.bases_of(addr) else {
                    return self.refuse(pc, "the engine `oc` does not know which object this address points to");
                };
                let step = u64::from(size.max(1));
                if 1u64 << self.aligned(addr).min(8) < step {
                    return self.refuse(pc, "the engine `oc` does not see that this address is a multiple of the size");
                }
                let mut all = Vec::new();
                for base in bases {
                    let end = u64::from(self.object_size(thread, state, base));
                    if (end / step) as usize + all.len() > MOST_PLACES {
                        let message =
                            format!("the engine `oc` takes no access to any of more than {MOST_PLACES} places");
                        return self.refuse(pc, message);
                    }
                    all.extend((0..end / step).map(|at| base + at * step));
                }
                all
            }
        };
        let mut list = Vec::new();
        let mut none = self.graph.terms.bool(true);
        for candidate in candidates {
            let Some((there, place)) = self.place(thread, state, candidate, size) else { continue };
            let value = self.graph.terms.constant(64, candidate);
            let here = self.graph.terms.eq(addr, value);
            let here = self.graph.terms.and(here, there);
            none = self.graph.terms.and_not(none, here);
            if !self.graph.terms.is_false(here) {
                list.push((here, place));
            }
        }
        Ok(Places { list, none })
    }

    /// What a constant object holds at an address.
    pub(super) fn constant_at(&mut self, addr: u64, size: u8) -> Term {
        let Owner::Global(global) = Addr(addr).owner() else { unreachable!("constants are global") };
        let bytes = &self.code.globals()[global.index()].bytes[Addr(addr).offset() as usize..][..usize::from(size)];
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        self.graph.terms.constant(size * 8, value)
    }

    /// What a private object holds, and whether all of it was written.
    pub(super) fn private_load(&mut self, state: &State, object: usize, offset: u32, size: u8) -> Byte {
        let Object::Private { bytes, .. } = &state.objects[object] else { unreachable!("just found") };
        let bytes: Vec<Byte> = bytes[offset as usize..][..usize::from(size)].to_vec();
        let terms = &mut self.graph.terms;
        let (mut value, mut written) = bytes[0];
        for &(byte, known) in &bytes[1..] {
            value = terms.concat(byte, value);
            written = terms.and(written, known);
        }
        (value, written)
    }

    /// When nothing of a part of a private object was ever written.
    pub(super) fn is_blank(&mut self, state: &State, object: usize, offset: u32, size: u8) -> Term {
        let Object::Private { bytes, .. } = &state.objects[object] else { unreachable!("just found") };
        let known: Vec<Term> = bytes[offset as usize..][..usize::from(size)].iter().map(|byte| byte.1).collect();
        let some = self.graph.terms.any(known);
        self.graph.terms.not(some)
    }

    /// What stands for the value of so many bytes that were never written.
    pub(super) fn no_value(&mut self, size: u8) -> Term {
        match self.no_values.get(&size) {
            Some(&known) => known,
            None => {
                let variable = self.graph.terms.var(size * 8);
                self.no_values.insert(size, variable);
                variable
            }
        }
    }

    /// Whether a value of any size may be none.
    pub(super) fn may_be_missing(&mut self, value: Term) -> bool {
        let sizes: Vec<u8> = self.no_values.keys().copied().collect();
        sizes.into_iter().any(|size| {
            let value = self.graph.terms.resize(value, size * 8);
            self.is_missing(value).is_some()
        })
    }

    /// When what is written is no value, if that can be.
    pub(super) fn is_missing(&mut self, value: Term) -> Option<Term> {
        let nothing = *self.no_values.get(&(self.graph.terms.width(value) / 8))?;
        let missing = self.graph.terms.is_chosen(value, nothing);
        (!self.graph.terms.is_false(missing)).then_some(missing)
    }

    /// Writes a private object, if the condition holds.
    pub(super) fn private_store(
        &mut self,
        state: &mut State,
        object: usize,
        offset: u32,
        size: u8,
        value: Term,
        cond: Term,
    ) {
        let missing = self.is_missing(value);
        let terms = &mut self.graph.terms;
        let Object::Private { bytes, .. } = &mut state.objects[object] else { unreachable!("just found") };
        let written = match missing {
            Some(missing) => terms.not(missing),
            None => terms.bool(true),
        };
        for (at, byte) in Rc::make_mut(bytes)[offset as usize..][..usize::from(size)].iter_mut().enumerate() {
            let part = terms.extract(value, at as u8 * 8, 8);
            *byte = (terms.ite(cond, part, byte.0), terms.ite(cond, written, byte.1));
        }
    }

    /// That an access in this node finds its object alive; an error otherwise. What is known to live for ever is not asked.
    pub(super) fn ask_life(&mut self, thread: usize, state: &mut State, node: Node, guard: Term, place: Place, pc: Pc) {
        if let Place::Shared { addr, mortal: true } = place {
            let lives = self.read(node, guard, Location::Life(Addr(addr).base().0), pc);
            let dead = self.graph.terms.and_not(guard, lives);
            self.fail_if(thread, state, dead, Property::Memory, pc);
        }
    }

    /// The life of a shared object ends, in a node. Nothing that the thread has on its way need have arrived.
    pub(super) fn end_life(&mut self, thread: usize, state: &mut State, addr: u64, pc: Pc) {
        let base = Addr(addr).base().0;
        let node = self.read_node(state);
        let guard = self.visible(state);
        self.plan(thread, guard, node, Action::Run);
        self.ask_life(thread, state, node, guard, Place::Shared { addr: base, mortal: true }, pc);
        let guard = self.visible(state);
        let no = self.graph.terms.bool(false);
        self.write(node, guard, Location::Life(base), no, pc);
        if self.model != Model::Sc {
            let by = self.number_of(thread);
            self.write(node, guard, Location::EndedBy(base), by, pc);
        }
        state.has_acted();
    }

    /// That a store of a thread, which arrives in this node, finds its object dead. What the thread has stored there before it ended the object's life itself is not looked at any more, and
    /// that is no error.
    pub(super) fn arrives_too_late(&mut self, thread: usize, node: Node, guard: Term, addr: u64, pc: Pc) -> Term {
        let location = Location::EndedBy(Addr(addr).base().0);
        let by = self.read(node, guard, location, pc);
        let nobody = self.graph.terms.constant(location.width(), 0);
        let own = self.number_of(thread);
        let fine = [nobody, own].map(|number| self.graph.terms.eq(by, number));
        let fine = self.graph.terms.any(fine);
        self.graph.terms.and_not(guard, fine)
    }

    /// What stands for a thread in [`Location::EndedBy`].
    fn number_of(&mut self, thread: usize) -> Term {
        self.graph.terms.constant(32, thread as u64 + 1)
    }
}
