//! What an exploration of sequences has found so far, and the outcome that makes.

use super::frontier::Frontier;
use super::races::Race;
use super::run::Bug;
use raddle_consistency::{Interrupt, Interrupted, Watch};
use raddle_engine::{
    Deadline, Fault, Finding, Options, Outcome, Question, Reach, Refusal, Statistics, StopReason, confirm,
};
use raddle_machine::{Automaton, Code};
use raddle_trace::{Property, Schedule, Step};
use rustc_hash::FxHashSet;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is done between two looks at the deadline takes about as long as in graphs; with so many events in an execution twice as long, since the time for a sequence grows with its length.
const EVENTS: u64 = 128;

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

/// What these engines count beside what all do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// How often an order of events was looked for that explains what was read, because none at hand did.
    pub(crate) questions: u64,
    /// How often there was none.
    pub(crate) unrealisable: u64,
    /// Sets of events that were looked at.
    pub(crate) nodes: u64,
    /// Those of them that led nowhere: something could still be read, and all of it had been tried elsewhere.
    pub(crate) dead_ends: u64,
}

impl Counters {
    fn add(&mut self, other: Counters) {
        let Counters { questions, unrealisable, nodes, dead_ends } = other;
        self.questions += questions;
        self.unrealisable += unrealisable;
        self.nodes += nodes;
        self.dead_ends += dead_ends;
    }

    fn named(self) -> Vec<(&'static str, u64)> {
        let Counters { questions, unrealisable, nodes, dead_ends } = self;
        vec![("questions", questions), ("unrealisable", unrealisable), ("nodes", nodes), ("dead_ends", dead_ends)]
    }
}

/// Why a search ends before everything was explored, other than by what it has found.
#[derive(Debug)]
pub(crate) enum Stop {
    /// There can be no verdict.
    Fault(Fault),
    /// A limit was reached inside one question.
    Interrupted,
    /// The order in which threads arrive at a barrier may matter at this instruction; see [`super::meetings`].
    Contested(u32),
}

impl Stop {
    /// Why there is no outcome.
    pub(super) fn fault(self) -> Fault {
        match self {
            Stop::Fault(fault) => fault,
            Stop::Interrupted | Stop::Contested(_) => unreachable!("there is an outcome, or the search starts over"),
        }
    }

    /// Of several, the most severe counts.
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Stop::Interrupted => 1,
            Stop::Fault(Fault::Refused(_)) | Stop::Contested(_) => 2,
            Stop::Fault(_) => 3,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Stop::Fault(fault)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Fault(refusal.into())
    }
}

impl From<Interrupted> for Stop {
    fn from(Interrupted: Interrupted) -> Self {
        Stop::Interrupted
    }
}

/// Stops a search inside one question, by the limits that do not depend on how far the exploration is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm<'c>(&'c Deadline<'c>);

impl Interrupt for Alarm<'_> {
    fn is_due(&self) -> bool {
        self.0.passed().is_some()
    }
}

impl<'c> Alarm<'c> {
    /// With the limits of a run.
    pub(crate) fn new(deadline: &'c Deadline<'c>) -> Self {
        Alarm(deadline)
    }

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
    pub(super) engine: &'static str,
    deadline: &'c Deadline<'c>,
    told: Statistics,
    told_done: f64,
    /// How many executions have ended, of those that were told.
    runs: Arc<AtomicU64>,
    seen: FxHashSet<(Property, u32)>,
    findings: Vec<Finding>,
    reach: Reach,
    stopped: bool,
    pub(crate) statistics: Statistics,
    pub(crate) counters: Counters,
    /// The share of the search that is done.
    pub(crate) done: f64,
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) notes: Vec<String>,
}

impl<'c> Report<'c> {
    pub(crate) fn new(engine: &'static str, question: Question<'c>, deadline: &'c Deadline<'c>) -> Self {
        let Question { code, options } = question;
        let mut notes = Vec::new();
        if options.commuting_updates {
            notes.push(format!("the engine `{engine}` does not make use of updates that commute"));
        }
        Report {
            code,
            options,
            engine,
            deadline,
            told: Statistics::default(),
            told_done: 0.0,
            runs: Arc::default(),
            seen: FxHashSet::default(),
            findings: Vec::new(),
            reach: Reach::default(),
            stopped: false,
            statistics: Statistics::default(),
            counters: Counters::default(),
            done: 0.0,
            schedules: Vec::new(),
            notes,
        }
    }

    /// Says that there is one worker, if more are asked for.
    pub(crate) fn note_one_worker(&mut self) {
        if self.options.workers > 1 {
            self.notes.push(format!("the engine `{}` has one worker", self.engine));
        }
    }

    /// The number of executions that have ended, for others who explore parts of the same search.
    pub(crate) fn runs(&self) -> Arc<AtomicU64> {
        self.runs.clone()
    }

    /// Counts executions together with others.
    pub(crate) fn share_runs(&mut self, runs: Arc<AtomicU64>) {
        self.runs = runs;
    }

    /// Adds what somebody else has found in another part of the same search.
    pub(crate) fn absorb(&mut self, mut other: Report<'c>) {
        other.look_around(false);
        self.statistics.add(&other.statistics);
        self.told.add(&other.statistics);
        self.counters.add(other.counters);
        self.done += other.done;
        self.told_done += other.done;
        self.stopped |= other.stopped;
        let Reach { stop, cut_at, bounded_at, .. } = other.reach;
        self.reach.stop = self.reach.stop.take().or(stop);
        self.reach.cut_at = self.reach.cut_at.or(cut_at);
        self.reach.bounded_at = self.reach.bounded_at.or(bounded_at);
        self.schedules.append(&mut other.schedules);
        other.notes.retain(|note| !self.notes.contains(note));
        self.notes.append(&mut other.notes);
        for finding in other.findings {
            let (property, place) = (finding.violation().property, finding.violation().place.clone());
            let is_known = |known: &Finding| known.violation().property == property && known.violation().place == place;
            if !self.findings.iter().any(is_known) && (self.options.all || self.findings.is_empty()) {
                self.findings.push(finding);
            }
        }
        self.seen.extend(other.seen);
    }

    fn question(&self) -> Question<'c> {
        Question { code: self.code, options: self.options }
    }

    /// What stops a search inside one question.
    pub(crate) fn alarm(&self) -> Alarm<'c> {
        Alarm(self.deadline)
    }

    /// Whether the exploration should end.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Ends the exploration before everything was explored.
    pub(crate) fn give_up(&mut self, reason: StopReason) {
        self.reach.stop.get_or_insert(reason);
        self.stopped = true;
    }

    /// Whether a bug is of interest: its property is looked for, and nothing like it has been found.
    pub(crate) fn wants(&self, property: Property, pc: u32) -> bool {
        self.options.properties.contains(property) && !self.seen.contains(&(property, pc))
    }

    /// Confirms a bug and keeps it. `schedule` is the run that shows it.
    pub(crate) fn bug(&mut self, bug: &Bug, schedule: impl FnOnce() -> Schedule) -> Result<(), Fault> {
        let Some(property) = bug.property else {
            let at = self.code.place(bug.pc);
            self.give_up(StopReason::GaveUp { why: bug.message.clone(), at });
            return Ok(());
        };
        if !self.wants(property, bug.pc) {
            if !self.options.properties.contains(property) {
                self.code.disregard(bug.pc);
            }
            return Ok(());
        }
        self.seen.insert((property, bug.pc));
        let finding = confirm(&self.question(), schedule(), property, bug.pc)?;
        self.findings.push(finding);
        self.stopped |= !self.options.all;
        Ok(())
    }

    /// Confirms a race and keeps it. A thread that makes one goes no further, so what follows is another
    /// execution than the one at hand, and not explored. That is right if this is the last thing to be reported.
    pub(crate) fn race(&mut self, frontier: &Frontier<'_>, race: &Race) -> Result<(), Fault> {
        let looks = race.look.and_then(|thread| frontier.state(thread)).map(Automaton::pc);
        let pc = looks.or_else(|| race.sequence.last().map(|&id| frontier.event(id).pc)).unwrap_or(0);
        if self.options.all {
            let message =
                format!("the engine `{}` does not go on after a data race (--all); use --engine optimal", self.engine);
            return Err(Refusal::at(self.code, pc, message).into());
        }
        let (property, at) = (Some(Property::Race), race.sequence.len());
        let bug = Bug { property, message: String::new(), pc, at, either: false };
        self.bug(&bug, || {
            let mut schedule = frontier.schedule(&race.sequence);
            schedule.steps.extend(race.look.map(Step::Run));
            schedule
        })
    }

    /// An execution went on for too long.
    pub(crate) fn cut(&mut self, pc: Option<u32>) {
        self.statistics.cut += 1;
        self.reach.cut_at = self.reach.cut_at.or(pc);
        // Where they were cut off is told in any case.
        self.stopped |= self.options.limits.are_endless(self.statistics.cut);
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
        self.deadline.control().advance(
            new.executions - old.executions,
            new.blocked - old.blocked,
            (self.done - self.told_done).max(0.0),
        );
        let runs = new.runs() - old.runs();
        let runs = self.runs.fetch_add(runs, Ordering::Relaxed) + runs;
        self.told = self.statistics;
        self.told_done = self.done.max(self.told_done);
        if !more || self.stopped {
            return;
        }
        self.deadline.spend(self.statistics.longest / EVENTS);
        if let Some(reason) = self.deadline.reached(runs) {
            self.give_up(reason);
        }
    }

    /// Whether the limit on executions has been reached.
    pub(crate) fn is_full(&self) -> bool {
        self.options.limits.executions.is_some_and(|limit| {
            let untold = self.statistics.runs() - self.told.runs();
            self.runs.load(Ordering::Relaxed) + untold >= limit
        })
    }

    /// The outcome of a search that has ended so. Nothing is left to tell then.
    pub(crate) fn finish(&mut self, walked: Result<(), Stop>) -> Result<Outcome, Stop> {
        match walked {
            Ok(()) => {}
            // Of several workers one may have found what was looked for before another one met what it does not take.
            Err(Stop::Fault(Fault::Refused(_)) | Stop::Contested(_))
                if !self.options.all && !self.findings.is_empty() => {}
            Err(stop @ (Stop::Fault(_) | Stop::Contested(_))) => return Err(stop),
            Err(Stop::Interrupted) => self.give_up(self.deadline.passed().unwrap_or(StopReason::Interrupted)),
        }
        self.look_around(false);
        let question = self.question();
        let mut outcome = Outcome {
            counters: self.counters.named(),
            share_done: self.done.min(1.0),
            schedules: take(&mut self.schedules),
            ..Outcome::new(self.engine, &question, take(&mut self.reach), take(&mut self.findings), self.statistics)
        };
        outcome.notes.append(&mut self.notes);
        Ok(outcome)
    }
}
