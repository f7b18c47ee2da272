//! What an unrolled program consists of: events in nodes, under conditions.
//!
//! A *node* happens at once: an access, an operation on a lock, a join, a whole atomic block. Its *events* are reads and writes of locations, each with a
//! condition (guard) under which it is part of the execution. A thread's *plan* lists the steps of the machine it takes, each with its condition; steps that touch nothing another thread could see
//! belong to no node. Conditions are terms over the values that reads find and over unknown inputs.

use raddle_machine::address::Owner;
use raddle_machine::{Addr, Code};
use raddle_solve::{Term, Terms};
use raddle_trace::{Model, Property, ThreadId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A node, by its number. The first one writes what memory holds at first.
pub(super) type Node = u32;
pub(super) const INITIAL: Node = 0;
/// Stands for the node behind all others, in which those who wait for ever look once more, until it has a number.
const FINAL: Node = u32::MAX;

/// What no thread has.
const NOBODY: usize = usize::MAX;

/// What is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Location {
    /// So many bytes from this address on.
    Memory(u64, u8),
    /// Whether the object that starts here lives: one bit.
    Life(u64),
    /// Which thread has ended the life of the object that starts here, by its number from 1; with store buffers.
    EndedBy(u64),
}

impl Location {
    pub(super) fn width(self) -> u8 {
        match self {
            Location::Memory(_, size) => size * 8,
            Location::Life(_) => 1,
            Location::EndedBy(_) => 32,
        }
    }
}

/// A read or a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) node: Node,
    /// Where its thread does it: for a store that goes through a buffer, where it sets out.
    pub(super) issued: Node,
    pub(super) location: Location,
    pub(super) writes: bool,
    /// What is read or written.
    pub(super) value: Term,
    pub(super) guard: Term,
    /// Of a read: whether it finds what was never written.
    pub(super) unwritten: Option<Term>,
    /// Of a write: when it moves on that there is no value. Of a read: whether it finds such a write.
    pub(super) missing: Option<Term>,
    /// That the thread gets to it, though it may look in vain, or store what never arrives.
    pub(super) reached: Term,
    /// Whether it can race with anything.
    pub(super) ordinary: bool,
    /// Whether it depends on what is read in the same step that it is written.
    pub(super) depends: bool,
    pub(super) pc: u32,
}

impl Event {
    /// Whether it looks, and may not find what it waits for.
    pub(super) fn may_be_in_vain(&self) -> bool {
        !self.writes && self.reached != self.guard
    }
}

/// A step of the machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// The next operation.
    Run,
    /// The next operation starts the thread with this number in the list of threads.
    Spawn(usize),
    /// An alternative, by its number.
    Pick(Term),
    /// The next operation, and which one is chosen if there are several alternatives, from 1; 0 if there is one.
    Wake(Term),
    /// The store that has just set out arrives.
    Arrive,
    /// A value of an unknown input, by the number of the list of its values.
    Input(Term, u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) guard: Term,
    pub(super) node: Option<Node>,
    pub(super) action: Action,
}

/// A thread that is started if its guard holds.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) guard: Term,
    pub(super) plan: Vec<Planned>,
    /// How it may end: under which condition, behind which nodes, with which result.
    pub(super) ends: Vec<(Term, Vec<Node>, Term)>,
    /// Under which conditions it ends the program.
    pub(super) exits: Vec<Term>,
}

/// Somebody waits for a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    pub(super) thread: usize,
    pub(super) node: Node,
    pub(super) guard: Term,
    /// That the wait is over.
    pub(super) over: Term,
    /// That there is no such thread, or that somebody has waited for it before.
    pub(super) fails: Term,
    pub(super) handle: Term,
    pub(super) result: Term,
    pub(super) pc: u32,
    pub(super) steps: usize,
}

/// Somebody may wait for ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stuck {
    pub(super) thread: usize,
    /// That it does.
    pub(super) guard: Term,
    pub(super) pc: u32,
    /// Its look in vain is a step of its own.
    pub(super) looks: bool,
}

/// Something that must not happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) thread: usize,
    pub(super) guard: Term,
    pub(super) property: Property,
    pub(super) pc: u32,
    /// It has happened when so many entries of the thread's plan are done,
    pub(super) steps: usize,
    /// or when a store arrives in this node.
    pub(super) arrival: Option<Node>,
}

/// A store that reaches memory later than it sets out.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) thread: usize,
    /// Where it may go, and under which condition.
    pub(super) places: Vec<(Term, u64)>,
}

/// A thread that is not followed any further, or not with all that it may find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) guard: Term,
    pub(super) pc: u32,
    pub(super) kind: CutKind,
}

/// Why a thread is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutKind {
    /// The unrolling has a bound.
    Unrolling,
    /// The code has one: somebody has said how often loops turn.
    AskedFor,
    /// Control cannot get there.
    GaveUp,
    /// Something that was never written is taken for 0.
    Unwritten,
}

/// An atomic block that was entered.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) node: Node,
    /// That it is left again, or at an error: otherwise nothing of it has happened.
    pub(super) done: Term,
    pub(super) ends: Vec<Term>,
    /// Where races are looked for: that its thread may stop inside, if it does so anywhere. What comes behind that has not happened.
    pub(super) stops: Option<Term>,
}

impl Block {
    /// Its thread stops inside under this condition.
    pub(super) fn stop(&mut self, terms: &mut Terms, guard: Term) {
        if !terms.is_false(guard) {
            let stops = *self.stops.get_or_insert_with(|| terms.var(1));
            self.ends.push(terms.and(guard, stops));
        }
    }
}

/// What a shared object is at first.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// That there is this one: on different ways a thread may make different objects as its so many-th.
    pub(super) guard: Term,
    /// Where it was made so far.
    pub(super) made: Term,
    pub(super) shape: Shape,
}

/// What there is to an object beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) size: u32,
    /// `None` if it was never written.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) heap: bool,
}

/// An unrolled program.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) model: Model,
    pub(super) terms: Terms,
    pub(super) nodes: u32,
    pub(super) edges: Vec<(Node, Node)>,
    /// A node is before another if a condition holds.
    pub(super) orders: Vec<(Term, Node, Node)>,
    /// The thread that a node belongs to, and the one that is being unrolled.
    pub(super) owners: Vec<usize>,
    pub(super) current: usize,
    pub(super) arrivals: FxHashMap<Node, Arrival>,
    pub(super) events: Vec<Event>,
    pub(super) threads: Vec<Thread>,
    pub(super) joins: Vec<Join>,
    pub(super) failures: Vec<Failure>,
    pub(super) stuck: Vec<Stuck>,
    pub(super) cuts: Vec<Cut>,
    pub(super) blocks: Vec<Block>,
    /// That the program may end inside of atomic blocks, if it does so anywhere, and where it does.
    pub(super) quits: Option<Term>,
    pub(super) exits_inside: Vec<Term>,
    /// What holds of values beside.
    pub(super) constraints: Vec<Term>,
    /// Whether all values of unknown inputs are among those that are looked at.
    pub(super) every_input: bool,
    /// Objects that were made while the program ran, by their starts: what each may be, under conditions that exclude each other.
    pub(super) objects: FxHashMap<u64, Vec<Object>>,
}

impl Graph {
    pub(super) fn new(model: Model) -> Self {
        Graph {
            model,
            terms: Terms::new(),
            nodes: 1,
            edges: Vec::new(),
            orders: Vec::new(),
            owners: vec![NOBODY],
            current: NOBODY,
            arrivals: FxHashMap::default(),
            events: Vec::new(),
            threads: Vec::new(),
            joins: Vec::new(),
            failures: Vec::new(),
            stuck: Vec::new(),
            cuts: Vec::new(),
            blocks: Vec::new(),
            quits: None,
            exits_inside: Vec::new(),
            constraints: Vec::new(),
            every_input: true,
            objects: FxHashMap::default(),
        }
    }

    pub(super) fn node(&mut self, behind: &[Node]) -> Node {
        let node = self.nodes;
        self.nodes += 1;
        self.owners.push(self.current);
        self.edges.extend(behind.iter().map(|&before| (before, node)));
        node
    }

    /// What a location holds at first; 0 where nothing was ever written.
    pub(super) fn initial(&mut self, code: &Code, location: Location) -> Term {
        let (addr, size) = match location {
            Location::Memory(addr, size) => (addr, size),
            Location::Life(_) => return self.terms.bool(true),
            Location::EndedBy(_) => return self.terms.constant(location.width(), 0),
        };
        let (start, width) = (Addr(addr).offset() as usize, location.width());
        let at = |bytes: &[u8]| {
            let bytes = bytes.get(start..start + usize::from(size)).unwrap_or_default();
            bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
        };
        if let Owner::Global(global) = Addr(addr).owner() {
            return self.terms.constant(width, at(&code.globals()[global.index()].bytes));
        }
        let mut value = self.terms.constant(width, 0);
        let all = self.objects.get(&Addr(addr).base().0).into_iter().flatten();
        let first: Vec<(Term, u64)> =
            all.map(|object| (object.guard, object.shape.bytes.as_deref().map_or(0, at))).collect();
        for (at, &(guard, first)) in first.iter().enumerate() {
            let first = self.terms.constant(width, first);
            // One of them there is.
            value = if at == 0 { first } else { self.terms.ite(guard, first, value) };
        }
        value
    }

    /// `condition` holds wherever `guard` does.
    pub(super) fn require(&mut self, guard: Term, condition: Term) {
        let guard = self.terms.not(guard);
        let constraint = self.terms.or(guard, condition);
        if !self.terms.is_true(constraint) {
            self.constraints.push(constraint);
        }
    }

    /// An object is made if the condition holds. False if nothing was known of it.
    pub(super) fn make_object(&mut self, addr: u64, shape: Shape, made: Term) -> bool {
        let all = self.objects.entry(addr).or_default();
        if let Some(known) = all.iter_mut().find(|known| known.shape == shape) {
            known.made = self.terms.or(known.made, made);
            return true;
        }
        let guard = self.terms.var(1);
        all.push(Object { guard, made, shape });
        false
    }

    /// Objects that are made on some way somewhere.
    pub(super) fn expect_objects(&mut self, known: &BTreeMap<u64, Vec<Shape>>) {
        let nowhere = self.terms.bool(false);
        for (&addr, shapes) in known {
            for shape in shapes {
                self.make_object(addr, shape.clone(), nowhere);
            }
        }
    }

    /// The condition under which the object at this address, whatever it is, is such a one; `None` if no object there can be.
    pub(super) fn object_is(&mut self, base: u64, such: impl Fn(&Shape) -> bool) -> Option<Term> {
        let all = self.objects.get(&base)?;
        let fits: Vec<Term> = all.iter().filter(|object| such(&object.shape)).map(|object| object.guard).collect();
        match fits.len() {
            0 => None,
            count if count == all.len() => Some(self.terms.bool(true)),
            _ => Some(self.terms.any(fits)),
        }
    }

    pub(super) fn add(&mut self, node: Node, location: Location, writes: bool, value: Term, guard: Term, pc: u32) {
        let (issued, unwritten, missing, reached, ordinary, depends) = (node, None, None, guard, false, false);
        let event =
            Event { node, issued, location, writes, value, guard, unwritten, missing, reached, ordinary, depends, pc };
        self.events.push(event);
    }

    /// A look at a location when nothing moves any more; what it finds.
    pub(super) fn final_look(&mut self, guard: Term, location: Location, pc: u32) -> Term {
        let value = self.terms.var(location.width());
        self.add(FINAL, location, false, value, guard, pc);
        value
    }

    /// A node behind all others that there are.
    pub(super) fn last_node(&mut self) -> Node {
        self.current = NOBODY;
        let behind: Vec<Node> = (0..self.nodes).collect();
        self.node(&behind)
    }

    /// Says of each atomic block when it is done, and which node is the last one. Nothing is unrolled any more.
    pub(super) fn finish(&mut self) {
        if self.events.iter().any(|event| event.node == FINAL) {
            let node = self.last_node();
            for event in self.events.iter_mut().filter(|event| event.node == FINAL) {
                (event.node, event.issued) = (node, node);
            }
        }
        let several = self.objects.values().filter(|all| all.len() > 1).flatten();
        let several: Vec<(Term, Term)> = several.map(|object| (object.guard, object.made)).collect();
        for (guard, made) in several {
            let exact = self.terms.eq(guard, made);
            self.constraints.push(exact);
        }
        for block in std::mem::take(&mut self.blocks) {
            let left = self.terms.any(block.ends.iter().copied());
            let exact = self.terms.eq(block.done, left);
            self.constraints.push(exact);
            self.blocks.push(block);
        }
    }
}
