//! What an annotation shows: failures, ends of executions, deadlocks. And what both searches share.

use super::options::Settings;
use super::traces::Traces;
use crate::sequence::{Bug, Shell, Stop, ends, lives};
use raddle_consistency::realise::Realiser;
use raddle_engine::{Deadline, Question};
use raddle_trace::{EventId, Property, ThreadId};

/// The events, what has been found, and how traces are found.
pub(super) struct Explorer<'c> {
    pub(super) shell: Shell<'c>,
    pub(super) settings: Settings,
    pub(super) traces: Traces<'c>,
}

impl<'c> Explorer<'c> {
    pub(super) fn new(question: Question<'c>, deadline: &'c Deadline<'c>, settings: Settings, meetings: bool) -> Self {
        let mut explorer = Explorer::with(Shell::new("dc", question, deadline, meetings), settings);
        if settings.burst {
            explorer.shell.report.note_one_worker();
        }
        explorer
    }

    /// With events that are there already.
    pub(super) fn with(shell: Shell<'c>, settings: Settings) -> Self {
        let traces = Traces { realiser: Realiser::default(), alarm: shell.report.alarm() };
        Explorer { shell, settings, traces }
    }

    /// The threads, in the order in which they are tried.
    pub(super) fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = self.shell.frontier.ids().collect();
        if self.settings.backwards {
            threads.reverse();
        }
        threads
    }

    /// Reports what has gone wrong in a trace.
    pub(super) fn report_bugs(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.shell.bugs) {
            if bug.either && (self.shell.options.all || !self.shell.looks_for(bug.property)) {
                return Err(self.unsupported(&bug, "two threads that end the same thing in either order"));
            }
            self.report_bug(&bug, &trace[..bug.at])?;
        }
        Ok(())
    }

    fn report_bug(&mut self, bug: &Bug, until: &[EventId]) -> Result<(), Stop> {
        if lives::late_access(&self.shell.frontier, until).is_some() && bug.property.is_some() {
            return self.late(until);
        }
        self.shell.show(bug, until)
    }

    /// A trace has an access after the end of its object. The thread goes no further then, so what follows is another
    /// execution than the one at hand, and not explored. That is right if this is the last thing to be reported.
    fn late(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        let bug = lives::late_access(&self.shell.frontier, trace).expect("that is why it is looked at");
        if self.shell.options.all || !self.shell.looks_for(Some(Property::Memory)) {
            return Err(self.unsupported(&bug, "an access that may come after the end of its object"));
        }
        self.shell.show(&bug, &trace[..bug.at])
    }

    fn unsupported(&self, bug: &Bug, what: &str) -> Stop {
        self.shell.refusal(bug.pc, format!("the engine `dc` does not handle {what}; use --engine optimal"))
    }

    /// A thread waits for something that is no lock, and bursts are asked for.
    pub(super) fn waits(&self, pc: u32) -> Stop {
        let message =
            "the engine `dc` does not handle threads that wait for anything but a lock by bursts; use burst=off";
        self.shell.refusal(pc, message)
    }

    /// An execution goes on for too long. All traces of a class have the same races, but for those at an access that others come
    /// after.
    pub(super) fn cut(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        self.shell.check_races_of(trace)?;
        self.shell.cut();
        Ok(())
    }

    /// Looks whether the events are all of an execution, some writes in this order, and reports it. Returns whether they are.
    pub(super) fn end(&mut self, trace: &[EventId], orders: &[(EventId, EventId)]) -> Result<bool, Stop> {
        let mut is_end = false;
        for (end, wanted) in ends::ends(&mut self.shell.frontier) {
            let Shell { frontier, report, .. } = &mut self.shell;
            let found = self.traces.with_end(frontier, trace, &wanted, orders, &mut report.counters)?;
            let Some(trace) = found else {
                // A thread that has only not looked again has looked all the same.
                self.shell.check_races_of(trace)?;
                continue;
            };
            is_end = true;
            self.shell.check_races_of(&trace)?;
            if !self.shell.report.stopped() {
                self.check_lives(&trace)?;
            }
            if self.shell.report.stopped() {
                break;
            }
            let statistics = &mut self.shell.report.statistics;
            statistics.longest = statistics.longest.max(trace.len() as u64);
            if let Some(deadlock) = self.shell.count(&end, &trace) {
                self.report_bug(&deadlock, &trace)?;
            }
        }
        Ok(is_end)
    }

    /// Looks for accesses that can come after the ends of their objects.
    fn check_lives(&mut self, trace: &[EventId]) -> Result<(), Stop> {
        for order in lives::suspects(&self.shell.frontier) {
            let Shell { frontier, report, .. } = &mut self.shell;
            if let Some(found) = self.traces.with_orders(frontier, trace, &[order], &mut report.counters)? {
                return self.late(&found);
            }
        }
        Ok(())
    }
}
