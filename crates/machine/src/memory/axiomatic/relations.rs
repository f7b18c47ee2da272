//! The relations of an execution, by their names in the papers.
//!
//! The initial writes are no events. They come before everything, so no cycle goes through them; that a read of an initial write comes
//! before every write of its location is said in `rb`.

use super::{Axiomatic, Done, Kind};
use raddle_program::Ordering;
use raddle_trace::Matrix;

/// The events of an execution and their relations.
pub(super) struct Relations<'a> {
    events: &'a [Done],
    /// Program order, with starts and ends of threads.
    pub(super) po: Matrix,
    /// From a write to those that read from it.
    pub(super) rf: Matrix,
    /// The order of the writes of each location.
    pub(super) mo: Matrix,
    /// From a read to the writes that come after its source.
    pub(super) rb: Matrix,
    /// From the read half of an update to its write half.
    pub(super) rmw: Matrix,
}

impl<'a> Relations<'a> {
    pub(super) fn new(memory: &'a Axiomatic) -> Self {
        let events = memory.events.as_slice();
        let size = events.len();
        let mut neighbours = Matrix::empty(size);
        memory.neighbours.iter().for_each(|&(a, b)| neighbours.add(a, b));
        let source = |read: usize| match events[read].kind {
            Kind::Read { from } => Some(from),
            _ => None,
        };
        let mut mo = Matrix::empty(size);
        for writes in memory.order.values() {
            for (at, &first) in writes.iter().enumerate() {
                writes[at + 1..].iter().for_each(|&second| mo.add(first, second));
            }
        }
        let overwrites = |read: usize, write: usize| {
            let same = events[read].location == events[write].location;
            same && matches!(events[write].kind, Kind::Write { .. })
                && match source(read) {
                    Some(Some(from)) => mo.has(from, write),
                    Some(None) => true,
                    None => false,
                }
        };
        let rb = Matrix::of(size, overwrites);
        let rf = Matrix::of(size, |write, read| source(read) == Some(Some(write)));
        let rmw = Matrix::of(size, |read, write| read + 1 == write && events[write].half);
        Relations { events, po: neighbours.closure(), rf, mo, rb, rmw }
    }

    pub(super) fn size(&self) -> usize {
        self.events.len()
    }

    /// `[set]`.
    pub(super) fn on(&self, is_in: impl Fn(&Done) -> bool) -> Matrix {
        Matrix::on(self.size(), |event| is_in(&self.events[event]))
    }

    /// Whether two events access the same location. Those that access none do not.
    pub(super) fn same_location(&self, a: usize, b: usize) -> bool {
        self.events[a].location.is_some() && self.events[a].location == self.events[b].location
    }

    /// `(po ∪ rf)⁺`.
    pub(super) fn causality(&self) -> Matrix {
        self.po.or(&self.rf).closure()
    }

    /// `eco = (rf ∪ mo ∪ rb)⁺`.
    pub(super) fn eco(&self) -> Matrix {
        self.rf.or(&self.mo).or(&self.rb).closure()
    }

    /// `irreflexive(hb ; eco?)`.
    pub(super) fn is_coherent(&self, hb: &Matrix) -> bool {
        hb.then(&self.eco().or_same()).is_irreflexive()
    }

    /// `rmw ∩ (rb ; mo) = ∅`.
    pub(super) fn is_atomic(&self) -> bool {
        self.rmw.is_disjoint(&self.rb.then(&self.mo))
    }

    /// No two updates read from one write. Where writes have no order, that is what makes updates atomic.
    pub(super) fn has_single_updates(&self) -> bool {
        let sources: Vec<_> =
            self.events.windows(2).filter(|pair| pair[1].half).map(|pair| (pair[0].location, pair[0].kind)).collect();
        sources.iter().enumerate().all(|(at, source)| !sources[at + 1..].contains(source))
    }

    /// `[Fsc]`.
    pub(super) fn full_fences(&self) -> Matrix {
        self.on(|done| done.kind == Kind::Fence && done.order == Ordering::SeqCst)
    }

    /// Whether a read's source is overwritten in its past.
    pub(super) fn reads_what_is_hidden(&self, hb: &Matrix) -> bool {
        let is_write = |event: usize| matches!(self.events[event].kind, Kind::Write { .. });
        (0..self.size()).any(|read| {
            let Kind::Read { from } = self.events[read].kind else { return false };
            let hides = |other: usize| {
                is_write(other)
                    && self.same_location(other, read)
                    && hb.has(other, read)
                    && from.is_none_or(|from| from != other && hb.has(from, other))
            };
            (0..self.size()).any(hides)
        })
    }
}
