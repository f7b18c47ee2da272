//! What the general checker needs to know about an object.

use std::fmt::Debug;
use std::hash::Hash;

use super::terms::Entry;
use crate::history::Ts;

/// A sequential object: an initial state, and what each call may do in each state.
///
/// A model may be nondeterministic: [`Model::step`] returns every state that the call may lead to. It should be small
/// and obviously right, since everything else is checked against it.
///
/// ```
/// use raddle_linear::search::{Model, Nature};
///
/// /// A cell that holds a number.
/// struct Cell;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Call { Get, Put(i64) }
///
/// impl Model for Cell {
///     type State = i64;
///     type Call = Call;
///     type Ret = i64;
///
///     fn initial(&self) -> i64 { 0 }
///
///     fn step(&self, state: &i64, call: &Call, ret: Option<&i64>) -> Vec<i64> {
///         match call {
///             Call::Put(value) => vec![*value],
///             // An operation that never returned may have read anything.
///             Call::Get if ret.is_none_or(|value| value == state) => vec![*state],
///             Call::Get => vec![],
///         }
///     }
///
///     fn nature(&self, call: &Call, _ret: Option<&i64>) -> Nature {
///         if *call == Call::Get { Nature::Observes } else { Nature::Overwrites }
///     }
/// }
/// ```
pub trait Model {
    /// The state of the object. Equal states behave alike.
    type State: Clone + Eq + Hash + Debug + Send + 'static;
    /// What was called, with its arguments.
    type Call: Clone + Eq + Hash + Debug;
    /// What was answered.
    type Ret: Clone + Eq + Hash + Debug;

    /// The state at the beginning.
    fn initial(&self) -> Self::State;

    /// Every state in which `call` may leave the object, if in `state` it answers `ret`; none if it cannot answer so. With no `ret`
    /// the answer is unknown and any will do.
    fn step(&self, state: &Self::State, call: &Self::Call, ret: Option<&Self::Ret>) -> Vec<Self::State>;

    /// What an operation is tied to, for explanations: operations that share a value may only be left out together, and leaving all
    /// of them out must never turn a linearizable history into one that is not. `None` when no such thing is known.
    fn ties(&self, call: &Self::Call, ret: Option<&Self::Ret>) -> Option<Ties> {
        let _ = (call, ret);
        None
    }

    /// What an operation with this answer can be relied on for. [`Nature::Plain`] is always right, and slower.
    fn nature(&self, call: &Self::Call, ret: Option<&Self::Ret>) -> Nature {
        let _ = (call, ret);
        Nature::Plain
    }

    /// Whether an observer that must answer `ret` might still do so once some of the `open` calls have taken effect, in some order. Asked when
    /// no further call can come in between. `true` is always right; a `false` cuts the search short.
    fn attainable(&self, state: &Self::State, call: &Self::Call, ret: &Self::Ret, open: &[&Self::Call]) -> bool {
        let _ = (state, call, ret, open);
        true
    }

    /// An operation, by position, that cannot have answered so whatever the order, told by something simpler than a search: counting. `None` is
    /// always right.
    fn impossible(&self, start: &Self::State, entries: &[Entry<Self>]) -> Option<usize>
    where
        Self: Sized,
    {
        let _ = (start, entries);
        None
    }

    /// A moment and a state: once all that is left returns after that moment, `state` and that state allow the same. A value that is not
    /// read any more is as good as any other such value. `None` is always right.
    fn fades(&self, state: &Self::State) -> Option<(Ts, Self::State)> {
        let _ = state;
        None
    }

    /// Whether the part `call` is about is in a state that only an operation that overwrites it can leave: all others are either refused or
    /// leave it as it is, and those that can be refused are, unless they are pending. `false` is always right.
    fn inert(&self, state: &Self::State, call: &Self::Call) -> bool {
        let _ = (state, call);
        false
    }

    /// The part of the object an operation is about. Operations on different parts must commute and must not see each other: keys of a
    /// map. The search then keeps the state of each part by itself, orders only what is on the part it has to decide about, and goes
    /// back to the last decision about that part when it fails.
    fn part(&self, call: &Self::Call) -> u64 {
        let _ = call;
        0
    }

    /// A rough count of the bytes of a state, for the memory budget.
    fn weight(&self, state: &Self::State) -> usize {
        std::mem::size_of_val(state)
    }

    /// A state for people.
    fn describe(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}

/// What an operation can be relied on for, whatever the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Nothing is known.
    Plain,
    /// It never changes the state, in whatever state it can answer so: a read, a failed compare-and-set.
    Observes,
    /// It can take effect in every state: a push, an append. Its answer tells nothing.
    Silent,
    /// It can take effect in every state, and the part it is about is in the same state afterwards whatever it was before: a write.
    Overwrites,
}

impl Nature {
    /// Whether it can take effect in every state.
    pub fn is_silent(self) -> bool {
        matches!(self, Nature::Silent | Nature::Overwrites)
    }
}

/// What an operation is tied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ties {
    /// The values it is about.
    pub values: Vec<u64>,
    /// Whether it may be left out alone as well, without the others of its values.
    pub optional: bool,
}
