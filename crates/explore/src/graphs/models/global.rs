//! Models that are one acyclic relation on all events: preserved program order, reads-from between threads, coherence,
//! from-reads, thread start and end. What a model of this kind adds is which program order it preserves.
//!
//! Two bit matrices over slots are kept up to date:
//!
//! * `reach`: the predecessors of each event in that relation. New events mostly have no successors, so adding one fills
//!   one row; a read of an overwritten value or a write in the middle of coherence also changes the rows of what follows,
//!   and those are logged to be undone.
//! * `base`, in a graph that stands for a reads-from class: the same without coherence and from-reads, which holds in every
//!   witness. Where no write is forwarded it is the prefix by program order and reads-from, and not kept.
//!
//! With them consistency needs no search for cycles: the sources a read may take and the positions a write may take are
//! those from the last write on that is already before it (the floor rule).

use super::Model;
use crate::graphs::event::{Event, INIT, Kind, LocId, NO_LOC, Slot};
use crate::graphs::graph::{Equivalence, Graph};
use raddle_machine::Addr;
use raddle_program::Ordering;
use raddle_trace::{BitSet, Relation, Step, ThreadId};
use std::fmt::Debug;

/// What tells the models of this kind apart. The functions that [`Model`] has, too, are described there. Unless a model says otherwise, all of program order is
/// preserved.
pub(super) trait Global: Copy + Debug + Send + Sync + 'static {
    const MODEL: raddle_trace::Model;
    const FORWARDS: bool;
    const NAMED: bool = false;
    /// A read comes before what overwrites its source.
    const READS_FIRST: bool = true;
    fn fence(order: Ordering) -> Option<Kind>;
    fn refuses(_graph: &Graph<Self>, _slot: Slot) -> bool {
        false
    }
    fn floors_decide(_graph: &Graph<Self>, _events: &BitSet, _updates: bool) -> bool {
        true
    }
    fn fence_before_store(_graph: &Graph<Self>, _thread: ThreadId, _order: Ordering) -> Option<Kind> {
        None
    }
    fn fence_after_store(_order: Ordering) -> Option<Kind> {
        None
    }
    fn arrival(_write: &Event, _addr: Addr) -> Option<Step> {
        None
    }

    /// Whether `a`, before `b` in one thread, stays before `b`; what stands between them is a matter of transitivity.
    fn preserved(_a: &Event, _b: &Event) -> bool {
        true
    }

    /// Adds events among the first of a thread that are preserved before `event`: at least those which no other one of
    /// them stands for. If none does, the start of the thread stands for itself.
    fn predecessors(graph: &Graph<Self>, thread: ThreadId, upto: usize, _event: &Event, mut add: impl FnMut(Slot)) {
        let log = &graph.threads[thread.index()];
        if let Some(&slot) = log.events[..upto].last().or(log.spawn.as_ref()) {
            add(slot);
        }
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<Self>) -> bool {
        is_consistent(graph)
    }
}

/// The relation of a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    reach: Relation,
    base: Relation,
    log: UndoLog,
    /// The predecessors of the event being added.
    scratch: Vec<u64>,
}

/// Rows of `reach` as they were.
#[derive(Clone, Debug, Default)]
struct UndoLog {
    entries: Vec<(Slot, u32)>,
    words: Vec<u64>,
}

impl<M: Global> Model for M {
    type Rows = Rows;
    const MODEL: raddle_trace::Model = <M as Global>::MODEL;
    const FORWARDS: bool = <M as Global>::FORWARDS;
    const NAMED: bool = <M as Global>::NAMED;
    const ONE_ORDER: bool = !M::READS_FIRST;

    fn floors_decide(graph: &Graph<M>, events: &BitSet, _: Option<&Event>, updates: bool) -> bool {
        <M as Global>::floors_decide(graph, events, updates)
    }

    fn refuses(graph: &Graph<M>, slot: Slot) -> bool {
        <M as Global>::refuses(graph, slot)
    }

    fn fence(order: Ordering) -> Option<Kind> {
        <M as Global>::fence(order)
    }

    fn fence_before_store(graph: &Graph<M>, thread: ThreadId, order: Ordering) -> Option<Kind> {
        <M as Global>::fence_before_store(graph, thread, order)
    }

    fn fence_after_store(order: Ordering) -> Option<Kind> {
        <M as Global>::fence_after_store(order)
    }

    fn arrival(write: &Event, addr: Addr) -> Option<Step> {
        <M as Global>::arrival(write, addr)
    }

    fn read_floor(graph: &mut Graph<M>, event: &Event) -> isize {
        if graph.location(event.loc).co.is_empty() {
            return -1;
        }
        if !M::READS_FIRST {
            return super::causal::floor(graph, event);
        }
        collect_before(graph, event);
        let last = graph
            .location(event.loc)
            .co
            .iter()
            .rposition(|&write| contains(&graph.rows.scratch, write) || graph.event(write).thread == event.thread);
        last.map_or(-1, |at| at as isize)
    }

    fn write_floor(graph: &mut Graph<M>, event: &Event) -> isize {
        if graph.location(event.loc).co.is_empty() {
            return -1;
        }
        collect_before(graph, event);
        let last = graph.location(event.loc).co.iter().rposition(|&write| contains(&graph.rows.scratch, write));
        last.map_or(-1, |at| at as isize)
    }

    fn read_floor_within(graph: &Graph<M>, read: &Event, events: &BitSet) -> isize {
        if !M::READS_FIRST {
            return super::causal::floor_within(graph, read, events);
        }
        let mut row = Vec::new();
        Self::collect(graph, &graph.rows.reach, read, &mut row);
        let last = graph.location(read.loc).co.iter().rposition(|&write| {
            let event = graph.event(write);
            let own = event.thread == read.thread && event.index < read.index;
            events.contains(write as usize) && (own || contains(&row, write))
        });
        last.map_or(-1, |at| at as isize)
    }

    fn grow(rows: &mut Rows, slots: usize) {
        rows.reach.grow(slots);
    }

    fn added(graph: &mut Graph<M>, slot: Slot, position: usize) {
        let event = *graph.event(slot);
        collect_before(graph, &event);
        if keeps_base(graph) {
            fill_base(graph, slot, &event);
        }
        match event.kind {
            Kind::Read => {
                if graph.reads_from_outside(&event) {
                    add_to_scratch(&mut graph.rows, event.rf);
                }
                graph.rows.reach.row_mut(slot as usize).copy_from_slice(&graph.rows.scratch);
                if M::READS_FIRST {
                    let next = (graph.co_position(event.loc, event.rf) + 1) as usize;
                    if let Some(&write) = graph.location(event.loc).co.get(next) {
                        propagate(graph, slot, write);
                    }
                }
            }
            Kind::Write => {
                add_overwritten(graph, event.loc, position);
                graph.rows.reach.row_mut(slot as usize).copy_from_slice(&graph.rows.scratch);
                if let Some(&next) = graph.locations[event.loc as usize].co.get(position + 1) {
                    propagate(graph, slot, next);
                }
            }
            _ => graph.rows.reach.row_mut(slot as usize).copy_from_slice(&graph.rows.scratch),
        }
    }

    fn mark(rows: &Rows) -> usize {
        rows.log.entries.len()
    }

    fn undo(rows: &mut Rows, mark: usize) {
        while rows.log.entries.len() > mark {
            let (slot, stride) = rows.log.entries.pop().expect("longer than the mark");
            let start = rows.log.words.len() - stride as usize;
            let row = rows.reach.row_mut(slot as usize);
            // The rows may have become longer since.
            let old = &rows.log.words[start..];
            row.iter_mut().enumerate().for_each(|(at, word)| *word = old.get(at).copied().unwrap_or(0));
            rows.log.words.truncate(start);
        }
    }

    fn restrict(graph: &Graph<M>, keep: &BitSet, order: &[Slot], target: &mut Rows) {
        target.reach.copy_from(&graph.rows.reach);
        if graph.equivalence == Equivalence::ReadsFrom {
            target.base.copy_from(&graph.rows.base);
            // The witness may lead through what is left out; what follows from that is no longer needed.
            for &slot in order {
                let row = target.reach.row_mut(slot as usize);
                row.iter_mut().zip(keep.words()).for_each(|(word, kept)| *word &= kept);
                row.iter_mut().skip(keep.words().len()).for_each(|word| *word = 0);
            }
        }
        target.log.entries.clear();
        target.log.words.clear();
        #[cfg(debug_assertions)]
        for &slot in order {
            for before in BitSet::from_words(target.reach.row(slot as usize)).iter() {
                debug_assert!(keep.contains(before), "no edge leads from what is deleted to what is kept");
            }
        }
    }

    fn before(graph: &Graph<M>, slot: Slot) -> &[u64] {
        // Where reads do not come first, steps name the places of writes, and may be made in any order of the past of events.
        if M::READS_FIRST { graph.rows.reach.row(slot as usize) } else { graph.prefix.row(slot as usize) }
    }

    fn collect_next(graph: &Graph<M>, event: &Event, row: &mut Vec<u64>) {
        let relation = match graph.equivalence {
            Equivalence::Coherence => &graph.rows.reach,
            Equivalence::ReadsFrom => Self::base(graph),
        };
        Self::collect(graph, relation, event, row);
    }

    fn base(graph: &Graph<M>) -> &Relation {
        debug_assert!(graph.equivalence == Equivalence::ReadsFrom);
        if <M as Global>::FORWARDS { &graph.rows.base } else { &graph.prefix }
    }

    fn collect(graph: &Graph<M>, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        if row.len() == relation.stride() {
            row.iter_mut().for_each(|word| *word = 0);
        } else {
            row.clear();
            row.resize(relation.stride(), 0);
        }
        M::predecessors(graph, event.thread, event.index as usize, event, |slot| include(row, relation, slot));
        if event.kind == Kind::Join {
            let child = ThreadId(event.value as u32);
            let upto = graph.threads[child.index()].events.len();
            M::predecessors(graph, child, upto, event, |slot| include(row, relation, slot));
        }
        if event.kind == Kind::Take {
            graph.before_take(event).into_iter().for_each(|slot| include(row, relation, slot));
        }
        if event.kind == Kind::Depart {
            graph.before_departure(event).into_iter().for_each(|slot| include(row, relation, slot));
        }
    }

    fn adopted(graph: &mut Graph<M>, sequence: impl Iterator<Item = Slot>) {
        let mut last: Vec<usize> = vec![0; graph.locations.len()];
        for slot in sequence {
            let event = *graph.event(slot);
            collect_before(graph, &event);
            if graph.reads_from_outside(&event) {
                add_to_scratch(&mut graph.rows, event.rf);
            }
            if event.kind == Kind::Write && event.loc != NO_LOC {
                let place = &mut last[event.loc as usize];
                add_overwritten(graph, event.loc, *place);
                *place += 1;
            }
            graph.rows.reach.row_mut(slot as usize).copy_from_slice(&graph.rows.scratch);
        }
        debug_assert!(graph.order.iter().all(|&slot| !graph.rows.reach.before(slot as usize, slot as usize)));
    }

    #[cfg(debug_assertions)]
    fn is_consistent(graph: &Graph<M>) -> bool {
        <M as Global>::is_consistent(graph)
    }
}

/// A write at this position of coherence comes after the one before it, and after those who read that.
fn add_overwritten<M: Global>(graph: &mut Graph<M>, loc: LocId, position: usize) {
    let accesses = &graph.locations[loc as usize];
    let previous = position.checked_sub(1).map_or(INIT, |at| accesses.co[at]);
    if previous != INIT {
        add_to_scratch(&mut graph.rows, previous);
    }
    for &read in &accesses.reads {
        if M::READS_FIRST && graph.events[read as usize].rf == previous {
            add_to_scratch(&mut graph.rows, read);
        }
    }
}

/// Whether the base is another relation than the prefix.
fn keeps_base<M: Global>(graph: &Graph<M>) -> bool {
    <M as Global>::FORWARDS && graph.equivalence == Equivalence::ReadsFrom
}

fn contains(row: &[u64], slot: Slot) -> bool {
    row[slot as usize / 64] >> (slot % 64) & 1 == 1
}

/// Adds a predecessor, and all of its own, to a row.
#[inline]
fn include(row: &mut [u64], relation: &Relation, slot: Slot) {
    unite(row, relation.row(slot as usize));
    row[slot as usize / 64] |= 1 << (slot % 64);
}

/// Adds one row to another. Most are one word long, too short for calls.
#[inline]
fn unite(row: &mut [u64], more: &[u64]) {
    let more = &more[..row.len()];
    row.iter_mut().enumerate().for_each(|(at, word)| *word |= more[at]);
}

fn add_to_scratch(rows: &mut Rows, slot: Slot) {
    include(&mut rows.scratch, &rows.reach, slot);
}

/// Collects in `scratch` what is before a new last event of its thread.
fn collect_before<M: Global>(graph: &mut Graph<M>, event: &Event) {
    let mut row = std::mem::take(&mut graph.rows.scratch);
    M::collect(graph, &graph.rows.reach, event, &mut row);
    graph.rows.scratch = row;
}

fn fill_base<M: Global>(graph: &mut Graph<M>, slot: Slot, event: &Event) {
    graph.rows.base.grow(graph.events.len());
    let mut row = Vec::new();
    M::collect(graph, &graph.rows.base, event, &mut row);
    graph.rows.base.row_mut(slot as usize).copy_from_slice(&row);
    if graph.reads_from_outside(event) {
        graph.rows.base.include(event.rf as usize, slot as usize);
    }
}

/// Adds the edge from a new event to one that was there, and what follows from it.
fn propagate<M: Global>(graph: &mut Graph<M>, from: Slot, to: Slot) {
    let Graph { order, rows: Rows { reach, log, scratch, .. }, .. } = graph;
    scratch.clear();
    scratch.extend_from_slice(reach.row(from as usize));
    scratch[from as usize / 64] |= 1 << (from % 64);
    let stride = reach.stride();
    let (word, bit) = (to as usize / 64, 1 << (to % 64));
    for &slot in order.iter() {
        let target = reach.row_mut(slot as usize);
        if slot != to && target[word] & bit == 0 {
            continue;
        }
        if (0..stride).any(|at| scratch[at] & !target[at] != 0) {
            log.entries.push((slot, stride as u32));
            target.iter().for_each(|&word| log.words.push(word));
            unite(target, scratch);
        }
    }
    debug_assert!(!reach.before(from as usize, from as usize), "options offered by the floor are consistent");
}

/// From the definition: the global relation has no cycle, nor has any location's own.
#[cfg(debug_assertions)]
fn is_consistent<M: Global>(graph: &Graph<M>) -> bool {
    let mut global = Relation::new();
    let mut local = Relation::new();
    let mut cyclic = false;
    let mut edge = |relation: &mut Relation, a: Slot, b: Slot| cyclic |= relation.add_edge(a as usize, b as usize);
    let is_access = |event: &Event| matches!(event.kind, Kind::Read | Kind::Write) && event.loc != NO_LOC;
    for log in &graph.threads {
        for (at, &b) in log.events.iter().enumerate() {
            for &a in &log.events[..at] {
                let (first, second) = (graph.event(a), graph.event(b));
                if M::preserved(first, second) {
                    edge(&mut global, a, b);
                }
                if first.loc == second.loc && is_access(first) && is_access(second) {
                    edge(&mut local, a, b);
                }
            }
            if let Some(spawn) = log.spawn {
                edge(&mut global, spawn, b);
            }
            if graph.event(b).kind == Kind::Join {
                let child = ThreadId(graph.event(b).value as u32);
                graph.threads[child.index()].events.iter().for_each(|&a| edge(&mut global, a, b));
            }
            if graph.event(b).kind == Kind::Take {
                graph.before_take(graph.event(b)).into_iter().for_each(|a| edge(&mut global, a, b));
            }
            if graph.event(b).kind == Kind::Depart {
                graph.before_departure(graph.event(b)).into_iter().for_each(|a| edge(&mut global, a, b));
            }
        }
    }
    for accesses in &graph.locations {
        for pair in accesses.co.windows(2) {
            edge(&mut global, pair[0], pair[1]);
            edge(&mut local, pair[0], pair[1]);
        }
        for &read in accesses.reads.iter().filter(|&&slot| graph.event(slot).kind == Kind::Read) {
            let source = graph.event(read).rf;
            if source != INIT {
                edge(&mut local, source, read);
                if graph.reads_from_outside(graph.event(read)) {
                    edge(&mut global, source, read);
                }
            }
            let after = accesses.co.iter().skip_while(|&&w| source != INIT && w != source);
            for &write in after.skip(usize::from(source != INIT)) {
                edge(&mut global, read, write);
                edge(&mut local, read, write);
            }
        }
    }
    !cyclic
}
