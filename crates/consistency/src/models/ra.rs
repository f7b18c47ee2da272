//! Release-acquire (Lahav, Giannarakis, Vafeiadis 2016): what happens before is program order and reads-from. Full fences are in one order.

use super::Axioms;
use crate::causal::{Event, Execution, Relations};

pub(crate) struct ReleaseAcquire;

impl Axioms for ReleaseAcquire {
    fn ask_more(&self, execution: &Execution) -> bool {
        has_fences(execution)
    }

    fn hold(&self, relations: &Relations<'_>) -> bool {
        relations.fences(&relations.execution.hb).is_acyclic()
    }
}

/// Whether there are two full fences, which are in some order.
pub(super) fn has_fences(execution: &Execution) -> bool {
    execution.events.iter().filter(|event| Event::is_full_fence(event)).nth(1).is_some()
}
