//! What `auto` does where looking at one execution after another comes to no end: it has all of them put into formulas.
//!
//! An unknown input with more values than can be tried one by one, or loops that turn for ever, are where engines that enumerate give up and engines that reason about all values at once need not. So these are asked when
//! `auto` has met such a thing, or has not come to an end for a while and there is such an input. Who decides is named in the answer, with why it was asked.
//!
//! Under RC11 a formula speaks of sequential consistency. What it finds is an execution of RC11, too, and is replayed there; that it finds nothing counts only where nothing races and all else is seq_cst, since then there are no other executions (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017).

use crate::engines::ENGINES;
use crate::error::Error;
use crate::prepare::prepare_with;
use crate::verify::Settings;
use raddle_engine::{Control, Fault, Outcome, Question};
use raddle_machine::Code;
use raddle_machine::code::Instr;
use raddle_program::Program;
use raddle_program::analysis::LoopBounds;
use raddle_trace::{Model, Verdict};
use std::time::Duration;

/// For how long executions are enumerated first, where there is an input of many values.
pub(crate) const ENUMERATE: Duration = Duration::from_secs(5);

/// How many values of an input are many.
const MANY: u128 = 16;

/// Who puts executions into formulas.
const SYMBOLIC: [&str; 1] = ["oc"];

/// Whether there is an unknown input of more values than are soon tried one by one.
pub(crate) fn has_large_inputs(code: &Code) -> bool {
    (0..code.len())
        .any(|pc| matches!(code.instr(pc), Instr::Input { values, .. } if code.input_values(values).count() > MANY))
}

/// Whether `auto` may ask somebody else.
pub(crate) fn may_ask(settings: &Settings) -> bool {
    let knows = Model::OPERATIONAL.contains(&settings.options.model) || settings.options.model == Model::Rc11;
    settings.engine.name() == "auto" && knows && !settings.options.keep_schedules
}

/// What an engine on formulas decides within this time, if it decides anything.
///
/// # Errors
/// If Raddle finds a bug in itself.
pub(crate) fn decide(
    program: &Program,
    settings: &Settings,
    bounds: &LoopBounds,
    control: &Control,
    patience: Duration,
    why: &str,
) -> Result<Option<Outcome>, Error> {
    if !may_ask(settings) || patience.is_zero() {
        return Ok(None);
    }
    let code = prepare_with(program, bounds.clone(), settings.bound_all_loops, settings.options.properties);
    let meant = Question { code: &code, options: &settings.options };
    let weak = settings.options.model == Model::Rc11;
    let mut options = settings.options.clone();
    options.limits.time = Some(patience);
    options.switches = Default::default();
    if weak {
        options.model = Model::Sc;
    }
    // Where nothing races and all else is seq_cst, the executions are those of sequential consistency.
    let same =
        !weak || ((meant.looks_for_races() || !code.may_race()) && code.is_seq_cst() && !code.has_atomic_blocks());
    let question = Question { code: &code, options: &options };
    for name in SYMBOLIC {
        let engine = ENGINES.find(name).expect("it is among them");
        if control.stopped() || engine.takes(&question).is_err() {
            continue;
        }
        control.restart();
        let mut outcome = match engine.ask(&question, control) {
            Ok(outcome) => outcome,
            // What it does not take may show only when all is unrolled.
            Err(Fault::Refused(_)) => continue,
            Err(fault) => return Err(fault.into()),
        };
        let decided = match outcome.verdict {
            Verdict::Violated => true,
            Verdict::Holds => same,
            Verdict::Unknown => false,
        };
        if !decided {
            continue;
        }
        if weak {
            let findings: Result<Vec<_>, Fault> =
                outcome.findings.iter().map(|found| found.confirmed_for(&meant)).collect();
            outcome.findings = findings?;
        }
        outcome.notes.push(format!("auto took {name}: {why}"));
        return Ok(Some(outcome));
    }
    Ok(None)
}
