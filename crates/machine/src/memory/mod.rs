//! Operational memories: where a store goes, what a load finds, which steps memory takes by itself.
//!
//! A memory model is one file here: a plain value that holds what threads have written, and says what they find. All else is the
//! same for every model and stands in [`state`](crate::state): what threads do, which objects there are, what waits until nothing
//! of a thread is on its way any more (a full fence, an update, a spawn, a join, the ends of an atomic block).
//!
//! | model | where a store goes |
//! |---|---|
//! | [`Sc`] | to everybody at once |
//! | [`Tso`] | into the thread's buffer, first in first out |
//! | [`Pso`] | into the thread's buffer, first in first out per location and across store-store fences |
//!
//! Models that are defined by axioms share [`Axiomatic`]: there reads name their source and writes their place.
//!
//! To add a model: one file, and one line in the list below.

mod axiomatic;
mod buffers;
mod pso;
mod sc;
mod tso;

pub use axiomatic::{Act, Axiomatic};
pub use buffers::Outgoing;
pub use pso::Pso;
pub use sc::Sc;
pub use tso::Tso;

use crate::address::Addr;
use crate::automaton::Access;
use crate::bytes::{ByteMemory, Written};
use raddle_program::{Ordering, partial};
use raddle_trace::{Buffered, EventId, Model, Step, StoreBuffer, ThreadId};
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
    /// Out of this write, or the initial one, where a step names it.
    Event(Option<EventId>),
}

/// Which write a read is to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The last one, as memory has it.
    Last,
    /// The initial one.
    Initial,
    /// This one.
    Write(EventId),
}

/// What a thread finds at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The value; bytes that were never written are 0.
    pub value: u64,
    /// How much of it was written.
    pub written: Written,
    /// Where it comes from.
    pub origin: Origin,
}

/// An operational memory. What is said here of stores on their way is that of a memory in which nothing ever is.
pub trait Memory: Clone + fmt::Debug {
    /// What everybody sees.
    fn bytes(&self) -> &ByteMemory;

    /// What everybody sees, to change it.
    fn bytes_mut(&mut self) -> &mut ByteMemory;

    /// A store becomes what everybody sees.
    fn put(&mut self, store: Store) {
        let written = self.bytes_mut().write(store.access, store.value);
        written.expect("the object was given contents when the store was issued");
    }

    /// Whether steps name the sources of reads and the places of writes. Otherwise memory knows them.
    fn is_named(&self) -> bool {
        false
    }

    /// The first thread is about to do what it need not do, or is no longer alone.
    fn end_opening(&mut self) {}

    /// The writes that a step can name as the source of a read; `None` is the initial one.
    fn sources(&self, _access: Access) -> Vec<Option<EventId>> {
        vec![None]
    }

    /// Where steps name places: per location, its writes in their order, as far as they have one.
    fn orders(&self) -> Vec<(Addr, Vec<EventId>)> {
        Vec::new()
    }

    /// Whether a thread that waits is sure to see the last write in the end, and may have missed all others.
    fn last_is_seen(&self) -> bool {
        true
    }

    /// At how many places among the writes of its location a store can be.
    fn places(&self, _access: Access) -> usize {
        1
    }

    /// Why a thread cannot do this now, as far as it is a question of sources and places.
    fn refuses(&self, _thread: ThreadId, _act: Act) -> Option<String> {
        None
    }

    /// Whether what was done is none of the model's executions. Every prefix of an execution is one, so who has done many steps can ask once.
    fn refuses_run(&self) -> bool {
        false
    }

    /// A thread has done something.
    fn done(&mut self, _thread: ThreadId, _act: Act) {}

    /// Whether memory can answer such an access beside those there were.
    fn is_possible(&self, _access: Access) -> bool {
        true
    }

    /// Whether a thread that ends the life of this object knows of all accesses to it.
    fn may_end(&self, _thread: ThreadId, _base: Addr) -> bool {
        true
    }

    /// Whether a store is on its way for a while before everybody sees it.
    fn keeps(&self) -> bool {
        false
    }

    /// A store sets out.
    fn keep(&mut self, _thread: ThreadId, _store: Store, _order: Ordering) {
        unreachable!("everybody sees a store at once")
    }

    /// A thread does a fence. A full one is done when nothing of the thread is on its way.
    fn fence(&mut self, _thread: ThreadId, _order: Ordering) {}

    /// What a thread has on its way.
    fn waiting(&self, _thread: ThreadId) -> Option<&StoreBuffer<Store>> {
        None
    }

    /// Whether a thread has to wait until all it has on its way has arrived, whatever it is about to do.
    fn is_held(&self, _thread: ThreadId) -> bool {
        false
    }

    /// The steps that memory can take with what a thread has on its way.
    fn moves(&self, _thread: ThreadId, _moves: &mut Vec<Step>) {}

    /// Which of the stores on their way a step lets arrive, if that is possible now.
    fn leaving(&self, _step: Step) -> Option<usize> {
        None
    }

    /// Takes a store that is on its way, by its position.
    fn take(&mut self, _thread: ThreadId, _at: usize) -> Store {
        unreachable!("nothing is ever on its way")
    }

    /// Whether a thread has nothing on its way.
    fn is_settled(&self, thread: ThreadId) -> bool {
        self.waiting(thread).is_none_or(StoreBuffer::is_empty)
    }

    /// What a thread finds. Where nobody has written yet, that is `fresh`: a value, and whether it may be read.
    fn find(&self, thread: ThreadId, access: Access, _from: From, fresh: (u64, Written)) -> Found {
        let (mut value, written) = self.bytes().read(access).unwrap_or(fresh);
        let mut known = match written {
            Written::All => u64::MAX,
            Written::Part(missing) => !missing,
            Written::Nothing => 0,
        };
        let mut origin = Origin::Memory;
        for (at, store) in self.waiting(thread).into_iter().flat_map(StoreBuffer::iter).enumerate() {
            for byte in 0..u64::from(store.access.size) {
                let Some(place) = (store.access.addr.0 + byte).checked_sub(access.addr.0) else { continue };
                if place < u64::from(access.size) {
                    let shift = 8 * place;
                    let (part, missing) = partial::split(store.value);
                    let moved = |bits: u64| (bits >> (8 * byte) & 0xff) << shift;
                    value = value & !(0xff << shift) | moved(part);
                    origin = Origin::Own(at);
                    known = known & !(0xff << shift) | moved(!missing);
                }
            }
        }
        Found { value, written: Written::of(known, access.size), origin }
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
            $(#[allow(missing_docs)] $model($model),)*
            #[allow(missing_docs)]
            Axiomatic(Axiomatic),
        }

        impl AnyMemory {
            /// The memory of a model, with these contents, in which nothing is on its way.
            pub fn of(model: Model, bytes: ByteMemory) -> Self {
                match model {
                    $(Model::$model => AnyMemory::$model($model::new(bytes)),)*
                    Model::Wra | Model::Ra | Model::Sra | Model::Rc11 => AnyMemory::Axiomatic(Axiomatic::new(model, bytes)),
                }
            }
        }
    };
}

macro_rules! ask {
    ([$($model:ident),*] $any:ident, $memory:ident => $what:expr) => {
        match $any {
            $(AnyMemory::$model($memory) => $what,)*
            AnyMemory::Axiomatic($memory) => $what,
        }
    };
}

models!(declare);

impl AnyMemory {
    /// What threads have on their way.
    pub fn outgoing(&self) -> impl Iterator<Item = (ThreadId, &Outgoing)> {
        let buffers = match self {
            AnyMemory::Tso(memory) => Some(memory.outgoing()),
            AnyMemory::Pso(memory) => Some(memory.outgoing()),
            AnyMemory::Sc(_) | AnyMemory::Axiomatic(_) => None,
        };
        buffers.into_iter().flatten().map(|(&thread, outgoing)| (thread, outgoing))
    }

    /// Puts this on the way of a thread, which has nothing there.
    ///
    /// # Panics
    /// If nothing is ever on its way in this memory.
    pub fn set_outgoing(&mut self, thread: ThreadId, outgoing: Outgoing) {
        let buffers = match self {
            AnyMemory::Tso(memory) => memory.outgoing_mut(),
            AnyMemory::Pso(memory) => memory.outgoing_mut(),
            AnyMemory::Sc(_) | AnyMemory::Axiomatic(_) => unreachable!("nothing is ever on its way"),
        };
        buffers.insert(thread, outgoing);
    }
}

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

    fn put(&mut self, store: Store) {
        models!(ask self, memory => memory.put(store));
    }

    fn is_named(&self) -> bool {
        models!(ask self, memory => memory.is_named())
    }

    fn end_opening(&mut self) {
        models!(ask self, memory => memory.end_opening());
    }

    fn orders(&self) -> Vec<(Addr, Vec<EventId>)> {
        models!(ask self, memory => memory.orders())
    }

    fn last_is_seen(&self) -> bool {
        models!(ask self, memory => memory.last_is_seen())
    }

    fn sources(&self, access: Access) -> Vec<Option<EventId>> {
        models!(ask self, memory => memory.sources(access))
    }

    fn places(&self, access: Access) -> usize {
        models!(ask self, memory => memory.places(access))
    }

    fn refuses(&self, thread: ThreadId, act: Act) -> Option<String> {
        models!(ask self, memory => memory.refuses(thread, act))
    }

    fn refuses_run(&self) -> bool {
        models!(ask self, memory => memory.refuses_run())
    }

    fn done(&mut self, thread: ThreadId, act: Act) {
        models!(ask self, memory => memory.done(thread, act));
    }

    fn is_possible(&self, access: Access) -> bool {
        models!(ask self, memory => memory.is_possible(access))
    }

    fn may_end(&self, thread: ThreadId, base: Addr) -> bool {
        models!(ask self, memory => memory.may_end(thread, base))
    }

    fn find(&self, thread: ThreadId, access: Access, from: From, fresh: (u64, Written)) -> Found {
        models!(ask self, memory => memory.find(thread, access, from, fresh))
    }
}
