//! What the general checker needs to know about an object.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential object: an initial state, and what each call may do in each state.
///
/// A model may be nondeterministic: [`Model::step`] returns every state that the call may lead to. It should be small
/// and obviously right, since everything else is checked against it.
///
/// ```
/// use raddle_linear::search::Model;
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
///     fn observes(&self, call: &Call, _ret: Option<&i64>) -> bool { *call == Call::Get }
/// }
/// ```
pub trait Model {
    /// The state of the object. Equal states behave alike.
    type State: Clone + Eq + Hash + Debug;
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

    /// Whether an operation with this answer never changes the state, in whatever state it can answer so: a read, a failed
    /// compare-and-set. The search need not branch on these. `false` is always right, and slower.
    fn observes(&self, call: &Self::Call, ret: Option<&Self::Ret>) -> bool {
        let _ = (call, ret);
        false
    }

    /// Whether an observer that must answer `ret` might still do so once some of the `open` calls have taken effect, in some order. Asked when
    /// no further call can come in between. `true` is always right; a `false` cuts the search short.
    fn attainable(&self, state: &Self::State, call: &Self::Call, ret: &Self::Ret, open: &[&Self::Call]) -> bool {
        let _ = (state, call, ret, open);
        true
    }

    /// How little a state promises, 0 being best: a guess that decides what is tried first and nothing else.
    fn doubt(&self, state: &Self::State) -> u32 {
        let _ = state;
        0
    }

    /// The part of the object an operation is about. Operations on different parts must commute and must not see each other: keys of a
    /// map. The search then orders only what is on the part it has to decide about.
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

/// What an operation is tied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ties {
    /// The values it is about.
    pub values: Vec<u64>,
    /// Whether it may be left out alone as well, without the others of its values.
    pub optional: bool,
}
