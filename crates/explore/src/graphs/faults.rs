//! Accesses that are errors: races, and memory whose life has ended.
//!
//! A thread that does one is stuck there, and what it did has no effect; the others go on. An access and the end of
//! its object's life must be ordered by the global relation, the access first; if they are not, some run of the same
//! graph has them the other way round, so the error is real in whatever order the graph met them. In programs with mailboxes a looper may
//! keep them in order. There the error is told if it has a run, and the graph goes on as if objects lived for ever. At its end the question
//! is asked again (see [`lives`](super::lives)), and if something is in the wrong order, the end is none of a run.

use super::event::{Event, Flags, INIT, Kind, NO_LOC, NO_SOURCE, Slot};
use super::graph::Equivalence;
use super::linearise;
use super::models::Model;
use super::realise::Question;
use super::snapshot::{Node, Stage};
use super::step::{Bug, Halt, Stepper};
use raddle_engine::StopReason;
use raddle_machine::{Addr, Automaton, Owner, Status, Visible};
use raddle_trace::Property;
use std::sync::Arc;

impl<M: Model> Stepper<'_, '_, M> {
    /// Prepares the clocks of an access, and returns an event that it races with.
    pub(super) fn race(&mut self, event: &Event) -> Option<Slot> {
        if self.context.races || M::CLOCKED {
            self.graph.prepare_clocks(event);
        }
        if !self.context.races {
            return None;
        }
        let other = self.graph.race(event).or_else(|| self.maker_unknown(event))?;
        self.race_beside_blind_updates(event);
        Some(other)
    }

    /// If the thread of an access, whose clocks have just been prepared, does not know that the object was made: what its maker did next.
    pub(super) fn maker_unknown(&self, event: &Event) -> Option<Slot> {
        if event.loc == NO_LOC {
            return None;
        }
        let addr = self.context.view.access(event.loc).addr;
        let Owner::Thread(maker, number) = addr.owner() else { return None };
        if maker == event.thread || self.ends_of(addr).any(|free| self.comes_before_next(free, event)) {
            return None;
        }
        let position = self.graph.state(maker)?.position(number)?;
        let events = &self.graph.threads[maker.index()].events;
        let first = events.partition_point(|&slot| self.graph.event(slot).made <= position);
        (!self.graph.next_knows(maker, first as u32)).then(|| events.get(first).copied()).flatten()
    }

    /// The ends of the life of what is at this address.
    fn ends_of(&self, addr: Addr) -> impl Iterator<Item = Slot> + '_ {
        let base = addr.base();
        self.graph.frees.iter().copied().filter(move |&free| Addr(self.graph.event(free).value).base() == base)
    }

    /// Whether an event comes before a new one in every run.
    fn comes_before_next(&self, slot: Slot, event: &Event) -> bool {
        let reads = event.kind == Kind::Read && event.rf != INIT && event.rf != NO_SOURCE;
        self.graph.prefix_of_next(event.thread).contains(slot as usize)
            || (reads && (event.rf == slot || self.graph.before(slot, event.rf)))
    }

    /// Where what an access races with is the making of its object, the run that shows it has the access before the end of the object's life.
    fn before_its_end(&mut self, event: &Event, slot: Slot, bug: &mut Bug) {
        if self.graph.race(event).is_some() {
            return;
        }
        let free = self.ends_of(self.context.view.access(event.loc).addr).next();
        if let Some(free) = free {
            bug.target = Some(slot);
            bug.pc = event.pc;
            bug.forced = Some((slot, free));
            if self.graph.equivalence == Equivalence::ReadsFrom {
                self.show(bug);
            }
        }
    }

    /// An event that an earlier look of a wait races with: one that is ordered with the wait only by what ends it.
    pub(super) fn race_of_looks(&mut self, event: &Event) -> Option<Slot> {
        if !self.context.races || event.rf == INIT {
            return None;
        }
        let waits = matches!(
            self.graph.state(event.thread)?.status(),
            Status::Ready(Visible::Load { wait: true, .. } | Visible::Update { wait: true, .. })
        );
        if waits { self.race(&Event { rf: INIT, ..*event }) } else { None }
    }

    /// Adds a read that races with a write.
    pub(super) fn racing_read(&mut self, event: Event, stamp: Option<usize>, other: Slot) {
        let node = self.failed(event.thread, Property::Race, "data race");
        let bugs = self.bugs.len();
        let slot = self.add(event, node, 0, stamp);
        self.bugs.truncate(bugs);
        let mut bug = self.race_bug(slot, other);
        self.before_its_end(&event, slot, &mut bug);
        self.bugs.push(bug);
    }

    /// Adds a write that races with another access. It has no effect, so it stands in the graph as a fault; but the run
    /// that shows the race may have it before the other access, and is made while it is there as a write.
    pub(super) fn racing_write(&mut self, event: Event, position: usize, other: Slot) -> Slot {
        let node = self.failed(event.thread, Property::Race, "data race");
        let (mark, bugs) = (self.graph.mark(), self.bugs.len());
        let slot = self.add(event, node.clone(), position, None);
        self.bugs.truncate(bugs);
        let mut bug = self.race_bug(slot, other);
        self.before_its_end(&event, slot, &mut bug);
        if !self.known_races.contains(&bug.pc) {
            let schedule = bug.schedule.take();
            bug.schedule = schedule.or_else(|| linearise::schedule(self.context, self.graph, &bug));
            if bug.schedule.is_some() {
                self.bugs.push(bug);
            }
        }
        self.graph.pop();
        self.graph.undo(mark);
        let slot = self.graph.add(Event { kind: Kind::Fault, loc: NO_LOC, ..event }, node, 0, None);
        self.graph.clocks.store(slot);
        slot
    }

    /// Whichever of two racing accesses comes second in the run is where the race shows.
    pub(super) fn race_bug(&self, slot: Slot, other: Slot) -> Bug {
        let event = self.graph.event(slot);
        // An update is one step of the run, so it is enough that its read half comes first.
        let half = match self.graph.threads[event.thread.index()].events.as_slice() {
            [.., half, _] if self.graph.event(*half).operation == event.operation => *half,
            _ => slot,
        };
        let before = |a: Slot| self.graph.before(a, other);
        let (first, target) = if before(slot) || before(half) { (slot, other) } else { (other, slot) };
        let pc = self.graph.event(target).pc;
        let forced = Some((first, target));
        Bug { property: Property::Race, pc, target: Some(target), attempt: None, forced, schedule: None }
    }

    /// If the object accessed by a new event may have ended its life before, the thread fails.
    pub(super) fn check_life(&mut self, slot: Slot, bugs: usize) {
        let Some(free) = self.freed_before(slot) else { return };
        if self.context.code.has_mailboxes() {
            self.push_ordered(free, slot, slot);
            return;
        }
        self.bugs.truncate(bugs);
        let event = *self.graph.event(slot);
        let tip = self.tip(event.thread);
        let parent = tip.parent.clone().expect("it has an event");
        let mut state = (*parent.state).clone();
        state.fail(Property::Memory, "access after the end of the object's life".to_owned());
        let node = Node::new(Arc::new(state), Stage::Fresh, NO_LOC, Some(parent));
        self.graph.threads[event.thread.index()].tip = Some(Arc::new(node));
        self.push_ordered(free, slot, slot);
    }

    /// Notes an error of the graph that shows when `first` comes before `second`, at `target`.
    pub(super) fn push_ordered(&mut self, first: Slot, second: Slot, target: Slot) {
        let mut bug = Bug {
            property: Property::Memory,
            pc: self.graph.event(target).pc,
            target: Some(target),
            attempt: None,
            forced: Some((first, second)),
            schedule: None,
        };
        self.needs_memory_errors(bug.pc);
        self.show(&mut bug);
        self.bugs.push(bug);
    }

    /// Where the order that shows what is wrong is the other way round in the witness at hand, it shows in another one only.
    fn show(&mut self, bug: &mut Bug) {
        if let Some((first, second)) = bug.forced
            && self.graph.before(second, first)
            && let Some(sequence) = self.witness_with(first, second)
        {
            let mut other = self.graph.clone();
            other.adopt(sequence.into_iter());
            bug.schedule = linearise::schedule(self.context, &other, bug);
        }
    }

    /// Where it depends on the order of events which of them is an error, only one of the orders is explored. That is enough
    /// if errors of this kind are looked for, because there is one; else the search cannot go on.
    fn needs_memory_errors(&mut self, pc: u32) {
        if !self.context.shared.options.properties.contains(Property::Memory) {
            let message = "an object may end its life before this; look for memory errors, too".to_owned();
            let at = self.context.code.place(pc);
            *self.error = Some(Halt::Stop(StopReason::GaveUp { why: message, at }));
        }
    }

    /// A witness of the graph in which `first` comes before `second`.
    fn witness_with(&mut self, first: Slot, second: Slot) -> Option<Vec<Slot>> {
        let graph = &*self.graph;
        let question =
            Question { graph, events: graph.present(), read: None, updates: false, edges: &[(first, second)] };
        self.context.realise(question).map(<[Slot]>::to_vec)
    }

    /// Whether `first` comes before `second` in some run of the graph.
    pub(super) fn may_precede(&mut self, first: Slot, second: Slot) -> bool {
        match self.graph.equivalence {
            Equivalence::ReadsFrom if !M::NAMED => {
                !self.graph.before(second, first)
                    || (!M::base(self.graph).before(second as usize, first as usize)
                        && self.witness_with(first, second).is_some())
            }
            _ => !M::is_ordered(self.graph, second, first),
        }
    }

    /// The end of the life of what the event accesses, unless it is known to come later.
    pub(super) fn freed_before(&mut self, slot: Slot) -> Option<Slot> {
        if self.graph.frees.is_empty() {
            return None;
        }
        let base = self.context.view.access(self.graph.event(slot).loc).addr.base();
        self.graph
            .frees
            .clone()
            .into_iter()
            .find(|&free| Addr(self.graph.event(free).value).base() == base && self.may_precede(free, slot))
    }

    /// Adds an operation that is an error, in place of the event it would have been; it is one if `after` came before.
    pub(super) fn fault(&mut self, event: Event, node: Arc<Node>, after: Option<Slot>) {
        // It waits for what its thread has on its way if the operation does.
        let flags = event.flags.with_if(event.kind != Kind::Free, Flags::LOCKED);
        let event = Event { kind: Kind::Fault, flags, loc: NO_LOC, ..event };
        self.race(&event);
        let slot = self.add(event, node, 0, None);
        if let Some(bug) = self.bugs.last_mut() {
            bug.forced = after.map(|first| (first, slot));
        }
    }

    /// Ends an object's life. Every access of others to it must be known to come before. What the thread itself has stored there may still be on its way: nobody is left to see it arrive.
    pub(super) fn free(&mut self, event: Event) {
        let thread = event.thread;
        let base = Addr(event.value).base();
        let twice = self.graph.frees.iter().copied().find(|&free| Addr(self.graph.event(free).value).base() == base);
        // In programs with mailboxes that depends on which comes first, like everything about ends of lives.
        let mailboxes = self.context.code.has_mailboxes();
        if twice.is_some() && !mailboxes {
            self.needs_memory_errors(event.pc);
            let node = self.failed(thread, Property::Memory, "the object's life has ended before");
            self.fault(event, node, twice);
            return;
        }
        let node = self.answered(thread, 0, 0);
        let failed = self.bugs.len();
        let slot = self.add(event, node, 0, None);
        self.check_end_of_barrier(slot, base);
        let mut unordered: Vec<Slot> = Vec::new();
        for loc in 0..self.graph.locations.len() {
            if self.context.view.access(loc as u32).addr.base() != base {
                continue;
            }
            let accesses = &self.graph.locations[loc];
            let accesses = accesses.co.iter().chain(&accesses.reads).copied();
            let accesses: Vec<Slot> = accesses.filter(|&access| self.graph.event(access).thread != thread).collect();
            unordered.extend(accesses.into_iter().rev().filter(|&access| self.may_precede(slot, access)));
        }
        if mailboxes {
            unordered.into_iter().for_each(|access| self.push_ordered(slot, access, access));
            if let Some(other) = twice {
                self.push_ordered(other, slot, slot);
                if self.may_precede(slot, other) {
                    self.push_ordered(slot, other, other);
                }
            }
            return;
        }
        if !unordered.is_empty() {
            self.bugs.truncate(failed);
            self.graph.pop();
            let node = self.failed(thread, Property::Memory, "the object is still in use");
            let slot = self.graph.add(Event { kind: Kind::Fault, ..event }, node, 0, None);
            for access in unordered {
                if M::NAMED && self.graph.before(access, slot) {
                    // It comes first in every run, but whoever ends the object's life does not know that.
                    self.report(Some(Property::Memory), event.pc, slot, thread);
                } else {
                    self.push_ordered(slot, access, access);
                }
            }
        }
    }
}
