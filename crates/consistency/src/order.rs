//! A growing partial order on the operations of a shape and on their writes reaching memory.
//!
//! The *nodes* are the operations, and for every buffered write one more: the moment it reaches memory. They form [`Chains`]: threads, and on
//! store buffers lanes. Every edge knows why it is there, so that a cycle can be explained.
//!
//! A write that goes to memory at once is one node, but on store buffers it is a member of two chains, its thread and its lane. There it
//! is two events of the chains: what is before it is before the first, what is after it is after the second.

use crate::chains::Chains;
use crate::explain::Reason;
use crate::prefix::Prefix;
use crate::shape::{Kind, NONE, Shape};
use std::collections::VecDeque;

/// A node: an operation, or behind the operations a write reaching memory.
pub(crate) type Node = u32;

/// Why one node is before another; reads are given by their operations.
pub(crate) type Why = Reason<u32>;

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: Node,
    next: u32,
    why: Why,
}

/// One edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) why: Why,
    /// Its number among the edges that are not of a chain.
    pub(crate) edge: Option<u32>,
}

/// The order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    chains: Chains,
    /// Per operation the node at which it is in memory, [`NONE`] if it does not write.
    arrivals: Vec<Node>,
    /// Per node behind the operations its write.
    writes: Vec<u32>,
    /// Per operation the event of the chains that it ends with, and per node behind the operations its event.
    lasts: Vec<u32>,
    ops: usize,
    threads: usize,
    heads: Vec<u32>,
    edges: Vec<Edge>,
    degrees: Vec<u32>,
}

/// Up to so many nodes each is tried as the beginning of a cycle.
const FEW: usize = 600;

/// There is a cycle; the edge that closed it is among the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cyclic;

impl Order {
    /// The bytes an order of this shape takes.
    pub(crate) fn bytes(shape: &Shape) -> u64 {
        let lanes = if shape.is_buffered() { shape.lanes() } else { 0 };
        8 * shape.ops.len() as u64 * (shape.threads() + lanes) as u64
    }

    /// The node at which a write is in memory.
    pub(crate) fn arrival(&self, write: u32) -> Node {
        self.arrivals[write as usize]
    }

    /// The operation of a node, and whether the node is its reaching memory after it was buffered.
    pub(crate) fn op(&self, node: Node) -> (u32, bool) {
        let behind = (node as usize).checked_sub(self.ops);
        behind.map_or((node, false), |at| (self.writes[at], true))
    }

    fn nodes(&self) -> usize {
        self.ops + self.writes.len()
    }

    /// Where what is before a node ends in the chains, and where what is after it begins.
    fn events(&self, node: Node) -> (u32, u32) {
        let last = self.lasts[node as usize];
        (if (node as usize) < self.ops { node } else { last }, last)
    }

    /// Whether `a` is before or equal to `b`.
    pub(crate) fn at_most(&self, a: Node, b: Node) -> bool {
        a == b || self.chains.before(self.events(a).1, self.events(b).0)
    }

    /// Program order and whatever `add` adds to it at the beginning.
    pub(crate) fn build(&mut self, shape: &Shape, add: impl FnOnce(&mut Order)) -> Result<(), Cyclic> {
        self.ops = shape.ops.len();
        self.threads = shape.threads();
        let lanes = if shape.is_buffered() { shape.lanes() } else { 0 };
        let length = |lane: usize| shape.lane(lane).len() as u32;
        self.chains.reset((0..self.threads).map(|thread| shape.length(thread)).chain((0..lanes).map(length)));
        self.arrivals.clear();
        self.writes.clear();
        self.lasts.clear();
        self.lasts.extend(0..self.ops as u32);
        for (number, op) in shape.ops.iter().enumerate() {
            let in_lane = |chains: &Chains| chains.chains()[self.threads + op.lane as usize][op.lane_index as usize];
            self.arrivals.push(match op.kind {
                Kind::Store => {
                    if lanes > 0 {
                        self.lasts[number] = in_lane(&self.chains);
                    }
                    number as u32
                }
                Kind::Write => {
                    self.lasts.push(in_lane(&self.chains));
                    self.writes.push(number as u32);
                    (self.ops + self.writes.len() - 1) as u32
                }
                _ => NONE,
            });
        }
        self.edges.clear();
        self.heads.clear();
        self.heads.resize(self.nodes(), NONE);
        self.program_edges(shape);
        add(self);
        self.sort(shape)
    }

    /// Adds an edge without looking at what follows from it. Only before the order is sorted.
    pub(crate) fn put(&mut self, from: Node, to: Node, why: Why) {
        self.edges.push(Edge { to, next: self.heads[from as usize], why });
        self.heads[from as usize] = self.edges.len() as u32 - 1;
    }

    /// What program order says besides chains.
    fn program_edges(&mut self, shape: &Shape) {
        for thread in 0..shape.threads() {
            // The writes since the last time the buffer was empty; older ones are before that.
            let mut since = shape.starts[thread];
            for number in shape.starts[thread]..shape.starts[thread + 1] {
                let op = shape.op(number);
                if matches!(op.kind, Kind::Fence | Kind::Join) {
                    if shape.is_buffered() {
                        self.drain_edges(shape, since, number);
                    }
                    since = number;
                }
                if op.kind == Kind::Join {
                    let child = op.loc as usize;
                    if shape.length(child) > 0 {
                        self.put(shape.starts[child + 1] - 1, number, Why::End);
                    } else if shape.spawns[child] != NONE {
                        self.put(shape.spawns[child], number, Why::End);
                    }
                }
                for &(lane, count) in if op.kind == Kind::Write { shape.behind(number) } else { &[] } {
                    let older = shape.lane(lane as usize)[count as usize - 1];
                    self.put(self.arrival(older), self.arrival(number), Why::StoreFence);
                }
            }
            if shape.spawns[thread] != NONE && shape.length(thread) > 0 {
                self.put(shape.spawns[thread], shape.starts[thread], Why::Start);
            }
        }
    }

    /// The last write of each lane since `since` reaches memory before the fence.
    fn drain_edges(&mut self, shape: &Shape, since: u32, fence: u32) {
        for number in (since..fence).rev() {
            let op = shape.op(number);
            if op.kind != Kind::Write {
                continue;
            }
            let next = shape.lane(op.lane as usize).get(op.lane_index as usize + 1);
            if next.is_none_or(|&next| next > fence) {
                self.put(self.arrival(number), fence, Why::Drain);
            }
        }
    }

    /// The node's successors along its chains.
    fn chain_successors(&self, shape: &Shape, node: Node) -> [Option<(Node, Why)>; 2] {
        let (number, arrival) = self.op(node);
        let op = shape.op(number);
        if arrival {
            let next = shape.lane(op.lane as usize).get(op.lane_index as usize + 1);
            return [next.map(|&next| (self.arrival(next), Why::Buffer)), None];
        }
        let last = number + 1 == shape.starts[op.thread as usize + 1];
        [
            (!last).then_some((number + 1, Why::Program)),
            (op.kind == Kind::Write).then(|| (self.arrival(number), Why::Issue)),
        ]
    }

    fn for_successors(&self, shape: &Shape, node: Node, mut visit: impl FnMut(Node, Why, Option<u32>)) {
        self.chain_successors(shape, node).into_iter().flatten().for_each(|(next, why)| visit(next, why, None));
        let mut at = self.heads[node as usize];
        while at != NONE {
            let edge = self.edges[at as usize];
            visit(edge.to, edge.why, Some(at));
            at = edge.next;
        }
    }

    /// Places the events of the chains along a topological order (Kahn 1962).
    fn sort(&mut self, shape: &Shape) -> Result<(), Cyclic> {
        let nodes = self.nodes();
        let mut degrees = std::mem::take(&mut self.degrees);
        degrees.clear();
        degrees.resize(nodes, 0);
        for node in 0..nodes as u32 {
            self.for_successors(shape, node, |next, _, _| degrees[next as usize] += 1);
        }
        let mut ready: Vec<Node> = (0..nodes as u32).filter(|&node| degrees[node as usize] == 0).collect();
        let mut sorted = 0;
        let mut successors = Vec::new();
        while let Some(node) = ready.pop() {
            sorted += 1;
            let (first, last) = self.events(node);
            if first != last {
                self.chains.carry(first, last);
            }
            self.for_successors(shape, node, |next, _, _| successors.push(next));
            for next in successors.drain(..) {
                self.chains.carry(last, self.events(next).0);
                degrees[next as usize] -= 1;
                if degrees[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        self.degrees = degrees;
        if sorted == nodes { Ok(()) } else { Err(Cyclic) }
    }

    /// Puts `from` before `to`. Tells whether that is news.
    pub(crate) fn add(&mut self, from: Node, to: Node, why: Why) -> Result<bool, Cyclic> {
        let closes = self.at_most(to, from);
        if !closes && self.at_most(from, to) {
            return Ok(false);
        }
        self.put(from, to, why);
        if closes {
            return Err(Cyclic);
        }
        let inserted = self.chains.insert(self.events(from).1, self.events(to).0);
        Ok(inserted.expect("it closes no cycle"))
    }

    /// Under SC, the operations in some order that extends this one.
    pub(crate) fn sequence(&self) -> Vec<u32> {
        let mut sequence: Vec<u32> = (0..self.ops as u32).collect();
        // What is after something has more before it.
        sequence.sort_by_key(|&op| self.chains.row(op).iter().sum::<u32>());
        sequence
    }

    /// Whether everything before the node is done in the prefix.
    pub(crate) fn allows(&self, prefix: &Prefix, node: Node) -> bool {
        let row = self.chains.row(self.events(node).0);
        row.iter().zip(prefix.pos.iter().chain(&prefix.done)).all(|(before, count)| before <= count)
    }

    /// The same, looking at threads only, not at what has reached memory.
    pub(crate) fn allows_thread_events(&self, prefix: &Prefix, node: Node) -> bool {
        let row = self.chains.row(self.events(node).0);
        row.iter().zip(&prefix.pos).all(|(before, count)| before <= count)
    }

    /// A shortest way from one node to another, along the chains and the first `limit` edges.
    pub(crate) fn path(&self, shape: &Shape, from: Node, to: Node, limit: u32) -> Option<Vec<Link>> {
        let mut came: Vec<Option<Link>> = vec![None; self.nodes()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front()
            && came[to as usize].is_none()
        {
            self.for_successors(shape, node, |next, why, edge| {
                if came[next as usize].is_none() && edge.is_none_or(|edge| edge < limit) {
                    came[next as usize] = Some(Link { from: node, to: next, why, edge });
                    queue.push_back(next);
                }
            });
        }
        let mut path = Vec::new();
        let mut at = to;
        loop {
            let link = came[at as usize]?;
            path.push(link);
            at = link.from;
            if at == from {
                path.reverse();
                return Some(path);
            }
        }
    }

    /// A cycle, after [`Cyclic`]: a shortest one, unless there are too many nodes to try them all.
    pub(crate) fn cycle(&self, shape: &Shape) -> Vec<Link> {
        let through = |&node: &Node| self.path(shape, node, node, NONE);
        let shortest = |nodes: &[Node]| nodes.iter().filter_map(through).min_by_key(Vec::len).unwrap_or_default();
        if self.nodes() <= FEW {
            return shortest(&(0..self.nodes() as u32).collect::<Vec<_>>());
        }
        let some = self.node_on_a_cycle(shape).and_then(|node| through(&node)).unwrap_or_default();
        shortest(&some.iter().map(|link| link.from).take(FEW).collect::<Vec<_>>())
    }

    /// Takes away nodes without predecessors until only cycles and what is behind them is left, and walks back from there.
    fn node_on_a_cycle(&self, shape: &Shape) -> Option<Node> {
        let mut degrees = vec![0_u32; self.nodes()];
        for node in 0..self.nodes() as u32 {
            self.for_successors(shape, node, |next, _, _| degrees[next as usize] += 1);
        }
        let mut ready: Vec<Node> = (0..self.nodes() as u32).filter(|&node| degrees[node as usize] == 0).collect();
        let mut before = vec![NONE; self.nodes()];
        while let Some(node) = ready.pop() {
            self.for_successors(shape, node, |next, _, _| {
                degrees[next as usize] -= 1;
                if degrees[next as usize] == 0 {
                    ready.push(next);
                }
            });
        }
        for node in (0..self.nodes() as u32).filter(|&node| degrees[node as usize] > 0) {
            self.for_successors(shape, node, |next, _, _| before[next as usize] = node);
        }
        let mut node = (0..self.nodes() as u32).find(|&node| degrees[node as usize] > 0)?;
        for _ in 0..self.nodes() {
            node = before[node as usize];
        }
        Some(node)
    }
}
