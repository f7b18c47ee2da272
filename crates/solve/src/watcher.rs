//! Orders as a propagator of CaDiCaL.
//!
//! While CaDiCaL searches, the literals that it assigns are told to the [`Orders`], and a contradiction becomes a clause (variant `prop`); or nothing
//! is said until there is a complete assignment (`basic`). In either case a complete assignment is judged afresh, by orders that
//! know nothing of the search: that an assignment is accepted does not depend on what was heard in between, and every clause is true whatever was assigned.

use crate::orders::Orders;
use crate::proof::Checker;
use crate::sat::{Lit, Sat};
use cadical_sys::ExternalPropagator;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

struct Inner {
    /// What follows during the search; `None` if only complete assignments are looked at.
    search: Option<Orders>,
    judge: Orders,
    /// The literals that CaDiCaL has assigned, and where its levels begin among them.
    assigned: Vec<Lit>,
    levels: Vec<usize>,
    /// A clause to be handed over, the last literal first.
    clause: Option<Vec<i32>>,
    clauses: u64,
    models: u64,
    checker: Option<Rc<RefCell<Checker>>>,
}

/// Orders that watch a solver.
pub struct Watcher(Rc<RefCell<Inner>>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.0.borrow();
        f.debug_struct("Watcher")
            .field("clauses", &inner.clauses)
            .field("models", &inner.models)
            .finish_non_exhaustive()
    }
}

impl Watcher {
    /// From now on only those assignments satisfy the clauses for which there is an order. With `search`, contradictions are looked for during the search.
    pub fn new(sat: &mut Sat, orders: Orders, search: bool) -> Self {
        if orders.refuted {
            sat.add_lemma(&orders, &[]);
        }
        let mut literals: Vec<Lit> = orders.literals().collect();
        literals.sort_unstable();
        let inner = Rc::new(RefCell::new(Inner {
            search: search.then(|| orders.clone()),
            judge: orders,
            assigned: Vec::new(),
            levels: Vec::new(),
            clause: None,
            clauses: 0,
            models: 0,
            checker: sat.checker.clone(),
        }));
        sat.inner.connect_external_propagator(Propagator(inner.clone()));
        for lit in literals {
            sat.inner.add_observed_var(lit.0.abs());
        }
        Watcher(inner)
    }

    /// Says more about what literals mean. Only between searches.
    pub fn extend(&self, sat: &mut Sat, literals: &[Lit], mut say: impl FnMut(&mut Orders)) {
        let mut inner = self.0.borrow_mut();
        say(&mut inner.judge);
        let mut refuted = inner.judge.refuted;
        if let Some(search) = &mut inner.search {
            say(search);
            refuted |= search.refuted;
        }
        if refuted {
            sat.add_lemma(&inner.judge, &[]);
        }
        drop(inner);
        for lit in literals {
            sat.inner.add_observed_var(lit.0.abs());
        }
    }

    /// The orders as they follow from the last model.
    pub fn with_orders<T>(&self, look: impl FnOnce(&Orders) -> T) -> T {
        look(&self.0.borrow().judge)
    }

    /// How many clauses were handed over, and how many complete assignments were judged.
    pub fn counts(&self) -> (u64, u64) {
        let inner = self.0.borrow();
        (inner.clauses, inner.models)
    }
}

/// The clause that says that a contradiction is none, to be taken from its end.
fn clause(contradiction: &[Lit]) -> Vec<i32> {
    std::iter::once(0).chain(contradiction.iter().map(|&lit| -lit.0)).collect()
}

/// Derives a contradiction again, if proofs are checked.
fn check(checker: &Option<Rc<RefCell<Checker>>>, orders: &Orders, contradiction: &[Lit]) {
    if let Some(checker) = checker {
        let clause: Vec<Lit> = contradiction.iter().map(|&lit| !lit).collect();
        checker.borrow_mut().lemma(orders, &clause);
    }
}

impl Inner {
    /// Follows the assignment as far as it goes.
    fn follow(&mut self) {
        let Some(search) = &mut self.search else { return };
        while self.clause.is_none() && search.len() < self.assigned.len() {
            let lit = self.assigned[search.len()];
            if let Err(contradiction) = search.hold(lit) {
                self.clauses += 1;
                self.clause = Some(clause(&contradiction));
                check(&self.checker, search, &contradiction);
            }
        }
    }
}

/// What CaDiCaL calls.
struct Propagator(Rc<RefCell<Inner>>);

impl ExternalPropagator for Propagator {
    fn is_lazy(&mut self) -> bool {
        self.0.borrow().search.is_none()
    }

    fn notify_assignment(&mut self, lits: &[i32]) {
        self.0.borrow_mut().assigned.extend(lits.iter().map(|&lit| Lit(lit)));
    }

    fn notify_new_decision_level(&mut self) {
        let mut inner = self.0.borrow_mut();
        let here = inner.assigned.len();
        inner.levels.push(here);
    }

    fn notify_backtrack(&mut self, new_level: usize) {
        let mut inner = self.0.borrow_mut();
        let Some(&start) = inner.levels.get(new_level) else { return };
        inner.levels.truncate(new_level);
        inner.assigned.truncate(start);
        inner.clause = None;
        if let Some(search) = &mut inner.search {
            search.undo_to(start);
        }
    }

    fn cb_check_found_model(&mut self, model: &[i32]) -> bool {
        let mut inner = self.0.borrow_mut();
        inner.models += 1;
        inner.judge.undo_to(0);
        for &lit in model {
            if let Err(contradiction) = inner.judge.hold(Lit(lit)) {
                inner.clauses += 1;
                inner.clause = Some(clause(&contradiction));
                check(&inner.checker, &inner.judge, &contradiction);
                return false;
            }
        }
        true
    }

    fn cb_has_external_clause(&mut self, is_forgettable: &mut bool) -> bool {
        let mut inner = self.0.borrow_mut();
        *is_forgettable = false;
        inner.follow();
        inner.clause.is_some()
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        let mut inner = self.0.borrow_mut();
        let next = inner.clause.as_mut().and_then(Vec::pop).unwrap_or(0);
        if next == 0 {
            inner.clause = None;
        }
        next
    }
}
