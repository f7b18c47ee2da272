//! From a graph to a schedule of the machine.
//!
//! Nodes are events; the halves of an update (and the choice between them) are one node. A write that is buffered stands for the
//! moment it reaches memory, everything else for the moment it is executed. Any order that respects the global
//! relation is a run: before a node of a thread is emitted, the stores that its thread issued before it are put in the
//! buffer, in program order. What does not lead to the error is left out: only events before the target in the global
//! relation take part, so counterexamples are short. Among the possible next nodes one of the current thread is taken,
//! so they are readable, too.

use super::context::Context;
use super::event::{Event, Flags, INIT, Kind, NO_BLOCK, Slot};
use super::graph::Graph;
use super::mailboxes;
use super::models::Model;
use super::snapshot::Stage;
use super::step::Bug;
use raddle_machine::{Automaton, Status, Visible};
use raddle_trace::{BitSet, EventId, Schedule, Step, ThreadId};

/// The schedule that leads to the bug; `None` if every run of this graph would tear an atomic block.
pub(crate) fn schedule<M: Model>(context: &Context<'_>, graph: &Graph<M>, bug: &Bug) -> Option<Schedule> {
    let mut included = included(graph, bug);
    if let Some(target) = bug.target.filter(|_| super::joins::is_early(context, graph, bug)) {
        // The start of the thread may be before it in this graph, and is not in a run of what it needs.
        let needed = graph.prefix_of(target);
        let others = graph.order.iter().filter(|&&slot| !needed.contains(slot as usize));
        others.for_each(|&slot| included.remove(slot as usize));
    }
    if context.code.has_atomic_blocks() && !complete_blocks(graph, bug, &mut included) {
        return None;
    }
    if context.shared.purpose.contested_joins && !super::joins::has_one_winner(graph, &included) {
        return None;
    }
    if context.code.has_mailboxes() {
        return from_mailboxes(context, graph, bug, &included);
    }
    let nodes = order(graph, &included, bug.target, bug.forced)?;
    let mut steps = context.shared.world.opening.steps.clone();
    let mut emitter = Emitter::new(context, graph);
    for node in nodes {
        for part in graph.node_of(node) {
            if included.contains(part as usize) {
                emitter.emit(part, bug.target == Some(part), &mut steps);
            }
        }
        let holds_target = bug.target.is_some_and(|target| graph.same_node(target, node));
        if graph.event(node).block != NO_BLOCK && !holds_target {
            emitter.leave_block(node, &mut steps);
        }
    }
    if bug.target.is_none() {
        emitter.finish(&mut steps);
    }
    if let Some(thread) = bug.attempt {
        emitter.attempt(thread, &mut steps);
    }
    Some(Schedule { steps })
}

/// The schedule of a program with mailboxes: of what leads to the bug, or, if that is not the beginning of a run, of everything that does not follow from it.
fn from_mailboxes<M: Model>(context: &Context<'_>, graph: &Graph<M>, bug: &Bug, included: &BitSet) -> Option<Schedule> {
    let short = mailboxes::run_of(context, graph, included, bug.forced).filter(|order| match bug.target {
        Some(target) => order.last().is_some_and(|&last| graph.same_node(last, target)),
        None => true,
    });
    let (order, events, whole) = match short {
        Some(order) => (order, included.clone(), bug.target.is_none()),
        None => {
            let mut events = executed(graph);
            if let Some(target) = bug.target {
                // Nothing comes of an operation that fails.
                let after = graph.order.iter().filter(|&&slot| graph.before(target, slot));
                after.for_each(|&slot| events.remove(slot as usize));
                events.insert(target as usize);
            }
            (mailboxes::run_of(context, graph, &events, bug.forced)?, events, true)
        }
    };
    let (mut steps, mut emitter) = along(context, graph, &order, &events, bug.target);
    if whole {
        emitter.finish(&mut steps);
    }
    if let Some(thread) = bug.attempt {
        emitter.attempt(thread, &mut steps);
    }
    Some(Schedule { steps })
}

/// The steps of a program with mailboxes that execute these events in this order.
fn along<'a, 'c, M: Model>(
    context: &'a Context<'c>,
    graph: &'a Graph<M>,
    order: &[Slot],
    events: &BitSet,
    target: Option<Slot>,
) -> (Vec<Step>, Emitter<'a, 'c, M>) {
    let mut steps = context.shared.world.opening.steps.clone();
    let mut emitter = Emitter::new(context, graph);
    for (slot, node) in nodes_along(graph, order, events) {
        for part in node {
            if events.contains(part as usize) {
                emitter.emit(part, target == Some(part), &mut steps);
            }
        }
        // What makes no event is done before the looper goes on to the next message.
        let thread = graph.event(slot).thread;
        if graph.last(thread) == Some(slot) && target != Some(slot) {
            emitter.complete(thread, &mut steps);
        }
    }
    (steps, emitter)
}

/// The nodes of these events in this order, each with the event that comes last in it: an update happens when its last half does.
fn nodes_along<M: Model>(graph: &Graph<M>, order: &[Slot], events: &BitSet) -> Vec<(Slot, Vec<Slot>)> {
    let mut left = events.clone();
    let nodes = order.iter().map(|&slot| {
        left.remove(slot as usize);
        let node = graph.node_of(slot);
        let is_over = !node.iter().any(|&part| left.contains(part as usize));
        is_over.then_some((slot, node))
    });
    nodes.flatten().collect()
}

/// In a program with mailboxes, where the events in this order break a rule that `breaks` tells of for the parts of each node: the first part that does, and the run up to it.
pub(super) fn until_wrong<M: Model>(
    context: &Context<'_>,
    graph: &Graph<M>,
    order: &[Slot],
    events: &BitSet,
    mut breaks: impl FnMut(&Event) -> bool,
) -> Option<(Slot, Schedule)> {
    let mut done = BitSet::new();
    for (_, node) in nodes_along(graph, order, events) {
        let parts: Vec<Slot> = node.into_iter().filter(|&part| events.contains(part as usize)).collect();
        parts.iter().for_each(|&part| done.insert(part as usize));
        if let Some(&wrong) = parts.iter().find(|&&part| breaks(graph.event(part))) {
            let order: Vec<Slot> = order.iter().copied().filter(|&slot| done.contains(slot as usize)).collect();
            let (steps, _) = along(context, graph, &order, &done, Some(wrong));
            return Some((wrong, Schedule { steps }));
        }
    }
    None
}

/// What is executed of a graph: not what a thread waits for or has failed at.
pub(super) fn executed<M: Model>(graph: &Graph<M>) -> BitSet {
    included(graph, &Bug::end())
}

/// Whether every order of the graph's events interleaves some atomic block with others.
pub(crate) fn is_torn<M: Model>(graph: &Graph<M>) -> bool {
    is_torn_within(graph, graph.present())
}

/// The same of some of the events.
pub(super) fn is_torn_within<M: Model>(graph: &Graph<M>, events: &BitSet) -> bool {
    let mut included = executed(graph);
    graph
        .order
        .iter()
        .filter(|&&slot| !events.contains(slot as usize))
        .for_each(|&slot| included.remove(slot as usize));
    order(graph, &included, None, None).is_none()
}

/// An order of the included events, one of each node, that respects the global relation; `target` comes last.
fn order<M: Model>(
    graph: &Graph<M>,
    included: &BitSet,
    target: Option<Slot>,
    forced: Option<(Slot, Slot)>,
) -> Option<Vec<Slot>> {
    // A racing read half that comes first is executed with its write, so whoever else reads the same source is before it.
    let half = forced.map(|(first, _)| first).filter(|&first| graph.event(first).flags.contains(Flags::CONSUMES));
    let rivals: Vec<Slot> = half.map_or(Vec::new(), |half| {
        let reads = graph.location(graph.event(half).loc).reads.iter().copied();
        reads.filter(|&read| graph.event(read).rf == graph.event(half).rf && !graph.same_node(read, half)).collect()
    });
    let mut left: Vec<Slot> = graph.order.iter().copied().filter(|&slot| included.contains(slot as usize)).collect();
    let mut nodes = Vec::new();
    let mut done = BitSet::new();
    // What is included and not done: executions are long, so whether some of it comes before an event is asked by words.
    let mut pending = included.clone();
    let mut current = ThreadId::MAIN;
    while !left.is_empty() {
        let ready = |slot: Slot| {
            let waits = |at: Slot| {
                let forced = forced.is_some_and(|(first, second)| second == at && !done.contains(first as usize));
                let mut words = M::before(graph, at).iter().zip(pending.words()).enumerate();
                let takes = |at: Slot| {
                    Some(at) == half
                        && rivals.iter().any(|&read| included.contains(read as usize) && !done.contains(read as usize))
                };
                let last = |at: Slot| {
                    let others = graph.others_before(at);
                    others.iter().any(|&other| included.contains(other as usize) && !done.contains(other as usize))
                };
                forced
                    || takes(at)
                    || last(at)
                    || words.any(|(index, (before, pending))| {
                        let mut left = before & pending;
                        std::iter::from_fn(|| {
                            let bit = (left != 0).then(|| left.trailing_zeros())?;
                            left &= left - 1;
                            Some(index as Slot * 64 + bit)
                        })
                        .any(|other| !graph.same_node(other, at))
                    })
            };
            let node = graph.node_of(slot);
            // What the target leads to comes last.
            let here = node.iter().filter(|&&part| included.contains(part as usize)).count();
            let early = target.is_some_and(|target| node.contains(&target)) && left.len() > here;
            !early && node.iter().all(|&part| !included.contains(part as usize) || !waits(part))
        };
        let is_current = |slot: &Slot| graph.event(*slot).thread == current;
        let here = left.iter().copied().filter(is_current).find(|&slot| ready(slot));
        let next = here.or_else(|| left.iter().copied().find(|&slot| ready(slot)))?;
        current = graph.event(next).thread;
        for part in graph.node_of(next) {
            done.insert(part as usize);
            pending.remove(part as usize);
        }
        left.retain(|&slot| !done.contains(slot as usize));
        nodes.push(next);
    }
    Some(nodes)
}

/// Includes the rest of the atomic blocks that are included in part, and what they need. Returns whether that is possible:
/// a block that its thread has not left can only be the last thing that happens.
fn complete_blocks<M: Model>(graph: &Graph<M>, bug: &Bug, included: &mut BitSet) -> bool {
    loop {
        let mut missing = None;
        for &slot in &graph.order {
            let event = graph.event(slot);
            if event.block == NO_BLOCK || !included.contains(slot as usize) {
                continue;
            }
            if bug.target.is_some_and(|target| graph.same_node(target, slot)) {
                continue;
            }
            let tip = graph.tip(event.thread).expect("it has events");
            if tip.state.atomic_block() == Some(event.block) {
                return false;
            }
            missing = graph.node_of(slot).into_iter().find(|&part| !included.contains(part as usize)).or(missing);
        }
        let Some(slot) = missing else { return true };
        included.union_row(M::before(graph, slot));
        included.insert(slot as usize);
    }
}

/// The events that take part.
fn included<M: Model>(graph: &Graph<M>, bug: &Bug) -> BitSet {
    let mut included = BitSet::new();
    match bug.target {
        None => graph.order.iter().for_each(|&slot| included.insert(slot as usize)),
        Some(target) => {
            let also = bug.forced.map(|(first, _)| first);
            for slot in also.into_iter().chain([target]) {
                included.union_row(M::before(graph, slot));
                included.insert(slot as usize);
            }
        }
    }
    for &slot in &graph.order {
        let event = graph.event(slot);
        let wanted = bug.target.is_some_and(|target| graph.same_node(target, slot))
            || bug.forced.is_some_and(|(first, _)| graph.same_node(first, slot));
        // What a thread waits for or has failed at has no effect on others.
        let tip = graph.tip(event.thread).expect("it has events");
        let failed = matches!(tip.state.status(), Status::Failed(failure) if failure.pending);
        let idle = event.kind == Kind::Fault
            || event.flags.contains(Flags::BLOCKED)
            || (failed && event.kind == Kind::Read && event.operation == tip.state.operations());
        if idle && !wanted {
            included.remove(slot as usize);
        }
    }
    // An update whose write half is missing has failed there; it is not executed unless it is the point.
    for &slot in &graph.order {
        let event = graph.event(slot);
        let parts = graph.node_of(slot);
        if event.flags.contains(Flags::CONSUMES)
            && included.contains(slot as usize)
            && !parts.iter().any(|&part| graph.event(part).kind != Kind::Read && included.contains(part as usize))
            && bug.target != Some(slot)
            && bug.forced.is_none_or(|(first, _)| first != slot)
        {
            included.remove(slot as usize);
        }
    }
    included
}

impl<M: Model> Graph<M> {
    /// The slots that make up one node: an event, the parts of an update, or an atomic block.
    fn node_of(&self, slot: Slot) -> Vec<Slot> {
        let event = self.event(slot);
        let events = &self.threads[event.thread.index()].events;
        let belongs = |slot: &Slot| {
            let part = self.event(*slot);
            if event.block != NO_BLOCK {
                return part.block == event.block;
            }
            part.operation == event.operation && !matches!(part.kind, Kind::StoreFence | Kind::Fence)
        };
        let at = event.index as usize;
        let start = events[..at].iter().rev().take_while(|&slot| belongs(slot)).count();
        let end = events[at..].iter().take_while(|&slot| belongs(slot)).count();
        if belongs(&slot) { events[at - start..at + end].to_vec() } else { vec![slot] }
    }

    fn same_node(&self, a: Slot, b: Slot) -> bool {
        let (a, b) = (self.event(a), self.event(b));
        a.thread == b.thread && (a.operation == b.operation || (a.block != NO_BLOCK && a.block == b.block))
    }
}

/// Writes nodes down as steps.
struct Emitter<'a, 'c, M: Model> {
    context: &'a Context<'c>,
    graph: &'a Graph<M>,
    /// Per thread: how many of its operations have been executed, once it is started.
    threads: Vec<Option<u32>>,
    /// Writes that have been issued and not flushed, per thread.
    buffered: Vec<Vec<Slot>>,
    /// Writes that have been issued.
    issued: BitSet,
    /// The arrivals at barriers so far, in their order.
    arrived: Vec<Slot>,
    /// The departures from barriers so far that were no steps of their own.
    at_once: Vec<Slot>,
}

impl<'a, 'c, M: Model> Emitter<'a, 'c, M> {
    fn new(context: &'a Context<'c>, graph: &'a Graph<M>) -> Self {
        let mut threads = vec![None; graph.threads.len()];
        threads[0] = Some(context.shared.world.main.operations());
        let buffered = vec![Vec::new(); graph.threads.len()];
        Emitter { context, graph, threads, buffered, issued: BitSet::new(), arrived: Vec::new(), at_once: Vec::new() }
    }

    /// Executes the operations of a thread up to and including this one.
    fn run_through(&mut self, thread: ThreadId, operation: u32, steps: &mut Vec<Step>) {
        let mut done = self.threads[thread.index()].expect("started before it runs");
        while done <= operation {
            if !self.leaves_at_once(thread, done) {
                steps.push(self.step(thread, done));
            }
            let events = self.graph.threads[thread.index()].events.iter().copied();
            let part = |slot: &Slot| self.graph.event(*slot).operation == done;
            let issued: Vec<Slot> =
                events.filter(part).filter(|&slot| self.graph.event(slot).kind == Kind::Write).collect();
            issued.iter().for_each(|&slot| self.issued.insert(slot as usize));
            let kept: Vec<Slot> = issued.into_iter().filter(|&slot| self.arrival(slot).is_some()).collect();
            self.buffered[thread.index()].extend(kept);
            done += 1;
        }
        self.threads[thread.index()] = Some(done);
    }

    /// Whether the operation is leaving a barrier to which the thread came last, which is no step of its own. Notes arrivals.
    fn leaves_at_once(&mut self, thread: ThreadId, operation: u32) -> bool {
        if self.graph.arrivals.is_empty() {
            return false;
        }
        let events = &self.graph.threads[thread.index()].events;
        let part = |slot: &&Slot| self.graph.event(**slot).operation == operation;
        let Some(&slot) = events.iter().find(part) else { return false };
        let event = self.graph.event(slot);
        match event.kind {
            Kind::Arrive => self.arrived.push(slot),
            Kind::Depart => {
                let members = self.graph.met(event);
                let last = self.arrived.iter().rev().find(|&arrival| members.contains(arrival));
                let at_once = last.is_some_and(|&last| self.graph.event(last).thread == thread);
                if at_once {
                    self.at_once.push(slot);
                }
                return at_once;
            }
            _ => {}
        }
        false
    }

    /// The step that executes an operation.
    fn step(&self, thread: ThreadId, operation: u32) -> Step {
        let slots = self.graph.threads[thread.index()].events.iter().copied();
        let parts: Vec<Slot> = slots.filter(|&slot| self.graph.event(slot).operation == operation).collect();
        let find = |kind: Kind| parts.iter().copied().find(|&slot| self.graph.event(slot).kind == kind);
        let choice = find(Kind::Choose).map(|slot| self.graph.event(slot).value as u32);
        if !M::NAMED {
            return choice.map_or(Step::Run(thread), |choice| Step::Choose(thread, choice));
        }
        // A fence is no access to the machine, which puts fences into the order in which it comes to them.
        let access = parts.iter().copied().find(|&slot| {
            let event = self.graph.event(slot);
            matches!(event.kind, Kind::Read | Kind::Write | Kind::Arrive | Kind::Depart)
                && !event.flags.contains(Flags::FENCE)
        });
        let Some(slot) = access else {
            return choice.map_or(Step::Run(thread), |choice| Step::Choose(thread, choice));
        };
        let event = self.graph.event(slot);
        let met = self
            .arrived
            .iter()
            .copied()
            .filter(|&arrival| arrival != slot && self.graph.event(arrival).loc == event.loc);
        if event.kind == Kind::Write {
            let order = self.graph.location(event.loc).co.iter().take_while(|&&other| other != slot);
            let before = order.filter(|&&other| self.issued.contains(other as usize)).count() + met.count();
            return Step::WriteAt(thread, if M::ORDERED { before as u32 } else { 0 });
        }
        // To the machine an arrival is an update, and what comes after it finds it there.
        let source = match event.kind {
            Kind::Depart => {
                let members = self.graph.met(event);
                met.filter(|arrival| members.contains(arrival)).last()
            }
            Kind::Arrive => met.last().or(self.graph.location(event.loc).co.last().copied()),
            _ => met.last().or(Some(event.rf)),
        };
        Step::ReadFrom(thread, source.filter(|&source| source != INIT).map(|source| self.name(source)), choice)
    }

    /// What the machine calls a write that has been issued.
    fn name(&self, write: Slot) -> EventId {
        let Event { thread, operation, .. } = *self.graph.event(write);
        let departures = self.at_once.iter().map(|&slot| self.graph.event(slot));
        let skipped = departures.filter(|event| event.thread == thread && event.operation < operation).count();
        EventId::new(thread, operation - skipped as u32)
    }

    fn emit(&mut self, slot: Slot, target: bool, steps: &mut Vec<Step>) {
        let event = *self.graph.event(slot);
        let thread = event.thread;
        let done = self.threads[thread.index()].expect("started before it runs");
        if event.kind == Kind::Spawn {
            self.threads[event.value as usize] = Some(0);
        }
        if event.kind == Kind::Join {
            self.complete(ThreadId(event.value as u32), steps);
        }
        // The fence after a store is executed with whatever the thread does next.
        let belongs_to_store = match event.kind {
            Kind::Fence | Kind::StoreFence => {
                let parts = self.graph.threads[thread.index()].events.iter().map(|&slot| self.graph.event(slot));
                parts.filter(|part| part.operation == event.operation).any(|part| part.kind == Kind::Write)
                    || self.stores_next(thread, event.operation)
            }
            _ => false,
        };
        if belongs_to_store {
            return;
        }
        if done <= event.operation {
            self.run_through(thread, event.operation, steps);
        }
        // What is wrong with a store shows when it is issued, unless it was issued long before.
        if let Some(step) = self.arrival(slot)
            && !(target && done <= event.operation)
        {
            self.buffered[thread.index()].retain(|&other| other != slot);
            steps.push(step);
        }
    }

    /// The step by which an event reaches memory, if it is a write that is issued in another one.
    fn arrival(&self, slot: Slot) -> Option<Step> {
        let event = self.graph.event(slot);
        let addr = (event.kind == Kind::Write).then(|| self.context.view.access(event.loc).addr)?;
        M::arrival(event, addr)
    }

    /// Empties the buffer of a thread.
    fn drain(&mut self, thread: ThreadId, steps: &mut Vec<Step>) {
        let waiting = std::mem::take(&mut self.buffered[thread.index()]);
        steps.extend(waiting.into_iter().filter_map(|slot| self.arrival(slot)));
    }

    /// Executes what a thread did after its last event, and its pending operation if it is that which is wrong: it fails, or waits
    /// and looks in vain.
    fn attempt(&mut self, thread: ThreadId, steps: &mut Vec<Step>) {
        self.complete(thread, steps);
        let Some(tip) = self.graph.tip(thread) else { return };
        let done = self.threads[thread.index()].expect("started before it fails");
        let pending =
            tip.stage == Stage::Waiting || matches!(tip.state.status(), Status::Failed(failure) if failure.pending);
        if pending && done == tip.state.operations() {
            self.drain(thread, steps);
            steps.push(Step::Run(thread));
        }
    }

    /// Leaves the atomic block that the event is in.
    fn leave_block(&mut self, slot: Slot, steps: &mut Vec<Step>) {
        let event = self.graph.event(slot);
        let events = self.graph.threads[event.thread.index()].events.iter().map(|&slot| self.graph.event(slot));
        let next = events.skip_while(|other| other.block != event.block).find(|other| other.block != event.block);
        let tip = self.graph.tip(event.thread).expect("it has events");
        // Up to the next event, but not into the next block.
        let end = match next {
            Some(next) if next.block != NO_BLOCK => next.block,
            Some(next) => next.operation,
            None => tip.state.atomic_block().unwrap_or(tip.state.operations()),
        };
        if let Some(last) = end.checked_sub(1) {
            self.run_through(event.thread, last, steps);
        }
    }

    /// Whether the pending operation of the thread is the store that a store-store fence was added for.
    fn stores_next(&self, thread: ThreadId, operation: u32) -> bool {
        self.graph.tip(thread).is_some_and(|tip| {
            tip.state.operations() == operation && matches!(tip.state.status(), Status::Ready(Visible::Store { .. }))
        })
    }

    /// Executes what is left of every thread but makes no events: fences that mean nothing, joins that nothing follows.
    fn finish(&mut self, steps: &mut Vec<Step>) {
        for index in 0..self.graph.threads.len() {
            self.complete(ThreadId(index as u32), steps);
        }
        if let Some(main) = self.graph.tip(ThreadId::MAIN) {
            steps.extend((0..self.graph.joins_behind(main)).map(|_| Step::Run(ThreadId::MAIN)));
        }
    }

    /// Executes what is left of a thread.
    fn complete(&mut self, thread: ThreadId, steps: &mut Vec<Step>) {
        let started = self.threads.get(thread.index()).is_some_and(Option::is_some);
        if let Some(tip) = self.graph.tip(thread).filter(|_| started)
            && let Some(last) = tip.state.operations().checked_sub(1)
        {
            self.run_through(thread, last, steps);
        }
    }
}
