//! Memory as bytes: what stands in the shared objects of the program at one moment.
//!
//! Keyed by object, so that bounds and lives are known; bytes that were never written are marked. Cheap to clone:
//! objects are shared until written.

use crate::address::Addr;
use crate::automaton::Access;
use crate::code::Code;
use raddle_program::NO_VALUE;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The contents of shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByteMemory {
    objects: BTreeMap<Addr, Arc<Contents>>,
}

/// What stands in one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contents {
    bytes: Box<[u8]>,
    written: Box<[bool]>,
}

/// What stands in a part of an object of at most eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Bytes that were never written are 0.
    pub value: u64,
    /// Which bytes were written, the first in the lowest bit.
    pub written: u8,
}

/// How much of what is read was ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// Every byte.
    All,
    /// Some bytes; the others read as 0.
    Part,
    /// Nothing.
    Nothing,
}

impl Written {
    /// All or nothing.
    pub const fn all(written: bool) -> Self {
        if written { Written::All } else { Written::Nothing }
    }

    /// Of these bytes.
    fn of(bytes: &[bool]) -> Self {
        if bytes.iter().all(|&written| written) {
            Written::All
        } else if bytes.contains(&true) {
            Written::Part
        } else {
            Written::Nothing
        }
    }
}

impl ByteMemory {
    /// Memory as the program finds it.
    pub fn initial(code: &Code) -> Self {
        let mut memory = ByteMemory::default();
        for (addr, bytes) in code.shared_globals() {
            memory.create(addr, bytes.len() as u32, Some(bytes));
        }
        memory
    }

    /// The objects that have contents, by their starts.
    pub fn objects(&self) -> impl Iterator<Item = (Addr, &Arc<Contents>)> {
        self.objects.iter().map(|(&base, contents)| (base, contents))
    }

    /// Gives an object these contents, whatever it had.
    pub fn set(&mut self, base: Addr, contents: Arc<Contents>) {
        self.objects.insert(base, contents);
    }

    /// Whether the object that starts at `base` has contents already.
    pub fn contains(&self, base: Addr) -> bool {
        self.objects.contains_key(&base)
    }

    /// Gives an object its first contents: these bytes, or uninitialised ones.
    pub fn create(&mut self, base: Addr, size: u32, contents: Option<&[u8]>) {
        let bytes: Box<[u8]> = contents.map_or_else(|| vec![0; size as usize].into(), Into::into);
        let written = vec![contents.is_some(); size as usize].into();
        self.objects.insert(base, Arc::new(Contents { bytes, written }));
    }

    /// The value there, and how much of it was written. `None` if the object has no contents or is too small.
    pub fn read(&self, access: Access) -> Option<(u64, Written)> {
        let object = self.objects.get(&access.addr.base())?;
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        let source = object.bytes.get(start..start + size)?;
        let mut value = [0; 8];
        value[..size].copy_from_slice(source);
        let written = Written::of(&object.written[start..start + size]);
        Some((u64::from_le_bytes(value), written))
    }

    /// What stands there, byte by byte. `None` if the object has no contents or is too small.
    pub fn cell(&self, access: Access) -> Option<Cell> {
        let (value, _) = self.read(access)?;
        let written = &self.objects.get(&access.addr.base())?.written;
        let start = access.addr.offset() as usize;
        let bits = (0..usize::from(access.size)).map(|at| u8::from(written[start + at]) << at);
        Some(Cell { value, written: bits.fold(0, |all, bit| all | bit) })
    }

    /// Makes this stand there. Returns `None` if the object has no contents or is too small.
    pub fn set_cell(&mut self, access: Access, cell: Cell) -> Option<()> {
        let object = Arc::make_mut(self.objects.get_mut(&access.addr.base())?);
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        object.bytes.get_mut(start..start + size)?.copy_from_slice(&cell.value.to_le_bytes()[..size]);
        for (at, written) in object.written[start..start + size].iter_mut().enumerate() {
            *written = cell.written >> at & 1 != 0;
        }
        Some(())
    }

    /// Writes a value; [`NO_VALUE`] makes the bytes count as never written. Returns `None` if the object has no contents or is too small.
    pub fn write(&mut self, access: Access, value: u64) -> Option<()> {
        let object = Arc::make_mut(self.objects.get_mut(&access.addr.base())?);
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        let has_value = value != NO_VALUE;
        let value = if has_value { value } else { 0 };
        object.bytes.get_mut(start..start + size)?.copy_from_slice(&value.to_le_bytes()[..size]);
        object.written[start..start + size].fill(has_value);
        Some(())
    }
}
