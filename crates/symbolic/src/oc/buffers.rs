//! Program order as far as the memory model keeps it.
//!
//! Under sequential consistency what a thread does happens in its order. With store buffers a store happens when it reaches memory, which is later than where it stands in the thread: its node is its *arrival*. It
//! comes behind all that is read before it and behind earlier stores, all of them under TSO, those to the same place or across a store-store fence under PSO; what is read after it need not come behind it. An
//! operation for which a thread waits until nothing of it is on its way (update, full fence, spawn, join, atomic block) comes behind all its arrivals (Telbisz 2024 leaves this open; the relations are those of Owens, Sarkar and Sewell 2009 and
//! SPARC International 1994).
//!
//! A read that finds a store of its own thread may do so in the buffer: then it is in no order with the arrival. That nothing else is found instead is said to the theory (`Orders::forwards`, `Orders::hides`).
//! A store that never arrives, because its object ends before or something before it in the buffer did not arrive, is found there all the same, and nothing else is.
//!
//! Ways meet again, and what lies behind a node that did not happen is in no order because of it. Orders inside of a way follow in any case, but an arrival comes before a fence only if
//! the fence happens; so these orders are under conditions.

use super::graph::{Action, Arrival, Failure, Location, Node};
use super::memory::Place;
use super::state::State;
use super::unroll::Unroller;
use raddle_program::Ordering;
use raddle_solve::{Term, Terms};
use raddle_trace::{Model, Property};

/// What a store-store fence keeps apart: stores to all places.
const ALL: u64 = u64::MAX;

/// A store that may still be on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    node: Node,
    /// To this place, if the condition holds.
    place: u64,
    here: Term,
}

/// What the next operation of a thread comes behind.
#[derive(Clone, Debug)]
pub(super) struct Behind {
    /// These nodes come before all that follows.
    nodes: Vec<Node>,
    /// Arrivals that come before some of it.
    pending: Vec<Pending>,
    /// That all of these find their objects alive.
    arrive: Term,
}

impl Behind {
    /// Behind these nodes.
    pub(super) fn new(terms: &mut Terms, nodes: Vec<Node>) -> Self {
        Behind { nodes, pending: Vec::new(), arrive: terms.bool(true) }
    }

    /// All nodes that the end of the thread comes behind.
    pub(super) fn all(&self) -> Vec<Node> {
        self.nodes.iter().copied().chain(self.pending.iter().map(|pending| pending.node)).collect()
    }

    /// That all that is on its way finds its object alive.
    pub(super) fn arrive(&self) -> Term {
        self.arrive
    }

    /// What is behind either of two ways, of which `which` says that it is this one.
    pub(super) fn merge(&mut self, terms: &mut Terms, which: Term, other: &Behind) {
        self.nodes.extend(&other.nodes);
        self.nodes.sort_unstable();
        self.nodes.dedup();
        for pending in &other.pending {
            if !self.pending.contains(pending) {
                self.pending.push(*pending);
            }
        }
        self.arrive = terms.ite(which, self.arrive, other.arrive);
    }
}

impl Unroller<'_> {
    /// Whether stores are on their way for a while.
    pub(super) fn keeps_stores(&self, state: &State) -> bool {
        self.model != Model::Sc && state.block.is_none()
    }

    /// A node is behind another if the condition holds.
    fn order(&mut self, condition: Term, from: Node, to: Node) {
        if self.graph.terms.is_true(condition) {
            self.graph.edges.push((from, to));
        } else {
            self.graph.orders.push((condition, from, to));
        }
    }

    /// The node in which the state's next operation happens, behind all that is on its way.
    pub(super) fn node(&mut self, state: &mut State) -> Node {
        if let Some((block, _)) = state.block {
            return self.graph.blocks[block].node;
        }
        let node = self.graph.node(&state.behind.nodes);
        for pending in std::mem::take(&mut state.behind.pending) {
            self.order(state.guard, pending.node, node);
        }
        state.guard = self.graph.terms.and(state.guard, state.behind.arrive);
        state.behind = Behind::new(&mut self.graph.terms, vec![node]);
        node
    }

    /// The node in which the state's next read happens.
    pub(super) fn read_node(&mut self, state: &mut State) -> Node {
        if !self.keeps_stores(state) {
            return self.node(state);
        }
        let node = self.graph.node(&state.behind.nodes);
        state.behind.nodes = vec![node];
        node
    }

    /// Stores that follow come behind those that are on their way.
    pub(super) fn store_fence(&mut self, state: &mut State) {
        if self.model != Model::Pso || state.behind.pending.is_empty() {
            return;
        }
        let node = self.graph.node(&[]);
        for pending in std::mem::take(&mut state.behind.pending) {
            self.order(state.guard, pending.node, node);
        }
        let here = self.graph.terms.bool(true);
        state.behind.pending.push(Pending { node, place: ALL, here });
    }

    /// The node in which a store to one of these places arrives.
    fn arrival_node(&mut self, state: &mut State, places: &[(Term, u64)], order: Ordering) -> Node {
        if order.releases() {
            self.store_fence(state);
        }
        let node = self.graph.node(&state.behind.nodes);
        let yes = self.graph.terms.bool(true);
        if self.model == Model::Tso {
            for pending in std::mem::take(&mut state.behind.pending) {
                self.order(yes, pending.node, node);
            }
            state.behind.pending.push(Pending { node, place: ALL, here: yes });
            return node;
        }
        for pending in state.behind.pending.clone() {
            if pending.place == ALL {
                self.order(yes, pending.node, node);
            }
            for &(here, _) in places.iter().filter(|(_, place)| *place == pending.place) {
                let both = self.graph.terms.and(pending.here, here);
                self.order(both, pending.node, node);
            }
        }
        if let [(here, place)] = *places
            && self.graph.terms.is_true(here)
        {
            state.behind.pending.retain(|pending| pending.place != place);
        }
        state.behind.pending.extend(places.iter().map(|&(here, place)| Pending { node, place, here }));
        node
    }

    /// A store that sets out now and arrives later.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn set_out(
        &mut self,
        thread: usize,
        state: &mut State,
        list: &[(Term, Place)],
        size: u8,
        value: Term,
        order: Ordering,
        ordinary: bool,
    ) {
        let pc = state.pc;
        let private = list.iter().filter(|(_, place)| matches!(place, Place::Private { .. })).map(|(here, _)| *here);
        let private = self.graph.terms.any(private);
        let shared: Vec<(Term, u64, bool)> = list
            .iter()
            .filter_map(|&(here, place)| match place {
                Place::Shared { addr, mortal } => Some((here, addr, mortal)),
                Place::Private { .. } | Place::Constant { .. } => None,
            })
            .collect();
        if shared.is_empty() {
            return;
        }
        let guard = self.graph.terms.and_not(state.guard, private);
        // What can race with a store can do so when it sets out.
        let issued = (self.races || shared.iter().any(|(.., mortal)| *mortal)).then(|| self.read_node(state));
        if let Some(node) = issued {
            self.plan(thread, guard, node, Action::Run);
            for &(here, addr, mortal) in &shared {
                let guard = self.graph.terms.and(guard, here);
                self.ask_life(thread, state, node, guard, Place::Shared { addr, mortal }, pc);
            }
        } else {
            let shown = State { guard, ..state.clone() };
            self.plan_alone(thread, &shown, Action::Run);
        }
        let places: Vec<(Term, u64)> = shared.iter().map(|&(here, addr, _)| (here, addr)).collect();
        // What comes out of a buffer after a write that found its object dead does not come out.
        let follows = if self.model == Model::Tso { state.behind.arrive } else { self.graph.terms.bool(true) };
        let node = self.arrival_node(state, &places, order);
        let sets_out = self.graph.terms.and_not(state.guard, private);
        let mut arrival = Arrival { thread, places: Vec::new() };
        for &(here, addr, mortal) in &shared {
            let reached = self.graph.terms.and(sets_out, here);
            let mut guard = self.graph.terms.and(reached, follows);
            arrival.places.push((guard, addr));
            if mortal {
                let late = self.arrives_too_late(thread, node, guard, addr, pc);
                let (property, steps) = (Property::Memory, 0);
                self.graph.failures.push(Failure { thread, guard: late, property, pc, steps, arrival: Some(node) });
                let fine = self.graph.terms.not(late);
                state.behind.arrive = self.graph.terms.and(state.behind.arrive, fine);
                guard = self.graph.terms.and(guard, fine);
            }
            self.write(node, guard, Location::Memory(addr, size), value, pc);
            let missing = self.is_missing(value);
            let event = self.graph.events.last_mut().expect("just made");
            (event.missing, event.ordinary, event.issued) = (missing, ordinary, issued.unwrap_or(node));
            event.reached = reached;
        }
        self.graph.arrivals.insert(node, arrival);
        if order == Ordering::SeqCst {
            // Nothing more is done before it has arrived.
            for pending in std::mem::take(&mut state.behind.pending) {
                if pending.node != node {
                    self.order(sets_out, pending.node, node);
                }
            }
            self.plan(thread, sets_out, node, Action::Arrive);
            let arrive = state.behind.arrive;
            state.guard = self.graph.terms.and(state.guard, arrive);
            state.behind = Behind::new(&mut self.graph.terms, vec![node]);
        }
    }
}
