//! What a pending read can read from, in groups that make no difference to its thread.
//!
//! The writes are those that program order lets it see, without those it has tried already. Over-approximating is right,
//! since a group makes a child only if there is a sequence. Left out beforehand: values it waits to change, and for an update
//! that writes, what another update has taken for certain.

use crate::sequence::{Frontier, INITIAL, Initial, Kind, Pending};
use raddle_machine::{Addr, Reaction};
use raddle_trace::EventId;
use smallvec::SmallVec;
use std::sync::Arc;

/// How many events of each thread are forbidden as sources of a read that has tried them; the initial write is, too.
pub(crate) type Tried = Arc<[u32]>;

/// Writes that a read may read from without a difference, and what it finds there.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) value: Initial,
    /// An update that writes.
    pub(crate) writes: bool,
    /// The alternative it picks, if there are several.
    pub(crate) pick: Option<u32>,
    pub(crate) members: Vec<EventId>,
}

/// Whether a write has been tried.
fn is_tried(tried: &Tried, write: EventId) -> bool {
    write == INITIAL || tried.get(write.thread.index()).is_some_and(|&count| write.index < count)
}

/// The groups of a pending read.
pub(crate) fn groups(
    frontier: &mut Frontier<'_>,
    pending: Pending,
    tried: Option<&Tried>,
    by_source: bool,
    buffer: &mut Vec<EventId>,
) -> Vec<Group> {
    let Pending { thread, loc, .. } = pending;
    frontier.visible(thread, loc, buffer);
    let taken = if pending.update { taken(frontier, loc) } else { SmallVec::new() };
    let mut groups: Vec<(u64, Group)> = Vec::new();
    for &write in buffer.iter() {
        if tried.is_some_and(|tried| is_tried(tried, write)) {
            continue;
        }
        let value = frontier.found(thread, loc, write);
        let Initial::Value(number) = value else {
            groups.push((0, Group { value, writes: false, pick: None, members: vec![write] }));
            continue;
        };
        let reaction = if pending.update || pending.wait { frontier.reaction(thread, number) } else { Reaction::Read };
        let writes = pending.update && matches!(reaction, Reaction::Write(_) | Reaction::Pick(_));
        if reaction == Reaction::Block || (writes && taken.contains(&write)) {
            continue;
        }
        // A mutex is taken from one release at a time; who holds it makes no difference to those who do not wait.
        let alone = by_source || (pending.mutex && writes);
        let held = pending.mutex && (1..=u64::from(Addr::MAX_THREADS)).contains(&number);
        let key = if held { 1 } else { number };
        let same = |(other, group): &&mut (u64, Group)| *other == key && group.value != Initial::Uninitialised;
        if !alone && let Some((_, group)) = groups.iter_mut().find(same) {
            group.members.push(write);
            continue;
        }
        groups.push((key, Group { value, writes, pick: None, members: vec![write] }));
    }
    let mut found = Vec::with_capacity(groups.len());
    for (_, group) in groups {
        match group.value {
            Initial::Value(number) if group.writes => match frontier.reaction(thread, number) {
                Reaction::Pick(count) => {
                    found.extend((0..count).map(|pick| Group { pick: Some(pick), ..group.clone() }))
                }
                _ => found.push(group),
            },
            _ => found.push(group),
        }
    }
    found
}

/// The writes of a location that some update reads from for certain.
fn taken(frontier: &Frontier<'_>, loc: u32) -> SmallVec<[EventId; 8]> {
    let writes = frontier.writes(loc).iter().map(|&write| frontier.event(write));
    let updates = writes.filter(|event| event.kind == Kind::Update);
    updates.filter_map(|event| <[EventId; 1]>::try_from(frontier.sources(event)).ok()).map(|[source]| source).collect()
}
