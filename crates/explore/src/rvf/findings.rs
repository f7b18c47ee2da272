//! What a node shows: failures, ends of executions, deadlocks.

use super::ends;
use super::lives;
use super::search::Search;
use super::witness::Question;
use crate::sequence::{Bug, Stop};
use raddle_engine::Refusal;
use raddle_trace::{EventId, Property};

impl Search<'_> {
    /// Reports what has gone wrong in a sequence.
    pub(super) fn report_bugs(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.bugs) {
            if bug.either {
                self.either(&bug)?;
            }
            self.report_bug(&bug, sequence)?;
        }
        Ok(())
    }

    fn report_bug(&mut self, bug: &Bug, sequence: &[EventId]) -> Result<(), Stop> {
        let until = &sequence[..bug.at];
        let Some(late) = lives::late_access(&self.frontier, until).filter(|_| bug.property.is_some()) else {
            return self.show(bug, until);
        };
        // The thread that makes an access after its object's end goes no further, so this is no run of the machine. An order
        // without such an access is one if there is one.
        self.memory(&late)?;
        self.show(&late, until)?;
        if !bug.property.is_some_and(|property| self.report.wants(property, bug.pc)) || self.report.stopped() {
            return Ok(());
        }
        let orders = lives::right_orders(&self.frontier);
        let question = Question::Order(&orders, &[]);
        let alarm = self.report.alarm();
        let (settings, counters) = (&self.settings, &mut self.report.counters);
        let Some(found) = self.witness.find(&self.frontier, sequence, question, settings, counters, alarm)? else {
            return Ok(());
        };
        self.show(&Bug { at: found.len(), ..bug.clone() }, &found)
    }

    /// Reports what goes wrong in a sequence, or the race that comes before.
    fn show(&mut self, bug: &Bug, sequence: &[EventId]) -> Result<(), Stop> {
        let until = &sequence[..bug.at];
        if bug.property.is_some_and(|property| self.report.wants(property, bug.pc))
            && let Some(races) = &mut self.races
            && let Some(at) = races.first(&self.frontier, until)
        {
            return Ok(self.report.race(&self.frontier, &until[..at])?);
        }
        Ok(self.report.bug(bug, || self.frontier.schedule(until))?)
    }

    /// Looks for races in all sequences of the events.
    pub(super) fn check_races(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        let Some(races) = &mut self.races else { return Ok(()) };
        let Search { frontier, witness, settings, report, .. } = self;
        let (alarm, counters) = (report.alarm(), &mut report.counters);
        let race = races.find(frontier, sequence, |sources| {
            witness.find(frontier, sequence, Question::Sources(sources), settings, counters, alarm)
        })?;
        Ok(race.map_or(Ok(()), |race| report.race(frontier, &race))?)
    }

    /// Looks whether this is the end of an execution, and reports it. Returns whether it is.
    pub(super) fn end(&mut self, sequence: &[EventId]) -> Result<bool, Stop> {
        let Some((end, wanted)) = ends::end(&mut self.frontier) else { return Ok(false) };
        let (alarm, counters) = (self.report.alarm(), &mut self.report.counters);
        let found =
            ends::ending(&self.frontier, sequence, &wanted, &mut self.witness, &self.settings, counters, alarm)?;
        let Some(sequence) = found else { return Ok(false) };
        self.check_races(&sequence)?;
        if self.report.stopped() {
            return Ok(true);
        }
        self.check_lives(&sequence)?;
        let deadlock = self.report.count(&end);
        if self.options.keep_schedules {
            let schedule = self.frontier.schedule(&sequence);
            self.report.schedules.push(schedule);
        }
        if let Some(pc) = deadlock {
            let (property, at) = (Some(Property::Deadlock), sequence.len());
            let bug = Bug { property, message: String::new(), pc, at, either: false };
            self.report_bug(&bug, &sequence)?;
        }
        Ok(true)
    }

    /// Looks for accesses that can come after the ends of their objects.
    fn check_lives(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        if self.frontier.frees().is_empty() {
            return Ok(());
        }
        let (alarm, settings, counters) = (self.report.alarm(), &self.settings, &mut self.report.counters);
        let found = lives::late_accesses(&self.frontier, sequence, &mut self.witness, settings, counters, alarm)?;
        for sequence in found {
            let bug = lives::late_access(&self.frontier, &sequence).expect("that is what was looked for");
            self.memory(&bug)?;
            self.show(&bug, &sequence)?;
        }
        Ok(())
    }

    /// Which executions there are after an error of memory depends on the order of an access and the end of its object, which
    /// is not explored: then the error must be of interest itself.
    fn memory(&self, bug: &Bug) -> Result<(), Stop> {
        if self.options.properties.contains(Property::Memory) {
            return Ok(());
        }
        Err(self.unsupported(bug, "an access that may come after the end of its object"))
    }

    /// Two threads end the same thing: the one that is second is in error, and only one order is explored.
    fn either(&mut self, bug: &Bug) -> Result<(), Stop> {
        if bug.property.is_some_and(|property| self.options.properties.contains(property)) {
            let place = self.frontier.world.code.place(bug.pc);
            let note = format!(
                "{}:{}: which of two threads is in error depends on their order; the engine `rvf` looked at one",
                place.file, place.line
            );
            if !self.report.notes.contains(&note) {
                self.report.notes.push(note);
            }
            return Ok(());
        }
        Err(self.unsupported(bug, "two threads that end the same thing in either order"))
    }

    fn unsupported(&self, bug: &Bug, what: &str) -> Stop {
        let property = bug.property.map_or("this", Property::name);
        let message = format!("the engine `rvf` handles {what} only if errors of the kind `{property}` are looked for");
        Refusal::at(self.frontier.world.code, bug.pc, message).into()
    }
}
