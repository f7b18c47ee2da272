//! Who looks on while states are searched: counts ends, reports violations once each, keeps limits.
//!
//! What is wrong with a state is told by its [`Sight`]; how one gets there is for the search to say, as a schedule of the machine, which is replayed before it is reported.

use crate::schedule::Then;
use crate::search::{Graph, ROOM};
use crate::semantics::Part;
use crate::sight::{Deadlock, End, Race, Sight};
use raddle_engine::{Deadline, Fault, Finding, Question, Reach, Statistics, StopReason, confirm};
use raddle_trace::{Property, Schedule};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Why a search ended before its end.
pub(crate) enum Halt {
    /// What was looked for has been found.
    Found,
    /// What was found is not there in fact.
    Spurious,
    /// A limit has been reached.
    Stop(StopReason),
    /// Something is wrong with Raddle.
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
pub(crate) struct Watch<'q> {
    question: &'q Question<'q>,
    /// Whether races are looked for.
    races: bool,
    deadline: &'q Deadline<'q>,
    pub(crate) reach: Reach,
    pub(crate) statistics: Statistics,
    pub(crate) findings: Vec<Finding>,
    told: FxHashSet<Told>,
    /// A store that found no room.
    pub(crate) full: Option<u32>,
}

/// The schedule that leads to what was noticed, with what comes then; `None` if there is none.
pub(crate) type Way<'w> = dyn FnMut(&Then) -> Option<Schedule> + 'w;

impl<'q> Watch<'q> {
    pub(crate) fn new(question: &'q Question<'q>, races: bool, deadline: &'q Deadline<'q>) -> Self {
        Watch {
            question,
            races,
            deadline,
            reach: Reach::default(),
            statistics: Statistics::default(),
            findings: Vec::new(),
            told: FxHashSet::default(),
            full: None,
        }
    }

    /// Whether to go on.
    pub(crate) fn pause<P: Part>(&self, graph: &Graph<P>) -> ControlFlow<Halt> {
        if let Some(reason) = self.deadline.reached(self.statistics.runs()) {
            return ControlFlow::Break(Halt::Stop(reason));
        }
        let room = if self.question.options.limits.memory.is_none() { ROOM } else { usize::MAX };
        match graph.full(self.question.code, room) {
            Some(reason) => ControlFlow::Break(Halt::Stop(reason)),
            None => ControlFlow::Continue(()),
        }
    }

    /// Counts a state and reports what is wrong with it.
    pub(crate) fn notice(&mut self, sight: Sight, way: &mut Way<'_>) -> ControlFlow<Halt> {
        let code = self.question.code;
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
                    self.report(way, told, property, failure.pc, &Then::Nothing)?;
                }
            }
        }
        if let Some(Race { first, second }) = sight.race {
            let told = Told::Race(first.1.min(second.1), first.1.max(second.1));
            self.report(way, told, Property::Race, second.1, &Then::Race(Race { first, second }))?;
        }
        if let Some(Deadlock { waiting, turning }) = sight.deadlock.filter(|_| wanted.contains(Property::Deadlock)) {
            let pc = waiting[0].1;
            self.report(way, Told::Deadlock(waiting), Property::Deadlock, pc, &Then::Turns(turning))?;
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
    fn report(&mut self, way: &mut Way<'_>, told: Told, property: Property, pc: u32, then: &Then) -> ControlFlow<Halt> {
        if !self.told.insert(told) {
            return ControlFlow::Continue(());
        }
        let Some(schedule) = way(then) else { return ControlFlow::Break(Halt::Spurious) };
        let mut shown = confirm(self.question, schedule.clone(), property, pc);
        if shown.is_err() && self.races {
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
