//! Which threads to follow from a state: reductions of the orders that are looked at (Telbisz 2024; sections 5 and 1.4 of our notes on it).
//!
//! * `local`: what no other thread can notice or prevent is done first and alone. It keeps every target: whatever can be reached can be reached behind it.
//! * `spor`: source sets by a static relation. Starting from one thread, whoever may come to depend on what those in the set do next is taken in; the smallest set is followed. Two accesses
//!   depend on each other if they may be to the same object and one of them writes.
//! * `aaspor`: the same, but accesses to what abstract states know nothing of do not count (abstraction-aware: Telbisz 2024, theorem 1). Sets are made anew for every precision.
//!
//! What makes it right: where a set leads back to a state that was looked at before, another one is tried, and where all of them do everybody is followed (`graph`): so every cycle has a state in it where nobody is left out (the cycle
//! proviso; by the order in which states are looked at rather than by back edges of the code, since a loop that is known to end makes no cycle of states). A set is none with a thread in it about to enter an atomic block, which might be
//! stopped in it, or with a thread that may have to wait, unless it is known that it need not (guards have to be total). Source sets keep failures, but not that two accesses are pending at the same
//! time or that nobody moves in abstract states; so where races or deadlocks are looked for, `local` is all there is.
//!
//! Where what nobody observes is forgotten (`observe`), accesses to it do not count either.
//!
//! Deviation: accesses are told apart by whole objects, found by a flow-insensitive analysis of where pointers may point; locks count as known always.

use super::abstraction::{Abstract, World};
use super::control::{Status, Thread};
use super::path::{Action, Halt, Path};
use super::vars::{Kind, Var};
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, Pc};
use raddle_machine::points::{self, Objects, Place, Pointers};
use raddle_machine::{Addr, Code};
use raddle_program::FuncId;
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

/// How many sets of threads are tried in a state.
const MOST_SETS: usize = 4;

/// What is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Footprint {
    reads: Objects,
    writes: Objects,
    /// Somebody waits for a thread.
    joins: bool,
    /// There is a loop.
    turns: bool,
}

impl Footprint {
    fn none(pointers: &Pointers) -> Self {
        Footprint { reads: pointers.none(), writes: pointers.none(), joins: false, turns: false }
    }

    fn join(&mut self, other: &Footprint) {
        self.reads.union_with(&other.reads);
        self.writes.union_with(&other.writes);
        self.joins |= other.joins;
        self.turns |= other.turns;
    }

    fn depends(&self, other: &Footprint, among: &Objects) -> bool {
        let meet = |one: &Objects, other: &Objects| one.intersection(other).any(|object| among.contains(object));
        meet(&self.writes, &other.writes) || meet(&self.writes, &other.reads) || meet(&self.reads, &other.writes)
    }
}

/// What instructions access, and what is accessed from them on.
#[derive(Debug)]
pub(super) struct Footprints {
    pub(super) pointers: Pointers,
    from: FxHashMap<Pc, Footprint>,
    /// Objects that are locks.
    locks: Objects,
}

impl Footprints {
    pub(super) fn new(code: &Code) -> Self {
        let pointers = Pointers::new(code);
        let mut locks = pointers.none();
        for pc in 0..code.len() {
            if let Instr::Sync { object, .. } = code.instr(pc) {
                locks.union_with(&pointers.of(code, pc, object));
            }
        }
        Footprints { pointers, from: FxHashMap::default(), locks }
    }

    /// What an instruction accesses.
    fn of(&self, code: &Code, pc: Pc) -> Footprint {
        let mut all = Footprint::none(&self.pointers);
        points::accesses(code, pc, &mut |place, writes| {
            let objects = if writes { &mut all.writes } else { &mut all.reads };
            match place {
                Place::Memory(operand, _) => objects.union_with(&self.pointers.of(code, pc, operand)),
                Place::Made => objects.insert(self.pointers.made()),
                Place::Waits => all.joins = true,
            }
        });
        all
    }

    /// What is accessed from an instruction on, by whoever is called or started there included.
    fn from(&mut self, code: &Code, pc: Pc) -> &Footprint {
        if !self.from.contains_key(&pc) {
            let mut all = Footprint::none(&self.pointers);
            let mut seen: FxHashSet<Pc> = FxHashSet::default();
            let mut todo = vec![pc];
            while let Some(at) = todo.pop() {
                if !seen.insert(at) {
                    continue;
                }
                all.join(&self.of(code, at));
                code.successors(at, &mut |to| {
                    all.turns |= to <= at;
                    todo.push(to);
                });
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
        Status::Ready => matches!(
            code.instr(thread.pc),
            Instr::Fence { .. }
                | Instr::Choose { .. }
                | Instr::Input { .. }
                | Instr::Spawn { .. }
                | Instr::SpawnIndirect { .. }
        ),
        Status::Finished { .. } | Status::Stopped => false,
    }
}

impl World<'_> {
    /// Sets of threads of which it is enough to follow one, unless it leads back; none where all are to be followed. Small sets come first, and of these such as cannot turn in loops, since they lead back
    /// less often. The flag of each thread says whether it may have to wait.
    pub(super) fn chosen(
        &mut self,
        state: &Abstract,
        facts: &[Term],
        actions: &[(ThreadId, bool, Vec<Action>)],
        reduction: Reduction,
    ) -> Result<Vec<Vec<ThreadId>>, Halt> {
        let everybody: Vec<ThreadId> = actions.iter().map(|(id, ..)| *id).collect();
        if reduction == Reduction::None || everybody.len() < 2 {
            return Ok(Vec::new());
        }
        let thread = |id: ThreadId| state.control.thread(id).expect("it moves");
        let is_free =
            |(id, _, list): &&(ThreadId, bool, Vec<Action>)| is_local(self.code, thread(*id)) && !list.is_empty();
        let mut right: Vec<Vec<ThreadId>> =
            actions.iter().filter(is_free).map(|(id, ..)| vec![*id]).take(MOST_SETS).collect();
        if reduction == Reduction::Local {
            return Ok(right);
        }
        let mut among = self.counted(reduction);
        if let Some(observed) = self.observed(&state.control) {
            let locks = &self.footprints.locks;
            for global in (0..self.footprints.pointers.globals()).filter(|&global| !locks.contains(global)) {
                if !self.flows.sees_global(&observed, global) {
                    among.remove(global);
                }
            }
        }
        let code = self.code;
        let futures: Vec<Footprint> = everybody.iter().map(|&id| self.footprints.future(code, thread(id))).collect();
        let next: Vec<Footprint> = everybody.iter().map(|&id| self.footprints.of(code, thread(id).pc)).collect();
        let mut awaited = Vec::new();
        for &id in &everybody {
            awaited.push(self.awaited(state, facts, id)?);
        }
        // Nobody is past a wait for a thread before that has ended, so its end depends on no such wait; but a wait depends on that thread, and on whoever else may wait for one.
        let depends = |member: usize, other: usize| {
            let waits = awaited[member].is_some_and(|id| id == everybody[other] || futures[other].joins);
            waits || futures[other].depends(&next[member], &among)
        };
        let mut sets: Vec<Vec<usize>> = Vec::new();
        // Those who are not among the movers are done, so whoever is live is in `actions`.
        for seed in (0..actions.len()).filter(|&seed| !actions[seed].2.is_empty()) {
            let mut set = vec![false; actions.len()];
            set[seed] = true;
            let mut grown = true;
            while grown {
                grown = false;
                for other in 0..actions.len() {
                    if !set[other] && (0..actions.len()).any(|member| set[member] && depends(member, other)) {
                        set[other] = true;
                        grown = true;
                    }
                }
            }
            let members: Vec<usize> = (0..actions.len()).filter(|&at| set[at]).collect();
            if members.len() < everybody.len() && !sets.contains(&members) {
                sets.push(members);
            }
        }
        let moving = |set: &[usize]| set.iter().filter(|&&at| !actions[at].2.is_empty()).count();
        sets.sort_by_key(|set| (moving(set), set.iter().any(|&at| futures[at].turns)));
        let most = right.len() + MOST_SETS;
        for set in sets {
            if right.len() == most {
                break;
            }
            let members: Vec<ThreadId> = set.iter().map(|&at| everybody[at]).collect();
            if !right.contains(&members) && self.is_total(state, facts, set.iter().map(|&at| &actions[at]))? {
                right.push(members);
            }
        }
        Ok(right)
    }

    /// Whether some of these threads can move whatever the state is, and nobody is kept from moving by that.
    fn is_total<'a>(
        &mut self,
        state: &Abstract,
        facts: &[Term],
        members: impl Iterator<Item = &'a (ThreadId, bool, Vec<Action>)>,
    ) -> Result<bool, Halt> {
        for (id, waits, list) in members {
            let pc = state.control.thread(*id).expect("it moves").pc;
            let blocks = matches!(self.code.instr(pc), Instr::AtomicBegin | Instr::AtomicEnd);
            // Who is known to wait does nothing, and whoever could end that is among the members.
            let stands = *waits && list.is_empty();
            if blocks || (list.is_empty() && !stands) {
                return Ok(false);
            }
            if *waits && !stands {
                let guards: Vec<Term> = list.iter().map(|action| action.guard).collect();
                let goes = self.terms.any(guards);
                if self.follows(facts, goes)? != Some(true) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// For which thread somebody is about to wait, if it is known to exist.
    fn awaited(&mut self, state: &Abstract, facts: &[Term], id: ThreadId) -> Result<Option<ThreadId>, Halt> {
        let thread = state.control.thread(id).expect("it moves");
        let Instr::Join { thread: handle, .. } = self.code.instr(thread.pc) else { return Ok(None) };
        let handle = self.walk(state, facts, |walker| {
            let path = Path::at(walker, &state.control);
            let handle = walker.get(&path, id, handle);
            walker.number(handle, thread.pc, "which thread this joins")
        })?;
        Ok(handle.checked_sub(1).map(|number| ThreadId(number as u32)))
    }

    /// Of which objects abstract states know something: the globals, and as one what threads have made.
    pub(super) fn known_of(&self) -> Vec<bool> {
        let counted = self.counted(Reduction::Aware);
        (0..=self.footprints.pointers.made()).map(|object| counted.contains(object)).collect()
    }

    /// The objects whose accesses count.
    fn counted(&self, reduction: Reduction) -> Objects {
        let footprints = &self.footprints;
        if reduction != Reduction::Aware {
            return footprints.pointers.all();
        }
        let mut among = footprints.locks.clone();
        among.insert(footprints.pointers.made());
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
                among.insert(id.index());
            }
        }
        among
    }
}
