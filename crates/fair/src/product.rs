//! A system and an objective as one graph.
//!
//! A vertex is a state of the system, the state of the automaton if there is one, and the marks met on the way into it: those that acceptance speaks of,
//! and the labels of actions that pairs speak of. With both, the product asks for paths that satisfy the pairs and that the automaton rejects. A choice that is
//! drawn becomes a random vertex of its own, which has no marks and in which the automaton waits. The automaton reads the action of each step and the labels of the state
//! that is entered; where states have labels, those of the initial one first. Where it is stuck it has rejected, and only the pairs that somebody wrote count
//! from then on.
//!
//! That a proposition is the last action or a label of the state is a choice of ours (Toman 2021 does not report the one made there).

use crate::format::InputError;
use crate::format::hoa::{Automaton, Clause};
use crate::format::pairs::{Places, Written};
use crate::graph::{Pair, Vertex};
use crate::successors::Successors;
use crate::system::System;
use std::cell::RefCell;

/// A vertex of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// In a state.
    At {
        /// The state of the system.
        state: Vertex,
        /// That of the automaton, 0 if there is none; nothing if it is stuck.
        automaton: Option<u32>,
        /// Marks met on the way: of the automaton below, of actions above.
        marks: u128,
    },
    /// The choice is made, and its target is about to be drawn.
    Drawing {
        /// The choice, by number.
        choice: u32,
        /// The state of the automaton.
        automaton: Option<u32>,
    },
}

/// What is asked of the system.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// Pairs that are to be satisfied.
    pub pairs: Option<Written>,
    /// An automaton that is to reject.
    pub rejected_by: Option<Automaton>,
}

/// The marks of actions begin here, those of the automaton at 0.
const ACTIONS: u32 = 64;

/// A system and an objective.
#[derive(Debug)]
pub struct Product<'a> {
    system: &'a System,
    objective: &'a Objective,
    /// For each action: the letter of the automaton.
    actions: Vec<u64>,
    /// For each action: the mark of the pairs.
    marks: Vec<u128>,
    /// For each state with labels: the letter.
    letters: rustc_hash::FxHashMap<Vertex, u64>,
    /// The labels of actions that pairs speak of; the number of one is its mark.
    watched: Vec<String>,
    /// What went wrong on the way; successors cannot say so.
    problem: RefCell<Option<InputError>>,
}

impl<'a> Product<'a> {
    /// The product.
    ///
    /// # Errors
    /// If pairs name more than 64 actions.
    pub fn new(system: &'a System, objective: &'a Objective) -> Result<Self, InputError> {
        let mut watched: Vec<String> = Vec::new();
        let pairs = objective.pairs.iter().flat_map(|written| &written.pairs);
        for name in pairs.flat_map(|(requests, grants)| requests.labels.iter().chain(&grants.labels)) {
            if !is_state_label(system, name) && !watched.contains(name) {
                watched.push(name.clone());
            }
        }
        if watched.len() > 64 {
            return Err(InputError::at((0, 0), "the pairs name more than 64 actions"));
        }
        let mark = |action: &String| {
            watched.iter().position(|name| name == action).map_or(0, |mark| 1 << (ACTIONS + mark as u32))
        };
        let marks: Vec<u128> = system.actions.iter().map(mark).collect();
        let mut actions = vec![0u64; system.actions.len()];
        let mut letters: rustc_hash::FxHashMap<Vertex, u64> = rustc_hash::FxHashMap::default();
        let propositions = objective.rejected_by.iter().flat_map(|automaton| &automaton.propositions);
        for (at, name) in propositions.enumerate() {
            for (letter, action) in actions.iter_mut().zip(&system.actions) {
                *letter |= u64::from(action == name) << at;
            }
            for state in system.labels.iter().filter(|(label, _)| label == name).flat_map(|(_, states)| states) {
                *letters.entry(*state).or_default() |= 1 << at;
            }
        }
        Ok(Product { system, objective, actions, marks, letters, watched, problem: RefCell::new(None) })
    }

    /// Propositions of the automaton that nothing in the system is called like: they never hold.
    pub fn unknown_propositions(&self) -> Vec<&str> {
        let known = |name: &String| self.system.actions.contains(name) || is_state_label(self.system, name);
        let propositions = self.objective.rejected_by.iter().flat_map(|automaton| &automaton.propositions);
        propositions.filter(|name| !known(name)).map(|name| &**name).collect()
    }

    /// An action that leads from one vertex to another, if it has a name.
    pub fn action(&self, from: &Node, to: &Node) -> Option<&str> {
        let choices = self.system.choices();
        let (automaton, targets): (_, Vec<_>) = match *from {
            Node::At { state, automaton, .. } => {
                let single = |number: usize| match choices[number].targets[..] {
                    [target] => Some(target),
                    _ => None,
                };
                (automaton, self.system.choices_of(state).filter_map(single).collect())
            }
            Node::Drawing { choice, automaton } => (automaton, choices[choice as usize].targets.clone()),
        };
        let leads = |&&(state, action): &&(Vertex, Option<u32>)| self.enter(state, automaton, Some(action)) == *to;
        self.system.action(targets.iter().find(leads)?.1)
    }

    /// Whether an automaton takes part.
    pub fn has_automaton(&self) -> bool {
        self.objective.rejected_by.is_some()
    }

    /// What went wrong while successors were asked for, if something did.
    pub fn problem(&self) -> Option<InputError> {
        self.problem.borrow().clone()
    }

    /// The pairs of the product, on these vertices.
    pub fn pairs(&self, nodes: &[Node]) -> Vec<Pair> {
        let select = |wanted: &dyn Fn(Node) -> bool| -> Vec<Vertex> {
            (0..nodes.len()).filter(|&at| wanted(nodes[at])).map(|at| at as Vertex).collect()
        };
        let places = |places: &Places| {
            let marks = self.marks_of(places);
            let labels =
                places.labels.iter().filter_map(|name| self.system.labels.iter().find(|(label, _)| label == name));
            let labelled: Vec<&Vec<Vertex>> = labels.map(|(_, states)| states).collect();
            select(&|node| match node {
                Node::At { state, marks: met, .. } => {
                    places.all
                        || met & marks != 0
                        || places.ranges.iter().any(|&(low, high)| (low..=high).contains(&state))
                        || labelled.iter().any(|states| states.binary_search(&state).is_ok())
                }
                Node::Drawing { .. } => false,
            })
        };
        let written = self.objective.pairs.iter().flat_map(|written| &written.pairs);
        let written = written.map(|(requests, grants)| Pair { requests: places(requests), grants: places(grants) });
        // Who is stuck has rejected: that is no request, and a grant.
        let clause = |clause: &Clause| Pair {
            requests: select(&|node| match (node, clause.requests) {
                (Node::At { automaton: Some(_), marks, .. }, Some(mark)) => marks >> mark & 1 == 1,
                (Node::At { automaton: Some(_), .. }, None) => true,
                _ => false,
            }),
            grants: select(&|node| match node {
                Node::At { automaton: Some(_), marks, .. } => marks & u128::from(clause.grants) != 0,
                Node::At { automaton: None, .. } => true,
                Node::Drawing { .. } => false,
            }),
        };
        let rejects = self.objective.rejected_by.iter().flat_map(|automaton| &automaton.rejects);
        written.chain(rejects.map(clause)).collect()
    }

    /// What vertices are made of, if that is known of the states of the system.
    pub fn columns(&self, nodes: &[Node]) -> Vec<Vec<u32>> {
        let states = &self.system.columns;
        if states.is_empty() || states.iter().any(|column| column.len() < self.system.states) {
            return Vec::new();
        }
        let choices = self.system.choices();
        let at = |node: &Node| match *node {
            Node::At { state, .. } => state,
            Node::Drawing { choice, .. } => choices[choice as usize].from,
        };
        let mut columns: Vec<Vec<u32>> =
            states.iter().map(|column| nodes.iter().map(|node| column[at(node) as usize]).collect()).collect();
        let mut known: rustc_hash::FxHashMap<u128, u32> = rustc_hash::FxHashMap::default();
        let (mut automata, mut marks, mut drawing) = (Vec::new(), Vec::new(), Vec::new());
        for node in nodes {
            let (automaton, met, number) = match *node {
                Node::At { automaton, marks, .. } => (automaton, marks, 0),
                Node::Drawing { choice, automaton } => {
                    let first = self.system.choices_of(choices[choice as usize].from).start;
                    (automaton, 0, choice - first as u32 + 1)
                }
            };
            automata.push(automaton.map_or(0, |state| state + 1));
            let next = known.len() as u32;
            marks.push(*known.entry(met).or_insert(next));
            drawing.push(number);
        }
        columns.splice(0..0, [automata, marks, drawing]);
        columns
    }

    fn marks_of(&self, places: &Places) -> u128 {
        let named = |(_, name): &(usize, &String)| places.labels.contains(name);
        self.watched.iter().enumerate().filter(named).fold(0, |marks, (mark, _)| marks | 1 << (ACTIONS + mark as u32))
    }

    /// Into a state, by something that may be an action, or at the beginning.
    fn enter(&self, state: Vertex, automaton: Option<u32>, by: Option<Option<u32>>) -> Node {
        let action = by.flatten();
        let of_action = action.map_or(0, |action| self.marks[action as usize]);
        let here = Node::At { state, automaton, marks: of_action };
        let (Some(spec), Some(from)) = (&self.objective.rejected_by, automaton) else { return here };
        if by.is_none() && self.system.labels.is_empty() {
            // The first action is still to come.
            return here;
        }
        let of_state = self.letters.get(&state).copied().unwrap_or(0);
        let letter = of_state | action.map_or(0, |action| self.actions[action as usize]);
        match spec.step(from, letter) {
            Ok(Some((to, marks))) => Node::At { state, automaton: Some(to), marks: of_action | u128::from(marks) },
            Ok(None) => Node::At { state, automaton: None, marks: of_action },
            Err(problem) => {
                self.problem.borrow_mut().get_or_insert(problem);
                Node::At { state, automaton: None, marks: of_action }
            }
        }
    }
}

fn is_state_label(system: &System, name: &str) -> bool {
    system.labels.iter().any(|(label, _)| label == name)
}

impl Successors for Product<'_> {
    type State = Node;

    fn initial(&self) -> Node {
        let automaton = self.objective.rejected_by.as_ref().map_or(0, |automaton| automaton.initial);
        self.enter(self.system.initial, Some(automaton), None)
    }

    fn is_random(&self, node: &Node) -> bool {
        matches!(node, Node::Drawing { .. })
    }

    fn successors(&self, node: &Node, each: &mut dyn FnMut(Node)) {
        match *node {
            Node::At { state, automaton, .. } => {
                for number in self.system.choices_of(state) {
                    let choice = &self.system.choices()[number];
                    match choice.targets[..] {
                        [(target, action)] => each(self.enter(target, automaton, Some(action))),
                        _ => each(Node::Drawing { choice: number as u32, automaton }),
                    }
                }
            }
            Node::Drawing { choice, automaton } => {
                for &(target, action) in &self.system.choices()[choice as usize].targets {
                    each(self.enter(target, automaton, Some(action)));
                }
            }
        }
    }
}
