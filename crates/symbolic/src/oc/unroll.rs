//! From byte code to events under conditions.
//!
//! Each thread is run on terms instead of numbers. A branch whose condition is not known is followed both ways, and ways that meet again
//! are made one ([`State::merge`]). A loop is followed as long as its turns are certain; turns that depend on what is not known are followed up to a bound, and behind it the
//! thread is cut: whether an execution gets there is asked later. A thread that is started is unrolled where it is started, under the condition of
//! its start.
//!
//! What is not understood is refused with its place ([`Fail::Refused`]).

use super::buffers::Behind;
use super::graph::{Action, Block, Cut, CutKind, Failure, Graph, INITIAL, Location, Node, Planned, Thread};
use super::points::{Points, Values};
use super::shape::Shape;
use super::state::{Frame, State, Turn};
use raddle_engine::Refusal;
use raddle_machine::address::Owner;
use raddle_machine::code::{Instr, NO_SLOT, Operand, Pc, Slot};
use raddle_machine::{Addr, Code};
use raddle_program::{FuncId, Unwritten};
use raddle_solve::{Stop, Term};
use raddle_trace::{Model, Property, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Why a program was not unrolled.
#[derive(Debug)]
pub(super) enum Fail {
    Refused(Box<Refusal>),
    /// Somebody raised the flag.
    Stopped,
    /// There are too many nodes; here was the last one.
    TooLarge(Pc),
}

/// How many nodes are too many: what follows from orders needs memory for every pair.
const MOST_NODES: u32 = 4_000;
/// How many values a word may have for each of them to be looked at.
const MOST_CHOICES: usize = 64;
/// How many instructions are too many.
pub(super) const MOST_STEPS: u64 = 30_000_000;

/// Unrolls a program.
pub(super) struct Unroller<'c> {
    pub(super) code: &'c Code,
    pub(super) graph: Graph,
    pub(super) model: Model,
    /// How many turns of a loop that are not certain are followed.
    bound: Bound,
    stop: &'c Stop,
    shapes: FxHashMap<FuncId, Rc<Shape>>,
    steps: u64,
    most_steps: u64,
    /// Where addresses that are not known point: to these objects, with so many of the lowest bits zero, or to nothing.
    pub(super) bases: FxHashMap<Term, (Vec<u64>, u8)>,
    /// Which addresses stand in memory.
    pub(super) points: Points,
    /// Whether deadlocks are looked for.
    pub(super) deadlocks: bool,
    /// Whether races are looked for.
    pub(super) races: bool,
    /// Whether locks and the like are destroyed somewhere.
    pub(super) destroys: bool,
    /// Whether something is moved that may have no value.
    pub(super) keeps: bool,
    /// What stands for the value of memory that was never written, by how many bytes it is.
    pub(super) no_values: FxHashMap<u8, Term>,
}

/// The states of a thread that are still to be followed, the one to be followed next first.
type Todo = BTreeMap<Vec<(u32, u32)>, Vec<State>>;

/// How far loops are followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// How many turns that are not certain.
    pub(super) turns: u32,
    /// For each of these, how many of loops that end by counting, in which threads wait.
    pub(super) counted: u32,
}

impl Bound {
    pub(super) const LEAST: Bound = Bound { turns: 1, counted: 1 };
}

/// The program, unrolled with this bound, so that deadlocks and races can be looked for.
pub(super) fn unroll(
    code: &Code,
    model: Model,
    bound: Bound,
    (deadlocks, races): (bool, bool),
    most_steps: u64,
    stop: &Stop,
) -> Result<Graph, Fail> {
    let destroys = (0..code.len()).any(|pc| super::sync::destroys(code.instr(pc)));
    let moves = |instr| matches!(instr, Instr::Load { unwritten: Unwritten::Kept, .. });
    let keeps = (0..code.len()).any(|pc| moves(code.instr(pc)));
    let mut points = Points::default();
    let mut steps = 0;
    loop {
        let mut unroller = Unroller {
            code,
            graph: Graph::new(model),
            model,
            bound,
            stop,
            shapes: FxHashMap::default(),
            steps,
            most_steps,
            bases: FxHashMap::default(),
            points,
            deadlocks,
            races,
            destroys,
            keeps,
            no_values: FxHashMap::default(),
        };
        unroller.graph.expect_objects(unroller.points.made());
        let yes = unroller.graph.terms.bool(true);
        unroller.thread(ThreadId::MAIN, code.entry(), &[], yes, vec![INITIAL])?;
        if !unroller.points.again() {
            unroller.graph.finish();
            return Ok(unroller.graph);
        }
        (points, steps) = (unroller.points, unroller.steps);
    }
}

impl Unroller<'_> {
    pub(super) fn refuse<T>(&self, pc: Pc, message: impl Into<String>) -> Result<T, Fail> {
        Err(Fail::Refused(Box::new(Refusal::at(self.code, pc, message))))
    }

    fn shape(&mut self, function: FuncId) -> Rc<Shape> {
        let code = self.code;
        self.shapes.entry(function).or_insert_with(|| Rc::new(Shape::new(code, function))).clone()
    }

    /// Unrolls a thread; its number in the list of threads.
    pub(super) fn thread(
        &mut self,
        id: ThreadId,
        function: FuncId,
        args: &[Term],
        guard: Term,
        behind: Vec<Node>,
    ) -> Result<usize, Fail> {
        let number = self.graph.threads.len();
        let parent = std::mem::replace(&mut self.graph.current, number);
        let (plan, ends, exits) = (Vec::new(), Vec::new(), Vec::new());
        self.graph.threads.push(Thread { id, guard, plan, ends, exits });
        let mut state = State {
            guard,
            pc: self.code.function(function).entry,
            frames: Vec::new(),
            behind: Behind::new(&mut self.graph.terms, behind),
            block: None,
            children: 0,
            held: Vec::new(),
            objects: Vec::new(),
            waits: 0,
        };
        self.make_thread_locals(number, &mut state);
        self.enter(number, &mut state, function, args, u32::MAX, NO_SLOT);
        let mut todo = Todo::new();
        self.put_off(&mut todo, state);
        while let Some(mut first) = todo.first_entry() {
            let Some(state) = first.get_mut().pop() else {
                first.remove();
                continue;
            };
            self.follow(number, state, &mut todo)?;
        }
        self.graph.current = parent;
        Ok(number)
    }

    /// Follows a state to where several ways meet, or to its end.
    fn follow(&mut self, thread: usize, state: State, todo: &mut Todo) -> Result<(), Fail> {
        let mut next = Some(state);
        while let Some(state) = next.take() {
            self.steps += 1;
            if self.steps.is_multiple_of(512) && self.stop.is_raised() {
                return Err(Fail::Stopped);
            }
            if self.graph.nodes > MOST_NODES || self.steps > self.most_steps {
                return Err(Fail::TooLarge(state.pc));
            }
            let from = (state.frames.len(), state.pc);
            let mut following = self.step(thread, state)?;
            following.retain_mut(|state| {
                // Behind a return control comes from the call.
                let came_from = match state.frames.len().cmp(&from.0) {
                    std::cmp::Ordering::Less => Some(state.pc - 1),
                    std::cmp::Ordering::Equal => Some(from.1),
                    std::cmp::Ordering::Greater => None,
                };
                let goes_on = !self.graph.terms.is_false(state.guard);
                goes_on && came_from.is_none_or(|from| self.turn(from, state))
            });
            if let [state] = &following[..]
                && (state.frames.len(), state.pc) == (from.0, from.1 + 1)
                && !self.shape(state.frame().function).is_meeting(state.pc)
            {
                next = following.pop();
            }
            for state in following {
                self.put_off(todo, state);
            }
        }
        Ok(())
    }

    fn put_off(&mut self, todo: &mut Todo, state: State) {
        let mut key = Vec::new();
        for (depth, frame) in state.frames.iter().enumerate() {
            let pc = state.frames.get(depth + 1).map_or(state.pc, |callee| callee.return_to);
            let shape = self.shape(frame.function);
            key.extend(frame.turns.iter().map(|turn| (shape.position(turn.head), turn.turns)));
            key.push((shape.position(pc), 0));
        }
        let states = todo.entry(key).or_default();
        if !states.iter_mut().any(|known| known.merge(&mut self.graph.terms, &state)) {
            states.push(state);
        }
    }

    /// Notes which turns of loops a state is in that comes from `from`; false if it is cut off there.
    fn turn(&mut self, from: Pc, state: &mut State) -> bool {
        let shape = self.shape(state.frame().function);
        let (to, guard, bound) = (state.pc, state.guard, self.bound);
        let back = shape.leads_back(from, to);
        let inside = shape.loops(from);
        let old = std::mem::take(&mut state.frame_mut().turns);
        let mut too_often = false;
        for &head in shape.loops(to) {
            let known = old.iter().find(|turn| turn.head == head).filter(|_| inside.contains(&head));
            let turn = match known {
                Some(turn) if back && head == to => {
                    let certain = turn.guard == guard;
                    let open = turn.open + u32::from(!certain && !turn.stays);
                    let counted = turn.counted + u32::from(!certain && turn.stays);
                    too_often |= open > bound.turns || counted > bound.turns * bound.counted;
                    Turn { head, turns: turn.turns + 1, open, counted, stays: false, guard }
                }
                Some(turn) => turn.clone(),
                None => Turn::first(head, guard),
            };
            state.frame_mut().turns.push(turn);
        }
        if too_often {
            self.cut(guard, to, CutKind::Unrolling);
        }
        !too_often
    }

    /// Notes that control does not go there, and so stays in the loops that it would leave.
    pub(super) fn stay(&mut self, state: &mut State, to: Pc) {
        let shape = self.shape(state.frame().function);
        let loops = shape.loops(to);
        for turn in state.frame_mut().turns.iter_mut().filter(|turn| !loops.contains(&turn.head)) {
            turn.stays = true;
        }
    }

    /// How many sizes are looked at where that of an object is not known.
    pub(super) fn sizes(&self) -> usize {
        self.bound.turns as usize * 2 + 2
    }

    /// The thread is followed no further.
    pub(super) fn cut(&mut self, guard: Term, pc: Pc, kind: CutKind) {
        if !self.graph.terms.is_false(guard) {
            self.graph.cuts.push(Cut { guard, pc, kind });
        }
    }

    /// Whether calls of this function nest too deep already.
    pub(super) fn nests_too_deep(&self, state: &State, function: FuncId) -> bool {
        state.frames.iter().filter(|frame| frame.function == function).count() as u32 > self.bound.turns
    }

    pub(super) fn get(&mut self, state: &State, operand: Operand) -> Term {
        match self.code.as_constant(operand) {
            Some(value) => self.graph.terms.constant(64, value),
            None => state.frame().slots[operand.0 as usize],
        }
    }

    pub(super) fn set(&mut self, state: &mut State, dst: Slot, value: Term) {
        if dst != NO_SLOT {
            let value = self.graph.terms.zext(value, 64);
            state.frame_mut().slots[dst as usize] = value;
        }
    }

    /// The frame of a call. What it makes room for is made.
    pub(super) fn enter(
        &mut self,
        thread: usize,
        state: &mut State,
        function: FuncId,
        args: &[Term],
        return_to: Pc,
        dst: Slot,
    ) {
        let callee = self.code.function(function);
        let zero = self.graph.terms.constant(64, 0);
        let mut slots = vec![zero; callee.slots as usize];
        for ((slot, &arg), ty) in slots.iter_mut().zip(args).zip(&callee.reg_types) {
            let cut = self.graph.terms.resize(arg, ty.bits() as u8);
            *slot = self.graph.terms.zext(cut, 64);
        }
        let first_object = state.objects.len();
        for local in &callee.locals {
            self.make_object(thread, state, local.size, local.contents.as_deref(), local.private, false, false);
        }
        let (turns, looks) = (Vec::new(), Vec::new());
        state.frames.push(Frame { function, slots, return_to, dst, first_object, turns, looks });
        state.pc = callee.entry;
        let shape = self.shape(function);
        let (pc, guard) = (state.pc, state.guard);
        let heads = shape.loops(pc).iter().map(|&head| Turn::first(head, guard));
        state.frame_mut().turns.extend(heads);
    }

    /// The condition under which what the state does is part of the execution.
    pub(super) fn visible(&mut self, state: &State) -> Term {
        match state.block {
            Some((block, _)) => {
                let done = self.graph.blocks[block].done;
                self.graph.terms.and(state.guard, done)
            }
            None => state.guard,
        }
    }

    /// A step of the machine that happens in this node.
    pub(super) fn plan(&mut self, thread: usize, guard: Term, node: Node, action: Action) {
        self.graph.threads[thread].plan.push(Planned { guard, node: Some(node), action });
    }

    /// A step of the machine that nobody else sees.
    pub(super) fn plan_alone(&mut self, thread: usize, state: &State, action: Action) {
        let guard = self.visible(state);
        let node = state.block.map(|(block, _)| self.graph.blocks[block].node);
        self.graph.threads[thread].plan.push(Planned { guard, node, action });
    }

    /// A step of the machine that is taken when nothing of the thread is on its way.
    pub(super) fn plan_settled(&mut self, thread: usize, state: &mut State) {
        if self.keeps_stores(state) {
            let node = self.node(state);
            self.plan(thread, state.guard, node, Action::Run);
        } else {
            self.plan_alone(thread, state, Action::Run);
        }
    }

    /// A read in a node; what it finds.
    pub(super) fn read(&mut self, node: Node, guard: Term, location: Location, pc: Pc) -> Term {
        let value = self.graph.terms.var(location.width());
        self.graph.add(node, location, false, value, guard, pc);
        if matches!(location, Location::Memory(_, 8)) {
            let first = self.graph.initial(self.code, location);
            self.note(location, first);
            if let Some(Values { exact, into, aligned }) = self.points.read(location) {
                let exact: Vec<u64> = exact.iter().copied().collect();
                if into.is_empty() {
                    self.graph.terms.restrict(value, exact);
                } else {
                    let (mut bases, aligned) = (into.clone(), *aligned);
                    bases.extend(exact.iter().map(|&addr| Addr(addr).base().0));
                    let zeros = exact.iter().map(|addr| addr.trailing_zeros() as u8).min().unwrap_or(64);
                    self.bases.insert(value, (bases.into_iter().collect(), aligned.min(zeros)));
                }
            }
        }
        value
    }

    /// Notes that this stands in a location.
    fn note(&mut self, location: Location, value: Term) {
        let exact = self.graph.terms.choices(value, MOST_CHOICES);
        let values = match exact {
            Some(exact) => Some(Values { exact: exact.into_iter().collect(), ..Values::default() }),
            None => self.bases_of(value).map(|bases| {
                let aligned = self.aligned(value);
                Values { into: bases.into_iter().collect(), aligned, ..Values::default() }
            }),
        };
        self.points.add(location, values, |value| Addr(value).owner() != Owner::Nothing);
    }

    /// A write in a node.
    pub(super) fn write(&mut self, node: Node, guard: Term, location: Location, value: Term, pc: Pc) {
        let value = self.graph.terms.resize(value, location.width());
        if matches!(location, Location::Memory(_, 8)) && !self.graph.terms.is_false(guard) {
            self.note(location, value);
        }
        self.graph.add(node, location, true, value, guard, pc);
    }

    /// The thread fails if the condition holds, and goes on if it does not.
    pub(super) fn fail_if(&mut self, thread: usize, state: &mut State, condition: Term, property: Property, pc: Pc) {
        let guard = self.graph.terms.and(state.guard, condition);
        if !self.graph.terms.is_false(guard) {
            if let Some((block, _)) = state.block {
                self.graph.blocks[block].ends.push(guard);
            }
            let steps = self.graph.threads[thread].plan.len();
            self.graph.failures.push(Failure { thread, guard, property, pc, steps, arrival: None });
        }
        state.guard = self.graph.terms.and_not(state.guard, condition);
    }

    /// The thread stops if the condition holds. An access in an atomic block races even if the thread stops behind it.
    pub(super) fn stop_if(&mut self, state: &mut State, condition: Term) {
        if let Some((block, _)) = state.block.filter(|_| self.races) {
            let guard = self.graph.terms.and(state.guard, condition);
            self.graph.blocks[block].stop(&mut self.graph.terms, guard);
        }
        state.guard = self.graph.terms.and_not(state.guard, condition);
    }

    /// Begins an atomic block.
    pub(super) fn begin_block(&mut self, state: &mut State) {
        let node = self.node(state);
        let done = self.graph.terms.var(1);
        self.graph.blocks.push(Block { node, done, ends: Vec::new(), stops: None });
        state.block = Some((self.graph.blocks.len() - 1, 1));
    }
}
