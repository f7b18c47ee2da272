//! Data races: two accesses that can both be done next.
//!
//! An access can be done next when all has happened that comes before it in its thread. So two accesses of different threads race if there is an execution in which what comes right before
//! the one is before the other, and the other way round: cut off before both, both are next. That is two more sets of orders, under a literal for the pair. A wait looks
//! even if it does not find what it waits for, so it need not happen for that. A write that depends on what is read in the same step, as a compare-exchange does, has to come first. Where threads synchronise by acquire, release and locks that are waited for these are all
//! races (see the engine `explicit`, which decides them in the same way).
//!
//! Of an access in an atomic block and one outside, that one comes right before the block: what is read in the block before it comes to the access is not what the other one writes, or that is a race
//! as well. The thread may stop behind the access, as far as this race is concerned. If the one outside is a wait, which is not a step where it looks in vain, the block comes first.
//!
//! With store buffers a thread is past a store when that has set out, which is a node of its own then, and whatever the thread does later is behind it. Stores of the thread that are on their way need
//! not have arrived; they can always do so.

use super::encode::Reach;
use super::graph::{Event, Graph, Node};
use raddle_solve::{Lit, NodeId, Orders, Solver};
use rustc_hash::FxHashMap;

/// Two accesses that may race, and the literal that they do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    pub(super) lit: Lit,
    pub(super) first: usize,
    pub(super) second: usize,
}

/// How many pairs are too many.
const MOST_PAIRS: usize = 40_000;

/// The pairs that may race, with what it means for orders that they do; `None` if there are too many.
pub(super) fn races(
    graph: &Graph,
    events: &[Event],
    reach: &Reach,
    solver: &mut Solver,
    orders: &mut Orders,
) -> Option<Vec<Race>> {
    let mut before: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    for &(from, to) in &graph.edges {
        before.entry(to).or_default().push(from);
    }
    let mut threads: FxHashMap<Node, usize> = FxHashMap::default();
    for (number, thread) in graph.threads.iter().enumerate() {
        threads.extend(thread.plan.iter().filter_map(|planned| Some((planned.node?, number))));
    }
    let blocks: FxHashMap<Node, usize> = graph.blocks.iter().zip(0..).map(|(block, at)| (block.node, at)).collect();
    let stops = graph.blocks.iter().zip(0..).filter_map(|(block, at)| Some((at, block.stops?)));
    let stops: Vec<(usize, Lit)> = stops.map(|(at, stops)| (at, solver.lit(&graph.terms, stops))).collect();
    let mut races = Vec::new();
    for (first, one) in events.iter().enumerate() {
        for (second, other) in events.iter().enumerate().skip(first + 1) {
            let block = |event: &Event| blocks.get(&event.node).copied();
            let ordinary = |event: &Event| event.ordinary && block(event).is_none();
            let conflict =
                one.location == other.location && (one.writes || other.writes) && (ordinary(one) || ordinary(other));
            let (Some(here), Some(there)) = (threads.get(&one.issued), threads.get(&other.issued)) else { continue };
            let apart = here != there
                && !reach.is_before((one.issued, 0), (other.issued, 0))
                && !reach.is_before((other.issued, 0), (one.issued, 0));
            if !conflict || !apart {
                continue;
            }
            if races.len() >= MOST_PAIRS {
                return None;
            }
            let lit = solver.sat.var();
            for event in [one, other] {
                let reached = solver.lit(&graph.terms, event.reached);
                solver.sat.add(&[!lit, reached]);
            }
            let inside = block(one).or(block(other));
            let outside = if block(one).is_some() { other } else { one };
            let may_stop = inside.filter(|_| !outside.may_be_in_vain());
            for &(_, stops) in stops.iter().filter(|&&(at, _)| Some(at) != may_stop) {
                solver.sat.add(&[!lit, !stops]);
            }
            for (this, next) in [(one, other), (other, one)] {
                let comes_first = match inside {
                    Some(_) => block(this).is_some() == outside.may_be_in_vain(),
                    None => this.depends,
                };
                if comes_first {
                    // What it finds must be there when both are next, so it comes first.
                    orders.edge(lit, NodeId(this.issued), NodeId(next.issued));
                    continue;
                }
                for &from in before.get(&this.issued).into_iter().flatten() {
                    orders.edge(lit, NodeId(from), NodeId(next.issued));
                }
            }
            races.push(Race { lit, first, second });
        }
    }
    Some(races)
}
