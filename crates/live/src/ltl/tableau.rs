//! From a formula to an automaton that accepts the words of which it is true.
//!
//! The tableau of Gerth, Peled, Vardi and Wolper (1995). A state is a set of formulas that are promised now and a set that are promised for the next letter. Expanding a promise leads to smaller ones:
//! `p U q` is q now, or p now and itself next; a disjunction splits the state. What is left now are literals, which say which letters the state reads. States with the same promises are one. A run
//! is accepted if no `p U q` is put off for ever: for each of them, states that do not promise it or have q come again and again (generalised Büchi).
//!
//! Deviation: promises are taken in the order of their numbers, so that the automaton is the same in every process. Cost: exponential in the length of the formula, in the worst case; [`MOST`] states are the limit.

use super::atoms::Letter;
use super::formula::Formula;
use std::collections::{BTreeMap, BTreeSet};

/// More states are not made.
pub const MOST: usize = 1_000;

/// An automaton on infinite words, with letters on states.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The states.
    pub states: Vec<Reads>,
    /// Where it begins.
    pub initial: Vec<u32>,
    /// Sets of states, of each of which one has to come again and again.
    pub accepting: Vec<Vec<bool>>,
}

/// A state: the letters that it reads, and what follows.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// These conditions have to be true.
    pub yes: Letter,
    /// These have to be false.
    pub no: Letter,
    /// The next states.
    pub next: Vec<u32>,
}

impl Reads {
    /// Whether it reads this letter.
    pub fn takes(&self, letter: Letter) -> bool {
        letter & self.yes == self.yes && letter & self.no == 0
    }
}

/// A formula in negation normal form, by number.
type Id = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Normal {
    True,
    False,
    Literal(usize, bool),
    And(Id, Id),
    Or(Id, Id),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

#[derive(Default)]
struct Formulas {
    list: Vec<Normal>,
    numbers: BTreeMap<Normal, Id>,
}

impl Formulas {
    fn add(&mut self, one: Normal) -> Id {
        *self.numbers.entry(one).or_insert_with(|| {
            self.list.push(one);
            self.list.len() as Id - 1
        })
    }

    /// The formula, or its negation, with negations at conditions only.
    fn normal(&mut self, formula: &Formula, negated: bool) -> Id {
        let one = match formula {
            Formula::True if negated => Normal::False,
            Formula::True => Normal::True,
            Formula::Atom(number) => Normal::Literal(*number, !negated),
            Formula::Not(inner) => return self.normal(inner, !negated),
            Formula::Next(inner) => Normal::Next(self.normal(inner, negated)),
            Formula::And(left, right) => {
                let (left, right) = (self.normal(left, negated), self.normal(right, negated));
                if negated { Normal::Or(left, right) } else { Normal::And(left, right) }
            }
            Formula::Until(left, right) => {
                let (left, right) = (self.normal(left, negated), self.normal(right, negated));
                if negated { Normal::Release(left, right) } else { Normal::Until(left, right) }
            }
        };
        self.add(one)
    }
}

/// A state that is being made.
#[derive(Clone, Debug, Default)]
struct Node {
    new: BTreeSet<Id>,
    old: BTreeSet<Id>,
    next: BTreeSet<Id>,
}

/// Promises for the next letter, split into states that are made of them: what is promised now and next.
type Made = Vec<(BTreeSet<Id>, BTreeSet<Id>)>;

/// The automaton of a formula; `None` if it has too many states.
pub fn automaton(formula: &Formula) -> Option<Automaton> {
    let mut formulas = Formulas::default();
    let whole = formulas.normal(formula, false);
    let mut numbers: BTreeMap<(BTreeSet<Id>, BTreeSet<Id>), u32> = BTreeMap::new();
    let mut list: Made = Vec::new();
    // What a set of promises is made into.
    let mut known: BTreeMap<BTreeSet<Id>, Vec<u32>> = BTreeMap::new();
    let mut meet = |promises: &BTreeSet<Id>, list: &mut Made| -> Option<Vec<u32>> {
        if let Some(states) = known.get(promises) {
            return Some(states.clone());
        }
        let mut states = Vec::new();
        for made in split(&formulas.list, promises)? {
            let number = *numbers.entry(made.clone()).or_insert_with(|| {
                list.push(made);
                list.len() as u32 - 1
            });
            states.push(number);
        }
        states.sort_unstable();
        states.dedup();
        known.insert(promises.clone(), states.clone());
        Some(states)
    };
    let initial = meet(&BTreeSet::from([whole]), &mut list)?;
    let mut states: Vec<Reads> = Vec::new();
    while states.len() < list.len() {
        let (old, next) = list[states.len()].clone();
        let mut reads = Reads { next: meet(&next, &mut list)?, ..Reads::default() };
        for &id in &old {
            match formulas.list[id as usize] {
                Normal::Literal(number, true) => reads.yes |= 1 << number,
                Normal::Literal(number, false) => reads.no |= 1 << number,
                _ => {}
            }
        }
        states.push(reads);
        if list.len() > MOST {
            return None;
        }
    }
    let untils = formulas.list.iter().enumerate().filter_map(|(id, one)| match one {
        Normal::Until(_, right) => Some((id as Id, *right)),
        _ => None,
    });
    let accepting = untils
        .map(|(until, right)| list.iter().map(|(old, _)| !old.contains(&until) || old.contains(&right)).collect())
        .collect();
    Some(Automaton { states, initial, accepting })
}

/// The states that keep all of these promises; `None` if they are too many.
fn split(formulas: &[Normal], promises: &BTreeSet<Id>) -> Option<Made> {
    let mut made = Vec::new();
    let mut todo = vec![Node { new: promises.clone(), ..Node::default() }];
    while let Some(mut node) = todo.pop() {
        if made.len() + todo.len() > MOST {
            return None;
        }
        let Some(id) = node.new.pop_first() else {
            made.push((node.old, node.next));
            continue;
        };
        if !node.old.insert(id) {
            todo.push(node);
            continue;
        }
        let is_old = |id: Id| node.old.contains(&id);
        match formulas[id as usize] {
            Normal::True => todo.push(node),
            Normal::False => {}
            Normal::Literal(number, sign) => {
                let opposite = formulas.iter().position(|one| *one == Normal::Literal(number, !sign));
                if !opposite.is_some_and(|opposite| is_old(opposite as Id)) {
                    todo.push(node);
                }
            }
            Normal::And(left, right) => {
                node.new.extend([left, right]);
                todo.push(node);
            }
            Normal::Next(inner) => {
                node.next.insert(inner);
                todo.push(node);
            }
            Normal::Or(left, right) => {
                let mut other = node.clone();
                node.new.insert(left);
                other.new.insert(right);
                todo.extend([other, node]);
            }
            Normal::Until(left, right) => {
                let mut later = node.clone();
                later.new.insert(left);
                later.next.insert(id);
                node.new.insert(right);
                todo.extend([later, node]);
            }
            Normal::Release(left, right) => {
                let mut later = node.clone();
                later.new.insert(right);
                later.next.insert(id);
                node.new.extend([left, right]);
                todo.extend([later, node]);
            }
        }
    }
    Some(made)
}
