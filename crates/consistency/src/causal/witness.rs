//! An execution as a schedule that names sources and places, and the judge of such a schedule.

use super::clocks::Clocks;
use crate::instance::{Action, Instance, Source};
use crate::replay::Misfit;
use raddle_trace::{EventId, Step};

/// The schedule of an execution in which the writes of a location are in this order; in that of the schedule, if there is none.
pub(super) fn schedule(instance: &Instance, names: &[EventId], clocks: &Clocks, order: Option<&[u32]>) -> Vec<Step> {
    let mut places = order.map(|order| Places::new(instance, names, order));
    let step = |&event: &u32| {
        let id = names[event as usize];
        match instance.get(id).expect("it is one") {
            action if action.source().is_some() => {
                if let (true, Some(places)) = (action.writes(), &mut places) {
                    places.put(event);
                }
                let source = match action.source() {
                    Some(Source::Write(write)) => Some(write),
                    _ => None,
                };
                Step::ReadFrom(id.thread, source, None)
            }
            Action::Write { .. } => match &mut places {
                Some(places) => Step::WriteAt(id.thread, places.put(event)),
                None => Step::Run(id.thread),
            },
            _ => Step::Run(id.thread),
        }
    };
    clocks.sequence.iter().map(step).collect()
}

/// For each write, how many of its location that come before it in their order are there already: Fenwick trees, one after the other.
struct Places {
    /// Per event, the place of a write in the order of its location, and where the tree of that location begins and how large it is.
    ranks: Vec<(u32, u32, u32)>,
    trees: Vec<u32>,
}

impl Places {
    fn new(instance: &Instance, names: &[EventId], order: &[u32]) -> Self {
        let loc =
            |write: u32| instance.get(names[write as usize]).and_then(Action::loc).expect("it is a write").index();
        let mut sizes: Vec<u32> = Vec::new();
        for &write in order {
            let loc = loc(write);
            sizes.resize(sizes.len().max(loc + 1), 0);
            sizes[loc] += 1;
        }
        let mut starts = Vec::with_capacity(sizes.len());
        let mut end = 0;
        for size in &sizes {
            starts.push(end);
            end += size + 1;
        }
        let mut next = vec![0; sizes.len()];
        let mut ranks = vec![(0, 0, 0); instance.len()];
        for &write in order {
            let loc = loc(write);
            ranks[write as usize] = (next[loc], starts[loc], sizes[loc]);
            next[loc] += 1;
        }
        Places { ranks, trees: vec![0; end as usize] }
    }

    /// Adds a write and tells its place among those that are there.
    fn put(&mut self, write: u32) -> u32 {
        let (rank, start, size) = self.ranks[write as usize];
        let tree = &mut self.trees[start as usize..=(start + size) as usize];
        let mut count = 0;
        let mut at = rank as usize;
        while at > 0 {
            count += tree[at];
            at &= at - 1;
        }
        at = rank as usize + 1;
        while at < tree.len() {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
        count
    }
}

/// Runs a schedule to its end: every step must be the next of its thread, every read must name what the instance says, and that must have
/// happened. Returns the order of the writes of each location.
pub(crate) fn replay(instance: &Instance, schedule: &[Step]) -> Result<Vec<Vec<EventId>>, Misfit> {
    let mut done = vec![0u32; instance.threads()];
    let spawns: Vec<Option<EventId>> = {
        let mut spawns = vec![None; instance.threads()];
        for (id, action) in instance.events() {
            if let Action::Spawn { child } = action {
                spawns[child.index()] = Some(id);
            }
        }
        spawns
    };
    let mut orders: Vec<Vec<EventId>> = Vec::new();
    for (at, &step) in schedule.iter().enumerate() {
        let impossible = Misfit::Impossible { at: at + 1, step };
        let thread = step.thread();
        let Some(&index) = done.get(thread.index()) else { return Err(impossible) };
        let event = EventId::new(thread, index);
        let Some(action) = instance.get(event) else { return Err(impossible) };
        let has_happened = |event: EventId| done[event.thread.index()] > event.index;
        let started = spawns[thread.index()].is_none_or(has_happened);
        let ended = match action {
            Action::Join { child } => {
                done[child.index()] as usize == instance.thread(child).len()
                    && spawns[child.index()].is_none_or(has_happened)
            }
            _ => true,
        };
        if !started || !ended {
            return Err(impossible);
        }
        if let Some(loc) = action.loc() {
            orders.resize_with(orders.len().max(loc.index() + 1), Vec::new);
        }
        match (action, step) {
            (Action::Read { from, .. } | Action::Update { from, .. }, Step::ReadFrom(_, named, None)) => {
                let found = named.map_or(Source::Initial, Source::Write);
                if found != from || named.is_some_and(|write| !has_happened(write)) {
                    return Err(Misfit::OtherSource { at: at + 1, event, found });
                }
                if let Action::Update { loc, .. } = action {
                    let order = &mut orders[loc.index()];
                    let place = match named {
                        None => 0,
                        Some(write) => order.iter().rposition(|&other| other == write).ok_or(impossible)? + 1,
                    };
                    order.insert(place, event);
                }
            }
            (Action::Write { loc }, Step::WriteAt(_, place)) => {
                let order = &mut orders[loc.index()];
                if place as usize > order.len() {
                    return Err(impossible);
                }
                order.insert(place as usize, event);
            }
            (Action::Write { loc }, Step::Run(_)) => orders[loc.index()].push(event),
            (Action::Read { .. } | Action::Update { .. } | Action::Write { .. }, _) => return Err(impossible),
            (_, Step::Run(_)) => {}
            _ => return Err(impossible),
        }
        done[thread.index()] += 1;
    }
    let complete = done
        .iter()
        .enumerate()
        .all(|(thread, &done)| done as usize == instance.thread(raddle_trace::ThreadId(thread as u32)).len());
    if complete { Ok(orders) } else { Err(Misfit::Incomplete) }
}
