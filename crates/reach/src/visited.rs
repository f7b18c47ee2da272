//! The states that have been met, exactly, in few bytes each.
//!
//! A state is a list of numbers of parts. Written with seven bits a byte these lists stand one behind the other in one block of bytes; an open-addressing
//! table finds them. Beside its list a state has the state it was first met from and the number of the move that led there: enough to tell a way to it.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A state by the order in which it was met.
pub type Index = u32;

const EMPTY: u32 = u32::MAX;

/// The states.
#[derive(Debug)]
pub struct Visited {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<u32>,
    parents: Vec<Index>,
    moves: Vec<u16>,
    table: Vec<u32>,
    /// A list as it is written.
    scratch: Vec<u8>,
}

impl Visited {
    pub(crate) fn new() -> Self {
        Visited {
            bytes: Vec::new(),
            starts: Vec::new(),
            parents: Vec::new(),
            moves: Vec::new(),
            table: vec![EMPTY; 1 << 10],
            scratch: Vec::new(),
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
        self.bytes.len() > u32::MAX as usize - (1 << 16) || self.len() > EMPTY as usize - (1 << 16)
    }

    /// How many bytes they take.
    pub fn size(&self) -> usize {
        self.bytes.len() + 10 * self.len() + 4 * self.table.len()
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

    /// Where a list is in the table, or where it would be.
    fn find(&self, hash: u64, list: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at] != EMPTY && self.list(self.table[at]) != list {
            at = (at + 1) & mask;
        }
        at
    }

    /// The state with these parts; it is new if the second is true, and then was met from there.
    pub(crate) fn insert(&mut self, parts: impl Iterator<Item = u32>, parent: Index, by: u16) -> (Index, bool) {
        let mut list = std::mem::take(&mut self.scratch);
        write(parts, &mut list);
        let at = self.find(hash(&list), &list);
        let known = self.table[at];
        let met = if known == EMPTY {
            let index = self.len() as Index;
            self.table[at] = index;
            self.starts.push(self.bytes.len() as u32);
            self.bytes.extend_from_slice(&list);
            self.parents.push(parent);
            self.moves.push(by);
            if self.len() * 3 > self.table.len() * 2 {
                self.grow();
            }
            (index, true)
        } else {
            (known, false)
        };
        self.scratch = list;
        met
    }

    /// The state with these parts, if it has been met.
    pub(crate) fn index(&self, parts: impl Iterator<Item = u32>) -> Option<Index> {
        let mut list = Vec::new();
        write(parts, &mut list);
        let found = self.table[self.find(hash(&list), &list)];
        (found != EMPTY).then_some(found)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, EMPTY);
        for index in 0..self.len() as Index {
            let mut at = hash(self.list(index)) as usize & (size - 1);
            while self.table[at] != EMPTY {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = index;
        }
    }
}

/// Numbers with seven bits a byte; the highest bit says that there is more.
fn write(parts: impl Iterator<Item = u32>, list: &mut Vec<u8>) {
    list.clear();
    for mut number in parts {
        while number >= 0x80 {
            list.push(number as u8 | 0x80);
            number >>= 7;
        }
        list.push(number as u8);
    }
}

fn hash(list: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(list);
    // The low bits choose the place, and the hasher leaves them worse than the high ones.
    let hash = hasher.finish();
    hash ^ hash >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_met_once_and_comes_back_as_it_was() {
        let mut visited = Visited::new();
        let lists: Vec<Vec<u32>> =
            (0..5_000u32).map(|n| vec![n % 7, n * n, n << 17 | 127, 128, u32::from(n % 3 == 0)]).collect();
        for (n, list) in lists.iter().enumerate() {
            let met = visited.insert(list.iter().copied(), n as u32 / 2, n as u16 % 5);
            assert_eq!(met, (n as u32, true));
        }
        for (n, list) in lists.iter().enumerate() {
            assert_eq!(visited.insert(list.iter().copied(), 9, 9), (n as u32, false));
            assert_eq!(visited.parts(n as u32).collect::<Vec<_>>(), *list);
            let parent = (n > 0).then_some((n as u32 / 2, n as u16 % 5));
            assert_eq!(visited.parent(n as u32), parent);
        }
        assert_eq!(visited.len(), 5_000);
        // One that is the beginning of another is another.
        assert!(visited.insert(lists[3][..4].iter().copied(), 0, 0).1);
    }
}
