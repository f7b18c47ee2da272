//! Sequential consistency: every event is one moment of one order, and program order is part of it. Fences mean nothing.

use super::global::Global;
use crate::graphs::event::Kind;
use raddle_program::Ordering;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sc;

impl Global for Sc {
    const MODEL: raddle_trace::Model = raddle_trace::Model::Sc;
    const FORWARDS: bool = false;

    fn fence(_: Ordering) -> Option<Kind> {
        None
    }
}
