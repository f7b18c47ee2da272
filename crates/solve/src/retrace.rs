//! Whether orders contradict each other, by definition.
//!
//! This is what a lemma on orders is checked with. It takes what the literals of the lemma mean and what holds in any case, and closes it under the axioms of [`orders`](crate::orders) by going over all of it again
//! until nothing changes: no reasons, no undoing, nothing that is derived when it is needed. It shares no code with the theory that made the lemma but the facts.

use crate::orders::{EventId, Fact, Orders};
use crate::sat::Lit;

/// Rows of bits: what comes behind each node.
struct Behind {
    rows: Vec<Vec<u64>>,
    /// A node came behind itself, or behind another position of its own.
    broken: bool,
}

impl Behind {
    fn has(&self, from: u32, to: u32) -> bool {
        self.rows[from as usize][to as usize / 64] >> (to % 64) & 1 == 1
    }

    /// A node is before another; whether that is new.
    fn add(&mut self, from: u32, to: u32) -> bool {
        self.broken |= from == to || self.has(to, from);
        if self.broken || self.has(from, to) {
            return false;
        }
        let mut more = self.rows[to as usize].clone();
        more[to as usize / 64] |= 1 << (to % 64);
        for row in 0..self.rows.len() as u32 {
            if row == from || self.has(row, from) {
                for (word, new) in self.rows[row as usize].iter_mut().zip(&more) {
                    *word |= new;
                }
            }
        }
        true
    }
}

/// Whether these literals cannot all hold because of what they mean for orders.
pub(crate) fn contradict(orders: &Orders, literals: &[Lit]) -> bool {
    let facts: Vec<Fact> = orders
        .said()
        .iter()
        .filter(|(lit, _)| *lit == Lit::TRUE || literals.contains(lit))
        .map(|said| said.1)
        .collect();
    let nodes = orders.nodes();
    let mut behind = Behind { rows: vec![vec![0; nodes.div_ceil(64)]; nodes], broken: false };
    let node = |event: EventId| orders.node_of(event).0;
    // Whether an event is before another: by positions in a node, else by nodes.
    let is_before = |behind: &Behind, one: EventId, other: EventId| {
        orders.fixed(one, other).unwrap_or_else(|| behind.has(node(one), node(other)))
    };
    let order = |behind: &mut Behind, one: EventId, other: EventId| match orders.fixed(one, other) {
        Some(right) => {
            behind.broken |= !right;
            false
        }
        None => behind.add(node(one), node(other)),
    };
    let (mut reads, mut done) = (Vec::new(), Vec::new());
    for &fact in &facts {
        match fact {
            Fact::Edge(from, to) => {
                behind.add(from.0, to.0);
            }
            Fact::Before(one, other) => {
                order(&mut behind, one, other);
            }
            Fact::Reads(write, read) => {
                order(&mut behind, write, read);
                reads.push((write, read));
            }
            Fact::Forwards(write, read) => reads.push((write, read)),
            Fact::Done(write) => done.push(write),
        }
    }
    // What is read has been written.
    done.extend(reads.iter().map(|read| read.0));
    let mut changed = true;
    while changed && !behind.broken {
        changed = false;
        for &(write, read) in &reads {
            for &other in done.iter().filter(|&&other| other != write && orders.same_location(other, read)) {
                if is_before(&behind, other, read) || orders.hides_from(other, read) {
                    changed |= order(&mut behind, other, write);
                }
                if is_before(&behind, write, other) {
                    changed |= order(&mut behind, read, other);
                }
            }
        }
    }
    behind.broken
}
