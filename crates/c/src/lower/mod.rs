//! How does a typed program become the program representation?
//!
//! First everything that `main` can reach is found and checked ([`reach`]); what cannot be reached is not part of
//! the result. Then each function is lowered on its own:
//!
//! - Scalars whose address is never taken are registers and make no events. Everything else is memory, and each
//!   C read or write of a scalar in memory is exactly one load or store. Structs are copied scalar by scalar.
//! - Expressions are pure; whatever has an effect becomes an instruction at the point where C evaluates it. Where C
//!   leaves the order open: the left operand first, arguments from the left, the assigned value before its target.
//! - Functions of the C and threads libraries are written in C (`library/` of this crate) over a handful of
//!   operations, and put in line where they are called, so that each of their steps shows the user's own line.
//! - Structs are passed as their scalars, and returned through a pointer, or in a register if they are one scalar. A scalar without a value keeps having none
//!   wherever it is moved ([`Unwritten::Kept`](raddle_program::Unwritten::Kept)).
//!
//! `return` from `main` ends the program, as `exit` does, whatever other threads are doing (C11 5.1.2.2.3); `pthread_exit` in
//! `main` ends the first thread only.

mod acts;
mod assign;
mod atomic;
mod call;
mod constant;
mod expr;
mod function;
mod intrinsic;
mod jump;
mod memory;
mod object;
mod print;
mod reach;
mod scope;
mod sequence;
mod shape;
mod stmt;
mod unset;
mod value;
mod valueless;
mod whole;
mod wide;

use crate::check::Checker;
use crate::ctype::RecordId;
use crate::parse::Fault;
use crate::source::Lines;
use crate::token::{Name, Pos};
use crate::tree::{Body, FnId, StrId, VarId};
use crate::{Habits, Options};
use raddle_program::{FuncId, Function, GlobalId, Program, Shape, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

type Lowered<T> = Result<T, Fault>;

/// A program under construction.
#[derive(Debug)]
pub(crate) struct Lowerer<'a> {
    checker: Checker,
    lines: Lines,
    options: &'a Options,
    program: Program,
    /// Functions by number; `None` until they are lowered.
    functions: Vec<Option<Function>>,
    function_ids: FxHashMap<FnId, FuncId>,
    /// Functions that may end without a value, for calls that use it: there this is an error.
    valued_ids: FxHashMap<FnId, FuncId>,
    /// Such functions of both kinds that have a number and no body.
    pending: Vec<(FnId, bool)>,
    /// Which C function a function of the program is, to know its C type.
    sources: FxHashMap<FuncId, FnId>,
    /// What threads begin with that run these functions, where something is to be done at their ends.
    starts: FxHashMap<FuncId, FuncId>,
    globals: FxHashMap<VarId, GlobalId>,
    strings: FxHashMap<StrId, GlobalId>,
    /// What types are made of, as far as somebody has asked.
    shapes: FxHashMap<RecordId, Arc<Shape>>,
    names: FxHashSet<String>,
    bodies: FxHashMap<FnId, Rc<Body>>,
    /// Whether some function may come to its end without a value, once it is known.
    valueless: Option<bool>,
    /// Library functions the program refers to.
    used: FxHashSet<Name>,
    faults: Vec<Fault>,
    /// What a reader of the verdict should know.
    notes: Vec<String>,
    /// It is written in the words of verification competitions.
    competition: bool,
    /// There are accesses to `volatile` objects that are plain ones.
    plain_volatile: bool,
}

/// The result of lowering: the program with what should be said about it, or what is wrong.
pub(crate) struct Finished {
    pub(crate) program: Program,
    pub(crate) notes: Vec<String>,
    pub(crate) competition: bool,
    pub(crate) habits: Habits,
    pub(crate) faults: Vec<Fault>,
    pub(crate) lines: Lines,
}

/// Lowers everything `main` can reach.
pub(crate) fn lower(checker: Checker, lines: Lines, options: &Options) -> Finished {
    let main = checker.user_function("main");
    let mut lowerer = Lowerer {
        checker,
        lines,
        options,
        program: Program::default(),
        functions: Vec::new(),
        function_ids: FxHashMap::default(),
        valued_ids: FxHashMap::default(),
        pending: Vec::new(),
        sources: FxHashMap::default(),
        starts: FxHashMap::default(),
        globals: FxHashMap::default(),
        strings: FxHashMap::default(),
        shapes: FxHashMap::default(),
        names: FxHashSet::default(),
        bodies: FxHashMap::default(),
        valueless: None,
        used: FxHashSet::default(),
        faults: Vec::new(),
        notes: Vec::new(),
        competition: false,
        plain_volatile: false,
    };
    match main.filter(|&id| lowerer.checker.func(id).def.is_some()) {
        Some(main) => lowerer.run(main),
        None => lowerer.faults.push(Fault::new(Pos(0), "the program has no function `main`")),
    }
    let competition = lowerer.competition || lowerer.checker.competes;
    let x86 = lowerer.checker.x86.get();
    if lowerer.checker.long_double.get() {
        lowerer.note("`long double` is computed with the precision of `double`");
    }
    let Lowerer { mut program, functions, notes, faults, lines, plain_volatile, .. } = lowerer;
    if faults.is_empty() {
        program.functions = functions.into_iter().map(|f| f.expect("every function met is lowered")).collect();
    }
    Finished { program, notes, competition, habits: Habits { plain_volatile, x86 }, faults, lines }
}

impl Lowerer<'_> {
    fn run(&mut self, main: FnId) {
        let order = self.reach(main);
        if !self.faults.is_empty() {
            return;
        }
        for id in order {
            if id == main || !self.may_end_without_value(id) {
                let number = self.function_id(id);
                self.lower_into(number, id, id == main, false);
            }
        }
        while let Some((id, valued)) = self.pending.pop() {
            let number = if valued { self.valued_id(id) } else { self.function_id(id) };
            self.lower_into(number, id, false, valued);
        }
        self.program.entry = self.function_ids.get(&main).copied();
        // C11 5.1.2.2.3: a return from `main` is a call of `exit`.
        self.program.entry_exits = true;
    }

    fn lower_into(&mut self, number: FuncId, id: FnId, main: bool, valued: bool) {
        match self.function(id, main, valued) {
            Ok(mut function) => {
                constant::propagate(&mut function);
                self.functions[number.index()] = Some(function);
            }
            Err(fault) => self.faults.push(fault),
        }
    }

    /// Whether there is something to be done when a thread ends.
    fn ends_threads(&self) -> bool {
        ["pthread_key_create", "tss_create", "pthread_mutexattr_setrobust"].iter().any(|name| self.used.contains(*name))
    }

    /// The number of a function that has or will have a body.
    fn function_id(&mut self, id: FnId) -> FuncId {
        if let Some(&known) = self.function_ids.get(&id) {
            return known;
        }
        let number = self.next_number(id);
        self.function_ids.insert(id, number);
        if self.may_end_without_value(id) {
            self.pending.push((id, false));
        }
        number
    }

    /// The same for a call that uses the function's value: where it ends without one, that is an error.
    fn valued_id(&mut self, id: FnId) -> FuncId {
        if !self.may_end_without_value(id) {
            return self.function_id(id);
        }
        if let Some(&known) = self.valued_ids.get(&id) {
            return known;
        }
        let number = self.next_number(id);
        self.valued_ids.insert(id, number);
        self.pending.push((id, true));
        number
    }

    fn next_number(&mut self, id: FnId) -> FuncId {
        let number = FuncId(self.functions.len() as u32);
        self.functions.push(None);
        self.sources.insert(number, id);
        number
    }

    /// A name nothing else in the program has.
    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = 1;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}.{number}");
            number += 1;
        }
        unique
    }

    fn span(&mut self, pos: Pos) -> Span {
        self.lines.span(pos, 0)
    }

    fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
