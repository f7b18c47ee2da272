//! Cyclic architectures as published: the order of the writes of some locations becomes part of the class.
//!
//! Chalupa et al. 2018 choose an *all-but-two* set of edges of the communication graph, such that every simple cycle has at most two edges outside
//! of it, and order the writes that two threads make to what they share along such an edge. The classes are
//! then between Mazurkiewicz and observation classes, and every realisation is polynomial. They do so by additional locks, which also order other threads' writes to
//! the variable; their classes do not tell these apart. Here the order is explicit: a node
//! at which two such writes are unordered has one child for each order, and nothing else is ordered.
//!
//! The set: in every block of the graph that has a cycle with more than two edges, the edges that do not meet in the *hub*, which is
//! the thread for which the fewest writes have to be ordered. The graph is that of the first trace, without accesses that
//! program order, spawn and join put in order.

use super::basis::{self, Basis, Question};
use super::findings::Explorer;
use super::observe::to_the_end;
use crate::sequence::{Alarm, Frontier, LocId, Stop};
use raddle_consistency::Interrupted;
use raddle_consistency::realise::{Architecture, Cycle, Realiser};
use raddle_trace::{EventId, ThreadId};

/// Two accesses that are in conflict and not in order.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    a: EventId,
    b: EventId,
    loc: LocId,
}

/// Two threads that share a location, the first one first: their writes to it are to be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shared {
    loc: LocId,
    threads: (ThreadId, ThreadId),
}

impl Conflict {
    fn shared(&self) -> Shared {
        let (a, b) = (self.a.thread, self.b.thread);
        Shared { loc: self.loc, threads: (a.min(b), a.max(b)) }
    }
}

/// Along which edges writes are to be ordered.
pub(super) fn edges(explorer: &mut Explorer<'_>) -> Result<Vec<Shared>, Stop> {
    let mark = explorer.shell.frontier.mark();
    let mut trace = Vec::new();
    to_the_end(explorer, &mut trace)?;
    explorer.shell.bugs.clear();
    let found = choose(&explorer.shell.frontier, &trace);
    explorer.shell.frontier.undo(mark);
    Ok(found)
}

fn conflicts(frontier: &Frontier<'_>, trace: &[EventId]) -> Vec<Conflict> {
    let mut found = Vec::new();
    let accesses: Vec<EventId> = trace.iter().copied().filter(|&id| accesses(frontier, id)).collect();
    for (at, &b) in accesses.iter().enumerate() {
        let second = frontier.event(b);
        for &a in &accesses[..at] {
            let first = frontier.event(a);
            let conflict = first.loc == second.loc && (first.writes() || second.writes()) && a.thread != b.thread;
            if conflict && !frontier.before(a, b) && !frontier.before(b, a) {
                found.push(Conflict { a, b, loc: first.loc });
            }
        }
    }
    found
}

fn accesses(frontier: &Frontier<'_>, id: EventId) -> bool {
    frontier.event(id).reads() || frontier.event(id).writes()
}

/// What is shared along an all-but-two set of edges.
fn choose(frontier: &Frontier<'_>, trace: &[EventId]) -> Vec<Shared> {
    let conflicts = conflicts(frontier, trace);
    let mut chosen: Vec<Shared> = Vec::new();
    loop {
        let place = |id: EventId| (id.thread.index(), id.index);
        let mut graph = Architecture::new(frontier.threads());
        for conflict in &conflicts {
            if chosen.contains(&conflict.shared()) {
                graph.decided(place(conflict.a), place(conflict.b));
                graph.decided(place(conflict.b), place(conflict.a));
            } else {
                graph.open(place(conflict.a), place(conflict.b));
            }
        }
        for &id in trace {
            let met = frontier.met(frontier.event(id)).iter().copied();
            let before = frontier.joints(id).into_iter().flatten().chain(met);
            before.for_each(|before| graph.decided(place(before), place(id)));
        }
        let block = match graph.cycle() {
            None => return chosen,
            Some(Cycle::Through(path)) => graph.block(path[0], path[1]),
            Some(Cycle::Perhaps) => (0..frontier.threads()).collect(),
        };
        let away = |hub: usize| {
            let inside = |id: EventId| block.contains(&id.thread.index()) && id.thread.index() != hub;
            let away = conflicts.iter().filter(|conflict| inside(conflict.a) && inside(conflict.b));
            let mut shared: Vec<Shared> =
                away.map(Conflict::shared).filter(|shared| !chosen.contains(shared)).collect();
            shared.sort_unstable();
            shared.dedup();
            shared
        };
        let count = |loc, thread| frontier.writes(loc).iter().filter(|id| id.thread == thread).count();
        let pairs = |&Shared { loc, threads }: &Shared| count(loc, threads.0) * count(loc, threads.1);
        let cost = |shared: &[Shared]| shared.iter().map(pairs).sum::<usize>();
        let least = block.iter().map(|&hub| away(hub)).filter(|edges| !edges.is_empty()).min_by_key(|all| cost(all));
        match least {
            Some(edges) => chosen.extend(edges),
            // A graph in which a cycle could not be excluded though everything meets in a hub.
            None => return chosen,
        }
    }
}

/// Two writes along one of these edges that may still come in either order.
pub(super) fn unordered(
    frontier: &Frontier<'_>,
    trace: &[EventId],
    orders: &[(EventId, EventId)],
    edges: &[Shared],
    alarm: Alarm<'_>,
) -> Result<Option<(EventId, EventId)>, Interrupted> {
    let of = |loc, thread| frontier.writes(loc).iter().copied().filter(move |id| id.thread == thread);
    let pairs = edges.iter().flat_map(|&Shared { loc, threads: (one, other) }| {
        of(loc, other).flat_map(move |b| of(loc, one).map(move |a| (a, b)))
    });
    let mut pairs = pairs.peekable();
    if pairs.peek().is_none() {
        return Ok(None);
    }
    let cut = basis::everything(frontier);
    let basis = Basis::new(frontier, trace, &cut, Question { orders, ..Question::default() });
    let mut realiser = Realiser::default();
    let Some(certain) = realiser.certain(&basis.problem, &basis.sequence, &alarm)? else { return Ok(None) };
    let number = |id: EventId| basis.problem.starts[id.thread.index()] + id.index;
    Ok(pairs.find(|&(a, b)| !certain.decides(number(a), number(b))))
}
