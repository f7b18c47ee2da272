//! The objects a thread has made: heap, stack and thread-local memory.
//!
//! What other threads cannot reach (see the escape analysis) keeps its bytes here, inside the thread's state, and
//! makes no visible events. Of shared objects only size and kind are noted; their contents are memory's business.
//! The table is copied on write, so that snapshots of a thread share it.

use crate::address::Addr;
use raddle_trace::ThreadId;
use std::sync::Arc;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Made by an allocation; must be freed at its start, once.
    Heap,
    /// A local object of an activation, by function and number; freed when the function returns.
    Local(raddle_program::FuncId, u32),
    /// The thread's copy of a thread-local object.
    ThreadLocal(u32),
}

/// An object as its maker knows it.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// What it is.
    pub kind: ObjectKind,
    /// Its size in bytes.
    pub size: u32,
    /// Whether its bytes start as zeros (or as given) rather than uninitialised.
    pub initialised: bool,
    /// Its contents, if no other thread can reach it.
    private: Option<Arc<Private>>,
}

#[derive(Clone, Debug)]
struct Private {
    bytes: Box<[u8]>,
    /// Per byte whether it has been written; empty when all have.
    written: Box<[bool]>,
    live: bool,
}

/// Why an access to private memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateError {
    OutOfBounds,
    Freed,
    Uninitialised,
}

impl ObjectInfo {
    pub(crate) fn shared(kind: ObjectKind, size: u32, initialised: bool) -> Self {
        ObjectInfo { kind, size, initialised, private: None }
    }

    pub(crate) fn private(kind: ObjectKind, size: u32, contents: Option<&[u8]>) -> Self {
        let bytes = contents.map_or_else(|| vec![0; size as usize].into(), Into::into);
        let written = if contents.is_some() { Box::default() } else { vec![false; size as usize].into() };
        let private = Some(Arc::new(Private { bytes, written, live: true }));
        ObjectInfo { kind, size, initialised: contents.is_some(), private }
    }

    /// Whether other threads cannot reach it.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    pub(crate) fn read(&self, offset: u32, size: u32, check: bool) -> Result<u64, PrivateError> {
        let private = self.private.as_ref().expect("only private objects have contents");
        let range = private.range(offset, size)?;
        if check && !private.written.is_empty() && !private.written[range.clone()].iter().all(|&w| w) {
            return Err(PrivateError::Uninitialised);
        }
        let mut value = [0; 8];
        value[..size as usize].copy_from_slice(&private.bytes[range]);
        Ok(u64::from_le_bytes(value))
    }

    pub(crate) fn write(&mut self, offset: u32, size: u32, value: u64) -> Result<(), PrivateError> {
        let private = Arc::make_mut(self.private.as_mut().expect("only private objects have contents"));
        let range = private.range(offset, size)?;
        private.bytes[range.clone()].copy_from_slice(&value.to_le_bytes()[..size as usize]);
        if !private.written.is_empty() {
            private.written[range].fill(true);
        }
        Ok(())
    }

    pub(crate) fn end(&mut self) -> Result<(), PrivateError> {
        let private = Arc::make_mut(self.private.as_mut().expect("only private objects have contents"));
        if !std::mem::replace(&mut private.live, false) {
            return Err(PrivateError::Freed);
        }
        private.bytes = Box::default();
        private.written = Box::default();
        Ok(())
    }
}

impl Private {
    fn range(&self, offset: u32, size: u32) -> Result<std::ops::Range<usize>, PrivateError> {
        if !self.live {
            return Err(PrivateError::Freed);
        }
        let (start, end) = (offset as usize, offset as usize + size as usize);
        if end > self.bytes.len() {
            return Err(PrivateError::OutOfBounds);
        }
        Ok(start..end)
    }
}

/// The objects of one thread, in the order they were made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    table: Arc<Vec<ObjectInfo>>,
}

impl Objects {
    /// Adds an object and returns its address, or `None` when there are too many.
    pub(crate) fn add(&mut self, thread: ThreadId, object: ObjectInfo) -> Option<Addr> {
        let number = self.table.len() as u32;
        if number >= Addr::MAX_OBJECTS {
            return None;
        }
        Arc::make_mut(&mut self.table).push(object);
        Some(Addr::object(thread, number))
    }

    pub(crate) fn len(&self) -> u32 {
        self.table.len() as u32
    }

    pub(crate) fn get(&self, number: u32) -> Option<&ObjectInfo> {
        self.table.get(number as usize)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> &mut ObjectInfo {
        &mut Arc::make_mut(&mut self.table)[number as usize]
    }
}
