//! Sequential consistency of reads and writes with different values: who read from whom is known, which is the question that [`raddle_consistency`] answers for traces.
//!
//! Why there is no order is told by a smallest clash, where finding one does not take long.

use raddle_consistency::{Answer, Instance, Interrupt, Limits, Model, Settings, explain, verify};
use std::time::{Duration, Instant};

use super::{Acts, Standing, Why};
use crate::search::Budget;

/// How long a smallest clash is looked for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most operations for which it is.
const LARGE: usize = 5_000;

/// A moment to stop at.
struct Until(Option<Instant>);

impl Interrupt for Until {
    fn is_due(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

impl Acts {
    pub(super) fn sequential(&self, budget: &Budget) -> Standing {
        let (instance, _, threads) = self.instance();
        let until = Until(budget.deadline);
        let limits = Limits { prefixes: budget.configurations, bytes: budget.bytes, interrupt: &until };
        match verify(&instance, Model::Sc, &Settings { limits, ..Settings::default() }) {
            Ok(Answer::Consistent(_)) => Standing::Holds,
            Ok(Answer::Inconsistent) => Standing::Violated(Why::NoOrder(self.clash(&instance, &threads, budget))),
            Ok(Answer::Unknown) if until.is_due() => Standing::Unknown("the time limit was reached".into()),
            Ok(Answer::Unknown) => Standing::Unknown("no order was found within the budget".into()),
            Err(malformed) => Standing::Unknown(malformed.to_string()),
        }
    }

    /// Operations that have no order whatever the others do; none if that takes too long to find out.
    fn clash(&self, instance: &Instance, threads: &[Vec<u32>], budget: &Budget) -> Vec<crate::history::OpId> {
        if self.acts.len() > LARGE {
            return Vec::new();
        }
        let soon = Instant::now() + PATIENCE;
        let until = Until(Some(budget.deadline.map_or(soon, |end| end.min(soon))));
        let limits = Limits { interrupt: &until, ..Limits::default() };
        let clash = explain(instance, Model::Sc, &Settings { limits, ..Settings::default() });
        let events = clash.ok().flatten().into_iter().flat_map(|clash| clash.events().collect::<Vec<_>>());
        let mut ids: Vec<_> =
            events.map(|event| self.id(threads[event.thread.0 as usize][event.index as usize])).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
