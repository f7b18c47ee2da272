//! Being told to stop in the middle of a question.
//!
//! The questions of this crate are NP-hard, so a single one may take longer than anybody wants to wait. Whoever asks brings an
//! [`Interrupt`]; searches keep a [`Watch`] on it and give up with [`Interrupted`] when it is due. That is no answer.

use std::fmt;

/// Says whether it is time to stop.
pub trait Interrupt {
    /// Whether it is. Asked now and then; once it is due it stays so.
    fn is_due(&self) -> bool;
}

impl fmt::Debug for dyn Interrupt + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

/// Lets every search come to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Never;

impl Interrupt for Never {
    fn is_due(&self) -> bool {
        false
    }
}

/// A search was told to stop before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was told to stop")]
pub struct Interrupted;

/// Asks an [`Interrupt`] every so many steps.
#[derive(Clone, Copy)]
pub struct Watch<'i> {
    interrupt: &'i dyn Interrupt,
    every: u32,
    left: u32,
}

impl<'i> Watch<'i> {
    /// Every so many-th step asks.
    pub fn new(interrupt: &'i dyn Interrupt, every: u32) -> Self {
        Watch { interrupt, every, left: every }
    }

    /// One more step is to be done.
    ///
    /// # Errors
    /// If it is time to stop.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        if self.left > 1 {
            self.left -= 1;
            return Ok(());
        }
        self.left = self.every;
        if self.interrupt.is_due() { Err(Interrupted) } else { Ok(()) }
    }
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({} of {} steps left)", self.left, self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Due when it has been asked so often.
    struct After(Cell<u32>);

    impl Interrupt for After {
        fn is_due(&self) -> bool {
            self.0.set(self.0.get().saturating_sub(1));
            self.0.get() == 0
        }
    }

    #[test]
    fn every_so_many_steps_it_is_asked() {
        let after = After(Cell::new(3));
        let mut watch = Watch::new(&after, 5);
        let steps = (0..100).take_while(|_| watch.step().is_ok()).count();
        assert_eq!(steps, 14, "the fifteenth step asks for the third time");
    }
}
