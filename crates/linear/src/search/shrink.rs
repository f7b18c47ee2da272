//! From a history that fails to a small set of operations that fails.
//!
//! Leaving an operation out does not always help: without the write, the read of its value is wrong for a silly
//! reason. So operations are set aside only in ways that can never turn a good history into a bad one:
//!
//! - where the model knows what is tied together ([`Model::ties`]), all operations of a value are left out at once, and
//!   mere observations also one by one;
//! - otherwise an operation is made *pending*: it may take effect at any moment after its call, with any answer, or never. Here
//!   what happened before the last certain moment ([`super::Certain`]) is first replaced by the state of that moment.
//!
//! Both are monotone, so bisection finds an inclusion-minimal set: find the shortest prefix of the candidates that still
//! fails; its last element is needed; go on with the elements before it. Every set is judged by the search itself; where
//! its small budget runs out the answer counts as "does not fail", which keeps the result right and may make it larger
//! than needed ([`Core::minimal`] then says so).
//!
//! Cost: about k log n searches for a result of k elements.

use rustc_hash::{FxHashMap, FxHashSet};

use super::engine::{search, search_from};
use super::model::{Model, Ties};
use super::terms::{Budget, Certain, Entry, Found};
use crate::history::Ts;

/// A small set of operations that cannot be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// The operations, by position.
    pub ops: Vec<usize>,
    /// What was assumed of all others.
    pub others: Others,
    /// Whether no operation of it can be spared.
    pub minimal: bool,
    /// What came before, if it was replaced by a state: the state, and the operation (by position) whose return comes next.
    pub from: Option<(String, usize)>,
}

/// What is assumed of the operations that are not in a [`Core`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They are left out.
    Absent,
    /// They may take effect at any moment after their calls with any answer, or never.
    Pending,
}

/// Which sets of things fail, with a limit on the questions asked.
pub struct Asker<F> {
    ask: F,
    /// Whether some question was left without an answer.
    pub gave_up: bool,
}

impl<F: FnMut(&[u32]) -> Option<bool>> Asker<F> {
    /// `ask` says whether a set of things fails, or nothing if it cannot tell.
    pub fn new(ask: F) -> Asker<F> {
        Asker { ask, gave_up: false }
    }

    fn fails(&mut self, set: &[u32]) -> bool {
        match (self.ask)(set) {
            Some(answer) => answer,
            None => {
                self.gave_up = true;
                false
            }
        }
    }

    /// An inclusion-minimal subset of `pool` that fails; all of `pool` must. Failing must be monotone.
    pub fn minimal(&mut self, mut pool: Vec<u32>) -> Vec<u32> {
        let mut needed: Vec<u32> = Vec::new();
        while !self.fails(&needed) && !pool.is_empty() {
            // The shortest prefix of the pool that fails together with what is needed: double, then bisect.
            let mut low = 0;
            let mut high = 1;
            let trial = |asker: &mut Self, length: usize| {
                let set: Vec<u32> = needed.iter().chain(&pool[..length]).copied().collect();
                asker.fails(&set)
            };
            while high < pool.len() && !trial(self, high) {
                low = high;
                high *= 2;
            }
            high = high.min(pool.len());
            while low + 1 < high {
                let middle = (low + high) / 2;
                if trial(self, middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            needed.push(pool[high - 1]);
            pool.truncate(high - 1);
        }
        needed
    }
}

/// A small set of operations of a history that fails; `None` if not even the whole history fails within the budget.
pub fn shrink<M: Model>(model: &M, entries: &[Entry<M>], budget: Budget) -> Option<Core> {
    let ties: Option<Vec<_>> = entries.iter().map(|entry| model.ties(&entry.call, entry.ret.as_ref())).collect();
    match ties {
        Some(ties) => leave_out(model, entries, &ties, budget),
        None => make_pending(model, entries, budget),
    }
}

fn leave_out<M: Model>(model: &M, entries: &[Entry<M>], ties: &[Ties], budget: Budget) -> Option<Core> {
    // Values that share an operation stay together.
    let mut parent: Vec<u32> = (0..entries.len() as u32).collect();
    fn root(parent: &mut [u32], mut at: u32) -> u32 {
        while parent[at as usize] != at {
            parent[at as usize] = parent[parent[at as usize] as usize];
            at = parent[at as usize];
        }
        at
    }
    let mut first: FxHashMap<u64, u32> = FxHashMap::default();
    for (at, tie) in ties.iter().enumerate() {
        for value in &tie.values {
            let other = *first.entry(*value).or_insert(at as u32);
            let (one, two) = (root(&mut parent, at as u32), root(&mut parent, other));
            parent[one as usize] = two;
        }
    }
    let mut groups: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut always = Vec::new();
    for (at, tie) in ties.iter().enumerate() {
        if tie.values.is_empty() && !tie.optional {
            always.push(at);
        } else {
            groups.entry(root(&mut parent, at as u32)).or_default().push(at);
        }
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|group| group.iter().map(|&at| entries[at].end).min());
    let ask = |ops: &[usize]| {
        let chosen: Vec<Entry<M>> = ops.iter().map(|&at| entries[at].clone()).collect();
        match search(model, &chosen, budget).0 {
            Found::None(_) => Some(true),
            Found::Linearization(_) => Some(false),
            Found::OutOfBudget => None,
        }
    };
    if ask(&(0..entries.len()).collect::<Vec<_>>()) != Some(true) {
        return None;
    }
    let members = |set: &[u32]| -> Vec<usize> {
        let mut ops: Vec<usize> = set
            .iter()
            .flat_map(|&group| groups[group as usize].iter().copied())
            .chain(always.iter().copied())
            .collect();
        ops.sort_unstable();
        ops
    };
    let mut asker = Asker::new(|set: &[u32]| ask(&members(set)));
    let kept = asker.minimal((0..groups.len() as u32).collect());
    let mut gave_up = asker.gave_up;
    // Observations of the values that are left may go one by one.
    let ops = members(&kept);
    let (optional, fixed): (Vec<usize>, Vec<usize>) = ops.into_iter().partition(|&at| ties[at].optional);
    let mut asker = Asker::new(|set: &[u32]| {
        let mut ops: Vec<usize> = set.iter().map(|&at| at as usize).chain(fixed.iter().copied()).collect();
        ops.sort_unstable();
        ask(&ops)
    });
    let kept = asker.minimal(optional.iter().map(|&at| at as u32).collect());
    gave_up |= asker.gave_up;
    let mut ops: Vec<usize> = kept.into_iter().map(|at| at as usize).chain(fixed).collect();
    ops.sort_unstable();
    Some(Core { ops, others: Others::Absent, minimal: !gave_up, from: None })
}

fn make_pending<M: Model>(model: &M, entries: &[Entry<M>], budget: Budget) -> Option<Core> {
    let Found::None(window) = search(model, entries, budget).0 else {
        return None;
    };
    // Parts do not see each other, so the one on which the search failed fails by itself.
    let part = model.part(&entries[window.blocked].call);
    let about: Vec<usize> = (0..entries.len()).filter(|&at| model.part(&entries[at].call) == part).collect();
    let certain = if about.len() == entries.len() {
        window.certain
    } else {
        let alone: Vec<Entry<M>> = about.iter().map(|&at| entries[at].clone()).collect();
        let Found::None(window) = search(model, &alone, budget).0 else {
            return None;
        };
        let named = |ops: Vec<usize>| ops.into_iter().map(|at| about[at]).collect();
        window.certain.map(|certain| Certain {
            next: about[certain.next],
            done: named(certain.done),
            spare: named(certain.spare),
            ..certain
        })
    };
    let (start, from, rest, spare) = match certain {
        None => (model.initial(), None, about, Vec::new()),
        Some(certain) => {
            let since = entries[certain.next].end;
            let left = about.into_iter().filter(|at| entries[*at].end >= since && !certain.done.contains(at)).collect();
            let described = model.describe(&certain.state);
            (certain.state, Some((described, certain.next)), left, certain.spare)
        }
    };
    let fails = |bound: &dyn Fn(u32) -> bool| {
        let weaker: Vec<Entry<M>> = rest
            .iter()
            .map(|&at| {
                let entry = entries[at].clone();
                if bound(at as u32) { entry } else { Entry { ret: None, end: Ts::INF, ..entry } }
            })
            .collect();
        match search_from(model, start.clone(), &weaker, budget).0 {
            Found::None(_) => Some(true),
            Found::Linearization(_) => Some(false),
            Found::OutOfBudget => None,
        }
    };
    if fails(&|at| !spare.contains(&(at as usize))) != Some(true) {
        return None;
    }
    // What returned last is closest to the trouble: bisection keeps it and drops the rest early.
    let bindable = |at: &usize| entries[*at].end < Ts::INF && !spare.contains(at);
    let mut pool: Vec<u32> = rest.iter().copied().filter(bindable).map(|at| at as u32).collect();
    pool.sort_by_key(|&at| std::cmp::Reverse(entries[at as usize].end));
    let mut asker = Asker::new(|set: &[u32]| {
        let bound: FxHashSet<u32> = set.iter().copied().collect();
        fails(&|at| bound.contains(&at))
    });
    let mut ops: Vec<usize> = asker.minimal(pool).into_iter().map(|at| at as usize).collect();
    ops.sort_unstable();
    Some(Core { ops, others: Others::Pending, minimal: !asker.gave_up, from })
}
