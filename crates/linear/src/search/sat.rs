//! Clauses, for searches that are choices with conflicts.
//!
//! The solver is batsat (Cruanes; after Een and Sorensson 2003): conflict-driven clause learning, to which clauses can be added between
//! calls. This gives it a deadline and a bound on memory. A variable is tried false first.

use std::cell::Cell;
use std::time::Instant;

use batsat::{Callbacks, ClauseKind, Lit, SolverInterface, SolverOpts, lbool};

use super::{Budget, Limit};

/// A variable or its negation.
pub type Literal = Lit;

/// What came of solving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solved {
    /// There is an assignment; [`Solver::value`] tells it.
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// A limit was reached.
    Stopped(Limit),
}

/// The bytes that a literal of a learned clause and a variable take, roughly.
const LITERAL: u64 = 8;
const VARIABLE: u64 = 64;

/// Watches the limits.
struct Watch {
    deadline: Option<Instant>,
    bytes: u64,
    held: u64,
    asked: Cell<u32>,
    reached: Cell<Option<Limit>>,
}

impl Callbacks for Watch {
    fn on_new_clause(&mut self, clause: &[Lit], _: ClauseKind) {
        self.held += LITERAL * clause.len() as u64;
    }

    fn on_delete_clause(&mut self, clause: &[Lit]) {
        self.held = self.held.saturating_sub(LITERAL * clause.len() as u64);
    }

    fn stop(&self) -> bool {
        self.asked.set(self.asked.get().wrapping_add(1));
        if self.held > self.bytes {
            self.reached.set(Some(Limit::Memory));
        } else if self.asked.get().is_multiple_of(256) && self.deadline.is_some_and(|end| Instant::now() >= end) {
            self.reached.set(Some(Limit::Time));
        }
        self.reached.get().is_some()
    }
}

/// Clauses over variables.
pub struct Solver(batsat::Solver<Watch>);

impl Solver {
    /// A solver without variables.
    pub fn new(budget: &Budget) -> Solver {
        let (asked, reached) = (Cell::new(0), Cell::new(None));
        let watch = Watch { deadline: budget.deadline, bytes: budget.bytes, held: 0, asked, reached };
        Solver(batsat::Solver::new(SolverOpts::default(), watch))
    }

    /// A new variable, as its positive literal.
    pub fn variable(&mut self) -> Literal {
        self.0.cb_mut().held += VARIABLE;
        Lit::new(self.0.new_var_default(), true)
    }

    /// Whether a literal is true in the assignment that was found.
    pub fn value(&self, literal: Literal) -> bool {
        self.0.value_lit(literal) == lbool::TRUE
    }

    /// Adds a clause: one of these is true.
    pub fn add(&mut self, literals: &[Literal]) {
        self.0.cb_mut().held += LITERAL * literals.len() as u64;
        self.0.add_clause_reuse(&mut literals.to_vec());
    }

    /// Looks for an assignment that makes every clause true.
    pub fn solve(&mut self) -> Solved {
        match self.0.solve_limited(&[]) {
            found if found == lbool::TRUE => Solved::Satisfiable,
            found if found == lbool::FALSE => Solved::Unsatisfiable,
            _ => Solved::Stopped(self.0.cb().reached.get().unwrap_or(Limit::Time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random clauses of three literals against trying all assignments, clauses coming in several goes.
    #[test]
    fn what_it_says_is_what_trying_all_assignments_says() {
        let mut seed = 12345u64;
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % bound
        };
        let (mut good, mut bad) = (0, 0);
        for _ in 0..400 {
            let variables = 3 + random(8);
            let mut solver = Solver::new(&Budget::default());
            let names: Vec<Literal> = (0..variables).map(|_| solver.variable()).collect();
            let mut clauses: Vec<Vec<Literal>> = Vec::new();
            for _ in 0..4 {
                for _ in 0..1 + random(2 * variables) {
                    let clause: Vec<Literal> = (0..1 + random(3))
                        .map(|_| if random(2) == 0 { names[random(variables)] } else { !names[random(variables)] })
                        .collect();
                    solver.add(&clause);
                    clauses.push(clause);
                }
                let satisfied = |assignment: u32| {
                    clauses.iter().all(|clause| {
                        clause.iter().any(|literal| (assignment >> literal.var().idx() & 1 == 1) == literal.sign())
                    })
                };
                let expected = (0..1u32 << variables).any(satisfied);
                match solver.solve() {
                    Solved::Satisfiable => {
                        assert!(expected);
                        assert!(clauses.iter().all(|clause| clause.iter().any(|literal| solver.value(*literal))));
                        good += 1;
                    }
                    other => {
                        assert_eq!((other, expected), (Solved::Unsatisfiable, false));
                        bad += 1;
                    }
                }
            }
        }
        assert!(good > 200 && bad > 200, "{good} {bad}");
    }
}
