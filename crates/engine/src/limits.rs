//! When to give up, and why it was.
//!
//! There is one [`Deadline`] per run, however often an engine starts over or hands on to another one: its clock starts when
//! the question is put. Whoever may take long asks it now and then, deep inside a single question too.

use crate::control::Control;
use crate::turn::Turn;
use raddle_trace::Place;
use std::fmt;
use std::time::{Duration, Instant};

/// When to give up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// After so many executions, of whatever end.
    pub executions: Option<u64>,
    /// After so much time.
    pub time: Option<Duration>,
    /// In an execution, after so many events; the rest of it is not explored. Default [`Limits::DEPTH`].
    pub depth: Option<usize>,
    /// When the process uses so many bytes.
    pub memory: Option<u64>,
    /// In a search that remembers states, after so many of them.
    pub states: Option<u64>,
}

impl Limits {
    /// The number of events of one execution that is taken for non-termination.
    pub const DEPTH: usize = 5_000;

    /// After so many executions that do not end, it is not worth while to look at more of them, unless somebody has said
    /// how deep to look.
    const ENDLESS: u64 = 4;

    /// After how many events an execution is cut off.
    pub fn depth(&self) -> usize {
        self.depth.unwrap_or(Self::DEPTH)
    }

    /// Whether so many executions that were cut off are enough.
    pub fn are_endless(&self, cut: u64) -> bool {
        cut >= Self::ENDLESS && self.depth.is_none()
    }
}

/// Why an exploration ended before everything was explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The time was up.
    Time(Duration),
    /// So many executions had ended.
    Executions(u64),
    /// The process used so many bytes.
    Memory(u64),
    /// A search had met so many states.
    States(u64),
    /// An execution did not end within so many events.
    Depth {
        /// The limit.
        events: usize,
        /// Where the busiest thread was.
        at: Place,
    },
    /// Executions do not end, and all were explored in which no loop turns more often than this.
    Endless {
        /// How often.
        turns: u32,
        /// Where the busiest thread was when an execution was cut off.
        at: Place,
    },
    /// Somebody asked for it.
    Interrupted,
    /// Another engine has answered.
    Dismissed,
    /// An unknown input has so many values that only a few of them were explored.
    Inputs {
        /// How many.
        values: u128,
        /// Where it is asked for.
        at: Place,
    },
    /// Executions ended at errors that are not looked for; what would have come behind them is not known.
    Disregarded {
        /// How many.
        executions: u64,
        /// At the first such error.
        at: Option<Place>,
    },
    /// All violations were asked for, and threads that made a race went no further.
    Races {
        /// How many executions ended so, or at another error.
        executions: u64,
    },
    /// Something that was never written was read, which is not looked for, and only the value 0 was explored.
    Unwritten {
        /// Where it was first read.
        at: Place,
    },
    /// Something could not be followed any further.
    GaveUp {
        /// What.
        why: String,
        /// Where.
        at: Place,
    },
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Time(Duration::ZERO) => f.write_str("the time limit of 0s was reached"),
            StopReason::Time(limit) => write!(f, "the time limit of {limit:?} was reached"),
            StopReason::Executions(limit) => write!(f, "the limit of {limit} executions was reached"),
            StopReason::Memory(limit) => write!(f, "the memory limit of {limit} bytes was reached"),
            StopReason::States(limit) => write!(f, "the limit of {limit} states was reached"),
            StopReason::Depth { events, at: Place { file, line, .. } } => write!(
                f,
                "an execution went on for more than {events} events, at {file}:{line}; \
                 bound its loops or raise the depth limit"
            ),
            StopReason::Endless { turns, at: Place { file, line, .. } } => write!(
                f,
                "executions do not end, at {file}:{line}; there is no violation with up to {turns} turns of each loop"
            ),
            StopReason::Interrupted => f.write_str("it was interrupted"),
            StopReason::Dismissed => f.write_str("another engine has answered"),
            StopReason::Inputs { values, at: Place { file, line, .. } } => {
                write!(f, "the unknown input at {file}:{line} can have {values} values, of which a few were explored")
            }
            StopReason::Disregarded { executions, at } => {
                match executions {
                    1 => f.write_str("1 execution ended at an error that is not looked for")?,
                    _ => write!(f, "{executions} executions ended at errors that are not looked for")?,
                }
                match at {
                    Some(Place { file, line, .. }) => write!(f, ", at {file}:{line}"),
                    None => Ok(()),
                }
            }
            StopReason::Races { executions } => write!(
                f,
                "a thread goes no further than its first data race, and {executions} ended at errors; --no race explores the rest"
            ),
            StopReason::Unwritten { at: Place { file, line, .. } } => {
                write!(f, "what is read at {file}:{line} was never written, and only the value 0 was explored")
            }
            StopReason::GaveUp { why, at: Place { file, line, .. } } => write!(f, "{file}:{line}: {why}"),
        }
    }
}

/// When a run must end.
#[derive(Clone, Debug)]
pub struct Deadline<'c> {
    control: &'c Control,
    limits: Limits,
    start: Instant,
    /// Whether it is this one's turn.
    turn: Option<&'c Turn>,
}

impl<'c> Deadline<'c> {
    /// A run with these limits begins now.
    pub fn new(limits: Limits, control: &'c Control) -> Self {
        Deadline { control, limits, start: Instant::now(), turn: None }
    }

    /// The same deadline for one of several who take turns, and who tells of its progress elsewhere.
    #[must_use]
    pub fn with_turn<'t>(&self, turn: &'t Turn, control: &'t Control) -> Deadline<'t> {
        Deadline { control, limits: self.limits, start: self.start, turn: Some(turn) }
    }

    /// Where progress is told and interrupts are heard.
    pub fn control(&self) -> &'c Control {
        self.control
    }

    /// How long the run has lasted.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// What was done since the last look was as much as others do in so many looks more. An engine whose steps cost more than those of another one says so.
    pub fn spend(&self, looks: u64) {
        if let Some(turn) = self.turn {
            turn.spend(looks);
        }
    }

    /// Why the run must end now, if it must, whatever it has counted.
    pub fn passed(&self) -> Option<StopReason> {
        if self.turn.is_some_and(|turn| !turn.look()) {
            return Some(StopReason::Dismissed);
        }
        self.control.wait();
        self.over()
    }

    /// The same, of a run that may rest: whoever looks on does not.
    pub fn over(&self) -> Option<StopReason> {
        if self.control.stopped() {
            return Some(StopReason::Interrupted);
        }
        if let Some(limit) = self.limits.time.filter(|&limit| self.start.elapsed() >= limit) {
            return Some(StopReason::Time(limit));
        }
        self.limits.memory.filter(|&limit| crate::memory::resident() >= limit).map(StopReason::Memory)
    }

    /// Why a search that has met so many states must end now, if it must.
    pub fn met(&self, states: u64) -> Option<StopReason> {
        let full = self.limits.states.filter(|&limit| states > limit).map(StopReason::States);
        if self.control.stopped() { Some(StopReason::Interrupted) } else { full.or_else(|| self.passed()) }
    }

    /// Why a run that has ended so many executions must end now, if it must.
    pub fn reached(&self, runs: u64) -> Option<StopReason> {
        let full = self.limits.executions.filter(|&limit| runs >= limit).map(StopReason::Executions);
        if self.control.stopped() { Some(StopReason::Interrupted) } else { full.or_else(|| self.passed()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_says_what_has_passed() {
        let control = Control::new();
        let none = Deadline::new(Limits::default(), &control);
        assert_eq!(none.reached(u64::MAX), None);
        let limits = Limits { executions: Some(3), memory: Some(1), ..Limits::default() };
        let some = Deadline::new(limits, &control);
        assert_eq!(some.reached(3), Some(StopReason::Executions(3)));
        let memory = cfg!(target_os = "linux").then_some(StopReason::Memory(1));
        assert_eq!(some.reached(2), memory);
        let few = Deadline::new(Limits { states: Some(7), ..Limits::default() }, &control);
        assert_eq!((few.met(7), few.met(8)), (None, Some(StopReason::States(7))));
        let late = Deadline::new(Limits { time: Some(Duration::ZERO), ..limits }, &control);
        assert_eq!(late.passed(), Some(StopReason::Time(Duration::ZERO)));
        control.stop();
        assert_eq!(late.reached(3), Some(StopReason::Interrupted), "whoever asked knows best");
    }

    #[test]
    fn who_rests_goes_on_when_it_may_and_ends_when_it_must() {
        let control = Control::new();
        let part = control.beside();
        let looks = std::sync::atomic::AtomicU64::new(0);
        let count = || looks.load(std::sync::atomic::Ordering::SeqCst);
        control.rest();
        let deadline = Deadline::new(Limits::default(), &part);
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                while deadline.passed().is_none() {
                    looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
            assert_eq!(count(), 0);
            control.go_on();
            while count() == 0 {
                std::thread::yield_now();
            }
            control.rest();
            control.stop();
            work.join().expect("it ends");
        });
    }

    #[test]
    fn the_clock_of_a_turn_is_that_of_its_run() {
        let (control, turn) = (Control::new(), Turn::new());
        let deadline = Deadline::new(Limits { time: Some(Duration::ZERO), ..Limits::default() }, &control);
        let beside = control.beside();
        let passed = std::thread::scope(|scope| {
            let worker = scope.spawn(|| turn.work(|| deadline.with_turn(&turn, &beside).passed()));
            assert!(!turn.give(1));
            worker.join().expect("it does not panic")
        });
        assert_eq!(passed, Some(StopReason::Time(Duration::ZERO)));
        control.stop();
        assert!(beside.stopped(), "whoever stops one stops the other");
    }
}
