//! Threads that run byte code.
//!
//! A thread is a value: registers, call stack, private memory. How it is driven is said at [`Automaton`].
//!
//! Operations on synchronisation objects are sequences of ordinary loads, stores and updates; see
//! `sync`. So memory knows nothing of locks.

mod calls;
mod forget;
mod list;
mod private;
mod run;
mod sync;

use self::list::List;
use crate::address::Addr;
use crate::automaton::{Access, Automaton, Blocked, Commuting, Failure, Meeting, Reaction, Status, Visible};
use crate::code::{Code, Instr, NO_SLOT, Operand, Slot, SyncOp};
use crate::objects::{ObjectInfo, ObjectKind, Objects};
use raddle_program::{BinOp, FuncId, RmwOp, Type, Unwritten};
use raddle_trace::{Property, ThreadId};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    base: u32,
    return_to: u32,
    dst: Slot,
    function: FuncId,
    first_object: u32,
}

/// A lock that a thread holds: how often, negative for a reader-writer lock held for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Held {
    addr: Addr,
    count: i32,
}

/// A thread. Two are equal if they go on in the same way, however they came to where they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    id: ThreadId,
    pc: u32,
    /// How far a synchronisation operation made of several steps has come.
    stage: u32,
    /// What such an operation has to remember.
    scratch: u64,
    atomic: u32,
    /// Times it waited on a condition variable.
    waits: u32,
    /// The turns of loops that have been looks only so far, by where it is noted how they began; in order.
    turns: List<Slot, 2>,
    /// How many objects there were when the last turn of such a loop began.
    turn_objects: u32,
    /// Threads it has started and messages it has posted.
    children: u32,
    /// The looper that runs it, if it is a message.
    message: Option<Addr>,
    status: Status,
    regs: List<u64, 20>,
    frames: List<Frame, 2>,
    held: List<Held, 2>,
    objects: Objects,
    past: Past,
}

/// How a thread came to where it is: what engines ask about it. It makes no difference between threads.
#[derive(Clone, Debug, Default)]
struct Past {
    /// Visible operations answered.
    operations: u32,
    /// The operation that began the atomic block.
    block: u32,
    /// The first operation of each turn in [`Thread::turns`].
    turns: List<u32, 2>,
    /// The first operation of the turn that ended in [`Blocked::Spin`].
    since: u32,
    /// What was printed, if anybody wants to know.
    log: Option<Vec<String>>,
}

impl PartialEq for Past {
    fn eq(&self, _: &Past) -> bool {
        true
    }
}

impl Eq for Past {}

impl Hash for Past {
    fn hash<H: Hasher>(&self, _: &mut H) {}
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
        Thread::start(code, ThreadId::MAIN, code.entry, &[], None, log)
    }

    /// A thread that runs `function`, up to its first visible operation, which for a message is that its looper takes it.
    fn start(code: &Code, id: ThreadId, function: FuncId, args: &[u64], message: Option<Addr>, log: bool) -> Thread {
        let mut thread = Thread {
            id,
            pc: 0,
            stage: 0,
            scratch: 0,
            atomic: 0,
            waits: 0,
            turns: List::default(),
            turn_objects: 0,
            children: 0,
            message,
            status: Status::Finished { result: 0, exit: false },
            regs: List::default(),
            frames: List::default(),
            held: List::default(),
            objects: Objects::new(code.narrow),
            past: Past { log: log.then(Vec::new), ..Past::default() },
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
            if thread.objects.add(id, object, size).is_none() {
                thread.pc = code.functions[function.index()].entry;
                thread.status = thread.cannot_go_on(NO_ROOM.into());
                return thread;
            }
        }
        if code.narrow && code.numbers.is_none() {
            thread.pc = code.functions[function.index()].entry;
            thread.status = thread.cannot_go_on("the global objects do not fit into 32-bit addresses".into());
            return thread;
        }
        if code.globals.len() > Addr::MAX_GLOBALS {
            thread.pc = code.functions[function.index()].entry;
            thread.status = thread.cannot_go_on("there are too many global objects".into());
            return thread;
        }
        match thread.enter(code, function, args, u32::MAX, NO_SLOT) {
            Ok(()) => match message {
                None => thread.run(code),
                Some(mailbox) => {
                    thread.pc -= 1;
                    thread.status = Status::Ready(Visible::Take { mailbox });
                }
            },
            Err(failure) => thread.status = failure,
        }
        thread
    }

    /// Whether another thread goes on in the same way, and nothing that is known of how it came there tells the two apart.
    pub fn is_twin(&self, other: &Thread) -> bool {
        let Past { operations, block, turns, since, log } = &self.past;
        let known = (operations, block, since, log)
            == (&other.past.operations, &other.past.block, &other.past.since, &other.past.log);
        known && *turns == other.past.turns && self == other
    }

    /// How many visible operations it has completed.
    pub fn operations(&self) -> u32 {
        self.past.operations
    }

    /// The first visible operation of the turn that ended in [`Blocked::Spin`].
    pub fn since(&self) -> u32 {
        self.past.since
    }

    /// The atomic block it is inside: the number of the visible operation that began it.
    pub fn atomic_block(&self) -> Option<u32> {
        (self.atomic > 0).then_some(self.past.block)
    }

    /// The function it runs.
    pub fn function(&self) -> FuncId {
        self.frames.first().map_or(FuncId(0), |frame| frame.function)
    }

    /// Where the functions go on that wait for the one that runs.
    pub fn returns(&self) -> impl Iterator<Item = u32> + '_ {
        self.frames.iter().skip(1).map(|frame| frame.return_to)
    }

    /// Takes what was printed since the last call.
    pub fn take_printed(&mut self) -> Vec<String> {
        self.past.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Which operation it rests before, in one word.
    pub fn operation_name(&self, code: &Code) -> &'static str {
        match code.instrs[self.pc as usize] {
            Instr::Load { .. } => "load",
            Instr::Store { .. } => "store",
            Instr::Rmw { op, .. } => op.name(),
            Instr::Cas { .. } => "cas",
            Instr::Sync { op, .. } => sync::name(op, self.stage),
            Instr::Take => "take",
            Instr::Return { .. } | Instr::ExitThread { .. } => "end of scope",
            Instr::Free { .. } => "free",
            _ => "step",
        }
    }

    /// Whether the pending operation is a load that leads straight into an assumption, and does not take this value because that would make it fail.
    pub fn is_assuming(&self, code: &Code, value: u64) -> bool {
        let is_load = matches!(self.status, Status::Ready(Visible::Load { wait: true, .. }));
        match code.instrs[self.pc as usize] {
            Instr::Load { wait, ty, .. } if is_load => {
                let value = ty.truncate(value);
                self.waited_for(code, wait, value) == Some(0) && self.is_stopped_by(code, wait, value)
            }
            _ => false,
        }
    }

    /// Whether an assumption would fail on this value, which does not meet the condition of a load.
    fn is_stopped_by(&self, code: &Code, wait: u32, value: u64) -> bool {
        let wait = &code.waits[wait as usize - 1];
        wait.assumed.as_ref().is_some_and(|found| found.eval(code, self, value) != Some(0))
    }

    /// Where the thread is in a wait at a barrier, if its pending operation is part of one.
    pub fn meeting(&self, code: &Code) -> Option<Meeting> {
        let Instr::Sync { op: SyncOp::BarrierWait, dst, .. } = code.instrs[self.pc as usize] else { return None };
        let ready = matches!(self.status, Status::Ready(_));
        ready.then_some(Meeting { arrived: self.stage > 0, asks: dst != NO_SLOT })
    }

    /// Lets a thread that has arrived at a barrier be the last one to have done so.
    pub fn arrive_last(&mut self, code: &Code) {
        if let Instr::Sync { op: SyncOp::BarrierWait, dst, .. } = code.instrs[self.pc as usize] {
            self.set(dst, 1);
        }
    }

    /// If the pending operation is an update whose result nobody uses: how it changes memory, whatever it finds there.
    pub fn blind_update(&self, code: &Code) -> Option<(Commuting, u64)> {
        let Instr::Rmw { op, ty, dst: NO_SLOT, operand, idle: 0, .. } = code.instrs[self.pc as usize] else {
            return None;
        };
        let operand = self.get(code, operand);
        match op {
            RmwOp::Add => Some((Commuting::Add, operand)),
            RmwOp::Sub => Some((Commuting::Add, ty.truncate(operand.wrapping_neg()))),
            RmwOp::And => Some((Commuting::And, operand)),
            RmwOp::Or => Some((Commuting::Or, operand)),
            RmwOp::Xor => Some((Commuting::Xor, operand)),
            RmwOp::Nand | RmwOp::Xchg | RmwOp::Min | RmwOp::Max | RmwOp::UMin | RmwOp::UMax => None,
        }
    }

    /// The condition of a waiting load or update on this value; `None` if it divides by zero.
    fn waited_for(&self, code: &Code, wait: u32, value: u64) -> Option<u64> {
        code.waits[wait as usize - 1].cond.eval(code, self, value)
    }

    /// What follows a read whose value is in its register, and which has a condition if `wait` is not 0.
    fn end_of_wait(&self, code: &Code, wait: u32) -> Flow {
        if wait == 0 || !code.waits[wait as usize - 1].may_fail {
            return Flow::Next;
        }
        let value = self.regs[self.base() + code.waits[wait as usize - 1].dst.index()];
        match self.waited_for(code, wait, value) {
            Some(_) => Flow::Next,
            None => Flow::Rest(self.failed(Property::Arithmetic, "division by zero".into())),
        }
    }

    /// The thread did more than look: no turn of a loop is a mere look any more.
    fn has_acted(&mut self) {
        self.turns.clear();
        self.past.turns.clear();
    }

    /// Whether the pending operation, answered with `value`, is more than a look at memory.
    fn has_effect(&self, code: &Code, value: u64) -> bool {
        match self.status {
            Status::Ready(Visible::Update { .. }) => {
                matches!(self.reaction(code, value), Reaction::Write(_) | Reaction::Pick(_))
            }
            Status::Ready(Visible::Load { .. } | Visible::Fence { .. } | Visible::AtomicBegin | Visible::AtomicEnd) => {
                false
            }
            _ => true,
        }
    }

    /// The object that is at this position in the order in which the thread made its objects.
    #[inline]
    pub(crate) fn own_object(&self, position: u32) -> Addr {
        Addr::object(self.id, self.objects.number(position))
    }

    /// The address of a local object of the running function.
    pub(crate) fn local_address(&self, local: u32) -> Addr {
        let frame = self.frames.last().expect("a running thread has a frame");
        self.own_object(frame.first_object + local)
    }

    #[inline]
    pub(crate) fn slot(&self, slot: Slot) -> u64 {
        self.regs[self.base() + slot as usize]
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    #[inline]
    fn get(&self, code: &Code, operand: Operand) -> u64 {
        if operand.0 & Operand::CONSTANT != 0 { code.constant(operand) } else { self.slot(operand.0) }
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
}

impl Automaton for Thread {
    fn id(&self) -> ThreadId {
        self.id
    }

    fn status(&self) -> &Status {
        &self.status
    }

    fn message(&self) -> Option<Addr> {
        self.message
    }

    fn pc(&self) -> u32 {
        self.pc
    }

    fn object(&self, number: u32) -> Option<&ObjectInfo> {
        self.objects.get(number)
    }

    fn made(&self) -> u32 {
        self.objects.len()
    }

    fn position(&self, number: u32) -> Option<u32> {
        self.objects.place(number)
    }

    fn next_child(&self, code: &Code) -> Option<ThreadId> {
        code.numbering.child(self.id, self.children)
    }

    fn spawned(&self, code: &Code, child: ThreadId) -> Thread {
        let (Instr::Spawn { args, .. } | Instr::SpawnIndirect { args, .. }) = code.instrs[self.pc as usize] else {
            unreachable!("the thread rests at a spawn");
        };
        let Status::Ready(Visible::Spawn { function, mailbox }) = self.status else {
            unreachable!("the thread rests at a spawn");
        };
        let operands = &code.operands[args.start as usize..][..args.len as usize];
        let values: SmallVec<[u64; 4]> = operands.iter().map(|&arg| self.get(code, arg)).collect();
        Thread::start(code, child, function, &values, mailbox, self.past.log.is_some())
    }

    fn finds_unwritten(&self, code: &Code, found: u64) -> Option<u64> {
        let unwritten = match code.instrs[self.pc as usize] {
            Instr::Load { unwritten, .. } => unwritten,
            _ => Unwritten::Error,
        };
        self.forgives(code, unwritten, found)
    }

    fn reaction(&self, code: &Code, value: u64) -> Reaction {
        match code.instrs[self.pc as usize] {
            Instr::Load { wait: 0, .. } => Reaction::Read,
            // An update of memory that is the thread's own comes here, too, with the status of what the thread rested at before.
            Instr::Load { .. } | Instr::Sync { .. }
                if matches!(self.status, Status::Ready(Visible::Load { wait: false, .. })) =>
            {
                Reaction::Read
            }
            // A condition that fails is no reason to wait; the thread fails by it when it has its answer.
            Instr::Load { wait, ty, .. } => match self.waited_for(code, wait, ty.truncate(value)) {
                Some(0) => Reaction::Block,
                _ => Reaction::Read,
            },
            Instr::Rmw { op, ty, operand, idle, .. } => {
                let found = ty.truncate(value);
                let written = op.apply(ty, found, self.get(code, operand));
                if idle == 0 || written != found || self.waited_for(code, idle, found) != Some(0) {
                    Reaction::Write(written)
                } else if code.waits[idle as usize - 1].blocks {
                    Reaction::Block
                } else {
                    Reaction::Read
                }
            }
            Instr::Cas { cas } => {
                let cas = &code.cas[cas as usize];
                if cas.ty.truncate(value) == self.get(code, cas.expected) {
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

    fn picked(&self, value: u64, pick: u32) -> u64 {
        value & !sync::nth_bit(value, pick)
    }

    fn answer(&mut self, code: &Code, value: u64, pick: u32) {
        if code.has_spins && self.has_effect(code, value) {
            self.has_acted();
        }
        self.past.operations += 1;
        let flow = match code.instrs[self.pc as usize] {
            Instr::Load { dst, ty, wait, .. } => {
                let value = ty.fit(value);
                self.set(dst, value);
                if wait != 0 && self.waited_for(code, wait, value) == Some(0) {
                    self.not_found(code, wait, value, self.past.operations - 1)
                } else {
                    self.end_of_wait(code, wait)
                }
            }
            Instr::Rmw { dst, ty, idle, .. } => {
                self.set(dst, ty.truncate(value));
                self.end_of_wait(code, idle)
            }
            Instr::Cas { cas } => {
                let cas = &code.cas[cas as usize];
                self.set(cas.dst, cas.ty.truncate(value));
                Flow::Next
            }
            Instr::Store { .. } | Instr::Fence { .. } => Flow::Next,
            Instr::Input { dst, values, .. } => {
                self.set(dst, code.inputs[values as usize].value(value));
                Flow::Next
            }
            Instr::Choose { dst, low, .. } => {
                let low = self.get(code, low);
                self.set(dst, low + value);
                Flow::Next
            }
            Instr::Spawn { dst, .. } | Instr::SpawnIndirect { dst, .. } => {
                self.children += 1;
                self.set(dst, handle(ThreadId(value as u32)));
                Flow::Next
            }
            Instr::Join { dst, ty, .. } => {
                self.set(dst, ty.fit(value));
                Flow::Next
            }
            Instr::Free { .. } | Instr::Take => Flow::Next,
            Instr::AtomicBegin => {
                self.atomic += 1;
                self.past.block = self.past.operations - 1;
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

    fn fail(&mut self, property: impl Into<Option<Property>>, message: String) {
        let failure = Failure { property: property.into(), message, pc: self.pc, pending: true };
        self.status = Status::Failed(Box::new(failure));
    }

    fn fail_at(&mut self, property: Property, message: String, pc: u32) {
        self.status = Status::Failed(Box::new(Failure { property: Some(property), message, pc, pending: false }));
    }
}

/// The value of an operator; `None` for a division by zero. A pointer moves only as far as its object is long.
#[inline]
pub(crate) fn binary(op: BinOp, ty: Type, a: u64, b: u64) -> Option<u64> {
    match op.apply(ty, a, b) {
        Some(_) if ty == Type::Ptr && op == BinOp::Add => Some(Addr(a).moved(b as i64).0),
        value => value,
    }
}

/// Why no object can be made.
const NO_ROOM: &str = "the thread makes too many or too large objects for the space of addresses";

fn rest(visible: Visible) -> Flow {
    Flow::Rest(Status::Ready(visible))
}

/// The number by which programs know a thread.
fn handle(id: ThreadId) -> u64 {
    u64::from(id.0) + 1
}

/// Whether the operation takes a mutex whose only releases are its holder's.
fn takes_mutex(op: SyncOp, stage: u32) -> bool {
    matches!((op, stage), (SyncOp::Lock { .. } | SyncOp::TryLock { .. }, _) | (SyncOp::CondWait { .. }, 3))
}
