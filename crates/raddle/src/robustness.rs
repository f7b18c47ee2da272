//! `robust`: is every execution of a program under TSO one of sequential consistency, and which fences would make it so, or make it safe?

mod patch;

use crate::answer::Question;
use crate::cost::Meter;
use crate::error::Error;
use crate::load::Language;
use crate::prepare::prepare;
use raddle_engine::{Control, Deadline, Options, Question as Asked};
use raddle_reach::robust::cycle::Because;
use raddle_reach::robust::fences::{Found, Sites, fences, fences_for_safety};
use raddle_reach::robust::{Settings, robust as attacks};
use raddle_report::robust::{Delay, Purpose, Robust, Spot, Witness};
use raddle_report::{Answer, Body, names};
use raddle_trace::{Model, Property};
use std::collections::BTreeSet;
use std::path::Path;

/// What is asked beside whether the program is robust.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The cheapest fences, and what for.
    pub fences: Option<Purpose>,
    /// A patch that puts them into the text.
    pub patch: bool,
}

/// What fences are to bring about.
#[derive(Debug)]
enum Goal {
    Robustness,
    /// That these properties hold.
    Safety(Box<Options>),
}

/// Looks for an execution under TSO that is none of sequential consistency; and, if it is asked for, for the cheapest fences that leave none, or none that breaks a property.
///
/// # Errors
/// If the program has atomic blocks, an edited text cannot be read, or Raddle finds a bug in itself.
pub fn robust(question: &Question<'_>, wanted: Wanted, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let options = &question.settings.options;
    let program = &question.loaded.program;
    let code = prepare(program, None);
    let deadline = Deadline::new(options.limits, control);
    let settings = Settings { workers: options.workers, all: true };
    let found = attacks(&code, &BTreeSet::new(), settings, &deadline)?;
    let purpose = wanted.fences.unwrap_or(Purpose::Robustness);
    let goal = match purpose {
        Purpose::Robustness => Goal::Robustness,
        Purpose::Safety => {
            let properties = options.properties.without(Property::Race);
            Goal::Safety(Box::new(Options { model: Model::Tso, properties, ..options.clone() }))
        }
    };
    let spot = |pc: u32, insert| Spot::new(&code.place(pc), insert);
    let mut notes = question.loaded.notes.clone();
    let inputs = code.inputs();
    if let Some((low, high)) = inputs.range.filter(|_| inputs.restricted) {
        notes.push(format!("for inputs in {low}..{high}"));
    }
    let insert = match Language::of(Path::new(question.file)) {
        Some(Language::C) => "atomic_thread_fence(memory_order_seq_cst);",
        Some(Language::Trencher) => "mfence",
        _ => "fence.sc;",
    };
    let (mut sets, mut tried, mut limit, mut diff) = (None, 0, found.stop.clone().map(|stop| stop.to_string()), None);
    if wanted.patch {
        let patched = patch::patch(question, &goal, settings, &deadline)?;
        tried = patched.tried;
        match patched.why_not {
            Some(why) => limit = Some(limit.unwrap_or(format!("there is no patch: {why}"))),
            None => {
                sets = Some(vec![patched.spots]);
                diff = Some(patched.diff);
            }
        }
    } else if wanted.fences.is_some() {
        let sites = Sites::everywhere(&code);
        let cheapest: Found = match &goal {
            Goal::Robustness => fences(&sites, &found, settings, &deadline)?,
            Goal::Safety(options) => fences_for_safety(&sites, &Asked { code: &code, options }, &deadline)?,
        };
        tried = cheapest.tried as u64;
        if cheapest.sets.len() > 1 {
            notes.push("each of these sets of fences is enough, and none costs less; one in a loop costs ten".into());
        }
        if cheapest.hopeless {
            notes.push("no fences help: a property is violated without any store being late".into());
        }
        limit = limit.or(cheapest.stop.map(|stop| stop.to_string()));
        let set = |set: &BTreeSet<u32>| set.iter().map(|&pc| spot(pc, Some(insert))).collect();
        sets = Some(cheapest.sets.iter().map(set).collect());
    }
    let body = Robust {
        parameters: question.load.parameters(),
        attacks: found
            .witnesses
            .iter()
            .map(|witness| Delay { store: spot(witness.attack.store, None), load: spot(witness.attack.load, None) })
            .collect(),
        witness: found.witnesses.first().map(|witness| {
            let mut execution = witness.execution.clone();
            names::shorten(&mut execution, []);
            let cycle = witness.cycle.iter().map(|&(event, because)| (event, words(because))).collect();
            Witness { execution, cycle, replay: question.replay_command(&witness.schedule) }
        }),
        tried,
        purpose,
        fences: sets,
        patch: diff,
        states: found.states,
        limit,
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
