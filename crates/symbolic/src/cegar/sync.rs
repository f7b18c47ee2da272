//! Operations on synchronisation objects, on terms. The machine's `thread/sync.rs` says the same on numbers, step by step.
//!
//! Condition variables and barriers stand in `meetings`. The word of a lock is a variable that every abstraction knows; which locks a thread holds is part of where it is.

use super::meetings::is_meeting;
use super::path::{Halt, Path};
use super::vars::Var;
use super::walk::Walker;
use raddle_machine::code::{Operand, Slot, SyncOp};
use raddle_solve::Term;
use raddle_trace::{Property, ThreadId};

/// What stands in a synchronisation object after its end.
pub(super) const DESTROYED: u64 = 0x7fff_dead;
/// The greatest value of a semaphore.
const SEMAPHORE_MAX: u64 = 0x7fff_ffff;
/// A reader-writer lock that is held for writing.
const WRITER: u64 = u32::MAX as u64;

fn held(path: &Path, id: ThreadId, addr: u64) -> Option<usize> {
    path.thread(id).held.iter().position(|held| held.0 == addr)
}

impl Walker<'_> {
    /// What needs no memory: `Ok` if the thread has to go to memory, `Err` with the way behind it if not.
    pub(super) fn sync_begin(
        &mut self,
        mut path: Path,
        id: ThreadId,
        op: SyncOp,
        dst: Slot,
        addr: u64,
        other: Operand,
    ) -> Result<Result<Path, Path>, Halt> {
        let at = held(&path, id, addr);
        let count = at.map(|at| path.thread(id).held[at].1);
        match (op, at.zip(count)) {
            (SyncOp::Lock { recursive: true } | SyncOp::TryLock { recursive: true }, Some((at, _))) => {
                path.thread_mut(id).held[at].1 += 1;
                let one = self.terms.constant(64, 1);
                self.set(&mut path, id, dst, one);
                Ok(Err(path.go_on(id)))
            }
            (SyncOp::TryLock { .. }, Some(_)) => {
                let zero = self.terms.constant(64, 0);
                self.set(&mut path, id, dst, zero);
                Ok(Err(path.go_on(id)))
            }
            (SyncOp::Unlock, Some((at, count))) if count > 1 => {
                path.thread_mut(id).held[at].1 -= 1;
                Ok(Err(path.go_on(id)))
            }
            (SyncOp::Unlock | SyncOp::RwUnlock, None) if self.code.forgiven().locks => Ok(Err(path.go_on(id))),
            (SyncOp::Destroy { .. }, Some((at, _))) if self.code.forgiven().locks => {
                path.thread_mut(id).held.remove(at);
                Ok(Ok(path))
            }
            (SyncOp::ReadLock, Some((_, count))) if count >= 0 => Ok(Ok(path)),
            (SyncOp::Lock { .. } | SyncOp::WriteLock | SyncOp::ReadLock | SyncOp::Destroy { .. }, Some(_))
            | (SyncOp::Unlock | SyncOp::RwUnlock, None) => Ok(Err(self.fails(path, id, Property::Lock))),
            _ if is_meeting(op) => self.meeting_begin(path, id, op, other),
            _ => Ok(Ok(path)),
        }
    }

    /// Does the step at memory.
    pub(super) fn sync(
        &mut self,
        mut path: Path,
        id: ThreadId,
        op: SyncOp,
        dst: Slot,
        addr: u64,
    ) -> Result<Vec<Path>, Halt> {
        let pc = path.thread(id).pc;
        if !self.is_there(&path, id, addr, 4) {
            return Ok(vec![self.fails(path, id, Property::Memory)]);
        }
        self.register(addr, 4, pc)?;
        let cell = Var::Cell { addr, size: 4 };
        let is_lock = !matches!(op, SyncOp::SemWait | SyncOp::SemTryWait | SyncOp::SemPost | SyncOp::Destroy { .. });
        if is_lock && !(self.tracked)(cell) {
            return Err(Halt::Need(vec![cell]));
        }
        let at = held(&path, id, addr);
        let stores =
            op == SyncOp::Unlock || (op == SyncOp::RwUnlock && at.is_some_and(|at| path.thread(id).held[at].1 < 0));
        if stores {
            let zero = self.terms.constant(32, 0);
            self.write(&mut path, cell, zero);
            self.note_written(&mut path, addr);
            path.thread_mut(id).held.retain(|held| held.0 != addr);
            return Ok(vec![path.go_on(id)]);
        }
        if let Some(object) = path.control.object(addr)
            && object.written.as_ref().is_some_and(|written| !written.contains(&raddle_machine::Addr(addr).offset()))
        {
            return Ok(vec![self.fails(path, id, Property::Memory)]);
        }
        let found = self.read(&path, cell);
        let end = self.terms.constant(32, DESTROYED);
        let mut gone = self.terms.eq(found, end);
        if op == SyncOp::SemPost {
            let greatest = self.terms.constant(32, SEMAPHORE_MAX);
            let full = self.terms.eq(found, greatest);
            gone = self.terms.or(gone, full);
        }
        let (mut ways, right) = self.fails_if(path, id, gone, Property::Lock);
        let Some(path) = right else { return Ok(ways) };
        let (zero, one, all) =
            (self.terms.constant(32, 0), self.terms.constant(32, 1), self.terms.constant(32, WRITER));
        let me = self.terms.constant(32, u64::from(id.0) + 1);
        let yes = self.terms.bool(true);
        // What it has to find, what it leaves there, whether it waits for that, and how it holds the lock then.
        let (free, new, waits, count): (Term, Term, bool, i32) = match op {
            SyncOp::Lock { .. } => (self.terms.eq(found, zero), me, true, 1),
            SyncOp::TryLock { .. } => (self.terms.eq(found, zero), me, false, 1),
            SyncOp::WriteLock => (self.terms.eq(found, zero), all, true, -1),
            SyncOp::TryWriteLock => (self.terms.eq(found, zero), all, false, -1),
            SyncOp::ReadLock => (self.terms.ne(found, all), self.terms.add(found, one), true, 1),
            SyncOp::TryReadLock => (self.terms.ne(found, all), self.terms.add(found, one), false, 1),
            SyncOp::SemWait => (self.terms.ne(found, zero), self.terms.add(found, all), true, 0),
            SyncOp::SemTryWait => (self.terms.ne(found, zero), self.terms.add(found, all), false, 0),
            SyncOp::SemPost => (yes, self.terms.add(found, one), false, 0),
            SyncOp::RwUnlock => (yes, self.terms.add(found, all), false, 0),
            SyncOp::Destroy { .. } => (yes, end, false, 0),
            SyncOp::Unlock
            | SyncOp::CondWait { .. }
            | SyncOp::CondSignal
            | SyncOp::CondBroadcast
            | SyncOp::BarrierInit
            | SyncOp::BarrierWait => unreachable!("they stand in `meetings`"),
        };
        let (taken, missed) = self.split(path, free);
        if let Some(mut path) = taken {
            self.write(&mut path, cell, new);
            let thread = path.thread_mut(id);
            match (thread.held.iter().position(|held| held.0 == addr), op) {
                (Some(at), SyncOp::RwUnlock) if thread.held[at].1 > 1 => thread.held[at].1 -= 1,
                (Some(at), SyncOp::RwUnlock) => {
                    thread.held.remove(at);
                }
                (Some(at), _) => thread.held[at].1 += count,
                (None, _) if count != 0 => {
                    thread.held.push((addr, count));
                    thread.held.sort_unstable();
                }
                (None, _) => {}
            }
            self.tell(&mut path, id, op, dst, true);
            ways.push(path.go_on(id));
        }
        if let Some(mut path) = missed.filter(|_| !waits) {
            self.tell(&mut path, id, op, dst, false);
            ways.push(path.go_on(id));
        }
        Ok(ways)
    }

    /// Says whether the lock was taken, where somebody asks.
    fn tell(&mut self, path: &mut Path, id: ThreadId, op: SyncOp, dst: Slot, taken: bool) {
        if !matches!(op, SyncOp::SemWait | SyncOp::SemPost | SyncOp::RwUnlock | SyncOp::Destroy { .. }) {
            let taken = self.terms.constant(64, u64::from(taken));
            self.set(path, id, dst, taken);
        }
    }
}
