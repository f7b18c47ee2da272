//! The search of Wing, Gong and Lowe, over compact configurations.
//!
//! A configuration is: how many returns have been passed (the *level*), what is left to do with the operations open at the next
//! return ([`Options`]), and the state of each part of the object. That is all: everything that returned earlier has been linearized,
//! nothing called later can have been. So a configuration takes a few words however long the history is.
//!
//! From a configuration any open operation that the model allows may be linearized next; when the operation of the next return
//! has been, the level goes up. Depth first. What makes it fast, none of which loses a linearization:
//!
//! - *Places for nothing.* An open operation that leaves the state as it is can have its place here, and is then free to be passed; it may
//!   still be moved to a later place where it is of use. When the object is overwritten ([`Nature::Overwrites`]), everything open that is
//!   possible in any state ([`Nature::Silent`]) can have its place just before, unseen. So nobody ever has to choose which writes go unseen.
//! - *Lateness.* An operation that is possible in any state is linearized when its return is due, or when something open takes effect right
//!   after it that does not overwrite it; otherwise it can come later.
//! - *Refutation by the better.* A configuration is given up if one at the same level and in the same state is known to fail that has the
//!   same or more operations left to use and the same or more that are free ([`super::refuted`]).
//! - *Parts.* Only operations on the same part ([`Model::part`]) as the operation that must return next are tried: the others commute with it
//!   and can come later. What is refuted is the configuration of that part, and a failure goes back to the last decision about that
//!   part, past those about others, which cannot be to blame.
//! - *Fading.* A state turns into the simplest one that allows the same from now on ([`Model::fades`]), and nobody goes without need into a
//!   state that only overwriting leads out of ([`Model::inert`]).
//! - Of several open operations with the same call and answer the one that returns first goes first.
//! - Where the operation that must return next is an observer and no order of the open ones can bring about what it answered
//!   ([`Model::attainable`]), nothing is tried.
//!
//! Of the candidates those go first that let the most of the next few waiting observers answer. Models may be nondeterministic.
//!
//! After Wing and Gong 1993 and Lowe 2017 (memoisation); the representation and the reductions are ours. Cost: exponential in the
//! number of operations open at once at worst, linear in the length of a history whose order its answers determine.

use std::time::Instant;

use super::cursor::Cursor;
use super::layout::Layout;
use super::machine::{Machine, Next};
use super::mask::Mask;
use super::model::{Model, Nature};
use super::refuted::{Options, Refuted};
use super::terms::{Budget, Entry, Found, Statistics};
use super::trail::Trail;

/// Searches for a linearization from the initial state of the model.
pub fn search<M: Model>(model: &M, entries: &[Entry<M>], budget: Budget) -> (Found<M::State>, Statistics) {
    search_from(model, model.initial(), entries, budget)
}

/// Searches for a linearization from a given state.
pub fn search_from<M: Model>(
    model: &M,
    start: M::State,
    entries: &[Entry<M>],
    budget: Budget,
) -> (Found<M::State>, Statistics) {
    let (layout, classes) = Layout::new(model, entries);
    let machine = Machine::new(model, classes);
    match layout.slots {
        0..=64 => Search::<M, u64>::new(machine, layout, budget).run(start),
        65..=128 => Search::<M, u128>::new(machine, layout, budget).run(start),
        _ => Search::<M, Box<[u64]>>::new(machine, layout, budget).run(start),
    }
}

/// In place of a candidate: the next return is passed without its operation taking effect here; it has had a place already.
const PASS: u32 = u32::MAX;

/// A configuration on the current path, from which something is to be tried.
struct Frame<K> {
    level: u32,
    options: Options<K>,
    /// The part it decides about, and the state of that part.
    part: u32,
    state: u32,
    /// The range of its candidates, from the next one to try.
    candidates: (usize, usize),
    /// How long the linearization and the list of changes are here.
    line: usize,
    changes: usize,
}

struct Search<'m, M: Model, K> {
    machine: Machine<'m, M>,
    layout: Layout,
    budget: Budget,
    cursor: Cursor<K>,
    /// The state of each part, and what it was before each change.
    now: Vec<u32>,
    changes: Vec<(u32, u32)>,
    /// Operations in the order of their places. Of several places of one operation the last counts.
    line: Vec<u32>,
    candidates: Vec<(u32, u32)>,
    refuted: Refuted<K>,
    trail: Trail<K>,
    visited: u64,
    /// Scratch: operations that may have a place for nothing.
    fresh: Vec<u32>,
    /// Scratch: which classes have a candidate that is due, and one that is free.
    seen: Vec<[u64; 2]>,
    stamp: u64,
}

impl<'m, M: Model, K: Mask> Search<'m, M, K> {
    fn new(machine: Machine<'m, M>, layout: Layout, budget: Budget) -> Self {
        Search {
            cursor: Cursor::new(&layout),
            now: Vec::new(),
            changes: Vec::new(),
            line: Vec::new(),
            candidates: Vec::new(),
            refuted: Refuted::new(layout.slots),
            trail: Trail::new(&layout),
            visited: 0,
            fresh: Vec::new(),
            seen: vec![[0; 2]; machine.classes.len()],
            stamp: 0,
            machine,
            layout,
            budget,
        }
    }

    fn run(mut self, start: M::State) -> (Found<M::State>, Statistics) {
        let start = self.machine.state(start);
        self.now = vec![start; self.layout.parts];
        let mut options = Options::none(self.layout.slots);
        if self.layout.last() > 0 {
            self.let_in(&mut options);
        }
        self.settle(&mut options);
        let mut path: Vec<Frame<K>> = Vec::new();
        while let Some(next) = self.cursor.next(&self.layout) {
            self.visited += 1;
            if self.exhausted(path.len()) {
                return (Found::OutOfBudget, self.statistics());
            }
            let failed = self.enter(&mut path, options, next);
            match self.resume(&mut path, failed) {
                Ok(reached) => options = reached,
                Err(part) => {
                    let statistics = self.statistics();
                    let window = self.trail.window(&self.layout, &self.machine, &mut self.cursor, part);
                    return (Found::None(window), statistics);
                }
            }
        }
        (Found::Linearization(self.places()), self.statistics())
    }

    /// Puts a configuration on the path, or tells the part on which it is known to fail.
    fn enter(&mut self, path: &mut Vec<Frame<K>>, options: Options<K>, next: u32) -> Option<u32> {
        let part = self.layout.part[next as usize];
        let state = self.now[part as usize];
        let level = self.cursor.level;
        let mine = options.only(&self.cursor.members(&self.layout, part));
        self.trail.note(path.last().map(|frame| frame.level), level, part, state, &mine);
        if self.refuted.covers(level, state, &mine) {
            return Some(part);
        }
        let candidates = self.collect(&options, next);
        let (line, changes) = (self.line.len(), self.changes.len());
        path.push(Frame { level, options, part, state, candidates, line, changes });
        None
    }

    /// Takes the next candidate of the path and goes where it leads; tells the part on which everything failed if none is left.
    fn resume(&mut self, path: &mut Vec<Frame<K>>, mut failed: Option<u32>) -> Result<Options<K>, u32> {
        loop {
            // Decisions about other parts are not to blame.
            while let Some(part) = failed
                && path.last().is_some_and(|frame| frame.part != part)
            {
                path.pop();
            }
            let Some(frame) = path.last_mut() else {
                return Err(failed.expect("the path only gets empty by failures"));
            };
            self.cursor.retreat(&self.layout, frame.level);
            if frame.candidates.0 < frame.candidates.1 {
                let (op, state) = self.candidates[frame.candidates.0];
                frame.candidates.0 += 1;
                self.candidates.truncate(frame.candidates.1);
                self.line.truncate(frame.line);
                while self.changes.len() > frame.changes {
                    let (part, before) = self.changes.pop().expect("there are more than so many");
                    self.now[part as usize] = before;
                }
                let mut options = frame.options.clone();
                let next = self.layout.returns[frame.level as usize];
                match op {
                    PASS => self.pass(&mut options, next),
                    op => {
                        // It did not pass, so it is to be used at this level.
                        options.free.remove(self.layout.slot(next));
                        self.take(&mut options, op, state);
                    }
                }
                self.settle(&mut options);
                return Ok(options);
            }
            let mine = frame.options.only(&self.cursor.members(&self.layout, frame.part));
            self.refuted.add(frame.level, frame.state, mine);
            failed = Some(frame.part);
            path.pop();
        }
    }

    /// Linearizes an operation that leads to a state.
    fn take(&mut self, options: &mut Options<K>, op: u32, state: u32) {
        let part = self.layout.part[op as usize];
        let class = |op: u32| self.layout.class[op as usize];
        if self.machine.nature(class(op)) == Nature::Overwrites {
            self.cursor.each_on(&self.layout, part, |other, slot| {
                if other != op && !options.free.has(slot) && self.machine.nature(class(other)).is_silent() {
                    options.free.insert(slot);
                    self.line.push(other);
                }
            });
        }
        let slot = self.layout.slot(op);
        options.usable.remove(slot);
        options.free.insert(slot);
        self.line.push(op);
        self.change(part, state);
        self.refresh(options, part);
    }

    /// Passes the next return.
    fn pass(&mut self, options: &mut Options<K>, next: u32) {
        let slot = self.layout.slot(next);
        options.free.remove(slot);
        options.usable.remove(slot);
        self.cursor.advance(&self.layout);
        if self.cursor.level < self.layout.last() {
            self.let_in(options);
        }
    }

    fn change(&mut self, part: u32, state: u32) {
        self.changes.push((part, self.now[part as usize]));
        self.now[part as usize] = state;
    }

    /// Looks again at every open operation on a part that is not free.
    fn refresh(&mut self, options: &Options<K>, part: u32) {
        let fresh = &mut self.fresh;
        self.cursor.each_on(&self.layout, part, |op, slot| {
            if !options.free.has(slot) {
                fresh.push(op);
            }
        });
    }

    /// Lets in what is called before the next return.
    fn let_in(&mut self, options: &mut Options<K>) {
        for &op in self.layout.opened(self.cursor.level) {
            let slot = self.layout.slot(op);
            if self.machine.nature(self.layout.class[op as usize]) != Nature::Observes {
                options.usable.insert(slot);
            }
            if self.layout.pending(op) {
                options.free.insert(slot);
            } else {
                self.fresh.push(op);
            }
        }
    }

    /// Gives places to operations that leave the state as it is, and passes every return up to one that there is a choice about: its
    /// operation must take effect, or is free and may.
    fn settle(&mut self, options: &mut Options<K>) {
        while let Some(next) = self.cursor.next(&self.layout) {
            let time = self.layout.end[next as usize];
            while let Some(op) = self.fresh.pop() {
                let (slot, class) = (self.layout.slot(op), self.layout.class[op as usize]);
                let state = self.now[self.layout.part[op as usize] as usize];
                if !options.free.has(slot) && self.machine.stays(state, class, time) {
                    options.free.insert(slot);
                    self.line.push(op);
                }
            }
            let slot = self.layout.slot(next);
            let free = options.free.has(slot);
            if free && !options.usable.has(slot) {
                self.pass(options, next);
                continue;
            }
            let part = self.layout.part[next as usize];
            let state = self.now[part as usize];
            let faded = self.machine.faded(state, time);
            if faded == state {
                return;
            }
            self.change(part, faded);
            self.refresh(options, part);
        }
    }

    /// What may come next, in the order in which it is tried.
    fn collect(&mut self, options: &Options<K>, next: u32) -> (usize, usize) {
        let first = self.candidates.len();
        let part = self.layout.part[next as usize];
        if options.free.has(self.layout.slot(next)) {
            self.candidates.push((PASS, self.now[part as usize]));
        }
        let (state, time) = (self.now[part as usize], self.layout.end[next as usize]);
        if self.hopeless(options, next) {
            return (first, first);
        }
        let mut open = Vec::new();
        self.cursor.each_on(&self.layout, part, |op, slot| {
            open.push((op, options.usable.has(slot), options.free.has(slot)));
        });
        open.sort_unstable_by_key(|&(op, ..)| (self.layout.end[op as usize], op));
        self.stamp += 1;
        for &(op, _, free) in open.iter().filter(|(_, usable, _)| *usable) {
            let class = self.layout.class[op as usize];
            let nature = self.machine.nature(class);
            // An operation with the same call and answer that returns earlier would do as well.
            let [due, spare] = self.seen[class as usize].map(|stamp| stamp == self.stamp);
            if due || (spare && (free || nature == Nature::Overwrites)) {
                continue;
            }
            self.seen[class as usize][usize::from(free)] = self.stamp;
            let reached = self.machine.step(state, class);
            for at in 0..self.machine.successors(&reached).len() {
                let target = self.machine.successors(&reached)[at];
                let target = self.machine.faded(target, time);
                let late = op != next && nature.is_silent() && !self.of_use(&open, op, target);
                if target != state && !late {
                    self.candidates.push((op, target));
                }
            }
        }
        self.guide(first, &open);
        (first, self.candidates.len())
    }

    /// Whether something that is open could take effect right after an operation and see it.
    fn of_use(&mut self, open: &[(u32, bool, bool)], op: u32, state: u32) -> bool {
        if self.machine.inert(state, self.layout.class[op as usize]) {
            return false;
        }
        open.iter().any(|&(other, usable, free)| {
            let class = self.layout.class[other as usize];
            other != op
                && (usable || !free)
                && self.machine.nature(class) != Nature::Overwrites
                && self.machine.allows(state, class)
        })
    }

    /// Whether the next return is of an observer that nothing open can satisfy.
    fn hopeless(&self, options: &Options<K>, next: u32) -> bool {
        let class = self.layout.class[next as usize];
        let (call, Some(ret)) = &self.machine.classes[class as usize] else {
            return false;
        };
        if self.machine.nature(class) != Nature::Observes {
            return false;
        }
        let part = self.layout.part[next as usize];
        let mut open = Vec::new();
        self.cursor.each_on(&self.layout, part, |op, slot| {
            if options.usable.has(slot) {
                open.push(&self.machine.classes[self.layout.class[op as usize] as usize].0);
            }
        });
        !self.machine.model.attainable(&self.machine.states[self.now[part as usize] as usize], call, ret, &open)
    }

    /// Puts candidates first that let waiting observers answer.
    fn guide(&mut self, first: usize, open: &[(u32, bool, bool)]) {
        const WATCHED: usize = 4;
        if self.candidates.len() < first + 2 {
            return;
        }
        let class = |op: u32| self.layout.class[op as usize];
        let waiting = open.iter().filter(|&&(op, _, free)| !free && self.machine.nature(class(op)) == Nature::Observes);
        let watched: Vec<u32> = waiting.map(|&(op, ..)| class(op)).take(WATCHED).collect();
        let machine = &mut self.machine;
        self.candidates[first..].sort_by_cached_key(|&(op, state)| {
            let refused = watched.iter().filter(|&&class| matches!(machine.step(state, class), Next::Refused)).count();
            (refused, op != PASS && machine.inert(state, self.layout.class[op as usize]))
        });
    }

    fn exhausted(&self, path: usize) -> bool {
        if self.visited > self.budget.configurations {
            return true;
        }
        if !self.visited.is_multiple_of(256) {
            return false;
        }
        let path = path * (std::mem::size_of::<Frame<K>>() + 2 * K::outside(self.layout.slots));
        self.refuted.bytes() + path as u64 + self.machine.bytes > self.budget.bytes
            || self.budget.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn statistics(&self) -> Statistics {
        Statistics { configurations: self.visited, states: self.machine.states.len() as u64 }
    }

    /// The linearization: every operation at its last place.
    fn places(&self) -> Vec<usize> {
        let mut placed = vec![false; self.layout.class.len()];
        let mut order: Vec<usize> = self
            .line
            .iter()
            .rev()
            .map(|&op| op as usize)
            .filter(|&op| !std::mem::replace(&mut placed[op], true))
            .collect();
        order.reverse();
        order
    }
}
