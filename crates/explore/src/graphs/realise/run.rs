//! Executing what is to be explained: the second and the third stage.
//!
//! Where program order is kept, a thread has one event that may be next, so that a step costs the number of threads and not that of events;
//! under models with store buffers all that has not been executed is looked at.

use super::{Look, NOWHERE, Realiser};
use crate::graphs::event::{Event, INIT, Slot};
use crate::graphs::graph::Graph;
use crate::graphs::models::Model;
use raddle_engine::Deadline;
use raddle_trace::BitSet;
use rustc_hash::FxHashSet;

/// A part of the line of units.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lane {
    start: u32,
    /// What stands before this has been executed.
    next: u32,
    end: u32,
}

impl Realiser {
    /// Divides the units into lanes.
    pub(super) fn line_up<M: Model>(&mut self, graph: &Graph<M>, read: Option<&Event>) {
        self.ordered = !M::FORWARDS;
        self.lanes.clear();
        self.line.clear();
        if !self.ordered {
            self.line.extend(0..self.units.len() as u32);
            self.lanes.push(Lane { start: 0, next: 0, end: self.line.len() as u32 });
            return;
        }
        let new = Self::new_slot(graph);
        let lane_of = |slot: Slot| match read {
            Some(read) if slot == new => read.thread.index(),
            _ => graph.event(slot).thread.index(),
        };
        self.lanes.resize(graph.threads.len(), Lane::default());
        self.units.iter().for_each(|&slot| self.lanes[lane_of(slot)].end += 1);
        let mut start = 0;
        for lane in &mut self.lanes {
            let length = std::mem::replace(&mut lane.end, start);
            *lane = Lane { start, next: start, end: start };
            start += length;
        }
        self.line.resize(self.units.len(), 0);
        // Each thread's events have been added in its order.
        for (at, &slot) in self.units.iter().enumerate() {
            let lane = &mut self.lanes[lane_of(slot)];
            self.line[lane.end as usize] = at as u32;
            lane.end += 1;
        }
    }

    /// Begins with nothing executed.
    fn start(&mut self) {
        self.done.clear();
        self.done.resize(self.order.stride(), 0);
        self.last.clear();
        self.last.resize(self.places.len(), INIT);
        self.sequence.clear();
        self.rewind();
    }

    /// Has a look at everything again that was executed.
    fn rewind(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.next = lane.start);
    }

    fn is_done(&self, slot: Slot) -> bool {
        self.done[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Whether all that is before it has been executed; of a whole update, its own parts do not count.
    fn is_minimal(&self, slot: Slot) -> bool {
        let row = self.order.row(slot as usize);
        let missing = || row.iter().zip(&self.done).map(|(before, done)| before & !done);
        if missing().all(|word| word == 0) {
            return true;
        }
        let Some(half) = self.half_of[slot as usize] else { return false };
        // What is missing must be parts of updates, and of no other than this one: they are not before the first half.
        self.is_minimal(half.slot)
            && missing().zip(&self.bound).enumerate().all(|(at, (missing, bound))| {
                missing & !bound == 0
                    && BitSet::from_words(&[missing]).iter().all(|bit| {
                        let part = at * 64 + bit;
                        part == half.slot as usize || self.order.before(half.slot as usize, part)
                    })
            })
    }

    /// Executes an event.
    fn execute(&mut self, slot: Slot) {
        self.done[slot as usize / 64] |= 1 << (slot % 64);
        self.sequence.push(slot);
        let place = self.place_of[slot as usize];
        if place != NOWHERE {
            self.last[place as usize] = slot;
        }
    }

    /// Whether a write, with the rest of it if it is of an update, can be executed.
    fn can_write(&self, slot: Slot) -> bool {
        let place = self.place_of[slot as usize] as usize;
        let last = self.last[place];
        let half = self.half_of[slot as usize];
        if half.is_some_and(|half| half.source != last) {
            return false;
        }
        let own = half.map(|half| half.slot);
        let wanted = |look: &Look| look.source == last && Some(look.slot) != own && !self.is_done(look.slot);
        self.is_minimal(slot) && !self.looks[self.places[place].looks.clone()].iter().any(wanted)
    }

    /// Whether it is a write, or part of an update before its write.
    fn waits_for_turn(&self, slot: Slot) -> bool {
        self.place_of[slot as usize] != NOWHERE || self.bound[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Executes everything but writes, as far as possible.
    fn settle(&mut self) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for number in 0..self.lanes.len() {
                let Lane { next, end, .. } = self.lanes[number];
                let mut all_done = true;
                for at in next..end {
                    let slot = self.units[self.line[at as usize] as usize];
                    if !self.is_done(slot) {
                        if !self.waits_for_turn(slot) && self.is_minimal(slot) {
                            self.execute(slot);
                            progress = true;
                        } else if self.ordered {
                            break;
                        } else {
                            all_done = false;
                        }
                    }
                    if all_done {
                        self.lanes[number].next = at + 1;
                    }
                }
            }
        }
    }

    fn write(&mut self, slot: Slot) {
        if let Some(half) = self.half_of[slot as usize] {
            self.execute(half.slot);
            // A choice may stand between the halves.
            for at in 0..self.units.len() {
                let part = self.units[at];
                let bound = self.bound[part as usize / 64] >> (part % 64) & 1 == 1;
                if bound && !self.is_done(part) && self.order.before(part as usize, slot as usize) {
                    self.execute(part);
                }
            }
        }
        self.execute(slot);
    }

    fn is_over(&self) -> bool {
        self.sequence.len() == self.units.len()
    }

    /// Takes the first write that is possible, again and again. Returns whether that leads to the end.
    pub(super) fn greedy(&mut self) -> bool {
        self.start();
        loop {
            self.settle();
            if self.is_over() {
                return true;
            }
            let Some(next) = self.first_open_write() else { return false };
            self.write(self.units[next]);
        }
    }

    /// The first write that is possible, by its place among the units.
    fn first_open_write(&self) -> Option<usize> {
        let is_open = |&at: &u32| self.is_open_write(self.units[at as usize]);
        if !self.ordered {
            return self.line[self.lanes[0].next as usize..].iter().find(|&at| is_open(at)).map(|&at| at as usize);
        }
        let fronts = self.lanes.iter().filter_map(|lane| {
            let line = &self.line[lane.next as usize..lane.end as usize];
            // In front of the write may be the other parts of its update.
            line.first().filter(|&&at| self.waits_for_turn(self.units[at as usize]))?;
            line.iter().find(|&&at| self.place_of[self.units[at as usize] as usize] != NOWHERE)
        });
        fronts.filter(|&at| is_open(at)).min().map(|&at| at as usize)
    }

    fn is_open_write(&self, slot: Slot) -> bool {
        self.place_of[slot as usize] != NOWHERE && !self.is_done(slot) && self.can_write(slot)
    }

    /// Tries all orders of writes. Returns whether one leads to the end; `false`, too, if the time for that is over.
    pub(super) fn search(&mut self, deadline: &Deadline<'_>) -> bool {
        self.start();
        // The sets of executed events that were met: if a way to the end goes on from one, it is found then.
        let mut met: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut stack: Vec<Branch> = Vec::new();
        loop {
            self.settle();
            if self.is_over() {
                return true;
            }
            if met.insert(self.done.clone()) {
                let (done, last) = (self.done.clone(), self.last.clone());
                stack.push(Branch { done, last, executed: self.sequence.len(), next: 0 });
            }
            if met.len() % PATIENCE == 1 && deadline.passed().is_some() {
                self.interrupted = true;
            }
            if self.interrupted {
                return false;
            }
            loop {
                let Some(branch) = stack.last_mut() else { return false };
                self.done.copy_from_slice(&branch.done);
                self.last.copy_from_slice(&branch.last);
                self.sequence.truncate(branch.executed);
                self.rewind();
                let mut rest = branch.next..self.units.len();
                let Some(at) = rest.find(|&at| self.is_open_write(self.units[at])) else {
                    stack.pop();
                    continue;
                };
                branch.next = at + 1;
                self.write(self.units[at]);
                break;
            }
        }
    }
}

/// How many sets of executed events the search meets between two looks at the clock.
const PATIENCE: usize = 1024;

/// A point of the search at which several writes are possible.
struct Branch {
    done: Vec<u64>,
    last: Vec<Slot>,
    executed: usize,
    /// Units from here on are still to be tried.
    next: usize,
}
