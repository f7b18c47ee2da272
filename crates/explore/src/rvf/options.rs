//! Switches of the engine `rvf`.

use crate::rules::Follows;
use raddle_consistency::values::Heuristics;
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
    /// The rule that is left out.
    #[cfg(test)]
    pub(super) without: Option<Rule>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            closure: true,
            greedy: true,
            guidance: true,
            signals: true,
            by_source: false,
            #[cfg(test)]
            without: None,
        }
    }
}

/// What we do beyond the published method, which loses executions without any of it. Tests take one out to show that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A pending compare-exchange is a signal to every update before it on the location, not only to compare-exchanges.
    UpdatesHideUpdates,
    /// A pending lock is a signal to every lock of the mutex, which may never be released.
    LocksHideLocks,
    /// What an update writes is a signal like any other write.
    UpdatesSignal,
}

impl Settings {
    /// How questions are answered.
    pub(super) fn heuristics(&self) -> Heuristics {
        let Settings { closure, greedy, guidance, .. } = *self;
        Heuristics { closure, greedy, guidance }
    }
}

impl Follows<Rule> for Settings {
    #[cfg(test)]
    fn without(&self) -> Option<Rule> {
        self.without
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
            #[cfg(test)]
            without: None,
        }
    }
}
