//! A run without a search: do whatever the order and the mailboxes allow, over and over.
//!
//! Reads and writes come first, since nobody is worse off for their having happened (but a write waits that would overwrite, where the order of writes is not known, what somebody is yet to read); then messages are taken, then posted, those with the fewest events before them first. Memory is
//! not looked at where it is known: reads-from, coherence and from-read are edges of the order. What is found is a run; that nothing is found says nothing. Mostly it is found, where there is one, and costs
//! little more than the length of the trace, where a search has to decide every pair of messages.

use super::order::Order;
use super::replay::Machine;
use super::solve::Limits;
use super::trace::{Kind, Rules, Trace};
use std::collections::BTreeSet;

/// All events in an order that extends this one and that the mailboxes have.
pub(super) fn run(trace: &Trace, rules: &Rules, order: &Order, limits: &Limits<'_>) -> Option<Vec<usize>> {
    let mut rank = vec![0; trace.events.len()];
    order.sorted().into_iter().enumerate().for_each(|(at, event)| rank[event] = at);
    let key = |event: usize| {
        let turn = match trace.events[event].kind {
            Kind::Read { .. } | Kind::Write { .. } => 0,
            Kind::Get => 1,
            Kind::Post(_) => 2,
        };
        (turn, rank[event], event)
    };
    let mut entering = order.entering();
    let mut ready: BTreeSet<_> = (0..entering.len()).filter(|&event| entering[event] == 0).map(key).collect();
    let mut machine = Machine::new(trace, rules);
    // How many are yet to read each write of a location without an order.
    let mut waiting = vec![0u32; if trace.unknown.is_nothing() { 0 } else { rank.len() }];
    let mut is_known = vec![!waiting.is_empty(); rank.len()];
    trace.unknown.reads.iter().for_each(|&(read, _)| is_known[read] = false);
    let source = |read: usize| match trace.events[read].kind {
        Kind::Read { from, .. } => from.filter(|_| is_known[read]),
        _ => None,
    };
    (0..rank.len()).filter_map(source).for_each(|write| waiting[write] += 1);
    let mut schedule = Vec::with_capacity(rank.len());
    while schedule.len() < rank.len() && !limits.interrupt.is_due() {
        let may = |machine: &Machine<'_>, event: usize| match trace.events[event].kind {
            Kind::Write { location } => machine.last_unordered(location).is_none_or(|write| waiting[write] == 0),
            _ => true,
        };
        let next = *ready.iter().find(|next| may(&machine, next.2) && machine.step_beside_the_order(next.2))?;
        source(next.2).into_iter().for_each(|write| waiting[write] -= 1);
        ready.remove(&next);
        schedule.push(next.2);
        for to in order.next(next.2) {
            entering[to] -= 1;
            if entering[to] == 0 {
                ready.insert(key(to));
            }
        }
    }
    (schedule.len() == rank.len()).then_some(schedule)
}
