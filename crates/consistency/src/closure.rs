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

use crate::interrupt::Interrupt;
use crate::order::{Cyclic, Order, Why};
use crate::shape::{NONE, Shape};

/// Closure, with memory to be used again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClosureOrder {
    pub(crate) order: Order,
    reads: Vec<u32>,
    columns: Columns,
}

/// The writes by location, and those of a location in columns, one per thread, in program order.
#[derive(Clone, Debug, Default)]
struct Columns {
    writes: Vec<u32>,
    /// Where columns begin in `writes`, and the end.
    starts: Vec<u32>,
    /// Where the columns of each location begin in `starts`, and the end.
    locations: Vec<u32>,
}

impl Columns {
    fn fill(&mut self, shape: &Shape) {
        let mut ends = std::mem::take(&mut self.locations);
        ends.clear();
        ends.resize(shape.locs + 1, 0);
        for op in shape.ops.iter().filter(|op| op.lane != NONE) {
            ends[op.loc as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        self.writes.clear();
        self.writes.resize(total as usize, NONE);
        // From behind, so that the ends walk down to the beginnings and operations stay in order.
        for (number, op) in shape.ops.iter().enumerate().rev().filter(|(_, op)| op.lane != NONE) {
            let at = &mut ends[op.loc as usize];
            *at -= 1;
            self.writes[*at as usize] = number as u32;
        }
        self.starts.clear();
        let mut previous = None;
        let mut loc = 0;
        for (at, &write) in self.writes.iter().enumerate() {
            let op = shape.op(write);
            if previous != Some((op.loc, op.thread)) {
                previous = Some((op.loc, op.thread));
                while loc <= op.loc as usize {
                    ends[loc] = self.starts.len() as u32;
                    loc += 1;
                }
                self.starts.push(at as u32);
            }
        }
        ends[loc..].fill(self.starts.len() as u32);
        self.starts.push(total);
        self.locations = ends;
    }

    /// The columns of a location, but for that of one thread.
    fn of<'a>(&'a self, shape: &'a Shape, loc: u32, but: u32) -> impl Iterator<Item = &'a [u32]> {
        let columns = self.locations[loc as usize] as usize..self.locations[loc as usize + 1] as usize;
        let writes = columns.map(|at| &self.writes[self.starts[at] as usize..self.starts[at + 1] as usize]);
        writes.filter(move |column| shape.op(column[0]).thread != but)
    }

    /// The last write of the read's own thread before it.
    fn own(&self, shape: &Shape, read: u32) -> Option<u32> {
        let op = shape.op(read);
        let columns = self.locations[op.loc as usize] as usize..self.locations[op.loc as usize + 1] as usize;
        let (from, to) = (self.starts[columns.start] as usize, self.starts[columns.end] as usize);
        let writes = &self.writes[from..to];
        let before = writes.partition_point(|&write| write < read);
        writes[..before].last().copied().filter(|&write| shape.op(write).thread == op.thread)
    }
}

/// Why there is no closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is a cycle.
    Cyclic,
    /// Time is over.
    Late,
}

impl From<Cyclic> for Failure {
    fn from(_: Cyclic) -> Self {
        Failure::Cyclic
    }
}

/// After so many reads it looks at the clock.
const READS: usize = 256;

impl ClosureOrder {
    /// Computes the closure.
    pub(crate) fn build(&mut self, shape: &Shape, interrupt: &dyn Interrupt) -> Result<(), Failure> {
        self.build_unclosed(shape)?;
        let ClosureOrder { order, reads, columns } = self;
        loop {
            let mut news = false;
            for some in reads.chunks(READS) {
                if interrupt.is_due() {
                    return Err(Failure::Late);
                }
                for &read in some {
                    news |= apply(shape, order, columns, read)?;
                }
            }
            if !news {
                return Ok(());
            }
        }
    }
}

impl ClosureOrder {
    /// Program order, rule 1, and rule 3 as far as program order tells it.
    pub(crate) fn build_unclosed(&mut self, shape: &Shape) -> Result<(), Cyclic> {
        let ClosureOrder { order, reads, columns } = self;
        reads.clear();
        reads.extend((0..shape.ops.len() as u32).filter(|&op| shape.op(op).source != NONE));
        columns.fill(shape);
        order.build(shape, |order| reads.iter().for_each(|&read| first_edges(shape, order, columns, read)))
    }
}

/// Rule 1, and rule 3 as far as program order tells it.
fn first_edges(shape: &Shape, order: &mut Order, columns: &Columns, read: u32) {
    let op = shape.op(read);
    if shape.is_initial(op.source) {
        for column in columns.of(shape, op.loc, op.thread) {
            order.put(read, order.arrival(column[0]), Why::Later(read));
        }
    } else if !shape.is_local(op) {
        let source = order.arrival(op.source);
        order.put(source, read, Why::ReadsFrom);
        if let Some(own) = columns.own(shape, read) {
            order.put(order.arrival(own), source, Why::OwnBefore(read));
        }
    }
}

/// Rules 2 and 3 for one read.
fn apply(shape: &Shape, order: &mut Order, columns: &Columns, read: u32) -> Result<bool, Cyclic> {
    let op = shape.op(read);
    if shape.is_initial(op.source) {
        return Ok(false);
    }
    let source = order.arrival(op.source);
    let mut news = false;
    for column in columns.of(shape, op.loc, op.thread) {
        let earlier = column.partition_point(|&other| order.at_most(order.arrival(other), read));
        if earlier > 0 && column[earlier - 1] != op.source {
            news |= order.add(order.arrival(column[earlier - 1]), source, Why::Earlier(read))?;
        }
        let later = column.partition_point(|&other| other == op.source || !order.at_most(source, order.arrival(other)));
        if later < column.len() {
            news |= order.add(read, order.arrival(column[later]), Why::Later(read))?;
        }
    }
    Ok(news)
}
