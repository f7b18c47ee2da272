//! Updates that commute.
//!
//! If nobody uses what an update read, and all updates of a location are of one kind (additions, say), their order does not
//! matter to anybody. With the option, such *blind* updates are events without source and place in coherence, and
//! their orders make no classes. That is right only as long as every other access to the location is ordered with all of
//! them by program order and reads-from: a read that comes after all of them gets the sum. An access that is not so
//! ordered, or a write after a blind update, ends the exploration; it then starts over without the option, and the report
//! says so. (Nidhugg has an option to the same effect.)

use super::event::{Event, Kind, LocId};
use super::step::{Halt, Stepper};
use raddle_program::Ordering;

impl Stepper<'_, '_> {
    /// Notes if a new access to a location with blind updates is not ordered with them, or the other way round.
    pub(super) fn check_commuting(&mut self, event: &Event) {
        if !self.context.commuting {
            return;
        }
        let accesses = self.graph.location(event.loc);
        let blind = event.kind == Kind::Blind;
        let mut others = accesses.reads.iter().chain(&accesses.co).copied();
        let any_blind = blind || accesses.reads.iter().any(|&slot| self.graph.event(slot).kind == Kind::Blind);
        if !any_blind {
            return;
        }
        let prefix = self.graph.prefix_of_next(event.thread);
        let clash = others.any(|slot| {
            let other = self.graph.event(slot);
            if blind && other.kind == Kind::Blind {
                other.flags.commuting() != event.flags.commuting()
            } else {
                !prefix.contains(slot as usize)
            }
        });
        if clash || event.kind == Kind::Write || event.order == Ordering::NonAtomic {
            *self.error = Some(Halt::DoesNotCommute(self.context.code.place(event.pc)));
        }
    }

    /// What the blind updates of a location make of this value.
    pub(super) fn after_blind_updates(&mut self, loc: LocId, value: u64) -> u64 {
        if !self.context.commuting {
            return value;
        }
        let size = self.context.access(loc).size;
        let reads = self.graph.location(loc).reads.iter().map(|&slot| self.graph.event(slot));
        let updates = reads.filter(|event| event.kind == Kind::Blind);
        let value = updates.fold(value, |value, event| event.flags.commuting().apply(value, event.value));
        value & (u64::MAX >> (64 - 8 * u32::from(size)))
    }
}
