//! The engine `dc` as a subject, in its variants.
//!
//! It explores exactly the reads-from classes, whatever the communication graph; by bursts it meets some of them again, and
//! counts that; refined it tells some orders of writes apart.

use crate::compare::{Counts, Equivalence, Subject, explorer_with};
use crate::values::restricted;
use raddle_explore::{DataCentric, Engine};

/// The engine `dc` in all variants.
pub fn subjects() -> Vec<Subject> {
    let plain = DataCentric::default();
    vec![
        variant("dc", Equivalence::ReadsFrom, plain),
        variant("dc backwards", Equivalence::ReadsFrom, DataCentric { backwards: true, ..plain }),
        variant("dc refined", Equivalence::Refined, DataCentric { refine: true, ..plain }),
        variant("dc by bursts", Equivalence::ReadsFrom, DataCentric { burst: true, ..plain }),
    ]
}

/// The engine `dc` with these switches.
pub fn variant(name: &str, equivalence: Equivalence, switches: DataCentric) -> Subject {
    let mut subject = restricted(explorer_with(name, equivalence, move |options| {
        options.engine = Engine::DataCentric;
        options.dc = switches;
    }));
    if switches.burst {
        // Bursts do not claim to have no redundant executions.
        let run = subject.run;
        subject.run =
            Box::new(move |code, model, races| run(code, model, races).map(|counts| Counts { redundant: 0, ..counts }));
    }
    subject
}
