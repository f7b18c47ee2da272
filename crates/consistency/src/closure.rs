//! Closure: a polynomial filter that finds most of what cannot be.
//!
//! The weakest partial order that contains program order and, for every read `r` of a write `w` of the same location (Toman 2021):
//!
//! 1. `w` of another thread: `w` reaches memory before `r`, and `r`'s own earlier writes reach memory before `w` does;
//! 2. a write `o` of a thread other than `r`'s that is before `r` is before `w`;
//! 3. a write `o` of a thread other than `r`'s that is after `w` is after `r`.
//!
//! Rules 4 and 5 of Toman 2021 say that what is before (after) a part of an atomic block is before (after) all of it. Here a block is one node, so they
//! hold for free. Initial values are writes that are before everything.
//!
//! A cycle means that there is no execution. The converse fails in general; for two threads it holds. Cost: a pass looks at every
//! read and every thread, with a binary search among the thread's writes of the location; passes go on as long as they find something.

use crate::order::{Cyclic, Order, Why};
use crate::shape::{NONE, Shape};

/// Closure, with memory to be used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClosureOrder {
    pub(crate) order: Order,
    /// Reads.
    reads: Vec<u32>,
    /// Writes by location, then thread, then program order.
    writes: Vec<u32>,
    /// Where the writes of each location begin, and the end.
    starts: Vec<u32>,
}

impl ClosureOrder {
    /// Computes the closure.
    pub(crate) fn build(&mut self, shape: &Shape) -> Result<(), Cyclic> {
        self.collect(shape);
        let ClosureOrder { order, reads, writes, starts } = self;
        order.build(shape, |order| {
            for &read in reads.iter() {
                first_edges(shape, order, read, writes_of(shape, writes, starts, read));
            }
        })?;
        loop {
            let mut news = false;
            for &read in reads.iter() {
                news |= apply(shape, order, read, writes_of(shape, writes, starts, read))?;
            }
            if !news {
                return Ok(());
            }
        }
    }

    fn collect(&mut self, shape: &Shape) {
        self.reads.clear();
        self.starts.clear();
        self.starts.resize(shape.locs + 1, 0);
        for (number, op) in shape.ops.iter().enumerate() {
            if op.source != NONE {
                self.reads.push(number as u32);
            }
            if op.lane != NONE {
                self.starts[op.loc as usize] += 1;
            }
        }
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        self.writes.clear();
        self.writes.resize(total as usize, NONE);
        for (number, op) in shape.ops.iter().enumerate().rev() {
            if op.lane != NONE {
                let at = &mut self.starts[op.loc as usize];
                *at -= 1;
                self.writes[*at as usize] = number as u32;
            }
        }
    }
}

/// The writes of the location of a read.
fn writes_of<'a>(shape: &Shape, writes: &'a [u32], starts: &[u32], read: u32) -> &'a [u32] {
    let loc = shape.op(read).loc as usize;
    &writes[starts[loc] as usize..starts[loc + 1] as usize]
}

/// Runs of writes of the same thread, but for those of one thread.
fn columns<'a>(shape: &'a Shape, writes: &'a [u32], but: u32) -> impl Iterator<Item = &'a [u32]> {
    let runs = writes.chunk_by(|&a, &b| shape.op(a).thread == shape.op(b).thread);
    runs.filter(move |run| shape.op(run[0]).thread != but)
}

/// Rule 1, and rule 3 as far as program order tells it.
fn first_edges(shape: &Shape, order: &mut Order, read: u32, writes: &[u32]) {
    let op = shape.op(read);
    if shape.is_initial(op.source) {
        for column in columns(shape, writes, op.thread) {
            order.put(read, order.arrival(column[0]), Why::Later(read));
        }
    } else if !shape.is_local(op) {
        let source = order.arrival(op.source);
        order.put(source, read, Why::ReadsFrom);
        let own = writes.iter().filter(|&&write| shape.op(write).thread == op.thread && write < read);
        if let Some(&own) = own.max() {
            order.put(order.arrival(own), source, Why::OwnBefore(read));
        }
    }
}

/// Rules 2 and 3 for one read.
fn apply(shape: &Shape, order: &mut Order, read: u32, writes: &[u32]) -> Result<bool, Cyclic> {
    let op = shape.op(read);
    if shape.is_initial(op.source) {
        return Ok(false);
    }
    let source = order.arrival(op.source);
    let mut news = false;
    for column in columns(shape, writes, op.thread) {
        let earlier = column.partition_point(|&other| order.at_most(shape, order.arrival(other), read));
        if earlier > 0 && column[earlier - 1] != op.source {
            news |= order.add(shape, order.arrival(column[earlier - 1]), source, Why::Earlier(read))?;
        }
        let later =
            column.partition_point(|&other| other == op.source || !order.at_most(shape, source, order.arrival(other)));
        if later < column.len() {
            news |= order.add(shape, read, order.arrival(column[later]), Why::Later(read))?;
        }
    }
    Ok(news)
}
