//! Condition variables and barriers, on terms. The machine's `thread/sync.rs` says the same on numbers, step by step.
//!
//! Their words are known in every abstraction. Two of the machine's numbers only ever grow, and are kept here as what matters of them, so that programs without end have finitely many abstract states:
//!
//! * the wake-ups of a thread, less those that it has taken: a wake-up is taken by taking one away;
//! * the arrivals at a barrier, less those of rounds that are over: whoever is the last to arrive lets all others go, who need not look at the barrier any more.

use super::control::Status;
use super::path::{Halt, Move, Path, Target};
use super::sync::DESTROYED;
use super::vars::Var;
use super::walk::Walker;
use raddle_machine::Addr;
use raddle_machine::address::WAKEUPS;
use raddle_machine::code::{Instr, Operand, Pc, Slot, SyncOp};
use raddle_program::Type;
use raddle_trace::{Property, ThreadId};

/// The stage of a thread that waits at a barrier, and of one that was let go.
const ARRIVED: u32 = 1;
const LET_GO: u32 = 2;

/// How many threads can wait on condition variables: as many as a word has bits.
const MOST_WAITING: u32 = 64;

/// Whether an operation is one of those here.
pub(super) fn is_meeting(op: SyncOp) -> bool {
    use SyncOp::{BarrierInit, BarrierWait, CondBroadcast, CondSignal, CondWait, Destroy};
    matches!(op, CondWait { .. } | CondSignal | CondBroadcast | BarrierInit | BarrierWait | Destroy { ty: Type::I64 })
}

/// Whether a thread at this stage of an operation may have to wait.
pub(super) fn may_wait(op: SyncOp, stage: u32) -> bool {
    matches!((op, stage), (SyncOp::CondWait { .. }, 2..) | (SyncOp::BarrierWait, ARRIVED))
}

/// What of a cell counts the wake-ups of a thread.
fn wakeups(id: ThreadId) -> Var {
    Var::Cell { addr: Addr::object(id, WAKEUPS).0, size: 8 }
}

/// Whether threads wait at this barrier or condition variable.
fn somebody_waits(word: u64) -> bool {
    let (count, arrived) = (word >> 32, word & 0xffff_ffff);
    word != DESTROYED && arrived.checked_rem(count).map_or(arrived != 0, |begun| begun != 0)
}

impl Walker<'_> {
    /// What a wait on a condition variable or the making of a barrier checks without memory.
    pub(super) fn meeting_begin(
        &mut self,
        path: Path,
        id: ThreadId,
        op: SyncOp,
        other: Operand,
    ) -> Result<Result<Path, Path>, Halt> {
        let pc = path.thread(id).pc;
        match op {
            SyncOp::CondWait { .. } => {
                let mutex = self.operand(&path, id, other, pc, "which mutex this leaves")?;
                if !path.thread(id).held.iter().any(|held| held.0 == mutex) {
                    return Ok(Err(self.fails(path, id, Property::Lock)));
                }
                if id.0 >= MOST_WAITING {
                    let why = "only the first 64 threads can wait on condition variables";
                    return Ok(Err(self.ends_at(path, id, Target::GaveUp { why, pc })));
                }
                Ok(Ok(path))
            }
            SyncOp::BarrierInit if self.operand(&path, id, other, pc, "for how many threads this barrier is")? == 0 => {
                Ok(Err(self.fails(path, id, Property::Lock)))
            }
            _ => Ok(Ok(path)),
        }
    }

    fn operand(&mut self, path: &Path, id: ThreadId, operand: Operand, pc: Pc, what: &str) -> Result<u64, Halt> {
        let value = self.get(path, id, operand);
        self.number(value, pc, what)
    }

    /// The number that stands in a word.
    fn word(&mut self, path: &Path, cell: Var, pc: Pc) -> Result<u64, Halt> {
        let Var::Cell { addr, size } = cell else { unreachable!("words are in memory") };
        self.register(addr, size, pc)?;
        if !(self.tracked)(cell) {
            return Err(Halt::Need(vec![cell]));
        }
        let found = self.read(path, cell);
        self.number(found, pc, "what stands in a synchronisation object")
    }

    fn put(&mut self, path: &mut Path, cell: Var, value: u64) {
        let Var::Cell { addr, size } = cell else { unreachable!("words are in memory") };
        let value = self.terms.constant(size * 8, value);
        self.write(path, cell, value);
        self.note_written(path, addr);
    }

    /// The next step of an operation that meets others.
    pub(super) fn meet(
        &mut self,
        mut path: Path,
        id: ThreadId,
        op: SyncOp,
        dst: Slot,
        addr: u64,
        other: Operand,
    ) -> Result<Vec<Path>, Halt> {
        let (pc, stage) = (path.thread(id).pc, path.thread(id).stage);
        match (op, stage) {
            (SyncOp::CondWait { .. }, 1 | 3) => return self.leave_or_take(path, id, other),
            (SyncOp::CondWait { timed }, 2) => {
                let cell = wakeups(id);
                let found = self.word(&path, cell, pc)?;
                if found > 0 {
                    self.put(&mut path, cell, found - 1);
                    path.thread_mut(id).stage = 3;
                    return Ok(vec![path]);
                }
                if timed {
                    path.thread_mut(id).status = Status::Stopped;
                    return Ok(vec![path]);
                }
                return Ok(Vec::new());
            }
            (SyncOp::CondSignal | SyncOp::CondBroadcast, 1) => {
                let left = path.thread(id).scratch;
                let cell = wakeups(ThreadId(left.trailing_zeros()));
                let found = self.word(&path, cell, pc)?;
                self.put(&mut path, cell, found + 1);
                path.thread_mut(id).scratch = left & (left - 1);
                return Ok(vec![if left & (left - 1) == 0 { self.done(path, id) } else { path }]);
            }
            _ => {}
        }
        if !self.is_there(&path, id, addr, 8) {
            return Ok(vec![self.fails(path, id, Property::Memory)]);
        }
        match (op, stage) {
            (SyncOp::BarrierWait, ARRIVED) => return Ok(Vec::new()),
            (SyncOp::BarrierWait, LET_GO) => return Ok(vec![self.done(path, id)]),
            _ => {}
        }
        let cell = Var::Cell { addr, size: 8 };
        if op == SyncOp::BarrierInit {
            if self.anybody_at(&path, addr) {
                return Err(
                    self.refused(pc, "the engine `cegar` takes no barrier that is made anew while threads wait at it")
                );
            }
            self.register(addr, 8, pc)?;
            let count = self.operand(&path, id, other, pc, "for how many threads this barrier is")?;
            self.put(&mut path, cell, count << 32);
            return Ok(vec![path.go_on(id)]);
        }
        let is_fresh = path.control.object(addr).is_some_and(|object| {
            object.written.as_ref().is_some_and(|written| !written.contains(&Addr(addr).offset()))
        });
        if is_fresh {
            return Ok(vec![self.fails(path, id, Property::Memory)]);
        }
        let found = self.word(&path, cell, pc)?;
        if found == DESTROYED {
            return Ok(vec![self.fails(path, id, Property::Lock)]);
        }
        match op {
            SyncOp::CondWait { .. } => {
                self.put(&mut path, cell, found | 1 << id.0);
                path.thread_mut(id).stage = 1;
                Ok(vec![path])
            }
            SyncOp::CondSignal | SyncOp::CondBroadcast if found == 0 => Ok(vec![path.go_on(id)]),
            SyncOp::CondBroadcast => {
                self.put(&mut path, cell, 0);
                let thread = path.thread_mut(id);
                (thread.stage, thread.scratch) = (1, found);
                Ok(vec![path])
            }
            SyncOp::CondSignal => Ok(self.signal(path, id, cell, found)),
            SyncOp::BarrierWait => Ok(vec![self.arrive(path, id, dst, cell, found)]),
            SyncOp::Destroy { .. } => {
                if somebody_waits(found) && !self.code.forgiven().locks {
                    return Ok(vec![self.fails(path, id, Property::Lock)]);
                }
                if self.code.forgiven().locks && self.anybody_at(&path, addr) {
                    return Err(self.refused(pc, "the engine `cegar` takes no end of a barrier at which threads wait"));
                }
                self.put(&mut path, cell, DESTROYED);
                Ok(vec![path.go_on(id)])
            }
            _ => unreachable!("no meeting"),
        }
    }

    fn done(&self, mut path: Path, id: ThreadId) -> Path {
        let thread = path.thread_mut(id);
        (thread.stage, thread.scratch) = (0, 0);
        path.go_on(id)
    }

    /// Whether somebody is at this barrier.
    fn anybody_at(&self, path: &Path, addr: u64) -> bool {
        path.control.threads.iter().any(|thread| {
            thread.scratch == addr && matches!(self.code.instr(thread.pc), Instr::Sync { op: SyncOp::BarrierWait, .. })
        })
    }

    /// Who waits on a condition variable leaves the mutex, and takes it again.
    fn leave_or_take(&mut self, mut path: Path, id: ThreadId, other: Operand) -> Result<Vec<Path>, Halt> {
        let (pc, stage) = (path.thread(id).pc, path.thread(id).stage);
        let mutex = self.operand(&path, id, other, pc, "which mutex this leaves")?;
        if !self.is_there(&path, id, mutex, 4) {
            return Ok(vec![self.fails(path, id, Property::Memory)]);
        }
        let cell = Var::Cell { addr: mutex, size: 4 };
        let found = self.word(&path, cell, pc)?;
        if stage == 1 {
            self.put(&mut path, cell, 0);
            let thread = path.thread_mut(id);
            let at = thread.held.iter().position(|held| held.0 == mutex).expect("checked at the beginning");
            thread.scratch = thread.held.remove(at).1 as u64;
            thread.stage = 2;
            return Ok(vec![path]);
        }
        match found {
            DESTROYED => Ok(vec![self.fails(path, id, Property::Lock)]),
            0 => {
                self.put(&mut path, cell, u64::from(id.0) + 1);
                let thread = path.thread_mut(id);
                thread.held.push((mutex, thread.scratch as i32));
                thread.held.sort_unstable();
                Ok(vec![self.done(path, id)])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// One of those who wait is woken, whichever.
    fn signal(&mut self, path: Path, id: ThreadId, cell: Var, waiting: u64) -> Vec<Path> {
        let pc = path.thread(id).pc;
        let count = waiting.count_ones();
        let pick = self.vars.input(self.terms, id, pc, 32);
        let mut ways = Vec::new();
        let mut rest = waiting;
        for nth in 0..count {
            let bit = rest & rest.wrapping_neg();
            rest &= !bit;
            let mut path = path.clone();
            if count > 1 {
                let number = self.terms.constant(32, u64::from(nth));
                let is = self.terms.eq(pick, number);
                path.guard = self.terms.and(path.guard, is);
                path.step = Move::Pick(pick);
            }
            self.put(&mut path, cell, waiting & !bit);
            let thread = path.thread_mut(id);
            (thread.stage, thread.scratch) = (1, bit);
            ways.push(path);
        }
        ways
    }

    /// A thread arrives at a barrier; the last one lets the others go.
    fn arrive(&mut self, mut path: Path, id: ThreadId, dst: Slot, cell: Var, found: u64) -> Path {
        let Var::Cell { addr, .. } = cell else { unreachable!("barriers are in memory") };
        let (count, arrived) = (found >> 32, (found & 0xffff_ffff) + 1);
        if count == 0 {
            return self.fails(path, id, Property::Lock);
        }
        let last = arrived == count;
        self.put(&mut path, cell, if last { count << 32 } else { found + 1 });
        let told = self.terms.constant(64, u64::from(last));
        self.set(&mut path, id, dst, told);
        if !last {
            let thread = path.thread_mut(id);
            (thread.stage, thread.scratch) = (ARRIVED, addr);
            return path;
        }
        let waits = |thread: &super::control::Thread| {
            thread.status == Status::Ready
                && (thread.stage, thread.scratch) == (ARRIVED, addr)
                && matches!(self.code.instr(thread.pc), Instr::Sync { op: SyncOp::BarrierWait, .. })
        };
        let waiting: Vec<ThreadId> =
            path.control.threads.iter().filter(|thread| waits(thread)).map(|thread| thread.id).collect();
        for other in waiting {
            path.thread_mut(other).stage = LET_GO;
        }
        path.go_on(id)
    }
}
