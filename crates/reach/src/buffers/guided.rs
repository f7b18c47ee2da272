//! Is a run of an abstraction one of TSO? A search for a run in which every thread does the same operations.
//!
//! Buffers that forget let stores arrive in ways in which they cannot. Where each thread does what it does in the abstract run, in its order, there are finitely many runs of TSO: operations of different threads and arrivals are put
//! in any order. If one of them shows the same thing, that is a counterexample; if none does, the abstract run is spurious (Calin 2016, the second half of step 4 of the refinement loop is ours).

use crate::machine::{Concrete, Machine, Piece, own};
use crate::schedule::{Move, realise};
use crate::search::{Order, Plan, search};
use crate::semantics::{Breadth, Expanded, Part, Semantics};
use crate::sight::{Sight, notice};
use crate::watch::Told;
use raddle_engine::Deadline;
use raddle_machine::Automaton;
use raddle_trace::{Model, Schedule, Step, ThreadId};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The operations of threads: instructions, with the alternative that is picked.
pub(super) type Operations = BTreeMap<ThreadId, Vec<(u32, Option<u32>)>>;

/// The program with threads that do these operations.
struct Guided<'c> {
    machine: Machine<'c>,
    operations: Operations,
}

/// How many of its operations each thread has done.
type Done = BTreeMap<ThreadId, u32>;

#[derive(Clone, Debug)]
struct Followed {
    state: Concrete,
    done: Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FollowedPart {
    Piece(Piece),
    Done(Arc<Done>),
}

impl Part for FollowedPart {
    fn number(&self) -> Option<u32> {
        match self {
            FollowedPart::Piece(piece) => piece.number(),
            FollowedPart::Done(_) => None,
        }
    }

    fn remember(&mut self, number: u32) {
        if let FollowedPart::Piece(piece) = self {
            piece.remember(number);
        }
    }
}

impl Guided<'_> {
    /// What can happen next.
    fn steps(&self, followed: &Followed) -> Vec<Step> {
        let mut steps = self.machine.moves(&followed.state).0;
        steps.retain(|step| {
            let pick = match *step {
                Step::Run(_) => None,
                Step::Choose(_, pick) => Some(pick),
                _ => return true,
            };
            let id = step.thread();
            let done = followed.done.get(&id).map_or(0, |&done| done as usize);
            let next = self.operations.get(&id).and_then(|operations| operations.get(done));
            next == Some(&(own(&followed.state, id).pc(), pick))
        });
        steps
    }

    fn after(&self, followed: &Followed, step: Step) -> Followed {
        let mut done = followed.done.clone();
        if !matches!(step, Step::Flush(_)) {
            *done.entry(step.thread()).or_default() += 1;
        }
        Followed { state: self.machine.after(&followed.state, step), done }
    }
}

impl Semantics for Guided<'_> {
    type State = Followed;
    type Part = FollowedPart;
    type Sight = Sight;
    type Memo = ();

    fn initial(&self) -> Followed {
        Followed { state: self.machine.initial(), done: Done::new() }
    }

    fn split(&self, followed: &Followed, see: &mut dyn FnMut(&FollowedPart)) {
        self.machine.split(&followed.state, &mut |piece| see(&FollowedPart::Piece(piece.clone())));
        see(&FollowedPart::Done(Arc::new(followed.done.clone())));
    }

    fn join(&self, parts: &mut dyn Iterator<Item = &FollowedPart>) -> Followed {
        let mut done = Done::new();
        let mut pieces = parts.filter_map(|part| match part {
            FollowedPart::Piece(piece) => Some(piece),
            FollowedPart::Done(all) => {
                done = (**all).clone();
                None
            }
        });
        let state = self.machine.join(&mut pieces);
        drop(pieces);
        Followed { state, done }
    }

    fn expand(&self, followed: &Followed, _: Breadth, next: &mut dyn FnMut(u16, Followed)) -> Expanded<Sight> {
        let (moves, _) = self.machine.moves(&followed.state);
        let sight = notice(&self.machine, &followed.state, &moves, false);
        for (number, &step) in self.steps(followed).iter().enumerate().take(usize::from(u16::MAX)) {
            next(number as u16, self.after(followed, step));
        }
        Expanded { sight, reduced: false }
    }
}

/// After so many states an abstract run is given up.
const MOST: usize = 200_000;

/// The schedule of a run of TSO in which threads do these operations and that shows what an abstract run has shown.
pub(super) fn concretise(
    machine: Machine<'_>,
    operations: Operations,
    told: &Told,
    deadline: &Deadline<'_>,
) -> Option<Schedule> {
    let guided = Guided { machine, operations };
    let plan = Plan { order: Order::Breadth, workers: 1, breadth: Breadth::Everything };
    let (_, found) = search(
        &guided,
        plan,
        &mut |graph, index, sight| {
            let Some(then) = told.is_shown(&sight) else { return ControlFlow::Continue(()) };
            let mut way = Vec::new();
            for (from, by) in graph.way(index) {
                let followed = graph.state(&guided, from);
                let step = guided.steps(&followed)[usize::from(by)];
                let moves = guided.machine.moves(&followed.state).0;
                let thread = step.thread();
                let nth = moves.iter().filter(|other| other.thread() == thread).position(|other| *other == step);
                way.push(Move { thread, nth: nth.expect("it is one of them") });
            }
            ControlFlow::Break(Some(realise(guided.machine.code, Model::Tso, way, &then)))
        },
        &mut |graph| {
            let enough = graph.visited.len() > MOST || deadline.passed().is_some();
            if enough { ControlFlow::Break(None) } else { ControlFlow::Continue(()) }
        },
    );
    found.flatten()
}
