//! Models in which the past of an event, which is settled when it is added, says what it may read and where it may write; nothing is
//! kept beside the graph. A global order is asked of sequentially consistent events and fences only, and looked at only where an event
//! takes an option that is not the last one: any other has no way out to older events.
//!
//! Source: Lahav, Vafeiadis, Kang, Hur, Dreyer 2017; that options are a suffix of coherence, and when the order of fences has to be looked at, was found by
//! comparing with the definitions.

use super::Model;
use crate::graphs::event::{Event, INIT, Kind, NO_LOC, Slot};
use crate::graphs::graph::Graph;
use raddle_program::Ordering;
use raddle_trace::{Matrix, Relation, ThreadId};

/// Collects what is before a new last event of its thread.
pub(super) fn collect<M: Model>(graph: &Graph<M>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
    row.clear();
    row.resize(graph.events.len().div_ceil(64), 0);
    let log = &graph.threads[event.thread.index()];
    let last = log.events[..event.index as usize].last().copied().or(log.spawn);
    if let Some(last) = last {
        for (word, more) in row.iter_mut().zip(relation.row(last as usize)) {
            *word |= more;
        }
        row[last as usize / 64] |= 1 << (last % 64);
    }
}

/// The position of the last write in the past of a new last event of its thread, by program order and reads-from.
pub(super) fn floor<M: Model>(graph: &Graph<M>, event: &Event) -> isize {
    let Some(last) = graph.last(event.thread) else { return -1 };
    let past = |&write: &u32| write == last || graph.prefix.before(write as usize, last as usize);
    graph.location(event.loc).co.iter().rposition(past).map_or(-1, |at| at as isize)
}

/// The relations of a graph, over its slots.
pub(super) struct Relations {
    pub(super) po: Matrix,
    pub(super) hb: Matrix,
    pub(super) rf: Matrix,
    pub(super) mo: Matrix,
    pub(super) rb: Matrix,
}

impl Relations {
    pub(super) fn of<M: Model>(graph: &Graph<M>, happens_before: impl Fn(Slot, Slot) -> bool) -> Self {
        let size = graph.events.len();
        let mut po = Matrix::empty(size);
        for log in &graph.threads {
            let mut before = log.spawn;
            for &slot in &log.events {
                before.into_iter().for_each(|before| po.add(before as usize, slot as usize));
                let event = graph.event(slot);
                if event.kind == Kind::Join
                    && let Some(last) = graph.last(ThreadId(event.value as u32))
                {
                    po.add(last as usize, slot as usize);
                }
                before = Some(slot);
            }
        }
        let (mut hb, mut rf, mut mo, mut rb) =
            (Matrix::empty(size), Matrix::empty(size), Matrix::empty(size), Matrix::empty(size));
        for &a in &graph.order {
            for &b in &graph.order {
                if a != b && happens_before(a, b) {
                    hb.add(a as usize, b as usize);
                }
            }
        }
        for accesses in &graph.locations {
            for (at, &first) in accesses.co.iter().enumerate() {
                accesses.co[at + 1..].iter().for_each(|&second| mo.add(first as usize, second as usize));
            }
            for &read in &accesses.reads {
                let source = graph.event(read).rf;
                let next = if source == INIT {
                    0
                } else {
                    rf.add(source as usize, read as usize);
                    accesses.co.iter().position(|&write| write == source).map_or(0, |at| at + 1)
                };
                accesses.co[next..].iter().for_each(|&write| rb.add(read as usize, write as usize));
            }
        }
        Relations { po: po.closure(), hb, rf, mo, rb }
    }

    /// The same, with everything before an event by program order and reads-from in its past.
    pub(super) fn causal<M: Model>(graph: &Graph<M>) -> Self {
        Self::of(graph, |a, b| graph.prefix.before(a as usize, b as usize))
    }

    fn eco(&self) -> Matrix {
        self.rf.or(&self.mo).or(&self.rb).closure()
    }

    /// `[Fsc] ; (order ∪ hb ; eco ; hb) ; [Fsc]`.
    pub(super) fn fences(&self, fence: &Matrix, order: &Matrix) -> Matrix {
        fence.then(&order.or(&self.hb.then(&self.eco()).then(&self.hb))).then(fence)
    }

    /// Whether `hb ; eco?` is irreflexive.
    #[cfg(debug_assertions)]
    pub(super) fn is_coherent(&self) -> bool {
        self.hb.then(&self.eco().or_same()).is_irreflexive()
    }
}

/// `[Fsc]`.
pub(super) fn full_fences<M: Model>(graph: &Graph<M>) -> Matrix {
    on(graph, is_full_fence)
}

/// `[set]`.
pub(super) fn on<M: Model>(graph: &Graph<M>, is_in: impl Fn(&Event) -> bool) -> Matrix {
    let mut matrix = Matrix::empty(graph.events.len());
    let members = graph.order.iter().filter(|&&slot| is_in(graph.event(slot)));
    members.for_each(|&slot| matrix.add(slot as usize, slot as usize));
    matrix
}

/// Whether two events access one location.
pub(super) fn same_location<M: Model>(graph: &Graph<M>, a: usize, b: usize) -> bool {
    let (a, b) = (graph.event(a as Slot), graph.event(b as Slot));
    a.loc != NO_LOC && a.loc == b.loc
}

/// Whether the event has taken an option that may upset the order of these events: not the last one, and there are two of them.
pub(super) fn is_in_question<M: Model>(graph: &Graph<M>, slot: Slot, is_ordered: impl Fn(&Event) -> bool) -> bool {
    !is_last(graph, slot) && graph.order.iter().filter(|&&slot| is_ordered(graph.event(slot))).nth(1).is_some()
}

/// A full fence.
pub(super) fn is_full_fence(event: &Event) -> bool {
    event.kind == Kind::Fence && event.order == Ordering::SeqCst
}

/// Whether the event took the last option it had.
fn is_last<M: Model>(graph: &Graph<M>, slot: Slot) -> bool {
    let event = graph.event(slot);
    let last = graph.location(event.loc).co.last().copied().unwrap_or(INIT);
    match event.kind {
        Kind::Read => event.rf == last,
        Kind::Write => slot == last,
        _ => true,
    }
}
