//! Backward revisits: which reads a new write may be offered to.
//!
//! After every placement of a new write `a` has been explored, reads that are already in the graph and not before `a` may
//! read from it instead. What was added after such a read and is not needed by `a` is deleted and explored anew. To
//! visit each graph once, the deleted part must be *maximally added*: each event of it made the one canonical choice
//! with respect to what was there before it plus what `a` needs (a read the last write, a write the last place, a choice
//! the first alternative). Otherwise the same kept part with the canonical choices is, or will be, visited elsewhere,
//! and revisits from there.
//!
//! The test does not depend on which read is revisited, only the deleted set grows as the read gets older; so one
//! pass over the events, newest first, finds all candidates, and it ends at the first event that is not maximal.

use super::context::Context;
use super::event::{Event, Flags, Kind, Slot};
use super::graph::{Equivalence, Graph};
use super::models::Model;
use super::sources::is_canonical;
use raddle_trace::BitSet;
use smallvec::SmallVec;

/// A read that may be revisited, and its place in the order of addition.
pub(crate) type Candidates = SmallVec<[(Slot, u32); 4]>;

impl<M: Model> Graph<M> {
    /// What a new last event of this thread depends on by program order and reads-from.
    pub(crate) fn prefix_of_next(&self, thread: raddle_trace::ThreadId) -> BitSet {
        let mut prefix = BitSet::new();
        if let Some(last) = self.last(thread) {
            prefix = self.prefix_of(last);
        }
        prefix
    }

    /// What an event depends on, and itself.
    pub(super) fn prefix_of(&self, slot: Slot) -> BitSet {
        let mut prefix = BitSet::new();
        prefix.copy_from_row(self.prefix.row(slot as usize));
        prefix.insert(slot as usize);
        prefix
    }

    /// The reads that the new write may revisit, youngest first. The write is not in the graph.
    pub(crate) fn revisit_candidates(&self, context: &mut Context<'_>, write: &Event) -> Candidates {
        let mut found = Candidates::new();
        let reads = &self.location(write.loc).reads;
        if reads.is_empty() {
            return found;
        }
        let last = self.last(write.thread);
        let is_needed =
            |read: Slot| last.is_some_and(|last| read == last || self.prefix.before(read as usize, last as usize));
        let mut left = reads.iter().filter(|&&read| !is_needed(read)).count();
        if left == 0 {
            return found;
        }
        let prefix = self.prefix_of_next(write.thread);
        let mut previous = self.present().clone();
        for (stamp, &slot) in self.order.iter().enumerate().rev() {
            if prefix.contains(slot as usize) {
                continue;
            }
            if !self.maximally_added(context, slot, &mut previous) {
                break;
            }
            let event = self.event(slot);
            if event.kind == Kind::Read && event.loc == write.loc {
                found.push((slot, stamp as u32));
                left -= 1;
                if left == 0 {
                    break;
                }
            }
            previous.remove(slot as usize);
        }
        found
    }

    /// Whether the event made the canonical choice with respect to `previous`.
    fn maximally_added(&self, context: &mut Context<'_>, slot: Slot, previous: &mut BitSet) -> bool {
        let event = self.event(slot);
        if event.flags.contains(Flags::MARKED) {
            return false;
        }
        match event.kind {
            Kind::Fence | Kind::StoreFence | Kind::Spawn | Kind::Join | Kind::Free | Kind::Note | Kind::Fault => true,
            Kind::Blind | Kind::Arrive | Kind::Depart | Kind::Take => true,
            Kind::Choose => event.value == 0,
            Kind::Write => {
                let accesses = self.location(event.loc);
                let read =
                    accesses.reads.iter().any(|&read| self.event(read).rf == slot && previous.contains(read as usize));
                !read && (self.equivalence == Equivalence::ReadsFrom || self.last_in(event.loc, slot, previous))
            }
            Kind::Read if self.equivalence == Equivalence::ReadsFrom => is_canonical(context, self, slot, previous),
            Kind::Read => self.last_in(event.loc, event.rf, previous),
        }
    }

    /// Whether no write in `previous` follows `write` in coherence, and `write` itself is in it.
    pub(super) fn last_in(&self, loc: u32, write: Slot, previous: &BitSet) -> bool {
        for &other in self.location(loc).co.iter().rev() {
            if other == write {
                return previous.contains(write as usize);
            }
            if previous.contains(other as usize) {
                return false;
            }
        }
        true
    }

    /// What is kept when the write revisits the read added at `stamp`: what is older, and what the write needs. The read itself
    /// is left out; it is added again.
    pub(crate) fn kept(&self, write: &Event, stamp: u32) -> BitSet {
        let mut keep = self.prefix_of_next(write.thread);
        for &slot in &self.order[..stamp as usize] {
            keep.insert(slot as usize);
        }
        keep
    }
}
