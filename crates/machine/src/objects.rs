//! The objects a thread has made: heap, stack and thread-local memory.
//!
//! What other threads cannot reach (see the escape analysis) keeps its bytes here, inside the thread's state, and
//! makes no visible events. Of shared objects only size and kind are noted; their contents are memory's business.
//! The table is copied on write, so that snapshots of a thread share it.

use crate::address::{self, Addr};
use crate::bytes::{Written, number};
use crate::narrow;
use raddle_program::partial;
use raddle_trace::ThreadId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Made by an allocation; must be freed at its start, once. By what its elements are made of among those of the code, plus one; 0 if nobody knows.
    Heap(u32),
    /// An object of a block, made when the block is entered; by its name among the strings of the code.
    Scoped(u32),
    /// A local object of an activation, by function and number; freed when the function returns.
    Local(raddle_program::FuncId, u32),
    /// The thread's copy of a thread-local object; its life ends with the thread.
    ThreadLocal(u32),
}

/// An object as its maker knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Private {
    bytes: Box<[u8]>,
    /// Of each byte which bits have been written; empty when all have.
    written: Box<[u8]>,
    live: bool,
}

/// Why an access to private memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateError {
    OutOfBounds,
    Freed,
    /// Not every bit was written. What [stands for](partial) the value.
    Uninitialised(u64),
}

impl ObjectInfo {
    pub(crate) fn shared(kind: ObjectKind, size: u32, initialised: bool) -> Self {
        ObjectInfo { kind, size, initialised, private: None }
    }

    pub(crate) fn private(kind: ObjectKind, size: u32, contents: Option<&[u8]>) -> Self {
        let bytes = contents.map_or_else(|| vec![0; size as usize].into(), Into::into);
        let written = if contents.is_some() { Box::default() } else { vec![0; size as usize].into() };
        let private = Some(Arc::new(Private { bytes, written, live: true }));
        ObjectInfo { kind, size, initialised: contents.is_some(), private }
    }

    /// Whether other threads cannot reach it.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    pub(crate) fn read(&self, offset: u32, size: u32) -> Result<u64, PrivateError> {
        let private = self.private.as_ref().expect("only private objects have contents");
        let range = private.range(offset, size)?;
        let value = number(&private.bytes[range.clone()]);
        if private.written.is_empty() || private.written[range.clone()].iter().all(|&bits| bits == u8::MAX) {
            return Ok(value);
        }
        let written = Written::of(number(&private.written[range]), size as u8);
        Err(PrivateError::Uninitialised(written.stands_for(value, size as u8)))
    }

    /// Writes a value; bits that it [does not have](partial) count as never written.
    pub(crate) fn write(&mut self, offset: u32, size: u32, value: u64) -> Result<(), PrivateError> {
        let private = Arc::make_mut(self.private.as_mut().expect("only private objects have contents"));
        let range = private.range(offset, size)?;
        let (value, missing) = partial::split(value);
        private.bytes[range.clone()].copy_from_slice(&value.to_le_bytes()[..size as usize]);
        if missing != 0 && private.written.is_empty() {
            private.written = vec![u8::MAX; private.bytes.len()].into();
        }
        if !private.written.is_empty() {
            private.written[range].copy_from_slice(&(!missing).to_le_bytes()[..size as usize]);
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Objects {
    table: Arc<Vec<ObjectInfo>>,
    /// Whether the pointers of the program have four bytes.
    narrow: bool,
    /// Where the number of an object is not its position in the table: large ones, and all where pointers have four bytes.
    numbered: Option<Arc<Numbered>>,
}

/// Numbers of objects that say how large they are; see [`crate::address`] and [`crate::narrow`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Numbered {
    /// Positions in the table and numbers, in ascending order of positions.
    numbers: Vec<(u32, u32)>,
    /// Positions in the table, by number.
    positions: FxHashMap<u32, u32>,
    counts: address::Counts,
    narrow_counts: narrow::Counts,
}

impl Numbered {
    /// The number of the object at this position, if it is not the position.
    fn at(&self, position: u32) -> Option<u32> {
        let found = self.numbers.binary_search_by_key(&position, |&(position, _)| position);
        found.ok().map(|at| self.numbers[at].1)
    }
}

impl std::hash::Hash for Numbered {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // The rest follows from the numbers.
        self.numbers.hash(state);
    }
}

impl Objects {
    /// No objects yet.
    pub(crate) fn new(narrow: bool) -> Self {
        Objects { table: Arc::default(), narrow, numbered: None }
    }

    /// Adds an object that takes at least `room` bytes and returns its address, or `None` when there are too many.
    pub(crate) fn add(&mut self, thread: ThreadId, object: ObjectInfo, room: u32) -> Option<Addr> {
        let position = self.table.len() as u32;
        let size = object.size.max(room);
        let number = if self.narrow || !address::is_small(position, size) {
            let numbered = Arc::make_mut(self.numbered.get_or_insert_default());
            let number = if self.narrow {
                narrow::next_number(thread, size, &mut numbered.narrow_counts)?
            } else {
                address::next_number(size, &mut numbered.counts)?
            };
            numbered.numbers.push((position, number));
            numbered.positions.insert(number, position);
            number
        } else {
            position
        };
        Arc::make_mut(&mut self.table).push(object);
        Some(Addr::object(thread, number))
    }

    /// Whether the last one is private, its life has ended, and its number can be given again.
    pub(crate) fn ends_with_ended(&self) -> bool {
        let last = self.table.last().and_then(|object| object.private.as_ref());
        let is_numbered =
            |numbered: &Arc<Numbered>| numbered.numbers.last().is_some_and(|&(position, _)| position + 1 == self.len());
        last.is_some_and(|private| !private.live) && !self.numbered.as_ref().is_some_and(is_numbered)
    }

    /// Forgets the last one.
    pub(crate) fn pop(&mut self) {
        Arc::make_mut(&mut self.table).pop();
    }

    /// Whether this appears in what stands in private objects.
    pub(crate) fn hold(&self, is: impl Fn(u64) -> bool) -> bool {
        let mut windows =
            self.table.iter().filter_map(|object| object.private.as_ref()).flat_map(|private| private.bytes.windows(8));
        windows.any(|bytes| is(u64::from_le_bytes(bytes.try_into().expect("eight bytes"))))
    }

    pub(crate) fn len(&self) -> u32 {
        self.table.len() as u32
    }

    /// The number of the object at this position in the order they were made.
    #[inline]
    pub(crate) fn number(&self, position: u32) -> u32 {
        self.numbered.as_ref().and_then(|numbered| numbered.at(position)).unwrap_or(position)
    }

    #[inline]
    fn position(&self, number: u32) -> Option<usize> {
        let Some(numbered) = &self.numbered else { return Some(number as usize) };
        let position = if address::is_position(number) {
            // One that has another number does not go by this one.
            numbered.at(number).is_none().then_some(number)
        } else {
            numbered.positions.get(&number).copied()
        };
        position.map(|position| position as usize)
    }

    /// The position of the object with this number, if there is one.
    pub(crate) fn place(&self, number: u32) -> Option<u32> {
        self.position(number).filter(|&position| position < self.table.len()).map(|position| position as u32)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&ObjectInfo> {
        self.table.get(self.position(number)?)
    }

    /// Whether the object is one of the `count` that were made first.
    #[inline]
    pub(crate) fn is_among_first(&self, count: u32, number: u32) -> bool {
        self.position(number).is_some_and(|position| position < count as usize)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> &mut ObjectInfo {
        let position = self.position(number).expect("the caller knows the object");
        &mut Arc::make_mut(&mut self.table)[position]
    }
}
