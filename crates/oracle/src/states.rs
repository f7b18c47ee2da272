//! Engines that remember states, held against brute force: by what goes wrong, since they have no classes.

use crate::compare::{Equivalence, Subject, with_switches};
use crate::sketch::{Sketch, Stmt};
use raddle_program::Ordering;
use raddle_reach::explicit::Explicit;

/// `explicit` with its reductions switched off, and in another order.
pub fn variants() -> Vec<Subject> {
    let variant = |name: &str, switches| with_switches(name, Equivalence::States, &Explicit, switches);
    vec![
        variant("explicit without reductions", &["live=off", "local=off"]),
        variant("explicit depth-first", &["search=depth"]),
    ]
}

/// Whether threads synchronise in a way in which adjacent accesses are not all that race.
pub(crate) fn is_weak(sketch: &Sketch) -> bool {
    let strong = |order: Ordering| order.acquires() && order.releases();
    sketch.any(|stmt| match *stmt {
        Stmt::Load(_, _, order) | Stmt::LoadPtr(_, _, order) | Stmt::Wait(_, _, _, _, order) => {
            order != Ordering::NonAtomic && !order.acquires()
        }
        Stmt::Store(_, _, order) | Stmt::StorePtr(_, _, order) => order != Ordering::NonAtomic && !order.releases(),
        Stmt::Rmw(_, _, _, _, order) => !strong(order),
        Stmt::Cas(_, _, _, _, order) | Stmt::CasWait(_, _, _, order) | Stmt::Idle(_, _, _, order, _) => !strong(order),
        Stmt::TryLock(..) | Stmt::TryRwLock(..) | Stmt::Atomic(_) | Stmt::Spin(..) | Stmt::Await(_) => true,
        // What is moved is read and written relaxed.
        Stmt::Move(..) => true,
        // Races between messages are left to others.
        Stmt::Post(..) => true,
        _ => false,
    })
}
