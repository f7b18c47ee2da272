//! The search of Wing, Gong and Lowe, over compact configurations.
//!
//! A configuration is: how many returns have been passed (the *level*), which of the operations open at the next return have
//! already been linearized (a bit mask over slots, a slot being reused once its operation has returned), and the state of the object.
//! That is all: everything that returned earlier has been linearized, nothing called later can have been. So a
//! configuration takes a few words however long the history is, and a table of the visited ones is cheap and exact.
//!
//! From a configuration any open operation that the model allows may be linearized next; when the operation of the next return
//! has been, the level goes up. Depth first, earliest return first. Five reductions, none of which loses a linearization:
//!
//! - an open operation that never changes the state ([`Model::observes`]) is linearized as soon as it can answer as it
//!   did: moving it forward to here changes nothing for anyone;
//! - of several open operations with the same call and answer the one that returns first goes first;
//! - pending operations that would not change the state are left out;
//! - only operations on the same part ([`Model::part`]) as the operation that must return next are tried: the others commute with
//!   it and can come later;
//! - where that operation is an observer and no order of the open ones can bring about what it answered ([`Model::attainable`]), nothing is tried.
//!
//! Of the candidates those go first that let the most of the next few waiting observers answer, and then those whose state promises
//! most ([`Model::doubt`]).
//!
//! States and transitions are interned: a state is a number, and the model is asked once for each pair of a state and a kind of
//! operation. Models may be nondeterministic.
//!
//! For explanations ([`super::shrink`]) the search also remembers the last level that every order enters in one and the same
//! configuration: what happened before it can be replaced by that state.
//!
//! After Wing and Gong 1993 and Lowe 2017 (memoisation); the representation and the reductions are ours. Cost: exponential in the
//! number of operations open at once at worst, linear in the length of a history whose order its answers determine.

use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

use super::mask::Mask;
use super::model::Model;
use crate::history::Ts;

/// An operation of a history.
#[derive(Debug)]
pub struct Entry<M: Model> {
    /// What was called.
    pub call: M::Call,
    /// What it answered; nobody knows when it is pending.
    pub ret: Option<M::Ret>,
    /// When it was called.
    pub start: Ts,
    /// When it returned; [`Ts::INF`] if it is pending.
    pub end: Ts,
}

impl<M: Model> Clone for Entry<M> {
    fn clone(&self) -> Entry<M> {
        Entry { call: self.call.clone(), ret: self.ret.clone(), start: self.start, end: self.end }
    }
}

/// How much work a search may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The most configurations it may visit.
    pub configurations: u64,
    /// The most bytes it may hold, roughly.
    pub bytes: u64,
    /// When it must stop.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { configurations: 50_000_000, bytes: 4 << 30, deadline: None }
    }
}

impl Budget {
    /// A budget of this many configurations and no other limit but the default ones.
    pub fn of(configurations: u64) -> Budget {
        Budget { configurations, ..Budget::default() }
    }
}

/// How much work a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Configurations visited.
    pub configurations: u64,
    /// Different states met.
    pub states: u64,
}

/// Where a search that found nothing got to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window<S> {
    /// The operation (by position) whose return could not be passed by any configuration.
    pub blocked: usize,
    /// The states the object could be in just before that, as the model describes them, with the open operations that had
    /// taken effect: a few of them.
    pub before: Vec<(String, Vec<usize>)>,
    /// The last moment at which everything is certain.
    pub certain: Option<Certain<S>>,
}

/// A moment at which every order that gets there is in the same state with the same operations done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certain<S> {
    /// The operation (by position) whose return comes next.
    pub next: usize,
    /// The state.
    pub state: S,
    /// Operations that are open then and have already taken effect.
    pub done: Vec<usize>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<S> {
    /// A linearization, by position.
    Linearization(Vec<usize>),
    /// There is none.
    None(Window<S>),
    /// The budget ran out.
    OutOfBudget,
}

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
    let layout = Layout::new(entries);
    match layout.slots {
        0..=64 => Search::<M, u64>::new(model, entries, layout, budget).run(start),
        65..=128 => Search::<M, u128>::new(model, entries, layout, budget).run(start),
        _ => Search::<M, Box<[u64]>>::new(model, entries, layout, budget).run(start),
    }
}

/// The order of the events, and the slot of each operation.
struct Layout {
    /// Operations that return, in order of their returns.
    returns: Vec<u32>,
    /// All operations in order of their calls.
    calls: Vec<u32>,
    /// For each return, how many operations had been called by then.
    called: Vec<u32>,
    slot: Vec<u32>,
    slots: usize,
}

impl Layout {
    fn new<M: Model>(entries: &[Entry<M>]) -> Layout {
        let mut calls: Vec<u32> = (0..entries.len() as u32).collect();
        calls.sort_by_key(|&at| entries[at as usize].start);
        let mut returns: Vec<u32> =
            (0..entries.len() as u32).filter(|&at| entries[at as usize].end < Ts::INF).collect();
        returns.sort_by_key(|&at| entries[at as usize].end);
        let mut slot = vec![0; entries.len()];
        let (mut free, mut slots, mut next) = (Vec::new(), 0, 0);
        let mut called = Vec::with_capacity(returns.len());
        for &done in &returns {
            while next < calls.len() && entries[calls[next] as usize].start < entries[done as usize].end {
                slot[calls[next] as usize] = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                next += 1;
            }
            called.push(next as u32);
            free.push(slot[done as usize]);
        }
        Layout { returns, calls, called, slot, slots: slots as usize }
    }
}

/// What an operation does in a state, by number.
#[derive(Clone, Copy)]
enum Next {
    Refused,
    State(u32),
    /// Several states, from the list with this number.
    Several(u32),
}

/// States and transitions by number.
struct Machine<'m, M: Model> {
    model: &'m M,
    classes: Vec<(M::Call, Option<M::Ret>)>,
    observes: Vec<bool>,
    doubts: Vec<u32>,
    states: Vec<M::State>,
    numbers: FxHashMap<M::State, u32>,
    steps: FxHashMap<(u32, u32), Next>,
    several: Vec<Box<[u32]>>,
    bytes: u64,
}

impl<M: Model> Machine<'_, M> {
    fn state(&mut self, state: M::State) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.bytes += 2 * self.model.weight(&state) as u64 + 64;
        self.doubts.push(self.model.doubt(&state));
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    fn step(&mut self, state: u32, class: u32) -> Next {
        if let Some(&next) = self.steps.get(&(state, class)) {
            return next;
        }
        let (call, ret) = &self.classes[class as usize];
        let successors = self.model.step(&self.states[state as usize], call, ret.as_ref());
        let mut numbers: Vec<u32> = successors.into_iter().map(|successor| self.state(successor)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let next = match numbers[..] {
            [] => Next::Refused,
            [only] => Next::State(only),
            _ => {
                self.several.push(numbers.into());
                Next::Several(self.several.len() as u32 - 1)
            }
        };
        self.bytes += 32;
        self.steps.insert((state, class), next);
        next
    }
}

/// A configuration on the current path.
struct Frame<K> {
    level: u32,
    mask: K,
    state: u32,
    /// The range of its candidates, and the next one to try.
    candidates: (u32, u32),
    /// How long the linearization is here.
    length: u32,
}

struct Search<'m, M: Model, K> {
    machine: Machine<'m, M>,
    layout: Layout,
    budget: Budget,
    class: Vec<u32>,
    part: Vec<u64>,
    ends: Vec<Ts>,
    open: Vec<u32>,
    watched: Vec<u32>,
    level: u32,
    occupied: K,
    occupant: Vec<u32>,
    line: Vec<u32>,
    candidates: Vec<(u32, u32)>,
    visited: FxHashSet<(u32, u32, K)>,
    stamp: Vec<u64>,
    stamps: u64,
    deepest: u32,
    at_deepest: Vec<(u32, K)>,
    entered: Vec<Entered<K>>,
}

/// How a level was entered so far.
#[derive(Clone)]
enum Entered<K> {
    Never,
    Once(u32, K),
    Variously,
}

impl<'m, M: Model, K: Mask> Search<'m, M, K> {
    fn new(model: &'m M, entries: &[Entry<M>], layout: Layout, budget: Budget) -> Self {
        let mut numbers: FxHashMap<(M::Call, Option<M::Ret>), u32> = FxHashMap::default();
        let mut classes = Vec::new();
        let mut number = |call: &M::Call, ret: &Option<M::Ret>| {
            let next = classes.len() as u32;
            let class = *numbers.entry((call.clone(), ret.clone())).or_insert(next);
            if class == next {
                classes.push((call.clone(), ret.clone()));
            }
            class
        };
        let class = entries.iter().map(|entry| number(&entry.call, &entry.ret)).collect();
        let observes = classes.iter().map(|(call, ret)| model.observes(call, ret.as_ref())).collect();
        let machine = Machine {
            model,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            steps: FxHashMap::default(),
            several: Vec::new(),
            bytes: 0,
            classes,
            observes,
            doubts: Vec::new(),
        };
        let slots = layout.slots;
        Search {
            stamp: vec![0; machine.classes.len()],
            entered: vec![Entered::Never; layout.returns.len()],
            machine,
            layout,
            budget,
            class,
            part: entries.iter().map(|entry| model.part(&entry.call)).collect(),
            open: Vec::new(),
            watched: Vec::new(),
            ends: entries.iter().map(|entry| entry.end).collect(),
            level: 0,
            occupied: K::empty(slots),
            occupant: vec![0; slots],
            line: Vec::new(),
            candidates: Vec::new(),
            visited: FxHashSet::default(),
            stamps: 0,
            deepest: 0,
            at_deepest: Vec::new(),
        }
    }

    fn slot(&self, op: u32) -> usize {
        self.layout.slot[op as usize] as usize
    }

    fn opened(&self, level: u32) -> std::ops::Range<usize> {
        let from = level.checked_sub(1).map_or(0, |before| self.layout.called[before as usize]);
        from as usize..self.layout.called[level as usize] as usize
    }

    /// Lets in the operations called before the return of this level.
    fn let_in(&mut self) {
        for position in self.opened(self.level) {
            let op = self.layout.calls[position];
            let slot = self.slot(op);
            self.occupant[slot] = op;
            self.occupied.insert(slot);
        }
    }

    /// Goes one level up; the operation of this level must have been linearized.
    fn advance(&mut self, mask: &mut K) {
        let slot = self.slot(self.layout.returns[self.level as usize]);
        mask.remove(slot);
        self.occupied.remove(slot);
        self.level += 1;
        if (self.level as usize) < self.layout.returns.len() {
            self.let_in();
        }
    }

    /// Goes back down to a level.
    fn retreat(&mut self, level: u32) {
        while self.level > level {
            if (self.level as usize) < self.layout.returns.len() {
                for position in self.opened(self.level) {
                    let slot = self.slot(self.layout.calls[position]);
                    self.occupied.remove(slot);
                }
            }
            self.level -= 1;
            let op = self.layout.returns[self.level as usize];
            let slot = self.slot(op);
            self.occupant[slot] = op;
            self.occupied.insert(slot);
        }
    }

    /// Linearizes what leaves the state alone, passes every return it can, and collects what else may come next.
    fn settle(&mut self, mask: &mut K, state: u32) -> (u32, u32) {
        let first = self.candidates.len();
        let last = self.layout.returns.len() as u32;
        let mut open = std::mem::take(&mut self.open);
        self.watched.clear();
        self.occupied.each_without(mask, |slot| open.push(self.occupant[slot]));
        loop {
            for op in open.drain(..) {
                let pending = self.ends[op as usize] == Ts::INF;
                let class = self.class[op as usize];
                match self.machine.step(state, class) {
                    Next::Refused if !pending && self.machine.observes[class as usize] => self.watched.push(op),
                    Next::Refused => {}
                    Next::State(next) if pending && next == state => {}
                    Next::State(next) if next == state && self.machine.observes[class as usize] => {
                        mask.insert(self.slot(op));
                        self.line.push(op);
                    }
                    Next::State(next) => self.candidates.push((op, next)),
                    Next::Several(list) => {
                        let successors = &self.machine.several[list as usize];
                        let useful = successors.iter().filter(|&&next| !(pending && next == state));
                        self.candidates.extend(useful.map(|&next| (op, next)));
                    }
                }
            }
            while self.level < last && mask.has(self.slot(self.layout.returns[self.level as usize])) {
                self.advance(mask);
                if self.level < last {
                    for position in self.opened(self.level) {
                        open.push(self.layout.calls[position]);
                    }
                }
            }
            if open.is_empty() {
                break;
            }
        }
        self.open = open;
        if self.level == last {
            self.candidates.truncate(first);
        }
        self.keep_part(first);
        if self.candidates.len() > first && self.hopeless(mask, state) {
            self.candidates.truncate(first);
        }
        let ends = &self.ends;
        self.candidates[first..].sort_unstable_by_key(|&(op, next)| (ends[op as usize], op, next));
        self.drop_twins(first);
        self.guide(first);
        (first as u32, self.candidates.len() as u32)
    }

    /// Whether the next return is of an observer that nothing open can satisfy.
    fn hopeless(&self, mask: &K, state: u32) -> bool {
        let next = self.layout.returns[self.level as usize];
        let class = self.class[next as usize] as usize;
        let (call, Some(ret)) = &self.machine.classes[class] else {
            return false;
        };
        if !self.machine.observes[class] {
            return false;
        }
        let part = self.part[next as usize];
        let mut open = Vec::new();
        self.occupied.each_without(mask, |slot| {
            let op = self.occupant[slot];
            if op != next && self.part[op as usize] == part {
                open.push(&self.machine.classes[self.class[op as usize] as usize].0);
            }
        });
        !self.machine.model.attainable(&self.machine.states[state as usize], call, ret, &open)
    }

    /// Keeps the candidates on the part that the next return is about.
    fn keep_part(&mut self, first: usize) {
        let Some(&next) = self.layout.returns.get(self.level as usize) else {
            return;
        };
        let part = self.part[next as usize];
        let mut kept = first;
        for index in first..self.candidates.len() {
            let (op, state) = self.candidates[index];
            if self.part[op as usize] == part {
                self.candidates[kept] = (op, state);
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
    }

    /// Puts candidates first that let waiting observers answer.
    fn guide(&mut self, first: usize) {
        const WATCHED: usize = 4;
        if self.candidates.len() < first + 2 {
            return;
        }
        let ends = &self.ends;
        self.watched.sort_unstable_by_key(|&op| ends[op as usize]);
        self.watched.truncate(WATCHED);
        let mut scored: Vec<((u32, u32), (u32, u32))> = Vec::with_capacity(self.candidates.len() - first);
        for index in first..self.candidates.len() {
            let (op, next) = self.candidates[index];
            let mut disappointed = 0;
            for at in 0..self.watched.len() {
                let class = self.class[self.watched[at] as usize];
                disappointed += u32::from(matches!(self.machine.step(next, class), Next::Refused));
            }
            scored.push(((disappointed, self.machine.doubts[next as usize]), (op, next)));
        }
        scored.sort_by_key(|(score, _)| *score);
        for (slot, (_, candidate)) in self.candidates[first..].iter_mut().zip(scored) {
            *slot = candidate;
        }
    }

    /// Of candidates with the same call and answer keeps those of the operation that returns first.
    fn drop_twins(&mut self, first: usize) {
        self.stamps += 1;
        let mut kept = first;
        let mut previous = u32::MAX;
        for index in first..self.candidates.len() {
            let (op, next) = self.candidates[index];
            let class = self.class[op as usize] as usize;
            if op != previous && self.stamp[class] == self.stamps {
                continue;
            }
            self.stamp[class] = self.stamps;
            previous = op;
            self.candidates[kept] = (op, next);
            kept += 1;
        }
        self.candidates.truncate(kept);
    }

    fn statistics(&self) -> Statistics {
        Statistics { configurations: self.visited.len() as u64, states: self.machine.states.len() as u64 }
    }

    fn exhausted(&self) -> bool {
        let count = self.visited.len() as u64;
        if count > self.budget.configurations {
            return true;
        }
        if !count.is_multiple_of(1024) {
            return false;
        }
        let table = self.visited.capacity() as u64 * (std::mem::size_of::<(u32, u32, K)>() as u64 + 1);
        let masks = if std::mem::size_of::<K>() == 16 && !std::mem::needs_drop::<K>() {
            0
        } else {
            count * self.layout.slots as u64 / 8
        };
        table + masks + self.machine.bytes > self.budget.bytes
            || self.budget.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn run(mut self, start: M::State) -> (Found<M::State>, Statistics) {
        let last = self.layout.returns.len() as u32;
        if last == 0 {
            return (Found::Linearization(Vec::new()), Statistics::default());
        }
        let state = self.machine.state(start);
        self.let_in();
        let mut mask = K::empty(self.layout.slots);
        let candidates = self.settle(&mut mask, state);
        let mut path = vec![Frame { level: self.level, mask, state, candidates, length: self.line.len() as u32 }];
        self.note(&path[0]);
        while self.level < last {
            let Some(frame) = path.last_mut() else {
                let statistics = self.statistics();
                return (Found::None(self.window()), statistics);
            };
            let (level, length) = (frame.level, frame.length);
            self.retreat(level);
            self.line.truncate(length as usize);
            if frame.candidates.0 == frame.candidates.1 {
                path.pop();
                let end = path.last().map_or(0, |frame| frame.candidates.1);
                self.candidates.truncate(end as usize);
                continue;
            }
            let (op, state) = self.candidates[frame.candidates.0 as usize];
            frame.candidates.0 += 1;
            let mut mask = frame.mask.clone();
            let end = frame.candidates.1 as usize;
            mask.insert(self.slot(op));
            self.line.push(op);
            while self.level < last && mask.has(self.slot(self.layout.returns[self.level as usize])) {
                self.advance(&mut mask);
            }
            self.candidates.truncate(end);
            let candidates = self.settle(&mut mask, state);
            if self.level == last {
                break;
            }
            self.enter(level, state, &mask);
            if !self.visited.insert((self.level, state, mask.clone())) {
                self.candidates.truncate(end);
                continue;
            }
            if self.exhausted() {
                return (Found::OutOfBudget, self.statistics());
            }
            path.push(Frame { level: self.level, mask, state, candidates, length: self.line.len() as u32 });
            self.note(&path[path.len() - 1]);
        }
        let line = self.line.iter().map(|&op| op as usize).collect();
        (Found::Linearization(line), self.statistics())
    }

    /// Notes in which configuration levels are entered; those that are only passed through are not certain.
    fn enter(&mut self, from: u32, state: u32, mask: &K) {
        if self.level == from {
            return;
        }
        for level in from + 1..self.level {
            self.entered[level as usize] = Entered::Variously;
        }
        let entered = &mut self.entered[self.level as usize];
        match entered {
            Entered::Never => *entered = Entered::Once(state, mask.clone()),
            Entered::Once(before, done) if *before == state && done == mask => {}
            _ => *entered = Entered::Variously,
        }
    }

    /// Remembers the configurations that got furthest.
    fn note(&mut self, frame: &Frame<K>) {
        const KEPT: usize = 4;
        if frame.level > self.deepest {
            self.deepest = frame.level;
            self.at_deepest.clear();
        }
        if frame.level == self.deepest && self.at_deepest.len() < KEPT {
            self.at_deepest.push((frame.state, frame.mask.clone()));
        }
    }

    fn window(mut self) -> Window<M::State> {
        let last = (0..=self.deepest).rev().find(|&level| matches!(self.entered[level as usize], Entered::Once(..)));
        let certain = last.and_then(|level| match self.entered[level as usize].clone() {
            Entered::Once(state, mask) => {
                self.stand_at(level);
                let next = self.layout.returns[level as usize] as usize;
                Some(Certain { next, state: self.machine.states[state as usize].clone(), done: self.done(&mask) })
            }
            _ => None,
        });
        self.stand_at(self.deepest);
        let at_deepest = std::mem::take(&mut self.at_deepest);
        let describe = |state: u32| self.machine.model.describe(&self.machine.states[state as usize]);
        let before = at_deepest.iter().map(|(state, mask)| (describe(*state), self.done(mask))).collect();
        Window { blocked: self.layout.returns[self.deepest as usize] as usize, before, certain }
    }

    /// Lets in and out whatever is open at a level.
    fn stand_at(&mut self, level: u32) {
        self.retreat(level.min(self.level));
        let mut mask = K::empty(self.layout.slots);
        while self.level < level {
            self.advance(&mut mask);
        }
    }

    /// The open operations of a mask, at the level we stand at.
    fn done(&self, mask: &K) -> Vec<usize> {
        let mut done = Vec::new();
        self.occupied.each_without(&K::empty(self.layout.slots), |slot| {
            if mask.has(slot) {
                done.push(self.occupant[slot] as usize);
            }
        });
        done
    }
}
