//! Workers that share one search.
//!
//! A search is cut into parts that are values of their own. A worker takes a part, works on it, and gives parts of it away
//! when others have nothing to do. The search is over when no part is left and nobody works on one. A worker that panics
//! stops the others and is heard of: the panic goes on in whoever started the workers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a worker's stack may grow to. Some questions are answered by recursion over the events of an execution.
pub(crate) const STACK: usize = 256 << 20;

/// The parts that nobody works on, and who waits for them.
#[derive(Debug)]
pub(crate) struct Workers<T> {
    queue: Mutex<Queue<T>>,
    more: Condvar,
    idle: AtomicUsize,
    stop: AtomicBool,
    /// How often somebody has begun to wait.
    #[cfg(test)]
    waits: AtomicUsize,
}

#[derive(Debug)]
struct Queue<T> {
    parts: VecDeque<T>,
    busy: usize,
}

/// Somebody works on a part until this is dropped.
pub(crate) struct Busy<'w, T>(&'w Workers<T>);

impl<T> Drop for Busy<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
        self.0.queue().busy -= 1;
        self.0.more.notify_all();
    }
}

impl<T: Send> Workers<T> {
    /// Has so many workers share a search of which this is all.
    pub(crate) fn run(&self, whole: T, count: usize, work: impl Fn() + Sync) {
        self.queue().parts.push_back(whole);
        if count <= 1 {
            return work();
        }
        std::thread::scope(|scope| {
            for _ in 0..count {
                let worker = std::thread::Builder::new().stack_size(STACK);
                worker.spawn_scoped(scope, &work).expect("the system has room for a thread");
            }
        });
    }
}

impl<T> Default for Workers<T> {
    fn default() -> Self {
        Workers {
            queue: Mutex::new(Queue { parts: VecDeque::new(), busy: 0 }),
            more: Condvar::new(),
            idle: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            #[cfg(test)]
            waits: AtomicUsize::new(0),
        }
    }
}

impl<T> Workers<T> {
    /// The next part to work on; `None` when all is done.
    pub(crate) fn take(&self) -> Option<(T, Busy<'_, T>)> {
        self.take_until(|| false)
    }

    /// The same for somebody who waits for a part that others work on; `None` when that is done. It is done before its [`Busy`] is
    /// dropped.
    pub(crate) fn take_until(&self, done: impl Fn() -> bool) -> Option<(T, Busy<'_, T>)> {
        let mut queue = self.queue();
        loop {
            if self.stopped() || done() {
                return None;
            }
            if let Some(part) = queue.parts.pop_front() {
                queue.busy += 1;
                return Some((part, Busy(self)));
            }
            if queue.busy == 0 {
                self.more.notify_all();
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            #[cfg(test)]
            self.waits.fetch_add(1, Ordering::Relaxed);
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Works on what others have given away for as long as something is missing: `missing` says how to see that the next such thing is there.
    pub(crate) fn work_while<D: Fn() -> bool>(&self, missing: impl Fn() -> Option<D>, work: impl Fn(T)) {
        // Several parts may have been given away, and one that is there says nothing of the others.
        while !self.stopped()
            && let Some(done) = missing()
        {
            if let Some((part, _busy)) = self.take_until(done) {
                work(part);
            }
        }
    }

    /// Gives a part to somebody who waits for one, if anybody does.
    pub(crate) fn share(&self, part: impl FnOnce() -> Option<T>) {
        if self.idle.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut queue = self.queue();
        if queue.parts.len() < self.idle.load(Ordering::Relaxed)
            && let Some(part) = part()
        {
            queue.parts.push_back(part);
            self.more.notify_one();
        }
    }

    /// Ends the search as soon as may be.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Whoever is about to wait has looked before it took the lock, or waits and hears this.
        drop(self.queue());
        self.more.notify_all();
    }

    /// Whether it is to end.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What is behind the lock is whole after every statement, so a panic leaves nothing half done.
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU64;

    /// Adds up a range by halving it.
    fn sum(workers: &Workers<std::ops::Range<u64>>, total: &AtomicU64, panics_at: u64) {
        while let Some((mut part, _busy)) = workers.take() {
            while let Some(number) = part.next() {
                assert_ne!(number, panics_at, "told to");
                total.fetch_add(number, Ordering::Relaxed);
                workers.share(|| {
                    let half = part.start + (part.end - part.start) / 2;
                    let rest = half..part.end;
                    part.end = half;
                    (!rest.is_empty()).then_some(rest)
                });
            }
        }
    }

    #[test]
    fn every_part_is_worked_on_once_by_any_number_of_workers() {
        for count in [1, 2, 5] {
            let (workers, total) = (Workers::default(), AtomicU64::new(0));
            workers.run(0..10_000, count, || sum(&workers, &total, u64::MAX));
            assert_eq!(total.into_inner(), 10_000 * 9_999 / 2);
        }
    }

    /// Of two parts that a worker has given away the first is there when it looks, and the second not before it has looked again.
    #[test]
    fn a_worker_waits_for_every_part_it_has_given_away() {
        let workers = Workers::<usize>::default();
        let there = [AtomicBool::new(false), AtomicBool::new(false)];
        let is_there = |part: usize| there[part].load(Ordering::Relaxed);
        let waits = || workers.waits.load(Ordering::Relaxed);
        workers.queue().parts.extend([0, 1]);
        let parts = [workers.take(), workers.take()].map(|taken| taken.expect("it was put there"));
        std::thread::scope(|scope| {
            let giver = scope.spawn(|| {
                let missing = || (0..2).find(|&part| !is_there(part)).map(|part| move || is_there(part));
                workers.work_while(missing, |part| panic!("nobody gave part {part} away"));
                [0, 1].map(is_there)
            });
            // If the giver does not wait it has gone on, and says what was there then.
            let sleeps = |before: usize| while waits() == before && !giver.is_finished() {};
            sleeps(0);
            for (part, busy) in parts {
                let before = {
                    let _queue = workers.queue();
                    there[part].store(true, Ordering::Relaxed);
                    waits()
                };
                drop(busy);
                if part == 0 {
                    sleeps(before);
                }
            }
            assert_eq!(giver.join().expect("it does not panic"), [true, true]);
        });
    }

    #[test]
    fn a_panic_of_one_worker_ends_the_search_and_is_passed_on() {
        for count in [1, 2, 5] {
            let (workers, total) = (Workers::default(), AtomicU64::new(0));
            let run = catch_unwind(AssertUnwindSafe(|| workers.run(0..1_000, count, || sum(&workers, &total, 700))));
            assert!(run.is_err(), "{count} workers");
        }
    }
}
