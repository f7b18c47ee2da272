//! Release-acquire (Lahav, Giannarakis, Vafeiadis 2016): every access releases and acquires, so what happens before is program order
//! and reads-from. Full fences are ordered by what happens before and by how accesses between them see each other; that allows exactly what fences allow
//! that are updates of one hidden location.

use super::Broken;
use super::Relations;
use raddle_trace::Matrix;

pub(super) const COHERENCE: Broken = "it contradicts the order of the writes of a location";
pub(super) const ATOMICITY: Broken = "something would come between the halves of an update";
pub(super) const CAUSALITY: Broken = "it would happen before itself";

/// `[Fsc] ; (order ∪ hb ; eco ; hb) ; [Fsc]`.
pub(super) fn fences(relations: &Relations<'_>, order: &Matrix, hb: &Matrix) -> Matrix {
    let fence = relations.full_fences();
    fence.then(&order.or(&hb.then(&relations.eco()).then(hb))).then(&fence)
}

/// What is wrong with an execution, if `order` is what orders fences beside eco.
pub(super) fn broken(relations: &Relations<'_>) -> Option<Broken> {
    let hb = relations.causality();
    if !hb.is_irreflexive() {
        Some(CAUSALITY)
    } else if !relations.is_coherent(&hb) {
        Some(COHERENCE)
    } else if !relations.is_atomic() {
        Some(ATOMICITY)
    } else if !fences(relations, &hb, &hb).is_acyclic() {
        Some("fences would not be in one order")
    } else {
        None
    }
}
