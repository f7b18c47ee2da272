//! Dynamic partial order reduction with a memory: of moves that commute one order is followed, as it turns out which do.
//!
//! Depth first. In each state one thread is let go at first. Whenever a thread is about to access what another thread has accessed on the way here, and one of the two writes, it is let go before that access as well
//! (Flanagan and Godefroid 2005; Calin 2016, without the test of happens-before, so that a thread may be let go in vain). Calin takes the last such access; where threads wait for each other the last one may be one that cannot come later
//! and hide another, so here it is the last one of every other thread. A store that arrives is the move of another actor, its thread's buffer; what a thread and its own buffer do commutes or enables.
//!
//! A state that was met before is not followed again, and the accesses below it would be missed: so what has been accessed below each state, and by whom, is kept with it, and is held against the way to it whenever it is met. That is sound as
//! long as states do not repeat on a way (without such summaries it is wrong: the notes on Calin 2016 count wrong answers for a quarter of random programs). Where one does, the accesses below it are not known in time, and the search says so instead.
//!
//! Where threads start and wait for each other nothing has to be tried, but for two that wait for the end of the same one: nobody comes before its start or goes on before the end it waits for. Accesses to memory that does not live for ever, and whatever else depends on more than a cell, are taken to conflict with everything.

use crate::machine::{Machine, Piece};
use crate::memo::{Accessed, Actor, Memo};
use crate::parts::{NewParts, Numbers, Parts};
use crate::search::{Graph, Notice, Pause};
use crate::semantics::{Breadth, Remembers, Semantics};
use crate::visited::{Index, Visited, Written};
use raddle_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::rc::Rc;

/// How often it is asked whether to go on.
const PAUSE: u64 = 1024;

/// Why the search ended before its end.
pub(crate) enum Ended<E> {
    /// Somebody said so.
    Told(E),
    /// A state came back on a way that leads from it.
    Repeats,
    /// What follows from a state cannot be told apart by actors.
    Blocks,
}

/// What an actor accesses, numbered.
type Item = u32;

/// Accesses and their actors, as a set of numbers.
type Items = Rc<FxHashSet<Item>>;

/// A state on the way.
struct Frame {
    state: Index,
    /// By whom, as which move, what it accesses, and where it leads.
    moves: Vec<(Actor, u16, Accessed, Box<[u32]>)>,
    /// Moves that are to be followed, and the next one of them.
    chosen: Vec<usize>,
    next: usize,
    /// Who is let go.
    actors: FxHashSet<Actor>,
    /// What is accessed below.
    below: FxHashSet<Item>,
}

impl Frame {
    /// Lets an actor go from here; all of them, if it cannot.
    fn let_go(&mut self, actor: Actor) {
        let can = self.moves.iter().any(|(of, ..)| *of == actor);
        for (at, (of, ..)) in self.moves.iter().enumerate() {
            if (!can || *of == actor) && !self.actors.contains(of) {
                self.chosen.push(at);
            }
        }
        let all = self.moves.iter().map(|(of, ..)| *of).filter(|of| !can || *of == actor);
        self.actors.extend(all.collect::<Vec<_>>());
    }
}

struct Search<'s, 'c> {
    machine: &'s Machine<'c>,
    memo: Memo,
    graph: Graph<Piece>,
    way: Vec<Frame>,
    /// The accesses of the moves on the way, by whom.
    made: Vec<(Actor, Accessed)>,
    items: FxHashMap<(Actor, Accessed), Item>,
    by_item: Vec<(Actor, Accessed)>,
    /// What is accessed below each state that has been left; equal sets are one.
    below: Vec<Option<Items>>,
    sets: FxHashMap<Vec<Item>, Items>,
}

/// Searches from the first state on, as [`crate::search::search`] does.
pub(crate) fn search<E>(
    machine: &Machine<'_>,
    notice: &mut Notice<'_, Machine<'_>, E>,
    pause: &mut Pause<'_, Machine<'_>, E>,
) -> (Graph<Piece>, Option<Ended<E>>) {
    let graph = Graph { visited: Visited::new(), parts: Parts::new(), transitions: 0, depth: 0, leads_back: false };
    let mut search = Search {
        machine,
        memo: Memo::default(),
        graph,
        way: Vec::new(),
        made: Vec::new(),
        items: FxHashMap::default(),
        by_item: Vec::new(),
        below: Vec::new(),
        sets: FxHashMap::default(),
    };
    let ended = search.run(notice, pause).break_value();
    (search.graph, ended)
}

impl Search<'_, '_> {
    fn run<E>(
        &mut self,
        notice: &mut Notice<'_, Machine<'_>, E>,
        pause: &mut Pause<'_, Machine<'_>, E>,
    ) -> ControlFlow<Ended<E>> {
        let mut new = NewParts::new();
        let mut first = Vec::new();
        let state = self.machine.initial();
        self.machine.split(&state, &mut |part| first.push(new.number(&self.graph.parts, part)));
        let settled = new.settle(&mut self.graph.parts);
        first.iter_mut().for_each(|part| *part = settled.number(*part));
        let (index, _) = self.insert(&first, 0, 0);
        self.enter(index, notice)?;
        while let Some(frame) = self.way.last_mut() {
            let Some(&at) = frame.chosen.get(frame.next) else {
                self.leave();
                continue;
            };
            frame.next += 1;
            let (actor, by, accessed, ref list) = frame.moves[at];
            let (from, list) = (frame.state, list.clone());
            self.made.push((actor, accessed));
            self.graph.transitions += 1;
            if self.graph.transitions.is_multiple_of(PAUSE) {
                pause(&self.graph).map_break(Ended::Told)?;
            }
            let (index, is_new) = self.insert(&list, from, by);
            if is_new {
                self.enter(index, notice)?;
            } else {
                self.again(index)?;
                self.made.pop();
            }
        }
        ControlFlow::Continue(())
    }

    fn insert(&mut self, list: &[u32], from: Index, by: u16) -> (Index, bool) {
        let mut bytes = Vec::new();
        let written = Written::new(list, &mut bytes);
        self.graph.visited.insert(written, &bytes, from, by)
    }

    /// A state is met for the first time.
    fn enter<E>(&mut self, state: Index, notice: &mut Notice<'_, Machine<'_>, E>) -> ControlFlow<Ended<E>> {
        let list: Vec<u32> = self.graph.visited.parts(state).collect();
        let mut new = NewParts::new();
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut numbers = Numbers { known: &self.graph.parts, new: &mut new };
        let memo = &mut self.memo;
        let looked = self.machine.recall(memo, &mut numbers, &list, Breadth::Everything, &mut |_, next| {
            lists.push(next.to_vec());
        });
        let Some(expanded) = looked else { return ControlFlow::Break(Ended::Blocks) };
        let settled = new.settle(&mut self.graph.parts);
        self.memo.settle(&settled);
        let accesses = self.memo.accesses(self.machine, &list);
        let mut moves = Vec::with_capacity(lists.len());
        for (by, (list, &(actor, accessed))) in lists.iter().zip(&accesses.moves).enumerate() {
            moves.push((actor, by as u16, accessed, list.iter().map(|&part| settled.number(part)).collect()));
        }
        let below = accesses.next.iter().map(|&(actor, accessed)| self.item(actor, accessed)).collect();
        for &(actor, accessed) in &accesses.next {
            self.race(actor, accessed);
        }
        let mut frame = Frame { state, moves, chosen: Vec::new(), next: 0, actors: FxHashSet::default(), below };
        if let Some(&(actor, ..)) = frame.moves.first() {
            frame.let_go(actor);
        }
        self.way.push(frame);
        self.graph.depth = self.graph.depth.max(self.way.len() as u64 - 1);
        notice(&self.graph, state, expanded.sight).map_break(Ended::Told)
    }

    /// A state is met again.
    fn again<E>(&mut self, state: Index) -> ControlFlow<Ended<E>> {
        let Some(Some(below)) = self.below.get(state as usize).cloned() else {
            return ControlFlow::Break(Ended::Repeats);
        };
        for &item in below.iter() {
            let (actor, accessed) = self.by_item[item as usize];
            self.race(actor, accessed);
        }
        self.way.last_mut().expect("it was met from one").below.extend(below.iter());
        ControlFlow::Continue(())
    }

    /// Everything that is to be followed from the last state on the way has been.
    fn leave(&mut self) {
        let frame = self.way.pop().expect("there is one");
        self.made.pop();
        let mut items: Vec<Item> = frame.below.iter().copied().collect();
        items.sort_unstable();
        let set = self.sets.entry(items).or_insert_with(|| Rc::new(frame.below)).clone();
        let at = frame.state as usize;
        if self.below.len() <= at {
            self.below.resize(at + 1, None);
        }
        if let Some(before) = self.way.last_mut() {
            before.below.extend(set.iter());
        }
        self.below[at] = Some(set);
    }

    fn item(&mut self, actor: Actor, accessed: Accessed) -> Item {
        let number = self.by_item.len() as Item;
        *self.items.entry((actor, accessed)).or_insert_with(|| {
            self.by_item.push((actor, accessed));
            number
        })
    }

    /// An actor is about to make an access: it is let go before the last one of every other thread on the way that conflicts with it.
    fn race(&mut self, actor: Actor, accessed: Accessed) {
        let mut seen: SmallVec<[ThreadId; 8]> = SmallVec::from_slice(&[actor.thread]);
        for (at, &(other, made)) in self.made.iter().enumerate().rev() {
            if made.conflicts(accessed) && !seen.contains(&other.thread) {
                seen.push(other.thread);
                self.way[at].let_go(actor);
            }
        }
    }
}
