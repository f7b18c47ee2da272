//! Switches of the engine `rvf`.

use raddle_engine::{Switch, Switches};

/// How the engine `rvf` works. What is on by default makes it faster; nothing but [`by_source`](Self::by_source) changes what is
/// explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Compute the closure of an instance before it is searched.
    pub closure: bool,
    /// Execute reads, and writes that nobody needs, without alternative.
    pub greedy: bool,
    /// Use the sequence at hand: as the solution if it is one, else as the order in which a search goes.
    pub guidance: bool,
    /// Leave out reads that need not be tried, by backtrack signals.
    pub signals: bool,
    /// Tell writes of the same value apart: explores exactly one execution per class of events and reads-from.
    pub by_source: bool,
    /// What we do beyond the published method because it loses executions without.
    pub corrections: Corrections,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            closure: true,
            greedy: true,
            guidance: true,
            signals: true,
            by_source: false,
            corrections: Corrections::default(),
        }
    }
}

/// Corrections of the published method. Without any of them executions are lost; they can be taken out only to show that,
/// and no command line reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrections {
    /// A pending compare-exchange is a signal to every update before it on the location, not only to compare-exchanges.
    pub updates_hide_updates: bool,
    /// A pending lock is a signal to every lock of the mutex, which may never be released.
    pub locks_hide_locks: bool,
    /// What an update writes is a signal like any other write.
    pub updates_signal: bool,
    /// Updates are not executed greedily.
    pub updates_are_not_greedy: bool,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections {
            updates_hide_updates: true,
            locks_hide_locks: true,
            updates_signal: true,
            updates_are_not_greedy: true,
        }
    }
}

const CLOSURE: Switch = Switch::on_off("closure", true, "compute the closure of a question before it is searched");
const GREEDY: Switch =
    Switch::on_off("greedy", true, "execute reads, and writes that nobody needs, without alternative");
const GUIDANCE: Switch = Switch::on_off("guidance", true, "let the sequence at hand guide the search for the next");
const SIGNALS: Switch = Switch::on_off("signals", true, "leave out reads that need not be tried");
const CLASSES: Switch = Switch::words("classes", &["values", "sources"], "what makes classes");

/// The switches of the engine.
pub(super) const SWITCHES: &[Switch] = &[CLOSURE, GREEDY, GUIDANCE, SIGNALS, CLASSES];

impl From<&Switches> for Settings {
    fn from(switches: &Switches) -> Self {
        Settings {
            closure: switches.is_on(&CLOSURE),
            greedy: switches.is_on(&GREEDY),
            guidance: switches.is_on(&GUIDANCE),
            signals: switches.is_on(&SIGNALS),
            by_source: switches.get(&CLASSES) == "sources",
            corrections: Corrections::default(),
        }
    }
}
