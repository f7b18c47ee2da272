//! What a node shows: failures, ends of executions, deadlocks.

use super::search::Search;
use crate::sequence::witness::Question;
use crate::sequence::{Bug, Stop, ends, lives};
use raddle_trace::{EventId, Property};

impl Search<'_> {
    /// Reports what has gone wrong in a sequence.
    pub(super) fn report_bugs(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.shell.bugs) {
            if bug.either {
                self.either(&bug)?;
            }
            self.report_bug(&bug, sequence)?;
        }
        Ok(())
    }

    fn report_bug(&mut self, bug: &Bug, sequence: &[EventId]) -> Result<(), Stop> {
        let until = &sequence[..bug.at];
        let Some(late) = lives::late_access(&self.shell.frontier, until).filter(|_| bug.property.is_some()) else {
            return self.shell.show(bug, until);
        };
        // The thread that makes an access after its object's end goes no further, so this is no run of the machine. An order
        // without such an access is one if there is one.
        self.memory(&late)?;
        self.shell.show(&late, &until[..late.at])?;
        let report = &self.shell.report;
        if !bug.property.is_some_and(|property| report.wants(property, bug.pc)) || report.stopped() {
            return Ok(());
        }
        let orders = lives::right_orders(&self.shell.frontier);
        let Some(found) = self.shell.find(sequence, Question::Order(&orders, &[]))? else { return Ok(()) };
        self.shell.show(bug, &found)
    }

    /// Looks whether this is the end of an execution, and reports it. Returns whether it is.
    pub(super) fn end(&mut self, sequence: &[EventId]) -> Result<bool, Stop> {
        let mut is_end = false;
        for (end, wanted) in ends::ends(&mut self.shell.frontier) {
            let Some(sequence) = ends::ending(&mut self.shell, sequence, &wanted)? else {
                // A thread that has only not looked again has looked all the same.
                self.shell.check_races(sequence)?;
                continue;
            };
            is_end = true;
            self.shell.check_races(&sequence)?;
            if self.shell.report.stopped() {
                break;
            }
            self.check_lives(&sequence)?;
            if let Some(deadlock) = self.shell.count(&end, &sequence) {
                self.report_bug(&deadlock, &sequence)?;
            }
        }
        Ok(is_end)
    }

    /// Looks for accesses that can come after the ends of their objects.
    fn check_lives(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        let mut found = Vec::new();
        for order in lives::suspects(&self.shell.frontier) {
            found.extend(self.shell.find(sequence, Question::Order(&[order], &[]))?);
        }
        for sequence in found {
            let bug = lives::late_access(&self.shell.frontier, &sequence).expect("that is what was looked for");
            self.memory(&bug)?;
            self.shell.show(&bug, &sequence[..bug.at])?;
        }
        Ok(())
    }

    /// Which executions there are after an error of memory depends on the order of an access and the end of its object, which
    /// is not explored: then the error must be of interest itself.
    fn memory(&self, bug: &Bug) -> Result<(), Stop> {
        if self.shell.looks_for(Some(Property::Memory)) {
            return Ok(());
        }
        Err(self.unsupported(bug, "an access that may come after the end of its object"))
    }

    /// Two threads end the same thing: the one that is second is in error, and only one order is explored.
    fn either(&mut self, bug: &Bug) -> Result<(), Stop> {
        if self.shell.looks_for(bug.property) {
            let place = self.shell.frontier.world.code.place(bug.pc);
            let note = format!(
                "{}:{}: which of two threads is in error depends on their order; the engine `rvf` looked at one",
                place.file, place.line
            );
            if !self.shell.report.notes.contains(&note) {
                self.shell.report.notes.push(note);
            }
            return Ok(());
        }
        Err(self.unsupported(bug, "two threads that end the same thing in either order"))
    }

    fn unsupported(&self, bug: &Bug, what: &str) -> Stop {
        let property = bug.property.map_or("this", Property::name);
        let message = format!("the engine `rvf` handles {what} only if errors of the kind `{property}` are looked for");
        self.shell.refusal(bug.pc, message)
    }
}
