//! The way through all of it: states, moves, fair components, a lasso that the machine confirms.

use crate::chance::{self, Goes};
use crate::fairness::Fairness;
use crate::goal::{Goal, Run, judge};
use crate::graph::{Moves, Short, States, moves, states};
use crate::lasso::{Lasso, Proposed, Shows, confirm};
use crate::ltl::tableau;
use crate::strategy::{self, Strategy};
use raddle_engine::{Control, Deadline, Fault, Finding, Question, Refusal, StopReason, confirm as replayed};
use raddle_fair::labelled::{Edge, Labelled};
use raddle_trace::{Model, Place, Schedule, Step};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What every fair run is to do.
    pub goal: Goal,
    /// What is assumed of the scheduler.
    pub fairness: Fairness,
    /// How many stores of a thread may be on their way in a program with loops.
    pub buffer: usize,
}

/// How many stores of a thread may be on their way, if nobody says.
pub const BUFFER: usize = 8;

/// What came out.
#[derive(Debug)]
pub enum Verdict {
    /// Every fair run does it.
    Holds,
    /// This one does not.
    Violated(Box<Lasso>),
    /// Chance decides something, and this is what a fair scheduler does.
    Driven(Box<Strategy>),
    /// A run ends in a way that breaks a property.
    Broken(Box<Finding>),
    /// Not everything was looked at, or there was nothing to look at.
    Unknown {
        /// Why.
        why: String,
        /// Why, if a limit was reached.
        stop: Option<StopReason>,
    },
}

/// What came out, and what it rests on.
#[derive(Debug)]
pub struct Found {
    /// What came out.
    pub verdict: Verdict,
    /// How many states were met.
    pub states: u64,
    /// How many moves there are between them; `None` if that was not asked.
    pub moves: Option<u64>,
    /// How many strongly connected sets of states were looked at, and how many of them have a fair loop.
    pub components: Option<(u64, u64)>,
    /// How many pairs of a state and one of the automaton were looked at, if a formula was asked about.
    pub product: Option<u64>,
    /// How many states end a run.
    pub ends: u64,
    /// What a person should know beside it.
    pub notes: Vec<String>,
}

/// Does every fair run do what it is to do?
///
/// The program has to be compiled with its waiting loops as loops. Races are not looked for.
///
/// # Errors
/// If the memory model is not known here, or Raddle finds a bug in itself.
pub fn decide(question: &Question<'_>, settings: &Settings, control: &Control) -> Result<Found, Fault> {
    let Question { code, options } = *question;
    if !matches!(options.model, Model::Sc | Model::Tso) {
        let message = format!("liveness is known under sc and tso, not under {}", options.model);
        return Err(Refusal::whole(code, message).into());
    }
    if code.draws() && matches!(settings.goal, Goal::Formula(_)) {
        let message = "formulas are about single runs, and this program draws; `raddle fair` with the formula as a deterministic automaton \
                       (`--spec`) and fairness as pairs (`--pairs`) says whether it is true with probability 1";
        return Err(Refusal::whole(code, message).into());
    }
    if let Some(place) = code.first_post() {
        let message =
            "runs that never end are not known of programs with mailboxes; `raddle check` without `--live` takes them";
        return Err(Refusal::of(message, place).into());
    }
    let deadline = Deadline::new(options.limits, control);
    let (all, short) = states(question, settings.buffer, &deadline);
    let mut found = Found {
        verdict: Verdict::Holds,
        states: all.len() as u64,
        moves: None,
        components: None,
        product: None,
        ends: all.ends,
        notes: Vec::new(),
    };
    match short {
        Some(Short::Broken(index, property, pc)) => {
            let schedule = Schedule { steps: all.way(index) };
            found.verdict = Verdict::Broken(Box::new(replayed(question, schedule, property, pc)?));
            return Ok(found);
        }
        Some(Short::Stop(stop, grows)) => {
            found.notes.extend(grows.map(|what| format!("what grows most: {what}")));
            found.verdict = Verdict::Unknown { why: stop.to_string(), stop: Some(stop) };
            return Ok(found);
        }
        None => {}
    }
    let stopped = |stop: StopReason| Verdict::Unknown { why: stop.to_string(), stop: Some(stop) };
    let all_moves = match moves(&all, settings.fairness, &deadline) {
        Ok(all_moves) => all_moves,
        Err(stop) => {
            found.verdict = stopped(stop);
            return Ok(found);
        }
    };
    found.moves = Some(all_moves.labelled.edges() as u64);
    if code.draws() {
        return drawn(question, settings, &all, &all_moves, found, &deadline);
    }
    let Some(judged) = judge(&settings.goal, &all, &all_moves, &deadline) else {
        let at = || Place { line: 0, ..code.place(0) };
        let why = || format!("the automaton of the formula has more than {} states", tableau::MOST);
        found.verdict = stopped(deadline.passed().unwrap_or_else(|| StopReason::GaveUp { why: why(), at: at() }));
        return Ok(found);
    };
    found.product = judged.product;
    found.components = Some((judged.examined, judged.fair));
    if let Some(run) = judged.found {
        let lasso = shown(question, settings, &all, &all_moves.labelled, &run)?;
        found.verdict = Verdict::Violated(Box::new(lasso));
        return Ok(found);
    }
    if let Some(why) = incomplete(question, settings.buffer, &all, judged.fair) {
        found.verdict = Verdict::Unknown { why, stop: None };
    }
    Ok(found)
}

/// The same where chance decides something: does it happen with probability one under every fair scheduler?
fn drawn(
    question: &Question<'_>,
    settings: &Settings,
    all: &States<'_>,
    moves: &Moves,
    mut found: Found,
    deadline: &Deadline<'_>,
) -> Result<Found, Fault> {
    let Some(judged) = chance::judge(&settings.goal, moves, deadline) else {
        let stop = deadline.passed().expect("who stopped says why");
        found.verdict = Verdict::Unknown { why: stop.to_string(), stop: Some(stop) };
        return Ok(found);
    };
    found.components = Some((judged.examined, judged.fair));
    found.verdict = match judged.found {
        Some(Goes::Round(run)) => Verdict::Violated(Box::new(shown(question, settings, all, &moves.labelled, &run)?)),
        Some(Goes::On(plan)) => {
            let step = |at: u32, edge: Edge| all.step(at, (edge - moves.labelled.from(at).start) as usize);
            let moves_of = |(at, moves): &(u32, Vec<(Edge, usize)>)| -> Vec<(Step, usize)> {
                moves.iter().map(|&(edge, to)| (step(*at, edge), to)).collect()
            };
            let states: Vec<Vec<(Step, usize)>> = plan.states.iter().map(moves_of).collect();
            let stem = all.way(plan.states[0].0);
            let proposed = strategy::Proposed { stem: &stem, states: &states, waits: plan.waits };
            let confirmed = strategy::confirm(question.code, question.options.model, settings.fairness, proposed);
            let size = states.len();
            Verdict::Driven(Box::new(
                confirmed.map_err(|why| Fault::NotReplayed(format!("a strategy of {size} states: {why}")))?,
            ))
        }
        None => match incomplete(question, settings.buffer, all, judged.fair) {
            Some(why) => Verdict::Unknown { why, stop: None },
            None => Verdict::Holds,
        },
    };
    Ok(found)
}

/// The lasso of a loop, confirmed.
fn shown(
    question: &Question<'_>,
    settings: &Settings,
    all: &States<'_>,
    labelled: &Labelled,
    found: &Run,
) -> Result<Lasso, Fault> {
    let step = |&(at, edge): &(u32, Edge)| all.step(at, (edge - labelled.from(at).start) as usize);
    let turn: Vec<Step> = found.turn.iter().map(step).collect();
    let stem: Vec<Step> = match &found.stem {
        Some(stem) => stem.iter().map(step).collect(),
        None => all.way(found.turn[0].0),
    };
    let shows = match (&settings.goal, found.waits) {
        (Goal::Formula(formula), _) => Shows::Breaks(formula),
        (_, Some(id)) => Shows::Waits(id),
        (_, None) => Shows::NoEnd,
    };
    let proposed = Proposed { stem: &stem, turn: &turn, shows };
    confirm(question.code, question.options.model, settings.fairness, proposed)
        .map_err(|why| Fault::NotReplayed(format!("a lasso of {} and {} steps: {why}", stem.len(), turn.len())))
}

/// Why that no such run was found does not mean that there is none.
fn incomplete(question: &Question<'_>, buffer: usize, all: &States<'_>, fair: u64) -> Option<String> {
    let code = question.code;
    if let Some(pc) = all.full {
        let at = code.place(pc);
        let why =
            format!("a thread had {buffer} stores on their way, and runs in which it has more were not looked at");
        return Some(StopReason::GaveUp { why, at }.to_string());
    }
    let (executions, at) = &all.disregarded;
    if *executions > 0 {
        return Some(StopReason::Disregarded { executions: *executions, at: at.clone() }.to_string());
    }
    let inputs = code.inputs();
    if let Some(input) = inputs.sampled.first() {
        return Some(StopReason::Inputs { values: input.values, at: code.source_place(input.span) }.to_string());
    }
    if let Some(at) = code.taken_for_zero() {
        return Some(StopReason::Unwritten { at }.to_string());
    }
    if all.ends == 0 && fair == 0 {
        return Some(format!("no run was looked at: an assumption is false in each, in {} states", all.assumed));
    }
    None
}
