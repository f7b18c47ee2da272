//! Strong release-acquire (Lahav, Giannarakis, Vafeiadis 2016): release-acquire in which what happens before and the orders of the writes of all locations
//! have no cycle together.

use super::Axioms;
use crate::causal::{Execution, Relations};

pub(crate) struct StrongReleaseAcquire;

impl Axioms for StrongReleaseAcquire {
    fn ask_more(&self, _: &Execution) -> bool {
        true
    }

    fn is_one_order(&self) -> bool {
        true
    }

    fn hold(&self, relations: &Relations<'_>) -> bool {
        let order = relations.execution.hb.or(&relations.mo).closure();
        order.is_irreflexive() && (!super::ra::has_fences(relations.execution) || relations.fences(&order).is_acyclic())
    }
}
