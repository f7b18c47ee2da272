//! Cyclic architectures as published: the order of the writes of some locations becomes part of the class.
//!
//! Chalupa et al. 2018 choose an *all-but-two* set of edges of the communication graph, such that every simple cycle has at most two edges outside
//! of it, and order the writes of all variables that threads share along these edges by additional locks. The classes are
//! then between Mazurkiewicz and observation classes, and every realisation is polynomial. Here the order is explicit: a node
//! at which two such writes are unordered has one child for each order. As with their locks, all writes of such a variable
//! are ordered, not only those of the two threads.
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
use raddle_trace::EventId;

/// Two accesses that are in conflict and not in order.
#[derive(Clone, Copy, Debug)]
struct Conflict {
    a: EventId,
    b: EventId,
    loc: LocId,
}

/// The locations whose writes are to be ordered.
pub(super) fn locations(explorer: &mut Explorer<'_>) -> Result<Vec<LocId>, Stop> {
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

/// The locations shared along an all-but-two set of edges.
fn choose(frontier: &Frontier<'_>, trace: &[EventId]) -> Vec<LocId> {
    let conflicts = conflicts(frontier, trace);
    let mut chosen: Vec<LocId> = Vec::new();
    loop {
        let place = |id: EventId| (id.thread.index(), id.index);
        let mut graph = Architecture::new(frontier.threads());
        for conflict in &conflicts {
            if chosen.contains(&conflict.loc) {
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
            let mut locs: Vec<LocId> = away.map(|conflict| conflict.loc).filter(|loc| !chosen.contains(loc)).collect();
            locs.sort_unstable();
            locs.dedup();
            locs
        };
        let cost = |locs: &[LocId]| locs.iter().map(|&loc| frontier.writes(loc).len()).sum::<usize>();
        let least = block.iter().map(|&hub| away(hub)).filter(|locs| !locs.is_empty()).min_by_key(|locs| cost(locs));
        match least {
            Some(locs) => chosen.extend(locs),
            // A graph in which a cycle could not be excluded though everything meets in a hub.
            None => return chosen,
        }
    }
}

/// Two writes of one of the locations that may still come in either order.
pub(super) fn unordered(
    frontier: &Frontier<'_>,
    trace: &[EventId],
    orders: &[(EventId, EventId)],
    locations: &[LocId],
    alarm: Alarm<'_>,
) -> Result<Option<(EventId, EventId)>, Interrupted> {
    if locations.iter().all(|&loc| frontier.writes(loc).len() < 2) {
        return Ok(None);
    }
    let cut = basis::everything(frontier);
    let basis = Basis::new(frontier, trace, &cut, Question { orders, ..Question::default() });
    let mut realiser = Realiser::default();
    let Some(certain) = realiser.certain(&basis.problem, &basis.sequence, &alarm)? else { return Ok(None) };
    let number = |id: EventId| basis.problem.starts[id.thread.index()] + id.index;
    let open = |a: EventId, b: EventId| !certain.decides(number(a), number(b));
    Ok(locations.iter().find_map(|&loc| {
        let writes = frontier.writes(loc);
        let pairs = (0..writes.len()).flat_map(|b| (0..b).map(move |a| (writes[a], writes[b])));
        pairs.into_iter().find(|&(a, b)| a.thread != b.thread && open(a, b))
    }))
}
