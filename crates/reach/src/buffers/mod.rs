//! The engine `abstract-tso`: proofs without a bound by buffers that forget.
//!
//! The program is searched with [buffers that forget](abstraction) order and numbers of stores: more behaviours than TSO, so a program without a violation there is proved, whether it is robust or not and however its buffers grow.
//! A violation there is looked for among the runs of TSO (`guided`) with the same operations; if there is none, it is spurious, and the search begins again with buffers that remember more: first numbers, then a longer and longer
//! queue that is exact (Calin 2016, refinement loop; expand, enlarge and check, Geeraerts, Raskin and Van Begin 2006).
//!
//! With `search=backward` the first round asks all numbers at once, by [going backwards](backward); then come the queues.
//!
//! The search is breadth-first, and that is needed: a violation of so many moves is among the shortest abstract ones when the queue is as long, and those are exact then. So every violation is found in the end; a
//! program without one may stay undecided.
//!
//! Cost: one search per precision; states of SC times contents of buffers.

pub mod abstraction;
pub mod backward;
mod guided;

use crate::explicit::Explicit;
use crate::growth::what_grows;
use crate::lazy::takes;
use crate::machine::Machine;
use crate::search::{Graph, Order, Plan, search, whole};
use crate::semantics::Breadth;
use crate::sight;
use crate::visited::Index;
use crate::watch::{Halt, Told, Watch};
use abstraction::{Abstract, BlurredPart, Choice, Precision, Sight};
use backward::Controls;
use guided::{Operations, concretise};
use raddle_engine::{
    Deadline, Engine, Equivalence, Fault, Outcome, PropertySet, Question, Refusal, StopReason, Switch, Values,
};
use raddle_machine::{Automaton, Failure};
use raddle_trace::{Model, Property, Schedule, Step};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

const QUEUE: Switch = Switch {
    key: "queue",
    values: Values::WordsOrNumber(&["refine", "none"], "how many"),
    default: "refine",
    summary: "how many of the oldest stores on their way are kept in order",
};
const COUNT: Switch = Switch {
    key: "count",
    values: Values::WordsOrNumber(&["refine", "none"], "how many"),
    default: "refine",
    summary: "how far equal stores among the others are counted",
};
const LAST: Switch = Switch::on_off("last", true, "the last store of a place is counted apart from equal older ones");

const SEARCH: Switch = Switch::words(
    "search",
    &["forward", "backward"],
    "backward decides at first whether there is a violation if all stores on their way are counted, from the violations back",
);

/// The longest queue that is tried.
const LONGEST: usize = 16;

/// The engine `abstract-tso`.
#[derive(Clone, Copy, Debug)]
pub struct AbstractTso;

impl Engine for AbstractTso {
    fn name(&self) -> &'static str {
        "abstract-tso"
    }

    fn summary(&self) -> &'static str {
        "store buffers that forget, refined until they prove the program or a violation is real; tso, without a bound on loops or buffers"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[QUEUE, COUNT, LAST, SEARCH]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        takes(self.name(), question)?;
        let switches = &question.options.switches;
        let is_set = [&QUEUE, &COUNT].iter().any(|switch| switches.get(switch) != "refine");
        if switches.get(&SEARCH) == "backward" && (is_set || !switches.is_on(&LAST)) {
            let message = "--engine-option search=backward counts all stores and keeps none in order; leave out what `queue`, `count` and `last` say";
            return Err(Refusal::whole(question.code, message));
        }
        Explicit.takes(question)
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        let switches = &question.options.switches;
        let set = |switch: &Switch| match switches.get(switch) {
            "refine" => None,
            "none" => Some(0),
            number => number.parse::<usize>().ok(),
        };
        let (queue, count) = (set(&QUEUE), set(&COUNT).map(|count| count.min(250) as u8));
        let mut precision =
            Precision { queue: queue.unwrap_or(0), count: count.unwrap_or(0), last: switches.is_on(&LAST) };
        let mut is_backward = switches.get(&SEARCH) == "backward";
        let mut rounds = 0;
        loop {
            rounds += 1;
            let (mut outcome, spurious) = look(question, precision, is_backward, deadline)?;
            outcome.counters.push(("rounds", rounds));
            if is_backward && spurious {
                (precision, is_backward) = (Precision { queue: 1, count: 1, ..precision }, false);
                continue;
            }
            if !spurious || (queue.is_some() && count.is_some()) || precision.queue >= LONGEST {
                return Ok(outcome);
            }
            precision = finer(precision, queue.is_some(), count.is_some());
        }
    }
}

/// Buffers that remember more: numbers first, then order and more numbers.
fn finer(precision: Precision, queue_is_set: bool, count_is_set: bool) -> Precision {
    let Precision { queue, count, last } = precision;
    match (queue_is_set, count_is_set) {
        (true, _) => Precision { queue, count: count.saturating_add(1), last },
        (false, true) => Precision { queue: queue + 1, count, last },
        (false, false) if count == 0 => Precision { queue, count: 1, last },
        (false, false) => Precision { queue: queue + 1, count: 1 + (queue as u8) / 4, last },
    }
}

/// The operations of threads on the way to a state.
fn operations(blurry: &Abstract<'_>, graph: &Graph<BlurredPart>, index: Index) -> Operations {
    let mut operations = Operations::new();
    for (from, by) in graph.way(index) {
        let blurred = graph.state(blurry, from);
        let (id, pick) = match blurry.choices(&blurred)[usize::from(by)] {
            Choice::Step(Step::Run(id)) => (id, None),
            Choice::Step(Step::Choose(id, pick)) => (id, Some(pick)),
            _ => continue,
        };
        let pc = crate::machine::own(&blurred.state, id).pc();
        operations.entry(id).or_default().push((pc, pick));
    }
    operations
}

/// What is wrong with a state, if anything that is looked for, taken out of what there is to notice.
fn take_wrong(sight: &mut sight::Sight, wanted: PropertySet) -> Option<sight::Sight> {
    let is_wanted = |failure: &Failure| failure.property.is_some_and(|property| wanted.contains(property));
    let failures = sight.failures.extract_if(.., |failure| is_wanted(failure)).collect();
    let deadlock = sight.deadlock.take_if(|_| wanted.contains(Property::Deadlock));
    let wrong = sight::Sight { failures, deadlock, race: sight.race.take(), ..sight::Sight::default() };
    (wrong != sight::Sight::default()).then_some(wrong)
}

/// Looks from states in which something is wrong back to the first one.
fn go_back(
    blurry: &Abstract<'_>,
    graph: &Graph<BlurredPart>,
    mut wrong: Vec<(Index, sight::Sight)>,
    watch: &mut Watch<'_>,
    real: &impl Fn(Operations, &Told) -> Option<Schedule>,
    deadline: &Deadline<'_>,
) -> ControlFlow<Halt> {
    let stop = |reason| ControlFlow::Break(Halt::Stop(reason));
    let controls = match Controls::new(blurry, graph, deadline) {
        Ok(controls) => controls,
        Err(reason) => return stop(reason),
    };
    while !wrong.is_empty() {
        let states: Vec<Index> = wrong.iter().map(|(index, _)| *index).collect();
        let (operations, index) = match controls.way(&states, deadline) {
            Ok(Some(way)) => way,
            Ok(None) => break,
            Err(reason) => return stop(reason),
        };
        let at = states.iter().position(|&state| state == index).expect("it is one of them");
        let (_, sight) = wrong.remove(at);
        watch.notice(sight, &mut |told, _| real(operations.clone(), told))?;
        wrong.retain(|(_, sight)| !watch.has_told(sight));
    }
    ControlFlow::Continue(())
}

/// Searches with buffers that remember so much; says whether what was found is spurious.
fn look(
    question: &Question<'_>,
    precision: Precision,
    is_backward: bool,
    deadline: &Deadline<'_>,
) -> Result<(Outcome, bool), Fault> {
    let Question { code, options } = *question;
    let races = question.looks_for_races();
    let mut blurry = Abstract::new(code, precision);
    blurry.machine.races = races;
    let watch = RefCell::new(Watch::new(question, races, deadline));
    let inexact = Cell::new(false);
    let breadth = if is_backward { Breadth::Everything } else { Breadth::Enough };
    let plan = Plan { order: Order::Breadth, workers: options.workers.max(1), breadth };
    let real = |operations: Operations, told: &Told| {
        let mut machine = Machine::new(code, Model::Tso);
        machine.races = races;
        concretise(machine, operations, told, deadline)
    };
    let mut wrong: Vec<(Index, sight::Sight)> = Vec::new();
    let (graph, mut ended) = search(
        &blurry,
        plan,
        &mut |graph: &Graph<BlurredPart>, index, sight: Sight| {
            if let Some((why, pc)) = sight.stuck {
                return ControlFlow::Break(Halt::Stop(StopReason::GaveUp { why, at: code.place(pc) }));
            }
            let mut sight = sight.machine;
            if is_backward {
                wrong.extend(take_wrong(&mut sight, options.properties).map(|sight| (index, sight)));
            }
            watch.borrow_mut().notice(sight, &mut |told, _| real(operations(&blurry, graph, index), told))
        },
        &mut |graph| watch.borrow().pause(graph),
    );
    let mut watch = watch.into_inner();
    if is_backward && ended.is_none() {
        ended = go_back(&blurry, &graph, wrong, &mut watch, &real, deadline).break_value();
    }
    let mut notes = Vec::new();
    let Precision { queue, count, .. } = precision;
    let counted = if is_backward { "count all of them".to_owned() } else { format!("count others up to {count}") };
    let how = format!(
        "store buffers that keep {} in order and {counted}",
        match queue {
            0 => "none of their stores".to_owned(),
            1 => "their oldest store".to_owned(),
            n => format!("their {n} oldest stores"),
        }
    );
    match ended {
        Some(Halt::Fault(fault)) => return Err(fault),
        Some(Halt::Stop(reason)) => {
            let piece = |part: &BlurredPart| match part {
                BlurredPart::Piece(piece) => Some(piece.clone()),
                BlurredPart::Overflow(_) => None,
            };
            let pieces: Vec<_> = graph.parts.list().iter().filter_map(piece).collect();
            notes.extend(what_grows(code, &pieces).map(|what| format!("what grows most: {what}")));
            watch.reach.stop = Some(reason);
        }
        Some(Halt::Spurious) => {
            inexact.set(true);
            let why = format!(
                "with {how} there is a violation that is none under tso, as far as was seen, and nothing more precise was tried"
            );
            watch.reach.stop = Some(deadline.passed().unwrap_or(StopReason::GaveUp { why, at: whole(code) }));
        }
        Some(Halt::Found) => {}
        None => {
            watch.reach.states = Some(graph.visited.len() as u64);
            watch.reach.goes_on = watch.statistics.executions == 0 && graph.leads_back && graph.goes_on(&blurry);
            notes.push(if watch.findings.is_empty() {
                format!("why: with {how} there are more behaviours than under tso, and no violation among them")
            } else {
                format!("why these are all: with {how} there are more behaviours than under tso, and no other violation among them")
            });
        }
    }
    watch.statistics.events = graph.transitions;
    watch.statistics.longest = graph.depth;
    let states = graph.visited.len() as u64;
    let counters = vec![
        ("states", states),
        ("transitions", graph.transitions),
        ("queue", queue as u64),
        ("count", u64::from(count)),
    ];
    let spurious = inexact.get() && deadline.passed().is_none();
    let mut outcome =
        Outcome { counters, ..Outcome::new("abstract-tso", question, watch.reach, watch.findings, watch.statistics) };
    outcome.notes.extend(notes);
    Ok((outcome, spurious))
}
