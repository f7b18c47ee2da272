//! The byte code: a program flattened into one array of instructions over numbered slots.
//!
//! Registers, temporaries of expressions and loop counters of a function are slots of its frame. An operand is a slot
//! or, with its highest bit set, a constant. Expressions become three-address instructions; control flow becomes
//! jumps to absolute positions.

use crate::address::{Addr, Owner};
use crate::compile::Forgiven;
use crate::condition::Condition;
use crate::narrow::Numbers;
use raddle_program::analysis::Inputs;
use raddle_program::{
    BinOp, CastOp, Draw, FuncId, Layout, Mailbox, Ordering, Reg, RmwOp, Shape, Shapes, SourceMap, Span, Type, UnOp,
    Unwritten,
};
use raddle_trace::{Numbering, Place, Property, ThreadId, ThreadName};
use std::sync::{Arc, OnceLock};

/// A slot of the current frame, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(pub u32);

impl Operand {
    /// The bit that tells constants from slots.
    pub const CONSTANT: u32 = 1 << 31;
    /// No operand.
    pub const NONE: Operand = Operand(u32::MAX);
}

/// A slot that receives a result; [`NO_SLOT`] if nobody wants it.
pub type Slot = u32;
/// Nobody wants the result.
pub const NO_SLOT: Slot = u32::MAX;

/// A position in the code.
pub type Pc = u32;

/// A run of entries in `Code::operands`.
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The first one.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are those of `raddle_program::Op` and `Term`, by their names there")]
pub enum Instr {
    Move {
        dst: Slot,
        src: Operand,
    },
    Un {
        op: UnOp,
        ty: Type,
        dst: Slot,
        a: Operand,
    },
    Bin {
        op: BinOp,
        ty: Type,
        dst: Slot,
        a: Operand,
        b: Operand,
    },
    Cast {
        op: CastOp,
        from: Type,
        to: Type,
        dst: Slot,
        a: Operand,
    },
    Select {
        dst: Slot,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    LocalAddr {
        dst: Slot,
        local: u32,
    },
    TlsAddr {
        dst: Slot,
        index: u32,
    },
    Load {
        dst: Slot,
        ty: Type,
        order: Ordering,
        addr: Operand,
        wait: u32,
        /// What it finds where nobody has written.
        unwritten: Unwritten,
    },
    Store {
        ty: Type,
        order: Ordering,
        addr: Operand,
        value: Operand,
    },
    Rmw {
        op: RmwOp,
        ty: Type,
        order: Ordering,
        dst: Slot,
        addr: Operand,
        operand: Operand,
        /// The condition of [`Idle`](raddle_program::Idle), from 1.
        idle: u32,
    },
    Cas {
        cas: u32,
    },
    Fence {
        order: Ordering,
    },
    Call {
        dst: Slot,
        func: FuncId,
        args: Args,
    },
    CallIndirect {
        dst: Slot,
        target: Operand,
        args: Args,
    },
    Spawn {
        dst: Slot,
        func: FuncId,
        args: Args,
        /// The looper that a message is posted to, or [`Operand::NONE`].
        mailbox: Operand,
    },
    SpawnIndirect {
        dst: Slot,
        target: Operand,
        args: Args,
        /// The looper that a message is posted to, or [`Operand::NONE`].
        mailbox: Operand,
    },
    Join {
        dst: Slot,
        ty: Type,
        thread: Operand,
    },
    ThreadId {
        dst: Slot,
    },
    Sync {
        op: SyncOp,
        dst: Slot,
        object: Operand,
        other: Operand,
    },
    Alloc {
        dst: Slot,
        size: Operand,
        zeroed: bool,
        private: bool,
        /// Of what belongs to a block, its name in `strings` plus one; 0 for the heap.
        scoped: u32,
        /// What its elements are made of, in `elements`, plus one; 0 if nobody knows.
        shape: u32,
    },
    Free {
        ptr: Operand,
        scoped: bool,
    },
    Assert {
        cond: Operand,
        message: u32,
    },
    Assume {
        cond: Operand,
    },
    Choose {
        dst: Slot,
        low: Operand,
        count: u32,
        /// If chance decides: the number of [`Code::draws`], from 1.
        draw: u32,
    },
    /// An unknown input: one of the values of [`Code::inputs`].
    Input {
        dst: Slot,
        values: u32,
        count: u32,
    },
    /// A looper takes a message, which runs the function that begins behind this.
    Take,
    AtomicBegin,
    AtomicEnd,
    Error {
        property: Property,
        message: u32,
    },
    Print {
        format: u32,
        args: Args,
    },
    Jump {
        to: Pc,
    },
    /// A turn of a loop begins: counted in `counter`, and the thread stops if there have been more than `bound`.
    Turn {
        counter: Slot,
        bound: u32,
    },
    Branch {
        cond: Operand,
        then: Pc,
        otherwise: Pc,
    },
    Switch {
        value: Operand,
        table: u32,
    },
    Return {
        value: Operand,
    },
    ExitThread {
        value: Operand,
    },
    Exit,
    /// Notes from `mark` on how the thread is when a turn of a loop begins: its operations, its effects, and these registers.
    MarkTurn {
        mark: Slot,
        kept: Args,
    },
    /// The end of that turn: the thread waits if it is as it was, and goes on otherwise.
    Spin {
        mark: Slot,
        kept: Args,
        to: Pc,
    },
    Unreachable,
}

/// Operations on synchronisation objects; see `thread` for what each does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of `raddle_program::Op` and `Term`, by their names there")]
pub enum SyncOp {
    Lock { recursive: bool },
    TryLock { recursive: bool },
    Unlock,
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    RwUnlock,
    CondWait { timed: bool },
    CondSignal,
    CondBroadcast,
    BarrierInit,
    BarrierWait,
    SemWait,
    SemTryWait,
    SemPost,
    Destroy { ty: Type },
}

/// A compare-exchange.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are those of `raddle_program::Op` and `Term`, by their names there")]
pub struct CasInfo {
    pub dst: Slot,
    pub ty: Type,
    pub addr: Operand,
    pub expected: Operand,
    pub desired: Operand,
    pub success: Ordering,
    pub failure: Ordering,
    pub wait: bool,
}

/// A condition on what a read finds.
#[derive(Clone, Debug)]
pub struct WaitInfo {
    /// The register that stands for what is found.
    pub dst: Reg,
    /// The condition.
    pub cond: Condition,
    /// The condition divides by something that may be zero.
    pub may_fail: bool,
    /// Whether the operation waits if the condition is false; otherwise it is a mere read.
    pub blocks: bool,
    /// Where this holds and the condition does not, an assumption would fail: the thread waits for nothing.
    pub assumed: Option<Condition>,
}

/// Where a switch goes.
#[derive(Clone, Debug)]
pub struct SwitchTable {
    /// For these values.
    pub cases: Vec<(u64, Pc)>,
    /// For others.
    pub default: Pc,
}

/// The values of an unknown input.
#[derive(Clone, Debug)]
pub struct InputInfo {
    /// Its type.
    pub ty: Type,
    /// Whether people read it with its sign.
    pub signed: bool,
    /// Those that are explored one by one, from the first to the second of each pair.
    pub ranges: Vec<(u64, u64)>,
    /// Those that are too many for that.
    pub rest: Vec<(u64, u64)>,
}

impl InputInfo {
    /// All values, in the order of the alternatives.
    fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().chain(&self.rest).copied()
    }

    pub(crate) fn value(&self, pick: u64) -> u64 {
        let mut left = pick;
        for (low, high) in self.all() {
            if left <= high - low {
                return low + left;
            }
            left -= high - low + 1;
        }
        unreachable!("an input has as many values as there are alternatives")
    }

    /// Which alternative this value is, if it is one and has a number.
    pub fn pick(&self, value: u64) -> Option<u32> {
        let mut before = 0;
        for (low, high) in self.all() {
            if (low..=high).contains(&value) {
                return u32::try_from(before + u128::from(value - low)).ok();
            }
            before += u128::from(high - low) + 1;
        }
        None
    }

    /// How many values there are.
    pub fn count(&self) -> u128 {
        self.all().map(|(low, high)| u128::from(high - low) + 1).sum()
    }
}

/// A compiled function.
#[derive(Clone, Debug)]
pub struct FuncCode {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub entry: Pc,
    /// How many slots its frame has.
    pub slots: u32,
    /// The types of its registers, which are the first slots.
    pub reg_types: Vec<Type>,
    /// How many of them are parameters.
    pub params: u32,
    /// Its local objects.
    pub locals: Vec<LocalCode>,
}

/// A local object.
#[derive(Clone, Debug)]
pub struct LocalCode {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u32,
    /// What its size and its alignment take.
    pub room: u32,
    /// No other thread can reach it.
    pub private: bool,
    /// What it holds at first; `None` if it is uninitialised.
    pub contents: Option<Vec<u8>>,
}

/// A global object.
#[derive(Clone, Debug)]
pub struct GlobalCode {
    /// Its name.
    pub name: String,
    /// What it consists of.
    pub layout: Layout,
    /// What it holds at first.
    pub bytes: Vec<u8>,
    /// Its number among the thread-local objects, if it is one.
    pub tls: Option<u32>,
    /// Thread-local, and no other thread can reach it.
    pub private: bool,
    /// Nobody can write it.
    pub constant: bool,
}

/// Errors that nobody looks for and that were met all the same: where first.
#[derive(Debug, Default)]
pub(crate) struct PassedOver {
    /// Something that was never written was taken for 0.
    zero: OnceLock<Pc>,
    /// A thread went no further.
    end: OnceLock<Pc>,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) instrs: Vec<Instr>,
    pub(crate) spans: Vec<Span>,
    pub(crate) constants: Vec<u64>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) cas: Vec<CasInfo>,
    pub(crate) waits: Vec<WaitInfo>,
    pub(crate) switches: Vec<SwitchTable>,
    pub(crate) strings: Vec<String>,
    pub(crate) inputs: Vec<InputInfo>,
    pub(crate) draws: Vec<Draw>,
    pub(crate) functions: Vec<FuncCode>,
    pub(crate) globals: Vec<GlobalCode>,
    /// The thread-local globals, by their number.
    pub(crate) tls: Vec<u32>,
    pub(crate) entry: FuncId,
    /// The program ends when the entry returns.
    pub(crate) entry_exits: bool,
    pub(crate) sources: SourceMap,
    /// What objects are made of.
    pub(crate) shapes: Shapes,
    /// What the elements of allocated objects are made of.
    pub(crate) elements: Vec<Arc<Shape>>,
    /// What is assumed of unknown inputs.
    pub(crate) assumed: Inputs,
    /// How often the body of a loop may be entered each time the loop is: the least bound of any.
    pub(crate) loop_bound: Option<u32>,
    /// Which errors do not end a thread.
    pub(crate) forgiven: Forgiven,
    /// What those who run this code have passed over.
    pub(crate) passed_over: Arc<PassedOver>,
    pub(crate) has_non_atomic: bool,
    /// Whether threads make objects that others reach, and there are accesses by which a pointer could come without what was done before.
    pub(crate) hides_making: bool,
    pub(crate) has_atomic_blocks: bool,
    pub(crate) has_mailboxes: bool,
    pub(crate) has_loops: bool,
    /// There are loops that may wait, so threads count their effects.
    pub(crate) has_spins: bool,
    /// Whether nobody can tell a thread that an assumption has stopped from one that has not loaded what led it there.
    pub(crate) forgets_loads: bool,
    /// The program's pointers have four bytes.
    pub(crate) narrow: bool,
    /// Their 32-bit numbers; `None` also if the global objects are too large for such.
    pub(crate) numbers: Option<Numbers>,
    /// How its threads are numbered.
    pub(crate) numbering: Numbering,
    /// Whether some wait for a thread may be for one that another order has not started.
    pub(crate) guesses_handles: bool,
    pub(crate) joins_by_main: bool,
}

impl Code {
    /// Where the instruction at `pc` comes from.
    pub fn span(&self, pc: u32) -> Span {
        self.spans[pc as usize]
    }

    /// Where the instruction at `pc` comes from, with the text of the line.
    pub fn place(&self, pc: u32) -> Place {
        self.source_place(self.span(pc))
    }

    /// A place in the source, with the text of the line.
    pub fn source_place(&self, span: Span) -> Place {
        Place {
            file: self.sources.name(span).into(),
            line: span.line,
            column: span.column,
            text: self.sources.line(span).unwrap_or("").trim().into(),
        }
    }

    /// The probabilities of what is chosen at `pc`, if chance decides there.
    pub fn draw(&self, pc: u32) -> Option<&Draw> {
        match self.instrs[pc as usize] {
            Instr::Choose { draw, count: 2.., .. } => Some(&self.draws[draw.checked_sub(1)? as usize]),
            _ => None,
        }
    }

    /// Whether chance decides anything.
    pub fn draws(&self) -> bool {
        !self.draws.is_empty()
    }

    /// The value of an unknown input by its number, if the instruction at `pc` asks for one.
    pub(crate) fn input(&self, pc: u32, pick: u32) -> Option<i64> {
        let Instr::Input { values, .. } = self.instrs[pc as usize] else { return None };
        let info = &self.inputs[values as usize];
        let value = info.value(u64::from(pick));
        Some(if info.signed { info.ty.signed(value) } else { value as i64 })
    }

    /// Whether this is an alternative of an unknown input at `pc`, be it one that is explored or not.
    pub(crate) fn is_input(&self, pc: u32, pick: u32) -> bool {
        match self.instrs[pc as usize] {
            Instr::Input { values, .. } => u128::from(pick) < self.inputs[values as usize].count(),
            _ => false,
        }
    }

    /// What is assumed of unknown inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.assumed
    }

    /// Whether some ordinary access may race.
    pub fn has_non_atomic(&self) -> bool {
        self.has_non_atomic
    }

    /// Whether data races are possible at all: somebody accesses memory without being atomic, or may reach what a thread has made without knowing
    /// that it was made.
    pub fn may_race(&self) -> bool {
        self.has_non_atomic || self.hides_making
    }

    /// Whether there are loops.
    pub fn has_loops(&self) -> bool {
        self.has_loops
    }

    /// Whether anybody waits at a barrier.
    pub fn has_barriers(&self) -> bool {
        self.instrs.iter().any(|instr| matches!(instr, Instr::Sync { op: SyncOp::BarrierWait, .. }))
    }

    /// Whether threads synchronise by seq_cst accesses, seq_cst fences and mutexes alone, as far as ordinary accesses do not race. Two operations on a mutex are
    /// always ordered; somebody who only tries to lock it, or shares a lock, breaks that.
    pub fn is_seq_cst(&self) -> bool {
        let strong = |order: Ordering| matches!(order, Ordering::NonAtomic | Ordering::SeqCst);
        self.instrs.iter().all(|instr| match *instr {
            Instr::Load { order, .. } | Instr::Store { order, .. } | Instr::Rmw { order, .. } => strong(order),
            Instr::Cas { cas } => {
                let CasInfo { success, failure, .. } = self.cas[cas as usize];
                strong(success) && strong(failure)
            }
            Instr::Fence { order } => order == Ordering::SeqCst,
            Instr::Sync { op, .. } => matches!(op, SyncOp::Lock { recursive: false } | SyncOp::Unlock),
            _ => true,
        })
    }

    /// An instruction by which what another thread wrote can be learnt without coming after what that thread did before: an atomic access weaker than acquire or
    /// release, or an attempt to take a lock, which may fail because of somebody with whom that does not synchronise.
    pub fn weak_synchronisation(&self) -> Option<u32> {
        let strong = |order: Ordering| order.acquires() && order.releases();
        let is_weak = |instr: &Instr| match *instr {
            Instr::Load { order, .. } => order != Ordering::NonAtomic && !order.acquires(),
            Instr::Store { order, .. } => order != Ordering::NonAtomic && !order.releases(),
            Instr::Rmw { order, .. } => !strong(order),
            Instr::Cas { cas } => {
                let CasInfo { success, failure, .. } = self.cas[cas as usize];
                !strong(success) || !failure.acquires()
            }
            Instr::Sync { op, .. } => {
                matches!(op, SyncOp::TryLock { .. } | SyncOp::TryReadLock | SyncOp::TryWriteLock)
            }
            _ => false,
        };
        self.instrs.iter().position(is_weak).map(|pc| pc as u32)
    }

    /// Whether the address lies in a global object that nobody can write.
    pub fn is_constant(&self, addr: Addr) -> bool {
        match addr.owner() {
            Owner::Global(id) => self.globals.get(id.index()).is_some_and(|global| global.constant),
            _ => false,
        }
    }

    /// How many loops are around an instruction.
    pub fn loop_depth(&self, pc: u32) -> u32 {
        let mut heads: Vec<Pc> = Vec::new();
        for (from, instr) in (0..).zip(&self.instrs) {
            let mut jump = |to: Pc| {
                if to <= pc && pc <= from && !heads.contains(&to) {
                    heads.push(to);
                }
            };
            match *instr {
                Instr::Jump { to } | Instr::Spin { to, .. } => jump(to),
                Instr::Branch { then, otherwise, .. } => [then, otherwise].into_iter().for_each(jump),
                Instr::Switch { table, .. } => {
                    let table = &self.switches[table as usize];
                    table.cases.iter().map(|case| case.1).chain([table.default]).for_each(jump);
                }
                _ => {}
            }
        }
        heads.len() as u32
    }

    /// The fences, full or not.
    pub fn fences(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.instrs).filter(|(_, instr)| matches!(instr, Instr::Fence { .. })).map(|(pc, _)| pc)
    }

    /// Whether a turn of some loop may end in waiting, other than by one operation that waits.
    pub fn has_spins(&self) -> bool {
        self.instrs.iter().any(|instr| matches!(instr, Instr::Spin { .. }))
    }

    /// Whether a thread that is stopped by an assumption is where it was before the loads that led it there: nobody can tell.
    pub fn forgets_loads(&self) -> bool {
        self.forgets_loads
    }

    /// Whether the instruction is a load of the program, and no part of an operation on an object.
    pub fn is_load(&self, pc: u32) -> bool {
        matches!(self.instrs[pc as usize], Instr::Load { .. })
    }

    /// Whether messages are posted.
    pub fn has_mailboxes(&self) -> bool {
        self.has_mailboxes
    }

    /// Where the first message is posted.
    pub fn first_post(&self) -> Option<Place> {
        let posts = |instr: &Instr| match *instr {
            Instr::Spawn { mailbox, .. } | Instr::SpawnIndirect { mailbox, .. } => mailbox != Operand::NONE,
            _ => false,
        };
        let at = self.instrs.iter().position(posts)?;
        Some(self.place(at as Pc))
    }

    /// The mailbox of the looper at this address; `None` if there is no looper.
    pub fn mailbox(&self, addr: Addr) -> Option<Mailbox> {
        let Owner::Global(id) = addr.owner() else { return None };
        let object = self.globals.get(id.index()).filter(|object| object.constant && object.tls.is_none())?;
        let start = addr.offset() as usize;
        let word = object.bytes.get(start..start.checked_add(4)?).filter(|_| start.is_multiple_of(4))?;
        let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
        Mailbox::ALL.into_iter().find(|mailbox| mailbox.word() == word)
    }

    /// Whether there are atomic blocks.
    pub fn has_atomic_blocks(&self) -> bool {
        self.has_atomic_blocks
    }

    /// How its threads are numbered.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Whether a thread may wait for one whose handle it was not given, so that it may depend on the order of threads whether that one has been started.
    pub fn guesses_handles(&self) -> bool {
        self.guesses_handles
    }

    /// Whether nobody but the first thread waits for another one to end.
    pub fn joins_by_main(&self) -> bool {
        self.joins_by_main
    }

    /// The name of a thread.
    ///
    /// # Panics
    /// If there is no such thread in any run.
    pub fn name(&self, thread: ThreadId) -> ThreadName {
        self.numbering.name(thread).expect("a thread has a name")
    }

    /// How often the body of a loop may be entered each time the loop is: the least bound of any.
    pub fn loop_bound(&self) -> Option<u32> {
        self.loop_bound
    }

    /// Takes what was never written for 0, if that is to be done, and notes where.
    pub(crate) fn takes_for_zero(&self, pc: Pc) -> bool {
        if self.forgiven.unwritten {
            self.take_for_zero(pc);
        }
        self.forgiven.unwritten
    }

    /// Notes that something that was never written was taken for 0 here.
    pub fn take_for_zero(&self, pc: Pc) {
        self.passed_over.zero.get_or_init(|| pc);
    }

    /// Where something that was never written was taken for 0, if somewhere, by anybody who has run this code: what follows from other values is
    /// not known.
    pub fn taken_for_zero(&self) -> Option<Place> {
        self.passed_over.zero.get().map(|&pc| self.place(pc))
    }

    /// Notes that a thread has ended here at an error that is not looked for.
    pub fn disregard(&self, pc: u32) {
        self.passed_over.end.get_or_init(|| pc);
    }

    /// Where a thread has first ended at an error that is not looked for.
    pub fn disregarded(&self) -> Option<Place> {
        self.passed_over.end.get().map(|&pc| self.place(pc))
    }

    /// The name of a function; of one that only does something at the end of a thread, that of what the thread runs.
    pub fn function_name(&self, id: FuncId) -> &str {
        let name = &self.functions[id.index()].name;
        name.split_once(raddle_program::THREAD_SUFFIX).map_or(name, |(name, _)| name)
    }

    /// The start, size and initial bytes of every global object that threads share.
    pub fn shared_globals(&self) -> impl Iterator<Item = (Addr, &[u8])> {
        self.globals
            .iter()
            .enumerate()
            .filter(|(_, global)| global.tls.is_none())
            .map(|(index, global)| (Addr::global(raddle_program::GlobalId(index as u32)), global.bytes.as_slice()))
    }

    /// The start of every global object that threads share, and what it is.
    pub fn named_globals(&self) -> impl Iterator<Item = (Addr, &GlobalCode)> {
        let shared = self.globals.iter().enumerate().filter(|(_, global)| global.tls.is_none());
        shared.map(|(index, global)| (Addr::global(raddle_program::GlobalId(index as u32)), global))
    }

    /// What a cast gives; `None` if it makes a 32-bit number and the program's objects are too large for such.
    pub(crate) fn cast(&self, op: CastOp, from: Type, to: Type, value: u64) -> Option<u64> {
        op.apply(from, to, value).or_else(|| {
            let numbers = self.numbers.as_ref()?;
            Some(match op {
                CastOp::Pack => u64::from(numbers.pack(Addr(value))),
                _ => numbers.unpack(value as u32).0,
            })
        })
    }

    /// The registers that a turn of a loop must leave as they are to be a mere wait.
    pub(crate) fn kept(&self, registers: Args) -> impl Iterator<Item = Operand> + '_ {
        self.operands[registers.start as usize..][..registers.len as usize].iter().copied()
    }

    pub(crate) fn constant(&self, operand: Operand) -> u64 {
        self.constants[(operand.0 & !Operand::CONSTANT) as usize]
    }
}
