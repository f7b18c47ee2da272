//! Relations on few events, as matrices of bits, and the operators of which axioms are made.

/// A relation on `0..size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    size: usize,
    /// How many words a row has.
    width: usize,
    words: Vec<u64>,
}

impl Matrix {
    /// The empty relation.
    #[must_use]
    pub fn empty(size: usize) -> Self {
        let width = size.div_ceil(64);
        Matrix { size, width, words: vec![0; size * width] }
    }

    /// The pairs of which this is true.
    pub fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut matrix = Matrix::empty(size);
        for a in 0..size {
            (0..size).filter(|&b| holds(a, b)).for_each(|b| matrix.add(a, b));
        }
        matrix
    }

    /// The identity on the events of which this is true: `[set]`.
    pub fn on(size: usize, is_in: impl Fn(usize) -> bool) -> Self {
        let mut matrix = Matrix::empty(size);
        (0..size).filter(|&a| is_in(a)).for_each(|a| matrix.add(a, a));
        matrix
    }

    /// How many events it is about.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds a pair.
    pub fn add(&mut self, a: usize, b: usize) {
        self.words[a * self.width + b / 64] |= 1 << (b % 64);
    }

    /// Whether the pair is in it.
    pub fn has(&self, a: usize, b: usize) -> bool {
        self.words[a * self.width + b / 64] >> (b % 64) & 1 == 1
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.words[a * self.width..][..self.width]
    }

    /// `self ∪ other`.
    pub fn or(&self, other: &Matrix) -> Matrix {
        let words = self.words.iter().zip(&other.words).map(|(mine, theirs)| mine | theirs).collect();
        Matrix { words, ..*self }
    }

    /// What is behind this one.
    fn successors(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        let bits = |(at, &word): (usize, &u64)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(at * 64 + bit)
            })
        };
        self.row(a).iter().enumerate().flat_map(bits)
    }

    /// `self ; other`.
    pub fn then(&self, other: &Matrix) -> Matrix {
        let mut result = Matrix::empty(self.size);
        for a in 0..self.size {
            let row = &mut result.words[a * self.width..][..self.width];
            for b in self.successors(a) {
                row.iter_mut().zip(other.row(b)).for_each(|(word, more)| *word |= more);
            }
        }
        result
    }

    /// `self?`: or the same.
    pub fn or_same(&self) -> Matrix {
        self.or(&Matrix::on(self.size, |_| true))
    }

    /// `self⁺`: one step or more.
    pub fn closure(&self) -> Matrix {
        let mut result = self.clone();
        for via in 0..self.size {
            let row = result.row(via).to_vec();
            for a in (0..self.size).filter(|&a| a != via) {
                if result.has(a, via) {
                    for (word, more) in result.words[a * self.width..][..self.width].iter_mut().zip(&row) {
                        *word |= more;
                    }
                }
            }
        }
        result
    }

    /// Those of the pairs of which this is true.
    pub fn filter(&self, holds: impl Fn(usize, usize) -> bool) -> Matrix {
        let mut result = Matrix::empty(self.size);
        for a in 0..self.size {
            self.successors(a).filter(|&b| holds(a, b)).for_each(|b| result.add(a, b));
        }
        result
    }

    /// Whether nothing is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|a| !self.has(a, a))
    }

    /// Whether it has no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }

    /// Whether the two have no pair in common.
    pub fn is_disjoint(&self, other: &Matrix) -> bool {
        self.words.iter().zip(&other.words).all(|(mine, theirs)| mine & theirs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators() {
        let chain = Matrix::of(70, |a, b| a + 1 == b);
        assert!(chain.is_acyclic() && chain.is_irreflexive());
        assert!(chain.closure().has(0, 69) && !chain.closure().has(69, 0));
        assert!(chain.then(&chain).has(3, 5) && !chain.then(&chain).has(3, 4));
        assert!(chain.or_same().has(3, 3));
        let back = Matrix::of(70, |a, b| (a, b) == (69, 1));
        assert!(!chain.or(&back).is_acyclic());
        assert!(chain.is_disjoint(&back) && !chain.closure().is_disjoint(&chain));
        assert!(chain.filter(|a, _| a == 2).has(2, 3) && !chain.filter(|a, _| a == 2).has(3, 4));
    }
}
