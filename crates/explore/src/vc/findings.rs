//! What a node shows: failures, ends of executions, deadlocks; and what the method cannot do.

use super::candidates::is_misused;
use super::order::Order;
use super::realise::realise;
use super::search::Search;
use crate::sequence::{End, Kind, LocId, Pending, Stop};
use raddle_machine::{Addr, Automaton};
use raddle_trace::EventId;

impl Search<'_> {
    /// A sequence of the events of an order, and then of the new ones.
    pub(super) fn sequence(&self, order: &Order, new: &[EventId]) -> Vec<EventId> {
        let mut sequence = realise(order, self.root);
        sequence.extend_from_slice(new);
        sequence
    }

    /// Reports what has gone wrong.
    pub(super) fn report_bugs(&mut self, order: &Order, new: &[EventId]) -> Result<(), Stop> {
        for bug in std::mem::take(&mut self.shell.bugs) {
            if bug.either {
                return Err(self.unsupported(bug.pc, "two threads that end the same thing in either order"));
            }
            let sequence = self.sequence(order, new);
            let at = sequence.len() - new.len() + bug.at;
            self.shell.show(&bug, &sequence[..at])?;
        }
        Ok(())
    }

    /// Reports the end of an execution. If there may not be any more executions it ends the exploration instead: it is only
    /// here that one knows that there is one more.
    pub(super) fn end(&mut self, end: End, sequence: &[EventId]) -> Result<(), Stop> {
        if self.shell.report.is_full() {
            self.shell.report.look_around(true);
            return Ok(());
        }
        self.shell.check_races(sequence)?;
        if self.shell.report.stopped() {
            return Ok(());
        }
        self.shell.count(&end, sequence).map_or(Ok(()), |deadlock| self.shell.show(&deadlock, sequence))
    }

    /// Refuses what reads and writes in one step, but for the locks of a mutex.
    pub(super) fn refuse_pending(&mut self, pending: Pending) -> Result<(), Stop> {
        let state = self.shell.frontier.state(pending.thread).expect("it has a pending read");
        let (pc, name) = (state.pc(), state.operation_name(self.shell.frontier.world.code));
        if pending.update && !pending.mutex {
            return Err(self.unsupported(pc, &format!("operations that read and write in one step (`{name}`)")));
        }
        self.refuse_late(self.shell.frontier.world.access(pending.loc).addr.base(), None, pc)
    }

    /// Refuses a mutex that something else writes to than the end of a critical section.
    pub(super) fn refuse_misuse(&mut self, id: EventId, loc: LocId) -> Result<(), Stop> {
        if is_misused(&mut self.shell.frontier, loc) {
            let pc = self.shell.frontier.event(id).pc;
            return Err(self.unsupported(pc, "a mutex that is written to without being held"));
        }
        Ok(())
    }

    /// Refuses an access, or the end of an object, if program order does not put the access first: a class does not fix the
    /// order of the two.
    pub(super) fn refuse_late_access(&self, id: EventId) -> Result<(), Stop> {
        let event = self.shell.frontier.event(id);
        if event.kind == Kind::Free {
            let base = Addr(event.value).base();
            for thread in self.shell.frontier.ids() {
                let late = self.shell.frontier.events(thread).iter().enumerate().find(|(index, other)| {
                    (other.reads() || other.writes())
                        && self.shell.frontier.world.access(other.loc).addr.base() == base
                        && !self.shell.frontier.before(EventId::new(thread, *index as u32), id)
                });
                if let Some((_, other)) = late {
                    return Err(self.late(other.pc));
                }
            }
        } else if event.reads() || event.writes() {
            return self.refuse_late(self.shell.frontier.world.access(event.loc).addr.base(), Some(id), event.pc);
        }
        Ok(())
    }

    /// Refuses an access to an object whose life another event ends, unless the access is before that.
    fn refuse_late(&self, base: Addr, access: Option<EventId>, pc: u32) -> Result<(), Stop> {
        let ends = |&&free: &&EventId| Addr(self.shell.frontier.event(free).value).base() == base;
        let is_before = |free: EventId| access.is_some_and(|access| self.shell.frontier.before(access, free));
        match self.shell.frontier.frees().iter().find(ends) {
            Some(&free) if !is_before(free) => Err(self.late(pc)),
            _ => Ok(()),
        }
    }

    fn late(&self, pc: u32) -> Stop {
        self.unsupported(pc, "an access that may come after the end of its object")
    }

    fn unsupported(&self, pc: u32, what: &str) -> Stop {
        let message = format!("the engine `vc` does not handle {what}; use --engine optimal");
        self.shell.refusal(pc, message)
    }
}
