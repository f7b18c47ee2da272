//! From a sequence of events to a run of the machine.

use super::frontier::Frontier;
use raddle_trace::{EventId, Schedule, Step};

impl Frontier<'_> {
    /// The run of the machine that a sequence of events is.
    pub(crate) fn schedule(&self, sequence: &[EventId]) -> Schedule {
        let mut schedule = self.world.opening().clone();
        schedule.steps.extend(self.steps(sequence).into_iter().map(|id| match self.event(id).pick {
            Some(pick) => Step::Choose(id.thread, pick),
            None => Step::Run(id.thread),
        }));
        schedule
    }
}
