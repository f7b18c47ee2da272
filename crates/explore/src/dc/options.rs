//! Switches of the engine `dc`.

use crate::rules::Follows;
use raddle_engine::{Switch, Switches};

/// How the engine `dc` works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Annotate the causal past of a read with it (burst mutations, as corrected): fewer steps, and some executions twice.
    pub burst: bool,
    /// On communication graphs with cycles, tell the orders of writes apart that the published method fixes, instead of
    /// looking for any one of them: more executions, each found in polynomial time.
    pub refine: bool,
    /// Leave out reads that need not be tried, by backtrack signals. Not with bursts.
    pub signals: bool,
    /// Take the threads in the opposite order. What is explored is the same.
    pub backwards: bool,
    /// The rule that is left out.
    #[cfg(test)]
    pub(super) without: Option<Rule>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            burst: false,
            refine: false,
            signals: true,
            backwards: false,
            #[cfg(test)]
            without: None,
        }
    }
}

/// What we do beyond the published method, which loses executions without any of it. Tests take one out to show that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A lock that its thread waits at is a read that can be changed.
    PendingLocks,
    /// A burst forbids what it has annotated, not the changed read alone.
    ForbidBursts,
}

impl Follows<Rule> for Settings {
    #[cfg(test)]
    fn without(&self) -> Option<Rule> {
        self.without
    }
}

const BURST: Switch =
    Switch::on_off("burst", false, "annotate the causal past of a read with it: fewer steps, some executions twice");
const REFINE: Switch =
    Switch::on_off("refine", false, "tell orders of writes apart where threads communicate in cycles");
const SIGNALS: Switch = Switch::on_off("signals", true, "leave out reads that need not be tried (not with burst=on)");
const BACKWARDS: Switch = Switch::on_off("backwards", false, "take the threads in the opposite order");

/// The switches of the engine.
pub(super) const SWITCHES: &[Switch] = &[BURST, REFINE, SIGNALS, BACKWARDS];

impl From<&Switches> for Settings {
    fn from(switches: &Switches) -> Self {
        Settings {
            burst: switches.is_on(&BURST),
            refine: switches.is_on(&REFINE),
            signals: switches.is_on(&SIGNALS),
            backwards: switches.is_on(&BACKWARDS),
            #[cfg(test)]
            without: None,
        }
    }
}
