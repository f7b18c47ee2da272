//! The moves of the search: what may come next in a configuration, and where it leads.
//!
//! [`super::engine`] says why these moves are enough.

use std::time::Instant;

use super::cursor::Cursor;
use super::layout::Layout;
use super::machine::{Machine, Next};
use super::mask::Mask;
use super::model::{Model, Nature};
use super::refuted::Options;
use super::stretch::Place;
use super::terms::{Budget, Limit, Statistics, Window};
use super::trail::Trail;

/// In place of a candidate: the next return is passed without its operation taking effect here; it has had a place already.
pub(super) const PASS: u32 = u32::MAX;

/// What the strategies work with: a place in the history, the state there, and scratch.
pub(super) struct Moves<'m, M: Model, K> {
    pub(super) machine: Machine<'m, M>,
    pub(super) layout: Layout,
    pub(super) budget: Budget,
    pub(super) cursor: Cursor<K>,
    /// The state of each part, and what it was before each change.
    pub(super) now: Vec<u32>,
    pub(super) changes: Vec<(u32, u32)>,
    /// Operations in the order of their places. Of several places of one operation the last counts.
    pub(super) line: Vec<u32>,
    pub(super) candidates: Vec<(u32, u32)>,
    pub(super) trail: Trail<K>,
    pub(super) visited: u64,
    /// Scratch: operations that may have a place for nothing.
    fresh: Vec<u32>,
    /// Scratch: which classes have a candidate that is due, and one that is free.
    seen: Vec<[u64; 2]>,
    stamp: u64,
}

impl<'m, M: Model, K: Mask> Moves<'m, M, K> {
    pub(super) fn new(machine: Machine<'m, M>, layout: Layout, budget: Budget) -> Self {
        Moves {
            cursor: Cursor::new(&layout),
            now: Vec::new(),
            changes: Vec::new(),
            line: Vec::new(),
            candidates: Vec::new(),
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

    /// Goes back to the beginning, and forgets what was noted on the way.
    pub(super) fn reset(&mut self) {
        self.cursor = Cursor::new(&self.layout);
        self.trail = Trail::new(&self.layout);
        self.changes.clear();
        self.line.clear();
        self.candidates.clear();
    }

    /// The first configuration that there is a choice about.
    pub(super) fn begin(&mut self, start: M::State) -> Options<K> {
        let start = self.machine.state(start);
        self.now = vec![start; self.layout.parts];
        let mut options = Options::none(self.layout.slots);
        if self.layout.last() > 0 {
            self.let_in(&mut options);
        }
        self.settle(&mut options);
        options
    }

    /// The first configuration that there is a choice about from a place where the first operations are open.
    pub(super) fn resume(&mut self, place: &Place<M::State>) -> Options<K> {
        let start = self.machine.state(place.state.clone());
        self.cursor = Cursor::new(&self.layout);
        self.now = vec![start; self.layout.parts.max(1)];
        let mut options = Options::none(self.layout.slots);
        if self.layout.last() > 0 {
            self.let_in(&mut options);
        }
        for (op, left) in (0u32..).zip(&place.left) {
            let slot = self.layout.slot(op);
            for (set, holds) in [(&mut options.usable, left.usable), (&mut options.free, left.free)] {
                if holds { set.insert(slot) } else { set.remove(slot) }
            }
        }
        self.settle(&mut options);
        self.forget();
        options
    }

    /// Forgets how the current place was reached.
    pub(super) fn forget(&mut self) {
        self.changes.clear();
        self.line.clear();
    }

    /// Makes a move from a configuration at the current level whose next return is that of `next`.
    pub(super) fn make(&mut self, options: &mut Options<K>, next: u32, (op, state): (u32, u32)) {
        if op == PASS {
            self.pass(options, next);
        } else {
            // It did not pass, so it is to be used at this level.
            options.free.remove(self.layout.slot(next));
            self.take(options, op, state);
        }
        self.settle(options);
    }

    /// Linearizes an operation that leads to a state.
    pub(super) fn take(&mut self, options: &mut Options<K>, op: u32, state: u32) {
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
    pub(super) fn pass(&mut self, options: &mut Options<K>, next: u32) {
        let slot = self.layout.slot(next);
        options.free.remove(slot);
        options.usable.remove(slot);
        self.cursor.advance(&self.layout);
        if self.cursor.level < self.layout.last() {
            self.let_in(options);
        }
    }

    /// Takes changes of states back until so many are left.
    pub(super) fn undo(&mut self, left: usize) {
        for (part, before) in self.changes.drain(left..).rev() {
            self.now[part as usize] = before;
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
    pub(super) fn let_in(&mut self, options: &mut Options<K>) {
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
    pub(super) fn settle(&mut self, options: &mut Options<K>) {
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
                // With time it may have come to leave the state as good as it is.
                if !free && self.machine.stays(state, self.layout.class[next as usize], time) {
                    options.free.insert(slot);
                    self.line.push(next);
                    continue;
                }
                return;
            }
            self.change(part, faded);
            self.refresh(options, part);
        }
    }

    /// What may come next, in the order in which it is tried.
    pub(super) fn collect(&mut self, options: &Options<K>, next: u32) -> (usize, usize) {
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
                // What leaves the state as it is is of no use, unless it is the last chance to hide others behind it.
                let moves = target != state || (op == next && nature == Nature::Overwrites && self.hides(&open, op));
                if moves && !late {
                    self.candidates.push((op, target));
                }
            }
        }
        self.guide(first, &open);
        (first, self.candidates.len())
    }

    /// Whether an operation that overwrites would give others a place.
    fn hides(&self, open: &[(u32, bool, bool)], op: u32) -> bool {
        open.iter().any(|&(other, _, free)| {
            other != op && !free && self.machine.nature(self.layout.class[other as usize]).is_silent()
        })
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

    /// What there is to say about the part on which everything failed.
    pub(super) fn window(&mut self, part: u32) -> Window<M::State> {
        self.trail.window(&self.layout, &self.machine, &mut self.cursor, part)
    }

    /// Which limit has been reached, with so many bytes held elsewhere.
    pub(super) fn exhausted(&self, bytes: impl FnOnce() -> u64) -> Option<Limit> {
        if self.visited > self.budget.configurations {
            return Some(Limit::Configurations);
        }
        if !self.visited.is_multiple_of(64) {
            return None;
        }
        if bytes() + self.machine.bytes > self.budget.bytes {
            return Some(Limit::Memory);
        }
        self.budget.deadline.filter(|end| Instant::now() >= *end).map(|_| Limit::Time)
    }

    pub(super) fn statistics(&self) -> Statistics {
        Statistics { configurations: self.visited, states: self.machine.states.len() as u64 }
    }

    /// The linearization that places give: every operation at its last one.
    pub(super) fn linearization(&self, places: &[u32]) -> Vec<usize> {
        let mut placed = vec![false; self.layout.class.len()];
        let last = places.iter().rev().map(|&op| op as usize);
        let mut order: Vec<usize> = last.filter(|&op| !std::mem::replace(&mut placed[op], true)).collect();
        order.reverse();
        order
    }
}
