//! The steps of a run, with threads taking turns as seldom as possible.
//!
//! Steps that do not depend on each other may change places: a thread goes on for as long as what it does next does not wait for somebody else's step. Steps depend on each other if they belong to one thread,
//! if they are at one location and one of them writes there, by starts and joins, and where a store buffer has to be empty. Whatever else there is stays where it is. The order is a proposal: whoever takes it
//! has it replayed.
//!
//! Cost: linear in the run, but for looking for who goes on where a thread has to wait.

use crate::shorten::Lane;
use raddle_trace::execution::Entry;
use raddle_trace::{Action, Event, EventId, EventName, Execution, Schedule, ThreadName, Violation};
use std::collections::{BTreeMap, HashMap};

/// The same steps in another order, if threads take turns less often in it.
pub(crate) fn gathered(
    violation: &Violation,
    execution: &Execution,
    fails: Option<ThreadName>,
) -> Option<Schedule<ThreadName>> {
    let steps = &violation.schedule.steps;
    let lanes: Vec<Lane> = steps.iter().map(|&step| Lane::of(step)).collect();
    let mut after = Order::of(&lanes, execution);
    let mut order: Vec<usize> = Vec::with_capacity(steps.len());
    let mut ready: BTreeMap<usize, Lane> = BTreeMap::new();
    ready.extend(lanes.iter().copied().enumerate().filter(|&(at, _)| after.waits_for[at] == 0));
    while let Some((&first, _)) = ready.first_key_value() {
        let last = order.last().map(|&at| lanes[at]);
        let same = |wanted: fn(Lane, Lane) -> bool| {
            let last = last?;
            ready.iter().find(|&(_, &lane)| wanted(lane, last)).map(|(&at, _)| at)
        };
        let next = same(|lane, last| lane == last).or_else(|| same(|lane, last| lane.thread == last.thread));
        // Who fails comes last.
        let next = next.or_else(|| ready.iter().find(|(_, lane)| Some(lane.thread) != fails).map(|(&at, _)| at));
        let next = next.unwrap_or(first);
        ready.remove(&next);
        order.push(next);
        for follower in std::mem::take(&mut after.followers[next]) {
            after.waits_for[follower] -= 1;
            if after.waits_for[follower] == 0 {
                ready.insert(follower, lanes[follower]);
            }
        }
    }
    let turns = |order: &mut dyn Iterator<Item = usize>| {
        let threads: Vec<ThreadName> = order.map(|at| lanes[at].thread).collect();
        threads.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    let fewer = turns(&mut order.iter().copied()) < turns(&mut (0..steps.len()));
    fewer.then(|| Schedule { steps: order.iter().map(|&at| steps[at]).collect() })
}

/// Which steps wait for which.
struct Order {
    followers: Vec<Vec<usize>>,
    waits_for: Vec<usize>,
}

impl Order {
    fn of(lanes: &[Lane], execution: &Execution) -> Order {
        let events: HashMap<EventName, (&Event, bool)> = execution.steps.iter().filter_map(entry).collect();
        let mut flushes: HashMap<ThreadName, Vec<EventName>> = HashMap::new();
        for entry in execution.steps.iter().rev() {
            if let Entry::Flush { write, .. } = entry {
                flushes.entry(write.thread).or_default().push(*write);
            }
        }
        let mut order = Order { followers: vec![Vec::new(); lanes.len()], waits_for: vec![0; lanes.len()] };
        let mut last: HashMap<Lane, usize> = HashMap::new();
        let mut places: HashMap<EventName, usize> = HashMap::new();
        let mut starts: HashMap<ThreadName, usize> = HashMap::new();
        let mut memory: HashMap<&str, Accesses> = HashMap::new();
        let mut counts: HashMap<Lane, u32> = HashMap::new();
        // The last step that everything else waits for.
        let mut all: Option<usize> = None;
        for (at, &lane) in lanes.iter().enumerate() {
            let number = counts.entry(lane).or_default();
            let event = EventId::new(lane.thread, *number);
            *number += 1;
            let mut before: Vec<usize> = last.get(&lane).copied().into_iter().chain(all).collect();
            let what = if lane.buffer {
                let write = flushes.get_mut(&lane.thread).and_then(Vec::pop);
                before.extend(write.and_then(|write| places.get(&write)));
                write.and_then(|write| events.get(&write)).map(|(event, _)| (*event, false))
            } else {
                places.insert(event, at);
                before.extend(starts.get(&lane.thread));
                events.get(&event).copied()
            };
            match what.map(|(event, buffered)| (&event.action, buffered)) {
                Some((Action::Write { .. }, true)) => {}
                Some((Action::Read { location, .. }, _)) => memory.entry(location).or_default().read(at, &mut before),
                Some((Action::Write { location, .. } | Action::Update { location, .. }, false)) => {
                    memory.entry(location).or_default().write(at, &mut before);
                }
                Some((Action::Spawn { child, .. }, _)) => _ = starts.insert(*child, at),
                Some((Action::Join { child }, _)) => {
                    let both = [true, false].map(|buffer| Lane { buffer, thread: *child });
                    before.extend(both.iter().filter_map(|lane| last.get(lane)));
                }
                Some((Action::Fence { .. } | Action::Choose { .. } | Action::Input { .. }, _)) => {}
                // Ends of lives, atomic blocks, messages, and the step that fails.
                _ => {
                    before.extend(0..at);
                    all = Some(at);
                }
            }
            // What is more than a load or a store may need an empty buffer.
            if !lane.buffer
                && !matches!(what, Some((Event { action: Action::Read { .. } | Action::Write { .. }, .. }, _)))
            {
                before.extend(last.get(&Lane { buffer: true, thread: lane.thread }));
            }
            last.insert(lane, at);
            before.sort_unstable();
            before.dedup();
            order.waits_for[at] = before.len();
            before.into_iter().for_each(|earlier| order.followers[earlier].push(at));
        }
        order
    }
}

fn entry(entry: &Entry) -> Option<(EventName, (&Event, bool))> {
    match entry {
        Entry::Event { event, buffered, .. } => Some((event.id, (event, *buffered))),
        _ => None,
    }
}

/// The last write to a location, and the reads after it.
#[derive(Default)]
struct Accesses {
    write: Option<usize>,
    reads: Vec<usize>,
}

impl Accesses {
    fn read(&mut self, at: usize, before: &mut Vec<usize>) {
        before.extend(self.write);
        self.reads.push(at);
    }

    fn write(&mut self, at: usize, before: &mut Vec<usize>) {
        before.extend(self.write.replace(at));
        before.append(&mut self.reads);
    }
}
