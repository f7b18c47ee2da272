//! From a way through the states to a schedule of the machine.
//!
//! A state on the way has forgotten what makes no difference, so a move is told by whose it is and as how many-th of that thread's moves. The machine lets
//! a thread rest behind a turn of a loop that had no effect. On the way such a turn leads back to where it began, so it is left out of the schedule:
//! nobody else can tell.

use crate::machine::{Machine, Piece, own};
use crate::search::Graph;
use crate::sight::Race;
use crate::visited::Index;
use raddle_machine::{Automaton, Blocked, Code, Status, System, Visible};
use raddle_trace::{Model, Schedule, Step, ThreadId};

/// A move: whose, and as how many-th of those that the thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) thread: ThreadId,
    pub(crate) nth: usize,
}

/// What comes behind the state that the way leads to.
#[derive(Clone, Debug)]
pub(crate) enum Then {
    /// Nothing.
    Nothing,
    /// These threads make a turn of a loop without effect each.
    Turns(Vec<ThreadId>),
    /// Two accesses that race.
    Race(Race),
    /// All that a thread has on its way arrives.
    Arrivals(ThreadId),
}

/// The schedule of the way to a state, and of what comes then.
pub(crate) fn schedule(machine: &Machine<'_>, graph: &Graph<Piece>, index: Index, then: &Then) -> Schedule {
    let way = graph.way(index).into_iter().map(|(from, by)| told(machine, graph, from, by)).collect();
    realise(machine.code, machine.model, way, then)
}

/// The same of a way through the states of SC under TSO: every store arrives at once.
pub(crate) fn schedule_with_arrivals(
    machine: &Machine<'_>,
    graph: &Graph<Piece>,
    index: Index,
    then: &Then,
) -> Schedule {
    let mut way = Vec::new();
    for (from, by) in graph.way(index) {
        let step = told(machine, graph, from, by);
        let state = graph.state(machine, from);
        way.push(step);
        let stores = matches!(own(&state, step.thread).status(), Status::Ready(Visible::Store { .. }));
        if stores && state.atomic().is_none() {
            way.push(Move { thread: step.thread, nth: 0 });
        }
    }
    realise(machine.code, Model::Tso, way, then)
}

/// The schedule of these moves, without turns of loops that have no effect, and of what comes then.
pub(crate) fn realise(code: &Code, model: Model, mut way: Vec<Move>, then: &Then) -> Schedule {
    loop {
        let mut system = System::new(code, model, false, false);
        let mut steps: Vec<(Move, Step, Option<u32>)> = Vec::new();
        let mut in_vain = None;
        for &step in &way {
            let Some(&taken) = system.moves().iter().filter(|one| one.thread() == step.thread).nth(step.nth) else {
                break;
            };
            let id = step.thread;
            let operation = system.thread(id).map(raddle_machine::Thread::operations);
            let runs = matches!(taken, Step::Run(_) | Step::Choose(..));
            if system.step(taken).is_err() {
                break;
            }
            steps.push((step, taken, operation.filter(|_| runs)));
            let now = system.thread(id).expect("it has moved");
            if runs && *now.status() == Status::Blocked(Blocked::Spin) && now.since() < now.operations() {
                in_vain = Some((id, now.since()));
                break;
            }
        }
        match in_vain {
            Some((id, since)) => {
                let rest = way.split_off(steps.len());
                let is_kept = |of: ThreadId, operation: Option<u32>| of != id || operation.is_none_or(|at| at < since);
                let kept = steps.iter().filter(|&&(step, _, operation)| is_kept(step.thread, operation));
                way = kept.map(|&(step, ..)| step).chain(rest).collect();
            }
            None => {
                let mut steps: Vec<Step> = steps.into_iter().map(|(_, step, _)| step).collect();
                finish(&mut system, then, &mut steps);
                return Schedule { steps };
            }
        }
    }
}

/// A move by whose it is and as how many-th of that thread's.
fn told(machine: &Machine<'_>, graph: &Graph<Piece>, from: Index, by: u16) -> Move {
    let state = graph.state(machine, from);
    let (moves, _) = machine.moves(&state);
    let thread = moves[by as usize].thread();
    Move { thread, nth: moves[..by as usize].iter().filter(|step| step.thread() == thread).count() }
}

fn finish(system: &mut System<'_>, then: &Then, steps: &mut Vec<Step>) {
    match then {
        Then::Nothing => {}
        Then::Arrivals(id) => {
            while system.step(Step::Flush(*id)).is_ok() {
                steps.push(Step::Flush(*id));
            }
        }
        Then::Turns(threads) => {
            for &id in threads {
                while matches!(system.thread(id).map(Automaton::status), Some(Status::Ready(_)))
                    && system.step(Step::Run(id)).is_ok()
                {
                    steps.push(Step::Run(id));
                }
            }
        }
        Then::Race(race) => {
            let first = race.first.0;
            let moves = system.moves();
            let access =
                moves.iter().find(|step| step.thread() == first && matches!(step, Step::Run(_) | Step::Choose(..)));
            steps.extend(access);
            let second = race.second.0;
            if let Some(&access) = access {
                let _possible = system.step(access);
            }
            let moves = system.moves();
            let run = |step: &&Step| step.thread() == second && matches!(step, Step::Run(_) | Step::Choose(..));
            steps.push(moves.iter().find(run).copied().unwrap_or(Step::Run(second)));
        }
    }
}
