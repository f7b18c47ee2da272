//! A run without a search: do whatever the order and the mailboxes allow, over and over.
//!
//! Reads and writes come first, since nobody is worse off for their having happened; then messages are taken, then posted, those with the fewest events before them first. Memory is
//! not looked at: reads-from, coherence and from-read are edges of the order. What is found is a run; that nothing is found says nothing. Mostly it is found, where there is one, and costs
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
    let mut schedule = Vec::with_capacity(rank.len());
    while schedule.len() < rank.len() && !limits.interrupt.is_due() {
        let next = *ready.iter().find(|next| machine.step_without_memory(next.2))?;
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
