//! Operational memories: where a store goes, what a load finds, which steps memory takes by itself.
//!
//! A memory model is one file here: a plain value that holds what threads have written, and says what they find. All else is the
//! same for every model and stands in [`state`](crate::state): what threads do, which objects there are, what waits until nothing
//! of a thread is on its way any more (a full fence, an update, a spawn, a join, a free, the ends of an atomic block).
//!
//! | model | where a store goes |
//! |---|---|
//! | [`Sc`] | to everybody at once |
//! | [`Tso`] | into the thread's buffer, first in first out |
//! | [`Pso`] | into the thread's buffer, first in first out per location and across store-store fences |
//!
//! To add a model: one file, and one line in the list below.

mod buffers;
mod pso;
mod sc;
mod tso;

pub use pso::Pso;
pub use sc::Sc;
pub use tso::Tso;

use crate::automaton::Access;
use crate::bytes::ByteMemory;
use raddle_program::Ordering;
use raddle_trace::{Buffered, Model, Step, StoreBuffer, ThreadId};
use std::fmt;

/// A store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// Where.
    pub access: Access,
    /// What.
    pub value: u64,
}

impl Buffered for Store {
    fn meets(&self, other: &Self) -> bool {
        self.access.overlaps(other.access)
    }
}

/// Where what a thread finds comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Out of what everybody sees.
    Memory,
    /// Its last byte out of the thread's own store at this position among those on their way.
    Own(usize),
}

/// What a thread finds at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value; bytes that were never written are 0.
    pub value: u64,
    /// Whether every byte of it was written.
    pub written: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// An operational memory.
pub trait Memory: Clone + fmt::Debug {
    /// What everybody sees.
    fn bytes(&self) -> &ByteMemory;

    /// What everybody sees, to change it.
    fn bytes_mut(&mut self) -> &mut ByteMemory;

    /// Whether a store is on its way for a while before everybody sees it.
    fn keeps(&self) -> bool;

    /// A store sets out.
    fn keep(&mut self, thread: ThreadId, store: Store, order: Ordering);

    /// A thread does a fence. A full one is done when nothing of the thread is on its way.
    fn fence(&mut self, thread: ThreadId, order: Ordering);

    /// What a thread has on its way.
    fn waiting(&self, thread: ThreadId) -> Option<&StoreBuffer<Store>>;

    /// Whether a thread has to wait until all it has on its way has arrived, whatever it is about to do.
    fn is_held(&self, thread: ThreadId) -> bool;

    /// The steps that memory can take with what a thread has on its way.
    fn moves(&self, thread: ThreadId, moves: &mut Vec<Step>);

    /// Which of the stores on their way a step lets arrive, if that is possible now.
    fn leaving(&self, step: Step) -> Option<usize>;

    /// Takes a store that is on its way, by its position.
    fn take(&mut self, thread: ThreadId, at: usize) -> Store;

    /// Whether a thread has nothing on its way.
    fn is_settled(&self, thread: ThreadId) -> bool {
        self.waiting(thread).is_none_or(StoreBuffer::is_empty)
    }

    /// What a thread finds. Where nobody has written yet, that is `fresh`: a value, and whether it may be read.
    fn find(&self, thread: ThreadId, access: Access, fresh: (u64, bool)) -> Found {
        let (mut value, mut written) = self.bytes().read(access).unwrap_or(fresh);
        let (mut origin, mut covered) = (Origin::Memory, 0u8);
        for (at, store) in self.waiting(thread).into_iter().flat_map(StoreBuffer::iter).enumerate() {
            for byte in 0..u64::from(store.access.size) {
                let Some(place) = (store.access.addr.0 + byte).checked_sub(access.addr.0) else { continue };
                if place < u64::from(access.size) {
                    let shift = 8 * place;
                    value = value & !(0xff << shift) | (store.value >> (8 * byte) & 0xff) << shift;
                    origin = Origin::Own(at);
                    covered |= 1 << place;
                }
            }
        }
        written |= covered.count_ones() == u32::from(access.size);
        Found { value, written, origin }
    }
}

/// All models that have an operational memory, by the names of their files' types: hands the list to another macro.
macro_rules! models {
    ($then:ident $($rest:tt)*) => { $then! { [Sc, Tso, Pso] $($rest)* } };
}

macro_rules! declare {
    ([$($model:ident),*]) => {
        /// The memory of a model that is known only when the program is run.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum AnyMemory {
            $(#[allow(missing_docs)] $model($model)),*
        }

        impl AnyMemory {
            /// The memory of a model, with these contents, in which nothing is on its way.
            pub fn of(model: Model, bytes: ByteMemory) -> Self {
                match model {
                    $(Model::$model => AnyMemory::$model($model::new(bytes))),*
                }
            }
        }
    };
}

macro_rules! ask {
    ([$($model:ident),*] $any:ident, $memory:ident => $what:expr) => {
        match $any {
            $(AnyMemory::$model($memory) => $what),*
        }
    };
}

models!(declare);

impl Memory for AnyMemory {
    fn bytes(&self) -> &ByteMemory {
        models!(ask self, memory => memory.bytes())
    }

    fn bytes_mut(&mut self) -> &mut ByteMemory {
        models!(ask self, memory => memory.bytes_mut())
    }

    fn keeps(&self) -> bool {
        models!(ask self, memory => memory.keeps())
    }

    fn keep(&mut self, thread: ThreadId, store: Store, order: Ordering) {
        models!(ask self, memory => memory.keep(thread, store, order));
    }

    fn fence(&mut self, thread: ThreadId, order: Ordering) {
        models!(ask self, memory => memory.fence(thread, order));
    }

    fn waiting(&self, thread: ThreadId) -> Option<&StoreBuffer<Store>> {
        models!(ask self, memory => memory.waiting(thread))
    }

    fn is_held(&self, thread: ThreadId) -> bool {
        models!(ask self, memory => memory.is_held(thread))
    }

    fn moves(&self, thread: ThreadId, moves: &mut Vec<Step>) {
        models!(ask self, memory => memory.moves(thread, moves));
    }

    fn leaving(&self, step: Step) -> Option<usize> {
        models!(ask self, memory => memory.leaving(step))
    }

    fn take(&mut self, thread: ThreadId, at: usize) -> Store {
        models!(ask self, memory => memory.take(thread, at))
    }
}
