//! Lists of numbers, one after another in one piece of memory.

use std::ops::Range;

/// The lists, by number.
pub(super) struct Lists {
    starts: Vec<u32>,
    pub(super) items: Vec<u32>,
}

impl Lists {
    /// So many lists, of pairs of a list and an item.
    pub(super) fn new(count: usize, pairs: &[(u32, u32)]) -> Lists {
        let mut starts = vec![0u32; count + 1];
        pairs.iter().for_each(|(of, _)| starts[*of as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut items) = (starts.clone(), vec![0; pairs.len()]);
        for &(of, item) in pairs {
            items[next[of as usize] as usize] = item;
            next[of as usize] += 1;
        }
        Lists { starts, items }
    }

    /// Where a list lies.
    pub(super) fn range(&self, number: u32) -> Range<usize> {
        self.starts[number as usize] as usize..self.starts[number as usize + 1] as usize
    }

    /// A list.
    pub(super) fn of(&self, number: u32) -> &[u32] {
        &self.items[self.range(number)]
    }
}
