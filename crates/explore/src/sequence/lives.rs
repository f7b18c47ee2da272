//! Can an access come after the end of its object's life?
//!
//! A class does not fix the order of the two. For each end of an object and each other thread it is asked whether there is a
//! sequence of the events that has the end before the last access of the thread; the first access behind it is then the
//! error. A thread that makes such an error goes no further, so what happens up to the first one of an execution is what
//! the search looks at; what happens later is seen as far as it does not depend on the thread.

use super::frontier::Frontier;
use super::run::Bug;
use raddle_machine::Addr;
use raddle_trace::{EventId, Property};

/// The object that an event accesses.
fn object(frontier: &Frontier<'_>, id: EventId) -> Option<Addr> {
    let event = frontier.event(id);
    (event.reads() || event.writes()).then(|| frontier.world.access(event.loc).addr.base())
}

fn freed(frontier: &Frontier<'_>, free: EventId) -> Addr {
    Addr(frontier.event(free).value).base()
}

/// The first access in a sequence to an object that has ended before.
pub(crate) fn late_access(frontier: &Frontier<'_>, sequence: &[EventId]) -> Option<Bug> {
    let frees = frontier.frees();
    if frees.is_empty() {
        return None;
    }
    let place = |of: EventId| sequence.iter().position(|&id| id == of);
    let ends: Vec<(Addr, usize)> =
        frees.iter().filter_map(|&free| Some((freed(frontier, free), place(free)?))).collect();
    sequence.iter().enumerate().find_map(|(at, &id)| {
        let base = object(frontier, id)?;
        ends.iter().any(|&(addr, end)| addr == base && end < at).then(|| Bug {
            property: Some(Property::Memory),
            message: String::new(),
            pc: frontier.event(id).pc,
            at: at + 1,
            either: false,
        })
    })
}

/// For each end of an object and each other thread, the two if the last access of the thread can come later as far as program order
/// tells.
pub(crate) fn suspects(frontier: &Frontier<'_>) -> Vec<(EventId, EventId)> {
    let orders = right_orders(frontier).into_iter();
    orders.filter(|&(last, free)| !frontier.before(last, free)).map(|(last, free)| (free, last)).collect()
}

/// The last access of each thread to an object that ends, and its end: these orders have every access before the end.
pub(crate) fn right_orders(frontier: &Frontier<'_>) -> Vec<(EventId, EventId)> {
    let mut orders = Vec::new();
    for &free in frontier.frees() {
        let base = freed(frontier, free);
        for thread in frontier.ids() {
            let events = (0..frontier.events(thread).len() as u32).rev().map(|index| EventId::new(thread, index));
            let last = events.into_iter().find(|&id| object(frontier, id) == Some(base));
            orders.extend(last.map(|last| (last, free)));
        }
    }
    orders
}
