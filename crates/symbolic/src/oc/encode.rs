//! From events to clauses and orders.
//!
//! Every read that happens reads from a write that happens and finds what that writes; which one is a literal each (`rf`). A write cannot be read if it comes
//! behind the read in any case, or if another one that is done whenever it is, or whenever the read is, comes in between. What memory holds at first is written by a node before
//! all others. What remains, that all this fits into one order, is for the theory ([`Orders`]).

use super::conflicts::{Counts, add_conflicts};
use super::graph::{Event, Graph, INITIAL, Location, Node};
use super::joins::Edge;
use super::races::{Race, races};
use super::unroll::Fail;
use raddle_engine::Refusal;
use raddle_machine::Code;
use raddle_solve::orders::Event as OrderedEvent;
use raddle_solve::{EventId, Lit, NodeId, Orders, Solver, Stop, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A read, and what it may read from.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) event: usize,
    pub(super) sources: Vec<(usize, Lit)>,
}

/// An unrolled program as a formula.
#[derive(Debug)]
pub(super) struct Formula {
    pub(super) solver: Solver,
    pub(super) orders: Orders,
    /// All events, those of the initial node at the end.
    pub(super) events: Vec<Event>,
    /// The literals of their guards.
    pub(super) guards: Vec<Lit>,
    pub(super) reads: Vec<Read>,
    /// The writes of a location.
    pub(super) writes: BTreeMap<Location, Vec<usize>>,
    /// Stores that a read may find in the buffer of its own thread.
    pub(super) own: FxHashSet<(usize, usize)>,
    /// Pairs of accesses that may race.
    pub(super) races: Vec<Race>,
    /// Contradictions that were found beforehand.
    pub(super) conflicts: Counts,
}

/// What a formula is to say beside who reads from whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Which accesses race.
    pub(super) races: bool,
    /// Which orders contradict each other.
    pub(super) conflicts: bool,
    /// Whether it is to be shown that there is no model where there is none.
    pub(super) certify: bool,
}

/// Which nodes come behind which in any case.
pub(super) struct Reach(Vec<Vec<u64>>);

impl Reach {
    fn new(graph: &Graph) -> Self {
        let nodes = graph.nodes as usize;
        let mut before = vec![vec![0u64; nodes.div_ceil(64)]; nodes];
        let mut edges = graph.edges.clone();
        edges.sort_unstable_by_key(|edge| edge.1);
        // A node has a greater number than those before it, so that all is known of these.
        for (from, to) in edges {
            let (from, to) = (from as usize, to as usize);
            let (lower, upper) = before.split_at_mut(to);
            for (word, more) in upper[0].iter_mut().zip(&lower[from]) {
                *word |= more;
            }
            upper[0][from / 64] |= 1 << (from % 64);
        }
        Reach(before)
    }

    /// Whether an event comes before another in any case; by node and number.
    pub(super) fn is_before(&self, one: (Node, usize), other: (Node, usize)) -> bool {
        if one.0 == other.0 {
            one.1 < other.1
        } else {
            self.0[other.0 as usize][one.0 as usize / 64] >> (one.0 % 64) & 1 == 1
        }
    }
}

/// Memory that is accessed with different sizes is refused.
fn refuse_overlaps(code: &Code, graph: &Graph) -> Result<(), Fail> {
    let mut all: Vec<(u64, u8, u32)> = Vec::new();
    for event in &graph.events {
        if let Location::Memory(addr, size) = event.location {
            all.push((addr, size, event.pc));
        }
    }
    all.sort_unstable();
    all.dedup_by_key(|access| (access.0, access.1));
    let mut last: Option<(u64, u8, u32)> = None;
    for access in all {
        if let Some((addr, size, pc)) = last
            && access.0 < addr + u64::from(size)
        {
            let message = format!(
                "the engine `oc` takes no accesses of {} and of {size} bytes to the same memory; ordinary ones with `--pieces PLACE=BYTES`, which `raddle check` finds out by itself",
                access.1
            );
            let common = access.1.min(size);
            let larger = if access.1 > size { access.2 } else { pc };
            let pieces = vec![(code.place(larger), common)];
            return Err(Fail::Refused(Box::new(Refusal { pieces, ..Refusal::at(code, larger, message) })));
        }
        if last.is_none_or(|(addr, size, _)| access.0 + u64::from(access.1) >= addr + u64::from(size)) {
            last = Some(access);
        }
    }
    Ok(())
}

/// How many pairs of a read and a write that it may read from are too many; each has a clause or two per bit.
const MOST_SOURCES: usize = 600_000;

/// The formula of an unrolled program whose joins order these nodes.
pub(super) fn encode(
    code: &Code,
    graph: &mut Graph,
    joined: &[Edge],
    wanted: Wanted,
    stop: &Stop,
) -> Result<Formula, Fail> {
    refuse_overlaps(code, graph)?;
    let mut solver = if wanted.certify { Solver::certified(stop.clone()) } else { Solver::new(stop.clone()) };
    let mut events = graph.events.clone();
    let mut writes: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let writes = writes.entry(event.location).or_default();
        if event.writes {
            writes.push(at);
        }
    }
    let yes = graph.terms.bool(true);
    for (&location, writes) in &mut writes {
        let value = graph.initial(code, location);
        writes.push(events.len());
        let (unwritten, missing, ordinary, depends) = (None, None, false, false);
        let (node, issued, writes, guard, reached, pc) = (INITIAL, INITIAL, true, yes, yes, 0);
        let first =
            Event { node, issued, location, writes, value, guard, unwritten, missing, reached, ordinary, depends, pc };
        events.push(first);
    }
    for &constraint in &graph.constraints {
        solver.assert(&graph.terms, constraint);
    }
    let guards: Vec<Lit> = events.iter().map(|event| solver.lit(&graph.terms, event.guard)).collect();
    let reach = Reach::new(graph);
    let own = own_stores(graph, &events, &writes);
    let mut reads = Vec::new();
    let mut pairs = 0;
    for (at, event) in events.iter().enumerate().filter(|(_, event)| !event.writes) {
        if stop.is_raised() {
            return Err(Fail::Stopped);
        }
        let candidates = candidates(graph, &reach, &events, at, &writes[&event.location]);
        let mut sources = Vec::new();
        pairs += candidates.len();
        if pairs > MOST_SOURCES {
            return Err(Fail::TooLarge(event.pc));
        }
        for &write in &candidates {
            let lit = match candidates[..] {
                [_] if guards[write] == Lit::TRUE => guards[at],
                _ => solver.sat.var(),
            };
            // What is found in the thread's own buffer need not arrive.
            let there = match own.contains(&(write, at)) {
                true => solver.lit(&graph.terms, events[write].reached),
                false => guards[write],
            };
            solver.sat.add(&[!lit, there]);
            solver.sat.add(&[!lit, guards[at]]);
            solver.equal_if(&graph.terms, &[lit], events[write].value, event.value);
            sources.push((write, lit));
        }
        let some: Vec<Lit> = sources.iter().map(|source| source.1).chain([!guards[at]]).collect();
        solver.sat.add(&some);
        // A store that never arrives stays in the buffer, and nothing older is found, nor what others store.
        for &store in candidates
            .iter()
            .filter(|&&store| own.contains(&(store, at)) && events[store].reached != events[store].guard)
        {
            let reached = solver.lit(&graph.terms, events[store].reached);
            let others =
                sources.iter().filter(|&&(write, _)| write != store && !(write > store && own.contains(&(write, at))));
            others.for_each(|&(_, lit)| solver.sat.add(&[!lit, !reached, guards[store]]));
        }
        if let Some(unwritten) = event.unwritten {
            let unwritten = solver.lit(&graph.terms, unwritten);
            let first =
                sources.iter().find(|source| events[source.0].node == INITIAL).map_or(Lit::FALSE, |first| first.1);
            solver.sat.add(&[!unwritten, first]);
            solver.sat.add(&[unwritten, !first]);
        }
        if let Some(missing) = event.missing {
            let missing = solver.lit(&graph.terms, missing);
            let mut some = vec![!missing];
            for &(write, lit) in &sources {
                let Some(without) = events[write].missing else {
                    solver.sat.add(&[!lit, !missing]);
                    continue;
                };
                let without = solver.lit(&graph.terms, without);
                solver.sat.add(&[!lit, !without, missing]);
                solver.sat.add(&[!lit, without, !missing]);
                some.push(lit);
            }
            solver.sat.add(&some);
        }
        reads.push(Read { event: at, sources });
    }
    let numbers: FxHashMap<Location, u32> = writes.keys().copied().zip(0..).collect();
    let ordered = events.iter().zip(0..).map(|(event, position)| OrderedEvent {
        node: NodeId(event.node),
        position,
        location: numbers[&event.location],
    });
    let mut orders = Orders::new(graph.nodes as usize, ordered.collect());
    for &(from, to) in &graph.edges {
        orders.edge(Lit::TRUE, NodeId(from), NodeId(to));
    }
    for &(condition, from, to) in joined.iter().chain(&graph.orders) {
        let lit = solver.lit(&graph.terms, condition);
        orders.edge(lit, NodeId(from), NodeId(to));
    }
    let mut of: FxHashMap<Location, Vec<&Read>> = FxHashMap::default();
    for read in &reads {
        of.entry(events[read.event].location).or_default().push(read);
    }
    for (location, list) in &writes {
        // What is written once only, at first, is in nobody's way.
        if list.len() == 1 {
            continue;
        }
        for &write in list {
            orders.done(guards[write], EventId(write as u32));
        }
        for read in of.get(location).into_iter().flatten() {
            if stop.is_raised() {
                return Err(Fail::Stopped);
            }
            for &write in list.iter().filter(|&&write| own.contains(&(write, read.event))) {
                orders.hides(EventId(write as u32), EventId(read.event as u32));
            }
            for &(write, lit) in &read.sources {
                let ids = (EventId(write as u32), EventId(read.event as u32));
                if own.contains(&(write, read.event)) {
                    orders.forwards(lit, ids.0, ids.1);
                } else {
                    orders.reads(lit, ids.0, ids.1);
                }
            }
        }
    }
    let mut pairs = Vec::new();
    if wanted.races {
        let Some(found) = races(graph, &events, &reach, &mut solver, &mut orders) else {
            let pc = graph.events.last().map_or(0, |event| event.pc);
            return Err(Fail::TooLarge(pc));
        };
        pairs = found;
    }
    let conflicts = Counts::default();
    let mut formula = Formula { solver, orders, events, guards, reads, writes, own, races: pairs, conflicts };
    if wanted.conflicts {
        formula.conflicts = add_conflicts(&mut formula, &reach, stop);
    }
    Ok(formula)
}

/// The stores, each with a read of its own thread and location that comes later in the thread, of which it is not certain that they arrive before it.
fn own_stores(graph: &Graph, events: &[Event], writes: &BTreeMap<Location, Vec<usize>>) -> FxHashSet<(usize, usize)> {
    let mut own = FxHashSet::default();
    for (read, event) in events.iter().enumerate().filter(|(_, event)| !event.writes) {
        let owner = |node: Node| graph.owners[node as usize];
        // A thread's events are made in its order, as far as they can all happen.
        own.extend(writes[&event.location].iter().filter_map(|&write| {
            let source = &events[write];
            let waits = graph.arrivals.contains_key(&source.node);
            (waits && write < read && source.node != event.node && owner(source.node) == owner(event.node))
                .then_some((write, read))
        }));
    }
    own
}

/// The writes that a read may read from.
fn candidates(graph: &Graph, reach: &Reach, events: &[Event], read: usize, writes: &[usize]) -> Vec<usize> {
    // The initial node is before all others, and so are its writes, whatever their numbers.
    let place = |at: usize| (events[at].node, at);
    let before = |one: usize, other: usize| one != other && reach.is_before(place(one), place(other));
    let surely = |by: Term, other: usize| graph.terms.implies(by, events[other].guard);
    let hidden = |write: usize| {
        writes.iter().any(|&other| {
            other != write
                && before(write, other)
                && before(other, read)
                && (surely(events[write].guard, other) || surely(events[read].guard, other))
        })
    };
    let fits = |&write: &usize| !before(read, write) && !hidden(write);
    writes.iter().copied().filter(fits).collect()
}
