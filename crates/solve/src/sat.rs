//! Clauses, and whether they can be satisfied: CaDiCaL behind a small face.
//!
//! `cadical-sys` was chosen because it builds with cargo alone and passes CaDiCaL's external propagator on, which `rustsat-cadical`
//! does not. Two of CaDiCaL's techniques are off: chronological backtracking, lest a propagator hears of assignments out of their order, and factoring, which makes variables of its own.
//!
//! A solver runs until somebody raises its [`Stop`], which can be done from another thread; it looks at it every few hundred steps.

use crate::orders::Orders;
use crate::proof::{Checked, Checker, Wrong};
use cadical_sys::{CaDiCal, Status, Terminator};
use std::cell::RefCell;
use std::fmt;
use std::ops::Not;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A literal: a variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub(crate) i32);

impl Lit {
    /// The literal that always holds, in every [`Sat`].
    pub const TRUE: Lit = Lit(1);
    /// The literal that never holds.
    pub const FALSE: Lit = Lit(-1);

    /// Whether it is one of the two literals whose value is known.
    pub const fn as_bool(self) -> Option<bool> {
        match self.0 {
            1 => Some(true),
            -1 => Some(false),
            _ => None,
        }
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(-self.0)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What a solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a model.
    Sat,
    /// There is none.
    Unsat,
    /// It was stopped.
    Unknown,
}

/// Tells solvers to stop, or to rest for a while, from wherever it is raised.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Signals>);

#[derive(Debug, Default)]
struct Signals {
    raised: AtomicBool,
    rests: AtomicBool,
    changing: Mutex<()>,
    goes_on: Condvar,
}

impl Stop {
    /// Nobody has raised it.
    pub fn new() -> Self {
        Stop::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.0.raised.store(true, Ordering::Relaxed);
        self.go_on();
    }

    /// Whoever asks next whether it is raised waits until [`Stop::go_on`].
    pub fn rest(&self) {
        self.0.rests.store(true, Ordering::Relaxed);
    }

    /// Nobody waits any longer.
    pub fn go_on(&self) {
        let _changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.rests.store(false, Ordering::Relaxed);
        self.0.goes_on.notify_all();
    }

    /// Whether somebody has raised it.
    pub fn is_raised(&self) -> bool {
        if self.0.rests.load(Ordering::Relaxed) {
            let mut changing = self.0.changing.lock().unwrap_or_else(PoisonError::into_inner);
            while self.0.rests.load(Ordering::Relaxed) {
                changing = self.0.goes_on.wait(changing).unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.0.raised.load(Ordering::Relaxed)
    }
}

impl Terminator for Stop {
    fn terminated(&mut self) -> bool {
        self.is_raised()
    }
}

/// A set of clauses.
pub struct Sat {
    pub(crate) inner: CaDiCal,
    vars: i32,
    clauses: u64,
    stop: Stop,
    pub(crate) checker: Option<Rc<RefCell<Checker>>>,
}

impl fmt::Debug for Sat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sat").field("vars", &self.vars).field("clauses", &self.clauses).finish_non_exhaustive()
    }
}

impl Sat {
    /// No clauses but that [`Lit::TRUE`] holds.
    pub fn new(stop: Stop) -> Self {
        Sat::with(stop, None)
    }

    /// The same; whenever there is no model, the proof is checked ([`Sat::certificate`]).
    pub fn certified(stop: Stop) -> Self {
        Sat::with(stop, Some(Rc::default()))
    }

    fn with(stop: Stop, checker: Option<Rc<RefCell<Checker>>>) -> Self {
        let mut inner = CaDiCal::new();
        for option in ["factor", "chrono"] {
            inner.set(option, 0);
        }
        if let Some(checker) = &checker {
            inner.connect_proof_tracer1(checker.clone(), true, false);
        }
        inner.connect_terminator(stop.clone());
        let mut sat = Sat { inner, vars: 0, clauses: 0, stop, checker };
        let yes = sat.var();
        if let Some(checker) = &sat.checker {
            checker.borrow_mut().give([yes]);
        }
        sat.inner.add(yes.0);
        sat.inner.add(0);
        sat
    }

    /// What was checked so far, the last answer, which was [`Answer::Unsat`] for these assumptions, included. `None` if proofs are not checked.
    ///
    /// # Errors
    /// If a proof is wrong.
    pub fn certificate(&mut self, assumptions: &[Lit]) -> Result<Option<Checked>, Wrong> {
        let Some(checker) = self.checker.clone() else { return Ok(None) };
        self.inner.conclude();
        let checked = checker.borrow_mut().conclude(assumptions);
        checked.map(Some)
    }

    /// Adds a clause that follows from what literals mean for these orders.
    pub fn add_lemma(&mut self, orders: &Orders, clause: &[Lit]) {
        if let Some(checker) = &self.checker {
            checker.borrow_mut().lemma(orders, clause);
        }
        self.add(clause);
    }

    /// A new variable.
    pub fn var(&mut self) -> Lit {
        self.vars += 1;
        Lit(self.vars)
    }

    /// Adds a clause.
    pub fn add(&mut self, clause: &[Lit]) {
        if clause.contains(&Lit::TRUE) {
            return;
        }
        self.clauses += 1;
        let open = || clause.iter().copied().filter(|&lit| lit != Lit::FALSE);
        if let Some(checker) = &self.checker {
            checker.borrow_mut().give(open());
        }
        open().for_each(|lit| self.inner.add(lit.0));
        self.inner.add(0);
    }

    /// How many variables and clauses there are.
    pub fn size(&self) -> (u64, u64) {
        (u64::from(self.vars.unsigned_abs()), self.clauses)
    }

    /// Whether the clauses can be satisfied so that these literals hold.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Answer {
        if self.stop.is_raised() {
            return Answer::Unknown;
        }
        for &lit in assumptions {
            self.inner.assume(lit.0);
        }
        match self.inner.solve() {
            Status::SATISFIABLE => Answer::Sat,
            Status::UNSATISFIABLE => Answer::Unsat,
            Status::UNKNOWN => Answer::Unknown,
        }
    }

    /// As [`Sat::solve`], but gives up after so many conflicts.
    pub fn solve_within(&mut self, assumptions: &[Lit], conflicts: u32) -> Answer {
        self.inner.limit("conflicts", i32::try_from(conflicts).unwrap_or(i32::MAX));
        self.solve(assumptions)
    }

    /// Whether somebody has told it to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_raised()
    }

    /// Whether the literal holds in the model. Only behind [`Answer::Sat`], as long as nothing was added.
    pub fn holds(&mut self, lit: Lit) -> bool {
        (self.inner.val(lit.0.abs()) > 0) == (lit.0 > 0)
    }

    /// Whether the last assumptions failed because of this one among others. Only behind [`Answer::Unsat`].
    pub fn failed(&mut self, assumption: Lit) -> bool {
        self.inner.failed(assumption.0)
    }
}
