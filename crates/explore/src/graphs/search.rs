//! The search: a stack of graphs, each with a stack of branching points.
//!
//! A *frame* is a node of the search tree: the next event of some thread and the options not yet tried. Options are
//! applied to the graph in place and taken back in reverse. A backward revisit opens a new *level*: a graph of its
//! own with the kept events, at whose bottom a frame tries the places of the revisiting write. Levels nest at most as
//! deep as there are writes. A level is a value that shares only immutable thread states with others, so a frame's
//! untried options can be given to another worker as a level of their own.

use super::apply::Applied;
use super::blocks::is_torn_for_ever;
use super::branch::{Branch, Frame, Level, read_branch, take_back, write_branch};
use super::context::Context;
use super::event::{Event, Flags, INIT, Kind, NO_BLOCK, NO_LOC, NO_SOURCE, Slot};
use super::graph::{Equivalence, Graph};
use super::mailboxes::is_hopeless;
use super::meetings::{answers, may_leave};
use super::models::Model;
use super::snapshot::{Node, Rest, Stage};
use super::sources::may_block;
use super::step::{Bug, Halt, settle};
use crate::world::Initial;
use raddle_engine::{Statistics, StopReason};
use raddle_machine::{Automaton, Meeting, Reaction, Status, Thread, Visible};
use raddle_program::{Mailbox, Ordering};
use raddle_trace::{Property, Schedule, ThreadId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// What the search tells its driver.
pub(crate) enum Tick {
    /// There is more to do.
    More,
    /// Everything has been explored.
    Done,
    /// Something is wrong in the current graph; the search can go on.
    Bug(Bug),
    /// The search cannot go on.
    Halt(Halt),
}
/// How ready a thread is.
#[derive(PartialEq, Eq)]
enum Readiness {
    No,
    /// It waits for a value that is not there now; to be taken only if nobody else can move.
    Late,
    Yes,
}
/// What these engines count beside what all do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Ends in which a waiting thread had only not looked again; not executions.
    pub(crate) moot: u64,
    /// Updates tried on a source that another update had consumed; they extend no execution.
    pub(crate) probes: u64,
    /// Backward revisits.
    pub(crate) revisits: u64,
    /// How often an order of writes was looked for that explains what was read.
    pub(crate) questions: u64,
    /// How often there was none.
    pub(crate) unrealisable: u64,
    /// Ends of classes that had been met, where these are remembered; not counted as executions.
    pub(crate) repeated: u64,
}

impl Counters {
    pub(crate) fn add(&mut self, other: Counters) {
        self.moot += other.moot;
        self.probes += other.probes;
        self.revisits += other.revisits;
        self.questions += other.questions;
        self.unrealisable += other.unrealisable;
        self.repeated += other.repeated;
    }

    pub(crate) fn named(self) -> Vec<(&'static str, u64)> {
        let Counters { moot, probes, revisits, questions, unrealisable, repeated } = self;
        let mut named = vec![
            ("moot", moot),
            ("probes", probes),
            ("revisits", revisits),
            ("questions", questions),
            ("unrealisable", unrealisable),
        ];
        // Only where classes are remembered.
        named.extend((repeated > 0).then_some(("repeated", repeated)));
        named
    }
}

/// A search over all graphs reachable from one level.
pub(crate) struct Search<'c, M: Model> {
    pub(crate) context: Context<'c>,
    pub(super) levels: Vec<Level<M>>,
    pub(super) pool: Vec<Level<M>>,
    pub(crate) statistics: Statistics,
    pub(crate) counters: Counters,
    /// What the first executions say about values.
    /// Runs of the classes met, if they are to be kept.
    pub(crate) schedules: Vec<Schedule>,
    /// Share of the search tree done.
    pub(crate) done: f64,
    depth: usize,
    pub(super) bugs: Vec<Bug>,
    /// Instructions of racing writes whose races have been reported.
    pub(super) known_races: FxHashSet<u32>,
    /// Instructions of which the second has been reported to come after the end of a life by the first.
    pub(super) known_ends: FxHashSet<(u32, u32)>,
    pub(super) error: Option<Halt>,
    /// The next tick takes back an option instead of extending the graph.
    backtrack: bool,
    #[cfg(debug_assertions)]
    pub(super) audit: super::audit::Audit,
    /// The deepest place of a cut-off execution.
    pub(crate) cut_at: Option<u32>,
    /// A loop that reached its bound.
    pub(crate) bounded_at: Option<u32>,
}

impl<'c, M: Model> Search<'c, M> {
    pub(crate) fn new(context: Context<'c>, depth: usize) -> Self {
        Search {
            context,
            levels: Vec::new(),
            pool: Vec::new(),
            statistics: Statistics::default(),
            counters: Counters::default(),
            schedules: Vec::new(),
            done: 0.0,
            depth,
            bugs: Vec::new(),
            known_races: FxHashSet::default(),
            known_ends: FxHashSet::default(),
            error: None,
            backtrack: false,
            #[cfg(debug_assertions)]
            audit: super::audit::Audit::default(),
            cut_at: None,
            bounded_at: None,
        }
    }

    /// The root of the search tree.
    pub(crate) fn root(&mut self) -> Level<M> {
        let main = self.context.shared.world.main.clone();
        let node = Node::new(main, Stage::Fresh, NO_LOC, None);
        let mut graph = Graph::new(self.context.shared.purpose.equivalence, Arc::new(node));
        let main = (*self.context.shared.world.main).clone();
        let main = settle(&mut self.context, &graph, None, main, &mut self.error);
        graph.threads[0].tip = Some(main);
        Level { graph, frames: Vec::new() }
    }

    /// Starts on a level.
    pub(crate) fn start(&mut self, mut level: Level<M>) {
        debug_assert!(self.levels.is_empty());
        level.graph.unshare();
        // A level that was given away has options but none applied; the root has nothing yet.
        self.backtrack = !level.frames.is_empty();
        self.levels.push(level);
    }

    /// The graph at hand.
    pub(crate) fn graph(&self) -> &Graph<M> {
        &self.levels.last().expect("the search is not over").graph
    }

    /// How many events the graph at hand has.
    pub(crate) fn events(&self) -> usize {
        self.levels.last().map_or(0, |level| level.graph.order.len())
    }

    /// Whether it is on its way to the end of an execution, rather than looking for what is left to explore.
    pub(crate) fn explores(&self) -> bool {
        !self.backtrack
    }

    /// One step of the search.
    pub(crate) fn tick(&mut self) -> Tick {
        // What seems wrong where updates do not commute rests on a value that nobody wrote.
        if matches!(self.error, Some(Halt::DoesNotCommute(_) | Halt::ContestedBarrier(_) | Halt::ContestedJoin)) {
            self.bugs.clear();
        }
        if let Some(bug) = self.bugs.pop() {
            if bug.property == Property::Race && bug.schedule.is_some() {
                self.known_races.insert(bug.pc);
            }
            return Tick::Bug(bug);
        }
        if let Some(error) = self.error.take() {
            return Tick::Halt(error);
        }
        if !self.backtrack && !self.extend() {
            return Tick::More;
        }
        // What was wrong in the last graphs, which were dropped, is told first.
        if !self.advance() && self.bugs.is_empty() && self.error.is_none() {
            return Tick::Done;
        }
        Tick::More
    }

    /// Picks the next event and makes a frame for it, or ends the execution. Returns whether there is a frame.
    fn extend(&mut self) -> bool {
        let graph = &self.levels.last().expect("the search is not over").graph;
        if graph.order.len() >= self.depth {
            self.cut();
            return false;
        }
        self.backtrack = true;
        let Some(thread) = self.pick() else {
            self.leaf();
            return false;
        };
        match self.expand(thread) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }

    /// The thread that moves next: one between the halves of an update, else the first that is ready, those inside of an atomic block before others,
    /// which may wait for the rest of it, and in the order of their blocks; else the first that waits.
    fn pick(&mut self) -> Option<ThreadId> {
        let level = self.levels.last().expect("the search is not over");
        let graph = &level.graph;
        let updating = |thread: ThreadId| {
            graph.tip(thread).is_some_and(|tip| matches!(tip.stage, Stage::Picking { .. } | Stage::Updating { .. }))
        };
        // Only the event added last can be a read half.
        if let Some(thread) = level.frames.last().map(|frame| frame.branch.mover())
            && updating(thread)
        {
            return Some(thread);
        }
        let threads = (0..graph.threads.len() as u32).map(ThreadId);
        let has_blocks = self.context.code.has_atomic_blocks();
        let mut is_ready = |thread| matches!(readiness(&mut self.context, graph, thread), Readiness::Yes);
        if has_blocks && let Some(thread) = super::blocks::first_inside(graph, &mut is_ready) {
            return Some(thread);
        }
        let mut late = None;
        let barriers = self.context.barriers;
        for thread in threads {
            debug_assert!(!updating(thread), "halves of an update are never separated");
            match graph.tip(thread).map_or(Rest::Over, |tip| tip.rest) {
                Rest::Finished | Rest::Over | Rest::Tail => continue,
                Rest::Free if !barriers => return Some(thread),
                _ => {}
            }
            match readiness(&mut self.context, graph, thread) {
                Readiness::Yes => return Some(thread),
                Readiness::Late if late.is_none() => late = Some(thread),
                _ => {}
            }
        }
        late
    }

    /// The share of the tree that the current node stands for.
    pub(super) fn weight(&self) -> f64 {
        self.levels.iter().rev().find_map(|level| level.frames.last()).map_or(1.0, |frame| frame.weight)
    }

    /// Makes the frame for the next event of a thread. No option is applied yet.
    fn expand(&mut self, thread: ThreadId) -> Result<(), Halt> {
        let weight = self.weight();
        let level = self.levels.last_mut().expect("the search is not over");
        let graph = &mut level.graph;
        let node = graph.tip(thread).expect("it was picked").clone();
        let state = &*node.state;
        let Status::Ready(visible) = *state.status() else { unreachable!("it was picked") };
        let event = Event {
            kind: Kind::Note,
            flags: Flags::default(),
            order: Ordering::Relaxed,
            thread,
            index: graph.threads[thread.index()].events.len() as u32,
            operation: state.operations(),
            block: state.atomic_block().unwrap_or(NO_BLOCK),
            pc: state.pc(),
            loc: NO_LOC,
            rf: INIT,
            value: 0,
            made: state.made(),
            previous: INIT,
        };
        let single = |event: Event| Branch::Single { event, done: false };
        let meeting = if self.context.barriers { state.meeting(self.context.code) } else { None };
        let branch = match (visible, node.stage) {
            (Visible::Update { order, .. }, _) if meeting.is_some() => {
                single(Event { kind: Kind::Arrive, order, loc: node.loc, rf: NO_SOURCE, ..event })
            }
            (Visible::Load { order, .. }, _) if let Some(Meeting { asks, .. }) = meeting => {
                let event = Event { kind: Kind::Depart, order, loc: node.loc, rf: NO_SOURCE, ..event };
                Branch::Depart { event, answers: answers(graph, &event, asks), next: 0 }
            }
            (Visible::Store { order, .. }, Stage::Stored) => {
                let kind = M::fence_after_store(order).expect("it has been asked for");
                single(Event { kind, order: Ordering::Relaxed, ..event })
            }
            (Visible::Store { order, value, .. }, stage) => {
                let fence = || M::fence_before_store(graph, thread, order);
                if stage == Stage::Fresh
                    && event.block == NO_BLOCK
                    && let Some(kind) = fence()
                {
                    single(Event { kind, ..event })
                } else {
                    let event = Event { kind: Kind::Write, order, loc: node.loc, value, ..event };
                    write_branch(&mut self.context, graph, event, None)
                }
            }
            (Visible::Load { order, wait, .. }, _) => {
                read_branch(&mut self.context, graph, Event { kind: Kind::Read, order, loc: node.loc, ..event }, wait)
            }
            (Visible::Update { order, .. }, Stage::Fresh)
                if self.context.commuting
                    && let Some((kind, operand)) = state.blind_update(self.context.code) =>
            {
                single(Event {
                    kind: Kind::Blind,
                    flags: Flags::blind(kind),
                    order,
                    loc: node.loc,
                    rf: NO_SOURCE,
                    value: operand,
                    ..event
                })
            }
            (Visible::Update { order, wait, mutex, .. }, Stage::Fresh) => {
                let loc = node.loc;
                let flags = Flags::LOCKED.with_if(mutex, Flags::MUTEX).with_if(mutex && wait, Flags::LOCK);
                read_branch(&mut self.context, graph, Event { kind: Kind::Read, flags, order, loc, ..event }, wait)
            }
            (Visible::Update { .. }, Stage::Picking { count, .. }) => {
                Branch::Choose { event: Event { kind: Kind::Choose, ..event }, count, next: 0 }
            }
            (Visible::Update { order, mutex, .. }, Stage::Updating { new, .. }) => {
                let loc = node.loc;
                let flags = Flags::LOCKED.with_if(mutex, Flags::MUTEX);
                let source = graph.update_source(thread);
                let event = Event { kind: Kind::Write, flags, order, loc, value: new, ..event };
                write_branch(&mut self.context, graph, event, Some(source))
            }
            (Visible::Fence { order }, stage) if M::fence_updates(order) => {
                let (flags, loc) = (Flags::LOCKED.with(Flags::FENCE), node.loc);
                match stage {
                    Stage::Updating { new, .. } => {
                        let source = graph.update_source(thread);
                        let event = Event { kind: Kind::Write, flags, order, loc, value: new, ..event };
                        write_branch(&mut self.context, graph, event, Some(source))
                    }
                    _ => {
                        let event = Event { kind: Kind::Read, flags, order, loc, ..event };
                        read_branch(&mut self.context, graph, event, false)
                    }
                }
            }
            (Visible::Fence { order }, _) => {
                let kind = M::fence(order).unwrap_or(Kind::Note);
                single(Event { kind, order, ..event })
            }
            (Visible::Choose { count }, _) => {
                Branch::Choose { event: Event { kind: Kind::Choose, ..event }, count, next: 0 }
            }
            (Visible::Take { mailbox }, _) => {
                let event = Event { kind: Kind::Take, ..event };
                let never = self.context.shared.purpose.is_stuck(mailbox);
                let answers = if never { SmallVec::from_slice(&[0, 1]) } else { SmallVec::from_slice(&[0]) };
                Branch::Depart { event, answers, next: 0 }
            }
            (Visible::Spawn { mailbox, .. }, _) => {
                let Some(child) = state.next_child(self.context.code) else {
                    let (why, at) = (raddle_trace::threads::TOO_MANY.to_owned(), self.context.code.place(event.pc));
                    return Err(Halt::Stop(StopReason::GaveUp { why, at }));
                };
                let queue = mailbox.and_then(|looper| self.context.code.mailbox(looper)) == Some(Mailbox::Queue);
                let flags = event.flags.with_if(queue, Flags::QUEUE);
                single(Event { kind: Kind::Spawn, flags, value: u64::from(child.0), ..event })
            }
            (Visible::Join { thread }, _) => {
                let event = Event { kind: Kind::Join, value: u64::from(thread.0), ..event };
                let contested = self.context.shared.purpose.contested_joins;
                if contested { Branch::Join { event, next: 0 } } else { single(event) }
            }
            (Visible::Free { addr, .. }, _) => single(Event { kind: Kind::Free, value: addr.0, ..event }),
            // Entering an atomic block drains the buffer; leaving one means nothing, and is skipped.
            (Visible::AtomicBegin, _) => single(Event { kind: Kind::Fence, block: event.operation, ..event }),
            (visible, stage) => unreachable!("{visible:?} is never at {stage:?}"),
        };
        let options = branch.options();
        if options == 0 {
            self.done += weight;
        }
        if matches!(&branch, Branch::Write { next, low, .. } if next < low) {
            self.counters.probes += 1;
        }
        let mark = graph.mark();
        level.frames.push(Frame { branch, mark, added: 0, weight: weight / options.max(1) as f64 });
        Ok(())
    }

    /// Takes back the current option of the top frame and applies the next; drops what is exhausted. Returns whether
    /// there was anything left.
    fn advance(&mut self) -> bool {
        loop {
            let Some(level) = self.levels.last_mut() else { return false };
            let Some(frame) = level.frames.last_mut() else {
                let level = self.levels.pop().expect("just looked at");
                self.pool.push(level);
                continue;
            };
            take_back(&mut level.graph, frame);
            let weight = frame.weight;
            match self.apply() {
                Applied::Option => {
                    let graph = &self.levels.last().expect("just looked at").graph;
                    let hopeless = self.context.code.has_mailboxes() && is_hopeless(&mut self.context, graph);
                    if hopeless || self.context.code.has_atomic_blocks() && is_torn_for_ever(graph) {
                        if hopeless {
                            // Of two things in the wrong order one may have a run, though both together have none.
                            for bug in std::mem::take(&mut self.bugs) {
                                let schedule = self.schedule(&bug);
                                self.bugs.extend(schedule.map(|found| Bug { schedule: Some(found), ..bug }));
                            }
                        }
                        // What seems wrong in it happens in an execution, if at all; what comes with a run does.
                        self.bugs.retain(|bug| bug.schedule.is_some());
                        self.done += weight;
                        continue;
                    }
                    self.backtrack = false;
                    return true;
                }
                Applied::Dead(options) => self.done += weight * options as f64,
                Applied::Level(level) => {
                    if level.frames[0].branch.options() == 0 {
                        self.done += weight;
                    }
                    self.levels.push(*level);
                    self.counters.revisits += 1;
                }
                Applied::Exhausted => {
                    self.levels.last_mut().expect("just looked at").frames.pop();
                }
            }
        }
    }

    /// An execution that is too long.
    fn cut(&mut self) {
        let graph = self.graph();
        let busiest = graph.threads.iter().max_by_key(|log| log.events.len());
        self.cut_at = busiest.and_then(|log| log.tip.as_ref()).map(|tip| tip.state.pc());
        self.statistics.cut += 1;
        self.done += self.weight();
        self.backtrack = true;
    }

    /// The run of the machine that shows a bug of the current graph; `None` if it would tear an atomic block.
    pub(crate) fn schedule(&mut self, bug: &Bug) -> Option<Schedule> {
        if let Some(schedule) = &bug.schedule {
            return Some(schedule.clone());
        }
        let graph = &self.levels.last().expect("the search is not over").graph;
        let schedule = super::linearise::schedule(&self.context, graph, bug)?;
        // Races between messages are looked for along runs, and a thread that races goes no further.
        if self.context.code.has_mailboxes() && self.context.looks_for_races() {
            let (code, model) = (self.context.code, self.context.shared.options.model);
            if let Some(race) = super::mailboxes::race_along(code, model, &schedule) {
                self.bugs.push(race);
                return None;
            }
        }
        Some(schedule)
    }

    /// Drops what is left to explore.
    pub(crate) fn abandon(&mut self) {
        self.levels.clear();
        self.bugs.clear();
    }

    /// Gives away the oldest untried options, for another worker.
    pub(crate) fn split(&mut self) -> Option<Level<M>> {
        for level in &mut self.levels {
            for at in 0..level.frames.len() {
                if level.frames[at].branch.untried() == 0 {
                    continue;
                }
                let mut given = level.clone();
                while given.frames.len() > at + 1 {
                    let mut frame = given.frames.pop().expect("longer than that");
                    take_back(&mut given.graph, &mut frame);
                }
                let frame = &mut given.frames[at];
                let mut bottom = frame.clone();
                take_back(&mut given.graph, &mut bottom);
                given.frames = vec![bottom];
                level.frames[at].branch.exhaust();
                return Some(given);
            }
        }
        None
    }
}

fn readiness<M: Model>(context: &mut Context<'_>, graph: &Graph<M>, thread: ThreadId) -> Readiness {
    let Some(tip) = graph.tip(thread) else { return Readiness::No };
    let Status::Ready(visible) = tip.state.status() else { return Readiness::No };
    if tip.stage == Stage::Waiting {
        return Readiness::No;
    }
    if context.barriers
        && let Some(Meeting { arrived: true, asks }) = tip.state.meeting(context.code)
    {
        return if may_leave(context, graph, thread, asks) { Readiness::Yes } else { Readiness::No };
    }
    match *visible {
        Visible::Load { wait: true, .. } | Visible::Update { wait: true, .. } => {
            if graph.equivalence == Equivalence::ReadsFrom {
                return if may_block(context, graph, tip) { Readiness::Late } else { Readiness::Yes };
            }
            let loc = tip.loc;
            let last = graph.location(loc).co.last().copied().unwrap_or(INIT);
            match context.value(graph, loc, last) {
                Initial::Value(value) if tip.state.reaction(context.code, value) == Reaction::Block => Readiness::Late,
                _ => Readiness::Yes,
            }
        }
        Visible::Take { .. } => match graph.may_take(thread) {
            None => Readiness::No,
            Some(true) => Readiness::Late,
            Some(false) => Readiness::Yes,
        },
        Visible::Join { thread: child } if super::joins::may_come_first(context, graph, thread, child) => {
            Readiness::Yes
        }
        Visible::Join { thread } => match graph.state(thread).map(Thread::status) {
            // After the end of the program nobody goes on.
            Some(Status::Finished { exit: false, .. }) | None => Readiness::Yes,
            Some(_) => Readiness::No,
        },
        _ => Readiness::Yes,
    }
}
impl<M: Model> Graph<M> {
    /// The source of the read half that the last events of a thread belong to.
    pub(super) fn update_source(&self, thread: ThreadId) -> Slot {
        let events = &self.threads[thread.index()].events;
        let half = events.iter().rev().map(|&slot| self.event(slot)).find(|event| event.kind == Kind::Read);
        half.expect("an update has a read half").rf
    }
}
