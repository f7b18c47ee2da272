//! The engine `dc` as a subject, in its variants.
//!
//! It explores exactly the reads-from classes, whatever the communication graph; by bursts it meets some of them again, and
//! counts that; refined it tells some orders of writes apart.

use crate::compare::{Counts, Equivalence, Subject, with_switches};
use crate::sketch::Stmt;
use raddle_explore::dc::DataCentric;

/// The variants of the engine `dc`.
pub fn variants() -> Vec<Subject> {
    vec![
        with_switches("dc backwards", Equivalence::ReadsFrom, &DataCentric, &["backwards=on"]),
        with_switches("dc without signals", Equivalence::ReadsFrom, &DataCentric, &["signals=off"]),
        with_switches("dc refined", Equivalence::Refined, &DataCentric, &["refine=on"]),
        redundant(with_switches("dc by bursts", Equivalence::ReadsFrom, &DataCentric, &["burst=on"])).without(waits),
    ]
}

/// Statements that wait for anything but a mutex, or may make a load before them wait.
fn waits(stmt: &Stmt) -> bool {
    use Stmt::{Assume, Await, Barrier, CasWait, CondWait, Idle, Loop, ReadLock, SemWait, Spin, Wait, WriteLock};
    matches!(
        stmt,
        Wait(..)
            | Await(_)
            | Spin(..)
            | Loop(_)
            | Assume(_)
            | CasWait(..)
            | Idle(.., true)
            | ReadLock(_)
            | WriteLock(_)
            | SemWait(_)
            | Barrier(..)
            | CondWait(..)
    )
}

/// A subject that does not claim to have no redundant executions.
fn redundant(subject: Subject) -> Subject {
    let run = subject.run;
    let run = move |code: &_, model, races| run(code, model, races).map(|counts| Counts { redundant: 0, ..counts });
    Subject { run: Box::new(run), ..subject }
}
