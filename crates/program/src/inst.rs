//! Instructions and terminators.
//!
//! Synchronisation objects (mutexes, reader-writer locks, condition variables, barriers, semaphores) are
//! memory of a fixed size and meaning, so that a C struct can contain one; see [`Layout`](crate::Layout)
//! for sizes. All-zero bytes are a valid, idle object of every kind but the barrier, which needs its count.

use crate::Ordering;
use crate::expr::Expr;
use crate::partial::Field;
use crate::program::{BlockId, FuncId, Reg};
use crate::source::Span;
use crate::types::Type;

/// A basic block: instructions without control flow, then one terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Whether entering it begins a turn of a loop: the body of the smallest loop around it starts here. A loop without such
    /// a block begins its turns at its head.
    pub turn: Option<Turn>,
    /// What is executed in order.
    pub insts: Vec<Inst>,
    /// Where it goes then.
    pub term: Terminator,
}

/// What a load finds in memory that was never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unwritten {
    /// It must not look there.
    #[default]
    Error,
    /// Zero: somebody looks at a part of what it finds only.
    Zero,
    /// [`NO_VALUE`](crate::NO_VALUE), or what stands for [a value in part](crate::partial): it is moved on as a part of something larger, which C allows, and
    /// where it gets to, memory counts as never written.
    Kept,
    /// It must not look at this field; whatever lies around it is zero.
    Field(Field),
}

/// The beginning of a turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Where the loop stands.
    pub span: Span,
    /// The loop is the front end's own (it copies an array, say, or is part of a library function): it always ends, and no
    /// bound applies to it.
    pub unbounded: bool,
}

/// An instruction and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The source it came from.
    pub span: Span,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// `dst = value`. Invisible.
    Assign {
        /// Target.
        dst: Reg,
        /// Of the target's type.
        value: Expr,
    },
    /// Reads memory.
    Load {
        /// Target; its type is the access type. `None` reads and forgets.
        dst: Option<Reg>,
        /// Type of the access.
        ty: Type,
        /// Address.
        addr: Expr,
        /// Ordering; not release.
        order: Ordering,
        /// A wait: the load is repeated until this condition (an `i1` over registers, with `dst` standing for the
        /// value just read) holds; only the last, successful turn is an event. `dst` must be present.
        until: Option<Expr>,
        /// What it finds where nobody has written.
        unwritten: Unwritten,
    },
    /// Writes memory.
    Store {
        /// Type of the access.
        ty: Type,
        /// Address.
        addr: Expr,
        /// Of type `ty`.
        value: Expr,
        /// Ordering; not acquire.
        order: Ordering,
    },
    /// Atomic read-modify-write: `dst = *addr; *addr = dst op operand`.
    Rmw {
        /// Receives the old value.
        dst: Option<Reg>,
        /// Which operation.
        op: RmwOp,
        /// Type of the access.
        ty: Type,
        /// Address.
        addr: Expr,
        /// Of type `ty`.
        operand: Expr,
        /// Ordering; atomic.
        order: Ordering,
        /// When the operation may do less, because it would leave memory as it is; `dst` must be present then.
        idle: Option<Idle>,
    },
    /// Compare-exchange: `dst = *addr; if dst == expected { *addr = desired }`.
    Cas {
        /// Receives the old value.
        dst: Option<Reg>,
        /// Type of the access.
        ty: Type,
        /// Address.
        addr: Expr,
        /// What must be there.
        expected: Expr,
        /// What is put there.
        desired: Expr,
        /// Ordering if it succeeds.
        success: Ordering,
        /// Ordering if it fails (it is a read then).
        failure: Ordering,
        /// A wait: repeated until it succeeds; failed turns are not events.
        wait: bool,
    },
    /// A fence; `Relaxed` and `NonAtomic` are no-ops.
    Fence {
        /// Ordering.
        order: Ordering,
    },
    /// Calls a function.
    Call {
        /// Receives the result.
        dst: Option<Reg>,
        /// Whom.
        callee: Callee,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// Starts a thread, or posts a message: the function is then run by a looper, when it takes the message out of its mailbox.
    Spawn {
        /// Receives the thread's handle (`i64`); a message has none.
        dst: Option<Reg>,
        /// What it runs.
        callee: Callee,
        /// Its arguments.
        args: Vec<Expr>,
        /// The address of the looper.
        mailbox: Option<Expr>,
    },
    /// Waits for a thread to end. Joining something that is no thread, or one already joined, is an error.
    Join {
        /// Receives what the thread's function returned; 0 if nothing. Converted to the register's width.
        dst: Option<Reg>,
        /// The handle (`i64`).
        thread: Expr,
    },
    /// The handle of the running thread.
    ThreadId {
        /// Receives the handle (`i64`).
        dst: Reg,
    },
    /// Acquires a mutex; waits while it is held. Relocking one's own is an error unless `recursive`.
    Lock {
        /// Address of the mutex.
        mutex: Expr,
        /// Whether the owner may take it again.
        recursive: bool,
    },
    /// Acquires a mutex if it is free.
    TryLock {
        /// Receives 1 if acquired, else 0 (`i1`).
        dst: Option<Reg>,
        /// Address of the mutex.
        mutex: Expr,
        /// Whether the owner may take it again.
        recursive: bool,
    },
    /// Releases a mutex (undoes one acquisition of a recursive one). Error if the thread does not hold it.
    Unlock {
        /// Address of the mutex.
        mutex: Expr,
    },
    /// Acquires a reader-writer lock for reading; waits for a writer.
    ReadLock {
        /// Address.
        lock: Expr,
    },
    /// Acquires a reader-writer lock for writing; waits for everybody.
    WriteLock {
        /// Address.
        lock: Expr,
    },
    /// Tries to acquire a reader-writer lock.
    TryRwLock {
        /// Receives 1 if acquired, else 0 (`i1`).
        dst: Option<Reg>,
        /// Address.
        lock: Expr,
        /// For writing rather than reading.
        write: bool,
    },
    /// Releases a reader-writer lock. Error if the thread does not hold it.
    RwUnlock {
        /// Address.
        lock: Expr,
    },
    /// Releases the mutex, waits to be signalled, takes the mutex again. Error if the mutex is not held.
    CondWait {
        /// Address of the condition variable.
        cond: Expr,
        /// Address of the mutex.
        mutex: Expr,
        /// Somebody else has a way on for the case that nobody ever wakes the thread (time is up): then it goes no further, as if by a failed
        /// assumption, and it is no deadlock.
        timed: bool,
    },
    /// Wakes one waiter, any one, if there is one.
    CondSignal {
        /// Address of the condition variable.
        cond: Expr,
    },
    /// Wakes all waiters.
    CondBroadcast {
        /// Address of the condition variable.
        cond: Expr,
    },
    /// Makes a barrier for `count` threads.
    BarrierInit {
        /// Address of the barrier.
        barrier: Expr,
        /// How many threads meet (`i32`); 0 is an error.
        count: Expr,
    },
    /// Waits until as many threads as the barrier is for have arrived.
    BarrierWait {
        /// Receives 1 in the thread that arrived last, else 0 (`i1`).
        dst: Option<Reg>,
        /// Address of the barrier.
        barrier: Expr,
    },
    /// Waits until the semaphore is positive, and takes one.
    SemWait {
        /// Address of the semaphore (an `i32` count).
        sem: Expr,
    },
    /// Takes one if the semaphore is positive.
    SemTryWait {
        /// Receives 1 if taken, else 0 (`i1`).
        dst: Option<Reg>,
        /// Address of the semaphore.
        sem: Expr,
    },
    /// Adds one to the semaphore.
    SemPost {
        /// Address of the semaphore.
        sem: Expr,
    },
    /// Ends the life of a synchronisation object: later use is an error, and so is destroying a mutex that is held.
    SyncDestroy {
        /// Address.
        object: Expr,
        /// `i32` or `i64`, by the size of the object.
        ty: Type,
    },
    /// Makes an object. Its bytes are uninitialised unless `zeroed`. Size 0 is allowed.
    Alloc {
        /// Receives the address.
        dst: Reg,
        /// Size in bytes (`i64`).
        size: Expr,
        /// Whether it starts as zeros.
        zeroed: bool,
        /// It belongs to a block of the program and not to the heap: a variable of a block, an array of variable length. Its name is that of the target.
        scoped: bool,
    },
    /// Ends the life of an object that [`Op::Alloc`] has made. Null is ignored; anything but the start of a live one is an error.
    Free {
        /// Address.
        ptr: Expr,
        /// Whether it is one that belongs to a block.
        scoped: bool,
    },
    /// Ends the execution in violation if the condition is false.
    Assert {
        /// Condition (`i1`).
        cond: Expr,
        /// What the report says.
        message: String,
    },
    /// The thread goes no further if the condition is false.
    Assume {
        /// Condition (`i1`).
        cond: Expr,
    },
    /// Any of the values `low..=high` (unsigned); each is explored. At most 2^16 values.
    Choose {
        /// Receives the value.
        dst: Reg,
        /// Least value.
        low: u64,
        /// Greatest value.
        high: u64,
        /// If chance decides and not whoever one has to be prepared for: with which probabilities. That makes a difference to runs that never end; everybody else takes it for a choice.
        draw: Option<Draw>,
    },
    /// Any value of the register's type, which is neither `i1` nor `ptr`: an input of the program that is not known. [`analysis::inputs`](crate::analysis::inputs)
    /// finds out which values have to be explored.
    Input {
        /// Receives the value.
        dst: Reg,
        /// Whether people read the value with its sign.
        signed: bool,
        /// The values that are explored, from the first to the second of each pair (unsigned); at most 2^16 in all. `None`
        /// while nobody has said which.
        values: Option<Vec<(u64, u64)>>,
    },
    /// Until the matching end the thread is not interleaved with others.
    AtomicBegin,
    /// Ends an atomic block. Blocks do not nest in one activation, but a function called inside may hold one.
    AtomicEnd,
    /// Reaching this is a violation.
    Error {
        /// Of what.
        kind: ErrorKind,
        /// What the report says.
        message: String,
    },
    /// Text for the person who replays the execution: `{}` stands for the next argument, as a signed number,
    /// and `{:08x}` and the like for one in another form. Invisible.
    Print {
        /// The text.
        format: String,
        /// The arguments.
        args: Vec<Expr>,
    },
}

/// Which property an [`Op::Error`] violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The program says itself that it must not come here.
    Mark,
    /// Memory is misused.
    Memory,
    /// A lock, a thread handle or something like that is misused.
    Lock,
    /// An operation on numbers has no result.
    Arithmetic,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [ErrorKind; 4] = [ErrorKind::Mark, ErrorKind::Memory, ErrorKind::Lock, ErrorKind::Arithmetic];

    /// The word in the text form, if one is needed.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            ErrorKind::Mark => None,
            ErrorKind::Memory => Some("memory"),
            ErrorKind::Lock => Some("lock"),
            ErrorKind::Arithmetic => Some("arithmetic"),
        }
    }
}

/// What a read-modify-write does instead of writing back the very value that it found, unless a condition holds. Made by
/// the spin-loop analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// An `i1` over registers, with the target standing for the value found. If it holds, the operation writes.
    pub until: Expr,
    /// Whether the operation waits for another value; otherwise it is a mere read.
    pub wait: bool,
}

/// The operands of an instruction, for a reference that may or may not change them.
macro_rules! each_operand {
    ($op:expr, $visit:ident, $iter:ident) => {
        match $op {
            Op::Assign { value, .. } => $visit(value),
            Op::Load { addr, .. } => $visit(addr),
            Op::Store { addr, value, .. } => {
                $visit(addr);
                $visit(value);
            }
            Op::Rmw { addr, operand, .. } => {
                $visit(addr);
                $visit(operand);
            }
            Op::Cas { addr, expected, desired, .. } => {
                $visit(addr);
                $visit(expected);
                $visit(desired);
            }
            Op::Spawn { callee, args, mailbox, .. } => {
                if let Callee::Indirect(target) = callee {
                    $visit(target);
                }
                args.$iter().for_each(&mut $visit);
                mailbox.$iter().for_each($visit);
            }
            Op::Call { callee, args, .. } => {
                if let Callee::Indirect(target) = callee {
                    $visit(target);
                }
                args.$iter().for_each($visit);
            }
            Op::Join { thread, .. } => $visit(thread),
            Op::Lock { mutex, .. } | Op::TryLock { mutex, .. } | Op::Unlock { mutex } => $visit(mutex),
            Op::ReadLock { lock } | Op::WriteLock { lock } | Op::RwUnlock { lock } | Op::TryRwLock { lock, .. } => {
                $visit(lock);
            }
            Op::CondWait { cond, mutex, .. } => {
                $visit(cond);
                $visit(mutex);
            }
            Op::CondSignal { cond } | Op::CondBroadcast { cond } => $visit(cond),
            Op::BarrierInit { barrier, count } => {
                $visit(barrier);
                $visit(count);
            }
            Op::BarrierWait { barrier, .. } => $visit(barrier),
            Op::SemWait { sem } | Op::SemTryWait { sem, .. } | Op::SemPost { sem } => $visit(sem),
            Op::SyncDestroy { object, .. } => $visit(object),
            Op::Alloc { size, .. } => $visit(size),
            Op::Free { ptr, .. } => $visit(ptr),
            Op::Assert { cond, .. } | Op::Assume { cond } => $visit(cond),
            Op::Print { args, .. } => args.$iter().for_each($visit),
            Op::Fence { .. }
            | Op::ThreadId { .. }
            | Op::Choose { .. }
            | Op::Input { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Error { .. } => {}
        }
    };
}

/// The register an instruction writes, for a reference that may or may not change it: one that is always there, or one that may
/// be left out.
macro_rules! written {
    ($op:expr, |$always:ident| $one:expr, |$maybe:ident| $other:expr) => {
        match $op {
            Op::Assign { dst: $always, .. }
            | Op::ThreadId { dst: $always }
            | Op::Alloc { dst: $always, .. }
            | Op::Choose { dst: $always, .. }
            | Op::Input { dst: $always, .. } => $one,
            Op::Load { dst: $maybe, .. }
            | Op::Rmw { dst: $maybe, .. }
            | Op::Cas { dst: $maybe, .. }
            | Op::Call { dst: $maybe, .. }
            | Op::Spawn { dst: $maybe, .. }
            | Op::Join { dst: $maybe, .. }
            | Op::TryLock { dst: $maybe, .. }
            | Op::TryRwLock { dst: $maybe, .. }
            | Op::BarrierWait { dst: $maybe, .. }
            | Op::SemTryWait { dst: $maybe, .. } => $other,
            _ => None,
        }
    };
}

impl Op {
    /// The register this instruction writes.
    pub fn dst(&self) -> Option<Reg> {
        written!(self, |dst| Some(*dst), |dst| *dst)
    }

    pub(crate) fn dst_mut(&mut self) -> Option<&mut Reg> {
        written!(self, |dst| Some(dst), |dst| dst.as_mut())
    }

    /// Replaces each register the instruction mentions.
    pub fn map_registers(&mut self, map: &impl Fn(Reg) -> Reg) {
        self.for_each_operand_mut(|operand| operand.map_registers(map));
        match self {
            Op::Load { until: Some(cond), .. } | Op::Rmw { idle: Some(Idle { until: cond, .. }), .. } => {
                cond.map_registers(map);
            }
            _ => {}
        }
        if let Some(dst) = self.dst_mut() {
            *dst = map(*dst);
        }
    }

    /// The condition on the value it reads, if there is one.
    pub fn condition(&self) -> Option<&Expr> {
        match self {
            Op::Load { until, .. } => until.as_ref(),
            Op::Rmw { idle, .. } => idle.as_ref().map(|idle| &idle.until),
            _ => None,
        }
    }

    /// Whether it is an operation on a synchronisation object.
    pub fn synchronises(&self) -> bool {
        matches!(
            self,
            Op::Lock { .. }
                | Op::TryLock { .. }
                | Op::Unlock { .. }
                | Op::ReadLock { .. }
                | Op::WriteLock { .. }
                | Op::TryRwLock { .. }
                | Op::RwUnlock { .. }
                | Op::CondWait { .. }
                | Op::CondSignal { .. }
                | Op::CondBroadcast { .. }
                | Op::BarrierInit { .. }
                | Op::BarrierWait { .. }
                | Op::SemWait { .. }
                | Op::SemTryWait { .. }
                | Op::SemPost { .. }
                | Op::SyncDestroy { .. }
        )
    }

    /// Calls `visit` on each expression that is evaluated before the instruction acts. The condition on the value
    /// read is not among them (see [`Op::condition`]).
    pub fn for_each_operand<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        each_operand!(self, visit, iter);
    }

    /// As [`Op::for_each_operand`], to change them.
    pub fn for_each_operand_mut(&mut self, mut visit: impl FnMut(&mut Expr)) {
        each_operand!(self, visit, iter_mut);
    }
}

/// Which function is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// This one.
    Direct(FuncId),
    /// The one whose address this is; calling anything else is an error of the program under test.
    Indirect(Expr),
}

/// Operations of [`Op::Rmw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Complement of bitwise and.
    Nand,
    /// Exchange.
    Xchg,
    /// Signed minimum.
    Min,
    /// Signed maximum.
    Max,
    /// Unsigned minimum.
    UMin,
    /// Unsigned maximum.
    UMax,
}

impl RmwOp {
    /// Every operation.
    pub const ALL: [RmwOp; 11] = [
        RmwOp::Add,
        RmwOp::Sub,
        RmwOp::And,
        RmwOp::Or,
        RmwOp::Xor,
        RmwOp::Nand,
        RmwOp::Xchg,
        RmwOp::Min,
        RmwOp::Max,
        RmwOp::UMin,
        RmwOp::UMax,
    ];

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            RmwOp::Add => "add",
            RmwOp::Sub => "sub",
            RmwOp::And => "and",
            RmwOp::Or => "or",
            RmwOp::Xor => "xor",
            RmwOp::Nand => "nand",
            RmwOp::Xchg => "xchg",
            RmwOp::Min => "min",
            RmwOp::Max => "max",
            RmwOp::UMin => "umin",
            RmwOp::UMax => "umax",
        }
    }

    /// What is written when `old` is there.
    pub fn apply(self, ty: Type, old: u64, operand: u64) -> u64 {
        let (so, sp) = (ty.signed(old), ty.signed(operand));
        ty.truncate(match self {
            RmwOp::Add => old.wrapping_add(operand),
            RmwOp::Sub => old.wrapping_sub(operand),
            RmwOp::And => old & operand,
            RmwOp::Or => old | operand,
            RmwOp::Xor => old ^ operand,
            RmwOp::Nand => !(old & operand),
            RmwOp::Xchg => operand,
            RmwOp::Min => so.min(sp) as u64,
            RmwOp::Max => so.max(sp) as u64,
            RmwOp::UMin => old.min(operand),
            RmwOp::UMax => old.max(operand),
        })
    }
}

/// How a block ends, and where that came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminator {
    /// What happens.
    pub kind: Term,
    /// The source it came from.
    pub span: Span,
}

/// What happens at the end of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Continue there.
    Goto(BlockId),
    /// Continue at the first if the condition (`i1`) holds, else at the second.
    If(Expr, BlockId, BlockId),
    /// Continue at the block beside the value, or at the last one.
    Switch(Expr, Vec<(u64, BlockId)>, BlockId),
    /// Leave the function.
    Return(Option<Expr>),
    /// End the running thread from any depth of calls; the value is what a join receives.
    ExitThread(Option<Expr>),
    /// End the whole program, successfully, whatever other threads are doing.
    Exit,
    /// The end of a turn of the loop with this head. If the turn had no effect (it wrote nothing, and what it leaves in registers that
    /// are live at the head is what was there), the thread waits here until another turn could go differently; otherwise it
    /// continues at the head. Made by the spin-loop analysis.
    Spin(BlockId),
    /// Control never comes here; if it does that is an internal error of the front end.
    Unreachable,
}

impl Term {
    /// Calls `visit` on each block control may go to.
    pub fn for_each_target(&self, mut visit: impl FnMut(BlockId)) {
        match self {
            Term::Goto(target) | Term::Spin(target) => visit(*target),
            Term::If(_, a, b) => {
                visit(*a);
                visit(*b);
            }
            Term::Switch(_, cases, default) => {
                cases.iter().for_each(|&(_, target)| visit(target));
                visit(*default);
            }
            Term::Return(_) | Term::ExitThread(_) | Term::Exit | Term::Unreachable => {}
        }
    }

    /// Replaces each register the terminator mentions.
    pub fn map_registers(&mut self, map: &impl Fn(Reg) -> Reg) {
        match self {
            Term::If(value, ..)
            | Term::Switch(value, ..)
            | Term::Return(Some(value))
            | Term::ExitThread(Some(value)) => {
                value.map_registers(map);
            }
            _ => {}
        }
    }

    /// Replaces each block control may go to.
    pub fn map_targets(&mut self, mut map: impl FnMut(BlockId) -> BlockId) {
        match self {
            Term::Goto(target) | Term::Spin(target) => *target = map(*target),
            Term::If(_, a, b) => {
                *a = map(*a);
                *b = map(*b);
            }
            Term::Switch(_, cases, default) => {
                cases.iter_mut().for_each(|(_, target)| *target = map(*target));
                *default = map(*default);
            }
            Term::Return(_) | Term::ExitThread(_) | Term::Exit | Term::Unreachable => {}
        }
    }
}

/// The probabilities of the values of a choice, all of them above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// The same for each.
    Evenly,
    /// In proportion to these, one for each value.
    Weighted(Vec<u32>),
}

impl Draw {
    /// The greatest weight.
    pub const MOST: u32 = 1_000_000;

    /// The weight of a value, by its place among them.
    pub fn weight(&self, place: usize) -> u32 {
        match self {
            Draw::Evenly => 1,
            Draw::Weighted(weights) => weights[place],
        }
    }
}
