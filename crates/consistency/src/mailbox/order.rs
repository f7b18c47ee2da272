//! A partial order of events that grows edge by edge and can be taken back: who reaches whom, in bit sets, kept closed.
//!
//! An edge costs a row operation for everybody before it and everybody behind it. Every edge remembers the literals that it rests on, so that a way can be asked why.

use std::collections::VecDeque;

/// The order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    words: usize,
    /// Whom each event reaches, and who reaches it; itself included.
    after: Vec<u64>,
    before: Vec<u64>,
    /// Words as they were: whether of `after`, which, and what it was.
    trail: Vec<(bool, u32, u64)>,
    /// The edges, with what they rest on; and those that leave each event.
    edges: Vec<Edge>,
    leaving: Vec<Vec<u32>>,
    /// Whether what is added may be taken back.
    keeps: bool,
}

/// An edge.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Literals, as numbers; a given edge has none.
    pub(super) since: Vec<u32>,
}

/// A moment to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    trail: usize,
    edges: usize,
}

impl Order {
    /// The order of these edges; none, if they have a cycle.
    pub(super) fn new(size: usize, given: impl Iterator<Item = (usize, usize)>) -> Option<Self> {
        let mut order = Order::empty(size);
        order.extend(given).then_some(order)
    }

    /// Adds many edges that stay, and closes the order at once, along a topological order: an edge costs one row operation each way. No, if that makes a cycle; then it is no order any more.
    pub(super) fn extend(&mut self, more: impl Iterator<Item = (usize, usize)>) -> bool {
        debug_assert!(self.trail.is_empty(), "what stays is not added on top of what may be taken back");
        for (from, to) in more {
            self.leaving[from].push(self.edges.len() as u32);
            self.edges.push(Edge { from, to, since: Vec::new() });
        }
        let size = self.leaving.len();
        let mut entering = self.entering();
        let mut sorted: Vec<usize> = (0..size).filter(|&at| entering[at] == 0).collect();
        let mut at = 0;
        while let Some(&event) = sorted.get(at) {
            at += 1;
            for &edge in &self.leaving[event] {
                let to = self.edges[edge as usize].to;
                entering[to] -= 1;
                if entering[to] == 0 {
                    sorted.push(to);
                }
            }
        }
        if sorted.len() < size {
            return false;
        }
        for &event in &sorted {
            for &edge in &self.leaving[event] {
                join(&mut self.before, self.words, self.edges[edge as usize].to, event);
            }
        }
        for &event in sorted.iter().rev() {
            for &edge in &self.leaving[event] {
                join(&mut self.after, self.words, event, self.edges[edge as usize].to);
            }
        }
        true
    }

    /// How many events there is room for.
    pub(super) fn size(&self) -> usize {
        self.leaving.len()
    }

    /// Makes room for so many events. What may be taken back stays so.
    pub(super) fn grow(&mut self, size: usize) {
        let mut larger = Order::empty(size);
        let old = self.words;
        for (own, rows) in [(&mut larger.after, &self.after), (&mut larger.before, &self.before)] {
            for event in 0..self.leaving.len() {
                own[event * larger.words..][..old].copy_from_slice(&rows[event * old..][..old]);
            }
        }
        let place = |place: u32| (place as usize / old * larger.words + place as usize % old) as u32;
        larger.trail = self.trail.iter().map(|&(forward, at, word)| (forward, place(at), word)).collect();
        larger.edges = std::mem::take(&mut self.edges);
        larger.leaving = std::mem::take(&mut self.leaving);
        larger.leaving.resize(size, Vec::new());
        larger.keeps = self.keeps;
        *self = larger;
    }

    /// From now on what is added may be taken back, or not: then nothing of it is kept.
    pub(super) fn keep(&mut self, keeps: bool) {
        self.keeps = keeps;
    }

    fn empty(size: usize) -> Self {
        let words = size.div_ceil(64);
        let mut order = Order {
            words,
            after: vec![0; size * words],
            before: vec![0; size * words],
            trail: Vec::new(),
            edges: Vec::new(),
            leaving: vec![Vec::new(); size],
            keeps: false,
        };
        for at in 0..size {
            order.after[at * words + at / 64] |= 1 << (at % 64);
            order.before[at * words + at / 64] |= 1 << (at % 64);
        }
        order
    }

    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        self.after[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), edges: self.edges.len() }
    }

    /// Adds an edge. If that would make a cycle, nothing is added, and the answer is no.
    pub(super) fn add(&mut self, edge: Edge) -> bool {
        let (from, to) = (edge.from, edge.to);
        if from == to || self.reaches(to, from) {
            return false;
        }
        let known = self.reaches(from, to);
        if known && !self.keeps {
            return true;
        }
        self.leaving[from].push(self.edges.len() as u32);
        self.edges.push(edge);
        if known {
            return true;
        }
        let words = self.words;
        let earlier: Vec<u64> = self.before[from * words..][..words].to_vec();
        let later: Vec<u64> = self.after[to * words..][..words].to_vec();
        for (forward, members, row) in [(true, &earlier, &later), (false, &later, &earlier)] {
            for (at, &word) in members.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let member = at * 64 + word.trailing_zeros() as usize;
                    word &= word - 1;
                    let rows = if forward { &mut self.after } else { &mut self.before };
                    for (place, &more) in row.iter().enumerate().filter(|(_, more)| **more != 0) {
                        let own = &mut rows[member * words + place];
                        if self.keeps && *own | more != *own {
                            self.trail.push((forward, (member * words + place) as u32, *own));
                        }
                        *own |= more;
                    }
                }
            }
        }
        true
    }

    /// Takes back everything since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            let (forward, place, word) = self.trail.pop().expect("there is one more");
            let rows = if forward { &mut self.after } else { &mut self.before };
            rows[place as usize] = word;
        }
        while self.edges.len() > mark.edges {
            let edge = self.edges.pop().expect("there is one more");
            self.leaving[edge.from].pop();
        }
    }

    /// The edges of a shortest way, which is empty from an event to itself.
    pub(super) fn way(&self, from: usize, to: usize) -> Vec<&Edge> {
        let mut reached: Vec<u32> = vec![u32::MAX; self.leaving.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at == to {
                break;
            }
            for &number in &self.leaving[at] {
                let then = self.edges[number as usize].to;
                if then != from && reached[then] == u32::MAX {
                    reached[then] = number;
                    queue.push_back(then);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while at != from {
            let edge = &self.edges[reached[at] as usize];
            way.push(edge);
            at = edge.from;
        }
        way.reverse();
        way
    }

    /// How many events are before this one, itself included.
    pub(super) fn earlier(&self, event: usize) -> u32 {
        self.before[event * self.words..][..self.words].iter().map(|word| word.count_ones()).sum()
    }

    /// Everything in an order that extends this one.
    pub(super) fn sorted(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.leaving.len()).collect();
        all.sort_by_cached_key(|&at| self.earlier(at));
        all
    }

    /// Where the edges that leave an event lead.
    pub(super) fn next(&self, event: usize) -> impl Iterator<Item = usize> {
        self.leaving[event].iter().map(|&edge| self.edges[edge as usize].to)
    }

    /// How many edges enter each event.
    pub(super) fn entering(&self) -> Vec<u32> {
        let mut entering = vec![0; self.leaving.len()];
        self.edges.iter().for_each(|edge| entering[edge.to] += 1);
        entering
    }
}

/// Adds one row to another.
fn join(rows: &mut [u64], words: usize, own: usize, more: usize) {
    for word in 0..words {
        rows[own * words + word] |= rows[more * words + word];
    }
}
