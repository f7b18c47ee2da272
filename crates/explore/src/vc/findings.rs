//! What a node shows: failures, ends of executions, deadlocks; and what the method cannot do.

use super::candidates::is_misused;
use super::ends::End;
use super::order::Order;
use super::realise::realise;
use super::search::Search;
use crate::rvf;
use crate::rvf::witness::Question;
use crate::sequence::{Bug, Kind, LocId, Pending, Stop};
use raddle_engine::Refusal;
use raddle_machine::{Addr, Automaton};
use raddle_trace::{EventId, Property};

impl Search<'_> {
    /// A sequence of the events of an order, and then of the new ones.
    pub(super) fn sequence(&self, order: &Order, new: &[EventId]) -> Vec<EventId> {
        let mut sequence = realise(order, self.root);
        sequence.extend_from_slice(new);
        sequence
    }

    /// Reports what has gone wrong.
    pub(super) fn report_bugs(&mut self, order: &Order, new: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.bugs) {
            if bug.either {
                return Err(self.unsupported(bug.pc, "two threads that end the same thing in either order"));
            }
            let sequence = self.sequence(order, new);
            let at = sequence.len() - new.len() + bug.at;
            self.show(&bug, &sequence[..at])?;
        }
        Ok(())
    }

    /// Reports what goes wrong at the end of a sequence, or the race that comes before.
    fn show(&mut self, bug: &Bug, sequence: &[EventId]) -> Result<(), Stop> {
        if bug.property.is_some_and(|property| self.report.wants(property, bug.pc))
            && let Some(races) = &mut self.races
            && let Some(at) = races.first(&self.frontier, sequence)
        {
            return Ok(self.report.race(&self.frontier, &sequence[..at])?);
        }
        Ok(self.report.bug(bug, || self.frontier.schedule(sequence))?)
    }

    /// Looks for races in all sequences of the events, whatever the order of the leaves.
    pub(super) fn check_races(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        let Some(races) = &mut self.races else { return Ok(()) };
        let Search { frontier, witness, report, .. } = self;
        let settings = rvf::options::Settings::default();
        let (alarm, counters) = (report.alarm(), &mut report.counters);
        let race = races.find(frontier, sequence, |sources| {
            witness.find(frontier, sequence, Question::Sources(sources), &settings, counters, alarm)
        })?;
        Ok(race.map_or(Ok(()), |race| report.race(frontier, &race))?)
    }

    /// Reports the end of an execution. If there may not be any more executions it ends the exploration instead: it is only
    /// here that one knows that there is one more.
    pub(super) fn end(&mut self, end: &End, sequence: &[EventId]) -> Result<(), Stop> {
        if self.report.is_full() {
            self.report.look_around(true);
            return Ok(());
        }
        self.check_races(sequence)?;
        if self.report.stopped() {
            return Ok(());
        }
        let deadlock = self.report.count(&end.kind);
        if self.options.keep_schedules {
            let schedule = self.frontier.schedule(sequence);
            self.report.schedules.push(schedule);
        }
        if let Some(pc) = deadlock {
            let (property, at) = (Some(Property::Deadlock), sequence.len());
            let bug = Bug { property, message: String::new(), pc, at, either: false };
            self.show(&bug, sequence)?;
        }
        Ok(())
    }

    /// Refuses what reads and writes in one step, but for the locks of a mutex.
    pub(super) fn refuse_pending(&mut self, pending: Pending) -> Result<(), Stop> {
        let state = self.frontier.state(pending.thread).expect("it has a pending read");
        let (pc, name) = (state.pc(), state.operation_name(self.frontier.world.code));
        if pending.update && !pending.mutex {
            return Err(self.unsupported(pc, &format!("operations that read and write in one step (`{name}`)")));
        }
        self.refuse_late(self.frontier.world.access(pending.loc).addr.base(), None, pc)
    }

    /// Refuses a mutex that something else writes to than the end of a critical section.
    pub(super) fn refuse_misuse(&mut self, id: EventId, loc: LocId) -> Result<(), Stop> {
        if is_misused(&mut self.frontier, loc) {
            let pc = self.frontier.event(id).pc;
            return Err(self.unsupported(pc, "a mutex that is written to without being held"));
        }
        Ok(())
    }

    /// Refuses an access, or the end of an object, if program order does not put the access first: a class does not fix the
    /// order of the two.
    pub(super) fn refuse_late_access(&self, id: EventId) -> Result<(), Stop> {
        let event = self.frontier.event(id);
        if event.kind == Kind::Free {
            let base = Addr(event.value).base();
            for thread in 0..self.frontier.threads() as u32 {
                let thread = raddle_trace::ThreadId(thread);
                let late = self.frontier.events(thread).iter().enumerate().find(|(index, other)| {
                    (other.reads() || other.writes())
                        && self.frontier.world.access(other.loc).addr.base() == base
                        && !self.frontier.before(EventId::new(thread, *index as u32), id)
                });
                if let Some((_, other)) = late {
                    return Err(self.late(other.pc));
                }
            }
        } else if event.reads() || event.writes() {
            return self.refuse_late(self.frontier.world.access(event.loc).addr.base(), Some(id), event.pc);
        }
        Ok(())
    }

    /// Refuses an access to an object whose life another event ends, unless the access is before that.
    fn refuse_late(&self, base: Addr, access: Option<EventId>, pc: u32) -> Result<(), Stop> {
        let ends = |&&free: &&EventId| Addr(self.frontier.event(free).value).base() == base;
        let is_before = |free: EventId| access.is_some_and(|access| self.frontier.before(access, free));
        match self.frontier.frees().iter().find(ends) {
            Some(&free) if !is_before(free) => Err(self.late(pc)),
            _ => Ok(()),
        }
    }

    fn late(&self, pc: u32) -> Stop {
        self.unsupported(pc, "an access that may come after the end of its object")
    }

    fn unsupported(&self, pc: u32, what: &str) -> Stop {
        let message = format!("the engine `vc` does not handle {what}; use --engine optimal");
        Refusal::at(self.frontier.world.code, pc, message).into()
    }
}
