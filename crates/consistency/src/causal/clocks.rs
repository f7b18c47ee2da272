//! What happens before what, as clocks, in one pass over an instance.
//!
//! Program order and reads-from must have no cycle; events are then taken in an order that respects both, and each gets a clock: for every thread, how many
//! of its events happen before. Under release-acquire a read learns everything its source knew. Under RC11 it learns the message of its source if it
//! acquires, or at the next acquiring fence: what the source's thread knew at the write, if that releases, or at its last releasing fence, and what the
//! message of the write it updated said (release sequences of C++20). Accesses that are not atomic neither send nor take messages.

use super::conflict::{Link, Why};
use crate::instance::{Action, Instance, Source};
use raddle_trace::{EventId, Ordering};

/// An order of the events, and their clocks.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    threads: usize,
    /// Per event, a number for each thread; the own one counts the event itself.
    now: Vec<u32>,
    /// All events, each after what is before it by program order and reads-from.
    pub(crate) sequence: Vec<u32>,
}

impl Clocks {
    /// How many bytes the clocks of an instance take, with what is needed to compute them.
    pub(crate) fn bytes(instance: &Instance) -> u64 {
        let (events, threads) = (instance.len() as u64, instance.threads() as u64);
        events.saturating_mul(threads).saturating_mul(8).saturating_add(events * 64)
    }

    /// Computes them, or finds a cycle. `synchronises` says that orderings matter.
    pub(crate) fn of(instance: &Instance, names: &[EventId], synchronises: bool) -> Result<Self, Vec<Link>> {
        let sequence = sorted(instance.len(), &steps(instance))?;
        let threads = instance.threads();
        let mut clocks = Clocks { threads, now: vec![0; instance.len() * threads], sequence: Vec::new() };
        let mut learner = Learner::new(instance, synchronises);
        for &event in &sequence {
            learner.learn(instance, names, &mut clocks, event);
        }
        clocks.sequence = sequence;
        Ok(clocks)
    }

    /// The clock of an event.
    pub(crate) fn now(&self, event: u32) -> &[u32] {
        &self.now[event as usize * self.threads..][..self.threads]
    }

    /// Whether one event happens before another.
    pub(crate) fn before(&self, first: EventId, second: u32, is_same: bool) -> bool {
        !is_same && self.now(second)[first.thread.index()] > first.index
    }
}

/// Visits the steps of program order, with the starts and ends of threads.
pub(super) fn program_steps(instance: &Instance, mut visit: impl FnMut(u32, u32)) {
    let spawns = instance.spawns();
    for (number, (id, action)) in instance.events().enumerate() {
        let number = number as u32;
        let before = if id.index > 0 { Some(number - 1) } else { spawns[id.thread.index()] };
        before.into_iter().for_each(|before| visit(before, number));
        if let Action::Join { child } = action {
            let end = instance.end(child).or(spawns[child.index()]);
            end.into_iter().for_each(|end| visit(end, number));
        }
    }
}

/// The steps of program order and reads-from.
pub(super) fn steps(instance: &Instance) -> Vec<Link> {
    let mut links = Vec::with_capacity(instance.len() * 2);
    program_steps(instance, |from, to| links.push(Link { from, to, why: Why::Step }));
    for (number, (_, action)) in instance.events().enumerate() {
        if let Some(Source::Write(write)) = action.source() {
            links.push(Link { from: instance.flat(write), to: number as u32, why: Why::Step });
        }
    }
    links
}

/// So many events in an order that respects the links, or a cycle of links.
pub(super) fn sorted(size: usize, links: &[Link]) -> Result<Vec<u32>, Vec<Link>> {
    let mut starts = vec![0u32; size + 1];
    let mut before = vec![0u32; size];
    for link in links {
        starts[link.from as usize + 1] += 1;
        before[link.to as usize] += 1;
    }
    for at in 0..size {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut after = vec![0u32; links.len()];
    for link in links {
        let place = &mut next[link.from as usize];
        after[*place as usize] = link.to;
        *place += 1;
    }
    let mut ready: Vec<u32> = (0..size as u32).rev().filter(|&event| before[event as usize] == 0).collect();
    let mut sequence = Vec::with_capacity(size);
    while let Some(event) = ready.pop() {
        sequence.push(event);
        for &next in after[starts[event as usize] as usize..starts[event as usize + 1] as usize].iter().rev() {
            before[next as usize] -= 1;
            if before[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    if sequence.len() == size { Ok(sequence) } else { Err(cycle(links, &before)) }
}

/// A cycle of links among the events that something is still before.
fn cycle(links: &[Link], left: &[u32]) -> Vec<Link> {
    let mut into: Vec<Option<Link>> = vec![None; left.len()];
    for link in links.iter().filter(|link| left[link.from as usize] > 0) {
        into[link.to as usize] = Some(*link);
    }
    let step = |event: usize| into[event].expect("something that is left is before it");
    let mut met = vec![false; left.len()];
    let mut at = left.iter().position(|&left| left > 0).expect("something is left");
    while !std::mem::replace(&mut met[at], true) {
        at = step(at).from as usize;
    }
    let end = at;
    let mut links = vec![step(end)];
    at = links[0].from as usize;
    while at != end {
        links.push(step(at));
        at = step(at).from as usize;
    }
    links.reverse();
    links
}

/// What threads have learnt, and what writes tell.
struct Learner {
    threads: usize,
    synchronises: bool,
    spawns: Vec<Option<u32>>,
    /// Per event, what a read of it learns, if orderings matter; else that is its clock.
    messages: Vec<u32>,
    /// Per thread, what it knew at its last releasing fence, and what it has read without learning it.
    fences: Vec<u32>,
    pending: Vec<u32>,
    now: Vec<u32>,
}

impl Learner {
    fn new(instance: &Instance, synchronises: bool) -> Self {
        let threads = instance.threads();
        let space = |rows: usize| vec![0; if synchronises { rows * threads } else { 0 }];
        Learner {
            threads,
            synchronises,
            spawns: instance.spawns(),
            messages: space(instance.len()),
            fences: space(threads),
            pending: space(threads),
            now: Vec::new(),
        }
    }

    /// Gives the next event of a sequence its clock.
    fn learn(&mut self, instance: &Instance, names: &[EventId], clocks: &mut Clocks, event: u32) {
        let id = names[event as usize];
        let (action, order) = (instance.get(id).expect("it is one"), instance.order(id));
        let width = self.threads;
        let mut now = std::mem::take(&mut self.now);
        now.clear();
        let before = if id.index > 0 { Some(event - 1) } else { self.spawns[id.thread.index()] };
        match before {
            Some(before) => now.extend_from_slice(clocks.now(before)),
            None => now.resize(width, 0),
        }
        if let Action::Join { child } = action
            && let Some(end) = instance.end(child).or(self.spawns[child.index()])
        {
            join(&mut now, clocks.now(end));
        }
        let source = match action.source() {
            Some(Source::Write(write)) => Some(instance.flat(write)),
            _ => None,
        };
        let own = id.thread.index() * width..(id.thread.index() + 1) * width;
        if !self.synchronises {
            if let Some(source) = source {
                join(&mut now, clocks.now(source));
            }
        } else {
            if let Some(source) = source.filter(|_| order != Ordering::NonAtomic) {
                let message = &self.messages[source as usize * width..][..width];
                join(&mut self.pending[own.clone()], message);
                if order.acquires() {
                    join(&mut now, message);
                }
            }
            if action.is_fence() && order.acquires() {
                join(&mut now, &self.pending[own.clone()]);
            }
        }
        now[id.thread.index()] = id.index + 1;
        if self.synchronises {
            if action.is_fence() && order.releases() {
                self.fences[own.clone()].copy_from_slice(&now);
            }
            if action.writes() {
                let (earlier, rest) = self.messages.split_at_mut(event as usize * width);
                let (message, later) = rest.split_at_mut(width);
                if order.releases() {
                    message.copy_from_slice(&now);
                } else if order != Ordering::NonAtomic {
                    message.copy_from_slice(&self.fences[own]);
                }
                if let Some(source) = source {
                    let at = source as usize * width;
                    let other = if source < event { &earlier[at..] } else { &later[at - earlier.len() - width..] };
                    join(message, &other[..width]);
                }
            }
        }
        clocks.now[event as usize * width..][..width].copy_from_slice(&now);
        self.now = now;
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}
