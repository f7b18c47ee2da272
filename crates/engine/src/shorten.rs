//! The steps of a violation that it needs.
//!
//! An engine comes to what is wrong on its own way, on which other threads have done things that have nothing to do with it. Who reads the run has to tell them apart; so each thread goes only as far as
//! the violation needs it to. First everything is left out that the failing thread has not heard of, by reads, starts and joins; then each of the others is stopped as early as possible, by halving. Each try
//! is a replay, and counts only if the same thread fails at the same place with the same words. So what is shown is a run of its own, and not a part of one. In the
//! end threads take turns as seldom as possible ([`gather`](crate::gather)).
//!
//! Where nothing can move any more, everybody has to be where he is, and nothing is left out.
//!
//! Cost: a few replays for each thread; long runs are left as they are once [`BUDGET`] is used up.

use crate::confirm::{Finding, shown};
use crate::face::Question;
use crate::gather::gathered;
use raddle_trace::execution::Entry;
use raddle_trace::{Action, EventId, EventName, Execution, Model, Property, Schedule, Step, ThreadName, Violation};
use std::collections::{BTreeMap, HashMap};

/// So many steps are replayed, where each costs as much as the last.
const BUDGET: usize = 100_000;

/// What a thread does, or what its store buffer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lane {
    pub(crate) buffer: bool,
    pub(crate) thread: ThreadName,
}

impl Lane {
    pub(crate) fn of(step: Step<ThreadName>) -> Lane {
        Lane { buffer: matches!(step, Step::Flush(_) | Step::FlushAt(..)), thread: step.thread() }
    }

    fn thread(thread: ThreadName) -> Lane {
        Lane { buffer: false, thread }
    }
}

/// How many steps are kept of each lane; of one that is not listed, none.
type Kept = BTreeMap<Lane, u32>;

/// The same violation by a run without steps that it does not need, or as it was.
pub(crate) fn shortened(question: &Question<'_>, finding: Finding) -> Finding {
    let Some(culprit) = culprit(&finding) else { return finding };
    let mut search = Search { question, culprit, left: BUDGET, best: finding };
    if search.best.violation().property != Property::Deadlock {
        search.forget_the_unheard();
        // Who is started last has started nobody; and buffers come before what is in them.
        let others: Vec<Lane> = search.lengths().into_keys().filter(|&lane| lane != Lane::thread(culprit)).collect();
        others.into_iter().rev().for_each(|lane| search.stop_early(lane));
    }
    let fails = (search.best.violation().property != Property::Deadlock).then_some(culprit);
    if let Some(gathered) = gathered(search.best.violation(), search.best.execution(), fails) {
        search.attempt(gathered);
    }
    search.best
}

/// The thread that fails.
fn culprit(finding: &Finding) -> Option<ThreadName> {
    finding.execution().steps.iter().find_map(|entry| match entry {
        Entry::Failure { thread, message, .. } if *message == finding.violation().message => *thread,
        _ => None,
    })
}

struct Search<'q> {
    question: &'q Question<'q>,
    culprit: ThreadName,
    left: usize,
    best: Finding,
}

impl Search<'_> {
    /// How many steps each lane has.
    fn lengths(&self) -> Kept {
        let mut lengths = Kept::new();
        for &step in &self.best.violation().schedule.steps {
            *lengths.entry(Lane::of(step)).or_default() += 1;
        }
        lengths
    }

    /// How many events a thread does.
    fn events(lengths: &Kept, thread: ThreadName) -> u32 {
        lengths.get(&Lane::thread(thread)).copied().unwrap_or(0)
    }

    /// Leaves out what the failing thread has not heard of.
    fn forget_the_unheard(&mut self) {
        let (execution, lengths) = (self.best.execution(), self.lengths());
        let events: HashMap<EventName, &Action> = execution.events().map(|event| (event.id, &event.action)).collect();
        let mut starts: HashMap<ThreadName, EventName> = HashMap::new();
        for (&id, action) in &events {
            if let Action::Spawn { child, .. } | Action::Post { message: child, .. } = action {
                starts.insert(*child, id);
            }
        }
        // Buffers are emptied as before, as far as there is something in them.
        let mut heard: Kept =
            lengths.iter().filter(|(lane, _)| lane.buffer).map(|(&lane, &steps)| (lane, steps)).collect();
        let mut todo = vec![(self.culprit, Self::events(&lengths, self.culprit))];
        // What it races with is no news to it, but has to be there.
        todo.extend(execution.steps.iter().filter_map(|entry| match entry {
            Entry::Failure { race: Some(race), .. } => Some((race.with.thread, race.with.index + 1)),
            _ => None,
        }));
        while let Some((thread, events_of_it)) = todo.pop() {
            let known = heard.entry(Lane::thread(thread)).or_insert_with(|| {
                todo.extend(starts.get(&thread).map(|start| (start.thread, start.index + 1)));
                0
            });
            let news = *known..events_of_it;
            *known = events_of_it.max(*known);
            for index in news {
                let Some(action) = events.get(&EventId::new(thread, index)) else { continue };
                let write = action.source().and_then(|source| source.write());
                todo.extend(write.map(|write| (write.thread, write.index + 1)));
                if let Action::Join { child } = action {
                    todo.push((*child, Self::events(&lengths, *child)));
                }
            }
        }
        self.attempt_with(&heard);
    }

    /// Stops one as early as possible.
    fn stop_early(&mut self, lane: Lane) {
        let mut enough = self.lengths().get(&lane).copied().unwrap_or(0);
        let mut too_few = None;
        loop {
            let few = too_few.map_or(0, |few| few + 1);
            if few >= enough {
                return;
            }
            // Not at all is the likeliest, and most of it the next.
            let middle = if too_few.is_none() { 0 } else { few + (enough - few) / 2 };
            let mut kept = self.lengths();
            kept.insert(lane, middle);
            if self.attempt_with(&kept) {
                enough = middle;
            } else {
                too_few = Some(middle);
            }
        }
    }

    /// Tries with so many steps of each; whether that is less and enough.
    fn attempt_with(&mut self, kept: &Kept) -> bool {
        let schedule = cut(self.best.violation(), self.best.execution(), kept);
        schedule.steps.len() < self.best.violation().schedule.steps.len() && self.attempt(schedule)
    }

    /// Replays the schedule, and takes it if it shows the same.
    fn attempt(&mut self, schedule: Schedule<ThreadName>) -> bool {
        let length = schedule.steps.len();
        // Axioms are about pairs of events.
        let each = if Model::AXIOMATIC.contains(&self.question.options.model) { 1 + length / 16 } else { 1 };
        let Some(left) = self.left.checked_sub(length * each) else { return false };
        self.left = left;
        let wanted = self.best.violation();
        let Ok(other) = shown(self.question, schedule, wanted.property, &wanted.place) else { return false };
        let is_same = {
            let Violation { place, message, .. } = other.violation();
            (place, message) == (&wanted.place, &wanted.message) && culprit(&other) == Some(self.culprit)
        };
        if is_same {
            self.best = other;
        }
        is_same
    }
}

/// The schedule with so many steps of each lane, and only with those writes reaching memory that are still made.
fn cut(violation: &Violation, execution: &Execution, kept: &Kept) -> Schedule<ThreadName> {
    let among = |lane: Lane, number: u32| kept.get(&lane).is_some_and(|&steps| number < steps);
    let mut flushed: BTreeMap<ThreadName, Vec<EventName>> = BTreeMap::new();
    for entry in execution.steps.iter().rev() {
        if let Entry::Flush { write, .. } = entry {
            flushed.entry(write.thread).or_default().push(*write);
        }
    }
    let mut places = Places::new(execution);
    let mut done = Kept::new();
    let mut steps = Vec::new();
    for &step in &violation.schedule.steps {
        let lane = Lane::of(step);
        let number = done.entry(lane).or_default();
        let event = EventId::new(lane.thread, *number);
        *number += 1;
        if lane.buffer {
            // The last one may have come too late, and that may be what is wrong.
            let write = flushed.get_mut(&lane.thread).and_then(Vec::pop);
            let is_made = write.is_none_or(|write| among(Lane::thread(write.thread), write.index));
            steps.extend((is_made && among(lane, event.index)).then_some(step));
        } else if among(lane, event.index) {
            steps.push(match step {
                Step::ReadFrom(thread, Some(write), pick) => {
                    let is_made = among(Lane::thread(write.thread), write.index);
                    let source = if is_made { Some(write) } else { places.before(write) };
                    Step::ReadFrom(thread, source, pick)
                }
                Step::WriteAt(thread, given) => Step::WriteAt(thread, places.next(event).unwrap_or(given)),
                other => other,
            });
            places.keep(event);
        }
    }
    Schedule { steps }
}

/// Where writes stand among those of their location. Fewer are before one if some were left out.
struct Places<'e> {
    orders: HashMap<EventName, (&'e str, usize)>,
    /// Those that were kept so far, by their places in the whole order.
    there: HashMap<&'e str, BTreeMap<usize, EventName>>,
}

impl<'e> Places<'e> {
    fn new(execution: &'e Execution) -> Self {
        let orders = execution.coherence.iter().flat_map(|(location, writes)| {
            writes.iter().enumerate().map(|(at, &write)| (write, (location.as_str(), at)))
        });
        Places { orders: orders.collect(), there: HashMap::new() }
    }

    /// Those that were kept of the location of a write and stand before it.
    fn earlier(&self, write: EventName) -> Option<impl DoubleEndedIterator<Item = EventName>> {
        let &(location, at) = self.orders.get(&write)?;
        Some(self.there.get(location)?.range(..at).map(|(_, &write)| write))
    }

    /// What a read finds if this write is not made.
    fn before(&self, write: EventName) -> Option<EventName> {
        self.earlier(write)?.next_back()
    }

    /// The place of a write among those that were kept before it, if it is one.
    fn next(&self, write: EventName) -> Option<u32> {
        self.orders.get(&write)?;
        Some(self.earlier(write).map_or(0, Iterator::count) as u32)
    }

    fn keep(&mut self, event: EventName) {
        if let Some(&(location, at)) = self.orders.get(&event) {
            self.there.entry(location).or_default().insert(at, event);
        }
    }
}
