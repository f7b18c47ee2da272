//! Dependencies between transactions, and the cycles among them.
//!
//! Nodes are transactions, and helpers that keep the graph linear in size: *gates*, through which many readers reach many writers, and *moments*, one for
//! each time at which something returned before something was called, which carry real time. Components are those of Tarjan 1972. That no two `rw`
//! are next to each other is a matter of doubling the nodes: having just come along `rw` or not.
//!
//! Of each phenomenon one cycle is shown, a short one: breadth first from some edges of the smallest component that has one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;

use super::levels::{Level, Phenomenon};
use super::observe::Observed;
use super::{Anomaly, Step, Transactions};
use crate::history::Ts;
use crate::value::ValueId;

/// What a dependency is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// To the writer of the next version.
    Ww,
    /// To a reader of the version.
    Wr,
    /// From a reader of a version to the writer of the next one.
    Rw,
    /// Out of a gate that was entered by `Rw`.
    Through,
    /// The first had returned before the second was called.
    Realtime,
}

impl EdgeKind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Ww => "ww",
            EdgeKind::Wr => "wr",
            EdgeKind::Rw | EdgeKind::Through => "rw",
            EdgeKind::Realtime => "realtime",
        }
    }
}

/// A dependency.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node it leads from.
    pub from: u32,
    /// The node it leads to.
    pub to: u32,
    /// What it is.
    pub kind: EdgeKind,
    /// The key.
    pub key: ValueId,
    /// The version that is overwritten or was read.
    pub value: ValueId,
    /// The transaction whose version of the key is taken to come before that of `to`, if that is not known; [`KNOWN`] else.
    pub by: u32,
}

/// What [`Edge::by`] is for dependencies that were inferred.
pub const KNOWN: u32 = u32::MAX;

/// What is known of a history, with or without real time.
pub struct Known<'a> {
    history: &'a Transactions,
    observed: &'a Observed,
    moments: Vec<Edge>,
    nodes: u32,
}

impl<'a> Known<'a> {
    /// What was observed.
    pub fn new(history: &'a Transactions, observed: &'a Observed, realtime: bool) -> Known<'a> {
        let mut nodes = observed.nodes;
        let moments = if realtime { moments(history, &observed.included, &mut nodes) } else { Vec::new() };
        Known { history, observed, moments, nodes }
    }
}

/// The graph of a history.
pub struct Graph<'a> {
    pub(super) history: &'a Transactions,
    pub(super) edges: Vec<Edge>,
    /// The edges of node `n` are `edges[starts[n]..starts[n + 1]]`.
    starts: Vec<u32>,
}

/// Which edges count.
#[derive(Clone, Copy)]
pub(super) struct View {
    wr: bool,
    rw: bool,
    /// Whether no two `rw` may be next to each other. Nodes are then `2 n`, and `2 n + 1` after a `rw`.
    pub(super) apart: bool,
}

pub(super) const WW: View = View { wr: false, rw: false, apart: false };
pub(super) const DEPENDENCIES: View = View { wr: true, rw: false, apart: false };
pub(super) const APART: View = View { wr: true, rw: true, apart: true };
pub(super) const ALL: View = View { wr: true, rw: true, apart: false };

/// How many edges of a component are tried for a short cycle, and how many edges may be followed in all.
const TRIED: usize = 64;
const WORK: usize = 20_000_000;

impl View {
    pub(super) fn node(self, node: u32) -> u32 {
        if self.apart { node >> 1 } else { node }
    }

    /// Where an edge leads from a node of this view.
    pub(super) fn follow(self, node: u32, edge: &Edge) -> Option<u32> {
        let came = node & 1;
        match edge.kind {
            EdgeKind::Wr if !self.wr => None,
            EdgeKind::Rw | EdgeKind::Through if !self.rw => None,
            EdgeKind::Rw if self.apart => (came == 0).then_some(2 * edge.to + 1),
            EdgeKind::Through if self.apart => Some(2 * edge.to + came),
            _ if self.apart => Some(2 * edge.to),
            _ => Some(edge.to),
        }
    }
}

impl<'a> Graph<'a> {
    /// The graph of what is known, and of more edges.
    pub fn new(known: &Known<'a>, more: &[Edge]) -> Graph<'a> {
        let Known { history, observed, nodes, .. } = *known;
        let all = || observed.edges.iter().chain(more).chain(&known.moments);
        let mut starts = vec![0u32; nodes as usize + 1];
        all().for_each(|edge| starts[edge.from as usize + 1] += 1);
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let none = Edge { from: 0, to: 0, kind: EdgeKind::Ww, key: ValueId::NIL, value: ValueId::NIL, by: KNOWN };
        let mut edges = vec![none; starts[nodes as usize] as usize];
        let mut next = starts.clone();
        for edge in all() {
            edges[next[edge.from as usize] as usize] = *edge;
            next[edge.from as usize] += 1;
        }
        Graph { history, edges, starts }
    }

    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn out(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// The component of each node of a view, and the size of each component.
    pub(super) fn components(&self, view: View) -> (Vec<u32>, Vec<u32>) {
        const NEW: u32 = u32::MAX;
        let nodes = self.nodes() << u32::from(view.apart);
        let (mut component, mut sizes) = (vec![NEW; nodes], Vec::new());
        let (mut number, mut low) = (vec![NEW; nodes], vec![0u32; nodes]);
        let (mut stack, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let mut count = 0;
        for root in 0..nodes as u32 {
            if number[root as usize] != NEW {
                continue;
            }
            calls.push((root, self.out(view.node(root)).start));
            while let Some((node, at)) = calls.last_mut() {
                let (node, range) = (*node, self.out(view.node(*node)));
                let index = node as usize;
                if number[index] == NEW {
                    (number[index], low[index]) = (count, count);
                    count += 1;
                    stack.push(node);
                }
                if *at < range.end {
                    let edge = &self.edges[*at];
                    *at += 1;
                    let Some(to) = view.follow(node, edge) else { continue };
                    if number[to as usize] == NEW {
                        calls.push((to, self.out(view.node(to)).start));
                    } else if component[to as usize] == NEW {
                        low[index] = low[index].min(number[to as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((above, _)) = calls.last() {
                    low[*above as usize] = low[*above as usize].min(low[index]);
                }
                if low[index] == number[index] {
                    let mut size = 0;
                    while let Some(member) = stack.pop() {
                        component[member as usize] = sizes.len() as u32;
                        size += 1;
                        if member == node {
                            break;
                        }
                    }
                    sizes.push(size);
                }
            }
        }
        (component, sizes)
    }

    /// One anomaly of every kind of cycle there is.
    pub fn anomalies(&self) -> Vec<Anomaly> {
        let mut found = Vec::new();
        let ways: [(View, View, EdgeKind, Phenomenon); 4] = [
            (WW, WW, EdgeKind::Ww, Phenomenon::G0),
            (DEPENDENCIES, DEPENDENCIES, EdgeKind::Wr, Phenomenon::G1c),
            (ALL, DEPENDENCIES, EdgeKind::Rw, Phenomenon::GSingle),
            (ALL, ALL, EdgeKind::Rw, Phenomenon::G2Item),
        ];
        for (view, way, kind, phenomenon) in ways {
            let (component, sizes) = self.components(view);
            if let Some(cycle) = self.through(kind, way, &component, &sizes) {
                let steps = self.steps(&cycle);
                // A cycle of all kinds of edges may be one of those that were looked for before.
                if phenomenon != Phenomenon::G2Item || adjacent(&steps) {
                    found.push(anomaly(phenomenon, steps));
                }
            }
        }
        if !found.iter().any(|anomaly| anomaly.phenomenon == Phenomenon::GSingle) {
            found.extend(self.nonadjacent());
        }
        found
    }

    /// A cycle in which no two `rw` are next to each other, and that has some.
    fn nonadjacent(&self) -> Option<Anomaly> {
        let (component, sizes) = self.components(APART);
        // The edges within a component after which one stands at a doubled node.
        let (mut tried, mut work) = (0, WORK);
        let mut best: Option<Vec<usize>> = None;
        for (at, edge) in self.edges.iter().enumerate().filter(|(_, edge)| edge.kind == EdgeKind::Rw) {
            let (from, to) = (2 * edge.from, 2 * edge.to + 1);
            let within = component[from as usize] == component[to as usize];
            if !within || sizes[component[from as usize] as usize] == 1 || tried == TRIED || (work == 0 && tried > 0) {
                continue;
            }
            tried += 1;
            if let Some(mut path) = self.path(APART, to, from, &component, &mut work) {
                path.insert(0, at);
                if best.as_ref().is_none_or(|best| path.len() < best.len()) {
                    best = Some(path);
                }
            }
        }
        let steps = self.steps(&best?);
        let several = steps.iter().filter(|step| step.kind == EdgeKind::Rw).count() > 1;
        Some(anomaly(if several { Phenomenon::GNonadjacent } else { Phenomenon::GSingle }, steps))
    }

    /// A short cycle with an edge of this kind, the rest of it along edges of a view.
    fn through(&self, kind: EdgeKind, way: View, component: &[u32], sizes: &[u32]) -> Option<Vec<usize>> {
        let mut candidates: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (at, edge) in self.edges.iter().enumerate().filter(|(_, edge)| edge.kind == kind) {
            let here = component[edge.from as usize];
            if here == component[edge.to as usize] && sizes[here as usize] > 1 {
                candidates.entry(here).or_default().push(at);
            }
        }
        let mut components: Vec<u32> = candidates.keys().copied().collect();
        components.sort_unstable_by_key(|&number| (sizes[number as usize], candidates[&number][0]));
        let mut work = WORK;
        for number in components {
            let mut best: Option<Vec<usize>> = None;
            let mut found = 0;
            for (tried, &at) in candidates[&number].iter().enumerate() {
                // An edge of a component has its cycle there; only where the rest must go another way can a try fail.
                if found == TRIED || (work == 0 && tried > 0) {
                    break;
                }
                let edge = &self.edges[at];
                if let Some(mut path) = self.path(way, edge.to, edge.from, component, &mut work) {
                    found += 1;
                    path.insert(0, at);
                    if best.as_ref().is_none_or(|best| path.len() < best.len()) {
                        best = Some(path);
                    }
                }
            }
            if best.is_some() || work == 0 {
                return best;
            }
        }
        None
    }

    /// The edges of a shortest path within a component of all nodes of a view. `work` counts down the edges followed.
    fn path(&self, view: View, from: u32, to: u32, component: &[u32], work: &mut usize) -> Option<Vec<usize>> {
        if from == to {
            return Some(Vec::new());
        }
        let mut before: FxHashMap<u32, (u32, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for at in self.out(view.node(node)) {
                *work = work.saturating_sub(1);
                let Some(next) = view.follow(node, &self.edges[at]) else { continue };
                if component[next as usize] != component[from as usize] || next == from || before.contains_key(&next) {
                    continue;
                }
                before.insert(next, (node, at));
                if next == to {
                    let (mut path, mut node) = (Vec::new(), to);
                    while node != from {
                        let (previous, at) = before[&node];
                        path.push(at);
                        node = previous;
                    }
                    path.reverse();
                    return Some(path);
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// The steps from transaction to transaction along edges.
    pub(super) fn steps(&self, cycle: &[usize]) -> Vec<Step> {
        let is_txn = |node: u32| (node as usize) < self.history.txns.len();
        // A cycle may have been cut open at a helper.
        let start = cycle.iter().position(|&at| is_txn(self.edges[at].from)).unwrap_or(0);
        let mut steps: Vec<Step> = Vec::new();
        for &at in cycle[start..].iter().chain(&cycle[..start]) {
            let edge = &self.edges[at];
            if is_txn(edge.from) {
                let Edge { from, to, kind, key, value, .. } = *edge;
                steps.push(Step { from, to, kind, key, value });
            } else if let Some(step) = steps.last_mut() {
                step.to = edge.to;
            }
        }
        steps
    }

    /// How many edges of a view that does not double nodes lead to each node.
    pub(super) fn entering(&self, view: View) -> Vec<u32> {
        let mut entering = vec![0u32; self.nodes()];
        for edge in self.edges.iter().filter(|edge| view.follow(edge.from, edge).is_some()) {
            entering[edge.to as usize] += 1;
        }
        entering
    }

    /// All nodes in some order along the edges; none if there is a cycle.
    pub(super) fn topological(&self) -> Option<Vec<u32>> {
        let mut entering = self.entering(ALL);
        let mut order: Vec<u32> = (0..self.nodes() as u32).filter(|&node| entering[node as usize] == 0).collect();
        let mut passed = 0;
        while let Some(&node) = order.get(passed) {
            passed += 1;
            for edge in &self.edges[self.out(node)] {
                entering[edge.to as usize] -= 1;
                if entering[edge.to as usize] == 0 {
                    order.push(edge.to);
                }
            }
        }
        (passed == self.nodes()).then_some(order)
    }

    /// An order of the transactions along the edges of a view that does not double nodes; where there is a choice those go first that have the first places or, if there are none, returned first.
    pub(super) fn order(&self, view: View, places: Option<&[u32]>) -> Option<Vec<u32>> {
        let mut entering = self.entering(view);
        let txns = &self.history.txns;
        let place = |node: u32| match places {
            Some(places) => places.get(node as usize).map_or(Ts(0), |place| Ts(*place)),
            None => txns.get(node as usize).map_or(Ts(0), |txn| txn.ret),
        };
        let key = |node: u32| Reverse((place(node), node));
        let mut ready: BinaryHeap<_> =
            (0..self.nodes() as u32).filter(|&node| entering[node as usize] == 0).map(key).collect();
        let (mut order, mut passed) = (Vec::with_capacity(txns.len()), 0);
        while let Some(Reverse((_, node))) = ready.pop() {
            passed += 1;
            if (node as usize) < txns.len() {
                order.push(node);
            }
            for at in self.out(node) {
                if let Some(next) = view.follow(node, &self.edges[at]) {
                    entering[next as usize] -= 1;
                    if entering[next as usize] == 0 {
                        ready.push(key(next));
                    }
                }
            }
        }
        (passed == self.nodes()).then_some(order)
    }
}

fn adjacent(steps: &[Step]) -> bool {
    let rw = |at: usize| steps[at % steps.len()].kind == EdgeKind::Rw;
    (0..steps.len()).any(|at| rw(at) && rw(at + 1)) && steps.iter().filter(|step| step.kind == EdgeKind::Rw).count() > 1
}

fn anomaly(phenomenon: Phenomenon, cycle: Vec<Step>) -> Anomaly {
    let realtime = cycle.iter().any(|step| step.kind == EdgeKind::Realtime);
    let txns = cycle.iter().map(|step| step.from).collect();
    Anomaly { phenomenon, realtime, txns, key: ValueId::NIL, value: ValueId::NIL, cycle, cases: Vec::new() }
}

/// That every order of the versions has one of these cycles.
pub(super) fn no_order(level: Level, mut cycles: Vec<Vec<Step>>) -> Anomaly {
    let realtime = cycles.iter().flatten().any(|step| step.kind == EdgeKind::Realtime);
    let phenomenon = match level {
        Level::StrictSerializable if !realtime => Phenomenon::NoOrder(Level::Serializable),
        level => Phenomenon::NoOrder(level),
    };
    cycles.sort_by_key(Vec::len);
    let mut txns: Vec<u32> = cycles.iter().flatten().map(|step| step.from).collect();
    txns.sort_unstable();
    txns.dedup();
    Anomaly { phenomenon, realtime, txns, key: ValueId::NIL, value: ValueId::NIL, cycle: Vec::new(), cases: cycles }
}

/// Edges for real time, over one node for each moment between returns and calls.
fn moments(history: &Transactions, included: &[bool], nodes: &mut u32) -> Vec<Edge> {
    let mut events: Vec<(Ts, bool, u32)> = Vec::new();
    for (at, txn) in history.txns.iter().enumerate().filter(|(at, _)| included[*at]) {
        events.push((txn.call, false, at as u32));
        if txn.ret < Ts::INF {
            events.push((txn.ret, true, at as u32));
        }
    }
    events.sort_unstable();
    let edge = |from: u32, to: u32| Edge {
        from,
        to,
        kind: EdgeKind::Realtime,
        key: ValueId::NIL,
        value: ValueId::NIL,
        by: KNOWN,
    };
    let mut edges = Vec::new();
    let (mut moment, mut called): (Option<u32>, bool) = (None, true);
    for (_, returns, txn) in events {
        if !returns {
            edges.extend(moment.map(|moment| edge(moment, txn)));
            called = true;
            continue;
        }
        if called {
            edges.extend(moment.map(|before| edge(before, *nodes)));
            moment = Some(*nodes);
            *nodes += 1;
            called = false;
        }
        edges.extend(moment.map(|moment| edge(txn, moment)));
    }
    edges
}
