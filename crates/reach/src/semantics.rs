//! How a system goes on: what a search walks over.
//!
//! A search knows nothing of programs. It is told what a state is made of, what follows from it, and what is worth noticing about it. Sequential
//! consistency, memories with store buffers, and whatever else turns a question into reachability are instances.

use crate::parts::{Numbers, Settled};
use std::hash::Hash;

/// A system whose states can be searched.
pub trait Semantics: Sync {
    /// A state.
    type State;
    /// What states are made of. Few parts make many states, so each is kept once and a state is a list of numbers.
    type Part: Part;
    /// What is worth noticing about a state.
    type Sight: Send;
    /// What a worker remembers of moves that it has worked out.
    type Memo: Remembers;

    /// The first state.
    fn initial(&self) -> Self::State;

    /// The parts of a state, in an order that depends on the state alone: two states are the same if these lists are.
    fn split(&self, state: &Self::State, see: &mut dyn FnMut(&Self::Part));

    /// The state that is made of these parts.
    fn join(&self, parts: &mut dyn Iterator<Item = &Self::Part>) -> Self::State;

    /// Looks at a state and tells of what follows from it, each by the number of the move that leads there.
    fn expand(
        &self,
        state: &Self::State,
        breadth: Breadth,
        next: &mut dyn FnMut(u16, Self::State),
    ) -> Expanded<Self::Sight>;

    /// Like [`Semantics::expand`], from the numbers of the parts of a state to those of what follows from it; `None`, and nothing was told, if that is not known to be possible.
    fn recall(
        &self,
        _memo: &mut Self::Memo,
        _numbers: &mut Numbers<'_, Self::Part>,
        _parts: &[u32],
        _breadth: Breadth,
        _next: &mut dyn FnMut(u16, &[u32]),
    ) -> Option<Expanded<Self::Sight>> {
        None
    }
}

/// What a worker remembers of moves. In it may stand numbers of the batch that is looked at, until they are settled.
pub trait Remembers: Default + Send {
    /// The numbers of the last batch have been settled.
    fn settle(&mut self, settled: &Settled);
}

impl Remembers for () {
    fn settle(&mut self, _: &Settled) {}
}

/// A part of states.
pub trait Part: Clone + Eq + Hash + Send + Sync {
    /// Its number, if it remembers one.
    fn number(&self) -> Option<u32>;

    /// Lets it remember its number. That makes no difference between parts.
    fn remember(&mut self, number: u32);
}

/// How much of what follows from a state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// What is enough if some of it has not been met before.
    Enough,
    /// Everything.
    Everything,
}

/// What came of a state.
#[derive(Clone, Debug)]
pub struct Expanded<S> {
    /// What is worth noticing about it.
    pub sight: S,
    /// Whether there is more that follows from it.
    pub reduced: bool,
}
