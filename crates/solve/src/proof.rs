//! Every answer "there is no model" checked.
//!
//! CaDiCaL tells, step by step, which clause it derives from which ones (LRAT; Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp 2017). The checker here knows none of its techniques: a step is right if,
//! with all literals of the new clause false, each of the clauses it rests on in turn leaves one literal that must hold, and the last one leaves none. A clause to begin with has to be one that was given, or a
//! lemma on orders, which is derived again from what literals mean (`retrace`). In the end the clause must be there that says so: the empty one, or one of negated assumptions.
//!
//! What is not checked is that the clauses that were given say what was meant.
//!
//! A step is checked when it is told; nothing is kept of clauses that were deleted. Steps that only preserve that there is a model (RAT) are refused: what makes them is switched off.

use crate::orders::Orders;
use crate::retrace;
use crate::sat::Lit;
use cadical_sys::ProofTracer;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Answers "there is no model".
    pub answers: u64,
    /// Derived clauses.
    pub steps: u64,
    /// Lemmas on orders.
    pub lemmas: u64,
}

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// Follows a proof.
#[derive(Default)]
pub(crate) struct Checker {
    /// The clauses that may be there from the beginning, sorted.
    given: FxHashSet<Vec<i32>>,
    clauses: FxHashMap<i64, Vec<i32>>,
    /// Clauses that were taken out and may come back.
    weakened: FxHashMap<i64, Vec<i32>>,
    /// By variable, while a step is checked: 1 if it holds, -1 if not.
    values: Vec<i8>,
    concluded: Option<Vec<i64>>,
    checked: Checked,
    wrong: Option<Wrong>,
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("checked", &self.checked).field("wrong", &self.wrong).finish_non_exhaustive()
    }
}

fn sorted(clause: &[i32]) -> Vec<i32> {
    let mut clause = clause.to_vec();
    clause.sort_unstable();
    clause.dedup();
    clause
}

impl Checker {
    /// A clause is given.
    pub(crate) fn give(&mut self, clause: impl IntoIterator<Item = Lit>) {
        let clause: Vec<i32> = clause.into_iter().map(|lit| lit.0).collect();
        self.given.insert(sorted(&clause));
    }

    /// A clause is said to follow from what literals mean for orders.
    pub(crate) fn lemma(&mut self, orders: &Orders, clause: &[Lit]) {
        self.checked.lemmas += 1;
        let reasons: Vec<Lit> = clause.iter().map(|&lit| !lit).collect();
        if retrace::contradict(orders, &reasons) {
            self.give(clause.iter().copied());
        } else {
            self.fail(format!("no contradiction of orders follows from {reasons:?}"));
        }
    }

    fn fail(&mut self, why: String) {
        self.wrong.get_or_insert(Wrong(why));
    }

    /// The last answer was that there is no model in which these literals hold.
    pub(crate) fn conclude(&mut self, assumptions: &[Lit]) -> Result<Checked, Wrong> {
        let ids = self.concluded.take();
        let denied: FxHashSet<i32> = assumptions.iter().map(|lit| -lit.0).collect();
        let ends = |id: &i64| self.clauses.get(id).is_some_and(|clause| clause.iter().all(|lit| denied.contains(lit)));
        if !ids.is_some_and(|ids| ids.iter().any(ends)) {
            self.fail("the proof does not end in a clause of negated assumptions".into());
        }
        self.checked.answers += 1;
        match &self.wrong {
            Some(wrong) => Err(wrong.clone()),
            None => Ok(self.checked),
        }
    }

    fn value(&mut self, lit: i32) -> &mut i8 {
        let var = lit.unsigned_abs() as usize;
        if var >= self.values.len() {
            self.values.resize(var + 1, 0);
        }
        &mut self.values[var]
    }

    fn derive(&mut self, id: i64, clause: &[i32], antecedents: &[i64]) {
        self.checked.steps += 1;
        if !self.follows(clause, antecedents) {
            self.fail(format!("clause {id} does not follow from the clauses it is said to rest on"));
        }
        self.clauses.insert(id, clause.to_vec());
    }

    /// Whether the clauses lead to a contradiction, one after the other, if all literals of this one are false.
    fn follows(&mut self, clause: &[i32], antecedents: &[i64]) -> bool {
        let mut set: Vec<i32> = Vec::new();
        let mut contradiction = false;
        for &lit in clause {
            let sign = -lit.signum() as i8;
            let value = self.value(lit);
            contradiction |= *value == -sign;
            *value = sign;
            set.push(lit);
        }
        for id in antecedents {
            if contradiction {
                break;
            }
            let Some(reason) = self.clauses.get(id) else { break };
            let values = &self.values;
            let value =
                |lit: i32| values.get(lit.unsigned_abs() as usize).map_or(0, |&value| i32::from(value) * lit.signum());
            let mut open = reason.iter().copied().filter(|&lit| value(lit) != -1);
            match (open.next(), open.next()) {
                (None, _) => contradiction = true,
                (Some(unit), None) if value(unit) == 0 => {
                    *self.value(unit) = unit.signum() as i8;
                    set.push(unit);
                }
                // It says nothing.
                _ => break,
            }
        }
        for lit in set {
            *self.value(lit) = 0;
        }
        contradiction
    }
}

impl ProofTracer for Checker {
    fn add_original_clause(&mut self, id: i64, _: bool, clause: &[i32], restored: bool) {
        let known = if restored {
            self.weakened.get(&id).is_some_and(|before| sorted(before) == sorted(clause))
        } else {
            self.given.contains(&sorted(clause))
        };
        if !known {
            self.fail(format!("clause {id}, {clause:?}, was not given"));
        }
        self.clauses.insert(id, clause.to_vec());
    }

    fn add_derived_clause(&mut self, id: i64, _: bool, witness: i32, clause: &[i32], antecedents: &[i64]) {
        if witness != 0 {
            self.fail(format!("clause {id} does not follow, it only does no harm"));
        }
        self.derive(id, clause, antecedents);
    }

    fn delete_clause(&mut self, id: i64, _: bool, _: &[i32]) {
        self.clauses.remove(&id);
    }

    fn weaken_minus(&mut self, id: i64, _: &[i32]) {
        if let Some(clause) = self.clauses.get(&id) {
            self.weakened.insert(id, clause.clone());
        }
    }

    fn strengthen(&mut self, _: i64) {}

    fn finalize_clause(&mut self, _: i64, _: &[i32]) {}

    fn add_assumption(&mut self, _: i32) {}

    fn add_constraint(&mut self, _: &[i32]) {}

    fn reset_assumptions(&mut self) {}

    fn add_assumption_clause(&mut self, id: i64, clause: &[i32], antecedents: &[i64]) {
        self.derive(id, clause, antecedents);
    }

    fn conclude_sat(&mut self, _: i32, _: &[i32]) {}

    fn conclude_unsat(&mut self, _: i32, ids: &[i64]) {
        self.concluded = Some(ids.to_vec());
    }

    fn conclude_unknown(&mut self, _: &[i32]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::{Event, NodeId};

    fn checker() -> Checker {
        let mut checker = Checker::default();
        for (id, clause) in (1..).zip([&[1, 2][..], &[1, -2], &[-1, 2], &[-1, -2]]) {
            checker.given.insert(sorted(clause));
            checker.add_original_clause(id, false, clause, false);
        }
        checker
    }

    #[test]
    fn a_proof_is_followed_to_its_end() {
        let mut checker = checker();
        checker.add_derived_clause(5, false, 0, &[1], &[1, 2]);
        checker.add_derived_clause(6, false, 0, &[], &[5, 3, 4]);
        checker.conclude_unsat(1, &[6]);
        assert_eq!(checker.conclude(&[]), Ok(Checked { answers: 1, steps: 2, lemmas: 0 }));
    }

    #[test]
    fn what_does_not_follow_is_seen() {
        let wrong = |tell: fn(&mut Checker)| {
            let mut checker = checker();
            tell(&mut checker);
            checker.conclude(&[]).is_err()
        };
        assert!(wrong(|checker| checker.conclude_unsat(1, &[1])), "it ends in a clause that is no end");
        assert!(wrong(|checker| {
            checker.add_derived_clause(5, false, 0, &[], &[1, 2]);
            checker.conclude_unsat(1, &[5]);
        }));
        assert!(wrong(|checker| {
            checker.add_original_clause(5, false, &[], false);
            checker.conclude_unsat(1, &[5]);
        }));
        assert!(wrong(|checker| {
            checker.add_derived_clause(5, false, 3, &[3], &[]);
            checker.add_derived_clause(6, false, 0, &[1], &[1, 2]);
            checker.add_derived_clause(7, false, 0, &[], &[6, 3, 4]);
            checker.conclude_unsat(1, &[7]);
        }));
    }

    #[test]
    fn a_lemma_is_derived_again() {
        let event = |node| Event { node: NodeId(node), position: node, location: 0 };
        let mut orders = Orders::new(3, vec![event(0), event(1), event(2)]);
        let (one, other) = (Lit(2), Lit(3));
        orders.edge(Lit::TRUE, NodeId(0), NodeId(1));
        orders.edge(one, NodeId(1), NodeId(2));
        orders.edge(other, NodeId(2), NodeId(0));
        let fine = |lemma: &[Lit]| {
            let mut checker = checker();
            checker.lemma(&orders, lemma);
            checker.wrong.is_none()
        };
        assert!(fine(&[!one, !other]));
        assert!(!fine(&[!one]));
        assert!(!fine(&[one, other]));
    }

    #[test]
    fn the_end_may_deny_assumptions_only() {
        let end = |assumptions: &[Lit]| {
            let mut checker = checker();
            checker.add_assumption_clause(5, &[1], &[1, 2]);
            checker.conclude_unsat(2, &[5]);
            checker.conclude(assumptions).is_ok()
        };
        assert!(end(&[Lit(-1)]));
        assert!(!end(&[Lit(1)]));
        assert!(!end(&[]));
    }
}
