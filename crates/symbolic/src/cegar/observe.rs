//! What can still make a difference: dynamic statement reduction by data flow (DCOI; Telbisz 2024, chapter 4, and section 6 of our notes on it).
//!
//! A value matters if something that decides where threads go, or what fails, may come to depend on it: a condition, an address, a lock, a wait. Which values do depends on where threads are, since
//! code that nobody can get to any more observes nothing. From the instructions that threads can still get to, those they call and start included, it is found backwards which registers and objects values
//! may flow from to such a place. What abstract states know of all others they forget.
//!
//! An assignment that nobody observes is so evaluated as "anything"; what is forgotten once is never asked for again, since threads get to less and less. Whether a way is possible is still decided with what
//! the actions really do, so nothing is reported because of it, and refinement uses the same states, so that what it proposes is tried in the form in which it will be used.
//!
//! With source sets, accesses to a global object that nobody observes depend on no others.
//!
//! Deviations: what is forgotten is forgotten wherever a thread goes, not only where it is assigned; data flow through objects of which abstract states know nothing at all does not count, as in the source, but registers
//! always do, since a large block passes values through them; overwriting in between is ignored; objects that threads make are one.
//!
//! Cost: a walk over the code per combination of places of threads, remembered until abstract states know of more objects.

use super::control::Control;
use super::vars::Var;
use fixedbitset::FixedBitSet;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::points::Pointers;
use raddle_machine::{Addr, Code};
use raddle_program::{BinOp, FuncId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Something that values flow through: a slot of a function, an object, what a function or a thread returns.
type Place = usize;

/// A set of places, or of instructions.
pub(super) type Set = FixedBitSet;

/// How values flow through a program.
#[derive(Debug)]
pub(super) struct Flows {
    /// The first slot of each function among the places; behind all slots are objects, results of functions, and the result of threads.
    slots: Vec<usize>,
    objects: usize,
    results: usize,
    places: usize,
    /// By place: where it gets a value, and from which places.
    into: Vec<Vec<(Pc, Vec<Place>)>>,
    /// By instruction: what it observes.
    observes: Vec<Vec<Place>>,
    /// By instruction: those that can be got to from it.
    ahead: FxHashMap<Pc, Rc<Set>>,
    /// What is observed, by where threads are, as long as these objects are known of.
    known_of: Option<Vec<bool>>,
    observed: FxHashMap<Vec<Pc>, Rc<Set>>,
}

impl Flows {
    pub(super) fn new(code: &Code, pointers: &Pointers) -> Self {
        let mut slots = Vec::new();
        let mut objects = 0;
        for id in (0..code.functions() as u32).map(FuncId) {
            slots.push(objects);
            objects += code.function(id).slots as usize;
        }
        let results = objects + code.globals().len() + 1;
        let places = results + code.functions() + 1;
        let mut flows = Flows {
            slots,
            objects,
            results,
            places,
            into: vec![Vec::new(); places],
            observes: Vec::new(),
            ahead: FxHashMap::default(),
            known_of: None,
            observed: FxHashMap::default(),
        };
        for pc in 0..code.len() {
            let observed = flows.add(code, pointers, pc);
            flows.observes.push(observed);
        }
        flows
    }

    fn slot(&self, function: FuncId, slot: Slot) -> Place {
        self.slots[function.index()] + slot as usize
    }

    /// What threads return.
    fn of_threads(&self) -> Place {
        self.places - 1
    }

    fn flow(&mut self, pc: Pc, to: Place, from: &[Place]) {
        self.into[to].push((pc, from.to_vec()));
    }

    /// Notes where values flow in an instruction; what it observes.
    fn add(&mut self, code: &Code, pointers: &Pointers, pc: Pc) -> Vec<Place> {
        let function = pointers.function(pc);
        let place = |flows: &Flows, operand: Operand| -> Vec<Place> {
            let is_slot = operand != Operand::NONE && code.as_constant(operand).is_none();
            is_slot.then(|| flows.slot(function, operand.0)).into_iter().collect()
        };
        let objects = |flows: &Flows, operand: Operand| -> Vec<Place> {
            pointers.of(code, pc, operand).ones().map(|object| flows.objects + object).collect()
        };
        let all = |flows: &Flows| -> Vec<Place> {
            (0..code.function(function).slots).map(|slot| flows.slot(function, slot as Slot)).collect()
        };
        let places = |flows: &Flows, operands: &[Operand]| -> Vec<Place> {
            operands.iter().flat_map(|&operand| place(flows, operand)).collect()
        };
        let set = |flows: &mut Flows, dst: Slot, from: Vec<Place>| {
            if dst != NO_SLOT {
                let to = flows.slot(function, dst);
                flows.flow(pc, to, &from);
            }
        };
        let mut observed = Vec::new();
        match code.instr(pc) {
            Instr::Move { dst, src: a } | Instr::Un { dst, a, .. } | Instr::Cast { dst, a, .. } => {
                set(self, dst, places(self, &[a]));
            }
            Instr::Bin { op, dst, a, b, .. } => {
                if matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) {
                    observed = places(self, &[b]);
                }
                set(self, dst, places(self, &[a, b]));
            }
            Instr::Select { dst, cond, a, b } => set(self, dst, places(self, &[cond, a, b])),
            Instr::Load { dst, addr, wait, .. } => {
                observed = places(self, &[addr]);
                let found = objects(self, addr);
                if wait != 0 {
                    observed.extend(all(self));
                    observed.extend(&found);
                }
                set(self, dst, found);
            }
            Instr::Store { addr, value, .. } => {
                observed = places(self, &[addr]);
                let from = places(self, &[value]);
                for to in objects(self, addr) {
                    self.flow(pc, to, &from);
                }
            }
            Instr::Rmw { dst, addr, operand, idle, .. } => {
                observed = places(self, &[addr]);
                let found = objects(self, addr);
                if idle != 0 {
                    observed.extend(all(self));
                    observed.extend(&found);
                }
                let from = places(self, &[operand]);
                for &to in &found {
                    self.flow(pc, to, &from);
                }
                set(self, dst, found);
            }
            Instr::Cas { cas } => {
                let cas = *code.cas(cas);
                observed = places(self, &[cas.addr, cas.expected]);
                let found = objects(self, cas.addr);
                observed.extend(&found);
                let from = places(self, &[cas.desired]);
                for &to in &found {
                    self.flow(pc, to, &from);
                }
                set(self, cas.dst, found);
            }
            Instr::Call { dst, func, args } => {
                for (&arg, slot) in code.args(args).iter().zip(0..) {
                    let (to, from) = (self.slot(func, slot), places(self, &[arg]));
                    self.flow(pc, to, &from);
                }
                set(self, dst, vec![self.results + func.index()]);
            }
            Instr::Spawn { func, args, .. } => {
                for (&arg, slot) in code.args(args).iter().zip(0..) {
                    let (to, from) = (self.slot(func, slot), places(self, &[arg]));
                    self.flow(pc, to, &from);
                }
            }
            // Whoever is called by a pointer may do anything with what it is given.
            Instr::CallIndirect { dst, target, args } => {
                observed = places(self, &[target]);
                observed.extend(places(self, code.args(args)));
                set(self, dst, (self.results..self.of_threads()).collect());
            }
            Instr::SpawnIndirect { target, args, .. } => {
                observed = places(self, &[target]);
                observed.extend(places(self, code.args(args)));
            }
            Instr::Join { dst, thread, .. } => {
                observed = places(self, &[thread]);
                set(self, dst, vec![self.of_threads()]);
            }
            Instr::Return { value } => {
                let from = places(self, &[value]);
                for to in [self.results + function.index(), self.of_threads()] {
                    self.flow(pc, to, &from);
                }
            }
            Instr::ExitThread { value } => {
                let (to, from) = (self.of_threads(), places(self, &[value]));
                self.flow(pc, to, &from);
            }
            Instr::Sync { dst, object, other, .. } => {
                observed = places(self, &[object, other]);
                // Wake-ups belong to threads.
                observed.push(self.results - 1);
                for operand in [object, other].into_iter().filter(|&operand| operand != Operand::NONE) {
                    observed.extend(objects(self, operand));
                }
                set(self, dst, Vec::new());
            }
            Instr::Alloc { size, .. } => observed = places(self, &[size]),
            Instr::Free { ptr, .. } => observed = places(self, &[ptr]),
            Instr::Assert { cond, .. } | Instr::Assume { cond } | Instr::Branch { cond, .. } => {
                observed = places(self, &[cond]);
            }
            Instr::Switch { value, .. } => observed = places(self, &[value]),
            Instr::Choose { dst, low, .. } => set(self, dst, places(self, &[low])),
            // What a turn began with decides whether the thread waits.
            Instr::Turn { .. } | Instr::MarkTurn { .. } | Instr::Spin { .. } => observed = all(self),
            Instr::Print { args, .. } => observed = places(self, code.args(args)),
            Instr::LocalAddr { .. }
            | Instr::TlsAddr { .. }
            | Instr::ThreadId { .. }
            | Instr::Input { .. }
            | Instr::Fence { .. }
            | Instr::Take
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Error { .. }
            | Instr::Jump { .. }
            | Instr::Exit
            | Instr::Unreachable => {}
        }
        observed
    }

    /// The instructions that can be got to from one, whoever is called or started included.
    fn ahead(&mut self, code: &Code, pc: Pc) -> Rc<Set> {
        if let Some(known) = self.ahead.get(&pc) {
            return known.clone();
        }
        let mut all = Set::with_capacity(code.len() as usize);
        let mut todo = vec![pc];
        while let Some(at) = todo.pop() {
            if all.put(at as usize) {
                continue;
            }
            code.successors(at, &mut |to| todo.push(to));
            match code.instr(at) {
                Instr::Call { func, .. } | Instr::Spawn { func, .. } => todo.push(code.function(func).entry),
                Instr::CallIndirect { .. } | Instr::SpawnIndirect { .. } => {
                    todo.extend((0..code.functions() as u32).map(|id| code.function(FuncId(id)).entry));
                }
                _ => {}
            }
        }
        let all = Rc::new(all);
        self.ahead.insert(pc, all.clone());
        all
    }

    /// What is observed from where these threads are, if of the global objects (and what threads have made) these are known of.
    pub(super) fn observed(&mut self, code: &Code, control: &Control, known_of: &[bool]) -> Rc<Set> {
        if self.known_of.as_deref() != Some(known_of) {
            self.known_of = Some(known_of.to_vec());
            self.observed.clear();
        }
        let mut places: Vec<Pc> = Vec::new();
        for thread in control.threads.iter().filter(|thread| !thread.is_done()) {
            places.push(thread.pc);
            places.extend(thread.frames.iter().skip(1).map(|frame| frame.return_to));
        }
        places.sort_unstable();
        places.dedup();
        if let Some(known) = self.observed.get(&places) {
            return known.clone();
        }
        let mut there = Set::with_capacity(code.len() as usize);
        for &pc in &places {
            let ahead = self.ahead(code, pc);
            there.union_with(&ahead);
            // A call that is not over is still to give its result; what is right before another place does no harm.
            there.insert(pc.saturating_sub(1) as usize);
        }
        let mut all = Set::with_capacity(self.places);
        let mut todo: Vec<Place> = there.ones().flat_map(|pc| self.observes[pc].iter().copied()).collect();
        while let Some(place) = todo.pop() {
            let is_known = !(self.objects..self.results).contains(&place) || known_of[place - self.objects];
            if !is_known || all.put(place) {
                continue;
            }
            for (_, from) in self.into[place].iter().filter(|(pc, _)| there.contains(*pc as usize)) {
                todo.extend(from);
            }
        }
        let all = Rc::new(all);
        self.observed.insert(places, all.clone());
        all
    }

    /// Whether a variable is among what is observed.
    pub(super) fn sees(&self, observed: &Set, var: Var) -> bool {
        observed.contains(match var {
            Var::Slot { function, slot, .. } => self.slot(function, slot),
            Var::Result(_) => self.of_threads(),
            Var::Cell { addr, .. } => match Addr(addr).owner() {
                Owner::Global(id) => self.objects + id.index(),
                _ => self.results - 1,
            },
        })
    }

    /// Whether a global object is.
    pub(super) fn sees_global(&self, observed: &Set, number: usize) -> bool {
        observed.contains(self.objects + number)
    }
}
