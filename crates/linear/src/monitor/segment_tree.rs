//! An array of counters with "add to a range" and "leftmost zero of a range".
//!
//! A node holds the minimum of its range, counting everything added inside its subtree; what was added to the whole
//! range of a node stays at the node and is never pushed down. Counters must not become negative, so a minimum of zero means that a
//! zero is there. Cost: building is linear, each operation logarithmic.

/// The counters.
pub struct Coverage {
    leaves: usize,
    least: Vec<i32>,
    added: Vec<i32>,
}

impl Coverage {
    /// Counters with these values.
    pub fn new(counts: &[i32]) -> Coverage {
        let leaves = counts.len().next_power_of_two().max(1);
        let mut least = vec![i32::MAX / 2; 2 * leaves];
        least[leaves..leaves + counts.len()].copy_from_slice(counts);
        for node in (1..leaves).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Coverage { leaves, least, added: vec![0; leaves] }
    }

    /// Adds `amount` to the counters `from..to`.
    pub fn add(&mut self, from: usize, to: usize, amount: i32) {
        if from >= to {
            return;
        }
        let (mut left, mut right) = (from + self.leaves, to + self.leaves);
        let (first, last) = (left, right - 1);
        while left < right {
            if left & 1 == 1 {
                self.apply(left, amount);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.apply(right, amount);
            }
            left >>= 1;
            right >>= 1;
        }
        self.rebuild(first);
        self.rebuild(last);
    }

    fn apply(&mut self, node: usize, amount: i32) {
        self.least[node] += amount;
        if node < self.leaves {
            self.added[node] += amount;
        }
    }

    fn rebuild(&mut self, leaf: usize) {
        let mut node = leaf >> 1;
        while node >= 1 {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
            node >>= 1;
        }
    }

    /// The position of the leftmost zero in `from..to`.
    pub fn leftmost_zero(&self, from: usize, to: usize) -> Option<usize> {
        if from >= to {
            return None;
        }
        self.search(1, 0, self.leaves, from, to, 0)
    }

    fn search(&self, node: usize, low: usize, high: usize, from: usize, to: usize, above: i32) -> Option<usize> {
        if high <= from || to <= low || self.least[node] + above > 0 {
            return None;
        }
        if node >= self.leaves {
            return Some(low);
        }
        let (middle, above) = ((low + high) / 2, above + self.added[node]);
        self.search(2 * node, low, middle, from, to, above)
            .or_else(|| self.search(2 * node + 1, middle, high, from, to, above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_array() {
        let mut numbers = raddle_testkit::Random::new(7);
        let mut random = |bound| numbers.below(bound);
        for _ in 0..200 {
            let length = 1 + random(20);
            let mut plain = vec![0; length];
            let mut tree = Coverage::new(&plain);
            let mut ranges = Vec::new();
            for _ in 0..30 {
                let (a, b) = (random(length + 1), random(length + 1));
                let (from, to) = (a.min(b), a.max(b));
                if random(2) == 0 {
                    ranges.push((from, to));
                    tree.add(from, to, 1);
                    plain[from..to].iter_mut().for_each(|count| *count += 1);
                } else if let Some((from, to)) = ranges.pop() {
                    tree.add(from, to, -1);
                    plain[from..to].iter_mut().for_each(|count| *count -= 1);
                }
                let expected = (from..to).find(|&at| plain[at] == 0);
                assert_eq!(tree.leftmost_zero(from, to), expected);
            }
        }
    }
}
