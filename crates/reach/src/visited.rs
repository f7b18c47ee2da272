//! The states that have been met, exactly, in few bytes each.
//!
//! A state is a list of numbers of parts. Written with seven bits a byte these lists stand one behind the other in one block of bytes; an open-addressing
//! table finds them. Beside its list a state has the state it was first met from and the number of the move that led there: enough to tell a way to it.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A state by the order in which it was met.
pub type Index = u32;

/// A place of the table with nothing in it. No state has the number in its lower half.
const EMPTY: u64 = u64::MAX;

/// How many lists are looked up together.
const TOGETHER: usize = 16;

/// The states.
#[derive(Clone, Debug)]
pub struct Visited {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<u32>,
    parents: Vec<Index>,
    moves: Vec<u16>,
    /// Above, half of the hash of a state, whose upper bits say where it is looked for; below, the state.
    table: Vec<u64>,
    /// How many of the upper bits of a hash are a place in the table.
    bits: u32,
}

/// A state that is looked up: its list, as it is written, stands in a block of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    hash: u32,
    start: u32,
    length: u32,
}

impl Written {
    /// Writes a list behind what has been written.
    pub(crate) fn new(parts: &[u32], bytes: &mut Vec<u8>) -> Self {
        let start = bytes.len();
        write(parts, bytes);
        Written { hash: hash(&bytes[start..]), start: start as u32, length: (bytes.len() - start) as u32 }
    }

    fn list(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }
}

impl Visited {
    pub(crate) fn new() -> Self {
        let bits = 10;
        Visited {
            bytes: Vec::new(),
            starts: Vec::new(),
            parents: Vec::new(),
            moves: Vec::new(),
            table: vec![EMPTY; 1 << bits],
            bits,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() > u32::MAX as usize - (1 << 28) || self.len() > Index::MAX as usize - (1 << 24)
    }

    /// How many bytes they take.
    pub fn size(&self) -> usize {
        self.bytes.len() + 10 * self.len() + 8 * self.table.len()
    }

    fn list(&self, index: Index) -> &[u8] {
        let end = self.starts.get(index as usize + 1).map_or(self.bytes.len(), |&end| end as usize);
        &self.bytes[self.starts[index as usize] as usize..end]
    }

    /// The numbers of the parts of a state.
    pub(crate) fn parts(&self, index: Index) -> impl Iterator<Item = u32> + '_ {
        let mut bytes = self.list(index).iter();
        std::iter::from_fn(move || {
            let (mut number, mut shift) = (0, 0);
            loop {
                let byte = *bytes.next()?;
                number |= u32::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    return Some(number);
                }
                shift += 7;
            }
        })
    }

    /// The state from which this one was first met, and by which move; none for the first one.
    pub(crate) fn parent(&self, index: Index) -> Option<(Index, u16)> {
        (index > 0).then(|| (self.parents[index as usize], self.moves[index as usize]))
    }

    /// Where a hash is looked for first.
    fn place(&self, hash: u32) -> usize {
        (hash >> (u32::BITS - self.bits)) as usize
    }

    /// Where a list is in the table, or where it would be.
    fn find(&self, hash: u32, list: &[u8]) -> usize {
        let mut at = self.place(hash);
        loop {
            let found = self.table[at];
            if found == EMPTY || ((found >> 32) as u32 == hash && self.list(found as Index) == list) {
                return at;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
    }

    /// The state with this list, if it has been met.
    fn look_up(&self, hash: u32, list: &[u8]) -> Option<Index> {
        let found = self.table[self.find(hash, list)];
        (found != EMPTY).then_some(found as Index)
    }

    /// Tells of each list, in order, which state it is, if it has been met. That they are many makes it faster: what is far away in memory is asked for before it is needed.
    pub(crate) fn look_up_all(&self, lists: &[Written], bytes: &[u8], mut tell: impl FnMut(Option<Index>)) {
        let mut first = [(EMPTY, 0); TOGETHER];
        for lists in lists.chunks(TOGETHER) {
            for (first, list) in first.iter_mut().zip(lists) {
                first.0 = self.table[self.place(list.hash)];
            }
            for (first, list) in first.iter_mut().zip(lists) {
                let matches = first.0 != EMPTY && (first.0 >> 32) as u32 == list.hash;
                first.1 = if matches { self.starts[first.0 as Index as usize] } else { 0 };
            }
            for (&(found, start), &written) in first.iter().zip(lists) {
                let list = written.list(bytes);
                let known = || {
                    let matches = (found >> 32) as u32 == written.hash
                        && self.bytes.get(start as usize..start as usize + list.len()) == Some(list)
                        && self.list(found as Index).len() == list.len();
                    matches.then_some(found as Index)
                };
                tell(if found == EMPTY { None } else { known().or_else(|| self.look_up(written.hash, list)) });
            }
        }
    }

    /// The state with this list, which stands in these bytes; it is new if the second is true, and then was met from there.
    pub(crate) fn insert(&mut self, written: Written, bytes: &[u8], parent: Index, by: u16) -> (Index, bool) {
        let list = written.list(bytes);
        let at = self.find(written.hash, list);
        let known = self.table[at];
        if known != EMPTY {
            return (known as Index, false);
        }
        let index = self.len() as Index;
        self.table[at] = u64::from(written.hash) << 32 | u64::from(index);
        self.starts.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(list);
        self.parents.push(parent);
        self.moves.push(by);
        if self.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        (index, true)
    }

    /// The state with these parts, if it has been met.
    pub(crate) fn index(&self, parts: &[u32]) -> Option<Index> {
        let mut list = Vec::new();
        write(parts, &mut list);
        self.look_up(hash(&list), &list)
    }

    fn grow(&mut self) {
        self.bits += 1;
        let old = std::mem::replace(&mut self.table, vec![EMPTY; 1 << self.bits]);
        for state in old.into_iter().filter(|&state| state != EMPTY) {
            let mut at = self.place((state >> 32) as u32);
            while self.table[at] != EMPTY {
                at = (at + 1) & (self.table.len() - 1);
            }
            self.table[at] = state;
        }
    }
}

/// Numbers with seven bits a byte; the highest bit says that there is more.
fn write(parts: &[u32], list: &mut Vec<u8>) {
    for mut number in parts.iter().copied() {
        while number >= 0x80 {
            list.push(number as u8 | 0x80);
            number >>= 7;
        }
        list.push(number as u8);
    }
}

fn hash(list: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(list);
    // Its upper bits choose the place; they have to depend on all others.
    (hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(visited: &mut Visited, parts: &[u32], parent: Index, by: u16) -> (Index, bool) {
        let mut bytes = vec![0; 3];
        let written = Written::new(parts, &mut bytes);
        visited.insert(written, &bytes, parent, by)
    }

    #[test]
    fn a_list_is_met_once_and_comes_back_as_it_was() {
        let mut visited = Visited::new();
        let lists: Vec<Vec<u32>> =
            (0..5_000u32).map(|n| vec![n % 7, n * n, n << 17 | 127, 128, u32::from(n % 3 == 0)]).collect();
        for (n, list) in lists.iter().enumerate() {
            let met = insert(&mut visited, list, n as u32 / 2, n as u16 % 5);
            assert_eq!(met, (n as u32, true));
        }
        for (n, list) in lists.iter().enumerate() {
            assert_eq!(insert(&mut visited, list, 9, 9), (n as u32, false));
            assert_eq!(visited.parts(n as u32).collect::<Vec<_>>(), *list);
            let parent = (n > 0).then_some((n as u32 / 2, n as u16 % 5));
            assert_eq!(visited.parent(n as u32), parent);
        }
        assert_eq!(visited.len(), 5_000);
        // One that is the beginning of another is another.
        assert!(insert(&mut visited, &lists[3][..4], 0, 0).1);
        let mut bytes = Vec::new();
        let mut written: Vec<Written> = lists.iter().map(|list| Written::new(list, &mut bytes)).collect();
        written.push(Written::new(&[1, 2, 3], &mut bytes));
        let mut told = Vec::new();
        visited.look_up_all(&written, &bytes, |known| told.push(known));
        assert_eq!(told, (0..5_000).map(Some).chain([None]).collect::<Vec<_>>());
    }
}
