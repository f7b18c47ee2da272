//! Execution graphs: events with program order, reads-from and coherence, the order they were added in, and the
//! closure of what the model preserves.
//!
//! A graph only ever grows at the ends of its threads and shrinks in the reverse order, except that a revisit copies the
//! kept part into another graph ([`Graph::restrict`]). Two bit matrices over slots are kept up to date:
//!
//! * `reach`: the predecessors of each event in the global relation (preserved program order, external reads-from,
//!   coherence, from-reads, thread start and end). New events mostly have no successors, so adding one fills one row;
//!   a read of an overwritten value or a write in the middle of coherence also changes the rows of what follows, and
//!   those are logged to be undone.
//! * `prefix`: the predecessors in program order and reads-from alone.
//!
//! With them consistency needs no search for cycles: the sources a read may take and the positions a write may take are
//! a suffix of the location's coherence list, bounded by the last write that is already before it (the floor rule).
//!
//! In a graph that stands for a reads-from class ([`Equivalence::ReadsFrom`]) coherence is a *witness*: one of the orders of writes
//! that explain what was read. It may be exchanged for another ([`Graph::adopt`]), and `reach` with it. What holds for all
//! witnesses is in `base`: preserved program order, external reads-from, thread start and end.

use super::event::{Event, Flags, INIT, Kind, LocId, NO_LOC, Slot, preserved};
use super::happens_before::Clocks;
use super::snapshot::Node;
use raddle_machine::Thread;
use raddle_trace::{BitSet, Model, Relation, ThreadId};
use smallvec::SmallVec;
use std::sync::Arc;

/// What two executions must share to be the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equivalence {
    /// Events, reads-from and coherence.
    Coherence,
    /// Events and reads-from.
    ReadsFrom,
}

/// A thread in a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Slot>,
    /// The state after the last event; `None` if the thread has not been started.
    pub(crate) tip: Option<Arc<Node>>,
    /// The event that started it.
    pub(crate) spawn: Option<Slot>,
}

/// The accesses to a location.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// Writes in coherence order; the initial one stands before them.
    pub(crate) co: SmallVec<[Slot; 6]>,
    pub(crate) reads: SmallVec<[Slot; 6]>,
}

/// Rows of `reach` as they were.
#[derive(Clone, Debug, Default)]
struct UndoLog {
    entries: Vec<(Slot, u32)>,
    words: Vec<u64>,
}

/// An execution graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) model: Model,
    pub(crate) equivalence: Equivalence,
    pub(crate) events: Vec<Event>,
    free: Vec<Slot>,
    /// The events in the order they were added; a revisited read keeps its place.
    pub(crate) order: Vec<Slot>,
    pub(crate) threads: Vec<Log>,
    pub(crate) locations: Vec<Accesses>,
    pub(crate) reach: Relation,
    pub(crate) prefix: Relation,
    /// What is before each event whatever the witness; empty where coherence is part of the class, and under SC, where it
    /// is the same as `prefix`.
    own_base: Relation,
    /// Clocks for race detection; unused when races are not looked for.
    pub(crate) clocks: Clocks,
    /// The slots in use.
    present: BitSet,
    /// The ends of objects' lives.
    pub(crate) frees: Vec<Slot>,
    log: UndoLog,
    /// The predecessors of the event being added.
    pub(super) scratch: Vec<u64>,
}

impl Graph {
    /// The empty graph, with only the first thread.
    pub(crate) fn new(model: Model, equivalence: Equivalence, main: Arc<Node>) -> Self {
        Graph {
            model,
            equivalence,
            events: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            threads: vec![Log { events: Vec::new(), tip: Some(main), spawn: None }],
            locations: Vec::new(),
            reach: Relation::new(),
            prefix: Relation::new(),
            own_base: Relation::new(),
            clocks: Clocks::default(),
            present: BitSet::new(),
            frees: Vec::new(),
            log: UndoLog::default(),
            scratch: Vec::new(),
        }
    }

    pub(crate) fn event(&self, slot: Slot) -> &Event {
        &self.events[slot as usize]
    }

    /// What is before each event in every witness of a reads-from class.
    pub(crate) fn base(&self) -> &Relation {
        debug_assert!(self.equivalence == Equivalence::ReadsFrom);
        if self.model == Model::Sc { &self.prefix } else { &self.own_base }
    }

    fn keeps_base(&self) -> bool {
        self.equivalence == Equivalence::ReadsFrom && self.model != Model::Sc
    }

    /// The state a thread is in.
    pub(crate) fn tip(&self, thread: ThreadId) -> Option<&Arc<Node>> {
        self.threads.get(thread.index())?.tip.as_ref()
    }

    /// The automaton of a thread.
    pub(crate) fn state(&self, thread: ThreadId) -> Option<&Thread> {
        self.tip(thread).map(|node| &*node.state)
    }

    /// The accesses to a location.
    pub(crate) fn location(&self, loc: LocId) -> &Accesses {
        static NONE: Accesses = Accesses { co: SmallVec::new_const(), reads: SmallVec::new_const() };
        self.locations.get(loc as usize).unwrap_or(&NONE)
    }

    fn location_mut(&mut self, loc: LocId) -> &mut Accesses {
        if self.locations.len() <= loc as usize {
            self.locations.resize_with(loc as usize + 1, Accesses::default);
        }
        &mut self.locations[loc as usize]
    }

    /// The position of a write in coherence; -1 for the initial one.
    pub(crate) fn co_position(&self, loc: LocId, write: Slot) -> isize {
        if write == INIT {
            return -1;
        }
        let at = self.location(loc).co.iter().position(|&w| w == write);
        at.expect("writes of the graph are in coherence") as isize
    }

    /// Marks how much can be undone.
    pub(crate) fn mark(&self) -> usize {
        self.log.entries.len()
    }

    /// Takes back the changes to rows since the mark.
    pub(crate) fn undo(&mut self, mark: usize) {
        while self.log.entries.len() > mark {
            let (slot, stride) = self.log.entries.pop().expect("longer than the mark");
            let start = self.log.words.len() - stride as usize;
            let row = self.reach.row_mut(slot as usize);
            row[..stride as usize].copy_from_slice(&self.log.words[start..]);
            row[stride as usize..].fill(0);
            self.log.words.truncate(start);
        }
    }

    /// The last event of a thread, or the one that started it.
    pub(crate) fn last(&self, thread: ThreadId) -> Option<Slot> {
        let log = &self.threads[thread.index()];
        log.events.last().copied().or(log.spawn)
    }

    /// Collects in `scratch` what is before a new last event of its thread.
    fn collect_before(&mut self, event: &Event) {
        let mut row = std::mem::take(&mut self.scratch);
        self.collect(&self.reach, event, &mut row);
        self.scratch = row;
    }

    /// Collects what is before an event of a thread, given what is before the earlier ones in `relation`: preserved program
    /// order and all that precedes it, thread start, and for a join the child. What a read reads from is not looked at.
    pub(crate) fn collect(&self, relation: &Relation, event: &Event, row: &mut Vec<u64>) {
        row.clear();
        row.resize(relation.stride(), 0);
        self.collect_thread(relation, event.thread, event.index as usize, event, row);
        if event.kind == Kind::Join {
            let child = ThreadId(event.value as u32);
            self.collect_thread(relation, child, self.threads[child.index()].events.len(), event, row);
        }
    }

    fn collect_thread(&self, relation: &Relation, thread: ThreadId, upto: usize, event: &Event, row: &mut [u64]) {
        let log = &self.threads[thread.index()];
        let add = |slot: Slot, row: &mut [u64]| {
            union(row, relation.row(slot as usize));
            row[slot as usize / 64] |= 1 << (slot % 64);
        };
        let mut plain_write_seen = false;
        for &slot in log.events[..upto].iter().rev() {
            let earlier = self.event(slot);
            if !preserved(self.model, earlier, event) {
                continue;
            }
            // Under TSO plain writes are ordered among themselves: the last one stands for those before.
            if self.model == Model::Tso && earlier.is_plain_write() && std::mem::replace(&mut plain_write_seen, true) {
                continue;
            }
            add(slot, row);
            let covers = match self.model {
                Model::Sc => true,
                Model::Tso => {
                    // Any event that is no plain write has all of those before it; the writes may still be missing.
                    !earlier.is_plain_write() && (earlier.drains() || plain_write_seen || !wants_writes(event))
                }
                Model::Pso => earlier.drains(),
            };
            if covers {
                return;
            }
        }
        if let Some(spawn) = log.spawn {
            add(spawn, row);
        }
    }

    fn before(&self, slot: Slot) -> bool {
        self.scratch[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// The floor of a new access `event`: the position of the last write of its location that is before it (or, for a
    /// read, an own one); -1 if there is none. Sources from there on, positions after it, are consistent.
    pub(crate) fn floor(&mut self, event: &Event) -> isize {
        self.collect_before(event);
        let own = event.kind == Kind::Read;
        let co = &self.location(event.loc).co;
        let last = co.iter().rposition(|&w| self.before(w) || (own && self.event(w).thread == event.thread));
        last.map_or(-1, |at| at as isize)
    }

    /// Whether the write at this position of coherence (-1: the initial one) is the source of an update.
    pub(crate) fn consumed(&self, loc: LocId, position: isize) -> bool {
        let next = self.location(loc).co.get((position + 1) as usize);
        next.is_some_and(|&w| self.event(w).flags.contains(Flags::LOCKED))
    }

    /// Adds an event at the end of its thread, with the state after it. `position` is where a write goes in coherence.
    /// The event goes to `stamp` in the order of addition, or to its end.
    pub(crate) fn add(&mut self, event: Event, node: Arc<Node>, position: usize, stamp: Option<usize>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.events.len() as Slot);
        let thread = event.thread;
        debug_assert_eq!(event.index as usize, self.threads[thread.index()].events.len());
        if slot as usize == self.events.len() {
            self.events.push(event);
            self.reach.grow(self.events.len());
            self.prefix.grow(self.events.len());
            if self.keeps_base() {
                self.own_base.grow(self.events.len());
            }
        } else {
            self.events[slot as usize] = event;
        }
        self.collect_before(&event);
        self.fill_prefix(slot, &event);
        if self.keeps_base() {
            self.fill_base(slot, &event);
        }
        match event.kind {
            Kind::Read => self.add_read(slot, &event),
            Kind::Write => self.add_write(slot, &event, position),
            _ => {
                if event.kind == Kind::Blind {
                    self.location_mut(event.loc).reads.push(slot);
                }
                let row = std::mem::take(&mut self.scratch);
                self.reach.row_mut(slot as usize).copy_from_slice(&row);
                self.scratch = row;
            }
        }
        if event.kind == Kind::Free {
            self.frees.push(slot);
        }
        let log = &mut self.threads[thread.index()];
        log.events.push(slot);
        log.tip = Some(node);
        self.present.insert(slot as usize);
        match stamp {
            Some(stamp) => self.order.insert(stamp, slot),
            None => self.order.push(slot),
        }
        slot
    }

    fn fill_prefix(&mut self, slot: Slot, event: &Event) {
        self.prefix.clear_row(slot as usize);
        let sources = [
            self.last(event.thread),
            (event.kind == Kind::Read && event.rf != INIT).then_some(event.rf),
            (event.kind == Kind::Join).then(|| self.last(ThreadId(event.value as u32))).flatten(),
        ];
        for source in sources.into_iter().flatten() {
            self.prefix.include(source as usize, slot as usize);
        }
    }

    fn fill_base(&mut self, slot: Slot, event: &Event) {
        let mut row = Vec::new();
        self.collect(&self.own_base, event, &mut row);
        self.own_base.row_mut(slot as usize).copy_from_slice(&row);
        if self.reads_from_outside(event) {
            self.own_base.include(event.rf as usize, slot as usize);
        }
    }

    /// Whether the event is a read whose source is before it in every witness.
    pub(crate) fn reads_from_outside(&self, event: &Event) -> bool {
        event.kind == Kind::Read
            && event.rf != INIT
            && (self.model == Model::Sc || self.event(event.rf).thread != event.thread)
    }

    fn add_read(&mut self, slot: Slot, event: &Event) {
        let mut row = std::mem::take(&mut self.scratch);
        if self.reads_from_outside(event) {
            union(&mut row, self.reach.row(event.rf as usize));
            row[event.rf as usize / 64] |= 1 << (event.rf % 64);
        }
        self.reach.row_mut(slot as usize).copy_from_slice(&row);
        self.scratch = row;
        self.location_mut(event.loc).reads.push(slot);
        let next = (self.co_position(event.loc, event.rf) + 1) as usize;
        if let Some(&write) = self.location(event.loc).co.get(next) {
            self.propagate(slot, write);
        }
    }

    fn add_write(&mut self, slot: Slot, event: &Event, position: usize) {
        let mut row = std::mem::take(&mut self.scratch);
        let previous = position.checked_sub(1).map_or(INIT, |at| self.location(event.loc).co[at]);
        if previous != INIT {
            union(&mut row, self.reach.row(previous as usize));
            row[previous as usize / 64] |= 1 << (previous % 64);
        }
        for &read in &self.location(event.loc).reads {
            if self.event(read).rf == previous {
                union(&mut row, self.reach.row(read as usize));
                row[read as usize / 64] |= 1 << (read % 64);
            }
        }
        self.reach.row_mut(slot as usize).copy_from_slice(&row);
        self.scratch = row;
        let co = &mut self.location_mut(event.loc).co;
        let next = co.get(position).copied();
        co.insert(position, slot);
        if let Some(next) = next {
            self.propagate(slot, next);
        }
    }

    /// Adds the edge from a new event to one that was there, and what follows from it.
    fn propagate(&mut self, from: Slot, to: Slot) {
        let mut row = std::mem::take(&mut self.scratch);
        row.clear();
        row.extend_from_slice(self.reach.row(from as usize));
        row[from as usize / 64] |= 1 << (from % 64);
        let stride = self.reach.stride();
        for &slot in &self.order {
            if slot == to || self.reach.before(to as usize, slot as usize) {
                let target = self.reach.row_mut(slot as usize);
                if target.iter().zip(&row).any(|(old, new)| new & !old != 0) {
                    self.log.entries.push((slot, stride as u32));
                    self.log.words.extend_from_slice(target);
                    union(target, &row);
                }
            }
        }
        self.scratch = row;
        debug_assert!(!self.reach.before(from as usize, from as usize), "options offered by the floor are consistent");
    }

    /// Removes an event that is the last of its thread and that nothing depends on.
    pub(crate) fn remove(&mut self, slot: Slot, stamp: usize) {
        let event = self.events[slot as usize];
        debug_assert_eq!(self.order[stamp], slot);
        self.order.remove(stamp);
        let log = &mut self.threads[event.thread.index()];
        let popped = log.events.pop();
        debug_assert_eq!(popped, Some(slot));
        let parent = log.tip.as_ref().and_then(|node| node.parent.clone());
        log.tip = parent;
        if event.loc != NO_LOC {
            let accesses = &mut self.locations[event.loc as usize];
            let list = if event.kind == Kind::Write { &mut accesses.co } else { &mut accesses.reads };
            if let Some(at) = list.iter().rposition(|&other| other == slot) {
                list.remove(at);
            }
        }
        if event.kind == Kind::Free {
            self.frees.retain(|&free| free != slot);
        }
        if event.kind == Kind::Spawn {
            self.threads[event.value as usize] = Log::default();
        }
        self.free.push(slot);
        self.present.remove(slot as usize);
    }

    /// Removes the event added last.
    pub(crate) fn pop(&mut self) {
        let slot = *self.order.last().expect("something was added");
        self.remove(slot, self.order.len() - 1);
    }

    /// The slots in use.
    pub(crate) fn present(&self) -> &BitSet {
        &self.present
    }

    /// Starts a thread.
    pub(crate) fn start(&mut self, child: ThreadId, spawn: Slot, node: Arc<Node>) {
        if self.threads.len() <= child.index() {
            self.threads.resize_with(child.index() + 1, Log::default);
        }
        self.threads[child.index()] = Log { events: Vec::new(), tip: Some(node), spawn: Some(spawn) };
    }

    /// Makes `target` the part of this graph that consists of the slots in `keep`, which is closed under program order and
    /// reads-from and whose rows name no other slots.
    pub(crate) fn restrict(&self, keep: &BitSet, target: &mut Graph) {
        target.model = self.model;
        target.equivalence = self.equivalence;
        target.events.clear();
        target.events.extend_from_slice(&self.events);
        target.order.clear();
        target.free.clear();
        target.free.extend_from_slice(&self.free);
        for &slot in &self.order {
            if keep.contains(slot as usize) {
                target.order.push(slot);
            } else {
                target.free.push(slot);
            }
        }
        let kept = |slot: &Slot| keep.contains(*slot as usize);
        target.threads.resize_with(self.threads.len(), Log::default);
        for (mine, theirs) in self.threads.iter().zip(&mut target.threads) {
            let len = mine.events.iter().take_while(|slot| kept(slot)).count();
            theirs.events.clear();
            theirs.events.extend_from_slice(&mine.events[..len]);
            let alive = mine.tip.is_some() && mine.spawn.as_ref().is_none_or(kept);
            theirs.spawn = mine.spawn.filter(|_| alive);
            theirs.tip = if alive { mine.tip.as_ref().map(|tip| ancestor(tip, mine.events.len() - len)) } else { None };
        }
        target.locations.resize_with(self.locations.len(), Accesses::default);
        for (mine, theirs) in self.locations.iter().zip(&mut target.locations) {
            theirs.co.clear();
            theirs.co.extend(mine.co.iter().copied().filter(kept));
            theirs.reads.clear();
            theirs.reads.extend(mine.reads.iter().copied().filter(kept));
        }
        target.reach.copy_from(&self.reach);
        target.prefix.copy_from(&self.prefix);
        if self.equivalence == Equivalence::ReadsFrom {
            target.own_base.copy_from(&self.own_base);
            // The witness may lead through what is left out; what follows from that is no longer needed.
            for &slot in &target.order {
                let row = target.reach.row_mut(slot as usize);
                row.iter_mut().zip(keep.words()).for_each(|(word, kept)| *word &= kept);
                row.iter_mut().skip(keep.words().len()).for_each(|word| *word = 0);
            }
        }
        target.clocks.copy_from(&self.clocks);
        target.present.clone_from(keep);
        target.frees.clear();
        target.frees.extend(self.frees.iter().copied().filter(kept));
        target.log.entries.clear();
        target.log.words.clear();
        #[cfg(debug_assertions)]
        for &slot in &target.order {
            for before in BitSet::from_words(target.reach.row(slot as usize)).iter() {
                debug_assert!(keep.contains(before), "no edge leads from what is deleted to what is kept");
            }
        }
    }
}

fn wants_writes(event: &Event) -> bool {
    event.drains() || matches!(event.kind, Kind::Write | Kind::StoreFence)
}

pub(super) fn union(row: &mut [u64], other: &[u64]) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

/// The node so many steps up.
pub(super) fn ancestor(node: &Arc<Node>, steps: usize) -> Arc<Node> {
    let mut at = node;
    for _ in 0..steps {
        at = at.parent.as_ref().expect("as many nodes as events");
    }
    at.clone()
}
