//! From where a thread rests to where it rests next: all ways, instruction by instruction (`step`).
//!
//! Addresses, handles of threads and sizes have to be numbers. Where one is not, the variables that it depends on are asked for ([`Halt::Need`]), so that the next abstraction knows them; an address that
//! depends on an unknown input is followed to every place in memory that it can be of (`access`).
//!
//! A loop in which the thread does nothing that others notice is followed as long as its turns are certain; else it is left at its head, and the next turn is an action of its own.

use super::abstraction::is_alive;
use super::control::{Control, Status, Thread};
use super::path::{Action, Halt, Move, Path, Target};
use super::vars::{Kind, Var, Vars};
use crate::words::{self, Computer, NoTerm};
use raddle_engine::Refusal;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::{Addr, Code, Live};
use raddle_program::Type;
use raddle_solve::{Term, Terms};
use raddle_trace::{Property, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
                if (self.needed)(var) && self.terms.as_const(term).is_none() && is_alive(self.live, &path.control, var)
                {
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
                return Err(
                    self.refused(pc, "the engine `cegar` takes no code with so many branches between two operations")
                );
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
                        if to <= at
                            && path.target.is_none()
                            && !path.thread(id).is_done()
                            && self.turns(&mut path, id, to)
                        {
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

    pub(super) fn slot(&mut self, path: &Path, id: ThreadId, slot: Slot) -> Term {
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
    pub(super) fn fails_if(
        &mut self,
        path: Path,
        id: ThreadId,
        cond: Term,
        property: Property,
    ) -> (Vec<Path>, Option<Path>) {
        let (wrong, right) = self.split(path, cond);
        (wrong.map(|path| self.fails(path, id, property)).into_iter().collect(), right)
    }

    pub(super) fn rest(mut path: Path, id: ThreadId) -> Next {
        path.thread_mut(id).status = Status::Ready;
        Next::Rest(path)
    }

    pub(super) fn values(&mut self, path: &Path, id: ThreadId, operands: &[Operand]) -> Vec<Term> {
        operands.iter().map(|&operand| self.get(path, id, operand)).collect()
    }

    /// Whether an address is of an object that only this thread can reach.
    pub(super) fn is_private(&self, path: &Path, id: ThreadId, addr: Term) -> bool {
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
}

/// The kinds of variables that every abstraction knows from the start: pointers.
pub(super) fn is_pointer(code: &Code, kind: Kind) -> bool {
    match kind {
        Kind::Slot(function, slot) => super::vars::slot_type(code, function, slot) == Some(Type::Ptr),
        Kind::Cell(_) | Kind::Results => false,
    }
}
