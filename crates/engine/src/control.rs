//! Stopping an exploration from outside, letting it rest, and watching it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Shared between an exploration and whoever watches it.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    rest: Arc<Rest>,
    executions: AtomicU64,
    blocked: AtomicU64,
    share: AtomicU64,
}

/// Whether an exploration is to wait where it is.
#[derive(Debug, Default)]
struct Rest {
    rests: AtomicBool,
    looks: AtomicU64,
    changing: Mutex<()>,
    goes_on: Condvar,
}

/// How far an exploration has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Complete executions.
    pub executions: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// Share of the search tree, between 0 and 1.
    pub share: f64,
}

impl Control {
    /// A control nobody has touched.
    pub fn new() -> Self {
        Control::default()
    }

    /// Another control for a part of the same: it is stopped and rests when this one is and does, and counts for itself.
    #[must_use]
    pub fn beside(&self) -> Self {
        Control { stop: Arc::clone(&self.stop), rest: Arc::clone(&self.rest), ..Control::default() }
    }

    /// Tells what another one has counted as what has been done.
    pub fn tell(&self, other: &Control) {
        for (count, other) in self.counts().into_iter().zip(other.counts()) {
            count.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Asks the exploration to end soon. What it has found until then is reported.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.go_on();
    }

    /// From its next look at the [deadline](crate::Deadline) on the exploration waits, and keeps what it has done, until it may go on or is to end. Its time goes on.
    pub fn rest(&self) {
        self.rest.rests.store(true, Ordering::Relaxed);
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        let _changing = self.rest.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.rest.rests.store(false, Ordering::Relaxed);
        self.rest.goes_on.notify_all();
    }

    /// How often the exploration and its parts have looked at the deadline: how much it has done, on whatever machine.
    pub fn looks(&self) -> u64 {
        self.rest.looks.load(Ordering::Relaxed)
    }

    /// Whether it is to rest.
    pub fn rests(&self) -> bool {
        self.rest.rests.load(Ordering::Relaxed)
    }

    /// Waits as long as it is to rest.
    pub(crate) fn wait(&self) {
        self.rest.looks.fetch_add(1, Ordering::Relaxed);
        if !self.rest.rests.load(Ordering::Relaxed) {
            return;
        }
        let mut changing = self.rest.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while self.rest.rests.load(Ordering::Relaxed) {
            changing = self.rest.goes_on.wait(changing).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether it was asked to.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        Progress {
            executions: self.executions.load(Ordering::Relaxed),
            blocked: self.blocked.load(Ordering::Relaxed),
            share: self.share.load(Ordering::Relaxed) as f64 / SHARE,
        }
    }

    /// Forgets what has been done: the exploration starts over in another way.
    pub fn restart(&self) {
        for count in self.counts() {
            count.store(0, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> [&AtomicU64; 3] {
        [&self.executions, &self.blocked, &self.share]
    }

    /// Adds to what has been done.
    pub fn advance(&self, executions: u64, blocked: u64, share: f64) {
        self.executions.fetch_add(executions, Ordering::Relaxed);
        self.blocked.fetch_add(blocked, Ordering::Relaxed);
        self.share.fetch_add((share * SHARE) as u64, Ordering::Relaxed);
    }
}

/// The whole search tree, in the units the share is counted in.
const SHARE: f64 = (1u64 << 52) as f64;
