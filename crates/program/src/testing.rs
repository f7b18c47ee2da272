//! Random valid programs for the property tests of this crate.
//!
//! A generated program need not do anything sensible when it runs; it uses every instruction, terminator, layout and shape of
//! expression, odd names and names that hide others.

use crate::Ordering;
use crate::expr::{BinOp, CastOp, Expr, Splice, UnOp};
use crate::float::{FloatBin, FloatCast, FloatUn, is_float};
use crate::inst::{Block, Callee, Draw, ErrorKind, Idle, Inst, Op, RmwOp, Term, Terminator, Turn, Unwritten};
use crate::partial::Field;
use crate::program::*;
use crate::source::Span;
use crate::types::Type;
use raddle_testkit::Random;

/// The program with all locations forgotten.
pub(crate) fn without_spans(program: &Program) -> Program {
    let mut program = program.clone();
    program.sources = Default::default();
    program.globals.iter_mut().for_each(|object| object.span = Span::default());
    for function in &mut program.functions {
        function.span = Span::default();
        function.locals.iter_mut().for_each(|local| local.span = Span::default());
        for block in &mut function.blocks {
            block.term.span = Span::default();
            block.turn.iter_mut().for_each(|turn| turn.span = Span::default());
            block.insts.iter_mut().for_each(|inst| inst.span = Span::default());
        }
    }
    program
}

const NAMES: [&str; 12] = ["x", "y", "count", "lock", "i32", "s.next", "tmp.3", "two words", "load.x", "`", "u", "$v"];

const CONSTANTS: [u64; 9] = [0, 1, 2, 4, 8, 127, 128, 0x7fff_ffff, u64::MAX];

/// A random valid program without unreachable blocks.
pub(crate) fn random_program(rng: &mut Random) -> Program {
    let mut program = Program::default();
    let functions = 1 + rng.below(3);
    let globals = rng.below(5);
    for index in 0..globals {
        let object = random_object(rng, index, globals, functions);
        program.globals.push(object);
    }
    for index in 0..functions {
        let params = if index == 0 { 0 } else { rng.below(3) };
        let mut regs = Vec::new();
        for reg in 0..params + rng.below(6) {
            // Without the number of the function: registers often hide objects of the same name.
            regs.push(RegDecl { name: name(rng, "", reg), ty: rng.pick(&Type::ALL) });
        }
        let locals = (0..rng.below(3)).map(|local| Local {
            name: name(rng, "l", local),
            layout: random_layout(rng),
            span: Span::default(),
        });
        let locals = locals.collect();
        let name = if index == 0 && rng.one_in(2) { "main".to_owned() } else { name(rng, "f", index) };
        let ret = if rng.one_in(2) { Some(rng.pick(&Type::ALL)) } else { None };
        let span = Span::default();
        program.functions.push(Function { name, params: params as u32, ret, regs, locals, blocks: Vec::new(), span });
    }
    program.entry = Some(FuncId(0));
    program.entry_exits = rng.one_in(4);
    for index in 0..functions {
        let mut body = Body { rng, program: &program, function: &program.functions[index] };
        let blocks = body.blocks();
        program.functions[index].blocks = blocks;
        drop_unreachable_blocks(&mut program.functions[index]);
    }
    program
}

fn name(rng: &mut Random, prefix: &str, number: usize) -> String {
    format!("{}{}{number}", rng.pick(&NAMES), prefix)
}

fn random_layout(rng: &mut Random) -> Layout {
    match rng.below(10) {
        0..4 => Layout::Scalar(rng.pick(&Type::ALL)),
        4 => Layout::Array(rng.pick(&Type::ALL), rng.below(4) as u32),
        5 => Layout::Bytes { size: rng.below(64) as u32, align: 1 << rng.below(5) },
        6 => Layout::Mutex,
        7 => Layout::RwLock,
        8 => Layout::Cond,
        _ if rng.one_in(2) => Layout::Barrier(1 + rng.below(3) as u32),
        _ => Layout::Semaphore(rng.below(3) as u32),
    }
}

fn random_object(rng: &mut Random, index: usize, globals: usize, functions: usize) -> Object {
    let layout = random_layout(rng);
    let mut init = Vec::new();
    let mut offset = 0;
    while rng.one_in(2) {
        let ty = match layout {
            Layout::Scalar(ty) | Layout::Array(ty, _) if !rng.one_in(4) => ty,
            _ => rng.pick(&Type::ALL),
        };
        if offset + ty.size() > layout.size() {
            break;
        }
        let value = match rng.below(3) {
            0 if ty == Type::Ptr => InitValue::Global(GlobalId(rng.below(globals) as u32), rng.below(9) as i64 - 4),
            1 if ty == Type::Ptr => InitValue::Func(FuncId(rng.below(functions) as u32)),
            _ => InitValue::Int(ty.truncate(rng.pick(&CONSTANTS))),
        };
        init.push(InitField { offset, ty, value });
        offset += ty.size() + u32::from(rng.one_in(6));
    }
    if rng.one_in(8) {
        let layout = Layout::Looper(rng.pick(&Mailbox::ALL), 1 + rng.below(3) as u32);
        let (name, span) = (name(rng, "", index), Span::default());
        return Object { name, layout, init: Vec::new(), thread_local: false, constant: true, span };
    }
    // Registers have names without a letter before the number, so this name may be hidden by one.
    let name = name(rng, "", index);
    Object { name, layout, init, thread_local: rng.one_in(4), constant: rng.one_in(4), span: Span::default() }
}

struct Body<'g> {
    rng: &'g mut Random,
    program: &'g Program,
    function: &'g Function,
}

impl Body<'_> {
    fn blocks(&mut self) -> Vec<Block> {
        let count = 1 + self.rng.below(5);
        let span = Span::default();
        let mut blocks = Vec::new();
        for _ in 0..count {
            let mut insts = Vec::new();
            for _ in 0..self.rng.below(6) {
                if self.rng.one_in(12) {
                    insts.push(Inst { op: Op::AtomicBegin, span });
                    insts.push(Inst { op: self.op(), span });
                    insts.push(Inst { op: Op::AtomicEnd, span });
                } else {
                    insts.push(Inst { op: self.op(), span });
                }
            }
            let turn = self.rng.one_in(4).then(|| Turn { span, unbounded: self.rng.one_in(3) });
            blocks.push(Block { turn, insts, term: Terminator { kind: self.term(count), span } });
        }
        blocks
    }

    fn term(&mut self, blocks: usize) -> Term {
        let mut target = || BlockId(self.rng.below(blocks) as u32);
        let (a, b, c) = (target(), target(), target());
        match self.rng.below(12) {
            0..3 => Term::Goto(a),
            3..6 => Term::If(self.expr(Type::I1, 2), a, b),
            6 => {
                let ty = self.rng.pick(&Type::ALL);
                let mut cases: Vec<(u64, BlockId)> = vec![(0, a), (1, b)];
                if ty != Type::I1 {
                    cases.push((ty.mask(), a));
                }
                Term::Switch(self.expr(ty, 2), cases, c)
            }
            7 => {
                let ty = self.rng.pick(&Type::ALL);
                Term::ExitThread(if self.rng.one_in(2) { Some(self.expr(ty, 2)) } else { None })
            }
            8 => Term::Exit,
            9 => Term::Spin(a),
            10 => Term::Unreachable,
            _ => Term::Return(self.function.ret.map(|ty| self.expr(ty, 2))),
        }
    }

    fn reg_of(&mut self, ty: Type) -> Option<Reg> {
        let regs = 0..self.function.regs.len() as u32;
        let fitting: Vec<Reg> = regs.map(Reg).filter(|&reg| self.function.reg_type(reg) == ty).collect();
        if fitting.is_empty() { None } else { Some(self.rng.pick(&fitting)) }
    }

    fn dst(&mut self, ty: Type) -> Option<Reg> {
        if self.rng.one_in(4) { None } else { self.reg_of(ty) }
    }

    fn any_dst(&mut self) -> Option<Reg> {
        let ty = self.rng.pick(&Type::ALL);
        self.dst(ty)
    }

    /// An instruction; one that needs a target there is no register for becomes a fence.
    fn op(&mut self) -> Op {
        self.try_op().unwrap_or(Op::Fence { order: Ordering::SeqCst })
    }

    fn try_op(&mut self) -> Option<Op> {
        let ty = self.rng.pick(&Type::ALL);
        let order = self.rng.pick(&Ordering::ALL);
        let read = self.rng.pick(&[Ordering::NonAtomic, Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst]);
        let write = self.rng.pick(&[Ordering::NonAtomic, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst]);
        let atomic = self.rng.pick(&Ordering::ALL[1..]);
        let place = self.address();
        let flag = self.rng.one_in(2);
        Some(match self.rng.below(34) {
            0 => Op::Assign { dst: self.reg_of(ty)?, value: self.expr(ty, 3) },
            1 => {
                let dst = self.dst(ty);
                let until = if dst.is_some() && flag { Some(self.expr(Type::I1, 2)) } else { None };
                let unwritten = match self.rng.below(6) {
                    0 => Unwritten::Zero,
                    1 => Unwritten::Kept,
                    2 => Unwritten::Field(self.field(ty)),
                    _ => Unwritten::Error,
                };
                Op::Load { dst, ty, addr: place, order: read, until, unwritten }
            }
            2 => Op::Store { ty, addr: place, value: self.expr(ty, 3), order: write },
            3 => {
                let op = self.rng.pick(&RmwOp::ALL);
                let dst = self.dst(ty);
                let wait = self.rng.one_in(2);
                let idle = (dst.is_some() && flag).then(|| Idle { until: self.expr(Type::I1, 2), wait });
                Op::Rmw { dst, op, ty, addr: place, operand: self.expr(ty, 2), order: atomic, idle }
            }
            4 => Op::Cas {
                dst: self.dst(ty),
                ty,
                addr: place,
                expected: self.expr(ty, 2),
                desired: self.expr(ty, 2),
                success: atomic,
                failure: if read == Ordering::NonAtomic { Ordering::Relaxed } else { read },
                wait: flag,
            },
            5 => Op::Fence { order },
            6 => {
                let (callee, args, ret) = self.call();
                let dst = match ret {
                    Some(Some(ty)) => self.dst(ty),
                    Some(None) => None,
                    None => self.any_dst(),
                };
                Op::Call { dst, callee, args }
            }
            7 => {
                let (callee, args, _) = self.call();
                let objects = self.program.globals.iter().enumerate();
                let is_looper = |object: &Object| matches!(object.layout, Layout::Looper(..));
                let mut loopers = objects.filter(|(_, object)| is_looper(object) && flag);
                match loopers.next() {
                    Some((index, _)) => {
                        let mailbox = Some(Expr::Global(GlobalId(index as u32)));
                        Op::Spawn { dst: None, callee, args, mailbox }
                    }
                    None => Op::Spawn { dst: self.dst(Type::I64), callee, args, mailbox: None },
                }
            }
            8 => Op::Join { dst: self.any_dst(), thread: self.expr(Type::I64, 1) },
            9 => Op::ThreadId { dst: self.reg_of(Type::I64)? },
            10 => Op::Lock { mutex: place, recursive: flag },
            11 => Op::TryLock { dst: self.dst(Type::I1), mutex: place, recursive: flag },
            12 => Op::Unlock { mutex: place },
            13 => Op::ReadLock { lock: place },
            14 => Op::WriteLock { lock: place },
            15 => Op::TryRwLock { dst: self.dst(Type::I1), lock: place, write: flag },
            16 => Op::RwUnlock { lock: place },
            17 => Op::CondWait { cond: place, mutex: self.address(), timed: flag },
            18 => Op::CondSignal { cond: place },
            19 => Op::CondBroadcast { cond: place },
            20 => Op::BarrierInit { barrier: place, count: self.expr(Type::I32, 1) },
            21 => Op::BarrierWait { dst: self.dst(Type::I1), barrier: place },
            22 => Op::SemWait { sem: place },
            23 => Op::SemTryWait { dst: self.dst(Type::I1), sem: place },
            24 => Op::SemPost { sem: place },
            25 => Op::SyncDestroy { ty: self.sync_type(&place), object: place },
            26 => Op::Alloc {
                dst: self.reg_of(Type::Ptr)?,
                size: self.expr(Type::I64, 1),
                zeroed: flag,
                scoped: self.rng.one_in(2),
            },
            27 => Op::Free { ptr: place, scoped: flag },
            28 => Op::Assert { cond: self.expr(Type::I1, 2), message: "it \"holds\"\n".to_owned() },
            29 => Op::Assume { cond: self.expr(Type::I1, 2) },
            30 if ty != Type::Ptr => {
                let high = ty.mask().min(5);
                let weights = (0..=high).map(|value| value as u32 + 1).collect();
                let draw = [None, Some(Draw::Evenly), Some(Draw::Weighted(weights))][self.rng.below(3)].clone();
                Op::Choose { dst: self.reg_of(ty)?, low: 0, high, draw }
            }
            31 if !matches!(ty, Type::Ptr | Type::I1) => {
                let values = if flag { None } else { Some(vec![(0, 1), (ty.mask(), ty.mask())]) };
                Op::Input { dst: self.reg_of(ty)?, signed: self.rng.chance(2), values }
            }
            32 => {
                let kind = if flag { ErrorKind::Lock } else { ErrorKind::Mark };
                Op::Error { kind, message: "\u{7}bell {}".to_owned() }
            }
            _ => Op::Print { format: "{} é".to_owned(), args: vec![self.expr(ty, 2)] },
        })
    }

    /// The type a synchronisation object at this address is destroyed as.
    fn sync_type(&mut self, address: &Expr) -> Type {
        let layout = match address {
            Expr::Global(id) => self.program.globals[id.index()].layout,
            Expr::Local(id) => self.function.locals[id.index()].layout,
            _ => return self.rng.pick(&[Type::I32, Type::I64]),
        };
        if matches!(layout, Layout::Cond | Layout::Barrier(_)) { Type::I64 } else { Type::I32 }
    }

    fn call(&mut self) -> (Callee, Vec<Expr>, Option<Option<Type>>) {
        if self.rng.one_in(4) {
            let ty = self.rng.pick(&Type::ALL);
            let args = (0..self.rng.below(3)).map(|_| self.expr(ty, 1)).collect();
            return (Callee::Indirect(self.expr(Type::Ptr, 1)), args, None);
        }
        let id = FuncId(self.rng.below(self.program.functions.len()) as u32);
        let callee = &self.program.functions[id.index()];
        let types: Vec<Type> = callee.regs[..callee.params as usize].iter().map(|reg| reg.ty).collect();
        let args = types.into_iter().map(|ty| self.expr(ty, 1)).collect();
        (Callee::Direct(id), args, Some(callee.ret))
    }

    /// The address of an object, often of an element of an array.
    fn address(&mut self) -> Expr {
        let mut objects: Vec<(Expr, Layout)> = Vec::new();
        for (index, object) in self.program.globals.iter().enumerate() {
            objects.push((Expr::Global(GlobalId(index as u32)), object.layout));
        }
        for (index, local) in self.function.locals.iter().enumerate() {
            objects.push((Expr::Local(LocalId(index as u32)), local.layout));
        }
        if objects.is_empty() || self.rng.one_in(6) {
            return self.expr(Type::Ptr, 2);
        }
        let (base, layout) = self.rng.pick(&objects);
        let Layout::Array(ty, _) = layout else { return base };
        let size = i64::from(ty.size());
        let offset = match self.rng.below(4) {
            0 => return base,
            1 => Expr::int(Type::I64, self.rng.below(20) as i64),
            narrow => {
                let index = if narrow == 2 {
                    let from = self.rng.pick(&[Type::I1, Type::I8, Type::I32]);
                    Expr::cast(CastOp::SExt, Type::I64, self.expr(from, 1))
                } else {
                    self.expr(Type::I64, 1)
                };
                if self.rng.one_in(4) { index } else { Expr::binary(BinOp::Mul, index, Expr::int(Type::I64, size)) }
            }
        };
        Expr::binary(BinOp::Add, base, offset)
    }

    fn expr(&mut self, ty: Type, depth: u32) -> Expr {
        if depth == 0 || self.rng.one_in(4) {
            return self.leaf(ty);
        }
        match self.rng.below(6) {
            0 if is_float(ty) && self.rng.one_in(2) => self.float(ty, depth - 1),
            0 if ty != Type::Ptr => Expr::unary(self.rng.pick(&[UnOp::Neg, UnOp::Not]), self.expr(ty, depth - 1)),
            1 => {
                let (cond, a, b) = (self.expr(Type::I1, depth - 1), self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                Expr::Select(Box::new(cond), Box::new(a), Box::new(b))
            }
            2 => {
                let (op, from) = (self.rng.pick(&CastOp::ALL), self.rng.pick(&Type::ALL));
                if op.allows(from, ty) { Expr::cast(op, ty, self.expr(from, depth - 1)) } else { self.leaf(ty) }
            }
            _ => self.binary(ty, depth - 1),
        }
    }

    fn float(&mut self, ty: Type, depth: u32) -> Expr {
        match self.rng.below(3) {
            0 => {
                let op = self.rng.pick(FloatUn::ALL);
                Expr::unary(UnOp::Float(op), self.expr(ty, depth))
            }
            1 => {
                let op = self.rng.pick(FloatBin::ALL);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                if op.is_comparison() { a } else { Expr::binary(BinOp::Float(op), a, b) }
            }
            _ => {
                let (op, from) = (self.rng.pick(FloatCast::ALL), self.rng.pick(&[Type::I32, Type::I64]));
                let op = CastOp::Float(op);
                if op.allows(from, ty) { Expr::cast(op, ty, self.expr(from, depth)) } else { self.leaf(ty) }
            }
        }
    }

    /// Some bits of a number.
    fn field(&mut self, ty: Type) -> Field {
        let shift = self.rng.below(ty.bits() as usize);
        let width = 1 + self.rng.below(ty.bits() as usize - shift);
        Field { shift: shift as u8, width: width as u8 }
    }

    fn splice(&mut self, ty: Type, depth: u32) -> Expr {
        let from = self.rng.pick(&[Type::I8, Type::I16, Type::I32, Type::I64]);
        let mut to = self.field(ty);
        to.width = to.width.min(from.bits() as u8);
        let op = Splice { to, from: self.rng.below((from.bits() - u32::from(to.width) + 1) as usize) as u8 };
        Expr::binary(BinOp::Splice(op), self.expr(ty, depth), self.expr(from, depth))
    }

    fn binary(&mut self, ty: Type, depth: u32) -> Expr {
        if ty != Type::Ptr && self.rng.one_in(8) {
            return self.splice(ty, depth);
        }
        let op = self.rng.pick(&BinOp::ALL);
        if op.is_comparison() && ty == Type::I1 {
            let of = self.rng.pick(&Type::ALL);
            return Expr::binary(op, self.expr(of, depth), self.expr(of, depth));
        }
        match ty {
            Type::Ptr if self.rng.one_in(3) => {
                Expr::binary(BinOp::Add, self.expr(Type::I64, depth), self.expr(Type::Ptr, depth))
            }
            Type::Ptr => {
                let op = self.rng.pick(&[BinOp::Add, BinOp::Sub]);
                Expr::binary(op, self.expr(Type::Ptr, depth), self.expr(Type::I64, depth))
            }
            Type::I64 if self.rng.one_in(4) => {
                Expr::binary(BinOp::Sub, self.expr(Type::Ptr, depth), self.expr(Type::Ptr, depth))
            }
            _ if op.is_comparison() => self.leaf(ty),
            _ => Expr::binary(op, self.expr(ty, depth), self.expr(ty, depth)),
        }
    }

    fn leaf(&mut self, ty: Type) -> Expr {
        if self.rng.one_in(2)
            && let Some(reg) = self.reg_of(ty)
        {
            return Expr::Reg(reg);
        }
        if ty == Type::Ptr && self.rng.one_in(2) {
            let (globals, locals) = (self.program.globals.len(), self.function.locals.len());
            match self.rng.below(3) {
                0 if globals > 0 => return Expr::Global(GlobalId(self.rng.below(globals) as u32)),
                1 if locals > 0 => return Expr::Local(LocalId(self.rng.below(locals) as u32)),
                _ => return Expr::Func(FuncId(self.rng.below(self.program.functions.len()) as u32)),
            }
        }
        Expr::Const(ty, ty.truncate(self.rng.pick(&CONSTANTS)))
    }
}
