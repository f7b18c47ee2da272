//! What is open, as clauses of two literals (Chalupa et al. 2018).
//!
//! For each pair of threads with something open, the events that are concerned make a grid; each of its pairs that is not
//! ordered is a variable, *a before b*. For an open rival: if it is before the read then it is before the source. For the order
//! to be transitive: if `a` is before `b`, then every `c` not after `a` is before every `d` not before `b`. It is enough to
//! say that of neighbours in the grid, and in each grid of the last `c` and the first `d`.
//!
//! The published clauses have `a` and `c`, or `b` and `d`, in one thread. That is enough where open edges meet in a hub. In a ring
//! of four threads with two open edges that do not meet it accepts cycles, so here `c` and `d` are of any threads (*composed*
//! clauses).

use super::Rivalry;
use super::two_sat::{Literal, TwoSat};
use crate::chains::Chains;
use crate::values::Problem;

/// Whether one event is before another.
#[derive(Clone, Copy, Debug)]
enum Truth {
    Known(bool),
    Open(Literal),
}

/// The events of two threads that are to be ordered against each other, and what is known of that.
#[derive(Debug)]
struct Grid {
    threads: [usize; 2],
    events: [Vec<u32>; 2],
    /// Row by row: whether the event of the first thread is before that of the second one.
    truths: Vec<Truth>,
}

impl Grid {
    /// Whether the `i`-th event of the one thread is before the `j`-th of the other one. `side` says which is the one.
    fn truth(&self, side: usize, i: usize, j: usize) -> Truth {
        let width = self.events[1].len();
        if side == 0 {
            return self.truths[i * width + j];
        }
        match self.truths[j * width + i] {
            Truth::Known(truth) => Truth::Known(!truth),
            Truth::Open(literal) => Truth::Open(!literal),
        }
    }
}

/// The chosen order has a cycle.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cyclic;

fn implies(sat: &mut TwoSat, a: Truth, b: Truth) {
    match (a, b) {
        (Truth::Known(false), _) | (_, Truth::Known(true)) => {}
        (Truth::Open(a), Truth::Open(b)) => sat.implies(a, b),
        (Truth::Open(a), Truth::Known(false)) => sat.holds(!a),
        (Truth::Known(true), Truth::Open(b)) => sat.holds(b),
        (Truth::Known(true), Truth::Known(false)) => unreachable!("the closure is an order"),
    }
}

/// Decides what is open. Returns whether that is possible.
pub(super) fn decide(problem: &Problem, order: &mut Chains, open: &[Rivalry]) -> Result<bool, Cyclic> {
    decide_between(problem, order, open, |_, _| true)
}

/// The same with the clauses as published, which are not enough.
#[cfg(test)]
pub(super) fn decide_as_published(problem: &Problem, order: &mut Chains, open: &[Rivalry]) -> Result<bool, Cyclic> {
    decide_between(problem, order, open, |[p, q], [r, s]| r == p || s == q)
}

/// Decides what is open, with clauses about two grids where `meet` of their threads is true.
fn decide_between(
    problem: &Problem,
    order: &mut Chains,
    open: &[Rivalry],
    meet: impl Fn([usize; 2], [usize; 2]) -> bool,
) -> Result<bool, Cyclic> {
    let mut sat = TwoSat::default();
    let grids = grids(problem, order, open, &mut sat);
    for grid in &grids {
        for side in 0..2 {
            transitivity(order, &grids, grid, side, &meet, &mut sat);
        }
    }
    for rivalry in open {
        let before_read = lookup(problem, &grids, rivalry.rival, rivalry.read);
        let before_source = lookup(problem, &grids, rivalry.rival, rivalry.source);
        implies(&mut sat, before_read, before_source);
    }
    let Some(solution) = sat.solve() else { return Ok(false) };
    for &Rivalry { read, source, rival } in open {
        let first = match lookup(problem, &grids, rival, source) {
            Truth::Known(truth) => truth,
            Truth::Open(literal) => solution.is_true(literal),
        };
        let (a, b) = if first { (rival, source) } else { (read, rival) };
        order.insert(a, b).ok_or(Cyclic)?;
    }
    Ok(true)
}

/// One grid for each pair of threads with something open.
fn grids(problem: &Problem, order: &Chains, open: &[Rivalry], sat: &mut TwoSat) -> Vec<Grid> {
    let mut grids: Vec<Grid> = Vec::new();
    for (a, b) in open.iter().flat_map(|rivalry| rivalry.pairs()) {
        let (a, b) = if problem.thread(a) < problem.thread(b) { (a, b) } else { (b, a) };
        let threads = [problem.thread(a), problem.thread(b)];
        match grids.iter_mut().find(|grid| grid.threads == threads) {
            Some(grid) => {
                grid.events[0].push(a);
                grid.events[1].push(b);
            }
            None => grids.push(Grid { threads, events: [vec![a], vec![b]], truths: Vec::new() }),
        }
    }
    for grid in &mut grids {
        for events in &mut grid.events {
            events.sort_unstable();
            events.dedup();
        }
        for &a in &grid.events[0] {
            for &b in &grid.events[1] {
                grid.truths.push(if order.before(a, b) {
                    Truth::Known(true)
                } else if order.before(b, a) {
                    Truth::Known(false)
                } else {
                    Truth::Open(sat.variable())
                });
            }
        }
    }
    grids
}

/// Whether `a` is before `b`. They are in some grid.
fn lookup(problem: &Problem, grids: &[Grid], a: u32, b: u32) -> Truth {
    let (p, q) = (problem.thread(a), problem.thread(b));
    let side = usize::from(p > q);
    let grid = grids.iter().find(|grid| grid.threads == [p.min(q), p.max(q)]).expect("what is open is in a grid");
    let position =
        |side: usize, event: u32| grid.events[side].binary_search(&event).expect("what is open is in a grid");
    grid.truth(side, position(side, a), position(1 - side, b))
}

/// What follows if an event on this side of the grid is before one on the other side.
fn transitivity(
    order: &Chains,
    grids: &[Grid],
    grid: &Grid,
    side: usize,
    meet: &impl Fn([usize; 2], [usize; 2]) -> bool,
    sat: &mut TwoSat,
) {
    let (from, to) = (&grid.events[side], &grid.events[1 - side]);
    let (p, q) = (grid.threads[side], grid.threads[1 - side]);
    // In each other grid, the last event not after `a`, and the first not before `b`.
    for other in grids {
        for other_side in 0..2 {
            let (r, s) = (other.threads[other_side], other.threads[1 - other_side]);
            if (r, s) == (p, q) || !meet([p, q], [r, s]) {
                continue;
            }
            let (rs, ss) = (&other.events[other_side], &other.events[1 - other_side]);
            let not_after = |&c: &u32, a: u32| c == a || order.before(c, a);
            let lasts: Vec<usize> = from.iter().map(|&a| rs.partition_point(|c| not_after(c, a))).collect();
            let firsts: Vec<usize> = to.iter().map(|&b| ss.partition_point(|&d| !not_after(&b, d))).collect();
            for (i, &last) in lasts.iter().enumerate().filter(|&(_, &last)| last > 0) {
                for (j, &first) in firsts.iter().enumerate().filter(|&(_, &first)| first < ss.len()) {
                    let premise = grid.truth(side, i, j);
                    if matches!(premise, Truth::Open(_)) {
                        implies(sat, premise, other.truth(other_side, last - 1, first));
                    }
                }
            }
        }
    }
    for i in 0..from.len() {
        for j in 0..to.len() {
            let premise = grid.truth(side, i, j);
            if matches!(premise, Truth::Known(_)) {
                continue;
            }
            if i > 0 {
                implies(sat, premise, grid.truth(side, i - 1, j));
            }
            if j + 1 < to.len() {
                implies(sat, premise, grid.truth(side, i, j + 1));
            }
        }
    }
}
