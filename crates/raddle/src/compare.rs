//! Putting the same question to every engine, or under every memory model.
//!
//! Engines tell executions apart by different equivalences, so they count different numbers; but what can go wrong in a program
//! does not depend on who looks, so their verdicts must be the same. Each engine runs by itself, one after the other, with the
//! same limits.

use crate::answer::with_short_names;
use crate::cost::Meter;
use crate::engines::ENGINES;
use crate::error::Error;
use crate::verify::{Settings, verify};
use raddle_engine::{Control, Engine, Equivalence, Finding, Outcome};
use raddle_program::Program;
use raddle_report::Cost;
use raddle_report::Family;
use raddle_report::comparison::{Entry, Run};
use raddle_report::names::shortened;
use raddle_trace::Model;
use std::collections::BTreeMap;

/// Asks every engine there is; an engine that does not take the program says why.
///
/// # Errors
/// If an engine finds a bug in Raddle.
pub fn compare(program: &Program, settings: &Settings, control: &Control) -> Result<Vec<Entry>, Error> {
    let engines = ENGINES.iter().filter(|engine| engine.equivalence() != Equivalence::Delegated);
    engines.map(|engine| ask(program, settings, control, engine)).collect()
}

/// Asks under every memory model; one that does not take the program says why.
///
/// # Errors
/// If an engine finds a bug in Raddle.
pub fn under_every_model(program: &Program, settings: &Settings, control: &Control) -> Result<Family, Error> {
    let ask = |model: Model| {
        let mut settings = settings.clone();
        settings.options.model = model;
        control.restart();
        Ok((model, answer(program, &settings, control)?))
    };
    let models = Model::EVERY.into_iter().map(ask).collect::<Result<_, Error>>()?;
    Ok(Family { parameters: BTreeMap::new(), models })
}

fn ask(program: &Program, settings: &Settings, control: &Control, engine: &'static dyn Engine) -> Result<Entry, Error> {
    let settings = Settings { engine, ..settings.clone() };
    Ok(Entry { engine: engine.name().to_owned(), result: answer(program, &settings, control)? })
}

/// What came out, or why the engine does not take the program.
fn answer(program: &Program, settings: &Settings, control: &Control) -> Result<Result<Run, String>, Error> {
    let meter = Meter::start();
    match verify(program, settings, control) {
        Ok(outcome) => Ok(Ok(run(outcome, meter.read()))),
        Err(error @ Error::Unsupported { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

pub(crate) fn run(outcome: Outcome, cost: Cost) -> Run {
    let first = outcome.findings.first().map(Finding::violation);
    let violation = first.map(|found| {
        let message = shortened(found.message.clone());
        match found.place.line {
            0 => format!("{}: {message}", found.property),
            line => format!("{} at {}:{line}: {message}", found.property, found.place.file),
        }
    });
    let statistics = outcome.statistics;
    Run {
        verdict: outcome.verdict,
        scope: with_short_names(outcome.scope),
        executions: statistics.executions,
        blocked: statistics.blocked,
        redundant: statistics.redundant,
        events: statistics.events,
        seconds: cost.seconds,
        cpu_seconds: cost.cpu_seconds,
        violation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Language, load_text};
    use raddle_trace::Verdict;

    #[test]
    fn every_engine_is_asked_and_all_agree() {
        let text = "
            global x: i32; global y: i32;
            fn left() { store x, 1; let r = load y; store x, 2 + r; }
            fn right() { store y, 1; let r = load x; assert r < 3, \"seen\"; }
            fn main() { spawn left(); spawn right(); }";
        let program = load_text("p.rdl", text, Language::Rdl, &Default::default()).expect("accepted").program;
        let entries = compare(&program, &Settings::new(Model::Sc), &Control::new()).expect("no bug");
        let names: Vec<&str> = entries.iter().map(|entry| entry.engine.as_str()).collect();
        assert!(names.starts_with(&["optimal", "rf"]), "{names:?}");
        for run in entries.iter().filter_map(|entry| entry.result.as_ref().ok()) {
            assert_eq!(run.verdict, Verdict::Violated);
            assert!(run.violation.as_ref().is_some_and(|text| text.starts_with("assert at p.rdl:4")), "{run:?}");
        }
    }
}
