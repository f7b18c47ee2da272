//! What an exploration of sequences has found so far, and the outcome that makes.

use super::frontier::Frontier;
use super::run::Bug;
use crate::confirm::confirm;
use crate::control::Control;
use crate::options::{Limits, Options};
use crate::outcome::{Error, Finding, Outcome, Reach, Statistics};
use raddle_consistency::{Interrupt, Watch};
use raddle_machine::Code;
use raddle_trace::{EventId, Property, Schedule};
use rustc_hash::FxHashSet;
use std::time::Instant;

/// What the threads of an execution come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    /// The instruction at which the first thread that waits does so.
    pub(crate) waiting: Option<u32>,
    /// The instruction of a loop that turned as often as it may.
    pub(crate) bounded: Option<u32>,
    pub(crate) failed: bool,
    pub(crate) assumed: bool,
    /// The program was ended.
    pub(crate) exited: bool,
}

/// Stops a search inside one question, by the limits that do not depend on how far the exploration is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm<'c> {
    limits: &'c Limits,
    control: &'c Control,
    start: Instant,
}

impl Interrupt for Alarm<'_> {
    fn is_due(&self) -> bool {
        self.limits.reached(self.control, self.start, 0).is_some()
    }
}

impl Alarm<'_> {
    /// Asks every so many steps.
    pub(crate) fn watch(&self, every: u32) -> Watch<'_> {
        Watch::new(self, every)
    }
}

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
    reach: Reach,
    stopped: bool,
    pub(crate) statistics: Statistics,
    /// The share of the search that is done.
    pub(crate) done: f64,
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) notes: Vec<String>,
}

impl<'c> Report<'c> {
    pub(crate) fn new(code: &'c Code, options: &'c Options, control: &'c Control) -> Self {
        let mut notes = Vec::new();
        if options.workers > 1 {
            notes.push(format!("the engine `{}` has one worker", options.engine));
        }
        if options.commuting_updates {
            notes.push(format!("the engine `{}` does not make use of updates that commute", options.engine));
        }
        Report {
            code,
            options,
            control,
            start: Instant::now(),
            told: Statistics::default(),
            told_done: 0.0,
            seen: FxHashSet::default(),
            findings: Vec::new(),
            reach: Reach::default(),
            stopped: false,
            statistics: Statistics::default(),
            done: 0.0,
            schedules: Vec::new(),
            notes,
        }
    }

    /// What stops a search inside one question.
    pub(crate) fn alarm(&self) -> Alarm<'c> {
        Alarm { limits: &self.options.limits, control: self.control, start: self.start }
    }

    /// A search inside a question was stopped: the exploration ends.
    pub(crate) fn interrupted(&mut self) {
        let reason = self.options.limits.reached(self.control, self.start, 0);
        self.give_up(reason.unwrap_or_else(|| "it was interrupted".to_owned()));
    }

    /// Whether the exploration should end.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Ends the exploration before everything was explored.
    pub(crate) fn give_up(&mut self, reason: String) {
        self.reach.limit.get_or_insert(reason);
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

    /// Whether data races are looked for and there can be any.
    pub(crate) fn looks_for_races(&self) -> bool {
        self.options.properties.contains(Property::Race) && self.code.has_non_atomic()
    }

    /// Confirms a race, the last event of a sequence, and keeps it. A thread that makes one goes no further, so what follows is another
    /// execution than the one at hand, and not explored. That is right if this is the last thing to be reported.
    pub(crate) fn race(&mut self, frontier: &Frontier<'_>, sequence: &[EventId]) -> Result<(), Error> {
        let pc = sequence.last().map_or(0, |&id| frontier.event(id).pc);
        if self.options.all {
            let message = format!(
                "the engine `{}` does not go on after a data race (--all); use --engine optimal",
                self.options.engine
            );
            return Err(Error::Unsupported { message, place: self.code.place(pc) });
        }
        let (property, at) = (Some(Property::Race), sequence.len());
        let bug = Bug { property, message: String::new(), pc, at, either: false };
        self.bug(&bug, || frontier.schedule(sequence))
    }

    /// An execution went on for too long.
    pub(crate) fn cut(&mut self, pc: Option<u32>) {
        self.statistics.cut += 1;
        self.reach.cut_at = self.reach.cut_at.or(pc);
        // Where they were cut off is told in any case.
        self.stopped |= self.statistics.cut >= Limits::ENDLESS && self.options.limits.depth.is_none();
    }

    /// Counts an execution that ends so. Returns where it is stuck if it is a deadlock.
    pub(crate) fn count(&mut self, end: &End) -> Option<u32> {
        let statistics = &mut self.statistics;
        if end.failed {
            statistics.failed += 1;
        } else if end.bounded.is_some() {
            statistics.bounded += 1;
            self.reach.bounded_at = self.reach.bounded_at.or(end.bounded);
        } else if end.assumed || (end.waiting.is_some() && !end.exited) {
            statistics.blocked += 1;
            return end.waiting.filter(|_| !end.assumed);
        } else {
            statistics.executions += 1;
        }
        None
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
        if let Some(reason) = self.options.limits.reached(self.control, self.start, self.statistics.runs()) {
            self.give_up(reason);
        }
    }

    /// Whether the limit on executions has been reached.
    pub(crate) fn is_full(&self) -> bool {
        self.options.limits.executions.is_some_and(|limit| self.statistics.runs() >= limit)
    }

    /// The outcome.
    pub(crate) fn finish(mut self) -> Outcome {
        self.look_around(false);
        let mut outcome = Outcome {
            statistics: self.statistics,
            share_done: self.done.min(1.0),
            schedules: self.schedules,
            ..Outcome::new(self.code, self.options, self.reach, self.findings)
        };
        outcome.notes.extend(self.notes);
        outcome
    }
}
