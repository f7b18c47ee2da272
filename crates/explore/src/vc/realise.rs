//! From a closed annotated order to a sequence of its events in which every read reads from a good write.
//!
//! Where the order does not say which of a root event and a leaf event comes first, the root event does. So the root events are
//! done one after the other, each as soon as what must come before it is done, and *nothing else* is done before: a leaf
//! event that is only ready has to wait (Toman 2021). The rest follows at the end.

use super::order::Order;
use raddle_trace::{EventId, ThreadId};

/// The sequence.
pub(crate) fn realise(order: &Order, root: ThreadId) -> Vec<EventId> {
    let mut done = vec![0; order.threads()];
    let mut sequence = Vec::new();
    for event in (0..order.len(root)).map(|index| EventId::new(root, index)) {
        let mut until = order.row(event).to_vec();
        until[root.index()] += 1;
        advance(order, &mut done, &until, &mut sequence);
    }
    let all: Vec<u32> = (0..order.threads() as u32).map(|thread| order.len(ThreadId(thread))).collect();
    advance(order, &mut done, &all, &mut sequence);
    sequence
}

/// Does so many events of each thread, in some order that is allowed.
fn advance(order: &Order, done: &mut [u32], until: &[u32], sequence: &mut Vec<EventId>) {
    loop {
        let before = sequence.len();
        for thread in 0..done.len() {
            while done[thread] < until[thread] {
                let event = EventId::new(ThreadId(thread as u32), done[thread]);
                if order.row(event).iter().zip(&*done).any(|(wanted, done)| wanted > done) {
                    break;
                }
                done[thread] += 1;
                sequence.push(event);
            }
        }
        if sequence.len() == before {
            debug_assert_eq!(done, until, "an order has no cycle");
            return;
        }
    }
}
