//! `check --live`: does every fair run of a program end, does whoever waits get on?

use crate::answer::Question;
use crate::cost::Meter;
use crate::error::Error;
use crate::prepare::prepare_as_written;
use raddle_engine::{Control, Options, Question as Asked};
use raddle_live::lasso::Why as Because;
use raddle_live::ltl::{Ltl, Wrong};
use raddle_live::strategy::Next;
use raddle_live::{Goal, Settings, Verdict, decide};
use raddle_program::Program;
use raddle_report::excerpt::Mark;
use raddle_report::live::{Counts, Goal as Meant, Lasso, Live, Reason, Why};
use raddle_report::scheduler::{Drawn, Point, Scheduler, Turn};
use raddle_report::{Answer, Body, Counterexample, Problem, names};
use raddle_trace::{Model, Property};

/// Does every fair run do what it is to do? The program is run as it is written, with waiting loops as loops; races are not looked for.
///
/// # Errors
/// If the memory model is not one for which that is known, or Raddle finds a bug in itself.
pub fn live(question: &Question<'_>, settings: &Settings, control: &Control) -> Result<Answer, Error> {
    let meter = Meter::start();
    let options = &question.settings.options;
    let properties = options.properties.without(Property::Race);
    let program = &question.loaded.program;
    let code = prepare_as_written(program, properties);
    let options = Options { properties, ..options.clone() };
    let found = decide(&Asked { code: &code, options: &options }, settings, control)?;
    let replay = |schedule: &crate::Schedule| format!("{} --as-written", question.without_races(schedule));
    let mut notes = question.loaded.notes.clone();
    notes.extend(found.notes);
    let inputs = code.inputs();
    if let Some((low, high)) = inputs.range.filter(|_| inputs.restricted) {
        notes.push(format!("for inputs in {low}..{high}"));
    }
    let (components, fair) = found.components.unzip();
    let mut body = Live {
        parameters: question.load.parameters(),
        verdict: raddle_trace::Verdict::Violated,
        model: options.model,
        goal: match &settings.goal {
            Goal::Ends => Meant::Ends,
            Goal::Waits => Meant::Waits,
            Goal::Formula(formula) => Meant::Formula(formula.text.clone()),
        },
        fairness: settings.fairness.strength.name(),
        unit: settings.fairness.unit.name(),
        draws: code.draws(),
        lasso: None,
        scheduler: None,
        broken: None,
        limit: None,
        counts: Counts {
            states: found.states,
            moves: found.moves,
            components,
            fair,
            product: found.product,
            ends: found.ends,
        },
        notes,
    };
    match found.verdict {
        Verdict::Holds => body.verdict = raddle_trace::Verdict::Holds,
        Verdict::Unknown { why, .. } => {
            body.verdict = raddle_trace::Verdict::Unknown;
            body.limit = Some(why);
        }
        Verdict::Broken(finding) => {
            let (violation, execution, waiting) = finding.into_parts();
            let replay = replay(&violation.schedule);
            body.broken = Some(Counterexample::new(violation, execution, waiting, replay));
        }
        Verdict::Driven(strategy) => {
            let replay = replay(&strategy.schedule);
            let raddle_live::Strategy { mut execution, schedule, states, reasons, waits } = *strategy;
            names::shorten(&mut execution, []);
            let reasons = reasons.into_iter().map(told).collect();
            let states = states.into_iter().map(point).collect();
            body.scheduler = Some(Box::new(Scheduler { execution, schedule, states, reasons, waits, replay }));
        }
        Verdict::Violated(lasso) => {
            if matches!(settings.goal, Goal::Ends) && lasso.reasons.iter().all(|reason| gets_on(&reason.why)) {
                body.notes
                    .push("no thread waits in this loop; --live=waits asks whether those that wait get on".into());
            }
            let replay = replay(&lasso.schedule);
            let raddle_live::Lasso { mut execution, schedule, stem, stem_steps, reasons, waits } = *lasso;
            names::shorten(&mut execution, []);
            let reasons = reasons.into_iter().map(told).collect();
            body.lasso = Some(Lasso { execution, schedule, stem, stem_steps, reasons, waits, replay });
        }
    }
    let sources = crate::load::sources(&program.sources);
    Ok(Answer { file: question.file.to_owned(), sources, cost: meter.read(), body: Body::Live(Box::new(body)) })
}

/// Reads a formula about this program.
///
/// # Errors
/// If it is none; the place is in its text, as if that were a file called `--ltl`.
pub fn formula(text: &str, program: &Program) -> Result<Ltl, Problem> {
    Ltl::parse(text, program).map_err(|Wrong { message, at, len }| {
        let (column, len) = (at as u32 + 1, len as u32);
        Problem::new(message).mark(Mark { file: FORMULA.into(), line: 1, column, len, ..Mark::default() })
    })
}

/// What the text of a formula is called where it is quoted.
pub const FORMULA: &str = "--ltl";

/// The model to ask about where none is named: the one that is meant, or sequential consistency if nothing is known about liveness under that one.
pub fn model_meant(meant: Model) -> (Model, Option<String>) {
    if matches!(meant, Model::Sc | Model::Tso) {
        return (meant, None);
    }
    (Model::Sc, Some(format!("sc, because liveness is known under sc and tso, not under {meant}")))
}

/// Whether somebody does not wait.
fn gets_on(why: &Because) -> bool {
    matches!(why, Because::Moves(_) | Because::Finished | Because::Empty)
}

/// A state of a scheduler in the report's words.
fn point(point: raddle_live::strategy::Point) -> Point {
    let turn = |turn: raddle_live::strategy::Turn| Turn {
        thread: turn.thread,
        place: turn.place,
        next: match turn.next {
            Next::To(state) => vec![Drawn { alternative: None, weight: 1, state }],
            Next::Drawn(all) => {
                all.into_iter().map(|(pick, weight, state)| Drawn { alternative: Some(pick), weight, state }).collect()
            }
        },
    };
    Point { memory: point.memory, turns: point.turns.into_iter().map(turn).collect() }
}

fn told(reason: raddle_live::lasso::Reason) -> Reason {
    let (why, place) = match reason.why {
        Because::Looks(_) => (Why::Looks, None),
        Because::Moves(_) => (Why::Moves, None),
        Because::NeverAble(place) => (Why::NeverAble, Some(place)),
        Because::AbleAtTimes(place) => (Why::AbleAtTimes, Some(place)),
        Because::Finished => (Why::Finished, None),
        Because::Empty => (Why::Empty, None),
        Because::Inside => (Why::Inside, None),
    };
    Reason { thread: reason.thread, drain: reason.drain, why, place }
}
