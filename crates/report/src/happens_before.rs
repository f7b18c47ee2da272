//! What happens before what in a run, and what is missing where it does not.
//!
//! Happens-before is program order, starts and ends of threads, and synchronisation: by the memory orderings of C11 where they count (RC11, and data races
//! under every model), by every read of another thread's write otherwise (WRA, RA, SRA). What a thread knows travels in four shapes, and an event passes it from one to another:
//!
//! | shape | what it is | who passes it on |
//! |---|---|---|
//! | `Now` | it happens before the event | the next event of the thread; a start or an end of a thread |
//! | `Fence` | it happens before the thread's last release fence | weaker writes, into their messages |
//! | `Message` | a write carries it | updates that read the write; acquiring reads, into `Now`; weaker reads, into `Pending` |
//! | `Pending` | a weaker read has found it | the next acquire fence, into `Now` |
//!
//! So `a` happens before `b` iff a walk leads from `a` in the shape `Now` to `b` in the shape `Now`. Where none does, the walk may also take a write for a release or a read
//! for an acquire, at a price; a cheapest walk (Dijkstra 1959) names the fewest orderings that would have to be stronger. Linear in the length of the run, up to a logarithm.

use raddle_trace::{Action, Event, EventName, Execution, Ordering, ThreadName};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

/// What synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// What the memory orderings say.
    Orderings,
    /// Every read of another thread's write.
    Reads,
}

/// The events of a run and what is directly before what.
#[derive(Debug)]
pub(crate) struct HappensBefore<'e> {
    rule: Rule,
    pub(crate) events: Vec<&'e Event>,
    places: HashMap<EventName, usize>,
    /// The next event of the same thread.
    next: Vec<Option<usize>>,
    /// First events of threads that an event starts, and joins of the thread that it is the last event of.
    across: Vec<Vec<usize>>,
    /// Who reads a write.
    readers: Vec<Vec<usize>>,
}

/// What each event knows of each thread.
#[derive(Debug)]
pub(crate) struct Clocks {
    numbers: HashMap<ThreadName, usize>,
    rows: Vec<Vec<u32>>,
}

impl Clocks {
    /// How many events of a thread the event at this place knows.
    pub(crate) fn known(&self, at: usize, thread: ThreadName) -> u32 {
        self.numbers.get(&thread).map_or(0, |&number| self.rows[at][number])
    }

    /// Whether an event happens before another one at a place, or is it.
    pub(crate) fn contains(&self, at: usize, id: EventName) -> bool {
        self.known(at, id.thread) > id.index
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(own, &other)| *own = (*own).max(other));
}

/// A read of another thread's write that would have to synchronise with it and does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The write that would have to release, perhaps through updates that continue it.
    pub(crate) write: usize,
    /// The write that is read.
    pub(crate) source: usize,
    pub(crate) reader: usize,
    pub(crate) releases: bool,
    pub(crate) acquires: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Shape {
    Now,
    Fence,
    Message,
    Pending,
}

/// Something is known at an event in a shape.
type Known = (usize, Shape);

/// The price of an ordering that would have to be stronger; an ordinary access would have to become atomic, too.
const STRONGER: u32 = 1;
const ATOMIC: u32 = 2;

impl<'e> HappensBefore<'e> {
    /// Of this run, with one more event at its end, perhaps.
    pub(crate) fn new(execution: &'e Execution, rule: Rule, last: Option<&'e Event>) -> Self {
        let events: Vec<&Event> = execution.events().chain(last).collect();
        let places: HashMap<EventName, usize> = events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let mut next = vec![None; events.len()];
        let (mut across, mut readers) = (vec![Vec::new(); events.len()], vec![Vec::new(); events.len()]);
        // The last event of each thread so far, or the one that starts it.
        let mut latest: HashMap<ThreadName, (usize, bool)> = HashMap::new();
        for (at, event) in events.iter().enumerate() {
            match latest.insert(event.id.thread, (at, true)) {
                Some((before, true)) => next[before] = Some(at),
                Some((start, false)) => across[start].push(at),
                None => {}
            }
            match event.action {
                Action::Spawn { child, .. } | Action::Post { message: child, .. } => {
                    latest.insert(child, (at, false));
                }
                Action::Join { child } => across[latest.get(&child).map_or(at, |&(end, _)| end)].push(at),
                _ => {}
            }
            if let Some(&source) =
                event.action.source().and_then(|source| source.write()).and_then(|id| places.get(&id))
            {
                readers[source].push(at);
            }
        }
        HappensBefore { rule, events, places, next, across, readers }
    }

    /// Where an event stands.
    pub(crate) fn place(&self, id: EventName) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// Per event, how many events of each thread happen before what comes next in its own thread; it counts itself. Threads are numbered as they turn up.
    pub(crate) fn clocks(&self) -> Clocks {
        let mut numbers: HashMap<ThreadName, usize> = HashMap::new();
        for event in &self.events {
            let number = numbers.len();
            numbers.entry(event.id.thread).or_insert(number);
        }
        let none = vec![0; numbers.len()];
        let mut rows: Vec<Vec<u32>> = vec![none.clone(); self.events.len()];
        let (mut fences, mut pending) = (vec![none.clone(); numbers.len()], vec![none.clone(); numbers.len()]);
        let mut messages: HashMap<usize, Vec<u32>> = HashMap::new();
        for (at, event) in self.events.iter().enumerate() {
            let own = numbers[&event.id.thread];
            let mut now = std::mem::take(&mut rows[at]);
            now[own] = event.id.index + 1;
            let source = event.action.source().and_then(|source| source.write()).and_then(|id| self.place(id));
            let found = source.and_then(|source| messages.get(&source)).cloned();
            if let Some(found) = &found {
                if self.acquires(event) {
                    join(&mut now, found);
                } else if is_atomic(event) {
                    join(&mut pending[own], found);
                }
            }
            if is_fence(event, Ordering::acquires) {
                join(&mut now, &pending[own]);
            }
            if is_fence(event, Ordering::releases) {
                fences[own].clone_from(&now);
            }
            if event.action.writes() {
                let mut message = match (self.releases(event), is_atomic(event)) {
                    (true, _) => now.clone(),
                    (false, true) => fences[own].clone(),
                    (false, false) => none.clone(),
                };
                found.iter().for_each(|found| join(&mut message, found));
                messages.insert(at, message);
            }
            self.next[at].iter().chain(&self.across[at]).for_each(|&later| join(&mut rows[later], &now));
            rows[at] = now;
        }
        Clocks { numbers, rows }
    }

    /// Pairs of a release and what synchronises with it: a write or the fence before it, and a read or the fence after it, of different threads. Pairs that follow from
    /// others are left out: with updates that acquire and release themselves, with earlier fences and later ones.
    pub(crate) fn synchronisations(&self) -> Vec<(usize, usize)> {
        let mut found = BTreeSet::new();
        for (from, event) in self.events.iter().enumerate() {
            let start = match () {
                () if self.releases(event) => Shape::Message,
                () if is_fence(event, Ordering::releases) => Shape::Fence,
                () => continue,
            };
            let mut todo = vec![(from, start)];
            let mut seen = HashSet::from([(from, start)]);
            while let Some(known) = todo.pop() {
                for (next, _) in self.steps(known).into_iter().filter(|&(_, price)| price == 0) {
                    if next.1 == Shape::Now {
                        found.extend((self.events[next.0].id.thread != event.id.thread).then_some((from, next.0)));
                    } else if !self.taken_over(known, next) && seen.insert(next) {
                        todo.push(next);
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// Whether somebody else passes it on from here.
    fn taken_over(&self, (at, shape): Known, (to, _): Known) -> bool {
        match shape {
            Shape::Fence => is_fence(self.events[to], Ordering::releases),
            Shape::Pending => is_fence(self.events[at], Ordering::acquires),
            Shape::Message => self.acquires(self.events[to]) && self.releases(self.events[to]),
            Shape::Now => false,
        }
    }

    /// The synchronisations that would have to be there for one event to happen before a later one: none if it does, `None` if no reads, starts and ends of
    /// threads lead from one to the other.
    pub(crate) fn missing(&self, from: usize, to: usize) -> Option<Vec<Link>> {
        let mut before: HashMap<Known, (Known, u32)> = HashMap::new();
        let mut reached = false;
        self.walk(from, |known, origin, price| {
            if let Some(origin) = origin {
                before.insert(known, (origin, price));
            }
            reached |= known == (to, Shape::Now);
            reached
        });
        if !reached {
            return None;
        }
        let mut path = vec![((to, Shape::Now), 0)];
        while let Some(&(origin, price)) = before.get(&path.last().expect("it begins with the end").0) {
            path.push((origin, price));
        }
        path.reverse();
        Some(self.links(&path))
    }

    /// What was paid for on a walk, given as what is known and the price of the step to the next.
    fn links(&self, path: &[(Known, u32)]) -> Vec<Link> {
        let mut links = Vec::new();
        // The write that began the message, and whether it released.
        let mut message = None;
        for pair in path.windows(2) {
            let (((at, shape), price), ((to, becomes), _)) = (pair[0], pair[1]);
            match (shape, becomes) {
                (Shape::Now | Shape::Fence, Shape::Message) => message = Some((to, price == 0)),
                (Shape::Message, Shape::Now | Shape::Pending) => {
                    let (write, releases) = message.unwrap_or((at, true));
                    let link = Link { write, source: at, reader: to, releases, acquires: price == 0 };
                    links.extend((!(link.releases && link.acquires)).then_some(link));
                }
                _ => {}
            }
        }
        links
    }

    /// Visits what is known from an event on, the cheapest first, until it is told to end.
    fn walk(&self, from: usize, mut visit: impl FnMut(Known, Option<Known>, u32) -> bool) {
        let start = (from, Shape::Now);
        let mut done: HashSet<Known> = HashSet::new();
        let mut todo = BinaryHeap::from([Reverse((0, 0, start, None, 0))]);
        while let Some(Reverse((paid, length, known, origin, price))) = todo.pop() {
            if !done.insert(known) {
                continue;
            }
            if visit(known, origin, price) {
                return;
            }
            for (next, price) in self.steps(known) {
                if !done.contains(&next) {
                    todo.push(Reverse((paid + price, length + 1, next, Some(known), price)));
                }
            }
        }
    }

    /// Where what is known at an event goes from there, and at which price.
    fn steps(&self, (at, shape): Known) -> Vec<(Known, u32)> {
        let event = self.events[at];
        let mut steps = Vec::new();
        match shape {
            Shape::Now => {
                steps.extend(self.next[at].iter().chain(&self.across[at]).map(|&to| ((to, Shape::Now), 0)));
                if is_fence(event, Ordering::releases) {
                    steps.push(((at, Shape::Fence), 0));
                }
                if event.action.writes() {
                    steps.push(((at, Shape::Message), if self.releases(event) { 0 } else { price(event) }));
                }
            }
            Shape::Fence => {
                steps.extend(self.next[at].map(|to| ((to, Shape::Fence), 0)));
                if event.action.writes() && is_atomic(event) && !self.releases(event) {
                    steps.push(((at, Shape::Message), 0));
                }
            }
            Shape::Message => {
                for &reader in &self.readers[at] {
                    let read = self.events[reader];
                    steps.push(((reader, Shape::Now), if self.acquires(read) { 0 } else { price(read) }));
                    if is_atomic(read) && !self.acquires(read) {
                        steps.push(((reader, Shape::Pending), 0));
                    }
                    if read.action.writes() {
                        steps.push(((reader, Shape::Message), 0));
                    }
                }
            }
            Shape::Pending => {
                if is_fence(event, Ordering::acquires) {
                    steps.push(((at, Shape::Now), 0));
                }
                steps.extend(self.next[at].map(|to| ((to, Shape::Pending), 0)));
            }
        }
        steps
    }

    fn releases(&self, event: &Event) -> bool {
        event.action.writes() && (self.rule == Rule::Reads || event.order.is_some_and(Ordering::releases))
    }

    fn acquires(&self, event: &Event) -> bool {
        self.rule == Rule::Reads || event.order.is_some_and(Ordering::acquires)
    }
}

fn is_atomic(event: &Event) -> bool {
    event.order.is_some_and(|order| order != Ordering::NonAtomic)
}

fn is_fence(event: &Event, has: fn(Ordering) -> bool) -> bool {
    matches!(event.action, Action::Fence { .. }) && event.order.is_some_and(has)
}

fn price(event: &Event) -> u32 {
    if is_atomic(event) { STRONGER } else { ATOMIC }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_testkit::Random;
    use raddle_trace::execution::Entry;
    use raddle_trace::{EventId, Model, Place, Source};

    const THREADS: u32 = 3;

    /// Main starts two threads; all do anything, and main may wait for one of them.
    fn run(random: &mut Random) -> Execution {
        let name = |number: u32| number.to_string().parse::<ThreadName>().expect("a name");
        let (mut lengths, mut events, mut writes) = ([0; THREADS as usize], Vec::new(), Vec::new());
        let mut add = |thread: u32, action: Action, order: Ordering, events: &mut Vec<Event>| {
            let id = EventId::new(name(thread), lengths[thread as usize]);
            lengths[thread as usize] += 1;
            events.push(Event { id, action, order: Some(order), place: Place::default() });
            id
        };
        for child in 1..THREADS {
            add(0, Action::Spawn { child: name(child), function: String::new() }, Ordering::SeqCst, &mut events);
        }
        let mut joined = false;
        for _ in 0..random.between(4, 14) {
            let thread = if joined { 2 * random.below_u32(2) } else { random.below_u32(THREADS) };
            let (what, location) = (String::new(), "x".to_owned());
            let from = match random.below(4) {
                0 => Source::Initial,
                _ if writes.is_empty() => Source::Initial,
                _ => Source::Write(random.pick(&writes)),
            };
            let order = random.pick(&Ordering::ALL);
            match random.below(9) {
                0..=2 => writes.push(add(thread, Action::Write { what, location, value: 1 }, order, &mut events)),
                3..=5 => drop(add(thread, Action::Read { what, location, value: 1, from }, order, &mut events)),
                6 if order != Ordering::NonAtomic => {
                    let update = Action::Update { what, location, old: 0, new: 1, from };
                    writes.push(add(thread, update, order, &mut events));
                }
                7 if !joined && thread == 0 => {
                    joined = true;
                    add(thread, Action::Join { child: name(1) }, Ordering::SeqCst, &mut events);
                }
                _ => drop(add(thread, Action::Fence { what }, order, &mut events)),
            }
        }
        let steps = events.into_iter().map(|event| Entry::Event { event, buffered: false, printed: Vec::new() });
        Execution {
            model: Model::Rc11,
            threads: Vec::new(),
            names: Vec::new(),
            steps: steps.collect(),
            coherence: std::collections::BTreeMap::new(),
            pointers: std::collections::BTreeMap::new(),
        }
    }

    /// The run with these orderings made as strong as can be: of writes (true) and of reads (false).
    fn stronger(execution: &Execution, repairs: &[(EventName, bool)]) -> Execution {
        let mut execution = execution.clone();
        for step in &mut execution.steps {
            let Entry::Event { event, .. } = step else { continue };
            let made = |release| repairs.contains(&(event.id, release));
            let acquires = made(false) || event.order.is_some_and(Ordering::acquires);
            let releases = made(true) || event.order.is_some_and(Ordering::releases);
            if made(true) || made(false) {
                event.order = Some(match (acquires, releases) {
                    (true, true) => Ordering::AcqRel,
                    (true, false) => Ordering::Acquire,
                    _ => Ordering::Release,
                });
            }
        }
        execution
    }

    #[test]
    fn what_is_missing_is_what_has_to_be_mended() {
        let (mut mended, mut nothing) = (0, 0);
        for seed in 0..400 {
            let execution = run(&mut Random::new(seed));
            let order = HappensBefore::new(&execution, Rule::Orderings, None);
            let clocks = order.clocks();
            let orders = |repairs: &[(EventName, bool)], from: usize, to: usize| {
                let run = stronger(&execution, repairs);
                let order = HappensBefore::new(&run, Rule::Orderings, None);
                order.clocks().contains(to, order.events[from].id)
            };
            for to in 0..order.events.len() {
                for from in 0..to {
                    let ordered = clocks.contains(to, order.events[from].id);
                    let Some(links) = order.missing(from, to) else {
                        let all: Vec<_> =
                            order.events.iter().flat_map(|event| [(event.id, true), (event.id, false)]).collect();
                        assert!(!ordered && !orders(&all, from, to), "seed {seed}: {from} {to}");
                        nothing += 1;
                        continue;
                    };
                    assert_eq!(ordered, links.is_empty(), "seed {seed}: {from} {to} {links:?}");
                    let repairs: Vec<_> = links
                        .iter()
                        .flat_map(|link| {
                            let release = (!link.releases).then(|| (order.events[link.write].id, true));
                            release.into_iter().chain((!link.acquires).then(|| (order.events[link.reader].id, false)))
                        })
                        .collect();
                    assert!(orders(&repairs, from, to), "seed {seed}: {from} {to} {links:?}");
                    mended += usize::from(!repairs.is_empty());
                    for at in 0..repairs.len() {
                        let mut fewer = repairs.clone();
                        fewer.remove(at);
                        assert!(!orders(&fewer, from, to), "seed {seed}: {from} {to} {links:?}");
                    }
                }
            }
        }
        assert!(mended > 1000 && nothing > 1000, "{mended} {nothing}");
    }

    #[test]
    fn synchronisations_and_program_order_are_all_there_is() {
        for seed in 0..400 {
            let execution = run(&mut Random::new(seed));
            let order = HappensBefore::new(&execution, Rule::Orderings, None);
            let clocks = order.clocks();
            let pairs = order.synchronisations();
            let mut known: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); order.events.len()];
            for at in 0..order.events.len() {
                known[at].insert(at);
                let from = pairs.iter().filter(|pair| pair.1 == at).flat_map(|pair| known[pair.0].clone());
                let new: BTreeSet<usize> = from.collect();
                known[at].extend(new);
                for later in order.next[at].iter().chain(&order.across[at]).copied() {
                    let own = known[at].clone();
                    known[later].extend(own);
                }
                for other in 0..=at {
                    let ordered = clocks.contains(at, order.events[other].id);
                    assert_eq!(ordered, known[at].contains(&other), "seed {seed}: {other} {at} {pairs:?}");
                }
            }
        }
    }
}
