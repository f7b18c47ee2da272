//! Weak release-acquire (Lahav, Boker 2022): causality only. The writes of a location have no order; a read must not take what it knows to be
//! overwritten. A full fence is an update of one hidden location, since there is no order with which an axiom could be stated.

use super::Broken;
use super::Relations;
use super::ra::{ATOMICITY, CAUSALITY};

/// What is wrong with an execution.
pub(super) fn broken(relations: &Relations<'_>) -> Option<Broken> {
    let hb = relations.causality();
    if !hb.is_irreflexive() {
        Some(CAUSALITY)
    } else if relations.reads_what_is_hidden(&hb) {
        Some("it reads what it knows to be overwritten")
    } else if !relations.has_single_updates() {
        Some(ATOMICITY)
    } else {
        None
    }
}
