//! What an exploration of sequences has found so far, and the outcome that makes.

use super::run::Bug;
use crate::confirm::confirm;
use crate::control::Control;
use crate::options::{Limits, Options};
use crate::outcome::{Error, Finding, Outcome, Statistics};
use raddle_machine::Code;
use raddle_trace::{Property, Schedule, Scope, Verdict};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// After so many executions that do not end, it is not worth while to look at more of them, unless somebody has said
/// how deep to look.
const ENDLESS: u64 = 20;

/// What has been found.
#[derive(Debug)]
pub(crate) struct Report<'c> {
    code: &'c Code,
    options: &'c Options,
    control: &'c Control,
    start: Instant,
    told: Statistics,
    told_done: f64,
    seen: FxHashSet<(Property, u32)>,
    findings: Vec<Finding>,
    /// Why not everything was explored.
    limit: Option<String>,
    cut_at: Option<u32>,
    bounded_at: Option<u32>,
    stopped: bool,
    pub(crate) statistics: Statistics,
    /// The share of the search that is done.
    pub(crate) done: f64,
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) notes: Vec<String>,
}

impl<'c> Report<'c> {
    pub(crate) fn new(code: &'c Code, options: &'c Options, control: &'c Control) -> Self {
        Report {
            code,
            options,
            control,
            start: Instant::now(),
            told: Statistics::default(),
            told_done: 0.0,
            seen: FxHashSet::default(),
            findings: Vec::new(),
            limit: None,
            cut_at: None,
            bounded_at: None,
            stopped: false,
            statistics: Statistics::default(),
            done: 0.0,
            schedules: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether the exploration should end.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Ends the exploration before everything was explored.
    pub(crate) fn give_up(&mut self, reason: String) {
        self.limit.get_or_insert(reason);
        self.stopped = true;
    }

    /// Whether a bug is of interest: its property is looked for, and nothing like it has been found.
    pub(crate) fn wants(&self, property: Property, pc: u32) -> bool {
        self.options.properties.contains(property) && !self.seen.contains(&(property, pc))
    }

    /// Confirms a bug and keeps it. `schedule` is the run that shows it.
    pub(crate) fn bug(&mut self, bug: &Bug, schedule: impl FnOnce() -> Schedule) -> Result<(), Error> {
        let Some(property) = bug.property else {
            let place = self.code.place(bug.pc);
            self.give_up(format!("{}:{}: {}", place.file, place.line, bug.message));
            return Ok(());
        };
        if !self.wants(property, bug.pc) {
            return Ok(());
        }
        self.seen.insert((property, bug.pc));
        let finding = confirm(self.code, self.options, schedule(), property, bug.pc)?;
        self.findings.push(finding);
        self.stopped |= !self.options.all;
        Ok(())
    }

    /// An execution went on for too long.
    pub(crate) fn cut(&mut self, pc: Option<u32>) {
        self.statistics.cut += 1;
        self.cut_at = self.cut_at.or(pc);
        // Where they were cut off is told in any case.
        self.stopped |= self.statistics.cut >= ENDLESS && self.options.limits.depth.is_none();
    }

    /// A loop wanted to turn more often than it may.
    pub(crate) fn bounded(&mut self, pc: u32) {
        self.bounded_at = self.bounded_at.or(Some(pc));
    }

    /// Tells the watcher how far it is, and stops at limits. `more` says whether anything is left to explore.
    pub(crate) fn look_around(&mut self, more: bool) {
        let (old, new) = (&self.told, &self.statistics);
        self.control.advance(
            new.executions - old.executions,
            new.blocked - old.blocked,
            (self.done - self.told_done).max(0.0),
        );
        self.told = self.statistics;
        self.told_done = self.done.max(self.told_done);
        if !more || self.stopped {
            return;
        }
        let limits = &self.options.limits;
        if self.control.stopped() {
            self.give_up("it was interrupted".to_owned());
        } else if limits.executions.is_some_and(|limit| self.statistics.runs() >= limit) {
            self.give_up(format!("the limit of {} executions was reached", limits.executions.unwrap_or(0)));
        } else if limits.time.is_some_and(|limit| self.start.elapsed() >= limit) {
            self.give_up(format!("the time limit of {:?} was reached", limits.time.unwrap_or_default()));
        } else if limits.memory.is_some_and(|limit| crate::memory::resident() >= limit) {
            self.give_up(format!("the memory limit of {} bytes was reached", limits.memory.unwrap_or(0)));
        }
    }

    /// Whether the limit on executions has been reached.
    pub(crate) fn is_full(&self) -> bool {
        self.options.limits.executions.is_some_and(|limit| self.statistics.runs() >= limit)
    }

    /// The outcome.
    pub(crate) fn finish(mut self) -> Outcome {
        self.look_around(false);
        let line = |pc: u32| {
            let place = self.code.place(pc);
            format!("{}:{}", place.file, place.line)
        };
        let mut scope = Scope::AllExecutions;
        if let Some(pc) = self.bounded_at {
            scope = Scope::LoopBound { turns: self.code.loop_bound().unwrap_or(0) };
            self.notes.push(format!("the loop at {} reached its bound", line(pc)));
        }
        if let Some(pc) = self.cut_at {
            let depth = self.options.limits.depth.unwrap_or(Limits::DEPTH);
            let reason = format!(
                "an execution went on for more than {depth} events, at {}; bound its loops or raise the depth limit",
                line(pc)
            );
            scope = Scope::Partial { reason };
        }
        if let Some(reason) = self.limit {
            scope = Scope::Partial { reason };
        }
        let verdict = match (&self.findings[..], &scope) {
            ([_, ..], _) => Verdict::Violated,
            ([], Scope::Partial { .. }) => Verdict::Unknown,
            ([], _) => Verdict::Holds,
        };
        Outcome {
            verdict,
            scope,
            findings: self.findings,
            statistics: self.statistics,
            share_done: self.done.min(1.0),
            schedules: self.schedules,
            notes: self.notes,
        }
    }
}
