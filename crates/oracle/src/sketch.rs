//! Sketches: small concurrent programs as trees of statements, easy to write, to generate and to shrink.
//!
//! A [`Sketch`] has shared objects and threads; a thread is a list of [`Stmt`]s over registers. [`Sketch::program`]
//! lowers it to a [`Program`]: one function per thread, and a `main` that starts every thread no other thread starts.
//! The listing of the sketch ([`Sketch::listing`]) is the program's source file, one statement a line, so that a
//! failure of the program names a line of the listing. The notation is read by [`litmus`](mod@crate::litmus).

use raddle_program::{Mailbox, Ordering, Program, RmwOp};
use std::fmt;

mod lower;

/// A shared object, by its position in [`Sketch::objects`].
pub type ObjectId = usize;

/// A register of a thread. Registers hold 0 at first; they are written `a`, `b`, ... (pointers `p0`, `p1`, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

/// A register that holds a pointer; null at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PtrReg(pub u8);

/// What a shared object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number (`i32`) with this initial value.
    Var(i32),
    /// A pointer; null at first.
    Pointer,
    /// A mutex.
    Mutex,
    /// A reader-writer lock.
    RwLock,
    /// A semaphore with this initial value.
    Semaphore(u32),
    /// A barrier for so many threads.
    Barrier(u32),
    /// A condition variable.
    Cond,
    /// A looper.
    Looper(Mailbox),
}

/// A shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// To a shared object.
    Object(ObjectId),
    /// Through a pointer, to the number it points to.
    Pointee(PtrReg),
}

/// A number a statement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// This one.
    Const(i32),
    /// What the register holds, plus this.
    Reg(Reg, i32),
}

/// How a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less, signed.
    Lt,
}

/// A condition on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Test {
    /// Which register.
    pub reg: Reg,
    /// How it is compared.
    pub cmp: Cmp,
    /// With what.
    pub value: Value,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `M *p0 x`: moves what is at the second place to the first, also if nobody has ever written there.
    Move(At, At),
    /// `a=R x`: reads.
    Load(Option<Reg>, At, Ordering),
    /// `W x 1`: writes.
    Store(At, Value, Ordering),
    /// `a=A x 1`, `a=X x 1`, `a=O x 1`: adds (or exchanges, or sets bits) and gives the old value.
    Rmw(Option<Reg>, RmwOp, At, Value, Ordering),
    /// `a=C x 0 1`: writes the second value if the first is there.
    Cas(Option<Reg>, At, Value, Value, Ordering),
    /// `CW x 0 1`: waits until the first value is there, then writes the second.
    CasWait(At, Value, Value, Ordering),
    /// `a=XW x 1`, `a=XU x 1`: exchanges, unless that would change nothing and something else than 0 was there; then it waits (true), or is a
    /// mere read.
    Idle(Reg, At, Value, Ordering, bool),
    /// `a=wait x == 1`: reads as soon as the value satisfies the comparison.
    Wait(Reg, At, Cmp, Value, Ordering),
    /// `spin { a=R x; b=R y } a==1`: turns in a loop of reads until the condition holds.
    Spin(Vec<(Reg, ObjectId)>, Test),
    /// `F`, `S` (release), `F.acq`, `F.acqrel`: a fence.
    Fence(Ordering),
    /// `lock m`.
    Lock(ObjectId),
    /// `a=trylock m`.
    TryLock(Option<Reg>, ObjectId),
    /// `unlock m`.
    Unlock(ObjectId),
    /// `rdlock l`.
    ReadLock(ObjectId),
    /// `wrlock l`.
    WriteLock(ObjectId),
    /// `a=tryrd l`, `a=trywr l` (true).
    TryRwLock(Option<Reg>, ObjectId, bool),
    /// `rwunlock l`.
    RwUnlock(ObjectId),
    /// `semwait s`.
    SemWait(ObjectId),
    /// `a=semtry s`.
    SemTry(Option<Reg>, ObjectId),
    /// `sempost s`.
    SemPost(ObjectId),
    /// `a=barrier b`.
    Barrier(Option<Reg>, ObjectId),
    /// `condwait c m`.
    CondWait(ObjectId, ObjectId),
    /// `signal c`.
    Signal(ObjectId),
    /// `broadcast c`.
    Broadcast(ObjectId),
    /// `a=choose 2`: any number below.
    Choose(Reg, u32),
    /// `assume a==1`.
    Assume(Test),
    /// `assert a==1`.
    Assert(Test),
    /// `a=2`, `a=b+1`.
    Set(Reg, Value),
    /// `a=count 3`: adds one, and begins again from 0 at that number.
    Count(Reg, u32),
    /// `loop { a=R x; leave a==1 }`: a loop as it is written, whatever it does.
    Loop(Vec<Stmt>),
    /// `leave a==1`: out of the loop around it, if the condition holds. Outside of loops it is nothing.
    Leave(Test),
    /// `again a==1`: on with the next turn of the loop around it, if the condition holds.
    Again(Test),
    /// `a=me`: the handle of the running thread.
    Me(Reg),
    /// `if a==1 { W x 1 } else { W y 1 }`.
    If(Test, Vec<Stmt>, Vec<Stmt>),
    /// `atomic { a=R x; W x a+1 }`.
    Atomic(Vec<Stmt>),
    /// `spawn 1`: starts that thread. Each thread is started in one place.
    Spawn(usize),
    /// `post 1 l`: posts that thread as a message to a looper. Each message is posted in one place.
    Post(usize, ObjectId),
    /// `join 1`: by the thread that started it.
    Join(usize),
    /// `await 1`: waits until another thread has told that it started that thread, and for its end.
    Await(usize),
    /// `p0=alloc`, `p0=zalloc` (true): room for one number, uninitialised or zero.
    Alloc(PtrReg, bool),
    /// `free p0`.
    Free(PtrReg),
    /// `p0=RP q`: reads a pointer.
    LoadPtr(PtrReg, ObjectId, Ordering),
    /// `WP q p0`: writes a pointer.
    StorePtr(ObjectId, PtrReg, Ordering),
    /// `ifnull p0 { } else { W *p0 1 }`.
    IfNull(PtrReg, Vec<Stmt>, Vec<Stmt>),
}

/// A small concurrent program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// What the threads share.
    pub objects: Vec<Object>,
    /// What each thread does.
    pub threads: Vec<Vec<Stmt>>,
    /// Whether the first thread waits for those it has started.
    pub joined: bool,
}

impl Sketch {
    /// The program. Its source file is the [listing](Sketch::listing).
    pub fn program(&self) -> Program {
        lower::program(self, false)
    }

    /// The program as somebody writes it who has no statements that wait: with loops that look again and again.
    pub fn program_with_loops(&self) -> Program {
        lower::program(self, true)
    }

    /// The sketch in its notation, one statement a line.
    pub fn listing(&self) -> String {
        let mut lines = Vec::new();
        for object in &self.objects {
            if let Some(declaration) = declaration(object) {
                lines.push(declaration);
            }
        }
        for (index, thread) in self.threads.iter().enumerate() {
            lines.push(format!("thread {index}"));
            self.list(thread, 1, &mut lines);
        }
        lines.join("\n") + "\n"
    }

    fn list(&self, stmts: &[Stmt], depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        for stmt in stmts {
            lines.push(format!("{indent}{}", self.line(stmt)));
            match stmt {
                Stmt::If(_, then, otherwise) | Stmt::IfNull(_, then, otherwise) => {
                    self.list(then, depth + 1, lines);
                    if !otherwise.is_empty() {
                        lines.push(format!("{indent}}} else {{"));
                        self.list(otherwise, depth + 1, lines);
                    }
                    lines.push(format!("{indent}}}"));
                }
                Stmt::Atomic(body) | Stmt::Loop(body) => {
                    self.list(body, depth + 1, lines);
                    lines.push(format!("{indent}}}"));
                }
                _ => {}
            }
        }
    }

    /// The first line of a statement.
    fn line(&self, stmt: &Stmt) -> String {
        let name = |&id: &ObjectId| self.objects[id].name.as_str();
        let at = |at: &At| match at {
            At::Object(id) => name(id).to_owned(),
            At::Pointee(reg) => format!("*{reg}"),
        };
        let dst = |reg: &Option<Reg>| reg.map_or(String::new(), |reg| format!("{reg}="));
        match stmt {
            Stmt::Move(to, from) => format!("M {} {}", at(to), at(from)),
            Stmt::Load(reg, x, order) => format!("{}R{} {}", dst(reg), suffix(*order), at(x)),
            Stmt::Store(x, value, order) => format!("W{} {} {value}", suffix(*order), at(x)),
            Stmt::Rmw(reg, op, x, value, order) => {
                let op = match op {
                    RmwOp::Xchg => "X",
                    RmwOp::Or => "O",
                    _ => "A",
                };
                format!("{}{op}{} {} {value}", dst(reg), suffix(*order), at(x))
            }
            Stmt::Cas(reg, x, old, new, order) => format!("{}C{} {} {old} {new}", dst(reg), suffix(*order), at(x)),
            Stmt::Idle(reg, x, value, order, wait) => {
                format!("{reg}=X{}{} {} {value}", if *wait { "W" } else { "U" }, suffix(*order), at(x))
            }
            Stmt::CasWait(x, old, new, order) => format!("CW{} {} {old} {new}", suffix(*order), at(x)),
            Stmt::Wait(reg, x, cmp, value, order) => {
                format!("{reg}=wait{} {} {cmp} {value}", suffix(*order), at(x))
            }
            Stmt::Spin(reads, test) => {
                let reads: Vec<_> = reads.iter().map(|(reg, x)| format!("{reg}=R {}", name(x))).collect();
                format!("spin {{ {} }} {test}", reads.join("; "))
            }
            Stmt::Fence(Ordering::SeqCst) => "F".into(),
            Stmt::Fence(Ordering::Release) => "S".into(),
            Stmt::Fence(order) => format!("F.{order}"),
            Stmt::Lock(m) => format!("lock {}", name(m)),
            Stmt::TryLock(reg, m) => format!("{}trylock {}", dst(reg), name(m)),
            Stmt::Unlock(m) => format!("unlock {}", name(m)),
            Stmt::ReadLock(l) => format!("rdlock {}", name(l)),
            Stmt::WriteLock(l) => format!("wrlock {}", name(l)),
            Stmt::TryRwLock(reg, l, write) => {
                format!("{}{} {}", dst(reg), if *write { "trywr" } else { "tryrd" }, name(l))
            }
            Stmt::RwUnlock(l) => format!("rwunlock {}", name(l)),
            Stmt::SemWait(s) => format!("semwait {}", name(s)),
            Stmt::SemTry(reg, s) => format!("{}semtry {}", dst(reg), name(s)),
            Stmt::SemPost(s) => format!("sempost {}", name(s)),
            Stmt::Barrier(reg, b) => format!("{}barrier {}", dst(reg), name(b)),
            Stmt::CondWait(c, m) => format!("condwait {} {}", name(c), name(m)),
            Stmt::Signal(c) => format!("signal {}", name(c)),
            Stmt::Broadcast(c) => format!("broadcast {}", name(c)),
            Stmt::Choose(reg, count) => format!("{reg}=choose {count}"),
            Stmt::Assume(test) => format!("assume {test}"),
            Stmt::Assert(test) => format!("assert {test}"),
            Stmt::Set(reg, value) => format!("{reg}={value}"),
            Stmt::Count(reg, end) => format!("{reg}=count {end}"),
            Stmt::Loop(_) => "loop {".into(),
            Stmt::Leave(test) => format!("leave {test}"),
            Stmt::Again(test) => format!("again {test}"),
            Stmt::Me(reg) => format!("{reg}=me"),
            Stmt::If(test, ..) => format!("if {test} {{"),
            Stmt::Atomic(_) => "atomic {".into(),
            Stmt::Spawn(thread) => format!("spawn {thread}"),
            Stmt::Post(thread, looper) => format!("post {thread} {}", name(looper)),
            Stmt::Join(thread) => format!("join {thread}"),
            Stmt::Await(thread) => format!("await {thread}"),
            Stmt::Alloc(reg, zeroed) => format!("{reg}={}", if *zeroed { "zalloc" } else { "alloc" }),
            Stmt::Free(reg) => format!("free {reg}"),
            Stmt::LoadPtr(reg, x, order) => format!("{reg}=RP{} {}", suffix(*order), name(x)),
            Stmt::StorePtr(x, reg, order) => format!("WP{} {} {reg}", suffix(*order), name(x)),
            Stmt::IfNull(reg, ..) => format!("ifnull {reg} {{"),
        }
    }

    /// Calls `visit` on every statement, outer ones first.
    pub fn for_each(&self, mut visit: impl FnMut(&Stmt)) {
        fn walk(stmts: &[Stmt], visit: &mut impl FnMut(&Stmt)) {
            for stmt in stmts {
                visit(stmt);
                match stmt {
                    Stmt::If(_, then, otherwise) | Stmt::IfNull(_, then, otherwise) => {
                        walk(then, visit);
                        walk(otherwise, visit);
                    }
                    Stmt::Atomic(body) | Stmt::Loop(body) => walk(body, visit),
                    _ => {}
                }
            }
        }
        self.threads.iter().for_each(|thread| walk(thread, &mut visit));
    }

    /// Whether some statement is like this.
    pub fn any(&self, is: impl Fn(&Stmt) -> bool) -> bool {
        let mut found = false;
        self.for_each(|stmt| found |= is(stmt));
        found
    }
}

/// The declaration of an object, unless its kind is clear from its use.
fn declaration(object: &Object) -> Option<String> {
    let name = &object.name;
    match object.kind {
        Kind::Var(0) | Kind::Pointer | Kind::Mutex | Kind::RwLock | Kind::Cond => None,
        Kind::Var(value) => Some(format!("let {name} {value}")),
        Kind::Semaphore(count) => Some(format!("let {name} sem {count}")),
        Kind::Barrier(count) => Some(format!("let {name} barrier {count}")),
        Kind::Looper(mailbox) => Some(format!("let {name} {}", mailbox.name())),
    }
}

fn suffix(order: Ordering) -> String {
    if order == Ordering::Relaxed { String::new() } else { format!(".{order}") }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'a' + self.0))
    }
}

impl fmt::Display for PtrReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Const(value) => write!(f, "{value}"),
            Value::Reg(reg, 0) => write!(f, "{reg}"),
            Value::Reg(reg, plus) => write!(f, "{reg}+{plus}"),
        }
    }
}

impl fmt::Display for Cmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
            Cmp::Lt => "<",
        })
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.reg, self.cmp, self.value)
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listing())
    }
}
