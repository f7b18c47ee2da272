//! Somebody who looks at the clock while a solver runs.

use raddle_engine::Deadline;
use raddle_solve::Stop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Works with a [`Stop`] that is raised when the deadline has passed, and at which solvers rest as long as the run is to.
pub(crate) fn watched<T>(deadline: &Deadline<'_>, work: impl FnOnce(&Stop) -> T) -> T {
    let (stop, over) = (Stop::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // CaDiCaL runs for long; somebody else looks at the clock.
        let clock = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if deadline.control().rests() {
                    stop.rest();
                } else {
                    stop.go_on();
                }
                if deadline.over().is_some() {
                    stop.raise();
                }
                std::thread::park_timeout(Duration::from_millis(10));
            }
        });
        let _over = Over { over: &over, clock: clock.thread().clone() };
        work(&stop)
    })
}

/// Tells who looks at the clock that the work is over, however it ended.
struct Over<'r> {
    over: &'r AtomicBool,
    clock: std::thread::Thread,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.clock.unpark();
    }
}
