//! Why a read may miss a newer write, where there is no single memory.
//!
//! A write that happens before a read cannot be missed. So either nothing the reading thread has seen comes after the write; or it has seen something
//! that does, but a read on the way there did not synchronise with what it read: the write does not release, or the read does not acquire. That pair is what the
//! sentence names, and what a person may want to change.

use crate::wording::Wording;
use raddle_trace::{Action, Event, EventName, Execution, Model, Ordering};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// How many sentences there are at most.
const SENTENCES: usize = 3;

/// A sentence for each of the last reads that missed something.
pub(crate) fn sentences(execution: &Execution) -> Vec<String> {
    if !Model::AXIOMATIC.contains(&execution.model) {
        return Vec::new();
    }
    let run = Run::new(execution);
    let missing = run.events.iter().enumerate().filter_map(|(at, event)| Some((at, run.wording.missed(event)?)));
    let mut found: Vec<String> = missing.map(|(read, write)| run.sentence(read, write)).collect();
    found.split_off(found.len().saturating_sub(SENTENCES))
}

/// Whether a read of another thread's write synchronises with it, where that is a matter of memory orderings.
pub(crate) fn synchronise(execution: &Execution) -> impl Fn(EventName, EventName) -> bool + '_ {
    let run = Run::new(execution);
    move |write, read| {
        let event = |id: EventName| run.places.get(&id).map(|&at| run.events[at]);
        let pair = event(write).zip(event(read)).filter(|(write, read)| write.id.thread != read.id.thread);
        run.model == Model::Rc11
            && pair.is_some_and(|(write, read)| run.releases(write, 0) && run.acquires(read, run.events.len()))
    }
}

struct Run<'e> {
    model: Model,
    wording: Wording<'e>,
    events: Vec<&'e Event>,
    places: HashMap<EventName, usize>,
}

impl<'e> Run<'e> {
    fn new(execution: &'e Execution) -> Self {
        let events: Vec<&Event> = execution.events().collect();
        let places = events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        Run { model: execution.model, wording: Wording::new(execution), events, places }
    }

    fn sentence(&self, read: usize, write: EventName) -> String {
        let name = |id: EventName| self.wording.name(id);
        let start = format!("{} may miss {}: ", name(self.events[read].id), name(write));
        let unordered =
            self.places.get(&write).and_then(|&write| self.path(write, read)).and_then(|path| self.broken(&path));
        let Some(Unordered { source, reader, releases, acquires }) = unordered else {
            let thread = self.events[read].id.thread;
            return format!("{start}nothing that {thread} has read or waited for comes after it");
        };
        let (source, reader) = (self.events[source], self.events[reader]);
        let location = reader.action.location().unwrap_or_default();
        let mut wrong = Vec::new();
        if !releases {
            wrong.push(format!("{} writes {location} with {}, not release", name(source.id), order(source)));
        }
        if !acquires {
            wrong.push(format!("{} reads {location} with {}, not acquire", name(reader.id), order(reader)));
        }
        format!("{start}{}, so nothing orders them", wrong.join(", and "))
    }

    /// Events each of which is before the next by program order, start and end of threads or reads-from.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut next: HashMap<usize, usize> = HashMap::new();
        let mut todo = VecDeque::from([to]);
        while let Some(at) = todo.pop_front() {
            if at == from {
                let mut path = vec![from];
                while let Some(&after) = path.last().filter(|&&last| last != to).and_then(|last| next.get(last)) {
                    path.push(after);
                }
                return Some(path);
            }
            for before in self.before(at) {
                if before != to && !next.contains_key(&before) {
                    next.insert(before, at);
                    todo.push_back(before);
                }
            }
        }
        None
    }

    /// What is directly before an event.
    fn before(&self, at: usize) -> Vec<usize> {
        let event = self.events[at];
        let last_of = |thread| self.events[..at].iter().rposition(|other| other.id.thread == thread);
        let start = |other: &&Event| matches!(other.action, Action::Spawn { child, .. } if child == event.id.thread);
        let own = last_of(event.id.thread).or_else(|| self.events[..at].iter().rposition(start));
        let source = event.action.source().and_then(|source| source.write()).and_then(|write| self.places.get(&write));
        let ended = match event.action {
            Action::Join { child } => last_of(child),
            _ => None,
        };
        own.into_iter().chain(ended).chain(source.copied()).collect()
    }

    /// The last step of a path that is a read of another thread's write and does not synchronise.
    fn broken(&self, path: &[usize]) -> Option<Unordered> {
        let thread = |place: usize| self.events[path[place]].id.thread;
        (1..path.len()).rev().find_map(|at| {
            let (source, reader) = (path[at - 1], path[at]);
            let (first, second) = (self.events[source], self.events[reader]);
            let reads = second.action.source().and_then(|from| from.write()) == Some(first.id);
            if !reads || first.id.thread == second.id.thread {
                return None;
            }
            // Fences count if they stand on the way.
            let enters = (0..at).rev().take_while(|&place| thread(place) == first.id.thread).last();
            let leaves = (at..path.len()).take_while(|&place| thread(place) == second.id.thread).last();
            let releases = self.releases(first, enters.map_or(source, |place| path[place]));
            let acquires = self.acquires(second, leaves.map_or(reader, |place| path[place]));
            (!(releases && acquires)).then_some(Unordered { source, reader, releases, acquires })
        })
    }

    /// Whether a write publishes what its thread did up to some event before: by itself, by a fence between, or as an update of a write that does.
    fn releases(&self, write: &Event, since: usize) -> bool {
        let continued = || {
            let source = write.action.source().and_then(|source| source.write()).and_then(|id| self.places.get(&id));
            source.is_some_and(|&source| self.releases(self.events[source], 0))
        };
        self.model != Model::Rc11
            || write.order.is_some_and(Ordering::releases)
            || self.fenced(write, since..self.places[&write.id], Ordering::releases)
            || continued()
    }

    /// Whether a read learns what it was told before some later event: by itself or by a fence between.
    fn acquires(&self, read: &Event, until: usize) -> bool {
        self.model != Model::Rc11
            || read.order.is_some_and(Ordering::acquires)
            || self.fenced(read, self.places[&read.id]..until, Ordering::acquires)
    }

    /// Whether a fence of the event's thread among these events has such an ordering.
    fn fenced(&self, event: &Event, among: Range<usize>, has: fn(Ordering) -> bool) -> bool {
        let mut fences = self.events[among].iter().filter(|fence| matches!(fence.action, Action::Fence { .. }));
        fences.any(|fence| fence.id.thread == event.id.thread && fence.order.is_some_and(has))
    }
}

/// A read of another thread's write that does not synchronise with it.
struct Unordered {
    source: usize,
    reader: usize,
    releases: bool,
    acquires: bool,
}

/// The ordering of an event, as C calls it.
fn order(event: &Event) -> &'static str {
    match event.order {
        None | Some(Ordering::NonAtomic) => "an ordinary access",
        Some(Ordering::Relaxed) => "relaxed",
        Some(Ordering::Acquire) => "acquire",
        Some(Ordering::Release) => "release",
        Some(Ordering::AcqRel) => "acq_rel",
        Some(Ordering::SeqCst) => "seq_cst",
    }
}
