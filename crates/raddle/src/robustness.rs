//! `robust`: is every execution of a program under TSO one of sequential consistency, and which fences would make it so?

use crate::answer::Question;
use crate::cost::Meter;
use crate::error::Error;
use crate::load::Language;
use crate::prepare::prepare;
use raddle_engine::{Control, Deadline};
use raddle_reach::robust::cycle::Because;
use raddle_reach::robust::fences::fences;
use raddle_reach::robust::{Settings, robust as attacks};
use raddle_report::robust::{Delay, Robust, Spot, Witness};
use raddle_report::{Answer, Body};
use std::collections::BTreeSet;
use std::path::Path;

/// Looks for an execution under TSO that is none of sequential consistency; and, if it is asked for, for the cheapest fences that leave none.
///
/// # Errors
/// If the program has atomic blocks, or Raddle finds a bug in itself.
pub fn robust(question: &Question<'_>, with_fences: bool, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let options = &question.settings.options;
    let program = &question.loaded.program;
    let code = prepare(program, None);
    let deadline = Deadline::new(options.limits, control);
    let settings = Settings { workers: options.workers, all: true };
    let found = attacks(&code, &BTreeSet::new(), settings, &deadline)?;
    let cheapest = if with_fences { Some(fences(&code, &found, settings, &deadline)?) } else { None };
    let spot = |pc: u32, insert| Spot::new(&code.place(pc), insert);
    let mut notes = question.loaded.notes.clone();
    if cheapest.as_ref().is_some_and(|found| found.sets.len() > 1) {
        notes.push("each of these sets of fences is enough, and none costs less; one in a loop costs ten".into());
    }
    let inputs = code.inputs();
    if let Some((low, high)) = inputs.range.filter(|_| inputs.restricted) {
        notes.push(format!("for inputs in {low}..{high}"));
    }
    let insert = match Language::of(Path::new(question.file)) {
        Some(Language::C) => "atomic_thread_fence(memory_order_seq_cst);",
        _ => "fence.sc;",
    };
    let limit = cheapest.as_ref().and_then(|found| found.stop.clone()).or(found.stop);
    let body = Robust {
        parameters: question.load.parameters(),
        attacks: found
            .witnesses
            .iter()
            .map(|witness| Delay { store: spot(witness.attack.store, None), load: spot(witness.attack.load, None) })
            .collect(),
        witness: found.witnesses.first().map(|witness| Witness {
            execution: witness.execution.clone(),
            cycle: witness.cycle.iter().map(|&(event, because)| (event, words(because))).collect(),
            replay: question.replay_command(&witness.schedule),
        }),
        tried: cheapest.as_ref().map_or(0, |found| found.tried as u64),
        fences: cheapest.map(|found| {
            let set = |set: &BTreeSet<u32>| set.iter().map(|&pc| spot(pc, Some(insert))).collect();
            found.sets.iter().map(set).collect()
        }),
        states: found.states,
        limit: limit.map(|limit| limit.to_string()),
        notes,
    };
    let sources = crate::load::sources(&program.sources);
    Ok(Answer { file: question.file.to_owned(), sources, cost: meter.read(), body: Body::Robust(body) })
}

/// Why one event comes before the next, as it stands between their names.
fn words(because: Because) -> &'static str {
    match because {
        Because::ProgramOrder => "comes before",
        Because::ReadsFrom => "is read by",
        Because::Coherence => "reaches memory before",
        Because::FromRead => "reads what is overwritten by",
    }
}
