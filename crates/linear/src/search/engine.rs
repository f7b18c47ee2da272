//! The search of Wing, Gong and Lowe, over compact configurations.
//!
//! A configuration is: how many returns have been passed (the *level*), what is left to do with the operations open at the next
//! return (`refuted`), and the state of each part of the object. That is all: everything that returned earlier has been linearized,
//! nothing called later can have been. So a configuration takes a few words however long the history is.
//!
//! From a configuration any open operation that the model allows may be linearized next; when the operation of the next return
//! has been, the level goes up. What makes it fast, none of which loses a linearization:
//!
//! - *Places for nothing.* An open operation that leaves the state as it is can have its place here, and is then free to be passed; it may
//!   still be moved to a later place where it is of use. When the object is overwritten ([`super::Nature::Overwrites`]), everything open that is
//!   possible in any state ([`super::Nature::Silent`]) can have its place just before, unseen. So nobody ever has to choose which writes go unseen.
//!   The choice comes at the return of an operation that is free: to pass it, or to use it after all.
//! - *Lateness.* An operation that is possible in any state is linearized when its return is due, or when something open takes effect right
//!   after it that does not overwrite it; otherwise it can come later.
//! - *Refutation by the better.* A configuration is given up if one at the same level and in the same state is known to fail that has the
//!   same or more operations left to use and the same or more that are free (`refuted`).
//! - *Parts.* Only operations on the same part ([`Model::part`]) as the operation that must return next are tried: the others commute with it
//!   and can come later. What is refuted is the configuration of that part, and a failure goes back to the last decision about that
//!   part, past those about others, which cannot be to blame.
//! - *Fading.* A state turns into the simplest one that allows the same from now on ([`Model::fades`]), and nobody goes without need into a
//!   state that only overwriting leads out of ([`Model::inert`]).
//! - Of several open operations with the same call and answer the one that returns first goes first.
//! - Where the operation that must return next is an observer and no order of the open ones can bring about what it answered
//!   ([`Model::attainable`]), nothing is tried.
//!
//! Before all that the model may rule an answer out by something simpler ([`Model::impossible`]).
//!
//! Of the candidates those go first that let the most of the next few waiting observers answer. Models may be nondeterministic.
//!
//! After Wing and Gong 1993 and Lowe 2017 (memoisation); the representation and the reductions are ours. Cost: exponential in the
//! number of operations open at once at worst, linear in the length of a history whose order its answers determine.

use super::layout::Layout;
use super::machine::Machine;
use super::mask::Mask;
use super::model::Model;
use super::moves::Moves;
use super::terms::{Budget, Entry, Found, Statistics, Strategy, Window};
use super::{breadth, depth};
use crate::history::Ts;

/// Searches for a linearization from the initial state of the model.
pub fn search<M: Model>(model: &M, entries: &[Entry<M>], budget: Budget) -> (Found<M::State>, Statistics) {
    search_from(model, model.initial(), entries, budget)
}

/// Searches for a linearization from a given state.
pub fn search_from<M: Model>(
    model: &M,
    start: M::State,
    entries: &[Entry<M>],
    budget: Budget,
) -> (Found<M::State>, Statistics) {
    if let Some(blocked) = model.impossible(&start, entries) {
        return (Found::None(Window { blocked, before: Vec::new(), certain: None }), Statistics::default());
    }
    let (layout, classes) = Layout::new(model, entries, Ts::INF);
    let machine = Machine::new(model, classes);
    match layout.slots {
        0..=64 => run(Moves::<M, u64>::new(machine, layout, budget), start),
        65..=128 => run(Moves::<M, u128>::new(machine, layout, budget), start),
        _ => run(Moves::<M, Box<[u64]>>::new(machine, layout, budget), start),
    }
}

/// How much longer each turn is than the one before.
const LONGER: u64 = 8;

/// Depth first finds a linearization where that is easy; breadth first sees sooner that there is none. They take turns.
fn run<M: Model, K: Mask>(mut moves: Moves<'_, M, K>, start: M::State) -> (Found<M::State>, Statistics) {
    let one = moves.layout.parts == 1;
    let mut deep = !one || moves.budget.strategy != Strategy::Breadth;
    let takes_turns = one && moves.budget.strategy == Strategy::Turns;
    let mut turn = 1_000 + LONGER * u64::from(moves.layout.last());
    loop {
        let options = moves.begin(start.clone());
        let patience = if takes_turns { moves.visited.saturating_add(turn) } else { u64::MAX };
        let found = if deep {
            depth::search(&mut moves, options, patience)
        } else {
            breadth::search(&mut moves, options, patience)
        };
        if let Some(found) = found {
            return (found, moves.statistics());
        }
        deep = !deep;
        turn = turn.saturating_mul(LONGER);
        moves.reset();
    }
}
