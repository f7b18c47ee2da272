//! Terms and clauses together.

use crate::blast::Circuits;
use crate::eval::eval;
use crate::sat::{Answer, Lit, Sat, Stop};
use crate::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Terms, the clauses that they have become, and what was asked of them.
#[derive(Debug)]
pub struct Solver {
    /// The clauses.
    pub sat: Sat,
    circuits: Circuits,
}

impl Solver {
    /// Nothing is asked for. It stops when `stop` is raised.
    pub fn new(stop: Stop) -> Self {
        Solver { sat: Sat::new(stop), circuits: Circuits::default() }
    }

    /// The same; whenever there is no model, the proof is checked ([`Sat::certificate`]).
    pub fn certified(stop: Stop) -> Self {
        Solver { sat: Sat::certified(stop), circuits: Circuits::default() }
    }

    /// The literal of a truth value.
    pub fn lit(&mut self, terms: &Terms, term: Term) -> Lit {
        debug_assert_eq!(terms.width(term), 1, "a truth value");
        self.circuits.make(&mut self.sat, terms, term)[0]
    }

    /// The literals of a term, the lowest bit first.
    pub fn bits(&mut self, terms: &Terms, term: Term) -> Vec<Lit> {
        self.circuits.make(&mut self.sat, terms, term)
    }

    /// The term holds from now on.
    pub fn assert(&mut self, terms: &Terms, term: Term) {
        if let Node::And(a, b) = terms.node(term) {
            self.assert(terms, a);
            self.assert(terms, b);
            return;
        }
        let lit = self.lit(terms, term);
        self.sat.add(&[lit]);
    }

    /// From now on two terms are equal if all of `conditions` hold.
    pub fn equal_if(&mut self, terms: &Terms, conditions: &[Lit], a: Term, b: Term) {
        let (a, b) = (self.bits(terms, a), self.bits(terms, b));
        let unless: Vec<Lit> = conditions.iter().map(|&lit| !lit).collect();
        for (a, b) in a.into_iter().zip(b).filter(|(a, b)| a != b) {
            for pair in [[!a, b], [a, !b]] {
                let clause: Vec<Lit> = unless.iter().copied().chain(pair).collect();
                self.sat.add(&clause);
            }
        }
    }

    /// Whether all that was asserted can hold together with these literals.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        self.sat.solve(assumptions)
    }

    /// The value of a term in the model. Only behind [`Answer::Sat`], as long as nothing was added.
    pub fn value(&mut self, terms: &Terms, term: Term) -> u64 {
        if let Some(bits) = self.circuits.get(terms, term) {
            let bits = bits.to_vec();
            return self.number(&bits);
        }
        // No circuit was needed for it, so it is computed from the variables below it; those without a circuit may be anything.
        let mut vars: FxHashMap<Term, u64> = FxHashMap::default();
        let mut todo = vec![term];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if matches!(terms.node(term), Node::Var(_))
                && let Some(bits) = self.circuits.get(terms, term)
            {
                let bits = bits.to_vec();
                vars.insert(term, self.number(&bits));
            }
            terms.for_each_operand(term, |operand| todo.push(operand));
        }
        eval(terms, &vars, term)
    }

    fn number(&mut self, bits: &[Lit]) -> u64 {
        bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(self.sat.holds(bit)))
    }
}
