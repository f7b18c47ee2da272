//! Operations on synchronisation objects, on terms. The machine's `thread/sync.rs` says the same on numbers, step by step.
//!
//! Which locks a thread holds is part of its state, not a term; where a lock's address has several known values, the state is split.

use super::access::Update;
use super::state::State;
use super::unroll::{Fail, Unroller};
use raddle_machine::code::{Instr, NO_SLOT, Operand, Slot, SyncOp};
use raddle_program::{Ordering, Type};
use raddle_solve::Term;
use raddle_trace::Property;

/// What stands in a synchronisation object after its end.
pub(super) const DESTROYED: u64 = 0x7fff_dead;
/// The greatest value of a semaphore.
const SEMAPHORE_MAX: u64 = 0x7fff_ffff;
/// A reader-writer lock that is held for writing.
const WRITER: u64 = u32::MAX as u64;
/// How many locks an address may be of.
pub(super) const MOST_LOCKS: usize = 16;

/// Whether an instruction ends the life of a synchronisation object.
pub(super) fn destroys(instr: Instr) -> bool {
    matches!(instr, Instr::Sync { op: SyncOp::Destroy { .. }, .. })
}

impl Unroller<'_> {
    /// The states that follow an operation on a synchronisation object, all before the next instruction.
    pub(super) fn sync(
        &mut self,
        thread: usize,
        state: State,
        op: SyncOp,
        dst: Slot,
        object: Operand,
        other: Operand,
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let other = matches!(op, SyncOp::CondWait { .. } | SyncOp::BarrierInit).then(|| self.get(&state, other));
        let addr = self.get(&state, object);
        let Some(choices) = self.graph.terms.choices(addr, MOST_LOCKS) else {
            return self.refuse(pc, "the engine `oc` does not know which lock this is");
        };
        let mut rest = state;
        let mut next = Vec::new();
        for choice in choices {
            let value = self.graph.terms.constant(64, choice);
            let is = self.graph.terms.eq(addr, value);
            let guard = self.graph.terms.and(rest.guard, is);
            rest.guard = self.graph.terms.and_not(rest.guard, is);
            if !self.graph.terms.is_false(guard) {
                let state = State { guard, ..rest.clone() };
                next.extend(self.sync_on(thread, state, op, dst, choice, other)?);
            }
        }
        Ok(next)
    }

    fn sync_on(
        &mut self,
        thread: usize,
        mut state: State,
        op: SyncOp,
        dst: Slot,
        addr: u64,
        other: Option<Term>,
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let held = state.held.iter().position(|held| held.0 == addr);
        let (yes, one) = (self.graph.terms.bool(true), self.graph.terms.constant(64, 1));
        let at = self.graph.terms.constant(64, addr);
        match (op, held) {
            (SyncOp::Lock { recursive: true } | SyncOp::TryLock { recursive: true }, Some(held)) => {
                state.held[held].1 += 1;
                state.has_acted();
                self.set(&mut state, dst, one);
                return Ok(vec![state]);
            }
            (SyncOp::TryLock { .. }, Some(_)) => {
                let zero = self.graph.terms.constant(64, 0);
                self.set(&mut state, dst, zero);
                return Ok(vec![state]);
            }
            (SyncOp::Unlock, Some(held)) if state.held[held].1 > 1 => {
                state.held[held].1 -= 1;
                state.has_acted();
                return Ok(vec![state]);
            }
            (SyncOp::Unlock | SyncOp::RwUnlock, None) if self.code.forgiven().locks => return Ok(vec![state]),
            (SyncOp::Destroy { .. }, Some(held)) if self.code.forgiven().locks => {
                state.held.remove(held);
            }
            (SyncOp::ReadLock, Some(held)) if state.held[held].1 >= 0 => {}
            (SyncOp::Lock { .. } | SyncOp::WriteLock | SyncOp::ReadLock | SyncOp::Destroy { .. }, Some(_))
            | (SyncOp::Unlock | SyncOp::RwUnlock, None) => {
                self.fail_if(thread, &mut state, yes, Property::Lock, pc);
                return Ok(Vec::new());
            }
            _ => {}
        }
        let me = u64::from(self.graph.threads[thread].id.0) + 1;
        match op {
            SyncOp::Lock { .. } | SyncOp::TryLock { .. } => {
                let waits = matches!(op, SyncOp::Lock { .. });
                self.take(thread, state, dst, addr, waits, 1, |unroller, found| {
                    let zero = unroller.graph.terms.constant(32, 0);
                    (unroller.graph.terms.eq(found, zero), unroller.graph.terms.constant(32, me))
                })
            }
            SyncOp::WriteLock | SyncOp::TryWriteLock => {
                let waits = matches!(op, SyncOp::WriteLock);
                self.take(thread, state, dst, addr, waits, -1, |unroller, found| {
                    let zero = unroller.graph.terms.constant(32, 0);
                    (unroller.graph.terms.eq(found, zero), unroller.graph.terms.constant(32, WRITER))
                })
            }
            SyncOp::ReadLock | SyncOp::TryReadLock => {
                let waits = matches!(op, SyncOp::ReadLock);
                self.take(thread, state, dst, addr, waits, 1, |unroller, found| {
                    let terms = &mut unroller.graph.terms;
                    let (writer, one) = (terms.constant(32, WRITER), terms.constant(32, 1));
                    (terms.ne(found, writer), terms.add(found, one))
                })
            }
            SyncOp::SemWait | SyncOp::SemTryWait => {
                let waits = matches!(op, SyncOp::SemWait);
                self.take(thread, state, dst, addr, waits, 0, |unroller, found| {
                    let terms = &mut unroller.graph.terms;
                    let (zero, minus) = (terms.constant(32, 0), terms.constant(32, WRITER));
                    (terms.ne(found, zero), terms.add(found, minus))
                })
            }
            SyncOp::Unlock => {
                let zero = self.graph.terms.constant(64, 0);
                self.store(thread, &mut state, Type::I32, at, zero, Ordering::Release)?;
                state.held.retain(|held| held.0 != addr);
                Ok(vec![state])
            }
            SyncOp::RwUnlock => {
                let held = held.expect("checked above");
                if state.held[held].1 < 0 {
                    let zero = self.graph.terms.constant(64, 0);
                    self.store(thread, &mut state, Type::I32, at, zero, Ordering::Release)?;
                } else {
                    self.change(thread, &mut state, addr, WRITER)?;
                }
                if state.held[held].1 > 1 {
                    state.held[held].1 -= 1;
                } else {
                    state.held.remove(held);
                }
                Ok(vec![state])
            }
            SyncOp::SemPost => {
                self.change(thread, &mut state, addr, 1)?;
                Ok(vec![state])
            }
            SyncOp::Destroy { ty: Type::I32 } => {
                let mut gone = yes;
                self.update(thread, &mut state, NO_SLOT, Type::I32, at, false, |unroller, _, found| {
                    let terms = &mut unroller.graph.terms;
                    let new = terms.constant(32, DESTROYED);
                    gone = terms.eq(found, new);
                    let writes = terms.not(gone);
                    Ok(Update { new, writes, goes_on: terms.bool(true), fails: terms.bool(false) })
                })?;
                self.fail_if(thread, &mut state, gone, Property::Lock, pc);
                Ok(vec![state])
            }
            SyncOp::Destroy { .. } => {
                let (mut gone, mut used) = (yes, yes);
                self.update(thread, &mut state, NO_SLOT, Type::I64, at, false, |unroller, _, found| {
                    used = unroller.somebody_waits(found);
                    let terms = &mut unroller.graph.terms;
                    let new = terms.constant(64, DESTROYED);
                    gone = terms.eq(found, new);
                    let writes = terms.not(gone);
                    Ok(Update { new, writes, goes_on: terms.bool(true), fails: terms.bool(false) })
                })?;
                if self.code.forgiven().locks {
                    used = self.graph.terms.bool(false);
                }
                let wrong = self.graph.terms.or(gone, used);
                self.fail_if(thread, &mut state, wrong, Property::Lock, pc);
                Ok(vec![state])
            }
            SyncOp::CondWait { timed } => {
                let Some(mutex) = other else { unreachable!("a wait has a mutex") };
                self.cond_wait(thread, state, addr, mutex, timed)
            }
            SyncOp::CondSignal => self.signal(thread, state, addr),
            SyncOp::CondBroadcast => self.broadcast(thread, state, addr),
            SyncOp::BarrierInit => {
                let Some(count) = other else { unreachable!("a barrier is for some threads") };
                self.barrier_init(thread, state, addr, count)
            }
            SyncOp::BarrierWait => self.barrier_wait(thread, state, dst, addr),
        }
    }

    /// Takes a lock or a semaphore. `free` says whether what is found can be taken, and what is left there then.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take(
        &mut self,
        thread: usize,
        mut state: State,
        dst: Slot,
        addr: u64,
        waits: bool,
        count: i32,
        free: impl Fn(&mut Self, Term) -> (Term, Term),
    ) -> Result<Vec<State>, Fail> {
        let pc = state.pc;
        let at = self.graph.terms.constant(64, addr);
        let destroys = self.destroys;
        let mut taken = self.graph.terms.bool(false);
        let mut gone = taken;
        self.update(thread, &mut state, NO_SLOT, Type::I32, at, waits, |unroller, _, found| {
            let (can, new) = free(unroller, found);
            let terms = &mut unroller.graph.terms;
            let end = terms.constant(32, DESTROYED);
            gone = if destroys { terms.eq(found, end) } else { terms.bool(false) };
            taken = terms.and_not(can, gone);
            let goes_on = if waits { terms.or(taken, gone) } else { terms.bool(true) };
            Ok(Update { new, writes: taken, goes_on, fails: terms.bool(false) })
        })?;
        self.fail_if(thread, &mut state, gone, Property::Lock, pc);
        let missed = self.graph.terms.and_not(state.guard, taken);
        let mut next = Vec::new();
        if !waits && !self.graph.terms.is_false(missed) {
            let mut state = State { guard: missed, ..state.clone() };
            let zero = self.graph.terms.constant(64, 0);
            self.set(&mut state, dst, zero);
            next.push(state);
        }
        state.guard = self.graph.terms.and(state.guard, taken);
        let one = self.graph.terms.constant(64, 1);
        self.set(&mut state, dst, one);
        match state.held.iter_mut().find(|held| held.0 == addr) {
            _ if count == 0 => {}
            Some(held) => held.1 += count,
            None => {
                state.held.push((addr, count));
                state.held.sort_unstable();
            }
        }
        next.push(state);
        Ok(next)
    }

    /// Adds to a count, unless it has been destroyed.
    fn change(&mut self, thread: usize, state: &mut State, addr: u64, by: u64) -> Result<(), Fail> {
        let pc = state.pc;
        let at = self.graph.terms.constant(64, addr);
        let (destroys, counts_up) = (self.destroys, by == 1);
        let mut gone = self.graph.terms.bool(false);
        self.update(thread, state, NO_SLOT, Type::I32, at, false, |unroller, _, found| {
            let terms = &mut unroller.graph.terms;
            let (by, end) = (terms.constant(32, by), terms.constant(32, DESTROYED));
            let new = terms.add(found, by);
            gone = if destroys { terms.eq(found, end) } else { terms.bool(false) };
            if counts_up {
                let greatest = terms.constant(32, SEMAPHORE_MAX);
                let full = terms.eq(found, greatest);
                gone = terms.or(gone, full);
            }
            let writes = terms.not(gone);
            Ok(Update { new, writes, goes_on: terms.bool(true), fails: terms.bool(false) })
        })?;
        self.fail_if(thread, state, gone, Property::Lock, pc);
        Ok(())
    }
}
