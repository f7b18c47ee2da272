//! The engine `explicit`: all states of the program, each once.
//!
//! What is asked is whether a state can be reached in which a thread has failed, nothing can move though somebody waits, or two accesses race. Under SC and for
//! finitely many states the search ends and decides that, loops or not; with store buffers as long as the buffers that occur have a bound
//! (Calin 2016, where this is the baseline of everything else). Breadth-first a violation is found on a shortest way.
//!
//! Cost: one look at every state and move; memory for every state, a few bytes per part of it.

use crate::growth::what_grows;
use crate::machine::{Concrete, Machine, Piece};
use crate::schedule::{Then, schedule};
use crate::search::{Graph, Order, Plan, ROOM, search};
use crate::semantics::{Breadth, Semantics};
use crate::sight::{Deadlock, End, Race, Sight};
use crate::visited::Index;
use raddle_engine::{
    Deadline, Engine, Equivalence, Fault, Finding, Outcome, Question, Reach, Refusal, Statistics, StopReason, Switch,
    Values, confirm,
};
use raddle_trace::{Model, Property};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

const SEARCH: Switch = Switch::words(
    "search",
    &["breadth", "depth"],
    "which of the states that were met to look at next: the first or the last",
);
const LIVE: Switch = Switch::on_off("live", true, "clear what no thread will read again");
const LOCAL: Switch = Switch::on_off("local", true, "what no other thread can notice is done first and alone");
const BUFFER: Switch = Switch {
    key: "buffer",
    values: Values::WordsOrNumber(&["auto", "any"], "how many"),
    default: "auto",
    summary: "how many stores of a thread can be on their way; auto is any number if there are no loops, else 8",
};

/// How long a store buffer gets in a program with loops if nobody says.
const BOUND: usize = 8;

/// The engine `explicit`.
#[derive(Clone, Copy, Debug)]
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn summary(&self) -> &'static str {
        "every state once, so that loops need no bound where states repeat; sc, tso, pso"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::States
    }

    fn switches(&self) -> &'static [Switch] {
        &[SEARCH, LIVE, LOCAL, BUFFER]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        let Question { code, options } = question;
        if !Model::OPERATIONAL.contains(&options.model) {
            let message = format!("the engine `explicit` knows sc, tso and pso, not {}", options.model);
            return Err(Refusal::whole(code, message));
        }
        if !question.looks_for_races() {
            return Ok(());
        }
        let instead = "--no race leaves races out, --engine optimal finds them";
        if code.has_atomic_blocks() {
            let message = format!("the engine `explicit` does not look for races beside atomic blocks; {instead}");
            return Err(Refusal::whole(code, message));
        }
        match code.weak_synchronisation() {
            Some(pc) => {
                let message = format!(
                    "the engine `explicit` finds races only where threads synchronise by acquire, release and locks that are waited for, which this does not; {instead}"
                );
                Err(Refusal::at(code, pc, message))
            }
            None => Ok(()),
        }
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        let Question { code, options } = *question;
        let switches = &options.switches;
        let mut machine = Machine::new(code, options.model);
        machine.races = question.looks_for_races();
        machine.bound = match switches.get(&BUFFER) {
            "any" => None,
            "auto" => code.has_loops().then_some(BOUND),
            number => number.parse().ok(),
        };
        if !switches.is_on(&LIVE) {
            machine.live = None;
        }
        let order = if switches.get(&SEARCH) == "depth" { Order::Depth } else { Order::Breadth };
        let breadth = if switches.is_on(&LOCAL) { Breadth::Enough } else { Breadth::Everything };
        let plan = Plan { order, workers: options.workers.max(1), breadth };
        let mut watch = Watch::new(question, &machine, deadline);
        let watch = std::cell::RefCell::new(&mut watch);
        let (graph, ended) = search(
            &machine,
            plan,
            &mut |graph, index, sight| watch.borrow_mut().notice(graph, index, sight),
            &mut |graph| watch.borrow_mut().pause(graph),
        );
        let watch = watch.into_inner();
        let mut notes = Vec::new();
        if order == Order::Depth && options.workers > 1 {
            notes.push("depth-first search has one worker".into());
        }
        match ended {
            Some(Halt::Fault(fault)) => return Err(fault),
            Some(Halt::Stop(reason)) => {
                if let Some(what) = what_grows(code, graph.parts.list()) {
                    notes.push(format!("what grows most: {what}"));
                }
                watch.reach.stop = Some(reason);
            }
            Some(Halt::Found) => {}
            None => {
                watch.reach.states = Some(graph.visited.len() as u64);
                watch.reach.goes_on = watch.statistics.executions == 0 && graph.leads_back && goes_on(&machine, &graph);
                if let Some(pc) = watch.full {
                    let bound = machine.bound.unwrap_or(0);
                    let why = format!(
                        "a thread had {bound} stores on their way, and runs in which it has more were not looked at; --engine-option buffer=N lets it have more"
                    );
                    watch.reach.stop = Some(StopReason::GaveUp { why, at: code.place(pc) });
                }
            }
        }
        let states = graph.visited.len() as u64;
        watch.statistics.events = graph.transitions;
        watch.statistics.longest = graph.depth;
        let counters = vec![
            ("states", states),
            ("transitions", graph.transitions),
            ("depth", graph.depth),
            ("bytes_per_state", graph.size() as u64 / states.max(1)),
            ("parts", graph.parts.list().len() as u64),
        ];
        let (reach, findings) = (std::mem::take(&mut watch.reach), std::mem::take(&mut watch.findings));
        let mut outcome =
            Outcome { counters, ..Outcome::new(self.name(), question, reach, findings, watch.statistics) };
        outcome.notes.extend(notes);
        Ok(outcome)
    }
}

/// Why a search ended before its end.
enum Halt {
    Found,
    Stop(StopReason),
    Fault(Fault),
}

/// What has been reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Told {
    Failure(Property, u32, String),
    Deadlock(Vec<(raddle_trace::ThreadId, u32)>),
    Race(u32, u32),
}

/// Who looks on while states are searched.
struct Watch<'q> {
    question: &'q Question<'q>,
    machine: &'q Machine<'q>,
    deadline: &'q Deadline<'q>,
    reach: Reach,
    statistics: Statistics,
    findings: Vec<Finding>,
    told: FxHashSet<Told>,
    /// A store that found no room.
    full: Option<u32>,
}

impl<'q> Watch<'q> {
    fn new(question: &'q Question<'q>, machine: &'q Machine<'q>, deadline: &'q Deadline<'q>) -> Self {
        Watch {
            question,
            machine,
            deadline,
            reach: Reach::default(),
            statistics: Statistics::default(),
            findings: Vec::new(),
            told: FxHashSet::default(),
            full: None,
        }
    }

    fn pause(&self, graph: &Graph<Piece>) -> ControlFlow<Halt> {
        if let Some(reason) = self.deadline.reached(self.statistics.runs()) {
            return ControlFlow::Break(Halt::Stop(reason));
        }
        let room = if self.question.options.limits.memory.is_none() { ROOM } else { usize::MAX };
        match graph.full(self.machine.code, room) {
            Some(reason) => ControlFlow::Break(Halt::Stop(reason)),
            None => ControlFlow::Continue(()),
        }
    }

    fn notice(&mut self, graph: &Graph<Piece>, index: Index, sight: Sight) -> ControlFlow<Halt> {
        let code = self.machine.code;
        let wanted = self.question.options.properties;
        for failure in sight.failures {
            match failure.property {
                None => {
                    let stop = StopReason::GaveUp { why: failure.message, at: code.place(failure.pc) };
                    return ControlFlow::Break(Halt::Stop(stop));
                }
                Some(property) if !wanted.contains(property) => code.disregard(failure.pc),
                Some(property) => {
                    let told = Told::Failure(property, failure.pc, failure.message);
                    self.report(graph, index, told, property, failure.pc, &Then::Nothing)?;
                }
            }
        }
        if let Some(Race { first, second }) = sight.race {
            let told = Told::Race(first.1.min(second.1), first.1.max(second.1));
            self.report(graph, index, told, Property::Race, second.1, &Then::Race(Race { first, second }))?;
        }
        if let Some(Deadlock { waiting, turning }) = sight.deadlock.filter(|_| wanted.contains(Property::Deadlock)) {
            let pc = waiting[0].1;
            self.report(graph, index, Told::Deadlock(waiting), Property::Deadlock, pc, &Then::Turns(turning))?;
        }
        self.full = self.full.or(sight.full);
        let (mut executions, mut blocked) = (0, 0);
        match sight.end {
            Some(End::Complete) => executions = 1,
            Some(End::Blocked) => blocked = 1,
            Some(End::Failed) => self.statistics.failed += 1,
            Some(End::Bounded) => {
                self.statistics.bounded += 1;
                self.reach.bounded_at = sight.bounded;
            }
            None => return ControlFlow::Continue(()),
        }
        self.statistics.executions += executions;
        self.statistics.blocked += blocked;
        self.deadline.control().advance(executions, blocked, 0.0);
        match self.question.options.limits.executions {
            Some(limit) if self.statistics.runs() >= limit => {
                ControlFlow::Break(Halt::Stop(StopReason::Executions(limit)))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Reports a violation, unless it has been.
    fn report(
        &mut self,
        graph: &Graph<Piece>,
        index: Index,
        told: Told,
        property: Property,
        pc: u32,
        then: &Then,
    ) -> ControlFlow<Halt> {
        if !self.told.insert(told) {
            return ControlFlow::Continue(());
        }
        let schedule = schedule(self.machine, graph, index, then);
        let mut shown = confirm(self.question, schedule.clone(), property, pc);
        if shown.is_err() && self.machine.races {
            // A replay goes no further than an access that races with an earlier one, and then that is what there is to report.
            shown = confirm(self.question, schedule, Property::Race, pc).or(shown);
        }
        let finding = match shown {
            Ok(finding) => finding,
            Err(fault) => return ControlFlow::Break(Halt::Fault(fault)),
        };
        let what = |finding: &Finding| (finding.violation().place.clone(), finding.violation().message.clone());
        let is_known = |known: &Finding| what(known) == what(&finding);
        if !self.findings.iter().any(is_known) {
            self.findings.push(finding);
        }
        if self.question.options.all { ControlFlow::Continue(()) } else { ControlFlow::Break(Halt::Found) }
    }
}

/// Whether some execution goes on for ever: whether states lead back to themselves.
fn goes_on(machine: &Machine<'_>, graph: &Graph<Piece>) -> bool {
    // Depth first: the states on the way, each with what is left to follow; and what has been left behind.
    let following = |index: Index| -> Vec<Index> {
        let mut next = Vec::new();
        let state: Concrete = graph.state(machine, index);
        machine.expand(&state, Breadth::Everything, &mut |_, state| next.extend(graph.find(machine, &state)));
        next
    };
    let mut on_way = FxHashSet::from_iter([0]);
    let mut done: FxHashSet<Index> = FxHashSet::default();
    let mut way = vec![(0, following(0))];
    while let Some((index, left)) = way.last_mut() {
        match left.pop() {
            Some(next) if on_way.contains(&next) => return true,
            Some(next) if done.contains(&next) => {}
            Some(next) => {
                on_way.insert(next);
                way.push((next, following(next)));
            }
            None => {
                on_way.remove(index);
                done.insert(*index);
                way.pop();
            }
        }
    }
    false
}
