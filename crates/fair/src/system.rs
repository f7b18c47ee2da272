//! What is read from a file: states, choices with actions, and what holds in which state.

use crate::format::InputError;
use crate::graph::Vertex;

/// One thing to choose in a state. More than one target: which of them is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// In which state.
    pub from: Vertex,
    /// Where it leads, and by which action, by its number in [`System::actions`]; at least one, ascending.
    pub targets: Vec<(Vertex, Option<u32>)>,
    /// The line where it begins in the file.
    pub line: u32,
}

/// A transition system or an MDP with names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// How many states the file says there are.
    pub states: usize,
    /// Where it begins.
    pub initial: Vertex,
    /// Ascending by state.
    choices: Vec<Choice>,
    /// Names of actions.
    pub actions: Vec<String>,
    /// Names of what holds in states, and where it does, ascending.
    pub labels: Vec<(String, Vec<Vertex>)>,
    /// What states are called, if they have names.
    pub names: Vec<String>,
    /// What states are made of, if that is known: for each thing that makes a difference, what it is in each state.
    pub columns: Vec<Vec<u32>>,
}

impl System {
    /// A system without labels and names, of choices in any order.
    pub fn new(states: usize, initial: Vertex, actions: Vec<String>, mut choices: Vec<Choice>) -> Self {
        choices.sort_by_key(|choice| choice.from);
        System { states, initial, choices, actions, ..System::default() }
    }

    /// All choices, ascending by state.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The choices of a state, by number.
    pub fn choices_of(&self, state: Vertex) -> std::ops::Range<usize> {
        let begin = self.choices.partition_point(|choice| choice.from < state);
        begin..begin + self.choices[begin..].partition_point(|choice| choice.from == state)
    }

    /// Makes every state stay where it is if it has nothing to choose.
    pub fn let_dead_ends_stay(&mut self) {
        let mut named: Vec<Vertex> =
            self.choices.iter().flat_map(|choice| choice.targets.iter().map(|target| target.0)).collect();
        named.push(self.initial);
        named.sort_unstable();
        named.dedup();
        named.retain(|&state| self.choices_of(state).is_empty());
        let stay = |state| Choice { from: state, targets: vec![(state, None)], line: 0 };
        self.choices.extend(named.into_iter().map(stay));
        self.choices.sort_by_key(|choice| choice.from);
    }

    /// Makes the states in these ranges, both ends included, draw among all they could choose.
    pub fn draw(&mut self, ranges: &[(Vertex, Vertex)]) {
        let mut choices: Vec<Choice> = Vec::with_capacity(self.choices.len());
        for choice in std::mem::take(&mut self.choices) {
            let draws = ranges.iter().any(|&(low, high)| (low..=high).contains(&choice.from));
            match choices.last_mut() {
                Some(last) if draws && last.from == choice.from => {
                    last.targets.extend(choice.targets);
                    last.targets.sort_unstable();
                    last.targets.dedup();
                }
                _ => choices.push(choice),
            }
        }
        self.choices = choices;
    }

    /// What a state is called.
    pub fn name(&self, state: Vertex) -> String {
        match self.names.get(state as usize) {
            Some(name) if !name.is_empty() => format!("{state} {name}"),
            _ => state.to_string(),
        }
    }

    /// What an action is called.
    pub fn action(&self, action: Option<u32>) -> Option<&str> {
        action.map(|action| &*self.actions[action as usize])
    }

    /// Checks that a number is one of a state.
    pub(crate) fn state(states: usize, number: u64, at: (u32, u32)) -> Result<Vertex, InputError> {
        match Vertex::try_from(number) {
            Ok(state) if (state as usize) < states => Ok(state),
            _ => Err(InputError::at(at, format!("state {number} does not exist: there are {states} states"))),
        }
    }
}

/// Numbers for names, in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: rustc_hash::FxHashMap<String, u32>,
    pub(crate) names: Vec<String>,
}

impl Names {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
