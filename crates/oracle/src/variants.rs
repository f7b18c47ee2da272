//! Engines of the product in other circumstances: on the program as the product prepares it, and with several workers.
//!
//! What a program is turned into before it is explored must not change what is found. So here brute force gets a program with
//! statements that wait and everything shared, and the engine the same program written with loops, after the analyses
//! have found the waits and what is private.

use crate::compare::{Equivalence, Subject, explorer, with_options};
use crate::sketch::{Sketch, Stmt};
use raddle::ENGINES;
use raddle_engine::{Control, Engine, Options, Question};
use raddle_machine::Code;
use raddle_trace::Model;

/// The engines that count classes exactly and take most programs, on prepared programs.
pub fn prepared() -> impl Iterator<Item = Subject> {
    let exact = ENGINES.iter().filter(|engine| ["optimal", "rf"].contains(&engine.name()));
    exact.map(|engine| {
        let subject = explorer(engine);
        Subject { name: format!("{} prepared", engine.name()), code: Some(prepare), ..subject }
    })
}

fn prepare(sketch: &Sketch) -> Code {
    raddle::prepare(&sketch.program_with_loops(), None)
}

/// Every engine that has workers, with so many.
pub fn with_workers(workers: usize) -> impl Iterator<Item = Subject> {
    let own = ENGINES.iter().filter(|engine| engine.equivalence() != Equivalence::Delegated);
    own.filter(|engine| has_workers(*engine)).map(move |engine| {
        let name = format!("{}, {workers} workers", engine.name());
        with_options(&name, engine, move |options| options.workers = workers)
    })
}

/// Whether the engine makes use of more than one worker; one that does not says so.
fn has_workers(engine: &'static dyn Engine) -> bool {
    let mut options = Options::new(Model::Sc);
    options.workers = 2;
    let code = crate::compare::code(&Sketch {
        threads: vec![vec![Stmt::Fence(raddle_program::Ordering::SeqCst)]],
        ..Sketch::default()
    });
    let outcome = engine.ask(&Question { code: &code, options: &options }, &Control::new());
    outcome.is_ok_and(|outcome| !outcome.notes.iter().any(|note| note.contains("one worker")))
}
