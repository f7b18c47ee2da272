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
//! Leaving out values leaves sets in which single operations can still be spared: of `enqueue a, enqueue b, dequeue = b` it does not matter when,
//! or whether, the second one returned. [`tighten`] makes operations of such a set pending one by one until none is left that can be. What
//! remains is *bound*; those that are pending count only through their calls. It is tried whether the bound ones fail even if all
//! other operations of the history are pending, which says more with fewer words.
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
    /// Operations, by position, that may have taken effect at any moment after their calls with any answer, or never.
    pub called: Vec<usize>,
    /// What was assumed of all others.
    pub others: Others,
    /// Whether no operation of `ops` can be spared: if any of them were among `called` instead, the rest could be ordered.
    pub minimal: bool,
    /// What came before, if it was replaced by a state.
    pub from: Option<Since<usize>>,
}

/// The moment an explanation starts at, and what the object may be taken to have been then: no other way to get there leaves more freedom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since<Op> {
    /// The operation whose return comes next.
    pub next: Op,
    /// The state, for people.
    pub state: String,
    /// The operations that had taken effect though they had not returned.
    pub done: Vec<Op>,
}

impl<Op> Since<Op> {
    /// The same with operations renamed.
    pub(crate) fn named<Other>(self, name: impl Fn(Op) -> Other) -> Since<Other> {
        Since { next: name(self.next), state: self.state, done: self.done.into_iter().map(name).collect() }
    }
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
        failing(model, model.initial(), &chosen, budget)
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
    let ends: Vec<Ts> = entries.iter().map(|entry| entry.end).collect();
    let core = tighten(&ends, ops, |chosen| {
        let weaker: Vec<Entry<M>> = chosen.iter().map(|&(at, bound)| bound_or_pending(&entries[at], bound)).collect();
        failing(model, model.initial(), &weaker, budget)
    });
    Some(Core { minimal: core.minimal && !gave_up, ..core })
}

/// An operation as it is, or pending.
fn bound_or_pending<M: Model>(entry: &Entry<M>, bound: bool) -> Entry<M> {
    if bound { entry.clone() } else { Entry { ret: None, end: Ts::INF, ..entry.clone() } }
}

/// Whether a search fails, if it comes to an end. When it is late, nobody begins one: what is left to ask would add up.
fn failing<M: Model>(model: &M, start: M::State, entries: &[Entry<M>], budget: Budget) -> Option<bool> {
    if budget.is_late() {
        return None;
    }
    match search_from(model, start, entries, budget).0 {
        Found::None(_) => Some(true),
        Found::Linearization(_) => Some(false),
        Found::OutOfBudget(_) => None,
    }
}

/// The most operations of a history that are all made pending to say more with fewer words.
const WEAKENED: usize = 300;

/// Makes the operations of a failing set pending until none is left that can be. `ends` are the returns of all operations of the history;
/// `fails` says whether some of them fail, each bound to its return and answer or pending.
pub fn tighten(ends: &[Ts], core: Vec<usize>, mut fails: impl FnMut(&[(usize, bool)]) -> Option<bool>) -> Core {
    let bound_in = |bound: &[u32]| {
        let bound: FxHashSet<usize> = bound.iter().map(|&at| at as usize).collect();
        move |at: usize| bound.contains(&at)
    };
    let latest_first = |mut pool: Vec<u32>| {
        pool.retain(|&at| ends[at as usize] < Ts::INF);
        pool.sort_by_key(|&at| std::cmp::Reverse(ends[at as usize]));
        pool
    };
    let positions = |ops: &[usize]| ops.iter().map(|&at| at as u32).collect::<Vec<u32>>();
    let weakest = |mut kept: Vec<u32>| {
        kept.sort_unstable();
        kept.into_iter().map(|at| at as usize).collect::<Vec<usize>>()
    };
    let unproven = Core { ops: core.clone(), called: Vec::new(), others: Others::Absent, minimal: false, from: None };
    let mut among = |context: &[usize], bound: &[u32]| {
        let bound = bound_in(bound);
        fails(&context.iter().map(|&at| (at, bound(at))).collect::<Vec<_>>())
    };
    if among(&core, &positions(&core)) != Some(true) {
        return unproven;
    }
    let mut asker = Asker::new(|set: &[u32]| among(&core, set));
    let kept = asker.minimal(latest_first(positions(&core)));
    if asker.gave_up {
        return unproven;
    }
    let spared = |bound: &[u32]| core.iter().copied().filter(|&at| !bound.contains(&(at as u32))).collect::<Vec<_>>();
    let called = spared(&kept);
    if called.is_empty() {
        return Core { minimal: true, ..unproven };
    }
    let absent = Core { ops: weakest(kept.clone()), minimal: true, ..unproven };
    // Whether each bound operation is still needed when only these others are there.
    let mut needed = |called: &[usize]| {
        let mut context: Vec<usize> = absent.ops.iter().chain(called).copied().collect();
        context.sort_unstable();
        (0..kept.len()).all(|spare| {
            let rest: Vec<u32> = kept.iter().enumerate().filter(|(at, _)| *at != spare).map(|(_, op)| *op).collect();
            among(&context, &rest) == Some(false)
        })
    };
    if needed(&[]) {
        return absent;
    }
    let mut helping = called.clone();
    for at in called {
        let fewer: Vec<usize> = helping.iter().copied().filter(|&other| other != at).collect();
        if needed(&fewer) {
            helping = fewer;
        }
    }
    if ends.len() <= WEAKENED {
        let all: Vec<usize> = (0..ends.len()).collect();
        if among(&all, &kept) == Some(true) {
            return Core { others: Others::Pending, ..absent };
        }
        let mut asker = Asker::new(|set: &[u32]| among(&all, set));
        let wide = asker.minimal(latest_first(positions(&all)));
        if !asker.gave_up && wide.len() <= kept.len() + helping.len() + 2 {
            return Core { ops: weakest(wide), others: Others::Pending, ..absent };
        }
    }
    Core { called: helping, ..absent }
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
            let since = Since { next: certain.next, state: model.describe(&certain.state), done: certain.done };
            (certain.state, Some(since), left, certain.spare)
        }
    };
    let fails = |bound: &dyn Fn(u32) -> bool| {
        let weaker: Vec<Entry<M>> = rest.iter().map(|&at| bound_or_pending(&entries[at], bound(at as u32))).collect();
        failing(model, start.clone(), &weaker, budget)
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
    Some(Core { ops, called: Vec::new(), others: Others::Pending, minimal: !asker.gave_up, from })
}
