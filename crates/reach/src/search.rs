//! Searching the states of a system: all that can be reached from the first one.
//!
//! Breadth-first, in rounds: workers take batches of the states that were met first and have not been looked at, each finds out what follows from its
//! own, and then what they found is put together in the order of the states. So a state is numbered, and met from another, in the same way however many workers
//! there are; and whatever is noticed first is noticed on a shortest way. Depth-first, the state that was met last is looked at next, by one worker.
//!
//! A system may say that a part of what follows is enough (a persistent set, Godefroid 1996), provided that some of it has not been met before: from states that were not met
//! before one comes in the end to a state from which everything is followed, so nothing is put off for ever (Holzmann, Godefroid, Pirottin 1992).

use crate::parts::{NewParts, Numbers, Parts, Settled, is_own};
use crate::semantics::{Breadth, Expanded, Remembers, Semantics};
use crate::visited::{Index, Visited, Written};
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
#[derive(Clone, Debug)]
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
const BATCH: usize = 4096;

/// So many states are not worth another worker.
const ALONE: usize = 128;

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

    /// The state that is made of these parts.
    pub(crate) fn join<S: Semantics<Part = P>>(&self, semantics: &S, list: &[u32]) -> S::State {
        semantics.join(&mut list.iter().map(|&number| self.parts.get(number)))
    }

    /// The number of a state, if it has been met.
    pub fn find<S: Semantics<Part = P>>(&self, semantics: &S, state: &S::State) -> Option<Index> {
        let mut parts = Vec::new();
        semantics.split(state, &mut |part| parts.push(self.parts.find(part)));
        let parts: Option<Vec<u32>> = parts.into_iter().collect();
        self.visited.index(&parts?)
    }

    /// Whether some execution goes on for ever: whether states lead back to themselves.
    pub(crate) fn goes_on<S: Semantics<Part = P>>(&self, semantics: &S) -> bool {
        self.has_cycle(|index| {
            let mut next = Vec::new();
            let state = self.state(semantics, index);
            semantics.expand(&state, Breadth::Everything, &mut |_, state| next.extend(self.find(semantics, &state)));
            next
        })
    }

    /// Whether states lead back to themselves, if this is what follows from each.
    pub(crate) fn has_cycle(&self, mut following: impl FnMut(Index) -> Vec<Index>) -> bool {
        // Depth first: the states on the way, each with what is left to follow; and what has been left behind.
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

/// A worker: what it found out about a batch of states, and what it remembers for the next one.
struct Worker<S: Semantics> {
    memo: S::Memo,
    new: NewParts<S::Part>,
    /// Per state, what is to be noticed, and how many follow.
    looked: Vec<(Expanded<S::Sight>, u32)>,
    following: Following,
    /// The parts of the state that is looked at.
    list: Vec<u32>,
}

/// States that follow from others.
#[derive(Default)]
struct Following {
    /// The moves that lead to them.
    moves: Vec<u16>,
    /// How many parts those have, for each, that have parts that are new to the batch; 0 for the others.
    lengths: Vec<u32>,
    /// The parts of those.
    parts: Vec<u32>,
    /// The others, as they are written.
    written: Vec<Written>,
    bytes: Vec<u8>,
    /// Which states these are, as far as they had been met when the batch was looked at.
    known: Vec<Option<Index>>,
}

impl Following {
    fn clear(&mut self) {
        self.moves.clear();
        self.lengths.clear();
        self.parts.clear();
        self.written.clear();
        self.bytes.clear();
        self.known.clear();
    }

    /// One more.
    fn push(&mut self, by: u16, parts: &[u32]) {
        self.moves.push(by);
        if parts.iter().any(|&part| is_own(part)) {
            self.lengths.push(parts.len() as u32);
            self.parts.extend_from_slice(parts);
        } else {
            self.lengths.push(0);
            self.written.push(Written::new(parts, &mut self.bytes));
        }
    }
}

impl<S: Semantics> Worker<S> {
    fn new() -> Self {
        Worker {
            memo: S::Memo::default(),
            new: NewParts::new(),
            looked: Vec::new(),
            following: Following::default(),
            list: Vec::new(),
        }
    }

    /// Looks at these states.
    fn look(&mut self, semantics: &S, graph: &Graph<S::Part>, states: &[Index], breadth: Breadth) {
        let Worker { memo, new, looked, following, list } = self;
        looked.clear();
        following.clear();
        for &index in states {
            list.clear();
            list.extend(graph.visited.parts(index));
            let before = following.moves.len();
            let mut numbers = Numbers { known: &graph.parts, new };
            let recalled =
                semantics.recall(memo, &mut numbers, list, breadth, &mut |by, next| following.push(by, next));
            let expanded = recalled.unwrap_or_else(|| {
                let state = semantics.join(&mut list.iter().map(|&part| graph.parts.get(part)));
                let mut parts = Vec::new();
                semantics.expand(&state, breadth, &mut |by, next| {
                    parts.clear();
                    semantics.split(&next, &mut |part| parts.push(new.number(&graph.parts, part)));
                    following.push(by, &parts);
                })
            });
            looked.push((expanded, (following.moves.len() - before) as u32));
        }
        let Following { written, bytes, known, .. } = following;
        graph.visited.look_up_all(written, bytes, |state| known.push(state));
    }

    /// Puts what was found out together with what is known: states, and what they are made of. `notice` is told of every state that was looked at.
    fn put_together<E>(
        &mut self,
        semantics: &S,
        graph: &mut Graph<S::Part>,
        frontier: &mut Frontier,
        states: &[Index],
        notice: &mut Notice<'_, S, E>,
    ) -> ControlFlow<E> {
        let settled = self.settle(graph);
        let looked = std::mem::take(&mut self.looked);
        let mut following = std::mem::take(&mut self.following);
        let mut nexts = Nexts::new(&mut following);
        for (&index, (expanded, count)) in states.iter().zip(looked) {
            let any_new = nexts.meet(graph, frontier, &settled, index, count);
            if expanded.reduced && !any_new {
                self.look(semantics, graph, &[index], Breadth::Everything);
                let settled = self.settle(graph);
                let count = self.looked[0].1;
                Nexts::new(&mut self.following).meet(graph, frontier, &settled, index, count);
            }
            notice(graph, index, expanded.sight)?;
        }
        self.following = following;
        ControlFlow::Continue(())
    }

    fn settle(&mut self, graph: &mut Graph<S::Part>) -> Settled {
        let settled = self.new.settle(&mut graph.parts);
        self.memo.settle(&settled);
        settled
    }
}

/// The states that follow from others, taken one by one.
struct Nexts<'f> {
    moves: std::slice::Iter<'f, u16>,
    lengths: std::slice::Iter<'f, u32>,
    parts: &'f mut [u32],
    written: std::iter::Zip<std::slice::Iter<'f, Written>, std::slice::Iter<'f, Option<Index>>>,
    bytes: &'f [u8],
    own: Vec<u8>,
}

impl<'f> Nexts<'f> {
    fn new(following: &'f mut Following) -> Self {
        let Following { moves, lengths, parts, written, bytes, known } = following;
        let written = written.iter().zip(known.iter());
        Nexts { moves: moves.iter(), lengths: lengths.iter(), parts, written, bytes, own: Vec::new() }
    }

    /// The next so many have been met from this state; says whether one of them is new.
    fn meet<P>(
        &mut self,
        graph: &mut Graph<P>,
        frontier: &mut Frontier,
        settled: &Settled,
        from: Index,
        count: u32,
    ) -> bool {
        let mut any_new = false;
        for _ in 0..count {
            let by = *self.moves.next().expect("there are so many");
            let length = *self.lengths.next().expect("there are so many") as usize;
            let (index, is_new) = if length == 0 {
                match self.written.next().expect("it was written") {
                    (_, &Some(known)) => (known, false),
                    (&written, None) => graph.visited.insert(written, self.bytes, from, by),
                }
            } else {
                let (list, rest) = std::mem::take(&mut self.parts).split_at_mut(length);
                self.parts = rest;
                list.iter_mut().for_each(|part| *part = settled.number(*part));
                self.own.clear();
                let written = Written::new(list, &mut self.own);
                graph.visited.insert(written, &self.own, from, by)
            };
            graph.transitions += 1;
            if is_new {
                frontier.met(index);
            }
            graph.leads_back |= index <= from;
            any_new |= is_new;
        }
        any_new
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
    first.iter_mut().for_each(|part| *part = settled.number(*part));
    let mut bytes = Vec::new();
    let written = Written::new(&first, &mut bytes);
    graph.visited.insert(written, &bytes, 0, 0);
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
    let mut workers: Vec<Worker<S>> = (0..plan.workers.max(1)).map(|_| Worker::new()).collect();
    let batch = if plan.order == Order::Depth { 1 } else { BATCH * plan.workers };
    let (mut looked, mut states) = (0, Vec::new());
    loop {
        if looked == 0 {
            pause(graph)?;
        }
        frontier.take(batch, graph, &mut states);
        if states.is_empty() {
            return ControlFlow::Continue(());
        }
        looked = (looked + states.len()) % BATCH * usize::from(plan.order == Order::Depth);
        let share = states.len().div_ceil(plan.workers).max(ALONE);
        let known = &*graph;
        if share >= states.len() {
            workers[0].look(semantics, known, &states, plan.breadth);
        } else {
            std::thread::scope(|scope| {
                let (first, others) = workers.split_first_mut().expect("there is one");
                let mut shares = states.chunks(share);
                let own = shares.next().expect("there is one");
                let looking: Vec<_> = others
                    .iter_mut()
                    .zip(shares)
                    .map(|(worker, states)| scope.spawn(|| worker.look(semantics, known, states, plan.breadth)))
                    .collect();
                first.look(semantics, known, own, plan.breadth);
                for worker in looking {
                    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                }
            });
        }
        for (states, worker) in states.chunks(share).zip(&mut workers) {
            worker.put_together(semantics, graph, &mut frontier, states, notice)?;
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

    /// Takes at most so many.
    fn take<P>(&mut self, number: usize, graph: &mut Graph<P>, states: &mut Vec<Index>) {
        states.clear();
        if self.order == Order::Depth {
            let Some((index, depth)) = self.stack.pop() else { return };
            self.depth = depth;
            graph.depth = graph.depth.max(depth);
            states.push(index);
            return;
        }
        let met = graph.visited.len() as Index;
        if self.next == self.farther && met > self.farther {
            self.farther = met;
            self.depth += 1;
            graph.depth = self.depth;
        }
        // A round does not reach beyond the states that are equally far, so that what is farther is numbered behind all of them.
        let end = self.farther.min(self.next.saturating_add(number as Index));
        states.extend(self.next..end);
        self.next = end;
    }

    fn met(&mut self, index: Index) {
        if self.order == Order::Depth {
            self.stack.push((index, self.depth + 1));
        }
    }
}
