//! The abstract reachability graph: abstract states, each reached by an action from the one before.
//!
//! A node is *covered* by another one if what is in it is in the other: then nothing is looked for behind it. When no node is left that is neither covered nor expanded and no target was met, the
//! nodes are a set of states that holds at first and is left by no action: a proof.

use super::abstraction::{Abstract, World};
use super::control::Status;
use super::meetings;
use super::path::{Action, Halt, Path, Pending, Target};
use super::reduce::Reduction;
use super::vars::Kind;
use crate::apart;
use raddle_engine::Refusal;
use raddle_machine::code::{Instr, SyncOp};
use raddle_program::Ordering;
use raddle_solve::Term;
use raddle_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) state: Rc<Abstract>,
    /// Where it was reached from, and by what.
    pub(super) parent: Option<(usize, Rc<Action>)>,
    pub(super) covered: Option<usize>,
    pub(super) expanded: bool,
}

/// What is looked for in a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) deadlocks: bool,
    pub(super) races: bool,
    /// How many values a variable may have that need not be known.
    pub(super) values: usize,
    /// Look at the node that was met last first.
    pub(super) depth_first: bool,
    pub(super) reduction: Reduction,
}

/// How building a graph ended.
#[derive(Debug)]
pub(super) enum Built {
    /// There is a target at this node.
    Target(usize),
    /// Variables have too many values: one, and others that have many, too.
    Values(Vec<Kind>),
    /// It is complete.
    Complete,
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Nodes that may cover others, by where threads are.
    places: FxHashMap<Rc<super::control::Control>, Vec<usize>>,
    todo: VecDeque<usize>,
    values: FxHashMap<Kind, BTreeSet<u64>>,
    /// How many actions were looked at.
    pub(super) actions: u64,
}

impl Graph {
    pub(super) fn new(world: &mut World<'_>) -> Result<Self, Halt> {
        let nothing = Abstract {
            control: Rc::new(super::control::Control { threads: Vec::new(), atomic: None }),
            known: BTreeMap::new(),
            literals: BTreeMap::new(),
        };
        let control = world.walk(&nothing, &[], |walker| Ok(walker.start()))?;
        let first = world.first(control)?;
        let mut graph = Graph::default();
        graph.add(first, None);
        Ok(graph)
    }

    fn add(&mut self, state: Abstract, parent: Option<(usize, Rc<Action>)>) -> usize {
        self.nodes.push(Node { state: Rc::new(state), parent, covered: None, expanded: false });
        self.todo.push_back(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The actions that lead to a node.
    pub(super) fn trace(&self, node: usize) -> Vec<Rc<Action>> {
        let mut trace = Vec::new();
        let mut at = node;
        while let Some((parent, action)) = &self.nodes[at].parent {
            trace.push(action.clone());
            at = *parent;
        }
        trace.reverse();
        trace
    }

    /// How many nodes stand for themselves.
    pub(super) fn size(&self) -> u64 {
        self.nodes.iter().filter(|node| node.expanded).count() as u64
    }

    /// Builds on until a target is met or nothing is left.
    pub(super) fn build(
        &mut self,
        world: &mut World<'_>,
        wanted: Wanted,
        told: &FxHashSet<Target>,
        pause: &mut dyn FnMut(&Graph) -> Result<(), Halt>,
    ) -> Result<Built, Halt> {
        loop {
            let next = if wanted.depth_first { self.todo.pop_back() } else { self.todo.pop_front() };
            let Some(at) = next else { return Ok(Built::Complete) };
            let state = self.nodes[at].state.clone();
            let nodes = &self.nodes;
            let same = self.places.entry(state.control.clone()).or_default();
            if let Some(&other) = same.iter().find(|&&other| state.is_within(&nodes[other].state)) {
                self.nodes[at].covered = Some(other);
                continue;
            }
            same.push(at);
            pause(self)?;
            let kinds = &world.precision.kinds;
            for (var, &value) in state.known.iter().filter(|(var, _)| kinds.contains(&var.kind())) {
                let values = self.values.entry(var.kind()).or_default();
                if values.insert(value) && values.len() > wanted.values {
                    // What grows together is to be known together: a relation between the two, rather than the one for each value of the other.
                    let many = self.values.iter().filter(|(_, values)| values.len() > wanted.values / 2);
                    let mut many: Vec<Kind> = many.map(|(&kind, _)| kind).collect();
                    many.sort_unstable();
                    return Ok(Built::Values(many));
                }
            }
            if let Some(target) = self.expand(world, at, wanted, told)? {
                return Ok(Built::Target(target));
            }
        }
    }

    /// Takes back what is behind a node on the way to a target, from where the way is not possible any more with what there is to know by now: the last such node, which is looked at again (lazy
    /// abstraction: Henzinger et al. 2002). Whatever was covered by what is gone is looked at again, too.
    ///
    /// Nothing else changes: all other nodes know less than they might, and what follows from them is there. Sets of threads stay right: that a set leads to no state that was looked at before it was chosen is
    /// said of the states that there are, and whatever is looked at again comes later.
    ///
    /// False if there is no such node: what is known at first makes the difference.
    pub(super) fn prune(&mut self, world: &mut World<'_>, target: usize) -> Result<bool, Halt> {
        let mut behind: Vec<Rc<Action>> = Vec::new();
        let mut at = target;
        while let Some((parent, action)) = self.nodes[at].parent.clone() {
            behind.push(action);
            at = parent;
            if world.is_impossible(&self.nodes[at].state, behind.iter().rev())? {
                self.cut_off(at);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes what is behind a node, which is looked at again.
    fn cut_off(&mut self, pivot: usize) {
        let mut gone = vec![false; self.nodes.len()];
        for at in 0..self.nodes.len() {
            gone[at] = self.nodes[at].parent.as_ref().is_some_and(|&(parent, _)| parent == pivot || gone[parent]);
        }
        let mut place = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        self.places.clear();
        let open: FxHashSet<usize> = self.todo.drain(..).collect();
        for (at, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate().filter(|(at, _)| !gone[*at]) {
            place[at] = nodes.len();
            node.parent = node.parent.map(|(parent, action)| (place[parent], action));
            let uncovered = node.covered.take_if(|other| gone[*other]).is_some();
            node.expanded &= at != pivot;
            if at == pivot || uncovered || open.contains(&at) {
                self.todo.push_back(nodes.len());
            } else if node.covered.is_none() {
                self.places.entry(node.state.control.clone()).or_default().push(nodes.len());
            }
            nodes.push(node);
        }
        for node in &mut nodes {
            node.covered = node.covered.map(|other| place[other]);
        }
        self.nodes = nodes;
    }

    /// Adds what follows from a node; a target if there is one.
    fn expand(
        &mut self,
        world: &mut World<'_>,
        at: usize,
        wanted: Wanted,
        told: &FxHashSet<Target>,
    ) -> Result<Option<usize>, Halt> {
        let state = self.nodes[at].state.clone();
        let facts = world.facts(&state);
        let Successors { noticed, mut actions, sets } = successors(world, &state, &facts, wanted)?;
        // It is no news that two threads stand still or race.
        for action in noticed.into_iter().filter(|action| !action.target.as_ref().is_some_and(|it| told.contains(it))) {
            self.actions += 1;
            if let Some(next) = world.post(&state, &facts, &action)? {
                return Ok(Some(self.add(next, Some((at, Rc::new(action))))));
            }
        }
        for action in &mut actions {
            // What was told of is the end of a thread.
            action.target = action.target.take().filter(|target| !told.contains(target));
        }
        // A set that leads to a state that was looked at before might leave somebody out for ever; if all do, everybody is followed.
        let mut behind: Vec<Option<Behind>> = vec![None; actions.len()];
        let mut followed = None;
        for set in sets.iter().map(Some).chain([None]) {
            let is_in = |action: &Action| set.is_none_or(|set| set.contains(&action.thread));
            let mut leads_back = false;
            for (action, behind) in actions.iter().zip(&mut behind).filter(|(action, _)| is_in(action)) {
                let known = match behind.take() {
                    Some(known) => known,
                    None => self.look_behind(world, &state, &facts, action)?,
                };
                if let (Some(next), Some(_)) = (&known.state, &action.target) {
                    return Ok(Some(self.add(next.clone(), Some((at, Rc::new(action.clone()))))));
                }
                leads_back |= known.leads_back;
                *behind = Some(known);
            }
            followed = set;
            if !leads_back {
                break;
            }
        }
        for (action, behind) in actions.into_iter().zip(behind) {
            let is_in = followed.is_none_or(|set| set.contains(&action.thread));
            if let Some(next) = behind.and_then(|behind| behind.state).filter(|_| is_in) {
                self.add(next, Some((at, Rc::new(action))));
            }
        }
        self.nodes[at].expanded = true;
        Ok(None)
    }

    /// What an action leads to.
    fn look_behind(
        &mut self,
        world: &mut World<'_>,
        state: &Abstract,
        facts: &[Term],
        action: &Action,
    ) -> Result<Behind, Halt> {
        self.actions += 1;
        let next = world.post(state, facts, action)?;
        let leads_back = next.as_ref().is_some_and(|next| {
            let mut same = self.places.get(&next.control).into_iter().flatten();
            same.any(|&other| next.is_within(&self.nodes[other].state))
        });
        Ok(Behind { state: next, leads_back })
    }
}

/// What an action leads to, if it is possible.
#[derive(Clone, Debug)]
struct Behind {
    state: Option<Abstract>,
    /// That was looked at before.
    leads_back: bool,
}

/// What can happen in a state.
pub(super) struct Successors {
    /// What is wrong with the state itself.
    pub(super) noticed: Vec<Action>,
    pub(super) actions: Vec<Action>,
    /// Sets of threads of which it is enough to follow one, unless it leads back; the one to be tried first first.
    pub(super) sets: Vec<Vec<ThreadId>>,
}

/// What can happen in a state, what is wrong with it included.
pub(super) fn successors(
    world: &mut World<'_>,
    state: &Abstract,
    facts: &[Term],
    wanted: Wanted,
) -> Result<Successors, Halt> {
    let movers: Vec<ThreadId> = state.control.movers().map(|thread| thread.id).collect();
    let mut moves: Vec<(ThreadId, bool, Vec<Action>)> = Vec::new();
    let mut stands: Option<Term> = Some(world.terms.bool(true));
    for &id in &movers {
        let actions = world.walk(state, facts, |walker| walker.actions(&state.control, id))?;
        let waits = may_wait(world, state, id);
        if waits {
            let moves = world.terms.any(actions.iter().map(|action| action.guard).collect::<Vec<Term>>());
            let assumes = world.walk(state, facts, |walker| {
                let path = Path::at(walker, &state.control);
                walker.assumes(&path, id)
            })?;
            let moves = world.terms.or(moves, assumes);
            stands = stands.map(|stands| world.terms.and_not(stands, moves));
        } else {
            stands = None;
        }
        moves.push((id, waits, actions));
    }
    let sets = world.chosen(state, facts, &moves, wanted.reduction)?;
    let actions = moves.into_iter().flat_map(|(.., actions)| actions).collect();
    let mut all: Vec<Action> = Vec::new();
    let over = state.control.is_over() || state.control.threads.iter().any(|thread| thread.status == Status::Stopped);
    if wanted.deadlocks
        && !over
        && let Some(guard) = stands
    {
        let waiting = state.control.threads.iter().find(|thread| !thread.is_done());
        if let Some(waiting) = waiting.filter(|_| !world.terms.is_false(guard)) {
            all.push(noticed(state, waiting.id, guard, Target::Deadlock { pc: waiting.pc }));
        }
    }
    if wanted.races {
        let mut pending: Vec<(Term, Term, Pending)> = Vec::new();
        let inside = state.control.atomic;
        for thread in state.control.threads.iter().filter(|thread| !thread.is_done()) {
            let id = thread.id;
            if inside.is_some() && thread.status == Status::Ready && apart_in_block(world, inside, thread) {
                let why = format!("in the engine `cegar` {}", apart::MEETS_OTHERS);
                return Err(Halt::Refused(Box::new(Refusal::at(world.code, thread.pc, why))));
            }
            pending.extend(world.walk(state, facts, |walker| {
                let path = Path::at(walker, &state.control);
                walker.pending(&path, id)
            })?);
        }
        for (at, one) in pending.iter().enumerate() {
            // What two others do next is seen before the block begins.
            let is_inside = |one: &Pending| inside.is_none_or(|id| id == one.thread);
            for other in pending[at + 1..].iter().filter(|other| is_inside(&one.2) || is_inside(&other.2)) {
                all.extend(race(world, state, *one, *other));
            }
        }
    }
    Ok(Successors { noticed: all, actions, sets })
}

/// Whether what a thread does next cannot be told from accesses: who is in an atomic block meets others, or somebody else waits in vain meanwhile.
fn apart_in_block(world: &World<'_>, inside: Option<ThreadId>, thread: &super::control::Thread) -> bool {
    match world.code.instr(thread.pc) {
        Instr::Load { order: Ordering::NonAtomic, wait, .. } => wait != 0,
        _ => inside == Some(thread.id) && apart::meets_others(world.code, thread.pc),
    }
}

/// What is wrong with a state, as an action that does nothing.
fn noticed(state: &Abstract, thread: ThreadId, guard: Term, target: Target) -> Action {
    let control = (*state.control).clone();
    Action { thread, step: super::path::Move::Silent, guard, updates: Vec::new(), control, target: Some(target) }
}

/// That two accesses race, under the condition that they do.
fn race(
    world: &mut World<'_>,
    state: &Abstract,
    one: (Term, Term, Pending),
    other: (Term, Term, Pending),
) -> Option<Action> {
    let (a, b) = (one.2, other.2);
    let overlap = a.addr < b.addr + u64::from(b.size) && b.addr < a.addr + u64::from(a.size);
    if a.thread == b.thread || !overlap || (a.atomic && b.atomic) {
        return None;
    }
    let terms = &mut world.terms;
    let both = terms.and(one.0, other.0);
    let writes = terms.or(one.1, other.1);
    let guard = terms.and(both, writes);
    // Whoever may look in vain comes second; it writes nothing then. Who is in an atomic block goes on, so the other one comes before the block.
    let first_writes = match state.control.atomic {
        Some(inside) => b.thread == inside,
        None => terms.is_true(one.1) || terms.is_false(other.1),
    };
    let (first, second) = if first_writes { (a, b) } else { (b, a) };
    (!terms.is_false(guard)).then(|| noticed(state, first.thread, guard, Target::Race { first, second }))
}

/// Whether the next operation of a thread may have to wait.
fn may_wait(world: &World<'_>, state: &Abstract, id: ThreadId) -> bool {
    let thread = state.control.thread(id).expect("it moves");
    let code = world.code;
    thread.status == Status::Ready
        && match code.instr(thread.pc) {
            Instr::Load { wait, .. } => wait != 0,
            Instr::Rmw { idle, .. } => idle != 0 && code.wait(idle).blocks,
            Instr::Cas { cas } => code.cas(cas).wait,
            Instr::Join { .. } => true,
            Instr::Sync { op, .. } => {
                meetings::may_wait(op, thread.stage)
                    || matches!(op, SyncOp::Lock { .. } | SyncOp::ReadLock | SyncOp::WriteLock | SyncOp::SemWait)
            }
            _ => false,
        }
}
