//! From a sequence of events to a run of the machine.
//!
//! The machine numbers threads as they start; the frontier by who started them. A signal that can wake one of several
//! threads picks among them in the order of their numbers, which differ, too.

use super::event::Kind;
use super::frontier::Frontier;
use raddle_trace::{EventId, Schedule, Step, ThreadId};

impl Frontier<'_> {
    /// The run of the machine that a sequence of events is.
    pub(crate) fn schedule(&self, sequence: &[EventId]) -> Schedule {
        let mut schedule = self.world.opening.clone();
        let mut numbers = vec![None; self.threads()];
        numbers[0] = Some(ThreadId::MAIN);
        let mut started = 1;
        for &id in sequence {
            let event = self.event(id);
            let thread = numbers[id.thread.index()].expect("a thread is started before it moves");
            if event.kind == Kind::Spawn {
                numbers[event.value as usize] = Some(ThreadId(started));
                started += 1;
            }
            schedule.steps.push(match (event.kind, event.pick) {
                (_, None) => Step::Run(thread),
                (Kind::Choose, Some(pick)) => Step::Choose(thread, pick),
                (_, Some(_)) => {
                    // The value is the set of waiting threads, and the bit that is gone is the one that was picked.
                    let number = |bit: u32| numbers.get(bit as usize).copied().flatten();
                    let chosen = number((event.value & !event.written).trailing_zeros());
                    let waiting = (0..u64::BITS).filter(|&bit| event.value >> bit & 1 == 1);
                    Step::Choose(thread, waiting.filter(|&bit| number(bit) < chosen).count() as u32)
                }
            });
        }
        schedule
    }
}
