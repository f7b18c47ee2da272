//! Who looks on while states are searched: counts ends, reports violations once each, keeps limits.
//!
//! What is wrong with a state is told by its [`Sight`]; how one gets there is for the search to say, as a schedule of the machine, which is replayed before it is reported.

use crate::schedule::Then;
use crate::search::{Graph, ROOM};
use crate::semantics::Part;
use crate::sight::{Deadlock, End, Race, Sight};
use raddle_engine::{Deadline, Fault, Finding, Question, Reach, Statistics, StopReason, confirm};
use raddle_machine::Failure;
use raddle_trace::{Property, Schedule, ThreadId};
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
pub(crate) enum Told {
    /// A thread has failed: at what, at which instruction, and in words.
    Failure(Property, u32, String),
    /// These threads wait for ever, each at its instruction.
    Deadlock(Vec<(ThreadId, u32)>),
    /// The instructions of two accesses that race, the lesser first.
    Race(u32, u32),
}

impl Told {
    fn failure(property: Property, failure: &Failure) -> Self {
        Told::Failure(property, failure.pc, failure.message.clone())
    }

    fn race(race: Race) -> Self {
        let (one, other) = (race.first.1, race.second.1);
        Told::Race(one.min(other), one.max(other))
    }

    /// Whether a state shows this; and what comes behind it then.
    pub(crate) fn is_shown(&self, sight: &Sight) -> Option<Then> {
        match self {
            Told::Failure(..) => {
                let is_this =
                    |failure: &Failure| failure.property.is_some_and(|of| Told::failure(of, failure) == *self);
                sight.failures.iter().any(is_this).then_some(Then::Nothing)
            }
            Told::Deadlock(waiting) => {
                let same = sight.deadlock.as_ref().filter(|deadlock| deadlock.waiting == *waiting);
                same.map(|deadlock| Then::Turns(deadlock.turning.clone()))
            }
            Told::Race(..) => sight.race.filter(|&race| Told::race(race) == *self).map(Then::Race),
        }
    }
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
pub(crate) type Way<'w> = dyn FnMut(&Told, &Then) -> Option<Schedule> + 'w;

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

    /// Whether everything that is wrong with a state has been reported, or need not be.
    pub(crate) fn has_told(&self, sight: &Sight) -> bool {
        let failures = sight.failures.iter().filter_map(|failure| Some(Told::failure(failure.property?, failure)));
        let race = sight.race.map(Told::race);
        let deadlock = sight.deadlock.iter().map(|deadlock| Told::Deadlock(deadlock.waiting.clone()));
        failures.chain(race).chain(deadlock).all(|told| self.told.contains(&told))
    }

    /// Whether to go on.
    pub(crate) fn pause<P: Part>(&self, graph: &Graph<P>) -> ControlFlow<Halt> {
        let limits = &self.question.options.limits;
        let room = if limits.memory.is_none() { ROOM } else { usize::MAX };
        match graph.must_end(self.question.code, room, self.deadline) {
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
                    self.report(way, Told::failure(property, &failure), property, failure.pc, &Then::Nothing)?;
                }
            }
        }
        if let Some(Race { first, second }) = sight.race {
            let race = Race { first, second };
            self.report(way, Told::race(race), Property::Race, second.1, &Then::Race(race))?;
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
        if self.told.contains(&told) {
            return ControlFlow::Continue(());
        }
        let schedule = way(&told, then);
        self.told.insert(told);
        let Some(schedule) = schedule else { return ControlFlow::Break(Halt::Spurious) };
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
