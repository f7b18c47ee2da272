//! Contradictions that are seen before anybody searches.
//!
//! Most contradictions between orders are short: two reads that would each have to come before the write that the other reads from, or a write that
//! would come between another one and the read that reads from that. They are found by looking at program order and at who may read from whom, and their negations are
//! clauses from the beginning (Telbisz 2024, chapter 5). Each clause is true in every execution, so that nothing is lost by finding some of them only.
//!
//! * (a) `w` is read by `r`, `v` by `s`, `r` comes at or before `v` and `s` at or before `w`.
//! * (b), (c) `w` is read by `r`, `v` is another write of the location, and there is a way from `w` to `v` and one from `v` to `r`, each in program order or through one more read. The source lists
//!   two patterns; both come to the same clause.
//!
//! Where this differs from Telbisz 2024: orders are those that hold in any case; reads that may find a store in the buffer of their own thread order nothing; one way between two events is looked for, not all; and nothing is said
//! where there are more than a few thousand pairs of a write and a read.

use super::encode::{Formula, Reach};
use super::graph::{INITIAL, Node};
use raddle_solve::Lit;
use rustc_hash::FxHashSet;

/// How many pairs of a write and a read are too many.
const MOST_PAIRS: usize = 3_000;
/// How many clauses are enough.
const MOST_CLAUSES: usize = 100_000;

/// A read that reads from a write if the literal holds.
#[derive(Clone, Copy)]
struct Pair {
    write: usize,
    read: usize,
    lit: Lit,
    /// Whether the write comes before the read then.
    orders: bool,
}

struct Finder<'f> {
    formula: &'f Formula,
    reach: &'f Reach,
    pairs: Vec<Pair>,
    clauses: FxHashSet<Vec<Lit>>,
}

/// How many clauses there are of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) crossing: u64,
    pub(super) between: u64,
}

/// Adds the clauses that are found.
pub(super) fn add_conflicts(formula: &mut Formula, reach: &Reach) -> Counts {
    let mut pairs = Vec::new();
    for read in &formula.reads {
        for &(write, lit) in &read.sources {
            let orders = !formula.own.contains(&(write, read.event));
            pairs.push(Pair { write, read: read.event, lit, orders });
        }
    }
    if pairs.len() > MOST_PAIRS {
        return Counts::default();
    }
    let mut finder = Finder { formula, reach, pairs, clauses: FxHashSet::default() };
    finder.crossing();
    let crossing = finder.clauses.len() as u64;
    finder.between();
    let mut clauses: Vec<Vec<Lit>> = finder.clauses.into_iter().collect();
    clauses.sort_unstable();
    for clause in &clauses {
        formula.solver.sat.add(clause);
    }
    Counts { crossing, between: clauses.len() as u64 - crossing }
}

impl Finder<'_> {
    fn node(&self, event: usize) -> Node {
        self.formula.events[event].node
    }

    /// Whether an event comes before another in any case; inside of a node by positions.
    fn is_before(&self, one: usize, other: usize) -> bool {
        one != other && self.reach.is_before((self.node(one), one), (self.node(other), other))
    }

    /// Whether the node of an event is that of another, or comes before it.
    fn is_at_or_before(&self, one: usize, other: usize) -> bool {
        let (a, b) = (self.node(one), self.node(other));
        a == b || self.reach.is_before((a, 0), (b, 0))
    }

    fn add(&mut self, mut reasons: Vec<Lit>) {
        reasons.retain(|&lit| lit != Lit::TRUE);
        let mut clause: Vec<Lit> = reasons.into_iter().map(|lit| !lit).collect();
        clause.sort_unstable();
        clause.dedup();
        self.clauses.insert(clause);
    }

    fn crossing(&mut self) {
        let across: Vec<Pair> = self
            .pairs
            .iter()
            .copied()
            .filter(|pair| pair.orders && self.node(pair.write) != self.node(pair.read))
            .collect();
        for (at, one) in across.iter().enumerate() {
            for other in &across[at + 1..] {
                if self.is_at_or_before(one.read, other.write) && self.is_at_or_before(other.read, one.write) {
                    self.add(vec![one.lit, other.lit]);
                    if self.clauses.len() >= MOST_CLAUSES {
                        return;
                    }
                }
            }
        }
    }

    fn between(&mut self) {
        for at in 0..self.pairs.len() {
            let Pair { write, read, lit, .. } = self.pairs[at];
            let location = self.formula.events[read].location;
            for &other in &self.formula.writes[&location] {
                // Nothing comes before what memory holds at first.
                if other == write || self.node(other) == INITIAL {
                    continue;
                }
                let Some(there) = self.way(write, other) else { continue };
                let hides = self.formula.own.contains(&(other, read)).then_some(Lit::TRUE);
                let Some(back) = hides.or_else(|| self.way(other, read)) else { continue };
                // A pair that is read says that its write is done.
                let ends = |lit: Lit| self.pairs.iter().any(|pair| pair.lit == lit && pair.write == other);
                let done = if ends(there) || ends(back) { Lit::TRUE } else { self.formula.guards[other] };
                self.add(vec![lit, done, there, back]);
                if self.clauses.len() >= MOST_CLAUSES {
                    return;
                }
            }
        }
    }

    /// Under which literal an event comes before another: in any case, or because of one read.
    fn way(&self, one: usize, other: usize) -> Option<Lit> {
        if self.is_before(one, other) {
            return Some(Lit::TRUE);
        }
        if self.node(one) == self.node(other) {
            return None;
        }
        let leads = |pair: &&Pair| {
            pair.orders
                && self.node(pair.write) != self.node(pair.read)
                && self.is_at_or_before(one, pair.write)
                && self.is_at_or_before(pair.read, other)
        };
        self.pairs.iter().find(leads).map(|pair| pair.lit)
    }
}
