//! What is odd about a machine, whatever the model.
//!
//! * A read may return what was written to another location: searched over pairs of a state and a register that holds a write of a given location.
//! * A read may find a register that nobody has filled: the same with registers that are empty.
//! * A state from which nothing leads on.
//!
//! All polynomial. Each is reported once, with the transition.

use crate::machine::{Event, Location, Machine, Move, Neighbours, Register, State};
use std::collections::BTreeSet;

/// Something odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// The read may return a write of that location.
    OtherLocation(Move, Location),
    /// The read may find nothing.
    Empty(Move),
    /// Nothing leads out of the state.
    Stuck(State),
}

/// What a register holds: a write of a location, or nothing.
type Contents = Option<Location>;

/// Everything odd about the states that can be reached, in order.
pub fn lint(machine: &Machine) -> Vec<Oddity> {
    let leaving = Neighbours::leaving(machine);
    let mut odd = BTreeSet::new();
    let locations = machine.locations().len();
    let mut met = vec![false; machine.states().len() * machine.registers().len() * (locations + 1)];
    let mut pending: Vec<(State, Register, Contents)> = Vec::new();
    let mut meet = |pending: &mut Vec<_>, state: State, register: Register, contents: Contents| {
        let of = contents.map_or(0, |location| location.index() + 1);
        let at = (state.index() * machine.registers().len() + register.index()) * (locations + 1) + of;
        if !std::mem::replace(&mut met[at], true) {
            pending.push((state, register, contents));
        }
    };
    let mut reached = vec![false; machine.states().len()];
    let mut states = vec![machine.initial()];
    reached[machine.initial().index()] = true;
    for register in (0..machine.registers().len() as u32).map(Register) {
        meet(&mut pending, machine.initial(), register, None);
    }
    while let Some(state) = states.pop() {
        if leaving.of(state).is_empty() {
            odd.insert(Oddity::Stuck(state));
        }
        for &number in leaving.of(state) {
            let transition = machine.transition(Move(number));
            if let Event::Write { location, register, .. } = transition.event {
                meet(&mut pending, transition.to, register, Some(location));
            }
            if !std::mem::replace(&mut reached[transition.to.index()], true) {
                states.push(transition.to);
            }
        }
    }
    while let Some((state, register, contents)) = pending.pop() {
        for &number in leaving.of(state) {
            let transition = machine.transition(Move(number));
            let kept = match transition.event {
                Event::Write { register: to, .. } => to != register,
                Event::Copy { to, from } => {
                    if from == register {
                        meet(&mut pending, transition.to, to, contents);
                    }
                    to != register || from == register
                }
                Event::Read { location, register: from, .. } => {
                    match contents {
                        _ if from != register => {}
                        None => drop(odd.insert(Oddity::Empty(Move(number)))),
                        Some(written) if written != location => {
                            odd.insert(Oddity::OtherLocation(Move(number), written));
                        }
                        Some(_) => {}
                    }
                    true
                }
                Event::Idle => true,
            };
            if kept {
                meet(&mut pending, transition.to, register, contents);
            }
        }
    }
    odd.into_iter().collect()
}
