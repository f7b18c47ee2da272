//! What an annotation shows: failures, ends of executions, deadlocks. And what both searches share.

use super::observe::in_memory;
use super::options::Settings;
use super::traces::Traces;
use crate::rvf::{ends, lives};
use crate::sequence::races::Races;
use crate::sequence::{Bug, Frontier, Report, Stop};
use raddle_consistency::realise::Realiser;
use raddle_engine::{Deadline, Options, Question, Refusal};
use raddle_machine::{Addr, Automaton};
use raddle_trace::{EventId, Property, ThreadId};

/// The events, what has been found, and how traces are found.
pub(super) struct Explorer<'c> {
    pub(super) options: &'c Options,
    pub(super) settings: Settings,
    pub(super) depth: usize,
    pub(super) frontier: Frontier<'c>,
    pub(super) traces: Traces<'c>,
    pub(super) report: Report<'c>,
    /// Looks for data races, if they are of interest.
    races: Option<Races>,
    /// What is wrong in the events that have just been added.
    pub(super) bugs: Vec<Bug>,
}

impl<'c> Explorer<'c> {
    pub(super) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings) -> Self {
        let Question { code, options } = question;
        let report = Report::new("dc", question, deadline);
        Explorer {
            options,
            settings,
            depth: options.limits.depth(),
            frontier: Frontier::new(code, options),
            traces: Traces { realiser: Realiser::default(), alarm: report.alarm() },
            races: report.looks_for_races().then(Races::default),
            report,
            bugs: Vec::new(),
        }
    }

    /// The threads, in the order in which they are tried.
    pub(super) fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = (0..self.frontier.threads() as u32).map(ThreadId).collect();
        if self.settings.backwards {
            threads.reverse();
        }
        threads
    }

    /// Reports what has gone wrong in a trace.
    pub(super) fn report_bugs(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.bugs) {
            if bug.either && (self.options.all || !bug.property.is_some_and(|property| self.looks_for(property))) {
                return Err(self.unsupported(&bug, "two threads that end the same thing in either order"));
            }
            self.report_bug(&bug, &trace[..bug.at])?;
        }
        Ok(())
    }

    fn report_bug(&mut self, bug: &Bug, until: &[EventId]) -> Result<(), Stop> {
        if lives::late_access(&self.frontier, until).is_some() && bug.property.is_some() {
            return self.late(until);
        }
        self.show(bug, until)
    }

    /// Reports what goes wrong at the end of a trace, or the race that comes before.
    fn show(&mut self, bug: &Bug, trace: &[EventId]) -> Result<(), Stop> {
        if bug.property.is_some_and(|property| self.report.wants(property, bug.pc)) {
            self.check_races(trace)?;
        }
        if self.report.stopped() {
            return Ok(());
        }
        Ok(self.report.bug(bug, || self.frontier.schedule(trace))?)
    }

    /// Looks for a race. All traces of a class have the same ones, but for those at an access that others come after.
    pub(super) fn check_races(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        let Some(races) = &mut self.races else { return Ok(()) };
        match races.first(&self.frontier, trace) {
            Some(at) => Ok(self.report.race(&self.frontier, &trace[..at])?),
            None => Ok(()),
        }
    }

    /// A trace has an access after the end of its object. The thread goes no further then, so what follows is another
    /// execution than the one at hand, and not explored. That is right if this is the last thing to be reported.
    fn late(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        let bug = lives::late_access(&self.frontier, trace).expect("that is why it is looked at");
        if self.options.all || !self.looks_for(Property::Memory) {
            return Err(self.unsupported(&bug, "an access that may come after the end of its object"));
        }
        self.show(&bug, &trace[..bug.at])
    }

    fn looks_for(&self, property: Property) -> bool {
        self.options.properties.contains(property)
    }

    fn unsupported(&self, bug: &Bug, what: &str) -> Stop {
        let message = format!("the engine `dc` does not handle {what}; use --engine optimal");
        Refusal::at(self.frontier.world.code, bug.pc, message).into()
    }

    /// A thread waits for something that is no lock, and bursts are asked for.
    pub(super) fn waits(&self, pc: u32) -> Stop {
        let message =
            "the engine `dc` does not handle threads that wait for anything but a lock by bursts; use burst=off";
        Refusal::at(self.frontier.world.code, pc, message).into()
    }

    /// An execution goes on for too long.
    pub(super) fn cut(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        self.check_races(trace)?;
        let threads = (0..self.frontier.threads() as u32).map(ThreadId);
        let busiest = threads.max_by_key(|&thread| self.frontier.events(thread).len());
        let pc = busiest.and_then(|thread| self.frontier.state(thread)).map(|state| state.pc());
        self.report.cut(pc);
        Ok(())
    }

    /// Looks whether the events are all of an execution, some writes in this order, and reports it. Returns whether they are.
    pub(super) fn end(&mut self, trace: &[EventId], orders: &[(EventId, EventId)]) -> Result<bool, Stop> {
        let Some((end, wanted)) = ends::end(&mut self.frontier) else { return Ok(false) };
        let counters = &mut self.report.counters;
        let Some(trace) = self.traces.with_end(&self.frontier, trace, &wanted, orders, counters)? else {
            return Ok(false);
        };
        self.check_races(&trace)?;
        if !self.report.stopped() {
            self.check_lives(&trace)?;
        }
        if self.report.stopped() {
            return Ok(true);
        }
        let statistics = &mut self.report.statistics;
        statistics.longest = statistics.longest.max(trace.len() as u64);
        let deadlock = self.report.count(&end);
        if self.options.keep_schedules {
            let schedule = self.frontier.schedule(&trace);
            self.report.schedules.push(schedule);
        }
        if let Some(pc) = deadlock {
            let (property, at) = (Some(Property::Deadlock), trace.len());
            self.report_bug(&Bug { property, message: String::new(), pc, at, either: false }, &trace)?;
        }
        Ok(true)
    }

    /// Looks for accesses that can come after the ends of their objects.
    fn check_lives(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        for at in 0..self.frontier.frees().len() {
            let free = self.frontier.frees()[at];
            let base = Addr(self.frontier.event(free).value).base();
            for thread in (0..self.frontier.threads() as u32).map(ThreadId) {
                let access = |id: EventId| {
                    let event = self.frontier.event(id);
                    (event.reads() || event.writes()) && self.frontier.world.access(event.loc).addr.base() == base
                };
                let events = (0..self.frontier.events(thread).len() as u32).map(|index| EventId::new(thread, index));
                let Some(last) = events.rev().find(|&id| access(id)).filter(|&id| !self.frontier.before(id, free))
                else {
                    continue;
                };
                let counters = &mut self.report.counters;
                if let Some(found) = self.traces.with_orders(&self.frontier, trace, &[(free, last)], counters)? {
                    return self.late(&found);
                }
            }
        }
        Ok(())
    }
}

/// Whether memory at the end of a trace lets nobody go on who waits.
pub(super) fn all_wait(frontier: &mut Frontier<'_>, trace: &[EventId]) -> bool {
    let Some((_, wanted)) = ends::end(frontier) else { return false };
    wanted.lasts.iter().all(|last| last.sources.contains(&in_memory(frontier, trace, last.loc)))
}
