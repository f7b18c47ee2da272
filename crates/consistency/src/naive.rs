//! The baseline: every lower set of program order.
//!
//! The same conditions on single moves as the verifiers for SC, TSO and PSO, and nothing else: no move is made without a choice, none drags another
//! along, and prefixes are told apart by everything (Toman 2021, where it is called naive). Kept as a reference and for benchmarks.

use crate::order::Order;
use crate::prefix::{Move, Prefix};
use crate::search::Strategy;
use crate::shape::Shape;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naive<'o> {
    /// An order every execution respects.
    pub(crate) order: Option<&'o Order>,
}

impl Naive<'_> {
    fn allows(&self, prefix: &Prefix, node: impl FnOnce(&Order) -> u32) -> bool {
        self.order.is_none_or(|order| order.allows(prefix, node(order)))
    }
}

impl Strategy for Naive<'_> {
    fn saturate(&self, _: &Shape, _: &mut Prefix) {}

    fn choices(&self, shape: &Shape, prefix: &Prefix, choices: &mut Vec<Move>) {
        for lane in 0..shape.lanes() {
            if let Some(write) = prefix.front(shape, lane)
                && prefix.can_flush(shape, lane)
                && self.allows(prefix, |order| order.arrival(write))
            {
                choices.push(Move::Flush(lane as u32));
            }
        }
        for thread in 0..shape.threads() {
            if let Some((number, _)) = prefix.next(shape, thread)
                && prefix.can_step(shape, number)
                && self.allows(prefix, |_| number)
            {
                choices.push(Move::Step(thread as u32));
            }
        }
    }

    fn choose(&self, shape: &Shape, prefix: &mut Prefix, choice: Move) -> bool {
        prefix.apply(shape, choice);
        true
    }

    fn key(&self, _: &Shape, prefix: &Prefix, key: &mut Vec<u32>) {
        prefix.save(key);
    }
}
