//! What the tests of all crates share, and the product does not need.
//!
//! * [`Random`]: numbers that look random and are the same every time.
//! * [`damaged`]: inputs as a broken editor, a bad merge or an attacker leaves them.
//! * [`Scratch`]: a folder that is gone after the test.
//! * [`setting`]: how much a test does, from the environment.
//! * [`numbers`]: the seeds of a sweep, which may be done in parts.

mod damage;
mod random;
mod scratch;

pub use damage::damaged;
pub use random::Random;
pub use scratch::Scratch;

/// The number in an environment variable, or this one if it is not set.
///
/// # Panics
/// If it is set to something else than a number: a sweep that was asked for must not shrink to a sample in silence.
pub fn setting(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("the environment variable {variable} is no number: `{text}`"))
    })
}

/// So many numbers, from `RADDLE_FROM` on or from 0: a sweep may be done in parts, which may run beside each other.
pub fn numbers(many: u64) -> std::ops::Range<u64> {
    let from = setting("RADDLE_FROM", 0);
    from..from.saturating_add(many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_not_there_is_the_default() {
        assert_eq!(setting("RADDLE_NOBODY_SETS_THIS", 7), 7);
    }
}
