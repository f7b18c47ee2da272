//! `check` of a litmus test: whether what it says about its final states is true.
//!
//! A violation of a property (a data race, say) is an answer by itself, since a program with undefined behaviour ends in no state that a model speaks of. So where the code could break one, that is
//! looked at first, in all executions; then for one final state that decides the claim. The set of all final states takes a run of every class, each replayed.

use crate::answer::Question;
use crate::compare::run;
use crate::cost::Meter;
use crate::engines::ENGINES;
use crate::error::Error;
use crate::load::Loaded;
use crate::prepare::prepare_with;
use crate::verify::{Settings, verify};
use raddle_engine::{Control, Finding, Outcome};
use raddle_litmus::{Expectation, Quantifier, State, Test};
use raddle_program::analysis::LoopBounds;
use raddle_program::{BinOp, Expr, Op, Ordering, Program};
use raddle_report::litmus::{Ending, FinalState, Litmus};
use raddle_report::{Answer, Body, Family};
use raddle_trace::execution::Entry;
use raddle_trace::{Model, Property, Verdict};
use std::collections::BTreeMap;
use std::time::Instant;

/// Decides what a litmus test says; `states` asks for all of its final states.
///
/// # Errors
/// If no engine takes the program, or Raddle finds a bug in itself.
pub fn litmus(question: &Question<'_>, test: &Test, states: bool, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let found = decide(test, question.settings, states, control)?;
    let settings = of_tests(question.settings);
    let mut answer = Question { settings: &settings, ..*question }.answer(found.outcome, meter.read());
    if let Body::Check(check) = answer.body {
        let expectation = test.claim.expectation;
        let mut check = check;
        check.verdict = found.verdict;
        if question.settings.options.model == Model::Wra && test.observed.iter().any(|name| !name.contains(':')) {
            check.notes.push(
                "under wra a location has no last write: its final value is one that no later write follows".into(),
            );
        }
        answer.body = Body::Litmus(Litmus {
            name: test.name.clone(),
            flavour: test.flavour.to_string(),
            claim: test.claim.to_string(),
            expectation: expectation.map(|expected| expected.name().to_owned()),
            ending: found.ending,
            observed: test.observed.clone(),
            states: found.states,
            show_states: states,
            check,
        });
    }
    Ok(answer)
}

/// Decides a litmus test under every memory model; one that does not take it says why.
///
/// # Errors
/// If an engine finds a bug in Raddle.
pub fn under_every_model(test: &Test, settings: &Settings, control: &Control) -> Result<Family, Error> {
    let ask = |model: Model| {
        let mut settings = settings.clone();
        settings.options.model = model;
        let meter = Meter::start();
        let result = match decide(test, &settings, false, control) {
            Ok(found) => {
                let shown = found.verdict == Verdict::Violated;
                let mut run = run(found.outcome, meter.read());
                run.verdict = found.verdict;
                run.violation = run.violation.filter(|_| shown);
                Ok(run)
            }
            Err(error @ Error::Unsupported { .. }) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        Ok((model, result))
    };
    let models = Model::EVERY.into_iter().map(ask).collect::<Result<_, Error>>()?;
    Ok(Family { parameters: BTreeMap::new(), models })
}

impl Loaded {
    /// The program that engines are compared on: that of a litmus test without its condition, so that each of them looks at everything.
    pub fn compared(&self) -> &Program {
        self.litmus.as_deref().map_or(&self.program, |test| &test.census)
    }
}

struct Decided {
    outcome: Outcome,
    verdict: Verdict,
    ending: Ending,
    states: Option<Vec<FinalState>>,
}

/// A thread that waits for ever has no final state, which is nothing to complain about in a test of final states.
fn of_tests(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let options = &mut settings.options;
    options.properties = options.properties.without(Property::Deadlock);
    settings
}

fn decide(test: &Test, settings: &Settings, states: bool, control: &Control) -> Result<Decided, Error> {
    let start = Instant::now();
    let settings = of_tests(settings);
    let left = || {
        let mut settings = settings.clone();
        let limits = &mut settings.options.limits;
        limits.time = limits.time.map(|limit| limit.saturating_sub(start.elapsed()));
        control.restart();
        settings
    };
    let expectation = test.claim.expectation;
    let census = (states || expectation == Some(Expectation::Sometimes)).then_some(());
    if census.is_none() && can_break(&test.census) {
        let outcome = verify(&test.census, &left(), control)?;
        if outcome.verdict != Verdict::Holds {
            return Ok(undecided(outcome));
        }
    }
    let mut counted = None;
    if census.is_some() {
        let (outcome, found) = final_states(test, left(), control)?;
        if outcome.verdict == Verdict::Violated {
            return Ok(undecided(outcome));
        }
        counted = Some((outcome, found));
    }
    let outcome = verify(&test.question, &left(), control)?;
    let first = outcome.findings.first().map(Finding::violation);
    if first.is_some_and(|found| found.property != Property::Assert || found.message != test.reached) {
        return Ok(undecided(outcome));
    }
    let reached = first.is_some();
    let complete = outcome.verdict != Verdict::Unknown;
    let positive = match (expectation, test.claim.quantifier) {
        (Some(Expectation::Sometimes), _) => {
            // It takes a state of either kind.
            let both = counted.as_ref().map(|(census, states)| {
                let [yes, no] = [true, false].map(|kind| states.iter().any(|state| state.satisfies == kind));
                (yes && no, census.verdict != Verdict::Unknown)
            });
            let verdict = match both {
                Some((true, _)) => Verdict::Holds,
                Some((false, true)) => Verdict::Violated,
                _ => Verdict::Unknown,
            };
            let ending = if reached { Ending::Reached } else { Ending::NotReached };
            let states = counted.map(|(_, states)| states);
            return Ok(Decided { outcome, verdict, ending, states });
        }
        (None, Quantifier::Exists) => true,
        _ => false,
    };
    let verdict = match (reached, complete, positive) {
        (true, _, positive) => {
            if positive {
                Verdict::Holds
            } else {
                Verdict::Violated
            }
        }
        (false, true, positive) => {
            if positive {
                Verdict::Violated
            } else {
                Verdict::Holds
            }
        }
        (false, false, _) => Verdict::Unknown,
    };
    let ending = if reached { Ending::Reached } else { Ending::NotReached };
    Ok(Decided { outcome, verdict, ending, states: counted.map(|(_, states)| states) })
}

/// Something came before the claim: a violated property, or a limit.
fn undecided(outcome: Outcome) -> Decided {
    let ending = if outcome.verdict == Verdict::Violated { Ending::Broken } else { Ending::NotReached };
    Decided { verdict: outcome.verdict, outcome, ending, states: None }
}

/// A run of every class of the program that prints its final state, and the states with how many classes end in each.
fn final_states(test: &Test, mut settings: Settings, control: &Control) -> Result<(Outcome, Vec<FinalState>), Error> {
    if settings.engine.name() == "auto" {
        // Its classes are those that people count.
        settings.engine = ENGINES.find("optimal").expect("it is among them");
    }
    settings.options.keep_schedules = true;
    let mut outcome = verify(&test.census, &settings, control)?;
    let bounds = LoopBounds { every: settings.loop_bound, named: settings.named_bounds.clone() };
    let code = prepare_with(&test.census, bounds, settings.bound_all_loops, settings.options.properties);
    let mut counts: BTreeMap<State, u64> = BTreeMap::new();
    for schedule in std::mem::take(&mut outcome.schedules) {
        let run = raddle_machine::replay(&code, settings.options.model, &schedule.named(code.numbering()), false)
            .map_err(|error| Error::Internal(format!("a run of a class does not replay: {error}")))?;
        let printed = run.execution.steps.iter().rev().find_map(|step| match step {
            Entry::Event { printed, .. } => printed.last(),
            _ => None,
        });
        // A blocked run ends in no state.
        if let Some(state) = printed.and_then(|line| test.state(line)) {
            *counts.entry(state).or_default() += 1;
        }
    }
    let found = |(State { values, satisfies }, executions)| FinalState { values, satisfies, executions };
    Ok((outcome, counts.into_iter().map(found).collect()))
}

/// Whether the threads do anything that could break a property.
fn can_break(program: &Program) -> bool {
    let threads = program.functions.iter().filter(|function| function.name != "main");
    let mut ops = threads.flat_map(|function| &function.blocks).flat_map(|block| &block.insts).map(|inst| &inst.op);
    let known = |addr: &Expr| matches!(addr, Expr::Global(_));
    ops.any(|op| {
        let mut divides = false;
        op.for_each_operand(|operand| {
            operand.walk(&mut |part| divides |= matches!(part, Expr::Binary(BinOp::SDiv | BinOp::SRem, ..)));
        });
        divides
            || match op {
                Op::Load { addr, order, .. } | Op::Store { addr, order, .. } => {
                    *order == Ordering::NonAtomic || !known(addr)
                }
                Op::Rmw { addr, .. } | Op::Cas { addr, .. } => !known(addr),
                Op::Assign { .. } | Op::Fence { .. } | Op::Assume { .. } => false,
                _ => true,
            }
    })
}
