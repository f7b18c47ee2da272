//! Stacks whose values repeat, or whose pops never returned: which pop took what which push put in?
//!
//! Once every pop has its push, what is left is a stack of different values, and [`super::stack`] decides it. So this is a search for pairs. What
//! may be paired are choices for a solver of clauses ([`crate::search::sat`]): a pop that returned a value takes one of the pushes of that value,
//! a pop that never returned takes any push or none, and nobody takes what another one took. An assignment is put to the monitor. If
//! it objects, it names a few values that cannot be ordered, and since leaving out other values never helps, those pairs (and pushes that
//! nobody took) can never stand together: that is a clause, and the solver goes on. Values that are in each other's way two by two are found
//! all at once.
//!
//! Most pairs are ruled out before by counting: of what was pushed while a pair was certainly around, everything must be popped before the pair ends,
//! value by value, and what was popped in that time must have been pushed in it. Between a push and a pop that do not belong together, the
//! pushes and pops of some value hardly ever balance.
//!
//! Ours. Cost: of each assignment that of the monitor; exponentially many of them at worst (the problem is NP-complete), some dozens in histories of
//! programs. Quadratic in the pushes of a value.

use std::time::Instant;

use rustc_hash::FxHashMap;

use super::matching::Val;
use super::pairing::{Item, Paired, Problem};
use super::segments::cover;
use super::stack::{self, StackAlgorithm, StackFailure};
use crate::history::Ts;
use crate::search::sat::{Literal, Solved, Solver};
use crate::search::shrink::Asker;
use crate::search::{Budget, Limit};
use crate::value::ValueId;

/// Decides a stack. Tells also how many assignments were put to the monitor.
pub fn decide(problem: &Problem, algorithm: StackAlgorithm, budget: &Budget) -> (Paired, u64) {
    match Search::new(problem, algorithm, budget) {
        Ok(mut search) => {
            let paired = search.run();
            (paired, search.checked)
        }
        Err(stopped) => (stopped, 0),
    }
}

/// How many choices of one operation are kept apart by clauses from the beginning; where there are more, once two of them have been made.
const FEW: usize = 12;
/// How many conflicts are collected from one assignment, besides those of two values.
const COLLECTED: usize = 16;
/// The most choices, and the most bytes that one takes, roughly.
const CHOICES: usize = 20_000_000;
const BYTES: u64 = 64;

/// A push that a pop may take.
#[derive(Clone, Copy)]
struct Choice {
    pop: Taker,
    literal: Literal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taker {
    /// A pop that returned a value.
    Pop(u32),
    /// A pop that never returned.
    Lost(u32),
}

struct Search<'a> {
    problem: &'a Problem,
    algorithm: StackAlgorithm,
    budget: &'a Budget,
    solver: Solver,
    choices: Vec<Choice>,
    /// The choices of each push, each pop and each lost pop.
    of_push: Vec<Vec<u32>>,
    of_pop: Vec<Vec<u32>>,
    of_lost: Vec<Vec<u32>>,
    /// How many of the lost pops each push has choices for.
    lost_known: Vec<u32>,
    checked: u64,
}

/// A value with what put it where it is.
#[derive(Clone, Copy)]
struct Placed {
    val: Val,
    push: u32,
    /// The choice, if a pop takes it.
    choice: Option<u32>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, algorithm: StackAlgorithm, budget: &'a Budget) -> Result<Search<'a>, Paired> {
        let mut search = Search {
            problem,
            algorithm,
            budget,
            solver: Solver::new(budget),
            choices: Vec::new(),
            of_push: vec![Vec::new(); problem.inserts.len()],
            of_pop: vec![Vec::new(); problem.removes.len()],
            of_lost: vec![Vec::new(); problem.lost.len()],
            lost_known: vec![0; problem.inserts.len()],
            checked: 0,
        };
        let mut pushes: FxHashMap<ValueId, Vec<u32>> = FxHashMap::default();
        for (at, push) in problem.inserts.iter().enumerate() {
            pushes.entry(push.value).or_default().push(at as u32);
        }
        pushes.values_mut().for_each(|list| list.sort_unstable_by_key(|&at| problem.inserts[at as usize].call));
        let balance = Balance::new(problem);
        for (at, pop) in problem.removes.iter().enumerate() {
            let same = pushes.get(&pop.value).map_or(&[][..], Vec::as_slice);
            let called = same.partition_point(|&push| problem.inserts[push as usize].call < pop.ret);
            let alone = called == 1;
            for &push in &same[..called] {
                if alone || balance.allows(&problem.inserts[push as usize], pop) {
                    search.offer(push, Taker::Pop(at as u32));
                }
            }
            if search.of_pop[at].is_empty() {
                return Err(Paired::Fails(Some(pop.op)));
            }
            if search.choices.len() > CHOICES.min((budget.bytes / BYTES) as usize) {
                return Err(Paired::Limit(Limit::Memory));
            }
            // The last one, what was pushed latest, is what the solver takes first: it tries the others false.
            let all: Vec<Literal> = search.literals(&search.of_pop[at]).collect();
            search.solver.add(&all);
        }
        Ok(search)
    }

    fn literals<'s>(&'s self, choices: &'s [u32]) -> impl Iterator<Item = Literal> + 's {
        choices.iter().map(|&choice| self.choices[choice as usize].literal)
    }

    /// Lets a pop take a push.
    fn offer(&mut self, push: u32, pop: Taker) {
        let literal = self.solver.variable();
        let number = self.choices.len() as u32;
        self.choices.push(Choice { pop, literal });
        let takes = match pop {
            Taker::Pop(pop) => &mut self.of_pop[pop as usize],
            Taker::Lost(pop) => &mut self.of_lost[pop as usize],
        };
        for others in [takes, &mut self.of_push[push as usize]] {
            if others.len() < FEW {
                for &other in others.iter() {
                    self.solver.add(&[!literal, !self.choices[other as usize].literal]);
                }
            }
            others.push(number);
        }
    }

    fn limit(&self) -> Option<Limit> {
        if self.checked > self.budget.configurations {
            return Some(Limit::Configurations);
        }
        self.budget.deadline.filter(|end| Instant::now() >= *end).map(|_| Limit::Time)
    }

    fn run(&mut self) -> Paired {
        loop {
            match self.solver.solve() {
                Solved::Unsatisfiable => return Paired::Fails(None),
                Solved::Stopped(limit) => return Paired::Limit(limit),
                Solved::Satisfiable => {}
            }
            let chosen: Vec<bool> = self.choices.iter().map(|choice| self.solver.value(choice.literal)).collect();
            if self.taken_twice(&chosen) {
                continue;
            }
            let placed = self.placed(&chosen);
            if self.pairs_in_the_way(&placed) {
                continue;
            }
            if let Some(order) = self.check(placed) {
                return Paired::Order(order);
            }
            if let Some(limit) = self.limit() {
                return Paired::Limit(limit);
            }
        }
    }

    /// Keeps apart choices that exclude each other and were made all the same.
    fn taken_twice(&mut self, chosen: &[bool]) -> bool {
        let mut clauses: Vec<[Literal; 2]> = Vec::new();
        for list in self.of_push.iter().chain(&self.of_pop).chain(&self.of_lost).filter(|list| list.len() > FEW) {
            let mut made = list.iter().filter(|&&choice| chosen[choice as usize]);
            if let Some(&first) = made.next() {
                clauses.extend(
                    made.map(|&other| [!self.choices[first as usize].literal, !self.choices[other as usize].literal]),
                );
            }
        }
        clauses.iter().for_each(|clause| self.solver.add(clause));
        !clauses.is_empty()
    }

    /// The values with their times, as the choices have it.
    fn placed(&self, chosen: &[bool]) -> Vec<Placed> {
        let mut placed = Vec::with_capacity(self.problem.inserts.len());
        for (push, item) in self.problem.inserts.iter().enumerate() {
            let choice = self.of_push[push].iter().copied().find(|&choice| chosen[choice as usize]);
            let left = Val { insert: item.op, remove: None, pc: item.call, pr: item.ret, oc: Ts::END, or: Ts::INF };
            let val = match choice.map(|choice| self.choices[choice as usize].pop) {
                Some(Taker::Pop(pop)) => {
                    let pop = &self.problem.removes[pop as usize];
                    Val { remove: Some(pop.op), oc: pop.call, or: pop.ret, ..left }
                }
                Some(Taker::Lost(pop)) => {
                    let (call, op) = self.problem.lost[pop as usize];
                    Val { remove: Some(op), oc: call, ..left }
                }
                // Nobody knows whether it was pushed, and nobody took it.
                None if item.ret == Ts::INF => continue,
                None => left,
            };
            placed.push(Placed { val, push: push as u32, choice });
        }
        placed
    }

    /// Adds a clause for every value that is in the way of another one; whether there is one.
    fn pairs_in_the_way(&mut self, placed: &[Placed]) -> bool {
        self.checked += 1;
        let vals: Vec<Val> = placed.iter().map(|placed| placed.val).filter(|val| !val.overlaps()).collect();
        let places: Vec<usize> = (0..placed.len()).filter(|&at| !placed[at].val.overlaps()).collect();
        let lower_of = stack::thresholds(&vals, &vals);
        let mut found = false;
        for (upper, lower) in lower_of.into_iter().enumerate() {
            let Some(lower) = lower else { continue };
            if vals[lower as usize].or < vals[upper].oc {
                let by = vals[lower as usize].or;
                self.forbid(&[placed[places[lower as usize]], placed[places[upper]]], by);
                found = true;
            }
        }
        found
    }

    /// The linearization of an assignment; if there is none, clauses that say why.
    fn check(&mut self, mut placed: Vec<Placed>) -> Option<Vec<crate::history::OpId>> {
        let mut empties = self.problem.empties.clone();
        for conflict in 0..COLLECTED {
            let vals: Vec<Val> = placed.iter().map(|placed| placed.val).collect();
            self.checked += u64::from(conflict > 0);
            let (core, by) = match stack::linearize(&vals, &empties, self.algorithm) {
                Ok(order) => return (conflict == 0).then_some(order),
                Err(StackFailure::Stuck(stuck)) => (self.smallest(&vals, stuck), Ts::INF),
                Err(StackFailure::Empty(empty)) => {
                    let covering = cover(&vals, &empty).unwrap_or_default();
                    let core =
                        covering.iter().filter_map(|val| vals.iter().position(|other| other.insert == val.insert));
                    empties.retain(|other| other.op != empty.op);
                    (core.collect(), empty.ret)
                }
            };
            self.forbid(&core.iter().map(|&at| placed[at]).collect::<Vec<_>>(), by);
            // What else is wrong shows without these.
            let gone: Vec<u32> = core.iter().map(|&at| placed[at].push).collect();
            placed.retain(|placed| !gone.contains(&placed.push));
        }
        None
    }

    /// The fewest of some stuck values that are stuck.
    fn smallest(&mut self, vals: &[Val], stuck: Vec<u32>) -> Vec<usize> {
        let mut checked = 0;
        let mut asker = Asker::new(|set: &[u32]| {
            checked += 1;
            if self.budget.deadline.is_some_and(|end| Instant::now() >= end) {
                return None;
            }
            let few: Vec<Val> = set.iter().map(|&at| vals[at as usize]).collect();
            Some(stack::linearize(&few, &[], self.algorithm).is_err())
        });
        let core = asker.minimal(stuck);
        self.checked += checked;
        core.into_iter().map(|at| at as usize).collect()
    }

    /// These values cannot stand together: one of them must be taken by another pop. For those that nobody took, one called before `by`.
    fn forbid(&mut self, core: &[Placed], by: Ts) {
        let mut clause = Vec::with_capacity(core.len());
        for placed in core {
            match placed.choice {
                Some(choice) => clause.push(!self.choices[choice as usize].literal),
                None => {
                    self.offer_lost(placed.push, by);
                    let takers = self.of_push[placed.push as usize].iter().filter(|&&choice| {
                        let called = match self.choices[choice as usize].pop {
                            Taker::Pop(pop) => self.problem.removes[pop as usize].call,
                            Taker::Lost(pop) => self.problem.lost[pop as usize].0,
                        };
                        called < by
                    });
                    clause.extend(takers.map(|&choice| self.choices[choice as usize].literal));
                }
            }
        }
        self.solver.add(&clause);
    }

    /// Lets the lost pops called before a moment take a push.
    fn offer_lost(&mut self, push: u32, by: Ts) {
        let known = self.lost_known[push as usize] as usize;
        let wanted = self.problem.lost.partition_point(|(call, _)| *call < by);
        for pop in known..wanted.max(known) {
            self.offer(push, Taker::Lost(pop as u32));
        }
        self.lost_known[push as usize] = wanted.max(known) as u32;
    }
}

/// How often each of a few groups of values had been pushed and popped by every moment.
struct Balance {
    groups: usize,
    /// For each event, for each group: pushes called and returned, pops called and returned, before it.
    counts: Vec<[u32; 4]>,
    /// The events in order.
    times: Vec<Ts>,
    /// Pops nobody knows the result of.
    lost: i64,
}

impl Balance {
    /// The most groups that are told apart, and the most counts that are kept.
    const GROUPS: usize = 32;
    const COUNTS: usize = 1 << 23;

    fn new(problem: &Problem) -> Balance {
        let events = 2 * (problem.inserts.len() + problem.removes.len());
        let groups = (Balance::COUNTS / (events + 1)).clamp(1, Balance::GROUPS);
        let mut changes: Vec<(Ts, usize, usize)> = Vec::with_capacity(events);
        for (items, what) in [(&problem.inserts, 0), (&problem.removes, 2)] {
            for item in items {
                let group = item.value.index() % groups;
                changes.push((item.call, group, what));
                if item.ret < Ts::INF {
                    changes.push((item.ret, group, what + 1));
                }
            }
        }
        changes.sort_unstable();
        let mut counts = vec![[0; 4]; groups];
        counts.reserve(changes.len() * groups);
        for (at, (_, group, what)) in changes.iter().enumerate() {
            counts.extend_from_within(at * groups..);
            counts[(at + 1) * groups + group][*what] += 1;
        }
        let times = changes.into_iter().map(|(time, ..)| time).collect();
        Balance { groups, counts, times, lost: problem.lost.len() as i64 }
    }

    fn before(&self, time: Ts) -> &[[u32; 4]] {
        let at = self.times.partition_point(|other| *other < time);
        &self.counts[at * self.groups..(at + 1) * self.groups]
    }

    /// Whether counting lets a pop take a push.
    fn allows(&self, push: &Item, pop: &Item) -> bool {
        if pop.call < push.ret {
            return true;
        }
        let [called, pushed, popping, popped] = [push.call, push.ret, pop.call, pop.ret].map(|time| self.before(time));
        (0..self.groups).all(|group| {
            let count = |at: &[[u32; 4]], what: usize| i64::from(at[group][what]);
            // Pushed in between for certain, and what may pop it before the pair ends.
            let pushes_inside = count(popping, 1) - count(pushed, 0);
            let pops_for_them = count(popped, 2) - count(pushed, 3) + self.lost;
            // Popped in between for certain, and what may have been pushed for it after the pair began.
            let pops_inside = count(popping, 3) - count(pushed, 2);
            let pushes_for_them = count(popping, 0) - count(called, 1);
            pushes_inside <= pops_for_them && pops_inside <= pushes_for_them
        })
    }
}
