//! Whether there is an execution that does these actions, and the schedule of one.
//!
//! The actions of a way through the graph are put together from the start, where every variable has one value: what each guard asks is then a condition on unknown inputs alone, and the way is
//! possible if all of them can hold. It is the actions themselves that are asked, not what abstract states say about them.

use super::abstraction::World;
use super::path::{Action, Halt, Move, Target};
use super::vars::Var;
use raddle_machine::code::Instr;
use raddle_machine::{Automaton, Blocked, Code, Status, System, Thread};
use raddle_program::Ordering;
use raddle_solve::{Answer, Solver, Stop, Term};
use raddle_trace::{Model, Schedule, Step, ThreadId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Actions, put together.
pub(super) struct Unfolded {
    /// What each action asks for: part of its guard, and what that comes to.
    pub(super) asked: Vec<Vec<(Term, Term)>>,
    /// What each action is in a schedule.
    moves: Vec<Move>,
}

/// Whether a way is possible.
pub(super) enum Feasible {
    /// With these moves.
    Yes(Vec<(ThreadId, Moved)>),
    /// Not as far as these parts of guards are concerned, by action.
    No(Vec<Vec<Term>>),
}

/// A move with its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Silent,
    Run,
    Choose(u32),
    /// A value of an unknown input that no schedule can name.
    Nameless,
}

impl World<'_> {
    /// Puts actions together.
    pub(super) fn unfold(&mut self, trace: &[Rc<Action>]) -> Unfolded {
        let mut now: FxHashMap<Var, Term> = FxHashMap::default();
        let mut unfolded = Unfolded { asked: Vec::new(), moves: Vec::new() };
        for action in trace {
            let parts = self.terms.conjuncts(action.guard);
            let all = parts.iter().copied().chain(action.updates.iter().map(|update| update.1));
            let mut with: FxHashMap<Term, Term> = FxHashMap::default();
            for term in self.terms.variables(all.collect::<Vec<Term>>()) {
                let width = self.terms.width(term);
                let value = match self.vars.var(term) {
                    Some(var) => match now.get(&var) {
                        Some(&value) => value,
                        None => self.terms.constant(width, self.vars.first(self.code, var)),
                    },
                    // What is given is another value each time.
                    None => self.terms.var(width),
                };
                with.insert(term, value);
            }
            let mut done = FxHashMap::default();
            let mut put =
                |world: &mut Self, term: Term| world.terms.replace(term, &|var| with.get(&var).copied(), &mut done);
            let asked = parts.into_iter().map(|part| (part, put(self, part))).collect();
            let updates: Vec<(Var, Term)> = action.updates.iter().map(|&(var, term)| (var, put(self, term))).collect();
            let step = match action.step {
                Move::Pick(term) => Move::Pick(put(self, term)),
                Move::Input(term, values) => Move::Input(put(self, term), values),
                step => step,
            };
            now.extend(updates);
            unfolded.asked.push(asked);
            unfolded.moves.push(step);
        }
        unfolded
    }

    /// Whether these actions can be done one after the other.
    pub(super) fn feasible(&mut self, trace: &[Rc<Action>], stop: &Stop) -> Result<Feasible, Halt> {
        let unfolded = self.unfold(trace);
        let mut solver = Solver::new(stop.clone());
        // Values that a schedule can name are tried first.
        let named: Vec<Term> = unfolded.moves.iter().filter_map(|step| self.nameable(*step)).collect();
        let asked: Vec<(usize, Term, Term)> = unfolded
            .asked
            .iter()
            .enumerate()
            .flat_map(|(at, parts)| parts.iter().map(move |&(part, term)| (at, part, term)))
            .filter(|&(_, _, term)| !self.terms.is_true(term))
            .collect();
        let lits: Vec<_> = asked.iter().map(|&(_, _, term)| solver.lit(&self.terms, term)).collect();
        let mut with_names = lits.clone();
        with_names.extend(named.iter().map(|&term| solver.lit(&self.terms, term)));
        let mut answer = solver.solve(&with_names);
        if answer == Answer::Unsat && !named.is_empty() {
            answer = solver.solve(&lits);
        }
        match answer {
            Answer::Unknown => Err(Halt::Stopped),
            Answer::Sat => {
                let moves = trace.iter().zip(&unfolded.moves).map(|(action, &step)| {
                    let moved = match step {
                        Move::Silent => Moved::Silent,
                        Move::Run => Moved::Run,
                        Move::Pick(term) => Moved::Choose(solver.value(&self.terms, term) as u32),
                        Move::Input(term, values) => {
                            let value = solver.value(&self.terms, term);
                            let pick = self.code.input_values(values).pick(value);
                            pick.map_or(Moved::Nameless, Moved::Choose)
                        }
                    };
                    (action.thread, moved)
                });
                Ok(Feasible::Yes(moves.collect()))
            }
            Answer::Unsat => {
                let mut core: Vec<usize> = (0..lits.len()).filter(|&at| solver.sat.failed(lits[at])).collect();
                // What is not needed for the contradiction is left out, from the start on: what is near the end explains more.
                let mut at = 0;
                while at < core.len() && core.len() > 1 {
                    let fewer: Vec<_> =
                        core.iter().enumerate().filter(|(nth, _)| *nth != at).map(|(_, &one)| lits[one]).collect();
                    match solver.solve(&fewer) {
                        Answer::Unsat => drop(core.remove(at)),
                        Answer::Sat => at += 1,
                        Answer::Unknown => return Err(Halt::Stopped),
                    }
                }
                let mut parts = vec![Vec::new(); trace.len()];
                for one in core {
                    parts[asked[one].0].push(asked[one].1);
                }
                Ok(Feasible::No(parts))
            }
        }
    }

    /// That an input has a value which schedules can name.
    fn nameable(&mut self, step: Move) -> Option<Term> {
        let Move::Input(term, values) = step else { return None };
        let info = self.code.input_values(values);
        if info.count() <= 1 << 32 {
            return None;
        }
        let mut left: u128 = 1 << 32;
        let mut ranges = Vec::new();
        for &(low, high) in info.ranges.iter().chain(&info.rest) {
            let count = (u128::from(high - low) + 1).min(left);
            if count > 0 {
                ranges.push((low, low + (count - 1) as u64));
            }
            left -= count;
        }
        Some(crate::words::among(&mut self.terms, term, ranges))
    }
}

/// The schedule of moves that lead to a target; `None` if it cannot be named.
pub(super) fn schedule(code: &Code, trace: &[Rc<Action>], moves: &[(ThreadId, Moved)]) -> Option<Schedule> {
    let last = trace.last().expect("a target is behind an action");
    // An access that races with one in an atomic block comes before the block.
    let outside = match (&last.target, last.control.atomic) {
        (Some(Target::Race { first, .. }), Some(inside)) => {
            let before = trace.iter().rposition(|action| action.control.atomic != Some(inside));
            Some((before.map_or(0, |before| before + 1), first.thread))
        }
        _ => None,
    };
    let mut steps = Vec::new();
    for (at, &(id, moved)) in moves.iter().enumerate() {
        if let Some((_, first)) = outside.filter(|outside| outside.0 == at) {
            steps.push(Step::Run(first));
        }
        match moved {
            Moved::Silent => {}
            Moved::Run => steps.push(Step::Run(id)),
            Moved::Choose(pick) => steps.push(Step::Choose(id, pick)),
            Moved::Nameless => return None,
        }
    }
    let mut steps = without_turns(code, steps);
    match &last.target {
        Some(Target::Race { second, .. }) if outside.is_some() => steps.push(Step::Run(second.thread)),
        Some(Target::Race { first, second }) => steps.extend([first, second].map(|access| Step::Run(access.thread))),
        Some(Target::Deadlock { .. }) => {
            // An ordinary load that waits looks before it waits.
            for thread in last.control.threads.iter().filter(|thread| !thread.is_done()) {
                if matches!(code.instr(thread.pc), Instr::Load { order: Ordering::NonAtomic, .. }) && thread.atomic == 0
                {
                    steps.push(Step::Run(thread.id));
                }
            }
        }
        _ => {}
    }
    Some(Schedule { steps })
}

/// The steps without turns of loops that have no effect: the machine lets a thread rest behind one. Nobody else can tell.
fn without_turns(code: &Code, mut way: Vec<Step>) -> Vec<Step> {
    loop {
        let mut system = System::new(code, Model::Sc, false, false);
        let mut operations = Vec::new();
        let mut in_vain = None;
        for &step in &way {
            let id = step.thread();
            operations.push(system.thread(id).map_or(0, Thread::operations));
            if system.step(step).is_err() {
                break;
            }
            let now = system.thread(id).expect("it has moved");
            if *now.status() == Status::Blocked(Blocked::Spin) && now.since() < now.operations() {
                in_vain = Some((id, now.since()));
                break;
            }
        }
        let Some((id, since)) = in_vain else { return way };
        let mut at = 0;
        let done = operations.len();
        way.retain(|step| {
            at += 1;
            at > done || step.thread() != id || operations[at - 1] < since
        });
    }
}
