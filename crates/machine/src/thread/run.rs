//! The interpreter: invisible work, up to the next visible operation.

use super::{Automaton, Blocked, Flow, NO_ROOM, Reaction, Status, Thread, Visible, binary, handle, rest};
use crate::address::Addr;
use crate::code::{Code, Instr, Operand, Slot};
use crate::objects::{ObjectInfo, ObjectKind};
use raddle_program::{Ordering, Unwritten};
use raddle_trace::{Property, ThreadId};
use smallvec::SmallVec;

/// How many instructions a thread may run between two visible operations before it is taken to run for ever.
const FUEL: u32 = 20_000_000;

/// The ordering of an update that turns out to be a mere read.
fn as_read(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel => Ordering::Acquire,
        Ordering::Release => Ordering::Relaxed,
        other => other,
    }
}

impl Thread {
    /// The ordering of an access. Nothing that is done in an atomic block races with what is done in another one, and
    /// whoever sees what a block wrote comes after it.
    fn in_block(&self, order: Ordering, ordered: Ordering) -> Ordering {
        if self.atomic > 0 && order == Ordering::NonAtomic { ordered } else { order }
    }

    /// What follows a load, its thread's operation of this number, that did not find what it has to but this value.
    pub(super) fn not_found(&mut self, code: &Code, wait: u32, value: u64, operation: u32) -> Flow {
        if self.is_stopped_by(code, wait, value) {
            return Flow::Rest(Status::Blocked(Blocked::Assume));
        }
        self.waits_since(operation)
    }

    /// The thread waits until something it has read since this operation changes.
    fn waits_since(&mut self, operation: u32) -> Flow {
        self.past.since = operation;
        Flow::Rest(Status::Blocked(Blocked::Spin))
    }

    /// A turn of a loop begins. How the thread is now is noted from this slot on.
    fn begin_turn(&mut self, slot: Slot) {
        match self.turns.binary_search(&slot) {
            Ok(at) => self.past.turns[at] = self.past.operations,
            Err(at) => {
                self.turns.insert(at, slot);
                self.past.turns.insert(at, self.past.operations);
            }
        }
    }

    /// Runs to the next rest.
    pub(super) fn run(&mut self, code: &Code) {
        let mut fuel = FUEL;
        loop {
            let flow = self.step(code, code.instrs[self.pc as usize]);
            match flow {
                Flow::Next => self.pc += 1,
                Flow::Goto(pc) => self.pc = pc,
                Flow::Rest(status) => {
                    self.status = status;
                    return;
                }
            }
            fuel -= 1;
            if fuel == 0 {
                self.status = self.cannot_go_on(format!(
                    "the thread ran {FUEL} instructions without a visible operation; if a loop does not end, bound it (--loop-bound)"
                ));
                return;
            }
        }
    }

    pub(super) fn step(&mut self, code: &Code, instr: Instr) -> Flow {
        match instr {
            Instr::Move { dst, src } => {
                let value = self.get(code, src);
                self.set(dst, value);
            }
            Instr::Un { op, ty, dst, a } => {
                let value = op.apply(ty, self.get(code, a));
                self.set(dst, value);
            }
            Instr::Bin { op, ty, dst, a, b } => match binary(op, ty, self.get(code, a), self.get(code, b)) {
                Some(value) => self.set(dst, value),
                None => return Flow::Rest(self.failed(Property::Arithmetic, "division by zero".into())),
            },
            Instr::Cast { op, from, to, dst, a } => {
                let value = code.cast(op, from, to, self.get(code, a));
                self.set(dst, value.expect("numbers are there if they are used"));
            }
            Instr::Select { dst, cond, a, b } => {
                let chosen = if self.get(code, cond) != 0 { a } else { b };
                let value = self.get(code, chosen);
                self.set(dst, value);
            }
            Instr::LocalAddr { dst, local } => {
                let addr = self.local_address(local);
                self.set(dst, addr.0);
            }
            Instr::TlsAddr { dst, index } => self.set(dst, self.own_object(index).0),
            Instr::Load { dst, ty, order, addr, wait, unwritten } => {
                let access = self.access(code, addr, ty);
                match self.private_object(access) {
                    None => {
                        let order = self.in_block(order, Ordering::Acquire);
                        // Looks of a wait are no events, but what is not atomic may race at any look, so it is made.
                        let wait = wait != 0 && order != Ordering::NonAtomic;
                        return rest(Visible::Load { access, order, wait });
                    }
                    Some(number) => match self.private_load(code, number, access, unwritten) {
                        Ok(value) => {
                            let value = ty.fit(value);
                            if wait != 0 && self.waited_for(code, wait, value) == Some(0) {
                                return self.not_found(code, wait, value, self.past.operations);
                            }
                            self.set(dst, value);
                            return self.end_of_wait(code, wait);
                        }
                        Err(status) => return Flow::Rest(status),
                    },
                }
            }
            Instr::Store { ty, order, addr, value } => {
                let access = self.access(code, addr, ty);
                let value = self.get(code, value);
                match self.private_object(access) {
                    None => {
                        if let Some(status) = self.constant(code, access) {
                            return Flow::Rest(status);
                        }
                        let order = self.in_block(order, Ordering::Release);
                        return rest(Visible::Store { access, order, value });
                    }
                    Some(number) => return self.private_store(code, number, access, value),
                }
            }
            Instr::Rmw { ty, order, dst, addr, idle, .. } => {
                let access = self.access(code, addr, ty);
                let Some(number) = self.private_object(access) else {
                    if let Some(status) = self.constant(code, access) {
                        return Flow::Rest(status);
                    }
                    let wait = idle != 0 && code.waits[idle as usize - 1].blocks;
                    return rest(Visible::Update { access, order, failure: as_read(order), wait, mutex: false });
                };
                let old = match self.private_load(code, number, access, Unwritten::Error) {
                    Err(status) => return Flow::Rest(status),
                    Ok(old) => old,
                };
                let reaction = self.reaction(code, old);
                if reaction == Reaction::Block {
                    return self.waits_since(self.past.operations);
                }
                self.set(dst, old);
                if let Reaction::Write(new) = reaction
                    && let Flow::Rest(status) = self.private_store(code, number, access, new)
                {
                    return Flow::Rest(status);
                }
                return self.end_of_wait(code, idle);
            }
            Instr::Cas { cas } => {
                let cas = &code.cas[cas as usize];
                let access = self.access(code, cas.addr, cas.ty);
                let Some(number) = self.private_object(access) else {
                    if let Some(status) = self.constant(code, access) {
                        return Flow::Rest(status);
                    }
                    let (order, failure) = (cas.success, cas.failure);
                    return rest(Visible::Update { access, order, failure, wait: cas.wait, mutex: false });
                };
                match self.private_load(code, number, access, Unwritten::Error) {
                    Err(status) => return Flow::Rest(status),
                    Ok(old) => {
                        let (expected, desired) = (self.get(code, cas.expected), self.get(code, cas.desired));
                        self.set(cas.dst, old);
                        if old == expected {
                            return self.private_store(code, number, access, desired);
                        }
                        if cas.wait {
                            return self.waits_since(self.past.operations);
                        }
                    }
                }
            }
            Instr::Fence { order } => {
                if order > Ordering::Relaxed {
                    return rest(Visible::Fence { order });
                }
            }
            Instr::Call { dst, func, args } => {
                let operands = &code.operands[args.start as usize..][..args.len as usize];
                let values: SmallVec<[u64; 8]> = operands.iter().map(|&arg| self.get(code, arg)).collect();
                return self.call(code, func, &values, dst);
            }
            Instr::CallIndirect { dst, target, args } => {
                let operands = &code.operands[args.start as usize..][..args.len as usize];
                let values: SmallVec<[u64; 8]> = operands.iter().map(|&arg| self.get(code, arg)).collect();
                return match self.callee(code, target, args.len) {
                    Ok(function) => self.call(code, function, &values, dst),
                    Err(status) => Flow::Rest(status),
                };
            }
            Instr::Spawn { func, mailbox, .. } => return self.start_another(code, func, mailbox),
            Instr::SpawnIndirect { target, args, mailbox, .. } => {
                return match self.callee(code, target, args.len) {
                    Ok(function) => self.start_another(code, function, mailbox),
                    Err(status) => Flow::Rest(status),
                };
            }
            Instr::Take => unreachable!("a message is taken before it runs"),
            Instr::Join { thread, .. } => {
                let handle = self.get(code, thread);
                return match handle.checked_sub(1).and_then(|id| u32::try_from(id).ok()) {
                    Some(id) if id < Addr::MAX_THREADS => rest(Visible::Join { thread: ThreadId(id) }),
                    _ => Flow::Rest(self.failed(Property::Lock, format!("join of {handle}, which is no thread"))),
                };
            }
            // All messages of a looper are run by one thread, which goes by the address of the looper.
            Instr::ThreadId { dst } => self.set(dst, self.message.map_or(handle(self.id), |looper| looper.0)),
            Instr::Sync { op, dst, object, other } => return self.sync_step(code, op, dst, object, other),
            Instr::Alloc { dst, size, zeroed, private, scoped, shape } => {
                let size = self.get(code, size);
                if size > Addr::MAX_SIZE {
                    return Flow::Rest(self.cannot_go_on(format!("an allocation of {size} bytes is too large")));
                }
                let size = size as u32;
                let kind = scoped.checked_sub(1).map_or(ObjectKind::Heap(shape), ObjectKind::Scoped);
                let object = if private {
                    let zeros = zeroed.then(|| vec![0; size as usize]);
                    ObjectInfo::private(kind, size, zeros.as_deref())
                } else {
                    ObjectInfo::shared(kind, size, zeroed)
                };
                match self.objects.add(self.id, object, size) {
                    Some(addr) => self.set(dst, addr.0),
                    None => return Flow::Rest(self.cannot_go_on(NO_ROOM.into())),
                }
            }
            Instr::Free { ptr, scoped } => return self.free(code, Addr(self.get(code, ptr)), scoped),
            Instr::Assert { cond, message } => {
                if self.get(code, cond) == 0 {
                    let message = code.strings[message as usize].clone();
                    return Flow::Rest(self.failed(Property::Assert, message));
                }
            }
            Instr::Assume { cond } => {
                if self.get(code, cond) == 0 {
                    return Flow::Rest(Status::Blocked(Blocked::Assume));
                }
            }
            Instr::Input { dst, values, count } => {
                if count > 1 {
                    return rest(Visible::Choose { count });
                }
                self.set(dst, code.inputs[values as usize].value(0));
            }
            Instr::Choose { dst, low, count, .. } => {
                if count > 1 {
                    return rest(Visible::Choose { count });
                }
                let low = self.get(code, low);
                self.set(dst, low);
            }
            Instr::AtomicBegin => {
                if self.atomic == 0 {
                    return rest(Visible::AtomicBegin);
                }
                self.atomic += 1;
            }
            Instr::AtomicEnd => {
                if self.atomic == 1 {
                    return rest(Visible::AtomicEnd);
                }
                self.atomic -= 1;
            }
            Instr::Error { property, message } => {
                let message = code.strings[message as usize].clone();
                return Flow::Rest(self.failed(property, message));
            }
            Instr::Print { format, args } => {
                if let Some(mut log) = self.past.log.take() {
                    let operands = &code.operands[args.start as usize..][..args.len as usize];
                    let values: Vec<u64> = operands.iter().map(|&arg| self.get(code, arg)).collect();
                    log.push(crate::text::fill(&code.strings[format as usize], &values));
                    self.past.log = Some(log);
                }
            }
            Instr::Jump { to } => return Flow::Goto(to),
            Instr::Turn { counter, bound } => {
                let turns = self.regs[self.base() + counter as usize] + 1;
                if turns > u64::from(bound) {
                    return Flow::Rest(Status::Blocked(Blocked::LoopBound));
                }
                self.set(counter, turns);
            }
            Instr::Branch { cond, then, otherwise } => {
                return Flow::Goto(if self.get(code, cond) != 0 { then } else { otherwise });
            }
            Instr::Switch { value, table } => {
                let value = self.get(code, value);
                let table = &code.switches[table as usize];
                let case = table.cases.iter().find(|case| case.0 == value);
                return Flow::Goto(case.map_or(table.default, |case| case.1));
            }
            Instr::Return { value } => {
                self.stage = 0;
                return self.leave(code, value);
            }
            Instr::ExitThread { value } => {
                self.stage = 0;
                self.scratch = if value == Operand::NONE { 0 } else { self.get(code, value) };
                return self.end_thread(code);
            }
            Instr::Exit => return Flow::Rest(Status::Finished { result: 0, exit: true }),
            Instr::MarkTurn { mark, kept } => {
                self.turn_objects = self.objects.len();
                self.begin_turn(self.base() as Slot + mark);
                self.set(mark, u64::from(self.atomic));
                for (register, to) in code.kept(kept).zip(mark + 1..) {
                    let value = self.get(code, register);
                    self.set(to, value);
                }
            }
            Instr::Spin { mark, kept, to } => {
                let turn = self.base() + mark as usize;
                let mut registers = code.kept(kept).zip(&self.regs[turn + 1..]);
                if let Ok(at) = self.turns.binary_search(&(turn as Slot))
                    && self.regs[turn] == u64::from(self.atomic)
                    && registers.all(|(register, &value)| self.get(code, register) == value)
                {
                    return self.waits_since(self.past.turns[at]);
                }
                return Flow::Goto(to);
            }
            Instr::Unreachable => {
                return Flow::Rest(self.cannot_go_on("control reached a place it cannot reach".into()));
            }
        }
        Flow::Next
    }
}
