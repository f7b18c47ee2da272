//! What a pending read can read from, in groups that make no difference to its thread.
//!
//! The writes are those that program order lets it see, without those it has tried (the *causal map*: how many events of
//! each thread there were when it was tried last). A group is the writes of one value; with strict orders, for a read of the root, those of one
//! value on one side. Writes of the same value that have been tried are not in it and are bad.
//!
//! A mutex is only taken from the release that ends the last critical section so far. Then the critical sections of a mutex are
//! always ordered, in the order in which they were added. A try-lock fails from any holder.

use crate::sequence::{Frontier, INITIAL, Initial, Kind, LocId, Pending, Tried};
use raddle_machine::Reaction;
use raddle_trace::{EventId, ThreadId};

/// Writes that a read may read from without a difference, and what it finds there.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) value: Initial,
    /// It takes a mutex.
    pub(crate) locks: bool,
    pub(crate) members: Vec<EventId>,
}

/// The groups of a pending read. Those of one thread are divided by whether a write is its own.
pub(crate) fn groups(
    frontier: &mut Frontier<'_>,
    pending: Pending,
    divided: Option<ThreadId>,
    tried: Option<&Tried>,
) -> Vec<Group> {
    let Pending { thread, loc, .. } = pending;
    let mut writes = Vec::new();
    frontier.visible(thread, loc, &mut writes);
    let last = frontier.writes(loc).last().copied().unwrap_or(INITIAL);
    let mut groups: Vec<(bool, u64, Group)> = Vec::new();
    for write in writes {
        if tried.is_some_and(|tried| tried.has(write)) {
            continue;
        }
        let value = frontier.found(thread, loc, write);
        let Initial::Value(mut number) = value else {
            groups.push((false, 0, Group { value, locks: false, members: vec![write] }));
            continue;
        };
        let mut locks = false;
        if pending.update || pending.wait {
            match frontier.reaction(thread, number) {
                Reaction::Block => continue,
                // Who holds a mutex makes no difference to those who do not wait.
                Reaction::Read => number = if pending.mutex { 1 } else { number },
                Reaction::Write(_) | Reaction::Pick(_) if write != last => continue,
                Reaction::Write(_) | Reaction::Pick(_) => locks = true,
            }
        }
        let side = divided == Some(thread) && write.thread == thread;
        let same = |(other_side, other, group): &&mut (bool, u64, Group)| {
            *other_side == side && *other == number && group.value != Initial::Uninitialised
        };
        match groups.iter_mut().find(same).filter(|_| !locks) {
            Some((.., group)) => group.members.push(write),
            None => groups.push((side, number, Group { value, locks, members: vec![write] })),
        }
    }
    // What the root wrote itself comes first.
    groups.sort_by_key(|(side, ..)| !side);
    groups.into_iter().map(|(.., group)| group).collect()
}

/// Whether the pending lock of a mutex has to wait for its holder.
pub(crate) fn is_held(frontier: &mut Frontier<'_>, pending: Pending) -> bool {
    let last = frontier.writes(pending.loc).last().copied().unwrap_or(INITIAL);
    match frontier.value(pending.loc, last) {
        Initial::Value(value) => frontier.reaction(pending.thread, value) == Reaction::Block,
        Initial::Uninitialised => false,
    }
}

/// Whether the location is a mutex and something else than the end of a critical section writes to it.
pub(crate) fn is_misused(frontier: &mut Frontier<'_>, loc: LocId) -> bool {
    let is_lock = |frontier: &Frontier<'_>, id: EventId| frontier.event(id).kind == Kind::Update;
    if !frontier.writes(loc).iter().any(|&write| is_lock(frontier, write)) {
        return false;
    }
    let mut holder = match frontier.value(loc, INITIAL) {
        Initial::Value(value) => value,
        Initial::Uninitialised => 0,
    };
    frontier.writes(loc).iter().any(|&write| {
        let wrong = !is_lock(frontier, write) && holder != u64::from(write.thread.0) + 1;
        holder = frontier.event(write).written;
        wrong
    })
}
