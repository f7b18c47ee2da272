//! Random numbers of a seed.

/// A generator of random numbers: the same seed gives the same numbers, so a test that fails fails again.
#[derive(Clone, Debug)]
pub struct Random(fastrand::Rng);

impl Random {
    /// The numbers that belong to this seed.
    pub fn new(seed: u64) -> Self {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    /// The same for numbers that name something.
    pub fn below_u32(&mut self, n: u32) -> u32 {
        self.0.u32(..n)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        self.0.usize(low..=high)
    }

    /// True in so many cases of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// True in one of so many cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these, of which there is at least one.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 20].map(|()| random.number())
        };
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(numbers(3), numbers(4));
        assert_ne!(numbers(0), numbers(1));
    }

    #[test]
    fn every_number_in_the_range_is_met_and_no_other() {
        let mut random = Random::new(1);
        let mut met = [0; 7];
        for _ in 0..700 {
            met[random.between(2, 6)] += 1;
        }
        assert!(met[..2] == [0, 0] && met[2..].iter().all(|&count| count > 50), "{met:?}");
        assert!((0..1000).filter(|_| random.chance(20)).count() < 300);
        assert!((0..1000).filter(|_| random.one_in(5)).count() > 100);
    }
}
