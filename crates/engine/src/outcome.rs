//! What an exploration found, and what follows from it.

use crate::confirm::Finding;
use crate::face::Question;
use crate::limits::StopReason;
use raddle_trace::{Property, Schedule, Scope, Verdict};

/// What every engine counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Complete executions: every thread finished. For engines that claim it, one per class.
    pub executions: u64,
    /// Executions in which some thread waits for something that never comes, or an assumption failed.
    pub blocked: u64,
    /// Executions in which a thread failed (only met with [`Options::all`](crate::Options::all)).
    pub failed: u64,
    /// Executions cut off at the loop bound.
    pub bounded: u64,
    /// Executions cut off at the depth limit.
    pub cut: u64,
    /// Executions of a class that was explored before, if somebody counted. An engine that claims optimality shows 0.
    pub redundant: Option<u64>,
    /// Options tried: events added, and those found impossible.
    pub events: u64,
    /// Events of the longest execution.
    pub longest: u64,
}

impl Statistics {
    /// Everything that ended: complete, blocked, failed, bounded or cut.
    pub fn runs(&self) -> u64 {
        self.executions + self.blocked + self.failed + self.bounded + self.cut
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Statistics) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.failed += other.failed;
        self.bounded += other.bounded;
        self.cut += other.cut;
        self.redundant = self.redundant.map_or(other.redundant, |own| Some(own + other.redundant.unwrap_or(0)));
        self.events += other.events;
        self.longest = self.longest.max(other.longest);
    }
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the engine that did the work.
    pub engine: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// How far it reaches.
    pub scope: Scope,
    /// Why it ended before everything was explored, if it did.
    pub stop: Option<StopReason>,
    /// Distinct violations, in the order they were found; at most one unless all were asked for.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub statistics: Statistics,
    /// What only this engine counts, by name.
    pub counters: Vec<(&'static str, u64)>,
    /// The share of the search tree that was explored, between 0 and 1.
    pub share_done: f64,
    /// A run of every class, if they were to be kept.
    pub schedules: Vec<Schedule>,
    /// What a person should know beside the verdict.
    pub notes: Vec<String>,
}

/// How far an exploration came.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// A loop that reached its bound.
    pub bounded_at: Option<u32>,
    /// Where an execution was cut off because it was too long.
    pub cut_at: Option<u32>,
    /// Why it was given up.
    pub stop: Option<StopReason>,
    /// How many states executions go through, if all of them were looked at.
    pub states: Option<u64>,
    /// Whether among these executions are some that go on for ever.
    pub goes_on: bool,
    /// Whether every value of unknown inputs was looked at, be there ever so many.
    pub every_input: bool,
}

impl Outcome {
    /// The outcome of an exploration that came so far and counted this; the scope and the verdict follow.
    pub fn new(
        engine: &'static str,
        question: &Question<'_>,
        reach: Reach,
        findings: Vec<Finding>,
        statistics: Statistics,
    ) -> Self {
        let Question { code, options } = question;
        let mut notes = Vec::new();
        let mut scope = reach.states.map_or(Scope::AllExecutions, |states| Scope::States { states });
        if let Some(pc) = reach.bounded_at {
            let place = code.place(pc);
            scope = Scope::LoopBound { turns: code.loop_bound().unwrap_or(0) };
            notes.push(format!("the loop at {}:{} reached its bound", place.file, place.line));
        }
        let inputs = code.inputs();
        if let Some((low, high)) = inputs.range.filter(|_| inputs.restricted) {
            let turns = if let Scope::LoopBound { turns } = scope { Some(turns) } else { None };
            scope = Scope::Inputs { low, high, turns };
        }
        let depth = |pc| StopReason::Depth { events: options.limits.depth(), at: code.place(pc) };
        let sampled = inputs.sampled.first().filter(|_| !reach.every_input);
        let sampled =
            sampled.map(|input| StopReason::Inputs { values: input.values, at: code.source_place(input.span) });
        let Statistics { executions, blocked, failed, bounded, .. } = statistics;
        let disregarded = (failed > 0 && findings.is_empty())
            .then(|| StopReason::Disregarded { executions: failed, at: code.disregarded() });
        let raced = |finding: &Finding| finding.violation().property == Property::Race;
        let behind_races =
            (options.all && findings.iter().any(raced)).then_some(StopReason::Races { executions: failed });
        let unwritten = code.taken_for_zero().map(|at| StopReason::Unwritten { at });
        let stop = reach.stop.or(reach.cut_at.map(depth)).or(disregarded).or(behind_races).or(sampled).or(unwritten);
        if let Some(stop) = &stop {
            scope = Scope::Partial { reason: stop.to_string() };
        } else if executions == 0 && !reach.goes_on && findings.is_empty() {
            scope = Scope::Nothing { blocked, bounded };
        }
        let verdict = match (&findings[..], &scope) {
            ([_, ..], _) => Verdict::Violated,
            ([], Scope::Partial { .. } | Scope::Nothing { .. }) => Verdict::Unknown,
            ([], _) => Verdict::Holds,
        };
        Outcome {
            engine,
            verdict,
            scope,
            stop,
            findings,
            statistics,
            counters: Vec::new(),
            share_done: 1.0,
            schedules: Vec::new(),
            notes,
        }
    }

    /// What only this engine counts; 0 if it counts no such thing.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.iter().find(|(known, _)| *known == name).map_or(0, |&(_, number)| number)
    }
}
