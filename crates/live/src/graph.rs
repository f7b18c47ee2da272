//! All states of a program, and every move between them with whose it is.
//!
//! The search of `reach` says which states there are. What it keeps of a state is the way it was first met, so the moves are made a second time, and each leads to a state that is known. A
//! store buffer may have a bound; then states are missing, but the enabled moves of those that are there are what the machine says, bound or not: a loop in which somebody never moves because its buffer is full is not fair.

use crate::fairness::{Actor, Fairness, Strength, able, is_drawn};
use crate::running::{End, Running, Seen, closed};
use raddle_engine::{Deadline, Question, StopReason};
use raddle_fair::labelled::Labelled;
use raddle_machine::{Automaton, Failure, Memory, Reaction, State, Status, Visible};
use raddle_reach::growth::what_grows;
use raddle_reach::machine::{Concrete, Machine, Piece};
use raddle_reach::search::{Graph, Order, Plan, search};
use raddle_reach::semantics::Breadth;
use raddle_reach::visited::Index;
use raddle_trace::{Place, Property, Step, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// How many bytes states may take if nobody has set a limit.
const ROOM: usize = 2 << 30;

/// What nobody can raise: states are found by 32-bit numbers.
const LARGEST: usize = 3 << 30;

/// From so many threads on, nobody counts who waits.
const MOST_THREADS: usize = 64;

/// The states of a program.
#[derive(Debug)]
pub struct States<'c> {
    /// Where they come from.
    pub running: Running<'c>,
    /// The states, by number.
    pub graph: Graph<Piece>,
    /// How many are the end of a run.
    pub ends: u64,
    /// How many are where an assumption was false.
    pub assumed: u64,
    /// How many are where something went wrong that is not looked for, and the first such place.
    pub disregarded: (u64, Option<Place>),
    /// A store that had to wait for room.
    pub full: Option<u32>,
}

/// Why there are not all states.
#[derive(Debug)]
pub enum Short {
    /// A property is broken in this state, by this thread's failure.
    Broken(Index, Property, u32),
    /// A limit was reached, and what grew most.
    Stop(StopReason, Option<String>),
}

/// All states of the program, with store buffers of this length if it has loops; or why not, with what was met until then.
pub fn states<'c>(question: &Question<'c>, buffer: usize, deadline: &Deadline<'_>) -> (States<'c>, Option<Short>) {
    let Question { code, options } = *question;
    let mut machine = Machine::new(code, options.model);
    machine.bound = code.has_loops().then_some(buffer);
    let running = Running { machine };
    let plan = Plan { order: Order::Breadth, workers: options.workers.max(1), breadth: Breadth::Everything };
    let (mut ends, mut assumed, mut disregarded, mut full) = (0, 0, (0, None), None);
    let (graph, short) = search(
        &running,
        plan,
        &mut |_, index, Seen { end, full: refused }| {
            full = full.or(refused);
            let (property, pc) = match end {
                None => return ControlFlow::Continue(()),
                Some(End::Complete) => {
                    ends += 1;
                    return ControlFlow::Continue(());
                }
                Some(End::Assumed) => {
                    assumed += 1;
                    return ControlFlow::Continue(());
                }
                Some(End::Deadlock(waiting)) => (Property::Deadlock, waiting[0].1),
                Some(End::Failed(Failure { property: Some(property), pc, .. })) => (property, pc),
                Some(End::Failed(Failure { property: None, message, pc, .. })) => {
                    let stop = StopReason::GaveUp { why: message, at: code.place(pc) };
                    return ControlFlow::Break(Short::Stop(stop, None));
                }
            };
            if options.properties.contains(property) {
                return ControlFlow::Break(Short::Broken(index, property, pc));
            }
            disregarded.0 += 1;
            disregarded.1.get_or_insert_with(|| code.place(pc));
            ControlFlow::Continue(())
        },
        &mut |graph: &Graph<Piece>| {
            let why = deadline.met(graph.visited.len() as u64).or_else(|| {
                let room = if options.limits.memory.is_none() { ROOM } else { LARGEST };
                let why =
                    || format!("{} states take {} MiB, and there are more", graph.visited.len(), graph.size() >> 20);
                let at = || Place { line: 0, ..code.place(0) };
                (graph.size() > room).then(|| StopReason::GaveUp { why: why(), at: at() })
            });
            match why {
                Some(stop) => ControlFlow::Break(Short::Stop(stop, what_grows(code, graph.parts.list()))),
                None => ControlFlow::Continue(()),
            }
        },
    );
    (States { running, graph, ends, assumed, disregarded, full }, short)
}

impl States<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.graph.visited.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A state.
    pub fn state(&self, index: Index) -> Concrete {
        self.graph.state(&self.running, index)
    }

    /// The move with this number from a state.
    pub fn step(&self, index: Index, number: usize) -> Step {
        self.running.machine.moves(&self.state(index)).0[number]
    }

    /// The steps by which a state was first met.
    pub fn way(&self, index: Index) -> Vec<Step> {
        self.graph.way(index).into_iter().map(|(from, by)| self.step(from, usize::from(by))).collect()
    }
}

/// The moves between states, by whom.
#[derive(Debug)]
pub struct Moves {
    /// The graph; its pairs are those of the actors. The edges of a state are its moves, in their order.
    pub labelled: Labelled,
    /// Who moves.
    pub actors: Vec<Actor>,
    /// Per move, whether it changes something that others can see.
    pub acts: Vec<bool>,
    /// Per move, whether it is one of those among which chance decides.
    pub drawn: Vec<bool>,
    /// Per state, the threads that stand before an operation other than a wait for the end of another thread; by their place among [`Moves::threads`].
    pub unfinished: Vec<u64>,
    /// The threads.
    pub threads: Vec<ThreadId>,
}

/// Numbers for what is met, in the order in which it is.
struct Numbers<T> {
    known: FxHashMap<T, u16>,
    list: Vec<T>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    fn new() -> Self {
        Numbers { known: FxHashMap::default(), list: Vec::new() }
    }

    /// Its number; `None` if there are too many.
    fn number(&mut self, what: T, most: usize) -> Option<u16> {
        if let Some(&number) = self.known.get(&what) {
            return Some(number);
        }
        let number = u16::try_from(self.list.len()).ok().filter(|&number| usize::from(number) < most)?;
        self.known.insert(what, number);
        self.list.push(what);
        Some(number)
    }
}

/// The moves between all states; or why not.
pub fn moves(states: &States<'_>, fairness: Fairness, deadline: &Deadline<'_>) -> Result<Moves, StopReason> {
    let machine = &states.running.machine;
    let code = machine.code;
    let gives_up = |why: &str| {
        let at = Place { line: 0, ..code.place(0) };
        StopReason::GaveUp { why: why.into(), at }
    };
    let (mut actors, mut threads) = (Numbers::new(), Numbers::new());
    let (mut acts, mut drawn, mut unfinished) = (Vec::new(), Vec::new(), Vec::new());
    // Per state: its edges, who can move, and who is not asked because somebody else is in an atomic block.
    let mut edges: Vec<(u32, u16)> = Vec::new();
    let mut can_move: Vec<u16> = Vec::new();
    let mut ranges: Vec<(u32, u32, Option<ThreadId>)> = Vec::new();
    for index in 0..states.len() as Index {
        if index % 256 == 0
            && let Some(stop) = deadline.passed()
        {
            return Err(stop);
        }
        let state = states.state(index);
        let mut open = 0u64;
        if closed(&state).is_none() {
            let first = edges.len();
            for &step in &machine.moves(&state).0 {
                let next = states.running.after(&state, step);
                let actor = Actor::of(fairness.unit, code, &state, step, &next);
                let actor = actors
                    .number(actor, usize::from(u16::MAX))
                    .ok_or_else(|| gives_up("there are too many actions"))?;
                let target = states.graph.find(&states.running, &next).expect("the search has met it");
                edges.push((target, actor));
                acts.push(changes(&state, code, step));
                drawn.push(is_drawn(code, &state, step));
            }
            if state.memory().keeps() {
                // A store that waits for room could move all the same.
                for actor in able(fairness.unit, code, &state, &|step| states.running.after(&state, step)) {
                    let actor = actors
                        .number(actor, usize::from(u16::MAX))
                        .ok_or_else(|| gives_up("there are too many actions"))?;
                    can_move.push(actor);
                }
            } else {
                can_move.extend(edges[first..].iter().map(|&(_, actor)| actor));
            }
            for thread in state.threads() {
                if matches!(thread.status(), Status::Ready(visible) if !matches!(visible, Visible::Join { .. })) {
                    let number = threads
                        .number(thread.id(), MOST_THREADS)
                        .ok_or_else(|| gives_up("there are more than 64 threads"))?;
                    open |= 1 << number;
                }
            }
        }
        unfinished.push(open);
        ranges.push((edges.len() as u32, can_move.len() as u32, state.atomic()));
    }
    let mut labelled = Labelled::new(actors.list.len());
    let (mut edges, mut can_move, mut from) = (edges.into_iter(), can_move.into_iter(), (0, 0));
    for (end_of_edges, end_of_able, owner) in ranges {
        let able: Vec<u16> = can_move.by_ref().take((end_of_able - from.1) as usize).collect();
        let asked = |&actor: &u16| owner.is_none_or(|owner| owner == actors.list[usize::from(actor)].thread());
        let everybody = (0..actors.list.len() as u16).filter(asked);
        let own = edges.by_ref().take((end_of_edges - from.0) as usize);
        match fairness.strength {
            Strength::Strong => labelled.push(able, [], own),
            Strength::Weak => {
                let unable: Vec<u16> = everybody.clone().filter(|actor| !able.contains(actor)).collect();
                labelled.push(everybody.collect::<Vec<u16>>(), unable, own);
            }
        }
        from = (end_of_edges, end_of_able);
    }
    Ok(Moves { labelled, actors: actors.list, acts, drawn, unfinished, threads: threads.list })
}

/// Whether the step changes something that others can see: everything but looks, choices, and updates that leave memory as it is.
pub(crate) fn changes<M: raddle_machine::Memory, T: Automaton>(
    state: &State<M, T>,
    code: &raddle_machine::Code,
    step: Step,
) -> bool {
    let id = step.thread();
    let Some(thread) = state.thread(id) else { return true };
    let (Step::Run(_) | Step::Choose(..), Status::Ready(visible)) = (step, thread.status()) else { return true };
    match *visible {
        Visible::Load { .. } | Visible::Fence { .. } | Visible::Choose { .. } => false,
        Visible::AtomicBegin | Visible::AtomicEnd => false,
        Visible::Update { access, .. } => match state.look(code, id, access) {
            None => true,
            Some(found) => match thread.reaction(code, found.value) {
                Reaction::Read => false,
                Reaction::Write(new) => new != found.value,
                Reaction::Block | Reaction::Pick(_) => true,
            },
        },
        Visible::Take { .. } => true,
        Visible::Store { .. } | Visible::Spawn { .. } | Visible::Join { .. } | Visible::Free { .. } => true,
    }
}
