//! Sets of values of one type, as ranges.

use crate::types::Type;

/// A set of values of a type: ranges of numbers without a sign, ascending, with gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    ranges: Vec<(u64, u64)>,
}

impl Values {
    pub(super) fn none() -> Values {
        Values { ranges: Vec::new() }
    }

    pub(super) fn all(ty: Type) -> Values {
        Values { ranges: vec![(0, ty.mask())] }
    }

    pub(super) fn one(value: u64) -> Values {
        Values { ranges: vec![(value, value)] }
    }

    /// From the first to the second, in the order of numbers without a sign; nothing if there are none.
    pub(super) fn range(low: u64, high: u64) -> Values {
        Values { ranges: if low <= high { vec![(low, high)] } else { Vec::new() } }
    }

    /// From the first to the second, in the order of numbers with a sign.
    pub(super) fn signed_range(ty: Type, low: i64, high: i64) -> Values {
        if low > high {
            return Values::none();
        }
        let (low_bits, high_bits) = (ty.truncate(low as u64), ty.truncate(high as u64));
        if low < 0 && high >= 0 {
            return Values::range(0, high_bits).union(&Values::range(low_bits, ty.mask()));
        }
        Values::range(low_bits, high_bits)
    }

    pub(super) fn from_ranges(mut ranges: Vec<(u64, u64)>) -> Values {
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if last.1 == u64::MAX || low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Values { ranges: merged }
    }

    pub(super) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn count(&self) -> u128 {
        self.ranges.iter().map(|&(low, high)| u128::from(high - low) + 1).sum()
    }

    pub(super) fn union(&self, other: &Values) -> Values {
        Values::from_ranges(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    pub(super) fn intersection(&self, other: &Values) -> Values {
        let pairs = self.ranges.iter().flat_map(|a| other.ranges.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
        Values::from_ranges(pairs.filter(|(low, high)| low <= high).collect())
    }

    /// The values of the type that are not in the set.
    pub(super) fn complement(&self, ty: Type) -> Values {
        let mut ranges = Vec::new();
        let mut next = Some(0);
        for &(low, high) in &self.ranges {
            if let Some(start) = next.filter(|&start| start < low) {
                ranges.push((start, low - 1));
            }
            next = high.checked_add(1);
        }
        ranges.extend(next.filter(|&start| start <= ty.mask()).map(|start| (start, ty.mask())));
        Values { ranges }
    }

    /// Each value with `by` added to it, in the arithmetic of the type.
    pub(super) fn shifted(&self, ty: Type, by: u64) -> Values {
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            let (a, b) = (ty.truncate(low.wrapping_add(by)), ty.truncate(high.wrapping_add(by)));
            if a <= b {
                ranges.push((a, b));
            } else {
                ranges.extend([(0, b), (a, ty.mask())]);
            }
        }
        Values::from_ranges(ranges)
    }

    /// The complement of each value's bits.
    pub(super) fn inverted(&self, ty: Type) -> Values {
        Values::from_ranges(self.ranges.iter().map(|&(low, high)| (ty.mask() - high, ty.mask() - low)).collect())
    }

    /// So many values at most, those nearest to zero first and of two as near the positive one.
    pub(super) fn nearest(&self, ty: Type, signed: bool, most: u64) -> Values {
        let mut left = most;
        let mut ranges = Vec::new();
        // Numbers with a sign whose highest bit is set are counted from the other end.
        let half = if signed { ty.mask() >> 1 } else { ty.mask() };
        for &(low, high) in &self.intersection(&Values::range(0, half)).ranges {
            if left > 0 {
                let taken = (high - low).min(left - 1);
                ranges.push((low, low + taken));
                left -= taken + 1;
            }
        }
        let negative = if signed { Values::range(half + 1, ty.mask()) } else { Values::none() };
        for &(low, high) in self.intersection(&negative).ranges.iter().rev() {
            if left > 0 {
                let taken = (high - low).min(left - 1);
                ranges.push((high - taken, high));
                left -= taken + 1;
            }
        }
        Values::from_ranges(ranges)
    }

    /// The ranges in the order in which people count: what is not negative first.
    pub(super) fn listed(&self, ty: Type, signed: bool) -> Vec<(u64, u64)> {
        let half = if signed { ty.mask() >> 1 } else { ty.mask() };
        let positive = self.intersection(&Values::range(0, half));
        let negative = if signed { self.intersection(&Values::range(half + 1, ty.mask())) } else { Values::none() };
        [positive.ranges, negative.ranges].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of values of a type of few bits, by its members.
    fn members(values: &Values) -> Vec<u64> {
        (0..=255).filter(|v| values.ranges.iter().any(|r| (r.0..=r.1).contains(v))).collect()
    }

    #[test]
    fn sets_are_what_their_members_are() {
        let ty = Type::I8;
        let a = Values::from_ranges(vec![(200, 255), (0, 3), (4, 9), (100, 101)]);
        let b = Values::signed_range(ty, -3, 100);
        assert_eq!(a.ranges, [(0, 9), (100, 101), (200, 255)]);
        let in_both = |v: &u64| members(&a).contains(v) && members(&b).contains(v);
        assert_eq!(members(&a.intersection(&b)), (0..=255).filter(in_both).collect::<Vec<_>>());
        assert_eq!(a.count(), members(&a).len() as u128);
        assert_eq!(members(&a.complement(ty)).len(), 256 - members(&a).len());
        assert_eq!(a.complement(ty).union(&a), Values::all(ty));
        let mut moved: Vec<u64> = members(&a).iter().map(|v| (v + 77) % 256).collect();
        moved.sort_unstable();
        assert_eq!(members(&a.shifted(ty, 77)), moved);
        let mut inverted: Vec<u64> = members(&a).iter().map(|v| 255 - v).collect();
        inverted.sort_unstable();
        assert_eq!(members(&a.inverted(ty)), inverted);
        assert_eq!(Values::all(Type::I64).count(), 1 << 64);
        assert_eq!(Values::all(Type::I64).complement(Type::I64), Values::none());
    }

    #[test]
    fn the_nearest_values_are_few_and_positive_first() {
        let near = |low, high, most| Values::signed_range(Type::I8, low, high).nearest(Type::I8, true, most);
        assert_eq!(near(-128, 127, 4), Values::range(0, 3));
        assert_eq!(near(-2, 1, 4), Values::signed_range(Type::I8, -2, 1));
        assert_eq!(near(-50, -2, 2), Values::signed_range(Type::I8, -3, -2));
        assert_eq!(near(7, 100, 2), Values::range(7, 8));
        assert_eq!(Values::range(200, 255).nearest(Type::I8, false, 1), Values::one(200));
    }
}
