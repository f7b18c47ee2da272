//! Systems whose states are found by going: the one thing a state space has to offer to become a graph.

use crate::graph::{Graph, MAX_VERTICES, NoGraph, Vertex};
use crate::sets::Stop;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::time::Instant;

/// A system that can be asked where one can go. The product of a file and an objective is one, the state space of a program can be another.
pub trait Successors {
    /// A state.
    type State: Clone + Eq + Hash;

    /// Where it begins.
    fn initial(&self) -> Self::State;
    /// Whether the successor is drawn here; else it is chosen.
    fn is_random(&self, state: &Self::State) -> bool;
    /// Names every successor, as often as it likes.
    fn successors(&self, state: &Self::State, each: &mut dyn FnMut(Self::State));
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Explored<S> {
    /// The graph; vertex 0 is the initial state.
    pub graph: Graph,
    /// What the vertices are.
    pub states: Vec<S>,
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExplored<S> {
    /// A limit was reached.
    Stopped(Stop),
    /// This state has no successor.
    DeadEnd(S),
}

/// What a state and an edge take until they are in a graph, in bytes: states are kept twice, and edges are sorted.
const PER_EDGE: u64 = 16;
const fn per_state<S>() -> u64 {
    3 * size_of::<S>() as u64 + 32
}

/// Goes everywhere, breadth first, with about so many bytes.
///
/// # Errors
/// If there are more of them, time is up, or a state has no successor.
pub fn explore<T: Successors>(
    system: &T,
    memory: u64,
    deadline: Option<Instant>,
) -> Result<Explored<T::State>, NotExplored<T::State>> {
    let mut states = vec![system.initial()];
    let mut numbers: FxHashMap<T::State, Vertex> = states.iter().map(|state| (state.clone(), 0)).collect();
    let (mut edges, mut random) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < states.len() {
        if at % 1024 == 0 && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(NotExplored::Stopped(Stop::Time));
        }
        let state = states[at].clone();
        if system.is_random(&state) {
            random.push(at as Vertex);
        }
        let before = edges.len();
        system.successors(&state, &mut |next| {
            let number = *numbers.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                (states.len() - 1) as Vertex
            });
            edges.push((at as Vertex, number));
        });
        if edges.len() == before {
            return Err(NotExplored::DeadEnd(state));
        }
        let taken = states.len() as u64 * per_state::<T::State>() + edges.len() as u64 * PER_EDGE;
        if states.len() > MAX_VERTICES || taken > memory {
            return Err(NotExplored::Stopped(Stop::Memory));
        }
        at += 1;
    }
    match Graph::new(states.len(), edges, &random) {
        Ok(graph) => Ok(Explored { graph, states }),
        Err(NoGraph::DeadEnd(vertex)) => Err(NotExplored::DeadEnd(states.swap_remove(vertex as usize))),
        Err(_) => Err(NotExplored::Stopped(Stop::Memory)),
    }
}
