//! Memories with a store buffer per thread.
//!
//! A load takes the newest bytes of its own thread's buffer, else memory. A seq_cst store is followed by a full fence: its thread does
//! nothing more until its buffer is empty. The models differ in which stores may leave and what keeps stores apart ([`Rule`]).

use super::{Memory, Store};
use crate::bytes::ByteMemory;
use raddle_program::Ordering;
use raddle_trace::{Step, StoreBuffer, ThreadId};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// What a model with store buffers says about them.
pub trait Rule {
    /// Whether a store or a fence with this ordering keeps what follows behind what was stored before.
    fn separates(order: Ordering) -> bool;
    /// Whether the store at this position may leave.
    fn leaves(buffer: &StoreBuffer<Store>, at: usize) -> bool;
    /// The step by which a store leaves.
    fn step(thread: ThreadId, store: &Store) -> Step;
}

/// What has been written, and what is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffers<R> {
    bytes: ByteMemory,
    /// The threads that have something on its way.
    buffers: BTreeMap<ThreadId, Outgoing>,
    rule: PhantomData<R>,
}

/// What a thread has on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outgoing {
    stores: StoreBuffer<Store>,
    /// A full fence is due before the thread's next operation.
    held: bool,
}

impl Outgoing {
    /// The stores.
    pub fn stores(&self) -> &StoreBuffer<Store> {
        &self.stores
    }
}

impl<R> Buffers<R> {
    /// A memory with these contents, in which nothing is on its way.
    pub fn new(bytes: ByteMemory) -> Self {
        Buffers { bytes, buffers: BTreeMap::new(), rule: PhantomData }
    }

    /// What is on its way, by thread.
    pub(super) fn outgoing(&self) -> &BTreeMap<ThreadId, Outgoing> {
        &self.buffers
    }

    /// What is on its way, by thread, to change it.
    pub(super) fn outgoing_mut(&mut self) -> &mut BTreeMap<ThreadId, Outgoing> {
        &mut self.buffers
    }
}

impl<R: Rule + Clone + std::fmt::Debug> Memory for Buffers<R> {
    fn bytes(&self) -> &ByteMemory {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut ByteMemory {
        &mut self.bytes
    }

    fn keeps(&self) -> bool {
        true
    }

    fn keep(&mut self, thread: ThreadId, store: Store, order: Ordering) {
        let outgoing = self.buffers.entry(thread).or_default();
        if R::separates(order) {
            outgoing.stores.fence();
        }
        outgoing.stores.push(store);
        outgoing.held = order == Ordering::SeqCst;
    }

    fn fence(&mut self, thread: ThreadId, order: Ordering) {
        if let Some(outgoing) = self.buffers.get_mut(&thread)
            && R::separates(order)
        {
            outgoing.stores.fence();
        }
    }

    fn waiting(&self, thread: ThreadId) -> Option<&StoreBuffer<Store>> {
        self.buffers.get(&thread).map(|outgoing| &outgoing.stores)
    }

    fn is_held(&self, thread: ThreadId) -> bool {
        self.buffers.get(&thread).is_some_and(|outgoing| outgoing.held)
    }

    fn moves(&self, thread: ThreadId, moves: &mut Vec<Step>) {
        let Some(stores) = self.waiting(thread) else { return };
        let leaving = stores.iter().enumerate().filter(|(at, _)| R::leaves(stores, *at));
        moves.extend(leaving.map(|(_, store)| R::step(thread, store)));
    }

    fn leaving(&self, step: Step) -> Option<usize> {
        let stores = self.waiting(step.thread())?;
        let at = stores.iter().position(|store| R::step(step.thread(), store) == step)?;
        R::leaves(stores, at).then_some(at)
    }

    fn take(&mut self, thread: ThreadId, at: usize) -> Store {
        let outgoing = self.buffers.get_mut(&thread).expect("it has something on its way");
        let store = outgoing.stores.remove(at);
        if outgoing.stores.is_empty() {
            self.buffers.remove(&thread);
        }
        store
    }
}
