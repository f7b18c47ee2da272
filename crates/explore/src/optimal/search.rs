//! The search: a stack of graphs, each with a stack of branching points.
//!
//! A *frame* is a node of the search tree: the next event of some thread and the options not yet tried. Options are
//! applied to the graph in place and taken back in reverse. A backward revisit opens a new *level*: a graph of its
//! own with the kept events, at whose bottom a frame tries the places of the revisiting write. Levels nest at most as
//! deep as there are writes. A level is a value that shares only immutable thread states with others, so a frame's
//! untried options can be given to another worker as a level of their own.

use super::context::{Context, Initial};
use super::event::{Event, Flags, INIT, Kind, NO_LOC, Slot};
use super::graph::Graph;
use super::revisit::Candidates;
use super::snapshot::{Node, Stage};
use crate::outcome::{Error, Statistics};
use raddle_machine::{Access, Addr, Blocked, Reaction, Status, Thread, Visible};
use raddle_program::Ordering;
use raddle_trace::{Model, Property, ThreadId};
use std::sync::Arc;

/// Something wrong in the current graph.
#[derive(Clone, Copy, Debug)]
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
}

/// A branching point: what is added, and what has not been tried.
#[derive(Clone, Debug)]
enum Branch {
    /// A read; `next` is the coherence position of the source to try next, down to `floor`.
    Read { event: Event, next: isize, floor: isize, wait: bool },
    /// A write; `next` is the coherence position to try next, down to `low`; then the reads to revisit.
    Write { event: Event, next: isize, low: isize, candidates: Candidates },
    /// A choice.
    Choose { event: Event, count: u32, next: u32 },
    /// An event without alternatives.
    Single { event: Event, done: bool },
    /// A write that revisits a read: places for the write, down to `low`.
    Revisit { write: Event, read: Event, stamp: usize, remove: bool, next: isize, low: isize },
}

#[derive(Clone, Debug)]
struct Frame {
    branch: Branch,
    /// How the rows looked before.
    mark: usize,
    /// Events that the current option added: 0, 1 or 2.
    added: u8,
    /// The share of the search tree that each option stands for.
    weight: f64,
}

/// A graph and the branching points on the way to it.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    graph: Graph,
    frames: Vec<Frame>,
}

/// What the search tells its driver.
pub(crate) enum Tick {
    /// There is more to do.
    More,
    /// Everything has been explored.
    Done,
    /// Something is wrong in the current graph; the search can go on.
    Bug(Bug),
    /// No verdict is possible.
    Error(Error),
}

/// How ready a thread is.
#[derive(PartialEq, Eq)]
enum Readiness {
    No,
    /// It waits for a value that is not there now; to be taken only if nobody else can move.
    Late,
    Yes,
}

/// A search over all graphs reachable from one level.
pub(crate) struct Search<'c> {
    pub(crate) context: Context<'c>,
    levels: Vec<Level>,
    pool: Vec<Level>,
    pub(crate) statistics: Statistics,
    /// Share of the search tree done.
    pub(crate) done: f64,
    depth: usize,
    bugs: Vec<Bug>,
    error: Option<Error>,
    /// The next tick takes back an option instead of extending the graph.
    backtrack: bool,
    /// The deepest place of a cut-off execution.
    pub(crate) cut_at: Option<u32>,
    /// A loop that reached its bound.
    pub(crate) bounded_at: Option<u32>,
}

impl<'c> Search<'c> {
    pub(crate) fn new(context: Context<'c>, depth: usize) -> Self {
        Search {
            context,
            levels: Vec::new(),
            pool: Vec::new(),
            statistics: Statistics::default(),
            done: 0.0,
            depth,
            bugs: Vec::new(),
            error: None,
            backtrack: false,
            cut_at: None,
            bounded_at: None,
        }
    }

    /// The root of the search tree.
    pub(crate) fn root(&mut self) -> Level {
        let main = self.context.shared.main.clone();
        let node = Node { state: main, stage: Stage::Fresh, loc: NO_LOC, spawns: 0, parent: None };
        let mut graph = Graph::new(self.context.model, Arc::new(node));
        let main = (*self.context.shared.main).clone();
        let main = settle(&mut self.context, &graph, None, main, 0, &mut self.error);
        graph.threads[0].tip = Some(main);
        Level { graph, frames: Vec::new() }
    }

    /// Starts on a level.
    pub(crate) fn start(&mut self, level: Level) {
        debug_assert!(self.levels.is_empty());
        // A level that was given away has options but none applied; the root has nothing yet.
        self.backtrack = !level.frames.is_empty();
        self.levels.push(level);
    }

    /// The graph at hand.
    pub(crate) fn graph(&self) -> &Graph {
        &self.levels.last().expect("the search is not over").graph
    }

    /// One step of the search.
    pub(crate) fn tick(&mut self) -> Tick {
        if let Some(bug) = self.bugs.pop() {
            return Tick::Bug(bug);
        }
        if let Some(error) = self.error.take() {
            return Tick::Error(error);
        }
        if self.backtrack {
            if !self.advance() {
                return Tick::Done;
            }
        } else {
            self.extend();
        }
        Tick::More
    }

    /// Picks the next event and makes a frame for it, or ends the execution.
    fn extend(&mut self) {
        let graph = &self.levels.last().expect("the search is not over").graph;
        if graph.order.len() >= self.depth {
            self.cut();
            return;
        }
        match self.pick() {
            Some(thread) => {
                if let Err(error) = self.expand(thread) {
                    self.error = Some(error);
                }
                self.backtrack = true;
            }
            None => {
                self.leaf();
                self.backtrack = true;
            }
        }
    }

    /// The thread that moves next: one between the halves of an update, else the first that is ready, else the first
    /// that waits.
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
        let mut late = None;
        for index in 0..graph.threads.len() {
            let thread = ThreadId(index as u32);
            debug_assert!(!updating(thread), "halves of an update are never separated");
            match readiness(&mut self.context, graph, thread) {
                Readiness::Yes => return Some(thread),
                Readiness::Late if late.is_none() => late = Some(thread),
                _ => {}
            }
        }
        late
    }

    /// The share of the tree that the current node stands for.
    fn weight(&self) -> f64 {
        self.levels.iter().rev().find_map(|level| level.frames.last()).map_or(1.0, |frame| frame.weight)
    }

    /// Makes the frame for the next event of a thread. No option is applied yet.
    fn expand(&mut self, thread: ThreadId) -> Result<(), Error> {
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
            pc: state.pc(),
            loc: NO_LOC,
            rf: INIT,
            value: 0,
        };
        let single = |event: Event| Branch::Single { event, done: false };
        let branch = match (visible, node.stage) {
            (Visible::Store { .. }, Stage::Stored) => {
                single(Event { kind: Kind::Fence, order: Ordering::Relaxed, ..event })
            }
            (Visible::Store { order, value, .. }, stage) => {
                let buffered = graph.threads[thread.index()].events.iter().any(|&e| graph.event(e).is_plain_write());
                let fence = self.context.model == Model::Pso && order.releases() && buffered && !state.in_atomic();
                if fence && stage == Stage::Fresh {
                    single(Event { kind: Kind::StoreFence, ..event })
                } else {
                    write_branch(graph, Event { kind: Kind::Write, order, loc: node.loc, value, ..event }, None)
                }
            }
            (Visible::Load { order, wait, .. }, _) => {
                read_branch(graph, Event { kind: Kind::Read, order, loc: node.loc, ..event }, wait)
            }
            (Visible::Update { order, wait, mutex, .. }, Stage::Fresh) => {
                let loc = node.loc;
                let flags = Flags::LOCKED.with_if(mutex, Flags::MUTEX).with_if(mutex && wait, Flags::LOCK);
                read_branch(graph, Event { kind: Kind::Read, flags, order, loc, ..event }, wait)
            }
            (Visible::Update { .. }, Stage::Picking { count, .. }) => {
                Branch::Choose { event: Event { kind: Kind::Choose, ..event }, count, next: 0 }
            }
            (Visible::Update { order, mutex, .. }, Stage::Updating { new, .. }) => {
                let loc = node.loc;
                let flags = Flags::LOCKED.with_if(mutex, Flags::MUTEX);
                let source = graph.update_source(thread);
                let event = Event { kind: Kind::Write, flags, order, loc, value: new, ..event };
                write_branch(graph, event, Some(source))
            }
            (Visible::Fence { order }, _) => {
                let kind = match (self.context.model, order) {
                    (Model::Tso | Model::Pso, Ordering::SeqCst) => Kind::Fence,
                    (Model::Pso, order) if order.releases() => Kind::StoreFence,
                    _ => Kind::Note,
                };
                single(Event { kind, order, ..event })
            }
            (Visible::Choose { count }, _) => {
                Branch::Choose { event: Event { kind: Kind::Choose, ..event }, count, next: 0 }
            }
            (Visible::Spawn { .. }, _) => {
                let child = self.context.child(thread, node.spawns);
                if child.0 >= Addr::MAX_THREADS {
                    let place = self.context.code.place(event.pc);
                    return Err(Error::Unsupported { message: "the program starts too many threads".into(), place });
                }
                single(Event { kind: Kind::Spawn, value: u64::from(child.0), ..event })
            }
            (Visible::Join { thread }, _) => single(Event { kind: Kind::Join, value: u64::from(thread.0), ..event }),
            (Visible::Free { addr, .. }, _) => single(Event { kind: Kind::Free, value: addr.0, ..event }),
            (Visible::AtomicBegin | Visible::AtomicEnd, _) => {
                let place = self.context.code.place(event.pc);
                let message = "the engine `optimal` does not support atomic blocks".into();
                return Err(Error::Unsupported { message, place });
            }
            (visible, stage) => unreachable!("{visible:?} is never at {stage:?}"),
        };
        let options = branch.options();
        if options == 0 {
            self.done += weight;
        }
        if matches!(&branch, Branch::Write { next, low, .. } if next < low) {
            self.statistics.probes += 1;
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
                    self.backtrack = false;
                    return true;
                }
                Applied::Dead => self.done += weight,
                Applied::Level(level) => {
                    if level.frames[0].branch.options() == 0 {
                        self.done += weight;
                    }
                    self.levels.push(level);
                    self.statistics.revisits += 1;
                }
                Applied::Exhausted => {
                    self.levels.last_mut().expect("just looked at").frames.pop();
                }
            }
        }
    }

    /// Applies the next option of the top frame to its graph.
    fn apply(&mut self) -> Applied {
        let Search { levels, context, bugs, error, statistics, pool, .. } = self;
        let Level { graph, frames } = levels.last_mut().expect("there is a frame");
        let frame = frames.last_mut().expect("there is a frame");
        let mut step = Stepper { graph, context, bugs, error };
        statistics.events += 1;
        match &mut frame.branch {
            Branch::Read { event, next, floor, wait } => {
                let co = &step.graph.location(event.loc).co;
                if *next < *floor {
                    return Applied::Exhausted;
                }
                let position = *next;
                *next -= 1;
                let source = if position < 0 { INIT } else { co[position as usize] };
                let last = position + 1 == co.len() as isize;
                let (event, wait) = (*event, *wait);
                if !step.read(Event { rf: source, ..event }, None, if wait { Some(last) } else { None }) {
                    return Applied::Dead;
                }
                frame.added = 1;
                Applied::Option
            }
            Branch::Write { event, next, low, candidates } => {
                if *next >= *low {
                    let position = *next as usize;
                    *next -= 1;
                    let half = event.flags.contains(Flags::LOCKED);
                    if !half && step.graph.consumed(event.loc, position as isize - 1) {
                        return Applied::Dead;
                    }
                    step.write(*event, position);
                    frame.added = 1;
                    return Applied::Option;
                }
                let Some((read, stamp)) = candidates.first().copied() else { return Applied::Exhausted };
                candidates.remove(0);
                let event = *event;
                let level = revisit(step.graph, &event, read, stamp, frame.weight, pool);
                Applied::Level(level)
            }
            Branch::Choose { event, count, next } => {
                if *next >= *count {
                    return Applied::Exhausted;
                }
                let pick = *next;
                *next += 1;
                step.choose(Event { value: u64::from(pick), ..*event });
                frame.added = 1;
                Applied::Option
            }
            Branch::Single { event, done } => {
                if std::mem::replace(done, true) {
                    return Applied::Exhausted;
                }
                step.single(*event);
                frame.added = 1;
                Applied::Option
            }
            Branch::Revisit { write, read, stamp, remove, next, low } => {
                if *next < *low {
                    return Applied::Exhausted;
                }
                let position = *next as usize;
                *next -= 1;
                let half = write.flags.contains(Flags::LOCKED);
                if !half && step.graph.consumed(write.loc, position as isize - 1) {
                    return Applied::Dead;
                }
                let (write, read, stamp, remove) = (*write, *read, *stamp, *remove);
                match step.revisit(write, read, stamp, remove, position) {
                    Some(added) => {
                        frame.added = added;
                        Applied::Option
                    }
                    None => Applied::Dead,
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

    /// The end of an execution: counts it, and looks for a deadlock.
    fn leaf(&mut self) {
        self.done += self.weight();
        let graph = &self.levels.last().expect("the search is not over").graph;
        self.statistics.longest = self.statistics.longest.max(graph.order.len() as u64);
        let (mut failed, mut assumed, mut bounded, mut waiting, mut moot, mut exited) =
            (false, false, false, None, false, false);
        for (index, log) in graph.threads.iter().enumerate() {
            let Some(tip) = &log.tip else { continue };
            let thread = ThreadId(index as u32);
            match tip.state.status() {
                Status::Finished { exit, .. } => exited |= exit,
                Status::Failed(_) => failed = true,
                Status::Blocked(Blocked::Assume) => assumed = true,
                Status::Blocked(Blocked::LoopBound) => {
                    bounded = true;
                    self.bounded_at = Some(tip.state.pc());
                }
                Status::Blocked(Blocked::Spin { since }) => {
                    moot |= !graph.reads_are_current(thread, *since);
                    waiting = waiting.or(Some(tip.state.pc()));
                }
                Status::Ready(_) => {
                    moot |= tip.stage == Stage::Waiting && !graph.reads_are_current(thread, tip.state.operations());
                    waiting = waiting.or(Some(tip.state.pc()));
                }
            }
        }
        let statistics = &mut self.statistics;
        if moot {
            statistics.moot += 1;
        } else if failed {
            statistics.failed += 1;
        } else if bounded {
            statistics.bounded += 1;
        } else if exited && !assumed {
            statistics.executions += 1;
        } else if assumed || waiting.is_some() {
            statistics.blocked += 1;
            if !assumed && let Some(pc) = waiting {
                self.bugs.push(Bug { property: Property::Deadlock, pc, target: None, attempt: None, forced: None });
            }
        } else {
            statistics.executions += 1;
        }
    }

    /// The run of the machine that shows a bug of the current graph.
    pub(crate) fn schedule(&mut self, bug: &Bug) -> raddle_trace::Schedule {
        let graph = &self.levels.last().expect("the search is not over").graph;
        super::linearise::schedule(&mut self.context, graph, bug)
    }

    /// Drops what is left to explore.
    pub(crate) fn abandon(&mut self) {
        self.levels.clear();
        self.bugs.clear();
    }

    /// Gives away the oldest untried options, for another worker.
    pub(crate) fn split(&mut self) -> Option<Level> {
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

/// What came of trying to apply an option.
enum Applied {
    /// It is in the graph.
    Option,
    /// It was not possible.
    Dead,
    /// It is a graph of its own.
    Level(Level),
    /// There was none left.
    Exhausted,
}

impl Branch {
    /// How many options there are at most.
    fn options(&self) -> usize {
        match self {
            Branch::Single { .. } => 1,
            Branch::Choose { count, .. } => *count as usize,
            other => other.untried(),
        }
    }

    /// The thread whose event was added last.
    fn mover(&self) -> ThreadId {
        match self {
            Branch::Read { event, .. }
            | Branch::Write { event, .. }
            | Branch::Choose { event, .. }
            | Branch::Single { event, .. }
            | Branch::Revisit { read: event, .. } => event.thread,
        }
    }

    /// How many options have not been tried.
    fn untried(&self) -> usize {
        match self {
            Branch::Read { next, floor, .. } => (next - floor + 1).max(0) as usize,
            Branch::Write { next, low, candidates, .. } => (next - low + 1).max(0) as usize + candidates.len(),
            Branch::Choose { count, next, .. } => (count - next) as usize,
            Branch::Single { done, .. } => usize::from(!done),
            Branch::Revisit { next, low, .. } => (next - low + 1).max(0) as usize,
        }
    }

    /// Forgets the untried options.
    fn exhaust(&mut self) {
        match self {
            Branch::Read { next, floor, .. } => *next = *floor - 1,
            Branch::Write { next, low, candidates, .. } => {
                *next = *low - 1;
                candidates.clear();
            }
            Branch::Choose { count, next, .. } => *next = *count,
            Branch::Single { done, .. } => *done = true,
            Branch::Revisit { next, low, .. } => *next = *low - 1,
        }
    }
}

fn read_branch(graph: &mut Graph, event: Event, wait: bool) -> Branch {
    let floor = graph.floor(&event);
    let next = graph.location(event.loc).co.len() as isize - 1;
    Branch::Read { event, next, floor, wait }
}

/// The branch of a write; of a write half, if `source` is given.
fn write_branch(graph: &mut Graph, event: Event, source: Option<Slot>) -> Branch {
    let candidates = graph.revisit_candidates(&event);
    let (next, low) = places(graph, &event, source);
    Branch::Write { event, next, low, candidates }
}

/// The greatest and the least position in coherence for a write; none if the first is smaller.
fn places(graph: &mut Graph, event: &Event, source: Option<Slot>) -> (isize, isize) {
    let floor = graph.floor(event);
    match source {
        None => (graph.location(event.loc).co.len() as isize, floor + 1),
        Some(source) => {
            let position = graph.co_position(event.loc, source);
            let possible = position >= floor && !graph.consumed(event.loc, position);
            if possible { (position + 1, position + 1) } else { (-1, 0) }
        }
    }
}

/// The level in which `write` revisits the read.
fn revisit(graph: &Graph, write: &Event, read: Slot, stamp: u32, weight: f64, pool: &mut Vec<Level>) -> Level {
    let keep = graph.kept(write, stamp);
    let mut level = pool.pop().unwrap_or_else(|| Level { graph: graph.clone(), frames: Vec::new() });
    graph.restrict(&keep, &mut level.graph);
    let source = write.flags.contains(Flags::LOCKED).then(|| level.graph.update_source(write.thread));
    let (next, low) = places(&mut level.graph, write, source);
    let read = *graph.event(read);
    // A lock whose mutex is held by the new write is not left waiting in the graph (rule L3).
    let takes = write.flags.contains(Flags::LOCKED.with(Flags::MUTEX));
    let remove = takes && read.flags.contains(Flags::LOCK);
    let branch = Branch::Revisit { write: *write, read, stamp: stamp as usize, remove, next, low };
    let weight = weight / branch.options().max(1) as f64;
    let mark = level.graph.mark();
    level.frames.clear();
    level.frames.push(Frame { branch, mark, added: 0, weight });
    level
}

/// Removes what the current option of a frame added.
fn take_back(graph: &mut Graph, frame: &mut Frame) {
    match frame.added {
        0 => {}
        1 => graph.pop(),
        _ => {
            let Branch::Revisit { stamp, .. } = frame.branch else { unreachable!("others add one event") };
            graph.remove(graph.order[stamp], stamp);
            graph.pop();
        }
    }
    frame.added = 0;
    graph.undo(frame.mark);
}

fn readiness(context: &mut Context<'_>, graph: &Graph, thread: ThreadId) -> Readiness {
    let Some(tip) = graph.tip(thread) else { return Readiness::No };
    let Status::Ready(visible) = tip.state.status() else { return Readiness::No };
    if tip.stage == Stage::Waiting {
        return Readiness::No;
    }
    match *visible {
        Visible::Load { wait: true, .. } | Visible::Update { wait: true, .. } => {
            let loc = tip.loc;
            let last = graph.location(loc).co.last().copied().unwrap_or(INIT);
            match context.value(graph, loc, last) {
                Initial::Value(value) if tip.state.reaction(context.code, value) == Reaction::Block => Readiness::Late,
                _ => Readiness::Yes,
            }
        }
        Visible::Join { thread } => match graph.state(thread).map(Thread::status) {
            Some(Status::Finished { .. }) | None => Readiness::Yes,
            Some(_) => Readiness::No,
        },
        _ => Readiness::Yes,
    }
}

/// Wraps a state in a node, after skipping fences that mean nothing and checking the next access.
fn settle(
    context: &mut Context<'_>,
    graph: &Graph,
    parent: Option<Arc<Node>>,
    mut state: Thread,
    spawns: u32,
    error: &mut Option<Error>,
) -> Arc<Node> {
    while let Status::Ready(Visible::Fence { order }) = *state.status()
        && fence_is_nothing(context, order)
    {
        state.answer(context.code, 0, 0);
    }
    let access = match *state.status() {
        Status::Ready(
            Visible::Load { access, .. } | Visible::Store { access, .. } | Visible::Update { access, .. },
        ) => Some(access),
        Status::Ready(Visible::Free { addr, .. }) => Some(Access { addr, size: 0 }),
        _ => None,
    };
    let mut loc = NO_LOC;
    if let Some(access) = access {
        let own = state.id();
        let lookup = |id: ThreadId| if id == own { Some(&state) } else { graph.state(id) };
        let fault = context.check(access, &lookup).or_else(|| match *state.status() {
            Status::Ready(Visible::Free { addr, scope }) => context.check_free(addr, scope, &lookup),
            _ => None,
        });
        match fault {
            Some(message) => state.fail(Property::Memory, message),
            None if access.size == 0 => {}
            None => match context.loc(access, state.pc()) {
                Ok(number) => loc = number,
                Err(unsupported) => *error = Some(unsupported),
            },
        }
    }
    Arc::new(Node { state: Arc::new(state), stage: Stage::Fresh, loc, spawns, parent })
}

fn fence_is_nothing(context: &Context<'_>, order: Ordering) -> bool {
    !context.races
        && match context.model {
            Model::Sc => true,
            Model::Tso => order != Ordering::SeqCst,
            Model::Pso => !order.releases(),
        }
}

/// Adding events to a graph, with all that follows from them.
struct Stepper<'a, 'c> {
    graph: &'a mut Graph,
    context: &'a mut Context<'c>,
    bugs: &'a mut Vec<Bug>,
    error: &'a mut Option<Error>,
}

impl Stepper<'_, '_> {
    fn tip(&self, thread: ThreadId) -> Arc<Node> {
        self.graph.tip(thread).expect("the thread has been started").clone()
    }

    /// The node of a thread that continues with this answer.
    fn answered(&mut self, thread: ThreadId, value: u64, pick: u32, spawned: bool) -> Arc<Node> {
        let tip = self.tip(thread);
        let mut state = (*tip.state).clone();
        state.answer(self.context.code, value, pick);
        let spawns = tip.spawns + u32::from(spawned);
        settle(self.context, self.graph, Some(tip), state, spawns, self.error)
    }

    /// The node of a thread in the same state, further along its operation.
    fn staged(&self, thread: ThreadId, stage: Stage) -> Arc<Node> {
        let tip = self.tip(thread);
        Arc::new(Node { state: tip.state.clone(), stage, loc: tip.loc, spawns: tip.spawns, parent: Some(tip) })
    }

    /// The node of a thread that has failed.
    fn failed(&self, thread: ThreadId, property: Property, message: &str) -> Arc<Node> {
        let tip = self.tip(thread);
        let mut state = (*tip.state).clone();
        state.fail(property, message.to_owned());
        Arc::new(Node {
            state: Arc::new(state),
            stage: Stage::Fresh,
            loc: NO_LOC,
            spawns: tip.spawns,
            parent: Some(tip),
        })
    }

    /// Adds an event and reports if the thread has failed by it.
    fn add(&mut self, event: Event, node: Arc<Node>, position: usize, stamp: Option<usize>) -> Slot {
        // Accesses have had theirs prepared when they were checked for races.
        if self.context.races && !matches!(event.kind, Kind::Read | Kind::Write | Kind::Fault) {
            self.graph.prepare_clocks(&event);
        }
        let failure = match node.state.status() {
            Status::Failed(failure) => Some((failure.property, failure.pc)),
            _ => None,
        };
        let slot = self.graph.add(event, node, position, stamp);
        if self.context.races {
            self.graph.clocks.store(slot);
        }
        match failure {
            Some((property, pc)) => self.report(property, pc, slot, event.thread),
            None => {}
        }
        slot
    }

    /// Notes that a thread has failed by the event, or that it cannot be followed any further.
    fn report(&mut self, property: Option<Property>, pc: u32, slot: Slot, thread: ThreadId) {
        match property {
            Some(property) => {
                self.bugs.push(Bug { property, pc, target: Some(slot), attempt: Some(thread), forced: None });
            }
            None => {
                let failed = self.graph.threads.iter().filter_map(|log| log.tip.as_ref()).find_map(|tip| {
                    match tip.state.status() {
                        Status::Failed(failure) if failure.property.is_none() => Some(failure.message.clone()),
                        _ => None,
                    }
                });
                let message = failed.unwrap_or_else(|| format!("{thread} cannot be followed any further"));
                *self.error = Some(Error::Unsupported { message, place: self.context.code.place(pc) });
            }
        }
    }

    /// Adds a read. With `wait`, an unsuitable value is taken only from the last write (`wait` says whether it is that).
    fn read(&mut self, event: Event, stamp: Option<usize>, wait: Option<bool>) -> bool {
        let thread = event.thread;
        let value = match self.context.value(self.graph, event.loc, event.rf) {
            Initial::Value(value) => value,
            Initial::Uninitialised => {
                self.race(&event);
                let node = self.failed(thread, Property::Memory, "read of memory that was never written");
                self.add(event, node, 0, stamp);
                return true;
            }
        };
        let reaction = self.tip(thread).state.reaction(self.context.code, value);
        if reaction == Reaction::Block && wait == Some(false) {
            return false;
        }
        let event = Event { value, ..event };
        let event = match reaction {
            Reaction::Block => Event { flags: event.flags.with(Flags::BLOCKED), ..event },
            Reaction::Write(_) | Reaction::Pick(_) => Event { flags: event.flags.with(Flags::CONSUMES), ..event },
            Reaction::Read => Event { order: self.tip(thread).order_of_read(event.order), ..event },
        };
        if let Some(other) = self.race(&event)
            && reaction != Reaction::Block
        {
            let node = self.failed(thread, Property::Race, "data race");
            self.add_racing(event, node, stamp, other);
            return true;
        }
        let node = match reaction {
            Reaction::Block => self.staged(thread, Stage::Waiting),
            Reaction::Read => self.answered(thread, value, 0, false),
            Reaction::Write(new) => self.staged(thread, Stage::Updating { old: value, new, pick: 0 }),
            Reaction::Pick(count) => self.staged(thread, Stage::Picking { old: value, count }),
        };
        let bugs = self.bugs.len();
        let slot = self.add(event, node, 0, stamp);
        self.check_life(slot, bugs);
        true
    }

    /// Prepares the clocks of an access, and returns an event that it races with.
    fn race(&mut self, event: &Event) -> Option<Slot> {
        if !self.context.races {
            return None;
        }
        self.graph.prepare_clocks(event);
        self.graph.race(event)
    }

    /// Adds an access that races with another one.
    fn add_racing(&mut self, event: Event, node: Arc<Node>, stamp: Option<usize>, other: Slot) -> Slot {
        let bugs = self.bugs.len();
        let slot = self.add(event, node, 0, stamp);
        self.bugs.truncate(bugs);
        // Whichever comes second in the run is where the race shows.
        // An update is one step of the run, so it is enough that its read half comes first.
        let half = match self.graph.threads[event.thread.index()].events.as_slice() {
            [.., half, _] if self.graph.event(*half).operation == event.operation => *half,
            _ => slot,
        };
        let before = |a: Slot| self.graph.reach.before(a as usize, other as usize);
        let follows = before(slot) || before(half);
        let (first, target) = if follows { (slot, other) } else { (other, slot) };
        let forced = Some((first, target));
        let pc = self.graph.event(target).pc;
        self.bugs.push(Bug { property: Property::Race, pc, target: Some(target), attempt: None, forced });
        slot
    }

    /// If the object accessed by a new event may have ended its life before, the thread fails.
    fn check_life(&mut self, slot: Slot, bugs: usize) {
        let Some(free) = self.freed_before(slot) else { return };
        self.bugs.truncate(bugs);
        let event = *self.graph.event(slot);
        let tip = self.tip(event.thread);
        let parent = tip.parent.clone().expect("it has an event");
        let mut state = (*parent.state).clone();
        state.fail(Property::Memory, "access after the end of the object's life".to_owned());
        let node = Node {
            state: Arc::new(state),
            stage: Stage::Fresh,
            loc: NO_LOC,
            spawns: parent.spawns,
            parent: Some(parent),
        };
        self.graph.threads[event.thread.index()].tip = Some(Arc::new(node));
        let forced = Some((free, slot));
        self.bugs.push(Bug { property: Property::Memory, pc: event.pc, target: Some(slot), attempt: None, forced });
    }

    /// The end of the life of what the event accesses, unless it is known to come later.
    fn freed_before(&mut self, slot: Slot) -> Option<Slot> {
        if self.graph.frees.is_empty() {
            return None;
        }
        let base = self.context.access(self.graph.event(slot).loc).addr.base();
        let graph = &*self.graph;
        graph.frees.iter().copied().find(|&free| {
            Addr(graph.event(free).value).base() == base && !graph.reach.before(slot as usize, free as usize)
        })
    }

    /// Adds a write at this position of coherence, or a fault if it is wrong.
    fn write(&mut self, event: Event, position: usize) -> Slot {
        let thread = event.thread;
        if let Some(other) = self.race(&event) {
            let node = self.failed(thread, Property::Race, "data race");
            return self.add_racing(Event { kind: Kind::Fault, loc: NO_LOC, ..event }, node, None, other);
        }
        let node = match self.tip(thread).stage {
            Stage::Updating { old, pick, .. } => self.answered(thread, old, pick, false),
            _ if event.order == Ordering::SeqCst && self.context.model != Model::Sc => {
                self.staged(thread, Stage::Stored)
            }
            _ => self.answered(thread, 0, 0, false),
        };
        let failed = self.bugs.len();
        let slot = self.add(event, node, position, None);
        if let Some(free) = self.freed_before(slot) {
            // The write has no effect; what it would have led to is not looked at.
            self.bugs.truncate(failed);
            self.graph.pop();
            let node = self.failed(thread, Property::Memory, "write after the end of the object's life");
            let slot = self.graph.add(Event { kind: Kind::Fault, loc: NO_LOC, ..event }, node, 0, None);
            self.bugs.push(Bug {
                property: Property::Memory,
                pc: event.pc,
                target: Some(slot),
                attempt: None,
                forced: Some((free, slot)),
            });
            return slot;
        }
        slot
    }

    fn choose(&mut self, event: Event) {
        let thread = event.thread;
        let tip = self.tip(thread);
        let pick = event.value as u32;
        let node = match tip.stage {
            Stage::Picking { old, .. } => {
                let new = tip.state.picked(old, pick);
                self.staged(thread, Stage::Updating { old, new, pick })
            }
            _ => self.answered(thread, event.value, 0, false),
        };
        self.add(event, node, 0, None);
    }

    fn single(&mut self, event: Event) {
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
                let node = self.answered(thread, event.value, 0, true);
                let slot = self.add(event, node, 0, None);
                // The child's first access may be to what its parent's state knows.
                let node = settle(self.context, self.graph, None, state, 0, self.error);
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
                let child = ThreadId(event.value as u32);
                let joined = self.graph.order.iter().copied().find(|&slot| {
                    let other = self.graph.event(slot);
                    other.kind == Kind::Join && other.value == event.value
                });
                let result = match self.graph.state(child).map(Thread::status) {
                    Some(Status::Finished { result, .. }) if joined.is_none() => *result,
                    _ => {
                        let node = self.failed(thread, Property::Lock, "join of a thread that cannot be joined");
                        self.fault(event, node, joined);
                        return;
                    }
                };
                let node = self.answered(thread, result, 0, false);
                self.add(event, node, 0, None);
            }
            Kind::Free => self.free(event),
            _ => {
                let node = self.answered(thread, 0, 0, false);
                self.add(event, node, 0, None);
            }
        }
    }

    /// Adds an operation that is an error, in place of the event it would have been; it is one if `after` came before.
    fn fault(&mut self, event: Event, node: Arc<Node>, after: Option<Slot>) {
        let flags = event.flags.with(Flags::LOCKED);
        let event = Event { kind: Kind::Fault, flags, loc: NO_LOC, ..event };
        self.race(&event);
        let slot = self.add(event, node, 0, None);
        if let Some(bug) = self.bugs.last_mut() {
            bug.forced = after.map(|first| (first, slot));
        }
    }

    fn stores(&self, thread: ThreadId) -> bool {
        matches!(self.tip(thread).state.status(), Status::Ready(Visible::Store { .. }))
    }

    /// Ends an object's life. Every access to it must be known to come before.
    fn free(&mut self, event: Event) {
        let thread = event.thread;
        let base = Addr(event.value).base();
        let twice = self.graph.frees.iter().copied().find(|&free| Addr(self.graph.event(free).value).base() == base);
        if twice.is_some() {
            let node = self.failed(thread, Property::Memory, "the object's life has ended before");
            self.fault(event, node, twice);
            return;
        }
        let node = self.answered(thread, 0, 0, false);
        let failed = self.bugs.len();
        let slot = self.add(event, node, 0, None);
        let mut unordered = None;
        for loc in 0..self.graph.locations.len() {
            if self.context.access(loc as u32).addr.base() != base {
                continue;
            }
            let accesses = &self.graph.locations[loc];
            let graph = &*self.graph;
            let missing = |access: &&Slot| !graph.reach.before(**access as usize, slot as usize);
            unordered = accesses.co.iter().chain(&accesses.reads).find(missing).copied().or(unordered);
        }
        if let Some(access) = unordered {
            self.bugs.truncate(failed);
            self.graph.pop();
            let node = self.failed(thread, Property::Memory, "the object is still in use");
            let flags = event.flags.with(Flags::LOCKED);
            let slot = self.graph.add(Event { kind: Kind::Fault, flags, ..event }, node, 0, None);
            let pc = self.graph.event(access).pc;
            let forced = Some((slot, access));
            self.bugs.push(Bug { property: Property::Memory, pc, target: Some(access), attempt: None, forced });
        }
    }

    /// Adds the write, then the read again with the write as its source (or, by rule L3, without it). Returns the number of
    /// events added, or `None` and leaves the graph as it was.
    fn revisit(&mut self, write: Event, read: Event, stamp: usize, remove: bool, position: usize) -> Option<u8> {
        let mark = self.graph.mark();
        let bugs = self.bugs.len();
        if remove {
            self.write(Event { flags: write.flags.with(Flags::MARKED), ..write }, position);
            return Some(1);
        }
        let slot = self.write(write, position);
        let read = Event { rf: slot, flags: read.flags.without(Flags::BLOCKED.with(Flags::CONSUMES)), ..read };
        let possible = self.graph.event(slot).kind == Kind::Write
            && self.graph.floor(&read) <= self.graph.co_position(read.loc, slot);
        if possible && self.read(read, Some(stamp), None) {
            return Some(2);
        }
        self.bugs.truncate(bugs);
        self.graph.pop();
        self.graph.undo(mark);
        None
    }
}

impl Graph {
    /// The source of the read half that the last events of a thread belong to.
    fn update_source(&self, thread: ThreadId) -> Slot {
        let events = &self.threads[thread.index()].events;
        let half = events.iter().rev().map(|&slot| self.event(slot)).find(|event| event.kind == Kind::Read);
        half.expect("an update has a read half").rf
    }

    /// Whether the reads of a thread's operations from `since` on are from the last writes there are.
    fn reads_are_current(&self, thread: ThreadId, since: u32) -> bool {
        let events = self.threads[thread.index()].events.iter().rev().map(|&slot| self.event(slot));
        events.take_while(|event| event.operation >= since).all(|event| {
            event.kind != Kind::Read || event.rf == self.location(event.loc).co.last().copied().unwrap_or(INIT)
        })
    }
}
