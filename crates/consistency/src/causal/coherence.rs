//! Coherence of an instance, in nearly linear time: which writes are before which others of their location, and whether that has a cycle.
//!
//! For an access, the last access of each thread to its location that happens before it is enough: what that wrote or read is not after what the access reads or
//! writes. Each thread's accesses of a location are met in order, so one pointer per pair of threads moves over them. Without axioms about all locations at
//! once the orders of locations are independent, and any order of the [blocks](super::blocks) without a cycle does.
//!
//! Source: Tunç, Abdulla, Chakraborty, Krishna, Mathur, Pavlogiannis 2023. Cost O(n·k) for n events of k threads, and sorting.

use super::blocks::{Blocks, Write};
use super::clocks::Clocks;
use super::conflict::{Link, Why};
use crate::instance::{Instance, Source};
use raddle_trace::EventId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An access of a location.
#[derive(Clone, Copy, Debug)]
struct Access {
    event: u32,
    id: EventId,
    loc: u32,
    writes: bool,
    /// What it read, if it did.
    source: Option<Option<u32>>,
}

impl Access {
    /// The write that what comes before is not after; `None` is the initial one.
    fn target(&self) -> Option<u32> {
        self.source.unwrap_or(Some(self.event))
    }

    /// The write it shows to whom it happens before.
    fn shown(&self) -> Option<u32> {
        if self.writes { Some(self.event) } else { self.source.flatten() }
    }
}

/// The accesses of an instance, by location, thread and program order.
pub(crate) struct Accesses {
    list: Vec<Access>,
}

/// A write is not after another one of its location, which is another write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) first: u32,
    /// `None`: the initial one, and that is a contradiction.
    pub(crate) second: Option<u32>,
    /// The access that reads or writes the second.
    pub(crate) access: u32,
    /// What happens before it, and wrote or read the first.
    pub(crate) since: u32,
}

impl Accesses {
    pub(crate) fn of(instance: &Instance) -> Self {
        let mut list: Vec<Access> = Vec::with_capacity(instance.len());
        for (event, (id, action)) in instance.events().enumerate() {
            let Some(loc) = action.loc() else { continue };
            let source = action.source().map(|source| match source {
                Source::Initial => None,
                Source::Write(write) => Some(instance.flat(write)),
            });
            list.push(Access { event: event as u32, id, loc: loc.0, writes: action.writes(), source });
        }
        // Threads and program order stay as they are.
        list.sort_by_key(|access| access.loc);
        Accesses { list }
    }

    pub(crate) fn writes(&self) -> impl Iterator<Item = Write> + Clone + '_ {
        self.list.iter().filter(|access| access.writes).map(|access| Write {
            event: access.event,
            loc: access.loc,
            follows: access.source,
        })
    }

    /// The accesses of each location.
    fn locations(&self) -> impl Iterator<Item = &[Access]> {
        self.list.chunk_by(|a, b| a.loc == b.loc)
    }

    /// Visits what the past of each access says about the order of writes, as far as it does not follow from what an earlier access of the thread said.
    pub(crate) fn edges(&self, clocks: &Clocks, mut visit: impl FnMut(Edge)) {
        self.locations().for_each(|location| edges_of(location, clocks, &mut visit));
    }

    /// A read whose source is hidden: it is before another write that happens before the read.
    pub(crate) fn hidden(&self, clocks: &Clocks, names: &[EventId]) -> Option<Edge> {
        let mut found = None;
        for location in self.locations() {
            let parts: Vec<&[Access]> = location.chunk_by(|a, b| a.id.thread == b.id.thread).collect();
            for own in &parts {
                let mut last: Vec<(usize, Option<u32>)> = vec![(0, None); parts.len()];
                for access in *own {
                    for (part, (at, write)) in parts.iter().zip(&mut last) {
                        advance(part, clocks, access, at, |other| {
                            if other.writes {
                                *write = Some(other.event);
                            }
                        });
                        let (Some(source), Some(write)) = (access.source, *write) else { continue };
                        let hides = source.is_none_or(|source| {
                            source != write && clocks.before(names[source as usize], write, source == write)
                        });
                        if hides && found.is_none() {
                            found = Some(Edge { first: write, second: source, access: access.event, since: write });
                        }
                    }
                }
            }
        }
        found
    }

    /// An order of the writes of every location, or a cycle.
    pub(crate) fn order(&self, clocks: &Clocks, blocks: &Blocks) -> Result<Vec<u32>, Vec<Link>> {
        let mut place = vec![0; clocks.sequence.len()];
        clocks.sequence.iter().enumerate().for_each(|(at, &event)| place[event as usize] = at as u32);
        let mut sequence = Vec::new();
        for location in self.locations() {
            let mut edges = Vec::new();
            edges_of(location, clocks, &mut |edge| edges.push(edge));
            let own: Vec<u32> = {
                let writes = location.iter().filter(|access| access.writes);
                let heads =
                    writes.map(|access| blocks.member(access.event as usize)).filter(|member| member.place == 0);
                heads.map(|member| member.block).collect()
            };
            sort(&own, &edges, blocks, &place, &mut sequence)?;
        }
        Ok(sequence)
    }
}

/// Moves over the accesses of a part that happen before this one.
fn advance(part: &[Access], clocks: &Clocks, access: &Access, at: &mut usize, mut see: impl FnMut(&Access)) -> bool {
    let thread = part[0].id.thread;
    let known = if thread == access.id.thread { access.id.index } else { clocks.now(access.event)[thread.index()] };
    let before = *at;
    while let Some(other) = part.get(*at).filter(|other| other.id.index < known) {
        see(other);
        *at += 1;
    }
    *at > before
}

/// What of a thread's accesses of a location has been seen.
#[derive(Clone, Debug, Default)]
struct Seen {
    upto: usize,
    /// What the last write and the last read showed, and which they are.
    shown: [Option<(u32, u32)>; 2],
}

fn edges_of(location: &[Access], clocks: &Clocks, visit: &mut impl FnMut(Edge)) {
    let parts: Vec<&[Access]> = location.chunk_by(|a, b| a.id.thread == b.id.thread).collect();
    for own in &parts {
        let mut seen = vec![Seen::default(); parts.len()];
        for access in *own {
            for (part, Seen { upto, shown }) in parts.iter().zip(&mut seen) {
                let moved = advance(part, clocks, access, upto, |other| {
                    if let Some(write) = other.shown() {
                        shown[usize::from(!other.writes)] = Some((write, other.event));
                    }
                });
                // Else what an earlier access of the thread said is enough, and that one is not after this one.
                if moved {
                    let target = access.target();
                    for (first, since) in shown.iter().flatten().copied().filter(|&(first, _)| Some(first) != target) {
                        visit(Edge { first, second: target, access: access.event, since });
                    }
                }
            }
        }
    }
}

/// Puts the blocks of a location in an order, those first whose writes are early in the sequence of events.
fn sort(own: &[u32], edges: &[Edge], blocks: &Blocks, place: &[u32], sequence: &mut Vec<u32>) -> Result<(), Vec<Link>> {
    let member = |write: u32| blocks.member(write as usize);
    let mut after: rustc_hash::FxHashMap<u32, Vec<usize>> = rustc_hash::FxHashMap::default();
    let mut before: rustc_hash::FxHashMap<u32, u32> = rustc_hash::FxHashMap::default();
    let initial = own.iter().copied().find(|&block| blocks.initial[block as usize]);
    for (number, edge) in edges.iter().enumerate() {
        let first = member(edge.first);
        let Some(write) = edge.second else { return Err(Link::missed(edge)) };
        let second = member(write);
        if first.block == second.block {
            if first.place > second.place {
                return Err(vec![Link::of(edge), Link { from: write, to: edge.first, why: Why::Chain }]);
            }
            continue;
        }
        if Some(second.block) == initial {
            return Err(vec![Link::of(edge), Link { from: write, to: edge.first, why: Why::First }]);
        }
        after.entry(first.block).or_default().push(number);
        *before.entry(second.block).or_default() += 1;
    }
    let rank = |block: u32| {
        let early = Some(block) != initial;
        (early, blocks.writes[block as usize].iter().map(|&write| place[write as usize]).min(), block)
    };
    let is_free =
        |before: &rustc_hash::FxHashMap<u32, u32>, block: u32| before.get(&block).is_none_or(|&left| left == 0);
    let mut ready: BinaryHeap<_> =
        own.iter().filter(|&&block| is_free(&before, block)).map(|&block| Reverse(rank(block))).collect();
    let mut done = 0;
    while let Some(Reverse((.., block))) = ready.pop() {
        done += 1;
        sequence.extend_from_slice(&blocks.writes[block as usize]);
        for &edge in after.get(&block).into_iter().flatten() {
            let next = member(edges[edge].second.expect("looked at above")).block;
            let left = before.get_mut(&next).expect("counted above");
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse(rank(next)));
            }
        }
    }
    if done == own.len() { Ok(()) } else { Err(cycle(edges, blocks, &before)) }
}

/// A cycle among the blocks that something is still before.
fn cycle(edges: &[Edge], blocks: &Blocks, left: &rustc_hash::FxHashMap<u32, u32>) -> Vec<Link> {
    let block = |write: u32| blocks.member(write as usize).block;
    let is_left = |block: u32| left.get(&block).is_some_and(|&left| left > 0);
    // Each of them has an edge from another one.
    let mut into: rustc_hash::FxHashMap<u32, Edge> = rustc_hash::FxHashMap::default();
    for edge in edges {
        let to = edge.second.map(block).expect("looked at before");
        if is_left(block(edge.first)) && block(edge.first) != to {
            into.insert(to, *edge);
        }
    }
    let mut met: Vec<u32> = Vec::new();
    let mut at = *into.keys().min().expect("something is left");
    while !met.contains(&at) {
        met.push(at);
        at = block(into[&at].first);
    }
    let start = met.iter().position(|&other| other == at).expect("it was met");
    let around: Vec<Edge> = met[start..].iter().rev().map(|block| into[block]).collect();
    let mut links = Vec::new();
    for (number, edge) in around.iter().enumerate() {
        links.push(Link::of(edge));
        let next = around[(number + 1) % around.len()].first;
        let here = edge.second.expect("looked at before");
        if here != next {
            let why = if blocks.member(here as usize).place < blocks.member(next as usize).place {
                Why::Chain
            } else {
                Why::Together
            };
            links.push(Link { from: here, to: next, why });
        }
    }
    links
}
