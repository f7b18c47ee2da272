//! The ends of executions.
//!
//! Where no thread has anything left to do but to wait, the events may be those of a whole execution. If threads only wait for a
//! mutex that is held, or for other threads, they are. If a thread waits for a value, memory must end up with one it waits to
//! change; if it turned in a loop without effect, nothing that its last turn read may have been overwritten since. That is a
//! question about an annotated order with one read more at the end for each thread that waits for a value, and with some
//! edges more. Its closure, or with relaxed orders those of its extensions, answers it. The answer depends on the order of the leaves, so it is asked in each.

use super::accesses::Accesses;
use super::candidates::is_held;
use super::extend::{Extension, Manner, New};
use super::order::Order;
use super::realise::realise;
use crate::sequence::ends::{Awaits, Ends, Wanted, blocking, ends_by};
use crate::sequence::witness::Last;
use crate::sequence::{Frontier, Pending};
use raddle_consistency::{Interrupted, Watch};
use raddle_trace::{EventId, ThreadId};
use smallvec::SmallVec;

/// The ends that this may be; none if some thread can go on in any case.
pub(crate) fn ends(frontier: &mut Frontier<'_>) -> Ends {
    ends_by(frontier, |frontier, pending| match pending {
        Pending { mutex: true, .. } if is_held(frontier, pending) => Awaits::Release,
        Pending { mutex: false, wait: true, .. } => Awaits::Change(blocking(frontier, pending)),
        _ => Awaits::Nothing,
    })
}

/// A sequence that ends so, if there is one.
pub(crate) fn ending(
    wanted: &Wanted,
    order: &Order,
    accesses: &mut Accesses,
    root: ThreadId,
    manner: Manner,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<EventId>>, Interrupted> {
    let Wanted { lasts: reads, orders } = wanted;
    if reads.is_empty() && orders.is_empty() {
        return Ok(Some(realise(order, root)));
    }
    let mut order = order.clone();
    if !orders.iter().all(|&(a, b)| order.insert(a, b)) {
        return Ok(None);
    }
    let threads = order.threads() as u32;
    let last = |thread| Some(EventId::new(thread, order.len(thread).checked_sub(1)?));
    let lasts: SmallVec<[EventId; 2]> = (0..threads).map(ThreadId).filter_map(last).collect();
    let known = accesses.len();
    // The reads are of a thread of their own, and that is a leaf.
    let reader = ThreadId(threads.max(root.0 + 1));
    let reads = reads.iter().zip(0..).map(|(Last { loc, sources }, index)| {
        let id = EventId::new(reader, index);
        accesses.read(id, *loc, sources.clone());
        New { id, loc: *loc, writes: false, behind: lasts.clone() }
    });
    let reads = reads.collect();
    let found = Extension::new(order, reads, manner).next(accesses, watch);
    accesses.truncate(known);
    Ok(found?.map(|order| {
        let mut sequence = realise(&order, root);
        sequence.retain(|event| event.thread != reader);
        sequence
    }))
}
