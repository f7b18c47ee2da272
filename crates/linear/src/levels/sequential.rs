//! Sequential consistency of reads and writes with different values: who read from whom is known, which is the question that [`raddle_consistency`] answers for traces.
//!
//! Processes are its threads and keys its locations. Why there is no order is told by a smallest clash, where finding one does not take long.

use raddle_consistency::{
    Action, Answer, EventId, Instance, Interrupt, Limits, Loc, Model, Settings, Source, ThreadId, explain, verify,
};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

use super::{Acts, Standing, Why};
use crate::search::Budget;
use crate::value::ValueId;

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
        let mut place = vec![EventId::new(ThreadId(0), 0); self.acts.len()];
        for (thread, process) in (0u32..).zip(&self.processes) {
            for (index, &act) in (0u32..).zip(process) {
                place[act as usize] = EventId::new(ThreadId(thread), index);
            }
        }
        let mut keys: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut instance = Instance::new();
        for process in &self.processes {
            instance.begin_thread();
            for &act in process {
                let next = keys.len() as u32;
                let loc = Loc(*keys.entry(self.acts[act as usize].key).or_insert(next));
                let from =
                    self.source[act as usize].map_or(Source::Initial, |write| Source::Write(place[write as usize]));
                let writes = self.acts[act as usize].writes;
                instance.push(if writes { Action::Write { loc } } else { Action::Read { loc, from } });
            }
        }
        let until = Until(budget.deadline);
        let limits = Limits { prefixes: budget.configurations, bytes: budget.bytes, interrupt: &until };
        match verify(&instance, Model::Sc, &Settings { limits, ..Settings::default() }) {
            Ok(Answer::Consistent(_)) => Standing::Holds,
            Ok(Answer::Inconsistent) => Standing::Violated(Why::NoOrder(self.clash(&instance, budget))),
            Ok(Answer::Unknown) if until.is_due() => Standing::Unknown("the time limit was reached".into()),
            Ok(Answer::Unknown) => Standing::Unknown("no order was found within the budget".into()),
            Err(malformed) => Standing::Unknown(malformed.to_string()),
        }
    }

    /// Operations that have no order whatever the others do; none if that takes too long to find out.
    fn clash(&self, instance: &Instance, budget: &Budget) -> Vec<crate::history::OpId> {
        if self.acts.len() > LARGE {
            return Vec::new();
        }
        let soon = Instant::now() + PATIENCE;
        let until = Until(Some(budget.deadline.map_or(soon, |end| end.min(soon))));
        let limits = Limits { interrupt: &until, ..Limits::default() };
        let clash = explain(instance, Model::Sc, &Settings { limits, ..Settings::default() });
        let events = clash.ok().flatten().into_iter().flat_map(|clash| clash.events().collect::<Vec<_>>());
        let mut ids: Vec<_> =
            events.map(|event| self.id(self.processes[event.thread.0 as usize][event.index as usize])).collect();
        ids.sort_unstable();
        ids
    }
}
