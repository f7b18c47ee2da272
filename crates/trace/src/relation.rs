//! Bit sets, and binary relations kept transitively closed while edges and elements are added.
//!
//! A [`Relation`] stores for each element the set of its predecessors, as one row of bits. Adding an edge `a -> b`
//! to a closed relation makes everything at or before `a` precede everything at or after `b`; that is one pass
//! over the rows, `O(n * n / 64)`. Adding an element that only has predecessors touches one row. Rows are
//! contiguous, so that copying a relation is copying memory.

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set.
    pub const fn new() -> Self {
        BitSet { words: Vec::new() }
    }

    /// Whether the number is in the set.
    #[inline]
    pub fn contains(&self, bit: usize) -> bool {
        self.words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, bit: usize) {
        if bit / 64 >= self.words.len() {
            self.words.resize(bit / 64 + 1, 0);
        }
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, bit: usize) {
        if let Some(word) = self.words.get_mut(bit / 64) {
            *word &= !(1 << (bit % 64));
        }
    }

    /// The set with these bits.
    pub fn from_words(words: &[u64]) -> Self {
        BitSet { words: words.to_vec() }
    }

    /// Takes everything out, keeping the space.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word = 0);
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Makes this a copy of a row of a relation.
    pub fn copy_from_row(&mut self, row: &[u64]) {
        self.words.clear();
        self.words.extend_from_slice(row);
    }

    /// Adds everything in a row of a relation.
    #[inline]
    pub fn union_row(&mut self, row: &[u64]) {
        if self.words.len() < row.len() {
            self.words.resize(row.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(row) {
            *mine |= theirs;
        }
    }

    /// The bits, as words of 64.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The members in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| at * 64 + w.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for BitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(bits: I) -> Self {
        let mut set = BitSet::new();
        bits.into_iter().for_each(|bit| set.insert(bit));
        set
    }
}

/// A transitively closed relation on small numbers, stored as the predecessors of each.
#[derive(Clone, Debug, Default)]
pub struct Relation {
    bits: Vec<u64>,
    stride: usize,
    len: usize,
}

impl Relation {
    /// The empty relation on no elements.
    pub const fn new() -> Self {
        Relation { bits: Vec::new(), stride: 0, len: 0 }
    }

    /// How many elements there is room for at the moment: all numbers below this.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Words per row.
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Makes room for the elements `0..len`; new rows are empty.
    pub fn grow(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        let stride = len.div_ceil(64);
        if stride > self.stride {
            let mut bits = vec![0; stride * len];
            for row in 0..self.len {
                bits[row * stride..][..self.stride].copy_from_slice(&self.bits[row * self.stride..][..self.stride]);
            }
            self.bits = bits;
            self.stride = stride;
        } else {
            self.bits.resize(self.stride * len, 0);
        }
        self.len = len;
    }

    /// The predecessors of `b`.
    #[inline]
    pub fn row(&self, b: usize) -> &[u64] {
        &self.bits[b * self.stride..][..self.stride]
    }

    /// The predecessors of `b`, to be changed. Keeping the relation closed is the caller's business.
    #[inline]
    pub fn row_mut(&mut self, b: usize) -> &mut [u64] {
        &mut self.bits[b * self.stride..][..self.stride]
    }

    /// Whether `a` is before `b`.
    #[inline]
    pub fn before(&self, a: usize, b: usize) -> bool {
        self.bits[b * self.stride + a / 64] >> (a % 64) & 1 == 1
    }

    /// Adds `a` to the predecessors of `b`, without closing.
    #[inline]
    pub fn set(&mut self, a: usize, b: usize) {
        self.bits[b * self.stride + a / 64] |= 1 << (a % 64);
    }

    /// Makes `a` and all its predecessors predecessors of `b`. Nothing may be after `b`.
    #[inline]
    pub fn include(&mut self, a: usize, b: usize) {
        let (low, high) = (a.min(b) * self.stride, a.max(b) * self.stride);
        let (left, right) = self.bits.split_at_mut(high);
        let (left, right) = (&mut left[low..low + self.stride], &mut right[..self.stride]);
        let (from, to) = if a < b { (left, right) } else { (right, left) };
        // Most rows are one word long, too short for calls.
        to.iter_mut().enumerate().for_each(|(at, word)| *word |= from[at]);
        to[a / 64] |= 1 << (a % 64);
    }

    /// Adds the edge `a -> b` and all that follows from it. Returns whether it closes a cycle (and then changes nothing).
    pub fn add_edge(&mut self, a: usize, b: usize) -> bool {
        self.grow(a.max(b) + 1);
        if a == b || self.before(b, a) {
            return true;
        }
        if self.before(a, b) {
            return false;
        }
        let mut new = self.row(a).to_vec();
        new[a / 64] |= 1 << (a % 64);
        for element in 0..self.len {
            if element == b || self.before(b, element) {
                for (word, extra) in self.row_mut(element).iter_mut().zip(&new) {
                    *word |= extra;
                }
            }
        }
        false
    }

    /// Empties the row of `b`.
    pub fn clear_row(&mut self, b: usize) {
        self.row_mut(b).fill(0);
    }

    /// Makes this a copy of `other`, reusing the space.
    pub fn copy_from(&mut self, other: &Relation) {
        self.bits.clear();
        self.bits.extend_from_slice(&other.bits);
        self.stride = other.stride;
        self.len = other.len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The obviously right closure: Floyd and Warshall's.
    fn closure(n: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; n]; n];
        edges.iter().for_each(|&(a, b)| reach[a][b] = true);
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    reach[i][j] |= reach[i][k] && reach[k][j];
                }
            }
        }
        reach
    }

    fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
        let mut seen = BitSet::new();
        let mut todo = vec![from];
        while let Some(x) = todo.pop() {
            if !seen.contains(x) {
                seen.insert(x);
                todo.extend(edges.iter().filter(|e| e.0 == x).map(|e| e.1));
            }
        }
        seen.contains(to)
    }

    #[test]
    fn incremental_closure_equals_the_one_computed_at_once() {
        let mut numbers = raddle_testkit::Random::new(1);
        let mut random = |n| numbers.below(n);
        for _ in 0..60 {
            let n = 2 + random(80);
            let mut relation = Relation::new();
            let mut edges: Vec<(usize, usize)> = Vec::new();
            for _ in 0..random(2 * n) {
                let (a, b) = (random(n), random(n));
                let cyclic = reaches(&edges, b, a);
                assert_eq!(relation.add_edge(a, b), cyclic);
                if !cyclic {
                    edges.push((a, b));
                }
            }
            relation.grow(n);
            let expected = closure(n, &edges);
            for (a, row) in expected.iter().enumerate() {
                for (b, &before) in row.iter().enumerate() {
                    assert_eq!(relation.before(a, b), before);
                }
            }
        }
    }

    #[test]
    fn a_bit_set_lists_its_members_in_order() {
        let mut set: BitSet = [130, 3, 64, 63].into_iter().collect();
        set.remove(64);
        set.remove(1000);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 130]);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(4000));
    }
}
