//! Several engines on one question, one at a time.
//!
//! Each runs on a thread of its own and works only while it has its turn. A turn is a number of looks at the [deadline](crate::Deadline): an engine looks
//! regularly however it works, so it needs to know nothing of turns, keeps all that it has done while others have theirs, and what happens does not depend
//! on how fast the machine is. Who has the next turn, and how long, is decided by whoever made them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Whether an engine may work.
#[derive(Debug, Default)]
pub struct Turn {
    left: AtomicI64,
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// It waits for its turn.
    #[default]
    Waits,
    /// It has its turn.
    Works,
    /// It is not needed any more.
    Dismissed,
    /// It has come to its end.
    Ended,
}

impl Turn {
    /// It waits.
    pub fn new() -> Self {
        Turn::default()
    }

    /// Gives a turn of so many looks at the deadline, and waits until it is over. Returns whether there is more to do.
    pub fn give(&self, looks: u64) -> bool {
        let mut stage = self.stage();
        if *stage == Stage::Waits {
            self.left.store(i64::try_from(looks).unwrap_or(i64::MAX), Ordering::Relaxed);
            *stage = Stage::Works;
            self.changed.notify_all();
        }
        while *stage == Stage::Works {
            stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
        *stage == Stage::Waits
    }

    /// It is to end as soon as may be.
    pub fn dismiss(&self) {
        let mut stage = self.stage();
        if *stage != Stage::Ended {
            *stage = Stage::Dismissed;
            self.left.store(0, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    /// Waits for the first turn, and does the work. Whoever gives turns hears of the end, be it a panic.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        struct End<'t>(&'t Turn);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                *self.0.stage() = Stage::Ended;
                self.0.changed.notify_all();
            }
        }
        let _end = End(self);
        self.wait();
        work()
    }

    /// Counts as so many looks more.
    pub(crate) fn spend(&self, looks: u64) {
        self.left.fetch_sub(i64::try_from(looks).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// A look at the deadline: waits for the next turn if this one is over. Returns whether to go on.
    pub(crate) fn look(&self) -> bool {
        if self.left.fetch_sub(1, Ordering::Relaxed) > 0 {
            return true;
        }
        let mut stage = self.stage();
        // Of several workers, one may have waited here while another one used up the turn that came after.
        if *stage == Stage::Works && self.left.load(Ordering::Relaxed) <= 0 {
            *stage = Stage::Waits;
            self.changed.notify_all();
        }
        drop(stage);
        let goes_on = self.wait();
        self.left.fetch_sub(1, Ordering::Relaxed);
        goes_on
    }

    /// Waits for a turn. Returns whether there will be one.
    fn wait(&self) -> bool {
        let mut stage = self.stage();
        while *stage == Stage::Waits {
            stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
        *stage == Stage::Works
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    #[test]
    fn who_has_no_turn_does_nothing_and_goes_on_where_it_was() {
        let (turn, done) = (Turn::new(), AtomicU64::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                turn.work(|| {
                    while done.load(Ordering::Relaxed) < 25 && turn.look() {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            });
            assert_eq!(done.load(Ordering::Relaxed), 0);
            assert!(turn.give(10));
            assert_eq!(done.load(Ordering::Relaxed), 10);
            assert!(turn.give(10));
            assert_eq!(done.load(Ordering::Relaxed), 20);
            assert!(!turn.give(10), "it comes to its end");
            assert_eq!(done.load(Ordering::Relaxed), 25);
            assert!(!turn.give(10), "and stays there");
        });
    }

    #[test]
    fn who_is_dismissed_is_told_at_its_next_look() {
        let (turn, done) = (Turn::new(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while turn.wait() && turn.look() && done.fetch_add(1, Ordering::Relaxed) < u64::MAX {});
            }
            assert!(turn.give(1_000));
            turn.dismiss();
            assert!(!turn.give(1_000));
        });
        assert!(done.into_inner() >= 1_000);
    }

    #[test]
    fn a_panic_ends_a_turn() {
        let turn = Turn::new();
        let ended = thread::scope(|scope| {
            let worker = scope.spawn(|| turn.work(|| assert!(!turn.look(), "told to")));
            assert!(!turn.give(5));
            worker.join()
        });
        assert!(ended.is_err());
    }
}
