//! Reads and writes under the lock of memory that are one update.
//!
//! Automata have no read-modify-write; they read and write between `lock` and `unlock`, which nobody can come between, with an empty buffer. An exchange, an addition and a compare-and-swap that are written so mean just that, and as updates they are one step:
//!
//! | between `lock` and `unlock` | means |
//! |---|---|
//! | `read r a`, `write v a` | `r = exchange(a, v)` |
//! | `read r a`, `write + r v a` | `r = add(a, v)` |
//! | `read r a`, then `check == r u`, `write w a` or `check != r u` | `r = compare-and-swap(a, u, w)` |
//!
//! States in between must not be reached or left otherwise, nor be part of a goal.

use super::read::{Expr, Instr, Transition, is_opposite, named_in};

/// The transitions of a thread with such updates in one step; `is_named` says which states something else is said about.
pub(super) fn updates<'t>(
    transitions: &[Transition<'t>],
    wraps: bool,
    is_named: &dyn Fn(&str) -> bool,
) -> Vec<Transition<'t>> {
    let mut all = transitions.to_vec();
    for at in 0..all.len() {
        if let Some(exchanged) = update(&all, at, wraps, is_named) {
            all = exchanged;
        }
    }
    all.retain(|transition| !matches!(transition.instr, Instr::Gone));
    all
}

/// The only transition that leaves a state in between; none if it is not in between.
fn only(all: &[Transition<'_>], state: &str, is_named: &dyn Fn(&str) -> bool) -> Option<usize> {
    let mut leaving = (0..all.len()).filter(|&at| all[at].from == state);
    let (first, second) = (leaving.next(), leaving.next());
    first.filter(|_| second.is_none() && is_between(all, state, is_named))
}

/// Whether a state is reached in one way and nothing else is said about it.
fn is_between(all: &[Transition<'_>], state: &str, is_named: &dyn Fn(&str) -> bool) -> bool {
    !is_named(state) && all.iter().filter(|transition| transition.to == state).count() == 1
}

/// The transitions with the update that begins with the lock at this place in one step.
fn update<'t>(
    all: &[Transition<'t>],
    lock: usize,
    wraps: bool,
    is_named: &dyn Fn(&str) -> bool,
) -> Option<Vec<Transition<'t>>> {
    if !matches!(all[lock].instr, Instr::Lock) {
        return None;
    }
    let read = only(all, all[lock].to, is_named)?;
    let Instr::Read(register, address) = &all[read].instr else { return None };
    let mentions = |expr: &Expr<'t>| {
        let mut found = false;
        named_in(expr, &mut |name| found |= name == *register);
        found
    };
    let writes = |at: usize| match &all[at].instr {
        Instr::Write(value, to) if to == address => Some(value),
        _ => None,
    };
    let unlocks = |at: usize| matches!(all[at].instr, Instr::Unlock).then_some(all[at].to);
    if mentions(address) {
        return None;
    }
    let mut new = all.to_vec();
    if let Some(write) = only(all, all[read].to, is_named) {
        let value = writes(write)?;
        let unlock = only(all, all[write].to, is_named)?;
        new[lock].to = unlocks(unlock)?;
        new[lock].instr = match value {
            Expr::Binary("+", one, other) if !wraps && is_register(one, register) && !mentions(other) => {
                Instr::Add(register, address.clone(), (**other).clone())
            }
            Expr::Binary("+", other, one) if !wraps && is_register(one, register) && !mentions(other) => {
                Instr::Add(register, address.clone(), (**other).clone())
            }
            value if !mentions(value) => Instr::Exchange(register, address.clone(), value.clone()),
            _ => return None,
        };
        [read, write, unlock].iter().for_each(|&at| new[at].instr = Instr::Gone);
        return Some(new);
    }
    let looked = all[read].to;
    let ways: Vec<usize> = (0..all.len()).filter(|&at| all[at].from == looked).collect();
    let &[one, other] = &ways[..] else { return None };
    let (Instr::Check(this), Instr::Check(that)) = (&all[one].instr, &all[other].instr) else { return None };
    if !is_between(all, looked, is_named) || !is_opposite(this, that) {
        return None;
    }
    let equal = |expr: &Expr<'t>| match expr {
        Expr::Binary("==", a, b) if is_register(a, register) && !mentions(b) => Some((**b).clone()),
        Expr::Binary("==", a, b) if is_register(b, register) && !mentions(a) => Some((**a).clone()),
        _ => None,
    };
    let (expected, hit, miss) = match (equal(this), equal(that)) {
        (Some(expected), _) => (expected, one, other),
        (None, Some(expected)) => (expected, other, one),
        (None, None) => return None,
    };
    let write = only(all, all[hit].to, is_named)?;
    let value = writes(write).filter(|value| !mentions(value))?;
    let (unlock, leave) = (only(all, all[write].to, is_named)?, only(all, all[miss].to, is_named)?);
    let (done, failed) = (unlocks(unlock)?, unlocks(leave)?);
    new[lock].to = looked;
    new[lock].instr = Instr::Swap(register, address.clone(), expected, value.clone());
    (new[hit].to, new[miss].to) = (done, failed);
    [read, write, unlock, leave].iter().for_each(|&at| new[at].instr = Instr::Gone);
    Some(new)
}

fn is_register(expr: &Expr<'_>, register: &str) -> bool {
    matches!(expr, Expr::Register(name) if *name == register)
}
