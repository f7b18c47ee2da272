//! Execution graphs: events with program order, reads-from and coherence, and the order they were added in.
//!
//! A graph only ever grows at the ends of its threads and shrinks in the reverse order, except that a revisit copies the
//! kept part into another graph ([`Graph::restrict`]). Which sources and places are consistent, and what is kept to know that,
//! is the business of the [model](super::models). Here stand, beside the events, their prefixes: the predecessors in program
//! order and reads-from alone.
//!
//! In a graph that stands for a reads-from class ([`Equivalence::ReadsFrom`]) coherence is a *witness*: one of the orders of writes
//! that explain what was read. It may be exchanged for another ([`Graph::adopt`]).

use super::chains::Last;
use super::event::{Event, Flags, INIT, Kind, LocId, NO_LOC, Slot};
use super::happens_before::Clocks;
use super::models::Model;
use super::snapshot::Node;
use raddle_machine::Thread;
use raddle_trace::{BitSet, Relation, ThreadId};
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
    /// Of each thread that has accessed it the last accesses, in the order of threads.
    pub(super) lasts: SmallVec<[Last; 4]>,
}

/// An execution graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph<M: Model> {
    pub(crate) equivalence: Equivalence,
    pub(crate) events: Vec<Event>,
    free: Vec<Slot>,
    /// The events in the order they were added; a revisited read keeps its place.
    pub(crate) order: Vec<Slot>,
    pub(crate) threads: Vec<Log>,
    pub(crate) locations: Vec<Accesses>,
    /// The predecessors of each event in program order and reads-from.
    pub(crate) prefix: Relation,
    /// What the model keeps.
    pub(super) rows: M::Rows,
    /// Clocks for race detection; unused when races are not looked for.
    pub(crate) clocks: Clocks,
    /// The slots in use.
    present: BitSet,
    /// The ends of objects' lives.
    pub(crate) frees: Vec<Slot>,
    /// The arrivals at barriers.
    pub(crate) arrivals: Vec<Slot>,
    /// The joins that were the first of their thread.
    pub(crate) joins: Vec<Slot>,
}

impl<M: Model> Graph<M> {
    /// The empty graph, with only the first thread.
    pub(crate) fn new(equivalence: Equivalence, main: Arc<Node>) -> Self {
        Graph {
            equivalence,
            events: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            threads: vec![Log { events: Vec::new(), tip: Some(main), spawn: None }],
            locations: Vec::new(),
            prefix: Relation::new(),
            rows: M::Rows::default(),
            clocks: Clocks::default(),
            present: BitSet::new(),
            frees: Vec::new(),
            arrivals: Vec::new(),
            joins: Vec::new(),
        }
    }

    pub(crate) fn event(&self, slot: Slot) -> &Event {
        &self.events[slot as usize]
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
        static NONE: Accesses =
            Accesses { co: SmallVec::new_const(), reads: SmallVec::new_const(), lasts: SmallVec::new_const() };
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
        let at = self.location(loc).co.iter().rposition(|&w| w == write);
        at.expect("writes of the graph are in coherence") as isize
    }

    /// Marks how much can be undone.
    pub(crate) fn mark(&self) -> usize {
        M::mark(&self.rows)
    }

    /// Takes back what adding events since the mark has changed.
    pub(crate) fn undo(&mut self, mark: usize) {
        M::undo(&mut self.rows, mark);
    }

    /// Whether one event is before another in every run of the graph.
    pub(crate) fn before(&self, first: Slot, second: Slot) -> bool {
        M::before(self, second)[first as usize / 64] >> (first % 64) & 1 == 1
    }

    /// The last event of a thread, or the one that started it.
    pub(crate) fn last(&self, thread: ThreadId) -> Option<Slot> {
        let log = &self.threads[thread.index()];
        log.events.last().copied().or(log.spawn)
    }

    /// Whether the write at this position of coherence (-1: the initial one) is the source of an update.
    pub(crate) fn consumed(&self, loc: LocId, position: isize) -> bool {
        self.taker(loc, position).is_some()
    }

    /// The update whose source is the write at this position of coherence (-1: the initial one).
    pub(crate) fn taker(&self, loc: LocId, position: isize) -> Option<Slot> {
        let next = self.location(loc).co.get((position + 1) as usize).copied();
        next.filter(|&write| self.event(write).flags.contains(Flags::LOCKED))
    }

    /// Adds an event at the end of its thread, with the state after it. `position` is where a write goes in coherence.
    /// The event goes to `stamp` in the order of addition, or to its end.
    pub(crate) fn add(&mut self, mut event: Event, node: Arc<Node>, position: usize, stamp: Option<usize>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.events.len() as Slot);
        let thread = event.thread;
        match event.kind {
            Kind::Read | Kind::Blind => {
                let accesses = self.location_mut(event.loc);
                accesses.reads.push(slot);
                event.previous = accesses.begin(&event, slot);
            }
            Kind::Write => {
                let accesses = self.location_mut(event.loc);
                accesses.co.insert(position, slot);
                event.previous = accesses.begin(&event, slot);
            }
            _ => {}
        }
        debug_assert_eq!(event.index as usize, self.threads[thread.index()].events.len());
        if slot as usize == self.events.len() {
            self.events.push(event);
            if self.prefix.len() < self.events.len() {
                let room = room(self.events.len());
                self.prefix.grow(room);
                M::grow(&mut self.rows, room);
            }
        } else {
            self.events[slot as usize] = event;
        }
        self.fill_prefix(slot, &event);
        M::added(self, slot, position);
        match event.kind {
            Kind::Free => self.frees.push(slot),
            Kind::Arrive => self.arrivals.push(slot),
            Kind::Join => self.joins.push(slot),
            _ => {}
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
        if event.kind == Kind::Take {
            for source in self.before_take(event) {
                self.prefix.include(source as usize, slot as usize);
            }
        }
        if event.kind == Kind::Depart {
            for source in self.before_departure(event) {
                self.prefix.include(source as usize, slot as usize);
            }
        }
    }

    /// Whether the event is a read whose source is before it in every witness.
    pub(crate) fn reads_from_outside(&self, event: &Event) -> bool {
        event.kind == Kind::Read && event.rf != INIT && (!M::FORWARDS || self.event(event.rf).thread != event.thread)
    }

    /// Removes an event that is the last of its thread and that nothing depends on.
    pub(crate) fn remove(&mut self, slot: Slot, stamp: usize) {
        let event = self.events[slot as usize];
        debug_assert_eq!(self.order[stamp], slot);
        // Mostly it is the last one, and moving nothing takes a call, too.
        if stamp + 1 == self.order.len() {
            self.order.pop();
        } else {
            self.order.remove(stamp);
        }
        let log = &mut self.threads[event.thread.index()];
        let popped = log.events.pop();
        debug_assert_eq!(popped, Some(slot));
        let parent = log.tip.as_ref().and_then(|node| node.parent.clone());
        log.tip = parent;
        if event.loc != NO_LOC
            && let Some(accesses) = self.locations.get_mut(event.loc as usize)
        {
            let list = if event.kind == Kind::Write { &mut accesses.co } else { &mut accesses.reads };
            if let Some(at) = list.iter().rposition(|&other| other == slot) {
                list.remove(at);
            }
            accesses.end(&event);
        }
        match event.kind {
            Kind::Free => self.frees.retain(|&free| free != slot),
            Kind::Arrive => self.arrivals.retain(|&arrival| arrival != slot),
            Kind::Join => self.joins.retain(|&join| join != slot),
            _ => {}
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

    /// Makes the states of threads this graph's own. They are the same as before, but to count who points to them costs much where two
    /// workers do so at once.
    pub(crate) fn unshare(&mut self) {
        for log in &mut self.threads {
            log.tip = log.tip.as_ref().map(copy_of);
        }
    }

    /// Makes `target` the part of this graph that consists of the slots in `keep`, which is closed under program order and
    /// reads-from and whose rows name no other slots.
    pub(crate) fn restrict(&self, keep: &BitSet, target: &mut Graph<M>) {
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
            // Whoever accesses something is among the last who did; most locations of a program with many have not been accessed.
            if mine.lasts.is_empty() && theirs.lasts.is_empty() {
                continue;
            }
            for (mine, theirs) in [(&mine.co, &mut theirs.co), (&mine.reads, &mut theirs.reads)] {
                theirs.clear();
                mine.iter().filter(|slot| kept(slot)).for_each(|&slot| theirs.push(slot));
            }
            theirs.lasts.clear();
            if !theirs.co.is_empty() || !theirs.reads.is_empty() {
                theirs.lasts.extend_from_slice(&mine.lasts);
                for Last { write, read, .. } in &mut theirs.lasts {
                    [write, read].into_iter().for_each(|slot| *slot = self.last_among(*slot, keep));
                }
            }
        }
        target.prefix.copy_from(&self.prefix);
        M::restrict(self, keep, &target.order, &mut target.rows);
        target.clocks.copy_from(&self.clocks);
        target.present.clone_from(keep);
        let lists = [
            (&self.frees, &mut target.frees),
            (&self.arrivals, &mut target.arrivals),
            (&self.joins, &mut target.joins),
        ];
        for (mine, theirs) in lists {
            theirs.clear();
            theirs.extend(mine.iter().copied().filter(kept));
        }
    }
}

/// For how many events there is room in the relations if there are so many. Each word that rows become longer copies them all, so long rows become longer by
/// several at once.
fn room(events: usize) -> usize {
    if events <= 64 { events } else { (events + events / 8).next_multiple_of(64) }
}

/// A copy of a node and of all before it.
fn copy_of(tip: &Arc<Node>) -> Arc<Node> {
    let chain: SmallVec<[&Arc<Node>; 64]> = std::iter::successors(Some(tip), |node| node.parent.as_ref()).collect();
    let copy = chain.into_iter().rev().fold(None, |parent: Option<Arc<Node>>, node| {
        let state = Arc::new((*node.state).clone());
        Some(Arc::new(Node::new(state, node.stage, node.loc, parent).with_tail(node.tail.clone())))
    });
    copy.expect("there is one node at least")
}

/// The node so many steps up.
pub(super) fn ancestor(node: &Arc<Node>, steps: usize) -> Arc<Node> {
    let mut at = node;
    for _ in 0..steps {
        at = at.parent.as_ref().expect("as many nodes as events");
    }
    at.clone()
}
