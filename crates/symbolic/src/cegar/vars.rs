//! What a program remembers, as variables of terms.
//!
//! Where threads are, which objects they have and which locks they hold is no variable: it is known in every abstract state ([`Control`](super::control::Control)).
//! All other memory is: slots of frames, and memory cell by cell. A cell is what is accessed at once, so locations are known before they are variables, and accesses that overlap in part are
//! refused. What a cell holds before anybody has written it is known ([`Vars::first`]): a thread never makes two objects with the same address.

use raddle_machine::address::Owner;
use raddle_machine::code::{Pc, Slot};
use raddle_machine::{Addr, Code};
use raddle_program::{FuncId, Type};
use raddle_solve::{Term, Terms};
use raddle_trace::ThreadId;
use rustc_hash::FxHashMap;

/// Something that can be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Var {
    /// So many bytes of memory.
    Cell { addr: u64, size: u8 },
    /// A slot of the frame at this depth of a thread's stack, which belongs to a call of this function.
    Slot { thread: ThreadId, depth: u16, function: FuncId, slot: Slot },
    /// What a thread has returned.
    Result(ThreadId),
}

/// A set of variables that are remembered or not remembered together: one slot of a function is the same in whatever thread and at whatever depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Cell(u64),
    Slot(FuncId, Slot),
    Results,
}

impl Var {
    pub(super) fn kind(self) -> Kind {
        match self {
            Var::Cell { addr, .. } => Kind::Cell(addr),
            Var::Slot { function, slot, .. } => Kind::Slot(function, slot),
            Var::Result(_) => Kind::Results,
        }
    }
}

/// The variables and their terms.
#[derive(Debug, Default)]
pub(super) struct Vars {
    terms: FxHashMap<Var, Term>,
    vars: FxHashMap<Term, Var>,
    /// Unknown inputs and choices, by who makes them where.
    inputs: FxHashMap<(ThreadId, Pc), Term>,
    /// What cells of objects that threads have made hold at first.
    fresh: FxHashMap<u64, Vec<u8>>,
}

/// The type of a slot, if it is that of a register.
pub(super) fn slot_type(code: &Code, function: FuncId, slot: Slot) -> Option<Type> {
    code.function(function).reg_types.get(slot as usize).copied()
}

impl Vars {
    fn width(code: &Code, var: Var) -> u8 {
        match var {
            Var::Cell { size, .. } => size * 8,
            Var::Slot { function, slot, .. } => slot_type(code, function, slot).map_or(64, |ty| ty.bits() as u8),
            Var::Result(_) => 64,
        }
    }

    /// The term of a variable.
    pub(super) fn term(&mut self, code: &Code, terms: &mut Terms, var: Var) -> Term {
        if let Some(&term) = self.terms.get(&var) {
            return term;
        }
        let term = terms.var(Self::width(code, var));
        self.terms.insert(var, term);
        self.vars.insert(term, var);
        term
    }

    /// What a thread is given here. It is another value whenever it is asked for, so whoever puts actions together tells them apart.
    pub(super) fn input(&mut self, terms: &mut Terms, thread: ThreadId, pc: Pc, width: u8) -> Term {
        *self.inputs.entry((thread, pc)).or_insert_with(|| terms.var(width))
    }

    /// The variable of a term; `None` for inputs.
    pub(super) fn var(&self, term: Term) -> Option<Var> {
        self.vars.get(&term).copied()
    }

    /// Notes what an object holds at first.
    pub(super) fn make(&mut self, base: u64, contents: &[u8]) {
        self.fresh.entry(base).or_insert_with(|| contents.to_vec());
    }

    /// What a variable holds at first. Slots hold nothing that is read before it is written but zero.
    pub(super) fn first(&self, code: &Code, var: Var) -> u64 {
        let Var::Cell { addr, size } = var else { return 0 };
        let at = Addr(addr);
        let bytes: &[u8] = match at.owner() {
            Owner::Global(id) => code.globals().get(id.index()).map_or(&[], |global| &global.bytes),
            _ => self.fresh.get(&at.base().0).map_or(&[], Vec::as_slice),
        };
        let byte = |nth: u32| bytes.get((at.offset() + nth) as usize).copied().unwrap_or(0);
        (0..u32::from(size)).rev().fold(0, |value, nth| value << 8 | u64::from(byte(nth)))
    }
}
