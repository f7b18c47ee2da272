//! Threads as resumable automata.
//!
//! A thread is a value: registers, call stack, private memory. It is always at rest, in one of four ways
//! ([`Status`]): before a visible operation, finished, blocked, or failed. Whoever drives it reads the operation off
//! the status, decides on an answer (the value read, the alternative picked), and calls [`Thread::answer`], which runs
//! all invisible work up to the next rest. For operations that read and then perhaps write, [`Thread::reaction`] tells
//! what would be done with a value without doing it; that is how engines try sources.
//!
//! Operations on synchronisation objects are sequences of ordinary loads, stores and updates; see
//! [`sync`](crate::thread::sync). So memory knows nothing of locks.

mod sync;

use crate::address::{Addr, Owner};
use crate::code::{Code, Instr, NO_SLOT, Operand, Slot, SyncOp};
use crate::objects::{ObjectInfo, ObjectKind, Objects, PrivateError};
use raddle_program::{Expr, FuncId, Ordering, Type};
use raddle_trace::{Property, ThreadId};
use smallvec::SmallVec;

/// How many instructions a thread may run between two visible operations before it is taken to run for ever.
const FUEL: u32 = 20_000_000;
/// How deep calls may nest.
const MAX_FRAMES: usize = 100_000;

/// A piece of memory that is read or written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Where it starts.
    pub addr: Addr,
    /// How many bytes: 1, 2, 4 or 8.
    pub size: u8,
}

/// A visible operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Visible {
    /// Reads memory; the answer is the value.
    Load {
        /// Where.
        access: Access,
        /// With which ordering.
        order: Ordering,
        /// Only some values let the thread go on; see [`Thread::reaction`].
        wait: bool,
    },
    /// Writes memory; the answer does not matter.
    Store {
        /// Where.
        access: Access,
        /// With which ordering.
        order: Ordering,
        /// What.
        value: u64,
    },
    /// Reads and, depending on the value, writes in the same step; the answer is the value read.
    Update {
        /// Where.
        access: Access,
        /// With which ordering, if it writes.
        order: Ordering,
        /// With which ordering, if it only reads.
        failure: Ordering,
        /// Some values may block; see [`Thread::reaction`].
        wait: bool,
        /// Takes a mutex that only its holder releases.
        mutex: bool,
    },
    /// A fence.
    Fence {
        /// Acquire or stronger.
        order: Ordering,
    },
    /// Picks an alternative; the answer is its number.
    Choose {
        /// How many there are.
        count: u32,
    },
    /// Starts a thread; the answer is its [`ThreadId`]. [`Thread::spawned`] gives its first state.
    Spawn {
        /// What it runs.
        function: FuncId,
    },
    /// Waits for a thread to finish; the answer is its result.
    Join {
        /// Which; it may not exist.
        thread: ThreadId,
    },
    /// Ends the life of the shared object that starts here.
    Free {
        /// Its start.
        addr: Addr,
        /// A local object going out of scope rather than a call of free.
        scope: bool,
    },
    /// Enters an atomic block.
    AtomicBegin,
    /// Leaves it.
    AtomicEnd,
}

/// Why a thread can go no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// An assumption was false.
    Assume,
    /// A loop turned as often as it may.
    LoopBound,
    /// A turn of a loop had no effect. The reads of that turn are those of the visible operations from `since` on.
    Spin {
        /// Number of the first visible operation of the turn.
        since: u32,
    },
}

/// What went wrong in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The property that is broken; `None` if it is the verifier that cannot go on.
    pub property: Option<Property>,
    /// What, in one line.
    pub message: String,
    /// The instruction.
    pub pc: u32,
    /// It is the pending operation that is wrong, as memory found; otherwise it is what the thread did after the last one.
    pub pending: bool,
}

/// How a thread is at rest.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Before this operation.
    Ready(Visible),
    /// At its end, with this result.
    Finished {
        /// What a join receives.
        result: u64,
        /// It ended the whole program.
        exit: bool,
    },
    /// For good.
    Blocked(Blocked),
    /// For good.
    Failed(Box<Failure>),
}

/// What an operation does with the value it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It waits for another value.
    Block,
    /// It takes the value and writes nothing.
    Read,
    /// It writes this.
    Write(u64),
    /// It picks one of so many alternatives, and writes what [`Thread::picked`] says.
    Pick(u32),
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    base: u32,
    return_to: u32,
    dst: Slot,
    function: FuncId,
    first_object: u32,
}

/// A lock that a thread holds: how often, negative for a reader-writer lock held for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    addr: Addr,
    count: i32,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    id: ThreadId,
    pc: u32,
    /// How far a synchronisation operation made of several steps has come.
    stage: u32,
    /// What such an operation has to remember.
    scratch: u64,
    atomic: u32,
    /// Visible operations answered.
    operations: u32,
    /// Times it waited on a condition variable.
    waits: u32,
    status: Status,
    regs: SmallVec<[u64; 20]>,
    frames: SmallVec<[Frame; 2]>,
    held: SmallVec<[Held; 2]>,
    objects: Objects,
    /// What it printed, if anybody wants to know.
    log: Option<Box<Vec<String>>>,
}

/// What a step of the interpreter leads to.
enum Flow {
    Next,
    Goto(u32),
    Rest(Status),
}

impl Thread {
    /// The first thread, run up to its first visible operation.
    pub fn main(code: &Code, log: bool) -> Thread {
        Thread::start(code, ThreadId::MAIN, code.entry, &[], log)
    }

    /// A thread that runs `function`, up to its first visible operation.
    fn start(code: &Code, id: ThreadId, function: FuncId, args: &[u64], log: bool) -> Thread {
        let mut thread = Thread {
            id,
            pc: 0,
            stage: 0,
            scratch: 0,
            atomic: 0,
            operations: 0,
            waits: 0,
            status: Status::Finished { result: 0, exit: false },
            regs: SmallVec::new(),
            frames: SmallVec::new(),
            held: SmallVec::new(),
            objects: Objects::default(),
            log: log.then(Box::default),
        };
        for (number, &global) in code.tls.iter().enumerate() {
            let global = &code.globals[global as usize];
            let kind = ObjectKind::ThreadLocal(number as u32);
            let size = global.bytes.len() as u32;
            let object = if global.private {
                ObjectInfo::private(kind, size, Some(&global.bytes))
            } else {
                ObjectInfo::shared(kind, size, true)
            };
            thread.objects.add(id, object).expect("programs have few thread-local objects");
        }
        match thread.enter(code, function, args, u32::MAX, NO_SLOT) {
            Ok(()) => thread.run(code),
            Err(failure) => thread.status = failure,
        }
        thread
    }

    /// Which thread it is.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// How it rests.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The instruction it rests at.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// How many visible operations it has completed.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// Whether it is inside an atomic block.
    pub fn in_atomic(&self) -> bool {
        self.atomic > 0
    }

    /// The object that is the `number`-th this thread made.
    pub fn object(&self, number: u32) -> Option<&ObjectInfo> {
        self.objects.get(number)
    }

    /// The function it runs.
    pub fn function(&self) -> FuncId {
        self.frames.first().map_or(FuncId(0), |frame| frame.function)
    }

    /// Takes what was printed since the last call.
    pub fn take_printed(&mut self) -> Vec<String> {
        self.log.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Which operation it rests before, in one word.
    pub fn operation_name(&self, code: &Code) -> &'static str {
        match code.instrs[self.pc as usize] {
            Instr::Load { .. } => "load",
            Instr::Store { .. } => "store",
            Instr::Rmw { op, .. } => op.name(),
            Instr::Cas { .. } => "cas",
            Instr::Sync { op, .. } => sync::name(op, self.stage),
            Instr::Return { .. } | Instr::ExitThread { .. } => "end of scope",
            Instr::Free { .. } => "free",
            _ => "step",
        }
    }

    /// The first state of the thread that a [`Visible::Spawn`] starts under the name `child`.
    pub fn spawned(&self, code: &Code, child: ThreadId) -> Thread {
        let (Instr::Spawn { args, .. } | Instr::SpawnIndirect { args, .. }) = code.instrs[self.pc as usize] else {
            unreachable!("the thread rests at a spawn");
        };
        let Status::Ready(Visible::Spawn { function }) = self.status else {
            unreachable!("the thread rests at a spawn");
        };
        let operands = &code.operands[args.start as usize..][..args.len as usize];
        let values: SmallVec<[u64; 4]> = operands.iter().map(|&arg| self.get(code, arg)).collect();
        Thread::start(code, child, function, &values, self.log.is_some())
    }

    /// What the pending load or update would do with this value.
    pub fn reaction(&self, code: &Code, value: u64) -> Reaction {
        match code.instrs[self.pc as usize] {
            Instr::Load { wait: 0, .. } => Reaction::Read,
            Instr::Load { wait, .. } => {
                let wait = &code.waits[wait as usize - 1];
                let types = &code.functions[wait.function.index()].reg_types;
                let lookup = |reg: raddle_program::Reg| {
                    if reg == wait.dst { value } else { self.regs[self.base() + reg.index()] }
                };
                match self.eval(&wait.cond, types, &lookup) {
                    Some(0) => Reaction::Block,
                    _ => Reaction::Read,
                }
            }
            Instr::Rmw { op, ty, operand, .. } => Reaction::Write(op.apply(ty, value, self.get(code, operand))),
            Instr::Cas { cas } => {
                let cas = &code.cas[cas as usize];
                if value == self.get(code, cas.expected) {
                    Reaction::Write(self.get(code, cas.desired))
                } else if cas.wait {
                    Reaction::Block
                } else {
                    Reaction::Read
                }
            }
            Instr::Sync { op, .. } => self.sync_reaction(op, value),
            ref other => unreachable!("no load or update: {other:?}"),
        }
    }

    /// What the pending update writes if it found `value` and picked this alternative.
    pub fn picked(&self, value: u64, pick: u32) -> u64 {
        value & !sync::nth_bit(value, pick)
    }

    /// Answers the pending operation with `value` (and, for [`Reaction::Pick`], the alternative), and runs on.
    pub fn answer(&mut self, code: &Code, value: u64, pick: u32) {
        self.operations += 1;
        let flow = match code.instrs[self.pc as usize] {
            Instr::Load { dst, .. } | Instr::Rmw { dst, .. } => {
                self.set(dst, value);
                Flow::Next
            }
            Instr::Cas { cas } => {
                self.set(code.cas[cas as usize].dst, value);
                Flow::Next
            }
            Instr::Store { .. } | Instr::Fence { .. } => Flow::Next,
            Instr::Choose { dst, low, .. } => {
                let low = self.get(code, low);
                self.set(dst, low + value);
                Flow::Next
            }
            Instr::Spawn { dst, .. } | Instr::SpawnIndirect { dst, .. } => {
                self.set(dst, handle(ThreadId(value as u32)));
                Flow::Next
            }
            Instr::Join { dst, ty, .. } => {
                self.set(dst, ty.truncate(value));
                Flow::Next
            }
            Instr::Free { .. } => Flow::Next,
            Instr::AtomicBegin => {
                self.atomic += 1;
                Flow::Next
            }
            Instr::AtomicEnd => {
                self.atomic -= 1;
                Flow::Next
            }
            Instr::Return { value } => {
                self.stage += 1;
                self.leave(code, value)
            }
            Instr::ExitThread { .. } | Instr::Exit => {
                self.stage += 1;
                self.end_thread(code)
            }
            Instr::Sync { op, dst, object, other } => self.sync_answer(code, op, dst, object, other, value, pick),
            ref other => unreachable!("nothing to answer: {other:?}"),
        };
        match flow {
            Flow::Next => self.pc += 1,
            Flow::Goto(pc) => self.pc = pc,
            Flow::Rest(status) => {
                self.status = status;
                return;
            }
        }
        self.run(code);
    }

    /// Makes the thread fail at its pending operation, which memory has found to be wrong.
    pub fn fail(&mut self, property: Property, message: String) {
        let pc = self.pc;
        self.status = Status::Failed(Box::new(Failure { property: Some(property), message, pc, pending: true }));
    }

    /// Makes the thread fail at an instruction it has left behind, whose effect memory has found to be wrong.
    pub fn fail_at(&mut self, property: Property, message: String, pc: u32) {
        self.status = Status::Failed(Box::new(Failure { property: Some(property), message, pc, pending: false }));
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    #[inline]
    fn get(&self, code: &Code, operand: Operand) -> u64 {
        if operand.0 & Operand::CONSTANT != 0 {
            code.constant(operand)
        } else {
            self.regs[self.base() + operand.0 as usize]
        }
    }

    #[inline]
    fn set(&mut self, dst: Slot, value: u64) {
        if dst != NO_SLOT {
            let base = self.base();
            self.regs[base + dst as usize] = value;
        }
    }

    fn failed(&self, property: Property, message: String) -> Status {
        Status::Failed(Box::new(Failure { property: Some(property), message, pc: self.pc, pending: false }))
    }

    fn cannot_go_on(&self, message: String) -> Status {
        Status::Failed(Box::new(Failure { property: None, message, pc: self.pc, pending: false }))
    }

    /// Runs to the next rest.
    fn run(&mut self, code: &Code) {
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
                    "the thread ran {FUEL} instructions without a visible operation; a loop here does not end"
                ));
                return;
            }
        }
    }

    fn step(&mut self, code: &Code, instr: Instr) -> Flow {
        match instr {
            Instr::Move { dst, src } => {
                let value = self.get(code, src);
                self.set(dst, value);
            }
            Instr::Un { op, ty, dst, a } => {
                let value = op.apply(ty, self.get(code, a));
                self.set(dst, value);
            }
            Instr::Bin { op, ty, dst, a, b } => match op.apply(ty, self.get(code, a), self.get(code, b)) {
                Some(value) => self.set(dst, value),
                None => return Flow::Rest(self.failed(Property::Arithmetic, "division by zero".into())),
            },
            Instr::Cast { op, from, to, dst, a } => {
                let value = op.apply(from, to, self.get(code, a));
                self.set(dst, value);
            }
            Instr::Select { dst, cond, a, b } => {
                let chosen = if self.get(code, cond) != 0 { a } else { b };
                let value = self.get(code, chosen);
                self.set(dst, value);
            }
            Instr::LocalAddr { dst, local } => {
                let frame = self.frames.last().expect("a running thread has a frame");
                let addr = Addr::object(self.id, frame.first_object + local);
                self.set(dst, addr.0);
            }
            Instr::TlsAddr { dst, index } => self.set(dst, Addr::object(self.id, index).0),
            Instr::Load { dst, ty, order, addr, wait } => {
                let access = self.access(code, addr, ty);
                match self.private_object(access) {
                    None => return rest(Visible::Load { access, order, wait: wait != 0 }),
                    Some(number) => {
                        let object = self.objects.get(number).expect("just found");
                        match object.read(access.addr.offset(), ty.size(), true) {
                            Ok(value) => {
                                let value = ty.truncate(value);
                                if wait != 0 && self.reaction(code, value) == Reaction::Block {
                                    return Flow::Rest(Status::Blocked(Blocked::Spin { since: self.operations }));
                                }
                                self.set(dst, value);
                            }
                            Err(error) => return Flow::Rest(self.private_failure(code, access.addr, error)),
                        }
                    }
                }
            }
            Instr::Store { ty, order, addr, value } => {
                let access = self.access(code, addr, ty);
                let value = self.get(code, value);
                match self.private_object(access) {
                    None => return rest(Visible::Store { access, order, value }),
                    Some(number) => return self.private_store(code, number, access, value),
                }
            }
            Instr::Rmw { op, ty, order, dst, addr, operand } => {
                let access = self.access(code, addr, ty);
                let Some(number) = self.private_object(access) else {
                    return rest(Visible::Update { access, order, failure: order, wait: false, mutex: false });
                };
                let operand = self.get(code, operand);
                match self.private_load(code, number, access) {
                    Err(status) => return Flow::Rest(status),
                    Ok(old) => {
                        self.set(dst, old);
                        return self.private_store(code, number, access, op.apply(ty, old, operand));
                    }
                }
            }
            Instr::Cas { cas } => {
                let cas = &code.cas[cas as usize];
                let access = self.access(code, cas.addr, cas.ty);
                let Some(number) = self.private_object(access) else {
                    let (order, failure) = (cas.success, cas.failure);
                    return rest(Visible::Update { access, order, failure, wait: cas.wait, mutex: false });
                };
                match self.private_load(code, number, access) {
                    Err(status) => return Flow::Rest(status),
                    Ok(old) => {
                        let (expected, desired) = (self.get(code, cas.expected), self.get(code, cas.desired));
                        self.set(cas.dst, old);
                        if old == expected {
                            return self.private_store(code, number, access, desired);
                        }
                        if cas.wait {
                            return Flow::Rest(Status::Blocked(Blocked::Spin { since: self.operations }));
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
            Instr::Spawn { func, .. } => return rest(Visible::Spawn { function: func }),
            Instr::SpawnIndirect { target, args, .. } => {
                return match self.callee(code, target, args.len) {
                    Ok(function) => rest(Visible::Spawn { function }),
                    Err(status) => Flow::Rest(status),
                };
            }
            Instr::Join { thread, .. } => {
                let handle = self.get(code, thread);
                return match handle.checked_sub(1).and_then(|id| u32::try_from(id).ok()) {
                    Some(id) if id < Addr::MAX_THREADS => rest(Visible::Join { thread: ThreadId(id) }),
                    _ => Flow::Rest(self.failed(Property::Lock, format!("join of {handle}, which is no thread"))),
                };
            }
            Instr::ThreadId { dst } => self.set(dst, handle(self.id)),
            Instr::Sync { op, dst, object, other } => return self.sync_step(code, op, dst, object, other),
            Instr::Alloc { dst, size, zeroed, private } => {
                let size = self.get(code, size);
                if size >= Addr::MAX_SIZE {
                    return Flow::Rest(self.cannot_go_on(format!("an allocation of {size} bytes is too large")));
                }
                let size = size as u32;
                let object = if private {
                    let zeros = zeroed.then(|| vec![0; size as usize]);
                    ObjectInfo::private(ObjectKind::Heap, size, zeros.as_deref())
                } else {
                    ObjectInfo::shared(ObjectKind::Heap, size, zeroed)
                };
                match self.objects.add(self.id, object) {
                    Some(addr) => self.set(dst, addr.0),
                    None => return Flow::Rest(self.cannot_go_on("the thread allocates too many objects".into())),
                }
            }
            Instr::Free { ptr } => return self.free(code, Addr(self.get(code, ptr))),
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
            Instr::Choose { dst, low, count } => {
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
            Instr::Error { message } => {
                let message = code.strings[message as usize].clone();
                return Flow::Rest(self.failed(Property::Error, message));
            }
            Instr::Print { format, args } => {
                if self.log.is_some() {
                    let operands = &code.operands[args.start as usize..][..args.len as usize];
                    let values: Vec<u64> = operands.iter().map(|&arg| self.get(code, arg)).collect();
                    let text = crate::text::fill(&code.strings[format as usize], &values);
                    self.log.as_mut().expect("just checked").push(text);
                }
            }
            Instr::Jump { to } => return Flow::Goto(to),
            Instr::Turn { to, counter } => {
                let turns = self.regs[self.base() + counter as usize] + 1;
                if code.loop_bound.is_some_and(|bound| turns > u64::from(bound)) {
                    return Flow::Rest(Status::Blocked(Blocked::LoopBound));
                }
                self.set(counter, turns);
                return Flow::Goto(to);
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
            Instr::MarkTurn { mark } => {
                let operations = u64::from(self.operations);
                self.set(mark, operations);
            }
            Instr::Spin { mark } => {
                let since = self.regs[self.base() + mark as usize] as u32;
                return Flow::Rest(Status::Blocked(Blocked::Spin { since }));
            }
            Instr::Unreachable => {
                return Flow::Rest(self.cannot_go_on("control reached a place it cannot reach".into()));
            }
        }
        Flow::Next
    }

    fn access(&self, code: &Code, addr: Operand, ty: Type) -> Access {
        Access { addr: Addr(self.get(code, addr)), size: ty.size() as u8 }
    }

    /// The number of the private object that the access is to, if it is to one.
    #[inline]
    fn private_object(&self, access: Access) -> Option<u32> {
        match access.addr.owner() {
            Owner::Thread(thread, number) if thread == self.id => {
                self.objects.get(number).filter(|object| object.is_private()).map(|_| number)
            }
            _ => None,
        }
    }

    fn private_load(&self, code: &Code, number: u32, access: Access) -> Result<u64, Status> {
        let object = self.objects.get(number).expect("just found");
        object
            .read(access.addr.offset(), u32::from(access.size), true)
            .map_err(|error| self.private_failure(code, access.addr, error))
    }

    fn private_store(&mut self, code: &Code, number: u32, access: Access, value: u64) -> Flow {
        let object = self.objects.get_mut(number);
        match object.write(access.addr.offset(), u32::from(access.size), value) {
            Ok(()) => Flow::Next,
            Err(error) => Flow::Rest(self.private_failure(code, access.addr, error)),
        }
    }

    fn private_failure(&self, code: &Code, addr: Addr, error: PrivateError) -> Status {
        let name = code.describe(addr, &|_| Some(self));
        self.failed(
            Property::Memory,
            match error {
                PrivateError::OutOfBounds => format!("access out of bounds at {name}"),
                PrivateError::Freed => format!("access to {name}, whose life has ended"),
                PrivateError::Uninitialised => format!("read of {name}, which was never written"),
            },
        )
    }

    fn free(&mut self, code: &Code, addr: Addr) -> Flow {
        if addr.0 == 0 {
            return Flow::Next;
        }
        let Owner::Thread(owner, number) = addr.owner() else {
            let name = code.describe(addr, &|_| None);
            return Flow::Rest(self.failed(Property::Memory, format!("free of {name}, which was not allocated")));
        };
        if owner == self.id
            && let Some(object) = self.objects.get(number)
            && object.is_private()
        {
            if object.kind != ObjectKind::Heap || addr.offset() != 0 {
                let name = code.describe(addr, &|_| Some(self));
                let message = format!("free of {name}, which is not the start of an allocated object");
                return Flow::Rest(self.failed(Property::Memory, message));
            }
            return match self.objects.get_mut(number).end() {
                Ok(()) => Flow::Next,
                Err(_) => {
                    let name = code.describe(addr, &|_| Some(self));
                    Flow::Rest(self.failed(Property::Memory, format!("{name} is freed twice")))
                }
            };
        }
        rest(Visible::Free { addr, scope: false })
    }

    fn callee(&self, code: &Code, target: Operand, args: u32) -> Result<FuncId, Status> {
        let addr = Addr(self.get(code, target));
        match addr.owner() {
            Owner::Function(id) if addr.offset() == 0 && id.index() < code.functions.len() => {
                let function = &code.functions[id.index()];
                if function.params == args {
                    return Ok(id);
                }
                let message =
                    format!("{} takes {} arguments but is called with {args}", function.name, function.params);
                Err(self.failed(Property::Memory, message))
            }
            _ => {
                let name = code.describe(addr, &|_| Some(self));
                Err(self.failed(Property::Memory, format!("call of {name}, which is no function")))
            }
        }
    }

    fn call(&mut self, code: &Code, function: FuncId, args: &[u64], dst: Slot) -> Flow {
        match self.enter(code, function, args, self.pc + 1, dst) {
            Ok(()) => Flow::Goto(self.pc),
            Err(status) => Flow::Rest(status),
        }
    }

    fn enter(&mut self, code: &Code, function: FuncId, args: &[u64], return_to: u32, dst: Slot) -> Result<(), Status> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(self.cannot_go_on(format!("calls nest deeper than {MAX_FRAMES}")));
        }
        let callee = &code.functions[function.index()];
        let base = self.regs.len() as u32;
        let first_object = self.objects.len();
        for (index, local) in callee.locals.iter().enumerate() {
            let kind = ObjectKind::Local(function, index as u32);
            let object = if local.private {
                ObjectInfo::private(kind, local.size, None)
            } else {
                ObjectInfo::shared(kind, local.size, false)
            };
            if self.objects.add(self.id, object).is_none() {
                return Err(self.cannot_go_on("the thread makes too many objects".into()));
            }
        }
        self.regs.resize(base as usize + callee.slots as usize, 0);
        for ((index, &arg), ty) in args.iter().enumerate().zip(&callee.reg_types) {
            self.regs[base as usize + index] = ty.truncate(arg);
        }
        self.frames.push(Frame { base, return_to, dst, function, first_object });
        self.pc = callee.entry;
        Ok(())
    }

    /// Returns from the current function: first the lives of its shared local objects end, one visible operation each
    /// (`stage` counts them), then control goes back.
    fn leave(&mut self, code: &Code, value: Operand) -> Flow {
        let frame = *self.frames.last().expect("a running thread has a frame");
        let locals = &code.functions[frame.function.index()].locals;
        let mut shared = locals.iter().enumerate().filter(|(_, local)| !local.private);
        if let Some((index, _)) = shared.nth(self.stage as usize) {
            let addr = Addr::object(self.id, frame.first_object + index as u32);
            return rest(Visible::Free { addr, scope: true });
        }
        self.stage = 0;
        let result = if value == Operand::NONE { 0 } else { self.get(code, value) };
        for (index, _) in locals.iter().enumerate().filter(|(_, local)| local.private) {
            self.objects.get_mut(frame.first_object + index as u32).end().expect("locals live until the return");
        }
        self.regs.truncate(frame.base as usize);
        if self.frames.len() == 1 {
            return self.finish(result);
        }
        self.frames.pop();
        self.set(frame.dst, result);
        Flow::Goto(frame.return_to)
    }

    /// Ends the thread from any depth: the lives of all shared locals on the stack end first.
    fn end_thread(&mut self, code: &Code) -> Flow {
        let mut skip = self.stage;
        for frame in self.frames.iter().rev() {
            let locals = &code.functions[frame.function.index()].locals;
            for (index, _) in locals.iter().enumerate().filter(|(_, local)| !local.private) {
                if skip == 0 {
                    let addr = Addr::object(self.id, frame.first_object + index as u32);
                    return rest(Visible::Free { addr, scope: true });
                }
                skip -= 1;
            }
        }
        self.stage = 0;
        self.finish(self.scratch)
    }

    fn finish(&mut self, result: u64) -> Flow {
        if self.atomic > 0 {
            return Flow::Rest(self.failed(Property::Lock, "the thread ends inside an atomic block".into()));
        }
        Flow::Rest(Status::Finished { result, exit: false })
    }

    /// Evaluates an expression as it stands; for conditions of waits, which are tried on many values.
    fn eval(&self, expr: &Expr, types: &[Type], lookup: &impl Fn(raddle_program::Reg) -> u64) -> Option<u64> {
        let reg_type = |reg: raddle_program::Reg| types[reg.index()];
        Some(match expr {
            Expr::Const(ty, value) => ty.truncate(*value),
            Expr::Reg(reg) => lookup(*reg),
            Expr::Global(id) => Addr::global(*id).0,
            Expr::Func(id) => Addr::function(*id).0,
            Expr::Local(id) => {
                let frame = self.frames.last().expect("a running thread has a frame");
                Addr::object(self.id, frame.first_object + id.0).0
            }
            Expr::Unary(op, a) => op.apply(a.ty(&reg_type), self.eval(a, types, lookup)?),
            Expr::Binary(op, a, b) => {
                op.apply(a.ty(&reg_type), self.eval(a, types, lookup)?, self.eval(b, types, lookup)?)?
            }
            Expr::Cast(op, to, a) => op.apply(a.ty(&reg_type), *to, self.eval(a, types, lookup)?),
            Expr::Select(cond, a, b) => {
                let chosen = if self.eval(cond, types, lookup)? != 0 { a } else { b };
                self.eval(chosen, types, lookup)?
            }
        })
    }
}

fn rest(visible: Visible) -> Flow {
    Flow::Rest(Status::Ready(visible))
}

/// The number by which programs know a thread.
fn handle(id: ThreadId) -> u64 {
    u64::from(id.0) + 1
}

/// Whether the operation takes a mutex whose only releases are its holder's.
fn takes_mutex(op: SyncOp, stage: u32) -> bool {
    matches!((op, stage), (SyncOp::Lock { .. } | SyncOp::TryLock { .. }, _) | (SyncOp::CondWait, 3))
}
