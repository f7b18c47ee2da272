//! States and transitions by number.
//!
//! The model is asked once for each pair of a state and a class of operations; from then on a step is a look into a table.

use rustc_hash::FxHashMap;

use super::aside;
use super::layout::Classes;
use super::model::{Model, Nature};
use crate::history::Ts;

/// What an operation does in a state, by number.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Refused,
    State(u32),
    /// Several states, from the list with this number.
    Several(u32),
}

/// What a state turns into with time.
#[derive(Clone, Copy)]
enum Fading {
    Unasked,
    Never,
    After(Ts, u32),
}

/// A model with everything numbered.
pub(super) struct Machine<'m, M: Model> {
    pub(super) model: &'m M,
    pub(super) classes: Classes<M>,
    nature: Vec<Nature>,
    pub(super) states: Vec<M::State>,
    numbers: FxHashMap<M::State, u32>,
    fading: Vec<Fading>,
    steps: FxHashMap<(u32, u32), Next>,
    several: Vec<Box<[u32]>>,
    /// What it holds, roughly.
    pub(super) bytes: u64,
}

impl<M: Model> Drop for Machine<'_, M> {
    fn drop(&mut self) {
        let (states, numbers) = (std::mem::take(&mut self.states), std::mem::take(&mut self.numbers));
        aside::free((states, numbers, std::mem::take(&mut self.steps)), self.bytes);
    }
}

impl<'m, M: Model> Machine<'m, M> {
    pub(super) fn new(model: &'m M, classes: Classes<M>) -> Self {
        let nature = classes.iter().map(|(call, ret)| model.nature(call, ret.as_ref())).collect();
        Machine {
            model,
            classes,
            nature,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            fading: Vec::new(),
            steps: FxHashMap::default(),
            several: Vec::new(),
            bytes: 0,
        }
    }

    pub(super) fn nature(&self, class: u32) -> Nature {
        self.nature[class as usize]
    }

    /// The number of a state.
    pub(super) fn state(&mut self, state: M::State) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.bytes += 2 * self.model.weight(&state) as u64 + 80;
        self.states.push(state.clone());
        self.fading.push(Fading::Unasked);
        self.numbers.insert(state, number);
        number
    }

    /// Where an operation leads.
    pub(super) fn step(&mut self, state: u32, class: u32) -> Next {
        if let Some(&next) = self.steps.get(&(state, class)) {
            return next;
        }
        let (call, ret) = &self.classes[class as usize];
        let successors = self.model.step(&self.states[state as usize], call, ret.as_ref());
        let mut numbers: Vec<u32> = successors.into_iter().map(|successor| self.state(successor)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let next = match numbers[..] {
            [] => Next::Refused,
            [only] => Next::State(only),
            _ => {
                self.bytes += 4 * numbers.len() as u64 + 16;
                self.several.push(numbers.into());
                Next::Several(self.several.len() as u32 - 1)
            }
        };
        self.bytes += 32;
        self.steps.insert((state, class), next);
        next
    }

    /// The states of a step.
    pub(super) fn successors<'a>(&'a self, next: &'a Next) -> &'a [u32] {
        match next {
            Next::Refused => &[],
            Next::State(only) => std::slice::from_ref(only),
            Next::Several(list) => &self.several[*list as usize],
        }
    }

    /// Whether an operation can take effect in a state and leave it as good as it is when the next return is at `now`.
    pub(super) fn stays(&mut self, state: u32, class: u32, now: Ts) -> bool {
        match self.step(state, class) {
            Next::Refused => false,
            Next::State(next) => next == state || self.faded(next, now) == state,
            Next::Several(list) => self.several[list as usize].contains(&state),
        }
    }

    /// Whether an operation can take effect in a state.
    pub(super) fn allows(&mut self, state: u32, class: u32) -> bool {
        !matches!(self.step(state, class), Next::Refused)
    }

    /// The state that is as good as this one when the next return is at `now`.
    pub(super) fn faded(&mut self, mut state: u32, now: Ts) -> u32 {
        loop {
            match self.fading[state as usize] {
                Fading::After(then, next) if then < now => state = next,
                Fading::After(..) | Fading::Never => return state,
                Fading::Unasked => {
                    let fading = self.model.fades(&self.states[state as usize]);
                    let fading = fading.map(|(then, next)| (then, self.state(next)));
                    self.fading[state as usize] = match fading {
                        Some((then, next)) if next != state => Fading::After(then, next),
                        _ => Fading::Never,
                    };
                }
            }
        }
    }

    /// Whether the part an operation is about is [`Model::inert`] in a state.
    pub(super) fn inert(&self, state: u32, class: u32) -> bool {
        self.model.inert(&self.states[state as usize], &self.classes[class as usize].0)
    }
}
