//! The relations of a run, for whoever draws it: which edges there are between its events besides program order.
//!
//! | relation | from, to | where |
//! |---|---|---|
//! | `rf` | a write, a read of it | everywhere |
//! | `fr` | a read, the write after the one it read | everywhere |
//! | `co` | a write, the next one of its location (`mo` in C11) | everywhere; under store buffers it is the order in which writes reach memory |
//! | `sw` | a release, what synchronises with it | RC11, and runs that end in a data race |
//! | `hb` | accesses of one location by different threads, one of them a write | where there is no single memory, and runs that end in a data race |
//! | `race` | an access, the one that races with it | runs that end in a data race |
//!
//! Happens-before is drawn where it decides something, which is between accesses of one location, and only as far as it does not follow: neither from a synchronisation
//! of the same two events, nor by way of another access of the location. A run has at most as many such edges as events times threads.

use crate::happens_before::{HappensBefore, Rule};
use crate::unordered::{races, rule};
use raddle_trace::{EventName, Execution, Model, Source, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

/// What an edge joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    /// The initial value of a location, by its number.
    Initial(usize),
    Event(EventName),
    /// What went wrong in a thread.
    Failure(ThreadName),
}

/// Which relation an edge belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    ReadsFrom,
    /// Reads-from that is also a synchronisation.
    ReadsAndSynchronises,
    FromRead,
    Coherence,
    Synchronises,
    HappensBefore,
    Race,
}

impl Relation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::ReadsFrom => "rf",
            Relation::ReadsAndSynchronises => "rf, sw",
            Relation::FromRead => "fr",
            Relation::Coherence => "co",
            Relation::Synchronises => "sw",
            Relation::HappensBefore => "hb",
            Relation::Race => "race",
        }
    }
}

/// The relations of a run.
#[derive(Debug)]
pub(crate) struct Relations {
    /// The locations whose initial values were read.
    pub(crate) initial: Vec<String>,
    pub(crate) edges: Vec<(End, End, Relation)>,
}

impl Relations {
    /// Of this run.
    pub(crate) fn of(execution: &Execution) -> Self {
        let read = execution.events().filter(|event| event.action.source() == Some(Source::Initial));
        let initial: BTreeSet<&str> = read.filter_map(|event| event.action.location()).collect();
        let initial: Vec<String> = initial.into_iter().map(str::to_owned).collect();
        let mut found = Relations { initial, edges: Vec::new() };
        let order = Order::of(execution);
        found.memory(execution, &order.synchronisations);
        let paired = |&(from, to): &(EventName, EventName)| {
            let source = execution.event(to).and_then(|read| read.action.source()).and_then(|source| source.write());
            source != Some(from)
        };
        let synchronisations = order.synchronisations.iter().filter(|pair| paired(pair));
        let mut all = |pairs: Vec<(EventName, EventName)>, relation: Relation| {
            found.edges.extend(pairs.into_iter().map(|(from, to)| (End::Event(from), End::Event(to), relation)));
        };
        all(synchronisations.copied().collect(), Relation::Synchronises);
        all(order.accesses, Relation::HappensBefore);
        for race in races(execution) {
            found.edges.push((End::Event(race.with), End::Failure(race.access.id.thread), Relation::Race));
        }
        found
    }

    /// Reads-from, from-read and coherence.
    fn memory(&mut self, execution: &Execution, synchronisations: &BTreeSet<(EventName, EventName)>) {
        let positions: BTreeMap<(&str, EventName), usize> = execution
            .coherence
            .iter()
            .flat_map(|(location, writes)| {
                writes.iter().enumerate().map(|(at, &write)| ((location.as_str(), write), at))
            })
            .collect();
        let initial =
            |initial: &[String], location: &str| initial.binary_search_by(|name| name.as_str().cmp(location)).ok();
        for event in execution.events() {
            let Some(source) = event.action.source() else { continue };
            let location = event.action.location().unwrap_or_default();
            let writes = execution.coherence.get(location).map_or(&[][..], Vec::as_slice);
            let (from, next) = match source.write() {
                None => (initial(&self.initial, location).map(End::Initial), writes.first()),
                Some(write) => {
                    let at = positions.get(&(location, write));
                    (Some(End::Event(write)), at.and_then(|at| writes.get(at + 1)))
                }
            };
            let synchronises = source.write().is_some_and(|write| synchronisations.contains(&(write, event.id)));
            let relation = if synchronises { Relation::ReadsAndSynchronises } else { Relation::ReadsFrom };
            self.edges.extend(from.map(|from| (from, End::Event(event.id), relation)));
            let next = next.filter(|&&next| next != event.id);
            self.edges.extend(next.map(|&next| (End::Event(event.id), End::Event(next), Relation::FromRead)));
        }
        for (location, writes) in &execution.coherence {
            let first = initial(&self.initial, location).zip(writes.first());
            self.edges
                .extend(first.map(|(number, &first)| (End::Initial(number), End::Event(first), Relation::Coherence)));
            let pairs = writes.windows(2);
            self.edges.extend(pairs.map(|pair| (End::Event(pair[0]), End::Event(pair[1]), Relation::Coherence)));
        }
    }
}

/// Synchronisations and happens-before, as far as they are drawn.
#[derive(Debug, Default)]
struct Order {
    synchronisations: BTreeSet<(EventName, EventName)>,
    accesses: Vec<(EventName, EventName)>,
}

impl Order {
    fn of(execution: &Execution) -> Self {
        let raced = races(execution).next().is_some();
        let rule = if raced { Rule::Orderings } else { rule(execution.model) };
        if !raced && !Model::AXIOMATIC.contains(&execution.model) {
            return Order::default();
        }
        let before = HappensBefore::new(execution, rule, None);
        let name = |at: usize| before.events[at].id;
        let mut synchronisations: BTreeSet<_> =
            before.synchronisations().into_iter().map(|(from, to)| (name(from), name(to))).collect();
        let accesses = accesses(&before, &synchronisations);
        if rule == Rule::Reads {
            // Reads-from says it already.
            synchronisations.clear();
        }
        Order { synchronisations, accesses }
    }
}

/// The accesses of a location by a thread, each with whether it writes.
type Accesses = Vec<(usize, bool)>;

/// Accesses of one location by different threads of which one happens before the other.
fn accesses(
    before: &HappensBefore<'_>,
    synchronisations: &BTreeSet<(EventName, EventName)>,
) -> Vec<(EventName, EventName)> {
    let clocks = before.clocks();
    let mut locations: BTreeMap<&str, BTreeMap<ThreadName, Accesses>> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, event) in before.events.iter().enumerate() {
        let writes = event.action.writes();
        let Some(location) = event.action.location().filter(|_| writes || event.action.source().is_some()) else {
            continue;
        };
        let threads = locations.entry(location).or_default();
        let own = threads.get(&event.id.thread).and_then(|past| past.last()).map(|&(last, _)| last);
        let mut latest: Vec<usize> = Vec::new();
        for (_, past) in threads.iter().filter(|(thread, _)| **thread != event.id.thread) {
            let ordered = |&&(other, other_writes): &&(usize, bool)| {
                (writes || other_writes) && clocks.contains(at, before.events[other].id)
            };
            latest.extend(past.iter().rev().find(ordered).map(|&(other, _)| other));
        }
        for &other in &latest {
            let id = before.events[other].id;
            let by_own = own.is_some_and(|own| clocks.contains(own, id));
            let by_another = latest.iter().any(|&third| third != other && clocks.contains(third, id));
            if !by_own && !by_another && !synchronisations.contains(&(id, event.id)) {
                found.push((id, event.id));
            }
        }
        threads.entry(event.id.thread).or_default().push((at, writes));
    }
    found
}
