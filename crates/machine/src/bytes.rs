//! Memory as bytes: what stands in the shared objects of the program at one moment.
//!
//! Keyed by object, so that bounds and lives are known; bytes that were never written are marked. Cheap to clone:
//! objects are shared until written.

use crate::address::Addr;
use crate::automaton::Access;
use crate::code::Code;
use raddle_program::{NO_VALUE, partial};
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
    /// Of each byte which bits were written.
    written: Box<[u8]>,
}

/// What stands in a part of an object of at most eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Bits that were never written are 0.
    pub value: u64,
    /// Which bits were written.
    pub written: u64,
}

/// How much of what is read was ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    /// Every bit.
    All,
    /// Not these bits, which read as 0.
    Part(u64),
    /// Nothing.
    Nothing,
}

impl Written {
    /// All or nothing.
    pub const fn all(written: bool) -> Self {
        if written { Written::All } else { Written::Nothing }
    }

    /// When these bits were written, of so many bytes.
    pub(crate) const fn of(bits: u64, size: u8) -> Self {
        let all = u64::MAX >> (64 - 8 * size as u32);
        match bits & all {
            0 => Written::Nothing,
            bits if bits == all => Written::All,
            bits => Written::Part(all & !bits),
        }
    }

    /// What [stands for](partial) this value of so many bytes.
    pub fn stands_for(self, value: u64, size: u8) -> u64 {
        match self {
            Written::All => value,
            Written::Part(missing) => partial::join(value, missing, u64::MAX >> (64 - 8 * u32::from(size))),
            Written::Nothing => NO_VALUE,
        }
    }
}

/// Up to eight bytes as a number, the first in the lowest bits.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
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
        let written = vec![if contents.is_some() { u8::MAX } else { 0 }; size as usize].into();
        self.objects.insert(base, Arc::new(Contents { bytes, written }));
    }

    /// The value there, and how much of it was written. `None` if the object has no contents or is too small.
    pub fn read(&self, access: Access) -> Option<(u64, Written)> {
        let object = self.objects.get(&access.addr.base())?;
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        let source = object.bytes.get(start..start + size)?;
        let written = Written::of(number(&object.written[start..start + size]), access.size);
        Some((number(source), written))
    }

    /// What stands there, bit by bit. `None` if the object has no contents or is too small.
    pub fn cell(&self, access: Access) -> Option<Cell> {
        let (value, _) = self.read(access)?;
        let written = &self.objects.get(&access.addr.base())?.written;
        let start = access.addr.offset() as usize;
        Some(Cell { value, written: number(&written[start..start + usize::from(access.size)]) })
    }

    /// Makes this stand there. Returns `None` if the object has no contents or is too small.
    pub fn set_cell(&mut self, access: Access, cell: Cell) -> Option<()> {
        let object = Arc::make_mut(self.objects.get_mut(&access.addr.base())?);
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        object.bytes.get_mut(start..start + size)?.copy_from_slice(&cell.value.to_le_bytes()[..size]);
        object.written[start..start + size].copy_from_slice(&cell.written.to_le_bytes()[..size]);
        Some(())
    }

    /// Writes a value; bits that it [does not have](partial) count as never written. Returns `None` if the object has no contents or is too small.
    pub fn write(&mut self, access: Access, value: u64) -> Option<()> {
        let object = Arc::make_mut(self.objects.get_mut(&access.addr.base())?);
        let (start, size) = (access.addr.offset() as usize, usize::from(access.size));
        let (value, missing) = partial::split(value);
        object.bytes.get_mut(start..start + size)?.copy_from_slice(&value.to_le_bytes()[..size]);
        object.written[start..start + size].copy_from_slice(&(!missing).to_le_bytes()[..size]);
        Some(())
    }
}
