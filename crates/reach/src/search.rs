//! Searching the states of a system: all that can be reached from the first one.
//!
//! Breadth-first, in rounds: workers take batches of the states that were met first and have not been looked at, each finds out what follows from its
//! own, and then what they found is put together in the order of the states. So a state is numbered, and met from another, in the same way however many workers
//! there are; and whatever is noticed first is noticed on a shortest way. Depth-first, the state that was met last is looked at next, by one worker.
//!
//! A system may say that a part of what follows is enough (a persistent set, Godefroid 1996), provided that some of it has not been met before: from states that were not met
//! before one comes in the end to a state from which everything is followed, so nothing is put off for ever (Holzmann, Godefroid, Pirottin 1992).

use crate::parts::{NewParts, Parts};
use crate::semantics::{Breadth, Expanded, Semantics};
use crate::visited::{Index, Visited};
use raddle_engine::{Deadline, StopReason};
use raddle_machine::Code;
use raddle_trace::Place;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// In which order states are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that were met first.
    Breadth,
    /// The one that was met last.
    Depth,
}

/// How a search is done.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// In which order.
    pub order: Order,
    /// By how many workers.
    pub workers: usize,
    /// How much of what follows from a state is asked for.
    pub breadth: Breadth,
}

/// The states that have been met.
#[derive(Debug)]
pub struct Graph<P> {
    /// The states.
    pub visited: Visited,
    /// What they are made of.
    pub parts: Parts<P>,
    /// How many moves were followed.
    pub transitions: u64,
    /// How many moves it takes to get to the states that are farthest, in the order of the search.
    pub depth: u64,
    /// Whether some move led to a state that was not met later than the one it starts from. Without, nothing goes on for ever.
    pub leads_back: bool,
}

/// Who is told of every state that has been looked at.
pub type Notice<'n, S, E> =
    dyn FnMut(&Graph<<S as Semantics>::Part>, Index, <S as Semantics>::Sight) -> ControlFlow<E> + 'n;

/// Who is asked now and then whether to go on.
pub type Pause<'p, S, E> = dyn FnMut(&Graph<<S as Semantics>::Part>) -> ControlFlow<E> + 'p;

/// How many states a worker looks at in a round.
const BATCH: usize = 512;

/// How many bytes states may take if nobody has set a limit.
pub(crate) const ROOM: usize = 2 << 30;

/// What a part of states takes, about.
const PART: usize = 500;

/// The program as a whole, where a place is asked for.
pub(crate) fn whole(code: &Code) -> Place {
    Place { line: 0, ..code.place(0) }
}

impl<P: crate::semantics::Part> Graph<P> {
    /// How many bytes the states take, about, with what they are made of.
    pub fn size(&self) -> usize {
        self.visited.size() + self.parts.list().len() * PART
    }

    /// Why the search must end now, if it must: a limit has been reached, or there is no room for more states.
    pub(crate) fn must_end(&self, code: &Code, room: usize, deadline: &Deadline<'_>) -> Option<StopReason> {
        let size = self.size();
        let full = (size > room || self.visited.is_full()).then(|| {
            let why = format!("{} states take {} MiB, and there are more", self.visited.len(), size >> 20);
            StopReason::GaveUp { why, at: whole(code) }
        });
        full.or_else(|| deadline.met(self.visited.len() as u64))
    }

    /// The state with this number.
    pub fn state<S: Semantics<Part = P>>(&self, semantics: &S, index: Index) -> S::State {
        semantics.join(&mut self.visited.parts(index).map(|number| self.parts.get(number)))
    }

    /// The number of a state, if it has been met.
    pub fn find<S: Semantics<Part = P>>(&self, semantics: &S, state: &S::State) -> Option<Index> {
        let mut parts = Vec::new();
        semantics.split(state, &mut |part| parts.push(self.parts.find(part)));
        let parts: Option<Vec<u32>> = parts.into_iter().collect();
        self.visited.index(parts?.into_iter())
    }

    /// Whether some execution goes on for ever: whether states lead back to themselves.
    pub(crate) fn goes_on<S: Semantics<Part = P>>(&self, semantics: &S) -> bool {
        // Depth first: the states on the way, each with what is left to follow; and what has been left behind.
        let following = |index: Index| -> Vec<Index> {
            let mut next = Vec::new();
            let state = self.state(semantics, index);
            semantics.expand(&state, Breadth::Everything, &mut |_, state| next.extend(self.find(semantics, &state)));
            next
        };
        let mut on_way = FxHashSet::from_iter([0]);
        let mut done: FxHashSet<Index> = FxHashSet::default();
        let mut way = vec![(0, following(0))];
        while let Some((index, left)) = way.last_mut() {
            match left.pop() {
                Some(next) if on_way.contains(&next) => return true,
                Some(next) if done.contains(&next) => {}
                Some(next) => {
                    on_way.insert(next);
                    way.push((next, following(next)));
                }
                None => {
                    on_way.remove(index);
                    done.insert(*index);
                    way.pop();
                }
            }
        }
        false
    }

    /// The way to a state: the states on it, each with the number of the move that leaves it.
    pub fn way(&self, index: Index) -> Vec<(Index, u16)> {
        let mut way: Vec<_> =
            std::iter::successors(self.visited.parent(index), |&(at, _)| self.visited.parent(at)).collect();
        way.reverse();
        way
    }
}

/// What a worker found out about a batch of states.
struct Batch<S: Semantics> {
    new: NewParts<S::Part>,
    /// Per state, what is to be noticed, and how many follow.
    looked: Vec<(Expanded<S::Sight>, u32)>,
    /// Per following state, the move and the number of its parts.
    following: Vec<(u16, u32)>,
    /// Their parts.
    parts: Vec<u32>,
}

impl<S: Semantics> Batch<S> {
    fn of(semantics: &S, graph: &Graph<S::Part>, states: &[Index], breadth: Breadth) -> Self {
        let mut batch = Batch { new: NewParts::new(), looked: Vec::new(), following: Vec::new(), parts: Vec::new() };
        for &index in states {
            let state = graph.state(semantics, index);
            let before = batch.following.len();
            let expanded = semantics.expand(&state, breadth, &mut |by, next| {
                let start = batch.parts.len();
                semantics.split(&next, &mut |part| batch.parts.push(batch.new.number(&graph.parts, part)));
                batch.following.push((by, (batch.parts.len() - start) as u32));
            });
            batch.looked.push((expanded, (batch.following.len() - before) as u32));
        }
        batch
    }
}

/// Searches from the first state on. `notice` is told of every state that has been looked at, in order, and may end the search; `pause` is asked now and
/// then whether to end it.
pub fn search<S: Semantics, E>(
    semantics: &S,
    plan: Plan,
    notice: &mut Notice<'_, S, E>,
    pause: &mut Pause<'_, S, E>,
) -> (Graph<S::Part>, Option<E>) {
    let mut graph = Graph { visited: Visited::new(), parts: Parts::new(), transitions: 0, depth: 0, leads_back: false };
    let mut new = NewParts::new();
    let mut first = Vec::new();
    semantics.split(&semantics.initial(), &mut |part| first.push(new.number(&graph.parts, part)));
    let settled = new.settle(&mut graph.parts);
    graph.visited.insert(first.into_iter().map(|part| settled.number(part)), 0, 0);
    let ended = run(semantics, plan, &mut graph, notice, pause).break_value();
    (graph, ended)
}

fn run<S: Semantics, E>(
    semantics: &S,
    plan: Plan,
    graph: &mut Graph<S::Part>,
    notice: &mut Notice<'_, S, E>,
    pause: &mut Pause<'_, S, E>,
) -> ControlFlow<E> {
    let mut frontier = Frontier::new(plan.order);
    loop {
        pause(graph)?;
        let states = frontier.take(if plan.order == Order::Depth { 1 } else { BATCH * plan.workers }, graph);
        if states.is_empty() {
            return ControlFlow::Continue(());
        }
        let share = states.len().div_ceil(plan.workers).max(32);
        let known = &*graph;
        let look = |states: &[Index]| Batch::of(semantics, known, states, plan.breadth);
        let batches: Vec<Batch<S>> = if share >= states.len() {
            vec![look(&states)]
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = states.chunks(share).map(|states| scope.spawn(|| look(states))).collect();
                let done = workers.into_iter().map(|worker| worker.join());
                done.map(|batch| batch.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            })
        };
        for (states, batch) in states.chunks(share).zip(batches) {
            put_together(semantics, graph, &mut frontier, states, batch, notice)?;
        }
    }
}

/// The states that have been met and not been looked at.
struct Frontier {
    order: Order,
    /// Breadth-first these are the states from here on.
    next: Index,
    /// Breadth-first, the first state that is one move farther.
    farther: Index,
    /// Depth-first, with how far each is.
    stack: Vec<(Index, u64)>,
    /// How far the states that are looked at are.
    depth: u64,
}

impl Frontier {
    fn new(order: Order) -> Self {
        let stack = if order == Order::Depth { vec![(0, 0)] } else { Vec::new() };
        Frontier { order, next: 0, farther: 1, stack, depth: 0 }
    }

    fn take<P>(&mut self, number: usize, graph: &mut Graph<P>) -> Vec<Index> {
        if self.order == Order::Depth {
            let Some((index, depth)) = self.stack.pop() else { return Vec::new() };
            self.depth = depth;
            graph.depth = graph.depth.max(depth);
            return vec![index];
        }
        let met = graph.visited.len() as Index;
        if self.next == self.farther && met > self.farther {
            self.farther = met;
            self.depth += 1;
            graph.depth = self.depth;
        }
        // A round does not reach beyond the states that are equally far, so that what is farther is numbered behind all of them.
        let end = self.farther.min(self.next.saturating_add(number as Index));
        let states = (self.next..end).collect();
        self.next = end;
        states
    }

    fn met(&mut self, index: Index) {
        if self.order == Order::Depth {
            self.stack.push((index, self.depth + 1));
        }
    }
}

fn put_together<S: Semantics, E>(
    semantics: &S,
    graph: &mut Graph<S::Part>,
    frontier: &mut Frontier,
    states: &[Index],
    batch: Batch<S>,
    notice: &mut Notice<'_, S, E>,
) -> ControlFlow<E> {
    let Batch { new, looked, following, parts } = batch;
    let settled = new.settle(&mut graph.parts);
    let (mut following, mut parts) = (following.into_iter(), parts.into_iter());
    for (&index, (expanded, count)) in states.iter().zip(looked) {
        let mut any_new = false;
        for (by, length) in following.by_ref().take(count as usize) {
            let list = parts.by_ref().take(length as usize).map(|part| settled.number(part));
            any_new |= meet(graph, frontier, index, by, list);
        }
        if expanded.reduced && !any_new {
            let state = graph.state(semantics, index);
            let mut rest = Vec::new();
            semantics.expand(&state, Breadth::Everything, &mut |by, next| rest.push((by, next)));
            for (by, next) in rest {
                let (mut new, mut list) = (NewParts::new(), Vec::new());
                semantics.split(&next, &mut |part| list.push(new.number(&graph.parts, part)));
                let settled = new.settle(&mut graph.parts);
                meet(graph, frontier, index, by, list.into_iter().map(|part| settled.number(part)));
            }
        }
        notice(graph, index, expanded.sight)?;
    }
    ControlFlow::Continue(())
}

/// A move leads from one state to another; says whether that is met for the first time.
fn meet<P>(graph: &mut Graph<P>, frontier: &mut Frontier, from: Index, by: u16, to: impl Iterator<Item = u32>) -> bool {
    graph.transitions += 1;
    let (index, is_new) = graph.visited.insert(to, from, by);
    if is_new {
        frontier.met(index);
    }
    graph.leads_back |= index <= from;
    is_new
}
