//! The closure: what every sequence that serves all reads has in common.
//!
//! Starting from program order, edges are added that hold in every solution, until there are none left or a
//! contradiction shows that there is no solution (Toman 2021, closure for arbitrary width). For a read `r`, with
//! `Cl(r)` the good writes that it can still see:
//! 1. if `Cl(r)` is empty there is no solution;
//! 2. its least element, if there is one, comes before `r`;
//! 3. bad writes before `r` come before its greatest element, if there is one;
//! 4. bad writes above all of it come after `r`.
//!
//! An update is one event here, so it is a bad write of every other read of its location, and the rules for pairs of
//! halves are not needed: of two updates with the same single good write each is put before the other, and that is a cycle.
//!
//! This does not decide the problem; it is a filter before the search, and its order restricts the search. A pass over all
//! reads costs the number of reads times the writes of their locations times the threads.

use super::problem::{INIT, NONE, Problem};
use crate::chains::Chains;
use crate::interrupt::{Interrupted, Watch};

/// Buffers, the reads, and the writes of each location.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    reads: Vec<u32>,
    writes: Vec<Vec<u32>>,
    visible: Vec<u32>,
    latest: Vec<u32>,
    latest_bad: Vec<u32>,
}

impl Closure {
    /// Adds to the order what every solution has. Returns `false` if there is none.
    pub(crate) fn begin(
        &mut self,
        problem: &Problem,
        order: &mut Chains,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Interrupted> {
        self.writes.iter_mut().for_each(Vec::clear);
        if self.writes.len() < problem.locations {
            self.writes.resize_with(problem.locations, Vec::new);
        }
        self.reads.clear();
        for (event, op) in problem.ops.iter().enumerate() {
            if op.writes {
                self.writes[op.loc as usize].push(event as u32);
            }
            if op.reads {
                self.reads.push(event as u32);
            }
        }
        self.go_on(problem, order, watch)
    }

    /// The writes of a location.
    pub(crate) fn writes(&self, loc: u32) -> &[u32] {
        &self.writes[loc as usize]
    }

    /// The same for an order that has got more edges since.
    pub(crate) fn go_on(
        &mut self,
        problem: &Problem,
        order: &mut Chains,
        watch: &mut Watch<'_>,
    ) -> Result<bool, Interrupted> {
        // Round and round, until nothing has changed for a whole round.
        let (mut at, mut unchanged) = (0, 0);
        while unchanged < self.reads.len() {
            watch.step()?;
            match self.read(problem, order, self.reads[at]) {
                Some(true) => unchanged = 0,
                Some(false) => unchanged += 1,
                None => return Ok(false),
            }
            at += 1;
            if at == self.reads.len() {
                at = 0;
            }
        }
        Ok(true)
    }

    /// Applies the rules to one read. Returns whether that added anything, or `None` if there is no solution.
    fn read(&mut self, problem: &Problem, order: &mut Chains, read: u32) -> Option<bool> {
        let Closure { writes, visible, latest, latest_bad, .. } = self;
        let writes = &writes[problem.ops[read as usize].loc as usize];
        let good = problem.good(read);
        if let [source] = *good {
            return read_from(writes, order, read, source);
        }
        debug_assert!(good.is_sorted() && good.iter().all(|&write| write == INIT || writes.contains(&write)));
        let before = |order: &Chains, a: u32, b: u32| a == INIT || order.before(a, b);
        latest.clear();
        latest_bad.clear();
        for (write, is_good) in judged(writes, good) {
            if !order.before(write, read) {
                continue;
            }
            let thread = problem.thread(write);
            replace(latest, problem, thread, write);
            if !is_good {
                replace(latest_bad, problem, thread, write);
            }
        }
        visible.clear();
        for &write in good {
            let seen = if write == INIT {
                latest.is_empty()
            } else {
                !order.before(read, write) && !latest.iter().any(|&later| later != write && order.before(write, later))
            };
            if seen {
                visible.push(write);
            }
        }
        let mut changed = false;
        let mut insert = |order: &mut Chains, a: u32, b: u32| {
            // Most of it is known, and asked here because that is much cheaper than a call.
            if a != INIT && !order.before(a, b) {
                changed |= order.insert(a, b)?;
            }
            Some(())
        };
        let extreme = |order: &Chains, first: &dyn Fn(&Chains, u32, u32) -> bool| {
            let mut best = *visible.first()?;
            for &write in &visible[1..] {
                if first(order, write, best) {
                    best = write;
                }
            }
            let all = visible.iter().all(|&write| write == best || first(order, best, write));
            Some(if all { best } else { NONE })
        };
        // `INIT` and `NONE` are the same number, and for both there is nothing to do.
        let least = extreme(order, &|order, a, b| a == INIT || (b != INIT && order.before(a, b)))?;
        if least != NONE {
            insert(order, least, read)?;
        }
        let greatest = extreme(order, &|order, a, b| b == INIT || (a != INIT && order.before(b, a)))?;
        if greatest != NONE {
            for &bad in latest_bad.iter() {
                insert(order, bad, greatest)?;
            }
        }
        let mut done = NONE;
        for (bad, is_good) in judged(writes, good) {
            let thread = problem.thread(bad) as u32;
            if is_good || thread == done || bad == read {
                continue;
            }
            if visible.iter().all(|&write| before(order, write, bad)) {
                insert(order, read, bad)?;
                done = thread;
            }
        }
        Some(changed)
    }
}

/// The same for a read of this location that has one source: other writes come before that or after the read.
fn read_from(writes: &[u32], order: &mut Chains, read: u32, source: u32) -> Option<bool> {
    let mut changed = false;
    if source == INIT {
        for &write in writes.iter().filter(|&&write| write != read) {
            if !order.before(read, write) {
                changed |= order.insert(read, write)?;
            }
        }
        return Some(changed);
    }
    if !order.before(source, read) {
        changed |= order.insert(source, read)?;
    }
    // What is found out of the first write of a thread holds for those behind it, so that most is known already when it is asked for.
    for &write in writes.iter().filter(|&&write| write != source && write != read) {
        if order.before(write, read) {
            if !order.before(write, source) {
                changed |= order.insert(write, source)?;
            }
        } else if order.before(source, write) && !order.before(read, write) {
            changed |= order.insert(read, write)?;
        }
    }
    Some(changed)
}

/// The writes of a location, and whether each is among the good ones. Both lists increase.
fn judged<'w>(writes: &'w [u32], mut good: &'w [u32]) -> impl Iterator<Item = (u32, bool)> + 'w {
    writes.iter().map(move |&write| match good.split_first() {
        Some((&first, rest)) if first == write => {
            good = rest;
            (write, true)
        }
        _ => (write, false),
    })
}

/// Makes this write the last of its thread in the list.
fn replace(list: &mut Vec<u32>, problem: &Problem, thread: usize, write: u32) {
    match list.last_mut() {
        Some(last) if problem.thread(*last) == thread => *last = write,
        _ => list.push(write),
    }
}
