//! What a memory model means to the verifiers: one file each.
//!
//! All models so far are machines with store buffers, so a file says which buffers there are and how the search for an execution goes.
//! Nothing outside this folder asks which model it is.

pub mod pso;
mod sc;
pub mod tso;

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

/// The file of a model.
pub(crate) fn of(model: Model) -> &'static dyn MemoryModel {
    match model {
        Model::Sc => &sc::SequentialConsistency,
        Model::Tso => &tso::TotalStoreOrder,
        Model::Pso => &pso::PartialStoreOrder,
        Model::Wra | Model::Ra | Model::Sra | Model::Rc11 => unreachable!("the verifier refuses {model}"),
    }
}
