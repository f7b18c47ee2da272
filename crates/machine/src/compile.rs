//! From the program representation to byte code.
//!
//! Each function gets its registers as the first slots of the frame, then temporaries (shared by all expressions,
//! since none outlives its instruction), then one counter per loop head. The counter of a loop with a bound is cleared on the
//! edges that enter the loop and counted where its body begins; other loops have code for neither. What is noted of turns is in `turns`.

mod turns;

use crate::address::Addr;
use crate::code::{
    Args, CasInfo, Code, FuncCode, GlobalCode, InputInfo, Instr, LocalCode, NO_SLOT, Operand, Pc, Slot, SwitchTable,
    SyncOp, WaitInfo,
};
use crate::condition::Condition;
use crate::handles::{guesses_handles, joins_by_main};
use crate::narrow::Numbers;
use crate::nesting::numbering;
use raddle_program::analysis::{LoopBounds, assumed};
use raddle_program::{
    BinOp, Block, BlockId, Callee, ErrorKind, Expr, FuncId, Function, GlobalId, InitValue, Layout, Op, Ordering,
    Program, Reg, Shapes, Span, Term, Type,
};
use raddle_trace::Property;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use turns::LoopEdges;

/// What the compiler is told beside the program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How often the body of a loop may be entered each time the loop is; a thread that enters it once more stops.
    pub loop_bounds: LoopBounds,
    /// Whether loads that lead straight into an assumption take only values that pass it, and are forgotten where it stops their thread.
    pub early_assumptions: bool,
    /// Which errors do not end a thread.
    pub forgiven: Forgiven,
}

/// Errors that nobody looks for, and behind which there is a way on: a thread that makes one goes that way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgiven {
    /// What was never written is read: it is 0, and [`Code::taken_for_zero`] tells that it was taken for that.
    pub unwritten: bool,
    /// A lock is released that is not held: that does nothing. One that is held or waited at is destroyed: it is destroyed.
    pub locks: bool,
}

/// Which objects no other thread can reach; accesses to them are invisible.
pub trait Privacy {
    /// Whether the local object is out of reach of other threads.
    fn local(&self, function: FuncId, local: u32) -> bool;
    /// Whether what this allocation makes is out of reach of other threads.
    fn alloc(&self, function: FuncId, block: BlockId, inst: usize) -> bool;
    /// Whether the thread-local object is out of reach of other threads.
    fn thread_local(&self, global: GlobalId) -> bool;
}

/// Nothing is known to be out of reach.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllShared;

impl Privacy for AllShared {
    fn local(&self, _: FuncId, _: u32) -> bool {
        false
    }
    fn alloc(&self, _: FuncId, _: BlockId, _: usize) -> bool {
        false
    }
    fn thread_local(&self, _: GlobalId) -> bool {
        false
    }
}

/// Compiles a validated program. Panics on one that is not valid, or of which it is not decided which values of its unknown inputs
/// are explored ([`resolve_inputs`](raddle_program::analysis::resolve_inputs)).
pub fn compile(program: &Program, privacy: &dyn Privacy, options: &Options) -> Code {
    let narrow = is_narrow(program);
    let numbers = if narrow { Numbers::of(program) } else { None };
    let mut tls = Vec::new();
    let globals = program
        .globals
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let number = object.thread_local.then(|| {
                tls.push(index as u32);
                tls.len() as u32 - 1
            });
            GlobalCode {
                name: object.name.clone(),
                layout: object.layout,
                bytes: initial_bytes(object, numbers.as_ref()),
                tls: number,
                constant: object.constant,
                private: object.thread_local && privacy.thread_local(GlobalId(index as u32)),
            }
        })
        .collect();
    let numbering = numbering(program);
    let (has_non_atomic, hides_making) = (has_non_atomic(program, privacy), hides_making(program, privacy));
    // A load that has been made may be noticed if it may race, or stop an atomic block.
    let has_atomic_blocks = has_atomic_blocks(program);
    let is_noticed = has_non_atomic || hides_making || has_atomic_blocks;
    let mut compiler = Compiler {
        program,
        privacy,
        bounds: &options.loop_bounds,
        code: Code {
            instrs: Vec::new(),
            spans: Vec::new(),
            constants: Vec::new(),
            operands: Vec::new(),
            cas: Vec::new(),
            waits: Vec::new(),
            switches: Vec::new(),
            strings: Vec::new(),
            inputs: Vec::new(),
            draws: Vec::new(),
            functions: Vec::new(),
            globals,
            tls,
            entry: program.entry.expect("a validated program has an entry"),
            entry_exits: program.entry_exits,
            sources: program.sources.clone(),
            shapes: program.shapes.clone(),
            elements: Vec::new(),
            assumed: program.inputs.clone(),
            loop_bound: options.loop_bounds.least(),
            forgiven: options.forgiven,
            passed_over: Arc::default(),
            has_non_atomic,
            hides_making,
            has_atomic_blocks,
            has_mailboxes: has_mailboxes(program),
            has_loops: false,
            has_spins: false,
            forgets_loads: options.early_assumptions && !is_noticed,
            narrow,
            numbers,
            numbering,
            guesses_handles: guesses_handles(program, numbering),
            joins_by_main: joins_by_main(program),
        },
        constants: FxHashMap::default(),
    };
    for index in 0..program.functions.len() {
        compiler.function(FuncId(index as u32));
    }
    compiler.code
}

/// Whether messages are posted.
fn has_mailboxes(program: &Program) -> bool {
    let mut blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let posts = |op: &Op| matches!(op, Op::Spawn { mailbox: Some(_), .. });
    blocks.any(|block| block.insts.iter().any(|inst| posts(&inst.op)))
}

/// Whether threads make objects that others reach, and there are atomic accesses weaker than seq_cst.
fn hides_making(program: &Program, privacy: &dyn Privacy) -> bool {
    let (mut makes, mut weak) = (false, false);
    for (index, function) in program.functions.iter().enumerate() {
        let id = FuncId(index as u32);
        makes |= (0..function.locals.len() as u32).any(|local| !privacy.local(id, local));
        for (number, block) in function.blocks.iter().enumerate() {
            for (at, inst) in block.insts.iter().enumerate() {
                let lacks = |order: &Ordering| !matches!(order, Ordering::NonAtomic | Ordering::SeqCst);
                match &inst.op {
                    Op::Alloc { .. } => makes |= !privacy.alloc(id, BlockId(number as u32), at),
                    Op::Load { order, .. } | Op::Store { order, .. } | Op::Rmw { order, .. } => weak |= lacks(order),
                    Op::Cas { success, failure, .. } => weak |= lacks(success) || lacks(failure),
                    _ => {}
                }
            }
        }
    }
    let own = |(index, object): (usize, &raddle_program::Object)| {
        object.thread_local && !privacy.thread_local(GlobalId(index as u32))
    };
    (makes || program.globals.iter().enumerate().any(own)) && weak
}

/// Whether an ordinary access may be to memory that others reach: all are but those to variables of the thread's own.
fn has_non_atomic(program: &Program, privacy: &dyn Privacy) -> bool {
    program.functions.iter().enumerate().any(|(index, function)| {
        let is_own = |addr: &Expr| {
            let mut base = addr;
            while let Expr::Binary(BinOp::Add | BinOp::Sub, pointer, _) = base {
                base = pointer;
            }
            matches!(base, Expr::Local(id) if privacy.local(FuncId(index as u32), id.0))
        };
        function.blocks.iter().flat_map(|block| &block.insts).any(|inst| match &inst.op {
            Op::Load { addr, order: Ordering::NonAtomic, .. } | Op::Store { addr, order: Ordering::NonAtomic, .. } => {
                !is_own(addr)
            }
            _ => false,
        })
    })
}

/// Whether there are atomic blocks.
fn has_atomic_blocks(program: &Program) -> bool {
    let mut blocks = program.functions.iter().flat_map(|function| &function.blocks);
    blocks.any(|block| block.insts.iter().any(|inst| matches!(inst.op, Op::AtomicBegin)))
}

/// Whether the program keeps addresses as numbers of 32 bits.
fn is_narrow(program: &Program) -> bool {
    let mut narrow = program.globals.iter().flat_map(|object| &object.init).any(|field| {
        let address = matches!(field.value, InitValue::Global(..) | InitValue::Func(_));
        address && field.ty == Type::I32
    });
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |part| narrow |= matches!(part, Expr::Cast(op, ..) if op.numbers_addresses()));
    };
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for inst in &block.insts {
            inst.op.for_each_operand(&mut visit);
            inst.op.condition().into_iter().for_each(&mut visit);
        }
        match &block.term.kind {
            Term::If(value, ..) | Term::Switch(value, ..) => visit(value),
            Term::Return(Some(value)) | Term::ExitThread(Some(value)) => visit(value),
            _ => {}
        }
    }
    narrow
}

fn initial_bytes(object: &raddle_program::Object, numbers: Option<&Numbers>) -> Vec<u8> {
    let mut bytes = layout_bytes(object.layout);
    for field in &object.init {
        let address = |addr: Addr| match (field.ty, numbers) {
            (Type::I32, Some(numbers)) => u64::from(numbers.pack(addr)),
            _ => addr.0,
        };
        let value = match field.value {
            InitValue::Int(value) => value,
            InitValue::Global(id, offset) => address(Addr::global(id).moved(offset)),
            InitValue::Func(id) => address(Addr::function(id)),
        };
        let size = field.ty.size() as usize;
        bytes[field.offset as usize..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    bytes
}

/// What an object of this layout holds if nothing else is said.
fn layout_bytes(layout: Layout) -> Vec<u8> {
    let mut bytes = vec![0; layout.size() as usize];
    match layout {
        Layout::Barrier(count) => bytes[4..8].copy_from_slice(&count.to_le_bytes()),
        Layout::Semaphore(value) => bytes[..4].copy_from_slice(&value.to_le_bytes()),
        Layout::Looper(mailbox, _) => {
            bytes.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&mailbox.word().to_le_bytes()));
        }
        _ => {}
    }
    bytes
}

/// Whether it is a synchronisation object; those are ready for use wherever they are declared.
fn synchronises(layout: Layout) -> bool {
    matches!(layout, Layout::Mutex | Layout::RwLock | Layout::Cond | Layout::Barrier(_) | Layout::Semaphore(_))
}

struct Compiler<'p> {
    program: &'p Program,
    privacy: &'p dyn Privacy,
    bounds: &'p LoopBounds,
    code: Code,
    constants: FxHashMap<u64, u32>,
}

/// What is known while one function is compiled.
struct Frame<'p> {
    id: FuncId,
    function: &'p Function,
    temps_used: u32,
    temps_max: u32,
    span: Span,
    /// What loads that lead straight into an assumption must find.
    passing: FxHashMap<(BlockId, usize), Expr>,
}

/// A jump target that is a block until all blocks have their place.
#[derive(Clone, Copy)]
struct Edge {
    from: BlockId,
    to: BlockId,
}

impl<'p> Compiler<'p> {
    fn function(&mut self, id: FuncId) {
        let function = &self.program.functions[id.index()];
        let loops = self.loops(function);
        // Counters and marks come right after the registers; temporaries after them.
        let first_temp = loops.end;
        let passing =
            if self.code.forgets_loads { assumed::passing(self.program, function) } else { FxHashMap::default() };
        let mut frame =
            Frame { id, function, temps_used: first_temp, temps_max: first_temp, span: function.span, passing };
        if self.code.has_mailboxes {
            self.emit(&frame, Instr::Take);
        }
        let entry = self.code.instrs.len() as Pc;
        let mut starts = vec![0; function.blocks.len()];
        let mut fixups: Vec<(Pc, Edge)> = Vec::new();
        for (index, block) in function.blocks.iter().enumerate() {
            starts[index] = self.code.instrs.len() as Pc;
            let here = BlockId(index as u32);
            if let Some((mark, kept)) = loops.mark(here) {
                frame.span = block.term.span;
                self.emit(&frame, Instr::MarkTurn { mark, kept });
            }
            for bounded in loops.bounded.iter().filter(|bounded| bounded.begin == here) {
                frame.span = bounded.turn.span;
                self.emit(&frame, Instr::Turn { counter: bounded.counter, bound: bounded.bound });
            }
            for (position, inst) in block.insts.iter().enumerate() {
                frame.span = inst.span;
                frame.temps_used = first_temp;
                self.inst(&mut frame, here, position, &inst.op);
            }
            frame.span = block.term.span;
            frame.temps_used = first_temp;
            self.term(&mut frame, here, block, &loops, &mut fixups);
        }
        // Edges that enter a loop with a bound clear its counter, which needs code of its own.
        for (pc, edge) in fixups {
            let target = starts[edge.to.index()];
            let resolved = match loops.bounded_head(edge.to).filter(|_| !loops.is_back(edge)) {
                None => target,
                Some((counter, turn)) => {
                    let zero = self.constant(0);
                    frame.span = turn.span;
                    let at = self.emit(&frame, Instr::Move { dst: counter, src: zero });
                    self.emit(&frame, Instr::Jump { to: target });
                    at
                }
            };
            self.patch(pc, edge, resolved);
        }
        let locals = function
            .locals
            .iter()
            .enumerate()
            .map(|(index, local)| LocalCode {
                name: local.name.clone(),
                size: local.layout.size(),
                room: local.layout.size().max(local.layout.align() / 2),
                private: self.privacy.local(id, index as u32),
                contents: synchronises(local.layout).then(|| layout_bytes(local.layout)),
            })
            .collect();
        self.code.functions.push(FuncCode {
            name: function.name.clone(),
            entry,
            slots: frame.temps_max,
            reg_types: function.regs.iter().map(|reg| reg.ty).collect(),
            params: function.params,
            locals,
        });
    }

    fn emit(&mut self, frame: &Frame<'_>, instr: Instr) -> Pc {
        self.code.instrs.push(instr);
        self.code.spans.push(frame.span);
        self.code.instrs.len() as Pc - 1
    }

    /// Puts the resolved target where the edge's block number stood.
    fn patch(&mut self, pc: Pc, edge: Edge, target: Pc) {
        // Until it is patched a target holds its block number with the highest bit set.
        let unresolved = edge.to.0 | UNRESOLVED;
        let replace = |to: &mut Pc| {
            if *to == unresolved {
                *to = target;
            }
        };
        match &mut self.code.instrs[pc as usize] {
            Instr::Jump { to } | Instr::Spin { to, .. } => replace(to),
            Instr::Branch { then, otherwise, .. } => {
                replace(then);
                replace(otherwise);
            }
            Instr::Switch { table, .. } => {
                let table = &mut self.code.switches[*table as usize];
                table.cases.iter_mut().for_each(|(_, to)| replace(to));
                replace(&mut table.default);
            }
            other => unreachable!("no jump: {other:?}"),
        }
    }

    fn constant(&mut self, value: u64) -> Operand {
        let constants = &mut self.code.constants;
        let index = *self.constants.entry(value).or_insert_with(|| {
            constants.push(value);
            constants.len() as u32 - 1
        });
        Operand(index | Operand::CONSTANT)
    }

    fn string(&mut self, text: &str) -> u32 {
        self.code.strings.push(text.to_owned());
        self.code.strings.len() as u32 - 1
    }

    fn temp(frame: &mut Frame<'_>) -> Slot {
        frame.temps_used += 1;
        frame.temps_max = frame.temps_max.max(frame.temps_used);
        frame.temps_used - 1
    }

    /// Evaluates an expression; the result is a register, a constant, or a new temporary.
    fn expr(&mut self, frame: &mut Frame<'_>, expr: &Expr) -> Operand {
        match expr {
            Expr::Const(ty, value) => self.constant(ty.truncate(*value)),
            Expr::Reg(reg) => Operand(reg.0),
            Expr::Global(id) if self.code.globals[id.index()].tls.is_none() => self.constant(Addr::global(*id).0),
            Expr::Func(id) => self.constant(Addr::function(*id).0),
            _ => {
                let dst = Self::temp(frame);
                self.expr_into(frame, expr, dst);
                Operand(dst)
            }
        }
    }

    fn expr_into(&mut self, frame: &mut Frame<'_>, expr: &Expr, dst: Slot) {
        let instr = match expr {
            Expr::Global(id) if let Some(index) = self.code.globals[id.index()].tls => Instr::TlsAddr { dst, index },
            Expr::Const(..) | Expr::Reg(_) | Expr::Global(_) | Expr::Func(_) => {
                Instr::Move { dst, src: self.expr(frame, expr) }
            }
            Expr::Local(id) => Instr::LocalAddr { dst, local: id.0 },
            Expr::Unary(op, a) => {
                let ty = frame.function.expr_type(a);
                Instr::Un { op: *op, ty, dst, a: self.expr(frame, a) }
            }
            Expr::Binary(op, a, b) => {
                let ty = frame.function.expr_type(a);
                let (a, b) = (self.expr(frame, a), self.expr(frame, b));
                Instr::Bin { op: *op, ty, dst, a, b }
            }
            Expr::Cast(op, to, a) => {
                let from = frame.function.expr_type(a);
                Instr::Cast { op: *op, from, to: *to, dst, a: self.expr(frame, a) }
            }
            Expr::Select(cond, a, b) => {
                let cond = self.expr(frame, cond);
                let (a, b) = (self.expr(frame, a), self.expr(frame, b));
                Instr::Select { dst, cond, a, b }
            }
        };
        self.emit(frame, instr);
    }

    fn args(&mut self, frame: &mut Frame<'_>, args: &[Expr]) -> Args {
        let operands: Vec<Operand> = args.iter().map(|arg| self.expr(frame, arg)).collect();
        let start = self.code.operands.len() as u32;
        self.code.operands.extend(operands);
        Args { start, len: args.len() as u32 }
    }

    /// Notes the condition on a value read; its number, from 1, or 0 if there is none.
    fn wait(&mut self, frame: &Frame<'_>, dst: Option<Reg>, cond: Option<&Expr>, blocks: bool) -> u32 {
        let (Some(dst), Some(cond)) = (dst, cond) else { return 0 };
        let may_fail = raddle_program::analysis::liveness::may_fail(cond);
        let cond = self.condition(frame, dst, cond);
        self.code.waits.push(WaitInfo { dst, cond, may_fail, blocks, assumed: None });
        self.code.waits.len() as u32
    }

    fn condition(&self, frame: &Frame<'_>, found: Reg, cond: &Expr) -> Condition {
        Condition::new(frame.function, &self.code.globals, found, cond)
    }

    fn inst(&mut self, frame: &mut Frame<'_>, block: BlockId, position: usize, op: &Op) {
        let slot = |dst: &Option<Reg>| dst.map_or(NO_SLOT, |reg| reg.0);
        let instr = match op {
            Op::Assign { dst, value } => return self.expr_into(frame, value, dst.0),
            Op::Load { dst, ty, addr, order, until, unwritten } => {
                let passing = frame.passing.get(&(block, position)).cloned();
                let cond = until.iter().cloned().chain(passing.clone()).reduce(|a, b| Expr::binary(BinOp::And, a, b));
                let wait = self.wait(frame, *dst, cond.as_ref(), true);
                if let (Some(_), Some(dst)) = (passing, dst) {
                    let found = until.clone().unwrap_or_else(|| Expr::bool(true));
                    self.code.waits[wait as usize - 1].assumed = Some(self.condition(frame, *dst, &found));
                }
                let addr = self.expr(frame, addr);
                Instr::Load { dst: slot(dst), ty: *ty, order: *order, addr, wait, unwritten: *unwritten }
            }
            Op::Store { ty, addr, value, order } => {
                let (addr, value) = (self.expr(frame, addr), self.expr(frame, value));
                Instr::Store { ty: *ty, order: *order, addr, value }
            }
            Op::Rmw { dst, op, ty, addr, operand, order, idle } => {
                let until = idle.as_ref().map(|idle| &idle.until);
                let wait = self.wait(frame, *dst, until, idle.as_ref().is_some_and(|idle| idle.wait));
                let (addr, operand) = (self.expr(frame, addr), self.expr(frame, operand));
                Instr::Rmw { op: *op, ty: *ty, order: *order, dst: slot(dst), addr, operand, idle: wait }
            }
            Op::Cas { dst, ty, addr, expected, desired, success, failure, wait } => {
                let (addr, expected) = (self.expr(frame, addr), self.expr(frame, expected));
                let desired = self.expr(frame, desired);
                let (dst, ty, success, failure, wait) = (slot(dst), *ty, *success, *failure, *wait);
                self.code.cas.push(CasInfo { dst, ty, addr, expected, desired, success, failure, wait });
                Instr::Cas { cas: self.code.cas.len() as u32 - 1 }
            }
            Op::Fence { order } => Instr::Fence { order: *order },
            Op::Call { dst, callee, args } => {
                let args = self.args(frame, args);
                match callee {
                    Callee::Direct(func) => Instr::Call { dst: slot(dst), func: *func, args },
                    Callee::Indirect(target) => {
                        Instr::CallIndirect { dst: slot(dst), target: self.expr(frame, target), args }
                    }
                }
            }
            Op::Spawn { dst, callee, args, mailbox } => {
                let args = self.args(frame, args);
                let mailbox = mailbox.as_ref().map_or(Operand::NONE, |mailbox| self.expr(frame, mailbox));
                match callee {
                    Callee::Direct(func) => Instr::Spawn { dst: slot(dst), func: *func, args, mailbox },
                    Callee::Indirect(target) => {
                        Instr::SpawnIndirect { dst: slot(dst), target: self.expr(frame, target), args, mailbox }
                    }
                }
            }
            Op::Join { dst, thread } => {
                let ty = dst.map_or(Type::I64, |reg| frame.function.reg_type(reg));
                Instr::Join { dst: slot(dst), ty, thread: self.expr(frame, thread) }
            }
            Op::ThreadId { dst } => Instr::ThreadId { dst: dst.0 },
            Op::Alloc { dst, size, zeroed, scoped } => {
                let size = self.expr(frame, size);
                let private = self.privacy.alloc(frame.id, block, position);
                let name = || format!("{}@{}", frame.function.regs[dst.index()].name, frame.function.name);
                let scoped = if *scoped { self.string(&name()) + 1 } else { 0 };
                let shape = self.program.shapes.allocations.get(&Shapes::place(frame.span));
                let shape = shape.map_or(0, |shape| {
                    self.code.elements.push(shape.clone());
                    self.code.elements.len() as u32
                });
                Instr::Alloc { dst: dst.0, size, zeroed: *zeroed, private, scoped, shape }
            }
            Op::Free { ptr, scoped } => Instr::Free { ptr: self.expr(frame, ptr), scoped: *scoped },
            Op::Assert { cond, message } => {
                let cond = self.expr(frame, cond);
                Instr::Assert { cond, message: self.string(message) }
            }
            Op::Assume { cond } => Instr::Assume { cond: self.expr(frame, cond) },
            Op::Choose { dst, low, high, draw } => {
                let count = (high - low + 1) as u32;
                self.code.draws.extend(draw.clone());
                let draw = if draw.is_some() { self.code.draws.len() as u32 } else { 0 };
                Instr::Choose { dst: dst.0, low: self.constant(*low), count, draw }
            }
            Op::Input { dst, signed, values } => {
                let ranges = values.clone().expect("which values of inputs are explored has been decided");
                let count = ranges.iter().map(|(low, high)| high - low + 1).sum::<u64>() as u32;
                let ty = frame.function.reg_type(*dst);
                let rest = self.rest_of_input(frame.span);
                self.code.inputs.push(InputInfo { ty, signed: *signed, ranges, rest });
                Instr::Input { dst: dst.0, values: self.code.inputs.len() as u32 - 1, count }
            }
            Op::AtomicBegin => Instr::AtomicBegin,
            Op::AtomicEnd => Instr::AtomicEnd,
            Op::Error { kind, message } => {
                let property = match kind {
                    ErrorKind::Mark => Property::Error,
                    ErrorKind::Memory => Property::Memory,
                    ErrorKind::Lock => Property::Lock,
                    ErrorKind::Arithmetic => Property::Arithmetic,
                };
                Instr::Error { property, message: self.string(message) }
            }
            Op::Print { format, args } => {
                let args = self.args(frame, args);
                Instr::Print { format: self.string(format), args }
            }
            sync => return self.sync(frame, sync),
        };
        self.emit(frame, instr);
    }

    /// The values of the input at this place that are not explored one by one. Where different inputs share a place nothing is known of them.
    fn rest_of_input(&self, span: Span) -> Vec<(u64, u64)> {
        let mut here = self.program.inputs.sampled.iter().filter(|input| input.span == span);
        let first = here.next();
        let rest = first.filter(|first| here.all(|other| other.rest == first.rest));
        rest.map(|input| input.rest.clone()).unwrap_or_default()
    }

    fn sync(&mut self, frame: &mut Frame<'_>, op: &Op) {
        let (op, dst, object, other) = match op {
            Op::Lock { mutex, recursive } => (SyncOp::Lock { recursive: *recursive }, &None, mutex, None),
            Op::TryLock { dst, mutex, recursive } => (SyncOp::TryLock { recursive: *recursive }, dst, mutex, None),
            Op::Unlock { mutex } => (SyncOp::Unlock, &None, mutex, None),
            Op::ReadLock { lock } => (SyncOp::ReadLock, &None, lock, None),
            Op::WriteLock { lock } => (SyncOp::WriteLock, &None, lock, None),
            Op::TryRwLock { dst, lock, write: false } => (SyncOp::TryReadLock, dst, lock, None),
            Op::TryRwLock { dst, lock, write: true } => (SyncOp::TryWriteLock, dst, lock, None),
            Op::RwUnlock { lock } => (SyncOp::RwUnlock, &None, lock, None),
            Op::CondWait { cond, mutex, timed } => (SyncOp::CondWait { timed: *timed }, &None, cond, Some(mutex)),
            Op::CondSignal { cond } => (SyncOp::CondSignal, &None, cond, None),
            Op::CondBroadcast { cond } => (SyncOp::CondBroadcast, &None, cond, None),
            Op::BarrierInit { barrier, count } => (SyncOp::BarrierInit, &None, barrier, Some(count)),
            Op::BarrierWait { dst, barrier } => (SyncOp::BarrierWait, dst, barrier, None),
            Op::SemWait { sem } => (SyncOp::SemWait, &None, sem, None),
            Op::SemTryWait { dst, sem } => (SyncOp::SemTryWait, dst, sem, None),
            Op::SemPost { sem } => (SyncOp::SemPost, &None, sem, None),
            Op::SyncDestroy { object, ty } => (SyncOp::Destroy { ty: *ty }, &None, object, None),
            other => unreachable!("no synchronisation: {other:?}"),
        };
        let object = self.expr(frame, object);
        let other = other.map_or(Operand::NONE, |other| self.expr(frame, other));
        let dst = dst.map_or(NO_SLOT, |reg| reg.0);
        self.emit(frame, Instr::Sync { op, dst, object, other });
    }

    fn term(
        &mut self,
        frame: &mut Frame<'_>,
        here: BlockId,
        block: &Block,
        loops: &LoopEdges,
        fixups: &mut Vec<(Pc, Edge)>,
    ) {
        let open = |to: BlockId| to.0 | UNRESOLVED;
        let mut targets = Vec::new();
        let instr = match &block.term.kind {
            Term::Goto(to) => {
                targets.push(*to);
                Instr::Jump { to: open(*to) }
            }
            Term::If(cond, a, b) => {
                targets.extend([*a, *b]);
                Instr::Branch { cond: self.expr(frame, cond), then: open(*a), otherwise: open(*b) }
            }
            Term::Switch(value, cases, default) => {
                targets.extend(cases.iter().map(|&(_, to)| to));
                targets.push(*default);
                let value = self.expr(frame, value);
                let cases = cases.iter().map(|&(value, to)| (value, open(to))).collect();
                self.code.switches.push(SwitchTable { cases, default: open(*default) });
                Instr::Switch { value, table: self.code.switches.len() as u32 - 1 }
            }
            Term::Return(value) => {
                let value = value.as_ref().map_or(Operand::NONE, |value| self.expr(frame, value));
                Instr::Return { value }
            }
            Term::ExitThread(value) => {
                let value = value.as_ref().map_or(Operand::NONE, |value| self.expr(frame, value));
                Instr::ExitThread { value }
            }
            Term::Exit => Instr::Exit,
            Term::Spin(head) => {
                targets.push(*head);
                let (mark, kept) = loops.mark(*head).expect("every target of a spin has one");
                Instr::Spin { mark, kept, to: open(*head) }
            }
            Term::Unreachable => Instr::Unreachable,
        };
        let pc = self.emit(frame, instr);
        targets.sort_unstable();
        targets.dedup();
        fixups.extend(targets.into_iter().map(|to| (pc, Edge { from: here, to })));
    }
}

const UNRESOLVED: u32 = 1 << 31;
