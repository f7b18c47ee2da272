//! Adding events to a graph, with all that follows from them: the thread goes on, it may fail, another one starts.

use super::context::Context;
use super::event::{Event, Flags, INIT, Kind, NO_BLOCK, NO_LOC, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::snapshot::{Node, Stage, Step};
use super::sources::reading;
use super::tail;
use crate::world::Initial;
use raddle_engine::{Fault, Refusal, StopReason};
use raddle_machine::{Access, Addr, Automaton, Reaction, Status, Thread, Visible};
use raddle_trace::{Place, Property, Schedule, ThreadId};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Why the search cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum Halt {
    /// No verdict is possible.
    Fault(Fault),
    /// Two threads join the same one, and either may be the first.
    ContestedJoin,
    /// A message may wait for ever, or has failed, and keeps its looper from others.
    StuckLooper(Addr),
    /// More threads come to a barrier than it is for, or somebody else accesses it.
    ContestedBarrier(Place),
    /// Updates were taken to commute, and here they do not.
    DoesNotCommute(Place),
    /// Not everything can be explored.
    Stop(StopReason),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Halt::Fault(refusal.into())
    }
}

impl Halt {
    /// Which of two reasons counts: a mistake of ours before anything else, what makes the search start over before what only
    /// ends it.
    pub(super) fn severity(&self) -> u8 {
        match self {
            Halt::Fault(Fault::NotReplayed(_)) => 4,
            Halt::Fault(Fault::Refused(_)) => 3,
            Halt::DoesNotCommute(_) | Halt::ContestedBarrier(_) | Halt::ContestedJoin | Halt::StuckLooper(_) => 2,
            Halt::Stop(_) => 0,
        }
    }
}

/// Something wrong in the current graph.
#[derive(Clone, Debug)]
pub(crate) struct Bug {
    pub(crate) property: Property,
    /// The instruction.
    pub(crate) pc: u32,
    /// The event whose execution, or the consequences of it, are wrong; `None` for a deadlock.
    pub(crate) target: Option<Slot>,
    /// The thread whose pending operation is perhaps what is wrong.
    pub(crate) attempt: Option<ThreadId>,
    /// An order that holds in no closure yet but shows the error: the first before the second.
    pub(crate) forced: Option<(Slot, Slot)>,
    /// The run that shows it, if the graph does not.
    pub(crate) schedule: Option<Schedule>,
}
impl Bug {
    /// Nothing that is wrong: the end of an execution.
    pub(crate) fn end() -> Self {
        let (property, pc) = (Property::Deadlock, 0);
        Bug { property, pc, target: None, attempt: None, forced: None, schedule: None }
    }
}

/// Wraps a state in a node, after skipping fences that mean nothing and checking the next access.
pub(super) fn settle<M: Model>(
    context: &mut Context<'_>,
    graph: &Graph<M>,
    parent: Option<Arc<Node>>,
    mut state: Thread,
    error: &mut Option<Halt>,
) -> Arc<Node> {
    while is_nothing::<M>(context, state.status()) {
        state.answer(context.code, 0, 0);
    }
    let access = match *state.status() {
        Status::Ready(
            Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. },
        ) => Some(access),
        Status::Ready(Visible::Free { addr, .. }) => Some(Access { addr, size: 0 }),
        _ => None,
    };
    let mut loc = match *state.status() {
        Status::Ready(Visible::Fence { order }) if M::fence_updates(order) => context.view.hidden(),
        _ => NO_LOC,
    };
    if let Some(access) = access {
        let own = state.id();
        let lookup = |id: ThreadId| if id == own { Some(&state) } else { graph.state(id) };
        let fault = match *state.status() {
            Status::Ready(Visible::Free { addr, scope }) => context.view.check_free(addr, scope, &lookup),
            _ => context.view.check(access, &lookup),
        };
        match fault {
            Some(message) => state.fail(Property::Memory, message),
            None if access.size == 0 => {}
            None => match context.view.loc(access, state.pc()) {
                Ok(number) => loc = number,
                Err(unsupported) => *error = Some(Halt::Fault(unsupported)),
            },
        }
    }
    if let Some(looper) = state.message()
        && may_get_stuck(state.status())
        && !context.shared.purpose.is_stuck(looper)
        && error.is_none()
    {
        *error = Some(Halt::StuckLooper(looper));
    }
    let tail = tail::of(context, graph, parent.as_deref(), &state);
    Arc::new(Node::new(Arc::new(state), Stage::Fresh, loc, parent).with_tail(tail))
}

/// Whether what [`settle`] found out of the state does not depend on what other threads have done.
fn is_free_of_others(context: &Context<'_>, state: &Thread) -> bool {
    if state.message().is_some() {
        return false;
    }
    match *state.status() {
        Status::Ready(
            Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. },
        ) => context.view.lasting(access).is_some(),
        Status::Ready(Visible::Free { .. }) | Status::Failed(_) => false,
        _ => true,
    }
}

/// Whether a thread that rests like this may never get any further.
fn may_get_stuck(status: &Status) -> bool {
    matches!(
        status,
        Status::Failed(_)
            | Status::Blocked(_)
            | Status::Ready(
                Visible::Load { wait: true, .. } | Visible::Update { wait: true, .. } | Visible::Join { .. }
            )
    )
}

/// Whether the operation that a thread rests before makes no event.
fn is_nothing<M: Model>(context: &Context<'_>, status: &Status) -> bool {
    match *status {
        Status::Ready(Visible::Fence { order }) => {
            !context.races && M::fence(order).is_none() && !M::fence_updates(order)
        }
        // Entering one waits for what is buffered, if anything can be.
        Status::Ready(Visible::AtomicBegin) => !M::FORWARDS,
        Status::Ready(Visible::AtomicEnd) => true,
        _ => false,
    }
}

/// What came of a revisit.
pub(super) enum Revisited {
    /// So many events were added.
    Whole { added: u8 },
    /// Nothing was added: the write is not possible there.
    Nothing,
    /// Only the write was added, or a fault in its place; the read is what could not be added after the write.
    Half { read: Option<Event> },
}

/// Adding events to a graph, with all that follows from them.
pub(super) struct Stepper<'a, 'c, M: Model> {
    pub(super) graph: &'a mut Graph<M>,
    pub(super) context: &'a mut Context<'c>,
    pub(super) bugs: &'a mut Vec<Bug>,
    pub(super) error: &'a mut Option<Halt>,
    pub(super) known_races: &'a FxHashSet<u32>,
}

impl<M: Model> Stepper<'_, '_, M> {
    pub(super) fn tip(&self, thread: ThreadId) -> Arc<Node> {
        self.graph.tip(thread).expect("the thread has been started").clone()
    }

    /// The node of a thread that continues with this answer.
    pub(super) fn answered(&mut self, thread: ThreadId, value: u64, pick: u32) -> Arc<Node> {
        let tip = self.tip(thread);
        let step = Step::Answer { value, pick };
        if let Some(node) = self.context.ways.get(&tip, step) {
            return node;
        }
        let mut state = (*tip.state).clone();
        state.answer(self.context.code, value, pick);
        // What a thread returns is often not looked at, and nobody should tell executions apart by it that goes on joining.
        let joins = matches!(tip.state.status(), Status::Ready(Visible::Join { .. }));
        if joins && matches!(state.status(), Status::Ready(_)) {
            state.forget_registers(self.context.code, self.context.shared.live());
        }
        let mut node = settle(self.context, self.graph, Some(tip.clone()), state, self.error);
        if self.error.is_none() && is_free_of_others(self.context, &node.state) {
            if joins {
                node = self.context.ways.merged(&tip, node);
            }
            self.context.ways.put(&tip, step, &node);
        }
        node
    }

    /// The node of a thread in the same state, further along its operation.
    pub(super) fn staged(&mut self, thread: ThreadId, stage: Stage) -> Arc<Node> {
        let tip = self.tip(thread);
        let step = Step::Stage(stage);
        if let Some(node) = self.context.ways.get(&tip, step) {
            return node;
        }
        let node = Arc::new(Node::new(tip.state.clone(), stage, tip.loc, Some(tip.clone())));
        self.context.ways.put(&tip, step, &node);
        node
    }

    /// The node of a thread that has failed.
    pub(super) fn failed(&self, thread: ThreadId, property: Property, message: &str) -> Arc<Node> {
        let tip = self.tip(thread);
        let mut state = (*tip.state).clone();
        state.fail(property, message.to_owned());
        Arc::new(Node::new(Arc::new(state), Stage::Fresh, NO_LOC, Some(tip)))
    }

    /// Adds an event and reports if the thread has failed by it.
    pub(super) fn add(&mut self, event: Event, node: Arc<Node>, position: usize, stamp: Option<usize>) -> Slot {
        // Accesses have had theirs prepared when they were checked for races.
        if (self.context.races || M::CLOCKED)
            && !matches!(event.kind, Kind::Read | Kind::Write | Kind::Blind | Kind::Fault)
        {
            self.graph.prepare_clocks(&event);
        }
        let failure = match node.state.status() {
            Status::Failed(failure) => Some((failure.property, failure.pc)),
            _ => None,
        };
        let slot = self.graph.add(event, node, position, stamp);
        if self.context.races || M::CLOCKED {
            self.graph.clocks.store(slot);
        }
        if let Some((property, pc)) = failure {
            self.report(property, pc, slot, event.thread);
        }
        slot
    }

    /// Notes that a thread has failed by the event, or that it cannot be followed any further.
    pub(super) fn report(&mut self, property: Option<Property>, pc: u32, slot: Slot, thread: ThreadId) {
        match property {
            Some(property) => {
                self.bugs.push(Bug {
                    property,
                    pc,
                    target: Some(slot),
                    attempt: Some(thread),
                    forced: None,
                    schedule: None,
                });
            }
            None => {
                let failed = self.graph.threads.iter().filter_map(|log| log.tip.as_ref()).find_map(|tip| {
                    match tip.state.status() {
                        Status::Failed(failure) if failure.property.is_none() => Some(failure.message.clone()),
                        _ => None,
                    }
                });
                let message = failed
                    .unwrap_or_else(|| format!("{} cannot be followed any further", self.context.code.name(thread)));
                let at = self.context.code.place(pc);
                *self.error = Some(Halt::Stop(StopReason::GaveUp { why: message, at }));
            }
        }
    }

    /// Adds a read. With `wait`, an unsuitable value is taken only from the last write (`wait` says whether it is that).
    pub(super) fn read(&mut self, event: Event, stamp: Option<usize>, wait: Option<bool>) -> bool {
        let thread = event.thread;
        self.check_commuting(&event);
        self.check_meeting(&event);
        let value = match self.context.value(self.graph, event.loc, event.rf) {
            Initial::Value(value) => {
                let value = self.after_blind_updates(event.loc, value);
                self.after_arrivals(event.loc, value)
            }
            Initial::Uninitialised => {
                let found = match event.rf {
                    INIT => self.context.view.part(event.loc),
                    source => self.graph.event(source).value,
                };
                let Some(value) = self.tip(thread).state.finds_unwritten(self.context.code, found) else {
                    self.race(&event);
                    let node = self.failed(thread, Property::Memory, "read of memory that was never written");
                    self.add(event, node, 0, stamp);
                    return true;
                };
                value
            }
        };
        let reaction = self.tip(thread).reaction(self.context.code, value);
        if reaction == Reaction::Block && wait == Some(false) {
            return false;
        }
        let event = Event { value, ..event };
        // An update that is given another source may succeed where it failed before, with another ordering.
        let order = self.tip(thread).order_of_read(event.order, reaction != Reaction::Read);
        let event = match reaction {
            Reaction::Block => Event { flags: event.flags.with(Flags::BLOCKED), order, ..event },
            Reaction::Write(_) | Reaction::Pick(_) => {
                Event { flags: event.flags.with(Flags::CONSUMES), order, ..event }
            }
            Reaction::Read => Event { order, ..event },
        };
        let look = self.race_of_looks(&event);
        let mut race = self.race(&event).or(look);
        if M::NAMED
            && event.flags.contains(Flags::CONSUMES)
            && let Some(taker) = self.graph.taker(event.loc, self.graph.co_position(event.loc, event.rf))
        {
            // Another update has taken the source, so a run that shows the race ends before it.
            race = race.and_then(|_| self.graph.race_without(&event, taker).or_else(|| self.maker_unknown(&event)));
        }
        if let Some(other) = race
            && reaction != Reaction::Block
        {
            self.racing_read(event, stamp, other);
            return true;
        }
        let node = match reaction {
            Reaction::Block => self.staged(thread, Stage::Waiting),
            Reaction::Read => self.answered(thread, value, 0),
            Reaction::Write(new) => self.staged(thread, Stage::Updating { old: value, new, pick: 0 }),
            Reaction::Pick(count) => self.staged(thread, Stage::Picking { old: value, count }),
        };
        let bugs = self.bugs.len();
        let slot = self.add(event, node, 0, stamp);
        if M::refuses(self.graph, slot) {
            self.bugs.truncate(bugs);
            self.graph.remove(slot, stamp.unwrap_or(self.graph.order.len() - 1));
            return false;
        }
        self.check_life(slot, bugs);
        true
    }

    /// Adds a write at this position of coherence, or a fault if it is wrong; `None` if the model does not allow it there.
    pub(super) fn write(&mut self, event: Event, position: usize) -> Option<Slot> {
        let thread = event.thread;
        self.check_commuting(&event);
        self.check_meeting(&event);
        if let Some(other) = self.race(&event) {
            return Some(self.racing_write(event, position, other));
        }
        let node = match self.tip(thread).stage {
            Stage::Updating { old, pick, .. } => self.answered(thread, old, pick),
            _ if event.block == NO_BLOCK && M::fence_after_store(event.order).is_some() => {
                self.staged(thread, Stage::Stored)
            }
            _ => self.answered(thread, 0, 0),
        };
        let failed = self.bugs.len();
        let slot = self.add(event, node, position, None);
        if M::refuses(self.graph, slot) {
            self.bugs.truncate(failed);
            self.graph.pop();
            return None;
        }
        let freed = self.freed_before(slot);
        if let Some(free) = freed.filter(|_| self.context.code.has_mailboxes()) {
            self.push_ordered(free, slot, slot);
        } else if let Some(free) = freed {
            // The write has no effect; what it would have led to is not looked at.
            self.bugs.truncate(failed);
            self.graph.pop();
            // It is too late at its last place, too, and has none as an error.
            if position < self.graph.location(event.loc).co.len() {
                return None;
            }
            let node = self.failed(thread, Property::Memory, "write after the end of the object's life");
            let slot = self.graph.add(Event { kind: Kind::Fault, loc: NO_LOC, ..event }, node, 0, None);
            self.push_ordered(free, slot, slot);
            return Some(slot);
        }
        Some(slot)
    }

    pub(super) fn choose(&mut self, event: Event) {
        let thread = event.thread;
        let tip = self.tip(thread);
        let pick = event.value as u32;
        let node = match tip.stage {
            Stage::Picking { old, .. } => {
                let new = tip.state.picked(old, pick);
                self.staged(thread, Stage::Updating { old, new, pick })
            }
            _ => self.answered(thread, event.value, 0),
        };
        self.add(event, node, 0, None);
    }

    pub(super) fn single(&mut self, event: Event) {
        let thread = event.thread;
        match event.kind {
            Kind::StoreFence if self.stores(thread) => {
                let node = self.staged(thread, Stage::FencedStore);
                self.add(event, node, 0, None);
            }
            Kind::Spawn => {
                let child = ThreadId(event.value as u32);
                let tip = self.tip(thread);
                let state = tip.state.spawned(self.context.code, child);
                let node = self.answered(thread, event.value, 0);
                let slot = self.add(event, node, 0, None);
                // The child's first access may be to what its parent's state knows.
                let node = settle(self.context, self.graph, None, state, self.error);
                let failure = match node.state.status() {
                    Status::Failed(failure) => Some((failure.property, failure.pc)),
                    _ => None,
                };
                self.graph.start(child, slot, node);
                if let Some((property, pc)) = failure {
                    self.report(property, pc, slot, child);
                }
            }
            Kind::Join => {
                self.join(event);
            }
            Kind::Free => self.free(event),
            Kind::Blind => self.blind_update(event),
            Kind::Arrive => self.arrive(event),
            _ => {
                let node = self.answered(thread, 0, 0);
                self.add(event, node, 0, None);
            }
        }
    }

    /// A message is taken, or never.
    pub(super) fn take(&mut self, event: Event) {
        let thread = event.thread;
        if event.value == 0 {
            let node = self.answered(thread, 0, 0);
            self.add(event, node, 0, None);
        } else {
            let node = self.staged(thread, Stage::Waiting);
            self.add(Event { flags: event.flags.with(Flags::BLOCKED), ..event }, node, 0, None);
        }
    }

    pub(super) fn stores(&self, thread: ThreadId) -> bool {
        matches!(self.tip(thread).state.status(), Status::Ready(Visible::Store { .. }))
    }

    /// Adds the write, then the read again with the write as its source (or, by rule L3, without it). If the read cannot
    /// take it in this order of writes, only the write is added.
    pub(super) fn revisit(
        &mut self,
        write: Event,
        read: Event,
        stamp: usize,
        remove: bool,
        position: usize,
    ) -> Revisited {
        let bugs = self.bugs.len();
        if remove {
            let added = self.write(Event { flags: write.flags.with(Flags::MARKED), ..write }, position);
            return added.map_or(Revisited::Nothing, |_| Revisited::Whole { added: 1 });
        }
        let Some(slot) = self.write(write, position) else { return Revisited::Nothing };
        let read = Event { rf: slot, flags: read.flags.without(Flags::BLOCKED.with(Flags::CONSUMES)), ..read };
        if self.graph.event(slot).kind != Kind::Write {
            // An update that takes what the read had before races here for the first time; its race comes with the run that shows it.
            let found = self.bugs.split_off(bugs);
            self.bugs.extend(found.into_iter().filter(|bug| bug.schedule.is_some()));
            return Revisited::Half { read: None };
        }
        let floor = M::read_floor(self.graph, &read);
        if self.explains(&read, floor) && self.read(read, Some(stamp), None) {
            return Revisited::Whole { added: 2 };
        }
        self.bugs.truncate(bugs);
        Revisited::Half { read: Some(read) }
    }

    /// Whether the order of writes at hand explains a read of its source, which has this floor. Where that order makes a class, the model may still
    /// refuse it.
    pub(super) fn explains(&mut self, read: &Event, floor: isize) -> bool {
        if self.graph.equivalence == Equivalence::Coherence || !M::NAMED {
            return self.graph.co_position(read.loc, read.rf) >= floor;
        }
        let node = self.tip(read.thread);
        let (read, updates) = reading(self.context, self.graph, &node, read);
        self.graph.is_explained(&read, updates, floor, self.graph.present())
    }
}
