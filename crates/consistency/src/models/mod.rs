//! What a memory model means to the verifiers: one file each.
//!
//! A model is a machine with store buffers, and its file says which buffers there are and how the search for an execution goes; or it is a list of
//! [axioms](crate::causal). Nothing outside this folder asks which model it is.

pub mod pso;
mod ra;
mod rc11;
mod sc;
mod sra;
pub mod tso;
mod wra;

use crate::causal::{Execution, Relations};
use crate::order::Order;
use crate::prefix::Prefix;
use crate::replay::Write;
use crate::search::{End, Search};
use crate::settings::{Limits, Settings};
use crate::shape::Shape;
use raddle_trace::{Model, Step, StoreBuffer, ThreadId};
use std::fmt;

/// What writes of a thread go through on their way to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    /// Nothing: they are in memory at once.
    None,
    /// One buffer.
    PerThread,
    /// A buffer for each location; store-store fences keep an order between them.
    PerLocation,
}

/// The verifiers' side of a memory model.
pub(crate) trait MemoryModel: Sync {
    /// Which buffers there are.
    fn buffers(&self) -> Buffers;

    /// The step of a schedule in which a buffered write of the thread to the location reaches memory.
    fn arrival(&self, thread: ThreadId, loc: u64) -> Step;

    /// Whether the write at this position of a thread's buffer may reach memory now.
    fn leaves(&self, buffer: &StoreBuffer<Write>, at: usize) -> bool;

    /// Whether two-literal clauses can decide what the search does not ([`crate::realise`]).
    fn has_clauses(&self) -> bool {
        false
    }

    /// Looks for an execution with the search made for the model.
    fn search(&self, task: Task<'_>) -> End;
}

impl fmt::Debug for dyn MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.buffers())
    }
}

/// Before anything is known of an instance.
impl Default for &'static dyn MemoryModel {
    fn default() -> Self {
        &sc::SequentialConsistency
    }
}

/// What is searched, how far, and where the search keeps its things.
pub(crate) struct Task<'t> {
    pub(crate) shape: &'t Shape,
    pub(crate) prefix: &'t mut Prefix,
    pub(crate) search: &'t mut Search,
    /// An order every execution respects, if one has been computed.
    pub(crate) order: Option<&'t Order>,
    pub(crate) settings: &'t Settings<'t>,
    pub(crate) limits: &'t Limits<'t>,
    /// Counts the prefixes that were looked at.
    pub(crate) visited: &'t mut u64,
}

/// The verifiers' side of a model that is given by axioms.
pub(crate) trait Axioms: Sync {
    /// Whether what happens before is a matter of memory orderings, and not all of program order and reads-from.
    fn synchronises(&self) -> bool {
        false
    }

    /// Whether the writes of a location have an order.
    fn has_order(&self) -> bool {
        true
    }

    /// Whether the orders of all locations and what happens before have no cycle together.
    fn is_one_order(&self) -> bool {
        false
    }

    /// Whether more is asked of this execution than coherence and atomicity.
    fn ask_more(&self, execution: &Execution) -> bool;

    /// Whether what is asked beyond coherence and atomicity holds. A smaller order of writes never makes it false.
    fn hold(&self, relations: &Relations<'_>) -> bool;
}

/// The kinds of models.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Machine(&'static dyn MemoryModel),
    Axioms(&'static dyn Axioms),
}

/// The file of a model.
pub(crate) fn of(model: Model) -> Kind {
    match model {
        Model::Sc => Kind::Machine(&sc::SequentialConsistency),
        Model::Tso => Kind::Machine(&tso::TotalStoreOrder),
        Model::Pso => Kind::Machine(&pso::PartialStoreOrder),
        Model::Wra => Kind::Axioms(&wra::WeakReleaseAcquire),
        Model::Ra => Kind::Axioms(&ra::ReleaseAcquire),
        Model::Sra => Kind::Axioms(&sra::StrongReleaseAcquire),
        Model::Rc11 => Kind::Axioms(&rc11::RepairedC11),
    }
}

/// The file of a model that is given by axioms, if it is.
pub(crate) fn axioms(model: Model) -> Option<&'static dyn Axioms> {
    match of(model) {
        Kind::Axioms(axioms) => Some(axioms),
        Kind::Machine(_) => None,
    }
}

/// The file of a model with store buffers.
///
/// # Panics
/// If it is none.
pub(crate) fn machine(model: Model) -> &'static dyn MemoryModel {
    match of(model) {
        Kind::Machine(machine) => machine,
        Kind::Axioms(_) => panic!("{model} has no store buffers"),
    }
}
