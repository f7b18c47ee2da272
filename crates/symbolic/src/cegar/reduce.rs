//! Which threads to follow from a state: reductions of the orders that are looked at (Telbisz 2024; sections 5 and 1.4 of our notes on it).
//!
//! * `local`: what no other thread can notice or prevent is done first and alone. It keeps every target: whatever can be reached can be reached behind it.
//! * `spor`: source sets by a static relation. Starting from one thread, whoever may come to depend on what those in the set do next is taken in; the smallest set is followed. Two accesses
//!   depend on each other if they may be to the same object and one of them writes.
//! * `aaspor`: the same, but accesses to what abstract states know nothing of do not count (abstraction-aware: Telbisz 2024, theorem 1). Sets are made anew for every precision.
//!
//! What makes it right: a set that has a way back in the code in it is no set (cycle proviso by back edges); neither is one with a way that ends the program, with a thread about to enter an atomic block, which might be
//! stopped in it, or with a thread that may have to wait, unless it is known that it need not (guards have to be total). Source sets keep failures, but not that two accesses are pending at the same
//! time or that nobody moves in abstract states; so where races or deadlocks are looked for, `local` is all there is.
//!
//! Deviation: accesses are told apart by whole objects, found by a flow-insensitive analysis of where pointers may point; locks count as known always.

use super::abstraction::{Abstract, World};
use super::control::{Status, Thread};
use super::path::Action;
use super::vars::{Kind, Var};
use crate::oc::successors;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::{Addr, Code};
use raddle_program::{BinOp, FuncId, Type};
use raddle_solve::Term;
use raddle_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Which reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    None,
    Local,
    Sources,
    Aware,
}

/// A set of objects: the globals, what threads have made, and whether threads have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Objects(Vec<u64>);

impl Objects {
    fn none(bits: usize) -> Self {
        Objects(vec![0; bits.div_ceil(64)])
    }

    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn join(&mut self, other: &Objects) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *word | more != *word;
            *word |= more;
        }
        changed
    }

    fn meet(&self, other: &Objects, among: &Objects) -> bool {
        self.0.iter().zip(&other.0).zip(&among.0).any(|((a, b), c)| a & b & c != 0)
    }
}

/// What is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Footprint {
    reads: Objects,
    writes: Objects,
}

impl Footprint {
    fn none(bits: usize) -> Self {
        Footprint { reads: Objects::none(bits), writes: Objects::none(bits) }
    }

    fn join(&mut self, other: &Footprint) {
        self.reads.join(&other.reads);
        self.writes.join(&other.writes);
    }

    fn depends(&self, other: &Footprint, among: &Objects) -> bool {
        self.writes.meet(&other.writes, among)
            || self.writes.meet(&other.reads, among)
            || self.reads.meet(&other.writes, among)
    }
}

/// What instructions access, and what is accessed from them on.
#[derive(Debug)]
pub(super) struct Footprints {
    globals: usize,
    bits: usize,
    /// Where slots may point.
    slots: FxHashMap<(FuncId, Slot), Objects>,
    functions: Vec<FuncId>,
    from: FxHashMap<Pc, Footprint>,
    /// Objects that are locks.
    locks: Objects,
}

impl Footprints {
    pub(super) fn new(code: &Code) -> Self {
        let globals = code.globals().len();
        let bits = globals + 2;
        let mut functions = vec![FuncId(0); code.len() as usize];
        let mut order: Vec<FuncId> = (0..code.functions() as u32).map(FuncId).collect();
        order.sort_unstable_by_key(|&id| code.function(id).entry);
        for (at, &id) in order.iter().enumerate() {
            let end = order.get(at + 1).map_or(code.len(), |&next| code.function(next).entry);
            functions[code.function(id).entry as usize..end as usize].fill(id);
        }
        let (slots, from) = (FxHashMap::default(), FxHashMap::default());
        let mut all = Footprints { globals, bits, slots, functions, from, locks: Objects::none(bits) };
        while all.point(code) {}
        for pc in 0..code.len() {
            if let Instr::Sync { object, .. } = code.instr(pc) {
                let objects = all.objects(code, all.functions[pc as usize], object);
                all.locks.join(&objects);
            }
        }
        all
    }

    fn anything(&self) -> Objects {
        let mut all = Objects::none(self.bits);
        (0..=self.globals).for_each(|bit| all.add(bit));
        all
    }

    fn of_threads(&self) -> Objects {
        let mut all = Objects::none(self.bits);
        all.add(self.globals);
        all
    }

    fn objects(&self, code: &Code, function: FuncId, operand: Operand) -> Objects {
        let mut all = Objects::none(self.bits);
        match code.as_constant(operand) {
            Some(value) => match Addr(value).owner() {
                Owner::Global(id) => all.add(id.index()),
                Owner::Thread(..) => all.add(self.globals),
                Owner::Function(_) | Owner::Nothing => {}
            },
            None => return self.slots.get(&(function, operand.0)).cloned().unwrap_or(all),
        }
        all
    }

    /// One more round of where slots may point; whether that was news.
    fn point(&mut self, code: &Code) -> bool {
        let mut changed = false;
        for pc in 0..code.len() {
            let function = self.functions[pc as usize];
            let get = |operand: Operand| self.objects(code, function, operand);
            let mut add: Vec<((FuncId, Slot), Objects)> = Vec::new();
            match code.instr(pc) {
                Instr::Move { dst, src } => add.push(((function, dst), get(src))),
                Instr::Bin { op: BinOp::Add, ty: Type::Ptr, dst, a, .. } => add.push(((function, dst), get(a))),
                Instr::Un { dst, a, .. } | Instr::Cast { dst, a, .. } => add.push(((function, dst), get(a))),
                Instr::Bin { dst, a, b, .. } | Instr::Select { dst, a, b, .. } => {
                    add.extend([((function, dst), get(a)), ((function, dst), get(b))]);
                }
                Instr::LocalAddr { dst, .. } | Instr::TlsAddr { dst, .. } | Instr::Alloc { dst, .. } => {
                    add.push(((function, dst), self.of_threads()));
                }
                Instr::Load { dst, .. }
                | Instr::Rmw { dst, .. }
                | Instr::Join { dst, .. }
                | Instr::CallIndirect { dst, .. } => {
                    add.push(((function, dst), self.anything()));
                }
                Instr::Cas { cas } => add.push(((function, code.cas(cas).dst), self.anything())),
                Instr::Call { func, args, dst } => {
                    add.extend(code.args(args).iter().zip(0..).map(|(&arg, slot)| ((func, slot), get(arg))));
                    add.push(((function, dst), self.anything()));
                }
                Instr::Spawn { func, args, .. } => {
                    add.extend(code.args(args).iter().zip(0..).map(|(&arg, slot)| ((func, slot), get(arg))));
                }
                _ => {}
            }
            if let Instr::CallIndirect { args, .. } | Instr::SpawnIndirect { args, .. } = code.instr(pc) {
                for id in (0..code.functions() as u32).map(FuncId).filter(|&id| code.function(id).params == args.len) {
                    add.extend((0..args.len).map(|slot| ((id, slot), self.anything())));
                }
            }
            for (slot, objects) in add.into_iter().filter(|add| add.0.1 != NO_SLOT) {
                let bits = self.bits;
                changed |= self.slots.entry(slot).or_insert_with(|| Objects::none(bits)).join(&objects);
            }
        }
        changed
    }

    /// What an instruction accesses.
    fn of(&self, code: &Code, pc: Pc) -> Footprint {
        let function = self.functions[pc as usize];
        let mut all = Footprint::none(self.bits);
        match code.instr(pc) {
            Instr::Load { addr, .. } => all.reads = self.objects(code, function, addr),
            Instr::Store { addr: object, .. }
            | Instr::Rmw { addr: object, .. }
            | Instr::Sync { object, .. }
            | Instr::Free { ptr: object, .. } => all.writes = self.objects(code, function, object),
            Instr::Cas { cas } => all.writes = self.objects(code, function, code.cas(cas).addr),
            Instr::Join { .. } => all.reads.add(self.globals + 1),
            Instr::Return { .. } | Instr::ExitThread { .. } | Instr::Exit => {
                all.writes.add(self.globals);
                all.writes.add(self.globals + 1);
            }
            _ => {}
        }
        all
    }

    /// What is accessed from an instruction on, by whoever is called or started there included.
    fn from(&mut self, code: &Code, pc: Pc) -> &Footprint {
        if !self.from.contains_key(&pc) {
            let mut all = Footprint::none(self.bits);
            let mut seen: FxHashSet<Pc> = FxHashSet::default();
            let mut todo = vec![pc];
            while let Some(at) = todo.pop() {
                if !seen.insert(at) {
                    continue;
                }
                all.join(&self.of(code, at));
                todo.extend(successors(code, at));
                match code.instr(at) {
                    Instr::Call { func, .. } | Instr::Spawn { func, .. } => todo.push(code.function(func).entry),
                    Instr::CallIndirect { .. } | Instr::SpawnIndirect { .. } => {
                        todo.extend((0..code.functions() as u32).map(|id| code.function(FuncId(id)).entry));
                    }
                    _ => {}
                }
            }
            self.from.insert(pc, all);
        }
        &self.from[&pc]
    }

    /// What a thread may access from now on.
    fn future(&mut self, code: &Code, thread: &Thread) -> Footprint {
        let mut all = self.from(code, thread.pc).clone();
        for frame in thread.frames.iter().skip(1) {
            let below = self.from(code, frame.return_to).clone();
            all.join(&below);
        }
        all
    }
}

/// Whether nobody else can notice or prevent what a thread does next.
fn is_local(code: &Code, thread: &Thread) -> bool {
    match thread.status {
        Status::Silent => true,
        Status::Ready => match code.instr(thread.pc) {
            Instr::Fence { .. } | Instr::Choose { .. } | Instr::Input { .. } => true,
            Instr::Spawn { .. } | Instr::SpawnIndirect { .. } => true,
            _ => false,
        },
        Status::Finished { .. } | Status::Stopped => false,
    }
}

impl World<'_> {
    /// Whose actions to follow: all of them, or those of some threads. `waits` says who may have to wait.
    pub(super) fn chosen(
        &mut self,
        state: &Abstract,
        facts: &[Term],
        actions: &[(ThreadId, bool, Vec<Action>)],
        reduction: Reduction,
    ) -> Result<Vec<ThreadId>, super::path::Halt> {
        let everybody: Vec<ThreadId> = actions.iter().map(|(id, ..)| *id).collect();
        if reduction == Reduction::None || everybody.len() < 2 {
            return Ok(everybody);
        }
        let fits = |actions: &[Action]| {
            !actions.is_empty() && actions.iter().all(|action| !action.back && !action.control.is_over())
        };
        let thread = |id: ThreadId| state.control.thread(id).expect("it moves");
        for (id, _, list) in actions {
            if is_local(self.code, thread(*id)) && fits(list) {
                return Ok(vec![*id]);
            }
        }
        if reduction == Reduction::Local {
            return Ok(everybody);
        }
        let among = self.counted(reduction);
        let code = self.code;
        let mut best = everybody.clone();
        let futures: Vec<Footprint> = everybody.iter().map(|&id| self.footprints.future(code, thread(id))).collect();
        let mut next: Vec<Footprint> = everybody.iter().map(|&id| self.footprints.of(code, thread(id).pc)).collect();
        let ends = self.footprints.globals + 1;
        for (at, (_, _, list)) in actions.iter().enumerate() {
            if list.iter().any(|action| action.control.thread(everybody[at]).is_some_and(Thread::is_done)) {
                next[at].writes.add(ends);
            }
        }
        // Those who are not among the movers are done, so whoever is live is in `actions`.
        for seed in 0..actions.len() {
            let mut set = vec![false; actions.len()];
            set[seed] = true;
            let mut grown = true;
            while grown {
                grown = false;
                for other in 0..actions.len() {
                    let depends = |member: usize| set[member] && futures[other].depends(&next[member], &among);
                    if !set[other] && (0..actions.len()).any(depends) {
                        set[other] = true;
                        grown = true;
                    }
                }
            }
            let members: Vec<usize> = (0..actions.len()).filter(|&at| set[at]).collect();
            if members.len() >= best.len() {
                continue;
            }
            let mut right = true;
            for &at in &members {
                let (id, waits, list) = &actions[at];
                let blocks = matches!(code.instr(thread(*id).pc), Instr::AtomicBegin | Instr::AtomicEnd);
                right &= fits(list) && !blocks;
                if right && *waits {
                    let guards: Vec<Term> = list.iter().map(|action| action.guard).collect();
                    let goes = self.terms.any(guards);
                    right = self.follows(facts, goes)? == Some(true);
                }
            }
            if right {
                best = members.iter().map(|&at| everybody[at]).collect();
            }
        }
        Ok(best)
    }

    /// The objects whose accesses count.
    fn counted(&self, reduction: Reduction) -> Objects {
        let footprints = &self.footprints;
        let mut among = Objects::none(footprints.bits);
        if reduction != Reduction::Aware {
            among = footprints.anything();
            among.add(footprints.globals + 1);
            return among;
        }
        among.join(&footprints.locks);
        among.join(&footprints.of_threads());
        among.add(footprints.globals + 1);
        let cells = self.precision.kinds.iter().chain(&self.precision.needed).filter_map(|kind| match kind {
            Kind::Cell(addr) => Some(*addr),
            Kind::Slot(..) | Kind::Results => None,
        });
        let predicates = self.precision.predicates.iter().flat_map(|(_, vars)| vars);
        let more = predicates.filter_map(|var| match var {
            Var::Cell { addr, .. } => Some(*addr),
            Var::Slot { .. } | Var::Result(_) => None,
        });
        for addr in cells.chain(more) {
            if let Owner::Global(id) = Addr(addr).owner() {
                among.add(id.index());
            }
        }
        among
    }
}
