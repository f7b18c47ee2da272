//! Orders as numbers: every node has a time, and what is before something has an earlier one.
//!
//! This says in clauses alone what [`Orders`] derives: given orders, a read behind its write, and of every other write of the location that is done that it is before the write or behind the
//! read (Telbisz 2024 lists it as prior art; after Alglave, Kroening and Tautschnig 2013). It needs nobody who watches the solver, and is exact, a total order of writes included; it is there to be compared with.
//!
//! Cost: for every read, writes it may read from times writes there are, and a comparison of numbers for every pair of nodes that occurs.

use crate::orders::{EventId, Fact, Orders};
use crate::sat::Lit;
use crate::solver::Solver;
use crate::term::{Term, Terms};

/// The times of nodes.
#[derive(Clone, Debug)]
pub struct Clocks(Vec<Term>);

impl Clocks {
    /// From now on only those assignments satisfy the clauses for which there is an order.
    pub fn new(terms: &mut Terms, solver: &mut Solver, orders: &Orders) -> Self {
        let nodes = orders.nodes().max(2);
        let width = (usize::BITS - (nodes - 1).leading_zeros()) as u8;
        let clocks = Clocks((0..nodes).map(|_| terms.var(width)).collect());
        let facts: Vec<(Lit, Fact)> = orders.said().to_vec();
        let done: Vec<(Lit, EventId)> = facts
            .iter()
            .filter_map(|&(lit, fact)| if let Fact::Done(write) = fact { Some((lit, write)) } else { None })
            .collect();
        for &(lit, fact) in &facts {
            match fact {
                Fact::Edge(from, to) => {
                    let before = clocks.before_nodes(terms, solver, from.0, to.0);
                    solver.sat.add(&[!lit, before]);
                }
                Fact::Before(one, other) => {
                    let before = clocks.before(terms, solver, orders, one, other);
                    solver.sat.add(&[!lit, before]);
                }
                Fact::Done(_) => {}
                Fact::Reads(write, read) | Fact::Forwards(write, read) => {
                    if matches!(fact, Fact::Reads(..)) {
                        let before = clocks.before(terms, solver, orders, write, read);
                        solver.sat.add(&[!lit, before]);
                    }
                    for &(is_done, other) in &done {
                        if other == write || !orders.same_location(other, read) {
                            continue;
                        }
                        let earlier = clocks.before(terms, solver, orders, other, write);
                        let later = if orders.hides_from(other, read) {
                            Lit::FALSE
                        } else {
                            clocks.before(terms, solver, orders, read, other)
                        };
                        solver.sat.add(&[!lit, !is_done, earlier, later]);
                    }
                }
            }
        }
        // Writes of a location are at different times.
        for (at, &(one_done, one)) in done.iter().enumerate() {
            for &(other_done, other) in &done[at + 1..] {
                if orders.same_location(one, other) && orders.node_of(one) != orders.node_of(other) {
                    let ways = [
                        clocks.before(terms, solver, orders, one, other),
                        clocks.before(terms, solver, orders, other, one),
                    ];
                    solver.sat.add(&[!one_done, !other_done, ways[0], ways[1]]);
                }
            }
        }
        clocks
    }

    /// The time of a node.
    pub fn of(&self, node: u32) -> Term {
        self.0[node as usize]
    }

    fn before_nodes(&self, terms: &mut Terms, solver: &mut Solver, from: u32, to: u32) -> Lit {
        let earlier = terms.ult(self.of(from), self.of(to));
        solver.lit(terms, earlier)
    }

    fn before(&self, terms: &mut Terms, solver: &mut Solver, orders: &Orders, one: EventId, other: EventId) -> Lit {
        match orders.fixed(one, other) {
            Some(true) => Lit::TRUE,
            Some(false) => Lit::FALSE,
            None => self.before_nodes(terms, solver, orders.node_of(one).0, orders.node_of(other).0),
        }
    }
}
