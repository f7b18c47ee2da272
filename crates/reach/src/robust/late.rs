//! Which stores may be late for a load, by the code alone.
//!
//! An [attack](super::attack) delays stores past a load of the same thread, and nothing in between may need an empty buffer. So a store from which every way leads to such an instruction before it leads to a load begins no attack, and an attacker who can come to no load
//! any more has none (Bouajjani, Derevenetc and Meyer 2013: the static filter). A load of what the attacker has delayed is answered by itself: it ends no attack, so a way to a load of a known place is also cut by stores to that place.
//!
//! One backward pass over the code for every place that is loaded by a known address, and one for all other loads. Calls lead into functions, and returns to wherever these are called: ways that no thread takes are among them, so more may be late here than is, and never less.
//!
//! Cost: instructions times places; for a program in which nothing can be late, that is all.

use crate::thread::Shared;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Operand, Pc, SyncOp};
use raddle_machine::points::Pointers;
use raddle_machine::{Access, Addr, Automaton, Code, Status};
use raddle_program::{FuncId, Ordering};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// What the code says about who can attack.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    /// For each instruction: something that is delayed before it may be late for a load there or behind it.
    ahead: Vec<bool>,
    /// For each instruction: it stores, and that may be late for a load.
    begins: Vec<bool>,
}

impl Late {
    /// Of this program with full fences before these instructions.
    pub(crate) fn new(code: &Code, fences: &BTreeSet<u32>) -> Self {
        let flow = Flow::new(code, fences);
        let len = code.len() as usize;
        let mut late = Late { ahead: vec![false; len], begins: vec![false; len] };
        let mut loads: BTreeMap<Option<(u64, u8)>, Vec<Pc>> = BTreeMap::new();
        for pc in (0..code.len()).filter(|pc| !fences.contains(pc)) {
            match code.instr(pc) {
                Instr::Load { addr, ty, .. } => {
                    let place = code.as_constant(addr).map(|addr| (addr, ty.size() as u8));
                    loads.entry(place).or_default().push(pc);
                }
                // It gives a mutex back and looks whether it was woken, in one instruction.
                Instr::Sync { op: SyncOp::CondWait { .. }, .. } => {
                    (late.ahead[pc as usize], late.begins[pc as usize]) = (true, true);
                }
                _ => {}
            }
        }
        for (place, loads) in loads {
            let reaches = flow.backwards(code, place, &loads);
            for pc in 0..len {
                late.ahead[pc] |= reaches[pc];
                let own = || place.is_some_and(|place| covers(code, pc as Pc, place));
                late.begins[pc] |=
                    stores(code, pc as Pc) && !own() && flow.next[pc].iter().any(|&next| reaches[next as usize]);
            }
        }
        for pc in 0..len {
            // Behind a store that empties the buffer nothing is delayed.
            late.begins[pc] &= !flow.waits_behind[pc];
        }
        late
    }

    /// Whether nobody can attack.
    pub(crate) fn is_never(&self) -> bool {
        !self.begins.contains(&true)
    }

    /// Whether an attack can begin with the store of this instruction.
    pub(crate) fn begins(&self, pc: Pc) -> bool {
        self.begins[pc as usize]
    }

    /// Whether a thread with something delayed can come to a load.
    pub(crate) fn lets_go_on(&self, thread: &Shared) -> bool {
        matches!(thread.status(), Status::Ready(_)) && self.ahead[thread.pc() as usize]
    }
}

/// Which instruction may come behind which, for a thread that has something delayed.
struct Flow {
    next: Vec<Vec<Pc>>,
    before: Vec<Vec<Pc>>,
    /// Nobody does this with something delayed.
    empties: Vec<bool>,
    /// Nobody goes on behind this with something delayed.
    waits_behind: Vec<bool>,
}

impl Flow {
    fn new(code: &Code, fences: &BTreeSet<u32>) -> Self {
        let len = code.len() as usize;
        let mut flow = Flow {
            next: vec![Vec::new(); len],
            before: vec![Vec::new(); len],
            empties: (0..code.len()).map(|pc| fences.contains(&pc)).collect(),
            waits_behind: vec![false; len],
        };
        let pointers = OnceCell::new();
        let is_shared = |pc: Pc, addr: Operand| match code.as_constant(addr) {
            Some(value) => matches!(Addr(value).owner(), Owner::Global(_)),
            None => {
                let pointers = pointers.get_or_init(|| Pointers::new(code));
                let objects = pointers.of(code, pc, addr);
                !objects.is_clear() && !objects.contains(pointers.made())
            }
        };
        // Where functions are called, and where they return.
        let mut calls: BTreeMap<FuncId, Vec<Pc>> = BTreeMap::new();
        let mut anywhere = Vec::new();
        let entry = |id: FuncId| code.function(id).entry;
        for pc in 0..code.len() {
            let at = pc as usize;
            match code.instr(pc) {
                Instr::Fence { order } => flow.empties[at] |= order == Ordering::SeqCst,
                Instr::Rmw { addr, .. } => flow.empties[at] |= is_shared(pc, addr),
                Instr::Cas { cas } => flow.empties[at] |= is_shared(pc, code.cas(cas).addr),
                Instr::Sync { op, .. } => flow.empties[at] |= empties(op),
                Instr::Store { order: Ordering::SeqCst, addr, .. } => flow.waits_behind[at] = is_shared(pc, addr),
                Instr::Spawn { .. } | Instr::SpawnIndirect { .. } | Instr::Join { .. } => flow.empties[at] = true,
                Instr::AtomicBegin | Instr::AtomicEnd => flow.empties[at] = true,
                Instr::Call { func, .. } => {
                    flow.next[at].push(entry(func));
                    calls.entry(func).or_default().push(pc);
                    continue;
                }
                Instr::CallIndirect { .. } => {
                    flow.next[at].extend((0..code.functions() as u32).map(|id| entry(FuncId(id))));
                    anywhere.push(pc);
                    continue;
                }
                _ => {}
            }
            code.successors(pc, &mut |next| flow.next[at].push(next));
        }
        let mut functions: Vec<FuncId> = (0..code.functions() as u32).map(FuncId).collect();
        functions.sort_unstable_by_key(|&id| entry(id));
        for (number, &id) in functions.iter().enumerate() {
            let end = functions.get(number + 1).map_or(code.len(), |&next| entry(next));
            let callers = calls.get(&id).into_iter().flatten().chain(&anywhere);
            let back: Vec<Pc> = callers.map(|&pc| pc + 1).collect();
            for pc in (entry(id)..end).filter(|&pc| matches!(code.instr(pc), Instr::Return { .. })) {
                flow.next[pc as usize].extend_from_slice(&back);
            }
        }
        for pc in 0..code.len() {
            let at = pc as usize;
            if !flow.empties[at] && !flow.waits_behind[at] {
                for &next in &flow.next[at] {
                    flow.before[next as usize].push(pc);
                }
            }
        }
        flow
    }

    /// From which instructions one of these loads, all of one place, may come.
    fn backwards(&self, code: &Code, place: Option<(u64, u8)>, loads: &[Pc]) -> Vec<bool> {
        let mut reaches = vec![false; self.next.len()];
        let mut todo = loads.to_vec();
        loads.iter().for_each(|&pc| reaches[pc as usize] = true);
        while let Some(pc) = todo.pop() {
            for &before in &self.before[pc as usize] {
                let cut = place.is_some_and(|place| covers(code, before, place));
                if !cut && !std::mem::replace(&mut reaches[before as usize], true) {
                    todo.push(before);
                }
            }
        }
        reaches
    }
}

/// Whether an instruction stores.
fn stores(code: &Code, pc: Pc) -> bool {
    matches!(code.instr(pc), Instr::Store { .. } | Instr::Sync { .. })
}

/// Whether an instruction stores every byte of a place.
fn covers(code: &Code, pc: Pc, (addr, size): (u64, u8)) -> bool {
    let Instr::Store { ty, addr: own, .. } = code.instr(pc) else { return false };
    let own = code.as_constant(own).map(|own| Access { addr: Addr(own), size: ty.size() as u8 });
    own.is_some_and(|own| {
        matches!(own.addr.owner(), Owner::Global(_))
            && own.addr.0 <= addr
            && addr + u64::from(size) <= own.addr.0 + u64::from(own.size)
    })
}

/// Whether nobody does this with something delayed: it begins with a read-modify-write, always.
fn empties(op: SyncOp) -> bool {
    match op {
        SyncOp::Lock { recursive: false }
        | SyncOp::ReadLock
        | SyncOp::WriteLock
        | SyncOp::TryReadLock
        | SyncOp::TryWriteLock
        | SyncOp::CondWait { .. }
        | SyncOp::CondSignal
        | SyncOp::CondBroadcast
        | SyncOp::BarrierWait
        | SyncOp::SemWait
        | SyncOp::SemTryWait
        | SyncOp::SemPost
        | SyncOp::Destroy { .. } => true,
        // A thread that holds the mutex need not look at it.
        SyncOp::Lock { recursive: true } | SyncOp::TryLock { .. } => false,
        SyncOp::Unlock | SyncOp::RwUnlock | SyncOp::BarrierInit => false,
    }
}
