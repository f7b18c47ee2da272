//! What each instruction does, on terms: from where a thread rests to where it rests next. The machine's `thread/run.rs` says the same on numbers.
//!
//! Addresses, handles of threads and sizes have to be numbers. Where one is not, the variables that it depends on are asked for ([`Halt::Need`]), so that the next abstraction knows them; an address that
//! depends on an unknown input is followed to every place in memory that it can be of (`access`).
//!
//! A loop in which the thread does nothing that others notice is followed as long as its turns are certain; else it is left at its head, and the next turn is an action of its own.

use super::abstraction::is_alive;
use super::control::{Control, Frame, Object, Status, Thread};
use super::path::{Action, Halt, Move, Path, Target};
use super::vars::{Kind, Var, Vars};
use crate::oc::{MOST_BYTES, successors};
use crate::words::{self, Computer, NoTerm, bits};
use raddle_engine::Refusal;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::{Addr, Code, Live};
use raddle_program::{BinOp, FuncId, Ordering, Type};
use raddle_solve::{Term, Terms};
use raddle_trace::{Property, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How deep calls may nest.
const MOST_FRAMES: usize = 200;
/// How many instructions a thread may do in one action.
const FUEL: u32 = 20_000;
/// How many ways an action may fall into.
const MOST_PATHS: usize = 4_096;

/// What is known of variables in a state.
pub(super) type Known = BTreeMap<Var, u64>;

/// Whether something can hold in the state from which a way is followed.
pub(super) type Ask<'a> = dyn FnMut(&mut Terms, Term) -> Result<bool, Halt> + 'a;

/// Where cells of memory are, and where each was first accessed.
pub(super) type Cells = BTreeMap<u64, (u8, Pc)>;

/// Follows ways through the code.
pub(super) struct Walker<'a> {
    pub(super) code: &'a Code,
    pub(super) live: &'a Live,
    /// Branches that decide how many threads or objects are made.
    pub(super) makers: &'a FxHashSet<Pc>,
    pub(super) terms: &'a mut Terms,
    pub(super) vars: &'a mut Vars,
    pub(super) cells: &'a mut Cells,
    pub(super) known: &'a Known,
    /// The variables that are known wherever they can be.
    pub(super) tracked: &'a dyn Fn(Var) -> bool,
    /// Those of them without which it is not known what code does.
    pub(super) needed: &'a dyn Fn(Var) -> bool,
    pub(super) ask: &'a mut Ask<'a>,
}

/// Somebody who computes where a thread is on a way.
pub(super) struct At<'w, 'a> {
    pub(super) walker: &'w mut Walker<'a>,
    pub(super) path: &'w Path,
    pub(super) id: ThreadId,
}

impl Computer for At<'_, '_> {
    type Error = Halt;

    fn terms(&mut self) -> &mut Terms {
        self.walker.terms
    }

    fn slot(&mut self, slot: Slot) -> Term {
        self.walker.slot(self.path, self.id, slot)
    }

    fn moved(&mut self, pointer: Term, by: Term) -> Result<Term, Halt> {
        let pc = self.path.thread(self.id).pc;
        let from = self.walker.number(pointer, pc, "from where this pointer is moved")?;
        let terms = &mut *self.walker.terms;
        if let Some(by) = terms.as_const(by) {
            return Ok(terms.constant(64, Addr(from).moved(by as i64).0));
        }
        let room = Addr(from).surroundings().unwrap_or((0, 1 << 34));
        Ok(words::moved(terms, pointer, by, &[room]))
    }

    fn refused(&self, why: NoTerm) -> Halt {
        let pc = self.path.thread(self.id).pc;
        self.walker.refused(pc, &format!("the engine `cegar` takes {}", why.what()))
    }
}

impl Path {
    /// The way that begins where threads are.
    pub(super) fn at(walker: &mut Walker<'_>, control: &Control) -> Path {
        Path {
            guard: walker.terms.bool(true),
            env: FxHashMap::default(),
            control: control.clone(),
            step: Move::Silent,
            target: None,
            back: false,
            seen: Vec::new(),
            open: 0,
            fuel: FUEL,
        }
    }

    pub(super) fn thread(&self, id: ThreadId) -> &Thread {
        self.control.thread(id).expect("it is there")
    }

    pub(super) fn thread_mut(&mut self, id: ThreadId) -> &mut Thread {
        self.control.thread_mut(id)
    }

    pub(super) fn go_on(mut self, id: ThreadId) -> Path {
        self.thread_mut(id).pc += 1;
        self
    }
}

/// What is left of a way after an instruction.
pub(super) enum Next {
    /// It goes on at the next instruction of the thread.
    On(Vec<Path>),
    /// The thread rests here.
    Rest(Path),
}

impl<'a> Walker<'a> {
    /// The state before anything has happened: the first thread at its first instruction.
    pub(super) fn start(&mut self) -> Control {
        let mut control = Control { threads: Vec::new(), atomic: None };
        self.make_thread(&mut control, ThreadId::MAIN, self.code.entry());
        control
    }

    fn make_thread(&mut self, control: &mut Control, id: ThreadId, function: FuncId) {
        let mut thread = Thread {
            id,
            status: Status::Silent,
            pc: self.code.function(function).entry,
            stage: 0,
            frames: Vec::new(),
            held: Vec::new(),
            objects: Vec::new(),
            children: 0,
            atomic: 0,
            joined: false,
        };
        for &global in self.code.thread_locals() {
            let global = &self.code.globals()[global as usize];
            let size = global.bytes.len() as u32;
            self.make_object(&mut thread, size, Some(&global.bytes), global.private, false, false);
        }
        self.make_frame(&mut thread, function, u32::MAX, NO_SLOT);
        let at = control.threads.partition_point(|other| other.id < id);
        control.threads.insert(at, Rc::new(thread));
    }

    fn make_frame(&mut self, thread: &mut Thread, function: FuncId, return_to: Pc, dst: Slot) {
        let first_object = thread.objects.len() as u32;
        for local in &self.code.function(function).locals {
            self.make_object(thread, local.size, local.contents.as_deref(), local.private, false, false);
        }
        thread.frames.push(Frame { function, return_to, dst, first_object });
        thread.pc = self.code.function(function).entry;
    }

    fn make_object(
        &mut self,
        thread: &mut Thread,
        size: u32,
        contents: Option<&[u8]>,
        private: bool,
        heap: bool,
        scoped: bool,
    ) -> u64 {
        let addr = thread.object_address(thread.objects.len() as u32);
        if let Some(contents) = contents {
            self.vars.make(addr, contents);
        }
        let written = contents.is_none().then(BTreeSet::new);
        thread.objects.push(Object { size, private, live: true, heap, scoped, written });
        addr
    }

    /// The actions of a thread, which can move.
    pub(super) fn actions(&mut self, control: &Control, id: ThreadId) -> Result<Vec<Action>, Halt> {
        let path = Path::at(self, control);
        let begun = match path.thread(id).status {
            Status::Ready => self.perform(path, id)?,
            _ => vec![path],
        };
        let children: Vec<ThreadId> = control.threads.iter().map(|thread| thread.id).collect();
        let mut ends = Vec::new();
        for path in begun {
            self.run(path, id, &mut ends)?;
        }
        // Whoever was started runs up to where it rests, too.
        let mut all = Vec::new();
        for path in ends {
            let new = path.control.threads.iter().map(|thread| thread.id).find(|id| !children.contains(id));
            match new {
                Some(child) => self.run_child(path, child, &mut all)?,
                None => all.push(path),
            }
        }
        for path in &all {
            for (&var, &term) in &path.env {
                if (self.needed)(var) && self.terms.as_const(term).is_none() && is_alive(self.live, &path.control, var) {
                    self.need(term)?;
                }
            }
        }
        let action = |path: Path| {
            let lasting = |update: &(Var, Term)| is_alive(self.live, &path.control, update.0);
            let mut updates: Vec<(Var, Term)> = path.env.into_iter().filter(lasting).collect();
            updates.sort_unstable();
            let Path { step, guard, control, target, back, .. } = path;
            Action { thread: id, step, guard, updates, control, target, back }
        };
        Ok(all.into_iter().filter(|path| !self.terms.is_false(path.guard)).map(action).collect())
    }

    fn run_child(&mut self, path: Path, child: ThreadId, all: &mut Vec<Path>) -> Result<(), Halt> {
        if path.target.is_some() {
            all.push(path);
            return Ok(());
        }
        self.run(path, child, all)
    }

    /// Runs a thread on until it rests or something is wrong.
    fn run(&mut self, path: Path, id: ThreadId, ends: &mut Vec<Path>) -> Result<(), Halt> {
        let mut todo = vec![path];
        while let Some(mut path) = todo.pop() {
            if path.target.is_some() || path.thread(id).is_done() {
                ends.push(path);
                continue;
            }
            if ends.len() + todo.len() > MOST_PATHS {
                let pc = path.thread(id).pc;
                return Err(self.refused(pc, "the engine `cegar` takes no code with so many branches between two operations"));
            }
            path.fuel -= 1;
            if path.fuel == 0 {
                path.thread_mut(id).status = Status::Silent;
                path.back = true;
                ends.push(path);
                continue;
            }
            let at = path.thread(id).pc;
            match self.step(path, id)? {
                Next::Rest(path) => ends.push(path),
                Next::On(paths) => {
                    for mut path in paths {
                        if self.terms.is_false(path.guard) {
                            continue;
                        }
                        let to = path.thread(id).pc;
                        if to <= at && path.target.is_none() && !path.thread(id).is_done() && self.turns(&mut path, id, to) {
                            path.thread_mut(id).status = Status::Silent;
                            ends.push(path);
                        } else {
                            todo.push(path);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a way that leads back to `to` has been there, and has come to branches since that were open.
    fn turns(&mut self, path: &mut Path, id: ThreadId, to: Pc) -> bool {
        path.back = true;
        let depth = path.thread(id).frames.len() as u16;
        let open = path.open;
        match path.seen.iter_mut().find(|seen| (seen.0, seen.1) == (depth, to)) {
            Some(seen) => std::mem::replace(&mut seen.2, open) < open,
            None => {
                path.seen.push((depth, to, open));
                false
            }
        }
    }

    pub(super) fn refused(&self, pc: Pc, message: &str) -> Halt {
        Halt::Refused(Box::new(Refusal::at(self.code, pc, message)))
    }

    /// What a variable holds on a way.
    pub(super) fn read(&mut self, path: &Path, var: Var) -> Term {
        if let Some(&term) = path.env.get(&var) {
            return term;
        }
        let term = self.vars.term(self.code, self.terms, var);
        match self.known.get(&var) {
            Some(&value) => self.terms.constant(self.terms.width(term), value),
            None => term,
        }
    }

    pub(super) fn write(&mut self, path: &mut Path, var: Var, value: Term) {
        let term = self.vars.term(self.code, self.terms, var);
        let value = self.terms.resize(value, self.terms.width(term));
        path.env.insert(var, value);
    }

    fn slot_var(path: &Path, id: ThreadId, slot: Slot) -> Var {
        let thread = path.thread(id);
        Var::Slot { thread: id, depth: thread.frames.len() as u16, function: thread.frame().function, slot }
    }

    fn slot(&mut self, path: &Path, id: ThreadId, slot: Slot) -> Term {
        let value = self.read(path, Self::slot_var(path, id, slot));
        self.terms.zext(value, 64)
    }

    pub(super) fn get(&mut self, path: &Path, id: ThreadId, operand: Operand) -> Term {
        match self.code.as_constant(operand) {
            Some(value) => self.terms.constant(64, value),
            None => self.slot(path, id, operand.0),
        }
    }

    pub(super) fn set(&mut self, path: &mut Path, id: ThreadId, dst: Slot, value: Term) {
        if dst != NO_SLOT {
            self.write(path, Self::slot_var(path, id, dst), value);
        }
    }

    pub(super) fn at<'w>(&'w mut self, path: &'w Path, id: ThreadId) -> At<'w, 'a> {
        At { walker: self, path, id }
    }

    /// The number that a term is; what it depends on is asked for if it is none.
    pub(super) fn number(&mut self, term: Term, pc: Pc, what: &str) -> Result<u64, Halt> {
        match self.terms.as_const(term) {
            Some(value) => Ok(value),
            None => {
                self.need(term)?;
                Err(self.refused(pc, &format!("the engine `cegar` does not know {what}")))
            }
        }
    }

    /// Asks for the variables that a term depends on, if there are some that could be known.
    pub(super) fn need(&mut self, term: Term) -> Result<(), Halt> {
        let vars = self.terms.variables([term]);
        let open: Vec<Var> =
            vars.into_iter().filter_map(|var| self.vars.var(var)).filter(|&var| !(self.tracked)(var)).collect();
        if open.is_empty() { Ok(()) } else { Err(Halt::Need(open)) }
    }

    /// The way, on the condition that this holds, and on the condition that it does not.
    pub(super) fn split(&mut self, mut path: Path, cond: Term) -> (Option<Path>, Option<Path>) {
        if self.terms.is_true(cond) {
            return (Some(path), None);
        }
        if self.terms.is_false(cond) {
            return (None, Some(path));
        }
        path.open += 1;
        let mut other = path.clone();
        path.guard = self.terms.and(path.guard, cond);
        other.guard = self.terms.and_not(other.guard, cond);
        let possible = |path: Path, walker: &Self| Some(path).filter(|path| !walker.terms.is_false(path.guard));
        (possible(path, self), possible(other, self))
    }

    /// The end of a way at which something is wrong.
    pub(super) fn ends_at(&self, mut path: Path, id: ThreadId, target: Target) -> Path {
        path.thread_mut(id).status = Status::Stopped;
        path.target = Some(target);
        path
    }

    pub(super) fn fails(&self, path: Path, id: ThreadId, property: Property) -> Path {
        let pc = path.thread(id).pc;
        self.ends_at(path, id, Target::Failure { property, pc })
    }

    /// The ways on which something is wrong under this condition, and otherwise goes on.
    pub(super) fn fails_if(&mut self, path: Path, id: ThreadId, cond: Term, property: Property) -> (Vec<Path>, Option<Path>) {
        let (wrong, right) = self.split(path, cond);
        (wrong.map(|path| self.fails(path, id, property)).into_iter().collect(), right)
    }

    fn rest(mut path: Path, id: ThreadId) -> Next {
        path.thread_mut(id).status = Status::Ready;
        Next::Rest(path)
    }

    fn values(&mut self, path: &Path, id: ThreadId, operands: &[Operand]) -> Vec<Term> {
        operands.iter().map(|&operand| self.get(path, id, operand)).collect()
    }

    /// Whether an address is of an object that only this thread can reach.
    fn is_private(&self, path: &Path, id: ThreadId, addr: Term) -> bool {
        let Some(addr) = self.terms.as_const(addr) else { return false };
        match Addr(addr).owner() {
            Owner::Thread(owner, number) if owner == id => {
                path.thread(id).objects.get(number as usize).is_some_and(|object| object.private)
            }
            _ => false,
        }
    }

    /// The address of an access to memory, if the instruction is one.
    pub(super) fn address(&mut self, path: &Path, id: ThreadId) -> Option<Term> {
        let operand = match self.code.instr(path.thread(id).pc) {
            Instr::Load { addr, .. } | Instr::Store { addr, .. } | Instr::Rmw { addr, .. } => addr,
            Instr::Cas { cas } => self.code.cas(cas).addr,
            _ => return None,
        };
        Some(self.get(path, id, operand))
    }

    fn step(&mut self, mut path: Path, id: ThreadId) -> Result<Next, Halt> {
        let pc = path.thread(id).pc;
        match self.code.instr(pc) {
            Instr::Move { dst, src } => {
                let value = self.get(&path, id, src);
                self.set(&mut path, id, dst, value);
            }
            Instr::Un { op, ty, dst, a } => {
                let a = self.get(&path, id, a);
                let value = words::unary(self.terms, op, ty, a);
                let value = self.at(&path, id).taken(value)?;
                self.set(&mut path, id, dst, value);
            }
            Instr::Bin { op: BinOp::Add, ty: Type::Ptr, dst, a, b } => {
                let (a, b) = (self.get(&path, id, a), self.get(&path, id, b));
                return Ok(Next::On(self.move_pointer(path, id, dst, a, b)?));
            }
            Instr::Bin { op, ty, dst, a, b } => {
                let (a, b) = (self.get(&path, id, a), self.get(&path, id, b));
                let (value, fails) = self.at(&path, id).binary(op, ty, a, b)?;
                let (mut ways, right) = self.fails_if(path, id, fails, Property::Arithmetic);
                if let Some(mut path) = right {
                    self.set(&mut path, id, dst, value);
                    ways.push(path.go_on(id));
                }
                return Ok(Next::On(ways));
            }
            Instr::Cast { op, from, to, dst, a } => {
                let a = self.get(&path, id, a);
                let value = words::cast(self.terms, op, from, to, a);
                let value = self.at(&path, id).taken(value)?;
                self.set(&mut path, id, dst, value);
            }
            Instr::Select { dst, cond, a, b } => {
                let [cond, a, b] = [cond, a, b].map(|operand| self.get(&path, id, operand));
                let cond = words::holds(self.terms, cond);
                let value = self.terms.ite(cond, a, b);
                self.set(&mut path, id, dst, value);
            }
            Instr::LocalAddr { dst, local } => {
                let thread = path.thread(id);
                let addr = thread.object_address(thread.frame().first_object + local);
                let addr = self.terms.constant(64, addr);
                self.set(&mut path, id, dst, addr);
            }
            Instr::TlsAddr { dst, index } => {
                let addr = self.terms.constant(64, path.thread(id).object_address(index));
                self.set(&mut path, id, dst, addr);
            }
            Instr::Load { .. } | Instr::Store { .. } | Instr::Rmw { .. } | Instr::Cas { .. } => {
                let addr = self.address(&path, id).expect("it is an access");
                if self.is_private(&path, id, addr) {
                    return Ok(Next::On(self.access(path, id)?));
                }
                self.settle(&mut path, id, addr)?;
                return Ok(Self::rest(path, id));
            }
            Instr::Fence { order } => {
                if order > Ordering::Relaxed {
                    return Ok(Self::rest(path, id));
                }
            }
            Instr::Call { dst, func, args } => {
                let args = self.values(&path, id, self.code.args(args));
                return Ok(Next::On(vec![self.call(path, id, func, &args, dst)]));
            }
            Instr::CallIndirect { dst, target, args } => {
                let args = self.values(&path, id, self.code.args(args));
                let called = self.callee(&path, id, target, args.len())?;
                return Ok(Next::On(vec![match called {
                    Some(function) => self.call(path, id, function, &args, dst),
                    None => self.fails(path, id, Property::Memory),
                }]));
            }
            Instr::Spawn { .. } => return Ok(Self::rest(path, id)),
            Instr::SpawnIndirect { target, args, .. } => {
                let called = self.callee(&path, id, target, args.len as usize)?;
                return Ok(match called {
                    Some(_) => Self::rest(path, id),
                    None => Next::On(vec![self.fails(path, id, Property::Memory)]),
                });
            }
            Instr::Join { thread, .. } => {
                let handle = self.get(&path, id, thread);
                let handle = self.number(handle, pc, "which thread this joins")?;
                return Ok(match handle.checked_sub(1) {
                    Some(child) if child < u64::from(Addr::MAX_THREADS) => Self::rest(path, id),
                    _ => Next::On(vec![self.fails(path, id, Property::Lock)]),
                });
            }
            Instr::ThreadId { dst } => {
                let handle = self.terms.constant(64, u64::from(id.0) + 1);
                self.set(&mut path, id, dst, handle);
            }
            Instr::Sync { op, dst, object, .. } => {
                let addr = self.get(&path, id, object);
                let addr = self.number(addr, pc, "which lock this is")?;
                return match self.sync_begin(path, id, op, dst, addr)? {
                    Ok(path) => Ok(Self::rest(path, id)),
                    Err(path) => Ok(Next::On(vec![path])),
                };
            }
            Instr::Alloc { dst, size, zeroed, private, scoped } => {
                let size = self.get(&path, id, size);
                let size = self.number(size, pc, "how much this allocates")?;
                if size > u64::from(MOST_BYTES) {
                    return Err(self.refused(pc, "the engine `cegar` takes no large allocation"));
                }
                let zeros = zeroed.then(|| vec![0; size as usize]);
                let thread = path.thread_mut(id);
                let addr =
                    self.make_object(thread, size as u32, zeros.as_deref(), private, scoped == 0, scoped != 0);
                let addr = self.terms.constant(64, addr);
                self.set(&mut path, id, dst, addr);
            }
            Instr::Free { ptr, scoped } => {
                let addr = self.get(&path, id, ptr);
                let addr = self.number(addr, pc, "which object this frees")?;
                if addr == 0 {
                    return Ok(Next::On(vec![path.go_on(id)]));
                }
                let Owner::Thread(owner, number) = Addr(addr).owner() else {
                    return Ok(Next::On(vec![self.fails(path, id, Property::Memory)]));
                };
                let own = path.thread_mut(id).objects.get_mut(number as usize).filter(|object| owner == id && object.private);
                let Some(object) = own else { return Ok(Self::rest(path, id)) };
                let right = object.live && Addr(addr).offset() == 0 && if scoped { object.scoped } else { object.heap };
                object.live = false;
                if !right {
                    return Ok(Next::On(vec![self.fails(path, id, Property::Memory)]));
                }
            }
            Instr::Assert { cond, .. } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                let broken = self.terms.not(cond);
                let (mut ways, right) = self.fails_if(path, id, broken, Property::Assert);
                ways.extend(right.map(|path| path.go_on(id)));
                return Ok(Next::On(ways));
            }
            Instr::Assume { cond } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                let (right, wrong) = self.split(path, cond);
                let mut ways: Vec<Path> = right.map(|path| path.go_on(id)).into_iter().collect();
                if let Some(mut path) = wrong {
                    path.thread_mut(id).status = Status::Stopped;
                    ways.push(path);
                }
                return Ok(Next::On(ways));
            }
            Instr::Choose { dst, low, count } => {
                if count > 1 {
                    return Ok(Self::rest(path, id));
                }
                let low = self.get(&path, id, low);
                self.set(&mut path, id, dst, low);
            }
            Instr::Input { dst, values, .. } => {
                let info = self.code.input_values(values);
                if info.count() > 1 {
                    return Ok(Self::rest(path, id));
                }
                let only = info.ranges.first().or(info.rest.first()).map_or(0, |range| range.0);
                let only = self.terms.constant(64, only);
                self.set(&mut path, id, dst, only);
            }
            Instr::AtomicBegin if path.thread(id).atomic == 0 => return Ok(Self::rest(path, id)),
            Instr::AtomicEnd if path.thread(id).atomic <= 1 => return Ok(Self::rest(path, id)),
            Instr::AtomicBegin => path.thread_mut(id).atomic += 1,
            Instr::AtomicEnd => path.thread_mut(id).atomic -= 1,
            Instr::Error { property, .. } => return Ok(Next::On(vec![self.fails(path, id, property)])),
            Instr::Print { .. } | Instr::MarkTurn { .. } => {}
            // A turn that has changed nothing leads back to where it began, as any other does.
            Instr::Jump { to } | Instr::Spin { to, .. } => {
                path.thread_mut(id).pc = to;
                return Ok(Next::On(vec![path]));
            }
            Instr::Turn { counter, bound } => {
                let turns = self.slot(&path, id, counter);
                self.need(turns)?;
                let (one, bound) = (self.terms.constant(64, 1), self.terms.constant(64, u64::from(bound)));
                let turns = self.terms.add(turns, one);
                let over = self.terms.ult(bound, turns);
                let (wrong, right) = self.split(path, over);
                let mut ways: Vec<Path> =
                    wrong.map(|path| self.ends_at(path, id, Target::Bound { pc })).into_iter().collect();
                if let Some(mut path) = right {
                    self.set(&mut path, id, counter, turns);
                    ways.push(path.go_on(id));
                }
                return Ok(Next::On(ways));
            }
            Instr::Branch { cond, then, otherwise } => {
                let cond = self.get(&path, id, cond);
                let cond = words::holds(self.terms, cond);
                if self.makers.contains(&pc) {
                    self.need(cond)?;
                }
                let (yes, no) = self.split(path, cond);
                let to = |path: Option<Path>, pc: Pc| {
                    path.map(|mut path| {
                        path.thread_mut(id).pc = pc;
                        path
                    })
                };
                return Ok(Next::On(to(yes, then).into_iter().chain(to(no, otherwise)).collect()));
            }
            Instr::Switch { value, table } => {
                let value = self.get(&path, id, value);
                let table = self.code.switch(table);
                let mut ways = Vec::new();
                let mut rest = Some(path);
                for &(case, to) in &table.cases {
                    let Some(path) = rest else { break };
                    let case = self.terms.constant(64, case);
                    let is = self.terms.eq(value, case);
                    let (yes, no) = self.split(path, is);
                    if let Some(mut path) = yes {
                        path.thread_mut(id).pc = to;
                        ways.push(path);
                    }
                    rest = no;
                }
                if let Some(mut path) = rest {
                    path.thread_mut(id).pc = table.default;
                    ways.push(path);
                }
                return Ok(Next::On(ways));
            }
            Instr::Return { value } => return Ok(self.leave(path, id, value)),
            Instr::ExitThread { value } => return Ok(self.end_thread(path, id, value)),
            Instr::Exit => {
                path.thread_mut(id).status = Status::Finished { exit: true };
                return Ok(Next::On(vec![path]));
            }
            Instr::Unreachable => {
                let why = "control reached a place it cannot reach";
                return Ok(Next::On(vec![self.ends_at(path, id, Target::GaveUp { why, pc })]));
            }
        }
        Ok(Next::On(vec![path.go_on(id)]))
    }

    /// Does what others may notice.
    fn perform(&mut self, mut path: Path, id: ThreadId) -> Result<Vec<Path>, Halt> {
        let pc = path.thread(id).pc;
        path.thread_mut(id).status = Status::Silent;
        path.step = Move::Run;
        match self.code.instr(pc) {
            Instr::Load { .. } | Instr::Store { .. } | Instr::Rmw { .. } | Instr::Cas { .. } => {
                return self.access(path, id);
            }
            Instr::Sync { op, dst, object, .. } => {
                let addr = self.get(&path, id, object);
                let addr = self.number(addr, pc, "which lock this is")?;
                return self.sync(path, id, op, dst, addr);
            }
            Instr::Fence { .. } => {}
            Instr::Spawn { dst, func, args } => {
                let args = self.values(&path, id, self.code.args(args));
                return Ok(vec![self.spawn(path, id, func, &args, dst)]);
            }
            Instr::SpawnIndirect { dst, target, args } => {
                let args = self.values(&path, id, self.code.args(args));
                let called = self.callee(&path, id, target, args.len())?;
                let function = called.expect("checked when the thread came here");
                return Ok(vec![self.spawn(path, id, function, &args, dst)]);
            }
            Instr::Join { dst, ty, thread } => {
                let handle = self.get(&path, id, thread);
                let child = ThreadId(self.number(handle, pc, "which thread this joins")? as u32 - 1);
                let Some(joined) = path.control.thread(child) else {
                    return Ok(vec![self.fails(path, id, Property::Lock)]);
                };
                if joined.joined {
                    return Ok(vec![self.fails(path, id, Property::Lock)]);
                }
                if joined.status != (Status::Finished { exit: false }) {
                    return Ok(Vec::new());
                }
                path.thread_mut(child).joined = true;
                let result = self.read(&path, Var::Result(child));
                let result = self.terms.resize(result, bits(ty));
                self.set(&mut path, id, dst, result);
            }
            Instr::Choose { dst, low, count } => {
                let low = self.get(&path, id, low);
                let pick = self.vars.input(self.terms, id, pc, 32);
                let end = self.terms.constant(32, u64::from(count));
                let known = self.terms.ult(pick, end);
                path.guard = self.terms.and(path.guard, known);
                path.step = Move::Pick(pick);
                let pick = self.terms.zext(pick, 64);
                let value = self.terms.add(low, pick);
                self.set(&mut path, id, dst, value);
            }
            Instr::Input { dst, values, .. } => {
                let info = self.code.input_values(values);
                let value = self.vars.input(self.terms, id, pc, bits(info.ty));
                let known = words::among(self.terms, value, info.ranges.iter().chain(&info.rest).copied());
                path.guard = self.terms.and(path.guard, known);
                path.step = Move::Input(value, values);
                self.set(&mut path, id, dst, value);
            }
            Instr::AtomicBegin => {
                path.thread_mut(id).atomic = 1;
                path.control.atomic = Some(id);
            }
            Instr::AtomicEnd => {
                if path.thread(id).atomic == 0 {
                    return Err(self.refused(pc, "an atomic block ends that did not begin"));
                }
                path.thread_mut(id).atomic = 0;
                path.control.atomic = None;
            }
            Instr::Free { ptr, scoped } => {
                let addr = self.get(&path, id, ptr);
                let addr = self.number(addr, pc, "which object this frees")?;
                return Ok(vec![match self.end_life(path, id, addr, scoped) {
                    Ok(path) => path.go_on(id),
                    Err(failed) => failed,
                }]);
            }
            Instr::Return { .. } | Instr::ExitThread { .. } => {
                let addr = self.next_life(&path, id).expect("something ends here");
                return Ok(vec![match self.end_life(path, id, addr, true) {
                    Ok(mut path) => {
                        path.thread_mut(id).stage += 1;
                        path
                    }
                    Err(failed) => failed,
                }]);
            }
            other => unreachable!("nothing that others notice: {other:?}"),
        }
        Ok(vec![path.go_on(id)])
    }

    fn call(&mut self, mut path: Path, id: ThreadId, function: FuncId, args: &[Term], dst: Slot) -> Path {
        let pc = path.thread(id).pc;
        if path.thread(id).frames.len() >= MOST_FRAMES {
            return self.ends_at(path, id, Target::GaveUp { why: "calls nest too deep", pc });
        }
        let mut thread = path.thread(id).clone();
        self.make_frame(&mut thread, function, pc + 1, dst);
        *path.thread_mut(id) = thread;
        self.pass(&mut path, id, function, args);
        path
    }

    /// Hands arguments to a frame that was just made. All its other slots are zero.
    fn pass(&mut self, path: &mut Path, id: ThreadId, function: FuncId, args: &[Term]) {
        let depth = path.thread(id).frames.len() as u16;
        let code = self.code.function(function);
        let zero = self.terms.constant(64, 0);
        for slot in 0..code.slots {
            let value = args.get(slot as usize).copied().unwrap_or(zero);
            self.write(path, Var::Slot { thread: id, depth, function, slot }, value);
        }
    }

    /// The function that is called through a pointer; `None` if it is none.
    fn callee(&mut self, path: &Path, id: ThreadId, target: Operand, args: usize) -> Result<Option<FuncId>, Halt> {
        let pc = path.thread(id).pc;
        let target = self.get(path, id, target);
        let addr = Addr(self.number(target, pc, "which function this calls")?);
        Ok(match addr.owner() {
            Owner::Function(function)
                if addr.offset() == 0
                    && function.index() < self.code.functions()
                    && self.code.function(function).params as usize == args =>
            {
                Some(function)
            }
            _ => None,
        })
    }

    fn spawn(&mut self, mut path: Path, id: ThreadId, function: FuncId, args: &[Term], dst: Slot) -> Path {
        let (pc, children) = (path.thread(id).pc, path.thread(id).children);
        let Some(child) = self.code.numbering().child(id, children) else {
            return self.ends_at(path, id, Target::GaveUp { why: "the program starts too many threads", pc });
        };
        path.thread_mut(id).children += 1;
        self.make_thread(&mut path.control, child, function);
        self.pass(&mut path, child, function, args);
        let handle = self.terms.constant(64, u64::from(child.0) + 1);
        self.set(&mut path, id, dst, handle);
        path.go_on(id)
    }

    /// The object whose life ends next where a function or a thread ends, if others can reach it.
    fn next_life(&self, path: &Path, id: ThreadId) -> Option<u64> {
        let thread = path.thread(id);
        let all = matches!(self.code.instr(thread.pc), Instr::ExitThread { .. });
        let frames: Vec<&Frame> = thread.frames.iter().rev().take(if all { usize::MAX } else { 1 }).collect();
        let mut objects: Vec<u32> = Vec::new();
        for frame in &frames {
            let locals = self.code.function(frame.function).locals.len() as u32;
            objects.extend(frame.first_object..frame.first_object + locals);
        }
        let exits = self.code.entry_exits() && id == ThreadId::MAIN;
        if all || (thread.frames.len() == 1 && !exits) {
            objects.extend(0..self.code.thread_locals().len() as u32);
        }
        let mut shared = objects.into_iter().filter(|&at| !thread.objects[at as usize].private);
        shared.nth(thread.stage as usize).map(|at| thread.object_address(at))
    }

    /// Ends the life of an object that others can reach; a failure if that is wrong.
    fn end_life(&mut self, mut path: Path, id: ThreadId, addr: u64, scoped: bool) -> Result<Path, Path> {
        let at = Addr(addr);
        let right = |object: &Object| {
            !object.private && object.live && at.offset() < object.size.max(1) && (scoped || (object.heap && at.offset() == 0))
        };
        match (path.control.object(addr).is_some_and(right), at.owner()) {
            (true, Owner::Thread(owner, number)) => {
                let object = &mut path.thread_mut(owner).objects[number as usize];
                object.live = false;
                object.written = None;
                Ok(path)
            }
            _ => Err(self.fails(path, id, Property::Memory)),
        }
    }

    fn leave(&mut self, mut path: Path, id: ThreadId, value: Operand) -> Next {
        if self.next_life(&path, id).is_some() {
            return Self::rest(path, id);
        }
        let result = self.result(&path, id, value);
        let exits = self.code.entry_exits() && id == ThreadId::MAIN;
        let thread = path.thread_mut(id);
        thread.stage = 0;
        let frame = thread.frame().clone();
        let locals = self.code.function(frame.function).locals.len();
        for object in thread.objects.iter_mut().skip(frame.first_object as usize).take(locals) {
            object.live = false;
            object.written = None;
        }
        if thread.frames.len() == 1 {
            return Next::On(vec![self.finish(path, id, result, exits)]);
        }
        thread.frames.pop();
        thread.pc = frame.return_to;
        self.set(&mut path, id, frame.dst, result);
        Next::On(vec![path])
    }

    fn end_thread(&mut self, path: Path, id: ThreadId, value: Operand) -> Next {
        if self.next_life(&path, id).is_some() {
            return Self::rest(path, id);
        }
        let result = self.result(&path, id, value);
        Next::On(vec![self.finish(path, id, result, false)])
    }

    fn result(&mut self, path: &Path, id: ThreadId, value: Operand) -> Term {
        if value == Operand::NONE { self.terms.constant(64, 0) } else { self.get(path, id, value) }
    }

    fn finish(&mut self, mut path: Path, id: ThreadId, result: Term, exit: bool) -> Path {
        if path.thread(id).atomic > 0 {
            return self.fails(path, id, Property::Lock);
        }
        self.write(&mut path, Var::Result(id), result);
        let thread = path.thread_mut(id);
        thread.status = Status::Finished { exit };
        (thread.stage, thread.pc) = (0, 0);
        thread.frames.clear();
        thread.held.clear();
        path
    }
}

/// The branches that decide how often a loop turns in which threads or objects are made. What they ask for is needed: there is no end of threads where it is not known.
pub(super) fn makers(code: &Code) -> FxHashSet<Pc> {
    let from = |start: Pc| {
        let mut seen: FxHashSet<Pc> = FxHashSet::default();
        let mut todo = successors(code, start);
        while let Some(pc) = todo.pop() {
            if seen.insert(pc) {
                todo.extend(successors(code, pc));
            }
        }
        seen
    };
    // Whoever calls a function that makes something makes it.
    let mut making: FxHashSet<FuncId> = FxHashSet::default();
    let makes = |pc: Pc, making: &FxHashSet<FuncId>| match code.instr(pc) {
        Instr::Spawn { .. } | Instr::SpawnIndirect { .. } | Instr::Alloc { .. } | Instr::CallIndirect { .. } => true,
        Instr::Call { func, .. } => making.contains(&func) || !code.function(func).locals.is_empty(),
        _ => false,
    };
    loop {
        let before = making.len();
        for id in (0..code.functions() as u32).map(FuncId) {
            let entry = code.function(id).entry;
            if from(entry).into_iter().chain([entry]).any(|pc| makes(pc, &making)) {
                making.insert(id);
            }
        }
        if making.len() == before {
            break;
        }
    }
    let mut all = FxHashSet::default();
    for pc in (0..code.len()).filter(|&pc| makes(pc, &making)) {
        let branches = from(pc).into_iter().filter(|&at| matches!(code.instr(at), Instr::Branch { .. }));
        all.extend(branches.filter(|&at| from(at).contains(&pc)));
    }
    all
}

/// The kinds of variables that every abstraction knows from the start: pointers.
pub(super) fn is_pointer(code: &Code, kind: Kind) -> bool {
    match kind {
        Kind::Slot(function, slot) => super::vars::slot_type(code, function, slot) == Some(Type::Ptr),
        Kind::Cell(_) | Kind::Results => false,
    }
}
