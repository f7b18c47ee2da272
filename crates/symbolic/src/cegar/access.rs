//! Loads, stores and updates, on terms.
//!
//! An operation that waits has ways on only where what it finds lets it go on. An address that is no number, because it depends on an unknown input, splits the way: one for every place in memory that
//! it can be of, and one for nowhere, which is an error.

use super::control::Status;
use super::path::{Halt, Move, Path, Pending};
use super::vars::Var;
use super::walk::Walker;
use crate::words::{self, Computer};
use raddle_engine::Refusal;
use raddle_machine::Addr;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Pc, Slot};
use raddle_program::{Ordering, Type, Unwritten};
use raddle_solve::Term;
use raddle_trace::{Property, ThreadId};

/// How many places an address may be of.
const MOST_PLACES: usize = 512;

/// Ways, each with where an access is to.
pub(super) type Places = Vec<(Path, Option<u64>)>;

/// What an access does with what it has found.
struct Reaction {
    /// What it writes.
    new: Option<Term>,
    /// Whether it does: a mere read otherwise.
    writes: Term,
    /// Whether it does not wait for something else.
    goes_on: Term,
    /// Whether what it does cannot be said, because of a division by zero.
    fails: Term,
}

impl Walker<'_> {
    /// What an access does, from its instruction on.
    pub(super) fn access(&mut self, path: Path, id: ThreadId) -> Result<Vec<Path>, Halt> {
        let addr = self.address(&path, id).expect("it is an access");
        let pc = path.thread(id).pc;
        let (ty, dst) = match self.code.instr(pc) {
            Instr::Load { ty, dst, .. } | Instr::Rmw { ty, dst, .. } => (ty, Some(dst)),
            Instr::Store { ty, .. } => (ty, None),
            Instr::Cas { cas } => (self.code.cas(cas).ty, Some(self.code.cas(cas).dst)),
            other => unreachable!("no access: {other:?}"),
        };
        let size = ty.size() as u8;
        let mut ways = Vec::new();
        for (path, place) in self.resolve(path, id, addr, size)? {
            let Some(addr) = place else {
                ways.push(self.fails(path, id, Property::Memory));
                continue;
            };
            let found = match self.find(&path, id, addr, size)? {
                Some(found) => found,
                None => {
                    ways.push(self.fails(path, id, Property::Memory));
                    continue;
                }
            };
            let found = self.terms.resize(found, ty.bits() as u8);
            let Reaction { new, writes, goes_on, fails } = self.reaction(&path, id, found)?;
            let Some(path) = self.split(path, goes_on).0 else { continue };
            let (changed, same) = self.split(path, writes);
            for (path, new) in [(changed, new), (same, None)] {
                let Some(mut path) = path else { continue };
                if let Some(new) = new {
                    let new = self.terms.resize(new, size * 8);
                    self.write(&mut path, Var::Cell { addr, size }, new);
                    self.note_written(&mut path, addr);
                }
                if let Some(dst) = dst {
                    self.set(&mut path, id, dst, found);
                }
                let (failed, right) = self.fails_if(path, id, fails, Property::Arithmetic);
                ways.extend(failed);
                ways.extend(right.map(|path| path.go_on(id)));
            }
        }
        Ok(ways)
    }

    fn reaction(&mut self, path: &Path, id: ThreadId, found: Term) -> Result<Reaction, Halt> {
        let pc = path.thread(id).pc;
        let (yes, no) = (self.terms.bool(true), self.terms.bool(false));
        Ok(match self.code.instr(pc) {
            Instr::Load { wait: 0, .. } => Reaction { new: None, writes: no, goes_on: yes, fails: no },
            Instr::Load { wait, .. } => {
                let (holds, fails) = self.waited_for(path, id, wait, found)?;
                Reaction { new: None, writes: no, goes_on: self.terms.or(holds, fails), fails }
            }
            Instr::Store { value, .. } => {
                let value = self.get(path, id, value);
                Reaction { new: Some(value), writes: yes, goes_on: yes, fails: no }
            }
            Instr::Rmw { op, ty, operand, idle, .. } => {
                let operand = self.get(path, id, operand);
                let operand = self.terms.resize(operand, ty.bits() as u8);
                let new = words::changed(self.terms, op, found, operand);
                if idle == 0 {
                    return Ok(Reaction { new: Some(new), writes: yes, goes_on: yes, fails: no });
                }
                let changes = self.terms.ne(new, found);
                let (holds, fails) = self.waited_for(path, id, idle, found)?;
                let writes = self.terms.any([changes, holds, fails]);
                let goes_on = if self.code.wait(idle).blocks { writes } else { yes };
                Reaction { new: Some(new), writes, goes_on, fails }
            }
            Instr::Cas { cas } => {
                let cas = *self.code.cas(cas);
                let (expected, desired) = (self.get(path, id, cas.expected), self.get(path, id, cas.desired));
                let found = self.terms.zext(found, 64);
                let writes = self.terms.eq(found, expected);
                Reaction { new: Some(desired), writes, goes_on: if cas.wait { writes } else { yes }, fails: no }
            }
            other => unreachable!("no access: {other:?}"),
        })
    }

    /// Whether the condition of a read holds for what it found, and whether that cannot be said.
    fn waited_for(&mut self, path: &Path, id: ThreadId, wait: u32, found: Term) -> Result<(Term, Term), Halt> {
        let code = self.code;
        let (value, fails) = self.at(path, id).condition(&code.wait(wait).cond, found)?;
        let holds = words::holds(self.terms, value);
        Ok((self.terms.and_not(holds, fails), fails))
    }

    /// Whether a thread that waits does so before an assumption that would fail, which is no deadlock.
    pub(super) fn assumes(&mut self, path: &Path, id: ThreadId) -> Result<Term, Halt> {
        let code = self.code;
        let no = self.terms.bool(false);
        let Instr::Load { wait, ty, .. } = code.instr(path.thread(id).pc) else { return Ok(no) };
        let Some(assumed) = (wait != 0).then(|| code.wait(wait).assumed.as_ref()).flatten() else { return Ok(no) };
        let addr = self.address(path, id).expect("it is a load");
        let mut all = no;
        for (path, place) in self.resolve(path.clone(), id, addr, ty.size() as u8)? {
            let Some(addr) = place else { continue };
            let Some(found) = self.find(&path, id, addr, ty.size() as u8)? else { continue };
            let found = self.terms.resize(found, ty.bits() as u8);
            let (value, fails) = self.at(&path, id).condition(assumed, found)?;
            let value = words::holds(self.terms, value);
            let stops = self.terms.or(value, fails);
            let here = self.terms.and(path.guard, stops);
            all = self.terms.or(all, here);
        }
        Ok(all)
    }

    /// What stands at a place that an instruction accesses; `None` if that is an error. A store finds nothing.
    fn find(&mut self, path: &Path, id: ThreadId, addr: u64, size: u8) -> Result<Option<Term>, Halt> {
        let pc = path.thread(id).pc;
        let (stores, reads, kind) = match self.code.instr(pc) {
            Instr::Load { unwritten, .. } => (false, true, unwritten),
            Instr::Store { .. } => (true, false, Unwritten::Zero),
            _ => (true, true, Unwritten::Error),
        };
        if self.code.is_constant(Addr(addr)) {
            let first = self.vars.first(self.code, Var::Cell { addr, size });
            return Ok((!stores).then(|| self.terms.constant(size * 8, first)));
        }
        self.register(addr, size, pc)?;
        let unwritten = |set: &std::collections::BTreeSet<u32>| !set.contains(&Addr(addr).offset());
        let fresh = path.control.object(addr).is_some_and(|object| object.written.as_ref().is_some_and(unwritten));
        if reads && fresh && kind == Unwritten::Kept {
            return Err(self.refused(pc, "the engine `cegar` moves nothing that was never written"));
        }
        if reads && fresh && matches!(kind, Unwritten::Error | Unwritten::Field(_)) {
            return Ok(None);
        }
        if !reads {
            return Ok(Some(self.terms.constant(size * 8, 0)));
        }
        Ok(Some(self.read(path, Var::Cell { addr, size })))
    }

    pub(super) fn note_written(&self, path: &mut Path, addr: u64) {
        if let Owner::Thread(owner, number) = Addr(addr).owner()
            && path.control.object(addr).is_some_and(|object| object.written.is_some())
            && let Some(object) = path.thread_mut(owner).objects.get_mut(number as usize)
            && let Some(written) = &mut object.written
        {
            written.insert(Addr(addr).offset());
        }
    }

    /// Notes a cell; cells do not overlap.
    pub(super) fn register(&mut self, addr: u64, size: u8, pc: Pc) -> Result<(), Halt> {
        if self.cells.get(&addr).is_some_and(|cell| cell.0 == size) {
            return Ok(());
        }
        let near = self.cells.range(addr.saturating_sub(7)..addr + u64::from(size));
        let overlap =
            near.map(|(&at, &(other, pc))| (at, other, pc)).find(|&(at, other, _)| at + u64::from(other) > addr);
        let Some((at, other, first)) = overlap else {
            self.cells.insert(addr, (size, pc));
            return Ok(());
        };
        let message = format!(
            "the engine `cegar` takes no accesses of {other} and of {size} bytes to the same memory; ordinary ones with `--pieces PLACE=BYTES`, which `raddle check` finds out by itself"
        );
        let larger = if other > size { first } else { pc };
        let smaller = size.min(other);
        let apart = addr.abs_diff(at);
        let common = if apart == 0 { smaller } else { smaller.min(1 << apart.trailing_zeros().min(3)) };
        let pieces = vec![(self.code.place(larger), common)];
        Err(Halt::Refused(Box::new(Refusal { pieces, ..Refusal::at(self.code, larger, message) })))
    }

    /// Whether there is memory for an access of so many bytes at an address, for this thread.
    pub(super) fn is_there(&self, path: &Path, id: ThreadId, addr: u64, size: u8) -> bool {
        let at = Addr(addr);
        let fits = |total: usize| at.offset() as usize + usize::from(size) <= total;
        match at.owner() {
            Owner::Global(global) => {
                let global = self.code.globals().get(global.index());
                global.is_some_and(|global| global.tls.is_none() && fits(global.bytes.len()))
            }
            Owner::Thread(owner, _) => path
                .control
                .object(addr)
                .is_some_and(|object| object.live && fits(object.size as usize) && (!object.private || owner == id)),
            Owner::Function(_) | Owner::Nothing => false,
        }
    }

    /// Where an access is to: one way per place; `None` is nowhere.
    pub(super) fn resolve(&mut self, path: Path, id: ThreadId, addr: Term, size: u8) -> Result<Places, Halt> {
        if let Some(addr) = self.terms.as_const(addr) {
            let there = self.is_there(&path, id, addr, size).then_some(addr);
            return Ok(vec![(path, there)]);
        }
        self.need(addr)?;
        let pc = path.thread(id).pc;
        let mut places = Vec::new();
        let mut rest = Some(path);
        for base in self.objects_for(rest.as_ref().expect("just put there"), id) {
            let Some(path) = rest.take() else { break };
            let (base, total) = base;
            let (low, len) = (self.terms.constant(64, base.wrapping_neg()), self.terms.constant(64, u64::from(total)));
            let offset = self.terms.add(addr, low);
            let inside = self.terms.ult(offset, len);
            let asked = self.terms.and(path.guard, inside);
            if !(self.ask)(self.terms, asked)? {
                rest = Some(path);
                continue;
            }
            if total as usize / usize::from(size) + places.len() > MOST_PLACES {
                let message = format!("the engine `cegar` takes no access to any of more than {MOST_PLACES} places");
                return Err(self.refused(pc, &message));
            }
            let mut open = Some(path);
            for at in (0..total / u32::from(size)).map(|nth| base + u64::from(nth * u32::from(size))) {
                let Some(path) = open.take() else { break };
                let here = self.terms.constant(64, at);
                let here = self.terms.eq(addr, here);
                let asked = self.terms.and(path.guard, here);
                if !(self.ask)(self.terms, asked)? {
                    open = Some(path);
                    continue;
                }
                let (mut yes, no) = self.split(path, here);
                if let Some(mut path) = yes.take() {
                    if path.control.object(at).is_some_and(|object| object.private) {
                        path.step = Move::Silent;
                    }
                    places.push((path, Some(at)));
                }
                open = no;
            }
            rest = open;
            if let Some(path) = &rest {
                let astray = self.terms.and(path.guard, inside);
                if (self.ask)(self.terms, astray)? {
                    // Inside of the object, yet at no multiple of the size: it may go over its end as well.
                    return Err(
                        self.refused(pc, "the engine `cegar` does not see that this address is a multiple of the size")
                    );
                }
            }
        }
        if let Some(path) = rest
            && (self.ask)(self.terms, path.guard)?
        {
            places.push((path, None));
        }
        Ok(places)
    }

    /// A pointer that is moved. By an amount that is not known it gets to any place of its object, one way for each, or out of it.
    pub(super) fn move_pointer(
        &mut self,
        path: Path,
        id: ThreadId,
        dst: Slot,
        pointer: Term,
        by: Term,
    ) -> Result<Vec<Path>, Halt> {
        let to = self.at(&path, id).moved(pointer, by)?;
        let from = self.terms.as_const(pointer).expect("it was asked for");
        let mut ways = Vec::new();
        let mut rest = Some(path);
        if self.terms.as_const(to).is_none() {
            self.need(to)?;
            let size = match Addr(from).owner() {
                Owner::Global(global) => {
                    self.code.globals().get(global.index()).map_or(0, |global| global.bytes.len() as u32)
                }
                _ => rest.as_ref().and_then(|path| path.control.object(from)).map_or(0, |object| object.size),
            };
            let step = 1u32 << self.terms.trailing_zeros(by).min(12);
            let first = Addr(from).offset() % step;
            let places = (first..=size).step_by(step as usize);
            if places.clone().count() > MOST_PLACES {
                let pc = rest.as_ref().expect("not split so far").thread(id).pc;
                let message = format!("the engine `cegar` takes no pointer to any of more than {MOST_PLACES} places");
                return Err(self.refused(pc, &message));
            }
            for offset in places {
                let Some(path) = rest.take() else { break };
                let place = self.terms.constant(64, Addr(from).base().0 + u64::from(offset));
                let here = self.terms.eq(to, place);
                let asked = self.terms.and(path.guard, here);
                if !(self.ask)(self.terms, asked)? {
                    rest = Some(path);
                    continue;
                }
                let (yes, no) = self.split(path, here);
                if let Some(mut path) = yes {
                    self.set(&mut path, id, dst, place);
                    ways.push(path.go_on(id));
                }
                rest = no;
            }
        }
        if let Some(mut path) = rest
            && (self.ask)(self.terms, path.guard)?
        {
            self.set(&mut path, id, dst, to);
            ways.push(path.go_on(id));
        }
        Ok(ways)
    }

    /// An address that is nowhere, whatever it is, and that nobody reads behind the access may as well be another one that is nowhere, and known.
    pub(super) fn settle(&mut self, path: &mut Path, id: ThreadId, addr: Term) -> Result<(), Halt> {
        let pc = path.thread(id).pc;
        let (Instr::Load { addr: operand, .. } | Instr::Store { addr: operand, .. } | Instr::Rmw { addr: operand, .. }) =
            self.code.instr(pc)
        else {
            return Ok(());
        };
        if self.terms.as_const(addr).is_some()
            || self.code.as_constant(operand).is_some()
            || self.live.is_live(pc + 1, operand.0)
        {
            return Ok(());
        }
        for (base, total) in self.objects_for(path, id) {
            let (low, len) = (self.terms.constant(64, base.wrapping_neg()), self.terms.constant(64, u64::from(total)));
            let offset = self.terms.add(addr, low);
            let inside = self.terms.ult(offset, len);
            let asked = self.terms.and(path.guard, inside);
            if (self.ask)(self.terms, asked)? {
                return Ok(());
            }
        }
        let nowhere = self.terms.constant(64, 1);
        self.set(path, id, operand.0, nowhere);
        Ok(())
    }

    /// The objects that a thread can access, with their sizes.
    fn objects_for(&self, path: &Path, id: ThreadId) -> Vec<(u64, u32)> {
        let mut all: Vec<(u64, u32)> = Vec::new();
        for (global, nth) in self.code.globals().iter().zip(0..) {
            if global.tls.is_none() {
                all.push((Addr::global(raddle_program::GlobalId(nth)).0, global.bytes.len() as u32));
            }
        }
        for thread in &path.control.threads {
            for (object, at) in thread.objects.iter().zip(0..) {
                if object.live && (!object.private || thread.id == id) {
                    all.push((thread.object_address(at), object.size));
                }
            }
        }
        all
    }

    /// The accesses that a thread can do next once nobody else is in an atomic block, each with its condition and the condition that it writes; such as can race.
    pub(super) fn pending(&mut self, path: &Path, id: ThreadId) -> Result<Vec<(Term, Term, Pending)>, Halt> {
        let thread = path.thread(id);
        let pc = thread.pc;
        if thread.status != Status::Ready {
            return Ok(Vec::new());
        }
        let (ty, order): (Type, Ordering) = match self.code.instr(pc) {
            Instr::Load { ty, order, .. } | Instr::Store { ty, order, .. } | Instr::Rmw { ty, order, .. } => {
                (ty, order)
            }
            Instr::Cas { cas } => (self.code.cas(cas).ty, self.code.cas(cas).success),
            _ => return Ok(Vec::new()),
        };
        let (size, addr) = (ty.size() as u8, self.address(path, id).expect("it is an access"));
        let mut all = Vec::new();
        for (path, place) in self.resolve(path.clone(), id, addr, size)? {
            let Some(addr) = place else { continue };
            if path.control.object(addr).is_some_and(|object| object.private) || self.code.is_constant(Addr(addr)) {
                continue;
            }
            let Some(found) = self.find(&path, id, addr, size)? else { continue };
            let found = self.terms.resize(found, ty.bits() as u8);
            let Reaction { new, writes, goes_on, .. } = self.reaction(&path, id, found)?;
            // Who waits and looks in vain reads all the same.
            let writes = match new {
                Some(_) => self.terms.and(writes, goes_on),
                None => self.terms.bool(false),
            };
            let atomic = order != Ordering::NonAtomic || path.thread(id).atomic > 0;
            all.push((path.guard, writes, Pending { thread: id, pc, addr, size, atomic }));
        }
        Ok(all)
    }
}
