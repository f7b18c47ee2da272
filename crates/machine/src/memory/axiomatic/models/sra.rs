//! Strong release-acquire (Lahav, Giannarakis, Vafeiadis 2016; Lahav, Boker 2022): release-acquire in which the orders of writes of all locations agree with what
//! happens before.

use super::Broken;
use super::Relations;
use super::ra;

/// What is wrong with an execution.
pub(super) fn broken(relations: &Relations<'_>) -> Option<Broken> {
    let hb = relations.causality();
    let order = hb.or(&relations.mo).closure();
    if let Some(broken) = ra::broken(relations) {
        Some(broken)
    } else if !order.is_irreflexive() {
        Some("the orders of the writes of several locations contradict each other")
    } else if !ra::fences(relations, &order, &hb).is_acyclic() {
        Some("fences would not be in one order")
    } else {
        None
    }
}
