//! The engines `oc` and `cegar`, held against brute force: by what goes wrong, since they have no classes.

use crate::compare::{Equivalence, Subject, with_switches};
use crate::sketch::Stmt;
use raddle_symbolic::cegar::Cegar;
use raddle_symbolic::oc::OrderingConsistency;
use raddle_trace::Model;

/// `oc` with contradictions looked for in complete assignments only, none beforehand, or by times, and with its proofs checked; `cegar` with predicates first.
pub fn variants() -> Vec<Subject> {
    let variant = |name, switches| with_switches(name, Equivalence::States, &OrderingConsistency, switches);
    vec![
        variant("oc basic", &["search=basic"]),
        variant("oc clock", &["search=clock"]),
        variant("oc certified", &["certify=on"]),
        variant("oc prop without conflicts", &["conflicts=none"]),
        variant("oc basic without conflicts", &["search=basic", "conflicts=none"]),
        with_switches("cegar predicates", Equivalence::States, &Cegar, &["domain=predicates", "certify=on"]),
    ]
}

/// An engine that takes what `cegar` takes.
pub(crate) fn abstracted(subject: Subject) -> Subject {
    let subject = subject.without(|stmt| matches!(stmt, Stmt::Spin(..) | Stmt::Loop(_) | Stmt::Await(_)));
    subject.only(|_, model| model == Model::Sc)
}

/// An engine that takes what `oc` takes.
pub(crate) fn restricted(subject: Subject) -> Subject {
    let subject = subject.without(|stmt| match stmt {
        Stmt::Spin(..) | Stmt::Loop(_) | Stmt::Await(_) => true,
        Stmt::Atomic(body) => body.iter().any(waits),
        _ => false,
    });
    subject.only(|_, model| Model::OPERATIONAL.contains(&model))
}

/// Whether a statement, or one inside of it, may wait.
fn waits(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::CasWait(..) | Stmt::Idle(..) | Stmt::Wait(..) | Stmt::Lock(_) | Stmt::Join(_) => true,
        Stmt::ReadLock(_) | Stmt::WriteLock(_) | Stmt::SemWait(_) | Stmt::Barrier(..) | Stmt::CondWait(..) => true,
        Stmt::If(_, one, other) | Stmt::IfNull(_, one, other) => one.iter().chain(other).any(waits),
        Stmt::Atomic(body) | Stmt::Loop(body) => body.iter().any(waits),
        _ => false,
    }
}
