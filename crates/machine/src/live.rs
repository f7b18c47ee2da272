//! Which slots may still be read.
//!
//! What stands in a register that nobody will read makes no difference to how a thread goes on, and keeps apart states that are the same. The usual
//! backward analysis over the byte code, computed once per program: a slot is live where some way on reads it before it is written. A call is
//! an instruction like any other, since the frames below the running one wait behind theirs.
//!
//! Slots in which it is noted how a turn of a loop began are read by the end of that turn alone, and only if the turn has been a mere look so
//! far. The thread knows, so they are no part of this; [`Thread::forget`](crate::Thread::forget) keeps them.

use crate::code::{Args, Code, Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_program::FuncId;
use rustc_hash::FxHashMap;

/// The slots that are live before each instruction.
#[derive(Clone, Debug)]
pub struct Live {
    /// One row per instruction.
    bits: Vec<u64>,
    /// Words in a row.
    width: usize,
    /// How many slots are noted from each mark on, by function.
    marks: FxHashMap<(FuncId, Slot), u32>,
}

impl Live {
    /// The slots that are live in this program.
    pub fn new(code: &Code) -> Live {
        let slots = code.functions.iter().map(|function| function.slots).max().unwrap_or(0);
        let width = (slots as usize).div_ceil(64);
        let mut live = Live { bits: vec![0; width * code.instrs.len()], width, marks: marks(code) };
        let mut row = vec![0; width];
        let mut changed = true;
        while changed {
            changed = false;
            for (pc, &instr) in code.instrs.iter().enumerate().rev() {
                row.fill(0);
                successors(code, pc as Pc, instr, &mut |next| {
                    row.iter_mut().zip(live.row(next)).for_each(|(word, more)| *word |= more);
                });
                if let Some(slot) = written(code, instr) {
                    row[slot as usize / 64] &= !(1 << (slot % 64));
                }
                read(code, instr, &mut |slot| row[slot as usize / 64] |= 1 << (slot % 64));
                let old = &mut live.bits[pc * width..][..width];
                changed |= *old != row[..];
                old.copy_from_slice(&row);
            }
        }
        live
    }

    fn row(&self, pc: Pc) -> &[u64] {
        &self.bits[pc as usize * self.width..][..self.width]
    }

    /// Whether the slot may be read from this instruction on.
    pub fn is_live(&self, pc: Pc, slot: Slot) -> bool {
        self.row(pc).get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// How many slots a mark of this function takes.
    pub(crate) fn noted(&self, function: FuncId, mark: Slot) -> u32 {
        self.marks.get(&(function, mark)).copied().unwrap_or(0)
    }
}

fn marks(code: &Code) -> FxHashMap<(FuncId, Slot), u32> {
    let owner = |pc: Pc| {
        let functions = (0..).map(FuncId).zip(&code.functions).filter(|(_, function)| function.entry <= pc);
        functions.max_by_key(|(_, function)| function.entry).map(|(id, _)| id)
    };
    let marks = (0..).zip(&code.instrs).filter_map(|(pc, instr)| match *instr {
        Instr::MarkTurn { mark, kept } => Some(((owner(pc)?, mark), 1 + kept.len)),
        _ => None,
    });
    marks.collect()
}

/// The slot that an instruction is sure to write when it is done. An operation on a synchronisation object writes its own in the middle.
fn written(code: &Code, instr: Instr) -> Option<Slot> {
    let slot = match instr {
        Instr::Move { dst, .. }
        | Instr::Un { dst, .. }
        | Instr::Bin { dst, .. }
        | Instr::Cast { dst, .. }
        | Instr::Select { dst, .. }
        | Instr::LocalAddr { dst, .. }
        | Instr::TlsAddr { dst, .. }
        | Instr::Load { dst, .. }
        | Instr::Rmw { dst, .. }
        | Instr::Call { dst, .. }
        | Instr::CallIndirect { dst, .. }
        | Instr::Spawn { dst, .. }
        | Instr::SpawnIndirect { dst, .. }
        | Instr::Join { dst, .. }
        | Instr::ThreadId { dst }
        | Instr::Alloc { dst, .. }
        | Instr::Choose { dst, .. }
        | Instr::Input { dst, .. } => dst,
        Instr::Cas { cas } => code.cas[cas as usize].dst,
        Instr::Store { .. }
        | Instr::Fence { .. }
        | Instr::Sync { .. }
        | Instr::Free { .. }
        | Instr::Assert { .. }
        | Instr::Assume { .. }
        | Instr::Take
        | Instr::AtomicBegin
        | Instr::AtomicEnd
        | Instr::Error { .. }
        | Instr::Print { .. }
        | Instr::Jump { .. }
        | Instr::Turn { .. }
        | Instr::Branch { .. }
        | Instr::Switch { .. }
        | Instr::Return { .. }
        | Instr::ExitThread { .. }
        | Instr::Exit
        | Instr::MarkTurn { .. }
        | Instr::Spin { .. }
        | Instr::Unreachable => NO_SLOT,
    };
    (slot != NO_SLOT).then_some(slot)
}

/// Tells of every slot that an instruction reads.
fn read(code: &Code, instr: Instr, see: &mut impl FnMut(Slot)) {
    let mut operand = |operand: Operand| {
        if operand.0 & Operand::CONSTANT == 0 {
            see(operand.0);
        }
    };
    let list = |args: Args| code.operands[args.start as usize..][..args.len as usize].iter().copied();
    match instr {
        Instr::Move { src: a, .. }
        | Instr::Un { a, .. }
        | Instr::Cast { a, .. }
        | Instr::Load { addr: a, .. }
        | Instr::Join { thread: a, .. }
        | Instr::Alloc { size: a, .. }
        | Instr::Free { ptr: a, .. }
        | Instr::Assert { cond: a, .. }
        | Instr::Assume { cond: a }
        | Instr::Choose { low: a, .. }
        | Instr::Branch { cond: a, .. }
        | Instr::Switch { value: a, .. }
        | Instr::Return { value: a }
        | Instr::ExitThread { value: a } => operand(a),
        Instr::Bin { a, b, .. }
        | Instr::Store { addr: a, value: b, .. }
        | Instr::Rmw { addr: a, operand: b, .. }
        | Instr::Sync { object: a, other: b, .. } => [a, b].into_iter().for_each(operand),
        Instr::Select { cond, a, b, .. } => [cond, a, b].into_iter().for_each(operand),
        Instr::Cas { cas } => {
            let cas = &code.cas[cas as usize];
            [cas.addr, cas.expected, cas.desired].into_iter().for_each(operand);
        }
        Instr::Call { args, .. } | Instr::Print { args, .. } => list(args).for_each(operand),
        Instr::CallIndirect { target, args, .. } => {
            operand(target);
            list(args).for_each(operand);
        }
        Instr::Spawn { args, mailbox, .. } => {
            operand(mailbox);
            list(args).for_each(operand);
        }
        Instr::SpawnIndirect { target, args, mailbox, .. } => {
            [target, mailbox].into_iter().for_each(&mut operand);
            list(args).for_each(operand);
        }
        Instr::MarkTurn { kept, .. } | Instr::Spin { kept, .. } => list(kept).for_each(operand),
        Instr::Turn { counter, .. } => see(counter),
        Instr::LocalAddr { .. }
        | Instr::TlsAddr { .. }
        | Instr::Fence { .. }
        | Instr::ThreadId { .. }
        | Instr::Input { .. }
        | Instr::Take
        | Instr::AtomicBegin
        | Instr::AtomicEnd
        | Instr::Error { .. }
        | Instr::Jump { .. }
        | Instr::Exit
        | Instr::Unreachable => {}
    }
    if let Instr::Load { wait, .. } | Instr::Rmw { idle: wait, .. } = instr
        && wait != 0
    {
        let wait = &code.waits[wait as usize - 1];
        wait.cond.slots().chain(wait.assumed.iter().flat_map(|assumed| assumed.slots())).for_each(see);
    }
}

/// Tells of every instruction of the same function that may come next.
pub(crate) fn successors(code: &Code, pc: Pc, instr: Instr, see: &mut impl FnMut(Pc)) {
    match instr {
        Instr::Jump { to } | Instr::Spin { to, .. } => see(to),
        Instr::Branch { then, otherwise, .. } => [then, otherwise].into_iter().for_each(see),
        Instr::Switch { table, .. } => {
            let table = &code.switches[table as usize];
            table.cases.iter().map(|case| case.1).chain([table.default]).for_each(see);
        }
        Instr::Return { .. } | Instr::ExitThread { .. } | Instr::Exit | Instr::Error { .. } | Instr::Unreachable => {}
        _ => see(pc + 1),
    }
}
