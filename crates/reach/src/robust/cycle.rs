//! Whether a run could be one without store buffers: the judge of every attack.
//!
//! Program order, where reads read from, the order in which writes reached memory, and from each read to the write that overwrote what it read. A store and its arrival in memory are
//! one event, and so is an atomic block. A run of TSO has the relations of one of SC exactly if they have no cycle (Shasha, Snir 1988). This knows nothing of attacks: it looks at a run that
//! has been replayed.

use raddle_trace::execution::Entry;
use raddle_trace::{Action, Event, EventName, Execution, Source, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

/// Why one event comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// Its thread did it first, or started or waited for the other's.
    ProgramOrder,
    /// The other reads what it wrote.
    ReadsFrom,
    /// It reached memory first.
    Coherence,
    /// It read what the other overwrote.
    FromRead,
}

/// An event and why the next one on the cycle comes after it.
pub type Link = (EventName, Because);

/// A shortest cycle through the events of a run, if there is one.
pub fn cycle(execution: &Execution) -> Option<Vec<Link>> {
    let edges = edges(execution);
    let mut shortest: Option<Vec<Link>> = None;
    for &start in edges.keys() {
        let way = way_back(&edges, start);
        if way.as_ref().is_some_and(|way| shortest.as_ref().is_none_or(|known| way.len() < known.len())) {
            shortest = way;
        }
    }
    shortest
}

type Edges = BTreeMap<EventName, BTreeSet<(EventName, Because)>>;

fn way_back(edges: &Edges, start: EventName) -> Option<Vec<Link>> {
    let mut from: BTreeMap<EventName, Link> = BTreeMap::new();
    let mut todo = std::collections::VecDeque::from([start]);
    while let Some(event) = todo.pop_front() {
        for &(next, because) in edges.get(&event).into_iter().flatten() {
            if next == start {
                let mut way = vec![(event, because)];
                while way[way.len() - 1].0 != start {
                    way.push(from[&way[way.len() - 1].0]);
                }
                way.reverse();
                return Some(way);
            }
            from.entry(next).or_insert_with(|| {
                todo.push_back(next);
                (event, because)
            });
        }
    }
    None
}

/// The events of atomic blocks, each with the one that stands for its block: a block is one event.
fn blocks(execution: &Execution) -> BTreeMap<EventName, EventName> {
    let (mut blocks, mut inside) = (BTreeMap::new(), BTreeMap::<ThreadName, EventName>::new());
    for entry in &execution.steps {
        let Entry::Event { event: Event { id, action, .. }, .. } = entry else { continue };
        if matches!(action, Action::Atomic { begin: true }) {
            inside.insert(id.thread, *id);
        }
        if let Some(&first) = inside.get(&id.thread) {
            blocks.insert(*id, first);
        }
        if matches!(action, Action::Atomic { begin: false }) {
            inside.remove(&id.thread);
        }
    }
    blocks
}

fn edges(execution: &Execution) -> Edges {
    let mut edges = Edges::new();
    let blocks = blocks(execution);
    let node = |event: EventName| blocks.get(&event).copied().unwrap_or(event);
    let mut add = |from: EventName, to: EventName, because: Because| {
        let (from, to) = (node(from), node(to));
        if from != to {
            edges.entry(from).or_default().insert((to, because));
        }
    };
    let mut last: BTreeMap<ThreadName, EventName> = BTreeMap::new();
    let mut starts: BTreeMap<ThreadName, EventName> = BTreeMap::new();
    let events = execution.steps.iter().filter_map(|entry| match entry {
        Entry::Event { event, .. } => Some(event),
        _ => None,
    });
    for Event { id, action, .. } in events {
        let before = last.insert(id.thread, *id).or_else(|| starts.get(&id.thread).copied());
        if let Some(before) = before {
            add(before, *id, Because::ProgramOrder);
        }
        match action {
            Action::Spawn { child, .. } | Action::Post { message: child, .. } => {
                starts.insert(*child, *id);
            }
            Action::Join { child } => {
                let end = last.get(child).or(starts.get(child)).copied();
                if let Some(end) = end {
                    add(end, *id, Because::ProgramOrder);
                }
            }
            Action::Read { location, from, .. } | Action::Update { location, from, .. } => {
                let order = execution.coherence.get(location).map_or(&[][..], Vec::as_slice);
                let source = match from {
                    Source::Initial => None,
                    Source::Write(write) | Source::Buffer(write) => Some(*write),
                };
                if let Some(write) = source {
                    add(write, *id, Because::ReadsFrom);
                }
                let overwritten = match source {
                    None => order.first(),
                    Some(write) => order.iter().position(|&known| known == write).and_then(|at| order.get(at + 1)),
                };
                // An update overwrites what it read itself.
                if let Some(&next) = overwritten.filter(|next| *next != id) {
                    add(*id, next, Because::FromRead);
                }
            }
            _ => {}
        }
    }
    for order in execution.coherence.values() {
        for pair in order.windows(2) {
            add(pair[0], pair[1], Because::Coherence);
        }
    }
    edges
}
