//! Repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017), without load buffering.
//!
//! Deviation: the release sequence of a write is the write and the updates that continue it, as in C++20; as printed, later stores of the
//! same thread belong to it, too. The partial order of sequentially consistent events is the printed one.

use super::Relations;
use super::ra::{ATOMICITY, CAUSALITY, COHERENCE};
use super::{Broken, Done, Kind};
use raddle_program::Ordering;
use raddle_trace::Matrix;

fn is_fence(done: &Done) -> bool {
    done.kind == Kind::Fence
}

fn is_write(done: &Done) -> bool {
    matches!(done.kind, Kind::Write { .. })
}

fn is_read(done: &Done) -> bool {
    matches!(done.kind, Kind::Read { .. })
}

fn is_atomic(done: &Done) -> bool {
    done.order != Ordering::NonAtomic
}

/// `sw = [releasing] ; ([F] ; po)? ; rs ; rf ; [R, atomic] ; (po ; [F])? ; [acquiring]`, with `rs = [W, atomic] ; (rf ; rmw)*`.
fn synchronises_with(of: &Relations<'_>) -> Matrix {
    let fence = of.on(is_fence);
    let sequence = of.on(|done| is_write(done) && is_atomic(done)).then(&of.rf.then(&of.rmw).closure().or_same());
    let releasing = of.on(|done| (is_write(done) || is_fence(done)) && done.order.releases());
    let acquiring = of.on(|done| (is_read(done) || is_fence(done)) && done.order.acquires());
    let read = of.on(|done| is_read(done) && is_atomic(done));
    let from = releasing.then(&fence.then(&of.po).or_same());
    let to = of.po.then(&fence).or_same().then(&acquiring);
    from.then(&sequence).then(&of.rf).then(&read).then(&to)
}

/// `hb = (po ∪ sw)⁺`.
pub(super) fn happens_before(of: &Relations<'_>) -> Matrix {
    of.po.or(&synchronises_with(of)).closure()
}

/// ```text
/// scb      = po ∪ po|≠loc ; hb ; po|≠loc ∪ hb|loc ∪ mo ∪ rb
/// psc_base = ([Esc] ∪ [Fsc] ; hb?) ; scb ; ([Esc] ∪ hb? ; [Fsc])
/// psc_F    = [Fsc] ; (hb ∪ hb ; eco ; hb) ; [Fsc]
/// ```
fn sc_order(of: &Relations<'_>, hb: &Matrix) -> Matrix {
    let elsewhere = of.po.filter(|a, b| !of.same_location(a, b));
    let same = hb.filter(|a, b| of.same_location(a, b));
    let scb = of.po.or(&elsewhere.then(hb).then(&elsewhere)).or(&same).or(&of.mo).or(&of.rb);
    let fence = of.full_fences();
    let event = of.on(|done| done.order == Ordering::SeqCst && done.kind != Kind::Other);
    let from = event.or(&fence.then(&hb.or_same()));
    let to = event.or(&hb.or_same().then(&fence));
    from.then(&scb).then(&to).or(&super::ra::fences(of, hb, hb))
}

/// What is wrong with an execution.
pub(super) fn broken(of: &Relations<'_>) -> Option<Broken> {
    let hb = happens_before(of);
    if !of.causality().is_irreflexive() {
        Some(CAUSALITY)
    } else if !of.is_coherent(&hb) {
        Some(COHERENCE)
    } else if !of.is_atomic() {
        Some(ATOMICITY)
    } else if !sc_order(of, &hb).is_acyclic() {
        Some("sequentially consistent accesses and fences would not be in one order")
    } else {
        None
    }
}
