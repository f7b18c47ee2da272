//! Repaired C11 (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017), with the release sequences of C++20 and without load buffering: happens-before by
//! synchronisation, and one order of sequentially consistent accesses and fences.

use super::Axioms;
use crate::causal::{Event, Execution, Relations};

pub(crate) struct RepairedC11;

impl Axioms for RepairedC11 {
    fn synchronises(&self) -> bool {
        true
    }

    fn ask_more(&self, execution: &Execution) -> bool {
        execution.events.iter().filter(|event| Event::is_sc(event)).nth(1).is_some()
    }

    fn hold(&self, relations: &Relations<'_>) -> bool {
        relations.psc().is_acyclic()
    }
}
