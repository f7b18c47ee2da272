//! The filter before the search: an order every execution respects, or the certainty that there is none.
//!
//! The weakest order that contains program order and obeys, for every read `r`, where `C` are those good writes of `r` that it can still see (not after it,
//! and none between):
//!
//! 1. `C` is not empty;
//! 2. if `C` has a least write, it is before `r`;
//! 3. if `C` has a greatest write, every bad write before `r` is before that;
//! 4. `r` is before every bad write that is after all of `C`.

use super::search::Problem;
use crate::order::{Cyclic, Order, Why};
use crate::shape::NONE;

#[derive(Clone, Debug, Default)]
pub(super) struct ValueClosure {
    pub(super) order: Order,
    /// What a read can still see.
    visible: Vec<u32>,
}

impl ValueClosure {
    /// Computes the closure.
    pub(super) fn build(&mut self, problem: &Problem) -> Result<(), Cyclic> {
        self.order.build(&problem.shape, |_| {})?;
        loop {
            let mut news = false;
            for read in 0..problem.shape.ops.len() as u32 {
                if problem.is_read(read) {
                    news |= self.apply(problem, read)?;
                }
            }
            if !news {
                return Ok(());
            }
        }
    }

    /// `a` is before `b`, or the same. An initial value is before everything.
    fn at_most(&self, problem: &Problem, a: u32, b: u32) -> bool {
        a == b || a == NONE || (b != NONE && self.order.at_most(&problem.shape, a, b))
    }

    fn can_see(&self, problem: &Problem, read: u32, write: u32) -> bool {
        let between = |&other: &u32| {
            other != write && other != read && self.at_most(problem, write, other) && self.at_most(problem, other, read)
        };
        let too_late = write != NONE && self.at_most(problem, read, write);
        !too_late && !problem.writes_like(read).iter().any(between)
    }

    fn apply(&mut self, problem: &Problem, read: u32) -> Result<bool, Cyclic> {
        let mut visible = std::mem::take(&mut self.visible);
        visible.clear();
        visible.extend(problem.good(read).iter().filter(|&&write| self.can_see(problem, read, write)));
        let result = self.rules(problem, read, &visible);
        self.visible = visible;
        result
    }

    fn rules(&mut self, problem: &Problem, read: u32, visible: &[u32]) -> Result<bool, Cyclic> {
        if visible.is_empty() {
            return Err(Cyclic);
        }
        let (shape, mut news) = (&problem.shape, false);
        let least = visible.iter().copied().find(|&one| visible.iter().all(|&other| self.at_most(problem, one, other)));
        let greatest =
            visible.iter().copied().find(|&one| visible.iter().all(|&other| self.at_most(problem, other, one)));
        if let Some(least) = least.filter(|&least| least != NONE) {
            news |= self.order.add(shape, least, read, Why::ReadsFrom)?;
        }
        for &bad in problem.writes_like(read).iter().filter(|&&write| write != read && !problem.is_good(read, write)) {
            if let Some(greatest) = greatest
                && self.at_most(problem, bad, read)
            {
                if greatest == NONE {
                    return Err(Cyclic);
                }
                news |= self.order.add(shape, bad, greatest, Why::Earlier(read))?;
            }
            if visible.iter().all(|&write| self.at_most(problem, write, bad)) {
                news |= self.order.add(shape, read, bad, Why::Later(read))?;
            }
        }
        Ok(news)
    }
}
