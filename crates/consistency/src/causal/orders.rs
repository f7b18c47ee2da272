//! Which order of writes explains an execution, where axioms speak of all locations at once.
//!
//! Coherence is a matter of pairs of writes of one location: what happens before an access is not after what it reads or writes. So it gives a partial
//! order of [blocks](super::blocks), or a cycle. What the axioms about fences and sequentially consistent accesses, and strong release-acquire, ask
//! beyond that is NP-hard, and searched for: the known order is completed to a guess; if that breaks an axiom, the shortest part of what was guessed
//! that breaks one says which pair to decide. The axioms are monotone in the order of writes, so half of a guess that breaks one is enough to give up.
//!
//! Source of the problem: Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis 2023. The search is ours; cost: a product of matrices per look.

use super::blocks::{Blocks, Write};
use super::execution::Execution;
use crate::interrupt::{Interrupt, Interrupted};
use crate::models::Axioms;
use raddle_trace::Matrix;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which order of writes is looked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'w> {
    /// Pairs of writes of one location that must be in this order.
    pub demanded: &'w [(usize, usize)],
    /// Per event: writes with small numbers come first where there is a choice.
    pub rank: &'w [usize],
}

/// An order of the writes of every location that makes the execution consistent: writes of one location stand in it in that order.
pub(crate) fn order(
    axioms: &dyn Axioms,
    execution: &Execution,
    wish: Wish<'_>,
    interrupt: &dyn Interrupt,
    looks: &mut u64,
) -> Result<Option<Vec<usize>>, Interrupted> {
    let Some(mut search) = Search::new(execution, wish) else { return Ok(None) };
    let more = axioms.ask_more(execution);
    let mut left = vec![search.known.clone()];
    while let Some(known) = left.pop() {
        if interrupt.is_due() {
            return Err(Interrupted);
        }
        search.known = known;
        let guess = search.guess();
        let mut holds = |order: &Matrix| {
            *looks += 1;
            axioms.hold(&execution.relations(search.writes_in(order)))
        };
        let whole = search.with(&guess);
        if !more || holds(&whole) {
            return Ok(Some(search.sequence(&whole)));
        }
        if !holds(&search.known) {
            continue;
        }
        // So many pairs of the guess are harmless; one more is not.
        let (mut good, mut bad) = (0, guess.len());
        while bad - good > 1 {
            let middle = (good + bad) / 2;
            if holds(&search.with(&guess[..middle])) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        let (first, second) = guess[good];
        left.push(search.with(&[(first, second)]));
        left.push(search.with(&[(second, first)]));
    }
    Ok(None)
}

struct Search<'e> {
    execution: &'e Execution,
    blocks: Blocks,
    /// Per block: its location, and what its writes' rank is.
    locs: Vec<u32>,
    rank: Vec<usize>,
    /// Which blocks are before which others of their location; transitive.
    known: Matrix,
}

impl<'e> Search<'e> {
    /// What follows from coherence; `None` if that is a contradiction.
    fn new(execution: &'e Execution, wish: Wish<'_>) -> Option<Self> {
        let writes =
            execution.events.iter().enumerate().filter(|(_, event)| event.writes).map(|(number, event)| Write {
                event: number as u32,
                loc: event.loc.expect("a write has a location"),
                follows: event.follows.map(|source| source.map(|source| source as u32)),
            });
        let blocks = Blocks::of(execution.events.len(), writes).ok()?;
        let locs: Vec<u32> =
            blocks.writes.iter().map(|block| execution.events[block[0] as usize].loc.expect("as above")).collect();
        let rank_of = |write: u32| wish.rank.get(write as usize).copied().unwrap_or(write as usize);
        let rank =
            blocks.writes.iter().map(|block| block.iter().map(|&write| rank_of(write)).min().unwrap_or(0)).collect();
        let mut search = Search { execution, known: Matrix::empty(blocks.len()), blocks, locs, rank };
        for first in (0..search.blocks.len()).filter(|&block| search.blocks.initial[block]) {
            for second in 0..search.blocks.len() {
                if first != second && search.locs[first] == search.locs[second] {
                    search.known.add(first, second);
                }
            }
        }
        let coherent = search.add_coherence() && wish.demanded.iter().all(|&(a, b)| a != b && search.put(a, b));
        coherent.then_some(search)
    }

    /// Adds what the past of each access says. Returns whether there is no cycle.
    fn add_coherence(&mut self) -> bool {
        let execution = self.execution;
        for (access, event) in execution.events.iter().enumerate() {
            let target = match event.reads {
                Some(source) => source,
                None if event.writes => Some(access),
                None => continue,
            };
            let past = (0..execution.events.len())
                .filter(|&other| execution.same_location(other, access) && execution.hb.has(other, access));
            for other in past {
                let seen =
                    if execution.events[other].writes { Some(other) } else { execution.events[other].reads.flatten() };
                let Some(seen) = seen else { continue };
                if target.is_none_or(|target| target != seen && !self.put(seen, target)) {
                    return false;
                }
            }
        }
        true
    }

    /// Puts one write before another. Returns whether that is possible.
    fn put(&mut self, first: usize, second: usize) -> bool {
        let (a, b) = (self.blocks.member(first), self.blocks.member(second));
        if a.block == b.block {
            return a.place < b.place;
        }
        let (a, b) = (a.block as usize, b.block as usize);
        if self.known.has(b, a) {
            return false;
        }
        add(&mut self.known, a, b);
        true
    }

    /// The pairs of neighbours that complete the known order.
    fn guess(&self) -> Vec<(usize, usize)> {
        let mut guess = Vec::new();
        let mut last: rustc_hash::FxHashMap<u32, usize> = rustc_hash::FxHashMap::default();
        for block in sorted(&self.known, &self.rank) {
            if let Some(before) = last.insert(self.locs[block], block)
                && !self.known.has(before, block)
            {
                guess.push((before, block));
            }
        }
        guess
    }

    /// The known order and these pairs.
    fn with(&self, pairs: &[(usize, usize)]) -> Matrix {
        let mut order = self.known.clone();
        pairs.iter().for_each(|&(a, b)| add(&mut order, a, b));
        order
    }

    /// An order of blocks as one of writes.
    fn writes_in(&self, order: &Matrix) -> Matrix {
        let mut mo = Matrix::empty(self.execution.events.len());
        for (number, block) in self.blocks.writes.iter().enumerate() {
            for (at, &write) in block.iter().enumerate() {
                block[at + 1..].iter().for_each(|&later| mo.add(write as usize, later as usize));
            }
            for other in (0..self.blocks.len()).filter(|&other| order.has(number, other)) {
                let later = &self.blocks.writes[other];
                block.iter().for_each(|&a| later.iter().for_each(|&b| mo.add(a as usize, b as usize)));
            }
        }
        mo
    }

    fn sequence(&self, order: &Matrix) -> Vec<usize> {
        let blocks = sorted(order, &self.rank).into_iter();
        blocks.flat_map(|block| &self.blocks.writes[block]).map(|&write| write as usize).collect()
    }
}

/// Adds a pair to a transitive relation.
fn add(order: &mut Matrix, a: usize, b: usize) {
    if order.has(a, b) {
        return;
    }
    let size = order.size();
    let after: Vec<usize> = (0..size).filter(|&other| other == b || order.has(b, other)).collect();
    let before: Vec<usize> = (0..size).filter(|&other| other == a || order.has(other, a)).collect();
    for first in before {
        after.iter().for_each(|&second| order.add(first, second));
    }
}

/// All blocks in an order that respects this one, those of small rank first.
fn sorted(order: &Matrix, rank: &[usize]) -> Vec<usize> {
    let size = order.size();
    let mut before: Vec<usize> = (0..size).map(|b| (0..size).filter(|&a| order.has(a, b)).count()).collect();
    let mut ready: BinaryHeap<_> =
        (0..size).filter(|&block| before[block] == 0).map(|block| Reverse((rank[block], block))).collect();
    let mut sorted = Vec::new();
    while let Some(Reverse((_, block))) = ready.pop() {
        sorted.push(block);
        for later in (0..size).filter(|&later| order.has(block, later)) {
            before[later] -= 1;
            if before[later] == 0 {
                ready.push(Reverse((rank[later], later)));
            }
        }
    }
    sorted
}
