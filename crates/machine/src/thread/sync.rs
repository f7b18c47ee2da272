//! Synchronisation objects as sequences of loads, stores and updates.
//!
//! | object | word | operations |
//! |---|---|---|
//! | mutex | 0 free, owner + 1 held | lock: update 0 to owner + 1, else wait; try: the same without waiting; unlock: release store of 0 |
//! | reader-writer lock | readers, -1 writer | update by 1, wait while -1; update 0 to -1, wait while not 0; unlock: update, or store for a writer |
//! | semaphore | count | wait: update by -1, wait while 0; post: update by 1 |
//! | barrier | count << 32, arrivals | update arrivals by 1, then wait until they reach a multiple of the count |
//! | condition variable | set of waiting threads | wait: update to join the set, unlock, wait for one more wake-up, lock; signal: update to take one out (any one), then add a wake-up to it; broadcast: the same for all |
//!
//! Wake-ups of a thread are counted in an object of its own ([`WAKEUPS`]), so a wait reads a location that only signals
//! to this thread write. The set of waiting threads is one word, hence only the first 64 threads (by number) can wait on condition
//! variables; the 65th is refused with a message. Unlike the published encoding (one flag location per wait) no flag is
//! ever reset. Who holds a mutex is known to the thread itself, so misuse is found without asking memory.

use super::{Access, Blocked, Flow, Held, Reaction, Status, Thread, Visible, rest, takes_mutex};
use crate::address::{Addr, WAKEUPS};
use crate::code::{Code, Operand, Slot, SyncOp};
use raddle_program::{Ordering, Type};
use raddle_trace::{Property, ThreadId};

/// What stands in a synchronisation object after its end.
const SYNC_DESTROYED: u64 = 0x7fff_dead;
/// The greatest value of a semaphore.
const SEMAPHORE_MAX: u64 = 0x7fff_ffff;
const WRITER: u64 = u32::MAX as u64;

/// The bit that is the `n`-th (from 0) of those set in `word`.
pub(super) fn nth_bit(word: u64, n: u32) -> u64 {
    let mut rest = word;
    for _ in 0..n {
        rest &= rest.wrapping_sub(1);
    }
    rest & rest.wrapping_neg()
}

/// The operation in one word.
pub(super) fn name(op: SyncOp, stage: u32) -> &'static str {
    match (op, stage) {
        (SyncOp::Lock { .. }, _) => "lock",
        (SyncOp::TryLock { .. }, _) => "trylock",
        (SyncOp::Unlock, _) => "unlock",
        (SyncOp::ReadLock, _) => "rdlock",
        (SyncOp::WriteLock, _) => "wrlock",
        (SyncOp::TryReadLock, _) => "tryrdlock",
        (SyncOp::TryWriteLock, _) => "trywrlock",
        (SyncOp::RwUnlock, _) => "rwunlock",
        (SyncOp::CondWait { .. }, 0) => "wait",
        (SyncOp::CondWait { .. }, 1) => "wait: unlock",
        (SyncOp::CondWait { .. }, 2) => "wait: woken",
        (SyncOp::CondWait { .. }, _) => "wait: lock",
        (SyncOp::CondSignal, 0) => "signal",
        (SyncOp::CondBroadcast, 0) => "broadcast",
        (SyncOp::CondSignal | SyncOp::CondBroadcast, _) => "wake",
        (SyncOp::BarrierInit, _) => "barrier init",
        (SyncOp::BarrierWait, 0) => "arrive",
        (SyncOp::BarrierWait, _) => "barrier wait",
        (SyncOp::SemWait, _) => "sem wait",
        (SyncOp::SemTryWait, _) => "sem trywait",
        (SyncOp::SemPost, _) => "sem post",
        (SyncOp::Destroy { .. }, _) => "destroy",
    }
}

fn word(addr: Addr) -> Access {
    Access { addr, size: 4 }
}

fn double(addr: Addr) -> Access {
    Access { addr, size: 8 }
}

pub(super) fn wakeups(thread: ThreadId) -> Access {
    double(Addr::object(thread, WAKEUPS))
}

/// The word of a barrier.
pub(super) fn barrier(addr: Addr) -> Access {
    double(addr)
}

fn update(access: Access, order: Ordering, wait: bool) -> Flow {
    rest(Visible::Update { access, order, failure: order, wait, mutex: false })
}

/// The arrivals at which a barrier opens, for a thread that found this word.
fn opening(value: u64) -> u64 {
    let (count, arrived) = (value >> 32, value & 0xffff_ffff);
    arrived.checked_div(count).map_or(0, |rounds| (rounds + 1) * count)
}

impl Thread {
    fn held(&self, addr: Addr) -> Option<usize> {
        self.held.iter().position(|held| held.addr == addr)
    }

    fn lock_failure(&self, code: &Code, what: &str, addr: Addr) -> Flow {
        let name = code.describe(addr, &|_| Some(self));
        Flow::Rest(self.failed(Property::Lock, format!("{what} {name}")))
    }

    /// The next visible step of an operation, or its effect if it is invisible.
    pub(super) fn sync_step(&mut self, code: &Code, op: SyncOp, dst: Slot, object: Operand, other: Operand) -> Flow {
        let addr = Addr(self.get(code, object));
        if self.stage == 0
            && let Some(flow) = self.sync_begin(code, op, dst, addr, other)
        {
            return flow;
        }
        use Ordering::{AcqRel, Acquire, Release};
        match (op, self.stage) {
            (SyncOp::Lock { .. }, _) => {
                rest(Visible::Update { access: word(addr), order: Acquire, failure: Acquire, wait: true, mutex: true })
            }
            (SyncOp::TryLock { .. }, _) => {
                rest(Visible::Update { access: word(addr), order: Acquire, failure: Acquire, wait: false, mutex: true })
            }
            (SyncOp::Unlock, _) => rest(Visible::Store { access: word(addr), order: Release, value: 0 }),
            (SyncOp::ReadLock | SyncOp::WriteLock, _) => update(word(addr), Acquire, true),
            (SyncOp::TryReadLock | SyncOp::TryWriteLock, _) => update(word(addr), Acquire, false),
            (SyncOp::RwUnlock, _) => {
                let held = self.held(addr).expect("checked at the beginning");
                if self.held[held].count < 0 {
                    rest(Visible::Store { access: word(addr), order: Release, value: 0 })
                } else {
                    update(word(addr), AcqRel, false)
                }
            }
            (SyncOp::SemWait, _) => update(word(addr), AcqRel, true),
            (SyncOp::SemTryWait | SyncOp::SemPost, _) => update(word(addr), AcqRel, false),
            (SyncOp::BarrierInit, _) => {
                let count = self.get(code, other);
                rest(Visible::Store { access: double(addr), order: Release, value: count << 32 })
            }
            (SyncOp::BarrierWait, 0) => update(double(addr), AcqRel, false),
            (SyncOp::BarrierWait, _) => rest(Visible::Load { access: double(addr), order: Acquire, wait: true }),
            (SyncOp::CondWait { .. }, 0) | (SyncOp::CondSignal | SyncOp::CondBroadcast, 0) => {
                update(double(addr), AcqRel, false)
            }
            (SyncOp::CondWait { .. }, 1) => {
                let mutex = Addr(self.get(code, other));
                rest(Visible::Store { access: word(mutex), order: Release, value: 0 })
            }
            (SyncOp::CondWait { timed }, 2) => {
                rest(Visible::Load { access: wakeups(self.id), order: Acquire, wait: !timed })
            }
            (SyncOp::CondWait { .. }, _) => {
                let mutex = Addr(self.get(code, other));
                rest(Visible::Update { access: word(mutex), order: Acquire, failure: Acquire, wait: true, mutex: true })
            }
            (SyncOp::CondSignal | SyncOp::CondBroadcast, _) => {
                update(wakeups(ThreadId(self.scratch.trailing_zeros())), AcqRel, false)
            }
            (SyncOp::Destroy { ty }, _) => update(Access { addr, size: ty.size() as u8 }, AcqRel, false),
        }
    }

    /// Checks that need no memory, and acquisitions of what the thread holds already.
    fn sync_begin(&mut self, code: &Code, op: SyncOp, dst: Slot, addr: Addr, other: Operand) -> Option<Flow> {
        let held = self.held(addr);
        match (op, held) {
            (SyncOp::Lock { recursive: true } | SyncOp::TryLock { recursive: true }, Some(held)) => {
                self.held[held].count += 1;
                self.has_acted();
                self.set(dst, 1);
                return Some(Flow::Next);
            }
            (SyncOp::Lock { .. }, Some(_)) => {
                return Some(self.lock_failure(code, "the thread locks a mutex it holds already:", addr));
            }
            (SyncOp::TryLock { .. }, Some(_)) => {
                self.set(dst, 0);
                return Some(Flow::Next);
            }
            (SyncOp::Unlock, Some(held)) if self.held[held].count > 1 => {
                self.held[held].count -= 1;
                self.has_acted();
                return Some(Flow::Next);
            }
            (SyncOp::Unlock | SyncOp::RwUnlock, None) if code.forgiven.locks => return Some(Flow::Next),
            (SyncOp::Unlock, None) => {
                return Some(self.lock_failure(code, "the thread unlocks a mutex it does not hold:", addr));
            }
            (SyncOp::ReadLock, Some(held)) if self.held[held].count < 0 => {
                let what = "the thread wants to read-lock what it holds for writing:";
                return Some(self.lock_failure(code, what, addr));
            }
            (SyncOp::WriteLock, Some(_)) => {
                return Some(self.lock_failure(code, "the thread write-locks what it holds already:", addr));
            }
            (SyncOp::RwUnlock, None) => {
                return Some(self.lock_failure(code, "the thread unlocks a lock it does not hold:", addr));
            }
            (SyncOp::Destroy { .. }, Some(held)) if code.forgiven.locks => {
                self.held.remove(held);
            }
            (SyncOp::Destroy { .. }, Some(_)) => {
                return Some(self.lock_failure(code, "the thread destroys a lock it holds:", addr));
            }
            (SyncOp::BarrierInit, _) if self.get(code, other) == 0 => {
                return Some(self.lock_failure(code, "a barrier for no threads:", addr));
            }
            (SyncOp::CondWait { .. }, _) => {
                let mutex = Addr(self.get(code, other));
                if self.held(mutex).is_none() {
                    let what = "the thread waits on a condition variable without holding the mutex";
                    return Some(self.lock_failure(code, what, mutex));
                }
                if self.id.0 >= 64 {
                    let message = format!(
                        "{} waits on a condition variable, which only the first 64 threads can",
                        code.name(self.id)
                    );
                    return Some(Flow::Rest(self.cannot_go_on(message)));
                }
            }
            _ => {}
        }
        None
    }

    /// What the pending step does with the value it finds.
    pub(super) fn sync_reaction(&self, op: SyncOp, value: u64) -> Reaction {
        if value == SYNC_DESTROYED && !survives(op, self.stage) {
            return Reaction::Read;
        }
        let take = |wait: bool, free: bool, new: u64| match (free, wait) {
            (true, _) => Reaction::Write(Type::I32.truncate(new)),
            (false, true) => Reaction::Block,
            (false, false) => Reaction::Read,
        };
        let me = u64::from(self.id.0) + 1;
        match (op, self.stage) {
            (SyncOp::Lock { .. }, _) | (SyncOp::CondWait { .. }, 3) => take(true, value == 0, me),
            (SyncOp::TryLock { .. }, _) => take(false, value == 0, me),
            (SyncOp::ReadLock, _) => take(true, value != WRITER, value.wrapping_add(1)),
            (SyncOp::TryReadLock, _) => take(false, value != WRITER, value.wrapping_add(1)),
            (SyncOp::WriteLock, _) => take(true, value == 0, WRITER),
            (SyncOp::TryWriteLock, _) => take(false, value == 0, WRITER),
            (SyncOp::RwUnlock, _) => Reaction::Write(Type::I32.truncate(value.wrapping_sub(1))),
            (SyncOp::SemWait, _) => take(true, value != 0, value.wrapping_sub(1)),
            (SyncOp::SemTryWait, _) => take(false, value != 0, value.wrapping_sub(1)),
            (SyncOp::SemPost, _) => Reaction::Write(Type::I32.truncate(value + 1)),
            (SyncOp::BarrierWait, 0) if value >> 32 == 0 => Reaction::Read,
            (SyncOp::BarrierWait, 0) => Reaction::Write(value + 1),
            (SyncOp::BarrierWait, _) if value == SYNC_DESTROYED => Reaction::Read,
            (SyncOp::BarrierWait, _) if value & 0xffff_ffff >= self.scratch => Reaction::Read,
            (SyncOp::BarrierWait, _) => Reaction::Block,
            (SyncOp::CondWait { .. }, 0) => Reaction::Write(value | 1 << self.id.0),
            (SyncOp::CondWait { timed }, 2) if timed || value > u64::from(self.waits) => Reaction::Read,
            (SyncOp::CondWait { .. }, 2) => Reaction::Block,
            (SyncOp::CondSignal, 0) => match value.count_ones() {
                0 => Reaction::Read,
                1 => Reaction::Write(0),
                waiting => Reaction::Pick(waiting),
            },
            (SyncOp::CondBroadcast, 0) if value == 0 => Reaction::Read,
            (SyncOp::CondBroadcast, 0) => Reaction::Write(0),
            (SyncOp::CondSignal | SyncOp::CondBroadcast, _) => Reaction::Write(value + 1),
            (SyncOp::Destroy { .. }, _) => Reaction::Write(SYNC_DESTROYED),
            (SyncOp::Unlock | SyncOp::BarrierInit | SyncOp::CondWait { .. }, _) => {
                unreachable!("a store reads nothing")
            }
        }
    }

    /// Completes the pending step with the value found.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn sync_answer(
        &mut self,
        code: &Code,
        op: SyncOp,
        dst: Slot,
        object: Operand,
        other: Operand,
        value: u64,
        pick: u32,
    ) -> Flow {
        let addr = Addr(self.get(code, object));
        let reads =
            !matches!((op, self.stage), (SyncOp::Unlock | SyncOp::BarrierInit, _) | (SyncOp::CondWait { .. }, 1 | 2));
        if reads && value == SYNC_DESTROYED && !survives(op, self.stage) {
            let addr = if matches!((op, self.stage), (SyncOp::CondWait { .. }, 3)) {
                Addr(self.get(code, other))
            } else {
                addr
            };
            return self.lock_failure(code, "use of a synchronisation object after its end:", addr);
        }
        if op == SyncOp::SemPost && value == SEMAPHORE_MAX {
            return self.lock_failure(code, "post of a semaphore that has its greatest value:", addr);
        }
        let reaction =
            if takes_mutex(op, self.stage) || reads { self.sync_reaction(op, value) } else { Reaction::Read };
        let acquired = matches!(reaction, Reaction::Write(_));
        match op {
            SyncOp::Lock { .. } | SyncOp::TryLock { .. } | SyncOp::TryWriteLock | SyncOp::WriteLock => {
                if acquired {
                    let count = if matches!(op, SyncOp::TryWriteLock | SyncOp::WriteLock) { -1 } else { 1 };
                    self.held.push(Held { addr, count });
                }
                self.set(dst, u64::from(acquired));
            }
            SyncOp::ReadLock | SyncOp::TryReadLock => {
                if acquired {
                    match self.held(addr) {
                        Some(held) => self.held[held].count += 1,
                        None => self.held.push(Held { addr, count: 1 }),
                    }
                }
                self.set(dst, u64::from(acquired));
            }
            SyncOp::Unlock => self.release(addr),
            SyncOp::RwUnlock => {
                let held = self.held(addr).expect("checked at the beginning");
                if self.held[held].count > 1 {
                    self.held[held].count -= 1;
                } else {
                    self.held.remove(held);
                }
            }
            SyncOp::SemTryWait => self.set(dst, u64::from(acquired)),
            SyncOp::SemWait | SyncOp::SemPost | SyncOp::BarrierInit => {}
            SyncOp::BarrierWait if self.stage == 0 => {
                if value >> 32 == 0 {
                    return self.lock_failure(code, "wait at a barrier that was never initialised:", addr);
                }
                let opening = opening(value);
                let last = (value & 0xffff_ffff) + 1 == opening;
                self.set(dst, u64::from(last));
                if !last {
                    self.scratch = opening;
                    return self.next_stage();
                }
            }
            // Nothing is left that could make a difference.
            SyncOp::BarrierWait => self.scratch = 0,
            SyncOp::CondWait { .. } => {
                let mutex = Addr(self.get(code, other));
                match self.stage {
                    0 => {}
                    1 => {
                        let held = self.held(mutex).expect("checked at the beginning");
                        self.scratch = self.held[held].count as u64;
                        self.held.remove(held);
                    }
                    2 if value <= u64::from(self.waits) => return Flow::Rest(Status::Blocked(Blocked::Assume)),
                    2 => self.waits += 1,
                    _ => self.held.push(Held { addr: mutex, count: self.scratch as i32 }),
                }
                if self.stage < 3 {
                    return self.next_stage();
                }
            }
            SyncOp::CondSignal if self.stage == 0 => {
                if value != 0 {
                    self.scratch = nth_bit(value, pick);
                    return self.next_stage();
                }
            }
            SyncOp::CondBroadcast if self.stage == 0 => {
                if value != 0 {
                    self.scratch = value;
                    return self.next_stage();
                }
            }
            SyncOp::CondSignal | SyncOp::CondBroadcast => {
                self.scratch &= self.scratch.wrapping_sub(1);
                if self.scratch != 0 {
                    return self.next_stage();
                }
            }
            SyncOp::Destroy { ty: Type::I64 } if somebody_waits(value) && !code.forgiven.locks => {
                return self.lock_failure(code, "the thread destroys what others wait at:", addr);
            }
            SyncOp::Destroy { .. } => {}
        }
        self.stage = 0;
        Flow::Next
    }

    fn release(&mut self, addr: Addr) {
        let held = self.held(addr).expect("checked at the beginning");
        self.held.remove(held);
    }

    fn next_stage(&mut self) -> Flow {
        self.stage += 1;
        Flow::Goto(self.pc)
    }
}

/// Whether the step does not mind the mark of a destroyed object. The count of wake-ups is a number like any other; and who
/// waits at a barrier that is destroyed has been let go, for else destroying it is an error.
fn survives(op: SyncOp, stage: u32) -> bool {
    matches!(
        (op, stage),
        (SyncOp::CondWait { .. }, 2) | (SyncOp::CondSignal | SyncOp::CondBroadcast, 1..) | (SyncOp::BarrierWait, 1..)
    )
}

/// Whether threads wait at this barrier or condition variable: the set is not empty, or a round has begun.
fn somebody_waits(word: u64) -> bool {
    let (count, arrived) = (word >> 32, word & 0xffff_ffff);
    word != SYNC_DESTROYED && arrived.checked_rem(count).map_or(arrived != 0, |begun| begun != 0)
}
