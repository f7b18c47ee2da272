//! Turns of loops that had no effect, by definition.
//!
//! A thread answers for itself: two of its states are *alike* if no sequence of answers tells them apart (they are bisimilar). That is
//! found out by trying: from both states, all answers there may be, step by step, until something differs or nothing new comes.
//! Which registers are alive, where a loop begins and how it was written plays no part in it.
//!
//! Behind the last effect of a thread (anything but reads and fences) its run goes through states s0 s1 ... sn, one before each operation. The
//! operations from the i-th on *had no effect* if
//! * sn is like si: then they can be left out, and nobody, the thread included, can tell; or
//! * the i-th is a load that matters (with another value it would have led to a state that is not like that), that is not made again (by the same
//!   instruction), the last one, which may be, reads the same location, and whatever the last one might have found leads to a state that is like the one that
//!   si leads to with that, unless it has an effect or is not made again then: then the thread might as well have looked later. The last one must be an acquire if the
//!   i-th is. (That it may be made again is what makes it a loop, with its first look in front of it, and not two loads that happen to lead to the same.)
//!
//! An execution with such operations is none of its own, so a thread that has just completed some stops where it is: it is
//! *idle*. The execution in which they are left out is another one.

use raddle_machine::{Access, Automaton, Code, Reaction, Status, Thread, Visible};
use raddle_program::Ordering;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// What reads may find. Programs that are enumerated have small numbers.
const VALUES: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, u32::MAX as u64];

/// A comparison that needs more pairs of states than this is given up, and the states are taken to differ.
const MAX_PAIRS: usize = 1_000;

/// What a thread has done since its last effect, the last operation first.
pub(crate) type Looks = Option<Rc<Look>>;

/// One operation without effect.
#[derive(Debug)]
pub(crate) struct Look {
    before: Thread,
    /// What it read; `None` for a fence.
    read: Option<Read>,
    rest: Looks,
}

#[derive(Clone, Copy, Debug)]
struct Read {
    access: Access,
    value: u64,
    order: Ordering,
}

/// The looks of a thread after it has answered its pending operation without effect; `value` is what it read.
pub(crate) fn looked(before: Thread, value: u64, rest: Looks) -> Looks {
    let read = match *before.status() {
        Status::Ready(Visible::Load { access, order, .. } | Visible::Update { access, failure: order, .. }) => {
            Some(Read { access, value, order })
        }
        _ => None,
    };
    Some(Rc::new(Look { before, read, rest }))
}

/// Which states of threads are alike.
pub(crate) struct Turns<'c> {
    code: &'c Code,
    numbers: FxHashMap<Thread, u32>,
    threads: Vec<Thread>,
    known: FxHashMap<(u32, u32), bool>,
    /// Per instruction, whether a thread that makes a load there may make it again.
    repeats: FxHashMap<u32, bool>,
}

impl<'c> Turns<'c> {
    pub(crate) fn new(code: &'c Code) -> Self {
        Turns {
            code,
            numbers: FxHashMap::default(),
            threads: Vec::new(),
            known: FxHashMap::default(),
            repeats: FxHashMap::default(),
        }
    }

    /// The first of the operations without effect that a thread in this state has just completed, if there are some.
    pub(crate) fn idle_since(&mut self, now: &Thread, looks: &Looks) -> Option<u32> {
        let all: Vec<&Look> = std::iter::successors(looks.as_deref(), |look| look.rest.as_deref()).collect();
        let found = (0..all.len())
            .rev()
            .find(|&at| self.is_back(now, &all[..=at]) || self.could_have_looked_later(now, &all[..=at]));
        found.map(|at| all[at].before.operations())
    }

    /// Whether these operations, the last one first, have led back to where they began.
    fn is_back(&mut self, now: &Thread, looks: &[&Look]) -> bool {
        looks.iter().any(|look| look.read.is_some()) && looks.last().is_some_and(|first| self.alike(now, &first.before))
    }

    /// Whether the first of these operations, the last one first, might as well have been made in the place of the last.
    fn could_have_looked_later(&mut self, now: &Thread, looks: &[&Look]) -> bool {
        let Some((first, later)) = looks.split_last() else { return false };
        let Some(read) = first.read else { return false };
        let load = matches!(first.before.status(), Status::Ready(Visible::Load { wait: false, .. }));
        if !load || later.iter().any(|look| look.before.pc() == first.before.pc()) {
            return false;
        }
        let as_good = |other: &Read| other.access == read.access && (other.order.acquires() || !read.order.acquires());
        let Some((look, other)) = later.first().and_then(|look| Some((look, look.read.filter(as_good)?))) else {
            return false;
        };
        if !self.is_made_again(&look.before) {
            return false;
        }
        let mut thread = first.before.clone();
        thread.answer(self.code, other.value, 0);
        self.alike(now, &thread)
            && VALUES.into_iter().all(|value| self.lead_to_the_same(&first.before, &look.before, value))
            && self.matters(&first.before, &thread)
    }

    /// Whether a load leads to the same with this value as another look does, unless that has an effect then.
    fn lead_to_the_same(&mut self, load: &Thread, look: &Thread, value: u64) -> bool {
        if look.reaction(self.code, value) != Reaction::Read {
            return true;
        }
        let (mut one, mut other) = (load.clone(), look.clone());
        one.answer(self.code, value, 0);
        other.answer(self.code, value, 0);
        self.alike(&one, &other) || !self.comes_back(&other, look.pc())
    }

    /// Whether some answers lead the thread to this instruction. Where that takes too long to see, they do.
    fn comes_back(&self, thread: &Thread, pc: u32) -> bool {
        let (mut met, mut todo) = (FxHashSet::from_iter([thread.clone()]), vec![thread.clone()]);
        while let Some(thread) = todo.pop() {
            let rests = matches!(thread.status(), Status::Ready(_));
            if met.len() > MAX_PAIRS || rests && thread.pc() == pc {
                return true;
            }
            todo.extend(self.successors(&thread).into_iter().filter(|next| met.insert(next.clone())));
        }
        false
    }

    /// Whether a load could lead elsewhere than to a state like this.
    fn matters(&mut self, before: &Thread, after: &Thread) -> bool {
        self.successors(before).iter().any(|next| !self.alike(next, after))
    }

    /// Whether some answers lead the thread to the instruction it rests before once more. Where that takes too long to see, they do.
    fn is_made_again(&mut self, before: &Thread) -> bool {
        let pc = before.pc();
        if let Some(&known) = self.repeats.get(&pc) {
            return known;
        }
        let again = self.successors(before).iter().any(|next| self.comes_back(next, pc));
        self.repeats.insert(pc, again);
        again
    }

    /// The states a thread may be in after its pending operation.
    fn successors(&self, thread: &Thread) -> Vec<Thread> {
        let Status::Ready(visible) = *thread.status() else { return Vec::new() };
        let answers = self.answers(thread, visible).into_iter();
        answers
            .map(|(value, pick)| {
                let mut next = thread.clone();
                next.answer(self.code, value, pick);
                next
            })
            .collect()
    }

    /// What a thread may be told.
    fn answers(&self, thread: &Thread, visible: Visible) -> Vec<(u64, u32)> {
        match visible {
            Visible::Load { .. } | Visible::Update { .. } => {
                let told = |value: u64| match thread.reaction(self.code, value) {
                    Reaction::Block => Vec::new(),
                    Reaction::Read | Reaction::Write(_) => vec![(value, 0)],
                    Reaction::Pick(count) => (0..count).map(|pick| (value, pick)).collect(),
                };
                VALUES.into_iter().flat_map(told).collect()
            }
            Visible::Choose { count } => (0..count).map(|pick| (u64::from(pick), 0)).collect(),
            _ => vec![(0, 0)],
        }
    }

    fn number(&mut self, thread: &Thread) -> u32 {
        let threads = &mut self.threads;
        *self.numbers.entry(thread.clone()).or_insert_with(|| {
            threads.push(thread.clone());
            threads.len() as u32 - 1
        })
    }

    /// Whether no answers tell two states apart.
    fn alike(&mut self, a: &Thread, b: &Thread) -> bool {
        let asked = (self.number(a), self.number(b));
        let mut assumed = FxHashSet::default();
        // What is near is looked at first: most states that differ do so soon.
        let mut todo = VecDeque::from([asked]);
        let mut alike = true;
        while let Some(pair) = todo.pop_front() {
            if pair.0 == pair.1 || self.known.get(&pair) == Some(&true) || !assumed.insert(pair) {
                continue;
            }
            let differ = self.known.get(&pair) == Some(&false) || assumed.len() > MAX_PAIRS;
            if differ || !self.step(pair, &mut todo) {
                alike = false;
                break;
            }
        }
        if alike {
            self.known.extend(assumed.into_iter().map(|pair| (pair, true)));
        } else {
            self.known.insert(asked, false);
        }
        alike
    }

    /// Compares what two threads do next, and notes which states they must be alike in then.
    fn step(&mut self, (a, b): (u32, u32), todo: &mut VecDeque<(u32, u32)>) -> bool {
        let (a, b) = (self.threads[a as usize].clone(), self.threads[b as usize].clone());
        if a.status() != b.status() {
            return false;
        }
        let Status::Ready(visible) = *a.status() else { return true };
        let reads = matches!(visible, Visible::Load { .. } | Visible::Update { .. });
        if reads && VALUES.into_iter().any(|value| a.reaction(self.code, value) != b.reaction(self.code, value)) {
            return false;
        }
        let answers = self.answers(&a, visible);
        for (value, pick) in answers {
            let (mut a, mut b) = (a.clone(), b.clone());
            a.answer(self.code, value, pick);
            b.answer(self.code, value, pick);
            todo.push_back((self.number(&a), self.number(&b)));
        }
        true
    }
}
