//! Dynamic partial order reduction with a memory: of moves that commute one order is followed, as it turns out which do.
//!
//! Depth first. In each state one thread is let go at first. Whenever a thread is about to access what another thread has accessed on the way here, and one of the two writes, it is let go before that access as well
//! (Flanagan and Godefroid 2005; Calin 2016, without the test of happens-before, so that a thread may be let go in vain). Calin takes the last such access; where threads wait for each other the last one may be one that cannot come later
//! and hide another, so here it is the last one by each of the others. A store that arrives is the move of another actor, its thread's buffer; what a thread and its own buffer do commutes or enables, but for stores to memory that may be no more.
//!
//! A state that was met before is not followed again, and the accesses below it would be missed: so what has been accessed below each state, and by whom, is kept with it, and is held against the way to it whenever it is met. That is sound as
//! long as states do not repeat on a way (without such summaries it is wrong: the notes on Calin 2016 count wrong answers for a quarter of random programs). Where one does, the accesses below it are not known in time, and the search says so instead.
//!
//! Where threads start and wait for each other nothing has to be tried, but for two that wait for the end of the same one: nobody comes before its start or goes on before the end it waits for. Accesses to memory that does not live for ever, and whatever else depends on more than a cell, are taken to conflict with everything.

use crate::machine::{Machine, Piece};
use crate::memo::{Accessed, Actor};
use crate::search::{Graph, Notice, Pause};
use crate::steps::{Going, Looked, Steps};
use crate::visited::Index;
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
    /// All of them, by number.
    moves: Vec<Going>,
    /// Moves that are to be followed, and the next one of them.
    chosen: Vec<usize>,
    next: usize,
    /// Who is let go.
    actors: FxHashSet<Actor>,
    /// What is accessed below.
    below: FxHashSet<Item>,
}

impl Frame {
    /// Lets an actor go from here; all of them, if it cannot. Where a store may arrive too late, at memory that is no more, its thread fails and cannot go on, so both are let go together.
    fn let_go(&mut self, actor: Actor) {
        let can = self.moves.iter().any(|going| going.actor == actor);
        let is_late = |going: &Going| !going.actor.runs && going.accessed == Accessed::Anything;
        let fails = self.moves.iter().any(|going| going.actor.thread == actor.thread && is_late(going));
        let goes = |of: Actor| !can || of == actor || (fails && of.thread == actor.thread);
        for (at, going) in self.moves.iter().enumerate().filter(|(_, going)| goes(going.actor)) {
            if !self.actors.contains(&going.actor) {
                self.chosen.push(at);
            }
        }
        self.actors.extend(self.moves.iter().map(|going| going.actor).filter(|of| goes(*of)));
    }
}

struct Search<'s, 'c> {
    steps: Steps<'s, 'c>,
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
    let mut search = Search {
        steps: Steps::new(machine),
        way: Vec::new(),
        made: Vec::new(),
        items: FxHashMap::default(),
        by_item: Vec::new(),
        below: Vec::new(),
        sets: FxHashMap::default(),
    };
    let ended = search.run(notice, pause).break_value();
    (search.steps.graph, ended)
}

impl Search<'_, '_> {
    fn run<E>(
        &mut self,
        notice: &mut Notice<'_, Machine<'_>, E>,
        pause: &mut Pause<'_, Machine<'_>, E>,
    ) -> ControlFlow<Ended<E>> {
        let first = self.steps.begin();
        self.enter(first, notice)?;
        while let Some(frame) = self.way.last_mut() {
            let Some(&at) = frame.chosen.get(frame.next) else {
                self.leave();
                continue;
            };
            frame.next += 1;
            let (from, Going { actor, accessed, to, .. }) = (frame.state, frame.moves[at].clone());
            self.made.push((actor, accessed));
            self.steps.graph.transitions += 1;
            if self.steps.graph.transitions.is_multiple_of(PAUSE) {
                pause(&self.steps.graph).map_break(Ended::Told)?;
            }
            let (index, is_new) = self.steps.meet(&to, from, at as u16);
            if is_new {
                self.enter(index, notice)?;
            } else {
                self.again(index)?;
                self.made.pop();
            }
        }
        ControlFlow::Continue(())
    }

    /// A state is met for the first time.
    fn enter<E>(&mut self, state: Index, notice: &mut Notice<'_, Machine<'_>, E>) -> ControlFlow<Ended<E>> {
        let list = self.steps.list(state);
        let Some(Looked { sight, moves, mut next }) = self.steps.look(&list) else {
            return ControlFlow::Break(Ended::Blocks);
        };
        next.retain(|&(_, accessed)| accessed != Accessed::Nothing);
        let below = next.iter().map(|&(actor, accessed)| self.item(actor, accessed)).collect();
        for &(actor, accessed) in &next {
            self.race(actor, accessed);
        }
        let mut frame = Frame { state, moves, chosen: Vec::new(), next: 0, actors: FxHashSet::default(), below };
        if let Some(going) = frame.moves.first() {
            frame.let_go(going.actor);
        }
        self.way.push(frame);
        let graph = &mut self.steps.graph;
        graph.depth = graph.depth.max(self.way.len() as u64 - 1);
        notice(graph, state, sight).map_break(Ended::Told)
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

    /// An actor is about to make an access: it is let go before the last one on the way by everybody else that conflicts with it. What a thread does itself may hide what arrives of it, so these are looked at apart.
    fn race(&mut self, actor: Actor, accessed: Accessed) {
        let mut seen: SmallVec<[Actor; 8]> = SmallVec::new();
        for (at, &(other, made)) in self.made.iter().enumerate().rev() {
            if other.thread != actor.thread && made.conflicts(accessed) && !seen.contains(&other) {
                seen.push(other);
                self.way[at].let_go(actor);
            }
        }
    }
}
