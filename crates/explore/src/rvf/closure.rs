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

use super::instance::{INIT, Instance, NONE};
use super::order::Order;

/// Buffers, and the writes of each location.
#[derive(Debug, Default)]
pub(crate) struct Closure {
    writes: Vec<Vec<u32>>,
    visible: Vec<u32>,
    latest: Vec<u32>,
    latest_bad: Vec<u32>,
}

impl Closure {
    /// Adds to the order what every solution has. Returns `false` if there is none.
    pub(crate) fn close(&mut self, instance: &Instance, order: &mut Order) -> bool {
        self.writes.iter_mut().for_each(Vec::clear);
        if self.writes.len() < instance.locations {
            self.writes.resize_with(instance.locations, Vec::new);
        }
        for (event, op) in instance.ops.iter().enumerate() {
            if op.writes {
                self.writes[op.loc as usize].push(event as u32);
            }
        }
        loop {
            let mut changed = false;
            for (read, op) in instance.ops.iter().enumerate() {
                if op.reads {
                    match self.read(instance, order, read as u32) {
                        Some(more) => changed |= more,
                        None => return false,
                    }
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// Applies the rules to one read. Returns whether that added anything, or `None` if there is no solution.
    fn read(&mut self, instance: &Instance, order: &mut Order, read: u32) -> Option<bool> {
        let Closure { writes, visible, latest, latest_bad } = self;
        let writes = &writes[instance.ops[read as usize].loc as usize];
        let before = |order: &Order, a: u32, b: u32| a == INIT || order.before(instance, a, b);
        latest.clear();
        latest_bad.clear();
        for &write in writes {
            if !order.before(instance, write, read) {
                continue;
            }
            let thread = instance.thread(write);
            replace(latest, instance, thread, write);
            if !instance.is_good(read, write) {
                replace(latest_bad, instance, thread, write);
            }
        }
        visible.clear();
        for &write in instance.good(read) {
            let seen = if write == INIT {
                latest.is_empty()
            } else {
                !order.before(instance, read, write)
                    && !latest.iter().any(|&later| later != write && order.before(instance, write, later))
            };
            if seen {
                visible.push(write);
            }
        }
        let mut changed = false;
        let mut insert = |order: &mut Order, a: u32, b: u32| {
            if before(order, a, b) {
                return Some(());
            }
            changed = true;
            order.insert(instance, a, b).then_some(())
        };
        let extreme = |order: &Order, first: &dyn Fn(&Order, u32, u32) -> bool| {
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
        let least = extreme(order, &|order, a, b| a == INIT || (b != INIT && order.before(instance, a, b)))?;
        if least != NONE {
            insert(order, least, read)?;
        }
        let greatest = extreme(order, &|order, a, b| b == INIT || (a != INIT && order.before(instance, b, a)))?;
        if greatest != NONE {
            for &bad in latest_bad.iter() {
                insert(order, bad, greatest)?;
            }
        }
        let mut done = NONE;
        for &bad in writes {
            let thread = instance.thread(bad) as u32;
            if thread == done || bad == read || instance.is_good(read, bad) {
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

/// Makes this write the last of its thread in the list.
fn replace(list: &mut Vec<u32>, instance: &Instance, thread: usize, write: u32) {
    match list.last_mut() {
        Some(last) if instance.thread(*last) == thread => *last = write,
        _ => list.push(write),
    }
}
