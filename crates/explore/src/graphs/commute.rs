//! Updates that commute.
//!
//! If nobody uses what an update read, and all updates of a location are of one kind (additions, say), their order does not
//! matter to anybody. With the option, such *blind* updates are events without source and place in coherence, and
//! their orders make no classes. That is right only as long as every other access to the location is ordered with all of
//! them whatever the order of the updates: a read that comes after all of them gets the sum. The exploration starts over
//! without the option, and the report says so, where
//!
//! * an access is not so ordered, or writes after a blind update;
//! * a blind update is an error: in another order it may be none, and whoever comes later has nothing to revisit;
//! * two accesses race in a graph with blind updates: which of these synchronise depends on their order. Here they
//!   never do, so no race is missed.
//!
//! (Nidhugg has an option to the same effect.)

use super::event::{Event, INIT, Kind, LocId};
use super::models::Model;
use super::step::{Halt, Stepper};
use crate::world::Initial;

impl<M: Model> Stepper<'_, '_, M> {
    /// Starts over without the option, because of this event.
    fn does_not_commute(&mut self, event: &Event) {
        *self.error = Some(Halt::DoesNotCommute(self.context.code.place(event.pc)));
    }

    /// Adds a blind update.
    pub(super) fn blind_update(&mut self, event: Event) {
        self.check_commuting(&event);
        self.check_meeting(&event);
        let source = self.graph.location(event.loc).co.last().copied().unwrap_or(INIT);
        if self.context.value(self.graph, event.loc, source) == Initial::Uninitialised {
            self.does_not_commute(&event);
        }
        if self.race(&event).is_some_and(|_| self.maker_unknown(&event).is_some()) {
            self.does_not_commute(&event);
        }
        let node = self.answered(event.thread, 0, 0);
        let slot = self.add(event, node, 0, None);
        if self.freed_before(slot).is_some() {
            self.does_not_commute(&event);
        }
    }

    /// Notes if a new access to a location with blind updates is not ordered with them, or the other way round.
    pub(super) fn check_commuting(&mut self, event: &Event) {
        if !self.context.commuting {
            return;
        }
        let accesses = self.graph.location(event.loc);
        let blind = event.kind == Kind::Blind;
        if !blind && !accesses.reads.iter().any(|&slot| self.graph.event(slot).kind == Kind::Blind) {
            return;
        }
        let mut others = accesses.reads.iter().chain(&accesses.co).copied();
        let prefix = self.graph.prefix_of_next(event.thread);
        // A write that was issued before need not have reached memory.
        let mut global = Vec::new();
        M::collect_next(self.graph, event, &mut global);
        let before = |slot: u32| prefix.contains(slot as usize) && global[slot as usize / 64] >> (slot % 64) & 1 == 1;
        let clash = others.any(|slot| {
            let other = self.graph.event(slot);
            if blind && other.kind == Kind::Blind {
                other.flags.commuting() != event.flags.commuting()
            } else {
                !before(slot)
            }
        });
        if clash || event.kind == Kind::Write {
            self.does_not_commute(event);
        }
    }

    /// Notes if two accesses race and it may depend on the order of blind updates whether they do.
    pub(super) fn race_beside_blind_updates(&mut self, event: &Event) {
        let any = |slot: &u32| self.graph.event(*slot).kind == Kind::Blind;
        if self.context.commuting && (event.kind == Kind::Blind || self.graph.order.iter().any(any)) {
            self.does_not_commute(event);
        }
    }

    /// What the blind updates of a location make of this value.
    pub(super) fn after_blind_updates(&mut self, loc: LocId, value: u64) -> u64 {
        if !self.context.commuting {
            return value;
        }
        let size = self.context.view.access(loc).size;
        let reads = self.graph.location(loc).reads.iter().map(|&slot| self.graph.event(slot));
        let updates = reads.filter(|event| event.kind == Kind::Blind);
        let value = updates.fold(value, |value, event| event.flags.commuting().apply(value, event.value));
        value & (u64::MAX >> (64 - 8 * u32::from(size)))
    }
}
