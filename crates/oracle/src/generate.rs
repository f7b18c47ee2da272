//! Random programs, small enough for brute force, and varied enough to have every kind of event meet every other.
//!
//! Each [`Family`] has its own shape. [`Family::Mixed`] uses everything, a different part of it in each program, so that a
//! feature also occurs alone with one other. [`Family::Buffered`] puts every kind of event between a write and a later
//! read of several threads; that is where store buffers show, and where a wrong edge in a model's preserved program order is
//! noticed. The others are apart because an engine may not support what they use.

mod events;
mod meetings;
mod strong;
mod waits;

use crate::sketch::{At, Cmp, Kind, Object, ObjectId, PtrReg, Reg, Sketch, Stmt, Test, Value};
use raddle_program::{Ordering, RmwOp};
use raddle_testkit::Random;
use std::fmt;
use std::str::FromStr;

/// A shape of random programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// A: accesses, updates, fences, locks of all kinds, branches, assumptions, choices, waits, nested threads.
    Mixed,
    /// B: two or three threads that write one variable and read another, with one other event in between.
    Buffered,
    /// C: allocation, passing of pointers, free.
    Heap,
    /// D: accesses that are not atomic.
    Racy,
    /// E: atomic blocks.
    Atomic,
    /// F: like A, without operations that read and write in one step other than locks of a mutex.
    Plain,
    /// G: counters, which threads add to without looking, and which some read in the end.
    Counters,
    /// H: accesses that are not atomic, most of them ordered by flags, fences and locks.
    Guarded,
    /// I: loops that wait, as they are written.
    Waits,
    /// J: barriers.
    Meetings,
    /// K: seq_cst accesses and full fences beside weaker ones.
    Strong,
    /// L: messages that are posted to loopers.
    Events,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 12] = [
        Family::Mixed,
        Family::Buffered,
        Family::Heap,
        Family::Racy,
        Family::Atomic,
        Family::Plain,
        Family::Counters,
        Family::Guarded,
        Family::Waits,
        Family::Meetings,
        Family::Strong,
        Family::Events,
    ];

    /// Its letter on the command line.
    pub const fn letter(self) -> char {
        match self {
            Family::Mixed => 'A',
            Family::Buffered => 'B',
            Family::Heap => 'C',
            Family::Racy => 'D',
            Family::Atomic => 'E',
            Family::Plain => 'F',
            Family::Counters => 'G',
            Family::Guarded => 'H',
            Family::Waits => 'I',
            Family::Meetings => 'J',
            Family::Strong => 'K',
            Family::Events => 'L',
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

impl FromStr for Family {
    type Err = String;

    fn from_str(letter: &str) -> Result<Self, String> {
        let found = Family::ALL.into_iter().find(|family| family.letter().to_string() == letter);
        found.ok_or_else(|| format!("no family of programs is called `{letter}`; there are A to L"))
    }
}

/// The `index`-th program of a family under this seed.
pub fn generate(family: Family, seed: u64, index: u64) -> Sketch {
    let mut mix = Random::new(seed);
    let seed = mix.number() ^ (family as u64) << 56 ^ index;
    let random = Random::new(Random::new(seed).number());
    let mut generator = Generator { random, sketch: Sketch::default(), uses: Uses::default() };
    match family {
        Family::Mixed => generator.mixed(),
        Family::Buffered => generator.buffered(),
        Family::Heap => generator.heap(),
        Family::Racy => generator.racy(),
        Family::Atomic => generator.atomic(),
        Family::Plain => generator.plain(),
        Family::Counters => generator.counters(),
        Family::Guarded => generator.guarded(),
        Family::Waits => generator.waits(),
        Family::Meetings => generator.meetings(),
        Family::Strong => generator.strong(),
        Family::Events => generator.events(),
    }
    generator.sketch
}

/// What a program uses. Each list holds the objects of that kind.
#[derive(Clone, Debug, Default)]
struct Uses {
    vars: Vec<ObjectId>,
    mutexes: Vec<ObjectId>,
    rwlocks: Vec<ObjectId>,
    semaphores: Vec<ObjectId>,
    barriers: Vec<ObjectId>,
    conds: Vec<ObjectId>,
    updates: bool,
    fences: bool,
    orders: bool,
    waits: bool,
    spins: bool,
    choices: bool,
    assumptions: bool,
    assertions: bool,
    branches: bool,
    not_atomic: bool,
    /// No update but the locks of a mutex.
    plain: bool,
}

struct Generator {
    random: Random,
    sketch: Sketch,
    uses: Uses,
}

impl Generator {
    fn object(&mut self, name: String, kind: Kind) -> ObjectId {
        self.sketch.objects.push(Object { name, kind });
        self.sketch.objects.len() - 1
    }

    fn objects(&mut self, name: &str, kind: Kind, count: usize) -> Vec<ObjectId> {
        (0..count).map(|i| self.object(format!("{name}{i}"), kind)).collect()
    }

    fn variables(&mut self, count: usize) {
        self.uses.vars = ["x", "y", "z"][..count]
            .iter()
            .map(|name| {
                let initial = if self.random.chance(10) { 1 } else { 0 };
                self.object((*name).to_owned(), Kind::Var(initial))
            })
            .collect();
    }

    fn var(&mut self) -> ObjectId {
        self.random.pick(&self.uses.vars.clone())
    }

    fn at(&mut self) -> At {
        At::Object(self.var())
    }

    fn reg(&mut self) -> Reg {
        Reg(self.random.below(3) as u8)
    }

    fn constant(&mut self) -> Value {
        Value::Const(self.random.below(3) as i32)
    }

    fn value(&mut self) -> Value {
        if self.random.chance(65) { self.constant() } else { Value::Reg(self.reg(), self.random.below(2) as i32) }
    }

    fn test(&mut self) -> Test {
        let cmp = self.random.pick(&[Cmp::Eq, Cmp::Eq, Cmp::Ne, Cmp::Lt]);
        let value = if self.random.chance(85) { self.constant() } else { Value::Reg(self.reg(), 0) };
        Test { reg: self.reg(), cmp, value }
    }

    /// The ordering of an access that is not an update.
    fn order(&mut self) -> Ordering {
        if self.uses.not_atomic && self.random.chance(55) {
            return Ordering::NonAtomic;
        }
        self.update_order()
    }

    fn update_order(&mut self) -> Ordering {
        if !self.uses.orders {
            return Ordering::Relaxed;
        }
        self.random.pick(&[Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst])
    }

    fn fence(&mut self) -> Stmt {
        let weaker = [Ordering::SeqCst, Ordering::SeqCst, Ordering::Release, Ordering::Acquire, Ordering::AcqRel];
        Stmt::Fence(self.random.pick(&weaker))
    }

    fn load(&mut self) -> Stmt {
        let dst = self.random.chance(85).then(|| self.reg());
        Stmt::Load(dst, self.at(), self.order())
    }

    fn store(&mut self) -> Stmt {
        Stmt::Store(self.at(), self.value(), self.order())
    }

    fn update(&mut self) -> Stmt {
        let dst = self.random.chance(70).then(|| self.reg());
        let order = self.update_order();
        match self.random.below(4) {
            0 => Stmt::Rmw(dst, RmwOp::Add, self.at(), self.value(), order),
            1 => Stmt::Rmw(dst, RmwOp::Xchg, self.at(), self.value(), order),
            _ => Stmt::Cas(dst, self.at(), self.value(), self.value(), order),
        }
    }

    fn wait(&mut self) -> Stmt {
        let order = self.update_order();
        if self.uses.spins && self.random.chance(50) {
            let mut reads = vec![(Reg(0), self.var())];
            if self.random.chance(40) {
                reads.push((Reg(1), self.var()));
            }
            let reg = reads[self.random.below(reads.len())].0;
            let cmp = self.random.pick(&[Cmp::Eq, Cmp::Ne]);
            return Stmt::Spin(reads, Test { reg, cmp, value: self.constant() });
        }
        if self.random.chance(35) && !self.uses.plain {
            return Stmt::CasWait(self.at(), self.constant(), self.constant(), order);
        }
        if self.random.chance(35) && !self.uses.plain {
            let wait = self.random.chance(70);
            return Stmt::Idle(self.reg(), self.at(), self.value(), order, wait);
        }
        let cmp = self.random.pick(&[Cmp::Eq, Cmp::Ne, Cmp::Ne]);
        Stmt::Wait(self.reg(), self.at(), cmp, self.constant(), order)
    }

    /// At most `room` statements.
    fn stmts(&mut self, room: usize, depth: usize) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        while stmts.len() < room {
            self.some(&mut stmts, room, depth);
        }
        stmts
    }

    /// One statement, or a few that belong together.
    fn some(&mut self, stmts: &mut Vec<Stmt>, room: usize, depth: usize) {
        let left = room - stmts.len();
        let inner = |random: &mut Random| random.between(1, left.saturating_sub(2).clamp(1, 3));
        let uses = self.uses.clone();
        match self.random.below(34) {
            0..5 if uses.updates => stmts.push(self.update()),
            5..7 if uses.fences => stmts.push(self.fence()),
            7..10 if !uses.mutexes.is_empty() && left > 1 => {
                let m = self.random.pick(&uses.mutexes);
                let body = inner(&mut self.random);
                let release = self.random.chance(85);
                if self.random.chance(70) {
                    stmts.push(Stmt::Lock(m));
                    stmts.extend(self.stmts(body, depth + 1));
                    stmts.extend(release.then_some(Stmt::Unlock(m)));
                } else {
                    let reg = self.reg();
                    stmts.push(Stmt::TryLock(Some(reg), m));
                    let mut section = self.stmts(body, depth + 1);
                    section.extend(release.then_some(Stmt::Unlock(m)));
                    let taken = Test { reg, cmp: Cmp::Ne, value: Value::Const(0) };
                    stmts.push(Stmt::If(taken, section, Vec::new()));
                }
                if self.random.chance(3) {
                    stmts.push(Stmt::Unlock(m));
                }
            }
            10..13 if !uses.rwlocks.is_empty() => {
                let l = self.random.pick(&uses.rwlocks);
                let body = inner(&mut self.random);
                let release = self.random.chance(85);
                match self.random.below(5) {
                    0 | 1 => stmts.push(Stmt::ReadLock(l)),
                    2 | 3 => stmts.push(Stmt::WriteLock(l)),
                    _ => {
                        let (reg, write) = (self.reg(), self.random.chance(50));
                        let mut section = self.stmts(body, depth + 1);
                        section.extend(release.then_some(Stmt::RwUnlock(l)));
                        let taken = Test { reg, cmp: Cmp::Ne, value: Value::Const(0) };
                        stmts.extend([Stmt::TryRwLock(Some(reg), l, write), Stmt::If(taken, section, Vec::new())]);
                        return;
                    }
                }
                stmts.extend(self.stmts(body, depth + 1));
                stmts.extend(release.then_some(Stmt::RwUnlock(l)));
            }
            13..16 if !uses.semaphores.is_empty() => {
                let s = self.random.pick(&uses.semaphores);
                stmts.push(match self.random.below(5) {
                    0 | 1 => Stmt::SemWait(s),
                    2 => Stmt::SemTry(Some(self.reg()), s),
                    _ => Stmt::SemPost(s),
                });
            }
            16 | 17 if !uses.barriers.is_empty() => {
                let dst = self.random.chance(50).then(|| self.reg());
                stmts.push(Stmt::Barrier(dst, self.random.pick(&uses.barriers)));
            }
            18..20 if uses.waits => stmts.push(self.wait()),
            20 if uses.choices => stmts.push(Stmt::Choose(self.reg(), self.random.between(2, 3) as u32)),
            21 if uses.assumptions => stmts.push(Stmt::Assume(self.test())),
            22 if uses.assertions => stmts.push(Stmt::Assert(self.test())),
            23..26 if uses.branches && depth < 2 && left > 1 => {
                let test = self.test();
                let then = inner(&mut self.random).min(2);
                let then = self.stmts(then, depth + 1);
                let otherwise = if self.random.chance(30) { self.stmts(1, depth + 1) } else { Vec::new() };
                stmts.push(Stmt::If(test, then, otherwise));
            }
            26..28 if !uses.conds.is_empty() && !uses.mutexes.is_empty() => {
                let (c, m) = (uses.conds[0], uses.mutexes[0]);
                if self.random.chance(50) {
                    stmts.extend([Stmt::Lock(m), Stmt::CondWait(c, m), Stmt::Unlock(m)]);
                } else {
                    let wake = if self.random.chance(65) { Stmt::Signal(c) } else { Stmt::Broadcast(c) };
                    stmts.push(wake);
                }
            }
            28..31 => stmts.push(self.load()),
            _ => {
                let stmt = if self.random.chance(45) { self.load() } else { self.store() };
                stmts.push(stmt);
            }
        }
    }

    fn mixed(&mut self) {
        let count = self.random.between(1, 3);
        self.variables(count);
        let mutexes = self.random.pick(&[0, 0, 1, 1, 2]);
        self.uses.mutexes = self.objects("m", Kind::Mutex, mutexes);
        let rare = |random: &mut Random, percent| usize::from(random.chance(percent));
        let count = rare(&mut self.random, 12);
        self.uses.rwlocks = self.objects("l", Kind::RwLock, count);
        let (count, initial) = (rare(&mut self.random, 12), self.random.below(3) as u32);
        self.uses.semaphores = self.objects("s", Kind::Semaphore(initial), count);
        let (count, meeting) = (rare(&mut self.random, 8), self.random.between(1, 3) as u32);
        self.uses.barriers = self.objects("b", Kind::Barrier(meeting), count);
        let count = rare(&mut self.random, 15);
        self.uses.conds = self.objects("c", Kind::Cond, count);
        let random = &mut self.random;
        self.uses.updates = random.chance(65);
        self.uses.fences = random.chance(45);
        self.uses.orders = random.chance(35);
        self.uses.waits = random.chance(30);
        self.uses.spins = random.chance(50);
        self.uses.choices = random.chance(25);
        self.uses.assumptions = random.chance(25);
        self.uses.assertions = random.chance(30);
        self.uses.branches = random.chance(50);
        self.threads();
        if self.random.chance(30) {
            self.nest();
        }
    }

    fn plain(&mut self) {
        self.uses.plain = true;
        let count = self.random.between(1, 3);
        self.variables(count);
        let mutexes = self.random.pick(&[0, 0, 0, 1, 1, 2]);
        self.uses.mutexes = self.objects("m", Kind::Mutex, mutexes);
        let random = &mut self.random;
        self.uses.waits = random.chance(25);
        self.uses.spins = random.chance(40);
        self.uses.choices = random.chance(15);
        self.uses.assumptions = random.chance(15);
        self.uses.assertions = random.chance(40);
        self.uses.branches = random.chance(50);
        self.threads();
        if self.random.chance(30) {
            self.nest();
        }
    }

    /// Two to four threads of random statements.
    fn threads(&mut self) {
        let threads = self.random.pick(&[2, 2, 2, 3, 3, 4]);
        let longest = [6, 4, 3][threads - 2];
        for _ in 0..threads {
            let room = self.random.between(1, longest);
            let body = self.stmts(room, 0);
            self.sketch.threads.push(body);
        }
    }

    /// Lets some threads be started, and perhaps waited for, by an earlier one.
    fn nest(&mut self) {
        for child in 1..self.sketch.threads.len() {
            if self.random.chance(40) {
                continue;
            }
            let parent = self.random.below(child);
            let body = &mut self.sketch.threads[parent];
            let at = self.random.below(body.len() + 1);
            body.insert(at, Stmt::Spawn(child));
            if self.random.chance(60) {
                let at = self.random.between(at + 1, body.len());
                body.insert(at, Stmt::Join(child));
            }
        }
        // Others may wait for a thread, too: one of them, or two, of which the second is in error.
        if self.random.chance(30) {
            let thread = self.random.below(self.sketch.threads.len());
            for _ in 0..2 {
                let other = self.random.below(self.sketch.threads.len());
                if thread != other {
                    let body = &mut self.sketch.threads[other];
                    body.insert(self.random.below(body.len() + 1), Stmt::Await(thread));
                }
            }
        }
        if self.random.chance(50) {
            self.tell();
        }
    }

    /// Lets threads write down who they are, and perhaps one of them look who is greater.
    fn tell(&mut self) {
        for thread in 0..self.sketch.threads.len() {
            if self.random.chance(60) {
                let reg = self.reg();
                let tells = [Stmt::Me(reg), Stmt::Store(self.at(), Value::Reg(reg, 0), self.order())];
                let body = &mut self.sketch.threads[thread];
                let at = self.random.below(body.len() + 1);
                body.splice(at..at, tells);
            }
        }
        if self.random.chance(60) {
            let cmp = self.random.pick(&[Cmp::Eq, Cmp::Ne, Cmp::Lt]);
            let test = Test { reg: Reg(0), cmp, value: Value::Reg(Reg(1), 0) };
            let end = if self.random.chance(60) {
                Stmt::Assert(test)
            } else {
                Stmt::If(test, vec![self.store()], Vec::new())
            };
            let looks = [Reg(0), Reg(1)].map(|reg| Stmt::Load(Some(reg), self.at(), self.order()));
            let thread = self.random.below(self.sketch.threads.len());
            self.sketch.threads[thread].extend(looks.into_iter().chain([end]));
        }
    }

    /// An event that is no plain access to `x` and `y`, of each kind there is.
    fn between(&mut self, own: ObjectId, mutex: ObjectId, spawned: &mut Vec<usize>) -> Vec<Stmt> {
        let order = self.random.pick(&[Ordering::Relaxed, Ordering::AcqRel, Ordering::SeqCst]);
        let own = At::Object(own);
        match self.random.below(17) {
            0 => vec![Stmt::Fence(Ordering::SeqCst)],
            1 => vec![Stmt::Fence(Ordering::Release)],
            2 => vec![Stmt::Fence(Ordering::Acquire)],
            3 => vec![Stmt::Fence(Ordering::AcqRel)],
            4 | 5 => vec![Stmt::Choose(self.reg(), 2)],
            6 => vec![Stmt::Rmw(None, RmwOp::Add, own, Value::Const(1), order)],
            7 => vec![Stmt::Cas(None, own, Value::Const(7), Value::Const(1), order)],
            8 => vec![Stmt::Cas(None, own, Value::Const(0), Value::Const(1), order)],
            9 => vec![Stmt::Lock(mutex), Stmt::Unlock(mutex)],
            10 => vec![Stmt::TryLock(None, mutex)],
            11 => vec![Stmt::Store(own, Value::Const(1), Ordering::SeqCst)],
            12 => vec![Stmt::Store(own, Value::Const(1), Ordering::Release)],
            13 => vec![Stmt::Wait(Reg(2), own, Cmp::Lt, Value::Const(5), Ordering::Relaxed)],
            14 => {
                // An empty thread, so that all there is to it is its start.
                spawned.push(self.sketch.threads.len());
                self.sketch.threads.push(Vec::new());
                let child = self.sketch.threads.len() - 1;
                let join = self.random.chance(50).then_some(Stmt::Join(child));
                [Stmt::Spawn(child)].into_iter().chain(join).collect()
            }
            15 => vec![Stmt::Spin(
                vec![(Reg(2), self.uses.vars[0])],
                Test { reg: Reg(2), cmp: Cmp::Lt, value: Value::Const(9) },
            )],
            _ => vec![Stmt::Assume(Test { reg: Reg(2), cmp: Cmp::Lt, value: Value::Const(9) })],
        }
    }

    fn buffered(&mut self) {
        self.variables(2);
        self.uses.orders = self.random.chance(20);
        let (x, y) = (self.uses.vars[0], self.uses.vars[1]);
        let count = self.random.pick(&[2, 2, 2, 3]);
        let own = self.objects("own", Kind::Var(0), count);
        let mutexes = self.objects("m", Kind::Mutex, count);
        self.sketch.threads = vec![Vec::new(); count];
        let mut spawned = Vec::new();
        for thread in 0..count {
            let (write, read) = if thread % 2 == 0 { (x, y) } else { (y, x) };
            let mut body = Vec::new();
            let extra = self.random.between(0, if count == 2 { 3 } else { 1 });
            for at in 0..=extra {
                if at == self.random.below(extra + 1) && self.random.chance(80) {
                    body.extend(self.between(own[thread], mutexes[thread], &mut spawned));
                }
                if at < extra {
                    let access = if self.random.chance(50) { self.load() } else { self.store() };
                    body.push(access);
                }
            }
            let value = Value::Const(thread as i32 + 1);
            let order = self.order();
            body.insert(0, Stmt::Store(At::Object(write), value, order));
            body.push(Stmt::Load(Some(Reg(0)), At::Object(read), Ordering::Relaxed));
            self.sketch.threads[thread] = body;
        }
    }

    fn heap(&mut self) {
        self.variables(1);
        self.uses.orders = self.random.chance(60);
        self.uses.updates = self.random.chance(30);
        self.uses.fences = self.random.chance(30);
        let cells = self.random.between(1, 2);
        let pointers = self.objects("q", Kind::Pointer, cells);
        let threads = self.random.pick(&[2, 2, 3]);
        for thread in 0..threads {
            let mut body = Vec::new();
            let room = self.random.between(2, 9 - 2 * threads);
            // The register whose object this thread made; the others are null until something is read into them.
            let mut own = None;
            while body.len() < room {
                let p = PtrReg(self.random.below(2) as u8);
                let q = self.random.pick(&pointers);
                let order = self.update_order();
                match self.random.below(12) {
                    _ if own.is_none() && self.random.chance(if thread == 0 { 80 } else { 15 }) => {
                        own = Some(p);
                        body.push(Stmt::Alloc(p, self.random.chance(60)));
                        if self.random.chance(60) {
                            body.push(Stmt::Store(At::Pointee(p), self.value(), Ordering::Relaxed));
                        }
                        // What nobody else hears of is private.
                        if self.random.chance(85) {
                            body.push(Stmt::StorePtr(q, p, order));
                        }
                    }
                    0..6 => {
                        let access = self.through(p, order);
                        body.extend([Stmt::LoadPtr(p, q, order), Stmt::IfNull(p, Vec::new(), vec![access])]);
                        own = own.filter(|&own| own != p);
                    }
                    6 if self.random.chance(70) => {
                        let target = own.filter(|_| self.random.chance(95)).unwrap_or(p);
                        let (there, here) = (At::Pointee(target), self.at());
                        let (to, from) = if self.random.chance(50) { (there, here) } else { (here, there) };
                        let or = vec![Stmt::Move(to, from)];
                        body.push(Stmt::IfNull(target, Vec::new(), or));
                    }
                    6..9 => {
                        let target = own.filter(|_| self.random.chance(95)).unwrap_or(p);
                        if own.is_some() || self.random.chance(10) {
                            let access = self.through(target, order);
                            body.push(access);
                        }
                    }
                    9 => body.push(Stmt::StorePtr(q, p, order)),
                    _ => self.some(&mut body, room, 2),
                }
            }
            self.sketch.threads.push(body);
        }
        if self.random.chance(25) {
            self.nest();
        }
    }

    /// Something done with what a pointer points to.
    fn through(&mut self, p: PtrReg, order: Ordering) -> Stmt {
        match self.random.below(6) {
            0 => Stmt::Free(p),
            1 => Stmt::Rmw(None, RmwOp::Add, At::Pointee(p), Value::Const(1), order),
            2 | 3 => Stmt::Store(At::Pointee(p), self.value(), order),
            _ => Stmt::Load(Some(self.reg()), At::Pointee(p), order),
        }
    }

    fn racy(&mut self) {
        let count = self.random.between(1, 3);
        self.variables(count);
        let mutexes = self.random.below(2);
        self.uses.mutexes = self.objects("m", Kind::Mutex, mutexes);
        self.uses.not_atomic = true;
        self.uses.orders = true;
        self.uses.updates = self.random.chance(50);
        self.uses.fences = self.random.chance(40);
        self.uses.waits = self.random.chance(30);
        self.uses.branches = self.random.chance(60);
        self.uses.assertions = self.random.chance(15);
        self.threads();
        if self.random.chance(30) {
            self.nest();
        }
    }

    fn counters(&mut self) {
        self.variables(2);
        let counters = self.random.between(1, 2);
        let counters = self.objects("n", Kind::Var(0), counters);
        self.uses.not_atomic = self.random.chance(40);
        self.uses.orders = self.random.chance(50);
        self.uses.fences = self.random.chance(20);
        self.uses.branches = self.random.chance(50);
        self.uses.assertions = self.random.chance(15);
        let threads = self.random.between(2, 3);
        // Whether the first thread sets a flag, and the others look at it before they add.
        let flag = self.random.chance(50).then(|| self.var());
        for thread in 0..threads {
            let room = self.random.between(0, 5 - threads);
            let mut body = self.stmts(room, 0);
            let mut updates: Vec<Stmt> = (0..self.random.between(0, 2)).map(|_| self.blind(&counters)).collect();
            match flag {
                Some(flag) if thread == 0 => {
                    let at = self.random.below(body.len() + 1);
                    body.insert(at, Stmt::Store(At::Object(flag), Value::Const(1), self.update_order()));
                }
                Some(flag) => {
                    let guard = Test { reg: Reg(0), cmp: Cmp::Eq, value: Value::Const(1) };
                    let look = Stmt::Load(Some(Reg(0)), At::Object(flag), self.update_order());
                    updates = vec![look, Stmt::If(guard, updates, Vec::new())];
                }
                None => {}
            }
            let at = self.random.below(body.len() + 1);
            body.splice(at..at, updates);
            self.sketch.threads.push(body);
        }
        if self.random.chance(60) {
            self.nest();
        }
        for _ in 0..self.random.between(0, 2) {
            let n = At::Object(self.random.pick(&counters));
            // Mostly before everything else, or after it.
            let first = self.random.chance(60);
            let access = match (first, self.random.below(8)) {
                (true, 0..7) => Stmt::Store(n, self.value(), self.order()),
                (_, 0) => Stmt::Rmw(Some(self.reg()), RmwOp::Add, n, self.value(), self.update_order()),
                (_, 1) => Stmt::Wait(Reg(1), n, Cmp::Ne, Value::Const(0), self.update_order()),
                _ => Stmt::Load(Some(Reg(1)), n, self.order()),
            };
            let thread = if self.random.chance(60) { 0 } else { self.random.below(self.sketch.threads.len()) };
            let body = &mut self.sketch.threads[thread];
            body.insert(if first { 0 } else { body.len() }, access);
        }
    }

    /// An update of a counter whose result nobody uses.
    fn blind(&mut self, counters: &[ObjectId]) -> Stmt {
        let op = self.random.pick(&[RmwOp::Add, RmwOp::Add, RmwOp::Add, RmwOp::Add, RmwOp::Or]);
        let operand = Value::Const(self.random.between(1, 2) as i32);
        Stmt::Rmw(None, op, At::Object(self.random.pick(counters)), operand, self.update_order())
    }

    /// An access that is not atomic.
    fn access(&mut self, data: ObjectId) -> Stmt {
        if self.random.chance(50) {
            Stmt::Store(At::Object(data), self.constant(), Ordering::NonAtomic)
        } else {
            Stmt::Load(Some(self.reg()), At::Object(data), Ordering::NonAtomic)
        }
    }

    /// An access to the data, and what orders it with those of others, if all is well.
    fn guard(&mut self, data: ObjectId, flag: ObjectId, mutex: ObjectId) -> Vec<Stmt> {
        let well = self.random.chance(85);
        let or_relaxed = |order| if well { order } else { Ordering::Relaxed };
        let (at, set) = (At::Object(flag), Value::Const(1));
        let seen = Test { reg: Reg(0), cmp: Cmp::Eq, value: set };
        let access = self.access(data);
        match self.random.below(9) {
            0 | 1 => vec![access, Stmt::Store(at, set, or_relaxed(Ordering::Release))],
            2 => vec![Stmt::Store(at, set, Ordering::Release), access, Stmt::Store(at, set, Ordering::Release)],
            3 | 4 => {
                let look = Stmt::Load(Some(Reg(0)), at, or_relaxed(Ordering::Acquire));
                vec![look, Stmt::If(seen, vec![access], Vec::new())]
            }
            5 => vec![Stmt::Wait(Reg(0), at, Cmp::Eq, set, or_relaxed(Ordering::Acquire)), access],
            6 => vec![Stmt::Lock(mutex), access, Stmt::Unlock(mutex)],
            7 => {
                let order = self.update_order();
                vec![Stmt::Rmw(Some(Reg(0)), RmwOp::Xchg, at, set, order), Stmt::If(seen, vec![access], Vec::new())]
            }
            _ if self.random.chance(50) => {
                vec![access, Stmt::Fence(Ordering::Release), Stmt::Store(at, set, Ordering::Relaxed)]
            }
            _ => {
                let look = Stmt::Load(Some(Reg(0)), at, Ordering::Relaxed);
                vec![look, Stmt::If(seen, vec![Stmt::Fence(Ordering::Acquire), access], Vec::new())]
            }
        }
    }

    fn guarded(&mut self) {
        self.variables(3);
        self.uses.orders = true;
        let mutex = self.objects("m", Kind::Mutex, 1)[0];
        let vars = self.uses.vars.clone();
        let flags = self.random.between(1, 2);
        for _ in 0..self.random.pick(&[2, 3, 3]) {
            let mut body = Vec::new();
            for _ in 0..self.random.between(1, 2) {
                let flag = vars[1 + self.random.below(flags)];
                body.extend(self.guard(vars[0], flag, mutex));
            }
            self.sketch.threads.push(body);
        }
    }

    fn atomic(&mut self) {
        let count = self.random.between(1, 3);
        self.variables(count);
        self.uses.updates = self.random.chance(40);
        self.uses.fences = self.random.chance(30);
        self.uses.branches = self.random.chance(40);
        self.uses.assertions = self.random.chance(20);
        self.uses.choices = self.random.chance(15);
        if self.random.chance(30) {
            return self.blocks_of_stores();
        }
        self.threads();
        for thread in 0..self.sketch.threads.len() {
            if thread > 0 && self.random.chance(25) {
                continue;
            }
            let body = &mut self.sketch.threads[thread];
            let start = self.random.below(body.len());
            let end = self.random.between(start + 1, body.len());
            let inside: Vec<Stmt> = body.splice(start..end, []).collect();
            body.insert(start, Stmt::Atomic(inside));
        }
    }

    /// Threads with one or two blocks, most of whose statements are stores, and something else between them.
    fn blocks_of_stores(&mut self) {
        let threads = self.random.pick(&[2, 2, 2, 3]);
        for _ in 0..threads {
            let mut body = Vec::new();
            for _ in 0..self.random.pick(&[1, 1, 2]) {
                let count = self.random.between(2, 3);
                let inside = (0..count).map(|_| if self.random.chance(80) { self.store() } else { self.load() });
                let inside = inside.collect();
                body.push(Stmt::Atomic(inside));
                if self.random.chance(30) {
                    body.push(if self.random.chance(50) { self.store() } else { self.load() });
                }
            }
            self.sketch.threads.push(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::parse;

    #[test]
    fn a_seed_means_one_program() {
        for family in Family::ALL {
            assert_eq!(generate(family, 7, 3), generate(family, 7, 3));
            assert_ne!(generate(family, 7, 3), generate(family, 8, 3));
        }
    }

    #[test]
    fn listings_of_random_programs_read_back() {
        for family in Family::ALL {
            for index in 0..300 {
                let sketch = generate(family, 1, index);
                let again = parse(&sketch.listing()).unwrap_or_else(|error| panic!("{error}\n{sketch}"));
                // Objects nobody uses, and their order, are not in the listing.
                assert_eq!(again.listing(), sketch.listing());
            }
        }
    }
}
