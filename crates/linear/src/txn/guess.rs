//! An order in which the transactions may have run: a topological order of what is known that also guesses well where nothing is known.
//!
//! Only speed depends on it: what is wrong in the guess shows as a cycle, and [`super::complete`] takes it back. Three things make it good, so that most histories need no second one:
//!
//! 1. *Bounds.* A transaction took effect after its call and after whatever it depends on, before its return and before whatever depends on it. Passed along the known
//!    dependencies, that gives each one an earliest and a latest moment; where there is a choice, the one with the earliest latest moment goes first.
//! 2. *Zones* (Gibbons and Korach 1997). If a version must have been there before some reader of another version of the key can have come, it is the older one.
//! 3. *Readers first.* A version is not overwritten while there are transactions to come that read it.
//!
//! The latter two are wishes: where they leave nobody to go on with they are passed over. Cost: linear but for sorting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{ALL, Graph};
use super::lists::Lists;
use super::observe::Observed;
use crate::history::Ts;

/// An order of the transactions along all edges of a graph; none if it has a cycle.
pub(super) fn order(graph: &Graph, observed: &Observed) -> Option<Vec<u32>> {
    let topological = graph.topological()?;
    let bounds = Bounds::new(graph, &topological);
    let run = Run::new(graph, observed, bounds);
    Some(run.order())
}

/// Between which moments each node took effect.
struct Bounds {
    earliest: Vec<Ts>,
    latest: Vec<Ts>,
}

impl Bounds {
    fn new(graph: &Graph, topological: &[u32]) -> Bounds {
        let txns = &graph.history.txns;
        let mut earliest: Vec<Ts> = txns.iter().map(|txn| txn.call).collect();
        let mut latest: Vec<Ts> = txns.iter().map(|txn| txn.ret).collect();
        earliest.resize(graph.nodes(), Ts(0));
        latest.resize(graph.nodes(), Ts::INF);
        for &node in topological {
            let moment = earliest[node as usize];
            for edge in graph.out(node) {
                let to = &mut earliest[graph.edges[edge].to as usize];
                *to = (*to).max(moment);
            }
        }
        for &node in topological.iter().rev() {
            let after = graph.out(node).map(|edge| latest[graph.edges[edge].to as usize]).min();
            let moment = &mut latest[node as usize];
            *moment = after.map_or(*moment, |after| after.min(*moment));
        }
        Bounds { earliest, latest }
    }
}

/// Transactions run one after another.
struct Run<'a> {
    graph: &'a Graph<'a>,
    bounds: Bounds,
    /// The versions a transaction writes and reads. A version's number is its place among all.
    writes: Lists,
    reads: Lists,
    /// The key of a version.
    keys: Vec<u32>,
    /// How many reads of a version are still to come.
    unread: Vec<u32>,
    /// Who waits for these reads.
    parked: Vec<Vec<u32>>,
    /// The version of each key that is there now.
    current: Vec<Option<u32>>,
    /// Wishes: who should go later. The nodes behind those of the graph are helpers.
    later: Lists,
    /// How many dependencies and how many wishes must still be met.
    entering: Vec<u32>,
    held: Vec<u32>,
    passed: Vec<bool>,
    ready: BinaryHeap<Reverse<(Ts, u32)>>,
    /// Those that wait for wishes alone.
    possible: BinaryHeap<Reverse<(Ts, u32)>>,
}

/// How many versions that come before another one by the second rule are told one by one, beside those told through helpers.
const BESIDE: usize = 64;

impl<'a> Run<'a> {
    fn new(graph: &'a Graph<'a>, observed: &Observed, bounds: Bounds) -> Run<'a> {
        let txns = graph.history.txns.len();
        let (mut writes, mut reads, mut keys, mut wishes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut nodes = graph.nodes() as u32;
        let mut zones: Vec<(Ts, Ts, u32)> = Vec::new();
        for (key, known) in observed.keys.iter().enumerate().filter(|(_, known)| known.rest.len() > 1) {
            zones.clear();
            for &(writer, _) in &known.rest {
                let version = keys.len() as u32;
                keys.push(key as u32);
                writes.push((writer, version));
                let mut last = bounds.earliest[writer as usize];
                for &(reader, _) in known.readers(writer) {
                    reads.push((reader, version));
                    last = last.max(bounds.earliest[reader as usize]);
                }
                zones.push((bounds.latest[writer as usize], last, writer));
            }
            zones.sort_unstable();
            for (at, &(_, last, writer)) in zones.iter().enumerate() {
                let before = zones.partition_point(|(first, ..)| *first < last);
                // All up to this one, through a helper; the few behind it one by one.
                if let Some(helper) = before.min(at).checked_sub(1) {
                    wishes.push((nodes + helper as u32, writer));
                }
                let beside = zones[before.min(at + 1)..before].iter().take(BESIDE);
                wishes.extend(beside.map(|(.., older)| (*older, writer)));
                wishes.push((writer, nodes + at as u32));
                if at > 0 {
                    wishes.push((nodes + at as u32 - 1, nodes + at as u32));
                }
            }
            nodes += zones.len() as u32;
        }
        let mut unread = vec![0; keys.len()];
        reads.iter().for_each(|(_, version)| unread[*version as usize] += 1);
        let mut held = vec![0; nodes as usize];
        wishes.iter().for_each(|(_, later)| held[*later as usize] += 1);
        Run {
            graph,
            bounds,
            writes: Lists::new(txns, &writes),
            reads: Lists::new(txns, &reads),
            parked: vec![Vec::new(); keys.len()],
            keys,
            unread,
            current: vec![None; observed.keys.len()],
            later: Lists::new(nodes as usize, &wishes),
            entering: graph.entering(ALL),
            held,
            passed: vec![false; nodes as usize],
            ready: BinaryHeap::new(),
            possible: BinaryHeap::new(),
        }
    }

    fn order(mut self) -> Vec<u32> {
        let txns = self.graph.history.txns.len();
        let mut order = Vec::with_capacity(txns);
        for node in 0..self.graph.nodes() as u32 {
            self.free(node);
        }
        while let Some(node) = self.next() {
            if (node as usize) < txns {
                order.push(node);
            }
            self.pass(node);
        }
        order
    }

    /// The next node that may go: the best one, or if wishes leave none the best one without them.
    fn next(&mut self) -> Option<u32> {
        while let Some(Reverse((_, node))) = self.ready.pop() {
            if self.passed[node as usize] {
                continue;
            }
            match self.in_the_way(node) {
                Some(version) => {
                    self.parked[version as usize].push(node);
                    self.possible.push(Reverse((self.bounds.latest[node as usize], node)));
                }
                None => return Some(node),
            }
        }
        while let Some(Reverse((_, node))) = self.possible.pop() {
            if !self.passed[node as usize] {
                return Some(node);
            }
        }
        None
    }

    /// A version that a transaction would overwrite though others are to read it.
    fn in_the_way(&self, node: u32) -> Option<u32> {
        if node as usize >= self.graph.history.txns.len() {
            return None;
        }
        let reads = self.reads.of(node);
        let there =
            self.writes.of(node).iter().filter_map(|&version| self.current[self.keys[version as usize] as usize]);
        let mut there = there.filter(|version| self.unread[*version as usize] > u32::from(reads.contains(version)));
        there.next()
    }

    /// A node of the graph all of whose dependencies are met may go.
    fn free(&mut self, node: u32) {
        if self.entering[node as usize] == 0 {
            let entry = Reverse((self.bounds.latest[node as usize], node));
            if self.held[node as usize] == 0 {
                self.ready.push(entry);
            } else {
                self.possible.push(entry);
            }
        }
    }

    /// A node goes.
    fn pass(&mut self, node: u32) {
        self.passed[node as usize] = true;
        if (node as usize) < self.graph.history.txns.len() {
            for at in self.reads.range(node) {
                let version = self.reads.items[at] as usize;
                self.unread[version] -= 1;
                // Who waits may itself be a reader, so one that is left does not mean that nobody can go.
                if self.unread[version] <= 1 {
                    for waiting in std::mem::take(&mut self.parked[version]) {
                        self.ready.push(Reverse((self.bounds.latest[waiting as usize], waiting)));
                    }
                }
            }
            for &version in self.writes.of(node) {
                self.current[self.keys[version as usize] as usize] = Some(version);
            }
        }
        for edge in self.graph.out(node) {
            let to = self.graph.edges[edge].to;
            self.entering[to as usize] -= 1;
            self.free(to);
        }
        let mut granted = vec![node];
        while let Some(node) = granted.pop() {
            for at in self.later.range(node) {
                let later = self.later.items[at];
                self.held[later as usize] -= 1;
                if self.held[later as usize] == 0 {
                    // A helper goes at once.
                    if later as usize >= self.graph.nodes() {
                        granted.push(later);
                    } else if !self.passed[later as usize] {
                        self.free(later);
                    }
                }
            }
        }
    }
}
