//! Liveness: does every fair run of a program end, does every thread that waits get on?
//!
//! A run that goes on for ever in a program with finitely many states comes back to a state, so what is looked for is a *lasso*: a stem and a loop that can be repeated for ever. Not every loop
//! counts. A scheduler that never lets somebody move who could proves nothing about the program, so the loop has to be [fair](fairness).
//!
//! *Loops that wait stay loops.* Engines that look at executions turn `while (!ready) {}` into a wait, since turns without effect make no difference to safety. Here they are the question. The program
//! is compiled as it is written: a thread that spins *can move* and makes no progress, and a thread before an operation that blocks (a mutex, `load ... until`, a join) *cannot*. The difference shows under weak
//! fairness, which owes nothing to who cannot move now and then: a mutex that is free again and again may be taken by others each time. It does not show for one who spins: such a thread moves, which is all
//! that fairness between threads gives it.
//!
//! *Where runs end.* When all threads have finished or the program was ended; that is good. When nothing can move and somebody waits: a deadlock, which breaks every promise to get on. When an
//! assumption is false: then it was no run. When a property is broken: that is reported first, like by every engine, and no question is left to ask.
//!
//! *Steps of the answer.* All states, by the search of `reach` without any reduction, since leaving out orders of moves leaves out loops; then the moves between them, by whom
//! ([`graph`]); then the fair components of what is asked about ([`goal`]), by `fair::labelled`; a loop through one of them; and the machine, which runs stem and loop and judges both alone ([`lasso`]). That is all or nothing:
//! `holds` needs the whole graph.
//!
//! Cost: every state is looked at twice. Some 40 bytes per state and 6 per move beside what the search takes.
//!
//! Reading order: [`fairness`], [`running`], [`graph`], [`goal`], [`ltl`] (what can be asked in formulas), [`chance`] (where something is drawn), [`lasso`], [`strategy`], [`mod@decide`]; [`space`] for questions that others answer.

pub mod chance;
pub mod decide;
pub mod fairness;
pub mod goal;
pub mod graph;
pub mod lasso;
pub mod ltl;
pub mod running;
pub mod space;
pub mod strategy;

pub use decide::{BUFFER, Found, Settings, Verdict, decide};
pub use fairness::{Fairness, Strength, Unit};
pub use goal::Goal;
pub use lasso::Lasso;
pub use ltl::Ltl;
pub use strategy::Strategy;
