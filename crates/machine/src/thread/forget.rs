//! What makes no difference any more: for searches that remember states.
//!
//! Threads go on in the same way whatever stands in registers that nobody will read, and however many private objects they had whose lives have ended and
//! to which nothing points. A turn of a loop that had no effect leads back to where it began.

use super::{Access, Blocked, Status, Thread, sync};
use crate::address::{Addr, Owner};
use crate::code::{Code, Instr, Slot, SyncOp};
use crate::live::Live;

impl Thread {
    /// Lets a thread that has made a turn of a loop without effect begin the next one. It may be that this needs nothing of others, and it waits for ever.
    pub fn turn_again(&mut self, code: &Code) {
        if self.status != Status::Blocked(Blocked::Spin) {
            return;
        }
        if let Instr::Spin { to, .. } = code.instrs[self.pc as usize] {
            self.pc = to;
        }
        self.run(code);
    }

    /// Clears what will not be read, and forgets private objects that are gone without a trace.
    pub fn forget(&mut self, code: &Code, live: &Live) {
        match self.status {
            Status::Ready(_) => self.forget_registers(code, live),
            Status::Blocked(Blocked::Spin) => return,
            Status::Finished { .. } | Status::Failed(_) | Status::Blocked(_) => {
                self.regs.clear();
                self.frames.truncate(1);
                self.has_acted();
                (self.stage, self.scratch) = (0, 0);
            }
        }
        if self.turns.is_empty() {
            self.turn_objects = 0;
        }
        while self.objects.ends_with_ended() {
            let last = Addr::object(self.id, self.objects.number(self.objects.len() - 1)).owner();
            let is = |value: u64| matches!(last, Owner::Thread(..)) && Addr(value).owner() == last;
            if self.regs.iter().any(|&value| is(value)) || is(self.scratch) || self.objects.hold(is) {
                break;
            }
            self.objects.pop();
        }
    }

    /// Clears the registers that will not be read, in a thread that rests before an operation.
    pub fn forget_registers(&mut self, code: &Code, live: &Live) {
        let mut end = self.regs.len();
        let (mut pc, mut comes) = (self.pc, None);
        for at in (0..self.frames.len()).rev() {
            let frame = self.frames[at];
            let base = frame.base as usize;
            for (slot, value) in (0..).zip(&mut self.regs[base..end]) {
                let mark = self.turns.iter().find(|&&turn| {
                    let noted = turn.checked_sub(frame.base).map_or(0, |mark| live.noted(frame.function, mark));
                    (turn..turn + noted).contains(&(frame.base + slot))
                });
                if mark.is_none() && (comes == Some(slot) || !live.is_live(pc, slot)) {
                    *value = 0;
                }
            }
            if code.functions[frame.function.index()].locals.is_empty() {
                self.frames[at].first_object = 0;
            }
            (end, pc, comes) =
                (base, frame.return_to, Some(frame.dst).filter(|&dst: &Slot| dst != crate::code::NO_SLOT));
        }
    }

    /// Where the wake-ups of the thread are counted.
    pub fn wakeups(&self) -> Access {
        sync::wakeups(self.id)
    }

    /// Whether the thread has waited on a condition variable since that was last asked for.
    pub fn has_waited(&self) -> bool {
        self.waits > 0
    }

    /// Takes how often the thread has waited on condition variables. Only by how much its wake-ups are more matters.
    pub fn take_waits(&mut self) -> u32 {
        std::mem::take(&mut self.waits)
    }

    /// The barrier that the pending operation is about, if it is a wait at one, and how many arrivals the thread waits for if it has arrived itself.
    pub fn at_barrier(&self, code: &Code) -> Option<(Access, Option<u64>)> {
        let Instr::Sync { op: SyncOp::BarrierWait, object, .. } = code.instrs[self.pc as usize] else { return None };
        let ready = matches!(self.status, Status::Ready(_));
        let word = sync::barrier(Addr(self.get(code, object)));
        ready.then_some((word, (self.stage > 0).then_some(self.scratch)))
    }

    /// Counts the arrivals at a barrier from the beginning of the round: this is its word, and what that becomes. A thread that waits for a round that is over goes on whatever the
    /// number is, and for the others it only matters how many are missing.
    pub fn forget_rounds(&mut self, code: &Code, barrier: Access, word: u64) -> u64 {
        let (count, arrived) = (word >> 32, word & 0xffff_ffff);
        let Some(begun) = arrived.checked_rem(count) else { return word };
        if let Some((at, Some(awaited))) = self.at_barrier(code)
            && at == barrier
        {
            self.scratch = if awaited > arrived { count } else { 0 };
        }
        count << 32 | begun
    }

    /// How many objects the thread has made, as far as it remembers them.
    pub fn objects_made(&self) -> u32 {
        self.objects.len()
    }
}
