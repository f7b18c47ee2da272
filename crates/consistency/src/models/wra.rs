//! Weak release-acquire (Lahav, Boker 2022): a read must not take what it knows to be overwritten. The writes of a location have no order.

use super::Axioms;
use crate::causal::{Execution, Relations};

pub(crate) struct WeakReleaseAcquire;

impl Axioms for WeakReleaseAcquire {
    fn has_order(&self) -> bool {
        false
    }

    fn ask_more(&self, _: &Execution) -> bool {
        false
    }

    fn hold(&self, _: &Relations<'_>) -> bool {
        true
    }
}
