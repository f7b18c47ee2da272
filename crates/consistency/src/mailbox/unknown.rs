//! What a trace leaves open: orders of writes, and what reads read.
//!
//! Each two writes of a location without an order are a pair to decide, and so is each read with each write that it may have read; of those at least one must be chosen. A write that comes before another comes
//! before it together with its readers: for a reader that is chosen too, the edge rests on both choices. Two sources of one read exclude each other by these edges, so nothing more has to be said.
//!
//! Decided without a choice: a write that reaches another comes before it, and so does one that reaches a reader of it; a read does not read what it reaches, nor the initial value if a write reaches it.
//! Grahn 2026 names both extensions; how they share one search with the mailboxes is our own.

use super::constraints::{Given, GivenEdge, INITIAL, Literal, Pair, What};
use super::order::Edge;
use super::trace::{Kind, Trace};
use rustc_hash::FxHashMap;

/// What there is to know about reads and writes whose order or source is open.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Readers that are given, of writes of locations without an order.
    readers: FxHashMap<u32, Vec<usize>>,
    /// Pairs that say that some read reads this write.
    maybe: FxHashMap<u32, Vec<u32>>,
    /// The pair of two writes, the smaller first.
    written: FxHashMap<(u32, u32), u32>,
    /// Per read its pairs: one of them has to be chosen.
    pub(super) choices: Vec<Vec<u32>>,
    /// Whether the writes of a location have no order, and the place of each write in the order it has.
    is_unordered: Vec<bool>,
    place: FxHashMap<u32, usize>,
}

impl Memory {
    /// Adds the pairs that are open to those there are.
    pub(super) fn new(trace: &Trace, given: &[GivenEdge], pairs: &mut Vec<Pair>) -> Self {
        let mut memory = Memory { is_unordered: vec![false; trace.coherence.len()], ..Memory::default() };
        if trace.unknown.is_nothing() {
            return memory;
        }
        for &location in &trace.unknown.orders {
            memory.is_unordered[location] = true;
            let writes = &trace.coherence[location];
            for (at, &one) in writes.iter().enumerate() {
                for &other in &writes[at + 1..] {
                    let (first, second) = (one.min(other) as u32, one.max(other) as u32);
                    memory.written.insert((first, second), pairs.len() as u32);
                    pairs.push(Pair { first, second, what: What::Written, partner: None });
                }
            }
        }
        for (order, _) in trace.coherence.iter().zip(&memory.is_unordered).filter(|(_, unordered)| !**unordered) {
            order.iter().enumerate().for_each(|(at, &write)| _ = memory.place.insert(write as u32, at));
        }
        for edge in given.iter().filter(|edge| edge.why == Given::ReadsFrom) {
            memory.readers.entry(edge.from as u32).or_default().push(edge.to);
        }
        for (read, sources) in &trace.unknown.reads {
            let mut choices = Vec::new();
            for source in sources {
                let number = pairs.len() as u32;
                let second = source.map_or(INITIAL, |write| write as u32);
                pairs.push(Pair { first: *read as u32, second, what: What::Reads, partner: None });
                memory.maybe.entry(second).or_default().push(number);
                choices.push(number);
            }
            memory.choices.push(choices);
        }
        memory
    }

    /// The location that a pair is about.
    pub(super) fn location(trace: &Trace, pair: Pair) -> usize {
        match trace.events[pair.first as usize].kind {
            Kind::Read { location, .. } | Kind::Write { location } => location,
            Kind::Get | Kind::Post(_) => unreachable!("a pair of memory is about reads and writes"),
        }
    }

    /// The pairs of events whose order, should it be known, decides a pair this way.
    pub(super) fn witnesses(&self, trace: &Trace, pair: Pair, swapped: bool) -> Vec<(usize, usize)> {
        let (first, second) = pair.ordered(swapped);
        match pair.what {
            What::Written => {
                let readers = self.readers.get(&(second as u32)).into_iter().flatten();
                std::iter::once((first, second)).chain(readers.map(|&read| (first, read))).collect()
            }
            What::Reads if !swapped => Vec::new(),
            What::Reads if pair.second == INITIAL => {
                let writes = &trace.coherence.get(Memory::location(trace, pair)).map_or(&[][..], Vec::as_slice);
                writes.iter().map(|&write| (write, pair.first as usize)).collect()
            }
            What::Reads => vec![(pair.first as usize, pair.second as usize)],
            _ => Vec::new(),
        }
    }

    /// The edges that come with a decision, and with those before it, which `decided` knows.
    pub(super) fn consequences(
        &self,
        trace: &Trace,
        pairs: &[Pair],
        pair: Pair,
        literal: Literal,
        decided: impl Fn(u32) -> Option<Literal>,
    ) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut add = |from: usize, to: usize, since: Vec<u32>| edges.push(Edge { from, to, since });
        match pair.what {
            What::Written => {
                let (first, second) = pair.ordered(literal.swapped());
                add(first, second, vec![literal.0]);
                for &read in self.readers.get(&(first as u32)).into_iter().flatten() {
                    add(read, second, vec![literal.0]);
                }
                for &number in self.maybe.get(&(first as u32)).into_iter().flatten() {
                    if let Some(chosen) = decided(number).filter(|chosen| !chosen.swapped()) {
                        add(pairs[number as usize].first as usize, second, vec![literal.0, chosen.0]);
                    }
                }
            }
            What::Reads if !literal.swapped() => {
                let read = pair.first as usize;
                let location = Memory::location(trace, pair);
                let writes = trace.coherence.get(location).map_or(&[][..], Vec::as_slice);
                let is_unordered = self.is_unordered.get(location) == Some(&true);
                if pair.second == INITIAL {
                    let all = if is_unordered { writes } else { &writes[..writes.len().min(1)] };
                    all.iter().for_each(|&write| add(read, write, vec![literal.0]));
                    return edges;
                }
                add(pair.second as usize, read, vec![literal.0]);
                if !is_unordered {
                    let next = self.place.get(&pair.second).and_then(|at| writes.get(at + 1));
                    next.into_iter().for_each(|&next| add(read, next, vec![literal.0]));
                    return edges;
                }
                for &other in writes.iter().filter(|&&other| other as u32 != pair.second) {
                    let key = (pair.second.min(other as u32), pair.second.max(other as u32));
                    let chosen = self.written.get(&key).and_then(|&number| decided(number));
                    let earlier = |chosen: &Literal| pairs[chosen.pair()].ordered(chosen.swapped()).0;
                    if let Some(chosen) = chosen.filter(|chosen| earlier(chosen) == pair.second as usize) {
                        add(read, other, vec![literal.0, chosen.0]);
                    }
                }
            }
            _ => {}
        }
        edges
    }
}
