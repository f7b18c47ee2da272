//! Sequential consistency of reads and writes with different values.
//!
//! The order of the processes and who read from whom, closed under what reads force in both directions; if that has a cycle there is no order. Else a search: an
//! operation can be next if everything before it is done. A read that can be next and finds its value is, at once. A write cannot be while the value it overwrites
//! is still to be read. What was reached (how far each process is, and who wrote each key last) and led nowhere is remembered.

use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

use super::order::Order;
use super::{Acts, Standing, Why};
use crate::search::Budget;
use crate::value::ValueId;

/// How far each process is, and who wrote each key last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Reached {
    done: Vec<u32>,
    last: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

struct Search<'a> {
    acts: &'a Acts,
    order: &'a Order,
    /// The number of the key of each act, and how many keys there are.
    key: Vec<u32>,
    /// The reads of each write.
    readers: Vec<Vec<u32>>,
    /// The reads of the beginning of each key.
    first: Vec<Vec<u32>>,
}

impl Acts {
    pub(super) fn sequential(&self, budget: &Budget) -> Standing {
        let mut order = Order::new(self.processes.clone(), self.acts.len());
        let reads: Vec<u32> = self.reads().collect();
        for &read in &reads {
            if let Some(write) = self.source[read as usize] {
                order.add(write, read);
            }
        }
        if let Err(why) = self.force(&mut order, &reads, true) {
            return Standing::Violated(why);
        }
        Search::new(self, &order).run(budget)
    }
}

impl<'a> Search<'a> {
    fn new(acts: &'a Acts, order: &'a Order) -> Search<'a> {
        let mut numbers: FxHashMap<ValueId, u32> = FxHashMap::default();
        let number = |act: &super::Act| {
            let next = numbers.len() as u32;
            *numbers.entry(act.key).or_insert(next)
        };
        let key: Vec<u32> = acts.acts.iter().map(number).collect();
        let mut readers = vec![Vec::new(); acts.acts.len()];
        let mut first = vec![Vec::new(); numbers.len()];
        for read in acts.reads() {
            match acts.source[read as usize] {
                Some(write) => readers[write as usize].push(read),
                None => first[key[read as usize] as usize].push(read),
            }
        }
        Search { acts, order, key, readers, first }
    }

    fn is_done(&self, reached: &Reached, act: u32) -> bool {
        let (process, at) = self.order.place[act as usize];
        reached.done[process as usize] > at
    }

    /// The next act of a process, if everything before it is done and it can be next.
    fn enabled(&self, reached: &Reached, process: usize) -> Option<u32> {
        let act = *self.acts.processes[process].get(reached.done[process] as usize)?;
        let mut others = (0..reached.done.len()).filter(|&other| other != process);
        if others.any(|other| self.order.past(act, other) > reached.done[other]) {
            return None;
        }
        let last = reached.last[self.key[act as usize] as usize];
        let fits = if self.acts.acts[act as usize].writes {
            let waiting = if last == NOBODY {
                &self.first[self.key[act as usize] as usize]
            } else {
                &self.readers[last as usize]
            };
            waiting.iter().all(|&read| self.is_done(reached, read))
        } else {
            last == self.acts.source[act as usize].unwrap_or(NOBODY)
        };
        fits.then_some(act)
    }

    /// Does all reads that can be done.
    fn read(&self, reached: &mut Reached) {
        let mut process = 0;
        while process < reached.done.len() {
            match self.enabled(reached, process) {
                Some(act) if !self.acts.acts[act as usize].writes => {
                    reached.done[process] += 1;
                    process = 0;
                }
                _ => process += 1,
            }
        }
    }

    fn run(&self, budget: &Budget) -> Standing {
        let mut start = Reached { done: vec![0; self.acts.processes.len()], last: vec![NOBODY; self.first.len()] };
        self.read(&mut start);
        let mut seen: FxHashSet<Reached> = FxHashSet::default();
        let mut stack = vec![start];
        let each = 8 * (self.acts.processes.len() + self.first.len() + 8) as u64;
        while let Some(reached) = stack.pop() {
            let left = |process: usize| self.acts.processes[process].len() as u32 > reached.done[process];
            if !(0..reached.done.len()).any(left) {
                return Standing::Holds;
            }
            if !seen.insert(reached.clone()) {
                continue;
            }
            let visited = seen.len() as u64;
            if visited > budget.configurations || visited * each > budget.bytes {
                return Standing::Unknown(format!("no order was found among {visited} beginnings of one"));
            }
            if visited.is_multiple_of(256) && budget.deadline.is_some_and(|end| Instant::now() >= end) {
                return Standing::Unknown("the time limit was reached".into());
            }
            for process in (0..reached.done.len()).rev() {
                if let Some(act) = self.enabled(&reached, process) {
                    let mut next = reached.clone();
                    next.done[process] += 1;
                    next.last[self.key[act as usize] as usize] = act;
                    self.read(&mut next);
                    stack.push(next);
                }
            }
        }
        Standing::Violated(Why::NoOrder)
    }
}
