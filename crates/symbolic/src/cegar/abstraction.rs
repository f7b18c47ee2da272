//! What is known of a state: the two domains of Telbisz 2024, as one.
//!
//! A *precision* says what an abstract state may know: the values of these variables (explicit values), and whether these predicates hold (Cartesian predicates). Either set may be empty, so each domain
//! alone is a special case. Where threads are is always known. What follows from an action is computed with all of it: a variable is known behind the action if its new value is one number whatever
//! the state was, and a predicate if it holds, or does not, in all cases. There is one abstract state behind an action at most (`maxenum` is 1).
//!
//! Deviations: values and predicates are one domain, so that predicates begin where values end and nothing is started over; variables that cannot be read any more are forgotten; which part of what
//! is known matters for a question is found by common variables, and answers are kept for good, so that building the graph again after a refinement asks little anew.

use super::calls::makers;
use super::control::{Control, Status};
use super::observe::{Flows, Set};
use super::path::{Action, Halt};
use super::reduce::Footprints;
use super::vars::{Kind, Var, Vars};
use super::walk::{Cells, Known, Walker, is_pointer};
use raddle_machine::code::Pc;
use raddle_machine::{Code, Live};
use raddle_solve::{Answer, Solver, Stop, Term, Terms};
use raddle_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What abstract states may know.
#[derive(Clone, Debug, Default)]
pub(super) struct Precision {
    /// Variables whose values are known.
    pub(super) kinds: BTreeSet<Kind>,
    /// Variables without which it is not known what code does: addresses and locks.
    pub(super) needed: BTreeSet<Kind>,
    /// Variables that had too many values.
    pub(super) banned: BTreeSet<Kind>,
    /// Predicates, and the variables of each.
    pub(super) predicates: Vec<(Term, Vec<Var>)>,
}

impl Precision {
    pub(super) fn tracks(&self, code: &Code, var: Var) -> bool {
        self.kinds.contains(&var.kind()) || self.needs(code, var)
    }

    /// Whether it is not known what code does without this variable.
    pub(super) fn needs(&self, code: &Code, var: Var) -> bool {
        self.needed.contains(&var.kind()) || is_pointer(code, var.kind())
    }

    pub(super) fn has(&self, predicate: Term) -> bool {
        self.predicates.iter().any(|known| known.0 == predicate)
    }
}

/// An abstract state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Abstract {
    pub(super) control: Rc<Control>,
    pub(super) known: Known,
    /// Which predicates hold or do not, by their places in the precision.
    pub(super) literals: BTreeMap<usize, bool>,
}

impl Abstract {
    /// Whether everything that is in this state is in the other one.
    pub(super) fn is_within(&self, other: &Abstract) -> bool {
        other.literals.iter().all(|(at, holds)| self.literals.get(at) == Some(holds))
            && other.known.iter().all(|(var, value)| self.known.get(var) == Some(value))
            && (Rc::ptr_eq(&self.control, &other.control) || self.control == other.control)
    }
}

/// Everything that states and actions are made of.
pub(super) struct World<'q> {
    pub(super) code: &'q Code,
    pub(super) live: Live,
    pub(super) terms: Terms,
    pub(super) vars: Vars,
    pub(super) cells: Cells,
    pub(super) precision: Precision,
    pub(super) footprints: Footprints,
    pub(super) flows: Flows,
    /// Whether what nobody observes is forgotten.
    pub(super) forgets: bool,
    makers: FxHashSet<Pc>,
    /// Whether every answer is waited for. Otherwise what is hard to tell is not known: something may be possible then, and nothing follows.
    patient: bool,
    stop: Stop,
    solver: Solver,
    /// Whether such premises can hold.
    possible: FxHashMap<Box<[Term]>, bool>,
    /// What follows from such premises: that the term holds, that it does not, or nothing.
    follows: FxHashMap<(Box<[Term]>, Term), Option<bool>>,
    /// How many questions there were.
    pub(super) asked: u64,
}

/// Whether a variable may be read again.
pub(super) fn is_alive(live: &Live, control: &Control, var: Var) -> bool {
    match var {
        Var::Cell { addr, .. } => match raddle_machine::Addr(addr).owner() {
            raddle_machine::address::Owner::Thread(_, raddle_machine::address::WAKEUPS) => true,
            raddle_machine::address::Owner::Thread(..) => control.object(addr).is_some_and(|object| object.live),
            _ => true,
        },
        Var::Slot { thread, depth, function, slot } => {
            let Some(thread) = control.thread(thread) else { return false };
            if thread.is_done() || depth as usize > thread.frames.len() {
                return false;
            }
            let frame = &thread.frames[depth as usize - 1];
            if frame.function != function {
                return false;
            }
            match thread.frames.get(depth as usize) {
                None => live.is_live(thread.pc, slot),
                Some(called) => called.dst != slot && live.is_live(called.return_to, slot),
            }
        }
        Var::Result(thread) => control
            .thread(thread)
            .is_some_and(|thread| thread.status == Status::Finished { exit: false } && !thread.joined),
    }
}

/// Whether it is memory of an object that nobody has made so far. What it holds at first is known all the same.
fn is_yet_to_be(control: &Control, var: Var) -> bool {
    matches!(var, Var::Cell { addr, .. } if control.object(addr).is_none())
}

/// A model of premises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// In which a term has this value.
    Some(u64),
    None,
    /// It was too hard to tell.
    Unknown,
}

/// After how many conflicts a question about a state is too hard.
const MOST_CONFLICTS: u32 = 400;
/// How many variables a solver may have.
const MOST_SOLVER_VARS: u64 = 60_000;

impl<'q> World<'q> {
    pub(super) fn new(code: &'q Code, stop: &Stop) -> Self {
        let footprints = Footprints::new(code);
        World {
            code,
            flows: Flows::new(code, &footprints.pointers),
            forgets: false,
            live: Live::new(code),
            terms: Terms::new(),
            vars: Vars::default(),
            cells: Cells::new(),
            precision: Precision::default(),
            footprints,
            makers: makers(code),
            patient: false,
            stop: stop.clone(),
            solver: Solver::new(stop.clone()),
            possible: FxHashMap::default(),
            follows: FxHashMap::default(),
            asked: 0,
        }
    }

    /// Nothing that was answered before is remembered, and every answer is waited for.
    pub(super) fn forget_answers(&mut self) {
        self.patient = true;
        self.possible.clear();
        self.follows.clear();
        self.solver = Solver::new(self.stop.clone());
    }

    /// A solver that is not too large.
    pub(super) fn solver(&mut self) -> &mut Solver {
        if self.solver.sat.size().0 > MOST_SOLVER_VARS {
            self.solver = Solver::new(self.stop.clone());
        }
        &mut self.solver
    }

    /// Whether all of these can hold; in a model, the value of `other`.
    fn solve(&mut self, premises: &[Term], other: Option<Term>) -> Result<Model, Halt> {
        self.asked += 1;
        self.solver();
        let World { solver, terms, patient, .. } = self;
        let lits: Vec<_> = premises.iter().map(|&term| solver.lit(terms, term)).collect();
        let answer = if *patient { solver.solve(&lits) } else { solver.sat.solve_within(&lits, MOST_CONFLICTS) };
        match answer {
            Answer::Sat => Ok(Model::Some(other.map_or(0, |term| solver.value(terms, term)))),
            Answer::Unsat => Ok(Model::None),
            Answer::Unknown if solver.sat.is_stopped() => Err(Halt::Stopped),
            Answer::Unknown => Ok(Model::Unknown),
        }
    }

    /// What a term is where all of these hold, if they can; `None` also where that is hard to tell.
    pub(super) fn example(&mut self, premises: &[Term], term: Term) -> Result<Option<u64>, Halt> {
        Ok(match self.solve(premises, Some(term))? {
            Model::Some(value) => Some(value),
            Model::None | Model::Unknown => None,
        })
    }

    /// Whether all of these can hold.
    pub(super) fn can_hold(&mut self, premises: &[Term]) -> Result<bool, Halt> {
        let mut key: Vec<Term> = premises.iter().copied().filter(|&term| !self.terms.is_true(term)).collect();
        if key.iter().any(|&term| self.terms.is_false(term)) {
            return Ok(false);
        }
        if key.is_empty() {
            return Ok(true);
        }
        key.sort_unstable();
        key.dedup();
        let key = key.into_boxed_slice();
        if let Some(&known) = self.possible.get(&key) {
            return Ok(known);
        }
        let answer = self.solve(&key, None)? != Model::None;
        self.possible.insert(key, answer);
        Ok(answer)
    }

    /// The premises that have to do with a term: connected to it by common variables.
    fn relevant(&self, premises: &[Term], to: Term) -> Vec<Term> {
        let mut vars: FxHashSet<Term> = self.terms.variables([to]).into_iter().collect();
        let mut left: Vec<(Term, Vec<Term>)> =
            premises.iter().map(|&premise| (premise, self.terms.variables([premise]))).collect();
        let mut all = Vec::new();
        loop {
            let (near, far): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, of)| of.iter().any(|var| vars.contains(var)));
            if near.is_empty() {
                break;
            }
            for (premise, of) in near {
                all.push(premise);
                vars.extend(of);
            }
            left = far;
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What follows from premises that can hold: that a term does, that it does not, or nothing.
    pub(super) fn follows(&mut self, premises: &[Term], term: Term) -> Result<Option<bool>, Halt> {
        if let Some(value) = self.terms.as_const(term) {
            return Ok(Some(value == 1));
        }
        let premises = self.relevant(premises, term);
        if premises.contains(&term) {
            return Ok(Some(true));
        }
        let negated = self.terms.not(term);
        if premises.contains(&negated) {
            return Ok(Some(false));
        }
        let key = (premises.into_boxed_slice(), term);
        if let Some(&known) = self.follows.get(&key) {
            return Ok(known);
        }
        let answer = match self.solve(&key.0, Some(term))? {
            Model::Unknown => None,
            // Premises that contradict each other: whoever asks has not asked whether they can hold, or anything is right.
            Model::None => Some(true),
            Model::Some(value) => {
                let mut both = key.0.to_vec();
                both.push(if value == 1 { negated } else { term });
                (self.solve(&both, None)? == Model::None).then_some(value == 1)
            }
        };
        self.follows.insert(key, answer);
        Ok(answer)
    }

    /// The one number that a term is if the premises hold, if there is only one.
    fn only_value(&mut self, premises: &[Term], term: Term) -> Result<Option<u64>, Halt> {
        let premises = self.relevant(premises, term);
        if premises.is_empty() {
            return Ok(None);
        }
        let Model::Some(value) = self.solve(&premises, Some(term))? else { return Ok(None) };
        let number = self.terms.constant(self.terms.width(term), value);
        let same = self.terms.eq(term, number);
        Ok((self.follows(&premises, same)? == Some(true)).then_some(value))
    }

    /// What a state says about variables whose values it does not know.
    pub(super) fn facts(&mut self, state: &Abstract) -> Vec<Term> {
        let mut facts = Vec::new();
        for (&at, &holds) in &state.literals {
            let predicate = self.precision.predicates[at].0;
            let term = self.with_known(predicate, &state.known);
            let fact = if holds { term } else { self.terms.not(term) };
            if !self.terms.is_true(fact) {
                facts.push(fact);
            }
        }
        facts
    }

    /// A term with the numbers that are known.
    pub(super) fn with_known(&mut self, term: Term, known: &Known) -> Term {
        let constants = self.constants([term], known);
        if constants.is_empty() {
            return term;
        }
        self.terms.replace(term, &|var| constants.get(&var).copied(), &mut FxHashMap::default())
    }

    /// What is known of the variables of terms.
    fn constants(&mut self, of: impl IntoIterator<Item = Term>, known: &Known) -> FxHashMap<Term, Term> {
        let mut constants = FxHashMap::default();
        for term in self.terms.variables(of) {
            if let Some(value) = self.vars.var(term).and_then(|var| known.get(&var)) {
                constants.insert(term, self.terms.constant(self.terms.width(term), *value));
            }
        }
        constants
    }

    /// Whether a variable may be read again.
    pub(super) fn is_alive(&self, control: &Control, var: Var) -> bool {
        is_alive(&self.live, control, var)
    }

    /// The state before anything has happened.
    pub(super) fn first(&mut self, control: Control) -> Result<Abstract, Halt> {
        let control = Rc::new(control);
        let mut state = Abstract { control, known: Known::new(), literals: BTreeMap::new() };
        let mut literals = BTreeMap::new();
        for at in 0..self.precision.predicates.len() {
            let (predicate, vars) = self.precision.predicates[at].clone();
            if vars.iter().all(|&var| self.is_alive(&state.control, var)) {
                let first: Known = vars.iter().map(|&var| (var, self.vars.first(self.code, var))).collect();
                let term = self.with_known(predicate, &first);
                literals.extend(self.follows(&[], term)?.map(|holds| (at, holds)));
            }
        }
        let cells: Vec<(u64, u8)> = self.cells.iter().map(|(&addr, &(size, _))| (addr, size)).collect();
        for (addr, size) in cells {
            let var = Var::Cell { addr, size };
            // Objects of threads hold what they hold at first when they are made, and nobody accesses them before.
            if self.precision.tracks(self.code, var) {
                state.known.insert(var, self.vars.first(self.code, var));
            }
        }
        let entry = self.code.entry();
        for slot in 0..self.code.function(entry).slots {
            let var = Var::Slot { thread: ThreadId::MAIN, depth: 1, function: entry, slot };
            if self.precision.tracks(self.code, var) && self.is_alive(&state.control, var) {
                state.known.insert(var, 0);
            }
        }
        state.literals = literals;
        Ok(state)
    }

    /// Whether an action is possible in a state, as far as the state knows, and what is known behind it.
    pub(super) fn post(&mut self, state: &Abstract, facts: &[Term], action: &Action) -> Result<Option<Abstract>, Halt> {
        let mut premises: Vec<Term> = facts.to_vec();
        let guard = self.terms.conjuncts(action.guard);
        if !guard.is_empty() {
            let near = self.relevant(facts, action.guard);
            let asked: Vec<Term> = near.into_iter().chain(guard.iter().copied()).collect();
            if !self.can_hold(&asked)? {
                return Ok(None);
            }
        }
        premises.extend(guard);
        if action.target.is_some() {
            let control = Rc::new(action.control.clone());
            return Ok(Some(Abstract { control, known: Known::new(), literals: BTreeMap::new() }));
        }
        let changed: FxHashMap<Var, Term> = action.updates.iter().copied().collect();
        let mut known = Known::new();
        for (&var, &value) in &state.known {
            if !changed.contains_key(&var)
                && (self.is_alive(&action.control, var) || is_yet_to_be(&action.control, var))
            {
                known.insert(var, value);
            }
        }
        // What may have become known.
        let mut open: BTreeMap<Var, Term> = BTreeMap::new();
        for &(var, term) in &action.updates {
            if self.precision.tracks(self.code, var) && self.is_alive(&action.control, var) {
                match self.terms.as_const(term) {
                    Some(value) => drop(known.insert(var, value)),
                    None => drop(open.insert(var, term)),
                }
            }
        }
        for term in self.terms.variables(premises.iter().copied()) {
            if let Some(var) = self.vars.var(term)
                && !changed.contains_key(&var)
                && self.precision.tracks(self.code, var)
                && self.is_alive(&action.control, var)
            {
                open.insert(var, term);
            }
        }
        for (var, term) in open {
            if let Some(value) = self.only_value(&premises, term)? {
                known.insert(var, value);
            }
        }
        let mut literals = BTreeMap::new();
        for at in 0..self.precision.predicates.len() {
            let (predicate, vars) = self.precision.predicates[at].clone();
            if !vars.iter().all(|&var| self.is_alive(&action.control, var)) {
                continue;
            }
            if !vars.iter().any(|var| changed.contains_key(var))
                && let Some(&holds) = state.literals.get(&at)
            {
                literals.insert(at, holds);
                continue;
            }
            let mut with: FxHashMap<Term, Term> = FxHashMap::default();
            for &var in &vars {
                let term = self.vars.term(self.code, &mut self.terms, var);
                let value = match (changed.get(&var), state.known.get(&var)) {
                    (Some(&new), _) => new,
                    (None, Some(&value)) => self.terms.constant(self.terms.width(term), value),
                    (None, None) => continue,
                };
                with.insert(term, value);
            }
            let term = self.terms.replace(predicate, &|var| with.get(&var).copied(), &mut FxHashMap::default());
            literals.extend(self.follows(&premises, term)?.map(|holds| (at, holds)));
        }
        if let Some(observed) = self.observed(&action.control) {
            let World { code, flows, precision, .. } = self;
            let stays = |var: Var| precision.needs(code, var) || flows.sees(&observed, var);
            known.retain(|&var, _| stays(var));
            literals.retain(|&at, _| precision.predicates[at].1.iter().all(|&var| stays(var)));
        }
        Ok(Some(Abstract { control: Rc::new(action.control.clone()), known, literals }))
    }

    /// What is observed from where threads are; `None` if nothing is forgotten because of that.
    pub(super) fn observed(&mut self, control: &Control) -> Option<Rc<Set>> {
        let known_of = self.forgets.then(|| self.known_of())?;
        Some(self.flows.observed(self.code, control, &known_of))
    }

    /// Somebody who follows ways from a state.
    pub(super) fn walk<T>(
        &mut self,
        state: &Abstract,
        facts: &[Term],
        follow: impl FnOnce(&mut Walker<'_>) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let World { code, live, makers, terms, vars, cells, precision, solver, asked, .. } = self;
        let tracked = |var: Var| precision.tracks(code, var);
        let needed = |var: Var| precision.needs(code, var);
        let mut ask = |terms: &mut Terms, term: Term| {
            if let Some(value) = terms.as_const(term) {
                return Ok(value == 1);
            }
            *asked += 1;
            let lits: Vec<_> = facts.iter().chain([&term]).map(|&term| solver.lit(terms, term)).collect();
            match solver.solve(&lits) {
                Answer::Sat => Ok(true),
                Answer::Unsat => Ok(false),
                Answer::Unknown => Err(Halt::Stopped),
            }
        };
        let known = &state.known;
        follow(&mut Walker {
            code,
            live,
            makers,
            terms,
            vars,
            cells,
            known,
            tracked: &tracked,
            needed: &needed,
            ask: &mut ask,
        })
    }

    /// The same action where more is known than when it was made.
    pub(super) fn sharper(&mut self, action: &Action, known: &Known) -> Action {
        let all = [action.guard].into_iter().chain(action.updates.iter().map(|update| update.1));
        let constants = self.constants(all.collect::<Vec<Term>>(), known);
        let mut done = FxHashMap::default();
        let with = |var: Term| constants.get(&var).copied();
        let guard = self.terms.replace(action.guard, &with, &mut done);
        let updates = action.updates.iter().map(|&(var, term)| (var, self.terms.replace(term, &with, &mut done)));
        let updates = updates.collect();
        Action { guard, updates, ..action.clone() }
    }
}
