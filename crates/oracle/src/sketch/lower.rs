//! From sketches to programs.

use super::{At, Cmp, Kind, Object, ObjectId, PtrReg, Reg, Sketch, Stmt, Test, Value};
use raddle_program::{
    BinOp, BlockId, Callee, CastOp, Expr, FuncId, FunctionBuilder, GlobalId, Idle, InitField, InitValue, Layout, Op,
    Ordering, Program, Reg as Register, RmwOp, Span, Term, Type, Unwritten,
};
use std::collections::BTreeMap;

/// The program; with `loops`, waits are loops that look again.
pub(super) fn program(sketch: &Sketch, loops: bool) -> Program {
    let mut program = Program::default();
    program.sources.add("sketch", sketch.listing());
    let declared = sketch.objects.iter().filter(|object| super::declaration(object).is_some()).count();
    program.globals = sketch.objects.iter().map(global).collect();
    let mut line = declared as u32;
    let mut started = vec![false; sketch.threads.len()];
    let mut handles = Handles::default();
    sketch.for_each(|stmt| match *stmt {
        Stmt::Spawn(thread) | Stmt::Post(thread, _) => started[thread] = true,
        Stmt::Await(thread) if !handles.contains_key(&thread) => {
            handles.insert(thread, program.globals.len());
            program.globals.push(raddle_program::Object {
                name: format!("thread{thread}"),
                layout: Layout::Scalar(Type::I64),
                init: Vec::new(),
                thread_local: false,
                constant: false,
                span: Span::default(),
            });
        }
        _ => {}
    });
    let lower = |name: String, span| Lower {
        builder: FunctionBuilder::new(name, &[], None, span),
        regs: BTreeMap::new(),
        line: span.line,
        handles: &handles,
        looking: loops,
        loops: Vec::new(),
    };
    let mut main = lower("main".to_owned(), Span::default());
    for (thread, _) in started.iter().enumerate().filter(|(_, started)| !**started) {
        main.spawn(thread);
    }
    for (thread, _) in started.iter().enumerate().filter(|(_, started)| sketch.joined && !**started) {
        let handle = Expr::Reg(main.handle(thread));
        main.builder.push(Op::Join { dst: None, thread: handle });
    }
    program.functions.push(main.builder.finish());
    for (index, thread) in sketch.threads.iter().enumerate() {
        line += 1;
        let mut lower = lower(format!("thread{index}"), place(line));
        lower.stmts(thread);
        line = lower.line;
        program.functions.push(lower.builder.finish());
    }
    program.entry = Some(FuncId(0));
    program
}

fn function(thread: usize) -> FuncId {
    FuncId(thread as u32 + 1)
}

fn place(line: u32) -> Span {
    Span { file: 0, line, column: 1, len: 1 }
}

fn global(object: &Object) -> raddle_program::Object {
    let (layout, init) = match object.kind {
        Kind::Var(value) => (Layout::Scalar(Type::I32), (value != 0).then_some(value)),
        Kind::Pointer => (Layout::Scalar(Type::Ptr), None),
        Kind::Mutex => (Layout::Mutex, None),
        Kind::RwLock => (Layout::RwLock, None),
        Kind::Semaphore(count) => (Layout::Semaphore(count), None),
        Kind::Barrier(count) => (Layout::Barrier(count), None),
        Kind::Cond => (Layout::Cond, None),
        Kind::Looper(mailbox) => (Layout::Looper(mailbox, 1), None),
    };
    let field =
        |value: i32| InitField { offset: 0, ty: Type::I32, value: InitValue::Int(Type::I32.truncate(value as u64)) };
    raddle_program::Object {
        name: object.name.clone(),
        layout,
        init: init.map(field).into_iter().collect(),
        thread_local: false,
        constant: matches!(object.kind, Kind::Looper(_)),
        span: Span::default(),
    }
}

/// Where whoever starts a thread writes down its handle, for those that others wait for.
type Handles = BTreeMap<usize, ObjectId>;

struct Lower<'h> {
    handles: &'h Handles,
    /// Whether waits become loops.
    looking: bool,
    builder: FunctionBuilder,
    regs: BTreeMap<String, Register>,
    /// The loops around, innermost last: where their turns begin, and what comes behind them.
    loops: Vec<(BlockId, BlockId)>,
    /// The line of the listing that the last statement stands on.
    line: u32,
}

impl Lower<'_> {
    fn register(&mut self, name: String, ty: Type) -> Register {
        let builder = &mut self.builder;
        *self.regs.entry(name).or_insert_with_key(|name| builder.reg(name, ty))
    }

    fn reg(&mut self, reg: Reg) -> Register {
        self.register(reg.to_string(), Type::I32)
    }

    fn dst(&mut self, reg: Option<Reg>) -> Option<Register> {
        reg.map(|reg| self.reg(reg))
    }

    fn ptr(&mut self, reg: PtrReg) -> Register {
        self.register(reg.to_string(), Type::Ptr)
    }

    fn at(&mut self, at: At) -> Expr {
        match at {
            At::Object(id) => address(id),
            At::Pointee(reg) => Expr::Reg(self.ptr(reg)),
        }
    }

    fn value(&mut self, value: Value) -> Expr {
        match value {
            Value::Const(value) => Expr::int(Type::I32, value.into()),
            Value::Reg(reg, 0) => Expr::Reg(self.reg(reg)),
            Value::Reg(reg, plus) => {
                Expr::binary(BinOp::Add, Expr::Reg(self.reg(reg)), Expr::int(Type::I32, plus.into()))
            }
        }
    }

    fn test(&mut self, test: Test) -> Expr {
        let value = self.value(test.value);
        let reg = Expr::Reg(self.reg(test.reg));
        match test.cmp {
            Cmp::Eq => Expr::eq(reg, value),
            Cmp::Ne => Expr::binary(BinOp::Ne, reg, value),
            Cmp::Lt => Expr::binary(BinOp::SLt, reg, value),
        }
    }

    /// An operation whose result is a truth value, widened into `dst`.
    fn truth(&mut self, dst: Option<Reg>, op: impl FnOnce(Option<Register>) -> Op) {
        let Some(dst) = self.dst(dst) else { return self.builder.push(op(None)) };
        let bit = self.register("taken".into(), Type::I1);
        self.builder.push(op(Some(bit)));
        self.builder.push(Op::Assign { dst, value: Expr::cast(CastOp::ZExt, Type::I32, Expr::Reg(bit)) });
    }

    fn handle(&mut self, thread: usize) -> Register {
        self.register(format!("thread{thread}"), Type::I64)
    }

    /// Starts a thread, and writes its handle down if somebody else waits for it.
    fn spawn(&mut self, thread: usize) {
        let dst = self.handle(thread);
        self.builder.push(Op::Spawn {
            dst: Some(dst),
            callee: Callee::Direct(function(thread)),
            args: Vec::new(),
            mailbox: None,
        });
        if let Some(&handle) = self.handles.get(&thread) {
            let value = Expr::Reg(dst);
            self.builder.push(Op::Store { ty: Type::I64, addr: address(handle), value, order: Ordering::Release });
        }
    }

    /// Waits for a thread that another one has started: for its handle, then for its end.
    fn await_thread(&mut self, thread: usize) -> Op {
        let handle = self.register(format!("other{thread}"), Type::I64);
        self.builder.push(Op::Load {
            dst: Some(handle),
            ty: Type::I64,
            addr: address(self.handles[&thread]),
            order: Ordering::Acquire,
            until: Some(Expr::binary(BinOp::Ne, Expr::Reg(handle), Expr::int(Type::I64, 0))),
            unwritten: Unwritten::Error,
        });
        Op::Join { dst: None, thread: Expr::Reg(handle) }
    }

    fn next_line(&mut self) {
        self.line += 1;
        self.builder.at(place(self.line));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.next_line();
            self.stmt(stmt);
        }
    }

    fn branch(&mut self, cond: Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let (first, second, after) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.terminate(Term::If(cond, first, second));
        self.builder.switch_to(first);
        self.stmts(then);
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(second);
        if !otherwise.is_empty() {
            self.next_line();
            self.stmts(otherwise);
        }
        self.builder.terminate(Term::Goto(after));
        self.next_line();
        self.builder.switch_to(after);
    }

    fn turning(&mut self, body: &[Stmt]) {
        let (head, after) = (self.builder.block(), self.builder.block());
        self.builder.terminate(Term::Goto(head));
        self.builder.switch_to(head);
        self.loops.push((head, after));
        self.stmts(body);
        self.loops.pop();
        self.builder.terminate(Term::Goto(head));
        self.next_line();
        self.builder.switch_to(after);
    }

    fn jump_if(&mut self, test: Test, target: Option<BlockId>) {
        let Some(target) = target else { return };
        let cond = self.test(test);
        let next = self.builder.block();
        self.builder.terminate(Term::If(cond, target, next));
        self.builder.switch_to(next);
    }

    fn load(&mut self, reg: Option<Reg>, at: At, order: Ordering) -> Op {
        let (dst, addr, order) = (self.dst(reg), self.at(at), readable(order));
        Op::Load { dst, ty: Type::I32, addr, order, until: None, unwritten: Unwritten::Error }
    }

    fn spin(&mut self, reads: &[(Reg, ObjectId)], test: Test) {
        let again = if self.looking { Term::Goto } else { Term::Spin };
        self.turns(again, test, |lower| {
            for &(reg, x) in reads {
                let load = lower.load(Some(reg), At::Object(x), Ordering::Relaxed);
                lower.builder.push(load);
            }
        });
    }

    /// A loop that turns until the condition holds.
    fn turns(&mut self, again: fn(BlockId) -> Term, until: Test, body: impl FnOnce(&mut Self)) {
        let (head, back, after) = (self.builder.block(), self.builder.block(), self.builder.block());
        self.builder.terminate(Term::Goto(head));
        self.builder.switch_to(head);
        body(self);
        let cond = self.test(until);
        self.builder.terminate(Term::If(cond, after, back));
        self.builder.switch_to(back);
        self.builder.terminate(again(head));
        self.builder.switch_to(after);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let ty = Type::I32;
        let op = match *stmt {
            Stmt::Load(reg, at, order) => self.load(reg, at, order),
            Stmt::Move(to, from) => {
                let dst = self.register(format!("moved{}", self.line), Type::I32);
                let (addr, order, unwritten) = (self.at(from), Ordering::Relaxed, Unwritten::Kept);
                self.builder.push(Op::Load { dst: Some(dst), ty, addr, order, until: None, unwritten });
                Op::Store { ty, addr: self.at(to), value: Expr::Reg(dst), order }
            }
            Stmt::Store(at, value, order) => {
                Op::Store { ty, addr: self.at(at), value: self.value(value), order: writable(order) }
            }
            Stmt::Rmw(reg, op, at, value, order) => {
                Op::Rmw { dst: self.dst(reg), op, ty, addr: self.at(at), operand: self.value(value), order, idle: None }
            }
            Stmt::Cas(reg, at, expected, desired, order) => self.cas(reg, at, expected, desired, order, false),
            Stmt::Idle(reg, at, value, order, wait) => {
                let until = self.test(Test { reg, cmp: Cmp::Eq, value: Value::Const(0) });
                Op::Rmw {
                    dst: self.dst(Some(reg)),
                    op: RmwOp::Xchg,
                    ty,
                    addr: self.at(at),
                    operand: self.value(value),
                    order,
                    idle: Some(Idle { until, wait }),
                }
            }
            Stmt::CasWait(at, expected, desired, order) if self.looking => {
                let seen = Reg(25);
                return self.turns(Term::Goto, Test { reg: seen, cmp: Cmp::Eq, value: expected }, |lower| {
                    let cas = lower.cas(Some(seen), at, expected, desired, order, false);
                    lower.builder.push(cas);
                });
            }
            Stmt::CasWait(at, expected, desired, order) => self.cas(None, at, expected, desired, order, true),
            // A loop reads the other side of the condition again in each turn, so that must not be what it writes.
            Stmt::Wait(reg, at, cmp, value, order)
                if self.looking && !matches!(value, Value::Reg(other, _) if other == reg) =>
            {
                return self.turns(Term::Goto, Test { reg, cmp, value }, |lower| {
                    let load = lower.load(Some(reg), at, order);
                    lower.builder.push(load);
                });
            }
            Stmt::Wait(reg, at, cmp, value, order) => {
                let until = Some(self.test(Test { reg, cmp, value }));
                Op::Load {
                    dst: self.dst(Some(reg)),
                    ty,
                    addr: self.at(at),
                    order: readable(order),
                    until,
                    unwritten: Unwritten::Error,
                }
            }
            Stmt::Spin(ref reads, test) => return self.spin(reads, test),
            Stmt::Fence(order) => Op::Fence { order },
            Stmt::Lock(m) => Op::Lock { mutex: address(m), recursive: false },
            Stmt::TryLock(reg, m) => {
                return self.truth(reg, |dst| Op::TryLock { dst, mutex: address(m), recursive: false });
            }
            Stmt::Unlock(m) => Op::Unlock { mutex: address(m) },
            Stmt::ReadLock(l) => Op::ReadLock { lock: address(l) },
            Stmt::WriteLock(l) => Op::WriteLock { lock: address(l) },
            Stmt::TryRwLock(reg, l, write) => {
                return self.truth(reg, |dst| Op::TryRwLock { dst, lock: address(l), write });
            }
            Stmt::RwUnlock(l) => Op::RwUnlock { lock: address(l) },
            Stmt::SemWait(s) => Op::SemWait { sem: address(s) },
            Stmt::SemTry(reg, s) => return self.truth(reg, |dst| Op::SemTryWait { dst, sem: address(s) }),
            Stmt::SemPost(s) => Op::SemPost { sem: address(s) },
            Stmt::Barrier(reg, b) => return self.truth(reg, |dst| Op::BarrierWait { dst, barrier: address(b) }),
            Stmt::CondWait(c, m) => Op::CondWait { cond: address(c), mutex: address(m), timed: false },
            Stmt::Signal(c) => Op::CondSignal { cond: address(c) },
            Stmt::Broadcast(c) => Op::CondBroadcast { cond: address(c) },
            Stmt::Me(reg) => {
                let handle = self.register("me".into(), Type::I64);
                self.builder.push(Op::ThreadId { dst: handle });
                Op::Assign { dst: self.reg(reg), value: Expr::cast(CastOp::Trunc, Type::I32, Expr::Reg(handle)) }
            }
            Stmt::Choose(reg, count) => {
                Op::Choose { dst: self.reg(reg), low: 0, high: u64::from(count.max(1)) - 1, draw: None }
            }
            Stmt::Assume(test) => Op::Assume { cond: self.test(test) },
            Stmt::Assert(test) => Op::Assert { cond: self.test(test), message: format!("{test} is false") },
            Stmt::Set(reg, value) => Op::Assign { dst: self.reg(reg), value: self.value(value) },
            Stmt::Count(reg, end) => {
                let dst = self.reg(reg);
                let more = Expr::binary(BinOp::Add, Expr::Reg(dst), Expr::int(ty, 1));
                Op::Assign { dst, value: Expr::binary(BinOp::URem, more, Expr::int(ty, end.max(1).into())) }
            }
            Stmt::Loop(ref body) => return self.turning(body),
            Stmt::Leave(test) => return self.jump_if(test, self.loops.last().map(|around| around.1)),
            Stmt::Again(test) => return self.jump_if(test, self.loops.last().map(|around| around.0)),
            Stmt::If(test, ref then, ref otherwise) => {
                let cond = self.test(test);
                return self.branch(cond, then, otherwise);
            }
            Stmt::IfNull(reg, ref then, ref otherwise) => {
                let cond = Expr::eq(Expr::Reg(self.ptr(reg)), Expr::null());
                return self.branch(cond, then, otherwise);
            }
            Stmt::Atomic(ref body) => {
                self.builder.push(Op::AtomicBegin);
                self.stmts(body);
                self.next_line();
                Op::AtomicEnd
            }
            Stmt::Spawn(thread) => return self.spawn(thread),
            Stmt::Post(thread, looper) => {
                let (callee, mailbox) = (Callee::Direct(function(thread)), Some(address(looper)));
                Op::Spawn { dst: None, callee, args: Vec::new(), mailbox }
            }
            Stmt::Await(thread) => self.await_thread(thread),
            Stmt::Join(thread) => Op::Join { dst: None, thread: Expr::Reg(self.handle(thread)) },
            Stmt::Alloc(reg, zeroed) => {
                Op::Alloc { dst: self.ptr(reg), size: Expr::int(Type::I64, 4), zeroed, scoped: false }
            }
            Stmt::Free(reg) => Op::Free { ptr: Expr::Reg(self.ptr(reg)), scoped: false },
            Stmt::LoadPtr(reg, x, order) => {
                let dst = Some(self.ptr(reg));
                Op::Load {
                    dst,
                    ty: Type::Ptr,
                    addr: address(x),
                    order: readable(order),
                    until: None,
                    unwritten: Unwritten::Error,
                }
            }
            Stmt::StorePtr(x, reg, order) => {
                let value = Expr::Reg(self.ptr(reg));
                Op::Store { ty: Type::Ptr, addr: address(x), value, order: writable(order) }
            }
        };
        self.builder.push(op);
    }

    fn cas(&mut self, reg: Option<Reg>, at: At, expected: Value, desired: Value, order: Ordering, wait: bool) -> Op {
        Op::Cas {
            dst: self.dst(reg),
            ty: Type::I32,
            addr: self.at(at),
            expected: self.value(expected),
            desired: self.value(desired),
            success: order,
            failure: readable(order),
            wait,
        }
    }
}

fn address(id: ObjectId) -> Expr {
    Expr::Global(GlobalId(id as u32))
}

/// The ordering without its release half.
fn readable(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

/// The ordering without its acquire half.
fn writable(order: Ordering) -> Ordering {
    match order {
        Ordering::Acquire => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Release,
        order => order,
    }
}
